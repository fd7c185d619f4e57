"""Datasets of others that `build import` makes suites of: Winograd schemas and contradictions of dialogues."""

import json

import polars as pl
import pytest

from discoprobe.builders import Shape, schema
from discoprobe.builders.audit import UnreadableDataError
from discoprobe.foreign_suites import suite_of
from discoprobe.loaders import Source


@pytest.fixture
def suite(tmp_path):
    def made(task_type, name, content, lang="en"):
        (path := tmp_path / name).write_text(content, encoding="utf-8")
        return suite_of(task_type, [path], name="mine", lang=lang, source=Source("mine", lang, "CC0"))

    return made


def rows_of(config):
    table = config.splits["test"]
    assert table.schema == schema(Shape.SUITE)
    rows = table.to_pylist()
    for row in rows:
        for side in ("good", "bad"):
            assert row[f"sentence_{side}"] == " ".join(filter(None, row[f"regions_{side}"]))
    return rows


def wsc(text, pronoun, options, label, **others):
    return {"text": text, "pronoun": pronoun, "pronoun_loc": text.index(f" {pronoun}") + 1, "quote": "", "quote_loc": 0,
            "options": options, "label": label, "source": "(Levesque 2011)", **others}  # fmt: skip


COUNCIL = "The city councilmen refused the demonstrators a permit because they {} violence."
WSC273 = [
    wsc(COUNCIL.format("feared"), "they", ["The city councilmen", "The demonstrators"], 0),
    wsc(COUNCIL.format("advocated"), "they", ["The city councilmen", "The demonstrators"], 1),
    wsc("Joan thanked Susan for the help. She had given it, as they say.", "She", ["Joan", "Susan"], 1),
    wsc("Bob paid for Charlie and the bill was on his account then.", "his", ["Bob", "Charlie"], 0),
    wsc("Bob paid for Charlie because it's known that he likes the man.", "he", ["Bob", "Charlie"], 0),
    wsc("Bob likes Charlie, so the man called him.", "him", ["Bob", "Charlie"], 1),
]


def lines(records):
    return "".join(json.dumps(record) + "\n" for record in records)


def test_schemas_of_wsc273(suite):
    config = suite("winograd-suite", "wsc273.jsonl", lines(WSC273))
    assert (config.name, config.labels) == ("mine_en", ("first_candidate", "second_candidate"))
    assert config.drops == {"other-pronoun": 1, "nothing-after": 1}
    assert set(config.meanings) == set(config.drops)
    by_good = {row["sentence_good"]: row for row in rows_of(config)}
    assert len(by_good) == 4
    start = "The city councilmen refused the demonstrators a permit because"
    feared = by_good[f"{start} the city councilmen feared violence."]
    assert feared["regions_bad"] == [start, "the demonstrators", "feared violence."]
    assert (feared["region"], config.labels[feared["label"]]) == (3, "second_candidate")
    advocated = by_good[f"{start} the demonstrators advocated violence."]
    assert config.labels[advocated["label"]] == "first_candidate"
    assert advocated["pair_id"] != feared["pair_id"]
    assert any("help. Susan had given" in good for good in by_good)
    assert config.counts() == {"test": {"first_candidate": 2, "second_candidate": 2}}


def xwino(language, text, tokens, pronoun, at, candidates):
    spans = [[name, [0, 1], name.split(), right] for name, right in candidates]
    cells = [language, "original", "?", text, *map(json.dumps, (tokens, [pronoun, [at, at + 1], [pronoun]], spans))]
    return "\t".join(cells)


def test_schemas_of_xwinograd(suite):
    said = "He said that Paul called George when he was in."
    rows = [
        xwino("en", said, said[:-1].split(), "he", 7, [("Paul", False), ("George", True)]),
        xwino("ru", "Женя ждала Сашу, а она пришла.", ["Женя"], "она", 0, [("Женя", False), ("Сашу", True)]),
        xwino("en", "The lid is off the pot since it is hot.", ["The"], "it", 0,
              [("lid", False), ("the pot", True)]),
    ]  # fmt: skip
    config = suite("winograd-suite", "dataset.tsv", "\n".join(rows) + "\n")
    (row,) = rows_of(config)
    assert row["regions_good"] == ["He said that Paul called George when", "George", "was in."]
    assert config.drops == {"other-language": 1, "bare-noun": 1}
    with pytest.raises(
        UnreadableDataError, match=r"dataset\.tsv: no pair of ru is left \(other-language 2, other-pronoun 1\)"
    ):
        suite("winograd-suite", "dataset.tsv", "\n".join(rows), lang="ru")


def test_candidates_that_would_be_no_sentence_are_left_out(suite):
    """In the place of *they* stands no singular, and no *Some people* or *Tree* that the text has small elsewhere."""
    records = [
        wsc("New York is crowded, but they are small, unlike the towns.", "they", ["New York", "the towns"], 0),
        wsc("The nurses and James met before they were old.", "they", ["The nurses", "James"], 0),
        wsc("Some people came to the towns because they feared the rain.", "they", ["Some people", "the towns"], 0),
        wsc("There some people saw the tree. By and by it grew like a tree.", "it", ["Tree", "the tree"], 1),
        wsc("The class feared the towns, as they are, by the way, big.", "they", ["The class", "the towns"], 0),
        wsc("John saw a man in a park, and he was old.", "he", ["John", "A man"], 0),
        wsc("Paul saw Mary. Then the boys saw the towns and they were glad.", "they", ["the boys", "the towns"], 0),
    ]
    config = suite("winograd-suite", "wsc.jsonl", lines(records))
    assert config.drops == {"number": 3, "bare-noun": 3}
    (row,) = rows_of(config)
    assert row["regions_good"][1:] == ["the boys", "were glad."]


