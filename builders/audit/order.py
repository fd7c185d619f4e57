"""Whether the order of rows tells the label."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from discoprobe.builders.audit.measure import SKIPPED, Measure, examples
from discoprobe.builders.audit.stats import longest_run_limit, parity_limit

if TYPE_CHECKING:
    from discoprobe.builders.audit.frame import AuditInput

Labels = npt.NDArray[np.int64]


def order(data: AuditInput) -> Measure:
    """The accuracy of row parity, or the longest run of one label where that is beyond chance; of the worst split.

    In a random order the parity of a row says nothing, and no label stands in a run longer than chance makes likely.
    """
    found = [measure for split in data.splits if (measure := _order_of(data, split)).value is not None]
    return max(found, key=_excess, default=SKIPPED)


def _excess(measure: Measure) -> float:
    return (measure.value or 0.0) / (measure.limit or 1.0)


def _order_of(data: AuditInput, split: str) -> Measure:
    rows = data.split(split)
    labels = rows["label"].to_numpy()
    counts = np.bincount(labels, minlength=len(data.labels)).tolist()
    if sum(count > 0 for count in counts) < 2:  # noqa: PLR2004  one class has no order
        return SKIPPED
    start, length = _longest_run(labels)
    allowed = longest_run_limit(counts)
    limit = parity_limit(max(counts) / len(labels), len(labels), len(counts), len(data.splits))
    accuracy = _parity_accuracy(labels, len(counts))
    ids = rows["id"].to_list()
    detail = f"{split}: parity {accuracy:.3f}, longest run of one label {length} (chance: up to {allowed})"
    if length > allowed:
        return Measure(length, examples(ids[start : start + length]), allowed, detail)
    return Measure(accuracy, examples(ids) if accuracy > limit else (), limit, detail)


def _parity_accuracy(labels: Labels, n_labels: int) -> float:
    """How often the most frequent label of even rows, and of odd rows, is right."""
    right = sum(np.bincount(half, minlength=n_labels).max() for half in (labels[::2], labels[1::2]))
    return float(right / len(labels))


def _longest_run(labels: Labels) -> tuple[int, int]:
    """Start and length of the longest run of one label."""
    starts = np.concatenate([[0], np.flatnonzero(np.diff(labels)) + 1])
    lengths = np.diff(np.concatenate([starts, [len(labels)]]))
    return int(starts[lengths.argmax()]), int(lengths.max())
