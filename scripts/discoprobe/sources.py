"""Reads the corpora of a request: the sample, those of the catalogue, and a user's own.

A request: what to build (languages, corpora, tasks, settings), and how the options of a command describe it.

Lists what a request would read, by the catalogue, file sizes and listings of URLs, without reading a corpus.

Finds the context of a row: the sentences before and after it, read from corpora.
"""

from __future__ import annotations

import dataclasses
import functools
import operator
import re
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import msgspec
import polars as pl

from discoprobe.builders.settings import MIN_ROWS, Settings, read_min_rows, read_sizes, with_values
from discoprobe.builders.settings import preset as settings_of
from discoprobe.cards.readers import read_marks, to_exclude
from discoprobe.cards.review.site import ContextSentence
from discoprobe.loaders.catalogue import treebanks
from discoprobe.loaders.catalogue.licences import UNKNOWN
from discoprobe.loaders.catalogue.treebanks import (
    DATASETS,
    HUB,
    DocumentRule,
    PinnedCorpus,
    TextCorpus,
    Treebank,
    TreebankFacts,
)
from discoprobe.loaders.conllu.reader import read_corpora
from discoprobe.loaders.corpus import Corpus, Source
from discoprobe.loaders.errors import (
    DiscoprobeError,
    OnError,
    RemoteError,
    UnknownNameError,
    UnsupportedError,
    UsageError,
)
from discoprobe.loaders.fetch import downloads
from discoprobe.loaders.fetch.downloads import location
from discoprobe.loaders.fetch.remote_files import GLOB, PARQUET, as_path, files_at, hub_url, is_url
from discoprobe.loaders.file_hashes import hashes_of
from discoprobe.loaders.languages.language import language_data
from discoprobe.loaders.paths import SUFFIXES, holds_corpus
from discoprobe.loaders.process_pool import Progress, silent
from discoprobe.loaders.raw.document import READABLE, DropCounts, check_kind, files_in, read_options
from discoprobe.loaders.raw.prepare import AnnotationOptions, prepare, segment_parquet
from discoprobe.loaders.raw.row_groups import TextCorpusPart

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from discoprobe.builders.task import AnyTask


SAMPLE = "sample"
ALL = "all"
NOT_IN_NAMES: Final = re.compile(r"[^0-9A-Za-z]+")
"""Characters that are replaced by ``-`` in the name of a corpus, because it is part of file names."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to build.

    Attributes:
        languages: codes or names; empty means all languages of the corpora.
        corpora: ``sample``, names of the catalogue, files or folders of CoNLL-U or of raw text (which is annotated
            first); empty means the catalogue's corpora of the languages (see `corpora_of`).
        tasks: names of tasks or families.
        settings: seed, sizes, filters.
        jobs: number of processes.
        on_error: what to do with a malformed sentence.
        audit: audit every config; without it nothing is known about shortcuts.
        keep_failed: keep configs that fail the audit.
        raw: how raw text is read and annotated; None for the defaults.
        exclude: rows that readers found faulty: config → id → verdict.
        pinned: corpora at other commits than the catalogue's, used in place of the catalogue's corpora of these names.
        fill: text for tasks that need no annotation of words, read after the corpora until the sizes are reached; None
            for the default text of the catalogue.
        commits: names and commits of Hub datasets that are read at another commit than the catalogue's.
    """

    languages: tuple[str, ...] = ()
    corpora: tuple[str, ...] = ()
    tasks: tuple[str, ...] = (ALL,)
    settings: Settings = field(default_factory=Settings)
    jobs: int = 1
    on_error: OnError = "stop"
    audit: bool = True
    keep_failed: bool = False
    raw: AnnotationOptions | None = None
    pinned: tuple[Treebank | TextCorpus, ...] = ()
    fill: tuple[str, ...] | None = ()
    commits: tuple[tuple[str, str], ...] = ()
    exclude: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def language_codes(names: tuple[str, ...]) -> tuple[str, ...]:
    """The codes of languages that are given by code or name; empty for ``all``.

    Raises:
        UnknownNameError: there is no such language.
    """
    return () if names == (ALL,) else tuple(treebanks.language_code(name) for name in names)


