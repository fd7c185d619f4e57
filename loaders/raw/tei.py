"""TEI texts (plays as in DraCor, novels as in ELTeC): paragraphs, with speakers, stage directions and headings apart.

Offsets refer to the text that is extracted from the body: paragraphs and speeches with a blank line between them, verse
line by line. An act, scene or chapter is a document; paragraphs of a speech know who speaks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Final

from lxml import etree

from discoprobe.loaders.errors import CorpusFormatError, DiscoprobeError
from discoprobe.loaders.raw.document import RUNNING, DropCounts, Kind, Paragraph, RawDocument, TextWithOffsets, grouped
from discoprobe.loaders.raw.files import one_line
from discoprobe.loaders.raw.markup import clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

ELTEC: Final = "{http://distantreading.net/eltec/ns}*"
KINDS: Final[Mapping[str, Kind]] = {
    **dict.fromkeys(("p", "ab", "item", "cell"), "text"),
    "l": "verse",
    "speaker": "speaker",
    "stage": "stage",
    **dict.fromkeys(("head", "trailer", "label", "byline", "dateline", "opener", "closer"), "heading"),
    **dict.fromkeys(("salute", "signed", "epigraph", "argument"), "heading"),
}
"""Elements that are paragraphs (TEI P5, chapters 3, 4 and 7) and the kinds of these."""
REMOVED: Final = ("del", "figure", "fw", "gap", "index", "graphic", "castList", "teiHeader")
"""Elements that do not belong to the text of the work; so do notes, which are counted."""
REPLACED: Final = "|".join(f".//*[local-name()='choice']/*[local-name()='{name}']" for name in ("sic", "orig", "abbr"))
"""Forms for which ``choice`` contains a better one."""
OUTER_NOTES: Final = ".//*[local-name()='note'][not(ancestor::*[local-name()='note'])]"
XML_ID: Final = "{http://www.w3.org/XML/1998/namespace}id"
DIVISION: Final = re.compile(r"div\d?|floatingText")
WHITE: Final = re.compile(r"\s+")
CLOSING: Final = frozenset(".,;:!?…")
"""Signs before which no space remains where a stage direction was."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A paragraph or a line of verse."""

    kind: Kind
    text: str
    first: bool  # of its element
    gap: bool  # something is missing before it
    speaker: str


def read_tei(path: Path, name: str, work_id: str, counts: DropCounts, min_words: int) -> list[RawDocument]:
    """The divisions of a work as documents ``<work>-01``, ``<work>-02``, …; a work without divisions as one document.

    ``name`` is relative to the source folder. A division with fewer than ``min_words`` words of running text is joined
    with the next one, the last one with the one before.

    Raises:
        CorpusFormatError: the file is not well-formed XML, has no TEI text, or a speech names a person who is not in
            the list.
        DiscoprobeError: it cannot be read.
    """
    root = _parse(path, name)
    text = next(root.iter("{*}text"), None)
    body = None if text is None else next(text.iterchildren("{*}body", "{*}group"), None)
    if text is None or body is None:
        raise CorpusFormatError("XML, but no TEI text: no <text> with a <body>", path=name)
    _check_speakers(root, body, name)
    for matter in text.iterchildren("{*}front", "{*}back"):
        reason = f"{etree.QName(matter).localname}-matter"
        counts.add(reason, name, sum(map(len, _divisions(matter, DropCounts(), name))))
    units = _joined_units(_divisions(body, counts, name), min_words)
    genre = "fiction" if next(root.iter(ELTEC), None) is not None else ""
    genre = genre or ("drama" if next(text.iter("{*}sp"), None) is not None else "")
    width = max(2, len(str(len(units))))
    ids = [work_id] if len(units) == 1 else [f"{work_id}-{n:0{width}}" for n in range(1, len(units) + 1)]
    return [_document(unit, doc_id, name, genre, counts) for unit, doc_id in zip(units, ids, strict=True)]


def _parse(path: Path, name: str) -> etree._Element:
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True, huge_tree=True
    )
    try:
        tree = etree.parse(path, parser)
    except OSError as error:
        raise DiscoprobeError(f"{name}: cannot be read: {error.strerror or error}") from error
    except etree.XMLSyntaxError as error:
        line, column = error.position
        problem = f"not well-formed XML at column {column}: {error.msg.partition(chr(10))[0]}"
        raise CorpusFormatError(problem, path=name, line=line) from error
    types = tree.docinfo.internalDTD
    if types is not None and any(True for _ in types.iterentities()):
        raise CorpusFormatError("declares entities of its own, which are not read; replace them in the file", path=name)
    root: etree._Element = tree.getroot()
    return root


def _divisions(body: etree._Element, counts: DropCounts, name: str) -> list[list[_Part]]:
    """The parts of each division that has some; the body is without what does not belong to the work."""
    etree.strip_elements(body, *(f"{{*}}{tag}" for tag in REMOVED), with_tail=False)
    for replaced in body.xpath(REPLACED):
        replaced.clear(keep_tail=True)
    counts.add("note", name, len(body.xpath(OUTER_NOTES)))
    etree.strip_elements(body, "{*}note", with_tail=False)
    for line_end in body.iter("{*}lb"):
        line_end.text = "\n"
    walk = _Walk()
    walk.visit(body)
    return [parts for parts in walk.divisions if parts]


