"""What must hold for every config: inherited by every task found in ``builders/``, in every language tried here.

A new task has no test to write for any of this. Tests that need what a task does not have (a target, pairs, an edit)
hold trivially there.
"""

import itertools
import math
import re
import unicodedata
from collections import Counter, defaultdict

import pytest
from shared import REAL_LANGUAGES, SAMPLE_LANGUAGES, needs_shared

from discoprobe.builders.config import Config, Shape, Unavailable, schema
from discoprobe.builders.task import all_tasks

CORPORA = [("sample", lang) for lang in SAMPLE_LANGUAGES] + [("shared", lang) for lang in REAL_LANGUAGES]
EVERY = [
    pytest.param((task, *corpus), id=f"{task}-{corpus[1]}-{corpus[0]}") for corpus in CORPORA for task in all_tasks()
]
SPLITS = ["train", "validation", "test"]
UNLIKELY = 1e-6
"""A fair order of rows fails a test this seldom; there are some thousand tests."""


@pytest.fixture(scope="session", params=EVERY)
def config(request, built):
    task, where, lang = request.param
    result = built(where, lang)[task]
    if isinstance(result, Unavailable):
        pytest.skip(f"{result.name} is not there: {result.reason}")
    return result


@pytest.fixture(scope="session")
def texts(corpus_of):
    """A function: the texts of the sentences of a corpus by treebank and sentence id (ids may repeat between files)."""
    found = {}

    def get(where, lang):
        if (where, lang) not in found:
            found[where, lang] = defaultdict(set)
            for shard in corpus_of(where, lang).shards():
                rows = shard.sentences.join(shard.documents.select("doc", "corpus"), on="doc")
                for corpus, sent_id, text in rows.select("corpus", "sent_id", "text").iter_rows():
                    found[where, lang][corpus, sent_id].add(text)
        return found[where, lang]

    return get


@pytest.fixture
def source(request, config, texts):
    """The sentences of the corpus that the config was made of."""
    _, where, lang = request.node.callspec.params["config"]
    assert config.lang == lang
    return texts(where, lang)


def rows_of(config):
    """All rows with the name of their split."""
    return [(split, row) for split in SPLITS for row in config.splits[split].to_pylist()]


def shown(row):
    """The texts that a reader of the row sees, in order."""
    parts = [
        row.get(name) for name in ("text", "sentences", "candidate", "sentence1", "sentence2", "context", "choices")
    ]
    return tuple(
        itertools.chain.from_iterable([part] if isinstance(part, str) else part for part in parts if part is not None)
    )


def unit(row):
    """What stands or falls together: the pair, or the row."""
    return row["pair_id"] or row["id"]


def normal(text):
    return " ".join(text.casefold().split())


def words(text):
    return re.findall(r"\w+", text)


def test_a_config_or_a_reason(built):
    for where, lang in CORPORA:
        for task, result in built(where, lang).items():
            assert result.name == f"{task}_{lang}"
            if isinstance(result, Unavailable):
                assert result.reason.strip()
                assert "\n" not in result.reason
            else:
                assert isinstance(result, Config)


@needs_shared
@pytest.mark.parametrize("lang", [lang for lang in REAL_LANGUAGES if lang not in {"hr", "uk"}])
def test_languages_with_documents_have_the_discourse_tasks(built, lang):
    there = {task for task, result in built("shared", lang).items() if isinstance(result, Config)}
    assert {"sp", "sp_swap", "bso", "so", "dc", "dc_easy", "nsp", "cloze"} <= there


def test_schema(config):
    assert list(config.splits) == SPLITS
    for table in config.splits.values():
        assert table.schema.equals(schema(config.shape))
        for name in ("id", "label", "corpus", "sent_ids", "group"):
            assert table[name].null_count == 0, name
        if config.split_by == "document":
            assert table["doc_id"].null_count == 0


def test_labels(config):
    task = all_tasks()[config.task]
    assert config.labels
    assert len(set(config.labels)) == len(config.labels) >= 2
    assert config.labels == (task.labels or config.labels)
    for table in config.splits.values():
        assert set(table["label"].to_pylist()) == set(range(len(config.labels)))


def test_equal_counts_of_every_label_in_every_split(config):
    if config.natural:
        return
    for split, counts in config.counts().items():
        assert len(set(counts.values())) == 1, (split, counts)
        assert min(counts.values()) > 0


