"""The classifiers of the solvers: logistic regression, a decision tree and a small random forest, of scikit-learn."""

import warnings
from collections.abc import Callable  # noqa: TC003 (in an alias)
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn import config_context
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Matrix: TypeAlias = "Floats | sparse.csr_array"
Learner: TypeAlias = "Callable[[Any, Ints], Any]"
"""A function of features, shape (units, features), and labels 0, 1 …, all of which occur: a fitted classifier."""

_ONE_BY_ONE = 40
"""Largest number of labels for one-vs-rest regressions (the closed label sets of tasks have up to 20); else softmax."""
_PASSES = 200
"""Most passes of coordinate descent over the units."""
_ITERATIONS = 60
"""Most iterations of L-BFGS; more of them change the third decimal of accuracies and cost minutes."""
_TREES = 20
_LEAF = 10
"""Smallest number of units in a leaf: trees with smaller leaves overfit."""
_DEPTH = 6


def regression(features: Matrix, y: Ints) -> Any:
    """Logistic regression (C = 1); dense features are standardised."""
    binary = y.max() == 1
    if not sparse.issparse(features):
        descent: dict[str, Any] = {"solver": "newton-cholesky"} if binary else {"max_iter": _ITERATIONS}
        return _fit(make_pipeline(StandardScaler(), LogisticRegression(**descent)), features, y)
    if y.max() >= _ONE_BY_ONE:
        return _fit(LogisticRegression(max_iter=_ITERATIONS, tol=1e-5), features, y)
    # There are more features than units, so they are fitted in the dual: the optimum is that of the primal, the time is
    # a tenth.
    descent = {"solver": "liblinear", "dual": True, "max_iter": _PASSES, "tol": 1e-2, "random_state": 0}
    one = LogisticRegression(**descent)
    return _fit(one if binary else OneVsRestClassifier(one), features, y)


def tree(features: Floats, y: Ints) -> Any:
    """One shallow tree, which finds bins."""
    return _fit(DecisionTreeClassifier(max_depth=_DEPTH, min_samples_leaf=_LEAF, random_state=0), features, y)


def forest(features: Floats, y: Ints) -> Any:
    """A small random forest (Breiman 2001)."""
    return _fit(RandomForestClassifier(_TREES, min_samples_leaf=_LEAF, random_state=0), features, y)


def _fit(model: Any, features: Any, y: Ints) -> Any:
    """The model, fitted; neither the values of its parameters nor those of the features are checked."""
    with warnings.catch_warnings(), config_context(assume_finite=True, skip_parameter_validation=True):
        warnings.simplefilter("ignore", UserWarning)  # not converged; many labels of few rows
        return model.fit(features, y)
