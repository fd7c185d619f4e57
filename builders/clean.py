"""Which texts are clean enough to be shown to a model (TASKS rule 7), as polars expressions."""

from __future__ import annotations

import polars as pl

FAULTS = {
    "replacement-character": "\ufffd",
    "control-character": r"\p{Cc}",
    "private-use-character": r"\p{Co}",
    "entity": r"&(?:#\d+|#[xX][0-9a-fA-F]+|[A-Za-z][A-Za-z0-9]{1,7});",
    "tag": r"</?[A-Za-z][^<>]*>",
    "mask": r"__|(?:^|\s)_(?:\s+_)+(?:\s|$)|\S\s[#*](?:[\s,.]|$)",
}
"""Reason → pattern of what a clean text does not contain."""


def fault(text: pl.Expr) -> pl.Expr:
    """The first reason why a text is not clean, null for a clean one."""
    found = [pl.when(text.str.contains(pattern)).then(pl.lit(reason)) for reason, pattern in FAULTS.items()]
    composed = pl.when(text.str.normalize("NFC") != text).then(pl.lit("not-nfc"))
    return pl.coalesce(*found, composed, pl.lit(None, dtype=pl.String))
