"""Text datasets of a Hub as corpora, over real HTTP with the unmodified client."""

import hashlib
import io
import json
from functools import partial

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hub_client import Client
from hub_server import Fault
from raw_cases import articles
from shared import sample_file
from tiny_catalogue import write_catalogue

from discoprobe.cards.review import read_card
from discoprobe.loaders.catalogue import hub_texts

FINEWIKI = next(text for text in hub_texts() if text.name == "finewiki")
ROWS = 10
"""Rows of a row group."""


def parquet(rows):
    written = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), written, row_group_size=ROWS, compression="zstd")
    return written.getvalue()


def rows_of(numbers):
    texts = articles(max(numbers) + 1)
    return [
        {"text": texts[i], "id": f"eswiki/{i}", "title": f"Título {i}", "url": f"https://es.example.org/{i}",
         "html": hashlib.shake_256(b"%d" % i).hexdigest(10_000)}
        for i in numbers
    ]  # fmt: skip


@pytest.fixture(scope="module")
def finewiki(hub):
    """Three files of three row groups each, in the repository and at the commit that the catalogue pins."""
    files = {f"data/eswiki/00{n}_00000.parquet": parquet(rows_of(range(30 * n, 30 * n + 30))) for n in range(3)}
    files["data/ptwiki/000_00000.parquet"] = parquet(rows_of(range(2)))
    hub.holds(FINEWIKI.repo, files, FINEWIKI.commit)
    return files


@pytest.fixture(scope="module")
def unreachable(tmp_path_factory):
    """Clients of a Hub that does not answer."""
    made = Client("http://127.0.0.1:9", tmp_path_factory.mktemp("home"))
    yield made
    made.close()


def run(build, *arguments, task="so", **more):
    return build("run", "--segment", "--task", task, "--min-rows", "0", "--no-audit", *arguments, **more)


def test_the_catalogue_lists_what_it_pins(command):
    rows = json.loads(command("corpora", "list", "gsw", "cop", "--json").stdout)
    found = {row["name"]: row for row in rows}
    assert found["finewiki-gsw"]["licence"] == "CC-BY-SA-4.0"
    assert "HuggingFaceFW/finewiki at 8bd13e7" in found["finewiki-gsw"]["note"]
    assert "finewiki-cop" not in found
    assert FINEWIKI.url("gsw").endswith(f"HuggingFaceFW/finewiki@{FINEWIKI.commit}/data/alswiki/*.parquet")


