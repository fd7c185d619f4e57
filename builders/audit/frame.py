"""The input of the audit: labelled rows of texts in splits, from a config or an external dataset."""

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property

import msgspec
import polars as pl
from msgspec import field
from msgspec.structs import replace

from discoprobe.builders.audit.thresholds import LEAK_WORDS
from discoprobe.builders.config import Shape
from discoprobe.builders.settings import SPLITS
from discoprobe.loaders.corpus import exploded
from discoprobe.loaders.errors import DiscoprobeError, UnknownNameError
from discoprobe.loaders.words import n_words, normal

_COLUMNS: dict[str, pl.DataType] = {
    "split": pl.Enum(SPLITS),
    "place": pl.UInt32(),
    "id": pl.String(),
    "label": pl.Int64(),
    "texts": pl.List(pl.String()),
    "n_context": pl.UInt32(),
    "pair_id": pl.String(),
    "target": pl.String(),
    "target_start": pl.Int32(),
    "target_end": pl.Int32(),
    "original": pl.String(),
    "edit_start": pl.Int32(),
    "edit_end": pl.Int32(),
    "corpus": pl.String(),
    "annotation": pl.String(),
    "sent_ids": pl.List(pl.String()),
    "group": pl.String(),
    "score": pl.Float64(),
    "condition": pl.Int64(),
    "distance": pl.Int32(),
    "attractors": pl.Int32(),
    "speakers": pl.List(pl.String()),
    "other_speaker": pl.Boolean(),
    "metadata": pl.List(pl.Struct({"name": pl.String, "value": pl.String})),
    "cues": pl.List(pl.Struct({"name": pl.String, "value": pl.Float64})),
}
SCHEMA = pl.Schema(_COLUMNS)
"""Columns of ``AuditInput.rows``; all from ``pair_id`` on may be null.

``distance`` and ``attractors`` are those of the subject of a suite's target. ``speakers`` has one for each text;
``other_speaker`` says whether the compared sentence of the good text (or any, if whole texts are compared) has another
speaker than the sentence before it. ``metadata`` holds the columns of the source that are neither text nor label, as
strings; ``cues`` what a rule could count of the marked mentions.
"""


AT_EACH_END = 2_000
"""Characters at each end of a long text that are read, about 300 words, so that it needs no more time and memory."""
LONGEST_READ = 2 * AT_EACH_END
"""Texts of more characters are long."""

_SAMPLE = 200
"""Rows whose values show what a column holds."""
_LONGEST_VALUE = 40
"""Mean number of characters of ids, dates and categories at most; UUIDs have 36."""


class UnreadableDataError(DiscoprobeError):
    """Data that cannot be audited: an unknown format, an empty split, a missing column."""


def ends_of(text: pl.Expr) -> pl.Expr:
    """Each text as it is; of a long one its first and last ``AT_EACH_END`` characters, with a blank between them."""
    parts = text.str.head(AT_EACH_END).str.strip_chars_end(), text.str.tail(AT_EACH_END).str.strip_chars_start()
    ends = pl.concat_str(parts, separator=" ")
    return pl.when(text.str.len_chars() > LONGEST_READ).then(ends).otherwise(text)


class Provenance(msgspec.Struct, frozen=True):
    """How data were read.

    Attributes:
        format: the published format or dataset, or ``table``, and how the files are written.
        columns: role (``text``, ``choices``, ``label``, ``pair``) → columns; ``fields`` for files without header.
        files: split → names of its files.
        left_out: reason → rows that are not audited.
        notes: what else a reader must know, such as that a label column was guessed.
        row: what a row holds: ``single text``, ``pair of texts``, ``choice of 4``.
    """

    format: str
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    files: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    row: str = ""


