"""The main predicate of a sentence: which of its words bears tense, mood, person, aspect or voice.

Where a feature sits is data of the language (``discoprobe.loaders.language.Predicate``): on the root, on an auxiliary
or on the copula.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from discoprobe.builders.roles import spelled_out, valued
from discoprobe.loaders.corpus import feat

if TYPE_CHECKING:
    from collections.abc import Iterable

    from discoprobe.builders.task import Context
    from discoprobe.builders.tree import Trees
    from discoprobe.loaders.language import CompoundTense, Condition, LanguageData, Predicate

VERBAL = ("VERB", "AUX")
"""Parts of speech whose features are the clause's: a noun's Person is its possessor's."""

PASSIVE_DEPENDENTS = ("nsubj:pass", "csubj:pass", "expl:pass")
"""Marks of the passive that a verb above the passive one may have: Russian *решения могут быть оспорены*."""

REFLEXIVE = ("expl:pv", "expl:comp")
"""Reflexives that no passive verb has: French *il s'est amélioré* is a perfect, whatever its auxiliary is called."""

OUTER = ("nsubj:outer", "csubj:outer")
"""Subjects of a predicate that is a clause: *best* in *the best was that they agreed*, whose root is *agreed*."""

UNREAL = ("Cnd", "Sub")
"""Moods whose tenses are forms: German *könnte* (Sub, Past) and French *pourrait* (Cnd, Pres) are of now."""


def unmarked(language: LanguageData, *, feature: str) -> str:
    """Why a language has no task of this feature of the predicate; empty where it has."""
    if language.predicate.places[feature]:
        return ""
    return f"{language.name}: the treebanks do not mark {feature} on the main predicate"


def meets(condition: Condition) -> pl.Expr:
    """Whether a word (``upos``, ``lemma``, ``feats``) meets a condition of the language's data."""
    parts = [pl.lit(value=True)]
    if condition.upos:
        parts.append(pl.col("upos").cast(pl.String).is_in(sorted(condition.upos)).fill_null(value=False))
    if condition.lemmas:
        parts.append(pl.col("lemma").is_in(sorted(condition.lemmas)).fill_null(value=False))
    parts += [feat(name).fill_null("").is_in(sorted(allowed)) for name, allowed in condition.feats.items()]
    return pl.all_horizontal(parts)


def meets_any(conditions: Iterable[Condition]) -> pl.Expr:
    """Whether a word meets one of several conditions; False where there are none."""
    return pl.any_horizontal([pl.lit(value=False), *map(meets, conditions)])


def words_of_predicate(trees: Trees) -> pl.DataFrame:
    """The roots and the auxiliaries and copulas that depend on them, each with its ``place``."""
    place = pl.coalesce(
        pl.when(pl.col("depth") == 0).then(pl.lit("root")),
        pl.when(pl.col("deprel").str.starts_with("aux:pass")).then(pl.lit("aux:pass")),
        "rel",
    )
    helpers = trees.dependents.filter(pl.col("rel").is_in(["aux", "cop"]))
    return pl.concat([trees.roots, helpers]).with_columns(place=place)


def feature_of_predicate(trees: Trees, context: Context, *, feature: str) -> pl.DataFrame:
    """Candidates: the word of the main predicate that bears a feature, labelled with its value.

    The first place that has a bearer counts, if it has exactly one with one value. A compound tense is labelled as the
    language's data say and its target is the main verb; a conditional or subjunctive has no tense. A clause whose
    predicate is a clause is left out.
    """
    rule = context.language.predicate
    if feature == "Voice" and rule.passive:
        found = _voice(trees, rule)
    else:
        found = _bearers(words_of_predicate(trees), feature, rule)
        if rule.places["Tense"] == ("root",):
            found = found.join(_helped(trees, feature), on="sent", how="anti", maintain_order="left")
        if feature == "Tense":
            found = _compound(trees, found, rule.compound).join(_unreal(trees), on="sent", how="anti")
    found = found.join(_clausal(trees), on="sent", how="anti", maintain_order="left")
    kept = rule.labels.get(feature)
    return found.filter(pl.col("label").is_in(kept)) if kept else found


def _clausal(trees: Trees) -> pl.DataFrame:
    """Sentences whose root is the verb of a clause that is the predicate: it has a subject or a copula above it."""
    verbs = trees.roots.filter(pl.col("upos").is_in(VERBAL), feat("VerbForm") == "Fin")
    above = pl.col("deprel").is_in(OUTER) | ((pl.col("rel") == "cop") & pl.col("sent").is_in(verbs["sent"].implode()))
    return trees.dependents.filter(above).select("sent").unique()


def _helped(trees: Trees, feature: str) -> pl.DataFrame:
    """Sentences whose root has an auxiliary with the feature: where tense is an ending of the root, it ends the verb.

    Turkish *istemiyordum* (I did not want) is *istemiyor*, Person=3, and the copula *dum*, Person=1.
    """
    helpers = words_of_predicate(trees).filter(pl.col("depth") == 1, pl.col("upos") == "AUX")
    return helpers.filter(feat(feature).is_not_null()).select("sent").unique()


