"""The cache of parsed shards: found by content, whole or absent, made again when damaged."""

import os
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from discoprobe.loaders import CorpusFormatError, DiscoprobeError, cache, cache_folder
from discoprobe.loaders.catalogue import DocumentRule, Source
from discoprobe.loaders.conllu import read_corpora, reader

TEXT = "# newdoc id = d\n# text = a b\n1\ta\ta\tX\t_\tN=s\t0\troot\t_\t_\n2\tb\tb\tNOUN\t_\t_\t1\tdep\t_\t_\n\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCOPROBE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "es_x-ud-dev.conllu"
    file.write_text(TEXT * 3)
    return file


@pytest.fixture
def parses(monkeypatch):
    """The calls of the parser."""
    calls = []
    parse = reader.parse
    monkeypatch.setattr(reader, "parse", lambda pieces: calls.append(pieces) or parse(pieces))
    return calls


def load(path, **options):
    (corpus,) = read_corpora([path], **options).values()
    (shard,) = corpus.shards()
    return corpus, shard


def test_those_who_share_the_cache_can_read_an_entry(path, folder):
    before = os.umask(0o022)
    try:
        load(path)
    finally:
        os.umask(before)
    (entry,) = (folder / "shards").iterdir()
    assert entry.stat().st_mode & 0o777 == 0o644


def same(one, other):
    return all(getattr(one, table).equals(getattr(other, table)) for table in cache.TABLES)


