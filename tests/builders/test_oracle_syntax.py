"""Rows of the syntactic tasks judged anew on the trees that the `conllu` library reads, word by word, no columns."""

import itertools
import re
import unicodedata
from pathlib import Path

import conllu
import pytest
from shared import SAMPLE_LANGUAGES, SMALL_CLASSES, UD, as_shown, needs_shared, treebank_files
from wordfreq import get_frequency_dict

from discoprobe.builders import Config, Settings, build_all, tasks_named
from discoprobe.builders.edits import ConjTypeRules, SwapRules
from discoprobe.loaders.languages import language_data
from discoprobe.sources import load_corpus

SHARED_LANGUAGES = [lang for lang in ("cs", "de", "en", "es", "ru", "tr", "zh") if UD.is_dir()]
CORPORA = [pytest.param("sample", lang, id=f"{lang}-sample") for lang in SAMPLE_LANGUAGES]
CORPORA += [pytest.param("shared", lang, id=f"{lang}-shared", marks=pytest.mark.slow) for lang in SHARED_LANGUAGES]
ALL = Settings(match=False, ipm="none", min_class=2)
FAULTY = ("``", "''", "http", "www.", "- -", "  ")
TAKEN = Path(__file__).parents[1] / "cases" / "coord_inv" / "take.conllu"
CLAUSES = {"advcl", "ccomp", "acl", "csubj", "parataxis"}


class Tree:
    """A sentence: words by id, their heads and relations."""

    def __init__(self, tokens, lang):
        self.lang, self.text = lang, as_shown(tokens.metadata["text"], lang)
        self.words = [token for token in tokens if isinstance(token["id"], int)]
        self.joined = {
            part
            for token in tokens
            if isinstance(token["id"], tuple) and token["id"][1] == "-"
            for part in range(token["id"][0], token["id"][2] + 1)
        }
        self.root = next(word for word in self.words if word["head"] == 0)

    def children(self, word, *relations):
        kids = [child for child in self.words if child["head"] == word["id"]]
        return [child for child in kids if not relations or rel(child) in relations]

    def depth(self, word):
        return 0 if word["head"] == 0 else 1 + self.depth(self.words[word["head"] - 1])

    def clausal(self, word):
        return word["upos"] == "VERB" or bool(self.children(word, "nsubj", "csubj", "cop"))

    def under(self, word, other):
        """Whether ``word`` is ``other`` or hangs on it."""
        return word is other or (word["head"] != 0 and self.under(self.words[word["head"] - 1], other))


def rel(word):
    return word["deprel"].partition(":")[0]


def is_word(word):
    """Words and symbols such as *%*, no punctuation."""
    return any(map(str.isalnum, word["form"])) or word["upos"] == "SYM"


def sent_len(tree, _row, label):
    least, most = map(int, label.split("-"))
    return least <= sum(map(is_word, tree.words)) <= most


def tree_depth(tree, _row, label):
    return max(map(tree.depth, tree.words)) == int(label)


def deep_tree(tree, _row, label):
    deepest = max(map(tree.depth, tree.words))
    return deepest <= 3 if label == "shallow" else deepest >= 6


def word_content(tree, row, label, labels):
    among = [word for word in tree.words if word["upos"] != "PUNCT" and word["lemma"] in labels]
    if [word["lemma"] for word in among] != [label]:
        return False
    (word,), target = among, row["target"]
    return (
        word["upos"] in {"NOUN", "VERB", "ADJ", "ADV"}
        and word["id"] not in tree.joined
        and label.isalpha()
        and len(label) >= (4 if language_data(tree.lang).spaces else 2)
        and (target["lemma"], target["form"], target["upos"]) == (label, word["form"], word["upos"])
        and row["text"][target["start"] : target["end"]] == word["form"]
    )


def swapped_pair(tree, row):
    """The two words that change places between original and text, if the rest is the same."""
    start, original = row["edit"]["start"], row["original"]
    for left, right in zip(tree.words, tree.words[1:], strict=False):
        found = re.match(rf"({re.escape(left['form'])})(\s*)({re.escape(right['form'])})", original[start:])
        if found and row["text"] == original[:start] + "".join(found.group(3, 2, 1)) + original[start + found.end() :]:
            yield left, right


def writable(lang, words):
    """Whether no two neighbours would be written otherwise, by the language's list of them."""
    rule = language_data(lang).section(SwapRules)
    for one, other in itertools.pairwise(words):
        bare = unicodedata.normalize("NFD", other)[0]
        if (one in rule.elides and bare in "haeiouyœæ") or f"{one} {other}" in rule.contracts:
            return False
    return True