def test_ids_are_unique(config):
    ids = [row["id"] for _, row in rows_of(config)]
    assert len(ids) == len(set(ids))
    assert all(re.fullmatch("[0-9a-f]{16}", name) for name in ids)


def test_no_row_is_shown_twice(config):
    counts = Counter(shown(row) for _, row in rows_of(config))
    assert [texts for texts, n in counts.items() if n > 1] == []


def test_perturbed_differs_from_every_original(config):
    if not config.perturbation:
        return
    original = {shown(row) for _, row in rows_of(config) if row["label"] == 0}
    perturbed = {shown(row) for _, row in rows_of(config) if row["label"] != 0}
    assert not original & perturbed
    for _, row in rows_of(config):
        if config.shape is Shape.SENTENCE:
            assert (row["original"] is None) == (row["label"] == 0)
            assert row["original"] != row["text"]


def test_pairs_are_whole_and_in_one_split(config):
    pairs = defaultdict(list)
    for split, row in rows_of(config):
        assert (row["pair_id"] is not None) == config.pairs
        pairs[unit(row)].append((split, row))
    for members in pairs.values():
        assert len({split for split, _ in members}) == 1
        assert len({(row["corpus"], row["doc_id"], row["group"]) for _, row in members}) == 1
        if config.pairs:
            assert sorted(row["label"] for _, row in members) == list(range(len(config.labels)))


def test_no_sentence_in_two_units(config):
    """Windows are disjoint; an intruder or distractor is used once and stands in no window."""
    units = defaultdict(set)
    for _, row in rows_of(config):
        assert len(set(row["sent_ids"])) == len(row["sent_ids"])
        for sent_id in row["sent_ids"]:
            units[row["corpus"], sent_id].add(unit(row))
    assert {place: names for place, names in units.items() if len(names) > 1} == {}


def test_a_perturbed_window_adds_at_most_one_sentence(config):
    if not (config.pairs and config.perturbation):
        return
    pairs = defaultdict(dict)
    for _, row in rows_of(config):
        pairs[row["pair_id"]][row["label"]] = set(row["sent_ids"])
    for members in pairs.values():
        for label, sentences in members.items():
            assert len(sentences - members[0]) <= (1 if label else 0)
            assert len(sentences) == len(members[0])


def test_no_sentence_in_two_splits(config):
    splits = defaultdict(set)
    for split, row in rows_of(config):
        for text in (*shown(row), row.get("original") or ""):
            if len(words(text)) >= 6:
                splits[normal(text)].add(split)
    assert {text: where for text, where in splits.items() if len(where) > 1} == {}


def test_what_the_task_splits_by_is_in_one_split(config):
    splits = defaultdict(set)
    for split, row in rows_of(config):
        if config.split_by == "document":
            splits[row["corpus"], row["doc_id"]].add(split)
        elif config.split_by == "target":
            splits[row["target"]["form"].lower()].add(split)
        splits["group", row["group"]].add(split)
    assert {what: where for what, where in splits.items() if len(where) > 1} == {}


@pytest.mark.parametrize("corpus", [pytest.param(corpus, id=f"{corpus[1]}-{corpus[0]}") for corpus in CORPORA])
def test_a_document_is_in_the_same_split_of_every_task(built, corpus):
    splits = defaultdict(set)
    for result in built(*corpus).values():
        if isinstance(result, Config) and result.split_by == "document":
            for split, row in rows_of(result):
                splits[row["corpus"], row["doc_id"]].add(split)
    assert splits
    assert all(len(where) == 1 for where in splits.values())


def binomial_tail(n, k):
    """The chance of k or more, or n - k or fewer, heads of n fair coins (Hoeffding's bound)."""
    return min(1.0, 2 * math.exp(-2 * n * (k / n - 0.5) ** 2))


def longest_run(labels):
    return max(len(list(group)) for _, group in itertools.groupby(labels))


