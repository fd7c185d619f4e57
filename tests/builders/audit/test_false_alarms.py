"""Data whose labels say nothing about the texts: at most 5 % of such datasets have an error-level finding."""

from __future__ import annotations

import random

import pytest
from audit_parts import errors_of
from scipy.stats import binom

from discoprobe.builders import Shape

_KINDS = (
    {},
    {"perturbation": True},
    {"k": 3},
    {"shape": Shape.PAIR, "texts": 2},
    {"shape": Shape.SEQUENCE, "texts": 5, "k": 5},
    {"shape": Shape.SEQUENCE, "texts": 6},
    {"shape": Shape.CANDIDATE, "texts": 5},
    {"shape": Shape.CHOICE, "texts": 4, "k": 4},
    {"shape": Shape.CHOICE, "texts": 2, "perturbation": True},
)


def _alarms(maker, seeds, most):
    """The checks that fail, per data set, sizes from 100 to ``most`` rows of a kind (even on a logarithmic scale)."""
    failed = []
    for seed in seeds:
        kind = _KINDS[seed % len(_KINDS)]
        size = round(100 * (most(kind) / 100) ** random.Random(seed).random())
        if errors := errors_of(maker(seed).data(size, **kind)):
            failed.append([finding.check for finding in errors])
    return failed


@pytest.mark.slow
def test_forty_small_data_sets(maker):
    """No more than a rate of 5 % gives in 95 of 100 cases; the test of two hundred measures the rate."""
    alarms = _alarms(maker, range(1000, 1040), most=lambda _: 600)
    assert len(alarms) <= binom.isf(0.05, 40, 0.05), alarms


@pytest.mark.slow
@pytest.mark.minutes
def test_two_hundred_data_sets_of_up_to_twenty_thousand_texts(maker):
    alarms = _alarms(maker, range(200), most=lambda kind: 20_000 / kind.get("texts", 1))
    assert len(alarms) <= 10, alarms
