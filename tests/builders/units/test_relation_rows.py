"""Relation tasks on made-up corpora: every relation is a row or dropped with a reason, splits, classes, texts."""

import json
import re
from collections import Counter, defaultdict

import polars as pl
import pytest
from audit_parts import finding_of
from discourse_corpora import KINDS, write_disrpt, write_many, write_trees
from shared import ROOT, SHARED

from discoprobe.builders import SPLITS, Config, Context, Settings, all_tasks, build_all, schema, tasks_named
from discoprobe.builders.audit import audit
from discoprobe.builders.build import build
from discoprobe.builders.config import RELATION_CANDIDATES
from discoprobe.builders.passages import LABELS, class_of, mark_units
from discoprobe.builders.passages.relation_units import _without_leaks, candidates
from discoprobe.loaders import UnsupportedError
from discoprobe.loaders.languages import language_data
from discoprobe.sources import load_corpus

LAYERS = {"relations", "rst_trees"}
RELATIONS = [task.name for task in all_tasks().values() if task.family == "relations" and task.needs <= LAYERS]
DOCS = ROOT / "docs"
MANIFEST = SHARED / "corpora" / "manifest.json"
TABLES = (
    [entry for entry in json.loads(MANIFEST.read_bytes())["files"] if entry["kind"] == "disrpt-rels"]
    if MANIFEST.is_file()
    else []
)
"""What the corpora's own manifest says of each table: its language, corpus and the number of relations by label."""
NATIVE = {"train.rels": "train", "dev.rels": "validation", "test.rels": "test"}
MALFORMED = {"tr": {("tur.pdtb.tedm", "test"): {"conjunction": 1}}}
"""Relations that the reader leaves out: in line 199 of this table two spans overlap."""


def published_corpus(lang):
    """The tables of a language in one corpus, without malformed rows."""
    folders = {str((SHARED / "corpora" / entry["path"]).parent) for entry in TABLES if entry["lang"] == lang}
    return load_corpus(lang, sorted(folders), on_error="skip")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = write_many(tmp_path_factory.mktemp("many"), "eng.pdtb.made", 60)
    return load_corpus("en", [str(folder), str(write_trees(folder, 60))])


@pytest.fixture(scope="module", params=RELATIONS)
def config(request, corpus):
    return build(request.param, corpus)


def rows_of(config):
    """All rows with the name of their label and their split."""
    return [
        row | {"name": config.labels[row["label"]], "split": split}
        for split, table in config.splits.items()
        for row in table.to_pylist()
    ]


def test_every_relation_is_a_row_or_dropped_with_a_reason(config, corpus):
    relations = {"relations": 60 * 9, "rst_trees": 60 * 9}
    (layer,) = all_tasks()[config.task].needs
    assert config.candidates == relations[layer]
    assert config.n_rows + sum(config.drops.values()) == config.candidates
    assert set(config.meanings) == set(config.drops)


def test_rows(config):
    rows = rows_of(config)
    assert len({row["id"] for row in rows}) == len(rows)
    texts = [(row["sentence1"].lower(), row["sentence2"].lower()) for row in rows]
    assert len(set(texts)) == len(texts), "no two units twice, so none with two labels"
    assert all(table.schema.equals(schema(config.shape)) for table in config.splits.values())
    labels = {split: {row["name"] for row in rows if row["split"] == split} for split in SPLITS}
    assert labels["train"] == labels["validation"] == labels["test"] == set(config.used_labels)
    places = defaultdict(set)
    for row in rows:
        places[row["doc_id"]].add(row["split"])
        assert row["group"] == row["doc_id"]
    assert all(len(splits) == 1 for splits in places.values())


def test_balanced_and_natural_tasks(config):
    equal = [len(set(counts.values())) == 1 for counts in config.counts().values()]
    assert config.natural or all(equal)
    assert config.natural == all_tasks()[config.task].natural


def test_the_audit_of_a_relation_task(config):
    """No check of integrity fails; the units that are made up here have words that tell the relation."""
    report = audit(config)
    assert [finding.check for finding in report.errors if finding.kind != "shortcut"] == []
    assert report.finding("balance").status in {"below", "noted"}


