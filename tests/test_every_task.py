"""What must hold for every config: every task in ``builders/`` inherits these tests, in every language tried here.

A new task has no test to write for any of this. A function with ``@rule`` checks one property of a config;
``test_a_config_keeps_every_rule_or_says_why_it_is_not_there`` applies all of them to each config and reports every rule
that is broken, not only the first. A rule that concerns some configs only (pairs, edits, targets) says which, and
``test_every_rule_is_applied`` fails if the sample has no such config.
"""

import itertools
import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from shared import DEFAULT, REAL_LANGUAGES, SAMPLE_LANGUAGES, SMALL_CLASSES, documents, needs_shared, sample_file

from discoprobe.builders import Config, Shape, Unavailable, all_tasks, build_all, schema, unsupported
from discoprobe.loaders.languages import language_data
from discoprobe.sources import load_corpus

SAMPLE = [
    pytest.param("sample", lang, settings, id=f"{lang}-{name}")
    for name, settings in (("sample", DEFAULT), ("small-classes", SMALL_CLASSES))
    for lang in SAMPLE_LANGUAGES
]
REAL = [pytest.param("shared", lang, DEFAULT, id=f"{lang}-shared", marks=pytest.mark.slow) for lang in REAL_LANGUAGES]
CORPORA = pytest.mark.parametrize(("where", "lang", "settings"), SAMPLE + REAL)
CLASSIFICATION = {name: task for name, task in all_tasks().items() if not task.conditions}
"""Suites have rules of their own (``builders/test_suites.py``)."""
SPLITS = ["train", "validation", "test"]
UNLIKELY = 1e-6
"""A fair order of rows fails a test this seldom; there are some thousand tests."""


class Case:
    """A config with its rows (``(split, row)``), and the texts and documents of its corpus by treebank and sentence id.

    Sentence ids may repeat between files, so both are sets.
    """

    def __init__(self, config, source):
        self.config, self.task = config, all_tasks()[config.task]
        self.source, self.documents = source
        self.rows = [(split, row) for split, table in config.splits.items() for row in table.to_pylist()]

    def units(self):
        """What stands or falls together: the rows of each pair with their splits, or each row alone."""
        units = defaultdict(list)
        for split, row in self.rows:
            units[unit(row)].append((split, row))
        return units


@dataclass
class Rule:
    """A property of configs, and which configs it concerns."""

    check: Callable[[Case], None]
    concerns: Callable[[Config], bool]


RULES: dict[str, Rule] = {}


def rule(concerns=lambda _: True):
    """Adds a function to the rules for the configs that it concerns."""

    def add(check):
        RULES[check.__name__] = Rule(check, concerns)
        return check

    return add


def some_row_has(column):
    """Whether any row of a config has a value in a column."""

    def has(config):
        return any(
            column in table.column_names and table[column].null_count < len(table) for table in config.splits.values()
        )

    return has


def sentences_of(corpus):
    """The texts of a corpus, and its documents, by treebank and sentence id."""
    texts, documents = defaultdict(set), defaultdict(set)
    for shard in corpus.shards():
        rows = shard.sentences.join(shard.documents.select("doc", "corpus", "doc_id"), on="doc")
        for name, sent_id, text, doc_id in rows.select("corpus", "sent_id", "text", "doc_id").iter_rows():
            texts[name, sent_id].add(text)
            documents[name, sent_id].add(doc_id)
    return texts, documents


@pytest.fixture(scope="session")
def source_of(corpus_of):
    """A function: `sentences_of` the corpus of a language, read once."""
    read = {}

    def get(where, lang):
        if (where, lang) not in read:
            read[where, lang] = sentences_of(corpus_of(where, lang))
        return read[where, lang]

    return get


def check_rules(config, source):
    """Applies every rule that concerns a config; reports all that are broken."""
    case, broken = Case(config, source), []
    assert case.rows
    for name, one in RULES.items():
        if one.concerns(config):
            try:
                one.check(case)
            except AssertionError as error:
                error.add_note(f"rule: {name}")
                broken.append(error)
    if broken:
        raise ExceptionGroup(f"{config.name} breaks {len(broken)} of the rules", broken)


@pytest.mark.parametrize("task", CLASSIFICATION)
@CORPORA
def test_a_config_keeps_every_rule_or_says_why_it_is_not_there(
    where, lang, settings, task, built, source_of, corpus_of
):
    result = built(where, lang, settings)[task]
    assert (result.name, result.task, result.lang) == (f"{task}_{lang}", task, lang)
    if isinstance(result, Unavailable):
        check_reason(result, corpus_of(where, lang), settings)
    elif CLASSIFICATION[task].family != "relations":  # units of sentences: tests/builders/units has their rules
        check_rules(result, source_of(where, lang))


