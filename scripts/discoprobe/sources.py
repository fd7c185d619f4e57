"""Reads the corpora that a request names: the sample, those of the catalogue, and a user's own.

`corpora_of` reads them, one corpus per language, with the tasks that are built from each. Every name is decided on
once, as a `NamedCorpus`: `read` reads what it says, and `planned_sources` lists it, by the catalogue, file sizes and
listings of URLs, without reading a corpus. `Contexts` finds the sentences around those of a row.
"""

from __future__ import annotations

import dataclasses
import functools
import operator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
import polars as pl

from discoprobe.cards.text.examples import ContextSentence
from discoprobe.loaders.catalogue import treebanks
from discoprobe.loaders.catalogue.licences import UNKNOWN
from discoprobe.loaders.catalogue.treebanks import (
    DATASETS,
    HUB,
    DocumentRule,
    HubText,
    PinnedCorpus,
    TextCorpus,
    Treebank,
    TreebankFacts,
)
from discoprobe.loaders.conllu.reader import SUFFIXES, find_files, holds_corpus, read_corpora
from discoprobe.loaders.corpus import Corpus, Source
from discoprobe.loaders.errors import (
    DiscoprobeError,
    OnError,
    RemoteError,
    UnsupportedError,
    UsageError,
)
from discoprobe.loaders.fetch import downloads
from discoprobe.loaders.fetch.downloads import location
from discoprobe.loaders.fetch.remote_files import PARQUET, as_path, files_at, is_url
from discoprobe.loaders.files import FileHashes, hashes_of
from discoprobe.loaders.languages.language import language_data
from discoprobe.loaders.process_pool import Progress, silent
from discoprobe.loaders.raw.document import DropCounts, read_options
from discoprobe.loaders.raw.prepare import AnnotationOptions, parquet_corpus, prepare
from discoprobe.loaders.raw.row_groups import TextCorpusPart
from discoprobe.loaders.raw.text_rows import READABLE, check_kind, files_in
from discoprobe.request import SAMPLE, Request, catalogue_corpus, corpus_name, is_hub_text
from discoprobe.silver import is_annotated, label_errors

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from discoprobe.builders.task import AnyTask


def load_corpus(lang: str, corpora: Sequence[str] = (), *, on_error: OnError = "stop") -> Corpus:
    """The corpora of one language.

    Args:
        lang: its code or name, or the path of a .conllu file or folder that holds one language.
        corpora: ``sample``, names of the catalogue, files or folders; by default the catalogue's treebanks of the
            language, which are downloaded and verified, or its raw text where it has no treebank.
        on_error: ``skip`` leaves malformed sentences out and counts them.

    Raises:
        UnknownNameError: for a language or corpus that is not there.
        CorpusFormatError: for a malformed file.
        UnsupportedError: if the files hold no such language, or several.
    """
    if not corpora and Path(lang).exists():
        of_language = list(read(Request(corpora=(lang,), on_error=on_error)))
    else:
        of_language = list(read(Request(languages=(lang,), corpora=tuple(corpora), on_error=on_error)))
    if len(of_language) != 1:
        names = ", ".join(corpus.lang for corpus in of_language) or "none"
        raise UnsupportedError(f"expected one language, found {names}; give the code of one, and its files")
    return of_language[0]


TEXT = frozenset({"documents", "sections", "text"})
"""Layers of text that was only divided into sentences."""
SEGMENTED: Final = AnnotationOptions(segment=True)
"""Options for text that is only divided into sentences."""


