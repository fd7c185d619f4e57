"""Clauses, the words that join them, and those whose verb is left out."""

from typing import ClassVar

import polars as pl

from discoprobe.builders.sampling.balance import COMMA
from discoprobe.builders.sentences.trees import Trees, with_dependents
from discoprobe.builders.task import Context
from discoprobe.loaders.corpus import feat
from discoprobe.loaders.languages.language import Availability

SUBJECTS = ("nsubj", "csubj")
LIGHT = ("ADV", "PART", "CCONJ", "SCONJ", "INTJ", "PUNCT")
"""Parts of speech of words that cannot be the remnant of a clause without its verb."""
VERBS = ("VERB", "AUX")
JOINED = ("advcl", "ccomp", "acl", "csubj", "parataxis")
"""Relations that make their dependent a clause beside that of its head; ``conj`` does where both are clauses."""
DASH = r"[–—―]|(?:^|\s)-+(?:\s|$)"
"""A dash, or a hyphen that stands alone in place of one."""


class GappingRules(Availability, frozen=True):
    """The section ``[gapping]``: whether the task on clauses without their verb is offered."""

    section: ClassVar[str] = "gapping"


def clause_words(trees: Trees) -> pl.DataFrame:
    """The words with what they govern.

    The columns of ``Trees.words`` and

    * ``subject``: whether a subject is among its dependents; ``clausal``: whether it is the predicate of a clause (a
      verb, or a word with subject or copula);
    * ``n_cc``, ``cc``: how many coordinating conjunctions, and the row of the first; ``n_mark``, ``mark``: the same of
      subordinating ones;
    * ``orphan``: whether an ``orphan`` is among its dependents that is no adverb, particle, conjunction or verb, and no
      subordinating conjunction (Finnish *kuin*), with which it is a comparison;
    * ``nonfinite``: whether it, or an auxiliary or copula, is marked as a nonfinite form, and no auxiliary or copula is
      finite (or, if only an auxiliary is nonfinite, without VerbForm).
    """
    rel, upos = pl.col("rel"), pl.col("upos")
    finite = feat("VerbForm") == "Fin"
    helping = rel.is_in(["aux", "cop"])
    compared = rel.is_in(["mark", "orphan"]) & (upos == "SCONJ")
    cc, mark = (rel == "cc") & (upos == "CCONJ"), (rel == "mark") & (upos == "SCONJ")
    words = with_dependents(
        trees.words, trees.words.filter(rel.is_in([*SUBJECTS, "cop", "orphan", "aux", "cc", "mark"])),
        subject=rel.is_in(SUBJECTS).any(), copula=(rel == "cop").any(),
        orphan=((rel == "orphan") & ~upos.is_in(LIGHT + VERBS)).any() & ~compared.any(),
        auxiliary=(helping & finite).any(),
        nonfinite_auxiliary=(helping & ~finite).any() & (helping & finite.is_null()).any().not_(),
        n_cc=cc.sum(), cc=pl.col("row").filter(cc).first(), n_mark=mark.sum(), mark=pl.col("row").filter(mark).first(),
    )  # fmt: skip
    return words.with_columns(
        pl.col("n_cc", "n_mark").fill_null(0),
        clausal=((upos == "VERB") | pl.col("subject") | pl.col("copula")).fill_null(value=False),
        nonfinite=((feat("VerbForm") != "Fin").fill_null(value=False) | pl.col("nonfinite_auxiliary"))
        & ~pl.col("auxiliary"),
    )


def with_heads(words: pl.DataFrame) -> pl.DataFrame:
    """The words of ``clause_words`` with ``head_upos``, ``head_clausal``, ``head_subject`` and ``head_n_mark``."""
    heads = words.select(pl.col("upos", "clausal", "subject", "n_mark").name.prefix("head_"), head_row="row")
    return words.join(heads, on="head_row", how="left", maintain_order="left")


def gapped_or_whole(trees: Trees, _context: Context) -> pl.DataFrame:
    """Candidates: a clause coordinated with one that has a verb, its own verb left out (``gapped``) or not (``none``).

    The treebank promotes one of the phrases that remain (remnants) to the place of the predicate and attaches another
    one to it as ``orphan``. Where nothing is left out, both clauses have subjects and the sentence has no orphan. Other
    clauses are not there: nothing is left out of Czech *díky bohu za to* (thank God for that), however a treebank
    annotates it, and where the first clause has no verb none can be left out (Russian *глубина – 2 метра, ширина –
    метр*). The ``cell`` has the numbers of commas and dashes and the lemma of the conjunction.
    """
    words = with_heads(trees.once(clause_words))
    remnant = ~pl.col("upos").is_in(("ADP", *LIGHT, *VERBS))
    orphaned = (pl.col("rel") == "orphan").any().over("sent")
    gapped = pl.when(pl.col("orphan") & remnant).then(pl.lit("gapped"))
    complete = pl.when("subject", "head_subject", ~orphaned).then(pl.lit("none"))
    verbal = (pl.col("rel") == "conj") & pl.col("head_upos").is_in(VERBS)
    clauses = words.with_columns(label=pl.when(verbal).then(pl.coalesce(gapped, complete))).drop_nulls("label")
    conjunctions = words.select(cc="row", conjunction=pl.coalesce("lemma", "form").str.to_lowercase())
    cell = pl.concat_str(marks(pl.col("text")), pl.col("conjunction").fill_null(""), separator="|")
    first = clauses.unique("sent", keep="first", maintain_order=True)
    joined = trees.with_text(first).join(conjunctions, on="cc", how="left", maintain_order="left")
    return joined.select("sent", "label", cell=cell)


def links(words: pl.DataFrame) -> pl.DataFrame:
    """The words that head a clause joined to another; ``words`` are what ``with_heads`` gave."""
    coordinated = (pl.col("rel") == "conj") & pl.col("clausal") & pl.col("head_clausal")
    return words.filter(pl.col("rel").is_in(JOINED) | coordinated)


def conjunction_spans(words: pl.DataFrame, rows: pl.Series) -> pl.DataFrame:
    """Where the conjunctions ``rows`` stand in the text with the words fixed to them: ``row``, ``start``, ``end``.

    Those whose words do not stand together, or are part of a multiword token, are left out.
    """
    asked = rows.drop_nulls().implode()
    head = pl.when(pl.col("row").is_in(asked)).then("row").when(pl.col("rel") == "fixed").then("head_row")
    spans = words.group_by(row=head).agg(
        pl.col("start").min(), pl.col("end").max(),
        single=(pl.col("mwt").is_null() & pl.col("start").is_not_null()).all(),
        together=pl.col("index").max() - pl.col("index").min() + 1 == pl.len(),
    )  # fmt: skip
    return spans.filter(pl.col("row").is_in(asked), "single", "together").select("row", "start", "end")


def marks(text: pl.Expr) -> pl.Expr:
    """How many commas (up to three) and dashes (up to two) a text has, as a cell to match in."""
    commas, dashes = (text.str.count_matches(mark).clip(upper_bound=most) for mark, most in ((COMMA, 3), (DASH, 2)))
    return pl.format("{} commas, {} dashes", commas, dashes)
