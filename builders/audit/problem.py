"""The question a shortcut solver answers: the label of a row, or which of its choices is right."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler

from discoprobe.builders import chance
from discoprobe.builders.audit.measure import EXAMPLES
from discoprobe.builders.audit.stats import DIGITS, Interval, independent, wilson
from discoprobe.builders.audit.words import mostly_unspaced
from discoprobe.builders.config import Shape

if TYPE_CHECKING:
    from collections.abc import Mapping

    from discoprobe.builders.audit.frame import AuditInput

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Matrix: TypeAlias = "Floats | sparse.csr_array"

TRAIN_ROWS = 20_000
TEST_ROWS = 20_000
"""Rows that solvers learn from and are measured on at most, drawn by hash: the published sets have 10,000 for test, and
a shortcut that 20,000 rows do not show is not shallow."""
_ONE_BY_ONE = 40
"""Labels that are learned one against the others; the closed label sets of tasks have up to 20."""
_ITERATIONS = 60
"""Of L-BFGS; more change the third decimal of accuracies and cost minutes."""


@dataclass(frozen=True, slots=True)
class Units:
    """What is scored: the rows of a split, or the candidates of its choices.

    Attributes:
        texts: the texts of each unit, as lists; the candidate is the last.
        n_context: how many of the texts are its context.
        y: label of each row; for a candidate 1 if it is the right one.
        row: 0-based number of the row each unit belongs to; ascending.
        ids: id of each row.
        pair_ids: ``pair_id`` of each row.
        pairs: number of the pair that each row belongs to; one of its own for a row of none.
    """

    texts: pl.Series
    n_context: Ints
    y: Ints
    row: Ints
    ids: tuple[str, ...]
    pair_ids: tuple[str | None, ...]
    pairs: Ints

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.ids)

    def head(self, n_units: int) -> Units:
        """The first units, to learn from less where features are expensive."""
        cut = slice(0, n_units)
        return replace(self, texts=self.texts[cut], n_context=self.n_context[cut], y=self.y[cut], row=self.row[cut])


@dataclass(frozen=True, slots=True)
class Score:
    """How a solver did.

    Attributes:
        correct: per test row the probability of being right: 0 or 1, or between where it can only draw lots.
        confidence: per test row how sure it was.
        ids: id of each test row (the first of a pair).
        groups: number of the pair that each test row belongs to.
        tries: solvers of which the best was kept.
        certain: whether the score is no sample: the solver has nothing to go by.
        detail: one line for people.
        tried: the accuracy of each of several solvers of which this is the best.
    """

    correct: Floats
    confidence: Floats
    ids: tuple[str, ...]
    groups: Ints
    tries: int = 1
    certain: bool = False
    detail: str = ""
    tried: Mapping[str, float] = field(default_factory=dict)

    @property
    def accuracy(self) -> float:
        """Expected share of rows it gets right."""
        return round(float(self.correct.mean()), DIGITS)

    @property
    def interval(self) -> Interval:
        """The 95 % interval of the accuracy."""
        if self.certain:
            return Interval(self.accuracy, self.accuracy)
        return wilson(float(self.correct.mean()) * self.independent, self.independent, self.tries)

    @property
    def independent(self) -> float:
        """How many independent rows it was measured on."""
        return independent(self.correct, self.groups)

    @property
    def examples(self) -> tuple[str, ...]:
        """Ids of the rows it got right with most confidence."""
        order = np.lexsort((np.arange(len(self.correct)), -self.confidence, -self.correct))
        return tuple(self.ids[row] for row in order[:EXAMPLES] if self.correct[row] > 0)


@dataclass(frozen=True, slots=True)
class Problem:
    """Units to learn from and units to be measured on.

    Attributes:
        train: from ``trained_on``.
        test: from ``measured_on``.
        labels: label names; for a choice ``("wrong", "right")``, the labels of candidates.
        choice: whether the units are candidates, of which one per row is right.
        unspaced: whether most texts are in a script without spaces.
        trained_on: name of the split.
        measured_on: name of the split.
        note: a remark for people.
    """

    train: Units
    test: Units
    labels: tuple[str, ...]
    choice: bool
    unspaced: bool
    trained_on: str
    measured_on: str
    note: str = ""

    @property
    def baseline(self) -> float:
        """Accuracy on test of knowing nothing: the largest class share; for choices one of their number."""
        if self.choice:
            return round(float(np.mean(1 / np.bincount(self.test.row))), DIGITS)
        return round(float(np.bincount(self.test.y).max() / self.test.n_rows), DIGITS)

    @property
    def solvable(self) -> bool:
        """Whether there is something to learn: two classes."""
        return len(np.unique(self.train.y)) > 1

    def learn(self, train: Matrix, test: Matrix) -> Score:
        """The score of a logistic regression (C = 1) on features of the train and test units.

        Dense features are standardised. Where ``train`` has fewer rows than there are train units it holds the first.
        """
        y = self.train.y[: train.shape[0]]
        if len(np.unique(y)) < 2:  # noqa: PLR2004  nothing to learn
            return self.label_score(np.full(self.test.n_rows, y[0]), np.zeros(self.test.n_rows))
        if not sparse.issparse(train):
            scaler = StandardScaler().fit(train)
            train, test = scaler.transform(train), scaler.transform(test)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # not converged; many labels of few rows
            model = _regression(len(np.unique(y))).fit(train, y)
        if self.choice:
            return self.choice_score(model.decision_function(test))
        probabilities = model.predict_proba(test)
        return self.label_score(model.classes_[probabilities.argmax(axis=1)], probabilities.max(axis=1))

    def label_score(self, predicted: Ints, confidence: Floats) -> Score:
        """The score of predicted labels."""
        return Score((predicted == self.test.y).astype(np.float64), confidence, self.test.ids, self.test.pairs)

    def choice_score(self, scores: Floats) -> Score:
        """The score of taking the candidate with the highest score; equal ones draw lots."""
        row, right = self.test.row, self.test.y == 1
        best = np.full(self.test.n_rows, -np.inf)
        np.maximum.at(best, row, scores)
        top = scores >= best[row] - 1e-12
        gold = np.bincount(row, weights=top & right, minlength=self.test.n_rows)
        mean = np.bincount(row, weights=scores) / np.bincount(row)
        return Score(gold / np.bincount(row, weights=top), best - mean, self.test.ids, self.test.pairs)


def _regression(n_labels: int) -> LogisticRegression | OneVsRestClassifier:
    """Fitted by trust-region Newton, each label against the others: a fifth of the time of L-BFGS.

    With very many labels all at once by L-BFGS.
    """
    if n_labels > _ONE_BY_ONE:
        return LogisticRegression(max_iter=_ITERATIONS, tol=1e-5)
    binary = LogisticRegression(solver="liblinear", tol=1e-3)
    return binary if n_labels == 2 else OneVsRestClassifier(binary)  # noqa: PLR2004


def problem_of(data: AuditInput) -> Problem | None:
    """The problem that ``data`` poses: learned on train, measured on test.

    Without train, validation stands in for it; without test, validation too; with one split only, half of its rows
    (whole pairs) are for learning. None where nothing can be learned: no split with two rows of two labels.
    """
    splits = {name: data.split(name) for name in data.splits}
    if not splits:
        return None
    names = list(splits)
    train, test, note = splits[names[0]], splits[names[-1]], ""
    if len(names) == 1:
        train, test = halves(train)
        note = f"solvers learn from half of {names[0]}, the only split, and are measured on the other half"
    elif names[0] != "train":
        note = f"there is no train: solvers learn from {names[0]}"
    choice = data.shape is Shape.CHOICE
    problem = Problem(
        train=_units(draw(train, TRAIN_ROWS), choice=choice),
        test=_units(draw(test, TEST_ROWS), choice=choice),
        labels=("wrong", "right") if choice else data.labels,
        choice=choice,
        unspaced=mostly_unspaced(data.rows["texts"].head(1000).explode()),
        trained_on=names[0],
        measured_on=names[-1],
        note=note,
    )
    return problem if problem.test.n_rows and problem.train.n_rows and problem.solvable else None


def halves(rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Two halves of a split, pairs whole."""
    keys = [chance.digest(pair or own) for pair, own in rows.select("pair_id", "id").iter_rows()]
    first = pl.Series(chance.unit(keys, "audit", "half") < 0.5)  # noqa: PLR2004  half
    return rows.filter(first), rows.filter(~first)


