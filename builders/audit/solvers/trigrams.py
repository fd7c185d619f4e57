"""How probable texts are to a trigram model of other text (Witten & Bell 1991).

A model mixes the relative frequencies of trigrams, bigrams and words: the more different words have followed a context,
the more weight the shorter one has. It reads text that is not in the data, so that it learns nothing from them.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from discoprobe.builders.audit.solvers.classifiers import Floats, Ints
from discoprobe.loaders import hashing
from discoprobe.loaders.corpus import exploded
from discoprobe.loaders.words import tokens

Keys = npt.NDArray[np.uint64]

_LONGEST = 3
"""Words of an n-gram."""
_OUTSIDE = np.uint64(0xFFFFFFFF)
"""The word before the first one of a text."""


class Trigrams:
    """A model of some texts.

    Attributes:
        n_words: how many tokens it was made of.
    """

    def __init__(self, texts: Sequence[str], *, unspaced: bool) -> None:
        """Counts the n-grams of ``texts``; their tokens are pairs of characters with ``unspaced``."""
        self._unspaced = unspaced
        self._followers: list[tuple[_Counts, _Counts]] = []  # of each context: words after it, and different ones
        self._ngrams: list[_Counts] = []
        self.n_words = 0
        for context, ngram in self._read(pl.Series("text", texts, dtype=pl.String))[1]:
            self.n_words = len(ngram)
            _, first = np.unique(ngram, return_index=True)
            self._ngrams.append(_Counts(ngram))
            self._followers.append((_Counts(context), _Counts(context[first])))

    def log_probabilities(self, texts: pl.Series) -> Floats:
        """The log probability of each text: the sum of those of its words."""
        text, ngrams = self._read(texts)
        probability = np.full(len(text), 1 / (1 + len(self._ngrams[0])))
        for (context, ngram), counts, (followers, different) in zip(ngrams, self._ngrams, self._followers, strict=True):
            n, weight = followers.of(context), different.of(context)
            mixed = (counts.of(ngram) + weight * probability) / np.maximum(n + weight, 1)
            probability = np.where(n > 0, mixed, probability)
        return np.bincount(text, np.log(probability), len(texts)).astype(np.float64)

    def _read(self, texts: pl.Series) -> tuple[Ints, list[tuple[Keys, Keys]]]:
        """The number of the text of each word, and for each length the context of the word and the n-gram it ends."""
        listed = texts.to_frame("text").with_row_index("text_number").select(
            "text_number", word=tokens(pl.col("text").str.to_lowercase(), unspaced=self._unspaced)
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


class _Counts:
    """How often each key occurs; its length is the number of different keys."""

    def __init__(self, keys: Keys) -> None:
        self._keys, self._counts = np.unique(keys, return_counts=True)

    def __len__(self) -> int:
        return len(self._keys)

    def of(self, keys: Keys) -> Ints:
        """The count of each key; 0 for one that does not occur."""
        at = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[at] == keys, self._counts[at], 0)
