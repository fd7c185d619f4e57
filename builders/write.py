"""Chosen rows as tables with text: the last step of a build."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from discoprobe.builders import chance
from discoprobe.builders.audit.order import tells
from discoprobe.builders.config import Shape, schema

if TYPE_CHECKING:
    import pyarrow as pa

    from discoprobe.builders.task import Task
    from discoprobe.loaders.language import LanguageData

LOTS = 32
"""Orders that are tried. One in some hundred is by chance beyond what the audit takes for chance."""


def table(
    task: Task, rows: pl.DataFrame, frame: pl.DataFrame, texts: pl.DataFrame, language: LanguageData
) -> pl.DataFrame:
    """All rows of a task with the columns of its shape, and ``split`` and ``corpora``, in the order they are published.

    Args:
        task: whose rows they are.
        rows: what ``arrange`` chose.
        frame: the candidates that ``row`` and ``members`` number.
        texts: ``shard``, ``sent``, ``text`` of every sentence shown.
        language: knows its capitals.
    """
    if task.shape is Shape.SENTENCE:
        shown = _sentence_rows(task, rows, texts)
    else:
        shown = _sequence_rows(task, rows, frame, texts, language)
    return _in_hash_order(shown, task).with_columns(id=_hex("key"), pair_id=_hex("pair"))


def _in_hash_order(rows: pl.DataFrame, task: Task) -> pl.DataFrame:
    """The rows in the order of a hash: the first of several by which their order does not happen to tell the label."""
    keys, labels = rows["key"].to_numpy(), len(task.labels) or rows["label"].n_unique()
    for lot in range(LOTS):
        order = pl.Series(chance.mix(keys, "row order", task.name, *([lot] if lot else [])))
        shown = rows.with_columns(_order=order).sort("_order").drop("_order")
        if not tells([split["label"].to_numpy() for split in shown.partition_by("split")], labels):
            break
    return shown


def split_table(whole: pl.DataFrame, split: str, shape: Shape) -> pa.Table:
    """The Arrow table of one split."""
    columns = schema(shape)
    return whole.filter(pl.col("split") == split).select(columns.names).to_arrow().cast(columns)


def _hex(column: str) -> pl.Expr:
    """A 64-bit key as 16 hexadecimal digits."""
    return pl.col(column).map_elements(lambda key: f"{key:016x}", return_dtype=pl.String, skip_nulls=True)


def _sequence_rows(
    task: Task, rows: pl.DataFrame, frame: pl.DataFrame, texts: pl.DataFrame, language: LanguageData
) -> pl.DataFrame:
    """Rows of several sentences."""
    facts = frame.select(pl.col("row").cast(pl.Int64), "shard", "sent", "sent_id", "corpus").join(
        texts, on=["shard", "sent"], how="left", maintain_order="left"
    )
    long = (
        rows.select("key", row="members")
        .explode("row")
        .join(facts, on="row", how="left", maintain_order="left")
        .group_by("key", maintain_order=True)
        .agg(sent_ids="sent_id", sentences="text", corpora="corpus")
    )
    extra = [name for name in ("trim", "n_context") if name in rows.columns]
    whole = long.join(rows.select("key", *extra), on="key", maintain_order="left")
    if "trim" in extra:
        whole = _trimmed(whole, language)
    shown = whole.select("key", "sent_ids", "corpora", *_FORMS[task.shape])
    places = frame.select(
        pl.col("row").cast(pl.Int64), "corpus", "doc_id", group=pl.concat_str("corpus", "doc_id", separator="/")
    )
    return rows.join(places, on="row", how="left", maintain_order="left").join(shown, on="key", maintain_order="left")


def _trimmed(whole: pl.DataFrame, language: LanguageData) -> pl.DataFrame:
    """The last sentence of each row without its first ``trim`` characters, beginning with a capital."""
    shown = [
        [*texts[:-1], language.capitalise(texts[-1][trim:])]
        for texts, trim in whole.select("sentences", "trim").iter_rows()
    ]
    return whole.with_columns(sentences=pl.Series(shown, dtype=pl.List(pl.String)))


_FORMS: dict[Shape, list[pl.Expr]] = {
    Shape.PAIR: [
        pl.col("sentences").list.get(0).alias("sentence1"),
        pl.col("sentences").list.get(1).alias("sentence2"),
    ],
    Shape.SEQUENCE: [pl.col("sentences")],
    Shape.CANDIDATE: [
        pl.col("sentences").list.head(pl.col("sentences").list.len() - 1),
        pl.col("sentences").list.last().alias("candidate"),
    ],
    Shape.CHOICE: [
        pl.col("sentences").list.head("n_context").alias("context"),
        pl.col("sentences").list.slice("n_context").alias("choices"),
    ],
}


def _sentence_rows(task: Task, rows: pl.DataFrame, texts: pl.DataFrame) -> pl.DataFrame:
    """Rows of one sentence (they are candidates themselves), edited where the row says so."""
    whole = rows.join(texts, on=["shard", "sent"], how="left", maintain_order="left")
    if "ipm_share" not in whole.columns:
        whole = whole.with_columns(ipm_share=pl.lit(None, pl.Float32))
    return _with_edits(task, whole).with_columns(
        sent_ids=pl.concat_list("sent_id"), corpora=pl.concat_list("corpus"), target=_target()
    )


def _target() -> pl.Expr:
    """The probed word: its place in the text and what it is."""
    span = pl.struct(
        start="target_start", end="target_end", form="target_form", lemma="target_lemma", upos="target_upos"
    )
    return pl.when(pl.col("target_form").is_not_null()).then(span)


def _with_edits(task: Task, whole: pl.DataFrame) -> pl.DataFrame:
    """Makes the edits; adds ``original``, and ``edit``: the place of the new characters in the new text."""
    span = pl.Struct({"start": pl.Int32, "end": pl.Int32})
    if task.edit is None:
        return whole.with_columns(original=pl.lit(None, pl.String), edit=pl.lit(None, span))
    shown: list[tuple[str, str | None, dict[str, int] | None]] = []
    for text, edited, plan in whole.select("text", "edited", "plan").iter_rows():
        if not edited:
            shown.append((text, None, None))
            continue
        edit = task.edit(text, plan)
        new = text[: edit.start] + edit.replacement + text[edit.end :]
        shown.append((new, text, {"start": edit.start, "end": edit.start + len(edit.replacement)}))
    columns: dict[str, pl.DataType | type[pl.DataType]] = {"text": pl.String, "original": pl.String, "edit": span}
    return whole.drop("text").hstack(pl.DataFrame(shown, schema=columns, orient="row"))
