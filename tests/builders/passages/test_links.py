"""Suites of orders put sentences before those that they refer to."""

import itertools
import re

import polars as pl
import pytest
from shared import SHARED

from discoprobe.builders import Settings
from discoprobe.builders.audit import from_config
from discoprobe.builders.build import build
from discoprobe.builders.passages import SIZE, breaking_orders, linked_windows, marks
from discoprobe.loaders.conllu import read_corpora
from discoprobe.loaders.languages import language_data
from discoprobe.sources import load_corpus

THIRD = "Person=3|PronType=Prs"
SENTENCES = {
    "However, prices rose.": ("However", "ADV", "_", "root", True, False),
    "Howeverness is no word.": ("Howeverness", "NOUN", "_", "root", False, True),
    "Rather than wait, I left.": ("Rather", "ADV", "_", "root", False, False),
    "Also, prices rose.": ("Also", "ADV", "_", "root", False, False),
    "She left early.": ("She", "PRON", THIRD, "nsubj", True, False),
    "I left early.": ("I", "PRON", "Person=1|PronType=Prs", "nsubj", False, True),
    "Himself he saw.": ("Himself", "PRON", f"{THIRD}|Reflex=Yes", "obj", False, True),
    "It rained.": ("It", "PRON", THIRD, "expl", False, True),
    "That was all.": ("That", "PRON", "PronType=Dem", "nsubj", True, False),
    "Here we are.": ("Here", "ADV", "PronType=Dem", "advmod", False, True),
    "Prices rose.": ("Prices", "NOUN", "_", "nsubj", False, True),
}
"""Text → its first word, what this is annotated with, and whether it is linked and can open a passage."""


def test_connectives_and_pronouns_link_a_sentence_to_the_one_before(tmp_path):
    blocks = [
        f"# sent_id = {n}\n# text = {text}\n1\t{word}\t_\t{upos}\t_\t{feats}\t2\t{relation}\t_\t_\n"
        f"2\t{text[len(word) :].strip()}\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
        for n, (text, (word, upos, feats, relation, *_)) in enumerate(SENTENCES.items())
    ]
    (tmp_path / "en_made-ud-test.conllu").write_text("".join(blocks), encoding="utf-8")
    (shard,) = read_corpora([tmp_path])["en"].shards()
    found = marks(shard, language_data("en")).select("linked", "opens").rows()
    assert dict(zip(SENTENCES, found, strict=True)) == {text: facts[4:] for text, facts in SENTENCES.items()}
    text_alone = shard.__class__(shard.documents, shard.sentences, shard.tokens.clear())
    assert marks(text_alone, language_data("en"))["linked"].to_list() == [True, *[False] * 10], "connectives alone"


CLAUSES = {
    "Byron received his education": ("PROPN _ 2 nsubj", "VERB _ 0 root", f"PRON {THIRD} 4 nmod:poss", "NOUN _ 2 obj"),
    "In Thessaly he won": ("ADP _ 2 case", "PROPN _ 4 obl", f"PRON {THIRD} 4 nsubj", "VERB _ 0 root"),
    "The police saw him": ("DET _ 2 det", "NOUN _ 3 nsubj", "VERB _ 0 root", f"PRON {THIRD} 3 obj"),
    "We saw him": ("PRON Person=1|PronType=Prs 2 nsubj", "VERB _ 0 root", f"PRON {THIRD} 2 obj"),
    "Those who won left": (
        "PRON PronType=Dem 4 nsubj", "PRON PronType=Rel 3 nsubj", "VERB _ 1 acl:relcl", "VERB _ 0 root",
    ),
    "We praised that prize": (
        "PRON Person=1|PronType=Prs 2 nsubj", "VERB _ 0 root", "DET PronType=Dem 4 det", "NOUN _ 2 obj",
    ),
    "Hans bok kom": ("PRON Poss=Yes|PronType=Prs 2 nmod:poss", "NOUN _ 3 nsubj", "VERB _ 0 root"),
    "Prices rose": ("NOUN _ 2 nsubj", "VERB _ 0 root"),
}  # fmt: skip
"""Text → UPOS, FEATS, HEAD and DEPREL of its words."""


def test_a_pronoun_that_can_refer_to_a_noun_of_its_own_sentence_is_no_link(tmp_path):
    rows = {
        text: [f"{n}\t{form}\t_\t{upos}\t_\t{feats}\t{head}\t{relation}\t_\t_\n"
               for n, (form, word) in enumerate(zip(text.split(), words, strict=True), 1)
               for upos, feats, head, relation in [word.split()]]
        for text, words in CLAUSES.items()
    }  # fmt: skip
    blocks = [f"# sent_id = {n}\n# text = {text}\n{''.join(rows[text])}\n" for n, text in enumerate(rows)]
    (tmp_path / "en_made-ud-test.conllu").write_text("".join(blocks), encoding="utf-8")
    (shard,) = read_corpora([tmp_path])["en"].shards()
    found = marks(shard, language_data("en")).select("linked", "opens").rows()
    assert dict(zip(CLAUSES, found, strict=True)) == {
        "Byron received his education": (False, True), "In Thessaly he won": (True, False),
        "The police saw him": (False, True), "We saw him": (True, False), "Those who won left": (False, True),
        "We praised that prize": (True, False), "Hans bok kom": (False, False), "Prices rose": (False, True),
    }  # fmt: skip


