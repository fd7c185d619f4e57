"""Files with a segment per line, and a file that tells the document of each line (NTREX, WMT test sets).

Segments are sentences, or taken as such: the translations of a document are aligned by them. The first segment of a
document is its headline, in all 123 documents of newstest2019.
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING, Final

import langcodes

from discoprobe.loaders.errors import CorpusFormatError, DiscoprobeError
from discoprobe.loaders.raw.clean import clean
from discoprobe.loaders.raw.document import RawDocument
from discoprobe.loaders.raw.ids import document_id
from discoprobe.loaders.raw.lines import Line, lines_of
from discoprobe.loaders.raw.tracked import Tracked, joined

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from discoprobe.loaders.raw.counts import Counts
    from discoprobe.loaders.raw.document import Paragraph

IDS: Final = "DOCUMENT_IDS.tsv"
CODE: Final = re.compile(r"[.-]")


def ids_beside(path: Path) -> Path | None:
    """The file with the documents of a file's lines, if there is one."""
    ids = path.parent / IDS
    return ids if ids.is_file() and path.name != IDS else None


def file_of_language(folder: Path, lang: str) -> Path:
    """The file of a language among those of a folder, named as in ``newstest2019-ref.deu.txt``.

    Raises:
        DiscoprobeError: there is none, or several.
    """
    if not lang:
        raise DiscoprobeError(
            f"{folder}: has the same documents in many languages; say which with --lang, or name a file"
        )
    language = langcodes.Language.get(lang)
    macro = {"ar": "arb", "fa": "pes", "zh": "cmn"}.get(lang, lang)
    codes = {lang, language.to_alpha3(), macro}
    found = [
        path for path in sorted(folder.glob("*.txt")) if codes & set(CODE.split(path.name.removesuffix(".txt"))[1:])
    ]
    if len(found) != 1:
        names = ", ".join(path.name for path in found) or "none"
        raise DiscoprobeError(f"{folder}: one file of language '{lang}' expected, found: {names}; name a file")
    return found[0]


def read_aligned(source: str, ids: str, name: str, counts: Counts) -> list[RawDocument]:
    """The documents of a file whose lines are segments, in the order of the file.

    Args:
        source: its characters.
        ids: one document id per line.
        name: of the file.
        counts: gets what is left out.

    Raises:
        CorpusFormatError: there are not as many ids as segments, or a document's lines are not together.
    """
    lines, names = lines_of(source), [line.text for line in lines_of(ids)]
    if source.endswith("\n"):
        lines = lines[:-1]
    if ids.endswith("\n"):
        names = names[:-1]
    if len(lines) != len(names):
        raise CorpusFormatError(f"has {len(lines)} lines, {IDS} beside it has {len(names)}", path=name)
    found: dict[str, RawDocument] = {}
    for label, group in groupby(enumerate(lines), key=lambda entry: names[entry[0]]):
        rows = list(group)
        if label in found:
            problem = f"document '{label}' goes on here, after another one: {IDS} must keep its lines together"
            raise CorpusFormatError(problem, path=name, line=rows[0][0] + 1)
        found[label] = _document(source, [line for _, line in rows], document_id(label), name, counts)
    return list(found.values())


def _document(source: str, lines: Sequence[Line], doc_id: str, name: str, counts: Counts) -> RawDocument:
    cleaned = [clean(Tracked(source[line.start : line.end], ((0, line.start),)), counts, name) for line in lines]
    stretches: list[list[Tracked]] = [[]]
    for text in cleaned:
        if text.text:
            stretches[-1].append(text)
        else:
            counts.add("empty-segment", name)
            stretches.append([])
    stretches = [stretch for stretch in stretches if stretch]
    paragraphs: list[Paragraph] = []
    if stretches:
        paragraphs.append(stretches[0].pop(0).paragraph("heading"))
    for stretch in filter(None, stretches):
        text, spans = joined(stretch)
        paragraphs.append(text.paragraph(sentences=spans))
    gaps = frozenset(range(1, len(paragraphs)))
    return RawDocument(doc_id, tuple(paragraphs), name, source, gaps=gaps)
