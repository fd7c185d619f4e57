import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from raw_cases import GERMAN, annotated, document
from shared import needs_stanza, tree_of

from discoprobe.loaders import NAME, WORK, DiscoprobeError
from discoprobe.loaders.conllu import read_corpora
from discoprobe.loaders.raw import CORRECTIONS, RuleEngine

SCRIPT = Path(__file__).with_name("killed_at_random.py")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["rules", pytest.param("stanza", marks=needs_stanza)])
def test_kills_and_processes_are_seen_in_no_byte(kind, tmp_path):
    done = subprocess.run(
        [sys.executable, SCRIPT, kind, tmp_path], check=False, capture_output=True, text=True, timeout=300,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["kills"] == 10, "a kill came after the work was done"
    assert found["kept"], "a kill cost more than the batch that was worked on"
    assert found["killed"]
    assert found["several"]
    assert found["words"][0] > 1000
    assert found["words"][1] == 0
    assert found["corrections"].keys() <= CORRECTIONS
    assert sum(found["corrections"].values()) > 20
    assert "annotate.json" in found["files"]
    assert not any(WORK in name for name in found["files"])


class Counting:
    """The rules, and how many paragraphs they were given; may fail after some."""

    def __init__(self, fail_after=None):
        self.engine = RuleEngine("de")
        self.identity = self.engine.identity
        self.given, self.fail_after = 0, fail_after

    def annotate(self, paragraphs, corrections):
        self.given += len(paragraphs)
        if self.fail_after is not None and self.given > self.fail_after:
            raise DiscoprobeError("the power failed")
        return self.engine.annotate(paragraphs, corrections)


DOCUMENTS = [document(f"d{n}", [*GERMAN, f"Satz {n}."]) for n in range(6)]


def test_what_was_annotated_is_not_annotated_again(tmp_path):
    out = tmp_path / "out"
    with pytest.raises(DiscoprobeError, match="power"):
        annotated(DOCUMENTS, out, Counting(fail_after=12), batch=100)
    (out / "x.conllu").write_text("")
    with pytest.raises(DiscoprobeError, match="unfinished; run `build annotate` again"):
        read_corpora([out], lang="de")
    (out / "x.conllu").unlink()
    rest = Counting()
    found = annotated(DOCUMENTS, out, rest, batch=100)
    assert rest.given == 12
    assert found.manifest.documents == 6
    nothing = Counting()
    before = tree_of(out)
    assert annotated(DOCUMENTS, out, nothing, batch=100).new_words == 0
    assert nothing.given == 0
    assert tree_of(out) == before


def test_corrected_boundaries_are_counted_however_the_work_was_done(tmp_path):
    texts = ["Er schwieg. ... Sie ging weg.", "Sie kam. *** Er blieb.", "Es blieb dabei."]
    documents = [document(f"d{n}", [*texts, f"Satz {n}."]) for n in range(6)]
    whole = annotated(documents, tmp_path / "one", RuleEngine("de"), batch=100)
    assert whole.manifest.corrections == {"signs-alone": 6}
    assert corpus_corrections(tmp_path / "one") == {"signs-alone": 6}
    annotated(documents, tmp_path / "two", RuleEngine("de"), batch=100, jobs=2)
    with pytest.raises(DiscoprobeError, match="power"):
        annotated(documents, tmp_path / "cut", Counting(fail_after=12), batch=100)
    annotated(documents, tmp_path / "cut", RuleEngine("de"), batch=100)
    annotated(documents, tmp_path / "cut", RuleEngine("de"), batch=100)
    assert tree_of(tmp_path / "one") == tree_of(tmp_path / "two") == tree_of(tmp_path / "cut")


def corpus_corrections(folder):
    """What a release's manifest says of the corpus."""
    (source,) = read_corpora([folder])["de"].sources
    return source.annotation["corrections"]


def test_another_text_replaces_the_old_one(tmp_path):
    annotated(DOCUMENTS, tmp_path / "a", RuleEngine("de"))
    annotated(DOCUMENTS[:3], tmp_path / "a", RuleEngine("de"))
    annotated(DOCUMENTS[:3], tmp_path / "b", RuleEngine("de"))
    assert tree_of(tmp_path / "a") == tree_of(tmp_path / "b")


def test_files_of_the_user_stay(tmp_path):
    annotated([document("a", GERMAN, extracted=True)], tmp_path, RuleEngine("de"))
    mine = ("text/mine.txt", "de_notes-draft.conllu", "notes.md")
    for name in mine:
        (tmp_path / name).write_text("mine")
    annotated([document("b", GERMAN, extracted=True)], tmp_path, RuleEngine("de"))
    assert sorted(path.name for path in (tmp_path / "text").iterdir()) == ["b.txt", "mine.txt"]
    assert [(tmp_path / name).read_text() for name in mine] == ["mine"] * 3


def test_a_damaged_corpus_is_made_again(tmp_path):
    out = tmp_path / "out"
    annotated(DOCUMENTS, out, RuleEngine("de"))
    before = tree_of(out)
    shard = next(out.glob("*.conllu"))
    shard.write_bytes(shard.read_bytes()[:-100])
    assert annotated(DOCUMENTS, out, RuleEngine("de")).new_words > 0
    assert tree_of(out) == before


def test_a_failure_before_anything_is_annotated_leaves_nothing(tmp_path):
    with pytest.raises(DiscoprobeError, match="nothing is left to annotate"):
        annotated([], tmp_path / "out", RuleEngine("de"))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["notes", "other"])
def test_no_other_annotation_begins_in_the_folder_while_texts_are_read(tmp_path, name):
    def reading():
        yield DOCUMENTS[0]
        with pytest.raises(DiscoprobeError, match=r"another process is annotating into .*out; wait for it"):
            annotated(DOCUMENTS[3:], tmp_path / "out", RuleEngine("de"), name=name)
        yield DOCUMENTS[1]

    assert annotated(reading(), tmp_path / "out", RuleEngine("de")).manifest.documents == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]


def test_a_damaged_manifest_is_named(tmp_path):
    annotated(DOCUMENTS, tmp_path / "out", RuleEngine("de"))
    (tmp_path / "out" / NAME).write_text("{")
    with pytest.raises(DiscoprobeError, match=r"annotate\.json is damaged"):
        read_corpora([tmp_path / "out"])


def test_a_corpus_of_another_version_is_named(tmp_path):
    annotated(DOCUMENTS, tmp_path / "out", RuleEngine("de"))
    manifest = json.loads((tmp_path / "out" / NAME).read_bytes())
    (tmp_path / "out" / NAME).write_text(json.dumps(manifest | {"format": 1}))
    with pytest.raises(DiscoprobeError, match=r"is of format 1, and this version reads 2; annotate again"):
        read_corpora([tmp_path / "out"])
    del manifest["corrections"]
    (tmp_path / "out" / NAME).write_text(json.dumps(manifest))
    with pytest.raises(DiscoprobeError, match=r"annotate\.json is damaged .*corrections"):
        read_corpora([tmp_path / "out"])
