"""What the audit looks at: labelled rows of texts in splits, wherever they come from."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import polars as pl

from discoprobe.builders.config import Config, Shape
from discoprobe.builders.settings import SPLITS
from discoprobe.loaders.errors import DiscoprobeError

_COLUMNS: dict[str, pl.DataType] = {
    "split": pl.Enum(SPLITS),
    "place": pl.UInt32(),
    "id": pl.String(),
    "label": pl.Int64(),
    "texts": pl.List(pl.String()),
    "n_context": pl.UInt32(),
    "pair_id": pl.String(),
    "target": pl.String(),
    "original": pl.String(),
    "edit_start": pl.Int32(),
    "edit_end": pl.Int32(),
    "corpus": pl.String(),
    "sent_ids": pl.List(pl.String()),
    "group": pl.String(),
    "score": pl.Float64(),
    "condition": pl.Int64(),
}
SCHEMA = pl.Schema(_COLUMNS)
"""Columns of ``AuditInput.rows``; all from ``pair_id`` on may be null."""


class UnreadableDataError(DiscoprobeError):
    """Data that cannot be audited: a format nobody knows, an empty split, a column that is not there."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """How data were read.

    Attributes:
        format: the published format or dataset, or ``table``, and how the files are written.
        columns: role (``text``, ``choices``, ``label``, ``pair``) → columns; ``fields`` for files without header.
        files: split → names of its files.
        left_out: reason → rows that are not audited.
        notes: what else a reader must know, such as that a label column was guessed.
    """

    format: str
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    files: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AuditInput:
    """Labelled rows in splits, and what their makers promise about them.

    Attributes:
        name: how reports call it.
        shape: what one row holds; a minimal pair is a choice of two without context.
        labels: label names, which ``label`` indexes; for a choice the ordinals of the choices.
        rows: one row per example, columns ``SCHEMA``: ``place`` is the 0-based position inside the split, ``texts``
            the texts of the row in order; the first ``n_context`` of them are the context of a candidate or a choice.
        perturbation: whether label 0 is an original and the others are edits of it.
        pairs: whether rows come in groups that share ``pair_id``.
        natural: whether class shares are the source's own and need not be equal.
        split_by: what is never in two splits: ``document``, ``target``, ``cluster`` or nothing.
        external: whether the rows were made by others: how they write text is noted and does not fail.
        exempt: checks that do not apply → reason.
        read: how they were read; None for what was built in memory.
    """

    name: str
    shape: Shape
    labels: tuple[str, ...]
    rows: pl.DataFrame
    perturbation: bool = False
    pairs: bool = False
    natural: bool = False
    split_by: str = ""
    external: bool = False
    exempt: Mapping[str, str] = field(default_factory=dict)
    read: Provenance | None = None

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that have rows, in the order train, validation, test."""
        present = set(self.rows["split"].unique().to_list())
        return tuple(split for split in SPLITS if split in present)

    @property
    def counts(self) -> dict[str, int]:
        """Rows per split."""
        return {split: self.split(split).height for split in self.splits}

    @property
    def classes(self) -> dict[str, dict[str, int]]:
        """Rows per split and label name."""
        counts = self.rows.group_by("split", "label").len()
        per_class = {(split, label): n for split, label, n in counts.iter_rows()}
        return {
            split: {name: per_class.get((split, label), 0) for label, name in enumerate(self.labels)}
            for split in self.splits
        }

    def split(self, name: str) -> pl.DataFrame:
        """The rows of one split, in order."""
        return self.rows.filter(pl.col("split") == name)


def conform(rows: pl.DataFrame, shape: Shape) -> pl.DataFrame:
    """``rows`` with the columns of ``SCHEMA``.

    ``split``, ``label`` and ``texts`` must be there. ``place`` is counted, ``id`` defaults to ``split:place``,
    ``n_context`` to none (all but the last text for the shape ``candidate``), the others to null.
    """
    rows = rows.with_columns(place=pl.int_range(pl.len()).over("split"))
    n_context = pl.col("texts").list.len() - 1 if shape is Shape.CANDIDATE else pl.lit(0)
    defaults = {
        "id": pl.format("{}:{}", pl.col("split").cast(pl.String), pl.col("place")),
        "n_context": n_context.cast(pl.UInt32),
    }
    missing = [name for name in SCHEMA if name not in rows.columns]
    rows = rows.with_columns(defaults.get(name, pl.lit(None)).alias(name) for name in missing)
    return rows.select(pl.col(name).cast(dtype) for name, dtype in SCHEMA.items())


def from_config(config: Config) -> AuditInput:
    """The rows of a config as the audit looks at them."""
    splits = [
        from_columns(pl.DataFrame(table), config.shape).with_columns(split=pl.lit(split, dtype=SCHEMA["split"]))
        for split, table in config.splits.items()
    ]
    splits = [rows for rows in splits if rows.height]
    if not splits:
        raise UnreadableDataError(f"{config.name}: no rows to audit")
    rows = pl.concat(splits, how="vertical_relaxed")
    labels, rows = with_used_labels(audited_labels(config.shape, config.labels), rows, config.shape)
    return AuditInput(
        name=config.name,
        shape=audited_shape(config.shape),
        labels=labels,
        rows=conform(rows, config.shape),
        natural=config.published or config.natural,
        external=config.published,
        perturbation=config.pairs,
        pairs=config.pairs,
        split_by=config.split_by,
        exempt=dict(config.exempt),
    )


def audited_shape(shape: Shape) -> Shape:
    """What solvers see of a row: the score of a scored pair is its label; the texts of a suite are in regions."""
    return {Shape.SCORED: Shape.PAIR, Shape.SUITE: Shape.SEQUENCE}.get(shape, shape)


