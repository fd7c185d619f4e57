"""Every item has two rows: a pronoun for the subject before, and a name where the subject before is somebody else."""

import re
from collections import defaultdict
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
import syntaxgym_files
from made_sentences import NAMES, document, sentence, stories

import discoprobe
from discoprobe.builders import Context, Settings, crossed, tasks_named
from discoprobe.builders.audit import from_config
from discoprobe.cards.metadata import config_entry
from discoprobe.cards.release import syntaxgym
from discoprobe.evaluation import surprisal
from discoprobe.loaders import UnsupportedError, silent
from discoprobe.loaders.languages import language_data
from discoprobe.sources import load_corpus

BITS = {
    "centers": {("continue", "bad"): 2, ("switch", "good"): 1},
    "pronouns": {("continue", "bad"): 1, ("switch", "good"): 1},
}
"""What a text costs for a model that knows when names are repeated, and for one that prefers pronouns; else nothing."""


def corpus(folder, lang, documents):
    path = folder / f"{lang}_made-ud-test.conllu"
    path.write_text("".join(documents), encoding="utf-8")
    return load_corpus(str(path), on_error="skip")


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    return discoprobe.build(
        "remention_suite", corpus(tmp_path_factory.mktemp("made"), "en", stories("en")), Settings(min_class=2)
    )


def items_of(config):
    """The rows of each item by condition."""
    found = defaultdict(dict)
    for row in config.splits["test"].to_pylist():
        found[row["group"]][config.labels[row["label"]]] = row
    return list(found.values())


@pytest.fixture(scope="module")
def items(config):
    return items_of(config)


def candidates(folder, *sentences):
    """The candidates of a document about Anna, Berta and Carl."""
    return candidates_of(folder, document(1, sentences, a="Anna", b="Berta", c="Carl"))


def candidates_of(folder, text):
    (task,) = tasks_named(["remention_suite"])
    (part,) = corpus(folder, "en", [text]).parts
    return task.select(part.load(), Context(task.name, language_data("en"), Settings(), task.labels))


def test_the_texts_of_both_conditions(items):
    rows = {row["sentence_good"]: row for item in items for row in item.values()}
    switch = rows["She met Berta at the door. Berta laughed for hours."]
    assert switch["sentence_bad"] == "She met Berta at the door. She laughed for hours."
    assert switch["regions_good"] == ["She met Berta at the door.", "Berta", "laughed for hours."]
    continued = {row["sentence_good"]: row["sentence_bad"] for item in items for row in [item["continue"]]}
    expected = {
        "Anna came to the house. She met Berta at the door.": "Anna came to the house. Anna met Berta at the door.",
        "Berta laughed for hours. She left after that.": "Berta laughed for hours. Berta left after that.",
    }
    assert continued.items() & expected.items()
    for row in rows.values():
        assert row["region"] == 2
        assert row["sentence_good"][row["target"]["start"] : row["target"]["end"]] == row["target"]["form"]


@pytest.mark.parametrize(("lang", "pronoun"), [("en", "She"), ("fr", "Elle"), ("nl", "Ze"), ("de", "Sie")])
def test_both_directions_in_each_language(tmp_path, lang, pronoun):
    items = items_of(discoprobe.build("remention_suite", corpus(tmp_path, lang, stories(lang)), Settings(min_class=5)))
    assert len(items) == len(NAMES)
    for item in items:
        assert item.keys() == {"continue", "switch"}
        assert item["continue"]["regions_good"][1] in {pronoun, "Ze"}
        assert item["switch"]["regions_bad"][1] == pronoun
        names = item["continue"]["regions_bad"][1], item["switch"]["regions_good"][1]
        assert names[0] == names[1], "the stories have both mentions of each of these persons"
        assert names[1] in {b for _, b in NAMES}


def test_inside_a_sentence_a_pronoun_has_no_capital(tmp_path):
    found = candidates(
        tmp_path, "{a} met {b} outside.", "Then she:a laughed at her:b aloud.", "Soon {b} left the place."
    )
    assert found.select("condition", "mention", "other").rows() == [
        ("continue", "she", "Anna"), ("switch", "Berta", "she"),
    ]  # fmt: skip


