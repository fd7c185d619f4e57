"""The classifiers of the solvers: logistic regression and trees.

They are fitted without the wrappers of scikit-learn (pipelines, one-vs-rest, forests), whose copies and checks of the
same features took two thirds of the time of a config of a few hundred rows.
"""

import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.special import expit
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm._base import _fit_liblinear
from sklearn.tree import DecisionTreeClassifier

from discoprobe.loaders import hashing

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Matrix: TypeAlias = "Floats | sparse.csr_array"

_ONE_BY_ONE = 40
"""Largest number of labels for one-vs-rest regressions (the closed label sets of tasks have up to 20); else softmax."""
_PASSES = 200
"""Most passes of coordinate descent over the units."""
_ITERATIONS = 60
"""Most iterations of L-BFGS; more of them change the third decimal of accuracies and cost minutes."""
_STEPS, _CLOSE = 30, 1e-4
"""Steps of Newton's method at most, and the largest change of a weight that ends it."""
_TREES = 20
_LEAF = 10
"""Smallest number of units in a leaf: trees with smaller leaves overfit."""
_DEPTH = 6


class Linear(NamedTuple):
    """Logistic regression: one-vs-rest, with a single regression for two labels, or softmax.

    Attributes:
        mean, scale: of the dense features that were learned from, shape (features,); zeros and ones for sparse ones.
        weights: shape (regressions, features).
        bias: shape (regressions,).
        softmax: whether the labels were learned all at once.
    """

    mean: Floats
    scale: Floats
    weights: Floats
    bias: Floats
    softmax: bool = False

    def decision(self, features: Matrix) -> Floats:
        """The logit of each label (for two labels, of the second only), shape (units, regressions)."""
        if sparse.issparse(features):
            return np.asarray(features @ self.weights.T) + self.bias
        return np.asarray((features - self.mean) / self.scale @ self.weights.T + self.bias)

    def probabilities(self, features: Matrix) -> Floats:
        """The probability of each label, shape (units, labels)."""
        values = self.decision(features)
        if len(self.bias) == 1:
            right = expit(values)
            return np.hstack([1 - right, right])
        odds = np.exp(values - values.max(axis=1, keepdims=True)) if self.softmax else expit(values)
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))


class TreeEnsemble(NamedTuple):
    """Decision trees whose probabilities are averaged."""

    members: Sequence[Any]

    def probabilities(self, features: Floats) -> Floats:
        """The probability of each label, shape (units, labels)."""
        narrow = features.astype(np.float32)
        return np.asarray(np.mean([member.tree_.predict(narrow) for member in self.members], axis=0))


def regression(features: Matrix, y: Ints) -> Linear:
    """Logistic regression (C = 1) on labels 0, 1 …, all of which occur; dense features are standardised."""
    n_labels = int(y.max()) + 1
    mean, scale, standard = np.zeros(0), np.ones(0), features
    if not isinstance(features, sparse.csr_array):
        deviation = features.std(axis=0)
        constant = deviation <= 1e-12 * np.abs(features).max(axis=0, initial=1.0)
        mean, scale = features.mean(axis=0), np.where(constant, 1.0, deviation)
        standard = (features - mean) / scale
    if n_labels > _ONE_BY_ONE:
        model = _fit(LogisticRegression(max_iter=_ITERATIONS, tol=1e-5), standard, y)
        return Linear(mean, scale, model.coef_, model.intercept_, softmax=True)
    targets = [y == label for label in (range(n_labels) if n_labels > 2 else [1])]  # noqa: PLR2004
    if isinstance(features, sparse.csr_array):
        # Converted to 64 bits once and not for each label, without a copy of the indices. There are more features than
        # units, so they are fitted in the dual: the optimum is that of the primal, the time is a tenth.
        wide = (features.data.astype(np.float64), features.indices, features.indptr)
        features = sparse.csr_array(wide, features.shape)
        weights, bias = zip(*(_descend(features, target) for target in targets), strict=True)
        return Linear(mean, scale, np.vstack(weights), np.hstack(bias))
    standard = np.hstack([standard, np.ones((len(features), 1))])
    solutions = np.vstack([_newton(standard, target.astype(np.float64)) for target in targets])
    return Linear(mean, scale, solutions[:, :-1], solutions[:, -1])


def _fit(model: Any, features: Any, y: Ints | npt.NDArray[np.bool_], **options: Any) -> Any:
    """The model, fitted without the checks and warnings of scikit-learn."""
    with warnings.catch_warnings(), config_context(assume_finite=True, skip_parameter_validation=True):
        warnings.simplefilter("ignore", UserWarning)  # not converged; many labels of few rows
        return model.fit(features, y, **options)


def _descend(features: sparse.csr_array, target: npt.NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Weights and bias that ``LogisticRegression`` finds by coordinate descent in the dual, without its checks."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        weights, bias, _ = _fit_liblinear(
            features, target, C=1.0, fit_intercept=True, intercept_scaling=1.0, class_weight=None, penalty="l2",
            dual=True, verbose=0, max_iter=_PASSES, tol=1e-2, random_state=0,
        )  # fmt: skip
    return weights, bias


def _newton(features: Floats, target: Floats) -> Floats:
    """The weights with the least logistic loss plus half of their squared length, by Newton's method.

    A step that does not lower the loss is halved.
    """
    signs = 2 * target - 1

    def loss(margins: Floats, weights: Floats) -> float:
        return float(np.logaddexp(0, -signs * margins).sum() + weights @ weights / 2)

    weights, margins = np.zeros(features.shape[1]), np.zeros(len(target))
    least = loss(margins, weights)
    for _ in range(_STEPS):
        shares = expit(margins)
        curvature = features.T @ (features * (shares * (1 - shares))[:, None])
        curvature[np.diag_indices_from(curvature)] += 1
        step = np.linalg.solve(curvature, weights + features.T @ (shares - target))
        while (loss_after := loss(features @ (weights - step), weights - step)) > least and np.abs(step).max() > _CLOSE:
            step /= 2
        weights, least = weights - step, loss_after
        margins = features @ weights
        if np.abs(step).max() <= _CLOSE:
            break
    return weights


def tree(features: Floats, y: Ints) -> TreeEnsemble:
    """One shallow tree, which finds bins."""
    member = DecisionTreeClassifier(max_depth=_DEPTH, min_samples_leaf=_LEAF, random_state=0)
    return TreeEnsemble([_fit(member, features.astype(np.float32), y, check_input=False)])


def forest(features: Floats, y: Ints) -> TreeEnsemble:
    """A small random forest (Breiman 2001): each tree learns from a bootstrap sample of the units."""
    narrow, n, trees = features.astype(np.float32), len(y), []
    for seed in range(_TREES):
        sample = (hashing.mix(np.arange(n), "tree", seed) % np.uint64(n)).astype(np.int64)
        times = np.bincount(sample, minlength=n).astype(np.float64)
        member = DecisionTreeClassifier(max_features="sqrt", min_samples_leaf=_LEAF, random_state=seed)
        trees.append(_fit(member, narrow, y, check_input=False, sample_weight=times))
    return TreeEnsemble(trees)


Learner: TypeAlias = "Callable[[Any, Ints], Linear | TreeEnsemble]"
