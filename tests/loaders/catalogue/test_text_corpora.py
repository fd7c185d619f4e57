"""The catalogue's corpora of raw text: pinned, licensed, found by name, and fetched like treebanks."""

import importlib.util
import json
import re
import shutil
import sys

import msgspec
import pytest
from file_server import Cut, Drop, serving
from shared import ROOT, SHARED

from discoprobe.loaders import IntegrityError, RemoteError, UnknownNameError, UnsupportedError, hashes_of
from discoprobe.loaders.catalogue import corpus, default_corpora, language, languages, openness, treebank
from discoprobe.loaders.fetch import fetch, folder, list_corpora, location, places, select, state_of
from discoprobe.loaders.raw import read_documents, read_options

CORPORA = SHARED / "corpora"
TEXTS = [text for known in languages() for text in known.texts]
BY_GIT_ALONE = "-novels$|-plays$|^NTREX"
"""Texts whose files need not be at hand to be pinned."""
needs_texts = pytest.mark.skipif(not (CORPORA / "text").is_dir(), reason="no ../shared with raw text")


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCOPROBE_CACHE", str(tmp_path / "cache"))


def at_hand(text):
    """The content of each of its files, by the file's hash."""
    known = {}
    for path in (CORPORA / "text").rglob("*"):
        if path.is_file():
            known[hashes_of(path).sha256] = path
    return {file: known[file.sha256].read_bytes() for file in text.files}


def states(name):
    return [state_of(corpus(name), file)[0] for file in corpus(name).files]


def like_the_host(text):
    return {f"{text.repo}/{text.commit}/{file.path}": content for file, content in at_hand(text).items()}


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text.name)
def test_a_text_is_whole(text):
    assert openness(text.licence) == "open"
    assert re.fullmatch(r"[0-9a-f]{40}", text.commit)
    assert all(re.fullmatch(r"[0-9a-f]{40}", file.git_blob_sha1) for file in text.files)
    by_git_alone = re.search(BY_GIT_ALONE, text.name)
    assert all(by_git_alone or re.fullmatch(r"[0-9a-f]{64}", file.sha256) for file in text.files)
    assert all(file.bytes > 0 for file in text.files)
    assert len({file.name for file in text.files}) == len(text.files) > 0, "the cache keeps files by name"
    assert text.commit[:7] in text.citation
    assert text.repo in text.citation
    assert text.default or text.note
    assert read_options(text.read) is not None


def test_there_are_texts_in_many_languages():
    assert len({text.lang for text in TEXTS}) == 107
    assert sum(text.name.startswith("NTREX-128-") for text in TEXTS) == 106
    assert {"Klexikon", "Klexikon-Wikipedia", "GerDraCor", "ELTeC-deu"} <= {text.name for text in TEXTS}
    novels = {text.lang: len(text.files) for text in TEXTS if text.name.endswith("-novels")}
    assert (len(novels), sum(novels.values()), min(novels.values())) == (15, 1271, 44)
    plays = {text.lang: len(text.files) for text in TEXTS if text.name.endswith("-plays")}
    assert plays == {"de": 50, "es": 50, "nl": 50, "pl": 50, "ru": 50, "sv": 50, "uk": 40}


def test_a_text_is_found_by_name_and_is_no_treebank():
    assert corpus("Klexikon") is corpus("de_klexikon") is corpus("klexikon")
    assert corpus("es_ancora") is treebank("es_ancora")
    with pytest.raises(UnknownNameError, match="unknown treebank 'Klexikon'"):
        treebank("Klexikon")
    with pytest.raises(UnknownNameError, match="did you mean GerDraCor"):
        corpus("GerDracorr")


def test_what_is_not_clearly_open_is_left_out():
    with pytest.raises(UnsupportedError, match=r"NTREX-128-en is not offered for download: .*not clear"):
        corpus("en_ntrex128")
    assert "newstest2019-src.eng.txt" not in {file.name for text in TEXTS for file in text.files}


def test_the_strictest_of_the_licences_counts():
    assert corpus("GerDraCor").licence == "CC BY 3.0"
    assert corpus("RusDraCor").licence == "CC BY-SA 3.0"


def test_texts_stand_in_where_there_is_no_treebank():
    assert [text.name for text in default_corpora("eu")] == ["NTREX-128-eu"]
    without = {text.lang for text in TEXTS if text.default}
    assert {"bg", "et", "eu", "hu", "ne", "pa", "tk", "ur", "so", "sw", "zu"} <= without
    assert len(without) == 35
    assert without == {text.lang for text in TEXTS if not any(bank.default for bank in language(text.lang).treebanks)}
    assert not [corpus for lang in ("es", "German") for corpus in default_corpora(lang) if corpus in TEXTS]
    assert without <= {known.code for known in languages()}