def draw(rows: pl.DataFrame, n: int) -> pl.DataFrame:
    """At most ``n`` rows, in hash order so that any head of them is a sample too."""
    return rows[chance.ranking(rows["place"].to_numpy(), "audit", "draw")[:n]]


def _units(rows: pl.DataFrame, *, choice: bool) -> Units:
    ids, pair_ids = tuple(rows["id"].to_list()), tuple(rows["pair_id"].to_list())
    units = _candidates(rows) if choice else rows.with_row_index("row").rename({"label": "y"})
    return Units(
        texts=units["texts"],
        n_context=units["n_context"].to_numpy().astype(np.int64),
        y=units["y"].to_numpy().astype(np.int64),
        row=units["row"].to_numpy().astype(np.int64),
        ids=ids,
        pair_ids=pair_ids,
        pairs=_pairs(rows),
    )


def _pairs(rows: pl.DataFrame) -> Ints:
    own = pl.concat_str(pl.lit("row "), "id")
    pair = pl.concat_str(pl.lit("pair "), "pair_id")
    return rows.select(pl.coalesce(pair, own).rank("dense")).to_series().to_numpy().astype(np.int64) - 1


def _candidates(rows: pl.DataFrame) -> pl.DataFrame:
    """One row per choice: its context and itself."""
    choices = pl.col("texts").list.slice(pl.col("n_context"))
    long = rows.with_row_index("row").with_columns(
        context=pl.col("texts").list.slice(0, pl.col("n_context")),
        candidate=choices,
        number=pl.int_ranges(choices.list.len()),
    )
    long = long.explode("candidate", "number", empty_as_null=False)
    return long.select(
        "row",
        "n_context",
        texts=pl.col("context").list.concat(pl.concat_list("candidate")),
        y=(pl.col("number") == pl.col("label")).cast(pl.Int64),
    )
