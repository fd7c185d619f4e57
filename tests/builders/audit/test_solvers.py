"""Solvers that an expert would try first: each finds its planted shortcut where older ones are weaker."""

from __future__ import annotations

import random
import re
from collections import Counter
from unittest import mock

import msgspec
import numpy as np
import polars as pl
import pytest
from audit_parts import finding_of, report_of
from shared import ROOT

from discoprobe.builders import Shape
from discoprobe.builders.audit import Status, audit, rows_of
from discoprobe.builders.audit.solvers import SOLVERS, Score, best_of, log_probabilities, problem_of, solver_table

_N = 900


def test_words_beside_a_conjunction(make, build):
    """CoordInv: who reads the words beside the conjunction sees which clause was moved."""
    rows = make.rows(_N, 2, 1)
    for row in rows:
        first, second = ("ruby", "opal") if row["label"] else ("opal", "ruby")
        words = [*make.sentence(6, 9).split(" "), first, "and", second, *make.sentence(6, 9).lower().split(" ")]
        row["texts"] = [" ".join(words)]
    report = audit(build(rows, perturbation=True))
    assert {report.finding(check).status for check in ("edges", "words")} == {Status.ABOVE}
    assert report.finding("edges").measured > 0.95
    assert report.finding("token").status is not Status.ABOVE


def test_words_two_places_from_a_conjunction(make, build):
    """The order of two words tells the label; nothing is said by the words between them and the conjunction."""
    rows = make.rows(_N, 2, 1)
    for row in rows:
        first, second = ("ruby", "opal") if row["label"] else ("opal", "ruby")
        before, after = (make.sentence(6, 9)[:-1].lower().split(" ") for _ in "ab")
        row["texts"] = [" ".join([*before[:-1], first, before[-1], "and", after[0], second, *after[1:]]) + "."]
    report = audit(build(rows, perturbation=True))
    assert report.finding("edges").measured > 0.95
    assert report.finding("words").measured < 0.6


def test_the_number_of_tokens_in_bins(make, build):
    """SentLen: bins of length, which no single line divides."""
    rows = make.rows(_N, 2, 1)
    for row in rows:
        n = make.source.choice([9, 10, 11] if row["label"] else [5, 6, 7, 13, 14, 15])
        row["texts"] = [make.sentence(n, n).replace(",", "")]
    finding = finding_of(build(rows), "length")
    assert (finding.status, finding.detail) == (Status.ABOVE, "decision tree")
    assert finding.measured > 0.95
    assert finding.tried["logistic regression"] < finding.measured


def test_a_text_unlike_the_others(make, build):
    """DC: the distractor in the middle is of another topic, told by pieces of words."""
    rows = make.rows(_N, 2, 5)
    for at, row in enumerate(rows):
        row["texts"] = [f"{text[:-1]} topic{at}{make.source.choice('abcdefgh')}." for text in row["texts"]]
        if row["label"]:
            row["texts"][2] = make.sentence(7, 21)
    finding = finding_of(build(rows, shape=Shape.SEQUENCE), "similarity")
    assert (finding.status, finding.measured > 0.8) == (Status.ABOVE, True)


def test_the_label_s_word_in_the_text(make, build):
    rows = make.rows(_N, 3, 1)
    for row in rows:
        row["texts"] = [f"{row['texts'][0][:-1]} Label{row['label']}."]
    finding = finding_of(build(rows, k=3), "label-word")
    assert (finding.status, finding.measured) == (Status.NOTED, 1.0)


def test_the_label_s_word_is_written_as_the_label(make, build):
    """Other labels occur as names (Rivers), and some have a hyphen: as written between blanks there is one."""
    rows, labels = make.rows(_N, 3, 1), ("rivers", "read", "first-class")
    for row in rows:
        name = labels[(row["label"] + make.source.choice([1, 2])) % 3].capitalize()
        words = [make.sentence(6, 9)[:-1], name, make.sentence(4, 6)[:-1].lower(), labels[row["label"]], "."]
        row["texts"] = [" ".join(words)]
    finding = finding_of(msgspec.structs.replace(build(rows, k=3), labels=labels), "label-word")
    assert (finding.measured, finding.detail) == (1.0, "as written")
    assert finding.tried["in any case"] < 0.9


