"""Rows that strangers change or delete on the Hub are shown, taken as marks, and kept by the next release."""

import io
import json

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import releases

from discoprobe.builders.drops import without_rows
from discoprobe.cards.readers import marks_file, read_marks, to_exclude

TEST = "bso_de/test-00000-of-00001.parquet"


def ok(answer):
    assert "result" in answer, answer
    return answer["result"]


@pytest.fixture
def folder(tmp_path):
    return releases.write(tmp_path / "release", releases.config())


@pytest.fixture
def pushed(hub, client, folder, request):
    case = hub.case(request.node.name.replace("[", "-").replace("]", "").replace("_", "-").replace(" ", "-"))
    ok(client.call("push", case, folder=str(folder)))
    return case


def edited(repo, change, path=TEST, ref="main", base=None):
    """What the editor of the Hub commits: the file of a split with other rows, and without its metadata."""
    tree = dict((base or repo.head).tree)
    rows = change(pq.read_table(io.BytesIO(repo.read(tree[path]))).to_pylist())
    pq.write_table(pa.Table.from_pylist(rows), buffer := io.BytesIO())
    tree[path] = repo.store(path, buffer.getvalue())
    return tree


def stranger(repo, name, change):
    return repo.commit("main", "Update test", name, edited(repo, change))


def relabelled(rows):
    rows[0]["label"] = 1 - rows[0]["label"]
    return rows


def reworded(rows):
    rows[1]["sentence1"] += " Berichtigt."
    return rows


def without_last(rows):
    return rows[:-1]


def test_each_row_is_shown_with_who_changed_it(hub, client, pushed):
    repo = hub.repos[pushed.repo]
    assert ok(client.call("corrections", pushed)) == []
    stranger(repo, "rita", relabelled)
    stranger(repo, "otto", reworded)
    stranger(repo, "rita", without_last)
    assert ok(client.call("corrections", pushed)) == [
        ["bso_de", "test", "de-test-0", "rita", "wrong label", ["label"]],
        ["bso_de", "test", "de-test-1", "otto", "other", ["sentence1"]],
        ["bso_de", "test", "de-test-7", "rita", "other", []],
    ]
    stranger(repo, "otto", relabelled)  # back again
    assert [one[2] for one in ok(client.call("corrections", pushed))] == ["de-test-1", "de-test-7"]


def test_a_label_may_be_written_as_its_name(hub, client, pushed):
    def named(rows):
        for row in rows:
            row["label"] = releases.LABELS[row["label"]]
        rows[0]["label"] = releases.LABELS[1]
        return rows

    stranger(hub.repos[pushed.repo], "rita", named)
    assert [one[2:] for one in ok(client.call("corrections", pushed))] == [
        ["de-test-0", "rita", "wrong label", ["label"]]
    ]


def test_a_pull_request_is_read_too(hub, client, pushed):
    repo = hub.repos[pushed.repo]
    repo.pulls["refs/pr/1"] = repo.head.oid
    repo.commit("refs/pr/1", "Correct a label", "otto", edited(repo, relabelled))
    assert ok(client.call("corrections", pushed)) == []
    assert [one[2:4] for one in ok(client.call("corrections", pushed, pull=1))] == [["de-test-0", "otto"]]


def test_a_push_does_not_undo_them_and_the_next_release_keeps_them(hub, client, build, pushed, folder):
    repo = hub.repos[pushed.repo]
    stranger(repo, "rita", relabelled)
    head = repo.head.oid
    for name in ("bso", "dc"):  # the config itself, and another one beside it
        other = releases.write(folder.with_name(name), releases.config(name))
        answer = client.call("push", pushed, folder=str(other))
        assert answer["status"] == 4, answer
        assert f"rita changed or deleted rows of v1.0.0 in {pushed.repo} (bso_de de-test-0)" in answer["error"]
        assert f"`build pull {pushed.repo}`" in answer["error"]
    assert repo.head.oid == head

    environment = {"HF_TOKEN": pushed.token}
    shown = build("pull", pushed.repo, "--out", folder, "--dry-run", **environment)
    assert shown.returncode == 0, shown.stderr
    assert not marks_file(folder).exists()
    done = build("pull", pushed.repo, "--out", folder, **environment)
    assert done.returncode == 0, done.stderr
    assert "label: in_order → swapped" in done.stdout
    assert f"1 marks added to {marks_file(folder)}" in done.stdout
    again = build("pull", pushed.repo, "--out", folder, **environment)
    assert "0 marks added" in again.stdout
    (mark,) = read_marks(marks_file(folder))
    assert (mark.reader, mark.row, mark.verdict) == ("rita", "de-test-0", "wrong label")
    readings = json.loads(build("review", "--out", folder, "--json").stdout)
    assert readings["marks"] == 1
    assert readings["configs"]["bso_de"]["readers"]["person"]["faults"] == {"wrong label": 1}
    assert set(readings["configs"]["bso_de"]["rows"]) == {"train", "validation", "test"}
    assert "dist/nowhere" in build("review", "--out", "dist/nowhere", "--json").stderr

    excluded = to_exclude(read_marks(marks_file(folder)))["bso_de"]
    assert excluded == {"de-test-0": "wrong label (rita)"}
    made = without_rows(releases.config(), excluded)
    new = releases.write(folder.with_name("new"), made)
    found = ok(client.call("push", pushed, folder=str(new)))
    assert (found["state"], found["release"]) == ("published", "2.0.0")
    left = pl.read_parquet(repo.read(repo.head.tree[TEST]))["id"].to_list()
    assert "de-test-0" not in left
    page = repo.read(repo.head.tree["cards/de.md"]).decode()
    assert "- Rows that others corrected on the Hub are left out: 1 (rita)." in page
    assert ok(client.call("corrections", pushed)) == []


def added(rows):
    return [*rows, rows[0] | {"id": "mine"}]


def another_id(rows):
    rows[0]["doc_id"] = "d9"
    return rows


STRANGE = {
    "a new row": (lambda repo: edited(repo, added), "bso_de test mine: another row"),
    "another document": (lambda repo: edited(repo, another_id), "de-test-0: another doc_id"),
    "no rows": (lambda repo: repo.head.tree | {TEST: repo.store(TEST, b"PAR1 other")}, "no rows that can be read"),
    "rows and a card": (
        lambda repo: edited(repo, relabelled) | {"cards/de.md": repo.store("cards/de.md", b"# bso_de\n")},
        "cards/de.md changed"),
}  # fmt: skip


@pytest.mark.parametrize("kind", STRANGE)
def test_anything_else_still_stops_a_push(hub, client, pushed, folder, kind):
    change, message = STRANGE[kind]
    repo = hub.repos[pushed.repo]
    repo.commit("main", "Change by hand", "rita", change(repo))
    for call in ("push", "corrections"):
        answer = client.call(call, pushed, **({"folder": str(folder)} if call == "push" else {}))
        assert answer["status"] == 4, answer
        assert message in answer["error"]
        assert "--restore" in answer["error"]


def test_a_repository_without_a_release(hub, client):
    case = hub.case("empty")
    hub.create(case.repo)
    assert "holds no release" in client.call("corrections", case)["error"]
