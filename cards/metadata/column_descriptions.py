"""The columns of a config in words (``columns.toml``)."""

import functools
import importlib.resources
import tomllib
from typing import NamedTuple

import pyarrow as pa

from discoprobe.builders.config import Shape, schema

LABEL = "label"
_SHOWN_LABELS = 6


class Field(NamedTuple):
    """A column: its name, its type as `datasets` names it, what it holds."""

    name: str
    type: str
    what: str


def fields(shape: Shape, labels: tuple[str, ...]) -> list[Field]:
    """The columns of every split of a config of this shape, in order."""
    what = _words()["all"] | _words().get(shape, {})
    return [
        Field(
            column.name,
            class_label(labels) if column.name == LABEL else type_name(column.type),
            what[column.name],
        )
        for column in schema(shape)
    ]


@functools.cache
def _words() -> dict[str, dict[str, str]]:
    """What columns hold: those of ``all`` rows, and by shape where that is special."""
    data = importlib.resources.files("discoprobe.cards.metadata").joinpath("columns.toml").read_bytes()
    return tomllib.loads(data.decode())


def class_label(labels: tuple[str, ...]) -> str:
    """``ClassLabel`` with its names in the order of their numbers, the first few of many."""
    more = f", … {len(labels)} in all" if len(labels) > _SHOWN_LABELS else ""
    return f"ClassLabel({', '.join(labels[:_SHOWN_LABELS])}{more})"


def type_name(kind: pa.DataType) -> str:
    """``string``, ``list<int32>``, ``struct<start: int32, end: int32>``: without Arrow's name for list items."""
    arrow = str(kind).replace("item: ", "").replace("element: ", "")
    return arrow.replace("float", "float32").replace("double", "float64")