def corpora_of(
    request: Request, tasks: Sequence[AnyTask], progress: Progress = silent
) -> Iterator[tuple[Corpus, Sequence[AnyTask]]]:
    """The corpora of each language, and the tasks that are built from them.

    Tasks that need no annotation of words get the text of `fill_of` in addition, which is read after the corpora until
    the sizes are reached; with ``silver``, so do tasks on annotated sentences whose labels are right (`label_errors`).
    A language for which the catalogue has no corpus is built from that text alone. When no
    corpus is named, tasks on a layer of discourse annotation are built from the corpora of the catalogue that have it.

    Raises:
        DiscoprobeError: as for `read`; or the text cannot be read.
    """
    with_text = request.silver or any(map(is_filled, tasks))
    text_of = functools.cache(functools.partial(_fill, request) if with_text else lambda _: None)
    codes = request.languages
    texts = {code: text for code in codes if (text := text_of(code))}  # first, so that a network error comes early
    on_layers = {code: _on_layers(request, code, tasks) for code in codes}
    others = {code: [task for task in tasks if task not in taken] for code, (taken, _) in on_layers.items()}
    names = {name for _, by_corpora in on_layers.values() for of_layer in by_corpora for name in of_layer}
    downloads.fetch([treebanks.treebank(name, "all") for name in sorted(names)], jobs=request.jobs, progress=progress)
    for code, (_, by_corpora) in on_layers.items():
        for of_layer, of_corpora in by_corpora.items():
            for corpus in read(dataclasses.replace(request, languages=(code,), corpora=of_layer), progress):
                yield corpus, of_corpora
    alone = [code for code in texts if not request.corpora and not treebanks.default_corpora(code, request.licences)]
    for code in alone:
        yield texts[code], others[code]
    left = tuple(code for code in codes if code not in alone and others[code])
    for corpus in read(dataclasses.replace(request, languages=left), progress) if left or not codes else ():
        of_lang = others.get(corpus.lang, tasks)
        text = text_of(corpus.lang)
        if text is None:
            yield corpus, of_lang
            continue
        unfilled = [task for task in of_lang if not is_filled(task)]
        if request.silver and (annotated := [task for task in unfilled if is_annotated(task)]):
            silver, of_silver = _silver(request, corpus.lang, annotated, progress)
            if of_silver:
                yield corpus + silver, of_silver
            unfilled = [task for task in unfilled if task not in of_silver]
        if unfilled:
            yield corpus, unfilled
        if filled := [task for task in of_lang if is_filled(task)]:
            yield corpus + text, filled


def _on_layers(
    request: Request, code: str, tasks: Sequence[AnyTask]
) -> tuple[Collection[AnyTask], Mapping[tuple[str, ...], Sequence[AnyTask]]]:
    """The tasks on layers of discourse annotation that corpora of the catalogue have, and these tasks by corpora.

    There are none if corpora are named.
    """
    by_corpora: dict[tuple[str, ...], list[AnyTask]] = {}
    for task in tasks if not request.corpora else ():
        banks = treebanks.corpora_with(task.needs, code, request.licences)
        if banks:
            by_corpora.setdefault(tuple(bank.name for bank in banks), []).append(task)
    return [task for of_corpora in by_corpora.values() for task in of_corpora], by_corpora


def is_filled(task: AnyTask) -> bool:
    """Whether text of ``--fill`` is used for a task: for tasks on documents and suites without annotation of words."""
    return task.needs <= TEXT and ("documents" in task.needs or bool(task.conditions))


def fill_of(request: Request, lang: str) -> tuple[str, ...]:
    """The names of the text of ``--fill`` for a language: those of the request, else the default of the catalogue.

    There is no default for languages without spaces between words, because their sentences need Stanza.
    """
    if request.fill is not None:
        return request.fill
    texts = [text for text in treebanks.hub_texts() if text.default and lang not in text.without]
    return tuple(text.name for text in texts) if language_data(lang).spaces else ()


def _fill(request: Request, lang: str, options: AnnotationOptions = SEGMENTED) -> Corpus | None:
    """The text of `fill_of` as a corpus; None if there is none.

    Its parts and sources are marked, because they are read after all other parts.

    Raises:
        UsageError: a name is not text in parquet files.
        RemoteError: the Hub cannot be reached.
    """
    named = [name_corpus(name, lang, request, segment=True) for name in fill_of(request, lang)]
    if others := [corpus.name for corpus in named if corpus.how != PARTLY]:
        raise UsageError(
            f"--fill {others[0]}: not text in parquet files; `build corpora list` shows what the catalogue has"
        )
    if not named:
        return None
    given = request.raw or options
    options = dataclasses.replace(given, segment=options.segment, rules=given.rules and options.segment)
    try:
        text = functools.reduce(operator.add, [_text_in_parquet(corpus, lang, options) for corpus in named])
    except RemoteError as error:
        raise RemoteError(f"{error}; or build from treebanks alone with --gold") from error
    parts = tuple(dataclasses.replace(part, fills=True) for part in text.parts if isinstance(part, TextCorpusPart))
    sources = tuple(
        dataclasses.replace(source, annotation={**(source.annotation or {}), "fills": True}) for source in text.sources
    )
    return dataclasses.replace(text, parts=parts, sources=sources)


