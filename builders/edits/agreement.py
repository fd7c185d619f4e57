"""Subjects and the verbs, participles and adjectives that agree with them, and forms of the same words that do not.

``verbs`` finds verbs and their subjects in a shard, ``lexicon`` the words of the shard. ``with_other_forms`` sees those
of all shards: it makes paradigms of the lexicon and chooses the form that does not agree. ``good_and_bad`` makes pairs
of rows.

No rule is specific to a language. Counts over the corpus decide whether a verb agrees with its subject, which forms it
has, and which of them are ambiguous. The paradigms come from a lexicon of all words of the corpus with their features.
"""

from pathlib import Path
from typing import Final

import polars as pl

from discoprobe.builders.edits.swaps import SwapRules, causes_elision
from discoprobe.builders.edits.versions import original_and_edited
from discoprobe.builders.sampling.balance import REPEATED, in_both_directions, with_rank
from discoprobe.builders.sentences.candidates import usable_of
from discoprobe.builders.sentences.clauses import spelled_out
from discoprobe.builders.sentences.connectives import capitalised
from discoprobe.builders.sentences.trees import VALUES, Trees, with_dependents
from discoprobe.builders.task import Context, Sample
from discoprobe.loaders import hashing
from discoprobe.loaders.corpus import feat
from discoprobe.loaders.languages.word_lists import Paradigms, forms_that_agree, other_forms, read_paradigms

FEATURES: Final = ("Gender", "Person", "Number")
"""What verbs agree in; of a sentence with several candidates the first of these is used, the rarest one."""

VERBAL: Final = ("VERB", "AUX")
AGREES: Final = 0.9
"""Least share of verbs that agree with their subject, among those with the same features and helpers (MultiBLiMP's)."""

SEEN: Final = 10
"""Least number of such verbs."""

STRAY: Final = 0.05
"""Readings of a form with a smaller share of its occurrences are taken for annotation errors."""

STRAY_FORM: Final = 1 / 3
"""Lemmas with a tense that have a smaller share of the occurrences of a form are taken for annotation errors."""

MAIN_FORM: Final = 1 / 2
"""An indicative form without Tense that has a smaller share of the occurrences of its lemma and features differs from
others of the same features in what the treebank does not annotate (Basque *zen*, *da*, *denean*)."""

SPELLINGS: Final = 0.3
"""If a larger share of finite verbs is not spelled as most with the same lemma and features, the corpus has several
spellings or dialects (Low Saxon .32, Gheg .34; Turkish, whose features are fewer than its endings, .18), and a form
that disagrees in one may agree in another (*jy söllet*, *jy sküllet*)."""

REPEATED_CELL: Final = 3
"""Least number of verbs of a lemma and features that show how they are spelled."""

SYSTEMATIC: Final = 0.05
"""A cell of the paradigm that is ambiguous for a larger share of verbs, two at least, counts as ambiguous for all verbs
(German *er habe*)."""

PLAIN: Final = 1 / 2
"""If a larger share of the subjunctives of verbs, two at least, is the lemma (English *that he leave*), a form that is
the lemma may be a subjunctive of any number behind a subordinating conjunction (*if the need arise*)."""

UNMARKED: Final = 0.03
"""Where a larger share of nouns has a plural that looks like the singular, a noun alone does not show its number."""

ALIKE: Final = 1 / 2
"""If the plural of a larger share of the nouns that end alike looks like the singular in the case of the subject, none
of them shows its number (Czech *řízení*, *práce*), unless both forms are known to differ."""
ENDING: Final = 2
"""Letters at the end of a lemma by which nouns end alike."""

LAYERS: Final = {"Abs": "abs", "Erg": "erg"}
"""Case of a subject, and the layer of the verb's features that are the subject's (Basque ``Number[erg]``)."""

SUBJECT_CASES: Final = ("Nom", "Abs", "Erg")

OF_GENDER: Final = ("Animacy", "SubGender")
"""Features that divide a gender, and that only some genders have (Czech, Polish)."""

NAMES: Final = {
    value: name for feature in FEATURES for value, name in VALUES[feature].items()
    if value in {"Sing", "Plur", "Dual", "1", "2", "3", "Masc", "Fem", "Neut", "Com"}
}  # fmt: skip
"""The values that verbs agree in."""

CHANGES: Final = tuple(
    f"{NAMES[good]}/{NAMES[bad]}"
    for feature in reversed(FEATURES)
    for good in VALUES[feature]
    for bad in VALUES[feature]
    if good != bad and {good, bad} <= NAMES.keys()
)
"""The value of the subject and that of the form that does not agree, such as ``Singular/Plural``."""

