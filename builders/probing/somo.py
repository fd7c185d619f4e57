"""Has a word of the sentence been replaced by another (SentEval SOMO, X-Probe OddManOut)?

One noun or verb of the sentence stands as it is (`original`) or gives way to another word (`replaced`); both rows share
`pair_id`, and `target` is the word that stands there. Words are exchanged between two sentences of the same corpus and
split, so every word that replaces is also one that is replaced, and equally often: which word it is says nothing
(X-Probe's replacements come from elsewhere, and its originals are mostly corrupted sentences).

Two words are exchanged if they have the same part of speech and FEATS (words without FEATS: the same endings in form
and lemma), the same capital and place (sentence-initial or not), the same kind of beginning (vowel or consonant, for
*a/an*, *il/lo*, *l'*), the same core dependents (determiner, numeral and case marker of a noun; objects, complements
and particles of a verb), frequencies within a factor of e^0.5, and if the bigrams with the words to the left and to the
right are as frequent elsewhere in the corpora as the true ones, within the same factor. They differ in lemma.
Frequencies are those of the frequency list; words that it lacks are compared by their counts in the corpora. Word forms
of the test split do not occur as targets in train. A replacement may happen to make sense.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl

from discoprobe.builders import hashing
from discoprobe.builders.sampling.stratify import cap
from discoprobe.builders.sentences.candidates import if_enough, unedited, usable_of
from discoprobe.builders.sentences.word_pairs import HashCounts, pair_words
from discoprobe.builders.task import Context, Edit, ProbingTask, Sample
from discoprobe.loaders.languages.language import LanguageSection, Upos

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from discoprobe.builders.sentences.trees import Trees
    from discoprobe.builders.sentences.word_pairs import Agree, Ints

BAND = 0.5
"""Largest difference between the natural logarithms of two frequencies."""

ATTEMPTS = 8
"""Times that words without a partner are put into other bands and another order."""

WORD = r"^(?:\p{Lo}|\p{L}[\p{Ll}\p{Lo}\p{Lm}\p{M}])[\p{Ll}\p{Lo}\p{Lm}\p{M}\u200c]*$"
"""One word in small letters, but perhaps the first: no acronyms, numbers, hyphens or apostrophes."""

JOINT = r"^[-‐‑–'’/]$"
"""What makes one word of the words that it stands between."""

FIXED = ("fixed", "flat", "goeswith", "reparandum", "dep")
"""Relations of words that are not chosen on their own."""

CORE = (
    "det",
    "nummod",
    "clf",
    "case",
    "flat",
    "obj",
    "iobj",
    "csubj",
    "ccomp",
    "xcomp",
    "expl",
    "compound:prt",
    "aux:pass",
)
"""Dependents that a word of the same kind has too."""

STEM = 20
"""Letters of form and lemma that are compared where there are no FEATS."""

BEGINNINGS = {
    "unclear": r"^(?:[hyu]|eu|one)",
    "vowel": r"^[aeioæøœıаеиоуыэюяєіαεηιουω]",
    "cluster": r"^(?:[sсзшж][^aeiouyæøœıаеиоуыэюяєіьαεηιουω]|[zx]|gn|p[sn])",
}
"""What articles and prepositions before a word depend on (*a/an*, *il/lo*, *l'*, *v/ve*, *с/со*), letters compared
without diacritics; ``unclear`` are those whose sound the letter does not tell (*hour*, *university*)."""


class SomoRules(LanguageSection, frozen=True):
    """The section ``[somo]``: ``open`` has the parts of speech of the words that are replaced."""

    section: ClassVar[str] = "somo"
    open: tuple[Upos, ...] = ("NOUN", "VERB")


def select(trees: Trees, context: Context) -> pl.DataFrame:
    """The words that may be replaced, with what decides on their exchange; several per sentence.

    ``before``, ``word``, ``after`` and ``lemma`` are hashes. The first word of each sentence also has ``seen``: the
    hashes of the words and bigrams of the sentence.
    """
    words = _in_context(trees, context.language.section(SomoRules).open)
    open_class = words.filter("open").with_columns(
        before=_first("left"), word_after=_second("small"), word_before=_first("small"), after=_second("right"),
        word=pl.col("small").hash(0),
    )  # fmt: skip
    some = _with_inflection(open_class.filter(_replaceable()))
    ipm = context.frequencies.ipm(some["form"]) if context.frequencies else pl.repeat(0.0, some.height, eager=True)
    kind = pl.concat_str(
        pl.col("upos").cast(pl.String), "inflection", _beginning(), pl.col("core").fill_null(""), separator=" "
    )
    found = some.select(
        "sent", "index", "before", "word_after", "word", "word_before", "after", "start", "end", "capital", "opening",
        label=pl.lit(context.labels[0]), target="row", ipm=ipm, kind=kind,
        lemma=pl.coalesce("lemma", "form").str.to_lowercase().hash(0),
    )  # fmt: skip
    seen = found.join(_seen(open_class), on="sent", how="left", maintain_order="left")
    return seen.with_columns(pl.when(pl.col("sent").is_first_distinct()).then("seen"))


def _first(word: str) -> pl.Expr:
    """One half of the hash of a bigram; the whole is the exclusive or of both halves."""
    return pl.col(word).hash(1)


def _second(word: str) -> pl.Expr:
    """The other half."""
    return pl.col(word).hash(2)


def _in_context(trees: Trees, open_class: tuple[str, ...]) -> pl.DataFrame:
    """The words with their neighbours in small letters, whether they open the sentence, and their core dependents."""
    small, same = pl.col("form").str.to_lowercase(), pl.col("sent") == pl.col("sent").shift(1)
    is_open = pl.col("upos").cast(pl.String).is_in(open_class).fill_null(value=False)
    words = trees.words.with_columns(
        small=small,
        left=pl.when(same).then(small.shift(1)).fill_null("^"),
        right=pl.when(same.shift(-1)).then(small.shift(-1)).fill_null("$"),
        open=is_open,
        before_open=(is_open & same).shift(-1).fill_null(value=False),
        opening=(pl.col("upos") != "PUNCT").cum_sum().over("sent") <= 1,
        capital=small.str.head(1) != pl.col("form").str.head(1),
    )
    core = words.filter(pl.col("rel").is_in(CORE) | pl.col("deprel").is_in(CORE)).group_by(row="head_row")
    kinds = core.agg(core=pl.col("rel").unique().sort().str.join("+")).with_columns(pl.col("row").cast(pl.UInt32))
    return words.with_columns(pl.col("row").cast(pl.UInt32)).join(kinds, on="row", how="left", maintain_order="left")


def _replaceable() -> pl.Expr:
    """One word of the text, whose inflection is known."""
    return (
        pl.col("mwt").is_null()
        & (pl.col("end") - pl.col("start") == pl.col("form").str.len_chars())
        & pl.col("form").str.contains(WORD)
        & ~pl.col("left").str.contains(JOINT)
        & ~pl.col("right").str.contains(JOINT)
        & ~pl.col("rel").is_in(FIXED)
        & (pl.col("feats").is_not_null() | pl.col("lemma").is_not_null())
    )


def _with_inflection(words: pl.DataFrame) -> pl.DataFrame:
    """Adds ``inflection``: FEATS, or the endings of form and lemma where there are none."""
    pairs = words.filter(pl.col("feats").is_null()).select("small", "lemma").unique()
    endings = pairs.with_columns(ending=_endings(pl.col("small"), pl.col("lemma").str.to_lowercase()))
    found = words.join(endings, on=["small", "lemma"], how="left", maintain_order="left")
    return found.with_columns(inflection=pl.coalesce("feats", "ending"))


def _endings(form: pl.Expr, lemma: pl.Expr) -> pl.Expr:
    """How form and lemma end after their common beginning, as in 知っ/知る, 학교에서/학교+에서."""
    common = pl.sum_horizontal(form.str.head(n) == lemma.str.head(n) for n in range(1, STEM + 1))
    return pl.concat_str(form.str.slice(common), lemma.str.slice(common), separator="/")


def _beginning() -> pl.Expr:
    letters = pl.col("small").str.normalize("NFD").str.replace_all(r"\p{Mn}", "")
    found = [pl.when(letters.str.contains(pattern)).then(pl.lit(name)) for name, pattern in BEGINNINGS.items()]
    return pl.coalesce(*found, pl.lit("other"))


def _seen(open_class: pl.DataFrame) -> pl.DataFrame:
    """Per sentence the hashes of its open-class words, and of the bigrams they stand in, each bigram once."""
    into, out = pl.col("before") ^ pl.col("word_after"), pl.col("word_before") ^ pl.col("after")
    each = pl.concat_list("word", into, pl.when(~pl.col("before_open")).then(out))
    return open_class.select("sent", seen=each).explode("seen").drop_nulls().group_by("sent").agg("seen")


def sample(frame: pl.DataFrame, context: Context) -> Sample:
    """Four rows per couple of sentences: both as they are (label 0) and with their words exchanged (label 1)."""
    counts = HashCounts(frame["seen"])
    sentences, drops = usable_of(frame.filter(pl.col("sent").is_first_distinct().over("shard")), context)
    usable = frame.drop("seen").join(sentences.select("key"), on="key", how="semi", maintain_order="left")
    usable = usable.with_columns(count=pl.Series(counts.of(usable["word"].to_numpy())))
    keys = hashing.combine(usable["key"].to_numpy(), usable["index"].cast(pl.UInt64).to_numpy())
    owners = usable["key"].rank("dense").cast(pl.Int64).to_numpy()
    cells, agree = _cells(usable, context), _agreement(usable, counts, context)
    first, second = pair_words(cells, keys, owners, agree, *context.seed_key)
    exchanged = _exchanged(usable, np.concatenate([first, second]), np.concatenate([second, first]))
    kept = exchanged.join(_capped(exchanged, context), on="couple", how="semi", maintain_order="left")
    drops |= {"unmatched": sentences.height - exchanged.height, "over-size": exchanged.height - kept.height}
    made = Sample(_rows(kept), drops, candidates=sum(drops.values()) + kept.height)
    return if_enough(made, context.labels, context)


def _cells(usable: pl.DataFrame, context: Context) -> list[npt.NDArray[np.int64]]:
    """Numbers of the cells, one array per attempt: words in different cells are not exchanged.

    The bands of frequency begin elsewhere in each attempt. With ``--no-match`` only grammar decides.
    """
    listed = pl.col("ipm") > 0
    height = pl.when(listed).then("ipm").otherwise(pl.col("count").clip(1)).log() / BAND
    columns = [pl.col("split").cast(pl.String), pl.col("corpus"), pl.col("kind"), pl.col("capital"), pl.col("opening")]
    bands = [[listed.alias("listed"), (height + n / ATTEMPTS).floor().alias("band")] for n in range(ATTEMPTS)]
    return [
        usable.select(pl.struct(*columns, *(band if context.settings.match else [])).rank("dense").cast(pl.Int64))
        .to_series()
        .to_numpy()
        for band in bands
    ]


def _agreement(usable: pl.DataFrame, counts: HashCounts, context: Context) -> Agree:
    """Whether two words may be exchanged, but for their cells."""
    names = ("before", "word_after", "word", "word_before", "after", "lemma")
    hashes = {name: usable[name].to_numpy() for name in names}

    def differ(name: str, first: Ints, second: Ints) -> npt.NDArray[np.bool_]:
        return np.asarray(hashes[name][first] != hashes[name][second])

    def as_frequent(here: Ints, there: Ints) -> npt.NDArray[np.bool_]:
        """Whether words stand beside the neighbours ``here`` as often as the true ones do elsewhere."""
        good = np.ones(len(here), dtype=bool)
        for side, word in (("before", "word_after"), ("after", "word_before")):
            true = counts.of(hashes[side][here] ^ hashes[word][here]) - 1
            new = counts.of(hashes[side][here] ^ hashes[word][there]) - ~differ(side, here, there)
            good &= np.abs(np.log1p(new) - np.log1p(true)) <= BAND
        return good

    def agree(first: Ints, second: Ints) -> npt.NDArray[np.bool_]:
        elsewhere = differ("before", first, second) | differ("after", first, second)
        good = differ("lemma", first, second) & differ("word", first, second) & elsewhere
        return good & as_frequent(first, second) & as_frequent(second, first) if context.settings.match else good

    return agree


def _exchanged(usable: pl.DataFrame, rows: npt.NDArray[np.int64], others: npt.NDArray[np.int64]) -> pl.DataFrame:
    """The candidates ``rows`` with the words of ``others`` as ``new_*`` and the key of the couple."""
    names = ["form", "lemma", "upos"]
    new = usable.select(pl.col(f"target_{name}").alias(f"new_{name}") for name in names)[others]
    keys = usable["key"].to_numpy()
    couple = pl.Series("couple", np.minimum(keys[rows], keys[others]), dtype=pl.UInt64)
    return usable[rows].hstack([*new.get_columns(), couple])


def _capped(exchanged: pl.DataFrame, context: Context) -> pl.DataFrame:
    """The pairs of sentences that the sizes leave room for."""
    whole = exchanged.unique("couple", keep="first", maintain_order=True).select("couple", "split", key="couple")
    return cap(whole, context.settings, *context.seed_key, weight=4)


def _rows(kept: pl.DataFrame) -> pl.DataFrame:
    """Each candidate as it is, and with the other's word."""
    plain = unedited(kept).with_columns(label=pl.lit(0, pl.Int64), pair="key", plan=_plan())
    changed = plain.with_columns(
        label=pl.lit(1, pl.Int64), edited=pl.lit(value=True),
        target_form="new_form", target_lemma="new_lemma", target_upos="new_upos",
        target_end=pl.col("target_start") + pl.col("new_form").str.len_chars(),
    )  # fmt: skip
    return pl.concat([_keyed(part, label) for label, part in enumerate((plain, changed))])


def _plan() -> pl.Expr:
    return pl.struct("start", "end", "new_form")


def _keyed(rows: pl.DataFrame, label: int) -> pl.DataFrame:
    return rows.with_columns(key=pl.Series(hashing.mix(rows["key"].to_numpy(), "row", label), dtype=pl.UInt64))


def edit(text: str, plan: Mapping[str, Any]) -> Edit:  # noqa: ARG001 (every task's edit takes the text)
    """The other sentence's word in the place of this one's."""
    return Edit(plan["start"], plan["end"], plan["new_form"])


TASK = ProbingTask(
    labels=("original", "replaced"),
    select=select,
    sample=sample,
    edit=edit,
    split_by="target",
    needs=frozenset({"upos", "lemma", "deps"}),
    pairs=True,
)
