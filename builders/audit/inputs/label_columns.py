"""Label columns of any type as indices into label names."""

from __future__ import annotations

import polars as pl

from discoprobe.builders.audit.frame import UnreadableDataError


def indexed(name: str, labels: pl.Series, *, first: str | None = None) -> tuple[tuple[str, ...], pl.Series]:
    """Label names in order (numbers by size), and each row's index among them; names that start with ``first`` lead.

    Raises:
        UnreadableDataError: a label is missing, or they are measurements and no classes.
    """
    if labels.null_count():
        raise UnreadableDataError(
            f"{name}: {labels.null_count()} of {len(labels)} rows have no label in column '{labels.name}'"
        )
    if labels.dtype.is_float() and not (labels == labels.round()).all():
        raise UnreadableDataError(
            f"{name}: column '{labels.name}' holds decimal numbers; a label is one of a few classes"
        )
    values = labels.cast(pl.Int64) if labels.dtype.is_float() or labels.dtype.is_integer() else labels.cast(pl.String)
    withheld = values.filter(values < 0) if values.dtype.is_integer() else values.clear()
    if len(withheld):
        raise UnreadableDataError(f"{name}: {len(withheld)} rows have label {withheld[0]}: their labels are withheld")
    names = values.cast(pl.String)
    known = sorted(names.unique().to_list(), key=lambda value: _rank(value, first))
    index = names.replace_strict(known, range(len(known)), return_dtype=pl.Int64)
    return tuple(known), index


def _rank(name: str, first: str | None) -> tuple[bool, int, str]:
    leads = first is not None and name.startswith(first)
    return not leads, int(name) if name.isdigit() else 0, name
