"""A release on the Hub is read by the libraries that readers have, also those of last year, each in an environment."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

sys.path.insert(0, str(Path(__file__).parent))

import releases

from discoprobe.builders import Config, Shape, schema
from discoprobe.cards.metadata import manifest, yaml_header

SPLITS = {"train": 6, "validation": 2, "test": 4}

WITH_DATASETS = """
import json, sys
from datasets import load_dataset
repo, names, default = sys.argv[1], sys.argv[2].split(","), sys.argv[3]
found = {}
for name in names:
    loaded = load_dataset(repo, name)
    found[name] = {split: rows.to_list() for split, rows in loaded.items()}
    labels = loaded["test"].features["label"].names
    assert all(rows.features == loaded["test"].features for rows in loaded.values())
    of_tag = load_dataset(repo, name, revision="v1.0.0", split="test")
    assert of_tag.to_list() == found[name]["test"], name
    streamed = list(load_dataset(repo, name, split="test", streaming=True))
    assert streamed == found[name]["test"], (name, streamed[0], found[name]["test"][0])
    assert labels == ["one", "two"], labels
assert load_dataset(repo)["test"].to_list() == found[default]["test"]
print(json.dumps(found))
"""
WITH_FRAMES = """
import json, sys
import dask.dataframe, duckdb, pandas, polars
folder, names = sys.argv[1], sys.argv[2].split(",")
found = {}
for name in names:
    found[name] = {}
    for split in ("train", "validation", "test"):
        files = f"{folder}/{name}/{split}-00000-of-00001.parquet"
        rows = polars.read_parquet(files).to_dicts()
        of_pandas = pandas.read_parquet(files)
        assert of_pandas["id"].tolist() == [row["id"] for row in rows]
        assert dask.dataframe.read_parquet(files).compute()["id"].tolist() == of_pandas["id"].tolist()
        query = duckdb.sql(f"select id, label from '{files}'").fetchall()
        assert query == [(row["id"], row["label"]) for row in rows]
        found[name][split] = rows
print(json.dumps(found))
"""


def value(kind, at):
    """A value of an Arrow type; texts differ by number."""
    if pa.types.is_struct(kind):
        return {field.name: value(field.type, at) for field in kind}
    if pa.types.is_list(kind):
        return [value(kind.value_type, at + n) for n in range(2)]
    return f"größer {at}" if pa.types.is_string(kind) else at % 2 / 2 if pa.types.is_floating(kind) else at % 2


def config(shape):
    """A config in which every row has something in every column."""
    columns = schema(shape)
    splits = {}
    for split, n in SPLITS.items():
        rows = [
            {column.name: value(column.type, at) for column in columns}
            | {"id": f"{shape.name}-{split}-{at}", "label": at % 2}
            for at in range(n)
        ]
        splits[split] = pa.Table.from_pylist(rows, columns)
    name = shape.name.lower()
    return Config(f"{name}_de", name, "de", shape, ("one", "two"), splits, {}, sources=(releases.source("de"),),
                  definition="Whether one.")  # fmt: skip


@pytest.fixture(scope="module")
def published(hub, client, tmp_path_factory):
    """A release with a config of every shape: its folder, its repository, and its rows."""
    configs = [config(shape) for shape in Shape]
    folder = releases.write(tmp_path_factory.mktemp("release") / "dist", *configs)
    case = hub.case("readers")
    answer = client.call("push", case, folder=str(folder))
    assert "result" in answer, answer.get("trace", answer)
    assert "v1.0.0" in hub.repos[case.repo].tags
    return folder, case, {made.name: {split: table.to_pylist() for split, table in made.splits.items()}
                          for made in configs}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("reader", releases.READERS)
def test_a_release_is_read_with(reader, published, hub, python_with, tmp_path):
    folder, case, rows = published
    code, source = (WITH_FRAMES, folder) if reader == "frames" else (WITH_DATASETS, case.repo)
    environment = {name: text for name, text in os.environ.items() if not name.startswith(("HF_", "PYTHON"))}
    default = yaml_header.default_config(manifest.read(folder).configs)
    read = subprocess.run(
        [python_with(reader), "-c", code, str(source), ",".join(rows), default],
        capture_output=True, text=True, check=False, cwd=tmp_path,
        env=environment | {"HF_ENDPOINT": hub.url, "HF_TOKEN": case.token, "HF_HOME": str(tmp_path / "hf")},
    )  # fmt: skip
    assert read.returncode == 0, read.stderr[-3000:]
    found = json.loads(read.stdout.splitlines()[-1])
    assert found == rows
