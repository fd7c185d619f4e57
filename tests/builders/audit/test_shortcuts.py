"""Every solver finds its planted shortcut, and nothing in data without it."""

from __future__ import annotations

import polars as pl
import pytest
from audit_parts import finding_of, finding_with_words

from discoprobe.builders import Shape
from discoprobe.builders.audit import CHECKS, Severity, Status, audit
from discoprobe.builders.audit.solvers import SOLVERS

_N = 1500


def _finding(data, check):
    return finding_of(data, check)


def _found(data, check, at_least):
    finding = _finding(data, check)
    assert finding.status is Status.ABOVE
    assert finding.measured >= at_least
    assert finding.interval[0] > finding.threshold
    assert 0 < len(finding.rows) <= 20
    assert set(finding.rows) <= set(data.rows["id"])
    return finding


def _stays_within(data, check):
    finding = _finding(data, check)
    assert finding.status is Status.BELOW
    assert finding.interval[1] <= finding.threshold + 0.05


def _planted(make, change, *, texts=1, k=2, n=_N):
    """Rows of which ``change(row)`` may alter the texts."""
    rows = make.rows(n, k, texts)
    for row in rows:
        change(row)
    return rows


@pytest.fixture(scope="module")
def clean(maker):
    """Reports of clean data, by shape."""
    make = maker(11)
    return {
        "sentence": audit(make.data(_N, perturbation=True)),
        "pair": audit(make.data(_N, shape=Shape.PAIR, texts=2)),
        "choice": audit(make.data(_N, shape=Shape.CHOICE, texts=2)),
    }


@pytest.mark.parametrize("shape", ["sentence", "pair", "choice"])
def test_clean_data_hold_no_shortcut(clean, shape):
    report = clean[shape]
    assert not report.failed
    measured = [f for f in report.findings if f.kind == "shortcut" and f.measured is not None]
    assert len(measured) >= 6
    assert report.strongest.gain < 0.07


def test_longer_sentences_have_the_label(make, build):
    def change(row):
        row["texts"] = [make.sentence(6, 12) if row["label"] else make.sentence(9, 15)]

    finding = _found(build(_planted(make, change)), "length", 0.65)
    assert finding.severity is Severity.ERROR


@pytest.mark.slow
def test_the_longest_text_of_a_row_has_the_label(make, build):
    def change(row):
        row["texts"][row["label"]] = make.sentence(25, 30)

    _found(build(_planted(make, change, texts=3, k=3), shape=Shape.SEQUENCE, k=3), "length", 0.95)


def test_first_word_gives_the_label(make, build):
    """X-Probe CoordInv: "Was" begins 676 inverted sentences and 6 original ones."""

    def change(row):
        if row["label"] and make.source.random() < 0.3:
            row["texts"] = ["Was " + row["texts"][0]]

    finding = _found(build(_planted(make, change), perturbation=True), "token", 0.6)
    assert finding.detail.startswith("'Was' is the first word → label1: covers 0.1")
    assert finding.detail.endswith("right 1.000")


def test_a_token_of_a_classification_task_is_noted(make, build):
    def change(row):
        row["texts"] = [("Was " if row["label"] else "Is ") + row["texts"][0]]

    finding = _finding(build(_planted(make, change, n=500)), "token")
    assert (finding.status, finding.severity, finding.measured) == (Status.NOTED, Severity.NOTE, 1.0)


def test_a_dash_gives_the_label(make, build):
    """RuSentEval gapping: "contains a dash" is right in .845."""

    def change(row):
        if make.source.random() < (0.46 if row["label"] else 0.05):
            row["texts"] = [row["texts"][0].replace(" ", " — ", 1)]

    data = build(_planted(make, change), perturbation=True)
    _found(data, "punctuation", 0.65)
    assert _finding(data, "token").detail.startswith("'—' occurs → label1")


def test_capitals_give_the_label(make, build):
    """X-Probe BigramShift: a lower-case word and a capital at the start."""

    def change(row):
        first, second, *rest = row["texts"][0].split(" ")
        if row["label"] and make.source.random() < 0.3:
            row["texts"] = [" ".join([second, first, *rest])]

    _found(build(_planted(make, change), perturbation=True), "case", 0.6)


