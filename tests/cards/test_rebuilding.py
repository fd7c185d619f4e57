"""A release is built again from the commits and hashes of its manifest, wherever the catalogue has moved to since."""

import hashlib
import shutil

import msgspec
import pytest
from plans import plan_with
from shared import UD, needs_shared, sample_file, tree_of

from discoprobe import pipeline
from discoprobe.builders import Settings
from discoprobe.cards.hub import reasons
from discoprobe.cards.hub.verify import verify
from discoprobe.cards.metadata import manifest
from discoprobe.loaders import DiscoprobeError, File, RemoteError
from discoprobe.loaders.catalogue import treebanks
from discoprobe.pipeline import rebuilder
from discoprobe.plan import plan
from discoprobe.sources import Request

BANK = "UD_Amharic-ATT"
FORMER = "0123456789abcdef0123456789abcdef01234567"


def why(found, path):
    return " · ".join(reason for one in found.differences if one.path == path for reason in one.why)


@pytest.fixture(scope="module")
def former(tmp_path_factory):
    """A release that was built when the catalogue pinned an earlier commit, and the treebank's file of that commit."""
    base = tmp_path_factory.mktemp("former")
    bank = treebanks.treebank(BANK)
    sentences = (UD / "am" / BANK / bank.files[0].name).read_text(encoding="utf-8").split("\n\n")
    content = "\n\n".join(sentences[:-200]).encode() + b"\n\n"
    mirror = base / "mirror"
    file = mirror / bank.repo / FORMER / bank.files[0].path
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    pinned = File(bank.files[0].path, hashlib.sha256(content).hexdigest(), len(content))
    then = msgspec.structs.replace(
        bank, commit=FORMER, citation=bank.citation.replace(bank.commit[:7], FORMER[:7]), files=(pinned,)
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISCOPROBE_CACHE", str(base / "cache"))
        patch.setenv("DISCOPROBE_MIRROR", str(mirror))
        pipeline.run(plan_with(Request(("am",), (BANK,), ("sent_len", "tree_depth")), then), base / "out")
    return base / "out", file


@needs_shared
@pytest.mark.parametrize("place", ["by commit", "by hash"])
def test_the_commit_of_the_manifest_is_what_is_fetched(former, tmp_path, monkeypatch, place):
    release, file = former
    source = manifest.read(release).sources[BANK]
    assert source.commit == FORMER != treebanks.treebank(BANK).commit
    monkeypatch.setenv("DISCOPROBE_CACHE", str(tmp_path / "cache"))
    if place == "by hash":
        (tmp_path / "mirror").mkdir()
        shutil.copy(file, tmp_path / "mirror" / source.files[file.name].sha256)
    monkeypatch.setenv("DISCOPROBE_MIRROR", str(tmp_path / "mirror" if place == "by hash" else file.parents[3]))
    found = verify(str(release), rebuilder((), 1))
    assert found.differences == ()
    assert found.rebuilt == 3 * len(manifest.read(release).configs) + 3 == 9


@needs_shared
def test_a_commit_that_cannot_be_had_any_more_is_named(former, tmp_path, monkeypatch):
    monkeypatch.setenv("DISCOPROBE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("DISCOPROBE_MIRROR", str(UD.parent))
    with pytest.raises(RemoteError) as failed:
        verify(str(former[0]), rebuilder((), 1))
    now = treebanks.treebank(BANK).commit
    for part in (BANK, FORMER[:12], now[:12], "cannot be downloaded"):
        assert part in str(failed.value)


@needs_shared
def test_another_state_that_is_given_instead_is_told_from_the_manifests(former):
    found = verify(str(former[0]), rebuilder((str(UD / "am" / BANK),), 1))
    said = why(found, "sent_len_am/test-00000-of-00001.parquet")
    assert f"source {BANK}: commit {FORMER[:12]} → {treebanks.treebank(BANK).commit[:12]}" in said
    assert f"source {BANK}: other content of " in said


@needs_shared
def test_a_corpus_that_shows_no_row_is_read_again(tmp_path):
    """One of two Spanish treebanks has no documents: no row is of it, and what resembles its sentences is left out."""
    release = tmp_path / "release"
    pipeline.run(plan(Request(("es",), (str(UD / "es"),), ("so",))), release)
    found = manifest.read(release)
    assert [*found.sources, *found.beside["es"]] == ["UD_Spanish-AnCora", "UD_Spanish-GSD"]
    again = verify(str(release), rebuilder((str(UD / "es"),), 1))
    assert again.differences == ()
    pipeline.run(plan(Request(("es",), (str(UD / "es" / "UD_Spanish-AnCora"),), ("so",))), tmp_path / "alone")
    alone = manifest.read(tmp_path / "alone")
    assert "source UD_Spanish-GSD: not read now" in list(reasons("so_es", found, alone))
    assert "source UD_Spanish-GSD: not read then" in list(reasons("so_es", alone, found))


@pytest.fixture
def own(tmp_path):
    """A release of a corpus that no catalogue has, filtered by a list of the user's own."""
    corpus = tmp_path / "es_mine-ud-test.conllu"
    corpus.write_text(sample_file("es").read_text(encoding="utf-8") + "\n", encoding="utf-8")  # a copy is the sample
    words = tmp_path / "words.tsv"
    words.write_text("casa\t12.5\nagua\t3\n", encoding="utf-8")
    settings = Settings(frequency=str(words), ipm_min=0.0)
    pipeline.run(
        plan(Request(("es",), (str(corpus),), ("bigram_shift", "ngram_shift"), settings)), tmp_path / "release"
    )
    return tmp_path / "release", corpus, words


def test_a_corpus_of_no_catalogue_is_asked_for(own):
    release, corpus, _ = own
    with pytest.raises(DiscoprobeError, match=r"in no catalogue.*SHA-256 [0-9a-f]{12}….*--corpus"):
        verify(str(release), rebuilder((), 1))
    assert verify(str(release), rebuilder((str(corpus),), 1)).differences == ()


def test_a_list_that_is_not_what_it_was_is_named(own):
    release, corpus, words = own
    before = hashlib.sha256(words.read_bytes()).hexdigest()
    words.write_text("casa\t12.5\nagua\t0.3\n", encoding="utf-8")
    found = verify(str(release), rebuilder((str(corpus),), 1))
    said = " · ".join(reason for one in found.differences for reason in one.why)
    assert f"file of setting frequency, {words}: SHA-256 {before[:12]} → " in said
    words.unlink()
    with pytest.raises(DiscoprobeError, match=r"words\.tsv"):
        verify(str(release), rebuilder((str(corpus),), 1))


@pytest.mark.slow
def test_the_sample_as_a_user_verifies_it(command, tmp_path):
    made = command("run", "--corpus", "sample", "--lang", "de", "--task", "bso", "--out", "out")
    assert made.returncode == 0, made.stderr
    before = tree_of(tmp_path / "out")
    verified = command("verify", "out")
    assert (verified.returncode, " 0 differ" in verified.stdout) == (0, True), verified.stdout + verified.stderr
    assert tree_of(tmp_path / "out") == before
