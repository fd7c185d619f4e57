"""Relations of DISRPT and of RST trees as candidates, labelled with a class or a connective.

The names of relations: 17 classes, and the class of each relation of RST and PDTB corpora.

The classes are those of DISRPT 2025, whose tables say for each relation which it is. Trees and older tables have the
names of their corpus; of these the table below has the common English ones.

Rows of relation tasks: candidates from the relations of a shard, and the sample of a corpus.

A relation task is a function from a shard to labelled pairs of units (``relation_task``). All else is the same for the
whole family: which units are too long or not clean, what happens to units that occur twice, the splits and the classes.

The relations of RST trees between two adjacent spans of text: every node of a tree, made binary.

Several nuclei branch to the right, as in DiscoEval (Chen et al. 2019): ``(a (b c))``. Satellites join their nucleus one
by one, those after it first, the nearest first: each is about the nucleus and not about another satellite. A tree of n
segments has n - 1 relations; what hangs from no node, such as a headline, has none.
"""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import polars as pl

from discoprobe.builders.sampling.balance import (
    Supported,
    by_frequency,
    cap,
    frequent_in_splits,
    most_frequent,
)
from discoprobe.builders.sampling.splits import Split, split_of
from discoprobe.builders.sentences.connectives import capitalised, lower
from discoprobe.builders.settings import SPLITS
from discoprobe.builders.task import Context, RelationTask, Sample
from discoprobe.loaders import clean_text, hashing
from discoprobe.loaders.corpus import SPANS
from discoprobe.loaders.discourse_layers.disrpt_relations import ELLIPSIS
from discoprobe.loaders.hashing import record_keys
from discoprobe.loaders.languages.spacing import close_up, is_spaced_out
from discoprobe.loaders.near_duplicates import near_clusters
from discoprobe.loaders.words import n_words

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from polars._typing import PolarsDataType

    from discoprobe.loaders.corpus import Shard
    from discoprobe.loaders.languages.language import LanguageData


MEMBERS: Final = {
    "alternation": (
        "alternative", "disjunction", "expansion.alternative", "expansion.disjunction", "joint-disjunction",
    ),
    "attribution": ("attribution-negative", "attribution-positive"),
    "causal": (
        "cause", "cause-effect", "causal-cause", "causal-result", "consequence", "contingency.cause", "effect",
        "nonvolitional-cause", "nonvolitional-result", "result", "volitional-cause", "volitional-result",
    ),
    "comment": ("evaluation", "evaluation-comment", "interpretation", "interpretation-evaluation"),
    "concession": ("adversative-concession", "comparison.concession"),
    "condition": (
        "conditional", "contingency-condition", "contingency.condition", "contingency.negative-condition",
        "otherwise", "unconditional",
    ),
    "conjunction": ("continuation", "expansion.conjunction", "joint", "joint-list", "joint-other", "list", "parallel"),
    "contrast": (
        "adversative-antithesis", "adversative-contrast", "antithesis", "comparison.contrast", "expansion.exception",
        "expansion.substitution", "unless",
    ),
    "elaboration": (
        "definition", "elaboration-additional", "elaboration-attribute", "example", "expansion.instantiation",
        "expansion.level-of-detail",
    ),
    "explanation": (
        "contingency.cause+belief", "contingency.cause+speechact", "evidence", "explanation-evidence",
        "explanation-justify", "explanation-motivation", "justify", "motivation", "reason",
    ),
    "frame": ("background", "context-background"),
    "mode": (
        "comparison.similarity", "expansion.manner", "manner", "manner-means", "means", "mode-manner", "mode-means",
    ),
    "organization": (
        "organization-heading", "organization-phatic", "organization-preparation", "preparation", "summary",
        "textual-organization",
    ),
    "purpose": ("contingency.purpose", "enablement", "purpose-attribute", "purpose-goal"),
    "query": ("hypophora", "question-answer", "solutionhood", "topic-question", "topic-solutionhood"),
    "reformulation": (
        "expansion.equivalence", "expansion.restatement", "restatement", "restatement-partial",
        "restatement-repetition",
    ),
    "temporal": (
        "circumstance", "context-circumstance", "flashback", "joint-sequence", "narration", "sequence",
        "temporal.asynchronous", "temporal.synchronous",
    ),
}  # fmt: skip
"""Class → names of relations in it, besides its own name. A name includes all names that continue it after a period."""