def _silver(
    request: Request, lang: str, tasks: Sequence[AnyTask], progress: Progress
) -> tuple[Corpus, Sequence[AnyTask]]:
    """The text of `fill_of` with annotation, and the tasks that may be filled with it.

    Its sources have the figures of ``label_errors`` for all of the tasks.

    Raises:
        UnsupportedError: there is no such text, Stanza or a model is missing, or the request has no treebank.
    """
    text = _fill(request, lang, AnnotationOptions())
    if text is None:
        raise UnsupportedError(f"--silver: there is no text of {lang} to annotate; name it with --fill")
    part = next(part for part in text.parts if isinstance(part, TextCorpusPart))
    progress(f"comparing labels {lang}", 0, 1)
    errors = label_errors(tasks, _held_out(request, lang, progress), part.engine)
    progress(f"comparing labels {lang}", 1, 1)
    labels = {"silver": {name: list(figures) for name, figures in errors.items()}}
    sources = tuple(
        dataclasses.replace(source, annotation={**(source.annotation or {}), **labels}) for source in text.sources
    )
    return dataclasses.replace(text, sources=sources), [task for task in tasks if errors[task.name].suffices]


def _held_out(request: Request, lang: str, progress: Progress) -> Corpus:
    """The test files of the treebanks of a language, else their dev files, else all: models are trained on train."""
    named = [name_corpus(name, lang, request, segment=False) for name in request.corpora] or [
        _of_catalogue(corpus, segment=False) for corpus in treebanks.needed_corpora(lang, request.licences)
    ]
    paths = _paths(named, (lang,), request.raw or AnnotationOptions(), request.jobs, progress)
    files = [path for path in find_files(paths) if path.suffix == ".conllu"]
    for part in ("test", "dev"):
        if of_part := [path for path in files if path.stem.endswith(f"-{part}")]:
            files = of_part
            break
    return read_corpora(files, lang=lang, on_error=request.on_error, facts=functools.partial(_facts, {}))[lang]


def read(request: Request, progress: Progress = silent) -> Iterator[Corpus]:
    """The corpora that a request names, one per language, languages in alphabetical order.

    Without a name, these are the catalogue's treebanks of the languages, or raw text where it has no treebank.

    Raises:
        UnsupportedError: if a language that was asked for is in none of the corpora.
    """
    codes, options = request.languages, request.raw or AnnotationOptions()
    lang = codes[0] if len(codes) == 1 else ""
    if request.corpora:
        named = [name_corpus(name, lang, request, segment=options.segment) for name in request.corpora]
    elif codes:
        named = [
            _of_catalogue(corpus, segment=options.segment)
            for code in codes
            for corpus in treebanks.needed_corpora(code, request.licences)
        ]
    else:
        raise UsageError("give --lang, or --corpus with the corpora to build from")
    corpora: dict[str, Corpus] = {}
    for text in (_text_in_parquet(corpus, lang, options) for corpus in named if corpus.how == PARTLY):
        corpora[text.lang] = corpora[text.lang] + text if text.lang in corpora else text
    if paths := _paths([corpus for corpus in named if corpus.how != PARTLY], codes, options, request.jobs, progress):
        banks = [bank for bank in request.pinned if isinstance(bank, Treebank)]
        pinned = {file.sha256: bank for bank in banks for file in bank.files if file.sha256}
        of_files = read_corpora(
            paths, lang=lang or None, on_error=request.on_error,
            facts=functools.partial(_facts, pinned),
            documents=request.settings.documents, jobs=request.jobs,
            progress=lambda done, total: progress("reading", done, total),
        )  # fmt: skip
        corpora = of_files | {
            code: of_files[code] + text if code in of_files else text for code, text in corpora.items()
        }
    if lacking := sorted(set(codes) - set(corpora)):
        languages = ", ".join(corpora) or "no language"
        raise UnsupportedError(
            f"no corpus of {', '.join(lacking)} among {', '.join(request.corpora)}; there is {languages}"
        )
    for corpus in corpora.values():
        if not corpus.n_sentences and not corpus.layers:
            raise UnsupportedError(f"no sentence of {corpus.lang} among {', '.join(request.corpora) or 'its corpora'}")
    return (corpora[code] for code in sorted(corpora) if not codes or code in codes)


