"""Ids of documents, from the names of files and the cells of tables, that are safe in a comment of CoNLL-U."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

UNSAFE: Final = re.compile(r"[\s\x00-\x1f\x7f-\x9f%\u200b\u2028\u2029\ufeff\ud800-\udfff]")
SUFFIXES: Final = (".txt", ".xml", ".tei")


def document_id(name: str) -> str:
    """The id that a name gives: NFC, with white space, control characters and ``%`` written as in URLs.

    Names that differ in more than composition give different ids. A suffix of text files is removed, so that a file and
    a row of a table named after it have the same id.
    """
    short = next((name.removesuffix(suffix) for suffix in SUFFIXES if name.endswith(suffix)), name)
    composed = unicodedata.normalize("NFC", short or name)
    return UNSAFE.sub(lambda match: percent_encoded(match[0]), composed) or "%"


def one_line(label: str) -> str:
    """A label that is safe in a comment of CoNLL-U: single spaces, other unsafe characters written as in URLs."""
    return " ".join(UNSAFE.sub(lambda match: percent_encoded(match[0]), word) for word in label.split())


def percent_encoded(letter: str) -> str:
    """A character as in URLs; one that stands for an undecodable byte of a file name as that byte."""
    errors = "surrogateescape" if "\udc80" <= letter <= "\udcff" else "surrogatepass"
    return "".join(f"%{byte:02X}" for byte in letter.encode(errors=errors))
