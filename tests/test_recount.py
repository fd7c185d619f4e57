"""An independent recount of a release: `load_dataset` on its folder, the `conllu` library on the corpora, nothing else.

Nothing of the builder is used here but the names of the tasks and the one call that builds, so that a mistake of the
builder is not repeated by its test. What rows must be is taken from the definitions of the tasks.
"""

import importlib.resources
import itertools
import math
import re
import tomllib
from collections import Counter, defaultdict
from dataclasses import dataclass

import conllu
import pytest
from datasets import get_dataset_config_names, load_dataset
from shared import REAL_LANGUAGES, SAMPLE_LANGUAGES, UD, treebank_files

from discoprobe import pipeline
from discoprobe.builders import all_tasks
from discoprobe.plan import plan
from discoprobe.sources import Request

RECOUNTED = [pytest.param(("sample", lang), id=f"{lang}-sample") for lang in SAMPLE_LANGUAGES]
RECOUNTED += [
    pytest.param(("shared", lang), id=f"{lang}-shared", marks=pytest.mark.slow)
    for lang in ("ca", "es", "fi", "uk")
    if lang in REAL_LANGUAGES
]
SAMPLE_REFUSALS = {("nsp_choice", lang): "validation has no row of 0, 1, 2, 3" for lang in ("en", "es", "ru")}
SAMPLE_REFUSALS |= {("ngram_shift", "ru"): "4 rows of original are left"}
"""Tasks for which the sample is too small in a language, with the start of the reason. All others have rows."""
SPLITS = ("train", "validation", "test")
UNLIKELY = 1e-6


@dataclass(frozen=True)
class Sentence:
    """A sentence of a corpus file, and its place there."""

    file: str
    document: str
    place: int
    sent_id: str
    text: str
    n_words: int
    first_in_document: bool


def read_sources(where, lang):
    """Every sentence of the corpora in the order of the files."""
    found = []
    for path in treebank_files(where, lang):
        document, before = "", None
        with path.open(encoding="utf-8") as file:
            for place, sentence in enumerate(conllu.parse_incr(file)):
                about = sentence.metadata
                document = about.get("newdoc id", document)
                if lang == "fi":  # UD_Finnish-TDT has its documents in the sentence ids, b104.1
                    document = about["sent_id"].rpartition(".")[0]
                n_words = sum(
                    isinstance(token["id"], int) and (any(map(str.isalnum, token["form"])) or token["upos"] == "SYM")
                    for token in sentence
                )
                found.append(
                    Sentence(path.name, document, place, about["sent_id"], about["text"], n_words, document != before)
                )
                before = document
    return found


class Recount:
    """The rows of a release in one language, and the sentences they are made of.

    ``missing`` has the reason of every task without a config.
    """

    def __init__(self, folder, where, lang, missing, cache):
        self.folder, self.where, self.lang, self.missing, self.cache = folder, where, lang, missing, cache
        sentences = read_sources(where, lang)
        self.by_id = {one.sent_id: one for one in sentences}
        assert len(self.by_id) == len(sentences), "sentence ids are not unique"
        self.at = {(one.file, one.place): one for one in sentences}
        self.numbered = lang != "uk"
        self.loaded = {}
        names = get_dataset_config_names(str(folder))
        suites = {task.name for task in all_tasks().values() if task.conditions}
        there = {name.removesuffix(f"_{lang}") for name in names if name.endswith(f"_{lang}")}
        self.tasks, self.suites = sorted(there - suites), there & suites
        assert len(self.tasks) >= 10, self.tasks

    def dataset(self, task):
        """What `load_dataset` gives."""
        if task not in self.loaded:
            self.loaded[task] = load_dataset(str(self.folder), f"{task}_{self.lang}", cache_dir=str(self.cache))
        return self.loaded[task]

    def rows(self, task):
        """Rows with ``split`` and the name of the label as ``name``; there are some in every split."""
        found = []
        for split, part in self.dataset(task).items():
            names = part.features["label"].names
            assert len(part), (task, split)
            found += [{**row, "split": split, "name": names[row["label"]]} for row in part.to_list()]
        return found

    def next_of(self, sentence):
        """The sentence that follows in the same document; None if there is none, or a hole in the numbers."""
        after = self.at.get((sentence.file, sentence.place + 1))
        if after is None or after.document != sentence.document:
            return None
        return after if not self.numbered or counts_on(sentence.sent_id, after.sent_id) else None

    def consecutive(self, sent_ids):
        """Whether the sentences follow each other in one document."""
        found = [self.by_id[name] for name in sent_ids]
        return all(self.next_of(a) == b for a, b in itertools.pairwise(found))


