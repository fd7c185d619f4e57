"""Tables with a label column and one or more text columns: parquet, JSON lines, CSV, and configs of a release."""

from __future__ import annotations

import dataclasses
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl
import pyarrow.parquet as pq

from discoprobe.builders.audit.frame import (
    SCHEMA,
    AuditInput,
    UnreadableDataError,
    conform,
    from_columns,
    with_used_labels,
)
from discoprobe.builders.audit.inputs.label_columns import indexed
from discoprobe.builders.audit.inputs.split_files import NAMES
from discoprobe.builders.config import Shape, schema
from discoprobe.builders.task import all_tasks, generated_tasks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from discoprobe.builders.audit.inputs.split_files import Group

_LABELS = ("label", "labels", "gold", "gold_label", "answer", "class", "category", "target", "y", "correct", "tag")
_TEXTS = (
    "text",
    "sentence",
    "content",
    "context",
    "premise",
    "question",
    "hypothesis",
    "sentences",
    "input",
    "paragraph",
)
_CHOICE = re.compile(r"(?i)^(?:choice|option|ending|answer|sol|candidate|alternative)_?([0-9]|[a-e])$")
_NUMBERED = re.compile(r"(?i)^(?:s|sent|text|arg|unit)[a-z]*_?[0-9]{1,2}$")


@dataclass(frozen=True, slots=True)
class Columns:
    """Columns that the user named; nothing for those to be guessed."""

    text: tuple[str, ...] = ()
    label: str | None = None

    @property
    def given(self) -> bool:
        """Whether the user named any."""
        return bool(self.text or self.label)


def read_table(group: Group, columns: Columns) -> AuditInput:
    """The rows of tables of one data set; of a config of a release with all that its columns say.

    Raises:
        UnreadableDataError: a split is empty, or the text or label columns are not there or cannot be guessed.
    """
    splits = group.tables()
    first = next(iter(splits.values()))
    shape = _own_shape(first)
    names = _class_names(group)
    if shape is not None and not columns.given:
        return _own(group.name, splits, shape, names)
    return _foreign(group.name, splits, columns, names)


def read_named_splits(
    name: str, splits: Mapping[str, pl.DataFrame], class_names: Mapping[str, tuple[str, ...]], columns: Columns
) -> AuditInput:
    """The rows of tables that others made, by the name of their split; other names than usual are left out."""
    known = {NAMES[split]: rows for split, rows in splits.items() if split in NAMES}
    if not known:
        raise UnreadableDataError(f"{name}: no split is called train, validation or test, only {', '.join(splits)}")
    return _foreign(name, known, columns, class_names)


def _own_shape(frame: pl.DataFrame) -> Shape | None:
    """The shape whose columns the table has."""
    return next((shape for shape in Shape if set(schema(shape).names) <= set(frame.columns)), None)


def _own(
    name: str, splits: Mapping[str, pl.DataFrame], shape: Shape, names: Mapping[str, tuple[str, ...]]
) -> AuditInput:
    rows = pl.concat(
        [
            from_columns(frame, shape).with_columns(split=pl.lit(split, dtype=SCHEMA["split"]))
            for split, frame in splits.items()
        ]
    )
    rows = conform(rows, shape)
    labels = names.get("label") or tuple(str(index) for index in range(_n_labels(rows, shape)))
    labels, rows = with_used_labels(labels, rows, shape)
    shown = AuditInput(
        name=name,
        shape=shape,
        labels=labels,
        rows=rows,
        perturbation=bool(rows["original"].is_not_null().any()),
        pairs=bool(rows["pair_id"].is_not_null().any()),
    )
    return _promised(shown)


def _promised(data: AuditInput) -> AuditInput:
    """A config with what the task of its name (``dc_es``: ``dc``) promises about its rows and is exempt from."""
    name = data.name.rsplit("/", 1)[-1].rsplit("_", 1)[0]
    task = (all_tasks() | generated_tasks()).get(name)
    if task is None:
        return data
    return dataclasses.replace(
        data,
        perturbation=task.pairs,
        pairs=task.pairs,
        split_by=task.split_by,
        exempt=dict(task.exempt),
    )


def _n_labels(rows: pl.DataFrame, shape: Shape) -> int:
    most = rows.select((pl.col("texts").list.len() - pl.col("n_context")).max()).item()
    return int(most) if shape is Shape.CHOICE else int(rows["label"].max()) + 1  # type: ignore[arg-type]


def _class_names(group: Group) -> dict[str, tuple[str, ...]]:
    """Label names that ``datasets`` wrote into the metadata of parquet files."""
    if group.suffix != ".parquet":
        return {}
    metadata = pq.read_schema(next(iter(group.files.values()))[0]).metadata or {}
    features = json.loads(metadata.get(b"huggingface", b"{}")).get("info", {}).get("features", {})
    return {
        name: tuple(of["names"])
        for name, of in features.items()
        if isinstance(of, dict) and of.get("_type") == "ClassLabel"
    }


@dataclass(frozen=True, slots=True)
class _Roles:
    """Which columns hold what."""

    label: str
    texts: tuple[str, ...]
    choices: tuple[str, ...]


def _foreign(
    name: str, splits: Mapping[str, pl.DataFrame], columns: Columns, names: Mapping[str, tuple[str, ...]]
) -> AuditInput:
    roles = _roles(name, next(iter(splits.values())), columns)
    frame = pl.concat([_rows(name, split, table, roles) for split, table in splits.items()], how="vertical_relaxed")
    shape = _shape_of(frame, roles)
    if shape is Shape.CHOICE:
        labels, index = (
            tuple(str(place) for place in range(len(roles.choices))),
            _places(name, frame["label"], len(roles.choices)),
        )
    elif roles.label in names and frame["label"].dtype.is_integer() and frame["label"].min() == 0:
        labels, index = names[roles.label], frame["label"]
    else:
        labels, index = indexed(name, frame["label"])
    rows = conform(frame.with_columns(index.alias("label")), shape)
    pairs = rows.select(pl.col("pair_id").drop_nulls().is_duplicated().any()).item()
    return AuditInput(name, shape, labels, rows, pairs=bool(pairs), natural=True, external=True)


