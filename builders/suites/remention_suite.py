"""Does a repeated name cost more where the subject binds it than where it names somebody else?

Entity re-mention of CoherenceGym (Beyer et al. 2021), as a design of two by two. Every item (`group`) is a sentence in
which a pronoun refers to its subject, and has two rows. `bound`: the pronoun is good (*Anna read her letter*), and the
subject's name in its place is bad (*Anna read Anna's letter*). `free` is the control: the subject is another person,
and now the name is the good text (*Mary read Anna's letter*) and the pronoun the bad one (*Mary read her letter*),
which is not wrong, but says something else. Both rows have the same edit, so no preference for names, pronouns or
length answers both; a model should find that the name costs more in `bound` than in `free`, so that the two differences
(bad minus good) have a sum above zero. Region 2 is the pronoun or the name.

The subject is a name, or a pronoun for which its name is put. The other subject is the name of another item, with the
same gender, number and number of words, and each name is as often the other subject as its own. The pronoun is
possessive or reflexive and in the clause of the subject, or in a complement clause (*Anna said she was tired*); what is
possessed is a person, a thing or a place, where the corpus has the types of entities.
"""

from __future__ import annotations

import polars as pl

from discoprobe.builders import hashing
from discoprobe.builders.discourse.order_last import PAPER
from discoprobe.builders.sampling.splits import Split
from discoprobe.builders.sampling.stratify import cap, first_of_each
from discoprobe.builders.task import Context, RelationTask, Sample
from discoprobe.builders.units.bound_pronouns import REASONS, bound_pronouns
from discoprobe.builders.units.relation_rows import REASONS as OF_UNITS

CONDITIONS = ("bound", "free")
VERSIONS = (
    ("bound", 0, "name", "pronoun"),
    ("bound", 1, "name", "phrase"),
    ("free", 0, "other", "phrase"),
    ("free", 1, "other", "pronoun"),
)
"""Condition, label (good, bad), subject and mention of the four texts of an item."""
NOTE = "The subject is another name in the control, and the subject's name where the corpus has a pronoun"


def sample(frame: pl.DataFrame, context: Context) -> Sample:
    """Four texts of each item: both conditions, each with the pronoun and the name."""
    drops = dict(frame.drop_nulls("reason").group_by("reason").len().sort("reason").iter_rows())
    usable = frame.filter(pl.col("reason").is_null())
    single = first_of_each(usable, ["corpus", "doc_id", "ids"], "one", *context.seed_key)
    items = _with_other_names(single.unique("sentence1", keep="first", maintain_order=True))
    capped = cap(items.with_columns(split=pl.lit("test", Split)), context.settings, *context.seed_key, weight=4)
    drops |= {"one-item": usable.height - single.height, "no-other-name": single.height - items.height}
    drops |= {"over-size": items.height - capped.height}
    rows = pl.concat([_texts(capped, *version) for version in VERSIONS])
    least = context.settings.min_class
    reason = "" if capped.height >= least else f"{capped.height} items are left; {least} are needed"
    return Sample(rows if not reason else rows.clear(), drops, candidates=frame.height, reason=reason)


def _with_other_names(items: pl.DataFrame) -> pl.DataFrame:
    """Adds ``other``, the name of another item of the same ``cell``; items without one are left out.

    Sorted by name, every item takes the name so many places further on as the most frequent name has items. So each
    name is taken as often as it is there.
    """
    step = pl.len().over("cell", "name").max().over("cell")
    place = (pl.int_range(pl.len()).over("cell") + pl.col("_step")) % pl.len().over("cell")
    ordered = items.sort("cell", "name", "key").with_columns(_step=step).with_columns(_place=place)
    with_other = ordered.with_columns(other=pl.col("name").gather(pl.col("_place")).over("cell"))
    shown = pl.col("sentence2").str.contains(pl.col("other"), literal=True)
    return with_other.filter(~shown).drop("_step", "_place")


def _texts(items: pl.DataFrame, condition: str, label: int, subject: str, mention: str) -> pl.DataFrame:
    """One of the four texts of each item, with the place of the pronoun or name in it."""
    start = pl.concat_str("before", subject, "between").str.len_chars().cast(pl.Int32)
    span = (start.alias("start"), (start + pl.col(mention).str.len_chars().cast(pl.Int32)).alias("end"))
    nothing = pl.lit(None, pl.String)
    shown = items.with_columns(
        text=pl.concat_str("before", subject, "between", mention, "after"),
        edit=pl.struct(*span), target=pl.struct(*span, form=mention, lemma=nothing, upos=nothing),
        label=pl.lit(label, pl.Int64), condition=pl.lit(condition), ring="key", group=hashing.as_text("key"),
        row=pl.col("row").cast(pl.Int64), pair=pl.Series(hashing.mix(items["key"].to_numpy(), condition)),
    )  # fmt: skip
    return shown.with_columns(key=pl.Series(hashing.mix(items["key"].to_numpy(), condition, label)))


TASK = RelationTask(
    labels=("good", "bad"),
    select=bound_pronouns,
    sample=sample,
    pairs=True,
    conditions=CONDITIONS,
    region=2,
    note=NOTE,
    needs=frozenset({"coreference", "documents", "upos", "feats", "deps"}),
    exempt={
        "fidelity": "the control has another subject, and a subject that is a pronoun in the corpus is named",
    },
    reasons={
        **{reason: OF_UNITS[reason] for reason in ("unit-too-long", "no-words", "equal-units")},
        **REASONS,
        "one-item": "the sentence has another item",
        "no-other-name": "no other item has a name of the same gender, number and length, or the sentence has it",
    },
    papers=(PAPER,),
)
