"""What a reader without the labels is asked about a row: a person in a blind round, or a model by a prompt."""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from discoprobe.builders.config import Shape
from discoprobe.cards.metadata.manifest import ConfigEntry
from discoprobe.cards.readers import PLACES, right_answer, sides
from discoprobe.cards.text.examples import ShownText, row_texts

_NAMES = {
    "sentences": "sentence", "choices": "choice", "sentence1": "first sentence", "sentence2": "second sentence",
}  # fmt: skip
"""Columns that are called otherwise."""


def question_of(entry: ConfigEntry) -> str:
    """What a reader is asked about a row of a config."""
    return ("Which text is better? " if entry.shape == Shape.SUITE else "") + entry.summary


def possible_answers(entry: ConfigEntry) -> tuple[str, ...]:
    """What a row may be answered: the names of the labels that rows have; in a suite, which text is the good one."""
    return PLACES if entry.shape == Shape.SUITE else labels_of(entry)


def labels_of(entry: ConfigEntry) -> tuple[str, ...]:
    """The names of the labels that rows of a config have, in their order."""
    used = {label for counts in entry.counts.values() for label, n in counts.items() if n}
    return tuple(label for label in entry.labels if label in used)


def answer_names(entry: ConfigEntry) -> dict[str, str]:
    """What a reader sees for each answer: a choice by its number, any other label by its name."""
    answers = possible_answers(entry)
    if entry.shape == Shape.CHOICE:
        return {label: f"choice {entry.labels.index(label) + 1}" for label in answers}
    return {label: label.replace("_", " ") for label in answers}


def named_texts(entry: ConfigEntry, row: Mapping[str, Any]) -> Iterator[ShownText]:
    """The texts of a row with what they are called."""
    for text in row_texts(Shape(entry.shape), row):
        name = _NAMES.get(text.name, text.name)
        yield replace(text, name=name if text.number is None else f"{name} {text.number + 1}")


def question_texts(entry: ConfigEntry, row: Mapping[str, Any]) -> tuple[ShownText, ...]:
    """The texts of a row without anything that gives its label away: no edit, no target, no place in the source."""
    texts = {text.name: text.text for text in named_texts(entry, row)}
    if entry.shape == Shape.SUITE:
        texts = {place: texts[side] for place, side in zip(PLACES, sides(row["id"]), strict=True)}
    return tuple(ShownText(name, text) for name, text in texts.items())


def prompt_of(entry: ConfigEntry, row: Mapping[str, Any]) -> tuple[str, str]:
    """The question about a row as one text, which asks for the number of the answer; and the right number."""
    texts = "\n".join(f"{text.name}: {text.text}" for text in question_texts(entry, row))
    names = answer_names(entry)
    answers = "\n".join(f"{number}: {name}" for number, name in enumerate(names.values(), 1))
    asked = (
        f"{question_of(entry)}\n\n{texts}\n\nPossible answers:\n{answers}\n\nReply with the number of the answer only."
    )
    return asked, str([*names].index(right_answer(row, entry.labels)) + 1)
