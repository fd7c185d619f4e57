"""Annotate documents into a corpus: a folder of CoNLL-U shards with ``annotate.json``.

A batch of documents is what is annotated at once, and what is lost at most when the machine dies. Batches are stored
in the cache, so that the source is read once and memory holds one. The subfolder ``.annotating`` holds everything
unfinished: the annotations of batches (parts), each named after everything that it depends on, so that it is never made
again, and the new shards, which are moved to their place when all are complete. The manifest is written last. The files
do not depend on how often a run was killed and how many processes worked.

The comments of CoNLL-U (https://universaldependencies.org/format.html) are ``newdoc id``, ``genre``, ``newpar``,
``sent_id``, ``section_number`` and ``speaker`` where there are any, ``source`` (file, first character, end) and
``text``. MISC has ``SpaceAfter=No`` and, as in UDPipe, ``TokenRange=start:end``. All offsets are characters of the
decoded source. The sentences of a document are numbered, and a number is skipped where the text is interrupted: by a
heading, a stage direction, or text that was removed. A reader that looks for gaps in the ids, as ours does, never takes
the sentences on both sides for neighbours.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import pickle
import shutil
import time
from collections import Counter
from concurrent.futures import as_completed
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import islice, zip_longest
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from discoprobe.loaders import annotation_manifest as manifests
from discoprobe.loaders.annotation_manifest import NAME, WORK, AnnotationManifest
from discoprobe.loaders.errors import DiscoprobeError, UnsupportedError
from discoprobe.loaders.file_hashes import hash_of_json, hashes_of
from discoprobe.loaders.folders import alone, cache_folder, work_folder, write_atomically
from discoprobe.loaders.process_pool import process_pool
from discoprobe.loaders.raw.annotate.placed_sentences import MISSING, loaded, placed
from discoprobe.loaders.raw.document import grouped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from discoprobe.loaders.corpus import SourceFile
    from discoprobe.loaders.process_pool import Progress
    from discoprobe.loaders.raw.annotate.placed_sentences import Engine, PlacedSentence, Sentence
    from discoprobe.loaders.raw.document import RawDocument

FORMAT: Final = 8
"""Version of the CoNLL-U and counts that are written, and of the rules for sentence boundaries; a higher one makes all
parts anew."""
BATCH: Final = 40_000
"""Characters after which a batch ends, with the document; about ten seconds of one core."""
CHUNK: Final = 40_000
"""Characters of a long document that are annotated at once, which bounds memory."""
SHARD: Final = 8 * 2**20
"""Bytes after which a shard ends, with the batch."""
TEXTS: Final = "text"
"""The subfolder for texts that are in no file of the source."""
MAX_FILE_NAME: Final = 200
"""Bytes; file systems allow 255."""


@dataclass(frozen=True, slots=True)
class CorpusFacts:
    """What is known of a corpus besides its text: name, language, licence, citation, and where it is from."""

    name: str
    lang: str
    licence: str = "unknown"
    citation: str = ""
    repo: str = ""
    commit: str = ""


@dataclass(frozen=True, slots=True)
class ReadingReport:
    """What is known of the source when all of its documents were read, as JSON values."""

    files: tuple[SourceFile, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    drops: Mapping[str, int] = field(default_factory=dict)
    places: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AnnotationJob:
    """What to annotate, and how."""

    documents: Iterable[RawDocument]  # read once, one batch in memory
    report: Callable[[], ReadingReport]  # what is known of the source when all documents were read
    facts: CorpusFacts
    engine: Engine
    jobs: int = 1  # processes; each loads the models, and works on one thread
    progress: Progress | None = None  # called with the words annotated and the number of words expected
    batch: int = BATCH  # characters after which a batch ends, with the document


@dataclass(frozen=True, slots=True)
class AnnotatedCorpus:
    """An annotated corpus: its folder, its ``annotate.json``, and how many words this run annotated in how long."""

    folder: Path
    manifest: AnnotationManifest
    new_words: int
    seconds: float


class _Counts(NamedTuple):
    """What was written (``documents``, ``sentences``, ``words``), drops by reason, corrected boundaries by kind."""

    written: Counter[str]
    drops: Counter[str]
    corrections: Counter[str]


class _Batch(NamedTuple):
    """The key of its annotation, its size in characters, and the file with its documents."""

    key: str
    characters: int
    file: Path


def annotate(job: AnnotationJob, out: Path | None = None) -> AnnotatedCorpus:
    """Annotate documents into a folder; complete or update an annotation of the same corpus that is there.

    By default the folder is in the cache, named after content, models and options, so that it is made only once.

    Raises:
        UnsupportedError: there is no document.
        DiscoprobeError: the folder holds something else, or another process works in it; or annotation failed.
    """
    cache = cache_folder() / "annotated"
    with ExitStack() as held:
        if out is not None:
            held.enter_context(_alone(out))
            _check_folder(out, job.facts)
        work = held.enter_context(work_folder(cache))
        batches = list(_batches(job, work))
        report = job.report()
        if not batches:
            most = ", ".join(f"{reason} {n:,}" for reason, n in Counter(report.drops).most_common(4))
            why = f" (left out: {most})" if most else ""
            raise UnsupportedError(f"no text of {job.facts.lang} in {job.facts.name}: nothing is left to annotate{why}")
        content = hash_of_json([job.facts.name, job.facts.lang, SHARD, [batch.key for batch in batches]])
        if out is None:
            out = cache / content[:2] / content
            held.enter_context(_alone(out))
        return _finished(job, batches, report, content, out)


def _alone(out: Path) -> AbstractContextManager[None]:
    """Keeps other processes out of the folder of a corpus."""
    folder = out.resolve()
    folder.parent.mkdir(parents=True, exist_ok=True)
    return alone(folder, "another process is annotating into", folder.with_name(f".{folder.name}.lock"))


def _batches(job: AnnotationJob, work: Path) -> Iterator[_Batch]:
    """The documents in batches, which are in files of a work folder, as are the texts that were extracted."""
    for number, group in enumerate(grouped(job.documents, _characters, job.batch)):
        for document in group:
            if document.extracted:
                write_atomically(work / text_file(document.doc_id), document.source_text.encode())
        contents = [[document.source, document.digest] for document in group]
        depends = [FORMAT, CHUNK, {"lang": job.facts.lang, **job.engine.identity}, contents]
        file = work / f"{number:06}.pickle"
        file.write_bytes(pickle.dumps(group, protocol=pickle.HIGHEST_PROTOCOL))
        yield _Batch(hash_of_json(depends), sum(map(_characters, group)), file)


def _finished(
    job: AnnotationJob, batches: Sequence[_Batch], report: ReadingReport, content: str, out: Path
) -> AnnotatedCorpus:
    """The corpus, made from the parts that are there and those that are missing, unless it is there as a whole."""
    begun, words, facts = time.monotonic(), 0, job.facts
    old = manifests.read_manifest(out)
    if old is not None and old["content"] == content and not manifests.first_difference(out, old["files"]):
        written = Counter(documents=old["documents"], sentences=old["sentences"], words=old["words"])
        counts, files = _Counts(written, Counter(old["drops"]["annotation"]), Counter(old["corrections"])), old["files"]
    else:
        words, old = _make_parts(job, batches, out / WORK / "parts"), None
        counts, files = _put_together(batches, out, f"{facts.lang}_{facts.name}")
    n = counts.written
    manifest = AnnotationManifest(
        format=manifests.FORMAT, name=facts.name, lang=facts.lang, licence=facts.licence, citation=facts.citation,
        repo=facts.repo, commit=facts.commit, discoprobe=importlib.metadata.version("discoprobe"), content=content,
        made_by=dict(job.engine.identity), read=dict(report.options),
        documents=n["documents"], sentences=n["sentences"], words=n["words"],
        drops={"reading": dict(sorted(report.drops.items())), "annotation": dict(sorted(counts.drops.items()))},
        corrections=dict(sorted(counts.corrections.items())),
        drop_places={reason: list(places) for reason, places in sorted(report.places.items())},
        source=manifests.entries(report.files), files=files,
    )  # fmt: skip
    if manifest != old:
        write_atomically(out / NAME, manifests.dump(manifest))
    shutil.rmtree(out / WORK, ignore_errors=True)
    return AnnotatedCorpus(out, manifest, words, time.monotonic() - begun)


def _make_parts(job: AnnotationJob, batches: Sequence[_Batch], folder: Path) -> int:
    """Annotate the batches that have no part in a folder; the number of words annotated now."""
    by_key = {batch.key: batch for batch in batches}
    done = {key: _read_part(folder, key)[0].written["words"] for key in by_key if _part(folder, key).exists()}
    todo = [batch for key, batch in by_key.items() if key not in done]
    total = sum(batch.characters for batch in by_key.values())
    before = sum(done.values())
    with process_pool(min(job.jobs, len(todo))) as pool:
        if pool is None:
            found = ((batch, _annotate_batch(job.engine, batch, folder)) for batch in todo)
        else:
            futures = {pool.submit(_annotate_batch, job.engine, batch, folder): batch for batch in todo}
            found = ((futures[future], future.result()) for future in as_completed(futures))
        for batch, words in found:
            done[batch.key] = words
            if job.progress:
                annotated = sum(by_key[key].characters for key in done)
                job.progress("annotating", sum(done.values()), round(sum(done.values()) * total / max(annotated, 1)))
    return sum(done.values()) - before


def _annotate_batch(engine: Engine, batch: _Batch, folder: Path) -> int:
    """Write the part of a batch: a line of counts, and CoNLL-U; returns the number of words."""
    documents: list[RawDocument] = pickle.loads(batch.file.read_bytes())  # noqa: S301 (this run wrote it)
    counts = _Counts(Counter(), Counter(), Counter())
    paragraphs = (paragraph for document in documents for paragraph in document.running)
    chunks = grouped(paragraphs, lambda paragraph: len(paragraph.text), CHUNK)
    annotator = loaded(engine)
    found = (sentences for chunk in chunks for sentences in annotator.annotate(chunk, counts.corrections))
    text = "".join(_conllu(one, list(islice(found, len(one.running))), counts) for one in documents)
    write_atomically(_part(folder, batch.key), f"{json.dumps(counts)}\n{text}".encode())
    return counts.written["words"]


def _part(folder: Path, key: str) -> Path:
    return folder / f"{key}.part"


def _read_part(folder: Path, key: str) -> tuple[_Counts, bytes]:
    line, _, text = _part(folder, key).read_bytes().partition(b"\n")
    return _Counts(*map(Counter, json.loads(line))), text


def _put_together(batches: Sequence[_Batch], out: Path, stem: str) -> tuple[_Counts, dict[str, manifests.FileEntry]]:
    """Make shards of the parts and put them in the place of the old files; returns the counts and the new files."""
    new = out / WORK / "new"
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    total = _Counts(Counter(), Counter(), Counter())
    parts = (_read_part(out / WORK / "parts", batch.key) for batch in batches)
    for number, group in enumerate(grouped(parts, lambda part: len(part[1]), SHARD), 1):
        for counts, _ in group:
            for all_of_kind, of_part in zip(total, counts, strict=True):
                all_of_kind.update(of_part)
        if any(text for _, text in group) or number == 1:
            (new / f"{stem}-{number:05}.conllu").write_bytes(b"".join(text for _, text in group))
    texts = batches[0].file.parent / TEXTS
    if texts.is_dir():
        shutil.copytree(texts, new / TEXTS)
    hashes = {path.relative_to(new).as_posix(): hashes_of(path) for path in sorted(new.rglob("*")) if path.is_file()}
    _replace(out, new, hashes)
    return total, {name: manifests.FileEntry(sha256=of.sha256, bytes=of.bytes) for name, of in hashes.items()}


def _replace(out: Path, new: Path, names: Iterable[str]) -> None:
    """Move new files to the place of the old ones; the old manifest, which lists those, is moved away first."""
    old = out / WORK / "old.json"
    if (out / NAME).exists():
        (out / NAME).replace(old)
    if old.exists():
        for name in json.loads(old.read_bytes())["files"]:
            (out / name).unlink(missing_ok=True)
    for name in names:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (new / name).replace(out / name)


def _check_folder(out: Path, facts: CorpusFacts) -> None:
    """Raise an error, before anything is written, if the folder holds something else."""
    if out.exists() and not out.is_dir():
        raise DiscoprobeError(f"{out} is a file; --out is a folder")
    manifest = manifests.read_manifest(out)
    if manifest is not None and (manifest["name"], manifest["lang"]) != (facts.name, facts.lang):
        raise DiscoprobeError(
            f"{out} holds the corpus {manifest['name']} ({manifest['lang']}), and this is {facts.name} "
            f"({facts.lang}); give another --out"
        )
    if manifest is None and not (out / WORK).is_dir() and out.is_dir() and any(out.iterdir()):
        raise DiscoprobeError(f"{out} is not empty and holds no annotated corpus; give another --out")


def _characters(document: RawDocument) -> int:
    return sum(len(paragraph.text) for paragraph in document.running)


def text_file(doc_id: str) -> str:
    """The file in the corpus folder for the text of a document, named by a hash if the id is not a valid file name."""
    parts = doc_id.split("/")
    usable = all(part.strip(".") and len(part.encode()) <= MAX_FILE_NAME for part in parts)
    return f"{TEXTS}/{doc_id if usable else hashlib.sha256(doc_id.encode()).hexdigest()}.txt"


def _conllu(document: RawDocument, annotated: Sequence[Sequence[Sentence]], counts: _Counts) -> str:
    """A document as CoNLL-U, given the sentences of each running paragraph; empty if it has no sentence."""
    lines: list[str] = []
    source = text_file(document.doc_id) if document.extracted else document.source
    for item in placed(document, annotated, counts.drops):
        if item.number == 1:
            lines += [f"# newdoc id = {document.doc_id}", *([f"# genre = {document.genre}"] if document.genre else [])]
            counts.written["documents"] += 1
        lines += ["# newpar"] if item.opens_paragraph else []
        lines += [f"# sent_id = {document.doc_id}-{item.number}", *_sentence(item, source), ""]
        counts.written["sentences"] += 1
        counts.written["words"] += sum(len(token.words) for token in item.sentence.tokens)
    return "\n".join([*lines, ""]) if lines else ""


def _sentence(item: PlacedSentence, source: str) -> Iterator[str]:
    """The lines of a sentence after its id; ``source`` is the file in which offsets count."""
    tokens, paragraph = item.sentence.tokens, item.paragraph
    low, high = paragraph.source_span(item.sentence.start, item.sentence.end)
    if paragraph.section is not None:
        yield f"# section_number = {paragraph.section}"
    if paragraph.speaker:
        yield f"# speaker = {paragraph.speaker}"
    yield f"# source = {source}:{low}:{high}"
    yield f"# text = {item.text}"
    first = 1
    for token, after in zip_longest(tokens, tokens[1:]):
        close = item.no_space_after if after is None else after.start == token.end
        low, high = paragraph.source_span(token.start, token.end)
        misc = f"{'SpaceAfter=No|' if close else ''}TokenRange={low}:{high}"
        last = first + len(token.words) - 1
        if last > first:
            form = paragraph.text[token.start : token.end]
            yield "\t".join([f"{first}-{last}", form, *[MISSING] * 7, misc])
            misc = MISSING
        for number, word in enumerate(token.words, first):
            yield "\t".join([str(number), *word, MISSING, misc])
        first = last + 1
