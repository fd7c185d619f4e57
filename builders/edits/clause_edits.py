"""Edits of clauses, one after the other: clauses that change places, a conjunction that is hidden, and connectives.

**Two coordinated clauses change places**, if only their order shows that they did: an anaphoric word of the second
refers to the first. One reader judged such inversions. Without a rule, 30 of 77 were good sentences (*Kenseth walked
away, and the car burst into flames*); where a word of the second clause refers to the first, 15 of 57 were, and with
stricter rules 18 of 55 and 15 of 44. X-Probe lower-cased names and acronyms and treated verb phrases as clauses, so the
first word alone reveals the label (*Was*: 676 of 682).

**The one conjunction that joins two clauses of a sentence is hidden** by an ellipsis. If the conjunction were only
deleted, English subordinate clauses would be as good as before and coordinate ones would not, and the place of the join
would be lost. A mask token is not possible, because each model has its own, and ``____`` stands for damaged text. The
comma is hidden too: with it, the kind of clause is nearly a look-up in languages in which every subordinate clause has
one (German, Russian).

**Connectives of clauses take each other's place**, in both directions, where the clause after them allows it.
"""

import functools
import re
from collections.abc import Mapping
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
import polars as pl
from msgspec.structs import replace

from discoprobe.builders.edits.versions import original_and_edited, word_bags
from discoprobe.builders.sampling.balance import SURFACE, remove_bias, surface
from discoprobe.builders.sentences.candidates import balanced, usable_of
from discoprobe.builders.sentences.clauses import clause_words, conjunction_spans, links, marks, with_heads
from discoprobe.builders.sentences.connectives import REASONS as OF_CLAUSES
from discoprobe.builders.sentences.connectives import Connectives, capitalised, clause_connectives, with_senses
from discoprobe.builders.sentences.trees import Trees, has
from discoprobe.builders.task import Context, Edit, Sample
from discoprobe.loaders import hashing
from discoprobe.loaders.corpus import feat
from discoprobe.loaders.hashing import hashed
from discoprobe.loaders.languages.language import Availability, LanguageData, LanguageSection

NOUNS, OBJECTS = ("NOUN", "PROPN"), ("obj", "iobj")


class CoordInvRules(Availability, frozen=True):
    """The section ``[coord_inv]``: whether clauses can be exchanged, and words that need another clause before theirs.

    Attributes:
        anaphoric: lemmas and forms of anaphoric words.
    """

    section: ClassVar[str] = "coord_inv"
    anaphoric: frozenset[str] = frozenset()


