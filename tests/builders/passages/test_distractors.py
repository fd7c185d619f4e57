"""Distractors: as long as what they stand in for, used once, from where they may come. Orders of sentences."""

import pickle

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from discoprobe.builders import Context, Settings
from discoprobe.builders.passages import (
    ANY,
    BEYOND,
    CLOSE,
    Comparison,
    Matching,
    Similarity,
    Slots,
    choice_rows,
    distractor_task,
    gains_of_sentences,
    gains_of_similarity,
    ordering_task,
    replaced_pairs,
    similarity,
)
from discoprobe.builders.passages.distractors import distractors
from discoprobe.builders.sampling import Split, remove_bias, split_of
from discoprobe.loaders import hashing
from discoprobe.loaders.languages import language_data

SENTENCES = 6
"""Sentences of a document; the third is where a distractor may stand."""


def frame_of(documents, seed=0, vocabulary=40):
    """Sentences of documents with lengths and content words."""
    n = documents * SENTENCES
    keys = hashing.mix(np.arange(n, dtype=np.uint64), "frame", seed)
    document = np.repeat(hashing.mix(np.arange(documents, dtype=np.uint64), "document", seed), SENTENCES)
    words = 5 + hashing.pick(keys, 20, "words")
    picks = [hashing.pick(keys, vocabulary, "content", i) for i in range(6)]
    return pl.DataFrame(
        {
            "key": keys, "doc_key": document, "cluster": np.arange(n), "n_words": words, "n_chars": words * 6,
            **{name: [sorted({int(column[i]) for column in picks}) for i in range(n)] for name in ("content", "words")},
            "grams": [[int(column[i]) for column in picks] for i in range(n)], "genre": ["x"] * n,
            "corpus": np.where(document % np.uint64(2) == 0, "x", "y"), "split": split_of(document, 13),
            **{name: hashing.pick(document, 8, name) == 0 for name in ("introduces", "introduced")},
        }
    ).with_row_index("row")  # fmt: skip


def slots_of(frame):
    first = np.arange(0, frame.height, SENTENCES)
    context = first[:, None] + np.array([0, 1, 3, 4])
    beside = first[:, None] + np.array([1, 3])
    return Slots(window=frame["key"].to_numpy()[first], true=first + 2, context=context, beside=beside)


def served(frame, matching, pool=None):
    slots = slots_of(frame)
    pool = np.arange(SENTENCES - 1, frame.height, SENTENCES) if pool is None else pool
    found = distractors(frame, slots, pool, 13, "dc", matching=matching)
    true = frame[slots.true[found["slot"].to_numpy()]]
    other = frame[found["distractor_row"].to_numpy()]
    return slots, found, true, other, pool


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 60), st.integers(0, 50), st.sampled_from([CLOSE, ANY]))
def test_each_distractor_is_used_once_and_may_stand_there(documents, seed, matching):
    _, found, true, other, pool = served(frame_of(documents, seed), matching)
    assert found["distractor_row"].n_unique() == found.height
    assert found["slot"].n_unique() == found.height
    assert set(found["distractor_row"]) <= set(pool.tolist())
    assert {"split", "corpus"} <= set(matching.same)
    assert all((true[name] == other[name]).all() for name in matching.same)
    assert (true["doc_key"] != other["doc_key"]).all()


@settings(max_examples=25, deadline=None)
@given(st.integers(10, 80), st.integers(0, 50))
def test_close_distractors_are_as_long(documents, seed):
    _, _, true, other, _ = served(frame_of(documents, seed), CLOSE)
    for column, most in (("n_words", 0.2), ("n_chars", 0.3)):
        a, b = true[column].to_numpy(), other[column].to_numpy()
        assert (np.maximum(a, b) <= (1 + most) * np.minimum(a, b)).all(), "a share of either, so that none is told"


def test_a_distractor_is_like_no_sentence_of_its_window():
    frame = frame_of(200).with_columns(cluster=pl.col("key") % 30)
    slots, found, _, _, _ = served(frame, ANY)
    clusters = frame["cluster"].to_numpy()
    present, distractor = slots.present(found["slot"].to_numpy()), found["distractor_row"].to_numpy()
    assert found.height > 100
    assert not (clusters[present] == clusters[distractor][:, None]).any()