def test_a_language_of_a_data_set_is_built_from_the_pinned_commit(hub, finewiki, build, tmp_path):
    done = run(build, "--lang", "es", "--corpus", "finewiki", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    made = json.loads((tmp_path / "out" / "manifest.json").read_text())
    (source,) = made["sources"].values()
    assert list(made["sources"]) == ["finewiki-es"]
    assert (source["repo"], source["commit"], source["licence"]) == (
        f"datasets/{FINEWIKI.repo}", FINEWIKI.commit, "CC BY-SA 4.0"
    )  # fmt: skip
    assert sorted(source["files"]) == [name for name in finewiki if "eswiki" in name]
    assert sum(made["configs"]["so_es"]["counts"]["train"].values()) > 20
    read = source["annotation"]
    assert read["row_groups"] == {name: [0, 1, 2] for name in source["files"]}
    assert (read["documents"], read["made_by"]["engine"]) == (90, "rules")
    assert 0.9 * 90 * 12 < read["sentences"] <= 90 * 12
    rows = pl.read_parquet(tmp_path / "out" / "so_es" / "*.parquet")
    about = pl.read_parquet(tmp_path / "out" / "attribution" / "es.parquet")
    assert about["doc_id"].to_list() == sorted(rows["doc_id"].unique())
    assert about.filter(doc_id="eswiki/7").rows() == [
        ("so_es", "finewiki-es", "eswiki/7", "Título 7", "https://es.example.org/7")
    ]
    assert "Wikipedia contributors" in read_card(tmp_path / "out", "so_es")
    assert made["files"].keys() >= {"attribution/es.parquet"}
    addresses = [address for address in hub.read if FINEWIKI.repo in address]
    assert addresses
    sent = sum(hub.read[address] for address in addresses)
    verified = build("verify", tmp_path / "out", "--json", DISCOPROBE_CACHE=str(tmp_path / "empty cache"))
    assert verified.returncode == 0, verified.stdout + verified.stderr
    assert json.loads(verified.stdout)["differences"] == []
    assert sum(hub.read[address] for address in addresses) == 2 * sent
    stored = sum(len(data) for name, data in finewiki.items() if "eswiki" in name)
    assert sent < stored / 3  # the column `html` is not read


def test_text_that_fills_a_treebank_is_read_again_to_verify(finewiki, build, tmp_path):
    done = build(
        "run", "--lang", "es", "--corpus", "sample", "--fill", "finewiki", "--task", "so,subj_number", "--no-audit",
        "--out", tmp_path / "out",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert set(pl.read_parquet(tmp_path / "out" / "so_es" / "*.parquet")["corpus"]) == {"sample-es", "finewiki-es"}
    verified = build("verify", tmp_path / "out", "--json")
    assert verified.returncode == 0, verified.stdout + verified.stderr
    assert json.loads(verified.stdout)["differences"] == []


@pytest.fixture
def of_catalogue(hub, build, tmp_path):
    """A function that runs the program with a catalogue of one Spanish treebank, which the mirror has."""
    content = sample_file("es").read_bytes()
    blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
    (tmp_path / "mirror").mkdir()
    (tmp_path / "mirror" / blob).write_bytes(content)
    of_file = f'git_blob_sha1 = "{blob}", bytes = {len(content)}'
    write_catalogue(tmp_path / "catalogue", '{ kind = "newdoc" }', test=of_file)
    environment = {"HF_TOKEN": hub.case("filled").token, "DISCOPROBE_MIRROR": str(tmp_path / "mirror")}
    return partial(build, catalogue=str(tmp_path / "catalogue"), **environment)


def corpora_in(folder):
    return set(pl.read_parquet(folder / "*.parquet")["corpus"])


BUILD = ("run", "--lang", "es", "--task", "so,subj_number", "--min-rows", "0", "--no-audit")


def test_text_of_the_catalogue_fills_treebanks_of_the_catalogue_and_nothing_else(
    finewiki, of_catalogue, unreachable, tmp_path
):
    done = of_catalogue(*BUILD)
    assert done.returncode == 0, done.stderr
    release = tmp_path / "dist" / "discoprobe"
    assert corpora_in(release / "so_es") == {"UD_Spanish-Tiny", "finewiki-es"}
    assert corpora_in(release / "subj_number_es") == {"UD_Spanish-Tiny"}
    made = json.loads((release / "manifest.json").read_text())
    assert made["configs"]["so_es"]["sources"] == ["UD_Spanish-Tiny", "finewiki-es"]
    assert made["sources"]["finewiki-es"]["annotation"]["fills"] is True
    card = read_card(release, "so_es")
    assert "CC BY-SA 4.0" in card
    assert "Wikipedia contributors" in card
    assert "license: [cc-by-4.0, cc-by-sa-4.0]" in (release / "README.md").read_text()
    assert pl.read_parquet(release / "attribution" / "es.parquet")["corpus"].unique().to_list() == ["finewiki-es"]
    for name, more in {"gold": ("--gold",), "own": ("--corpus", sample_file("es"))}.items():
        alone = of_catalogue(*BUILD, *more, "--out", tmp_path / name, clients=unreachable)
        assert alone.returncode == 0, alone.stderr
        assert len(corpora_in(tmp_path / name / "so_es")) == 1


def test_without_network_the_way_to_do_without_text_is_named(of_catalogue, unreachable, tmp_path):
    done = of_catalogue(*BUILD, clients=unreachable)
    _fails(done, [FINEWIKI.repo, "check the network", "--gold"])
    assert not (tmp_path / "dist").exists()
    probing = of_catalogue(
        "run", "--lang", "es", "--task", "subj_number", "--no-audit", "--min-rows", "0", clients=unreachable
    )
    assert probing.returncode == 0, probing.stderr


def test_a_language_without_treebank_is_built_from_text(hub, finewiki, of_catalogue, tmp_path):
    (tmp_path / "catalogue" / "pt.toml").write_text('[language]\ncode = "pt"\nname = "Portuguese"\n', encoding="utf-8")
    done = of_catalogue("run", "--lang", "pt", "--task", "so,subj_number", "--no-audit", "--min-rows", "0", "--json")
    assert done.returncode == 5, "no text of so few articles has a row"
    found = json.loads(done.stdout)
    assert found["unavailable"]["subj_number_pt"] == "the corpus has no deps, feats, upos, or hardly any"
    assert {*found["configs"], *found["unavailable"]} == {"so_pt", "subj_number_pt"}


def test_a_dry_run_says_what_would_be_read_and_builds_nothing(hub, finewiki, of_catalogue, tmp_path):
    push = ("push", "--lang", "es", "--task", "so,subj_number", "--min-rows", "0", "--repo", hub.case("filled").repo)
    first = of_catalogue(*push, "--dry-run", "--json")
    assert first.returncode == 0, first.stderr
    found = json.loads(first.stdout)
    assert found["build"] == ["so_es", "subj_number_es"]
    gold, text = found["reads"]
    assert (gold["corpus"], gold["how"], gold["tasks"]) == ("UD_Spanish-Tiny", "download and read", found_tasks(found))
    stored = sum(len(data) for name, data in finewiki.items() if "eswiki" in name)
    assert (text["corpus"], text["tasks"], text["files"], text["bytes"]) == ("finewiki-es", ["so"], 3, stored)
    assert "until the sizes are full" in text["how"]
    assert {path.name for path in tmp_path.iterdir()} <= {"catalogue", "mirror", "home"}
    built = of_catalogue(*push, "--yes")
    assert built.returncode == 0, built.stderr
    assert "finewiki-es" in built.stdout.partition("files to send")[0]
    again = of_catalogue(*push, "--dry-run")
    assert again.returncode == 0, again.stderr
    assert "to build first" not in again.stdout
    assert "unchanged" in again.stdout


def found_tasks(found):
    return [name.removesuffix("_es") for name in found["build"]]


def test_a_data_set_by_url_is_pinned_to_the_commit_of_its_branch(hub, build, tmp_path):
    oid = hub.holds("org/cuentos", {"data/train-0.parquet": parquet(rows_of(range(40)))})
    done = run(build, "--lang", "es", "--corpus", "hf://org/cuentos", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    ((name, source),) = json.loads((tmp_path / "out" / "manifest.json").read_text())["sources"].items()
    assert (name, source["repo"], source["commit"]) == ("org-cuentos", "datasets/org/cuentos", oid)
    pinned = f"hf://datasets/org/cuentos@{oid}/data/*.parquet"
    again = run(build, "--lang", "es", "--corpus", pinned, "--out", tmp_path / "again")
    assert again.returncode == 0, again.stderr
    first, second = (tmp_path / out / "so_es" / "train-00000-of-00001.parquet" for out in ("out", "again"))
    assert first.read_bytes() == second.read_bytes()
    verified = build("verify", tmp_path / "out", "--json", DISCOPROBE_CACHE=str(tmp_path / "empty cache"))
    assert verified.returncode == 0, verified.stderr
    assert json.loads(verified.stdout)["differences"] == []


@pytest.mark.parametrize(
    ("corpus", "words"),
    [
        ("hf://org/missing", ["hf://org/missing", "not there", "check repository"]),
        ("hf://datasets/org/faults@main/other/*.parquet", ["other/*.parquet", "no such file or folder"]),
        ("hf://datasets/org/faults@0123456789abcdef/data/*.parquet", ["0123456789abcdef", "not there"]),
    ],
)
def test_what_is_not_there_is_one_line(hub, build, tmp_path, corpus, words):
    hub.holds("org/faults", {"data/train-0.parquet": parquet(rows_of(range(3)))})
    _fails(run(build, "--lang", "es", "--corpus", corpus, "--out", tmp_path / "out"), words)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Fault.FORBIDDEN, ["train-0.parquet", "access is refused", "HF_TOKEN"]),
        pytest.param(Fault.TIMEOUT, ["train-0.parquet", "cannot be read", "check the network"], marks=pytest.mark.slow),
    ],
)
def test_a_file_that_the_hub_does_not_give_is_one_line(hub, build, tmp_path, fault, words):
    name = f"faults-{fault.name.lower()}"
    hub.case(name).always["/resolve/"] = fault
    hub.holds(f"org/{name}", {"data/train-0.parquet": parquet(rows_of(range(3)))})
    _fails(run(build, "--lang", "es", "--corpus", f"hf://org/{name}", "--out", tmp_path / "out"), words)


def test_no_network_is_one_line(build, unreachable, tmp_path):
    done = run(build, "--lang", "es", "--corpus", "finewiki", "--out", tmp_path / "out", clients=unreachable)
    _fails(done, [f"{FINEWIKI.repo}@{FINEWIKI.commit}", "check the network"])


def test_a_language_that_a_data_set_lacks_is_named(command, tmp_path):
    done = command("run", "--lang", "cop", "--corpus", "finewiki", "--segment", "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "unknown language of finewiki 'cop'" in done.stderr


def _fails(done, words):
    assert done.returncode == 4, done.stderr
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("error:")]
    assert [word for word in words if word not in line] == []
