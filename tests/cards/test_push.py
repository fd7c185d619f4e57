"""A push over real HTTP, with the clients as users have them, against a Hub that is strict and fails as planned."""

import itertools
import json
import re
import shutil
import signal
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import polars as pl
import pyarrow.parquet as pq
import pytest
import yaml

sys.path.insert(0, str(Path(__file__).parent))

import releases
from hub_server import Answer, Fault

from discoprobe.builders import Unavailable
from discoprobe.cards.metadata import manifest

_numbers = itertools.count()
HEADING = "What it is for"
"""A heading that a later version of the program may have."""


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Release folders that tests push and never write to."""
    base = tmp_path_factory.mktemp("folders")

    def other_row(rows):
        rows[0]["sentence1"] += " Geändert."
        return rows

    return {
        "de": releases.write(base / "de", releases.config()),
        "es": releases.write(base / "es", releases.config(lang="es")),
        "de changed": releases.write(base / "de2", releases.config(change=other_row)),
    }


@pytest.fixture
def case(hub):
    return hub.case(f"case{next(_numbers)}")


@pytest.fixture
def pushed(hub, client, case, folders):
    """A case whose repository holds the German release."""
    ok(client.call("push", case, folder=str(folders["de"])))
    case.seen.clear()
    return case


def ok(answer):
    assert "result" in answer, answer.get("trace", answer)
    return answer["result"]


def refused(answer, status, *words):
    assert "error" in answer, answer
    assert answer["status"] == status, answer["trace"]
    assert "\n" not in answer["error"]
    for word in words:
        assert word in answer["error"], answer["error"]
    return answer["error"]


def tree(hub, case, revision="main"):
    repo = hub.repos[case.repo]
    return {path: file.blob for path, file in repo.commits[repo.resolve(revision)].tree.items()}


def asked(case, method, part):
    return [line for line in case.seen if line.startswith(method) and part in line]


def commits(hub, case):
    return [commit.title for commit in hub.repos[case.repo].history()]


# the way of releases


def test_languages_come_one_after_the_other_and_stay(hub, client, case, folders):
    first = ok(client.call("push", case, folder=str(folders["de"]), read_back=2))
    assert (first["state"], first["release"], first["last"]) == ("published", "1.0.0", "")
    german = tree(hub, case)
    second = ok(client.call("push", case, folder=str(folders["es"]), read_back=2))
    assert (second["release"], second["keeps"]) == ("1.1.0", ["bso_de"])
    both = tree(hub, case)
    assert {path: blob for path, blob in both.items() if "bso_de" in path} == {
        path: blob for path, blob in german.items() if "bso_de" in path
    }
    again = ok(client.call("push", case, folder=str(folders["de"]), read_back=2))
    assert (again["state"], again["release"], again["uploads"]) == ("unchanged", "1.1.0", {})
    changed = ok(client.call("push", case, folder=str(folders["de changed"]), read_back=2))
    assert (changed["state"], changed["release"]) == ("published", "2.0.0")
    assert changed["changes"]["changed"][0]["splits"]["test"]["edited"] == 1
    assert commits(hub, case) == ["Release v2.0.0", "Release v1.1.0", "Release v1.0.0", "initial commit"]
    assert hub.repos[case.repo].tags == {f"v{one['release']}": one["commit"] for one in (first, second, changed)}, (
        "one tag per release, on its commit"
    )


def test_what_was_pushed_loads_by_tag(client, case, folders, tmp_path):
    for folder in ("de", "es", "de changed"):
        ok(client.call("push", case, folder=str(folders[folder])))
    for release, config, folder in [
        ("v1.0.0", "bso_de", "de"), ("v1.1.0", "bso_de", "de"), ("v1.1.0", "bso_es", "es"),
        ("v2.0.0", "bso_de", "de changed"), ("v2.0.0", "bso_es", "es"),
    ]:  # fmt: skip
        loaded = ok(client.call("load", case, config=config, revision=release, cache=str(tmp_path / release)))
        for split, found in loaded.items():
            local = pq.read_table(folders[folder] / config / f"{split}-00000-of-00001.parquet")
            assert found["ids"] == local["id"].to_pylist()
            assert found["labels"] == list(releases.LABELS)
    assert ok(client.call("names", case, revision="v1.0.0")) == ["bso_de"]
    assert sorted(ok(client.call("names", case, revision="v2.0.0"))) == ["bso_de", "bso_es"]
    streamed = ok(client.call("stream", case, config="bso_es", revision="v2.0.0", split="test"))
    assert streamed == [f"es-test-{i}" for i in range(8)]
    for release in ("v1.0.0", "v1.1.0", "v2.0.0"):
        found = ok(client.call("checksums", case, revision=release))
        assert found["mismatches"] == 0
        assert found["checked"] >= 12


def test_card_and_changelog_speak_of_all_configs(hub, client, case, folders):
    for folder in ("de", "es"):
        ok(client.call("push", case, folder=str(folders[folder])))
    repo = hub.repos[case.repo]
    card = repo.read(repo.head.tree["README.md"]).decode()
    front = yaml.safe_load(card.split("---\n")[1])
    assert [one["config_name"] for one in front["configs"]] == ["bso_de", "bso_es"]
    assert case.repo in card
    log = repo.read(repo.head.tree["CHANGELOG.md"]).decode()
    assert log.index("## 1.1.0") < log.index("`bso_es` (24 rows)") < log.index("## 1.0.0")
    assert (folders["es"] / "CHANGELOG.md").read_text() == log


def test_the_snippets_of_published_cards_run_as_they_are(hub, client, case, folders, tmp_path):
    ok(client.call("push", case, folder=str(folders["de"])))
    repo = hub.repos[case.repo]
    for path in ("README.md", "cards/de.md"):
        card = repo.read(repo.head.tree[path]).decode()
        snippet = re.search(r"```python\n(.*?)```", card, re.DOTALL)[1]
        assert f'load_dataset("{case.repo}", "bso_de"' in snippet
        ok(client.call("execute", case, code=snippet, cache=str(tmp_path)))


def test_only_what_changed_is_sent(client, pushed, folders):
    found = ok(client.call("push", pushed, folder=str(folders["de changed"])))
    assert [path for path in found["uploads"] if path.endswith(".parquet")] == ["bso_de/test-00000-of-00001.parquet"]
    assert len(asked(pushed, "PUT", "/lfs/")) == 1
    assert len(asked(pushed, "POST", "/commit/")) == 1


def test_the_same_content_asks_little_and_writes_nothing(client, pushed, folders):
    ok(client.call("push", pushed, folder=str(folders["de"])))
    assert [line for line in pushed.seen if not line.startswith(("GET", "HEAD"))] == []
    assert len(pushed.seen) <= 7


@pytest.fixture
def reworded(hub, client, pushed, folders):
    """A release after which a version of the program with other words published the same folder."""
    before = tree(hub, pushed)
    pushed.seen.clear()
    found = ok(client.call("push", pushed, folder=str(folders["de"]), heading=HEADING))
    assert (found["state"], found["release"], [*found["uploads"]]) == ("published", "1.0.1", ["README.md"])
    after = tree(hub, pushed)
    assert {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)} == {"README.md"}
    assert [line for line in pushed.seen if "/lfs/" in line and "PUT" in line] == []
    return pushed


def test_other_words_touch_the_card_alone(hub, client, reworded, folders, tmp_path):
    """The Hub's viewer computes every config again where a commit touches another file."""
    repo = hub.repos[reworded.repo]
    card = repo.read(repo.head.tree["README.md"]).decode()
    assert "## What it is for" in card
    assert 'revision="v1.0.1"' in card
    assert "## Changes in 1.0.0\n\nSince 1.0.0, only the words of this page changed." in card
    assert repo.tags["v1.0.1"] == repo.head.oid != repo.tags["v1.0.0"]
    assert ok(client.call("push", reworded, folder=str(folders["de"]), heading=HEADING))["state"] == "unchanged"
    for tag, release in (("v1.0.0", "1.0.0"), ("v1.0.1", "1.0.1")):
        found = ok(client.call("verify", reworded, revision=tag))
        assert (found["verified"], found["release"]) == (True, release)
    loaded = ok(client.call("load", reworded, config="bso_de", revision="v1.0.1", cache=str(tmp_path)))
    assert {split: len(rows["ids"]) for split, rows in loaded.items()} == releases.SPLITS
    found = ok(client.call("push", reworded, folder=str(folders["es"]), heading=HEADING))
    assert found["release"] == "1.1.0"
    log = repo.read(repo.head.tree["CHANGELOG.md"]).decode()
    assert re.findall(r"^## (\S+)", log, re.MULTILINE) == ["1.1.0", "1.0.0"]
    assert "## Changes in 1.1.0\n\n### Added" in repo.read(repo.head.tree["README.md"]).decode()


