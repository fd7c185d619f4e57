"""Finding files, and telling treebank and language by their names."""

import os
import shutil
import subprocess
import sys

import pytest

from discoprobe.loaders import DiscoprobeError
from discoprobe.loaders.catalogue import DocumentRule, Source
from discoprobe.loaders.conllu import describe, find_files, read_corpora, reader

TEXT = "# text = {0}\n1\t{0}\ta\tX\t_\t_\t0\troot\t_\t_\n\n"


def put(path, form="a"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(TEXT.format(form))
    return path


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("DISCOPROBE_CACHE", str(tmp_path_factory.mktemp("cache")))


def test_folders_are_searched_deeply_and_files_found_once(tmp_path):
    deep = put(tmp_path / "a" / "b" / "x.conllu")
    packed = put(tmp_path / "a" / "y.conllu.gz")
    for other in ("a/z.txt", "a/.git/x.conllu", "a/.hidden.conllu", "a/x.conllu.bak", "a/not-to-release/x.conllu"):
        put(tmp_path / other)
    assert list(find_files([deep, tmp_path, tmp_path / "a"])) == sorted([deep, packed])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("absent", "no such file or folder"),
        ("empty", ".conll, .ann, .sacr, .knp or WebAnno .tsv file"),
        ("x.txt", "not a .conllu"),
    ],
)
def test_what_cannot_be_read_is_an_error(tmp_path, name, message):
    (tmp_path / "empty").mkdir()
    (tmp_path / "x.txt").write_text("a")
    with pytest.raises(DiscoprobeError, match=message):
        find_files([tmp_path / name])


def made(path):
    """An empty file at a path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return path


def nothing(path, digest):
    """What is known of a file that is in no catalogue."""


@pytest.mark.parametrize(
    ("path", "treebank", "lang", "name"),
    [
        ("es/UD_Spanish-AnCora/es_ancora-ud-dev.conllu", "UD_Spanish-AnCora", "es", "es_ancora-ud-dev.conllu"),
        ("UD_Czech-CAC/more/cs_cac-ud-a.conllu", "UD_Czech-CAC", "cs", "more/cs_cac-ud-a.conllu"),
        ("data/bar_maibaam-ud-test.conllu.gz", "bar_maibaam", "bar", "bar_maibaam-ud-test.conllu.gz"),
        ("fr/UD_French-Sequoia/annodis.er.conllu", "UD_French-Sequoia", "fr", "annodis.er.conllu"),
        ("en/Talks/one.conllu", "Talks", "en", "one.conllu"),
        ("parsed/de.conllu", "parsed", "de", "de.conllu"),
    ],
)
def test_names_tell_treebank_and_language(tmp_path, path, treebank, lang, name):
    file = describe(made(tmp_path / path), tmp_path, None, nothing)
    assert (file.treebank, file.lang, file.file.path) == (treebank, lang, name)


def test_the_catalogue_names_treebank_and_language(tmp_path):
    known = Source("Talks-1", "tr", "CC0", "", "", "", documents=DocumentRule())
    for path in (tmp_path / "Talks" / "one.conllu", tmp_path / "en_x-ud-dev.conllu"):
        file = describe(made(path), tmp_path, None, lambda *_: known)
        assert (file.treebank, file.facts) == ("Talks-1", known)
    assert describe(tmp_path / "Talks" / "one.conllu", tmp_path, None, lambda *_: known).lang == "tr"


def test_a_language_that_cannot_be_told_is_an_error_that_says_what_to_do(tmp_path):
    path = made(tmp_path / "talks" / "one.conllu")
    with pytest.raises(DiscoprobeError, match="--lang"):
        describe(path, tmp_path, None, nothing)
    assert describe(path, tmp_path, "es", nothing).lang == "es"


def test_folders_above_the_one_that_was_given_do_not_overrule_a_given_language(tmp_path):
    path = made(tmp_path / "fr" / "mine" / "one.conllu")
    assert describe(path, tmp_path / "fr" / "mine", "es", nothing).lang == "es"
    assert describe(path, tmp_path, "es", nothing).lang == "fr"


def identity(corpora):
    """Everything about corpora that could depend on where or how they were read."""
    return {
        lang: (corpus.sources, [[t.rows() for t in (s.documents, s.sentences, s.tokens)] for s in corpus.shards()])
        for lang, corpus in corpora.items()
    }


@pytest.fixture
def tree(tmp_path):
    home = tmp_path / "one"
    for number in range(5):
        put(home / "en" / "Talks" / f"{number}.conllu", form=f"w{number}")
    put(home / "en" / "UD_English-X" / "en_x-ud-dev.conllu")
    put(home / "es_y-ud-dev.conllu")
    return home


def test_order_of_arguments_and_place_do_not_matter(tree, tmp_path, monkeypatch):
    expected = identity(read_corpora([tree]))
    files = list(find_files([tree]))
    assert identity(read_corpora(files)) == identity(read_corpora(files[::-1])) == expected
    moved = tmp_path / "zwei" / "deep" / "er"
    shutil.copytree(tree, moved)
    monkeypatch.chdir(tmp_path / "zwei")
    assert identity(read_corpora([tmp_path / "zwei" / "deep"])) == expected
    assert list(expected) == ["en", "es"]


def test_hash_seed_does_not_matter(tree, tmp_path):
    code = (
        "import sys, pathlib, hashlib, os; from discoprobe.loaders.conllu.reader import read_corpora\n"
        "for lang, corpus in read_corpora([pathlib.Path(sys.argv[1])]).items():\n"
        "    print(lang, corpus.sources, corpus.counts)\n"
        "    for s in corpus.shards(): print(s.documents.rows(), s.sentences.rows(), s.tokens.rows())\n"
    )
    runs = []
    for seed in ("0", "7"):
        settings = os.environ | {"PYTHONHASHSEED": seed, "DISCOPROBE_CACHE": str(tmp_path / seed)}
        done = subprocess.run([sys.executable, "-c", code, tree], env=settings, capture_output=True, check=True)
        runs.append(done.stdout)
    assert runs[0] == runs[1]
    assert b"w3" in runs[0]


def test_small_files_of_a_treebank_share_a_shard(tree, monkeypatch):
    assert len(read_corpora([tree])["en"].parts) == 2
    monkeypatch.setattr(reader, "SMALL", 0)
    assert len(read_corpora([tree])["en"].parts) == 6


def test_a_file_that_is_there_twice_counts_once(tree):
    shutil.copytree(tree / "en" / "Talks", tree / "copy" / "en" / "Talks")
    corpus = read_corpora([tree])["en"]
    assert corpus.n_sentences == 6
    assert [len(source.files) for source in corpus.sources] == [5, 1]
