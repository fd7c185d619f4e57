"""A cue for each solver in so many rows that its threshold is just exceeded; in a quarter of these rows it passes."""

from __future__ import annotations

import pytest
from audit_parts import finding_of

from discoprobe.builders import Shape
from discoprobe.builders.audit import CHECKS, Status

_N = 1500
_ABOVE = 0.1
"""How far above its threshold a solver is at most where the cue is just strong enough."""


def with_token(make, text):
    return "Was " + text[0].lower() + text[1:]


def with_word(make, text):
    first, *words = text.split(" ")
    return " ".join([first, words[0], "opal", *words[1:]])


def with_second_word(make, text):
    first, *words = text.split(" ")
    return " ".join([first, make.source.choice(("opal", "ruby")), *words])


def with_ending(make, text):
    first, second, *words = text.split(" ")
    return " ".join([first, second + "qwx", *words])


def with_dash(make, text):
    return text.replace(" ", " — ", 1)


def with_capital(make, text):
    first, second, *words = text.split(" ")
    return " ".join([first, second.capitalize(), *words])


def with_blank(make, text):
    return text + " "


def longer(make, text):
    return make.sentence(21, 24)


def with_rare_words(make, text):
    """The words of the sentence are of the rarer half."""
    rare = make.vocabulary[len(make.vocabulary) // 2 :]
    return " ".join(make.source.choice(rare) if at % 2 else word for at, word in enumerate(text.split(" ")))


EDITS = {
    "length": (longer, 0.2),
    "token": (with_token, 0.25),
    "chars": (with_ending, 0.45),
    "words": (with_word, 0.46),
    "edges": (with_second_word, 0.4),
    "frequency": (with_rare_words, 0.28),
    "punctuation": (with_dash, 0.25),
    "case": (with_capital, 0.25),
    "surface": (with_blank, 0.25),
}
"""Check → what is done to texts of label 1, and to how many of them."""


def edited(make, build, check, share):
    edit, _ = EDITS[check]
    rows = make.rows(_N, 2, 1)
    for row in rows:
        if row["label"] and make.source.random() < share:
            row["texts"] = [edit(make, row["texts"][0])]
    return build(rows, perturbation=True)


def in_common(make, build, share):
    """The second text repeats two words of the first."""
    rows = make.rows(_N, 2, 2)
    for row in rows:
        if row["label"] and make.source.random() < share:
            first, second = row["texts"]
            row["texts"] = [first, " ".join([*second.split(" ")[:-2], *first.strip(".?!").split(" ")[2:5]]) + "."]
    return build(rows, shape=Shape.PAIR)


def in_one_text(make, build, share):
    """A word of the second text, as negation in the hypothesis of a contradiction."""
    rows = make.rows(_N, 2, 2)
    for row in rows:
        if row["label"] and make.source.random() < share:
            row["texts"][1] = with_word(make, row["texts"][1])
    return build(rows, shape=Shape.PAIR)


def from_train(make, build, share):
    """A sentence of the row is one of another split."""
    rows = make.rows(_N, 2, 2)
    pool = [row["texts"][0] for row in rows if row["split"] == "train"]
    for row in rows:
        if row["split"] != "train" and row["label"] and make.source.random() < share:
            row["texts"][1] = make.source.choice(pool)
    return build(rows, shape=Shape.PAIR)


def in_pairs(make, build, share):
    """A word is lost in the edited member: single rows, of three to sixty words, hide it."""
    rows = []
    for at in range(_N // 2):
        words = make.source.choices(make.vocabulary, k=make.source.randint(3, 60))
        lost = int(make.source.random() < (1 + share) / 2)
        split = ("train", "train", "train", "validation", "test")[at % 5]
        for label in (0, 1):
            texts = [" ".join(words[1:] if label == lost else words)]
            rows.append({"split": split, "pair_id": f"{at}", "label": label, "texts": texts})
    return build(rows, pairs=True, perturbation=True)


def in_differences(make, build, share):
    """Of both members of a pair one word is replaced; that of the edited one often by a word with an ending."""
    rows = []
    for at in range(_N // 2):
        words = make.sentence(10, 20).split(" ")
        split = ("train", "train", "train", "validation", "test")[at % 5]
        for label in (0, 1):
            other = make.source.choice(make.vocabulary) + ("qwx" if label and make.source.random() < share else "")
            texts = [" ".join([*words[:4], other, *words[5:]])]
            rows.append({"split": split, "pair_id": f"{at}", "label": label, "texts": texts})
    return build(rows, pairs=True, perturbation=True)


def in_column(make, build, share):
    """A column beside the text has a value that rows of label 0 never have."""
    rows = make.rows(_N, 2, 1)
    for row in rows:
        told = row["label"] and make.source.random() < share
        row["metadata"] = [{"name": "source", "value": "x" if told else make.source.choice("pq")}]
    return build(rows, perturbation=True)


def in_cues(make, build, share):
    """Of the marked mentions, those of label 1 are often far from each other."""
    rows = make.rows(_N, 2, 1)
    for row in rows:
        told = row["label"] and make.source.random() < share
        row["cues"] = [{"name": "distance", "value": 9.0 if told else float(make.source.randint(1, 8))}]
    return build(rows)


def in_order(make, build, share):
    """Labels alternate with every third row."""
    rows = make.rows(_N, 3, 1)
    for at, row in enumerate(rows):
        row["label"] = int(at % 3 == 0) if make.source.random() < share else make.source.randint(0, 1)
    return build(rows)


def at_first_place(make, build, share):
    """The right choice is often the first."""
    rows = make.rows(_N, 2, 2)
    for row in rows:
        row["label"] = 0 if make.source.random() < share else row["label"]
    return build(rows, shape=Shape.CHOICE)


def in_cosines(make, build, share):
    """The sentences of a passage have a word in common; the edited one often has a sentence that lacks it."""
    rows = []
    for at in range(_N // 2):
        sentences = [f"{make.sentence(7, 21)[:-1]} topic{at}." for _ in range(5)]
        word = "xyzw" if make.source.random() < share else "topic"
        edited = [*sentences[:2], f"{make.sentence(7, 21)[:-1]} {word}{at}.", *sentences[3:]]
        rows += [
            {"split": "test", "pair_id": f"{at}", "label": label, "texts": texts}
            for label, texts in enumerate((sentences, edited))
        ]
    return build(rows, shape=Shape.SEQUENCE, pairs=True)


DATA = {
    **{
        check: (lambda make, build, share, check=check: edited(make, build, check, share), EDITS[check][1])
        for check in EDITS
    },
    "overlap": (in_common, 0.3),
    "similarity": (in_common, 0.3),
    "single": (in_one_text, 0.36),
    "seen": (from_train, 0.36),
    "pairwise": (in_pairs, 0.38),
    "differences": (in_differences, 0.38),
    "metadata": (in_column, 0.25),
    "cues": (in_cues, 0.32),
    "row-order": (in_order, 0.3),
    "position": (at_first_place, 0.25),
    "cosines": (in_cosines, 0.34),
}
"""Check → data with a cue in a share of the rows, and the share that just matters."""


def test_every_solver_with_a_threshold_has_its_cue():
    assert set(DATA) == {check.id for check in CHECKS if check.kind == "shortcut" and check.threshold is not None}


@pytest.mark.parametrize("check", DATA)
def test_a_cue_that_just_matters(make, build, check):
    plant, share = DATA[check]
    finding = finding_of(plant(make, build, share), check)
    assert finding.status is Status.ABOVE
    assert finding.threshold < finding.measured < finding.threshold + _ABOVE


@pytest.mark.parametrize("check", DATA)
def test_a_quarter_of_it_passes(make, build, check):
    plant, share = DATA[check]
    assert finding_of(plant(make, build, share / 4), check).status is not Status.ABOVE
