"""TEI texts (plays as in DraCor, novels as in ELTeC): paragraphs with speakers, stage directions and headings apart.

The source that offsets refer to is the text extracted from the body: paragraphs and speeches with a blank line between
them, verse line by line. An act, scene or chapter is a document.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from discoprobe.loaders.errors import CorpusFormatError, DiscoprobeError
from discoprobe.loaders.raw.clean import clean
from discoprobe.loaders.raw.counts import Counts
from discoprobe.loaders.raw.document import RUNNING, Kind, RawDocument
from discoprobe.loaders.raw.tracked import Tracked

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from discoprobe.loaders.raw.document import Paragraph

ELTEC: Final = "{http://distantreading.net/eltec/ns}"
KINDS: Final[dict[str, Kind]] = {
    "p": "text",
    "ab": "text",
    "item": "text",
    "cell": "text",
    "l": "verse",
    "speaker": "speaker",
    "stage": "stage",
    "head": "heading",
    "trailer": "heading",
    "label": "heading",
    "byline": "heading",
    "dateline": "heading",
    "opener": "heading",
    "closer": "heading",
    "salute": "heading",
    "signed": "heading",
    "epigraph": "heading",
    "argument": "heading",
}
"""Elements that are paragraphs of their own (TEI P5, chapters 3, 4 and 7), and what they are for us."""
LEFT_OUT: Final = frozenset({"note", "del", "figure", "fw", "gap", "index", "graphic", "castList", "teiHeader"})
"""Elements whose text is not the work's."""
REPLACED: Final = frozenset({"sic", "orig", "abbr"})
"""What ``choice`` has a better form of."""
WHITE: Final = re.compile(r"\s+")
CLOSING: Final = frozenset(".,;:!?…")
"""What no space stands before, where a stage direction was."""
DIVISIONS: Final = re.compile(r"div\d?|floatingText")
ENTITY: Final = re.compile(rb"<!ENTITY", re.IGNORECASE)
PROLOGUE: Final = 2**16
"""Bytes in which a document type declaration is looked for."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A paragraph or a line of verse; ``first`` in its element; ``gap``: something is missing before it."""

    kind: Kind
    text: str
    first: bool
    gap: bool


@dataclass(slots=True)
class _Unit:
    """A division of a work."""

    parts: list[_Part] = field(default_factory=list)

    @property
    def words(self) -> int:
        return sum(len(part.text.split()) for part in self.parts if part.kind in RUNNING)


def read_tei(path: Path, name: str, work_id: str, counts: Counts, min_words: int) -> list[RawDocument]:
    """The divisions of a work as documents, ``<work>-01``, ``<work>-02``, …; a work in one piece is one document.

    Args:
        path: a TEI P5 file.
        name: its name below the source folder.
        work_id: the id of the work.
        counts: gets what is left out.
        min_words: a division with fewer words of running text is put together with the one after it, the last one with
            the one before.

    Raises:
        CorpusFormatError: the file is not well-formed XML, or has no TEI text.
        DiscoprobeError: it cannot be read.
    """
    root = _parse(path, name)
    text = next((node for node in root.iter() if _tag(node) == "text"), None)
    body = None if text is None else next((node for node in text if _tag(node) in {"body", "group"}), None)
    if text is None or body is None:
        raise CorpusFormatError("XML, but no TEI text: no <text> with a <body>", path=name)
    for part, reason in (("front", "front-matter"), ("back", "back-matter")):
        walks = [_Walk(Counts(), name).units(node) for node in text if _tag(node) == part]
        counts.add(reason, name, sum(len(unit.parts) for units in walks for unit in units))
    walk = _Walk(counts, name)
    units = _put_together([unit for unit in walk.units(body) if unit.parts], min_words)
    genre = _genre(root, text)
    width = max(2, len(str(len(units))))
    ids = [work_id] if len(units) == 1 else [f"{work_id}-{n:0{width}}" for n in range(1, len(units) + 1)]
    return [_document(unit, doc_id, name, genre, counts) for unit, doc_id in zip(units, ids, strict=True)]


def _parse(path: Path, name: str) -> ET.Element:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DiscoprobeError(f"{name}: cannot be read: {error.strerror}") from error
    if ENTITY.search(data[:PROLOGUE]):
        raise CorpusFormatError("declares entities of its own, which are not read; replace them in the file", path=name)
    try:
        return ET.fromstring(data)  # noqa: S314 - what XML is feared for needs entities, refused above
    except ET.ParseError as error:
        line, column = error.position
        raise CorpusFormatError(f"not well-formed XML at column {column}: {error}", path=name, line=line) from error


def _tag(node: ET.Element) -> str:
    return node.tag.rpartition("}")[2] if isinstance(node.tag, str) else ""