def with_ties(words: pl.DataFrame, language: LanguageData) -> pl.DataFrame:
    """Adds ``ties``: whether a word refers to something before its clause; for the second clause, to the first one.

    In the first clause these are demonstrative determiners, and anaphors without a noun before them in the clause (an
    object of the predicate may follow a noun, unless it doubles a noun object: *el límite sur lo forma la costa*). In
    the second clause, an anaphor must also be a possessive or depend on the predicate, and agree with a subject or
    object of the first clause; a demonstrative must be a pronoun with gender, because *this* can refer to anything. A
    word with a relative clause of its own, or before a noun with one, does not count.
    """
    rel, upos = pl.col("rel"), pl.col("upos").cast(pl.String)
    anaphor = is_anaphoric("", language) & (rel != "expl")
    of_predicate = pl.col("depth") == 1 + pl.col("second").cast(pl.Int64)
    described = words.filter(rel == "acl")["head_row"].unique().implode()
    described_self = pl.when(upos == "DET").then("head_row").otherwise("row").is_in(described)
    noun = upos.is_in(NOUNS) | ((rel == "nsubj") & ~has("Person", "1", "2"))
    after_noun = noun.fill_null(value=False).cum_sum().shift(1, fill_value=0).over("sent", "second") > 0
    doubles = (of_predicate & rel.is_in(OBJECTS) & upos.is_in(NOUNS)).cum_sum().over("sent", "second") > 0
    free = anaphor & ~(after_noun & ~(of_predicate & rel.is_in(OBJECTS) & ~doubles))

    # Whether a subject or object of the first clause, or what is coordinated with one, agrees with the word.
    argument = ~pl.col("second") & of_predicate & rel.is_in(("nsubj", *OBJECTS))
    arguments = words.filter(argument)["row"].implode()
    in_first = upos.is_in(NOUNS) & (argument | ((rel == "conj") & pl.col("head_row").is_in(arguments)))
    owned = (upos != "PRON") & has("Poss", "Yes")
    number = pl.when(owned).then(feat("Number[psor]")).otherwise(feat("Number"))
    nouns, plurals = (kind.sum().over("sent") for kind in (in_first, in_first & has("Number", "Plur")))
    plural, singular = (plurals > 0) | (nouns > 1), nouns > plurals
    numbered = (in_first & feat("Number").is_not_null()).any().over("sent")
    unknown = (nouns > 0) & (feat("Gender").is_not_null() | ~numbered)
    agrees = pl.when(number == "Plur").then(plural).when(number == "Sing").then(singular).otherwise(unknown)
    for gender in ("Masc", "Fem"):
        of_gender = in_first & ((upos == "PROPN") | has("Gender", gender))
        agrees &= of_gender.any().over("sent") | ~((upos == "PRON") & has("Gender", gender))

    pointing = has("PronType", "Dem")
    certain = ~pointing | (has("Gender", "Com", "Fem", "Masc") & (upos != "DET"))
    of_first = free & certain & (of_predicate | has("Poss", "Yes")) & agrees
    ties = pl.when("second").then(of_first).otherwise(free | ((upos == "DET") & pointing)) & ~described_self
    return words.with_columns(ties=ties.fill_null(value=False))


def is_anaphoric(side: str, language: LanguageData) -> pl.Expr:
    """Whether a word, or the first one of a ``side``, is an anaphor.

    These are personal pronouns of the third person, demonstrative pronouns, possessives of neither the first nor the
    second person, and pronouns and determiners that the language data list. Reflexives do not count, because they refer
    to their own clause; nor do articles that look like a listed word (*der*).
    """
    upos, feats = pl.col(f"{side}upos").cast(pl.String), f"{side}feats"
    of = functools.partial(has, column=feats)
    other_pronoun = of("PronType", "Art", "Emp", "Ind", "Int", "Neg", "Rcp", "Rel", "Tot")
    reflexive, listed = of("Reflex", "Yes"), sorted(language.section(CoordInvRules).anaphoric)
    pronoun = (upos == "PRON") & ((of("Person", "3") & ~other_pronoun) | of("PronType", "Dem"))
    speaker = of("Person", "1", "2") | of("Person[psor]", "1", "2")
    owner = upos.is_in(["DET", "PRON", "ADJ"]) & of("Poss", "Yes") & ~speaker
    article = of("PronType", "Art") | (feat("Definite", feats).is_not_null() & feat("PronType", feats).is_null())
    homonym = ((upos == "DET") & article) | ~upos.is_in(["PRON", "DET"])
    named = pl.any_horizontal(pl.col(f"{side}lemma", f"{side}form").str.to_lowercase().is_in(listed))
    return (pronoun | owner | (named & ~homonym)) & ~reflexive


PAIRED = r"""["«»„“”‘’「」『』‹›()\[\]{}（）]"""
"""Marks that come in pairs; a clause could take one of them along."""

LONGER = (1, 4, 8)
"""Differences in words. Which clause is longer by at least one of these numbers must not predict the order."""

PLACES = ("a_start", "a_end", "b_start", "b_end")
PLAN = pl.Struct(dict.fromkeys(PLACES, pl.Int64) | {"a_head": pl.String, "b_head": pl.String})