FREQUENT: Final = 4
"""Pairs of forms with at least this number of sentences (*is*, *are*) are used equally often in both directions."""

_CLITIC: Final = "^['’‘ʼ-]|['’‘ʼ-]$"
"""Forms that are written together with another word (*'m*)."""

CHANGES_AGREEMENT: Final = ("conj", "nummod", "appos", "flat", "cc", "clf")
_APART: Final = ("expl", "expl:pass", "expl:impers", "compound:prt", "csubj", "csubj:pass", "csubj:outer")
"""Dependents of a predicate whose verb agrees with something else, or is written in two parts."""


def verbs(trees: Trees, context: Context) -> pl.DataFrame:
    """Verbs with one nominal subject, once per feature that both have, and the subject's facts."""
    clauses = _subjects(trees).join(_verbs(trees, context), on="predicate")
    clauses = clauses.with_columns(subject_first=pl.col("subject_row") < pl.col("target"))
    for case, layer in LAYERS.items():
        in_case = (feat("Case", "subject_feats") == case).fill_null(value=False)
        named = pl.when(in_case).then(for_subject(pl.col("verb_feats"), layer)).otherwise("verb_feats")
        clauses = clauses.with_columns(verb_feats=named)
    # Participles beside a verb, and adjectives, agree for sure with a noun before them that is not indefinite: a
    # pronoun may be polite (French *vous êtes venu*), and *Ärter är gott* is good Swedish.
    definite = (feat("Definite", "subject_feats") != "Ind").fill_null(value=True)
    sure = pl.col("subject_first") & (pl.col("subject_class") == "NOUN") & definite
    clauses = clauses.filter(pl.col("predicative").is_null() | sure)
    # The feature is one that can show agreement: that of a predicate that is a noun may be the noun's, in Spanish a
    # noun may stand with *nosotros*, and the Gender of persons and animals may be natural.
    animate = feat("Animacy", "subject_feats").is_in(["Anim", "Hum"]).fill_null(value=False)
    same_number = (pl.col("noun_number") == feat("Number", "subject_feats")).fill_null(value=False)
    showing = {
        "Gender": ~pl.col("is_noun") & ~animate,
        "Person": (pl.col("subject_class") == "PRON") & ~pl.col("is_noun"),
        "Number": ~pl.col("is_noun") | same_number,
    }
    parts = []
    for feature in FEATURES:
        of_subject, of_verb = feat(feature, "subject_feats"), feat(feature, "verb_feats")
        valued = [value.is_not_null() & ~value.str.contains(",", literal=True) for value in (of_subject, of_verb)]
        parts.append(
            clauses.filter(showing[feature], *valued)
            .with_columns(feature=pl.lit(feature), value=of_verb, subject_value=of_subject)
            .with_columns(target=pl.col("target").cast(pl.UInt32))
            .join(_between(clauses, trees, feature), on=["predicate", "target"], how="left", maintain_order="left")
        )
    order = pl.col("feature").replace_strict(FEATURES, range(3), return_dtype=pl.Int8)
    return pl.concat(parts).sort("sent", order, "target")


def _between(clauses: pl.DataFrame, trees: Trees, feature: str) -> pl.DataFrame:
    """The ``controller`` of the verb of each ``predicate``: the place and form of its subject, and what is between.

    ``distance`` is the number of words between the two; ``attractors`` are the nouns among these that have another
    value of the feature than the subject (Linzen, Dupoux & Goldberg 2016).
    """
    ends = clauses.select("predicate", "sent", "subject_row", "target", own=feat(feature, "subject_feats"))
    noun, value = pl.col("upos").is_in(["NOUN", "PROPN"]), feat(feature)
    inside = pl.col("row").is_between(
        pl.min_horizontal("subject_row", "target"), pl.max_horizontal("subject_row", "target"), closed="none"
    )
    words = trees.words.select("sent", "row", "start", "end", "form", "feats", pl.col("upos").cast(pl.String))
    found = ends.join(words, on="sent").group_by("predicate", "target", maintain_order=True).agg(
        pl.struct("start", "end", "form").filter(pl.col("row") == pl.col("subject_row")).first().struct.unnest(),
        distance=(inside & (pl.col("upos") != "PUNCT")).sum().cast(pl.Int32),
        attractors=(inside & noun & (value != pl.col("own")).fill_null(value=False)).sum().cast(pl.Int32),
    )  # fmt: skip
    return found.select(
        "predicate",
        pl.col("target").cast(pl.UInt32),
        controller=pl.struct("start", "end", "form", "distance", "attractors"),
    )


