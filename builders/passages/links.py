"""Suites of sentence orders: passages with sentences that refer to the one before, and orders that put them earlier."""

import functools
import re
from itertools import combinations, permutations
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from discoprobe.builders.config import Shape
from discoprobe.builders.drops import WINDOWS
from discoprobe.builders.passages.windows import cut, distinct, one_order, ordered_pairs, without_introductions
from discoprobe.builders.sampling.balance import cap, with_rank
from discoprobe.builders.sentences.connectives import connectives_of
from discoprobe.builders.task import Context, DiscourseTask, Sample
from discoprobe.loaders import hashing
from discoprobe.loaders.corpus import Shard, feat
from discoprobe.loaders.languages.language import LanguageData

SIZE: Final = 5
"""Sentences of a passage."""

OPENING: Final = 10
"""Number of first words of a sentence among which a pronoun can be a link to the sentence before."""

STRONG: Final = frozenset({"contrast", "result", "reason", "example", "concession", "correction"})
"""Senses of connectives that need the sentence before. *Also* and *then* can follow most sentences of a text."""

WAYS: Final = 6
"""Number of orders of a passage from which one is chosen."""


def marks(shard: Shard, language: LanguageData) -> pl.DataFrame:
    """Whether each sentence can be linked, or the first of a passage: ``sent``, ``linked`` and ``opens``.

    A sentence is ``linked`` to the one before if it begins with a connective of a strong sense, or if one of its first
    words is a pronoun of the third person or a demonstrative (where these are annotated). It ``opens`` a passage if it
    is not linked, does not begin with another connective, and has no pronoun of unknown person there.
    """
    entries = connectives_of(language, "sentence")
    strong = [form for entry in entries if entry.sense in STRONG for form in entry.forms]
    longer = _begins([form for entry in entries for form in entry.unless])
    linked = _begins(strong) & ~longer | pl.col("refers").fill_null(value=False)
    connective = _begins([form for entry in entries for form in entry.forms])
    opens = ~(linked | connective | pl.col("vague").fill_null(value=False))
    with_pronouns = shard.sentences.join(_pronouns(shard.tokens), on="sent", how="left", maintain_order="left")
    return with_pronouns.select("sent", linked=linked, opens=opens)


def _begins(forms: list[str]) -> pl.Expr:
    """Whether a text begins with one of the forms."""
    return pl.col("text").str.contains(rf"(?i)^\W*(?:{'|'.join(map(re.escape, forms))})\b") & bool(forms)


def _pronouns(tokens: pl.DataFrame) -> pl.DataFrame:
    """Whether a word among the first of a sentence ``refers`` to what stands before, or is ``vague`` and may do so.

    Reflexives refer to a word of their own sentence, and so does a pronoun with a noun before it (*Byron received his
    education*), unless the pronoun is the subject and the noun an oblique (*in Thessaly he*). Expletives refer to
    nothing, adverbs (*here*, *now*) to the situation, and a demonstrative with a clause of its own (*those who*) to no
    sentence before. A personal pronoun is vague if the treebank does not mark its person.
    """
    relation = pl.col("deprel").fill_null("")
    first = tokens.filter(pl.col("index") <= OPENING).sort("sent", "index")
    clauses = tokens.filter(relation.str.starts_with("acl")).select("sent", index="head", clause=True).unique()
    noun, oblique = pl.col("upos").is_in(["NOUN", "PROPN"]), relation.str.contains("^(?:obl|nmod)")
    after_noun, after_direct = (before.cast(pl.Int32).cum_sum().over("sent") > 0 for before in (noun, noun & ~oblique))
    inside = pl.when(relation.str.starts_with("nsubj")).then(after_direct).otherwise(after_noun)
    personal = (feat("PronType") == "Prs") & feat("Reflex").is_null() & ~inside
    demonstrative = (feat("PronType") == "Dem") & (pl.col("upos") != "ADV") & pl.col("clause").is_null()
    refers = (personal & (feat("Person") == "3") | demonstrative) & ~relation.str.starts_with("expl")
    marked = first.join(clauses, on=["sent", "index"], how="left", maintain_order="left")
    marked = marked.with_columns(refers=refers, vague=personal & feat("Person").is_null())
    return marked.group_by("sent").agg(pl.col("refers", "vague").any())


def order_suite(moved: int, region: int = 0, version: int = 9) -> DiscourseTask:
    """A suite of passages as they stand and in an order that puts a linked sentence before the one it is linked to.

    Args:
        moved: how many of the sentences, from the first one, change their places.
        region: the region that is compared; 0 for the whole text.
        version: raised when the rows of the task change.
    """
    return DiscourseTask(
        labels=("original", "shuffled"),
        shape=Shape.SEQUENCE,
        sample=functools.partial(_sample_orders, moved=moved),
        mark=marks,
        pairs=True,
        least=SIZE,
        conditions=("shuffled",),
        region=region,
        version=version,
        reasons={"no-link": "no sentence begins with a connective or a pronoun that refers to the one before"},
    )


