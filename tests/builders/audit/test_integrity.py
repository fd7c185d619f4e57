"""Every integrity check finds its planted defect with the right rows, and nothing in the repaired data."""

from __future__ import annotations

import random
import unicodedata
from collections import Counter

import msgspec
import pytest
from audit_parts import finding_of
from scipy.stats import hypergeom

from discoprobe.auditing import judged
from discoprobe.builders import Shape
from discoprobe.builders.audit import BY_ID, CHECKS, INTEGRITY, Severity, Status, audit, longest_run_threshold
from discoprobe.builders.audit.intervals import share_differences
from discoprobe.builders.audit.run import rows_of
from discoprobe.loaders import UnknownNameError

_PAIRED = {"perturbation": True, "pairs": True}


def _finding(data, check, sources=None):
    return finding_of(data, check, sources)


def _failed(data, check, rows, measured=None, sources=None):
    """The check fails on exactly these rows (the first five)."""
    found = _finding(data, check, sources)
    assert found.status is Status.ABOVE
    assert set(found.rows) == set(rows)
    assert measured is None or found.measured == measured


def _passes(data, check, sources=None):
    assert _finding(data, check, sources).status is Status.BELOW


def test_clean_data_has_no_findings(make):
    report = audit(make.data(600))
    assert not report.failed
    assert not [f for f in report.findings if f.kind == "integrity" and f.status not in {Status.BELOW, Status.SKIPPED}]


def test_every_check_of_the_table_is_run(make):
    assert [f.check for f in audit(make.data(100)).findings] == [check.id for check in CHECKS]


def test_duplicate_inside_a_split(make, build):
    rows = make.rows(100, 2, 1)
    _passes(build(rows), "dup-within")
    rows[3] = rows[7] | {"label": rows[3]["label"]}
    _failed(build(rows), "dup-within", ["train:3", "train:7"], 2)


def test_the_same_sentences_in_another_order_are_no_duplicate(make, build):
    rows = make.rows(100, 2, 2)
    rows[1] = rows[0] | {"texts": rows[0]["texts"][::-1], "label": 1 - rows[0]["label"]}
    assert not finding_of(build(rows, shape=Shape.PAIR), "dup-within").measured


def test_the_same_choices_in_another_order_are_a_duplicate(make, build):
    rows = make.rows(100, 2, 2)
    rows[1] = {"split": "train", "texts": rows[0]["texts"][::-1], "label": 1 - rows[0]["label"]}
    _failed(build(rows, shape=Shape.CHOICE), "dup-within", ["train:0", "train:1"], 2)


def test_an_input_of_train_in_test(make, build):
    rows = make.rows(100, 2, 1)
    _passes(build(rows), "dup-across")
    rows[80] = rows[80] | {"texts": rows[0]["texts"]}
    _failed(build(rows), "dup-across", ["test:0"], 1)


def test_test_equals_dev(make, build):
    rows = make.rows(100, 2, 1)
    _passes(build(rows), "split-equal")
    rows = rows[:80] + [row | {"split": "test"} for row in reversed(rows[60:80])]
    found = _finding(build(rows), "split-equal")
    assert (found.status, found.measured, found.detail) == (Status.ABOVE, 1, "validation and test have the same rows")
    assert _finding(build(rows), "dup-across").measured == 20


def test_one_input_with_two_labels(make, build):
    """Multi-sense relations flattened to contradictory rows (PDTB)."""
    rows = make.rows(100, 2, 1)
    _passes(build(rows), "label-conflict")
    rows[1] = rows[0] | {"label": 1 - rows[0]["label"]}
    _failed(build(rows), "label-conflict", ["train:0", "train:1"], 2)


def test_originals_that_are_corrupted(make, build):
    """The stale variable of X-Probe's SOMO: rows labelled original hold the text of a corrupted one."""
    rows = make.rows(100, 2, 1)
    corrupted = [row for row in rows if row["split"] == "test" and row["label"] == 1]
    originals = [row for row in rows if row["split"] == "test" and row["label"] == 0]
    for original, corrupt in zip(originals, corrupted, strict=True):
        original["texts"] = corrupt["texts"]
    assert _finding(build(rows), "label-conflict").measured == 20


def test_a_choice_whose_right_answer_differs_is_a_conflict(make, build):
    rows = make.rows(100, 2, 2)
    rows[1] = rows[0] | {"label": 1 - rows[0]["label"]}
    assert _finding(build(rows, shape=Shape.CHOICE), "label-conflict").measured == 2
    rows[1] = rows[0] | {"texts": rows[0]["texts"][::-1], "label": 1 - rows[0]["label"]}
    assert _finding(build(rows, shape=Shape.CHOICE), "label-conflict").measured == 0


def test_a_sentence_of_train_in_a_window_of_test(make, build):
    rows = make.rows(100, 2, 5)
    _passes(build(rows, shape=Shape.SEQUENCE), "sentence-leak")
    rows[85]["texts"][2] = rows[4]["texts"][0].upper()
    _failed(build(rows, shape=Shape.SEQUENCE), "sentence-leak", ["test:5"], 1)


def test_a_short_sentence_may_repeat(make, build):
    rows = make.rows(100, 2, 5)
    rows[85]["texts"][2] = rows[4]["texts"][0] = "What do you mean ?"
    _passes(build(rows, shape=Shape.SEQUENCE), "sentence-leak")
    _passes(build(rows, shape=Shape.SEQUENCE), "near-dup")