@pytest.mark.parametrize("split", SPLITS)
def test_the_order_of_rows_tells_nothing(config, split):
    labels = config.splits[split]["label"].to_pylist()
    n, k = len(labels), len(config.labels)
    share = max(Counter(labels).values()) / n
    assert n * share ** (longest_run(labels) - 1) > UNLIKELY, "a run of one label is too long"
    for place in (lambda i: i % 2, lambda i: 2 * i >= n):
        for label in range(k):
            here = [place(i) for i, other in enumerate(labels) if other == label]
            assert binomial_tail(len(here), sum(here)) > UNLIKELY, "the place in the file tells the label"
    if config.pairs and k == 2:
        first = {}
        for row in config.splits[split].to_pylist():
            first.setdefault(row["pair_id"], row["label"])
        assert binomial_tail(len(first), sum(first.values())) > UNLIKELY, "one version comes first"


def one_edit(text, original):
    """Whether the texts are equal but for one stretch: it is what common beginning and end leave."""
    start = next(
        (i for i, (a, b) in enumerate(zip(text, original, strict=False)) if a != b), min(len(text), len(original))
    )
    rest, other = text[start:], original[start:]
    end = next(
        (i for i, (a, b) in enumerate(zip(rest[::-1], other[::-1], strict=False)) if a != b), min(len(rest), len(other))
    )
    return start, len(rest) - end, len(other) - end


def test_every_text_is_a_source_sentence_with_at_most_one_edit(config, source):
    edits = 0
    for _, row in rows_of(config):
        if config.shape is Shape.SENTENCE:
            assert (row["original"] or row["text"]) in source[row["corpus"], row["sent_ids"][0]]
            edits += row["original"] is not None
            continue
        assert len(shown(row)) == len(row["sent_ids"])
        for text, sent_id in zip(shown(row), row["sent_ids"], strict=True):
            there = source[row["corpus"], sent_id]
            if text not in there:
                edits += 1
                _, new, old = min((one_edit(text, other) for other in there), key=lambda edit: edit[2])
                assert new <= old, "an edit that is no deletion"
                assert text[1:] in "".join(there)
    if config.shape is not Shape.SENTENCE and config.task != "dconn":
        assert edits == 0


def test_the_edit_is_where_the_row_says(config):
    if config.shape is not Shape.SENTENCE:
        return
    for _, row in rows_of(config):
        assert (row["edit"] is None) == (row["original"] is None)
        if row["edit"] is not None:
            start, end = row["edit"]["start"], row["edit"]["end"]
            tail = len(row["text"]) - end
            assert 0 <= start < end <= len(row["text"])
            assert row["text"][:start] == row["original"][:start]
            assert tail == 0 or row["text"][end:] == row["original"][-tail:]


def test_the_target_is_where_the_row_says(config):
    if config.shape is not Shape.SENTENCE:
        return
    for _, row in rows_of(config):
        if row["target"] is not None:
            target = row["target"]
            assert 0 <= target["start"] < target["end"] <= len(row["text"])
            assert target["form"]
            if " " not in target["form"] and row["original"] is None:
                assert normal(target["form"])[:1] == normal(row["text"][target["start"] : target["end"]])[:1]


def test_orders_and_positions(config):
    if config.shape is not Shape.SEQUENCE:
        return
    windows = {row["pair_id"]: row for _, row in rows_of(config) if row["label"] == 0 and config.pairs}
    for _, row in rows_of(config):
        n = len(row["sentences"])
        known = [place for place in row["order"] if place >= 0]
        assert len(row["order"]) == n
        assert len(set(known)) == len(known) >= n - 1
        assert set(known) <= set(range(n))
        if config.pairs:
            whole = windows[row["pair_id"]]
            assert whole["order"] == list(range(n))
            assert whole["position"] == -1
            for place, text in zip(row["order"], row["sentences"], strict=True):
                assert place < 0 or whole["sentences"][place] == text


UNCLEAN = re.compile(r"\ufffd|&#?\w+;|</?[A-Za-z][^<>]*>|__")


def test_texts_are_clean(config):
    for _, row in rows_of(config):
        for text in shown(row):
            assert text == text.strip()
            assert text == unicodedata.normalize("NFC", text)
            assert not UNCLEAN.search(text), text
            assert not {unicodedata.category(char) for char in text} & {"Cc", "Co", "Cs"}, text


def test_numbers_of_what_was_left_out(config):
    assert all(number > 0 for number in config.drops.values())
    assert config.candidates * max(1, len(config.labels) if config.pairs else 1) >= config.n_rows
    assert config.sources
    assert {row["corpus"] for _, row in rows_of(config)} <= {one.name for one in config.sources}


def test_definition(config):
    assert config.definition.partition("\n")[0].strip()