def test_an_ending_gives_the_label(make, build):
    """A perturbation that always adds the same suffix is told from the string."""

    def change(row):
        words = row["texts"][0].split(" ")
        if row["label"]:
            words[2] += "qwx"
        row["texts"] = [" ".join(words)]

    rows = _planted(make, change)
    _found(build(rows, perturbation=True), "chars", 0.93)
    finding = _finding(build(rows), "chars")
    assert (finding.status, finding.threshold) == (Status.NOTED, None)


def test_distractors_are_off_topic(make, build):
    """DiscoEval DC on Wikipedia: lexical overlap alone is right in .71."""

    def change(row):
        topic = [make.sentence(1, 1).strip(".?!").lower() + "ism" for _ in range(3)]
        row["texts"] = [f"{text[:-1]} {make.source.choice(topic)}." for text in row["texts"]]
        if row["label"]:
            row["texts"][3] = make.sentence(7, 21)

    _found(build(_planted(make, change, texts=5), shape=Shape.SEQUENCE), "overlap", 0.75)


def test_the_right_choice_is_most_like_the_context(make, build):
    """Koto et al.: 4-way next sentence by character TF-IDF cosine, .85-.94."""
    rows = make.rows(_N, 4, 4)
    for row in rows:
        context = make.sentence(20, 25)
        words = context[:-1].split(" ")
        row["texts"][row["label"]] += " " + " ".join(make.source.sample(words, 4))
        row |= {"texts": [context, *row["texts"]], "n_context": 1}
    finding = _found(build(rows, shape=Shape.CHOICE, k=4), "overlap", 0.7)
    assert finding.baseline == 0.25


def test_one_text_alone_gives_the_label(make, build):
    """DiscoEval SP: the sentence that was moved to the front."""

    def change(row):
        if make.source.random() < 0.7:
            row["texts"][1] = ["He", "She"][row["label"]] + " " + row["texts"][1]

    finding = _found(build(_planted(make, change, texts=3), shape=Shape.SEQUENCE), "single", 0.75)
    assert finding.detail in {"characters of text 2", "words of text 2"}


def test_the_candidate_without_its_context_gives_the_label(make, build):
    rows = make.rows(_N, 2, 2)
    for row in rows:
        row["texts"][row["label"]] = "So " + row["texts"][row["label"]]
        row |= {"texts": [make.sentence(), *row["texts"]], "n_context": 1}
    assert _found(build(rows, shape=Shape.CHOICE), "single", 0.95).baseline == 0.5


def test_distractors_come_from_train(make, build):
    """Spanish DC gdd: distractors were drawn from a pool that ignores splits, .76-.78."""
    rows = make.rows(5000, 2, 4)
    pool = [row["texts"][0] for row in rows if row["split"] == "train"]
    for row in rows:
        if row["split"] == "test" and row["label"] and make.source.random() < 0.6:
            row["texts"][2] = make.source.choice(pool)
    data = build(rows, shape=Shape.SEQUENCE)
    finding = _found(data, "seen", 0.75)
    assert finding.detail.endswith("→ label1")
    assert _finding(data, "sentence-leak").status is Status.ABOVE


def test_nothing_seen_in_train_passes_on_any_number_of_rows(make):
    finding = _finding(make.data(60), "seen")
    assert (finding.status, finding.measured) == (Status.BELOW, finding.baseline)


def test_minimal_pairs_in_one_direction(make, build):
    """RuBLiMP add_new_suffix: the longer member is always wrong."""
    rows = []
    for row in make.rows(_N, 2, 1):
        pair = [row["texts"][0], row["texts"][0].replace(" ", "ov ", 1)]
        rows.append(row | {"texts": pair if row["label"] == 0 else pair[::-1]})
    data = build(rows, shape=Shape.CHOICE, perturbation=True)
    _found(data, "length", 0.95)
    _found(data, "chars", 0.9)


