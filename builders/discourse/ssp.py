"""Is a sentence of the lead of its article, or of the body?

Sentence section prediction (DiscoEval, Chen et al. 2019). The sentence is from the first section of a document, which
ends before the first heading after the title (`lead`), or from a later section (`body`). Every sentence of a lead has a
counterpart in the body of the same document: their lengths differ by a tenth at most, they have the same final mark,
and both or neither have brackets, digits, and a capital at the second word. In half of the pairs the sentence of the
lead has more words, in the other half the sentence of the body has more; the same holds for characters, capitals and
punctuation marks. The first sentence of a document (often a definition with dates) is in no row, and neither are
sentences with a speaker. In the published sets the labels alternate with the lines of the file, a colon or the name of
the newspaper tells the label, and length alone reaches .64-.66.
"""

from typing import Final

import numpy as np
import polars as pl

from discoprobe.builders.config import Shape
from discoprobe.builders.passages.window_rows import members, single_rows, version
from discoprobe.builders.sampling.balance import remove_bias
from discoprobe.builders.sampling.match import SURFACE, surface
from discoprobe.builders.sampling.stratify import cap, first_of_each
from discoprobe.builders.task import Context, DiscourseTask, Sample
from discoprobe.loaders.corpus import Shard
from discoprobe.loaders.languages.language import LanguageData

TOLERANCE: Final = 0.1
"""Largest difference in length of a sentence and its counterpart: about a tenth of the characters."""

FEW: Final = 4
"""Pairs that a split may have whatever differs inside them."""

MARKS: Final = {
    "end": pl.col("text").str.extract(r"(\P{L})\s*$"),
    "brackets": pl.col("text").str.contains(r"[(\[]"),
    "digits": pl.col("text").str.contains(r"\p{N}"),
    "name": pl.col("text").str.contains(r"^\S+ \P{L}?\p{Lu}"),
}
"""What a sentence and its counterpart have in common."""


def mark(shard: Shard, _language: LanguageData) -> pl.DataFrame:
    """The sentences of sections: ``sent``, ``lead``, and what they are matched on."""
    inside = shard.sentences.filter(pl.col("section").is_not_null(), pl.col("speaker").is_null(), pl.col("index") > 0)
    length = pl.col("text").str.len_chars().log()
    return inside.select("sent", *surface(pl.col("text")), lead=pl.col("section") == 0, length=length, **MARKS)


def sample(frame: pl.DataFrame, context: Context) -> Sample:
    """Sentences of leads, each with one of the body of its document."""
    candidates = frame.filter(pl.col("reason").is_null(), pl.col("lead").is_not_null())
    single = first_of_each(candidates, ["cluster"], *context.seed_key)
    pairs = _pairs(single, context)
    more = pairs.select(SURFACE).to_numpy().astype(np.float64)
    matched = remove_bias(pairs, more, *context.seed_key, few=FEW) if context.settings.match else pairs
    capped = cap(matched, context.settings, *context.seed_key, weight=2)
    rows = pl.concat([_rows(capped, label, name) for label, name in enumerate(("", "_body"))])
    drops = {
        "near-duplicate": candidates.height - single.height,
        "unbalanced": single.height - 2 * matched.height,
        "over-size": 2 * (matched.height - capped.height),
    }
    return Sample(rows, drops, candidates=candidates.height)


def _pairs(sentences: pl.DataFrame, context: Context) -> pl.DataFrame:
    """Each sentence of a lead with the one of the body that is nearest in length; none of these is in two pairs.

    Returns:
        ``key``, ``split``, ``ring`` (equal in both rows of a pair), ``row`` and ``n_words`` of both, and of each of
        ``SURFACE`` which of them has more, as a sign.
    """
    wanted = ["doc_key", "split", "row", "key", "n_words", "length", *SURFACE, *MARKS]
    lead, body = (
        sentences.filter(pl.col("lead") == of_lead).select(wanted).sort("length", "key") for of_lead in (True, False)
    )
    found = lead.join_asof(
        body, on="length", by=["doc_key", *MARKS], strategy="nearest", tolerance=TOLERANCE, suffix="_body",
        check_sortedness=False,
    ).drop_nulls("row_body")  # fmt: skip
    single = first_of_each(found, ["row_body"], *context.seed_key)
    more = {name: (pl.col(name) - pl.col(f"{name}_body")).sign() for name in SURFACE}
    return single.with_columns(ring="key", **more)


def _rows(pairs: pl.DataFrame, label: int, suffix: str) -> pl.DataFrame:
    """The rows of one label."""
    windows = pairs.select("split", window="key", first=f"row{suffix}", label=pl.lit(label))
    shown = version(members(windows["first"].to_numpy(), 1))
    return single_rows(windows, shown, label).with_columns(
        pairs["ring"], stratum=pairs["ring"], n_words=pairs[f"n_words{suffix}"]
    )


TASK = DiscourseTask(
    labels=("lead", "body"), shape=Shape.SENTENCE, sample=sample, mark=mark,
    needs=frozenset({"documents", "sections"}), decides=True,
)  # fmt: skip
