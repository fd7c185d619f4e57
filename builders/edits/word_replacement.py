"""A verb of a sentence replaced by a similar one of another sentence, which does not fit.

``replaceable_words`` finds the verbs. ``original_and_replaced`` exchanges them in rings, so that every word is inserted
as often as it is removed. ``Misfits`` are verbs that the corpora never show in a frame: evidence that they do not fit
there. A reader found that random words of the same class fit in 27 % of 210 sentences in five languages, and words with
this evidence in seven of 96, in eight languages, and in ten of 90 (English and Spanish).
"""

import numpy as np
import numpy.typing as npt
import polars as pl

from discoprobe.builders.edits.versions import Fits, HashCounts, Ints, counts_of, exchange_words, in_two_versions
from discoprobe.builders.sentences.candidates import if_enough, usable_of
from discoprobe.builders.sentences.clauses import FRAMES, with_frames
from discoprobe.builders.sentences.trees import Trees, with_dependents
from discoprobe.builders.settings import SPLITS
from discoprobe.builders.task import Context, Sample
from discoprobe.loaders import hashing
from discoprobe.loaders.hashing import hashed

Misfits = tuple[npt.NDArray[np.bool_], Ints, Ints]
"""Which verbs the corpora never show in which frame: truth values by lemma and frame, and of each candidate the place
of its lemma and of its frame among these."""


def misfits_of(usable: pl.DataFrame, counts: HashCounts) -> Misfits:
    """Which candidates do not fit in whose place.

    A verb does not fit beside an object or a clause if the corpora show what it governs, and never that; nor beside
    neither, if they show it with an object, and never with neither.

    Args:
        usable: candidates with the hashes ``known`` (of the lemma) and ``role`` (of the frame).
        counts: of lemmas, and of lemmas in frames, in the corpora.
    """
    words, lemmas = np.unique(usable["known"].to_numpy(), return_inverse=True)
    frames, roles = np.unique(usable["role"].to_numpy(), return_inverse=True)
    hashes = dict(zip(FRAMES, hashing.hash_strings(pl.Series([*FRAMES.values()]), ROLE), strict=True))
    seen = {name: counts(words ^ hashed) for name, hashed in hashes.items()}
    evident = counts(words) > 0
    misfits = {
        "bare": (seen["object"] > 0) & (seen["bare"] == 0),
        "object": evident & (seen["object"] + seen["transitive"] == 0),
        "clause": evident & (seen["clause"] == 0),
    }
    table = np.zeros((len(words), len(frames)), dtype=bool)
    for name, strange in misfits.items():
        table[:, frames == hashes[name]] = strange[:, None]
    return table, lemmas, roles


def cells_with_misfits(cells: Ints, misfits: Misfits) -> Ints:
    """The cell of each word, or -1 if it fits all places of its cell, or if all words of the cell fit its place."""
    table, lemmas, roles = misfits
    rows = pl.DataFrame({"cell": cells, "lemma": lemmas, "role": roles})
    pairs = rows.select("cell", "lemma").unique().join(rows.select("cell", "role").unique(), on="cell")
    strange = pairs.filter(pl.Series(table[pairs["lemma"].to_numpy(), pairs["role"].to_numpy()]))
    both = (
        rows.with_row_index()
        .join(strange, on=["cell", "lemma"], how="semi")
        .join(strange, on=["cell", "role"], how="semi")
    )["index"].to_numpy()
    with_misfits = np.full(len(cells), -1, np.int64)
    with_misfits[both] = cells[both]
    return with_misfits


BIGRAM_BAND = 1.1
"""Largest difference between ln(1 + count) of two bigrams: two occurrences against none."""

ATTEMPTS = 8
"""Number of attempts; in each, the words that are left are put into another order."""

ROLE = 4
"""Seed of the hashes of frames."""

WORD = r"^(?:\p{Lo}|\p{L}[\p{Ll}\p{Lo}\p{Lm}\p{M}])[\p{Ll}\p{Lo}\p{Lm}\p{M}\u200c]*$"
"""A word in lower case, except perhaps the first letter: no acronyms, numbers, hyphens or apostrophes."""