def test_sliding_windows_over_one_document(make, build):
    """DiscoEval chat: neighbouring windows share sentences, and the split cuts between them."""
    story = [make.sentence() for _ in range(105)]
    windows = [story[at : at + 5] for at in range(100)]
    rows = [row | {"texts": texts} for row, texts in zip(make.rows(100, 2, 5), windows, strict=True)]
    assert _finding(build(rows, shape=Shape.SEQUENCE), "sentence-leak").measured == 8  # four rows after each cut


def test_the_original_of_a_perturbed_row_must_not_be_in_another_split(make, build):
    rows = [row | {"original": None} for row in make.rows(100, 2, 1)]
    rows[0] |= {"label": 1, "original": rows[90]["texts"][0]}
    _failed(build(rows, perturbation=True), "sentence-leak", ["test:10"], 1)


def test_a_near_duplicate_in_another_split(make, build):
    rows = make.rows(100, 2, 1)
    _passes(build(rows), "near-dup")
    long = " ".join(make.sentence(20, 20) for _ in range(2))
    rows[0] |= {"texts": [long]}
    rows[99] |= {"texts": [long + " anyway"]}
    _failed(build(rows), "near-dup", ["test:19"], 1)
    _passes(build(rows), "sentence-leak")


def test_near_duplicates_in_one_split_are_allowed(make, build):
    """Perturbed twins share nearly all their words by design."""
    rows = make.rows(100, 2, 1)
    long = " ".join(make.sentence(20, 20) for _ in range(2))
    rows[0] |= {"texts": [long]}
    rows[1] |= {"texts": [long + " anyway"]}
    _passes(build(rows), "near-dup")


def test_a_target_of_train_in_test(make, build):
    rows = [row | {"target": f"word{at}"} for at, row in enumerate(make.rows(100, 2, 1))]
    _passes(build(rows, split_by="target"), "target-leak")
    rows[95] |= {"target": "Word3"}
    _failed(build(rows, split_by="target"), "target-leak", ["test:15"], 1)
    assert _finding(build(rows, split_by="document"), "target-leak").status is Status.SKIPPED


def test_a_test_split_of_one_class(make, build):
    """X-Probe's Turkish SubjNumber."""
    rows = make.rows(100, 2, 1)
    _passes(build(rows), "label-set")
    rows = [row | {"label": 1} if row["split"] == "test" else row for row in rows]
    found = _finding(build(rows), "label-set")
    assert (found.status, found.measured, found.detail) == (Status.ABOVE, 1, "test lacks the label 'label0'")


def test_a_slip_in_the_label_column_costs_little(make, build):
    """ParsiNLU's entailment has two rows of the label ``-`` beside 1,675; a class that test lacks costs its rows."""
    rows = make.rows(1000, 2, 1)
    slip = [row | {"label": 2} if at == 3 else row for at, row in enumerate(rows)]
    assert _finding(build(slip, k=3), "label-set").cost == pytest.approx(0.001)
    assert (
        _finding(build([row | {"label": 1} if row["split"] == "test" else row for row in rows]), "label-set").cost
        == 0.4
    )


def test_a_label_that_no_split_has(make):
    found = _finding(msgspec.structs.replace(make.data(90, k=3), labels=("a", "b", "c", "d")), "label-set")
    assert (found.measured, found.status) == (3, Status.ABOVE)


def test_unequal_counts(make, build):
    rows = make.rows(100, 2, 1)
    rows[0] |= {"label": 1 - rows[0]["label"]}
    found = _finding(build(rows), "balance")
    assert (found.status, found.measured, found.severity) == (Status.ABOVE, 2, Severity.ERROR)
    assert "train: label0" in found.detail


def test_unequal_counts_of_a_natural_task_are_noted(make, build):
    rows = make.rows(100, 2, 1)
    rows[0] |= {"label": 1 - rows[0]["label"]}
    report = audit(build(rows, natural=True))
    assert report.finding("balance").status is Status.NOTED
    assert not report.failed


def test_places_of_the_right_choice_may_differ_as_random_ones_do(make, build):
    rows = make.rows(400, 4, 4)
    rows[0] |= {"label": (rows[0]["label"] + 1) % 4}
    _passes(build(rows, shape=Shape.CHOICE, k=4), "balance")
    rows = [row | {"label": 0} if at % 2 else row for at, row in enumerate(rows)]
    assert _finding(build(rows, shape=Shape.CHOICE, k=4), "balance").status is Status.ABOVE


@pytest.mark.parametrize("k", [2, 5])
def test_labels_that_alternate(make, build, k):
    """All DC and SSP files of DiscoEval."""
    rows = make.rows(300, k, 1)
    _passes(build(rows, k=k), "order")
    rows = [row | {"label": at % 2} for at, row in enumerate(rows)]
    found = _finding(build(rows, k=2), "order")
    assert (found.status, found.measured) == (Status.ABOVE, 1.0)


def test_labels_in_blocks(make, build):
    """X-Probe: runs of up to 2,906 equal labels."""
    rows = sorted(
        make.rows(300, 2, 1), key=lambda row: (["train", "validation", "test"].index(row["split"]), row["label"])
    )
    found = _finding(build(rows), "order")
    assert found.status is Status.ABOVE
    assert found.measured == 90
    assert "90 rows of one label after one another" in found.detail
    assert found.rows == tuple(f"train:{place}" for place in range(5))


