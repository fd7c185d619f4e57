"""A config: the splits of one task in one language, what they were made from, and the columns on the way to it.

``Config`` has a table per split; its columns depend on what a row holds (``Shape``, ``schema``). The publications that
its task comes from are in ``papers.toml`` (``papers_of``). The frames that pass from one step of a build to the next
have the columns of ``PROBING_CANDIDATES`` and its sisters, and maybe more; ``checked`` says to the author of a task
which are lacking.
"""

import enum
import functools
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final

import msgspec
import polars as pl
import pyarrow as pa
from msgspec import field

from discoprobe.builders.sampling.splits import Split
from discoprobe.builders.settings import MIN_ROWS, SPLITS, SUITE_SHARE, Settings
from discoprobe.loaders.catalogue.treebanks import Source
from discoprobe.loaders.errors import DiscoprobeError
from discoprobe.loaders.files import convert_table, parse_toml
from discoprobe.loaders.plugins import PluginFiles

PAPERS: Final = Path(__file__).with_name("papers.toml")


class Paper(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A publication.

    Attributes:
        names: what a definition calls it.
        reference: authors, year, title, venue.
        url: where to read it.
    """

    names: tuple[str, ...]
    reference: str
    url: str


@functools.cache
def _papers() -> tuple[Paper, ...]:
    """The publications of ``papers.toml``."""
    tables = parse_toml(PAPERS.read_text(encoding="utf-8"), PAPERS.name)
    return convert_table(tables["papers"], tuple[Paper, ...], PAPERS.name, "papers")


@functools.cache
def papers_of(definition: str) -> tuple[Paper, ...]:
    """The papers that a definition mentions, in their order; ``RuSentEval`` is not taken for ``SentEval``."""
    text = " ".join(definition.split())
    mentions = {paper: rf"\b(?:{'|'.join(map(re.escape, paper.names))})" for paper in _papers()}
    places = {paper: place.start() for paper, names in mentions.items() if (place := re.search(names, text))}
    return tuple(sorted(places, key=places.__getitem__))


class Shape(enum.StrEnum):
    """What one row holds."""

    SENTENCE = "sentence"
    SEQUENCE = "sequence"
    SCORED = "scored"
    PAIR = "pair"
    RELATION = "relation"
    MENTIONS = "mentions"
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
_MENTION = pa.struct([*_SPAN, ("form", pa.string())])
_SUBJECT = pa.struct([*_MENTION, ("distance", pa.int32()), ("attractors", pa.int32())])
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
        ("marked", pa.string()),
        ("passage", pa.string()),
        ("unit1", pa.list_(pa.struct(list(_SPAN)))),
        ("unit2", pa.list_(pa.struct(list(_SPAN)))),
        ("direction", pa.string()),
        ("rel_type", pa.string()),
        ("orig_label", pa.string()),
        ("removed", pa.string()),
        ("spacing", pa.string()),
    ),
    Shape.MENTIONS: (
        ("text", pa.string()),
        ("passage", pa.string()),
        ("mention1", _MENTION),
        ("mention2", _MENTION),
        ("question", pa.string()),
        ("answers", _TEXTS),
        ("basis", pa.string()),
        ("grade", pa.float64()),
        ("cues", pa.list_(pa.struct([("name", pa.string()), ("value", pa.float64())]))),
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
        ("subject", _SUBJECT),
        ("speakers_good", _TEXTS),
        ("speakers_bad", _TEXTS),
    ),
}


ANNOTATION: Final = ("gold", "silver")
"""Who annotated the sentence of a row: people, or a model."""


def schema(shape: Shape, *, silver: bool = False) -> pa.Schema:
    """The columns of every split of a config of this shape, in order; ``silver`` if rows are annotated by a model."""
    return pa.schema([*_COMMON, *_OWN[shape], *([("annotation", pa.string())] if silver else [])])


TEXTS: Mapping[Shape, pl.Expr] = {
    Shape.SENTENCE: pl.concat_list("text"),
    Shape.SEQUENCE: pl.col("sentences"),
    Shape.SCORED: pl.concat_list("sentence1", "sentence2"),
    Shape.PAIR: pl.concat_list("sentence1", "sentence2"),
    Shape.RELATION: pl.concat_list("sentence1", "sentence2", "passage").list.drop_nulls(),
    Shape.MENTIONS: pl.concat_list(
        *(pl.col(f"mention{n}").struct.field("form") for n in (1, 2)), "text"
    ).list.drop_nulls(),
    Shape.CANDIDATE: pl.col("sentences").list.concat(pl.concat_list("candidate")),
    Shape.CHOICE: pl.col("context").list.concat(pl.col("choices")),
    Shape.SUITE: pl.concat_list("sentence_good"),
}
"""The texts of a row in order, as one list; of a pair of a suite the good one. After two units come their sentences,
after mentions the passage in which they are marked."""


def regions(text: str, start: int, end: int) -> list[str]:
    """A text in three parts: before, at and after the characters ``start`` to ``end``.

    It is divided at spaces, so that spaces join the parts to the text. Parts may be empty.
    """
    start, space = text.rfind(" ", 0, start) + 1, text.find(" ", end)
    end = len(text) if space < 0 else space
    return [text[: max(start - 1, 0)], text[start:end], text[end + 1 :]]


class Config(msgspec.Struct, frozen=True):
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
        asks: what the task asks, in a few words.
        papers: the publications that the task comes from.
        version: the version of the task.
        pairs: whether rows come in sets that share ``pair_id``: label 0 is an original, the others are edits of it.
        notes: for the card: how the rows were chosen, where that depends on the corpora.
        parts: identities of the parts of a corpus that were read, until the sizes were full or for `--documents`;
            empty for all.
        split_by: what is in one split only: ``document``, ``target`` or ``cluster``.
        published: whether rows, labels and splits are those of a published dataset, taken as they are.
        natural: whether the labels have the shares that they have in the corpora.
        excluded: rows that were left out because readers found them faulty: id → verdict.
        plugins: the files of plugins that it depends on, by path in their folder, with ``sha256`` and ``bytes``.
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
    asks: str = ""
    papers: tuple[Paper, ...] = ()
    version: int = 1
    pairs: bool = False
    notes: tuple[str, ...] = ()
    split_by: str = "document"
    published: bool = False
    natural: bool = False
    parts: tuple[str, ...] = ()
    excluded: Mapping[str, str] = field(default_factory=dict)
    plugins: PluginFiles = field(default_factory=dict)

    def __repr__(self) -> str:
        rows = ", ".join(f"{table.num_rows:,} {split}" for split, table in self.splits.items())
        return f"<{type(self).__name__} {self.name}: {rows} rows; labels {', '.join(self.used_labels)}>"

    @property
    def tiny(self) -> bool:
        """Whether a split has fewer rows than a published config needs (``MIN_ROWS``)."""
        return not self.large_enough(MIN_ROWS)

    @property
    def small(self) -> bool:
        """Whether it is a suite that is published with fewer rows than other configs have in test."""
        return not self.tiny and self.last_split.num_rows < MIN_ROWS[-1]

    def large_enough(self, min_rows: Sequence[int]) -> bool:
        """Whether each of its splits has as many rows as are needed of it in train, validation and test."""
        least = dict(zip(SPLITS, self.least_rows(min_rows), strict=True))
        return all(table.num_rows >= least[split] for split, table in self.splits.items())

    def least_rows(self, min_rows: Sequence[int]) -> tuple[int, int, int]:
        """The fewest rows in train, validation and test: those of any config, of which suites need a part in test."""
        train, validation, test = min_rows
        return train, validation, math.ceil(test * SUITE_SHARE) if self.shape is Shape.SUITE else test

    @property
    def last_split(self) -> pa.Table:
        """The rows of test, or of the last split in data of others that has no test."""
        return [*self.splits.values()][-1]

    @property
    def n_rows(self) -> int:
        """Number of rows in all splits."""
        return sum(table.num_rows for table in self.splits.values())

    @property
    def silver(self) -> dict[str, int]:
        """Numbers of rows by who annotated them; empty if no row is annotated by a model."""
        tables = [table for table in self.splits.values() if "annotation" in table.column_names]
        return dict(Counter(chain.from_iterable(table["annotation"].to_pylist() for table in tables)))

    @property
    def silver_splits(self) -> dict[str, int]:
        """Number of rows of each split that a model annotated; empty if no row is."""
        return {
            split: table["annotation"].to_pylist().count(ANNOTATION[1])
            for split, table in self.splits.items()
            if "annotation" in table.column_names
        }

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


LACKING: Final = re.compile(
    r"the corpus has no (?P<layer>[\w ]+)|the (?P<audit>audit) failed"
    r"|(?P<rows>[\d/]+ (?:rows|lemmas)|no two values|no candidates are left|\w+ has no row of)"
)
"""What a reason says that a config lacks."""


class Unavailable(msgspec.Struct, frozen=True):
    """A config that is not emitted, and why."""

    name: str
    task: str
    lang: str
    reason: str
    candidates: int = 0
    drops: Mapping[str, int] = field(default_factory=dict)

    @property
    def lacks(self) -> str:
        """What would let it be built, in a few words: rows, a layer of annotation, another audit; or ``other``."""
        match = LACKING.match(self.reason)
        if match is None:
            return "other"
        return match["layer"] or ("fail the audit" if match["audit"] else "need more rows")


INTEGER: Final = "an integer"

PROBING_CANDIDATES: Final = {"sent": pl.UInt32, "label": pl.String}
"""What ``ProbingTask.select`` returns. ``label`` is a name. Further columns with a meaning: ``target`` (row of the word
in ``Trees.words``), ``cell`` (labels are balanced inside each value), ``plan`` (a struct for ``edit``) and
``hindrance`` (the reason why a candidate may not be used, null if it may)."""

_ROWS: Final = {"key": pl.UInt64, "pair": pl.UInt64, "label": pl.Int64, "split": Split, "row": INTEGER}
"""``key`` is unique; ``pair`` is null where there are no pairs; ``label`` is an index; ``row`` is the candidate that
gives corpus and document."""

PROBING_ROWS: Final = {**_ROWS, "edited": pl.Boolean}
"""What ``ProbingTask.sample`` returns: ``edited`` says whether the text is shown as ``edit`` makes it."""

DISCOURSE_ROWS: Final = {
    **_ROWS, "members": pl.List(pl.Int64), "order": pl.List(pl.Int32), "position": pl.Int32,
}  # fmt: skip
"""What ``DiscourseTask.sample`` returns: ``members`` are the rows of the sentences shown, ``order`` their source order,
``position`` the edited place (-1 if none). Choices also have ``n_context``, how many of the members are the context;
``distractor`` says where wrong sentences come from (a string, or one per choice);
``trim`` is the number of characters that the last sentence loses at its beginning. Rows that show one sentence also
have ``n_words``, and may have a ``stratum`` inside whose values labels are balanced."""

SHAPE_ROWS: Final = {Shape.SENTENCE: {"n_words": INTEGER}, Shape.CHOICE: {"n_context": INTEGER}}
"""What ``DiscourseTask.sample`` returns beside ``DISCOURSE_ROWS``, for some shapes of rows."""

RELATION_CANDIDATES: Final = {
    "doc": pl.UInt32, "sentence1": pl.String, "sentence2": pl.String, "label": pl.String, "reason": pl.String,
    "direction": pl.String, "rel_type": pl.String, "orig_label": pl.String, "removed": pl.String,
    "spacing": pl.String, "native": pl.String, "ids": pl.List(pl.String), "key": pl.UInt64,
}  # fmt: skip
"""What ``RelationTask.select`` returns: the texts of both units in their order, ``label`` (the name), ``reason`` (why
the candidate cannot be used, null if it can), ``native`` (the published split) and what the row shows beside."""

RELATION_ROWS: Final = {**_ROWS, "sentence1": pl.String, "sentence2": pl.String}
"""What ``RelationTask.sample`` returns, beside the columns of the candidates."""


def crossed(rows: pl.DataFrame) -> bool:
    """Whether every ``group`` of a suite has one row of each ``condition``, of which there are several: an item."""
    n = rows["condition"].n_unique()
    groups = rows.group_by("group").agg(rows=pl.len(), conditions=pl.col("condition").drop_nulls().n_unique())
    return n > 1 and bool(((groups["rows"] == n) & (groups["conditions"] == n)).all())


def checked(frame: pl.DataFrame, schema: Mapping[str, Any], origin: str) -> pl.DataFrame:
    """The frame itself, if it has every column of a schema.

    Args:
        frame: what a task returned.
        schema: one of the schemas of this module.
        origin: what returned it, for the message.

    Raises:
        DiscoprobeError: a column is missing or has another type, or a ``key`` occurs twice.
    """
    for name, kind in schema.items():
        dtype = frame.schema.get(name)
        fits = dtype is not None and (dtype.is_integer() if kind is INTEGER else dtype == kind)
        if not fits:
            returned = f"no column {name}" if dtype is None else f"{name}: {dtype}"
            raise DiscoprobeError(f"{origin} returned {returned}; expected {name}: {kind}")
    if "key" in schema and frame["key"].n_unique() < frame.height:
        raise DiscoprobeError(f"{origin} returned rows with equal keys")
    return frame
