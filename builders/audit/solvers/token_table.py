"""The tokens of the texts that solvers of strings read, as numbers: made once for all of them."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from discoprobe.builders.audit.words import tokens


@dataclass(frozen=True, slots=True)
class TokenTable:
    """Tokens in the order of the texts.

    Attributes:
        vocabulary: the distinct tokens, sorted, as written and in lower case; tokens are numbers in it.
        frame: one row per token: ``unit``, ``slot``, ``written``, ``token`` (in lower case), ``is_word``; of its
            neighbours in the same text ``before`` and ``after`` (in lower case) and ``next_written``, null at the ends.
    """

    vocabulary: pl.Series
    frame: pl.DataFrame

    @classmethod
    def of(cls, texts: pl.DataFrame, *, unspaced: bool) -> TokenTable:
        """The tokens of ``texts`` (``unit``, ``slot``, ``text``); pairs of characters with ``unspaced``."""
        listed = texts.select("unit", "slot", form=tokens(pl.col("text"), unspaced=unspaced)).with_row_index("text")
        long = listed.explode("form", empty_as_null=False)
        forms = pl.DataFrame({"form": long["form"].unique()}).with_columns(lower=pl.col("form").str.to_lowercase())
        vocabulary = pl.concat([forms["form"], forms["lower"]]).unique().sort()
        number = pl.DataFrame({"form": vocabulary}).with_row_index("number")
        known = forms.join(number.rename({"number": "written"}), on="form").join(
            number.rename({"form": "lower", "number": "token"}), on="lower"
        )
        known = known.select("form", "written", "token", is_word=pl.col("form").str.contains(r"\w"))
        frame = long.join(known, on="form", how="left", maintain_order="left").drop("form")
        after, before = (pl.when(pl.col("text") == pl.col("text").shift(by)) for by in (-1, 1))
        frame = frame.with_columns(
            before=before.then(pl.col("token").shift(1)),
            after=after.then(pl.col("token").shift(-1)),
            next_written=after.then(pl.col("written").shift(-1)),
        )
        return cls(vocabulary, frame.drop("text"))

    def ends(self) -> pl.DataFrame:
        """One row per text: ``unit``, ``slot``, the numbers of its ``first``, ``second`` and ``last`` word.

        ``first_written`` and ``last_written`` are these words as written. ``second`` is null where there is none.
        """
        words = self.frame.filter("is_word").group_by("unit", "slot", maintain_order=True)
        return words.agg(
            first=pl.col("token").first(),
            second=pl.col("token").get(1, null_on_oob=True),
            last=pl.col("token").last(),
            first_written=pl.col("written").first(),
            last_written=pl.col("written").last(),
        )

    def text_of(self, number: pl.Expr) -> pl.Expr:
        """The tokens that numbers stand for."""
        return pl.lit(self.vocabulary).gather(number)
