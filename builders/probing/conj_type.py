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

from dataclasses import replace
from typing import ClassVar

import polars as pl

from discoprobe.builders.sampling.match import SURFACE, surface
from discoprobe.builders.sentences.candidates import balanced, planned_edit
from discoprobe.builders.sentences.clauses import clause_words, conjunction_spans, links, marks, with_heads
from discoprobe.builders.sentences.feature_values import has
from discoprobe.builders.sentences.trees import Trees
from discoprobe.builders.task import Context, ProbingTask, Sample
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
    conjunction = pl.when(pl.col("label") == LABELS[0]).then("cc").otherwise("mark")
    joined = (
        links(with_heads(words))
        .filter((pl.col("n_cc") > 0) | (pl.col("n_mark") > 0), "clausal", ~pl.col("nonfinite"))
        .filter(pl.len().over("sent") == 1)
        .with_columns(label=_kind())
        .drop_nulls("label")
        .select("sent", "label", "subject", row=conjunction)
    )
    allowed = words.filter(_allowed(context.language.section(ConjTypeRules))).select("row")
    spans = conjunction_spans(words, joined["row"]).join(allowed, on="row")
    return _masked(trees.with_text(joined.join(spans, on="row", maintain_order="left")))


def _kind() -> pl.Expr:
    coordinated = (pl.col("rel") == "conj") & (pl.col("head_n_mark") == 0)
    coordinated &= (pl.col("n_cc") == 1) & (pl.col("n_mark") == 0)
    subordinate = pl.col("rel").is_in(["advcl", "ccomp", "csubj", "acl"]) & (pl.col("deprel") != "acl:relcl")
    subordinate &= (pl.col("n_mark") == 1) & (pl.col("n_cc") == 0)
    return pl.when(coordinated).then(pl.lit(LABELS[0])).when(subordinate).then(pl.lit(LABELS[1]))


def _allowed(rule: ConjTypeRules) -> pl.Expr:
    """Whether the language's data admit a conjunction, and it does not stand in certain places.

    What follows an adposition is governed by it (*de que*) or a relative pronoun in disguise (*la con la que*); what a
    question or relative word follows is an adposition in disguise (*on how*). An auxiliary or particle written with the
    conjunction is its ending (Polish *żeby-ś*).
    """
    upos, lemma = pl.col("upos"), pl.coalesce("lemma", "form").str.to_lowercase()
    listed = [
        (upos == kind) & ~lemma.is_in(sorted(lemmas))
        for kind, lemmas in (("CCONJ", rule.cconj), ("SCONJ", rule.sconj))
        if lemmas
    ]
    governed = upos.shift(1).over("sent").is_in(["ADP", "DET"])
    touched = pl.col("start").shift(-1).over("sent") == pl.col("end")
    ending = touched & upos.shift(-1).over("sent").is_in(["AUX", "PART"])
    asking = has("PronType", "Int", "Rel").shift(-1).over("sent")
    excluded = lemma.is_in(sorted(rule.exclude))
    return ~pl.any_horizontal(excluded, *listed, governed, ending, asking).fill_null(value=False)


def _masked(found: pl.DataFrame) -> pl.DataFrame:
    """Candidates whose conjunction (``start``, ``end``) stands inside the ``text``, with what they are matched on."""
    text, conjunction = pl.col("text"), pl.col("start")
    before = text.str.slice(0, conjunction).str.replace(_JOINT, "")
    shown = pl.concat_str(before, text.str.slice(pl.col("end")))
    subject = pl.when("subject").then(pl.lit(", subject")).otherwise(pl.lit(""))
    inside = found.filter(before.str.contains(r"[\p{L}\p{N}]"), ~text.str.contains(r"…|\.\.\."))
    return inside.select(
        "sent", "label", *(count.name.prefix("shown_") for count in surface(shown)),
        shown_key=shown.str.to_lowercase().hash(0), cell=pl.concat_str(marks(shown), subject),
        plan=pl.struct("end", start=before.str.len_chars(), new=mask(before)),
    ).sort("sent")  # fmt: skip


def mask(before: pl.Expr) -> pl.Expr:
    """An ellipsis for the conjunction and what joins it to the text ``before``; a space in front of it stays.

    After it there is one too where the conjunction was written with the next word (Arabic *wa-*): else that would tell.
    """
    text = pl.col("text")
    joint = text.str.slice(0, "start").str.slice(before.str.len_chars())
    space = pl.when(joint.str.contains(r"\s")).then(pl.lit(" ")).otherwise(pl.lit(""))
    written_with = text.str.slice("end", 1).str.contains(r"[\p{L}\p{N}]")
    return pl.concat_str(space, pl.lit(ELLIPSIS), pl.when(written_with).then(space).otherwise(pl.lit("")))


def sample(frame: pl.DataFrame, context: Context) -> Sample:
    """Equally many of both labels in every cell; every text is masked, and so long as it is without the conjunction.

    Sentences that differ in the conjunction alone are duplicates.
    """
    shown = {name: f"shown_{name}" for name in SURFACE}
    sample = balanced(frame.with_columns(text_key="shown_key", **shown), context)
    return replace(sample, rows=sample.rows.with_columns(edited=pl.lit(value=True)))


TASK = ProbingTask(
    labels=LABELS, select=select, sample=sample, edit=planned_edit, needs=frozenset({"upos", "deps"}), version=4
)
