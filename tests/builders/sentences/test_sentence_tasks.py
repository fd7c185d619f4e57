"""How rows of the tasks on length, depth, words and clauses are chosen."""

import itertools
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from discoprobe.builders import SPLITS, Context, Settings, all_tasks, tasks_named
from discoprobe.builders.edits import clause_edits as clause_inversion
from discoprobe.builders.edits import clause_edits as hidden_conjunction
from discoprobe.builders.probing import conj_type, coord_inv, sent_len, tree_depth, word_content
from discoprobe.builders.sampling import SURFACE, Split, bin_of, edges, names
from discoprobe.builders.sentences import VALUES, Frequencies, rank_lemmas, word_of_sentence
from discoprobe.loaders import hashing
from discoprobe.loaders.languages import LanguageData, language_data


def context(task, *, lang="en", **options):
    return Context(task, language_data(lang), Settings(**options), all_tasks()[task].labels)


def candidates(n, **columns):
    """Candidates that may all be shown, in splits of 60, 20 and 20 %."""
    row = np.arange(n)
    split = pl.Series([SPLITS[max(0, place - 2)] for place in row % 5], dtype=Split)
    base = {
        "row": row, "sent": row, "key": hashing.mix(row.astype(np.uint64), "key"), "text_key": row.astype(np.uint64),
        "cluster": row, "split": split, "reason": pl.Series([None] * n, dtype=pl.String), "n_running": row * 0 + 10,
        "n_chars": row * 0 + 60, **dict.fromkeys(("n_capitals", "n_commas", "n_marks"), row * 0 + 1),
        "cell": pl.Series([None] * n, dtype=pl.String), "target_feats": pl.Series([None] * n, dtype=pl.String),
    }  # fmt: skip
    return pl.DataFrame(base | columns)


def counts(rows, *by):
    return Counter(rows.select("split", *by).with_columns(pl.col("split").cast(pl.String)).iter_rows())


@pytest.mark.parametrize(
    ("words", "bins", "expected"),
    [
        ((5, 25), "equal", ["5-8", "9-11", "12-15", "16-18", "19-22", "23-25"]),
        ((5, 28), "equal", ["5-8", "9-12", "13-16", "17-20", "21-24", "25-28"]),
        ((5, 28), "senteval", ["5-8", "9-12", "13-16", "17-20", "21-25", "26-28"]),
    ],
)
def test_bins_of_the_published_tasks(words, bins, expected):
    lengths = pl.Series("n", range(words[0] - 1, words[1] + 2))
    of_edges = edges(lengths, Settings(probing_words=words, length_bins=bins))
    assert list(names(of_edges)) == expected
    found = lengths.to_frame().select(bin_of(pl.col("n"), of_edges)).to_series()
    assert found[0] is None
    assert found[-1] is None
    assert found[1:-1].unique(maintain_order=True).to_list() == expected


def test_quantile_bins_are_about_equally_full():
    lengths = pl.Series("n", [5] * 50 + [6] * 30 + [7] * 40 + [9] * 60 + [12] * 30 + [20] * 30 + [40] * 20)
    of_edges = edges(lengths, Settings())
    found = lengths.to_frame().select(bin=bin_of(pl.col("n"), of_edges)).group_by("bin").len()
    assert found["bin"].null_count() == 0
    assert found.height == len(names(of_edges)) >= 4
    assert found["len"].min() >= 20


def test_sent_len_has_equally_many_of_each_bin():
    words = np.arange(2000) % 21 + 5
    sentences = candidates(2000, label=[None] * 2000, n_words=words, mean_words=words * 1.0)
    made = sent_len.TASK.sample(sentences, context("sent_len"))
    assert len(made.labels) == 6
    assert {split: len({n for (s, _), n in counts(made.rows, "label").items() if s == split}) for split in SPLITS} == (
        dict.fromkeys(SPLITS, 1)
    )


def depth_frame(table):
    """``table`` has (depth, cell) → number of candidates, which are spread over the splits."""
    rows = [(str(depth), cell) for (depth, cell), n in table.items() for _ in range(n)]
    return candidates(len(rows), label=[label for label, _ in rows], cell=[cell for _, cell in rows])


