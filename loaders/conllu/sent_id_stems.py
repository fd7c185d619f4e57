"""Recognises documents by sentence ids: consecutive ids with the same stem and rising numbers.

``mt-03J01:1``, ``mt-03J01:2`` … ``mt-05J01:1`` are two documents. But ids of this form may also number the sentences of
a split (``test-s1``) or of a genre. So stems count as documents only with evidence: see :class:`Evidence`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from operator import sub
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_BETWEEN: Final = r"[-_.,:;/#|]+"
PATTERNS: Final = (
    rf"^(.+?){_BETWEEN}p{_BETWEEN}?(\d+){_BETWEEN}s{_BETWEEN}?(\d+)[a-zA-Z]?$",
    r"^(.+?)[.,:](\d+)[.:](\d+)[a-zA-Z]?$",
    rf"^(.+?){_BETWEEN}s?(\d+)[a-zA-Z]?$",
)
"""Stem and numbers: paragraph and sentence (``x.p.1.s.2``), two numbers (``x,1.2``), one number (``x-s3``)."""

SPLIT_NAME: Final = re.compile(r"(?:.*[-_.])?(?:train|dev|devel|test|valid|validation)(?:[-_.]?\d+)?", re.IGNORECASE)
LEAST_STEMS: Final = 3
LEAST_MEAN: Final = 2.0
"""Sentences per stem, on average."""
LEAST_MATCHED: Final = 0.9
"""Least share of the ids that match the pattern; sentences with other ids are in no document."""
LEAST_RISING: Final = 0.95
"""Least share of neighbours with the same stem whose numbers rise; a few ids are out of order in most corpora."""
LEAST_CONSECUTIVE: Final = 0.5
"""Least share of neighbours with the same stem with a number that differs by one; a sample of a genre has gaps."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Whether the stems of the sentence ids of a file are documents."""

    pattern: str  # the regular expression, whose first group is the stem
    sentences: int  # number of sentences
    matched: int  # number of ids that match the pattern
    stems: int  # number of different stems
    passages: int  # number of contiguous passages with the same stem; equal to ``stems`` if no stem occurs in two
    rising: float  # share of neighbours with the same stem whose numbers rise
    consecutive: float  # share of neighbours with the same stem with a number that differs by one
    objection: str  # why the stems are not documents; empty if they are

    def __str__(self) -> str:
        if self.objection:
            return f"none: {self.objection}"
        return (
            f"{self.stems} by sent_id: each in one passage, {self.matched / self.stems:.1f} sentences on average, "
            f"numbers rise in {self.rising:.0%} and are consecutive in {self.consecutive:.0%} of the neighbours"
        )


def find_stems(sent_ids: Sequence[str]) -> Evidence:
    """The evidence for the first of :data:`PATTERNS` whose stems are documents; if there is none, for the last."""
    for pattern in PATTERNS[:-1]:
        # If none of the first eighth matches, less than LEAST_MATCHED of all match.
        if any(map(re.compile(pattern).match, sent_ids[: len(sent_ids) // 8 + 1])):
            evidence = _evidence(sent_ids, pattern)
            if not evidence.objection:
                return evidence
    return _evidence(sent_ids, PATTERNS[-1])


def _evidence(sent_ids: Sequence[str], pattern: str) -> Evidence:
    matches = re.findall(pattern, "\n".join(sent_ids), re.MULTILINE)
    names = [match[0] for match in matches]
    numbers = zip(*(map(int, column) for column in [*zip(*matches, strict=True)][1:]), strict=True)
    neighbours = zip(pairwise(names), pairwise(numbers), strict=True)
    steps = [pair for (before, after), pair in neighbours if before == after]
    stems = set(names)
    passages = len(names) - len(steps)
    rising = sum(before <= after for before, after in steps) / max(len(steps), 1)
    consecutive = sum(1 in map(sub, after, before) for before, after in steps) / max(len(steps), 1)
    named = sorted(stem for stem in stems if SPLIT_NAME.fullmatch(stem))
    objections = {
        f"{len(matches)} of {len(sent_ids)} sentence ids are a stem and a number": (
            len(matches) < LEAST_MATCHED * max(len(sent_ids), 1)
        ),
        f"the sentence ids name splits ({', '.join(named[:3])})": bool(named),
        f"the sentence ids have {len(stems)} stems": len(stems) < LEAST_STEMS,
        f"{len(matches)} sentences have {len(stems)} stems": len(matches) < LEAST_MEAN * len(stems),
        f"{len(stems)} stems of sentence ids come in {passages} passages": passages != len(stems),
        f"the numbers in the sentence ids rise in {rising:.0%} of the neighbours": rising < LEAST_RISING,
        f"the numbers in the sentence ids are consecutive in {consecutive:.0%} of the neighbours": (
            consecutive < LEAST_CONSECUTIVE
        ),
    }
    objection = next((words for words, holds in objections.items() if holds), "")
    return Evidence(pattern, len(sent_ids), len(matches), len(stems), passages, rising, consecutive, objection)


def by_stem(sent_ids: Iterable[str], pattern: str) -> list[str | None]:
    """The first group of a pattern in each sentence id, from its start; None where it does not match."""
    form = re.compile(pattern)
    return [match and match[1] for match in map(form.match, sent_ids)]
