"""Where each token stands in its sentence's text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pyarrow as pa

if TYPE_CHECKING:
    from discoprobe.loaders.conllu.columns import Flags, Ints


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


def align(forms: pl.Series, space_after: Flags, sizes: Ints, texts: pl.Series) -> Alignment:
    """Find the tokens of sentences in their texts.

    Nearly always the text is the forms joined by one space, or by nothing after ``SpaceAfter=No``. Where it is not,
    the forms must follow each other in the text with only white space between them; a sentence where they do not is
    not aligned, and never repaired.

    Args:
        forms: the orthographic tokens of all sentences.
        space_after: whether a space follows, per token.
        sizes: number of tokens per sentence; none is 0.
        texts: the ``# text`` of each sentence, null where there is none.
    """
    last = np.cumsum(sizes) - 1
    first = last - sizes + 1
    gaps = space_after.copy()
    gaps[last] = False
    joined = _join(forms, gaps, first)
    length = forms.str.len_chars().to_numpy().astype(np.int64)
    end = np.cumsum(length + gaps) - gaps
    start = end - length
    base = np.repeat(start[first], sizes)
    start, end = start - base, end - base
    text = texts.fill_null(joined)
    aligned = (text == joined).to_numpy().copy()
    for sentence in np.flatnonzero(~aligned).tolist():
        tokens = slice(first[sentence], last[sentence] + 1)
        found = _search(text[sentence], forms[tokens].to_list())
        if found is not None:
            aligned[sentence] = True
            start[tokens], end[tokens] = found, found + length[tokens]
    return Alignment(text, aligned, start, end)


def _join(forms: pl.Series, gaps: Flags, first: Ints) -> pl.Series:
    """The forms of each sentence joined, with a space where there is a gap after a form.

    In Arrow's layout strings of a column follow each other in one buffer, so that a sentence is a slice of it.
    """
    spaced = pl.select(pl.when(pl.Series(gaps)).then(forms + " ").otherwise(forms)).to_series().rechunk()
    column = spaced.to_arrow(compat_level=pl.CompatLevel.oldest())
    _, offsets, data = column.buffers()
    edges = np.frombuffer(offsets, np.int64)[np.append(first, len(forms))]
    return pl.Series(pa.Array.from_buffers(pa.large_string(), len(first), [None, pa.py_buffer(edges), data]))


def _search(text: str, forms: list[str]) -> Ints | None:
    """The offsets of forms that follow each other in the text, only white space between; None if they do not."""
    starts, at, size = [], 0, len(text)
    for form in forms:
        while at < size and text[at].isspace() and not text.startswith(form, at):
            at += 1
        if not text.startswith(form, at):
            return None
        starts.append(at)
        at += len(form)
    return None if text[at:].strip() else np.array(starts)
