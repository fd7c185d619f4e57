"""Reads the corpora of a request: the sample, those of the catalogue, and a user's own."""

import dataclasses
import functools
import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from discoprobe.builders.task import AnyTask
from discoprobe.loaders.catalogue import hub_texts, treebanks
from discoprobe.loaders.catalogue.pins import DocumentRule, PinnedCorpus, TextCorpus, Treebank, TreebankFacts
from discoprobe.loaders.conllu.reader import read_corpora
from discoprobe.loaders.corpus import Corpus, Source
from discoprobe.loaders.errors import DiscoprobeError, OnError, RemoteError, UnsupportedError, UsageError
from discoprobe.loaders.fetch import catalogue_files
from discoprobe.loaders.fetch.remote_files import PARQUET, as_path, files_at, is_url
from discoprobe.loaders.file_hashes import hashes_of
from discoprobe.loaders.languages.language import language_data
from discoprobe.loaders.paths import SUFFIXES, holds_corpus
from discoprobe.loaders.process_pool import Progress, silent
from discoprobe.loaders.raw.annotate.row_group_parts import TextCorpusPart
from discoprobe.loaders.raw.document import DropCounts
from discoprobe.loaders.raw.files import READABLE, check_kind, files_in
from discoprobe.loaders.raw.options import read_options
from discoprobe.loaders.raw.prepare import AnnotationOptions, prepare, segment_parquet
from discoprobe.requests import SAMPLE, Request, catalogue_corpus, corpus_name, is_hub_text, language_codes

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
    texts = [text for text in hub_texts.hub_texts() if text.default and lang not in text.without]
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
        repo = f"{hub_texts.DATASETS}{text.repo}"
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
    return not path.name.endswith(SUFFIXES) if path.exists() else source.startswith(hub_texts.HUB)


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


def hub_text_of(name: str, request: Request, codes: tuple[str, ...]) -> tuple[hub_texts.HubText, str] | None:
    """The Hub dataset of the catalogue with a name, at the commit of the request, and its language; None for others."""
    if not is_hub_text(name):
        return None
    text, lang = hub_texts.hub_text(name, codes[0] if len(codes) == 1 else "")
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
    return _of_catalogue([corpus for of_language in corpora for corpus in of_language], request, progress)


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
    return _of_catalogue([pinned or catalogue_corpus(path)], request, progress)


def _of_catalogue(corpora: Sequence[PinnedCorpus], request: Request, progress: Progress) -> list[Path]:
    """The files of treebanks of the catalogue, and the folders of annotated text; missing files are downloaded."""
    texts = [corpus for corpus in corpora if isinstance(corpus, TextCorpus)]
    banks = [corpus for corpus in corpora if not isinstance(corpus, TextCorpus)]
    files = catalogue_files.fetch(banks, jobs=request.jobs, progress=progress)
    return [*files, *(_annotated_text(text, request, progress) for text in texts)]


def _annotated_text(text: TextCorpus, request: Request, progress: Progress) -> Path:
    """The folder of the annotated corpus of raw text of the catalogue; downloads and annotates it if necessary."""
    how = dataclasses.replace(request.raw or AnnotationOptions(), read=read_options(text.read))
    about = Source(text.name, text.lang, text.licence, text.repo, text.commit, text.citation)
    catalogue_files.fetch([text], jobs=request.jobs, progress=progress)
    return prepare(str(catalogue_files.folder(text)), about, how, jobs=request.jobs, progress=progress).folder


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
