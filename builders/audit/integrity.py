"""Integrity checks: properties that the rows must have, independent of any model.

``INTEGRITY`` lists the checks. Each gets the rows and returns a ``Finding`` with what it measured: the value, the first
rows that show it, and threshold and cost where they depend on the data. ``run`` adds the rest.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Final

import numpy as np
import polars as pl
from msgspec.structs import replace

from discoprobe.builders.audit.frame import AuditInput, ends_of
from discoprobe.builders.audit.intervals import (
    DIGITS,
    exact,
    independent_rows,
    largest_share,
    longest_run_threshold,
    parity_threshold,
    share_differences,
)
from discoprobe.builders.audit.report import Finding
from discoprobe.builders.audit.thresholds import ALTERED_WORDS, BY_ID, NEAR_JACCARD, PARAPHRASE
from discoprobe.builders.config import Shape
from discoprobe.builders.settings import SPLITS
from discoprobe.loaders import clean_text, hashing
from discoprobe.loaders.corpus import exploded
from discoprobe.loaders.near_duplicates import altered_copies, near_clusters, paraphrases

_Ints = np.typing.NDArray[np.int64]

MARKS: Final = re.compile(r"\[\d |\]")
"""What is before and after a marked mention."""

_EXAMPLES = 5
"""Row ids of a run of labels or of a guessed order."""
_COMPARED = 50_000
"""Sentences of a split that are compared with altered copies: so many show a share of .01, and bound memory."""
_ROWS_AT_ONCE = 10_000
"""Rows whose words are in memory at a time."""
_GOLD_SIGMAS = 4.0
"""Standard deviations by which counts of places may differ: the place of the right choice is random, not balanced."""


SKIPPED = Finding()


def shared_by(data: AuditInput, check: str) -> tuple[pl.DataFrame, str]:
    """What two splits must not share by a check: rows or sentences, and the column in which they must differ."""
    if check == "dup-across":
        return data.keyed, "input"
    sentences, texts = data.sentences
    if check == "sentence-leak":
        return sentences, "sentence"
    cluster = near_clusters(texts, threshold=NEAR_JACCARD)
    return sentences.with_columns(cluster=cluster.gather(sentences["sentence"])), "cluster"


def measure_rows(frame: pl.DataFrame, *, share_of: int = 0, detail: str = "") -> Finding:
    """The number of different rows in ``frame`` (or their share), and the rows, with ``twin`` if the frame has it.

    Split and place identify a row. Rows of the last split come first, because scores are measured on it.
    """
    rows = frame.unique(["split", "place"], keep="first", maintain_order=True)
    rows = rows.sort("split", "place", descending=[True, False])
    value = rows.height / share_of if share_of else rows.height
    twins = tuple(rows["twin"]) if "twin" in rows.columns else ()
    return Finding(measured=value, rows=tuple(rows["id"]), twins=twins, detail=detail)


# Duplicates and leaks

SPLIT_NUMBER = pl.col("split").to_physical()
FIRST = pl.col("id").sort_by(SPLIT_NUMBER, "place").first()
"""The first row of some, in the order of splits."""


def duplicates_within(data: AuditInput) -> Finding:
    """Rows whose input occurs more than once in their split."""
    first, second = (pl.col("id").slice(at, 1).first().over("split", "input") for at in (0, 1))
    repeated = data.keyed.filter(pl.len().over("split", "input") > 1)
    is_first = pl.int_range(pl.len()).over("split", "input") == 0
    return measure_rows(repeated.with_columns(twin=pl.when(is_first).then(second).otherwise(first)))


def shared_with_earlier(check: str, data: AuditInput) -> Finding:
    """Rows that share with an earlier split what the check is about (``shared_by``)."""
    if len(data.splits) < 2:  # noqa: PLR2004  nothing to compare with
        return SKIPPED
    frame, key = shared_by(data, check)
    finding = measure_rows(_with_twins(frame, key))
    if not finding.measured:
        return finding
    rows = data.keyed.select("split", "place", of_input="input").join(
        frame.filter(SPLIT_NUMBER.max().over(key) > SPLIT_NUMBER), on=["split", "place"], how="semi"
    )
    dropped = rows.group_by("split").agg(pl.col("of_input").n_unique())
    different = data.keyed.group_by("split").agg(n=pl.col("input").n_unique())
    share = dropped.join(different, on="split").select((pl.col("of_input") / pl.col("n")).max()).item()
    return replace(finding, dropped=round(float(share), DIGITS))


def _with_twins(frame: pl.DataFrame, key: str) -> pl.DataFrame:
    """The rows whose ``key`` is in an earlier split, with the first row that has it as ``twin``."""
    return frame.with_columns(twin=FIRST.over(key)).filter(SPLIT_NUMBER.min().over(key) < SPLIT_NUMBER)


_ALIKE: Final[Mapping[str, Callable[[pl.Series, _Ints, _Ints], _Ints]]] = {
    "altered-dup": partial(altered_copies, least=ALTERED_WORDS),
    "paraphrase": partial(paraphrases, least=ALTERED_WORDS, threshold=PARAPHRASE),
}
"""Check → the number of the text of an earlier split that each asked text is like, -1 if there is none."""


def like_earlier(check: str, data: AuditInput) -> Finding:
    """The share of rows of later splits with a sentence that is like one of an earlier split, by the check.

    Sentences that are equal in two splits do not count. At most ``_COMPARED`` later sentences are compared, chosen by
    hash; the share is then that of their rows. The threshold is the largest share that the allowed one gives by chance,
    where both rows of a pair are one: one formula in 96 pairs is no copy of a split.
    """
    if len(data.splits) < 2:  # noqa: PLR2004  nothing to compare with
        return SKIPPED
    sentences, texts = data.sentences
    first = sentences.group_by("sentence").agg(first=SPLIT_NUMBER.min(), owner=FIRST)
    first = first.with_columns(key=pl.Series(hashing.mix(first["sentence"].to_numpy(), "audit", "altered")))
    first = first.sort("first", "key")
    texts, groups = texts.gather(first["sentence"]), first["first"].cast(pl.Int64).to_numpy()
    is_asked = (pl.col("first") > pl.col("first").min()) & (pl.int_range(pl.len()).over("first") < _COMPARED)
    asked = first.select(pl.arg_where(is_asked)).to_series().cast(pl.Int64).to_numpy()
    original = _ALIKE[check](texts, groups, asked)
    later = first[asked].select("sentence", "first").with_columns(
        first["owner"].gather(np.maximum(original, 0)).alias("twin"), is_copy=original >= 0
    )  # fmt: skip
    compared = sentences.join(later, on="sentence", maintain_order="left").filter(pl.col("first") == SPLIT_NUMBER)
    rows = data.rows.select("split", "place", unit=pl.coalesce("pair_id", "id"))
    rows = rows.join(compared.select("split", "place").unique(), on=["split", "place"])
    measure = measure_rows(compared.filter("is_copy"), share_of=max(1, rows.height))
    n_units = rows.select("split", "unit").n_unique()
    return replace(measure, threshold=largest_share(BY_ID[check].threshold or 0.0, max(1, n_units)))


def split_groups(data: AuditInput) -> Finding:
    """Rows whose document (or speaker, or whatever the group of a row is) has rows in an earlier split.

    Of a column that nobody named as the group, the cost is what naming the commonest label of a group gains: authors in
    two splits do harm where most of their texts have one label (Wiegand et al. 2019).
    """
    rows = data.rows.filter(pl.col("group").is_not_null())
    if len(data.splits) < 2 or rows.is_empty():  # noqa: PLR2004
        return SKIPPED
    shared = _with_twins(rows, "group")
    detail = f"{shared['group'].n_unique():,} groups are in several splits" if shared.height else ""
    measure = measure_rows(shared, detail=detail)
    return replace(measure, cost=_told_by_groups(rows, data.splits)) if data.guessed_groups else measure


def _told_by_groups(rows: pl.DataFrame, splits: Sequence[str]) -> float:
    """By how much the accuracy on the last split rises if rows get the commonest label of their group in the first.

    0 if this may be chance, with as many independent answers as there are groups.
    """
    learned = rows.filter(pl.col("split") == splits[0]).group_by("group", "label").len()
    commonest = learned.sort("len", "label", descending=[True, False]).unique("group", maintain_order=True)
    last = rows.filter(pl.col("split") == splits[-1])
    asked = last.join(commonest.select("group", guess="label"), on="group")
    if asked.is_empty():
        return 0.0
    right = float(asked.select((pl.col("label") == pl.col("guess")).mean()).item())
    majority, groups = float(asked["label"].value_counts()["count"].max()) / asked.height, asked["group"].n_unique()  # type: ignore[arg-type]
    gain = right - majority if exact(right * groups, groups)[0] > majority else 0.0
    return round(gain * asked.height / last.height, DIGITS)


def label_conflicts(data: AuditInput) -> Finding:
    """Rows whose input occurs with another label, in any split."""
    truth = pl.col("truth")
    first, other = FIRST.over("input"), pl.col("id").filter(truth != truth.first()).first().over("input")
    twin = pl.when(truth != truth.first().over("input")).then(first).otherwise(other)
    conflicts = data.keyed.sort(SPLIT_NUMBER, "place").filter(truth.n_unique().over("input") > 1)
    return measure_rows(conflicts.with_columns(twin=twin))


def target_leaks(data: AuditInput) -> Finding:
    """Test rows whose target form is a target in train, for tasks split by target."""
    rows = data.rows.with_columns(form=pl.col("target").str.to_lowercase())
    in_train = rows.filter(pl.col("split") == "train", pl.col("form").is_not_null()).group_by("form").agg(twin=FIRST)
    if data.split_by != "target" or in_train.is_empty():
        return SKIPPED
    return measure_rows(rows.filter(pl.col("split") == "test").join(in_train, on="form", maintain_order="left"))


def equal_splits(data: AuditInput) -> Finding:
    """Pairs of splits that hold the same inputs with the same labels."""
    if len(data.splits) < 2:  # noqa: PLR2004  nothing to compare with
        return SKIPPED
    content = {
        split: data.keyed.filter(pl.col("split") == split).select("input", "truth").sort("input", "truth")
        for split in data.splits
    }
    equal = [f"{a} and {b} have the same rows" for a, b in combinations(content, 2) if content[a].equals(content[b])]
    return Finding(measured=len(equal), detail="; ".join(equal), cost=float(bool(equal)))


def missing_splits(data: AuditInput) -> Finding:
    """Splits that the data should have; of data of others all three, which are only reported."""
    missing = [split for split in data.expected or (SPLITS if data.external else ()) if split not in data.splits]
    detail = f"there is no {' and no '.join(missing)} split" if missing else ""
    if missing and len(data.splits) == 1:
        detail = f"there is only one split ({data.splits[0]}), so that leaks between splits cannot be seen"
    return Finding(measured=len(missing), detail=detail, cost=len(missing) / len(SPLITS))


# Labels and their order


def label_sets(data: AuditInput) -> Finding:
    """Labels that a split lacks. The label of a choice is a place and no class: ``balance`` looks at places.

    The cost is the share of rows that have those of the split that lacks most: a slip such as ``-`` costs nothing.
    """
    if data.shape is Shape.CHOICE:
        return SKIPPED
    expected = set(range(len(data.labels)))
    missing = {split: sorted(expected - set(data.split(split)["label"])) for split in data.splits}
    lacks = [
        f"{split} lacks the label{'s' * (len(labels) > 1)} {', '.join(repr(data.labels[n]) for n in labels)}"
        for split, labels in missing.items()
        if labels
    ]
    most = max(int(data.rows["label"].is_in(labels).sum()) for labels in missing.values())
    return Finding(measured=sum(map(len, missing.values())), detail="; ".join(lacks), cost=most / data.rows.height)


def balance(data: AuditInput) -> Finding:
    """The largest difference between the counts of two labels in a split.

    For choices the split counts in which the difference exceeds most what random places allow.
    """
    measures = []
    for split in data.splits:
        counts = _label_counts(data, split)
        share = 1 / len(counts)
        by_chance = float(round(2 * _GOLD_SIGMAS * (sum(counts) * share * (1 - share)) ** 0.5))
        numbers = ", ".join(f"{name} {n}" for name, n in zip(data.labels, counts, strict=True))
        threshold = by_chance if data.shape is Shape.CHOICE else None
        difference = max(counts) - min(counts)
        cost = difference / sum(counts)
        measures.append(Finding(measured=difference, threshold=threshold, detail=f"{split}: {numbers}", cost=cost))
    return max(measures, key=lambda measure: (measure.measured or 0) - (measure.threshold or 0))


def _label_counts(data: AuditInput, split: str) -> list[int]:
    return list(np.bincount(data.split(split)["label"], minlength=len(data.labels)).tolist())


def label_shares(data: AuditInput) -> Finding:
    """The largest difference of a label's share between two splits, of those that exceed most what lots allow.

    The cost is the largest share of the rows of a split that would need another label to have the shares of another
    split. Rows of a group or pair are counted as fewer, as their labels resemble each other (Kish 1965).
    """
    if data.shape is Shape.CHOICE or len(data.splits) < 2 or len(data.labels) < 2:  # noqa: PLR2004
        return SKIPPED
    measures = []
    shares = {split: np.array(_label_counts(data, split)) / data.counts[split] for split in data.splits}
    pairs = list(combinations(data.splits, 2))
    cost = max(float(np.abs(shares[a] - shares[b]).sum()) / 2 for a, b in pairs)
    for a, b in pairs:
        rows = data.rows.filter(pl.col("split").is_in([a, b]))
        alone = pl.concat_str(pl.lit("row"), pl.int_range(pl.len()).cast(pl.String))
        clusterings = [
            rows.select(pl.coalesce(column, alone).rank("dense").cast(pl.Int64)).to_series().to_numpy()
            for column in ("pair_id", "group")
        ]
        for label, name in enumerate(data.labels):
            difference = shares[a][label] - shares[b][label]
            is_label = (rows["label"] == label).to_numpy().astype(np.float64)
            if not difference or not is_label.any():
                continue
            worth = independent_rows(is_label, clusterings) / rows.height
            n, n_a, n_b = (worth * number for number in (is_label.sum(), data.counts[a], data.counts[b]))
            by_lot = share_differences(n, n_a, n_b, len(data.labels) * len(pairs))
            threshold = max(0.0, by_lot[1] if difference > 0 else -by_lot[0])
            detail = (
                f"'{name}' is {shares[a][label]:.1%} of {a} and {shares[b][label]:.1%} of {b}; by chance they differ "
                f"by up to {threshold:.1%}"
            )
            measures.append(Finding(measured=float(abs(difference)), threshold=threshold, detail=detail, cost=cost))
    equal = Finding(measured=0.0, threshold=0.0, cost=0.0)
    return max(measures, key=lambda measure: (measure.measured or 0) - (measure.threshold or 0), default=equal)


def order(data: AuditInput) -> Finding:
    """The accuracy of guessing by row parity, or the longest run of one label if it is too long for a random order.

    The guess is the most frequent label of even rows, and of odd rows. Of several splits the worst one counts; a split
    with one class has no order.
    """
    measures = []
    for split in data.splits:
        rows, counts = data.split(split), _label_counts(data, split)
        if sum(count > 0 for count in counts) < 2:  # noqa: PLR2004  one class
            continue
        labels, ids = rows["label"].to_numpy(), rows["id"]
        runs = rows["label"].rle().struct.field("len").to_numpy()
        longest = int(runs.argmax())
        length, start = int(runs[longest]), int(runs[:longest].sum())
        value: int | float
        value = accuracy = float(
            sum(np.bincount(half).max(initial=0) for half in (labels[::2], labels[1::2])) / len(labels)
        )
        threshold = parity_threshold(max(counts) / len(labels), len(labels), len(counts))
        by_chance = longest_run_threshold(counts)
        if length > by_chance:
            value, threshold = length, by_chance
            examples = tuple(ids.slice(start, min(length, _EXAMPLES)))
            detail = (
                f"{split} has {length:,} rows of one label after one another; in a random order up to {by_chance:,}"
            )
        else:
            examples = tuple(ids.head(_EXAMPLES)) if accuracy > threshold else ()
            detail = f"even and odd row numbers of {split} tell {accuracy:.3f} of the labels; by chance {threshold:.3f}"
        measures.append(  # no model reads the order
            Finding(measured=value, rows=examples, threshold=threshold, detail=detail, cost=0.0)
        )
    return max(measures, key=lambda measure: (measure.measured or 0.0) / (measure.threshold or 1.0), default=SKIPPED)


# Edits and pairs


def unperturbed(data: AuditInput) -> Finding:
    """Perturbed rows equal to their original, and rows whose texts are equal although their order is the label."""
    texts = pl.col("texts")
    if data.shape is Shape.CHOICE:
        choices = texts.list.slice(pl.col("n_context"))
        return measure_rows(data.rows.filter(choices.list.n_unique() < choices.list.len()))
    if not data.perturbation:
        return SKIPPED
    if data.shape is Shape.PAIR:
        return measure_rows(data.rows.filter(texts.list.n_unique() == 1))
    if data.shape is Shape.SEQUENCE:
        originals = data.keyed.filter(pl.col("label") == 0)["input"]
        return measure_rows(data.keyed.filter((pl.col("label") > 0) & pl.col("input").is_in(originals.to_list())))
    if data.rows["original"].is_null().all():
        return SKIPPED
    return measure_rows(data.rows.filter(pl.col("original") == texts.list.last()))


def split_pairs(data: AuditInput) -> Finding:
    """Rows whose pair is in two splits, lacks a member, or has one label only."""
    rows = data.rows.filter(pl.col("pair_id").is_not_null())
    if not data.pairs or rows.is_empty():
        return SKIPPED
    sizes = rows.group_by("pair_id").len()["len"]
    complete = max(2, int(sizes.mode().max()))  # type: ignore[arg-type]
    in_two_splits = pl.col("split").n_unique().over("pair_id") > 1
    lacking = (pl.len().over("pair_id") < complete) | (pl.col("label").n_unique().over("pair_id") < 2)  # noqa: PLR2004
    return measure_rows(rows.filter(in_two_splits | lacking))


# Texts


def unclean_text(data: AuditInput) -> Finding:
    """Rows with replacement, control or private-use characters, entities, tags or masks, or text that is not NFC.

    Units of relations and mentions are parts of sentences, and so are choices that the context has; the passage of the
    mentions, the last text, is whole. The spelling of all texts of a corpus shows which blanks are exceptions. Long
    texts are read at their ends.
    """
    shape, text, number = data.shape, pl.col("text"), pl.int_ranges(pl.col("texts").list.len())
    whole = {
        Shape.RELATION: pl.lit(value=False),
        Shape.MENTIONS: pl.col("number") == pl.col("n") - 1,
        Shape.CHOICE: (pl.col("number") < pl.col("n_context")) | ~pl.col("context").str.contains(text, literal=True),
    }.get(shape, pl.lit(value=True))
    rows = data.rows.select(
        "id", "split", "place", "corpus", "n_context", text="texts", number=number, n=pl.col("texts").list.len(),
        context=pl.col("texts").list.slice(0, "n_context").list.join(" "),
    )  # fmt: skip
    texts = exploded(rows, "text", "number").with_columns(whole=whole)
    texts = texts.drop("n_context", "number", "n", "context").with_columns(ends_of(text))
    kinds = texts["whole"].unique()  # mostly all are whole: patterns of parts are not looked for in vain
    faults_of = {is_whole: clean_text.fault(text, whole=is_whole, some=True) for is_whole in kinds}
    of_whole, of_part = (faults_of.get(is_whole, pl.lit(None, dtype=pl.String)) for is_whole in (True, False))
    fault = pl.coalesce(pl.when("whole").then(of_whole).otherwise(of_part), clean_text.separated_markup(text))
    of_corpora = texts.select("corpus", "text", "whole").unique().partition_by("corpus")
    distinct = pl.concat(part.with_columns(fault=fault).drop_nulls("fault") for part in of_corpora)
    keys = ["corpus", "text", "whole"]
    faults = texts.join(distinct, on=keys, nulls_equal=True, maintain_order="left").drop("corpus", "whole")
    reasons = faults["fault"].value_counts().sort("fault").rows()
    return measure_rows(faults, detail=", ".join(f"{reason} {n}" for reason, n in reasons))


def doubled_words(data: AuditInput) -> Finding:
    """The share of rows with a word that is followed by the two parts it consists of (``bugünkü bugün kü``)."""
    parts = pl.col("word").shift(-1) + pl.col("word").shift(-2)
    doubled, read = [], pl.col("texts").list.eval(ends_of(pl.element()))
    for rows in data.rows.iter_slices(_ROWS_AT_ONCE):
        joined = rows.select("id", "split", "place", word=read.list.join(" . ").str.to_lowercase())
        words = exploded(joined.with_columns(pl.col("word").str.extract_all(r"\w+|\.")), "word")
        long = pl.col("word").str.len_chars() > 3  # noqa: PLR2004  "ha" and "haha" occur in real text
        doubled.append(words.filter((pl.col("word") == parts) & long).drop("word"))
    return measure_rows(pl.concat(doubled), share_of=data.rows.height)


def fidelity(data: AuditInput) -> Finding:
    """Rows whose text differs from its original outside the edit, or (with ``sources``) from the source.

    A row of one text with ``original`` and ``edit`` must agree with the original before and after the edit (in a suite
    the compared part may follow the edit instead: then it is the end of both texts). With the source texts the original
    (or the text, where there is none and no edit) must be a source sentence, or a slice of one of those of the row, or
    of these joined by spaces; only its first letter may differ in case, as after the removal of a connective. The marks
    of mentions do not count, nor does a question after a passage with marks.
    """
    rows, sources = data.rows, data.sources
    of_one_text = pl.col("texts").list.len() == 1
    edited = rows.filter(of_one_text, pl.col("original").is_not_null(), pl.col("edit_start").is_not_null())
    if sources is None and edited.is_empty():
        return SKIPPED
    text, original, start = pl.col("texts").list.first(), pl.col("original"), pl.col("edit_start")
    after = text.str.slice(pl.col("edit_end"))
    long_enough = original.str.len_chars() >= start + after.str.len_chars()
    same_before = text.str.slice(0, start) == original.str.slice(0, start)
    agrees = same_before & original.str.ends_with(after) & long_enough
    if data.shape is Shape.SEQUENCE:
        agrees |= original.str.ends_with(text.str.slice(start))
    differing = edited.filter(~agrees).select("split", "place", "id")
    if sources is None:
        return measure_rows(differing, detail=f"{edited.height} edited rows compared with their originals")
    originals = pl.when(original.is_not_null()).then(pl.concat_list("original")).otherwise("texts")
    numbered = rows.select("corpus", "sent_ids", shown=originals).with_row_index("row")
    shown = exploded(numbered.select("row", text="shown"), "text")
    unknown = shown.join(sources, on="text", how="anti", maintain_order="left")
    asked = numbered.join(unknown, on="row", how="semi", maintain_order="left")
    of_rows = exploded(asked.select("row", "corpus", sent_id="sent_ids"), "sent_id")
    of_rows = of_rows.join(sources, on=["corpus", "sent_id"], how="left", maintain_order="left")
    pieces = dict(of_rows.group_by("row").agg(pl.col("text").fill_null("")).iter_rows())
    whole = {row: " ".join(of_row) for row, of_row in pieces.items()}
    invented = {
        row for row, text in unknown.iter_rows() if not _is_shown(text, [*pieces.get(row, ()), whole.get(row, "")])
    }
    not_in_source = rows[sorted(invented)].select("split", "place", "id")
    return measure_rows(pl.concat([differing, not_in_source]), detail=f"{rows.height} rows compared with the source")


def _is_shown(text: str, pieces: Sequence[str]) -> bool:
    """Whether a text is a part of one of the pieces, or the last one with marks and perhaps a question behind it.

    With marks, blanks are not compared: a script without them has none between its sentences.
    """
    if any(_is_slice(text, piece) for piece in pieces):
        return True
    unmarked, passage = ("".join(each.split()) for each in (MARKS.sub("", text), pieces[-1]))
    return bool(MARKS.search(text)) and bool(passage) and unmarked.startswith(passage)


def _is_slice(text: str, source: str) -> bool:
    """Whether a text is a part of a source, but for the case of its first letter."""
    if text in source:
        return True
    place = source.find(text[1:])
    return place > 0 and source[place - 1].casefold() == text[:1].casefold()


INTEGRITY: Mapping[str, Callable[[AuditInput], Finding]] = {
    "dup-within": duplicates_within,
    "dup-across": partial(shared_with_earlier, "dup-across"),
    "label-conflict": label_conflicts,
    "sentence-leak": partial(shared_with_earlier, "sentence-leak"),
    "near-dup": partial(shared_with_earlier, "near-dup"),
    "altered-dup": partial(like_earlier, "altered-dup"),
    "paraphrase": partial(like_earlier, "paraphrase"),
    "target-leak": target_leaks,
    "group-split": split_groups,
    "split-equal": equal_splits,
    "split-set": missing_splits,
    "label-set": label_sets,
    "balance": balance,
    "label-shares": label_shares,
    "order": order,
    "unperturbed": unperturbed,
    "pair-split": split_pairs,
    "clean-text": unclean_text,
    "doubled-words": doubled_words,
    "fidelity": fidelity,
}
"""Check id → function; the order is the reports'."""
