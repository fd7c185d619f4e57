"""Configs of every shape as the audit looks at them, and what its features are."""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from msgspec.structs import replace
from sklearn.feature_extraction.text import CountVectorizer

from discoprobe.builders import Config, Shape, schema
from discoprobe.builders.audit import Status, audit, from_config, with_edited, with_used_labels
from discoprobe.builders.audit.solvers import Features, problem_of
from discoprobe.builders.passages import char_grams
from discoprobe.loaders import UnknownNameError, n_words, tokens

_OWN = {
    Shape.SENTENCE: {"text": "A b c."},
    Shape.SEQUENCE: {"sentences": ["A b.", "C d.", "E f."]},
    Shape.PAIR: {"sentence1": "A b.", "sentence2": "C d."},
    Shape.CANDIDATE: {"sentences": ["A b.", "C d."], "candidate": "E f."},
    Shape.CHOICE: {"context": ["A b."], "choices": ["C d.", "E f."]},
}


def _config(shape, **more):
    row = {"id": "r", "label": 1, "corpus": "UD_X", "sent_ids": ["s1"], "pair_id": None, **_OWN[shape], **more}
    rows = {split: [row | {"id": f"{split}{at}", "label": at % 2} for at in range(4)] for split in ("train", "test")}
    tables = {split: pa.Table.from_pylist(of, schema=schema(shape)) for split, of in rows.items()}
    return Config("x_de", "x", "de", shape, ("zero", "one"), tables, exempt={"length": "why"}, split_by="target")


@pytest.mark.parametrize(
    ("shape", "texts", "n_context"),
    [
        (Shape.SENTENCE, ["A b c."], 0),
        (Shape.SEQUENCE, ["A b.", "C d.", "E f."], 0),
        (Shape.PAIR, ["A b.", "C d."], 0),
        (Shape.CANDIDATE, ["A b.", "C d.", "E f."], 2),
        (Shape.CHOICE, ["A b.", "C d.", "E f."], 1),
    ],
)
def test_a_config_of_every_shape(shape, texts, n_context):
    data = from_config(_config(shape))
    assert data.rows["texts"].to_list() == [texts] * 8
    assert data.rows["n_context"].to_list() == [n_context] * 8
    assert data.rows["id"].to_list() == [*(f"train{at}" for at in range(4)), *(f"test{at}" for at in range(4))]
    assert data.rows["place"].to_list() == [0, 1, 2, 3] * 2
    assert (data.labels, data.exempt, data.split_by) == (("zero", "one"), {"length": "why"}, "target")
    assert data.counts == {"train": 4, "test": 4}
    report = audit(_config(shape))
    assert report.finding("dup-within").measured == 8
    assert report.finding("label-conflict").status is Status.ABOVE


def test_target_and_edit_of_a_sentence():
    target = {"start": 0, "end": 1, "form": "Haus", "lemma": "haus", "upos": "NOUN"}
    data = from_config(_config(Shape.SENTENCE, target=target, original="A b d.", edit={"start": 4, "end": 5}))
    assert data.rows.select("target", "original", "edit_start", "edit_end").row(0) == ("Haus", "A b d.", 4, 5)


def test_the_candidate_has_the_first_slot():
    problem, _ = problem_of(from_config(_config(Shape.CHOICE)))
    slots = Features(problem).slotted.filter(pl.col("unit") == 0).sort("slot")
    assert slots["text"].to_list() == [problem.texts[0][-1], "A b."]
    assert problem.y.reshape(8, 2).sum(axis=1).tolist() == [1] * 8
    assert problem.baseline == 0.5


def test_character_grams_are_those_of_char_wb():
    texts = ["The cat, über the  mat.", "naïve 猫!", "x", ""]
    ours = char_grams(pl.Series(texts), 1 << 18)
    theirs = CountVectorizer(analyzer="char_wb", ngram_range=(1, 4), lowercase=False).fit_transform(texts)
    blanks = np.array([2 * len(text.split()) for text in texts])
    assert (theirs.sum(axis=1).A1 - blanks == ours.sum(axis=1)).all()  # a lone blank is no feature of ours
    assert (np.diff(theirs.indptr) - (blanks > 0) == np.diff(ours.indptr)).all()


def test_character_grams_across_blanks_are_those_of_the_text_as_written():
    texts = ["The cat, über the  mat.", "naïve\t猫!\u00a0", "x", ""]
    ours = char_grams(pl.Series(texts), 1 << 18, across=True)
    grams = [[f" {text} "[at : at + n] for n in range(1, 6) for at in range(len(text) + 3 - n)] for text in texts]
    assert ours.sum(axis=1).tolist() == [len(of_text) for of_text in grams]
    assert np.diff(ours.indptr).tolist() == [len(set(of_text)) for of_text in grams]


