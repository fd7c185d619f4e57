"""Swaps of adjacent words: which words, and what is left of the text."""

from dataclasses import replace

import conllu
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared import SAMPLE_LANGUAGES, sample_file

from discoprobe.builders import Context, Settings, all_tasks
from discoprobe.builders.edits import (
    FEW,
    FEW_ALIKE,
    HashCounts,
    adjacent_words,
    fixed_orders,
    one_of_each,
    swap,
    without_frequent_pairs,
    word_bags,
)
from discoprobe.builders.sentences import Trees
from discoprobe.loaders.conllu import read_corpora
from discoprobe.loaders.languages import language_data

WORD = st.text(alphabet="abcÄßжЖ語'", min_size=1, max_size=5)


def context(lang="en"):
    return Context("bigram_shift", language_data(lang), Settings(), ("original", "shifted"))


def distinct_pairs(frame, context):
    return without_frequent_pairs(frame, HashCounts(frame["bigrams"]), context)


def one_of_each_sentence(trees, context):
    """The pairs that are chosen, with the sentences of a corpus of one shard."""
    keys = trees.shard.sentences.select("sent", "key", shard=pl.lit(0))
    return one_of_each(adjacent_words(trees, context).join(keys, on="sent"), context)


def trees_of(path):
    (corpus,) = read_corpora([path]).values()
    return [Trees(shard) for shard in corpus.shards()]


@given(words=st.lists(WORD, min_size=2, max_size=6), at=st.integers(0, 4), gap=st.sampled_from(["", " ", "\u00a0"]))
def test_a_swap_moves_two_words_and_nothing_else(words, at, gap):
    at = at % (len(words) - 1)
    text = gap.join(words)
    start = len(gap.join([*words[:at], ""])) if at else 0
    middle, after = start + len(words[at]), start + len(words[at]) + len(gap)
    edit = swap(text, {"a_start": start, "a_end": middle, "b_start": after, "b_end": after + len(words[at + 1])})
    words[at], words[at + 1] = words[at + 1], words[at]
    assert text[: edit.start] + edit.replacement + text[edit.end :] == gap.join(words)


@pytest.mark.parametrize("lang", SAMPLE_LANGUAGES)
def test_no_pair_is_at_the_beginning_in_punctuation_or_in_a_multiword_token(lang):
    for trees in trees_of(sample_file(lang)):
        pairs = adjacent_words(trees, context(lang))
        assert len(pairs) >= 100
        words = trees.words.with_columns(pl.col("index").cast(pl.Int64))
        for sent, index, plan in pairs.select("sent", "index", "plan").iter_rows():
            here = words.filter(pl.col("sent") == sent).sort("index").to_dicts()
            left, right = here[index - 1], here[index]
            assert any(word["upos"] != "PUNCT" for word in here[: index - 1])
            assert not {left["upos"], right["upos"]} & {"PUNCT", "SYM", "X"}
            assert left["mwt"] is None
            assert right["mwt"] is None
            assert left["head"] == right["index"] or right["head"] == left["index"]
            text = trees.shard.sentences.filter(pl.col("sent") == sent)["text"].item()
            assert text[plan["a_start"] : plan["a_end"]] == left["form"]
            assert text[plan["a_end"] : plan["b_start"]].isspace() or not language_data(lang).spaces
            assert text[plan["b_start"] : plan["b_end"]] == right["form"]


def test_the_choice_of_a_pair_depends_on_the_sentence_alone(tmp_path):
    sentences = conllu.parse(sample_file("en").read_text(encoding="utf-8"))
    whole, part = tmp_path / "a" / "en_x-ud-test.conllu", tmp_path / "b" / "en_x-ud-test.conllu"
    chosen = []
    for path, some in ((whole, sentences), (part, sentences[::-2])):
        path.parent.mkdir()
        path.write_text("".join(_without_documents(one) for one in some), encoding="utf-8")
        (trees,) = trees_of(path)
        found = one_of_each_sentence(trees, context())
        text = found.join(trees.shard.sentences.select("sent", "sent_id", "text"), on="sent")
        chosen.append({(key, text): plan for key, text, plan in text.select("sent_id", "text", "plan").iter_rows()})
    assert chosen[1]
    assert all(chosen[0][key] == plan for key, plan in chosen[1].items())


