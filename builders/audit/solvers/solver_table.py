"""The solvers: what can be scored without knowing the language. Each is a function of the table ``SOLVERS``.

Word frequencies come first; then what solvers get (``Bench``), the solvers, and their table.
"""

import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from itertools import permutations

import msgspec
import numpy as np
import polars as pl
from msgspec.structs import replace

from discoprobe.builders.audit.frame import AuditInput, ends_of
from discoprobe.builders.audit.intervals import exact
from discoprobe.builders.audit.report import Baseline
from discoprobe.builders.audit.solvers.classifiers import Floats, forest, tree
from discoprobe.builders.audit.solvers.conditions import Conditions, surface_conditions, token_conditions
from discoprobe.builders.audit.solvers.features import PUNCTUATION, SLOTS, Features
from discoprobe.builders.audit.solvers.problem import SUREST, TIE, Fold, Problem, Score, best_of
from discoprobe.builders.audit.solvers.rules import best_rule, best_token
from discoprobe.builders.audit.solvers.trigrams import log_probabilities
from discoprobe.builders.audit.thresholds import LEAK_WORDS
from discoprobe.builders.config import Shape
from discoprobe.loaders.corpus import exploded
from discoprobe.loaders.words import n_words, normal, tokens

_PARTS = 5
"""Parts of the rows that solvers learn from: a text of one part is scored with the counts of the others."""
_PRIOR = 2.0
"""Weight of the mean frequency, in counts (Dirichlet prior; MacKay and Peto 1995)."""
_VALUES = 50
"""Most values of a column that are features of their own."""
_LONGEST_PERIOD = 100
"""Longest period of labels that is looked for, in rows."""
_ROWS_PER_PLACE = 10
"""Rows to learn from for each place of a period at least: with fewer, the period that is best is so by chance."""


def log_frequencies(features: Features, problem: Problem, fold: Fold) -> Floats:
    """Sum, mean and least of the log frequencies of the words of each unit, shape (units, 3).

    Words are counted in the originals that solvers learn from: rows of the first label, or right candidates. The counts
    of a unit are those of the other parts; of a unit that is in no part, those of all.

    Args:
        features: of all units.
        problem: whose units they are.
        fold: what is learned from; rows that share a cluster are never scored with each other's counts.
    """
    frame = features.tokens
    unit, token = (frame[name].to_numpy().astype(np.int64) for name in ("unit", "token"))
    part_of_unit = np.full(len(problem.y), -1)
    part_of_unit[fold.train] = problem.clusterings[-1][problem.row[fold.train]] % _PARTS
    part = part_of_unit[unit]
    counted = ((part_of_unit >= 0) & (problem.y == int(problem.choice)))[unit]
    n_kinds = len(features.vocabulary)
    counts, n_counted = np.bincount(token[counted], minlength=n_kinds)[token], np.full(len(token), counted.sum())
    for number in range(_PARTS):
        inside = part == number
        counts[inside] -= np.bincount(token[inside & counted], minlength=n_kinds)[token[inside]]
        n_counted[inside] -= (inside & counted).sum()
    logs = np.log((counts + _PRIOR / (1 + len(np.unique(token)))) / (n_counted + _PRIOR))
    n_words = np.bincount(unit, minlength=len(problem.y))
    sums = np.bincount(unit, weights=logs, minlength=len(problem.y))
    least = np.zeros(len(problem.y))
    np.minimum.at(least, unit, logs)
    return np.column_stack([sums, sums / np.maximum(1, n_words), least])


DOUBTFUL = "doubtful-labels"
"""What the rows with a doubtful label are called where rows of a check are asked for."""
_EDITED = frozenset({Shape.SENTENCE, Shape.CHOICE})
"""Shapes of perturbed texts."""
_ROWS_AT_ONCE = 10_000
"""Rows whose texts are in memory a second time."""