@dataclass(slots=True)
class _Walk:
    """A walk through a text in the order of reading, and the parts of each division visited."""

    divisions: list[list[_Part]] = field(default_factory=lambda: [[]])
    first: bool = True
    gap: bool = True
    speaker: str = ""

    def visit(self, node: etree._Element) -> None:
        """Add what is in an element."""
        self.first = True
        self._add("text", node.text)
        for child in node:
            tag = etree.QName(child).localname
            if tag == "milestone":
                self.gap = True
            elif tag in KINDS and not any(True for _ in child.iterdescendants("{*}p", "{*}l", "{*}sp")):
                self._add_paragraph(child, KINDS[tag])
            else:
                self.speaker, before = (_speaker(child) if tag == "sp" else self.speaker), self.speaker
                self._visit_division(child) if DIVISION.fullmatch(tag) else self.visit(child)
                self.first, self.speaker = True, before
            self._add("text", child.tail)

    def _visit_division(self, node: etree._Element) -> None:
        if self.divisions[-1]:
            self.divisions.append([])
        self.gap = True
        self.visit(node)
        self.gap = True

    def _add_paragraph(self, node: etree._Element, kind: Kind) -> None:
        """Add a paragraph; stage directions inside it come before it if it begins with them, else after it."""
        before: list[str] = []
        after: list[str] = []
        text = ""
        for piece, is_stage in _pieces(node):
            if is_stage:
                (after if text.strip() else before).append(piece)
            else:
                text = (text.rstrip() if piece[0] in CLOSING else text) + piece
        for stage in before:
            self._add("stage", stage)
        self._add(kind, text)
        for stage in after:
            self._add("stage", stage)

    def _add(self, kind: Kind, text: str | None) -> None:
        if text := WHITE.sub(" ", text or "").strip():
            self.divisions[-1].append(_Part(kind, text, self.first, self.gap, self.speaker))
            self.first = self.gap = False


def _speaker(speech: etree._Element) -> str:
    """Who speaks: the ids in ``who``, or else the name above the speech."""
    ids = " ".join(name.removeprefix("#") for name in speech.get("who", "").split())
    return one_line(ids or speech.findtext("{*}speaker", ""))


def _check_speakers(root: etree._Element, body: etree._Element, name: str) -> None:
    """Raise a CorpusFormatError for a ``who`` that names nobody in the list of persons, if the file has one."""
    people = {person.get(XML_ID) for cast in root.iter("{*}particDesc") for person in cast.iter("{*}*")}
    for speech in body.iter("{*}sp") if people - {None} else ():
        for who in speech.get("who", "").split():
            if who.startswith("#") and who[1:] not in people:
                problem = f"<sp who='{who}'> names nobody in <particDesc>; correct it or add the person"
                raise CorpusFormatError(problem, path=name, line=speech.sourceline)


def _pieces(node: etree._Element) -> Iterator[tuple[str, bool]]:
    """The pieces of text in a paragraph that are not empty, and whether each is a stage direction."""
    if node.text:
        yield node.text, False
    for child in node:
        if etree.QName(child).localname == "stage":
            yield "".join(child.itertext()), True
        else:
            yield from _pieces(child)
        if child.tail:
            yield child.tail, False


def _joined_units(divisions: Sequence[list[_Part]], min_words: int) -> list[list[_Part]]:
    """Divisions joined until each has enough words; the last is joined with the one before."""
    groups = list(grouped(divisions, _words, min_words))
    if len(groups) > 1 and sum(map(_words, groups[-1])) < min_words:
        groups[-2:] = [groups[-2] + groups[-1]]
    return [list(chain.from_iterable(group)) for group in groups]


def _words(parts: Sequence[_Part]) -> int:
    return sum(len(part.text.split()) for part in parts if part.kind in RUNNING)


def _document(unit: Sequence[_Part], doc_id: str, name: str, genre: str, counts: DropCounts) -> RawDocument:
    groups: list[list[_Part]] = []
    for part in unit:
        if groups and part.kind == groups[-1][-1].kind == "verse" and not (part.first or part.gap):
            groups[-1].append(part)
        else:
            groups.append([part])
    texts = ["\n".join(part.text for part in parts) for parts in groups]
    paragraphs: list[Paragraph] = []
    at = 0
    for parts, text in zip(groups, texts, strict=True):
        content = clean(TextWithOffsets.of(text, at), counts, name, markup=False)
        paragraphs.append(Paragraph(content, parts[0].kind, speaker=parts[0].speaker, gap=parts[0].gap))
        at += len(text) + len("\n\n")
    return RawDocument(doc_id, tuple(paragraphs), name, "\n\n".join(texts), extracted=True, genre=genre)
