"""How frequent the words of a sentence are, and the filter that leaves out sentences of rare words.

RuSentEval drops sentences by the frequency of their lemmas in instances per million words (IPM; Mikhailov et al. 2021).
What its group's published code computes is the share of lemmas above 1 per million; that share is ``ipm_share`` here,
``ipm_mean`` is the mean that the paper speaks of. Two things differ from that code:

* wordfreq's lists hold written forms, and a lemma is at least as frequent as each of its forms (Russian мочь is a rare
  form of a frequent verb), so with them a word has the frequency of its lemma or of its form, whichever is greater;
* words without a letter (numbers, symbols) are not counted: lists have none, or classes of them.

Lemmas do not always follow the conventions of a list: Korean Kaist's are strings of morphemes, Chinese HK is written
in traditional characters. A list that does not know a corpus's words says nothing about their rarity, so its coverage
is measured first, and where it is low the corpus is not filtered and has no ``ipm_share``.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl

from discoprobe.loaders.frequency import MILLION, read_frequencies, wordfreq_form, wordfreq_list

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from discoprobe.builders.settings import Settings
    from discoprobe.builders.tree import Trees
    from discoprobe.loaders.corpus import Loadable
    from discoprobe.loaders.language import LanguageData

COMMON: Final = 1.0
"""A word above this frequency, per million, is no rare one (RuBLiMP's ``get_ipm_conllu``)."""

LEAST_COVERAGE: Final = 0.8
"""Share of a corpus's words that must be common by a list before the list is used on it. Measured on 35 treebanks of 27
languages: from .88 to .99, but .26 in Korean Kaist and .64 in Chinese HK. Below it the filter would drop most sentences
for their conventions: at a coverage of .88 it drops half."""

_BOUNDARY: Final = r"(.)[#_=]+(.)"
"""Marks of compound boundaries in lemmas (Finnish pää#kaupunki, Dutch mat_taart), which no written word has."""

_WORDFREQ: Final = "wordfreq"
_CORPUS: Final = "corpus"


@dataclass(frozen=True, slots=True)
class Frequencies:
    """A frequency list.

    Attributes:
        name: what it is, for cards and messages.
        code: wordfreq's code; wordfreq's list is loaded where it is used.
        listed: another list than wordfreq's: ``word`` in small letters, ``ipm``.
    """

    name: str
    code: str | None = None
    listed: pl.DataFrame | None = None

    def ipm(self, words: pl.Series) -> pl.Series:
        """The frequency of each word per million words; 0 for a word that the list lacks, null for null."""
        distinct = words.unique().drop_nulls().rename("given")
        bare = distinct.str.replace_all(_BOUNDARY, "$1$2")
        if self.code is not None:
            listed, forms = wordfreq_list(self.code), wordfreq_form(bare, self.code)
        else:
            assert self.listed is not None
            listed, forms = self.listed, bare.str.to_lowercase()
        known = pl.DataFrame([distinct, forms.rename("word")]).join(
            listed, on="word", how="left", maintain_order="left"
        )
        found = words.rename("given").to_frame().join(known, on="given", how="left", maintain_order="left")
        return found.select(pl.when(pl.col("given").is_not_null()).then(pl.col("ipm").fill_null(0.0)))["ipm"]


def frequencies(
    settings: Settings, language: LanguageData, counts: Callable[[], Iterable[pl.DataFrame]]
) -> Frequencies | None:
    """The list that the settings name; None if it is wordfreq's and wordfreq has none of the language.

    Args:
        settings: ``frequency`` is ``wordfreq``, ``corpus`` or the path of a list.
        language: names wordfreq's list.
        counts: gives what ``counted`` gives for each shard; called only for ``corpus``.

    Raises:
        DiscoprobeError: if the user's list cannot be read.
    """
    if settings.frequency == _CORPUS:
        return Frequencies("the corpora themselves", listed=_per_million(counts()))
    if settings.frequency != _WORDFREQ:
        return Frequencies(settings.frequency, listed=read_frequencies(Path(settings.frequency)))
    return Frequencies(f"wordfreq's list '{language.wordfreq}'", code=language.wordfreq) if language.wordfreq else None


def counted(part: Loadable) -> pl.DataFrame:
    """How often each lemma (the form where there is none) stands in a shard: ``word`` in small letters, ``n``."""
    word = pl.coalesce("lemma", "form").str.replace_all(_BOUNDARY, "$1$2").str.to_lowercase()
    return _counting_words(part.load().tokens).group_by(word=word).agg(n=pl.len())


def _per_million(counts: Iterable[pl.DataFrame]) -> pl.DataFrame:
    whole = pl.concat(counts).group_by("word").agg(pl.col("n").sum()).sort("word")
    return whole.select("word", ipm=pl.col("n") * (MILLION / pl.col("n").sum()))


def _counting_words(tokens: pl.DataFrame) -> pl.DataFrame:
    """The words that count: no punctuation, and with a letter."""
    return tokens.filter((pl.col("upos") != "PUNCT").fill_null(value=True), pl.col("form").str.contains(r"\p{L}"))


def with_ipm(shown: pl.DataFrame, trees: Trees, listed: Frequencies | None) -> pl.DataFrame:
    """Adds to sentences ``ipm_share`` and ``ipm_mean``, and ``ipm_words``: how many words these are of.

    Without a list, and for a sentence without a word that counts, both are null.
    """
    if listed is None:
        blank = {"ipm_share": pl.Float32, "ipm_mean": pl.Float32, "ipm_words": pl.UInt32}
        return shown.with_columns(pl.lit(None, kind).alias(name) for name, kind in blank.items())
    words = _counting_words(trees.words)
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
    return shown.join(per_sentence, on="sent", how="left", maintain_order="left")


def coverage(shown: pl.DataFrame) -> pl.DataFrame:
    """How many words of each corpus count, and how many of these are common: ``corpus``, ``words``, ``common``."""
    common = (pl.col("ipm_share") * pl.col("ipm_words")).round().sum()
    return shown.group_by("corpus").agg(words=pl.col("ipm_words").sum(), common=common)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Which corpora a list may be used on, and what to tell about it."""

    corpora: tuple[str, ...]
    notes: tuple[str, ...]


def judged(
    covered: Iterable[pl.DataFrame], listed: Frequencies | None, settings: Settings, layers: frozenset[str]
) -> Verdict:
    """Which corpora may be filtered by a list, from the ``coverage`` of all shards.

    A user's list and the corpora's own are used as they are.
    """
    if listed is None:
        return Verdict(
            (), ("No frequency list for the language: sentences are not filtered by IPM and have no ipm_share",)
        )
    whole = (
        pl.concat(covered)
        .group_by("corpus")
        .sum()
        .sort("corpus")
        .with_columns(share=pl.col("common") / pl.col("words"))
    )
    fits = whole.filter((pl.col("share") >= LEAST_COVERAGE) | pl.lit(listed.code is None))["corpus"].to_list()
    notes = [_described(settings, listed, "lemma" in layers)] if fits else []
    notes += [
        f"Of the words of {corpus}, {share:.0%} only are common by {listed.name}: not filtered by IPM, no ipm_share"
        for corpus, share in whole.filter(~pl.col("corpus").is_in(fits)).select("corpus", "share").iter_rows()
    ]
    return Verdict(tuple(fits), tuple(notes))


def _described(settings: Settings, listed: Frequencies, has_lemmas: bool) -> str:  # noqa: FBT001 (a fact of the corpus)
    unit = "lemmas" if has_lemmas else "lower-cased forms, there being no lemmas"
    kept = {
        "share": f"sentences are kept if at least {settings.ipm_min:g} of their words are above {COMMON:g} per million",
        "mean": f"sentences are kept if the mean frequency of their words is at least {settings.ipm_min:g} per million",
        "none": "sentences are not filtered by it",
    }
    return f"Frequencies from {listed.name} by {unit}; {kept[settings.ipm]}"


def filtered(frame: pl.DataFrame, verdict: Verdict, settings: Settings) -> pl.DataFrame:
    """Candidates with ``reason`` ``rare-words`` where the filter drops them; no ``ipm_share`` where no list fits."""
    fits = pl.col("corpus").is_in(verdict.corpora)
    frame = frame.with_columns(pl.when(fits).then(name).alias(name) for name in ("ipm_share", "ipm_mean"))
    if settings.ipm == "none":
        return frame
    rare = pl.col(f"ipm_{settings.ipm}").cast(pl.Float32) < pl.lit(settings.ipm_min, pl.Float32)
    return frame.with_columns(reason=pl.coalesce("reason", pl.when(rare).then(pl.lit("rare-words"))))