def test_the_sentences_since_the_name_are_shown(tmp_path):
    found = candidates(tmp_path, "{a} came home late.", "She:a went to bed.", "She:a slept until noon.")
    assert found["sentence2"].to_list() == [
        "Anna came home late. Anna went to bed.", "Anna came home late. She went to bed. Anna slept until noon.",
    ]  # fmt: skip
    assert found["cell"].to_list() == ["she 1 1 True False", "she 1 2 True False"]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        pytest.param(("{a} came home late.", "{a} went to bed.", "She:a slept well."), ["She"], id="repeated-name"),
        pytest.param(("{c} met {a} outside.", "{a} laughed very loud.", "She:a left at noon.", "He:c stayed there."),
                     ["She"], id="other-gender"),
        pytest.param(("{a} came home late.", "They:a went to bed."), [], id="group"),
        pytest.param(("She:a came home late.", "She:a went to bed."), ["She not-named"], id="no-name"),
        pytest.param(("{a} came home late.", "She:a saw {a} there."), ["She named-again"], id="name-in-sentence"),
        pytest.param(("{a} came home late.", "Rain fell all night.", "She:a went to bed."), [], id="nobody-before"),
        pytest.param(("{a} came home late.", "She:a slept until noon."), ["She"], id="taken"),
        pytest.param(("{a} came home late.", *["She:a slept until noon."] * 19),
                     [*["She"] * 18, "She not-named"], id="far"),
        pytest.param(("Anna_Maria_Berg_Lund:a came.", "She:a slept until noon."), ["She not-named"], id="long-name"),
        pytest.param(("{a} met {b} outside.", "She:a sang aloud.", "{b} laughed very loud.", "She:b left at noon."),
                     ["She", "Berta", "She"], id="other-subject"),
        pytest.param(("{a} met {b} outside.", "I:a sang aloud.", "{b} laughed very loud.", "She:b left at noon.",
                      "Rain made her:a sad."), ["She"], id="speaker"),
    ],
)  # fmt: skip
def test_what_is_left(tmp_path, texts, expected):
    """Each candidate by its mention, with the reason why it is left; what is no candidate has none."""
    found = candidates(tmp_path, *texts).select("mention", "reason").rows()
    assert [" ".join(filter(None, row)) for row in found] == expected


@pytest.mark.parametrize(
    ("second", "changes", "expected"),
    [
        ("In her:a coat she:a slept.", {}, ["her"]),
        ("In her:a coat she:a slept.", {r"(\ther\t.*)nsubj": r"\1dep", r"(\tshe\t.*)dep": r"\1nsubj"},
         ["she not-first"]),
        ("She:a is here again.", {}, ["She"]),
        ("She:a is here again.", {r"(\tShe\tshe\tPRON\t_\t)_": r"\1Number=Plur"}, []),
        ("She:a ’s here again.", {"She ’s": "She’s", r"(\tShe\t.*\(a\))": r"\1|SpaceAfter=No"}, []),
    ],
    ids=["first", "not-first", "singular", "plural", "touching"],
)  # fmt: skip
def test_which_pronouns_are_exchanged(tmp_path, second, changes, expected):
    text = document(1, ["{a} came home late.", second], a="Anna")
    for pattern, new in changes.items():
        text, n = re.subn(pattern, new, text)
        assert n == 1
    found = candidates_of(tmp_path, text).select("mention", "reason").rows()
    assert [" ".join(filter(None, row)) for row in found] == expected


def test_the_cell_says_whether_the_last_name_before_is_that_of_the_subject(tmp_path):
    cells = [
        candidates(tmp_path, first, "She:a slept until noon.")["cell"].to_list()
        for first in ("{a} met {b} outside.", "{a} came home late.")
    ]
    assert cells == [["she 1 1 False False"], ["she 1 1 True False"]]


def test_the_pronoun_of_a_person_is_the_most_frequent_one(tmp_path):
    """Annotators took him once for her."""
    found = candidates(tmp_path, "{a} came home late.", *["She:a slept until noon."] * 2, "He:a left at noon.")
    assert found["mention"].to_list() == ["She", "She"]


@pytest.mark.parametrize(
    ("second", "feature", "reasons"),
    [
        pytest.param("She:a left.", "_", ["too-short", None], id="short"),
        pytest.param("She:a went to bed.", "Typo=Yes", ["typo", "typo"], id="typo"),
    ],
)
def test_a_sentence_before_may_be_short_but_has_no_other_fault(tmp_path, second, feature, reasons):
    sentences = re.split("(?=# sent_id)", document(1, ["{a} came home late.", second, "She:a slept well."], a="Anna"))
    sentences[2] = sentences[2].replace("VERB\t_\t_", f"VERB\t_\t{feature}")
    assert candidates_of(tmp_path, "".join(sentences))["reason"].to_list() == reasons