def test_published_splits_are_kept(corpus):
    """All three are there; the documents of `write_many` go to them in turn."""
    for row in rows_of(build("dr", corpus)):
        number = int(row["doc_id"].rpartition("-")[2])
        assert row["split"] == SPLITS[number % 3]


@pytest.mark.parametrize("order", [1, -1])
def test_a_document_that_corpora_publish_in_several_splits_is_in_the_last_of_these(tmp_path, order):
    """So a published test set stays as it is: ``made-0`` is in train and test, ``made-1`` in dev and train."""
    folders = [tmp_path / name for name in ("one", "two")]
    for folder, splits in zip(folders, (("train", "dev", "test"), ("test", "train", "dev")), strict=True):
        folder.mkdir()
        write_many(folder, f"eng.pdtb.{folder.name}", 60, splits=splits, seed=len(splits[0]))
        for file in folder.iterdir():
            text = re.sub(rf"eng\.pdtb\.{folder.name}-([01])\b", r"made-\1", file.read_text(encoding="utf-8"))
            file.write_text(text, encoding="utf-8")
    rows = rows_of(build("dr", load_corpus("en", [str(folder) for folder in folders[::order]])))
    splits = {(row["doc_id"], row["split"], row["corpus"]) for row in rows if row["doc_id"].startswith("made-")}
    assert splits == {
        (f"made-{number}", split, f"eng.pdtb.{corpus}")
        for number, split in enumerate(("test", "validation")) for corpus in ("one", "two")
    }  # fmt: skip


@pytest.mark.parametrize(("earlier", "later"), [("train", "dev"), ("train", "test"), ("dev", "test")])
def test_a_unit_of_two_published_splits_stays_in_the_later_one(tmp_path, earlier, later):
    """The seventh sentence of a document of one split says what the fourth of a document of another says."""
    names = {name: number for number, name in enumerate(("train", "dev", "test"))}
    write_many(tmp_path, "eng.pdtb.made", 60)
    words = {}
    for split, place in ((later, 3), (earlier, 6)):
        text = (tmp_path / f"eng.pdtb.made_{split}.conllu").read_text(encoding="utf-8")
        block = text.split(f"# sent_id = eng.pdtb.made-{names[split]}-{place}\n")[1].split("\n\n")[0].strip()
        words[split] = [line.split("\t")[1] for line in block.split("\n")[1:]]
    for name in ("conllu", "rels"):
        file = tmp_path / f"eng.pdtb.made_{earlier}.{name}"
        content = file.read_text(encoding="utf-8")
        if name == "rels":
            content = content.replace(" ".join(words[earlier]), " ".join(words[later]))
        else:
            head, rest = content.split(f"# sent_id = eng.pdtb.made-{names[earlier]}-6\n")
            block, *others = rest.split("\n\n")
            pairs = zip(block.split("\n")[1:], words[earlier], words[later], strict=True)
            lines = [line.replace(f"\t{old}\t{old}\t", f"\t{new}\t{new}\t") for line, old, new in pairs]
            lines = [f"# text = {' '.join(words[later][:-1])}.", *lines]
            content = f"{head}# sent_id = eng.pdtb.made-{names[earlier]}-6\n" + "\n\n".join(["\n".join(lines), *others])
        file.write_text(content, encoding="utf-8")
    config = build("dr", load_corpus("en", [str(tmp_path)]))
    sentence = " ".join(words[later][:-1]) + "."
    splits = {row["split"] for row in rows_of(config) if sentence in {row["sentence1"], row["sentence2"]}}
    assert splits == {{"dev": "validation"}.get(later, later)}
    assert config.drops["in-two-splits"] == 2, "the sentence is the second unit of one relation, the first of the next"


