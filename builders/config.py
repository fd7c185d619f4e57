"""A config: the splits of one task in one language, and how they came about."""

from __future__ import annotations

import enum
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa

from discoprobe.builders.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from discoprobe.loaders.corpus import Source


class Shape(enum.StrEnum):
    """What one row holds."""

    SENTENCE = "sentence"
    SEQUENCE = "sequence"
    PAIR = "pair"
    CANDIDATE = "candidate"
    CHOICE = "choice"


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
    Shape.PAIR: (("sentence1", pa.string()), ("sentence2", pa.string())),
    Shape.CANDIDATE: (("sentences", _TEXTS), ("candidate", pa.string())),
    Shape.CHOICE: (("context", _TEXTS), ("choices", _TEXTS)),
}


def schema(shape: Shape) -> pa.Schema:
    """The columns of every split of a config of this shape, in order."""
    return pa.schema([*_COMMON, *_OWN[shape]])


@dataclass(frozen=True, slots=True)
class Config:
    """One task in one language.

    Attributes:
        name: ``{task}_{lang}``, what ``load_dataset`` takes.
        task: name of the task.
        lang: language code as Universal Dependencies has it.
        shape: what one row holds.
        labels: label names; ``label`` indexes them. For a choice, ``label`` is the index of the right choice and the
            names are its ordinals.
        splits: tables with the columns of ``schema(shape)``, keys ``train``, ``validation``, ``test``.
        drops: why candidates were not used: reason → number.
        candidates: number of candidates before anything was dropped.
        sources: the corpora the rows come from.
        read: names of all corpora that it was built from, those that no row is from included.
        settings: what the user set.
        exempt: checks of the audit that do not apply → reason.
        definition: the task's definition in prose.
        perturbation: whether label 0 is an original and the others are edits of it.
        pairs: whether rows come in pairs that share ``pair_id``.
        natural: whether class shares are the corpus's own.
        notes: how the rows were chosen, where the corpora decide on it: for the card.
        split_by: what never stands in two splits: ``document``, ``target`` or ``cluster``.
    """

    name: str
    task: str
    lang: str
    shape: Shape
    labels: tuple[str, ...]
    splits: Mapping[str, pa.Table]
    drops: Mapping[str, int] = field(default_factory=dict)
    candidates: int = 0
    sources: tuple[Source, ...] = ()
    read: tuple[str, ...] = ()
    settings: Settings = field(default_factory=Settings)
    exempt: Mapping[str, str] = field(default_factory=dict)
    definition: str = ""
    perturbation: bool = False
    pairs: bool = False
    natural: bool = False
    notes: tuple[str, ...] = ()
    split_by: str = "document"

    @property
    def n_rows(self) -> int:
        """Number of rows in all splits."""
        return sum(table.num_rows for table in self.splits.values())

    def counts(self) -> dict[str, dict[str, int]]:
        """Rows per split and label name: ``{"train": {"in_order": 10, "swapped": 10}, …}``."""
        return {
            split: {name: tally[index] for index, name in enumerate(self.labels)}
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
