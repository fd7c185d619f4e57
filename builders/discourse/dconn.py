"""Which connective opened the second sentence?

Discourse connective prediction (DisSent, Nie et al. 2019; Koto et al. 2021). Two neighbouring sentences, the second
without the connective it began with (and the comma after it), its first letter a capital again; the label is the
connective. Connectives come from a closed list per language of words that tie their sentence to the one before
(subordinators such as *although* tie it to its own main clause and are not in it) and must be tagged CCONJ, SCONJ or
ADV (fixed expressions: as the list says) and, where there are trees, join the sentence and not a phrase of it (German
*auch er*). Every connective of the list has a sense (addition, contrast, result, ...), and of each sense the most
frequent one is a class: nothing in two sentences tells *but* from *however*. Left out are questions, sentences of
little else, and those in which the connective recurs within five words (*и … и*, or a speaker who starts again: half of
it would stay). Classes have at least 20 candidates and are equally frequent in every split. `original` is the second
sentence as it was, `removed` the connective. The published suite took any first word tagged as a conjunction, with the
previous sentence at times from another document. Where an adverb is followed by the verb (German, Dutch, Swedish) its
removal leaves the verb first, which tells adverbs from conjunctions.
"""

import polars as pl

from discoprobe.builders import hashing
from discoprobe.builders.config import Shape
from discoprobe.builders.passages.window_rows import version
from discoprobe.builders.sampling.balance import equal_counts_by_length
from discoprobe.builders.sampling.stratify import cap, strata
from discoprobe.builders.sentences.connectives import Connectives, forms_of, lower, opens_with
from discoprobe.builders.settings import SPLITS
from discoprobe.builders.task import Context, DiscourseTask, Sample
from discoprobe.loaders.corpus import Shard
from discoprobe.loaders.languages.language import LanguageData

LEFT_OVER = 3
"""Fewest words that must follow the connective."""

OPENING = 10
"""First words of a sentence looked at; no connective is longer."""

CLAUSES = ("ccomp", "conj", "parataxis")
"""Relations of a clause that a connective may join in place of the root's: what is said, or comes first (Korean)."""

AGAIN = 5
"""Words after a connective among which it must not recur."""

STRATA = 3
"""Strata of length inside which connectives are equally frequent over the blocks of a large corpus."""

TALK = ("conversation", "podcast", "vlog", "court", "spoken")
"""Genres of documents (GUM) in which connectives are fillers (*so, I was, like, …*)."""

NAMED = 5
"""Connectives that a message names."""

_COMMAS = (",", "،", "、", "，")


def mark(shard: Shard, language: LanguageData) -> pl.DataFrame:
    """Sentences that begin with a connective: ``sent``, ``connective`` and ``trim``, where the rest begins."""
    found = (
        _openings(shard, language)
        .join(_forms(language), on="first", maintain_order="left")
        .filter(
            pl.col("form").list.head("size").list.join(" ") == pl.col("words"),
            pl.col("upos").cast(pl.String).is_in("classes"),
            ~opens_with("form", "unless"),
            ~_again(),
            _joins(),
            ~_governs(),
            pl.col("n") >= pl.col("size") + LEFT_OVER,
        )
        .with_columns(trim=_rest())
        .filter(pl.col("trim").is_not_null())
    )
    longest = found.sort("sent", "size", "connective", descending=[False, True, False])
    return longest.unique("sent", keep="first", maintain_order=True).select("sent", "connective", "trim")


def _openings(shard: Shard, language: LanguageData) -> pl.DataFrame:
    """The first words of each sentence, lower-cased, with their places; questions are left out."""
    question = pl.col("text").str.contains(r"[?？؟;]\s*[\"»”’)]*$")
    statements = shard.sentences.filter(pl.col("aligned") & ~question).select("sent")
    governor = pl.when(pl.col("upos") != "PUNCT").then("head")
    heading = (pl.col("head") == 0) | pl.col("deprel").str.extract(r"^([^:]+)").is_in(CLAUSES)
    clauses = shard.tokens.filter(heading).group_by("sent").agg(clauses="index")
    return (
        shard.tokens.filter(pl.col("index") <= OPENING)
        .join(statements, on="sent", how="semi", maintain_order="left")
        .group_by("sent", maintain_order=True)
        .agg(lower(pl.col("form"), language), "start", governor, pl.col("upos").first(), n=pl.len())
        .join(clauses, on="sent", how="left", maintain_order="left")
        .with_columns(first=pl.col("form").list.first())
    )


def _forms(language: LanguageData) -> pl.DataFrame:
    """One row per form of a connective of sentences, as ``forms_of`` gives."""
    entries = language.section(Connectives).entries
    return forms_of(entry for entry in entries if entry.scope == "sentence").select(
        "first", "size", "words", "classes", "unless", connective="lemma"
    )