def bigram_shift(tree, row, label):
    if label == "original":
        return row["text"] == tree.text
    small = [word["form"].lower() for word in tree.words]
    return any(
        (article(left) or article(right) or {left["upos"], right["upos"]} & {"ADP", "CCONJ", "PART", "SCONJ"})
        and not {left["upos"], right["upos"]} & {"PUNCT", "SYM", "X"}
        and not {left["id"], right["id"]} & tree.joined
        and left["form"].lower() != right["form"].lower()
        and any(word["upos"] != "PUNCT" for word in tree.words[: left["id"] - 1])
        and writable(tree.lang, [*small[left["id"] - 2 : left["id"] - 1], right["form"].lower(), left["form"].lower()])
        and writable(tree.lang, [left["form"].lower(), *small[right["id"] : right["id"] + 1]])
        and not set(small[left["id"] - 2 : right["id"]]) & language_data(tree.lang).section(SwapRules).sounds
        for left, right in swapped_pair(tree, row)
    )


def article(word):
    return word["upos"] == "DET" and (word["feats"] or {}).get("PronType") == "Art"


def ngram_shift(tree, row, label):
    return bigram_shift(tree, row, label) and (
        label == "original"
        or any(
            left["head"] in {right["id"], right["head"]} or right["head"] == left["id"]
            for left, right in swapped_pair(tree, row)
        )
    )


def conjunctions(tree, clause):
    """The coordinating and the subordinating conjunctions of a clause."""
    cc = [word for word in tree.children(clause, "cc") if word["upos"] == "CCONJ"]
    return cc, [word for word in tree.children(clause, "mark") if word["upos"] == "SCONJ"]


def finite_clause(tree, word):
    """Whether a word is the predicate of a clause, and not in another form of a verb than a finite one."""
    forms = [(verb["feats"] or {}).get("VerbForm") for verb in tree.children(word, "aux", "cop")]
    own = (word["feats"] or {}).get("VerbForm")
    nonfinite = own not in {None, "Fin"} or bool(forms and None not in forms)
    return tree.clausal(word) and ("Fin" in forms or not nonfinite)


def conj_type(tree, row, label):
    joined = [
        word
        for word in tree.words
        if rel(word) in CLAUSES
        or (rel(word) == "conj" and tree.clausal(word) and tree.clausal(tree.words[word["head"] - 1]))
    ]
    joined = [clause for clause in joined if any(conjunctions(tree, clause)) and finite_clause(tree, clause)]
    if len(joined) != 1:
        return False
    (clause,) = joined
    cc, mark = conjunctions(tree, clause)
    conjunction, relations = (cc, {"conj"}) if label == "coordination" else (mark, {"advcl", "ccomp", "csubj", "acl"})
    listed = language_data(tree.lang).section(ConjTypeRules)
    after = tree.words[conjunction[0]["id"] :] if conjunction else []
    if not after or {"Int", "Rel"} & set(((after[0]["feats"] or {}).get("PronType") or "").split(",")):
        return False
    lemma = (conjunction[0]["lemma"] or conjunction[0]["form"]).lower()
    if lemma in listed.exclude or (label == "coordination" and listed.cconj and lemma not in listed.cconj):
        return False
    masked = row["original"][row["edit"]["start"] : len(row["original"]) - (len(row["text"]) - row["edit"]["end"])]
    return (
        rel(clause) in relations
        and len(conjunction) == 1
        and len(cc) + len(mark) == 1
        and masked.lstrip(" ,;:–—-،，").startswith(conjunction[0]["form"])
        and row["text"].count("…") == 1
    )


LIGHT = {"ADV", "PART", "CCONJ", "SCONJ", "INTJ", "PUNCT"}


def gapping(tree, _row, label):
    verbs = {word["id"] for word in tree.words if word["upos"] in {"VERB", "AUX"}}
    joined = [word for word in tree.words if rel(word) == "conj" and word["head"] in verbs]
    if label == "gapped":
        return any(remnant["upos"] not in LIGHT for word in joined for remnant in tree.children(word, "orphan"))
    return bool(joined) and not any(rel(word) == "orphan" for word in tree.words)


def coord_inv(tree, row, label):
    (conj,) = tree.children(tree.root, "conj")
    ends = {tree.root["id"], conj["id"]}
    cc = [word for word in tree.words if word["head"] in ends and (rel(word) == "cc" or word["upos"] == "CCONJ")]
    subjects = [tree.children(word, "nsubj", "csubj") for word in (tree.root, conj)]
    spoken = [word for word in tree.words if word["upos"] != "PUNCT"]
    apart = all(tree.under(word, conj) == (word["id"] >= cc[0]["id"]) for word in spoken)
    third = [word for word in tree.words if rel(word) == "conj" and tree.children(word, "nsubj", "csubj")]
    if len(cc) != 1 or not all(subjects) or not apart or third != [conj]:
        return False
    if label == "original":
        return row["text"] == tree.text
    small = language_data(tree.lang).lower
    return sorted(small(row["text"])) == sorted(small(row["original"])) and row["text"] != row["original"]


