"""A release folder loads like the Hub repository it becomes, and what it says of itself is true."""

import hashlib
import json
from collections import Counter

import polars as pl
import pyarrow.parquet as pq
import pytest
import yaml
from datasets import ClassLabel, get_dataset_config_names, get_dataset_split_names, load_dataset

from discoprobe.builders import Shape, all_tasks, schema
from discoprobe.cards.metadata import read

SPLITS = ["train", "validation", "test"]


@pytest.fixture(scope="module")
def manifest(sample_release):
    return json.loads((sample_release / "manifest.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def front(sample_release):
    """The YAML of the card."""
    text = (sample_release / "README.md").read_text(encoding="utf-8")
    assert text.startswith("---\n")
    return yaml.safe_load(text.split("---\n")[1])


@pytest.mark.slow
def test_every_config_loads_with_its_label_names(sample_release, manifest, tmp_path):
    names = get_dataset_config_names(str(sample_release))
    assert sorted(names) == sorted(manifest["configs"])
    for name in names:
        loaded = load_dataset(str(sample_release), name, cache_dir=str(tmp_path))
        entry = manifest["configs"][name]
        assert list(loaded) == SPLITS
        for split, part in loaded.items():
            assert isinstance(part.features["label"], ClassLabel)
            assert part.features["label"].names == entry["labels"]
            assert list(part.features) == schema(Shape(entry["shape"])).names
            counts = Counter(part.features["label"].int2str(label) for label in part["label"])
            assert counts == Counter(entry["counts"][split])


def test_the_default_config_loads_without_a_name(sample_release, front, tmp_path):
    default = [config["config_name"] for config in front["configs"] if config.get("default")]
    assert len(default) == 1
    loaded = load_dataset(str(sample_release), cache_dir=str(tmp_path))
    named = load_dataset(str(sample_release), default[0], cache_dir=str(tmp_path))
    assert loaded["test"].to_list() == named["test"].to_list()


def test_streaming(sample_release):
    rows = load_dataset(str(sample_release), "dc_es", split="test", streaming=True)
    first = next(iter(rows))
    assert len(first["sentences"]) == 6


def test_yaml(front, manifest, sample_release):
    assert sorted(config["config_name"] for config in front["configs"]) == sorted(manifest["configs"])
    for config in front["configs"]:
        assert [file["split"] for file in config["data_files"]] == SPLITS
        for file in config["data_files"]:
            assert len(list(sample_release.glob(file["path"]))) == 1
    assert front["language"] == sorted({entry["lang"] for entry in manifest["configs"].values()})
    assert front["license"] == "cc0-1.0"
    rows = {
        info["config_name"]: {split["name"]: split["num_examples"] for split in info["splits"]}
        for info in front["dataset_info"]
    }
    assert rows == {
        name: {split: sum(labels.values()) for split, labels in entry["counts"].items()}
        for name, entry in manifest["configs"].items()
    }
    assert all("features" not in info for info in front["dataset_info"]), "features live in the parquet files"
    assert get_dataset_split_names(str(sample_release), "dc_es") == SPLITS


def test_the_card_is_small(sample_release, manifest):
    size = (sample_release / "README.md").stat().st_size
    assert size < 100_000
    assert size / len(manifest["configs"]) < 1000, "it would not stay under 400 kB at 400 configs"


def test_the_manifest_has_every_file_and_its_hash(sample_release, manifest):
    listed = dict(manifest["files"])
    for config, entry in manifest["configs"].items():
        listed |= {f"{config}/{name}": file for name, file in entry["files"].items()}
    there = {str(path.relative_to(sample_release)) for path in sample_release.rglob("*") if path.is_file()}
    assert {name for name in there if not name.startswith("assets/")} - {"manifest.json", "README.md"} <= set(listed)
    for name, entry in listed.items():
        data = (sample_release / name).read_bytes()
        assert (len(data), hashlib.sha256(data).hexdigest()) == (entry["bytes"], entry["sha256"]), name


def test_the_manifest_has_the_sources(manifest):
    assert set(manifest["sources"]) == {"sample-de", "sample-en", "sample-es", "sample-ru"}
    for source in manifest["sources"].values():
        assert source["licence"] == "CC0 1.0"
        assert all(len(file["sha256"]) == 64 for file in source["files"].values())
    for entry in manifest["configs"].values():
        assert set(entry["sources"]) <= set(manifest["sources"])
        assert entry["settings"]["seed"] == 13


def test_what_is_not_there_has_a_reason(manifest):
    classification = [name for name, task in all_tasks().items() if not task.conditions]
    everything = {f"{task}_{lang}" for task in classification for lang in ("de", "en", "es", "ru")}
    assert set(manifest["configs"]) | set(manifest["unavailable"]) >= everything
    assert not set(manifest["configs"]) & set(manifest["unavailable"])
    assert all(manifest["unavailable"].values())


def test_counts_read_back_are_in_the_order_of_splits_and_labels(sample_release):
    """The file has keys sorted; a card made from it after a second build lists train first all the same."""
    entries = list(read(sample_release).configs.values())
    assert entries
    for entry in entries:
        assert list(entry.counts) == SPLITS
        for labels in entry.counts.values():
            assert list(labels) == [label for label in entry.labels if label in labels]


def test_parquet(sample_release):
    paths = [path for path in sample_release.rglob("*.parquet") if path.parent.name != "audits"]
    assert len(paths) >= 3 * 60
    for path in paths:
        file = pq.ParquetFile(path)
        assert path.name in {f"{split}-00000-of-00001.parquet" for split in SPLITS}
        group = file.metadata.row_group(0)
        assert {group.column(i).compression for i in range(group.num_columns)} == {"ZSTD"}
        assert group.column(0).has_offset_index, "the viewer pages by the page index"
        assert file.metadata.num_rows > 0
        assert b"huggingface" in file.schema_arrow.metadata
        assert str(path.parent.parent) not in str(file.schema_arrow.metadata)


def test_nothing_of_the_machine_is_in_the_release(sample_release):
    paths = [path for path in sample_release.rglob("*") if path.suffix in {".md", ".json", ".svg"}]
    assert {path.suffix for path in paths} == {".md", ".json", ".svg"}
    texts = [path.read_text(encoding="utf-8") for path in paths]
    texts += ["".join(pl.read_parquet(path)["report"]) for path in sample_release.glob("audits/*.parquet")]
    assert len(texts) == len(paths) + 4
    for text in texts:
        assert str(sample_release.parent) not in text
        assert "/home/" not in text
        assert "/tmp/" not in text
