"""Documents of raw text, and how they are read.

``ReadOptions`` says how a source is read and filtered, ``AnnotationOptions`` also how it is annotated. The paragraphs
of a ``RawDocument`` keep the offset of each character in the source (``TextWithOffsets``). ``DropCounts`` counts what
is removed on the way.
"""

import hashlib
import json
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self, TypeVar

import msgspec
import numpy as np
from msgspec import field
from msgspec.structs import replace
from numpy.typing import ArrayLike, NDArray

from discoprobe.loaders.assignments import read_assignments
from discoprobe.loaders.errors import DiscoprobeError, OnError

Lines = Literal["auto", "wrapped", "sentences", "paragraphs"]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Count = Annotated[int, msgspec.Meta(ge=0)]


class ReadOptions(msgspec.Struct, frozen=True):
    """How raw text is read, and what is dropped."""

    lang: str = ""  # code of the language: for script and language share, and hyphens
    text: str = ""  # the column of a table with the text; if empty, chosen by common names
    id: str = ""  # the column with the ids of documents
    genre: str = ""  # the column with genres
    sentences: str = ""  # the column with the text as a list of sentences, or of such lists, one per paragraph
    encoding: str = ""  # of text files and text tables; if empty, by their content (``text_rows.encoding_of``)
    lines: Lines = "auto"  # what the lines of a text are; ``auto`` decides per document (``plain_text.line_kind``)
    on_error: OnError = "stop"  # at a document that cannot be read; ``skip`` counts it
    split: str = ""  # of a Hub or saved dataset; all splits if empty
    config: str = ""  # of a Hub dataset
    revision: str = ""  # of a Hub dataset
    min_words: Count = 1  # paragraphs with fewer words are dropped
    max_characters: Count = 20_000  # longer paragraphs are cut after a sentence
    min_document_words: Count = 1  # of running text; shorter documents are dropped, shorter divisions of TEI are joined
    script_share: Share = 0.5  # least share of a paragraph's letters in the scripts of the language; 0 switches it off
    language_share: Share = 0.5  # least share of a document's text in paragraphs of its language; 0 switches it off
    boilerplate: Count = 5  # number of documents from which a recurring line is boilerplate; 0 switches it off
    duplicates: bool = True  # drop paragraphs and documents that repeat earlier ones, exactly or nearly
    among: tuple[str, ...] = ()  # languages of a source with several: documents of another of them are not read


ANNOTATING: Final = ("tokenize", "pos", "lemma", "depparse")
"""The default processors of Stanza. Each needs the results of those before it; Stanza adds ``mwt`` if a language has
it."""


class AnnotationOptions(msgspec.Struct, frozen=True):
    """How raw text becomes an annotated corpus."""

    segment: bool = False  # only find sentences and words
    stanza_dir: Path | None = None  # the folder of models; by default Stanza's own
    processors: tuple[str, ...] = ANNOTATING  # of Stanza
    parsers: tuple[str, ...] = ()  # what annotates, as ``--parser`` has it, and a second that has to agree; else Stanza
    download: bool = False  # download missing models
    read: ReadOptions = ReadOptions()  # ``lang`` in it is ignored
    rules: bool = False  # segment by rules, even if Stanza is installed
    lengths: tuple[int, int] | None = None  # as for `stanza_engine.StanzaEngine`
    licence: str = ""  # of text that a request names by its path; unknown if empty
    citation: str = ""  # of the same


DEFAULT: Final = AnnotationOptions()
NAMES: Final = tuple(field.name for field in msgspec.structs.fields(ReadOptions) if field.name not in {"lang", "among"})
WORDS: Final = {"yes": True, "no": False}


def read_options(assignments: Sequence[str]) -> ReadOptions:
    """The default options with the changes that a user writes: ``min_words=3``, ``duplicates=no``.

    Raises:
        UsageError: an assignment has no value, or a value of the wrong kind.
        UnknownNameError: there is no such option.
    """
    types = {field.name: field.type for field in msgspec.structs.fields(ReadOptions)}
    values = read_assignments(
        assignments, {name: partial(_read_value, types[name]) for name in NAMES}, "option",
        remedy="(`build annotate --help` lists them)", without_value=lambda name: f"write {name}=VALUE",
        unreadable=lambda _: "see `build annotate --help`",
    )  # fmt: skip
    return ReadOptions(**values)


