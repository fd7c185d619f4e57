"""Whether two words have been swapped inside a phrase whose order is fixed (RuSentEval NShift).

Like `bigram_shift`, but only pairs whose order is fixed by the grammar are swapped: adposition and noun, auxiliary and
verb, determiner, numeral or particle and head. The data of the language list these patterns (`ngram_shift.patterns`,
some of them for certain lemmas only). Other swaps may be grammatical where word order is free. One of the two words
depends on the other. RuSentEval chose its patterns with TF-IDF n-grams and did not publish them; here they are data.

A pair before or after punctuation is not swapped, because an adposition before a full stop would tell the label. Words
that the language writes in another way when they meet are not swapped either (French *de* before a vowel, *de le*;
English *a*). In half of the pairs the bigrams of the original are more frequent in the corpora than those of the swap,
in the other half they are less frequent. Two words that are rarely adjacent in the corpora become adjacent in few swaps
only (without this rule Spanish *la de*: 21 of 474). The words beside function words still reveal some of the swaps, so
compare a model with the audit's `words` on pairs.
"""

from typing import Annotated, ClassVar

import msgspec
import polars as pl

from discoprobe.builders.sentences.swaps import swap_task
from discoprobe.builders.sentences.trees import Trees
from discoprobe.builders.task import Context
from discoprobe.loaders.languages.language import UPOS, LanguageData, LanguageSection, Upos

UposPair = Annotated[str, msgspec.Meta(pattern=f"^({'|'.join(UPOS)}) ({'|'.join(UPOS)})$")]


class NgramShiftRules(LanguageSection, frozen=True):
    """The section ``[ngram_shift]``: pairs of words whose swap is ungrammatical in nearly all contexts.

    Attributes:
        patterns: two parts of speech in the order of the text (``ADP NOUN``).
        lemmas: narrows a part of speech, in whichever pair it stands, to some lemmas (Russian PART: *не* alone).
    """

    section: ClassVar[str] = "ngram_shift"
    patterns: tuple[UposPair, ...] = ()
    lemmas: dict[Upos, frozenset[str]] = msgspec.field(default_factory=dict)


def lacks(language: LanguageData) -> str:
    """Why the task is not available: no pair of words is known to have a fixed order."""
    listed = language.section(NgramShiftRules).patterns
    return "" if listed else "no pairs of words with a fixed order are listed for this language"


def licensed(pairs: pl.DataFrame, _trees: Trees, context: Context) -> pl.DataFrame:
    """The pairs inside a phrase that match a pattern of the language, with lemmas that its parts of speech may have."""
    rule = context.language.section(NgramShiftRules)
    return pairs.filter(
        pl.concat_str("left_upos", "right_upos", separator=" ").is_in(rule.patterns),
        *(_allowed(side, upos, lemmas) for side in ("left", "right") for upos, lemmas in rule.lemmas.items()),
    )


def _allowed(side: str, upos: str, lemmas: frozenset[str]) -> pl.Expr:
    listed = pl.col(f"{side}_lemma").str.to_lowercase().is_in(sorted(lemmas))
    return (pl.col(f"{side}_upos") != upos) | listed.fill_null(value=False)


TASK = swap_task(licensed, lacks)