def _again() -> pl.Expr:
    """Whether the connective recurs shortly after: the first half of two, or a beginning that is given up."""
    following = pl.col("form").list.slice(pl.col("size"), AGAIN + pl.col("size") - 1).list.join(" ")
    padded = pl.concat_str(pl.lit(" "), following, pl.lit(" "))
    return padded.str.contains(pl.concat_str(pl.lit(" "), "words", pl.lit(" ")), literal=True)


def _joins() -> pl.Expr:
    """Whether a word of the connective depends on the head of a clause, not of a phrase; true without a tree."""
    heads = pl.col("head").list.head("size")
    return pl.col("clauses").is_null() | (heads.list.set_intersection("clauses").list.len() > 0)


def _governs() -> pl.Expr:
    """Whether a word after the connective depends on one of it (Catalan *paral·lelament a la fira*)."""
    size = pl.col("size").cast(pl.Int64)
    own = pl.int_ranges(1, size + 1, dtype=pl.UInt16)
    return pl.col("head").list.slice(size).list.set_intersection(own).list.len() > 0


def _rest() -> pl.Expr:
    """Where the text goes on after the connective and a comma; null inside a multiword token."""
    size = pl.col("size")
    after = pl.col("start").list.get(size, null_on_oob=True)
    comma = pl.col("form").list.get(size, null_on_oob=True).is_in(_COMMAS)
    rest = pl.when(comma).then(pl.col("start").list.get(size + 1, null_on_oob=True)).otherwise(after)
    return pl.when(pl.col("start").list.get(size - 1) != after).then(rest).cast(pl.Int32)


def sample(frame: pl.DataFrame, context: Context) -> Sample:
    """Pairs of neighbours of which the second lost its connective, equally many per connective."""
    every = _pairs(frame)
    pairs = (
        every if context.settings.genres == "all" else every.filter(~pl.col("genre").is_in(TALK).fill_null(value=False))
    )
    frequent = _frequent(pairs, context)
    named = frequent if context.decided else _one_per_sense(frequent, context.language)
    names = context.decided or tuple(sorted(named["connective"].unique()))
    capped = cap(named, context.settings, *context.seed_key)
    chosen = capped if len(names) > 1 else capped.clear()
    if chosen.height and not context.decided:
        chosen = equal_counts_by_length(capped, "connective", *context.seed_key)
    first = chosen["row"].to_numpy() - 1
    shown = version([[row, row + 1] for row in first], [[0, 1]] * len(first), 1)
    chosen = chosen.with_columns(stratum=strata(pl.col("mean_words"), STRATA))
    rows = shown.with_columns(
        chosen["split"], chosen["trim"], chosen["stratum"], pair=pl.lit(None, pl.UInt64),
        row=pl.Series(first, dtype=pl.Int64),
        key=pl.Series(hashing.mix(chosen["key"].to_numpy(), "row", *context.seed_key), dtype=pl.UInt64),
        label=chosen["connective"].replace_strict({name: i for i, name in enumerate(names)}, return_dtype=pl.Int64),
    )  # fmt: skip
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
    counts = pairs.group_by("connective").len().sort(["len", "connective"], descending=[True, False])
    frequent = ", ".join(f"{name} {n}" for name, n in counts.head(NAMED).iter_rows())
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
    senses = {entry.lemma: entry.sense for entry in language.section(Connectives).entries}
    counts = pairs.group_by("connective").len().sort(["len", "connective"], descending=[True, False])
    sense = pl.col("connective").replace_strict(senses, return_dtype=pl.String, default=None)
    first = counts.with_columns(sense=sense).unique("sense", keep="first", maintain_order=True)
    return pairs.join(first.select("connective"), on="connective", how="semi", maintain_order="left")


def _frequent(pairs: pl.DataFrame, context: Context) -> pl.DataFrame:
    """The pairs of connectives with enough candidates, at least one in every split."""
    if context.decided:
        return pairs.filter(pl.col("connective").is_in(context.decided))
    counts = pairs.group_by("connective").agg(n=pl.len(), splits=pl.col("split").n_unique())
    enough = counts.filter(pl.col("n") >= context.settings.min_class, pl.col("splits") == len(SPLITS))
    return pairs.join(enough.select("connective"), on="connective", how="semi", maintain_order="left")


def lacks(language: LanguageData) -> str:
    """Why the task is not available."""
    listed = any(entry.scope == "sentence" for entry in language.section(Connectives).entries)
    return "" if listed else f"no connectives are listed for {language.name}; see docs/adding_a_language.md"


TASK = DiscourseTask(
    shape=Shape.PAIR,
    sample=sample,
    mark=mark,
    lacks=lacks,
    needs=frozenset({"documents", "upos"}),
    reasons={
        "talk": "in talk a connective may be a filler (`--set genres=all` takes these documents)",
        "same-sense": "another connective of the same sense is more frequent",
    },
    version=3,
)