def counts_on(before, after):
    """Whether the number at the end is the next one: 7, 8 or, for parts of a sentence split later, 7A, 7B, 8."""
    (a, x), (b, y) = (re.search(r"(\d+)([A-Z]?)$", sent_id).groups() for sent_id in (before, after))
    return int(b) == int(a) + 1 or (a == b and ord(y or "@") == ord(x or "@") + 1)


@pytest.fixture(scope="session", params=RECOUNTED)
def recount(request, tmp_path_factory):
    where, lang = request.param
    folder = tmp_path_factory.mktemp("release") / "recounted"
    corpora = ("sample",) if where == "sample" else (str(UD / lang),)
    outcome = pipeline.run(plan(Request((lang,), corpora, audit=False)), folder)
    missing = {result.task: result.reason for result in outcome.missing}
    return Recount(folder, where, lang, missing, tmp_path_factory.getbasetemp() / "datasets")


def rows_of(recount, task):
    """The rows of a task; none only where a corpus is refused, the sample as in `SAMPLE_REFUSALS`."""
    expected = SAMPLE_REFUSALS.get((task, recount.lang)) if recount.where == "sample" else None
    if task not in recount.tasks:
        assert expected or recount.where != "sample", f"{task}_{recount.lang} is not in the release of the sample"
        assert recount.missing[task].startswith(expected or "")
        assert recount.missing[task]
        return []
    assert not expected, f"{task}_{recount.lang} is in the release of the sample"
    return recount.rows(task)


def pairs_of(rows):
    """The rows of each pair by the name of their label."""
    pairs = defaultdict(dict)
    for row in rows:
        assert row["name"] not in pairs[row["pair_id"]], "a label twice in a pair"
        pairs[row["pair_id"]][row["name"]] = row
    assert all(len(pair) == 2 for pair in pairs.values())
    return list(pairs.values())


def texts_of(row):
    """The texts that a row shows, whatever its shape."""
    order = ("text", "sentences", "candidate", "sentence1", "sentence2", "context", "choices")
    parts = [row[name] for name in order if row.get(name) is not None]
    return [text for part in parts for text in ([part] if isinstance(part, str) else part)]


def test_every_task_is_in_the_release_or_missing_with_a_reason(recount):
    assert {"bso", "dc", "so"} <= set(recount.tasks)
    assert all(recount.missing.values())
    assert set(recount.tasks) | recount.suites | set(recount.missing) == set(all_tasks())
    assert not set(recount.tasks) & set(recount.missing)


def test_labels_are_equally_frequent_and_the_same_in_every_split(recount):
    for task in recount.tasks:
        assert list(recount.dataset(task)) == list(SPLITS)
        counts = {
            split: Counter(row["name"] for row in recount.rows(task) if row["split"] == split) for split in SPLITS
        }
        assert len({frozenset(count) for count in counts.values()}) == 1, task
        if task != "sent_len":
            assert all(len(set(count.values())) == 1 for count in counts.values()), (task, counts)


def test_ids(recount):
    for task in recount.tasks:
        ids = [row["id"] for row in recount.rows(task)]
        assert len(ids) == len(set(ids))


def test_pairs_are_whole_and_in_one_split(recount):
    for task in recount.tasks:
        pairs = defaultdict(list)
        for row in recount.rows(task):
            if row["pair_id"] is not None:
                pairs[row["pair_id"]].append(row)
        for rows in pairs.values():
            assert len({row["split"] for row in rows}) == 1
            assert sorted(row["label"] for row in rows) == list(range(len(rows)))
            assert len(rows) >= 2
            shown = [tuple(texts_of(row)) for row in rows]
            assert len(set(shown)) == len(shown), "perturbed and original are the same"


def test_no_original_is_shown_as_perturbed_and_nothing_twice(recount):
    for task in recount.tasks:
        shown = Counter(tuple(texts_of(row)) for row in recount.rows(task))
        assert max(shown.values()) == 1, task


def test_every_text_is_a_slice_of_the_source(recount):
    for task in recount.tasks:
        for row in recount.rows(task):
            sources = [recount.by_id[name] for name in row["sent_ids"]]
            if "text" in row:
                assert (row["original"] or row["text"]) == sources[0].text
                assert row["n_words"] == sources[0].n_words
            elif task != "dconn":
                assert texts_of(row) == [source.text for source in sources]


def test_no_sentence_in_two_rows_but_those_of_a_pair(recount):
    for task in recount.tasks:
        users = defaultdict(set)
        for row in recount.rows(task):
            assert len(set(row["sent_ids"])) == len(row["sent_ids"])
            for name in row["sent_ids"]:
                users[name].add(row["pair_id"] or row["id"])
        assert [name for name, units in users.items() if len(units) > 1] == [], task