def invertible_sentences(trees: Trees, context: Context) -> pl.DataFrame:
    """Sentences of two clauses that can be exchanged.

    The two are the main clause and the one clause coordinated with it; both have subjects and one word is their
    conjunction. No third clause with a subject is coordinated; phrases inside the two may have conjunctions of their
    own. Neither clause begins with an anaphoric word, clitic, connective or interjection.
    """
    words = trees.once(clause_words)
    nested = words.filter(pl.col("rel") == "conj", pl.col("depth") > 1, "subject", "clausal").select("sent")
    conj = words.filter(pl.col("rel") == "conj", pl.col("depth") == 1).filter(pl.len().over("sent") == 1)
    roots = words.filter(pl.col("head") == 0, pl.col("subject"))
    ends = pl.concat([roots, conj]).select(head_row="row")
    governing = words["head_row"].drop_nulls().unique().implode()
    single = (
        words.filter((pl.col("rel") == "cc") | (pl.col("upos") == "CCONJ"))
        .join(ends, on="head_row", how="semi")
        .filter(pl.len().over("sent") == 1, ~pl.col("row").is_in(governing), pl.col("mwt").is_null())
        .select("sent", cc="row", cc_index="index")
    )
    both = conj.filter("subject").select("sent", "row", "cc").join(single, on=["sent", "cc"])
    joined = both.join(roots, on="sent", how="semi").join(nested, on="sent", how="anti").sort("sent")

    second = pl.Series(trees.descends_from(joined["row"].to_numpy()) >= 0)
    placed = words.with_columns(second=second).join(joined.select("sent", "cc_index"), on="sent", maintain_order="left")
    connectives = "|".join(sorted(map(re.escape, context.language.section(Connectives).forms))) or "$^"
    bound = []
    for side in "ab":
        of = functools.partial(has, column=f"{side}_feats")
        connected = pl.col(f"{side}_words").str.contains(rf"^(?:{connectives})(?: |$)")
        clitic = of("Reflex", "Yes") | of("Variant", "Short") | of("Clitic", "Yes")
        interjection = pl.col(f"{side}_upos") == "INTJ"
        bound.append(is_anaphoric(f"{side}_", context.language) | clitic | interjection | connected)
    clauses = _clauses(with_ties(placed, context.language)).filter(
        *(~expr.fill_null(value=False) for expr in bound), pl.col("b_tied"), ~pl.col("a_tied")
    )
    sentences = trees.with_text(clauses).filter(~pl.col("text").str.contains(PAIRED))
    plans = pl.Series("plan", [_plan_inversion(row, context.language) for row in sentences.to_dicts()], dtype=PLAN)
    longer = pl.col("a_n") - pl.col("b_n")
    rows = sentences.select("sent", "a_upos", "b_upos", plans, longer=longer, label=pl.lit(context.labels[0]))
    return rows.join(trees.once(word_bags), on="sent", how="left", maintain_order="left")


def _clauses(words: pl.DataFrame) -> pl.DataFrame:
    """Where the two clauses stand, their number of words and first words, if nothing else is in the sentence.

    Columns ``a_…`` are of the first, ``b_…`` of the second: ``start``, ``end``, ``n``, ``form``, ``lemma``, ``upos``,
    ``feats``, ``words``, all its forms in lower case, and ``tied``, whether a word ties it to another clause. The
    argument has ``second``, whether a word belongs to the coordinated clause, ``cc_index``, and ``ties``.
    """
    spoken = pl.col("upos") != "PUNCT"
    before, after = pl.col("index") < pl.col("cc_index"), pl.col("index") > pl.col("cc_index")
    final = spoken.reverse().cum_sum().reverse().over("sent") == 0
    sides = {"a": before & spoken, "b": after & ~final}
    measures = {
        f"{name}_{what}": expr
        for name in sides
        for what, expr in {
            "start": pl.col("start").filter(name).min(),
            "end": pl.col("end").filter(name).max(),
            "n": (pl.col(name) & spoken).sum().cast(pl.Int32),
            **{what: pl.col(what).filter(name).first() for what in ("form", "lemma", "upos", "feats")},
            "words": pl.col("form").filter(pl.col(name) & spoken).str.to_lowercase().str.join(" "),
            "tied": (pl.col("ties") & pl.col(name)).any(),
        }.items()
    }
    apart = (before & spoken & pl.col("second")) | (after & spoken & ~pl.col("second"))
    sided = words.with_columns(pl.col("upos").cast(pl.String), **sides).group_by("sent", maintain_order=True)
    return sided.agg(**measures, mixed=apart.any(), opening=pl.col("upos").first()).filter(
        ~pl.col("mixed"), pl.col("opening") != "PUNCT", pl.col("b_upos") != "PUNCT",
        pl.col("a_end") < pl.col("b_start"), (pl.col("a_upos") == "AUX") == (pl.col("b_upos") == "AUX"),
    )  # fmt: skip


