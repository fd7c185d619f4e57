"""Swaps of adjacent words: which words, and what is left of the text."""

import conllu
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from shared import SAMPLE_LANGUAGES, sample_file

from discoprobe.builders import Context, Settings, all_tasks
from discoprobe.builders.edits import (
    FEW_ALIKE,
    adjacent_words,
    counts_of,
    impossible,
    neighbours,
    one_of_each,
    swap,
    varied,
    word_bags,
)
from discoprobe.builders.sampling import REPEATED
from discoprobe.builders.sentences import Trees
from discoprobe.loaders.conllu import read_corpora
from discoprobe.loaders.languages import language_data

WORD = st.text(alphabet="abcÄßжЖ語'", min_size=1, max_size=5)


def context(lang="en"):
    return Context("bigram_shift", language_data(lang), Settings(), ("original", "shifted"))


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
            function_words = {"ADP", "CCONJ", "PART", "SCONJ"}
            assert any(
                word["upos"] in function_words or "PronType=Art" in (word["feats"] or "") for word in (left, right)
            )
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


def pairs_of(*sentences):
    """Pairs of words, a list of sentences with ``wording`` and ``meeting`` of each of its pairs."""
    rows = [
        (key, index, wording, list(meeting))
        for key, of_sentence in enumerate(sentences, 1)
        for index, (wording, *meeting) in enumerate(of_sentence, 1)
    ]
    types = {"key": pl.UInt64, "index": pl.UInt16, "wording": pl.UInt64, "meeting": pl.List(pl.UInt64)}
    return pl.DataFrame(rows, schema=types, orient="row")


def test_the_same_words_are_swapped_in_few_sentences():
    seen = context()
    left = varied(pairs_of(*([(7, n)] for n in range(20))), seen)
    assert left.height == REPEATED
    assert seen.drops.counts == {"repeated": 20 - REPEATED, "same-neighbours": 0}


def test_few_swaps_bring_the_same_two_words_together():
    """At most 1 % of the sentences, or two."""
    seen = context()
    same, others = ([(n, 7, 1000 + n)] for n in range(100)), ([(n, 2000 + n)] for n in range(100, 400))
    left = varied(pairs_of(*same, *others), seen)
    assert left.filter(pl.col("meeting").list.contains(7)).height == 4
    assert seen.drops.counts == {"repeated": 0, "same-neighbours": 96}
    assert varied(pairs_of(*([(n, 7)] for n in range(30))), context()).height == FEW_ALIKE


def test_another_pair_of_the_sentence_is_used_before_the_sentence_is_lost():
    seen = context()
    left = varied(pairs_of(*([(7, n), (100 + n, 200 + n)] for n in range(20))), seen)
    assert left["key"].n_unique() == 20
    assert seen.drops.counts["repeated"] == 0


def written(tmp_path, sentences):
    """The trees of sentences, each a list of words: form, part of speech, head, relation and features."""
    file = tmp_path / "en_x-ud-test.conllu"
    blocks = []
    for number, words in enumerate(sentences):
        rows = [
            f"{n}\t{form}\t{form}\t{upos}\t_\t{feats}\t{head}\t{rel}\t_\t_"
            for n, (form, upos, head, rel, feats) in enumerate(words, 1)
        ]
        text = " ".join(word[0] for word in words)
        blocks.append("\n".join([f"# sent_id = s{number}x", f"# text = {text}", *rows]) + "\n\n")
    file.write_text("".join(blocks), encoding="utf-8")
    (trees,) = trees_of(file)
    return trees


def sentence(n, preposition="in"):
    """A sentence like *we now read book in town saw today*, in which no preposition precedes a verb."""
    return [
        ("we", "PRON", 3, "nsubj", "_"), (f"now{n}", "ADV", 3, "advmod", "_"), (f"read{n}", "VERB", 0, "root", "_"),
        (f"book{n}", "NOUN", 3, "obj", "_"), (preposition, "ADP", 6, "case", "_"), (f"town{n}", "NOUN", 3, "obl", "_"),
        (f"saw{n}", "VERB", 3, "conj", "_"), ("today", "ADV", 3, "advmod", "_"),
    ]  # fmt: skip


def shifts(trees):
    """The middle of each swap (in lower case) → whether it is impossible."""
    pairs = adjacent_words(trees, context()).filter("inside").join(trees.shard.sentences, on="sent")
    flags = impossible(pairs, counts_of(trees.once(neighbours)["neighbours"]))
    edits = [swap(text, plan).replacement.lower() for text, plan in pairs.select("text", "plan").iter_rows()]
    return dict(zip(edits, flags.tolist(), strict=True))


def test_a_preposition_is_moved_before_a_kind_of_word_that_it_never_precedes(tmp_path):
    found = shifts(written(tmp_path, [sentence(n) for n in range(150)]))
    assert found["town1 in"]  # in saw


