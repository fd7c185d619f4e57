"""Shared words have one rule by the type of the rows, which labels and texts tell, and never the names of columns."""

from __future__ import annotations

import itertools

import polars as pl
import pytest

import discoprobe
from discoprobe.builders.audit import Status, UnreadableDataError
from discoprobe.builders.audit.inputs import Reading, read_frames
from discoprobe.loaders import UnknownNameError

COLUMNS = [("premise", "hypothesis"), ("sentence1", "sentence2"), ("question1", "question2"), ("links", "rechts")]
"""Names of the two columns; those of the last are named with --text."""
CHECKS = ("overlap", "similarity")


VOCABULARY = ["".join(letters) for letters in itertools.product("bdfgklmnprst", "aeiou", "klmnrst", "aeiou")]


def _text(make):
    """Words of one length without marks and capitals, so that words in common are all that can tell a label."""
    return make.source.choices(VOCABULARY, k=14)


def _exchanged(make, words, n):
    """The words with ``n`` of them exchanged for others."""
    places = {*make.source.sample(range(len(words)), n)}
    return [make.source.choice(VOCABULARY) if at in places else word for at, word in enumerate(words)]


def _like_hans(make, words, label):
    """A hypothesis that follows is a part of the premise; another one is a part of another text (McCoy et al. 2019)."""
    start = make.source.randint(0, 3)
    return (_text(make) if label else words)[start : start + 9]


def _paraphrases(make, words, label):
    """A paraphrase shares most words; what is none shares some."""
    return _exchanged(make, words, 3 if label else 9)


def _neighbours(make, words, label):
    """A text that follows has two words of the first one; another one has none."""
    return [*_exchanged(make, words, 14)[:12], *(words[:2] if label else _text(make)[:2])]


def _rows(make, kind, names, n=400):
    rows = []
    for label in make.labels(n, 2):
        first = _text(make)
        rows.append({"a": " ".join(first), "b": " ".join(kind(make, first, label)), "label": names[label]})
    return rows


def _report(rows, columns, **options):
    frame = pl.DataFrame(rows).rename({"a": columns[0], "b": columns[1]})
    named = {"text": list(columns), "label": "label"} if columns == COLUMNS[-1] else {}
    half = frame.height // 2
    return discoprobe.audit({"train": frame[:half], "test": frame[half:]}, **named, **options)


def _statuses(report):
    return {report.finding(check).status for check in CHECKS}


@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize(
    ("kind", "names", "task_type", "statuses", "words"),
    [
        (_like_hans, ("entailment", "non-entailment"), "entailment", {Status.NOTED}, {"cue"}),
        (_like_hans, ("0", "1"), "entailment", {Status.NOTED}, {"cue"}),
        (_paraphrases, ("different", "paraphrase"), "paraphrase", {Status.EXEMPT}, {"open", "below"}),
        (_neighbours, ("random", "next"), "pair", {Status.ABOVE}, {"above"}),
        (_neighbours, ("0", "1"), "pair", {Status.ABOVE}, {"above"}),
    ],
    ids=["inference", "inference, numbers", "paraphrases", "neighbours", "neighbours, numbers"],
)
def test_one_rule_whatever_the_columns_are_called(make, columns, kind, names, task_type, statuses, words):
    report = _report(_rows(make, kind, names), columns)
    assert (report.task_type, _statuses(report)) == (task_type, statuses)
    assert report.verdict.word in words
    assert any(note.startswith(f"guessed: --task-type {task_type} (") for note in report.read.notes)
    assert report.to_dict()["task_type"] == task_type


def test_a_cue_of_shared_words_is_named_first(make):
    report = _report(_rows(make, _like_hans, ("entailment", "neutral")), COLUMNS[1])
    assert report.verdict.advice in {"cue: shared words", "cue: similarity"}
    assert report.verdict.text.startswith(("Cue: shared words. ", "Cue: similarity. "))
    assert "--task-type paraphrase" in report.verdict.text


@pytest.mark.parametrize(
    ("task_type", "status", "words"),
    [
        ("pair", Status.ABOVE, {"above"}), ("entailment", Status.NOTED, {"cue"}),
        ("paraphrase", Status.EXEMPT, {"open", "below"}),
    ],
)  # fmt: skip
def test_what_the_user_says_counts(make, task_type, status, words):
    report = _report(_rows(make, _like_hans, ("0", "1")), COLUMNS[0], task_type=task_type)
    assert (report.task_type, _statuses(report)) == (task_type, {status})
    assert report.verdict.word in words
    assert not any("guessed" in note for note in report.read.notes)


def test_scores_are_of_similarity(make):
    rows = [row | {"label": make.source.random() * 5} for row in _rows(make, _neighbours, ("0", "1"))]
    report = _report(rows, COLUMNS[1])
    assert report.task_type == "similarity"
    assert Status.ABOVE not in _statuses(report)


def test_edited_texts_have_thresholds_in_every_type(make):
    """That a text was edited is nothing that shared words may tell."""
    report = _report(_rows(make, _like_hans, ("original", "shuffled")), COLUMNS[0])
    assert _statuses(report) == {Status.ABOVE}


def test_scripts_without_spaces(make):
    """Chinese sentences share frequent characters; those of two rows do, too, and are subtracted."""
    source = make.source
    alphabet = [chr(0x4E00 + number) for number in range(600)]
    texts = ["".join(source.choices(alphabet, [1 / (at + 3) for at in range(600)], k=24)) for _ in range(200)]
    labels = make.labels(200, 2)
    same = [{"s1": text, "s2": text[3:] if label else texts[at - 1], "label": label}
            for at, (text, label) in enumerate(zip(texts, labels, strict=True))]  # fmt: skip
    other = [row | {"s2": texts[at - 1]} for at, row in enumerate(same)]
    for rows, task_type in ((same, "entailment"), (other, "pair")):
        ((data,), _) = read_frames("zh", {"test": pl.DataFrame(rows)}, {}, Reading())
        assert data.task_type == task_type


def test_a_type_that_does_not_fit(make):
    rows = _rows(make, _like_hans, ("0", "1"), 60)
    with pytest.raises(UnreadableDataError, match="a row holds two texts, which does not fit task_type single"):
        _report(rows, COLUMNS[0], task_type="single")
    with pytest.raises(UnreadableDataError, match="task_type similarity needs"):
        _report(_rows(make, _like_hans, ("no", "yes"), 60), COLUMNS[0], task_type="similarity")
    with pytest.raises(UnknownNameError, match="paraphrase"):
        _report(rows, COLUMNS[0], task_type="paraphrases")


def test_letters_of_inference(make):
    """ParsiNLU and IndoNLI write ``e``, ``n`` and ``c``; a slip such as ``-`` makes no other type of it."""
    rows = _rows(make, _neighbours, "en", n=90)
    frame = pl.DataFrame(
        [row | {"label": ("e", "n", "c", "-")[min(3, at % 3 + at // 89 * 3)]} for at, row in enumerate(rows)]
    )
    (data,), _ = read_frames("set", {"test": frame}, {}, Reading(text=("a", "b"), label="label"))
    assert (data.task_type, len(data.labels)) == ("entailment", 4)
