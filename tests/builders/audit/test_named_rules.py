"""The heuristics of Iazykova et al. (2021) on Russian SuperGLUE, each planted in a set of its own.

Their notebooks read pairs of texts (TERRa, RCB, LiDiRus), questions beside a passage (DaNetQA, MuSeRC) and choices
after a premise (PARus). All sets have invented words, so that nothing else tells the label.
"""

from __future__ import annotations

import random
import re

import pytest
from audit_parts import finding_of, heuristics_of

from discoprobe.builders import Shape
from discoprobe.builders.audit import audit
from discoprobe.builders.audit.inputs import read

_N = 900


def _words(make, n):
    return make.source.choices(make.vocabulary[20:], k=n)


def _pair(make, first=10, second=6):
    return [_words(make, first), _words(make, second)]


def _insert(make, words, word):
    """A word inside a text, neither first nor last."""
    words.insert(make.source.randint(1, len(words) - 1), word)
    return words


def _is_part(make, *, label):
    """RCB, ``full_match``: the hypothesis is in the premise."""
    premise = _words(make, 12)
    if label:
        return [premise, premise[3:9]]
    return [premise, make.source.sample(premise[3:9], 6)]  # the same words, so that only their order tells


def _all_words(make, *, label):
    """RCB, ``contains_all``; LiDiRus, "all lemmas overlap"; MuSeRC, "total overlap"."""
    premise = _words(make, 12)
    hypothesis = make.source.sample(premise, 6)
    return [premise, hypothesis if label else [*hypothesis[:-1], *_words(make, 1)]]


def _no_common_word(make, *, label):
    """MuSeRC, "no overlap"."""
    premise, hypothesis = _pair(make)
    return [premise, hypothesis if label else [premise[make.source.randrange(10)], *hypothesis[1:]]]


def _many_common_words(make, *, label):
    """MuSeRC, "much overlap": more than six words of the answer are in the passage."""
    passage, answer = _pair(make, 30, 14)
    n = make.source.randint(7, 9) if label else make.source.randint(0, 6)
    return [passage, [*make.source.sample(passage, n), *answer[n:]]]


def _little_overlap(make, *, label):
    """LiDiRus, "little overlap": more than ten words are in one of the two texts only."""
    common = _words(make, make.source.randint(2, 14))  # so that neither these nor all words tell the label
    n = make.source.randint(11, 16) if label else make.source.randint(2, 10)
    own = _words(make, n)
    at = make.source.randint(0, n)
    return [[*common, *own[:at]], [*common, *own[at:]]]


def _word_of_one_text(make, *, label):
    """RCB and TERRa: a word in the hypothesis; the same word says nothing in the premise."""
    premise, hypothesis = _pair(make)
    premise = _insert(make, premise, "можно") if make.source.random() < 0.5 else premise
    return [premise, _insert(make, hypothesis, "можно") if label else hypothesis]


def _word_of_premise(make, *, label):
    """RCB, ``find_word_prem``."""
    premise, hypothesis = _pair(make)
    hypothesis = _insert(make, hypothesis, "если") if make.source.random() < 0.5 else hypothesis
    return [_insert(make, premise, "если") if label else premise, hypothesis]


def _negation_of_one(make, *, label):
    """RCB and LiDiRus: a negation that only one of the texts has; in both or none it says nothing."""
    premise, hypothesis = _pair(make)
    both = not label and make.source.random() < 0.5
    return [_insert(make, premise, "не") if both else premise,
            _insert(make, hypothesis, "не") if both or label else hypothesis]  # fmt: skip


def _word_of_both(make, *, label):
    """LiDiRus, ``e_words``: a word that both texts have; in one of them it says nothing."""
    premise, hypothesis = _pair(make)
    first, second = (True, True) if label else make.source.choice([(True, False), (False, True), (False, False)])
    return [_insert(make, premise, "всегда") if first else premise,
            _insert(make, hypothesis, "всегда") if second else hypothesis]  # fmt: skip


def _question_begins(make, *, label):
    """DaNetQA: a question that begins with *Есть*; elsewhere the word says nothing."""
    question, passage = _pair(make, 6, 14)
    return [["Есть", *question] if label else [*question, "Есть", "ли"], passage]


def _question_has(make, *, label):
    """DaNetQA: the particle *ли* in the question."""
    question, passage = _pair(make, 6, 14)
    question[2:2] = ["ли"] if label else []
    return [question, _insert(make, passage, "ли") if make.source.random() < 0.5 else passage]


