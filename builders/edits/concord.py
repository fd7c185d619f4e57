"""Determiners and adjectives that agree with their noun, and forms of the same words that do not.

``modifiers`` finds those of a shard, ``with_other_forms`` sees those of all shards and chooses the form that does not
agree.

No rule is specific to a language. A pair is used only if the changed form, in none of the readings that it or its
ending has in the corpus, agrees with the noun in any reading that the noun or its ending has. So the phrase itself is
wrong, whatever stands around it.
"""

from typing import Final

import msgspec
import polars as pl

from discoprobe.builders.edits.agreement import (
    AGREES,
    CHANGES_AGREEMENT,
    SEEN,
    STRAY,
    SUBJECT_CASES,
    forms_with_other_values,
    other_features,
    word_class,
)  # fmt: skip
from discoprobe.builders.sentences.clauses import spelled_out
from discoprobe.builders.sentences.trees import VALUES, Trees, with_dependents
from discoprobe.builders.task import Context
from discoprobe.loaders import hashing
from discoprobe.loaders.corpus import feat

FEATURES: Final = ("Gender", "Number", "Case")
"""What modifiers agree in."""

KINDS: Final = {"det": "determiner", "amod": "adjective"}
"""Relations of modifiers, and what conditions call them."""

CONDITIONS: Final = tuple(f"{kind} {feature.lower()}" for kind in KINDS.values() for feature in FEATURES)

ENDING: Final = 2
"""Letters at the end of a form by which forms of one part of speech are alike."""

LEMMA_ENDING: Final = 3
"""Letters at the end of a lemma by which nouns have one gender (Spanish *-ción*) or several (*-nte*)."""

KNOWN: Final = 5
"""Least number of lemmas with an ending that show which readings the ending has."""

RARE: Final = 0.01
"""Share of the lemmas with an ending up to which a reading of the ending is taken for annotation errors."""

SCATTERED: Final = 0.01
"""If a larger share of the modifiers has a word between itself and its noun that does not belong to the noun (Latin
*magna cum laude*), a modifier may belong to any noun of the sentence."""

ALONE: Final = ("nsubj", "obj", "iobj", "obl", "nmod")
"""Relations of a determiner or an adjective that stands in the place of a noun."""

USE: Final = (
    pl.when(pl.col("rel") == "nmod", feat("Case") == "Gen")
    .then(pl.when(pl.col("row") < pl.col("head_row")).then(pl.lit("before")).otherwise(pl.lit("behind")))
    .when(pl.col("rel").is_in(ALONE))
    .then(pl.lit("alone"))
    .when(pl.col("rel") == "xcomp")
    .then(pl.lit("predicative"))
    .otherwise(pl.lit(""))
    .alias("use")
)
"""How a word is used: in the genitive before or behind its noun, otherwise in place of a noun, as a predicate."""

USUAL: Final = 1 / 2
"""If a larger share of the genitives stands before the noun, a modifier in the genitive may be a possessor; if a larger
share of the nouns begins with a capital, a capital does not show a name."""

QUOTATION: Final = '["“”„«»‹›「『]'
"""A quotation mark that begins or ends between a modifier and its noun: the noun is a name (*la « Charmeuse »*)."""


class _Corpus(msgspec.Struct, frozen=True, eq=False):
    """What all words of a corpus tell.

    Attributes:
        words: the lexicon, with the columns ``FEATURES``.
        modifiers: ``form``, ``upos`` and the values that modifiers can have.
        nouns: ``form``, ``lemma`` and the values that nouns can have.
        fused: the form that is ``other`` and the word ``previous`` to it, where the two are written as one.
        loose: whether a modifier may belong to any noun of the sentence.
    """

    words: pl.DataFrame
    modifiers: pl.DataFrame
    nouns: pl.DataFrame
    fused: pl.DataFrame
    loose: bool