def lexicon(trees: Trees, *keys: pl.Expr) -> pl.DataFrame:
    """The words of a shard that a paradigm needs, with their number ``n``: those with Number, Person or Gender.

    ``keys`` are further columns by which words are counted apart; so is ``fused``, the word before, in small letters,
    where the two are written as one (French *à les*: *aux*), else empty.
    A word with these for several of its arguments (Basque *ditu*) is there once for each that can be a subject.
    """
    of_each = pl.concat_list(for_subject(pl.col("feats"), layer) for layer in LAYERS.values())
    as_one = (pl.col("mwt") == pl.col("mwt").shift(1)) & (pl.col("sent") == pl.col("sent").shift(1))
    fused = pl.when(as_one).then(pl.col("form").shift(1).str.to_lowercase()).otherwise(pl.lit(""))
    words = trees.words.with_columns(feats=of_each.list.unique(maintain_order=True), fused=fused).explode("feats")
    words = words.filter(
        pl.any_horizontal(feat(name).is_not_null() for name in FEATURES), spelled_out(), feat("Typo").is_null(),
        pl.col("lemma").is_not_null(), ~pl.col("form").str.contains(_CLITIC),
    ).join(trees.governing(pl.col("deprel") == "compound:prt"), on="row", how="anti")  # fmt: skip
    small = [pl.col(name).str.to_lowercase() for name in ("form", "lemma")]
    return words.group_by(*small, word_class(), "feats", "fused", *keys).agg(n=pl.len())


def for_subject(feats: pl.Expr, layer: str) -> pl.Expr:
    """Features of a verb, those of a layer as plain ones (``Number`` for ``Number[erg]``) if it has it.

    A verb that has the layer also gets it as the feature ``Layer``.
    """
    own = feats.str.contains(f"[{layer}]", literal=True).fill_null(value=False)
    return pl.when(own).then(feats.str.replace_all(f"[{layer}]", "", literal=True) + f"|Layer={layer}").otherwise(feats)


def is_finite() -> pl.Expr:
    """Whether a word is a finite verb; some treebanks (Arabic) leave VerbForm unsaid."""
    inflected = pl.any_horizontal(feat(name).is_not_null() for name in ("Person", "Mood", "Tense"))
    return (feat("VerbForm") == "Fin").fill_null(pl.col("upos").cast(pl.String).is_in(VERBAL) & inflected)


def word_class() -> pl.Expr:
    """The part of speech of a word; an auxiliary counts as a verb."""
    upos = pl.col("upos").cast(pl.String)
    return upos.replace("AUX", "VERB")


def _subjects(trees: Trees) -> pl.DataFrame:
    """The one subject of each ``predicate`` that nothing else makes agree in another way."""
    rel, upos, deprel, number = pl.col("rel"), pl.col("upos"), pl.col("deprel"), feat("Number")
    with_number = rel.is_in(["det", "amod"]) & number.is_not_null()
    several = (number == "Plur") | (feat("Case") == "Ins")  # *a number of cats*, Russian *генерал с извозчиком*
    words = with_dependents(
        trees.words, trees.words, n_subjects=rel.is_in(["nsubj", "csubj"]).sum(), apart=deprel.is_in(_APART).any(),
        changed=(rel.is_in(CHANGES_AGREEMENT) | (upos == "NUM")).any(), reflexive=(feat("Reflex") == "Yes").any(),
        with_others=((rel == "nmod") & several).any(), introduced=(rel == "mark").any(),
        beside=pl.concat_str(pl.col("form").str.to_lowercase(), word_class(), separator="\t").filter(with_number),
        least=number.filter(with_number).min(), most=number.filter(with_number).max(),
    )  # fmt: skip
    uneven = (pl.col("least") != number) | (pl.col("most") != number)  # *русский и белорусский языки*: two languages
    personal = (upos == "PRON") & (feat("PronType") == "Prs") & feat("Reflex").is_null()
    nominative = feat("Case").fill_null("Nom").is_in(SUBJECT_CASES)
    subjects = words.filter(
        deprel.is_in(["nsubj", "nsubj:pass"]), (upos == "NOUN") | personal, nominative, spelled_out(),
        ~pl.col("changed"), ~uneven.fill_null(value=False),
    ).select(
        "sent", "beside", "with_others", predicate="head_row", subject_row="row",
        subject=pl.col("form").str.to_lowercase(), subject_lemma=pl.col("lemma").str.to_lowercase(),
        subject_class=word_class(), subject_feats="feats",
    )  # fmt: skip
    predicates = words.filter(pl.col("n_subjects") == 1, ~pl.col("apart")).select(
        "reflexive", "introduced", predicate="row"
    )
    # *se utilizan baterías*: a noun behind a reflexive verb may be its object, which *se utiliza* goes with as well
    impersonal = pl.col("reflexive") & (pl.col("subject_row") > pl.col("predicate"))
    return subjects.join(predicates, on="predicate").filter(~impersonal).drop("reflexive")


