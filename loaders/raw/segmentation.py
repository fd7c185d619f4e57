"""Finds sentences in paragraphs with an engine, corrects their boundaries, drops damaged ones, numbers the others.

An engine is a model (`stanza_engine`) or rules, for languages and machines without a model. The rules are those of
Wikimedia's ``sentencex``, which has rules and abbreviations for some thirty languages, and uses those of a related
language or general ones for the others. Words are then divided at Unicode's word boundaries (``running_words``).

The boundaries of both are corrected by rules (``correct_boundaries``): they are removed, moved or added, by what the
marks show. Those of models were tested on gold sentences (UD German GSD, Spanish AnCora and GSD, Russian Taiga and
GSD; 4,900 sentences, up to ten joined by spaces, small models of Stanza): of 138 boundaries that are removed or
moved, 132 are not in gold; of 154 that are added, 152 are. Without a model, F1 of boundaries was measured on 22
treebanks of 19 languages (``docs/records/sentence_boundaries.tsv``): on average .958 (.947 before their errors were
read); ``sentencex`` alone .935, pySBD .928, spaCy's ``sentencizer`` .892. On ten files that were not looked at it
rose by .004 only, to .914 (``sentencex`` .905, pySBD .899, spaCy .885; one in Hebrew, .868, is far behind spaCy,
.976). Rules that these tests did not confirm are left out: for boundaries after ``:`` and ``;``, after an
abbreviation of several letters, and before a small letter after a full stop. The rules for ordinals (``19.
Jahrhundert``), for years, and for Spanish ``D.`` come from reading texts of the German Wikipedia and Spanish novels.

A sentence is dropped if it is too long, or if it shows that something was lost when the text was extracted: empty
brackets, formulas, marks of notes (``lost_text``).
"""

import importlib.metadata
import os
import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import cache
from itertools import chain, groupby, islice, pairwise, zip_longest
from typing import ClassVar, Final, Protocol

import msgspec
import polars as pl
import regex
import sentencex
from packaging.version import Version

from discoprobe.loaders.conllu.parse import MISSING, sentence_text
from discoprobe.loaders.corpus import Word
from discoprobe.loaders.errors import UnsupportedError
from discoprobe.loaders.languages.language import LanguageSection, language_data
from discoprobe.loaders.languages.word_lists import zipf
from discoprobe.loaders.plugins import language_identity
from discoprobe.loaders.raw.document import RUNNING, Paragraph, RawDocument, Span, group_by_size
from discoprobe.loaders.raw.plain_text import is_final
from discoprobe.loaders.words import word_spans

CORRECTIONS: Final = frozenset({
    "closing-signs", "opening-signs", "inside-word", "signs-alone", "after-call", "before-dash", "after-comma",
    "after-title", "after-ordinal", "after-number", "after-initial", "before-initial", "missed-end",
})  # fmt: skip
"""Kinds of corrections: a boundary is moved, removed or added; docs/raw_text.md explains each."""

