"""Repeated text in a corpus: boilerplate lines, and paragraphs and documents that repeat earlier ones.

Both are known only when all documents were seen. Hashes of the text are kept in memory, not the text.
"""

from __future__ import annotations

import pickle
import re
import sqlite3
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Final, Generic, TypeVar

import numpy as np
import polars as pl

from discoprobe.loaders import near_duplicates
from discoprobe.loaders.keys import text_keys
from discoprobe.loaders.raw.document import RUNNING
from discoprobe.loaders.raw.lines import heading, inner_sentences, lines_of
from discoprobe.loaders.raw.paragraph_filters import long_enough, without, word_count

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from discoprobe.loaders.raw.document import DropCounts, RawDocument, Row
    from discoprobe.loaders.raw.options import ReadOptions

T = TypeVar("T")

DIGITS: Final = re.compile(r"\d+")
MIN_WORDS: Final = 4
"""A line with fewer words is not boilerplate: exclamations and answers recur in every novel."""
MAX_NUMBERED_WORDS: Final = 12
"""A line with more words, or with several sentences, is boilerplate only if it recurs with the same numbers."""
SHARE: Final = 0.002
"""Share of the documents in which a line must recur, in large corpora."""
PARAGRAPH_WORDS: Final = 8
"""Paragraphs with fewer words may recur, for the same reason."""
LONG_SHARE: Final = 0.8
"""Documents with a smaller share of their words in longer paragraphs are not compared for near-duplicates."""
PARAGRAPHS_AT_ONCE: Final = 10_000
"""Number of paragraphs whose text is in memory at a time."""


class RecurringLines:
    """The lines that recur in several documents; headings and short lines do not count."""

    def __init__(self, texts: Iterable[str], least: int) -> None:
        """Find the lines that are in ``least`` texts, or in more in a large corpus; 0 looks for none."""
        sources: list[int] = []
        keys: list[NDArray[np.uint64]] = []
        for text in texts if least else ():
            sources.append(_key(text))
            keys.append(np.array(list({key for line in _lines(text) for key in _keys(line)}), np.uint64))
        lines, documents = np.unique(np.concatenate([*keys, np.empty(0, np.uint64)]), return_counts=True)
        recurring = lines[documents >= max(least, round(SHARE * len(keys)))]
        self._recurring = frozenset(recurring.tolist())
        self._without = {
            source for source, found in zip(sources, keys, strict=True) if not np.isin(found, recurring).any()
        }

    def boilerplate(self, row: Row) -> frozenset[str]:
        """The boilerplate lines of a plain text: lines that recur in other documents and are not all of this one.

        Lines that recur with other numbers are boilerplate only if they are short, and have together no more words than
        the rest: a template that is filled in is the text itself.
        """
        if row.parts is not None or not self._recurring or _key(row.text) in self._without:
            return frozenset()
        lines = _lines(row.text)
        equal = {line for line in lines if not self._recurring.isdisjoint(_keys(line)[:1])}
        rest = [line for line in lines if line not in equal]
        if not rest:
            return frozenset()
        similar = {line for line in rest if not self._recurring.isdisjoint(_keys(line)[1:])}
        words = sum(map(word_count, rest))
        similar_words = sum(word_count(line) for line in rest if line in similar)
        return frozenset(equal | similar if 2 * similar_words <= words else equal)


def _lines(source: str) -> list[str]:
    """The lines of a text that have a letter and are not headings."""
    return [line.text for line in lines_of(source) if any(map(str.isalpha, line.text)) and not heading(line.text)]


def _keys(line: str) -> list[int]:
    """The key of a line, followed by its key without numbers if it is short and has some; none for a very short one."""
    words = word_count(line)
    if words < MIN_WORDS:
        return []
    text = " ".join(line.casefold().split())
    masked, numbers = DIGITS.subn("0", text)
    if not numbers or words > MAX_NUMBERED_WORDS or inner_sentences(line):
        return [_key(text)]
    return [_key(text), _key(f"{masked}\n")]


def _key(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest(), "little")