def modifiers(trees: Trees) -> pl.DataFrame:
    """Modifiers of common nouns, once per feature that both have, and the noun's facts."""
    rows = _modifiers(trees)
    parts = []
    for feature in FEATURES:
        own, of_noun = feat(feature), feat(feature, "noun_feats")
        valued = [value.is_not_null() & ~value.str.contains(",", literal=True) for value in (own, of_noun)]
        parts.append(rows.filter(*valued).with_columns(feature=pl.lit(feature), value=own, subject_value=of_noun))
    return pl.concat(parts).sort("sent", "target", "feature")


def _modifiers(trees: Trees) -> pl.DataFrame:
    """The determiners and adjectives of nouns: ``target``, the noun's facts, and the other nouns of the sentence."""
    previous = pl.when(pl.col("sent") == pl.col("sent").shift(1)).then(pl.col("form").shift(1).str.to_lowercase())
    words = trees.words.with_columns(upos=pl.col("upos").cast(pl.String), previous=previous)
    changed = (pl.col("rel").is_in(CHANGES_AGREEMENT) | (pl.col("upos") == "NUM")).any()
    nouns = with_dependents(words, words, changed=changed).filter(
        pl.col("upos") == "NOUN", spelled_out(), feat("Typo").is_null(), ~pl.col("changed"),
        pl.col("lemma").is_not_null(),
    )  # fmt: skip
    of_nouns = nouns.select(
        head_row="row", noun_row="row", subject=pl.col("form").str.to_lowercase(), noun_feats="feats",
        subject_lemma=pl.col("lemma").str.to_lowercase(), noun_start="start", noun_end="end", noun_form="form",
    )  # fmt: skip
    joined = trees.governing(pl.col("rel").is_in(["conj", "case"])).with_columns(joined=pl.lit(value=True))
    participle = (feat("VerbForm") == "Part").fill_null(value=False)
    modifiers = words.join(joined, on="row", how="left", maintain_order="left").filter(
        pl.col("rel").is_in([*KINDS]), pl.col("upos").is_in(["DET", "ADJ", "PRON"]) | participle, spelled_out(),
        feat("Typo").is_null(), pl.col("lemma").is_not_null(), pl.col("joined").is_null(),
    ).join(of_nouns, on="head_row", maintain_order="left")  # fmt: skip
    before = pl.col("text").str.slice(0, pl.col("start")).str.slice(-1)
    after = pl.col("text").str.slice(pl.col("end"), 1)
    touches = before.str.contains("['’‘ʼ-]") | after.str.contains("['’‘ʼ-]")
    end_of_first, start_of_second = pl.min_horizontal("end", "noun_end"), pl.max_horizontal("start", "noun_start")
    gap = (start_of_second.cast(pl.Int64) - end_of_first).clip(0)  # words of one written word have its whole span
    between = pl.col("text").str.slice(end_of_first, gap)
    rows = trees.with_text(modifiers).select(
        "sent", "feats", "subject", "subject_lemma", "noun_feats", "noun_row", "previous",
        target=pl.col("row").cast(pl.UInt32), kind=pl.col("rel").replace_strict(KINDS), verb_class=word_class(),
        noun_first=pl.col("noun_row") < pl.col("row"),
        bound=(touches | pl.col("mwt").is_not_null()).fill_null(value=True),
        capital=pl.col("noun_form").str.contains(r"^\p{Lu}") & (pl.col("noun_start") > 0),
        quoted=between.str.contains(QUOTATION).fill_null(value=False),
        noun=pl.struct(start="noun_start", end="noun_end", form="noun_form"),
    )  # fmt: skip
    return rows.join(_around(rows, words), on="target", how="left", maintain_order="left")


