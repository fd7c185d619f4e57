"""Items of a suite: two pairs with opposite edits that are alike in everything that a simple rule can count.

If single pairs are not reliable, an item is: a reader may accept a bad text, but prefers each of the two mentions more
in its own context.
"""

import polars as pl

from discoprobe.builders import hashing
from discoprobe.builders.drop_reasons import without_reason
from discoprobe.builders.sampling.splits import Split
from discoprobe.builders.sampling.stratify import cap, in_both_directions
from discoprobe.builders.task import Context, Sample


def items(
    frame: pl.DataFrame, context: Context, *, conditions: tuple[str, str], alike: tuple[str, ...], rather: str
) -> Sample:
    """As many pairs of one condition as of the other; two of them, one of each, are an item and share ``group``.

    Args:
        frame: relation candidates with ``condition``; ``sentence1`` is the good text and has the ``mention`` at
            ``start``, ``sentence2`` the bad text with the ``other`` mention there.
        context: seed key and settings.
        conditions: the two ways in which a bad text is made.
        alike: columns in which both rows of an item are equal.
        rather: a column in which they are equal, too, if possible.
    """
    clean, drops = without_reason(frame.with_columns(_second=pl.col("condition") == conditions[1]))
    usable = clean.sort("key").unique(["sentence1", "sentence2"], keep="first", maintain_order=True)
    same = in_both_directions(usable, [*alike, rather], "_second", *context.seed_key)
    others = usable.filter(~pl.col("key").is_in(same["key"].implode()))
    paired = pl.concat([same, in_both_directions(others, alike, "_second", *context.seed_key)])
    split = paired.with_columns(split=pl.lit("test", Split), pair="key", group=hashing.as_text("ring"))
    capped = cap(split, context.settings, *context.seed_key, weight=2) if split.height else split
    drops |= {
        "duplicate": clean.height - usable.height,
        "one-direction": usable.height - paired.height,
        "over-size": paired.height - capped.height,
    }
    rows = pl.concat([_texts(capped, 0, "sentence1", "mention"), _texts(capped, 1, "sentence2", "other")])
    n_items, least = capped.height // 2, context.settings.min_class
    reason = "" if n_items >= least else f"{n_items} items are left; {least} are needed"
    return Sample(rows.clear() if reason else rows, drops, candidates=frame.height, reason=reason)


def _texts(rows: pl.DataFrame, label: int, text: str, mention: str) -> pl.DataFrame:
    """The good or the bad text of each candidate, with the place of the mention in it."""
    end = (pl.col("start") + pl.col(mention).str.len_chars()).cast(pl.Int32)
    nothing = pl.lit(None, pl.String)
    return rows.with_columns(
        text=text, edit=pl.struct("start", end.alias("end")), label=pl.lit(label, pl.Int64),
        target=pl.struct("start", end.alias("end"), form=mention, lemma=nothing, upos=nothing),
        row=pl.col("row").cast(pl.Int64), key=pl.Series(hashing.mix(rows["key"].to_numpy(), label)),
    )  # fmt: skip
