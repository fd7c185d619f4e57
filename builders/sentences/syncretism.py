"""Ambiguous word forms, which are not used as targets.

A form is ambiguous by ``pos`` if it has more than one part of speech (RuSentEval's filter), and by ``feature`` if it
has more than one value of the probed feature (LINSPECTOR's). The analyser of the language says what a form can be. If
there is none, or it does not know the form or the feature, the words of the corpus decide. A small corpus does not have
all values of a form; so the language data have rules, too (Spanish *cantaba* is first and third person).
"""

import functools
import re
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Final, Literal

import msgspec
import polars as pl

from discoprobe.builders.sentences.trees import Trees
from discoprobe.builders.settings import Settings
from discoprobe.builders.task import AnyTask
from discoprobe.loaders.corpus import feat
from discoprobe.loaders.languages.language import Features, LanguageData, LanguageSection

READINGS: Final = ("pos", "feature")
"""What a form may be ambiguous in."""

SAME_POS: Final = {"AUX": "VERB", "PROPN": "NOUN", "DET": "PRON", "SCONJ": "CCONJ"}
"""Parts of speech that UD distinguishes by use and that count as one: *has* is a verb and an auxiliary."""

FORMS: Final = {"form": pl.String, "upos": pl.String, "feats": pl.String}
"""Columns of a table of forms."""

# fmt: off
_POS: Final = {
    "NOUN": "NOUN", "ADJF": "ADJ", "ADJS": "ADJ", "COMP": "ADJ", "VERB": "VERB", "INFN": "VERB", "PRTF": "VERB",
    "PRTS": "VERB", "GRND": "VERB", "NUMR": "NUM", "ADVB": "ADV", "NPRO": "PRON", "PRED": "PRED", "PREP": "ADP",
    "CONJ": "CCONJ", "PRCL": "PART", "INTJ": "INTJ",
}
_GRAMMEMES: Final = {
    "Number": {"sing": "Sing", "plur": "Plur"},
    "Gender": {"masc": "Masc", "femn": "Fem", "neut": "Neut"},
    "Animacy": {"anim": "Anim", "inan": "Inan"},
    "Case": {
        "nomn": "Nom", "gent": "Gen", "gen1": "Gen", "gen2": "Gen", "datv": "Dat", "accs": "Acc", "acc2": "Acc",
        "ablt": "Ins", "loct": "Loc", "loc1": "Loc", "loc2": "Loc", "voct": "Voc",
    },
    "Tense": {"past": "Past", "pres": "Pres", "futr": "Fut"},
    "Aspect": {"perf": "Perf", "impf": "Imp"},
    "Mood": {"indc": "Ind", "impr": "Imp"},
    "Person": {"1per": "1", "2per": "2", "3per": "3"},
    "Voice": {"actv": "Act", "pssv": "Pass"},
}
# fmt: on
"""OpenCorpora's parts of speech and grammemes (https://opencorpora.org/dict.php?act=gram) in UD's names."""