JOINT = r"^[-‐‑–'’/]$"
"""Characters that join the words on their two sides into one."""

LOOSE = (
    "fixed", "flat", "goeswith", "reparandum", "dep", "conj", "appos", "compound", "list", "orphan", "vocative",
    "discourse", "dislocated",
)  # fmt: skip
"""Relations of words that are not replaced: parts of an expression, and places that nearly any word can take."""

CORE = ("det", "nummod", "clf", "case", "flat", "compound:prt")
"""Dependents that a word of the same kind has too."""

HASHED = ("before", "word_after", "word", "word_before", "after", "lemma", "known", "role", "beginning")
"""Columns of candidates that hold hashes."""

STEM = 20
"""Letters of form and lemma that are compared where there are no FEATS."""

BEGINNINGS = {
    "unclear": r"^(?:[hyu]|eu|one)",
    "vowel": r"^[aeioæøœıаеиоуыэюяєіαεηιουω]",
    "cluster": r"^(?:[sсзшж][^aeiouyæøœıаеиоуыэюяєіьαεηιουω]|[zx]|gn|p[sn])",
}
"""What articles and prepositions before a word depend on (*a/an*, *il/lo*, *l'*, *v/ve*, *с/со*), letters compared
without diacritics; ``unclear`` are those whose sound the letter does not tell (*hour*, *university*)."""

FUNCTION_WORDS = ("ADP", "AUX", "CCONJ", "DET", "NUM", "PART", "PRON", "SCONJ")
"""Parts of speech of words whose form may depend on the beginning of the next word."""


def replaceable_words(trees: Trees, context: Context) -> pl.DataFrame:
    """The verbs that may be replaced, with what decides on their exchange; several per sentence.

    A verb may be replaced if it is one word of the text, its inflection is known, and its frame is not ``weak``.

    ``before``, ``word``, ``after`` and ``lemma`` are hashes. The first word of each sentence also has ``seen``: the
    hashes of the verbs, lemmas, frames and bigrams of the sentence, and in the first row those of all sentences in
    which no verb may be replaced. ``known`` and ``role`` are hashes of lemma and frame.
    """
    verbs = _in_context(trees).with_columns(
        before=_left_half("left"), word_after=_right_half("small"),
        word_before=_left_half("small"), after=_right_half("right"),
        word=hashed(pl.col("small")), known=hashed(pl.coalesce("lemma", "form").str.to_lowercase(), 3),
        **{of: hashed(pl.col(of), ROLE) for of in ("role", "shown", "also")},
    )  # fmt: skip
    replaceable = verbs.filter(
        pl.col("mwt").is_null(),
        pl.col("end") - pl.col("start") == pl.col("form").str.len_chars(),
        pl.col("form").str.contains(WORD),
        ~pl.col("left").str.contains(JOINT),
        ~pl.col("right").str.contains(JOINT),
        ~pl.col("rel").is_in(LOOSE),
        ~pl.col("weak"),
        pl.col("feats").is_not_null() | pl.col("lemma").is_not_null(),
    )
    inflected = _with_inflection(replaceable)
    kind = pl.concat_str(pl.col("upos").cast(pl.String), "inflection", pl.col("core").fill_null(""), separator=" ")
    candidates = inflected.select(
        "sent", "index", "before", "word_after", "word", "word_before", "after", "start", "end", "capital", "opening",
        "known", "role", "tied", beginning=hashed(_beginning(), 5),
        label=pl.lit(context.labels[0]), target="row", kind=kind,
        lemma=hashed(pl.coalesce("lemma", "form").str.to_lowercase()),
    )  # fmt: skip
    # Per sentence the hashes of its verbs, of lemmas that show what they govern, and of the bigrams, once.
    into, out = pl.col("before") ^ pl.col("word_after"), pl.col("word_before") ^ pl.col("after")
    hashes = pl.concat_list(
        "word",
        pl.when(pl.col("shown").is_not_null()).then("known"),
        pl.col("known") ^ pl.col("shown"),
        pl.col("known") ^ pl.col("also"),
        into,
        pl.when(~pl.col("before_verb")).then(out),
    )
    # The first candidate also has those of the sentences without one, which are evidence as well.
    sents = candidates["sent"]
    bearer = pl.when(pl.col("sent").is_in(sents.unique().implode())).then("sent").otherwise(pl.lit(sents.first()))
    seen = verbs.select(sent=bearer, seen=hashes).explode("seen").drop_nulls().group_by("sent").agg("seen")
    rows = candidates.join(seen, on="sent", how="left", maintain_order="left")
    return rows.with_columns(pl.when(pl.col("sent").is_first_distinct()).then("seen"))