def test_a_card_that_somebody_has_changed_is_noticed(hub, client, reworded, folders):
    """No manifest lists the card; its last line says what the rest must be."""
    repo = hub.repos[reworded.repo]
    content = repo.read(repo.head.tree["README.md"]).replace(b"## What it is for", b"## What it Is For")
    repo.commit("main", "edit", "rita", repo.head.tree | {"README.md": repo.store("README.md", content)})
    (found,) = ok(client.call("verify", reworded, revision="main"))["differences"]
    assert (found["path"], found["step"]) == ("README.md", "published")
    back = ok(client.call("restore", reworded, release="1.0.1"))
    assert (back["state"], [*back["uploads"]]) == ("restored", ["README.md"])
    assert ok(client.call("verify", reworded, revision="main"))["verified"]
    assert ok(client.call("restore", reworded, release="1.0.0"))["state"] == "restored"
    assert ok(client.call("push", reworded, folder=str(folders["de"]), heading=HEADING))["release"] == "1.0.2"


@pytest.mark.parametrize("fault", [Fault.KILL, Fault.KILL_AFTER, Fault.LOST], ids=lambda fault: fault.value)
@pytest.mark.parametrize("part", ["/commit/", "/tag/"])
def test_other_words_are_published_whole_or_not(hub, client, pushed, folders, part, fault):
    pushed.first = {part: fault}
    words = {"folder": str(folders["de"]), "heading": HEADING}
    client.call("push", pushed, **words)
    repo = hub.repos[pushed.repo]
    assert ok(client.call("push", pushed, **words))["state"] in {"published", "completed", "unchanged"}
    assert [commit.title for commit in repo.history()].count("Release v1.0.1") == 1
    assert repo.tags["v1.0.1"] == repo.head.oid
    assert ok(client.call("verify", pushed, revision="v1.0.1"))["verified"]