@pytest.mark.parametrize("k", [2, 5])
def test_no_random_order_of_two_hundred_fails(make, build, k):
    """Rows are never reordered until their order passes, so chance alone must not fail a config."""
    failed = [audit_order(build(make.rows(60, k, 1), k=k)) for _ in range(200)]
    assert not any(failed)


@pytest.mark.parametrize("k", [2, 5, 77])
def test_random_splits_have_label_shares_that_chance_allows(make, build, k):
    """Lots over all rows, with skewed labels: at most one of a thousand sets is said to differ."""
    source, said = random.Random(k), 0
    for _ in range(100):
        labels = source.choices(range(k), weights=[1 / (label + 1) for label in range(k)], k=400)
        splits = [split for split, n in (("train", 250), ("validation", 50), ("test", 100)) for _ in range(n)]
        rows = [{"split": split, "label": label, "texts": ["a"]} for split, label in zip(splits, labels, strict=True)]
        finding = INTEGRITY["label-shares"](build(rows, k=k, natural=True))
        said += finding.measured > finding.threshold
    assert said <= 1


def test_what_lots_give_is_exact():
    """Two-sided, one in a thousand over six labels and pairs of splits, as scipy has it."""
    low, high = share_differences(50, 60, 20, 6)
    first = [k for k in range(30, 51) if min(hypergeom.cdf(k, 80, 50, 60), hypergeom.sf(k - 1, 80, 50, 60)) > 1e-3 / 12]
    differences = [k / 60 - (50 - k) / 20 for k in first]
    assert (low, high) == pytest.approx((min(differences), max(differences)))


def test_documents_with_a_label_of_their_own_are_the_lots(make, build):
    """Forty documents of 25 rows of one label each: ten of them in test may well be of one label."""
    counts, rows = {"train": (15, 15), "test": (8, 2)}, []
    for split, numbers in counts.items():
        for label, n in enumerate(numbers):
            rows += [{"split": split, "label": label, "texts": ["a"], "group": f"{split}{label}{document}"}
                     for document in range(n) for _ in range(25)]  # fmt: skip
    alike = INTEGRITY["label-shares"](build(rows, natural=True))
    assert alike.measured == pytest.approx(0.3)
    assert alike.measured <= alike.threshold
    alone = INTEGRITY["label-shares"](build([row | {"group": None} for row in rows], natural=True))
    assert alone.measured > alone.threshold


def test_label_shares_that_differ_are_noted_in_data_of_others(make, build):
    """The first advice of the paper on Russian SuperGLUE; it is no shortcut, so that it stops nothing."""
    rows, _ = _shares_of_test(make, fault=True)
    report = audit(build(rows, external=True, natural=True))
    finding = report.finding("label-shares")
    assert (finding.status, finding.severity, str(finding.grade)) == (Status.NOTED, Severity.NOTE, "note")
    assert finding.cost == pytest.approx(0.5)
    assert finding.detail.startswith("'label1' is 50.0% of train and 100.0% of test; by chance they differ by up to ")
    (judged_report,) = judged([report])
    assert "Label shares differ between splits: 'label1' is 50.0% of train and 100.0% of test" in (
        judged_report.verdict.text
    )


def test_labels_of_choices_and_of_one_split_have_no_shares(make, build):
    assert _finding(make.data(100, shape=Shape.CHOICE, texts=2), "label-shares").status is Status.SKIPPED
    rows = [row | {"split": "test"} for row in make.rows(60, 2, 1)]
    assert _finding(build(rows), "label-shares").status is Status.SKIPPED


def audit_order(data):
    finding = INTEGRITY["order"](data)
    return finding.measured > finding.threshold


def test_what_has_nothing_to_compare_with_is_skipped(make, build):
    """One split leaks into no other."""
    report = audit(build([row | {"split": "test"} for row in make.rows(60, 2, 1)]))
    across = ("dup-across", "sentence-leak", "near-dup", "target-leak")
    assert {report.finding(check).status for check in across} == {Status.UNMEASURED}
    assert {report.finding(check).detail for check in across} == {"there is only one split (test)"}
    assert {report.finding(check).status for check in ("split-equal", "pair-split")} == {Status.SKIPPED}


def test_a_split_that_is_missing_is_named(make, build):
    rows = [row for row in make.rows(60, 2, 1) if row["split"] != "test"]
    own = _finding(build(rows, expected=("train", "validation", "test")), "split-set")
    assert (own.status, own.measured, own.detail) == (Status.ABOVE, 1, "there is no test split")
    external = _finding(build(rows, external=True), "split-set")
    assert (external.status, external.measured) == (Status.NOTED, 1)


def test_how_others_write_is_a_note(make, build):
    rows = make.rows(60, 2, 1)
    rows[50] |= {"texts": ["Bread &amp; butter for all of us."]}
    finding = _finding(build(rows, external=True), "clean-text")
    assert (finding.status, finding.measured) == (Status.NOTED, 1)
    assert _finding(build(rows), "clean-text").status is Status.ABOVE


def test_perturbed_text_that_is_the_original(make, build):
    rows = [row | {"original": make.sentence() if row["label"] else None} for row in make.rows(100, 2, 1)]
    _passes(build(rows, perturbation=True), "unperturbed")
    changed = next(at for at, row in enumerate(rows) if row["label"])
    rows[changed] |= {"original": rows[changed]["texts"][0]}
    _failed(build(rows, perturbation=True), "unperturbed", [f"train:{changed}"], 1)


