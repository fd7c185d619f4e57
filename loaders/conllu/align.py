"""The character offsets of tokens in the text of their sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl
import pyarrow as pa

from discoprobe.loaders.conllu.word_lines import changes

if TYPE_CHECKING:
    from discoprobe.loaders.conllu.word_lines import Flags, Ints, Words

NO_SPACE: Final = r"(^|\|)SpaceAfter=No(\||$)"


@dataclass(frozen=True, slots=True)
class Alignment:
    """Words aligned with texts."""

    text: pl.Series  # the text of each sentence; without a ``# text`` comment, the tokens joined
    aligned: Flags  # per sentence, whether all tokens were found in the text
    start: Ints  # character offset of each word's token in the text; meaningless where the sentence is not aligned
    end: Ints  # the same, of the character after the token
    mwt: Ints  # per word, number of the first word of its multiword token; 0 outside any


def align(words: Words, texts: pl.Series) -> Alignment:
    """Find the words of well-formed sentences in their texts; words of a multiword token have the offsets of the token.

    Nearly always the text is the tokens joined by one space, or by nothing after ``SpaceAfter=No``. Otherwise the
    tokens must follow each other in the text with only white space between them. A sentence in which they do not is
    not aligned; its text is not changed. ``texts`` has the ``# text`` of each sentence, null if there is none.
    """
    tokens, of_word, mwt = _tokens(words)
    form = tokens["form"]
    first = np.flatnonzero(changes(tokens["block"].to_numpy()))
    sizes = np.diff(first, append=len(form))
    gaps = ~tokens["misc"].str.contains(NO_SPACE).to_numpy()
    gaps[first + sizes - 1] = False
    joined = _join(form, gaps, first)
    length = form.str.len_chars().to_numpy().astype(np.int64)
    end = np.cumsum(length + gaps) - gaps
    end -= np.repeat((end - length)[first], sizes)
    start = end - length
    text = texts.zip_with(texts.is_not_null(), joined)
    aligned = (text == joined).to_numpy().copy()
    for sentence in np.flatnonzero(~aligned).tolist():
        inside = slice(first[sentence], first[sentence] + sizes[sentence])
        starts = _search(text[sentence], form[inside].to_list())
        if starts is not None:
            aligned[sentence] = True
            start[inside], end[inside] = starts, starts + length[inside]
    return Alignment(text, aligned, start[of_word], end[of_word], mwt)


def _tokens(words: Words) -> tuple[pl.DataFrame, Ints, Ints]:
    """``form``, ``misc`` and ``block`` of the tokens: multiword tokens, and words outside any.

    Also for each word the index of its token, and the number of the first word of its multiword token (0 outside any).
    """
    first, last, word, at = (words.ranges[name].to_numpy() for name in ("first", "last", "word", "at"))
    steps = np.zeros(len(words.number) + 1, np.int64)
    steps[word] += first
    np.subtract.at(steps, word + last - first + 1, first)
    mwt = np.cumsum(steps[:-1])
    is_token = words.is_word.copy()
    is_token[is_token] = mwt == 0
    is_token[at] = True
    of_word = np.cumsum((mwt == 0) | (mwt == words.number)) - 1
    return words.lines.select("form", "misc", "block").filter(pl.Series(is_token)), of_word, mwt


def _join(forms: pl.Series, gaps: Flags, first: Ints) -> pl.Series:
    """The forms of each sentence joined, with a space where there is a gap after a form.

    Arrow stores the strings of a column one after the other in one buffer: a sentence is a slice of that buffer.
    """
    _, offsets, data = forms.rechunk().to_arrow(compat_level=pl.CompatLevel.oldest()).buffers()
    ends = np.frombuffer(offsets, np.int64)
    letters = np.insert(np.frombuffer(data, np.uint8), ends[1:][gaps], ord(" "))
    edges = (ends + np.append(0, np.cumsum(gaps)))[np.append(first, len(forms))]
    return pl.Series(pa.Array.from_buffers(pa.large_string(), len(first), [None, *map(pa.py_buffer, (edges, letters))]))


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
