"""Whether a verb is left out in a coordinate clause (RuSentEval Gapping, AGRR-2019).

`gapped`: the predicate of a coordinated clause is elided (*Ann drinks tea and Bob coffee*). In the treebank one of the
remaining phrases (remnants) is promoted to the place of the predicate, and another one is attached to it as `orphan`.
An adverb, particle, conjunction or verb does not count as a remnant, and an adposition does not count as promoted:
nothing is left out of Czech *díky bohu za to* (thank God for that), however a treebank annotates it. A comparison
(*more than Bob*) is no coordinate clause. `none`: a coordination of clauses, each with its own subject, in a sentence
without an `orphan`. The first clause has a verb; otherwise no verb can be left out (Russian *глубина – 2 метра, ширина
– метр*). In RuSentEval's set the labels are 64 to 36 % and not matched, and the rule "contains a dash" reaches .85.
Here labels are matched on length, on the number of commas and dashes, and on the lemma of the coordinating conjunction.
"""

from typing import ClassVar

import polars as pl

from discoprobe.builders.sentences.candidates import balanced
from discoprobe.builders.sentences.clauses import LIGHT, VERBS, clause_words, marks, with_heads
from discoprobe.builders.sentences.trees import Trees
from discoprobe.builders.task import Context, ProbingTask
from discoprobe.loaders.languages.language import Availability


class GappingRules(Availability, frozen=True):
    """The section ``[gapping]``: whether the task is offered."""

    section: ClassVar[str] = "gapping"


def select(trees: Trees, _context: Context) -> pl.DataFrame:
    """Sentences with a gapped clause, and sentences with a coordination of clauses and nothing gapped."""
    words = with_heads(trees.once(clause_words))
    remnant = ~pl.col("upos").is_in(("ADP", *LIGHT, *VERBS))
    orphaned = (pl.col("rel") == "orphan").any().over("sent")
    gapped = pl.when(pl.col("orphan") & remnant).then(pl.lit("gapped"))
    whole = pl.when("subject", "head_subject", ~orphaned).then(pl.lit("none"))
    verbal = (pl.col("rel") == "conj") & pl.col("head_upos").is_in(VERBS)
    found = words.with_columns(label=pl.when(verbal).then(pl.coalesce(gapped, whole))).drop_nulls("label")
    conjunctions = words.select(cc="row", conjunction=pl.coalesce("lemma", "form").str.to_lowercase())
    cell = pl.concat_str(marks(pl.col("text")), pl.col("conjunction").fill_null(""), separator="|")
    first = found.unique("sent", keep="first", maintain_order=True)
    joined = trees.with_text(first).join(conjunctions, on="cc", how="left", maintain_order="left")
    return joined.select("sent", "label", cell=cell)


TASK = ProbingTask(
    labels=("none", "gapped"),
    select=select,
    sample=balanced,
    lacks=GappingRules.lacking,
    needs=frozenset({"upos", "deps"}),
    version=4,
)