def without_trees(text):
    """A document without parts of speech, heads and relations."""
    return re.sub(r"(?m)^(\d+\t\S+\t\S+\t)\S+(\t\S+\t\S+\t)\S+\t\S+", r"\1_\2_\t_", text)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        pytest.param(["{a} met {b} outside.", "She:a slept until noon."], ["She"], id="first-person"),
        pytest.param(["{a} met {b} outside.", "She:b slept until noon."], [], id="second-person"),
        pytest.param(["{a} came home late.", *["Rain fell hard."] * 2, "She:a went to bed."], ["She"], id="far"),
        pytest.param(["{a} came home late.", *["Rain fell hard."] * 3, "She:a went to bed."], [], id="too-far"),
    ],
)
def test_without_trees_the_subject_before_is_the_first_person_of_the_last_sentence_with_one(tmp_path, texts, expected):
    both_are_persons = "They saw her:a and her:b there."
    found = candidates_of(tmp_path, without_trees(document(1, [*texts, both_are_persons], a="Anna", b="Berta")))
    assert found["mention"].to_list() == expected


@pytest.mark.parametrize("other", ["Carl", "Fred"])
def test_one_of_several_subjects_is_no_subject(tmp_path, other):
    """Carl comes with Anna, or Fred goes out with her; no mention holds both."""
    text = document(1, ["{a} came with Carl.", "She:a went with Fred."], a="Anna")
    found = candidates_of(tmp_path, re.sub(rf"(\t{other}\t.*)\t\d+\tdep", r"\1\t1\tconj", text))
    assert candidates_of(tmp_path, text).height == 1
    assert found.is_empty()


@pytest.mark.parametrize("gap", ["left-out", "numbers"])
def test_sentences_with_a_gap_between_them_are_no_neighbours(tmp_path, gap):
    """A malformed sentence is left out, or the numbers of the corpus show that one is missing."""
    texts = "Anna:a sang aloud.", "He ran away.", "She:a slept well.", "She:a left at noon."
    parts = [sentence(f"1.{n}", text) for n, text in enumerate(texts)]
    parts[1] = parts[1].replace("\t0\troot", "\t99\troot") if gap == "left-out" else ""
    found = candidates_of(tmp_path, "# newdoc id = d\n# global.Entity = eid\n" + "".join(parts))
    assert found.select("ids", "reason").rows() == [(["1.3"], "not-named")]


def test_a_pronoun_after_a_quotation_mark_has_a_capital(tmp_path):
    found = candidates(tmp_path, "{a} met {b} outside.", "She:a sang.", "» {b} laughed very loud.", "She:b left.")
    assert found.filter(pl.col("condition") == "switch")["other"].to_list() == ["She"]


def test_a_document_that_two_corpora_have_is_used_once(tmp_path):
    for name in ("one", "other"):
        (tmp_path / f"en_{name}-ud-test.conllu").write_text("".join(stories("en")), encoding="utf-8")
    config = discoprobe.build("remention_suite", load_corpus(str(tmp_path)), Settings(min_class=2))
    texts = [row["sentence_good"] for row in config.splits["test"].to_pylist()]
    assert len(set(texts)) == len(texts) == 2 * len(NAMES)
    assert config.drops["copy"] > 0


@pytest.mark.parametrize(("written", "name"), [("ˈana", "Anna"), ("von_Anna", "von Anna")])
def test_a_phonetic_transcription_is_no_name(tmp_path, written, name):
    found = candidates(tmp_path, "{a} is said " + f"{written}:a here.", "She:a slept until noon.")
    assert found["other"].to_list() == [name]


def test_a_genitive_is_no_name(tmp_path):
    text = "".join(stories("de")).replace("\tPROPN\t_\t_", "\tPROPN\t_\tCase=Gen")
    with pytest.raises(UnsupportedError, match="0 items are left"):
        discoprobe.build("remention_suite", corpus(tmp_path, "de", [text]), Settings(min_class=2))


def test_a_language_without_listed_pronouns_is_not_supported(tmp_path):
    with pytest.raises(UnsupportedError, match="no subject pronouns are listed for Spanish"):
        discoprobe.build("remention_suite", corpus(tmp_path, "es", stories("en")), Settings(min_class=2))


