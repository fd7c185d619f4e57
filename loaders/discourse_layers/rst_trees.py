"""Trees of Rhetorical Structure Theory in the formats of RSTTool (``.rs3``) and rstWeb (``.rs3``, ``.rs4``).

A file is a document. Segments are the elementary discourse units of the text, groups the nodes above them. A node is
the only nucleus of its parent (``relname="span"``), one of several nuclei (a relation declared ``multinuc``), or a
satellite (a relation declared ``rst``). The parent of a satellite may be a segment. Secondary edges and signals of
``.rs4`` are not read.

Most corpora write the words of a segment with blanks between them (``do n't``). If there is a text of the document with
the same characters, the segments are cut from it.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from types import MappingProxyType
from typing import Final

import polars as pl
from lxml import etree

from discoprobe.loaders.corpus import DOCUMENTS, RST_NODES, SENTENCES, TOKENS, Shard
from discoprobe.loaders.errors import CorpusFormatError
from discoprobe.loaders.hashing import document_keys

SPAN: Final = "span"
NO_TEXTS: Final[Mapping[str, Sequence[str]]] = MappingProxyType({})


def read_trees(
    files: Sequence[tuple[str, bytes]], corpus: str, texts: Mapping[str, Sequence[str]] = NO_TEXTS
) -> tuple[Shard, list[tuple[int, CorpusFormatError]]]:
    """The trees of some files as a shard without sentences, and for each malformed file its number and what is wrong.

    Args:
        files: name without suffix, which is the id of the document, and content.
        corpus: name of the corpus.
        texts: id of a document → candidates for its text.
    """
    trees: dict[str, pl.DataFrame] = {}
    segments: dict[str, list[str]] = {}
    problems = []
    for number, (stem, data) in enumerate(files):
        try:
            as_written = _read_nodes(data)
            nodes = _cut_from_text(as_written, texts.get(stem, ()))
            segments[stem] = as_written["text"].drop_nulls().to_list()
            trees[stem] = nodes.with_columns(doc=pl.lit(len(trees), pl.UInt32))
        except CorpusFormatError as error:
            problems.append((number, error))
    nothing = pl.DataFrame(schema=RST_NODES)
    documents = pl.DataFrame(
        {
            "doc": range(len(trees)), "corpus": [corpus] * len(trees), "doc_id": list(trees),
            "genre": [None] * len(trees), "n_sentences": [0] * len(trees),
            "key": document_keys(trees, segments.values()),
        },
        schema=DOCUMENTS,
    )  # fmt: skip
    nodes = pl.concat([nothing, *(tree.select(*RST_NODES) for tree in trees.values())])
    return Shard(documents, pl.DataFrame(schema=SENTENCES), pl.DataFrame(schema=TOKENS), rst_nodes=nodes), problems


def _malformed(line: int, problem: str) -> CorpusFormatError:
    return CorpusFormatError(problem, line=line, reason="malformed-tree")


def _read_nodes(data: bytes) -> pl.DataFrame:
    """The nodes of a file, without their document."""
    try:
        root = etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False))
    except etree.XMLSyntaxError as error:
        raise _malformed(error.lineno or 1, f"not well-formed XML: {error.msg}; export the tree again") from None
    body = root.find("body")
    elements = [] if body is None else [element for element in body if element.tag in {"segment", "group"}]
    if not elements:
        raise _malformed(root.sourceline or 1, "no segments in a <body>; is this a tree of RSTTool or rstWeb?")
    declared = defaultdict(set)
    for relation in root.iter("rel"):
        declared[relation.get("name")].add(relation.get("type"))
    by_id = _index_nodes(elements)
    rows = [_node(element, by_id, declared) for element in elements]
    _check_tree(rows, by_id)
    columns = {name: kind for name, kind in RST_NODES.items() if name not in {"doc", "space_after"}}
    return pl.DataFrame(rows, columns, orient="row").with_columns(space_after=pl.lit(None, pl.Boolean))


def _cut_from_text(nodes: pl.DataFrame, texts: Sequence[str]) -> pl.DataFrame:
    """The nodes with segments cut from the text that has their characters; of several texts, from the shortest."""
    segments = nodes["text"].drop_nulls()
    sizes = [len("".join(segment.split())) for segment in segments]
    characters = "".join("".join(segments).split())
    passages = []
    for text in texts:  # white space is ignored
        places = [place for place, character in enumerate(text) if not character.isspace()]
        first = "".join(text[place] for place in places).find(characters)
        if characters and first >= 0:
            passages.append(text[places[first] : places[first + len(characters) - 1] + 1])
    if not passages:
        return nodes
    text = min(passages, key=len)
    places = [place for place, character in enumerate(text) if not character.isspace()]
    edges = [places[edge] for edge in accumulate(sizes[:-1], initial=0)]
    parts = [text[first:after] for first, after in pairwise([*edges, len(text) + 1])]
    cut = pl.DataFrame(
        {
            "place": nodes.with_row_index("place").filter(pl.col("text").is_not_null())["place"],
            "text": [" ".join(part.split()) for part in parts],
            "space_after": [part != part.rstrip() for part in parts[:-1]] + [True],
        }
    )
    bare = nodes.with_row_index("place").drop("text", "space_after")
    return bare.join(cut, on="place", how="left", maintain_order="left").select(nodes.columns)


def _index_nodes(elements: Sequence[etree._Element]) -> dict[str, etree._Element]:
    """Segments and groups by their id."""
    by_id: dict[str, etree._Element] = {}
    for element in elements:
        name = element.get("id")
        if not name:
            raise _malformed(element.sourceline, f"a {element.tag} without id; give it one")
        if name in by_id:
            raise _malformed(element.sourceline, f"id {name} is in line {by_id[name].sourceline} too; rename one")
        if element.tag == "group" and element.get("type") not in {"span", "multinuc"}:
            kind = element.get("type")
            raise _malformed(element.sourceline, f"group {name} has type '{kind}'; it must be span or multinuc")
        by_id[name] = element
    return by_id


Node = tuple[str, str | None, str | None, str, bool, str | None]


def _node(element: etree._Element, by_id: Mapping[str, etree._Element], declared: Mapping[str, set[str]]) -> Node:
    """A node as a row: id, parent, relation, kind, whether the relation joins nuclei, text."""
    line, name, parent, relname = element.sourceline, element.get("id"), element.get("parent"), element.get("relname")
    kind = "segment" if element.tag == "segment" else element.get("type")
    text = " ".join("".join(element.itertext()).split()) if kind == "segment" else None
    if text == "":
        raise _malformed(line, f"segment {name} has no text; remove it or fill it")
    if not parent:
        return name, None, None, kind, False, text
    if parent not in by_id:
        raise _malformed(line, f"{element.tag} {name} has parent {parent}, which is not in the file; correct it")
    if relname != SPAN and relname not in declared:
        raise _malformed(line, f"relation '{relname}' of {name} is not declared; add it to <relations>")
    above = by_id[parent].get("type")
    multinuclear = relname != SPAN and "multinuc" in declared[relname] and above == "multinuc"
    if relname == SPAN and above != SPAN:
        raise _malformed(line, f"{name} is the span of {parent}, which is no span group; make it one")
    if relname != SPAN and not multinuclear and "rst" not in declared[relname]:
        raise _malformed(line, f"'{relname}' joins nuclei, but {parent} is no multinuc group; make it one")
    return name, parent, relname, kind, multinuclear, text


def _check_tree(rows: Sequence[Node], by_id: Mapping[str, etree._Element]) -> None:
    """Check that a span has one nucleus, a multinuclear group at least one, and that all ancestors lead to a root."""
    nuclei = Counter(parent for _, parent, relname, _, multinuclear, _ in rows if relname == SPAN or multinuclear)
    for name, _, _, kind, _, _ in rows:
        if kind == "span" and nuclei[name] != 1:
            raise _malformed(by_id[name].sourceline, f"span {name} has {nuclei[name]} nuclei; it must have one")
        if kind == "multinuc" and not nuclei[name]:
            raise _malformed(by_id[name].sourceline, f"multinuc {name} has no nuclei; remove it or attach some")
    parents = {name: parent for name, parent, *_ in rows}
    safe: set[str] = set()
    for name in parents:
        path: dict[str, None] = {}
        above: str | None = name
        while above is not None and above not in safe:
            if above in path:
                raise _malformed(by_id[above].sourceline, f"node {above} is its own ancestor; correct a parent")
            path[above] = None
            above = parents[above]
        safe |= path.keys()