_SMALL: Final = r"[\p{Ll}--\p{Georgian}]"
"""A small letter of a script in which capitals begin sentences; Georgian is written in small letters throughout."""
AFTER: Final = regex.compile(r"[\p{P}\p{S}]+(?:\s+|$)")
"""Punctuation marks that belong to the sentence before them, because white space follows directly."""
BEFORE: Final = regex.compile(r"(?:^|(?<=\s))(?:[\p{Ps}\p{Pi}\p{Pf}\p{Pd}\"'`¿¡]+|[.…]{2,})$")
"""Opening marks, or an ellipsis, that belong to the sentence after them, because white space is before them."""
MAX_SIGNS: Final = 16
JOINED: Final = regex.compile(rf"[.…]|\p{{N}}|{_SMALL}", regex.VERSION1)
"""A character that cannot begin a sentence unless a space is before it."""
LETTER: Final = regex.compile(r"[\p{L}\p{N}]")
NUMBERED: Final = regex.compile(r"(?<=[.!?;:][\p{Pe}\p{Pf}\"']*\s+)\p{N}{1,3}(?:\.\p{N}{1,3})*[.)]\s*$")
"""The number of an item after the end of another one, which belongs to the sentence after it."""
SMILEY: Final = r"(?<!\S)(?:[:;=][-o^']?[)(\]\[DPpOo3/|*]+|\){2,}|\({2,})(?!\S)"
"""Marks that stand for a face."""
FACES: Final = regex.compile(
    rf"(?:(?:{SMILEY}|[\p{{Extended_Pictographic}}\uFE0F\u200D\U0001F3FB-\U0001F3FF--[©®™]]+)\s*)+", regex.VERSION1
)
"""Faces and pictures that belong to the sentence before them."""
AFTER_FACE: Final = regex.compile(rf"(?<=\S\s+){SMILEY}\s+(?=[\p{{Ps}}\p{{Pi}}\"„¿¡]*\p{{Lu}})")
"""A face that ends a sentence, because a capital follows."""
BULLET: Final = regex.compile(r"(?<=[.;:!?]\s+)(?=[*•▪‣]\s+\p{L})")
"""The end of a sentence before an item of a list that stands in one line with the others."""
ENUMERATOR: Final = regex.compile(r"[^\p{L}\p{N}]*(?:\p{N}{1,3}(?:\.\p{N}{1,3})*|\p{L})[.)]\s*")
"""The number or letter of an item, which is no sentence: ``2.``, ``3.1.``, ``b)``."""
UNIT: Final = regex.compile(
    r"(?<=(?:\p{N}|(?<!\p{L})[IVXLC]+)\s?\p{Ll}{1,3})\.[\p{Pe}\p{Pf}\"']*\s+(?=[\p{Pi}\"«]?\p{Lu}(?!\.))"
)
"""The end of a sentence after a number with an abbreviated unit (*180 кг.*, *1994 r.*), in languages where a noun has
no capital."""
INITIAL: Final = r"(?<![\p{L}\p{M}])\p{Lu}\."
ENDS_IN_INITIAL: Final = regex.compile(rf"{INITIAL}$")
SEVERAL: Final = r"(?<![\p{L}\p{M}.])(?:\p{Ll}\.\s\p{Ll}\.|\p{Ll}{1,3}\.(?:\p{Ll}{1,3}\.)+)"
"""An abbreviation of several words: *т. е.*, *t.ex.*"""
CONSONANTS: Final = (
    r"(?<![\p{L}\p{M}.])(?!(?:[hm]+|p?f+|p?s+t?|b?r+|z+)\.)"
    r"[bcčćçdđfghjklłmnńňpqrřsśšştťvwxzźžżбвгджзйклмнпрстфхцчшщ]{2,4}\."
)
"""A word of small consonants, unless it is a sound (*mh*, *pff*): an abbreviation (*npr.*, *tzv.*, *млн.*)."""
ONLY_OPENS: Final = regex.compile(r"[\p{Ps}\p{Pi}\p{Pd}¿¡\s]+$")
BEGINS_SMALL: Final = regex.compile(rf"[\p{{P}}\s]*{_SMALL}", regex.VERSION1)
TITLE: Final = r"(?<!\p{L})(?:Drs?|Dra|Prof|Mrs?|Ms|Hrn?|Sr|Sres|Sras?|Srta|Dña|Dott|Sig|Mme|Mlle)\."
"""An abbreviated title before a name. Other abbreviations cannot be told from a short word at the end of a sentence."""
ORDINAL: Final = r"(?<![\p{L}\p{N}.,])\p{N}{1,2}\."
FREQUENT: Final = 6.0
"""Zipf frequency from which a word after a number and full stop begins a sentence: articles, prepositions, pronouns. Of
1,683 numbers before a full stop and a capital in 200 articles of the German Wikipedia, about 30 end a sentence."""
YEAR: Final = regex.compile(r"(?<=\p{L}{4}|\p{N}{4})[.!?][\p{Pe}\p{Pf}\p{Pi}\"']*\s+(?=\p{N}{4}\s+\p{Ll})")
"""The end of a sentence before one that begins with a year and a word in small letters, as is usual in German."""
MISSED: Final = regex.compile(
    r"(?:[!?…]|\.{2,}|(?<=\p{L}{3}|\p{N}{2}|[\p{Pe}\p{Pf}\"'])\.)[\p{Pe}\p{Pf}\p{Pi}\"']*\s+"
    r"(?=[\p{Pd}\s]*[\p{Ps}\p{Pi}\"„`'¿¡]*\p{Lu})"
)
"""The end of a sentence and a capital; before a full stop is a word of three letters, a number, or a closing mark."""
QUOTES: Final = dict.fromkeys(map(ord, "\"«»“”„‟`'‘’"), " ")
"""Quotation marks, between which `sentencex` finds no end of a sentence; one that is never closed hides a paragraph."""
BRACKETS: Final = ("()", "[]")
"""Brackets that do the same; they are ignored in a paragraph that does not close as many as it opens."""


