"""Text data sets of a Hub as corpora, over real HTTP with the unmodified client."""

import hashlib
import io
import json

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hub_server import Fault
from raw_cases import articles

from discoprobe.loaders.catalogue.hub_texts import hub_texts

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


@pytest.fixture
def build(hub, process, tmp_path):
    """A function that runs the program against the Hub."""
    client = {
        "HF_ENDPOINT": hub.url, "HF_HUB_OFFLINE": "0", "HF_HUB_DISABLE_XET": "1", "HF_HUB_DOWNLOAD_TIMEOUT": "1",
        "HF_HUB_ETAG_TIMEOUT": "1", "HF_HOME": str(tmp_path / "home"), "DISCOPROBE_CACHE": str(tmp_path / "cache"),
    }  # fmt: skip
    return lambda *arguments, **more: process(*arguments, **client | more)


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
    about = pl.read_parquet(tmp_path / "out" / "attribution" / "so_es.parquet")
    assert about["doc_id"].to_list() == sorted(rows["doc_id"].unique())
    assert about.filter(doc_id="eswiki/7").rows() == [
        ("finewiki-es", "eswiki/7", "Título 7", "https://es.example.org/7")
    ]
    assert "Wikipedia contributors" in (tmp_path / "out" / "so_es" / "README.md").read_text()
    assert made["files"].keys() >= {"attribution/so_es.parquet"}
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


def test_a_data_set_by_url_is_pinned_to_the_commit_of_its_branch(hub, build, tmp_path):
    oid = hub.holds("org/cuentos", {"data/train-0.parquet": parquet(rows_of(range(40)))})
    done = run(build, "--lang", "es", "--corpus", "hf://org/cuentos", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    ((name, source),) = json.loads((tmp_path / "out" / "manifest.json").read_text())["sources"].items()
    assert (name, source["repo"], source["commit"]) == ("org-cuentos", "datasets/org/cuentos", oid)
    again = run(
        build,
        "--lang",
        "es",
        "--corpus",
        f"hf://datasets/org/cuentos@{oid}/data/*.parquet",
        "--out",
        tmp_path / "again",
    )
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
        (Fault.TIMEOUT, ["train-0.parquet", "cannot be read", "check the network"]),
    ],
)
def test_a_file_that_the_hub_does_not_give_is_one_line(hub, build, tmp_path, fault, words):
    name = f"faults-{fault.name.lower()}"
    hub.case(name).always["/resolve/"] = fault
    hub.holds(f"org/{name}", {"data/train-0.parquet": parquet(rows_of(range(3)))})
    _fails(run(build, "--lang", "es", "--corpus", f"hf://org/{name}", "--out", tmp_path / "out"), words)


def test_no_network_is_one_line(build, tmp_path):
    done = run(
        build, "--lang", "es", "--corpus", "finewiki", "--out", tmp_path / "out", HF_ENDPOINT="http://127.0.0.1:9"
    )
    _fails(done, [f"{FINEWIKI.repo}@{FINEWIKI.commit}", "check the network"])


def test_a_language_that_a_data_set_lacks_is_named(command, tmp_path):
    done = command("run", "--lang", "cop", "--corpus", "finewiki", "--segment", "--out", tmp_path / "out")
    assert done.returncode == 1
    assert "unknown language of finewiki 'cop'" in done.stderr


def _fails(done, words):
    assert done.returncode == 4, done.stderr
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("error:")]
    assert [word for word in words if word not in line] == []
