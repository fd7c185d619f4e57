"""Sentences that show that something was lost when the text was extracted: brackets left empty, formulas, notes."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import regex

from discoprobe.loaders.raw.clean.lines import is_final

if TYPE_CHECKING:
    from collections.abc import Sequence

TRACES: Final = MappingProxyType(
    {
        "empty-brackets": re.compile(r"[(\[（]\s*(?:[,;/–—-]\s+)*[)\]）]|[(\[](?:\s|[,;/–—-]\s)|,\s+,(?=[\s)])|\?/i\b"),
        "formula": re.compile(
            r"\\[A-Za-z]{2,}|\$[^$]*[\\^_][^$]*\$|[(\[]\s\S{1,2}(?:\s\S{1,2})*\s[)\]]|(?<!\S)(?:\S ){4,}\S(?!\S)"
        ),
        "note-mark": re.compile(r"\[\d{1,3}\]"),
        "coordinates": re.compile(r"[″′'\"]\s?[NSEWOL]\s?,?\s?\d+(?:[.,]\d{3}|\s?°)|[(\d]\d\.\d{6}"),
        "table-row": re.compile(r"^\s*\||\s\|\s.*\s\|\s|\|\s*$"),
        "space-before-comma": re.compile(r"\w\s,(?=\s)"),
    }
)
"""Reason → pattern of what is left where text was lost."""
BEGINS_SMALL: Final = regex.compile(r"[\p{P}\s]*[\p{Ll}--\p{Georgian}]", regex.VERSION1)
UNFINISHED: Final = regex.compile(r"[\p{L}\p{N}\p{M},;]$")
MOST: Final = 0.8
"""Least share of paragraphs with a final mark, and with a first capital, in a document where others have lost text."""


def lost_text(paragraphs: Sequence[Sequence[str]]) -> list[list[str]]:
    """For each sentence of each paragraph of a document the reason why it is dropped, or an empty text.

    Besides the reasons of :data:`TRACES`: ``unfinished``, the last sentence of a paragraph that ends with a letter or
    a comma, and ``continued``, the first of a paragraph that begins with a small letter, in a document where others do
    not.
    """
    filled = [paragraph for paragraph in paragraphs if paragraph]
    marks = sum(is_final(paragraph[-1]) for paragraph in filled) >= MOST * len(filled)
    capitals = sum(not BEGINS_SMALL.match(paragraph[0]) for paragraph in filled) >= MOST * len(filled)
    reasons = [[_trace(sentence) for sentence in paragraph] for paragraph in paragraphs]
    for paragraph, dropped in zip(paragraphs, reasons, strict=True):
        if paragraph and marks and UNFINISHED.search(paragraph[-1]):
            dropped[-1] = dropped[-1] or "unfinished"
        if paragraph and capitals and BEGINS_SMALL.match(paragraph[0]):
            dropped[0] = dropped[0] or "continued"
    return reasons


def _trace(sentence: str) -> str:
    return next((reason for reason, pattern in TRACES.items() if pattern.search(sentence)), "")