PRINTS: Final = Version(importlib.metadata.version("sentencex")) < Version("1.0.14")
"""Whether `sentencex` writes "Found 1 paragraphs" on stdout for a long paragraph."""


@contextmanager
def _stdout_away() -> Iterator[None]:
    """Inside, what a library writes on file descriptor 1 is lost."""
    saved, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        os.dup2(saved, 1)
        os.close(saved)
        os.close(nowhere)


class Boundaries(LanguageSection, frozen=True):
    """Full stops inside sentences of a language.

    Attributes:
        abbreviations: pattern of abbreviations that are always before another word (German *inkl.*, Spanish *D.*).
        ordinals: for languages where ordinals have a full stop and nouns a capital (*19. Jahrhundert*), the code of the
            language whose word frequencies are used for the word after the ordinal; empty for others.
        ends: words that `sentencex` takes for abbreviations, and that end a sentence before a capital (Italian *no.*).
    """

    section: ClassVar[str] = "boundaries"
    abbreviations: str = ""
    ordinals: str = ""
    ends: tuple[str, ...] = ()


def correct_boundaries(
    text: str, lang: str, corrections: Counter[str], spans: Sequence[Span] | None = None
) -> list[Span]:
    """The spans of the sentences of a paragraph, with corrected boundaries.

    ``spans`` are the sentences of a segmenter, in order, with only white space between them; by default those of
    ``sentencex``. ``corrections`` counts the boundaries that are moved, removed or added, by :data:`CORRECTIONS`.
    """
    rules = _by_rule(text, lang)
    if not (spans := rules if spans is None else spans):
        return []
    start, end = spans[0][0], spans[-1][1]
    by_rule = {begin for begin, _ in rules}
    moved = [_move_past_signs(text, boundary) for boundary, _ in spans[1:]]
    of_segmenter = {boundary for boundary, _ in moved}
    language = language_data(lang).section(Boundaries)
    missed = {match.end() for match in MISSED.finditer(text)}
    if not missed <= by_rule and (bare := _bare(text)) != text:
        missed &= by_rule | {begin for begin, _ in _by_rule(bare, lang)}
    else:
        missed &= by_rule
    added = missed | {match.end() for match in YEAR.finditer(text)}
    added |= {match.end() for pattern in (AFTER_FACE, BULLET) for match in pattern.finditer(text)}
    added |= {match.end() for match in _ends(language).finditer(text)} if language.ends else set()
    added |= set() if language.ordinals else {match.end() for match in UNIT.finditer(text)}
    boundaries = sorted(at for at in of_segmenter | added if start < at < end)
    removed: dict[int, str] = {}
    begin = start
    for at, following in pairwise([*boundaries, end]):
        after = text[at:following]
        if kind := _kind_inside(text, at, language, by_rule):
            removed[at] = kind
        elif ENUMERATOR.fullmatch(text, begin, at):
            removed[at] = "after-number"
        elif LETTER.search(text, begin, at) and (LETTER.search(after) or ONLY_OPENS.match(after)):
            begin = at
        else:  # a part beside the boundary has no letter and opens no sentence
            removed[at] = "signs-alone"
    corrections.update(kind for boundary, moved_as in moved if (kind := removed.get(boundary, moved_as)))
    boundaries = [at for at in boundaries if at not in removed]
    corrections.update("missed-end" for at in boundaries if at not in of_segmenter)
    edges = pairwise([start, *boundaries, end])
    return [(high - len(text[low:high].lstrip()), low + len(text[low:high].rstrip())) for low, high in edges]


def _bare(text: str) -> str:
    """The text with blanks in the place of marks that hide the ends of sentences."""
    unclosed = "".join(pair for pair in BRACKETS if text.count(pair[0]) != text.count(pair[1]))
    return text.translate(QUOTES | dict.fromkeys(map(ord, unclosed), " "))


def _by_rule(text: str, lang: str) -> list[Span]:
    """The spans of the sentences of `sentencex`."""
    with _stdout_away() if PRINTS else nullcontext():
        return [(span["start_index"], span["end_index"]) for span in sentencex.get_sentence_boundaries(lang, text)]