def test_a_shuffled_sequence_that_is_in_order(make, build):
    rows = make.rows(100, 2, 5)
    original = next(row for row in rows if row["label"] == 0)
    at = next(at for at, row in enumerate(rows) if row["label"] == 1)
    _passes(build(rows, shape=Shape.SEQUENCE, perturbation=True), "unperturbed")
    rows[at] |= {"texts": original["texts"]}
    _failed(build(rows, shape=Shape.SEQUENCE, perturbation=True), "unperturbed", [f"train:{at}"], 1)


def test_identical_members_of_a_minimal_pair(make, build):
    """BLiMP issue 10."""
    rows = make.rows(100, 2, 2)
    _passes(build(rows, shape=Shape.CHOICE), "unperturbed")
    rows[5] |= {"texts": [rows[5]["texts"][0]] * 2}
    _failed(build(rows, shape=Shape.CHOICE), "unperturbed", ["train:5"], 1)


def test_swapped_equal_sentences_cannot_be_told_apart(make, build):
    rows = make.rows(100, 2, 2)
    rows[5] |= {"texts": [rows[5]["texts"][0]] * 2}
    _failed(build(rows, shape=Shape.PAIR, perturbation=True), "unperturbed", ["train:5"], 1)


def _pairs(make):
    """Originals and what became of them, one after the other."""
    rows = []
    for split, n in (("train", 30), ("validation", 10), ("test", 10)):
        for at in range(n):
            text = make.sentence()
            pair = [{"label": 0, "texts": [text]}, {"label": 1, "texts": [text[::-1]]}]
            rows += [row | {"split": split, "pair_id": f"{split}{at}"} for row in pair]
    return rows


def test_a_pair_in_two_splits(make, build):
    rows = _pairs(make)
    _passes(build(rows, **_PAIRED), "pair-split")
    rows[60] |= {"pair_id": "train0"}
    _failed(build(rows, **_PAIRED), "pair-split", ["validation:1", "validation:0", "train:0", "train:1"], 4)


def test_a_pair_that_lacks_a_member(make, build):
    rows = _pairs(make)
    _failed(build(rows[:-1], **_PAIRED), "pair-split", ["test:18"], 1)


def test_a_pair_of_one_label(make, build):
    rows = _pairs(make)
    rows[0] |= {"label": 1}
    _failed(build(rows, **_PAIRED), "pair-split", ["train:0", "train:1"], 2)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("A broken \ufffd character in a sentence.", "replacement-character"),
        ("A bell \x07 in a sentence of words.", "control-character"),
        ("A bullet \uf0b7 from somebody's PDF file.", "private-use-character"),
        ("Bread &amp; butter for all of us.", "entity"),
        ("Bread & lt ; butter for all of us.", "entity"),
        ("Text <b>in bold</b> for all of us.", "tag"),
        ("< onlyinclude > text for all of us.", "tag"),
        ("Masked ____ text for all of us.", "mask"),
        (unicodedata.normalize("NFD", "Él cantó una canción en español."), "not-nfc"),
    ],
)
def test_text_that_is_not_clean(make, build, text, reason):
    rows = make.rows(60, 2, 1)
    rows[50] |= {"texts": [text]}
    found = _finding(build(rows), "clean-text")
    assert (found.status, found.rows, found.detail) == (Status.ABOVE, ("test:2",), f"{reason} 1")


@pytest.mark.parametrize(
    "text", ["a < b and c > d for all of us", "Q & A; and more of it, friends", "naïve café señor çok güzel"]
)
def test_text_that_looks_unclean_and_is_not(make, build, text):
    rows = make.rows(60, 2, 1)
    rows[50] |= {"texts": [text]}
    _passes(build(rows), "clean-text")


def test_blanks_before_marks_are_judged_by_corpus(make, build):
    """A config has the sentences of several corpora, of which some write all words apart."""
    rows = [row | {"corpus": "tight"} for row in make.rows(60, 2, 1)]
    apart = ["He said no , and yes .", "Mr. Ni said no , and yes ."]
    for n, row in enumerate(rows[:8]):
        row |= {"corpus": "apart", "texts": [f"{apart[n % 2]} {n}"]}
    _passes(build(rows), "clean-text")
    rows[50] |= {"texts": ["Mr. Ni said no , and yes, and no."]}
    _failed(build(rows), "clean-text", ["test:2"], 1)


def test_a_choice_from_the_context_is_judged_as_a_part_of_it(make, build):
    """A mention is no sentence: it may be a long noun phrase without a mark, or a name in capitals."""
    rows = [row | {"n_context": 1} for row in make.rows(60, 2, 5)]
    mention = "a grammar that the students of all universities in town have read"
    rows[50] |= {"texts": [f"We met NASA and {mention}.", "NASA", mention, "We", "town"]}
    _passes(build(rows, shape=Shape.CHOICE), "clean-text")
    rows[50] |= {"texts": [f"We met {mention}.", "NASA", mention, "We", "town"]}
    found = _finding(build(rows, shape=Shape.CHOICE), "clean-text")
    assert (found.status, found.detail) == (Status.ABOVE, "heading 1")