def _verbs(trees: Trees, context: Context) -> pl.DataFrame:
    """For every ``predicate`` the words that can agree with its subject: ``target``.

    These are the finite one of its verb, copula and auxiliaries, else its participle; and other participles, or an
    adjective, as ``predicative``: what kind, and beside which auxiliaries.

    ``helpers`` are the relations of copula and auxiliaries, ``noun_number`` is the Number of a noun as predicate.
    ``bound`` verbs touch an apostrophe or a hyphen: another form of them might not.
    """
    words = trees.words.with_columns(previous=pl.col("form").shift(1).str.to_lowercase())
    main = words.with_columns(predicate=pl.col("row"), helper=pl.lit(None, pl.String))
    helping = words.filter(pl.col("rel").is_in(["aux", "cop"])).drop_nulls("head_row")
    every = pl.concat([main, helping.with_columns(predicate="head_row", helper="deprel")], how="vertical_relaxed")
    participle, is_main = feat("VerbForm") == "Part", pl.col("helper").is_null()
    relations = pl.col("helper").drop_nulls().unique().sort()
    beside = pl.concat_str("lemma", "helper", separator="/").filter(~is_main).unique().sort()
    in_group = every.filter(pl.col("upos").is_in([*VERBAL, "ADJ"]), spelled_out(), pl.col("lemma").is_not_null())
    in_group = in_group.with_columns(
        _rank=pl.when(pl.col("upos") == "ADJ").then(None).when(is_finite()).then(0).when(participle, is_main).then(1),
    )
    first = pl.col("_rank").is_not_null() & (pl.col("_rank") == pl.col("_rank").min().over("predicate"))
    alone = pl.col("_first").sum().over("predicate") == 1
    # Not *Paul est un jeune*: an adjective with a determiner is a noun.
    nouns = trees.governing(pl.col("rel") == "det").select(predicate="row", noun=pl.lit(value=True))
    secondary = participle.fill_null(value=False) | ((pl.col("upos") == "ADJ") & is_main)
    kind = pl.concat_str(
        pl.col("upos").cast(pl.String), feat("VerbForm"), "helper", pl.col("besides").list.join("+"), separator=" ",
        ignore_nulls=True,
    )  # fmt: skip
    groups = every.group_by("predicate").agg(helpers=relations, besides=beside)
    verbs = (
        in_group.with_columns(_first=first.fill_null(value=False))
        .with_columns(_alone=alone)
        .join(groups, on="predicate")
        .join(nouns, on="predicate", how="left")
        .filter(
            pl.when("_first").then("_alone").otherwise(secondary & ~(is_main & pl.col("noun").fill_null(value=False)))
        )
        .with_columns(predicative=pl.when(~pl.col("_first")).then(kind), helpers=pl.col("helpers").list.join("+"))
    )
    is_noun = pl.col("upos").is_in(["NOUN", "PROPN", "PRON", "NUM", "SYM"])
    nouns = words.select(predicate="row", is_noun=is_noun, noun_number=feat("Number"))
    elides = sorted(context.language.section(SwapRules).elides)
    before = pl.col("text").str.slice(0, pl.col("start")).str.slice(-1)
    after = pl.col("text").str.slice(pl.col("end"), 1)
    touches = before.str.contains("['’‘ʼ-]") | after.str.contains("['’‘ʼ-]")
    return trees.with_text(verbs).join(nouns, on="predicate", how="left").select(
        "predicate", "helpers", "predicative", "is_noun", "noun_number", target="row", verb_feats="feats",
        verb_class=word_class(), elides=pl.col("previous").is_in(elides), bound=touches | pl.col("mwt").is_not_null(),
    )  # fmt: skip


