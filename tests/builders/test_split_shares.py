"""Splits get their share of the rows, not only of the candidates: matching takes more from small splits."""

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from shared import UD, needs_shared

from discoprobe.builders import (
    MIN_ROWS,
    SPLITS,
    Context,
    ProbingTask,
    Sample,
    Settings,
    hindrance,
    sample,
    select,
    tasks_named,
)
from discoprobe.builders.sentences import unedited, with_splits
from discoprobe.loaders import hashing
from discoprobe.loaders.languages import language_data
from discoprobe.sources import load_corpus

SETTINGS = Settings(syncretism=())


def some_of_each_split(loss):
    """A ``sample`` that keeps the ``loss``-th power of a split's share: with 2, a half of a half of the candidates."""

    def choose(frame, context):
        sizes = {
            split: n * (n / frame.height) ** (loss - 1)
            for split, n in frame["split"].cast(pl.String).value_counts().iter_rows()
        }
        most = pl.col("split").cast(pl.String).replace_strict(sizes, return_dtype=pl.Float64)
        kept = frame.filter(pl.int_range(pl.len()).over("split") < most.floor())
        return Sample(unedited(kept.with_columns(label=pl.lit(0, pl.Int64))), candidates=frame.height)

    return choose


def counts(n, *, loss=1, choose=None, by_hash=False, per_group=3, settings=SETTINGS):
    """Rows per split of a task with ``n`` candidates in groups of ``per_group``, of which ``choose`` is the sample."""
    row = np.arange(n)
    frame = pl.DataFrame(
        {
            "row": row, "key": hashing.mix(row.astype(np.uint64), "key"), "cluster": row, "label": ["yes"] * n,
            "target_form": [f"form{at // per_group}" for at in row], "reason": pl.Series([None] * n, dtype=pl.String),
        }
    )  # fmt: skip
    task = ProbingTask(
        labels=("yes",), select=None, sample=choose or some_of_each_split(loss), split_by="target", name="test"
    )
    found = SimpleNamespace(frame=lambda _: frame, similarity=None, notes=(), forms=None, copies={})
    made = sample(task, found, Context("", language_data("en"), settings, small=not by_hash), settings)
    rows = made.rows
    assert rows.group_by("group").agg(pl.col("split").n_unique())["split"].max() == 1
    assert made.frame.height == n
    return {split: (rows["split"].cast(pl.String) == split).sum() for split in SPLITS}


def test_a_small_split_that_matching_leaves_too_little_gets_more_groups():
    """By their share of the candidates the splits have 605, 45 and 180 rows."""
    found = counts(2000, loss=2)
    assert all(found[split] >= least for split, least in zip(SPLITS, MIN_ROWS, strict=True)), found


def test_no_split_is_without_rows_where_others_have_many_though_a_config_is_tiny():
    found = counts(200, loss=3)
    assert all(found.values()), found


def test_a_further_attempt_that_gives_fewer_rows_is_not_taken():
    """The first sample has too few rows of validation; with other shares, the task gives one row of each split."""
    attempts = []

    def choose(frame, context):
        attempts.append(frame)
        first = frame.filter((pl.col("split") != "validation") | (pl.int_range(pl.len()).over("split") < 30))
        rows = first if len(attempts) == 1 else frame.filter(pl.int_range(pl.len()).over("split") < 1)
        return Sample(unedited(rows.with_columns(label=pl.lit(0, pl.Int64))), candidates=frame.height)

    found = counts(2000, choose=choose)
    assert len(attempts) > 1
    assert found["validation"] == 30
    assert found["train"] > MIN_ROWS[0]


def test_the_split_of_a_group_of_a_large_corpus_depends_on_its_hash_alone():
    assert counts(2000, loss=2, by_hash=True) == counts(2000, loss=2, by_hash=True)
    assert counts(2000, loss=2, by_hash=True)["validation"] < MIN_ROWS[1]


@pytest.mark.parametrize(
    ("sizes", "shares"),
    [
        ((10_000, 4_000, 4_000), (0.556, 0.222, 0.222)),
        (Settings().sizes, (0.833, 0.083, 0.083)),
        ((900, 0, 100), (0.9, 0, 0.1)),
    ],
)
def test_a_large_text_is_divided_as_the_sizes_are(sizes, shares):
    """So that all splits are full after the same text; a small corpus is divided as ever."""
    settings = replace(SETTINGS, sizes=sizes)
    assert settings.shares == pytest.approx(shares, abs=0.001)
    keep_all = {"choose": lambda frame, _: Sample(unedited(frame.with_columns(label=pl.lit(0, pl.Int64))))}
    found = counts(6000, by_hash=True, settings=settings, per_group=1, **keep_all)
    assert [found[split] / 6000 for split in SPLITS] == pytest.approx(shares, abs=0.02)
    assert counts(6000, settings=settings, per_group=1, **keep_all) == counts(6000, per_group=1, **keep_all)


@pytest.mark.parametrize("per_group", [1, 4])
@given(n=st.integers(450, 900))
def test_what_is_enough_for_a_config_makes_one(n, per_group):
    """Where matching takes a tenth of every split: 405 rows or more."""
    found = counts(n, loss=1.05, per_group=per_group)
    if sum(found.values()) >= 1.05 * sum(MIN_ROWS):
        assert all(found[split] >= least for split, least in zip(SPLITS, MIN_ROWS, strict=True)), found


TREEBANKS = sorted(path for path in UD.glob("*/*") if path.is_dir())
BY_DOCUMENT, BY_TARGET, BY_CLUSTER = tasks_named(["so", "subj_number", "sent_len"])


def groups_of(task, chosen):
    """``group`` and ``split`` of groups with usable material; those of one ``label`` are divided by themselves."""
    if task is BY_DOCUMENT:
        sentences = chosen.sentences.drop_nulls("passage")
        return sentences.select("split", group="doc_key", label=pl.lit("")).unique()
    frame = chosen.frame(task)
    placed = with_splits(frame, task, Settings().seed) if frame.height else frame.with_columns(group=pl.lit(""))
    return placed.filter(pl.col("reason").is_null()).select(pl.col("^split$"), "group", "label").unique()


@needs_shared
@pytest.mark.slow
@pytest.mark.parametrize("folder", TREEBANKS, ids=lambda folder: folder.name)
def test_no_split_of_a_treebank_is_empty_where_three_groups_have_material(folder):
    """Documents are two in every split where there are six."""
    corpus = load_corpus(folder.parent.name, [str(folder)])
    context = Context(
        "", language_data(corpus.lang), Settings(), sources=corpus.sources, layers=corpus.layers,
        n_sentences=corpus.n_sentences,
    )  # fmt: skip
    tasks = [task for task in (BY_DOCUMENT, BY_TARGET, BY_CLUSTER) if not hindrance(task, context)]
    chosen = select(tasks, corpus.parts, context)
    for task in tasks:
        for (label,), groups in groups_of(task, chosen).group_by("label"):
            fewest = 2 if task is BY_DOCUMENT and groups.height >= 6 else 1
            counts = {split: (groups["split"].cast(pl.String) == split).sum() for split in SPLITS}
            if groups.height >= 3:
                assert min(counts.values()) >= fewest, (task.name, label, counts)
