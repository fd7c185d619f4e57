"""A word of a sentence replaced by a similar one of another sentence, which does not fit.

``replaceable_words`` finds the words. ``original_and_replaced`` exchanges them in rings, so that every word is inserted
as often as it is removed. ``Misfits`` are words that should have been seen in a role, and never were: evidence that
they do not fit there. A reader found that random words of the same class fit in 27 % of 210 sentences in five
languages, and words with this evidence in ten of 140, in four languages.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

from discoprobe.builders.edits.versions import Fits, HashCounts, Ints, exchange_words, in_two_versions
from discoprobe.builders.sentences.candidates import if_enough, usable_of
from discoprobe.builders.sentences.clauses import with_frames
from discoprobe.builders.sentences.trees import Trees, with_dependents
from discoprobe.builders.settings import SPLITS
from discoprobe.builders.task import Context, Sample
from discoprobe.loaders import hashing
from discoprobe.loaders.languages.language import LanguageSection, Upos

EXPECTED = {"NOUN": 1.5, "VERB": 0.3}
"""How often a word must be expected in a role by chance, so that its absence there is evidence. Frames of verbs are
stricter than roles of nouns."""


@dataclass(frozen=True, slots=True)
class Misfits:
    """Which lemmas should have been seen in which role (of a part of speech), and never were.

    Attributes:
        table: truth values by lemma and role; the last row and column are for lemmas and roles that are too rare.
        lemmas: of each candidate, as the place in the table.
        roles: of each candidate, likewise.
    """

    table: npt.NDArray[np.bool_]
    lemmas: Ints
    roles: Ints


def misfits_of(usable: pl.DataFrame, counts: HashCounts) -> Misfits:
    """Which candidates do not fit in whose place.

    Args:
        usable: candidates with ``target_upos`` and the hashes ``known`` (of the lemma) and ``role``.
        counts: of lemmas, and of lemmas in roles, in the corpora.
    """
    upos = pl.col("target_upos")
    words = usable.select(
        "known", "role", share=pl.len().over("target_upos", "role") / pl.len().over("target_upos"),
        kind=pl.struct("target_upos", "role").rank("dense"),
        needed=upos.replace_strict(EXPECTED, default=max(EXPECTED.values()), return_dtype=pl.Float64),
    )  # fmt: skip
    word, role = words["known"].to_numpy(), words["role"].to_numpy()
    number, fewest = counts.of(word), words["needed"].to_numpy() / words["share"].to_numpy()
    of_lemmas, lemmas = _number_values(word, number >= fewest.min(initial=np.inf))
    of_roles, roles = _number_values(words["kind"].to_numpy(), fewest <= number.max(initial=0))
    table = np.zeros((len(of_lemmas) + 1, len(of_roles) + 1), dtype=bool)
    lemma, place = np.nonzero(number[of_lemmas][:, None] >= fewest[of_roles])
    table[lemma, place] = counts.of(word[of_lemmas][lemma] ^ role[of_roles][place]) == 0
    return Misfits(table, lemmas, roles)


def _number_values(values: npt.NDArray[Any], used: npt.NDArray[np.bool_]) -> tuple[Ints, Ints]:
    """A row of each used value, and for every row the place of its value among these; the next place for others."""
    _, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    rows = first[used[first]]
    return rows, np.where(used, np.cumsum(used[first])[inverse] - 1, len(rows))


def cells_with_misfits(cells: Ints, misfits: Misfits) -> Ints:
    """The cell of each word, or -1 if it fits all places of its cell, or if all words of the cell fit its place."""
    rows = pl.DataFrame({"cell": cells, "lemma": misfits.lemmas, "role": misfits.roles})
    pairs = rows.select("cell", "lemma").unique().join(rows.select("cell", "role").unique(), on="cell")
    strange = pairs.filter(pl.Series(misfits.table[pairs["lemma"].to_numpy(), pairs["role"].to_numpy()]))
    both = (
        rows.with_row_index()
        .join(strange, on=["cell", "lemma"], how="semi")
        .join(strange, on=["cell", "role"], how="semi")
    )["index"].to_numpy()
    with_misfits = np.full(len(cells), -1, np.int64)
    with_misfits[both] = cells[both]
    return with_misfits


BAND = 1.5
"""Largest difference between the natural logarithms of two words' frequencies. In every split each word replaces as
often as it is replaced, so narrower bands are not needed; they would cost half of the rows."""

BIGRAM_BAND = 1.1
"""Largest difference between ln(1 + count) of two bigrams: two occurrences against none."""

HEIGHTS = 100
"""Above the number of any band: bands are logarithms of at most a billion, so below 21."""

ATTEMPTS = 8
"""Number of attempts; in each, the words that are left are put into other bands and another order."""

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

MOST_FREQUENT = {"NOUN": 100.0}
"""Largest frequency of a word, per million; more frequent nouns fit nearly everywhere."""

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


class SomoRules(LanguageSection, frozen=True):
    """The section ``[somo]``: ``open`` has the parts of speech of the words that are replaced."""

    section: ClassVar[str] = "somo"
    open: tuple[Upos, ...] = ("NOUN", "VERB")


def replaceable_words(trees: Trees, context: Context) -> pl.DataFrame:
    """The words that may be replaced, with what decides on their exchange; several per sentence.

    A word may be replaced if it is one word of the text, and its inflection is known.

    ``before``, ``word``, ``after`` and ``lemma`` are hashes. The first word of each sentence also has ``seen``: the
    hashes of the words, lemmas, roles and bigrams of the sentence, and in the first row those of all sentences in which
    no word may be replaced. ``known`` and ``role`` are hashes of lemma and role.
    """
    open_class = _in_context(trees, context.language.section(SomoRules).open).with_columns(
        before=_left_half("left"), word_after=_right_half("small"),
        word_before=_left_half("small"), after=_right_half("right"),
        word=pl.col("small").hash(0), known=pl.coalesce("lemma", "form").str.to_lowercase().hash(3),
        **{name: pl.when(pl.col(name).is_not_null()).then(pl.col(name).hash(4)) for name in ("role", "shown", "also")},
    )  # fmt: skip
    replaceable = open_class.filter(
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
    listed, forms = context.frequencies, inflected["form"]
    kind = pl.concat_str(pl.col("upos").cast(pl.String), "inflection", pl.col("core").fill_null(""), separator=" ")
    candidates = inflected.select(
        "sent", "index", "before", "word_after", "word", "word_before", "after", "start", "end", "capital", "opening",
        "known", "role", "tied", beginning=_beginning().hash(5),
        label=pl.lit(context.labels[0]), target="row", kind=kind,
        ipm=listed.ipm(forms) if listed else pl.repeat(0.0, inflected.height, eager=True),
        lemma=pl.coalesce("lemma", "form").str.to_lowercase().hash(0),
    )  # fmt: skip
    # Per sentence the hashes of its open-class words, their lemmas and roles, and the bigrams they stand in, once.
    into, out = pl.col("before") ^ pl.col("word_after"), pl.col("word_before") ^ pl.col("after")
    hashes = pl.concat_list(
        "word",
        "known",
        pl.col("known") ^ pl.col("shown"),
        pl.col("known") ^ pl.col("also"),
        into,
        pl.when(~pl.col("before_open")).then(out),
    )
    # The first candidate also has those of the sentences without one, which are evidence as well.
    sents = candidates["sent"]
    bearer = pl.when(pl.col("sent").is_in(sents.unique().implode())).then("sent").otherwise(pl.lit(sents.first()))
    seen = open_class.select(sent=bearer, seen=hashes).explode("seen").drop_nulls().group_by("sent").agg("seen")
    rows = candidates.join(seen, on="sent", how="left", maintain_order="left")
    return rows.with_columns(pl.when(pl.col("sent").is_first_distinct()).then("seen"))


def _in_context(trees: Trees, open_class: tuple[str, ...]) -> pl.DataFrame:
    """Words of some classes: neighbours in lower case, whether they open the sentence, core dependents and role."""
    small, upos = pl.col("form").str.to_lowercase(), pl.col("upos").cast(pl.String)
    is_open = upos.is_in(open_class).fill_null(value=False)
    words = trees.words.with_columns(
        small=small,
        left=small.shift(1).over("sent").fill_null("^"),
        right=small.shift(-1).over("sent").fill_null("$"),
        open=is_open,
        tied=upos.shift(1).over("sent").is_in(FUNCTION_WORDS).fill_null(value=False),
        before_open=is_open.shift(-1).over("sent").fill_null(value=False),
        opening=(upos != "PUNCT").cum_sum().over("sent") <= 1,
        capital=small.str.head(1) != pl.col("form").str.head(1),
    )
    core = words.filter(pl.any_horizontal(pl.col("rel", "deprel").is_in(CORE)))
    kinds = pl.col("rel").unique().sort().str.join("+")
    return with_dependents(with_frames(words.filter("open"), words), core, core=kinds)


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
    return pl.col(word).hash(1)


def _right_half(word: str) -> pl.Expr:
    """The other half."""
    return pl.col(word).hash(2)


def original_and_replaced(frame: pl.DataFrame, context: Context) -> Sample:
    """Two rows per sentence of a ring: as it is (label 0) and with the word of the next sentence (label 1)."""
    counts = HashCounts(frame["seen"])
    sentences, drops = usable_of(frame.filter(pl.col("sent").is_first_distinct().over("shard")), context)
    usable = frame.drop("seen").join(sentences.select("key"), on="key", how="semi", maintain_order="left")
    most = pl.col("target_upos").replace_strict(MOST_FREQUENT, default=np.inf, return_dtype=pl.Float64)
    usable = usable.filter(pl.col("ipm") <= most) if context.settings.match else usable
    usable = usable.with_columns(count=pl.Series(counts.of(usable["word"].to_numpy())))
    keys = hashing.combine(usable["key"].to_numpy(), usable["index"].cast(pl.UInt64).to_numpy())
    owners = usable["key"].rank("dense").cast(pl.Int64).to_numpy()
    misfits = misfits_of(usable, counts)
    cells = [
        cells_with_misfits(cells, misfits) if context.settings.match else cells for cells in _cells(usable, context)
    ]
    fits = _fits(usable, counts, misfits, context)
    rows, others, rings = exchange_words(cells, keys, owners, fits, *context.seed_key)
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
    sample = Sample(rows_of_both, drops, candidates=sum(drops.values()) + capped.height)
    return if_enough(sample, context.labels, context)


def _cells(usable: pl.DataFrame, context: Context) -> list[npt.NDArray[np.int64]]:
    """Numbers of the cells, one array per attempt: words in different cells do not replace each other.

    The bands of frequency begin elsewhere in each attempt. With ``--no-match`` only grammar decides.
    """
    grammar = pl.struct(pl.col("split").cast(pl.String), "corpus", "kind", "capital", "opening").rank("dense")
    listed = pl.col("ipm") > 0
    height = pl.when(listed).then("ipm").otherwise(pl.col("count").clip(1)).log() / BAND
    facts = usable.select(cell=grammar.cast(pl.Int64), listed=listed.cast(pl.Int64), height=height)
    if not context.settings.match:
        return [facts["cell"].to_numpy()] * ATTEMPTS
    bands = [(pl.col("height") + n / ATTEMPTS).floor().cast(pl.Int64) for n in range(ATTEMPTS)]
    return [
        facts.select((pl.col("cell") * 2 + pl.col("listed")) * HEIGHTS + band).to_series().to_numpy() for band in bands
    ]


def _fits(usable: pl.DataFrame, counts: HashCounts, misfits: Misfits, context: Context) -> Fits:
    """Whether a word may take the place of another of its cell."""
    hashes = {name: usable[name].to_numpy() for name in HASHED}
    tied = usable["tied"].to_numpy()

    def differ(name: str, first: Ints, second: Ints) -> npt.NDArray[np.bool_]:
        return np.asarray(hashes[name][first] != hashes[name][second])

    def as_frequent(here: Ints, there: Ints) -> npt.NDArray[np.bool_]:
        """Whether words stand beside the neighbours ``here`` as often as the true ones do elsewhere."""
        good = np.ones(len(here), dtype=bool)
        for side, word in (("before", "word_after"), ("after", "word_before")):
            true = counts.of(hashes[side][here] ^ hashes[word][here]) - 1
            new = counts.of(hashes[side][here] ^ hashes[word][there]) - ~differ(side, here, there)
            good &= np.abs(np.log1p(new) - np.log1p(true)) <= BIGRAM_BAND
        return good

    def strange(here: Ints, there: Ints) -> npt.NDArray[np.bool_]:
        """Whether the words ``there`` should have been seen in the role of the words ``here``, and never were."""
        return np.asarray(misfits.table[misfits.lemmas[there], misfits.roles[here]])

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