class AuditInput(msgspec.Struct, frozen=True, dict=True):
    """Labelled rows in splits, and the properties that are expected of them.

    Attributes:
        name: how reports call it.
        shape: what one row holds; a minimal pair is a choice of two without context.
        labels: label names, which ``label`` indexes; for a choice the ordinals of the choices.
        rows: one row per example, columns ``SCHEMA``: ``place`` is the 0-based position inside the split, ``texts``
            the texts of the row in order; the first ``n_context`` of them are the context of a candidate or a choice.
        perturbation: whether label 0 is an original and the others are edits of it.
        pairs: whether rows come in groups that share ``pair_id``.
        natural: whether labels keep the distribution of the source and need not be balanced.
        split_by: what is never in two splits: ``document``, ``target``, ``cluster`` or nothing.
        external: whether discoprobe did not build the rows: then ``clean-text`` and ``doubled-words`` never fail.
        guessed_groups: whether ``group`` is a column that nobody named: then groups in two splits are only reported.
        task_type: of data of others, one of ``task_types.TASK_TYPES``; empty if it is not known.
        exempt: checks that do not apply → reason.
        expected: splits that it should have; empty if that is not known.
        read: how they were read; None for what was built in memory.
        conditions: of a suite, the names that ``condition`` indexes; empty if they are not known.
        other_texts: text of the same corpora that no row has; None if the corpora are not at hand.
        sources: ``text`` of each ``corpus`` and ``sent_id``; None where there is no source to compare with.
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
    guessed_groups: bool = False
    task_type: str = ""
    exempt: Mapping[str, str] = field(default_factory=dict)
    expected: tuple[str, ...] = ()
    read: Provenance | None = None
    conditions: tuple[str, ...] = ()
    other_texts: Sequence[str] | None = None
    sources: pl.DataFrame | None = None

    @property
    def compared_with_others(self) -> bool:
        """Whether rows are pairs of a sentence and its edited version, and there may be other text of their corpora."""
        return self.other_texts is not None and self.perturbation and self.pairs and self.shape is Shape.SENTENCE

    @cached_property
    def splits(self) -> tuple[str, ...]:
        """The splits that have rows, in the order train, validation, test."""
        present = set(self.rows["split"].unique().to_list())
        return tuple(split for split in SPLITS if split in present)

    @cached_property
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

    @property
    def row(self) -> str:
        """What a row holds, in words: ``pair of texts with a score``, ``sequence of 5 texts``, ``choice of 4``."""
        lengths = self.rows["texts"].list.len()
        n, least = int(lengths.max()), int(lengths.min())  # type: ignore[arg-type]
        if self.shape is Shape.CHOICE:
            context = int(self.rows["n_context"].max())  # type: ignore[arg-type]
            after = f" after {context} text{'s' * (context > 1)} of context" if context else ""
            return f"choice of {most_choices(self.rows)}{after}"
        scores = self.rows["score"].drop_nulls()
        score = " with a score" if scores.n_unique() > len(self.labels) else ""
        several = f"sequence of {n} texts" if n == least else f"sequence of {least} to {n} texts"
        return {1: "single text", 2: "pair of texts" if n == least else several}.get(n, several) + score

    @property
    def group_sizes(self) -> tuple[int, ...]:
        """Rows of each group of the last split, the largest first; empty where groups are not known."""
        groups = self.split(self.splits[-1])["group"].drop_nulls()
        return tuple(groups.value_counts(sort=True)["count"].to_list())

    def split(self, name: str) -> pl.DataFrame:
        """The rows of one split, in order."""
        return self.rows.filter(pl.col("split") == name)

    @cached_property
    def long_texts(self) -> str:
        """A remark on texts of which only a part is read; empty if there are none."""
        lengths = self.rows["texts"].explode().str.len_chars()
        n_long = (lengths > LONGEST_READ).sum()
        if not n_long:
            return ""
        long = f"{n_long:,} of {len(lengths):,} texts have more than {LONGEST_READ:,} characters"
        checks = "sentence-leak, near-dup, altered-dup, paraphrase, clean-text and doubled-words"
        return f"long texts: {long}; solvers, {checks} read the first and last {AT_EACH_END:,} of these"

    @cached_property
    def keyed(self) -> pl.DataFrame:
        """The rows with ``input`` (a hash of the texts; choices in any order are the same input) and ``truth``.

        ``truth`` is the label, or the text of the right choice.
        """
        texts, rows = pl.col("texts"), self.rows
        if self.shape is not Shape.CHOICE:
            return rows.with_columns(input=texts.list.join("\x1f").hash(), truth=pl.col("label").cast(pl.String))
        context, choices = texts.list.slice(0, pl.col("n_context")), texts.list.slice(pl.col("n_context"))
        joined = [part.list.join("\x1f") for part in (context, choices.list.sort())]
        right = choices.list.get(pl.col("label"), null_on_oob=True)
        return rows.with_columns(input=pl.concat_str(joined, separator="\x1e").hash(), truth=right)

    @cached_property
    def sentences(self) -> tuple[pl.DataFrame, pl.Series]:
        """The sentences of the rows, each once per row, originals of perturbed rows included.

        Only sentences of ``LEAK_WORDS`` words or more, because shorter ones repeat naturally. Of a long text they are
        its beginning and its end (``AT_EACH_END``).

        Returns:
            ``split``, ``place``, ``id`` and the number of the ``sentence``; and the text of each number (lower case,
            white space collapsed).
        """
        texts = pl.concat_list("texts", pl.concat_list("original").list.drop_nulls()).list.unique()
        every = exploded(self.rows.select("split", "place", "id", text=texts), "text")
        text = pl.col("text")
        parts = pl.concat_list(text.str.head(AT_EACH_END), text.str.tail(AT_EACH_END))
        if every.select((text.str.len_chars() > LONGEST_READ).any()).item():
            parts = pl.when(text.str.len_chars() > LONGEST_READ).then(parts).otherwise(pl.concat_list(text))
            every = exploded(every.with_columns(parts), "text")
        every = every.with_columns(text=pl.col("text").hash(), _text="text")
        distinct = every.unique("text", maintain_order=True).filter(n_words(pl.col("_text")) >= LEAK_WORDS)
        distinct = distinct.select("text", key=normal(pl.col("_text")))
        keys = distinct.select(pl.col("key").unique(maintain_order=True)).with_row_index("sentence")
        numbered = distinct.join(keys, on="key").select("text", "sentence")
        numbers = every.drop("_text").join(numbered, on="text", maintain_order="left").drop("text")
        return numbers.unique(maintain_order=True), keys["key"]


def conform(rows: pl.DataFrame, shape: Shape) -> pl.DataFrame:
    """``rows`` with the columns of ``SCHEMA``.

    ``split``, ``label`` and ``texts`` must be there. ``place`` is counted, ``id`` defaults to ``split:place``,
    ``n_context`` to none (all but the last text for the shape ``candidate``), the others to null.
    """
    rows = rows.with_columns(place=pl.int_range(pl.len()).over("split"))
    n_context = pl.col("texts").list.len() - 1 if shape is Shape.CANDIDATE else pl.lit(0)
    defaults = {
        "id": pl.concat_str(pl.col("split").cast(pl.String), "place", separator=":"),
        "n_context": n_context.cast(pl.UInt32),
    }
    missing = [name for name in SCHEMA if name not in rows.columns]
    rows = rows.with_columns(defaults.get(name, pl.lit(None)).alias(name) for name in missing)
    return rows.select(pl.col(name).cast(dtype) for name, dtype in SCHEMA.items())


EDITED = frozenset(
    {"altered", "corrupted", "edited", "incoherent", "manipulated", "modified", "noised", "permuted", "perturbed",
     "replaced", "reversed", "scrambled", "shuffled", "swapped", "unordered"}
)  # fmt: skip
"""Names of labels that say that a text was edited."""
ORIGINAL = frozenset(
    {"authentic", "clean", "coherent", "in_order", "intact", "natural", "ordered", "original", "unaltered", "unchanged",
     "unedited", "unmodified", "unperturbed"}
)  # fmt: skip
"""Names of labels that say that it was not."""


def with_edited(data: AuditInput, named: Collection[str] = ()) -> AuditInput:
    """Data of others whose labels say which texts were edited: then originals come first, and all solvers count.

    Args:
        data: what was read.
        named: the labels of edited texts; without, all labels must be names of ``EDITED`` or ``ORIGINAL``.

    Raises:
        UnknownNameError: there is no such label.
    """
    if not data.external or data.perturbation or data.shape is Shape.CHOICE:
        return data
    if unknown := next((name for name in named if name not in data.labels), None):
        raise UnknownNameError("label", unknown, data.labels)
    usual = {name: re.sub(r"[\W_]+", "_", name.strip().lower()) for name in data.labels}
    edited = [name for name in data.labels if (name in named if named else usual[name] in EDITED)]
    originals = [name for name in data.labels if name not in edited]
    if not edited or not originals or not (named or {usual[name] for name in originals} <= ORIGINAL):
        return data
    order = (*originals, *edited)
    places = dict(enumerate(order.index(name) for name in data.labels))
    rows = data.rows.with_columns(pl.col("label").replace_strict(places, return_dtype=pl.Int64))
    read = data.read or Provenance("")
    how = "named" if named else "by the names of the labels"
    note = f"edited texts: {', '.join(edited)} ({how}), so all solvers count"
    return replace(data, labels=order, rows=rows, perturbation=True, read=replace(read, notes=(*read.notes, note)))


_ALIKE, _ALTERNATE = 0.5, 0.95
"""Smallest share of their words that two neighbouring rows have in common (Jaccard, mean), and smallest share of such
rows whose labels differ, that make them pairs."""


def with_neighbours_as_pairs(data: AuditInput) -> AuditInput:
    """Single texts of others of which each two that follow each other are a text and its edited version, as pairs.

    Their labels differ and they share most words, and rows of neighbouring pairs do not.
    """
    if not data.external or data.shape is not Shape.SENTENCE or len(data.labels) != 2:  # noqa: PLR2004
        return data
    if data.pairs or data.rows.height < _SAMPLE // 10 or any(n % 2 for n in data.counts.values()):
        return data
    text = pl.col("texts").list.first().str.head(AT_EACH_END).str.to_lowercase().str.split(" ")
    following = data.rows.select("split", "place", "label", words=text).with_columns(
        next_label=pl.col("label").shift(-1).over("split"), next_words=pl.col("words").shift(-1).over("split")
    ).drop_nulls()  # fmt: skip
    common = pl.col("words").list.set_intersection("next_words").list.len()
    shares = following.select(
        inside=pl.col("place") % 2 == 0, differ=pl.col("label") != pl.col("next_label"),
        alike=common / pl.col("words").list.set_union("next_words").list.len(),
    ).group_by("inside").mean()  # fmt: skip
    found = {inside: (differ, alike) for inside, differ, alike in shares.iter_rows()}
    (differ, alike), (_, between) = found[True], found.get(False, (0.0, 0.0))
    if differ < _ALTERNATE or alike < _ALIKE or between > _ALIKE / 2:
        return data
    number = pl.concat_str("split", (pl.col("place") // 2).cast(pl.String), separator=":")
    read = data.read or Provenance("")
    note = f"each two rows are taken as a pair: they share {alike:.0%} of their words, and their labels differ"
    return replace(
        data, rows=data.rows.with_columns(pair_id=number), pairs=True, read=replace(read, notes=(*read.notes, note))
    )


def metadata_of(frame: pl.DataFrame, used: Collection[str]) -> pl.Expr:
    """The values of the columns of ``frame`` that are not ``used``, as ``metadata`` has them.

    Columns of lists or structs are left out, and columns of texts: their values are longer than ids or categories.
    """
    names = []
    for name, dtype in frame.schema.items():
        if name not in used and not dtype.is_nested():
            length = frame[name].head(_SAMPLE).cast(pl.String, strict=False).str.len_chars().mean()
            if length is not None and length <= _LONGEST_VALUE:  # type: ignore[operator]
                names.append(name)
    fields = [pl.struct(name=pl.lit(name), value=pl.col(name).cast(pl.String, strict=False)) for name in names]
    return pl.concat_list(fields) if fields else pl.lit(None, dtype=SCHEMA["metadata"])


def shape_of(texts: pl.Series) -> Shape:
    """The shape of rows without choices, by how many texts the longest has."""
    return {1: Shape.SENTENCE, 2: Shape.PAIR}.get(int(texts.list.len().to_numpy().max()), Shape.SEQUENCE)


def of_others(  # noqa: PLR0913 (one parameter per part)
    name: str, shape: Shape, labels: tuple[str, ...], rows: pl.DataFrame, about: Provenance, *,
    perturbation: bool = False, pairs: bool = False, guessed_groups: bool = False,
) -> AuditInput:  # fmt: skip
    """Rows that others made: all tables and files become input of the audit here.

    Args:
        name: how reports call them.
        shape: what one row holds.
        labels: label names, which the column ``label`` indexes.
        rows: as ``conform`` takes them.
        about: how they were read.
        perturbation: whether label 0 is an original and the others are edits of it.
        pairs: whether rows come in groups that share ``pair_id``.
        guessed_groups: whether ``group`` is a column that nobody named.
    """
    rows = conform(rows, shape)
    return AuditInput(
        name, shape, labels, rows, perturbation=perturbation, pairs=pairs, natural=True, external=True,
        guessed_groups=guessed_groups, read=about,
    )  # fmt: skip


def most_choices(rows: pl.DataFrame) -> int:
    """The largest number of choices of a row, from ``texts`` and ``n_context``."""
    return int(rows.select((pl.col("texts").list.len() - pl.col("n_context")).max()).item())


def with_used_labels(labels: tuple[str, ...], rows: pl.DataFrame, shape: Shape) -> tuple[tuple[str, ...], pl.DataFrame]:
    """The label names that rows have, and the rows with ``label`` as their index; places of a choice stay as they are.

    A label that no row has is not a class of the data: a language may use a part of the labels of a task.
    """
    used = rows["label"].unique().drop_nulls().sort().to_list()
    if shape is Shape.CHOICE or len(used) == len(labels) or (used and not 0 <= used[0] <= used[-1] < len(labels)):
        return labels, rows
    index = pl.col("label").replace_strict(used, range(len(used)), default=None, return_dtype=pl.Int64)
    return tuple(labels[label] for label in used), rows.with_columns(index)
