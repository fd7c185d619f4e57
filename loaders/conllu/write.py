"""Sentences as lines of CoNLL-U (https://universaldependencies.org/format.html)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

MISSING: Final = "_"


class Word(NamedTuple):
    """A syntactic word; ``_`` for unknown values. ``head`` is the number of a word, ``0`` for the root."""

    form: str
    lemma: str = MISSING
    upos: str = MISSING
    xpos: str = MISSING
    feats: str = MISSING
    head: str = MISSING
    deprel: str = MISSING


def sentence_lines(
    comments: Mapping[str, str | int | None], tokens: Iterable[tuple[str, Sequence[Word], str]]
) -> Iterator[str]:
    """The lines of a sentence, without line ends; the last one is empty.

    Args:
        comments: value by key; an empty text for a comment without value (``# newpar``), None for no comment.
        tokens: form, words and MISC of each token; one of several words is a multiword token.
    """
    for key, value in comments.items():
        if value is not None:
            yield f"# {key}" if value == "" else f"# {key} = {value}"
    first = 1
    for form, words, misc in tokens:
        last = first + len(words) - 1
        if last > first:
            yield "\t".join([f"{first}-{last}", form, *[MISSING] * 7, misc])
        for number, word in enumerate(words, first):
            yield "\t".join([str(number), *word, MISSING, MISSING if last > first else misc])
        first = last + 1
    yield ""