def test_with_little_text_nothing_is_impossible(tmp_path):
    assert not any(shifts(written(tmp_path, [sentence(n) for n in range(8)])).values())


def test_an_order_that_occurs_is_possible_for_the_word_and_its_class(tmp_path):
    """Every tenth preposition precedes a verb: of this word, or of others of its class."""
    before_verb = [
        ("we", "PRON", 3, "nsubj", "_"), ("so", "ADV", 3, "advmod", "_"), ("read", "VERB", 0, "root", "_"),
        ("in", "ADP", 5, "case", "_"), ("reading", "VERB", 3, "advcl", "_"), ("today", "ADV", 3, "advmod", "_"),
    ]  # fmt: skip
    other_word = [(form if form != "in" else "at", *rest) for form, *rest in before_verb]
    usual = [sentence(n) for n in range(150)]
    for exceptions in (before_verb, other_word):
        assert not shifts(written(tmp_path, usual + [exceptions] * 15))["town1 in"]


def test_a_word_that_is_often_an_adverb_is_not_moved(tmp_path):
    adverb = [("in", "ADV", 3, "advmod", "_") if word[0].startswith("now") else word for word in sentence(0, "at")]
    found = shifts(written(tmp_path, [sentence(n) for n in range(150)] + [adverb] * 30))
    assert not found["town1 in"]


def test_a_case_that_a_preposition_governs_may_follow_it(tmp_path):
    """The preposition stands between nouns, and governs the case of the one after it."""

    def words(n, case):
        return [
            ("we", "PRON", 3, "nsubj", "_"), ("so", "ADV", 3, "advmod", "_"), (f"read{n}", "VERB", 0, "root", "_"),
            (f"book{n}", "NOUN", 3, "obj", "Case=Loc"), ("in", "ADP", 6, "case", "_"),
            (f"town{n}", "NOUN", 3, "obl", "Case=Loc"), (f"friend{n}", "NOUN", 3, "obj", f"Case={case}"),
            ("today", "ADV", 3, "advmod", "_"),
        ]  # fmt: skip

    found = shifts(written(tmp_path, [words(n, ("Nom", "Loc")[n % 2]) for n in range(600)]))
    assert (found["town2 in"], found["town1 in"]) == (True, False)


def test_auxiliaries_and_determiners_are_not_moved_but_articles_are(tmp_path):
    def words(feats):
        return [
            ("we", "PRON", 3, "nsubj", "_"), ("so", "ADV", 3, "advmod", "_"), ("read", "VERB", 0, "root", "_"),
            ("this", "DET", 5, "det", feats), ("book", "NOUN", 3, "obj", "_"), ("has", "AUX", 3, "aux", "_"),
            ("been", "AUX", 3, "aux", "_"), ("today", "ADV", 3, "advmod", "_"),
        ]  # fmt: skip

    assert not shifts(written(tmp_path, [words("PronType=Dem")]))
    assert "book this" in shifts(written(tmp_path, [words("Definite=Def|PronType=Art")]))


def test_sentences_without_an_impossible_swap_are_counted(tmp_path):
    trees = written(tmp_path, [sentence(n) for n in range(150)])
    task = all_tasks()["bigram_shift"]
    selected = task.select(trees, context())
    facts = trees.shard.sentences.select("sent", "key", "text_key", cluster="sent", shard=pl.lit(0))
    frame = selected.join(facts, on="sent").with_columns(
        row=pl.int_range(pl.len()), split=pl.lit("train"), reason=pl.lit(None, pl.String), mean_words=pl.lit(8.0)
    )
    few, fewer = (replace(context(), settings=Settings(min_class=1, match=False)) for _ in range(2))
    made = task.sample(frame, few)
    assert (made.rows.height, made.candidates, few.drops.counts["free-order"]) == (300, 300, 0)
    empty = frame.with_columns(neighbours=pl.lit(None, pl.List(pl.UInt64)))
    lost = task.sample(empty, fewer)
    assert (lost.rows.height, fewer.drops.counts["free-order"]) == (0, 150)


def test_where_no_sentence_can_be_used_there_are_no_rows(tmp_path):
    trees = written(tmp_path, [sentence(n) for n in range(150)])
    task = all_tasks()["ngram_shift"]
    facts = trees.shard.sentences.select("sent", "key", "text_key", cluster="sent", shard=pl.lit(0))
    frame = task.select(trees, context()).join(facts, on="sent").with_columns(
        row=pl.int_range(pl.len()), split=pl.lit("train"), reason=pl.lit("too-short"), mean_words=pl.lit(8.0)
    )  # fmt: skip
    assert task.sample(frame, context()).reason.startswith("0 rows of original are left")
