"""Tab-separated files without header: SentEval, X-Probe and DiscoEval."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from discoprobe.builders import hashing
from discoprobe.builders.audit.frame import SCHEMA, AuditInput, UnreadableDataError, conform
from discoprobe.builders.audit.inputs.label_columns import indexed
from discoprobe.builders.audit.inputs.split_files import NAMES, Group, pair_columns
from discoprobe.builders.config import Shape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

_LOOKED_AT = 1000
_ORIGINAL = ({"O", "I"}, {"O", "C"}, {"Orig", "Inv"}, {"Orig", "Corr"})
"""Labels of perturbation tasks of SentEval and X-Probe; the original is the first."""

Row = tuple[str, str, str, list[str]]
"""Split, id, label, texts."""


def senteval(group: Group) -> AuditInput:
    """SentEval: ``split label … text``, splits ``tr``, ``va``, ``te`` (its loader reads fields 1, 2 and the last)."""
    rows: list[Row] = []
    for place, fields in _all_lines(group):
        if len(fields) < 3 or fields[0] not in NAMES:  # noqa: PLR2004
            raise UnreadableDataError(
                f"{place}: expected 'tr|va|te, label, text' separated by tabs, found {_seen(fields)}"
            )
        rows.append((NAMES[fields[0]], place, fields[1], [fields[-1]]))
    return _labelled(group.name, Shape.SENTENCE, rows)


def xprobe(group: Group) -> AuditInput:
    """X-Probe: ``text label`` in ``tr.txt``, ``va.txt``, ``te.txt``."""
    rows: list[Row] = []
    for split, lines in group.lines().items():
        for place, fields in lines:
            if len(fields) != 2:  # noqa: PLR2004
                raise UnreadableDataError(f"{place}: expected 'text, label' separated by a tab, found {_seen(fields)}")
            rows.append((split or "test", place, fields[1].strip(), [fields[0]]))
    return _labelled(group.name, Shape.SENTENCE, rows)


def discoeval(group: Group) -> AuditInput:
    """DiscoEval with labels: ``label s1 … sn`` (SP, DC, SSP, PDTB)."""
    rows: list[Row] = []
    for split, lines in group.lines().items():
        for place, fields in lines:
            if len(fields) < 2:  # noqa: PLR2004
                raise UnreadableDataError(
                    f"{place}: expected 'label, sentence, …' separated by tabs, found {_seen(fields)}"
                )
            rows.append((split or "test", place, fields[0], fields[1:]))
    longest = max(len(texts) for *_, texts in rows)
    shape = {1: Shape.SENTENCE, 2: Shape.PAIR}.get(longest, Shape.SEQUENCE)
    return _labelled(group.name, shape, rows)


def discoeval_bso(group: Group) -> AuditInput:
    """DiscoEval's binary sentence ordering: ``s1 s2`` in the right order; both orders are made, as its loader does."""
    entries = []
    for split, lines in group.lines().items():
        for place, fields in lines:
            if len(fields) != 2:  # noqa: PLR2004
                raise UnreadableDataError(f"{place}: expected 's1, s2' separated by a tab, found {_seen(fields)}")
            entries += [
                (split or "test", f"{place}{mark}", at, texts, place)
                for at, (mark, texts) in enumerate((("", fields), ("~", fields[::-1])))
            ]
    schema = {name: SCHEMA[name] for name in ("split", "id", "label", "texts", "pair_id")}
    rows = pl.DataFrame(entries, schema=schema, orient="row")
    shuffled = rows[hashing.ranking([hashing.digest(row_id) for row_id in rows["id"]], "audit", "bso")]
    return AuditInput(
        group.name,
        Shape.PAIR,
        ("in_order", "swapped"),
        conform(shuffled, Shape.PAIR),
        perturbation=True,
        pairs=True,
        natural=True,
        external=True,
    )


TABBED: Mapping[str, Callable[[Group], AuditInput]] = {
    "senteval": senteval,
    "xprobe": xprobe,
    "discoeval": discoeval,
    "discoeval-bso": discoeval_bso,
}
"""Format name → reader."""


def guess_tabbed(group: Group) -> str | None:
    """The format whose shape the first lines have; None for a table with a header."""
    lines = group.first_lines(_LOOKED_AT)
    if not lines:
        return "discoeval"  # its reader says that the split is empty
    width = min(map(len, lines))
    if width > 2 and all(fields[0] in NAMES for fields in lines):  # noqa: PLR2004
        return "senteval"
    if _has_header(lines) or width < 2:  # noqa: PLR2004
        return None
    first, second = (_is_label([fields[at] for fields in lines]) for at in (0, -1))
    if first and not (second and width == 2 and _shorter(lines)):  # noqa: PLR2004
        return "discoeval"
    return "xprobe" if second and width == 2 else "discoeval-bso" if width == 2 else None  # noqa: PLR2004


def _has_header(lines: list[list[str]]) -> bool:
    names = {field.strip().lower() for field in lines[0]}
    return pair_columns(lines[0]) is not None or bool(names & {"label", "text", "sentence", "sentence1", "id"})


def _is_label(values: list[str]) -> bool:
    """Whether a column holds few different short values."""
    return len(set(values)) <= max(2, len(values) // 5) and max(map(len, values)) <= 80  # noqa: PLR2004


def _shorter(lines: list[list[str]]) -> bool:
    """Whether the last column is shorter than the first."""
    return sum(len(fields[-1]) for fields in lines) < sum(len(fields[0]) for fields in lines)


def _labelled(name: str, shape: Shape, rows: list[Row]) -> AuditInput:
    frame = pl.DataFrame(
        rows,
        schema={"split": pl.String, "id": pl.String, "label": pl.String, "texts": pl.List(pl.String)},
        orient="row",
    )
    labels, indices = indexed(name, frame["label"], first="O" if _perturbs(frame["label"]) else None)
    frame = frame.with_columns(indices.alias("label"), pl.col("split").cast(SCHEMA["split"]))
    return AuditInput(
        name,
        shape,
        labels,
        conform(frame, shape),
        perturbation=_perturbs(pl.Series(labels)),
        natural=True,
        external=True,
    )


def _perturbs(labels: pl.Series) -> bool:
    return set(labels.unique().to_list()) in _ORIGINAL


def _all_lines(group: Group) -> Iterable[tuple[str, list[str]]]:
    return (line for lines in group.lines().values() for line in lines)


def _seen(fields: list[str]) -> str:
    return (
        f"{len(fields)} field{'s' * (len(fields) != 1)} beginning '{fields[0][:30]}'; name the right one with --format"
    )