class Bench(msgspec.Struct, frozen=True, dict=True):
    """What solvers get: the data, the problem they pose, and the features and scores that solvers share."""

    data: AuditInput
    problem: Problem

    @cached_property
    def features(self) -> Features:
        """The features of the units of the problem."""
        return Features(self.problem)

    @cached_property
    def token_conditions(self) -> Conditions:
        """Which tokens each unit has, and where."""
        return token_conditions(self.problem, self.features)

    @cached_property
    def keyed(self) -> pl.DataFrame:
        """The texts of all units: ``unit``, ``slot``, ``key``, which ignores case and white space, and ``is_long``."""
        text, slotted = pl.col("text"), self.features.slotted
        keys = self.features.distinct.select(key=normal(text).hash(), is_long=n_words(text) >= LEAK_WORDS)
        return slotted.select("unit", "slot").hstack(keys[slotted["number"]])

    @cached_property
    def asked(self) -> pl.DataFrame:
        """Of ``keyed`` the texts of some length that solvers are asked about: of a unit with context, the candidate."""
        context = pl.Series(self.problem.n_context)[self.keyed["unit"]] > 0
        return self.keyed.filter(~context | (pl.col("slot") == 0), "is_long")

    @cached_property
    def chars(self) -> Score:
        """The score of character n-grams, one block per text; of choices, of the candidate."""
        return self.problem.learn(self.features.chars(self.features.read_slots))

    @cached_property
    def word_answers(self) -> tuple[Floats, Floats]:
        """What words and word bigrams of the same texts say (``Problem.answer``)."""
        return self.problem.answer(self.features.words(self.features.read_slots))

    @cached_property
    def words(self) -> Score:
        """The score of these answers."""
        return self.problem.score_answers(*self.word_answers)

    @cached_property
    def doubtful_rows(self) -> list[tuple[int, int]]:
        """Rows of others whose words are those of another label (`Problem.doubtful_labels`).

        Where discoprobe made the labels, they follow from the treebank.
        """
        known = self.problem.choice or not self.data.external
        return [] if known else self.problem.doubtful_labels(self.word_answers[0])

    @property
    def doubtful_labels(self) -> str:
        """A remark on the surest of these rows; empty if there are none."""
        problem, rows = self.problem, self.doubtful_rows
        listed = "; ".join(
            f"{problem.ids[row]}: {problem.labels[problem.row_labels[row]]} or {problem.labels[other]}?"
            for row, other in rows[:SUREST]
        )
        more = f"; --rows {DOUBTFUL} has all" if len(rows) > SUREST else ""
        share = f"{len(rows):,} of {len(problem.measured):,} rows"
        return f"doubtful labels: {share} have the words of another label ({listed}{more})" if rows else ""


def length(bench: Bench) -> Score:
    """Logistic regression on counts of words, tokens and characters, and a decision tree, which finds bins."""
    counts = bench.features.length()
    linear = bench.problem.learn(counts)
    best = best_of({"logistic regression": linear, "decision tree": bench.problem.learn(counts, tree)})
    return replace(best, leaning=linear.leaning)  # a tree sees no difference inside a bin


def frequency(bench: Bench) -> Score | None:
    """How frequent the words of a text are in the originals; None where no text is edited, as in windows."""
    if not bench.data.perturbation or bench.data.shape not in _EDITED:
        return None
    return bench.problem.learn_by_fold(lambda fold: log_frequencies(bench.features, bench.problem, fold))


def trigrams(bench: Bench) -> Score | None:
    """The member of a pair that a trigram model of other text finds more probable; None without enough such text."""
    problem, texts = bench.problem, bench.data.other_texts
    if not bench.data.compared_with_others or not texts:
        return None
    read = problem.texts.gather(problem.measured).list.last()
    found = log_probabilities(texts, read, unspaced=problem.unspaced)
    score = _pair_score(problem, found[0]) if found else None
    return replace(score, detail=f"model of {found[1]:,} words", cross_validated=False) if found and score else None


def single(bench: Bench) -> Score | None:
    """The best solver that sees one input segment alone; for choices, the candidate without its context."""
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
    shared = features.shared_words
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
    """A small ensemble of trees on the similarities between the texts of a row, by characters and by words."""
    if bench.features.slots == 1:
        return None
    return bench.problem.learn(bench.features.similarity(), forest)


