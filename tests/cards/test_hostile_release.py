"""A release or corpus from somebody else: no command follows it out of its folder, and each says so in one line."""

import gzip
import json

import pytest
import releases
from shared import tree_of

pytestmark = pytest.mark.slow


@pytest.fixture
def out(tmp_path):
    return releases.write(tmp_path / "release", releases.config(), releases.config("so"))


@pytest.fixture
def said(command):
    """A function that calls the program in this process, and checks that it says one line."""

    def check(status, words, *arguments):
        done = command(*arguments)
        assert (done.returncode, done.stderr.count("\n")) == (status, 1), done.stderr
        for word in words:
            assert word in done.stderr

    return check


COMMANDS = {
    "card": ("card", "bso_de", "--out", "release"),
    "review": ("review", "--no-open", "--out", "release"),
    "export": ("export", "release", "exported", "--format", "jsonl"),
    "verify": ("verify", "release", "--no-rebuild"),
    "diff": ("diff", "--against", "release", "--out", "release"),
    "run": ("run", "--lang", "es", "--corpus", "sample", "--task", "nsp", "--no-audit", "--out", "release"),
}


@pytest.mark.parametrize("name", ["../evil", "evil\n", ".git"])
@pytest.mark.parametrize("command_name", COMMANDS)
def test_names_of_configs_in_a_manifest(said, tmp_path, out, command_name, name):
    content = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    content["configs"][name] = content["configs"]["bso_de"]
    (out / "manifest.json").write_text(json.dumps(content), encoding="utf-8")
    before = tree_of(tmp_path)
    said(1, ["release/manifest.json"], *COMMANDS[command_name])
    assert tree_of(tmp_path) == before


@pytest.mark.parametrize("linked", ["bso_de/test-00000-of-00001.parquet", "bso_de", "README.md", "assets"])
@pytest.mark.parametrize("command_name", ["export", "verify", "review"])
def test_links_out_of_a_release(said, tmp_path, out, command_name, linked):
    there, secret = out / linked, tmp_path / "elsewhere"
    there.rename(secret)
    there.symlink_to(secret)
    said(1, ["symbolic link"], *COMMANDS[command_name])


def test_a_gzip_bomb(said, tmp_path):
    bomb = tmp_path / "bomb.conllu.gz"
    with gzip.open(bomb, "wb", compresslevel=9) as file:
        for _ in range(256):
            file.write(bytes(2**20))
    said(1, ["200 times its size"], "run", "--lang", "es", "--corpus", bomb, "--out", tmp_path / "built")


def test_a_parquet_file_that_is_none(said, out):
    file = out / "bso_de" / "test-00000-of-00001.parquet"
    file.write_bytes(b"PAR1" * 9)
    said(1, [file.name], *COMMANDS["export"])
