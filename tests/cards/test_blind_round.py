"""Blind rounds without a browser: which rows are asked in which order, what a reader sees, and what is computed."""

import itertools
import json
import types

import card_cases
import pytest
from msgspec.structs import replace
from releases import config, write
from review_server import reviewing

from discoprobe.builders import Shape
from discoprobe.builders.audit import exact
from discoprobe.cards import Mark, marks_file, read_marks
from discoprobe.cards.metadata.manifest import AuditEntry, config_entry
from discoprobe.cards.readers import LEAST_ROWS, interval_of
from discoprobe.cards.release import ReleaseRow, RowStore
from discoprobe.cards.review import BlindRound, Reader, sample, scores, shown_row
from discoprobe.cards.text import answer_names, prompt_of, question_texts

ENTRY = replace(
    config_entry(card_cases.config(Shape.PAIR, ("in_order", "swapped", "unused"), [], name="bso_de"), {}, {}),
    counts={"train": {"in_order": 2, "swapped": 2, "unused": 0}},
    audit=AuditEntry(failed=[], majority=0.5, strongest="length", accuracy=0.625, gain=0.125),
)


def row_of(number, label, entry=ENTRY, **values):
    columns = {"id": f"r{number}", "label": label, "sentence1": f"first {number}", "sentence2": f"second {number}"}
    return ReleaseRow("bso_de", "train", number, columns | values, entry.labels[label], entry)


def answers_to(rows, answers):
    marks = (
        Mark("answer", "ana", "person", "2026-11-22T08:00:00Z", row.config, row.id, answer=answer)
        for row, answer in zip(rows, answers, strict=False)
    )
    return {mark.place: mark for mark in marks}


def test_scores_are_of_the_rows_that_were_answered():
    """Eight of thirty rows were answered, five correctly; one answer is that nobody can tell."""
    rows = [row_of(number, number % 2) for number in range(30)]
    answers = ["in_order", "swapped", "in_order", "swapped", "in_order", "in_order", "cannot tell", "in_order"]
    (score,) = scores(types.SimpleNamespace(entry=lambda _: ENTRY), rows, answers_to(rows, answers))
    assert (score.asked, score.answered, score.correct, score.cannot_tell) == (30, 8, 5, 1)
    assert score.interval == exact(5, 8)
    assert score.wrong == ("r5", "r6", "r7")
    assert (score.majority, score.trick) == (0.5, "length 62%")


def test_scores_without_answers_or_audit():
    entry = replace(ENTRY, audit=None)
    rows = [row_of(number, 0, entry) for number in range(3)]
    (score,) = scores(types.SimpleNamespace(entry=lambda _: entry), rows, {})
    assert (score.asked, score.answered, score.interval) == (3, 0, (0.0, 1.0))
    assert (score.majority, score.trick) == (None, "")


def test_a_round_that_was_ended_early_is_scored_by_its_answers(release):
    query = "name=r1&config=bso_de&split=train&n=6"
    with reviewing(release) as app:
        asked = json.loads(app.get(f"/blind/round.json?{query}")[2])
        labels = {item["row"]: RowStore(release).row("bso_de", item["row"]).label for item in asked["items"]}
        answers = [{"config": "bso_de", "row": row, "answer": label} for row, label in labels.items()][:2]
        app.post_json("/answers.json", {"token": asked["token"], "round": query, "answers": answers})
        app.post("/reveal", {"token": asked["token"], "round": query})
        (score,) = json.loads(app.get(f"/blind/result?{query}", Accept="application/json")[2])
        page = app.get(f"/blind/result?{query}")[2]
    assert (score["asked"], score["answered"], score["correct"]) == (6, 2, 2)
    assert tuple(score["interval"]) == exact(2, 2)
    low, high = exact(2, 2)
    assert f"{low:.3f}–{high:.3f}" in page
    assert "2 of 6" in page


def test_the_table_of_configs_counts_rows_that_were_marked_or_answered(release):
    query = "name=r1&config=bso_de&split=train&n=2"
    with reviewing(release) as app:
        asked = json.loads(app.get(f"/blind/round.json?{query}")[2])
        answers = [{"config": "bso_de", "row": item["row"], "answer": "swapped"} for item in asked["items"]]
        app.post_json("/answers.json", {"token": asked["token"], "round": query, "answers": answers})
        for row, verdict in (("de-test-0", "wrong label"), ("de-test-1", "fine")):
            app.post("/mark", {"token": app.token(), "config": "bso_de", "row": row, "verdict": verdict})
        line = next(part for part in app.get("/")[2].split("<tr>") if "/rows?config=bso_de" in part)
    assert 'data-name="read" class="number">4<' in line
    assert 'data-name="faults" class="number">1<' in line


