"""Leaves out rows that readers found faulty, and as many others as are needed to keep the labels balanced.

The reasons why candidates are not used, and what each means.
"""

import dataclasses
from collections import Counter
from collections.abc import Mapping
from typing import Final

import polars as pl
import pyarrow as pa

from discoprobe.builders.config import TEXTS, Config, Shape, Unavailable

SHARED: Final = {
    "too-short": "a sentence has too few words",
    "too-long": "a sentence has too many words",
    "replacement-character": "text with U+FFFD",
    "control-character": "text with control characters",
    "private-use-character": "text with characters of the private-use area",
    "entity": "text with an HTML entity or a bracket by name (`-LRB-`)",
    "tag": "text with an HTML tag",
    "mask": "text with masked words (`_`, `**`)",
    "contact": "text with an address or a telephone number",
    "stray-dash": "text with dashes left over from its source (`- -`, ` -,`)",
    "white-space": "text with repeated white space, or the vertical bar of a table",
    "quotes": "a sentence with half a pair of quotation marks or parentheses, or LaTeX's quotation marks",
    "not-nfc": "text that is not in Unicode's composed form (NFC)",
    "unaligned": "tokens that do not match the text",
    "transcription": "text with symbols of a transcription (`XXX`, `~`, `//`, `[...]`, `[?]`, braces)",
    "mention": "text with mentions or hashtags (`@name`, `#word`)",
    "e-mail-header": "the header of a letter (`Subject: …`)",
    "list-item": "an item of a list: the corpus marks it, or it has a bullet, letter or number in parentheses",
    "names-and-numbers": "names and numbers without a verb or subject: a result, an address (`Roberto Moreno 52 4.`)",
    "spacing": "text with blanks before a comma, full stop or clitic that the rest of it does not have (`se 'n va`)",
    "caption": "a caption: the corpus marks it, or it begins like one (`Figure 3: …`, `Photo: …`)",
    "no-punctuation": "a long text without any punctuation mark: verse, or notes",
    "fragment": "verse or a part of a sentence: a comma begins or ends it, or it has no capital and no final mark",
    "not-prose": "a sentence of a treebank that has only speech or verse (`--set genres=all` includes it)",
    "heading": "a heading, a caption without a mark at its end, or text in capitals",
    "note": "a footnote or remark, as the corpus marks it",
    "table": "a cell of a table, as the corpus marks it",
    "introduction": "a sentence that ends with a colon, and the list or quotation after it is missing",
    "in-two-splits": "a sentence that documents of two splits contain",
    "near-duplicate": "nearly the same as another sentence",
    "duplicate": "the same sentences as another candidate",
    "sentence-twice": "a sentence occurs twice in the passage",
    "donor": "its sentences are used as distractors in other rows",
    "no-matching-intruder": "no distractor is similar enough to the sentence that it would replace",
    "no-matching-distractor": "no distractor is similar enough to the correct ending",
    "one-label": "the rows of its document would all have the same label",
    "equal-text": "its text, or its edited text, is that of another row",
    "unclean-edit": "its edited text is not clean, for example too long for a text without punctuation",
    "unbalanced": "no counterpart with another label and the same length and split",
    "unmatched": "no other sentence with which a word can be exchanged",
    "over-size": "more rows than `--size` allows",
    "rare-words": "too few of its words are common (IPM filter)",
    "talk": "in talk a connective may be a filler (`--set genres=all` takes these documents)",
    "same-sense": "another connective of the same sense is more frequent",
    "rare-connective": "a connective with too few occurrences to be a label",
    "other-value": "a value of the feature that is not a label of the task in this language",
    "rare-value": "a value of the feature with too few candidates to be a label",
    "odd": "left over, because every label has equally many rows",
    "syncretic-pos": "the target's form has several parts of speech",
    "syncretic-feature": "the target's form has several values of the feature",
    "target-fused": "the target is fused with another word and cannot be shown alone",
    "target-inside": "the target touches another word or is part of a hyphenated one",
    "typo": "a word of the sentence is marked as a typing error",
    "foreign": "a word of the sentence is marked as foreign",
    "reader": "a reader found the row faulty",
    "reader-counterpart": "left out with a row that a reader found faulty, so that labels stay balanced",
    "reparandum": "a word of the sentence is a false start that the speaker corrects",
}


def without_reason(candidates: pl.DataFrame) -> tuple[pl.DataFrame, dict[str, int]]:
    """The candidates that can be used, whose ``reason`` is null; and the number of the others by reason."""
    counts = candidates.drop_nulls("reason").group_by("reason").len().sort("reason")
    return candidates.filter(pl.col("reason").is_null()), dict(counts.iter_rows())


