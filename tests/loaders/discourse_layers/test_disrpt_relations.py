"""Relations of DISRPT: what is read of a hand-written corpus, and what is said of a malformed one."""

import re
from collections import Counter
from pathlib import Path

import pytest
from discourse_corpora import CONLLU, RELS, rels_of, write_disrpt
from shared import SHARED

from discoprobe.loaders import CorpusFormatError, DiscoprobeError
from discoprobe.loaders.conllu import read_corpora

DISRPT = sorted(SHARED.glob("corpora/**/*.rels"))
needs_disrpt = pytest.mark.skipif(not DISRPT, reason="no ../shared with corpora of DISRPT beside the repository")


def read(folder, **options):
    (corpus,) = read_corpora([folder], **options).values()
    return corpus


def relations(corpus):
    return [row for shard in corpus.shards() for row in shard.relations.iter_rows(named=True)]


def test_units_are_cut_from_the_sentences(tmp_path):
    corpus = read(write_disrpt(tmp_path))
    assert corpus.lang == "en"
    assert [source.name for source in corpus.sources] == ["eng.pdtb.toy"]
    assert {file.path for file in corpus.sources[0].files} == {f"eng.pdtb.toy_{s}" for s in ("dev.conllu", "dev.rels")}
    assert "relations" in corpus.layers
    first, second, third = relations(corpus)
    assert (first["unit1"], first["unit2"]) == ("It rained.", "But we can't stay, she said.")
    assert (first["lead1"], first["lead2"]) == (None, 3)
    assert first["ids"] == ["d1-1", "d1-2"]
    assert (first["direction"], first["rel_type"], first["label"]) == ("1<2", "explicit", "contrast")
    assert first["native"] == "validation"
    assert (second["unit2"], second["lead2"]) == ("But we … she said", 3), "an interrupted unit"
    assert third["unit1"] == "It rained. But we", "a unit of two sentences"
    assert len({row["key"] for row in (first, second, third)}) == 3


def parts(row, number):
    return [row["context"][span["start"] : span["end"]] for span in row[f"span{number}"]]


def test_the_sentences_of_units_and_where_the_units_are_in_them(tmp_path):
    first, second, third = relations(read(write_disrpt(tmp_path)))
    assert {row["context"] for row in (first, second, third)} == {"It rained. But we can't stay, she said."}
    assert [parts(first, 1), parts(first, 2)] == [["It rained."], ["But we can't stay, she said."]]
    assert parts(second, 2) == ["But we", "she said"]
    assert parts(third, 1) == ["It rained. But we"]


def test_a_unit_alone_has_its_own_sentence_and_left_out_sentences_are_an_ellipsis(tmp_path):
    inside = RELS.split("\n")[0] + "\nd1\t4-5\t10-11\tBut we\tshe said\t1<2\t_\tx\telaboration\n"
    (row,) = relations(read(write_disrpt(tmp_path, inside)))
    assert row["context"] == "But we can't stay, she said."
    between = "# sent_id = d1-1b\n# text = So\n1\tSo\tso\tADV\t_\t_\t0\troot\t_\tConn=O\n\n"
    longer = CONLLU.replace("# sent_id = d1-2", between + "# sent_id = d1-2")
    apart = RELS.split("\n")[0] + "\nd1\t1-2\t5-6\tIt rained\tBut we\t1<2\t_\tx\telaboration\n"
    (row,) = relations(read(write_disrpt(tmp_path, apart, longer)))
    assert row["context"] == "It rained. … But we can't stay, she said."
    assert [parts(row, 1), parts(row, 2)] == [["It rained"], ["But we"]]


def in_misc(tmp_path, misc, **options):
    """The relations of the document as a treebank has them; ``misc`` by the line of a word."""
    text = CONLLU.replace("Conn=B-conn", "Conn=O")
    for word, annotation in misc.items():
        line = next(line for line in text.split("\n") if line.split("\t")[1:2] == [word])
        text = text.replace(line, f"{line}|{annotation}", 1)
    (tmp_path / "en_toy-ud-test.conllu").write_text(text, encoding="utf-8")
    return relations(read(tmp_path, **options))