@pytest.mark.parametrize("seed", [1, 2])
def test_windows_that_overlap_are_no_independent_rows(make, build, seed):
    """Labels and final marks are of documents, by chance: a solver is right or wrong in all windows of one.

    Four seeds of fourteen fail if nothing tells that the rows depend on each other: with a number in each text they
    share none.
    """
    source, windows = random.Random(seed), []
    for split in ("train", "test"):
        for document in range(60):
            mark = source.choice(".;")
            sentences = [make.sentence(7, 14)[:-1] + mark for _ in range(22)]
            label = document % 2
            windows += [{"split": split, "label": label, "texts": sentences[at : at + 4]} for at in range(19)]
    apart = [row | {"texts": [f"{number} {text}" for text in row["texts"]]} for number, row in enumerate(windows)]
    together, alone = (
        finding_of(build(rows, shape=Shape.SEQUENCE, external=True), "punctuation") for rows in (windows, apart)
    )
    assert (together.n, together.status, alone.status) == (2 * 60 * 19, Status.OPEN, Status.ABOVE)
    assert together.independent < 100
    assert alone.independent > 1000


@pytest.mark.parametrize("seed", [1, 2])
def test_windows_that_are_one_text_are_no_independent_rows_either(make, build, seed):
    source, windows = random.Random(seed), []
    for split in ("train", "test"):
        for document in range(60):
            mark = source.choice("!.")
            sentences = [make.sentence(7, 14)[:-1] + mark for _ in range(22)]
            windows += [
                {"split": split, "label": document % 2, "texts": [" ".join(sentences[at : at + 4])]} for at in range(19)
            ]
    finding = finding_of(build(windows, external=True), "punctuation")
    assert finding.independent < 100
    assert finding.status is Status.OPEN


@pytest.mark.parametrize("planted", [True, False], ids=["planted", "clean"])
def test_pairs_show_what_single_rows_hide(make, build, planted):
    """A word is lost in the edited member: rows differ in length by far more than their pairs do."""
    rows = []
    for split, n in (("train", 300), ("validation", 100), ("test", 100)):
        for at in range(n):
            text = make.sentence(5, 30)
            words = text.split(" ")
            other = " ".join(words[:2] + words[3:]) if planted and at % 10 < 8 else text[::-1]
            rows += [
                {"split": split, "pair_id": f"{split}{at}", "label": 0, "texts": [text]},
                {"split": split, "pair_id": f"{split}{at}", "label": 1, "texts": [other]},
            ]
    if not planted:
        for first, second in zip(rows[::2], rows[1::2], strict=True):
            second["texts"] = [make.sentence(5, 30)]
            first["texts"] = [make.sentence(5, 30)]
    report = audit(build(rows, pairs=True))
    finding = report.finding("pairwise")
    assert finding.status is (Status.ABOVE if planted else Status.BELOW)
    assert (finding.n, finding.baseline, finding.threshold) == (500, 0.5, 0.6)
    assert report.finding("length").gain < 0.1


def _in_pairs(make, edit, n=500):
    """Sentences and what ``edit`` makes of them, as rows that share ``pair_id``."""
    for at in range(n):
        split, text = ("train", "train", "train", "validation", "test")[at % 5], make.sentence(8, 20)
        for label in (0, 1):
            yield {"split": split, "pair_id": f"{at}", "label": label, "texts": [edit(text) if label else text]}


def _grammatical(make):
    """Sentences in which a word of a kind is always followed by one of the next kind; the words are as rare as any."""
    kinds = [make.vocabulary[at::40] for at in range(40)]

    def sentence(*_):
        at, n = make.source.randrange(40), make.source.randint(8, 20)
        return " ".join(make.source.choice(kinds[(at + place) % 40][:12]) for place in range(n))

    return sentence


def _exchanged(text):
    words = text.split(" ")
    return " ".join([*words[:2], words[3], words[2], *words[4:]])


def test_an_order_of_words_that_other_text_lacks(make, build, monkeypatch):
    """BigramShift: two words change places; single rows hide it, and a trigram model of other text finds it."""
    monkeypatch.setattr(make, "sentence", _grammatical(make))
    data = build(list(_in_pairs(make, _exchanged)), pairs=True, perturbation=True)
    report = audit(data, None, [make.sentence() for _ in range(2000)])
    finding = report.finding("trigrams")
    assert (finding.status, finding.threshold, finding.baseline, finding.n) == (Status.NOTED, None, 0.5, 500)
    assert finding.measured > 0.9
    assert finding.detail.startswith("model of ")
    assert report.finding("chars").measured < 0.65
    assert report.finding("frequency").status is Status.BELOW
    assert report.strongest.check != "trigrams"


def test_a_trigram_model_of_other_text_that_tells_nothing(make, build):
    """The words of the other text are in no order, as those of the pairs."""
    data = build(list(_in_pairs(make, _exchanged)), pairs=True, perturbation=True)
    finding = audit(data, None, [make.sentence() for _ in range(2000)]).finding("trigrams")
    assert abs(finding.measured - 0.5) < 0.06