def with_other_forms(frame: pl.DataFrame, entries: pl.DataFrame, context: Context) -> pl.DataFrame:
    """Verbs with ``other`` (the form that does not agree) and its ``other_value``, or the ``reason`` against them.

    Args:
        frame: what ``verbs`` gave, of all shards, with the columns of a probing candidate; adds its ``condition``, one
            of ``CHANGES``.
        entries: the ``lexicon`` of all shards.
        context: seed key of the task.
    """
    # Finite verbs and participles, and words in the case of a subject.
    entries = entries.group_by("form", "lemma", "upos", "feats").agg(pl.col("n").sum())
    participle = (feat("VerbForm") == "Part").fill_null(value=False)
    verbal = (is_finite() | participle) & (feat("Mood") != "Imp").fill_null(value=True)
    nominal = feat("Case").fill_null("Nom").is_in(SUBJECT_CASES)
    used = pl.when(pl.col("upos") == "VERB").then(verbal).otherwise(nominal).fill_null(value=False)
    words = entries.filter(used).with_columns(*[feat(name) for name in FEATURES], *_reading())
    rows = frame.with_columns(
        verb=pl.col("target_form").str.to_lowercase(), lemma=pl.col("target_lemma").str.to_lowercase()
    )
    forms = None
    if context.forms:
        lemmas, own = frozenset(rows["lemma"]), not context.forms.name
        forms = read_paradigms(tuple(Path(file.url) for file in context.forms.files), lemmas, strict=own)
    parts = [
        _with_other(_with_clear_subjects(part, words, feature), words, feature, context, forms)
        for feature in FEATURES
        if (part := rows.filter(pl.col("feature") == feature)).height
    ]
    differs = causes_elision(pl.col("other")) != causes_elision(pl.col("verb"))
    bound = (pl.col("bound") | (pl.col("elides") & differs)).fill_null(value=False)
    # Verbs that do not agree, or seldom, and subjects that agree in two ways.
    names = ("feature", "subject_class", "helpers", "predicative", "subject_first")
    kind = [*map(pl.col, names), feat("VerbForm", "verb_feats"), feat("Layer", "verb_feats")]
    agrees, share, agreeing = pl.col("value") == pl.col("subject_value"), pl.col("_share"), pl.col("_agreeing")
    # What never changes (*ha* presentato) agrees with subjects of one value only.
    changes = (share.min().over(kind) >= AGREES) & (pl.col("subject_value").n_unique().over(kind) > 1)
    may_agree = (share >= AGREES) & (changes | pl.col("predicative").is_null())
    seldom = ~agreeing | (pl.len().over(*kind, "subject_value") < SEEN)
    quantity = (pl.col("feature") == "Number") & pl.col("with_others") & (pl.col("value") == "Sing")
    other_way = (~agrees & (agreeing | pl.col("predicative").is_null())).any()
    both_ways = other_way.over("feature", "subject_class", "subject_lemma") & (pl.col("subject_class") == "NOUN")
    reason = pl.coalesce(
        "reason",
        pl.when(bound).then(pl.lit("bound-form")),
        pl.lit("several-spellings" if _is_spelled_in_several_ways(words) else None, pl.String),
        pl.when(~agrees | seldom).then(pl.lit("no-agreement")),
        pl.when(both_ways | quantity).then(pl.lit("mixed-subject")),
        "unclear",
        "no_other",
    )
    judged = pl.concat(parts).with_columns(_share=agrees.mean().over(*kind, "subject_value"))
    judged = judged.with_columns(_agreeing=may_agree).with_columns(reason=reason)
    values = [pl.col(column).replace_strict(NAMES, default=None) for column in ("value", "other_value")]
    named = judged.with_columns(condition=pl.concat_str(values, separator="/"))
    return named.drop("_share", "_agreeing").sort("row")


def _is_spelled_in_several_ways(words: pl.DataFrame) -> bool:
    """Whether many finite verbs are not spelled as most with the same lemma and features (``SPELLINGS``)."""
    finite = (pl.col("upos") == "VERB") & is_finite().fill_null(value=False)
    cells = words.filter(finite).group_by("lemma", "feats").agg(pl.col("n").sum(), most=pl.col("n").max())
    shown = cells.filter(pl.col("n") >= REPEATED_CELL).select(pl.col("n", "most").sum())
    return int(shown["n"][0]) - int(shown["most"][0]) > SPELLINGS * int(shown["n"][0])


