"""Which texts a task takes, by their genre."""

import polars as pl
import pytest

from discoprobe.builders import Settings, genres, select, tasks_named
from discoprobe.builders.selection import sample
from discoprobe.builders.task import Context
from discoprobe.loaders import Source
from discoprobe.loaders.languages import language_data
from discoprobe.sources import load_corpus

NEWS, SPEECH, MIXED, LEARNERS = (
    Source(name, "es", genre=genre)
    for name, genre in (
        ("News", ("news",)),
        ("Speech", ("spoken",)),
        ("Mixed", ("news", "grammar-examples")),
        ("Learners", ("learner-essays",)),
    )
)
TEXTS = pl.DataFrame(
    [
        ("News", "d1", None),
        ("News", "d2", "spoken"),
        ("News", "d3", "Poetry"),
        ("Speech", "d4", None),
        ("Speech", "d5", "news"),
        ("Mixed", "d6", None),
        ("Mixed", "d7", "grammar-examples/learner-essays"),
        ("Mixed", "grammar_Syntax", None),
        ("Learners", "d8", None),
        ("Unknown", None, None),
        ("News", "d9", "conversation"),
        ("News", "d10", "spoken, web"),
        ("News", "d11", "reddit"),
    ],
    ["corpus", "doc_id", "genre"],
    orient="row",
)
UNSUITED = {
    "labels": [],
    "edits": ["d2", "d3", "d4", "d7", "grammar_Syntax", "d8", "d9", "d11"],
    "suites": ["d2", "d3", "d4", "d7", "grammar_Syntax", "d8"],
    "passages": ["d2", "d3", "d4", "grammar_Syntax"],
    "connectives": ["d2", "d3", "d4", "grammar_Syntax", "d9"],
}


@pytest.mark.parametrize("use", UNSUITED)
def test_the_genre_of_a_document_its_id_and_its_treebank_decide(use):
    sources = [NEWS, SPEECH, MIXED, LEARNERS]
    refused = TEXTS.with_columns(reason=genres.unsuited(sources, Settings(), use)).drop_nulls("reason")
    assert refused["doc_id"].to_list() == UNSUITED[use]
    taken = TEXTS.with_columns(reason=genres.unsuited(sources, Settings(genres="all"), use))
    assert taken["reason"].null_count() == taken.height


def test_documents_that_may_be_examples():
    found = TEXTS.filter(genres.may_be_examples([NEWS, MIXED], Settings()))
    assert found["doc_id"].to_list() == ["d6", "d7", "grammar_Syntax"]
    assert TEXTS.filter(genres.may_be_examples([MIXED], Settings(genres="all"))).is_empty()


NAMES = [f"{d}-{n}" for d in range(1, 4) for n in range(1, 7)]
TEXTS_OF_NAMES = [" ".join(f"{word}{n}" for word in ("Uno", "dos", "tres", "cuatro", "cinco", "seis")) + " ."
                  for n in range(18)]  # fmt: skip


def conllu(texts, ids, comments=()):
    lines = []
    for name, text in zip(ids, texts, strict=True):
        lines += [*comments, f"# sent_id = {name}", f"# text = {text}"]
        lines += [f"{n}\t{form}\t{form}\tX\t_\t_\t{n - 1}\t{'dep' if n > 1 else 'root'}\t_\t_"
                  for n, form in enumerate(text.split(), 1)]  # fmt: skip
        lines.append("")
    return "\n".join(lines) + "\n"


def candidates_of(folder, task, **settings):
    corpus = load_corpus(str(folder))
    context = Context(
        "", language_data(corpus.lang), Settings(**settings), sources=corpus.sources, layers=corpus.layers,
        n_sentences=corpus.n_sentences,
    )  # fmt: skip
    (task,) = tasks_named([task])
    return task, select([task], corpus.parts, context), context


def test_an_original_and_its_correction_are_one_cluster_and_one_is_in_passages(tmp_path):
    """As in UD_Italian-Valico: ids are the same, words mostly so, and no five words in a row need to be."""
    folder = tmp_path / "UD_Spanish-X"
    folder.mkdir()
    corrected = [text.replace("dos", "doce").replace("cinco", "ciento") for text in TEXTS_OF_NAMES]
    (folder / "es_x-ud-test.conllu").write_text(conllu(TEXTS_OF_NAMES, NAMES))
    (folder / "es_y-ud-test.conllu").write_text(conllu(corrected, NAMES))
    _, found, _ = candidates_of(folder, "so")
    counts = found.sentences.group_by("cluster").len()
    assert counts["len"].to_list() == [2] * 18
    assert found.sentences["reason"].to_list().count("version") == 18
    first = found.sentences.filter(pl.col("reason").ne_missing("version"))["sent"]
    assert first.sort().to_list() == list(range(18))


def test_ids_that_number_the_sentences_of_each_file_join_nothing(tmp_path):
    folder = tmp_path / "UD_Spanish-X"
    folder.mkdir()
    for name, letter in (("train", "a"), ("test", "b")):
        texts = [" ".join(f"{letter}{n}w{k}" for k in range(8)) + " ." for n in range(6)]
        (folder / f"es_x-ud-{name}.conllu").write_text(conllu(texts, [f"s{n}" for n in range(6)]))
    _, found, _ = candidates_of(folder, "sent_len")
    assert found.of_task["sent_len"]["cluster"].n_unique() == 12


def test_suites_of_passages_take_no_text_of_learners(tmp_path):
    folder = tmp_path / "UD_Spanish-X"
    folder.mkdir()
    (folder / "es_x-ud-test.conllu").write_text(conllu(TEXTS_OF_NAMES, NAMES))
    (folder / "README.md").write_text("Genre: learner-essays\n")
    for name, reasons in (("so", {None}), ("order_all", {"genre"})):
        task, found, context = candidates_of(folder, name)
        frame = sample(task, found, context, context.settings).frame
        assert set(frame["reason"]) == reasons