def _two_words(make, *, label):
    """DaNetQA: a question that has *входит ли*, where each of the two words says nothing."""
    question, passage = _pair(make, 6, 14)
    question[2:2] = ["входит", "ли"] if label else ["ли", "входит"]
    return [question, passage]


def _last_word(make, *, label):
    texts = _pair(make)
    texts[1] = [*texts[1], "тоже"] if label else ["и", "тоже", *texts[1]]
    return texts


def _short_answer(make, *, label):
    """MuSeRC, "short answer": fewer than four words."""
    return _pair(make, 20, make.source.randint(1, 3) if label else make.source.randint(4, 12))


def _long_answer(make, *, label):
    """MuSeRC, "long answer": more than eleven words."""
    return _pair(make, 20, make.source.randint(12, 20) if label else make.source.randint(1, 11))


def _long_text(make, *, label):
    """TERRa: the number of words of the premise, here of a single text."""
    return [_words(make, make.source.randint(30, 50) if label else make.source.randint(8, 29))]


def _longer(make, *, label):
    """The first text has more words than the second; the lengths of both are the same in both classes."""
    short = make.source.randint(4, 30)
    lengths = (short + make.source.randint(1, 4), short)
    return [_words(make, n) for n in (lengths if label else lengths[::-1])]


def _much_longer(make, *, label):
    """The difference of the two lengths is at least five words."""
    short = make.source.randint(4, 40)
    return [
        _words(make, short + (make.source.randint(5, 8) if label else make.source.randint(0, 4))),
        _words(make, short),
    ]


def _odd(make, *, label):
    """RWSD, "odd length"."""
    return [_words(make, 2 * make.source.randint(4, 12) + label)]


def _comma(make, *, label):
    """An extra clause: a comma in the hypothesis."""
    premise, hypothesis = _pair(make)
    if make.source.random() < 0.5:
        premise[3] += ","
    hypothesis[2] += "," * label
    return [premise, hypothesis]


def _commas(make, *, label):
    """LiDiRus, "extra clause": more than one comma."""
    text = _words(make, 16)
    for at in make.source.sample(range(15), make.source.randint(2, 4) if label else make.source.randint(0, 1)):
        text[at] += ","
    return [text]


def _question_mark(make, *, label):
    texts = _pair(make)
    texts[0][-1] += "?" if label else "."
    texts[1][-1] += make.source.choice("?.")
    return texts


def _number(make, *, label):
    text = _words(make, 10)
    text[4:5] = [str(make.source.randint(1000, 9999))] if label else text[4:5]
    return [text]


def _same_first_word(make, *, label):
    premise, hypothesis = _pair(make)
    place = 0 if label else make.source.randint(1, 5)
    return [premise, [*hypothesis[:place], premise[0], *hypothesis[place:]]]


PLANTED = {
    _is_part: "text 2 is a part of text 1",
    _all_words: "all words of text 2 are in text 1",
    _no_common_word: "the texts have no word in common",
    _many_common_words: "the texts have at least 7 words in common",
    _little_overlap: "at least 11 words are in one of the texts only",
    _word_of_one_text: "'можно' is in text 2",
    _word_of_premise: "'если' is in text 1",
    _negation_of_one: "'не' is in text 2 and not in text 1",
    _word_of_both: "'всегда' is in both texts",
    _question_begins: "'Есть' is the first word of text 1",
    _question_has: "'ли' is in text 1",
    _two_words: "'входит ли' occurs",
    _last_word: "'тоже' is the last word of text 2",
    _short_answer: "text 2 has at most 3 words",
    _long_answer: "text 2 has at least 12 words",
    _long_text: "the text has at least 3[0-2] words",
    _longer: "text 1 has more words than text 2",
    _much_longer: "text 1 has at least 5 words more than text 2",
    _odd: "the text has an odd number of words",
    _comma: "text 2 has a comma",
    _commas: "the text has at least 2 commas",
    _question_mark: "text 1 has a question mark",
    _number: "the text has a number",
    _same_first_word: "the texts have the same first word",
}
"""What a set is made by → the rule that is printed first. Thresholds of more than 20 values are quantiles by .05."""


def _set_of(make, build, text_of, *, share=0.9, k=2):
    """Rows in which the rule is right in ``share`` of the rows that have its label."""
    rows = make.rows(_N, k, 1)
    for row in rows:
        texts = text_of(make, label=int(row["label"] == 1 and make.source.random() < share))
        row["texts"] = [" ".join(words) for words in texts]
    shape = Shape.PAIR if len(rows[0]["texts"]) > 1 else Shape.SENTENCE
    return build(rows, shape=shape, k=k)


