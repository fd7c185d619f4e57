"""Exchanging two adjacent words of a sentence whose order is fixed: by the corpora, or by the data of the language.

``adjacent_words`` are the pairs that can be exchanged, ``fixed_orders`` and ``in_patterns`` say whose order is fixed,
``without_frequent_pairs`` balances what would tell the label, and ``swap_task`` makes a task of them.

Each word keeps its own letters, so names, acronyms and German nouns keep their capitals. Nothing is swapped where a
capital belongs to the position and not to the word: at the beginning of the sentence and after punctuation (a
quotation, a colon). In X-Probe a lower-case first token before a capitalised second one gives away 6-10 % of the
shifted sentences.

Where order is free, a swap is often as good as the original. Without a rule, a reader accepted 13 of 30 Russian swaps
and 5 of 30 Spanish ones; of pairs whose order the corpora fix, 16 of 152 in Russian, Polish, Czech, Finnish, Hungarian
and Latin, and none of 22 in ten languages.
"""

import functools
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Annotated, Any, ClassVar

import msgspec
import numpy as np
import numpy.typing as npt
import polars as pl

from discoprobe.builders.edits.versions import HashCounts, original_and_edited, word_bags
from discoprobe.builders.sampling.balance import first_of_each, remove_bias, with_rank
from discoprobe.builders.sentences.candidates import usable_of
from discoprobe.builders.sentences.trees import Trees
from discoprobe.builders.task import Context, Edit, ProbingTask, Sample, always_available
from discoprobe.loaders import hashing
from discoprobe.loaders.languages.language import UPOS, LanguageData, LanguageSection, Upos, check_small_letters


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


