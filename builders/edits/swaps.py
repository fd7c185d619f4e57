"""Exchanging two adjacent words of a sentence, so that a function word stands where the language never has it.

``adjacent_words`` are the pairs that can be exchanged, ``neighbours`` is what the corpora show of function words and
the words beside them, ``impossible`` says which swaps no order of the language allows, `UntellingSwaps` leaves out what
would tell the label, and ``swap_task`` makes a task of them.

Each word keeps its own letters, so names, acronyms and German nouns keep their capitals. Nothing is swapped where a
capital belongs to the position and not to the word: at the beginning of the sentence and after punctuation (a
quotation, a colon). In X-Probe a lower-case first token before a capitalised second one gives away 6-10 % of the
shifted sentences.

That an order is rare does not mean that it is wrong. Swaps of two words whose parts of speech have the other order in
less than 2 % of cases were still acceptable in half of twenty Ukrainian sentences (adjective and noun, auxiliary and
verb), but nearly never where a preposition or conjunction was moved.
"""

import functools
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt
import polars as pl
import scipy

from discoprobe.builders.edits.versions import HashCounts, in_two_versions, original_and_edited, word_bags
from discoprobe.builders.sampling.balance import FINE, remove_bias
from discoprobe.builders.sentences.candidates import usable_of
from discoprobe.builders.sentences.trees import Trees, has
from discoprobe.builders.task import Context, Edit, Keep, ProbingTask, Sample
from discoprobe.loaders import hashing
from discoprobe.loaders.hashing import hash_strings, hashed
from discoprobe.loaders.languages.language import LanguageSection, check_small_letters
from discoprobe.loaders.words import mostly_unspaced, tokens

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class SwapRules(LanguageSection, frozen=True):
    """The section ``[swaps]``: strings of two words that no text of the language has, so that no swap may make them.

    Attributes:
        elides: words that lose their vowel before a vowel or *h* (French *de*).
        contracts: pairs that are written as one word (*de le*).
        sounds: words whose form depends on the sound of the next one (*a*, *an*); they stay where they are, and so do
            the words after them.
    """

    section: ClassVar[str] = "swaps"
    elides: frozenset[str] = frozenset()
    contracts: tuple[Annotated[str, msgspec.Meta(pattern=r"^\S+ \S+$")], ...] = ()
    sounds: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        check_small_letters((*sorted(self.elides), *self.contracts, *sorted(self.sounds)))


FUNCTION_WORDS = ("ADP", "CCONJ", "PART", "SCONJ", "article")
"""Words whose place the grammar may fix. Auxiliaries and other determiners are not among them: where order is free,
they stand on either side (Finnish *vaivatonta on*, Ukrainian *книга ця*)."""

CLOSED = (*FUNCTION_WORDS, "AUX", "DET", "PRON")
"""Closed classes. A word that is often of another class may stand elsewhere (Ukrainian *близько*, an adverb)."""

LOOSE = ("ADV", "AUX", "INTJ", "PART", "SYM", "X")
"""Parts of speech that may stand nearly anywhere: that a function word is not seen beside them means little."""

LINKS = ("ADP", "CCONJ", "SCONJ")
"""Function words before which a particle may stand, although it hardly ever does."""


def adjacent_words(trees: Trees, context: Context) -> pl.DataFrame:
    """Pairs of adjacent words that can be exchanged, one of which is a function word.

    Left out are punctuation, symbols, parts of multiword tokens and words that touch another (*l'homme*, *dit-il*; in a
    script without spaces all words touch), the first word of the sentence, words whose capital may be their position's,
    equal words, and a swap that would bring two equal words together or two that the language writes otherwise when
    they meet (French *de* before a vowel, *de le*; English *a* and *an*).

    Returns:
        ``sent``, ``index`` (of the left word), ``inside`` (words, not punctuation, stand before and after the two),
        ``phrase`` (one of the two depends on the other, or both on the same word), ``contacts`` (hashes of each
        function word with its new neighbours) and ``plan``: their places in the text.
    """
    return trees.once(_adjacent_words, context.language.section(SwapRules))