def test_trigrams_are_not_measured_without_other_text(make, build):
    """With too little of it the reason is said; without the corpora, or without pairs, nothing is."""
    data = build(list(_in_pairs(make, _exchanged, 60)), pairs=True, perturbation=True)
    finding = audit(data, None, ["a b c."]).finding("trigrams")
    assert (finding.status, finding.measured) == (Status.UNMEASURED, None)
    assert finding.detail == "the corpora have fewer than 1,000 words that no row has"
    assert audit(data).finding("trigrams").status is Status.SKIPPED
    assert audit(make.data(200), None, ["a b c."]).finding("trigrams").status is Status.SKIPPED


def test_a_trigram_model_prefers_what_it_has_read():
    """The seen order, then the seen words in another one, then words that it has never read."""
    other = ["the cat sat on the mat ."] * 3 + ["the dog sat on the cat ."]
    texts = ["the dog sat on the mat .", "dog the sat on mat the .", "a hen lay in a box ."]
    (seen, shuffled, unknown), n_words = log_probabilities(other, pl.Series(texts), unspaced=False, fewest=28)
    assert seen > shuffled > unknown
    assert n_words == 28
    assert log_probabilities(other, pl.Series(texts), unspaced=False, fewest=29) is None


def test_the_probabilities_of_all_words_after_a_context_add_up_to_one():
    """Of the words that the model knows, and one that it does not."""
    texts = pl.Series(["a b", *(f"a b {word}" for word in "abcdx")])
    (before, *after), _ = log_probabilities(["a b c a b d", "b a c"], texts, unspaced=False, fewest=1)
    assert np.exp(np.array(after) - before).sum() == pytest.approx(1)


def test_a_replacement_that_is_rarer(make, build):
    """SOMO: the word that replaces another is a rare one."""
    rare = make.vocabulary[600:]

    def edit(text):
        words = text.split(" ")
        words[2] = make.source.choice(rare)
        return " ".join(words)

    rows = list(_in_pairs(make, edit))
    finding = report_of(build(rows, pairs=True, perturbation=True)).finding("pairwise")
    assert finding.status is Status.ABOVE
    assert finding.tried["frequency"] > 0.7


def test_what_is_counted_is_never_what_is_scored(make, build):
    """Originals that are as random as their edits are no likelier: a model that counts a text finds it likely."""
    rows = list(_in_pairs(make, lambda _: make.sentence(8, 20)))
    report = report_of(build(rows, pairs=True, perturbation=True))
    assert report.finding("frequency").status is Status.BELOW
    assert abs(report.finding("pairwise").tried["frequency"] - 0.5) < 0.06


def test_no_word_frequencies_where_no_text_is_edited(make, build):
    report = report_of(build(make.rows(200, 2, 3), shape=Shape.SEQUENCE, perturbation=True))
    assert report.finding("frequency").status is Status.SKIPPED


def test_a_measure_that_differs_in_pairs_only(make, build):
    """The edited member is one word longer, among sentences of three to sixty words."""
    rows = []
    for at in range(500):
        words = make.source.choices(make.vocabulary, k=make.source.randint(3, 60))
        longer = make.source.random() < 0.75
        for label in (0, 1):
            texts = [" ".join(words + [make.source.choice(make.vocabulary)] * (longer == label))]
            split = ("train", "train", "train", "validation", "test")[at % 5]
            rows.append({"split": split, "pair_id": f"{at}", "label": label, "texts": texts})
    report = report_of(build(rows, pairs=True))
    assert report.finding("pairwise").status is Status.ABOVE
    assert report.finding("pairwise").tried["length"] > 0.7
    assert report.finding("length").gain < 0.1


def test_a_likeness_that_differs_in_pairs_only(make, build):
    """The edited member mostly has a sentence with one topic word less, among passages with few and with many."""
    rows = []
    for at in range(500):
        topic = make.source.sample(make.vocabulary[:300], 9)
        share = make.source.random()
        texts = [[*make.source.choices(make.vocabulary, k=9), *(word for word in topic if make.source.random() < share)]
                 for _ in range(5)]  # fmt: skip
        topical, place = make.source.random() < 0.85, make.source.randrange(5)
        for label in (0, 1):
            added = make.source.choice(topic if (label == 0) == topical else make.vocabulary)
            shown = [[*text, added] if at_place == place else text for at_place, text in enumerate(texts)]
            split = ("train", "train", "train", "validation", "test")[at % 5]
            rows.append(
                {"split": split, "pair_id": f"{at}", "label": label, "texts": [" ".join(text) for text in shown]}
            )
    report = report_of(build(rows, pairs=True, perturbation=True, shape=Shape.SEQUENCE))
    assert report.finding("pairwise").tried["similarity"] > 0.7
    assert report.finding("pairwise").status is Status.ABOVE
    assert report.finding("similarity").gain < 0.1


