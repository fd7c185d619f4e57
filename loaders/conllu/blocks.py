"""Reads corpus files, gzipped or not, in blocks that end between sentences."""

from __future__ import annotations

import gzip
import re
import zlib
from typing import IO, TYPE_CHECKING, Final, cast

from discoprobe.loaders.conllu.sent_id_stems import by_stem, find_stems
from discoprobe.loaders.errors import CorpusFormatError, DiscoprobeError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from discoprobe.loaders.catalogue.pins import DocumentRule

CHUNK: Final = 2**20
MOST_RATIO: Final = 200
"""The largest number of unpacked bytes per byte of a gzip file."""
MOST_SURE: Final = 2**26
"""The number of unpacked bytes up to which any ratio is accepted."""
SENTENCE_END: Final = b"\n\n"
NEWDOC: Final = re.compile(rb"^# ?newdoc\b", re.MULTILINE)
SENT_ID: Final = re.compile(rb"^# ?sent_id *= *(.*?) *$", re.MULTILINE)


def blocks(path: Path, size: int, rule: DocumentRule) -> Iterator[bytes]:
    r"""The text of a file, in blocks of about ``size`` bytes with ``\n`` line ends.

    A block ends before the start of a document if there is one in it, else at the end of a sentence, so a sentence is
    never cut, and memory holds one block. A file smaller than ``size`` is one block.

    Raises:
        CorpusFormatError: the file is a damaged or truncated gzip file, or one that unpacks to far more than its size.
        DiscoprobeError: the file cannot be read.
    """
    rest = b""
    for chunk in _chunks(path, size):
        text = rest + chunk
        at = _cut(text, rule) if len(text) >= size else 0
        if at:
            yield text[:at]
        rest = text[at:]
    if rest:
        yield rest


def _chunks(path: Path, size: int) -> Iterator[bytes]:
    r"""Pieces of the text of a file, line ends made ``\n`` and no byte order mark."""
    held = b""
    first = True
    unpacked = 0
    with _open(path) as file:
        size = size if path.suffix == ".gz" else min(size, path.stat().st_size + 1)  # a larger buffer takes longer
        while data := _read(file, size, path):
            unpacked += len(data)
            _refuse_bomb(path, unpacked)
            data = (held + data).removeprefix(b"\xef\xbb\xbf" if first else b"")
            first = False
            held = b"\r" if data.endswith(b"\r") else b""
            data = data.removesuffix(held)
            yield data.replace(b"\r\n", b"\n") if b"\r" in data else data
    if held:
        yield held


def _open(path: Path) -> IO[bytes]:
    try:
        return cast("IO[bytes]", gzip.open(path)) if path.suffix == ".gz" else path.open("rb")
    except OSError as error:
        raise DiscoprobeError(f"{path}: cannot be read: {error.strerror}") from error


def _refuse_bomb(path: Path, unpacked: int) -> None:
    """Raise a CorpusFormatError for an improbable ratio: gzip makes CoNLL-U ten times smaller, rarely thirty times."""
    if path.suffix == ".gz" and unpacked > max(MOST_SURE, MOST_RATIO * path.stat().st_size):
        raise CorpusFormatError(
            f"unpacks to more than {MOST_RATIO} times its size: is it a corpus? If so, unpack it first",
            path=str(path),
        )


def _read(file: IO[bytes], size: int, path: Path) -> bytes:
    try:
        return file.read(size)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise CorpusFormatError(f"damaged or truncated gzip file: {error}", path=str(path)) from error
    except OSError as error:
        raise DiscoprobeError(f"{path}: cannot be read: {error.strerror}") from error


def _cut(text: bytes, rule: DocumentRule) -> int:
    """The end of a block: before the last document that begins in the text, else after the last sentence, else 0."""
    end = text.rfind(SENTENCE_END) + len(SENTENCE_END)
    if end < len(SENTENCE_END):
        return 0
    start = _last_document(text[:end], rule)
    before = text.rfind(SENTENCE_END, 0, start + 1) if start else -1
    return before + len(SENTENCE_END) if before > 0 else end


def _last_document(text: bytes, rule: DocumentRule) -> int:
    """The offset of a comment in the first sentence of the last document that begins in the text, or 0."""
    if rule.kind in {"auto", "newdoc"} and (marks := [match.start() for match in NEWDOC.finditer(text)]):
        return marks[-1]
    if rule.kind not in {"auto", "sent_id"}:
        return 0
    ids = [(match.start(), match[1].decode(errors="replace")) for match in SENT_ID.finditer(text)]
    names = [sent_id for _, sent_id in ids]
    if rule.kind == "auto":
        evidence = find_stems(names)
        pattern = "" if evidence.objection else evidence.pattern
    else:
        pattern = rule.pattern
    documents = by_stem(names, pattern) if pattern else []
    return max((ids[i][0] for i in range(1, len(documents)) if documents[i] != documents[i - 1]), default=0)
