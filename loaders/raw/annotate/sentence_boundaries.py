"""Sentence boundaries as a segmenter found them, corrected by rules where the writing shows that they are wrong.

Spans of sentences come in and go out: boundaries between them are removed, moved, or added where one was missed. The
text is not changed. The rules are those that gold sentences confirm (UD German GSD, Spanish AnCora and GSD, Russian
Taiga and GSD; 4,900 sentences, up to ten joined by spaces, segmented by small models of Stanza): of 138 boundaries that
are removed or moved, 132 are not in gold; of 154 that are added, 152 are. F1 of boundaries rises from .93, .98, .97,
.49 and .97 to .94, .98, .98, .64 and .98.

What the same measurement does not confirm is not corrected: boundaries after ``:`` and ``;``, after an abbreviation of
several letters, and before a small letter after a full stop. Boundaries inside ordinals (``19. Jahrhundert``) and
before years, and Spanish ``D.``, were found by reading texts of the German Wikipedia and Spanish novels.
"""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from functools import partial
from itertools import pairwise
from typing import Final

import regex
import sentencex
from wordfreq import zipf_frequency

from discoprobe.loaders.raw.document import Span

CORRECTIONS: Final = frozenset({
    "closing-signs", "opening-signs", "inside-word", "signs-alone", "after-call", "before-dash", "after-comma",
    "after-title", "after-ordinal", "after-initial", "before-initial", "missed-end",
})  # fmt: skip
"""Kinds of corrections: a boundary is moved, removed or added; docs/raw_text.md explains each."""

_SMALL: Final = r"[\p{Ll}--\p{Georgian}]"
"""A small letter of a script in which capitals begin sentences; Georgian is written in small letters throughout."""

AFTER: Final = regex.compile(r"[\p{P}\p{S}]+(?:\s+|$)")
"""Signs that belong to what is before them, because no letter follows directly."""
BEFORE: Final = regex.compile(r"(?:^|(?<=\s))(?:[\p{Ps}\p{Pi}\p{Pf}\p{Pd}\"'¿¡]+|[.…]{2,})$")
"""Opening signs, or dots of an ellipsis, that belong to what is after them, because no letter is directly before."""
MAX_SIGNS: Final = 16
JOINED: Final = regex.compile(rf"[.…]|\p{{N}}|{_SMALL}", regex.VERSION1)
"""What begins no sentence unless a space is before it."""
LETTER: Final = regex.compile(r"[\p{L}\p{N}]")
ONLY_OPENS: Final = regex.compile(r"[\p{Ps}\p{Pi}\p{Pd}¿¡\s]+$")
SMALL: Final = regex.compile(rf"[\p{{P}}\s]*{_SMALL}", regex.VERSION1)
AFTER_DASH: Final = regex.compile(rf"[\p{{Pe}}\p{{Pf}}\p{{Pi}}\"']*\s*\p{{Pd}}+\s*{_SMALL}", regex.VERSION1)
CALL: Final = regex.compile(r"(?:[!?…]|\.\.)[^\p{L}\p{N}]*$")
"""The end of an exclamation, a question or an ellipsis, which can be inside a sentence."""
COMMA: Final = regex.compile(r",[^\p{L}\p{N}]*$")
INITIAL: Final = regex.compile(r"(?<![\p{L}\p{M}])\p{Lu}\.$")
LAST_INITIAL: Final = regex.compile(rf"\p{{Lu}}\.\s+{_SMALL}", regex.VERSION1)
"""The end of an abbreviation like *ü. M.* (above sea level), and how the sentence goes on."""
TITLE: Final = regex.compile(
    r"(?<!\p{L})(?:Dr|Drs|Dra|Prof|Mr|Mrs|Ms|Hr|Hrn|Sr|Sres|Sra|Sras|Srta|Dña|Dott|Sig|Mme|Mlle)\.$"
)
"""An abbreviated title before a name. Other abbreviations look like a short word at the end of a sentence."""
TITLES_OF: Final = {
    "de": regex.compile(
        r"(?<![\p{L}\p{M}.]|\p{N}\s)"
        r"(?:[Ii]nkl|[Ee]xkl|[Ee]inschl|[Aa]bzgl|[Zz]zgl|[Ii]nsb|[Bb]spw|[Gg]em|[Ee]hem|geb|[Hh]l)\.$"
    ),
    "es": regex.compile(r"(?<![\p{L}\p{M}.])(?:D|Dn|Da|Fr|Sto|Sta|Excmo|Ilmo)\.$"),
}
"""What is abbreviated before the word it belongs to in one language only: Spanish *D.* (don), German *inkl.*"""
ORDINAL: Final = regex.compile(r"(?<![\p{L}\p{N}.,])\p{N}{1,2}\.$")
ORDINAL_UNIT: Final = regex.compile(r"(?<![\p{L}\p{N}.,])\p{N}{1,2}\.\s?\p{Lu}\p{Ll}{1,4}\.$")
"""An ordinal and what it counts, abbreviated, as in *15. Jh.*"""
WORD: Final = regex.compile(r"\p{L}+")
ORDINALS: Final = dict.fromkeys(("de", "lb", "gsw", "bar"), "de")
"""Languages that write ordinals with a full stop and nouns with a capital → the one whose word frequencies are used."""
FREQUENT: Final = 6.0
"""Zipf frequency from which a word after a number begins a sentence: articles, prepositions, pronouns. Of 1,683 numbers
with a full stop and a capital after them in 200 articles of the German Wikipedia, about 30 end a sentence."""
YEAR: Final = regex.compile(r"(?<=\p{L}{4}|\p{N}{4})[.!?][\p{Pe}\p{Pf}\p{Pi}\"']*\s+(?=\p{N}{4}\s+\p{Ll})")
"""The end of a sentence before one that begins with a year and a word in small letters, as is usual in German."""
MISSED: Final = regex.compile(
    r"(?:[!?]|(?<=\p{L}{3})\.)[\p{Pe}\p{Pf}\p{Pi}\"']*\s+(?=[\p{Pd}\s]*[\p{Ps}\p{Pi}\"„¿¡]*\p{Lu})"
)
"""The end of a sentence and a capital; the word before a full stop has at least three letters."""


