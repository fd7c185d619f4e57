"""A config: the splits of one task in one language, and what they were made from."""

import enum
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl
import pyarrow as pa

from discoprobe.builders.papers import Paper
from discoprobe.builders.settings import MIN_ROWS, SPLITS, Settings
from discoprobe.loaders.corpus import Source


class Shape(enum.StrEnum):
    """What one row holds."""

    SENTENCE = "sentence"
    SEQUENCE = "sequence"
    SCORED = "scored"
    PAIR = "pair"
    RELATION = "relation"
    CANDIDATE = "candidate"
    CHOICE = "choice"
    SUITE = "suite"


_COMMON = (
    ("id", pa.string()),
    ("label", pa.int64()),
    ("corpus", pa.string()),
    ("doc_id", pa.string()),
    ("sent_ids", pa.list_(pa.string())),
    ("pair_id", pa.string()),
    ("group", pa.string()),
)
_SPAN = (("start", pa.int32()), ("end", pa.int32()))
_TARGET = pa.struct([*_SPAN, ("form", pa.string()), ("lemma", pa.string()), ("upos", pa.string())])
_TEXTS = pa.list_(pa.string())
_OWN: dict[Shape, tuple[tuple[str, pa.DataType], ...]] = {
    Shape.SENTENCE: (
        ("text", pa.string()),
        ("target", _TARGET),
        ("original", pa.string()),
        ("edit", pa.struct(list(_SPAN))),
        ("n_words", pa.int32()),
        ("ipm_share", pa.float32()),
    ),
    Shape.SEQUENCE: (("sentences", _TEXTS), ("order", pa.list_(pa.int32())), ("position", pa.int32())),
    Shape.SCORED: (("sentence1", pa.string()), ("sentence2", pa.string()), ("score", pa.float64())),
    Shape.PAIR: (
        ("sentence1", pa.string()),
        ("sentence2", pa.string()),
        ("original", pa.string()),
        ("removed", pa.string()),
    ),
    Shape.RELATION: (
        ("sentence1", pa.string()),
        ("sentence2", pa.string()),
        ("direction", pa.string()),
        ("rel_type", pa.string()),
        ("orig_label", pa.string()),
        ("removed", pa.string()),
    ),
    Shape.CANDIDATE: (("sentences", _TEXTS), ("candidate", pa.string()), ("distractor", pa.string())),
    Shape.CHOICE: (("context", _TEXTS), ("choices", _TEXTS), ("distractor", _TEXTS)),
    Shape.SUITE: (
        ("sentence_good", pa.string()),
        ("sentence_bad", pa.string()),
        ("regions_good", _TEXTS),
        ("regions_bad", _TEXTS),
        ("region", pa.int32()),
        ("target", _TARGET),
    ),
}


def schema(shape: Shape) -> pa.Schema:
    """The columns of every split of a config of this shape, in order."""
    return pa.schema([*_COMMON, *_OWN[shape]])


TEXTS: Mapping[Shape, pl.Expr] = {
    Shape.SENTENCE: pl.concat_list("text"),
    Shape.SEQUENCE: pl.col("sentences"),
    Shape.SCORED: pl.concat_list("sentence1", "sentence2"),
    Shape.PAIR: pl.concat_list("sentence1", "sentence2"),
    Shape.RELATION: pl.concat_list("sentence1", "sentence2"),
    Shape.CANDIDATE: pl.col("sentences").list.concat(pl.concat_list("candidate")),
    Shape.CHOICE: pl.col("context").list.concat(pl.col("choices")),
    Shape.SUITE: pl.concat_list("sentence_good"),
}
"""The texts of a row in order, as one list; of a pair of a suite the good one."""


def regions(text: str, start: int, end: int) -> list[str]:
    """A text in three parts: before, at and after the characters ``start`` to ``end``.

    It is divided at spaces, so that spaces join the parts to the text. Parts may be empty.
    """
    start, space = text.rfind(" ", 0, start) + 1, text.find(" ", end)
    end = len(text) if space < 0 else space
    return [text[: max(start - 1, 0)], text[start:end], text[end + 1 :]]


