"""What was taken out of raw text, by reason."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

REASONS: Final = MappingProxyType(
    {
        # whole sources and documents
        "unknown-file": "a file of a kind that holds no text for us",
        "about-the-corpus": "a file about the corpus: README, LICENSE, SOURCE",
        "folder-loop": "a link to a folder that was read already",
        "unreadable": "a file or row that cannot be read, with on_error skip",
        "empty-document": "a file or row without text, or of which the filters left nothing",
        "short-document": "a document with fewer words than asked for",
        "document-language": "a document mostly in another language",
        "duplicate-document": "a document of which an earlier one has the same paragraphs",
        "near-duplicate-document": "a document nearly the same as an earlier one",
        # paragraphs
        "front-matter": "a paragraph before the body of a TEI text: title page, cast",
        "back-matter": "a paragraph after the body of a TEI text",
        "note": "a note of a TEI text",
        "no-letters": "a paragraph without a letter: a line of stars, a number",
        "short-paragraph": "a paragraph with fewer words than asked for",
        "long-paragraph": "a paragraph longer than allowed in which no sentence ends",
        "script": "a paragraph mostly in another script than that of the language",
        "paragraph-language": "a paragraph surely in another language",
        "boilerplate": "a line that recurs in many documents, and is not all there is in this one",
        "duplicate-paragraph": "a paragraph that an earlier one equals",
        "near-duplicate-paragraph": "a paragraph nearly the same as an earlier one",
        "empty-segment": "an empty line or string among segments",
        # characters and lines
        "page-number": "a line with the number of a page",
        "running-head": "a line that recurs beside page numbers or page breaks",
        "line-hyphen": "a hyphen at the end of a line inside a word",
        "soft-hyphen": "a soft hyphen",
        "control-character": "a control or zero-width character",
        "tag": "a tag, comment, script or style sheet of HTML",
        "entity": "a character reference of HTML, replaced by its character",
        "wiki-markup": "markup of a wiki around words, and TeX after a formula",
        "bullet": "the mark of an item of a list at the start of a line",
        "reference-mark": "a number of a note in square brackets",
        "not-nfc": "characters replaced by their composed form",
    }
)
"""Reason → what is taken out (or mended) for it."""

PLACES: Final = 20
"""How many places are remembered per reason."""


@dataclass(slots=True)
class Counts:
    """How often something was taken out for each reason, and the first places.

    ``documents``, ``paragraphs`` and ``words`` are what is left; a word is a run without white space.
    """

    reasons: Counter[str] = field(default_factory=Counter)
    places: dict[str, list[str]] = field(default_factory=dict)
    documents: int = 0
    paragraphs: int = 0
    words: int = 0

    def add(self, reason: str, place: str, n: int = 1) -> None:
        """Count ``n`` removals at a place."""
        if reason not in REASONS:
            raise KeyError(reason)
        if n:
            self.reasons[reason] += n
            places = self.places.setdefault(reason, [])
            if len(places) < PLACES and place not in places:
                places.append(place)
