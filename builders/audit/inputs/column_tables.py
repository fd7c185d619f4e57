"""Tables as rows for the audit: a label column and text columns, or the good and the bad sentence of minimal pairs."""

from collections import Counter
from collections.abc import Mapping, Sequence

import polars as pl

from discoprobe.builders import hashing
from discoprobe.builders.audit.frame import (
    SCHEMA,
    AuditInput,
    Provenance,
    UnreadableDataError,
    conform,
    most_choices,
    with_used_labels,
)
from discoprobe.builders.audit.inputs.column_roles import roles_of
from discoprobe.builders.audit.inputs.label_columns import Labels, indexed
from discoprobe.builders.audit.inputs.published_columns import PAIR_COLUMNS, Roles, pair_columns
from discoprobe.builders.audit.inputs.reading import Reading, Result, Skipped
from discoprobe.builders.audit.inputs.text_files import unfolded
from discoprobe.builders.config import Shape

_LEAST_PAIRED = 0.5
"""Smallest share of rows that share their pair id with another row. Below it the column has ids of rows, some repeated,
and no pairs."""
_WITHHELD = ("-1", "?", "")
"""Values of the label column of a test set whose labels are withheld."""


def read_columns(
    name: str, splits: Mapping[str, pl.DataFrame], reading: Reading, class_names: Mapping[str, tuple[str, ...]]
) -> Result:
    """The rows of tables that others made, by split.

    Rows without text or label and rows of excluded labels are left out and counted. Splits without labels are skipped.

    Raises:
        UnreadableDataError: the roles of the columns are not clear, or no row is left.
    """
    splits = {split: unfolded(frame) for split, frame in splits.items() if frame.height}
    if not splits:
        raise UnreadableDataError(f"{name}: no rows")
    roles = roles_of(name, next(iter(splits.values())), reading, class_names)
    skipped = []
    counts: Counter[str] = Counter()
    withheld = ["", *(["-1"] if roles.label in class_names else [])]
    parts = []
    for split, frame in splits.items():
        if unfit := _unfit(f"{name}: {split}", frame, roles):
            skipped.append(unfit)
        else:
            parts.append(_rows(split, frame, roles, counts, withheld))
    if not parts or not sum(map(len, parts)):
        raise UnreadableDataError("; ".join(f"{one.name}: {one.reason}" for one in skipped) or f"{name}: no rows")
    rows = pl.concat(parts, how="vertical_relaxed")
    return _labelled(name, rows, roles, class_names, counts), tuple(skipped)


def _unfit(name: str, frame: pl.DataFrame, roles: Roles) -> Skipped | None:
    """Why a split is skipped: it lacks a column or has no labels; None if it is not."""
    for column in (roles.label, *roles.texts, *roles.choices):
        if column not in frame.columns:
            lacks = f"no column '{column}', only {', '.join(frame.columns)}"
            unlabelled = column == roles.label
            return Skipped(name, f"no labels: {lacks}" if unlabelled else lacks, unlabelled=unlabelled)
    written = frame[roles.label].cast(pl.String).str.strip_chars()
    if written.is_null().all() or (written.n_unique() == 1 and written[0] in _WITHHELD):
        reason = f"no labels: '{roles.label}' is {written[0] or 'empty'} in all {len(written)} rows"
        return Skipped(name, reason, unlabelled=True)
    return None


def _rows(split: str, frame: pl.DataFrame, roles: Roles, counts: Counter[str], withheld: Sequence[str]) -> pl.DataFrame:
    """``split``, ``label`` (as written), ``pair_id``, ``texts``, ``n_context`` and ``choice_names`` of the usable rows.

    Adds to ``counts`` why rows are left out; ``withheld`` lists the values that mean "no label".
    """
    context = _texts(frame, roles.texts, nulls=bool(roles.choices))
    pair_id = pl.col(roles.pair).cast(pl.String) if roles.pair in frame.columns else pl.lit(None, dtype=pl.String)
    label = pl.col(roles.label) if frame.schema[roles.label].is_numeric() else pl.col(roles.label).cast(pl.String)
    choices = _texts(frame, roles.choices) if roles.choices else pl.lit([], dtype=pl.List(pl.String))
    names = pl.col(roles.choice_names).cast(pl.List(pl.String)) if roles.choice_names else pl.lit(None)
    rows = frame.select(
        pl.lit(split, dtype=SCHEMA["split"]).alias("split"), label.alias(roles.label), pair_id.alias("pair_id"),
        texts=context.list.concat(choices),
        n_context=context.list.len() if roles.choices else pl.lit(0, dtype=pl.UInt32),
        choice_names=names.cast(pl.List(pl.String)), empty=_has_empty(frame, roles),
    )  # fmt: skip
    written = rows[roles.label].cast(pl.String).str.strip_chars()
    faults = rows.select(
        pl.when(written.is_null() | written.is_in(withheld)).then(pl.lit("no label"))
        .when(pl.lit(written.is_in(roles.exclude))).then(pl.format("label '{}'", written))
        .when("empty").then(pl.lit("no text"))
    ).to_series()  # fmt: skip
    counts.update(faults.drop_nulls().to_list())
    return rows.filter(faults.is_null()).drop("empty")


