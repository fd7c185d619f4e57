"""Why candidates are lost: every step that leaves some out marks them in `Drops`, and each reason has its meaning here.

The manifest and the card have the counts of the marks; `build why` asks them what became of a sentence. The last step
is here, too: `for_release` leaves out what readers found faulty, with as many others as keep the labels balanced, and
configs that are too small.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Final

import msgspec
import polars as pl
import pyarrow as pa
from msgspec import field

from discoprobe.builders.config import TEXTS, Config, Unavailable
from discoprobe.builders.settings import SMALL_GROUPS

REASONS: Final = {
    "too-short": "a sentence has too few words",
    "too-long": "a sentence has too many words",
    "replacement-character": "text with U+FFFD",
    "control-character": "text with control characters",
    "private-use-character": "text with characters of the private-use area",
    "entity": "text with an HTML entity, a bracket by name (`-LRB-`) or a contraction pulled apart (`de_ a`)",
    "mojibake": "text in UTF-8 that was read as another encoding (`Â«`)",
    "tag": "text with an HTML tag",
    "mask": "text with masked words (`_`, `**`)",
    "contact": "text with an address or a telephone number",
    "stray-dash": "text with dashes left over from its source (`- -`, ` -,`)",
    "white-space": "text with repeated white space, or the vertical bar of a table",
    "quotes": "a sentence with half a pair of quotation marks or parentheses, or LaTeX's quotation marks",
    "not-nfc": "text that is not in Unicode's composed form (NFC)",
    "unaligned": "tokens that do not match the text",
    "contradicted": "an automatic analysis that a second model does not share",
    "label-not-filled": "a label that automatic annotation cannot give, in a config that it fills",
    "frequent-target": "a target in annotated text whose lemma 2 % of the rows of its label have already",
    "doubtful": "an automatic analysis of which the model is not sure enough, as treebanks show",
    "transcription": "text with symbols of a transcription (`XXX`, `~`, `//`, `[...]`, `[?]`, braces)",
    "mention": "text with mentions or hashtags (`@name`, `#word`)",
    "e-mail-header": "the header of a letter (`Subject: …`)",
    "list-item": "an item of a list: the corpus marks it, it has a bullet, letter or number in parentheses, a "
    "date before a dash, or a semicolon at its end, or it is one of several without a verb",
    "names-and-numbers": "names and numbers without a verb or subject: a result, an address (`Roberto Moreno 52 4.`)",
    "spacing": "text with blanks before a comma, full stop or clitic, or inside quotation marks, that the rest of it "
    "does not have (`se 'n va`)",
    "tokenised": "a sentence of a treebank whose text was tokenised: its blanks are set by rule, and it is not edited",
    "caption": "a caption: the corpus marks it, or it begins like one (`Figure 3: …`, `Photo: …`)",
    "no-punctuation": "a long text without any punctuation mark: verse, or notes",
    "fragment": "verse or a part of a sentence: a comma begins or ends it, it has no capital and no final mark, or it "
    "breaks off after a conjunction or preposition (`they go to …`)",
    "genre": "a text of a genre that the task does not take: speech, verse and examples; in tasks on edits also texts "
    "of learners and posts; in tasks on edits and on connectives also talk (`--set genres=all` includes them)",
    "near-copies": "many neighbours in its document, or in documents of its kind, are near copies of each other, as in "
    "lists of examples",
    "unrelated": "neighbours in its document, or in documents of its kind, are no closer to each other than random "
    "sentences",
    "version": "another version of a sentence of the same corpus, such as its correction; the first one is used",
    "heading": "a heading, a short sentence without a verb, a caption without a mark at its end, or text in capitals",
    "note": "a footnote or remark, as the corpus marks it",
    "table": "a cell of a table, as the corpus marks it",
    "introduction": "a sentence that ends with a colon, and the list or quotation after it is missing",
    "in-two-splits": "a sentence that documents of two splits contain",
    "near-duplicate": "nearly the same as another sentence",
    "duplicate": "the same sentences as another candidate",
    "copy": "its document (or sentence outside documents) is in the corpora twice; the other copy is used",
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


COPY = "copy"
"""Drop reason of what is in the corpora twice."""

FILTERS, WINDOWS, SAMPLING, BLOCKS, TEXT, READERS = STEPS = (
    "filters of sentences and targets", "windows of sentences", "sampling", "comparison of blocks", "texts of rows",
    "marks of readers",
)  # fmt: skip
"""The steps of a build that lose candidates, in their order."""


FATES: Final = {"corpus": pl.String, "sent_id": pl.String, "step": pl.String, "reason": pl.String}
"""A row for every loss of a sentence, and one without step and reason for every sentence that was a candidate."""


class Drop(msgspec.Struct, frozen=True):
    """A mark: candidates that a step lost for a reason.

    Attributes:
        step: of the build; empty, as the reason is, for what a task looked at.
        reason: one that has a meaning in `REASONS`, or in those of the task; maybe followed by a value.
        n: how many; None where the sentences are no candidates: those that a task looked at, or that end a passage.
        sentences: of the candidates, as `sentences_in` gives them; None if only their number is kept.
    """

    step: str
    reason: str
    n: int | None
    sentences: pl.DataFrame | None = None


class Drops(msgspec.Struct):
    """The marks of the steps, in order. How many were lost is one query of them, and what became of a sentence another.

    Attributes:
        remember: whether marks have their sentences, for `build why`.
        marks: all so far.
    """

    remember: bool = False
    marks: list[Drop] = field(default_factory=list)

    @property
    def counts(self) -> dict[str, int]:
        """Number of lost candidates by reason (``rare-value Dual``), in the order of the first mark of each."""
        counts: dict[str, int] = {}
        for mark in self.marks:
            if mark.n is not None:
                counts[mark.reason] = counts.get(mark.reason, 0) + mark.n
        return counts

    def lose(self, reason: str, lost: pl.DataFrame, *, n: int | None = None, step: str = SAMPLING) -> None:
        """Marks candidates; ``n`` is their number, where a row of ``lost`` is not a candidate."""
        sentences = sentences_in(lost) if self.remember else None
        self.marks.append(Drop(step, reason, lost.height if n is None else n, sentences))

    def keep(
        self, before: pl.DataFrame, after: pl.DataFrame, reason: str, *, n: int | None = None, step: str = SAMPLING
    ) -> pl.DataFrame:
        """Returns ``after``, and marks what it lacks of ``before``; the other arguments are those of `lose`."""
        sentences = None
        if self.remember:
            sentences, remaining = sentences_in(before), sentences_in(after)
            if sentences.columns == remaining.columns:  # candidates of two kinds cannot be compared
                sentences = sentences.join(remaining, on=sentences.columns, how="anti")
        self.marks.append(Drop(step, reason, before.height - after.height if n is None else n, sentences))
        return after

    def usable(self, candidates: pl.DataFrame) -> pl.DataFrame:
        """The candidates whose ``reason`` is null; the others are lost, each for its reason."""
        counts = candidates.drop_nulls("reason").group_by("reason").len().sort("reason")
        for reason, n in counts.iter_rows():
            lost = candidates.filter(pl.col("reason") == reason) if self.remember else candidates.clear()
            self.lose(reason, lost, n=n, step=FILTERS)
        return candidates.filter(pl.col("reason").is_null())

    def without_labels(self, candidates: pl.DataFrame, reasons: Mapping[str, str]) -> pl.DataFrame:
        """The candidates with other labels than those that are left out; ``reasons`` says why, by ``label``."""
        for label, reason in reasons.items():
            self.lose(reason, candidates.filter(pl.col("label").eq_missing(label)))
        return candidates.filter(~pl.col("label").is_in(list(reasons)).fill_null(value=False))

    def consider(self, candidates: pl.DataFrame) -> None:
        """Marks the sentences of candidates that a task makes of several sentences; they count for nothing."""
        if self.remember:
            self.marks.append(Drop("", "", None, sentences_in(candidates)))

    def with_ids(self, frame: pl.DataFrame) -> "Drops":
        """The same marks with ``corpus`` and ``sent_id`` of their sentences, and marks of what was looked at.

        Args:
            frame: the candidates, to which the marks refer by number; for a discourse task all sentences of documents.
        """
        if not self.remember or frame.is_empty():
            return self
        ids = pl.col("ids") if "ids" in frame.columns else pl.concat_list(pl.col("sent_id").cast(pl.String))
        places = [name for name in ("shard", "sent") if name in frame.columns]
        names = frame.select(pl.col("row").cast(pl.Int64), *places, pl.col("corpus").cast(pl.String), sent_id=ids)
        names = names.explode("sent_id")
        if "passage" in frame.columns:
            unusable = frame.drop_nulls("reason").partition_by("reason", maintain_order=True)
            further = [Drop(FILTERS, of_one["reason"][0], None, sentences_in(of_one)) for of_one in unusable]
        else:
            further = [Drop("", "", None, names.select("row"))]
        marks = []
        for mark in (*further, *self.marks):
            sentences = mark.sentences
            if sentences is not None and "sent_id" not in sentences.columns:
                sentences = sentences.join(names, on=sentences.columns, maintain_order="left")
                sentences = sentences.unique(["corpus", "sent_id"], maintain_order=True).select("corpus", "sent_id")
            marks.append(msgspec.structs.replace(mark, sentences=sentences))
        return Drops(self.remember, marks)

    def fates(self) -> pl.DataFrame:
        """What became of each sentence (``FATES``), from marks `with_ids` that have their sentences."""
        return pl.concat([
            pl.DataFrame(schema=FATES),
            *(
                mark.sentences.with_columns(
                    step=pl.lit(mark.step or None, pl.String), reason=pl.lit(mark.reason or None, pl.String)
                )
                for mark in self.marks
                if mark.sentences is not None and "sent_id" in mark.sentences.columns
            ),
        ])  # fmt: skip


def sentences_in(rows: pl.DataFrame) -> pl.DataFrame:
    """The sentences that candidates or rows have, each once.

    Args:
        rows: with ``sent_ids`` (rows with texts, copies), ``shard`` and ``sent`` (candidates of probing tasks,
            sentences of documents), ``first`` and ``size`` (windows), ``members`` (rows that show several sentences) or
            ``row``.

    Returns:
        ``corpus`` and ``sent_id``; ``shard`` and ``sent``; or ``row``, which numbers the frame of candidates.
    """
    columns = set(rows.columns)
    if "sent_ids" in columns:
        corpus = pl.col("corpora").list.first() if "corpora" in columns else pl.col("corpus")
        return rows.select(corpus=corpus.cast(pl.String), sent_id="sent_ids").explode("sent_id").unique()
    if not {"first", "size"} <= columns and {"shard", "sent"} <= columns:
        return rows.select("shard", "sent").unique()
    if {"first", "size"} <= columns:
        numbers = rows.select(row=pl.int_ranges("first", pl.col("first") + pl.col("size"))).explode("row")
    elif "members" in columns:
        numbers = rows.select(row="members").explode("row")
    else:
        numbers = rows.select("row") if "row" in columns else pl.DataFrame(schema={"row": pl.Int64})
    return numbers.select(pl.col("row").cast(pl.Int64)).drop_nulls().unique()


def meanings(drops: Mapping[str, int], of_task: Mapping[str, str]) -> dict[str, str]:
    """What each reason means.

    Args:
        drops: reason → number of candidates.
        of_task: the reasons of the task → meaning.

    Raises:
        TypeError: a reason is described nowhere (an error of the author of the task).
    """
    described = {**REASONS, **of_task}
    names = {reason: reason.partition(" ")[0] for reason in drops}
    if unknown := sorted(set(names.values()) - described.keys()):
        raise TypeError(f"no meaning is given for the drop reasons {', '.join(unknown)}; add them to Task.reasons")
    return {reason: described[name] for reason, name in names.items()}


FAULTY = "reader"
"""Drop reason, followed by the verdict."""
COUNTERPART = "reader-counterpart"
MORE_ROWS = "add corpora of this language, or use --min-rows"
"""What to do about a config that is too small for a release."""


def for_release(
    config: Config | Unavailable, excluded: Mapping[str, str], least: tuple[int, int, int]
) -> Config | Unavailable:
    """The config `without_rows` that readers found faulty; or why it is too small for a release.

    Args:
        config: what was built.
        excluded: verdict of the readers by row id.
        least: fewest rows in train, validation and test.
    """
    config = without_rows(config, excluded)
    if isinstance(config, Unavailable):
        return config
    if config.large_enough(least):
        n_groups = len(config.last_split["group"].unique()) if config.small and any(least) else SMALL_GROUPS
        if n_groups >= SMALL_GROUPS:
            return config
        reason = f"{config.n_rows} rows of {n_groups} groups, {SMALL_GROUPS} are needed for so few rows: {MORE_ROWS}"
    else:
        sizes = [table.num_rows for table in config.splits.values()]
        actual, needed = ("/".join(map(str, numbers)) for numbers in (sizes, config.least_rows(least)[-len(sizes) :]))
        reason = f"{actual} rows, {needed} are needed: {MORE_ROWS}"
    return Unavailable(config.name, config.task, config.lang, reason, config.candidates, config.drops)


def without_rows(config: Config | Unavailable, excluded: Mapping[str, str]) -> Config | Unavailable:
    """A config without some of its rows; the others stay as they are.

    With a row, the other rows of its pair are removed. If it has no pair, one row of every other label is removed, from
    the same split and as near in length as possible, so that labels stay balanced.

    Args:
        config: what was built.
        excluded: verdict of the readers by row id, followed by the names of those who are to be named in brackets; ids
            that the config does not have are ignored.
    """
    if isinstance(config, Unavailable) or not excluded:
        return config
    drops = dict(config.drops)
    splits: dict[str, pa.Table] = {}
    used: dict[str, str] = {}
    for split, table in config.splits.items():
        several = pl.col("pair_id").is_duplicated()  # a row of a suite is a pair of texts by itself
        length = TEXTS[config.shape].list.eval(pl.element().str.len_chars()).list.sum().cast(pl.Int64)
        facts = pl.DataFrame(table).select("id", "label", pl.when(several).then("pair_id"), length=length)
        faulty = facts.filter(pl.col("id").is_in(list(excluded)))
        counterparts = _counterparts(facts, faulty)
        used |= {row_id: excluded[row_id] for row_id in faulty["id"]}
        for reason in (
            *(f"{FAULTY} {excluded[row_id].partition(' (')[0]}" for row_id in faulty["id"]),
            *(COUNTERPART for _ in counterparts),
        ):
            drops[reason] = drops.get(reason, 0) + 1
        gone = {*faulty["id"], *counterparts}
        splits[split] = table.filter(pa.array([row_id not in gone for row_id in facts["id"]], pa.bool_()))
    if not used:
        return config
    for split, table in splits.items():
        before, present = (set(rows["label"].to_pylist()) for rows in (config.splits[split], table))
        if lost := [config.labels[label] for label in sorted(before - present)]:
            reason = f"without the rows that readers found faulty, {split} has no row of {', '.join(lost)}"
            return Unavailable(config.name, config.task, config.lang, reason, config.candidates, drops)
    described = dict(config.meanings) | meanings({name: 1 for name in drops if name.startswith(FAULTY)}, {})
    corrected = [said.partition(" (")[2].removesuffix(")") for said in used.values() if " (" in said]
    notes = config.notes
    if corrected:
        names = ", ".join(sorted({name for said in corrected for name in said.split(", ")}))
        notes = (*notes, f"Rows that others corrected on the Hub are left out: {len(corrected)} ({names}).")
    return msgspec.structs.replace(config, splits=splits, drops=drops, meanings=described, excluded=used, notes=notes)


def _counterparts(rows: pl.DataFrame, faulty: pl.DataFrame) -> set[str]:
    """Rows that go with the faulty ones: the rest of their pairs, and what balances the labels of the others.

    Args:
        rows: of a split: ``id``, ``label``, ``pair_id`` and ``length`` (of its texts in characters).
        faulty: some of them.
    """
    pairs = faulty["pair_id"].drop_nulls().to_list()
    gone = {*rows.filter(pl.col("pair_id").is_in(pairs))["id"], *faulty["id"]}
    lost = Counter(rows.filter(pl.col("id").is_in(list(gone)))["label"].to_list())
    for label in sorted(rows["label"].unique()):
        if n := max(lost.values(), default=0) - lost[label]:
            of_label = (pl.col("label") == label) & pl.col("pair_id").is_null() & ~pl.col("id").is_in(list(gone))
            distance = pl.min_horizontal((pl.col("length") - length).abs() for length in faulty["length"])
            gone |= set(rows.filter(of_label).sort(distance, "id")["id"].head(n))
    return gone - set(faulty["id"])