def _in_context(trees: Trees) -> pl.DataFrame:
    """The verbs: neighbours in lower case, whether they open the sentence, core dependents and frame."""
    small, upos = pl.col("form").str.to_lowercase(), pl.col("upos").cast(pl.String)
    is_verb = (upos == "VERB").fill_null(value=False)
    words = trees.words.with_columns(
        small=small,
        left=small.shift(1).over("sent").fill_null("^"),
        right=small.shift(-1).over("sent").fill_null("$"),
        verb=is_verb,
        tied=upos.shift(1).over("sent").is_in(FUNCTION_WORDS).fill_null(value=False),
        before_verb=is_verb.shift(-1).over("sent").fill_null(value=False),
        opening=(upos != "PUNCT").cum_sum().over("sent") <= 1,
        capital=small.str.head(1) != pl.col("form").str.head(1),
    )
    core = words.filter(pl.any_horizontal(pl.col("rel", "deprel").is_in(CORE)))
    kinds = pl.col("rel").unique().sort().str.join("+")
    return with_dependents(with_frames(words.filter("verb"), words), core, core=kinds)


def _with_inflection(words: pl.DataFrame) -> pl.DataFrame:
    """Adds ``inflection``: FEATS, or where there are none the endings of form and lemma.

    These are what follows their common beginning, as in 知っ/知る, 학교에서/학교+에서.
    """
    small, lemma = pl.col("small"), pl.col("lemma").str.to_lowercase()
    common = pl.sum_horizontal(small.str.head(n) == lemma.str.head(n) for n in range(1, STEM + 1))
    ending = pl.concat_str(small.str.slice(common), lemma.str.slice(common), separator="/")
    endings = words.filter(pl.col("feats").is_null()).select("small", "lemma").unique().with_columns(ending=ending)
    joined = words.join(endings, on=["small", "lemma"], how="left", maintain_order="left")
    return joined.with_columns(inflection=pl.coalesce("feats", "ending"))


def _beginning() -> pl.Expr:
    """What of a word's beginning decides on the articles before it (``BEGINNINGS``)."""
    letters = pl.col("small").str.normalize("NFD").str.replace_all(r"\p{Mn}", "")
    kinds = [pl.when(letters.str.contains(pattern)).then(pl.lit(name)) for name, pattern in BEGINNINGS.items()]
    return pl.coalesce(*kinds, pl.lit("other"))


def _left_half(word: str) -> pl.Expr:
    """One half of the hash of a bigram; the whole is the exclusive or of both halves."""
    return hashed(pl.col(word), 1)


def _right_half(word: str) -> pl.Expr:
    """The other half."""
    return hashed(pl.col(word), 2)