def test_tree_depth_takes_the_usual_depths_where_they_are():
    table = {(depth, cell): 200 for depth in range(2, 11) for cell in ("5-8", "9-11")}
    made = tree_depth.TASK.sample(depth_frame(table), context("tree_depth"))
    assert made.labels == ("5", "6", "7", "8", "9")


def test_tree_depth_takes_as_many_neighbours_as_make_a_config():
    table = {(1, "x"): 5, (2, "x"): 120, (3, "x"): 300, (4, "x"): 300, (5, "x"): 110, (6, "x"): 3}
    assert tree_depth.TASK.sample(depth_frame(table), context("tree_depth")).labels == ("2", "3", "4", "5")
    table = {(2, "x"): 130, (3, "x"): 300, (4, "x"): 130, (5, "x"): 30}
    assert tree_depth.TASK.sample(depth_frame(table), context("tree_depth")).labels == ("2", "3", "4")
    table = {(2, "x"): 30, (3, "x"): 300, (4, "x"): 190}
    assert tree_depth.TASK.sample(depth_frame(table), context("tree_depth")).labels == ("3", "4")


def test_tree_depth_takes_the_depths_that_give_most_where_none_make_a_config():
    table = {(2, "x"): 30, (3, "x"): 300, (4, "x"): 40, (6, "x"): 300}
    assert tree_depth.TASK.sample(depth_frame(table), context("tree_depth")).labels == ("2", "3", "4")
    table = {(2, "x"): 300, (4, "x"): 300, (6, "x"): 300}
    assert (
        "fewer than 2 neighbouring depths" in tree_depth.TASK.sample(depth_frame(table), context("tree_depth")).reason
    )


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 60), min_size=15, max_size=15))
@example([20] * 15)
def test_tree_depth_has_equally_many_of_each_depth_in_every_cell(sizes):
    table = dict(zip(itertools.product(range(2, 7), "abc"), sizes, strict=True))
    assume(sum(sizes))
    made = tree_depth.TASK.sample(depth_frame(table), context("tree_depth", min_class=2))
    if made.reason:
        assert min(sizes) < 20, made.reason
        return
    found = counts(made.rows, "cell", "label")
    for split, cell in {(split, cell) for split, cell, _ in found}:
        assert len({found[split, cell, int(name) - 1] for name in made.labels}) == 1


def verbs(*kinds):
    """Candidates of ``pred_aspect``: (label, FEATS, how many), spread over the splits."""
    rows = [(label, feats) for label, feats, n in kinds for _ in range(n)]
    return candidates(len(rows), label=[label for label, _ in rows], target_feats=[feats for _, feats in rows])


def test_aspects_are_balanced_within_tense():
    """Imperfective verbs are mostly present and perfective ones past: only pasts of both are used."""
    past, pres = "Mood=Ind|Tense=Past", "Mood=Ind|Tense=Pres"
    frame = verbs(("Imperfective", pres, 300), ("Imperfective", past, 100), ("Perfective", past, 400))
    made = all_tasks()["pred_aspect"].sample(frame, context("pred_aspect"))
    assert made.rows["target_feats"].unique().to_list() == [past]
    assert made.rows.height >= 190


def test_aspect_that_tense_tells_is_no_task():
    frame = verbs(("Imperfective", "Tense=Pres", 300), ("Perfective", "Tense=Past", 400))
    made = all_tasks()["pred_aspect"].sample(frame, context("pred_aspect"))
    assert made.rows.is_empty()
    assert made.reason.startswith("no two values have 20 balanced rows of the same Tense and Mood in all splits")


def test_the_definition_of_a_feature_task_says_what_all_of_them_leave_out_and_balance():
    tense, voice = (all_tasks()[name].definition for name in ("pred_tense", "pred_voice"))
    assert "Forms that are ambiguous in part of speech or in Tense are left out" in tense
    assert tense.endswith("balanced within the same Aspect of the target, if this keeps at least 50 % of the rows.")
    assert voice.endswith("No target form of the test split is a target in train: a model could remember it.")
    assert "balanced" not in voice


NONE_KNOWN = LanguageData(code="xx", name="xx")


def test_ranks_are_of_the_corpora_where_no_list_knows_the_words():
    lemmas = pl.Series(["b", "a", "b", "c", "b", "a"])
    assert rank_lemmas(lemmas, None).select("lemma", "rank").rows() == [("b", 1), ("a", 2), ("c", 3)]


