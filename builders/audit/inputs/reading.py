"""How data are to be read, and what could not be."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from discoprobe.builders.audit.frame import AuditInput, Provenance

NAMES = {
    "train": "train",
    "training": "train",
    "tr": "train",
    "validation": "validation",
    "valid": "validation",
    "val": "validation",
    "va": "validation",
    "dev": "validation",
    "development": "validation",
    "trial": "validation",
    "test": "test",
    "te": "test",
    "eval": "test",
}
"""What people call a split → what it is."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What the user says about data; what is empty is detected.

    Attributes:
        format_name: one of ``inputs.FORMATS``.
        text: columns that hold the text, in order; for choices the context.
        choices: columns that hold the choices, or one column with lists of them.
        label: column that holds the label; for choices the place or the text of the right one.
        pair: column with the same value in all rows of a pair.
        split_column: column that names the split of each row.
        split_names: name of a file, of a Hub split or in ``split_column`` → ``train``, ``validation`` or ``test``.
        exclude: labels whose rows are left out.
        config: configuration of a dataset of the Hub.
    """

    format_name: str | None = None
    text: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    label: str | None = None
    pair: str | None = None
    split_column: str | None = None
    split_names: Mapping[str, str] = field(default_factory=dict)
    exclude: tuple[str, ...] = ()
    config: str | None = None

    @property
    def names_columns(self) -> bool:
        """Whether the user named columns of text, choices or labels."""
        return bool(self.text or self.choices or self.label)


class Skipped(NamedTuple):
    """What was not read.

    Attributes:
        name: the dataset, or the split of it.
        reason: why.
        unlabelled: whether it is a split without labels, which is no fault of the data.
    """

    name: str
    reason: str
    unlabelled: bool = False


class Read(NamedTuple):
    """The datasets that were read, and what was skipped."""

    data: tuple[AuditInput, ...]
    skipped: tuple[Skipped, ...]


Result = tuple[AuditInput, tuple[Skipped, ...]]
"""A dataset, and what was skipped of it."""


def described(data: AuditInput, **about: object) -> AuditInput:
    """``data`` with some fields of its description changed."""
    return replace(data, read=replace(data.read or Provenance(""), **about))  # type: ignore[arg-type]
