"""The columns of a config in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from discoprobe.builders.config import Shape, schema

if TYPE_CHECKING:
    import pyarrow as pa

LABEL = "label"
_WHAT = {
    "id": "the row's name, the same in every release that has the row",
    "label": "the class",
    "corpus": "the treebank the row comes from",
    "doc_id": "the document in that treebank; null where the treebank has none",
    "sent_ids": "the treebank's ids of the sentences shown, in the order shown",
    "pair_id": "shared by an original and its edited versions; null for rows without",
    "group": "what never stands in two splits: the document, the target's form, or the cluster of like sentences",
    "text": "the sentence as it stands in the corpus, or with one edit",
    "target": "the word the label is about: its characters in `text`, form, lemma, part of speech; null without one",
    "original": "the sentence before the edit; null in rows that are not edited",
    "edit": "the characters of `text` that the edit put there; in an original, those it changes; null without an edit",
    "n_words": "number of words as Universal Dependencies counts them, without punctuation",
    "ipm_share": "share of the sentence's lemmas that are above 1 per million words; null without a frequency list",
    "sentences": "the sentences in the order shown",
    "order": "where each sentence shown stands in the source (0 is the passage's first); -1 for one from elsewhere",
    "position": "index of the edited or moved sentence in `sentences`; -1 where there is none",
    "removed": "the connective that the second sentence lost, with its comma",
    "sentence1": "the first sentence shown",
    "sentence2": "the second sentence shown",
    "direction": "which unit depends on which, as the corpus writes it (`1<2`, `1>2`), or which is the nucleus (`NS`)",
    "rel_type": "what marks the relation: `explicit` (a connective), `implicit`, `altlex`, …; null where not annotated",
    "orig_label": "the relation as the corpus names it",
    "score": "the score of the source; `label` is the class that the audit put it in",
    "candidate": "the sentence of which the question is whether it follows",
    "context": "the passage",
    "choices": "the candidates",
    "distractor": "where the wrong sentence comes from: `later` in the same document, or another document "
    "(`other_document`; `nearest` or `genre` if chosen for likeness); null for the right one",
}
_WHAT_HERE = {
    (Shape.RELATION, "sent_ids"): "the sentences in which the units begin; of a tree, the nodes that head them",
    (Shape.RELATION, "sentence1"): "the unit that comes first in the text",
    (Shape.RELATION, "sentence2"): "the unit that comes second",
    (Shape.RELATION, "group"): "the document, which never stands in two splits",
    (Shape.RELATION, "removed"): "the connective that a unit lost; null where none was removed",
    (Shape.CANDIDATE, "sentences"): "the passage",
    (
        Shape.CHOICE,
        "distractor",
    ): "where each of `choices` is from: `later` in the same document, or another document "
    "(`other_document`; `nearest` or `genre` if chosen for likeness); null for the right one",
    (Shape.CHOICE, "label"): "index of the right one of `choices`",
}
_SHOWN_LABELS = 6


class Field(NamedTuple):
    """A column: its name, its type as `datasets` names it, what it holds."""

    name: str
    type: str
    what: str


def fields(shape: Shape, labels: tuple[str, ...]) -> list[Field]:
    """The columns of every split of a config of this shape, in order."""
    return [
        Field(
            column.name,
            class_label(labels) if column.name == LABEL else type_name(column.type),
            _WHAT_HERE.get((shape, column.name), _WHAT[column.name]),
        )
        for column in schema(shape)
    ]


def class_label(labels: tuple[str, ...]) -> str:
    """``ClassLabel`` with its names in the order of their numbers, the first few of many."""
    more = f", … {len(labels)} in all" if len(labels) > _SHOWN_LABELS else ""
    return f"ClassLabel({', '.join(labels[:_SHOWN_LABELS])}{more})"


def type_name(kind: pa.DataType) -> str:
    """``string``, ``list<int32>``, ``struct<start: int32, end: int32>``: without Arrow's name for list items."""
    arrow = str(kind).replace("item: ", "").replace("element: ", "")
    return arrow.replace("float", "float32").replace("double", "float64")