def test_a_passage_of_two_splits_stays_in_the_later_one():
    """Two corpora have the same text, and divide it into other units."""
    passage = "Since it had rained for a week, the river rose, and nobody in the town slept."
    rows = [
        ("train", "Since it had rained for a week,", "nobody slept.", passage),
        ("train", "Since it had rained", "for a week,", passage.replace(", and", " and")),
        ("train", "We left.", "It was late.", "We left. It was late."),
        ("train", "Then they met again.", "He ran.", None),
        ("test", "Since it had rained for a week, the river rose,", "and nobody in the town slept.", passage),
        ("test", "We left.", "It was late.", "We left. It was late."),
    ]  # fmt: skip
    schema = {"split": pl.Enum(SPLITS), "sentence1": pl.String, "sentence2": pl.String, "passage": pl.String}
    left = _without_leaks(pl.DataFrame(rows, schema, orient="row"))
    assert left["split"].to_list() == ["train", "train", "test", "test"], "short texts recur"


def test_without_a_published_train_documents_are_assigned_to_splits(tmp_path):
    corpus = load_corpus("en", [str(write_many(tmp_path, "eng.pdtb.made", 40, splits=("test",)))])
    config = build("dr", corpus)
    assert all(table.num_rows for table in config.splits.values())


def test_the_same_units_with_two_labels_are_in_no_row(tmp_path):
    write_many(tmp_path, "eng.pdtb.made", 60)
    table = tmp_path / "eng.pdtb.made_test.rels"
    lines = table.read_text(encoding="utf-8").split("\n")
    twice = lines[1].replace("\tcontrast\tcontrast", "\tx\tconcession")
    assert twice != lines[1]
    table.write_text("\n".join([*lines[:2], twice, lines[2], *lines[2:]]), encoding="utf-8")
    config = build("dr", load_corpus("en", [str(tmp_path)]))
    assert (config.drops["several-labels"], config.drops["duplicate"]) == (2, 1)
    assert lines[1].split("\t")[3][:-2] not in {row["sentence1"][:-1] for row in rows_of(config)}


def sampled(task, relations, order=1):
    """The sample of relations that are given as label, split and units."""
    schema = {**RELATION_CANDIDATES, "corpus": pl.String, "doc_id": pl.String, "doc_key": pl.UInt64, "row": pl.UInt32}
    rows = [
        {"label": label, "orig_label": label, "native": split, "doc_id": split, "corpus": "made", "key": key,
         "row": key, "sentence1": first, "sentence2": second}
        for key, (label, split, first, second) in enumerate(relations)
    ]  # fmt: skip
    frame = candidates(pl.DataFrame([dict.fromkeys(schema) | row for row in rows][::order], schema, orient="row"))
    chosen = all_tasks()[task]
    return chosen.sample(frame, Context(task, language_data("en"), Settings(), chosen.labels))


def test_of_relations_between_the_same_units_the_order_decides_nothing():
    relations = [(label, split, f"{label} rain {n // 2}", f"snow {split}")
                 for label in ("causal", "contrast") for split in SPLITS for n in range(20)]  # fmt: skip
    one, other = (sorted(sampled("dr", relations, order).rows["key"]) for order in (1, -1))
    assert one == other
    assert len(one) == len(relations) / 2


@pytest.mark.parametrize("words", ["rain", "rain that fell all night on the town"])
def test_a_relation_between_the_same_units_in_two_published_splits_stays_in_the_later_one(words):
    relations = [
        (label, split, f"{label} {words} {n or split}", f"snow {n or split}")
        for label in ("causal", "contrast") for split in SPLITS for n in range(20)
    ]  # fmt: skip
    splits = Counter(sampled("dr", relations).rows["split"].to_list())
    assert (splits["train"], splits["test"]) == (2, 40)


def test_a_unit_beside_itself_is_no_row(tmp_path):
    write_many(tmp_path, "eng.pdtb.made", 60)
    table = tmp_path / "eng.pdtb.made_test.rels"
    lines = table.read_text(encoding="utf-8").split("\n")
    cells = lines[1].split("\t")
    cells[2], cells[4] = cells[1], cells[3]
    table.write_text("\n".join([lines[0], "\t".join(cells), *lines[2:]]), encoding="utf-8")
    assert build("dr", load_corpus("en", [str(tmp_path)])).drops["equal-units"] == 1


