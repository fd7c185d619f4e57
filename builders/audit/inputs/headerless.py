"""Tab-separated files without header: SentEval, X-Probe, DiscoEval, CoLA and the multilingual Winograd schemas."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from discoprobe.builders import hashing
from discoprobe.builders.audit.frame import SCHEMA, AuditInput, Provenance, UnreadableDataError, conform
from discoprobe.builders.audit.inputs.label_columns import indexed
from discoprobe.builders.audit.inputs.split_files import NAMES, pair_columns
from discoprobe.builders.audit.inputs.text_files import has_header, is_quoted
from discoprobe.builders.config import Shape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

_ORIGINAL = ({"O", "I"}, {"O", "C"}, {"Orig", "Inv"}, {"Orig", "Corr"})
"""Labels of perturbation tasks of SentEval and X-Probe; the original is the first."""
_LONGEST_LABEL = 80
_REPEATED = 0.2
"""Different labels for each row, at most; word content has 1,000 labels in 10,000 rows."""

Lines = list[tuple[str, list[str]]]
"""Id (``te.txt:12``) and fields of each line that is not empty."""
Row = tuple[str, str, str, list[str]]
"""Split, id, label, texts."""


class Tabbed(NamedTuple):
    """The lines of a data set: its name, and the lines of each split (``""`` where the file name says none)."""

    name: str
    lines: Mapping[str, Lines]

    def all_lines(self) -> Iterable[tuple[str, str, list[str]]]:
        """Split, id and fields of each line."""
        return ((split or "test", place, fields) for split, lines in self.lines.items() for place, fields in lines)


def senteval(data: Tabbed) -> AuditInput:
    """SentEval: ``split label … text``, splits ``tr``, ``va``, ``te`` (its loader reads fields 1, 2 and the last)."""
    rows: list[Row] = []
    for _, place, fields in data.all_lines():
        if len(fields) < 3 or fields[0] not in NAMES:  # noqa: PLR2004
            raise UnreadableDataError(
                f"{place}: expected 'tr|va|te, label, text' separated by tabs, found {_seen(fields)}"
            )
        rows.append((NAMES[fields[0]], place, fields[1], [fields[-1]]))
    return _labelled(data.name, rows, "SentEval", "split, label, text")


def xprobe(data: Tabbed) -> AuditInput:
    """X-Probe: ``text label`` in ``tr.txt``, ``va.txt``, ``te.txt``."""
    rows: list[Row] = []
    for split, place, fields in data.all_lines():
        if len(fields) != 2:  # noqa: PLR2004
            raise UnreadableDataError(f"{place}: expected 'text, label' separated by a tab, found {_seen(fields)}")
        rows.append((split, place, fields[1].strip(), [fields[0]]))
    return _labelled(data.name, rows, "X-Probe", "text, label")


def discoeval(data: Tabbed) -> AuditInput:
    """DiscoEval with labels: ``label s1 … sn`` (SP, DC, SSP, PDTB)."""
    rows: list[Row] = []
    for split, place, fields in data.all_lines():
        if len(fields) < 2:  # noqa: PLR2004
            raise UnreadableDataError(
                f"{place}: expected 'label, sentence, …' separated by tabs, found {_seen(fields)}"
            )
        rows.append((split, place, fields[0], fields[1:]))
    longest = max(len(texts) for *_, texts in rows)
    return _labelled(data.name, rows, "DiscoEval", "label, " + ", ".join(f"s{n}" for n in range(1, longest + 1)))


def discoeval_bso(data: Tabbed) -> AuditInput:
    """DiscoEval's binary sentence ordering: ``s1 s2`` in the right order; both orders are made, as its loader does."""
    entries = []
    for split, place, fields in data.all_lines():
        if len(fields) != 2:  # noqa: PLR2004
            raise UnreadableDataError(f"{place}: expected 's1, s2' separated by a tab, found {_seen(fields)}")
        entries += [
            (split, f"{place}{mark}", at, texts, place)
            for at, (mark, texts) in enumerate((("", fields), ("~", fields[::-1])))
        ]
    schema = {name: SCHEMA[name] for name in ("split", "id", "label", "texts", "pair_id")}
    rows = pl.DataFrame(entries, schema=schema, orient="row")
    shuffled = rows[hashing.ranking([hashing.digest(row_id) for row_id in rows["id"]], "audit", "bso")]
    return AuditInput(
        data.name, Shape.PAIR, ("in_order", "swapped"), conform(shuffled, Shape.PAIR), perturbation=True, pairs=True,
        natural=True, external=True,
        read=Provenance("DiscoEval BSO", columns={"fields": ("s1, s2",)},
                        notes=("the files hold no labels: each pair gives a row in order and a row swapped",)),
    )  # fmt: skip


