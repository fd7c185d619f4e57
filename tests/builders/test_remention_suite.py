"""Every item has four texts: two subjects, and for each the pronoun and the repeated name."""

from collections import Counter, defaultdict
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
import syntaxgym_files

import discoprobe
from discoprobe.builders.audit.frame import from_config
from discoprobe.builders.config import Shape
from discoprobe.builders.settings import Settings
from discoprobe.cards.release.pair_formats import syntaxgym
from discoprobe.evaluation import surprisal
from discoprobe.loaders.process_pool import silent
from discoprobe.sources import load_corpus

FEM, MASC = (f"Case=Nom|Gender={gender}|Number=Sing|Person=3|PronType=Prs" for gender in ("Fem", "Masc"))
NAMES = ["Anna", "Berta", "Clara", "Dora", "Anna Kay", "Berta Lee", "Adam", "Boris", "Adam", "Carl"]
"""Women of one name and of two, and men; two of the men are an *Adam*."""
BITS = {"binding": {("bound", "bad"): 2, ("free", "good"): 1}, "pronouns": {("bound", "bad"): 1, ("free", "good"): 1}}
"""What a text costs for a model that knows what subjects bind, and for one that prefers pronouns; else nothing."""


def block(name, *lines):
    """A sentence from ``form UPOS feats head relation [bracket]`` per word."""
    rows = [[*line.split(), "_"][:6] for line in lines]
    text = " ".join(row[0] for row in rows).replace(" .", ".")
    table = [
        f"{n}\t{form}\t{form.lower()}\t{upos}\t_\t{feats}\t{head}\t{relation}\t_\t"
        + "|".join([*([f"Entity={bracket}"] * (bracket != "_")), *(["SpaceAfter=No"] * (n == len(rows) - 1))] or ["_"])
        for n, (form, upos, feats, head, relation, bracket) in enumerate(rows, 1)
    ]
    return f"# sent_id = {name}\n# text = {text}\n" + "\n".join(table) + "\n\n"


def document(number, name):
    """*Anna closed her drawer0.* and *Later she wiped her window0.*; a thing of its own for every sentence."""
    first, *more = name.split()
    feats = MASC if first in {"Adam", "Boris", "Carl"} else FEM
    own = feats.replace("Case=Nom", "Case=Gen|Poss=Yes")
    pronoun, possessive = ("he", "his") if feats == MASC else ("she", "her")
    bracket = "(e1-person-1-" + ")" * (not more)
    subject = [f"{first} PROPN Number=Sing {2 + len(more)} nsubj {bracket}"]
    subject += [f"{part} PROPN Number=Sing 1 flat e1)" for part in more]
    at = len(subject) + 1
    return (
        f"# newdoc id = d{number}\n# global.Entity = eid-etype-head-other\n"
        + block(
            f"{number}.1", *subject, "closed VERB VerbForm=Fin 0 root",
            f"{possessive} PRON {own} {at + 2} nmod:poss (e2-object-2-(e1-person-1-)",
            f"drawer{number} NOUN Number=Sing {at} obj e2)", f"quickly ADV _ {at} advmod", f". PUNCT _ {at} punct",
        )
        + block(
            f"{number}.2", "Later ADV _ 3 advmod", f"{pronoun} PRON {feats} 3 nsubj (e1-person-1-)",
            "wiped VERB VerbForm=Fin 0 root", f"{possessive} PRON {own} 5 nmod:poss (e3-object-2-(e1-person-1-)",
            f"window{number} NOUN Number=Sing 3 obj e3)", ". PUNCT _ 3 punct",
        )
    )  # fmt: skip


def suite(folder, lang, documents):
    path = folder / f"{lang}_made-ud-test.conllu"
    path.write_text("".join(documents), encoding="utf-8")
    return discoprobe.build("remention_suite", load_corpus(str(path)), Settings(min_class=2))


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    return suite(tmp_path_factory.mktemp("made"), "en", [document(n, name) for n, name in enumerate(NAMES)])


@pytest.fixture(scope="module")
def items(config):
    """The rows of each item by condition."""
    found = defaultdict(dict)
    for row in config.splits["test"].to_pylist():
        found[row["group"]][config.labels[row["label"]]] = row
    return list(found.values())


def test_every_sentence_is_an_item_of_two_rows(items):
    assert len(items) == 2 * len(NAMES)
    assert all(item.keys() == {"bound", "free"} for item in items)


