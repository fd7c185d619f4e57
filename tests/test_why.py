"""`build why`: the reason that it gives for each sentence is the one that the build counts; every outcome is named."""

import json
import re
from collections import Counter

import msgspec
import polars as pl
import pytest
from shared import SMALL_CLASSES

from discoprobe import pipeline
from discoprobe.builders import Config, Settings, build_all, tasks_named, trace
from discoprobe.loaders import Corpus, Shard, UnknownNameError
from discoprobe.plan import plan
from discoprobe.sources import Request

SENTENCES_PER_CANDIDATE = {
    "subj_number": 1, "sent_len": 1, "bigram_shift": 1, "somo": 1, "pred_tense": 1, "sp": 5, "dconn": 2,
}  # fmt: skip
"""Tasks without distractors, whose drops count sentences or windows of one size."""


def explanations(traced):
    """What became of every sentence that was read: corpus and id → explanation."""
    names = traced.sentences["sent_id"].unique()
    return {(each.corpus, each.sent_id): each for name in names for each in traced.explain(name)}


@pytest.mark.parametrize("lang", ["es", "en"])
@pytest.mark.parametrize("name", SENTENCES_PER_CANDIDATE)
def test_the_reasons_of_all_sentences_add_up_to_the_counts(name, lang, corpus_of, built):
    """Of the same build without a trace."""
    config = built("sample", lang)[name]
    traced = trace(*tasks_named([name]), corpus_of("sample", lang), Settings())
    found = explanations(traced)
    assert len(found) == corpus_of("sample", lang).n_sentences
    lost = Counter(loss["reason"] for each in found.values() for loss in each.losses)
    notes = config.notes if isinstance(config, Config) else ()
    ends = re.findall(r"[:,] ([a-z-]+) (\d+)", next((note for note in notes if "a passage ends" in note), ""))
    counts = {reason: n * SENTENCES_PER_CANDIDATE[name] for reason, n in config.drops.items()}
    assert lost == counts | {reason: int(n) for reason, n in ends}, "drops count candidates; the note counts sentences"
    assert (traced.config.drops, traced.config.candidates) == (config.drops, config.candidates)
    if isinstance(config, Config):
        assert [table.to_pylist() for table in traced.config.splits.values()] == [
            table.to_pylist() for table in config.splits.values()
        ]
        shown = {
            sent_id for table in config.splits.values() for ids in table["sent_ids"].to_pylist() for sent_id in ids
        }
        assert {sent_id for (_, sent_id), each in found.items() if each.outcome == "in the config"} == shown


@pytest.mark.parametrize("name", ["dc", "nsp_choice", "cloze", "so", "agreement_suite"])
def test_every_sentence_has_an_outcome_and_every_reason_a_meaning(name, corpus_of, built):
    config = built("sample", "es")[name]
    traced = trace(*tasks_named([name]), corpus_of("sample", "es"), Settings())
    found = explanations(traced).values()
    assert {loss["reason"] for each in found for loss in each.losses} <= config.drops.keys()
    assert all(loss["step"] and loss["meaning"] for each in found for loss in each.losses)
    for each in found:
        assert bool(each.losses) == (each.outcome == "lost")
        assert bool(each.rows) == (each.outcome == "in the config")


def test_a_distractor_and_an_edited_sentence_are_named_as_such(corpus_of):
    for name, role in (("dc", "distractor"), ("bigram_shift", "edited")):
        traced = trace(*tasks_named([name]), corpus_of("sample", "es"), Settings())
        rows = [row for table in traced.config.splits.values() for row in table.to_pylist()]
        row = next(row for row in rows if row["label"] == 1)
        place = row["order"].index(-1) if name == "dc" else 0
        (each,) = (each for each in traced.explain(row["id"]) if each.sent_id == row["sent_ids"][place])
        assert [(of["id"], of["role"]) for of in each.rows] == [(row["id"], role)]
        assert len(traced.explain(row["id"])) == len(set(row["sent_ids"]))


