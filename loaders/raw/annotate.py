"""From documents to an annotated corpus: a folder of CoNLL-U shards with ``annotate.json``.

The folder's own ``.annotating`` holds everything unfinished: batches of documents, their annotations and, at the end,
the new shards. Shards go to their place when all are whole, and the manifest last. Whatever a run finds there of an
earlier one that was killed is used; how often it was killed, and how many processes worked, is seen in no byte.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import shutil
import time
from collections import Counter
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from discoprobe.loaders.alone import alone
from discoprobe.loaders.corpus import SourceFile
from discoprobe.loaders.errors import DiscoprobeError, UnsupportedError
from discoprobe.loaders.raw import manifest as manifests
from discoprobe.loaders.raw.batches import BATCH, Batch, batches, read_part, write_whole
from discoprobe.loaders.raw.conllu_text import text_file
from discoprobe.loaders.raw.manifest import NAME, WORK, RawManifest
from discoprobe.loaders.raw.workers import make_parts
from discoprobe.loaders.raw.workplace import workplace
from discoprobe.loaders.stretches import digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from discoprobe.loaders.raw.document import RawDocument
    from discoprobe.loaders.raw.sentences import Engine

    Progress = Callable[[str, int, int], None]

SHARD: Final = 8 * 2**20
"""Bytes after which a shard ends, with the batch."""


@dataclass(frozen=True, slots=True)
class About:
    """What is known of a corpus besides its text.

    ``name`` is what the treebank is called, ``repo`` and ``commit`` where it is from.
    """

    name: str
    lang: str
    licence: str = "unknown"
    citation: str = ""
    repo: str = ""
    commit: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """What there is to say of the source when all of its documents are read, as JSON values."""

    files: tuple[SourceFile, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    drops: Mapping[str, int] = field(default_factory=dict)
    places: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Annotated:
    """An annotated corpus.

    Attributes:
        folder: where it is.
        manifest: its ``annotate.json``.
        new_words: how many words this run annotated; 0 if all of them were there.
        seconds: how long that took.
    """

    folder: Path
    manifest: RawManifest
    new_words: int
    seconds: float


def annotate(  # noqa: PLR0913 (one keyword per choice of the user)
    documents: Iterable[RawDocument],
    reading: Callable[[], Reading],
    out: Path,
    *,
    about: About,
    engine: Engine,
    jobs: int = 1,
    progress: Progress | None = None,
    batch: int = BATCH,
) -> Annotated:
    """Annotate documents into a folder, or finish or renew what is there of the same corpus.

    Args:
        documents: read once, one batch in memory.
        reading: what there is to say of the source; asked when all documents are read.
        out: a new folder, or one that holds an earlier annotation of the corpus, finished or not.
        about: name, language and licence.
        engine: what annotates.
        jobs: number of processes.
        progress: called with what is done, the words annotated and (as far as can be told) the words there are.
        batch: characters after which a batch ends, with the document.

    Raises:
        UnsupportedError: there is no document.
        DiscoprobeError: the folder holds something else, or another process works in it; or annotation failed.
    """
    _check_folder(out, about)
    with _locked(out):
        plan = _plan(documents, engine, about, out / WORK, batch)
        return _finish(plan, _read(plan, reading, about), out, about, engine, jobs, progress)


def annotate_into_cache(  # noqa: PLR0913 (one keyword per choice of the user)
    documents: Iterable[RawDocument],
    reading: Callable[[], Reading],
    cache: Path,
    *,
    about: About,
    engine: Engine,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Annotated:
    """The same into the folder of a cache that is named after content, models and options; found there if it was made.

    Args:
        documents: as for :func:`annotate`.
        reading: as for :func:`annotate`.
        cache: the folder that holds all of them.
        about: as for :func:`annotate`.
        engine: as for :func:`annotate`.
        jobs: as for :func:`annotate`.
        progress: as for :func:`annotate`.
    """
    with workplace(cache) as work:
        plan = _plan(documents, engine, about, work)
        read = _read(plan, reading, about)
        out = cache / plan.content[:2] / plan.content
        with _locked(out):
            return _finish(plan, read, out, about, engine, jobs, progress)


@dataclass(frozen=True, slots=True)
class _Plan:
    """What there is to annotate: the batches, and where their files and the extracted texts are."""

    batches: tuple[Batch, ...]
    content: str
    texts: Path


def _plan(documents: Iterable[RawDocument], engine: Engine, about: About, work: Path, batch: int = BATCH) -> _Plan:
    texts = work / "text"
    shutil.rmtree(texts, ignore_errors=True)
    identity = {"lang": about.lang, **engine.identity}
    found = tuple(batches(_with_texts(documents, work), identity, work / "batches", batch))
    content = json.dumps([about.name, about.lang, SHARD, [one.key for one in found]])
    return _Plan(found, hashlib.sha256(content.encode()).hexdigest(), texts)


def _read(plan: _Plan, reading: Callable[[], Reading], about: About) -> Reading:
    """What there is to say of the source; if it has no document, why."""
    read = reading()
    if not plan.batches:
        most = ", ".join(f"{reason} {n:,}" for reason, n in Counter(read.drops).most_common(4))
        why = f" (left out: {most})" if most else ""
        raise UnsupportedError(f"no text of {about.lang} in {about.name}: nothing is left to annotate{why}")
    return read


def _with_texts(documents: Iterable[RawDocument], work: Path) -> Iterator[RawDocument]:
    """The documents; a text that exists nowhere else is written to a file."""
    for document in documents:
        if document.extracted:
            write_whole(work / text_file(document.doc_id), document.source_text.encode(errors="surrogatepass"))
        yield document


def _finish(  # noqa: PLR0913, PLR0917
    plan: _Plan, reading: Reading, out: Path, about: About, engine: Engine, jobs: int, progress: Progress | None
) -> Annotated:
    """The corpus, from what is there of it."""
    begun = time.monotonic()
    found: Mapping[str, Any] | None = manifests.read_manifest(out)
    words = 0
    if found is None or found["content"] != plan.content or manifests.unlike(out, found["files"]):
        words = make_parts(plan.batches, engine, out / WORK / "parts", jobs, progress)
        found = _put_together(plan, out, about)
    whole = _described(found, reading, about, engine)
    if found != whole or not (out / NAME).exists():
        write_whole(out / NAME, manifests.dump(whole))
    shutil.rmtree(out / WORK)
    return Annotated(out, whole, words, time.monotonic() - begun)


def _put_together(plan: _Plan, out: Path, about: About) -> dict[str, Any]:
    """Makes shards of the parts and puts them in the place of what was there; counts and files as in the manifest."""
    new = out / WORK / "new"
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    counts: Counter[str] = Counter()
    drops: Counter[str] = Counter()
    mends: Counter[str] = Counter()
    stem = f"{about.lang}_{about.name}"
    shard, number = bytearray(), 0
    for batch in plan.batches:
        part = read_part(out / WORK / "parts", batch)
        counts += Counter(documents=part.tally.documents, sentences=part.tally.sentences, words=part.tally.words)
        drops += part.tally.drops
        mends += part.tally.mends
        shard += part.text
        if shard and (len(shard) >= SHARD or batch is plan.batches[-1]):
            number += 1
            (new / f"{stem}-{number:05}.conllu").write_bytes(shard)
            shard.clear()
    if shard or not number:
        (new / f"{stem}-{number + 1:05}.conllu").write_bytes(shard)
    if plan.texts.is_dir():
        shutil.copytree(plan.texts, new / "text")
    names = sorted(path.relative_to(new).as_posix() for path in new.rglob("*") if path.is_file())
    files = manifests.entries(_source_file(new, name) for name in names)
    _replace(out, new, names)
    return {
        "content": plan.content,
        **{name: counts[name] for name in ("documents", "sentences", "words")},
        "drops": {"annotation": dict(sorted(drops.items()))},
        "mends": dict(sorted(mends.items())),
        "files": files,
    }


def _source_file(folder: Path, name: str) -> SourceFile:
    found = digest(folder / name)
    return SourceFile(name, found.sha256, found.bytes)


def _replace(out: Path, new: Path, names: Sequence[str]) -> None:
    """Puts new files in the place of the old ones, which the old manifest lists; it goes first."""
    old = out / WORK / "old.json"
    if (out / NAME).exists():
        (out / NAME).replace(old)
    if old.exists():
        for name in json.loads(old.read_bytes())["files"]:
            (out / name).unlink(missing_ok=True)
    for name in names:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (new / name).replace(out / name)


def _described(found: Mapping[str, Any], reading: Reading, about: About, engine: Engine) -> RawManifest:
    """The manifest: what annotation counted, and what is known besides."""
    return RawManifest(
        format=manifests.FORMAT, name=about.name, lang=about.lang, licence=about.licence, citation=about.citation,
        repo=about.repo, commit=about.commit, discoprobe=importlib.metadata.version("discoprobe"),
        content=found["content"], made_by=dict(engine.identity), read=dict(reading.options),
        documents=found["documents"], sentences=found["sentences"], words=found["words"],
        drops={"reading": dict(sorted(reading.drops.items())), "annotation": found["drops"]["annotation"]},
        mends=found["mends"],
        drop_places={reason: list(places) for reason, places in sorted(reading.places.items())},
        source=manifests.entries(reading.files), files=found["files"],
    )  # fmt: skip


def _check_folder(out: Path, about: About) -> None:
    """Stop before anything is written where the folder holds something else."""
    if out.exists() and not out.is_dir():
        raise DiscoprobeError(f"{out} is a file; --out is a folder")
    found = manifests.read_manifest(out)
    if found is not None and (found["name"], found["lang"]) != (about.name, about.lang):
        raise DiscoprobeError(
            f"{out} holds the corpus {found['name']} ({found['lang']}), and this is {about.name} ({about.lang}); "
            f"give another --out"
        )
    if found is None and not (out / WORK).is_dir() and out.is_dir() and any(out.iterdir()):
        raise DiscoprobeError(f"{out} is not empty and holds no annotated corpus; give another --out")


@contextmanager
def _locked(out: Path) -> Iterator[None]:
    """Keeps other processes out of the folder, and leaves nothing there if nothing was begun."""
    with alone(out, "another process is annotating into"):
        try:
            (out / WORK).mkdir(parents=True, exist_ok=True)
            yield
        finally:
            if not (out / WORK / "parts").exists() and not (out / WORK / "old.json").exists():
                shutil.rmtree(out / WORK, ignore_errors=True)
                with suppress(OSError):  # a folder that holds something stays
                    out.rmdir()