def _passages(make, n, topic, strange):
    """Pairs of a passage whose sentences have a word in common, and the same with one sentence that may lack it."""
    rows = []
    for at in range(n):
        sentences = [f"{make.sentence(7, 21)[:-1]} {topic}{at}." for _ in range(5)]
        for label in (0, 1):
            other = f"{make.sentence(7, 21)[:-1]} {strange}{at}."
            texts = [*sentences[:2], other, *sentences[3:]] if label else sentences
            rows.append({"split": "test", "pair_id": f"p{at}", "label": label, "texts": texts})
    return rows


def test_a_rule_on_cosines_learns_nothing(make, build):
    """DC: in the pairs of each row, the sum of the cosines is larger; there is nothing to learn from but a few rows."""
    data = build(_passages(make, 200, "topic", "xyzw"), shape=Shape.SEQUENCE, pairs=True)
    finding = finding_of(data, "cosines")
    assert (finding.status, finding.n, finding.baseline, finding.threshold) == (Status.ABOVE, 200, 0.5, 0.6)
    assert finding.measured > 0.95
    assert len(finding.tried) == 8
    same = finding_of(build(_passages(make, 200, "topic", "topic"), shape=Shape.SEQUENCE, pairs=True), "cosines")
    assert same.measured < 0.6


def test_the_choice_nearest_to_a_sentence_of_the_context(make, build):
    rows = make.rows(_N, 2, 4)
    for at, row in enumerate(rows):
        row["n_context"] = 2
        for place in (0, 2 + row["label"]):
            row["texts"][place] = f"{row['texts'][place][:-1]} ruby{at} opal{at}."
    finding = finding_of(build(rows, shape=Shape.CHOICE), "cosines")
    assert (finding.status, finding.measured > 0.95) == (Status.ABOVE, True)


def test_no_rule_on_cosines_where_nothing_is_compared(make, build):
    assert finding_of(build(make.rows(_N, 2, 5), shape=Shape.SEQUENCE), "cosines").status is Status.SKIPPED


def test_one_class_in_test_is_said(make, build):
    rows = [row | {"label": 0} if row["split"] == "test" else row for row in make.rows(6000, 2, 1)]
    report = audit(build(rows))
    assert report.notes == ("no shortcut was measured: test holds one class only (label0)",)
    assert {finding.status for finding in report.findings if finding.kind == "shortcut"} == {Status.UNMEASURED}


def test_no_cluster_is_in_two_parts(make, build):
    """Data of one split are cross-validated in parts that keep groups and pairs together."""
    rows = [row | {"split": "test", "group": f"g{at // 4}"} for at, row in enumerate(make.rows(300, 2, 1))]
    problem, _ = problem_of(build(rows))
    assert len(problem.folds) == 5
    groups = problem.clusterings[1]
    for fold in problem.folds:
        assert not set(groups[fold.train]) & set(groups[fold.test])
    assert sorted(problem.measured) == list(range(300))


