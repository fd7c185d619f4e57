"""The data set as a benchmark: eval.yaml, and scores that are proposed to the repository of a model."""

import os
import subprocess
import sys

import pytest
import releases
import yaml
from hub_server import Fault
from huggingface_hub import parse_eval_result_entries

from discoprobe.builders.settings import SPLITS
from discoprobe.cards.metadata import manifest
from discoprobe.cards.metadata.benchmark import benchmark, results_file
from discoprobe.cards.metadata.yaml_header import closed_lists

SCORES = "- dataset: {id: org/probes, task_id: dc_es}\n  value: 0.5\n"


def test_each_config_with_all_splits_is_a_task(sample_release):
    read = yaml.safe_load((sample_release / "eval.yaml").read_text(encoding="utf-8"))
    assert read.keys() == {"name", "description", "evaluation_framework", "tasks"}
    assert read["name"] == "discoprobe"
    assert read["evaluation_framework"] in closed_lists()["evaluation_framework"]
    configs = manifest.read(sample_release).configs
    assert [task["id"] for task in read["tasks"]] == sorted(
        name for name, entry in configs.items() if [*entry.counts] == list(SPLITS)
    )
    assert all(task == {"id": task["id"], "config": task["id"], "split": "test"} for task in read["tasks"])


def test_its_tasks_are_those_of_mteb(sample_release):
    pytest.importorskip("mteb", reason="mteb is not installed")
    from discoprobe.evaluation.mteb_tasks import mteb_tasks

    read = yaml.safe_load((sample_release / "eval.yaml").read_text(encoding="utf-8"))
    assert [task["id"] for task in read["tasks"]] == [task.metadata.name for task in mteb_tasks(sample_release)]


def test_a_release_without_such_configs_is_no_benchmark(tmp_path):
    whole = manifest.read(releases.write(tmp_path / "out", releases.config()))
    del whole.configs["bso_de"].counts["train"]
    assert benchmark(whole, "probes") == ""


def propose(client, case, text):
    """The address of the pull request, or the message of the error."""
    answer = client.call("propose", case, path=results_file("org/probes"), text=text)
    return answer["result"] if "result" in answer else answer["error"]


def test_scores_are_proposed_once(hub, client):
    case = hub.case("bert")
    hub.holds(case.repo, {"README.md": b"# BERT\n"})
    assert propose(client, case, SCORES).endswith(f"{case.repo}/discussions/1")
    repo = hub.repos[case.repo]
    assert [*repo.pulls] == ["refs/pr/1"]
    tree = repo.commits[repo.pulls["refs/pr/1"]].tree
    (read,) = parse_eval_result_entries(yaml.safe_load(repo.read(tree[".eval_results/org_probes.yaml"])))
    assert (read.dataset_id, read.task_id, read.value) == ("org/probes", "dc_es", 0.5)
    assert "README.md" in tree
    assert repo.head.title == "files"
    assert all("/api/models/" in asked for asked in case.seen if "/api/" in asked and "/whoami" not in asked)
    assert propose(client, case, SCORES) == ""
    assert [*repo.pulls] == ["refs/pr/1"]
    assert propose(client, case, SCORES.replace("0.5", "0.6"))
    assert len(repo.pulls) == 2


def test_scores_that_are_there_are_not_proposed(hub, client):
    case = hub.case("merged")
    hub.holds(case.repo, {".eval_results/org_probes.yaml": SCORES.encode()})
    assert propose(client, case, SCORES) == ""
    assert hub.repos[case.repo].pulls == {}


def test_a_lost_answer_proposes_them_once(hub, client):
    case = hub.case("lost")
    hub.holds(case.repo, {"README.md": b"# BERT\n"})
    case.first = {"/commit/": Fault.LOST}
    assert propose(client, case, SCORES)
    assert [*hub.repos[case.repo].pulls] == ["refs/pr/1"]


def test_a_model_that_is_not_there(hub, client):
    assert "there is no repository org/nothing" in propose(client, hub.case("nothing"), SCORES)


FROM_MTEB = """
import sys
import yaml
from mteb._hf_integration.eval_model import HFEvalMeta
from mteb._hf_integration.hf_hub_utils import _get_file_on_hub
text = open(_get_file_on_hub(sys.argv[1], "eval.yaml", "dataset"), encoding="utf-8").read()
read = HFEvalMeta.model_validate(yaml.safe_load(text))
assert yaml.safe_load(read.to_yaml()) == yaml.safe_load(text)
print(len(read.tasks), read.tasks[0].id, read.tasks[0].config, read.tasks[0].split)
"""


@pytest.mark.slow
def test_mteb_reads_it_from_the_hub(hub, client, tmp_path):
    """By the code with which mteb reads the file of a repository before it adds tasks to it."""
    pytest.importorskip("mteb", reason="mteb is not installed")
    folder = releases.write(tmp_path / "out", releases.config(), releases.config("dc"))
    case = hub.case("for-mteb")
    assert "result" in client.call("push", case, folder=str(folder))
    environment = {"HF_ENDPOINT": hub.url, "HF_TOKEN": case.token, "HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "0"}
    read = subprocess.run(
        [sys.executable, "-c", FROM_MTEB, case.repo], capture_output=True, text=True, check=False,
        env=os.environ | environment,
    )  # fmt: skip
    assert read.returncode == 0, read.stderr
    assert read.stdout.splitlines()[-1] == "2 bso_de bso_de test"
