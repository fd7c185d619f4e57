"""The classifiers of the solvers, which fit and answer without the checks of scikit-learn, beside its own."""

import random

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from discoprobe.builders.audit.solvers import classifiers

SIZES = [(60, 5), (300, 40), (120, 200)]
"""Units and features."""


def made_up(n, n_features, n_labels):
    """Features, one of them constant and one of whole numbers, and labels that some of them tell."""
    number = random.Random(f"{n} {n_features} {n_labels}")
    features = np.array([[number.gauss(0, 1 + column) for column in range(n_features)] for _ in range(n)])
    features[:, 0], features[:, 1] = 3.0, features[:, 1].round()
    order = (features[:, 2] + features[:, 3] / 2).argsort().argsort()
    return features, order * n_labels // n


def counts(features):
    return sparse.csr_array(np.maximum(0, features.round()).astype(np.float32))


@pytest.mark.parametrize("n_labels", [2, 3, 6])
@pytest.mark.parametrize(("n", "n_features"), SIZES)
def test_dense_regression_is_that_of_standardised_features(n, n_features, n_labels):
    features, y = made_up(n, n_features, n_labels)
    descent = {"solver": "newton-cholesky", "tol": 1e-12} if n_labels == 2 else {"max_iter": 60}
    expected = make_pipeline(StandardScaler(), LogisticRegression(**descent)).fit(features, y)
    fitted = classifiers.regression(features, y)
    np.testing.assert_allclose(fitted.predict_proba(features), expected.predict_proba(features), atol=1e-8)
    np.testing.assert_allclose(fitted.decision_function(features), expected.decision_function(features), atol=1e-6)


def test_a_step_that_is_too_long_is_halved():
    """Newton's method alone leaves the minimum ever farther behind, where scores are large at once."""
    features = np.array([[1e4, 1.0]] + [[1.0, 0.0], [-1.0, 0.1]] * 20)
    y = np.array([0] + [1, 0] * 20)
    expected = make_pipeline(StandardScaler(), LogisticRegression(solver="newton-cholesky", tol=1e-12)).fit(features, y)
    found = classifiers.regression(features, y).predict_proba(features)
    np.testing.assert_allclose(found, expected.predict_proba(features), atol=1e-9)


def test_regression_of_labels_that_one_large_feature_tells():
    """Some scores are so large that their odds cannot be squared."""
    features = np.array([[-1e9], [-1.0], *[[0.0]] * 400, [1.0], [1e9]])
    fitted = classifiers.regression(features, np.array([0] * 202 + [1] * 202))
    assert fitted.predict_proba(features * 1e6)[[0, -1]].argmax(axis=1).tolist() == [0, 1]


@pytest.mark.parametrize("n_labels", [2, 3, 45])
@pytest.mark.parametrize(("n", "n_features"), SIZES)
def test_sparse_regression_is_one_against_the_rest_or_softmax(n, n_features, n_labels):
    features, y = made_up(n, n_features, n_labels)
    dual = LogisticRegression(solver="liblinear", dual=True, max_iter=200, tol=1e-2, random_state=0)
    expected = {2: dual, 3: OneVsRestClassifier(dual), 45: LogisticRegression(max_iter=60, tol=1e-5)}[n_labels]
    fitted, expected = classifiers.regression(counts(features), y), classifiers._fit(expected, counts(features), y)
    asked = counts(-features)
    np.testing.assert_allclose(fitted.predict_proba(asked), expected.predict_proba(asked), atol=1e-9)


@pytest.mark.parametrize("n_labels", [2, 5])
@pytest.mark.parametrize(("n", "n_features"), SIZES)
def test_trees_are_those_of_scikit_learn(n, n_features, n_labels):
    features, y = made_up(n, n_features, n_labels)
    tree = DecisionTreeClassifier(max_depth=6, min_samples_leaf=10, random_state=0).fit(features, y)
    forest = RandomForestClassifier(20, min_samples_leaf=10, random_state=0).fit(features, y)
    for fitted, expected in ((classifiers.tree(features, y), tree), (classifiers.forest(features, y), forest)):
        np.testing.assert_allclose(fitted.predict_proba(features), expected.predict_proba(features), atol=1e-9)
