"""Labels computed anew from the trees that the `conllu` library reads: another reader, word by word, no columns.

An oracle takes a tree and the target of a row and gives the label, or None where the tree is no example of the task
(two bearers, a second value, no subject). ``ORACLES`` has one for every task whose label is a fact about a tree.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import conllu
import pytest
from shared import UD, needs_shared

from discoprobe.builders.build import build_all
from discoprobe.builders.config import Config
from discoprobe.builders.settings import Settings
from discoprobe.builders.task import tasks_named
from discoprobe.loaders.conllu import read_corpora
from discoprobe.loaders.language import language_data

TREEBANKS = ["cs", "de", "en", "es", "fi", "hi", "hr", "pl", "ro", "ru", "tr"]
ALL_CANDIDATES = Settings(match=False, ipm="none", syncretism=(), min_class=2)
"""Nothing is balanced away and nothing filtered, so that the oracle sees as many rows as there can be."""


@dataclass(frozen=True)
class Word:
    """A syntactic word."""

    id: int
    form: str
    lemma: str | None
    upos: str | None
    feats: dict[str, str]
    head: int
    deprel: str

    @property
    def rel(self):
        return self.deprel.partition(":")[0]


class Tree:
    """A sentence."""

    def __init__(self, tokens, lang):
        self.language = language_data(lang)
        self.text = tokens.metadata["text"]
        self.words = [
            Word(t["id"], t["form"], t["lemma"], t["upos"], dict(t["feats"] or {}), t["head"], t["deprel"])
            for t in tokens
            if isinstance(t["id"], int)
        ]
        self.root = next(word for word in self.words if word.head == 0)
        ranges = [range(t["id"][0], t["id"][2] + 1) for t in tokens if isinstance(t["id"], tuple) and t["id"][1] == "-"]
        self.fused = {word.form for word in self.words if any(word.id in parts for parts in ranges)}

    def children(self, word):
        return [child for child in self.words if child.head == word.id]

    @property
    def predicate(self):
        """The root and its auxiliaries and copulas by place."""
        places = {"root": [self.root], "aux": [], "cop": [], "aux:pass": []}
        for child in self.children(self.root):
            if child.deprel.startswith("aux:pass"):
                places["aux:pass"].append(child)
            elif child.rel in places:
                places[child.rel].append(child)
        return places


def one_value(word, feature):
    value = word.feats.get(feature)
    return None if value is None or "," in value or "Abbr" in word.feats else value


def noun_of_predicate(role, feature):
    def oracle(tree, target):
        filling = [word for word in tree.children(tree.root) if word.rel == role]
        if len(filling) != 1 or filling[0].upos != "NOUN" or filling[0].form != target["form"]:
            return None
        (noun,), rule = filling, tree.language.arguments.get(role)
        if {child.rel for child in tree.children(noun)} & {"conj", "nummod"}:
            return None
        adpositions = {child.lemma for child in tree.children(noun) if child.rel == "case"}
        if adpositions - (set(rule.markers) if rule else set()):
            return None
        if rule and rule.cases and "Case" in noun.feats and not rule.cases & set(noun.feats["Case"].split(",")):
            return None
        return one_value(noun, feature)

    return oracle


def holds(condition, word):
    return condition.holds(word.upos, word.lemma, word.feats)


def predicate_is_a_clause(tree):
    """Whether the root is the verb of a clause that another clause has for its predicate."""
    relations = {child.deprel for child in tree.children(tree.root)}
    finite = tree.root.upos in {"VERB", "AUX"} and tree.root.feats.get("VerbForm") == "Fin"
    return bool(relations & {"nsubj:outer", "csubj:outer"}) or (finite and bool(tree.predicate["cop"]))


def feature_of_predicate(feature):
    def oracle(tree, target):
        rule = tree.language.predicate
        if predicate_is_a_clause(tree):
            return None
        helpers = [word for place, words in tree.predicate.items() if place != "root" for word in words]
        if rule.places["Tense"] == ("root",) and any(w.upos == "AUX" and feature in w.feats for w in helpers):
            return None
        if feature == "Tense":
            if any(word.feats.get("Mood") in {"Cnd", "Sub"} for place in tree.predicate.values() for word in place):
                return None
            for compound in rule.compound:
                helpers = [
                    word for word in tree.children(tree.root) if word.rel == "aux" and word.lemma in compound.aux
                ]
                fitting = [w for w in helpers if not compound.aux_tense or w.feats.get("Tense") in compound.aux_tense]
                if fitting and holds(compound.root, tree.root):
                    return compound.label if tree.root.form == target["form"] else None
        read = rule.read.get(feature, ())
        for place in rule.places[feature]:
            bearing = [
                word
                for word in tree.predicate[place]
                if word.upos in {"VERB", "AUX"}
                and feature in word.feats
                and (not read or any(holds(c, word) for c in read))
            ]
            if bearing:
                return one_value(bearing[0], feature) if [w.form for w in bearing] == [target["form"]] else None
        return None

    return oracle


def voice(tree, target):
    rule, root = tree.language.predicate, tree.root
    relations = {child.deprel for child in tree.children(root)}
    helpers = {child.lemma for child in tree.children(root) if child.rel == "aux"}

    def marked(mark):
        if match := re.fullmatch(r"aux=(\w+)(/Inf)?", mark):
            return match[1] in helpers and root.feats.get("VerbForm") == ("Inf" if match[2] else "Part")
        if match := re.fullmatch(r"(\w+)=(.*)", mark):
            return root.feats.get(match[1]) == match[2]
        return mark in relations

    if root.form != target["form"] or "Abbr" in root.feats or "cop" in {child.rel for child in tree.children(root)}:
        return None
    if predicate_is_a_clause(tree):
        return None
    may_be_passive = not rule.passive_if or any(holds(condition, root) for condition in rule.passive_if)
    of_verb = [mark for mark in rule.passive if mark not in {"nsubj:pass", "csubj:pass", "expl:pass"}]
    if any(map(marked, of_verb)):
        return "Pass" if may_be_passive and not relations & {"expl:pv", "expl:comp"} else None
    if any(map(marked, rule.passive)):
        return "Pass" if may_be_passive and "xcomp" not in {child.rel for child in tree.children(root)} else None
    if any(map(marked, rule.unsure)) or not any(holds(condition, root) for condition in rule.active_if):
        return None
    return "Act"


def impersonal(tree, target):
    assert target is None
    rule, relations = tree.language.impersonal, {child.rel for child in tree.children(tree.root)}
    if tree.root.upos == "VERB" and "VerbForm" not in tree.root.feats:
        return None
    if "nsubj" in relations:
        return "personal"
    helpers = [word for place, words in tree.predicate.items() if place != "root" for word in words]
    helped = any(word.feats.get("VerbForm") == "Fin" for word in helpers)
    speaking = helpers if helped and tree.root.feats.get("VerbForm") == "Inf" else [tree.root, *helpers]

    def met(conditions):
        return any(holds(condition, word) for condition in conditions for word in speaking)

    if relations & {"csubj", "expl"} or met(rule.personal) or not met(rule.impersonal):
        return None
    return "impersonal"


def feature_of_role(role, feature):
    phrase = role in {"nmod", "amod", "det", "nummod", "acl", "appos", "conj", "case"}

    def oracle(tree, target):
        words = [tree.root] if role == "root" else tree.words if phrase else tree.children(tree.root)
        filling = [word for word in words if role in {"root", word.rel}]
        if [word.form for word in filling] != [target["form"]]:
            return None
        return one_value(filling[0], feature)

    return oracle


ORACLES = {
    "subj_number": noun_of_predicate("nsubj", "Number"),
    "subj_gender": noun_of_predicate("nsubj", "Gender"),
    "obj_number": noun_of_predicate("obj", "Number"),
    "obj_gender": noun_of_predicate("obj", "Gender"),
    "pred_tense": feature_of_predicate("Tense"),
    "pred_aspect": feature_of_predicate("Aspect"),
    "pred_mood": feature_of_predicate("Mood"),
    "pred_person": feature_of_predicate("Person"),
    "pred_voice": voice,
    "impersonal": impersonal,
    "feats_root_verbform": feature_of_role("root", "VerbForm"),
    "feats_nsubj_number": feature_of_role("nsubj", "Number"),
    "feats_nmod_case": feature_of_role("nmod", "Case"),
    "feats_amod_degree": feature_of_role("amod", "Degree"),
    "feats_obl_number": feature_of_role("obl", "Number"),
}


@pytest.fixture(scope="module")
def trees():
    """A function: the trees of a language by sentence id and text."""
    found = {}

    def get(lang):
        if lang not in found:
            found[lang] = {
                (tokens.metadata["sent_id"], tokens.metadata["text"]): tree
                for path in sorted(Path(UD / lang).rglob("*.conllu"))
                for tokens in conllu.parse(path.read_text(encoding="utf-8"))
                for tree in [Tree(tokens, lang)]
            }
        return found[lang]

    return get


@pytest.fixture(scope="module")
def configs():
    """A function: the configs of all tasks with an oracle, of a language."""
    found = {}

    def get(lang):
        if lang not in found:
            corpus = read_corpora([UD / lang])[lang]
            built = build_all(tasks_named(list(ORACLES)), corpus, ALL_CANDIDATES)
            found[lang] = {config.task: config for config in built if isinstance(config, Config)}
        return found[lang]

    return get


@needs_shared
@pytest.mark.parametrize("lang", TREEBANKS)
@pytest.mark.parametrize("task", ORACLES)
def test_every_label_is_what_the_tree_says(task, lang, trees, configs):
    if task not in configs(lang):
        pytest.skip(f"{lang} has no {task}")
    config = configs(lang)[task]
    rows = [row for table in config.splits.values() for row in table.to_pylist()]
    wrong = []
    for row in rows:
        tree = trees(lang)[row["sent_ids"][0], row["original"] or row["text"]]
        label = ORACLES[task](tree, row["target"])
        if label != config.labels[row["label"]]:
            wrong.append((row["sent_ids"], row["text"], row["target"], label, config.labels[row["label"]]))
    assert rows
    assert not wrong


@needs_shared
@pytest.mark.parametrize("lang", TREEBANKS)
def test_a_target_that_is_a_token_stands_apart(lang, trees, configs):
    for config in configs(lang).values():
        for row in (row for table in config.splits.values() for row in table.to_pylist() if row["target"]):
            parts = trees(lang)[row["sent_ids"][0], row["text"]].fused
            target, text = row["target"], row["text"]
            around = text[: target["start"]][-2:], text[target["end"] :][:2]
            if target["form"] not in parts:
                assert not around[0][-1:].isalnum(), (text, target)
                assert not around[1][:1].isalnum(), (text, target)
                hyphened = re.search(r"\w-$", around[0]) or re.match(r"-\w", around[1])
                assert not hyphened or lang in {"ro", "es"}, (text, target)


@needs_shared
@pytest.mark.parametrize("lang", TREEBANKS)
def test_most_tasks_have_rows_to_compare(lang, configs):
    assert len(configs(lang)) >= len(ORACLES) // 2
