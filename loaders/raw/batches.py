"""Documents in batches that depend on nothing but the documents, and what annotates one batch.

A batch is what is annotated at once, and what is lost at most when the machine dies. It is written to a file as it is
read, so that the source is read once and memory holds one batch; its annotation goes to a file that is named after
everything the annotation depends on, so that a part that is there is never made again.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from discoprobe.loaders.raw.conllu_text import Tally, running, write

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from discoprobe.loaders.raw.document import RawDocument
    from discoprobe.loaders.raw.sentences import Annotator, Sentence

FORMAT: Final = 3
"""Of the CoNLL-U and the counts that are written, and of the rules for where sentences end: one higher, and all is
annotated again."""
BATCH: Final = 40_000
"""Characters after which a batch ends, with the document; about ten seconds of one core."""
CHUNK: Final = 40_000
"""Characters of a long document that are annotated at once: what bounds memory."""


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch: its number, the key of its annotation, its size in characters, and the file with its documents."""

    number: int
    key: str
    characters: int
    file: Path


@dataclass(frozen=True, slots=True)
class Part:
    """The annotation of a batch: counts, and CoNLL-U."""

    tally: Tally
    text: bytes


def batches(
    documents: Iterable[RawDocument], identity: Mapping[str, object], folder: Path, least: int = BATCH
) -> Iterator[Batch]:
    """Writes documents to files, a batch each.

    Args:
        documents: in their order.
        identity: everything besides the documents that the annotation depends on, as JSON values.
        folder: where the files go.
        least: characters after which a batch ends, with the document.
    """
    folder.mkdir(parents=True, exist_ok=True)
    group: list[RawDocument] = []
    size = number = 0
    for document in documents:
        group.append(document)
        size += _characters(document)
        if size >= least:
            yield _batch(number, group, size, identity, folder)
            group, size, number = [], 0, number + 1
    if group:
        yield _batch(number, group, size, identity, folder)


def _characters(document: RawDocument) -> int:
    return sum(len(paragraph.text) for paragraph in running(document))


def _batch(number: int, group: list[RawDocument], size: int, identity: Mapping[str, object], folder: Path) -> Batch:
    content = [FORMAT, CHUNK, identity, [_content(document) for document in group]]
    key = hashlib.sha256(json.dumps(content, sort_keys=True, ensure_ascii=True).encode()).hexdigest()
    file = folder / f"{number:06}.pickle"
    write_whole(file, pickle.dumps(group, protocol=pickle.HIGHEST_PROTOCOL))
    return Batch(number, key, size, file)


def _content(document: RawDocument) -> list[str]:
    """What of a document is in its annotation or beside it."""
    text = hashlib.sha256(document.source_text.encode(errors="surrogatepass")).hexdigest() if document.extracted else ""
    return [document.source, document.digest, text]


def write_whole(path: Path, data: bytes) -> None:
    """Writes a file beside its place and renames it, so that it is whole or not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{os.getpid()}.new")
    beside.write_bytes(data)
    beside.replace(path)


def part_path(folder: Path, batch: Batch) -> Path:
    """Where the annotation of a batch is."""
    return folder / f"{batch.key}.part"


def annotate_batch(annotator: Annotator, batch: Batch, folder: Path) -> int:
    """Annotates a batch into its part; the number of words."""
    group: list[RawDocument] = pickle.loads(batch.file.read_bytes())  # noqa: S301 (this run wrote it)
    tally = Tally()
    found = iter(_annotated(annotator, group, tally.mends))
    text = "".join(write(document, [next(found) for _ in running(document)], tally) for document in group)
    reasons = [dict(sorted(counted.items())) for counted in (tally.drops, tally.mends)]
    head = json.dumps([tally.documents, tally.sentences, tally.words, *reasons], ensure_ascii=True)
    write_whole(part_path(folder, batch), f"{head}\n{text}".encode())
    return tally.words


def _annotated(annotator: Annotator, group: list[RawDocument], mends: Counter[str]) -> Iterator[list[Sentence]]:
    """The sentences of each running paragraph of some documents, a chunk at a time."""
    chunk, size = [], 0
    for document in group:
        for paragraph in running(document):
            chunk.append(paragraph)
            size += len(paragraph.text)
            if size >= CHUNK:
                yield from annotator.annotate(chunk, mends)
                chunk, size = [], 0
    if chunk:
        yield from annotator.annotate(chunk, mends)


def read_part(folder: Path, batch: Batch) -> Part:
    """The annotation of a batch."""
    head, _, text = part_path(folder, batch).read_bytes().partition(b"\n")
    documents, sentences, words, drops, mends = json.loads(head)
    return Part(Tally(documents, sentences, words, Counter(drops), Counter(mends)), text)


def part_words(folder: Path, batch: Batch) -> int | None:
    """The number of words in the annotation of a batch; None if it is not there."""
    try:
        with part_path(folder, batch).open(encoding="utf-8") as file:
            head: Any = json.loads(file.readline())
    except FileNotFoundError:
        return None
    return int(head[2])