def test_the_context_and_the_right_choice_are_no_distractors(corpus_of):
    """Of rows with choices (`cloze`), and of rows with a candidate (`nsp`, whose label 1 is `not_next`)."""
    for name in ("cloze", "nsp"):
        traced = trace(*tasks_named([name]), corpus_of("sample", "es"), Settings())
        rows = [row for table in traced.config.splits.values() for row in table.to_pylist()][:8]
        assert {row["label"] for row in rows} == {0, 1}
        for row in rows:
            others = ["as it is", "distractor"] if row["label"] == 0 else ["distractor", "as it is"]
            if name == "nsp":
                others = ["distractor" if row["label"] else "as it is"]
            expected = ["as it is"] * len(row["context" if name == "cloze" else "sentences"]) + others
            roles = {each.sent_id: [of["role"] for of in each.rows] for each in traced.explain(row["id"])}
            assert roles == {sent_id: [role] for sent_id, role in zip(row["sent_ids"], expected, strict=True)}


def test_the_rule_has_the_threshold_and_what_the_text_has(corpus_of):
    settings = msgspec.structs.replace(Settings(), probing_words=(9, 12))
    traced = trace(*tasks_named(["sent_len"]), corpus_of("sample", "es"), settings)
    rules = {
        (loss["reason"], loss["rule"]) for each in explanations(traced).values() for loss in each.losses
    }  # fmt: skip
    assert ("too-short", "at least 9 words (--set probing_words=9/12); it has 8") in rules
    assert ("too-long", "at most 12 words (--set probing_words=9/12); it has 13") in rules


def test_a_config_that_cannot_be_built_says_so_for_every_sentence(corpus_of):
    (shard,) = corpus_of("sample", "es").shards()
    bare = Shard(shard.documents, shard.sentences, shard.tokens.clear())
    traced = trace(*tasks_named(["subj_number"]), Corpus.of_shards("es", [bare]), Settings())
    (each,) = traced.explain(shard.sentences["sent_id"][0])
    assert (each.outcome, each.note) == ("no config", traced.config.reason)


def test_a_sentence_is_found_by_its_text_and_a_document_names_its_sentences(corpus_of):
    traced = trace(*tasks_named(["bso"]), corpus_of("sample", "es"), Settings())
    (whole,) = traced.explain("es-news-04-2")
    assert traced.explain(whole.text) == traced.explain(" ".join(whole.text.split()[1:-1])) == [whole]
    for name in ("es-news-04", "es-news-04.txt"):
        with pytest.raises(
            UnknownNameError, match=r"\(a document, whose sentences are es-news-04-1 to es-news-04-\d+\)"
        ):
            traced.explain(name)


def test_an_unknown_sentence_is_an_error_that_names_similar_ones(corpus_of):
    traced = trace(*tasks_named(["sent_len"]), corpus_of("sample", "es"), Settings())
    with pytest.raises(UnknownNameError, match=r"unknown sentence or row of sent_len_es .*did you mean es-news-04-2"):
        traced.explain("es-news-04-22")


def test_a_text_that_many_sentences_have_is_too_short(corpus_of):
    traced = trace(*tasks_named(["sent_len"]), corpus_of("sample", "es"), Settings())
    with pytest.raises(UnknownNameError, match=r"\(a part of [\d,]+ sentences; write more of it\)"):
        traced.explain("de la")


# Several blocks


@pytest.fixture(scope="module")
def documents(corpus_of):
    """The documents of the sample, one shard each."""
    (shard,) = corpus_of("sample", "es").shards()
    parts = []
    for document in shard.documents.partition_by("doc", maintain_order=True):
        sentences = shard.sentences.join(document.select("doc"), on="doc", how="semi", maintain_order="left")
        tokens = shard.tokens.join(sentences.select("sent"), on="sent", how="semi", maintain_order="left")
        parts.append(Shard(document, sentences, tokens))
    return parts


TINY = msgspec.structs.replace(SMALL_CLASSES, block=5000)


def again(parts):
    """The same texts in documents with other names."""
    return [
        Shard(
            part.documents.with_columns(pl.col("key") + 12345, doc_id=pl.col("doc_id") + "-again"),
            part.sentences.with_columns(pl.col("key") + 12345, sent_id=pl.col("sent_id") + "-again"), part.tokens,
        )
        for part in parts
    ]  # fmt: skip


UNLIMITED = (60_000, 20_000, 20_000)