def long_texts(recount, task):
    """Texts of at least six words, with their splits; lower-cased, as lists of words."""
    found = defaultdict(set)
    for row in recount.rows(task):
        for text in (*texts_of(row), row.get("original") or ""):
            words = tuple(re.findall(r"\w+", text.lower()))
            if len(words) >= 6:
                found[words].add(row["split"])
    return found


def test_no_sentence_in_two_splits(recount):
    for task in recount.tasks:
        assert [" ".join(words) for words, splits in long_texts(recount, task).items() if len(splits) > 1] == [], task


def test_no_near_duplicate_in_another_split(recount):
    """Jaccard similarity of sets of five running words stays below .8."""
    for task in recount.tasks:
        texts = long_texts(recount, task)
        grams = {words: {words[i : i + 5] for i in range(len(words) - 4)} for words in texts}
        holders = defaultdict(set)
        for words, own in grams.items():
            for gram in own:
                holders[gram].add(words)
        for words, own in grams.items():
            for other in set().union(*(holders[gram] for gram in own)):
                if texts[other] != texts[words]:
                    share = len(own & grams[other]) / len(own | grams[other])
                    assert share < 0.8, (task, " ".join(words), " ".join(other))


def test_documents_of_discourse_tasks_are_in_one_split(recount):
    splits = defaultdict(set)
    for task in recount.tasks:
        for row in recount.rows(task):
            if "text" not in row:
                for name in row["sent_ids"]:
                    one = recount.by_id[name]
                    splits[one.file, one.document].add(row["split"])
    assert [document for document, where in splits.items() if len(where) > 1] == []
    assert {next(iter(where)) for where in splits.values()} == set(SPLITS)


def test_parity_and_neighbours_tell_nothing(recount):
    for task in recount.tasks:
        for split, part in recount.dataset(task).items():
            labels = part["label"]
            n, k = len(labels), len(set(labels))
            for label in set(labels):
                even = sum(i % 2 == 0 for i, other in enumerate(labels) if other == label)
                size = sum(other == label for other in labels)
                assert 2 * math.exp(-2 * size * (even / size - 0.5) ** 2) > UNLIKELY, (task, split)
            same = sum(a == b for a, b in itertools.pairwise(labels))
            assert 2 * math.exp(-2 * (n - 1) * (same / max(n - 1, 1) - 1 / k) ** 2) > UNLIKELY, (task, split)


def test_bso(recount):
    for pair in pairs_of(rows_of(recount, "bso")):
        in_order, swapped = pair["in_order"], pair["swapped"]
        assert recount.consecutive(in_order["sent_ids"])
        assert swapped["sent_ids"] == in_order["sent_ids"][::-1]
        assert (swapped["sentence1"], swapped["sentence2"]) == (in_order["sentence2"], in_order["sentence1"])


def in_source_order(row):
    """The sentence ids of a row put back in order."""
    return [name for _, name in sorted(zip(row["order"], row["sent_ids"], strict=True))]


def test_sp(recount):
    for row in rows_of(recount, "sp"):
        assert row["name"] == str(row["order"][0])
        assert row["order"][1:] == sorted(row["order"][1:])
        assert sorted(row["order"]) == [0, 1, 2, 3, 4]
        passage = in_source_order(row)
        assert recount.consecutive(passage)
        assert not recount.by_id[passage[0]].first_in_document


def test_sp_swap(recount):
    for pair in pairs_of(rows_of(recount, "sp_swap")):
        original, swapped = pair["original"], pair["swapped"]
        assert original["order"] == [0, 1, 2, 3, 4]
        assert recount.consecutive(original["sent_ids"])
        moved = [i for i in range(5) if original["sentences"][i] != swapped["sentences"][i]]
        assert len(moved) == 2
        assert 3 in moved
        assert [swapped["position"]] == [i for i in moved if i != 3]
        assert [original["sentences"][i] for i in swapped["order"]] == swapped["sentences"]


def test_so(recount):
    sizes = set()
    for pair in pairs_of(rows_of(recount, "so")):
        original, shuffled = pair["original"], pair["shuffled"]
        n = len(original["sentences"])
        sizes.add(n)
        assert 3 <= n <= 7
        assert original["order"] == list(range(n))
        assert recount.consecutive(original["sent_ids"])
        assert shuffled["order"] != original["order"]
        assert [original["sentences"][i] for i in shuffled["order"]] == shuffled["sentences"]
        assert in_source_order(shuffled) == original["sent_ids"]
    assert len(sizes) >= 3 or "so" in recount.missing


def like(one, other):
    """The longer one has at most 20 % more words."""
    shorter, longer = sorted((one.n_words, other.n_words))
    return longer <= 1.2 * shorter