def _without_documents(sentence):
    """The sentence without comments on documents, and with an id that shows none."""
    sentence.metadata = {key: value for key, value in sentence.metadata.items() if not key.startswith("newdoc")}
    letters = str.maketrans("0123456789-_.", "abcdefghijxyz")
    sentence.metadata["sent_id"] = sentence.metadata["sent_id"].translate(letters)
    return sentence.serialize()


def test_another_seed_chooses_other_pairs():
    (trees,) = trees_of(sample_file("en"))
    other = Context("bigram_shift", language_data("en"), Settings(seed=14), ("original", "shifted"))
    one, two = (one_of_each_sentence(trees, c)["plan"].to_list() for c in (context(), other))
    assert len(one) == len(two)
    assert one != two


def test_the_bag_of_words_is_blind_to_order_and_case_only():
    words = pl.DataFrame(
        {"sent": [0, 0, 1, 1, 2, 2, 3], "form": ["The", "dog", "dog", "the", "dog", "dog", "dog"]},
        schema_overrides={"sent": pl.UInt32},
    )
    bags = word_bags(type("T", (), {"words": words}))["bag"].to_list()
    assert bags[0] == bags[1]
    assert len(set(bags)) == 3


def test_no_two_words_are_swapped_twice():
    frame = pl.DataFrame(
        {
            "row": [0, 1, 2], "sent": [0, 1, 2], "key": [11, 12, 13], "text_key": [1, 2, 3], "cluster": [0, 1, 2],
            "bag": [1, 2, 3], "swapped": ["b a", "b a", "d c"], "split": ["train", "test", "train"],
            "reason": [None] * 3, "label": ["original"] * 3, "mean_words": [7.0] * 3, "bigrams": [[1, 2, 3]] * 3,
            "original_bigrams": [[1, 2, 3]] * 3, "shifted_bigrams": [[4, 5, 6]] * 3,
        },
        schema_overrides={"key": pl.UInt64, "text_key": pl.UInt64, "reason": pl.String}
        | dict.fromkeys(("bigrams", "original_bigrams", "shifted_bigrams"), pl.List(pl.UInt64)),
    )  # fmt: skip
    few = Context("bigram_shift", language_data("en"), Settings(min_class=1), ("original", "shifted"))
    made = distinct_pairs(frame, few)
    assert made.rows["swapped"].sort().to_list() == ["b a", "b a", "d c", "d c"]
    assert made.drops["same-words-swapped"] == 1
    assert made.rows["label"].sort().to_list() == [0, 0, 1, 1]
    assert (
        distinct_pairs(frame, context()).reason
        == "2 rows of original are left after filters and matching; 20 are needed"
    )


@pytest.mark.parametrize(
    ("here", "reversed_", "fixed"), [(98, 1, True), (98, 2, False), (49, 0, False), (50, 0, True), (60, 60, False)]
)
def test_an_order_is_fixed_if_it_is_known_and_hardly_ever_reversed(here, reversed_, fixed):
    orders = pl.Series("orders", ["<ADP case NOUN"] * here + [">ADP case NOUN"] * reversed_)
    assert fixed_orders(orders).to_list() == (["<ADP case NOUN"] if fixed else [])


def test_other_relations_say_nothing_about_an_order():
    orders = pl.Series("orders", ["<ADJ amod NOUN"] * 60 + [">ADJ acl NOUN"] * 60)
    assert fixed_orders(orders).to_list() == ["<ADJ amod NOUN", ">ADJ acl NOUN"]


def swaps_of(n, likelier):
    """Candidates of which a share has an original with frequent bigrams, the others a swap with frequent ones."""
    first = [number < likelier * n for number in range(n)]
    ids = [10 * number for number in range(100, n + 100)]
    return pl.DataFrame(
        {
            "row": range(n), "sent": range(n), "key": ids, "text_key": ids, "cluster": range(n), "bag": ids,
            "swapped": [f"{number} x" for number in range(n)], "split": ["train"] * n, "reason": [None] * n,
            "label": ["original"] * n, "mean_words": [7.0] * n,
            "bigrams": [[7, 7, 7, 7]] * n,
            "original_bigrams": [[7, 7, 7] if one else [8, 8, 8] for one in first],
            "shifted_bigrams": [[at + 1, at + 2, at + 3] if at < ids[0] + 10 * likelier * n else [7] * 3 for at in ids],
        },
        schema_overrides={"key": pl.UInt64, "text_key": pl.UInt64, "reason": pl.String}
        | dict.fromkeys(("bigrams", "original_bigrams", "shifted_bigrams"), pl.List(pl.UInt64)),
    )  # fmt: skip


