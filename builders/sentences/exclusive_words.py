"""Words as labels: lemmas such that a sentence has exactly one of them, exactly once.

The more lemmas there are, the fewer sentences have only one of them. So a set is searched in which each lemma is the
only one in enough sentences of every split.
"""

import functools
from collections.abc import Mapping

import polars as pl

from discoprobe.builders.sentences.decided_classes import Classes, balanced_classes, equally_many
from discoprobe.builders.sentences.frequency_filter import ranked
from discoprobe.builders.sentences.trees import Trees
from discoprobe.builders.settings import SPLITS
from discoprobe.builders.task import Context, Sample

FEWEST = 10
"""With fewer lemmas a task says nothing of content words in general."""
LEAST = {"train": 0.5, "validation": 0.15, "test": 0.15}
"""Sentences of each lemma, as a share of ``min_class``: 10, 3 and 3 of the default 20."""
OPEN = ("NOUN", "VERB", "ADJ", "ADV")
LETTERS = 4
LETTERS_UNSPACED = 2


def content_words(trees: Trees, _context: Context) -> pl.DataFrame:
    """Every sentence that has a possible target, and its words with a letter: lemma, place, whether it may be one."""
    letters = LETTERS if trees.spaced else LETTERS_UNSPACED
    long = pl.col("lemma").str.contains(rf"^\p{{L}}{{{letters},}}$")
    target = pl.col("upos").is_in(OPEN) & pl.col("mwt").is_null() & long
    word = pl.struct("lemma", "form", pl.col("upos").cast(pl.String), "start", "end", target=target)
    spoken = trees.words.filter(pl.col("lemma").str.contains(r"\p{L}"), pl.col("upos") != "PUNCT")
    words = spoken.group_by("sent", maintain_order=True).agg(words=word, some=target.any())
    return words.filter("some").select("sent", "words", label=pl.lit(None, pl.String))


def word_of_sentence(frame: pl.DataFrame, context: Context, *, ranks: tuple[int, int], most: int) -> Sample:
    """Equally many sentences of each lemma in every split.

    Args:
        frame: what ``content_words`` gave, of all shards.
        context: settings, and the frequency list.
        ranks: first and last rank by frequency, among the lemmas of the corpora, of lemmas that are labels.
        most: largest number of lemmas.
    """
    listed = ranked(_words(frame)["lemma"], context.frequencies)
    possible = listed.filter(pl.col("rank").is_between(*ranks))["lemma"]
    return balanced_classes(frame, context, functools.partial(_lemmas, possible=possible, ranks=ranks, most=most))


def _lemmas(
    usable: pl.DataFrame, context: Context, *, possible: pl.Series, ranks: tuple[int, int], most: int
) -> Classes:
    """The classes among the possible lemmas, and as many rows of each."""
    words = _words(usable).filter(pl.col("lemma").is_in(possible.implode()))
    least = {split: max(1, round(share * context.settings.min_class)) for split, share in LEAST.items()}
    names = context.decided or exclusive_lemmas(words, least, most)
    if len(names) >= FEWEST:
        return Classes(names, equally_many(_with_target(usable, _singles(words, pl.Series(names))), names, context))
    reason = (
        f"{len(names)} lemmas of rank {ranks[0]:,} to {ranks[1]:,} have {least['train']} sentences in train and "
        f"{least['test']} in the other splits; {FEWEST} are needed"
    )
    return Classes((), usable.clear(), reason)


def _words(frame: pl.DataFrame) -> pl.DataFrame:
    """One row per word: ``row`` of its candidate, ``split`` and what ``content_words`` says of it."""
    return frame.select("row", "split", "words").explode("words", empty_as_null=False).unnest("words")


def exclusive_lemmas(found: pl.DataFrame, least: Mapping[str, int], most: int) -> tuple[str, ...]:
    """A large set of lemmas, at most ``most``, each the only one in ``least`` sentences of every split.

    Those that could never have enough go first. A lemma left out frees sentences for the others, so of those that have
    too few beside the others a tenth goes at a time, the rarest first, until none has too few.
    """
    names = _counted(found.filter("target"), found["lemma"].unique(), least).filter("enough")["lemma"]
    while names.len():
        counts = _counted(_singles(found, names), names, least)
        lacking = counts.filter(~pl.col("enough"))
        if lacking.height:
            names = counts.head(names.len() - max(1, lacking.height // 10))["lemma"]
        elif names.len() > most:
            names = counts.head(most)["lemma"]
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