def _read_value(kind: Any, text: str) -> object:
    return msgspec.convert(WORDS.get(text, text) if kind is bool else text, kind, strict=False)


def assignments(options: Mapping[str, object]) -> tuple[str, ...]:
    """Options that are not the default, by name, as :func:`read_options` takes them."""
    default = msgspec.structs.asdict(ReadOptions())
    changed = {name: value for name, value in options.items() if name in NAMES and value != default[name]}
    words = {value: word for word, value in WORDS.items()}
    return tuple(f"{name}={words[value] if isinstance(value, bool) else value}" for name, value in changed.items())


T = TypeVar("T")
Span = tuple[int, int]
Kind = Literal["text", "heading", "speaker", "stage", "verse"]

RUNNING: Final = frozenset({"text", "verse"})
"""The kinds of paragraphs that are running text; only these are annotated."""
REASONS: Final = frozenset({
    "unknown-file", "about-the-corpus", "folder-loop", "unreadable", "empty-document", "short-document",
    "document-language", "other-language", "duplicate-document", "near-duplicate-document", "front-matter",
    "back-matter", "note",
    "no-letters", "short-paragraph", "long-paragraph", "script", "paragraph-language", "boilerplate",
    "duplicate-paragraph", "near-duplicate-paragraph", "code", "formula", "table", "list", "empty-segment",
    "page-number", "running-head", "line-hyphen", "soft-hyphen", "control-character", "tag", "entity", "wiki-markup",
    "bullet", "reference-mark", "not-nfc", "mail-header", "reply", "signature", "chat-prefix",
})  # fmt: skip
"""Why something is removed or replaced; docs/raw_text.md explains each."""
PLACES: Final = 20
"""Largest number of places that are recorded per reason."""
UNSAFE: Final = re.compile(r"[\s\x00-\x1f\x7f-\x9f%\u200b\u2028\u2029\ufeff\ud800-\udfff]")
"""Characters that are not safe in an id or a comment of CoNLL-U."""


