"""The question that solvers answer, the folds they are measured in, and the score of their answers.

``problem_of`` links rows that belong together, divides them into folds, chooses as many as time and memory permit, and
makes the units of them. ``Problem`` lets a model learn and gives its ``Score``.

Where classes have the shares of their corpus, the score has a macro-F1, too: the mean of the F1 of all classes, which
gives every class the same weight. In skewed data a solver that finds the rare classes can be as accurate as one that
names the commonest class. The baseline is the better one of two: naming the commonest class, whose macro-F1 is
2p / (1 + p) / k where p is its share and k the number of classes, and guessing with the shares of the classes, whose
expected F1 is the share of each class: 1 / k in the mean.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt
import polars as pl
from msgspec import field
from msgspec.structs import replace
from scipy import sparse
from scipy.sparse import csgraph
from sklearn.metrics import f1_score
from sklearn.preprocessing import normalize

from discoprobe.builders.audit.frame import LONGEST_READ, AuditInput, ends_of
from discoprobe.builders.audit.intervals import DIGITS, Interval, critical_value, exact, independent_rows
from discoprobe.builders.audit.report import Figure
from discoprobe.builders.audit.solvers.classifiers import Floats, Ints, Learner, Matrix, Regression, regression
from discoprobe.builders.audit.thresholds import LEAK_WORDS, MOST_ROWS
from discoprobe.builders.config import Shape
from discoprobe.loaders import hashing
from discoprobe.loaders.corpus import exploded
from discoprobe.loaders.words import mostly_unspaced, n_words

ENOUGH = 1000
"""With this number of test rows, solvers are measured on test only: the interval is at most ±.031. Train must have as
many: with few rows to learn from, solvers find little and are below their thresholds whatever there is to find."""
_ENOUGH_OF_A_PART = 2000
"""With this number of rows in a fifth of a split, solvers are measured on it only: so many can rule out a gain of .10
(``thresholds.RULED_OUT``)."""
_CHARACTERS_LEARNED, _CHARACTERS_MEASURED = 2_400_000, 4_800_000
"""Characters of these rows at most, such as 3,300 and 6,600 rows of six sentences: this bounds time and memory."""
_FEWEST = 1000
"""Rows that are looked at however long they are."""
_HELD_OUT = 3
"""Most measured rows per training row: a solver that is trained on few rows finds little."""
_PARTS = 5
_LARGEST, _LARGEST_OF_OTHERS = 0.75, 0.5
"""If a split has a larger share of all rows, splits are not used as folds: too few rows would be left for training.

