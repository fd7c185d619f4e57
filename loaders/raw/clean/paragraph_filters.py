"""Filters on documents: letters, length, script and language of their paragraphs."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import compress
from typing import TYPE_CHECKING

import regex

from discoprobe.loaders.raw.clean import language_identification
from discoprobe.loaders.raw.clean.lines import inner_sentences
from discoprobe.loaders.raw.clean.scripts import script_share
from discoprobe.loaders.raw.document import RUNNING, Paragraph, RawDocument
from discoprobe.loaders.running_words import UNSPACED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from discoprobe.loaders.raw.drop_counts import DropCounts
    from discoprobe.loaders.raw.options import ReadOptions

    Shares = tuple[float, float] | None

_UNSPACED = regex.compile(UNSPACED)
_MAYBE_UNSPACED = re.compile("[\u0e00-\u1fff\u2e80-\U0010ffff]")
"""A range with all characters of those scripts, which is looked for ten times as fast."""


def word_count(text: str) -> int:
    """The number of words: separated by white space; each letter, in scripts without spaces between words."""
    if _MAYBE_UNSPACED.search(text) is None:
        return len(text.split())
    letters = len(_UNSPACED.findall(text))
    return letters + (len(_UNSPACED.sub(" ", text).split()) if letters else len(text.split()))


def filtered(document: RawDocument, options: ReadOptions, counts: DropCounts) -> RawDocument | None:
    """A document without unusable paragraphs, or None if the document is not usable; every drop is counted."""
    return next(all_filtered([document], options, counts))


def all_filtered(
    documents: Sequence[RawDocument], options: ReadOptions, counts: DropCounts
) -> Iterator[RawDocument | None]:
    """The same for each of several documents: the language of all of their paragraphs is identified at once."""
    cut = [_without_long(document, options.max_characters, counts) for document in documents]
    reasons = [[_drop_reason(paragraph, options) for paragraph in document.paragraphs] for document in cut]
    languages = _languages(
        [
            [paragraph.text for paragraph, reason in zip(document.paragraphs, dropped, strict=True) if reason is None]
            for document, dropped in zip(cut, reasons, strict=True)
        ],
        options,
    )
    for document, dropped in zip(cut, reasons, strict=True):
        yield _in_language(document, dropped, next(languages), options, counts)


def _in_language(
    document: RawDocument, dropped: Sequence[str | None], languages: Sequence[Shares], options: ReadOptions,
    counts: DropCounts,
) -> RawDocument | None:  # fmt: skip
    """A document without what is dropped and what is in another language; None if nothing usable is left.

    Args:
        document: with paragraphs that are not too long.
        dropped: why each paragraph is dropped, ``""`` for a heading, None for running text that stays.
        languages: of each paragraph that stays; None where it is not known.
        options: of reading.
        counts: counts every drop.
    """
    shares = iter(languages)
    classified: list[tuple[int, bool]] = []

    def reason(i: int, paragraph: Paragraph) -> str | None:
        if (why := dropped[i]) is not None:
            return why or None
        if (share := next(shares)) is not None:
            same, other = share
            classified.append((len(paragraph.text), same >= other))
            if other >= language_identification.CERTAIN:
                return "paragraph-language"
        return "short-paragraph" if word_count(paragraph.text) < options.min_words else None

    document = without(document, reason, counts)
    if options.lang and language_identification.language_share(classified) < options.language_share:
        counts.add("document-language", document.source)
        return None
    return long_enough(document, options, counts)


def _without_long(document: RawDocument, longest: int, counts: DropCounts) -> RawDocument:
    """A document whose paragraphs are cut to a length."""
    return _rebuilt(document, lambda _, paragraph: _cut(document, paragraph, longest, counts))


def _drop_reason(paragraph: Paragraph, options: ReadOptions) -> str | None:
    """Why a paragraph is dropped whatever its language is; empty for one that is not running text; else None."""
    if not any(map(str.isalpha, paragraph.text)):
        return "no-letters"
    if paragraph.kind not in RUNNING:
        return ""
    if options.lang and options.script_share and script_share(paragraph.text, options.lang) < options.script_share:
        return "script"
    return None


def _languages(texts: Sequence[Sequence[str]], options: ReadOptions) -> Iterator[list[Shares]]:
    """The probabilities of the language and of the most probable other one, for each text of each document."""
    asked = bool(options.lang and options.language_share) and language_identification.is_known(options.lang)
    long = [[asked and language_identification.is_long_enough(text) for text in of_document] for of_document in texts]
    chosen = [text for document, keep in zip(texts, long, strict=True) for text in compress(document, keep)]
    known = language_identification.probabilities(chosen, options.lang)
    return ([next(known) if is_long else None for is_long in of_document] for of_document in long)


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