def _sample_orders(frame: pl.DataFrame, context: Context, *, moved: int) -> Sample:
    passages = without_introductions(frame)
    linked = linked_windows(passages, moved, *context.seed_key)
    unlinked = cut(passages, SIZE, *context.seed_key)
    windows = distinct(frame, linked, context)
    context.drops.keep(unlinked, linked, "no-link", n=max(0, unlinked.height - linked.height), step=WINDOWS)
    orders = breaking_orders(frame, windows, moved)
    match = context.settings.match
    best = with_rank(orders, ["window"], "way", *context.seed_key).sort(-pl.col("strength"), "rank")
    some = best.group_by("window", maintain_order=True).head(WAYS if match else 1).with_columns(key="window")
    chosen = one_order(frame, some, context, _links_by_place(frame, some)) if match else some
    capped = cap(chosen, context.settings, *context.seed_key, weight=2)  # last, so that orders do not depend on sizes
    return Sample(ordered_pairs(capped), candidates=windows.height * 2)


def _links_by_place(frame: pl.DataFrame, orders: pl.DataFrame) -> npt.NDArray[np.float64]:
    """What the rule "the order with a linked sentence here is right" gains, (orders, places): 1, 0 or -1."""
    linked = frame["linked"].fill_null(value=False).to_numpy().astype(np.float64)
    first, order = orders["first"].to_numpy()[:, None], orders["order"].cast(pl.Array(pl.Int64, SIZE)).to_numpy()
    return np.asarray(linked[first + np.arange(SIZE)] - linked[first + order])


def linked_windows(frame: pl.DataFrame, moved: int, *seed_key: str | int) -> pl.DataFrame:
    """As many disjoint windows as possible that can have another order, in the columns of ``cut``."""
    passage = frame["passage"].fill_null(-1).cast(pl.Int64).to_numpy()
    starts = np.arange(max(0, frame.height - SIZE + 1))
    unbroken = (passage[starts] >= 0) & (passage[starts] == passage[starts + SIZE - 1])
    first: list[int] = []
    for start in starts[unbroken][_possible(frame, starts[unbroken], moved)[1].any(axis=1)].tolist():
        if not first or start >= first[-1] + SIZE:
            first.append(start)
    chosen = pl.DataFrame({"first": first}, {"first": pl.Int64})
    keys = hashing.mix(frame["key"].gather(chosen["first"]).to_numpy(), "window", *seed_key)
    return chosen.select(pl.Series("window", keys), "first", size=pl.lit(SIZE, pl.Int64))


def breaking_orders(frame: pl.DataFrame, windows: pl.DataFrame, moved: int) -> pl.DataFrame:
    """Each window (``window``, ``first``, …) once for every ``order`` that it can have, with a ``key`` of its own."""
    orders, possible = _possible(frame, windows["first"].to_numpy(), moved)
    window, order = np.nonzero(possible)
    every = windows[window].with_columns(
        order=pl.Series(orders[order].tolist(), dtype=pl.List(pl.Int64)), strength=possible[window, order]
    )
    return every.with_columns(key=hashing.combine(every["window"].to_numpy(), order.astype(np.uint64)))


def _possible(
    frame: pl.DataFrame, first: npt.NDArray[np.int64], moved: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The orders of a passage, shape (orders, sentences), and how well each suits each window, (windows, orders).

    2: a linked sentence comes before all those that it follows in the corpus; 1: before the nearest one; 0: not at all.
    No sentence follows the one that it follows in the corpus, and at least half of all pairs of sentences are reversed.
    So that the beginning and the end do not show the order, the first sentence ``opens`` a passage in both orders, and
    the last sentence that moves is linked in both or in neither.
    """
    every = np.array([(*order, *range(moved, SIZE)) for order in permutations(range(moved))])
    place = np.argsort(every, axis=1)
    pairs = list(combinations(range(moved), 2))
    turned = sum(place[:, earlier] > place[:, later] for earlier, later in pairs)
    strong = (np.diff(place, axis=1) != 1).all(axis=1) & (2 * turned >= len(pairs))
    orders, place = every[strong], place[strong]
    rows = first[:, None] + np.arange(SIZE)
    opens, linked = (frame[name].fill_null(value=False).to_numpy()[rows] for name in ("opens", "linked"))
    begins = opens[:, orders[:, 0]] & opens[:, :1]
    ends = linked[:, orders[:, moved - 1]] == linked[:, moved - 1 : moved]
    earlier = np.minimum.accumulate(place, axis=1)[:, :-1], place[:, :-1]
    before_all, before_one = (linked[:, 1:] @ (place[:, 1:] < those).T for those in earlier)
    return orders, (before_all + 1) * (before_one & begins & ends)