def test_the_same_bytes_of_other_software_are_no_release(hub, client, pushed, folders, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(folders["de"], copy)
    listing = copy / manifest.NAME
    values = json.loads(listing.read_text())
    values["discoprobe"], values["software"]["numpy"] = "99.0.0", "99.0.0"
    listing.write_text(json.dumps(values))
    assert ok(client.call("push", pushed, folder=str(copy)))["state"] == "unchanged"


def test_a_config_that_is_not_built_any_more_goes(hub, client, case, tmp_path):
    both = releases.write(tmp_path / "both", releases.config(), releases.config("dc"))
    ok(client.call("push", case, folder=str(both)))
    gone = Unavailable("dc_de", "dc", "de", "too few documents")
    one = releases.write(tmp_path / "one", releases.config(), gone)
    found = ok(client.call("push", case, folder=str(one)))
    assert (found["release"], found["changes"]["removed"]) == ("2.0.0", {"dc_de": 24})
    assert not [path for path in tree(hub, case) if "dc_de" in path]


def test_a_config_of_another_build_stays(hub, client, case, tmp_path):
    ok(client.call("push", case, folder=str(releases.write(tmp_path / "one", releases.config()))))
    found = ok(client.call("push", case, folder=str(releases.write(tmp_path / "two", releases.config("dc")))))
    assert (found["release"], found["keeps"]) == ("1.1.0", ["bso_de"])
    repo = hub.repos[case.repo]
    page = repo.read(repo.head.tree["cards/de.md"]).decode()
    assert re.findall(r"^# (\w+)$", page, re.MULTILINE) == ["bso_de", "dc_de"]
    assert page.count(f'load_dataset("{case.repo}", ') == 2
    assert {"bso_de", "dc_de"} == set(
        re.findall(r'view id="([\w-]+)', repo.read(repo.head.tree["assets/de.svg"]).decode())
    )
    audits = pl.read_parquet(repo.read(repo.head.tree["audits/de.parquet"]))
    assert audits["config"].to_list() == ["bso_de", "dc_de"]


def test_two_states_of_one_corpus_do_not_meet(client, case, tmp_path):
    ok(client.call("push", case, folder=str(releases.write(tmp_path / "one", releases.config()))))
    newer = releases.config("dc", sources=(releases.source("de", commit="d" * 40),))
    answer = client.call("push", case, folder=str(releases.write(tmp_path / "two", newer)))
    refused(answer, 1, "bso_de", "another version of UD_de")


def test_languages_of_a_folder_can_be_chosen(hub, client, case, tmp_path):
    both = releases.write(tmp_path / "both", releases.config(), releases.config(lang="es"))
    found = ok(client.call("push", case, folder=str(both), languages=["es"]))
    assert found["changes"]["added"] == {"bso_es": 24}
    assert not [path for path in tree(hub, case) if "bso_de" in path]
    refused(client.call("push", case, folder=str(both), languages=["fi"]), 2, "fi")


# asking first


def test_a_dry_run_writes_nothing(client, pushed, folders):
    found = ok(client.call("push", pushed, folder=str(folders["es"]), dry_run=True))
    assert (found["state"], found["release"], found["commit"]) == ("planned", "1.1.0", None)
    assert found["uploads"]["bso_es/test-00000-of-00001.parquet"] > 1000
    assert [line for line in pushed.seen if not line.startswith(("GET", "HEAD"))] == []


def test_a_dry_run_for_a_repository_that_is_not_there(hub, client, case, folders):
    assert ok(client.call("push", case, folder=str(folders["de"]), dry_run=True))["state"] == "planned"
    assert case.repo not in hub.repos


def test_a_push_that_is_declined_writes_nothing(hub, client, case, folders):
    assert ok(client.call("push", case, folder=str(folders["de"]), agree=False))["state"] == "declined"
    assert case.repo not in hub.repos


def test_a_proposal_leaves_main_and_is_tagged_after_its_merge(hub, client, pushed, folders):
    before = tree(hub, pushed)
    found = ok(client.call("push", pushed, folder=str(folders["es"]), pull_request=True))
    assert found["state"] == "proposed"
    assert found["url"].endswith("/discussions/1")
    assert tree(hub, pushed) == before
    again = ok(client.call("push", pushed, folder=str(folders["es"]), pull_request=True))
    assert again["notes"] == ["the same content was proposed before"]
    repo = hub.repos[pushed.repo]
    assert list(repo.pulls) == ["refs/pr/1"]
    repo.branches["main"] = repo.pulls["refs/pr/1"]  # merged
    assert ok(client.call("push", pushed, folder=str(folders["es"])))["state"] == "completed"
    assert repo.tags["v1.1.0"] == repo.branches["main"]


def test_release_numbers(client, pushed, folders):
    for number, words in [
        ("1.0.0", ["not above 1.0.0", "1.1.0"]), ("0.9.0", ["not above"]),
        ("1.0.1", ["too small a step", "bso_es new (24 rows)", "1.1.0"]),
    ]:  # fmt: skip
        refused(client.call("push", pushed, folder=str(folders["es"]), release=number), 1, *words)
    refused(client.call("push", pushed, folder=str(folders["es"]), release="one"), 2, "not a number of three parts")
    assert not asked(pushed, "POST", "")
    assert ok(client.call("push", pushed, folder=str(folders["es"]), release="3.0.0"))["release"] == "3.0.0"


# what stops a push before the network is touched


@pytest.mark.parametrize(
    ("made", "how", "status", "words"),
    [
        ({}, {"failed": ("length",)}, 3, ["bso_de (length)"]),
        ({}, {"audit": False}, 3, ["not audited: bso_de"]),
        ({"licence": "CC BY-NC-SA 4.0"}, {}, 1, ["UD_de", "CC BY-NC-SA 4.0", "--allow-licence"]),
        ({"licence": "CC BY-ND 4.0"}, {}, 1, ["UD_de", "(nd)"]),
        ({"licence": "unknown"}, {}, 1, ["UD_de", "(unknown)"]),
        ({"citation": ""}, {}, 1, ["no attribution for UD_de", "--citation"]),
    ],
)  # fmt: skip
def test_what_may_not_be_published_never_reaches_the_network(client, case, tmp_path, made, how, status, words):
    config = releases.config(sources=(releases.source("de", **made),))
    refused(client.call("push", case, folder=str(releases.write(tmp_path / "out", config, **how))), status, *words)
    assert case.seen == []


@pytest.mark.parametrize("licence", ["CC BY-NC-SA 4.0", "unknown"])
def test_a_licence_that_is_named_is_published(client, case, tmp_path, licence):
    citation = "" if licence == "unknown" else "Someone (2020)."
    config = releases.config(sources=(releases.source("de", licence=licence, citation=citation),))
    folder = str(releases.write(tmp_path / "out", config))
    refused(client.call("push", case, folder=folder, allow_licence=["CC BY-ND 4.0"]), 1, "UD_de")
    assert ok(client.call("push", case, folder=folder, allow_licence=[licence]))["state"] == "published"


def test_a_dedication_needs_no_attribution(client, case, tmp_path):
    config = releases.config(sources=(releases.source("de", licence="CC0 1.0", citation=""),))
    assert ok(client.call("push", case, folder=str(releases.write(tmp_path / "out", config))))["state"] == "published"


def test_a_folder_that_was_touched_after_its_build(client, case, tmp_path):
    folder = releases.write(tmp_path / "out", releases.config())
    with (folder / "cards" / "de.md").open("a") as file:
        file.write("!")
    refused(client.call("push", case, folder=str(folder)), 1, "cards/de.md differs from the manifest")
    refused(client.call("push", case, folder=str(tmp_path)), 1, "holds no manifest.json")
    assert case.seen == []


# who may, and where


def test_tokens(hub, client, case, folders):
    reader = hub.case(f"reader{next(_numbers)}", role="read")
    refused(client.call("push", reader, folder=str(folders["de"])), 4, "the token can only read")
    case.token = "hf_nobodysTokenAtAll"
    message = refused(client.call("push", case, folder=str(folders["de"])), 4, "401", "HF_TOKEN")
    assert case.token not in message
    stranger = hub.case(f"stranger{next(_numbers)}")
    stranger.repo = f"others/{stranger.repo.partition('/')[2]}"
    refused(client.call("push", stranger, folder=str(folders["de"])), 4, "403")


@pytest.mark.parametrize("part", ["/refs", "/preupload/", "PUT /lfs/", "/objects/batch", "/validate-yaml", "/commit/"])
def test_a_token_that_is_refused_midway(hub, client, pushed, folders, part):
    before = tree(hub, pushed)
    pushed.always = {part: Fault.FORBIDDEN}
    refused(client.call("push", pushed, folder=str(folders["es"])), 4, "403", pushed.repo)
    assert tree(hub, pushed) == before
    pushed.always = {}
    assert ok(client.call("push", pushed, folder=str(folders["es"])))["state"] == "published"


@pytest.mark.parametrize("listing", [b"[]", b"{}", b'[{"type": "file", "path": "a", "oid": "b", "size": "large"}]'])
def test_a_listing_without_the_published_manifest_is_not_believed(hub, client, pushed, folders, listing):
    """To publish by it would take the published configs off the card."""
    before = tree(hub, pushed)
    pushed.always = {"/tree/": Answer(200, listing)}
    refused(client.call("push", pushed, folder=str(folders["es"])), 4, "lacks manifest.json", "try later")
    assert tree(hub, pushed) == before


def test_tokens_and_signed_addresses_are_never_shown(client, case, folders):
    case.first = {"PUT /lfs/": Fault.BUSY}
    case.always = {"/commit/": Fault.BUSY}
    answer = client.call("push", case, folder=str(folders["de"]), verbose=True)
    assert "waiting" in answer["output"]
    assert case.hit[0].startswith("PUT /lfs/")
    assert "/commit/" in case.hit[1]
    shown = str(answer)
    assert case.token not in shown
    assert "Signature" not in shown


def test_names_that_are_none(client, case, folders):
    case.repo = "discoprobe"
    refused(client.call("push", case, folder=str(folders["de"])), 2, "owner/name")


@pytest.fixture
def foreign(hub, case):
    """A function that puts somebody's files into the case's repository, made if need be, and gives the files of it."""

    def put(**contents):
        repo = hub.repos.get(case.repo) or hub.create(case.repo)
        files = {name: repo.store(name, content) for name, content in contents.items()}
        repo.commit("main", "theirs", "rita", repo.head.tree | files)
        return tree(hub, case)

    return put


CARD = b"---\nlicense: mit\n---\n# Ours\n\nRows by hand.\n"
EMPTY_CARD = b"---\nlicense: mit\n---\n"


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"README.md": EMPTY_CARD},
        {"README.md": b"# Soon\n"},
        {"README.md": EMPTY_CARD, "LICENSE": b"MIT"},
        {"data.csv": b"a,b\n", "assets/logo.png": b"\x89PNG", "old/dc_de/a.txt": b"a"},
    ],
    ids=lambda files: " ".join(files) or "nothing",
)
def test_what_is_not_in_the_way_of_a_first_release_stays(hub, client, case, folders, foreign, files):
    before = foreign(**files)
    found = ok(client.call("push", case, folder=str(folders["de"])))
    after = tree(hub, case)
    stay = files.keys() - {"README.md"}
    assert (found["state"], set(found["unmanaged"])) == ("published", stay)
    assert all(name in found["notes"][0] for name in stay)
    assert {name: after[name] for name in stay | {".gitattributes"}} == {
        name: before[name] for name in stay | {".gitattributes"}
    }
    assert "bso_de" in hub.repos[case.repo].read(hub.repos[case.repo].head.tree["README.md"]).decode()
    assert ok(client.call("push", case, folder=str(folders["de"])))["state"] == "unchanged"


