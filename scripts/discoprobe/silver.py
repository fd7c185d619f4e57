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
from pathlib import Path
from typing import Any, Final, NamedTuple

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
from discoprobe.loaders.conllu.reader import find_files, read_corpora
from discoprobe.loaders.corpus import Corpus, Shard, joined
from discoprobe.loaders.errors import OnError, UnsupportedError
from discoprobe.loaders.files import cache_folder, hash_of_json, write_atomically
from discoprobe.loaders.languages.language import language_data
from discoprobe.loaders.plugins import identity, language_identity
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


def held_out(paths: Sequence[Path], lang: str, on_error: OnError) -> Corpus:
    """The test files of a language among these treebanks, else its dev files, else all: models are trained on train.

    Raises:
        UnsupportedError: there is no treebank of the language.
    """
    files = [path for path in find_files(paths) if path.suffix == ".conllu"]
    for part in ("test", "dev", ""):
        of_part = [path for path in files if path.stem.endswith(part and f"-{part}")]
        corpora = read_corpora(of_part, lang=lang, on_error=on_error)
        if lang in corpora:
            return corpora[lang]
    raise UnsupportedError(f"--silver: there is no treebank of {lang} that shows which labels are right")


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
    depends = [VERSION, versions, MOST, [part.identity for part in treebank.parts], dict(engine.identity)]
    if used := {**identity({Path(task.plugin) for task in tasks if task.plugin}), **language_identity(treebank.lang)}:
        depends.append(used)
    key = hash_of_json(depends)
    file = cache_folder() / "label_errors" / f"{key}.json"
    if file.is_file():
        return msgspec.json.decode(file.read_bytes(), type=dict[str, LabelErrors])
    gold = joined([part.load() for part in treebank.parts])
    first = gold.sentences[hashing.ranking(gold.sentences["key"].to_numpy(), "label errors")[:MOST]].sort("sent")
    texts = []
    for sent_id, text in first.select("sent_id", "text").iter_rows():
        paragraph = Paragraph(TextWithOffsets.of(text), sentences=((0, len(text)),))
        document = RawDocument(sent_id, (paragraph,), sent_id, text)
        for _, of_document in annotated_documents([document], engine, Counter(), Counter()):
            if len(of_document) == 1 and of_document[0].text == text:  # else the engine divides it, or cannot read it
                texts.append(conllu_text(document, of_document, sent_id))
    parsed = parse([Piece("treebank", "".join(texts).encode())])
    placed = place(parsed.sentences, "treebank", ["treebank"], DocumentRule("newdoc"), Carried())
    inside = pl.col("sent").is_in(first.join(placed.sentences, on="text", how="semi")["sent"].implode())
    gold = Shard(gold.documents, gold.sentences.filter(inside), gold.tokens.filter(inside))
    automatic = Shard(placed.documents, placed.sentences, parsed.tokens)
    language = language_data(treebank.lang)
    by_shard: list[dict[str, list[tuple[Any, ...]]]] = []
    for shard in (gold, automatic):
        by_task = {}
        sentence_texts = shard.sentences.select("sent", "text")
        for name, of_task in candidates_of_part(shard, tuple(tasks), language, Settings(), None).of_task.items():
            candidates, label = of_task, pl.col("label")
            known_by = [
                pl.col(column).struct.json_encode() if column == "plan" else pl.col(column)
                for column in COMPARED
                if column in of_task.columns
            ]
            if "words" in of_task.columns:  # any word of the sentence may be the label, so that each is a candidate
                word = pl.col("words").struct
                candidates = of_task.explode("words").filter(word.field("target"))
                known_by, label = [word.field("start")], word.field("lemma")
            elif len(known_by) == 1:  # where the length is the label, it is the class of length, of equal widths
                classes = edges(of_task["n_words"], Settings(length_bins="equal"))
                label = pl.coalesce(label, bin_of(pl.col("n_words"), classes))
            with_text = candidates.join(sentence_texts, on="sent", maintain_order="left")
            by_task[name] = with_text.select("text", *known_by, label, "reason").rows()
        by_shard.append(by_task)
    gold_rows, rows = by_shard
    errors = {}
    for task in tasks:
        labelled = {tuple(candidate) for *candidate, _ in gold_rows[task.name]}
        right = Counter(tuple(candidate) in labelled for *candidate, reason in rows[task.name] if reason is None)
        errors[task.name] = LabelErrors(right.total(), right[False])
    write_atomically(file, json.dumps(errors).encode())
    return errors