class TextWithOffsets(msgspec.Struct, frozen=True, eq=False):
    """A text, and for each of its characters the span of the source that it comes from.

    Attributes:
        text: the text.
        at: its offset in the source, if it is there unchanged, as nearly all paragraphs are.
        changed: the spans of its characters if it is not, as an array of shape (n, 2).
    """

    text: str
    at: int = 0
    changed: NDArray[np.int32] | None = None

    @property
    def spans(self) -> NDArray[np.int32]:
        """The span of each character, as an array of shape (n, 2)."""
        if self.changed is not None:
            return self.changed
        return np.arange(self.at, self.at + len(self.text), dtype=np.int32)[:, None] + np.array([0, 1], np.int32)

    def __reduce__(self) -> tuple[object, ...]:
        """For pickling: where an unchanged text begins, else the differences of offsets, most of which are 1."""
        if self.changed is None:
            return TextWithOffsets, (self.text, self.at)
        steps = np.diff(self.changed, axis=0, prepend=np.zeros((1, 2), np.int32))
        return _unpickle_text, (self.text, zlib.compress(steps.tobytes(), 1))

    @classmethod
    def joined(cls, parts: Sequence[Self], white: str = " ") -> tuple[Self, list[Span]]:
        """The texts joined by the character ``white``, which stands for the gap between them, and the span of each."""
        places = [(0, len(parts[0].text))]
        for part in parts[1:]:
            places.append((places[-1][1] + 1, places[-1][1] + 1 + len(part.text)))
        if len(parts) == 1:
            return parts[0], places
        spans: list[ArrayLike] = [parts[0].spans]
        for before, after in pairwise(part.spans for part in parts):
            spans += ([(before[-1, 1], after[0, 0])], after)
        return cls(white.join(part.text for part in parts), 0, np.concatenate(spans, dtype=np.int32)), places

    def source_span(self, start: int, end: int) -> Span:
        """The span of the source from the first to the last of the characters ``start`` to ``end`` (at least one).

        It includes characters that were removed between them, but none before the first or after the last.
        """
        if self.changed is None:
            return self.at + start, self.at + end
        return int(self.changed[start, 0]), int(self.changed[end - 1, 1])

    def edited(self, edits: Iterable[tuple[int, int, str]]) -> "TextWithOffsets":
        """The text with replacements (start, end, new text), which are in order and do not overlap; no span is empty.

        Each new character comes from the whole span that is replaced.
        """
        texts: list[str] = []
        spans: list[NDArray[np.int32]] = []
        at, before = 0, None
        for start, end, new in edits:
            before = self.spans if before is None else before
            texts += (self.text[at:start], new)
            spans += (before[at:start], np.full((len(new), 2), self.source_span(start, end), np.int32))
            at = end
        if before is None:
            return self
        return TextWithOffsets("".join([*texts, self.text[at:]]), 0, np.concatenate([*spans, before[at:]]))

    def sub(self, pattern: re.Pattern[str], by: str | Callable[[re.Match[str]], str]) -> tuple["TextWithOffsets", int]:
        """The text with the matches of a pattern replaced, and the number of replacements that change something."""
        matches = ((match, by if isinstance(by, str) else by(match)) for match in pattern.finditer(self.text))
        edits = [(*match.span(), new) for match, new in matches if new != match[0]]
        return self.edited(edits), len(edits)

    def cut(self, start: int, end: int) -> "TextWithOffsets":
        """The part from ``start`` to ``end``."""
        if self.changed is None:
            return TextWithOffsets(self.text[start:end], self.at + start)
        return TextWithOffsets(self.text[start:end], 0, self.changed[start:end])

    def stripped(self) -> "TextWithOffsets":
        """The text without white space at both ends."""
        start = len(self.text) - len(self.text.lstrip())
        return self.cut(start, max(start, len(self.text.rstrip())))


def _unpickle_text(text: str, steps: bytes) -> TextWithOffsets:
    changes = np.frombuffer(zlib.decompress(steps), np.int32).reshape(-1, 2)
    return TextWithOffsets(text, 0, np.cumsum(changes, axis=0, dtype=np.int32))


def group_by_size(items: Iterable[T], size: Callable[[T], int], limit: int) -> Iterator[list[T]]:
    """Items in groups; a group ends as soon as the sum of the sizes of its items is at least ``limit``."""
    group: list[T] = []
    total = 0
    for item in items:
        group.append(item)
        total += size(item)
        if total >= limit:
            yield group
            group, total = [], 0
    if group:
        yield group


class Paragraph(msgspec.Struct, frozen=True, eq=False):
    """A paragraph. Cleaning makes its text NFC, without markup, soft hyphens and line breaks, with single spaces."""

    content: TextWithOffsets  # until it is cleaned, there is a line end between its lines
    kind: Kind = "text"
    sentences: tuple[Span, ...] | None = None  # spans in ``text``, without white space at the ends, if segmented
    section: int | None = None  # 0 for the lead; None in a document without sections
    speaker: str = ""  # in a play
    gap: bool = False  # text was removed before it: it does not continue the paragraph before
    level: int = 0  # of a marked heading: 1 for ``# Title``, 2 for ``## Part``

    @property
    def text(self) -> str:
        """The text of the paragraph."""
        return self.content.text

    def source_span(self, start: int, end: int) -> Span:
        """The span of the source that the characters ``start`` to ``end`` of ``text`` come from."""
        return self.content.source_span(start, end)


def paragraph_of(sentences: Sequence[str]) -> Paragraph:
    """A paragraph that is segmented, with a line for each sentence."""
    ends = accumulate((len(sentence) + 1 for sentence in sentences), initial=0)
    spans = tuple((start, end - 1) for start, end in pairwise(ends))
    return Paragraph(TextWithOffsets("\n".join(sentences)), sentences=spans)


