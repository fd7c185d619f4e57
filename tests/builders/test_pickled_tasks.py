"""A task that was pickled to a worker gives the same rows; nothing in ``builders/`` asks which copy it has."""

import ast
import functools
import importlib
import pickle
from concurrent.futures import Executor, Future
from pathlib import Path

import msgspec
import pytest
from copied_corpora import write_copies
from shared import SAMPLE_LANGUAGES, SMALL_CLASSES

from discoprobe import builders
from discoprobe.builders import Config, DiscourseTask, all_tasks, blocks_of, build_all
from discoprobe.sources import load_corpus

ROOT = Path(builders.__file__).parent
SMALL_BLOCKS = msgspec.structs.replace(SMALL_CLASSES, block=5_000)


def pickled(value):
    """The value as a worker receives it."""
    return pickle.loads(pickle.dumps(value))


def with_pickled_contexts(task):
    """The task as a worker receives it; its functions receive their context in the same way, and their marks return."""
    task = pickled(task)
    names = ["sample"] if isinstance(task, DiscourseTask) else ["sample", "select"]
    functions = {name: getattr(task, name) for name in names}

    def call(source, context, *, function):
        received = pickled(context)
        returned = function(source, received)
        context.drops.marks[:] = received.drops.marks
        return returned

    return msgspec.structs.replace(
        task, **{name: functools.partial(call, function=function) for name, function in functions.items()}
    )


class PicklingExecutor(Executor):
    """Calls functions in this process, at once; functions, arguments and results are pickled as for a worker."""

    def submit(self, fn, /, *args, **kwargs):
        function, arguments, named = pickled((fn, args, kwargs))
        future = Future()
        future.set_result(pickled(function(*arguments, **named)))
        return future


def tables_of(results):
    """What each task gives: rows, drops, labels and notes, or why there is none."""
    return {
        result.task: (result.splits, result.drops, result.labels, result.notes, result.candidates)
        if isinstance(result, Config)
        else (result.reason, result.drops, result.candidates)
        for result in results
    }


def differing(expected, outcomes):
    """The tasks that give something else."""
    assert expected.keys() == outcomes.keys()
    return [task for task in expected if expected[task] != outcomes[task]]


@pytest.mark.parametrize("lang", SAMPLE_LANGUAGES)
def test_pickled_tasks_settings_and_contexts_give_the_same_rows(lang, built, corpus_of):
    tasks = [with_pickled_contexts(task) for task in all_tasks().values()]
    outcomes = tables_of(build_all(tasks, corpus_of("sample", lang), pickled(SMALL_CLASSES)))
    assert differing(tables_of(built("sample", lang, SMALL_CLASSES).values()), outcomes) == []


def test_pickled_blocks_tasks_and_plans_give_the_same_rows(tmp_path):
    """What a worker gets of a corpus of several blocks: the parts, the tasks, and the plan of all blocks."""
    corpus = load_corpus(str(write_copies(tmp_path, "es", 2)))
    assert len(blocks_of(corpus.parts, SMALL_BLOCKS)) >= 2
    tasks = list(all_tasks().values())
    expected = tables_of(build_all(tasks, corpus, SMALL_BLOCKS))
    assert sum(len(outcome) == 5 for outcome in expected.values()) >= 15
    assert differing(expected, tables_of(build_all(tasks, corpus, SMALL_BLOCKS, PicklingExecutor()))) == []


# Comparisons of identity

IN_ONE_CALL = {
    "config.py: kind is INTEGER": "the schemas are constants of the module, and no frame carries one",
}
"""Comparisons with something that pickling copies, and why no copy meets them."""


def keeps_its_identity(node, namespace):
    """Whether an operand is a constant that a pickled object still is: None, a member of an enumeration, a class."""
    if isinstance(node, ast.Constant):
        return node.value is None or isinstance(node.value, bool) or node.value is ...
    try:
        value = eval(compile(ast.Expression(node), "operand", "eval"), dict(namespace))
        return pickled(value) is value
    except (NameError, AttributeError, TypeError, pickle.PicklingError):  # a variable of a function, or never pickled
        return False


def comparisons_of_identity(source, namespace):
    """The comparisons with ``is`` and ``is not`` in a module that pickling can change."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare) and any(isinstance(operator, ast.Is | ast.IsNot) for operator in node.ops):
            named = (ast.Constant, ast.Name, ast.Attribute)
            operands = [operand for operand in (node.left, *node.comparators) if isinstance(operand, named)]
            if not any(keeps_its_identity(operand, namespace) for operand in operands):
                yield ast.unparse(node)


def test_no_module_compares_the_identity_of_what_pickling_copies():
    """`how is ANY` was true of a task of this process and false of the same task in a worker: use ``==``."""
    comparisons = []
    for path in sorted(ROOT.rglob("*.py")):
        name = path.relative_to(ROOT)
        module = ".".join(["discoprobe.builders", *name.with_suffix("").parts]).removesuffix(".__init__")
        namespace = vars(importlib.import_module(module))
        source = path.read_text(encoding="utf-8")
        comparisons += [f"{name.as_posix()}: {comparison}" for comparison in comparisons_of_identity(source, namespace)]
    assert sorted(comparisons) == sorted(IN_ONE_CALL)


def test_the_search_tells_constants_that_pickling_copies_from_others():
    source = "[a is None, a is not True, a is ..., a is Executor, a is TEXT, a is not PAIR, a is b, a is ROOT.parent]"
    namespace = {"Executor": Executor, "TEXT": "some text", "PAIR": (1, 2), "ROOT": ROOT}
    expected = ["a is TEXT", "a is not PAIR", "a is b", "a is ROOT.parent"]
    assert list(comparisons_of_identity(source, namespace)) == expected
