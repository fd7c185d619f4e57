"""Trees of Rhetorical Structure Theory: read as annotated, written again with the same nodes, refused if malformed."""

import re
from collections import Counter
from xml.sax.saxutils import escape, quoteattr

import polars as pl
import pytest
from discourse_corpora import RS3
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import SHARED

from discoprobe.loaders import CorpusFormatError
from discoprobe.loaders.conllu import read_corpora
from discoprobe.loaders.discourse_layers import read_trees

TREES = sorted((SHARED / "corpora").glob("**/*.rs[34]"))
needs_trees = pytest.mark.skipif(not TREES, reason="no ../shared with trees beside the repository")


def nodes_of(data, stem="t"):
    shard, problems = read_trees([(stem, data.encode() if isinstance(data, str) else data)], "toy")
    assert not problems, problems
    return shard.rst_nodes


def written(nodes):
    """The nodes of one document as a file of RSTTool."""
    relations = sorted(
        set(nodes.drop_nulls("parent").select("relname", "multinuclear").iter_rows()) - {("span", False)}
    )
    lines = [f'<rel name={quoteattr(name)} type="{"multinuc" if multi else "rst"}"/>' for name, multi in relations]
    body = []
    for node in nodes.iter_rows(named=True):
        above = f" parent={quoteattr(node['parent'])} relname={quoteattr(node['relname'])}" if node["parent"] else ""
        if node["kind"] == "segment":
            body.append(f"<segment id={quoteattr(node['node'])}{above}>{escape(node['text'])}</segment>")
        else:
            body.append(f'<group id={quoteattr(node["node"])} type="{node["kind"]}"{above}/>')
    return f"<rst><header><relations>{''.join(lines)}</relations></header><body>{''.join(body)}</body></rst>"


def test_a_tree_is_read_as_annotated():
    nodes = nodes_of(RS3)
    assert nodes["node"].to_list() == ["1", "2", "3", "4", "5", "10", "11", "12"]
    assert nodes["text"].to_list()[2] == "and read", "white space is the file's, not the text's"
    rows = {row["node"]: row for row in nodes.iter_rows(named=True)}
    assert rows["3"]["multinuclear"]
    assert not rows["1"]["multinuclear"]
    assert (rows["12"]["parent"], rows["12"]["relname"]) == (None, None)
    assert nodes_of(written(nodes)).equals(nodes)


def test_a_folder_of_trees(tmp_path):
    home = tmp_path / "de" / "Toy" / "rst"
    home.mkdir(parents=True)
    (home / "a.rs3").write_text(RS3, encoding="utf-8")
    (home / "b.rs4").write_text(RS3, encoding="utf-8")
    (tmp_path / "de" / "Toy" / "README.md").write_text("notes", encoding="utf-8")
    (corpus,) = read_corpora([tmp_path]).values()
    assert (corpus.lang, corpus.sources[0].name) == ("de", "Toy")
    assert [file.path for file in corpus.sources[0].files] == ["rst/a.rs3", "rst/b.rs4"]
    assert "rst_trees" in corpus.layers
    assert "documents" not in corpus.layers, "there are no sentences for tasks over documents"
    (shard,) = corpus.shards()
    assert shard.documents["doc_id"].to_list() == ["a", "b"]
    assert Counter(shard.rst_nodes["doc"]) == {0: 8, 1: 8}


SPACED = RS3.replace("we stay", "we do n't stay ,")
WRITTEN = ["If it rains", "we don't stay,", "and read", "or sleep", "or talk."]


def segments(corpus):
    return [text for shard in corpus.shards() for text in shard.rst_nodes["text"].drop_nulls()]