def test_the_right_choice_has_the_place_of_its_label_and_no_origin():
    first = np.arange(0, 40, 10)
    windows = pl.DataFrame(
        {"window": first.astype(np.uint64), "first": first, "size": 2, "split": "test", "label": range(4)}
    )
    wrong, origins = first[:, None] + np.array([5, 6, 7]), [["later", "other_document", "similar"]] * 4
    rows = choice_rows(windows, wrong.tolist(), origins)
    assert rows["members"].to_list() == [
        [0, 1, 5, 6, 7],
        [10, 15, 11, 16, 17],
        [20, 25, 26, 21, 27],
        [30, 35, 36, 37, 31],
    ]
    assert rows["distractor"].to_list() == [[*origins[0][:at], None, *origins[0][at:]] for at in range(4)]
    assert rows["n_context"].to_list() == [1] * 4


@pytest.mark.parametrize("measure", ["cosines", "words", "shares"])
def test_similarities_of_many_contexts_are_those_of_each_alone(monkeypatch, measure):
    """They are computed in pieces, so that not all vectors are in memory at a time."""
    monkeypatch.setattr(similarity, "AT_ONCE", 3)
    frame = frame_of(10)
    slots, found = slots_of(frame), getattr(Similarity(frame), measure)
    candidates = np.column_stack([slots.true, slots.true + 3, slots.true[::-1]])
    together = found.with_each(slots.context, candidates)
    alone = [found.with_each(slots.context[[n]], candidates[[n]])[0] for n in range(len(candidates))]
    assert together.tolist() == [values.tolist() for values in alone]
    assert len(np.unique(together)) > 3


@pytest.mark.parametrize("measure", ["cosines", "words"])
def test_similarities_to_single_sentences_are_those_to_contexts_of_one(monkeypatch, measure):
    monkeypatch.setattr(similarity, "AT_ONCE", 3)
    frame = frame_of(10)
    slots, found = slots_of(frame), getattr(Similarity(frame), measure)
    candidates = np.column_stack([slots.true, slots.true + 3])
    single = found.with_single(slots.context, candidates)
    for place in range(slots.context.shape[1]):
        assert np.allclose(single[:, :, place], found.with_each(slots.context[:, [place]], candidates))
    assert len(np.unique(single)) > 3


def test_rare_ngrams_are_those_of_few_sentences():
    frame = pl.DataFrame({"row": range(6), "grams": [[1, 2], [1, 2], [1, 3], [1, 4], [1, 4], [1]]})
    similar = Similarity(frame).rare.with_single(np.array([[0], [3], [5]]), np.array([[1, 2], [4, 1], [0, 2]]))
    assert np.allclose(similar[:, :, 0], [[1, 0], [1, 0], [0, 0]])


def test_a_sentence_like_one_other_differs_from_a_distractor_that_is_a_little_like_several():
    """Both share two words with the passage as a whole, which shows no difference; single sentences do."""
    passage, right, wrong = [[1, 2], [3, 4], [5, 6]], [1, 2], [1, 3]
    words = [*passage, right, wrong]
    frame = pl.DataFrame({"words": words, "grams": words, "content": words}).with_row_index("row")
    context, candidates = np.array([[0, 1, 2]]), np.array([[3, 4]])
    beside = context[:, 1:]
    compared = Comparison(frame, None, context, beside, candidates)
    whole, each = gains_of_similarity(compared, sizes=True), gains_of_sentences(compared)
    by_cosines, by_words = 0, 4  # places of the rules on the similarity to the whole passage
    assert not whole[0, [by_cosines, by_words]].any()
    least, largest = 16, 20  # places of the rules on the sentences that are the least and the most similar
    assert each[0, largest] == 1
    assert each[0, least] <= 0


