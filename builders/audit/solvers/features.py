"""The features of a problem's units that shallow solvers read, computed once for all solvers.

Dense features have shape (units, features), sparse ones too. The texts of a unit have slots: in the order of the texts,
but the candidate of a context comes first. Texts beyond ``SLOTS`` only count in sums.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import sparse
from sklearn.preprocessing import normalize

from discoprobe.builders.audit.frame import ends_of
from discoprobe.builders.audit.solvers.classifiers import Floats, Ints
from discoprobe.builders.audit.solvers.problem import Problem, Rows
from discoprobe.builders.passages.similarity import char_grams
from discoprobe.loaders.corpus import exploded
from discoprobe.loaders.words import lowered_words, tokens

SLOTS = 8
"""Most texts of a unit that have features of their own: discourse rows have up to seven sentences, contexts eight."""
_FUNCTION_WORDS = 150
"""Number of the most frequent words, which say nothing about the topic."""
_FREQUENT = 15
"""Number of frequent words whose neighbours are features; conjunctions are among them in every language."""
_WIDTH = 1 << 18
"""Columns of hashed n-grams, divided among the texts of a row."""
_WEIGHTS = 1 << 22
"""Most weights of a regression: with many classes (word content: 1,000) there are fewer columns."""
_AT_ONCE = 1_000_000
"""Entries of a matrix that are looked up at a time."""
_SMALL = 0.1
"""Largest number of occurrences in small letters, per one with a capital, of a word that is spelt with a capital."""
_UNITS_AT_ONCE = 2_000
"""Units whose texts are compared at a time."""
_LEAST = 2
"""Least number of units in which a word or a pair of words occurs."""
_PRESENT = 0.5
"""The value of a word at an edge: 10,000 rows of CoordInv give accuracy .785 with it, .766 with 3, .776 with TF-IDF."""
_ENDS = ("first", "second", "third", "next_to_last", "last", "first_written", "last_written")

_TEXT = pl.col("text")
_QUOTES = "\"'«»„“”‘’「」『』"
LENGTH_MEASURES: Mapping[str, pl.Expr] = {
    "words": _TEXT.str.count_matches(r"\w+|[^\w\s]"),
    "tokens": _TEXT.str.count_matches(r"\S+"),
    "characters": pl.col("characters"),
}
PUNCTUATION: Mapping[str, pl.Expr] = {
    name: _TEXT.str.count_matches(pattern)
    for name, pattern in {
        "commas": "[,،、，]",
        "dashes": "[-–—―]",
        "quotes": f"[{_QUOTES}]",
        "colons": "[:：]",
        "semicolons": "[;；؛]",
        "brackets": r"[()\[\]（）]",
        "stops": "[.。।]",
        "questions": "[?？؟]",
        "exclamations": "[!！]",
        "others": r"[^\w\s]",
        "ends in a stop": r"[.。।]\s*$",
        "ends in a question mark": r"[?？؟]\s*$",
        "ends in an exclamation mark": r"[!！]\s*$",
        "ends in a comma or colon": r"[,،、，:：;]\s*$",
        "ends in a quote": f"[{_QUOTES}]\\s*$",
        "begins with punctuation": r"^\s*[^\w\s]",
    }.items()
}
"""Punctuation marks, and which of them are at the ends."""
CAPITALS: Mapping[str, pl.Expr] = {
    name: _TEXT.str.count_matches(pattern)
    for name, pattern in {
        "first word": r"^\W*\p{Lu}",
        "second word": r"^\W*\w+\W+\p{Lu}",
        "third word": r"^\W*\w+\W+\w+\W+\p{Lu}",
        "first in lower case, second not": r"^\W*\p{Ll}\w*\W+\p{Lu}",
        "last word": r"(?:^|\W)\p{Lu}\w*\W*$",
        "words": r"(?:^|\W)\p{Lu}",
        "words in capitals": r"\b\p{Lu}{2,}\b",
        "letters": r"\p{Lu}",
    }.items()
}
"""Capitals by position."""
_OF_ITS_OWN = _QUOTES + "‹›‚‛`´-‐‑‒–—―−…·•、。，．：；！？（）～"
"""Quotes, dashes and marks that several code points look like: each is counted by itself."""
SURFACE_PATTERNS: Mapping[str, str] = {
    "blank at the start": r"^\s",
    "blank at the end": r"\s$",
    "two blanks": r"\s\s+",
    "tab": r"\t",
    "line feed": r"\n",
    "carriage return": r"\r",
    "other line ends": "[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]",
    "no-break space": "[\xa0\u202f\u2007]",
    "other blanks": "[\u1680\u2000-\u2006\u2008-\u200a\u205f\u3000]",
    "blank before punctuation": r"\s[.,;:!?…)\]}»”]",
    "no blank after punctuation": r"[,;:!?)\]}…][\p{L}\p{N}]",
    "three stops": r"\.\.\.",
    # Joiners between letters are orthography in Persian and in scripts of India.
    "zero-width and direction": (
        r"[\p{Cf}&&[^\x{200c}\x{200d}]]|[\x{200c}\x{200d}](?:\s|$|[\p{Latin}\p{Cyrillic}\p{Greek}])"
    ),
    "control": "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]",
    "private use and unknown": r"[\x{fffd}\p{Co}]",
    "wrong encoding": "[ÂÃâÐÑ][\x80-\xbf€‚ƒ„…†‡ˆ‰Š‹Œ‘’“”•–—˜™š›œ]",
    "combining accents": "[\u0300-\u036f]",
    "compatibility forms": "[\ufb00-\ufb06\uff01-\uff5e\u2460-\u24ff\u2070-\u209f\u2100-\u218f]",
    "beyond the first plane": "[\U00010000-\U0010ffff]",
    "scripts mixed in a word": r"\p{Latin}[\p{Cyrillic}\p{Greek}]|[\p{Cyrillic}\p{Greek}]\p{Latin}",
    "symbols": r"\p{S}",
    **{f"U+{ord(mark):04X}": f"\\x{{{ord(mark):X}}}" for mark in dict.fromkeys(_OF_ITS_OWN)},
}
"""How a text is written: what other solvers never see, because tokens are the same without it."""
SURFACE: Mapping[str, pl.Expr] = {
    name: _TEXT.str.count_matches(pattern) for name, pattern in SURFACE_PATTERNS.items()
} | {"not NFC": (_TEXT.str.normalize("NFC") != _TEXT).cast(pl.UInt32)}
"""Counts of these patterns, and whether letters are decomposed."""


class Features:
    """The features of the units of a problem; each is computed when a solver first asks for it."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._n = len(problem.y)
        self.slots = min(SLOTS, int(self._problem.texts.list.len().max() or 1))  # type: ignore[arg-type]
        self.read_slots = range(1 if problem.choice else self.slots)
        """Slots that solvers of strings read; for choices, only the candidate."""

    @cached_property
    def slotted(self) -> pl.DataFrame:
        """One row per text: ``unit``, ``place`` in the unit, ``slot``, ``text``, and its ``number`` in ``distinct``.

        Of a long text, ``text`` has its two ends; ``characters`` is the length of the whole.
        """
        frame = pl.DataFrame({"text": self._problem.texts, "n_context": self._problem.n_context}).with_row_index("unit")
        frame = frame.with_columns(place=pl.int_ranges(pl.col("text").list.len()), n=pl.col("text").list.len())
        frame = exploded(frame, "text", "place")
        last = pl.col("place") == pl.col("n") - 1
        slot = pl.when(pl.col("n_context") == 0).then("place").when(last).then(0).otherwise(pl.col("place") + 1)
        characters, slot = _TEXT.str.len_chars(), slot.cast(pl.UInt32)
        frame = frame.select("unit", "place", characters=characters, text=ends_of(_TEXT), slot=slot)
        return frame.with_columns(number=_numbers(frame["text"], frame["text"].unique(maintain_order=True)))

    @cached_property
    def distinct(self) -> pl.DataFrame:
        """The ``text`` of all units, each once, how many times it is there (``n``), and its length (``characters``).

        An original and its edited version, or the choices of a context, have most of their texts in common: what a text
        has is looked for here, and given to all units that have the text.
        """
        return self.slotted.group_by("text", maintain_order=True).agg(pl.col("characters").max(), n=pl.len())

    def length(self) -> Floats:
        """Counts of each text, their sums and differences to the first text, and which text is longest and shortest."""
        grid = self.grid(LENGTH_MEASURES)
        sums = grid.sum(axis=1)
        features = [_flat(grid), _flat(np.log1p(grid)), sums, np.log1p(sums)]
        if self.slots > 1:
            features += [_flat(grid[:, 1:] - grid[:, :1]), _flat(_extreme(grid, 1)), _flat(_extreme(grid, -1))]
        return np.hstack([*features, self._beside(grid[:, 0])])

    def counts(self, measures: Mapping[str, pl.Expr], read: pl.DataFrame | None = None) -> Floats:
        """What ``unequal`` makes of measures of each text; ``read`` is what is read for ``distinct``, if not that."""
        return self.unequal(self.grid(measures, read))

    @cached_property
    def surface(self) -> Floats:
        """How each text is written: ``SURFACE``, shape (units, slots, measures)."""
        return self.grid(SURFACE)

    def unequal(self, grid: Floats) -> Floats:
        """Measures of each text, their sums, and how those of the first slot differ from the row's other candidates.

        Measures that are equal in all texts are left out, but for one if no measure differs.

        Args:
            grid: of the measures, shape (units, slots, measures).
        """
        differs = (grid != grid[:1, :1]).any(axis=(0, 1))
        grid = grid[:, :, differs if differs.any() else slice(1)]
        return np.hstack([_flat(grid), grid.sum(axis=1), self._beside(grid[:, 0])])

    def capitals(self) -> Floats:
        """Capitals by position, without those that spelling asks for.

        A word that is written with a capital wherever it occurs inside a sentence (names; in German, nouns) has it
        because of the language, not because of an edit. It is read in small letters, unless it is the first of its
        text. What is left are capitals of words that are usually written small (truecasing, Lita et al. 2003).
        """
        inside = pl.col("text").str.extract_all(r"[\p{L}\p{N},;]\s+\p{Lu}[\p{L}\p{M}]*")
        small = pl.col("text").str.extract_all(r"\b\p{Ll}[\p{L}\p{M}]*")
        capital = pl.col("word").str.extract(r"(\p{Lu}[\p{L}\p{M}]*)$").str.to_lowercase()
        words = [exploded(self.distinct.select("n", word=word), "word").drop_nulls() for word in (inside, small)]
        words[0] = words[0].with_columns(capital)
        counts = [of_case.group_by("word").agg(pl.col("n").sum().alias(name))
                  for of_case, name in zip(words, ("capital", "small"), strict=True)]  # fmt: skip
        both = counts[0].join(counts[1], on="word", how="left").with_columns(pl.col("small").fill_null(0))
        usual = both.filter(pl.col("small") <= _SMALL * pl.col("capital"))["word"]
        pieces = self.distinct.with_row_index("row").with_columns(
            piece=pl.col("text").str.extract_all(r"[\p{L}\p{M}]+|[^\p{L}\p{M}]+")
        )
        pieces = exploded(pieces.select("row", "piece"), "piece")
        piece = pl.col("piece")
        is_first = pl.int_range(pl.len()).over("row") == 0
        lowered = pl.when(piece.str.to_lowercase().is_in(usual.implode()) & ~is_first).then(piece.str.to_lowercase())
        texts = pieces.select("row", text=lowered.otherwise(piece)).group_by("row", maintain_order=True)
        joined = texts.agg(pl.col("text").str.join(""))
        read = self.distinct.with_row_index("row").select("row")
        read = read.join(joined, on="row", how="left", maintain_order="left")
        return self.counts(CAPITALS, read.with_columns(pl.col("text").fill_null("")))

    def grid(self, measures: Mapping[str, pl.Expr], read: pl.DataFrame | None = None) -> Floats:
        """Measures of texts by slot, shape (units, slots, measures); 0 where a unit has no text."""
        long = self.slotted.filter(pl.col("slot") < self.slots)
        grid = np.zeros((self._n, self.slots, len(measures)))
        values = (self.distinct if read is None else read).select(**measures).to_numpy().astype(np.float64)
        grid[long["unit"].to_numpy(), long["slot"].to_numpy()] = values[long["number"].to_numpy()]
        return grid

    def _beside(self, values: Floats) -> Floats:
        """How values differ from the mean of the row's other candidates, and whether they are largest or smallest."""
        row = self._problem.row
        n_rows = int(row.max(initial=-1)) + 1
        if n_rows == len(row):
            return np.empty((len(values), 0))
        largest, smallest = np.full((n_rows, values.shape[1]), -np.inf), np.full((n_rows, values.shape[1]), np.inf)
        np.maximum.at(largest, row, values)
        np.minimum.at(smallest, row, values)
        sums = np.zeros_like(largest)
        np.add.at(sums, row, values)
        mean = sums / np.bincount(row)[:, None]
        extremes = [values == bound[row] for bound in (largest, smallest)]
        return np.hstack([values - mean[row], *extremes])

    def chars(self, slots: Sequence[int]) -> Rows:
        """TF-IDF weights of character 1-5-grams of the texts in some slots, one block of columns per slot.

        With one fold, no unit is asked for twice, and the weights of few units are in memory at a time.
        """
        texts, counts = self._char_counts
        rows = _numbers(self._read, texts).to_numpy().reshape(self._n, len(self.read_slots))
        weights = char_weights(counts, rows[:, list(slots)])
        return weights if len(self._problem.folds) == 1 else weights(np.arange(self._n))

    @cached_property
    def _char_counts(self) -> tuple[pl.Series, sparse.csr_array]:
        """The texts that solvers of strings read, each once, as they are written; counts of n-grams across blanks."""
        texts = pl.concat([pl.Series("text", [""]), self._read]).unique(maintain_order=True)
        return texts, char_grams(texts, self._width, across=True)

    @cached_property
    def _read(self) -> pl.Series:
        """The texts that solvers of strings read, by unit and slot (``_by_slot``)."""
        choice, is_candidate = self._problem.choice, pl.col("slot") == 0
        return self._by_slot(self.slotted.filter(is_candidate) if choice else self.slotted, len(self.read_slots))

    def _by_slot(self, texts: pl.DataFrame, n_slots: int) -> pl.Series:
        """The ``texts`` of a unit as ``n_slots`` texts, the last one with all further texts; empty if it has none."""
        slot = pl.col("slot").clip(upper_bound=n_slots - 1)
        joined = texts.group_by(place=pl.col("unit") * n_slots + slot).agg(pl.col("text").str.join(" "))
        every = pl.DataFrame({"place": pl.int_range(self._n * n_slots, dtype=pl.UInt32, eager=True)})
        return every.join(joined, on="place", how="left", maintain_order="left")["text"].fill_null("")

    def differing_chars(self) -> sparse.csr_array:
        """Counts of character 1-5-grams of the texts in which a pair differs, one block of columns per slot.

        The other texts of a unit, and the units without a pair, have none. Candidates of a choice have all theirs.
        """
        differing = self._read
        if not self._problem.choice:
            edited = self._problem.edited
            originals = np.flatnonzero(edited >= 0)
            members = {"unit": np.concatenate([originals, edited[originals]]), "pair": np.tile(originals, 2)}
            pairs = pl.DataFrame(members).cast({"unit": pl.UInt32})
            of_pairs = self.slotted.join(pairs, on="unit", maintain_order="left")
            differing = self._by_slot(of_pairs.filter(pl.len().over("pair", "slot", "text") == 1), self.slots)
        texts, counts = self._char_counts
        rows = _numbers(differing, texts)
        if rows.has_nulls():  # of the texts beyond ``SLOTS``, which are joined, some differ
            return _in_blocks(char_grams(differing, self._width, across=True), self.slots)
        return _in_blocks(counts[rows.to_numpy()], len(self.read_slots))

    def forget_ngrams(self) -> None:
        """Gives up the counts of n-grams, the largest of all features, when the solvers have read them."""
        self.__dict__.pop("_char_counts", None)

    @cached_property
    def _width(self) -> int:
        """Columns of n-grams per text."""
        width = _WIDTH
        while width > _WEIGHTS // len(self._problem.labels) or width * len(self.read_slots) > _WIDTH:
            width //= 2
        return width

    @property
    def vocabulary(self) -> pl.Series:
        """The distinct tokens, sorted, as written and in lower case; elsewhere a token is its index here."""
        return self._numbered_tokens[0]

    @property
    def tokens(self) -> pl.DataFrame:
        """One row per token that solvers of strings read, in the order of the texts.

        Its columns are ``unit``, ``slot``, number of the ``text``, ``written``, ``token`` (in lower case), ``is_word``;
        of its neighbours in the same text ``before`` and ``after`` (in lower case) and ``next_written``, null at the
        ends.
        """
        return self._numbered_tokens[1]

    @cached_property
    def _numbered_tokens(self) -> tuple[pl.Series, pl.DataFrame]:
        """The ``vocabulary`` and the ``tokens``; pairs of characters in scripts without spaces."""
        texts = self.slotted.filter(pl.col("slot").is_in(list(self.read_slots)))
        form = tokens(pl.col("text"), unspaced=self._problem.unspaced)
        long = exploded(texts.select("unit", "slot", form=form).with_row_index("text"), "form")
        forms = pl.DataFrame({"form": long["form"].unique()}).with_columns(lower=pl.col("form").str.to_lowercase())
        vocabulary = pl.concat([forms["form"], forms["lower"]]).unique().sort()
        number = pl.DataFrame({"form": vocabulary}).with_row_index("number")
        forms = forms.join(number.rename({"number": "written"}), on="form").join(
            number.rename({"form": "lower", "number": "token"}), on="lower"
        )
        numbered = forms.select("form", "written", "token", is_word=pl.col("form").str.contains(r"\w"))
        frame = long.join(numbered, on="form", how="left", maintain_order="left").drop("form")
        after, before = (pl.when(pl.col("text") == pl.col("text").shift(by)) for by in (-1, 1))
        frame = frame.with_columns(
            before=before.then(pl.col("token").shift(1)),
            after=after.then(pl.col("token").shift(-1)),
            next_written=after.then(pl.col("written").shift(-1)),
        )
        return vocabulary, frame

    def _neighbours(self, frequent: int) -> list[pl.DataFrame]:
        """Neighbours of the most frequent words: ``unit``, ``slot``, ``token``, ``neighbour``, null beyond the ends.

        One frame for each of the two tokens before and the two after them. Next to them are tokens as written, the
        others in lower case.

        Args:
            frequent: how many words are frequent.
        """
        counts = (
            self.tokens.filter("is_word")["token"].value_counts().sort(["count", "token"], descending=[True, False])
        )
        inside = np.flatnonzero(self.tokens["token"].is_in(counts["token"].head(frequent).implode()).to_numpy())
        here, last = self.tokens[inside].select("unit", "slot", "token", "text"), self.tokens.height - 1
        sides = []
        for by, column in ((-1, "written"), (1, "written"), (-2, "token"), (2, "token")):
            beside = self.tokens.select("text", neighbour=column)[np.clip(inside + by, 0, last)]
            same = (beside["text"] == here["text"]) & pl.Series((inside + by >= 0) & (inside + by <= last))
            sides.append(here.drop("text").with_columns(neighbour=pl.when(same).then(beside["neighbour"])))
        return sides

    def ends(self) -> pl.DataFrame:
        """One row per text: ``unit``, ``slot``, ``first``, ``second``, ``third``, ``next_to_last`` and ``last`` word.

        ``first_written`` and ``last_written`` are these words as written. Words that a text lacks are null.
        """
        words = self.tokens.filter("is_word").group_by("unit", "slot", maintain_order=True)
        return words.agg(
            first=pl.col("token").first(),
            second=pl.col("token").slice(1, 1).first(),
            third=pl.col("token").slice(2, 1).first(),
            next_to_last=pl.col("token").slice(-2, 1).first(),
            last=pl.col("token").last(),
            first_written=pl.col("written").first(),
            last_written=pl.col("written").last(),
        )

    def token_of(self, number: pl.Expr) -> pl.Expr:
        """The tokens with these numbers."""
        return pl.lit(self.vocabulary).gather(number)

    def words(self, slots: Sequence[int]) -> sparse.csr_array:
        """TF-IDF weights of the words and word bigrams of the texts in some slots, one block of columns per slot."""
        counts, slot_of = self._word_counts
        every = set(slots) >= set(self.read_slots)
        return _weigh(counts.copy() if every else counts[:, np.flatnonzero(np.isin(slot_of, slots))])

    @cached_property
    def _word_counts(self) -> tuple[sparse.csr_array, Ints]:
        """Counts of words and word bigrams, shape (units, columns), and the slot of each column."""
        single = self.tokens.select("unit", "slot", key=pl.col("token").cast(pl.UInt64))
        bigram = self._pair("after").alias("key")
        return self._one_hot(pl.concat([single, self.tokens.drop_nulls("after").select("unit", "slot", bigram)]))

    def _pair(self, other: str) -> pl.Expr:
        """A number for each pair of ``token`` and another one, above the numbers of single tokens."""
        return (pl.col("token").cast(pl.UInt64) + 1) * len(self.vocabulary) + pl.col(other)

    def edges(self) -> sparse.csr_array:
        """Which words are at the two ends of a text, and which two are on each side of the frequent words."""
        ends = self.ends()
        listed = [ends.select("unit", "slot", key=pl.col(name).cast(pl.UInt64)) for name in _ENDS]
        sides = self._neighbours(_FREQUENT)
        listed += [side.select("unit", "slot", key=self._pair("neighbour")) for side in sides]
        n = len(self.vocabulary)
        kinds = [part.with_columns(pl.col("key") + kind * n * (n + 1)) for kind, part in enumerate(listed)]
        counts = self._one_hot(pl.concat(kinds).drop_nulls())[0]
        counts.data[:] = _PRESENT
        return counts

    def _one_hot(self, entries: pl.DataFrame) -> tuple[sparse.csr_array, Ints]:
        """Counts of what ``entries`` name (``unit``, ``slot``, ``key``), and the slot of each column.

        Columns are the most frequent pairs of a slot and a key; pairs of only one unit are left out.
        """
        keys, key = np.unique(entries.select(pl.col("key") * SLOTS + pl.col("slot")).to_series(), return_inverse=True)
        places = (entries["unit"].to_numpy().astype(np.int32), key.astype(np.int32))
        counts = sparse.csc_array((np.ones(len(key), np.float32), places), shape=(self._n, max(1, len(keys))))
        units = np.diff(counts.indptr)
        frequent = np.flatnonzero(units >= _LEAST)
        most = min(_WIDTH, _WEIGHTS // len(self._problem.labels))
        frequent = frequent[np.argsort(-units[frequent], kind="stable")][:most]
        if not len(frequent):
            return sparse.csr_array((self._n, 1), dtype=np.float32), np.zeros(1, np.int64)
        chosen = sparse.csr_array(counts[:, frequent])
        chosen.sort_indices()  # sums of the same floats in another order differ
        return chosen, (keys[frequent] % SLOTS).astype(np.int64)

    @cached_property
    def shared_words(self) -> Floats:
        """For each text the share of its content words that the row's other texts have, and that the next text has.

        Then mean and minimum, and which text shares least. Content words are all but the 150 most frequent.
        """
        frequent = self.lowered["word"].value_counts().sort(["count", "word"], descending=True)
        words = self.lowered.join(frequent.head(_FUNCTION_WORDS), on="word", how="anti")
        elsewhere = words.with_columns(shared=pl.len().over("unit", "word") > 1)
        following = words.select("unit", "word", place=pl.col("place") - 1, following=pl.lit(value=True))
        both = elsewhere.join(following, on=["unit", "word", "place"], how="left").with_columns(
            pl.col("following").fill_null(value=False)
        )
        shares = both.group_by("unit", "slot").agg(pl.col("shared", "following").mean())
        shares = shares.filter(pl.col("slot") < self.slots)
        grid = np.zeros((self._n, self.slots, 2))
        grid[shares["unit"].to_numpy(), shares["slot"].to_numpy()] = shares.select("shared", "following").to_numpy()
        least = _extreme(grid[:, :, :1], -1)
        return np.hstack([_flat(grid), grid.mean(axis=1), grid.min(axis=1), _flat(least), self._beside(grid[:, 0])])

    @cached_property
    def lowered(self) -> pl.DataFrame:
        """Words without regard to case, each once per text: ``unit``, ``place``, ``slot``, number of the ``word``."""
        listed = lowered_words(_TEXT, unspaced=self._problem.unspaced).list.unique()
        words = exploded(self.distinct.select(word=listed).with_row_index("number"), "word").drop_nulls()
        words = words.with_columns(pl.col("word").rank("dense") - 1).group_by("number", maintain_order=True).agg("word")
        places = self.slotted.select("unit", "place", "slot", "number")
        return exploded(places.join(words, on="number", maintain_order="left"), "word").drop("number")

    @cached_property
    def cosines(self) -> Floats:
        """Cosine of each two texts of a unit over the character n-grams of their words, shape (units, slots, slots).

        0 on the diagonal. They are the cosines that tasks match their rows on.
        """
        texts = self._by_slot(self.slotted, self.slots)
        each = texts.unique(maintain_order=True)
        return _cosines(char_grams(each, self._width)[_numbers(texts, each).to_numpy()], self.slots)

    @cached_property
    def word_cosines(self) -> Floats:
        """The same over words without regard to case, each counted once per text."""
        words = self.lowered.filter(pl.col("slot") < self.slots)
        row, word = (
            words.select(by).to_series().to_numpy() for by in (pl.col("unit") * self.slots + pl.col("slot"), "word")
        )
        shape = (self._n * self.slots, int(words["word"].max() or 0) + 1)  # type: ignore[arg-type]
        counts = sparse.csr_array((np.ones(len(row), np.float32), (row, word)), shape=shape)
        counts.sort_indices()  # sums of the same floats in another order differ
        return _cosines(counts, self.slots)

    @property
    def mean_cosines(self) -> Floats:
        """Mean cosine of each text with the others of its unit, shape (units, slots)."""
        return np.asarray(self.cosines.sum(axis=2) / max(1, self.slots - 1))

    def similarity(self) -> Floats:
        """How similar the texts of a unit are, by characters and by words, and what they share."""
        return np.hstack([*map(self._compared, (self.cosines, self.word_cosines)), self.shared_words])

    def _compared(self, cosines: Floats) -> Floats:
        """Cosines of each two texts, mean and largest cosine of each text, all by place and by size; rank of each mean.

        Then the difference between the two lowest means.
        """
        means, nearest = cosines.sum(axis=2) / max(1, self.slots - 1), cosines.max(axis=2)
        ranks = means.argsort(axis=1).argsort(axis=1).astype(np.float64)
        upper = cosines[:, *np.triu_indices(self.slots, 1)]
        by_size = [np.sort(values, axis=1) for values in (upper, means, nearest)]
        gap = by_size[1][:, 1:2] - by_size[1][:, :1]
        return np.hstack([upper, means, nearest, *by_size, gap, ranks, self._beside(means[:, :1])])


def char_weights(counts: sparse.csr_array, rows: Ints) -> Callable[[Ints], sparse.csr_array]:
    """What makes the TF-IDF weights of some units when they are asked for: those of all need most memory.

    The weights have shape (units, columns), rows of length 1, without the columns that fewer than two units have.

    Args:
        counts: of the character n-grams of texts.
        rows: which of these texts a unit has, shape (units, slots); there is one block of columns for each slot.
    """
    n, n_slots = rows.shape

    def blocks(units: Ints) -> sparse.csr_array:
        return _in_blocks(counts[rows[units].ravel()], n_slots)

    occurrences = np.zeros(n_slots * counts.shape[1], np.int64)
    for start in range(0, n, _UNITS_AT_ONCE):
        occurrences += _occurrences(blocks(np.arange(start, min(n, start + _UNITS_AT_ONCE))))
    return lambda units: _weigh(blocks(units), occurrences, n)


def _in_blocks(counts: sparse.csr_array, n_slots: int) -> sparse.csr_array:
    """What is counted in each text of a unit (``n_slots`` rows), side by side: one block of columns per slot."""
    n, width = counts.shape[0] // n_slots, counts.shape[1]
    columns = np.repeat(np.arange(counts.shape[0], dtype=np.int32) % n_slots * width, np.diff(counts.indptr))
    columns += counts.indices
    rows = (counts.data, columns, counts.indptr[::n_slots].copy())  # of a unit, one after the other
    return sparse.csr_array(rows, shape=(n, n_slots * width))


def _weigh(counts: sparse.csr_array, occurrences: Ints | None = None, n_units: int = 0) -> sparse.csr_array:
    """The TF-IDF weights of ``counts``, rows of length 1, without the columns that fewer than two units have.

    The columns and rows of ``counts`` are written over: n-grams of many texts are the largest of all features.

    Args:
        counts: of all units, or of some of them.
        occurrences: how many units have each column; those of ``counts`` where None.
        n_units: number of all units, with ``occurrences``.
    """
    if occurrences is None:
        occurrences, n_units = _occurrences(counts), counts.shape[0]
    frequent = occurrences >= _LEAST
    weights = np.where(frequent, np.log((1 + n_units) / (1 + occurrences)) + 1, 0).astype(np.float32)
    weighted = sparse.csr_array((counts.data.astype(np.float32), counts.indices, counts.indptr), shape=counts.shape)
    for values, at in zip(_in_parts(weighted.data), _in_parts(weighted.indices), strict=True):
        np.multiply(values, weights[at], out=values)
    weighted.eliminate_zeros()
    columns = np.cumsum(frequent, dtype=np.int32) - 1
    for at in _in_parts(weighted.indices):
        at[:] = columns[at]
    rows = (weighted.data, weighted.indices, weighted.indptr)
    return normalize(sparse.csr_array(rows, shape=(counts.shape[0], max(1, int(frequent.sum())))), copy=False)


def _occurrences(counts: sparse.csr_array) -> Ints:
    """How many rows have each column."""
    return np.asarray(sum(np.bincount(part, minlength=counts.shape[1]) for part in _in_parts(counts.indices)))


def _in_parts(entries: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
    """Views of the entries of a matrix, one after the other: numpy copies what it looks up as integers of 64 bits."""
    return np.array_split(entries, 1 + len(entries) // _AT_ONCE)


def _cosines(counts: sparse.csr_array, slots: int) -> Floats:
    """Cosine of each two texts of a unit by inverse document frequency, shape (units, slots, slots), 0 on the diagonal.

    Args:
        counts: of what is compared; the texts of a unit are ``slots`` rows.
        slots: how many texts a unit has.
    """
    n = counts.shape[0] // slots
    weights = (np.log((1 + n * slots) / (1 + _occurrences(counts))) + 1).astype(np.float32)
    cosines = np.zeros((n, slots, slots))
    for start in range(0, n, _UNITS_AT_ONCE):
        units = slice(start, start + _UNITS_AT_ONCE)
        part = counts[start * slots : (start + _UNITS_AT_ONCE) * slots]
        part.data = part.data * weights[part.indices]
        weighted = normalize(part, copy=False)
        texts = [weighted[slot::slots] for slot in range(slots)]
        for a, b in combinations(range(slots), 2):
            cosines[units, a, b] = cosines[units, b, a] = np.asarray(texts[a].multiply(texts[b]).sum(axis=1)).ravel()
    return cosines


def _numbers(texts: pl.Series, each: pl.Series) -> pl.Series:
    """The place of each of the ``texts`` in ``each``, which has no text twice; null for one that it does not have."""
    numbered = each.to_frame("text").with_row_index("number")
    return texts.to_frame("text").join(numbered, on="text", how="left", maintain_order="left")["number"]


def _flat(grid: Floats) -> Floats:
    return grid.reshape(len(grid), -1)


def _extreme(grid: Floats, sign: int) -> Floats:
    """1 where a slot holds the largest (smallest, with sign -1) value of its unit."""
    extreme = np.zeros_like(grid)
    np.put_along_axis(extreme, np.expand_dims((sign * grid).argmax(axis=1), 1), 1.0, axis=1)
    return extreme