def test_dc(recount):
    rows = rows_of(recount, "dc")
    split_of = {(one.file, one.document): row["split"] for row in rows for one in [recount.by_id[row["sent_ids"][0]]]}
    positions = Counter()
    for pair in pairs_of(rows):
        coherent, broken = pair["coherent"], pair["incoherent"]
        assert len(coherent["sentences"]) == len(broken["sentences"]) == 6
        assert recount.consecutive(coherent["sent_ids"])
        changed = [i for i in range(6) if coherent["sentences"][i] != broken["sentences"][i]]
        assert changed == [broken["position"]]
        assert broken["position"] in {1, 2, 3, 4}, "one of the second to the fifth"
        positions[broken["position"]] += 1
        true, distractor = (recount.by_id[row["sent_ids"][broken["position"]]] for row in (coherent, broken))
        assert (true.file, true.document) != (distractor.file, distractor.document)
        assert split_of.get((distractor.file, distractor.document), coherent["split"]) == coherent["split"]
        assert like(distractor, true)
    assert len(positions) == 4 or sum(positions.values()) < 20


def passage_of(recount, row, n):
    """The passage's sentences; they follow each other."""
    assert recount.consecutive(row["sent_ids"][:n])
    return [recount.by_id[name] for name in row["sent_ids"][:n]]


def test_nsp(recount):
    rows = rows_of(recount, "nsp")
    for pair in pairs_of(rows):
        right, wrong = pair["next"], pair["not_next"]
        assert right["sentences"] == wrong["sentences"]
        assert len(right["sentences"]) == 4
        last = passage_of(recount, right, 4)[-1]
        gold, other = (recount.by_id[row["sent_ids"][4]] for row in (right, wrong))
        assert recount.next_of(last) == gold
        assert (right["candidate"], wrong["candidate"]) == (gold.text, other.text)
        assert other.text.casefold() != gold.text.casefold()
        assert (other.file, other.document) != (gold.file, gold.document)
        assert like(other, gold)


def test_cloze(recount):
    for row in rows_of(recount, "cloze"):
        assert len(row["context"]) == 4
        assert len(row["choices"]) == 2
        last = passage_of(recount, row, 4)[-1]
        choices = [recount.by_id[name] for name in row["sent_ids"][4:]]
        assert [one.text for one in choices] == row["choices"]
        gold, other = choices[row["label"]], choices[1 - row["label"]]
        assert recount.next_of(last) == gold
        assert like(other, gold)
        if (other.file, other.document) == (gold.file, gold.document):
            assert other.place > gold.place


def test_nsp_choice(recount):
    for row in rows_of(recount, "nsp_choice"):
        n = len(row["context"])
        assert 2 <= n <= 8
        last = passage_of(recount, row, n)[-1]
        choices = [recount.by_id[name] for name in row["sent_ids"][n:]]
        assert len(choices) == 4
        gold = choices[row["label"]]
        assert recount.next_of(last) == gold
        wrong = [one for one in choices if one != gold]
        assert all(like(one, gold) for one in wrong)
        inside = [one for one in wrong if (one.file, one.document) == (gold.file, gold.document)]
        assert len(inside) == 1, "one of the three comes from the same document"
        assert inside[0].place > gold.place


def connectives(lang):
    """The forms of each connective of a language's list."""
    path = importlib.resources.files("discoprobe.loaders") / "languages" / f"{lang}.toml"
    entries = tomllib.loads(path.read_text(encoding="utf-8"))["connectives"]["entries"]
    return {entry["lemma"]: entry.get("forms", [entry["lemma"]]) for entry in entries}


def test_dconn(recount):
    rows = rows_of(recount, "dconn")
    known = connectives(recount.lang)
    for row in rows:
        first, second = (recount.by_id[name] for name in row["sent_ids"])
        assert recount.next_of(first) == second
        assert row["sentence1"] == first.text
        removed = second.text[: len(second.text) - len(row["sentence2"])]
        assert second.text[len(removed) + 1 :] == row["sentence2"][1:]
        assert row["sentence2"][0].casefold() == second.text[len(removed)].casefold()
        assert not row["sentence2"][0].islower()
        assert row["name"] in known
        opening = " ".join(re.findall(r"[\w'’-]+", removed.casefold()))
        assert opening in {" ".join(re.findall(r"[\w'’-]+", form.casefold())) for form in known[row["name"]]}
        assert opening not in re.findall(r"\w+", row["sentence2"].casefold())[:3], "half of a pair, or begun anew"


def test_swapped_words(recount):
    for task in ("bigram_shift", "ngram_shift"):
        for row in rows_of(recount, task):
            assert (row["original"] is not None) == (row["name"] == "shifted")
            if row["original"] is not None:
                assert sorted(row["text"].casefold()) == sorted(row["original"].casefold())
                assert row["text"].split()[0] == row["original"].split()[0]
