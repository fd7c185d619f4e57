"""Which candidates of probing tasks are used: those without a reason against them, one of each cluster and bag."""

import numpy as np
import polars as pl
import pytest

from discoprobe.builders import SPLITS, ConfigRows, Context, Sample, Settings, all_tasks
from discoprobe.builders.edits import original_and_edited
from discoprobe.builders.sampling import SURFACE, Split
from discoprobe.builders.sentences import Trees, balance_labels, sentences, usable_of
from discoprobe.loaders import hashing
from discoprobe.loaders.conllu import read_corpora
from discoprobe.loaders.languages import language_data

N = 60


def context(seed=13, **options):
    return Context("bigram_shift", language_data("en"), Settings(seed=seed, **options), ("original", "shifted"))


def frame(**columns):
    """Candidates without a reason against them, each alone in its cluster, with a text of its own."""
    row = np.arange(N)
    base = {
        "key": hashing.mix(row.astype(np.uint64), "key"), "text_key": row.astype(np.uint64), "cluster": row,
        "reason": pl.Series([None] * N, dtype=pl.String),
    }  # fmt: skip
    return pl.DataFrame(base | columns)


def test_candidates_that_differ_are_all_used():
    seen = context()
    rows = usable_of(frame(), seen)
    assert rows.height == N
    assert seen.drops.counts == {"near-duplicate": 0}


def test_candidates_with_a_reason_are_counted_by_it():
    reasons = [["typo", "foreign", "typo", None][i % 4] for i in range(N)]
    seen = context()
    rows = usable_of(frame(reason=pl.Series(reasons)), seen)
    assert rows["key"].to_list() == frame()["key"].to_list()[3::4]
    assert seen.drops.counts == {"foreign": N // 4, "typo": N // 2, "near-duplicate": 0}


@pytest.mark.parametrize("column", ["cluster", "text_key", "bag"])
def test_one_of_each_cluster_text_and_bag_is_used_and_the_others_are_counted(column):
    alike = frame(**{column: np.arange(N).astype(np.uint64) // 3})
    seen = context()
    rows = usable_of(alike, seen)
    assert rows[column].n_unique() == rows.height == N // 3
    assert seen.drops.counts == {"near-duplicate": N - N // 3}


@pytest.mark.parametrize("column", ["cluster", "bag"])
def test_a_hash_chooses_among_candidates_that_are_alike(column):
    alike = frame(**{column: np.arange(N).astype(np.uint64) // 3})
    keys = set(usable_of(alike, context())["key"])
    assert set(usable_of(alike.reverse(), context())["key"]) == keys
    assert set(usable_of(alike, context(seed=14))["key"]) != keys
    places = {place for place, key in enumerate(alike["key"]) if key in keys}
    assert {place % 3 for place in places} == {0, 1, 2}


def test_pairs_beyond_the_size_of_a_split_are_counted():
    split = pl.Series([SPLITS[place % 3] for place in range(N)], dtype=Split)
    seen = context(sizes=(20, 10, 100), min_class=1)
    sample = original_and_edited(frame(split=split), seen)
    assert seen.drops.counts == {"near-duplicate": 0, "over-size": (N // 3 - 10) + (N // 3 - 5)}
    assert sample.rows["split"].cast(pl.String).value_counts(sort=True).rows() == [
        ("test", 2 * N // 3), ("train", 20), ("validation", 10)
    ]  # fmt: skip
    assert sample.candidates == 2 * N
    assert sample.rows.group_by("pair").agg("label")["label"].list.sort().to_list() == [[0, 1]] * (10 + 5 + N // 3)


def test_a_size_is_divided_among_the_labels():
    """A label whose rows come later in hash order does not lose some to the other."""
    rows = frame(
        split=pl.Series([SPLITS[0]] * N, dtype=Split), label=pl.Series([0, 1] * (N // 2)), cell=pl.Series([""] * N),
        **{name: pl.Series([10] * N) for name in SURFACE},
    )  # fmt: skip
    capped = balance_labels(rows, context(sizes=(20, 10, 10)))
    assert capped["label"].value_counts().sort("label").rows() == [(0, 10), (1, 10)]


@pytest.mark.parametrize(
    ("texts", "reason"),
    [
        (("a b", "b a", "B a", "c d"), "equal-text"),
        (("a b", "b a", "c d", "A b"), "equal-text"),
        (("a b", "b a", "word " * 11, "longer " * 11), "unclean-edit"),
    ],
)
def test_of_two_pairs_with_one_text_or_an_unclean_edit_one_is_used(texts, reason):
    """What an edit makes of a text can be another text, or too long for one without punctuation."""
    rows = pl.DataFrame({"unit": [1, 1, 2, 2], "key": [1, 2, 3, 4], "text": [text.strip() for text in texts]})
    task = all_tasks()["bigram_shift"]
    plan = Context("", language_data("es"), Settings())
    of_config = ConfigRows(task, [()], plan)
    of_config.add(Sample(rows, labels=task.labels, candidates=4), *[np.empty(0)] * 3)
    (left,) = of_config._taken
    assert left["unit"].n_unique() == of_config.drops.counts[reason] == 1


def reasons(tmp_path, texts):
    """Why each of some texts, sentences of one treebank, may not be shown."""
    lines = []
    for text in texts:
        words = enumerate(text.split(), 1)
        lines += [f"# text = {text}", *(f"{n}\t{word}\t_\tVERB\t_\t_\t{n - 1}\tdep\t_\t_" for n, word in words), ""]
    file = tmp_path / "ru_x-ud-test.conllu"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    (shard,) = read_corpora([file])["ru"].shards()
    return sentences(Trees(shard), Settings())["reason"].to_list()


PROSE = [f"Вчера вечером мы снова читали книгу {n} ." for n in range(30)]


def test_a_line_without_capital_and_mark_is_a_fragment(tmp_path):
    line = "а жена сажает хлеб в поле"
    assert reasons(tmp_path, [*PROSE, line, line.capitalize(), f"{line} ."])[-3:] == ["fragment", None, None]


def test_where_sentences_have_no_mark_or_are_few_no_line_is_a_fragment(tmp_path):
    lines = [text.lower().rstrip(" .") + "ю" for text in PROSE]
    assert set(reasons(tmp_path, [*lines, *PROSE[:20]])) == {None}
    assert set(reasons(tmp_path, [*PROSE[:5], lines[0]])) == {None}
