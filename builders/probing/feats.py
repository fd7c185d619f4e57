"""The task is one of those that `--task feats` generates: a feature of the one word in a syntactic role.

There is one for every role and every inflectional or lexical feature of Universal Dependencies that a treebank
supports; the others are listed with the reason why not. In a clause-level role (`nsubj`, `obj`, `iobj`, `obl`,
`advmod`, `aux`, `cop`, `xcomp`, `ccomp`, `advcl`) exactly one word depends on the main predicate; in a phrase-level
role (`nmod`, `amod`, `det`, `nummod`, `acl`, `appos`, `conj`, `case`) exactly one word of the sentence stands. `target`
names the word. Its part of speech tells nothing: labels are balanced inside each. Forms that are ambiguous in part of
speech or in the feature are left out, and no target form of the test split is a target in train.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final

import polars as pl

from discoprobe.builders.config import Shape
from discoprobe.builders.probes import balanced
from discoprobe.builders.roles import CLAUSE_ROLES, PHRASE_ROLES, bearers, valued
from discoprobe.builders.task import Context, Task
from discoprobe.loaders.corpus import feat

if TYPE_CHECKING:
    from discoprobe.builders.tree import Trees

FEATURES: Final = (
    "Animacy", "Aspect", "Case", "Clusivity", "Definite", "Degree", "Deixis", "Evident", "Gender", "Mood", "NounClass",
    "NumType", "Number", "Person", "Polarity", "Polite", "Poss", "PronType", "Reflex", "Tense", "VerbForm", "Voice",
    "Gender[psor]", "Number[psor]", "Person[psor]",
)  # fmt: skip
"""The universal features (https://universaldependencies.org/u/feat/) but those of spelling (Abbr, Typo, Foreign,
ExtPos), and the possessor's."""


def select(trees: Trees, context: Context, *, role: str, feature: str) -> pl.DataFrame:
    """The one word in a role and its value of a feature."""
    del context
    words = bearers(trees, role).filter(valued(feature))
    return words.select("sent", label=feat(feature), target="row", cell=pl.col("upos").cast(pl.String))


def name(role: str, feature: str) -> str:
    """The task's name: ``feats_nsubj_number``, ``feats_obj_number_psor``."""
    return f"feats_{role}_{feature.lower().replace('[', '_').removesuffix(']')}"


def _task(role: str, feature: str) -> Task:
    return Task(
        labels=(), shape=Shape.SENTENCE, arrange=balanced, feature=feature, split_by="target",
        select=functools.partial(select, role=role, feature=feature), needs=frozenset({"upos", "feats", "deps"}),
        name=name(role, feature), definition=f"{feature} of the word in the role `{role}`.",
    )  # fmt: skip


TASKS: Final = tuple(_task(role, feature) for role in ("root", *CLAUSE_ROLES, *PHRASE_ROLES) for feature in FEATURES)
