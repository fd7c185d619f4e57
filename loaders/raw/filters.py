"""Filters on a document by itself: letters, length, script and language of its paragraphs."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from discoprobe.loaders.raw import language_share
from discoprobe.loaders.raw.document import RUNNING, Paragraph, RawDocument
from discoprobe.loaders.raw.lines import INNER
from discoprobe.loaders.raw.scripts import script_share
from discoprobe.loaders.raw.tracked import Tracked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from discoprobe.loaders.raw.counts import Counts
    from discoprobe.loaders.raw.options import ReadOptions

UNSPACED: Final = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\U00020000-\U0003ffff]"
)
"""Letters of scripts that put no spaces between words (Thai, Lao, Myanmar, Khmer, kana, Han): each counts as a word."""


def word_count(text: str) -> int:
    """How many words a text has: runs without white space; each letter, in scripts without spaces between words."""
    letters = len(UNSPACED.findall(text))
    return letters + (len(UNSPACED.sub(" ", text).split()) if letters else len(text.split()))


def filtered(document: RawDocument, options: ReadOptions, counts: Counts) -> RawDocument | None:
    """A document without the paragraphs that are not fit for use, or None if it is not; every drop is counted."""
    place = document.source
    document = _cut(document, options.max_characters, counts)
    judge = _Judge(options)
    document = without(document, lambda _, paragraph: judge.fault(paragraph), counts)
    if options.lang and language_share.language_share(judge.judged) < options.language_share:
        counts.add("document-language", place)
        return None
    return of_length(document, options, counts)


def without(document: RawDocument, fault: Callable[[int, Paragraph], str | None], counts: Counts) -> RawDocument:
    """A document without the paragraphs that a function gives a reason against, by index; what follows is a gap."""
    kept: list[Paragraph] = []
    gaps: set[int] = set()
    gap = False
    for i, paragraph in enumerate(document.paragraphs):
        gap |= i in document.gaps
        if reason := fault(i, paragraph):
            counts.add(reason, document.source)
            gap = True
            continue
        if gap and kept:
            gaps.add(len(kept))
        kept.append(paragraph)
        gap = False
    return replace(document, paragraphs=tuple(kept), gaps=frozenset(gaps))


def of_length(document: RawDocument, options: ReadOptions, counts: Counts) -> RawDocument | None:
    """The document, if it has words enough."""
    words = sum(word_count(paragraph.text) for paragraph in document.paragraphs if paragraph.kind in RUNNING)
    if words >= max(options.min_document_words, 1):
        return document
    counts.add("short-document" if words else "empty-document", document.source)
    return None


@dataclass(slots=True)
class _Judge:
    options: ReadOptions
    judged: list[tuple[str, bool]] = field(default_factory=list)

    def fault(self, paragraph: Paragraph) -> str | None:
        """The reason for which a paragraph is left out."""
        text, options = paragraph.text, self.options
        if not any(map(str.isalpha, text)):
            return "no-letters"
        if paragraph.kind not in RUNNING:
            return None
        if options.lang and options.script_share and script_share(text, options.lang) < options.script_share:
            return "script"
        if options.lang and options.language_share and self._is_foreign(text):
            return "paragraph-language"
        return "short-paragraph" if word_count(text) < options.min_words else None

    def _is_foreign(self, text: str) -> bool:
        if not language_share.is_judged(text) or not language_share.is_known(self.options.lang):
            return False
        own, other = language_share.probability(text, self.options.lang)
        self.judged.append((text, own >= other))
        return other >= language_share.SURE


def _cut(document: RawDocument, limit: int, counts: Counts) -> RawDocument:
    """A document whose long paragraphs are cut after a sentence; those without a place to cut are left out."""
    if all(len(paragraph.text) <= limit for paragraph in document.paragraphs):
        return document
    kept: list[Paragraph] = []
    gaps: set[int] = set()
    gap = False
    for i, paragraph in enumerate(document.paragraphs):
        gap |= i in document.gaps
        for piece in _pieces(paragraph, limit):
            if len(piece.text) > limit:
                counts.add("long-paragraph", f"{document.source}:{piece.source_offset(0)}")
                gap = True
                continue
            if gap and kept:
                gaps.add(len(kept))
            kept.append(piece)
            gap = False
    return replace(document, paragraphs=tuple(kept), gaps=frozenset(gaps))


def _pieces(paragraph: Paragraph, limit: int) -> Iterator[Paragraph]:
    if len(paragraph.text) <= limit:
        yield paragraph
        return
    if paragraph.sentences is None:
        ends = [m.start("next") for m in INNER.finditer(paragraph.text) if not m["next"].islower()]
    else:
        ends = [start for start, _ in paragraph.sentences[1:]]
    whole = Tracked(paragraph.text, paragraph.breaks)
    start = 0
    for end, following in zip([*ends, len(paragraph.text)], [*ends[1:], len(paragraph.text), None], strict=False):
        if following is None or following - start > limit:
            yield _piece(whole, start, end, paragraph)
            start = end


def _piece(whole: Tracked, start: int, end: int, paragraph: Paragraph) -> Paragraph:
    text = whole.cut(start, end)
    text = text.cut(0, len(text.text.rstrip()))
    if paragraph.sentences is None:
        return text.paragraph(paragraph.kind)
    spans = [(a - start, b - start) for a, b in paragraph.sentences if start <= a < end]
    return text.paragraph(paragraph.kind, spans)
