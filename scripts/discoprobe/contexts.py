"""Finds the context of a row: the sentences before and after it, read from corpora."""

from collections.abc import Collection, Sequence

import polars as pl

from discoprobe.cards.review.row_view import ContextSentence
from discoprobe.sources import load_corpus

AROUND = 2
"""Sentences before and after that are shown."""


class Contexts:
    """Finds the neighbours of sentences in corpora; the corpora of a language are read when they are first needed."""

    def __init__(self, corpora: Sequence[str]) -> None:
        self._corpora = tuple(corpora)
        self._of_language: dict[str, pl.DataFrame] = {}

    def __call__(self, lang: str, corpus: str, sent_ids: Collection[str]) -> list[ContextSentence]:
        """These sentences and those around them, in the order of the source; empty if the corpora do not have them."""
        of_corpus = self._sentences(lang).filter(pl.col("corpus") == corpus)
        places = of_corpus.filter(pl.col("sent_id").is_in(list(sent_ids))).select("number", "doc")
        near = (
            places.join(of_corpus, on="doc", suffix="_near")
            .filter((pl.col("number_near") - pl.col("number")).abs() <= AROUND)
            .unique("number_near")
            .sort("number_near")
        )
        sentences: list[ContextSentence] = []
        last = None
        for number, sent_id, text in near.select("number_near", "sent_id", "text").iter_rows():
            sentences.append(
                ContextSentence(sent_id, text, sent_id in sent_ids, last is not None and number > last + 1)
            )
            last = number
        return sentences

    def _sentences(self, lang: str) -> pl.DataFrame:
        """All sentences of a language: ``corpus``, ``doc``, ``sent_id``, ``text``, ``number`` (signed, in order)."""
        if lang not in self._of_language:
            parts = []
            for shard_number, part in enumerate(load_corpus(lang, self._corpora).parts):
                shard = part.load()
                named = shard.sentences.join(shard.documents.select("doc", "corpus"), on="doc", how="left")
                parts.append(
                    named.select(
                        pl.col("corpus").cast(pl.String), pl.format("{}/{}", pl.lit(shard_number), "doc").alias("doc"),
                        pl.col("sent_id").cast(pl.String), "text",
                    )
                )  # fmt: skip
            self._of_language[lang] = pl.concat(parts).with_row_index("number").cast({"number": pl.Int64})
        return self._of_language[lang]
