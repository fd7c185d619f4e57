"""Equal counts of labels, of like lengths."""

import random
from itertools import product

import numpy as np
import polars as pl
import pytest
from audit_parts import finding_of
from cue_sets import read
from hypothesis import given
from hypothesis import strategies as st

from discoprobe.builders.audit import Status
from discoprobe.builders.sampling import SURFACE, match_labels, surface
from discoprobe.loaders import hashing


def made(lengths, labels, cells=None, splits=None):
    n = len(lengths)
    return pl.DataFrame(
        {
            "key": hashing.mix(np.arange(n, dtype=np.uint64), "test"),
            "split": splits or ["train"] * n,
            "cell": cells or [None] * n,
            "label": labels,
            "n_running": lengths,
            "n_chars": [6 * length for length in lengths],
            **dict.fromkeys(("n_capitals", "n_commas", "n_marks"), [1] * n),
        },
        schema_overrides={
            "cell": pl.String,
            "label": pl.Int64,
            "split": pl.String,
            **dict.fromkeys(SURFACE, pl.Int32),
        },
    )


rows = st.lists(
    st.tuples(st.integers(5, 25), st.integers(0, 2), st.sampled_from("xy"), st.sampled_from(["train", "test"])),
    max_size=80,
).map(lambda found: made(*[list(column) for column in zip(*found, strict=True)]) if found else made([], []))


@given(rows)
def test_labels_are_equal_in_every_split_and_cell_and_rows_are_rows(frame):
    kept = match_labels(frame, "label", 13, cell=("cell",))
    n_labels = frame["label"].n_unique()
    counts = kept.group_by("split", "cell", "label").len()
    for _, part in counts.group_by("split", "cell"):
        assert part.height == n_labels
        assert part["len"].n_unique() == 1
    assert kept.join(frame, on=frame.columns, how="semi", nulls_equal=True).height == kept.height
    assert kept["key"].n_unique() == kept.height


@given(rows)
def test_the_order_of_rows_does_not_matter(frame):
    one = match_labels(frame, "label", 13, cell=("cell",))["key"].sort()
    assert one.equals(match_labels(frame.reverse(), "label", 13, cell=("cell",))["key"].sort())


@given(st.lists(st.integers(0, 40), min_size=24, max_size=24), st.booleans())
def test_no_fewer_rows_than_equal_counts_at_every_length_leave(sizes, in_cells):
    """Three labels with any numbers of sentences at eight lengths; whole sets lose a few."""
    found = [
        (length, label) for n, (length, label) in enumerate(product(range(5, 29, 3), range(3))) for _ in range(sizes[n])
    ]
    lengths, labels = (list(column) for column in zip(*found, strict=True)) if found else ([], [])
    cells = ["short" if length < 15 else "long" for length in lengths] if in_cells else None
    kept = match_labels(made(lengths, labels, cells), "label", 13, cell=("cell",))
    table = np.array(sizes).reshape(8, 3)
    assert kept.height >= 3 * (table.min(axis=1).sum() - 4)


def test_lengths_of_labels_are_alike_where_they_were_not():
    lengths = [5 + i % 21 for i in range(2000)] + [10 + i % 14 for i in range(400)]
    kept = match_labels(made(lengths, [0] * 2000 + [1] * 400), "label", 13)
    means = kept.group_by("label").agg(pl.col("n_running").mean()).sort("label")["n_running"]
    assert kept.height >= 640
    assert abs(means[0] - means[1]) < 0.1


def test_rows_without_a_match_are_used_where_the_others_are_too_few():
    kept = match_labels(made([5] * 10 + [25] * 10, [0] * 10 + [1] * 10), "label", 13, least=10)
    assert kept.height == 20


def test_characters_per_word_are_alike_too():
    frame = made([5 + i % 20 for i in range(1200)], [int(i % 3 == 0) for i in range(1200)]).with_columns(
        n_chars=pl.col("n_chars") + pl.int_range(1200) % 13 + 3 * pl.col("label")
    )

    def difference(rows):
        rates = rows.group_by("label").agg((pl.col("n_chars") / pl.col("n_running")).mean()).sort("label")["n_chars"]
        return abs(rates[0] - rates[1])

    kept = match_labels(frame, "label", 13)
    assert kept.height >= 600
    assert difference(kept) < 0.3 * difference(frame)


@pytest.mark.parametrize("name", ["n_capitals", "n_commas", "n_marks"])
def test_capitals_and_marks_are_alike_too(name):
    """Sentences in the past tense name more people; dates have dots where other sentences have commas (Croatian)."""
    frame = made([5 + i % 20 for i in range(1200)], [int(i % 3 == 0) for i in range(1200)]).with_columns(
        (pl.int_range(1200) % 7 + pl.col("label")).cast(pl.Int32).alias(name)
    )

    def difference(rows):
        means = rows.group_by("label").agg(pl.col(name).mean()).sort("label")[name]
        return abs(means[0] - means[1])

    kept = match_labels(frame, "label", 13)
    assert kept.height >= 600
    assert difference(kept) < 0.2 * difference(frame)


