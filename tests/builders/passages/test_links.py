"""Suites of orders take sentences away from what they refer to."""

import polars as pl
import pytest
from shared import SHARED

from discoprobe.builders.build import build
from discoprobe.builders.passages.links import breaks_links, linked, n_links
from discoprobe.loaders.conllu.reader import read_corpora
from discoprobe.loaders.languages.language import language_data
from discoprobe.sources import load_corpus

SENTENCES = {
    "However, prices rose.": ("However", "_", True),
    "Howeverness is no word.": ("Howeverness", "_", False),
    "She left early.": ("She", "Person=3|PronType=Prs", True),
    "I left early.": ("I", "Person=1|PronType=Prs", False),
    "That was all.": ("That", "PronType=Dem", True),
    "Prices rose.": ("Prices", "_", False),
}


def test_connectives_and_pronouns_link_a_sentence_to_the_one_before(tmp_path):
    blocks = [
        f"# sent_id = {n}\n# text = {text}\n1\t{word}\t_\t_\t_\t{feats}\t0\troot\t_\t_\n"
        f"2\t{text[len(word) :].strip()}\t_\t_\t_\t_\t1\tdep\t_\t_\n\n"
        for n, (text, (word, feats, _)) in enumerate(SENTENCES.items())
    ]
    (tmp_path / "en_made-ud-test.conllu").write_text("".join(blocks), encoding="utf-8")
    (shard,) = read_corpora([tmp_path])["en"].shards()
    found = linked(shard, language_data("en"))
    assert found["linked"].to_list() == [is_linked for *_, is_linked in SENTENCES.values()]
    without_words = linked(shard.__class__(shard.documents, shard.sentences, shard.tokens.clear()), language_data("en"))
    assert without_words["linked"].to_list() == [True, *[False] * 5], "text alone: connectives"


def test_a_link_is_to_a_sentence_of_the_same_passage():
    frame = pl.DataFrame({"linked": [True, False, False, True, False, False, True]})
    windows = pl.DataFrame({"first": [0, 1, 3, 4], "size": [3, 3, 3, 3]})
    assert n_links(frame, windows).to_list() == [0, 1, 0, 1], "the first sentence refers to one that is not shown"


@pytest.mark.parametrize(
    ("order", "breaks"), [([0, 2, 1], True), ([1, 0, 2], False), ([2, 1, 0], False), ([0, 1, 2], False)]
)
def test_an_order_breaks_two_links_where_there_are_two_and_begins_as_the_passage(order, breaks):
    """The second sentence refers to the first, the third to the second."""
    frame = pl.DataFrame({"linked": [False, True, True]})
    windows = pl.DataFrame({"first": [0], "size": [3], "order": [order]})
    assert breaks_links(frame, windows).to_list() == [breaks]


@pytest.mark.skipif(not SHARED.is_dir(), reason="no ../shared beside the repository")
@pytest.mark.parametrize("task", ["order_all", "order_context"])
def test_every_pair_takes_a_sentence_away_from_the_one_it_refers_to(task):
    corpus = load_corpus("en", [str(SHARED / "corpora" / "ud" / "en" / "UD_English-PUD"), "sample"])
    refers = {}
    for shard in corpus.shards():
        refers |= dict(
            linked(shard, language_data("en")).join(shard.sentences, on="sent").select("text", "linked").rows()
        )
    for row in build(task, corpus).splits["test"].to_pylist():
        good, bad = row["regions_good"], row["regions_bad"]
        places = [good.index(text) for text in bad]
        assert any(
            refers[text] and place and (not at or places[at - 1] != place - 1)
            for at, (text, place) in enumerate(zip(bad, places, strict=True))
        )