JUDGES = {
    "sent_len": sent_len,
    "tree_depth": tree_depth,
    "deep_tree": deep_tree,
    "word_content": word_content,
    "bigram_shift": bigram_shift,
    "ngram_shift": ngram_shift,
    "conj_type": conj_type,
    "gapping": gapping,
    "coord_inv": coord_inv,
}


@pytest.fixture(scope="module")
def judged(corpus_of):
    """A function: the configs of a language, and its trees by sentence id and text."""
    found = {}

    def get(where, lang):
        if (where, lang) not in found:
            tasks, corpus = tasks_named(list(JUDGES)), corpus_of(where, lang)
            built = list(build_all(tasks, corpus, ALL))
            if where == "sample":  # depths and sequences of relations are found only where rows are matched
                built = [*build_all(tasks, corpus, SMALL_CLASSES), *built]
            trees = {
                (tokens.metadata["sent_id"], tree.text): tree
                for path in treebank_files(where, lang)
                for tokens in conllu.parse(path.read_text(encoding="utf-8"))
                for tree in [Tree(tokens, lang)]
            }
            found[where, lang] = {config.task: config for config in built if isinstance(config, Config)}, trees
        return found[where, lang]

    return get


@pytest.mark.parametrize(("where", "lang"), CORPORA)
def test_every_row_is_what_the_task_says(where, lang, judged):
    configs, trees = judged(where, lang)
    wrong = []
    assert len(configs) >= 3, configs.keys()
    for task, config in configs.items():
        rows = [row for table in config.splits.values() for row in table.to_pylist()]
        assert rows, task
        for row in rows:
            tree, label = trees[row["sent_ids"][0], row["original"] or row["text"]], config.labels[row["label"]]
            more = (config.labels,) if task == "word_content" else ()
            if not JUDGES[task](tree, row, label, *more):
                wrong.append((task, row["sent_ids"], label, row["text"], row["original"]))
    assert wrong == []


def test_every_judge_is_asked(judged):
    asked = {task for lang in SAMPLE_LANGUAGES for task in judged("sample", lang)[0]}
    assert set(JUDGES) - asked <= {"coord_inv", "word_content"}, "too few such sentences in the sample"


def test_inversions_of_sentences_that_were_made_for_them(tmp_path):
    """Treebanks have too few for a config."""
    sentences = [text for text in TAKEN.read_text(encoding="utf-8").split("\n\n") if "# lang = en" in text]
    path = tmp_path / "en_made-ud-test.conllu"
    path.write_text("\n\n".join(sentences) + "\n\n", encoding="utf-8")
    (config,) = build_all(tasks_named(["coord_inv"]), load_corpus("en", [str(path)]), ALL)
    trees = {tokens.metadata["text"]: Tree(tokens, "en") for tokens in conllu.parse(path.read_text(encoding="utf-8"))}
    rows = [row for table in config.splits.values() for row in table.to_pylist()]
    labels = [config.labels[row["label"]] for row in rows]
    assert sorted(labels) == ["inverted"] * len(sentences) + ["original"] * len(sentences)
    assert all(coord_inv(trees[row["original"] or row["text"]], row, of) for row, of in zip(rows, labels, strict=True))


@needs_shared
def test_every_judge_is_asked_on_treebanks(judged):
    assert {task for lang in SHARED_LANGUAGES for task in judged("shared", lang)[0]} == set(JUDGES) - {"coord_inv"}


@pytest.mark.parametrize(("where", "lang"), CORPORA)
def test_no_sentence_has_half_a_pair_of_marks_or_an_address(where, lang, judged):
    configs, _ = judged(where, lang)
    assert configs
    for config in configs.values():
        for table in config.splits.values():
            for row in table.to_pylist():
                text = row["original"] or row["text"]
                marks = re.sub(r"^\s*(?:[^\W\d_]|[\d.]+)\)|[:;=8][-']?[()]+|\){2,}|\({2,}", "", text)
                assert marks.count("(") == marks.count(")") or text.count("(") == text.count(")"), text
                inside = len(re.findall(r'\d"|[^\W\d_]"[^\W\d_]', marks))
                assert marks.count('"') % 2 == 0 or (marks.count('"') - inside) % 2 == 0, text
                assert not any(part in text for part in FAULTY), text


@needs_shared
@pytest.mark.parametrize("lang", ["en", "es", "ru"])
def test_the_words_of_word_content_are_of_middle_frequency(lang, judged):
    configs, trees = judged("shared", lang)
    lemmas = {word["lemma"] or "" for tree in trees.values() for word in tree.words if word["upos"] != "PUNCT"}
    listed = get_frequency_dict(lang)
    known = sorted((listed.get(lemma.lower(), 0) for lemma in lemmas if re.search(r"[^\W\d_]", lemma)), reverse=True)
    assert configs["word_content"].labels
    for lemma in configs["word_content"].labels:
        frequency = listed[lemma.lower()]
        assert known.index(frequency) < 3000 * 1.02  # lemmas of sentences without any possible target have no rank
        assert len(known) - known[::-1].index(frequency) >= 1500
