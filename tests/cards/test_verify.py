"""A release is compared with its manifest, and with what its sources give again; what differs has its reason."""

import json
import shutil
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

sys.path.insert(0, str(Path(__file__).parent))

import releases

from discoprobe.builders import Settings, Unavailable
from discoprobe.cards.hub import Remote
from discoprobe.cards.hub.verify import verify
from discoprobe.cards.metadata import manifest
from discoprobe.cards.release import up_to_date
from discoprobe.loaders import DiscoprobeError, File


@pytest.fixture
def release(tmp_path):
    return releases.write(tmp_path / "release", releases.config(), releases.config(lang="es"))


def rebuilding(*configs):
    """A rebuild that gives these configs."""
    return lambda _, out: releases.write(out, *configs)


def why(found, path):
    (reasons,) = [one.why for one in found.differences if one.path == path and one.step == "rebuilt"]
    return " · ".join(reasons)


def test_the_same_again(release):
    found = verify(str(release), rebuilding(releases.config(), releases.config(lang="es")))
    assert found.differences == ()
    assert (found.files, found.rebuilt) == (17, 12)
    assert found.to_dict()["verified"]


def test_files_that_were_touched(release):
    file = release / "bso_de" / "test-00000-of-00001.parquet"
    content = bytearray(file.read_bytes())
    content[100] ^= 1
    file.write_bytes(content)
    (release / "cards" / "es.md").unlink()
    (release / "README.md").write_text("short")
    (release / "bso_es" / "test-evil.parquet").write_bytes(content)
    found = {one.path: one.why[0] for one in verify(str(release), None).differences if one.step == "published"}
    assert set(found) == {
        "bso_de/test-00000-of-00001.parquet",
        "cards/es.md",
        "README.md",
        "bso_es/test-evil.parquet",
    }
    assert "SHA-256" in found["bso_de/test-00000-of-00001.parquet"]
    assert "does not exist" in found["cards/es.md"]
    assert "5 bytes" in found["README.md"]
    assert "does not list" in found["bso_es/test-evil.parquet"]


def test_another_source(release):
    other = releases.config(sources=(releases.source("de", commit="d" * 40),), change=lambda rows: rows[:-1])
    found = verify(str(release), rebuilding(other, releases.config(lang="es")))
    assert all("bso_de" in one.path or "/de." in one.path for one in found.differences)
    reasons = why(found, "bso_de/test-00000-of-00001.parquet")
    assert "source UD_de: commit cccccccccccc → dddddddddddd" in reasons
    assert "the rows differ" in reasons


def test_another_filter(release):
    other = releases.config(settings=Settings(probing_words=(4, 25)), change=lambda rows: rows[:-1])
    other.drops["too short"] = 2
    reasons = why(
        verify(str(release), rebuilding(other, releases.config(lang="es"))), "bso_de/test-00000-of-00001.parquet"
    )
    assert "setting probing_words: [5, 40] → [4, 25]" in reasons
    assert "filter too short: none → 2" in reasons


def test_another_version(release):
    path = release / manifest.NAME
    text = json.loads(path.read_text())
    text["software"]["pyarrow"] = "23.0.0"
    entry = text["configs"]["bso_de"]["files"]["test-00000-of-00001.parquet"]
    entry["sha256"] = "0" * 64
    path.write_text(json.dumps(text))
    found = verify(str(release), rebuilding(releases.config(), releases.config(lang="es")))
    reasons = why(found, "bso_de/test-00000-of-00001.parquet")
    assert "version pyarrow: 23.0.0 → " in reasons
    assert "the rows are the same" in reasons


def test_a_config_that_cannot_be_built_any_more(release):
    gone = Unavailable("bso_de", "bso", "de", "too few documents")
    found = verify(str(release), rebuilding(gone, releases.config(lang="es")))
    assert "not built any more: too few documents" in why(found, "cards/de.md")


def test_what_is_no_release(tmp_path):
    with pytest.raises(DiscoprobeError, match=r"holds no manifest\.json"):
        verify(str(tmp_path), None)