def test_originals_have_the_more_frequent_bigrams_in_half_of_the_pairs():
    few = Context("bigram_shift", language_data("en"), Settings(min_class=1), ("original", "shifted"))
    sampled = distinct_pairs(swaps_of(100, 0.8), few)
    originals = sampled.rows.filter(pl.col("label") == 0)["row"]
    assert abs((originals < 80).sum() - (originals >= 80).sum()) <= FEW  # as many pairs may stay unequal
    assert originals.len() >= 40
    assert sampled.drops["bigrams-tell"] == 100 - originals.len()


def test_few_swaps_bring_together_the_same_two_words_that_seldom_meet():
    """A bigram that is as frequent in the corpora as in the swaps may come again and again."""
    few = Context("bigram_shift", language_data("en"), Settings(min_class=1), ("original", "shifted"))
    lost = {}
    for name, bigram in {"seldom": 99, "often": 7}.items():
        last = pl.when(pl.col("row") < 40).then(pl.lit(bigram, pl.UInt64)).otherwise(pl.lit(7, pl.UInt64))
        frame = swaps_of(60, 0.5).with_columns(
            shifted_bigrams=pl.concat_list(pl.col("shifted_bigrams").list.head(2), last)
        )
        lost[name] = distinct_pairs(frame, few).drops["same-neighbours"]
    assert lost == {"seldom": 40 - FEW_ALIKE, "often": 0}


def test_words_brought_together_are_counted_at_all_places_and_against_all_sentences_of_the_corpus():
    """Swapped are 60 of 200 sentences: a bigram of four of them is in one original, also if few rows list bigrams."""
    every = pl.Series("bigrams", [[99]] * 4 + [[7]] * 196, pl.List(pl.UInt64))
    places = [
        pl.when(pl.col("row") < 40, pl.col("row") % 3 == n).then(99).otherwise(100 + 3 * pl.col("row") + n)
        for n in range(3)
    ]
    listed = pl.when(pl.col("row") < 3).then("bigrams")
    frame = swaps_of(60, 0.5).with_columns(
        bigrams=listed, shifted_bigrams=pl.concat_list([place.cast(pl.UInt64) for place in places])
    )
    few = Context("bigram_shift", language_data("en"), Settings(min_class=1), ("original", "shifted"))
    assert without_frequent_pairs(frame, HashCounts(every), few).drops["same-neighbours"] == 40 - FEW_ALIKE


def test_where_no_sentence_can_be_swapped_there_are_no_rows():
    frame = swaps_of(5, 0.5).with_columns(reason=pl.lit("too-short"), bigrams=pl.lit(None, pl.List(pl.UInt64)))
    assert distinct_pairs(frame, context()).reason.startswith("0 rows of original are left")


def test_sentences_without_a_fixed_order_are_counted():
    """Two of five sentences have free order only; of a sentence with several pairs one is taken."""
    frame = swaps_of(5, 0.5)
    fixed, free = "<DET det NOUN", "<ADV advmod VERB"
    several = pl.concat([frame, frame.head(1)]).with_columns(
        shard=pl.lit(0), index=pl.Series([1, 1, 1, 1, 1, 2]), order=pl.Series([fixed] * 3 + [free] * 2 + [fixed]),
        orders=pl.Series([[fixed] * 60, *[[free, free.replace("<", ">")] * 60] * 4, None]),
    )  # fmt: skip
    unmatched = replace(context(), settings=Settings(min_class=1, match=False))
    made = all_tasks()["bigram_shift"].sample(several, unmatched)
    assert (made.drops["free-order"], made.candidates, made.rows.height) == (2, 10, 6)
