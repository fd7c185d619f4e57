"""A release of six languages, built from pinned treebanks, through all that can happen to it on the loopback Hub.

It is published, and published again with nothing, one config or only words changed; killed at twenty chosen requests;
corrected by a stranger, restored, verified by building it again, and loaded by the libraries that readers have.
"""

import io
import json
import os
import shutil
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor

import polars as pl
import pyarrow.parquet as pq
import pytest
from hub_server import Fault
from shared import UD, needs_shared

from discoprobe import pipeline
from discoprobe.builders import Settings
from discoprobe.cards.hub.verify import verify
from discoprobe.cards.metadata import manifest
from discoprobe.pipeline import rebuilder
from discoprobe.plan import plan
from discoprobe.sources import Request

pytestmark = [pytest.mark.slow, needs_shared]
LANGS = ("de", "el", "fi", "sv", "uk", "zh")
TASKS = ("bigram_shift", "bso", "sent_len")
KILLS = 20
UPLOAD = ("/preupload/", "/objects/batch", "/lfs/", "/commit/", "/tag/")
"""Parts of the requests that send a release, in their order."""
CHANGED = "sent_len_sv"

WITH_DATASETS = """
import json, sys
from datasets import load_dataset
print(json.dumps({
    name: {split: rows["id"][:] for split, rows in load_dataset(sys.argv[1], name, revision=sys.argv[2]).items()}
    for name in sys.argv[4:]
}))
"""
WITH_FRAMES = """
import json, sys
import duckdb, polars
found = {}
for name in sys.argv[4:]:
    found[name] = {}
    for split in ("train", "validation", "test"):
        file = f"{sys.argv[3]}/{name}/{split}-00000-of-00001.parquet"
        found[name][split] = polars.read_parquet(file)["id"].to_list()
        assert [row[0] for row in duckdb.sql(f"select id from '{file}'").fetchall()] == found[name][split]
print(json.dumps(found))
"""


def ok(answer):
    assert "result" in answer, answer.get("trace", answer)
    return answer["result"]


def built(folder, *, size=(200, 60, 100), langs=LANGS, tasks=TASKS):
    corpora = tuple(str(UD / lang) for lang in langs)
    pipeline.run(plan(Request(langs, corpora, tasks, Settings(sizes=size), keep_failed=True)), folder)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return built(tmp_path_factory.mktemp("six") / "release")


@pytest.fixture(scope="module")
def changed(folder, tmp_path_factory):
    """The same release with fewer rows of one config."""
    copy = tmp_path_factory.mktemp("changed") / "release"
    shutil.copytree(folder, copy)
    return built(copy, size=(180, 60, 100), langs=("sv",), tasks=("sent_len",))


@pytest.fixture(scope="module")
def published(hub, client, folder):
    """The repository after the first push, which read some configs back."""
    case = hub.case("six")
    case.seen.clear()
    found = ok(client.call("push", case, folder=str(folder), read_back=2))
    assert (found["state"], found["release"]) == ("published", "1.0.0")
    print(f"{len(manifest.read(folder).configs)} configs, {len(found['uploads'])} files sent")
    return case


@pytest.fixture(scope="module")
def published_requests(hub, client, folder):
    """All requests of a first push."""
    case = hub.case("asked")
    ok(client.call("push", case, folder=str(folder)))
    return list(case.seen)


@pytest.fixture(scope="module")
def pushed(hub, client, folder):
    """A function: a repository of its own that holds the release, for cards have the name of their repository."""

    def make(name):
        made = hub.case(name)
        ok(client.call("push", made, folder=str(folder)))
        made.seen.clear()
        return made

    return make


def tree(hub, case):
    return {path: file.blob for path, file in hub.repos[case.repo].head.tree.items()}


def test_what_each_push_touches(hub, client, pushed, folder, changed):
    case = pushed("touched")
    whole = manifest.read(folder)
    assert {entry.lang for entry in whole.configs.values()} == set(LANGS)
    assert all(source.commit and source.files for source in whole.sources.values())
    assert ok(client.call("push", case, folder=str(folder)))["state"] == "unchanged"

    before = tree(hub, case)
    words = ok(client.call("push", case, folder=str(folder), heading="What it is for"))
    assert (words["release"], [*words["uploads"]], words["deletes"]) == ("1.0.1", ["README.md"], [])
    after = tree(hub, case)
    assert {path for path in after if after[path] != before.get(path)} == {"README.md"}

    one = ok(client.call("push", case, folder=str(changed), heading="What it is for"))
    assert [change["name"] for change in one["changes"]["changed"]] == [CHANGED]
    rows = {path.partition("/")[0] for path in one["uploads"] if path.endswith("-of-00001.parquet")}
    assert rows == {CHANGED}
    print(f"words: {[*words['uploads']]}; one config: {sorted(one['uploads'])}")
    for tag in ("v1.0.0", "v1.0.1", f"v{one['release']}"):
        assert ok(client.call("verify", case, revision=tag))["verified"]


