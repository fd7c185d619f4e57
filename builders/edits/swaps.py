"""Exchanging two adjacent words of a sentence, so that a function word stands where the language never has it.

``adjacent_words`` are the pairs that can be exchanged, ``neighbours`` is what the corpora show of function words and
the words beside them, ``impossible`` says which swaps no order of the language allows, ``varied`` spreads them over
words, and ``swap_task`` makes a task of them. N-grams may tell the label: whether an order is improbable is what the
task asks.

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
from typing import Annotated, Any, ClassVar

import msgspec
import numpy as np
import numpy.typing as npt
import polars as pl
import scipy
from msgspec.structs import replace

from discoprobe.builders.edits.versions import HashCounts, counts_of, original_and_edited, word_bags
from discoprobe.builders.sampling.balance import REPEATED
from discoprobe.builders.sentences.candidates import usable_of
from discoprobe.builders.sentences.trees import Trees, has
from discoprobe.builders.task import Context, Edit, ProbingTask, Sample
from discoprobe.loaders import hashing
from discoprobe.loaders.hashing import hashed
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
        function word with its new neighbours), ``wording`` (hash of the two words), ``meeting`` (of the words that the
        swap puts beside each of them) and ``plan``: their places in the text.
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
        wording=hashed(pl.concat_str(form, after, separator="\t")),
        meeting=pl.concat_list(hashed(pl.concat_str(*words, separator="\t")) for words in (meeting[0], meeting[2])),
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
        return counts(these.ravel()).reshape(these.shape).astype(np.float64)

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
    "repeated": f"{REPEATED} other sentences have the same words swapped",
    "same-neighbours": "as many other swaps as are allowed put the same two words side by side (`la de`)",
}
"""Why pairs of words are not swapped."""

IS_THE_TASK = "that an order of words is improbable is what the task asks; trigrams of other text are its floor"
TOLD_BY_ORDER = ("token", "chars", "words", "edges", "frequency", "differences")
"""Checks that read n-grams; where words are not separated, tokens and their frequencies are those of two characters."""

ALIKE, FEW_ALIKE = 0.01, 2
"""At most this share of the sentences has a swap that puts the same two words side by side; and a number of such swaps
that is always allowed."""


def one_of_each(pairs: pl.DataFrame, context: Context) -> pl.DataFrame:
    """One of the pairs of each sentence (``shard``, ``sent``, ``key``), chosen by hash."""
    place = hashing.combine(pairs["key"].to_numpy(), pairs["index"].cast(pl.UInt64).to_numpy())
    hashed = pairs.with_columns(_hash=pl.Series(hashing.mix(place, *context.seed_key, "pair"), dtype=pl.UInt64))
    ordered = hashed.sort("shard", "sent", "_hash", "index").drop("_hash")
    return ordered.unique(["shard", "sent"], keep="first", maintain_order=True)


def varied(pairs: pl.DataFrame, context: Context) -> pl.DataFrame:
    """The pairs without those that would repeat a swap: a model would memorise it (Chinese *一個*; Spanish *la de*).

    The same two words are swapped in at most ``REPEATED`` sentences of a config, even if it is built from several
    blocks. At most ``ALIKE`` of the sentences (of a block) have a swap that puts the same two words side by side. Hash
    order decides which of them stay.

    Args:
        pairs: several of each sentence: ``key`` (of the sentence), ``index``, ``wording`` and ``meeting``.
        context: seed key and settings; sentences that have no other pair are lost.
    """
    few = max(FEW_ALIKE, int(ALIKE * pairs["key"].n_unique()))
    place = hashing.combine(pairs["key"].to_numpy(), pairs["index"].cast(pl.UInt64).to_numpy())
    ordered = pairs[hashing.ranking(place, "pair", *context.seed_key)]
    rows = ordered.filter(pl.col("wording").cum_count().over("wording") <= REPEATED)
    kept = _keep_sentences(context, pairs, rows, "repeated")
    listed = kept.select("key", "index", "meeting").explode("meeting")
    often = listed.filter(pl.col("meeting").cum_count().over("meeting") > few)
    return _keep_sentences(context, kept, kept.join(often, on=["key", "index"], how="anti", maintain_order="left"),
        "same-neighbours")  # fmt: skip


def _keep_sentences(context: Context, before: pl.DataFrame, after: pl.DataFrame, reason: str) -> pl.DataFrame:
    """The pairs that a step leaves; the sentences of which it leaves none are counted."""
    return context.drops.keep(before, after, reason, n=before["key"].n_unique() - after["key"].n_unique())


def swap_task(usable: pl.Expr | None = None, *, version: int = 7) -> ProbingTask:
    """A task that asks whether two adjacent words inside a sentence were swapped.

    Args:
        usable: which of the pairs that ``adjacent_words`` returns may be swapped; all if None.
        version: raised when the rows of the task change.
    """
    return ProbingTask(
        labels=("original", "shifted"), select=functools.partial(_select_pairs, usable=usable), sample=_sample_pairs,
        edit=swap, pairs=True, needs=frozenset({"upos", "deps"}), reasons=REASONS,
        exempt=dict.fromkeys(TOLD_BY_ORDER, IS_THE_TASK), version=version,
    )  # fmt: skip


def _select_pairs(trees: Trees, context: Context, *, usable: pl.Expr | None) -> pl.DataFrame:
    """The usable pairs, several per sentence; the first of each sentence has its ``neighbours``."""
    pairs = adjacent_words(trees, context).filter("inside", *([] if usable is None else [usable]))
    for of_sentences in (neighbours, word_bags):
        pairs = pairs.join(trees.once(of_sentences), on="sent", how="left", maintain_order="left")
    return pairs.select(
        "sent", "index", "contacts", "wording", "meeting", "plan", "bag",
        neighbours=pl.when(pl.col("sent").is_first_distinct()).then("neighbours"), label=pl.lit(context.labels[0]),
    )  # fmt: skip


def _sample_pairs(frame: pl.DataFrame, context: Context) -> Sample:
    """Originals and swaps, one pair of words per sentence, whose other order is impossible."""
    sentences = usable_of(frame.unique(["shard", "sent"], keep="first", maintain_order=True), context)
    possible = frame.join(sentences.select("key"), on="key", how="semi", maintain_order="left")
    pairs = possible.filter(pl.Series(impossible(possible, counts_of(frame["neighbours"]))))
    _keep_sentences(context, possible, pairs, "free-order")
    # without `wording`, blocks do not compare their swaps either
    pairs = varied(pairs, context) if context.settings.match else pairs.drop("wording")
    sample = original_and_edited(one_of_each(pairs, context), context)
    return replace(sample, candidates=2 * frame.select("shard", "sent").n_unique())


def swap(text: str, plan: Mapping[str, Any]) -> Edit:
    """The two words exchanged; what stands between them stays, and so do their letters."""
    first, second = text[plan["a_start"] : plan["a_end"]], text[plan["b_start"] : plan["b_end"]]
    between = text[plan["a_end"] : plan["b_start"]]
    return Edit(plan["a_start"], plan["b_end"], second + between + first)
