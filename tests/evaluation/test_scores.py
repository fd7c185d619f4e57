"""What is reported of a model: chosen on validation, beside a majority known from train; without any model.

Vectors and surprisals are made up, so every figure is known, and the extra ``probe`` is not needed.
"""

import json
import re
import types

import msgspec
import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from discoprobe.builders import Shape
from discoprobe.builders.audit import AuditInput, conform
from discoprobe.cards.release.export import export
from discoprobe.cli import app
from discoprobe.evaluation import TokenSurprisal, majority, probes, score_of, surprisal
from discoprobe.evaluation.scores import read_saved
from discoprobe.loaders import join_texts, silent

MODEL = types.SimpleNamespace(
    name="none", commit="c", has_head=True, with_random_weights=lambda _seed: MODEL,
    tokenizer=lambda texts, **_: {"input_ids": [[]] * len(texts)}, longest=1,
)  # fmt: skip


def dataset(rows, shape=Shape.SENTENCE, labels=("no", "yes"), **values):
    """A dataset of rows (split, label, texts, further columns)."""
    return AuditInput("made_en", shape, labels, conform(pl.DataFrame(rows), shape), **values)


def labelled(**splits):
    """Sentences, each with a text of its own; ``splits`` has the labels of each split."""
    return dataset(
        [
            {"split": split, "label": label, "texts": [f"{split} {number}"]}
            for split, labels in splits.items()
            for number, label in enumerate(labels)
        ]
    )


def vectors_of(values):
    """What replaces `models.vectors_of`: ``values`` gives the number that each layer has of a text."""

    def vectors(_model, units, progress, only=None, cache=None, layers=()):
        layers = np.array([values(text) for text, *_ in units], np.float32)
        places = [("model", layer, "mean") for layer in range(layers.shape[1])]
        return {place: layers[:, [place[1]]] for place in places if only in {None, place}}

    return vectors


HALVES = [0, 1] * 20


@pytest.fixture
def probed(monkeypatch):
    """A function that evaluates a dataset with made-up vectors."""

    def evaluate(data, values, *, controls=False, **options):
        monkeypatch.setattr(probes, "vectors_of", vectors_of(values))
        return probes.evaluate(data, MODEL, silent, controls=controls, **options)

    return evaluate


def signal(text, *, good_splits):
    """The label of a text of `HALVES` as a number, the other label's in splits that are not good ones."""
    split, number = text.split()
    label = HALVES[int(number)]
    return label if split in good_splits else 1 - label


def test_the_layer_is_chosen_on_validation(probed):
    """Layer 0 is right on validation and wrong on test, layer 1 the reverse."""
    data = labelled(train=HALVES, validation=HALVES, test=HALVES)
    splits = ({"train", "validation"}, {"train", "test"})
    evaluation = probed(data, lambda text: [signal(text, good_splits=good) for good in splits])
    of_layers = {score.layer: (score.validation, score.accuracy) for score in evaluation.scores}
    assert of_layers == {0: (1.0, 0.0), 1: (0.0, 1.0)}
    assert (evaluation.best.layer, evaluation.best.accuracy) == (0, 0.0)


def test_the_regularisation_is_chosen_on_validation(probed, monkeypatch):
    """With the strongest, only the majority is learned, which is right on test and wrong on validation."""
    monkeypatch.setattr(probes, "STRENGTHS", (1e-9, 1.0))
    data = labelled(train=[*HALVES, 0, 0], validation=[0] * 4 + [1] * 16, test=[0] * 16 + [1] * 4)
    of_test = dict.fromkeys((f"test {number}" for number in range(20)), 0.5)
    truth = {
        f"{split} {number}": label
        for split, labels in (("train", [*HALVES, 0, 0]), ("validation", [0] * 4 + [1] * 16))
        for number, label in enumerate(labels)
    }
    score = probed(data, lambda text: [(truth | of_test | {"test 0": 1, "test 1": 1})[text]]).best
    assert score.validation == 1.0
    assert score.accuracy != 0.8, "the accuracy of the strength that would have been best on test"