LABELS: Final = tuple(MEMBERS)

_CLASSES: Final = {name: label for label, names in MEMBERS.items() for name in (label, *names)}
_NUCLEARITY: Final = re.compile(r"-(?:e|m|mn|n|nn|s)$")
"""How names end that also say which unit is the nucleus, or that the unit is embedded."""
_EMBEDDED: Final = re.compile(r"^e-")


def class_of(name: str) -> str | None:
    """The class of a relation, by its name in a corpus; None for a name that is not known.

    A corpus may mark what is embedded or which unit is the nucleus (``e-elaboration``, ``evaluation-s``); names of PDTB
    get longer with each level (``contingency.cause.result``). Of several names (``a;b``) the first counts.
    """
    plain = _EMBEDDED.sub("", name.lower().partition(";")[0].strip())
    names = [plain, _NUCLEARITY.sub("", plain)]
    levels = [name[:end] for name in names for end in _ends_of_levels(name)]
    return next((_CLASSES[name] for name in levels if name in _CLASSES), None)


def _ends_of_levels(name: str) -> list[int]:
    """Where a name ends with all its levels, without the last, and so on."""
    return [len(name), *(place for place in reversed(range(len(name))) if name[place] == ".")]


LONGEST: Final = 128
"""Most words of a unit: two units fit into the 512 tokens of most encoders."""

REPEATING: Final = 6
"""Units of fewer words recur naturally; longer ones that are in two splits are a leak."""

CONTEXT: Final[dict[str, PolarsDataType]] = {
    "marked": pl.String, "passage": pl.String, "unit1": SPANS, "unit2": SPANS, "spacing": pl.String,
}  # fmt: skip
"""What a row has of the sentences that its units stand in; null in tasks that show spans of a tree, or hide a word; and
whether the blanks of its text were set by rule."""

REASONS: Final = {
    "unit-too-long": f"a unit has more than {LONGEST} words",
    "no-words": "a unit has no letter or digit",
    "sentences-between": "other sentences lie between those of the two units",
    "equal-units": "both units are the same words (a repetition)",
    "several-labels": "the same two units occur with different labels",
    "same-unit": "no relation: the parts of one unit that another interrupts",
    "unknown-relation": "a relation of its corpus that is in none of the classes",
    "not-adjacent": "a span of a tree does not follow the other in the text",
    "rare-class": "a class with too few relations, or that some split lacks",
}

NOTE: Final = (
    f"A unit has at most {LONGEST} words; where a corpus has all three splits, they are kept, but for rows of train "
    "and validation with a unit that a later split has too"
)

EXEMPT: Final = {
    **dict.fromkeys(
        ("length", "single", "punctuation", "surface"),  # surface counts marks by their code points
        "what marks a relation (connectives, verb forms, punctuation, length) is part of the units, and texts cannot be"
        " matched on it; read a model's score beside this baseline",
    ),
    "fidelity": "units are compared with the words of their document when the corpus is read; they may span sentences",
}


def relation_task(
    select: Callable[[Shard, Context], pl.DataFrame], labels: tuple[str, ...] = (), *, layer: str = "relations",
    reasons: Mapping[str, str] | None = None, version: int = 1,
) -> RelationTask:  # fmt: skip
    """A task over pairs of units, whose labels keep the shares that they have in the corpus.

    Args:
        select: from a shard its candidates, as ``candidates`` gives; a function of a module.
        labels: label names in the order of their indices; none where the corpus decides.
        layer: ``relations`` (tables of DISRPT) or ``rst_trees``.
        reasons: the task's own reasons for drops → what they mean.
        version: raised when the rows of the task change.
    """
    return RelationTask(
        select=select, sample=_sample_relations, labels=labels, decides=True, note=NOTE,
        needs=frozenset({layer}), reasons={**REASONS, **(reasons or {})}, exempt=EXEMPT,
        version=version,
    )  # fmt: skip


