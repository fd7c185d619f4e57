"""Facts about dependency trees as columns, computed for all words of a shard at once."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from discoprobe.loaders.corpus import Shard

P = ParamSpec("P")
T = TypeVar("T")

SPACED = 0.5
"""Share of words followed by white space from which on a treebank's words are spaced."""


@dataclass(frozen=True)
class Trees:
    """The words of a shard with what their trees say.

    ``words`` has the columns of the shard's tokens and

    * ``row``: the word's own number in the table; ``head_row``: its head's (null for a root);
    * ``rel``: its relation without the subtype;
    * ``depth``: edges between it and the root (0 for the root; null where there is no tree).
    """

    shard: Shard
    _facts: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def once(self, facts: Callable[Concatenate[Trees, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What a function says of these trees (and arguments, which must be hashable), computed once for all tasks."""
        key = facts, args, *kwargs.items()
        if key not in self._facts:
            self._facts[key] = facts(self, *args, **kwargs)
        found: T = self._facts[key]
        return found

    @functools.cached_property
    def words(self) -> pl.DataFrame:
        """One row per word."""
        numbered = self.shard.tokens.select(pl.int_range(pl.len()).alias("row"), pl.all()).with_columns(
            rel=pl.col("deprel").str.extract(r"^([^:]+)"),
            head_row=pl.when(pl.col("head") > 0).then(pl.col("row") - pl.col("index") + pl.col("head")),
        )
        return numbered.with_columns(depth=pl.Series(depths(numbered), dtype=pl.Int32)).with_columns(
            depth=pl.when(pl.col("head").is_not_null()).then("depth")
        )

    @functools.cached_property
    def spaced(self) -> bool:
        """Whether white space separates words: it follows at least half of those that another word follows.

        So the treebank decides, and a script without spaces (Thai) needs no entry in the language's data.
        """
        spoken = self.shard.tokens.filter(pl.col("start").is_not_null(), pl.col("upos") != "PUNCT")
        same = pl.col("sent") == pl.col("sent").shift(-1)
        gaps = spoken.with_columns(gap=pl.col("start").shift(-1) > pl.col("end"), same=same)
        share = gaps.filter("same", pl.col("mwt").is_null())["gap"].mean()
        return not isinstance(share, float) or share >= SPACED

    @functools.cached_property
    def targets(self) -> pl.DataFrame:
        """The columns of rows that have a word as target, by the number of the word, ``target``."""
        same = pl.col("sent") == pl.col("sent").shift(1)
        return self.words.select(
            pl.col("row").cast(pl.UInt32).alias("target"), target_form="form", target_lemma="lemma",
            target_upos=pl.col("upos").cast(pl.String), target_feats="feats", target_start="start", target_end="end",
            _in_token=pl.col("mwt").is_not_null(), _clitic_before=_clitic("-$").shift(1) & same,
            _clitic_after=_clitic("^-").shift(-1) & same.shift(-1),
        )  # fmt: skip

    @functools.cached_property
    def roots(self) -> pl.DataFrame:
        """The root word of each sentence that has a tree, columns as in ``words``."""
        return self.words.filter(pl.col("head") == 0).unique("sent", keep="first", maintain_order=True)

    @functools.cached_property
    def dependents(self) -> pl.DataFrame:
        """The words that depend on the root of their sentence, in order."""
        return self.words.filter(pl.col("depth") == 1)

    @functools.cached_property
    def sentence_depths(self) -> pl.DataFrame:
        """``sent`` and ``depth`` (edges between the root and the deepest word) of each sentence with a whole tree."""
        deepest = self.words.group_by("sent", maintain_order=True).agg(
            pl.col("depth").max(), whole=pl.col("depth").is_not_null().all()
        )
        return deepest.filter("whole").drop("whole")

    def governing(self, dependents: pl.Expr) -> pl.DataFrame:
        """The ``row`` of every word that has such a dependent."""
        return self.words.filter(dependents).select(row="head_row").drop_nulls().unique()

    def with_text(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows that have ``sent`` with the ``text`` of the sentence."""
        return rows.join(self.shard.sentences.select("sent", "text"), on="sent", maintain_order="left")

    def descends_from(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """For every word, which of ``rows`` is its nearest ancestor or itself; -1 where none is."""
        return nearest_marked(_parents(self.words), rows)


def with_dependents(words: pl.DataFrame, dependents: pl.DataFrame, **facts: pl.Expr) -> pl.DataFrame:
    """The words, each with facts (aggregates) about those of the dependents that are its own.

    Where a word has none, truth values are false and other facts null.
    """
    of_heads = dependents.drop_nulls("head_row").group_by(row="head_row").agg(**facts)
    truths = [name for name, kind in of_heads.schema.items() if kind == pl.Boolean]
    joined = words.join(of_heads, on="row", how="left", maintain_order="left")
    return joined.with_columns(pl.col(truths).fill_null(value=False))


def _clitic(hyphen: str) -> pl.Expr:
    """Whether a word is a grammatical one that a hyphen of its own ties to its neighbour (French *-il*)."""
    light = pl.col("upos").cast(pl.String).is_in(["PRON", "AUX", "DET", "PART", "ADV"])
    return light & pl.col("form").str.contains(hyphen)


def _parents(words: pl.DataFrame) -> npt.NDArray[np.int64]:
    """The head of each word; a root, or a word without a tree, is its own."""
    places = np.arange(words.height)
    heads = words["head_row"].fill_null(-1).to_numpy()
    return np.where(heads < 0, places, heads)


def depths(words: pl.DataFrame) -> npt.NDArray[np.int32]:
    """Edges from each word to its root, by doubling pointers: log2(depth) steps over all words."""
    parent = _parents(words)
    steps = (parent != np.arange(len(parent))).astype(np.int32)
    while True:
        further = steps[parent]
        if not further.any():
            return np.asarray(steps, dtype=np.int32)
        steps = steps + further
        parent = parent[parent]


def nearest_marked(parent: npt.NDArray[np.int64], marked: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The first marked word on the way from each word to its root, itself included; -1 where there is none."""
    places = np.arange(len(parent))
    is_marked = np.zeros(len(parent), dtype=bool)
    is_marked[marked] = True
    at = places
    for _ in range(len(parent)):
        going = ~is_marked[at] & (parent[at] != at)
        if not going.any():
            break
        at = np.where(going, parent[at], at)
    return np.where(is_marked[at], at, -1)
