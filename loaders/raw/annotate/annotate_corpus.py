"""Annotate documents into a corpus: a folder of CoNLL-U shards with ``annotate.json``.

A batch of documents is what is annotated at once, and what is lost at most when the machine dies. The subfolder
``.annotating`` holds everything unfinished: the batches, so that the source is read once and memory holds one; their
annotations (parts), each named after everything that it depends on, so that it is never made again; and the new
shards, which are moved to their place when all are complete. The manifest is written last. The files do not depend on
how often a run was killed and how many processes worked.

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
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice, zip_longest
from typing import TYPE_CHECKING, Any, Final

from discoprobe.loaders import annotation_manifest as manifests
from discoprobe.loaders.annotation_manifest import NAME, WORK, AnnotationManifest
from discoprobe.loaders.errors import DiscoprobeError, UnsupportedError
from discoprobe.loaders.file_hashes import hashes_of
from discoprobe.loaders.folders import alone, work_folder, write_atomically
from discoprobe.loaders.process_pool import process_pool
from discoprobe.loaders.raw.annotate.placed_sentences import MISSING, loaded, placed
from discoprobe.loaders.raw.document import grouped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from discoprobe.loaders.corpus import SourceFile
    from discoprobe.loaders.process_pool import Progress
    from discoprobe.loaders.raw.annotate.placed_sentences import Annotator, Engine, PlacedSentence, Sentence, Token
    from discoprobe.loaders.raw.document import Paragraph, RawDocument

FORMAT: Final = 8
"""Version of the CoNLL-U and counts that are written, and of the rules for sentence boundaries; a higher one makes all
parts anew."""
BATCH: Final = 40_000
"""Characters after which a batch ends, with the document; about ten seconds of one core."""
CHUNK: Final = 40_000
"""Characters of a long document that are annotated at once, which bounds memory."""
SHARD: Final = 8 * 2**20
"""Bytes after which a shard ends, with the batch."""
NO_SPACE: Final = "SpaceAfter=No"
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


@dataclass(slots=True)
class WrittenCounts:
    """Counts of what was written, of drops by reason, and of corrected sentence boundaries by kind."""

    documents: int = 0
    sentences: int = 0
    words: int = 0
    drops: Counter[str] = field(default_factory=Counter)
    corrections: Counter[str] = field(default_factory=Counter)

    def add(self, other: WrittenCounts) -> None:
        """Add the counts of another part of the corpus."""
        self.documents += other.documents
        self.sentences += other.sentences
        self.words += other.words
        self.drops.update(other.drops)
        self.corrections.update(other.corrections)


@dataclass(frozen=True, slots=True)
class _Batch:
    """The key of its annotation, its size in characters, and the file with its documents."""

    key: str
    characters: int
    file: Path


def annotate(job: AnnotationJob, out: Path) -> AnnotatedCorpus:
    """Annotate documents into a folder; complete or update an annotation of the same corpus that is there.

    Raises:
        UnsupportedError: there is no document.
        DiscoprobeError: the folder holds something else, or another process works in it; or annotation failed.
    """
    _check_folder(out, job.facts)
    with _locked(out):
        return _Annotation(job, out / WORK).finish(out)


def annotate_into_cache(job: AnnotationJob, cache: Path) -> AnnotatedCorpus:
    """The same into a folder of a cache that is named after content, models and options; made only once."""
    with work_folder(cache) as work:
        annotation = _Annotation(job, work)
        out = cache / annotation.content[:2] / annotation.content
        with _locked(out):
            return annotation.finish(out)


class _Annotation:
    """What was read for a job, and the digest of everything that its annotation depends on, ``content``."""

    def __init__(self, job: AnnotationJob, work: Path) -> None:
        """Read the documents into batches in a work folder, and their texts, if extracted, into files there."""
        self._job, self._texts = job, work / "text"
        shutil.rmtree(self._texts, ignore_errors=True)
        groups = enumerate(grouped(job.documents, _characters, job.batch))
        self._batches = [self._batch(group, work, f"{number:06}.pickle") for number, group in groups]
        self._report = job.report()
        name, lang = job.facts.name, job.facts.lang
        if not self._batches:
            most = ", ".join(f"{reason} {n:,}" for reason, n in Counter(self._report.drops).most_common(4))
            why = f" (left out: {most})" if most else ""
            raise UnsupportedError(f"no text of {lang} in {name}: nothing is left to annotate{why}")
        self.content = _sha256([name, lang, SHARD, [batch.key for batch in self._batches]])

    def _batch(self, group: list[RawDocument], work: Path, name: str) -> _Batch:
        contents = []
        for document in group:
            digest = ""
            if document.extracted:
                text = document.source_text.encode(errors="surrogatepass")
                write_atomically(work / text_file(document.doc_id), text)
                digest = hashlib.sha256(text).hexdigest()
            contents.append([document.source, document.digest, digest])
        depends = [FORMAT, CHUNK, {"lang": self._job.facts.lang, **self._job.engine.identity}, contents]
        write_atomically(work / "batches" / name, pickle.dumps(group, protocol=pickle.HIGHEST_PROTOCOL))
        return _Batch(_sha256(depends), sum(map(_characters, group)), work / "batches" / name)

    def finish(self, out: Path) -> AnnotatedCorpus:
        """The corpus, made from the parts that are there and those that are missing."""
        begun = time.monotonic()
        old = manifests.read_manifest(out)
        words = 0
        if old is not None and old["content"] == self.content and not manifests.first_difference(out, old["files"]):
            drops, corrections = Counter(old["drops"]["annotation"]), Counter(old["corrections"])
            counts = WrittenCounts(old["documents"], old["sentences"], old["words"], drops, corrections)
            files = old["files"]
        else:
            words = self._make_parts(out / WORK / "parts")
            counts, files = self._put_together(out)
            old = None
        manifest = self._manifest(counts, files)
        if manifest != old:
            write_atomically(out / NAME, manifests.dump(manifest))
        shutil.rmtree(out / WORK)
        return AnnotatedCorpus(out, manifest, words, time.monotonic() - begun)

    def _make_parts(self, folder: Path) -> int:
        """Annotate the batches that have no part in a folder; the number of words annotated now."""
        by_key = {batch.key: batch for batch in self._batches}
        done = {key: _read_part(folder, key)[0].words for key in by_key if _part(folder, key).exists()}
        todo = [batch for key, batch in by_key.items() if key not in done]
        total = sum(batch.characters for batch in by_key.values())
        before = sum(done.values())
        for batch, words in self._annotated(todo, folder):
            done[batch.key] = words
            if self._job.progress:
                annotated = sum(by_key[key].characters for key in done)
                expected = round(sum(done.values()) * total / max(annotated, 1))
                self._job.progress("annotating", sum(done.values()), expected)
        return sum(done.values()) - before

    def _annotated(self, todo: Sequence[_Batch], folder: Path) -> Iterator[tuple[_Batch, int]]:
        """Each batch with its number of words, when it is done."""
        if not todo:
            return
        with process_pool(min(self._job.jobs, len(todo))) as pool:
            if pool is None:
                annotator = self._job.engine.load()
                for batch in todo:
                    yield batch, _annotate_batch(annotator, batch, folder)
            else:
                futures = {pool.submit(_work, self._job.engine, batch, folder): batch for batch in todo}
                for future in as_completed(futures):
                    yield futures[future], future.result()

    def _put_together(self, out: Path) -> tuple[WrittenCounts, dict[str, manifests.FileEntry]]:
        """Make shards of the parts and replace the old files; returns the counts and the new files."""
        new = out / WORK / "new"
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir(parents=True)
        total = WrittenCounts()
        parts = (_read_part(out / WORK / "parts", batch.key) for batch in self._batches)
        for number, group in enumerate(grouped(parts, lambda part: len(part[1]), SHARD), 1):
            for counts, _ in group:
                total.add(counts)
            if any(text for _, text in group) or number == 1:
                name = f"{self._job.facts.lang}_{self._job.facts.name}-{number:05}.conllu"
                (new / name).write_bytes(b"".join(text for _, text in group))
        if self._texts.is_dir():
            shutil.copytree(self._texts, new / "text")
        names = sorted(path.relative_to(new).as_posix() for path in new.rglob("*") if path.is_file())
        hashes = {name: hashes_of(new / name) for name in names}
        _replace(out, new, names)
        return total, {name: {"sha256": found.sha256, "bytes": found.bytes} for name, found in hashes.items()}

    def _manifest(self, counts: WrittenCounts, files: dict[str, manifests.FileEntry]) -> AnnotationManifest:
        facts, report = self._job.facts, self._report
        return AnnotationManifest(
            format=manifests.FORMAT, name=facts.name, lang=facts.lang, licence=facts.licence, citation=facts.citation,
            repo=facts.repo, commit=facts.commit, discoprobe=importlib.metadata.version("discoprobe"),
            content=self.content, made_by=dict(self._job.engine.identity), read=dict(report.options),
            documents=counts.documents, sentences=counts.sentences, words=counts.words,
            drops={"reading": dict(sorted(report.drops.items())), "annotation": dict(sorted(counts.drops.items()))},
            corrections=dict(sorted(counts.corrections.items())),
            drop_places={reason: list(places) for reason, places in sorted(report.places.items())},
            source=manifests.entries(report.files), files=files,
        )  # fmt: skip


def _characters(document: RawDocument) -> int:
    return sum(len(paragraph.text) for paragraph in document.running)


def _sha256(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, ensure_ascii=True).encode()).hexdigest()


def _work(engine: Engine, batch: _Batch, folder: Path) -> int:
    return _annotate_batch(loaded(engine), batch, folder)


def _annotate_batch(annotator: Annotator, batch: _Batch, folder: Path) -> int:
    """Write the part of a batch: a line of counts, and CoNLL-U; returns the number of words."""
    documents: list[RawDocument] = pickle.loads(batch.file.read_bytes())  # noqa: S301 (this run wrote it)
    counts = WrittenCounts()
    paragraphs = (paragraph for document in documents for paragraph in document.running)
    chunks = grouped(paragraphs, lambda paragraph: len(paragraph.text), CHUNK)
    found = (sentences for chunk in chunks for sentences in annotator.annotate(chunk, counts.corrections))
    text = "".join(_conllu(one, list(islice(found, len(one.running))), counts) for one in documents)
    line = json.dumps([counts.documents, counts.sentences, counts.words, counts.drops, counts.corrections])
    write_atomically(_part(folder, batch.key), f"{line}\n{text}".encode())
    return counts.words


def _part(folder: Path, key: str) -> Path:
    return folder / f"{key}.part"


def _read_part(folder: Path, key: str) -> tuple[WrittenCounts, bytes]:
    line, _, text = _part(folder, key).read_bytes().partition(b"\n")
    return WrittenCounts(*json.loads(line)), text


def _replace(out: Path, new: Path, names: Sequence[str]) -> None:
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


@contextmanager
def _locked(out: Path) -> Iterator[None]:
    """Keep other processes out of the folder; delete it at the end if nothing was begun in it."""
    folder = out.resolve()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with alone(folder, "another process is annotating into", folder.with_name(f".{folder.name}.lock")):
        try:
            (out / WORK).mkdir(parents=True, exist_ok=True)
            yield
        finally:
            if not (out / WORK / "parts").exists() and not (out / WORK / "old.json").exists():
                shutil.rmtree(out / WORK, ignore_errors=True)
                with suppress(OSError):  # the folder is not empty
                    out.rmdir()


def text_file(doc_id: str) -> str:
    """The file in the corpus folder for the text of a document, named by a hash if the id is not a valid file name."""
    parts = doc_id.split("/")
    usable = all(part.strip(".") and len(part.encode()) <= MAX_FILE_NAME for part in parts)
    return f"text/{doc_id if usable else hashlib.sha256(doc_id.encode()).hexdigest()}.txt"


def _conllu(document: RawDocument, annotated: Sequence[Sequence[Sentence]], counts: WrittenCounts) -> str:
    """A document as CoNLL-U, given the sentences of each running paragraph; empty if it has no sentence."""
    lines: list[str] = []
    source = text_file(document.doc_id) if document.extracted else document.source
    for item in placed(document, annotated, counts.drops):
        if item.number == 1:
            lines += [f"# newdoc id = {document.doc_id}", *([f"# genre = {document.genre}"] if document.genre else [])]
            counts.documents += 1
        lines += ["# newpar"] if item.opens_paragraph else []
        lines += [f"# sent_id = {document.doc_id}-{item.number}", *_sentence(item, source), ""]
        counts.sentences += 1
        counts.words += sum(len(token.words) for token in item.sentence.tokens)
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
    number = 1
    for token, after in zip_longest(tokens, tokens[1:]):
        close = item.no_space_after if after is None else after.start == token.end
        yield from _token(paragraph, token, number, close=close)
        number += len(token.words)


def _token(paragraph: Paragraph, token: Token, number: int, *, close: bool) -> Iterator[str]:
    low, high = paragraph.source_span(token.start, token.end)
    misc = "|".join([*([NO_SPACE] if close else []), f"TokenRange={low}:{high}"])
    if len(token.words) > 1:
        form = paragraph.text[token.start : token.end]
        yield "\t".join([f"{number}-{number + len(token.words) - 1}", form, *[MISSING] * 7, misc])
        misc = MISSING
    for i, word in enumerate(token.words, number):
        yield "\t".join(
            [str(i), word.form, word.lemma, word.upos, word.xpos, word.feats, word.head, word.deprel, MISSING, misc]
        )