def test_of_two_the_first_is_on_the_preferred_side_and_the_second_on_the_other():
    frame = frame_of(300)
    slots = slots_of(frame)
    pool = np.setdiff1d(np.arange(frame.height), np.concatenate([slots.true, slots.context.ravel()]))
    slots = replace(slots, two=True)
    found = distractors(frame, slots, pool, 13, "dc", matching=Matching(overlap=(1.0, 1.0)))
    assert found["distractor_row"].n_unique() == found.height
    assert found.group_by("slot").len()["len"].max() == 2
    likeness, slot = Similarity(frame), found["slot"].to_numpy()
    of_true, of_found = (
        sum(
            cosines.with_each(slots.context[slot], rows[:, None])[:, 0]
            for cosines in (likeness.cosines, likeness.words)
        )
        for rows in (slots.true[slot], found["distractor_row"].to_numpy())
    )
    first = found.select(pl.int_range(pl.len()).over("slot") == 0).to_series().to_numpy()
    preferred = hashing.pick(slots.window[slot], 2, "nearer", 13, "dc") == 1
    as_preferred = (of_found > of_true) == preferred
    assert as_preferred[first].mean() > as_preferred[~first].mean() + 0.2


def test_in_rounds_a_window_gets_several_distractors_none_of_which_another_window_gets():
    frame = frame_of(300)
    every = slots_of(frame)
    pool = np.setdiff1d(np.arange(frame.height), np.concatenate([every.true, every.context.ravel()]))
    few = [part[:60] for part in (every.window, every.true, every.context, every.beside)]
    slots = Slots(*few, two=True, rounds=2, sharing=16)
    found = distractors(frame, slots, pool, 13, "dc", matching=Matching(overlap=(1.0, 1.0)))
    assert found["distractor_row"].n_unique() == found.height
    of_each = found.group_by("slot").len()["len"]
    assert of_each.max() == 4
    assert of_each.mean() > 2, "more than one round gives"


def test_a_task_that_another_process_gets_has_the_same_rows():
    """It is pickled, so its matching is a copy of ``ANY``; with another one, pairs would be chosen by similarity."""
    frame = frame_with_long_sentences(200).with_columns(index=pl.col("row") % SENTENCES)
    own_words = [[row // SENTENCES, 1000 + row] for row in range(frame.height)]
    frame = frame.with_columns(pl.Series(name, own_words) for name in ("content", "words", "grams"))
    context = Context("dc", language_data("en"), Settings(), ("coherent", "incoherent"))
    task = distractor_task(4, context.labels, ANY)
    rows, of_copy = (version.sample(frame, context).rows for version in (task, pickle.loads(pickle.dumps(task))))
    assert rows.height > 200
    assert rows.equals(of_copy)


def share(frame, context, row):
    """The share of a sentence's content words that the context has."""
    own = set(frame["content"][int(row)])
    return len(own & set().union(*(frame["content"][int(c)] for c in context))) / len(own)


def test_close_distractors_overlap_as_much():
    frame = frame_of(400)
    slots, found, _, _, _ = served(frame, CLOSE)
    gaps = np.array(
        [
            share(frame, slots.context[slot], distractor) - share(frame, slots.context[slot], slots.true[slot])
            for slot, distractor in found.select("slot", "distractor_row").iter_rows()
        ]
    )
    assert found.height > 200
    below, above = CLOSE.overlap
    assert gaps.min() >= -below - 1e-6
    assert gaps.max() <= above + 1e-6
    assert abs(gaps.mean()) < 0.06


@pytest.mark.parametrize(("beyond", "n"), [(BEYOND, 60), (3, 60), (4, 0)])
def test_distractors_from_later_in_the_same_document(beyond, n):
    matching = Matching(words=np.inf, chars=np.inf, overlap=(np.inf, np.inf), later=True, beyond=beyond)
    _, found, true, other, _ = served(frame_of(60), matching)
    assert (true["doc_key"] == other["doc_key"]).all()
    assert (other["row"].cast(pl.Int64) - true["row"].cast(pl.Int64) >= beyond).all(), (
        "not the very next: it may follow"
    )
    assert found.height == n


def test_like_sentences_do_not_stand_in_for_each_other():
    frame = frame_of(40).with_columns(cluster=pl.lit(0))
    assert served(frame, ANY)[1].height == 0


def test_nobody_to_choose_from():
    frame = frame_of(5)
    assert served(frame, CLOSE, pool=np.empty(0, np.int64))[1].height == 0
    assert served(frame_of(1), ANY)[1].height == 0, "one document has no other"


def test_shares_are_what_sets_say():
    frame = frame_of(10)
    slots, pool = slots_of(frame), np.array([0, 7, 13])
    expected = [
        [share(frame, context, row) - share(frame, context, true) for row in pool]
        for context, true in zip(slots.context, slots.true, strict=True)
    ]
    assert np.allclose(Similarity(frame).shares.of(slots.context, slots.true, pool), expected)


@pytest.mark.parametrize("times", [1, 5000])
def test_cosines_are_the_same_to_the_last_bit_however_they_are_multiplied(monkeypatch, times):
    """Also where an n-gram is in a sentence so often that single precision does not have its products."""
    frame = frame_of(40).with_columns(grams=pl.col("grams").list.eval(pl.element().repeat_by(times)).list.eval(
        pl.element().explode()))  # fmt: skip
    slots, pool = slots_of(frame), np.arange(0, frame.height, 3)
    found = []
    for share in (0.0, 0.1, 1.0):
        monkeypatch.setattr(similarity, "DENSE", share)
        cosines = Similarity(frame).cosines
        found.append(cosines.of(slots.context, slots.true, pool))
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])
    assert cosines.weighted.dtype == (np.float32 if times == 1 else np.float64)
    each = cosines.with_each(slots.context, np.tile(pool, (len(slots.true), 1)))
    assert np.allclose(found[0], each - cosines.with_each(slots.context, slots.true[:, None]))
    assert len(np.unique(found[0])) > 100


