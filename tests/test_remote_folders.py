"""Releases at a URL: written there as a whole, and read from there; in fsspec's file system in memory."""

import functools
import http.server
import json
import threading

import fsspec
import pytest
from shared import sample_file

URL = "memory://bucket/release"
BUILD = ("run", "--corpus", "sample", "--task", "bso,so", "--no-audit")


@pytest.fixture
def bucket():
    memory = fsspec.filesystem("memory")
    memory.store.clear()
    yield memory
    memory.store.clear()


def contents(memory, url):
    top = memory._strip_protocol(url)
    return {path.removeprefix(f"{top}/"): memory.cat_file(path) for path in memory.find(top)}


def below(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_release_at_a_url_has_the_bytes_of_a_folder(bucket, command, tmp_path):
    for lang in ("es", "ru"):
        for out in (URL, tmp_path / "release"):
            done = command(*BUILD, "--lang", lang, "--out", out)
            assert done.returncode == 0, done.stderr
    assert contents(bucket, URL) == below(tmp_path / "release")
    files = ", ".join(f'"{split}": "{URL}/bso_ru/{split}-*.parquet"' for split in ("train", "validation", "test"))
    call = f'load_dataset("parquet", data_files={{{files}}})'
    assert call in command(*BUILD, "--lang", "ru", "--out", URL).stdout


def test_the_manifest_is_copied_last_and_nothing_is_copied_twice(bucket, command, monkeypatch):
    written = []
    put = type(bucket).put_file

    def noted(self, source, target, **options):
        written.append(target.rpartition("release/")[2])
        return put(self, source, target, **options)

    monkeypatch.setattr(type(bucket), "put_file", noted)
    command(*BUILD, "--lang", "es", "--out", URL)
    assert written[-1] == "manifest.json"
    assert written.count("manifest.json") == 1
    written.clear()
    command(*BUILD, "--lang", "es", "--out", URL)
    assert written == []


def test_files_of_a_config_that_is_gone_are_removed(bucket, command):
    command(*BUILD, "--lang", "es", "--out", URL)
    assert "cards/es.md" in contents(bucket, URL)
    done = command(*BUILD, "--lang", "es", "--out", URL, "--set", "discourse_words=60/64")
    assert done.returncode == 5, "nothing is left of the release"
    assert not any(name.startswith("so_es/") for name in contents(bucket, URL))


def test_a_build_that_fails_changes_nothing(bucket, command, tmp_path):
    command(*BUILD, "--lang", "es", "--out", URL)
    before = contents(bucket, URL)
    broken = tmp_path / "es_broken-ud-test.conllu"
    broken.write_text("1\tno\n\n", encoding="utf-8")
    done = command("run", "--lang", "es", "--corpus", broken, "--task", "bso", "--out", URL)
    assert done.returncode == 1
    assert contents(bucket, URL) == before


def test_an_interrupted_copy_is_made_good_by_the_same_command(bucket, command, monkeypatch):
    command(*BUILD, "--lang", "es", "--out", URL)
    put = type(bucket).put_file

    def failing(self, source, target, **options):
        if target.endswith("so_es/train-00000-of-00001.parquet"):
            raise OSError("connection reset")
        return put(self, source, target, **options)

    monkeypatch.setattr(type(bucket), "put_file", failing)
    done = command(*BUILD, "--lang", "es", "--seed", "4", "--out", URL)
    assert (done.returncode, done.stderr.count("\n")) == (4, 1)
    assert "connection reset" in done.stderr
    monkeypatch.undo()
    other = command(*BUILD, "--lang", "ru", "--out", URL)
    assert other.returncode == 1
    assert "are not as manifest.json says, such as bso_es/" in other.stderr
    assert "bso_ru" not in json.loads(contents(bucket, URL)["manifest.json"])["configs"]
    assert command(*BUILD, "--lang", "es", "--seed", "4", "--out", URL).returncode == 0
    assert command("verify", URL, "--no-rebuild").returncode == 0


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("memory://bucket/other", "is not empty and holds no manifest.json"),
        ("hf://datasets/org/name", "use `build push --repo owner/name`"),
        ("nowhere://bucket", "nowhere"),
    ],
)
def test_what_is_no_place_for_a_release(bucket, command, url, message):
    bucket.pipe_file("/bucket/other/notes.txt", b"mine")
    done = command(*BUILD, "--lang", "es", "--out", url)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert message in done.stderr
    assert contents(bucket, "memory://bucket/other") == {"notes.txt": b"mine"}


