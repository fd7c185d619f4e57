"""Reads the corpora that a request names: the sample, those of the catalogue, and a user's own.

`groups_of` decides once what each name of a request stands for (`NamedCorpus`) and which tasks are built from it.
`corpora_of` reads these groups, one corpus per language, and `planned_sources` lists them, by the catalogue, file sizes
and listings of URLs, without reading a corpus. `Contexts` finds the sentences around those of a row.
"""

from __future__ import annotations

import functools
import logging
import operator
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
import polars as pl

from discoprobe.builders.settings import UNIMORPH
from discoprobe.builders.task import AnyTask
from discoprobe.loaders.catalogue import treebanks
from discoprobe.loaders.catalogue.licences import UNKNOWN
from discoprobe.loaders.catalogue.treebanks import (
    DATASETS,
    HUB,
    DocumentRule,
    FormsTable,
    HubText,
    PinnedCorpus,
    Source,
    TextCorpus,
    Treebank,
)
from discoprobe.loaders.conllu.reader import SUFFIXES, holds_corpus, is_corpus_file, read_corpora
from discoprobe.loaders.errors import (
    DiscoprobeError,
    OnError,
    RemoteError,
    UnsupportedError,
    UsageError,
)
from discoprobe.loaders.fetch import downloads
from discoprobe.loaders.fetch.downloads import location
from discoprobe.loaders.fetch.remote_files import PARQUET, as_path, files_at, is_url, without_secret
from discoprobe.loaders.files import File, hashes_of
from discoprobe.loaders.languages.language import language_data
from discoprobe.loaders.process_pool import Progress, silent
from discoprobe.loaders.raw.document import AnnotationOptions, DropCounts, read_options
from discoprobe.loaders.raw.prepare import parquet_corpus, prepare
from discoprobe.loaders.raw.row_groups import TextCorpusPart
from discoprobe.loaders.raw.segmentation import sentence_spans
from discoprobe.loaders.raw.text_rows import READABLE, check_kind, files_in
from discoprobe.request import SAMPLE, Request, catalogue_corpus, corpus_name, is_hub_text
from discoprobe.silver import held_out, is_annotated, label_errors

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from discoprobe.cards.text.examples import ContextSentence
    from discoprobe.loaders.corpus import Corpus


_log = logging.getLogger(__name__)


def load_corpus(
    lang: str, corpora: Sequence[str] = (), *, on_error: OnError = "stop", segment: bool = False,
    progress: Progress = silent,
) -> Corpus:  # fmt: skip
    """The corpora of one language, without the table of forms that `build run` takes from the catalogue.

    Args:
        lang: its code or name, or the path of a .conllu file or folder that holds one language.
        corpora: ``sample``, names of the catalogue, files or folders; by default the catalogue's treebanks of the
            language, which are downloaded and verified, or its raw text where it has no treebank.
        on_error: ``skip`` leaves malformed sentences out and counts them.
        segment: only divide raw text into sentences and words, as ``--segment``.
        progress: called with what is downloaded and read.

    Raises:
        UnknownNameError: for a language or corpus that is not there.
        CorpusFormatError: for a malformed file.
        UnsupportedError: if the files hold no such language, or several.
    """
    raw = AnnotationOptions(segment=segment)
    if not corpora and Path(lang).exists():
        request = Request(corpora=(lang,), on_error=on_error, raw=raw)
    else:
        request = Request(languages=(lang,), corpora=tuple(corpora), on_error=on_error, raw=raw)
    of_language: list[Corpus] = []
    for group in groups_of(request, ()):
        of_language += _read(group, request, _paths(group, request, progress), progress)
    if len(of_language) != 1:
        names = ", ".join(corpus.lang for corpus in of_language) or "none"
        raise UnsupportedError(f"expected one language, found {names}; give the code of one, and its files")
    return of_language[0]


TEXT = frozenset({"documents", "sections", "text"})
"""Layers of text that was only divided into sentences."""


