"""The characters of a file: in the declared encoding, or in one that its bytes prove; never guessed."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING, Final

from discoprobe.loaders.errors import CorpusFormatError, DiscoprobeError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CHUNK: Final = 2**20
MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""Byte order marks; that of UTF-32 begins with that of UTF-16."""
OPTION: Final = "--set encoding=NAME"
NUL: Final = "\0"


def known_encoding(name: str) -> str:
    """The name that Python has for an encoding.

    Raises:
        UsageError: there is none.
    """
    try:
        return codecs.lookup(name).name
    except LookupError as error:
        raise UsageError(f"'{name}' is no encoding that Python knows; as in: utf-8, utf-16, cp1252, koi8-r") from error


def read_text(path: Path, name: str, encoding: str = "") -> str:
    r"""The characters of a text file without byte order mark; line ends are left as they are.

    Args:
        path: the file.
        name: what error messages call it.
        encoding: of the file; if empty, what its byte order mark says, else UTF-8.

    Raises:
        CorpusFormatError: a byte does not belong to the encoding, or the file is binary; the message has its position.
        DiscoprobeError: the file cannot be read.
    """
    return "".join(_chunks(path, name, encoding))


def read_lines(path: Path, name: str, encoding: str = "") -> Iterator[str]:
    r"""The lines of a text file with their ends (``\n`` only), decoded as by :func:`read_text`, a stretch at a time."""
    rest: list[str] = []
    for chunk in _chunks(path, name, encoding):
        lines = chunk.split("\n")
        rest.append(lines[0])
        if len(lines) > 1:
            yield "".join(rest) + "\n"
            yield from (f"{line}\n" for line in lines[1:-1])
            rest = [lines[-1]]
    if last := "".join(rest):
        yield last


def _chunks(path: Path, name: str, encoding: str) -> Iterator[str]:
    at = 0
    try:
        with path.open("rb") as file:
            data = file.read(CHUNK)
            mark, codec = _codec(data, encoding)
            decoder = codecs.getincrementaldecoder(codec)()
            data, at = data[len(mark) :], len(mark)
            while True:
                yield _checked(_decoded(decoder, data, at, name, encoding), data, at, name, codec)
                at += len(data)
                if not data:
                    return
                data = file.read(CHUNK)
    except OSError as error:
        raise DiscoprobeError(f"{name}: cannot be read: {error.strerror}") from error


def _codec(data: bytes, encoding: str) -> tuple[bytes, str]:
    """The byte order mark that a file begins with, and its encoding."""
    mark, found = next(((mark, codec) for mark, codec in MARKS if data.startswith(mark)), (b"", "utf-8"))
    if not encoding:
        return mark, found
    declared = known_encoding(encoding)
    return (mark, found) if mark and found.startswith(declared.removesuffix("-sig")) else (b"", declared)


def _decoded(decoder: codecs.IncrementalDecoder, data: bytes, at: int, name: str, encoding: str) -> str:
    pending = len(decoder.getstate()[0])
    try:
        return decoder.decode(data, final=not data)
    except UnicodeDecodeError as error:
        if not encoding and error.encoding == "utf-8" and b"\0" in data:
            raise _not_text(at + data.index(0), name) from error
        byte, place = error.object[error.start], at - pending + error.start
        remedy = f"the encoding given is {encoding}; is it another?" if encoding else f"give its encoding with {OPTION}"
        problem = f"byte {byte:#04x} at position {place} is not {_shown(error.encoding)} ({error.reason}); {remedy}"
        raise CorpusFormatError(problem, path=name) from error


def _checked(text: str, data: bytes, at: int, name: str, codec: str) -> str:
    """The text, if it has no NUL: text has none; a binary file or UTF-16 without byte order mark has."""
    if NUL not in text:
        return text
    raise _not_text(at + data.index(0) if codec == "utf-8" and b"\0" in data else None, name)


def _not_text(position: int | None, name: str) -> CorpusFormatError:
    where = "" if position is None else f" at position {position}"
    remedy = "if it is UTF-16 without byte order mark, say so with --set encoding=utf-16-le (or -be)"
    return CorpusFormatError(f"NUL byte{where}: not a text file; {remedy}", path=name)


def _shown(codec: str) -> str:
    return codec.replace("utf-", "UTF-").replace("utf8", "UTF-8").replace("_", "-")