def test_every_command_reads_a_release_at_a_url(bucket, command, tmp_path):
    command(*BUILD, "--lang", "es", "--out", URL)
    command(*BUILD, "--lang", "es", "--out", tmp_path / "release")
    assert (
        command("card", "bso_es", "--out", URL).stdout
        == command("card", "bso_es", "--out", tmp_path / "release").stdout
    )
    for names in ((URL,), (f"{URL}/bso_es",), ("bso_es", "--out", URL)):
        audited = command("audit", *names, "--json")
        assert audited.returncode == 0, audited.stderr
        assert "bso_es" in {one["name"] for one in json.loads(audited.stdout)["data"]}
    verified = command("verify", URL)
    assert verified.returncode == 0, verified.stderr
    assert URL in verified.stdout
    assert "nothing changed" in command("diff", "--out", URL, "--against", tmp_path / "release").stdout
    assert "nothing changed" in command("diff", "--out", tmp_path / "release", "--against", URL).stdout


def test_an_export_between_urls(bucket, command):
    command(*BUILD, "--lang", "es", "--out", URL)
    exported = command("export", URL, "memory://bucket/lines", "--format", "jsonl")
    assert exported.returncode == 0, exported.stderr
    assert "bso_es/test.jsonl" in contents(bucket, "memory://bucket/lines")
    again = command("export", URL, "memory://bucket/lines", "--format", "jsonl")
    assert (again.returncode, again.stderr) == (2, "error: memory://bucket/lines is not empty; give a new folder\n")


def test_text_is_annotated_into_a_url_and_built_from_there(bucket, command):
    text = "El perro corre. La casa es grande. Ana canta bien.\n\n" * 3
    bucket.pipe_file("/bucket/text/a.txt", text.encode())
    done = command(
        "annotate",
        "memory://bucket/text",
        "--lang",
        "es",
        "--segment",
        "--out",
        "memory://bucket/corpus",
        "--name",
        "t",
    )
    assert done.returncode == 0, done.stderr
    names = set(contents(bucket, "memory://bucket/corpus"))
    assert "annotate.json" in names
    assert not any(name.startswith(".") for name in names)
    found = command("tasks", "--lang", "es", "--corpus", "memory://bucket/corpus", "--json")
    assert found.returncode == 0, found.stderr


def test_marks_are_not_kept_at_a_url(bucket, command):
    command(*BUILD, "--lang", "es", "--out", URL)
    done = command("review", "--out", URL)
    assert done.returncode == 2
    assert "marks are kept beside a folder" in done.stderr


def test_data_of_others_are_audited_at_a_url(bucket, command):
    for split, n in (("train", 60), ("test", 40)):
        rows = [{"sentence": f"word{number} a b c d {number * 7}", "label": number % 2} for number in range(n)]
        bucket.pipe_file(f"/bucket/data/{split}.jsonl", "\n".join(map(json.dumps, rows)).encode())
    done = command("audit", "memory://bucket/data", "--json")
    assert json.loads(done.stdout)["data"], done.stderr


class SilentHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        """Prints nothing: stderr is the program's."""


def test_a_corpus_at_an_address_of_http(command, tmp_path):
    """A single file, from a server that sends no parts of files."""
    pytest.importorskip("aiohttp", reason="aiohttp is not installed")
    (tmp_path / "served").mkdir()
    (tmp_path / "served" / "es_mine.conllu").write_bytes(sample_file("es").read_bytes())
    handler = functools.partial(SilentHandler, directory=tmp_path / "served")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/es_mine.conllu"
        done = command("run", "--lang", "es", "--corpus", url, "--task", "bso", "--min-rows", "0", "--no-audit")
        missing = command("run", "--lang", "es", "--corpus", url.replace("mine", "yours"), "--task", "bso")
        server.shutdown()
    assert done.returncode == 0, done.stderr
    assert "bso_es" in done.stdout
    assert (missing.returncode, missing.stderr.count("\n")) == (4, 1)
