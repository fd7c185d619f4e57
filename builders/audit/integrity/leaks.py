"""Rows that must go so that nothing leaks between splits."""

from collections import Counter
from dataclasses import replace

import polars as pl

from discoprobe.builders.audit.frame import AuditInput
from discoprobe.builders.audit.integrity.checks import Subject, near_keyed

LEAKS = {
    "dup-across": "the row occurs in a later split, too",
    "sentence-leak": "a sentence of the row occurs in a later split, too",
    "near-dup": "a sentence of the row is nearly one of a later split",
    "dup-within": "the row occurs before in its split",
}
"""Check → what it means for a row that was left out."""


def without_leaks(data: AuditInput) -> tuple[AuditInput, dict[str, int]]:
    """``data`` without the rows of earlier splits that leak into later ones, and how many rows each check cost.

    Later splits stay as they were published, so that scores on them can be compared. Of a row that occurs several times
    in its split the first stays.
    """
    counts: Counter[str] = Counter()
    rows = data.rows
    for check in LEAKS:
        subject = Subject.of(replace(data, rows=rows))
        gone = _leaking(subject, check).unique(["split", "place"])
        counts[check] += gone.height
        rows = rows.join(gone, on=["split", "place"], how="anti", maintain_order="left")
    placed = rows.with_columns(place=pl.int_range(pl.len(), dtype=pl.UInt32).over("split"))
    return replace(data, rows=placed), {check: n for check, n in counts.items() if n}


def _leaking(subject: Subject, check: str) -> pl.DataFrame:
    """``split`` and ``place`` of the rows that must go."""
    if check == "dup-within":
        again = pl.int_range(pl.len()).over("split", "input") > 0
        return subject.keyed.filter(again).select("split", "place")
    if check == "dup-across":
        frame, key = subject.keyed, "input"
    else:
        near = check == "near-dup"
        frame, key = (near_keyed(subject), "cluster") if near else (subject.sentences, "sentence")
    latest = pl.col("split").to_physical().max().over(key)
    return frame.filter(latest > pl.col("split").to_physical()).select("split", "place")