def audited_labels(shape: Shape, labels: tuple[str, ...]) -> tuple[str, ...]:
    """What solvers look for: in a suite, which text of a pair is the good one, whatever the condition."""
    return ("good", "bad") if shape is Shape.SUITE else labels


def with_used_labels(labels: tuple[str, ...], rows: pl.DataFrame, shape: Shape) -> tuple[tuple[str, ...], pl.DataFrame]:
    """The label names that rows have, and the rows with ``label`` as their index; places of a choice stay as they are.

    A label that no row has is not a class of the data: a language may use a part of the labels of a task.
    """
    used = rows["label"].unique().drop_nulls().sort().to_list()
    if shape is Shape.CHOICE or len(used) == len(labels) or (used and not 0 <= used[0] <= used[-1] < len(labels)):
        return labels, rows
    index = pl.col("label").replace_strict(used, range(len(used)), default=None, return_dtype=pl.Int64)
    return tuple(labels[label] for label in used), rows.with_columns(index)


def from_columns(frame: pl.DataFrame, shape: Shape) -> pl.DataFrame:
    """A split with the columns of a config as rows of texts (without ``split``, ``place``)."""
    if shape is Shape.SUITE:
        return pl.concat([_version(frame, label, side) for label, side in enumerate(("good", "bad"))]).sort(
            pl.col("id").hash(0)
        )
    wanted = ["id", "label", "pair_id", "corpus", "sent_ids", "original", "group", "score"]
    present = [name for name in wanted if name in frame.columns]
    return frame.select(*present, texts=_TEXTS[shape], n_context=_N_CONTEXT[shape], **_spans(frame.schema))


def _version(frame: pl.DataFrame, label: int, side: str) -> pl.DataFrame:
    """One version of every pair of a suite: its text, or that of each region of a passage, and the compared region.

    ``original`` is the good text of a bad one; for passages that of the region that differs, where one does.
    """
    regions, at = pl.col(f"regions_{side}"), pl.col("region")
    length, is_sentence = pl.element().str.len_chars(), pl.col("target").is_not_null()
    start = regions.list.head(at - 1).list.eval(length + (length > 0)).list.sum()
    end = start + regions.list.get(at - 1, null_on_oob=True).str.len_chars()
    passage = regions.list.eval(pl.element().filter(length > 0))
    changed = pl.col("regions_good").list.set_difference("regions_bad")
    piece = pl.when(changed.list.len() == 1).then(changed.list.first())
    original = pl.when(is_sentence).then("sentence_good").otherwise(piece)
    return frame.select(
        pl.col("id") + ("" if side == "good" else "-bad"), "pair_id", "corpus", "sent_ids", "group",
        label=pl.lit(label, pl.Int64), condition="label", n_context=_NONE,
        texts=pl.when(is_sentence).then(pl.concat_list(f"sentence_{side}")).otherwise(passage),
        original=pl.when(pl.lit(bool(label))).then(original), target=pl.col("target").struct.field("form"),
        edit_start=pl.when(at > 0).then(start), edit_end=pl.when(at > 0).then(end),
    )  # fmt: skip


def _spans(schema: pl.Schema) -> dict[str, pl.Expr]:
    """The target's form and the edit's ends, of the columns that are structs."""
    spans: dict[str, pl.Expr] = {}
    if isinstance(schema.get("target"), pl.Struct):
        spans["target"] = pl.col("target").struct.field("form")
    if isinstance(schema.get("edit"), pl.Struct):
        spans["edit_start"] = pl.col("edit").struct.field("start")
        spans["edit_end"] = pl.col("edit").struct.field("end")
    return spans


_NONE = pl.lit(0, dtype=pl.UInt32)
_TEXTS = {
    Shape.SENTENCE: pl.concat_list("text"),
    Shape.SEQUENCE: pl.col("sentences"),
    Shape.SCORED: pl.concat_list("sentence1", "sentence2"),
    Shape.PAIR: pl.concat_list("sentence1", "sentence2"),
    Shape.RELATION: pl.concat_list("sentence1", "sentence2"),
    Shape.CANDIDATE: pl.col("sentences").list.concat(pl.concat_list("candidate")),
    Shape.CHOICE: pl.col("context").list.concat(pl.col("choices")),
}
_N_CONTEXT = {
    Shape.SENTENCE: _NONE,
    Shape.SEQUENCE: _NONE,
    Shape.SCORED: _NONE,
    Shape.PAIR: _NONE,
    Shape.RELATION: _NONE,
    Shape.CANDIDATE: pl.col("sentences").list.len(),
    Shape.CHOICE: pl.col("context").list.len(),
}


def inputs(data: AuditInput) -> pl.DataFrame:
    """``rows`` with ``input`` (a hash of the texts; choices in any order are the same input) and ``truth``.

    ``truth`` is the label, or the text of the right choice.
    """
    texts = pl.col("texts")
    if data.shape is not Shape.CHOICE:
        return data.rows.with_columns(input=texts.list.join("\x1f").hash(), truth=pl.col("label").cast(pl.String))
    choices = texts.list.slice(pl.col("n_context"))
    return data.rows.with_columns(
        input=pl.concat_str(
            texts.list.slice(0, pl.col("n_context")).list.join("\x1f"),
            choices.list.sort().list.join("\x1f"),
            separator="\x1e",
        ).hash(),
        truth=choices.list.get(pl.col("label"), null_on_oob=True),
    )


def names_of(labels: Iterable[int], data: AuditInput) -> str:
    """Label names for a message."""
    return ", ".join(data.labels[label] for label in sorted(labels))
