"""Whether two clauses are coordinated or one is subordinate (RuSentEval ConjType).

The sentence has exactly one clause that a conjunction joins to another: a `conj` of a clause with a coordinating one,
or an `advcl`, `ccomp`, `csubj` or `acl` with a subordinating one. It has a predicate of its own, no participle,
infinitive or gerund (*despite having left*; *as tall as Ann*), and is no relative clause. What is no such clause may
stand beside it, and so may clauses without a conjunction. The conjunction is one that the language's data admit (none
of comparison: *than*), and no question or relative word follows it (*on how …*). With the words fixed to it and the
comma (dash, semicolon) before it, it is replaced by an ellipsis (` …`); `original` keeps the sentence and `edit` the
place. With the conjunction in sight the task is a look-up: RuSentEval's own string baseline reaches .97; with the comma
in sight it nearly is one where every subordinate clause has a comma (German, Russian). An ellipsis and not a gap,
because without a conjunction English subordinate clauses are as good as before and coordinate ones are not, and because
the place of the join would be lost; not a mask token, because each model has its own and `____` stands for damaged
text. Sentences with an ellipsis of their own are left out. The conjunction is never the first word (only subordinate
clauses come first); labels are matched on length, on the number of commas and dashes that are left and on whether the
second clause has a subject of its own.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import polars as pl

from discoprobe.builders.sampling.match import SURFACE, surface
from discoprobe.builders.sentences.candidates import balanced
from discoprobe.builders.sentences.clauses import clause_words, conjunction_spans, links, marks, with_heads
from discoprobe.builders.sentences.trees import Trees
from discoprobe.builders.task import Context, Edit, ProbingTask, Sample
from discoprobe.loaders.languages.language import LanguageSection


class ConjTypeRules(LanguageSection, frozen=True):
    """The section ``[conj_type]``: the conjunctions that the task uses, by lemma.

    Attributes:
        cconj: coordinating ones; empty: all.
        sconj: subordinating ones; empty: all.
        exclude: those that are left out.
    """

    section: ClassVar[str] = "conj_type"
    cconj: frozenset[str] = frozenset()
    sconj: frozenset[str] = frozenset()
    exclude: frozenset[str] = frozenset()


LABELS = ("coordination", "subordination")
ELLIPSIS = "…"
_JOINT = r"[\s,،、，;；؛:：–—―-]+$"


def select(trees: Trees, context: Context) -> pl.DataFrame:
    """Sentences in which one conjunction joins clauses and can be masked."""
    words = trees.once(clause_words)
    with_conjunction = (pl.col("n_cc") > 0) | (pl.col("n_mark") > 0)
    finite_clause = pl.col("clausal") & ~pl.col("nonfinite")
    joined = links(with_heads(words)).filter(with_conjunction, finite_clause).filter(pl.len().over("sent") == 1)
    joined = joined.with_columns(label=_kind()).drop_nulls("label")
    conjunction = pl.when(pl.col("label") == LABELS[0]).then("cc").otherwise("mark")
    clauses = joined.select("sent", "label", "subject", row=conjunction)
    spans = conjunction_spans(words, clauses["row"])
    named = clauses.join(spans, on="row").join(
        _allowed(words, context.language.section(ConjTypeRules)), on="row", maintain_order="left"
    )
    return _in_text(named, trees)


def _kind() -> pl.Expr:
    coordinated = (pl.col("rel") == "conj") & (pl.col("head_n_mark") == 0)
    coordinated &= (pl.col("n_cc") == 1) & (pl.col("n_mark") == 0)
    subordinate = pl.col("rel").is_in(["advcl", "ccomp", "csubj", "acl"]) & (pl.col("deprel") != "acl:relcl")
    subordinate &= (pl.col("n_mark") == 1) & (pl.col("n_cc") == 0)
    return pl.when(coordinated).then(pl.lit(LABELS[0])).when(subordinate).then(pl.lit(LABELS[1]))


def _allowed(words: pl.DataFrame, rule: ConjTypeRules) -> pl.DataFrame:
    """Rows of the conjunctions that the language's data admit, but for those in certain places.

    What follows an adposition is governed by it (*de que*) or a relative pronoun in disguise (*la con la que*); what a
    question or relative word follows is an adposition in disguise (*on how*). An auxiliary or particle written with the
    conjunction is its ending (Polish *żeby-ś*).
    """
    lemma = pl.coalesce("lemma", "form").str.to_lowercase()
    allowed = ~lemma.is_in(sorted(rule.exclude))
    for upos, listed in (("CCONJ", rule.cconj), ("SCONJ", rule.sconj)):
        if listed:
            allowed &= (pl.col("upos") != upos) | lemma.is_in(sorted(listed))
    sent = pl.col("sent")
    governed = (sent == sent.shift(1)) & pl.col("upos").shift(1).is_in(["ADP", "DET"])
    touched = pl.col("start").shift(-1) == pl.col("end")
    ending = (sent == sent.shift(-1)) & touched & pl.col("upos").shift(-1).is_in(["AUX", "PART"])
    asking = pl.col("feats").str.contains(r"(?:^|\|)PronType=(?:\w+,)*(?:Int|Rel)\b").shift(-1)
    asks = (sent == sent.shift(-1)) & asking
    for hindrance in (governed, ending, asks):
        allowed &= ~hindrance.fill_null(value=False)
    return words.filter(allowed).select("row")


def _in_text(named: pl.DataFrame, trees: Trees) -> pl.DataFrame:
    """Candidates whose conjunction stands inside the text, with what they are matched on."""
    text = pl.col("text")
    before = text.str.slice(0, pl.col("start")).str.replace(_JOINT, "")
    return (
        named.join(trees.shard.sentences.select("sent", "text"), on="sent", maintain_order="left")
        .filter(before.str.contains(r"[\p{L}\p{N}]"), ~text.str.contains(r"…|\.\.\."))
        .with_columns(before=before, start=before.str.len_chars(), conjunction=pl.col("start"))
        .with_columns(shown=pl.concat_str("before", text.str.slice(pl.col("end"))))
        .select(
            "sent",
            "label",
            *(count.name.prefix("shown_") for count in surface(pl.col("shown"))),
            shown_key=pl.col("shown").str.to_lowercase().hash(0),
            cell=_cell(pl.col("shown")),
            plan=pl.struct("start", "conjunction", "end"),
        )
        .sort("sent")
    )


def _cell(shown: pl.Expr) -> pl.Expr:
    """Marks of the text without the conjunction, and whether the second clause has a subject."""
    return pl.concat_str(marks(shown), pl.when("subject").then(pl.lit(", subject")).otherwise(pl.lit("")))


def mask(text: str, plan: Mapping[str, Any]) -> Edit:
    """An ellipsis in place of the conjunction and what joins it to the word before; a space before it stays.

    After it there is one too where the conjunction was written with the next word (Arabic *wa-*): else that would tell.
    """
    joint = text[plan["start"] : plan["conjunction"]]
    space = " " if any(map(str.isspace, joint)) else ""
    after = space if text[plan["end"] : plan["end"] + 1].isalnum() else ""
    return Edit(plan["start"], plan["end"], space + ELLIPSIS + after)


def sample(frame: pl.DataFrame, context: Context) -> Sample:
    """Equally many of both labels in every cell; every text is masked, and so long as it is without the conjunction.

    Sentences that differ in the conjunction alone are duplicates.
    """
    shown = frame.with_columns(pl.col(f"shown_{name}").alias(name) for name in SURFACE)
    shown = shown.with_columns(text_key="shown_key")
    sample = balanced(shown, context)
    return replace(sample, rows=sample.rows.with_columns(edited=pl.lit(value=True)))


TASK = ProbingTask(labels=LABELS, select=select, sample=sample, edit=mask, needs=frozenset({"upos", "deps"}), version=4)