class SyncreticForms(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Words whose form has a second value of a feature, by a rule of the language.

    Attributes:
        feature: the ambiguous one.
        feats: what the word's other features must be.
        form: a regular expression that matches the whole form in lower case.
        lemma: one that matches the whole lemma in lower case.
        is_lemma: whether the form must be the lemma.
    """

    feature: str
    feats: Features = msgspec.field(default_factory=dict)
    form: str = ".*"
    lemma: str = ".*"
    is_lemma: bool = False

    def __post_init__(self) -> None:
        for pattern in (self.form, self.lemma):
            try:
                re.compile(pattern)
            except (re.error, OverflowError) as error:
                raise ValueError(f"'{pattern}' is not a regular expression: {error}") from error


class MorphologyRules(LanguageSection, frozen=True):
    """The section ``[morphology]``: the language's analyser, and rules for what no analyser or corpus tells.

    Attributes:
        analyser: the dictionary that says what else a form can be; without it, the words of the corpus do.
        syncretic: words whose form has a second value of a feature.
    """

    section: ClassVar[str] = "morphology"
    analyser: Literal["pymorphy3"] | None = None
    syncretic: tuple[SyncreticForms, ...] = ()


def forms(trees: Trees) -> pl.DataFrame:
    """What the lower-case forms of a shard are: ``form``, ``upos``, ``feats``, each combination once."""
    return trees.words.drop_nulls("upos").select(_small("form"), pl.col("upos").cast(pl.String), "feats").unique()


def merged(tables: list[pl.DataFrame]) -> pl.DataFrame:
    """The tables of all shards in one."""
    return pl.concat(tables).unique() if tables else pl.DataFrame(schema=FORMS)


def wanted(task: AnyTask, settings: Settings) -> bool:
    """Whether the rows of a task pass this filter."""
    return bool(task.feature and settings.syncretism)


def packages(task: AnyTask, language: LanguageData, settings: Settings) -> tuple[str, ...]:
    """The distributions that the rows of a task depend on by this filter: the analyser and its dictionary, or none."""
    analyser = language.section(MorphologyRules).analyser
    return (analyser, f"{analyser}-dicts-{language.code}") if analyser and wanted(task, settings) else ()


def with_reasons(
    frame: pl.DataFrame, task: AnyTask, table: pl.DataFrame, language: LanguageData, settings: Settings
) -> pl.DataFrame:
    """Candidates with ``reason`` set where there was none and the target's form is ambiguous.

    Args:
        frame: candidates of a task, with ``reason``, ``target_form``, ``target_lemma`` and ``target_feats``.
        task: whose ``feature`` is probed.
        table: what ``merged`` gave for the corpus.
        language: names the analyser and has the rules.
        settings: which of ``READINGS`` count.
    """
    if not wanted(task, settings) or frame.is_empty():
        return frame
    asked = frame.select(form=_small("target_form")).drop_nulls().unique()
    values = readings(asked["form"], str(task.feature), table, language)
    ambiguous = {"pos": pl.col("_pos") > 1, "feature": (pl.col("_feature") > 1) | by_rule(task.feature or "", language)}
    reason = pl.coalesce(
        "reason",
        *[
            pl.when(ambiguous[reading]).then(pl.lit(f"syncretic-{reading}"))
            for reading in READINGS
            if reading in settings.syncretism
        ],
    )
    counted = values.rename({"form": "_form", "pos": "_pos", "feature": "_feature"})
    return (
        frame.with_columns(_form=_small("target_form"))
        .join(counted, on="_form", how="left", maintain_order="left")
        .with_columns(reason=reason)
        .drop("_form", "_pos", "_feature")
    )


def by_rule(feature: str, language: LanguageData) -> pl.Expr:
    """Whether a rule of the language says that a target's form has a second value of a feature."""
    form, lemma = _small("target_form"), _small("target_lemma")
    rules = []
    for rule in language.section(MorphologyRules).syncretic:
        if rule.feature == feature:
            meets = [feat(name, "target_feats").fill_null("").is_in(sorted(of)) for name, of in rule.feats.items()]
            meets.append(form.str.contains(f"^(?:{rule.form})$"))
            if rule.lemma != ".*":
                meets.append(lemma.str.contains(f"^(?:{rule.lemma})$"))
            if rule.is_lemma:
                meets.append(form == lemma)
            rules.append(pl.all_horizontal(meets).fill_null(value=False))
    return pl.any_horizontal([pl.lit(value=False), *rules])


def readings(asked: pl.Series, feature: str, table: pl.DataFrame, language: LanguageData) -> pl.DataFrame:
    """How many parts of speech (``pos``) and values of ``feature`` each ``form`` has; 0 of what nothing is known of.

    The analyser's dictionary counts; for forms that it lacks, the words of the corpus.
    """
    in_corpus = (
        table.filter(pl.col("form").is_in(asked.implode()))
        .select("form", pos=pl.col("upos").replace(SAME_POS), value=feat(feature).str.split(","))
        .explode("value")
        .group_by("form")
        .agg(pl.col("pos").n_unique(), feature=pl.col("value").drop_nulls().n_unique())
    )
    if language.section(MorphologyRules).analyser is None or feature not in _GRAMMEMES:
        return in_corpus
    names, rows = _GRAMMEMES[feature], []
    for form in asked:
        if tags := _tags(language.code, form):
            values = {names[value] for _, grammemes in tags for value in grammemes & names.keys()}
            rows.append((form, len({pos for pos, _ in tags}), len(values)))
    schema = {"form": pl.String, "pos": pl.UInt32, "feature": pl.UInt32}
    in_dictionary = pl.DataFrame(rows, schema=schema, orient="row")
    return pl.concat([in_dictionary, in_corpus.join(in_dictionary, on="form", how="anti")])


@functools.cache
def _tags(code: str, form: str) -> frozenset[tuple[str, frozenset[str]]]:
    """What a form can be by the dictionary: part of speech (UD's) and grammemes of each reading.

    The Ukrainian dictionary marks neither the singular nor the indicative.
    """
    tags = set()
    for parse in _analyser(code)(form):
        if parse.is_known:
            listed = frozenset(map(str, parse.tag.grammemes))
            has = {name: bool(listed & values.keys()) for name, values in _GRAMMEMES.items()}
            if has["Gender"] and not has["Number"]:
                listed |= {"sing"}
            if "VERB" in listed and has["Tense"] and not has["Mood"]:
                listed |= {"indc"}
            tags.add((_POS.get(str(parse.tag.POS), str(parse.tag.POS)), listed))
    return frozenset(tags)


@functools.cache
def _analyser(code: str) -> Callable[[str], Iterable[Any]]:
    import pymorphy3

    parse: Callable[[str], Iterable[Any]] = pymorphy3.MorphAnalyzer(lang=code, probability_estimator_cls=None).parse
    return parse


def _small(column: str) -> pl.Expr:
    return pl.col(column).str.to_lowercase()