_PASSAGES = frozenset({Shape.SEQUENCE, Shape.CANDIDATE, Shape.CHOICE})
"""Shapes of several sentences of a text."""


def cosines(bench: Bench) -> Score | None:
    """The best rule on cosines that learns nothing: which member of a pair, or which choice, is more alike.

    Of a choice that is its largest or mean cosine with the sentences of the context (that with their centroid is
    proportional to the mean). Of a member of a pair it is the sum of the cosines of each two of its sentences, of the
    cosines of neighbours, or of the largest of each sentence; or the least mean cosine of a sentence with the others.
    """
    problem, features = bench.problem, bench.features
    paired = problem.choice or bool((problem.edited >= 0).any())
    if bench.data.shape not in _PASSAGES or features.slots == 1 or not paired:
        return None
    rules: dict[str, Floats] = {}
    for unit, grid in (("characters", features.cosines), ("words", features.word_cosines)):
        if problem.choice:
            values = {"sum of cosines": grid[:, 0].sum(axis=1), "nearest neighbour": grid[:, 0].max(axis=1)}
        else:
            there = np.arange(features.slots) < problem.texts.list.len().to_numpy()[:, None]
            values = {
                "sum of cosines": grid.sum(axis=(1, 2)),
                "sum of cosines of neighbours": np.trace(grid, offset=1, axis1=1, axis2=2),
                "nearest neighbours": grid.max(axis=2).sum(axis=1),
                "least typical sentence": np.where(there, grid.sum(axis=2), np.inf).min(axis=1),
            }
        rules |= {f"{name} over {unit}": of_units[problem.measured] for name, of_units in values.items()}
    score_of = problem.choice_score if problem.choice else functools.partial(_pair_score, problem)
    scores = {name: score for name, values in rules.items() if (score := score_of(values))}
    return replace(best_of(scores), leaning=None, cross_validated=False) if scores else None


def surface(bench: Bench) -> Score:
    """Logistic regression on how texts are written; the single measure that tells most is in ``detail``."""
    score = bench.problem.learn(bench.features.unequal(bench.features.surface))
    return replace(score, detail=best_rule(surface_conditions(bench.problem, bench.features), bench.problem))


def label_word(bench: Bench) -> Score | None:
    """The label whose own name occurs in the text, as word content has it: as written between blanks, or in any case.

    If several names occur, the label counts whose name is right most often in the rows learned from.
    """
    problem, text = bench.problem, pl.col("text")
    names = [name.strip() for name in problem.labels]
    if problem.choice or any(not name or name.isdecimal() for name in names):
        return None
    lowered = [name.lower() for name in names]
    naming = bench.features.slotted.filter(text.str.to_lowercase().str.contains_any(lowered))
    written = naming.select("unit", word=text.str.extract_all(r"\S+"))
    in_any_case = naming.select("unit", word=tokens(text.str.to_lowercase(), unspaced=problem.unspaced))
    ways = {"as written": (names, written), "in any case": (lowered, in_any_case)}
    scores = {way: score for way, of in ways.items() if (score := _score_of_names(problem, *of))}
    return best_of(scores) if scores else None


def _score_of_names(problem: Problem, names: Sequence[str], words: pl.DataFrame) -> Score | None:
    """The score of the labels whose names are among the words of a unit (``unit``, ``word``); None where none is.

    In each fold a unit gets the label that is right most often where it occurs; the commonest label where none does.
    """
    label_of = pl.DataFrame({"word": names, "label": range(len(names))})
    listed = exploded(words, "word")
    occurring = listed.join(label_of, on="word").select("unit", "label").unique().sort("unit", "label")
    unit, label = (occurring[column].to_numpy().astype(np.int64) for column in ("unit", "label"))
    if not len(unit):
        return None
    y, n_labels, answers = problem.y, len(problem.labels), []
    for fold in problem.folds:
        learned = np.isin(unit, fold.train)
        occurs = np.bincount(label[learned], minlength=n_labels)
        right = np.bincount(label[learned & (y[unit] == label)], minlength=n_labels)
        by_trust = np.argsort(((right + 1) / (occurs + 2))[label], kind="stable")
        answer = np.full(len(y), np.bincount(y[fold.train]).argmax())
        answer[unit[by_trust]] = label[by_trust]  # the most trusted is written last
        answers.append(answer[fold.test])
    return problem.label_score(np.concatenate(answers), np.isin(problem.measured, unit).astype(np.float64))