@pytest.mark.parametrize(
    ("lang", "pronoun", "plural", "singular"),
    [
        ("en", "they", "the boys", "his dog"),
        ("en", "they", "the sons of Paul", "the son of the kings"),
        ("en", "they", "Paul and Anne", "the class"),
        ("fr", "ils", "les garçons", "le fils de Paul"),
        ("fr", "ils", "Paul et Anne", "son vieux chien"),
        ("pt", "eles", "os rapazes", "o país vizinho"),
    ],
)
def test_a_plural_pronoun_has_plural_candidates(lang, pronoun, plural, singular, suite):
    """The determiner (French, Portuguese) or the head noun (English) tells; *s* at the end of another word does not."""
    text = f"They saw {plural} and {singular}, {pronoun} were there today."
    with pytest.raises(UnreadableDataError, match=r"\(number 1\)"):
        suite("winograd-suite", "wsc.jsonl", lines([wsc(text, pronoun, [plural, singular], 0)]), lang=lang)


def test_schemas_with_a_gap_in_any_language(suite, tmp_path):
    row = {
        "sentence": "Щука съела плотву, потому что _ была голодна.",
        "option1": "Щука",
        "option2": "Плотва",
        "answer": "1",
    }
    (shown,) = rows_of(suite("winograd-suite", "a.json", json.dumps([row]), lang="ru"))
    assert shown["regions_good"][1:] == ["Щука", "была голодна."]
    pl.DataFrame([row]).write_parquet(tmp_path / "a.parquet")
    again = suite_of("winograd-suite", [tmp_path / "a.parquet"], name="mine", lang="ru", source=Source("mine", "ru"))
    assert again.splits["test"].to_pylist() == [shown]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"text": "A b."}, "no 'sentence'"),
        (WSC273[0] | {"pronoun_loc": 3}, "'they' does not stand at character 3"),
        (WSC273[0] | {"label": 2}, "the answer is 2, not one of two candidates"),
        (WSC273[0] | {"options": ["A"]}, "not enough values"),
        ({"sentence": "No gap.", "option1": "a", "option2": "b", "answer": "1"}, "substring not found"),
    ],
)
def test_malformed_schemas_are_named_with_their_line(suite, record, message):
    with pytest.raises(UnreadableDataError) as error:
        suite("winograd-suite", "wsc.jsonl", lines([WSC273[0], record]))
    assert str(error.value).startswith("wsc.jsonl:2: not a Winograd schema: ")
    assert message in str(error.value)


@pytest.mark.parametrize(("name", "content"), [("a.tsv", "en\tx"), ("a.jsonl", "{"), ("a.jsonl", "3"), ("a.json", "[")])
def test_malformed_files(suite, name, content):
    with pytest.raises(UnreadableDataError, match=rf"^{name}(:1: malformed|:1: not a JSON object|: cannot be read)"):
        suite("winograd-suite", name, content)


def utterances(label, first="i have two dogs .", second="i have no  pets ."):
    return {"label": label, "sentence1": first, "sentence2": second, "triple1": ["i", "have_pet", "dog"],
            "triple2": ["i", "have_pet", "none"], "dtype": "matchingtriple_up_down", "id": "test_1"}  # fmt: skip


@pytest.mark.parametrize("as_list", [False, True])
def test_contradictions_of_dialogue_nli_in_both_orders(suite, as_list):
    records = [
        utterances("negative"), utterances("positive"), utterances("neutral"),
        utterances("negative", "i have no pets .", "i have two dogs ."),
        utterances("negative", "i ski .", "i hate snow ."),
    ]  # fmt: skip
    config = suite("speaker-suite", "dnli.jsonl", json.dumps(records) if as_list else lines(records))
    rows = rows_of(config)
    assert {tuple(row["regions_good"]) for row in rows} == {
        ("A:", first, "B:", second)
        for one, other in (("i have two dogs .", "i have no pets ."), ("i ski .", "i hate snow ."))
        for first, second in ((one, other), (other, one))
    }
    assert len(rows) == 4
    assert all(row["regions_bad"] == [*row["regions_good"][:2], "A:", row["regions_good"][3]] for row in rows)
    assert all((row["region"], row["label"]) == (4, 0) for row in rows)
    assert config.drops == {"no-contradiction": 2, "duplicate": 1}


def test_malformed_contradictions(suite):
    records = [utterances("negative"), utterances("negative") | {"sentence2": None}]
    with pytest.raises(
        UnreadableDataError, match=r"^dnli\.jsonl:2: expected label, sentence1 and sentence2 with texts"
    ):
        suite("speaker-suite", "dnli.jsonl", lines(records))
