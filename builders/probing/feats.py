"""A feature of the one word in a syntactic role: one of the tasks that `--task feats` generates.

There is a task for every role and every inflectional or lexical feature of Universal Dependencies that a treebank
supports; the others are listed with the reason why not. In a clause-level role (`nsubj`, `obj`, `iobj`, `obl`,
`advmod`, `aux`, `cop`, `xcomp`, `ccomp`, `advcl`) exactly one word depends on the main predicate with this relation; in
a phrase-level role (`nmod`, `amod`, `det`, `nummod`, `acl`, `appos`, `conj`, `case`) exactly one word of the sentence
has the relation. The label is the word's value of the feature, and `target` names the word. Labels are balanced inside
each part of speech. Forms that are ambiguous in part of speech or in the feature are left out, and no target form of
the test split is a target in train.
"""

import functools
from typing import Final

import polars as pl

from discoprobe.builders.sentences.candidates import feature_task
from discoprobe.builders.sentences.feature_values import VALUES, labelled
from discoprobe.builders.sentences.roles import CLAUSE_ROLES, PHRASE_ROLES, bearers, valued
from discoprobe.builders.sentences.trees import Trees
from discoprobe.builders.task import Context, ProbingTask
from discoprobe.loaders.corpus import feat

FEATURES: Final = tuple(VALUES)
"""The universal features (https://universaldependencies.org/u/feat/) but those of spelling (Abbr, Typo, Foreign,
ExtPos), and the possessor's."""


def select(trees: Trees, _context: Context, *, role: str, feature: str) -> pl.DataFrame:
    """The one word in a role and its value of a feature."""
    words = bearers(trees, role).filter(valued(feature))
    return words.select("sent", *labelled(feat(feature), feature), target="row", cell=pl.col("upos").cast(pl.String))


def name(role: str, feature: str) -> str:
    """The task's name: ``feats_nsubj_number``, ``feats_obj_number_psor``."""
    return f"feats_{role}_{feature.lower().replace('[', '_').removesuffix(']')}"


def _task(role: str, feature: str) -> ProbingTask:
    definition = f"{feature} of the word in the role `{role}`."
    selecting = functools.partial(select, role=role)
    return feature_task(feature, selecting, name=name(role, feature), definition=definition, version=2)


TASKS: Final = tuple(_task(role, feature) for role in ("root", *CLAUSE_ROLES, *PHRASE_ROLES) for feature in FEATURES)
