"""The tokens of the texts that string solvers read, as numbers; made once for all solvers."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from discoprobe.builders.audit.words import tokens


@dataclass(frozen=True, slots=True)
class TokenTable:
    """Tokens in the order of the texts.

    Attributes:
        vocabulary: the distinct tokens, sorted, as written and in lower case; elsewhere a token is its index here.
        frame: one row per token: ``unit``, ``slot``, number of the ``text``, ``written``, ``token`` (in lower case),
            ``is_word``; of its neighbours in the same text ``before`` and ``after`` (in lower case) and
            ``next_written``, null at the ends.
    """

    vocabulary: pl.Series
    frame: pl.DataFrame

    @classmethod
    def of(cls, texts: pl.DataFrame, *, unspaced: bool) -> "TokenTable":
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
        return cls(vocabulary, frame)

    def beside(self, frequent: int) -> list[pl.DataFrame]:
        """Neighbours of the most frequent words: ``unit``, ``slot``, ``token``, ``neighbour``, null beyond the ends.

        One frame for each of the two tokens before and the two after them. Next to them are tokens as written, the
        others in lower case.

        Args:
            frequent: how many words are frequent.
        """
        counts = self.frame.filter("is_word")["token"].value_counts().sort(["count", "token"], descending=[True, False])
        inside = np.flatnonzero(self.frame["token"].is_in(counts["token"].head(frequent).implode()).to_numpy())
        here, last = self.frame[inside].select("unit", "slot", "token", "text"), self.frame.height - 1
        sides = []
        for by, column in ((-1, "written"), (1, "written"), (-2, "token"), (2, "token")):
            there = self.frame.select("text", neighbour=column)[np.clip(inside + by, 0, last)]
            same = (there["text"] == here["text"]) & pl.Series((inside + by >= 0) & (inside + by <= last))
            sides.append(here.drop("text").with_columns(neighbour=pl.when(same).then(there["neighbour"])))
        return sides

    def ends(self) -> pl.DataFrame:
        """One row per text: ``unit``, ``slot``, ``first``, ``second``, ``third``, ``next_to_last`` and ``last`` word.

        ``first_written`` and ``last_written`` are these words as written. Words that a text lacks are null.
        """
        words = self.frame.filter("is_word").group_by("unit", "slot", maintain_order=True)
        return words.agg(
            first=pl.col("token").first(),
            second=pl.col("token").get(1, null_on_oob=True),
            third=pl.col("token").get(2, null_on_oob=True),
            next_to_last=pl.col("token").get(-2, null_on_oob=True),
            last=pl.col("token").last(),
            first_written=pl.col("written").first(),
            last_written=pl.col("written").last(),
        )

    def text_of(self, number: pl.Expr) -> pl.Expr:
        """The tokens with these numbers."""
        return pl.lit(self.vocabulary).gather(number)