def test_segments_are_written_as_in_the_text_of_their_name(tmp_path):
    """GUM has ``rst/GUM_x.rs4`` and ``dep/GUM_x.conllu``; the Potsdam corpus has a folder of plain texts."""
    (tmp_path / "en" / "trees").mkdir(parents=True)
    (tmp_path / "en" / "trees" / "a.rs3").write_text(SPACED, encoding="utf-8")
    corpus = read_corpora([tmp_path])["en"]
    assert segments(corpus)[1] == "we do n't stay ,"
    (nodes,) = (shard.rst_nodes for shard in corpus.shards())
    assert nodes["space_after"].is_null().all()

    (tmp_path / "en" / "dep").mkdir()
    sentence = "# text = If it rains we don't stay,and read or sleep or talk.\n1\tx\tx\tX\t_\t_\t0\troot\t_\t_\n\n"
    (tmp_path / "en" / "dep" / "a.conllu").write_text(sentence, encoding="utf-8")
    corpus = read_corpora([tmp_path])["en"]
    assert segments(corpus) == WRITTEN
    (nodes,) = (shard.rst_nodes for shard in corpus.shards() if shard.rst_nodes.height)
    assert nodes.drop_nulls("text")["space_after"].to_list() == [True, False, True, True, True]
    assert nodes.filter(pl.col("kind") != "segment")["space_after"].is_null().all()


def test_segments_are_written_as_in_a_document_of_their_name_in_another_corpus(tmp_path):
    """DISRPT has all documents of GUM in a file per split."""
    (tmp_path / "en" / "trees").mkdir(parents=True)
    (tmp_path / "en" / "trees" / "a.rs3").write_text(SPACED, encoding="utf-8")
    row = "1\tx\tx\tX\t_\t_\t0\troot\t_\t_"
    texts = {"b": "If it rains we don't stay, and read.", "a": "If it rains we don't stay,and read or sleep or talk."}
    sentences = [
        f"# newdoc id = {name}\n# sent_id = {name}-1\n# text = {text}\n{row}\n\n" for name, text in texts.items()
    ]
    (tmp_path / "eng.rst.toy_dev.conllu").write_text("".join(sentences), encoding="utf-8")
    assert segments(read_corpora([tmp_path])["en"]) == WRITTEN


def test_a_plain_text_may_have_more_than_the_tree(tmp_path):
    for folder in ("rst", "texts", "tokens"):
        (tmp_path / "de" / "Toy" / folder).mkdir(parents=True)
    (tmp_path / "de" / "Toy" / "rst" / "a.rs3").write_text(SPACED, encoding="utf-8")
    (tmp_path / "de" / "Toy" / "tokens" / "a.txt").write_text(
        "If it rains we do n't stay , and read or sleep or talk .", encoding="utf-8"
    )
    spaced = read_corpora([tmp_path])["de"]
    assert segments(spaced)[1] == "we do n't stay ,", "this text has the blanks, too"
    plain = tmp_path / "de" / "Toy" / "texts" / "a.txt"
    plain.write_text("A. Author\nIf it rains\nwe don't stay, and read or sleep or talk. 12", encoding="utf-8")
    assert segments(read_corpora([tmp_path])["de"]) == WRITTEN
    identities = [{shard.identity for shard in corpus.shards()} for corpus in (spaced, read_corpora([tmp_path])["de"])]
    assert not identities[0] & identities[1]
    plain.write_text("Another text.", encoding="utf-8")
    assert segments(read_corpora([tmp_path])["de"])[1] == "we do n't stay ,"


@needs_trees
def test_the_trees_of_gum_and_pcc_have_their_text():
    """All of GUM, and those of GCDT whose CoNLL-U file is there; in nine of PCC a character differs from the text."""
    paths = [SHARED / "corpora" / name for name in ("rst", "ud/en/GUM-open", "ud/zh/GCDT", "nc/rst")]
    written = {}
    for code, corpus in read_corpora(paths).items():
        nodes = pl.concat([shard.rst_nodes for shard in corpus.shards()])
        trees = nodes.group_by("doc").agg(pl.col("space_after").is_not_null().any())
        written[code] = (trees["space_after"].sum(), trees.height)
    assert written == {"de": (79, 88), "en": (54, 54), "zh": (14, 40)}


