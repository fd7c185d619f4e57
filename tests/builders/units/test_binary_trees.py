"""Trees made binary: which spans are joined, in which order, by which relation."""

import polars as pl
import pytest
from discourse_corpora import RS3
from hypothesis import given
from hypothesis import strategies as st
from shared import SHARED

from discoprobe.builders import Context, Settings, all_tasks
from discoprobe.builders.passages import SEVERAL, binary_relations
from discoprobe.loaders import RST_NODES
from discoprobe.loaders.discourse_layers import read_trees
from discoprobe.loaders.languages import language_data

TREES = sorted((SHARED / "corpora").glob("**/*.rs[34]"))
ENGLISH = language_data("en")
needs_trees = pytest.mark.skipif(not TREES, reason="no ../shared with trees beside the repository")


def nodes_of(data):
    shard, problems = read_trees([("t", data.encode() if isinstance(data, str) else data)], "toy")
    assert not problems
    return shard.rst_nodes


def test_a_tree_with_satellites_on_both_sides_and_three_nuclei():
    found = binary_relations(nodes_of(RS3), ENGLISH)
    assert found.select("unit1", "unit2", "nuclearity", "orig_label").rows() == [
        ("If it rains", "we stay", "SN", "condition"),
        ("or sleep", "or talk.", "NN", "list"),
        ("and read", "or sleep or talk.", "NN", "list"),
        ("If it rains we stay", "and read or sleep or talk.", "NS", "elaboration"),
    ]
    assert found["adjacent"].all()
    assert found["ids"].to_list()[-1] == ["10", "11"]


def test_satellites_join_their_nucleus_one_by_one():
    """``b`` and ``d`` are about ``a``: neither is about the other."""
    file = """<rst><header><relations><rel name="x" type="rst"/><rel name="y" type="rst"/></relations></header><body>
    <segment id="0" parent="2" relname="x">o</segment><segment id="1" parent="2" relname="y">n</segment>
    <segment id="2">a</segment>
    <segment id="3" parent="2" relname="x">b</segment><segment id="4" parent="2" relname="y">d</segment></body></rst>"""
    assert binary_relations(nodes_of(file), ENGLISH).select("unit1", "unit2", "nuclearity", "orig_label").rows() == [
        ("a", "b", "NS", "x"),
        ("a b", "d", "NS", "y"),
        ("n", "a b d", "SN", "y"),
        ("o", "n a b d", "SN", "x"),
    ]


def test_spans_have_no_blank_where_the_text_has_none():
    text = "If it rains we stay—and read or sleep, or talk."
    file = RS3.replace("or sleep", "or sleep ,").replace("we stay", "we stay —")
    shard, _ = read_trees([("t", file.encode())], "toy", {"t": [text]})
    found = binary_relations(shard.rst_nodes, ENGLISH)
    assert found.select("unit1", "unit2").rows()[-2:] == [
        ("and read", "or sleep, or talk."),
        ("If it rains we stay—", "and read or sleep, or talk."),
    ]
    assert not found["spacing"].count()
    assert set(binary_relations(nodes_of(file), ENGLISH)["spacing"]) == {"rule"}


def test_nuclei_with_different_relations_have_no_name():
    file = RS3.replace(
        '<segment id="5" parent="11" relname="list">', '<segment id="5" parent="11" relname="restatement">'
    )
    assert binary_relations(nodes_of(file), ENGLISH)["orig_label"].to_list()[1:3] == [SEVERAL, SEVERAL]


def test_spans_that_are_torn_apart_are_marked():
    file = RS3.replace('id="1" parent="2"', 'id="1" parent="5"')
    assert binary_relations(nodes_of(file), ENGLISH).select("unit1", "unit2", "adjacent").rows() == [
        ("If it rains", "or talk.", False),
        ("and read", "or sleep", True),
        ("If it rains we stay and read or sleep or talk.", "and read or sleep", False),
        ("If it rains we stay and read or sleep or talk.", "we stay", False),
    ]


def test_relations_of_spans_that_are_torn_apart_are_dropped():
    shard, _ = read_trees([("t", RS3.replace('id="1" parent="2"', 'id="1" parent="5"').encode())], "toy")
    select = all_tasks()["dr_tree"].select
    reasons = select(shard, Context("dr_tree", language_data("en"), Settings()))["reason"]
    assert (reasons == "not-adjacent").sum() == 3


@st.composite
def nested(draw, depth=0):
    """A tree as nested tuples: a text, ("multi", parts) or ("sat", nucleus, before, after)."""
    kind = draw(st.sampled_from(["leaf", "multi", "sat"])) if depth < 4 else "leaf"
    if kind == "leaf":
        return "x"
    if kind == "multi":
        return ("multi", [draw(nested(depth + 1)) for _ in range(draw(st.integers(2, 4)))])
    sides = [[draw(nested(depth + 1)) for _ in range(draw(st.integers(0, 2)))] for _ in range(2)]
    return ("sat", draw(nested(depth + 1)), *sides)


def nodes_of_nested(tree):
    """The nodes of a nested tree, segments in the order of the text."""
    rows, texts = [], iter(range(10**6))

    def add(part, parent, relname, multinuclear):
        name = f"n{len(rows)}"
        rows.append(None)
        place = len(rows) - 1
        if part == "x":
            rows[place] = (name, parent, relname, "segment", multinuclear, f"w{next(texts)}")
        elif part[0] == "multi":
            rows[place] = (name, parent, relname, "multinuc", multinuclear, None)
            for nucleus in part[1]:
                add(nucleus, name, "list", True)  # noqa: FBT003
        else:
            rows[place] = (name, parent, relname, "span", multinuclear, None)
            core = f"n{len(rows) + sum(map(size, part[2]))}"
            for before in part[2]:
                add(before, core, "cause", False)  # noqa: FBT003
            add(part[1], name, "span", False)  # noqa: FBT003
            for after in part[3]:
                add(after, core, "cause", False)  # noqa: FBT003

    add(tree, None, None, False)  # noqa: FBT003
    columns = [name for name in RST_NODES if name not in {"doc", "space_after"}]
    frame = pl.DataFrame(rows, {name: RST_NODES[name] for name in columns}, orient="row")
    return frame.with_columns(doc=pl.lit(0, pl.UInt32), space_after=pl.lit(None, pl.Boolean))


def size(tree):
    """How many nodes a nested tree has."""
    if tree == "x":
        return 1
    parts = tree[1] if tree[0] == "multi" else [tree[1], *tree[2], *tree[3]]
    return 1 + sum(map(size, parts))


@given(nested())
def test_a_tree_of_n_segments_has_n_minus_one_relations_that_rebuild_it(tree):
    nodes = nodes_of_nested(tree)
    words = [text for text in nodes["text"] if text]
    found = binary_relations(nodes, ENGLISH)
    assert found.height == len(words) - 1
    assert found["adjacent"].all()
    spans = set(words)
    for first, second in found.select("unit1", "unit2").iter_rows():
        assert {first, second} <= spans, "both parts were made before their whole"
        spans.add(f"{first} {second}")
    assert " ".join(words) in spans


@needs_trees
def test_published_trees_have_as_many_relations_as_segments_but_their_roots():
    for path in TREES:
        nodes = nodes_of(path.read_bytes())
        found = binary_relations(nodes, ENGLISH)
        assert found.height == (nodes["kind"] == "segment").sum() - nodes["parent"].null_count(), path
        assert found["adjacent"].all(), path
