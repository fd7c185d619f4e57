"""Ids of documents: from the names of files and the cells of tables, safe in a comment of CoNLL-U."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

UNSAFE: Final = re.compile(r"[\s\x00-\x1f\x7f-\x9f%\u200b\u2028\u2029\ufeff\ud800-\udfff]")
SUFFIXES: Final = (".txt", ".xml", ".tei")


def document_id(name: str) -> str:
    """The id that a name gives: NFC, with white space, control characters and ``%`` written as in URLs.

    Different names give different ids, unless they differ in composition only; ``.txt`` at the end does not count, so
    that a file and a row of a table named after it give the same.
    """
    short = next((name.removesuffix(suffix) for suffix in SUFFIXES if name.endswith(suffix)), name)
    composed = unicodedata.normalize("NFC", short or name)
    return UNSAFE.sub(lambda match: _escaped(match[0]), composed) or "%"


def one_line(label: str) -> str:
    """A label that is safe in a comment of CoNLL-U: single spaces, the rest as in :func:`document_id`."""
    return " ".join(UNSAFE.sub(lambda match: _escaped(match[0]), word) for word in label.split())


def _escaped(letter: str) -> str:
    errors = "surrogateescape" if "\udc80" <= letter <= "\udcff" else "surrogatepass"  # the former: of a file's name
    return "".join(f"%{byte:02X}" for byte in letter.encode(errors=errors))


def numbered_id(stem: str, number: int) -> str:
    """The id of a document that its table does not name: the table's and the row, from 1."""
    return f"{document_id(stem)}-{number:06}"
