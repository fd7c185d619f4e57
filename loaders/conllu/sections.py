"""Finds headings, captions and other elements that GUM marks in comments, and the sections of documents.

``# section_number = 2`` gives the number of the section itself. ``# newpar_block = head (1 s)`` marks a sentence as a
heading. A heading begins a section, unless it is the title at the beginning of the document. A document that begins
with a heading other than its title (``meta::title``) is an excerpt from a longer one, and has no lead.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from discoprobe.loaders.conllu.word_lines import Ints

ELEMENT: Final = re.compile(r'(\w+)(?:\s+[\w:-]+:::"[^"]*")*\s*\((\d+) s\)')
"""An element of the source with its attributes, and how many sentences it has."""
NOT_RUNNING: Final = {
    "head": "heading",
    **dict.fromkeys(("caption", "figure"), "caption"),
    **dict.fromkeys(("item", "list"), "list-item"),
    **dict.fromkeys(("note", "incident"), "note"),
    **dict.fromkeys(("table", "row", "cell"), "table"),
}
"""Elements that are not running text, and the value of ``element`` for their sentences."""
SHARED: Final = 0.5
"""A heading is the title if at least this share of its words are in the title."""


def elements(comments: pl.Series, doc: Ints) -> pl.Series:
    """The column ``element`` of ``corpus.SENTENCES``: null for running text, else ``heading``, ``caption``, ….

    The innermost element decides: a paragraph in an item of a list is running text. ``hi`` is ignored, since it marks
    single words.

    Args:
        comments: ``newpar_block`` of each sentence: the elements that begin with it, outermost first; null for none.
        doc: number of the document of each sentence.
    """
    found: list[str | None] = [None] * len(doc)
    for i in np.flatnonzero(comments.is_not_null()).tolist():
        begun = [(name, int(n)) for name, n in ELEMENT.findall(comments[i]) if name != "hi" and int(n)]
        name, n = begun[-1] if begun else ("", 0)
        for at in range(i, min(i + n, len(doc))):
            found[at] = NOT_RUNNING.get(name) if doc[at] == doc[i] else found[at]
    return pl.Series("element", found, pl.String)


def sections(sentences: pl.DataFrame, element: pl.Series, doc: Ints, index: Ints, before: int) -> tuple[pl.Series, int]:
    """The section of each sentence, null for headings and in documents without sections.

    Args:
        sentences: as :class:`discoprobe.loaders.conllu.parse.Parsed` has them.
        element: of each sentence, from `elements`.
        doc: number of the document of each sentence.
        index: position of each sentence in its document.
        before: number of headings of the first document in earlier blocks of the file.

    Returns:
        The numbers of the sections, and the number of headings of the last document so far.
    """
    given = sentences["section_number"].cast(pl.UInt32)
    heading = element.eq_missing("heading")
    if not heading.any() and not before:
        return given, 0
    texts, titles, begins = sentences["text"], sentences["title"], np.zeros(len(doc), np.int64)
    for i in np.flatnonzero(heading & sentences["newpar_block"].is_not_null()).tolist():
        begins[i] = index[i] > 0 or not _is_title(texts[i] or "", titles[i])
    begins[0] += before
    found = pl.DataFrame({"doc": doc, "begins": begins, "heading": heading}).select(
        number=pl.col("begins").cum_sum().over("doc"),
        inside=(pl.col("begins").sum().over("doc") > 0) & ~pl.col("heading"),
    )
    numbers = found.select(pl.when("inside").then("number").cast(pl.UInt32)).to_series()
    return given.zip_with(given.is_not_null(), numbers), int(found["number"][-1])


def _is_title(heading: str, title: str | None) -> bool:
    """Whether the first heading of a document is its title; True if the title is not known."""
    words, known = _words(heading), _words(title or "")
    return not known or len(words & known) >= SHARED * len(words)


def _words(text: str) -> set[str]:
    """The words of a text in small letters without diacritics."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(c))
    return set(re.findall(r"\w+", plain))
