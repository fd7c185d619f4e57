"""A release of relation tasks from a user's own corpora: rows, cards, manifest, export, and malformed corpora."""

import pytest
from discourse_corpora import RS3, write_many, write_trees
from shared import run_in_process

import discoprobe
from discoprobe import pipeline
from discoprobe.cards.metadata import manifest
from discoprobe.cards.release import LanguageFiles
from discoprobe.cards.review import read_card
from discoprobe.plan import plan
from discoprobe.sources import Request


@pytest.fixture(scope="module")
def corpora(tmp_path_factory):
    folder = write_many(tmp_path_factory.mktemp("corpora"), "eng.pdtb.made", 40)
    write_trees(folder, 40)
    return folder


@pytest.fixture(scope="module")
def release(corpora, tmp_path_factory):
    out = tmp_path_factory.mktemp("release") / "relations"
    # The units are made up, and their words tell the relation.
    result = pipeline.run(plan(Request(corpora=(str(corpora),), tasks=("relations",), keep_failed=True)), out)
    assert set(result.built) == {f"{task}_en" for task in ("connective", "dr", "dr_tree")}
    return out


def test_cards_say_how_the_rows_were_chosen(release):
    natural = read_card(release, "dr_en")
    assert "Labels have the same distribution as in the corpora. Report macro-F1 in addition to accuracy." in natural
    assert "A unit has at most 128 words" in natural
    assert "| unknown-relation odd | 14 | a relation of its corpus that is in none of the classes |" in natural
    assert "words in every sentence" not in natural
    assert "macro-F1 0." in natural, "of each solver, beside its accuracy"
    assert "A row of a relation task shows two units" in (release / "README.md").read_text(encoding="utf-8")


def test_the_manifest_names_all_files_and_counts_every_relation(release):
    written = manifest.read(release)
    files = {name for source in written.sources.values() for name in source.files}
    assert {"eng.pdtb.made_train.rels", "eng.pdtb.made_train.conllu", "t0.rs3"} <= files
    entry = written.configs["dr_en"]
    rows = sum(sum(labels.values()) for labels in entry.counts.values())
    assert rows + sum(entry.drops.values()) == entry.candidates == 40 * 9


@pytest.mark.parametrize("task", ["connective", "dr", "dr_tree"])
def test_an_audit_of_the_folder_says_what_the_audit_of_the_build_said(release, task):
    """What the task promises of its labels holds for files, too: unequal counts are no fault of `dr`."""
    folder = release / f"{task}_en"
    built = LanguageFiles.of_folder(release, "en", "audits").reports[folder.name]
    again = discoprobe.audit(folder).to_dict()
    of_source = {"fidelity"}
    outcomes = [
        {finding["check"]: (finding["status"], finding["measured"]) for finding in each["findings"]
         if finding["check"] not in of_source}
        for each in (built, again)
    ]  # fmt: skip
    assert outcomes[0] == outcomes[1]


def test_solvers_read_the_sentences_of_the_units_too(release):
    read = {task: discoprobe.audit(release / f"{task}_en").read.row for task in ("dr", "dr_tree")}
    assert read == {"dr": "sequence of 3 texts", "dr_tree": "pair of texts"}


def test_rows_can_be_exported(release, tmp_path):
    done = run_in_process("export", release, tmp_path / "export", "--format", "discoeval", "--config", "dr_en")
    assert done.returncode == 0, done.stderr
    lines = next((tmp_path / "export").rglob("test.txt")).read_text(encoding="utf-8").splitlines()
    assert lines
    assert all(line.count("\t") == 2 for line in lines), "label and two units"


def test_a_malformed_tree_is_one_line_and_leaves_nothing(tmp_path):
    (tmp_path / "en").mkdir()
    (tmp_path / "en" / "bad.rs3").write_text(RS3.replace('parent="2"', 'parent="99"'), encoding="utf-8")
    done = run_in_process("run", "--task", "dr_tree", "--corpus", tmp_path / "en", "--out", tmp_path / "out")
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        f"error: {tmp_path}/en/bad.rs3:12: segment 1 has parent 99, which is not in the file; correct it"
    ]
    assert not (tmp_path / "out").exists()
