"""Where each token stands in its sentence's text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pyarrow as pa

if TYPE_CHECKING:
    from discoprobe.loaders.lines import Flags, Ints


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


def align(forms: pl.Series, lengths: pl.Series, space_after: Flags, sizes: Ints, texts: pl.Series) -> Alignment:
    """Find the tokens of sentences in their texts.

    Nearly always the text is the forms joined by one space, or by nothing after ``SpaceAfter=No``. Where it is not,
    the forms must follow each other in the text with only white space between them; a sentence where they do not is
    not aligned, and never repaired.

    Args:
        forms: the orthographic tokens of all sentences.
        lengths: their lengths in characters.
        space_after: whether a space follows, per token.
        sizes: number of tokens per sentence; none is 0.
        texts: the ``# text`` of each sentence, null where there is none.
    """
    last = np.cumsum(sizes) - 1
    first = last - sizes + 1
    gaps = space_after.astype(np.int64)
    gaps[last] = 0
    sizes_of_forms = lengths.to_numpy().astype(np.int64)
    joined = _join(forms, gaps, last)
    ends_in_all = np.cumsum(sizes_of_forms + gaps) - gaps
    start = ends_in_all - sizes_of_forms
    base = np.repeat(start[first], sizes)
    start, end = start - base, ends_in_all - base
    text = texts.fill_null(joined)
    aligned = (text == joined).to_numpy().copy()
    for sentence in np.flatnonzero(~aligned).tolist():
        here = slice(first[sentence], last[sentence] + 1)
        starts = _search(text[sentence], forms[here].to_list())
        if starts is not None:
            aligned[sentence] = True
            start[here] = starts
            end[here] = start[here] + sizes_of_forms[here]
    return Alignment(text, aligned, start, end)


def _join(forms: pl.Series, gaps: Ints, last: Ints) -> pl.Series:
    """The tokens of each sentence as one string: the sentences are slices of all tokens run together."""
    frame = pl.DataFrame({"form": forms, "gap": gaps})
    spaced = frame.select(
        pl.when(pl.col("gap") == 1).then(pl.col("form") + " ").otherwise(pl.col("form")),
    ).to_series()
    array = spaced.rechunk().to_arrow(compat_level=pl.CompatLevel.oldest()).cast(pa.large_string())
    _, offsets, data = array.buffers()
    ends = np.frombuffer(offsets, np.int64)[array.offset :][last + 1]
    edges = np.concatenate([[0], ends])
    sentences = pa.LargeStringArray.from_buffers(len(last), pa.py_buffer(edges), data)
    return pl.Series(sentences)


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
