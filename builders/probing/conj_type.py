"""Are the two clauses coordinated or is one subordinate? (RuSentEval ConjType)

The sentence has exactly one clause beside the main one: a `conj` of the root joined by a coordinating conjunction, or an
`advcl`, `ccomp` or `acl` with a subordinating one. The conjunction, with the words
fixed to it and the comma (dash, semicolon) before it, is replaced by an ellipsis (` …`); `original` keeps the sentence
and `edit` the place. With the conjunction in sight the task is a look-up: RuSentEval's own string baseline reaches .97;
with the comma in sight it nearly is one where every subordinate clause has a comma (German, Russian). An ellipsis and
not a gap, because without a conjunction English subordinate clauses are as good as before and coordinate ones are not,
and because the place of the join would be lost; not a mask token, because each model has its own and `____` stands for
damaged text. Sentences with an ellipsis of their own are left out. The conjunction is never the first word (only
subordinate clauses come first); labels are matched on length and on the number of commas and dashes that are left.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from discoprobe.builders.clauses import clause_words, conjunction_spans, links, marks
from discoprobe.builders.config import Shape
from discoprobe.builders.probes import balanced, if_enough
from discoprobe.builders.task import Arranged, Context, Edit, Task

if TYPE_CHECKING:
    from collections.abc import Mapping

    from discoprobe.builders.tree import Trees
    from discoprobe.loaders.language import ConjType

LABELS = ("coordination", "subordination")
ELLIPSIS = "…"
_JOINT = r"[\s,،、，;；؛:：–—―-]+$"


def select(trees: Trees, context: Context) -> pl.DataFrame:
    """Sentences of two clauses joined by a conjunction that can be masked."""
    words = clause_words(trees)
    joined = links(words).filter(pl.len().over("sent") == 1).with_columns(label=_kind()).drop_nulls("label")
    conjunction = pl.when(pl.col("label") == LABELS[0]).then("cc").otherwise("mark")
    found = joined.select("sent", "label", row=conjunction)
    spans = conjunction_spans(words, found["row"])
    named = found.join(spans, on="row").join(_allowed(words, context.language.conj_type), on="row", maintain_order="left")
    return _in_text(named, trees)


def _kind() -> pl.Expr:
    coordinated = (pl.col("rel") == "conj") & (pl.col("depth") == 1) & (pl.col("n_cc") == 1) & (pl.col("n_mark") == 0)
    subordinate = pl.col("rel").is_in(["advcl", "ccomp", "acl"]) & (pl.col("n_mark") == 1) & (pl.col("n_cc") == 0)
    return pl.when(coordinated).then(pl.lit(LABELS[0])).when(subordinate).then(pl.lit(LABELS[1]))


def _allowed(words: pl.DataFrame, rule: ConjType) -> pl.DataFrame:
    """Rows of the conjunctions that the language's data admit."""
    lemma = pl.coalesce("lemma", "form").str.to_lowercase()
    kept = ~lemma.is_in(sorted(rule.exclude))
    for upos, listed in (("CCONJ", rule.cconj), ("SCONJ", rule.sconj)):
        if listed:
            kept &= (pl.col("upos") != upos) | lemma.is_in(sorted(listed))
    return words.filter(kept).select("row")


def _in_text(named: pl.DataFrame, trees: Trees) -> pl.DataFrame:
    """Candidates whose conjunction stands inside the text, with what they are matched on."""
    text = pl.col("text")
    before = text.str.slice(0, pl.col("start")).str.replace(_JOINT, "")
    return (
        named.join(trees.shard.sentences.select("sent", "text"), on="sent", maintain_order="left")
        .filter(before.str.contains(r"[\p{L}\p{N}]"), ~text.str.contains(r"…|\.\.\."))
        .with_columns(before=before, start=before.str.len_chars(), conjunction=pl.col("start"))
        .with_columns(cell=marks(pl.concat_str("before", text.str.slice(pl.col("end")))))
        .select("sent", "label", "cell", plan=pl.struct("start", "conjunction", "end"))
        .sort("sent")
    )


def mask(text: str, plan: Mapping[str, Any]) -> Edit:
    """An ellipsis in place of the conjunction and what stands between it and the word before; a space before it stays."""
    joint = text[plan["start"] : plan["conjunction"]]
    space = " " if any(map(str.isspace, joint)) else ""
    return Edit(plan["start"], plan["end"], space + ELLIPSIS)


def arrange(frame: pl.DataFrame, context: Context) -> Arranged:
    """Equally many of both labels in every cell; every text is masked."""
    arranged = if_enough(balanced(frame, context), LABELS, context)
    return replace(arranged, rows=arranged.rows.with_columns(edited=pl.lit(value=True)))


TASK = Task(
    labels=LABELS, shape=Shape.SENTENCE, arrange=arrange, select=select, edit=mask, split_by="cluster",
    needs=frozenset({"upos", "deps"}),
)  # fmt: skip
