"""The probes that `--task feats` generates: names, what stands for them, and what comes of them."""

import pickle
import re

import pytest

from discoprobe.builders import GONE, Config, Settings, Unavailable, all_tasks, build_all, generated_tasks, tasks_named
from discoprobe.builders.build import build
from discoprobe.builders.sentences import VALUES
from discoprobe.loaders import UnknownNameError, UnsupportedError, UsageError


def test_feats_stands_for_every_pair_of_a_role_and_a_feature():
    names = [task.name for task in tasks_named(["feats"])]
    assert names == list(generated_tasks())
    assert len(names) == len(set(names)) == 19 * len(VALUES)
    assert {"feats_nsubj_number", "feats_root_verbform", "feats_obj_number_psor"} <= set(names)


@pytest.mark.parametrize("name", ["all", "probing"])
def test_no_other_name_includes_them(name):
    assert not set(generated_tasks()) & {task.name for task in tasks_named([name])}
    assert "feats" not in all_tasks()


def test_one_may_be_asked_for_and_comes_once():
    assert [task.name for task in tasks_named(["feats_obl_case"])] == ["feats_obl_case"]
    assert len(tasks_named(["feats", "feats_obl_case"])) == len(generated_tasks())


def test_a_name_that_is_none_gets_the_near_ones():
    with pytest.raises(UnknownNameError, match="feats_nsubj_number"):
        tasks_named(["feats_nsubj_numbr"])


@pytest.mark.parametrize("name", GONE)
def test_a_task_that_is_gone_names_another(name):
    with pytest.raises(UsageError) as raised:
        tasks_named(["subj_number", name])
    advice = str(raised.value)
    assert advice.startswith(f"{name} is gone: use ")
    assert re.findall(r"\w+", advice.split(": use ")[1])[0] in all_tasks() | generated_tasks()
    assert name not in all_tasks() | generated_tasks()


def test_each_says_what_it_is():
    tasks = tasks_named(["feats"])
    assert len(tasks) > 10
    for task in tasks:
        assert task.family == "feats"
        assert task.definition.startswith(f"{task.feature} of the word in the role")


def test_what_a_corpus_supports_is_built_and_the_rest_has_a_reason(corpus_of):
    settings = Settings(ipm="none", min_class=6)
    tasks = tasks_named(["feats"])
    results = list(build_all(tasks, corpus_of("sample", "es"), settings))
    assert [result.task for result in results] == [task.name for task in tasks]
    built = [result for result in results if isinstance(result, Config)]
    assert len(built) > 10
    for config in built:
        for counts in config.counts().values():
            assert len(set(counts.values())) == 1
            assert min(counts.values()) > 0
    assert all(result.reason for result in results if isinstance(result, Unavailable))


def test_the_part_of_speech_does_not_tell_the_label(corpus_of):
    config = build("feats_nsubj_number", corpus_of("sample", "es"), Settings(ipm="none", min_class=6))
    for table in config.splits.values():
        rows = table.to_pylist()
        assert rows
        for upos in {row["target"]["upos"] for row in rows}:
            labels = [row["label"] for row in rows if row["target"]["upos"] == upos]
            assert labels.count(0) == labels.count(1)


def test_a_feature_that_a_language_lacks_is_named(corpus_of):
    with pytest.raises(UnsupportedError, match="Gender"):
        build("subj_gender", corpus_of("sample", "en"))


def test_every_task_can_be_sent_to_another_process():
    for task in (*all_tasks().values(), *generated_tasks().values()):
        assert pickle.loads(pickle.dumps(task)).name == task.name


def test_what_a_task_asks_has_room_in_a_table():
    asked = {name: task.asks for name, task in (all_tasks() | generated_tasks()).items()}
    assert {name: asks for name, asks in asked.items() if not 0 < len(asks) <= 28} == {}
    assert asked["sent_len"] == "How long is the sentence?"
    assert asked["feats_nsubj_case"] == "Case of nsubj"