def adjacent_words(trees: Trees, context: Context) -> pl.DataFrame:
    """Pairs of adjacent words of which one depends on the other and which can be exchanged.

    Left out are punctuation, symbols, parts of multiword tokens and words that touch another (*l'homme*, *dit-il*; in a
    script without spaces all words touch), the first word of the sentence, words whose capital may be their position's,
    equal words, and a swap that would bring two equal words together or two that the language writes otherwise when
    they meet (French *de* before a vowel, *de le*; English *a* and *an*).

    Returns:
        ``sent``, ``index`` (of the left word), the UPOS and lemma of both (``left_upos`` …), ``inside`` (words, not
        punctuation, stand before and after the two), ``order`` (their kinds and which is first), ``swapped`` (the
        two in the other order, in lower case), ``original_bigrams`` and ``shifted_bigrams`` (hashes of the three
        bigrams with these words, before and after the swap) and ``plan``: their places in the text.
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
    pairs = trees.once(_related_words).filter(
        *movable,
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
    return pairs.select(
        "sent", "index", left_upos="upos", right_upos="next_upos", left_lemma="lemma", right_lemma="next_lemma",
        inside=inside.fill_null(value=False), order=_order(pl.col("head") == pl.col("next_index")),
        swapped=pl.concat_str("next_small", "small", separator=" "),
        original_bigrams=_bigrams("before_small", "small", "next_small", "after_small"),
        shifted_bigrams=_bigrams("before_small", "next_small", "small", "after_small"),
        plan=pl.struct(a_start="start", a_end="end", b_start="next_start", b_end="next_end"),
    )  # fmt: skip


ENDINGS = ("AUX", "SCONJ", "PART")
"""Parts of speech of endings that a script without spaces does not set apart: Japanese 食べ|た, 食べ|て."""


def without_endings(pairs: pl.DataFrame, trees: Trees, _context: Context) -> pl.DataFrame:
    """The pairs in which neither word is an ending that a script without spaces does not set apart."""
    ending = pl.any_horizontal(pl.col("left_upos", "right_upos").is_in(ENDINGS))
    return pairs if trees.spaced else pairs.filter(~ending)


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


def _with_neighbours(trees: Trees) -> pl.DataFrame:
    """The words that have a place in the text, each with the next one, and what stands around the two.

    ``small`` is the word in lower case. ``next_…`` may be of the next sentence; ``before_…`` and ``after_…`` are null
    beyond the ends of the sentence.
    """
    words = trees.words.filter(pl.col("start").is_not_null()).with_columns(
        pl.col("upos").cast(pl.String), small=pl.col("form").str.to_lowercase(),
        opening=(pl.col("upos") != "PUNCT").cum_sum().over("sent") <= 1,
    )  # fmt: skip
    around = {"before_": (1, ("upos", "end", "small")), "after_": (-2, ("upos", "start", "small"))}
    return words.with_columns(
        pl.all().shift(-1).name.prefix("next_"),
        **{
            f"{side}{name}": pl.when(pl.col("sent") == pl.col("sent").shift(n)).then(pl.col(name).shift(n))
            for side, (n, names) in around.items()
            for name in names
        },
    )


def _related_words(trees: Trees) -> pl.DataFrame:
    """The words of which the next one of the sentence depends on them, or they on it.

    Two names are not related: the first of them is the head by definition, and neither need be first (*В. И. Гёте*).
    """
    adjacent = (pl.col("sent") == pl.col("next_sent")) & (pl.col("index") + 1 == pl.col("next_index"))
    names = (pl.col("upos") == "PROPN") & (pl.col("next_upos") == "PROPN") & (pl.col("next_rel") == "flat")
    related = (pl.col("head") == pl.col("next_index")) | (pl.col("next_head") == pl.col("index"))
    return trees.once(_with_neighbours).filter(adjacent & ~names & related)


def _order(dependent_first: pl.Expr) -> pl.Expr:
    """What two adjacent words are, and which comes first: `<` where the dependent does, else `>`."""
    first = pl.concat_str("upos", "deprel", "next_upos", separator=" ")
    second = pl.concat_str("next_upos", "next_deprel", "upos", separator=" ")
    return pl.when(dependent_first).then(pl.lit("<") + first).otherwise(pl.lit(">") + second)


def orders(trees: Trees) -> pl.DataFrame:
    """``sent`` and ``orders``: the order of every two adjacent words of which one depends on the other."""
    pairs = trees.once(_related_words).select("sent", orders=_order(pl.col("head") == pl.col("next_index")))
    return pairs.group_by("sent", maintain_order=True).agg("orders")


def causes_elision(word: pl.Expr) -> pl.Expr:
    """Whether a word in lower case begins with a vowel or *h*, before which another may lose its own vowel."""
    return word.str.normalize("NFD").str.replace_all(r"\p{M}", "").str.contains(r"^[haeiouyœæ]")


KNOWN = 50
"""Occurrences from which on the order of two kinds of words is known."""

FREE = 0.02
"""Share of occurrences in the other order from which on the language does not fix the order."""

UposPair = Annotated[str, msgspec.Meta(pattern=f"^({'|'.join(UPOS)}) ({'|'.join(UPOS)})$")]


class NgramShiftRules(LanguageSection, frozen=True):
    """The section ``[ngram_shift]``: pairs of words whose swap is ungrammatical in nearly all contexts.

    Attributes:
        patterns: two parts of speech in the order of the text (``ADP NOUN``).
        lemmas: narrows a part of speech, in whichever pair it stands, to some lemmas (Russian PART: *не* alone).
    """

    section: ClassVar[str] = "ngram_shift"
    patterns: tuple[UposPair, ...] = ()
    lemmas: dict[Upos, frozenset[str]] = msgspec.field(default_factory=dict)


def fixed_orders(orders: pl.Series) -> pl.Series:
    """The orders that occur often enough to be known, and hardly ever the other way round.

    Args:
        orders: the order of every pair of adjacent words of a corpus.
    """
    counts = orders.drop_nulls().value_counts(name="n").rename({orders.name: "order"})
    reverse = pl.col("order").str.replace_many(["<", ">"], [">", "<"])
    both = (
        counts.with_columns(other=reverse)
        .join(counts.select(other="order", n_other="n"), on="other", how="left")
        .with_columns(pl.col("n_other").fill_null(0))
    )
    share = pl.col("n_other") / (pl.col("n") + pl.col("n_other"))
    return both.filter(pl.col("n") >= KNOWN, share < FREE).sort("order")["order"]


def no_patterns(language: LanguageData) -> str:
    """Why a language has no pairs of words with a fixed order; empty where patterns are listed."""
    listed = language.section(NgramShiftRules).patterns
    return "" if listed else "no pairs of words with a fixed order are listed for this language"


def in_patterns(pairs: pl.DataFrame, _trees: Trees, context: Context) -> pl.DataFrame:
    """The pairs inside a phrase that match a pattern of the language, with lemmas that its parts of speech may have."""
    rule = context.language.section(NgramShiftRules)
    return pairs.filter(
        pl.concat_str("left_upos", "right_upos", separator=" ").is_in(rule.patterns),
        *(
            (pl.col(f"{side}_upos") != upos)
            | pl.col(f"{side}_lemma").str.to_lowercase().is_in(sorted(lemmas)).fill_null(value=False)
            for side in ("left", "right")
            for upos, lemmas in rule.lemmas.items()
        ),
    )


REASONS = {
    "same-words-swapped": "another candidate swaps the same words",
    "same-neighbours": "the swap puts two words side by side as other swaps do (`la de`)",
    "bigrams-tell": "the bigrams of the original are more frequent than those of the swap; no other pair offsets it",
    "free-order": "no two neighbours of the sentence have a fixed order",
}
"""Why pairs of words are not swapped."""

SHOWN_BY_WORDS = "where order is fixed, the words beside a function word show it: this is what the task asks about"
"""Why checks of the audit that go by single words do not apply."""

BIGRAMS = 3
"""Bigrams in which the two words stand."""

ALIKE, FEW_ALIKE = 0.005, 2
"""At most this share of the swaps of a block makes the same two words adjacent (or as many swaps as originals have this
bigram, if that is more); and a number of such swaps that is always allowed."""

ROUNDS = 2
"""Rounds of filtering: balancing by frequency keeps more swaps with frequent bigrams, which then recur too often."""

FEW = 4
"""Pairs that ``remove_bias`` keeps in every split."""


def one_of_each(pairs: pl.DataFrame, context: Context) -> pl.DataFrame:
    """One of the pairs of each sentence (``shard``, ``sent``, ``key``), chosen by hash."""
    place = hashing.combine(pairs["key"].to_numpy(), pairs["index"].cast(pl.UInt64).to_numpy())
    hashed = pairs.with_columns(_hash=pl.Series(hashing.mix(place, *context.seed_key, "pair"), dtype=pl.UInt64))
    ordered = hashed.sort("shard", "sent", "_hash", "index").drop("_hash")
    return ordered.unique(["shard", "sent"], keep="first", maintain_order=True)


def without_frequent_pairs(frame: pl.DataFrame, counts: HashCounts, context: Context) -> Sample:
    """Originals and swaps; no two words are swapped twice, and frequencies of bigrams do not predict the label.

    A model would memorise a pair of frequent words that is swapped again and again (Chinese *一個*), and two words that
    swaps make adjacent again and again (Spanish *la de*: 21 of 474).

    Args:
        frame: candidates, one of each sentence.
        counts: of the bigrams of the corpora.
        context: seed key and settings.
    """
    rows, drops = usable_of(frame, context)
    if context.settings.match:
        single = first_of_each(rows, ["swapped"], "one of a pair", *context.seed_key)
        rows = drops.keep(rows, single, "same-words-swapped")
        for _ in range(ROUNDS):
            varied = drops.keep(rows, _varied(rows, counts, context), "same-neighbours")
            balanced = remove_bias(varied, _likelier(varied, counts)[:, None], *context.seed_key, few=FEW)
            rows = drops.keep(varied, balanced, "bigrams-tell")
    return original_and_edited(rows, context, drops)


def _varied(rows: pl.DataFrame, counts: HashCounts, context: Context) -> pl.DataFrame:
    """The swaps without those, in hash order, that make the same two words adjacent too often (``ALIKE``).

    How often the originals have these bigrams is estimated from the counts of the corpora.
    """
    bigrams = rows.select("key", bigram="shifted_bigrams").explode("bigram")
    usual = pl.Series("usual", counts.of(bigrams["bigram"].to_numpy()) * rows.height / max(1, counts.sentences))
    few = max(FEW_ALIKE, int(ALIKE * rows.height))
    ranked = with_rank(bigrams.with_columns(usual), ["bigram"], "neighbours", *context.seed_key)
    often = ranked.filter(pl.col("rank") > pl.max_horizontal("usual", pl.lit(few)))
    return rows.join(often, on="key", how="anti", maintain_order="left")


def _likelier(rows: pl.DataFrame, counts: HashCounts) -> npt.NDArray[np.float64]:
    """The sign of how much more frequent, elsewhere in the corpora, the bigrams of the original are: 1, 0 or -1."""
    sums = []
    for column, in_row in (("original_bigrams", 1), ("shifted_bigrams", 0)):
        elsewhere = np.maximum(counts.of(rows[column].explode().to_numpy()) - in_row, 0)
        sums.append(np.log1p(elsewhere).reshape(-1, BIGRAMS).sum(axis=1))
    return np.asarray(np.sign(sums[0] - sums[1]))


def swap_task(
    usable: Callable[[pl.DataFrame, Trees, Context], pl.DataFrame],
    lacks: Callable[[LanguageData], str] = always_available,
    *,
    fixed: bool = False,
    version: int = 3,
) -> ProbingTask:
    """A task that asks whether two adjacent words inside a sentence were swapped.

    Args:
        usable: which of the pairs that ``adjacent_words`` returns may be swapped.
        lacks: why the task is not available in a language; an empty string where it is.
        fixed: whether only pairs are swapped whose order the corpora show to be fixed.
        version: raised when the rows of the task change.
    """
    return ProbingTask(
        labels=("original", "shifted"), select=functools.partial(_select_pairs, usable=usable),
        sample=functools.partial(_sample_pairs, fixed=fixed), edit=swap, pairs=True, lacks=lacks,
        needs=frozenset({"upos", "deps"}), reasons=REASONS, exempt={"pairwise": SHOWN_BY_WORDS}, version=version,
    )  # fmt: skip


def _select_pairs(
    trees: Trees, context: Context, *, usable: Callable[[pl.DataFrame, Trees, Context], pl.DataFrame]
) -> pl.DataFrame:
    """The usable pairs, several per sentence; the first of each sentence has its ``orders`` and ``bigrams``."""
    pairs = usable(adjacent_words(trees, context).filter("inside"), trees, context)
    for of_sentences in (orders, sentence_bigrams, word_bags):
        pairs = pairs.join(trees.once(of_sentences), on="sent", how="left", maintain_order="left")
    first = pl.col("sent").is_first_distinct()
    return pairs.select(
        "sent", "index", "order", "swapped", "original_bigrams", "shifted_bigrams", "plan", "bag",
        pl.when(first).then(pl.col("orders", "bigrams")), label=pl.lit(context.labels[0]),
    )  # fmt: skip


def _sample_pairs(frame: pl.DataFrame, context: Context, *, fixed: bool) -> Sample:
    """Originals and swaps, one pair of words per sentence; with ``fixed`` only pairs of a fixed order."""
    some = frame.filter(pl.col("order").is_in(fixed_orders(frame["orders"].explode()).implode())) if fixed else frame
    chosen, sentences = one_of_each(some, context), frame.select("shard", "sent").n_unique()
    made = without_frequent_pairs(chosen, HashCounts(frame["bigrams"]), context)
    made.drops.keep(frame, chosen, "free-order", n=sentences - chosen.height)
    return replace(made, candidates=sentences * 2)


def swap(text: str, plan: Mapping[str, Any]) -> Edit:
    """The two words exchanged; what stands between them stays, and so do their letters."""
    first, second = text[plan["a_start"] : plan["a_end"]], text[plan["b_start"] : plan["b_end"]]
    between = text[plan["a_end"] : plan["b_start"]]
    return Edit(plan["a_start"], plan["b_end"], second + between + first)
