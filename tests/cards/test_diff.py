"""What changed between two releases is counted by row id, and the manifests say the rest."""

import json
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))

import pyarrow as pa
import releases

from discoprobe.builders import Settings
from discoprobe.cards.hub.staging import compare
from discoprobe.cards.metadata import manifest
from discoprobe.cards.release import diff


@pytest.fixture
def between(tmp_path):
    """A function: the changes from a release of one list of configs to that of another."""

    def changes(old, new):
        for name, configs in (("old", old), ("new", new)):
            releases.write(tmp_path / name, *configs)
        return compare(tmp_path / "new", str(tmp_path / "old"))

    return changes


def test_nothing(between):
    found = between([releases.config()], [releases.config()])
    assert not found
    assert found.to_dict()["changed"] == ()


def test_configs(between):
    found = between([releases.config(), releases.config("dc")], [releases.config(), releases.config(lang="es")])
    assert (found.added, found.removed) == ({"bso_es": 24}, {"dc_de": 24})
    assert found.sources == ("UD_es: new, CC BY-SA 4.0",)


def test_rows(between):
    def changed(rows):
        rows[0]["label"] = 1 - rows[0]["label"]
        rows[1]["sentence1"] = "Anders."
        return [*rows[:-2], rows[-1] | {"id": "new-1"}, rows[-1] | {"id": "new-2"}]

    (found,) = between([releases.config()], [releases.config(change=changed)]).changed
    assert list(found.splits) == ["test"]
    rows = found.splits["test"]
    assert (rows.added, rows.removed, rows.relabelled, rows.edited) == (2, 2, 1, 1)
    assert rows.ids == {
        "added": ("new-1", "new-2"),
        "removed": ("de-test-6", "de-test-7"),
        "relabelled": ("de-test-0",),
        "edited": ("de-test-1",),
    }


def test_another_order_of_rows_is_no_change_of_rows(between):
    assert not between([releases.config()], [releases.config(change=lambda rows: rows[::-1])]).changed


def test_labels_are_compared_by_name(between):
    (found,) = between([releases.config()], [releases.config(labels=("swapped", "in_order"))]).changed
    assert found.definition == ("labels: in_order, swapped → swapped, in_order",)
    assert found.total("relabelled") == 24


def test_settings(between):
    (found,) = between([releases.config()], [releases.config(settings=Settings(seed=14))]).changed
    assert found.settings == ("seed: 13 → 14",)
    assert not found.splits


def test_sources(between):
    newer = releases.source("de", commit="d" * 40, licence="CC BY 4.0")
    found = between([releases.config()], [releases.config(sources=(newer,))])
    assert found.sources == (
        "UD_de: licence CC BY-SA 4.0 → CC BY 4.0", "UD_de: commit cccccccccccc → dddddddddddd",
    )  # fmt: skip


def test_versions(between, tmp_path):
    between([releases.config()], [releases.config()])
    path = tmp_path / "old" / manifest.NAME
    text = json.loads(path.read_text())
    text["software"]["pyarrow"] = "23.0.0"
    path.write_text(json.dumps(text))
    (line,) = compare(tmp_path / "new", str(tmp_path / "old")).software
    assert line.startswith("pyarrow: 23.0.0 → ")


def test_columns(tmp_path):
    for name in ("old", "new"):
        releases.write(tmp_path / name, releases.config())
    one, two = (diff.in_folder(tmp_path / name, manifest.read(tmp_path / name)) for name in ("old", "new"))
    table = one[1]("bso_de", "test")
    other = table.drop_columns(["group"]).append_column("x", pa.array([1] * 8))
    assert diff.compare_columns(table.schema, other.schema) == ("column group: string → none", "column x: none → int64")
    assert not diff.compare(one, two)


labels = st.dictionaries(st.integers(0, 30), st.integers(0, 1), max_size=20)


@given(labels, labels)
@settings(max_examples=100, deadline=None)
def test_every_row_is_counted_once(old, new):
    def table(rows):
        return pa.table({"id": [str(key) for key in rows], "label": pa.array(rows.values(), pa.int64())})

    found = diff.compare_rows(table(old), table(new), list(releases.LABELS), list(releases.LABELS))
    assert found.added == len(new.keys() - old.keys())
    assert found.removed == len(old.keys() - new.keys())
    assert found.relabelled == sum(old[key] != new[key] for key in old.keys() & new.keys())
    assert found.edited == 0
    turned = diff.compare_rows(table(new), table(old), list(releases.LABELS), list(releases.LABELS))
    assert (turned.added, turned.removed, turned.relabelled) == (found.removed, found.added, found.relabelled)