def test_folder_is_the_one_that_is_set(monkeypatch, tmp_path):
    monkeypatch.setenv("DISCOPROBE_CACHE", str(tmp_path / "there"))
    assert cache_folder() == tmp_path / "there"
    monkeypatch.delenv("DISCOPROBE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "discoprobe"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == Path.home() / ".cache" / "discoprobe"


def test_the_second_load_does_not_parse_and_is_the_same(path, parses):
    first, one = load(path)
    second, two = load(path)
    assert len(parses) == 1
    assert same(one, two)
    assert one.tokens.schema == two.tokens.schema
    assert (first.counts, first.sources, first.notes) == (second.counts, second.sources, second.notes)


def test_an_entry_is_found_by_content_not_by_place(path, parses, tmp_path):
    load(path)
    (tmp_path / "elsewhere").mkdir()
    moved = path.rename(tmp_path / "elsewhere" / path.name)
    load(moved)
    assert len(parses) == 1


def rule(kind):
    return lambda *_: Source("UD_X", "es", "CC0", "", "", "", documents=DocumentRule(kind))


def test_other_bytes_names_or_rules_are_other_entries(path, parses):
    load(path, facts=rule("newdoc"))
    load(path, facts=rule("file"))
    path.write_text(TEXT * 4)
    load(path, facts=rule("file"))
    load(path.rename(path.with_name("es_x-ud-test.conllu")), facts=rule("file"))
    assert len(parses) == 4


def test_another_text_of_the_same_name_and_size_is_read(path):
    _, before = load(path)
    path.write_text(TEXT.replace("\ta\ta\t", "\ta\tc\t") * 3)
    _, after = load(path)
    assert before.tokens["lemma"].to_list() == ["a", "b"] * 3
    assert after.tokens["lemma"].to_list() == ["c", "b"] * 3


def test_another_version_of_the_reader_makes_its_own_entries(path, parses, monkeypatch):
    load(path)
    monkeypatch.setattr(reader, "VERSION", reader.VERSION + 1)
    load(path)
    assert len(parses) == 2


@pytest.mark.parametrize("at", [0.0, 0.2, 0.5, 0.8, 0.999], ids="at {}".format)
@pytest.mark.parametrize("damage", ["truncate", "flip", "empty", "remove"])
def test_a_damaged_entry_is_made_again(path, parses, folder, at, damage):
    _, good = load(path)
    expected = [getattr(good, table).clone() for table in cache.TABLES]
    (file,) = folder.rglob("*.arrow")
    data = file.read_bytes()
    file.unlink()
    middle = int(at * len(data))
    match damage:
        case "truncate":
            file.write_bytes(data[:middle])
        case "flip":
            file.write_bytes(data[:middle] + bytes([data[middle] ^ 255]) + data[middle + 1 :])
        case "empty":
            file.write_bytes(b"")
    _, again = load(path)
    assert all(table.equals(getattr(again, name)) for name, table in zip(cache.TABLES, expected, strict=True))
    assert len(parses) == 2


def test_an_entry_that_vanishes_before_it_is_loaded_is_an_error_that_says_what_to_do(path, folder):
    (corpus,) = read_corpora([path]).values()
    for file in folder.rglob("*.arrow"):
        file.unlink()
    with pytest.raises(DiscoprobeError, match="run the command again"):
        list(corpus.shards())


def test_nothing_is_left_of_a_parse_that_failed(path, folder, monkeypatch):
    def fail(pieces):
        raise RuntimeError(pieces[0].stem)

    monkeypatch.setattr(reader, "parse", fail)
    with pytest.raises(RuntimeError):
        read_corpora([path])
    assert [file for file in folder.rglob("*") if file.is_file()] == []


def test_what_a_killed_program_left_is_deleted_after_a_day(path, folder):
    load(path)
    (shards,) = {entry.parent for entry in folder.rglob("*.arrow")}
    for name, hours in ((".new-old", 25), (".new-young", 1)):
        (shards / name).touch()
        os.utime(shards / name, (time.time() - 3600 * hours,) * 2)
    with path.open("a", encoding="utf-8") as file:
        file.write("\n")
    load(path)
    assert sorted(entry.name for entry in shards.glob(".new-*")) == [".new-young"]


def test_what_is_wrong_with_a_file_is_remembered(path, parses):
    path.write_text(TEXT + "1\ta\n\n" + TEXT)
    for _ in range(2):
        with pytest.raises(CorpusFormatError, match=rf"{path}:6: 2 columns"):
            read_corpora([path])
    corpus, _ = load(path, on_error="skip")
    assert corpus.drops == {"columns": 1}
    assert len(parses) == 1


def test_a_cache_that_cannot_be_written_is_an_error_that_says_what_to_do(path, folder):
    folder.write_text("a file where the folder should be")
    with pytest.raises(DiscoprobeError, match="set DISCOPROBE_CACHE"):
        read_corpora([path])


def test_two_processes_may_make_the_same_entry(path):
    code = "import sys, pathlib\n"
    code += "from discoprobe.loaders.conllu.reader import read_corpora as r\nr([pathlib.Path(sys.argv[1])])"
    both = [subprocess.Popen([sys.executable, "-c", code, path]) for _ in range(2)]
    assert [process.wait(timeout=60) for process in both] == [0, 0]
    assert load(path)[0].n_words == 6


def test_several_jobs_give_the_same_corpus(tmp_path, monkeypatch):
    monkeypatch.setattr(reader, "SMALL", 0)
    for number in range(4):
        (tmp_path / f"es_x-ud-{number}.conllu").write_text(TEXT * (number + 1))
    done = []
    one = read_corpora([tmp_path], jobs=2, progress=lambda *step: done.append(step))["es"]
    two = read_corpora([tmp_path])["es"]
    assert len(one.parts) == 4
    assert one.parts == two.parts
    assert done[-1][0] == done[-1][1] == sum(file.bytes for file in one.sources[0].files)


def test_a_record_is_read_without_the_tables(path, folder):
    load(path)
    (file,) = folder.rglob("*.arrow")
    file.write_bytes(bytes(100) + file.read_bytes()[-1000:])
    assert cache.record(folder, file.stem)["counts"]["words"] == 6
    assert cache.find(folder, file.stem) is None


def test_tables_are_read_from_the_mapped_file(path):
    _, shard = load(path)
    assert shard.tokens.filter(pl.col("upos") == "NOUN").height == 3


def test_what_a_part_says_of_itself_is_true_of_its_shard(path):
    """Also when it is found again; other sentences make another identity."""
    (first,), (again,) = (read_corpora([path])["es"].parts for _ in range(2))
    shard = first.load()
    assert (first.size, first.n_documents, first.identity) == (shard.size, shard.n_documents, shard.identity)
    assert first == again
    assert first.size == len("a b") * 3
    path.write_text(TEXT * 4)
    (other,) = read_corpora([path])["es"].parts
    assert other.identity != first.identity
