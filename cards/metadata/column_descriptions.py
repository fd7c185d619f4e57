"""The columns of a config in words."""

from typing import NamedTuple

import pyarrow as pa

from discoprobe.builders.config import Shape, schema

LABEL = "label"
_WHAT = {
    "id": "id of the row; a row keeps its id in later releases",
    "label": "the class",
    "corpus": "the corpus that the row comes from",
    "doc_id": "the document in that corpus; null if the corpus has no documents",
    "sent_ids": "ids of the sentences in the corpus, in the order shown",
    "pair_id": "id of the pair: an original and its edited versions; null if the task has no pairs",
    "group": "document, form of the target word, or cluster of similar sentences; a group is in one split only",
    "text": "the sentence of the corpus, unchanged or with one edit",
    "target": "the word that the label is about: characters in `text`, form, lemma, part of speech; null if none",
    "original": "the sentence before the edit; null if the row is not edited",
    "edit": "the edited characters of `text`; in an original, those that its edited version changes; null if none",
    "n_words": "number of words as Universal Dependencies counts them, without punctuation",
    "ipm_share": "share of the lemmas with a frequency above 1 per million words; null without a frequency list",
    "sentences": "the sentences in the order shown",
    "sentence_good": "the good text, as in the corpus if the definition says nothing else",
    "sentence_bad": "the text with one change, which makes it worse",
    "regions_good": "the regions of the good text, to be joined with spaces; a region without words is empty",
    "regions_bad": "the same regions of the bad text",
    "region": "number of the region (from 1) in which the bad text should be less probable; 0 for the whole text",
    "order": "position of each sentence in the passage of the source, from 0; -1 for a sentence from another place",
    "position": "index of the moved or inserted sentence in `sentences`; -1 if there is none",
    "removed": "the connective that was removed from the second sentence, with its comma",
    "sentence1": "the first sentence shown",
    "sentence2": "the second sentence shown",
    "direction": "which unit depends on which, as the corpus writes it (`1<2`, `1>2`), or which is the nucleus (`NS`)",
    "rel_type": "what marks the relation: `explicit` (a connective), `implicit`, `altlex`, …; null where not annotated",
    "orig_label": "the relation as the corpus names it",
    "score": "the score in the source; `label` is the class that the audit assigned to it",
    "candidate": "a sentence that may follow the passage",
    "context": "the passage",
    "choices": "the candidates",
    "distractor": "where the distractor comes from: `later` in the same document, or another document "
    "(`other_document`; `nearest` or `genre` if chosen because it is similar); null for the correct one",
}
_WHAT_HERE = {
    (
        Shape.RELATION,
        "sent_ids",
    ): "the sentences in which the units begin; in an RST tree, the heads of the units",
    (Shape.RELATION, "sentence1"): "the unit that comes first in the text",
    (Shape.RELATION, "sentence2"): "the unit that comes second",
    (Shape.RELATION, "group"): "the document; a group is in one split only",
    (Shape.RELATION, "removed"): "the connective that was removed from a unit; null if none was",
    (Shape.CANDIDATE, "sentences"): "the passage",
    (
        Shape.CHOICE,
        "distractor",
    ): "where each of `choices` comes from: `later` in the same document, or another document "
    "(`other_document`; `nearest` or `genre` if chosen because it is similar); null for the correct one",
    (Shape.CHOICE, "label"): "index of the correct one of `choices`",
    (Shape.SUITE, "label"): "the condition: how the bad text was made",
    (Shape.SUITE, "group"): "document, cluster of similar sentences, or item; rows of one group are not independent",
    (Shape.SUITE, "pair_id"): "id of the pair",
    (Shape.SUITE, "target"): "the changed word: characters in `sentence_good`, form, lemma, part of speech; null if "
    "sentences were moved",
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