def metadata(bench: Bench) -> Score | None:
    """The best column that is neither text nor label, as a number or date, and as a category by value or beginning.

    A column whose values are other names of the labels is no shortcut but the label again, and is left out.
    """
    problem = bench.problem
    rows, split = bench.data.rows["metadata"], bench.data.rows["split"][problem.number]
    if problem.choice or rows.is_null().all():
        return None
    long = exploded(rows[problem.number].to_frame("column").with_row_index("unit"), "column")
    long = long.drop_nulls("column").unnest("column")
    scores: dict[str, Score] = {}
    for (name,), column in long.partition_by("name", as_dict=True, maintain_order=True).items():
        values = pl.Series([None], dtype=pl.String).extend_constant(None, len(problem.y) - 1)
        values = values.scatter(column["unit"], column["value"])
        names = pl.DataFrame({"value": values, "y": problem.y}).drop_nulls().unique()
        if values.n_unique() == 1 or names.height == names["value"].n_unique() == len(problem.labels):
            continue
        scores[str(name)] = problem.learn(_column_features(values, split), tree)
    return replace(best_of(scores), leaning=None) if scores else None  # no member of a pair is chosen by it


def _column_features(values: pl.Series, split: pl.Series) -> Floats:
    """What a tree reads of a column: rank (of numbers by size, else by alphabet), and frequent values and beginnings.

    Shape (units, features). Ranks are those among all values, and in the ``split``, where dates of splits differ.
    """
    numbers = values.cast(pl.Float64, strict=False)
    numeric = numbers.null_count() == values.null_count()
    ranks = pl.DataFrame({"value": numbers if numeric else values, "split": split}).select(
        pl.col("value").rank("dense"), in_split=pl.col("value").rank().over("split") / pl.len().over("split")
    )
    columns = [
        *ranks.cast(pl.Float64).fill_null(0).to_numpy().T,
        values.str.len_chars().fill_null(0).to_numpy().astype(np.float64),
    ]
    if numeric:
        columns += [np.mod(numbers.fill_null(0).fill_nan(0).to_numpy(), 2)]
    for of in (values, values.str.extract(r"^(\D+|\d)", 1)):
        frequent = of.drop_nulls().value_counts(sort=True).filter(pl.col("count") > 1)
        names = frequent.sort(["count", frequent.columns[0]], descending=[True, False])[:, 0].head(_VALUES)
        if names.is_empty():
            continue
        number = of.replace_strict(names, range(len(names)), default=None, return_dtype=pl.Int64).fill_null(-1)
        columns.append(np.eye(len(names) + 1)[number.to_numpy()][:, :-1])
    return np.column_stack(columns)


def cues(bench: Bench) -> Score | None:
    """The best of a decision tree on each of a row's ``cues`` and an ensemble of trees on all; None without cues."""
    column = bench.data.rows["cues"][bench.problem.number]
    if column.is_null().any():
        return None
    names = [cue["name"] for cue in column[0]]
    values = np.array([[cue["value"] for cue in of_row] for of_row in column.to_list()], dtype=np.float64)
    scores = {name: bench.problem.learn(values[:, [at]], tree) for at, name in enumerate(names)}
    return best_of(scores | {"all of them": bench.problem.learn(values, forest)})