@pytest.mark.parametrize("text_of", PLANTED, ids=lambda text_of: text_of.__name__.strip("_"))
def test_a_heuristic_of_the_paper_is_named_as_a_person_would(make, build, text_of):
    rules = heuristics_of(_set_of(make, build, text_of)).rules
    assert re.fullmatch(PLANTED[text_of], rules[0].condition), rules[0].condition
    assert rules[0].label == "label1"
    assert rules[0].correct > 0.97
    assert rules[0].interval[0] > 0.9


@pytest.mark.parametrize(
    ("plant", "name"),
    [
        ("longest", "the choice has the most words"),
        ("shared", "the choice has the most words in common with the context"),
        ("word", "'не' occurs"),
    ],
)
def test_a_heuristic_about_choices(make, build, plant, name):
    """PARus: which of the choices has more words in common with the premise; a word; the length."""
    rows = make.rows(_N, 2, 2)
    for row in rows:
        n, context = make.source.randint(5, 30), _words(make, 12)
        choices = []
        for place in range(2):
            right = place == row["label"] and make.source.random() < 0.9
            words = _words(make, n)
            if plant == "longest":
                words += _words(make, right)
            elif plant == "shared":
                common = make.source.randint(0, 2)
                words = [*make.source.sample(context, common + 2 if right else common), *words]
                words = words[: max(n, 5)]
            elif right:
                words[2:2] = ["не"]
                words = words[:n]
            choices.append(" ".join(words))
        row |= {"texts": [" ".join(context), *choices], "n_context": 1}
    rule = heuristics_of(build(rows, shape=Shape.CHOICE)).rules[0]
    assert (rule.condition, rule.label) == (name, "right")


def test_the_label_share_is_no_rule(make, build):
    """RCB: the classes have different shares, which guessing knows; no rule is printed."""
    rows = make.rows(_N, 2, 2)
    for row in rows:
        row["label"] = int(make.source.random() < 0.2)
    heuristics = heuristics_of(build(rows, shape=Shape.PAIR, natural=True))
    assert not heuristics.rules
    assert heuristics.fallbacks[0].accuracy == pytest.approx(0.8, abs=0.06)


_LOTS = {"single": (Shape.SENTENCE, 1, 2), "pair": (Shape.PAIR, 2, 3), "passage": (Shape.SEQUENCE, 4, 2)}


@pytest.mark.parametrize("kind", _LOTS)
def test_on_labels_by_lot_one_report_of_twenty_has_a_rule(maker, build, kind):
    shape, n_texts, k = _LOTS[kind]
    reports = []
    for seed in range(20):
        make = maker(seed)
        reports.append(heuristics_of(build(make.rows(400, k, n_texts), shape=shape, k=k)))
    assert sum(bool(report.rules) for report in reports) <= 1


def test_on_documents_with_labels_by_lot_no_word_of_a_document_is_a_rule(maker, build):
    """A word of one document holds in all its rows, which have one label: that is one observation."""
    n_rules = 0
    for seed in range(10):
        make, rows = maker(seed), []
        source = random.Random(seed)
        for document in range(40):
            split = "train" if document < 24 else "validation" if document < 32 else "test"
            label, word = source.randint(0, 1), f"тема{document % 8}"
            rows += [
                {"split": split, "label": label, "texts": [f"{word} {make.sentence()}"], "group": f"{document}"}
                for _ in range(20)
            ]
        n_rules += bool(heuristics_of(build(rows, natural=True)).rules)
    assert n_rules <= 1


def test_what_a_person_reads_of_the_best_token_is_empty_on_labels_by_lot(maker):
    details = [finding_of(maker(seed).data(600), "token").detail for seed in range(20)]
    assert sum(map(bool, details)) <= 1


def test_texts_to_which_no_condition_applies_have_no_rules(tmp_path):
    """Texts of a number each, all different."""
    path = tmp_path / "codes.csv"
    path.write_text("text,label\n" + "".join(f"{n:03},{'ab'[n % 3 == 2]}\n" for n in range(30)), encoding="utf-8")
    (data,), _ = read(path)
    heuristics = audit(data).heuristics
    assert (heuristics.rules, heuristics.shifted, heuristics.coverage) == ((), (), 0.0)