def test_an_entity_that_a_tokeniser_pulled_apart_is_no_text(tmp_path):
    write_many(tmp_path, "eng.pdtb.made", 60)
    row = (tmp_path / "eng.pdtb.made_test.rels").read_text(encoding="utf-8").split("\n")[1]
    first, second = row.split("\t")[3].split()[1:3]
    for path in tmp_path.iterdir():
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(first, "&gt").replace(second, ";"), encoding="utf-8")
    config = build("dr", load_corpus("en", [str(tmp_path)]))
    assert config.drops["entity"] >= 1
    assert finding_of(config, "clean-text").measured == 0


def test_units_of_two_splits_stay_in_test(tmp_path):
    write_many(tmp_path, "eng.pdtb.made", 60)
    before = build("dr", load_corpus("en", [str(tmp_path)]))
    for suffix in ("conllu", "rels"):
        one, other = (tmp_path / f"eng.pdtb.made_{split}.{suffix}" for split in ("test", "train"))
        text = one.read_text(encoding="utf-8").replace("eng.pdtb.made-", "copied-")
        parts = text.split("\n", 1)
        other.write_text(
            other.read_text(encoding="utf-8") + (text if suffix == "conllu" else parts[1]), encoding="utf-8"
        )
    config = build("dr", load_corpus("en", [str(tmp_path)]))
    assert config.drops["duplicate"] > 0
    assert config.splits["test"].num_rows == before.splits["test"].num_rows
    assert not [one for one in audit(config).errors if one.check in {"dup-across", "sentence-leak", "near-dup"}]


def test_a_rare_class_is_dropped_with_its_number(corpus):
    config = build("dr", corpus)
    assert config.drops == {"unknown-relation odd": 20}
    assert set(config.used_labels) == {label for label, _ in KINDS}
    assert len(config.labels) == 17


def test_connectives_are_removed(corpus):
    rows = rows_of(build("connective", corpus))
    assert {row["name"] for row in rows} == {"and", "but", "so"}
    for row in rows:
        assert row["removed"].lower() == row["name"]
        assert not row["sentence2"].startswith(row["removed"])
        assert row["sentence2"][0].isupper()
        assert row["removed"] == dict(KINDS).get(row["orig_label"], row["removed"])


def test_nuclei(corpus):
    rows = rows_of(build("dr_tree", corpus))
    assert {row["direction"] for row in rows} == {"NS", "NN"}


@pytest.mark.parametrize("name", ["same-unit", "Same-Unit", "sameunit", "same_unit", "same"])
def test_the_parts_of_an_interrupted_unit_are_no_relation(tmp_path, name):
    for file in write_trees(tmp_path, 60).glob("*.rs3"):
        text = file.read_text(encoding="utf-8").replace('relname="list"', f'relname="{name}"')
        file.write_text(text.replace('name="list"', f'name="{name}"'), encoding="utf-8")
    config = build("dr_tree", load_corpus("en", [str(tmp_path)]))
    assert config.drops["same-unit"] > 0
    assert not {row["orig_label"] for row in rows_of(config)} & {name, name.lower()}


def test_other_tasks_pass_over_trees(corpus):
    made = {config.task: config for config in build_all(tasks_named(["bso", "sent_len"]), corpus, Settings())}
    assert isinstance(made["bso"], Config)


def test_a_corpus_of_trees_alone(tmp_path):
    corpus = load_corpus("en", [str(write_trees(tmp_path, 60))])
    assert isinstance(next(build_all(tasks_named(["dr_tree"]), corpus, Settings())), Config)
    with pytest.raises(UnsupportedError, match="no sentences"):
        build("bso", corpus)
    with pytest.raises(UnsupportedError, match="the corpus has no relations"):
        build("dr", corpus)


def test_a_corpus_without_relations_or_with_few(tmp_path):
    with pytest.raises(UnsupportedError, match="the corpus has no relations"):
        build("dr", load_corpus("en", ["sample"]))
    with pytest.raises(UnsupportedError, match="fewer than two classes have 20 relations"):
        build("dr", load_corpus("en", [str(write_disrpt(tmp_path))]))


def test_rows_do_not_depend_on_order_or_block(corpus):
    whole = build("dr", corpus)
    blocks = build("dr", corpus, Settings(block=1000))
    assert {split: table.to_pylist() for split, table in whole.splits.items()} == {
        split: table.to_pylist() for split, table in blocks.splits.items()
    }