def row_order(bench: Bench) -> Score | None:
    """The label by the number of the row in its split: a period, or a tree on how far down the split it is.

    In each fold the period is the one that is right most often in one half of what is learned from, learned from the
    other half.
    """
    problem = bench.problem
    if problem.choice:
        return None
    rows = bench.data.rows.select("place", share=pl.col("place") / pl.len().over("split"))[problem.number]
    place, share = rows["place"].to_numpy().astype(np.int64), rows["share"].to_numpy().reshape(-1, 1)

    def residues(fold: Fold) -> Floats:
        halves = fold.train[::2], fold.train[1::2]
        accuracies = []
        for period in range(2, max(2, min(_LONGEST_PERIOD, len(fold.train) // _ROWS_PER_PLACE)) + 1):
            counts = np.zeros((period, len(problem.labels)))
            np.add.at(counts, (place[halves[0]] % period, problem.y[halves[0]]), 1)
            accuracies.append(float((counts.argmax(axis=1)[place[halves[1]] % period] == problem.y[halves[1]]).mean()))
        period = 2 + int(np.argmax(accuracies))
        return np.asarray(np.eye(period)[place % period])

    best = best_of({"period": problem.learn_by_fold(residues), "place": problem.learn(share, tree)})
    return replace(best, leaning=None)  # no member of a pair is chosen by it


def position(bench: Bench) -> Score | None:
    """The place of the right choice among the candidates."""
    problem = bench.problem
    if not problem.choice:
        return None
    row = problem.row
    number = np.arange(len(row)) - np.searchsorted(row, row)
    return problem.learn(np.eye(int(number.max()) + 1)[number])


def seen(bench: Bench) -> Score:
    """The best rule that knows only whether a sentence of the row (the candidate) occurs in train.

    Where solvers are measured on test, all of train counts, not only the rows that solvers learn from.
    """
    problem, data = bench.problem, bench.data
    split = data.split(problem.trained_on) if problem.trained_on in data.splits else None
    occurring = []
    for fold in problem.folds:
        if split is not None and problem.trained_on != problem.measured_on:
            key = normal(ends_of(pl.col("texts").explode())).hash().alias("key")
            learned = pl.concat(part.select(key) for part in split.iter_slices(_ROWS_AT_ONCE))["key"]
        else:
            learned = bench.keyed.filter(pl.col("unit").is_in(fold.train.astype(np.uint32)))["key"]
        units = bench.asked.filter(pl.col("key").is_in(learned.unique().implode()))["unit"].to_numpy()
        occurring.append(np.isin(fold.test, units).astype(np.float64))
    occurs = np.concatenate(occurring)
    if not occurs.any():
        return problem.chance_score("no sentence that is measured on occurs in what solvers learn from")
    if problem.choice:
        solvers = {"seen in train": occurs, "not seen in train": -occurs}
        return best_of({name: problem.choice_score(values) for name, values in solvers.items()})
    pairs = permutations(range(len(problem.labels)), 2) if len(problem.labels) <= SLOTS else [(0, 1)]
    rules = {
        f"seen in train → {problem.labels[a]}": problem.label_score(np.where(occurs, a, b), occurs) for a, b in pairs
    }
    best = best_of(rules)
    return replace(best, detail=f"{occurs.mean():.1%} of rows: {best.detail}")


def by_differences(bench: Bench) -> Score | None:
    """The member of a pair, or the candidate, that character n-grams across blanks choose, learned from differences."""
    problem = bench.problem
    if not problem.choice and (problem.edited < 0).all():
        return None
    values = problem.values_by_differences(bench.features.differing_chars())
    if values is None:
        return None
    return problem.choice_score(values) if problem.choice else _pair_score(problem, values)


def compare_pairs(problem: Problem, scores: Mapping[str, Score]) -> dict[str, Score]:
    """How often each solver that sees both members of a pair gives the original the higher score for label 0.

    Args:
        problem: the rows that were scored; only pairs with two measured members count.
        scores: by name of the solver; scores without ``leaning`` (one value per unit) are not used.
    """
    leanings = {name: score.leaning for name, score in scores.items() if score.leaning is not None}
    return {name: score for name, lean in leanings.items() if (score := _pair_score(problem, lean))}


def _pair_score(problem: Problem, lean: Floats) -> Score | None:
    """The score of taking the member that leans more as the original; None where no pair was measured."""
    place = np.full(len(problem.y), -1)
    place[problem.measured] = np.arange(len(problem.measured))
    original = np.flatnonzero((place >= 0) & (problem.edited >= 0))
    original = original[place[problem.edited[original]] >= 0]
    if not len(original):
        return None
    margin = lean[place[original]] - lean[place[problem.edited[original]]]
    correct = np.where(np.abs(margin) < TIE, 0.5, margin > 0).astype(np.float64)
    return problem.score_of(problem.measured_rows[place[original]], correct, np.abs(margin))


SOLVERS: Mapping[str, Callable[[Bench], Score | None]] = {
    "length": length,
    "token": lambda bench: best_token(bench.problem, bench.token_conditions),
    "chars": lambda bench: bench.chars,
    "words": lambda bench: bench.words,
    "edges": lambda bench: bench.problem.learn(bench.features.edges()),
    "frequency": frequency,
    "overlap": overlap,
    "similarity": similarity,
    "cosines": cosines,
    "single": single,
    "seen": seen,
    "punctuation": lambda bench: bench.problem.learn(bench.features.counts(PUNCTUATION)),
    "case": lambda bench: bench.problem.learn(bench.features.capitals()),
    "surface": surface,
    "label-word": label_word,
    "metadata": metadata,
    "cues": cues,
    "row-order": row_order,
    "position": position,
    "differences": by_differences,
    "trigrams": trigrams,
}
"""Check id → solver; None where it does not apply. ``pairwise`` is computed from their scores."""


def solve(bench: Bench, compared: Collection[str]) -> dict[str, Score | None]:
    """The score of every solver, and of ``pairwise``: the best of those that ``compared`` names at telling pairs."""
    scores = {name: solver(bench) for name, solver in SOLVERS.items()}
    leaning = {name: score for name, score in scores.items() if score and name in compared}
    in_pairs = compare_pairs(bench.problem, leaning)
    return scores | {"pairwise": best_of(in_pairs) if in_pairs else None}


def solve_undecided(
    bench: Bench, first: Mapping[str, Score], in_pairs: Mapping[str, Score], most_in_pairs: float
) -> dict[str, Score]:
    """The scores, over all rows, of solvers that test left open; their intervals allow for two looks (Bonferroni).

    Args:
        bench: what solvers get, with all rows (``problem_of``).
        first: check → its score on test, of the checks that are open.
        in_pairs: what ``compare_pairs`` returned for test. For ``pairwise``, only solvers are fitted again that test
            leaves open; the others keep their accuracies.
        most_in_pairs: where the interval of ``pairwise`` ends at most if it is below.
    """
    intervals = {name: replace(score, tries=len(in_pairs)).interval for name, score in in_pairs.items()}
    compared = {name for name, (_, high) in intervals.items() if "pairwise" in first and high > most_in_pairs}
    fitted = {name: SOLVERS[name](bench) for name in SOLVERS if name in {*first, *compared}}
    again = compare_pairs(bench.problem, {name: score for name, score in fitted.items() if score and name in compared})
    scores = {name: score for name, score in fitted.items() if score and score.decides and name in first}
    if again:
        best = best_of(again)
        scores["pairwise"] = replace(best, tries=len(in_pairs), tried={**first["pairwise"].tried, **best.tried})
    return {name: replace(score, tries=2 * score.tries) for name, score in scores.items()}


def baselines(data: AuditInput, problem: Problem) -> tuple[Baseline, ...]:
    """What needs no solver: the most frequent label, a random label with the shares of train, any label.

    For a choice the labels are the places of the candidates.
    """
    rows = problem.measured_rows
    expected: dict[str, list[Floats]] = {"majority": [], "prior": []}
    for fold in problem.folds:
        learned, asked = (problem.row_labels[np.unique(problem.row[side])] for side in (fold.train, fold.test))
        shares = np.bincount(learned, minlength=len(data.labels)) / len(learned)
        expected["majority"].append((asked == shares.argmax()).astype(np.float64))
        expected["prior"].append(shares[asked])
    accuracies = {name: float(np.concatenate(parts).mean()) for name, parts in expected.items()}
    accuracies["random"] = problem.baseline if problem.choice else 1 / len(data.labels)
    n = len(rows)
    return tuple(Baseline(name, value, exact(value * n, n), n) for name, value in accuracies.items())