def test_a_release_on_the_hub(hub, client, release):
    case = hub.case("verified")
    assert client.call("push", case, folder=str(release))["result"]["state"] == "published"
    found = client.call("verify", case, revision="v1.0.0", folder=str(release))["result"]
    assert found["verified"], found
    assert (found["release"], found["files"], found["rebuilt"]) == ("1.0.0", 18, 12)
    assert found["commit"] == hub.repos[case.repo].tags["v1.0.0"]


def test_a_release_on_the_hub_that_was_tampered_with(hub, client, release, tmp_path):
    case = hub.case("tampered")
    assert client.call("push", case, folder=str(release))["result"]["state"] == "published"
    repo = hub.repos[case.repo]
    changes = {
        name: repo.store(name, b"PAR1 other") for name in ("bso_de/test-00000-of-00001.parquet", "bso_de/x.parquet")
    }
    card = repo.read(repo.head.tree["cards/es.md"]).replace(b"Whether", b"whether")
    changes["cards/es.md"] = repo.store("cards/es.md", card)
    repo.commit("main", "edit", "rita", repo.head.tree | changes)
    found = client.call("verify", case, revision="main")["result"]
    assert {one["path"] for one in found["differences"]} == set(changes)
    assert client.call("verify", case, revision="v1.0.0")["result"]["verified"]
    missing = client.call("verify", case, revision="v9.9.9")
    assert (missing["status"], "404" in missing["error"]) == (4, True)
    copy = tmp_path / "copy"
    shutil.copytree(release, copy)
    assert not client.call("verify", case, revision="main", folder=str(copy))["result"]["verified"]


def test_changes_against_a_release_on_the_hub(hub, client, release, tmp_path):
    case = hub.case("compared")
    assert client.call("push", case, folder=str(release))["result"]["state"] == "published"
    other = releases.write(tmp_path / "other", releases.config(change=lambda rows: rows[:-1]))
    found = client.call("compare", case, folder=str(other), revision="v1.0.0")["result"]
    assert found["removed"] == {}
    assert found["changed"][0]["splits"]["test"]["removed"] == 1
    assert client.call("compare", case, folder=str(release))["result"]["changed"] == []
    assert client.call("compare", hub.case("nothing"), folder=str(release))["status"] == 4


def test_a_config_with_a_changed_file_is_not_up_to_date(release):
    """Its size is the same; only the hash tells."""
    found = replace(manifest.read_release(release), inputs={"bso_de": "x"})
    assert up_to_date(release, found, "bso_de", "x")
    assert not up_to_date(release, found, "bso_de", "y")
    file = release / "bso_de" / "test-00000-of-00001.parquet"
    content = bytearray(file.read_bytes())
    content[100] ^= 1
    file.unlink()
    file.write_bytes(content)
    assert not up_to_date(release, found, "bso_de", "x")


@pytest.mark.parametrize(
    ("change", "whole"),
    [({}, True), ({"sha256": ""}, True), ({"sha256": "0" * 64}, False), ({"bytes": 1}, False), (None, False)],
)
def test_a_remote_release_is_whole_if_it_has_the_listed_files(release, change, whole):
    """Files that are not stored with LFS have no hash in the tree."""
    found = manifest.read_release(release)
    tree = manifest.listed(found) | {manifest.README: File(manifest.README)}
    path = "bso_de/test-00000-of-00001.parquet"
    changed = {} if change is None else {path: replace(tree[path], **change)}
    others = {name: file for name, file in tree.items() if name != path}
    assert Remote("0" * 40, others | changed, found).is_whole() == whole


@pytest.mark.parametrize("revision", ["", "@v1.0.0"])
def test_a_repository_that_does_not_exist(hub, build, revision):
    """It is an error of the Hub, not of a release without a manifest."""
    done = build("verify", f"nobody/nothing{revision}", HF_TOKEN=hub.case("filled").token)
    assert done.returncode == 4
    assert "nobody/nothing, or a file of it, does not exist or is hidden from this token" in done.stderr