def original_and_replaced(frame: pl.DataFrame, context: Context) -> Sample:
    """Two rows per sentence of a ring: as it is (label 0) and with the word of the next sentence (label 1)."""
    counts = counts_of(frame["seen"])
    drops, sentences = context.drops, usable_of(frame.filter(pl.col("sent").is_first_distinct().over("shard")), context)
    usable = frame.drop("seen").join(sentences.select("key"), on="key", how="semi", maintain_order="left")
    keys = hashing.combine(usable["key"].to_numpy(), usable["index"].cast(pl.UInt64).to_numpy())
    owners = usable["key"].rank("dense").cast(pl.Int64).to_numpy()
    misfits = misfits_of(usable, counts)
    # the corpus by its keys: its name decides on no order
    of_corpus = pl.col("key").min().over("corpus").alias("corpus")
    grammar = pl.struct(pl.col("split").cast(pl.String), of_corpus, "kind", "capital", "opening").rank("dense")
    cells = usable.select(grammar.cast(pl.Int64)).to_series().to_numpy()
    cells = cells_with_misfits(cells, misfits) if context.settings.match else cells
    fits = _fits(usable, counts, misfits, context)
    rows, others, rings = exchange_words([cells] * ATTEMPTS, keys, owners, fits, *context.seed_key)
    new = usable.select(pl.col(f"target_{name}").alias(f"new_{name}") for name in ("form", "lemma", "upos"))[others]
    exchanged = usable[rows].hstack([*new.get_columns(), pl.Series("ring", rings)])
    exchanged = exchanged.with_columns(ring=pl.col("key").min().over("ring"))
    # In a ring every word is once the original and once the replacement: what parts it lets frequency tell the label.
    exchanged = exchanged.with_columns(group=hashing.as_text("ring"))
    capped = exchanged.join(_cap_rings(exchanged, context), on="ring", how="semi", maintain_order="left")
    drops.keep(sentences, exchanged, "unmatched")
    drops.keep(exchanged, capped, "over-size")
    rows_of_both = in_two_versions(
        capped.with_columns(plan=pl.struct("start", "end", new="new_form")),
        target_form="new_form", target_lemma="new_lemma", target_upos="new_upos",
        target_end=pl.col("target_start") + pl.col("new_form").str.len_chars(),
    )  # fmt: skip
    sample = Sample(rows_of_both, candidates=sum(drops.counts.values()) + capped.height)
    return if_enough(sample, context.labels, context)


def _fits(usable: pl.DataFrame, counts: HashCounts, misfits: Misfits, context: Context) -> Fits:
    """Whether a word may take the place of another of its cell."""
    hashes = {name: usable[name].to_numpy() for name in HASHED}
    tied, (table, lemmas, roles) = usable["tied"].to_numpy(), misfits

    def differ(name: str, first: Ints, second: Ints) -> npt.NDArray[np.bool_]:
        return np.asarray(hashes[name][first] != hashes[name][second])

    def as_frequent(here: Ints, there: Ints) -> npt.NDArray[np.bool_]:
        """Whether words stand beside the neighbours ``here`` as often as the true ones do elsewhere."""
        good = np.ones(len(here), dtype=bool)
        for side, word in (("before", "word_after"), ("after", "word_before")):
            true = counts(hashes[side][here] ^ hashes[word][here]) - 1
            new = counts(hashes[side][here] ^ hashes[word][there]) - ~differ(side, here, there)
            good &= np.abs(np.log1p(new) - np.log1p(true)) <= BIGRAM_BAND
        return good

    def strange(here: Ints, there: Ints) -> npt.NDArray[np.bool_]:
        """Whether the verbs ``there`` were never seen in the frame of the verbs ``here``."""
        return np.asarray(table[lemmas[there], roles[here]])

    def other_word(here: Ints, there: Ints) -> npt.NDArray[np.bool_]:
        """Whether it is another word, in another place, that begins as it must after a function word."""
        elsewhere = differ("before", here, there) | differ("after", here, there)
        good = differ("lemma", here, there) & differ("word", here, there) & elsewhere
        return np.asarray(good & (~tied[here] | ~differ("beginning", here, there)))

    def fits(here: Ints, there: Ints) -> npt.NDArray[np.bool_]:
        good = np.ones(len(here), dtype=bool)
        for test in (strange, other_word, as_frequent) if context.settings.match else (other_word,):
            good[good] = test(here[good], there[good])
        return good

    return fits


def _cap_rings(exchanged: pl.DataFrame, context: Context) -> pl.DataFrame:
    """The rings of sentences that the sizes leave room for, in hash order."""
    rings = exchanged.group_by("ring", maintain_order=True).agg(pl.col("split").first(), n=pl.len())
    ordered = rings[hashing.ranking(rings["ring"].to_numpy(), "cap", *context.seed_key)]
    sizes = {split: context.settings.size(split) // 2 for split in SPLITS}
    most = pl.col("split").cast(pl.String).replace_strict(sizes, return_dtype=pl.Int64)
    return ordered.filter(pl.col("n").cum_sum().over("split") <= most).select("ring")