def cola(data: Tabbed) -> AuditInput:
    """CoLA: ``source label mark text``; the mark (``*``) is what the source's author wrote."""
    rows: list[Row] = []
    for split, place, fields in data.all_lines():
        if len(fields) != 4:  # noqa: PLR2004
            raise UnreadableDataError(f"{place}: expected 'source, label, mark, text', found {_seen(fields)}")
        rows.append((split, place, fields[1], [fields[3]]))
    return _labelled(data.name, rows, "CoLA", "source, label, mark, text")


def xwino(data: Tabbed) -> AuditInput:
    """Winograd schemas of many languages: ``language source _ text tokens pronoun candidates``, the last in JSON."""
    entries, languages = [], Counter[str]()
    for split, place, fields in data.all_lines():
        try:
            candidates = json.loads(fields[6])
            truth = [bool(candidate[3]) for candidate in candidates]
        except (IndexError, ValueError, TypeError) as error:
            raise UnreadableDataError(
                f"{place}: expected the candidates in JSON in field 7, found {_seen(fields)}"
            ) from error
        if sum(truth) != 1:
            raise UnreadableDataError(f"{place}: {sum(truth)} candidates are right instead of one")
        languages[fields[0]] += 1
        entries.append((split, place, truth.index(True), [fields[3], *(candidate[0] for candidate in candidates)], 1))
    schema = {name: SCHEMA[name] for name in ("split", "id", "label", "texts", "n_context")}
    rows = conform(pl.DataFrame(entries, schema=schema, orient="row"), Shape.CHOICE)
    most = max(len(texts) for *_, texts, _ in entries) - 1
    spread = ", ".join(f"{language} {n}" for language, n in languages.most_common())
    about = Provenance("XWino", columns={"fields": ("language, text, candidates",)}, notes=(f"languages: {spread}",))
    labels = tuple(map(str, range(most)))
    return AuditInput(data.name, Shape.CHOICE, labels, rows, natural=True, external=True, read=about)


TABBED: Mapping[str, Callable[[Tabbed], AuditInput]] = {
    "senteval": senteval,
    "xprobe": xprobe,
    "discoeval": discoeval,
    "discoeval-bso": discoeval_bso,
    "cola": cola,
    "xwino": xwino,
}
"""Format name → reader."""


def guess_tabbed(data: Tabbed) -> str | None:
    """The format of lines without header; None for a table.

    Raises:
        UnreadableDataError: they could be two of them.
    """
    lines = [fields for _, _, fields in data.all_lines()]
    if not lines or is_quoted("\n".join("\t".join(fields) for fields in lines[:200])):
        return None
    if min(map(len, lines)) > 2 and all(fields[0] in NAMES for fields in lines[:1000]):  # noqa: PLR2004
        return "senteval"
    if pair_columns(lines[0]) is not None or has_header(lines[:1000]):
        return None
    return _by_fields(data.name, lines)


