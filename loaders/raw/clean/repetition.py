"""Repeated text in a corpus: boilerplate lines, and paragraphs and documents that repeat earlier ones.

Both are known only when all documents were seen. Hashes of the text are kept in memory, not the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np
import polars as pl

from discoprobe.loaders import near_duplicates
from discoprobe.loaders.keys import text_keys
from discoprobe.loaders.raw.clean.lines import heading, inner_sentences, lines_of
from discoprobe.loaders.raw.clean.paragraph_filters import long_enough, without, word_count
from discoprobe.loaders.raw.document import RUNNING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from discoprobe.loaders.raw.document import RawDocument
    from discoprobe.loaders.raw.drop_counts import DropCounts
    from discoprobe.loaders.raw.options import ReadOptions

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
    """In how many documents each line occurs; call `add` for every document, then `close`."""

    def __init__(self) -> None:
        self._keys: list[NDArray[np.uint64]] = []
        self._sources: list[int] = []
        self._recurring: frozenset[int] = frozenset()
        self._without: set[int] = set()

    def add(self, source: str) -> None:
        """Count the lines of a document, each once; headings and short lines are not counted."""
        keys = {key for line in _lines(source) for key in _keys(line)}
        self._keys.append(np.fromiter(keys, np.uint64, len(keys)))
        self._sources.append(_key(source))

    def close(self, least: int) -> None:
        """Keep the lines that recur: in ``least`` documents, or in more in a large corpus."""
        keys, documents = np.unique(np.concatenate([*self._keys, np.empty(0, np.uint64)]), return_counts=True)
        least = max(least, round(SHARE * len(self._keys)))
        recurring = keys[documents >= least]
        self._recurring = frozenset(recurring.tolist())
        self._without = {
            source
            for source, of_source in zip(self._sources, self._keys, strict=True)
            if not np.isin(of_source, recurring).any()
        }
        self._keys, self._sources = [], []

    def boilerplate(self, source: str) -> frozenset[str]:
        """The boilerplate lines of a document: lines that recur in other documents and are not all of this one.

        Lines that recur with other numbers are boilerplate only if they are short, and have together no more words than
        the rest: a template that is filled in is the text itself.
        """
        if not self._recurring or _key(source) in self._without:
            return frozenset()
        lines = _lines(source)
        equal = {line for line in lines if self._recurs(_keys(line)[:1])}
        rest = [line for line in lines if line not in equal]
        if not rest:
            return frozenset()
        similar = {line for line in rest if self._recurs(_keys(line)[1:])}
        words = sum(map(word_count, rest))
        similar_words = sum(word_count(line) for line in rest if line in similar)
        return frozenset(equal | similar if 2 * similar_words <= words else equal)

    def _recurs(self, keys: Sequence[int]) -> bool:
        return any(key in self._recurring for key in keys)


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


@dataclass(frozen=True, slots=True)
class Repeats:
    """What repeats earlier text.

    Attributes:
        documents: number of the document → reason.
        paragraphs: number of the document → index of the paragraph → reason.
    """

    documents: dict[int, str]
    paragraphs: dict[int, dict[int, str]]


@dataclass(slots=True)
class RepeatFinder:
    """Finds what repeats earlier text; call `add` for every document in order, then `repeats`."""

    _texts: list[str] = field(default_factory=list)
    _keys: list[NDArray[np.uint64]] = field(default_factory=list)
    _shingles: list[near_duplicates.Shingles] = field(default_factory=list)
    _places: list[tuple[int, int]] = field(default_factory=list)
    _contents: list[int] = field(default_factory=list)
    _compared: list[bool] = field(default_factory=list)

    def add(self, document: RawDocument) -> None:
        """Record the hashes of the next document."""
        running = [(i, p.text, word_count(p.text)) for i, p in enumerate(document.paragraphs) if p.kind in RUNNING]
        long = [(i, text, words) for i, text, words in running if words >= PARAGRAPH_WORDS]
        words = sum(words for _, _, words in long)
        self._compared.append(0 < words >= LONG_SHARE * sum(words for _, _, words in running))
        self._places += [(len(self._contents), i) for i, _, _ in long]
        self._texts += [text for _, text, _ in long]
        self._contents += text_keys([" ".join(text for _, text, _ in running)]).to_list()
        if len(self._texts) >= PARAGRAPHS_AT_ONCE:
            self._hash()

    def _hash(self) -> None:
        self._keys.append(text_keys(self._texts).to_numpy())
        self._shingles.append(near_duplicates.shingles(pl.Series(self._texts, dtype=pl.String)))
        self._texts = []

    def repeats(self) -> Repeats:
        """What repeats earlier text in the documents that were added.

        Documents are judged first, so that a paragraph is dropped only if the one that it repeats stays.
        """
        self._hash()
        shingles = near_duplicates.together(self._shingles)
        self._shingles = []
        keys = np.concatenate(self._keys).tolist()
        owner = np.array([document for document, _ in self._places], np.int64)
        documents = self._repeated_documents(shingles, owner)
        paragraphs: dict[int, dict[int, str]] = {}
        first: dict[int, int] = {}
        seen: set[int] = set()
        for i, (cluster, place) in enumerate(zip(near_duplicates.clusters(shingles), self._places, strict=True)):
            document, paragraph = place
            if document in documents:
                continue
            if first.setdefault(cluster, i) != i:
                reason = "duplicate-paragraph" if keys[i] in seen else "near-duplicate-paragraph"
                paragraphs.setdefault(document, {})[paragraph] = reason
            seen.add(keys[i])
        return Repeats(documents, paragraphs)

    def _repeated_documents(self, shingles: near_duplicates.Shingles, owner: NDArray[np.int64]) -> dict[int, str]:
        pooled = near_duplicates.pooled(shingles, owner, len(self._contents))
        first: dict[int, int] = {}
        repeated: dict[int, str] = {}
        seen: set[int] = set()
        for document, cluster in enumerate(near_duplicates.clusters(pooled)):
            if self._contents[document] in seen:
                repeated[document] = "duplicate-document"
            elif self._compared[document] and first.setdefault(cluster, document) != document:
                repeated[document] = "near-duplicate-document"
            seen.add(self._contents[document])
        return repeated


class Stored(Protocol):
    """A list of documents, in memory or on disk."""

    def append(self, value: RawDocument, /) -> None:
        """Add a document at the end."""

    def __len__(self) -> int: ...

    def __getitem__(self, number: int, /) -> RawDocument: ...


def without_repeats(
    documents: Iterable[RawDocument], options: ReadOptions, counts: DropCounts, stored: Stored
) -> Iterator[RawDocument]:
    """The documents without what repeats earlier text; all are stored before the first is given out."""
    finder = RepeatFinder()
    for document in documents:
        finder.add(document)
        stored.append(document)
    repeats = finder.repeats()
    for number in range(len(stored)):
        if reason := repeats.documents.get(number):
            counts.add(reason, stored[number].source)
            continue
        repeated = repeats.paragraphs.get(number)
        if repeated is None:
            yield stored[number]
        else:
            rest = without(stored[number], _reasons(repeated), counts)
            if long_enough(rest, options, counts):
                yield rest


def _reasons(reasons: Mapping[int, str]) -> Callable[[int, object], str | None]:
    return lambda i, _: reasons.get(i)