def _paths(
    named: Sequence[NamedCorpus], codes: tuple[str, ...], options: AnnotationOptions, jobs: int, progress: Progress
) -> list[Path]:
    """The files and folders of corpora; those of the catalogue are downloaded, and raw text is annotated first."""
    banks = [corpus.of_catalogue for corpus in named if isinstance(corpus.of_catalogue, Treebank)]
    paths = downloads.fetch(banks, jobs=jobs, progress=progress) if banks else []
    for corpus in named:
        if corpus.name == SAMPLE:
            packaged = treebanks.sample_files()
            if lacking := [code for code in codes if code not in packaged]:
                raise UnsupportedError(f"the sample corpus has {', '.join(packaged)}, not {', '.join(lacking)}")
            paths += [packaged[code] for code in codes or packaged]
        elif isinstance(text := corpus.of_catalogue, TextCorpus):
            about = Source(text.name, text.lang, text.licence, text.repo, text.commit, text.citation)
            how = dataclasses.replace(options, read=read_options(text.read))
            downloads.fetch([text], jobs=jobs, progress=progress)
            paths.append(prepare(str(downloads.folder(text)), about, how, jobs=jobs, progress=progress).folder)
        elif corpus.of_catalogue is None:
            path = as_path(corpus.name)
            if _is_raw(path):
                about = _own_text(path, codes[0] if len(codes) == 1 else "")
                paths.append(prepare(path, about, options, jobs=jobs, progress=progress).folder)
            else:
                paths.append(Path(path))
    return paths


def _facts(pinned: Mapping[str, Treebank], path: Path, digest: FileHashes) -> TreebankFacts | None:
    """What is known of the treebank of a file by its content: from the pins of a request, the catalogue, the sample."""
    if bank := pinned.get(digest.sha256):
        return bank.facts
    facts = treebanks.facts_of(path, digest)
    if facts is None and (lang := _sample_hashes().get(digest.sha256)):
        return TreebankFacts(f"{SAMPLE}-{lang}", lang, "CC0 1.0", "", "", "", DocumentRule("newdoc"))
    return facts


@functools.cache
def _sample_hashes() -> Mapping[str, str]:
    return {hashes_of(path, with_git=False).sha256: lang for lang, path in treebanks.sample_files().items()}


def _text_in_parquet(corpus: NamedCorpus, lang: str, options: AnnotationOptions) -> Corpus:
    """The corpus of text in parquet files; its parts are read only when they are needed."""
    if text := corpus.hub_text:
        repo = f"{DATASETS}{text.repo}"
        about = Source(text.corpus(corpus.lang), corpus.lang, text.licence, repo, text.commit, text.citation)
        return parquet_corpus(text.url(corpus.lang), about, options)
    return parquet_corpus(corpus.name, _own_text(corpus.name, lang), options)


def _own_text(source: str, lang: str) -> Source:
    """Name and language of a user's own text.

    Raises:
        UsageError: the language is not known.
    """
    if Path(source).is_file():
        check_kind(Path(source))
    if not lang:
        raise UsageError(f"{source} is raw text: name its language with --lang, a single one such as de")
    return Source(corpus_name(source), lang)


READ: Final = "read"
DOWNLOAD: Final = "download and read"
ANNOTATE: Final = "annotate with Stanza"
SEGMENT: Final = "divide into sentences"
PARTLY: Final = "read until the sizes are full"
FILL: Final = "fill what is left, until the sizes are full"
LONG: Final = frozenset({DOWNLOAD, ANNOTATE, SEGMENT})
"""Steps without which it is not known whether a config is up to date."""


@dataclass(frozen=True, slots=True)
class NamedCorpus:
    """What a name of a corpus stands for.

    Attributes:
        name: as the request has it: ``sample``, a name of the catalogue, a path or a URL.
        how: `READ` for CoNLL-U; `ANNOTATE` or `SEGMENT` for raw text, and for what is at a URL, which shows when it is
            copied; `PARTLY` for text in parquet files with ``--segment``, whose parts are read when they are needed.
        of_catalogue: the corpus of the catalogue, or in its place the one that the request pins.
        hub_text: the dataset of the Hub, at the commit of the request; only with `PARTLY`.
        lang: the language of ``hub_text``.
    """

    name: str
    how: str
    of_catalogue: PinnedCorpus | None = None
    hub_text: HubText | None = None
    lang: str = ""


