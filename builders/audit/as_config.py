"""External labelled rows as a config: the columns of discoprobe's configs, the splits and labels of the source."""

from typing import Final, Literal

import polars as pl
import pyarrow as pa

from discoprobe.builders.audit.frame import AuditInput
from discoprobe.builders.audit.integrity import LEAKS, without_leaks
from discoprobe.builders.config import Config, Shape, schema
from discoprobe.loaders.corpus import Source
from discoprobe.loaders.errors import DiscoprobeError

TaskType = Literal["single", "pair", "choice", "similarity", "minimal-pairs"]
TASK_TYPES: Final[dict[TaskType, tuple[Shape, str]]] = {
    "single": (Shape.SENTENCE, "The label of a text"),
    "pair": (Shape.PAIR, "The label of two texts"),
    "choice": (Shape.CHOICE, "The right one of several choices"),
    "similarity": (Shape.SCORED, "How similar two sentences are"),
    "minimal-pairs": (Shape.CHOICE, "The acceptable one of two sentences"),
}
"""Type of a row → the columns it gets, and what is asked."""


def config_of(  # noqa: PLR0913 (one parameter per fact)
    data: AuditInput, task_type: TaskType, *, name: str, lang: str, source: Source, drop_leaks: bool = False
) -> Config:
    """The config ``{name}_{lang}`` with the rows of ``data``, in their splits and their order.

    It has the splits of ``data``: `datasets` cannot load an empty one. Scores stay numbers in ``score``; ``label`` has
    the classes of the audit.

    Args:
        data: rows that `inputs.read` gave.
        task_type: what a row is.
        name: what the config is called, before its language.
        lang: code of the language.
        source: where the rows come from, with licence and citation.
        drop_leaks: leave out the rows of earlier splits that leak into later ones; they are counted.

    Raises:
        DiscoprobeError: the rows are not of this type.
    """
    shape, question = TASK_TYPES[task_type]
    _check(data, task_type)
    used, leaks = without_leaks(data) if drop_leaks else (data, {})
    left_out = dict(data.read.left_out) if data.read else {}
    meanings = dict.fromkeys(left_out, "not usable as published")
    return Config(
        name=f"{name}_{lang}", task=name, lang=lang, shape=shape, labels=data.labels,
        splits={split: _table(used, split, shape, source.name) for split in used.splits},
        drops=left_out | leaks, meanings=meanings | {check: LEAKS[check] for check in leaks},
        candidates=data.rows.height + sum(left_out.values()), sources=(source,), read=(source.name,),
        definition=_definition(data, question, source.name), split_by="", published=True, pairs=False,
        notes=data.read.notes if data.read else (),
    )  # fmt: skip


def _check(data: AuditInput, task_type: TaskType) -> None:
    """Raises an error if the rows are not of a type."""
    named = {Shape.SENTENCE: "one text", Shape.PAIR: "two texts", Shape.CHOICE: "choices"}
    shape = Shape.PAIR if task_type == "similarity" else TASK_TYPES[task_type][0]
    if data.shape is not shape or (task_type == "minimal-pairs" and len(data.labels) != 2):  # noqa: PLR2004
        found = named.get(data.shape, "many texts")
        raise DiscoprobeError(f"{data.name}: a row holds {found}, which does not fit --task-type {task_type}")
    if task_type == "similarity" and data.rows["score"].null_count():
        raise DiscoprobeError(
            f"{data.name}: the label column holds no numbers, which --task-type similarity needs; name one with --label"
        )


def _definition(data: AuditInput, question: str, source: str) -> str:
    read = f" Read as {data.read.format}." if data.read and data.read.format else ""
    rows = f"Rows, labels and splits are those of the source; they were audited, not chosen.{read}"
    return f"{question}, from {source}.\n\n{rows}"


def _table(data: AuditInput, split: str, shape: Shape, source: str) -> pa.Table:
    """The rows of one split with the columns of a config."""
    texts, n_context = pl.col("texts"), pl.col("n_context")
    source_columns = {
        Shape.SENTENCE: {
            "text": texts.list.first(),
            "n_words": texts.list.first().str.count_matches(r"\w+").cast(pl.Int32),
        },
        Shape.PAIR: {"sentence1": texts.list.get(0), "sentence2": texts.list.get(1)},
        Shape.SCORED: {"sentence1": texts.list.get(0), "sentence2": texts.list.get(1), "score": pl.col("score")},
        Shape.CHOICE: {
            "context": texts.list.slice(0, n_context),
            "choices": texts.list.slice(n_context),
            "distractor": texts.list.slice(n_context).list.eval(pl.lit(None, dtype=pl.String)),
        },
    }[shape]
    rows = data.split(split).select("id", "label", "pair_id", "group", corpus=pl.lit(source), **source_columns)
    wanted = schema(shape)
    rows = rows.with_columns(pl.lit(None).alias(name) for name in wanted.names if name not in rows.columns)
    return rows.select(wanted.names).to_arrow().cast(wanted)
