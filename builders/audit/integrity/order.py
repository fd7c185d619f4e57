"""Whether the order of the rows tells the label."""

import numpy as np
import numpy.typing as npt

from discoprobe.builders.audit.frame import AuditInput
from discoprobe.builders.audit.integrity.measure import SKIPPED, Measure, examples
from discoprobe.builders.audit.intervals import longest_run_threshold, parity_threshold

Labels = npt.NDArray[np.int64]


def order(data: AuditInput) -> Measure:
    """The accuracy of row parity, or the longest run of one label where no random order has it; of the worst split."""
    measures = [measure for split in data.splits if (measure := _order_of(data, split)).value is not None]
    return max(measures, key=_excess, default=SKIPPED)


def _excess(measure: Measure) -> float:
    return (measure.value or 0.0) / (measure.threshold or 1.0)


def _order_of(data: AuditInput, split: str) -> Measure:
    rows = data.split(split)
    labels, ids = rows["label"].to_numpy(), rows["id"].to_list()
    counts = np.bincount(labels, minlength=len(data.labels)).tolist()
    if sum(count > 0 for count in counts) < 2:  # noqa: PLR2004  one class has no order
        return SKIPPED
    accuracy, (start, length) = _parity_accuracy(labels, len(counts)), _longest_run(labels)
    threshold = parity_threshold(max(counts) / len(labels), len(labels), len(counts))
    longest = longest_run_threshold(counts)
    detail = f"{split}: parity {accuracy:.3f}, longest run of one label {length} (by chance up to {longest})"
    if length > longest:
        return Measure(length, examples(ids[start : start + length]), longest, detail)
    return Measure(accuracy, examples(ids) if accuracy > threshold else (), threshold, detail)


def _parity_accuracy(labels: Labels, n_labels: int) -> float:
    """How often the most frequent label of even rows, and of odd rows, is right."""
    right = sum(np.bincount(half, minlength=n_labels).max() for half in (labels[::2], labels[1::2]))
    return float(right / len(labels))


def _longest_run(labels: Labels) -> tuple[int, int]:
    """Start and length of the longest run of one label."""
    starts = np.concatenate([[0], np.flatnonzero(np.diff(labels)) + 1])
    lengths = np.diff(np.concatenate([starts, [len(labels)]]))
    return int(starts[lengths.argmax()]), int(lengths.max())