def _adjacent_words(trees: Trees, rule: SwapRules) -> pl.DataFrame:
    """``adjacent_words`` under the rules of a language."""
    form, after, before, following = (pl.col(f"{side}small") for side in ("", "next_", "before_", "after_"))
    movable = [
        ~pl.col(f"{side}upos").is_in(["PUNCT", "SYM", "X"])
        & pl.col(f"{side}form").str.contains(r"[\p{L}\p{N}]")
        & pl.col(f"{side}mwt").is_null()
        for side in ("", "next_")
    ]
    if trees.spaced:  # white space or punctuation surrounds each of the two words, and a space stands between them
        free_left = (pl.col("before_end") < pl.col("start")) | (pl.col("before_upos") == "PUNCT")
        free_right = (pl.col("after_start") > pl.col("next_end")) | (pl.col("after_upos") == "PUNCT")
        apart = free_left & free_right.fill_null(value=True) & (pl.col("end") < pl.col("next_start"))
    else:  # the two make another string in the other order (A + AA does not)
        apart = pl.concat_str("form", "next_form") != pl.concat_str("next_form", "form")
    # The swap makes words adjacent that are then written differently, or changes what follows *a* or *an*.
    meeting = ((before, after), (after, form), (form, following))
    contacts = [pl.lit(value=False)]
    if rule.elides:
        contacts += [word.is_in(sorted(rule.elides)) & causes_elision(follower) for word, follower in meeting]
    if rule.contracts:
        contacts += [pl.concat_str(word, follower, separator=" ").is_in(rule.contracts) for word, follower in meeting]
    if rule.sounds:
        contacts += [word.is_in(sorted(rule.sounds)) for word in (before, form, after)]
    related = (pl.col("next_head") == pl.col("index")) | (pl.col("head") == pl.col("next_index"))
    functions = pl.col("role").is_in(FUNCTION_WORDS), pl.col("next_role").is_in(FUNCTION_WORDS)
    words = trees.once(_with_neighbours)
    pairs = words.filter(
        *movable,
        pl.col("sent") == pl.col("next_sent"),
        pl.col("index") + 1 == pl.col("next_index"),
        functions[0] | functions[1],
        ~pl.col("opening"),
        ~(pl.col("form").str.contains(r"^\p{Lu}") & (pl.col("before_upos") == "PUNCT")),
        apart,
        *(
            (word != neighbour).fill_null(value=True)
            for word, neighbour in ((form, after), (form, following), (before, after))
        ),
        ~pl.any_horizontal(contact.fill_null(value=False) for contact in contacts),
    )
    # An article before a full stop shows that it was moved: with pairs that are not inside, character n-grams inside
    # words reach .52 to .61, without them .50.
    inside = (pl.col("before_upos") != "PUNCT") & (pl.col("after_upos") != "PUNCT")
    new = (("", SIDES[0], "after_"), ("", SIDES[1], "next_"), ("next_", SIDES[0], ""), ("next_", SIDES[1], "before_"))
    new_contacts = []
    for word, side, other in new:
        role, upos, parts = pl.col(f"{word}role"), pl.col(f"{other}upos"), _contact(word, side, other)
        telling = role.is_in(FUNCTION_WORDS) & ~upos.is_in(LOOSE) & ~((role == "PART") & upos.is_in(LINKS))
        parts["kind"] = pl.when(role == "ADP").then(parts["kind"]).otherwise(parts["upos"])  # only adpositions govern
        new_contacts += [pl.when(telling).then(part) for part in parts.values()]
    return pairs.select(
        "sent",
        "index",
        inside=inside.fill_null(value=False),
        phrase=(related | (pl.col("head") == pl.col("next_head"))).fill_null(value=False),
        contacts=pl.concat_list(new_contacts),
        plan=pl.struct(a_start="start", a_end="end", b_start="next_start", b_end="next_end"),
    )


SIDES = (">", "<")
"""Whether a neighbour of a word is on its right or on its left."""

CONTACTS, CONTACT_PARTS = 4, 4
"""Places of two words and the sides of each; and the hashes of one of them (`_contact`)."""

EVERY_WORD = np.uint64(1)
"""Stands for every word among the hashes of ``neighbours``."""

CONFIDENT = 0.95
"""Share of the values of a rate below the upper end of its interval."""


KIND_SEED, UPOS_SEED = 3, 4
"""Seeds of the hashes of neighbours: with features, and by part of speech alone."""


def _contact(word: str, side: str, other: str) -> dict[str, pl.Expr]:
    """Hashes of a word and its class with a side of it, and of the kind and the part of speech of a neighbour.

    The hash of two of them together is their exclusive or.
    """
    return {
        "word": hashed(pl.concat_str(pl.lit(side), pl.col(f"{word}small"), separator=" "), 1),
        "class": hashed(pl.concat_str(pl.lit(side), pl.col(f"{word}role"), separator=" "), 2),
        "kind": hashed(pl.col(f"{other}kind"), KIND_SEED),
        "upos": hashed(pl.col(f"{other}upos"), UPOS_SEED),
    }