@dataclass(slots=True)
class _RepeatFinder:
    """Finds what repeats earlier text; call `add` for every document in order, then `repeats`."""

    texts: list[str] = field(default_factory=list)
    keys: list[pl.Series] = field(default_factory=list)
    shingles: list[near_duplicates.Shingles] = field(default_factory=list)
    places: list[tuple[int, int]] = field(default_factory=list)
    documents: list[tuple[int, bool]] = field(default_factory=list)

    def add(self, document: RawDocument) -> None:
        """Record the hashes of the next document: of its long paragraphs, and of all that runs."""
        running = [(i, p.text, word_count(p.text)) for i, p in enumerate(document.paragraphs) if p.kind in RUNNING]
        long = [(i, text, words) for i, text, words in running if words >= PARAGRAPH_WORDS]
        words = sum(words for _, _, words in long)
        compared = 0 < words >= LONG_SHARE * sum(words for _, _, words in running)
        self.places += [(len(self.documents), i) for i, _, _ in long]
        self.texts += [text for _, text, _ in long]
        self.documents.append((text_keys([" ".join(text for _, text, _ in running)])[0], compared))
        if len(self.texts) >= PARAGRAPHS_AT_ONCE:
            self._hash()

    def _hash(self) -> None:
        self.keys.append(text_keys(self.texts))
        self.shingles.append(near_duplicates.shingles(pl.Series(self.texts, dtype=pl.String)))
        self.texts = []

    def repeats(self) -> tuple[dict[int, str], dict[int, dict[int, str]]]:
        """The documents that repeat an earlier one: number → reason; and paragraphs: document → index → reason.

        Documents are judged first, so that a paragraph is dropped only if the one that it repeats stays.
        """
        self._hash()
        shingles = near_duplicates.together(self.shingles)
        self.shingles = []
        places = pl.DataFrame(self.places, {"document": pl.Int64, "paragraph": pl.Int64}, orient="row")
        pooled = near_duplicates.pooled(shingles, places["document"].to_numpy(), len(self.documents))
        judged = pl.DataFrame(self.documents, {"content": pl.UInt64, "compared": pl.Boolean}, orient="row")
        judged = judged.with_row_index("document").with_columns(cluster=near_duplicates.clusters(pooled))
        equal = judged.filter(_is_later("content"))["document"]
        near = judged.filter("compared", ~pl.col("document").is_in(equal.implode())).filter(_is_later("cluster"))
        documents = dict.fromkeys(equal, "duplicate-document")
        documents |= dict.fromkeys(near["document"], "near-duplicate-document")
        reason = pl.when(_is_later("key")).then(pl.lit("duplicate")).otherwise(pl.lit("near-duplicate")) + "-paragraph"
        found = places.with_columns(cluster=near_duplicates.clusters(shingles), key=pl.concat(self.keys))
        found = found.filter(~pl.col("document").is_in(list(documents)))
        found = found.with_columns(reason=reason).filter(_is_later("cluster"))
        paragraphs: dict[int, dict[int, str]] = {}
        for document, paragraph, why in found.select("document", "paragraph", "reason").iter_rows():
            paragraphs.setdefault(document, {})[paragraph] = why
        return documents, paragraphs


def _is_later(column: str) -> pl.Expr:
    """Whether an earlier row has the same value."""
    return pl.int_range(pl.len()).over(column) > 0


class Spool(Generic[T]):
    """Values by key in a temporary database on disk, one of them in memory; iterated over in the order of keys."""

    def __init__(self) -> None:
        self._values = sqlite3.connect("")  # a name that stands for a temporary file
        self._values.execute("CREATE TABLE spool (key PRIMARY KEY, value BLOB)")

    def add(self, key: str | int, value: T) -> bool:
        """Add a value, and whether it was added: not if there is one with this key."""
        row = (key, pickle.dumps(value, pickle.HIGHEST_PROTOCOL))
        return self._values.execute("INSERT OR IGNORE INTO spool VALUES (?, ?)", row).rowcount > 0

    def __iter__(self) -> Iterator[T]:
        """The values in the order of their keys."""
        for (value,) in self._values.execute("SELECT value FROM spool ORDER BY key"):
            yield pickle.loads(value)  # noqa: S301 (this process wrote it)


def without_repeats(
    documents: Iterable[RawDocument], options: ReadOptions, counts: DropCounts
) -> Iterator[RawDocument]:
    """The documents without what repeats earlier text, which ``counts`` counts; all are read before the first is given.

    Without the option ``duplicates`` the documents are given as they are.
    """
    if not options.duplicates:
        yield from documents
        return
    finder = _RepeatFinder()
    stored: Spool[RawDocument] = Spool()
    for number, document in enumerate(documents):
        finder.add(document)
        stored.add(number, document)
    repeated, paragraphs = finder.repeats()
    for number, document in enumerate(stored):
        reasons = paragraphs.get(number, {})
        if reason := repeated.get(number):
            counts.add(reason, document.source)
            continue
        rest = without(document, reasons, counts)
        if not reasons or long_enough(rest, options, counts):
            yield rest