def test_minimal_pairs_in_both_directions(make, build):
    rows = []
    for at, row in enumerate(make.rows(_N, 2, 1)):
        pair = [row["texts"][0], row["texts"][0].replace(" ", "ov ", 1)][:: 1 if at % 2 else -1]
        rows.append(row | {"texts": pair if row["label"] == 0 else pair[::-1]})
    finding = _finding(build(rows, shape=Shape.CHOICE, perturbation=True), "length")
    assert finding.interval[0] < 0.5 < finding.interval[1]


def test_rows_of_a_pair_are_compared(make, build):
    """Two rows with one pair_id are a pair too: original and perturbed."""
    rows = []
    for split, n in (("train", 400), ("validation", 100), ("test", 400)):
        for at in range(n):
            text = make.sentence()
            rows += [
                {"split": split, "pair_id": f"{split}{at}", "label": label, "texts": [text + " x" * label]}
                for label in (0, 1)
            ]
    finding = _found(build(rows, pairs=True), "pairwise", 1.0)
    assert (finding.n, finding.baseline, finding.threshold) == (900, 0.5, 0.6)
    assert finding.tried["length"] == 1.0


@pytest.mark.parametrize("share", [0.4, 0.6])
def test_the_length_of_a_member_is_seen_inside_pairs(make, build, share):
    """Texts of three to sixty words, of which one member often lacks a word: length shows it only inside pairs."""
    rows = []
    for at in range(750):
        n, shorter = make.source.randint(3, 60), int(make.source.random() < (1 + share) / 2)
        split = ("train", "train", "train", "validation", "test")[at % 5]
        for label in (0, 1):
            texts = [" ".join(make.source.choices(make.vocabulary, k=n - (label == shorter)))]
            rows.append({"split": split, "pair_id": f"{at}", "label": label, "texts": texts})
    data = build(rows, pairs=True, perturbation=True)
    finding = _finding(data, "pairwise")
    assert (finding.status, finding.detail) == (Status.ABOVE, "length")
    assert finding.measured == pytest.approx((1 + share) / 2, abs=0.05)
    assert _finding(data, "length").status is not Status.ABOVE


def test_pairs_in_both_orders_say_nothing_by_length(make, build):
    """Both orders of two sentences have the same length: ties are lots."""
    rows = []
    for split, n in (("train", 300), ("test", 300)):
        for at in range(n):
            texts = [make.sentence(), make.sentence()]
            rows += [
                {"split": split, "pair_id": f"{split}{at}", "label": label, "texts": texts[:: 1 - 2 * label]}
                for label in (0, 1)
            ]
    assert _finding(build(rows, shape=Shape.PAIR, pairs=True), "pairwise").tried["length"] == pytest.approx(
        0.5, abs=0.1
    )


def test_too_few_rows_to_tell(make, build):
    """A shortcut of .64 on a few rows may be chance; on many rows it is not."""

    def change(row):
        if row["label"] and make.source.random() < 0.2:
            row["texts"] = [make.sentence(30, 40)]

    few = _finding(build(_planted(make, change, n=60)), "length")
    assert few.status is Status.OPEN
    assert few.resolution > 0.12
    many = _finding(build(_planted(make, change)), "length")
    assert many.status is Status.ABOVE
    assert many.resolution < 0.04


def test_characters_are_words_in_a_script_without_spaces(make, build):
    characters = [chr(0x4E00 + at) for at in range(400)]

    def change(row):
        start, end = ("".join(make.source.choices(characters, k=10)) for _ in range(2))
        row["texts"] = [start + ("龜鼎" if row["label"] else "鼎龜") + end + "。"]

    finding = _finding(build(_planted(make, change, n=600), perturbation=True), "token")
    assert finding.status is Status.ABOVE
    assert finding.detail.startswith(("'龜鼎' occurs → label1", "'鼎龜' occurs → label0"))


def test_baselines(make, build):
    rows = make.rows(1000, 2, 1)
    for row in [row for row in rows if row["label"] == 1][:200]:
        row["label"] = 0
    report = audit(build(rows, natural=True))
    majority, prior, chance = report.baselines
    assert (majority.name, prior.name, chance.name) == ("majority", "prior", "random")
    assert majority.accuracy == 0.7 == report.finding("length").baseline
    assert prior.accuracy == pytest.approx(0.5)
    assert chance.accuracy == 0.5
    assert (chance.interval[0], chance.interval[1]) == pytest.approx((0.469, 0.531), abs=1e-3)


