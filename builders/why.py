"""Why a sentence is in a config or not: `build why`.

``trace`` builds one config with the steps of every build, whose marks (``drops``) keep their sentences. Its result, a
``Trace``, says what became of a sentence or a row, with the meaning of the reason and the rule that applied
(``rule_of``).
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from functools import cached_property
from typing import Any, Final

import msgspec
import polars as pl
from msgspec import field

from discoprobe.builders.blocks import Block
from discoprobe.builders.build import collect_rows
from discoprobe.builders.config import Config, Shape, Unavailable
from discoprobe.builders.drops import COUNTERPART, FATES, FAULTY, READERS, meanings
from discoprobe.builders.passages.distractors import CLOSE, DONORS
from discoprobe.builders.passages.windows import LONG
from discoprobe.builders.sampling.balance import REPEATED
from discoprobe.builders.settings import SPLITS, Settings
from discoprobe.builders.task import AnyTask, ProbingTask
from discoprobe.loaders.clean_text import FAULTS
from discoprobe.loaders.corpus import Corpus, Loadable
from discoprobe.loaders.errors import UnknownNameError
from discoprobe.loaders.near_duplicates import NEAR, NGRAM
from discoprobe.loaders.process_pool import Progress, silent
from discoprobe.loaders.running_text import HEADING

IN_CONFIG, LOST, NOT_NEEDED, NOT_USABLE, NOT_READ, NO_CONFIG = OUTCOMES = (
    "in the config", "lost", "not needed", "not usable for the task", "not read", "no config",
)  # fmt: skip
"""What can become of a sentence."""

LOOKED_AT: Final = 8
"""Blocks that were not read in which a sentence is looked for: all of a web corpus would take hours."""
MOST_SENTENCES: Final = 8
"""Sentences of which a text may be a part, so that all of them are explained."""


class Explanation(msgspec.Struct, frozen=True):
    """What became of a sentence.

    Attributes:
        config: name of the config.
        corpus: name of the corpus.
        sent_id: of the sentence.
        text: of the sentence; empty if it is not known.
        outcome: one of ``OUTCOMES``.
        losses: why its candidates were lost: ``step``, ``reason``, ``meaning`` and ``rule``, once each.
        rows: those that have it: ``id``, ``split``, ``label``, and ``role`` of the sentence in the row.
        note: what else explains the outcome.
    """

    config: str
    corpus: str
    sent_id: str
    text: str
    outcome: str
    losses: tuple[Mapping[str, str], ...] = ()
    rows: tuple[Mapping[str, str], ...] = ()
    note: str = ""

    def to_dict(self) -> dict[str, object]:
        """The explanation as `build why --json` prints it."""
        values: dict[str, object] = msgspec.to_builtins(self)
        return values


class Trace(msgspec.Struct, frozen=True, dict=True):
    """One config, and what became of every sentence that was read for it.

    Attributes:
        task: what was built.
        corpus: one language's corpora.
        settings: seed, sizes and filters.
        sampled: the config as it was built, or why there is none.
        config: the same without the rows that readers found faulty, or why there is none.
        fates: as ``Drops.fates`` gives, of all blocks and of their comparison.
        blocks: those that were read.
        unread: those that were not, since the sizes were full.
        excluded: rows that readers found faulty: id → verdict.
    """

    task: AnyTask
    corpus: Corpus
    settings: Settings
    sampled: Config | Unavailable
    config: Config | Unavailable
    fates: pl.DataFrame = field(default_factory=pl.DataFrame(schema=FATES).clone)
    blocks: Sequence[Block] = ()
    unread: Sequence[Block] = ()
    excluded: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def sentences(self) -> pl.DataFrame:
        """Every sentence of the blocks that were read: ``corpus``, ``sent_id`` and the number of its ``part``."""
        return _sentences(self._parts)

    @property
    def _parts(self) -> list[Loadable]:
        return [part for block in self.blocks for part in block]

    @cached_property
    def _rows(self) -> list[dict[str, Any]]:
        return _rows_of_config(self.config)

    @cached_property
    def _sampled_rows(self) -> list[dict[str, Any]]:
        return self._rows if self.sampled == self.config else _rows_of_config(self.sampled)

    @cached_property
    def _texts(self) -> dict[int, pl.DataFrame]:
        """``sent_id``, ``text`` and ``words`` of the parts that ``_text`` has looked at, by the number of the part."""
        return {}

    def explain(self, name: str) -> list[Explanation]:
        """What became of the sentences with an id (several corpora may have it), or of those of a row.

        Raises:
            UnknownNameError: neither the corpora nor the config have it; the message names similar ids.
        """
        rows = self._sampled_rows
        if sentences := [(row["corpus"], sent_id) for row in rows if row["id"] == name for sent_id in row["sent_ids"]]:
            return [self._of_sentence(corpus, sent_id, row_id=name) for corpus, sent_id in dict.fromkeys(sentences)]
        places = pl.concat([self.sentences.select("corpus", "sent_id"), self.fates.select("corpus", "sent_id")])
        if corpora := places.filter(pl.col("sent_id") == name)["corpus"].unique(maintain_order=True).to_list():
            return [self._of_sentence(corpus, name) for corpus in corpora]
        for number, block in enumerate(self.unread[:LOOKED_AT], len(self.blocks) + 1):
            for corpus in _sentences(block).filter(pl.col("sent_id") == name)["corpus"].head(1):
                n_blocks = len(self.blocks) + len(self.unread)
                note = f"the sizes were full after {len(self.blocks)} of {n_blocks} blocks; it is in block {number}"
                return [Explanation(self.config.name, corpus, name, "", NOT_READ, note=note)]
        place = next((place for place in self.corpus.drop_places if f"(sent_id {name})" in place), "")
        if place:
            note = f"the reader of the corpus skipped it: {place}"
            return [Explanation(self.config.name, "", name, "", NOT_READ, note=note)]
        read = _sentences(self.corpus.parts) if self.settings.most_documents is not None else self.sentences
        if name in read["sent_id"]:
            note = "its document is not among the first ones in hash order (--documents)"
            corpus = read.filter(pl.col("sent_id") == name)["corpus"][0]
            return [Explanation(self.config.name, corpus, name, "", NOT_READ, note=note)]
        if named := self._with_text(name):
            return [self._of_sentence(corpus, sent_id) for corpus, sent_id in named]
        looked_at = f"(looked for in {len(self.blocks)} blocks that were read and the next {LOOKED_AT})"
        ids = [*self.sentences["sent_id"].drop_nulls(), *(row["id"] for row in rows)]
        remedy = looked_at if len(self.unread) > LOOKED_AT else ""
        raise UnknownNameError(f"sentence or row of {self.config.name}", name, ids, remedy=remedy)

    def _with_text(self, text: str) -> list[tuple[str, str]]:
        """Corpus and id of the sentences that a text is a part of, if these are a few.

        Raises:
            UnknownNameError: it is the id of a document, whose sentences the message names, or a part of too many.
        """
        with_text: list[tuple[str, str]] = []
        for part in self._parts:
            shard = part.load()
            corpus, sent_id, doc_id = (pl.col(name).cast(pl.String) for name in ("corpus", "sent_id", "doc_id"))
            named = shard.sentences.join(shard.documents, on="doc", maintain_order="left")
            if ids := named.filter(doc_id == text.removesuffix(".txt"))["sent_id"].cast(pl.String).to_list():
                raise UnknownNameError(
                    f"sentence or row of {self.config.name}", text, [],
                    remedy=f"(a document, whose sentences are {ids[0]} to {ids[-1]})",
                )  # fmt: skip
            if " " in text:
                with_text += (
                    named.filter(pl.col("text").str.contains(text, literal=True)).select(corpus, sent_id).rows()
                )
        if len(with_text) > MOST_SENTENCES:
            raise UnknownNameError(
                f"sentence or row of {self.config.name}", text, [],
                remedy=f"(a part of {len(with_text):,} sentences; write more of it)",
            )  # fmt: skip
        return with_text

    def _of_sentence(self, corpus: str, sent_id: str, row_id: str = "") -> Explanation:
        """What became of one sentence; with ``row_id`` in this row only."""
        name, text, n_words = self.config.name, *self._text(corpus, sent_id)
        note = self.config.reason if isinstance(self.config, Unavailable) else ""

        def rows_of(
            config: Config | Unavailable, of_config: Sequence[Mapping[str, Any]]
        ) -> tuple[Mapping[str, str], ...]:
            if isinstance(config, Unavailable):
                return ()
            return tuple(
                {
                    "id": row["id"],
                    "split": row["split"],
                    "label": config.labels[row["label"]],
                    "role": _role(row, sent_id, config.shape),
                }
                for row in of_config
                if row["corpus"] == corpus and sent_id in (row["sent_ids"] or ()) and row_id in {"", row["id"]}
            )

        if rows := rows_of(self.config, self._rows):
            return Explanation(name, corpus, sent_id, text, IN_CONFIG, rows=rows)
        losses: list[tuple[str, str]] = []
        if sampled := rows_of(self.sampled, self._sampled_rows):
            if isinstance(self.config, Unavailable):
                return Explanation(name, corpus, sent_id, text, NO_CONFIG, rows=sampled, note=note)
            verdicts = [self.excluded.get(row["id"]) for row in sampled]
            losses = [(READERS, f"{FAULTY} {verdict}" if verdict else COUNTERPART) for verdict in verdicts]
        of_sentence = pl.col("corpus") == corpus, pl.col("sent_id") == sent_id
        fates = self.fates.filter(*of_sentence).select("step", "reason")
        if losses := losses or fates.drop_nulls("reason").unique(maintain_order=True).rows():
            described = tuple(
                {
                    "step": step,
                    "reason": reason,
                    "meaning": meanings({reason: 1}, self.task.reasons)[reason],
                    "rule": rule_of(reason, self.task, self.settings, text, n_words),
                }
                for step, reason in dict.fromkeys(losses)
            )
            return Explanation(name, corpus, sent_id, text, LOST, described, note=note)
        if note:
            return Explanation(name, corpus, sent_id, text, NO_CONFIG, note=note)
        if fates.height:
            sizes = "/".join(map(str, self.settings.sizes))
            note = f"it could be used, but no row needed it: sizes ({sizes}) or the balance of labels leave it out"
            return Explanation(name, corpus, sent_id, text, NOT_NEEDED, note=note)
        absent = "no passage is made with it, as its neighbours are not usable, or are in other passages"
        if isinstance(self.task, ProbingTask):
            absent = "it does not have what the task asks for"
        note = f"{absent} (the task: {self.task.definition.partition(chr(10))[0]})"
        return Explanation(name, corpus, sent_id, text, NOT_USABLE, note=note)

    def _text(self, corpus: str, sent_id: str) -> tuple[str, int]:
        """Text and number of words of a sentence; empty and 0 if only a relation names it."""
        place = self.sentences.filter(pl.col("corpus") == corpus, pl.col("sent_id") == sent_id)
        if place.is_empty():
            return "", 0
        number = place["part"][0]
        if number not in self._texts:
            shard = self._parts[number].load()
            facts = shard.sentence_facts().select("sent", words="n_words")
            texts = shard.sentences.select("sent", "text", pl.col("sent_id").cast(pl.String))
            self._texts[number] = texts.join(facts, on="sent", maintain_order="left")
        sentence = self._texts[number].filter(pl.col("sent_id") == sent_id)
        return sentence["text"][0], sentence["words"][0]


def trace(  # noqa: PLR0913, PLR0917 (what a build consists of)
    task: AnyTask, corpus: Corpus, settings: Settings, executor: Executor | None = None, jobs: int = 1,
    progress: Progress = silent,
) -> Trace:  # fmt: skip
    """Builds one config and remembers every loss; the arguments are those of ``build_all``."""
    (rows,) = collect_rows([task], corpus, settings, executor, jobs, progress, trace=True).values()
    config = rows.config(corpus)
    n_read = len(rows.blocks_read)
    blocks = rows.blocks[:n_read] if rows.blocks else [corpus.parts]
    return Trace(task, corpus, settings, config, config, rows.drops.fates(), blocks, rows.blocks[n_read:])


def _sentences(parts: Sequence[Loadable]) -> pl.DataFrame:
    """The sentences of parts: ``corpus``, ``sent_id`` and ``part``, the number of the part."""
    of_parts = [pl.DataFrame(schema={"corpus": pl.String, "sent_id": pl.String, "part": pl.Int32})]
    for number, part in enumerate(parts):
        shard = part.load()
        named = shard.sentences.join(shard.documents.select("doc", "corpus"), on="doc", maintain_order="left")
        strings = [pl.col(name).cast(pl.String) for name in ("corpus", "sent_id")]
        of_parts.append(named.select(*strings, part=pl.lit(number, pl.Int32)))
    return pl.concat(of_parts)


def _rows_of_config(config: Config | Unavailable) -> list[dict[str, Any]]:
    """The rows of all splits, each with its ``split``."""
    if isinstance(config, Unavailable):
        return []
    return [row | {"split": split} for split, table in config.splits.items() for row in table.to_pylist()]


def _role(row: Mapping[str, Any], sent_id: str, shape: Shape) -> str:
    """What a sentence is in a row: as it is, edited, or a distractor."""
    place, is_distractor = row["sent_ids"].index(sent_id), False
    match shape:
        case Shape.SUITE:
            return "in both versions"
        case Shape.SEQUENCE:
            is_distractor = row["order"][place] < 0
        case Shape.CANDIDATE:
            is_distractor = place == len(row["sentences"]) and row["distractor"] is not None
        case Shape.CHOICE:
            is_distractor = place >= len(row["context"]) and place - len(row["context"]) != row["label"]
    if is_distractor:
        return "distractor"
    return "edited" if row.get("original") or row.get("removed") else "as it is"


def rule_of(reason: str, task: AnyTask, settings: Settings, text: str = "", n_words: int = 0) -> str:
    """The rule with its threshold by which a sentence is lost for a reason; empty if the meaning says all.

    Args:
        reason: maybe followed by a value.
        task: what was built.
        settings: with the thresholds that users set.
        text: of the sentence, of which the rule for a clean text names the part that is not.
        n_words: of the sentence.
    """
    name = reason.partition(" ")[0]
    words = "probing_words" if isinstance(task, ProbingTask) else "discourse_words"
    least, most = getattr(settings, words)
    similar = f"near duplicates share {NEAR:.0%} of their sequences of {NGRAM} words"
    matched = f"the longer one has at most {CLOSE.words:.0%} more words and {CLOSE.chars:.0%} more characters"
    rules = {
        "too-short": f"at least {least} words (--set {words}={least}/{most}); it has {n_words}",
        "too-long": f"at most {most} words (--set {words}={least}/{most}); it has {n_words}",
        "near-duplicate": f"{similar}; one of them is used, chosen by hash",
        "in-two-splits": f"{similar}; sentences of fewer than {LONG} words may recur",
        "heading": f"a line of at most {HEADING} words without a final mark, or no clause, or in capitals",
        "rare-value": f"at least {settings.min_class} rows of a label (--set min_class={settings.min_class})",
        "rare-words": f"a {settings.ipm} of at least {settings.ipm_min:g} (--set ipm_min={settings.ipm_min:g})",
        "over-size": f"at most {'/'.join(map(str, settings.sizes))} rows in {'/'.join(SPLITS)} (--size)",
        "repeated": f"at most {REPEATED} pairs with the same words",
        "donor": f"{DONORS:.0%} of the windows of `dc`, or fewer, give their sentences to other rows, chosen by hash",
        "no-matching-intruder": matched,
        "no-matching-distractor": matched,
        "syncretic-pos": f"--set syncretism={','.join(settings.syncretism) or 'none'}",
        "syncretic-feature": f"--set syncretism={','.join(settings.syncretism) or 'none'}",
        "genre": f"--set genres={settings.genres}",
    }
    rules |= dict.fromkeys(("rare-class", "rare-connective"), rules["rare-value"])
    if name in rules:
        return rules[name]
    if name in FAULTS and text:
        part = pl.Series([text]).str.extract(f"({FAULTS[name]})", 1)[0]
        return f"a clean text has nothing like {part!r}" if part else ""
    return ""