@cache
def _ends(language: Boundaries) -> regex.Pattern[str]:
    """The end of a sentence after one of the words of a language that look like abbreviations."""
    words = "|".join(map(regex.escape, language.ends))
    return regex.compile(
        rf"(?<![\p{{L}}\p{{M}}.])(?:{words})\.[\p{{Pe}}\p{{Pf}}\"']*\s+(?=[\p{{Pi}}\"„¿¡]?\p{{Lu}}(?!\.))"
    )


def sentence_spans(text: str, lang: str) -> list[Span]:
    """The spans of the sentences of a paragraph by rules."""
    return correct_boundaries(text, lang, Counter())


def _move_past_signs(text: str, at: int) -> tuple[int, str]:
    """A boundary moved past closing or before opening marks, and the kind of correction; 0 if it is to be removed."""
    if faces := FACES.match(text, at):
        return int(faces.end()), "closing-signs"
    if numbered := NUMBERED.search(text, max(0, at - MAX_SIGNS), at):
        return int(numbered.start()), "after-number"
    if text[at - 1].isspace():
        return at, ""
    if after := AFTER.match(text, at):
        return int(after.end()), "closing-signs"
    if before := BEFORE.search(text, max(0, at - MAX_SIGNS), at):
        return int(before.start()), "opening-signs"
    joined = JOINED.match(text, at) or ENDS_IN_INITIAL.search(text, max(0, at - MAX_SIGNS), at)
    return (0, "inside-word") if joined else (at, "")


def _kind_inside(text: str, at: int, language: Boundaries, by_rule: Collection[int]) -> str:
    """The kind of a boundary that is inside a sentence, by the text on both sides; an empty text for any other."""
    for kind, pattern in _patterns(language, before_capital=text[at].isupper()):
        match = pattern.match(text, at)
        if not match or ("alone" in match.groupdict() and at in by_rule):  # `sentencex` ends a sentence there
            continue
        noun = match.groupdict().get("noun")
        if not noun or zipf(noun.lower(), language.ordinals) < FREQUENT:
            return kind
    return ""


@cache
def _patterns(language: Boundaries, *, before_capital: bool) -> list[tuple[str, regex.Pattern[str]]]:
    """The kinds of boundaries inside a sentence, each with a pattern of the text before and after the boundary."""
    small, number = BEGINS_SMALL.pattern, r"\(?\p{N}"
    sides: list[tuple[str, str, str]] = []
    if not before_capital:
        # after an exclamation, a question, an ellipsis, or the end of what is quoted
        sides += [
            ("after-call", r"(?:[!?…]|\.\.|\.[\p{Pe}\p{Pf}\p{Pi}\"']+)[^\p{L}\p{N}]*", small),
            ("before-dash", "", rf"[\p{{Pe}}\p{{Pf}}\p{{Pi}}\"']*\s*\p{{Pd}}+\s*{_SMALL}"),
            ("after-title", CONSONANTS, f"(?:{small}|{number})"),
            ("after-title", SEVERAL, small),
            ("after-number", r"\p{N}(?:\s?\p{Ll})?\.", small),
            ("after-number", r"[,:;\p{Pd}]", number),
            ("after-number", r"\p{L}", r"\(\p{N}"),
        ]
    sides += [
        ("before-initial", "", rf"\p{{Lu}}\.\s+{_SMALL}"),  # the end of an abbreviation: *ü. M.* (above sea level)
        ("after-comma", r",[^\p{L}\p{N}]*", ""),
        ("after-title", "|".join(filter(None, [TITLE, language.abbreviations])), ""),
        ("after-initial", rf"{INITIAL}[\s-]+\p{{Lu}}\.", r"\p{Lu}"),
        ("after-initial", INITIAL, "(?P<alone>)"),
    ]
    if language.ordinals:
        sides.append(("after-ordinal", rf"{ORDINAL}\s?\p{{Lu}}\p{{Ll}}{{1,4}}\.", small))  # abbreviated: *15. Jh.*
        sides.append(("after-ordinal", ORDINAL, r"(?P<noun>\p{L}+)"))
    return [(kind, regex.compile(rf"(?<=(?:{before})\s*){after}", regex.VERSION1)) for kind, before, after in sides]


