"""The word frequencies of sentences, and the filter that drops sentences of rare words.

RuSentEval drops sentences by the frequency of their lemmas in instances per million words (IPM; Mikhailov et al. 2021).
The published code of its authors computes the share of lemmas above 1 per million; that share is ``ipm_share`` here.
``ipm_mean`` is the mean frequency, which the paper mentions. Two things differ from that code:

* The lists of wordfreq have word forms, and a lemma is at least as frequent as each of its forms (Russian мочь is a
  rare form of a frequent verb). So with these lists a word has the frequency of its lemma or of its form, whichever is
  greater.
* Words without a letter (numbers, symbols) are not counted, because the lists do not have them.

Lemmas do not always follow the conventions of a list: those of Korean Kaist are strings of morphemes, Chinese HK is
written in traditional characters. A list that lacks the words of a corpus does not show which are rare. So its coverage
is measured first; where it is low, the corpus is not filtered and has no ``ipm_share``.
"""

from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Final

import msgspec
import polars as pl

from discoprobe.builders.sentences.trees import Trees
from discoprobe.builders.settings import Settings
from discoprobe.loaders.corpus import Loadable
from discoprobe.loaders.languages.language import LanguageData, wordfreq_code
from discoprobe.loaders.languages.word_lists import MILLION, read_frequencies, wordfreq_ipm

COMMON: Final = 1.0
"""A word above this frequency, per million, is common (RuBLiMP's ``get_ipm_conllu``)."""

LEAST_COVERAGE: Final = 0.8
"""Smallest share of common words in a corpus for which a list is used.

Measured on 35 treebanks of 27 languages: from .88 to .99, but .26 in Korean Kaist and .64 in Chinese HK. At a coverage
of .88 the filter drops half of the sentences; at a lower one it would drop most of them because their lemmas follow
other conventions."""

KNOWN: Final = 0.5
"""Share of a corpus's distinct lemmas that a list must know to rank them."""

_BOUNDARY: Final = r"(.)[#_=]+(.)"
"""Compound boundaries in lemmas (Finnish pää#kaupunki, Dutch mat_taart), which word forms do not have."""


class Frequencies(msgspec.Struct, frozen=True):
    """A frequency list.

    Attributes:
        name: its name in cards and messages.
        code: the code of a list of wordfreq, which each process loads when it needs it; None for another list.
        listed: another list: ``word`` in lower case, ``ipm``.
    """

    name: str
    code: str | None = None
    listed: pl.DataFrame | None = None

    def ipm(self, words: pl.Series) -> pl.Series:
        """The frequency of each word per million words; 0 for a word that the list lacks, null for null."""
        distinct = words.unique().drop_nulls().rename("given")
        bare = distinct.str.replace_all(_BOUNDARY, "$1$2")
        if self.code is not None:
            listed = pl.DataFrame([distinct, wordfreq_ipm(bare, self.code)])
        else:
            assert self.listed is not None
            listed = pl.DataFrame([distinct, bare.str.to_lowercase().rename("word")]).join(
                self.listed, on="word", how="left", maintain_order="left"
            )
        with_ipm = words.rename("given").to_frame().join(listed, on="given", how="left", maintain_order="left")
        return with_ipm.select(pl.when(pl.col("given").is_not_null()).then(pl.col("ipm").fill_null(0.0)))["ipm"]


def frequencies(
    settings: Settings, language: LanguageData, counts: Callable[[], Iterable[pl.DataFrame]]
) -> Frequencies | None:
    """The list that the settings name; None if they name wordfreq, and wordfreq has no list of the language.

    Args:
        settings: ``frequency`` is ``wordfreq``, ``corpus`` or the path of a list.
        language: the language of the corpora.
        counts: returns the result of ``counted`` for each shard; called only for ``corpus``.

    Raises:
        DiscoprobeError: if the user's list cannot be read.
    """
    if settings.frequency == "corpus":
        totals = pl.concat(counts()).group_by("word").agg(pl.col("n").sum()).sort("word")
        per_million = totals.select("word", ipm=pl.col("n") * (MILLION / pl.col("n").sum()))
        return Frequencies("the corpora themselves", listed=per_million)
    if settings.frequency != "wordfreq":
        return Frequencies(settings.frequency, listed=read_frequencies(Path(settings.frequency)))
    code = wordfreq_code(language.code)
    return None if code is None else Frequencies(f"wordfreq's list '{code}'", code=code)


def counted(part: Loadable) -> pl.DataFrame:
    """The number of each lemma in a shard (of the form where there is no lemma): ``word`` in lower case, ``n``."""
    word = pl.coalesce("lemma", "form").str.replace_all(_BOUNDARY, "$1$2").str.to_lowercase()
    return _select_counted(part.load().tokens).group_by(word=word).agg(n=pl.len())


def _select_counted(tokens: pl.DataFrame) -> pl.DataFrame:
    """The words that are counted: those with a letter that are not punctuation."""
    return tokens.filter((pl.col("upos") != "PUNCT").fill_null(value=True), pl.col("form").str.contains(r"\p{L}"))