def test_marks_and_answers_have_the_hash_of_what_their_row_shows(release):
    """So they stop counting when the text or the label of the row changes."""
    query = "name=r1&config=bso_de&split=train&n=2"
    with reviewing(release) as app:
        asked = json.loads(app.get(f"/blind/round.json?{query}")[2])
        answers = [{"config": "bso_de", "row": item["row"], "answer": "swapped"} for item in asked["items"]]
        app.post_json("/answers.json", {"token": asked["token"], "round": query, "answers": answers})
        app.post("/mark", {"token": app.token(), "config": "bso_de", "row": "de-test-0", "verdict": "fine"})
    store, marks = RowStore(release), read_marks(marks_file(release))
    assert [mark.kind for mark in marks] == ["answer", "answer", "mark"]
    assert [mark.shown for mark in marks] == [store.row("bso_de", mark.row).shown for mark in marks]
    assert len({mark.shown for mark in marks}) == 3


def test_labels_are_asked_in_no_order(tmp_path):
    """Rows are chosen from each label in turn; if they were asked in this order, each label would tell the next."""

    def alone(rows):
        return [row | {"doc_id": None, "pair_id": None} for row in rows]

    store = RowStore(write(tmp_path / "release", config(change=alone, splits=("train",))))
    orders = [[row.label for row in sample(store, BlindRound(name, ("bso_de",), "train", 12)).rows] for name in "abcd"]
    assert all(sorted(order) == sorted(orders[0]) for order in orders)
    assert len({tuple(order) for order in orders}) > 1
    alternating = [all(one != other for one, other in itertools.pairwise(order)) for order in orders]
    assert not any(alternating)


def of_documents(n_rows, n_documents):
    """Rows without pairs, of so many documents, whose sentences are all different."""

    def change(rows):
        return [
            rows[0] | {"id": f"r{n}", "label": n % 2, "doc_id": f"d{n % n_documents}", "pair_id": None,
                       "sent_ids": [f"s{n}"], "sentence1": f"Satz {n}.", "sentence2": f"Noch {n}."}
            for n in range(n_rows)
        ]  # fmt: skip

    return change


def test_documents_are_repeated_where_a_figure_needs_it_and_no_sentence_ever(tmp_path):
    """Three documents of forty rows: without repetition a round had three rows, and no figure."""
    store = RowStore(write(tmp_path / "release", config(change=of_documents(40, 3))))
    found = sample(store, BlindRound("r1", ("bso_de",), "test", 24))
    assert (len(found.rows), found.repeated, found.missing) == (LEAST_ROWS, {"bso_de": LEAST_ROWS - 3}, {"bso_de": 4})
    assert len({row.values["sentence1"] for row in found.rows}) == LEAST_ROWS
    asked = sample(store, BlindRound("r1", ("bso_de",), "test", 24, repeat_documents=True))
    assert (len(asked.rows), asked.repeated, asked.missing) == (24, {}, {})
    few = sample(store, BlindRound("r1", ("bso_de",), "test", 5))
    assert (len(few.rows), few.repeated) == (5, {"bso_de": 2})
    many = RowStore(write(tmp_path / "many", config(change=of_documents(40, 40))))
    assert sample(many, BlindRound("r1", ("bso_de",), "test", 24)).repeated == {}


def test_intervals_count_rows_of_a_document_as_fewer():
    correct = [True] * 10 + [False] * 10
    apart, of_two = [f"d{n}" for n in range(20)], ["a"] * 10 + ["b"] * 10
    assert interval_of(correct, apart) == interval_of(correct, [""] * 20) == exact(10, 20)
    low, high = interval_of(correct, of_two)  # each document is right or wrong as a whole
    assert low < exact(1, 2)[0] + 0.05
    assert high > exact(1, 2)[1] - 0.05
    assert interval_of([True] * 20, of_two) == exact(2, 2)


