"""Small data, measured in turn: what a test split is too small to tell, all splits together may tell.

Solvers learn from train and are measured on test and validation, then learn from these and are measured on train. The
splits are the folds because documents, targets and pairs are never in two of them, and because their makers matched
each by itself: folds cut through one matched split are each other's mirror image, and a solver that learned from one is
wrong more often than by chance on the other.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final

import polars as pl

from discoprobe.builders.audit.frame import SCHEMA, AuditInput
from discoprobe.builders.audit.limits import Severity
from discoprobe.builders.audit.pool import tally, together
from discoprobe.builders.audit.problem import draw, halves
from discoprobe.builders.audit.report import Finding, Status, judged
from discoprobe.builders.audit.stats import wilson

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from discoprobe.builders.audit.report import Cross

ENOUGH: Final = 1000
"""Test rows from which on the test split tells by itself: the interval is no wider than ±.031."""
_MOST: Final = 4000
"""Rows of a half at most."""
_TIMES: Final = 3
"""Rows of train that are held out, at most, for each row to learn from: solvers that saw little find little."""
SURER: Final = 5
"""How many times rarer all rows may be beyond a limit by chance than test: .01 for .05."""
_SPLIT = SCHEMA["split"]


def turns(data: AuditInput) -> Iterator[tuple[AuditInput, bool]]:
    """What to measure beside test: learned from train, validation; learned from the others, train.

    Nothing where there is nothing else to learn from, or the test split is large enough.

    Yields:
        The rows as splits ``train`` and ``test``; and whether solvers that count n-grams are to learn again: from train
        they would for the few rows of validation.
    """
    names = data.splits
    if data.split(names[-1]).height >= ENOUGH:
        return
    first, *others = (data.split(name) for name in names)
    for between in others[:-1]:
        yield _as_splits(data, draw(first, _MOST), between), False
    one, other = (first, draw(pl.concat(others), _MOST)) if others else halves(first)
    yield _as_splits(data, other, draw(one, min(_MOST, _TIMES * other.height))), True


def _as_splits(data: AuditInput, train: pl.DataFrame, test: pl.DataFrame) -> AuditInput:
    rows = [part.with_columns(split=pl.lit(name, dtype=_SPLIT)) for name, part in (("train", train), ("test", test))]
    return dataclasses.replace(data, rows=pl.concat(rows))


def crossed(finding: Finding, turned: Sequence[Finding]) -> Finding:
    """The finding with what it and its turned counterparts found together.

    What is beyond a limit on test stays so. What test leaves open, all rows decide where they are enough to.
    """
    parts = [one for one in turned if one.measured is not None and one.independent]
    if not parts or not finding.independent:
        return finding
    found = together([tally(one) for one in (finding, *parts)])
    if found is None:
        return finding
    cross = dataclasses.replace(found, limit=None if finding.limit is None else found.limit)
    return dataclasses.replace(finding, cross=cross, status=_decided(finding, cross))


def _decided(finding: Finding, cross: Cross) -> Status:
    if cross.limit is None or finding.severity is Severity.NOTE or finding.status is Status.FAILED:
        return finding.status
    over_all = judged(cross.accuracy, cross.interval, cross.limit)
    if over_all is Status.FAILED:
        return Status.FAILED if _surely_beyond(cross, cross.limit) else Status.UNDECIDED
    return finding.status if over_all is Status.UNDECIDED else over_all


def _surely_beyond(cross: Cross, limit: float) -> bool:
    """Whether the 99 % interval is beyond the limit: whoever looks twice finds by chance what is not there."""
    return wilson(cross.accuracy * cross.independent, cross.independent, SURER * max(1, len(cross.tried))).low > limit