def _genre(root: ET.Element, text: ET.Element) -> str:
    """``fiction`` for novels of ELTeC, ``drama`` for what has speeches, else nothing."""
    if any(isinstance(node.tag, str) and node.tag.startswith(ELTEC) for node in root.iter()):
        return "fiction"
    return "drama" if any(_tag(node) == "sp" for node in text.iter()) else ""


class _Walk:
    """A walk through a text in the order of reading."""

    def __init__(self, counts: Counts, name: str) -> None:
        self.counts = counts
        self.name = name
        self.found: list[_Unit] = [_Unit()]
        self.first = self.gap = True

    def units(self, body: ET.Element) -> list[_Unit]:
        self._visit(body)
        return self.found

    def _visit(self, node: ET.Element) -> None:
        self.first = True
        self._loose(node.text)
        for child in node:
            tag = _tag(child)
            if _is_left_out(child, node):
                self._leave_out(child)
            elif tag == "milestone":
                self.gap = True
            elif tag in KINDS and not any(
                _tag(inner) in {"p", "l", "sp"} for inner in child.iter() if inner is not child
            ):
                self._block(child, KINDS[tag])
            else:
                self._visit_division(child) if DIVISIONS.fullmatch(tag) else self._visit(child)
                self.first = True
            self._loose(child.tail)

    def _visit_division(self, node: ET.Element) -> None:
        if self.found[-1].parts:
            self.found.append(_Unit())
        self.gap = True
        self._visit(node)
        self.gap = True

    def _loose(self, text: str | None) -> None:
        """Characters outside any paragraph."""
        self._add("text", text or "")

    def _block(self, node: ET.Element, kind: Kind) -> None:
        """A paragraph; stage directions inside it come before it if it begins with them, else after it."""
        before: list[str] = []
        after: list[str] = []
        words: list[str] = []
        for piece, is_stage in self._pieces(node):
            if not is_stage and piece[:1] in CLOSING:
                words[-1:] = [word.rstrip() for word in words[-1:]]
            if is_stage:
                (after if "".join(words).strip() else before).append(piece)
            else:
                words.append(piece)
        for stage in before:
            self._add("stage", stage)
        self._add(kind, "".join(words))
        for stage in after:
            self._add("stage", stage)

    def _pieces(self, node: ET.Element) -> Iterator[tuple[str, bool]]:
        if node.text:
            yield node.text, False
        for child in node:
            tag = _tag(child)
            if tag == "stage":
                yield "".join(child.itertext()), True
            elif _is_left_out(child, node):
                self._leave_out(child)
            elif tag == "lb":
                yield "\n", False
            else:
                yield from self._pieces(child)
            if child.tail:
                yield child.tail, False

    def _leave_out(self, node: ET.Element) -> None:
        if _tag(node) == "note":
            self.counts.add("note", self.name)

    def _add(self, kind: Kind, text: str) -> None:
        if text := WHITE.sub(" ", text).strip():
            self.found[-1].parts.append(_Part(kind, text, self.first, self.gap))
            self.first = self.gap = False


def _is_left_out(node: ET.Element, parent: ET.Element) -> bool:
    return _tag(node) in LEFT_OUT or (_tag(parent) == "choice" and _tag(node) in REPLACED)


def _put_together(units: Sequence[_Unit], min_words: int) -> list[_Unit]:
    found: list[_Unit] = []
    open_unit = _Unit()
    for unit in units:
        open_unit.parts += unit.parts
        if open_unit.words >= min_words:
            found.append(open_unit)
            open_unit = _Unit()
    if open_unit.parts and found:
        found[-1].parts += open_unit.parts
    elif open_unit.parts:
        found.append(open_unit)
    return found


def _document(unit: _Unit, doc_id: str, name: str, genre: str, counts: Counts) -> RawDocument:
    stretches: list[list[_Part]] = []
    for part in unit.parts:
        if stretches and part.kind == stretches[-1][-1].kind == "verse" and not (part.first or part.gap):
            stretches[-1].append(part)
        else:
            stretches.append([part])
    texts = ["\n".join(part.text for part in parts) for parts in stretches]
    source = "\n\n".join(texts)
    paragraphs: list[Paragraph] = []
    at = 0
    for parts, text in zip(stretches, texts, strict=True):
        paragraphs.append(clean(Tracked(text, ((0, at),)), counts, name, markup=False).paragraph(parts[0].kind))
        at += len(text) + len("\n\n")
    gaps = frozenset(i for i, parts in enumerate(stretches) if i and parts[0].gap)
    return RawDocument(doc_id, tuple(paragraphs), name, source, extracted=True, genre=genre, gaps=gaps)