def _around(rows: pl.DataFrame, words: pl.DataFrame) -> pl.DataFrame:
    """For each modifier the ``controller`` (its noun, and the words between), ``scattered`` and ``others``.

    ``others`` are the features of the other nouns, names and pronouns of the sentence, ``between`` those of the ones
    between the two; ``scattered``: a word between the two belongs to neither.
    """
    place = pl.col("target").cast(pl.Int64)
    low, high = pl.min_horizontal(place, "noun_row"), pl.max_horizontal(place, "noun_row")
    inside = pl.col("row").is_between(low, high, closed="none")
    another = (pl.col("row") != place) & (pl.col("row") != pl.col("noun_row"))
    nominal = pl.col("upos").is_in(["NOUN", "PROPN", "PRON"]) & another
    valued = pl.any_horizontal(feat(name, "word_feats").is_not_null() for name in FEATURES)
    different = [
        (feat(name, "word_feats") != feat(name, "noun_feats")).fill_null(value=False) for name in ("Number", "Gender")
    ]
    described = words.select("sent", "row", "head_row", "upos", word_feats="feats")
    found = rows.select("sent", "target", "noun_row", "noun_feats", "noun").join(described, on="sent")
    outside = ~pl.col("head_row").is_between(low, high).fill_null(value=False)
    nouns = pl.col("upos").is_in(["NOUN", "PROPN"])
    return found.group_by("target", maintain_order=True).agg(
        pl.col("noun").first().struct.unnest(),
        distance=(inside & (pl.col("upos") != "PUNCT")).sum().cast(pl.Int32),
        attractors=(inside & nouns & pl.any_horizontal(different)).sum().cast(pl.Int32),
        scattered=(inside & outside & (pl.col("upos") != "PUNCT")).any(),
        others=pl.col("word_feats").filter(nominal & valued).unique(maintain_order=True),
        between=pl.col("word_feats").filter(nominal & valued & inside).unique(maintain_order=True),
    ).select(
        "target", "scattered", "others", "between",
        controller=pl.struct("start", "end", "form", "distance", "attractors"),
    )  # fmt: skip


def with_other_forms(frame: pl.DataFrame, entries: pl.DataFrame, context: Context) -> pl.DataFrame:
    """Modifiers with ``other`` (the form that does not agree) and its ``other_value``, or the ``reason`` against them.

    Args:
        frame: what ``modifiers`` gave, of all shards, with the columns of a probing candidate; adds its ``condition``,
            one of ``CONDITIONS``, which is also its ``feature``.
        entries: the ``lexicon`` of all shards, with ``USE``.
        context: seed key of the task.
    """
    fused = entries.filter(pl.col("fused") != "").select(other="form", previous="fused").unique()
    entries = entries.group_by("form", "lemma", "upos", "feats", "use").agg(pl.col("n").sum())
    finite = (feat("VerbForm") != "Part").fill_null(value=True) & (pl.col("upos") == "VERB")
    words = entries.filter(pl.col("upos").is_in(["NOUN", "DET", "ADJ", "PRON", "VERB"]), ~finite)
    words = words.with_columns(*[feat(name) for name in FEATURES])
    rows = frame.with_columns(
        verb=pl.col("target_form").str.to_lowercase(), lemma=pl.col("target_lemma").str.to_lowercase()
    )
    loose = rows.filter("scattered").height > SCATTERED * rows.height
    named = pl.col("quoted") | (pl.col("capital") & (pl.col("capital").mean() <= USUAL))
    readings = _readings(words.filter(pl.col("upos") != "NOUN")), _readings_of_nouns(words)
    corpus = _Corpus(words, *readings, fused, loose)
    parts = [
        _with_other(part, feature, corpus, context)
        for feature in FEATURES
        if (part := rows.filter(pl.col("feature") == feature)).height
    ]
    reason = pl.coalesce(
        "reason",
        pl.when(named).then(pl.lit("ambiguous-noun")),
        pl.when(pl.col("bound")).then(pl.lit("bound-form")),
        pl.when(~pl.col("agrees")).then(pl.lit("no-agreement")),
        "no_other",
    )
    judged = _with_agreement(pl.concat(parts)).with_columns(reason=reason)
    order = hashing.mix(judged["key"].to_numpy() ^ hashing.hash_strings(judged["feature"]), *context.seed_key)
    ordered = judged.with_columns(_order=pl.Series(order)).sort("_order", "row").drop("_order", "agrees")
    condition = pl.concat_str("kind", pl.col("feature").str.to_lowercase(), separator=" ")
    return ordered.with_columns(condition=condition, feature=condition)


