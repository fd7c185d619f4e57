"""Files of text: finds them in a folder, makes document ids of their names, and decodes them.

The encoding is the one that the user gives, the one of the byte order mark, or UTF-8; it is never guessed.
"""

import codecs
import io
import os
import re
import sys
import unicodedata
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from discoprobe.loaders.errors import CorpusFormatError, DiscoprobeError, UsageError
from discoprobe.loaders.raw.document import DropCounts

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
