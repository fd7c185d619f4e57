"""croissant.json is valid, offline, and describes files that are there."""

import json
import logging
import shutil
import socket

import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace

from discoprobe.cards.metadata import manifest
from discoprobe.cards.metadata.croissant import croissant

mlc = pytest.importorskip("mlcroissant", reason="mlcroissant is not installed")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # mlcroissant 1.1 uses what rdflib 7.6 deprecates


SHAPES = ("dc_es", "bso_de", "bigram_shift_es", "nsp_ru", "cloze_es", "subj_number_es")
"""A config of every shape: mlcroissant takes a quarter of a second for each."""


def few(folder):
    """The manifest of a release with a config of every shape."""
    whole = manifest.read(folder)
    return replace(whole, configs={name: whole.configs[name] for name in SHAPES})


@pytest.fixture(scope="module")
def dataset(sample_release, tmp_path_factory):
    logging.getLogger("absl").setLevel(logging.ERROR)
    path = tmp_path_factory.mktemp("croissant") / "croissant.json"
    folder = tmp_path_factory.mktemp("downloaded")  # the file of a language is in a folder of its own
    for name in SHAPES:
        shutil.copytree(sample_release / name, folder / name)
    texts = croissant(few(sample_release), repository="org/x", release="1.2.0", day="2026-11-22")
    path.write_text(texts.pop("croissant.json"), encoding="utf-8")
    assert texts == {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", refuse)
        return mlc.Dataset(str(path), mapping={"repository": str(folder)})


def refuse(*_):
    raise AssertionError("validation used the network")


def test_it_is_valid_without_network(dataset):
    found = dataset.metadata.ctx.issues
    assert not found.errors
    assert not found.warnings
    assert dataset.metadata.version == "1.2.0"
    assert dataset.metadata.date_published.isoformat().startswith("2026-11-22")


def test_every_config_is_a_record_set(dataset):
    assert {records.id for records in dataset.metadata.record_sets} == {f"{name}/rows" for name in SHAPES}


@pytest.mark.parametrize("config", SHAPES)
def test_records_are_the_rows(sample_release, dataset, config):
    records = list(dataset.records(f"{config}/rows"))
    for split in ("train", "validation", "test"):
        table = pq.read_table(next((sample_release / config).glob(f"{split}-*.parquet")))
        own = [record for record in records if record[f"{config}/rows/split"].decode() == split]
        assert [record[f"{config}/rows/id"].decode() for record in own] == table["id"].to_pylist()
        assert [int(record[f"{config}/rows/label"]) for record in own] == table["label"].to_pylist()


def test_labels_have_names(sample_release):
    described = json.loads(croissant(few(sample_release), repository="org/x")["croissant.json"])
    fields = {one["name"]: {field["name"]: field for field in one["field"]} for one in described["recordSet"]}
    assert fields["bso_de"]["label"]["description"] == "0 in_order, 1 swapped"


def many(folder, n):
    whole = few(folder)
    entries = list(whole.configs.values())
    langs = ("de", "es", "ru")
    whole.configs = {
        f"t{number}_{langs[number % 3]}": replace(entries[number % len(entries)], lang=langs[number % 3])
        for number in range(n)
    }
    return whole


def test_a_large_release_has_a_file_per_language(sample_release):
    texts = croissant(many(sample_release, 1_500), repository="org/x", release="1.2.0", day="2026-11-22")
    assert set(texts) == {"croissant.json", "croissant/de.json", "croissant/es.json", "croissant/ru.json"}
    assert len(texts["croissant.json"]) < 5_000
    assert all(len(text) / 500 < 4_500 for path, text in texts.items() if "/" in path), "bytes per config"
    later = croissant(many(sample_release, 1_501), repository="org/x", release="1.3.0", day="2026-11-23")
    assert {path for path in texts if texts[path] != later[path]} == {"croissant.json", "croissant/de.json"}