def test_blanks_in_parts_of_sentences_are_judged_by_the_sentences_too(make, build):
    """Dutch writes *in 't huis* and *z'n huis*: a few mentions do not show which blank is an exception."""
    rows = make.rows(60, 2, 1)
    for n, row in enumerate(rows):
        mention = "de man in 't huis" if n == 50 else f"z'n huis {n}" if n % 9 == 0 else f"huis {n}"
        row["texts"] = [mention, f"Toen ging hij met 't paard naar 't dorp en [1 {mention}] en {row['texts'][0]}"]
    _passes(build(rows, shape=Shape.MENTIONS), "clean-text")


def test_marks_of_mentions_and_a_question_are_no_invented_text(make, build):
    sources = {("made", "s1"): "Anna met Berta.", ("made", "s2"): "Then she left."}
    common = {"corpus": "made", "sent_ids": ["s1", "s2"]}
    marked = [row | common | {"texts": ["Anna", "she", "[1 Anna] met Berta. Then [2 she] left."]}
              for row in make.rows(60, 2, 1)]  # fmt: skip
    _passes(build(marked, shape=Shape.MENTIONS), "fidelity", sources)
    asked = [row | {"texts": ["Anna met Berta. Then [1 she] left. Who is “she”?", "Anna", "Berta"], "n_context": 1}
             for row in marked]  # fmt: skip
    _passes(build(asked, shape=Shape.CHOICE), "fidelity", sources)
    asked[50] |= {"texts": ["Anna met Berta. Then [1 she] stayed. Who is “she”?", "Anna", "Berta"]}
    _failed(build(asked, shape=Shape.CHOICE), "fidelity", ["test:2"], 1, sources)


def test_multiword_tokens_printed_with_their_parts(make, build):
    """X-Probe's Turkish files: 15 % of the rows."""
    rows = make.rows(100, 2, 1)
    _passes(build(rows), "doubled-words")
    rows[0] |= {"texts": ["Haha ha ha, what a story for us."]}
    _passes(build(rows), "doubled-words")
    for row in rows[90:]:
        row["texts"] = [row["texts"][0] + " bugünkü bugün kü"]
    found = _finding(build(rows), "doubled-words")
    assert (found.status, found.measured) == (Status.ABOVE, pytest.approx(0.11))
    assert set(found.rows) == {f"test:{place}" for place in range(10, 15)}


def _edited(make):
    rows = [row | {"original": None, "edit_start": None, "edit_end": None} for row in make.rows(60, 2, 1)]
    for row in rows:
        if row["label"]:
            row["original"] = row["texts"][0]
            row |= {"texts": [f"{row['original'][:4]}XX{row['original'][6:]}"], "edit_start": 4, "edit_end": 6}
    return rows


def test_a_text_that_differs_outside_its_edit(make, build):
    rows = _edited(make)
    _passes(build(rows, perturbation=True), "fidelity")
    changed = next(at for at, row in enumerate(rows) if row["label"])
    rows[changed] |= {"texts": [rows[changed]["texts"][0] + " ."]}
    _failed(build(rows, perturbation=True), "fidelity", [f"train:{changed}"], 1)


def test_a_text_that_repeats_a_part_of_its_original_beside_the_edit(make, build):
    """What stands before and after the edit must not be the same characters of the original."""
    rows = _edited(make)
    changed = next(at for at, row in enumerate(rows) if row["label"])
    rows[changed] |= {"original": "one two one", "texts": ["one two x two one"], "edit_start": 8, "edit_end": 9}
    _failed(build(rows, perturbation=True), "fidelity", [f"train:{changed}"], 1)


def test_a_text_that_is_not_in_the_source(make, build):
    rows = [row | {"corpus": "UD_X", "sent_ids": [f"s{at}"]} for at, row in enumerate(make.rows(60, 2, 1))]
    sources = {("UD_X", f"s{at}"): f"Well, {row['texts'][0]}" for at, row in enumerate(rows)}
    _passes(build(rows), "fidelity", sources)
    rows[59] |= {"texts": [rows[59]["texts"][0].replace(" ", "  ")]}
    _failed(build(rows), "fidelity", ["test:11"], 1, sources)


def test_blanks_in_mentions_are_judged_by_the_passages(make, build):
    """Dutch *in 't dorp* is spelled so in the passages, although other mentions have apostrophes without a blank."""
    rows = make.rows(60, 2, 1)
    for n, row in enumerate(rows):
        row |= {"texts": [f"z'n hond {n}", f"m'n kat {n}", f"Hij zag in 't dorp en in 't bos op 't land nummer {n}."]}
    rows[50]["texts"][0] = "de eieren in 't dorp"
    _passes(build(rows, shape=Shape.MENTIONS), "clean-text")


@pytest.mark.parametrize(("text", "status"), [
    ("[1 Anna] left. [2 She] ran.", "below"), ("Anna left. [2 She] ran. Who is she?", "below"),
    ("[1 Anna] left. [2 He] ran.", "above"), ("[1 Anna] left.", "above"), ("[1 ]", "above"),
])  # fmt: skip
def test_a_passage_with_marks_is_that_of_the_source(text, status, make, build):
    rows = [row | {"corpus": "UD_X", "sent_ids": [f"s{at}"]} for at, row in enumerate(make.rows(60, 2, 1))]
    sources = {("UD_X", f"s{at}"): row["texts"][0] for at, row in enumerate(rows)}
    rows[59] |= {"texts": [text], "sent_ids": ["a", "b"]}
    sources |= {("UD_X", "a"): "Anna left.", ("UD_X", "b"): "She ran."}
    assert _finding(build(rows), "fidelity", sources).status == status


