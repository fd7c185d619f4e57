"""Publishing from continuous integration without a stored token: the exchange, what it refuses, and the workflow."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import releases
import yaml


def job(hub, case, **more):
    """The environment of a job on GitHub that may ask for a token."""
    return {
        "GITHUB_ACTIONS": "true", "ACTIONS_ID_TOKEN_REQUEST_URL": f"{hub.url}/provider/token/{case.repo}",
        "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "job", "HF_OIDC_RESOURCE": f"datasets/{case.repo}", **more,
    }  # fmt: skip


def trusted(hub, name):
    """A repository, in which somebody has named a workflow as publisher."""
    case = hub.case(name)
    hub.create(case.repo)
    hub.trusts[case.repo] = f"datasets/{case.repo}"
    return case


def push(build, folder, case, **environment):
    return build("push", "--no-build", "--out", folder, "--repo", case.repo, "--yes", **environment)


@pytest.fixture
def folder(tmp_path):
    return releases.write(tmp_path / "out", releases.config())


@pytest.mark.parametrize("token", ["", "hf_wrong", "hf_пароль"])
def test_a_job_publishes_without_a_token_and_before_one_that_is_set(hub, build, folder, token):
    """The order of the client: what a job gets in exchange goes before HF_TOKEN, which here may write nowhere."""
    case = trusted(hub, f"trusted{len(token)}")
    done = push(build, folder, case, **job(hub, case, HF_TOKEN=token))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith(f"published: {case.repo} 1.0.0")
    assert hub.repos[case.repo].tags == {"v1.0.0": hub.repos[case.repo].head.oid}
    assert hub.repos[case.repo].head.author == "github-actions"


def test_another_provider_gives_its_token_itself(hub, build, folder):
    case = trusted(hub, "gitlab")
    done = push(build, folder, case, HF_OIDC_RESOURCE=f"datasets/{case.repo}", HF_OIDC_ID_TOKEN=case.repo)
    assert done.returncode == 0, done.stderr


REFUSED = {
    "no job": (
        lambda _, case: {"HF_OIDC_RESOURCE": f"datasets/{case.repo}"},
        "this job has no token of its provider: give it `permissions: id-token: write`, or HF_OIDC_ID_TOKEN"),
    "no permission": (
        lambda _, case: {"HF_OIDC_RESOURCE": f"datasets/{case.repo}", "GITHUB_ACTIONS": "true"},
        "give it `permissions: id-token: write`"),
    "another repository": (
        lambda hub, case: job(hub, case, HF_OIDC_RESOURCE=hub.trusts[other(hub)],
                              HF_OIDC_ID_TOKEN=other(hub)),
        "HF_OIDC_RESOURCE is datasets/org/other, so the token may not write to org/"),
    "not trusted": (
        lambda hub, case: job(hub, case, ACTIONS_ID_TOKEN_REQUEST_URL=f"{hub.url}/provider/token/stranger"),
        "the Hub does not trust this job to publish datasets/org/"),
}  # fmt: skip


def other(hub):
    if "org/other" not in hub.trusts:
        trusted(hub, "other")
    return "org/other"


@pytest.mark.parametrize("kind", REFUSED)
def test_what_a_job_lacks_is_said_in_one_line(hub, build, folder, kind):
    environment, message = REFUSED[kind]
    case = trusted(hub, f"refused-{kind.replace(' ', '-')}")
    head = hub.repos[case.repo].head.oid
    done = push(build, folder, case, **environment(hub, case))
    assert done.returncode == 4, done.stderr
    assert done.stderr.count("\n") == 1
    assert message in done.stderr
    assert hub.repos[case.repo].head.oid == head


def test_a_repository_that_is_not_there_is_not_created_by_a_job(hub, build, folder):
    case = hub.case("not-there")
    hub.trusts[case.repo] = f"datasets/{case.repo}"
    done = push(build, folder, case, **job(hub, case))
    assert done.returncode == 4
    assert "(403)" in done.stderr
    assert done.stderr.count("\n") == 1
    assert case.repo not in hub.repos


# the workflow


@pytest.fixture
def workflow(build, tmp_path):
    def written(*options):
        done = build("new", "workflow", *options)
        assert done.returncode == 0, done.stderr
        path = Path(done.stdout.splitlines()[0])
        assert path == Path(".github/workflows/publish-dataset.yml")
        return tmp_path / path, done.stdout

    return written


KEYS = {"name", True, "permissions", "concurrency", "jobs"}
"""Keys of a workflow; PyYAML reads ``on`` as True."""
OF_JOB = {"runs-on", "needs", "permissions", "env", "steps"}
OF_STEP = {"name", "uses", "with", "run"}


def test_the_workflow_is_one_that_github_reads(workflow):
    path, said = workflow("--repo", "org/probes", "--lang", "de", "--task", "so")
    text = path.read_text(encoding="utf-8")
    read = yaml.safe_load(text)
    assert read.keys() == KEYS
    assert read[True] == {"push": {"tags": ["v[0-9]*"]}}
    assert read["permissions"] == {"contents": "read"}
    assert "/datasets/org/probes/settings, Trusted Publishers" in said
    for name, of_job in read["jobs"].items():
        assert of_job.keys() <= OF_JOB
        assert set(of_job.get("needs", "build").split()) <= read["jobs"].keys()
        for step in of_job["steps"]:
            assert step.keys() <= OF_STEP
            assert ("run" in step) != ("uses" in step)
            assert re.fullmatch(r"actions/[a-z-]+@v\d+", step.get("uses", "actions/checkout@v4"))
        may_ask = of_job.get("permissions", {}).get("id-token") == "write"
        assert may_ask == (name == "publish") == ("HF_OIDC_RESOURCE" in of_job.get("env", {}))
    assert not re.search(r"[A-Z]{4,}_?TOKEN|secrets\.|\bOPTIONS|\bREPOSITORY|\bVERSION", text)


def test_it_says_what_it_builds_and_overwrites_nothing(workflow, build):
    done = build("new", "workflow", "--repo", "org/probes")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "give --lang or --corpus" in done.stderr
    assert build("new", "workflow", "--repo", "org/a..b", "--lang", "de").returncode == 2
    workflow("--lang", "de")
    assert build("new", "workflow", "--lang", "de").returncode == 2


@pytest.mark.slow
def test_its_steps_publish_a_release(hub, workflow, tmp_path):
    """A runner of our own: steps in their order, with the artifact passed on as GitHub does, without hidden files."""
    case = trusted(hub, "by-workflow")
    path, _ = workflow("--repo", case.repo, "--lang", "es", "--corpus", "sample", "--task", "so")
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "build").write_text(f'#!/bin/sh\nexec {sys.executable} -m discoprobe "$@"\n', encoding="utf-8")
    (tools / "build").chmod(0o755)
    environment = os.environ | {
        "PATH": f"{tools}:{os.environ['PATH']}", "HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "hf"),
        "HF_HUB_DISABLE_XET": "1", "HF_HUB_OFFLINE": "0", "HF_DATASETS_OFFLINE": "0", "HF_TOKEN": "",
        "GITHUB_REF_NAME": "v1.0.0",
    }  # fmt: skip
    permitted = {name: value for name, value in job(hub, case).items() if name != "HF_OIDC_RESOURCE"}
    artifacts = {}
    for name, of_job in yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].items():
        place = tmp_path / name
        place.mkdir()
        may_ask = of_job.get("permissions", {}).get("id-token") == "write"
        of_this = environment | (permitted if may_ask else {}) | of_job.get("env", {})
        for step in of_job["steps"]:
            given = step.get("with", {})
            if step.get("uses", "").startswith("actions/upload-artifact"):
                hidden = () if given["include-hidden-files"] else (".*",)
                artifacts[given["name"]] = tmp_path / "artifact"
                shutil.copytree(place / given["path"], artifacts[given["name"]], ignore=shutil.ignore_patterns(*hidden))
            elif step.get("uses", "").startswith("actions/download-artifact"):
                shutil.copytree(artifacts[given["name"]], place / given["path"])
            elif "run" in step and not step["run"].startswith("pip "):
                done = subprocess.run(
                    ["bash", "-e", "-c", step["run"]], cwd=place, env=of_this, capture_output=True, text=True,
                    check=False,
                )  # fmt: skip
                assert done.returncode == 0, (step["run"], done.stderr)
    assert list(hub.repos[case.repo].tags) == ["v1.0.0"]
    assert {path.partition("/")[0] for path in hub.repos[case.repo].head.tree} >= {"so_es", "README.md", "audits"}