def meanings(drops: Mapping[str, int], own: Mapping[str, str]) -> dict[str, str]:
    """What each reason means.

    Args:
        drops: reason → number of candidates. A reason may be followed by a value (``rare-value Dual``).
        own: the reasons of the task → meaning.

    Raises:
        TypeError: a reason is described nowhere (an error of the author of the task).
    """
    known = {**SHARED, **own}
    names = {reason: reason.partition(" ")[0] for reason in drops}
    if unknown := sorted(set(names.values()) - known.keys()):
        raise TypeError(f"no meaning is given for the drop reasons {', '.join(unknown)}; add them to Task.reasons")
    return {reason: known[name] for reason, name in names.items()}


FAULTY = "reader"
"""Drop reason, followed by the verdict."""
COUNTERPART = "reader-counterpart"


def without_rows(config: Config | Unavailable, excluded: Mapping[str, str]) -> Config | Unavailable:
    """A config without some of its rows; the others stay as they are.

    With a row, the other rows of its pair are removed. If it has no pair, one row of every other label is removed, from
    the same split and as near in length as possible, so that labels stay balanced.

    Args:
        config: what was built.
        excluded: verdict of the readers by row id; ids that the config does not have are ignored.
    """
    if isinstance(config, Unavailable) or not excluded:
        return config
    drops = Counter(config.drops)
    splits: dict[str, pa.Table] = {}
    used: dict[str, str] = {}
    for split, table in config.splits.items():
        rows = _facts(table, config.shape)
        faulty = rows.filter(pl.col("id").is_in(list(excluded)))
        counterparts = _counterparts(rows, faulty)
        used |= {row_id: excluded[row_id] for row_id in faulty["id"]}
        drops.update(f"{FAULTY} {excluded[row_id]}" for row_id in faulty["id"])
        drops.update({COUNTERPART: len(counterparts)} if counterparts else {})
        gone = {*faulty["id"], *counterparts}
        splits[split] = table.filter(pa.array([row_id not in gone for row_id in rows["id"]], pa.bool_()))
    if not used:
        return config
    if lost := _lost_labels(config, splits):
        reason = f"without the rows that readers found faulty, {lost}"
        return Unavailable(config.name, config.task, config.lang, reason, config.candidates, dict(drops))
    known = dict(config.meanings) | meanings({name: 1 for name in drops if name.startswith(FAULTY)}, {})
    return dataclasses.replace(config, splits=splits, drops=dict(drops), meanings=known, excluded=used)


def _facts(table: pa.Table, shape: Shape) -> pl.DataFrame:
    """What is needed of each row: ``id``, ``label``, ``pair_id``, ``length`` of its texts in characters."""
    several = pl.col("pair_id").is_duplicated()  # a row of a suite is a pair of texts by itself
    length = TEXTS[shape].list.eval(pl.element().str.len_chars()).list.sum().cast(pl.Int64)
    return pl.DataFrame(table).select("id", "label", pl.when(several).then("pair_id"), length=length)


def _counterparts(rows: pl.DataFrame, faulty: pl.DataFrame) -> set[str]:
    """Rows that go with the faulty ones: the rest of their pairs, and what balances the labels of the others."""
    pairs = faulty["pair_id"].drop_nulls().to_list()
    gone = {*rows.filter(pl.col("pair_id").is_in(pairs))["id"], *faulty["id"]}
    lost = Counter(rows.filter(pl.col("id").is_in(list(gone)))["label"].to_list())
    most = max(lost.values(), default=0)
    for label in sorted(rows["label"].unique()):
        free = rows.filter((pl.col("label") == label) & pl.col("pair_id").is_null() & ~pl.col("id").is_in(list(gone)))
        gone |= set(_nearest(free, faulty, most - lost[label]))
    return gone - set(faulty["id"])


def _nearest(free: pl.DataFrame, faulty: pl.DataFrame, n: int) -> list[str]:
    """The ``n`` rows whose lengths are nearest to those of the faulty ones."""
    if not n:
        return []
    distance = pl.min_horizontal((pl.col("length") - length).abs() for length in faulty["length"])
    return free.with_columns(_far=distance).sort("_far", "id")["id"].head(n).to_list()


def _lost_labels(config: Config, splits: Mapping[str, pa.Table]) -> str:
    """Which split has lost a label, in words; empty if none has."""
    for split, table in splits.items():
        left = set(table["label"].to_pylist())
        missing = [config.labels[label] for label in sorted(set(config.splits[split]["label"].to_pylist()) - left)]
        if missing:
            return f"{split} has no row of {', '.join(missing)}"
    return ""
