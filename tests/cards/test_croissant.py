"""croissant.json is valid, offline, and describes files that are there."""

import json
import logging
import socket

import pyarrow.parquet as pq
import pytest

from discoprobe.cards.metadata import manifest
from discoprobe.cards.metadata.croissant import croissant
from discoprobe.loaders.file_hashes import hashes_of

mlc = pytest.importorskip("mlcroissant", reason="mlcroissant is not installed")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # mlcroissant 1.1 uses what rdflib 7.6 deprecates


@pytest.fixture
def no_network(monkeypatch):
    def refuse(*_):
        raise AssertionError("validation used the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)


SHAPES = ("dc_es", "bso_de", "bigram_shift_es", "nsp_ru", "cloze_en", "subj_number_es")
"""A config of every shape: mlcroissant takes a quarter of a second for each."""


def written(folder, path, number=""):
    """croissant.json of a few configs of a release, with addresses that lead there."""
    whole = manifest.read(folder)
    few = whole | {"configs": {name: whole["configs"][name] for name in SHAPES}}
    described = json.loads(croissant(few, repository="org/x", release=number))
    for file in described["distribution"]:
        file["contentUrl"] = str(folder / file["contentUrl"])
    path.write_text(json.dumps(described), encoding="utf-8")
    return described


@pytest.fixture(scope="module")
def dataset(sample_release, tmp_path_factory):
    logging.getLogger("absl").setLevel(logging.ERROR)
    path = tmp_path_factory.mktemp("croissant") / "croissant.json"
    written(sample_release, path, "1.2.0")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", refuse)
        return mlc.Dataset(str(path))


def refuse(*_):
    raise AssertionError("validation used the network")


def test_it_is_valid_without_network(dataset):
    found = dataset.metadata.ctx.issues
    assert not found.errors
    assert {warning.split('"')[1].rsplit("/", 1)[-1] for warning in found.warnings} == {"datePublished"}
    assert dataset.metadata.version == "1.2.0"


def test_every_split_is_a_record_set(dataset):
    wanted = {f"{name}/{split}" for name in SHAPES for split in ("train", "validation", "test")}
    assert {records.id for records in dataset.metadata.record_sets} == wanted


@pytest.mark.parametrize("config", SHAPES)
def test_records_are_the_rows(sample_release, dataset, config):
    table = pq.read_table(next((sample_release / config).glob("test-*.parquet")))
    records = list(dataset.records(f"{config}/test"))
    assert [record[f"{config}/test/id"].decode() for record in records] == table["id"].to_pylist()
    assert [int(record[f"{config}/test/label"]) for record in records] == table["label"].to_pylist()


def test_a_changed_file_is_noticed(sample_release, tmp_path):
    path = tmp_path / "croissant.json"
    described = written(sample_release, path)
    for file in described["distribution"]:
        file["sha256"] = "0" * 64
    path.write_text(json.dumps(described), encoding="utf-8")
    with pytest.raises(Exception, match="Download") as caught:
        list(mlc.Dataset(str(path)).records("dc_es/test"))
    assert "hash" in str(caught.value.__cause__).lower()


def test_the_release_s_own_file_names_every_parquet_file_with_its_hash(sample_release):
    described = json.loads((sample_release / "croissant.json").read_text(encoding="utf-8"))
    listed = {file["contentUrl"]: file["sha256"] for file in described["distribution"]}
    there = {path.relative_to(sample_release).as_posix(): path for path in sample_release.glob("*/*.parquet")}
    assert set(listed) == set(there)
    assert all(hashes_of(path).sha256 == listed[name] for name, path in there.items())


def test_400_configs_stay_below_what_the_hub_takes_as_a_plain_file(sample_release):
    configs = manifest.read(sample_release)["configs"]
    assert (sample_release / "croissant.json").stat().st_size / len(configs) < 12_000