class CorpusGroup(msgspec.Struct, frozen=True):
    """Corpora of a request that are read together, and what is built from them.

    Attributes:
        languages: by code; empty for all languages of the corpora.
        named: the corpora; none where a language is built from the text of ``--fill`` alone.
        tasks: by code of the language, under the empty code for those that only the files show.
    """

    languages: tuple[str, ...]
    named: tuple[NamedCorpus, ...]
    tasks: Mapping[str, Sequence[AnyTask]]

    def tasks_of(self, lang: str) -> Sequence[AnyTask]:
        """The tasks that are built from the corpora of a language."""
        return self.tasks[lang] if lang in self.tasks else self.tasks.get("", ())


def groups_of(request: Request, tasks: Sequence[AnyTask]) -> list[CorpusGroup]:
    """The corpora that a request names, in the order in which they are read; no corpus is read.

    Without a name, tasks on a layer of discourse annotation are built from the corpora of the catalogue that have this
    layer, and all others from its treebanks of the languages. If it has none of a language, they are built from the
    text of `fill_of`, or from the catalogue's raw text where there is no such task.

    Raises:
        UsageError: neither a language nor a corpus is named.
        UnknownNameError: there is no corpus of a name.
        UnsupportedError: the catalogue has only corpora of a language that are left out.
        RemoteError: a URL cannot be reached.
    """
    codes, segment = request.languages, request.raw is not None and request.raw.segment
    if request.corpora:
        lang = codes[0] if len(codes) == 1 else ""
        named = tuple(name_corpus(name, lang, request, segment=segment) for name in request.corpora)
        return [CorpusGroup(codes, named, {"": tasks})]
    if not codes:
        raise UsageError("give --lang, or --corpus with the corpora to build from")
    groups: list[CorpusGroup] = []
    default: list[NamedCorpus] = []
    of_default: dict[str, Sequence[AnyTask]] = {}
    for code in codes:
        of_layers: dict[tuple[Treebank, ...], list[AnyTask]] = {}
        for task in tasks:
            of_layers.setdefault(treebanks.corpora_with(task.needs, code, request.licences), []).append(task)
        others = of_layers.pop((), [])
        for banks, of_layer in of_layers.items():
            named = tuple(_of_catalogue(bank, segment=segment) for bank in banks)
            groups.append(CorpusGroup((code,), named, {code: of_layer}))
        if not others and of_layers:
            continue
        corpora = treebanks.default_corpora(code, request.licences)
        if not corpora and any(map(is_filled, tasks)) and fill_of(request, code):
            groups.append(CorpusGroup((code,), (), {code: others}))
            continue
        corpora = corpora or treebanks.needed_corpora(code, request.licences)
        default += [_of_catalogue(corpus, segment=segment) for corpus in corpora]
        of_default[code] = others
    return [*groups, *([CorpusGroup(tuple(of_default), tuple(default), of_default)] if of_default else [])]


