"""Facts and rules of languages: ``loaders/languages/<code>.toml`` as typed, checked, immutable values.

A file has general facts (name, script, spaces, capitals) at the top, and sections. A section belongs to the module that
uses it: a task, or a module that several tasks share. A file of a plugin (``loaders.plugins``) takes the place of the
package's file of the language. That module declares a `LanguageSection` with the keys of the
section, and gets it with `LanguageData.section`. So rules of a language are data, and no code depends on a certain
language. If a language has no file, or the file no such section, the defaults of the class are used.

Scripts of languages (ISO 15924): which letters belong to a language, and whether it has spaces between words.
"""

import functools
import importlib.resources
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import cache
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal, TypeVar, cast, get_args

import langcodes
import msgspec
import regex
from langcodes.data_dicts import MACROLANGUAGES

from discoprobe.loaders.errors import DiscoprobeError
from discoprobe.loaders.files import convert_table, line_of, parse_toml, read_utf8
from discoprobe.loaders.plugins import LANGUAGES, cached, language_file, plugin_files

_DATA: Final = parse_toml(
    importlib.resources.files(__package__).joinpath("scripts.toml").read_text("utf-8"), "scripts.toml"
)
"""Data that `langcodes` and Unicode lack; the file explains them."""
SCRIPTS: Final = {lang: codes.split() for codes, langs in _DATA["languages"].items() for lang in langs.split()}
WITHOUT_SPACES: Final = frozenset(_DATA["without_spaces"]["scripts"].split())
WITHOUT_MARKS: Final = frozenset(_DATA["without_marks"]["scripts"].split())
LETTERS: Final = regex.compile(r"(?:(?=\p{L})[^\p{Script=Common}\p{Script=Inherited}])+")
"""A sequence of letters, without those that several scripts share (Common, Inherited)."""


def has_spaces(lang: str) -> bool:
    """Whether the usual script of a language puts spaces between words."""
    return WITHOUT_SPACES.isdisjoint(_codes(lang))


def lacking(code: str) -> list[str]:
    """What rules use and do not have of a language: ``sentence marks``, ``spaces``, ``connectives`` and others.

    Sentence marks and spaces are those of its usual script; connectives and pronouns are sections of its file; the
    frequency list is that of wordfreq.
    """
    data = language_data(code)
    has = {
        "sentence marks": WITHOUT_MARKS.isdisjoint(_codes(code)), "spaces": data.spaces,
        **{section: section in data.sections for section in ("connectives", "pronouns")},
        "frequency list": wordfreq_code(code) is not None,
    }  # fmt: skip
    return [name for name, is_there in has.items() if not is_there]


@functools.cache
def wordfreq_code(lang: str) -> str | None:
    """The code of wordfreq's list for a language; None if there is none.

    The list is that of the language itself (``tl`` and ``fil`` are codes of the same language), else that of its
    macrolanguage (Serbian and Croatian use Serbo-Croatian), else that of a language of which it is the macrolanguage
    (Norwegian uses Bokmål). Macrolanguages are those of the IANA registry, from `langcodes`.
    """
    from wordfreq import available_languages

    listed = sorted(available_languages())
    standard = langcodes.standardize_tag(lang)
    members = (code for code in listed if MACROLANGUAGES.get(code) == lang)
    return next((code for code in (lang, standard, MACROLANGUAGES.get(lang), *members) if code in listed), None)


def script_share(text: str, lang: str) -> float:
    """The share of a text's letters in the scripts of a language; 1 without letters or where the script is unknown."""
    own_letters = _letters_of(lang)
    numbers = Counter(text)
    letters = "".join(LETTERS.findall("".join(numbers)))
    if own_letters is None or not letters:
        return 1.0
    return sum(map(numbers.__getitem__, own_letters.findall(letters))) / sum(map(numbers.__getitem__, letters))


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


# fmt: off
Upos = Literal[
    "ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM",
    "PART", "PRON", "PROPN", "PUNCT", "SCONJ", "SYM", "VERB", "X",
]
# fmt: on
UPOS: Final[tuple[Upos, ...]] = get_args(Upos)
"""The 17 universal parts of speech (https://universaldependencies.org/u/pos/)."""

FeatureName = Annotated[str, msgspec.Meta(pattern=r"^[A-Z][A-Za-z0-9]*(\[[a-z0-9]+\])?$")]
FeatureValues = Annotated[
    frozenset[Annotated[str, msgspec.Meta(pattern=r"^([A-Z0-9][A-Za-z0-9]*(,[A-Z0-9][A-Za-z0-9]*)*)?$")]],
    msgspec.Meta(min_length=1),
]
Features = dict[FeatureName, FeatureValues]
"""The values that each feature of a word may have; the value ``""`` stands for the absence of the feature."""

_CODE: Final = re.compile(r"[a-z]{2,3}")


class LanguageSection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of the sections of a language's file; a section is a subclass with the keys of its table.

    Attributes:
        section: the name of the table in the file.
        source: where the data of the section come from.
    """

    section: ClassVar[str]
    source: str = ""


class Availability(LanguageSection, frozen=True):
    """Base of the sections that say whether a task is offered in the language.

    Attributes:
        available: whether the task is offered.
        reason: why it is not, required if ``available`` is false; else what the rules are based on.
    """

    available: bool = True
    reason: str = ""

    def __post_init__(self) -> None:
        if not self.available and not self.reason:
            raise ValueError("`reason` is missing: say why the task is unavailable")

    @property
    def obstacle(self) -> str:
        """Why the task is not available; an empty string where it is."""
        return "" if self.available else self.reason

    @classmethod
    def lacking(cls, language: "LanguageData") -> str:
        """Why the task is not available in a language; an empty string where it is."""
        return language.section(cls).obstacle


class Condition(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A condition on a word: its part of speech, lemma and features are among these (an empty set allows any)."""

    upos: frozenset[Upos] = frozenset()
    lemma: frozenset[str] = frozenset()
    feats: Features = msgspec.field(default_factory=dict)


