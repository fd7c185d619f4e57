"""From raw text to a corpus in one call: read and filter it, and annotate it or find its sentences."""

from __future__ import annotations

import dataclasses
import os
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from discoprobe.loaders.corpus import SourceFile
from discoprobe.loaders.errors import DiscoprobeError, UnsupportedError, UsageError
from discoprobe.loaders.fetch.remote_files import DATASETS, GLOB, PARQUET, files_at, hub_url, is_url, local_copy
from discoprobe.loaders.file_hashes import hashes_of
from discoprobe.loaders.folders import cache_folder
from discoprobe.loaders.paths import SUFFIXES, holds_corpus
from discoprobe.loaders.raw.annotate import stanza_engine
from discoprobe.loaders.raw.annotate.annotate_corpus import (
    AnnotatedCorpus,
    AnnotationJob,
    CorpusFacts,
    ReadingReport,
    annotate,
)
from discoprobe.loaders.raw.annotate.placed_sentences import RuleEngine
from discoprobe.loaders.raw.annotate.row_group_parts import text_corpus
from discoprobe.loaders.raw.document import DropCounts
from discoprobe.loaders.raw.files import READABLE, check_kind, files_in
from discoprobe.loaders.raw.options import ReadOptions
from discoprobe.loaders.raw.paragraph_filters import written_without_spaces
from discoprobe.loaders.raw.raw_corpus import HUB, RawCorpus, read_documents
from discoprobe.loaders.raw.tables import IDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from discoprobe.loaders.corpus import Corpus
    from discoprobe.loaders.process_pool import Progress
    from discoprobe.loaders.raw.annotate.placed_sentences import Engine

NOT_IN_NAMES: Final = re.compile(r"[^0-9A-Za-z]+")
"""What is replaced in the name of a corpus, which is part of the names of its files."""


@dataclass(frozen=True, slots=True)
class AnnotationOptions:
    """How raw text becomes an annotated corpus."""

    segment: bool = False  # only find sentences and words
    stanza_dir: Path | None = None  # the folder of models; by default Stanza's own
    processors: tuple[str, ...] = stanza_engine.DEFAULT  # of Stanza
    download: bool = False  # download missing models
    read: ReadOptions = dataclasses.field(default_factory=ReadOptions)  # ``lang`` in it is ignored
    rules: bool = False  # segment by rules, even if Stanza is installed

    @classmethod
    def of_annotation(cls, annotation: Mapping[str, Any]) -> AnnotationOptions:
        """The options with which a corpus was made, from the manifest of a release (``annotation_of``)."""
        made_by, read = annotation["made_by"], annotation["read"]
        options = {field.name: read[field.name] for field in dataclasses.fields(ReadOptions) if field.name in read}
        if made_by["engine"] == "rules":
            return cls(segment=True, rules=True, read=ReadOptions(**options))
        named = tuple(f"{processor}={package}" for processor, package in made_by["packages"].items())
        return cls(processors=named, read=ReadOptions(**options))


def choose_engine(lang: str, options: AnnotationOptions) -> Engine:
    """Stanza with the models for the processors; to segment only, Stanza's tokeniser if it is installed, else rules.

    A folder of models, or a wish to download them, asks for Stanza.

    Raises:
        UnsupportedError: Stanza or a model is missing; or rules cannot segment the language.
        RemoteError: a model cannot be downloaded.
        DiscoprobeError: a model is damaged.
    """
    if options.segment and options.rules:
        return RuleEngine(lang).load()
    asked = not options.segment or options.stanza_dir is not None or options.download
    if not asked and not stanza_engine.installed():
        return RuleEngine(lang).load()
    folder = stanza_engine.models_folder(options.stanza_dir)
    wanted = ("tokenize",) if options.segment else options.processors
    if options.download:
        stanza_engine.download_models(lang, folder, wanted)
    try:
        return stanza_engine.find_models(lang, folder, wanted)
    except UnsupportedError:
        if asked:
            raise
        return RuleEngine(lang).load()


def is_raw(source: str) -> bool:
    """Whether a source has to be annotated: a file or folder without CoNLL-U, or a dataset on the Hub."""
    path = Path(source)
    if path.is_dir():
        return not holds_corpus(path)
    return not path.name.endswith(SUFFIXES) if path.exists() else source.startswith(HUB)


