"""Which candidates in automatically annotated text may be used: those whose words the model is sure of.

A model gives every tag and every arc a probability (``Shard.confidence``). ``measures`` describes with these how sure
it is of the word that a candidate asks about, and of what the analysis of this word depends on. `silver` learns from
treebanks which of these measures tell right candidates from wrong ones, and from which sum on few are wrong (`Trust`).
"""

import numpy as np
import numpy.typing as npt
import polars as pl

from discoprobe.builders.sentences.trees import Trees
from discoprobe.loaders.corpus import Trust

Floats = npt.NDArray[np.float64]

DOUBTFUL = "doubtful"
"""Why a candidate is not used: the model is not sure enough."""
UNKNOWN = -2.0
"""A measure that the model does not give: less than what it says of its least sure words."""
NEAR = 2
"""Words on either side that are near a word."""
SURE = 1e-4
"""Logarithms of probabilities above its negative are all alike."""
MEASURES = (
    "tags", "arc", "tags of the root", "arc of the root", "path to the root: least", "path to the root: sum",
    "root and its dependents: least", "dependents: least", "words nearby: least", "sentence: least", "sentence: mean",
    "words", "distance to the root",
)  # fmt: skip
"""What ``measures`` returns of a word: decimal logarithms of the improbability (first of the word itself, then of its
tags and arc together), the logarithm of the number of words, and a distance in words."""


def measures(trees: Trees, candidates: pl.DataFrame) -> Floats:
    """How sure the model is of each candidate, shape (candidates, ``MEASURES``); `UNKNOWN` where it does not say.

    Args:
        trees: of the shard, with ``Shard.confidence``.
        candidates: ``sent``, and the word in question: ``target`` (its row), else the ``start`` of the word, else the
            first word that ``plan`` moves, else the root.
    """
    confidence = trees.shard.confidence
    words = trees.words.select("sent", "index", "row", "head_row", "depth", "upos", "start").join(
        confidence, on=["sent", "index"], how="left", maintain_order="left"
    )
    roots = trees.roots.select("sent", root="row")
    places = {
        name: pl.col(name).cast(pl.Int64) if name in candidates.columns else pl.lit(None, pl.Int64)
        for name in ("target", "start")
    }
    if "plan" in candidates.columns and "a_start" in {field.name for field in candidates.schema["plan"].fields}:  # type: ignore[attr-defined]
        places["start"] = pl.coalesce(places["start"], pl.col("plan").struct.field("a_start").cast(pl.Int64))
    by_start = words.select("sent", pl.col("start").cast(pl.Int64), by_start="row").drop_nulls().unique(
        ["sent", "start"], keep="first", maintain_order=True
    )  # fmt: skip
    asked = (
        candidates.select("sent", **places)
        .join(by_start, on=["sent", "start"], how="left", maintain_order="left")
        .join(roots, on="sent", how="left", maintain_order="left")
        .select(word=pl.coalesce("target", "by_start", "root").fill_null(-1), root=pl.col("root").fill_null(-1))
    )
    if confidence.is_empty() or asked.is_empty():
        return np.full((candidates.height, len(MEASURES)), UNKNOWN)
    tags, arc = (words[name].cast(pl.Float64).fill_null(np.nan).to_numpy() for name in ("tags", "arc"))
    both, head = tags + arc, words["head_row"].fill_null(-1).to_numpy()
    spoken = (words["upos"] != "PUNCT").fill_null(value=True).to_numpy()
    least, total = both.copy(), both.copy()  # on the path to the root
    depth = words["depth"].fill_null(0).to_numpy()
    for level in range(1, int(depth.max()) + 1):
        at = np.flatnonzero((depth == level) & (head >= 0))
        least[at] = np.minimum(both[at], least[head[at]])
        total[at] = both[at] + total[head[at]]
    below = np.zeros(len(both))  # the least sure of the dependents
    dependents = np.flatnonzero((head >= 0) & spoken)
    with np.errstate(invalid="ignore"):  # the least of a number and none is none
        np.minimum.at(below, head[dependents], both[dependents])
    sent = words["sent"].to_numpy()
    near = both.copy()
    for shift in range(1, NEAR + 1):
        same = sent[shift:] == sent[:-shift]
        near[shift:] = np.where(same, np.minimum(near[shift:], both[:-shift]), near[shift:])
        near[:-shift] = np.where(same, np.minimum(near[:-shift], both[shift:]), near[:-shift])
    of_sentences = (
        words.select("sent", both=pl.Series(both))
        .filter(pl.Series(spoken))
        .group_by("sent")
        .agg(least=pl.col("both").min(), mean=pl.col("both").mean(), n=pl.len())
    )
    whole = candidates.select("sent").join(of_sentences, on="sent", how="left", maintain_order="left")
    word, root = asked["word"].to_numpy(), asked["root"].to_numpy()
    of_root = np.minimum(both[root], below[root])
    improbable = [
        tags[word], arc[word], tags[root], arc[root], least[word], total[word], np.minimum(of_root, least[word]),
        below[word], near[word], *(whole[name].fill_null(np.nan).to_numpy() for name in ("least", "mean")),
    ]  # fmt: skip
    length = np.log(whole["n"].fill_null(1).to_numpy())
    columns = [*(-np.log10(SURE - np.minimum(each, 0)) for each in improbable), length, np.abs(word - root)]
    table = np.stack(columns, axis=1).astype(np.float64)
    table[(word < 0) | (root < 0)] = np.nan
    return np.nan_to_num(table, nan=UNKNOWN)


def is_sure(trust: Trust, table: Floats, labels: pl.Series) -> npt.NDArray[np.bool_]:
    """Which candidates are sure enough, by their ``measures`` and labels."""
    least = [trust.least.get(label or "", trust.least.get("", np.inf)) for label in labels]
    return np.asarray(table @ np.array(trust.weights) >= np.array(least, dtype=np.float64))


def without_doubtful(candidates: pl.DataFrame, trees: Trees, trust: Trust) -> pl.DataFrame:
    """The candidates of a task with a ``reason`` for those that are doubtful; no doubtful one of ``words`` is a target.

    Args:
        candidates: with ``sent``, ``label`` and ``reason``, and maybe ``words``, any of which may become the label.
        trees: as for ``measures``.
        trust: how sure the model must be.
    """
    if "words" not in candidates.columns:
        sure = pl.Series(is_sure(trust, measures(trees, candidates), candidates["label"]))
        return candidates.with_columns(reason=pl.coalesce("reason", pl.when(~sure).then(pl.lit(DOUBTFUL))))
    apart = candidates.select("sent", "words", pl.int_range(pl.len()).alias("candidate")).explode("words")
    places = apart.select("sent", start=pl.col("words").struct.field("start"))
    sure = pl.Series(is_sure(trust, measures(trees, places), pl.Series([None] * apart.height, dtype=pl.String)))
    target = pl.col("words").struct.field("target") & sure
    judged = apart.with_columns(pl.col("words").struct.with_fields(target=target))
    words = judged.group_by("candidate", maintain_order=True).agg("words")["words"]
    return candidates.with_columns(words)