def _with_clear_subjects(rows: pl.DataFrame, words: pl.DataFrame, feature: str) -> pl.DataFrame:
    """Adds ``unclear``: the reason against subjects whose form can have another value than it has here.

    Where many nouns look the same in both numbers, the noun's other form must be known, or a determiner or an adjective
    must show the number.
    """
    valued = words.filter(pl.col(feature).is_not_null())
    values = valued.group_by("form", "upos", value=feature).agg(pl.col("n").sum())
    certain = values.filter(pl.col("n") / pl.col("n").sum().over("form", "upos") >= 1 - STRAY)
    showing = certain.select(pl.concat_str("form", "upos", "value", separator="\t")).to_series().implode()

    def show(*word_and_value: str) -> pl.Expr:
        return pl.concat_str(word_and_value, separator="\t").is_in(showing).fill_null(value=False)

    clear = show("subject", "subject_class", "subject_value")
    beside = rows.select("row", "subject_value", "beside").explode("beside")
    by_modifier = pl.col("row").is_in(beside.filter(show("beside", "subject_value"))["row"].implode())
    if feature == "Gender":
        # A noun with a form for each gender (*alumno*, *alumna*) is a person or an animal.
        genders = valued.filter(pl.col("upos") == "NOUN").group_by("lemma", "Gender").agg(pl.col("n").sum())
        most = genders.group_by("lemma").agg(share=pl.col("n").max() / pl.col("n").sum())
        clear &= ~pl.col("subject_lemma").is_in(most.filter(pl.col("share") < 1 - STRAY)["lemma"].implode())
        # Spanish *su oponente* can be either; a noun that is known to be inanimate has one gender.
        thing = (feat("Animacy", "subject_feats") == "Inan") | (pl.col("subject_value") == "Neut")
        clear &= pl.col("predicative").is_null() | thing.fill_null(value=False) | by_modifier
    if feature == "Number":
        nouns = valued.filter(pl.col("upos") == "NOUN").group_by("lemma").agg(
            numbers=pl.col("Number").n_unique(), forms=pl.col("form").n_unique()
        )  # fmt: skip
        inflected = nouns.filter(pl.col("numbers") > 1)
        if (inflected.select((pl.col("forms") == 1).mean()).item() or 0.0) > UNMARKED:
            other_known = pl.col("subject_lemma").is_in(inflected.filter(pl.col("forms") > 1)["lemma"].implode())
            clear &= other_known | by_modifier | (pl.col("subject_class") == "PRON")
        by_determiner = pl.col("row").is_in(
            beside.filter(show("beside", "subject_value"), pl.col("beside").str.ends_with("DET"))["row"].implode()
        )
        alike = pl.concat_str("subject_lemma", feat("Case", "subject_feats").fill_null(""), separator="\t")
        clear &= ~alike.is_in(_alike_in_number(valued).implode()) | by_determiner
    return rows.with_columns(unclear=pl.when(~clear).then(pl.lit("ambiguous-subject")))


def _alike_in_number(words: pl.DataFrame) -> pl.Series:
    """Nouns in a case, as ``lemma<tab>case``, that end as nouns do whose plural looks like the singular in this case.

    A noun of which both forms are known and differ is none of them.
    """
    case = feat("Case").fill_null("")
    nouns = words.filter(pl.col("upos") == "NOUN", pl.col("lemma").is_not_null()).with_columns(case=case)
    nouns = nouns.with_columns(ending=pl.col("lemma").str.slice(-ENDING))
    forms = {value: pl.col("form").str.to_lowercase().filter(pl.col("Number") == value).unique() for value in NUMBERS}
    of_lemmas = nouns.group_by("lemma", "case", "ending").agg(**forms)
    known = pl.all_horizontal(pl.col(value).list.len() > 0 for value in NUMBERS)
    of_lemmas = of_lemmas.with_columns(
        same=pl.when(known).then(pl.col(NUMBERS[0]).list.set_intersection(NUMBERS[1]).list.len() > 0)
    )
    share = pl.col("same").mean().over("case", "ending")
    alike = of_lemmas.filter(share > ALIKE, pl.col("same").fill_null(value=True))
    return alike.select(pl.concat_str("lemma", "case", separator="\t")).to_series()


NUMBERS: Final = ("Sing", "Plur")


