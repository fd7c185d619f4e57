"""Whether two words have been swapped inside a phrase whose order is fixed (RuSentEval NShift).

Like `bigram_shift`, but only pairs whose order the language fixes are swapped: adposition and noun, auxiliary and verb,
determiner, numeral or particle and head, as the language's data license (`ngram_shift.patterns`, in places narrowed to
some lemmas). Free word order makes other swaps grammatical. One of the two depends on the other. RuSentEval chose its
patterns with TF-IDF n-grams and did not publish them; here they are data. A pair before or after punctuation is not
swapped: an adposition before a full stop would give the label away; nor are words that the language writes otherwise
when they meet (French *de* before a vowel, *de le*; English *a*).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from discoprobe.builders.config import Shape
from discoprobe.builders.swaps import adjacent_words, distinct_twins, one_of_each, swap
from discoprobe.builders.task import Context, Task

if TYPE_CHECKING:
    from discoprobe.builders.tree import Trees
    from discoprobe.loaders.language import LanguageData


def lacks(language: LanguageData) -> str | None:
    """Why the task is not offered: no pair of words is known to have a fixed order."""
    return (
        None if language.ngram_shift.patterns else "no pairs of words with a fixed order are listed for this language"
    )


def select(trees: Trees, context: Context) -> pl.DataFrame:
    """One licensed pair of adjacent words per sentence, chosen by hash."""
    return one_of_each(licensed(adjacent_words(trees, context), context.language), trees, context)


def licensed(pairs: pl.DataFrame, language: LanguageData) -> pl.DataFrame:
    """The pairs inside a phrase that match a pattern of the language, with lemmas that its parts of speech may have."""
    patterns = [f"{left} {right}" for left, right in language.ngram_shift.patterns]
    return pairs.filter(
        "inside",
        pl.concat_str("left_upos", "right_upos", separator=" ").is_in(patterns),
        *(
            _allowed(side, upos, lemmas)
            for side in ("left", "right")
            for upos, lemmas in language.ngram_shift.lemmas.items()
        ),
    )


def _allowed(side: str, upos: str, lemmas: frozenset[str]) -> pl.Expr:
    listed = pl.col(f"{side}_lemma").str.to_lowercase().is_in(sorted(lemmas))
    return (pl.col(f"{side}_upos") != upos) | listed.fill_null(value=False)


TASK = Task(
    labels=("original", "shifted"), shape=Shape.SENTENCE, arrange=distinct_twins, select=select, edit=swap,
    split_by="cluster", needs=frozenset({"upos", "deps"}), lacks=lacks, perturbation=True, pairs=True,
)  # fmt: skip