def candidates(relations: pl.DataFrame, longest: int = LONGEST) -> pl.DataFrame:
    """Relations as candidates: those with a reason keep it, others get one if a unit is too long or not clean.

    Args:
        relations: the columns of ``RELATION_CANDIDATES``; ``reason``, ``removed`` and those of ``CONTEXT`` may be
            missing.
        longest: most words of a unit.
    """
    units = ("sentence1", "sentence2")
    optional = {"reason": pl.String, "removed": pl.String, **CONTEXT}
    frame = relations.with_columns(
        pl.lit(None, kind).alias(name) for name, kind in optional.items() if name not in relations.columns
    )
    faults = [clean_text.fault(pl.col(unit), whole=False) for unit in units]
    faults += [clean_text.separated_markup(pl.col(unit)) for unit in units]  # texts of trees are often tokenised
    faults.append(clean_text.fault(pl.col("passage"), whole=False))
    # Without what lies between, readers cannot say the relation: they were right in 3 of 15 such rows (fr, de), and in
    # 48 of the 65 others. Such units are mostly the heads of longer spans.
    apart = pl.when(pl.col("passage").str.contains(ELLIPSIS, literal=True)).then(pl.lit("sentences-between"))
    long = pl.any_horizontal(n_words(pl.col(unit), halves=True) > longest for unit in units)
    same = pl.col("sentence1").str.to_lowercase() == pl.col("sentence2").str.to_lowercase()
    empty = pl.any_horizontal(n_words(pl.col(unit), halves=True) == 0 for unit in units)
    return frame.with_columns(
        reason=pl.coalesce(
            "reason",
            pl.when(pl.col("label").is_null()).then(pl.concat_str(pl.lit("unknown-relation "), "orig_label")),
            pl.when(long).then(pl.lit("unit-too-long")),
            pl.when(empty).then(pl.lit("no-words")),
            pl.when(same).then(pl.lit("equal-units")),
            apart,
            *faults,
        )
    )


def _sample_relations(frame: pl.DataFrame, context: Context) -> Sample:
    """The rows of a relation task, documents being assigned to splits."""
    drops = context.drops
    split = with_splits(_each_once(drops.usable(frame), context), context)
    split = drops.keep(split, _without_leaks(split), "in-two-splits")
    supported, left_out, reason = _supported(split, context)
    others_left_out = drops.without_labels(split, left_out)
    rows_of_classes = others_left_out.filter(pl.col("label").is_in(supported))
    capped = cap(rows_of_classes, context.settings, *context.seed_key) if rows_of_classes.height else rows_of_classes
    drops.keep(rows_of_classes, capped, "over-size")
    names = context.labels or supported
    indices = {name: index for index, name in enumerate(names)}
    rows = capped.with_columns(
        label=pl.col("label").replace_strict(indices, return_dtype=pl.Int64, default=None),
        pair=pl.lit(None, pl.UInt64),
        row=pl.col("row").cast(pl.Int64),
    )
    used = tuple(name for name in names if name in supported)
    return Sample(rows, labels=used, candidates=frame.height, reason=reason)


def _each_once(frame: pl.DataFrame, context: Context) -> pl.DataFrame:
    """Each two units once, in the last of their published splits; none of those that occur with several labels."""
    same = ["_unit1", "_unit2"]
    keyed = frame.with_columns(pl.col(f"sentence{n}").str.to_lowercase().alias(f"_unit{n}") for n in (1, 2))
    agreed = context.drops.keep(keyed, keyed.filter(pl.col("label").n_unique().over(same) == 1), "several-labels")
    native = pl.col("native").cast(Split)
    last = native.max().over(same)
    ordered = agreed.sort(
        native.fill_null(last) == last, "key", descending=[True, False], nulls_last=True, maintain_order=True
    )
    single = ordered.unique(same, keep="first", maintain_order=True).sort("key", maintain_order=True)
    return context.drops.keep(agreed, single, "duplicate").drop(same)