def test_a_text_of_several_sentences_is_these_in_their_order(make, build):
    rows = [row | {"corpus": "UD_X", "sent_ids": [f"s{at}", f"t{at}"]} for at, row in enumerate(make.rows(60, 2, 1))]
    halves = {at: row["texts"][0].split(" ", 1) for at, row in enumerate(rows)}
    sources = {("UD_X", f"{name}{at}"): half[n] for at, half in halves.items() for n, name in enumerate("st")}
    _passes(build(rows), "fidelity", sources)
    rows[59] |= {"sent_ids": ["t59", "s59"]}
    _failed(build(rows), "fidelity", ["test:11"], 1, sources)


def test_a_text_without_its_connective_is_a_slice_with_a_capital(make, build):
    rows = [row | {"corpus": "UD_X", "sent_ids": [f"s{at}"]} for at, row in enumerate(make.rows(60, 2, 1))]
    sources = {
        ("UD_X", f"s{at}"): f"But {row['texts'][0][0].lower()}{row['texts'][0][1:]}" for at, row in enumerate(rows)
    }
    _passes(build(rows), "fidelity", sources)


def test_fidelity_without_originals_and_sources_is_skipped(make):
    assert _finding(make.data(60), "fidelity").status is Status.SKIPPED


def test_the_table_of_functions_is_the_table_of_thresholds():
    assert list(INTEGRITY) == [check.id for check in CHECKS if check.kind == "integrity"]
    assert set(BY_ID) == {check.id for check in CHECKS}


def test_ids_of_the_last_split_come_first(make, build):
    rows = make.rows(100, 2, 1)
    rows[0] |= {"texts": ["A tab \t here in the text of it."]}
    rows[99] |= {"texts": ["A tab \t there in the text of it."]}
    assert _finding(build(rows), "clean-text").rows == ("test:19", "train:0")


def test_a_place_that_no_right_choice_has_is_no_missing_label(make, build):
    rows = [row | {"label": 0} if row["split"] == "test" else row for row in make.rows(20, 2, 2)]
    assert _finding(build(rows, shape=Shape.CHOICE), "label-set").status is Status.SKIPPED


# One fault more than the threshold, and the same rows without it


def _plain(make, fault, **flags):
    rows = make.rows(100, 2, 1)
    if fault:
        fault(rows)
    return rows, flags


def _copy(to, source, **changes):
    """A fault: a row gets the text of another one."""
    return lambda rows: rows[to].update(texts=list(rows[source]["texts"]), **changes)


def _near(rows):
    rows[99]["texts"] = [" ".join(["really", rows[0]["texts"][0].lower()])]


def _long_first(make, fault):
    rows = make.rows(100, 2, 1)
    rows[0]["texts"] = [" ".join(make.sentence(20, 20) for _ in range(2))]
    if fault:
        _near(rows)
    return rows, {}


def _targets(make, fault):
    rows = [row | {"target": f"word{at}"} for at, row in enumerate(make.rows(100, 2, 1))]
    return [*rows[:-1], rows[-1] | {"target": "word3"}] if fault else rows, {"split_by": "target"}


def _equal_splits(make, fault):
    rows = make.rows(100, 2, 1)
    test = [row | {"split": "test"} for row in rows[60:80]]
    return [*rows[:80], *(test if fault else [*test[1:], rows[80] | {"label": test[0]["label"]}])], {}


def _labels_of_test(make, fault):
    rows = make.rows(100, 2, 1)
    for row in rows[80:]:
        row["label"] = 0
    rows[90]["label"] = int(not fault)
    return rows, {"natural": True}


def _run_of_labels(make, fault):
    """As many rows of one label after another as no random order has but for one in a million, or one more."""
    rows = [row for row in make.rows(200, 2, 1) if row["split"] == "train"]
    longest = longest_run_threshold([60, 60]) + fault
    labels = [0] * longest
    for at in range(60):
        labels += [1] if at * (60 - longest) // 60 == (at + 1) * (60 - longest) // 60 else [1, 0]
    for row, label in zip(rows, labels, strict=True):
        row["label"] = label
    return rows, {}


def _perturbed(make, fault):
    rows = [row | {"original": make.sentence() if row["label"] else None} for row in make.rows(100, 2, 1)]
    if fault:
        changed = next(row for row in rows if row["label"])
        changed["original"] = changed["texts"][0]
    return rows, {"perturbation": True}


def _all_pairs(make, fault):
    return _pairs(make)[: -1 if fault else None], _PAIRED


def _doubled(make, fault):
    rows = make.rows(100, 2, 1)
    for row in rows[: 1 + fault]:
        row["texts"] = [row["texts"][0] + " bugünkü bugün kü"]
    return rows, {}


def _faithful(make, fault):
    rows = _edited(make)
    changed = next(row for row in rows if row["label"])
    if fault:
        changed["texts"] = [changed["texts"][0] + " And more"]
    return rows, {"perturbation": True}


def _shares_of_test(make, fault):
    """Of 20 rows of test, 19 may have one label by chance beside 60 of train with halves, and all of them may not."""
    counts = {"train": 30, "validation": 10, "test": 19 + fault}
    rows = make.rows(100, 2, 1)
    for split, n in counts.items():
        for at, row in enumerate(row for row in rows if row["split"] == split):
            row["label"] = int(at < n)
    return rows, {}


def _three_changed(make, text):
    """A text of twelve words or more with three others, in another order."""
    words = [*make.sentence(12, 12).split(" "), *text.split(" ")][-14:]
    words[2:13:5] = ["ruby", "opal", "jade"]
    return " ".join([*words[6:], *words[:6]])