def test_ranks_are_of_the_list_where_it_knows_the_words():
    lemmas = pl.Series(["zebra"] * 5 + ["house", "the"])
    assert rank_lemmas(lemmas, Frequencies("wordfreq", code="en"))["lemma"].to_list() == [
        "the",
        "house",
        "zebra",
    ]
    unknown = pl.Series(["qqxq"] * 5 + ["xqqx"] * 4 + ["the"])
    assert rank_lemmas(unknown, Frequencies("wordfreq", code="en"))["lemma"].to_list() == [
        "qqxq",
        "xqqx",
        "the",
    ]


def word_frame(sentences):
    """Candidates of the words given, all of them possible targets."""
    words = [
        [{"lemma": w, "form": w, "upos": "NOUN", "start": i, "end": i + 1, "target": True} for i, w in enumerate(words)]
        for words in sentences
    ]
    return candidates(len(words), words=words, label=pl.Series([None] * len(words), dtype=pl.String))


def test_word_content_has_one_of_k_words_once():
    lone = [[f"lemma{n}"] for n in range(12) for _ in range(25)]
    frame = word_frame([*lone, ["lemma1", "lemma2"], ["lemma3", "lemma3"], *([["rare"]] * 5)])
    made = word_of_sentence(frame, context("word_content"), ranks=(1, 100), most=1000)
    assert made.labels == tuple(sorted(f"lemma{n}" for n in range(12)))
    assert not made.rows.filter(pl.col("words").list.len() != 1).height
    assert made.rows["target_lemma"].to_list() == [made.labels[label] for label in made.rows["label"]]
    assert {n for (split, _), n in counts(made.rows, "label").items() if split == "train"} == {15}


def test_word_content_leaves_out_what_takes_sentences_from_others():
    common = [[f"lemma{n}"] for n in range(10) for _ in range(25)]
    with_rare = [[f"lemma{n}", "rare"] for n in range(10)]
    made = word_of_sentence(word_frame(common + with_rare), context("word_content"), ranks=(1, 100), most=1000)
    assert "rare" not in made.labels
    assert made.rows.filter(pl.col("words").list.len() == 2).height


def test_word_content_takes_the_words_that_other_blocks_decided_on():
    """Whatever rank they have among the few words of this block."""
    frame = word_frame([[f"lemma{n}"] for n in range(4) for _ in range(5)])
    decided = replace(
        context("word_content"), decided_labels={"word_content": ("lemma1", "lemma2", *(f"other{n}" for n in range(8)))}
    )
    made = word_of_sentence(frame, decided, ranks=(1_500, 3_000), most=1000)
    assert made.labels == decided.decided
    assert sorted(made.rows["target_lemma"]) == ["lemma1"] * 5 + ["lemma2"] * 5


def test_word_content_says_why_it_is_not_there():
    made = word_content.TASK.sample(word_frame([["house"]] * 50), context("word_content"))
    assert made.rows.is_empty()
    assert "10 are needed" in made.reason


CLAUSES = st.lists(
    st.tuples(st.integers(-9, 9), st.sampled_from(["DET", "PRON"]), st.sampled_from(["DET", "PRON"])),
    min_size=30,
    max_size=150,
)


@settings(max_examples=30, deadline=None)
@given(CLAUSES)
def test_neither_length_nor_first_word_tells_which_clause_was_first(clauses):
    longer, first, second = zip(*clauses, strict=True)
    frame = candidates(len(clauses), longer=pl.Series(longer, dtype=pl.Int32), a_upos=list(first), b_upos=list(second))
    few = replace(context("coord_inv"), settings=Settings(min_class=1))
    made, drops = coord_inv.TASK.sample(frame, few), few.drops.counts
    kept = made.rows.filter(pl.col("label") == 0)
    assert kept.height + drops["unbalanced"] + drops["near-duplicate"] == len(clauses)
    for split in SPLITS:
        rows = kept.filter(pl.col("split") == split)
        assert abs(np.sign(rows["longer"].to_numpy()).sum()) <= 1
        assert abs((rows["a_upos"] == "PRON").sum() - (rows["b_upos"] == "PRON").sum()) <= 1


