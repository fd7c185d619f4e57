"""Paradigms of verbs from a table of UniMorph (Kirov et al. 2018): lines ``lemma<TAB>form<TAB>V;IND;PRS;3;SG``."""

import functools
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import polars as pl

from discoprobe.loaders.errors import DiscoprobeError, UsageError
from discoprobe.loaders.languages.word_frequency import lines_of

TAGS: Final = {
    "SG": ("Number", "Sing"), "PL": ("Number", "Plur"), "DU": ("Number", "Dual"),
    "1": ("Person", "1"), "2": ("Person", "2"), "3": ("Person", "3"),
    "MASC": ("Gender", "Masc"), "FEM": ("Gender", "Fem"), "NEUT": ("Gender", "Neut"),
    "PRS": ("Tense", "Pres"), "PST": ("Tense", "Past"), "FUT": ("Tense", "Fut"),
    "IND": ("Mood", "Ind"), "SBJV": ("Mood", "Sub"), "COND": ("Mood", "Cnd"), "IMP": ("Mood", "Imp"),
}  # fmt: skip
"""Tags of UniMorph and what they are in Universal Dependencies; other tags are only compared with each other."""

PAST: Final = ("Imp", "Pqp")
"""Values of Tense in Universal Dependencies that UniMorph tells apart by other tags than ``PST``."""

AGREEMENT: Final = ("Number", "Person", "Gender")
CELL: Final = ("Tense", "Mood")
FORMAT: Final = "lemma<TAB>form<TAB>V;IND;PRS;3;SG"

Tags = frozenset[str]
Paradigms = dict[str, list[tuple[str, Tags]]]


@functools.cache
def read_paradigms(path: Path) -> Paradigms:
    """The forms of each verb, in small letters, with their tags, by lemma.

    Raises:
        UsageError: the file cannot be read, or has no verbs.
        DiscoprobeError: a line is not in the format of UniMorph; the message names it.
    """
    paradigms: defaultdict[str, list[tuple[str, Tags]]] = defaultdict(list)
    for number, line in lines_of(path, f"a table of UniMorph: {FORMAT}"):
        cells = line.lower().split("\t")
        if len(cells) < 3 or not all(cells[:3]):  # noqa: PLR2004 (some tables have a fourth column)
            raise DiscoprobeError(f"{path}:{number}: expected {FORMAT}, found {line[:40]!r}")
        tags = frozenset(cells[2].strip().upper().split(";"))
        if any(tag == "V" or tag.startswith("V.") for tag in tags):
            paradigms[cells[0].strip()].append((cells[1].strip(), tags))
    if not paradigms:
        raise UsageError(f"{path}: has no verbs; give a table of UniMorph: {FORMAT}")
    return dict(paradigms)


def other_forms(verbs: pl.DataFrame, feature: str, paradigms: Paradigms) -> pl.DataFrame:
    """The form of each verb for every other value of a feature, where the table knows exactly one.

    Args:
        verbs: ``row``, ``lemma``, ``form`` (both in small letters) and ``feats``.
        feature: one of ``AGREEMENT``. With Number the tag of Gender may differ too, since many plurals have none.
        paradigms: from `read_paradigms`.

    Returns:
        ``row``, ``other_value``, ``other`` (the form), without forms that could also have the values of the verb.
    """
    rows: list[tuple[int, str, str]] = []
    changed = {feature, "Gender"} if feature == "Number" else {feature}
    for row, lemma, form, written in verbs.select("row", "lemma", "form", "feats").iter_rows():
        paradigm, feats = paradigms.get(lemma, ()), _values(written)
        of_form = [tags for other, tags in paradigm if other == form and _agrees(tags, feats, AGREEMENT + CELL)]
        rests = {_other_tags(tags, changed) for tags in of_form}
        options: defaultdict[str, set[str]] = defaultdict(set)
        for other, tags in paradigm:
            value = _features(tags).get(feature)
            if value and value != feats.get(feature) and _other_tags(tags, changed) in rests:
                same_gender = feature != "Number" or _agrees(tags, feats, ("Gender",))
                options[value] |= {other} if same_gender else set()
        agreeing = {form, *(other for other, tags in paradigm if _agrees(tags, feats, AGREEMENT))}
        rows += [(row, value, min(f)) for value, f in options.items() if len(f) == 1 and not f & agreeing]
    return pl.DataFrame(rows, {"row": verbs.schema["row"], "other_value": pl.String, "other": pl.String}, orient="row")


def forms_that_agree(verbs: pl.DataFrame, paradigms: Paradigms) -> pl.DataFrame:
    """``row`` and ``other``: every form of the verb's paradigm that agrees with it, in any tense or mood.

    ``verbs`` needs ``row``, ``lemma`` and ``feats``.
    """
    rows: list[tuple[int, str]] = []
    for row, lemma, written in verbs.select("row", "lemma", "feats").iter_rows():
        feats, paradigm = _values(written), paradigms.get(lemma, ())
        # a form with a tag of number and without a tag that contradicts the verb's values
        forms = {f for f, tags in paradigm if "Number" in _features(tags) and _agrees(tags, feats, AGREEMENT)}
        rows += [(row, form) for form in forms]
    return pl.DataFrame(rows, {"row": verbs.schema["row"], "other": pl.String}, orient="row")


def _agrees(tags: Tags, feats: Mapping[str, str], names: Sequence[str]) -> bool:
    """Whether tags do not contradict the features with these names."""
    named = _features(tags)
    past = feats.get("Tense") in PAST and named.get("Tense") == "Past"
    return all(
        named[name] == feats[name] or (name == "Tense" and past) for name in names if name in named and name in feats
    )


def _features(tags: Tags) -> dict[str, str]:
    """The features that tags stand for."""
    return dict(TAGS[tag] for tag in tags if tag in TAGS)


def _other_tags(tags: Tags, without: set[str]) -> Tags:
    """The tags except those of some features."""
    return frozenset(tag for tag in tags if tag not in TAGS or TAGS[tag][0] not in without)


def _values(feats: str | None) -> dict[str, str]:
    """Features in the notation of CoNLL-U, as name → value."""
    return dict(pair.split("=", 1) for pair in (feats or "").split("|") if "=" in pair)