@pytest.mark.parametrize("column", ["grams", "words"])
def test_cosines_are_between_sentences_that_share_nothing_and_that_are_the_same(column):
    frame = pl.DataFrame({"row": [0, 1, 2, 3], column: [[1, 2], [1, 2], [3, 4], [5]]})
    likeness = Similarity(frame)
    cosines = likeness.words if column == "words" else likeness.cosines
    assert np.allclose(cosines.of(np.array([[0]]), np.array([2]), np.array([1, 2, 3])), [[1, 0, 0]])


@pytest.mark.parametrize("measure", ["shares", "cosines", "words"])
def test_places_without_a_context_sentence_are_left_out(measure):
    frame = frame_of(4)
    found, rows, pool = getattr(Similarity(frame), measure), np.array([2]), np.arange(frame.height)
    assert np.allclose(found.of(np.array([[0, 1]]), rows, pool), found.of(np.array([[0, 1, -1, -1]]), rows, pool))


def test_a_sentence_of_the_preferred_kind_is_taken_where_there_is_one():
    frame = frame_of(80).with_columns(genre=pl.when(pl.col("key") % 2 == 0).then(pl.lit("x")).otherwise(pl.lit("y")))
    _, found, true, other, _ = served(frame, Matching(words=np.inf, chars=np.inf, overlap=ANY.overlap, prefer="genre"))
    assert found.height > 40
    assert (true["genre"] == other["genre"]).mean() > 0.8


@pytest.mark.parametrize("removed", [0, 7, 19])
def test_one_document_less_changes_few(removed):
    frame = frame_of(300)
    documents = frame["doc_key"].unique(maintain_order=True)
    fewer = frame.filter(pl.col("doc_key") != documents[removed]).drop("row").with_row_index("row")

    def chosen(part):
        slots, found, _, other, _ = served(part, CLOSE)
        return dict(zip(slots.window[found["slot"].to_numpy()].tolist(), other["key"].to_list(), strict=True))

    before, after = chosen(fewer), chosen(frame)
    same = sum(after.get(window) == key for window, key in before.items())
    assert same / len(before) > 0.9


DOCUMENTS = 80
SHORT_FIRST, LONG_FIRST = (1, 0, 2, 3, 4, 5), (0, 2, 1, 3, 4, 5)


def frame_with_long_sentences(documents, place=0):
    """Documents of one passage each, whose sentence at a place is the longest."""
    frame = frame_of(documents).with_columns(pl.col("row").cast(pl.Int64), text_key="key", split=pl.lit("train", Split))
    long = pl.col("row") % SENTENCES == place
    return frame.with_columns(
        passage=pl.col("row") // SENTENCES,
        introduces=False,
        n_words=pl.when(long).then(60).otherwise("n_words"),
        n_chars=pl.when(long).then(360).otherwise("n_chars"),
    )