def catalogue_corpus(name: str) -> Treebank | TextCorpus:
    """The corpus of the catalogue with this name.

    Raises:
        UnknownNameError: there is none; the message names similar corpora.
    """
    try:
        return treebanks.corpus(name)
    except UnknownNameError as error:
        every = treebanks.languages(every=True)
        known = [SAMPLE, *(corpus.name for each in every for corpus in (*each.treebanks, *each.texts))]
        remedy = "(there is no file or folder of that name either; `build corpora list` lists the catalogue)"
        raise UnknownNameError("corpus", name, known, remedy=remedy) from error


def is_hub_text(name: str) -> bool:
    """Whether a name is that of a Hub dataset in the catalogue, and there is no such file."""
    return not Path(name).exists() and treebanks.is_hub_text(name)


def corpus_name(source: str) -> str:
    """The name of a corpus after its file, folder or dataset, in lower case: ``my-notes`` for ``My notes.jsonl``."""
    path = Path(source)
    last = path.resolve().name if path.exists() else _repository(source)
    stem = last.partition(".")[0] if not path.is_dir() else last
    return NOT_IN_NAMES.sub("-", stem).strip("-").lower() or "text"


def _repository(source: str) -> str:
    """The part of a URL that names the corpus: ``org/name`` on the Hub, else the last part without a pattern."""
    if source.startswith(HUB):
        return "/".join(hub_url(source).removeprefix(f"{HUB}{DATASETS}").partition("@")[0].split("/")[:2])
    plain = [part for part in source.split("/") if GLOB.isdisjoint(part)]
    return plain[-1] if plain else source


def _check_names(languages: tuple[str, ...], corpora: tuple[str, ...], tasks: tuple[str, ...]) -> None:
    """Checks languages, corpora and tasks for unknown names, before the libraries of a build are loaded."""
    language_codes(languages)
    for name in corpora:
        if name != SAMPLE and "://" not in name and not Path(name).exists() and not is_hub_text(name):
            catalogue_corpus(name)
    from discoprobe.builders.task import tasks_named  # noqa: PLC0415 (imports polars)

    tasks_named(tasks)


def parse_request(  # noqa: PLR0913 (one parameter per option)
    lang: Sequence[str] | None, task: Sequence[str] | None, corpus: Sequence[str] | None, *, size: str | None = None,
    seed: int = 13, jobs: int = 1, on_error: str = "stop", match: bool = True, values: Sequence[str] | None = None,
    segment: bool = False, stanza_dir: Path | None = None, preset: str = "default", min_rows: str | None = None,
    documents: int | None = None, fill: Sequence[str] | None = None, gold: bool = False, audit: bool = True,
    keep_failed: bool = False, exclude: Sequence[Path] | None = None,
) -> Request:  # fmt: skip
    """The request that the options of a command describe.

    Without ``fill``, its default text is used if no corpus is named and ``gold`` is not set; else none.

    Raises:
        UnknownNameError: there is no language, corpus or task of a name.
        UsageError: an option has a value that is not allowed, a file is not there, or no task is named.
        DiscoprobeError: a line of a file of marks is malformed.
    """
    languages, corpora, tasks = split_names(lang), tuple(corpus or ()), split_names([ALL] if task is None else task)
    if not tasks:
        raise UsageError("--task names no task; `build tasks` lists them")
    if on_error not in {"stop", "skip"}:
        raise UsageError(f"--on-error is '{on_error}'; give stop or skip")
    if gold and fill:
        raise UsageError("--gold keeps to treebanks and --fill adds text; give one of them")
    least = MIN_ROWS if min_rows is None else read_min_rows(min_rows)
    settings = dataclasses.replace(settings_of(preset), seed=seed, match=match, min_rows=least)
    if documents is not None:
        settings = dataclasses.replace(settings, most_documents=documents)
    if size:
        settings = dataclasses.replace(settings, sizes=read_sizes(size))
    settings = with_values(settings, values or [])
    _check_names(languages, corpora, tasks)
    from discoprobe.loaders.raw.prepare import AnnotationOptions  # noqa: PLC0415 (slow to import)

    return Request(
        languages, corpora, tasks, settings, jobs, cast("OnError", on_error), audit=audit, keep_failed=keep_failed,
        exclude=_excluded_rows(exclude or ()),
        raw=AnnotationOptions(segment=segment, stanza_dir=stanza_dir),
        fill=tuple(fill) if fill else () if gold or corpus else None,
    )  # fmt: skip


