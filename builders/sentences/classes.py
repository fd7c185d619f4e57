"""Classes that the corpus decides on: which of many possible ones a config has, and their rows.

Balanced classes have as many rows as the rarest has, so another class can cost most of the rows. A chooser, such as
``neighbouring_classes``, gets the usable candidates and returns the
rows of as many classes as leave enough.

Words as labels come last: lemmas such that a sentence has exactly one of them, exactly once. The more lemmas there are,
the fewer sentences have only one of them. So a set is searched in which each lemma is the only one in enough sentences
of every split.
"""

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import polars as pl
from msgspec.structs import replace

from discoprobe.builders.sampling.balance import cap, equal_counts
from discoprobe.builders.sentences.candidates import balance_labels, if_enough, unedited, usable_of, with_label_indices
from discoprobe.builders.sentences.frequency_filter import rank_lemmas
from discoprobe.builders.sentences.trees import Trees
from discoprobe.builders.settings import MIN_ROWS, SPLITS
from discoprobe.builders.task import Context, ProbingTask, Sample
from discoprobe.loaders.corpus import exploded

Names = tuple[str, ...]

ENOUGH = sum(MIN_ROWS) + 10
"""Rows from which on more neighbouring classes are better than more rows: those of a config, in whole sets of five."""

NUMBERS = (5, 4, 3, 2)
"""How many neighbouring classes a config may have."""


Choose = Callable[[pl.DataFrame, Context], Sample]
"""From usable candidates the rows of the classes, and their names as labels; or the reason why there are none."""


def class_task(
    select: Callable[[Trees, Context], pl.DataFrame], choose: Choose, *, needs: Iterable[str], each: bool = False,
    **more: Any,
) -> ProbingTask:  # fmt: skip
    """A task whose classes the corpus decides on.

    Args:
        select: from the trees of a shard and the context its candidates.
        choose: from the usable candidates the rows of the classes, and their names as labels.
        needs: layers of annotation.
        each: whether there is no config if a class has fewer rows than the setting ``min_class``.
        more: further fields of ``ProbingTask``.
    """
    sample = functools.partial(balanced_classes, choose=choose, each=each)
    return ProbingTask(select=select, sample=sample, needs=frozenset(needs), **more)


def unlabelled(trees: Trees, _context: Context) -> pl.DataFrame:
    """Candidates: every sentence; a chooser gives the labels."""
    return trees.shard.sentences.select("sent", label=pl.lit(None, pl.String))


def balanced_classes(frame: pl.DataFrame, context: Context, choose: Choose, *, each: bool = False) -> Sample:
    """A sample with the classes, and their rows, that a function finds in the usable candidates.

    With ``each`` there is none if a class has fewer rows than ``min_class``.
    """
    usable = usable_of(frame, context)
    chosen = choose(usable, context)
    context.drops.keep(usable, chosen.rows, "unbalanced")
    sample = replace(chosen, rows=unedited(chosen.rows), candidates=frame.height)
    return if_enough(sample, sample.labels, context) if each and sample.labels else sample


def equally_many(frame: pl.DataFrame, names: tuple[str, ...], context: Context) -> pl.DataFrame:
    """Equally many rows of each label in every split, unmatched, within the set sizes; ``label`` is the index."""
    numbered = with_label_indices(frame, names)
    if context.settings.match and not context.decided:
        numbered = equal_counts(numbered, "label", ["split"], *context.seed_key)
    return cap(numbered, context.settings, *context.seed_key, by=["label"])


def neighbouring_classes(usable: pl.DataFrame, context: Context, *, usual: Names, called: str) -> Sample:
    """Two to five neighbours of the labels of the task, which have an order, matched inside every ``cell``.

    The largest number of classes that leaves ``ENOUGH`` matched rows is used. If none does, the classes with the most
    rows are used, if each class has ``min_class`` rows; for this, rows without a match are used, too, if necessary.

    Args:
        usable: candidates with ``label`` (name) and ``cell``.
        context: settings and labels of the task.
        usual: classes that are preferred.
        called: what the labels are, for the reason.

    Raises:
        TypeError: the task has no labels (an error of the author of the task).
    """
    if not context.labels:
        raise TypeError(f"{context.task}: neighbouring_classes needs the labels of the task, in their order")

    @functools.cache
    def rows_of(names: Names, *, strict: bool = True) -> pl.DataFrame:
        labelled = with_label_indices(usable.filter(pl.col("label").is_in(names)), context.labels)
        return balance_labels(labelled, context, strict=strict)

    if context.decided:
        return Sample(rows_of(context.decided), context.decided)
    # For all neighbouring labels, how many candidates of each there are if all cells have equally many.
    cells = usable.group_by("cell", "label").len().pivot("label", index="cell", values="len").fill_null(0)
    labels, least = context.labels, context.settings.min_class
    neighbours = [labels[first : first + n] for n in NUMBERS for first in range(len(labels) - n + 1)]
    sizes = {
        names: int(cells.select(pl.min_horizontal(names)).sum().item())
        for names in neighbours
        if set(names) <= set(cells.columns)
    }
    sets = [[names for names in sizes if len(names) == number] for number in NUMBERS]
    for tried in ([usual], *sets):
        enough = [names for names in tried if sizes.get(names, 0) * len(names) >= ENOUGH]
        names = max(enough, key=lambda names: rows_of(names).height, default=())
        if names and rows_of(names).height >= ENOUGH:
            return Sample(rows_of(names), names)
    likely = [max(tried, key=sizes.__getitem__) for tried in sets if tried]
    for strict in (True, False):
        rows = {names: rows_of(names, strict=strict) for names in likely}
        names = max(rows, key=lambda names: rows[names].height, default=())
        if names and _fill_all_splits(rows[names], least * len(names)):
            return Sample(rows[names], names)
    reason = f"fewer than {NUMBERS[-1]} neighbouring {called} have {least} sentences of similar lengths"
    return Sample(usable.clear(), reason=reason)


