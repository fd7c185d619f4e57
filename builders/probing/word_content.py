"""Which of K words the sentence contains (SentEval, X-Probe, RuSentEval WC).

The label is a lemma (as in RuSentEval; SentEval uses word forms). The K lemmas have the frequency ranks 1,500 to 3,000
among the lemmas of the corpora. Frequencies are those of wordfreq if it has a list for the language that contains these
lemmas, otherwise those of the corpora. A lemma has at least four letters (two in a script without spaces) and occurs as
noun, verb, adjective or adverb. A sentence contains exactly one of the K lemmas, exactly once, and `target` names it. K
is 1,000, or fewer if the corpus has not enough sentences: each lemma needs ten sentences in train and three in each
other split (half of the setting `min_class`, and .15 of it). All lemmas have equally many sentences. A search for the
word solves the task by definition (X-Probe 1.00): the task asks whether a representation keeps content words.
"""

import functools
from collections.abc import Mapping

import polars as pl

from discoprobe.builders.sentences.candidates import Classes, balanced_classes, equally_many
from discoprobe.builders.sentences.frequency_filter import Frequencies
from discoprobe.builders.sentences.trees import Trees
from discoprobe.builders.settings import SPLITS
from discoprobe.builders.task import Context, ProbingTask, Sample

RANKS = (1500, 3000)
MOST = 1000
FEWEST = 10
"""With fewer lemmas the task says nothing of content words in general."""
LEAST = {"train": 0.5, "validation": 0.15, "test": 0.15}
"""Sentences of each lemma, as a share of ``min_class``: 10, 3 and 3 of the default 20."""
OPEN = ("NOUN", "VERB", "ADJ", "ADV")
LETTERS = 4
LETTERS_UNSPACED = 2
KNOWN = 0.5
"""Share of a corpus's distinct lemmas that a list must know to rank them."""


def select(trees: Trees, _context: Context) -> pl.DataFrame:
    """Every sentence that has a possible target, and its words with a letter: lemma, place, whether it may be one."""
    letters = LETTERS if trees.spaced else LETTERS_UNSPACED
    long = pl.col("lemma").str.contains(rf"^\p{{L}}{{{letters},}}$")
    target = pl.col("upos").is_in(OPEN) & pl.col("mwt").is_null() & long
    word = pl.struct("lemma", "form", pl.col("upos").cast(pl.String), "start", "end", target=target)
    spoken = trees.words.filter(pl.col("lemma").str.contains(r"\p{L}"), pl.col("upos") != "PUNCT")
    words = spoken.group_by("sent", maintain_order=True).agg(words=word, some=target.any())
    return words.filter("some").select("sent", "words", label=pl.lit(None, pl.String))


def sample(frame: pl.DataFrame, context: Context) -> Sample:
    """Equally many sentences of each lemma in every split."""
    listed = ranked(_words(frame)["lemma"], context.frequencies)
    inside = listed.filter(pl.col("rank").is_between(*RANKS))["lemma"]
    return balanced_classes(frame, context, functools.partial(lemmas, inside=inside))


def lemmas(usable: pl.DataFrame, context: Context, *, inside: pl.Series) -> Classes:
    """The lemmas among ``inside`` that are classes, and as many rows of each."""
    words = _words(usable).filter(pl.col("lemma").is_in(inside.implode()))
    least = {split: max(1, round(share * context.settings.min_class)) for split, share in LEAST.items()}
    names = context.decided or chosen_lemmas(words, least)
    if len(names) >= FEWEST:
        return Classes(names, equally_many(_with_target(usable, _singles(words, pl.Series(names))), names, context))
    reason = (
        f"{len(names)} lemmas of rank {RANKS[0]:,} to {RANKS[1]:,} have {least['train']} sentences in train and "
        f"{least['test']} in the other splits; {FEWEST} are needed"
    )
    return Classes((), usable.clear(), reason)


def _words(frame: pl.DataFrame) -> pl.DataFrame:
    """One row per word: ``row`` of its candidate, ``split`` and what ``select`` says of it."""
    return frame.select("row", "split", "words").explode("words", empty_as_null=False).unnest("words")


def ranked(lemmas: pl.Series, frequencies: Frequencies | None) -> pl.DataFrame:
    """The distinct lemmas of running words, each with its ``rank`` by frequency, 1 for the most frequent.

    The frequencies are those of the list, or the corpora's own where the list knows less than ``KNOWN`` of the lemmas.
    """
    counts = lemmas.rename("lemma").value_counts(name="n").sort("lemma")
    ipm = counts["n"].cast(pl.Float64)
    if frequencies:
        listed = frequencies.ipm(counts["lemma"])
        known = counts.select(listed.alias("ipm") > 0).mean().item()
        ipm = listed if known >= KNOWN else ipm
    return counts.select("lemma", ipm=ipm).sort(["ipm", "lemma"], descending=[True, False]).with_row_index("rank", 1)


def chosen_lemmas(found: pl.DataFrame, least: Mapping[str, int]) -> tuple[str, ...]:
    """A large set of lemmas, at most ``MOST``, each the only one in ``least`` sentences of every split.

    Those that could never have enough go first. A lemma left out frees sentences for the others, so of those that have
    too few beside the others a tenth goes at a time, the rarest first, until none has too few.
    """
    names = _counted(found.filter("target"), found["lemma"].unique(), least).filter("enough")["lemma"]
    while names.len():
        counts = _counted(_singles(found, names), names, least)
        lacking = counts.filter(~pl.col("enough"))
        if lacking.height:
            names = counts.head(names.len() - max(1, lacking.height // 10))["lemma"]
        elif names.len() > MOST:
            names = counts.head(MOST)["lemma"]
        else:
            break
    return tuple(names.sort())


def _counted(single: pl.DataFrame, names: pl.Series, least: Mapping[str, int]) -> pl.DataFrame:
    """The lemmas, those with ``enough`` sentences in every split first, then by their number in train."""
    counts = single.group_by("lemma").agg([(pl.col("split") == split).sum().alias(split) for split in SPLITS])
    every = names.to_frame("lemma").join(counts, on="lemma", how="left").with_columns(pl.col(SPLITS).fill_null(0))
    enough = pl.all_horizontal([pl.col(split) >= n for split, n in least.items()])
    return every.with_columns(enough=enough).sort(["enough", "train", "lemma"], descending=[True, True, False])


def _singles(found: pl.DataFrame, names: pl.Series) -> pl.DataFrame:
    """The words among ``names`` that are the only such word of their sentence and may be targets."""
    among = found.filter(pl.col("lemma").is_in(names.implode()))
    return among.filter(pl.len().over("row") == 1).filter("target")


def _with_target(usable: pl.DataFrame, single: pl.DataFrame) -> pl.DataFrame:
    """The candidates of these words, labelled with the lemma, the word being the target."""
    facts = ("form", "lemma", "upos", "start", "end")
    targets = single.select("row", label="lemma", **{f"target_{fact}": fact for fact in facts})
    without = usable.drop(targets.columns[1:], strict=False)
    return without.join(targets, on="row", maintain_order="left")


TASK = ProbingTask(select=select, sample=sample, needs=frozenset({"lemma", "upos"}))