def _has_empty(frame: pl.DataFrame, roles: Roles) -> pl.Expr:
    """Whether a text is missing; of lists, whether they are empty."""
    empty = [
        pl.col(name).is_null() | (pl.col(name).list.len() == 0 if isinstance(frame.schema[name], pl.List)
                                  else pl.col(name).cast(pl.String).str.strip_chars() == "")
        for name in (*roles.texts, *roles.choices)
    ]  # fmt: skip
    context, choices = empty[: len(roles.texts)], empty[len(roles.texts) :]
    if choices:  # a question need not have a passage
        return pl.any_horizontal(*choices, *([pl.all_horizontal(context)] if context else []))
    several = len(roles.texts) > 2  # noqa: PLR2004  rows of a sequence may be shorter
    return pl.all_horizontal(empty) if several else pl.any_horizontal(empty)


def _texts(frame: pl.DataFrame, columns: tuple[str, ...], *, nulls: bool = False) -> pl.Expr:
    """The texts of columns (some may be lists) as one list; nulls are dropped, or empty texts with ``nulls``."""
    if not columns:
        return pl.lit([], dtype=pl.List(pl.String))
    lists = [
        pl.col(name) if isinstance(frame.schema[name], pl.List) else pl.concat_list(pl.col(name).cast(pl.String))
        for name in columns
    ]
    texts = pl.concat_list(lists).cast(pl.List(pl.String))
    return texts.list.eval(pl.element().fill_null("")) if nulls else texts.list.drop_nulls()


def _labelled(
    name: str, frame: pl.DataFrame, roles: Roles, class_names: Mapping[str, tuple[str, ...]], left_out: Counter[str]
) -> AuditInput:
    shape = _shape_of(frame, roles)
    written = frame[roles.label]
    names = class_names.get(roles.label, ())
    if shape is Shape.CHOICE:
        most = most_choices(frame)
        labels = Labels(tuple(str(place) for place in range(most)), _places(name, frame, roles.label, most))
    elif names and written.dtype.is_integer() and 0 <= int(written.min()) <= int(written.max()) < len(names):  # type: ignore[arg-type]
        used, index = with_used_labels(names, pl.DataFrame({"label": written}), shape)
        labels = Labels(used, index["label"])
    else:
        labels = indexed(written)
    scores = written.cast(pl.Float64) if written.dtype.is_numeric() else pl.lit(None, dtype=pl.Float64)
    rows = conform(frame.with_columns(labels.of_rows.alias("label"), score=scores), shape)
    ids = rows["pair_id"].drop_nulls()
    paired = bool(len(ids)) and int(ids.is_duplicated().sum()) >= _LEAST_PAIRED * rows.height
    notes = [*roles.notes, *([labels.note] if labels.note else [])]
    if len(ids) and not paired:
        notes.append(f"'{roles.pair}' names no pairs: few of its values occur twice")
        rows = rows.with_columns(pair_id=pl.lit(None, dtype=pl.String))
    about = Provenance(roles.name or "table", roles.described(), left_out=dict(left_out), notes=tuple(notes))
    return AuditInput(name, shape, labels.names, rows, pairs=paired, natural=True, external=True, read=about)


def _shape_of(frame: pl.DataFrame, roles: Roles) -> Shape:
    if roles.choices:
        return Shape.CHOICE
    longest = int(frame["texts"].list.len().max())  # type: ignore[arg-type]
    return {1: Shape.SENTENCE, 2: Shape.PAIR}.get(longest, Shape.SEQUENCE)