def with_ipm(sentences: pl.DataFrame, trees: Trees, listed: Frequencies | None) -> pl.DataFrame:
    """Sentences with the columns ``ipm_share``, ``ipm_mean`` and ``ipm_words``, the number of words counted.

    Share and mean are null without a list, and for a sentence without a counted word.
    """
    if listed is None:
        blank = {"ipm_share": pl.Float32, "ipm_mean": pl.Float32, "ipm_words": pl.UInt32}
        return sentences.with_columns(pl.lit(None, kind).alias(name) for name, kind in blank.items())
    words = _select_counted(trees.words)
    ipm = listed.ipm(words["lemma"].fill_null(words["form"]))
    if listed.code is not None:
        ipm = pl.DataFrame({"lemma": ipm, "form": listed.ipm(words["form"])}).max_horizontal()
    per_sentence = (
        words.select("sent", ipm=ipm)
        .group_by("sent")
        .agg(
            ipm_share=(pl.col("ipm") > COMMON).mean().cast(pl.Float32),
            ipm_mean=pl.col("ipm").mean().cast(pl.Float32),
            ipm_words=pl.len(),
        )
    )
    return sentences.join(per_sentence, on="sent", how="left", maintain_order="left")


def coverage(sentences: pl.DataFrame) -> pl.DataFrame:
    """The number of counted words of each corpus, and of common ones among them: ``corpus``, ``words``, ``common``."""
    common = (pl.col("ipm_share") * pl.col("ipm_words")).round().sum()
    return sentences.group_by("corpus").agg(words=pl.col("ipm_words").sum(), common=common)


def covered_corpora(
    covered: Iterable[pl.DataFrame], listed: Frequencies | None, settings: Settings, layers: frozenset[str]
) -> tuple[list[str], tuple[str, ...]]:
    """The corpora that a list covers well enough, from the ``coverage`` of all shards; and notes for the card.

    A list of the user and the counts of the corpora are used whatever they cover.
    """
    if listed is None:
        note = "There is no frequency list for the language, so sentences are not filtered by it and have no ipm_share"
        return [], (note,)
    shares = (
        pl.concat(covered)
        .group_by("corpus")
        .sum()
        .sort("corpus")
        .with_columns(share=pl.col("common") / pl.col("words"))
    )
    fits = shares.filter((pl.col("share") >= LEAST_COVERAGE) | pl.lit(listed.code is None))["corpus"].to_list()
    notes = []
    if fits:
        unit = "lemmas" if "lemma" in layers else "lower-cased forms, because there are no lemmas"
        least = settings.ipm_min
        rule = {
            "share": f"sentences are kept if at least {least:g} of their words exceed {COMMON:g} per million",
            "mean": f"sentences are kept if the mean frequency of their words is at least {least:g} per million",
            "none": "sentences are not filtered by it",
        }[settings.ipm]
        notes.append(f"Word frequencies are from {listed.name}, by {unit}; {rule}")
    notes += [
        f"Only {share:.0%} of the words of {corpus} are common in {listed.name}: not filtered by it, no ipm_share"
        for corpus, share in shares.filter(~pl.col("corpus").is_in(fits)).select("corpus", "share").iter_rows()
    ]
    return fits, tuple(notes)


def filtered(frame: pl.DataFrame, corpora: Collection[str], settings: Settings) -> pl.DataFrame:
    """Candidates with the ``reason`` ``rare-words`` where the filter drops them.

    ``ipm_share`` and ``ipm_mean`` are null in other ``corpora`` than those for which a list is used.
    """
    fits = pl.col("corpus").is_in(corpora)
    frame = frame.with_columns(pl.when(fits).then(name).alias(name) for name in ("ipm_share", "ipm_mean"))
    if settings.ipm == "none":
        return frame
    rare = pl.col(f"ipm_{settings.ipm}").cast(pl.Float32) < pl.lit(settings.ipm_min, pl.Float32)
    return frame.with_columns(reason=pl.coalesce("reason", pl.when(rare).then(pl.lit("rare-words"))))


def rank_lemmas(lemmas: pl.Series, frequencies: Frequencies | None) -> pl.DataFrame:
    """The distinct lemmas of running words, each with its ``rank`` by frequency, 1 for the most frequent.

    The frequencies are those of the list, or the corpora's own where the list knows less than ``KNOWN`` of the lemmas.
    """
    counts = lemmas.rename("lemma").value_counts(name="n").sort("lemma")
    ipm = counts["n"].cast(pl.Float64)
    if frequencies:
        listed = frequencies.ipm(counts["lemma"])
        share = counts.select(listed.alias("ipm") > 0).mean().item()
        ipm = listed if share >= KNOWN else ipm
    return counts.select("lemma", ipm=ipm).sort(["ipm", "lemma"], descending=[True, False]).with_row_index("rank", 1)