def name_corpus(name: str, lang: str, request: Request, *, segment: bool) -> NamedCorpus:
    """What a name stands for.

    Args:
        name: of the request.
        lang: the only language of the request, or empty.
        request: pins commits.
        segment: whether raw text is only divided into sentences and words.

    Raises:
        UnknownNameError: there is no corpus of that name.
        RemoteError: a URL cannot be reached.
    """
    if name == SAMPLE:
        return NamedCorpus(name, READ)
    if is_hub_text(name) and segment:
        text, lang = treebanks.hub_text(name, lang)
        commit = dict(request.commits).get(text.corpus(lang), text.commit)
        return NamedCorpus(name, PARTLY, hub_text=msgspec.structs.replace(text, commit=commit), lang=lang)
    if segment and is_parquet_text(name):
        return NamedCorpus(name, PARTLY)
    if "://" in name or _is_raw(name):
        return NamedCorpus(name, SEGMENT if segment else ANNOTATE)
    if name and Path(name).exists():
        return NamedCorpus(name, READ)
    if is_hub_text(name):
        raise UsageError(f"{name}: give --segment to read text from the Hub (discourse tasks need no annotation)")
    pinned = {corpus.name: corpus for corpus in request.pinned}
    return _of_catalogue(pinned.get(name) or catalogue_corpus(name, request.licences), segment=segment)


def _of_catalogue(corpus: PinnedCorpus, *, segment: bool) -> NamedCorpus:
    how = READ if all(location(corpus, file).is_file() for file in corpus.files) else DOWNLOAD
    if isinstance(corpus, TextCorpus):
        how = SEGMENT if segment else ANNOTATE
    return NamedCorpus(corpus.name, how, corpus)


def _is_raw(source: str) -> bool:
    """Whether a source has to be annotated: a file or folder without CoNLL-U, or a dataset on the Hub."""
    path = Path(source)
    if path.is_dir():
        return not holds_corpus(path)
    return not path.name.endswith(SUFFIXES) if path.exists() else source.startswith(HUB)


