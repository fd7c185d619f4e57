"""The one conjunction that joins two clauses of a sentence, hidden by an ellipsis.

Why an ellipsis? If the conjunction were only deleted, English subordinate clauses would be as good as before and
coordinate ones would not, and the place of the join would be lost. A mask token is not possible, because each model has
its own, and ``____`` stands for damaged text. The comma is hidden too: with it, the kind of clause is nearly a look-up
in languages in which every subordinate clause has one (German, Russian).
"""

from dataclasses import replace
from typing import ClassVar

import polars as pl

from discoprobe.builders.sampling.match import SURFACE, surface
from discoprobe.builders.sentences.candidates import balanced
from discoprobe.builders.sentences.clauses import clause_words, conjunction_spans, links, marks, with_heads
from discoprobe.builders.sentences.feature_values import has
from discoprobe.builders.sentences.trees import Trees
from discoprobe.builders.task import Context, Sample
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


def hidden_conjunctions(trees: Trees, context: Context) -> pl.DataFrame:
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
    """Whether the data of the language permit a conjunction, and its neighbours show that it is one.

    After an adposition or determiner, the word is governed by it (*de que*) or is a relative pronoun with a wrong tag
    (*la con la que*). Before an interrogative or relative word, it is an adposition with a wrong tag (*on how*). An
    auxiliary or particle that is written together with the conjunction is its ending (Polish *żeby-ś*).
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
    """The replacement of the conjunction and of the comma before it: an ellipsis, after a space if there was one.

    If the conjunction was written together with the next word (Arabic *wa-*), such a space is also inserted after the
    ellipsis; otherwise the missing space would reveal the label. ``before`` is the text before the comma.
    """
    text = pl.col("text")
    joint = text.str.slice(0, "start").str.slice(before.str.len_chars())
    space = pl.when(joint.str.contains(r"\s")).then(pl.lit(" ")).otherwise(pl.lit(""))
    written_with = text.str.slice("end", 1).str.contains(r"[\p{L}\p{N}]")
    return pl.concat_str(space, pl.lit(ELLIPSIS), pl.when(written_with).then(space).otherwise(pl.lit("")))


def matched_without_conjunction(frame: pl.DataFrame, context: Context) -> Sample:
    """Equally many of both labels in every cell. Every text is edited; its length is counted without the conjunction.

    Sentences that differ in the conjunction alone are duplicates.
    """
    shown = {name: f"shown_{name}" for name in SURFACE}
    sample = balanced(frame.with_columns(text_key="shown_key", **shown), context)
    return replace(sample, rows=sample.rows.with_columns(edited=pl.lit(value=True)))