def _plan_inversion(row: dict[str, Any], language: LanguageData) -> dict[str, Any]:
    """Where the clauses are, and the first two characters of each, capitalised as needed in the other's place.

    The capital stays in a name, an acronym, an abbreviation (*M.*), and a word whose lemma has it; it may be of two
    letters (Dutch *IJ*).
    """
    first, second = (row["text"][row[start] :][:2] for start in ("a_start", "b_start"))
    capital = next((letters for letters in language.capitals.values() if first.startswith(letters)), first[:1])
    lemma, rest = (row["a_lemma"] or "")[: len(capital)], row["a_form"][len(capital) :]
    keeps = row["a_upos"] == "PROPN" or lemma.isupper() or rest[:1].isupper() or rest.endswith(".")
    small = first if keeps else language.lower(capital) + first[len(capital) :]
    places = {name: row[name] for name in PLACES}
    return places | {"a_head": small, "b_head": language.capitalise(second) if first[:1].isupper() else second}


def invert(text: str, plan: Mapping[str, Any]) -> Edit:
    """The two clauses exchanged; what stands between and after them stays."""
    first, second = text[plan["a_start"] : plan["a_end"]], text[plan["b_start"] : plan["b_end"]]
    between = text[plan["a_end"] : plan["b_start"]]
    moved = plan["b_head"] + second[2:] + between + plan["a_head"] + first[2:]
    return Edit(plan["a_start"], plan["b_end"], moved)


def original_and_inverted(frame: pl.DataFrame, context: Context) -> Sample:
    """Originals and inversions; neither the lengths of the clauses nor their first words predict the order."""
    usable = usable_of(frame, context)
    even = usable
    if context.settings.match:
        # Gains of the rules that the longer clause is first, or the clause that begins with a certain part of speech.
        longer, (first, second) = usable["longer"].to_numpy(), (usable[f"{side}_upos"].to_numpy() for side in "ab")
        lengths = [(np.abs(longer) >= words) * np.sign(longer) for words in LONGER]
        kinds = [1.0 * (first == upos) - (second == upos) for upos in np.unique([*first, *second])]
        even = remove_bias(usable, np.column_stack([*lengths, *kinds]), *context.seed_key)
    pairs = original_and_edited(context.drops.keep(usable, even, "unbalanced"), context)
    return replace(pairs, candidates=frame.height * 2)


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


SLIPS = 0.05
"""Largest share of the rarer kind among the clauses of a conjunction that counts as slips of the annotation."""

KINDS = {"both-labels": "the conjunction joins clauses of both kinds in the corpus (Spanish *mientras*)"}
"""Why candidates of ``conj_type`` are dropped."""


