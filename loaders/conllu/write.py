"""Sentences as lines of CoNLL-U (https://universaldependencies.org/format.html)."""

from collections.abc import Iterable, Mapping, Sequence
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


def sentence_text(comments: Mapping[str, str | int | None], tokens: Iterable[tuple[str, Sequence[Word], str]]) -> str:
    """The lines of a sentence and the empty line after it.

    Args:
        comments: key → value; an empty string gives a comment without value (``# newpar``), None no comment.
        tokens: form, words and MISC of each token; a token with several words is a multiword token.
    """
    lines = [
        f"# {key}" if value == "" else f"# {key} = {value}" for key, value in comments.items() if value is not None
    ]
    n = 0
    for form, words, misc in tokens:
        of_word = misc
        if len(words) > 1:
            lines.append("\t".join([f"{n + 1}-{n + len(words)}", form, *[MISSING] * 7, misc]))
            of_word = MISSING
        for word in words:
            n += 1
            lines.append("\t".join([str(n), *word, MISSING, of_word]))
    return "\n".join([*lines, "", ""])
