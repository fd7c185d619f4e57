"""Corrects the sentence boundaries of a segmenter by rules.

Boundaries are removed, moved or added; the text is not changed. The rules were tested on gold sentences (UD German GSD,
Spanish AnCora and GSD, Russian Taiga and GSD; 4,900 sentences, up to ten joined by spaces, segmented by small models of
Stanza): of 138 boundaries that are removed or moved, 132 are not in gold; of 154 that are added, 152 are. F1 of
boundaries rises from .93, .98, .97, .49 and .97 to .94, .98, .98, .64 and .98.

Rules that this test did not confirm are left out: for boundaries after ``:`` and ``;``, after an abbreviation of
several letters, and before a small letter after a full stop. The rules for ordinals (``19. Jahrhundert``), for years,
and for Spanish ``D.`` come from reading texts of the German Wikipedia and Spanish novels.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from functools import cache
from itertools import pairwise
from typing import ClassVar, Final

import regex
import sentencex

from discoprobe.loaders.languages.language import LanguageSection, language_data
from discoprobe.loaders.languages.word_frequency import zipf
from discoprobe.loaders.raw.document import Span

CORRECTIONS: Final = frozenset({
    "closing-signs", "opening-signs", "inside-word", "signs-alone", "after-call", "before-dash", "after-comma",
    "after-title", "after-ordinal", "after-initial", "before-initial", "missed-end",
})  # fmt: skip
"""Kinds of corrections: a boundary is moved, removed or added; docs/raw_text.md explains each."""

_SMALL: Final = r"[\p{Ll}--\p{Georgian}]"
"""A small letter of a script in which capitals begin sentences; Georgian is written in small letters throughout."""
AFTER: Final = regex.compile(r"[\p{P}\p{S}]+(?:\s+|$)")
"""Punctuation marks that belong to the sentence before them, because white space follows directly."""
BEFORE: Final = regex.compile(r"(?:^|(?<=\s))(?:[\p{Ps}\p{Pi}\p{Pf}\p{Pd}\"'¿¡]+|[.…]{2,})$")
"""Opening marks, or an ellipsis, that belong to the sentence after them, because white space is before them."""
MAX_SIGNS: Final = 16
JOINED: Final = regex.compile(rf"[.…]|\p{{N}}|{_SMALL}", regex.VERSION1)
"""A character that cannot begin a sentence unless a space is before it."""
LETTER: Final = regex.compile(r"[\p{L}\p{N}]")
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
    r"(?:[!?]|(?<=\p{L}{3})\.)[\p{Pe}\p{Pf}\p{Pi}\"']*\s+(?=[\p{Pd}\s]*[\p{Ps}\p{Pi}\"„¿¡]*\p{Lu})"
)
"""The end of a sentence and a capital; the word before a full stop has at least three letters."""


class Boundaries(LanguageSection, frozen=True):
    """Full stops inside sentences of a language.

    Attributes:
        abbreviations: pattern of abbreviations that are always before another word (German *inkl.*, Spanish *D.*).
        ordinals: for languages where ordinals have a full stop and nouns a capital (*19. Jahrhundert*), the code of the
            language whose word frequencies are used for the word after the ordinal; empty for others.
    """

    section: ClassVar[str] = "boundaries"
    abbreviations: str = ""
    ordinals: str = ""


def corrected(text: str, lang: str, corrections: Counter[str], spans: Sequence[Span] | None = None) -> list[Span]:
    """The spans of the sentences of a paragraph, with corrected boundaries.

    ``spans`` are the sentences of a segmenter, in order, with only white space between them; by default those of
    ``sentencex``. ``corrections`` counts the boundaries that are moved, removed or added, by :data:`CORRECTIONS`.
    """
    rules = [(span["start_index"], span["end_index"]) for span in sentencex.get_sentence_boundaries(lang, text)]
    if not (spans := rules if spans is None else spans):
        return []
    start, end = spans[0][0], spans[-1][1]
    by_rule = {begin for begin, _ in rules}
    given = [_moved(text, boundary) for boundary, _ in spans[1:]]
    there = {boundary for boundary, _ in given}
    added = {match.end() for match in MISSED.finditer(text)} & by_rule
    added |= {match.end() for match in YEAR.finditer(text)}
    boundaries = sorted(at for at in there | added if start < at < end)
    removed = _beside_signs(text, [start, *boundaries, end])
    own = language_data(lang).section(Boundaries)
    removed |= {at: kind for at in boundaries if at not in removed and (kind := _inside(text, at, own, by_rule))}
    corrections.update(kind for boundary, moved in given if (kind := removed.get(boundary, moved)))
    boundaries = [at for at in boundaries if at not in removed]
    corrections.update("missed-end" for at in boundaries if at not in there)
    return [_stripped(text, low, high) for low, high in pairwise([start, *boundaries, end])]


def _stripped(text: str, start: int, end: int) -> Span:
    """A span without the white space at its ends."""
    sentence = text[start:end]
    return end - len(sentence.lstrip()), start + len(sentence.rstrip())


def _moved(text: str, at: int) -> tuple[int, str]:
    """A boundary moved past closing or before opening marks, and the kind of correction; 0 if it is to be removed."""
    if text[at - 1].isspace():
        return at, ""
    if after := AFTER.match(text, at):
        return int(after.end()), "closing-signs"
    if before := BEFORE.search(text, max(0, at - MAX_SIGNS), at):
        return int(before.start()), "opening-signs"
    return (0, "inside-word") if JOINED.match(text, at) else (at, "")


def _beside_signs(text: str, edges: Sequence[int]) -> dict[int, str]:
    """The boundaries to remove, with the kind, because a part beside them has no letter and opens no sentence."""
    removed: dict[int, str] = {}
    begin = edges[0]
    for at, following in pairwise(edges[1:]):
        after = text[at:following]
        if LETTER.search(text, begin, at) and (LETTER.search(after) or ONLY_OPENS.match(after)):
            begin = at
        else:
            removed[at] = "signs-alone"
    return removed


def _inside(text: str, at: int, own: Boundaries, by_rule: Collection[int]) -> str:
    """The kind of a boundary that is inside a sentence, by the text on both sides; an empty text for any other."""
    for kind, pattern in _patterns(own):
        found = pattern.match(text, at)
        if not found or (kind == "after-initial" and at in by_rule):  # `sentencex` ends a sentence there
            continue
        noun = found.groupdict().get("noun")
        if not noun or zipf(noun.lower(), own.ordinals) < FREQUENT:
            return kind
    return ""


@cache
def _patterns(own: Boundaries) -> list[tuple[str, regex.Pattern[str]]]:
    """The kinds of boundaries inside a sentence, each with a pattern of the text before and after the boundary."""
    small = BEGINS_SMALL.pattern
    sides = [
        ("before-initial", "", rf"\p{{Lu}}\.\s+{_SMALL}"),  # the end of an abbreviation: *ü. M.* (above sea level)
        ("after-call", r"(?:[!?…]|\.\.)[^\p{L}\p{N}]*", small),  # an exclamation, a question or an ellipsis
        ("before-dash", "", rf"[\p{{Pe}}\p{{Pf}}\p{{Pi}}\"']*\s*\p{{Pd}}+\s*{_SMALL}"),
        ("after-comma", r",[^\p{L}\p{N}]*", ""),
        ("after-title", "|".join(filter(None, [TITLE, own.abbreviations])), ""),
        ("after-initial", r"(?<![\p{L}\p{M}])\p{Lu}\.", ""),
    ]
    if own.ordinals:
        sides.append(("after-ordinal", rf"{ORDINAL}\s?\p{{Lu}}\p{{Ll}}{{1,4}}\.", small))  # abbreviated: *15. Jh.*
        sides.append(("after-ordinal", ORDINAL, r"(?P<noun>\p{L}+)"))
    return [(kind, regex.compile(rf"(?<=(?:{before})\s*){after}", regex.VERSION1)) for kind, before, after in sides]