MAX_WORDS: Final = 512
"""Longer sentences are dropped: they are lists or text without punctuation, and the memory of a parser grows with the
square of the number of words."""
LONG_SENTENCE: Final = "long-sentence"
OTHER_LENGTH: Final = "other-length"
UNANNOTATED: Final = "unannotated-paragraph"
"""Reasons for dropping: the sentence is too long; no task would use a sentence of its length; the tokeniser cannot read
the paragraph."""
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
_MAY_BE_TRACE: Final = r"""[(\[（\\$″′'"|]|\s,|,\s+,|\?/i|\d\.\d{6}|(?:\S ){4}"""
"""What every text with a trace has, as a pattern for polars, which searches the sentences of a document at once."""
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


class Sentence(msgspec.Struct, frozen=True):
    """A sentence of a paragraph, and where it stands in its document, which is known of those that are kept."""

    paragraph: Paragraph
    start: int  # in the text of the paragraph
    end: int
    words: tuple[Word, ...] = ()  # that a model found
    dropped: str = ""  # the reason, if it is not kept
    number: int = 0  # in the document, from 1; a number is skipped where the text is interrupted
    opens_paragraph: bool = False
    opens_passage: bool = False  # the text is interrupted before it
    no_space_after: bool = False  # the next sentence follows without a space

    @property
    def text(self) -> str:
        """The text of the sentence."""
        return self.paragraph.text[self.start : self.end]

    @property
    def all_words(self) -> Sequence[Word]:
        """Its words: those of a model, else words by the rules of Unicode."""
        text = self.paragraph.text
        spans = word_spans(text, self.start, self.end)
        return self.words or [Word(text[low:high], start=low, end=high) for low, high in spans]

    @property
    def alphanumeric_words(self) -> int:
        """The number of words of a model that have a letter or digit."""
        return sum(any(map(str.isalnum, word.form)) for word in self.words)


class Engine(Hashable, Protocol):
    """Finds sentences in paragraphs, and may annotate them; small enough to be sent to another process."""

    @property
    def identity(self) -> Mapping[str, object]:
        """Everything that the result depends on, as JSON values."""

    @property
    def tags(self) -> bool:
        """Whether it annotates words, beside finding sentences."""

    def annotate(self, paragraphs: Sequence[Paragraph], corrections: Counter[str]) -> list[list[Sentence]]:
        """The sentences of each paragraph, in order: those of the input if it is segmented.

        ``corrections`` counts the corrected sentence boundaries by kind.
        """


def versions(*packages: str) -> dict[str, str]:
    """The versions of packages, and of those that every engine uses for sentence boundaries."""
    return {name: importlib.metadata.version(name) for name in sorted({*packages, "regex", "sentencex"})}


def boundary_rules(lang: str) -> dict[str, object]:
    """What the identity of an engine has if the rules of sentence boundaries are a plugin's."""
    of_plugin = language_identity(lang)
    return {"plugins": msgspec.to_builtins(of_plugin)} if of_plugin else {}


class RuleEngine(msgspec.Struct, frozen=True):
    """Finds the sentences of one language by rules; words are not annotated.

    Raises:
        UnsupportedError: the language is written without spaces between words, which rules cannot divide.
    """

    lang: str

    def __post_init__(self) -> None:
        if not language_data(self.lang).spaces:
            raise UnsupportedError(
                f"'{self.lang}' is written without spaces, and no rule finds its words; it needs a Stanza model "
                f"(pip install stanza; --stanza-dir)"
            )

    @property
    def identity(self) -> Mapping[str, object]:
        """The versions of the libraries that find sentences and words, and the rules of a plugin, if there are any."""
        return {"engine": "rules", "software": versions(), **boundary_rules(self.lang)}

    @property
    def tags(self) -> bool:
        """Rules do not annotate words."""
        return False

    def annotate(self, paragraphs: Sequence[Paragraph], corrections: Counter[str]) -> list[list[Sentence]]:
        """The sentences of each paragraph, without words."""
        sentences: list[list[Sentence]] = []
        for paragraph in paragraphs:
            text, of_paragraph = paragraph.text, []
            for start, end in paragraph.sentences or correct_boundaries(text, self.lang, corrections):
                is_long = end - start > MAX_WORDS and sum(1 for _ in word_spans(text, start, end)) > MAX_WORDS
                of_paragraph.append(Sentence(paragraph, start, end, dropped=LONG_SENTENCE if is_long else ""))
            sentences.append(of_paragraph)
        return sentences