def _by_fields(name: str, lines: list[list[str]]) -> str | None:
    widest, narrowest = max(map(len, lines)), min(map(len, lines))
    if _is_cola(lines):
        return "cola"
    if narrowest >= 7 and all(fields[5][:1] == fields[6][:1] == "[" for fields in lines[:100]):  # noqa: PLR2004
        return "xwino"
    if widest == 2:  # noqa: PLR2004
        return _of_two_fields(name, lines)
    first = _is_label([fields[0] for fields in lines])
    return "discoeval" if first and widest > 2 and not _is_label([fields[-1] for fields in lines]) else None  # noqa: PLR2004


def _of_two_fields(name: str, lines: list[list[str]]) -> str:
    first, last = (_is_label([fields[at] for fields in lines]) for at in (0, -1))
    if first or last:
        before = first and (not last or _length(lines, 0) < _length(lines, -1))
        return "discoeval" if before else "xprobe"
    if min(_spaced(lines, 0), _spaced(lines, -1)) > 0.5 or _unspaced(lines):  # noqa: PLR2004  both are sentences
        return "discoeval-bso"
    raise UnreadableDataError(
        f"{name}: two fields without header, '{lines[0][0][:30]}' and '{lines[0][-1][:30]}', could be text and label "
        "(--format xprobe), label and text (--format discoeval), or two sentences (--format discoeval-bso)"
    )


def _is_cola(lines: list[list[str]]) -> bool:
    sources = {fields[0] for fields in lines}
    return all(len(fields) == 4 and fields[1] in {"0", "1"} and fields[2] in {"", "*"} for fields in lines) and all(  # noqa: PLR2004
        re.fullmatch(r"[\w&.-]{1,12}", source) for source in sources
    )


def _is_label(values: list[str]) -> bool:
    """Whether a column holds short values that are repeated throughout."""
    return len(set(values)) <= max(2, _REPEATED * len(values)) and max(map(len, values)) <= _LONGEST_LABEL


def _length(lines: list[list[str]], at: int) -> int:
    return sum(len(fields[at]) for fields in lines)


def _spaced(lines: list[list[str]], at: int) -> float:
    return sum(" " in fields[at].strip() for fields in lines) / len(lines)


def _unspaced(lines: list[list[str]]) -> bool:
    """Whether both fields are like long, in a script without spaces between words."""
    long = min(_length(lines, 0), _length(lines, -1)) / len(lines)
    return (
        long > 4 * 2 and re.search(r"[\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u4e00-\u9fff]", lines[0][0]) is not None
    )


def _labelled(name: str, rows: list[Row], kind: str, fields: str) -> AuditInput:
    frame = pl.DataFrame(
        rows,
        schema={"split": pl.String, "id": pl.String, "label": pl.String, "texts": pl.List(pl.String)},
        orient="row",
    )
    empty = (pl.col("texts").list.len() < 2) & (pl.col("texts").list.join("").str.strip_chars() == "")  # noqa: PLR2004
    faults = frame.select(
        pl.when(pl.col("label").str.strip_chars() == "").then(pl.lit("no label")).when(empty).then(pl.lit("no text"))
    ).to_series()
    frame = frame.filter(faults.is_null())
    if frame.is_empty():
        raise UnreadableDataError(f"{name}: no rows with text and label")
    perturbs = set(frame["label"].unique().to_list()) in _ORIGINAL
    found = indexed(frame["label"], first="O" if perturbs else None)
    frame = frame.with_columns(found.of_rows.alias("label"), pl.col("split").cast(SCHEMA["split"]))
    longest = max(len(texts) for *_, texts in rows)
    shape = {1: Shape.SENTENCE, 2: Shape.PAIR}.get(longest, Shape.SEQUENCE)
    about = Provenance(kind, columns={"fields": (fields,)}, left_out=Counter(faults.drop_nulls().to_list()))
    return AuditInput(
        name, shape, found.names, conform(frame, shape), perturbation=perturbs, natural=True, external=True, read=about
    )


def _seen(fields: list[str]) -> str:
    return (
        f"{len(fields)} field{'s' * (len(fields) != 1)} beginning '{fields[0][:30]}'; name the right one with --format"
    )
