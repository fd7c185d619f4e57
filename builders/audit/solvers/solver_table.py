"""The solvers: what can be scored without knowing the language. One table, each a short function."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.tree import DecisionTreeClassifier

from discoprobe.builders.audit.frame import AuditInput, conform
from discoprobe.builders.audit.intervals import wilson
from discoprobe.builders.audit.report import Baseline
from discoprobe.builders.audit.solvers.features import LENGTH_MEASURES, SLOTS, Features
from discoprobe.builders.audit.solvers.ngram_model import Strings, log_probabilities
from discoprobe.builders.audit.solvers.problem import TIE, Floats, Problem, Score, Units, best_of, problem_of
from discoprobe.builders.audit.solvers.rules import best_token
from discoprobe.builders.audit.thresholds import LEAK_WORDS
from discoprobe.builders.audit.words import n_words, normal
from discoprobe.builders.config import Shape

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from discoprobe.builders.audit.solvers.problem import Fold

_TREES = 40
_LEAF = 10
"""Units in a leaf at least: a tree that tells fewer apart remembers them."""
_DEPTH = 6
_EDITED = frozenset({Shape.SENTENCE, Shape.CHOICE})
"""Shapes of perturbed texts."""


@dataclass(frozen=True)
class Bench:
    """What solvers get: the data, the problem they pose, and the features and scores that solvers share."""

    data: AuditInput
    problem: Problem
    features: Features

    @classmethod
    def of(cls, data: AuditInput, problem: Problem) -> Bench:
        """The bench of a problem."""
        return cls(data, problem, Features(problem))

    @cached_property
    def chars(self) -> Score:
        """The score of character n-grams, one block per text; of choices, of the candidate."""
        return self.problem.learn(self.features.chars(self.features.read_slots))

    @cached_property
    def words(self) -> Score:
        """The score of words and word bigrams of the same texts."""
        return self.problem.learn(self.features.words(self.features.read_slots))


def length(bench: Bench) -> Score:
    """Logistic regression on counts of words, tokens and characters, and a decision tree, which finds bins."""
    counts = bench.features.length()
    regression, tree = bench.problem.learn(counts), bench.problem.learn(counts, _tree)
    best = best_of({"logistic regression": regression, "decision tree": tree})
    return replace(best, leaning=regression.leaning)  # a tree sees no difference inside a bin


def _tree(_: int) -> DecisionTreeClassifier:
    return DecisionTreeClassifier(max_depth=_DEPTH, min_samples_leaf=_LEAF, random_state=0)


def _trees(_: int) -> ExtraTreesClassifier:
    return ExtraTreesClassifier(_TREES, min_samples_leaf=_LEAF, random_state=0)


def punctuation(bench: Bench) -> Score:
    """Logistic regression on punctuation marks."""
    return bench.problem.learn(bench.features.punctuation())


def case(bench: Bench) -> Score:
    """Logistic regression on capitals by position."""
    return bench.problem.learn(bench.features.case())


def token(bench: Bench) -> Score:
    """The best rule "this token gives that label"."""
    return best_token(bench.problem, bench.features)


def chars(bench: Bench) -> Score:
    """Logistic regression on character n-grams, one block per text; of choices, of the candidate."""
    return bench.chars


def words(bench: Bench) -> Score:
    """Logistic regression on words and word bigrams."""
    return bench.words


def edges(bench: Bench) -> Score:
    """Logistic regression on first, second and last words, and on the words beside frequent words."""
    return bench.problem.learn(bench.features.edges())


def language_model(bench: Bench) -> Score | None:
    """How probable a text is to models of the originals: trigrams of words and 5-grams of characters."""
    return _modelled(bench, (Strings.words, 3), (Strings.characters, 5))


def frequency(bench: Bench) -> Score | None:
    """How frequent the words of a text are in the originals."""
    return _modelled(bench, (Strings.words, 1))


def _modelled(bench: Bench, *models: tuple[Callable[[Features], Strings], int]) -> Score | None:
    """Logistic regression on what n-gram models say; None where no text is edited, as in windows of sentences."""
    problem = bench.problem
    if not bench.data.perturbation or bench.data.shape not in _EDITED:
        return None
    read = [(symbols(bench.features), longest) for symbols, longest in models]

    def features(fold: Fold) -> Floats:
        return np.hstack([log_probabilities(strings, problem, fold, longest) for strings, longest in read])

    return problem.learn(features)


def single(bench: Bench) -> Score | None:
    """The best of the solvers that see one input segment alone; for choices, of the one that sees no context."""
    if bench.features.slots == 1:
        return None
    if bench.problem.choice:
        best = best_of({"characters": bench.chars, "words": bench.words})
        return replace(best, detail=f"the candidate without its context, {best.detail}")
    scores: dict[str, Score] = {}
    for slot in range(bench.features.slots):
        scores[f"characters of text {slot + 1}"] = bench.problem.learn(bench.features.chars([slot]))
        scores[f"words of text {slot + 1}"] = bench.problem.learn(bench.features.words([slot]))
    return best_of(scores)


def overlap(bench: Bench) -> Score | None:
    """Words that the texts of a row share: logistic regression, and for choices the candidate most like the context."""
    problem, features = bench.problem, bench.features
    if features.slots == 1:
        return None
    shared = features.shared_words()
    if bench.data.shape is Shape.SEQUENCE:
        return problem.learn(shared)
    cosine = features.mean_cosines[:, 0]
    solvers = {"logistic regression": problem.learn(np.hstack([shared, cosine[:, None]]))}
    if problem.choice:
        measured = problem.measured
        solvers["most similar to the context (TF-IDF)"] = problem.choice_score(cosine[measured])
        solvers["most words in common with the context"] = problem.choice_score(shared[measured, 0])
    return best_of(solvers)


def similarity(bench: Bench) -> Score | None:
    """A small ensemble of trees on the similarities between the texts of a row."""
    return None if bench.features.slots == 1 else bench.problem.learn(bench.features.similarity(), _trees)


def label_word(bench: Bench) -> Score | None:
    """The label whose own name occurs in the text, as word content has it; the first of several."""
    names = [name.strip().lower() for name in bench.problem.labels]
    if bench.problem.choice or any(not name or name.isdecimal() for name in names):
        return None
    tokens = bench.features.tokens
    known = tokens.vocabulary.alias("name").to_frame().with_row_index("token")
    known = known.join(pl.DataFrame({"name": names, "label": range(len(names))}), on="name")
    first_label = tokens.frame.join(known, on="token").group_by("unit").agg(pl.col("label").min())
    if first_label.is_empty():
        return None
    predicted = np.full(len(bench.problem.units.y), -1)
    predicted[first_label["unit"].to_numpy()] = first_label["label"].to_numpy()
    guess = np.bincount(bench.problem.units.y).argmax()
    answers, occurs = np.where(predicted < 0, guess, predicted), (predicted >= 0).astype(np.float64)
    score = bench.problem.label_score(answers[bench.problem.measured], occurs[bench.problem.measured])
    return replace(score, detail=f"a label occurs in {occurs.mean():.3f} of rows")


def seen(bench: Bench) -> Score:
    """The best rule that knows only whether a sentence of the row (the candidate) occurs in train."""
    problem = bench.problem
    known = np.concatenate([_seen(bench, fold) for fold in problem.folds])
    if not known.any():
        return problem.nothing_to_go_by("no sentence that is measured on occurs in what solvers learn from")
    if problem.choice:
        solvers = {"seen in train": known, "not seen in train": -known}
        return best_of({name: problem.choice_score(values) for name, values in solvers.items()})
    pairs = permutations(range(len(problem.labels)), 2) if len(problem.labels) <= SLOTS else [(0, 1)]
    rules = {
        f"seen in train → {problem.labels[a]}": problem.label_score(np.where(known, a, b), known) for a, b in pairs
    }
    best = best_of(rules)
    return replace(best, detail=f"{known.mean():.1%} of rows: {best.detail}")


def _seen(bench: Bench, fold: Fold) -> Floats:
    """Whether a text of each unit held out (its candidate, if it has a context) is among the texts learned from.

    Where solvers are measured on test, all of train counts, not only the rows that solvers learn from.
    """
    problem, data = bench.problem, bench.data
    split = data.split(problem.trained_on) if problem.trained_on in data.splits else None
    whole = split is not None and problem.trained_on != problem.measured_on
    texts = split["texts"] if split is not None and whole else problem.units.texts[fold.train]
    text = pl.col("text")
    sentences = texts.explode().unique().drop_nulls().to_frame("text").select(normal(text).unique())["text"]
    asked = bench.features.slotted.filter(pl.col("unit").is_in(fold.test))
    context = pl.Series(problem.units.n_context)[asked["unit"]] > 0
    recurs = normal(text).is_in(sentences.implode()) & (n_words(text) >= LEAK_WORDS)
    known = asked.with_columns(known=recurs).filter(~context | (asked["slot"] == 0))
    return known.group_by("unit").agg(pl.col("known").any()).sort("unit")["known"].to_numpy().astype(np.float64)


def pairwise_length(bench: Bench) -> Score | None:
    """The rule "the longer (shorter) member is right", in words or characters, whichever is better on what is learned.

    For choices between more than two, "member" is a candidate.
    """
    problem = bench.problem if bench.problem.choice else problem_of(as_choices(bench.data))[0]
    if problem is None:
        return None
    rules = _length_rules(problem.units)
    values = np.concatenate([rules[_best_rule(problem, rules, fold)][fold.test] for fold in problem.folds])
    best = _best_rule(problem, rules, problem.folds[0])
    return replace(problem.choice_score(values), detail=f"the member with {best} is right")


def _best_rule(problem: Problem, rules: Mapping[str, Floats], fold: Fold) -> str:
    learned = replace(problem, folds=(replace(fold, test=np.sort(fold.train)),))
    return max(rules, key=lambda name: learned.choice_score(rules[name][learned.measured]).accuracy)


def _length_rules(units: Units) -> dict[str, Floats]:
    lengths = units.texts.list.last().to_frame("text").select(**LENGTH_MEASURES).cast(pl.Float64)
    rules = {f"more {name}": lengths[name].to_numpy() for name in ("words", "characters")}
    return rules | {name.replace("more", "fewer"): -values for name, values in rules.items()}


def as_choices(data: AuditInput) -> AuditInput:
    """The pairs of ``data`` as choices without context between their members, of which that with label 0 is right."""
    joined = data.rows.filter(pl.col("pair_id").is_not_null()).with_columns(pl.col("texts").list.join(" "))
    members = joined.sort("split", "pair_id", "texts").group_by("split", "pair_id", maintain_order=True)
    pairs = members.agg(
        pl.col("id", "group").first(),
        pl.col("texts"),
        label=(pl.col("label") == 0).arg_max(),
        right=(pl.col("label") == 0).sum(),
    )
    complete = pairs.filter((pl.col("texts").list.len() == 2) & (pl.col("right") == 1))  # noqa: PLR2004  pairs
    rows = conform(complete.drop("right"), Shape.CHOICE)
    return AuditInput(data.name, Shape.CHOICE, ("first", "second"), rows)


def pairwise(problem: Problem, scores: Mapping[str, Score]) -> Score | None:
    """The best solver where both members of a pair are shown: the original is what leans more to the first label.

    Args:
        problem: whose rows they are; pairs count of which both members were measured.
        scores: solvers by name; those that do not lean to a label are not used.
    """
    leanings = {name: score.leaning for name, score in scores.items() if score.leaning is not None}
    place = np.full(len(problem.units.y), -1)
    place[problem.measured] = np.arange(len(problem.measured))
    original = np.flatnonzero((place >= 0) & (problem.units.edited >= 0))
    original = original[place[problem.units.edited[original]] >= 0]
    if not leanings or not len(original):
        return None
    members = place[original], place[problem.units.edited[original]]
    return best_of({name: _compared(problem, lean, *members) for name, lean in leanings.items()})


def _compared(problem: Problem, lean: Floats, original: Floats, other: Floats) -> Score:
    margin = lean[original] - lean[other]
    correct = np.where(np.abs(margin) < TIE, 0.5, margin > 0).astype(np.float64)
    rows = problem.measured_rows[original]
    clusterings = tuple(numbers[rows] for numbers in problem.units.clusterings)
    return Score(correct, np.abs(margin), tuple(problem.units.ids[row] for row in rows), clusterings)


SOLVERS: Mapping[str, Callable[[Bench], Score | None]] = {
    "length": length,
    "token": token,
    "chars": chars,
    "words": words,
    "edges": edges,
    "language-model": language_model,
    "frequency": frequency,
    "overlap": overlap,
    "similarity": similarity,
    "single": single,
    "seen": seen,
    "punctuation": punctuation,
    "case": case,
    "label-word": label_word,
    "pairwise-length": pairwise_length,
}
"""Check id → solver; None where it does not apply. ``pairwise`` is computed from their scores."""


def solve(bench: Bench, compared: Collection[str]) -> dict[str, Score | None]:
    """The score of every solver, and of ``pairwise`` from those that ``compared`` names."""
    scores = {name: solver(bench) for name, solver in SOLVERS.items()}
    leaning = {name: score for name, score in scores.items() if score is not None and name in compared}
    return scores | {"pairwise": pairwise(bench.problem, leaning)}


def baselines(data: AuditInput, problem: Problem) -> tuple[Baseline, ...]:
    """What needs no solver: the most frequent label, a label drawn with the shares of train, any label.

    For a choice the labels are the places of the candidates.
    """
    units, rows = problem.units, problem.measured_rows
    expected: dict[str, list[Floats]] = {"majority": [], "prior": []}
    for fold in problem.folds:
        learned, asked = (units.labels[np.unique(units.row[side])] for side in (fold.train, fold.test))
        shares = np.bincount(learned, minlength=len(data.labels)) / len(learned)
        expected["majority"].append((asked == shares.argmax()).astype(np.float64))
        expected["prior"].append(shares[asked])
    accuracies = {name: float(np.concatenate(parts).mean()) for name, parts in expected.items()}
    accuracies["random"] = problem.baseline if problem.choice else 1 / len(data.labels)
    n = len(rows)
    return tuple(Baseline(name, value, wilson(value * n, n), n) for name, value in accuracies.items())