def hidden_conjunctions(trees: Trees, context: Context) -> pl.DataFrame:
    """Sentences in which one conjunction joins clauses and can be hidden, with what they are matched on.

    The data of the language permit the conjunction, and its neighbours show that it is one. After an adposition or
    determiner, the word is governed by it (*de que*) or is a relative pronoun with a wrong tag (*la con la que*).
    Before an interrogative or relative word, it is an adposition with a wrong tag (*on how*). An auxiliary or particle
    that is written together with the conjunction is its ending (Polish *żeby-ś*).
    """
    words = trees.once(clause_words)
    deprel, n_cc, n_mark = pl.col("deprel"), pl.col("n_cc"), pl.col("n_mark")
    coordinated = (pl.col("rel") == "conj") & (pl.col("head_n_mark") == 0) & (n_cc == 1) & (n_mark == 0)
    subordinate = pl.col("rel").is_in(["advcl", "ccomp", "csubj", "acl"]) & (deprel != "acl:relcl")
    subordinate &= (n_mark == 1) & (n_cc == 0)
    upos, lemma = pl.col("upos"), pl.coalesce("lemma", "form").str.to_lowercase()
    linked = (
        links(with_heads(words))
        .filter((n_cc > 0) | (n_mark > 0), "clausal", ~pl.col("nonfinite"))
        .with_columns(label=pl.when(coordinated).then(pl.lit(LABELS[0])).when(subordinate).then(pl.lit(LABELS[1])))
        .with_columns(alone=pl.len().over("sent") == 1)
        .drop_nulls("label")
        .with_columns(row=pl.when(pl.col("label") == LABELS[0]).then("cc").otherwise("mark"))
        .select("sent", "label", "subject", "alone", "row")
        .join(words.select("row", conjunction=lemma), on="row", maintain_order="left")
    )
    counts = [(pl.col("label") == label).sum().over("conjunction").alias(f"n_{label}") for label in LABELS]
    joined = linked.with_columns(counts).filter("alone")
    rule = context.language.section(ConjTypeRules)
    unlisted = [
        (upos == kind) & ~lemma.is_in(sorted(lemmas))
        for kind, lemmas in (("CCONJ", rule.cconj), ("SCONJ", rule.sconj))
        if lemmas
    ]
    governed = upos.shift(1).over("sent").is_in(["ADP", "DET"])
    touched = pl.col("start").shift(-1).over("sent") == pl.col("end")
    ending = touched & upos.shift(-1).over("sent").is_in(["AUX", "PART"])
    asking = has("PronType", "Int", "Rel").shift(-1).over("sent")
    excluded = lemma.is_in(sorted(rule.exclude))
    barred = pl.any_horizontal(excluded, *unlisted, governed, ending, asking).fill_null(value=False)
    spans = conjunction_spans(words, joined["row"]).join(words.filter(~barred).select("row"), on="row")
    sentences = trees.with_text(joined.join(spans, on="row", maintain_order="left"))

    text = pl.col("text")
    before = text.str.slice(0, pl.col("start")).str.replace(_JOINT, "")
    visible = pl.concat_str(before, text.str.slice(pl.col("end")))
    subject = pl.when("subject").then(pl.lit(", subject")).otherwise(pl.lit(""))
    inside = sentences.filter(before.str.contains(r"[\p{L}\p{N}]"), ~text.str.contains(r"…|\.\.\."))
    return inside.select(
        "sent", "label", "conjunction", *(f"n_{label}" for label in LABELS),
        *(count.alias(f"shown_{count.meta.output_name()}") for count in surface(visible)),
        shown_key=hashed(visible.str.to_lowercase()), cell=pl.concat_str(marks(visible), subject),
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

    Sentences that differ in the conjunction alone are duplicates. A conjunction that joins clauses of both kinds in the
    corpus does not tell which kind: it is left out, or where it is rarely of one kind (`SLIPS`), these sentences are.
    """
    visible = {name: f"shown_{name}" for name in SURFACE}
    numbers = [f"n_{label}" for label in LABELS]
    totals = frame.unique(["shard", "conjunction"]).group_by("conjunction").agg(pl.col(numbers).sum())
    of_label = [pl.col(number) / pl.sum_horizontal(numbers) for number in numbers]
    rarer, of_this = pl.min_horizontal(of_label), pl.when(label=LABELS[0]).then(of_label[0]).otherwise(of_label[1])
    unclear = pl.when((rarer >= SLIPS) | (of_this < SLIPS)).then(pl.lit("both-labels"))
    judged = frame.drop(numbers).join(totals, on="conjunction", how="left", maintain_order="left")
    judged = judged.with_columns(reason=pl.coalesce("reason", unclear))
    sample = balanced(judged.with_columns(text_key="shown_key", **visible), context)
    return replace(sample, rows=sample.rows.with_columns(edited=pl.lit(value=True)))


OTHER, SAME = CONDITIONS = ("other_sense", "same_sense")
EXCLUDE = frozenset({"reason", "concession"})
"""Senses that exclude each other: a reason for something is not an obstacle to it. Contrast (*but*) is not among them,
because it is possible between most clauses, even if one gives the reason for the other."""

REASONS = {
    **OF_CLAUSES,
    "no-exchange": "no other connective stands as often before the same word, or the pair is a control too many",
}

CONTROLS = 1 / 3
"""Share of the connectives with a counterpart of the same sense that are controls, which never outnumber the others."""


def excluding_connectives(trees: Trees, context: Context) -> pl.DataFrame:
    """Every connective that introduces a clause and has a sense that excludes another."""
    connectives = clause_connectives(trees.shard.sentences, context.language)
    return connectives.filter(pl.col("sense").is_in(EXCLUDE)).with_columns(label=pl.lit(context.labels[0]))


def with_other_connective(frame: pl.DataFrame, context: Context) -> Sample:
    """The sentences whose connective takes the place of another one, as often as the other way round."""
    usable = usable_of(frame, context)
    rows = usable.join(_exchange_connectives(usable, context), on="key", maintain_order="left")
    new = capitalised(rows["other"], rows["start"] == 0, context.language)
    rows = rows.with_columns(
        plan=pl.struct("start", end="until", new=new),
        target_form="form", target_start=pl.col("start").cast(pl.UInt32), target_end=pl.col("until").cast(pl.UInt32),
    )  # fmt: skip
    return original_and_edited(context.drops.keep(usable, rows, "no-exchange"), context)


def _exchange_connectives(usable: pl.DataFrame, context: Context) -> pl.DataFrame:
    """``key``, ``other`` (the connective that replaces its own), ``condition`` and ``ring`` of every candidate used.

    Inside a cell, sentences of two connectives are paired up, the largest pairs of connectives first; the two take each
    other's place, and the key of the first is their ring.
    """
    controls = hashing.unit(usable["key"].to_numpy(), "control", *context.seed_key) < CONTROLS
    senses = dict(usable.select("connective", "sense").iter_rows())
    order = hashing.ranking(usable["key"].to_numpy(), *context.seed_key)
    exchanges: list[tuple[int, str, str, int]] = []
    columns = usable.with_columns(control=pl.Series(controls)).select("key", "connective", "frame", "control")[order]
    for _, cell in columns.group_by("frame", maintain_order=True):
        both = [*combinations(sorted(set(cell["connective"])), 2)]
        pairs = {
            OTHER: [pair for pair in both if senses[pair[0]] != senses[pair[1]]],
            SAME: [pair for pair in both if senses[pair[0]] == senses[pair[1]]],
        }
        unused = cell
        for part, condition in ((cell.filter("control"), SAME), (None, OTHER), (None, SAME)):
            keys = dict((unused if part is None else part).group_by("connective").agg("key").iter_rows())
            used: list[int] = []
            while pairs[condition]:
                n, a, b = max((min(len(keys.get(a, ())), len(keys.get(b, ()))), a, b) for a, b in pairs[condition])
                if not n:
                    break
                for key, exchanged in zip(keys[a][:n], keys[b][:n], strict=True):
                    exchanges += [(key, b, condition, key), (exchanged, a, condition, key)]
                    used += [key, exchanged]
                keys |= {form: keys[form][n:] for form in (a, b)}
            unused = unused.filter(~pl.col("key").is_in(used))
    schema: dict[str, Any] = {"key": pl.UInt64, "other": pl.String, "condition": pl.String, "ring": pl.UInt64}
    frame = pl.DataFrame(exchanges, schema, orient="row")
    others, same = (frame.filter(condition=condition) for condition in CONDITIONS)
    return pl.concat([others, same.head(others.height)])


def no_exchange(language: LanguageData) -> str:
    """Why no connectives of a language can take each other's place; empty where some can."""
    senses = {(entry.sense, mood) for entry in with_senses(language) for mood in entry.moods}
    listed = any({(sense, mood) for sense in EXCLUDE} <= senses for mood in ("Ind", "Sub"))
    return "" if listed else f"no subordinators of two senses that take the same mood are listed for {language.name}"
