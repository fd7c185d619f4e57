"""Near-duplicates among millions of texts: exact set-similarity join on word n-grams.

Two texts are near-duplicates when the Jaccard similarity of their sets of word n-grams reaches a threshold. They are
found with prefix filtering (Chaudhuri, Ganti & Kaushik 2006; Bayardo, Ma & Srikant 2007): when the n-grams of every
text are ordered from rare to frequent, two texts of similarity t share one among the first ``|x| - ceil(t·|x|) + 1``
of each. Word n-grams are mostly unique, so that few candidates are left, and each is verified. In contrast to MinHash
with LSH the result is exact: no pair is missed, and nothing depends on the order of texts, on a seed, or on a hash
function (64-bit hashes represent words only for comparison).

`altered_copies` and `paraphrases` find what word n-grams cannot show: sentences whose words were changed or reordered.

`EarlierTexts` does the same for texts that arrive one block after the other, with a bound on the candidates per n-gram.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np
import numpy.typing as npt
import polars as pl
import scipy  # a part of it is loaded when it is first used, which takes a third of a second

from discoprobe.loaders import hashing
from discoprobe.loaders.hashing import GAMMA, INVERSE, hash_strings, splitmix64
from discoprobe.loaders.words import running_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Ints = npt.NDArray[np.int64]
Keys = npt.NDArray[np.uint64]
Flags = npt.NDArray[np.bool_]

NGRAM: Final = 5
"""Words per n-gram."""
NEAR: Final = 0.8
"""Least Jaccard similarity of near-duplicates."""

_TEXTS_AT_ONCE = 100_000
"""Texts whose words are in memory as strings at a time."""
_PAIRS_AT_ONCE = 1_000_000
"""Candidate pairs in memory at a time; an intersection of a million pairs takes about 300 MB."""
_ALTERED_AT_ONCE = 25_000
"""Texts whose altered copies are in memory at a time: about forty keys for each, of which few are needed afterwards."""
_BITS = 25
"""Most bits of a key that say whether a later text has it; 32 MB, of which 50,000 sentences set one in thirteen."""
_BITS_PER_KEY = 16
"""Places of these bits for each key of a later text, or for each word, so that a small set costs no more than it
needs."""
_RAREST = 30
"""Words of a text by which candidates are looked for; a sentence has as many."""
_WORD_BITS = 22
"""Most bits of a word by which it is counted; 32 MB for the counts."""
_EPSILON = 1e-9
"""Keeps rounding from making ``0.8 * 5`` a little more than 4."""


def near_clusters(texts: pl.Series, *, ngram: int = NGRAM, threshold: float = NEAR) -> pl.Series:
    r"""The cluster of each text: the smallest row index among the texts it is (transitively) nearly the same as.

    Two texts are joined when the Jaccard similarity of their sets of lower-cased word ``ngram``-grams (``\w+``; single
    characters in scripts without spaces) is at least ``threshold``. A text with fewer words has no n-gram and is joined
    only to texts that are equal but for case. The partition does not depend on the order of the texts.

    Args:
        texts: strings without nulls.
        ngram: words per n-gram.
        threshold: least Jaccard similarity, above 0 and at most 1.

    Returns:
        UInt32 series ``cluster``, one value per text.
    """
    slices = texts.to_frame("text").iter_slices(_TEXTS_AT_ONCE)
    parts = [shingles(part["text"], ngram=ngram) for part in slices]
    none = [np.empty(0, np.int64)]
    sizes = np.concatenate([*none, *(np.bincount(part.text, minlength=len(part.keys)) for part in parts)])
    # Only few n-grams are in two texts; the others are given up before they are in memory a second time.
    repeated = _repeated(np.concatenate([np.empty(0, np.uint64), *(part.gram for part in parts)]))
    parts = [_with_keys(part, repeated) for part in parts]
    return clusters(together(parts), threshold=threshold, sizes=sizes)


class Shingles(msgspec.Struct, frozen=True):
    """The n-grams of texts, without the texts: 16 bytes per word.

    Attributes:
        keys: one per text. Two texts have the same key if they have the same set of n-grams, or, if they are too short
            for an n-gram, if they are equal but for case.
        text: of each n-gram, the number of its text; each is there once, sorted by text.
        gram: its hash.
    """

    keys: Keys
    text: Ints
    gram: Keys

    def at(self, chosen: npt.NDArray[Any] | slice) -> Shingles:
        """The n-grams with these numbers, in that order, or those of a mask."""
        return Shingles(self.keys, self.text[chosen], self.gram[chosen])


def shingles(texts: pl.Series, *, ngram: int = NGRAM) -> Shingles:
    """The n-grams and keys of some texts."""
    part = texts.alias("text").to_frame()
    words = part.select(running_words(pl.col("text")))["text"]
    counts = words.list.len().to_numpy().astype(np.int64)
    hashes = hash_strings(words.explode().drop_nulls())
    # the hash of every sequence of ``ngram`` words inside a text, each once per text
    gram = hashes[: max(len(hashes) - ngram + 1, 0)].copy()
    for step in range(1, ngram):
        gram = gram * GAMMA + hashes[step : step + len(gram)]
    text = np.repeat(np.arange(len(counts)), counts)[: len(gram)]
    inside = np.arange(len(gram)) + ngram <= np.cumsum(counts)[text]
    keys = hash_strings(part["text"].str.to_lowercase())
    grams = Shingles(keys, text[inside], gram[inside])
    grams = grams.at(_by_number(grams.text, grams.gram))
    new = np.ones(len(grams.text), dtype=bool)
    new[1:] = (grams.text[1:] != grams.text[:-1]) | (grams.gram[1:] != grams.gram[:-1])
    grams = grams.at(new)
    keys[counts >= ngram] = 0  # then the sum of the hashes of the n-grams, which does not depend on their order
    np.add.at(keys, grams.text, splitmix64(grams.gram))
    return grams


def _by_number(numbers: Ints, grams: Keys) -> Ints:
    """The order by number, then by n-gram: by the number and as many bits of the n-gram as one integer holds."""
    bits = np.uint64(max(int(numbers.max(initial=0)).bit_length(), 1))
    return np.argsort((numbers.astype(np.uint64) << np.uint64(64 - bits)) | (grams >> bits), kind="stable")


def altered_copies(texts: pl.Series, groups: Ints, asked: Ints, *, least: int) -> Ints:
    r"""For each asked text the first text of an earlier group of which it is an altered copy; -1 if there is none.

    Altered copies have the same words in another order, one word more, less or another one, or are the beginning or the
    end of one another. Words are those of `near_clusters`. A longest n-gram in common cannot find them in short texts:
    a changed word in the middle of twelve leaves three of thirteen different 5-grams.

    Args:
        texts: without nulls, looked at a part at a time.
        groups: the group of each text, in ascending order.
        asked: numbers of texts, in ascending order; what is compared of them is in memory, about 50 bytes for each of
            their words.
        least: number of words of the shorter text; with fewer, sentences differ in a word by chance.
    """
    if not len(asked):
        return np.zeros(0, dtype=np.int64)
    listed = [_alterations(part["text"], least)
              for part in texts.gather(asked).to_frame("text").iter_slices(_ALTERED_AT_ONCE)]  # fmt: skip
    index = pl.concat([pl.DataFrame({"place": numbers + part * _ALTERED_AT_ONCE, "key": keys})
                       for part, (numbers, keys) in enumerate(listed)])  # fmt: skip
    # Nearly all keys of earlier texts are no keys of later ones: a bit that no later key has sets them aside.
    bits = min(_BITS, (_BITS_PER_KEY * index.height).bit_length())
    possible = np.zeros(1 << bits, dtype=bool)
    possible[(index["key"].to_numpy() >> np.uint64(64 - bits)).astype(np.int64)] = True
    parts = [pl.DataFrame(schema={"earlier": pl.Int64, "key": pl.UInt64})]
    earlier = texts.head(int(np.searchsorted(groups, groups[asked[-1]])))
    for part, some in enumerate(earlier.to_frame("text").iter_slices(_ALTERED_AT_ONCE)):
        numbers, keys = _alterations(some["text"], least, mirrored=True)
        shared = possible[(keys >> np.uint64(64 - bits)).astype(np.int64)]
        parts.append(pl.DataFrame({"earlier": numbers[shared] + part * _ALTERED_AT_ONCE, "key": keys[shared]}))
    first = pl.concat(parts).group_by("key").agg(pl.col("earlier").min())
    copies = index.join(first, on="key").group_by("place").agg(pl.col("earlier").min())
    originals = np.full(len(asked), -1)
    originals[copies["place"].to_numpy()] = copies["earlier"].to_numpy()
    # the first text with a key is of the earliest group that has it
    return np.where((originals >= 0) & (groups[originals] < groups[asked]), originals, -1)


def _alterations(texts: pl.Series, least: int, *, mirrored: bool = False) -> tuple[Ints, Keys]:
    """Keys of which two texts have one in common if one is an altered copy of the other, and the text of each key.

    One of the two must be ``mirrored``: a part of a text is compared with whole texts, never with parts of others.
    """
    words = texts.to_frame("text").select(running_words(pl.col("text")))["text"]
    n = words.list.len().to_numpy().astype(np.int64)
    numbers, n = np.flatnonzero(n >= least), n[n >= least]
    if not len(n):
        return np.empty(0, np.int64), np.empty(0, np.uint64)
    hashes = splitmix64(hash_strings(words[numbers].explode()))
    text, start = np.repeat(np.arange(len(n)), n), np.cumsum(n) - n
    place = np.arange(len(hashes)) - start[text]
    # The hash of a sequence of words is the sum of each word times a power of an odd number; the power is the place.
    powers, inverses = (hashing.powers(base, int(n.max()) + 1) for base in (int(GAMMA), INVERSE))
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(hashes * powers[place])])
    before, through = sums[:-1] - sums[start][text], sums[1:] - sums[start][text]
    text_sums = through[start + n - 1]
    rest = text_sums[text] - through  # what follows a word, with powers of the words before it
    without = before + rest * inverses[1]
    bags = np.zeros(len(n), np.uint64)
    np.add.at(bags, text, splitmix64(hashes))
    shorter, beginning, end = n[text] > least, place + 1 >= least, n[text] - place - 1 >= least
    parts = [without[shorter], through[beginning & (place + 1 < n[text])], (rest * inverses[place + 1])[end]]
    of_parts = [text[shorter], text[beginning & (place + 1 < n[text])], text[end]]
    # In one of two texts the keys of wholes and those of parts change roles.
    roles = np.array([1, 2] if mirrored else [2, 1], np.uint64) * GAMMA
    keys = [
        splitmix64(bags), splitmix64(without) ^ splitmix64(place.astype(np.uint64)), text_sums ^ roles[0],
        *(part ^ roles[1] for part in parts),
    ]  # fmt: skip
    return numbers[np.concatenate([np.arange(len(n)), text, np.arange(len(n)), *of_parts])], np.concatenate(keys)


def paraphrases(texts: pl.Series, groups: Ints, asked: Ints, *, least: int, threshold: float) -> Ints:
    r"""The text of an earlier group that each asked text has most words in common with, if these are enough.

    Two texts are compared by the Jaccard similarity of their sets of lower-cased words, in which a word has the weight
    of its inverse document frequency (Ruzicka similarity). Three of twelve words may differ, and words may stand in any
    order: an n-gram in common does not show that. Candidates have two words in common of the ``_RAREST`` rarest ones of
    the asked text, of which each is in at most ``MOST_LIKE`` texts, so that each text has a bounded number of them. A
    text without such words is compared with none. Words are those of `near_clusters`.

    Args:
        texts: without nulls, looked at a part at a time, twice.
        groups: the group of each text, in ascending order.
        asked: numbers of texts, in ascending order; what is compared of them is in memory, about 50 bytes for each of
            their words.
        least: number of different words of both texts; short ones have most words in common by chance.
        threshold: least similarity.

    Returns:
        For each asked text the number of a text, -1 if there is none.
    """
    later, group = texts.gather(asked), groups[asked]
    earlier = texts.head(int(np.searchsorted(groups, group.max(initial=-1))))
    words = shingles(later, ngram=1)
    slices = [part["text"] for part in earlier.to_frame("text").iter_slices(_TEXTS_AT_ONCE)]
    first = [shingles(part, ngram=1) for part in slices[:1]]  # of more parts, each is read again

    def parts() -> Iterator[Shingles]:
        yield from first
        yield from (shingles(part, ngram=1) for part in slices[1:])

    n_words = 1 + len(words.gram) + len(slices) * max((len(part.gram) for part in first), default=0)
    shift = np.uint64(64 - min(_WORD_BITS, (_BITS_PER_KEY * n_words).bit_length()))

    def place(of: Keys) -> Ints:
        """Where a word is counted: by its first bits, which two words rarely have in common."""
        return (of >> shift).astype(np.int64)

    n_texts = np.bincount(place(words.gram), minlength=1 << (64 - int(shift)))
    for part in parts():
        n_texts += np.bincount(place(part.gram), minlength=len(n_texts))
    weights = np.log((1 + len(earlier) + len(later)) / (1 + n_texts)) + 1
    vocabulary, column = np.unique(words.gram, return_inverse=True)
    shape, sizes = (len(later), len(vocabulary)), np.bincount(words.text, minlength=len(later))
    weight = weights[place(words.gram)]
    of_later = scipy.sparse.csr_array((weight, (words.text, column)), shape=shape)
    total = np.bincount(words.text, weights=weight, minlength=len(later))
    # the rarest words of each text, in the order of texts; of equally rare ones those of lower hashes, as they are
    order = _by_number(words.text, n_texts[place(words.gram)].astype(np.uint64) << np.uint64(32))
    order = order[_numbers(sizes) < _RAREST]
    rare = words.at(order[(n_texts[place(words.gram[order])] <= MOST_LIKE) & (sizes[words.text[order]] >= least)])
    nearest, similarity, offset = np.full(len(later), -1), np.full(len(later), threshold - _EPSILON), 0
    for part in parts():
        n_earlier = len(part.keys)
        other_total = np.bincount(part.text, weights=weights[place(part.gram)], minlength=n_earlier)
        enough = np.bincount(part.text, minlength=n_earlier) >= least
        known = _with_keys(part.at(enough[part.text]), vocabulary)
        by_word = known.at(np.argsort(known.gram, kind="stable"))
        in_both = (known.text, np.searchsorted(vocabulary, known.gram))
        of_part = scipy.sparse.csr_array((np.ones(len(known.gram)), in_both), shape=(n_earlier, len(vocabulary)))
        for pairs in _pairs_with_two_words(rare, by_word, len(later), n_earlier):
            pairs = pairs[groups[pairs[:, 1] + offset] < group[pairs[:, 0]]]  # noqa: PLW2901
            common = np.asarray((of_later[pairs[:, 0]] * of_part[pairs[:, 1]]).sum(axis=1)).ravel()
            share = common / (total[pairs[:, 0]] + other_total[pairs[:, 1]] - common)
            best = np.lexsort((-pairs[:, 1], share, pairs[:, 0]))  # the last one of each text is the most similar
            best = best[np.diff(pairs[best, 0], append=-1) != 0]
            best = best[share[best] > similarity[pairs[best, 0]]]
            nearest[pairs[best, 0]], similarity[pairs[best, 0]] = pairs[best, 1] + offset, share[best]
        offset += n_earlier
    return nearest


def _pairs_with_two_words(rare: Shingles, by_word: Shingles, n_later: int, n_earlier: int) -> Iterator[Ints]:
    """Pairs of a later and an earlier text with two words in common, some at a time, shape (pairs, 2).

    Args:
        rare: words of the later texts that are looked for, sorted by text.
        by_word: words of the earlier texts, sorted by word.
        n_later: number of later texts.
        n_earlier: number of earlier texts.
    """
    begin = np.searchsorted(by_word.gram, rare.gram, side="left")
    number = np.searchsorted(by_word.gram, rare.gram, side="right") - begin
    n_pairs = np.bincount(rare.text, weights=number, minlength=n_later).astype(np.int64)
    first = np.searchsorted(rare.text, np.arange(n_later + 1))
    for texts in _some_at_a_time(n_pairs):
        if not len(texts):
            continue
        entries = np.arange(first[texts[0]], first[texts[-1] + 1])
        other = by_word.text[np.repeat(begin[entries], number[entries]) + _numbers(number[entries])]
        codes, times = np.unique(np.repeat(rare.text[entries], number[entries]) * n_earlier + other, return_counts=True)
        yield np.column_stack(np.divmod(codes[times > 1], n_earlier))


def together(parts: Sequence[Shingles]) -> Shingles:
    """The shingles of several series of texts as those of one series."""
    if not parts:
        return Shingles(np.empty(0, np.uint64), np.empty(0, np.int64), np.empty(0, np.uint64))
    sizes = np.array([len(part.keys) for part in parts])
    offsets = np.cumsum(sizes) - sizes
    text = np.concatenate([part.text + offset for part, offset in zip(parts, offsets, strict=True)])
    keys, gram = (np.concatenate([getattr(part, name) for part in parts]) for name in ("keys", "gram"))
    return Shingles(keys, text, gram)


def clusters(shingled: Shingles, *, threshold: float = NEAR, sizes: Ints | None = None) -> pl.Series:
    """The cluster of each text, as from :func:`near_clusters`.

    Args:
        shingled: the shingles of the texts.
        threshold: least Jaccard similarity.
        sizes: n-grams of each text, where ``shingled`` lacks those that no other text has.
    """
    _, first, inverse = np.unique(shingled.keys, return_index=True, return_inverse=True)
    representative = np.asarray(first[inverse], dtype=np.int64)  # the first text with the same key
    is_representative = representative[shingled.text] == shingled.text
    if sizes is None:
        sizes = np.bincount(shingled.text, minlength=len(shingled.keys))
    edges = _edges(shingled.at(is_representative), sizes, threshold)
    component = _components(edges, len(representative))[representative]
    smallest = np.full(len(representative), len(representative), dtype=np.int64)
    np.minimum.at(smallest, component, np.arange(len(representative)))
    return pl.Series("cluster", smallest[component], dtype=pl.UInt32)


def _edges(grams: Shingles, sizes: Ints, threshold: float) -> Ints:
    """Pairs of near-duplicates that connect every cluster, shape (pairs, 2), given the number of n-grams per text."""
    n_texts, grams = len(sizes), _with_keys(grams, _repeated(grams.gram.copy()))
    _, gram, frequency = np.unique(grams.gram, return_inverse=True, return_counts=True)
    # candidates: the first n-grams of each text, rarest first, of which a near-duplicate must share one; those of one
    # text only would come before all others
    candidates = Shingles(grams.keys, grams.text, gram.astype(np.uint64)).at(
        np.lexsort((gram, frequency[gram], grams.text))
    )
    text, shared = candidates.text, np.bincount(candidates.text, minlength=n_texts)
    candidates = candidates.at(_numbers(shared) + (sizes - shared)[text] < _prefix_length(sizes, threshold)[text])
    ones = np.ones(len(gram), dtype=np.int32)
    sets = scipy.sparse.csr_array((ones, (grams.text, gram)), shape=(n_texts, len(frequency)))
    edges = np.empty((0, 2), dtype=np.int64)
    for reach in (1, n_texts):  # neighbours first: they connect thousands of copies of one template in one step
        # the n-grams that texts of different components share
        of_text = _components(edges, n_texts)[candidates.text]
        order = np.lexsort((of_text, candidates.gram))
        ordered, of_text = candidates.gram[order], of_text[order]
        differs = (ordered[1:] == ordered[:-1]) & (of_text[1:] != of_text[:-1])
        undecided = candidates.at(np.isin(candidates.gram, ordered[1:][differs]))
        for some in _sharing_pairs(undecided, sizes, threshold, reach):
            component = _components(edges, n_texts)
            pairs = np.unique(some[component[some[:, 0]] != component[some[:, 1]]], axis=0)
            if len(pairs):
                common = np.asarray((sets[pairs[:, 0]] * sets[pairs[:, 1]]).sum(axis=1)).ravel()
                union = sizes[pairs[:, 0]] + sizes[pairs[:, 1]] - common
                edges = np.concatenate([edges, pairs[common + _EPSILON >= threshold * union]])
    return edges


def _repeated(keys: Keys) -> Keys:
    """The keys that occur at least twice, sorted: most n-grams are in one text only. ``keys`` are sorted in place."""
    keys.sort()
    return np.unique(keys[1:][keys[1:] == keys[:-1]])


def _with_keys(grams: Shingles, keys: Keys) -> Shingles:
    """The entries of n-grams that are among sorted keys."""
    if not len(keys):
        return grams.at(slice(0))
    place = np.minimum(np.searchsorted(keys, grams.gram), len(keys) - 1)
    return grams.at(keys[place] == grams.gram)


def _prefix_length(sizes: Ints, threshold: float) -> Ints:
    """The length of the prefix: a near-duplicate shares one of so many first n-grams (module docstring)."""
    return np.asarray(sizes - np.ceil(threshold * sizes - _EPSILON).astype(np.int64) + 1)


def _numbers(counts: Ints) -> Ints:
    """0, 1, … up to each count, without the count: ``[2, 3]`` gives ``[0, 1, 0, 1, 2]``."""
    return np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)


def _some_at_a_time(n_pairs: Ints) -> Iterator[Ints]:
    """The numbers of rows in blocks that have about ``_PAIRS_AT_ONCE`` pairs, given the number of pairs of each row."""
    block = (np.cumsum(n_pairs) - n_pairs) // _PAIRS_AT_ONCE
    yield from np.split(np.arange(len(n_pairs)), np.flatnonzero(np.diff(block)) + 1)


def _sharing_pairs(candidates: Shingles, sizes: Ints, threshold: float, reach: int) -> Iterator[Ints]:
    """Pairs of texts that share an n-gram and whose sizes allow the similarity, some at a time, shape (pairs, 2).

    Each text is paired with at most ``reach`` texts that follow it in order of size.
    """
    gram, text = candidates.gram.astype(np.int64), candidates.text
    order = np.lexsort((text, sizes[text], gram))
    gram, text = gram[order], text[order]
    span = int(sizes.max(initial=0)) + 1
    largest = np.minimum(np.floor(sizes[text] / threshold + _EPSILON).astype(np.int64), span - 1)
    last = np.searchsorted(gram * span + sizes[text], gram * span + largest, side="right")
    partners = np.minimum(last - np.arange(len(text)) - 1, reach)
    for rows in _some_at_a_time(partners):
        smaller = np.repeat(rows, partners[rows])
        pairs = np.column_stack([text[smaller], text[smaller + 1 + _numbers(partners[rows])]])
        yield np.sort(pairs, axis=1)


def _components(edges: Ints, n_texts: int) -> Ints:
    ones = np.ones(len(edges), dtype=np.int8)
    graph = scipy.sparse.coo_array((ones, (edges[:, 0], edges[:, 1])), shape=(n_texts, n_texts))
    return np.asarray(scipy.sparse.csgraph.connected_components(graph, directed=False)[1], dtype=np.int64)


MOST_LIKE: Final = 200
"""For each n-gram in the prefix of a text, at most so many earlier texts of a batch are compared with the text."""
LARGEST_BATCH: Final = 500_000
"""A batch with more texts is not joined with the next one."""


class _EarlierBatch(msgspec.Struct, frozen=True):
    """A batch: earlier texts with an index of the n-grams in their prefixes.

    ``grams`` has the n-grams of all texts; those of text ``i`` begin at ``starts[i]``. ``first`` has the n-grams of all
    prefixes, sorted, and ``owner`` the text of each. ``masks`` has a 64-bit mask per text, in which every n-gram sets
    one bit: a bit that is set for one of two texts only shows an n-gram that they do not share (the bitmap filter of
    Sandes, Teodoro & Melo 2020).
    """

    starts: Ints
    grams: Keys
    masks: Keys
    groups: npt.NDArray[np.int8]
    first: Keys
    owner: npt.NDArray[np.int32]


class EarlierTexts:
    """Finds the texts that nearly repeat one that was added earlier, in time linear in the number of texts.

    It works like :func:`near_clusters`, but orders n-grams by their hashes, since their frequencies are not known yet,
    and compares at most ``MOST_LIKE`` texts per n-gram and batch. Texts are stored in batches; batches of similar size
    are joined up to ``LARGEST_BATCH`` texts, so that each text is copied a few times only.
    """

    def __init__(self, threshold: float = NEAR) -> None:
        self._threshold = threshold
        self._batches: list[_EarlierBatch] = []

    def repeated(
        self, shingled: Shingles, groups: npt.ArrayLike
    ) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Compare texts with the earlier ones, then add them to these.

        Args:
            shingled: the shingles of some texts.
            groups: the group of each text, such as the number of its split; -1 for none.

        Returns:
            For each text, whether it nearly repeats an earlier one, and whether it nearly repeats one of another group.
        """
        new = self._batch_of(shingled, np.asarray(groups, dtype=np.int8))
        again, elsewhere = (np.zeros(len(new.groups), dtype=bool) for _ in range(2))
        for batch in self._batches:
            for pairs in _like_pairs(new, batch, self._threshold):
                group, other = new.groups[pairs[:, 0]], batch.groups[pairs[:, 1]]
                again[pairs[:, 0]] = True
                elsewhere[pairs[(group != other) & (group >= 0) & (other >= 0), 0]] = True
        self._batches.append(new)
        while len(self._batches) > 1 and len(self._batches[-2].groups) <= min(
            2 * len(self._batches[-1].groups), LARGEST_BATCH
        ):
            last, before = self._batches.pop(), self._batches.pop()
            first = np.concatenate([before.first, last.first])
            owner = np.concatenate([before.owner, last.owner + np.int32(len(before.groups))])
            by_gram = np.argsort(first, kind="stable")
            starts = np.concatenate([before.starts, last.starts[1:] + before.starts[-1]])
            grams, masks = (
                np.concatenate([getattr(batch, name) for batch in (before, last)]) for name in ("grams", "masks")
            )
            both = np.concatenate([before.groups, last.groups])
            self._batches.append(_EarlierBatch(starts, grams, masks, both, first[by_gram], owner[by_gram]))
        return again, elsewhere

    def _batch_of(self, shingled: Shingles, groups: npt.NDArray[np.int8]) -> _EarlierBatch:
        """Texts as a batch; a text too short for an n-gram has its key as its only n-gram."""
        sizes = np.bincount(shingled.text, minlength=len(shingled.keys))
        short = np.flatnonzero(sizes == 0)
        text = np.concatenate([shingled.text, short])
        gram = np.concatenate([shingled.gram, splitmix64(shingled.keys[short])])
        order = _by_number(text, gram)
        text, gram = text[order], gram[order]
        sizes = np.maximum(sizes, 1)
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        prefix = _numbers(sizes) < _prefix_length(sizes, self._threshold)[text]
        first, owner = gram[prefix], text[prefix].astype(np.int32)
        by_gram = np.argsort(first, kind="stable")
        bits = np.uint64(1) << (gram >> np.uint64(58))
        masks = np.bitwise_or.reduceat(bits, starts[:-1]) if len(bits) else bits
        return _EarlierBatch(starts, gram, masks, groups, first[by_gram], owner[by_gram])


