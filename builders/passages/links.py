"""Links between neighbouring sentences that are told by the first words of the second one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from discoprobe.builders.sentences.connectives import Connectives

if TYPE_CHECKING:
    import numpy.typing as npt

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


def with_linked_passages(frame: pl.DataFrame, size: int) -> pl.DataFrame:
    """The sentences of a corpus with passages of ``size`` sentences that have a link: as many as there is place for.

    Args:
        frame: as ``with_passages`` gives, and ``linked``.
        size: sentences of a passage.
    """
    passage = frame["passage"].fill_null(-1).to_numpy()
    before = _links_before(frame)
    found = np.full(len(passage), -1, dtype=np.int64)
    first = 0
    while first + size <= len(passage):
        whole = passage[first] >= 0 and passage[first] == passage[first + size - 1]
        if whole and before[first + size] > before[first + 1]:
            found[first : first + size] = first
        first += size if found[first] >= 0 else 1
    numbers = pl.Series(found)
    return frame.with_columns(passage=pl.when(numbers >= 0).then(numbers).cast(frame.schema["passage"]))


def _links_before(frame: pl.DataFrame) -> npt.NDArray[np.int64]:
    """How many linked sentences stand before each row, and before the end."""
    return np.concatenate([[0], frame["linked"].cum_sum().to_numpy()]).astype(np.int64)


def breaks_links(frame: pl.DataFrame, windows: pl.DataFrame) -> pl.Series:
    """Whether the ``order`` of each window takes sentences away from those that they are linked to: all, or `MOST`."""
    is_linked, before = frame["linked"].to_numpy(), _links_before(frame)
    first, size = (windows[name].to_numpy().astype(np.int64) for name in ("first", "size"))
    links = np.minimum(before[first + size] - before[first + 1], MOST)
    broken = [
        sum(
            is_linked[start + sentence] and (not place or order[place - 1] != sentence - 1)
            for place, sentence in enumerate(order) if sentence
        )
        for start, order in windows.select("first", "order").iter_rows()
    ]  # fmt: skip
    return pl.Series(np.array(broken, dtype=np.int64) >= links)