def test_repeated_sentences_are_used_once_and_in_one_split(tmp_path):
    """A corpus in which every third document comes again under another name, with the same sentences."""
    texts = documents(sample_file("es").read_text(encoding="utf-8"))
    again = [re.sub(r"(# newdoc id = |# sent_id = )", r"\1again-", text) for text in texts[::3]]
    path = tmp_path / "es_repeated-ud-test.conllu"
    path.write_text("".join([*texts, *again]), encoding="utf-8")
    corpus = load_corpus(str(path))
    source, built = sentences_of(corpus), 0
    for result in build_all(list(CLASSIFICATION.values()), corpus, SMALL_CLASSES):
        if isinstance(result, Config):
            check_rules(result, source)
            built += 1
    assert built >= 15


@pytest.mark.parametrize(
    ("task", "comment"),
    [("ssp", lambda n: f"section_number = {n // 3 % 3}"), ("speaker", lambda n: f"speaker = {'AB'[n // 3 % 2]}")],
    ids=["ssp", "speaker"],
)
def test_tasks_of_layers_that_the_sample_lacks(task, comment, tmp_path):
    """The sample with sections, or with turns of two speakers."""
    lines = sample_file("es").read_text(encoding="utf-8").split("\n")
    numbers = itertools.count()
    marked = [f"# {comment(next(numbers))}\n{line}" if line.startswith("# sent_id") else line for line in lines]
    (path := tmp_path / "es_marked-ud-test.conllu").write_text("\n".join(marked), encoding="utf-8")
    corpus = load_corpus(str(path))
    (config,) = build_all([CLASSIFICATION[task]], corpus, SMALL_CLASSES)
    check_rules(config, sentences_of(corpus))


@pytest.mark.parametrize("name", RULES)
def test_every_rule_is_applied(name, built):
    """Without the treebanks of ``../shared`` too."""
    results = [result for lang in SAMPLE_LANGUAGES for result in built("sample", lang).values()]
    assert any(RULES[name].concerns(result) for result in results if isinstance(result, Config))


def test_nearly_every_task_is_built_from_the_sample(built):
    there = {
        task
        for lang in SAMPLE_LANGUAGES
        for settings in (DEFAULT, SMALL_CLASSES)
        for task, result in built("sample", lang, settings).items()
        if isinstance(result, Config)
    }
    others = {"relations", "sections", "rst_trees", "speakers", "coreference"}
    of_sentences = {name for name, task in CLASSIFICATION.items() if not task.needs & others}
    few = {"coord_inv", "deep_tree", "impersonal", "word_content"}  # too few such sentences in the sample
    assert of_sentences - there <= few


@needs_shared
@pytest.mark.slow
@pytest.mark.parametrize("lang", [lang for lang in REAL_LANGUAGES if lang not in {"hr", "uk"}])
def test_languages_with_documents_have_the_discourse_tasks(built, lang):
    there = {task for task, result in built("shared", lang).items() if isinstance(result, Config)}
    assert {"sp", "sp_swap", "bso", "so", "dc", "nsp", "cloze"} <= there


@CORPORA
def test_a_document_is_in_the_same_split_of_every_task(where, lang, settings, built):
    """Relations keep the published splits of their corpora."""
    splits = defaultdict(set)
    for name, task in CLASSIFICATION.items():
        result = built(where, lang, settings)[name]
        if isinstance(result, Config) and result.split_by == "document" and task.family != "relations":
            for split, table in result.splits.items():
                for row in table.select(["corpus", "doc_id"]).to_pylist():
                    splits[row["corpus"], row["doc_id"]].add(split)
    assert len(splits) >= len(SPLITS)
    assert {document: names for document, names in splits.items() if len(names) > 1} == {}


# Reasons of configs that are not there

REASONS = {
    r"the corpus has no (.+)": lambda found, _result, corpus, _settings: not set(found[1].split(", ")) & corpus.layers,
    r"no word that the task asks for has \w+|no sentence is what the task asks for": (
        lambda _found, result, _corpus, _settings: result.candidates == 0
    ),
    r"(\d+) rows of .+ are left after filters and matching; (\d+) are needed": (
        lambda found, _result, _corpus, settings: 0 <= int(found[1]) < int(found[2]) == settings.min_class
    ),
    r"no two values have (\d+) balanced rows(?: of the same [\w ]+)? in all splits \(candidates left: (.+)\)": (
        lambda found, result, _corpus, settings: (
            int(found[1]) == settings.min_class
            and sum(int(n) for n in re.findall(r" (\d+)(?:, |$)", found[2]))
            == sum(n for reason, n in result.drops.items() if reason.partition(" ")[0] in {"rare-value", "unbalanced"})
        )
    ),
    r"no candidate is .+": lambda _found, result, _corpus, _settings: not result.drops,
    r"no candidates are left": lambda _found, result, _corpus, _settings: (
        result.candidates == 0 or sum(result.drops.values()) > 0
    ),
}
"""What must be true where a config is refused with this reason."""


