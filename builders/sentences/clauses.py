"""Clauses: words in a syntactic role and their features, what verbs govern, what joins clauses, and omitted verbs."""

import functools
from typing import ClassVar, Final

import msgspec
import polars as pl

from discoprobe.builders.sampling.balance import COMMA
from discoprobe.builders.sentences.candidates import feature_task
from discoprobe.builders.sentences.trees import Trees, has, label_columns, with_dependents
from discoprobe.builders.task import Context, ProbingTask
from discoprobe.loaders.corpus import feat
from discoprobe.loaders.languages.language import Availability, LanguageSection

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

FRAMES: Final = {
    "bare": "verb", "object": "verb object", "clause": "verb clause", "passive": "verb passive",
    "transitive": "verb transitive",
}  # fmt: skip
"""Frames of verbs: what they govern. ``transitive`` are those that could govern an object as well: passives,
participles, and verbs with a reflexive, a particle or a clause."""

SUBJECTS = ("nsubj", "csubj")
LIGHT = ("ADV", "PART", "CCONJ", "SCONJ", "INTJ", "PUNCT")
"""Parts of speech of words that cannot be the remnant of a clause without its verb."""
VERBS = ("VERB", "AUX")
JOINED = ("advcl", "ccomp", "acl", "csubj", "parataxis")
"""Relations that make their dependent a clause beside that of its head; ``conj`` does where both are clauses."""
DASH = r"[–—―]|(?:^|\s)-+(?:\s|$)"
"""A dash, or a hyphen that stands alone in place of one."""


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
    """The section ``[arguments]``: how subjects and objects are marked.

    Attributes:
        nsubj: what a noun looks like that is a subject.
        obj: what a noun looks like that is an object.
    """

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
    what = f"{feature} of the word in the role `{role}`."
    return msgspec.structs.replace(task, asks=f"{feature} of {role}", definition=f"{what}\n\n{task.definition}")


def with_frames(verbs: pl.DataFrame, words: pl.DataFrame) -> pl.DataFrame:
    """Some of the words, which are verbs, with ``role`` (their frame), ``shown``, ``also`` and ``weak``.

    ``shown`` is the frame that the verb is known to have; null where its object may stand elsewhere, in the passive,
    for a participle that may be one (treebanks do not mark all), and with a reflexive or a particle, which make it
    another verb (*give up*). ``also`` is a second one, ``transitive``. ``weak`` frames say little about which verbs
    fit: those that are not known, a verb as an attribute, one that governs neither a complement nor a phrase with a
    case marker, one beside another clause, after what it says or before its subject (*he left, said Ann*), and one with
    a clause that an adposition marks, which may be an adjunct (French *participer à régler*).
    """
    rel, deprel = pl.col("rel"), pl.col("deprel")
    clausal, marking = rel.is_in(CLAUSAL), (rel == "mark") & (pl.col("upos") == "ADP")
    markers = words.filter((rel == "case") | marking)
    marked = with_dependents(words, markers, marked=(rel == "case").any(), adposition=marking.any())
    helpers = deprel.is_in((*PASSIVE, "compound:prt"))
    frame_words = marked.filter(rel.is_in(["obj", "obl", "conj", "expl", "nsubj", *CLAUSAL]) | helpers)
    governing = with_dependents(
        verbs, frame_words, object=(rel == "obj").any(), clause=clausal.any(), beside=(rel == "parataxis").any(),
        oblique=((rel == "obl") & pl.col("marked")).any(), passive=deprel.is_in(PASSIVE).any(),
        joined=(rel == "conj").any(), another=((rel == "expl") | (deprel == "compound:prt")).any(),
        adjunct=(clausal & pl.col("adposition")).any(),
        clause_row=pl.col("row").filter(clausal).min(), subject_row=pl.col("row").filter(rel == "nsubj").max(),
    )  # fmt: skip
    passive = pl.col("passive") | has("Voice", "Pass")
    frames = [
        pl.when(fact).then(pl.lit(FRAMES[name]))
        for name, fact in (("passive", passive), ("clause", pl.col("clause")), ("object", pl.col("object")))
    ]
    role = pl.coalesce(*frames, pl.lit(FRAMES["bare"]))
    bare, attribute = role == FRAMES["bare"], rel.is_in(["amod", "acl"])
    hidden = bare & (rel.is_in(ELSEWHERE) | pl.col("joined"))
    participle = has("VerbForm", "Part")
    perhaps_passive = bare & participle & ~has("Voice", "Act")
    unclear = (passive | perhaps_passive | pl.col("another") | hidden).fill_null(value=False)
    after = (pl.col("clause_row") < pl.col("row")) | (bare & (pl.col("subject_row") > pl.col("row")))
    evident = pl.col("object") | pl.col("clause") | pl.col("oblique")
    loose = ~evident | pl.col("beside") | pl.col("adjunct") | attribute | (rel == "parataxis")
    transitive = pl.col("clause") | passive | pl.col("another") | (attribute & participle)
    return governing.with_columns(
        role=role,
        shown=pl.when(~unclear).then(role),
        also=pl.when(transitive).then(pl.lit(FRAMES["transitive"])),
        weak=unclear | loose.fill_null(value=False) | after.fill_null(value=False),
    )


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
