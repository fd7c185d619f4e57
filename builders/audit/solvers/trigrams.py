"""How probable texts are to a trigram model of other text (Witten & Bell 1991).

A model mixes the relative frequencies of trigrams, bigrams and words: the more different words have followed a context,
the more weight the shorter one has. It reads text that is not in the data, so that it learns nothing from them.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from discoprobe.builders.audit.solvers.classifiers import Floats, Ints
from discoprobe.builders.audit.thresholds import FEWEST_WORDS
from discoprobe.loaders import hashing
from discoprobe.loaders.corpus import exploded
from discoprobe.loaders.words import tokens

Keys = npt.NDArray[np.uint64]

_LONGEST = 3
"""Words of an n-gram."""
_OUTSIDE = np.uint64(0xFFFFFFFF)
"""The word before the first one of a text."""


def log_probabilities(
    other: Sequence[str], texts: pl.Series, *, unspaced: bool, fewest: int = FEWEST_WORDS
) -> tuple[Floats, int] | None:
    """The log probability of each text, the sum of those of its words, and how many tokens the model was made of.

    Args:
        other: what the model was made of.
        texts: what it reads.
        unspaced: whether tokens are pairs of characters.
        fewest: how many tokens ``other`` must have; with fewer the result is None.
    """
    (_, known), (text, asked) = (
        _words_and_ngrams(each, unspaced=unspaced) for each in (pl.Series("text", other, dtype=pl.String), texts)
    )
    n_words = len(known[0][1])
    if n_words < fewest:
        return None
    probability = np.full(len(text), 1 / (1 + len(np.unique(known[0][1]))))
    for (known_context, known_ngram), (context, ngram) in zip(known, asked, strict=True):
        _, first = np.unique(known_ngram, return_index=True)
        followers, different = _counts(known_context, context), _counts(known_context[first], context)
        mixed = (_counts(known_ngram, ngram) + different * probability) / np.maximum(followers + different, 1)
        probability = np.where(followers > 0, mixed, probability)
    return np.bincount(text, np.log(probability), len(texts)).astype(np.float64), n_words


def _words_and_ngrams(texts: pl.Series, *, unspaced: bool) -> tuple[Ints, list[tuple[Keys, Keys]]]:
    """The number of the text of each word, and for each length the context of the word and the n-gram it ends."""
    listed = texts.to_frame("text").with_row_index("text_number").select(
        "text_number", word=tokens(pl.col("text").str.to_lowercase(), unspaced=unspaced)
    )  # fmt: skip
    words = exploded(listed, "word").drop_nulls("word")
    text, word = words["text_number"].to_numpy().astype(np.int64), hashing.hash_strings(words["word"])
    first = np.flatnonzero(np.diff(text, prepend=-1))
    place = np.arange(len(text)) - np.repeat(first, np.diff(first, append=len(text)))
    return text, list(_contexts_and_ngrams(word, place))


def _contexts_and_ngrams(word: Keys, place: Ints) -> Iterator[tuple[Keys, Keys]]:
    """For n = 1 … ``_LONGEST`` the n - 1 words before each word, and these with it.

    Args:
        word: of several texts, one after the other, as hashes.
        place: how many words are before each in its text.
    """
    context = np.zeros(len(word), np.uint64)
    for n in range(_LONGEST):
        if n:
            context = hashing.combine(context, np.where(place >= n, np.roll(word, n), _OUTSIDE))
        yield context, hashing.combine(context, word)


def _counts(keys: Keys, asked: Keys) -> Ints:
    """How often each of ``asked`` occurs among ``keys``."""
    distinct, counts = np.unique(keys, return_counts=True)
    at = np.minimum(np.searchsorted(distinct, asked), len(distinct) - 1)
    return np.where(distinct[at] == asked, counts[at], 0)
