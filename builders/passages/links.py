"""Links between neighbouring sentences that are told by the first words of the second one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from discoprobe.builders.sentences.connectives import Connectives

if TYPE_CHECKING:
    from discoprobe.loaders.corpus import Shard
    from discoprobe.loaders.languages.language import LanguageData

OPENING: Final = 4
"""First words of a sentence among which a pronoun refers to what stands before."""

MOST: Final = 2
"""Links that another order has to break, where there are so many."""


def linked(shard: Shard, language: LanguageData) -> pl.DataFrame:
    """Which sentences refer to the one before, as ``sent`` and ``linked``.

    They begin with a connective of the language's list, or one of their first words is a pronoun of the third person or
    a demonstrative (where these are annotated).
    """
    entries = language.section(Connectives).entries
    forms = [re.escape(form) for entry in entries if entry.scope == "sentence" for form in entry.forms]
    connective = pl.col("text").str.contains(rf"(?i)^\W*(?:{'|'.join(forms)})\b") if forms else pl.lit(value=False)
    personal = pl.col("feats").str.contains("PronType=Prs") & pl.col("feats").str.contains("Person=3")
    refers = personal | pl.col("feats").str.contains("PronType=Dem")
    pronouns = shard.tokens.filter(pl.col("index") <= OPENING, refers)["sent"].unique()
    return shard.sentences.select("sent", linked=connective | pl.col("sent").is_in(pronouns.implode()))


def n_links(frame: pl.DataFrame, windows: pl.DataFrame) -> pl.Series:
    """The number of sentences of each window (``first``, ``size``) that are linked to another one of it."""
    before = np.concatenate([[0], frame["linked"].cum_sum().to_numpy()]).astype(np.int64)
    first, size = (windows[name].to_numpy().astype(np.int64) for name in ("first", "size"))
    return pl.Series(before[first + size] - before[first + 1])


def breaks_links(frame: pl.DataFrame, windows: pl.DataFrame) -> pl.Series:
    """Whether the ``order`` of each window takes sentences away from those that they are linked to: all, or `MOST`.

    A linked sentence comes first only where one does in the corpus: else the first sentence alone would tell the order.
    """
    is_linked, first = frame["linked"].to_numpy(), windows["first"].to_numpy().astype(np.int64)
    broken = [
        sum(
            is_linked[start + sentence] and (not place or order[place - 1] != sentence - 1)
            for place, sentence in enumerate(order) if sentence
        )
        for start, order in windows.select("first", "order").iter_rows()
    ]  # fmt: skip
    begins = windows["order"].list.first().to_numpy()
    enough = pl.Series(broken, dtype=pl.Int64) >= n_links(frame, windows).clip(upper_bound=MOST)
    return enough & pl.Series(is_linked[first + begins] == is_linked[first])
