"""Scripts of languages (ISO 15924): which letters belong to a language, and whether it has spaces between words."""

import importlib.resources
from collections import Counter
from functools import cache
from typing import Final

import langcodes
import regex

from discoprobe.loaders.toml_records import parse_toml

_DATA: Final = parse_toml(
    importlib.resources.files(__package__).joinpath("scripts.toml").read_text("utf-8"), "scripts.toml"
)
"""Data that `langcodes` and Unicode lack; the file explains them."""
SCRIPTS: Final = {lang: codes.split() for codes, langs in _DATA["languages"].items() for lang in langs.split()}
WITHOUT_SPACES: Final = frozenset(_DATA["without_spaces"]["scripts"].split())
LETTERS: Final = regex.compile(r"(?:(?=\p{L})[^\p{Script=Common}\p{Script=Inherited}])+")
"""A sequence of letters, without those that several scripts share (Common, Inherited)."""


def has_spaces(lang: str) -> bool:
    """Whether the usual script of a language puts spaces between words."""
    return WITHOUT_SPACES.isdisjoint(_codes(lang))


def script_share(text: str, lang: str) -> float:
    """The share of a text's letters in the scripts of a language; 1 without letters or where the script is unknown."""
    wanted = _letters_of(lang)
    numbers = Counter(text)
    letters = "".join(LETTERS.findall("".join(numbers)))
    if wanted is None or not letters:
        return 1.0
    return sum(map(numbers.__getitem__, wanted.findall(letters))) / sum(map(numbers.__getitem__, letters))


def _codes(lang: str) -> list[str]:
    language = langcodes.Language.get(lang)
    return SCRIPTS.get(lang) or list(filter(None, [language.script or language.maximize().script]))


@cache
def _letters_of(lang: str) -> regex.Pattern[str] | None:
    """A pattern for a character of the scripts of a language; None where they are not known."""
    scripts = [rf"\p{{Script={script}}}" for code in _codes(lang) for script in _DATA["parts"].get(code, code).split()]
    try:
        return regex.compile(f"[{''.join(scripts)}]") if scripts else None
    except regex.error:
        return None
