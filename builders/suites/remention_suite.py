"""Is a person who was mentioned before mentioned again by a pronoun, or by the name?

Entity re-mention of CoherenceGym (Beyer et al. 2021), in both directions. A row is about a subject that was mentioned
in the sentences before. The good text is that of the corpus; the bad text has the other kind of mention. Region 2 is
the pronoun or the name. `continue`: the corpus has a pronoun for the subject of the sentence before (*Anna met Mary.
She smiled.*), and repeating the name is bad (*Anna met Mary. Anna smiled.*; repeated-name penalty, Gordon, Grosz &
Gilliom 1993). `switch`: the sentence before has another subject, to which the pronoun could refer, so the corpus has
the name (*Mary met Anna. Anna smiled.*), and a reader would take the pronoun for the other person (*Mary met Anna. She
smiled.*). An item (`group`) is one row of each condition. A model should prefer the pronoun more in `continue` than in
`switch`: then the sum of the two differences (bad minus good) is above zero. In a single row, both texts can be
acceptable.

The shown text begins with the last sentence that names the person. The two rows of an item have the same pronoun, names
with equally many words (the same name if the corpus allows it), and equally many sentences before the mention. The last
name before the mention is that of the person in both rows, or in neither. So a preference for names, pronouns or
length, or a count of names, is right in half of the items.
"""

import polars as pl

from discoprobe.builders import hashing
from discoprobe.builders.drop_reasons import without_reason
from discoprobe.builders.sampling.splits import Split
from discoprobe.builders.sampling.stratify import cap, in_both_directions
from discoprobe.builders.task import Context, RelationTask, Sample
from discoprobe.builders.units.relation_rows import REASONS as OF_UNITS
from discoprobe.builders.units.rementions import CONDITIONS, REASONS, SWITCH, lacks, rementions


def sample(frame: pl.DataFrame, context: Context) -> Sample:
    """As many candidates of one condition as of the other; two of a ``cell``, first of one name, are an item."""
    clean, drops = without_reason(frame.with_columns(_switch=pl.col("condition") == SWITCH))
    usable = clean.sort("key").unique(["sentence1", "sentence2"], keep="first", maintain_order=True)
    same = in_both_directions(usable, ["cell", "name"], "_switch", *context.seed_key)
    others = usable.filter(~pl.col("key").is_in(same["key"].implode()))
    paired = pl.concat([same, in_both_directions(others, ["cell"], "_switch", *context.seed_key)])
    split = paired.with_columns(split=pl.lit("test", Split), pair="key", group=hashing.as_text("ring"))
    capped = cap(split, context.settings, *context.seed_key, weight=2) if split.height else split
    drops |= {
        "duplicate": clean.height - usable.height,
        "one-direction": usable.height - paired.height,
        "over-size": paired.height - capped.height,
    }
    rows = pl.concat([_texts(capped, 0, "sentence1", "mention"), _texts(capped, 1, "sentence2", "other")])
    items, least = capped.height // 2, context.settings.min_class
    reason = "" if items >= least else f"{items} items are left; {least} are needed"
    return Sample(rows.clear() if reason else rows, drops, candidates=frame.height, reason=reason)


def _texts(rows: pl.DataFrame, label: int, text: str, mention: str) -> pl.DataFrame:
    """The good or the bad text of each candidate, with the place of the mention in it."""
    end = (pl.col("start") + pl.col(mention).str.len_chars()).cast(pl.Int32)
    nothing = pl.lit(None, pl.String)
    return rows.with_columns(
        text=text, edit=pl.struct("start", end.alias("end")), label=pl.lit(label, pl.Int64),
        target=pl.struct("start", end.alias("end"), form=mention, lemma=nothing, upos=nothing),
        row=pl.col("row").cast(pl.Int64), key=pl.Series(hashing.mix(rows["key"].to_numpy(), label)),
    )  # fmt: skip


TASK = RelationTask(
    labels=("good", "bad"),
    select=rementions,
    sample=sample,
    lacks=lacks,
    pairs=True,
    conditions=CONDITIONS,
    region=2,
    version=3,
    needs=frozenset({"coreference", "documents", "upos", "deps"}),
    reasons={
        **{reason: OF_UNITS[reason] for reason in ("unit-too-long", "no-words", "equal-units")},
        **REASONS,
        "one-direction": "no candidate of the other condition is left with the same pronoun and as long a name",
    },
)