@pytest.mark.parametrize("place", [1, 9])
def test_character_grams_of_the_texts_in_which_a_pair_differs(place):
    """Also if it is beyond the texts that have features of their own: these are one text."""
    original = [f"Text {at}." for at in range(10)]
    edited = [*original[:place], "Another.", *original[place + 1 :]]
    rows = [{"label": n, "sentences": texts, "corpus": "UD_X"} for n, texts in enumerate((original, edited))]
    tables = {
        split: pa.Table.from_pylist(
            [row | {"id": f"{split}{row['label']}", "pair_id": split} for row in rows], schema=schema(Shape.SEQUENCE)
        )
        for split in ("train", "test")
    }
    problem, _ = problem_of(from_config(Config("x_de", "x", "de", Shape.SEQUENCE, ("a", "b"), tables, pairs=True)))
    features = Features(problem)
    counts = features.differing_chars().toarray().reshape(4, features.slots, -1)
    alone = char_grams(pl.Series(["", original[place], "Another."]), counts.shape[2], across=True).toarray()
    expected = np.repeat(alone[:1], features.slots, axis=0)
    for unit, of_unit in enumerate(counts):
        expected[min(place, features.slots - 1)] = alone[1 + problem.y[unit]]
        assert (of_unit == expected).all()


@pytest.mark.parametrize(
    ("text", "n"), [("It's 5 o'clock, sir.", 6), ("這座古老的橋梁", 3), ("สวัสดีชาวโลก", 6), ("…", 0)]
)
def test_words(text, n):
    assert pl.select(n_words(pl.lit(text))).item() == n


def test_tokens():
    spaced = pl.select(tokens(pl.lit("Yes – it's “so”."), unspaced=False)).item().to_list()
    assert spaced == ["Yes", "–", "it", "'", "s", "“", "so", "”", "."]
    assert pl.select(tokens(pl.lit("猫在 睡"), unspaced=True)).item().to_list() == ["猫在", "在睡"]


def test_labels_that_no_row_has_are_no_classes():
    rows = pl.DataFrame({"label": [4, 0, 4, 0], "text": list("abcd")})
    labels, dense = with_used_labels(("Past", "Present", "Future", "Imperfect", "Pluperfect"), rows, Shape.SENTENCE)
    assert labels == ("Past", "Pluperfect")
    assert dense["label"].to_list() == [1, 0, 1, 0]


def test_places_of_a_choice_stay_though_none_is_right():
    rows = pl.DataFrame({"label": [1, 1]})
    labels, same = with_used_labels(("first", "second"), rows, Shape.CHOICE)
    assert labels == ("first", "second")
    assert same["label"].to_list() == [1, 1]


def _labelled(make, build, *labels, shape=Shape.SENTENCE):
    rows = make.rows(60, len(labels), 1 if shape is Shape.SENTENCE else 2)
    return replace(build(rows, shape=shape, k=len(labels), external=True, natural=True), labels=labels)


@pytest.mark.parametrize(
    ("labels", "order"),
    [
        (("edited", "original"), ("original", "edited")),
        (("Shuffled", "In order"), ("In order", "Shuffled")),
        (("original", "shuffled", "swapped"), ("original", "shuffled", "swapped")),
    ],
)
def test_labels_that_say_what_was_edited(make, build, labels, order):
    data = _labelled(make, build, *labels)
    edited = with_edited(data)
    assert (edited.labels, edited.perturbation) == (order, True)
    before, after = (
        [(text, each.labels[label]) for text, label in each.rows.select("texts", "label").iter_rows()]
        for each in (data, edited)
    )
    assert before == after, "every row keeps the name of its label"
    assert "by the names of the labels" in edited.read.notes[-1]


@pytest.mark.parametrize(
    "labels", [("0", "1"), ("edited", "shuffled"), ("original", "translated"), ("edited", "other")]
)
def test_labels_that_do_not_say_it(make, build, labels):
    data = _labelled(make, build, *labels)
    assert with_edited(data) is data


def test_the_user_says_what_was_edited(make, build):
    data = _labelled(make, build, "0", "1")
    assert with_edited(data, ["0"]).labels == ("1", "0")
    assert with_edited(data, ["1"]).perturbation
    with pytest.raises(UnknownNameError, match="unknown label '2'"):
        with_edited(data, ["2"])


def test_what_discoprobe_built_is_not_guessed_at(make, build):
    data = replace(_labelled(make, build, "original", "edited"), external=False)
    assert with_edited(data) is data