def is_parquet_text(source: str) -> bool:
    """Whether a source is a path with text in parquet files only, or a URL with parquet files.

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


@dataclass(frozen=True, slots=True)
class PlannedSource:
    """A corpus that would be read.

    Attributes:
        lang: the code of its language; empty if it is known only from the files.
        corpus: its name, path or URL.
        how: what is done with it: `READ`, `DOWNLOAD`, `ANNOTATE`, `SEGMENT`, `PARTLY` or `FILL`.
        tasks: names of the tasks that are built from it.
        licence: as its source writes it.
        files: number of files.
        bytes: size of these files, of which `PARTLY` and `FILL` may read only a part; None if it is not known.
    """

    lang: str
    corpus: str
    how: str
    tasks: tuple[str, ...]
    licence: str
    files: int
    bytes: int | None


def planned_sources(request: Request, tasks: Sequence[AnyTask]) -> list[PlannedSource]:
    """The corpora that a request would read, in the order in which rows are taken from them.

    Raises:
        UnknownNameError: there is no corpus of a name.
        RemoteError: a URL, or the Hub, cannot be reached.
    """
    codes, segment = request.languages, request.raw is not None and request.raw.segment
    lang = codes[0] if len(codes) == 1 else ""
    planned: list[PlannedSource] = []
    tasks_of: dict[str, Sequence[AnyTask]] = {}  # of a language, those that are not built from corpora of a layer
    for code in codes:
        on_layers, by_corpora = _on_layers(request, code, tasks)
        tasks_of[code] = [task for task in tasks if task not in on_layers]
        for of_layer, of_corpora in by_corpora.items():
            named = [name_corpus(name, code, request, segment=segment) for name in of_layer]
            planned += [_planned(corpus, code, of_corpora) for corpus in named]
    if request.corpora:
        named = [name_corpus(name, lang, request, segment=segment) for name in request.corpora]
    else:
        default = [treebanks.default_corpora(code, request.licences) for code in codes if tasks_of[code]]
        named = [_of_catalogue(corpus, segment=segment) for of_code in default for corpus in of_code]
    for corpus in named:
        if corpus.name == SAMPLE:
            names = tuple(task.name for task in tasks)
            of_sample = codes or treebanks.sample_files()
            planned += [PlannedSource(code, SAMPLE, READ, names, "CC0 1.0", 1, None) for code in of_sample]
        else:
            of_lang = corpus.of_catalogue.lang if corpus.of_catalogue else lang
            planned.append(_planned(corpus, lang, tasks_of.get(of_lang, tasks)))
    for code in codes or sorted({source.lang for source in planned} - {""}):
        of_fill = tasks_of.get(code, tasks)
        if request.corpora or treebanks.default_corpora(code, request.licences):
            of_fill = [task for task in of_fill if is_filled(task) or (request.silver and is_annotated(task))]
        gets_text = request.silver or any(map(is_filled, of_fill))
        for name in fill_of(request, code) if of_fill and gets_text else ():
            text = dataclasses.replace(name_corpus(name, code, request, segment=True), how=FILL)
            planned.append(_planned(text, code, of_fill))
    return planned


def _planned(corpus: NamedCorpus, lang: str, tasks: Sequence[AnyTask]) -> PlannedSource:
    """A corpus with its number of files and their size; neither is known of a URL that is not listed."""
    names = tuple(task.name for task in tasks)
    if pinned := corpus.of_catalogue:
        size = len(pinned.files), pinned.bytes
        return PlannedSource(pinned.lang, pinned.name, corpus.how, names, pinned.licence, *size)
    if corpus.how in {PARTLY, FILL}:
        text = corpus.hub_text
        files = files_at(text.url(corpus.lang) if text else corpus.name, PARQUET)
        name, licence = (text.corpus(corpus.lang), text.licence) if text else (corpus.name, UNKNOWN)
        size = len(files), sum(file.bytes for file in files)
        return PlannedSource(lang, name, corpus.how, names, licence, *size)
    path = Path(corpus.name)
    if not path.exists():
        return PlannedSource(lang, corpus.name, corpus.how, names, UNKNOWN, 0, None)
    local_files = [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path]
    size = len(local_files), sum(file.stat().st_size for file in local_files)
    return PlannedSource(lang, corpus.name, corpus.how, names, UNKNOWN, *size)


AROUND = 2
"""Sentences before and after that are shown."""


class Contexts:
    """Finds the neighbours of sentences in corpora; the corpora of a language are read when they are first needed."""

    def __init__(self, corpora: Sequence[str]) -> None:
        self._corpora = tuple(corpora)
        self._of_language: dict[str, pl.DataFrame] = {}

    def __call__(self, lang: str, corpus: str, sent_ids: Collection[str]) -> list[ContextSentence]:
        """These sentences and those around them, in the order of the source; empty if the corpora do not have them."""
        of_corpus = self._sentences(lang).filter(pl.col("corpus") == corpus)
        places = of_corpus.filter(pl.col("sent_id").is_in(list(sent_ids))).select("number", "doc")
        near = (
            places.join(of_corpus, on="doc", suffix="_near")
            .filter((pl.col("number_near") - pl.col("number")).abs() <= AROUND)
            .unique("number_near")
            .sort("number_near")
        )
        sentences: list[ContextSentence] = []
        last = None
        for number, sent_id, text in near.select("number_near", "sent_id", "text").iter_rows():
            sentences.append(
                ContextSentence(sent_id, text, sent_id in sent_ids, last is not None and number > last + 1)
            )
            last = number
        return sentences

    def _sentences(self, lang: str) -> pl.DataFrame:
        """All sentences of a language: ``corpus``, ``doc``, ``sent_id``, ``text``, ``number`` (signed, in order)."""
        if lang not in self._of_language:
            parts = []
            for part_number, part in enumerate(load_corpus(lang, self._corpora).parts):
                shard = part.load()
                sentences = shard.sentences.join(shard.documents.select("doc", "corpus"), on="doc", how="left")
                doc = pl.format("{}/{}", pl.lit(part_number), "doc")
                parts.append(sentences.select(pl.col("corpus", "sent_id").cast(pl.String), "text", doc=doc))
            self._of_language[lang] = pl.concat(parts).with_row_index("number").cast({"number": pl.Int64})
        return self._of_language[lang]