def test_the_listing_shows_texts():
    rows = {row["name"]: row for row in list_corpora(["de"])}
    assert rows["Klexikon"]["documents"] == "raw text"
    assert (rows["Klexikon"]["files"], rows["Klexikon"]["default"], rows["NTREX-128-de"]["default"]) == (
        129,
        False,
        False,
    )
    assert rows["GerDraCor"]["bytes"] == 241317


# Fetching


@needs_texts
def test_texts_are_fetched_from_a_host_that_falters(monkeypatch):
    text = corpus("GerDraCor")
    files = like_the_host(text)
    with serving(files) as server:
        server.plan(next(iter(files)), Cut(5000), Drop())
        monkeypatch.setenv("DISCOPROBE_MIRROR", server.url)
        paths = fetch(select(["GerDraCor"]))
        assert {*states("GerDraCor")} == {"ok"}
        asked = len(server.seen)
        fetch(select(["de_gerdracor"]))
        assert len(server.seen) == asked, "what is there is not asked for again"
    assert [path.parent for path in paths] == [folder(text)] * 4
    assert [path.read_bytes() for path in paths] == list(files.values())


@needs_texts
def test_a_changed_text_is_refused(monkeypatch):
    text = corpus("ELTeC-deu")
    files = {path: content.replace(b"Herz", b"Hirn") for path, content in like_the_host(text).items()}
    with serving(files) as server:
        monkeypatch.setenv("DISCOPROBE_MIRROR", server.url)
        with pytest.raises(IntegrityError, match=r"expected git blob SHA-1|expected SHA-256"):
            fetch(select(["ELTeC-deu"]))
    assert states("ELTeC-deu") == ["missing"]


@needs_texts
@pytest.mark.parametrize("name", ["Klexikon-Wikipedia", "ELTeC-deu", "NTREX-128-zh", "RusDraCor"])
def test_a_folder_of_corpora_is_a_mirror(monkeypatch, name):
    monkeypatch.setenv("DISCOPROBE_MIRROR", str(CORPORA))
    fetch(select([name]))
    assert {*states(name)} == {"ok"}
    location(corpus(name), corpus(name).files[0]).write_bytes(b"x")
    assert states(name)[0] == "corrupt"


@needs_texts
def test_a_mirror_without_a_text_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCOPROBE_MIRROR", str(tmp_path))
    with pytest.raises(RemoteError, match=r"the mirror has no ELTeC-deu/level1/DEU060\.xml"):
        fetch(select(["ELTeC-deu"]))


def test_names_are_written_as_in_urls():
    text = corpus("Klexikon")
    urls = [url for file in text.files for url in places(text, file)]
    assert all(url.isascii() and " " not in url for url in urls)
    assert urls[0].endswith(f"dennlinger/klexikon/{text.commit}/data/raw/klexikon/ABBA.txt")


@needs_texts
def test_what_was_fetched_is_read_as_documents(monkeypatch):
    monkeypatch.setenv("DISCOPROBE_MIRROR", str(CORPORA))
    text = corpus("NTREX-128-fa")
    fetch(select([text.name]))
    found = list(read_documents(folder(text), msgspec.structs.replace(read_options(text.read), lang="fa")))
    assert len(found) >= 118
    assert {document.source for document in found} == {"newstest2019-ref.fas.txt"}


# That it is what the files say


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("pin_corpora", ROOT / "scripts" / "pin_corpora.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["pin_corpora"] = module
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "scripts")
        spec.loader.exec_module(module)
    return module


@pytest.fixture
def copied(tmp_path):
    shutil.copytree(CORPORA / "text", tmp_path / "text")
    for path in (tmp_path / "text").rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    files = json.loads((CORPORA / "manifest.json").read_text(encoding="utf-8"))["files"]
    return tmp_path, [file for file in files if file["path"].startswith("text/")]


@needs_texts
@pytest.mark.parametrize(
    ("path", "old", "new", "why"),
    [
        ("de/klexikon/README.md", "CC BY-SA license.", "CC BY-NC-SA license.", "does not say"),
        ("de/eltec/README.md", "Attribution International", "Attribution-NonCommercial International", "does not say"),
        (
            "ru/rusdracor/ostrovsky-semejnaya-kartina.xml",
            "publicdomain/zero/1.0",
            "licenses/by-nc/4.0",
            "an unknown licence",
        ),
        ("de/eltec/DEU060.xml", "Herz", "Hirn", "differs from the manifest"),
    ],
)
def test_a_licence_or_text_that_changed_is_not_pinned(script, copied, path, old, new, why):
    corpora, files = copied
    of_folder = [text for text in TEXTS if not re.search(BY_GIT_ALONE, text.name)]
    assert len(script.text_records(corpora, files, set())) == len(of_folder) + 1
    changed = corpora / "text" / path
    content = changed.read_text(encoding="utf-8")
    assert old in content
    changed.write_text(content.replace(old, new), encoding="utf-8")
    with pytest.raises(ValueError, match=why):
        script.text_records(corpora, files, set())