Splits of others are not balanced by themselves, so that folds that cut through them do no harm: a train of 160 rows
beside a test of 400 shall not decide what solvers find."""
SUREST = 20
"""Rows that a solver names: those that it got right and was surest of."""
TIE = 1e-12
"""Values that differ by less are equal."""
_FEWEST_PAIRS = 20
"""Pairs to learn from at least."""
_DOUBT = 0.5
"""With 5 % of wrong labels, .8 of the rows with a larger difference are wrong (TREC, SUBJ, emotions of TweetEval), and
of all differences .2 to .7. In the sets as published, 2 to 5 rows of 1,000 have a larger one, of labels by lot none."""
_SENTENCE_END = r"([.!?…。！？।؟]['\"»”’)\]]*)\s+"
_OVERLAPPING = 12
"""Rows at most that share a text because their windows overlap: passages of six sentences, whole and edited."""


class Fold(msgspec.Struct, frozen=True):
    """Numbers of the units that solvers learn from, in hash order, and of those they are then measured on."""

    train: Ints
    test: Ints


class Score(msgspec.Struct, frozen=True):
    """How a solver did on the rows it was measured on.

    Attributes:
        correct: per row the probability of being right: 0 or 1, or between where it guesses, shape (rows,).
        confidence: per row how sure it was, shape (rows,).
        ids: id of each row, shape (rows,).
        clusterings: per clustering the number of each row's cluster, shape (rows,).
        tries: solvers of which the best was kept.
        certain: whether the accuracy is exact, not estimated: the solver found no rule and guesses every row.
        detail: one line for people.
        tried: the accuracy of each of several solvers of which this is the best.
        leaning: per row how much it leans to the first label, shape (rows,); None unless there are two labels.
        cross_validated: whether rows of one fold are learned from for the others.
        truth: per row its label, shape (rows,); None where rows have none, as choices.
        predicted: per row the label that it names, shape (rows,); None where it names none.
    """

    correct: Floats
    confidence: Floats
    ids: npt.NDArray[np.object_]
    clusterings: tuple[Ints, ...]
    tries: int = 1
    certain: bool = False
    detail: str = ""
    tried: Mapping[str, float] = field(default_factory=dict)
    leaning: Floats | None = None
    cross_validated: bool = False
    truth: Ints | None = None
    predicted: Ints | None = None

    @property
    def accuracy(self) -> float:
        """Expected share of rows it gets right."""
        return round(float(self.correct.mean()), DIGITS)

    @property
    def interval(self) -> Interval:
        """The 95 % interval of the accuracy."""
        if self.certain:
            return self.accuracy, self.accuracy
        n = self.independent * self._guessing
        return exact(float(self.correct.mean()) * n, n, self.tries)

    @property
    def decides(self) -> bool:
        """Whether there is a row that it does not guess: a rule on lengths decides nothing if all pairs are ties."""
        return bool(((self.correct == 0) | (self.correct == 1)).any())

    @property
    def _guessing(self) -> float:
        """The variance of an accuracy without guesses over that of this one: an expected value of ½ does not vary."""
        share, variance = float(self.correct.mean()), float(self.correct.var())
        return share * (1 - share) / variance if variance else 1.0

    @property
    def independent(self) -> float:
        """How many independent rows it was measured on."""
        return independent_rows(
            self.correct, self.clusterings, self.truth, self.predicted, cross_validated=self.cross_validated
        )

    @property
    def examples(self) -> tuple[str, ...]:
        """Ids of the rows it got right with most confidence, the surest first."""
        order = np.lexsort((np.arange(len(self.correct)), -self.confidence, -self.correct))
        return tuple(self.ids[row] for row in order[:SUREST] if self.correct[row] > 0)


def best_of(scores: Mapping[str, Score]) -> Score:
    """The most accurate of several solvers that decide something; its interval allows for the choice."""
    deciding = {name: score for name, score in scores.items() if score.decides} or scores
    name = max(deciding, key=lambda name: deciding[name].accuracy)
    tried = {solver: score.accuracy for solver, score in scores.items()}
    return replace(scores[name], tries=len(deciding), detail=name, tried=tried)


Rows: TypeAlias = "Matrix | Callable[[Ints], Matrix]"
"""The features of all units, shape (units, features), or a function that gives those of the units it is asked for."""


class Problem(msgspec.Struct, frozen=True):
    """What solvers see, and the folds in which they learn from some units and are measured on others.

    Units are rows, or the candidates of rows that are choices.

    Attributes:
        texts: the texts of each unit, as lists; the candidate is the last.
        n_context: how many of the texts are its context, shape (units,).
        y: label of each row; for a candidate 1 if it is the right one, shape (units,).
        row: 0-based number of the row that each unit belongs to, ascending, shape (units,).
        edited: for the original of a pair the unit that is its edited version, else -1, shape (units,).
        ids: id of each row, shape (rows,).
        number: place of each row among the rows of the data, shape (rows,).
        row_labels: label of each row, for a choice the place of the right candidate, shape (rows,).
        clusterings: per clustering (pairs, then groups) the number of each row's cluster, shape (rows,).
        labels: label names; for a choice ``("wrong", "right")``, the labels of candidates.
        choice: whether the units are candidates, of which one per row is right.
        unspaced: whether most texts are in a script without spaces.
        folds: one where solvers are measured on test, else one per part that is held out.
        trained_on: what the solvers learn from, in words.
        measured_on: what they are measured on, in words.
    """

    texts: pl.Series
    n_context: Ints
    y: Ints
    row: Ints
    edited: Ints
    ids: npt.NDArray[np.object_]
    number: Ints
    row_labels: Ints
    clusterings: tuple[Ints, ...]
    labels: tuple[str, ...]
    choice: bool = False
    unspaced: bool = False
    folds: tuple[Fold, ...] = ()
    trained_on: str = ""
    measured_on: str = ""

    @property
    def measured(self) -> Ints:
        """Numbers of the units of all folds that solvers are measured on, in order."""
        return np.concatenate([fold.test for fold in self.folds])

    @property
    def measured_rows(self) -> Ints:
        """Numbers of the rows that solvers are measured on, in order."""
        rows = self.row[self.measured]
        return rows[np.flatnonzero(np.diff(rows, prepend=-1))] if self.choice else rows

    @property
    def baseline(self) -> float:
        """Accuracy of the majority label on the measured rows; for choices, of guessing."""
        rows = self.row[self.measured]
        if self.choice:
            _, counts = np.unique(rows, return_counts=True)
            return round(float(np.mean(1 / counts)), DIGITS)
        return round(float(np.bincount(self.y[self.measured]).max() / len(rows)), DIGITS)

    def learn(self, features: Rows, learner: Learner = regression) -> Score:
        """The score of a model that learns in each fold and answers for the units held out.

        Args:
            features: of all units.
            learner: makes a model of features and labels; logistic regression where none is given.
        """
        return self.score_answers(*self.answer(features, learner))

    def learn_by_fold(self, features: Callable[[Fold], Floats]) -> Score:
        """The same by logistic regression, with features of all units that are made of what a fold learns from."""
        return self.score_answers(*_join(self._answers(features(fold), fold, regression) for fold in self.folds))

    def answer(self, features: Rows, learner: Learner = regression) -> tuple[Floats, Floats]:
        """What the model of ``learn`` says of the measured units.

        Returns:
            The probability of each label, shape (units, labels), and a score per unit, larger for label 1.
        """
        return _join(self._answers(features, fold, learner) for fold in self.folds)

    def score_answers(self, probabilities: Floats, leaning: Floats) -> Score:
        """The score of what ``answer`` returns."""
        if self.choice:
            return self.choice_score(leaning)
        score = self.label_score(probabilities.argmax(axis=1), probabilities.max(axis=1))
        return replace(score, leaning=-leaning) if len(self.labels) == 2 else score  # noqa: PLR2004

    def doubtful_labels(self, probabilities: Floats) -> list[tuple[int, int]]:
        """Rows that are probably labelled wrongly (confident learning, Northcutt et al. 2021), the surest first.

        Another label is at least as probable as it is in the mean of the rows that have it, and more probable than
        the label of the row by ``_DOUBT``.

        Args:
            probabilities: of each label for the measured units, by a model that did not learn from them.

        Returns:
            For each such row its number and the other label.
        """
        rows, label = np.arange(len(probabilities)), self.y[self.measured]
        of_label = probabilities[rows, label]
        counts = np.bincount(label, minlength=len(self.labels))
        usual = np.bincount(label, weights=of_label, minlength=len(self.labels)) / np.maximum(counts, 1)
        confident = np.where((probabilities >= usual) & (counts > 0), probabilities, 0.0)
        margin = confident.max(axis=1) - of_label
        doubtful = np.flatnonzero(margin > _DOUBT)
        doubtful = doubtful[np.argsort(-margin[doubtful], kind="stable")]
        numbers = self.measured_rows[doubtful].tolist()
        return list(zip(numbers, confident[doubtful].argmax(axis=1).tolist(), strict=True))

    def _answers(self, features: Rows, fold: Fold, learner: Learner) -> tuple[Floats, Floats]:
        """Probability of each label, shape (units, labels), and a score per unit, larger for label 1."""
        of_units = features if callable(features) else features.__getitem__
        classes, y = np.unique(self.y[fold.train], return_inverse=True)
        probabilities = np.zeros((len(fold.test), len(self.labels)))
        if len(classes) == 1:  # nothing to learn
            probabilities[:, classes[0]] = 1.0
            return probabilities, np.zeros(len(fold.test))
        model = learner(of_units(fold.train), y)
        asked = of_units(fold.test)
        probabilities[:, classes] = model.predict_proba(asked)
        if isinstance(features, np.ndarray) and (in_pairs := self._lean_in_pairs(features, fold, learner)) is not None:
            return probabilities, in_pairs
        if not isinstance(model, Regression):
            return probabilities, probabilities[:, classes[-1]]
        lean = model.decision_function(asked)
        return probabilities, lean if lean.ndim == 1 else np.zeros(len(fold.test))

    def _lean_in_pairs(self, features: Floats, fold: Fold, learner: Learner) -> Floats | None:
        """Scores of label 1 for held-out units, learned from the differences inside pairs; 0 for units without a pair.

        For a choice they are learned from the differences between right and wrong candidates, by linear models only.
        None if there are too few training pairs. The model is used for dense features such as length. They vary more
        between pairs than inside a pair, so a model of single rows cannot find a small but regular difference inside
        pairs. N-grams have a solver of their own (``values_by_differences``).
        """
        originals, edited = self._opposites(fold.train)
        if len(originals) < _FEWEST_PAIRS or len(self.labels) > 2:  # noqa: PLR2004
            return None
        differences = features[edited] - features[originals]
        model = learner(np.vstack([differences, -differences]), np.repeat([1, 0], len(edited)))
        if self.choice:
            return -model.decision_function(features[fold.test]) if isinstance(model, Regression) else None
        originals, edited = self._opposites(fold.test)
        if not len(edited):
            return np.zeros(len(fold.test))
        differences = features[edited] - features[originals]
        one_way, other_way = (model.predict_proba(sign * differences)[:, 1] for sign in (1, -1))
        margin, leaning = one_way - other_way, np.zeros(len(features))
        leaning[edited], leaning[originals] = margin, -margin
        return leaning[fold.test]

    def values_by_differences(self, counts: sparse.csr_array) -> Floats | None:
        """How much each measured unit looks like an original (like a right candidate), learned from differences alone.

        In each fold a logistic regression learns from the difference between the two members of each pair, or between
        the right and each wrong candidate of a choice. The two members of a swap have the same words: what tells them
        apart is drowned by the differences between pairs, and is all that is left inside them. Differences are weighted
        by their inverse document frequency and have length 1.

        Args:
            counts: of all units, shape (units, features).

        Returns:
            Values that may be compared inside a pair or a choice only; None if there are too few training pairs.
        """
        values = []
        for fold in self.folds:
            originals, edited = self._opposites(fold.train)
            if len(originals) < _FEWEST_PAIRS:
                return None
            differences = counts[edited].astype(np.float32) - counts[originals].astype(np.float32)
            differences.eliminate_zeros()
            occurrences = np.bincount(differences.indices, minlength=counts.shape[1])
            weights = np.log((1 + len(edited)) / (1 + occurrences)).astype(np.float32) + 1
            differences.data *= weights[differences.indices]
            differences = normalize(differences, copy=False)
            both = sparse.csr_array(sparse.vstack([differences, -differences]))
            model = regression(both, np.repeat([1, 0], len(edited)))
            values.append(-(counts[fold.test] @ (weights * model.weights[:, 0])))
        return np.concatenate(values)

    def _opposites(self, side: Ints) -> tuple[Ints, Ints]:
        """Of the units of ``side``: originals and the edited version of each; right candidates and each wrong one."""
        if not self.choice:
            originals = side[np.isin(self.edited[side], side)]
            return originals, self.edited[originals]
        right, wrong = side[self.y[side] == 1], side[self.y[side] == 0]
        right_of_row = np.full(len(self.ids), -1)
        right_of_row[self.row[right]] = right
        wrong = wrong[right_of_row[self.row[wrong]] >= 0]
        return right_of_row[self.row[wrong]], wrong

    def label_score(self, predicted: Ints, confidence: Floats) -> Score:
        """The score of labels predicted for the measured units."""
        truth = self.y[self.measured]
        score = self._score((predicted == truth).astype(np.float64), confidence)
        return replace(score, truth=truth, predicted=np.asarray(predicted))

    def choice_score(self, values: Floats) -> Score:
        """The score of taking the candidate with the highest value; ties are broken by a random guess.

        Args:
            values: of the measured units, shape (measured units,).
        """
        row = np.cumsum(np.diff(self.row[self.measured], prepend=-1) != 0) - 1
        right, n_rows = self.y[self.measured] == 1, int(row[-1]) + 1
        best = np.full(n_rows, -np.inf)
        np.maximum.at(best, row, values)
        top = values >= best[row] - TIE
        gold = np.bincount(row, weights=top & right, minlength=n_rows)
        mean = np.bincount(row, weights=values) / np.bincount(row)
        return self._score(gold / np.bincount(row, weights=top), best - mean)

    def chance_score(self, detail: str) -> Score:
        """The score of a solver that has no rule and guesses every row."""
        guesses = np.full(len(self.measured_rows), self.baseline)
        return replace(self._score(guesses, guesses), certain=True, detail=detail)

    def _score(self, correct: Floats, confidence: Floats) -> Score:
        return self.score_of(self.measured_rows, correct, confidence)

    def score_of(self, rows: Ints, correct: Floats, confidence: Floats) -> Score:
        """The score of answers for some rows, by their numbers."""
        clusterings = tuple(numbers[rows] for numbers in self.clusterings)
        return Score(correct, confidence, self.ids[rows], clusterings, cross_validated=len(self.folds) > 1)


def _join(answers: Iterable[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    probabilities, leaning = zip(*answers, strict=True)
    return np.vstack(probabilities), np.concatenate(leaning)


def problem_of(data: AuditInput, *, all_rows: bool = False) -> tuple[Problem | None, str]:
    """The problem that ``data`` poses, or None and the reason why no shortcut can be measured.

    Solvers learn from train and are measured on test where both have ``ENOUGH`` rows. Where one has fewer, they are
    cross-validated: each split is held out once while solvers learn from the others. The splits are the folds because
    no document, target or pair is in two of them, and because each is balanced by itself: folds that cut through a
    balanced split mirror each other, and what is learned from one is wrong on the other more often than by chance.
    Data in one split, or nearly so, are divided into five parts by a hash of their clusters, balanced by label, and
    each is held out once; of large data, one.

    Args:
        data: the rows.
        all_rows: whether they are cross-validated however many test has. Then no row is learned from whose group is
            measured, if groups are in several splits.
    """
    # `concat_str`, and not `format`, which makes text of null before polars 1.36
    cluster = pl.coalesce(
        pl.concat_str(pl.lit("group "), "group"), pl.concat_str(pl.lit("pair "), "pair_id"),
        pl.concat_str(pl.lit("row "), pl.int_range(pl.len())),
    )  # fmt: skip
    rows = data.rows.with_columns(_number=pl.int_range(pl.len()), _cluster=cluster)
    if data.split_by == "target":
        # Words that replace one another are targets of several pairs. Folds that put these pairs apart mirror each
        # other: a word is the original in one of them and the replacement in the other.
        links = rows.select(
            "_cluster", link=pl.concat_str(pl.lit("target "), pl.col("target").str.to_lowercase())
        ).drop_nulls()
        rows = _link_clusters(rows, links)
    elif rows["group"].is_null().all():
        # Rows whose windows overlap are right or wrong together: they share sentences that several clusters have, and
        # few. A window may be a list of sentences or one text.
        pieces = (
            pl.col("texts")
            .list.eval(ends_of(pl.element()))
            .list.join("\n")
            .str.replace_all(_SENTENCE_END, "$1\n")
            .str.split("\n")
        )
        texts = exploded(rows.select("_cluster", text=pieces), "text").unique()
        shared = texts.filter(pl.len().over("text").is_between(2, _OVERLAPPING))
        shared = shared.filter(n_words(pl.col("text")) >= LEAK_WORDS)
        rows = _link_clusters(rows, shared.select("_cluster", link=pl.concat_str(pl.lit("text "), "text")))
    rows = rows.with_columns(_sampled=pl.col("_number").first().over(pl.coalesce("pair_id", "id")))
    parts, trained_on, measured_on, note = _plan_folds(rows, data, all_rows=all_rows)
    if all_rows:
        parts = [(train.filter(~pl.col("_cluster").is_in(test["_cluster"].implode())), test) for train, test in parts]
    chosen = _within_budget(parts, rows["texts"], len(data.labels))
    used = _in_sampling_order(pl.concat([part for pair in chosen for part in pair]).unique("_number"))
    problem = _units(used, data)
    folds = []
    for pair in chosen:
        sides = (used["_number"].is_in(part["_number"].implode()).to_numpy()[problem.row] for part in pair)
        fold = Fold(*map(np.flatnonzero, sides))
        if len(np.unique(problem.y[fold.train])) > 1 and len(fold.test):
            folds.append(fold)
    if not folds:
        only = data.rows["label"].unique()
        one = not problem.choice and len(only) == 1
        why = f"all rows have the label {data.labels[only[0]]}" if one else "no two rows of two labels to learn from"
        return None, f"no shortcut was measured: {why}"
    problem = replace(problem, folds=tuple(folds), trained_on=trained_on, measured_on=measured_on)
    classes = np.unique(problem.y[problem.measured])
    if not problem.choice and len(classes) == 1:
        return None, f"no shortcut was measured: {measured_on} holds one class only ({data.labels[classes[0]]})"
    return problem, note


def _plan_folds(
    rows: pl.DataFrame, data: AuditInput, *, all_rows: bool
) -> tuple[list[tuple[pl.DataFrame, pl.DataFrame]], str, str, str]:
    """What solvers learn from and what they are measured on: per fold the rows of both, then in words, and a note."""
    names = list(data.splits)
    splits = [rows.filter(pl.col("split") == name) for name in names]
    if len(names) > 1 and min(splits[0].height, splits[-1].height) >= ENOUGH and not all_rows:
        note = "" if names[0] == "train" else f"there is no train: solvers learn from {names[0]}"
        return [(splits[0], splits[-1])], names[0], names[-1], note
    largest = (_LARGEST_OF_OTHERS if data.external else _LARGEST) * rows.height
    if len(names) > 1 and max(split.height for split in splits) <= largest:
        measured_on = " and ".join([", ".join(names[:-1]), names[-1]])
        return _hold_out_each(splits[::-1]), "the other splits", measured_on, ""
    # Five parts with whole clusters, and about equally many clusters of each label in every part.
    clusters = rows.group_by("_cluster", maintain_order=True).agg(pl.col("label").first())
    keys = [hashing.digest(name) for name in clusters["_cluster"]]
    clusters = clusters.with_columns(_hash=pl.Series(hashing.mix(keys, "audit", "part"), dtype=pl.UInt64))
    clusters = clusters.sort("label", "_hash").with_columns(_part=pl.int_range(pl.len()) % _PARTS)
    numbered = rows.join(clusters.select("_cluster", "_part"), on="_cluster", maintain_order="left")
    folds = _hold_out_each([numbered.filter(pl.col("_part") == part).drop("_part") for part in range(_PARTS)])
    where = names[0] if len(names) == 1 else "all splits"
    if folds[0][1].height >= _ENOUGH_OF_A_PART and not all_rows:
        note = f"solvers learn from four fifths of {where} and are measured on the rest"
        return folds[:1], where, where, note
    return folds, "the other parts", where, f"solvers are cross-validated in five parts of {where}"


def _hold_out_each(parts: list[pl.DataFrame]) -> list[tuple[pl.DataFrame, pl.DataFrame]]:
    """Each part held out once, after all others."""
    return [(pl.concat([*parts[:at], *parts[at + 1 :]]), part) for at, part in enumerate(parts)]


def _link_clusters(rows: pl.DataFrame, links: pl.DataFrame) -> pl.DataFrame:
    """The rows with one ``_cluster`` for all clusters that links connect: no ``link`` is in two clusters."""
    if links.is_empty():
        return rows
    names = pl.concat([links["_cluster"], links["link"]]).unique().sort()
    ends = [names.search_sorted(links[side]).to_numpy() for side in links.columns]
    shape = (len(names), len(names))
    _, linked = csgraph.connected_components(sparse.coo_matrix((np.ones(links.height), ends), shape), directed=False)
    first = np.unique(linked, return_index=True)[1]
    return rows.with_columns(pl.col("_cluster").replace(names, names[first[linked]]))


def _within_budget(
    folds: Sequence[tuple[pl.DataFrame, pl.DataFrame]], texts: pl.Series, n_labels: int
) -> list[tuple[pl.DataFrame, pl.DataFrame]]:
    """The folds with as many rows as the mean length of a row permits, chosen by hash.

    There are fewer rows to learn from where there are many labels, which all cost time.
    """
    sample = texts.head(_FEWEST).explode().str.len_chars().clip(upper_bound=LONGEST_READ).sum()
    mean = max(1.0, int(sample or 0) / max(1, min(_FEWEST, len(texts))))
    learned, measured = (
        min(MOST_ROWS, max(_FEWEST, int(characters / mean)))
        for characters in (_CHARACTERS_LEARNED / max(1.0, n_labels / 8), _CHARACTERS_MEASURED)
    )
    chosen = []
    for train, test in folds:
        used = _in_sampling_order(train).head(learned)
        most = measured if len(folds) == 1 else min(measured // len(folds), _HELD_OUT * used.height)
        chosen.append((used, _in_sampling_order(test).head(most)))
    return chosen


def _in_sampling_order(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows in hash order, so that any first n rows are a random sample; the rows of a pair stay together."""
    rows = rows.sort("_number")
    return rows[hashing.ranking(rows["_sampled"].to_numpy(), "audit", "draw")]