def test_a_probe_is_measured_on_other_languages(probed):
    """The other one says the same of half of its rows, and names its labels in another order."""
    data = labelled(train=HALVES, validation=HALVES, test=HALVES)
    other = labelled(test=HALVES)
    rows = other.rows.with_columns(label=1 - pl.col("label"), texts=pl.concat_list(pl.lit("other ") + pl.col("id")))
    other = msgspec.structs.replace(other, name="made_es", labels=("yes", "no"), rows=rows)
    ids = {row: number for number, row in enumerate(rows["id"])}

    def values(text):
        kind, number = text.split(" ", 1)
        if kind != "other":
            return [HALVES[int(number)]]
        at = ids[number]
        return [HALVES[at] if at < 20 else 1 - HALVES[at]]

    (score,) = probed(data, values, others=[other]).transfer
    assert (score.condition, score.accuracy, score.n) == ("made_es", 0.5, 40)
    assert probed(data, values).transfer == ()


def test_only_train_is_learned_from(probed):
    """Two training rows say the opposite of forty others in validation and test."""
    data = labelled(train=HALVES[:2], validation=HALVES, test=HALVES)
    score = probed(data, lambda text: [signal(text, good_splits={"validation", "test"})]).best
    assert (score.validation, score.accuracy) == (0.0, 0.0)


def test_the_first_training_rows_are_used(probed):
    data = labelled(train=[0, 1, 0, 1, *([1, 0] * 40)], validation=HALVES, test=HALVES)
    flipped = lambda text: [int(text.split()[1]) % 2]  # noqa: E731 (the number of a row in its split, odd or even)
    assert probed(data, flipped, train_rows=4).best.accuracy == 1.0
    assert probed(data, flipped, train_rows=4).train_rows == 4
    assert probed(data, flipped).best.accuracy == 0.0


def test_options_are_told_from_their_context(probed):
    """The right option has the number of the context, the others its negative."""
    rows = []
    for split in ("train", "validation", "test"):
        for number in range(42):
            value, place = (-1) ** number, number // 2 % 3
            options = [-value] * 3
            options[place] = value
            texts = [f"{split} {number} {at} {value}" for at, value in enumerate([value, *options])]
            rows.append({"split": split, "label": place, "texts": texts, "n_context": 1})
    evaluation = probed(dataset(rows, Shape.CHOICE, ("0", "1", "2")), lambda text: [float(text.split()[-1])])
    assert evaluation.best.accuracy == 1.0
    assert evaluation.best.macro_f1 is None


def test_f1_is_the_mean_over_classes(probed):
    """Eight rows of ten are of class 0, and all rows are predicted as that."""
    data = labelled(train=[0] * 8 + [1] * 2, validation=[0, 0], test=[0] * 8 + [1] * 2)
    score = probed(data, lambda _text: [0.0]).best
    assert score.accuracy == 0.8
    assert score.macro_f1 == pytest.approx((2 * 0.8 / 1.8 + 0) / 2)


def test_the_majority_is_that_of_train_and_its_accuracy_that_on_test():
    data = labelled(train=[0] * 7 + [1] * 3, validation=[1] * 4, test=[0] * 2 + [1] * 8)
    assert majority(data) == 0.2
    assert majority(labelled(test=[0] * 2 + [1] * 8)) == 0.8, "without train, the largest class of test"


# surprisal

PAIRS = {"p0": ("aa bb cc", "aa dd cc"), "p1": ("aa bb cc", "aa cc bb"), "p2": ("ee", "ff gg"), "p3": ("hh", "ii")}
BITS = {
    "aa bb cc": [1, 2, 3], "aa dd cc": [4, 1, 3], "aa cc bb": [1, 2, 3], "ee": [4], "ff gg": [3, 3], "hh": [5],
    "ii": [2],
}  # fmt: skip


@pytest.fixture
def bits(monkeypatch):
    """Gives every text the bits of ``BITS``, a token per word; other texts get what a test adds."""
    table = dict(BITS)

    def surprisals(_model, texts, _progress):
        read = []
        for text in texts:
            ends = np.cumsum([len(word) + 1 for word in text.split()]) - 1
            starts = ends - [len(word) for word in text.split()]
            read.append(TokenSurprisal(np.array(table[text], float), starts, ends))
        return read

    monkeypatch.setattr(surprisal, "surprisals", surprisals)
    return table


def suite(**columns):
    """The pairs of ``PAIRS``, each in a group of its own; the edit is the second word of texts with three."""
    rows = []
    for number, (pair, texts) in enumerate(PAIRS.items()):
        for label, text in enumerate(texts):
            row = {"split": "test", "label": label, "texts": [text], "pair_id": pair, "group": f"g{number}"}
            rows.append(row | {name: values[number] for name, values in columns.items()})
    return dataset(rows, labels=("original", "edited"), pairs=True)