def check_reason(result, corpus, settings):
    """A reason is one line, it is the language's or one of the known kinds, and it is true."""
    assert result.reason.strip() == result.reason != ""
    assert "\n" not in result.reason
    assert all(number > 0 for number in result.drops.values())
    task = all_tasks()[result.task]
    if said := unsupported(task, corpus.layers, language_data(corpus.lang)):
        assert result.reason == said
    for pattern, is_true in REASONS.items():
        reason, _, lost = result.reason.partition("; lost: ")
        assert all(result.drops[name] == int(n) for name, n in re.findall(r"(?:^|, )(.+?) (\d+)(?=, |$)", lost))
        if found := re.fullmatch(pattern, reason):
            assert is_true(found, result, corpus, settings), (result.reason, result.candidates, result.drops)


# Rules


def unit(row):
    """What stands or falls together: the pair, or the row."""
    return row["pair_id"] or row["id"]


def shown(row):
    """The texts that a reader of the row sees, in order."""
    parts = [
        row.get(name) for name in ("text", "sentences", "candidate", "sentence1", "sentence2", "context", "choices")
    ]
    return tuple(
        itertools.chain.from_iterable([part] if isinstance(part, str) else part for part in parts if part is not None)
    )


def normal(text):
    return " ".join(text.casefold().split())


def words(text):
    return re.findall(r"\w+", text)


def in_several(places):
    """What is in more than one of its places, which is an error."""
    assert places
    return {what: where for what, where in places.items() if len(where) > 1}


@rule()
def has_the_columns_of_its_shape(case):
    assert list(case.config.splits) == SPLITS
    for table in case.config.splits.values():
        assert len(table) > 0
        assert table.schema.equals(schema(case.config.shape))
        for name in ("id", "label", "corpus", "sent_ids", "group"):
            assert table[name].null_count == 0, name
        if case.config.split_by == "document":
            assert table["doc_id"].null_count == 0


@rule()
def has_the_labels_of_its_task_in_every_split(case):
    labels = case.config.labels
    assert len(set(labels)) == len(labels) >= 2
    assert labels == (case.task.labels or labels)
    used = {labels.index(name) for name in case.config.used_labels}
    assert len(used) >= 2
    assert len(used) == len(labels) or case.config.task == "tree_depth" or getattr(case.task, "feature", None)
    for table in case.config.splits.values():
        assert set(table["label"].to_pylist()) == used


@rule()
def has_equal_counts_of_every_label_in_every_split(case):
    for split, counts in case.config.counts().items():
        assert len(set(counts.values())) == 1, (split, counts)
        assert min(counts.values()) > 0


@rule(lambda config: config.task == "sp" or not {"shuffled", "swapped"}.isdisjoint(config.labels))
def shows_no_colon_that_would_stand_before_another_sentence(case):
    assert [text for _, row in case.rows for text in shown(row) if text.rstrip().endswith((":", "："))] == []


@rule()
def has_unique_ids(case):
    ids = [row["id"] for _, row in case.rows]
    assert len(ids) == len(set(ids))
    assert all(re.fullmatch("[0-9a-f]{16}", name) for name in ids)


@rule()
def shows_no_row_twice(case):
    counts = Counter(shown(row) for _, row in case.rows)
    assert [texts for texts, n in counts.items() if n > 1] == []


@rule(lambda config: config.pairs)
def perturbed_differs_from_every_original(case):
    original = {shown(row) for _, row in case.rows if row["label"] == 0}
    perturbed = {shown(row) for _, row in case.rows if row["label"] != 0}
    assert original
    assert perturbed
    assert not original & perturbed


@rule(lambda config: config.pairs and config.shape is Shape.SENTENCE)
def only_a_perturbed_row_has_an_original(case):
    for _, row in case.rows:
        assert (row["original"] is None) == (row["label"] == 0)
        assert row["original"] != row["text"]