def _units(rows: pl.DataFrame, data: AuditInput) -> Problem:
    """What solvers see of rows, without folds; of a choice, one unit per candidate: its context and itself."""
    choice = data.shape is Shape.CHOICE
    pair = pl.coalesce(pl.concat_str(pl.lit("pair "), "pair_id"), pl.concat_str(pl.lit("row "), "_number"))
    numbered = rows.with_row_index("row")
    if choice:
        choices = pl.col("texts").list.slice(pl.col("n_context"))
        context = pl.col("texts").list.slice(0, pl.col("n_context"))
        numbered = numbered.with_columns(context=context, candidate=choices, number=pl.int_ranges(choices.list.len()))
        candidates = exploded(numbered, "candidate", "number")
        units = candidates.select(
            "row", "n_context", texts=pl.col("context").list.concat(pl.concat_list("candidate")),
            y=(pl.col("number") == pl.col("label")).cast(pl.Int64),
        )  # fmt: skip
        edited = np.full(units.height, -1)
    else:
        units, edited = numbered.rename({"label": "y"}), np.full(rows.height, -1)
        members = numbered.filter(pl.col("pair_id").is_not_null()).sort("label")
        pairs = members.group_by("pair_id").agg("row", original=pl.col("label") == 0)
        pairs = pairs.filter(pl.col("original") == [True, False])
        edited[pairs["row"].list.first().to_numpy()] = pairs["row"].list.last().to_numpy()
    return Problem(
        texts=units["texts"],
        n_context=units["n_context"].to_numpy().astype(np.int64),
        y=units["y"].to_numpy().astype(np.int64),
        row=units["row"].to_numpy().astype(np.int64),
        ids=rows["id"].to_numpy().astype(object),
        number=rows["_number"].to_numpy().astype(np.int64),
        row_labels=rows["label"].to_numpy().astype(np.int64),
        edited=edited,
        labels=("wrong", "right") if choice else data.labels,
        choice=choice,
        unspaced=mostly_unspaced(data.rows["texts"].head(_FEWEST).explode().str.head(LONGEST_READ)),
        clusterings=tuple(
            rows.select(by.rank("dense")).to_series().to_numpy().astype(np.int64) for by in (pair, pl.col("_cluster"))
        ),
    )