def _excluded_rows(files: Sequence[Path]) -> dict[str, dict[str, str]]:
    """The rows that the readers of files of marks found faulty: config → id → verdict."""
    for file in files:
        if not file.is_file():
            raise UsageError(f"--exclude: {file} does not exist; give a file of marks, which `build review` writes")
    marks = [mark for file in files for mark in read_marks(file)]
    return to_exclude(sorted(marks, key=lambda mark: mark.time))


def split_names(texts: Sequence[str] | None) -> tuple[str, ...]:
    """The names in texts, of which each may have several, separated by commas."""
    names = (name.strip() for text in texts or () for name in text.split(","))
    return tuple(name for name in names if name)


TEXT = frozenset({"documents", "sections", "text"})
"""Layers of text that was only divided into sentences."""


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


def read(request: Request, progress: Progress = silent) -> Iterator[Corpus]:
    """The corpora that a request names, one per language, languages in alphabetical order.

    Raises:
        UnsupportedError: if a language that was asked for is in none of the corpora.
    """
    codes = language_codes(request.languages)
    corpora: dict[str, Corpus] = {}
    for name in request.corpora:
        if is_segmented_text(name, request):
            text = _segmented_text(name, request, codes)
            corpora[text.lang] = corpora[text.lang] + text if text.lang in corpora else text
    if paths := _paths(request, codes, progress):
        treebanks_read = read_corpora(
            paths, lang=codes[0] if len(codes) == 1 else None, on_error=request.on_error,
            facts=_facts_of(request), documents=request.settings.documents, jobs=request.jobs,
            progress=lambda done, total: progress("reading", done, total),
        )  # fmt: skip
        corpora = treebanks_read | {
            lang: treebanks_read[lang] + text if lang in treebanks_read else text for lang, text in corpora.items()
        }
    if lacking := sorted(set(codes) - set(corpora)):
        there = ", ".join(corpora) or "no language"
        raise UnsupportedError(
            f"no corpus of {', '.join(lacking)} among {', '.join(request.corpora)}; there is {there}"
        )
    for corpus in corpora.values():
        if not corpus.n_sentences and not corpus.layers:
            raise UnsupportedError(f"no sentence of {corpus.lang} among {', '.join(request.corpora) or 'its corpora'}")
    return (corpora[lang] for lang in sorted(corpora) if not codes or lang in codes)


def corpora_of(
    request: Request, tasks: Sequence[AnyTask], progress: Progress = silent
) -> Iterator[tuple[Corpus, Sequence[AnyTask]]]:
    """The corpora of each language, and the tasks that are built from them.

    Tasks that need no annotation of words get the text of `fill_of` in addition, which is read after the corpora until
    the sizes are reached. A language for which the catalogue has no corpus is built from that text alone.

    Raises:
        DiscoprobeError: as for `read`; or the text cannot be read.
    """
    filled = [task for task in tasks if is_filled(task)]
    text_of = functools.cache(functools.partial(_fill, request) if filled else lambda _: None)
    codes = language_codes(request.languages)
    found = {code: text for code in codes if (text := text_of(code))}  # first, so that a network error comes early
    alone = [code for code in found if not request.corpora and not treebanks.default_corpora(code)]
    for code in alone:
        yield found[code], tasks
    rest = tuple(code for code in codes if code not in alone)
    for corpus in read(dataclasses.replace(request, languages=rest), progress) if rest or not codes else ():
        text = text_of(corpus.lang)
        if text is None:
            yield corpus, tasks
            continue
        if beside := [task for task in tasks if task not in filled]:
            yield corpus, beside
        yield corpus + text, filled


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


