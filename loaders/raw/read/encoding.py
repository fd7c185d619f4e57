"""The characters of a file: in the declared encoding, or in one that its bytes prove; never guessed."""

from __future__ import annotations

import codecs
import io
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from discoprobe.loaders.errors import CorpusFormatError, DiscoprobeError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""Byte order marks and their encodings; UTF-32 comes first because its mark begins with that of UTF-16."""
OPTION: Final = "--set encoding=NAME"


def read_text(path: Path, name: str, encoding: str = "") -> str:
    r"""The characters of a text file without byte order mark; line ends stay as they are.

    Args:
        path: the file.
        name: its name in error messages.
        encoding: of the file; if empty, the one of its byte order mark, else UTF-8.

    Raises:
        CorpusFormatError: a byte does not belong to the encoding, or the file is binary; the message has its position.
        DiscoprobeError: the file cannot be read.
        UsageError: Python does not know the encoding.
    """
    with _readable(name):
        data = path.read_bytes()
    mark, codec = _codec(data, encoding)
    return _decoded(data[len(mark) :], len(mark), name, codec, encoding)


def read_lines(path: Path, name: str, encoding: str = "") -> Iterator[str]:
    r"""The lines of a text file with their ends (only ``\n``), decoded as by :func:`read_text`.

    A file in UTF-8 is read line by line, one in another encoding is in memory as a whole.
    """
    with _readable(name), path.open("rb") as file:
        mark, codec = _codec(file.read(max(len(mark) for mark, _ in MARKS)), encoding)
        if codec != "utf-8":
            yield from io.StringIO(read_text(path, name, encoding), newline="\n")
            return
        at = file.seek(len(mark))
        for line in file:
            yield _decoded(line, at, name, codec, encoding)
            at += len(line)


@contextmanager
def _readable(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DiscoprobeError(f"{name}: cannot be read: {error.strerror}") from error


def _codec(data: bytes, encoding: str) -> tuple[bytes, str]:
    """The byte order mark at the start of a file, and the encoding of what follows."""
    mark, proven = next(((mark, codec) for mark, codec in MARKS if data.startswith(mark)), (b"", "utf-8"))
    if not encoding:
        return mark, proven
    try:
        declared = codecs.lookup(encoding).name
    except LookupError as error:
        raise UsageError(f"'{encoding}' is no encoding that Python knows; examples: utf-8, cp1252, koi8-r") from error
    return (mark, proven) if mark and proven.startswith(declared.removesuffix("-sig")) else (b"", declared)


def _decoded(data: bytes, at: int, name: str, codec: str, encoding: str) -> str:
    """The characters of bytes that begin at a position of a file."""
    try:
        text = data.decode(codec)
    except UnicodeDecodeError as error:
        if not encoding and codec == "utf-8" and b"\0" in data:
            raise _not_text(at + data.index(0), name) from error
        byte, place = error.object[error.start], at + error.start
        shown = error.encoding.replace("utf-", "UTF-").replace("utf8", "UTF-8").replace("_", "-")
        remedy = f"the encoding given is {encoding}; is it another?" if encoding else f"give its encoding with {OPTION}"
        problem = f"byte {byte:#04x} at position {place} is not {shown} ({error.reason}); {remedy}"
        raise CorpusFormatError(problem, path=name) from error
    if "\0" in text:  # a binary file, or UTF-16 without byte order mark
        raise _not_text(at + data.index(0) if codec == "utf-8" else None, name)
    return text


def _not_text(position: int | None, name: str) -> CorpusFormatError:
    where = "" if position is None else f" at position {position}"
    remedy = "if it is UTF-16 without byte order mark, name the encoding with --set encoding=utf-16-le (or -be)"
    return CorpusFormatError(f"NUL byte{where}: not a text file; {remedy}", path=name)