@dataclass(frozen=True, slots=True)
class Config:
    """One task in one language.

    Attributes:
        name: ``{task}_{lang}``, what ``load_dataset`` takes.
        task: name of the task.
        lang: language code as Universal Dependencies has it.
        shape: what one row holds.
        labels: label names; ``label`` indexes them, and rows may have a part of them. For a choice, ``label`` is the
            index of the right choice and the names are its ordinals; for a suite, the condition.
        splits: tables with the columns of ``schema(shape)``, keys ``train``, ``validation``, ``test``; of a suite only
            ``test``.
        drops: why candidates were not used: reason → number.
        meanings: what each of these reasons means.
        candidates: number of candidates before anything was dropped.
        sources: the corpora the rows come from.
        read: names of all corpora that were read, also of those that give no row.
        settings: what the user set.
        exempt: checks of the audit that do not apply → reason.
        definition: the task's definition in prose.
        papers: the publications that the task comes from.
        version: the version of the task.
        pairs: whether rows come in sets that share ``pair_id``: label 0 is an original, the others are edits of it.
        notes: for the card: how the rows were chosen, where that depends on the corpora.
        parts: identities of the parts of a large corpus that were read until the sizes were full; empty for all.
        split_by: what is in one split only: ``document``, ``target`` or ``cluster``.
        published: whether rows, labels and splits are those of a published dataset, taken as they are.
        natural: whether the labels have the shares that they have in the corpora.
        excluded: rows that were left out because readers found them faulty: id → verdict.
    """

    name: str
    task: str
    lang: str
    shape: Shape
    labels: tuple[str, ...]
    splits: Mapping[str, pa.Table]
    drops: Mapping[str, int] = field(default_factory=dict)
    meanings: Mapping[str, str] = field(default_factory=dict)
    candidates: int = 0
    sources: tuple[Source, ...] = ()
    read: tuple[str, ...] = ()
    settings: Settings = field(default_factory=Settings)
    exempt: Mapping[str, str] = field(default_factory=dict)
    definition: str = ""
    papers: tuple[Paper, ...] = ()
    version: int = 1
    pairs: bool = False
    notes: tuple[str, ...] = ()
    split_by: str = "document"
    published: bool = False
    natural: bool = False
    parts: tuple[str, ...] = ()
    excluded: Mapping[str, str] = field(default_factory=dict)

    @property
    def tiny(self) -> bool:
        """Whether a split has fewer rows than a published config needs (``MIN_ROWS``)."""
        return not self.large_enough(MIN_ROWS)

    def large_enough(self, min_rows: Sequence[int]) -> bool:
        """Whether each of its splits has as many rows as are needed of it in train, validation and test."""
        least = dict(zip(SPLITS, min_rows, strict=True))
        return all(table.num_rows >= least[split] for split, table in self.splits.items())

    @property
    def n_rows(self) -> int:
        """Number of rows in all splits."""
        return sum(table.num_rows for table in self.splits.values())

    @property
    def used_labels(self) -> tuple[str, ...]:
        """The label names that rows have, in the order of ``labels``."""
        used = {label for table in self.splits.values() for label in table["label"].unique().to_pylist()}
        return tuple(name for index, name in enumerate(self.labels) if index in used)

    def counts(self) -> dict[str, dict[str, int]]:
        """Rows per split and label name that is used: ``{"train": {"in_order": 10, "swapped": 10}, …}``."""
        used = [(index, name) for index, name in enumerate(self.labels) if name in self.used_labels]
        return {
            split: {name: tally[index] for index, name in used}
            for split, table in self.splits.items()
            for tally in [Counter(table["label"].to_pylist())]
        }


@dataclass(frozen=True, slots=True)
class Unavailable:
    """A config that is not emitted, and why."""

    name: str
    task: str
    lang: str
    reason: str
    candidates: int = 0
    drops: Mapping[str, int] = field(default_factory=dict)
