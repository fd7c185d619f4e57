"""Which tasks may be filled with automatic annotation: those whose labels a treebank shows to be right.

``label_errors`` parses held-out sentences of a treebank with the models that will annotate the text. A candidate of the
automatic annotation is right if the treebank has the same candidate (the same sentence, word and edit) with the same
label; it need not be usable there, since the filters of both may differ. What is counted is thus the label that a row
would show, and also a word that is no subject, or a swap of two words that the treebank does not permit. A task is
filled if at most ``LIMIT`` of its candidates are wrong, and ``LEAST`` were seen.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import msgspec
import polars as pl

from discoprobe.builders.sampling.balance import bin_of, edges
from discoprobe.builders.selection import candidates_of_part
from discoprobe.builders.settings import Settings
from discoprobe.builders.task import AnyTask, ProbingTask
from discoprobe.loaders import hashing
from discoprobe.loaders.catalogue.treebanks import DocumentRule
from discoprobe.loaders.conllu.documents import Carried, place
from discoprobe.loaders.conllu.parse import Piece, parse
from discoprobe.loaders.corpus import Corpus, Shard, joined
from discoprobe.loaders.files import cache_folder, hash_of_json, write_atomically
from discoprobe.loaders.languages.language import language_data
from discoprobe.loaders.raw.document import Paragraph, RawDocument, TextWithOffsets
from discoprobe.loaders.raw.segmentation import Engine, annotated_documents, conllu_text

LIMIT: Final = 0.02
"""Largest share of wrong candidates of a task that is filled with automatic annotation."""
LEAST: Final = 100
"""Candidates that must have been compared: of fewer, two in a hundred cannot be told from none."""
MOST: Final = 1000
"""Sentences of a treebank that are parsed, chosen by hash: about half a minute."""
VERSION: Final = 1
"""Raise it when the comparison changes: it is then made again."""
COMPARED: Final = ("target_start", "index", "plan")
"""What a candidate is known by beside its sentence, as far as a task has these columns."""


class LabelErrors(NamedTuple):
    """How many candidates of automatic annotation were compared with a treebank, and how many are wrong."""

    n: int
    wrong: int

    @property
    def share(self) -> float:
        """The share of wrong candidates; 1 where none was compared."""
        return self.wrong / self.n if self.n else 1.0

    @property
    def suffices(self) -> bool:
        """Whether a task may be filled."""
        return self.n >= LEAST and self.share <= LIMIT


def is_annotated(task: AnyTask) -> bool:
    """Whether automatic annotation can give rows of a task: it asks for words, features or trees of sentences."""
    return isinstance(task, ProbingTask) and task.needs <= {"lemma", "upos", "feats", "deps", "text"}


def label_errors(tasks: Sequence[AnyTask], treebank: Corpus, engine: Engine) -> Mapping[str, LabelErrors]:
    """How often the labels of tasks are wrong if an engine annotates the sentences of a treebank.

    Args:
        tasks: those of `is_annotated`.
        treebank: sentences that the models of the engine were not trained on, as far as that is known.
        engine: annotates words.

    Returns:
        By the name of the task. The result is kept in the cache.
    """
    versions = {task.name: task.version for task in tasks}
    key = hash_of_json([VERSION, versions, MOST, [part.identity for part in treebank.parts], dict(engine.identity)])
    file = cache_folder() / "label_errors" / f"{key}.json"
    if file.is_file():
        return msgspec.json.decode(file.read_bytes(), type=dict[str, LabelErrors])
    gold = joined([part.load() for part in treebank.parts])
    first = gold.sentences[hashing.ranking(gold.sentences["key"].to_numpy(), "label errors")[:MOST]].sort("sent")
    automatic = _annotated(first, engine)
    compared = first.join(automatic.sentences, on="text", how="semi")["sent"]
    gold_rows, rows = (_candidates(shard, tasks, treebank.lang) for shard in (_only(gold, compared), automatic))
    errors = {}
    for task in tasks:
        labelled = {tuple(candidate) for *candidate, _ in gold_rows[task.name]}
        right = Counter(tuple(candidate) in labelled for *candidate, reason in rows[task.name] if reason is None)
        errors[task.name] = LabelErrors(right.total(), right[False])
    write_atomically(file, json.dumps(errors).encode())
    return errors


def _annotated(sentences: pl.DataFrame, engine: Engine) -> Shard:
    """The sentences with annotation; those that the engine divides or cannot read are left out."""
    texts = []
    for sent_id, text in sentences.select("sent_id", "text").iter_rows():
        paragraph = Paragraph(TextWithOffsets.of(text), sentences=((0, len(text)),))
        document = RawDocument(sent_id, (paragraph,), sent_id, text)
        for _, of_document in annotated_documents([document], engine, Counter(), Counter()):
            if len(of_document) == 1 and of_document[0].text == text:
                texts.append(conllu_text(document, of_document, sent_id))
    parsed = parse([Piece("treebank", "".join(texts).encode())])
    placed = place(parsed.sentences, "treebank", ["treebank"], DocumentRule("newdoc"), Carried())
    return Shard(placed.documents, placed.sentences, parsed.tokens)


def _only(shard: Shard, sents: pl.Series) -> Shard:
    """The shard without the other sentences."""
    inside = pl.col("sent").is_in(sents.implode())
    return Shard(shard.documents, shard.sentences.filter(inside), shard.tokens.filter(inside))


def _candidates(shard: Shard, tasks: Sequence[AnyTask], lang: str) -> dict[str, list[tuple[str | int | None, ...]]]:
    """By task the text of the sentence, what a candidate is known by, its label and its reason.

    If any word of a sentence may be the label, each is a candidate; if its length is, the label is its class of length,
    of classes of equal width.
    """
    of_task = candidates_of_part(shard, tuple(tasks), language_data(lang), Settings(), None).of_task
    texts = shard.sentences.select("sent", "text")
    rows = {}
    for name, frame in of_task.items():
        candidates, label = frame, pl.col("label")
        place = [
            pl.col(column).struct.json_encode() if column == "plan" else pl.col(column)
            for column in COMPARED
            if column in frame.columns
        ]
        if "words" in frame.columns:
            word = pl.col("words").struct
            candidates = frame.explode("words").filter(word.field("target"))
            place, label = [word.field("start")], word.field("lemma")
        elif len(place) == 1:
            classes = edges(frame["n_words"], Settings(length_bins="equal"))
            label = pl.coalesce(label, bin_of(pl.col("n_words"), classes))
        with_text = candidates.join(texts, on="sent", maintain_order="left")
        rows[name] = with_text.select("text", *place, label, "reason").rows()
    return rows
