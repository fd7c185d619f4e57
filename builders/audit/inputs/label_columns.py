"""Label columns of any type as indices into label names."""

import re
from itertools import pairwise
from typing import NamedTuple

import polars as pl

BINS = 5
"""Classes that scores are binned into."""
_MANY = 20
"""Different values from which on decimal numbers are scores."""


class Labels(NamedTuple):
    """Label names in order, each row's index among them, and a remark for people."""

    names: tuple[str, ...]
    of_rows: pl.Series
    note: str = ""


def indexed(labels: pl.Series, *, first: str | None = None) -> Labels:
    """Label names in order (numbers by size); names that start with ``first`` lead.

    Decimal numbers of many values are scores: they are divided into ``BINS`` classes of about equal size.
    """
    if labels.dtype.is_float() and not (labels == labels.round()).all():
        if labels.n_unique() > _MANY:
            return binned(labels)
        values = labels
    else:
        numeric = labels.dtype.is_float() or labels.dtype.is_integer()
        values = labels.cast(pl.Int64) if numeric else labels
    names = values.cast(pl.String)
    known = sorted(names.unique().to_list(), key=lambda value: _rank(value, first))
    index = names.replace_strict(known, range(len(known)), return_dtype=pl.Int64)
    return Labels(tuple(known), index)


def binned(scores: pl.Series) -> Labels:
    """Scores as classes of about equal size, named by their bounds (``[2.4, 3.2)``)."""
    cuts = {float(scores.quantile(place / BINS, "higher") or 0) for place in range(1, BINS)}
    bounds = sorted(cuts - {float(scores.min() or 0)})  # type: ignore[arg-type]
    index = pl.Series([sum(score >= bound for bound in bounds) for score in scores.to_list()], dtype=pl.Int64)
    ends = [float(scores.min() or 0), *bounds, float(scores.max() or 0)]  # type: ignore[arg-type]
    names = tuple(
        f"[{low:.3g}, {high:.3g}{']' if place == len(bounds) else ')'}"
        for place, (low, high) in enumerate(pairwise(ends))
    )
    return Labels(names, index, f"'{scores.name}' holds scores: {len(names)} classes with like numbers of rows")


def suspicion(labels: pl.Series, *, called_label: bool = False) -> str:
    """What the values look like if they are not labels (a header, ids, language codes); empty if they may be labels.

    If the column is called a label (``called_label``), ``no`` and ``si`` are labels, not language codes.
    """
    if labels.dtype.is_nested():
        return f"'{labels.name}' holds lists: a row needs one label"
    if labels.dtype != pl.String:
        return ""
    values = labels.drop_nulls()
    distinct = sorted(values.unique().to_list())
    header = [value for value in distinct if value.strip().lower() in {labels.name.lower(), "label", "gold_label"}]
    looks = {
        "a header": bool(header) and (values == header[0]).sum() == 1,
        "language codes": not called_label and bool(distinct) and all(map(_is_language, distinct)),
        "ids": len(distinct) > max(_MANY, len(values) // 2)
        or (len(distinct) > 1 and all(re.fullmatch(r"[A-Za-z]{1,6}[-_]?\d{2,}", value) for value in distinct)),
    }
    what = next((what for what, is_so in looks.items() if is_so), "")
    return f"the values of '{labels.name}' look like {what} ({', '.join((header or distinct)[:3])})" if what else ""


def _is_language(value: str) -> bool:
    """Whether a value is an ISO 639-1 code, ``jp``, which people write for Japanese, or one such as ``spa_Latn``."""
    import langcodes  # noqa: PLC0415 (half a megabyte of tables)

    short = re.fullmatch(r"[A-Za-z]{2}", value) and (value.lower() == "jp" or langcodes.tag_is_valid(value))
    return bool(short) or re.fullmatch(r"[a-z]{3}_[A-Z][a-z]{3}", value) is not None


def _rank(name: str, first: str | None) -> tuple[bool, float, str]:
    leads = first is not None and name.startswith(first)
    number = float(name) if re.fullmatch(r"[-+]?\d+(?:\.\d+)?", name) else 0.0
    return not leads, number, name