FAULTS = {
    "not well-formed XML": ("</body>", "", 22),
    "no segments in a <body>": ("body>", "text>", 1),
    "a segment without id": ('<segment id="4"', "<segment", 16),
    "id 4 is in line 16 too": ('id="5"', 'id="4"', 17),
    "has parent 99, which is not in the file": ('parent="2"', 'parent="99"', 12),
    "relation 'cause' of 1 is not declared": ('relname="condition"', 'relname="cause"', 12),
    "group 11 has type 'multi'": ('type="multinuc" parent', 'type="multi" parent', 19),
    "segment 4 has no text": (">or sleep<", "> <", 16),
    "is the span of 11, which is no span group": (
        'id="3" parent="11" relname="list"',
        'id="3" parent="11" relname="span"',
        14,
    ),
    "joins nuclei, but 10 is no multinuc group": (
        'parent="10" relname="elaboration"',
        'parent="10" relname="list"',
        19,
    ),
    "span 10 has 0 nuclei": ('parent="10" relname="span"', 'parent="10" relname="condition"', 18),
    "multinuc 11 has no nuclei": ('relname="list"', 'relname="elaboration"', 19),
    "is its own ancestor": (
        '<group id="12" type="span" />',
        '<group id="12" type="span" parent="10" relname="condition" />',
        18,
    ),
    "node 4 is its own ancestor": (
        'id="4" parent="11" relname="list"',
        'id="4" parent="4" relname="condition"',
        16,
    ),
}


@pytest.mark.parametrize("message", FAULTS)
def test_malformed_trees(tmp_path, message):
    old, new, line = FAULTS[message]
    assert old in RS3
    (tmp_path / "en").mkdir()
    (tmp_path / "en" / "good.rs3").write_text(RS3, encoding="utf-8")
    (tmp_path / "en" / "bad.rs3").write_text(RS3.replace(old, new), encoding="utf-8")
    with pytest.raises(CorpusFormatError, match=rf"bad\.rs3:{line}: ") as error:
        read_corpora([tmp_path])
    assert message in str(error.value)
    corpus = read_corpora([tmp_path], on_error="skip")["en"]
    assert corpus.drops == {"malformed-tree": 1}
    assert sum(shard.rst_nodes.height for shard in corpus.shards()) == 8


def test_entities_of_a_file_are_not_expanded():
    bomb = '<!DOCTYPE rst [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>' + RS3.replace("we stay", "&b;")
    shard, problems = read_trees([("bomb", bomb.encode())], "toy")
    assert not problems
    assert "aaaa" not in "".join(shard.rst_nodes["text"].drop_nulls())


@st.composite
def random_trees(draw):
    """The nodes of a tree as a file has them, built from the root down: (id, parent, relname, kind, text)."""
    rows, count = [], iter(range(1, 10**6))

    def node(parent, relname, depth):
        kind = draw(st.sampled_from(["segment", "span", "multinuc"])) if depth < 3 else "segment"
        name, text = str(next(count)), None
        if kind == "segment":
            text = draw(st.text('abc é<&"漢', min_size=1, max_size=8).map(str.split).filter(bool).map(" ".join))
        rows.append((name, parent, relname, kind, relname == "list", text))
        if kind == "multinuc":
            for _ in range(draw(st.integers(2, 4))):
                node(name, "list", depth + 1)
        if kind == "span":
            node(name, "span", depth + 1)
        if parent is not None or kind != "segment":
            for _ in range(draw(st.integers(0, 1))):
                node(name, "cause", depth + 1)

    node(None, None, 0)
    names = ("node", "parent", "relname", "kind", "multinuclear", "text")
    return pl.DataFrame([dict(zip(names, row, strict=True)) for row in rows], infer_schema_length=None)


@settings(max_examples=30)
@given(random_trees())
def test_a_written_tree_is_read_again(tree):
    found = nodes_of(written(tree))
    assert (
        found.select("node", "parent", "relname", "multinuclear").rows()
        == tree.select("node", "parent", "relname", "multinuclear").rows()
    )
    assert found["text"].to_list() == tree["text"].to_list()


@needs_trees
def test_published_trees_have_all_their_nodes_and_can_be_written():
    """GUM (.rs4), GCDT (.rs3) and the Potsdam Commentary Corpus (.rs3)."""
    assert {path.suffix for path in TREES} == {".rs3", ".rs4"}
    for path in TREES:
        data = path.read_bytes()
        nodes = nodes_of(data, path.stem)
        counted = Counter(re.findall(rb"<(segment|group)\b", data))
        kinds = Counter(nodes["kind"])
        assert kinds["segment"] == counted[b"segment"], path
        assert kinds["span"] + kinds["multinuc"] == counted[b"group"], path
        assert nodes_of(written(nodes), path.stem).equals(nodes), path