def _with_other(
    rows: pl.DataFrame, words: pl.DataFrame, feature: str, context: Context, forms: Paradigms | None
) -> pl.DataFrame:
    """Adds ``other``, ``other_value`` and ``no_other``, the reason why no form is left that cannot agree.

    The other form has the same lemma and the same features except one. If the plural has no gender (Russian *пришли*),
    the singular has that of the subject. If there are several values, one is chosen by hash.
    """
    verbs = words.filter(pl.col("upos").is_in(rows["verb_class"].implode()), pl.col(feature).is_not_null())
    tense = _without(pl.col("feats"), *FEATURES)
    usual = pl.col("n").sum().over("form", "lemma", "upos", tense) > STRAY_FORM * pl.col("n").sum().over("form", "upos")
    in_cell = pl.col("n").sum().over("lemma", "upos", "feats")
    tenseless = ((feat("Mood") == "Ind") & feat("Tense").is_null()).fill_null(value=False)
    main = pl.col("n").sum().over("form", "lemma", "upos", "feats") > MAIN_FORM * in_cell
    table = verbs.filter(usual, main | ~tenseless).with_columns(rest=other_features(pl.col("feats"), feature))
    verbs_of_rows = rows.select(
        "row", "key", "lemma", "value", "introduced", form="verb", upos="verb_class", feats="verb_feats",
        rest=other_features(pl.col("verb_feats"), feature), of_subject=feat("Gender", "subject_feats"),
        **{name: feat(name, "verb_feats") for name in FEATURES},
    ).with_columns(_reading())  # fmt: skip
    # A form that is ambiguous for many verbs counts as ambiguous for all, by value, other value and other features.
    every = table.with_columns(
        row=pl.int_range(pl.len(), dtype=pl.UInt32),
        value=feature,
        of_subject=pl.lit(None, pl.String),
        introduced=pl.lit(value=False),
    )
    many = (pl.col("also").mean() > SYSTEMATIC) & (pl.col("lemma").filter("also").n_unique() > 1)
    paradigms = _with_ambiguity(forms_with_other_values(every, table, feature), verbs, feature)
    systematic = paradigms.group_by("value", "other_value", "upos", "rest").agg(systematic=many)
    own = verbs.filter(tenseless & ~main).select("lemma", "upos", "feats", "form").unique()
    told_apart = verbs_of_rows.join(own, on=["lemma", "upos", "feats", "form"], how="anti", maintain_order="left")
    options = _with_ambiguity(forms_with_other_values(told_apart, table, feature), verbs, feature).join(
        systematic, on=["value", "other_value", "upos", "rest"], how="left"
    )
    options = options.with_columns(also=pl.col("also") | pl.col("systematic").fill_null(value=False))
    if forms is not None:
        # UniMorph has other forms of verbs that have none in the corpus, and forms with both values.
        lacking = verbs_of_rows.join(options, on="row", how="anti")
        listed = lacking.join(other_forms(lacking, feature, forms), on="row", maintain_order="left")
        options = pl.concat([options, _with_ambiguity(listed, verbs, feature)], how="diagonal")
        agreeing = forms_that_agree(verbs_of_rows, forms).with_columns(listed=True)
        options = options.join(agreeing, on=["row", "other"], how="left", maintain_order="left")
        options = options.with_columns(
            also=pl.col("also").fill_null(value=False) | pl.col("listed").fill_null(value=False)
        )
    order = hashing.mix(
        options["key"].to_numpy() ^ hashing.hash_strings(options["other_value"].fill_null("")), *context.seed_key
    )
    judged = options.with_columns(pl.col("also").fill_null(value=False), _order=pl.Series(order))
    chosen = judged.sort("row", "also", "_order").unique("row", keep="first", maintain_order=True)
    other = chosen.select("row", "other", "other_value", "also")
    none, ambiguous = (pl.lit(reason) for reason in ("no-other-form", "ambiguous-verb"))
    reason = pl.when(pl.col("other").is_null()).then(none).when("also").then(ambiguous)
    return rows.join(other, on="row", how="left", maintain_order="left").with_columns(no_other=reason).drop("also")


def other_features(feats: pl.Expr, feature: str) -> pl.Expr:
    """The features of a verb except one, and except those that only some values of it have.

    Number is left out with Gender, and with Definite of words that are not finite (Swedish), which many plurals do not
    have, and Gender with the features that divide it.
    """
    names = ("Number", "Gender", *OF_GENDER) if feature == "Number" else (feature, *OF_GENDER)
    rest = _without(feats, *names)
    if feature != "Number":
        return rest
    return pl.when(rest.str.contains("VerbForm=Fin", literal=True)).then(rest).otherwise(_without(rest, "Definite"))


def _reading() -> list[pl.Expr]:
    """What else tells readings of a form apart: whose values it has, and Definite of a participle or adjective."""
    finite = pl.col("feats").str.contains("VerbForm=Fin", literal=True)
    return [feat("Layer").fill_null(""), pl.when(~finite).then(feat("Definite")).alias("Definite")]


def _without(feats: pl.Expr, *names: str) -> pl.Expr:
    return feats.str.replace_all(rf"(^|\|)(?:{'|'.join(names)})=[^|]*", "").str.strip_chars("|")


def forms_with_other_values(verbs: pl.DataFrame, table: pl.DataFrame, feature: str) -> pl.DataFrame:
    """For each verb and other value the most frequent form of its lemma that has the value."""
    of_forms = table.group_by("lemma", "upos", "rest", "Gender", "Definite", other="form", other_value=feature)
    forms = of_forms.agg(pl.col("n").sum()).rename({"Gender": "gender", "Definite": "definite"})
    gender = pl.coalesce("Gender", "of_subject")
    same_gender = (pl.col("gender") == gender).fill_null(value=True) if feature == "Number" else pl.lit(value=True)
    options = verbs.join(forms, on=["lemma", "upos", "rest"]).filter(
        pl.col("other_value") != pl.col("value"), pl.col("other") != pl.col("form"), same_gender,
        (pl.col("definite") == pl.col("Definite")).fill_null(value=True),
    )  # fmt: skip
    most = options.sort("row", "other_value", "n", "other", descending=[False, False, True, False])
    return most.unique(["row", "other_value"], keep="first", maintain_order=True)