def test_a_solver_names_the_rows_that_it_is_surest_of(make, build):
    """Twenty, the surest first, and none that it got wrong; a row with five of the words is surer than one with one."""
    rows = make.rows(_N, 2, 1)
    for at, row in enumerate(rows):
        words = [f"word{row['label']}"] * (1 + (at // 2 % 40 == 0) * 6)
        row["texts"] = [" ".join([*words, *make.sentence(6, 9).split(" ")])]
    data = build(rows)
    named = finding_of(data, "words").rows
    assert len(set(named)) == 20
    sure = set(data.rows.filter(pl.col("texts").list.first().str.count_matches(r"word\d") == 7)["id"])
    assert sure >= set(named[: min(20, len(sure))])


def _ring(make, split, words):
    """Sentences of which each gets the word of the next: every word is replaced once, and replaces once."""
    sentences = [make.sentence(7, 12).split(" ") for _ in words]
    for at, (sentence, word) in enumerate(zip(sentences, words, strict=True)):
        for label, form in enumerate((word, words[(at + 1) % len(words)])):
            text = " ".join([*sentence[:3], form, *sentence[4:]])
            yield {"split": split, "pair_id": f"{word}", "group": word, "target": form, "label": label, "texts": [text]}


@pytest.mark.parametrize("size", [2, 3])
def test_words_that_replace_one_another_are_held_out_together(make, build, size):
    """SOMO: nearly all rings are in train; a word that is original here is the replacement there, never by chance."""
    words = iter([f"{first}{second}ok" for first in make.vocabulary[:20] for second in "abcdefghijkl"])
    splits = ["train"] * 60 + ["validation"] * 5 + ["test"] * 10
    rows = [row for split in splits for row in _ring(make, split, [next(words) for _ in range(size)])]
    report = report_of(build(rows, pairs=True, perturbation=True, split_by="target"))
    assert "solvers are cross-validated in five parts of all splits" in report.notes
    assert report.finding("pairwise").status is not Status.ABOVE
    for check in ("words", "chars", "frequency"):
        assert abs(report.finding(check).measured - 0.5) < 0.08  # folds that cut rings: .1
        assert abs(report.finding("pairwise").tried[check] - 0.5) < 0.12


def test_a_small_train_of_others_does_not_decide(make, build):
    """Of 160, 160 and 400 rows they learn from 576 and not from 320; splits of discoprobe's configs stay folds."""
    rows = [
        {"split": split, "label": at % 2, "texts": [make.sentence()]}
        for split, n in (("train", 160), ("validation", 160), ("test", 400))
        for at in range(n)
    ]
    for external, parts in ((True, "all splits"), (False, "train, validation and test")):
        problem, _ = problem_of(build(rows, external=external, natural=True))
        assert problem.measured_on == parts


def test_the_solver_of_the_guide_finds_its_cue(make, build, monkeypatch):
    """The example of docs/adding_a_corpus.md, in the module that it is written for."""
    guide = (ROOT / "docs" / "adding_a_corpus.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```python\n(def vowels.*?)^```", guide, flags=re.DOTALL | re.MULTILINE)
    names = vars(solver_table).copy()
    exec(example, names)
    rows = make.rows(_N, 2, 1)
    for row in rows:
        row["texts"] = [row["texts"][0] + " aeiou" * (4 * row["label"])]
    monkeypatch.setattr(solver_table, "SOLVERS", {**solver_table.SOLVERS, "punctuation": names["vowels"]})
    finding = finding_of(build(rows), "punctuation")
    assert finding.status is Status.ABOVE
    assert finding.measured > 0.9


def test_a_swap_of_words_is_told_from_the_differences_inside_pairs(make, build):
    """Characters inside words are the same in both members; after "of" there is an article, then a noun."""
    rows, first = [], [f"{a}{b}" for a in "bdfgk" for b in ("al", "en", "it")]
    for split, n in (("train", 400), ("validation", 100), ("test", 300)):
        for at in range(n):
            words = make.sentence(8, 12).split(" ")
            pair = [make.source.choice(first), make.source.choice(make.vocabulary)]
            for label in (0, 1):
                text = " ".join([*words[:4], "of", *pair[:: 1 - 2 * label], *words[4:]])
                rows.append({"split": split, "pair_id": f"{split}{at}", "label": label, "texts": [text]})
    data = build(rows, perturbation=True, pairs=True)
    finding = finding_of(data, "differences")
    assert (finding.status, finding.n, finding.baseline, finding.threshold) == (Status.ABOVE, 800, 0.5, 0.6)
    assert finding.measured > 0.8


def test_members_in_random_order_differ_in_nothing(make, build):
    rows = []
    for split, n in (("train", 400), ("validation", 100), ("test", 300)):
        for at in range(n):
            words = make.sentence(8, 12).split(" ")
            swapped = [*words[:3], words[4], words[3], *words[5:]]
            for label, text in enumerate(make.source.sample([words, swapped], 2)):
                rows.append({"split": split, "pair_id": f"{split}{at}", "label": label, "texts": [" ".join(text)]})
    finding = finding_of(build(rows, perturbation=True, pairs=True), "differences")
    assert finding.interval[0] < 0.5 < finding.interval[1]


def test_a_right_candidate_is_told_from_its_differences_to_the_wrong_ones(make, build):
    rows = make.rows(_N, 3, 4)
    for row in rows:
        words = row["texts"][1 + row["label"]].split(" ")
        row["texts"][1 + row["label"]] = " ".join([*words[:2], "of ruby", *words[2:]])
        row["n_context"] = 1
    assert finding_of(build(rows, shape=Shape.CHOICE, k=3), "differences").measured > 0.95


@pytest.mark.parametrize(
    "write",
    [
        lambda text: text + " ",
        lambda text: " " + text,
        lambda text: text.replace(" ", "  ", 1),
        lambda text: text.replace(" ", "\u00a0", 1),
        lambda text: text.replace(" ", "\t", 1),
        lambda text: text + "\r",
        lambda text: text + "\n",
        lambda text: text.replace(" ", " \u200b", 1),
        lambda text: text.replace(" ", " e\u0301", 1),
        lambda text: text.replace(" ", "\u2009", 1),
        lambda text: text.replace(" ", " Ã©", 1),
        lambda text: text.replace("a", "\u0430", 1),
        lambda text: text.replace(" ", " ‑ ", 1),
    ],
    ids=[
        "trailing",
        "leading",
        "double",
        "no-break",
        "tab",
        "return",
        "line-end",
        "zero-width",
        "decomposed",
        "thin",
        "encoding",
        "homoglyph",
        "hyphen",
    ],
)
def test_how_a_text_is_written(make, build, write):
    """What no solver of words sees, and every tokeniser."""
    rows = make.rows(400, 2, 1)
    for row in rows:
        if row["label"]:
            row["texts"] = [write(row["texts"][0])]
    finding = finding_of(build(rows), "surface")
    assert finding.status is Status.ABOVE
    assert finding.measured > 0.9


def test_one_side_of_a_pair_is_written_in_another_way(make, build):
    rows = make.rows(400, 2, 2)
    for row in rows:
        row["texts"][row["label"]] += " "
    assert finding_of(build(rows, shape=Shape.PAIR), "surface").measured == 1.0


def test_the_right_candidate_is_written_in_another_way(make, build):
    rows = make.rows(400, 2, 3)
    for row in rows:
        row["texts"][1 + row["label"]] += " "
        row["n_context"] = 1
    assert finding_of(build(rows, shape=Shape.CHOICE), "surface").measured == 1.0


def test_text_of_many_classes_without_capitals_and_marks(make, build):
    rows = [row | {"texts": [re.sub("[^a-z ]", "", row["texts"][0].lower())]} for row in make.rows(900, 60, 1)]
    for check in ("case", "punctuation"):
        assert finding_of(build(rows, k=60), check).gain <= 0.02


def test_text_that_is_written_in_one_way_has_no_surface(make, build):
    finding = finding_of(build(make.rows(400, 2, 2), shape=Shape.PAIR), "surface")
    assert finding.measured == finding.baseline == 0.5


def _with_column(make, value_of, n=600):
    rows = make.rows(n, 2, 1)
    for at, row in enumerate(rows):
        row["metadata"] = [{"name": "note", "value": "–"}, {"name": "column", "value": value_of(row["label"], at)}]
    return rows


@pytest.mark.parametrize(
    "value_of",
    [
        lambda label, at: f"{'pq'[label]}{at * 7919 % 10_007:06}",
        lambda label, at: ["news", "web"][label] if at % 3 else "forum",
        lambda label, at: f"{at * 7919 % 10_007 / 10_007 + label:.3f}",
        lambda label, at: f"20{10 + 5 * label + at % 5}-{1 + at % 12:02}-{1 + at % 28:02}",
        lambda label, at: str(2 * (at * 7919 % 10_007) + label),
        lambda label, at: None if label or at % 3 else "x",
    ],
    ids=["id", "category", "number", "date", "odd", "missing"],
)
def test_a_column_beside_the_text_tells_the_label(make, build, value_of):
    data = msgspec.structs.replace(build(_with_column(make, value_of)), perturbation=True)
    finding = finding_of(data, "metadata")
    assert (finding.status, finding.detail) == (Status.ABOVE, "column")
    assert finding.measured > 0.65
    assert finding_of(msgspec.structs.replace(data, external=True), "metadata").status is Status.NOTED


def test_the_document_of_a_text_that_nobody_edited_may_tell_its_label(make, build):
    """Reports are in the past tense: that is no fault of a task on tenses."""
    data = build(_with_column(make, lambda label, at: f"{['report', 'advice'][label]}-{at % 5}"))
    finding = finding_of(data, "metadata")
    assert (finding.status, finding.measured) == (Status.NOTED, 1.0)


def test_a_column_that_names_the_labels_is_no_shortcut(make, build):
    assert finding_of(build(_with_column(make, lambda label, _: ["no", "yes"][label])), "metadata").measured is None


def test_a_column_that_says_nothing(make, build):
    finding = finding_of(build(_with_column(make, lambda _, at: str(at * 7919 % 10_007))), "metadata")
    assert finding.interval[0] < 0.5 < finding.interval[1]


@pytest.mark.parametrize(
    "label_of",
    [
        lambda place, *_: place % 3 == 0,
        lambda place, *_: place // 25 % 2,
        lambda place, n, source: source.random() < place / n,
        lambda place, n, source: place >= n / 2 if source.random() < 0.5 else source.random() < 0.5,
    ],
    ids=["period", "blocks", "drift", "sorted"],
)
def test_the_number_of_a_row_tells_its_label(make, build, label_of):
    rows, places = make.rows(_N, 2, 1), {"train": 0, "validation": 0, "test": 0}
    sizes = {split: sum(row["split"] == split for row in rows) for split in places}
    for row in rows:
        row["label"] = int(label_of(places[row["split"]], sizes[row["split"]], make.source))
        places[row["split"]] += 1
    finding = finding_of(build(rows), "row-order")
    assert finding.status is Status.ABOVE
    assert finding.measured > 0.65


def test_rows_in_random_order_have_no_order(make, build):
    finding = finding_of(build(make.rows(_N, 2, 1)), "row-order")
    assert finding.interval[0] < 0.5 < finding.interval[1]


def test_the_right_choice_is_mostly_the_first(make, build):
    rows = make.rows(_N, 2, 3)
    for row in rows:
        row["n_context"] = 1
        row["label"] = int(make.source.random() < 0.3)
    finding = finding_of(build(rows, shape=Shape.CHOICE), "position")
    assert (finding.status, finding.baseline) == (Status.ABOVE, 0.5)
    assert finding.measured > 0.65


def test_rows_that_are_labelled_wrongly_are_named(make, build):
    """Two topics of forty words each; one label of twenty is wrong. At least half of the rows that are named are."""
    rows, topics = make.rows(2000, 2, 1), (make.vocabulary[100:140], make.vocabulary[200:240])
    wrong = set(make.source.sample(range(len(rows)), len(rows) // 20))
    for at, row in enumerate(rows):
        row |= {
            "id": f"row{at}",
            "texts": [f"{row['texts'][0]} {' '.join(make.source.sample(topics[row['label']], 4))}"],
        }
        row["label"] = 1 - row["label"] if at in wrong else row["label"]
    notes = report_of(build(rows, external=True)).notes
    (note,) = (note for note in notes if note.startswith("doubtful labels"))
    named = {int(number) for number in re.findall(r"row(\d+): label", note)}
    assert len(named) >= 10
    doubtful = rows_of(build(rows, external=True), "doubtful-labels")["id"].to_list()
    assert named == {int(row[3:]) for row in doubtful[:20]}
    assert f"doubtful labels: {len(doubtful)} of " in note
    assert ("--rows doubtful-labels has all" in note) == (len(doubtful) > 20)
    assert len(named & wrong) >= len(named) / 2
    assert not any(note.startswith("doubtful") for note in report_of(build(rows)).notes)  # labels of discoprobe's


def test_labels_by_lot_are_not_doubted(make, build):
    notes = report_of(build(make.rows(2000, 2, 1), external=True)).notes
    assert not [note for note in notes if note.startswith("doubtful")]


def _mirrored_pairs(make, n):
    """Pairs whose members have the same words in the other order, so that their lengths are equal."""
    for at in range(n):
        split, text = ("train", "train", "validation", "test")[at % 4], make.sentence()
        for label, words in enumerate((text, " ".join(reversed(text.split(" "))))):
            yield {"split": split, "pair_id": f"{at}", "label": label, "texts": [words], "group": f"{split} {at // 20}"}


def test_a_rule_that_decides_nothing_is_not_measured(make, build):
    """Ties of all pairs of five documents were an accuracy of .5 in five answers: open, whatever the number of rows."""
    data = build(list(_mirrored_pairs(make, 400)), pairs=True, perturbation=True)
    with mock.patch.dict(SOLVERS, {"length": SOLVERS["length"]}, clear=True):
        finding = finding_of(data, "pairwise")
    assert (finding.status, finding.measured) == (Status.UNMEASURED, None)
    assert finding.detail == "all of 400 answers are ties"


def test_a_solver_that_ties_is_not_the_best_of_several():
    ties, answers = (
        Score(np.array(correct), np.zeros(4), np.array(list("abcd")), (np.arange(4),))
        for correct in ([0.5] * 4, [1.0, 0.0, 0.0, 0.0])
    )
    best = best_of({"ties": ties, "answers": answers})
    assert (best.detail, best.tries, best.tried) == ("answers", 1, {"ties": 0.5, "answers": 0.25})


@pytest.mark.parametrize("share", [0.05, 0.3])
def test_a_tie_is_no_evidence_either_way(share):
    """Of pairs that are nearly all ties, the interval is narrower than of guesses, and misses ½ as rarely."""
    source, missed, widths = np.random.default_rng(0), 0, []
    for _ in range(1000):
        decided = source.random(400) < share
        correct = np.where(decided, source.integers(0, 2, 400), 0.5).astype(np.float64)
        low, high = Score(correct, correct, np.arange(400).astype(object), (np.arange(400),)).interval
        missed += not low <= 0.5 <= high
        widths.append(high - low)
    assert missed <= 50 + 3 * 50**0.5
    assert np.mean(widths) < 1.15 * share**0.5 * 2 * 1.96 * 0.5 / 400**0.5


@pytest.fixture
def shorter_in_pairs(build, make):
    """2,500 pairs of which the edited member is one word shorter in .56, so that the 500 of test cannot tell .60."""
    rows = []
    for at in range(2500):
        words, lost = make.sentence(8, 30).split(" "), int(make.source.random() < 0.56)
        split = ("train", "train", "train", "validation", "test")[at % 5]
        for label in (0, 1):
            texts = [" ".join([*words[:2], *words[2 + (label == lost) :]])]
            rows.append({"split": split, "pair_id": f"{at}", "label": label, "texts": texts})
    return build(rows, pairs=True, perturbation=True)


def test_all_rows_decide_what_test_leaves_open(shorter_in_pairs):
    fitted = Counter()

    def counted(name, solver):
        def solve(bench):
            fitted[name] += 1
            return solver(bench)

        return solve

    kept = {name: counted(name, SOLVERS[name]) for name in ("length", "case", "punctuation")}
    with mock.patch.dict(SOLVERS, kept, clear=True):
        report = audit(shorter_in_pairs)
    finding = report.finding("pairwise")
    assert (finding.n, finding.status) == (2500, Status.BELOW)
    assert set(finding.tried) == set(kept)
    assert report.finding("case").n == 1000
    assert fitted == {"length": 2, "case": 1, "punctuation": 1}
    assert "test left pairwise open: cross-validated over all rows" in report.notes
    assert report.measured_on == "test"


def test_no_group_is_learned_from_and_measured_over_all_rows(make, build):
    """Groups that are in several splits are left out where they are measured."""
    rows = [row | {"group": f"g{at % 5000}"} for at, row in enumerate(make.rows(6000, 2, 1))]
    data = build(rows)
    first, _ = problem_of(data)
    problem, _ = problem_of(data, all_rows=True)
    assert (len(first.folds), len(problem.folds)) == (1, 3)
    assert len(problem.measured_rows) == 3333 + 1200 + 1200
    groups = problem.clusterings[-1]
    assert not any(set(groups[fold.train]) & set(groups[fold.test]) for fold in problem.folds)


@pytest.mark.parametrize(("n", "folds", "measured"), [(1000, 5, 1000), (6000, 5, 6000), (12_000, 1, 2400)])
def test_rows_of_one_split_are_all_measured(make, build, n, folds, measured):
    """Of 10,000 rows on a fifth is enough, as it is 2,000."""
    rows = [{"split": "test", "label": label, "texts": [make.sentence(6, 8)]} for label in make.labels(n, 2)]
    problem, note = problem_of(build(rows))
    assert (len(problem.folds), len(problem.measured_rows)) == (folds, measured)
    assert ("cross-validated" in note) == (folds == 5)


@pytest.mark.parametrize(
    ("n_train", "n_test", "folds", "measured"), [(160, 1200, 5, 1360), (700, 1200, 2, 1900), (1000, 3000, 1, 3000)]
)
def test_few_rows_to_learn_from_decide_nothing_alone(make, build, n_train, n_test, folds, measured):
    """A solver that learns from 160 rows finds little, so that it would be below whatever there is to find."""
    rows = [
        {"split": split, "label": label, "texts": [make.sentence(6, 8)]}
        for split, n in {"train": n_train, "test": n_test}.items()
        for label in make.labels(n, 2)
    ]
    problem, _ = problem_of(build(rows))
    assert (len(problem.folds), len(problem.measured_rows)) == (folds, measured)
    assert max(len(fold.train) for fold in problem.folds) >= 1000


def test_what_few_training_rows_hide_is_found(make, build):
    """One of 40 words in each text of a label, one of 40 others in each text of the other one."""
    marks = [[f"{letter}{at}q" for at in range(40)] for letter in "xy"]

    def row(split, label):
        words = make.sentence(6, 8).split(" ")
        mark = make.source.choice(marks[label])
        return {"split": split, "label": label, "texts": [" ".join([*words[:2], mark, *words[2:]])]}

    rows = [row(split, label) for split, n in (("train", 40), ("test", 1200)) for label in make.labels(n, 2)]
    assert finding_of(build(rows), "words").measured > 0.9