def corpora_of(
    request: Request, tasks: Sequence[AnyTask], progress: Progress = silent
) -> Iterator[tuple[Corpus, Sequence[AnyTask]]]:
    """The corpora of each language, and the tasks that are built from them.

    Tasks that need no annotation of words get the text of `fill_of` in addition, which is read after the corpora until
    the sizes are reached; with ``silver``, so do tasks on annotated sentences whose labels are right (`label_errors`).

    Raises:
        DiscoprobeError: as for `groups_of`; or a corpus cannot be downloaded or read.
    """
    groups = groups_of(request, tasks)
    with_text = request.silver or any(map(is_filled, tasks))
    text_of = functools.cache(functools.partial(_fill, request) if with_text else lambda *_, **__: None)
    texts = {code: text_of(code) for code in request.languages}  # first, so that a network error comes early
    if request.silver and texts and not any(texts.values()):
        raise UnsupportedError(f"--silver: there is no text of {', '.join(texts)} to annotate; name it with --fill")
    paths_of = [_paths(group, request, progress) for group in groups]
    forms = {}
    for lang, table in _tables_of_forms(groups, request).items():
        files = downloads.fetch([table], jobs=request.jobs, progress=progress)
        listed = tuple(
            msgspec.structs.replace(hashes_of(path, with_git=False), path=path.name, url=str(path)) for path in files
        )
        forms[lang] = Source(table.name, lang, table.licence, table.repo, table.commit, table.citation, listed)
    for group, paths in zip(groups, paths_of, strict=True):
        for corpus in _read(group, request, paths, progress) if group.named else map(text_of, group.languages):
            assert corpus is not None
            corpus = msgspec.structs.replace(corpus, forms=forms.get(corpus.lang))  # noqa: PLW2901 (the same, with forms)
            of_lang, text = group.tasks_of(corpus.lang), text_of(corpus.lang) if group.named else None
            unfilled = [task for task in of_lang if text is None or not is_filled(task)]
            if request.silver and text and (annotated := [task for task in unfilled if is_annotated(task)]):
                progress(f"comparing labels {corpus.lang}", 0, 1)
                silver = text_of(corpus.lang, annotate=True)
                assert silver
                part = next(part for part in silver.parts if isinstance(part, TextCorpusPart))
                errors = label_errors(annotated, held_out(paths, corpus.lang, request.on_error), part.engine)
                progress(f"comparing labels {corpus.lang}", 1, 1)
                trust = {name: figures.trust for name, figures in errors.items() if figures.trust}
                if of_silver := [task for task in annotated if task.name in trust]:
                    labels = {"silver": {name: msgspec.to_builtins(figures) for name, figures in errors.items()}}
                    about = tuple(
                        msgspec.structs.replace(source, annotation={**(source.annotation or {}), **labels})
                        for source in silver.sources
                    )
                    yield corpus + msgspec.structs.replace(silver, sources=about, trust=trust), of_silver
                unfilled = [task for task in unfilled if task not in of_silver]
            if unfilled:
                yield corpus, unfilled
            if text and (filled := [task for task in of_lang if is_filled(task)]):
                yield corpus + text, filled


def _tables_of_forms(groups: Sequence[CorpusGroup], request: Request) -> dict[str, FormsTable]:
    """The tables of forms of the catalogue that tasks use, by language, as `Settings.paradigms` says.

    Raises:
        UnknownNameError: the setting names a table that the catalogue does not have.
    """
    named, tables = request.settings.paradigms, dict[str, FormsTable]()
    if not named.casefold().startswith(UNIMORPH):
        return tables
    pinned = {table.name: table for table in request.pinned if isinstance(table, FormsTable)}
    for group in groups:
        if named.casefold() == UNIMORPH:
            banks = [corpus.of_catalogue for corpus in group.named if isinstance(corpus.of_catalogue, Treebank)]
            of_group = [treebanks.language(code).forms for code in sorted({bank.lang for bank in banks})]
        else:
            table = treebanks.known(named, kind="table of forms")
            of_group = [table] if isinstance(table, FormsTable) else []
        for table in filter(None, of_group):
            asked = not group.languages or table.lang in group.languages
            if asked and any(task.uses_forms for task in group.tasks_of(table.lang)):
                tables[table.lang] = pinned.get(table.name, table)
    return tables


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


def _fill(request: Request, lang: str, *, annotate: bool = False) -> Corpus | None:
    """The text of `fill_of` as a corpus, divided into sentences or also annotated; None if there is none.

    Its parts and sources are marked, because they are read after all other parts.

    Raises:
        UsageError: a name is not text in parquet files.
        RemoteError: the Hub cannot be reached.
        UnsupportedError: Stanza or a model is missing.
    """
    named = [name_corpus(name, lang, request, segment=True) for name in fill_of(request, lang)]
    if others := [corpus.name for corpus in named if corpus.how != PARTLY]:
        raise UsageError(
            f"--fill {others[0]}: not text in parquet files; `build corpora list` shows what the catalogue has"
        )
    if not named:
        return None
    given = request.reading
    options = msgspec.structs.replace(
        given, segment=not annotate, rules=given.rules and not annotate,
        lengths=request.settings.probing_words if annotate else None,
    )  # fmt: skip
    try:
        text = functools.reduce(operator.add, [_text_in_parquet(corpus, lang, options) for corpus in named])
    except RemoteError as error:
        raise RemoteError(f"{error}; or build from treebanks alone with --gold") from error
    parts = tuple(msgspec.structs.replace(part, fills=True) for part in text.parts if isinstance(part, TextCorpusPart))
    sources = tuple(
        msgspec.structs.replace(source, annotation={**(source.annotation or {}), "fills": True})
        for source in text.sources
    )
    return msgspec.structs.replace(text, parts=parts, sources=sources)


