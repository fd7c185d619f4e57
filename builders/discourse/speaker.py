"""Are two adjacent sentences of a play or dialogue spoken by the same person?

Speaker change detection in text (Meng, Mou & Jin 2017), in plays and dialogues. Two consecutive sentences with nothing
between them, not even a stage direction: both of one turn (`same`), or the last of a turn and the first of the next
turn, by another person (`other`). Simple cues could tell the label: somebody else answers a question, and a turn often
ends with a short sentence. So both labels are equally frequent for each combination of final punctuation marks and
commas, and have the same means of words, characters, capitals and punctuation marks, in the first sentence and in the
second. A document (a scene) that does not have both labels gives no rows, and no sentence is in two rows.
"""

from typing import Final

import polars as pl

from discoprobe.builders.config import Shape
from discoprobe.builders.passages.window_rows import members, single_rows, version, windows_of
from discoprobe.builders.sampling.match import COMMA, SURFACE, match_labels, surface
from discoprobe.builders.sampling.stratify import cap
from discoprobe.builders.task import Context, DiscourseTask, Sample
from discoprobe.loaders.corpus import Shard
from discoprobe.loaders.languages.language import LanguageData

BOTH: Final = ("1", "2")
"""What the columns of the first and of the second sentence end with."""


def mark(shard: Shard, _language: LanguageData) -> pl.DataFrame:
    """The sentences that somebody speaks: ``sent``, ``speaker``, and what they are matched on."""
    text = pl.col("text")
    end = pl.concat_str(
        text.str.extract(r"([?!])\P{L}*$").fill_null("."), pl.when(text.str.contains(COMMA)).then(pl.lit(",")),
        ignore_nulls=True,
    )  # fmt: skip
    return shard.sentences.drop_nulls("speaker").select("sent", "speaker", *surface(pl.col("text")), end=end)


def sample(frame: pl.DataFrame, context: Context) -> Sample:
    """Pairs of neighbours, as many of one speaker as of two."""
    spoken = frame.with_columns(passage=pl.when(pl.col("speaker").is_not_null()).then("passage"))
    windows, drops = windows_of(spoken, context, 2)
    pairs = _described(windows, frame)
    shared = pairs.filter(pl.col("label").n_unique().over("doc_key") > 1)
    matched = shared
    if context.settings.match:
        matched = match_labels(shared, "label", *context.seed_key, cell=("ends",), of=BOTH)
    capped = cap(matched, context.settings, *context.seed_key, by=("label",))
    shown = version(members(capped["first"].to_numpy(), 2))
    rows = single_rows(capped, shown).with_columns(stratum=capped["ends"])
    drops |= {
        "one-speaker": pairs.height - shared.height,
        "unbalanced": shared.height - matched.height,
        "over-size": matched.height - capped.height,
    }
    return Sample(rows, drops, candidates=windows.height)


def _described(windows: pl.DataFrame, frame: pl.DataFrame) -> pl.DataFrame:
    """Windows of two with ``label``, ``doc_key``, ``ends`` and the surface of both sentences."""
    facts = frame.select("speaker", "end", *SURFACE)
    both = [facts[windows["first"] + place].select(pl.all().name.suffix(name)) for place, name in enumerate(BOTH)]
    label = (pl.col("speaker1") != pl.col("speaker2")).cast(pl.Int64)
    documents = frame[windows["first"]].select("doc_key")
    every = pl.concat([windows, documents, *both], how="horizontal")
    return every.with_columns(label=label, ends=pl.concat_str("end1", "end2"))


TASK = DiscourseTask(
    labels=("same", "other"), shape=Shape.PAIR, sample=sample, mark=mark,
    needs=frozenset({"documents", "speakers"}),
    reasons={"one-speaker": "a document in which no turn follows another, or each has one sentence"},
)  # fmt: skip