def _fill(request: Request, lang: str) -> Corpus | None:
    """The text of `fill_of` as a corpus; None if there is none.

    Raises:
        UsageError: a name is not text in parquet files.
        RemoteError: the Hub cannot be reached.
    """
    names = fill_of(request, lang)
    how = dataclasses.replace(request.raw or AnnotationOptions(), segment=True)
    wanted = dataclasses.replace(request, corpora=names, raw=how)
    if other := [name for name in names if not is_segmented_text(name, wanted)]:
        raise UsageError(
            f"--fill {other[0]}: not text in parquet files; `build corpora list` shows what the catalogue has"
        )
    try:
        texts = [_segmented_text(name, wanted, (lang,)) for name in names]
    except RemoteError as error:
        raise RemoteError(f"{error}; or build from treebanks alone with --gold") from error
    return _as_fill(functools.reduce(operator.add, texts)) if texts else None


def _as_fill(corpus: Corpus) -> Corpus:
    """The corpus with its parts and sources marked as text of ``--fill``, which is read after all other parts."""
    parts = tuple(dataclasses.replace(part, fills=True) for part in corpus.parts if isinstance(part, TextCorpusPart))
    sources = tuple(
        dataclasses.replace(source, annotation={**(source.annotation or {}), "fills": True})
        for source in corpus.sources
    )
    return dataclasses.replace(corpus, parts=parts, sources=sources)


def _segmented_text(name: str, request: Request, codes: tuple[str, ...]) -> Corpus:
    """The corpus of text in parquet files; its parts are read only when they are needed."""
    how = request.raw or AnnotationOptions()
    if known := hub_text_of(name, request, codes):
        text, lang = known
        repo = f"{treebanks.DATASETS}{text.repo}"
        about = Source(text.corpus(lang), lang, text.licence, repo, text.commit, text.citation)
        return segment_parquet(text.url(lang), about, how)
    return segment_parquet(name, _own_text(name, codes), how)


def is_segmented_text(name: str, request: Request) -> bool:
    """Whether a name stands for text in parquet files with ``--segment``, whose parts are read only when needed."""
    if request.raw is None or not request.raw.segment or name == SAMPLE:
        return False
    return is_hub_text(name) or is_parquet_text(name)


def is_raw(source: str) -> bool:
    """Whether a source has to be annotated: a file or folder without CoNLL-U, or a dataset on the Hub."""
    path = Path(source)
    if path.is_dir():
        return not holds_corpus(path)
    return not path.name.endswith(SUFFIXES) if path.exists() else source.startswith(treebanks.HUB)


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


def hub_text_of(name: str, request: Request, codes: tuple[str, ...]) -> tuple[treebanks.HubText, str] | None:
    """The Hub dataset of the catalogue with a name, at the commit of the request, and its language; None for others."""
    if not is_hub_text(name):
        return None
    text, lang = treebanks.hub_text(name, codes[0] if len(codes) == 1 else "")
    commit = next((commit for pinned, commit in request.commits if pinned == text.corpus(lang)), text.commit)
    return msgspec.structs.replace(text, commit=commit), lang


def _facts_of(request: Request) -> Callable[[str], TreebankFacts | None]:
    """A function from the name of a file or folder to what is known of its treebank, with the pins of the request."""
    pinned = {bank.name: bank for bank in request.pinned if isinstance(bank, Treebank)}

    def facts(name: str) -> TreebankFacts | None:
        found = _facts(name)
        if found is None or found.name not in pinned:
            return found
        bank = pinned[found.name]
        return msgspec.structs.replace(bank.facts, sha256=frozenset(file.sha256 for file in bank.files if file.sha256))

    return facts


def _facts(name: str) -> TreebankFacts | None:
    """What is known of a treebank of the sample or the catalogue; None for others."""
    if name.endswith(f"_{SAMPLE}-ud-test.conllu"):
        lang = name.partition("_")[0]
        packaged = treebanks.sample_files().get(lang)
        sha256 = frozenset({hashes_of(packaged).sha256} if packaged else ())
        return TreebankFacts(f"{SAMPLE}-{lang}", lang, "CC0 1.0", "", "", "", DocumentRule("newdoc"), sha256)
    return treebanks.facts_for(name)