def _read(group: CorpusGroup, request: Request, paths: Sequence[Path], progress: Progress = silent) -> Iterator[Corpus]:
    """The corpora of a group whose files are at ``paths``, one per language, languages in alphabetical order.

    Raises:
        UnsupportedError: if a language that was asked for is in none of the corpora.
    """
    codes, options = group.languages, request.reading
    lang = codes[0] if len(codes) == 1 else ""
    corpora: dict[str, Corpus] = {}
    for text in (_text_in_parquet(corpus, lang, options) for corpus in group.named if corpus.how == PARTLY):
        corpora[text.lang] = corpora[text.lang] + text if text.lang in corpora else text
    if paths:
        banks = [bank for bank in request.pinned if isinstance(bank, Treebank)]
        pinned = {file.sha256: bank for bank in banks for file in bank.files if file.sha256}
        of_files = read_corpora(
            paths, lang=lang or None, on_error=request.on_error,
            facts=functools.partial(_facts, pinned),
            documents=request.settings.documents, texts=functools.partial(_texts_of_trees, request),
            find_sentences=sentence_spans, jobs=request.jobs,
            progress=lambda done, total: progress("reading: kB", done // 1000, total // 1000),
        )  # fmt: skip
        corpora = of_files | {
            code: of_files[code] + text if code in of_files else text for code, text in corpora.items()
        }
    names = ", ".join(corpus.name for corpus in group.named)
    if lacking := sorted(set(codes) - set(corpora)):
        languages = ", ".join(corpora) or "no language"
        raise UnsupportedError(f"no corpus of {', '.join(lacking)} among {names}; there is {languages}")
    for corpus in corpora.values():
        if not corpus.n_sentences and not corpus.layers:
            raise UnsupportedError(f"no sentence of {corpus.lang} among {names}")
    return (corpora[code] for code in sorted(corpora) if not codes or code in codes)


def _texts_of_trees(request: Request, names: Collection[str]) -> list[Path]:
    """Files of the catalogue with the texts of trees of these names, as far as they are downloaded.

    A build of one's own files needs no network. A warning says what is not downloaded: rules set the blanks of its
    trees, as of all whose text is not known.
    """
    found: list[Path] = []
    for bank in treebanks.files_named([f"{name}.conllu" for name in names], request.licences):
        places = [location(bank, file).resolve() for file in bank.files]
        found += (there := [place for place in places if place.is_file()])
        if n_missing := len(places) - len(there):
            _log.warning(
                "the texts of %d trees are in %s, which is not downloaded, so that rules set their blanks; "
                "`build corpora fetch %s` gets it", n_missing, bank.name, bank.name,
            )  # fmt: skip
    return found


def _paths(group: CorpusGroup, request: Request, progress: Progress = silent) -> list[Path]:
    """The files and folders of a group; those of the catalogue are downloaded, and raw text is annotated first.

    Text of the catalogue that no one named is divided into sentences only if models are missing: so a build of several
    languages does not end at one of them.
    """
    codes, options, jobs = group.languages, request.reading, request.jobs
    banks = [corpus.of_catalogue for corpus in group.named if isinstance(corpus.of_catalogue, Treebank)]
    paths = downloads.fetch(banks, jobs=jobs, progress=progress) if banks else []
    for corpus in group.named:
        if corpus.name == SAMPLE:
            packaged = treebanks.sample_files()
            if lacking := [code for code in codes if code not in packaged]:
                raise UnsupportedError(f"the sample corpus has {', '.join(packaged)}, not {', '.join(lacking)}")
            paths += [packaged[code] for code in codes or packaged]
        elif isinstance(text := corpus.of_catalogue, TextCorpus):
            about = Source(text.name, text.lang, text.licence, text.repo, text.commit, text.citation)
            how = msgspec.structs.replace(options, read=read_options(text.read))
            downloads.fetch([text], jobs=jobs, progress=progress)
            read = functools.partial(prepare, str(downloads.folder(text)), about, jobs=jobs, progress=progress)
            try:
                paths.append(read(how).folder)
            except UnsupportedError as error:
                if request.corpora or how.segment:
                    raise
                _log.warning(
                    "%s; without them, tasks that need annotated words are not built from %s", error, text.name
                )
                paths.append(read(msgspec.structs.replace(how, segment=True)).folder)
        elif corpus.of_catalogue is None and corpus.how != PARTLY:
            path = as_path(corpus.name)
            if _is_raw(path):
                own = _own_text(path, codes[0] if len(codes) == 1 else "")
                about = msgspec.structs.replace(
                    own, licence=options.licence or own.licence, citation=options.citation or own.citation
                )
                paths.append(prepare(path, about, options, jobs=jobs, progress=progress).folder)
            else:
                paths.append(Path(path))
    return paths


def _facts(pinned: Mapping[str, Treebank], path: Path, digest: File) -> Source | None:
    """What is known of the treebank of a file by its content: from the pins of a request, the catalogue, the sample."""
    if bank := pinned.get(digest.sha256):
        return bank.facts
    facts = treebanks.facts_of(path, digest)
    if facts is None and (lang := _sample_hashes().get(digest.sha256)):
        return Source(f"{SAMPLE}-{lang}", lang, "CC0 1.0", "", "", "", documents=DocumentRule("newdoc"))
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
        DiscoprobeError: no file of it can be read.
        UsageError: the language is not known.
    """
    if Path(source).is_file():
        check_kind(Path(source))
    elif Path(source).is_dir():
        files_in(Path(source), DropCounts())
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


class NamedCorpus(msgspec.Struct, frozen=True):
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
        UsageError: a URL has a password or a query.
        RemoteError: a URL cannot be reached.
    """
    if name == SAMPLE:
        return NamedCorpus(name, READ)
    if is_url(name) and name != (shown := without_secret(name)):
        raise UsageError(
            f"{shown}: leave out user, password and query, because the manifest of the release has the URL; "
            "put them where the protocol looks for them, such as ~/.netrc or the configuration of fsspec"
        )
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
    return not is_corpus_file(path) if path.exists() else source.startswith(HUB)


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


class PlannedSource(msgspec.Struct, frozen=True):
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
    planned: list[PlannedSource] = []
    texts: list[PlannedSource] = []
    groups = groups_of(request, tasks)
    for group in groups:
        lang = group.languages[0] if len(group.languages) == 1 else ""
        for corpus in group.named:
            if corpus.name == SAMPLE:
                names = tuple(task.name for task in tasks)
                of_sample = group.languages or treebanks.sample_files()
                planned += [PlannedSource(code, SAMPLE, READ, names, "CC0 1.0", 1, None) for code in of_sample]
            else:
                of_corpus = corpus.of_catalogue.lang if corpus.of_catalogue else lang
                planned.append(_planned(corpus, lang, group.tasks_of(of_corpus)))
        for code in group.languages or sorted({source.lang for source in planned} - {""}):
            of_fill = group.tasks_of(code)
            if group.named:
                of_fill = [task for task in of_fill if is_filled(task) or (request.silver and is_annotated(task))]
            for name in fill_of(request, code) if of_fill else ():
                text = msgspec.structs.replace(name_corpus(name, code, request, segment=True), how=FILL)
                texts.append(_planned(text, code, of_fill))
    for lang, table in _tables_of_forms(groups, request).items():
        names = tuple(task.name for task in tasks if task.uses_forms)
        how = _of_catalogue(table, segment=False).how
        planned.append(PlannedSource(lang, table.name, how, names, table.licence, len(table.files), table.bytes))
    return planned + texts


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
        size = len(files), sum(file.bytes or 0 for file in files)
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
            sentences.append((text, sent_id in sent_ids, last is not None and number > last + 1))
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
