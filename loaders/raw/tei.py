"""Reads TEI texts (plays of DraCor, novels of ELTeC) as paragraphs, speakers, stage directions and headings.

A file is parsed and checked; its body is divided at acts, scenes and chapters, each of which is a document. Offsets
refer to the text that is extracted from the body: paragraphs with a blank line between them, verse line by line. The
paragraphs of a speech have their speaker.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Final

from lxml import etree
from msgspec.structs import replace

from discoprobe.loaders.errors import CorpusFormatError
from discoprobe.loaders.raw.document import (
    RUNNING,
    DropCounts,
    Kind,
    Paragraph,
    RawDocument,
    TextWithOffsets,
    group_by_size,
    lay_out,
    one_line,
)
from discoprobe.loaders.tables import read_bytes
from discoprobe.loaders.words import word_count

ELTEC: Final = "{http://distantreading.net/eltec/ns}*"
KINDS: Final[Mapping[str, Kind]] = {
    **dict.fromkeys(("p", "ab", "item", "cell"), "text"),
    "l": "verse",
    "speaker": "speaker",
    "stage": "stage",
    **dict.fromkeys(("head", "trailer", "label", "byline", "dateline", "opener", "closer"), "heading"),
    **dict.fromkeys(("salute", "signed", "epigraph", "argument"), "heading"),
}
"""Elements that are paragraphs (TEI P5, chapters 3, 4 and 7) → the kind of the paragraph."""
REMOVED: Final = ("del", "figure", "fw", "gap", "index", "graphic", "castList", "teiHeader")
"""Elements that do not belong to the text of the work; so do notes, which are counted."""
REPLACED: Final = "|".join(f".//*[local-name()='choice']/*[local-name()='{name}']" for name in ("sic", "orig", "abbr"))
"""Forms beside which ``choice`` has a corrected, modern or expanded form."""
OUTER_NOTES: Final = ".//*[local-name()='note'][not(ancestor::*[local-name()='note'])]"
XML_ID: Final = "{http://www.w3.org/XML/1998/namespace}id"
DIVISION: Final = re.compile(r"div\d?|floatingText")
CLOSING: Final = frozenset(".,;:!?…")
"""Punctuation marks before which the space is removed after a stage direction was taken out."""


def read_tei(path: Path, name: str, work_id: str, counts: DropCounts, min_words: int) -> list[RawDocument]:
    """The divisions of a work as rows with the ids ``<work>-01``, ``<work>-02``, …; one row if there is one division.

    ``name`` is relative to the source folder. A division with fewer than ``min_words`` words of running text is joined
    with the next one; if it is the last one, with the one before.

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
    people = {person.get(XML_ID) for cast in root.iter("{*}particDesc") for person in cast.iter("{*}*")}
    for speech in body.iter("{*}sp") if people - {None} else ():
        for who in speech.get("who", "").split():
            if who.startswith("#") and who[1:] not in people:
                problem = f"<sp who='{who}'> names nobody in <particDesc>; correct it or add the person"
                raise CorpusFormatError(problem, path=name, line=speech.sourceline)
    for matter in text.iterchildren("{*}front", "{*}back"):
        n = sum(len(each.text.split("\n")) for each in chain(*_divisions(matter, DropCounts(), name)))
        counts.add(f"{etree.QName(matter).localname}-matter", name, n)
    documents = list(group_by_size(_divisions(body, counts, name), _n_words, min_words))
    if len(documents) > 1 and sum(map(_n_words, documents[-1])) < min_words:
        documents[-2:] = [documents[-2] + documents[-1]]
    genre = "fiction" if next(root.iter(ELTEC), None) is not None else ""
    genre = genre or ("drama" if next(text.iter("{*}sp"), None) is not None else "")
    width = max(2, len(str(len(documents))))
    rows = []
    for number, divisions in enumerate(documents, 1):
        extracted, paragraphs = lay_out(list(chain(*divisions)))
        doc_id = work_id if len(documents) == 1 else f"{work_id}-{number:0{width}}"
        rows.append(RawDocument(doc_id, paragraphs, name, extracted, extracted=True, genre=genre))
    return rows


