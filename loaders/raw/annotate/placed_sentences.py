"""Finds sentences in paragraphs with an engine, drops damaged ones, and numbers the others.

An engine is a model (`stanza_engine`) or rules, for languages and machines without a model. The rules are those of
Wikimedia's ``sentencex``, which has rules and abbreviations for some thirty languages, and uses those of a related
language or general ones for the others. Words are then divided at Unicode's word boundaries (``running_words``).

A sentence is dropped if it is too long, or if it shows that something was lost when the text was extracted: empty
brackets, formulas, marks of notes.
"""

import importlib.metadata
import re
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, zip_longest
from typing import Final, NamedTuple, Protocol

import regex

from discoprobe.loaders.conllu.write import Word
from discoprobe.loaders.errors import UnsupportedError
from discoprobe.loaders.languages.language import language_data
from discoprobe.loaders.raw.annotate.sentence_boundaries import BEGINS_SMALL, corrected
from discoprobe.loaders.raw.document import RUNNING, Paragraph, RawDocument, grouped
from discoprobe.loaders.raw.plain_text import is_final
from discoprobe.loaders.running_words import n_alphanumeric_words, word_spans

MAX_WORDS: Final = 512
"""Longer sentences are dropped: they are lists or text without punctuation, and the memory of a parser grows with the
square of the number of words."""
LONG_SENTENCE: Final = "long-sentence"
UNANNOTATED: Final = "unannotated-paragraph"
"""Reasons for dropping: the sentence is too long; the tokeniser cannot read the paragraph."""
INTERRUPTING: Final = frozenset({"heading", "stage"})
"""Kinds of paragraphs that interrupt the text. The name of a speaker does not: turns of a dialogue are consecutive."""
WITHOUT_SENTENCE: Final = "document-without-sentence"
TRACES: Final = {
    "empty-brackets": re.compile(r"[(\[（]\s*(?:[,;/–—-]\s+)*[)\]）]|[(\[](?:\s|[,;/–—-]\s)|,\s+,(?=[\s)])|\?/i\b"),
    "formula": re.compile(
        r"\\[A-Za-z]{2,}|\$[^$]*[\\^_][^$]*\$|[(\[]\s\S{1,2}(?:\s\S{1,2})*\s[)\]]|(?<!\S)(?:\S ){4,}\S(?!\S)"
    ),
    "note-mark": re.compile(r"\[\d{1,3}\]"),
    "coordinates": re.compile(r"[″′'\"]\s?[NSEWOL]\s?,?\s?\d+(?:[.,]\d{3}|\s?°)|[(\d]\d\.\d{6}"),
    "table-row": re.compile(r"^\s*\||\s\|\s.*\s\|\s|\|\s*$"),
    "space-before-comma": re.compile(r"\w\s,(?=\s)"),
}
"""Reason → pattern of the traces that lost text leaves."""
UNFINISHED: Final = regex.compile(r"[\p{L}\p{N}\p{M},;]$")
INTRODUCES: Final = regex.compile(r"[:：﹕]$")
INTRODUCED: Final = regex.compile(r"[\p{P}\p{S}\p{N}\p{Ll}\p{Lo}]")
"""The beginning of a paragraph that directly follows a colon: a quotation mark, a dash, a number, a small letter or one
of a script without capitals. After any other beginning, it is assumed that a list or formula between them was lost."""
MOST: Final = 0.8
"""If at least this share of the paragraphs of a document end with a final mark (or begin with a capital), the last (or
first) sentence of another paragraph is taken for incomplete."""
CHUNK: Final = 40_000
"""Number of characters that an engine gets at once; it bounds memory."""


class Token(NamedTuple):
    """A token: its span in the paragraph's text, and its words, several for a multiword token."""

    start: int
    end: int
    words: tuple[Word, ...]


class Sentence(NamedTuple):
    """A sentence: its span in the paragraph's text, the tokens if a model found them, the reason if it is dropped."""

    start: int
    end: int
    tokens: tuple[Token, ...] = ()
    dropped: str = ""


class Engine(Hashable, Protocol):
    """Finds sentences in paragraphs, and may annotate them; small enough to be sent to another process."""

    @property
    def identity(self) -> Mapping[str, object]:
        """Everything that the result depends on, as JSON values."""

    def annotate(self, paragraphs: Sequence[Paragraph], corrections: Counter[str]) -> list[list[Sentence]]:
        """The sentences of each paragraph, in order: those of the input if it is segmented.

        ``corrections`` counts the corrected sentence boundaries by kind.
        """


def versions(*packages: str) -> dict[str, str]:
    """The versions of packages, and of those that every engine uses for sentence boundaries."""
    return {name: importlib.metadata.version(name) for name in sorted({*packages, "regex", "sentencex"})}