def is_parquet_text(source: str) -> bool:
    """Whether a source is text in parquet files only, by path, or a URL with parquet files.

    Raises:
        RemoteError: a URL cannot be reached.
    """
    if is_url(source):
        others = (*SUFFIXES, *(kind for kind in READABLE if kind != PARQUET))
        return not source.lower().endswith(others) and any(file.name.endswith(PARQUET) for file in files_at(source))
    path = Path(source)
    if not path.is_dir():
        return path.suffix.lower() == PARQUET and path.is_file()
    with suppress(DiscoprobeError):
        return not holds_corpus(path) and all(file.name.endswith(PARQUET) for file in files_in(path, DropCounts()))
    return False


def corpus_name(source: str) -> str:
    """The name of a corpus after its file, folder or dataset, in lower case: ``my-notes`` for ``My notes.jsonl``."""
    path = Path(source)
    last = path.resolve().name if path.exists() else _repository(source)
    stem = last.partition(".")[0] if not path.is_dir() else last
    return NOT_IN_NAMES.sub("-", stem).strip("-").lower() or "text"


def _repository(source: str) -> str:
    """What a URL names the corpus after: ``org/name`` of the Hub, else the last folder or file without pattern."""
    if source.startswith(HUB):
        return "/".join(hub_url(source).removeprefix(f"{HUB}{DATASETS}").partition("@")[0].split("/")[:2])
    plain = [part for part in source.split("/") if GLOB.isdisjoint(part)]
    return plain[-1] if plain else source


def as_path(source: str) -> str:
    """A URL as the path of a copy in the cache; a path, or a dataset of the Hub, as it is."""
    if not is_url(source) or source.startswith(HUB):
        return source
    return str(local_copy(source, cache_folder() / "remote"))


def segment_parquet(sources: Sequence[str], facts: CorpusFacts, options: AnnotationOptions) -> Corpus:
    """The corpus of text in parquet files, whose row groups are divided into sentences when they are loaded.

    Sentences are found by rules wherever the language has spaces between words, unless a folder of models is given.

    Raises:
        UsageError: the language is not named.
        DiscoprobeError: as for :func:`text_corpus` and :func:`choose_engine`.
    """
    facts = _named(facts, sources[0])
    rules = options.stanza_dir is None and not written_without_spaces(facts.lang)
    engine = choose_engine(facts.lang, dataclasses.replace(options, segment=True, rules=rules))
    return text_corpus(sources, facts, options.read, engine)


def prepare(  # noqa: PLR0913 (one keyword per choice of the user)
    source: str,
    facts: CorpusFacts,
    options: AnnotationOptions,
    *,
    out: Path | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> AnnotatedCorpus:
    """The annotated corpus of raw text.

    Args:
        source: a file, a folder, their URL, or a dataset on the Hub.
        facts: name, language and licence; an empty name is replaced by that of the source.
        options: of reading and annotation.
        out: the folder of the corpus; by default one in the cache, named after content, models and options.
        jobs: number of processes.
        progress: called with the step, the words annotated and the number of words expected.

    Raises:
        UsageError: the language is not named.
        DiscoprobeError: the source cannot be read, or annotation is not possible; see :func:`choose_engine`.
    """
    place = as_path(source)
    if Path(place).is_file():
        check_kind(Path(place))
    facts = _named(facts, source)
    corpus = read_documents(place, dataclasses.replace(options.read, lang=facts.lang))
    job = AnnotationJob(corpus, lambda: _report(corpus), facts, choose_engine(facts.lang, options), jobs, progress)
    return annotate(job, out)


def _named(facts: CorpusFacts, source: str) -> CorpusFacts:
    """What is known of a corpus, named after its source if it has no name."""
    if not facts.lang:
        raise UsageError(f"{source} is raw text: name its language with --lang, a single one such as de")
    return dataclasses.replace(facts, name=facts.name or corpus_name(source))


def _report(corpus: RawCorpus) -> ReadingReport:
    options = {"source": corpus.name, **dataclasses.asdict(corpus.options)}
    return ReadingReport(tuple(_files(corpus)), options, corpus.counts.reasons, corpus.counts.places)


def _files(corpus: RawCorpus) -> Iterator[SourceFile]:
    """The files of a corpus, by name; none for a dataset on the Hub."""
    given = [path for file in corpus.files if file.path for path in (file.path, file.path.parent / IDS)]
    paths = {path for top in given for path in (top.rglob("*") if top.is_dir() else [top]) if path.is_file()}
    for path in sorted(paths):
        content = hashes_of(path)
        top = corpus.path if corpus.path and corpus.path.is_dir() else path.parent
        name = os.fsencode(path.relative_to(top)).decode(errors="backslashreplace")
        yield SourceFile(name, content.sha256, content.bytes)