@pytest.mark.parametrize(
    ("files", "named"),
    [
        ({"README.md": CARD, "data.csv": b"a,b\n"}, "README.md"),
        ({"bso_de/old.parquet": b"PAR1"}, "bso_de/old.parquet"),
        ({"bso_de": b"a file"}, "bso_de"),
        ({"assets": b"a file"}, "assets"),
        ({"README.md/x.txt": b"a folder"}, "README.md/x.txt"),
        ({"CHANGELOG.md": b"# Theirs\n"}, "CHANGELOG.md"),
        ({".huggingface.yaml": b"configs: []\n"}, ".huggingface.yaml"),
        ({"dataset_infos.json": b"{}"}, "dataset_infos.json"),
        ({"{repo}.py": b"import datasets\n"}, ".py"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_in_the_way_of_a_first_release_is_left_alone(hub, client, case, folders, foreign, files, named):
    before = foreign(**{name.format(repo=case.repo.partition("/")[2]): content for name, content in files.items()})
    refused(client.call("push", case, folder=str(folders["de"])), 4, named, "rename or delete", "--repo")
    assert tree(hub, case) == before
    assert hub.repos[case.repo].tags == {}


def test_files_in_the_folder_of_a_new_config_are_left_alone(hub, client, pushed, folders):
    repo = hub.repos[pushed.repo]
    theirs = repo.store("bso_es/notes.txt", b"theirs")
    repo.commit("main", "theirs", "rita", repo.head.tree | {"bso_es/notes.txt": theirs})
    before = tree(hub, pushed)
    refused(client.call("push", pushed, folder=str(folders["es"])), 4, "bso_es/notes.txt")
    assert tree(hub, pushed) == before


def test_rows_that_somebody_put_beside_ours_go(hub, client, pushed, folders):
    """A card names the files of a split by a pattern: what is in a config's folder is loaded with it."""
    repo = hub.repos[pushed.repo]
    evil = repo.store("bso_de/test-evil.parquet", b"PAR1")
    repo.commit("main", "more rows", "rita", repo.head.tree | {"bso_de/test-evil.parquet": evil})
    found = ok(client.call("push", pushed, folder=str(folders["es"])))
    assert found["deletes"] == ["bso_de/test-evil.parquet"]


def test_what_comes_into_a_repository_that_is_just_being_made(hub, client, case, folders):
    """Somebody is there between its making and the first commit."""
    case.plan = {4: Fault.RIVAL}
    found = ok(client.call("push", case, folder=str(folders["de"])))
    assert (found["state"], found["unmanaged"]) == ("published", ["rival.txt"])
    assert {"rival.txt", ".gitattributes"} <= tree(hub, case).keys()


def test_files_of_others_stay_and_are_named(hub, client, pushed, folders):
    hub.rival(pushed.repo)
    found = ok(client.call("push", pushed, folder=str(folders["es"])))
    assert found["unmanaged"] == ["rival.txt"]
    assert "rival.txt" in tree(hub, pushed)


def test_a_file_that_somebody_deleted_is_noticed(hub, client, pushed, folders):
    repo = hub.repos[pushed.repo]
    rest = {path: file for path, file in repo.head.tree.items() if path != "audits/de.parquet"}
    repo.commit("main", "Delete audits", "rita", rest)
    refused(client.call("push", pushed, folder=str(folders["es"])), 4, "audits/de.parquet")
    assert ok(client.call("push", pushed, folder=str(folders["de"])))["uploads"].keys() >= {"audits/de.parquet"}


def test_bytes_that_arrive_wrong_are_never_used(hub, client, pushed, folders):
    repo = hub.repos[pushed.repo]
    blob = repo.head.tree["manifest.json"].blob
    right = repo.blobs[blob]
    repo.blobs[blob] = right.replace(b'"version":"1.0.0"', b'"version":"3.0.0"')
    refused(
        client.call("push", pushed, folder=str(folders["es"])),
        4,
        "the downloaded manifest.json is not the file that the Hub lists",
    )
    repo.blobs[blob] = right
    assert ok(client.call("push", pushed, folder=str(folders["es"])))["release"] == "1.1.0", "nor kept in a cache"


def test_a_full_disk(client, pushed, folders):
    refused(client.call("push_full_disk", pushed, folder=str(folders["es"])), 4, "no space left")


# faults

RECOVERED = (Fault.BUSY, Fault.LIMITED, Fault.RESET, Fault.TIMEOUT, Fault.LOST)
"""Faults that pass: one push gets over any of them."""


def test_a_hub_that_stays_away(hub, client, pushed, folders):
    before = tree(hub, pushed)
    pushed.always = {"/commit/": Fault.BUSY}
    message = refused(client.call("push", pushed, folder=str(folders["es"])), 4, "503", "nothing is half published")
    assert len(asked(pushed, "POST", "/commit/")) == 4, message
    assert tree(hub, pushed) == before


def test_the_wait_that_the_hub_asks_for_is_kept(client, pushed, folders):
    """The commit is what the client itself never tries again."""
    ok(client.call("push", pushed, folder=str(folders["es"]), dry_run=True))
    pushed.seen.clear()
    pushed.always = {"/commit/": Fault.LIMITED}
    answer = client.call("push", pushed, folder=str(folders["es"]), patience={"attempts": 2}, verbose=True)
    refused(answer, 4, "429")
    assert "waiting 1.0 s" in answer["output"]


def test_a_rival_is_named_and_never_overwritten(hub, client, pushed, folders):
    pushed.first = {"/commit/": Fault.RIVAL}
    refused(client.call("push", pushed, folder=str(folders["es"])), 4, "rita", "Rival's change", "run the push again")
    assert commits(hub, pushed)[0] == "Rival's change"
    assert ok(client.call("push", pushed, folder=str(folders["es"])))["state"] == "published"
    assert "rival.txt" in tree(hub, pushed)


def test_two_pushes_at_once(hub, client, pushed, folders):
    with ThreadPoolExecutor(2) as pool:
        names = ("es", "de changed")
        answers = list(pool.map(lambda name: client.call("push", pushed, folder=str(folders[name])), names))
    assert any("result" in answer for answer in answers), answers
    assert all("result" in answer or answer["status"] == 4 for answer in answers), answers
    for name in names:
        ok(client.call("push", pushed, folder=str(folders[name])))
    assert ok(client.call("names", pushed, revision="main")) == ["bso_de", "bso_es"]
    repo = hub.repos[pushed.repo]
    assert len(repo.history()) == 4
    assert len(repo.tags) == 3


def test_a_tag_is_never_moved(hub, client, pushed, folders):
    """Somebody sets the tag of the coming release while it is being pushed."""
    repo = hub.repos[pushed.repo]
    theirs = repo.tags["v1.0.0"]
    pushed.first = {"/tag/": Fault.BUSY}
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(client.call, "push", pushed, folder=str(folders["es"]), patience={"first_wait": 1.0})
        while not pushed.hit:
            time.sleep(0.01)
        repo.tags["v1.1.0"] = theirs
        refused(running.result(), 4, "a tag is never moved")
    assert repo.tags["v1.1.0"] == theirs


def test_a_tag_that_cannot_be_set_is_told_with_what_main_has(hub, client, pushed, folders):
    pushed.always = {"/tag/": Fault.BUSY}
    said = refused(client.call("push", pushed, folder=str(folders["es"])), 4, "only its tag v1.1.0 is missing")
    assert hub.repos[pushed.repo].branches["main"][:12] in said
    pushed.always = {}
    assert ok(client.call("push", pushed, folder=str(folders["es"])))["state"] == "completed"


def test_configs_of_other_corpora_are_named(client, pushed, tmp_path):
    other = releases.source("de", licence="CC0-1.0")
    renamed = releases.config(sources=(msgspec.structs.replace(other, name="notes"),))
    folder = releases.write(tmp_path / "other", renamed)
    planned = ok(client.call("push", pushed, folder=str(folder), dry_run=True))
    assert planned["resourced"] == ["bso_de: UD_de → notes"]


def test_a_push_that_was_cut_off_before_its_tag_is_completed_by_the_next_one(hub, client, pushed, folders):
    """The next one may bring something else: the tag is set first, on the commit it belongs to."""
    pushed.first = {"/tag/": Fault.KILL}
    assert client.call("push", pushed, folder=str(folders["es"]))["signal"] == signal.SIGKILL
    repo = hub.repos[pushed.repo]
    cut_off = repo.branches["main"]
    assert "v1.1.0" not in repo.tags
    found = ok(client.call("push", pushed, folder=str(folders["de changed"])))
    assert found["release"] == "2.0.0"
    assert repo.tags["v1.1.0"] == cut_off
    assert "v1.1.0" in found["notes"][0]


def test_what_does_not_load_is_not_tagged(hub, client, case, folders):
    """The rows are there, and cannot be read: storage refuses to give them out."""
    case.always = {"GET /lfs/": Fault.FORBIDDEN}
    refused(client.call("push", case, folder=str(folders["de"]), read_back=1), 4, "403", "loading bso_de")
    assert commits(hub, case)[0] == "Release v1.0.0"
    assert hub.repos[case.repo].tags == {}
    case.always = {}
    assert ok(client.call("push", case, folder=str(folders["de"]), read_back=1))["state"] == "completed"


@pytest.mark.parametrize(
    "fault", [None, *RECOVERED, Fault.REFUSED, Fault.KILL], ids=lambda one: getattr(one, "value", "none")
)
def test_large_files_go_in_parts(hub, client, case, folders, fault):
    """The Hub asks for parts of objects of some gigabytes; here of some kilobytes. One part fails."""
    case.part_size = 2000
    case.always = {"/lfs-part/": fault} if fault is Fault.REFUSED else {}
    case.first = {"/lfs-part/": fault} if fault and fault is not Fault.REFUSED else {}
    first = client.call("push", case, folder=str(folders["de"]))
    assert len(asked(case, "PUT", "/lfs-part/")) > len(asked(case, "POST", "/lfs-complete/")) or fault is Fault.REFUSED
    assert fault is None or "/lfs-part/" in case.hit[0], case.hit
    if fault in {Fault.REFUSED, Fault.KILL}:
        assert "error" in first or first["signal"] == signal.SIGKILL
        assert commits(hub, case) == ["initial commit"]
        case.always = {}
        first = client.call("push", case, folder=str(folders["de"]))
    assert ok(first)["state"] == "published"
    assert ok(client.call("checksums", case, revision="v1.0.0"))["mismatches"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("fault", [Fault.REFUSED, Fault.RESET, Fault.KILL, Fault.LOST], ids=lambda fault: fault.value)
def test_a_fault_while_reading_back(hub, client, folders, fault):
    """Loading is many requests of `datasets`: whatever happens, the next push sets the tag."""
    cases = [hub.case(f"back{next(_numbers)}") for _ in range(6)]
    length = 19  # requests before: what is read, four large files, commit and what is listed after it
    for offset, case in enumerate(cases):
        case.plan = {length + 1 + 2 * offset: fault}
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda case: client.call("push", case, folder=str(folders["de"]), read_back=1), cases))
        again = list(pool.map(lambda case: client.call("push", case, folder=str(folders["de"]), read_back=1), cases))
    for case, answer in zip(cases, again, strict=True):
        assert ok(answer)["state"] in {"completed", "unchanged"}
        assert hub.repos[case.repo].tags == {"v1.0.0": hub.repos[case.repo].branches["main"]}


@pytest.fixture(scope="module")
def scenarios(hub, client, folders):
    """Two pushes to break: the first of a repository, and one onto a release; with what each must come to."""
    found = {}
    template = hub.case("template")
    hub.repos.pop(template.repo, None)
    ok(client.call("push", template, folder=str(folders["de"])))
    found["first"] = ("de", None, list(template.seen), rows_of(hub, template), "v1.0.0")
    base = hub.case("base")
    hub.copy(template.repo, base.repo)
    copied = hub.case("copied")
    ok(client.call("push", copied, folder=str(folders["de"])))
    copied.seen.clear()
    ok(client.call("push", copied, folder=str(folders["es"])))
    found["next"] = ("es", "base", list(copied.seen), rows_of(hub, copied), "v1.1.0")
    return found


def rows_of(hub, case):
    """The files of configs and plots by hash; cards of configs as text without the name of the repository."""
    repo = hub.repos[case.repo]
    return {
        path: re.sub(rb"\borg/\w+", b"org/NAME", repo.read(repo.head.tree[path])) if path.endswith(".md") else blob
        for path, blob in tree(hub, case).items()
        if path.startswith(("bso_", *(f"{folder}/" for folder in manifest.OF_LANGUAGES)))
    }


NEXT = {"old": "published", "new, no tag": "completed", "new, tagged": "unchanged"}
"""What the next push does, by what the one before left."""


@pytest.mark.slow
@pytest.mark.parametrize("scenario", ["first", "next"])
@pytest.mark.parametrize(
    "fault", [fault for fault in Fault if fault not in {Fault.FORBIDDEN, Fault.LATE}], ids=lambda fault: fault.value
)
def test_every_request_of_a_push_fails_once(hub, client, folders, scenarios, scenario, fault, capsys):
    """After each fault the repository is the old release or the new one, and a second push completes it."""
    folder, base, requests, expected, tag = scenarios[scenario]

    def broken(number):
        case = hub.case(f"f{next(_numbers)}")
        old = None
        if base:
            hub.copy(hub.cases[f"org/{base}"].repo, case.repo)
            old = rows_of(hub, case)
        case.plan = {number: fault}
        start = time.perf_counter()
        first = client.call("push", case, folder=str(folders[folder]))
        assert time.perf_counter() - start < 30, "a silent Hub holds a push up"
        between = state(hub, case, old, expected, tag)
        if between == "new, tagged" and not any(part in case.hit[0] for part in ("/commit/", "/tag/")):
            return number, case, first, between, None  # done; that the same again is no commit has its own test
        second = client.call("push", case, folder=str(folders[folder]))
        return number, case, first, between, second

    with ThreadPoolExecutor(12) as pool:
        outcomes = list(pool.map(broken, range(1, len(requests) + 1)))
    with capsys.disabled():
        report(scenario, fault, outcomes)
    assert len(outcomes) >= 5
    for number, case, first, between, second in outcomes:
        assert case.hit, f"request {number} was never made"
        check(hub, case, fault, first, between, second, expected, tag)


def state(hub, case, old, expected, tag):
    """``old``, ``new`` (with or without its tag); anything else is what must not be."""
    repo = hub.repos.get(case.repo)
    if repo is None:
        return "old"
    found = rows_of(hub, case)
    if found == (old or {}):
        assert tag not in repo.tags
        return "old"
    assert found == expected, f"neither old nor new: {sorted(found)}"
    return "new, tagged" if tag in repo.tags else "new, no tag"


def check(hub, case, fault, first, between, second, expected, tag):
    repo = hub.repos[case.repo]
    assert rows_of(hub, case) == expected
    ours = [commit for commit in repo.history() if commit.title == f"Release {tag}"]
    assert len(ours) == 1, "one commit, whatever happened"
    assert repo.tags[tag] == ours[0].oid
    if second is not None:
        assert ok(second)["state"] == NEXT[between]
    if fault in RECOVERED:
        assert ok(first)["state"] == "published", "the client gets over it by itself"
        assert between == "new, tagged"
    elif fault in {Fault.KILL, Fault.KILL_AFTER}:
        assert first["signal"] == signal.SIGKILL
    elif "error" in first:
        assert first["status"] == 4, first["trace"]


def report(scenario, fault, outcomes):
    """A line per request (what the push said, what the repository was, what the second push did), and one of counts."""
    counts = Counter(), Counter(), Counter()
    for number, case, first, between, second in outcomes:
        hit = case.hit[0].split(" ")
        where = f"{hit[0]} {'/'.join(hit[1].split('/')[-3:])}"[:58]
        said = first["result"]["state"] if "result" in first else "killed" if first.get("signal") else first["type"]
        then = "not needed" if second is None else second["result"]["state"] if "result" in second else second["type"]
        print(f"{scenario:5} | {fault.value:24} | {number:2} {where:58} | {said:18} | {between:11} | {then}")
        for count, what in zip(counts, (said, between, then), strict=True):
            count[what] += 1
    shown = [", ".join(f"{what} {n}" for what, n in sorted(count.items())) for count in counts]
    print(f"| {scenario} | {fault.value} | {len(outcomes)} | {' | '.join(shown)} |")


# size


@pytest.mark.slow
def test_a_release_of_three_hundred_configs(hub, client, case, tmp_path, capsys):
    def rows_of_its_own(name):
        return lambda rows: [row | {"sentence2": f"{name} {row['id']}"} for row in rows]

    names = [(f"task{n}", lang) for n in range(100) for lang in ("de", "es", "fi")]
    made = [releases.config(*name, change=rows_of_its_own(name), splits=releases.SPLITS) for name in names]
    folder = releases.write(tmp_path / "out", *made)
    start = time.perf_counter()
    ok(client.call("push", case, folder=str(folder), patience={"timeout": 60.0}))
    push_seconds, requests = time.perf_counter() - start, len(case.seen)
    assert commits(hub, case) == ["Release v1.0.0", "initial commit"]
    repo = hub.repos[case.repo]
    front = repo.read(repo.head.tree["README.md"]).decode().split("---\n")[1]
    assert len(front.encode()) < 100_000
    case.seen.clear()
    start = time.perf_counter()
    ok(client.call("load", case, config="task7_es", revision="v1.0.0", cache=str(tmp_path / "cache")))
    load_seconds, load_requests = time.perf_counter() - start, len(case.seen)
    case.seen.clear()
    start = time.perf_counter()
    assert ok(client.call("push", case, folder=str(folder), patience={"timeout": 60.0}))["state"] == "unchanged"
    with capsys.disabled():
        print(
            f"\n300 configs, {len(repo.head.tree)} files: YAML {len(front.encode())} bytes; push {push_seconds:.1f} s"
            f" in {requests} requests, again {time.perf_counter() - start:.1f} s in {len(case.seen)}; one config loads"
            f" in {load_seconds:.1f} s, {load_requests} requests"
        )


# what the real Hub does with large commits


@pytest.mark.parametrize("slow", [False, True])
def test_a_commit_that_lands_after_the_gateway_has_given_up(hub, client, case, folders, slow):
    """The head is still the old one when it is looked at first; the commit that lands later is ours, and it is one."""
    if slow:
        case.per_file = 10.0
    else:
        case.first["/commit/main"] = Fault.LATE
    found = ok(client.call("push", case, folder=str(folders["de"]), patience={"first_wait": 0.5, "longest_wait": 1.0}))
    assert found["state"] == "published"
    repo = hub.repos[case.repo]
    assert [commit.title for commit in repo.history()] == ["Release v1.0.0", "initial commit"]
    assert repo.tags == {"v1.0.0": repo.head.oid}
    assert len([path for path in case.seen if "/commit/main" in path]) <= 2


def test_a_commit_that_lands_when_nobody_waits_any_more(hub, client, case, folders, monkeypatch):
    """The push ends with an error and says what to do; the next one finds the release and sets its tag."""
    monkeypatch.setattr("hub_server.LANDING_SECONDS", 2.0)
    case.first["/commit/main"] = Fault.LATE
    impatient = {"attempts": 1}
    refused(
        client.call("push", case, folder=str(folders["de"]), patience=impatient), 4, "504", "nothing is half published"
    )
    deadline = time.monotonic() + 10
    while len(hub.repos[case.repo].history()) < 2 and time.monotonic() < deadline:
        time.sleep(0.1)
    assert ok(client.call("push", case, folder=str(folders["de"])))["state"] == "completed"
    assert [*hub.repos[case.repo].tags] == ["v1.0.0"]


@pytest.mark.parametrize(
    ("limit", "most", "words"), [("most_files", 2, "too many LFS files"), ("most_bytes", 9_000, "413")]
)
def test_limits_of_a_commit(hub, client, case, folders, limit, most, words):
    setattr(case, limit, most)
    refused(client.call("push", case, folder=str(folders["de"])), 4, words)
    assert [commit.title for commit in hub.repos[case.repo].history()] == ["initial commit"]
    assert hub.repos[case.repo].tags == {}


def test_two_thirds_of_the_files_of_a_commit_are_rows(hub, client, case, folders):
    """Files beside rows are few: what is sent inline is one file per kind and language, and those of the release."""
    found = ok(client.call("push", case, folder=str(folders["de"])))
    inline = sorted(path for path in found["uploads"] if not path.endswith(".parquet"))
    assert inline == ["ATTRIBUTION.md", "CHANGELOG.md", "README.md", "assets/de.svg", "cards/de.md", "croissant.json",
                      "eval.yaml", "manifest.json", "overview.svg"]  # fmt: skip


# heads that somebody has changed


def earlier_format(repo, tree):
    text = json.loads(repo.read(tree["manifest.json"])) | {"format": 1}
    return tree | {"manifest.json": repo.store("manifest.json", json.dumps(text).encode())}


def without(tree, *paths):
    return {path: file for path, file in tree.items() if path not in paths}


DAMAGED = {
    "no manifest": lambda _, tree: without(tree, "manifest.json"),
    "manifest is no JSON": lambda repo, tree: tree | {"manifest.json": repo.store("manifest.json", b"{")},
    "manifest of other types": lambda repo, tree: (
        tree | {"manifest.json": repo.store("manifest.json", b'{"format": 2}')}
    ),
    "earlier format": earlier_format,
}


def damage(hub, case, change):
    repo = hub.repos[case.repo]
    repo.commit("main", "Change by hand", "rita", change(repo, dict(repo.head.tree)))
    return repo


@pytest.mark.parametrize("change", DAMAGED.values(), ids=DAMAGED.keys())
def test_a_damaged_head_is_named_with_the_remedy(hub, client, pushed, folders, change):
    repo = damage(hub, pushed, change)
    head = repo.head.oid
    for call in ("push", "compare"):
        message = refused(client.call(call, pushed, folder=str(folders["de"])), 4, "v1.0.0", pushed.repo)
        assert f"`build push --restore v1.0.0 --repo {pushed.repo}`" in message
        assert "/" not in message.replace(pushed.repo, ""), "a place in the client's cache helps nobody"
    assert repo.head.oid == head
    assert ok(client.call("restore", pushed, release="v1.0.0"))["state"] == "restored"
    assert repo.head.tree == repo.commits[repo.tags["v1.0.0"]].tree
    assert ok(client.call("push", pushed, folder=str(folders["de"])))["state"] == "unchanged"
    assert ok(client.call("push", pushed, folder=str(folders["es"])))["release"] == "1.1.0"


FOREIGN = {
    "other rows": lambda repo, tree: tree | {
        "bso_de/test-00000-of-00001.parquet": repo.store("bso_de/test-00000-of-00001.parquet", b"PAR1 other")},
    "more rows": lambda repo, tree: tree | {
        "bso_de/test-more.parquet": repo.store("bso_de/test-more.parquet", b"PAR1")},
    "another card": lambda repo, tree: tree | {"cards/de.md": repo.store("cards/de.md", b"# bso_de\n")},
    "configs of others": lambda repo, tree: tree | {
        ".huggingface.yaml": repo.store(".huggingface.yaml", b"configs: []")},
    "half of it": lambda _, tree: without(
        tree, "bso_de/train-00000-of-00001.parquet", "audits/de.parquet", "README.md"),
    "nothing": lambda _, tree: {".gitattributes": tree[".gitattributes"]},
}  # fmt: skip


@pytest.mark.parametrize("change", FOREIGN.values(), ids=FOREIGN.keys())
def test_a_release_is_put_back(hub, client, pushed, folders, tmp_path, change):
    repo = damage(hub, pushed, change)
    hub.rival(pushed.repo)
    head = repo.head.oid
    planned = ok(client.call("restore", pushed, release="1.0.0", dry_run=True))
    assert (planned["state"], repo.head.oid) == ("planned", head)
    found = ok(client.call("restore", pushed, release="1.0.0", read_back=1))
    assert (found["state"], found["uploads"], found["deletes"]) == ("restored", planned["uploads"], planned["deletes"])
    released = repo.commits[repo.tags["v1.0.0"]].tree
    assert without(repo.head.tree, "rival.txt") == released
    assert repo.head.parent == head, "one commit"
    assert found["unmanaged"] == ["rival.txt"]
    assert ok(client.call("load", pushed, config="bso_de", revision="main", cache=str(tmp_path)))["test"]["ids"]
    assert ok(client.call("restore", pushed, release="1.0.0"))["state"] == "unchanged"


def test_a_release_that_cannot_be_put_back(hub, client, pushed, case):
    refused(client.call("restore", pushed, release="v2.0.0"), 4, "no release v2.0.0", "its last one is v1.0.0")
    refused(client.call("restore", pushed, release="newest"), 2, "not a number of three parts")
    refused(client.call("restore", hub.case("nowhere"), release="v1.0.0"), 4, "no release v1.0.0")
    repo = damage(hub, pushed, earlier_format)
    repo.tags["v1.1.0"] = repo.head.oid
    refused(client.call("restore", pushed, release="v1.1.0"), 4, "no whole release", "format 1, now 2")
    assert "give another --repo" in refused(client.call("verify", pushed, revision="main"), 4, "format 1, now 2")


def test_cards_that_somebody_has_changed_are_not_published_again(hub, client, pushed, tmp_path):
    """The German page is written again for another German config; an edit by hand would come along."""
    damage(hub, pushed, FOREIGN["another card"])
    other = str(releases.write(tmp_path / "dc", releases.config("dc")))
    refused(client.call("push", pushed, folder=other), 4, "cards/de.md", "somebody has changed it", "--restore v1.0.0")
    ok(client.call("restore", pushed, release="v1.0.0"))
    assert ok(client.call("push", pushed, folder=other))["release"] == "1.1.0"


def test_a_race_while_a_release_is_put_back(hub, client, pushed):
    damage(hub, pushed, FOREIGN["nothing"])
    pushed.first["/commit/main"] = Fault.RIVAL
    refused(client.call("restore", pushed, release="v1.0.0"), 4, "somebody else committed", "Rival's change")
    pushed.first["/commit/main"] = Fault.LOST
    assert ok(client.call("restore", pushed, release="v1.0.0"))["state"] == "restored"
