"""Exchanging two adjacent words of a sentence, so that a function word stands where the language never has it.

``adjacent_words`` are the pairs that can be exchanged, ``neighbours`` is what the corpora show of function words and
the words beside them, ``impossible`` says which swaps no order of the language allows, ``without_telling_swaps``
removes what would tell the label, and ``swap_task`` makes a task of them.

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
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import msgspec
import numpy as np
import numpy.typing as npt
import polars as pl
import scipy

from discoprobe.builders.drops import Drops
from discoprobe.builders.edits.versions import HashCounts, original_and_edited, word_bags
from discoprobe.builders.sampling.balance import FINE, remove_bias, with_rank
from discoprobe.builders.sentences.candidates import usable_of
from discoprobe.builders.sentences.trees import Trees, has
from discoprobe.builders.task import Context, Edit, ProbingTask, Sample
from discoprobe.loaders import hashing
from discoprobe.loaders.languages.language import LanguageSection, check_small_letters

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
        ``phrase`` (one of the two depends on the other, or both on the same word), ``swapped`` (the two in the other
        order, in lower case), ``original_bigrams`` and ``shifted_bigrams`` (hashes of the three bigrams with these
        words, before and after the swap), ``contacts`` (hashes of each function word with its new neighbours) and
        ``plan``: their places in the text.
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
        swapped=pl.concat_str("next_small", "small", separator=" "),
        original_bigrams=_bigrams("before_small", "small", "next_small", "after_small"),
        shifted_bigrams=_bigrams("before_small", "next_small", "small", "after_small"),
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
        "word": pl.concat_str(pl.lit(side), pl.col(f"{word}small"), separator=" ").hash(1),
        "class": pl.concat_str(pl.lit(side), pl.col(f"{word}role"), separator=" ").hash(2),
        "kind": pl.col(f"{other}kind").hash(KIND_SEED),
        "upos": pl.col(f"{other}upos").hash(UPOS_SEED),
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
    kinds = pl.concat_list(pl.col("kind").hash(KIND_SEED), pl.col("upos").hash(UPOS_SEED), pl.lit(EVERY_WORD))
    listed.append(words.filter(pl.col("upos") != "PUNCT").select("sent", seen=kinds))
    seen = pl.concat(listed).explode("seen").drop_nulls()
    return seen.group_by("sent", maintain_order=True).agg(neighbours="seen")


def _bigrams(*words: str) -> pl.Expr:
    """The hashes of the bigrams that the words of some columns, in lower case, make one after the other."""
    return pl.concat_list([_bigram(pl.col(word), pl.col(following)) for word, following in pairwise(words)])


def _bigram(left: pl.Expr, right: pl.Expr) -> pl.Expr:
    return pl.concat_str(left.fill_null("^"), right.fill_null("$"), separator=" ").hash(0)


def sentence_bigrams(trees: Trees) -> pl.DataFrame:
    """``sent`` and ``bigrams``: the hashes of the bigrams of each sentence, with its beginning and end."""
    words = trees.once(_with_neighbours)
    same = pl.col("sent") == pl.col("next_sent")
    first = pl.when(pl.col("before_small").is_null()).then(_bigram(pl.lit(None, pl.String), pl.col("small")))
    following = _bigram(pl.col("small"), pl.when(same).then("next_small"))
    listed = words.select("sent", bigrams=pl.concat_list(first, following))
    return listed.explode("bigrams").drop_nulls().group_by("sent", maintain_order=True).agg("bigrams")


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
    "ngrams-tell": "bigrams of words or n-grams of characters show the swap; no other pair offsets it",
}
"""Why pairs of words are not swapped."""

BIGRAMS = 3
"""Bigrams in which the two words stand."""

ALIKE, FEW_ALIKE = 0.01, 2
"""At most this share of the swaps of a block makes the same two words adjacent (or as many swaps as originals have this
bigram, if that is more); and a number of such swaps that is always allowed."""

FEW = 4
"""Pairs that ``remove_bias`` keeps in every split."""

NGRAM = 5
"""Characters of the longest n-grams that are balanced."""

ROUNDS, FOLDS = 4, 5
"""Rounds of balancing, each with a rule learned from the rows that are left; and parts into which sentences are
divided, so that the rule scores no sentence that it has learned from."""

TOLERANCE = 0.07
"""Gain of a rule, as a share of the sentences before balancing, from which on it counts."""

CLIPPED = 2.0
"""Scores of a rule are clipped at this number of standard deviations."""


def one_of_each(pairs: pl.DataFrame, context: Context) -> pl.DataFrame:
    """One of the pairs of each sentence (``shard``, ``sent``, ``key``), chosen by hash."""
    place = hashing.combine(pairs["key"].to_numpy(), pairs["index"].cast(pl.UInt64).to_numpy())
    hashed = pairs.with_columns(_hash=pl.Series(hashing.mix(place, *context.seed_key, "pair"), dtype=pl.UInt64))
    ordered = hashed.sort("shard", "sent", "_hash", "index").drop("_hash")
    return ordered.unique(["shard", "sent"], keep="first", maintain_order=True)


def without_telling_swaps(pairs: pl.DataFrame, counts: HashCounts, drops: Drops, context: Context) -> pl.DataFrame:
    """One pair of each sentence, or none, so that what a model sees without grammar does not tell the label.

    No two words are swapped twice, and few swaps put the same two words side by side: a model would memorise them
    (Chinese *一個*; Spanish *la de*: 21 of 474). Then neither the frequency of bigrams nor a rule on n-grams of
    characters or bigrams of words finds the swap in many more than half of the pairs (``TOLERANCE``).

    Args:
        pairs: several of each sentence.
        counts: of the bigrams of the corpora.
        drops: get the sentences that are lost.
        context: seed key.
    """

    def keep(before: pl.DataFrame, after: pl.DataFrame, reason: str) -> pl.DataFrame:
        return drops.keep(before, after, reason, n=before["key"].n_unique() - after["key"].n_unique())

    place = hashing.combine(pairs["key"].to_numpy(), pairs["index"].cast(pl.UInt64).to_numpy())
    hashed = pairs.with_columns(_hash=pl.Series(hashing.mix(place, *context.seed_key, "pair"), dtype=pl.UInt64))
    ordered = hashed.sort("_hash", "key", "index").drop("_hash")
    rows = keep(pairs, ordered.unique("swapped", keep="first", maintain_order=True), "same-words-swapped")
    rows = keep(rows, _varied(rows, counts, context), "same-neighbours")
    return keep(rows, _balanced(rows, counts, context) if rows.height else rows, "ngrams-tell")


def _varied(rows: pl.DataFrame, counts: HashCounts, context: Context) -> pl.DataFrame:
    """The swaps without those, in hash order, that make the same two words adjacent too often (``ALIKE``).

    How often the originals have these bigrams is estimated from the counts of the corpora.
    """
    bigrams = rows.select(pl.int_range(pl.len()).alias("n"), "key", bigram="shifted_bigrams").explode("bigram")
    n_sentences = rows["key"].n_unique()
    usual = pl.Series("usual", counts.of(bigrams["bigram"].to_numpy()) * n_sentences / max(1, counts.sentences))
    few = max(FEW_ALIKE, int(ALIKE * n_sentences))
    ranked = with_rank(bigrams.with_columns(usual), ["bigram"], "neighbours", *context.seed_key)
    often = ranked.filter(pl.col("rank") > pl.max_horizontal("usual", pl.lit(few)))
    return rows[np.setdiff1d(np.arange(rows.height), often["n"].to_numpy())]


def _balanced(rows: pl.DataFrame, counts: HashCounts, context: Context) -> pl.DataFrame:
    """One pair of each sentence, or none, chosen so that rules on bigrams and n-grams do about as well as chance.

    In each round rules are learned from the rows that the last one left: the log-odds that an n-gram of characters, or
    a bigram of words, is made and not removed by a swap. Rows that rules recognise are replaced by other pairs of their
    sentences, or removed.
    """
    changes = (_ngrams_made(rows), _bigrams_made(rows))
    fold_of = np.unique(rows["key"].to_numpy())
    folds = hashing.mix(fold_of, "fold", *context.seed_key)[np.searchsorted(fold_of, rows["key"].to_numpy())] % FOLDS
    gains, numbered = [_likelier(rows, counts)], rows.with_columns(_at=pl.int_range(pl.len()))
    balanced = _level(numbered, gains, context)
    for _ in range(ROUNDS):
        at = balanced["_at"].to_numpy()
        for units in changes:
            scores = np.zeros(rows.height)
            for fold in range(FOLDS):
                learned = units[at[folds[at] != fold]]
                more, fewer = (np.asarray(signed.sum(axis=0)).ravel() for signed in (learned > 0, learned < 0))
                odds = np.rint(FINE * (np.log1p(more) - np.log1p(fewer)))  # whole numbers, whose sums are exact
                scores[folds == fold] = units[folds == fold] @ odds
            graded = np.clip(scores / (scores.std() or 1.0), -CLIPPED, CLIPPED)
            gains += [np.sign(scores), np.round(8 * graded) / 8]
        balanced = _level(numbered, gains, context)
    return balanced.drop("_at")


def _level(rows: pl.DataFrame, gains: list[npt.NDArray[np.float64]], context: Context) -> pl.DataFrame:
    """``remove_bias`` of each split, until no rule gains more than ``TOLERANCE``; ``_at`` numbers the rows."""
    of_rows = np.stack(gains, axis=1)
    return pl.concat([
        remove_bias(
            of_split, of_rows[of_split["_at"].to_numpy()], *context.seed_key, few=FEW,
            slack=max(TOLERANCE * of_split["key"].n_unique(), 0.5),
        )
        for of_split in rows.partition_by("split", maintain_order=True)
    ])  # fmt: skip


def _ngrams_made(rows: pl.DataFrame) -> "csr_array":
    """How often the swap of each row makes an n-gram of characters; negative where it removes some."""
    from sklearn.feature_extraction.text import HashingVectorizer  # noqa: PLC0415 (1.8 s, which only swaps need)

    hashed = HashingVectorizer(
        analyzer="char", ngram_range=(1, NGRAM), lowercase=False, norm=None, alternate_sign=False, n_features=2**18
    )
    shifted, original = (hashed.transform(rows[name].to_list()) for name in ("shifted_seam", "seam"))
    return (shifted - original).tocsr()


def _bigrams_made(rows: pl.DataFrame) -> "csr_array":
    """The same for bigrams of words."""
    listed = rows.select(made=pl.concat_list("shifted_bigrams", "original_bigrams")).explode("made")["made"].to_numpy()
    _, column = np.unique(listed, return_inverse=True)
    values = np.tile(np.repeat([1.0, -1.0], BIGRAMS), rows.height)
    return scipy.sparse.csr_array(
        (values, column, np.arange(0, len(column) + 1, 2 * BIGRAMS)), shape=(rows.height, column.max() + 1)
    )


def _likelier(rows: pl.DataFrame, counts: HashCounts) -> npt.NDArray[np.float64]:
    """The sign of how much more frequent, elsewhere in the corpora, the bigrams of the original are: 1, 0 or -1."""
    sums = []
    for column, in_row in (("original_bigrams", 1), ("shifted_bigrams", 0)):
        elsewhere = np.maximum(counts.of(rows[column].explode().to_numpy()) - in_row, 0)
        sums.append(np.rint(FINE * np.log1p(elsewhere)).reshape(-1, BIGRAMS).sum(axis=1))
    return np.asarray(np.sign(sums[0] - sums[1]))


def swap_task(usable: pl.Expr | None = None, *, version: int = 5) -> ProbingTask:
    """A task that asks whether two adjacent words inside a sentence were swapped.

    Args:
        usable: which of the pairs that ``adjacent_words`` returns may be swapped; all if None.
        version: raised when the rows of the task change.
    """
    return ProbingTask(
        labels=("original", "shifted"), select=functools.partial(_select_pairs, usable=usable), sample=_sample_pairs,
        edit=swap, pairs=True, needs=frozenset({"upos", "deps"}), reasons=REASONS, version=version,
    )  # fmt: skip


def _select_pairs(trees: Trees, context: Context, *, usable: pl.Expr | None) -> pl.DataFrame:
    """The usable pairs, several per sentence; the first of each sentence has its ``neighbours`` and ``bigrams``."""
    pairs = adjacent_words(trees, context).filter("inside", *([] if usable is None else [usable]))
    for of_sentences in (neighbours, sentence_bigrams, word_bags):
        pairs = pairs.join(trees.once(of_sentences), on="sent", how="left", maintain_order="left")
    pairs = pairs.join(trees.shard.sentences.select("sent", "text"), on="sent", how="left", maintain_order="left")
    a_start, a_end, b_start, b_end = (
        pl.col("plan").struct.field(name).cast(pl.Int64) for name in ("a_start", "a_end", "b_start", "b_end")
    )
    text, around = pl.col("text"), NGRAM - 1
    before = text.str.slice(pl.max_horizontal(a_start - around, 0), pl.min_horizontal(a_start, around))
    first, between = text.str.slice(a_start, a_end - a_start), text.str.slice(a_end, b_start - a_end)
    second, after = text.str.slice(b_start, b_end - b_start), text.str.slice(b_end, around)
    is_first = pl.col("sent").is_first_distinct()
    return pairs.select(
        "sent", "index", "swapped", "original_bigrams", "shifted_bigrams", "contacts", "plan", "bag",
        pl.when(is_first).then(pl.col("neighbours", "bigrams")), label=pl.lit(context.labels[0]),
        seam=pl.concat_str(before, first, between, second, after),
        shifted_seam=pl.concat_str(before, second, between, first, after),
    )  # fmt: skip


def _sample_pairs(frame: pl.DataFrame, context: Context) -> Sample:
    """Originals and swaps, one pair of words per sentence, whose other order is impossible."""
    sentences, drops = usable_of(frame.unique(["shard", "sent"], keep="first", maintain_order=True), context)
    pairs = frame.filter(pl.Series(impossible(frame, HashCounts(frame["neighbours"]))))
    pairs = pairs.join(sentences.select("key"), on="key", how="semi", maintain_order="left")
    drops.keep(sentences, pairs, "free-order", n=sentences.height - pairs["key"].n_unique())
    chosen = (
        without_telling_swaps(pairs, HashCounts(frame["bigrams"]), drops, context)
        if context.settings.match
        else one_of_each(pairs, context)
    )
    sample = original_and_edited(chosen, context, drops)
    return replace(sample, candidates=2 * frame.select("shard", "sent").n_unique())


def swap(text: str, plan: Mapping[str, Any]) -> Edit:
    """The two words exchanged; what stands between them stays, and so do their letters."""
    first, second = text[plan["a_start"] : plan["a_end"]], text[plan["b_start"] : plan["b_end"]]
    between = text[plan["a_end"] : plan["b_start"]]
    return Edit(plan["a_start"], plan["b_end"], second + between + first)
