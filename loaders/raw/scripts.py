"""The script that a language is written in, and its share in a text."""

from __future__ import annotations

import unicodedata
from collections import Counter
from functools import cache
from types import MappingProxyType
from typing import Final

import langcodes

NAMES: Final = MappingProxyType(
    {
        "Arab": ("ARABIC",),
        "Armn": ("ARMENIAN",),
        "Beng": ("BENGALI",),
        "Bopo": ("BOPOMOFO",),
        "Cans": ("CANADIAN",),
        "Cher": ("CHEROKEE",),
        "Copt": ("COPTIC",),
        "Cyrl": ("CYRILLIC",),
        "Deva": ("DEVANAGARI",),
        "Ethi": ("ETHIOPIC",),
        "Geor": ("GEORGIAN",),
        "Goth": ("GOTHIC",),
        "Grek": ("GREEK",),
        "Gujr": ("GUJARATI",),
        "Guru": ("GURMUKHI",),
        "Hang": ("HANGUL",),
        "Hans": ("CJK", "BOPOMOFO"),
        "Hant": ("CJK", "BOPOMOFO"),
        "Hebr": ("HEBREW",),
        "Jpan": ("CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HALFWIDTH", "IDEOGRAPHIC"),
        "Khmr": ("KHMER",),
        "Knda": ("KANNADA",),
        "Kore": ("HANGUL", "CJK"),
        "Laoo": ("LAO",),
        "Latn": ("LATIN", "FULLWIDTH"),
        "Mlym": ("MALAYALAM",),
        "Mymr": ("MYANMAR",),
        "Orya": ("ORIYA",),
        "Sinh": ("SINHALA",),
        "Syrc": ("SYRIAC",),
        "Taml": ("TAMIL",),
        "Telu": ("TELUGU",),
        "Thaa": ("THAANA",),
        "Thai": ("THAI",),
        "Tibt": ("TIBETAN",),
    }
)
"""Code of a script (ISO 15924) → first words of its letters' Unicode names."""
KNOWN: Final = frozenset(name for names in NAMES.values() for name in names)
SEVERAL: Final = MappingProxyType(
    {
        **dict.fromkeys(("az", "kk", "ku", "ky", "tg", "tk", "tt", "ug", "uz", "crh", "ota"), ("Arab", "Cyrl", "Latn")),
        **dict.fromkeys(("sr", "bs", "sh", "cnr", "mn"), ("Cyrl", "Latn")),
        **dict.fromkeys(("ms", "ha"), ("Arab", "Latn")),
        **dict.fromkeys(("sd", "ks"), ("Arab", "Deva")),
        "pa": ("Arab", "Guru"),
        "sa": ("Deva", "Latn"),
        "got": ("Goth", "Latn"),
        "grc": ("Grek",),
        "orv": ("Cyrl",),
    }
)
"""Languages written in several scripts, and those of which ``langcodes`` does not know it."""


@cache
def scripts_of(lang: str) -> frozenset[str]:
    """The first words of the Unicode names of a language's letters; empty where its script is not known."""
    language = langcodes.Language.get(lang)
    codes = SEVERAL.get(lang) or (language.script or language.maximize().script or "",)
    if not all(code in NAMES for code in codes):
        return frozenset()
    return frozenset(name for code in codes for name in NAMES[code])


def script_share(text: str, lang: str) -> float:
    """The share of a text's letters in the scripts of a language; 1 for a text without letters of a known script."""
    wanted = scripts_of(lang)
    if not wanted:
        return 1.0
    found: Counter[str] = Counter()
    for letter, n in Counter(text).items():
        found[_script(letter)] += n
    del found[""]
    total = found.total()
    return sum(n for name, n in found.items() if name in wanted) / total if total else 1.0


@cache
def _script(letter: str) -> str:
    """The first word of a letter's name, nothing for other characters and letters of no script."""
    if not letter.isalpha():
        return ""
    name = unicodedata.name(letter, "").partition(" ")[0]
    return name if name in KNOWN else ""
