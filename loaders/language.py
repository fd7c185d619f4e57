"""What discoprobe knows about a language: ``loaders/languages/<code>.toml`` as frozen values.

Everything a task needs to know about one language is data here, never a branch in a task. A language without a file
gets the defaults: no connectives, no licensed swaps, features of the predicate read from the root alone, and
``available = False`` wherever a rule of the language's own is needed. A file is checked when it is read: an unknown
key, a value outside a closed vocabulary or a form that could never match a token is an error that names file and key.
"""

from __future__ import annotations

import functools
import importlib.resources
import re
import tomllib
import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from discoprobe.loaders.errors import DiscoprobeError
from discoprobe.loaders.toml_table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from importlib.resources.abc import Traversable

# fmt: off
UPOS: Final = (
    "ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM",
    "PART", "PRON", "PROPN", "PUNCT", "SCONJ", "SYM", "VERB", "X",
)
# fmt: on
"""The 17 universal parts of speech."""
CONNECTIVE_UPOS: Final = frozenset({"CCONJ", "SCONJ", "ADV"})
"""The parts of speech of a one-word connective where its entry names none."""
SCOPES: Final = ("sentence", "clause")
"""What a sentence-initial connective ties its clause to: the previous sentence, or the main clause that follows it."""
PLACES: Final = ("root", "aux", "cop", "aux:pass")
"""Where a feature of the main predicate may sit: the root, or a child of it with this relation."""
PREDICATE_FEATURES: Final = ("Tense", "Voice", "Mood", "Person", "Aspect")
ARGUMENTS: Final = ("nsubj", "obj")
"""The arguments of the main predicate whose marks are data."""
ANALYSERS: Final = ("pymorphy3",)

_CODE = re.compile(r"[a-z]{2,3}")
_MARK = re.compile(r"[a-z]+(:[a-z]+)?|Voice=[A-Z][A-Za-z]+|aux=\w+(/Inf)?")
_FEATURE = re.compile(r"[A-Z][A-Za-z0-9]*(\[[a-z0-9]+\])?")
_VALUE = re.compile(r"([A-Z0-9][A-Za-z0-9]*(,[A-Z0-9][A-Za-z0-9]*)*)?")


@dataclass(frozen=True, slots=True)
class Connective:
    """One class of the task ``dconn``.

    ``lemma`` names the class; ``forms`` are sequences of lower-case token forms as Universal Dependencies tokenises
    them (the parts of a multiword token stand apart: ``("a", "el", "contrario")``); ``upos`` are the parts of speech
    that the first word may have; ``scope`` is one of `SCOPES`; ``unless`` are longer sequences that begin like a form
    and are something else (``so far``).
    """

    lemma: str
    forms: tuple[tuple[str, ...], ...]
    upos: frozenset[str]
    scope: str = "sentence"
    unless: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Condition:
    """What a word must be: its UPOS and lemma among those listed (empty: any), and so each feature's value.

    The value ``""`` stands for the feature's absence.
    """

    upos: frozenset[str] = frozenset()
    lemmas: frozenset[str] = frozenset()
    feats: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def holds(self, upos: str | None, lemma: str | None, feats: Mapping[str, str]) -> bool:
        """Whether a word with this UPOS, lemma and these features meets the condition."""
        return (
            (not self.upos or upos in self.upos)
            and (not self.lemmas or lemma in self.lemmas)
            and all(feats.get(name, "") in allowed for name, allowed in self.feats.items())
        )


