"""Stanza's tokens in other sentences."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Entry = dict[str, Any]
"""A token or word as Stanza's ``to_dict`` gives it; a multiword token is followed by its words."""


def regrouped(document: Any, starts: Sequence[int]) -> Any:
    """A tokenised Stanza document with the same tokens in sentences that begin at other characters.

    Dots that stood in two sentences, as an ellipsis that was cut, become one token.

    Args:
        document: tokenised, with multiword tokens expanded, and not annotated.
        starts: the first character of each sentence; a token is in the sentence in which it begins.
    """
    from stanza.models.common.doc import Document  # noqa: PLC0415 (takes seconds)

    groups: list[list[list[Entry]]] = [[] for _ in starts]
    for sentence in document.sentences:
        cut = True
        for token in sentence.tokens:
            group = groups[max(0, bisect_right(starts, token.start_char) - 1)]
            entries = token.to_dict()
            if cut and group and _are_dots(group[-1][-1], entries[0]):
                _append(group[-1][-1], entries[0])
            else:
                group.append(entries)
            cut = False
    return Document([list(_numbered(group)) for group in groups if group], text=document.text)


def _are_dots(left: Entry, right: Entry) -> bool:
    return left["end_char"] == right["start_char"] and not (left["text"] + right["text"]).strip(".…")


def _append(left: Entry, right: Entry) -> None:
    left["text"] += right["text"]
    left["end_char"] = right["end_char"]
    left.pop("misc", None)


def _numbered(group: Sequence[list[Entry]]) -> Iterator[Entry]:
    """The entries of a sentence, words counted from 1."""
    number = 0
    for entries in group:
        words = entries[1:] if len(entries) > 1 else entries
        if words is not entries:
            yield {**entries[0], "id": (number + 1, number + len(words))}
        for word in words:
            number += 1
            yield {**word, "id": number}