def test_labels_that_differ_much_cost_more_than_a_fifth():
    """Shallow trees are short: of the others only the short ones stay."""
    frame = made([5 + i % 10 for i in range(200)] + [8 + i % 10 for i in range(200)], [0] * 200 + [1] * 200)
    kept = match_labels(frame, "label", 13)
    means = kept.group_by("label").agg(pl.col("n_running").mean()).sort("label")["n_running"]
    assert 120 <= kept.height < 320
    assert abs(means[0] - means[1]) < 1


def test_surface_counts_what_a_reader_sees():
    text = pl.DataFrame({"text": ["Nach Köln, sagt Émile O'Neill – \u00ab nein, 1,5!"]})
    counts = text.select(surface(pl.col("text"))).row(0, named=True)
    assert counts == {
        "n_running": 9,
        "n_chars": 44,
        "n_capitals": 5,
        "n_commas": 3,
        "n_marks": 4,
    }


def test_the_sets_that_make_a_label_longer_go_but_not_all_and_not_below_the_least():
    frame = made([10] * 50 + [10] * 40 + [25] * 10, [0] * 50 + [1] * 50)
    assert match_labels(frame, "label", 13).group_by("label").len().sort("label")["len"].to_list() == [40, 40]
    assert match_labels(frame, "label", 13, least=45).height == 90
    assert match_labels(frame, "label", 13, least=100).height == 100


def test_a_row_more_moves_few():
    lengths = [5 + (i * 7) % 21 for i in range(900)]
    frame = made(lengths, [int(i % 3 == 0) for i in range(900)])
    before, after = (set(match_labels(part, "label", 13)["key"]) for part in (frame, frame.head(890)))
    assert len(before - after) <= 30


def planted(n, seed):
    """Texts of two labels, of which the second has longer words and sentences, and more capitals and commas."""
    make = random.Random(seed)

    def word(label):
        letters = "".join(make.choices("abcdefghijklmnop", k=max(1, round(make.gauss(5 + 0.24 * label, 2)))))
        cased = letters.capitalize() if make.random() < 0.15 + 0.04 * label else letters
        return cased + "," * (make.random() < 0.08 + 0.024 * label)

    labels = [i % 2 for i in range(n)]
    texts = [" ".join(word(label) for _ in range(max(3, round(make.gauss(14 + 4 * label, 5))))) for label in labels]
    splits = make.choices(["train", "validation", "test"], [0.55, 0.15, 0.3], k=n)
    frame = pl.DataFrame({"text": texts, "label": labels, "split": splits}).with_columns(
        key=pl.Series(hashing.mix(np.arange(n, dtype=np.uint64), "planted", seed))
    )
    return frame.with_columns(surface(pl.col("text")))


@pytest.mark.parametrize("n", [110, 350, 1700, pytest.param(17_000, marks=pytest.mark.slow)])
def test_a_planted_difference_is_gone_at_every_size(n, tmp_path):
    """Sets of about 60, 200, 1,000 and 10,000 rows: the audit finds no length, and it finds it in the candidates."""
    gains = []
    for seed in range(3):
        frame = planted(n, seed)
        outcomes = []
        for name, part in (("candidates", frame), ("matched", match_labels(frame, "label", 13))):
            (folder := tmp_path / f"{name}{seed}").mkdir()
            rows = part.select("split", "text", pl.col("label").cast(pl.String)).to_dicts()
            finding = finding_of(read(rows, folder), "length")
            outcomes.append(finding.status)
        gains.append(outcomes)
    assert all(matched is not Status.ABOVE for _, matched in gains)
    assert n < 1000 or all(candidates is Status.ABOVE for candidates, _ in gains)


def test_a_small_split_keeps_more_and_differs_by_no_more_than_chance_does():
    frames = [planted(60, seed).with_columns(split=pl.lit("train")) for seed in range(10)]
    strict = [match_labels(frame, "label", 13, small={}) for frame in frames]
    wider = [match_labels(frame, "label", 13, small={"train": 200}) for frame in frames]
    assert sum(rows.height for rows in wider) > sum(rows.height for rows in strict)
    for frame, rows in zip(frames, wider, strict=True):
        means = rows.group_by("label").agg(pl.col("n_chars").log().mean()).sort("label")["n_chars"]
        assert abs(means[0] - means[1]) / frame["n_chars"].log().std() < (2 / (rows.height / 2)) ** 0.5


def test_a_split_of_full_size_does_not_become_looser():
    frame = planted(600, 5).with_columns(split=pl.lit("train"))
    kept = match_labels(frame, "label", 13)
    assert kept.height >= 200
    assert kept.equals(match_labels(frame, "label", 13, small={}))
