"""The classifiers of the solvers: logistic regression, a decision tree and a small random forest.

scikit-learn fits them without its checks, and they answer here: for the few hundred rows of most configs these checks
took most of the time. Most fits are regressions of two labels on a few dense features; Newton's method is here, since
a fit by scikit-learn, with the same result, takes six times as long.
"""

import warnings
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.special import expit
from sklearn import config_context
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Matrix: TypeAlias = "Floats | sparse.csr_array"

_ONE_BY_ONE = 40
"""Largest number of labels for one-vs-rest regressions (the closed label sets of tasks have up to 20); else softmax."""
_PASSES = 200
"""Most passes of coordinate descent over the units."""
_ITERATIONS = 60
"""Most iterations of L-BFGS; more of them change the third decimal of accuracies and cost minutes."""
_NEWTON_STEPS, _GRADIENT = 100, 1e-9
"""Most steps of Newton's method, and the largest gradient of the mean loss of a unit at which it ends."""
_CONSTANT = 1e-12
"""Standard deviation, relative to the mean, of features that are all equal but for rounding."""
_TREES = 20
_LEAF = 10
"""Smallest number of units in a leaf: trees with smaller leaves overfit."""
_DEPTH = 6


class Regression(msgspec.Struct, frozen=True):
    """A fitted logistic regression.

    Attributes:
        weights: shape (features, labels), or (features, 1) for two labels.
        intercept: shape (labels,), or (1,).
        mean: what is subtracted from dense features, shape (features,); None for sparse ones.
        scale: what they are then divided by, shape (features,).
        softmax: whether the labels were fitted together, not each against the others.
    """

    weights: Floats
    intercept: Floats
    mean: Floats | None = None
    scale: Floats | None = None
    softmax: bool = False

    def decision_function(self, features: Matrix) -> Floats:
        """Scores of the labels, shape (units, labels); for two labels of the second one, shape (units,)."""
        if self.mean is not None and self.scale is not None:
            features = (features - self.mean) / self.scale
        scores = np.asarray(features @ self.weights) + self.intercept
        return scores.ravel() if scores.shape[1] == 1 else scores

    def predict_proba(self, features: Matrix) -> Floats:
        """The probability of each label, shape (units, labels)."""
        scores = self.decision_function(features)
        if self.softmax:
            powers = np.exp(scores - scores.max(axis=1, keepdims=True))
            return np.asarray(powers / powers.sum(axis=1, keepdims=True))
        probabilities = np.asarray(expit(scores))
        if scores.ndim == 1:
            return np.column_stack([1 - probabilities, probabilities])
        return np.asarray(probabilities / probabilities.sum(axis=1, keepdims=True))


class DecisionTrees(msgspec.Struct, frozen=True):
    """One fitted decision tree, or several whose mean answers."""

    trees: Sequence[DecisionTreeClassifier]

    def predict_proba(self, features: Floats) -> Floats:
        """The probability of each label, shape (units, labels)."""
        read = features.astype(np.float32)
        answers = [tree.predict_proba(read, check_input=False) for tree in self.trees]
        return np.asarray(sum(answers) / len(answers))


Learner: TypeAlias = "Callable[[Any, Ints], Regression | DecisionTrees]"
"""A function of features, shape (units, features), and labels 0, 1 …, all of which occur: a fitted classifier."""


def regression(features: Matrix, y: Ints) -> Regression:
    """Logistic regression (C = 1); dense features are standardised."""
    n_labels = int(y.max()) + 1
    if not sparse.issparse(features):
        mean, scale = features.mean(axis=0), features.std(axis=0)
        scale = np.where(scale > _CONSTANT * np.maximum(1.0, np.abs(mean)), scale, 1.0)
        standardised = (features - mean) / scale
        if n_labels == 2:  # noqa: PLR2004
            weights, intercept = _newton(standardised, y)
            return Regression(weights[:, None], intercept, mean, scale)
        fitted = _fit(LogisticRegression(max_iter=_ITERATIONS), standardised, y)
        return Regression(fitted.coef_.T, fitted.intercept_, mean, scale, softmax=True)
    if n_labels > _ONE_BY_ONE:
        fitted = _fit(LogisticRegression(max_iter=_ITERATIONS, tol=1e-5), features, y)
        return Regression(fitted.coef_.T, fitted.intercept_, softmax=True)
    # There are more features than units, so they are fitted in the dual: the optimum is that of the primal, the time is
    # a tenth.
    descent = {"solver": "liblinear", "dual": True, "max_iter": _PASSES, "tol": 1e-2, "random_state": 0}
    read = features.astype(np.float64)
    of_label = [
        _fit(LogisticRegression(**descent), read, (y == label).astype(np.int64))
        for label in (range(n_labels) if n_labels > 2 else [1])  # noqa: PLR2004
    ]
    weights = np.column_stack([fitted.coef_[0] for fitted in of_label])
    return Regression(weights, np.concatenate([fitted.intercept_ for fitted in of_label]))


def _newton(features: Floats, y: Ints) -> tuple[Floats, Floats]:
    """Weights, shape (features,), and intercept, shape (1,), of a logistic regression of two labels (C = 1).

    The loss is convex; a step that does not lower it is halved.
    """
    x = np.column_stack([features, np.ones(len(y))])
    penalty = np.append(np.ones(features.shape[1]), _CONSTANT)  # nearly none of the intercept
    sign = 1.0 - 2.0 * y

    def loss(weights: Floats, scores: Floats) -> float:
        return float(np.logaddexp(0.0, sign * scores).sum() + penalty @ weights**2 / 2)

    weights = np.zeros(x.shape[1])
    scores = np.zeros(len(y))
    reached = loss(weights, scores)
    for _ in range(_NEWTON_STEPS):
        share = expit(scores)
        gradient = x.T @ (share - y) + penalty * weights
        if np.abs(gradient).max() <= _GRADIENT * len(y):
            break
        hessian = (x.T * (share * (1 - share))) @ x + np.diag(penalty)
        step = np.linalg.solve(hessian, gradient)
        while (found := loss(weights - step, x @ (weights - step))) > reached and np.abs(step).max() > _CONSTANT:
            step = step / 2
        weights, reached = weights - step, found
        scores = x @ weights
    return weights[:-1], weights[-1:]


def tree(features: Floats, y: Ints) -> DecisionTrees:
    """One shallow tree, which finds bins."""
    one = DecisionTreeClassifier(max_depth=_DEPTH, min_samples_leaf=_LEAF, random_state=0)
    return DecisionTrees([_fit(one, features.astype(np.float32), y, check_input=False)])


def forest(features: Floats, y: Ints) -> DecisionTrees:
    """A small random forest (Breiman 2001): each tree reads as many units as there are, drawn with replacement."""
    fitted = _fit(
        RandomForestClassifier(_TREES, min_samples_leaf=_LEAF, random_state=0), features.astype(np.float32), y
    )
    return DecisionTrees(fitted.estimators_)


def _fit(model: Any, features: Any, y: Ints | None = None, **options: Any) -> Any:
    """The model, fitted; neither the values of its parameters nor those of the features are checked."""
    with warnings.catch_warnings(), config_context(assume_finite=True, skip_parameter_validation=True):
        warnings.simplefilter("ignore", UserWarning)  # not converged; many labels of few rows
        return model.fit(features, y, **options)