def _with_agreement(rows: pl.DataFrame) -> pl.DataFrame:
    """Adds ``agrees``: whether the modifier agrees, and those of its kind do, with nouns of at least two values.

    It has to agree in all features in which those of its kind agree.
    """
    kind = ["verb_class", "kind", "noun_first", "_type", "_poss"]
    named = rows.with_columns(
        _of_noun=pl.when(pl.col("feature") == "Gender").then(feat("Number", "noun_feats")),
        _type=feat("PronType", "target_feats"), _poss=feat("Poss", "target_feats"),
        **{name: feat(name, "target_feats") == feat(name, "noun_feats") for name in FEATURES},
    )  # fmt: skip
    differing = [
        (~pl.col(name) & (pl.col(name).mean().over(kind) >= AGREES)).fill_null(value=False) for name in FEATURES
    ]
    of_value = [*kind, "feature", "_of_noun", "subject_value"]
    same = pl.col("value") == pl.col("subject_value")
    agreeing = (same.mean().over(of_value) >= AGREES) & (pl.len().over(of_value) >= SEEN)
    several = pl.col("subject_value").filter("_agreeing").n_unique().over(*kind, "feature", "_of_noun") > 1
    judged = named.with_columns(_agreeing=agreeing)
    judged = judged.with_columns(agrees=same & pl.col("_agreeing") & several & ~pl.any_horizontal(differing))
    return judged.drop("_of_noun", "_type", "_poss", "_agreeing", *FEATURES)


def _readings(words: pl.DataFrame) -> pl.DataFrame:
    """``form``, ``upos`` and the values of ``FEATURES`` that modifiers can have, by the form and by its ending."""
    own = words.group_by("form", "upos", *FEATURES).agg(pl.col("n").sum())
    own = own.filter(pl.col("n") > STRAY * pl.col("n").sum().over("form", "upos"))
    ending = words.with_columns(ending=pl.col("form").str.slice(-ENDING))
    types = ending.group_by("ending", "upos", *FEATURES).agg(n=pl.col("lemma").n_unique())
    types = types.filter(_is_known(pl.col("n"), "ending", "upos"))
    by_ending = ending.select("form", "upos", "ending").unique().join(types, on=["ending", "upos"])
    names = ["form", "upos", *FEATURES]
    return pl.concat([own.select(names), by_ending.select(names)]).unique()


def _is_known(n: pl.Expr, *of: str) -> pl.Expr:
    """Whether an ending has a reading: in more than ``STRAY`` of its lemmas, or in two and more than ``RARE``."""
    share = n / n.sum().over(of)
    return (share > STRAY) | ((share > RARE) & (n > 1))


def _readings_of_nouns(words: pl.DataFrame) -> pl.DataFrame:
    """``form``, ``lemma`` and the values that a noun can have: its gender, and number and case of its ending.

    Not those for which the corpus has only other forms of the noun (Swedish *bosättning* in the singular). Nouns of
    which the lemmas with the same ending and gender are fewer than ``KNOWN`` are not there.
    """
    of_ending, cell = ["ending", "Gender"], ["lemma", "Gender", "Number", "Case"]
    nouns = words.filter(pl.col("upos") == "NOUN").with_columns(ending=pl.col("form").str.slice(-ENDING))
    many = nouns.group_by(of_ending).agg(n=pl.col("lemma").n_unique()).filter(pl.col("n") >= KNOWN)
    types = nouns.group_by(*of_ending, "Number", "Case").agg(n=pl.col("lemma").n_unique())
    types = types.filter(_is_known(pl.col("n"), *of_ending))
    classed = nouns.join(many, on=of_ending, how="semi", nulls_equal=True)
    by_ending = classed.select("form", "lemma", *of_ending).unique().join(types, on=of_ending, nulls_equal=True)
    unseen = by_ending.join(nouns.select(cell).unique(), on=cell, how="anti", nulls_equal=True)
    names = ["form", "lemma", *FEATURES]
    return pl.concat([classed.select(names), unseen.select(names)]).unique()