def test_relations_in_misc(tmp_path):
    """GUM has eRST in ``Discourse`` and the Penn Discourse Treebank in ``PDTB``; words are counted in the document."""
    pdtb, contrast, attribution = in_misc(tmp_path, {
        "It": "Discourse=ROOT:1:0",
        "But": "Discourse=adversative-contrast_m:2->1:1:dm-but-4;joint-list:2->1:0:0:_"
               "|PDTB=Explicit:Comparison.Contrast:but:4:1-3:5-12;NoRel:NoRel:_:_:1-3:4-12",
        "she": "Discourse=attribution-positive:3->2:0:sem-atsrc-10",
    })  # fmt: skip
    assert (pdtb["unit1"], pdtb["unit2"]) == ("It rained.", "But we can't stay, she said.")
    assert (pdtb["lead1"], pdtb["lead2"], pdtb["native"]) == (None, 3, "test")
    assert (pdtb["direction"], pdtb["rel_type"], pdtb["orig_label"]) == ("1<2", "explicit", "comparison.contrast")
    assert (contrast["unit2"], contrast["orig_label"]) == ("But we can't stay,", "adversative-contrast")
    assert (contrast["direction"], contrast["rel_type"]) == ("1<2", "explicit")
    assert (attribution["unit1"], attribution["unit2"]) == ("But we can't stay,", "she said.")
    assert (attribution["direction"], attribution["rel_type"]) == ("1<2", "implicit")


@pytest.mark.parametrize(("sense", "direction"), [
    ("Expansion.Level-of-detail.Arg1-as-detail", "1>2"), ("Expansion.Level-of-detail.Arg2-as-detail", "1<2"),
    ("Comparison.Contrast", "1<2"),
])  # fmt: skip
def test_the_argument_with_a_role_depends_on_the_other(tmp_path, sense, direction):
    (row,) = in_misc(tmp_path, {"It": "Discourse=ROOT:1:0", "But": f"PDTB=Implicit:{sense}:_:_:1-3:4-12"})
    assert row["direction"] == direction


@pytest.mark.parametrize(
    ("connective", "first", "second", "units"),
    [
        pytest.param("5", "1-3", "6-8", ("It rained.", "we can't stay"), id="before-the-second"),
        pytest.param("4", "1-3", "8-8", ("It rained. But", "stay"), id="after-the-first"),
        pytest.param("5", "1-3", "8-8", ("It rained.", "we … stay"), id="beside-none"),
        pytest.param("1", "1-3", "5-8", ("It rained.", "we can't stay"), id="inside-the-first"),
    ],
)
def test_a_connective_is_a_part_of_the_argument_beside_it(tmp_path, connective, first, second, units):
    relation = f"PDTB=Explicit:Comparison.Contrast:but:{connective}:{first}:{second}"
    (row,) = in_misc(tmp_path, {"It": "Discourse=ROOT:1:0", "But": relation})
    assert (row["unit1"], row["unit2"]) == units


def test_the_sentence_of_a_unit_is_the_one_that_it_begins_in(tmp_path):
    table = RELS.split("\n")[0] + "\nd1\t1-2,5-5\t6-8\tIt rained <*> we\tca n't stay\t1<2\t_\tx\telaboration\n"
    (row,) = relations(read(write_disrpt(tmp_path, table)))
    assert row["ids"] == ["d1-1", "d1-2"]


def test_a_unit_in_misc_that_another_interrupts(tmp_path):
    (row,) = in_misc(tmp_path, {
        "It": "Discourse=ROOT:1:0", "But": "Discourse=same-unit_m:2->1:0:_",
        "we": "Discourse=condition:3->2:0:_", "she": "Discourse=same-unit_m:4->2:1:_",
    })  # fmt: skip
    assert (row["unit1"], row["unit2"], row["direction"]) == ("It rained. But … she said.", "we can't stay,", "1<2")


def test_misc_of_another_kind_is_no_relation(tmp_path):
    assert in_misc(tmp_path, {"It": "Discourse=Filler|PDTB=yes", "she": "Discourse=cause:7->9:1"}) == []