def test_data_of_one_split_are_cross_validated_in_five_parts(make, build):
    rows = [row | {"split": "test"} for row in make.rows(1000, 2, 1)]
    for row in rows:
        row["texts"] = [make.sentence(6, 12) if row["label"] else make.sentence(9, 15)]
    report = audit(build(rows))
    assert (report.trained_on, report.measured_on) == ("the other parts", "test")
    assert "five parts of test" in report.notes[0]
    finding = report.finding("length")
    assert (finding.status, finding.n) == (Status.ABOVE, 1000)


def test_data_without_train_learn_from_validation(make, build):
    rows = [row for row in make.rows(1000, 2, 1) if row["split"] != "train"]
    report = audit(build(rows))
    assert (report.trained_on, report.measured_on) == ("the other splits", "validation and test")
    many = audit(build([row for row in make.rows(5000, 2, 1) if row["split"] != "train"]))
    assert (many.trained_on, many.measured_on) == ("validation", "test")
    assert many.notes[0] == "there is no train: solvers learn from validation"


def test_one_label_only_measures_no_shortcut(make, build):
    report = audit(build([row | {"label": 0} for row in make.rows(100, 2, 1)], k=1))
    assert {f.status for f in report.findings if f.kind == "shortcut"} == {Status.UNMEASURED}
    assert report.strongest is None
    assert "no shortcut was measured" in report.notes[0]


def test_the_same_data_give_the_same_report(make, build):
    rows = make.rows(400, 2, 3)
    for at, row in enumerate(sorted(rows, key=lambda row: (row["split"], row["label"]))):
        row["pair_id"] = f"{row['split']}{at % 40}"
    first, *again = (audit(build(rows, shape=Shape.SEQUENCE, pairs=True)).to_json() for _ in range(3))
    assert again == [first, first]


def test_many_labels(make, build):
    """As in word content."""
    rows = make.rows(400, 20, 1)
    for row in rows:
        row["texts"] = [f"{row['texts'][0]} target{row['label']}"]
    report = audit(build(rows, k=20))
    assert report.finding("chars").measured > 0.5
    assert report.finding("chars").status is Status.NOTED


def test_rows_of_different_numbers_of_texts(make, build):
    rows = make.rows(300, 2, 1)
    for at, row in enumerate(rows):
        row["texts"] = [make.sentence() for _ in range(1 + at % 12)]
    report = audit(build(rows, shape=Shape.SEQUENCE))
    assert report.finding("single").measured is not None


def test_the_table_of_solvers_is_the_table_of_thresholds():
    assert [*SOLVERS, "pairwise"] == [check.id for check in CHECKS if check.kind == "shortcut"]


def test_empty_texts_do_no_harm(make, build):
    rows = make.rows(100, 2, 2)
    rows[0]["texts"], rows[99]["texts"] = ["", ""], ["", "…"]
    assert finding_of(build(rows, shape=Shape.PAIR), "overlap").measured is not None
    assert isinstance(build(rows).rows, pl.DataFrame)


def _with_nouns(make, share):
    """Changes texts as German spells: some words always have a capital, and label 1 has more of them."""
    nouns = frozenset(make.vocabulary[5::3])

    def change(row):
        first, *words = row["texts"][0][:-1].replace(",", "").split()
        words = [word for word in words if word not in nouns or not row["label"] or make.source.random() > share]
        words = [word.capitalize() if word in nouns else word for word in words]
        row["texts"] = [" ".join([first, *words]) + row["texts"][0][-1]]

    return change


def test_capitals_that_spelling_asks_for_are_no_shortcut(make, build):
    """Label 1 lacks half of the nouns: what is measured of that are fewer words, not fewer capitals."""
    rows = _planted(make, _with_nouns(make, 0.5), n=6000)
    assert _finding(build(rows), "words").measured > 0.6
    finding = _finding(build(rows), "case")
    assert (finding.status, finding.measured < 0.54) == (Status.BELOW, True)