def test_too_few_items_make_no_config(tmp_path):
    with pytest.raises(UnsupportedError, match="5 items are left; 6 are needed"):
        discoprobe.build("remention_suite", corpus(tmp_path, "en", stories("en")), Settings(min_class=6))


def test_corpora_may_share_ids_and_some_have_no_coreference(tmp_path):
    for name in ("one", "other"):
        text = "".join(stories("en")).replace("house", name).replace("hours", f"{name}s").replace("that", name)
        (tmp_path / f"en_{name}-ud-test.conllu").write_text(text.replace("door", name), encoding="utf-8")
    plain = stories("en")[0].replace("# global.Entity = eid\n", "")
    (tmp_path / "en_plain-ud-test.conllu").write_text(plain, encoding="utf-8")
    config = discoprobe.build("remention_suite", load_corpus(str(tmp_path)), Settings(min_class=2))
    assert config.n_rows == 2 * 2 * len(NAMES)


@pytest.mark.parametrize(("model", "of_items"), [("centers", 1.0), ("pronouns", 0.5)])
def test_a_preference_for_pronouns_is_not_enough(config, items, monkeypatch, model, of_items):
    """Of the rows both models get half; only the items tell them apart."""
    costs = {
        item[condition][f"sentence_{side}"]: BITS[model].get((condition, side), 0)
        for item in items for condition in item for side in ("good", "bad")
    }  # fmt: skip

    def bits(_model, texts, _progress):
        start = np.array([0])  # one token is the whole text
        return [surprisal.TokenSurprisal(np.array([costs[text]]), start, np.array([len(text)])) for text in texts]

    monkeypatch.setattr(surprisal, "surprisals", bits)
    made = SimpleNamespace(name="made", commit="", has_head=True)
    scored = surprisal.evaluate(from_config(config), made, silent)
    assert (scored.best.method, scored.best.accuracy, scored.best.n) == ("item", of_items, len(items))
    assert next(score.accuracy for score in scored.scores if score.method == "total") == 0.5


@pytest.mark.parametrize(
    ("groups", "conditions", "items"),
    [
        ("aabb", [0, 1, 1, 0], True),
        ("aabb", [0, 0, 1, 1], False),
        ("aab", [0, 1, 0], False),
        ("ab", [0, 0], False),
        ("aabb", [None] * 4, False),
    ],
)
def test_groups_with_one_row_of_each_condition_are_items(groups, conditions, items):
    rows = pl.DataFrame({"group": list(groups), "condition": conditions}, {"group": pl.String, "condition": pl.Int64})
    assert crossed(rows) is items


def test_syntaxgym_has_items_with_four_conditions(config, items, tmp_path):
    rows = pl.DataFrame(config.splits["test"])
    entry = config_entry(config, {}, {})
    ((name, lines),) = syntaxgym(lambda _: rows, config.name, entry)
    (tmp_path / name).write_text("".join(lines), encoding="utf-8")
    suite, trees = syntaxgym_files.read(tmp_path / name)
    assert len(suite["items"]) == len(items)
    shown = [
        {part["condition_name"]: " ".join(one["content"] for one in part["regions"]) for part in item["conditions"]}
        for item in suite["items"]
    ]
    expected = [
        {
            f"{condition}_{version}": item[condition][f"sentence_{side}"]
            for condition in item for version, side in (("original", "good"), ("edited", "bad"))
        }
        for item in items
    ]  # fmt: skip
    assert all(texts in expected for texts in shown)
    assert all(texts in shown for texts in expected)
    for model, right in (("centers", True), ("pronouns", False)):
        bits = {
            f"{condition}_{version}": [0, BITS[model].get((condition, side), 0), 0]
            for condition in config.labels for version, side in (("original", "good"), ("edited", "bad"))
        }  # fmt: skip
        assert [syntaxgym_files.value(tree, bits) for tree in trees] == [right, right]


def test_a_text_is_clean_as_a_whole(tmp_path):
    """A blank before a mark is no fault in a sentence alone, but beside one that has none."""
    texts = [document(n, ["{a} came home late.", "She:a slept until noon."], a="Anna") for n in range(40)]
    texts[0] = texts[0].replace("until noon.", "until noon .").replace("SpaceAfter=No", "_").replace("late .", "late.")
    texts[0] = re.sub(r"_\n(\d+\t\.\t)", r"SpaceAfter=No\n\1", texts[0], count=1)
    found = candidates_of(tmp_path, "".join(texts))
    assert found["reason"].to_list() == ["spacing", *[None] * 39]