def _places(name: str, frame: pl.DataFrame, label: str, n: int) -> pl.Series:
    """The index of the right choice: by a list of names, by its own text, by letters, or by numbers from 0 or 1."""
    labels = frame[label].cast(pl.String).str.strip_chars()
    numbered = frame.with_columns(_label=labels)
    if not (named := _index_in(numbered, pl.col("choice_names"))).is_null().any():
        return named
    letters = {chr(ord("A") + place): str(place) for place in range(n)}
    places = labels.str.to_uppercase().replace(letters).cast(pl.Float64, strict=False).cast(pl.Int64, strict=False)
    start = 1 if places.min() == 1 and places.max() == n else 0
    outside = places.is_null() | (places < start) | (places >= n + start)
    if not outside.any():
        return places - start
    texts = _index_in(numbered, pl.col("texts").list.slice(pl.col("n_context")))
    if texts.is_null().any():
        wrong = labels.filter(outside)[0]
        raise UnreadableDataError(
            f"{name}: label '{wrong}' names none of the {n} choices; name the column with --label"
        )
    return texts


def _index_in(frame: pl.DataFrame, listed: pl.Expr) -> pl.Series:
    """The index of ``_label`` in a list of each row; null where it is not there."""
    numbered = frame.select("_label", value=listed).with_row_index("row")
    numbered = numbered.with_columns(place=pl.int_ranges(pl.col("value").list.len())).explode("value", "place")
    places = numbered.filter(pl.col("value") == pl.col("_label")).group_by("row").agg(pl.col("place").first())
    every = pl.DataFrame({"row": pl.int_range(frame.height, dtype=pl.UInt32, eager=True)})
    return every.join(places, on="row", how="left", maintain_order="left")["place"].cast(pl.Int64)


def read_pairs(name: str, splits: Mapping[str, pl.DataFrame], text: tuple[str, ...] = ()) -> AuditInput:
    """Pairs as choices between two sentences; a hash decides which place the good one has.

    ``text`` names the columns of the good and the bad sentence, where their names are not in ``PAIR_COLUMNS``.

    Raises:
        UnreadableDataError: no two columns hold the pair, or no pair is complete.
    """
    columns = (text[0], text[1]) if len(text) == 2 else pair_columns(next(iter(splits.values())).columns)  # noqa: PLR2004
    if columns is None:
        expected, there = " or ".join("/".join(pair) for pair in PAIR_COLUMNS), next(iter(splits.values())).columns
        raise UnreadableDataError(
            f"{name}: no columns of minimal pairs ({expected}) among {', '.join(there)}; name the good and the bad one "
            "with --text"
        )
    counts: Counter[str] = Counter()
    rows = conform(
        pl.concat([_choices(name, split, of, columns, counts) for split, of in splits.items()]), Shape.CHOICE
    )
    if rows.is_empty():
        raise UnreadableDataError(f"{name}: no pair of '{columns[0]}' and '{columns[1]}' is complete")
    about = Provenance("minimal pairs", columns={"good": columns[:1], "bad": columns[1:]}, left_out=dict(counts))
    labels = ("first", "second")
    return AuditInput(name, Shape.CHOICE, labels, rows, perturbation=True, natural=True, external=True, read=about)


def _choices(
    name: str, split: str, frame: pl.DataFrame, columns: tuple[str, str], counts: Counter[str]
) -> pl.DataFrame:
    lacking = [column for column in columns if column not in frame.columns]
    if lacking:
        raise UnreadableDataError(f"{name}: the {split} split has no column '{lacking[0]}'")
    good, bad = (pl.col(column).cast(pl.String) for column in columns)
    complete = frame.select(good=good, bad=bad).drop_nulls()
    if missing := frame.height - complete.height:
        counts["no text"] += missing
    label = hashing.pick(range(complete.height), 2, name, split, "place of the good sentence")
    rows = complete.with_columns(label=pl.Series(label, dtype=pl.Int64))
    in_order = (
        pl.when(pl.col("label") == 0).then(pl.concat_list("good", "bad")).otherwise(pl.concat_list("bad", "good"))
    )
    return rows.select("label", texts=in_order, split=pl.lit(split, dtype=SCHEMA["split"]))
