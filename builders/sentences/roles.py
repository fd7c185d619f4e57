"""Words in a syntactic role, their features, and what verbs govern."""

import dataclasses
import functools
from typing import ClassVar, Final

import msgspec
import polars as pl

from discoprobe.builders.sentences.candidates import feature_task
from discoprobe.builders.sentences.trees import Trees, has, label_columns, with_dependents
from discoprobe.builders.task import Context, ProbingTask
from discoprobe.loaders.corpus import feat
from discoprobe.loaders.languages.language import LanguageSection

CLAUSE_ROLES: Final = ("nsubj", "obj", "iobj", "obl", "advmod", "aux", "cop", "xcomp", "ccomp", "advcl")
"""Relations that a word bears to the main predicate; subtypes count (``nsubj:pass``)."""

PHRASE_ROLES: Final = ("nmod", "amod", "det", "nummod", "acl", "appos", "conj", "case")
"""Relations inside phrases: the word may stand anywhere in the sentence."""

NOT_SIMPLE: Final = ("conj", "nummod")
"""Dependents that make a phrase agree differently from its noun: *the cat and the dog*, Turkish *üç adam* (three
man), Russian *погибло 500 человек* (a neuter verb)."""

PASSIVE: Final = ("nsubj:pass", "csubj:pass", "aux:pass")
"""Relations that the dependents of a verb in the passive have."""

CLAUSAL: Final = ("ccomp", "xcomp", "csubj", "parataxis")
"""Relations of clauses that a verb governs: what is said, thought, begun."""

ELSEWHERE: Final = ("acl", "amod", "conj", "xcomp")
"""Relations of verbs whose object may stand elsewhere (*the book that she read*, *easy to read*, *bought and read a
book*): where they have none, they do not show that they need none."""

FRAMES: Final = {"bare": "verb", "object": "verb object", "clause": "verb clause", "passive": "verb passive"}
"""Roles of verbs. One that governs a clause could govern an object as well."""


