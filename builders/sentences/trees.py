"""Facts about dependency trees as columns, computed for all words of a shard at once (``Trees``).

``VALUES`` has the values of universal features under their full names. They are the labels of the tasks on features:
every language has the same names under the same indices, and a language uses a part of them. Values that Universal
Dependencies does not define are not labels, and features of spelling (Abbr, Typo, Foreign, ExtPos) are not probed.
(https://universaldependencies.org/u/feat/all.html)
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any, Concatenate, Final, ParamSpec, TypeVar

import msgspec
import numpy as np
import polars as pl
from msgspec import field

from discoprobe.loaders.corpus import Shard
from discoprobe.loaders.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy.typing as npt


# fmt: off
VALUES: Final[Mapping[str, Mapping[str, str]]] = {
    "Animacy": {"Anim": "Animate", "Inan": "Inanimate", "Hum": "Human", "Nhum": "Nonhuman"},
    "Aspect": {
        "Imp": "Imperfective", "Perf": "Perfective", "Prog": "Progressive", "Hab": "Habitual", "Iter": "Iterative",
        "Prosp": "Prospective",
    },
    "Case": {
        "Nom": "Nominative", "Gen": "Genitive", "Dat": "Dative", "Acc": "Accusative", "Voc": "Vocative",
        "Loc": "Locative", "Ins": "Instrumental", "Abs": "Absolutive", "Erg": "Ergative", "Par": "Partitive",
        "Abe": "Abessive", "Abl": "Ablative", "Add": "Additive", "Ade": "Adessive", "All": "Allative",
        "Ben": "Benefactive", "Cau": "Causative", "Cmp": "Comparative", "Cns": "Considerative", "Com": "Comitative",
        "Del": "Delative", "Dis": "Distributive", "Ela": "Elative", "Equ": "Equative", "Ess": "Essive",
        "Ill": "Illative", "Ine": "Inessive", "Lat": "Lative", "Per": "Perlative", "Sbe": "Subelative",
        "Sbl": "Subillative", "Spl": "Superlative", "Sub": "Sublative", "Sup": "Superessive", "Tem": "Temporal",
        "Ter": "Terminative", "Tra": "Translative",
    },
    "Clusivity": {"In": "Inclusive", "Ex": "Exclusive"},
    "Definite": {"Ind": "Indefinite", "Def": "Definite", "Com": "Complex", "Cons": "Construct", "Spec": "Specific"},
    "Degree": {
        "Pos": "Positive", "Cmp": "Comparative", "Sup": "Superlative", "Abs": "Absolute", "Equ": "Equative",
        "Aug": "Augmentative", "Dim": "Diminutive",
    },
    "Deixis": {
        "Prox": "Proximate", "Med": "Medial", "Remt": "Remote", "Nvis": "Not visible", "Abv": "Above", "Bel": "Below",
        "Even": "Same level",
    },
    "Evident": {"Fh": "Firsthand", "Nfh": "Non-firsthand"},
    "Gender": {"Masc": "Masculine", "Fem": "Feminine", "Neut": "Neuter", "Com": "Common"},
    "Gender[psor]": {"Masc": "Masculine", "Fem": "Feminine", "Neut": "Neuter", "Com": "Common"},
    "Mood": {
        "Ind": "Indicative", "Imp": "Imperative", "Cnd": "Conditional", "Sub": "Subjunctive", "Jus": "Jussive",
        "Opt": "Optative", "Pot": "Potential", "Nec": "Necessitative", "Des": "Desiderative", "Adm": "Admirative",
        "Int": "Interrogative", "Irr": "Irrealis", "Prp": "Purposive", "Qot": "Quotative",
    },
    "NounClass": {
        **{f"Bantu{n}": f"Bantu {n}" for n in range(1, 24)}, **{f"Wol{n}": f"Wolof {n}" for n in range(1, 13)},
    },
    "NumType": {
        "Card": "Cardinal", "Ord": "Ordinal", "Frac": "Fraction", "Mult": "Multiplicative", "Sets": "Sets",
        "Dist": "Distributive", "Range": "Range",
    },
    "Number": {
        "Sing": "Singular", "Plur": "Plural", "Dual": "Dual", "Tri": "Trial", "Pauc": "Paucal",
        "Grpa": "Greater paucal", "Grpl": "Greater plural", "Inv": "Inverse", "Coll": "Collective", "Count": "Count",
        "Ptan": "Plurale tantum",
    },
    "Number[psor]": {"Sing": "Singular", "Plur": "Plural", "Dual": "Dual"},
    "Person": {"1": "First", "2": "Second", "3": "Third", "4": "Fourth", "0": "Zero"},
    "Person[psor]": {"1": "First", "2": "Second", "3": "Third"},
    "Polarity": {"Pos": "Positive", "Neg": "Negative"},
    "Polite": {"Infm": "Informal", "Form": "Formal", "Elev": "Elevating", "Humb": "Humbling"},
    "Poss": {"Yes": "Possessive"},
    "PronType": {
        "Prs": "Personal", "Art": "Article", "Dem": "Demonstrative", "Int": "Interrogative", "Rel": "Relative",
        "Rcp": "Reciprocal", "Tot": "Total", "Neg": "Negative", "Ind": "Indefinite", "Emp": "Emphatic",
        "Exc": "Exclamative",
    },
    "Reflex": {"Yes": "Reflexive"},
    "Tense": {
        "Past": "Past", "Pres": "Present", "Fut": "Future", "Imp": "Imperfect", "Pqp": "Pluperfect",
        "Nfut": "Nonfuture",
    },
    "VerbForm": {
        "Fin": "Finite", "Inf": "Infinitive", "Part": "Participle", "Conv": "Converb", "Ger": "Gerund",
        "Gdv": "Gerundive", "Sup": "Supine", "Vnoun": "Verbal noun",
    },
    "Voice": {
        "Act": "Active", "Pass": "Passive", "Mid": "Middle", "Cau": "Causative", "Rcp": "Reciprocal",
        "Antip": "Antipassive", "Dir": "Direct", "Inv": "Inverse", "Bfoc": "Beneficiary focus",
        "Lfoc": "Location focus",
    },
}
# fmt: on


def labels_of(feature: str) -> tuple[str, ...]:
    """The labels of a task on a feature, in the order of their indices.

    Raises:
        UnknownNameError: the feature has no names for its values.
    """
    if feature not in VALUES:
        remedy = f"(known: {', '.join(VALUES)}; add others to VALUES in builders/sentences/trees.py)"
        raise UnknownNameError("feature", feature, VALUES, remedy=remedy)
    return tuple(VALUES[feature].values())


def has(feature: str, *values: str, column: str = "feats") -> pl.Expr:
    """Whether a word has one of these values of a feature, perhaps beside others; false for a word without FEATS."""
    pattern = rf"(?:^|\|){re.escape(feature)}=(?:\w+,)*(?:{'|'.join(values)})(?:$|[,|])"
    return pl.col(column).str.contains(pattern).fill_null(value=False)


def label_columns(value: pl.Expr, feature: str) -> tuple[pl.Expr, pl.Expr]:
    """Columns of candidates: ``label`` of a value of a feature, and ``hindrance`` where the value has none."""
    label = value.replace_strict(VALUES[feature], default=None, return_dtype=pl.String)
    return label.alias("label"), pl.when(label.is_null()).then(pl.lit("other-value")).alias("hindrance")


P = ParamSpec("P")
T = TypeVar("T")

SPACED = 0.5
"""Share of words followed by white space from which on a treebank's words are spaced."""


