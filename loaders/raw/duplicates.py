"""What recurs in a corpus: boiler-plate lines, and paragraphs and documents that repeat earlier ones.

Both need to have seen everything before the first document is given out, and keep hashes only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from discoprobe.loaders import near
from discoprobe.loaders.keys import text_keys
from discoprobe.loaders.raw.document import RUNNING
from discoprobe.loaders.raw.filters import word_count
from discoprobe.loaders.raw.lines import has_inner_end, heading, lines_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discoprobe.loaders.raw.document import RawDocument

DIGITS: Final = re.compile(r"\d+")
WORDS: Final = 4
"""A line with fewer words is no boiler-plate: exclamations and answers recur in every novel."""
NUMBERED: Final = 12
"""A line of more words, or several sentences, is boiler-plate only if it recurs with the same numbers."""
SHARE: Final = 0.002
"""Share of the documents in which a line must recur, in large corpora."""
PARAGRAPH_WORDS: Final = 8
"""A paragraph with fewer words may recur, for the same reason."""
JUDGED: Final = 0.8
"""Share of a document's words in longer paragraphs, from which it is compared with others."""
AT_ONCE: Final = 10_000
"""Paragraphs whose text is in memory at a time."""


class Lines:
    """In how many documents each line occurs."""

    def __init__(self) -> None:
        self._found: list[NDArray[np.uint64]] = []
        self._recurring: frozenset[int] = frozenset()

    def add(self, source: str) -> None:
        """Count the lines of a document, each once; headings and short lines do not count."""
        keys = {key for line in _lines(source) for key in _keys(line)}
        self._found.append(np.array(sorted(keys), np.uint64))

    def close(self, least: int) -> None:
        """All documents were seen; lines in ``least`` of them recur, or in more in a large corpus."""
        keys, documents = np.unique(np.concatenate([*self._found, np.empty(0, np.uint64)]), return_counts=True)
        least = max(least, round(SHARE * len(self._found)))
        self._recurring = frozenset(keys[documents >= least].tolist())
        self._found = []

    def boilerplate(self, source: str) -> frozenset[str]:
        """The lines of a document that are boiler-plate: they recur in others, and are not all there is in this one.

        Of lines that recur with other numbers, only short ones are, and only where they hold no more words than what
        is neither: a template that is filled in is the text itself.
        """
        if not self._recurring:
            return frozenset()
        lines = _lines(source)
        same = {line for line in lines if self._recurs(_keys(line)[:1])}
        rest = [line for line in lines if line not in same]
        if not rest:
            return frozenset()
        like = {line for line in rest if self._recurs(_keys(line)[1:])}
        words = [word_count(line) for line in rest]
        of_like = sum(size for line, size in zip(rest, words, strict=True) if line in like)
        return frozenset(same | like if 2 * of_like <= sum(words) else same)

    def _recurs(self, keys: Sequence[int]) -> bool:
        return any(key in self._recurring for key in keys)


def _lines(source: str) -> list[str]:
    """The lines of a text that have a letter and are no headings."""
    return [line.text for line in lines_of(source) if any(map(str.isalpha, line.text)) and not heading(line.text)]


def _keys(line: str) -> list[int]:
    """Of a line that may be boiler-plate, a key of its words, and if it has numbers and is short, one without them."""
    words = word_count(line)
    if words < WORDS:
        return []
    text = " ".join(line.casefold().split())
    masked, numbers = DIGITS.subn("0", text)
    if not numbers or words > NUMBERED or has_inner_end(line):
        return [_key(text)]
    return [_key(text), _key(f"{masked}\n")]


def _key(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest(), "little")


@dataclass(frozen=True, slots=True)
class Repeats:
    """What repeats something earlier: reason by number of document, and by number of document, then of paragraph."""

    documents: dict[int, str]
    paragraphs: dict[int, dict[int, str]]


@dataclass(slots=True)
class Seen:
    """The paragraphs of a corpus, as hashes, in its order."""

    _texts: list[str] = field(default_factory=list)
    _keys: list[NDArray[np.uint64]] = field(default_factory=list)
    _shingles: list[near.Shingles] = field(default_factory=list)
    _places: list[tuple[int, int]] = field(default_factory=list)
    _contents: list[int] = field(default_factory=list)
    _judged: list[bool] = field(default_factory=list)

    def add(self, document: RawDocument) -> None:
        """Keep the next document."""
        running = [(i, p.text) for i, p in enumerate(document.paragraphs) if p.kind in RUNNING]
        sizes = [word_count(text) for _, text in running]
        long = sum(size for size in sizes if size >= PARAGRAPH_WORDS)
        self._judged.append(long > 0 and long >= JUDGED * sum(sizes))
        for (i, text), size in zip(running, sizes, strict=True):
            if size >= PARAGRAPH_WORDS:
                self._places.append((len(self._contents), i))
                self._texts.append(text)
        self._contents.append(int(text_keys([" ".join(text for _, text in running)])[0]))
        if len(self._texts) >= AT_ONCE:
            self._hash()

    def _hash(self) -> None:
        self._keys.append(text_keys(self._texts).to_numpy())
        self._shingles.append(near.shingles(pl.Series(self._texts, dtype=pl.String)))
        self._texts = []

    def repeats(self) -> Repeats:
        """What repeats something earlier, once all documents were added.

        Whole documents go first, so that a paragraph is left out only where another one stays.
        """
        self._hash()
        shingles = near.together(self._shingles)
        keys = np.concatenate(self._keys)
        owner = np.array([document for document, _ in self._places], np.int64)
        documents = self._repeated_documents(shingles, owner)
        paragraphs: dict[int, dict[int, str]] = {}
        cluster = near.clusters(shingles).to_numpy()
        first: dict[int, int] = {}
        known: set[int] = set()
        for i, (document, paragraph) in enumerate(self._places):
            if document in documents:
                continue
            if first.setdefault(int(cluster[i]), i) != i:
                exact = int(keys[i]) in known
                reason = "duplicate-paragraph" if exact else "near-duplicate-paragraph"
                paragraphs.setdefault(document, {})[paragraph] = reason
            known.add(int(keys[i]))
        return Repeats(documents, paragraphs)

    def _repeated_documents(self, shingles: near.Shingles, owner: NDArray[np.int64]) -> dict[int, str]:
        cluster = near.clusters(near.pooled(shingles, owner, len(self._contents))).to_numpy()
        judged: dict[int, int] = {}
        found: dict[int, str] = {}
        known: set[int] = set()
        for document, content in enumerate(self._contents):
            if content in known:
                found[document] = "duplicate-document"
            elif self._judged[document] and judged.setdefault(int(cluster[document]), document) != document:
                found[document] = "near-duplicate-document"
            known.add(content)
        return found