@pytest.mark.parametrize(
    ("lang", "text", "upos", "lemma", "inverted"),
    [
        ("nl", "IJsland won, en Peru kwam ook.", "PROPN", "IJsland", "Peru kwam ook, en IJsland won."),
        ("fr", "M. Roy insiste, et Anne aussi.", "NOUN", "monsieur", "Anne aussi, et M. Roy insiste."),
        ("nl", "IJs smelt, en water kwam ook.", "NOUN", "ijs", "Water kwam ook, en ijs smelt."),
        ("en", "I left, and Bob came too.", "PRON", "I", "Bob came too, and I left."),
        ("de", "NASA startet, und Ben kam auch.", "NOUN", "nasa", "Ben kam auch, und NASA startet."),
    ],
)
def test_names_keep_the_capital_that_the_other_first_word_gets(lang, text, upos, lemma, inverted):
    places = {
        "a_start": 0,
        "a_end": text.index(","),
        "b_start": text.index(",") + 5 + (lang in {"en", "de"}),
        "b_end": len(text) - 1,
    }
    row = places | {"text": text, "a_form": text.split()[0], "a_upos": upos, "a_lemma": lemma}
    edit = clause_inversion.invert(text, clause_inversion._plan_inversion(row, language_data(lang)))
    assert text[: edit.start] + edit.replacement + text[edit.end :] == inverted


@pytest.mark.parametrize(
    ("text", "start", "conjunction", "end", "expected"),
    [
        ("Er sagt, dass er geht.", 7, 9, 13, "Er sagt … er geht."),
        ("Ann sang and Bob slept.", 8, 9, 12, "Ann sang … Bob slept."),
        ("他来，但是我走。", 2, 3, 5, "他来…我走。"),
    ],
)
def test_the_mask_keeps_the_space_before_it(text, start, conjunction, end, expected):
    frame = pl.DataFrame({"text": [text], "start": [conjunction], "end": [end]})
    mask = frame.select(hidden_conjunction.mask(pl.col("text").str.head(start))).item()
    assert text[:start] + mask + text[end:] == expected


def test_what_is_not_offered_says_why():
    assert coord_inv.TASK.lacks(language_data("ja"))
    assert coord_inv.TASK.lacks(language_data("en")) == ""


def test_a_value_has_the_same_index_where_a_corpus_has_only_some_of_them():
    names = ["Dual"] * 300 + ["Singular"] * 300 + ["Paucal"] * 3
    seen = context("subj_number")
    made = all_tasks()["subj_number"].sample(candidates(len(names), label=names), seen)
    labels = all_tasks()["subj_number"].labels
    assert made.labels == ("Singular", "Dual")
    assert set(made.rows["label"]) == {labels.index("Singular"), labels.index("Dual")} == {0, 2}
    assert len(set(counts(made.rows, "label").values())) <= len(SPLITS)
    assert seen.drops.counts["rare-value Paucal"] == 3


def test_every_task_on_a_feature_has_the_labels_of_the_feature():
    of_feature = {}
    for task in [*all_tasks().values(), *tasks_named(["feats"])]:
        if getattr(task, "feature", None):
            of_feature.setdefault(task.feature, set()).add(task.labels)
    assert len(of_feature) > 20
    assert {name for name, labels in of_feature.items() if len(labels) != 1} == set()
    assert all(len(set(values.values())) == len(values) for values in VALUES.values())
    assert VALUES["Tense"]["Imp"] != VALUES["Aspect"]["Imp"] != VALUES["Mood"]["Imp"]


def test_sentences_that_differ_in_the_masked_conjunction_are_one():
    def both(n):
        return [label for label in hidden_conjunction.LABELS for _ in range(n)]

    frame = candidates(400, label=both(200), shown_key=np.arange(400) // 2).with_columns(
        pl.col(SURFACE).name.prefix("shown_"), cell=pl.lit(""), shard=pl.lit(0), conjunction="label",
        **{f"n_{label}": 200 * (pl.col("label") == label) for label in hidden_conjunction.LABELS},
    )  # fmt: skip
    seen = context("conj_type")
    made = conj_type.TASK.sample(frame, seen)
    assert seen.drops.counts["near-duplicate"] == 200
    assert made.rows["shown_key"].n_unique() == made.rows.height > 0
