"""Which candidates in automatically annotated text may be used: those whose words the model is sure of.

Of what two models annotate, only those candidates are used that both have (`without_contradicted`). A model gives every
tag and every arc a probability (``Shard.confidence``). ``measures`` describes with these how sure
it is of the word that a candidate asks about, and of what the analysis of this word depends on. `silver` learns from
treebanks which of these measures tell right candidates from wrong ones, and from which sum on few are wrong (`Trust`).
"""

import numpy as np
import numpy.typing as npt
import polars as pl

from discoprobe.builders.sampling.balance import bin_of, edges
from discoprobe.builders.sentences.trees import Trees
from discoprobe.builders.settings import Settings
from discoprobe.loaders.corpus import Trust

Floats = npt.NDArray[np.float64]

DOUBTFUL = "doubtful"
CONTRADICTED = "contradicted"
UNFILLED = "label-not-filled"
"""Why a candidate is not used: the model is not sure enough; a second model says something else; its label, too, is
annotated too badly for any automatic row."""
PLACES = ("target_start", "plan")
"""What a candidate is known by beside its sentence, as far as a task has these columns: places of characters, because
numbers of words differ after any word that is divided otherwise."""
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


def shown(candidates: pl.DataFrame, texts: pl.DataFrame) -> pl.DataFrame:
    """What candidates show, so that those of two annotations of the same sentences can be compared.

    Args:
        candidates: of a task. If any of the ``words`` of one may be the label, each that may is a candidate here.
        texts: ``sent`` and ``text``.

    Returns:
        A row per candidate: the columns of ``candidates``, with ``number`` (its row), ``text``, ``place`` (the
        characters that it is known by, as text), and ``label``: where a task has none, the class of the length.
    """
    numbered = candidates.with_row_index("number")
    if "words" in candidates.columns:
        word = pl.col("words").struct
        apart = numbered.explode("words").filter(word.field("target"))
        apart = apart.with_columns(start=word.field("start"), place=word.field("start").cast(pl.String))
        shows = apart.with_columns(label=word.field("lemma"))
    else:
        places = [
            pl.col(name).struct.json_encode() if name == "plan" else pl.col(name).cast(pl.String)
            for name in PLACES
            if name in candidates.columns
        ]
        shows = numbered.with_columns(place=pl.concat_str(pl.lit(""), *places, separator=" ", ignore_nulls=True))
        if candidates["label"].null_count() == candidates.height and "plan" not in candidates.columns:
            classes = edges(candidates["n_words"], Settings(length_bins="equal"))
            shows = shows.with_columns(label=pl.coalesce("label", bin_of(pl.col("n_words"), classes)))
    return shows.join(texts, on="sent", how="left", maintain_order="left")


def without_contradicted(
    candidates: pl.DataFrame, texts: pl.DataFrame, witness: pl.DataFrame, witness_texts: pl.DataFrame
) -> pl.DataFrame:
    """The candidates of a task with a ``reason`` for those that a second annotation does not have with the same label.

    Args:
        candidates: of the first annotation.
        texts: ``sent`` and ``text`` of its sentences.
        witness: the candidates of the second, usable or not.
        witness_texts: the same of it.
    """
    both = shown(candidates, texts).join(
        shown(witness, witness_texts).select("text", "place", "label").unique(), on=["text", "place", "label"],
        how="semi", nulls_equal=True, maintain_order="left",
    )  # fmt: skip
    if "words" not in candidates.columns:
        agreed = pl.int_range(pl.len()).is_in(both["number"].implode())
        return candidates.with_columns(reason=pl.coalesce("reason", pl.when(~agreed).then(pl.lit(CONTRADICTED))))
    apart = candidates.select("words").with_row_index("number").explode("words")
    apart = apart.with_columns(start=pl.col("words").struct.field("start"))
    kept = both.select("number", "start", agreed=pl.lit(value=True)).unique()
    joined = apart.join(kept, on=["number", "start"], how="left", maintain_order="left")
    target = pl.col("words").struct.field("target") & pl.col("agreed").fill_null(value=False)
    judged = joined.with_columns(pl.col("words").struct.with_fields(target=target))
    return candidates.with_columns(judged.group_by("number", maintain_order=True).agg("words")["words"])


def is_sure(trust: Trust, table: Floats, labels: pl.Series) -> npt.NDArray[np.bool_]:
    """Which candidates are sure enough, by their ``measures`` and labels."""
    least = [trust.least.get(label or "", trust.least.get("", np.inf)) for label in labels]
    return np.asarray(table @ np.array(trust.weights) >= np.array(least, dtype=np.float64))


def without_unfilled(candidates: pl.DataFrame, trust: Trust) -> pl.DataFrame:
    """The candidates with a ``reason`` for those of labels that get no automatic row: all rows have the same labels."""
    if not trust.least or "" in trust.least:
        return candidates
    others = ~pl.col("label").is_in([*trust.least]) & pl.col("label").is_not_null()
    return candidates.with_columns(reason=pl.coalesce("reason", pl.when(others).then(pl.lit(UNFILLED))))


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