PARTS: Final = 20
"""Parts of the groups that are left out one after the other to estimate the variance (jackknife)."""


def macro_f1(score: Score, problem: Problem) -> Figure | None:
    """The macro-F1 of a solver, without threshold; None for one that predicts no labels."""
    if score.truth is None or score.predicted is None:
        return None
    truth, predicted, n_labels = score.truth, score.predicted, len(problem.labels)

    def value(rows: np.typing.NDArray[np.bool_]) -> float:
        return float(f1_score(truth[rows], predicted[rows], labels=range(n_labels), average="macro", zero_division=0))

    _, group = np.unique(score.clusterings[-1], return_inverse=True)
    parts = group % min(PARTS, int(group.max()) + 1)
    left_out = np.array([value(parts != part) for part in range(int(parts.max()) + 1)])
    n = len(left_out)
    spread = float(np.sqrt((n - 1) / n * ((left_out - left_out.mean()) ** 2).sum())) if n > 1 else 1.0
    share = float(np.bincount(truth).max() / len(truth))
    macro, half = value(np.ones(len(truth), bool)), critical_value(score.tries) * spread
    baseline = max(2 * share / (1 + share), 1.0) / n_labels
    interval = round(max(0.0, macro - half), DIGITS), round(min(1.0, macro + half), DIGITS)
    return Figure("macro-F1", round(macro, DIGITS), round(baseline, DIGITS), None, interval)