S = TypeVar("S", bound=LanguageSection)


class GeneralFacts(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The keys at the top of a language's file.

    Attributes:
        code: as in Universal Dependencies.
        name: in English.
        script: the main one.
        spaces: whether words are separated by white space; without a language file the usual script decides.
        cased: whether the script has capitals.
        capitals: letters at the beginning of a word whose capital differs from Unicode's → capital (Turkish *i*, Dutch
            *ij*).
    """

    code: str
    name: str
    script: str = "Latin"
    spaces: bool = True
    cased: bool = True
    capitals: dict[str, str] = msgspec.field(default_factory=dict)


class LanguageData(GeneralFacts, frozen=True, kw_only=True, dict=True):
    """All that is known about one language.

    Attributes:
        sections: the other tables of the file as plain values; see `section`.
        file: the path of its file, for messages.
        toml: the text of a plugin's file, in which messages name lines; empty for a file of the package.
    """

    sections: dict[str, dict[str, Any]] = msgspec.field(default_factory=dict)
    file: str = ""
    toml: str = ""

    def section(self, kind: type[S]) -> S:
        """A section of the language's file as an instance of its class; the defaults where the file has none.

        Raises:
            DiscoprobeError: the section has a mistake; the message names file, table and key.
        """
        if kind not in self._converted:
            table = self.sections.get(kind.section, {})
            self._converted[kind] = convert_table(table, kind, self.file, kind.section, toml=self.toml)
        return cast("S", self._converted[kind])

    @functools.cached_property
    def _converted(self) -> dict[type[LanguageSection], LanguageSection]:
        return {}

    def lower(self, text: str) -> str:
        """The text in NFC and small letters, by the capitals of the language (Turkish *İ* is *i*, *I* is *ı*)."""
        text = unicodedata.normalize("NFC", text)
        for small, capital in self.capitals.items():
            text = text.replace(capital, small)
        return text.lower()

    def capitalise(self, text: str) -> str:
        """The text with a capital first letter, by the capitals of the language; the rest stays as it is."""
        for small, capital in self.capitals.items():
            if text.startswith(small):
                return capital + text[len(small) :]
        return text[:1].title() + text[1:] if self.cased else text


def languages() -> tuple[str, ...]:
    """The codes of the languages that have a file, of the package or a plugin, sorted."""
    names = {entry.name.removesuffix(".toml") for entry in _folder().iterdir() if entry.name.endswith(".toml")}
    names |= {file.stem for file in plugin_files(LANGUAGES)}
    return tuple(sorted(name for name in names if _CODE.fullmatch(name)))


@cached
def language_data(code: str) -> LanguageData:
    """The data of a language; the defaults where it has no file.

    Raises:
        DiscoprobeError: the code is not a language code, or the language's file has a mistake.
    """
    if not _CODE.fullmatch(code):
        raise DiscoprobeError(f"'{code}' is not a language code: expected two or three small letters, as in 'es'")
    if plugin_file := language_file(code):
        return parse_language(read_utf8(plugin_file), code, plugin_file)
    path = _folder() / f"{code}.toml"
    if not path.is_file():
        return LanguageData(code=code, name=code, spaces=has_spaces(code))
    return parse_language(path.read_text(encoding="utf-8"), code)


def packaged_language(code: str) -> str:
    """The text of the package's file of a language; empty if it has none."""
    path = _folder() / f"{code}.toml"
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def parse_language(toml: str, code: str, plugin_file: Path | None = None) -> LanguageData:
    """The data in the text of the file ``languages/<code>.toml``; sections are checked when they are asked for.

    Args:
        toml: the text.
        code: of the language.
        plugin_file: the file of a plugin that has the text.

    Raises:
        DiscoprobeError: the text is not TOML, or a general fact has an unknown key or a wrong value.
    """
    file = str(plugin_file) if plugin_file else f"languages/{code}.toml"
    facts, sections = general_facts(parse_toml(toml, file))
    plugin_toml = toml if plugin_file else ""
    if facts.get("code") != code:
        place = f"{file}:{line_of(toml, ['code'])}" if plugin_file else file
        raise DiscoprobeError(f"{place}: code: expected '{code}', as the file is called, got {facts.get('code')!r}")
    data = convert_table(facts, GeneralFacts, file, toml=plugin_toml)
    return LanguageData(**msgspec.structs.asdict(data), sections=sections, file=file, toml=plugin_toml)


def general_facts(tables: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The general facts of a file, and its sections."""
    sections = {key: value for key, value in tables.items() if isinstance(value, dict) and key != "capitals"}
    return {key: value for key, value in tables.items() if key not in sections}, sections


def check_small_letters(texts: Iterable[str]) -> None:
    """Check that the texts of a section can be compared with lower-cased words.

    Raises:
        ValueError: a text is not in small letters and NFC, or has white space at its ends or in a row.
    """
    for text in texts:
        if text != " ".join(unicodedata.normalize("NFC", text).lower().split()) or not text:
            raise ValueError(f"'{text}' is not in small letters, NFC and single spaces")


def _folder() -> Traversable:
    return importlib.resources.files("discoprobe.loaders") / "languages"