def _with_ambiguity(options: pl.DataFrame, verbs: pl.DataFrame, feature: str) -> pl.DataFrame:
    """Adds ``also``: whether the other form has a reading with the values that the verb has, in any tense or mood.

    Where the subjunctive looks like the lemma, so does every lemma behind a conjunction, and a rare reading (*if he
    were*) may be a subjunctive that the treebank does not mark as one.
    """
    told_apart = (*FEATURES, "Definite")
    readings = verbs.group_by(*told_apart, "upos", "Layer", other="form").agg(n=pl.col("n").sum())
    names = ("row", "other_value", "other", "upos", "Layer", "lemma", "introduced")
    joined = options.select(*names, *told_apart).join(
        readings, on=["other", "upos", "Layer"], how="left", suffix="_read"
    )
    fits = [(pl.col(name) == pl.col(f"{name}_read")).fill_null(value=name != feature) for name in told_apart]
    n_fitting = (pl.col("n") * pl.all_horizontal(fits)).sum()
    also = n_fitting > STRAY * pl.col("n").sum()
    if _is_subjunctive_plain(verbs):
        subjunctive = (pl.col("other") == pl.col("lemma")).any() | (n_fitting > 1)
        also |= pl.col("introduced").any() & subjunctive
    ambiguous = joined.group_by("row", "other_value").agg(also=also)
    return options.join(ambiguous, on=["row", "other_value"], how="left", maintain_order="left")


def _is_subjunctive_plain(verbs: pl.DataFrame) -> bool:
    """Whether most subjunctives, of two verbs at least, look like the lemma (``PLAIN``)."""
    subjunctives = verbs.filter((feat("Mood") == "Sub").fill_null(value=False))
    plain = subjunctives.filter(pl.col("form") == pl.col("lemma"))
    return plain["lemma"].n_unique() > 1 and int(plain["n"].sum()) > PLAIN * int(subjunctives["n"].sum())


def good_and_bad(frame: pl.DataFrame, context: Context) -> Sample:
    """The usable candidates, in both directions, as they are and with the form ``other`` in place of their target.

    Args:
        frame: candidates with ``subject``, ``verb`` and ``other`` (forms in small letters), ``feature``, ``value``,
            ``other_value``, ``condition`` and the ``reason`` against them.
        context: seed key, settings and language.
    """
    usable, drops = usable_of(frame, context), context.drops
    single = drops.keep(usable, not_repeated(usable, *context.seed_key), "repeated")
    both = drops.keep(single, both_directions(single, *context.seed_key), "one-direction")
    new = capitalised(both["other"], both["target_form"].str.contains(r"^\p{Uppercase}"), context.language)
    plan = pl.struct(start="target_start", end="target_end", new=new)
    return original_and_edited(both.with_columns(plan=plan), context)


def not_repeated(rows: pl.DataFrame, *seed_key: str | int) -> pl.DataFrame:
    """At most ``REPEATED`` sentences of each subject and verb; adds ``wording``, the hash of the two words.

    A config has no more, even if it is built from several blocks.
    """
    words = rows.with_columns(wording=hashing.hashed(pl.concat_str("subject", "verb", separator="\t")))
    ranked = with_rank(words, ["wording"], "repeated", *seed_key)
    return ranked.filter(pl.col("rank") <= REPEATED).drop("rank")


def both_directions(rows: pl.DataFrame, *seed_key: str | int) -> pl.DataFrame:
    """As many changes of one value to another as in the opposite direction; the same for frequent pairs of forms.

    So no preference for a form, an ending or a longer text says which text of a pair is good. A change and its
    counterpart share ``ring``.
    """
    values, forms = (
        pl.concat_list(names).list.sort().list.join(" ") for names in (["value", "other_value"], ["verb", "other"])
    )
    cells = rows.with_columns(_values=values, _forms=forms, _up=pl.col("value") < pl.col("other_value"))
    frequent = pl.len().over("feature", "_values", "_forms") >= FREQUENT
    cells = cells.with_columns(_forms=pl.when(frequent).then("_forms"))
    equal = in_both_directions(cells, ["feature", "_values", "_forms"], "_up", *seed_key)
    return equal.drop("_values", "_forms", "_up")