FAULTS = {
    "dup-within": lambda make, fault: _plain(make, _copy(3, 7) if fault else None),
    "dup-across": lambda make, fault: _plain(make, _copy(95, 7) if fault else None),
    "label-conflict": lambda make, fault: _plain(make, lambda rows: _conflict(rows, fault)),
    "sentence-leak": lambda make, fault: _plain(make, lambda rows: _shared(rows, fault)),
    "near-dup": _long_first,
    "target-leak": _targets,
    "split-equal": _equal_splits,
    "split-set": lambda make, fault: (
        [row for row in make.rows(100, 2, 1) if row["split"] != "test" or not fault],
        {"expected": ("train", "validation", "test")},
    ),
    "altered-dup": lambda make, fault: _plain(
        make,
        lambda rows: (
            fault and [rows[90 + at].update(texts=[" ".join(rows[at]["texts"][0].split(" ")[::-1])]) for at in range(8)]
        ),
    ),
    "paraphrase": lambda make, fault: _plain(
        make,
        lambda rows: (
            fault and [rows[90 + at].update(texts=[_three_changed(make, rows[at]["texts"][0])]) for at in range(8)]
        ),
    ),
    "group-split": lambda make, fault: _plain(
        make, lambda rows: [row.update(group=f"d{at % (95 if fault else 100)}") for at, row in enumerate(rows)]
    ),
    "label-set": _labels_of_test,
    "balance": lambda make, fault: _plain(make, lambda rows: fault and rows[0].update(label=1 - rows[0]["label"])),
    "label-shares": _shares_of_test,
    "order": _run_of_labels,
    "unperturbed": _perturbed,
    "pair-split": _all_pairs,
    "clean-text": lambda make, fault: _plain(
        make, lambda rows: fault and rows[0].update(texts=["Bread &amp; butter."])
    ),
    "doubled-words": _doubled,
    "fidelity": _faithful,
}
"""Check → rows with one fault more than its threshold allows, or without it, and what their makers say of them."""


def _conflict(rows, fault):
    """An input occurs twice: with one label, or with two."""
    rows[3]["texts"], rows[3]["label"] = rows[7]["texts"], rows[7]["label"] if not fault else 1 - rows[7]["label"]


def _shared(rows, fault):
    """A row of test repeats six words of train, or the first five of them."""
    rows[0]["texts"] = ["one two three four five" + " six" * fault]
    rows[99]["texts"] = list(rows[0]["texts"])


def test_every_integrity_check_has_its_fault():
    assert set(FAULTS) == {check.id for check in CHECKS if check.kind == "integrity"}


@pytest.mark.parametrize("check", FAULTS)
def test_one_fault_fails_and_none_passes(make, build, check):
    for fault in (False, True):
        rows, flags = FAULTS[check](make, fault)
        above = Status.NOTED if check == "paraphrase" else Status.ABOVE
        expected = above if fault else Status.BELOW
        assert (fault, _finding(build(rows, **flags), check).status) == (fault, expected)


TWINS = {
    "dup-within": {"train:3": "train:7", "train:7": "train:3"},
    "dup-across": {"test:15": "train:7"},
    "label-conflict": {"train:3": "train:7", "train:7": "train:3"},
    "sentence-leak": {"test:19": "train:0"},
    "near-dup": {"test:19": "train:0"},
    "altered-dup": {f"test:{10 + at}": f"train:{at}" for at in (0, 1, 2, 3, 5, 6, 7)},  # train:4 has seven words
    "target-leak": {"test:19": "train:3"},
    "group-split": {f"test:{15 + at}": f"train:{at}" for at in range(5)},
}
"""Check of duplicates or leaks → the rows of its fault in `FAULTS`, and the row that each of them repeats."""


@pytest.mark.parametrize("check", TWINS)
def test_each_leak_is_shown_with_its_twin(make, build, check):
    rows, flags = FAULTS[check](make, True)  # noqa: FBT003
    data = build(rows, **flags)
    finding = _finding(data, check)
    assert dict(zip(finding.rows, finding.twins, strict=True)).items() <= TWINS[check].items()
    frame = rows_of(data, check)
    assert dict(frame.select("id", "twin").iter_rows()) == TWINS[check]
    texts = {f"{row['split']}:{place}": row["texts"] for place, row in _places(rows)}
    for row in frame.iter_rows(named=True):
        assert row["texts"] == texts[row["id"]]
        assert row["twin_texts"] == texts[row["twin"]]
        assert (row["split"], row["twin_split"]) == (row["id"].split(":")[0], row["twin"].split(":")[0])


def _places(rows):
    counts = Counter()
    for row in rows:
        yield counts[row["split"]], row
        counts[row["split"]] += 1


def test_a_conflict_is_shown_with_a_row_of_another_label(make, build):
    """Of three rows with one text, the second has the label of the first."""
    rows = make.rows(100, 2, 1)
    for at, label in ((0, 0), (1, 0), (90, 1)):
        rows[at] |= {"texts": list(rows[0]["texts"]), "label": label}
    frame = rows_of(build(rows), "label-conflict")
    assert dict(frame.select("id", "twin").iter_rows()) == {
        "test:10": "train:0", "train:0": "test:10", "train:1": "test:10",
    }  # fmt: skip
    assert frame["label"].to_list() == ["label1", "label0", "label0"]