def test_the_page_offers_more_rows_and_says_what_is_repeated(tmp_path):
    folder = write(tmp_path / "release", config(change=of_documents(40, 3)))
    query = "name=r1&config=bso_de&split=test&n=24"
    with reviewing(folder) as app:
        page = app.get(f"/blind/round?{query}")[2]
        asked = json.loads(app.get(f"/blind/round.json?{query}&repeat=yes")[2])
        end = app.get(f"/blind/round?{query}&repeat=yes&at=24")[2]
    assert f"bso_de: {LEAST_ROWS - 3} rows have a document of another row" in page
    assert 'href="/blind/round?name=r1&amp;config=bso_de&amp;split=test&amp;n=24&repeat=yes"' in page
    assert len(asked["items"]) == 24
    assert "Ask more rows" not in end


def test_who_reads_is_said_before_a_round_begins(release):
    with reviewing(release) as app:
        assert "You read as <b>ana</b> (person)" in app.get("/blind")[2]
    with reviewing(release, reader=Reader()) as app:
        page = app.get("/blind")[2]
    assert "Say first who reads" in page
    assert "<button disabled>Begin</button>" in page


def suite_row(row_id):
    entry = replace(ENTRY, shape="suite", labels=["Singular"], summary="?")
    regions = {"regions_good": ["It", "works."], "regions_bad": ["It", "work."], "region": 2}
    return row_of(
        0, 0, entry, id=row_id, sentence_good="It works.", sentence_bad="It work.", corpus="UD_de", doc_id=None,
        group="g", pair_id="p", sent_ids=["s"], **regions,
    )  # fmt: skip


@pytest.mark.parametrize(("row_id", "answer"), [("a0", "second"), ("a1", "first"), ("ae", "second"), ("af", "first")])
def test_the_place_of_the_good_text_depends_on_the_row_and_is_what_is_right(row_id, answer):
    row = suite_row(row_id)
    texts = {text.name: text.text for text in question_texts(row.entry, row.values)}
    assert texts[answer] == "It works."
    assert set(texts.values()) == {"It works.", "It work."}
    store = types.SimpleNamespace(entry=lambda _: row.entry)
    for given, correct in ((answer, 1), ({"first": "second", "second": "first"}[answer], 0)):
        (score,) = scores(store, [row], answers_to([row], [given]))
        assert score.correct == correct


def test_a_prompt_has_the_question_the_texts_and_numbered_answers():
    row = suite_row("a1")
    asked, answer = prompt_of(row.entry, row.values)
    assert asked.startswith("Which text is better? ")
    assert "\n\nfirst: It works.\nsecond: It work.\n\n" in asked
    assert "\n1: first\n2: second\n\nReply with the number of the answer only." in asked
    assert answer == "1"
    assert prompt_of(suite_row("a0").entry, suite_row("a0").values)[1] == "2"


def test_questions_mark_nothing_and_rows_do():
    row = suite_row("a1")
    assert not any(mark for text in question_texts(row.entry, row.values) for _, mark in text.pieces())
    marked = {text.name: [piece for piece, mark in text.pieces() if mark] for text in shown_row(row).texts}
    assert marked == {"good": ["works."], "bad": ["work."]}


def test_choices_are_numbered_from_one_and_labels_without_rows_are_no_answers():
    assert answer_names(ENTRY) == {"in_order": "in order", "swapped": "swapped"}
    choice = replace(ENTRY, shape="choice", labels=["0", "1", "2"], counts={"test": {"0": 1, "1": 1, "2": 1}})
    assert answer_names(choice) == {"0": "choice 1", "1": "choice 2", "2": "choice 3"}


def test_moved_sentences_have_their_place_in_the_source():
    entry = replace(ENTRY, shape="sequence", labels=["0", "1"])
    values = {
        "sentences": ["b", "x", "a"], "order": [1, -1, 0], "position": 1, "corpus": "UD_de", "doc_id": None,
        "group": "g", "pair_id": None, "sent_ids": ["s"],
    }  # fmt: skip
    view = shown_row(row_of(0, 1, entry, **values))
    assert [(text.name, text.note) for text in view.texts] == [
        ("sentence 1", "2 in the source"), ("sentence 2", "from elsewhere"), ("sentence 3", "1 in the source"),
    ]  # fmt: skip
    in_place = shown_row(row_of(0, 1, entry, **values | {"order": [0, -1, 1]}))
    assert [text.note for text in in_place.texts] == ["", "from elsewhere", ""]