def test_a_pair_is_right_if_the_edited_text_has_more_surprisal_and_half_right_if_as_much(bits):
    scores = {score.method: score.accuracy for score in surprisal.evaluate(suite(), MODEL, silent).scores}
    # totals: 8 > 6, 6 = 6, 6 > 4, 2 < 5; means: 8/3 > 2, 2 = 2, 3 < 4, 2 < 5
    assert scores == {"total": (1 + 0.5 + 1 + 0) / 4, "per_token": (1 + 0.5 + 0 + 0) / 4}


def test_the_region_of_each_version_is_its_own_edit(bits):
    rows = suite().rows
    words = {"aa bb cc": (3, 5), "aa dd cc": (3, 5), "aa cc bb": (3, 8), "ee": (0, 2), "ff gg": (3, 5), "hh": (0, 2)}
    spans = [words.get(text, (0, 2)) for (text,) in rows["texts"]]
    marked = rows.with_columns(
        edit_start=pl.Series([start for start, _ in spans], dtype=rows.schema["edit_start"]),
        edit_end=pl.Series([end for _, end in spans], dtype=rows.schema["edit_end"]),
    )
    data = AuditInput("made_en", Shape.SENTENCE, ("original", "edited"), marked, pairs=True)
    scores = {score.method: score.accuracy for score in surprisal.evaluate(data, MODEL, silent).scores}
    # regions: 1 < 2, 2 + 3 > 2, 3 < 4, 2 < 5
    assert scores["region"] == 1 / 4
    # means: 1 < 2, (2 + 3) / 2 > 2, 3 < 4, 2 < 5
    assert scores["region_per_token"] == 1 / 4


def test_an_item_is_right_if_its_pairs_are_right_together(bits):
    """Two groups of two conditions: means 2/3 + 0 bits more for the edited texts, then −1 − 3."""
    data = suite(group=["a", "a", "b", "b"], condition=[0, 1, 0, 1])
    evaluation = surprisal.evaluate(data, MODEL, silent)
    assert [(score.method, score.n) for score in evaluation.scores] == [("item", 2), ("per_token", 4), ("total", 4)]
    assert evaluation.best.method == "item"
    assert evaluation.best.accuracy == 0.5
    assert evaluation.rows.ids == ("a", "b")
    assert evaluation.rows.correct == (1.0, 0.0)


def marked(*, target, spans=None, **columns):
    """The pairs as a suite, whose region is the second word (of texts with three), or what ``spans`` gives."""
    words = {"aa bb cc": (3, 5), "aa dd cc": (3, 5), "aa cc bb": (3, 5), "ff gg": (3, 5)} | (spans or {})
    rows = suite(**{"condition": [0, 0, 0, 1], **columns}).rows
    where = [words.get(text, (0, 2)) for (text,) in rows["texts"]]
    values = {
        name: pl.Series([None if span is None else span[at] for span in where], dtype=rows.schema[name])
        for at, name in enumerate(("edit_start", "edit_end"))
    }
    rows = rows.with_columns(**values, target=pl.lit("word") if target else pl.lit(None, pl.String))
    return AuditInput("made_en", Shape.SEQUENCE, ("good", "bad"), rows, pairs=True, conditions=("first", "second"))


@pytest.mark.parametrize(("target", "headline"), [(True, "region"), (False, "region_per_token")])
def test_the_headline_of_a_suite_is_its_own_prediction(bits, target, headline):
    """The sum over the region in edited sentences, the mean in passages; wherever the whole texts say otherwise."""
    evaluation = surprisal.evaluate(marked(target=target), MODEL, silent)
    assert evaluation.best.method == headline
    # regions of the edited texts: 1 < 2, 2 = 2 (a tie), 3 < 4, 2 < 5
    assert evaluation.best.accuracy == (0 + 0.5 + 0 + 0) / 4
    assert evaluation.best.ties == 1
    assert {score.method: score.accuracy for score in evaluation.scores}["total"] == 2.5 / 4


def test_the_conditions_of_a_suite_have_scores_of_their_own(bits):
    bits["aa dd cc"] = [4, 3, 3]
    of_condition = {
        score.condition: (score.accuracy, score.n)
        for score in surprisal.evaluate(marked(target=True), MODEL, silent).conditions
    }
    assert of_condition == {"first": (0.5, 3), "second": (0.0, 1)}