@rule()
def pairs_are_whole_and_in_one_split(case):
    for members in case.units().values():
        assert len({split for split, _ in members}) == 1
        assert len({(row["corpus"], row["doc_id"], row["group"]) for _, row in members}) == 1
        assert all((row["pair_id"] is not None) == case.config.pairs for _, row in members)
        if case.config.pairs:
            assert sorted(row["label"] for _, row in members) == list(range(len(case.config.labels)))


@rule()
def uses_no_sentence_in_two_units(case):
    """Windows are disjoint; a distractor is used once and stands in no window."""
    units = defaultdict(set)
    for _, row in case.rows:
        assert len(set(row["sent_ids"])) == len(row["sent_ids"])
        for sent_id in row["sent_ids"]:
            units[row["corpus"], sent_id].add(unit(row))
    assert in_several(units) == {}


@rule(lambda config: config.pairs)
def a_perturbed_window_adds_at_most_one_sentence(case):
    for members in case.units().values():
        by_label = {row["label"]: set(row["sent_ids"]) for _, row in members}
        for label, sentences in by_label.items():
            assert len(sentences - by_label[0]) <= (1 if label else 0)
            assert len(sentences) == len(by_label[0])


@rule()
def shows_no_sentence_in_two_splits(case):
    splits = defaultdict(set)
    for split, row in case.rows:
        for text in (*shown(row), row.get("original") or ""):
            if len(words(text)) >= 6:
                splits[normal(text)].add(split)
    assert in_several(splits) == {}


@rule()
def shows_no_near_duplicate_in_two_splits(case):
    """Jaccard similarity of sets of five running words stays below .8."""
    splits, holders = defaultdict(set), defaultdict(set)
    for split, row in case.rows:
        for text in (*shown(row), row.get("original") or ""):
            if len(running := tuple(words(text.casefold()))) >= 6:
                splits[running].add(split)
    grams = {running: {running[i : i + 5] for i in range(len(running) - 4)} for running in splits}
    for running, of_text in grams.items():
        for gram in of_text:
            holders[gram].add(running)
    assert grams
    for running, of_text in grams.items():
        for other in set().union(*(holders[gram] for gram in of_text)):
            if splits[other] != splits[running]:
                share = len(of_text & grams[other]) / len(of_text | grams[other])
                assert share < 0.8, (" ".join(running), " ".join(other))


@rule(lambda config: config.split_by == "document")
def the_documents_of_all_sentences_are_in_one_split(case):
    """Of distractors too."""
    splits = defaultdict(set)
    for split, row in case.rows:
        for sent_id in row["sent_ids"]:
            if len(places := case.documents[row["corpus"], sent_id]) == 1:
                splits[row["corpus"], *places].add(split)
    assert in_several(splits) == {}


@rule()
def what_the_task_splits_by_is_in_one_split(case):
    splits = defaultdict(set)
    for split, row in case.rows:
        if case.config.split_by == "document":
            splits[row["corpus"], row["doc_id"]].add(split)
        elif case.config.split_by == "target":
            splits[row["target"]["form"].lower()].add(split)
        splits["group", row["group"]].add(split)
    assert in_several(splits) == {}


def binomial_tail(n, k):
    """The chance of k or more, or n - k or fewer, heads of n fair coins (Hoeffding's bound)."""
    return min(1.0, 2 * math.exp(-2 * n * (k / n - 0.5) ** 2))


def longest_run(labels):
    return max(len(list(group)) for _, group in itertools.groupby(labels))


@rule()
def the_order_of_rows_does_not_tell_the_label(case):
    for split, table in case.config.splits.items():
        labels = table["label"].to_pylist()
        share = max(Counter(labels).values()) / len(labels)
        assert len(labels) * share ** (longest_run(labels) - 1) > UNLIKELY, (split, "a run of one label is too long")
        for places in ([i % 2 for i in range(len(labels))], [2 * i >= len(labels) for i in range(len(labels))]):
            for label in set(labels):
                here = [place for place, other in zip(places, labels, strict=True) if other == label]
                assert binomial_tail(len(here), sum(here)) > UNLIKELY, (split, "the place in the file tells the label")


@rule(lambda config: config.pairs and len(config.labels) == 2)
def neither_version_of_a_pair_comes_first(case):
    for split in SPLITS:
        first = {}
        for of, row in case.rows:
            if of == split:
                first.setdefault(row["pair_id"], row["label"])
        assert binomial_tail(len(first), sum(first.values())) > UNLIKELY, split


