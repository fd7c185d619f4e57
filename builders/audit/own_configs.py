"""Configs of discoprobe as input of the audit: built in memory, or read from a release folder."""

from collections.abc import Mapping
from typing import Final

import msgspec
import polars as pl

from discoprobe.builders.audit.frame import (
    SCHEMA,
    AuditInput,
    Provenance,
    UnreadableDataError,
    conform,
    metadata_of,
    most_choices,
    with_used_labels,
)
from discoprobe.builders.config import TEXTS, Config, Shape, schema
from discoprobe.builders.settings import SPLITS
from discoprobe.builders.task import all_tasks, generated_tasks
from discoprobe.loaders.hashing import hashed

_MUST_NOT_TELL = frozenset({"id", "corpus", "doc_id", "annotation"})
"""Columns of a config that say where a row comes from. The others say what was edited, or hold what solvers of texts
look at: lengths, frequencies and target words."""

ONE_SPEAKER: Final = ("same_speaker",)
"""What the bad text of an imported suite of speakers can be."""
SPEAKERS_TELL: Final[Mapping[str, str]] = dict.fromkeys(
    ("token", "chars", "words", "edges", "overlap", "similarity", "single", "pairwise"),
    "the good text has two speakers and the bad one has one, which is the question: compare region 4",
)
"""Checks that such a suite is exempt from, because the number of speakers shows which text is the good one → reason."""


def from_config(config: Config) -> AuditInput:
    """The rows of a config that was built, and the properties that its task promises.

    Raises:
        UnreadableDataError: it has no rows.
    """
    splits = {split: pl.DataFrame(table) for split, table in config.splits.items()}
    return msgspec.structs.replace(
        _as_input(config.name, splits, config.shape, config.labels),
        natural=config.published or config.natural, external=config.published, perturbation=config.pairs,
        guessed_groups=config.published, pairs=config.pairs, split_by=config.split_by, exempt=dict(config.exempt),
        expected=() if config.published else splits_of(config.shape),
    )  # fmt: skip


def splits_of(shape: Shape) -> tuple[str, ...]:
    """The splits that a config of a task of discoprobe has: a suite has test only."""
    return SPLITS[-1:] if shape is Shape.SUITE else SPLITS


def own_shape(frame: pl.DataFrame) -> Shape | None:
    """The shape of the discoprobe config whose columns the table has; None if it has those of no shape."""
    return next((shape for shape in Shape if set(schema(shape).names) <= set(frame.columns)), None)


def read_own(
    name: str, splits: Mapping[str, pl.DataFrame], shape: Shape, class_names: Mapping[str, tuple[str, ...]]
) -> AuditInput:
    """A config of a release, with what the task of its name (``dc_es``: ``dc``) promises about its rows.

    If no task has this name, the config was imported; an imported suite has the exemptions of its kind of suite.

    Args:
        name: of the config, or the path that ends with it.
        splits: name of the split → its rows.
        shape: what one row holds.
        class_names: label column → the names that its numbers index, or that it has in place of numbers.
    """
    if any(frame.schema["label"] == pl.String for frame in splits.values()):
        known = class_names.get("label") or sorted({label for frame in splits.values() for label in frame["label"]})
        index = {label: at for at, label in enumerate(known)}
        splits = {
            split: frame.with_columns(pl.col("label").replace_strict(index, return_dtype=pl.Int64))
            for split, frame in splits.items()
        }
        class_names = {**class_names, "label": tuple(known)}
    data = _as_input(name, splits, shape, class_names.get("label", ()))
    data = msgspec.structs.replace(data, read=Provenance("config of discoprobe"))
    task = (all_tasks() | generated_tasks()).get(name.rsplit("/", 1)[-1].rsplit("_", 1)[0])
    if task:
        return msgspec.structs.replace(
            data, perturbation=task.paired, pairs=task.paired, split_by=task.split_by, exempt=dict(task.exempt),
            natural=task.natural, expected=splits_of(shape),
        )  # fmt: skip
    suite = shape is Shape.SUITE
    exempt = SPEAKERS_TELL if suite and class_names.get("label") == ONE_SPEAKER else {}
    return msgspec.structs.replace(
        data, perturbation=suite, pairs=suite, natural=True, external=True, guessed_groups=True, exempt=exempt
    )


