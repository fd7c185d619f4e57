"""Which connective opened the second sentence?

Discourse connective prediction (DisSent, Nie et al. 2019; Koto et al. 2021). A row has two adjacent sentences. The
second one is shown without the connective with which it began (and the comma after it), and begins with a capital. The
label is the connective; `removed` is the deleted text, and `original` is the second sentence before the edit.

The connectives of a language are a fixed list of words that relate their sentence to the one before. Subordinators such
as *although* relate it to its own main clause and are not in the list. A connective must be tagged CCONJ, SCONJ or ADV
(multiword connectives: as the list says) and, if the corpus has trees, belong to the whole sentence and not to one of
its phrases (German *auch er*). Every connective of the list has a sense (addition, contrast, result, ...). The most
frequent connective of each sense is a class, because nothing in two sentences tells *but* from *however*. Questions and
sentences that have hardly any other words are left out. So are sentences in which the connective occurs again within
five words (*и … и*, or a speaker who starts again), because half of it would remain. Classes have at least 20
candidates and are equally frequent in every split.

The published suite used any first word that was tagged as a conjunction, and sometimes a previous sentence of another
document. In languages in which the verb follows an initial adverb (German, Dutch, Swedish), the shown sentence begins
with the verb if an adverb was removed. This tells adverbs from conjunctions.
"""

import polars as pl

from discoprobe.builders.config import Shape
from discoprobe.builders.passages.window_rows import members, single_rows, version
from discoprobe.builders.sampling.balance import equal_counts_by_length
from discoprobe.builders.sampling.label_sets import by_frequency, frequent_in_splits, most_frequent
from discoprobe.builders.sampling.stratify import cap, strata
from discoprobe.builders.sentences.connectives import connectives_of, sentence_connectives
from discoprobe.builders.task import Context, DiscourseTask, Sample
from discoprobe.loaders.languages.language import LanguageData

STRATA = 3
"""Strata of length inside which connectives are equally frequent over the blocks of a large corpus."""

TALK = ("conversation", "podcast", "vlog", "court", "spoken")
"""Genres of documents (GUM) in which connectives are fillers (*so, I was, like, …*)."""


def sample(frame: pl.DataFrame, context: Context) -> Sample:
    """Pairs of neighbours of which the second lost its connective, equally many per connective."""
    every = _pairs(frame)
    talk = pl.col("genre").is_in(TALK).fill_null(value=False)
    pairs = every if context.settings.genres == "all" else every.filter(~talk)
    enough = context.decided or frequent_in_splits(pairs, "connective", context.settings.min_class)
    frequent = pairs.filter(pl.col("connective").is_in(enough))
    named = frequent if context.decided else _one_per_sense(frequent, context.language)
    names = context.decided or tuple(sorted(named["connective"].unique()))
    capped = cap(named, context.settings, *context.seed_key)
    chosen = capped if len(names) > 1 else capped.clear()
    if chosen.height and not context.decided:
        chosen = equal_counts_by_length(capped, "connective", *context.seed_key)
    windows = chosen.select(
        "split", window="key", first=pl.col("row").cast(pl.Int64) - 1,
        label=pl.col("connective").replace_strict(names, range(len(names)), return_dtype=pl.Int64),
    )  # fmt: skip
    shown = version(members(windows["first"].to_numpy(), 2), position=1)
    rows = single_rows(windows, shown, *context.seed_key).with_columns(
        chosen["trim"], stratum=chosen.select(strata(pl.col("mean_words"), STRATA)).to_series()
    )
    drops = {
        "talk": every.height - pairs.height,
        "rare-connective": pairs.height - frequent.height,
        "same-sense": frequent.height - named.height,
        "unbalanced": named.height - chosen.height,
    }
    return Sample(rows, drops, labels=names, candidates=every.height, reason=_problem(pairs, names, context))


def _problem(pairs: pl.DataFrame, names: tuple[str, ...], context: Context) -> str:
    """Why there are fewer than two classes, with the connectives that were found; empty where there are two."""
    if len(names) > 1:
        return ""
    frequent = most_frequent(pairs, "connective")
    return (
        f"no two connectives of different sense open {context.settings.min_class} sentences each, some in every split "
        f"({f'most frequent: {frequent}' if frequent else 'none was found'})"
    )


def _pairs(frame: pl.DataFrame) -> pl.DataFrame:
    """Sentences with a connective whose neighbour before them is usable; no sentence stands in two pairs."""
    before = pl.col("passage") == pl.col("passage").shift(1)
    pairs = frame.with_columns(_ok=pl.col("connective").is_not_null() & before.fill_null(value=False))
    pairs = pairs.with_columns(_chain=(~pl.col("_ok")).cum_sum()).filter("_ok")
    nth = pl.int_range(pl.len()).over("_chain")
    single = pairs.filter(nth % 2 == 0).with_columns(mean_words=pl.col("n_words").cast(pl.Float64))
    return single.unique("text_key", keep="first", maintain_order=True)


def _one_per_sense(pairs: pl.DataFrame, language: LanguageData) -> pl.DataFrame:
    """The pairs of the most frequent connective of each sense."""
    senses = {entry.lemma: entry.sense for entry in connectives_of(language, "sentence")}
    sense = pl.col("connective").replace_strict(senses, return_dtype=pl.String, default=None)
    first = by_frequency(pairs, "connective").filter(sense.is_first_distinct())
    return pairs.filter(pl.col("connective").is_in(first["connective"].implode()))


def lacks(language: LanguageData) -> str:
    """Why the task is not available."""
    listed = connectives_of(language, "sentence")
    return "" if listed else f"no connectives are listed for {language.name}; see docs/adding_a_language.md"


TASK = DiscourseTask(
    shape=Shape.PAIR,
    sample=sample,
    mark=sentence_connectives,
    lacks=lacks,
    needs=frozenset({"documents", "upos"}),
    reasons={
        "talk": "in talk a connective may be a filler (`--set genres=all` takes these documents)",
        "same-sense": "another connective of the same sense is more frequent",
    },
    version=3,
)
