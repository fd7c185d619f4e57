"""Integrity: what must be true of the rows whatever a model makes of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations

import polars as pl

from discoprobe.builders import clean_text
from discoprobe.builders.audit import words
from discoprobe.builders.audit.frame import AuditInput, inputs, names_of
from discoprobe.builders.audit.integrity.fidelity import fidelity
from discoprobe.builders.audit.integrity.measure import SKIPPED, Measure, measure_rows
from discoprobe.builders.audit.integrity.order import order
from discoprobe.builders.audit.thresholds import NEAR_JACCARD
from discoprobe.builders.config import Shape
from discoprobe.loaders.near_duplicates import near_clusters

_SEPARATED_ENTITY = r"(?i)& ?(?:lt|gt|amp|quot|apos|nbsp|# ?\d+) ?;"
_SEPARATED_TAG = r"< ?/? ?[a-z]{3,} ?/? ?>"
"""Entities and tags that a tokeniser has pulled apart (DiscoEval: ``& lt ;``, ``< onlyinclude >``)."""

_ROWS_AT_ONCE = 10_000
"""Rows whose words are in memory at a time."""
_GOLD_SIGMAS = 4.0
"""The right choice's place is drawn, not counted out: its counts may differ as those of drawn lots do."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What the checks look at, with what several of them need computed once."""

    data: AuditInput
    keyed: pl.DataFrame
    sentences: pl.DataFrame
    sentence_texts: pl.Series
    sources: Mapping[tuple[str, str], str] | None

    @classmethod
    def of(cls, data: AuditInput, sources: Mapping[tuple[str, str], str] | None = None) -> "Subject":
        """The subject of ``data``; ``sources`` gives the text of (corpus, sent_id)."""
        return cls(data, inputs(data), *words.sentences(data.rows), sources)


def duplicates_within(subject: Subject) -> Measure:
    """Rows whose input occurs more than once in their split."""
    return measure_rows(subject.keyed.filter(pl.len().over("split", "input") > 1))


def duplicates_across(subject: Subject) -> Measure:
    """Rows whose input occurs in an earlier split."""
    if len(subject.data.splits) < 2:  # noqa: PLR2004  nothing to compare with
        return SKIPPED
    return measure_rows(_in_earlier_split(subject.keyed, "input"))


def label_conflicts(subject: Subject) -> Measure:
    """Rows whose input occurs with another label, in any split."""
    return measure_rows(subject.keyed.filter(pl.col("truth").n_unique().over("input") > 1))


def sentence_leaks(subject: Subject) -> Measure:
    """Rows with a sentence of six words or more, or an original, that an earlier split has."""
    if len(subject.data.splits) < 2:  # noqa: PLR2004  nothing to compare with
        return SKIPPED
    return measure_rows(_in_earlier_split(subject.sentences, "sentence"))


def near_duplicates(subject: Subject) -> Measure:
    """Rows with a sentence that is nearly one of an earlier split."""
    if len(subject.data.splits) < 2:  # noqa: PLR2004  nothing to compare with
        return SKIPPED
    return measure_rows(_in_earlier_split(near_keyed(subject), "cluster"))


def near_keyed(subject: Subject) -> pl.DataFrame:
    """The sentences with the number of the ``cluster`` of near-duplicates that each is in."""
    cluster = near_clusters(subject.sentence_texts, threshold=NEAR_JACCARD)
    return subject.sentences.with_columns(cluster=cluster.gather(subject.sentences["sentence"]))


def _in_earlier_split(frame: pl.DataFrame, key: str) -> pl.DataFrame:
    earliest = pl.col("split").to_physical().min().over(key)
    return frame.filter(earliest < pl.col("split").to_physical())


def target_leaks(subject: Subject) -> Measure:
    """Test rows whose target form is a target in train, for tasks split by target."""
    rows = subject.data.rows.with_columns(form=pl.col("target").str.to_lowercase())
    forms = rows.filter(pl.col("split") == "train")["form"].drop_nulls().unique()
    if subject.data.split_by != "target" or forms.is_empty():
        return SKIPPED
    return measure_rows(rows.filter((pl.col("split") == "test") & pl.col("form").is_in(forms.to_list())))


def equal_splits(subject: Subject) -> Measure:
    """Pairs of splits that hold the same inputs with the same labels."""
    if len(subject.data.splits) < 2:  # noqa: PLR2004  nothing to compare with
        return SKIPPED
    content = {
        split: subject.keyed.filter(pl.col("split") == split).select("input", "truth").sort("input", "truth")
        for split in subject.data.splits
    }
    equal = [f"{a} and {b}" for a, b in combinations(content, 2) if content[a].equals(content[b])]
    return Measure(len(equal), detail="; ".join(equal))


def label_sets(subject: Subject) -> Measure:
    """Labels that a split lacks. The label of a choice is a place, and no class: ``balance`` looks at places."""
    data = subject.data
    if data.shape is Shape.CHOICE:
        return SKIPPED
    expected = set(range(len(data.labels)))
    missing = {split: expected - set(data.split(split)["label"].to_list()) for split in data.splits}
    detail = "; ".join(f"{split} lacks {names_of(labels, data)}" for split, labels in missing.items() if labels)
    return Measure(sum(map(len, missing.values())), detail=detail)


