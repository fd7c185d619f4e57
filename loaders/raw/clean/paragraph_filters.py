"""Filters on one document: letters, length, script and language of its paragraphs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import regex

from discoprobe.loaders.raw.clean import language_identification
from discoprobe.loaders.raw.clean.lines import inner_sentences
from discoprobe.loaders.raw.clean.scripts import script_share
from discoprobe.loaders.raw.document import RUNNING, Paragraph, RawDocument
from discoprobe.loaders.running_words import UNSPACED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from discoprobe.loaders.raw.drop_counts import DropCounts
    from discoprobe.loaders.raw.options import ReadOptions

_UNSPACED = regex.compile(UNSPACED)


def word_count(text: str) -> int:
    """The number of words: separated by white space; each letter, in scripts without spaces between words."""
    if text.isascii():
        return len(text.split())
    letters = len(_UNSPACED.findall(text))
    return letters + (len(_UNSPACED.sub(" ", text).split()) if letters else len(text.split()))


def filtered(document: RawDocument, options: ReadOptions, counts: DropCounts) -> RawDocument | None:
    """A document without unusable paragraphs, or None if the document is not usable; every drop is counted."""
    document = _rebuilt(document, lambda _, paragraph: _cut(document, paragraph, options.max_characters, counts))
    check = _ParagraphCheck(options)
    document = without(document, lambda _, paragraph: check.drop_reason(paragraph), counts)
    if options.lang and language_identification.language_share(check.classified) < options.language_share:
        counts.add("document-language", document.source)
        return None
    return long_enough(document, options, counts)


def without(document: RawDocument, drop: Callable[[int, Paragraph], str | None], counts: DropCounts) -> RawDocument:
    """A document without the paragraphs for which ``drop`` (index, paragraph) gives a reason."""

    def kept(i: int, paragraph: Paragraph) -> list[Paragraph | None]:
        reason = drop(i, paragraph)
        if reason:
            counts.add(reason, document.source)
        return [None if reason else paragraph]

    return _rebuilt(document, kept)


def long_enough(document: RawDocument, options: ReadOptions, counts: DropCounts) -> RawDocument | None:
    """The document if it has enough words of running text, else None."""
    words = sum(word_count(paragraph.text) for paragraph in document.running)
    if words >= max(options.min_document_words, 1):
        return document
    counts.add("short-document" if words else "empty-document", document.source)
    return None


def _rebuilt(document: RawDocument, parts: Callable[[int, Paragraph], Iterable[Paragraph | None]]) -> RawDocument:
    """A document with each paragraph replaced by its parts; after a part that is None there is a gap."""
    paragraphs: list[Paragraph] = []
    gaps: set[int] = set()
    gap = False
    for i, paragraph in enumerate(document.paragraphs):
        gap |= i in document.gaps
        for part in parts(i, paragraph):
            if part is None:
                gap = True
                continue
            if gap and paragraphs:
                gaps.add(len(paragraphs))
            paragraphs.append(part)
            gap = False
    return replace(document, paragraphs=tuple(paragraphs), gaps=frozenset(gaps))


@dataclass(slots=True)
class _ParagraphCheck:
    """Finds reasons to drop paragraphs; ``classified`` has the length of each, and whether it is in the language."""

    options: ReadOptions
    classified: list[tuple[int, bool]] = field(default_factory=list)

    def drop_reason(self, paragraph: Paragraph) -> str | None:
        text, options = paragraph.text, self.options
        if not any(map(str.isalpha, text)):
            return "no-letters"
        if paragraph.kind not in RUNNING:
            return None
        if options.lang and options.script_share and script_share(text, options.lang) < options.script_share:
            return "script"
        if options.lang and options.language_share and self._is_other_language(text):
            return "paragraph-language"
        return "short-paragraph" if word_count(text) < options.min_words else None

    def _is_other_language(self, text: str) -> bool:
        lang = self.options.lang
        if not language_identification.is_long_enough(text) or not language_identification.is_known(lang):
            return False
        same, other = language_identification.probability(text, lang)
        self.classified.append((len(text), same >= other))
        return other >= language_identification.CERTAIN


def _cut(document: RawDocument, paragraph: Paragraph, longest: int, counts: DropCounts) -> Iterator[Paragraph | None]:
    """A paragraph cut after sentences into parts of at most ``longest`` characters; None where that is impossible."""
    for part in _parts(paragraph, longest):
        if len(part.text) <= longest:
            yield part
        else:
            counts.add("long-paragraph", f"{document.source}:{part.source_span(0, 1)[0]}")
            yield None


def _parts(paragraph: Paragraph, longest: int) -> Iterator[Paragraph]:
    """The parts of a paragraph, each as many sentences as fit."""
    if len(paragraph.text) <= longest:
        yield paragraph
        return
    if paragraph.sentences is None:
        ends = inner_sentences(paragraph.text)
    else:
        ends = [start for start, _ in paragraph.sentences[1:]]
    ends.append(len(paragraph.text))
    start = 0
    for end, following in zip(ends, [*ends[1:], None], strict=True):
        if following is None or following - start > longest:
            yield _part(paragraph, start, end)
            start = end


def _part(paragraph: Paragraph, start: int, end: int) -> Paragraph:
    text = paragraph.content.cut(start, start + len(paragraph.text[start:end].rstrip()))
    if paragraph.sentences is None:
        return Paragraph(text, paragraph.kind)
    return Paragraph(
        text, paragraph.kind, tuple((a - start, b - start) for a, b in paragraph.sentences if start <= a < end)
    )