def _parse(path: Path, name: str) -> etree._Element:
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True, huge_tree=True
    )
    try:
        root = etree.fromstring(read_bytes(path, name), parser)
    except etree.XMLSyntaxError as error:
        line, column = error.position
        problem = f"not well-formed XML at column {column}: {error.msg.partition(chr(10))[0]}"
        raise CorpusFormatError(problem, path=name, line=line) from error
    types = root.getroottree().docinfo.internalDTD
    if types is not None and any(True for _ in types.iterentities()):
        raise CorpusFormatError("declares entities of its own, which are not read; replace them in the file", path=name)
    return root


def _divisions(body: etree._Element, counts: DropCounts, name: str) -> list[list[Paragraph]]:
    """The paragraphs of each division that is not empty, verse line by line; notes in it are counted.

    Elements that do not belong to the work, and the forms ``REPLACED``, are removed from ``body``.
    """
    etree.strip_elements(body, *(f"{{*}}{tag}" for tag in REMOVED), with_tail=False)
    for replaced in body.xpath(REPLACED):
        replaced.clear(keep_tail=True)
    counts.add("note", name, len(body.xpath(OUTER_NOTES)))
    etree.strip_elements(body, "{*}note", with_tail=False)
    for line_end in body.iter("{*}lb"):
        line_end.text = "\n"
    body.tail = None
    divisions: list[list[Paragraph]] = [[]]
    gap, before = True, body
    walk = etree.iterwalk(body, events=("start", "end"))
    for event, node in walk:
        tag, starts = etree.QName(node).localname, event == "start"
        if tag == "milestone" or DIVISION.fullmatch(tag):
            gap = True
            if tag != "milestone" and starts and divisions[-1]:
                divisions.append([])
        within = node
        texts: Iterable[tuple[str | None, Kind]] = [(node.text if starts else node.tail, "text")]
        is_paragraph = starts and tag in KINDS and next(node.iterdescendants("{*}p", "{*}l", "{*}sp"), None) is None
        if node is not body and (not starts or is_paragraph):
            within = node.getparent()
            if starts:
                texts = _with_stages(node)
                walk.skip_subtree()
        for text, kind in texts:
            if line := " ".join((text or "").split()):
                last = divisions[-1][-1] if divisions[-1] and not gap else None
                if last and kind == last.kind == "verse" and within is before:
                    divisions[-1][-1] = replace(last, content=TextWithOffsets(f"{last.text}\n{line}"))
                else:
                    divisions[-1].append(Paragraph(TextWithOffsets(line), kind, speaker=_speaker(within), gap=gap))
                gap, before = False, within
    return [paragraphs for paragraphs in divisions if paragraphs]


def _with_stages(node: etree._Element) -> Iterator[tuple[str, Kind]]:
    """The text of a paragraph, and the stage directions in it: before it if it begins with them, else after it."""
    stages: tuple[list[str], list[str]] = [], []
    text = ""
    walk = etree.iterwalk(node, events=("start", "end"))
    for event, child in walk:
        is_start, is_inside = event == "start", child is not node
        if is_start and is_inside and etree.QName(child).localname == "stage":
            stages[bool(text.strip())].append("".join(child.itertext()))
            walk.skip_subtree()
        elif (is_start or is_inside) and (piece := child.text if is_start else child.tail):
            text = (text.rstrip() if piece[0] in CLOSING else text) + piece
    yield from ((stage, "stage") for stage in stages[0])
    yield text, KINDS[etree.QName(node).localname]
    yield from ((stage, "stage") for stage in stages[1])


def _n_words(paragraphs: Sequence[Paragraph]) -> int:
    running = (paragraph.text for paragraph in paragraphs if paragraph.kind in RUNNING)
    return sum(word_count(line) for text in running for line in text.split("\n"))


def _speaker(within: etree._Element) -> str:
    """The speaker of an element: the ids in ``who`` of the speech, else the text of ``speaker``; empty if none."""
    speech = next(chain([within] if etree.QName(within).localname == "sp" else (), within.iterancestors("{*}sp")), None)
    if speech is None:
        return ""
    ids = " ".join(name.removeprefix("#") for name in speech.get("who", "").split())
    return one_line(ids or speech.findtext("{*}speaker", ""))
