"""Raw text of the catalogue: taken by name, or where there is no treebank; fetched, annotated and built from."""

import functools
import hashlib
import json
import re
from pathlib import Path

import msgspec
import pytest
from file_server import serving
from plans import plan_with
from shared import SHARED, STANZA, UD, needs_stanza

from discoprobe import pipeline
from discoprobe.builders import tasks_named
from discoprobe.cards.hub.verify import verify
from discoprobe.cards.metadata import manifest
from discoprobe.cards.review import read_card
from discoprobe.loaders import File, IntegrityError, RemoteError, UnsupportedError
from discoprobe.loaders.catalogue import treebanks
from discoprobe.loaders.raw import AnnotationOptions
from discoprobe.pipeline import rebuilder
from discoprobe.plan import plan
from discoprobe.sources import Request, corpora_of, load_corpus

CORPORA = SHARED / "corpora"
pytestmark = pytest.mark.skipif(not (CORPORA / "text").is_dir(), reason="no ../shared with raw text")
SEGMENTED = AnnotationOptions(segment=True)


@pytest.fixture(autouse=True)
def mirror(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCOPROBE_MIRROR", str(CORPORA))
    monkeypatch.setenv("DISCOPROBE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("STANZA_RESOURCES_DIR", str(tmp_path / "no-models"))


@pytest.fixture
def small_catalogue(tmp_path, monkeypatch):
    """German with what the mirror has: the test file of GSD, three plays and a few articles."""
    lines = (treebanks._folder() / "de.toml").read_text(encoding="utf-8")
    head, *tables = lines.split("\n[[")
    kept = []
    for table in tables:
        if 'name = "UD_German-GSD"' in table:
            kept.append("\n".join(line for line in table.splitlines() if "-dev." not in line and "-train." not in line))
        if 'name = "Klexikon"' in table:
            files = [line for line in table.splitlines() if line.startswith("  {")]
            kept.append("\n".join(line for line in table.splitlines() if line not in files[40:]))
    (tmp_path / "catalogue").mkdir()
    (tmp_path / "catalogue" / "de.toml").write_text("\n[[".join([head, *kept]), encoding="utf-8")
    monkeypatch.setattr(treebanks, "_folder", lambda: tmp_path / "catalogue")
    cached = {name: function for name, function in vars(treebanks).items() if hasattr(function, "cache_clear")}
    for name, function in cached.items():  # what was read from the whole catalogue is read again
        monkeypatch.setattr(treebanks, name, functools.cache(function.__wrapped__))


def test_a_text_that_is_named_is_fetched_and_built_again(small_catalogue, tmp_path):
    request = Request(("de",), ("Klexikon",), ("sent_len", "bso", "nsp"), raw=SEGMENTED, audit=False)
    outcome = pipeline.run(plan(request), tmp_path / "out")
    found = manifest.read(tmp_path / "out")
    assert set(outcome.built) == {"sent_len_de", "bso_de", "nsp_de"}
    assert {name for entry in found.configs.values() for name in entry.sources} == {"Klexikon"}
    text = found.sources["Klexikon"]
    known = treebanks.corpus("Klexikon")
    assert (text.commit, text.repo, text.licence) == (known.commit, "dennlinger/klexikon", "CC BY-SA")
    assert text.annotation["text"]["files"] == 40
    assert text.annotation["read"]["lines"] == "sentences"
    again, fresh = pipeline.renew(plan(request), tmp_path / "out")
    assert (again.built, set(fresh)) == ((), set(outcome.built))
    verified = verify(str(tmp_path / "out"), rebuilder((), 1))
    assert verified.differences == ()
    assert verified.rebuilt > len(outcome.built)


FORMER = "0123456789abcdef0123456789abcdef01234567"
GONE = "Ein_alter_Artikel.txt"


@pytest.fixture
def former(small_catalogue, tmp_path, monkeypatch):
    """A release from articles at a commit that the catalogue has left, and a host that has them still.

    Then, one article had other words, one is gone since, and lines were read otherwise.
    """
    now = treebanks.corpus("Klexikon")
    folder = CORPORA / "text" / "de" / "klexikon" / "klexikon"
    contents = {file.path: (folder / file.name).read_bytes() for file in now.files[:-3]}
    first = next(iter(contents))
    contents[first] = contents[first].replace(b"Die", b"Jene")
    contents[first.replace(Path(first).name, GONE)] = contents[first].replace(b"Jene", b"Seine")
    files = tuple(File(path, hashlib.sha256(content).hexdigest(), len(content)) for path, content in contents.items())
    then = msgspec.structs.replace(
        now, commit=FORMER, files=files, read=("lines=sentences", "min_words=4", "duplicates=no")
    )
    with serving({f"{now.repo}/{FORMER}/{path}": content for path, content in contents.items()}) as host:
        monkeypatch.setenv("DISCOPROBE_MIRROR", host.url)
        request = Request(("de",), ("Klexikon",), ("nsp",), raw=SEGMENTED, audit=False)
        assert pipeline.run(plan_with(request, then), tmp_path / "former").built == ("nsp_de",)
        monkeypatch.setenv("DISCOPROBE_CACHE", str(tmp_path / "another cache"))
        host.seen.clear()
        yield tmp_path / "former", host


def test_text_at_a_commit_that_the_catalogue_has_left_is_read_again(former):
    release, host = former
    source = manifest.read(release).sources["Klexikon"]
    assert source.commit == FORMER != treebanks.corpus("Klexikon").commit
    assert GONE in source.annotation["text"]["listed"]
    verified = verify(str(release), rebuilder((), 1))
    assert verified.differences == ()
    assert verified.rebuilt
    assert len({one.path for one in host.seen if f"/{FORMER}/" in one.path}) == 38


@pytest.mark.parametrize("fault", ["changed", "missing"])
def test_text_that_is_not_what_it_was_is_named(former, fault):
    release, host = former
    path = next(path for path in host.files if path.endswith(GONE))
    if fault == "changed":
        host.files[path] = host.files[path].replace(b"Seine", b"Deine")
    else:
        del host.files[path]
    with pytest.raises(IntegrityError if fault == "changed" else RemoteError) as failed:
        verify(str(release), rebuilder((), 1))
    for part in ("Klexikon", FORMER[:12], treebanks.corpus("Klexikon").commit[:12], "cannot be downloaded", GONE):
        assert part in str(failed.value)


def test_text_of_a_manifest_that_lists_no_files_is_asked_for(former):
    release, _ = former
    found = json.loads((release / "manifest.json").read_bytes())
    del found["sources"]["Klexikon"]["annotation"]["text"]["listed"]
    (release / "manifest.json").write_text(json.dumps(found), encoding="utf-8")
    with pytest.raises(UnsupportedError, match=r"was annotated from raw text .38 files.* with --corpus"):
        verify(str(release), rebuilder((), 1))


def test_texts_are_not_taken_by_default(small_catalogue):
    wanted = list(corpora_of(plan(Request(("de",)), tasks_named(["sent_len", "dc"]))))
    assert [source.name for corpus, _ in wanted for source in corpus.sources] == ["UD_German-GSD"]
    assert [source.name for source in load_corpus("de").sources] == ["UD_German-GSD"]


def test_without_models_the_way_out_is_named(small_catalogue, tmp_path):
    with pytest.raises(UnsupportedError, match="no Stanza models"):
        pipeline.run(plan(Request(("de",), ("Klexikon",), ("dc", "sent_len"))), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_named_corpus_is_used_for_every_task(small_catalogue):
    request = Request(("de",), ("Klexikon", str(UD / "de")), raw=SEGMENTED)
    [(corpus, tasks)] = corpora_of(plan(request, tasks_named(["sent_len", "dc"])))
    assert [source.name for source in corpus.sources] == ["Klexikon", "UD_German-GSD"]
    assert [task.name for task in tasks] == ["sent_len", "dc"]


@pytest.mark.slow
@pytest.mark.parametrize("option", ["--segment", "without models"])
def test_a_language_without_treebanks_is_built_from_text(option, command, tmp_path, caplog):
    """With ``--segment``, and where there are no models: one language does not end the build of several."""
    options = ["--min-rows", "0", "--lang", "eu", "--gold", "--no-audit", "--task", "sent_len,bso,subj_number"]
    options += ["--segment"] * (option == "--segment")
    done = command("run", *options, "--json", STANZA_RESOURCES_DIR=str(tmp_path / "nowhere"))
    assert done.returncode == 0, done.stderr
    assert ("not built from NTREX-128-eu" in caplog.text) == (option == "without models")
    found = json.loads(done.stdout)
    assert {config["sources"][0] for config in found["configs"].values()} == {"NTREX-128-eu"}
    assert set(found["configs"]) == {"sent_len_eu", "bso_eu"}
    assert found["unavailable"] == {"subj_number_eu": "the corpus has no deps, feats, upos, or hardly any"}
    card = read_card(tmp_path / "dist" / "discoprobe", "bso_eu")
    assert "was not measured for these rules" in card
    assert "https://github.com/MicrosoftTranslator/NTREX/tree/8561f6a" in card


@needs_stanza
@pytest.mark.slow
def test_articles_are_annotated_once_and_their_cards_tell_the_noise(small_catalogue, tmp_path):
    request = Request(("de",), ("Klexikon",), ("sent_len",), raw=AnnotationOptions(stanza_dir=STANZA), audit=False)
    assert pipeline.run(plan(request), tmp_path / "one").built == ("sent_len_de",)
    card = read_card(tmp_path / "one", "sent_len_de")
    assert re.search(r"of 716 candidates of `sent_len`, \d+ \(0\.00\d\) have another label there", card)
    assert "Silver are 390 of 390 rows of train, 108 of 108 rows of validation, 168 of 168 rows of test" in card
    annotated = tmp_path / "cache" / "annotated"
    before = {path: path.stat().st_mtime_ns for path in annotated.rglob("annotate.json")}
    assert len(before) == 1
    pipeline.run(plan(request), tmp_path / "two")
    with pytest.raises(UnsupportedError, match="no Stanza models"):
        verify(str(tmp_path / "one"), rebuilder((), 1))
    assert verify(str(tmp_path / "one"), rebuilder((), 1, AnnotationOptions(stanza_dir=STANZA))).differences == ()
    assert {path: path.stat().st_mtime_ns for path in annotated.rglob("annotate.json")} == before


def test_an_unknown_corpus_lists_texts_too(command):
    done = command("run", "--lang", "de", "--corpus", "Klexicon")
    assert "did you mean Klexikon" in done.stderr
    assert done.returncode == 2
