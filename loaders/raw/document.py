"""Documents of raw text: cleaned paragraphs whose characters are traced to the text they come from."""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from operator import itemgetter
from typing import Final, Literal

Break = tuple[int, int]
Span = tuple[int, int]
Kind = Literal["text", "heading", "speaker", "stage", "verse"]

KINDS: Final[tuple[Kind, ...]] = ("text", "heading", "speaker", "stage", "verse")
RUNNING: Final = frozenset({"text", "verse"})
"""Kinds that are running text; the others stand beside it."""

_POSITION = itemgetter(0)


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph as it is annotated: NFC, no markup, soft hyphens or line breaks, no white space but single spaces.

    Attributes:
        text: its characters.
        breaks: (position in ``text``, position in the source): between two breaks, both advance together. Where
            something was taken out there are two breaks at one position of ``text``: where in the source the text
            before it ends, and where the text after it begins. The first break is at position 0.
        kind: what the paragraph is.
        sentences: spans in ``text``, where the input is already segmented.
    """

    text: str
    breaks: tuple[Break, ...]
    kind: Kind = "text"
    sentences: tuple[Span, ...] | None = None

    def source_offset(self, position: int) -> int:
        """Where in the source the character at a position of ``text`` begins."""
        at = self.breaks[bisect_right(self.breaks, position, key=_POSITION) - 1]
        return at[1] + position - at[0]

    def source_end(self, position: int) -> int:
        """Where in the source the character before a position of ``text`` ends."""
        i = bisect_left(self.breaks, position, key=_POSITION)
        if i == len(self.breaks) or self.breaks[i][0] > position:
            i -= 1
        at = self.breaks[i]
        return at[1] + position - at[0]

    def source_span(self, start: int, end: int) -> Span:
        """The span in the source that the characters ``start`` to ``end`` of ``text`` come from.

        In it may be characters that were taken out between them, never before the first or after the last.
        """
        return self.source_offset(start), self.source_end(end)


@dataclass(frozen=True, slots=True)
class RawDocument:
    """A document before annotation.

    Attributes:
        doc_id: unique in the corpus, without white space and control characters.
        paragraphs: what is left after cleaning and filters, in the order of the source.
        source: the file's name below the source folder, with ``/``; a row of a table as ``notes.jsonl:12``.
        source_text: the characters that offsets count in: the decoded file without byte order mark, the cell of a
            table, or what was extracted from a TEI file.
        extracted: whether ``source_text`` exists nowhere but here (TEI, lists of sentences), so that it has to be kept
            for offsets to be checked.
        genre: as the source gives it.
        gaps: the indices of paragraphs before which something was taken out, so that they do not continue the text of
            the paragraph before.
    """

    doc_id: str
    paragraphs: tuple[Paragraph, ...]
    source: str
    source_text: str
    extracted: bool = False
    genre: str = ""
    gaps: frozenset[int] = frozenset()

    @property
    def digest(self) -> str:
        """SHA-256 of everything that annotation depends on: id, genre, paragraphs and gaps."""
        parts = [(p.text, p.kind, p.sentences, p.breaks) for p in self.paragraphs]
        content = json.dumps([self.doc_id, self.genre, parts, sorted(self.gaps)], ensure_ascii=False)
        return hashlib.sha256(content.encode(errors="surrogatepass")).hexdigest()