def conllu_text(document: RawDocument, sentences: Sequence[Sentence], source: str) -> str:
    """A document in CoNLL-U; ``source`` is the name of the text that its offsets refer to."""
    texts = []
    for number, sentence in enumerate(sentences):
        paragraph = sentence.paragraph
        tokens = [tuple(words) for _, words in groupby(sentence.all_words, lambda word: (word.start, word.end))]
        low, high = paragraph.source_span(sentence.start, sentence.end)
        comments = {
            "newdoc id": None if number else document.doc_id, "genre": None if number else document.genre or None,
            "newpar": "" if sentence.opens_paragraph else None, "sent_id": f"{document.doc_id}-{sentence.number}",
            "section_number": paragraph.section, "speaker": paragraph.speaker or None,
            "source": f"{source}:{low}:{high}", "text": sentence.text,
        }  # fmt: skip
        rows = []
        for words, after in zip_longest(tokens, tokens[1:]):
            start, end = words[0].start, words[0].end
            close = sentence.no_space_after if after is None else after[0].start == end
            misc = "SpaceAfter=No" if close else MISSING
            rows.append((paragraph.text[start:end], words, misc))
        texts.append(sentence_text(comments, rows))
    return "".join(texts)


def annotated_documents(
    documents: Sequence[RawDocument], engine: Engine, drops: Counter[str], corrections: Counter[str]
) -> Iterator[tuple[RawDocument, list[Sentence]]]:
    """Each document with the sentences that are kept, in order, without documents that have none.

    ``drops`` counts dropped sentences by reason, and paragraphs that are not running text by kind; ``corrections``
    counts the corrected sentence boundaries by kind.
    """
    paragraphs = (paragraph for document in documents for paragraph in document.running)
    chunks = group_by_size(paragraphs, lambda paragraph: len(paragraph.text), CHUNK)
    annotated = chain.from_iterable(engine.annotate(chunk, corrections) for chunk in chunks)
    for document in documents:
        if placed := list(_place_sentences(document, list(islice(annotated, len(document.running))), drops)):
            yield document, placed
        else:
            drops[WITHOUT_SENTENCE] += 1


def _place_sentences(
    document: RawDocument, annotated: Sequence[Sequence[Sentence]], drops: Counter[str]
) -> Iterator[Sentence]:
    """The sentences of a document that are kept; ``annotated`` has those of each paragraph of running text."""
    texts = [["" if sentence.dropped else sentence.text for sentence in sentences] for sentences in annotated]
    remaining = zip(annotated, lost_text(texts), strict=True)
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
            interrupted |= bool(opens and INTRODUCES.search(before) and not INTRODUCED.match(sentence.text))
            number += 1 + (interrupted and number > 0)
            close = bool(after and not after.dropped and after.start == sentence.end)
            yield msgspec.structs.replace(
                sentence, number=number, opens_paragraph=opens, opens_passage=interrupted, no_space_after=close
            )
            opens, interrupted, before = False, False, sentence.text


def lost_text(paragraphs: Sequence[Sequence[str]]) -> list[list[str]]:
    """For each sentence of each paragraph of a document the reason why it is dropped, or an empty text.

    Besides the reasons of :data:`TRACES` there are ``unfinished``, for the last sentence of a paragraph that ends with
    a letter or a comma, and ``continued``, for the first sentence that begins with a small letter. These two are used
    only if most paragraphs of the document end or begin otherwise (:data:`MOST`).
    """
    filled = [paragraph for paragraph in paragraphs if paragraph]
    marks = sum(is_final(paragraph[-1]) for paragraph in filled) >= MOST * len(filled)
    capitals = sum(not BEGINS_SMALL.match(paragraph[0]) for paragraph in filled) >= MOST * len(filled)
    flat = pl.Series([sentence for paragraph in paragraphs for sentence in paragraph], dtype=pl.String)
    doubtful = iter(flat.str.contains(_MAY_BE_TRACE))
    reasons = [
        [
            next((reason for reason, trace in TRACES.items() if trace.search(sentence)), "") if next(doubtful) else ""
            for sentence in paragraph
        ]
        for paragraph in paragraphs
    ]
    for paragraph, dropped in zip(paragraphs, reasons, strict=True):
        if paragraph and marks and UNFINISHED.search(paragraph[-1]):
            dropped[-1] = dropped[-1] or "unfinished"
        if paragraph and capitals and BEGINS_SMALL.match(paragraph[0]):
            dropped[0] = dropped[0] or "continued"
    return reasons