def _with_other(rows: pl.DataFrame, feature: str, corpus: _Corpus, context: Context) -> pl.DataFrame:
    """Adds ``other``, ``other_value`` and ``no_other``, the reason why no form is left that cannot agree."""
    valued = corpus.words.filter(pl.col("upos") != "NOUN", pl.col(feature).is_not_null())
    table = valued.with_columns(rest=other_features(pl.col("feats"), feature), Definite=feat("Definite"))
    modifiers = rows.select(
        "row", "key", "lemma", "value", "subject", "subject_lemma", "others", "between", "kind", "previous",
        form="verb", upos="verb_class", rest=other_features(pl.col("target_feats"), feature),
        of_subject=feat("Gender", "noun_feats"), Gender=feat("Gender", "target_feats"),
        Definite=feat("Definite", "target_feats"), animacy=feat("Animacy", "noun_feats"),
    )  # fmt: skip
    # Not a value that the form itself has, too: what else is there for it is rare, or an error.
    own = table.select("lemma", "upos", "rest", "form", other_value=feature).unique()
    options = forms_with_other_values(modifiers, table, feature).join(own, on=own.columns, how="anti")
    options = options.filter(pl.col("other_value").is_in([*NAMED[feature]]))
    options = _with_clashes(options, feature, corpus)
    order = hashing.mix(options["key"].to_numpy() ^ hashing.hash_strings(options["other_value"]), *context.seed_key)
    best = options.with_columns(_order=pl.Series(order)).sort("row", "unfit", "_order", nulls_last=False)
    chosen = best.unique("row", keep="first", maintain_order=True).select("row", "other", "other_value", "unfit")
    joined = rows.join(chosen, on="row", how="left", maintain_order="left")
    none = pl.when(pl.col("other").is_null()).then(pl.lit("no-other-form"))
    return joined.with_columns(no_other=pl.coalesce(none, "unfit")).drop("unfit")


NAMED: Final = {feature: VALUES[feature].keys() for feature in FEATURES}


def _with_clashes(options: pl.DataFrame, feature: str, corpus: _Corpus) -> pl.DataFrame:
    """Adds ``unfit``: the reason against each other form, or null."""
    readings = corpus.modifiers.rename({"form": "other"})
    pairs = options.select("other", "upos", "subject", "subject_lemma").unique()
    nouns = corpus.nouns.rename({"form": "subject", "lemma": "subject_lemma"})
    both = pairs.join(readings, on=["other", "upos"]).join(nouns, on=["subject", "subject_lemma"], suffix="_of_noun")
    agree = pl.all_horizontal((pl.col(name) == pl.col(f"{name}_of_noun")).fill_null(value=True) for name in FEATURES)
    judged = both.group_by("other", "upos", "subject", "subject_lemma").agg(agrees=agree.any())
    options = options.join(judged, on=["other", "upos", "subject", "subject_lemma"], how="left", maintain_order="left")
    # Other nouns of the sentence with which the form agrees as it is meant, and in which it can be read.
    anywhere = (pl.col("kind") == KINDS["amod"]) | corpus.loose
    near = pl.when(anywhere).then("others").otherwise("between")
    around = options.select("row", "other", "upos", near=near).explode("near").drop_nulls("near")
    around = around.with_columns(feat(name, "near").alias(f"{name}_of_noun") for name in FEATURES)
    named = around.filter(pl.col(f"{feature}_of_noun").is_not_null())
    taken = named.join(readings, on=["other", "upos"]).filter(agree)
    taken = taken.select("row", "other").unique().with_columns(taken=pl.lit(value=True))
    options = options.join(taken, on=["row", "other"], how="left", maintain_order="left")
    fused = corpus.fused.with_columns(fuses=pl.lit(value=True))
    options = options.join(fused, on=["other", "previous"], how="left", maintain_order="left")
    unclear = ~_has_clear_gender(corpus.words) if feature == "Gender" else pl.lit(value=False)
    unfit = pl.coalesce(
        pl.when(pl.col("agrees").is_null() | unclear).then(pl.lit("ambiguous-noun")),
        pl.when(pl.col("agrees") | _stands_alone(corpus, feature)).then(pl.lit("ambiguous-form")),
        pl.when("taken").then(pl.lit("other-noun")),
        pl.when("fuses").then(pl.lit("bound-form")),
    )
    return options.with_columns(unfit=unfit)