@pytest.mark.skipif(not TABLES, reason="no ../shared with corpora of DISRPT beside the repository")
@pytest.mark.parametrize("lang", sorted({entry["lang"] for entry in TABLES}))
def test_labels_of_published_corpora_are_those_of_their_manifest(lang):
    """The reader gives every label of a table as often as the corpora's manifest counts it, but for malformed rows."""
    counted = {
        (entry["corpus"], NATIVE[entry["path"].rpartition("_")[2]]): Counter(entry["labels"])
        for entry in TABLES
        if entry["lang"] == lang
    }
    read = defaultdict(Counter)
    corpus = published_corpus(lang)
    for shard in corpus.shards():
        names = shard.documents.select("doc", "corpus")
        for name, split, label in shard.relations.join(names, on="doc").select("corpus", "native", "label").iter_rows():
            read[name, split][label] += 1
    missing = {table: labels - read[table] for table, labels in counted.items() if labels != read[table]}
    assert missing == MALFORMED.get(lang, {})
    assert read.keys() == counted.keys()
    assert sum(corpus.drops.values()) == sum(labels.total() for labels in missing.values())


@pytest.mark.slow
@pytest.mark.skipif(not TABLES, reason="no ../shared with corpora of DISRPT beside the repository")
@pytest.mark.parametrize("lang", sorted({entry["lang"] for entry in TABLES}))
def test_every_published_relation_is_a_row_or_dropped_with_a_reason(lang):
    """The table in the docs says how many relations of each label the corpora have, and how many are rows of `dr`."""
    labels = sum((Counter(entry["labels"]) for entry in TABLES if entry["lang"] == lang), Counter())
    config = build("dr", published_corpus(lang))
    assert config.candidates + sum(sum(part.values()) for part in MALFORMED.get(lang, {}).values()) == labels.total()
    assert config.n_rows + sum(config.drops.values()) == config.candidates
    assert set(config.drops) == set(config.meanings)
    classes = Counter()
    for label, n in labels.items():
        classes[class_of(label)] += n
    rows = Counter(row["name"] for row in rows_of(config))
    assert rows.keys() <= classes.keys()
    line = "| " + " | ".join([lang, *(f"{rows[name]}/{classes[name]}" for name in LABELS)]) + " |"
    drops = ", ".join(f"{reason} {n}" for reason, n in sorted(config.drops.items()))
    page = (DOCS / "records" / "relations.md").read_text(encoding="utf-8")
    assert line in page
    assert f"| {lang} | {labels.total()} | {config.n_rows} | {drops} |" in page


def test_units_are_marked_in_their_sentences(config):
    """Tasks on published relations show the sentences; those on trees, and on a hidden connective, the units alone."""
    rows = rows_of(config)
    assert rows
    for row in rows:
        if config.task != "dr":
            assert row["passage"] is row["marked"] is row["unit1"] is None
            continue
        for number in (1, 2):
            parts = [row["passage"][span["start"] : span["end"]] for span in row[f"unit{number}"]]
            assert " … ".join(parts) == row[f"sentence{number}"]
            assert all(f"[{number} {part}]" in row["marked"] for part in parts)


def test_marks_of_units_inside_each_other():
    def spans(text, *parts):
        return [{"start": text.index(part), "end": text.index(part) + len(part)} for part in parts]

    text = "He left (as [she] said), but came back."
    assert mark_units(text, spans(text, "He left", "but came back."), spans(text, "as [she] said")) == (
        "[1 He left] ([2 as (she) said]), [1 but came back.]"
    )
    assert mark_units(text, spans(text, text), spans(text, "but came back.")) == (
        "[1 He left (as (she) said), [2 but came back.]]"
    )
    assert mark_units(text, spans(text, "He"), spans(text, "He left")) == (
        "[2 [1 He] left] (as (she) said), but came back."
    )


def test_marks_of_units_without_a_blank_between_them():
    assert mark_units("下雨了,我们走", [{"start": 0, "end": 4}], [{"start": 4, "end": 7}]) == "[1 下雨了,][2 我们走]"