def test_the_four_texts(items):
    (item,) = [item for item in items if "drawer4" in item["bound"]["sentence_good"]]
    assert item["bound"]["sentence_good"] == "Anna Kay closed her drawer4 quickly."
    assert item["bound"]["sentence_bad"] == "Anna Kay closed Anna Kay's drawer4 quickly."
    assert item["free"]["sentence_good"] == "Berta Lee closed Anna Kay's drawer4 quickly."
    assert item["free"]["sentence_bad"] == "Berta Lee closed her drawer4 quickly."
    assert item["free"]["regions_good"] == ["Berta Lee closed", "Anna Kay's", "drawer4 quickly."]
    assert [item[condition]["region"] for condition in item] == [2, 2]
    for row in item.values():
        assert row["sentence_good"][row["target"]["start"] : row["target"]["end"]] == row["target"]["form"]


def test_a_subject_that_is_a_pronoun_is_named(items):
    (item,) = [item for item in items if "window1" in item["bound"]["sentence_good"]]
    assert item["bound"]["sentence_good"] == "Later Berta wiped her window1."
    assert item["bound"]["sentence_bad"] == "Later Berta wiped Berta's window1."


def test_the_texts_of_an_item_have_the_same_words(items):
    """So the two differences, bad minus good, have the sum zero for every count of words or characters."""
    for item in items:
        good, bad = (
            Counter(word for row in item.values() for word in row[f"sentence_{side}"].split())
            for side in ("good", "bad")
        )
        assert good == bad


def test_every_name_is_the_other_subject_as_often_as_its_own(items):
    starts = {
        condition: [item[condition]["regions_good"][0].removeprefix("Later ") for item in items]
        for condition in ("bound", "free")
    }  # fmt: skip
    subjects = {condition: Counter(text.rpartition(" ")[0] for text in texts) for condition, texts in starts.items()}
    assert subjects["bound"] == subjects["free"]
    assert subjects["bound"]["Adam"] == 4
    for bound, free in zip(*starts.values(), strict=True):
        assert bound != free
        assert len(bound.split()) == len(free.split())


def test_corpora_may_share_ids_and_some_have_no_coreference(tmp_path):
    for corpus, names in (("one", NAMES[:4]), ("other", ["Emma", "Fanny", "Gerda", "Hilda"])):
        text = "".join(document(n, name) for n, name in enumerate(names)).replace("drawer", f"{corpus}drawer")
        (tmp_path / f"en_{corpus}-ud-test.conllu").write_text(
            text.replace("window", f"{corpus}window"), encoding="utf-8"
        )
    plain = document(9, "Ida").replace("# global.Entity = eid-etype-head-other\n", "")
    (tmp_path / "en_plain-ud-test.conllu").write_text(plain, encoding="utf-8")
    config = discoprobe.build("remention_suite", load_corpus(str(tmp_path)), Settings(min_class=2))
    assert config.n_rows == 2 * 2 * 8


def test_a_language_whose_possessors_are_not_listed_has_no_possessives(tmp_path):
    with pytest.raises(discoprobe.loaders.errors.UnsupportedError, match="0 items are left; 2 are needed"):
        suite(tmp_path, "fr", [document(n, name) for n, name in enumerate(NAMES)])


@pytest.mark.parametrize(("model", "of_items"), [("binding", 1.0), ("pronouns", 0.5)])
def test_a_preference_for_pronouns_is_not_enough(config, items, monkeypatch, model, of_items):
    """Of the rows both models get half; only the items tell them apart."""
    costs = {
        item[condition][f"sentence_{side}"]: BITS[model].get((condition, side), 0)
        for item in items for condition in item for side in ("good", "bad")
    }  # fmt: skip

    def bits(_model, texts, _progress):
        at = np.array([0])
        return [surprisal.TokenSurprisal(np.array([costs[text]]), at, at + 1) for text in texts]

    monkeypatch.setattr(surprisal, "surprisals", bits)
    scored = surprisal.evaluate(
        from_config(config), SimpleNamespace(name="made", commit="", n_cut=lambda _texts: 0), silent
    )
    assert (scored.best.method, scored.best.accuracy, scored.best.n) == ("item", of_items, len(items))
    assert next(score.accuracy for score in scored.scores if score.method == "total") == 0.5


def test_syntaxgym_has_items_with_four_conditions(config, items, tmp_path):
    rows = pl.DataFrame(config.splits["test"])
    entry = {"shape": Shape.SUITE, "labels": list(config.labels), "task": config.task, "summary": "a suite"}
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
    for model, right in (("binding", True), ("pronouns", False)):
        bits = {
            f"{condition}_{version}": [0, BITS[model].get((condition, side), 0), 0]
            for condition in config.labels for version, side in (("original", "good"), ("edited", "bad"))
        }  # fmt: skip
        assert [syntaxgym_files.value(tree, bits) for tree in trees] == [right, right]
