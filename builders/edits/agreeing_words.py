"""Words that agree with another one: verbs with their subjects, modifiers with their nouns."""

from typing import Final

import polars as pl

from discoprobe.builders.edits import concord
from discoprobe.builders.edits.agreement import CHANGES, good_and_bad, lexicon, verbs, with_other_forms
from discoprobe.builders.sampling.balance import REPEATED
from discoprobe.builders.sentences.trees import Trees
from discoprobe.builders.task import Context, Sample

CONDITIONS: Final = (*CHANGES, *concord.CONDITIONS)
"""The values of subject and changed verb (``Singular/Plural``); of modifiers the kind and the feature."""

REASONS: Final = {
    "no-agreement": "the word does not agree, or such words often do not, or there are fewer than ten",
    "no-other-form": "no other form of the word is known that differs only in the feature (no clitic or rare reading)",
    "ambiguous-verb": "the other form has the subject's value too, for this verb or for several of its kind, or as a "
    "subjunctive behind a conjunction (*if the need arise*)",
    "several-spellings": "the corpus spells many verbs in several ways, so that a form may agree in another dialect",
    "ambiguous-form": "the other form, or its ending, has a reading that agrees with the noun, or can stand alone",
    "ambiguous-subject": "the form of the subject has several values, or nothing shows which it has",
    "ambiguous-noun": "the ending of the noun does not show its values, its gender may be that of a person, or it is "
    "written like a name (*les Charmeuse*)",
    "mixed-subject": "the subject agrees with other verbs in two ways (*the majority*), or a phrase beside it could "
    "take a plural (*a number of cats*)",
    "other-noun": "the other form agrees with another noun of the sentence",
    "bound-form": "the word touches an apostrophe or a hyphen, or the word before it would change (*ne*, *à les*)",
    "one-direction": "no row with the opposite change is left to pair it with",
    "repeated": f"both words are those of {REPEATED} other sentences",
}


def candidates(trees: Trees, context: Context) -> pl.DataFrame:
    """Verbs with their subjects, and modifiers with their nouns, which have a ``kind``.

    The first row of a shard has its ``lexicon``: every ``form`` in lower case with ``lemma``, ``upos``, ``feats``, its
    ``use`` and their number.
    """
    rows = pl.concat([verbs(trees, context), concord.modifiers(trees)], how="diagonal")
    words = lexicon(trees, concord.USE).select(lexicon=pl.struct(pl.all()).implode())["lexicon"]
    in_first = words.head(rows.height).extend_constant(None, max(rows.height - 1, 0))  # an expression would copy it
    return rows.with_columns(in_first, label=pl.lit(context.labels[0]))


def with_wrong_form(frame: pl.DataFrame, context: Context) -> Sample:
    """The sentences of which one word has another form, in both directions, and the same with that form.

    Args:
        frame: what ``candidates`` gave, of all shards, with the columns of a probing candidate.
        context: seed key, settings and language. Each row's ``condition`` is one of ``CONDITIONS``.
    """
    entries, rows = frame["lexicon"].drop_nulls().explode().struct.unnest(), frame.drop("lexicon")
    families = [(with_other_forms, pl.col("kind").is_null()), (concord.with_other_forms, pl.col("kind").is_not_null())]
    judged = [judge(part, entries, context) for judge, chosen in families if (part := rows.filter(chosen)).height]
    return good_and_bad(pl.concat(judged, how="diagonal"), context)
