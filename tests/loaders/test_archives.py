"""Corpora in an archive: a release of CorefUD as it is downloaded."""

import tarfile
import zipfile

import pytest
from made_sentences import stories

from discoprobe.loaders import CorpusFormatError, DiscoprobeError
from discoprobe.loaders.archives import unpacked_in_cache
from discoprobe.loaders.conllu import find_files, read_corpora
from discoprobe.plan import is_raw, plan
from discoprobe.request import Request
from discoprobe.sources import corpora_of, load_corpus

NAMES = {"en": "English-Made", "fr": "French-Made", "nl": "Dutch-Made"}


def release(place, broken=()):
    """A zip in the layout of CorefUD: a folder per data set, with a file per part, a README and other files."""
    path = place / "CorefUD-1.4-public.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("CorefUD-1.4-public/README.md", "CorefUD")
        for lang, name in NAMES.items():
            texts = stories(lang)
            for part, documents in {"train": texts[:3], "dev": texts[3:]}.items():
                data = "".join(documents)
                if lang in broken and part == "dev":
                    data = data.replace("\tVERB\t", "\tVERBS\t", 1)
                home = f"CorefUD-1.4-public/data/CorefUD_{name}"
                archive.writestr(f"{home}/{lang}_made-corefud-{part}.conllu", data)
            archive.writestr(f"{home}/README.md", "# Summary\n")
            archive.writestr(f"{home}/stats.xml", "<treebank/>")
    return path


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("DISCOPROBE_CACHE", str(tmp_path_factory.mktemp("cache")))


def test_a_release_of_corefud_is_read_as_its_zip(tmp_path):
    archive = release(tmp_path)
    assert not is_raw(str(archive))
    corpora = read_corpora([archive])
    assert list(corpora) == sorted(NAMES)
    folder = tmp_path / "unpacked"
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(folder)
    for lang, corpus in read_corpora([folder]).items():
        of_archive = corpora[lang]
        assert [part.identity for part in of_archive.parts] == [part.identity for part in corpus.parts]
        assert [source.name for source in of_archive.sources] == [f"CorefUD_{NAMES[lang]}"]
    assert load_corpus("fr", [str(archive)]).lang == "fr"


def test_an_archive_is_unpacked_once_and_without_other_files(tmp_path):
    archive = release(tmp_path)
    files = find_files([archive])
    assert len(files) == 2 * len(NAMES)
    changed = {path: path.stat().st_mtime_ns for path in files}
    assert {path: path.stat().st_mtime_ns for path in find_files([archive])} == changed
    home = next(iter(files)).parents[2]
    assert not [*home.rglob("*.xml")]
    assert len([*home.rglob("*/README.md")]) == len(NAMES)


def test_a_broken_row_of_one_language_does_not_stop_another(tmp_path):
    made = plan(Request(("en", "fr", "nl"), (str(release(tmp_path, broken=["fr"])),), ("dc",)))
    broken: dict[str, DiscoprobeError] = {}
    assert [corpus.lang for corpus, _ in corpora_of(made, broken=broken)] == ["en", "nl"]
    assert list(broken) == ["fr"]
    assert "VERBS" in str(broken["fr"])
    assert "fr_made-corefud-dev.conllu" in str(broken["fr"])


def test_a_tar_is_read_as_well(tmp_path):
    data = "".join(stories("en"))
    (tmp_path / "en_made-corefud-test.conllu").write_text(data, encoding="utf-8")
    with tarfile.open(tmp_path / "made.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "en_made-corefud-test.conllu", "CorefUD_English-Made/en_made-corefud-test.conllu")
    assert list(read_corpora([tmp_path / "made.tar.gz"])) == ["en"]


def test_what_is_no_archive_or_holds_no_corpus_is_one_line(tmp_path):
    damaged = tmp_path / "CorefUD-1.4-public.zip"
    damaged.write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(CorpusFormatError, match=r"CorefUD-1\.4-public\.zip: not a readable archive: .+"):
        find_files([damaged])
    other = tmp_path / "other.zip"
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("data/a.xml", "<a/>")
    with pytest.raises(DiscoprobeError, match=r"other\.zip: no \.conllu, .+ file in this archive"):
        find_files([other])
    assert is_raw(str(other))


def test_a_failed_unpacking_leaves_nothing_behind(tmp_path):
    archive = release(tmp_path)
    packed = bytearray(archive.read_bytes())
    packed[200] ^= 0xFF  # in the content of a file
    archive.write_bytes(packed)
    with pytest.raises(CorpusFormatError):
        find_files([archive])
    folder = unpacked_in_cache(release(tmp_path), lambda name: name.endswith(".conllu"))
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]