def balance(subject: Subject) -> Measure:
    """The largest difference between the counts of two labels in a split."""
    data = subject.data
    counts = {split: _label_counts(data, split) for split in data.splits}
    spread = {split: max(of) - min(of) for split, of in counts.items()}
    worst = max(
        spread, key=lambda split: spread[split] - (_gold_threshold(counts[split]) if data.shape is Shape.CHOICE else 0)
    )
    threshold = _gold_threshold(counts[worst]) if data.shape is Shape.CHOICE else None
    shares = ", ".join(f"{name} {n}" for name, n in zip(data.labels, counts[worst], strict=True))
    return Measure(spread[worst], threshold=threshold, detail=f"{worst}: {shares}")


def _label_counts(data: AuditInput, split: str) -> list[int]:
    labels = data.split(split)["label"]
    return [int((labels == index).sum()) for index in range(len(data.labels))]


def _gold_threshold(counts: list[int]) -> float:
    share = 1 / len(counts)
    return float(round(2 * _GOLD_SIGMAS * (sum(counts) * share * (1 - share)) ** 0.5))


def unperturbed(subject: Subject) -> Measure:
    """Perturbed rows equal to their original, and rows whose texts cannot be told apart where order is the label."""
    data = subject.data
    if data.shape is Shape.CHOICE:
        choices = pl.col("texts").list.slice(pl.col("n_context"))
        return measure_rows(data.rows.filter(choices.list.n_unique() < choices.list.len()))
    if not data.perturbation:
        return SKIPPED
    same = pl.col("original") == pl.col("texts").list.last()
    if data.shape is Shape.PAIR:
        same = pl.col("texts").list.n_unique() == 1
    elif data.shape is Shape.SEQUENCE:
        originals = subject.keyed.filter(pl.col("label") == 0)["input"]
        return measure_rows(subject.keyed.filter((pl.col("label") > 0) & pl.col("input").is_in(originals.to_list())))
    return measure_rows(data.rows.filter(same))


def split_pairs(subject: Subject) -> Measure:
    """Rows whose pair stands in two splits, lacks a member, or has one label only."""
    if not subject.data.pairs:
        return SKIPPED
    rows = subject.data.rows.filter(pl.col("pair_id").is_not_null())
    sizes = rows.group_by("pair_id").len()["len"]
    if not len(sizes):
        return SKIPPED
    complete = max(2, int(sizes.mode().max()))  # type: ignore[arg-type]
    torn = pl.col("split").n_unique().over("pair_id") > 1
    lacking = (pl.len().over("pair_id") < complete) | (pl.col("label").n_unique().over("pair_id") < 2)  # noqa: PLR2004
    return measure_rows(rows.filter(torn | lacking))


def unclean_text(subject: Subject) -> Measure:
    """Rows with replacement, control or private-use characters, entities, tags or masks, or text that is not NFC."""
    rows = subject.data.rows.select("id", "split", "place", "corpus", text="texts")
    texts = rows.explode("text", empty_as_null=False)
    text = pl.col("text")
    entity = pl.when(text.str.contains(_SEPARATED_ENTITY)).then(pl.lit("entity"))
    apart = entity.when(text.str.contains(_SEPARATED_TAG)).then(pl.lit("tag"))
    fault = clean_text.fault(text, whole=subject.data.shape is not Shape.RELATION, some=True).over("corpus")
    distinct = texts.select("corpus", "text").unique().with_columns(fault=pl.coalesce(fault, apart)).drop_nulls("fault")
    faults = texts.join(distinct, on=["corpus", "text"], nulls_equal=True, maintain_order="left").drop("corpus")
    reasons = faults["fault"].value_counts().sort("fault").rows()
    return measure_rows(faults, detail=", ".join(f"{reason} {n}" for reason, n in reasons))


def doubled_words(subject: Subject) -> Measure:
    """The share of rows with a word that is followed by the two parts it consists of (``bugünkü bugün kü``)."""
    counts = [_doubled(part) for part in subject.data.rows.iter_slices(_ROWS_AT_ONCE)]
    return measure_rows(pl.concat(counts), share_of=subject.data.rows.height)


def _doubled(rows: pl.DataFrame) -> pl.DataFrame:
    joined = rows.select("id", "split", "place", word=pl.col("texts").list.join(" . ").str.to_lowercase())
    long = joined.with_columns(pl.col("word").str.extract_all(r"\w+|\.")).explode("word", empty_as_null=False)
    parts = pl.col("word").shift(-1) + pl.col("word").shift(-2)
    return long.filter((pl.col("word") == parts) & (pl.col("word").str.len_chars() > 3)).drop("word")  # noqa: PLR2004


INTEGRITY: Mapping[str, Callable[[Subject], Measure]] = {
    "dup-within": duplicates_within,
    "dup-across": duplicates_across,
    "label-conflict": label_conflicts,
    "sentence-leak": sentence_leaks,
    "near-dup": near_duplicates,
    "target-leak": target_leaks,
    "split-equal": equal_splits,
    "label-set": label_sets,
    "balance": balance,
    "order": lambda subject: order(subject.data),
    "unperturbed": unperturbed,
    "pair-split": split_pairs,
    "clean-text": unclean_text,
    "doubled-words": doubled_words,
    "fidelity": lambda subject: fidelity(subject.data, subject.sources),
}
"""Check id → function; the order is the reports'."""
