"""Automatic annotation that fills probing tasks: which labels are right, and the rows of annotated text."""

import functools
import itertools
import random
from collections import Counter
from dataclasses import dataclass, field

import conllu
import msgspec
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from made_sentences import document
from shared import SHARED, SMALL_CLASSES, sample_file

from discoprobe.builders import SPLITS, Config, Settings, blocks_of, build_all, tasks_named
from discoprobe.builders.sentences.confidence import MEASURES, is_sure
from discoprobe.cards.review import read_card
from discoprobe.loaders.catalogue.treebanks import Source
from discoprobe.loaders.corpus import Trust, Word
from discoprobe.loaders.raw import ReadOptions
from discoprobe.loaders.raw.row_groups import text_corpus
from discoprobe.loaders.raw.segmentation import Sentence
from discoprobe.silver import LEAST, LIMIT, held_out, is_annotated, label_errors
from discoprobe.silver import _errors as label_errors_of
from discoprobe.sources import load_corpus

OPPOSITE = {"Number=Sing": "Number=Plur", "Number=Plur": "Number=Sing"}
TASKS = tasks_named(("sent_len", "subj_number", "tree_depth", "bigram_shift", "word_content"))


@functools.cache
def sentences():
    return conllu.parse(sample_file("es").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Annotator:
    """Annotates the sentences of the sample as the sample does, but for the number of words in every ``wrong``-th.

    If ``divided``, the first token has a word more, so that all later words have other numbers.
    """

    wrong: int = 0
    divided: bool = False
    tags: bool = field(default=True, init=False)

    @property
    def identity(self):
        made_by = {"engine": "annotator", "software": {}, "packages": {"pos": "sample"}}
        return made_by | {"wrong": self.wrong, "divided": self.divided}

    def annotate(self, paragraphs, _corrections):
        return [
            [self.sentence(paragraph, *span) for span in paragraph.sentences or [(0, len(paragraph.text))]]
            for paragraph in paragraphs
        ]

    def sentence(self, paragraph, start, end):
        text = paragraph.text
        number = next(n for n, each in enumerate(sentences()) if each.metadata["text"] == text[start:end])
        is_wrong = self.wrong and number % self.wrong == 0
        words, at, covered = [], start, 0
        for token in sentences()[number]:
            if isinstance(token["id"], tuple) and token["id"][1] == "-":
                at = text.index(token["form"], at)
                place = at, at + len(token["form"])
                at, covered = place[1], token["id"][2]
            elif isinstance(token["id"], int):
                if token["id"] > covered:
                    at = text.index(token["form"], at)
                    place = at, at + len(token["form"])
                    at = place[1]
                feats = "|".join(f"{name}={value}" for name, value in (token["feats"] or {}).items())
                for name in OPPOSITE if is_wrong else ():
                    if name in feats.split("|"):
                        feats = feats.replace(name, OPPOSITE[name])
                        break
                head = token["head"] + (self.divided and token["head"] > 1)
                words.append(Word(
                    token["form"], token["lemma"], token["upos"], "", feats, head, token["deprel"], *place
                ))  # fmt: skip
                if self.divided and token["id"] == 1:
                    words.append(Word("se", "se", "PART", "", "", 1, "discourse", *place))
        return Sentence(paragraph, start, end, tuple(words))


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCOPROBE_CACHE", str(tmp_path / "cache"))


def test_an_annotation_that_equals_the_treebank_has_no_wrong_label(cache):
    errors = label_errors(TASKS, load_corpus("es", ["sample"]), Annotator())
    assert {name: figures.wrong for name, figures in errors.items()} == dict.fromkeys(errors, 0)
    assert all(figures.n > 50 for figures in errors.values())


def test_wrong_features_are_wrong_labels_of_the_task_that_asks_for_them(cache):
    errors = label_errors(TASKS, load_corpus("es", ["sample"]), Annotator(wrong=4))
    assert 0.1 < errors["subj_number"].wrong / errors["subj_number"].n < 0.4
    assert errors["subj_number"].trust is None
    assert errors["tree_depth"].trust is not None
    assert errors["sent_len"].wrong == errors["tree_depth"].wrong == errors["word_content"].wrong == 0


def test_the_comparison_is_made_once(cache, monkeypatch):
    corpus = load_corpus("es", ["sample"])
    first = label_errors(TASKS, corpus, Annotator())
    monkeypatch.setattr(Annotator, "annotate", None)
    assert label_errors(TASKS, corpus, Annotator()) == first


def changed_sample(tmp_path, change):
    """The Spanish sample with other lines."""
    path = tmp_path / "es_changed-ud-test.conllu"
    path.write_text("\n".join(map(change, sample_file("es").read_text(encoding="utf-8").split("\n"))), encoding="utf-8")
    return load_corpus("es", [str(path)])


def test_a_treebank_without_the_labels_of_a_task_shows_nothing_of_them(cache, tmp_path):
    def without_features(line):
        columns = line.split("\t")
        return "\t".join([*columns[:5], "_", *columns[6:]]) if len(columns) == 10 else line

    errors = label_errors(TASKS, changed_sample(tmp_path, without_features), Annotator())
    assert (errors["subj_number"].n, errors["subj_number"].trust) == (0, None)
    assert errors["subj_number"].unknown > 50
    assert errors["bigram_shift"].n > 50


def test_talk_shows_how_parsers_read_it_only_if_there_is_nothing_else(cache, tmp_path):
    whole = label_errors(TASKS, load_corpus("es", ["sample"]), Annotator())
    for every, least, most in ((1, 1.0, 1.0), (2, 0.2, 0.8)):
        numbers = itertools.count()

        def as_talk(line, numbers=numbers, every=every):
            is_talk = line.startswith("# meta::genre") and next(numbers) % every == 0
            return "# meta::genre = spoken" if is_talk else line

        errors = label_errors(TASKS, changed_sample(tmp_path, as_talk), Annotator())
        assert least <= errors["sent_len"].n / whole["sent_len"].n <= most


def test_what_a_second_model_contradicts_is_not_used(cache):
    """Every fourth sentence has a wrong number; the witness, which has the right one, leaves none of these."""
    corpus = load_corpus("es", ["sample"])
    alone = label_errors(TASKS, corpus, Annotator(wrong=4))["subj_number"]
    agreed = label_errors(TASKS, corpus, Annotator(wrong=4), Annotator())
    assert alone.wrong > 10
    assert (agreed["subj_number"].wrong, agreed["subj_number"].n) == (0, alone.n - alone.wrong)
    assert agreed["subj_number"].trust is not None
    assert agreed["word_content"] == label_errors(TASKS, corpus, Annotator())["word_content"]


def made_candidates(wrong):
    """400 candidates of two labels; of each label ``wrong`` are wrong, and the measures tell them from the others."""
    rng = random.Random(3)
    right = np.array([n >= wrong for n in range(200)] * 2)
    table = np.array([[rng.gauss(3 if each else 1, 0.3), rng.gauss(0, 1)] for each in right])
    return table, right, ["a"] * 200 + ["b"] * 200, [f"text {n}" for n in range(400)]


def test_what_the_model_is_not_sure_of_is_left_out():
    errors = label_errors_of(*made_candidates(wrong=40))
    assert (errors.n, errors.wrong) == (400, 80)
    assert errors.used > 300
    assert errors.used_wrong <= LIMIT * errors.used
    assert errors.trust.least.keys() == {"a", "b"}


@pytest.mark.parametrize(("label", "n"), [("b", LEAST - 1), ("", LEAST - 1)])
def test_too_few_candidates_show_nothing(label, n):
    table, right, labels, texts = made_candidates(wrong=0)
    first = [*range(200), *range(200, 200 + n)] if label else range(n)
    of_first = [labels[at] if label else "" for at in first]
    errors = label_errors_of(table[first], right[first], of_first, [texts[at] for at in first])
    assert errors.wrong == 0
    assert errors.trust is None


def test_a_label_with_few_candidates_leaves_and_the_others_stay():
    table, right, labels, texts = made_candidates(wrong=0)
    first = [*range(200), *range(200, 200 + LEAST - 1), *range(230, 400)]
    of_first = [labels[at] if at < 230 else "c" for at in first]
    errors = label_errors_of(table[first], right[first], of_first, [texts[at] for at in first])
    assert errors.trust.least.keys() == {"a", "c"}
    assert errors.labels == {"a": (200, 0), "c": (170, 0)}
    assert errors.used == 370


def test_the_share_is_the_mean_of_the_labels_and_inside_its_interval():
    """One of 200 wrong in a, nine of 300 in b: (1.5/201 + 9.5/301) / 2 is below the threshold, b alone is not."""
    right = np.array([n >= 1 for n in range(200)] + [n >= 9 for n in range(300)])
    labels, texts = ["a"] * 200 + ["b"] * 300, [f"text {n}" for n in range(500)]
    errors = label_errors_of(np.zeros((500, 2)), right, labels, texts)
    assert errors.labels == {"a": (200, 1), "b": (300, 9)}
    assert errors.share == pytest.approx((1.5 / 201 + 9.5 / 301) / 2, abs=1e-6)
    assert errors.share <= LIMIT < 9.5 / 301
    low, high = errors.interval
    assert 0.005 < low < errors.share < high < 0.04
    assert len({*errors.trust.least.values()}) == 1, "one threshold"


def test_the_label_that_is_wrong_most_often_leaves_where_the_task_passes_without_it():
    """A quarter of c is wrong, and nothing tells which; a and b are right."""
    right = np.array([True] * 400 + [n % 4 > 0 for n in range(80)])
    labels, texts = ["a"] * 200 + ["b"] * 200 + ["c"] * 80, [f"text {n}" for n in range(480)]
    errors = label_errors_of(np.zeros((480, 2)), right, labels, texts)
    assert errors.labels == {"a": (200, 0), "b": (200, 0)}
    assert errors.trust.least.keys() == {"a", "b"}
    assert (errors.n, errors.wrong, errors.used) == (480, 20, 400)


def test_a_label_alone_is_not_filled():
    table, right, _, texts = made_candidates(wrong=0)
    assert label_errors_of(table, right, ["personal"] * 400, texts).trust is None
    assert label_errors_of(table, right, [""] * 400, texts).trust.least.keys() == {""}


def test_measures_that_tell_nothing_leave_nothing():
    table, right, labels, texts = made_candidates(wrong=40)
    errors = label_errors_of(np.zeros_like(table), right, labels, texts)
    assert errors.trust is None
    assert errors.used == 0


def test_a_number_that_is_divided_otherwise_leaves_later_swaps_as_they_are(cache):
    """What stands behind it has other numbers of words, and the same characters."""
    whole = label_errors(TASKS, load_corpus("es", ["sample"]), Annotator())["bigram_shift"]
    errors = label_errors(TASKS, load_corpus("es", ["sample"]), Annotator(divided=True))["bigram_shift"]
    assert errors.n > whole.n / 2
    assert errors.wrong < errors.n / 20


@pytest.mark.parametrize("of_a_sentence", [1, 4], ids=["candidates", "sentences"])
def test_noise_tells_nothing_about_what_it_was_not_learned_from(of_a_sentence):
    """With this many measures, chance tells any candidates apart, but no others; those of a sentence stay together."""
    rng, n_texts = random.Random(5), 1000 // of_a_sentence
    right = np.repeat([rng.random() < 0.5 for _ in range(n_texts)], of_a_sentence)
    table = np.repeat([[rng.gauss(0, 1) for _ in range(300)] for _ in range(n_texts)], of_a_sentence, axis=0)
    texts = [f"text {n // of_a_sentence}" for n in range(1000)]
    errors = label_errors_of(table, right, [""] * 1000, texts)
    assert (errors.used, errors.trust) == (0, None)


def test_of_candidates_that_are_equally_sure_all_are_used_or_none():
    """The first hundred are right, but nothing tells them from the others."""
    right = np.arange(130) < 100
    errors = label_errors_of(np.zeros((130, 3)), right, [""] * 130, [f"text {n}" for n in range(130)])
    assert (errors.used, errors.trust) == (0, None)


def test_what_was_found_right_is_sure():
    """The least sum is a rounded number; none of the candidates that it was chosen for falls below it."""
    table, right, labels, texts = made_candidates(wrong=0)
    assert is_sure(label_errors_of(table, right, labels, texts).trust, table, pl.Series(labels)).all()


@pytest.mark.parametrize(
    ("files", "used"),
    [(("train", "dev", "test"), {"dev", "test"}), (("train", "test"), {"test"}), (("train",), {"train"})],
)
def test_what_models_were_not_trained_on_shows_which_labels_are_right(tmp_path, files, used):
    for name in files:
        (tmp_path / f"es_made-ud-{name}.conllu").write_text(document(name, ["{a} vino."], a="Ana"), encoding="utf-8")
    shards = held_out([tmp_path], "es", "stop").shards()
    assert {name for shard in shards for name in shard.sentences["sent_id"]} == {f"{name}.1" for name in used}


@pytest.mark.parametrize("silver", [False, True])
def test_only_automatic_annotation_has_to_be_sure(silver):
    """A model says nothing of the words of a treebank."""
    corpus, tasks = load_corpus("es", ["sample"]), tasks_named(["subj_number"])
    (expected,) = build_all(tasks, corpus, SMALL_CLASSES)
    sources = [
        msgspec.structs.replace(source, annotation={"silver": {}} if silver else None) for source in corpus.sources
    ]
    never = {"subj_number": Trust((0.0,) * len(MEASURES), {})}
    (result,) = build_all(tasks, msgspec.structs.replace(corpus, sources=tuple(sources), trust=never), SMALL_CLASSES)
    assert isinstance(expected, Config)
    assert isinstance(result, Config) is not silver
    assert silver or result.splits == expected.splits


def test_tasks_on_annotated_sentences():
    names = {task.name for task in tasks_named(("probing", "discourse", "relations")) if is_annotated(task)}
    assert {"sent_len", "subj_number", "gapping", "somo", "bigram_shift"} <= names
    assert not {"dc", "nsp", "dr", "ssp", "speaker"} & names


@pytest.fixture
def text(tmp_path):
    """The sentences of the sample as parquet, a document per row."""
    documents = {}
    for sentence in sentences():
        documents.setdefault(sentence.metadata["sent_id"].rpartition("-")[0], []).append(sentence.metadata["text"])
    table = pa.table({"id": [*documents], "sentences": [*documents.values()]})
    pq.write_table(table, tmp_path / "text.parquet", row_group_size=len(documents))
    return tmp_path / "text.parquet"


def test_annotated_parts_have_the_words_of_the_treebank(cache, text, monkeypatch):
    monkeypatch.setattr("discoprobe.loaders.raw.row_groups.ANNOTATED", 4000)
    options = ReadOptions(script_share=0, language_share=0, boilerplate=0, duplicates=False)
    corpus = text_corpus(str(text), Source("cuentos", "es"), options, Annotator())
    assert corpus.layers >= {"lemma", "upos", "feats", "deps", "sections", "text"}
    assert len(corpus.parts) > 3
    assert len({part.identity for part in corpus.parts}) == len(corpus.parts)
    shards = list(corpus.shards())
    gold = next(iter(load_corpus("es", ["sample"]).shards()))
    columns = ["form", "lemma", "upos", "feats", "head", "deprel", "start", "end"]

    def by_text(shard):
        words = shard.tokens.join(shard.sentences.select("sent", "text"), on="sent", maintain_order="left")
        return {key[0]: frame.select(columns).rows() for key, frame in words.group_by("text", maintain_order=True)}

    read = {key: rows for shard in shards for key, rows in by_text(shard).items()}
    expected = by_text(gold)
    assert len(read) > 0.9 * len(expected)
    different = [(key, expected[key], rows) for key, rows in read.items() if expected[key] != rows]
    assert not different
    assert corpus.parts[0].record()["words"] > 0


def test_gold_rows_come_first(cache, text, monkeypatch):
    monkeypatch.setattr("discoprobe.loaders.raw.row_groups.ANNOTATED", 4000)
    options = ReadOptions(script_share=0, language_share=0, boilerplate=0, duplicates=False)
    silver = text_corpus(str(text), Source("cuentos", "es"), options, Annotator())
    parts = tuple(msgspec.structs.replace(part, fills=True) for part in silver.parts)
    corpus = load_corpus("es", ["sample"]) + msgspec.structs.replace(silver, parts=parts)
    settings = Settings(sizes=(55_000, 15_000, 30_000))
    first, *others = blocks_of(corpus.parts, settings)
    assert not any(getattr(part, "fills", False) for part in first)
    assert all(part.fills for block in others for part in block)
    (config,) = build_all(tasks_named(["subj_number"]), corpus, settings)
    assert {name for table in config.splits.values() for name in table["corpus"].to_pylist()} <= {
        "sample-es",
        "cuentos",
    }


@pytest.mark.parametrize(("sizes", "splits_of_gold"), [((400, 10, 200), {"test"}), ((20, 10, 20), {*SPLITS})])
def test_gold_rows_go_first_to_test(cache, text, tmp_path, monkeypatch, sizes, splits_of_gold):
    """What people annotated fills test, then validation, then train, and the text has what is left."""
    monkeypatch.setattr("discoprobe.loaders.raw.row_groups.ANNOTATED", 4000)
    names = list(dict.fromkeys(each.metadata["sent_id"].rpartition("-")[0] for each in sentences()))
    half = {*names[: len(names) // 2]}
    few = [each for each in sentences() if each.metadata["sent_id"].rpartition("-")[0] in half]
    gold = tmp_path / "es_few-ud-test.conllu"
    gold.write_text("".join(each.serialize() for each in few), encoding="utf-8")
    options = ReadOptions(script_share=0, language_share=0, boilerplate=0, duplicates=False)
    silver = text_corpus(str(text), Source("cuentos", "es"), options, Annotator())
    silver = msgspec.structs.replace(
        silver, trust={"bigram_shift": Trust((0.0,) * len(MEASURES), {"": -1.0})},
        parts=tuple(msgspec.structs.replace(part, fills=True) for part in silver.parts),
        sources=tuple(msgspec.structs.replace(source, annotation={"silver": {}}) for source in silver.sources),
    )  # fmt: skip
    corpus = load_corpus("es", [str(gold)]) + silver
    (config,) = build_all(tasks_named(["bigram_shift"]), corpus, Settings(sizes=sizes))
    kinds = {split: Counter(table["annotation"].to_pylist()) for split, table in config.splits.items()}
    assert {split for split, of_split in kinds.items() if of_split["gold"]} == splits_of_gold
    assert kinds["train"]["silver"] > 0 or len(splits_of_gold) > 1
    if len(splits_of_gold) == 1:
        assert kinds["test"]["gold"] > 10
    else:
        assert kinds["test"] == {"gold": sizes[2]}
    assert config.silver_splits == {split: of_split["silver"] for split, of_split in kinds.items()}


@pytest.fixture
def halves(tmp_path):
    """The first half of the sample as a treebank, the whole as text that was parsed before, and the text as parquet."""
    names = list(dict.fromkeys(each.metadata["sent_id"].rpartition("-")[0] for each in sentences()))
    half = {*names[: len(names) // 2]}
    few = [each for each in sentences() if each.metadata["sent_id"].rpartition("-")[0] in half]
    gold, parsed = tmp_path / "es_few-ud-test.conllu", tmp_path / "es_parsed.conllu"
    gold.write_text("".join(each.serialize() for each in few), encoding="utf-8")
    parsed.write_text("".join(each.serialize() for each in sentences()), encoding="utf-8")
    return gold, parsed


COPYING = '''
"""Says of each sentence what a file says of it."""
from pathlib import Path
from discoprobe.loaders.raw.parsers import find_parser, _trees

FILE = Path(__file__).with_name("es_parsed.conllu")

def describe(lang):
    return {{"software": {{"copying": "1"}}}}

def parse(lang, sentences):
    return [_trees(find_parser(str(FILE), lang)).get(text) for text in sentences]
'''


@pytest.mark.parametrize("kind", ["parsed", "plugin"])
def test_a_release_with_silver_rows_is_built_again(halves, text, command, tmp_path, kind):
    """From text that was parsed before, and by a parser of a plugin; without them it says what it needs."""
    gold, parsed = halves
    if kind == "parsed":
        own, corpora = ["--parser", parsed], ["--corpus", gold]
        given = corpora
    else:
        (tmp_path / "plugin" / "parsers").mkdir(parents=True)
        (tmp_path / "plugin" / "parsers" / "copying.py").write_text(COPYING.format(), encoding="utf-8")
        parsed.rename(tmp_path / "plugin" / "parsers" / "es_parsed.conllu")
        own, corpora = ["--plugins", tmp_path / "plugin"], ["--corpus", gold, "--fill", text, "--silver"]
        given = ["--corpus", gold, "--corpus", text]
    parser = ["--parser", "copying"] if kind == "plugin" else []
    done = command(
        "run", "--lang", "es", *corpora, *own, *parser, "--task", "sent_len,bigram_shift", "--size", "100/20/40",
        "--min-rows", "0", "--no-audit", "--set", "length_bins=equal", "--out", tmp_path / "out", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = pl.read_parquet(tmp_path / "out" / "bigram_shift_es" / "*.parquet")
    assert set(rows["annotation"]) == {"gold", "silver"}
    card = " ".join(read_card(tmp_path / "out", "bigram_shift_es").split())
    assert "gold rows fill test first" in card
    verified = command("verify", tmp_path / "out", *given, *own, cwd=tmp_path)
    assert verified.returncode == 0, verified.stdout + verified.stderr
    without = command("verify", tmp_path / "out", *given, cwd=tmp_path)
    assert without.returncode != 0
    assert ("with --parser" if kind == "parsed" else "with --plugins") in " ".join(without.stderr.split())


def test_text_that_a_model_annotated_has_the_same_standard(halves, command, tmp_path):
    """The folder of `annotate` is judged by the treebank beside it; without one, no task on words is built of it."""
    gold, parsed = halves
    (tmp_path / "copying.py").write_text(COPYING.format(), encoding="utf-8")
    (tmp_path / "texts").mkdir()
    for name in dict.fromkeys(each.metadata["sent_id"].rpartition("-")[0] for each in sentences()):
        of_text = [each.metadata["text"] for each in sentences() if each.metadata["sent_id"].startswith(name)]
        (tmp_path / "texts" / f"{name}.txt").write_text("\n".join(of_text), encoding="utf-8")
    made = command(
        "annotate", "texts", "--lang", "es", "--out", "annotated", "--parser", "copying.py", "--set", "lines=sentences",
        "--set", "boilerplate=0", "--set", "duplicates=no", cwd=tmp_path,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    build = ["run", "--lang", "es", "--parser", "copying.py", "--task", "bigram_shift,so", "--size", "100/20/40"]
    build += ["--min-rows", "0", "--no-audit"]
    beside = command(*build, "--corpus", gold, "--corpus", "annotated", "--out", "both", cwd=tmp_path)
    assert beside.returncode == 0, beside.stderr
    assert set(pl.read_parquet(tmp_path / "both" / "bigram_shift_es" / "*.parquet")["annotation"]) == {"gold", "silver"}
    alone = command(*build, "--corpus", "annotated", "--out", "alone", "--json", cwd=tmp_path)
    assert "nothing shows which labels" in alone.stdout
    other = command(*build[:2], "fr", *build[3:], "--corpus", "annotated", "--out", "other", cwd=tmp_path)
    assert "no corpus of fr among annotated; there is es" in " ".join(other.stderr.split())
    assert parsed.exists()


@pytest.mark.slow
def test_with_stanza(process, tmp_path):
    """Small models are right about the length of sentences, and not about subjects."""
    pytest.importorskip("stanza")
    models, treebanks = SHARED / "models" / "stanza", SHARED / "corpora" / "ud" / "es"
    if not models.is_dir():
        pytest.skip("../shared has no models")
    ((shard,), news) = load_corpus("es", [str(treebanks / "UD_Spanish-AnCora")]).shards(), tmp_path / "news"
    news.mkdir()
    documents = shard.sentences.group_by("doc", maintain_order=True).agg(text=pl.col("text").str.join(" ")).head(40)
    pq.write_table(documents.select("text").to_arrow(), news / "a.parquet")
    done = process(
        "run", "--lang", "es", "--corpus", treebanks / "UD_Spanish-GSD", "--fill", news, "--silver", "--stanza-dir",
        models, "--task", "sent_len,subj_number", "--size", "1000/200/400", "--min-rows", "0", "--no-audit",
        "--out", tmp_path / "out", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    sources = {
        name: set(pl.read_parquet(tmp_path / "out" / name / "*.parquet")["corpus"])
        for name in ("sent_len_es", "subj_number_es")
    }
    assert sources["sent_len_es"] == {"UD_Spanish-GSD", "news"}
    assert sources["subj_number_es"] == {"UD_Spanish-GSD"}
    card = " ".join(read_card(tmp_path / "out", "sent_len_es").split())
    assert "These models annotated held-out sentences of the treebanks of this build" in card
