"""Documents of raw text: paragraphs with the offsets of their characters in the source, and counts of removals.

Options of reading raw text, and how a user writes them.

Files of text: finds them in a folder, makes document ids of their names, and decodes them.

The encoding is the one that the user gives, the one of the byte order mark, or UTF-8; it is never guessed.
"""

import codecs
import dataclasses
import hashlib
import io
import json
import os
import re
import sys
import unicodedata
import zlib
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Annotated, Final, Literal, NamedTuple, Self, TypeVar

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from discoprobe.loaders.errors import CorpusFormatError, DiscoprobeError, OnError, UnknownNameError, UsageError

Lines = Literal["auto", "wrapped", "sentences", "paragraphs"]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Count = Annotated[int, msgspec.Meta(ge=0)]


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How raw text is read, and what is dropped."""

    lang: str = ""  # code of the language: for script and language share, and hyphens
    text: str = ""  # the column of a table with the text; if empty, chosen by common names
    id: str = ""  # the column with the ids of documents
    genre: str = ""  # the column with genres
    sentences: str = ""  # the column with the text as a list of sentences, or of such lists, one per paragraph
    encoding: str = ""  # of text files and text tables; if empty, UTF-8, or UTF-16 and UTF-32 with a byte order mark
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


COLUMNS: Final = ("text", "id", "genre", "sentences")
"""The options that name a column."""
NAMES: Final = tuple(field.name for field in dataclasses.fields(ReadOptions) if field.name != "lang")
WORDS: Final = {"yes": True, "no": False}


def read_options(assignments: Sequence[str]) -> ReadOptions:
    """The default options with the changes that a user writes: ``min_words=3``, ``duplicates=no``.

    Raises:
        UsageError: an assignment has no value, or a value of the wrong kind.
        UnknownNameError: there is no such option.
    """
    options, values = ReadOptions(), {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if name not in NAMES:
            raise UnknownNameError("option", name, NAMES, remedy="(`build annotate --help` lists them)")
        if not equals:
            raise UsageError(f"option '{name}' has no value; write {name}=VALUE")
        values[name] = WORDS.get(text, text) if isinstance(getattr(options, name), bool) else text
        try:
            options = msgspec.convert(values, ReadOptions, strict=False)
        except msgspec.ValidationError:
            raise UsageError(f"option '{assignment}' cannot be read; see `build annotate --help`") from None
    return options


def assignments(options: Mapping[str, object]) -> tuple[str, ...]:
    """Options that are not the default, by name, as :func:`read_options` takes them."""
    default = dataclasses.asdict(ReadOptions())
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
    "document-language", "duplicate-document", "near-duplicate-document", "front-matter", "back-matter", "note",
    "no-letters", "short-paragraph", "long-paragraph", "script", "paragraph-language", "boilerplate",
    "duplicate-paragraph", "near-duplicate-paragraph", "code", "formula", "table", "list", "empty-segment",
    "page-number", "running-head", "line-hyphen", "soft-hyphen", "control-character", "tag", "entity", "wiki-markup",
    "bullet", "reference-mark", "not-nfc",
})  # fmt: skip
"""Why something is removed or replaced; docs/raw_text.md explains each."""
PLACES: Final = 20
"""Largest number of places that are recorded per reason."""


@dataclass(frozen=True, slots=True, eq=False)
class TextWithOffsets:
    """A text, and for each of its characters the span of the source that it comes from, as an array of shape (n, 2)."""

    text: str
    spans: NDArray[np.int32]

    @classmethod
    def of(cls, text: str, at: int = 0) -> Self:
        """A text that is in the source unchanged, at the offset ``at``."""
        return cls(text, np.arange(at, at + len(text), dtype=np.int32)[:, None] + np.array([0, 1], np.int32))

    def __reduce__(self) -> tuple[object, ...]:
        """For pickling: the differences of offsets, which compress well, since most of them are 1."""
        steps = np.diff(self.spans, axis=0, prepend=np.zeros((1, 2), np.int32))
        return _unpickled, (self.text, zlib.compress(steps.tobytes(), 1))

    @classmethod
    def joined(cls, parts: Sequence[Self], white: str = " ") -> tuple[Self, list[Span]]:
        """The texts joined by the character ``white``, which stands for the gap between them, and the span of each."""
        spans: list[ArrayLike] = [parts[0].spans]
        places = [(0, len(parts[0].text))]
        for before, part in pairwise(parts):
            spans += ([(before.spans[-1, 1], part.spans[0, 0])], part.spans)
            places.append((places[-1][1] + 1, places[-1][1] + 1 + len(part.text)))
        return cls(white.join(part.text for part in parts), np.concatenate(spans, dtype=np.int32)), places

    def source_span(self, start: int, end: int) -> Span:
        """The span of the source from the first to the last of the characters ``start`` to ``end`` (at least one).

        It includes characters that were removed between them, but none before the first or after the last.
        """
        return int(self.spans[start, 0]), int(self.spans[end - 1, 1])

    def replace(self, edits: Iterable[tuple[int, int, str]]) -> "TextWithOffsets":
        """The text with replacements (start, end, new text), which are in order and do not overlap; no span is empty.

        Each new character comes from the whole span that is replaced.
        """
        texts: list[str] = []
        spans: list[NDArray[np.int32]] = []
        at = 0
        for start, end, new in edits:
            texts += (self.text[at:start], new)
            spans += (self.spans[at:start], np.full((len(new), 2), self.source_span(start, end), np.int32))
            at = end
        if not texts:
            return self
        return TextWithOffsets("".join([*texts, self.text[at:]]), np.concatenate([*spans, self.spans[at:]]))

    def sub(self, pattern: re.Pattern[str], by: str | Callable[[re.Match[str]], str]) -> tuple["TextWithOffsets", int]:
        """The text with the matches of a pattern replaced, and the number of replacements that change something."""
        matches = ((match, by if isinstance(by, str) else by(match)) for match in pattern.finditer(self.text))
        edits = [(*match.span(), new) for match, new in matches if new != match[0]]
        return self.replace(edits), len(edits)

    def cut(self, start: int, end: int) -> "TextWithOffsets":
        """The part from ``start`` to ``end``."""
        return TextWithOffsets(self.text[start:end], self.spans[start:end])

    def stripped(self) -> "TextWithOffsets":
        """The text without white space at both ends."""
        start = len(self.text) - len(self.text.lstrip())
        return self.cut(start, max(start, len(self.text.rstrip())))


def _unpickled(text: str, steps: bytes) -> TextWithOffsets:
    changes = np.frombuffer(zlib.decompress(steps), np.int32).reshape(-1, 2)
    return TextWithOffsets(text, np.cumsum(changes, axis=0, dtype=np.int32))


def grouped(items: Iterable[T], size: Callable[[T], int], limit: int) -> Iterator[list[T]]:
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


class Part(NamedTuple):
    """A paragraph of a row."""

    spans: Sequence[Span]  # of its lines in the text
    kind: Kind = "text"
    segmented: bool = False  # whether each line is a sentence
    gap: bool = False  # whether text was removed before it
    speaker: str = ""
    level: int = 0  # of a marked heading: 1 for ``# Title``, 2 for ``## Part``


@dataclass(frozen=True, slots=True)
class Row:
    """A document as it was read: a text file, a row of a table, a division of a TEI work, lines of an aligned text."""

    place: str  # ``notes.jsonl:12``, from 1: lines of JSON lines, rows of other tables; the name of a file
    id: str
    text: str
    parts: Sequence[Part] | None = None  # None for plain text, whose paragraphs are still to be found
    genre: str = ""
    extracted: bool = False  # whether ``text`` was made from lists or elements, so that no file contains it


def laid_out(parts: Iterable[Sequence[str]]) -> tuple[str, list[list[Span]]]:
    """Join the texts of each part by a line end, and the parts by a blank line; returns also the spans of the texts."""
    texts: list[str] = []
    spans: list[list[Span]] = []
    at = 0
    for part in parts:
        texts.append("\n".join(part))
        ends = list(accumulate((len(each) + 1 for each in part), initial=at))
        spans.append([(start, end - 1) for start, end in pairwise(ends)])
        at += len(texts[-1]) + 2
    return "\n\n".join(texts), spans


@dataclass(frozen=True, slots=True, eq=False)
class Paragraph:
    """A paragraph ready for annotation: NFC, without markup, soft hyphens and line breaks, with single spaces."""

    content: TextWithOffsets
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


def with_gaps(parts: Iterable[Paragraph | None]) -> Iterator[Paragraph]:
    """The paragraphs of a document; ``gap`` is set for a paragraph after None, which stands for removed text."""
    gap = False
    for part in parts:
        if part is not None:
            yield replace(part, gap=True) if gap else part
        gap = part is None


@dataclass(frozen=True, slots=True, eq=False)
class RawDocument:
    """A document before annotation.

    Offsets refer to ``source_text``: the decoded file without byte order mark, or the cell of a table. If ``extracted``
    (TEI, lists of sentences), no file contains that text, and it is stored with the annotation.
    """

    doc_id: str  # unique in the corpus, without white space and control characters
    paragraphs: tuple[Paragraph, ...]  # what remains after cleaning and filtering, in the order of the source
    source: str  # the file's name relative to the source folder, with ``/``; a row of a table as ``notes.jsonl:12``
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


@dataclass(slots=True)
class DropCounts:
    """Number of removals by reason, and the first places of each."""

    reasons: Counter[str] = field(default_factory=Counter)
    places: dict[str, list[str]] = field(default_factory=dict)

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


PLAIN: Final = (".txt",)
TEI: Final = (".xml", ".tei")
TABLES: Final = (".jsonl", ".ndjson", ".parquet", ".csv", ".tsv")
READABLE: Final = (*PLAIN, *TEI, *TABLES)
SAVED: Final = frozenset({"dataset_dict.json", "state.json"})
"""Files in a folder that ``save_to_disk`` of ``datasets`` wrote."""
ABOUT: Final = frozenset(
    {"readme", "license", "licence", "copying", "notice", "source", "sources", "authors", "changelog", "citation"}
)
"""Names of files about the corpus, in lower case and without suffix."""
IDS: Final = "DOCUMENT_IDS.tsv"
"""The file beside aligned texts (NTREX, WMT test sets) that has the id of the document of each line."""
UNSAFE: Final = re.compile(r"[\s\x00-\x1f\x7f-\x9f%\u200b\u2028\u2029\ufeff\ud800-\udfff]")
"""Characters that are not safe in an id or a comment of CoNLL-U."""
UNSAFE_IN_NAMES: Final = re.compile(r"[\x00-\x1f\x7f-\x9f%\u2028\u2029\udc80-\udcff]|^ | $")
UNDECODED: Final = re.compile("[\0\udc80-\udcff]")
"""A NUL byte, or a byte that does not belong to the encoding."""
MARKS: Final = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
"""Byte order marks and their encodings; UTF-32 comes first because its mark begins with that of UTF-16."""
REMEDY: Final = "give its encoding with --set encoding=NAME"


@dataclass(frozen=True, slots=True)
class RawFile:
    """A file, or a folder saved by ``datasets``; ``name`` is relative to the source folder."""

    path: Path | None  # None for a dataset on the Hub
    name: str

    @property
    def place(self) -> str:
        """The name for messages and comments: spaces at its ends, control characters and ``%`` percent-encoded."""
        return UNSAFE_IN_NAMES.sub(_percent_encoded, self.name)

    @property
    def is_table(self) -> bool:
        """Whether it is a table, whose rows are documents."""
        return self.path is None or self.path.is_dir() or self.path.suffix.lower() in TABLES

    @property
    def ids(self) -> Path | None:
        """The file beside an aligned text with the document id of each line; None if there is none."""
        ids = self.path.with_name(IDS) if self.path and self.path.suffix.lower() in PLAIN else None
        return ids if ids and ids.is_file() else None


def check_kind(path: Path) -> None:
    """Raise a DiscoprobeError for a file whose suffix is not one of :data:`READABLE`."""
    if path.suffix.lower() not in READABLE:
        raise DiscoprobeError(f"{path}: neither .conllu nor a text that can be read: {', '.join(READABLE)}")


def files_in(folder: Path, counts: DropCounts) -> list[RawFile]:
    """The readable files of a folder and its subfolders, sorted by name; other files are counted.

    Hidden files, and the ids beside aligned texts, are ignored. A folder that is reached again through a link is not
    read again; the names of its files are those without the link.

    Raises:
        DiscoprobeError: a folder cannot be listed, or no file can be read.
    """
    files = []
    for path, reason in _walk(folder):
        file = RawFile(path, path.relative_to(folder).as_posix())
        if reason:
            counts.add(reason, file.place)
        else:
            files.append(file)
    if not files:
        raise DiscoprobeError(f"{folder}: nothing to read in this folder; what can be read: {', '.join(READABLE)}")
    return sorted(files, key=lambda file: file.name)


def _walk(top: Path) -> Iterator[tuple[Path, str]]:
    """The files below a folder, and the reason why one is not read; links to folders are followed at the end."""
    seen: set[Path] = set()
    folders, links = [top], list[Path]()
    while folders or links:
        folder = (folders or links).pop(0)
        try:
            paths = sorted(path for path in folder.iterdir() if path.name != IDS and not path.name.startswith("."))
        except OSError as error:
            raise DiscoprobeError(f"{folder}: cannot be listed: {error.strerror}") from error
        if folder.resolve() in seen:
            yield folder, "folder-loop"
        elif SAVED.intersection(path.name for path in paths):
            yield folder, ""
        else:
            below = [path for path in paths if os.path.isdir(path)]  # noqa: PTH112 (`is_dir` raises for some links)
            folders[:0] = [path for path in below if not path.is_symlink()]
            links += [path for path in below if path.is_symlink()]
            yield from ((path, _unused(path)) for path in sorted({*paths} - {*below}))
        seen.add(folder.resolve())


def _unused(path: Path) -> str:
    """The reason why a file is not read; empty if it is read."""
    suffix = path.suffix.lower()
    if suffix not in READABLE or not os.path.isfile(path):  # noqa: PTH113 (`is_file` raises for some links)
        return "unknown-file"
    return "about-the-corpus" if suffix in PLAIN and path.stem.lower() in ABOUT else ""


def document_id(name: str) -> str:
    """The document id for a name: NFC, with white space, control characters and ``%`` percent-encoded.

    Different names give different ids, unless they differ only in Unicode normalisation. The suffix of a text file is
    removed, so that a file and a row of a table with its name have the same id.
    """
    short = next((name.removesuffix(suffix) for suffix in (*PLAIN, *TEI) if name.endswith(suffix)), name)
    return UNSAFE.sub(_percent_encoded, unicodedata.normalize("NFC", short or name)) or "%"


def one_line(label: str) -> str:
    """A label that is safe in a comment of CoNLL-U: single spaces, other unsafe characters percent-encoded."""
    return " ".join(UNSAFE.sub(_percent_encoded, word) for word in label.split())


def _percent_encoded(match: re.Match[str]) -> str:
    """A character in percent-encoding; a surrogate for an undecodable byte of a file name is encoded as that byte."""
    errors = "surrogateescape" if "\udc80" <= match[0] <= "\udcff" else "surrogatepass"
    return "".join(f"%{byte:02X}" for byte in match[0].encode(errors=errors))


def read_bytes(path: Path, name: str, n: int = -1) -> bytes:
    """The content of a file, or its first ``n`` bytes.

    Raises:
        DiscoprobeError: the file, which is ``name`` in the message, cannot be read.
    """
    try:
        with path.open("rb") as file:
            return file.read(n)
    except OSError as error:
        raise DiscoprobeError(f"{name}: cannot be read: {error.strerror}") from error


def read_text(path: Path, name: str, encoding: str = "") -> str:
    """The characters of a text file without byte order mark; line ends stay as they are.

    ``name`` is for messages. Without ``encoding`` the encoding is that of the byte order mark, else UTF-8.

    Raises:
        CorpusFormatError: a byte does not belong to the encoding, or the file is binary; the message has its position.
        DiscoprobeError: the file cannot be read.
        UsageError: Python does not know the encoding.
    """
    data = read_bytes(path, name)
    codec = _codec(data[:4], encoding)
    try:
        text = data.decode(codec)
    except UnicodeDecodeError as error:
        if encoding or not codec.startswith("utf-8") or b"\0" not in data:
            place = error.start + len(data) - len(error.object)
            shown = error.encoding.replace("utf-", "UTF-").replace("utf8", "UTF-8").replace("_", "-")
            remedy = f"the encoding given is {encoding}; is it another?" if encoding else REMEDY
            problem = f"byte {data[place]:#04x} at position {place} is not {shown} ({error.reason}); {remedy}"
            raise CorpusFormatError(problem, path=name) from error
        text = "\0"  # it is binary, or UTF-16 without byte order mark
    if "\0" in text:
        where = f" at position {data.index(0)}" if codec.startswith("utf-8") else ""
        remedy = "if it is UTF-16 without byte order mark, name the encoding with --set encoding=utf-16-le (or -be)"
        raise CorpusFormatError(f"NUL byte{where}: not a text file; {remedy}", path=name)
    return text


def read_lines(path: Path, name: str, encoding: str = "") -> Generator[str]:
    r"""The lines of a text file with their ends (only ``\n``), one at a time, decoded as by :func:`read_text`.

    The lines before an invalid byte are given before the error is raised.
    """
    codec = _codec(read_bytes(path, name, 4), encoding)
    try:
        with path.open(encoding=codec, errors="surrogateescape", newline="\n") as file:
            for line in file:
                if UNDECODED.search(line):
                    read_text(path, name, encoding)  # raises the error with its position
                yield line
    except UnicodeDecodeError:
        read_text(path, name, encoding)  # the same


def _codec(start: bytes, encoding: str) -> str:
    """The codec of a file with certain first bytes: that of its byte order mark, unless another encoding is given."""
    try:
        declared = codecs.lookup(encoding).name.removesuffix("-sig") if encoding else ""
        io.TextIOWrapper(io.BytesIO(), declared or "utf-8")  # raises an error for codecs that give no text, as rot13
    except LookupError as error:
        raise UsageError(f"'{encoding}' is not an encoding of Python; examples: utf-8, cp1252, koi8-r") from error
    proven = next((codec for mark, codec in MARKS.items() if start.startswith(mark)), "")
    if proven and (declared or proven).startswith(proven.removesuffix("-sig")):
        return proven
    return f"{declared}-{sys.byteorder[0]}e" if declared in {"utf-16", "utf-32"} else declared or "utf-8"