@pytest.mark.parametrize(("arguments", "why"), [
    ("1-3:5-99", "5-99 points outside the document (12 words)"), ("3-1:5", "3-1 points outside"), ("1--3:5", "no words")
])  # fmt: skip
def test_a_relation_in_misc_of_words_that_are_not_there(tmp_path, arguments, why):
    annotated = {"It": "Discourse=ROOT:1:0", "But": f"PDTB=Explicit:Comparison.Contrast:but:4:{arguments}"}
    with pytest.raises(CorpusFormatError, match=re.escape(why)) as caught:
        in_misc(tmp_path, annotated)
    place = re.search(r"(/\S+\.conllu):(\d+) \(sent_id d1-2\): PDTB=Explicit:Comparison", str(caught.value))
    assert place
    assert "PDTB=" in Path(place[1]).read_text(encoding="utf-8").split("\n")[int(place[2]) - 1]
    assert in_misc(tmp_path, annotated, on_error="skip") == []


@needs_disrpt
@pytest.mark.parametrize("table", [path for path in DISRPT if ".gum_" in path.name], ids=lambda path: path.stem)
def test_relations_in_misc_are_those_of_the_published_table(table):
    """GUM's own files against DISRPT's tables of the same documents: all but a few edges."""
    columns = ("unit1", "unit2", "direction", "rel_type")
    treebank = read(SHARED / "corpora" / "ud" / "en" / "GUM-open")

    def of(corpus):
        return {
            doc: Counter((*(row[name] for name in columns), row["orig_label"].lower()) for row in part.rows(named=True))
            for shard in corpus.shards()
            for (doc,), part in shard.relations.join(shard.documents.select("doc", "doc_id"), on="doc").group_by(
                "doc_id"
            )
        }

    of_treebank, of_table = of(treebank), of(read(table))
    shared = of_treebank.keys() & of_table.keys()
    assert len(shared) > 5
    equal = sum((of_treebank[doc] & of_table[doc]).total() for doc in shared)
    assert equal >= 0.99 * sum(of_table[doc].total() for doc in shared)


def test_all_versions_of_the_columns(tmp_path):
    """2021 and 2023 have neither ``u1_raw`` nor ``rel_type``; tables written with quotation marks are read too."""
    old = rels_of(RELS, without=("rel_type",)).replace("\tIt rained .\t", '\t"It rained ."\t')
    assert [row["rel_type"] for row in relations(read(write_disrpt(tmp_path, old)))] == [None] * 3


def test_traditional_connective_tags(tmp_path):
    """DISRPT 2023 writes ``Seg=B-Conn``."""
    folder = write_disrpt(tmp_path, conllu=CONLLU.replace("Conn=B-conn", "Seg=B-Conn"))
    assert relations(read(folder))[0]["lead2"] == 3


FAULTS = {
    "no column unit2_toks": lambda text: text.replace("unit2_toks", "unit_two"),
    "the first line has 9": lambda text: text.replace("\tcontrast\n", "\tcontrast\tmore\n", 1),
    "label is empty": lambda text: text.replace("\tcontrast\n", "\t\n", 1),
    "names no words": lambda text: text.replace("\t1-3\t", "\t1to3\t", 1),
    "overlap or are out of order": lambda text: text.replace("\t4-5,10-11\t", "\t4-5,5-11\t"),
    "points outside document d1 (12 words)": lambda text: text.replace("\t4-12\t", "\t4-13\t", 1),
    "must be of the same release": lambda text: text.replace("\tIt rained .\t", "\tIt snowed .\t", 1),
    "document d9 is not in the .conllu": lambda text: text.replace("d1\t1-5", "d9\t1-5"),
}