class Argument(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a noun looks like that is a subject or an object, and not an oblique that the treebank calls one.

    Attributes:
        cases: the values of Case that it may have, if it has one (empty: any).
        markers: lemmas of the adpositions that may mark it (Romanian *pe*, Hindi *को*); one with another is left out.
    """

    cases: frozenset[str] = frozenset()
    markers: frozenset[str] = frozenset()

    def in_case(self) -> pl.Expr:
        """Whether a word has one of the cases, or none."""
        if not self.cases:
            return pl.lit(value=True)
        shared = feat("Case").str.split(",").list.set_intersection(sorted(self.cases))
        return (shared.list.len() > 0).fill_null(value=True)


class ArgumentRules(LanguageSection, frozen=True):
    """The section ``[arguments]``: how subjects and objects are marked."""

    section: ClassVar[str] = "arguments"
    nsubj: Argument = Argument()
    obj: Argument = Argument()

    def of(self, role: str) -> Argument:
        """The rule for a role; one that admits every noun, where the section has none for the role."""
        return {"nsubj": self.nsubj, "obj": self.obj}.get(role, Argument())


def bearers(trees: Trees, role: str) -> pl.DataFrame:
    """The words that fill a role where exactly one word of the sentence does: columns of ``Trees.words``.

    ``role`` is ``root``, one of ``CLAUSE_ROLES`` (borne to the main predicate) or one of ``PHRASE_ROLES``.
    """
    if role == "root":
        return trees.roots
    words = trees.dependents if role in CLAUSE_ROLES else trees.words
    filling = words.filter(pl.col("rel") == role)
    return filling.filter(pl.len().over("sent") == 1)


def valued(feature: str) -> pl.Expr:
    """Whether a word has exactly one value of a feature and is spelled out."""
    value = feat(feature)
    return value.is_not_null() & ~value.str.contains(",", literal=True) & spelled_out()


def spelled_out() -> pl.Expr:
    """Whether a word is no abbreviation or symbol, whose form does not show the feature.

    Not all are marked with Abbr: Russian *см.*, French *M.*, the function *F*, the road *A36*.
    """
    form, noun = pl.col("form"), (pl.col("upos") == "NOUN").fill_null(value=False)
    symbol = ~form.str.contains(r"\p{L}") | (noun & form.str.contains(r"^\p{Lu}\d*$"))
    return feat("Abbr").is_null() & ~symbol & ~form.str.contains(".", literal=True)


def feature_of_noun(trees: Trees, context: Context, *, role: str, feature: str) -> pl.DataFrame:
    """Candidates: the one word in a role of the main predicate, a common noun, labelled with its value of a feature.

    No candidates are words with several values (``Gender=Fem,Masc``) or none, nouns that are coordinated or counted
    (also by a determiner that decides on their case, Polish *kilka kroków*), and those that the language's data show to
    be obliques: by an adposition, or by a case that the role has not.
    """
    rule = context.language.section(ArgumentRules).of(role)
    marker = pl.col("lemma").is_in(sorted(rule.markers)).fill_null(value=False)
    not_simple = pl.col("rel").is_in(NOT_SIMPLE) | ((pl.col("rel") == "case") & ~marker)
    # Words that a determiner counts, and the case of that, empty for one that governs the noun.
    case = pl.when(pl.col("deprel") == "det:numgov").then(pl.lit("")).otherwise(feat("Case"))
    counting = trees.words.filter(pl.col("rel") == "det", (feat("NumType") == "Card") | (case == ""))
    counted = counting.select(row="head_row", case_of_counting=case).drop_nulls().unique("row", maintain_order=True)
    return (
        bearers(trees, role)
        .filter(pl.col("upos") == "NOUN", valued(feature), rule.in_case())
        .join(trees.governing(not_simple), on="row", how="anti", maintain_order="left")
        .join(counted, on="row", how="left", maintain_order="left")
        .filter((pl.col("case_of_counting") == feat("Case").fill_null("")).fill_null(value=True))
        .select("sent", *label_columns(feat(feature), feature), target="row")
    )


def noun_feature(role: str, feature: str, companions: tuple[str, ...] = (), version: int = 4) -> ProbingTask:
    """A task on a feature of the one common noun that bears a role to the main predicate.

    Args:
        role: a universal relation to the main predicate, such as ``nsubj``, ``obj`` or ``obl``.
        feature: a feature of Universal Dependencies that ``trees.VALUES`` has, such as ``Number``.
        companions: features of the noun within whose values labels are balanced, where the treebank allows it.
        version: raised when the rows of the task change.
    """
    select = functools.partial(feature_of_noun, role=role)
    return feature_task(feature, select, companions=companions, version=version)


def feature_in_role(trees: Trees, _context: Context, *, role: str, feature: str) -> pl.DataFrame:
    """Candidates: the one word in a role, of any part of speech, labelled with its value of a feature."""
    words = bearers(trees, role).filter(valued(feature))
    return words.select(
        "sent", *label_columns(feat(feature), feature), target="row", cell=pl.col("upos").cast(pl.String)
    )


def role_feature(role: str, feature: str) -> ProbingTask:
    """A task on a feature of the one word in a role, named after both: ``feats_obj_number_psor``.

    Args:
        role: as in ``bearers``.
        feature: a feature of ``VALUES``, such as ``Number[psor]``.
    """
    name = f"feats_{role}_{feature.lower().replace('[', '_').removesuffix(']')}"
    task = feature_task(feature, functools.partial(feature_in_role, role=role), name=name, version=2)
    return dataclasses.replace(task, definition=f"{feature} of the word in the role `{role}`.\n\n{task.definition}")


def with_frames(some: pl.DataFrame, words: pl.DataFrame) -> pl.DataFrame:
    """Some of the words with ``role`` (the frame of a verb; the relation and case marker of another word) and ``weak``.

    ``shown`` is the role that the word is known to have, null for verbs whose object may stand elsewhere; ``also`` is a
    second one. ``weak`` roles say little about which words fit: a verb in the passive or as an attribute, one that
    governs neither a complement nor a phrase with a case marker, and one beside another clause that is not joined to it
    (*he left, said Ann*).
    """
    rel, is_verb = pl.col("rel"), pl.col("upos") == "VERB"
    marked = with_dependents(words, words.filter(rel == "case"), marked=pl.len() > 0)
    frame_words = marked.filter(rel.is_in(["case", "obj", "obl", "conj", *CLAUSAL]) | pl.col("deprel").is_in(PASSIVE))
    governing = with_dependents(
        some, frame_words, case=pl.col("form").filter(rel == "case").first().str.to_lowercase(),
        object=(rel == "obj").any(), clause=rel.is_in(CLAUSAL).any(), beside=(rel == "parataxis").any(),
        oblique=((rel == "obl") & pl.col("marked")).any(), passive=pl.col("deprel").is_in(PASSIVE).any(),
        joined=(rel == "conj").any(),
    )  # fmt: skip
    passive = pl.col("passive") | has("Voice", "Pass")
    frames = [
        pl.when(fact).then(pl.lit(FRAMES[name]))
        for name, fact in (("passive", passive), ("clause", pl.col("clause")), ("object", pl.col("object")))
    ]
    noun_role = pl.concat_str(rel, pl.col("case").fill_null(""), separator=" ").fill_null("")
    role = pl.when(is_verb).then(pl.coalesce(*frames, pl.lit(FRAMES["bare"]))).otherwise(noun_role)
    evident = pl.col("object") | pl.col("clause") | pl.col("oblique")
    loose = passive | ~evident | pl.col("beside") | rel.is_in(["amod", "acl", "parataxis"])
    hidden = (role == FRAMES["bare"]) & (rel.is_in(ELSEWHERE) | pl.col("joined")).fill_null(value=False)
    return governing.with_columns(
        role=role,
        shown=pl.when(~hidden).then(role),
        also=pl.when(is_verb & pl.col("clause") & ~passive).then(pl.lit(FRAMES["object"])),
        weak=(is_verb & loose).fill_null(value=False),
    )