def with_splits(frame: pl.DataFrame, context: Context) -> pl.DataFrame:
    """Adds ``group`` (the document, by its name, else by its key; two corpora can have the same) and ``split``.

    Where a corpus has all three splits, they are those of its publishers. A document that several such corpora have is
    in the last of its splits, so that no published test set loses a document.
    """
    complete = frame.filter(pl.col("native").drop_nulls().n_unique().over("corpus") == len(SPLITS))["corpus"].unique()
    group = pl.coalesce("doc_id", hashing.as_text("doc_key"))
    groups = frame.group_by(group=group, maintain_order=True).agg(
        weight=pl.len(), native=pl.col("native").cast(Split).filter(pl.col("corpus").is_in(complete.implode())).max()
    )
    hashed = groups.filter(pl.col("native").is_null())
    keys = [hashing.digest("document", name) for name in hashed["group"]]
    places = pl.concat(
        [
            hashed.select("group", split_of(keys, context.settings.seed, hashed["weight"])),
            groups.drop_nulls("native").select("group", split="native"),
        ]
    )
    return frame.with_columns(group=group).join(places, on="group", how="left", maintain_order="left")


def _without_leaks(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows without those one of whose units, or whose passage, is (nearly) in a later split too.

    Test keeps what it has, and train loses what is in test: so published test sets stay as they are. Two corpora of a
    language may have the same text, divided into other units.
    """
    texts = [frame[name] for name in ("sentence1", "sentence2", "passage")]
    pooled = pl.DataFrame({
        "text": pl.concat(texts), "split": pl.concat([frame["split"]] * len(texts)).to_physical(),
        "place": pl.concat([pl.int_range(frame.height, eager=True)] * len(texts)),
    }).drop_nulls("text")  # fmt: skip
    long = n_words(pl.col("text"), halves=True) >= REPEATING
    clusters = pooled.with_columns(cluster=near_clusters(pooled["text"]), long=long)
    later = clusters.filter("long", pl.col("split").max().over("cluster") > pl.col("split"))
    without_later = frame.with_row_index("_place").filter(~pl.col("_place").is_in(later["place"].unique().implode()))
    return without_later.drop("_place")


def _supported(frame: pl.DataFrame, context: Context) -> Supported:
    """The labels that are frequent enough and in every split, with what the others lose; why there are none."""
    names = frequent_in_splits(frame, "label", context.settings.min_class)
    rare = by_frequency(frame, "label").filter(~pl.col("label").is_in(names))["label"]
    left_out = {label: f"rare-class {label}" if context.labels else "rare-class" for label in rare}
    if len(names) > 1:
        return tuple(names), left_out, ""
    frequent = most_frequent(frame, "label")
    least = context.settings.min_class
    reason = f"fewer than two classes have {least} relations, with some in every split (most frequent: {frequent})"
    return (), left_out, reason if frequent else "no candidates are left"


SPAN = "span"
SEVERAL = "several"
"""Stands for the relation where the nuclei of one node have different ones."""

BINARY: dict[str, PolarsDataType] = {
    "doc": pl.UInt32,
    "unit1": pl.String,
    "unit2": pl.String,
    "nuclearity": pl.String,
    "orig_label": pl.String,
    "ids": pl.List(pl.String),
    "adjacent": pl.Boolean,
    "spacing": pl.String,
}
"""Columns of ``binary_relations``: the texts of both spans, ``NS``, ``SN`` or ``NN``, the name of the relation, the
nodes that head the spans, whether the second span follows the first without a gap, and ``BY_RULE`` if the file has
words with blanks between all of them and its blanks were set by rule, else null."""

BY_RULE: Final = "rule"

_Relation = tuple[str, str, str, str, list[str], bool, str | None]


_Span = tuple[int, int, str, bool]
"""Segments by the places of the first and the last in the text, the node above them, and whether no gap is inside."""


def binary_relations(nodes: pl.DataFrame, language: LanguageData) -> pl.DataFrame:
    """The relations of all nodes of some trees.

    Args:
        nodes: ``RST_NODES`` of any number of documents.
        language: of the documents; decides where blanks are, if the text of a document is not known.

    Returns:
        The columns ``BINARY``, documents in their order, in each the relations from the leaves up.
    """
    rows = [
        (doc, *relation)
        for (doc,), tree in nodes.group_by("doc", maintain_order=True)
        for relation in _relations_of_tree(tree, language)
    ]
    return pl.DataFrame(rows, BINARY, orient="row")


def _relations_of_tree(nodes: pl.DataFrame, language: LanguageData) -> list[_Relation]:
    """The relations of all nodes of one document, found while its spans are joined: ``BINARY`` but for ``doc``."""
    texts: list[str] = []
    place: dict[str, int] = {}
    relname_of: dict[str, str] = {}
    roots: list[str] = []
    nuclei: dict[str, list[str]] = defaultdict(list)
    satellites: dict[str, list[str]] = defaultdict(list)
    relations: list[_Relation] = []
    columns = ("node", "parent", "relname", "multinuclear", "text", "space_after")
    for node, parent, relname, multinuclear, text, space_after in nodes.select(columns).iter_rows():
        relname_of[node] = relname
        if text is not None:
            place[node] = len(texts)
            texts.append(text if space_after is False else f"{text} ")
        if parent is None:
            roots.append(node)
        else:
            (nuclei if multinuclear or relname == SPAN else satellites)[parent].append(node)
    by_rule = is_spaced_out("".join(texts), language)
    texts = close_up(texts, language) if by_rule else texts

    def span_of(node: str) -> _Span:
        """A node with its satellites."""
        core = core_of(node)
        spans = sorted(span_of(satellite) for satellite in satellites[node])
        for after in (span for span in spans if span[0] > core[0]):
            core = join(core, after, "NS", relname_of[after[2]], node)
        for before in reversed([span for span in spans if span[0] < core[0]]):
            core = join(before, core, "SN", relname_of[before[2]], node)
        return core

    def core_of(node: str) -> _Span:
        """A node without its satellites."""
        if node in place:
            return place[node], place[node], node, True
        names = {relname_of[nucleus] for nucleus in nuclei[node]}
        relname = names.pop() if len(names) == 1 else SEVERAL
        *rest, joined = sorted(span_of(nucleus) for nucleus in nuclei[node])
        for span in reversed(rest):
            joined = join(span, joined, "NN", relname, node)
        first, last, _, adjacent = joined
        return first, last, node, adjacent

    def join(left: _Span, right: _Span, nuclearity: str, relname: str, node: str) -> _Span:
        adjacent = left[3] and right[3] and left[1] + 1 == right[0]
        first, second = ("".join(texts[start : end + 1]).rstrip() for start, end, *_ in (left, right))
        spacing = BY_RULE if by_rule else None
        relations.append((first, second, nuclearity, relname, [left[2], right[2]], adjacent, spacing))
        return left[0], max(left[1], right[1]), node, adjacent

    for root in roots:
        span_of(root)
    return relations


def published(shard: Shard, _: Context) -> pl.DataFrame:
    """All relations of a shard, labelled with the class of DISRPT that the table gives or its label belongs to."""
    units = {"unit1": "sentence1", "unit2": "sentence2", "span1": "unit1", "span2": "unit2", "context": "passage"}
    relations = shard.relations.rename(units).with_columns(label=_class(), reason=_unplaced("passage"))
    marked = [
        mark_units(passage, first, second) if passage else None
        for passage, first, second in relations.select("passage", "unit1", "unit2").iter_rows()
    ]
    return candidates(relations.with_columns(marked=pl.Series(marked, dtype=pl.String)))


def mark_units(passage: str, *units: Sequence[Mapping[str, int]]) -> str:
    """A text with the parts of units in brackets: ``[1 It rained.] [2 But we stayed], she said.``.

    A part of one unit may be inside one of the other. In the text, brackets become parentheses.
    """
    edges = [
        edge
        for number, spans in enumerate(units, 1)
        for span in spans
        for edge in ((span["start"], 1, -span["end"], f"[{number} "), (span["end"], 0, -span["start"], "]"))
    ]
    places = sorted(edges)
    plain = passage.translate({ord("["): "(", ord("]"): ")"})
    pieces = [plain[: places[0][0]]]
    for (place, *_, mark), (after, *_) in pairwise([*places, (len(plain), 0, 0, "")]):
        pieces.append(mark + plain[place:after])
    return "".join(pieces)


def _unplaced(context: str) -> pl.Expr:
    """The reason against relations of which it is not known where their words stand in the text."""
    return pl.when(pl.col(context).is_null()).then(pl.lit("unaligned"))


def _class() -> pl.Expr:
    is_class = pl.col("label").is_in(LABELS)
    return pl.when(is_class).then("label").otherwise(pl.col("label").map_elements(class_of, return_dtype=pl.String))


SAME_UNIT: Final = r"(?i)^same(?:[-_ ]?unit)?$"
"""How corpora name the relation of the parts of a unit that another interrupts (PCC *sameunit*, PRSTC *same*)."""


def by_class(shard: Shard, context: Context) -> pl.DataFrame:
    """The relations of a shard's trees with their class."""
    documents = shard.documents.select("doc", document=pl.col("key").cast(pl.String))
    binary = binary_relations(shard.rst_nodes, context.language).join(documents, on="doc", maintain_order="left")
    nodes = [binary["ids"].list.get(n) for n in (0, 1)]
    relations = binary.select(
        "doc", "orig_label", "ids", direction="nuclearity",
        label=pl.col("orig_label").map_elements(class_of, return_dtype=pl.String),
        sentence1="unit1", sentence2="unit2", spacing="spacing",
        reason=pl.coalesce(
            pl.when(pl.col("orig_label").str.contains(SAME_UNIT)).then(pl.lit("same-unit")),
            pl.when(pl.col("orig_label") == SEVERAL).then(pl.lit("several-labels")),
            pl.when(~pl.col("adjacent")).then(pl.lit("not-adjacent")),
        ),
        rel_type=pl.lit(None, pl.String), native=pl.lit(None, pl.String),
        key=record_keys(binary["document"], *nodes),
    )  # fmt: skip
    return candidates(relations)


CONNECTIVE_REASONS: Final = {
    "not-explicit": "no connective marks the relation",
    "connective-inside": "the connective does not stand at the beginning of a unit",
    "two-connectives": "both units begin with a connective, and the first depends on the second",
}


def without_connective(shard: Shard, context: Context) -> pl.DataFrame:
    """All relations of a shard; the explicit ones without the connective that their second (or first) unit begins with.

    Where both units begin with one, that of the first mostly joins it to what is before.
    """
    second = pl.col("lead2").is_not_null()
    frame = shard.relations.with_columns(
        lead=pl.coalesce("lead2", "lead1"), bare=pl.when(second).then("unit2").otherwise("unit1")
    )
    frame = frame.with_columns(removed=pl.col("bare").str.head("lead")).with_columns(
        rest=_rest(frame["bare"], frame["lead"], context.language)
    )
    explicit = pl.col("rel_type") == "explicit"
    return candidates(
        frame.with_columns(
            label=lower(pl.col("removed"), context.language),
            reason=pl.coalesce(
                _unplaced("context"),
                pl.when(~explicit.fill_null(value=False)).then(pl.lit("not-explicit")),
                pl.when(pl.col("lead").is_null()).then(pl.lit("connective-inside")),
                pl.when(second, pl.col("lead1").is_not_null(), pl.col("direction") == "1>2").then(
                    pl.lit("two-connectives")
                ),
            ),
            sentence1=pl.when(second).then("unit1").otherwise("rest"),
            sentence2=pl.when(second).then("rest").otherwise("unit2"),
        ).drop("unit1", "unit2")  # where the connective is
    )


def _rest(units: pl.Series, leads: pl.Series, language: LanguageData) -> pl.Series:
    """The units after their connectives and a comma; with a capital where the connective had one."""
    bare = pl.select(units.str.slice(leads.fill_null(0)).str.strip_chars_start(" ,،、，…")).to_series()
    return capitalised(bare, units.str.contains(r"^\p{Uppercase}"), language)