def one_edit(text, original):
    """Whether the texts are equal but for one span: it is what common beginning and end leave."""
    start = next(
        (i for i, (a, b) in enumerate(zip(text, original, strict=False)) if a != b), min(len(text), len(original))
    )
    rest, other = text[start:], original[start:]
    end = next(
        (i for i, (a, b) in enumerate(zip(rest[::-1], other[::-1], strict=False)) if a != b), min(len(rest), len(other))
    )
    return start, len(rest) - end, len(other) - end


@rule(lambda config: config.shape is Shape.SENTENCE)
def every_text_or_its_original_is_a_source_sentence(case):
    for _, row in case.rows:
        assert (row["original"] or row["text"]) in case.source[row["corpus"], row["sent_ids"][0]]


@rule(lambda config: config.shape is not Shape.SENTENCE)
def every_sentence_shown_is_the_source_sentence_or_its_end(case):
    """A task may cut the beginning off and write what is left with a capital (dconn)."""
    edits = 0
    for _, row in case.rows:
        assert len(shown(row)) == len(row["sent_ids"])
        for text, sent_id in zip(shown(row), row["sent_ids"], strict=True):
            there = case.source[row["corpus"], sent_id]
            if text not in there:
                edits += 1
                _, new, old = min((one_edit(text, other) for other in there), key=lambda edit: edit[2])
                assert new <= old, "an edit that is no deletion"
                assert text[1:] in "".join(there)
    assert edits == 0 or case.config.task == "dconn"


@rule(some_row_has("edit"))
def the_edit_is_where_the_row_says(case):
    for _, row in case.rows:
        assert row["edit"] is not None or row["original"] is None
        if row["edit"] is not None:
            start, end = row["edit"]["start"], row["edit"]["end"]
            assert 0 <= start < end <= len(row["text"])
            if row["original"] is not None:
                tail = len(row["text"]) - end
                assert row["text"][:start] == row["original"][:start]
                assert tail == 0 or row["text"][end:] == row["original"][-tail:]


@rule(lambda config: config.pairs and some_row_has("edit")(config))
def the_edit_of_the_original_leads_to_the_edited_text(case):
    """Where both texts of a pair are shown: the span of the one, put in place of the span of the other."""
    for members in case.units().values():
        (original,) = (row for _, row in members if row["label"] == 0)
        for row in (row for _, row in members if row["original"] == original["text"]):
            (a, b), (start, end) = ((one["edit"]["start"], one["edit"]["end"]) for one in (original, row))
            assert original["text"][:a] + row["text"][start:end] + original["text"][b:] == row["text"]
            assert original["text"][a:b] != row["text"][start:end]


@rule(some_row_has("target"))
def the_target_is_where_the_row_says(case):
    for _, row in case.rows:
        if row["target"] is not None:
            target = row["target"]
            assert 0 <= target["start"] < target["end"] <= len(row["text"])
            assert target["form"]
            if " " not in target["form"] and row["original"] is None:
                assert normal(target["form"])[:1] == normal(row["text"][target["start"] : target["end"]])[:1]


@rule(lambda config: config.shape is Shape.SEQUENCE)
def the_order_is_one_of_the_passage(case):
    for _, row in case.rows:
        n, known = len(row["sentences"]), [place for place in row["order"] if place >= 0]
        assert len(row["order"]) == n
        assert len(set(known)) == len(known) >= n - 1
        assert set(known) <= set(range(n))


@rule(lambda config: config.shape is Shape.SEQUENCE and config.pairs)
def the_order_leads_from_the_original_to_the_other_version(case):
    for members in case.units().values():
        (original,) = (row for _, row in members if row["label"] == 0)
        assert original["order"] == list(range(len(original["sentences"])))
        assert original["position"] == -1
        for _, row in members:
            for place, text in zip(row["order"], row["sentences"], strict=True):
                assert place < 0 or original["sentences"][place] == text


UNCLEAN = re.compile(r"\ufffd|&#?\w+;|</?[A-Za-z][^<>]*>|__")


@rule()
def texts_are_clean(case):
    for _, row in case.rows:
        for text in shown(row):
            assert text == text.strip()
            assert text == unicodedata.normalize("NFC", text)
            assert not UNCLEAN.search(text), text
            assert not {unicodedata.category(char) for char in text} & {"Cc", "Co", "Cs"}, text


@rule()
def numbers_of_candidates_and_drops_are_possible(case):
    config = case.config
    assert all(number > 0 for number in config.drops.values())
    assert config.candidates * max(1, len(config.labels) if config.pairs else 1) >= config.n_rows
    assert config.sources
    assert {row["corpus"] for _, row in case.rows} <= {source.name for source in config.sources}


@rule()
def has_a_definition(case):
    assert case.config.definition.partition("\n")[0].strip()
