"""Sentences written by hand for every probing task: those it must take, and those it must leave.

``tests/cases/<task>/take.conllu`` and ``leave.conllu``, with comments ``# lang`` and ``# why`` on every sentence; in
``take`` also ``# label`` (the class), ``# words`` (the number of words), ``# target`` (the form of the target),
``# subject`` (its form, the words between it and the target, and the attractors among these) or ``# edited`` (the text
after the edit). In ``leave``, ``# target`` is the form of a word that is no target, though others are.
"""

from collections import defaultdict
from pathlib import Path

import conllu
import msgspec
import polars as pl
import pytest

from discoprobe.builders import Context, ProbingTask, Settings, all_tasks, tasks_named
from discoprobe.builders.sentences import Trees, candidates
from discoprobe.loaders.conllu import read_corpora
from discoprobe.loaders.languages import language_data

CASES = Path(__file__).parents[1] / "cases"
SETTINGS = Settings(probing_words=(4, 24))
"""The cases of length are written for these bounds."""


def _cases(kind):
    return [
        pytest.param(path.parent.name, sentence, id=f"{path.parent.name}-{n}")
        for path in sorted(CASES.glob(f"*/{kind}.conllu"))
        for n, sentence in enumerate(conllu.parse(path.read_text(encoding="utf-8")), 1)
    ]


@pytest.fixture(scope="module")
def shards(tmp_path_factory):
    """The cases by sentence id, each a shard of its own; all cases of a language are read together."""
    of_language = defaultdict(list)
    for path in sorted(CASES.glob("*/*.conllu")):
        for sentence in conllu.parse(path.read_text(encoding="utf-8")):
            of_language[sentence.metadata["lang"]].append(sentence)
    found, folder = {}, tmp_path_factory.mktemp("cases")
    for lang, sentences in of_language.items():
        file = folder / f"{lang}_case-ud-test.conllu"
        file.write_text("".join(one.serialize() for one in sentences), encoding="utf-8")
        for shard in read_corpora([file])[lang].shards():
            for alone in shard.sentences.partition_by("sent", maintain_order=True):
                found[alone["sent_id"].item()] = msgspec.structs.replace(
                    shard, sentences=alone,
                    documents=shard.documents.filter(pl.col("doc") == alone["doc"].item()),
                    tokens=shard.tokens.filter(pl.col("sent") == alone["sent"].item()),
                )  # fmt: skip
    assert len(found) == sum(map(len, of_language.values()))
    return found


@pytest.fixture
def selected(shards):
    """A function: what a task selects in a sentence and may be shown, as rows."""

    def select(task, sentence):
        lang, shard = sentence.metadata["lang"], shards[sentence.metadata["sent_id"]]
        trees, (definition,) = Trees(shard), tasks_named([task])
        context = Context(task, language_data(lang), SETTINGS, definition.labels)
        if definition.lacks and definition.lacks(context.language):
            return definition, []
        chosen, shown = definition.select(trees, context), candidates.sentences(trees, SETTINGS)
        found = candidates.candidates(chosen, trees, shown)
        return definition, found.filter(found["reason"].is_null()).to_dicts()

    return select


@pytest.mark.parametrize(("task", "sentence"), _cases("take"))
def test_a_sentence_is_taken_with_its_label_target_and_edit(task, sentence, selected):
    definition, rows = selected(task, sentence)
    said, text = sentence.metadata, sentence.metadata["text"]
    if task == "agreement_suite":  # has a row for every feature of a word, and of other words of the sentence
        rows = [row for row in rows if row["target_form"] == said["target"]][:1]
    assert len(rows) == 1 or (rows and task in {"bigram_shift", "ngram_shift"}), said["why"]
    if "label" in said:
        assert rows[0]["label"] == said["label"], said["why"]
    if "words" in said:
        assert rows[0]["n_words"] == int(said["words"]), said["why"]
    if "target" in said:
        row = rows[0]
        assert row["target_form"] == said["target"], said["why"]
        assert text[row["target_start"] : row["target_end"]] == said["target"], said["why"]
    if "subject" in said:
        of_verb = rows[0]["controller"]
        form, *between = said["subject"].split()
        assert (of_verb["form"], text[of_verb["start"] : of_verb["end"]]) == (form, form), said["why"]
        assert [of_verb["distance"], of_verb["attractors"]] == [*map(int, between)], said["why"]
    if "edited" in said:
        edits = [definition.edit(text, row["plan"]) for row in rows]
        edited = [text[: edit.start] + edit.replacement + text[edit.end :] for edit in edits]
        assert said["edited"] in edited, said["why"]


@pytest.mark.parametrize(("task", "sentence"), _cases("leave"))
def test_a_sentence_is_left(task, sentence, selected):
    targets = [row["target_form"] for row in selected(task, sentence)[1]]
    assert [form for form in targets if form == sentence.metadata.get("target", form)] == [], sentence.metadata["why"]


PROBING = sorted(name for name, task in all_tasks().items() if isinstance(task, ProbingTask))


@pytest.mark.parametrize("task", PROBING)
def test_a_probing_task_has_cases(task):
    """At least five sentences to take and five to leave; ``feats`` has those of one of its features."""
    folder = CASES / ("feats_nmod_number" if task == "feats" else task)
    assert folder.is_dir(), f"no tests/cases/{task}: docs/adding_a_task.md says what belongs there"
    for kind in ("take", "leave"):
        sentences = conllu.parse((folder / f"{kind}.conllu").read_text(encoding="utf-8"))
        assert len(sentences) >= 5, kind
        assert all({"lang", "why"} <= set(sentence.metadata) for sentence in sentences), kind


def test_cases_are_of_tasks_and_in_several_languages():
    folders = sorted(folder.name for folder in CASES.iterdir())
    assert [name for name in folders if name not in PROBING] == ["feats_nmod_number"]
    languages = {
        sentence.metadata["lang"]
        for path in CASES.glob("*/*.conllu")
        for sentence in conllu.parse(path.read_text(encoding="utf-8"))
    }
    assert len(languages) >= 3