def test_passages_with_direct_speech_have_a_score_of_their_own(bits, monkeypatch):
    """*«hh»* and *– ee* are dialogue, *bb-cc* and *aa* are narration; edited sentences are not divided so."""
    monkeypatch.setattr(surprisal, "LEAST_ROWS", 2)
    spoken = {"aa bb cc": "aa bb-cc", "hh": "«hh»", "ee": "– ee"}
    bits |= {new: [*bits[old], 1.0][: len(new.split())] for old, new in spoken.items()}
    for target in (False, True):
        data = marked(target=target, condition=[0] * 4)
        texts = data.rows["texts"].list.eval(pl.element().replace(spoken))
        data = msgspec.structs.replace(data, rows=data.rows.with_columns(texts))
        scores = {score.condition: score.n for score in surprisal.evaluate(data, MODEL, silent).conditions}
        assert scores == ({} if target else {"dialogue": 2, "narration": 2})


def test_agreement_has_a_score_by_value_and_by_distance_from_the_subject(bits, monkeypatch):
    """The regions of the edited texts: 1 < 2, 2 = 2 (a tie), 3 < 4, 2 < 5; a part of one pair has no score."""
    monkeypatch.setattr(surprisal, "LEAST_ROWS", 2)
    data = marked(target=True, condition=[0, 0, 0, 1], distance=[1, 2, 0, 3], attractors=[0, 1, 0, 2])
    scores = surprisal.evaluate(data, MODEL, silent).conditions
    assert {score.condition: (score.accuracy, score.n) for score in scores} == {
        "first": (0.5 / 3, 3), "second": (0.0, 1), "first: 1-2 words": (0.25, 2), "no attractor": (0.0, 2),
        "with attractors": (0.25, 2),
    }  # fmt: skip


@pytest.mark.parametrize(("tokens", "mark"), [(("<sep>", "<end>"), "<sep>"), ((None, "<end>"), "<end>"), ((), "\n")])
def test_the_separator_of_the_tokenizer_stands_between_speakers(monkeypatch, tokens, mark):
    """Its own surprisal is not counted, and what is compared is the same sentence."""
    seen = []

    def surprisals(_model, texts, _progress):
        seen.extend(texts)
        read = []
        for text in texts:
            pieces = [match.span() for match in re.finditer(r"<sep>|<end>|\n|\w+", text)]
            bits = [100.0 if text[start:end] == mark else end - start for start, end in pieces]
            read.append(TokenSurprisal(np.array(bits, float), *np.array(pieces).T))
        return read

    monkeypatch.setattr(surprisal, "surprisals", surprisals)
    monkeypatch.setattr(surprisal, "LEAST_ROWS", 1)
    names = dict(zip(("sep_token", "eos_token"), tokens, strict=False))
    tokenizer = types.SimpleNamespace(**{"sep_token": None, "eos_token": None} | names)
    model = types.SimpleNamespace(**vars(MODEL) | {"tokenizer": tokenizer})
    said = {"a": ["A", "A", "B"], "b": ["A", None, "B"], "c": None}
    rows = [
        {
            "split": "test", "label": label, "pair_id": pair, "group": pair, "condition": 0, "speakers": speakers,
            "texts": [first, "dd", "eee"], "edit_start": 6 + label, "edit_end": 9 + label,
            "other_speaker": {"a": True, "c": None}.get(pair, False),
        }
        for pair, speakers in said.items()
        for label, first in enumerate(("bb", "ccc"))
    ]  # fmt: skip
    data = dataset(rows, Shape.SEQUENCE, ("good", "bad"), pairs=True, conditions=("only",))
    evaluation = surprisal.evaluate(data, model, silent)
    assert seen == [f"bb dd{mark}eee", "bb dd eee", "bb dd eee", f"ccc dd{mark}eee", "ccc dd eee", "ccc dd eee"]
    scores = {score.method: score for score in evaluation.scores}
    assert scores["total"].accuracy == 1
    assert scores["region"].ties == 3
    assert [(score.condition, score.n) for score in evaluation.conditions] == [
        ("same speaker", 1),
        ("speaker change", 1),
    ]


def test_rows_without_a_region_are_left_out_and_counted(bits):
    best = surprisal.evaluate(marked(target=True, spans={"ee": None}), MODEL, silent).best
    assert (best.method, best.n, best.left_out) == ("region", 3, 1)


def test_texts_without_blanks_between_words_are_joined_without():
    """*我们。* and *他们。*; the region is the second sentence."""
    texts = ["我们。", "他们。", "你们。"]
    text, (start, end) = join_texts(texts, (4, 7))
    assert text == "".join(texts)
    assert text[start:end] == texts[1]
    assert join_texts(["Es geht.", "Ja."], (9, 12)) == ("Es geht. Ja.", (9, 12))