class Trees(msgspec.Struct, frozen=True, dict=True, eq=False):
    """The words of a shard with what their trees say.

    ``words`` has the columns of the shard's tokens (in ``feats``, a verb has ``Person[subj]`` as ``Person``) and

    * ``row``: the word's own number in the table; ``head_row``: its head's (null for a root);
    * ``rel``: its relation without the subtype;
    * ``depth``: edges between it and the root (0 for the root; null where there is no tree).
    """

    shard: Shard
    _facts: dict[Any, Any] = field(default_factory=dict)

    def once(self, facts: Callable[Concatenate[Trees, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What a function says of these trees (and arguments, which must be hashable), computed once for all tasks."""
        key = facts, args, *kwargs.items()
        if key not in self._facts:
            self._facts[key] = facts(self, *args, **kwargs)
        facts_of_all: T = self._facts[key]
        return facts_of_all

    @functools.cached_property
    def words(self) -> pl.DataFrame:
        """One row per word."""
        numbered = self.shard.tokens.select(pl.int_range(pl.len()).alias("row"), pl.all()).with_columns(
            feats=_of_subject(),
            rel=pl.col("deprel").str.extract(r"^([^:]+)"),
            head_row=pl.when(pl.col("head") > 0).then(pl.col("row") - pl.col("index") + pl.col("head")),
        )
        return numbered.with_columns(depth=pl.Series(depths(numbered), dtype=pl.Int32)).with_columns(
            depth=pl.when(pl.col("head").is_not_null()).then("depth")
        )

    @functools.cached_property
    def spaced(self) -> bool:
        """Whether white space separates words: it follows at least half of those that another word follows.

        So the treebank decides, and a script without spaces (Thai) needs no entry in the language's data.
        """
        spoken = self.shard.tokens.filter(pl.col("start").is_not_null(), pl.col("upos") != "PUNCT")
        same = pl.col("sent") == pl.col("sent").shift(-1)
        gaps = spoken.with_columns(gap=pl.col("start").shift(-1) > pl.col("end"), same=same)
        share = gaps.filter("same", pl.col("mwt").is_null())["gap"].mean()
        return not isinstance(share, float) or share >= SPACED

    @functools.cached_property
    def targets(self) -> pl.DataFrame:
        """The columns of rows that have a word as target, by the number of the word, ``target``."""
        same = pl.col("sent") == pl.col("sent").shift(1)
        return self.words.select(
            pl.col("row").cast(pl.UInt32).alias("target"), target_form="form", target_lemma="lemma",
            target_upos=pl.col("upos").cast(pl.String), target_feats="feats", target_start="start", target_end="end",
            _in_token=pl.col("mwt").is_not_null(), _clitic_before=_clitic("-$").shift(1) & same,
            _clitic_after=_clitic("^-").shift(-1) & same.shift(-1),
        )  # fmt: skip

    @functools.cached_property
    def roots(self) -> pl.DataFrame:
        """The root word of each sentence that has a tree, columns as in ``words``."""
        return self.words.filter(pl.col("head") == 0).unique("sent", keep="first", maintain_order=True)

    @functools.cached_property
    def dependents(self) -> pl.DataFrame:
        """The words that depend on the root of their sentence, in order."""
        return self.words.filter(pl.col("depth") == 1)

    @functools.cached_property
    def sentence_depths(self) -> pl.DataFrame:
        """``sent`` and ``depth`` (edges between the root and the deepest word) of each sentence with a whole tree."""
        deepest = self.words.group_by("sent", maintain_order=True).agg(
            pl.col("depth").max(), whole=pl.col("depth").is_not_null().all()
        )
        return deepest.filter("whole").drop("whole")

    def governing(self, dependents: pl.Expr) -> pl.DataFrame:
        """The ``row`` of every word that has such a dependent."""
        return self.words.filter(dependents).select(row="head_row").drop_nulls().unique()

    def with_text(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows that have ``sent`` with the ``text`` of the sentence."""
        return rows.join(self.shard.sentences.select("sent", "text"), on="sent", maintain_order="left")

    def descends_from(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """For every word, which of ``rows`` is its nearest ancestor or itself; -1 where none is."""
        parent = _parents(self.words)
        is_marked = np.zeros(len(parent), dtype=bool)
        is_marked[rows] = True
        at = np.arange(len(parent))
        for _ in range(len(parent)):
            going = ~is_marked[at] & (parent[at] != at)
            if not going.any():
                break
            at = np.where(going, parent[at], at)
        return np.where(is_marked[at], at, -1)


def with_dependents(words: pl.DataFrame, dependents: pl.DataFrame, **facts: pl.Expr) -> pl.DataFrame:
    """The words, each with facts (aggregates) about those of the dependents that are its own.

    Where a word has none, truth values are false and other facts null.
    """
    of_heads = dependents.drop_nulls("head_row").group_by(row="head_row").agg(**facts)
    truths = [name for name, kind in of_heads.schema.items() if kind == pl.Boolean]
    joined = words.join(of_heads, on="row", how="left", maintain_order="left")
    return joined.with_columns(pl.col(truths).fill_null(value=False))


def _of_subject() -> pl.Expr:
    """FEATS, in which a verb has the person and number of its subject without a layer: Erzya ``Person[subj]=3``."""
    feats = pl.col("feats")
    for name in ("Number", "Person"):
        layered = pl.col("upos").cast(pl.String).is_in(["VERB", "AUX"]) & ~feats.str.contains(rf"(?:^|\|){name}=")
        feats = pl.when(layered).then(feats.str.replace(rf"(^|\|){name}\[subj\]=", f"${{1}}{name}=")).otherwise(feats)
    return feats


def _clitic(hyphen: str) -> pl.Expr:
    """Whether a word is a grammatical one that a hyphen of its own ties to its neighbour (French *-il*)."""
    light = pl.col("upos").cast(pl.String).is_in(["PRON", "AUX", "DET", "PART", "ADV"])
    return light & pl.col("form").str.contains(hyphen)


def _parents(words: pl.DataFrame) -> npt.NDArray[np.int64]:
    """The head of each word; a root, or a word without a tree, is its own."""
    places = np.arange(words.height)
    heads = words["head_row"].fill_null(-1).to_numpy()
    return np.where(heads < 0, places, heads)


def depths(words: pl.DataFrame) -> npt.NDArray[np.int32]:
    """Edges from each word to its root, by doubling pointers: log2(depth) steps over all words."""
    parent = _parents(words)
    steps = (parent != np.arange(len(parent))).astype(np.int32)
    while True:
        further = steps[parent]
        if not further.any():
            return np.asarray(steps, dtype=np.int32)
        steps = steps + further
        parent = parent[parent]
