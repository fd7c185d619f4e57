"""Annotated documents as CoNLL-U (https://universaldependencies.org/format.html).

Comments: ``newdoc id``, ``genre``, ``newpar``, ``sent_id``, ``source`` (file, first character, the one after the last)
and ``text``. MISC has ``SpaceAfter=No`` and, as in UDPipe, ``TokenRange=start:end``. All offsets are characters of the
source as it was decoded.

The sentences of a document are numbered, and a number is passed over where the text is interrupted: by a heading, by a
stage direction, by anything that was taken out. So a reader that looks for gaps in the ids, as ours does, never takes
the sentences on both sides for neighbours.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TYPE_CHECKING, Final

from discoprobe.loaders.raw.document import RUNNING
from discoprobe.loaders.raw.sentences import MISSING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from discoprobe.loaders.raw.document import Paragraph, RawDocument
    from discoprobe.loaders.raw.sentences import Sentence, Token

INTERRUPTING: Final = frozenset({"heading", "stage"})
"""Kinds after which the text begins anew. The name of a speaker does not: one turn of a dialogue follows another."""
WITHOUT_SENTENCE: Final = "document-without-sentence"
NO_SPACE: Final = "SpaceAfter=No"
LONGEST_NAME: Final = 200
"""Bytes; file systems allow 255."""


@dataclass(slots=True)
class Tally:
    """What was written, what was left out by reason, and how many limits of sentences were mended by kind."""

    documents: int = 0
    sentences: int = 0
    words: int = 0
    drops: Counter[str] = field(default_factory=Counter)
    mends: Counter[str] = field(default_factory=Counter)


def running(document: RawDocument) -> list[Paragraph]:
    """The paragraphs whose sentences are annotated."""
    return [paragraph for paragraph in document.paragraphs if paragraph.kind in RUNNING]


def write(document: RawDocument, annotated: Sequence[Sequence[Sentence]], tally: Tally) -> str:
    """A document as CoNLL-U; empty if it has no sentence.

    Args:
        document: what was annotated.
        annotated: the sentences of each of its running paragraphs.
        tally: counts go here.
    """
    lines: list[str] = []
    number = 0
    for place in _placed(document, annotated, tally):
        number += 1 + (place.interrupted and number > 0)
        if number == 1:
            lines += [f"# newdoc id = {document.doc_id}", *([f"# genre = {document.genre}"] if document.genre else [])]
        lines += ["# newpar"] if place.opens else []
        lines += [f"# sent_id = {document.doc_id}-{number}", *_sentence(document, place), ""]
        tally.sentences += 1
        tally.words += sum(len(token.words) for token in place.sentence.tokens)
    if number:
        tally.documents += 1
    else:
        tally.drops[WITHOUT_SENTENCE] += 1
    return "\n".join([*lines, ""]) if lines else ""


@dataclass(frozen=True, slots=True)
class _Placed:
    """A sentence in its paragraph; ``follows`` whether the next one follows without a space."""

    paragraph: Paragraph
    sentence: Sentence
    opens: bool
    interrupted: bool
    follows: bool


def _placed(document: RawDocument, annotated: Sequence[Sequence[Sentence]], tally: Tally) -> Iterator[_Placed]:
    """The sentences that are written, in order."""
    remaining = iter(annotated)
    interrupted = False
    for i, paragraph in enumerate(document.paragraphs):
        interrupted |= i in document.gaps
        if paragraph.kind not in RUNNING:
            tally.drops[paragraph.kind] += 1
            interrupted |= paragraph.kind in INTERRUPTING
            continue
        opens = True
        sentences = [one for one in next(remaining) if one.tokens or one.left_out]
        for sentence, after in zip_longest(sentences, sentences[1:]):
            if sentence.left_out:
                tally.drops[sentence.left_out] += 1
                interrupted = True
                continue
            follows = bool(after and after.tokens and after.tokens[0].start == sentence.tokens[-1].end)
            yield _Placed(paragraph, sentence, opens, interrupted, follows)
            opens = interrupted = False


def _sentence(document: RawDocument, place: _Placed) -> Iterator[str]:
    """The lines of a sentence from ``source`` on."""
    tokens, paragraph = place.sentence.tokens, place.paragraph
    start, end = tokens[0].start, tokens[-1].end
    low, high = paragraph.source_span(start, end)
    yield f"# source = {source_name(document)}:{low}:{high}"
    yield f"# text = {paragraph.text[start:end]}"
    number = 1
    for token, after in zip_longest(tokens, tokens[1:]):
        close = place.follows if after is None else after.start == token.end
        yield from _token(paragraph, token, number, close=close)
        number += len(token.words)


def source_name(document: RawDocument) -> str:
    """What the offsets of a document count in: its source, or the file that holds the extracted text."""
    return text_file(document.doc_id) if document.extracted else document.source


def text_file(doc_id: str) -> str:
    """The file in the corpus folder for the text of a document; named by a hash where the id is no name for a file."""
    parts = doc_id.split("/")
    usable = all(part.strip(".") and len(part.encode()) <= LONGEST_NAME for part in parts)
    return f"text/{doc_id if usable else hashlib.sha256(doc_id.encode()).hexdigest()}.txt"


def _token(paragraph: Paragraph, token: Token, number: int, *, close: bool) -> Iterator[str]:
    low, high = paragraph.source_span(token.start, token.end)
    misc = "|".join([*([NO_SPACE] if close else []), f"TokenRange={low}:{high}"])
    if len(token.words) > 1:
        form = paragraph.text[token.start : token.end]
        yield "\t".join([f"{number}-{number + len(token.words) - 1}", form, *[MISSING] * 7, misc])
        misc = MISSING
    for i, word in enumerate(token.words, number):
        yield "\t".join(
            [str(i), word.form, word.lemma, word.upos, word.xpos, word.feats, word.head, word.deprel, MISSING, misc]
        )