def _roles(name: str, frame: pl.DataFrame, columns: Columns) -> _Roles:
    missing = [
        column for column in (*columns.text, *([columns.label] if columns.label else [])) if column not in frame.columns
    ]
    if missing:
        raise UnreadableDataError(f"{name}: no column '{missing[0]}'; there are {', '.join(frame.columns)}")
    label = columns.label or _guess_label(name, frame)
    choices = (
        () if columns.text else tuple(column for column in _strings(frame) if _CHOICE.match(column) and column != label)
    )
    choices = choices if len(choices) > 1 else ()
    texts = columns.text or _guess_texts(name, frame, {label, *choices}, needed=not choices)
    return _Roles(label, texts, choices)


def _strings(frame: pl.DataFrame) -> list[str]:
    """Columns of text, or of lists of texts."""
    return [name for name, dtype in frame.schema.items() if dtype in (pl.String, pl.List(pl.String))]


def _guess_label(name: str, frame: pl.DataFrame) -> str:
    called = [column for wanted in _LABELS for column in frame.columns if column.lower() == wanted]
    if called:
        return called[0]
    few = [column for column in frame.columns if _few_values(frame[column])]
    if len(few) != 1:
        among = f"among {', '.join(few or frame.columns)}"
        raise UnreadableDataError(f"{name}: cannot tell which column holds the label {among}; name it with --label")
    return few[0]


def _few_values(column: pl.Series) -> bool:
    """Whether a column has the few values of a label (at most one for five rows)."""
    if column.dtype.is_nested() or column.dtype.is_float():
        return False
    return 1 < column.n_unique() <= max(2, len(column) // 5)


def _guess_texts(name: str, frame: pl.DataFrame, others: set[str], *, needed: bool) -> tuple[str, ...]:
    strings = [column for column in _strings(frame) if column not in others]
    called = [column for column in strings if column.lower() in _TEXTS or _NUMBERED.match(column)]
    if called or not needed:
        return tuple(called)
    long = [column for column in strings if not _few_values(frame[column]) and "id" not in column.lower().split("_")]
    if len(long) != 1:
        among = f"among {', '.join(long or frame.columns)}"
        raise UnreadableDataError(f"{name}: cannot tell which columns hold the text {among}; name them with --text")
    return tuple(long)


def _rows(name: str, split: str, frame: pl.DataFrame, roles: _Roles) -> pl.DataFrame:
    lacking = [column for column in (roles.label, *roles.texts, *roles.choices) if column not in frame.columns]
    if lacking:
        raise UnreadableDataError(
            f"{name}: the {split} split has no column '{lacking[0]}', only {', '.join(frame.columns)}"
        )
    context = _texts(frame, roles.texts)
    pair_id = pl.col("pair_id").cast(pl.String) if "pair_id" in frame.columns else pl.lit(None, dtype=pl.String)
    n_context = context.list.len() if roles.choices else pl.lit(0, dtype=pl.UInt32)
    rows = frame.select(
        pl.lit(split, dtype=SCHEMA["split"]).alias("split"),
        _plain(frame, roles.label).alias("label"),
        pair_id.alias("pair_id"),
        texts=context.list.concat(_texts(frame, roles.choices)) if roles.choices else context,
        n_context=n_context,
    )
    blank = rows.filter(pl.col("texts").list.len() == 0).height
    if blank:
        raise UnreadableDataError(
            f"{name}: {blank} rows of {split} have no text in {', '.join((*roles.texts, *roles.choices))}"
        )
    return rows


def _texts(frame: pl.DataFrame, columns: tuple[str, ...]) -> pl.Expr:
    """The texts of columns, of which some may be lists, as one list without nulls."""
    if not columns:
        return pl.lit([], dtype=pl.List(pl.String))
    lists = [
        pl.col(name) if frame.schema[name] == pl.List(pl.String) else pl.concat_list(pl.col(name).cast(pl.String))
        for name in columns
    ]
    return pl.concat_list(lists).list.drop_nulls()


def _plain(frame: pl.DataFrame, label: str) -> pl.Expr:
    """The label column as whole or decimal numbers or strings."""
    return pl.col(label) if frame.schema[label].is_numeric() else pl.col(label).cast(pl.String)


def _shape_of(frame: pl.DataFrame, roles: _Roles) -> Shape:
    if roles.choices:
        return Shape.CHOICE
    longest = int(frame["texts"].list.len().max())  # type: ignore[arg-type]
    return {1: Shape.SENTENCE, 2: Shape.PAIR}.get(longest, Shape.SEQUENCE)


def _places(name: str, labels: pl.Series, n: int) -> pl.Series:
    """The index of the right choice from numbers that count from 0 or 1, or from letters."""
    values = (
        labels.cast(pl.String).str.to_uppercase().replace({chr(ord("A") + place): str(place) for place in range(n)})
    )
    places = values.cast(pl.Int64, strict=False)
    start = 1 if places.min() == 1 and places.max() == n else 0
    outside = places.is_null() | (places < start) | (places >= n + start)
    if outside.any():
        raise UnreadableDataError(f"{name}: label '{labels.filter(outside)[0]}' names none of the {n} choices")
    return places - start
