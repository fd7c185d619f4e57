"""Whether the order of rows tells the label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from discoprobe.builders.audit.measure import SKIPPED, Measure, examples
from discoprobe.builders.audit.stats import longest_run_limit, parity_limit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discoprobe.builders.audit.frame import AuditInput

Labels = npt.NDArray[np.int64]


def order(data: AuditInput) -> Measure:
    """The accuracy of row parity, or the longest run of one label where that is beyond chance; of the worst split.

    In a random order the parity of a row says nothing, and no label stands in a run longer than chance makes likely.
    """
    found = [measure for split in data.splits if (measure := _order_of(data, split)).value is not None]
    return max(found, key=_excess, default=SKIPPED)


def tells(splits: Sequence[Labels], n_labels: int) -> bool:
    """Whether the order of the rows of some split, given by their labels, is beyond what chance makes likely."""
    return any(found.beyond for labels in splits if (found := _ordered(labels, n_labels, len(splits))))


def _excess(measure: Measure) -> float:
    return (measure.value or 0.0) / (measure.limit or 1.0)


@dataclass(frozen=True, slots=True)
class _Ordered:
    """The accuracy of parity and the longest run of one label, each with what chance allows."""

    accuracy: float
    limit: float
    start: int
    length: int
    allowed: int

    @property
    def beyond(self) -> bool:
        """Whether one of them is more than chance allows."""
        return self.accuracy > self.limit or self.length > self.allowed


def _ordered(labels: Labels, n_labels: int, n_splits: int) -> _Ordered | None:
    """The order of a split; None for one class, which has none."""
    counts = np.bincount(labels, minlength=n_labels).tolist()
    if sum(count > 0 for count in counts) < 2:  # noqa: PLR2004  one class has no order
        return None
    limit = parity_limit(max(counts) / len(labels), len(labels), len(counts), n_splits)
    return _Ordered(_parity_accuracy(labels, len(counts)), limit, *_longest_run(labels), longest_run_limit(counts))


def _order_of(data: AuditInput, split: str) -> Measure:
    rows = data.split(split)
    found = _ordered(rows["label"].to_numpy(), len(data.labels), len(data.splits))
    if found is None:
        return SKIPPED
    ids = rows["id"].to_list()
    run = f"longest run of one label {found.length} (chance: up to {found.allowed})"
    detail = f"{split}: parity {found.accuracy:.3f}, {run}"
    if found.length > found.allowed:
        return Measure(found.length, examples(ids[found.start : found.start + found.length]), found.allowed, detail)
    return Measure(found.accuracy, examples(ids) if found.accuracy > found.limit else (), found.limit, detail)


def _parity_accuracy(labels: Labels, n_labels: int) -> float:
    """How often the most frequent label of even rows, and of odd rows, is right."""
    right = sum(np.bincount(half, minlength=n_labels).max() for half in (labels[::2], labels[1::2]))
    return float(right / len(labels))


def _longest_run(labels: Labels) -> tuple[int, int]:
    """Start and length of the longest run of one label."""
    starts = np.concatenate([[0], np.flatnonzero(np.diff(labels)) + 1])
    lengths = np.diff(np.concatenate([starts, [len(labels)]]))
    return int(starts[lengths.argmax()]), int(lengths.max())