def _paths(request: Request, codes: tuple[str, ...], progress: Progress) -> list[Path]:
    """The files and folders of the corpora of a request, without those of `is_segmented_text`."""
    if request.corpora:
        named = [name for name in request.corpora if not is_segmented_text(name, request)]
        return [path for name in named for path in _paths_named(name, request, codes, progress)]
    if not codes:
        raise UsageError("give --lang, or --corpus with the corpora to build from")
    corpora = [treebanks.default_corpora(code) or treebanks.open_treebanks(code) for code in codes]
    return _of_catalogue_sources([corpus for of_language in corpora for corpus in of_language], request, progress)


def _paths_named(name: str, request: Request, codes: tuple[str, ...], progress: Progress) -> Sequence[Path]:
    """The files and folders that a name of ``--corpus`` stands for; raw text is annotated first."""
    path = as_path(name)
    if path == SAMPLE:
        return _sample(codes)
    if is_hub_text(path):
        raise UsageError(f"{path}: give --segment to read text from the Hub (discourse tasks need no annotation)")
    if path and is_raw(path):
        return [_annotated(path, request, codes, progress)]
    if path and Path(path).exists():
        return [Path(path)]
    pinned = next((corpus for corpus in request.pinned if corpus.name == path), None)
    return _of_catalogue_sources([pinned or catalogue_corpus(path)], request, progress)


def _of_catalogue_sources(corpora: Sequence[PinnedCorpus], request: Request, progress: Progress) -> list[Path]:
    """The files of treebanks of the catalogue, and the folders of annotated text; missing files are downloaded."""
    texts = [corpus for corpus in corpora if isinstance(corpus, TextCorpus)]
    banks = [corpus for corpus in corpora if not isinstance(corpus, TextCorpus)]
    files = downloads.fetch(banks, jobs=request.jobs, progress=progress)
    return [*files, *(_annotated_text(text, request, progress) for text in texts)]


def _annotated_text(text: TextCorpus, request: Request, progress: Progress) -> Path:
    """The folder of the annotated corpus of raw text of the catalogue; downloads and annotates it if necessary."""
    how = dataclasses.replace(request.raw or AnnotationOptions(), read=read_options(text.read))
    about = Source(text.name, text.lang, text.licence, text.repo, text.commit, text.citation)
    downloads.fetch([text], jobs=request.jobs, progress=progress)
    return prepare(str(downloads.folder(text)), about, how, jobs=request.jobs, progress=progress).folder


def _annotated(source: str, request: Request, codes: tuple[str, ...], progress: Progress) -> Path:
    """The folder of the annotated corpus of a user's raw text, which is annotated if necessary."""
    about, how = _own_text(source, codes), request.raw or AnnotationOptions()
    return prepare(source, about, how, jobs=request.jobs, progress=progress).folder


def _own_text(source: str, codes: tuple[str, ...]) -> Source:
    """Name and language of a user's own text."""
    if Path(source).is_file():
        check_kind(Path(source))
    if len(codes) != 1:
        raise UsageError(f"{source} is raw text: name its language with --lang, a single one such as de")
    return Source(corpus_name(source), codes[0])


def _sample(codes: tuple[str, ...]) -> list[Path]:
    there = treebanks.sample_files()
    if lacking := [code for code in codes if code not in there]:
        raise UnsupportedError(f"the sample corpus has {', '.join(there)}, not {', '.join(lacking)}")
    return [there[code] for code in codes or there]


READ: Final = "read"
DOWNLOAD: Final = "download and read"
ANNOTATE: Final = "annotate with Stanza"
SEGMENT: Final = "divide into sentences"
PARTLY: Final = "read until the sizes are full"
FILL: Final = "fill what is left, until the sizes are full"
LONG: Final = frozenset({DOWNLOAD, ANNOTATE, SEGMENT})
"""Steps without which it is not known whether a config is up to date."""