def test_the_rows_of_a_finding_are_all_of_them(make, build):
    rows = make.rows(100, 2, 1)
    for at in range(20):
        rows[80 + at]["texts"] = list(rows[at]["texts"])
    data = build(rows)
    frame = rows_of(data, "dup-across")
    assert frame.columns == ["split", "id", "label", "texts", "twin_split", "twin", "twin_texts"]
    assert frame["twin"].to_list() == [f"train:{at}" for at in range(20)]
    assert len(_finding(data, "dup-across").rows) == 5
    assert rows_of(data, "clean-text").columns == frame.columns
    assert rows_of(data, "clean-text").is_empty()
    assert rows_of(data, "balance").is_empty()


def test_the_rows_of_a_shortcut_are_those_that_its_solver_gets_right(make, build):
    rows = make.rows(300, 2, 1)
    for row in rows:
        row["texts"] = [f"{row['texts'][0]} {('no', 'yes')[row['label']]}"]
    data = build(rows)
    frame, finding = rows_of(data, "words"), _finding(data, "words")
    assert frame.height == round(finding.measured * finding.n)
    assert set(finding.rows) <= set(frame["id"])
    assert frame["twin"].is_null().all()


def test_rows_of_an_unknown_check(make):
    with pytest.raises(UnknownNameError, match="near-dup"):
        rows_of(make.data(60), "neardup")


@pytest.mark.parametrize(
    "alter",
    [
        lambda words: [*words[:4], "ruby", *words[5:]],
        lambda words: [*words[:4], "ruby", *words[4:]],
        lambda words: [*words[:4], *words[5:]],
        lambda words: words[:9],
        lambda words: words[3:],
        lambda words: words[::-1],
    ],
    ids=["changed", "added", "removed", "beginning", "end", "reversed"],
)
def test_altered_copies_across_splits(make, build, alter):
    rows = make.rows(300, 2, 1)
    for row in rows:
        row["texts"] = [make.sentence(12, 14)]
    train = [row["texts"][0] for row in rows if row["split"] == "train"]
    test = [row for row in rows if row["split"] == "test"]
    for row, text in zip(test[:10], train, strict=False):
        row["texts"] = [" ".join(alter(text.split(" ")))]
    finding = finding_of(build(rows), "altered-dup")
    assert (finding.status, finding.measured) == (Status.ABOVE, 10 / 120)
    external = finding_of(build(rows, external=True), "altered-dup")
    assert (external.status, external.severity) == (Status.NOTED, Severity.NOTE)


@pytest.mark.parametrize(
    ("alter", "found"),
    [
        (lambda words, _: ["ruby", *words[1:6], "opal", *words[7:12], "jade", *words[13:]], True),
        (lambda words, _: [*words[7:], "ruby", *words[:6]], True),
        (lambda words, _: [*words[8:], *words[:3]], True),
        (lambda words, other: [*words[:4], *other[4:]], False),
        (lambda words, other: [*words[::2], *other[::2]], False),
    ],
    ids=[
        "three changed",
        "one changed and another order",
        "two thirds of the words",
        "four words",
        "half of two texts",
    ],
)
def test_paraphrases_across_splits_are_noted(make, build, alter, found):
    rows = make.rows(300, 2, 1)
    for row in rows:
        row["texts"] = [make.sentence(16, 18)]
    train = [row["texts"][0] for row in rows if row["split"] == "train"]
    test = [row for row in rows if row["split"] == "test"]
    for row, text in zip(test[:10], train, strict=False):
        row["texts"] = [" ".join(alter(text[:-1].split(" "), make.sentence(16, 18).split(" ")))]
    finding = finding_of(build(rows), "paraphrase")
    assert finding.measured == pytest.approx(10 / 120 if found else 0, abs=0.01)
    assert (finding.status, finding.severity) == (Status.NOTED if found else Status.BELOW, Severity.NOTE)
    assert set(finding.rows) <= {f"test:{number}" for number in range(10)}


@pytest.mark.parametrize(("copies", "status"), [(1, Status.BELOW), (6, Status.ABOVE)])
def test_one_formula_in_a_small_set_of_pairs_is_no_fault(make, build, copies, status):
    """Both rows of a pair have it: 2 of 80 rows are more than 1 %, and 1 of 40 pairs is no evidence of that."""
    rows = make.rows(100, 2, 1)
    pairs = [row | {"texts": [make.sentence(12, 14), make.sentence(12, 14)]} for row in rows]
    later = [row for row in pairs if row["split"] != "train"]
    for row, other in zip(later[:copies], pairs, strict=False):
        row["texts"][0] = " ".join(["ruby", *other["texts"][0].split(" ")[1:]])
    both = [
        {**row, "pair_id": f"p{at}", "label": label, "texts": row["texts"][:: 1 - 2 * label]}
        for at, row in enumerate(pairs)
        for label in (0, 1)
    ]
    finding = finding_of(build(both, pairs=True), "altered-dup")
    assert (finding.status, finding.measured) == (status, copies / len(later))


def test_sentences_with_a_beginning_in_common_are_no_copies(make, build):
    rows = make.rows(300, 2, 1)
    for row in rows:
        row["texts"] = ["In the beginning of the year of the flood " + make.sentence(6, 9)]
    for check in ("altered-dup", "paraphrase"):
        finding = finding_of(build(rows), check)
        assert (finding.status, finding.measured) == (Status.BELOW, 0)