def rule_boundaries(text: str, lang: str) -> list[Span]:
    """The sentences of a paragraph by the rules of ``sentencex``, which fall back to those of a related language."""
    return [(span["start_index"], span["end_index"]) for span in sentencex.get_sentence_boundaries(lang, text)]


def corrected(text: str, spans: Sequence[Span], lang: str, corrections: Counter[str]) -> list[Span]:
    """The sentences of a paragraph with corrected boundaries.

    ``spans`` are those that a segmenter found, in order, with only white space between them. ``corrections`` counts the
    boundaries that are moved, removed or added, by the kinds of :data:`CORRECTIONS`.
    """
    if not spans:
        return []
    start, end = spans[0][0], spans[-1][1]
    by_rule = frozenset(begin for begin, _ in rule_boundaries(text, lang))
    given = [_moved(text, boundary) for boundary, _ in spans[1:]]
    added = {match.end() for match in MISSED.finditer(text)} & by_rule
    added |= {match.end() for match in YEAR.finditer(text)}
    boundaries = sorted(at for at in {boundary for boundary, _ in given} | added if start < at < end)
    removed: dict[int, str] = {}
    for rule in (_signs_alone, partial(_inside, by_rule, lang)):
        removed |= _wrong(text, [start, *boundaries, end], rule)
        boundaries = [boundary for boundary in boundaries if boundary not in removed]
    corrections.update(kind for boundary, moved in given if (kind := removed.get(boundary, moved)))
    there = {boundary for boundary, _ in given}
    corrections.update("missed-end" for boundary in boundaries if boundary not in there)
    return [(low, low + len(text[low:high].rstrip())) for low, high in pairwise([start, *boundaries, end])]


def _wrong(text: str, edges: Sequence[int], rule: Callable[[str, str, int], str]) -> dict[int, str]:
    """The inner edges that a rule removes, with the kind; the rule gets the text on both sides and the position."""
    removed: dict[int, str] = {}
    begin = edges[0]
    for at, following in pairwise(edges[1:]):
        if kind := rule(text[begin:at].rstrip(), text[at:following], at):
            removed[at] = kind
        else:
            begin = at
    return removed


def _moved(text: str, at: int) -> tuple[int, str]:
    """A boundary moved to where a space is, and the kind of correction; position 0 if it is to be removed."""
    if text[at - 1].isspace():
        return at, ""
    if after := AFTER.match(text, at):
        return int(after.end()), "closing-signs"
    if before := BEFORE.search(text, max(0, at - MAX_SIGNS), at):
        return int(before.start()), "opening-signs"
    return (0, "inside-word") if JOINED.match(text, at) else (at, "")


def _signs_alone(before: str, after: str, _: int) -> str:
    """Removes a boundary beside signs without letters, unless they open the next sentence."""
    both = LETTER.search(before) and (LETTER.search(after) or ONLY_OPENS.match(after))
    return "" if both else "signs-alone"


def _inside(by_rule: Collection[int], lang: str, before: str, after: str, at: int) -> str:
    """Removes a boundary that the text on both sides shows to be inside a sentence."""
    own_titles = TITLES_OF.get(lang)
    shows = {
        "before-initial": LAST_INITIAL.match(after),
        "after-call": SMALL.match(after) and CALL.search(before),
        "before-dash": AFTER_DASH.match(after),
        "after-comma": COMMA.search(before),
        "after-title": TITLE.search(before) or (own_titles and own_titles.search(before)),
        "after-initial": at not in by_rule and INITIAL.search(before),  # unless `sentencex` ends a sentence there
        "after-ordinal": lang in ORDINALS and _in_an_ordinal(ORDINALS[lang], before, after),
    }
    return next((kind for kind, found in shows.items() if found), "")


def _in_an_ordinal(lang: str, before: str, after: str) -> bool:
    """Whether a boundary is between an ordinal number and its noun, or after both if the sentence goes on."""
    if ORDINAL_UNIT.search(before):
        return bool(SMALL.match(after))
    word = WORD.match(after)
    return bool(word and ORDINAL.search(before)) and zipf_frequency(word[0].lower(), lang) < FREQUENT