def neighbours(trees: Trees) -> pl.DataFrame:
    """``sent`` and ``neighbours``: which function words stand beside which kinds of words (hashes), per sentence."""
    words = trees.once(_with_neighbours)
    forms = words.filter(pl.col("role").is_in(FUNCTION_WORDS))["small"].unique().implode()
    no_mark = (pl.col("upos") != "PUNCT") & (pl.col("next_upos") != "PUNCT") & (pl.col("sent") == pl.col("next_sent"))
    listed = []
    for word, side, other in (("", SIDES[0], "next_"), ("next_", SIDES[1], "")):
        of = _contact(word, side, other)
        together = [of[first] ^ of[second] for first in ("word", "class") for second in ("kind", "upos")]
        closed = pl.when(pl.col(f"{word}role").is_in(CLOSED)).then(~of["word"])
        of_function_words = pl.concat_list(of["word"], of["class"], closed, *together)
        listed.append(words.filter(no_mark, pl.col(f"{word}small").is_in(forms)).select("sent", seen=of_function_words))
    kinds = pl.concat_list(
        hashed(pl.col("kind"), KIND_SEED), hashed(pl.col("upos"), UPOS_SEED), pl.lit(EVERY_WORD, pl.UInt64)
    )
    listed.append(words.filter(pl.col("upos") != "PUNCT").select("sent", seen=kinds))
    seen = pl.concat(listed).explode("seen").drop_nulls()
    return seen.group_by("sent", maintain_order=True).agg(neighbours="seen")


KIND = ("Case", "VerbForm")
"""Features of a kind of words, beside their part of speech."""


def _with_neighbours(trees: Trees) -> pl.DataFrame:
    """The words that have a place in the text, each with the next one, and what stands around the two.

    ``small`` is the word in lower case. ``next_…`` may be of the next sentence; ``before_…`` and ``after_…`` are null
    beyond the ends of the sentence.
    """
    upos = pl.col("upos").cast(pl.String)
    words = trees.words.filter(pl.col("start").is_not_null()).with_columns(
        upos, small=pl.col("form").str.to_lowercase(),
        opening=(pl.col("upos") != "PUNCT").cum_sum().over("sent") <= 1,
        kind=pl.concat_str("upos", *(pl.col("feats").str.extract(f"{name}=([^|]+)").fill_null("") for name in KIND)),
        role=pl.when(pl.col("upos") == "DET", has("PronType", "Art")).then(pl.lit("article")).otherwise(upos),
    )  # fmt: skip
    around = {"before_": (1, ("upos", "end", "small", "kind")), "after_": (-2, ("upos", "start", "small", "kind"))}
    return words.with_columns(
        pl.all().shift(-1).name.prefix("next_"),
        **{
            f"{side}{name}": pl.when(pl.col("sent") == pl.col("sent").shift(n)).then(pl.col(name).shift(n))
            for side, (n, names) in around.items()
            for name in names
        },
    )


def causes_elision(word: pl.Expr) -> pl.Expr:
    """Whether a word in lower case begins with a vowel or *h*, before which another may lose its own vowel."""
    return word.str.normalize("NFD").str.replace_all(r"\p{M}", "").str.contains(r"^[haeiouyœæ]")


UNSEEN = 0.15
"""Largest share of the occurrences expected by chance, at the upper end of its 95 % interval, at which a function word
and a kind of neighbour do not stand side by side in the language."""

UNSEEN_OF_CLASS = 0.1
"""The same for all function words of a class together."""

WEIGHT = 0.5
"""Occurrences of one word for which what its class shows counts (shape of the prior, a gamma distribution)."""

PURE = 0.9
"""Least share of the occurrences of a function word in which it is one. Others may stand elsewhere (*близько*)."""

SEEN = 10
"""Fewest occurrences of a function word that is moved."""