def _as_input(name: str, splits: Mapping[str, pl.DataFrame], shape: Shape, labels: tuple[str, ...]) -> AuditInput:
    """The rows of a config; ``labels`` are the names that ``label`` indexes, or empty for numbers.

    The score of a scored pair is its label. A suite gives two rows per pair, the good text and the bad one, which are
    the labels whatever the condition is; their texts are those of the regions.
    """
    optional = ("id", "label", "pair_id", "corpus", "annotation", "sent_ids", "original", "group", "score", "cues")
    fields = {
        "target": ("target", "form"), "target_start": ("target", "start"), "target_end": ("target", "end"),
        "edit_start": ("edit", "start"), "edit_end": ("edit", "end"),
    }  # fmt: skip
    n_context = {Shape.CANDIDATE: pl.col("sentences").list.len(), Shape.CHOICE: pl.col("context").list.len()}
    parts = []
    for split, frame in splits.items():
        if not frame.height:
            continue
        if shape is Shape.SUITE:
            versions = [_suite_version(frame, label, side) for label, side in enumerate(("good", "bad"))]
            rows = pl.concat(versions).sort(hashed(pl.col("id")))
        else:
            present = [column for column in optional if column in frame.columns]
            of_structs = {
                name: pl.col(column).struct.field(field)
                for name, (column, field) in fields.items()
                if isinstance(frame.schema.get(column), pl.Struct)
            }
            context = n_context.get(shape, pl.lit(0, dtype=pl.UInt32))
            used = set(frame.columns) - _MUST_NOT_TELL
            rows = frame.select(
                *present, texts=TEXTS[shape], n_context=context, metadata=metadata_of(frame, used), **of_structs
            )
        parts.append(rows.with_columns(split=pl.lit(split, dtype=SCHEMA["split"])))
    if not parts:
        raise UnreadableDataError(f"{name}: no rows to audit")
    rows = conform(pl.concat(parts, how="vertical_relaxed"), shape)
    n_labels = most_choices(rows) if shape is Shape.CHOICE else int(rows["label"].max()) + 1  # type: ignore[arg-type]
    conditions = labels if shape is Shape.SUITE else ()
    labels = ("good", "bad") if shape is Shape.SUITE else labels or tuple(map(str, range(n_labels)))
    labels, rows = with_used_labels(labels, rows, shape)
    audited_shape = {Shape.SCORED: Shape.PAIR, Shape.SUITE: Shape.SEQUENCE}.get(shape, shape)
    return AuditInput(name, audited_shape, labels, rows, conditions=conditions)


def _suite_version(frame: pl.DataFrame, label: int, side: str) -> pl.DataFrame:
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
    said, of_texts = pl.col("speakers_good"), pl.col(f"speakers_{side}")
    compared, before = said.list.get(at - 1, null_on_oob=True), said.list.get(at - 2, null_on_oob=True)
    somewhere = said.list.eval(pl.element() != pl.element().shift(1)).list.any()
    is_whole = regions.list.len() == passage.list.len()
    original = pl.when(is_sentence).then("sentence_good").otherwise(piece)
    return frame.select(
        pl.col("id") + ("" if side == "good" else "-bad"), "pair_id", "corpus", "sent_ids", "group",
        label=pl.lit(label, pl.Int64), condition="label", n_context=pl.lit(0, dtype=pl.UInt32),
        texts=pl.when(is_sentence).then(pl.concat_list(f"sentence_{side}")).otherwise(passage),
        original=pl.when(pl.lit(bool(label))).then(original), target=pl.col("target").struct.field("form"),
        edit_start=pl.when(at > 0).then(start), edit_end=pl.when(at > 0).then(end),
        distance=pl.col("subject").struct.field("distance"), attractors=pl.col("subject").struct.field("attractors"),
        speakers=pl.when(~is_sentence, is_whole).then(of_texts),
        other_speaker=pl.when(at > 1).then(compared != before).when(at == 0).then(somewhere),
    )  # fmt: skip