@dataclass(frozen=True, slots=True)
class RuleEngine:
    """Finds the sentences of one language by rules; words are not annotated.

    Raises:
        UnsupportedError: the language is written without spaces between words, which rules cannot divide.
    """

    lang: str

    def __post_init__(self) -> None:
        if not language_data(self.lang).spaces:
            raise UnsupportedError(
                f"'{self.lang}' is written without spaces, and no rule finds its words; it needs a Stanza model "
                f"(pip install 'discoprobe[stanza]', --stanza-dir)"
            )

    @property
    def identity(self) -> Mapping[str, object]:
        """The versions of the libraries that find sentences and words."""
        return {"engine": "rules", "software": versions()}

    def annotate(self, paragraphs: Sequence[Paragraph], corrections: Counter[str]) -> list[list[Sentence]]:
        """The sentences of each paragraph, without tokens."""
        return [
            [_sentence(each.text, *span) for span in each.sentences or corrected(each.text, self.lang, corrections)]
            for each in paragraphs
        ]


def _sentence(text: str, start: int, end: int) -> Sentence:
    """The sentence in a span; it is dropped if it is too long."""
    long = end - start > MAX_WORDS and sum(1 for _ in word_spans(text, start, end)) > MAX_WORDS
    return Sentence(start, end, dropped=LONG_SENTENCE if long else "")


@dataclass(frozen=True, slots=True)
class PlacedSentence:
    """A sentence that is kept, with its paragraph."""

    paragraph: Paragraph
    sentence: Sentence
    number: int  # in the document, from 1; a number is skipped where the text is interrupted
    opens_paragraph: bool
    opens_passage: bool  # the text is interrupted before it
    no_space_after: bool  # the next sentence follows without a space

    @property
    def text(self) -> str:
        """The text of the sentence."""
        return self.paragraph.text[self.sentence.start : self.sentence.end]

    @property
    def tokens(self) -> Sequence[Token]:
        """Its tokens: those of a model, else words by the rules of Unicode."""
        text, (start, end, tokens, _) = self.paragraph.text, self.sentence
        return tokens or [Token(low, high, (Word(text[low:high]),)) for low, high in word_spans(text, start, end)]

    @property
    def alphanumeric_words(self) -> int:
        """The number of words with a letter or digit."""
        if not self.sentence.tokens:
            return n_alphanumeric_words(self.text)
        return sum(any(map(str.isalnum, word.form)) for token in self.sentence.tokens for word in token.words)


def annotated_documents(
    documents: Sequence[RawDocument], engine: Engine, drops: Counter[str], corrections: Counter[str]
) -> Iterator[tuple[RawDocument, list[PlacedSentence]]]:
    """Each document with the sentences that are kept, in order, without documents that have none.

    ``drops`` counts dropped sentences by reason, and paragraphs that are not running text by kind; ``corrections``
    counts the corrected sentence boundaries by kind.
    """
    paragraphs = (paragraph for document in documents for paragraph in document.running)
    chunks = grouped(paragraphs, lambda paragraph: len(paragraph.text), CHUNK)
    found = chain.from_iterable(engine.annotate(chunk, corrections) for chunk in chunks)
    for document in documents:
        if placed := list(_placed(document, list(islice(found, len(document.running))), drops)):
            yield document, placed


def _placed(
    document: RawDocument, found: Sequence[Sequence[Sentence]], drops: Counter[str]
) -> Iterator[PlacedSentence]:
    """The sentences of a document that are kept; ``found`` has all sentences of each paragraph of running text."""
    texts = [
        ["" if sentence.dropped else paragraph.text[sentence.start : sentence.end] for sentence in sentences]
        for paragraph, sentences in zip(document.running, found, strict=True)
    ]
    remaining = zip(found, lost_text(texts), strict=True)
    number, interrupted, before = 0, True, ""
    for paragraph in document.paragraphs:
        interrupted |= paragraph.gap
        if paragraph.kind not in RUNNING:
            drops[paragraph.kind] += 1
            interrupted |= paragraph.kind in INTERRUPTING
            continue
        opens = True
        sentences, lost = next(remaining)
        for sentence, after, why in zip_longest(sentences, sentences[1:], lost):
            if reason := sentence.dropped or why:
                drops[reason] += 1
                interrupted = True
                continue
            text = paragraph.text[sentence.start : sentence.end]
            interrupted |= bool(opens and INTRODUCES.search(before) and not INTRODUCED.match(text))
            number += 1 + (interrupted and number > 0)
            close = bool(after and not after.dropped and after.start == sentence.end)
            yield PlacedSentence(paragraph, sentence, number, opens, interrupted, close)
            opens, interrupted, before = False, False, text
    if not number:
        drops[WITHOUT_SENTENCE] += 1


def lost_text(paragraphs: Sequence[Sequence[str]]) -> list[list[str]]:
    """For each sentence of each paragraph of a document the reason why it is dropped, or an empty text.

    Besides the reasons of :data:`TRACES` there are ``unfinished``, for the last sentence of a paragraph that ends with
    a letter or a comma, and ``continued``, for the first sentence that begins with a small letter. These two are used
    only if most paragraphs of the document end or begin otherwise (:data:`MOST`).
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