def _stands_alone(corpus: _Corpus, feature: str) -> pl.Expr:
    """Whether the other form can have a role of its own beside the noun.

    As a possessor, if it is a genitive and stands alone, or genitives precede their noun (Latvian *to*, their; Estonian
    *nende*), or it is a determiner that is changed to the genitive; in another case, or where a modifier may belong to
    any noun, if it stands alone at all (*šim*, to this one); in another case, if an adjective can be a predicate in it
    (Russian *купил машину новой*).
    """
    words = corpus.words
    uses = ["alone", "before", "behind"] if feature == "Case" or corpus.loose else ["before", "behind"]
    alone = words.filter(pl.col("upos") != "NOUN").with_columns(alone=pl.col("n") * pl.col("use").is_in(uses))
    shares = alone.group_by("form").agg(share=pl.col("alone").sum() / pl.col("n").sum())
    forms = shares.filter(pl.col("share") > STRAY)["form"].implode()
    predicative = words.filter(pl.col("upos").is_in(["ADJ", "VERB"]), pl.col("use") == "predicative")
    cases = predicative.filter(~pl.col("Case").is_in(SUBJECT_CASES)).group_by("Case").agg(pl.col("n").sum())
    used = cases.filter(pl.col("n") > STRAY * int(predicative["n"].sum()))["Case"].implode()
    genitives = corpus.modifiers.filter(pl.col("Case") == "Gen")["form"].unique().implode()
    counts = dict(words.group_by("use").agg(pl.col("n").sum()).iter_rows())
    precede = counts.get("before", 0) > USUAL * (counts.get("before", 0) + counts.get("behind", 0))
    possessor = pl.lit(precede) & pl.col("other").is_in(genitives)
    to_genitive = (pl.col("other_value") == "Gen") & (pl.col("kind") == KINDS["det"])
    in_case = to_genitive | pl.col("other_value").is_in(used)
    return pl.col("other").is_in(forms) | possessor | (pl.lit(feature == "Case") & in_case)


def _has_clear_gender(words: pl.DataFrame) -> pl.Expr:
    """Whether the noun of an option has one gender and cannot be a person of either (French *le*, *la ministre*).

    It cannot if one of the genders is Neuter or Common, if it is inanimate, or if nearly all nouns with its ending have
    its gender.
    """
    nouns = words.filter(pl.col("upos") == "NOUN", pl.col("Gender").is_not_null())
    of_lemma = nouns.group_by("lemma", "Gender").agg(pl.col("n").sum())
    single = of_lemma.filter(pl.col("n") / pl.col("n").sum().over("lemma") >= 1 - STRAY, pl.col("n") > 1)
    types = single.with_columns(ending=pl.col("lemma").str.slice(-LEMMA_ENDING))
    of_ending = types.group_by("ending", "Gender").agg(n=pl.len())
    same = of_ending.filter(
        pl.col("n") / pl.col("n").sum().over("ending") >= 1 - STRAY, pl.col("n").sum().over("ending") >= KNOWN
    )
    by_ending = types.join(same, on=["ending", "Gender"], how="semi")["lemma"].implode()
    impersonal = [pl.col(column).is_in(["Neut", "Com"]) for column in ("value", "other_value")]
    thing = pl.any_horizontal(*impersonal, pl.col("animacy") == "Inan").fill_null(value=False)
    animate = pl.col("animacy").is_in(["Anim", "Hum"]).fill_null(value=False)
    one = pl.col("subject_lemma").is_in(single["lemma"].implode())
    return one & (thing | (~animate & pl.col("subject_lemma").is_in(by_ending)))