def frame(kinds, passages=None):
    """Sentences that are linked (l), open a passage (o), or none of these (n)."""
    return pl.DataFrame(
        {
            "linked": [kind == "l" for kind in kinds], "opens": [kind == "o" for kind in kinds],
            "key": range(len(kinds)), "passage": passages or [0] * len(kinds),
        },
        {**dict.fromkeys(["linked", "opens"], pl.Boolean), "key": pl.UInt64, "passage": pl.UInt32},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("kinds", "first"),
    [
        ("oolooooloo", [0, 5]),
        ("ooooolooooo", [2]),
        ("olooolooo", [0]),
        ("nlooooo", []),
        ("olo", []),
        ("", []),
    ],
    ids=[
        "side by side",
        "as early as possible",
        "disjoint",
        "it refers to what is not shown",
        "short",
        "empty",
    ],
)
def test_windows_are_disjoint_and_begin_with_a_sentence_that_opens(kinds, first):
    assert linked_windows(frame(kinds), 5)["first"].to_list() == first


def test_no_window_crosses_the_end_of_a_passage():
    passages = [0, 0, 0, 1, 1, 1, 1, 1, None, None, None, None, None]
    assert linked_windows(frame("oloololoolooo", passages), SIZE)["first"].to_list() == [3]


def strength(kinds, order, moved):
    """How well an order breaks links, from 0."""
    place = [order.index(sentence) for sentence in range(SIZE)]
    turned = [place[a] > place[b] for a, b in itertools.combinations(range(moved), 2)]
    beside = any(place[at] == place[at - 1] + 1 for at in range(1, SIZE))
    ends = (kinds[order[moved - 1]] == "l") == (kinds[moved - 1] == "l")
    whole = kinds[0] == "o" == kinds[order[0]]
    if beside or sum(turned) * 2 < len(turned) or not whole or not ends:
        return 0
    linked = [at for at in range(1, SIZE) if kinds[at] == "l"]
    return any(place[at] < place[at - 1] for at in linked) + any(place[at] < min(place[:at]) for at in linked)


@pytest.mark.parametrize("moved", [5, 4])
def test_orders_put_a_linked_sentence_before_those_that_it_follows(moved):
    """For every kind of passage these are the orders, and there is a window where there is one."""
    every = [[*order, *range(moved, SIZE)] for order in itertools.permutations(range(moved))]
    for kinds in itertools.product("oln", repeat=SIZE):
        sentences = frame(kinds)
        windows = linked_windows(sentences, moved)
        orders = breaking_orders(sentences, windows, moved)
        expected = {str(order): grade for order in every if (grade := strength(kinds, order, moved))}
        assert dict(zip(map(str, orders["order"].to_list()), orders["strength"], strict=True)) == expected, kinds
        assert orders["key"].is_unique().all()
        assert windows.height == bool(expected)


@pytest.mark.skipif(not SHARED.is_dir(), reason="no ../shared beside the repository")
@pytest.mark.parametrize("task", ["order_all", "order_context", "cloze_suite"])
def test_the_speakers_of_a_passage_are_those_of_the_corpus(task):
    """Also in the bad order; a continuation from elsewhere stands in the turn of the right one."""
    folder = SHARED / "corpora" / "ud" / "en" / "GUM-open"
    facts = {}
    for path in folder.glob("*.conllu"):
        for block in path.read_text(encoding="utf-8").split("\n\n"):
            said = dict(re.findall(r"^# (sent_id|text|speaker) = (.*)$", block, re.MULTILINE))
            facts[said.get("sent_id")] = (said.get("text"), said.get("speaker"))
    config = build(task, load_corpus("en", [str(folder)]), Settings(min_class=2))
    rows = config.splits["test"].to_pylist()
    named = [row for row in rows if row["speakers_good"]]
    assert 20 < len(named) < len(rows)
    for row in named:
        said = dict(facts[sent_id] for sent_id in row["sent_ids"])
        assert row["speakers_good"] == [said[text] for text in row["regions_good"]]
        in_turns = row["regions_bad"] if task != "cloze_suite" else row["regions_good"]
        assert row["speakers_bad"] == [said[text] for text in in_turns]
    changes = from_config(config).rows.filter(pl.col("label") == 0)
    at = {row["pair_id"]: row for row in rows}
    for pair, changed in changes.select("pair_id", "other_speaker").iter_rows():
        speakers = at[pair]["speakers_good"] or []
        pairs = [first != second for first, second in itertools.pairwise(speakers) if first and second]
        if task == "order_all":
            assert changed == (any(pairs) if pairs else None)
        else:
            assert changed == (speakers[-1] != speakers[-2] if speakers and all(speakers[-2:]) else None)


@pytest.mark.skipif(not SHARED.is_dir(), reason="no ../shared beside the repository")
@pytest.mark.parametrize("task", ["order_all", "order_context"])
def test_every_pair_puts_a_sentence_before_the_one_it_refers_to(task):
    corpus = load_corpus("en", [str(SHARED / "corpora" / "ud" / "en" / "UD_English-PUD"), "sample"])
    facts = {}
    for shard in corpus.shards():
        said = marks(shard, language_data("en")).join(shard.sentences, on="sent")
        facts |= {text: (linked, opens) for text, linked, opens in said.select("text", "linked", "opens").iter_rows()}
    for row in build(task, corpus).splits["test"].to_pylist():
        good, bad = row["regions_good"], row["regions_bad"]
        place = [bad.index(text) for text in good]
        assert facts[good[0]][1]
        assert facts[bad[0]][1]
        assert any(facts[text][0] and place[at] < place[at - 1] for at, text in enumerate(good) if at)
