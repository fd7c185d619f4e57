"""Types of rows that others made: what a row holds, and whether shared words are what its label is about.

`with_task_type` gives data the type that the user names, or guesses that of pairs of texts: never by the names of
columns, but by labels and by how many words the texts share. One rule follows from the type (``OVERLAP``).
"""

import re
from collections.abc import Mapping
from typing import Final, Literal

import polars as pl
from msgspec.structs import replace

from discoprobe.builders.audit.frame import AuditInput, Provenance, UnreadableDataError, ends_of
from discoprobe.builders.config import Shape
from discoprobe.loaders.errors import UnknownNameError
from discoprobe.loaders.words import running_words

TaskType = Literal["single", "pair", "entailment", "paraphrase", "similarity", "choice", "minimal-pairs"]
TASK_TYPES: Final[Mapping[TaskType, tuple[Shape, str]]] = {
    "single": (Shape.SENTENCE, "The label of a text"),
    "pair": (Shape.PAIR, "The label of two texts"),
    "entailment": (Shape.PAIR, "Whether one text follows from the other"),
    "paraphrase": (Shape.PAIR, "Whether two texts say the same"),
    "similarity": (Shape.SCORED, "How similar two sentences are"),
    "choice": (Shape.CHOICE, "The right one of several choices"),
    "minimal-pairs": (Shape.CHOICE, "The acceptable one of two sentences"),
}
"""Type of a row → the columns it gets, and what is asked."""
OVERLAP: Final = frozenset({"overlap", "similarity"})
"""Checks that measure how much of one text is in the other."""
QUESTION: Final[Mapping[str, str]] = dict.fromkeys(
    OVERLAP, "the label says whether two texts say the same, or how similar they are, which this measures"
)
"""Checks that paraphrases and scores of similarity are exempt from → reason. Of inference, where shared words are no
reason (McCoy et al. 2019), they are reported, and a cue if they decide more than half; of other pairs, such as those of
a discourse relation, they have a threshold."""
_BY_NAME: Final[Mapping[TaskType, re.Pattern[str]]] = {
    "entailment": re.compile(r"(?:(?:not?|non|un|is)_?)*(?:entail\w*|contradict\w*)"),
    "paraphrase": re.compile(r"(?:(?:not?|non|un|is|semantically)_?)*(?:paraphras\w*|duplicate\w*|equivalent)"),
}
"""Type → what one of its labels is called, in small letters."""
_COMPARED: Final = 0.6
"""Smallest share of the words of a shorter text that is in the other one (less what texts of two rows share), in the
label of which it is largest, where texts are compared. Measured: SICK .81, STS 2015 .82, MRPC .74; questions with
answers .38, claims with evidence .49; neighbouring sentences, relations (PDTB) and XCOPA in ten languages .02 to .23.
"""
_ROWS, _FEWEST = 500, 20
"""Rows of a label in which shared words are counted: at most, and at least."""


def check_task_type(data: AuditInput, task_type: str) -> TaskType:
    """The type that a user names.

    Raises:
        UnknownNameError: there is no such type.
        UnreadableDataError: the rows are not of this type.
    """
    known = next((name for name in TASK_TYPES if name == task_type), None)
    if known is None:
        raise UnknownNameError("task type", task_type, TASK_TYPES)
    shape, _ = TASK_TYPES[known]
    expected = Shape.PAIR if shape is Shape.SCORED else shape
    if data.shape != expected or (known == "minimal-pairs" and len(data.labels) != 2):  # noqa: PLR2004
        contents = {Shape.SENTENCE: "one text", Shape.PAIR: "two texts", Shape.CHOICE: "choices"}
        content = contents.get(data.shape, "many texts")
        raise UnreadableDataError(f"{data.name}: a row holds {content}, which does not fit --task-type {known}")
    if known == "similarity" and data.rows["score"].null_count():
        raise UnreadableDataError(
            f"{data.name}: the label column holds no numbers, which --task-type similarity needs; name one with --label"
        )
    return known


def with_task_type(data: AuditInput, named: str = "") -> AuditInput:
    """Data of others with the type of its rows, and what follows from it for shared words.

    What is guessed of pairs of texts is said in a note. Whether texts were edited must be known before: what tells
    edited texts is a fault in every type.

    Args:
        data: what was read.
        named: the type, as the user says.

    Raises:
        UnknownNameError: there is no such type.
        UnreadableDataError: the rows are not of this type.
    """
    task_type: str = check_task_type(data, named) if named else ""
    if not data.external or data.shape is not Shape.PAIR:
        return replace(data, task_type=task_type)
    if not task_type:
        task_type, reason = _guess(data)
        note = f"guessed: --task-type {task_type} ({reason})"
        read = data.read or Provenance("")
        data = replace(data, read=replace(read, notes=(*read.notes, note)))
    is_question = task_type in {"paraphrase", "similarity"} and not data.perturbation
    exempt = {check: reason for check, reason in data.exempt.items() if check not in OVERLAP}
    return replace(data, task_type=task_type, exempt={**exempt, **(QUESTION if is_question else {})})


def _guess(data: AuditInput) -> tuple[TaskType, str]:
    """The type of pairs of texts, and why: by scores, by names of labels, or by the words that texts share."""
    scores = data.rows["score"].drop_nulls()
    if bool((scores != scores.round()).any()) or scores.n_unique() > len(data.labels):
        return "similarity", "the labels are scores"
    if {"e", "n", "c"} <= {name.strip().lower() for name in data.labels}:
        return "entailment", "labels are called e, n and c"
    for task_type, pattern in _BY_NAME.items():
        for name in data.labels:
            if pattern.fullmatch(re.sub(r"[\W_]+", "_", name.strip().lower())):
                return task_type, f"a label is called '{name}'"
    shares = {label: share for label in range(len(data.labels)) if (share := _shared(data, label)) is not None}
    label = max(shares, key=lambda key: shares[key], default=0)
    share = shares.get(label, 0.0)
    if share < _COMPARED:
        return "pair", "no label says more, and few words are shared"
    return "entailment", f"under label '{data.labels[label]}' texts share {share:.0%} of their words"


def _shared(data: AuditInput, label: int) -> float | None:
    """The mean share of the words of the shorter text that are in the other, corrected for what chance gives.

    Chance is the share in common with the second text of the next row of this label: that of frequent words and of
    frequent characters. None if there are too few rows.
    """
    rows = data.rows.filter(pl.col("label") == label).head(_ROWS)
    if rows.height < _FEWEST:
        return None
    read = [running_words(ends_of(pl.col("texts").list.get(at))).list.unique() for at in (0, 1)]
    words = rows.select(first=read[0], second=read[1]).with_columns(
        other=pl.col("second").shift(1).fill_null(pl.col("second").last())
    )
    measures = []
    for second in ("second", "other"):
        least = pl.min_horizontal(pl.col("first").list.len(), pl.col(second).list.len())
        shared = pl.col("first").list.set_intersection(second).list.len() / pl.max_horizontal(least, 1)
        measures.append(float(words.select(shared.mean()).item() or 0.0))
    observed, by_chance = measures
    return (observed - by_chance) / (1 - by_chance) if by_chance < 1 else 0.0
