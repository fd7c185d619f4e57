"""What somebody who adds a task meets: tasks of the functions that docs/adding_a_task.md names, and their errors."""

import functools

import numpy as np
import polars as pl
import pytest
from msgspec.structs import replace

from discoprobe.builders import Config, DiscourseTask, Sample, Settings, Shape, build_all
from discoprobe.builders.edits import swap_task
from discoprobe.builders.passages import (
    CLOSE,
    change_task,
    choice_task,
    counterpart_task,
    distractor_task,
    labelled,
    members,
    order_suite,
    ordering_task,
    single_rows,
    version,
    windows_of,
)
from discoprobe.builders.sentences import class_task, neighbouring_classes, noun_feature, predicate_feature, unlabelled
from discoprobe.loaders import DiscoprobeError, UnknownNameError

NEAR = replace(CLOSE, overlap=(0.0, 0.0), words=0.0)
TASKS = {
    "choice": choice_task((1, 2), {"later": replace(CLOSE, later=True), "near": NEAR}),
    "change": change_task("doc", ("same", "other"), needs=["documents"]),
    "counterpart": counterpart_task(("early", "late"), pl.col("index") < 5, needs=["documents"]),
    "distractor": distractor_task(4, ("coherent", "incoherent")),
    "ordering": ordering_task(4, lambda keys, size, _context: np.tile(np.arange(size)[::-1], (len(keys), 1)), ways=1),
}


def made(name, task, corpus_of):
    (result,) = build_all([replace(task, name=name)], corpus_of("sample", "es"), Settings(min_class=2))
    return result


@pytest.mark.parametrize("name", [name for name in TASKS if name != "change"])
def test_a_discourse_task_of_a_function_is_built(name, corpus_of):
    result = made(name, TASKS[name], corpus_of)
    assert isinstance(result, Config)
    assert all(table.num_rows for table in result.splits.values())


def test_a_fact_that_never_changes_makes_no_rows(corpus_of):
    assert set(made("change", TASKS["change"], corpus_of).drops) == {"one-label"}


def test_a_kind_of_wrong_sentence_needs_no_drop_reason_of_its_own(corpus_of):
    result = made("choice", TASKS["choice"], corpus_of)
    assert result.drops["no-near-sentence"] > 0
    assert TASKS["choice"].reasons["no-near-sentence"]


def test_an_unknown_feature_is_named_with_the_known_ones_and_where_to_add_it():
    with pytest.raises(UnknownNameError, match=r"'Foo'.*\(known: Animacy, .*Voice; .*sentences/trees\.py"):
        noun_feature("obj", "Foo")
    with pytest.raises(UnknownNameError, match="did you mean Number"):
        noun_feature("obj", "Numbr")


def first_or_second(frame, context):
    windows = windows_of(frame, context, 2)
    chosen = labelled(windows, 2, context, "odd")
    return Sample(single_rows(chosen, version(members((chosen["first"] + chosen["label"]).to_numpy(), 1))))


@pytest.mark.parametrize(("shape", "column"), [(Shape.SENTENCE, "n_words"), (Shape.CHOICE, "n_context")])
def test_a_missing_column_is_named_with_its_task(shape, column, corpus_of):
    task = DiscourseTask(labels=("0", "1"), shape=shape, sample=first_or_second)
    with pytest.raises(
        DiscoprobeError, match=f"^first: sample returned no column {column}; expected {column}: an integer$"
    ):
        made("first", task, corpus_of)


def test_neighbouring_classes_without_labels_of_the_task_are_an_error(corpus_of):
    """They were said to have too few sentences."""
    choose = functools.partial(neighbouring_classes, usual=("1", "2"), called="numbers of verbs")
    with pytest.raises(TypeError, match=r"^verbs: neighbouring_classes needs the labels of the task, in their order$"):
        made("verbs", class_task(unlabelled, choose, needs=["text"]), corpus_of)


@pytest.mark.parametrize(
    "made_with",
    [
        functools.partial(noun_feature, "nsubj", "Number"),
        functools.partial(predicate_feature, "Tense"),
        functools.partial(swap_task, None),
        functools.partial(order_suite, 4),
        functools.partial(ordering_task, 4),
        functools.partial(choice_task, (1, 2), {}),
    ],
)
def test_the_author_of_a_task_raises_its_version(made_with):
    assert made_with(version=99).version == 99
