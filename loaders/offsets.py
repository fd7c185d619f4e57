"""Where each token stands in its sentence's text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl
import pyarrow as pa

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discoprobe.loaders.lines import Flags, Ints

CONTINUATION: Final = 0x80
"""The upper two bits of a byte that is not the first of its character in UTF-8."""


@dataclass(frozen=True, slots=True)
class Cells:
    """Cells of a text: where each begins, and where it ends."""

    data: bytes
    starts: Ints
    ends: Ints

    def to_list(self, which: slice) -> list[str]:
        """Some of them."""
        spans = zip(self.starts[which].tolist(), self.ends[which].tolist(), strict=True)
        return [self.data[start:end].decode() for start, end in spans]


@dataclass(frozen=True, slots=True)
class Alignment:
    """Tokens aligned with texts.

    Attributes:
        text: the text of each sentence; where there was none, the tokens joined.
        aligned: per sentence, whether every token was found at its place.
        start: character offset in the text, per token; meaningless where the sentence is not aligned.
        end: the same, of the character after the token.
    """

    text: pl.Series
    aligned: Flags
    start: Ints
    end: Ints


def align(tokens: Cells, space_after: Flags, sizes: Ints, texts: pl.Series) -> Alignment:
    """Find the tokens of sentences in their texts.

    Nearly always the text is the forms joined by one space, or by nothing after ``SpaceAfter=No``. Where it is not,
    the forms must follow each other in the text with only white space between them; a sentence where they do not is
    not aligned, and never repaired.

    Args:
        tokens: the forms of the orthographic tokens of all sentences.
        space_after: whether a space follows, per token.
        sizes: number of tokens per sentence; none is 0.
        texts: the ``# text`` of each sentence, null where there is none.
    """
    last = np.cumsum(sizes) - 1
    first = last - sizes + 1
    gaps = space_after.astype(np.int64)
    gaps[last] = 0
    joined, edges = _join(tokens, gaps)
    before = np.concatenate([[0], np.cumsum((joined & 0xC0) != CONTINUATION)])
    start, end = before[edges[:-1]], before[edges[1:] - gaps]
    joined_texts = _slices(joined, edges[np.append(first, len(gaps))])
    base = np.repeat(start[first], sizes)
    start, end = start - base, end - base
    text = texts.fill_null(joined_texts)
    aligned = (text == joined_texts).to_numpy().copy()
    for sentence in np.flatnonzero(~aligned).tolist():
        here = slice(first[sentence], last[sentence] + 1)
        starts = _search(text[sentence], tokens.to_list(here))
        if starts is not None:
            aligned[sentence] = True
            end[here] += starts - start[here]
            start[here] = starts
    return Alignment(text, aligned, start, end)


def _join(tokens: Cells, gaps: Ints) -> tuple[NDArray[np.uint8], Ints]:
    """The bytes of all tokens, a space where there is a gap after one, and where each begins (and the last ends).

    In the text a tab follows each form, whose place the space takes.
    """
    sizes = tokens.ends - tokens.starts + gaps
    edges = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    at = np.arange(edges[-1]) + np.repeat(tokens.starts - edges[:-1], sizes)
    joined = np.frombuffer(tokens.data, np.uint8)[at]
    joined[(edges[1:] - 1)[gaps == 1]] = ord(" ")
    return joined, edges


def _slices(data: NDArray[np.uint8], edges: Ints) -> pl.Series:
    """The strings that lie between edges in UTF-8."""
    buffers = [None, pa.py_buffer(edges), pa.py_buffer(data)]
    return pl.Series(pa.Array.from_buffers(pa.large_string(), len(edges) - 1, buffers))


def _search(text: str, forms: list[str]) -> list[int] | None:
    """The offsets of forms that follow each other in the text, only white space between; None if they do not."""
    starts, at, size = [], 0, len(text)
    for form in forms:
        while at < size and text[at].isspace() and not text.startswith(form, at):
            at += 1
        if not text.startswith(form, at):
            return None
        starts.append(at)
        at += len(form)
    return None if text[at:].strip() else starts
