"""What was removed from raw text, counted by reason."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

REASONS: Final = MappingProxyType(
    {
        # files and documents
        "unknown-file": "a file of a kind that is not read",
        "about-the-corpus": "a file about the corpus: README, LICENSE, SOURCE",
        "folder-loop": "a link to a folder that was already read",
        "unreadable": "a file or row that cannot be read, with on_error skip",
        "empty-document": "a file or row without text, or with nothing left after filtering",
        "short-document": "a document with fewer words than min_document_words",
        "document-language": "a document mostly in another language",
        "duplicate-document": "a document with the same paragraphs as an earlier one",
        "near-duplicate-document": "a document nearly the same as an earlier one",
        # paragraphs
        "front-matter": "a paragraph before the body of a TEI text: title page, cast",
        "back-matter": "a paragraph after the body of a TEI text",
        "note": "a note of a TEI text",
        "no-letters": "a paragraph without a letter: a line of stars, a number",
        "short-paragraph": "a paragraph with fewer words than min_words",
        "long-paragraph": "a paragraph longer than max_characters in which no sentence ends",
        "script": "a paragraph mostly in a script that the language does not use",
        "paragraph-language": "a paragraph certainly in another language",
        "boilerplate": "a line that recurs in many documents and is not the whole text of this one",
        "duplicate-paragraph": "a paragraph equal to an earlier one",
        "near-duplicate-paragraph": "a paragraph nearly the same as an earlier one",
        "code": "a line of a block of code in Markdown",
        "formula": "a line with nothing but a formula",
        "table": "a row of a table in Markdown",
        "list": "an item of a list in Markdown",
        "empty-segment": "an empty line or string among segments",
        # lines and characters
        "page-number": "a line with a page number",
        "running-head": "a line that recurs beside page numbers or page breaks",
        "line-hyphen": "a hyphen at the end of a line inside a word",
        "soft-hyphen": "a soft hyphen",
        "control-character": "a control or zero-width character",
        "tag": "a tag, comment, script or style sheet of HTML",
        "entity": "a character reference of HTML, replaced by its character",
        "wiki-markup": "wiki markup around words, and TeX after a formula",
        "bullet": "the bullet of a list item at the start of a line",
        "reference-mark": "the number of a note in square brackets",
        "not-nfc": "characters replaced by their composed form",
    }
)
"""Reason → what is removed or replaced."""

PLACES: Final = 20
"""Number of places that are recorded per reason."""


@dataclass(slots=True)
class DropCounts:
    """Removals by reason with their first places, and the size of what remains.

    ``documents``, ``paragraphs`` and ``words`` count what remains.
    """

    reasons: Counter[str] = field(default_factory=Counter)
    places: dict[str, list[str]] = field(default_factory=dict)
    documents: int = 0
    paragraphs: int = 0
    words: int = 0

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