def _fill_all_splits(rows: pl.DataFrame, least: int) -> bool:
    """Whether rows make a config: every split has some, and all together have ``least``."""
    return rows["split"].n_unique() == len(SPLITS) and rows.height >= least


FEWEST_EXCLUSIVE_WORDS = 10
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
    if context.decided:  # ranks are those among the lemmas of the first blocks
        possible = pl.Series(context.decided)
    else:
        listed = rank_lemmas(_explode_words(frame)["lemma"], context.frequencies)
        possible = listed.filter(pl.col("rank").is_between(*ranks))["lemma"]

    def choose(usable: pl.DataFrame, context: Context) -> Sample:
        words = _explode_words(usable).filter(pl.col("lemma").is_in(possible.implode()))
        least = {split: max(1, round(share * context.settings.min_class)) for split, share in LEAST.items()}
        names = context.decided or exclusive_lemmas(words, least, most)
        if len(names) < FEWEST_EXCLUSIVE_WORDS:
            reason = (
                f"{len(names)} lemmas of rank {ranks[0]:,} to {ranks[1]:,} have {least['train']} sentences in train "
                f"and {least['test']} in the other splits; {FEWEST_EXCLUSIVE_WORDS} are needed"
            )
            return Sample(usable.clear(), reason=reason)
        facts = {f"target_{fact}": fact for fact in ("form", "lemma", "upos", "start", "end")}
        targets = _single_words(words, pl.Series(names)).select("row", label="lemma", **facts)
        labelled = usable.drop(targets.columns[1:], strict=False).join(targets, on="row", maintain_order="left")
        return Sample(equally_many(labelled, names, context), names)

    return balanced_classes(frame, context, choose)


def _explode_words(frame: pl.DataFrame) -> pl.DataFrame:
    """One row per word: ``row`` of its candidate, ``split`` and what ``content_words`` says of it."""
    return exploded(frame.select("row", "split", "words"), "words").unnest("words")


def exclusive_lemmas(words: pl.DataFrame, least: Mapping[str, int], most: int) -> tuple[str, ...]:
    """A large set of lemmas, at most ``most``, each the only one in ``least`` sentences of every split.

    Those that could never have enough go first. A lemma left out frees sentences for the others, so of those that have
    too few beside the others a tenth goes at a time, the rarest first, until none has too few.
    """
    names = _count_sentences(words.filter("target"), words["lemma"].unique(), least).filter("enough")["lemma"]
    while names.len():
        counts = _count_sentences(_single_words(words, names), names, least)
        lacking = counts.filter(~pl.col("enough"))
        if lacking.height:
            names = counts.head(names.len() - max(1, lacking.height // 10))["lemma"]
        elif names.len() > most:
            names = counts.head(most)["lemma"]
        else:
            break
    return tuple(names.sort())


def _count_sentences(single: pl.DataFrame, names: pl.Series, least: Mapping[str, int]) -> pl.DataFrame:
    """The lemmas, those with ``enough`` sentences in every split first, then by their number in train."""
    counts = single.group_by("lemma").agg([(pl.col("split") == split).sum().alias(split) for split in SPLITS])
    every = names.to_frame("lemma").join(counts, on="lemma", how="left").with_columns(pl.col(SPLITS).fill_null(0))
    enough = pl.all_horizontal([pl.col(split) >= n for split, n in least.items()])
    return every.with_columns(enough=enough).sort(["enough", "train", "lemma"], descending=[True, True, False])


def _single_words(words: pl.DataFrame, names: pl.Series) -> pl.DataFrame:
    """The words among ``names`` that are the only such word of their sentence and may be targets."""
    among = words.filter(pl.col("lemma").is_in(names.implode()))
    return among.filter(pl.len().over("row") == 1).filter("target")
