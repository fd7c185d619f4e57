"""Whether a verb is left out in a coordinate clause (RuSentEval Gapping, AGRR-2019).

`gapped`: a clause is coordinated and its predicate elided, so that one remnant is promoted and another hangs on it as
`orphan` (*Ann drinks tea and Bob coffee*). An adverb, particle, conjunction or verb is no remnant, and no adposition is
promoted: nothing is left out of Czech *díky bohu za to* (thank God for that), whatever a treebank marks. A
comparison (*more than Bob*) is no coordinate clause. `none`: a coordination of clauses, each with a subject of its own,
without an `orphan` in the sentence. The first clause has a verb: else none can be left out (Russian *глубина – 2 метра,
ширина – метр*). In RuSentEval's set, 64 to 36 % and unmatched, "contains a dash" gives .85; here labels are matched on
length, on the number of commas and dashes and on the lemma of the coordinating conjunction.
"""

from typing import ClassVar

import polars as pl

from discoprobe.builders.sentences.candidates import balanced
from discoprobe.builders.sentences.clauses import LIGHT, VERBS, clause_words, marks, with_heads
from discoprobe.builders.sentences.trees import Trees
from discoprobe.builders.task import Context, ProbingTask
from discoprobe.loaders.languages.language import Availability, LanguageData

LABELS = ("none", "gapped")


class GappingRules(Availability, frozen=True):
    """The section ``[gapping]``: whether the task is offered."""

    section: ClassVar[str] = "gapping"


def lacks(language: LanguageData) -> str:
    """Why the task is not available."""
    return language.section(GappingRules).obstacle


def select(trees: Trees, context: Context) -> pl.DataFrame:
    """Sentences with a gapped clause, and sentences with a coordination of clauses and nothing gapped."""
    del context
    words = with_heads(trees.once(clause_words))
    orphaned = words.filter(pl.col("rel") == "orphan").select("sent").unique()
    verbs = words.filter(pl.col("upos").is_in(VERBS))["row"]
    joined = words.filter(pl.col("rel") == "conj", pl.col("head_row").is_in(verbs.implode()))
    remnant = ~pl.col("upos").is_in(("ADP", *LIGHT, *VERBS))
    gapped = joined.filter("orphan", remnant.fill_null(value=False)).with_columns(label=pl.lit(LABELS[1]))
    whole = joined.filter("subject", "head_subject").join(orphaned, on="sent", how="anti", maintain_order="left")
    both = pl.concat([gapped, whole.with_columns(label=pl.lit(LABELS[0]))], how="diagonal").sort("sent", "index")
    return _matched(both.unique("sent", keep="first", maintain_order=True), words, trees)


def _matched(found: pl.DataFrame, words: pl.DataFrame, trees: Trees) -> pl.DataFrame:
    """Candidates with what they are matched on."""
    conjunctions = words.select(cc="row", conjunction=pl.coalesce("lemma", "form").str.to_lowercase())
    cell = pl.concat_str(marks(pl.col("text")), pl.col("conjunction").fill_null(""), separator="|")
    return (
        found.join(conjunctions, on="cc", how="left", maintain_order="left")
        .join(trees.shard.sentences.select("sent", "text"), on="sent", maintain_order="left")
        .select("sent", "label", cell=cell)
    )


TASK = ProbingTask(
    labels=LABELS, select=select, sample=balanced, lacks=lacks, needs=frozenset({"upos", "deps"}), version=4
)