def _like_pairs(new: _EarlierBatch, old: _EarlierBatch, threshold: float) -> Iterator[Ints]:
    """Pairs of a new and an old text that are near duplicates, some at a time, shape (pairs, 2)."""
    begin = np.searchsorted(old.first, new.first, side="left")
    number = np.minimum(np.searchsorted(old.first, new.first, side="right") - begin, MOST_LIKE)
    for rows in _some_at_a_time(number):
        entry = np.repeat(rows, number[rows])
        text = new.owner[entry].astype(np.int64)
        other = old.owner[begin[entry] + _numbers(number[rows])].astype(np.int64)
        size, other_size = np.diff(new.starts)[text], np.diff(old.starts)[other]
        differing = pl.Series(new.masks[text] ^ old.masks[other])
        apart = differing.bitwise_count_ones().to_numpy().astype(np.int64)
        both = size + other_size
        most = np.minimum((both - apart) // 2, np.minimum(size, other_size))  # n-grams that they may share
        near = most + _EPSILON >= threshold * (both - most)
        codes = np.unique(text[near] * len(old.groups) + other[near])
        pairs = np.column_stack(np.divmod(codes, len(old.groups)))
        sizes = np.column_stack([np.diff(new.starts)[pairs[:, 0]], np.diff(old.starts)[pairs[:, 1]]])
        # how many n-grams the two texts of each pair share
        of_new, of_old = _grams_by_pair(new, pairs[:, 0]), _grams_by_pair(old, pairs[:, 1])
        pair, gram = (np.concatenate(parts) for parts in zip(of_new, of_old, strict=True))
        order = _by_number(pair, gram)
        pair, gram = pair[order], gram[order]
        twice = (pair[1:] == pair[:-1]) & (gram[1:] == gram[:-1])
        common = np.bincount(pair[1:][twice], minlength=len(pairs))
        yield pairs[common + _EPSILON >= threshold * (sizes.sum(axis=1) - common)]


def _grams_by_pair(texts: _EarlierBatch, rows: Ints) -> tuple[Ints, Keys]:
    """The n-grams of some texts: for each, the position of its text in ``rows``, and the n-gram."""
    sizes = np.diff(texts.starts)[rows]
    pair = np.repeat(np.arange(len(rows)), sizes)
    return pair, texts.grams[texts.starts[rows][pair] + _numbers(sizes)]