@pytest.mark.parametrize("message", FAULTS)
def test_malformed_tables(tmp_path, message):
    text = FAULTS[message](RELS)
    assert text != RELS
    line = next(n for n, (a, b) in enumerate(zip(RELS.split("\n"), text.split("\n"), strict=True), 1) if a != b)
    folder = write_disrpt(tmp_path, text)
    with pytest.raises(CorpusFormatError, match=rf"_dev\.rels:{line}: ") as error:
        read(folder)
    assert message in str(error.value)
    skipped = read(folder, on_error="skip")
    lost = 3 if line == 1 else 1
    assert len(relations(skipped)) == 3 - lost
    assert skipped.drops == {"malformed-relation": 1}
    assert skipped.drop_places[0].startswith(f"eng.pdtb.toy/eng.pdtb.toy_dev.rels:{line}: ")


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("It _______ .", "It _______ ."),
        ("It rained .", "<*> It rained ."),
        ("It rained .", "It _______ ."),
        ("It rained .", "Itrained."),
        ("It rained .", "It<*>rained."),
    ],
)
def test_texts_that_are_the_same_but_for_masks_and_blanks(tmp_path, written, text):
    """Masked words (a licence), a mark of interruption at the edge (SciDTB), no blanks between words (Thai)."""
    rels = RELS.replace("\tIt rained .\t", f"\t{text}\t")
    conllu = CONLLU.replace("rained", "_______") if "_" in written else CONLLU
    assert len(relations(read(write_disrpt(tmp_path, rels, conllu)))) == 3


def test_words_are_counted_over_malformed_sentences(tmp_path):
    """The sentence is lost with the relations in it; the numbers of later words do not change."""
    third = "".join(
        f"{n}\t{form}\t{form}\tX\t_\t_\t{n - 1}\tdep\t_\t_\n" for n, form in enumerate(["We", "left", "."], 1)
    )
    conllu = (
        CONLLU.replace("4\tn't\tnot\tPART\t_\t_\t5", "4\tn't\tnot\tPART\t_\t_\t99")
        + "# sent_id = d1-3\n"
        + third
        + "\n"
    )
    last = "d1\t1-3\t13-15\tIt rained .\tWe left .\t1<2\timplicit\tx\tcausal"
    folder = write_disrpt(tmp_path, RELS + last + "\n", conllu)
    with pytest.raises(CorpusFormatError, match=r"_dev\.conllu:14 .*HEAD 99"):
        read(folder)
    corpus = read(folder, on_error="skip")
    assert [row["unit2"] for row in relations(corpus)] == ["We left ."]
    assert corpus.drops == {"HEAD range": 1, "malformed-relation": 3}
    assert "in a malformed sentence, which was left out" in corpus.drop_places[1]


def test_a_sentence_of_several_trees_keeps_its_words_and_relations(tmp_path):
    """Where the unit of annotation is longer than a sentence (Thai Discourse Treebank)."""
    conllu = CONLLU.replace("8\tsaid\tsay\tVERB\t_\t_\t5\tparataxis", "8\tsaid\tsay\tVERB\t_\t_\t0\troot")
    folder = write_disrpt(tmp_path, conllu=conllu)
    corpus = read(folder)
    assert len(relations(corpus)) == 3
    tokens = next(corpus.shards()).tokens
    without_head = tokens.filter(tokens["head"].is_null())
    assert (set(without_head["sent"]), without_head["deprel"].null_count()) == ({1}, 9)
    (folder / "eng.pdtb.toy_dev.rels").unlink()
    with pytest.raises(CorpusFormatError, match="a sentence has one root"):
        read(folder)


def test_a_table_without_its_text(tmp_path):
    folder = write_disrpt(tmp_path)
    (folder / "eng.pdtb.toy_dev.conllu").unlink()
    with pytest.raises(DiscoprobeError, match=r"eng\.pdtb\.toy_dev\.conllu is missing beside it"):
        read(folder)


def test_a_table_stands_for_its_text(tmp_path):
    folder = write_disrpt(tmp_path)
    assert len(relations(read(folder / "eng.pdtb.toy_dev.rels"))) == 3


def test_a_changed_table_is_read_again(tmp_path):
    folder = write_disrpt(tmp_path)
    assert len(relations(read(folder))) == 3
    write_disrpt(tmp_path, RELS[: RELS.rstrip("\n").rfind("\n") + 1])
    assert len(relations(read(folder))) == 2


@needs_disrpt
@pytest.mark.parametrize("table", DISRPT, ids=lambda path: path.stem)
def test_every_relation_of_a_published_corpus_is_read(table):
    lines = len(table.read_text(encoding="utf-8").rstrip("\n").split("\n")) - 1
    corpus = read(table, on_error="skip")
    assert len(relations(corpus)) + sum(corpus.drops.values()) == lines
    assert sum(corpus.drops.values()) <= 1, corpus.drop_places
