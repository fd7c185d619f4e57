"""A bucket of S3 in and out: s3fs over HTTP, against the server of moto; ``pip install s3fs 'moto[server]'``."""

import io
import json

import datasets
import fsspec
import pyarrow.parquet as pq
import pytest
from shared import sample_file, tree_of

pytest.importorskip("s3fs", reason="s3fs is not installed")
moto = pytest.importorskip("moto.server", reason="the server of moto is not installed: pip install 'moto[server]'")

TASKS = ("--lang", "es", "--task", "bso,subj_number", "--no-audit")
RELEASE = "s3://bucket/made/release"


@pytest.fixture
def bucket(monkeypatch):
    """The file system of an empty server; programs find the server by the environment."""
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    for name, value in (
        ("AWS_ENDPOINT_URL", f"http://{host}:{port}"), ("AWS_DEFAULT_REGION", "us-east-1"),
        ("AWS_ACCESS_KEY_ID", "test"), ("AWS_SECRET_ACCESS_KEY", "test"),
    ):  # fmt: skip
        monkeypatch.setenv(name, value)
    system = fsspec.get_filesystem_class("s3")
    system.clear_instance_cache()
    s3 = fsspec.filesystem("s3")
    s3.mkdir("bucket")
    yield s3
    s3.rm("bucket", recursive=True)
    system.clear_instance_cache()
    server.stop()


def test_a_release_made_from_a_bucket_into_a_bucket(bucket, command, tmp_path, monkeypatch):
    bucket.put_file(str(sample_file("es")), f"bucket/corpora/{sample_file('es').name}")
    made = command("run", *TASKS, "--corpus", "s3://bucket/corpora", "--min-rows", "0", "--out", RELEASE)
    assert made.returncode == 0, made.stderr
    here = command("run", *TASKS, "--corpus", sample_file("es"), "--min-rows", "0", "--out", tmp_path / "release")
    assert here.returncode == 0, here.stderr
    bucket.invalidate_cache()
    there = {path.removeprefix("bucket/made/release/"): bucket.cat_file(path) for path in bucket.find(RELEASE)}
    tables = {name: data for name, data in tree_of(tmp_path / "release").items() if name.endswith(".parquet")}
    assert tables
    assert {name: there.get(name) for name in tables} == tables

    verified = command("verify", RELEASE)
    assert verified.returncode == 0, verified.stdout + verified.stderr

    call = next(line for line in made.stdout.splitlines() if line.startswith("load_dataset("))
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", False)
    loaded = eval(call, {"load_dataset": datasets.load_dataset})
    assert list(loaded) == ["train", "validation", "test"]
    for split, rows in loaded.items():
        (name,) = [name for name in tables if name.startswith(f"bso_es/{split}-")]
        assert rows.to_list() == pq.read_table(io.BytesIO(tables[name])).to_pylist()
    assert loaded["test"].features["label"].names == json.loads(there["manifest.json"])["configs"]["bso_es"]["labels"]


def test_rows_of_parquet_are_read_from_a_bucket_and_the_corpus_is_written_to_one(bucket, command):
    texts = ["El perro corre mucho. La casa es grande. Ana canta bien. Luis lee un libro."] * 3
    stored = io.BytesIO()
    datasets.Dataset.from_dict({"text": texts, "id": ["a", "b", "c"]}).to_parquet(stored)
    bucket.pipe_file("bucket/text/part.parquet", stored.getvalue())
    arguments = ("--lang", "es", "--segment", "--out", "s3://bucket/segmented", "--name", "t")
    done = command("annotate", "s3://bucket/text", *arguments)
    assert done.returncode == 0, done.stderr
    bucket.invalidate_cache()
    assert any(path.endswith("annotate.json") for path in bucket.find("bucket/segmented"))
    found = command("tasks", "--lang", "es", "--corpus", "s3://bucket/segmented", "--json")
    assert found.returncode == 0, found.stderr


def test_a_bucket_that_is_not_there(bucket, command, tmp_path):
    done = command("run", *TASKS, "--corpus", "s3://other/corpora", "--out", tmp_path / "release")
    assert (done.returncode, done.stderr.count("\n")) == (4, 1), done.stderr
    assert "s3://other/corpora" in done.stderr
    assert not (tmp_path / "release").exists()