def test_a_choice_has_the_least_surprisal_after_the_context(bits):
    """The context is much less surprising before the second option; options are longer or shorter."""
    bits |= {"cc one": [9, 2], "cc two": [1, 3], "cc a b": [0, 2, 2], "cc x": [0, 3]}
    rows = [
        {"split": "test", "label": 0, "texts": ["cc", "one", "two"], "n_context": 1},
        {"split": "test", "label": 1, "texts": ["cc", "a b", "x"], "n_context": 1},
    ]
    evaluation = surprisal.evaluate(dataset(rows, Shape.CHOICE, ("0", "1")), MODEL, silent)
    assert {score.method: score.accuracy for score in evaluation.scores} == {"total": 1.0, "per_token": 0.5}
    assert evaluation.majority == 0.5


@pytest.mark.parametrize("column", ["group", "pair_id"])
def test_rows_that_are_right_together_count_as_fewer(column):
    """Ten groups of ten rows, all right or all wrong: the interval is that of about ten rows."""
    correct = np.repeat([1.0, 0.0] * 5, 10)
    rows = pl.DataFrame({"group": [None] * 100, "pair_id": [None] * 100}, schema={"group": str, "pair_id": str})
    independent = score_of("total", correct, rows).interval
    groups = pl.Series(column, [f"g{number // 10}" for number in range(100)])
    together = score_of("total", correct, rows.with_columns(groups)).interval
    assert together[1] - together[0] > 2.5 * (independent[1] - independent[0])


def test_the_bits_of_a_separator_are_left_out_of_sums_and_means():
    """One of three tokens; a token that it shares with a word counts."""
    read = TokenSurprisal(np.array([1.0, 9.0, 3.0]), np.array([0, 2, 3]), np.array([2, 3, 5]))
    assert read.without([(2, 3)]).tolist() == [1.0, 3.0]
    assert read.without([(2, 4)]).tolist() == [1.0, 3.0]
    assert read.without([(1, 2)]).tolist() == [1.0, 9.0, 3.0]
    assert read.without([]).tolist() == [1.0, 9.0, 3.0]


def test_answers_to_prompts_stand_in_the_table(sample_release, tmp_path):
    """Samples as lm-evaluation-harness writes them, of half of the rows: every second one is right."""
    export(sample_release, tmp_path / "prompts", "lm-eval-chat", ["somo_en"])
    lines = (tmp_path / "prompts" / "somo_en.jsonl").read_text(encoding="utf-8").splitlines()
    docs = [json.loads(line) for line in lines][: len(lines) // 2]
    folder = tmp_path / "results" / "org__api"
    for time, correct in (("2026-11-29T08", 0), ("2026-11-30T08", 1)):  # the newer results count
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"results_{time}.json").write_text(json.dumps({"model_name": "org/api", "config": {}}), "utf-8")
        samples = [
            {"doc": doc, "exact_match": float(correct and at % 2 == 0),
             "arguments": {"gen_args_0": {"arg_0": doc["prompt"]}}}
            for at, doc in enumerate(docs)
        ]  # fmt: skip
        written = "".join(json.dumps(sample) + "\n" for sample in samples)
        (folder / f"samples_discoprobe_chat_somo_en_{time}.jsonl").write_text(written, encoding="utf-8")
    options = ["--out", str(sample_release), "--save", str(tmp_path / "scores")]
    result = CliRunner().invoke(app, ["probe", "--results", str(folder), *options])
    assert result.exit_code == 0, result.output
    (line,) = (line for line in result.stdout.splitlines() if line.startswith("somo_en"))
    accuracy = -(-len(docs) // 2) / len(docs)
    assert f"org/api (prompted)   {accuracy:.3f} [" in line
    (path,) = (tmp_path / "scores").glob("somo_en/*.json")
    saved = read_saved(path)
    assert saved.rows.ids == tuple(doc["id"] for doc in docs)
    assert saved.shortcut_rows.ids == saved.rows.ids
    page = (tmp_path / "scores" / "README.md").read_text(encoding="utf-8")
    assert f"    {docs[0]['prompt'].splitlines()[-1]}" in page
    assert "| somo\\_en | org/api (prompted) | shortcut " in page
    for arguments, message in ((["--results", str(tmp_path / "prompts")], "--output_path and --log_samples"),
                               ([], "name what is scored: --model for a model, --results")):  # fmt: skip
        result = CliRunner().invoke(app, ["probe", *arguments, *options])
        assert result.exit_code > 0
        assert message in " ".join(str(result.exception).split())