@dataclass(frozen=True, slots=True)
class PlannedSource:
    """A corpus that would be read.

    Attributes:
        lang: the code of its language; empty if it is known only from the files.
        corpus: its name, path or URL.
        how: what is done with it: one of the constants above, such as `READ`.
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
    codes = language_codes(request.languages)
    names = tuple(task.name for task in tasks)
    if request.corpora:
        planned = [found for name in request.corpora for found in _named(name, request, codes, names)]
    else:
        planned = [
            _of_catalogue_reading_plan(corpus, request, names)
            for code in codes
            for corpus in treebanks.default_corpora(code)
        ]
    filled = tuple(task.name for task in tasks if is_filled(task))
    for code in (codes or _languages(planned)) if filled else ():
        fills = names if not request.corpora and not treebanks.default_corpora(code) else filled
        planned += [_text(name, request, code, FILL, fills) for name in fill_of(request, code)]
    return planned


def _languages(planned: Sequence[PlannedSource]) -> tuple[str, ...]:
    return tuple(sorted({one.lang for one in planned} - {""}))


def _named(name: str, request: Request, codes: Sequence[str], tasks: tuple[str, ...]) -> Iterator[PlannedSource]:
    """The corpora for a name of ``--corpus``: several only for the sample."""
    lang = codes[0] if len(codes) == 1 else ""
    if name == SAMPLE:
        for code in codes or treebanks.sample_files():
            yield PlannedSource(code, SAMPLE, READ, tasks, "CC0 1.0", 1, None)
    elif is_segmented_text(name, request):
        yield _text(name, request, lang, PARTLY, tasks)
    elif "://" in name or is_raw(name):
        how = SEGMENT if request.raw and request.raw.segment else ANNOTATE
        yield PlannedSource(lang, name, how, tasks, UNKNOWN, *_size(Path(name)))
    elif Path(name).exists():
        yield PlannedSource(lang, name, READ, tasks, UNKNOWN, *_size(Path(name)))
    else:
        yield _of_catalogue_reading_plan(catalogue_corpus(name), request, tasks)


def _of_catalogue_reading_plan(corpus: PinnedCorpus, request: Request, tasks: tuple[str, ...]) -> PlannedSource:
    how = READ if all(location(corpus, file).is_file() for file in corpus.files) else DOWNLOAD
    if isinstance(corpus, TextCorpus):
        how = SEGMENT if request.raw and request.raw.segment else ANNOTATE
    return PlannedSource(corpus.lang, corpus.name, how, tasks, corpus.licence, len(corpus.files), corpus.bytes)


def _text(name: str, request: Request, lang: str, how: str, tasks: tuple[str, ...]) -> PlannedSource:
    """Text in parquet files: a path, a URL, or a dataset of the catalogue."""
    known = hub_text_of(name, request, (lang,) if lang else ())
    files = files_at(known[0].url(known[1]) if known else name, PARQUET)
    corpus, licence = (known[0].corpus(known[1]), known[0].licence) if known else (name, UNKNOWN)
    return PlannedSource(lang, corpus, how, tasks, licence, len(files), sum(file.bytes for file in files))


def _size(path: Path) -> tuple[int, int | None]:
    """Number and bytes of the files at a path; 0 and None for a URL."""
    if not path.exists():
        return 0, None
    files = [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path]
    return len(files), sum(file.stat().st_size for file in files)


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
            for shard_number, part in enumerate(load_corpus(lang, self._corpora).parts):
                shard = part.load()
                named = shard.sentences.join(shard.documents.select("doc", "corpus"), on="doc", how="left")
                parts.append(
                    named.select(
                        pl.col("corpus").cast(pl.String), pl.format("{}/{}", pl.lit(shard_number), "doc").alias("doc"),
                        pl.col("sent_id").cast(pl.String), "text",
                    )
                )  # fmt: skip
            self._of_language[lang] = pl.concat(parts).with_row_index("number").cast({"number": pl.Int64})
        return self._of_language[lang]
