"""Whether every text is what stands in the source, but for one edit."""

from collections.abc import Mapping, Sequence

import polars as pl

from discoprobe.builders.audit.frame import AuditInput
from discoprobe.builders.audit.integrity.measure import SKIPPED, Measure, measure_rows
from discoprobe.builders.config import Shape


def fidelity(data: AuditInput, sources: Mapping[tuple[str, str], str] | None) -> Measure:
    """Rows whose text differs from its original outside the edit, or (with ``sources``) from the source.

    A row of one text with ``original`` and ``edit`` must agree with the original before and after the edit (in a suite
    the compared part may follow the edit instead: then it is the end of both texts). With the source texts the original
    (or the text, where there is none and no edit) must be a slice of one of them, or of those of the row joined by
    spaces; only its first letter may differ in case, as after the removal of a connective.
    """
    of_one_text = pl.col("texts").list.len() == 1
    edited = data.rows.filter(of_one_text, pl.col("original").is_not_null(), pl.col("edit_start").is_not_null())
    agrees = _agrees_outside_edit() | (_ends_alike() if data.shape is Shape.SEQUENCE else pl.lit(value=False))
    bad = [edited.filter(~agrees)] if edited.height else []
    if sources is not None:
        bad.append(_not_in_source(data.rows, sources))
    elif not edited.height:
        return SKIPPED
    compared = f"{data.rows.height} rows compared with the source" if sources is not None else ""
    detail = compared or f"{edited.height} edited rows compared with their originals"
    return measure_rows(pl.concat([frame.select("split", "place", "id") for frame in bad]), detail=detail)


def _agrees_outside_edit() -> pl.Expr:
    text, original, start = pl.col("texts").list.first(), pl.col("original"), pl.col("edit_start")
    before = text.str.slice(0, start) == original.str.slice(0, start)
    after = text.str.slice(pl.col("edit_end"))
    room = original.str.len_chars() >= (start + after.str.len_chars())
    return before & original.str.ends_with(after) & room


def _ends_alike() -> pl.Expr:
    """Whether a text and its original are equal from the compared part on."""
    return pl.col("original").str.ends_with(pl.col("texts").list.first().str.slice(pl.col("edit_start")))


def _not_in_source(rows: pl.DataFrame, sources: Mapping[tuple[str, str], str]) -> pl.DataFrame:
    """Rows with a text that is neither a source sentence nor a slice of its own."""
    known = frozenset(sources.values())
    originals = pl.when(pl.col("original").is_not_null()).then(pl.concat_list("original")).otherwise("texts")
    checked = rows.select("split", "place", "id", "corpus", "sent_ids", texts=originals)
    bad = [
        not all(text in known or _is_slice(text, corpus, sent_ids or (), sources) for text in texts)
        for corpus, sent_ids, texts in checked.select("corpus", "sent_ids", "texts").iter_rows()
    ]
    return checked.filter(pl.Series(bad, dtype=pl.Boolean))


def _is_slice(text: str, corpus: str, sent_ids: Sequence[str], sources: Mapping[tuple[str, str], str]) -> bool:
    texts = [sources.get((corpus, sent_id), "") for sent_id in sent_ids]
    pieces = [*texts, " ".join(texts)]
    return any(text in source or (text[1:] in source and _same_but_case(text, source)) for source in pieces)


def _same_but_case(text: str, source: str) -> bool:
    place = source.find(text[1:])
    return place > 0 and source[place - 1].casefold() == text[:1].casefold()