@pytest.mark.parametrize(("ways", "least", "most"), [(1, 0.0, 0.0), (4, 0.6, 1.0)])
def test_the_first_sentence_is_as_long_in_other_orders_where_these_can_be_chosen(ways, least, most):
    """By the key of a window the shorter sentence comes first; other keys leave the long one there."""
    frame = frame_with_long_sentences(DOCUMENTS)
    context = Context("so", language_data("en"), Settings(), ("original", "shuffled"), similarity=Similarity(frame))
    seen = []

    def order(keys, size, _context):
        seen.extend(keys.tolist())
        assert size == SENTENCES
        return np.tile(LONG_FIRST if len(seen) > DOCUMENTS else SHORT_FIRST, (len(keys), 1))

    made = ordering_task(SENTENCES, order, ways=ways).sample(frame, context)
    shuffled = made.rows.filter(pl.col("label") == 1)
    assert shuffled.height == DOCUMENTS
    assert least <= (shuffled["order"].list.first() == 0).mean() <= most
    assert len(set(seen)) == len(seen) == ways * DOCUMENTS


LONG_STAYS, LONG_MOVES = (0, 3, 2, 1, 4, 5), (0, 1, 4, 3, 2, 5)


def test_the_last_sentence_that_moves_is_as_long_where_the_last_one_stays():
    """The last place tells nothing there, but the place before it would."""
    frame = frame_with_long_sentences(DOCUMENTS, 4)
    context = Context("so", language_data("en"), Settings(), ("original", "shuffled"), similarity=Similarity(frame))
    seen = []

    def order(keys, _size, _context):
        seen.extend(keys.tolist())
        return np.tile(LONG_STAYS if len(seen) > DOCUMENTS else LONG_MOVES, (len(keys), 1))

    made = ordering_task(SENTENCES, order, ways=4).sample(frame, context)
    shuffled = made.rows.filter(pl.col("label") == 1)
    assert (shuffled["order"].list.get(4) == 4).mean() >= 0.6


@pytest.mark.parametrize("in_blocks", [False, True])
def test_in_blocks_rules_are_nearer_to_chance(in_blocks):
    """What a rule gains in each block adds up: 10 of 80 rows, as in one small corpus, would be a shortcut of .56."""
    frame = frame_of(400)
    slots = slots_of(frame)
    context = Context("dc", language_data("es"), Settings(), small=not in_blocks)
    pairs = np.column_stack([slots.true, slots.true + 3])
    told = gains_of_similarity(Comparison(frame, None, slots.context, slots.beside, pairs), sizes=in_blocks)
    rows = pl.DataFrame({"key": slots.window, "split": [*["train"] * 320, *["test"] * 80]}).with_row_index()
    kept = remove_bias(rows, told, 13, slack=context.slack)
    sums = [np.abs(told[part["index"].to_numpy()].sum(axis=0)).max() for part in kept.partition_by("split")]
    assert max(sums) <= (5 if in_blocks else 10), "it ends where no row more brings all rules nearer to chance"
    assert kept.height > rows.height * 2 / 3


def test_a_replaced_sentence_has_no_place_in_the_source():
    windows = pl.DataFrame(
        {
            "window": [5, 6],
            "first": [0, 10],
            "split": ["train", "test"],
            "position": [1, 2],
            "distractor_row": [30, 31],
        },
        schema_overrides={"window": pl.UInt64},
    )
    rows = replaced_pairs(windows, 4)
    assert rows["members"].to_list() == [[0, 1, 2, 3], [10, 11, 12, 13], [0, 30, 2, 3], [10, 11, 31, 13]]
    assert rows["order"].to_list() == [[0, 1, 2, 3], [0, 1, 2, 3], [0, -1, 2, 3], [0, 1, -1, 3]]
    assert rows["position"].to_list() == [-1, -1, 1, 2]
    assert rows["label"].to_list() == [0, 0, 1, 1]
    assert rows["pair"].to_list() == [5, 6, 5, 6]
    assert rows["key"].n_unique() == 4