def test_capitals_of_words_that_are_usually_small_are_a_shortcut(make, build):
    def change(row):
        if row["label"] and make.source.random() < 0.5:
            first, second, *rest = row["texts"][0].split()
            row["texts"] = [" ".join([first, second.capitalize(), *rest])]

    _found(build(_planted(make, change, n=6000)), "case", 0.6)


def test_capitals_of_a_corpus_whose_labels_are_natural_are_only_reported(make, build):
    rows = _planted(make, lambda row: row["label"] and row.update(texts=[row["texts"][0].lower()]))
    assert _finding(build(rows), "case").status is Status.ABOVE
    assert _finding(build(rows, natural=True, external=True), "case").status is Status.ABOVE
    assert _finding(build(rows, natural=True), "case").status is Status.NOTED


def test_a_gain_is_compared_with_what_is_possible(make, build):
    """Of 40 labels a gain of .03 is less than the 4 % of the possible gain that .02 is of two."""
    many, few = (_finding(build(make.rows(400, k, 1), k=k, external=True), "length") for k in (40, 2))
    assert few.threshold == pytest.approx(few.baseline + 0.02, abs=0.001)
    assert many.threshold == pytest.approx(many.baseline + 0.04 * (1 - many.baseline))


@pytest.mark.parametrize(("pairs", "expected"), [(2, Status.UNMEASURED), (60, Status.ABOVE)])
def test_groups_that_are_too_few_measure_nothing(make, build, pairs, expected):
    """Of two documents per split a solver may be right in all rows by chance."""
    rows = []
    for split in ("train", "test"):
        for document in range(pairs):
            label = document % 2
            text = lambda label=label: make.sentence(12, 16) if label else make.sentence(5, 7)  # noqa: E731
            rows += [
                {"split": split, "label": label, "group": f"{split}{document}", "texts": [text()]} for _ in range(40)
            ]
    finding = _finding(build(rows, external=True), "length")
    assert finding.status is expected
    assert finding.measured > 0.9
    assert (expected is Status.ABOVE) or finding.detail.startswith("4 independent groups are too few")


def test_the_cue_of_surface_is_one_that_was_measured(make, build):
    """It is in train and validation only: the rule that is learned from them covers no row of test."""
    rows = make.rows(300, 2, 1)
    for row in rows:
        if row["label"] and row["split"] != "test":
            row["texts"] = [row["texts"][0].replace(" ", "  ", 1)]
    detail = finding_of(build(rows), "surface").detail
    assert detail.startswith("two blanks (U+0020 SPACE) → label1: covers 0.5"), detail
    assert detail.endswith("right 1.000"), detail


@pytest.mark.parametrize(("share", "status"), [(0.9, Status.NOTED), (0.0, Status.ABOVE)])
def test_style_is_no_fault_of_texts_of_others_whose_words_tell_more(make, build, share, status):
    """Praise has longer texts with an exclamation mark; where words tell nothing else, it decides."""

    def change(row):
        if row["label"] and make.source.random() < 0.3:
            row["texts"] = [f"{make.sentence(16, 20)} !"]
        if row["label"] and make.source.random() < share:
            row["texts"] = [f"{make.source.choice(['superb', 'splendid', 'great'])} {row['texts'][0]}"]

    finding = finding_with_words(build(_planted(make, change, n=6000), external=True, natural=True), "punctuation")
    assert finding.status is status
    assert finding.interval[0] > 0.55


def test_style_stays_a_fault_of_edited_texts_and_of_pairs(make, build):
    def change(row):
        if row["label"]:
            row["texts"][0] = ("superb " if make.source.random() < 0.9 else "") + row["texts"][0]
            row["texts"][-1] += " !" if make.source.random() < 0.3 else ""

    for shape, texts, edited in ((Shape.SENTENCE, 1, True), (Shape.PAIR, 2, False)):
        rows = _planted(make, change, texts=texts, n=4000)
        data = build(rows, shape=shape, external=True, natural=True, perturbation=edited)
        assert finding_with_words(data, "punctuation").status is Status.ABOVE