@pytest.mark.parametrize("sizes", [UNLIMITED, (12, 12, 12)])
def test_the_reasons_add_up_over_several_blocks(documents, sizes):
    """Also what a block repeats of another, rows without a counterpart in any block, and rows beyond the size."""
    corpus = Corpus.of_shards("es", [*documents, *again(documents[:20])])
    settings = msgspec.structs.replace(TINY, sizes=sizes)
    (config,) = build_all(tasks_named(["sent_len"]), corpus, settings)
    traced = trace(*tasks_named(["sent_len"]), corpus, settings)
    assert len(traced.blocks) > 1
    assert traced.config.drops == config.drops
    lost = Counter(loss["reason"] for each in explanations(traced).values() for loss in each.losses)
    assert lost == config.drops
    assert lost.keys() >= ({"near-duplicate", "unbalanced"} if sizes == UNLIMITED else {"over-size"})


def test_a_sentence_of_a_block_that_was_not_read_says_so(documents):
    corpus = Corpus.of_shards("es", documents)
    traced = trace(*tasks_named(["bso"]), corpus, msgspec.structs.replace(TINY, sizes=(8, 2, 4)))
    assert traced.unread
    (each,) = traced.explain(traced.unread[0][0].sentences["sent_id"][0])
    assert each.outcome == "not read"
    n_read, n_blocks = len(traced.blocks), len(traced.blocks) + len(traced.unread)
    assert each.note == f"the sizes were full after {n_read} of {n_blocks} blocks; it is in block {n_read + 1}"


def test_a_sentence_of_a_document_too_many_says_so(documents):
    corpus = Corpus.of_shards("es", documents)
    traced = trace(*tasks_named(["bso"]), corpus, msgspec.structs.replace(Settings(), most_documents=6))
    read = {part.identity for block in traced.blocks for part in block}
    (each, *_) = traced.explain(next(part for part in documents if part.identity not in read).sentences["sent_id"][0])
    assert (each.outcome, "--documents" in each.note) == ("not read", True)


# The command


def test_the_command_explains_from_options(command):
    done = command("why", "sent_len_es", "es-news-04-2", "--corpus", "sample", "--set", "probing_words=5/6")
    assert (done.returncode, done.stderr) == (0, "")
    assert "outcome:  lost\nstep:     filters of sentences and targets\nreason:   too-long\n" in done.stdout
    assert "rule:     at most 6 words (--set probing_words=5/6); it has 12" in done.stdout
    done = command("why", "sent_len_es", "es-news-04-222", "--corpus", "sample")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(
        "error: unknown sentence or row of sent_len_es 'es-news-04-222'; did you mean es-news-04-2"
    )
    assert done.stderr.count("\n") == 1
    done = command("why", "sent_len", "es-news-04-2", "--corpus", "sample")
    assert done.returncode == 2


def test_the_command_explains_a_release_with_its_settings_and_readers(command, tmp_path):
    """A row that readers found faulty, its counterpart, and a sentence that the settings of the release leave out."""
    settings = msgspec.structs.replace(Settings(), discourse_words=(3, 12))
    request = Request(("es",), ("sample",), ("bso",), settings, audit=False)
    pipeline.run(plan(request), tmp_path / "first")
    rows = pl.read_parquet(tmp_path / "first" / "bso_es" / "train*.parquet")
    faulty, sentence = rows["id"][0], rows["sent_ids"][0][0]
    pipeline.run(plan(msgspec.structs.replace(request, exclude={"bso_es": {faulty: "other"}})), tmp_path / "release")

    def explained(*arguments):
        done = command("why", "bso_es", *arguments, "--out", tmp_path / "release", "--json")
        assert (done.returncode, done.stderr) == (0, "")
        return json.loads(done.stdout)

    assert {loss["reason"] for each in explained(faulty) for loss in each["losses"]} == {"reader other"}
    (each,) = explained(sentence)
    assert each["outcome"] == "lost"
    assert {loss["step"] for loss in each["losses"]} == {"marks of readers"}
    assert {loss["reason"] for loss in each["losses"]} == {"reader other", "reader-counterpart"}
    (each,) = explained(rows["sent_ids"][-1][0])
    assert each["outcome"] == "in the config"
    done = command("why", "bso_es", sentence, "--out", tmp_path / "release", "--set", "genres=all")
    assert done.returncode == 2
    assert "whose manifest has its settings" in done.stderr
