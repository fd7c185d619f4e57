"""Samples of all tasks, made here or by workers."""

from concurrent.futures import Executor, Future

from shared import SMALL_CLASSES

from discoprobe.builders import Config, ProbingTask, build, selection, tasks_named


class Noting(Executor):
    """Makes calls at once and in this process, and notes what is called with which task."""

    def __init__(self):
        self.calls = []

    def submit(self, function, *args, **kwargs):
        self.calls.append((function.__name__, args[0]))
        done = Future()
        done.set_result(function(*args, **kwargs))
        return done


def test_workers_sample_the_probing_tasks_of_a_corpus_of_one_block(corpus_of, monkeypatch):
    monkeypatch.setattr(selection, "MANY", 1)
    corpus, tasks, executor = corpus_of("sample", "es"), tasks_named(["probing", "dc", "so"]), Noting()
    here = list(build.build_all(tasks, corpus, SMALL_CLASSES))
    there = list(build.build_all(tasks, corpus, SMALL_CLASSES, executor))
    assert there == here
    assert sum(isinstance(made, Config) for made in here) >= 10
    sampled = [task for name, task in executor.calls if name == "sample"]
    assert len(sampled) >= 10
    assert all(isinstance(task, ProbingTask) for task in sampled)
