"""The scripts that a language is written in, and their share in a text, by Unicode's script property."""

from __future__ import annotations

from collections import Counter
from functools import cache
from types import MappingProxyType
from typing import Final

import langcodes
import regex

SEVERAL: Final = MappingProxyType(
    {
        **dict.fromkeys(("az", "kk", "ku", "ky", "tg", "tk", "tt", "ug", "uz", "crh", "ota"), ("Arab", "Cyrl", "Latn")),
        **dict.fromkeys(("sr", "bs", "sh", "cnr", "mn"), ("Cyrl", "Latn")),
        **dict.fromkeys(("ms", "ha"), ("Arab", "Latn")),
        **dict.fromkeys(("sd", "ks"), ("Arab", "Deva")),
        "pa": ("Arab", "Guru"),
        "sa": ("Deva", "Latn"),
        "cu": ("Cyrl", "Glag"),
        **dict.fromkeys(("akk", "hit", "sux"), ("Xsux", "Latn")),
        "egy": ("Egyp", "Latn"),
        "got": ("Goth", "Latn"),
        "grc": ("Grek",),
        "hbo": ("Hebr",),
        "orv": ("Cyrl",),
        "xcl": ("Armn",),
        **dict.fromkeys(("non", "sga"), ("Latn",)),
    }
)
"""ISO 15924 codes for languages with several scripts, or that are usually transliterated, and for those whose script
``langcodes`` does not know."""
PARTS: Final = MappingProxyType(
    {
        **dict.fromkeys(("Hans", "Hant", "Hani"), ("Hani", "Bopo")),
        "Jpan": ("Hani", "Hira", "Kana"),
        "Kore": ("Hang", "Hani"),
    }
)
"""ISO 15924 codes that stand for several of Unicode's scripts."""
WITHOUT_SPACES: Final = frozenset({"Hans", "Hant", "Hani", "Jpan", "Thai", "Laoo", "Khmr", "Mymr", "Tibt"})
"""Scripts that put no spaces between words (Tibetan puts marks between syllables)."""
LETTER: Final = regex.compile(r"(?=\p{L})[^\p{Script=Common}\p{Script=Inherited}]")


def written_without_spaces(lang: str) -> bool:
    """Whether a language is written without spaces between words, by its usual script."""
    return not WITHOUT_SPACES.isdisjoint(_codes(lang))


def script_share(text: str, lang: str) -> float:
    """The share of a text's letters in the scripts of a language; 1 without letters or where the script is unknown."""
    wanted = _letters_of(lang)
    if wanted is None:
        return 1.0
    letters = {letter: n for letter, n in Counter(text).items() if _is_letter(letter)}
    total = sum(letters.values())
    return sum(n for letter, n in letters.items() if wanted.match(letter)) / total if total else 1.0


def _codes(lang: str) -> tuple[str, ...]:
    language = langcodes.Language.get(lang)
    return SEVERAL.get(lang) or tuple(filter(None, [language.script or language.maximize().script]))


@cache
def _letters_of(lang: str) -> regex.Pattern[str] | None:
    """A pattern for one letter of the scripts of a language; None where they are not known."""
    scripts = [rf"\p{{Script={script}}}" for code in _codes(lang) for script in PARTS.get(code, (code,))]
    try:
        return regex.compile(f"[{''.join(scripts)}]") if scripts else None
    except regex.error:
        return None


@cache
def _is_letter(character: str) -> bool:
    return LETTER.match(character) is not None
