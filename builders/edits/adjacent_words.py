"""Pairs of adjacent words that can be exchanged, and what tells whether their order is fixed.

Nothing is swapped where a capital belongs to the position and not to the word: at the beginning of the sentence and
after punctuation (a quotation, a colon). In X-Probe a lower-case first token before a capitalised second one gives away
6-10 % of the shifted sentences.
"""

from itertools import pairwise
from typing import Annotated, ClassVar

import msgspec
import polars as pl

from discoprobe.builders.sentences.trees import Trees
from discoprobe.builders.task import Context
from discoprobe.loaders.languages.language import LanguageSection, check_small_letters


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
    pairs = trees.once(_related_words).filter(
        *(_movable(side) for side in ("", "next_")),
        ~pl.col("opening"),
        ~(_capital(pl.col("form")) & (pl.col("before_upos") == "PUNCT")),
        _apart() if trees.spaced else _differ_joined(),
        *(
            _unequal(one, other)
            for one, other in (("small", "next_small"), ("small", "after_small"), ("before_small", "next_small"))
        ),
        ~_contact(rule),
    )
    return pairs.select(
        "sent", "index", left_upos="upos", right_upos="next_upos", left_lemma="lemma", right_lemma="next_lemma",
        inside=_inside(), order=_order(pl.col("head") == pl.col("next_index")),
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
    return pl.concat_list([_bigram(pl.col(left), pl.col(right)) for left, right in pairwise(words)])


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
    """The words of which the next one depends on them, or they on it."""
    return trees.once(_with_neighbours).filter(_related())


def _related() -> pl.Expr:
    """Whether a word and the next one stand in one sentence and one depends on the other.

    Two names are not related: the first of them is the head by definition, and neither need be first (*В. И. Гёте*).
    """
    adjacent = (pl.col("sent") == pl.col("next_sent")) & (pl.col("index") + 1 == pl.col("next_index"))
    names = (pl.col("upos") == "PROPN") & (pl.col("next_upos") == "PROPN") & (pl.col("next_rel") == "flat")
    return adjacent & ~names & ((pl.col("head") == pl.col("next_index")) | (pl.col("next_head") == pl.col("index")))


def _order(dependent_first: pl.Expr) -> pl.Expr:
    """What two adjacent words are, and which comes first: `<` where the dependent does, else `>`."""
    first = pl.concat_str("upos", "deprel", "next_upos", separator=" ")
    second = pl.concat_str("next_upos", "next_deprel", "upos", separator=" ")
    return pl.when(dependent_first).then(pl.lit("<") + first).otherwise(pl.lit(">") + second)


def orders(trees: Trees) -> pl.DataFrame:
    """``sent`` and ``orders``: the order of every two adjacent words of which one depends on the other."""
    found = trees.once(_related_words).select("sent", orders=_order(pl.col("head") == pl.col("next_index")))
    return found.group_by("sent", maintain_order=True).agg("orders")


def _movable(side: str) -> pl.Expr:
    """Whether a word is one that a swap may move: a word of letters or digits, not part of a multiword token."""
    spoken = ~pl.col(f"{side}upos").is_in(["PUNCT", "SYM", "X"]) & pl.col(f"{side}form").str.contains(r"[\p{L}\p{N}]")
    return spoken & pl.col(f"{side}mwt").is_null()


def _unequal(one: str, other: str) -> pl.Expr:
    return (pl.col(one) != pl.col(other)).fill_null(value=True)


def _contact(rule: SwapRules) -> pl.Expr:
    """Whether the swap makes words adjacent that are then written differently, or changes what follows *a* or *an*."""
    form, after, before, following = (pl.col(f"{side}small") for side in ("", "next_", "before_", "after_"))
    meeting = ((before, after), (after, form), (form, following))
    found = [pl.lit(value=False)]
    if rule.elides:
        found += [one.is_in(sorted(rule.elides)) & causes_elision(other) for one, other in meeting]
    if rule.contracts:
        found += [pl.concat_str(one, other, separator=" ").is_in(rule.contracts) for one, other in meeting]
    if rule.sounds:
        found += [word.is_in(sorted(rule.sounds)) for word in (before, form, after)]
    return pl.any_horizontal(expr.fill_null(value=False) for expr in found)


def causes_elision(word: pl.Expr) -> pl.Expr:
    """Whether a word in lower case begins with a vowel or *h*, before which another may lose its own vowel."""
    return _plain(word).str.contains(r"^[haeiouyœæ]")


def _plain(word: pl.Expr) -> pl.Expr:
    """The word without its accents."""
    return word.str.normalize("NFD").str.replace_all(r"\p{M}", "")


def _capital(word: pl.Expr) -> pl.Expr:
    return word.str.contains(r"^\p{Lu}")


def _apart() -> pl.Expr:
    """Whether white space or punctuation surrounds each of the two words, and a space stands between them."""
    left = (pl.col("before_end") < pl.col("start")) | (pl.col("before_upos") == "PUNCT")
    right = (pl.col("after_start") > pl.col("next_end")) | (pl.col("after_upos") == "PUNCT")
    return left & right.fill_null(value=True) & (pl.col("end") < pl.col("next_start"))


def _inside() -> pl.Expr:
    """Whether words, not punctuation, stand before and after the two.

    An article before a full stop shows that it was moved: with such pairs, character n-grams inside words reach .52 to
    .61, without them .50.
    """
    return ((pl.col("before_upos") != "PUNCT") & (pl.col("after_upos") != "PUNCT")).fill_null(value=False)


def _differ_joined() -> pl.Expr:
    """Whether two words without a space between them make another string in the other order (A + AA does not)."""
    return pl.concat_str("form", "next_form") != pl.concat_str("next_form", "form")