def test_kills_at_chosen_requests(hub, client, published_requests, folder):
    """Before and after the commit and the tag, and at sixteen requests evenly over the upload, its ends among them."""
    sending = [number for number, line in enumerate(published_requests, 1) if any(part in line for part in UPLOAD)]
    faults = [(number, fault) for number in sending for fault in (Fault.KILL, Fault.KILL_AFTER)]
    upload, ends = faults[:-4], faults[-4:]
    chosen = [upload[round((len(upload) - 1) * at / (KILLS - 5))] for at in range(KILLS - 4)] + ends
    states = []
    for number, fault in chosen:
        case = hub.case(f"killed{len(states)}")
        case.plan = {number: fault}
        assert client.call("push", case, folder=str(folder)).get("signal") == signal.SIGKILL, (number, fault)
        (hit,) = case.hit
        repo = hub.repos[case.repo]
        is_there = manifest.NAME in repo.head.tree
        if is_there:
            found = ok(client.call("verify", case, revision="main"))
            assert found["verified"], f"half a release after {fault.value} at {hit}"
        else:
            assert [*repo.head.tree] == [".gitattributes"]
        again = ok(client.call("push", case, folder=str(folder)))
        assert again["state"] in ({"completed", "unchanged"} if is_there else {"published"})
        left = "the release" if is_there else "nothing"
        states.append(f"{number:3} {fault.value:17} {hit[:50]:50} left {left}, then {again['state']}")
        assert repo.tags == {"v1.0.0": repo.head.oid}
        assert [commit.title for commit in repo.history()].count("Release v1.0.0") == 1
        assert ok(client.call("verify", case, revision="v1.0.0"))["verified"]
    print("\n".join(states))


def test_a_full_disk_and_two_pushers(hub, client, pushed, folder, changed):
    case = pushed("crowded")
    head = hub.repos[case.repo].head.oid
    assert client.call("push_full_disk", case, folder=str(changed))["status"] == 4
    assert hub.repos[case.repo].head.oid == head
    with ThreadPoolExecutor(2) as pool:
        pushes = ({"folder": str(changed)}, {"folder": str(folder), "heading": "What it is for"})
        answers = list(pool.map(lambda options: client.call("push", case, **options), pushes))
    assert any("result" in answer for answer in answers), answers
    assert all("result" in answer or answer["status"] == 4 for answer in answers), answers
    assert ok(client.call("verify", case, revision="main"))["verified"]
    ok(client.call("push", case, folder=str(changed)))
    assert ok(client.call("verify", case, revision="main"))["verified"]


def test_corrected_by_a_stranger_and_restored(hub, client, pushed, folder, changed):
    case = pushed("corrected")
    repo = hub.repos[case.repo]
    path = f"{CHANGED}/test-00000-of-00001.parquet"
    table = pq.read_table(io.BytesIO(repo.read(repo.head.tree[path])))
    rows = table.to_pylist()
    rows[3]["label"] = (rows[3]["label"] + 1) % 2
    pq.write_table(type(table).from_pylist(rows), buffer := io.BytesIO())
    repo.commit("main", "Update", "rita", repo.head.tree | {path: repo.store(path, buffer.getvalue())})
    assert ok(client.call("corrections", case)) == [[CHANGED, "test", rows[3]["id"], "rita", "wrong label", ["label"]]]
    refused = client.call("push", case, folder=str(changed))
    assert (refused["status"], f"build pull {case.repo}" in refused["error"]) == (4, True)
    back = ok(client.call("restore", case, release="1.0.0"))
    assert (back["state"], [*back["uploads"]]) == ("restored", [path])
    assert ok(client.call("verify", case, revision="main"))["verified"]
    assert ok(client.call("push", case, folder=str(folder)))["state"] == "unchanged"


def test_built_again_from_the_pinned_files(folder):
    found = verify(str(folder), rebuilder(tuple(str(UD / lang) for lang in LANGS), 1))
    assert found.differences == ()
    assert found.rebuilt >= 3 * len(manifest.read(folder).configs)


@pytest.mark.parametrize("reader", ["datasets 3.6", "datasets 4.8", "datasets 5.2", "frames"])
def test_every_config_is_loaded(reader, published, hub, folder, python_with, tmp_path):
    names = sorted(manifest.read(folder).configs)
    environment = {name: text for name, text in os.environ.items() if not name.startswith(("HF_", "PYTHON"))}
    environment |= {"HF_ENDPOINT": hub.url, "HF_TOKEN": published.token, "HF_HOME": str(tmp_path / "hf")}
    code = WITH_FRAMES if reader == "frames" else WITH_DATASETS
    read = subprocess.run(
        [python_with(reader), "-c", code, published.repo, "v1.0.0", str(folder), *names],
        capture_output=True, text=True, check=False, cwd=tmp_path, env=environment,
    )  # fmt: skip
    assert read.returncode == 0, read.stderr[-3000:]
    found = json.loads(read.stdout.splitlines()[-1])
    files = {name: {split: folder / name / manifest.split_file(split) for split in found[name]} for name in names}
    assert found == {
        name: {split: pl.read_parquet(file)["id"].to_list() for split, file in of.items()} for name, of in files.items()
    }
    assert all(set(of) == {"train", "validation", "test"} for of in found.values())