def _bearers(words: pl.DataFrame, feature: str, rule: Predicate) -> pl.DataFrame:
    """The one word in the first place of the rule that has a bearer."""
    order = {place: number for number, place in enumerate(rule.places[feature])}
    bearing = words.filter(
        pl.col("place").is_in(list(order)), pl.col("upos").is_in(VERBAL), feat(feature).is_not_null(),
        meets_any(conditions) if (conditions := rule.read.get(feature, ())) else pl.lit(value=True),
    ).with_columns(_order=pl.col("place").replace_strict(order, return_dtype=pl.Int8, default=None))  # fmt: skip
    first = bearing.filter(pl.col("_order") == pl.col("_order").min().over("sent"))
    single = first.filter(pl.len().over("sent") == 1, valued(feature))
    return single.sort("sent").select("sent", label=feat(feature), target="row")


def _compound(trees: Trees, found: pl.DataFrame, compounds: Iterable[CompoundTense]) -> pl.DataFrame:
    """The candidates with compound tenses labelled anew, or left out where their tense is undecided."""
    labelled = [_with_tense(trees, compound) for compound in compounds]
    if not labelled:
        return found
    compound_ones = pl.concat(labelled).unique("sent", keep="first", maintain_order=True)
    simple = found.join(compound_ones, on="sent", how="anti", maintain_order="left")
    return pl.concat([simple, compound_ones.drop_nulls("label").cast(found.schema)]).sort("sent")


def _unreal(trees: Trees) -> pl.DataFrame:
    """Sentences whose main predicate has a word of an unreal mood, so that a past form is no past (*написал бы*)."""
    return words_of_predicate(trees).filter(feat("Mood").is_in(UNREAL)).select("sent").unique()


def _with_tense(trees: Trees, compound: CompoundTense) -> pl.DataFrame:
    """The main verbs of one compound tense."""
    helpers = trees.dependents.filter(pl.col("rel") == "aux", pl.col("lemma").is_in(sorted(compound.aux)))
    if compound.aux_tense:
        helpers = helpers.filter(feat("Tense").is_in(sorted(compound.aux_tense)))
    verbs = trees.roots.filter(meets(compound.root)).join(helpers.select("sent").unique(), on="sent", how="semi")
    return verbs.select("sent", label=pl.lit(compound.label, pl.String), target="row")


def _voice(trees: Trees, rule: Predicate) -> pl.DataFrame:
    """Roots in the passive by one of its marks, or in the active where nothing leaves that undecided.

    With a copula the root is an infinitive (*my plan is to sell it*) or a participle that names a state.
    """
    of_subject = [mark for mark in rule.passive if mark in PASSIVE_DEPENDENTS]
    facts = trees.roots.with_columns(
        _own=_marked(trees, [mark for mark in rule.passive if mark not in of_subject]),
        _subject=_marked(trees, of_subject),
        _raised=_heads(trees.dependents.filter(pl.col("rel") == "xcomp")),
        _reflexive=_heads(trees.dependents.filter(pl.col("deprel").is_in(REFLEXIVE))),
        _unsure=_marked(trees, rule.unsure),
        _copular=_heads(trees.dependents.filter(pl.col("rel") == "cop")),
        _passive=meets_any(rule.passive_if) if rule.passive_if else pl.lit(value=True),
        _active=meets_any(rule.active_if),
    )
    undecided = pl.when("_own").then("_reflexive").when("_subject").then("_raised").otherwise("_unsure")
    marked = pl.col("_own") | pl.col("_subject")
    passive, active = marked & pl.col("_passive"), ~marked & pl.col("_active")
    decided = pl.when(passive).then(pl.lit("Pass")).when(active).then(pl.lit("Act"))
    label = pl.when(~undecided & ~pl.col("_copular")).then(decided)
    participle = (pl.col("upos") == "ADJ") & (feat("VerbForm") == "Part")
    verbal = (pl.col("upos").is_in(VERBAL) | participle) & spelled_out()
    return facts.filter(verbal).select("sent", label=label, target="row").drop_nulls("label")


def _marked(trees: Trees, marks: Iterable[str]) -> pl.Expr:
    """Whether a root has one of the marks of the language's data."""
    return pl.any_horizontal([pl.lit(value=False), *[_has_mark(trees, mark) for mark in marks]])


def _has_mark(trees: Trees, mark: str) -> pl.Expr:
    kind, _, value = mark.partition("=")
    if not value:
        return _heads(trees.dependents.filter(pl.col("deprel") == mark))
    if kind == "aux":
        lemma, _, form = value.partition("/")
        helped = _heads(trees.dependents.filter(pl.col("rel") == "aux", pl.col("lemma") == lemma))
        return helped & (feat("VerbForm") == (form or "Part")).fill_null(value=False)
    return (feat(kind) == value).fill_null(value=False)


def _heads(words: pl.DataFrame) -> pl.Expr:
    return pl.col("sent").is_in(words["sent"].unique().implode())
