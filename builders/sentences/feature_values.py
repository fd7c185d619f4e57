"""The values of universal features under their full names.

They are the labels of the tasks on features: every language has the same names under the same indices, and a language
uses a part of them. Values that Universal Dependencies does not define are not labels, and features of spelling (Abbr,
Typo, Foreign, ExtPos) are not probed.
(https://universaldependencies.org/u/feat/all.html)
"""

import re
from collections.abc import Mapping
from typing import Final

import polars as pl

from discoprobe.loaders.errors import UnknownNameError

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
        remedy = f"(known: {', '.join(VALUES)}; add others to VALUES in builders/sentences/feature_values.py)"
        raise UnknownNameError("feature", feature, VALUES, remedy=remedy)
    return tuple(VALUES[feature].values())


def has(feature: str, *values: str, column: str = "feats") -> pl.Expr:
    """Whether a word has one of these values of a feature, perhaps beside others; false for a word without FEATS."""
    pattern = rf"(?:^|\|){re.escape(feature)}=(?:\w+,)*(?:{'|'.join(values)})(?:$|[,|])"
    return pl.col(column).str.contains(pattern).fill_null(value=False)


def labelled(value: pl.Expr, feature: str) -> tuple[pl.Expr, pl.Expr]:
    """Columns of candidates: ``label`` of a value of a feature, and ``hindrance`` where the value has none."""
    label = value.replace_strict(VALUES[feature], default=None, return_dtype=pl.String)
    return label.alias("label"), pl.when(label.is_null()).then(pl.lit("other-value")).alias("hindrance")
