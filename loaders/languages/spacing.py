"""Where a language writes blanks: whether a text is tokenised, and the blanks of tokenised text, set by rule."""

from collections import Counter
from collections.abc import Sequence
from typing import ClassVar, Final

import regex

from discoprobe.loaders.languages.language import LanguageData, LanguageSection
from discoprobe.loaders.words import UNSPACED

LOOSE_MARK: Final = r"\S\s[,.](?:\s|$)"
TIGHT_MARK: Final = r"[^\s,.][,.](?:\s|$)"
"""A comma or a full stop after a blank, and one without. If all marks of a text follow blanks, it is tokenised; that is
no fault."""


class Spacing(LanguageSection, frozen=True):
    """How a language writes blanks beside words that are no marks: the table ``spacing`` of its file.

    Attributes:
        attached: words of a tokeniser that are written close to the word before them (*n't*).
        joining: words that are written close to both of their neighbours (the hyphen of *well-known*).
        elides: whether a word that ends in an apostrophe is written close to the next one (*l'eau*).
        apart: marks between which and their word there is a blank (French *« Non ! »*).
        hyphenated: words that follow another one with a hyphen and no blank (Czech *jsou-li*).
        inward: whether guillemets may point inward (German *»Ja«*); those of a text do if the first one does.
    """

    section: ClassVar[str] = "spacing"
    attached: frozenset[str] = frozenset()
    joining: frozenset[str] = frozenset({"/"})
    elides: bool = False
    apart: frozenset[str] = frozenset()
    hyphenated: frozenset[str] = frozenset()
    inward: bool = False


_CLOSING: Final = regex.compile(r"[\p{Pe}\p{Pf}.,;:!?…،؛؟।。，、；：！？％%]+")
_OPENING: Final = regex.compile(r"[\p{Ps}\p{Pi}„‚¿¡$£€@]+")
_STRAIGHT: Final = frozenset({'"', "'", "''", "``"})
_GUILLEMETS: Final = frozenset({"«", "»"})
_NEAR: Final = 40
"""Words within which an apostrophe has a second one if both are quotation marks."""


def is_spaced_out(text: str, language: LanguageData) -> bool:
    """Whether a text has blanks between all words, marks among them.

    In a script without spaces, one blank between two of its characters for five of them; else, more commas and full
    stops after a blank than after a word.
    """
    if not language.spaces:
        return 5 * len(regex.findall(rf"{UNSPACED} (?={UNSPACED})", text)) > len(regex.findall(UNSPACED, text))
    return len(regex.findall(LOOSE_MARK, text)) > len(regex.findall(TIGHT_MARK, text))


def close_up(segments: Sequence[str], language: LanguageData, *, sentences: bool = False) -> list[str]:
    """Segments of tokenised text with blanks where the language writes them, by rule.

    Marks, brackets and quotation marks stand beside the word that they belong to; straight quotation marks, and
    guillemets, open and close in turn. Words follow ``Spacing``. A script without spaces has blanks only between words
    of other scripts.

    Args:
        segments: the text of a document in its order, with blanks between all words.
        language: its language.
        sentences: whether the segments are sentences; then a straight quotation mark at the beginning of one opens,
            and one at its end closes, however many there were before.

    Returns:
        A text per segment; it ends with a blank if one follows in the text.
    """
    rules, unspaced = language.section(Spacing), not language.spaces
    words = [(word, number) for number, segment in enumerate(segments) for word in segment.split()]
    outward = not rules.inward or next((word for word, _ in words if word in _GUILLEMETS), "«") == "«"
    times_seen: Counter[str] = Counter()
    texts = [""] * len(segments)
    closes_next = True
    for at, (word, number) in enumerate(words):
        before, last = words[at - 1] if at else ("", 0)
        closes, closes_next = closes_next, False
        if word in rules.apart:
            closes = False
        elif word in _STRAIGHT:
            first = not at or last != number
            final = at + 1 == len(words) or words[at + 1][1] != number
            if sentences and first != final:
                times_seen[word] = int(final)
            opens = times_seen[word] % 2 == 0
            if opens and word == "'" and all(other != word for other, _ in words[at + 1 : at + _NEAR]):
                opens, times_seen[word] = False, times_seen[word] - 1  # an apostrophe (the dogs')
            times_seen[word] += 1
            closes, closes_next = closes or not opens, opens
        elif word in _GUILLEMETS:
            opens = (word == "«") == outward
            closes, closes_next = closes or not opens, opens
        elif word == "“" and times_seen["„"]:  # 99 below, 66 above
            closes, times_seen["„"] = True, 0
        elif _OPENING.fullmatch(word):
            closes_next = True
            times_seen[word] += 1
        elif _CLOSING.fullmatch(word) or word.replace("’", "'").lower() in rules.attached:
            closes = True
        elif word in rules.joining:
            closes = closes_next = True
        elif rules.elides and word[-1] in "'’":
            closes_next = True
        if unspaced:
            closes = not (_SPACED.match(word) and _SPACED.match(before[-1:]))
        texts[last] += "" if closes else " "
        texts[number] += word
    return [*texts[:-1], f"{texts[-1]} "]


_SPACED: Final = regex.compile(rf"[\w--{UNSPACED}]", regex.VERSION1)
"""A letter or digit of a script that puts spaces between words."""