def lay_out(paragraphs: Sequence[Paragraph]) -> tuple[str, tuple[Paragraph, ...]]:
    """A text of paragraphs with a blank line between them, and the paragraphs with their places in it."""
    placed = []
    at = 0
    for paragraph in paragraphs:
        placed.append(replace(paragraph, content=TextWithOffsets(paragraph.text, at)))
        at += len(paragraph.text) + 2
    return "\n\n".join(paragraph.text for paragraph in paragraphs), tuple(placed)


def with_gaps(parts: Iterable[Paragraph | None]) -> Iterator[Paragraph]:
    """The paragraphs of a document; ``gap`` is set for a paragraph after None, which stands for removed text."""
    gap = False
    for part in parts:
        if part is not None:
            yield replace(part, gap=True) if gap else part
        gap = part is None


class RawDocument(msgspec.Struct, frozen=True, eq=False):
    """A document before annotation: a text file, a row of a table, a division of a TEI work, lines of an aligned text.

    As it was read, it has ``paragraphs`` that are not clean yet, or none if it is plain text, which has to be divided
    (``row_document`` does both). Offsets refer to ``source_text``: the decoded file without byte order mark, or the
    cell of a table. If ``extracted`` (TEI, lists of sentences), no file contains that text, and it is stored with the
    annotation.
    """

    doc_id: str  # unique in the corpus, without white space and control characters
    paragraphs: tuple[Paragraph, ...]  # in the order of the source; in the end, those that are left
    source: str  # the file's name relative to the source folder, with ``/``; a row (or line) as ``notes.jsonl:12``
    source_text: str
    extracted: bool = False
    genre: str = ""  # as the source gives it

    @property
    def running(self) -> list[Paragraph]:
        """The paragraphs of running text, whose sentences are annotated."""
        return [paragraph for paragraph in self.paragraphs if paragraph.kind in RUNNING]

    @property
    def gaps(self) -> frozenset[int]:
        """The indices of paragraphs, except the first, before which text was removed."""
        return frozenset(i for i, paragraph in enumerate(self.paragraphs) if i and paragraph.gap)

    @property
    def digest(self) -> str:
        """SHA-256 of everything that annotation depends on: id, genre, paragraphs, offsets, gaps, an extracted text."""
        parts = [(p.text, p.kind, p.sentences, p.section, p.speaker) for p in self.paragraphs]
        text = [self.source_text] if self.extracted else []
        content = json.dumps([self.doc_id, self.genre, parts, sorted(self.gaps), *text], ensure_ascii=False)
        sha256 = hashlib.sha256(content.encode(errors="surrogatepass"))
        for paragraph in self.paragraphs:
            sha256.update(paragraph.content.spans.T.astype("<i4").tobytes())
        return sha256.hexdigest()


class DropCounts(msgspec.Struct):
    """Number of removals by reason, and the first places of each; and notes on how files were read."""

    reasons: Counter[str] = field(default_factory=Counter)
    places: dict[str, list[str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def add(self, reason: str, place: str, n: int = 1) -> None:
        """Count ``n`` removals at a place.

        Raises:
            KeyError: the reason is not in :data:`REASONS`.
        """
        if reason not in REASONS:
            raise KeyError(reason)
        if n:
            self.reasons[reason] += n
            places = self.places.setdefault(reason, [])
            if len(places) < PLACES and place not in places:
                places.append(place)

    def refuse(self, error: DiscoprobeError, on_error: OnError) -> None:
        """Raise an error, or count it as unreadable if ``on_error`` is ``"skip"``."""
        if on_error != "skip":
            raise error
        self.add("unreadable", str(error))


def one_line(label: str) -> str:
    """A label that is safe in a comment of CoNLL-U: single spaces, other unsafe characters percent-encoded."""
    return " ".join(UNSAFE.sub(percent_encode, word) for word in label.split())


def percent_encode(match: re.Match[str]) -> str:
    """A character in percent-encoding; a surrogate for an undecodable byte of a file name is encoded as that byte."""
    errors = "surrogateescape" if "\udc80" <= match[0] <= "\udcff" else "surrogatepass"
    return "".join(f"%{byte:02X}" for byte in match[0].encode(errors=errors))