def impossible(pairs: pl.DataFrame, counts: HashCounts) -> npt.NDArray[np.bool_]:
    """Whether the swap of each pair makes two words adjacent that no order of the language brings together.

    By chance, a word would stand before each kind of words as often as this kind is frequent. The corpora must show
    that this function word, and all of its class, stand there far less often. How often is the upper end of the 95 %
    interval of a Poisson rate; for a word, its class is the prior. So a word that is rare follows its class, unless it
    is seen there itself. Without enough text nothing is impossible.

    Args:
        pairs: ``contacts`` of ``adjacent_words``.
        counts: of ``neighbours``.
    """
    hashes = pairs["contacts"].explode().fill_null(0).to_numpy().reshape(-1, CONTACTS, CONTACT_PARTS)
    word, of_class, *kinds = np.moveaxis(hashes, 2, 0)

    def count(these: hashing.Keys) -> npt.NDArray[np.float64]:
        return counts.of(these.ravel()).reshape(these.shape).astype(np.float64)

    n_word, n_class = count(word), count(of_class)
    eligible = (word != 0) & (n_word >= SEEN) & (count(~word) >= PURE * n_word)
    total = count(np.full((1, 1), EVERY_WORD))
    never = np.zeros(hashes.shape[:2], dtype=bool)
    for kind in kinds:
        share = count(kind) / np.maximum(total, 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            class_rate = scipy.special.gammaincinv(count(of_class ^ kind) + 1, CONFIDENT) / (n_class * share)
            prior = WEIGHT / class_rate
            rate = scipy.special.gammaincinv(count(word ^ kind) + WEIGHT, CONFIDENT) / (prior + n_word * share)
        never |= eligible & (share > 0) & (class_rate <= UNSEEN_OF_CLASS) & (rate <= UNSEEN)
    return np.asarray(never.any(axis=1))


REASONS = {
    "free-order": "no swap of two neighbours makes a sequence that the corpora show to be impossible",
    "same-words-swapped": "another candidate swaps the same words",
    "same-neighbours": "the swap puts two words side by side as other swaps do (`la de`)",
    "ngrams-tell": "n-grams of words or characters show the swap; no other pair offsets it",
}
"""Why pairs of words are not swapped."""

ALIKE, FEW_ALIKE = 0.01, 2
"""At most this share of the swaps makes the same two words adjacent (or as many swaps as originals have this bigram, if
that is more); and a number of such swaps that is always allowed."""

FEW = 4
"""Pairs that ``remove_bias`` keeps in every split."""

LONGEST = (5, 3)
"""Symbols of the longest n-grams of characters and of words."""

COLUMNS = 2**22
"""Columns of hashed n-grams, for each kind of them; with a quarter of them, 13,000 rows have so many equal hashes that
members of pairs are told apart with .66 (with .62 else)."""

ROUNDS, FOLDS = 4, 5
"""Rounds of balancing, each with rules learned from the rows that are left; and parts into which sentences are divided,
so that a rule scores no sentence that it has learned from."""

TOLERANCE = 0.02
"""Gain of a rule, as a share of the sentences before balancing, from which on it counts. Where no block follows, one
standard deviation of chance (the root of their number) is allowed if it is more: nobody can learn such a rule."""

CLIPPED = 2.0
"""Scores of a rule are clipped at this number of standard deviations."""

PRIOR = 2.0
"""Weight of the shorter n-grams in the probability of a symbol, in counts (Dirichlet prior; MacKay and Peto 1995)."""

OUTSIDE = np.uint64(0xFFFFFFFF)
"""The symbol before the first one of a text."""

BEFORE, AFTER = r"((?:\S+\s+){0,2}\S*)$", r"^((?:\s*\S+){0,2})"
"""What surrounds two words: the last two words of the text before them, and the first two of the text after them."""

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def one_of_each(pairs: pl.DataFrame, context: Context) -> pl.DataFrame:
    """One of the pairs of each sentence (``shard``, ``sent``, ``key``), chosen by hash."""
    place = hashing.combine(pairs["key"].to_numpy(), pairs["index"].cast(pl.UInt64).to_numpy())
    hashed = pairs.with_columns(_hash=pl.Series(hashing.mix(place, *context.seed_key, "pair"), dtype=pl.UInt64))
    ordered = hashed.sort("shard", "sent", "_hash", "index").drop("_hash")
    return ordered.unique(["shard", "sent"], keep="first", maintain_order=True)


class UntellingSwaps:
    """Chooses one pair of each sentence, or none, so that what a model sees without grammar does not tell the label.

    No two words are swapped twice, and few swaps put the same two words side by side: a model would memorise them
    (Chinese *一個*; Spanish *la de*: 21 of 474). Then no rule finds the swap in many more than half of the pairs
    (``TOLERANCE``): neither the log-odds that n-grams of characters, bigrams of words or two words with one between
    them are made and not removed by a swap, nor how probable both versions are to n-gram models of the originals.

    It chooses in block after block and remembers what it has chosen: rules are learned from all of it. If each block is
    balanced by itself, the same words are swapped in every block, and what the rules leave in all of them adds up.
    """

    def __init__(self, *seed_key: str | int, in_blocks: bool) -> None:
        """Begins without swaps; hashes start with ``seed_key``, and ``in_blocks`` says whether there are several."""
        self._seed_key, self._in_blocks = seed_key, in_blocks
        self._swapped = pl.Series("swapped", [], dtype=pl.String)
        # for n-grams of characters and of words: swaps that make them, swaps that remove them, originals that have them
        self._made, self._removed, self._seen = (np.zeros((len(LONGEST), COLUMNS), np.int32) for _ in range(3))

    def choose(self, pairs: pl.DataFrame, keep: Keep) -> pl.DataFrame:
        """The pairs of a block that are swapped; they have ``swapped``, the two words in the other order.

        Args:
            pairs: several of each sentence: ``key`` (of the sentence), ``split``, ``original`` and ``edited`` (texts),
                and the ``start`` and ``end`` of the two words in either.
            keep: counts what a step leaves out.
        """
        place = hashing.combine(pairs["key"].to_numpy(), pairs["start"].cast(pl.UInt64).to_numpy())
        swapped = pl.col("edited").str.slice("start", pl.col("end") - pl.col("start")).str.to_lowercase()
        ordered = pairs.with_columns(
            swapped=swapped, _hash=pl.Series(hashing.mix(place, *self._seed_key, "pair"), dtype=pl.UInt64)
        ).sort("_hash", "key", "start")
        others = ordered.drop("_hash").filter(~pl.col("swapped").is_in(self._swapped.implode()))
        rows = keep(ordered, others.unique("swapped", keep="first", maintain_order=True), "same-words-swapped")
        if rows.is_empty():
            return rows
        unspaced = mostly_unspaced(rows["original"])
        originals = rows.select("original", "key").unique("key", keep="first", maintain_order=True).with_row_index("at")
        whole = [_ngrams(originals["original"], kind, unspaced=unspaced) for kind in range(len(LONGEST))]
        bigrams = _changes(rows, 1, unspaced=unspaced, bigrams=True)
        usual = self._seen[1][bigrams.columns] + np.bincount(whole[1].ngrams[1], minlength=COLUMNS)[bigrams.columns]
        made, removed = ((bigrams.matrix * sign).maximum(0) for sign in (1, -1))
        frequent = removed @ np.rint(FINE * np.log1p(np.maximum(usual - 1, 0))) - made @ np.rint(FINE * np.log1p(usual))
        few = max(FEW_ALIKE, int(ALIKE * (len(self._swapped) + originals.height)))
        row, at = made.nonzero()
        before = self._made[1][bigrams.columns]
        listed = pl.DataFrame({"row": row, "at": at, "before": before[at], "usual": usual[at]}).sort("row", "at")
        rank = pl.int_range(pl.len()).over("at") + 1 + pl.col("before")
        often = listed.filter(rank > pl.max_horizontal("usual", pl.lit(few)))["row"]
        stays = np.setdiff1d(np.arange(rows.height), often.to_numpy())
        varied = keep(rows, rows[stays], "same-neighbours")
        if varied.is_empty():
            return varied
        sentences = varied.join(originals, on="key", how="left", maintain_order="left")["at"].to_numpy()
        likelier = np.sign(frequent)[stays]
        return keep(varied, self._balanced(varied, likelier, sentences, whole, unspaced=unspaced), "ngrams-tell")

    def _balanced(
        self, rows: pl.DataFrame, likelier: Floats, sentences: Ints, whole: "list[Ngrams]", *, unspaced: bool
    ) -> pl.DataFrame:
        """One pair of each sentence, or none, chosen so that rules do about as well as chance.

        In each round rules are learned from the rows that the last one left, and those of earlier blocks. Rows that
        rules recognise are replaced by other pairs of their sentences, or removed.

        Args:
            rows: several pairs of each sentence.
            likelier: gain of the rule that takes the version with the more frequent bigrams.
            sentences: number of the original of each row, in ``whole``.
            whole: n-grams of all originals, of characters and of words.
            unspaced: whether most texts have no spaces between words.
        """
        folds = hashing.mix(rows["key"].to_numpy(), "fold", *self._seed_key) % np.uint64(FOLDS)
        numbered, gains = rows.with_columns(_at=pl.int_range(pl.len())), [likelier]
        changes = [_changes(rows, kind, unspaced=unspaced) for kind in range(len(LONGEST))]
        models = [_Model.of(of_kind.versions, texts) for of_kind, texts in zip(changes, whole, strict=True)]
        balanced = self._level(numbered, gains)
        for _ in range(ROUNDS):
            at = balanced["_at"].to_numpy()
            for kind, (columns, matrix, _) in enumerate(changes):
                odds, probable = np.zeros(rows.height), np.zeros(rows.height)
                for fold in range(FOLDS):
                    here, learned = folds == fold, at[folds[at] != fold]
                    more = self._made[kind][columns] + _total(matrix[learned] > 0)
                    fewer = self._removed[kind][columns] + _total(matrix[learned] < 0)
                    # whole numbers, whose sums are exact
                    odds[here] = matrix[here] @ np.rint(FINE * (np.log1p(more) - np.log1p(fewer)))
                    probable[here] = models[kind].likelier(self._seen[kind], sentences[learned], rows.height)[here]
                gains += [*_graded(odds), *_graded(probable)]
            balanced = self._level(numbered, gains)
        at = balanced["_at"].to_numpy()
        for kind, (columns, matrix, _) in enumerate(changes):
            self._made[kind][columns] += _total(matrix[at] > 0)
            self._removed[kind][columns] += _total(matrix[at] < 0)
            inside = np.isin(whole[kind].text, sentences[at])
            for each in (*whole[kind].contexts, *whole[kind].ngrams):
                np.add.at(self._seen[kind], each[inside], 1)
        self._swapped = pl.concat([self._swapped, balanced["swapped"]])
        return balanced.drop("_at")

    def _level(self, rows: pl.DataFrame, gains: list[Floats]) -> pl.DataFrame:
        """``remove_bias`` of each split, until no rule gains more than is tolerated; ``_at`` numbers the rows."""
        of_rows, levelled = np.stack(gains, axis=1), []
        for of_split in rows.partition_by("split", maintain_order=True):
            n = of_split["key"].n_unique()
            slack = max(TOLERANCE * n, 0.5 if self._in_blocks else n**0.5)
            of_these = of_rows[of_split["_at"].to_numpy()]
            levelled.append(remove_bias(of_split, of_these, *self._seed_key, few=FEW, slack=slack))
        return pl.concat(levelled)


def _total(rows: "csr_array") -> npt.NDArray[np.int32]:
    """The sum of each column."""
    return np.asarray(rows.sum(axis=0), dtype=np.int32).ravel()


def _graded(scores: Floats) -> list[Floats]:
    """The gains of a rule that takes the sign of scores, and of one that takes their size."""
    return [np.sign(scores), np.round(8 * np.clip(scores / (scores.std() or 1.0), -CLIPPED, CLIPPED)) / 8]


class Ngrams(NamedTuple):
    """The n-grams that end at each symbol of several texts, by the columns of their hashes.

    Attributes:
        text: number of the text of each symbol.
        place: how many symbols are before it in its text.
        symbol: its hash.
        contexts, ngrams: for n = 1, 2 … the n - 1 symbols before it, and these with it.
    """

    text: Ints
    place: Ints
    symbol: hashing.Keys
    contexts: list[Ints]
    ngrams: list[Ints]


class NgramChanges(NamedTuple):
    """What swaps change: columns of n-grams, how often each row makes each (negative: removes), and its versions."""

    columns: Ints
    matrix: "csr_array"
    versions: tuple[Ngrams, Ngrams]


def _ngrams(texts: pl.Series, kind: int, *, unspaced: bool) -> Ngrams:
    """The n-grams of characters (kind 0) or of words in lower case (kind 1) of some texts."""
    if kind:
        listed = texts.to_frame("text").select(word=tokens(pl.col("text").str.to_lowercase(), unspaced=unspaced))
        words = listed.with_row_index("row").explode("word").drop_nulls("word")
        text, symbol = words["row"].to_numpy().astype(np.int64), hash_strings(words["word"])
    else:
        text = np.repeat(np.arange(len(texts)), texts.str.len_chars().to_numpy())
        symbol = np.frombuffer("".join(texts).encode("utf-32-le"), dtype="<u4").astype(np.uint64)
    first = np.flatnonzero(np.diff(text, prepend=-1))
    place = np.arange(len(text)) - np.repeat(first, np.diff(first, append=len(text)))
    context, contexts, ngrams = np.zeros(len(text), np.uint64), list[Ints](), list[Ints]()
    for n in range(LONGEST[kind]):
        if n:
            context = hashing.combine(context, np.where(place >= n, np.roll(symbol, n), OUTSIDE))
        contexts.append((context % np.uint64(COLUMNS)).astype(np.int64))
        ngrams.append((hashing.combine(context, symbol) % np.uint64(COLUMNS)).astype(np.int64))
    return Ngrams(text, place, symbol, contexts, ngrams)


def _changes(rows: pl.DataFrame, kind: int, *, unspaced: bool, bigrams: bool = False) -> NgramChanges:
    """What swaps change in n-grams of characters (kind 0), or in pairs of words with at most one between them (kind 1).

    Args:
        rows: ``original``, ``edited``, ``start`` and ``end``.
        kind: of n-grams.
        unspaced: whether most texts have no spaces between words.
        bigrams: whether there is no word between two words.
    """
    around = LONGEST[0] - 1
    start, end = pl.col("start").cast(pl.Int64), pl.col("end").cast(pl.Int64)
    versions = []
    for name in ("original", "edited"):
        text, first = pl.col(name), pl.max_horizontal(start - around, 0)
        window = text.str.slice(first, end + around - first)
        if kind:
            before, after = (
                text.str.slice(0, start).str.extract(f"({BEFORE})"),
                text.str.slice(end).str.extract(f"({AFTER})"),
            )
            window = pl.concat_str(before, text.str.slice(start, end - start), after)
        versions.append(_ngrams(rows.select(window).to_series(), kind, unspaced=unspaced))
    row, column, value = list[Ints](), list[Ints](), list[Floats]()
    for sign, of in zip((-1.0, 1.0), versions, strict=True):
        listed = of.ngrams[1:2] if kind else of.ngrams[1:]
        if kind and not bigrams:
            last_but_one = np.where(of.place > 1, np.roll(of.symbol, 2), OUTSIDE)
            apart = hashing.mix(hashing.combine(last_but_one, of.symbol), "apart")
            listed = [*listed, (apart % np.uint64(COLUMNS)).astype(np.int64)]
        for each in listed:
            row.append(of.text)
            column.append(each)
            value.append(np.full(len(each), sign))
    columns, at = np.unique(np.concatenate(column), return_inverse=True)
    entries = (np.concatenate(value), (np.concatenate(row), at))
    matrix = scipy.sparse.coo_array(entries, shape=(rows.height, len(columns))).tocsr()  # sums what is there twice
    matrix.eliminate_zeros()
    return NgramChanges(columns, matrix, (versions[0], versions[1]))


class _Model(NamedTuple):
    """A model of n-grams of originals, of which only those are counted that the two versions of swaps have.

    Attributes:
        columns: these n-grams and their contexts.
        versions: n-grams of the originals and of the swaps, by their place in ``columns``.
        text, column: number of an original, and the place of an n-gram or context that it has.
    """

    columns: Ints
    versions: list[Ngrams]
    text: Ints
    column: Ints

    @classmethod
    def of(cls, versions: tuple[Ngrams, Ngrams], originals: Ngrams) -> "_Model":
        """The model of both versions, learned from originals."""
        every = [each for of in versions for each in (*of.contexts, *of.ngrams)]
        columns, at = np.unique(np.concatenate(every), return_inverse=True)
        places = iter(np.split(at, np.cumsum([len(each) for each in every])[:-1]))
        local = [
            of._replace(contexts=[next(places) for _ in of.contexts], ngrams=[next(places) for _ in of.ngrams])
            for of in versions
        ]
        listed = np.concatenate([*originals.contexts, *originals.ngrams])
        place = np.minimum(np.searchsorted(columns, listed), len(columns) - 1)
        inside = columns[place] == listed
        text = np.tile(originals.text, len(originals.contexts) + len(originals.ngrams))
        return cls(columns, local, text[inside], place[inside])

    def likelier(self, seen: npt.NDArray[np.int32], learned: Ints, n_rows: int) -> Floats:
        """How much more probable the original of each row is than its swap, in whole numbers, whose sums are exact.

        Args:
            seen: how often other originals have each n-gram and context.
            learned: numbers of the originals that the model learns from beside them.
            n_rows: number of rows.
        """
        counts = seen[self.columns] + np.bincount(self.column[np.isin(self.text, learned)], minlength=len(self.columns))
        logs = []
        for of in self.versions:
            probability = np.full(len(of.text), 1 / COLUMNS)
            for context, ngram in zip(of.contexts, of.ngrams, strict=True):
                probability = (counts[ngram] + PRIOR * probability) / (counts[context] + PRIOR)
            logs.append(np.bincount(of.text, np.rint(FINE * np.log(probability)), n_rows))
        return np.asarray(logs[0] - logs[1], dtype=np.float64)


def swap_task(usable: pl.Expr | None = None, *, version: int = 6) -> ProbingTask:
    """A task that asks whether two adjacent words inside a sentence were swapped.

    Args:
        usable: which of the pairs that ``adjacent_words`` returns may be swapped; all if None.
        version: raised when the rows of the task change.
    """
    return ProbingTask(
        labels=("original", "shifted"), select=functools.partial(_select_pairs, usable=usable), sample=_sample_pairs,
        edit=swap, choice=UntellingSwaps, pairs=True, needs=frozenset({"upos", "deps"}), reasons=REASONS,
        version=version,
    )  # fmt: skip


def _select_pairs(trees: Trees, context: Context, *, usable: pl.Expr | None) -> pl.DataFrame:
    """The usable pairs, several per sentence; the first of each sentence has its ``neighbours``."""
    pairs = adjacent_words(trees, context).filter("inside", *([] if usable is None else [usable]))
    for of_sentences in (neighbours, word_bags):
        pairs = pairs.join(trees.once(of_sentences), on="sent", how="left", maintain_order="left")
    pairs = pairs.join(trees.shard.sentences.select("sent", original="text"), on="sent", maintain_order="left")
    start, middle, second, end = (
        pl.col("plan").struct.field(name).cast(pl.Int64) for name in ("a_start", "a_end", "b_start", "b_end")
    )
    text = pl.col("original")
    edited = pl.concat_str(
        text.str.slice(0, start), text.str.slice(second, end - second), text.str.slice(middle, second - middle),
        text.str.slice(start, middle - start), text.str.slice(end),
    )  # fmt: skip
    return pairs.select(
        "sent", "index", "contacts", "plan", "bag", "original", start=start, end=end, edited=edited,
        neighbours=pl.when(pl.col("sent").is_first_distinct()).then("neighbours"), label=pl.lit(context.labels[0]),
    )  # fmt: skip


def _sample_pairs(frame: pl.DataFrame, context: Context) -> Sample:
    """Originals and swaps, one pair of words per sentence, whose other order is impossible.

    Of a block of several, every pair of each sentence: those of all blocks are chosen together.
    """
    sentences, drops = usable_of(frame.unique(["shard", "sent"], keep="first", maintain_order=True), context)
    pairs = frame.filter(pl.Series(impossible(frame, HashCounts(frame["neighbours"]))))
    pairs = pairs.join(sentences.select("key"), on="key", how="semi", maintain_order="left")
    drops.keep(sentences, pairs, "free-order", n=sentences.height - pairs["key"].n_unique())
    n_candidates = 2 * frame.select("shard", "sent").n_unique()
    if not context.settings.match:
        pairs = one_of_each(pairs, context)
    elif context.in_blocks:
        rows = in_two_versions(pairs.drop("original"))
        keys = hashing.combine(rows["key"].to_numpy(), rows["index"].cast(pl.UInt64).to_numpy())
        return Sample(rows.with_columns(key=pl.Series(keys)), drops, candidates=n_candidates)
    else:
        swaps = UntellingSwaps(*context.seed_key, in_blocks=False)
        pairs = swaps.choose(
            pairs, lambda *step: drops.keep(*step, n=step[0]["key"].n_unique() - step[1]["key"].n_unique())
        )
    sample = original_and_edited(pairs.drop("original"), context, drops)
    return replace(sample, candidates=n_candidates)


def swap(text: str, plan: Mapping[str, Any]) -> Edit:
    """The two words exchanged; what stands between them stays, and so do their letters."""
    first, second = text[plan["a_start"] : plan["a_end"]], text[plan["b_start"] : plan["b_end"]]
    between = text[plan["a_end"] : plan["b_start"]]
    return Edit(plan["a_start"], plan["b_end"], second + between + first)