@dataclass(frozen=True, slots=True)
class NgramShift:
    """Pairs of UPOS, in the order of the text, whose swap is ungrammatical in nearly all contexts.

    ``lemmas`` narrows a part of speech, in whichever pair it stands, to some lemmas (Russian PART: *не* alone).
    """

    patterns: tuple[tuple[str, str], ...] = ()
    lemmas: Mapping[str, frozenset[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Swaps:
    """Which strings of two words no text has, so that no swap of words may make them.

    ``elides``: words that lose their vowel before a vowel or *h* (French *de*); ``contracts``: pairs that are written
    as one word (*de le*); ``sounds``: words whose form depends on the sound of the next one (*a*, *an*), which stay
    where they are and before what they stand.
    """

    elides: frozenset[str] = frozenset()
    contracts: tuple[tuple[str, str], ...] = ()
    sounds: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class CompoundTense:
    """A compound tense that is not labelled by its finite word: Croatian *je radio* is Past though *je* is Pres.

    It is found where an ``aux`` child of the root has one of the lemmas ``aux`` and a Tense among ``aux_tense`` (empty:
    any), and the root meets the condition ``root``; of several, the first is meant. ``label`` is its tense; None: the
    clause is no candidate.
    """

    aux: frozenset[str]
    root: Condition
    label: str | None
    aux_tense: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Predicate:
    """Where the features of the main predicate are read.

    ``places`` maps each of `PREDICATE_FEATURES` to an ordered tuple of `PLACES`: the first place with a word that
    carries the feature (and meets ``read``) gives the label; an empty tuple: the language's treebanks do not support
    the feature. The place ``aux`` is any ``aux`` and subtype of it but ``aux:pass``. ``read`` are conditions, any of
    which the word must meet for the feature to be read from it (no entry: none). ``labels`` are the values kept, per
    feature (no entry: all); a clause with another is left out.

    Tense: a compound tense has the tense of its finite word (*hat gesagt*, *ha dicho* are Pres) but for those listed in
    ``compound``.

    Voice: a clause is Pass where one of ``passive`` marks it and the root meets one of ``passive_if`` (none: any root),
    and is left out where it is marked and meets none; else, where one of ``unsure`` marks it, it is left out; else,
    where the root meets one of ``active_if``, it is Act. A mark is a relation among the root's children (``aux:pass``,
    ``nsubj:pass``), a value of the root (``Voice=Pass``), or ``aux=`` and the lemma of an ``aux`` child of a root that
    is a participle (``aux=ser``) or an infinitive (``aux=sein/Inf``). Where ``places["Voice"]`` is empty, voice is not
    supported.
    """

    places: Mapping[str, tuple[str, ...]]
    read: Mapping[str, tuple[Condition, ...]] = field(default_factory=dict)
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    compound: tuple[CompoundTense, ...] = ()
    passive: tuple[str, ...] = ()
    passive_if: tuple[Condition, ...] = ()
    unsure: tuple[str, ...] = ()
    active_if: tuple[Condition, ...] = ()
    notes: str = ""


@dataclass(frozen=True, slots=True)
class Argument:
    """How a noun looks that is a subject or an object and no oblique that the treebank calls one.

    ``cases`` are the values of Case it may have if it has one (empty: any); ``markers`` are lemmas of the adpositions
    that may mark it (Romanian *pe*, Hindi *को*): a noun with another adposition is none.
    """

    cases: frozenset[str] = frozenset()
    markers: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Syncretic:
    """Words whose form has a second value of a feature, by a rule of the language.

    A word is meant if its features are among ``feats`` (``""``: absent) and its form and lemma, in small letters,
    match the regular expressions ``form`` and ``lemma`` as a whole; with ``is_lemma`` if its form is its lemma, too.
    """

    feature: str
    feats: Mapping[str, frozenset[str]] = field(default_factory=dict)
    form: str = ".*"
    lemma: str = ".*"
    is_lemma: bool = False


@dataclass(frozen=True, slots=True)
class Impersonal:
    """How a clause without ``nsubj``, ``csubj`` and ``expl`` is told to be impersonal.

    By conditions on root, auxiliaries and copula: a clause in which one of them meets one of ``personal`` has an
    unexpressed personal subject and is left out; one in which one meets one of ``impersonal`` is impersonal; any other
    is undecided and is left out. ``reason`` says why the task is unavailable, or what the rule rests on.
    """

    available: bool = False
    reason: str = "no rule for this language tells a dropped personal subject from none"
    impersonal: tuple[Condition, ...] = ()
    personal: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class ConjType:
    """Conjunctions that ``conj_type`` is restricted to (empty: all), and lemmas it leaves out."""

    cconj: frozenset[str] = frozenset()
    sconj: frozenset[str] = frozenset()
    exclude: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether a task is offered in the language, and the reason."""

    available: bool = True
    reason: str = ""


@dataclass(frozen=True, slots=True)
class CoordInv:
    """Whether ``coord_inv`` is offered, and the lemmas that make a clause depend on the one before it."""

    available: bool = True
    reason: str = ""
    anaphoric: frozenset[str] = frozenset()


@dataclass(frozen=True)
class LanguageData:
    """All that is known about one language; the sections of its TOML file.

    ``spaces``: words are separated by white space; ``cased``: the script has capitals. ``capitals`` are beginnings of
    words whose capital is not Unicode's (Turkish *i*, Dutch *ij*). ``somo_open`` are the parts of speech that ``somo``
    replaces. ``wordfreq`` is the code of wordfreq's list, or None; ``lemma_of_form`` says what its words are where they
    are not the treebanks'. ``arguments`` has entries for some of `ARGUMENTS`. ``analyser`` is one of `ANALYSERS` or
    None; ``syncretic`` are rules for ambiguous forms. ``sources`` say where a section comes from.
    """

    code: str
    name: str = ""
    script: str = "Latin"
    spaces: bool = True
    cased: bool = True
    capitals: Mapping[str, str] = field(default_factory=dict)
    connectives: tuple[Connective, ...] = ()
    ngram_shift: NgramShift = field(default_factory=NgramShift)
    swaps: Swaps = field(default_factory=Swaps)
    predicate: Predicate = field(default_factory=lambda: Predicate(dict.fromkeys(PREDICATE_FEATURES, ("root",))))
    arguments: Mapping[str, Argument] = field(default_factory=dict)
    impersonal: Impersonal = field(default_factory=Impersonal)
    conj_type: ConjType = field(default_factory=ConjType)
    gapping: Availability = field(default_factory=Availability)
    somo_open: tuple[str, ...] = ("NOUN", "VERB")
    coord_inv: CoordInv = field(default_factory=CoordInv)
    wordfreq: str | None = None
    lemma_of_form: str = ""
    analyser: str | None = None
    syncretic: tuple[Syncretic, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)

    @functools.cached_property
    def connective_forms(self) -> Mapping[tuple[str, ...], Connective]:
        """Every form of every connective, and the connective it belongs to."""
        return {form: connective for connective in self.connectives for form in connective.forms}

    @functools.cached_property
    def longest_connective(self) -> int:
        """The number of words of the longest form of a connective; 0 where there are none."""
        return max(map(len, self.connective_forms), default=0)

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

    def connective(self, words: Sequence[str], upos: str | None) -> tuple[Connective, int] | None:
        """The connective that a sentence opens with, and how many words it takes; None where there is none.

        The longest form wins; an opening that is listed under ``unless`` is none. ``words`` are the sentence's first
        syntactic words in any case (`longest_connective` of them and a few more, for ``unless``), ``upos`` is the part
        of speech of the first.
        """
        opening = tuple(map(self.lower, words))
        for length in range(min(len(opening), self.longest_connective), 0, -1):
            found = self.connective_forms.get(opening[:length])
            if found is not None and upos in found.upos:
                return None if any(opening[: len(other)] == other for other in found.unless) else (found, length)
        return None


def languages() -> tuple[str, ...]:
    """The codes of the languages that have a file, sorted."""
    names = (entry.name for entry in _folder().iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


@functools.cache
def language_data(code: str) -> LanguageData:
    """The data of a language; the defaults where it has no file.

    Raises:
        DiscoprobeError: the code is no language code, or the language's file has a mistake.
    """
    if not _CODE.fullmatch(code):
        raise DiscoprobeError(f"'{code}' is no language code: expected two or three small letters, as in 'es'")
    path = _folder() / f"{code}.toml"
    if not path.is_file():
        return LanguageData(code=code, name=code)
    return parse(path.read_text(encoding="utf-8"), code)


def parse(toml: str, code: str) -> LanguageData:
    """The data in the text of the file ``languages/<code>.toml``.

    Raises:
        DiscoprobeError: the text is no TOML, or a key or value is not what this module documents.
    """
    file = f"languages/{code}.toml"
    try:
        top = Table(tomllib.loads(toml), file)
    except tomllib.TOMLDecodeError as error:
        raise DiscoprobeError(f"{file}: no TOML: {error}") from error
    top.string("code", among=[code])
    data = LanguageData(
        code=code,
        name=top.string("name"),
        script=top.string("script", "Latin"),
        spaces=top.flag("spaces", default=True),
        cased=top.flag("cased", default=True),
        capitals=_capitals(top),
        **_sections(top),
    )
    top.close()
    return data


def _capitals(top: Table) -> Mapping[str, str]:
    table = top.table("capitals")
    if table is None:
        return {}
    return {small: table.string(small) for small in table.keys()}  # noqa: SIM118


def _sections(top: Table) -> dict[str, Any]:
    found: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for name, read in _READERS.items():
        if (table := top.table(name)) is not None:
            found |= read(table)
            if source := table.string("source", ""):
                sources[name] = source
            table.close()
    return found | {"sources": sources}


def _connectives(section: Table) -> dict[str, Any]:
    connectives = tuple(_connective(entry) for entry in section.tables("entries"))
    lemmas = [connective.lemma for connective in connectives]
    forms = [" ".join(form) for connective in connectives for form in connective.forms]
    for kind, values in (("lemma", lemmas), ("form", forms)):
        twice = sorted(value for value, n in Counter(values).items() if n > 1)
        if twice:
            section.fail(f"{kind} '{twice[0]}' stands twice", "entries")
    return {"connectives": connectives}


def _connective(entry: Table) -> Connective:
    lemma = entry.string("lemma")
    forms = tuple(_form(entry, "forms", item) for item in entry.items("forms")) or (_form(entry, "lemma", lemma),)
    usual = UPOS if all(len(form) > 1 for form in forms) else CONNECTIVE_UPOS
    connective = Connective(
        lemma,
        forms,
        upos=frozenset(entry.strings("upos", among=UPOS)) or frozenset(usual),
        scope=entry.string("scope", "sentence", among=SCOPES),
        unless=tuple(_form(entry, "unless", item) for item in entry.items("unless")),
    )
    entry.close()
    return connective


def _form(entry: Table, key: str, item: Any) -> tuple[str, ...]:
    """A string is split at white space; a list is taken token by token (a token may contain a space)."""
    words = item.split() if isinstance(item, str) else item
    if not isinstance(words, list) or not words or not all(isinstance(word, str) and word for word in words):
        entry.fail(f"expected a string or a list of strings, found {item!r}", key)
    for word in words:
        if word != unicodedata.normalize("NFC", word).lower():
            entry.fail(f"'{word}' is not lower-case NFC", key)
    return tuple(words)


def _ngram_shift(section: Table) -> dict[str, Any]:
    table = section.table("lemmas")
    lemmas = {upos: frozenset(table.strings(upos)) for upos in _known_keys(table, UPOS)} if table else {}
    patterns = tuple(_upos_pair(section, text) for text in section.strings("patterns"))
    return {"ngram_shift": NgramShift(patterns, lemmas)}


def _upos_pair(section: Table, text: str) -> tuple[str, str]:
    words = text.split()
    if len(words) != 2 or not set(words) <= set(UPOS):  # noqa: PLR2004 (a pair has two)
        section.fail(f"'{text}' is no pair of UPOS, as in 'ADP NOUN'", "patterns")
    return words[0], words[1]


def _swaps(section: Table) -> dict[str, Any]:
    pairs = tuple(_form(section, "contracts", item) for item in section.items("contracts"))
    if any(len(pair) != 2 for pair in pairs):  # noqa: PLR2004 (a pair has two)
        section.fail("expected pairs of words, as in 'de le'", "contracts")
    elides, sounds = (frozenset(section.strings(key)) for key in ("elides", "sounds"))
    return {"swaps": Swaps(elides, tuple((pair[0], pair[1]) for pair in pairs), sounds)}


def _predicate(section: Table) -> dict[str, Any]:
    predicate = Predicate(
        places={name: section.strings(name.lower(), among=PLACES) for name in PREDICATE_FEATURES},
        read=_conditions_by_feature(section, "read"),
        labels=_labels(section),
        compound=tuple(_compound_tense(table) for table in section.tables("compound")),
        passive=_marks(section, "passive"),
        passive_if=_conditions(section, "passive_if"),
        unsure=_marks(section, "unsure"),
        active_if=_conditions(section, "active_if"),
        notes=section.string("notes", ""),
    )
    return {"predicate": predicate}


def _compound_tense(table: Table) -> CompoundTense:
    aux, root = frozenset(table.strings("aux")), table.table("root")
    if not aux or root is None:
        table.fail("needs aux and root")
    label, aux_tense = table.string("label", ""), frozenset(table.strings("aux_tense"))
    table.close()
    return CompoundTense(aux, _condition(root), label or None, aux_tense)


def _marks(section: Table, key: str) -> tuple[str, ...]:
    marks = section.strings(key)
    for mark in marks:
        if not _MARK.fullmatch(mark):
            section.fail(f"'{mark}' is no mark, as in 'aux:pass', 'Voice=Pass' or 'aux=ser'", key)
    return marks


def _conditions_by_feature(section: Table, key: str) -> Mapping[str, tuple[Condition, ...]]:
    table = section.table(key)
    if table is None:
        return {}
    return {name: _conditions(table, name) for name in _known_keys(table, PREDICATE_FEATURES)}


def _labels(section: Table) -> Mapping[str, tuple[str, ...]]:
    table = section.table("labels")
    if table is None:
        return {}
    return {name: table.strings(name) for name in _known_keys(table, PREDICATE_FEATURES)}


def _known_keys(table: Table, known: Sequence[str]) -> tuple[str, ...]:
    for name in table.keys():  # noqa: SIM118 (a Table is no mapping)
        if name not in known:
            table.fail(f"unknown key '{name}', expected one of {', '.join(known)}")
    return table.keys()


def _conditions(section: Table, key: str) -> tuple[Condition, ...]:
    return tuple(_condition(table) for table in section.tables(key))


def _condition(table: Table) -> Condition:
    upos, lemmas = frozenset(table.strings("upos", among=UPOS)), frozenset(table.strings("lemma"))
    return Condition(upos, lemmas, _feats(table))


def _feats(table: Table) -> Mapping[str, frozenset[str]]:
    """The keys that are left in a table, as features and their values."""
    feats: dict[str, frozenset[str]] = {}
    for name in table.keys():  # noqa: SIM118 (a Table is no mapping)
        values = table.strings(name)
        if not _FEATURE.fullmatch(name) or not values or not all(_VALUE.fullmatch(value) for value in values):
            table.fail('expected a feature and its values, as in VerbForm = ["Fin"]', name)
        feats[name] = frozenset(values)
    return feats


def _arguments(section: Table) -> dict[str, Any]:
    found = {}
    for name in _known_keys(section, ARGUMENTS):
        table = section.table(name)
        if table is not None:
            found[name] = Argument(frozenset(table.strings("cases")), frozenset(table.strings("markers")))
            table.close()
    return {"arguments": found}


def _morphology(section: Table) -> dict[str, Any]:
    analyser = section.string("analyser", "", among=ANALYSERS)
    return {"analyser": analyser or None, "syncretic": tuple(map(_syncretic, section.tables("syncretic")))}


def _syncretic(table: Table) -> Syncretic:
    feature, is_lemma = table.string("feature"), table.flag("is_lemma", default=False)
    form, lemma = (_regex(table, key) for key in ("form", "lemma"))
    return Syncretic(feature, _feats(table), form, lemma, is_lemma)


def _regex(table: Table, key: str) -> str:
    pattern = table.string(key, ".*")
    try:
        re.compile(pattern)
    except (re.error, OverflowError) as error:
        table.fail(f"'{pattern}' is no regular expression: {error}", key)
    return pattern


def _impersonal(section: Table) -> dict[str, Any]:
    available, reason = _available(section)
    rule = Impersonal(available, reason, _conditions(section, "impersonal"), _conditions(section, "personal"))
    if available != bool(rule.impersonal):
        section.fail("needs conditions exactly where the task is available", "impersonal")
    return {"impersonal": rule}


def _available(section: Table) -> tuple[bool, str]:
    available = section.flag("available")
    reason = section.string("reason", "")
    if not available and not reason:
        section.fail("is missing: say why the task is unavailable", "reason")
    return available, reason


def _frequency(section: Table) -> dict[str, Any]:
    wordfreq = section.string("wordfreq", "")
    return {"wordfreq": wordfreq or None, "lemma_of_form": section.string("lemma_of_form", "")}


_READERS: Final[Mapping[str, Callable[[Table], dict[str, Any]]]] = {
    "connectives": _connectives,
    "ngram_shift": _ngram_shift,
    "swaps": _swaps,
    "predicate": _predicate,
    "arguments": _arguments,
    "impersonal": _impersonal,
    "conj_type": lambda t: {
        "conj_type": ConjType(*(frozenset(t.strings(key)) for key in ("cconj", "sconj", "exclude")))
    },
    "gapping": lambda t: {"gapping": Availability(*_available(t))},
    "somo": lambda t: {"somo_open": t.strings("open", among=UPOS)},
    "coord_inv": lambda t: {"coord_inv": CoordInv(*_available(t), frozenset(t.strings("anaphoric")))},
    "frequency": _frequency,
    "morphology": _morphology,
}


def _folder() -> Traversable:
    return importlib.resources.files("discoprobe.loaders") / "languages"
