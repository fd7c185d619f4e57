"""What a request resolves to: which corpora are read, at which commit, and which tasks are built from each.

`plan` makes a `Plan` of the words of a user (`request.Request`); `planned_again` makes one of the manifest of a
release, with the corpora at the commits and with the files that it lists, wherever the catalogue has moved to since. A
build, what is out of date, `build why`, verification and a dry run all begin with a plan; no corpus is read for it.
`reads` lists what will be.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final

import msgspec

from discoprobe.builders.settings import UNIMORPH, Settings
from discoprobe.builders.task import AnyTask, all_tasks, tasks_named
from discoprobe.cards.metadata import manifest
from discoprobe.loaders.archives import is_archive
from discoprobe.loaders.catalogue import treebanks
from discoprobe.loaders.catalogue.licences import UNKNOWN
from discoprobe.loaders.catalogue.treebanks import (
    DATASETS,
    HUB,
    FormsTable,
    HubText,
    PinnedCorpus,
    TextCorpus,
    Treebank,
)
from discoprobe.loaders.conllu.reader import SUFFIXES, holds_corpus, is_corpus_file
from discoprobe.loaders.errors import DiscoprobeError, UnknownNameError, UnsupportedError, UsageError
from discoprobe.loaders.fetch import downloads
from discoprobe.loaders.fetch.remote_files import PARQUET, files_at, is_url, without_secret
from discoprobe.loaders.files import File
from discoprobe.loaders.languages.language import language_data
from discoprobe.loaders.plugins import path_of, plugin_folders
from discoprobe.loaders.raw.document import (
    DEFAULT,
    AnnotationOptions,
    DropCounts,
    ReadOptions,
    assignments,
    read_options,
)
from discoprobe.loaders.raw.parsers import PARSED
from discoprobe.loaders.raw.prepare import parser_of
from discoprobe.loaders.raw.text_rows import READABLE, files_in
from discoprobe.request import SAMPLE, Request, catalogue_corpus, is_hub_text
from discoprobe.silver import is_annotated

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from discoprobe.cards.metadata.manifest import ConfigEntry, Manifest, SourceEntry

TEXT = frozenset({"documents", "sections", "text"})
"""Layers of text that was only divided into sentences."""
READ: Final = "read"
DOWNLOAD: Final = "download and read"
ANNOTATE: Final = "annotate with Stanza"
SEGMENT: Final = "divide into sentences"
PARTLY: Final = "read until the sizes are full"
FILL: Final = "fill what is left, until the sizes are full"
LONG: Final = frozenset({DOWNLOAD, ANNOTATE, SEGMENT})
"""Steps without which it is not known whether a config is up to date."""


class PlannedCorpus(msgspec.Struct, frozen=True):
    """A corpus that is read: what a name of one stands for.

    Attributes:
        name: as the request has it: ``sample``, a name of the catalogue, a path or a URL.
        how: `READ` for CoNLL-U; `DOWNLOAD` where the cache does not have it; `ANNOTATE` or `SEGMENT` for raw text, and
            for what is at a URL, which shows when it is copied; `PARTLY` for text in parquet files with ``--segment``,
            whose parts are read when they are needed.
        pinned: the corpus of the catalogue, at the commit at which it is read.
        hub_text: the dataset of the Hub, at the commit at which it is read; only with `PARTLY`.
        lang: the language of ``hub_text``.
    """

    name: str
    how: str
    pinned: PinnedCorpus | None = None
    hub_text: HubText | None = None
    lang: str = ""


class CorpusGroup(msgspec.Struct, frozen=True):
    """Corpora that are read together, and what is built from them.

    Attributes:
        languages: by code; empty for all languages of the corpora.
        corpora: none where a language is built from the text of ``--fill`` alone.
        tasks: by code of the language, under the empty code for those that only the files show.
    """

    languages: tuple[str, ...]
    corpora: tuple[PlannedCorpus, ...]
    tasks: Mapping[str, Sequence[AnyTask]]

    @property
    def treebanks(self) -> list[Treebank]:
        """The treebanks of the catalogue among the corpora."""
        return [corpus.pinned for corpus in self.corpora if isinstance(corpus.pinned, Treebank)]

    def tasks_of(self, lang: str) -> Sequence[AnyTask]:
        """The tasks that are built from the corpora of a language."""
        return self.tasks[lang] if lang in self.tasks else self.tasks.get("", ())


class Plan(msgspec.Struct, frozen=True):
    """What is read and built.

    Attributes:
        request: the settings, and how it is run.
        tasks: all tasks.
        groups: the corpora, in the order in which they are read.
        forms: by language the table of forms of the catalogue, where a task uses one.
        texts: by language the text of ``--fill``, read after the corpora until the sizes are reached; for languages
            that only the files show, `text_of` has it.
    """

    request: Request
    tasks: Sequence[AnyTask]
    groups: tuple[CorpusGroup, ...]
    forms: Mapping[str, FormsTable]
    texts: Mapping[str, tuple[PlannedCorpus, ...]]

    def text_of(self, lang: str) -> tuple[PlannedCorpus, ...]:
        """The text of ``--fill`` of a language.

        Raises:
            UsageError: a name is not text in parquet files.
            RemoteError: the Hub cannot be reached.
        """
        return self.texts[lang] if lang in self.texts else _text_of(self.request, lang)


def plan(request: Request, tasks: Sequence[AnyTask] | None = None) -> Plan:
    """What a request reads and builds, in the order in which rows are taken from the corpora.

    Without a name of a corpus, tasks on a layer of discourse annotation are built from the corpora of the catalogue
    that have this layer, and all others from its treebanks of the languages. If it has none of a language, they are
    built from the text of ``--fill``, or from the catalogue's raw text where there is no such task.

    Args:
        request: the words of a user.
        tasks: by default those of the request.

    Raises:
        UsageError: neither a language nor a corpus is named, or a name of ``--fill`` is not text in parquet files.
        UnknownNameError: there is no task or corpus of a name.
        UnsupportedError: the catalogue has only corpora of a language that are left out.
        RemoteError: a URL, or the Hub, cannot be reached.
    """
    tasks = tasks_named(request.tasks) if tasks is None else tasks
    groups = tuple(_groups(request, tasks))
    with_text = request.silver or any(map(is_filled, tasks))
    texts = {code: _text_of(request, code) if with_text else () for code in request.languages}
    return Plan(request, tasks, groups, _forms(request, groups, {}), texts)


def _groups(request: Request, tasks: Sequence[AnyTask]) -> list[CorpusGroup]:
    codes, segment = request.languages, request.raw is not None and request.raw.segment
    if request.corpora:
        lang = codes[0] if len(codes) == 1 else ""
        named = tuple(name_corpus(name, lang, request, segment=segment) for name in request.corpora)
        return [CorpusGroup(codes, named, {"": tasks})]
    if not codes:
        raise UsageError("give --lang, or --corpus with the corpora to build from")
    groups: list[CorpusGroup] = []
    default: list[PlannedCorpus] = []
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


def name_corpus(name: str, lang: str, request: Request, *, segment: bool) -> PlannedCorpus:
    """What a name stands for.

    Args:
        name: of the request.
        lang: the only language of the request, or empty.
        request: has the licences that are accepted.
        segment: whether raw text is only divided into sentences and words.

    Raises:
        UnknownNameError: there is no corpus of that name.
        UsageError: a URL has a password or a query.
        RemoteError: a URL cannot be reached.
    """
    if name == SAMPLE:
        return PlannedCorpus(name, READ)
    if is_url(name) and name != (shown := without_secret(name)):
        raise UsageError(
            f"{shown}: leave out user, password and query, because the manifest of the release has the URL; "
            "put them where the protocol looks for them, such as ~/.netrc or the configuration of fsspec"
        )
    if is_hub_text(name) and segment:
        text, lang = treebanks.hub_text(name, lang)
        return PlannedCorpus(name, PARTLY, hub_text=text, lang=lang)
    if segment and is_parquet_text(name):
        return PlannedCorpus(name, PARTLY)
    if "://" in name or is_raw(name):
        return PlannedCorpus(name, SEGMENT if segment else ANNOTATE)
    if name and Path(name).exists():
        return PlannedCorpus(name, READ)
    if is_hub_text(name):
        raise UsageError(f"{name}: give --segment to read text from the Hub (discourse tasks need no annotation)")
    return _of_catalogue(catalogue_corpus(name, request.licences), segment=segment)


def _of_catalogue(corpus: PinnedCorpus, *, segment: bool) -> PlannedCorpus:
    how = DOWNLOAD if downloads.missing(corpus) else READ
    if isinstance(corpus, TextCorpus):
        how = SEGMENT if segment else ANNOTATE
    return PlannedCorpus(corpus.name, how, corpus)


def is_raw(source: str) -> bool:
    """Whether a source has to be annotated: a file or folder without CoNLL-U, or a dataset on the Hub."""
    path = Path(source)
    if path.is_dir() or (path.is_file() and is_archive(path)):
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


def _text_of(request: Request, lang: str) -> tuple[PlannedCorpus, ...]:
    """The text of `fill_of`."""
    named = tuple(name_corpus(name, lang, request, segment=True) for name in fill_of(request, lang))
    if others := [corpus.name for corpus in named if corpus.how != PARTLY]:
        raise UsageError(
            f"--fill {others[0]}: not text in parquet files; `build corpora list` shows what the catalogue has"
        )
    return named


def _forms(request: Request, groups: Sequence[CorpusGroup], pinned: Mapping[str, FormsTable]) -> dict[str, FormsTable]:
    """The tables of forms of the catalogue that tasks use, by language, as `Settings.paradigms` says.

    Args:
        request: has the settings.
        groups: the corpora and tasks.
        pinned: tables by name that are used in place of those of the catalogue.

    Raises:
        UnknownNameError: the setting names a table that the catalogue does not have.
    """
    named, tables = request.settings.paradigms, dict[str, FormsTable]()
    if not named.casefold().startswith(UNIMORPH):
        return tables
    for group in groups:
        if named.casefold() == UNIMORPH:
            of_each = (treebanks.language(code).forms for code in sorted({bank.lang for bank in group.treebanks}))
            of_group = [table for table in of_each if table and (table.default or request.licences == "all")]
        else:
            table = treebanks.known(named, kind="table of forms")
            of_group = [table] if isinstance(table, FormsTable) else []
        for table in of_group:
            asked = not group.languages or table.lang in group.languages
            if asked and any(task.uses_forms for task in group.tasks_of(table.lang)):
                tables[table.lang] = pinned.get(table.name, table)
    return tables


def reads(made: Plan) -> list[dict[str, Any]]:
    """A row per corpus that a plan reads, in the order in which rows are taken from them.

    ``lang`` is the code of its language, empty if it is known only from the files; ``corpus`` its name, path or URL;
    ``how`` what is done with it: `READ`, `DOWNLOAD`, `ANNOTATE`, `SEGMENT`, `PARTLY` or `FILL`; ``tasks`` the names of
    the tasks that are built from it; ``licence`` as its source writes it; ``files`` their number and ``bytes`` their
    size, of which `PARTLY` and `FILL` may read only a part, None if it is not known. The Hub is asked for the size of
    its texts, once per text, if there are `FEW_TEXTS` or fewer.

    Raises:
        RemoteError: a URL, or the Hub, cannot be reached.
    """
    planned: list[dict[str, Any]] = []
    texts: list[dict[str, Any]] = []
    sized = sum(map(len, made.texts.values())) <= FEW_TEXTS
    for group in made.groups:
        lang = group.languages[0] if len(group.languages) == 1 else ""
        for corpus in group.corpora:
            if corpus.name == SAMPLE:
                of_sample = group.languages or treebanks.sample_files()
                planned += [_row(code, SAMPLE, READ, made.tasks, "CC0 1.0", 1, None) for code in of_sample]
            else:
                of_corpus = corpus.pinned.lang if corpus.pinned else lang
                planned.append(_as_row(corpus, lang, group.tasks_of(of_corpus)))
        for code in group.languages or sorted({row["lang"] for row in planned} - {""}):
            of_fill = group.tasks_of(code)
            if group.corpora:
                of_fill = [task for task in of_fill if is_filled(task) or (made.request.silver and is_annotated(task))]
            of_code = made.text_of(code) if of_fill else ()
            of_code = tuple(msgspec.structs.replace(corpus, how=FILL) for corpus in of_code)
            texts += [_as_row(corpus, code, of_fill, sized=sized) for corpus in of_code]
    for lang, table in made.forms.items():
        using = [task for task in made.tasks if task.uses_forms]
        how = _of_catalogue(table, segment=False).how
        planned.append(_row(lang, table.name, how, using, table.licence, len(table.files), table.bytes))
    return planned + texts


FEW_TEXTS: Final = 10
"""So many texts of the Hub are asked for their size in a dry run, because each takes a request."""
SECONDS_PER_MB: Final = 3.6
"""Processor seconds that all tasks take with their audits, by MB of treebanks (docs/records/performance.md)."""


class Effort(msgspec.Struct, frozen=True):
    """What a plan costs before text is read until the sizes are full.

    Attributes:
        download_bytes: of the files of the catalogue that the cache lacks, by language.
        of_unknown_size: how many further ones the cache lacks, by language: large files, which no listing has.
        seconds: that building from the treebanks of known size takes, about, with the processes of the request.
    """

    download_bytes: dict[str, int]
    of_unknown_size: dict[str, int]
    seconds: float


def effort(made: Plan) -> Effort:
    """What a plan costs; no network is asked for it."""
    pinned = {corpus.pinned for group in made.groups for corpus in group.corpora if corpus.pinned}
    missing, unknown = Counter[str](), Counter[str]()
    for corpus in pinned | set(made.forms.values()):
        for file in downloads.missing(corpus):
            missing[corpus.lang] += file.bytes or 0
            unknown[corpus.lang] += file.bytes is None
    n_bytes = sum(file.bytes or 0 for corpus in pinned if isinstance(corpus, Treebank) for file in corpus.files)
    share = len(made.tasks) / len(all_tasks())
    seconds = n_bytes / 1e6 * SECONDS_PER_MB * min(share, 1.0) / made.request.jobs
    known, others = ({lang: of[lang] for lang in sorted(of) if of[lang]} for of in (missing, unknown))
    return Effort(known, others, seconds)


def _row(  # noqa: PLR0913, PLR0917 (its columns)
    lang: str, corpus: str, how: str, tasks: Sequence[AnyTask], licence: str, files: int, n_bytes: int | None
) -> dict[str, Any]:
    return {
        "lang": lang, "corpus": corpus, "how": how, "tasks": [task.name for task in tasks], "licence": licence,
        "files": files, "bytes": n_bytes,
    }  # fmt: skip


def _as_row(corpus: PlannedCorpus, lang: str, tasks: Sequence[AnyTask], *, sized: bool = True) -> dict[str, Any]:
    """A corpus with its number of files and their size; neither is known of a URL that is not listed.

    The Hub is not asked for those of a text of the catalogue unless ``sized``.
    """
    if pinned := corpus.pinned:
        return _row(pinned.lang, pinned.name, corpus.how, tasks, pinned.licence, len(pinned.files), pinned.bytes)
    if corpus.how in {PARTLY, FILL}:
        text = corpus.hub_text
        if text and not sized:
            return _row(lang, text.corpus(corpus.lang), corpus.how, tasks, text.licence, 0, None)
        files = files_at(text.url(corpus.lang) if text else corpus.name, PARQUET)
        name, licence = (text.corpus(corpus.lang), text.licence) if text else (corpus.name, UNKNOWN)
        return _row(lang, name, corpus.how, tasks, licence, len(files), sum(file.bytes or 0 for file in files))
    path = Path(corpus.name)
    if not path.exists():
        return _row(lang, corpus.name, corpus.how, tasks, UNKNOWN, 0, None)
    local_files = [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path]
    size = len(local_files), sum(file.stat().st_size for file in local_files)
    return _row(lang, corpus.name, corpus.how, tasks, UNKNOWN, *size)


def planned_again(
    release: Manifest, names: Collection[str], corpora: tuple[str, ...] = (), jobs: int = 1,
    given: AnnotationOptions = DEFAULT,
) -> Iterator[Plan]:  # fmt: skip
    """The plans that build some configs of a release again: one for those of equal language, settings and sources.

    Raw text is read and annotated with the options in the manifest.

    Args:
        release: its manifest.
        names: of configs.
        corpora: used in place of the sources in the manifest.
        jobs: number of processes.
        given: has the folder of Stanza's models, and what annotates text in place of the parsers in the manifest.

    Raises:
        DiscoprobeError: a source is not in the catalogue, so that ``corpora`` have to be named.
        UnsupportedError: a file of a plugin that a config was made with is not in use, or has changed.
    """
    excluded = {name: entry.excluded for name, entry in release.configs.items()}
    _check_plugins({name: release.configs[name] for name in names})
    groups: dict[tuple[str, str, tuple[str, ...]], list[ConfigEntry]] = {}
    for name in names:
        entry = release.configs[name]
        read = tuple(entry.read or entry.sources)
        groups.setdefault((entry.lang, json.dumps(entry.settings, sort_keys=True), read), []).append(entry)
    for (lang, _, read), of_group in sorted(groups.items(), key=lambda group: group[0]):
        of_lang = release.sources | release.beside.get(lang, {})
        sources = {name: of_lang[name] for name in sorted(read)}
        request = Request(
            (lang,), corpora, tuple(entry.task for entry in of_group), Settings.from_dict(of_group[0].settings), jobs,
            "skip", audit=any(entry.audit for entry in of_group), keep_failed=True,
            raw=_annotation_options(sources, given), exclude=excluded, licences="all",
            silver=any("silver" in each.annotation and each.annotation.get("fills") for each in sources.values()),
        )  # fmt: skip
        if corpora:
            fill: tuple[str, ...] = ()
            if any(source.annotation.get("fills") for source in sources.values()):
                fill = tuple(name for name in corpora if is_parquet_text(name))
            others = tuple(name for name in corpora if name not in fill)
            yield plan(msgspec.structs.replace(request, corpora=others, fill=fill))
            continue
        named: dict[bool, dict[str, PlannedCorpus]] = {True: {}, False: {}}  # whether it fills
        for name, source in sources.items():
            if source.annotation.get("made_by", {}).get("engine") == PARSED:
                continue  # its files are the parser
            corpus = _as_built(name, lang, source, request)
            named[bool(source.annotation.get("fills"))][corpus.name] = corpus
        of_corpora, texts = (tuple(of[name] for name in sorted(of)) for of in (named[False], named[True]))
        beside = {name for entry in of_group for name in entry.sources if name not in read}
        tables = [_as_built(name, lang, of_lang[name], request).pinned for name in beside]
        request = msgspec.structs.replace(request, corpora=tuple(corpus.name for corpus in of_corpora))
        tasks = tasks_named(request.tasks)
        group = CorpusGroup((lang,), of_corpora, {"": tasks})
        forms = _forms(request, [group], {table.name: table for table in tables if isinstance(table, FormsTable)})
        yield Plan(request, tasks, (group,), forms, {lang: texts})


def _check_plugins(entries: Mapping[str, ConfigEntry]) -> None:
    """Raise an error if configs were made with files of plugins that are not in use, or that have changed."""
    for name, entry in entries.items():
        for listed, file in entry.plugins.items():
            path = path_of(listed)
            places = [folder / path for folder in plugin_folders() if (folder / path).is_file()]
            if not places:
                raise UnsupportedError(f"{name} was made with {path} of a plugin; give its folder with --plugins")
            if file not in map(manifest.listed_file, places):
                other = f"another {path} (SHA-256 {file.sha256[:12]}) than {places[0]}"
                raise UnsupportedError(f"{name} was made with {other}; use that file")


def _annotation_options(sources: Mapping[str, SourceEntry], given: AnnotationOptions) -> AnnotationOptions | None:
    """The options with which raw text was annotated: those of the first such source; None if there is none."""
    source = next((source for source in sources.values() if source.annotation), None)
    if source is None:
        return None
    annotation = source.annotation
    names = {field.name for field in msgspec.structs.fields(ReadOptions)}
    read = ReadOptions(**{name: value for name, value in annotation["read"].items() if name in names})
    options = msgspec.structs.replace(given, read=read, licence=source.licence, citation=source.citation)
    if annotation["made_by"]["engine"] == "rules":
        return msgspec.structs.replace(options, segment=True, rules=True)
    made = (annotation["made_by"], annotation.get("witness"))
    return msgspec.structs.replace(options, parsers=given.parsers or tuple(parser_of(each) for each in made if each))


def _as_built(name: str, lang: str, source: SourceEntry, request: Request) -> PlannedCorpus:
    """A corpus with the commit and the files of a manifest, for those of the catalogue that it pins otherwise.

    Raises:
        UnsupportedError: the source is raw text that is not in the catalogue, or the manifest does not list its files.
        DiscoprobeError: the catalogue has no such corpus.
    """
    segment = request.raw is not None and request.raw.segment
    if name.startswith(f"{SAMPLE}-"):
        return PlannedCorpus(SAMPLE, READ)
    if source.repo.startswith(DATASETS):  # text that was read from the Hub by row group
        if not treebanks.is_hub_text(name):
            return name_corpus(str(source.annotation["read"]["source"]), lang, request, segment=True)
        of_hub, lang = treebanks.hub_text(name, lang)
        return PlannedCorpus(name, PARTLY, hub_text=msgspec.structs.replace(of_hub, commit=source.commit), lang=lang)
    if annotation := source.annotation:
        text, read = annotation["text"], assignments(annotation["read"])
        files = msgspec.convert(text.get("listed", {}), dict[str, File])
        corpus = None
        with suppress(UnknownNameError, UnsupportedError):
            corpus = treebanks.corpus(name, "all")
        if isinstance(corpus, TextCorpus):
            same_options = not files or read_options(corpus.read) == read_options(read)
            if corpus.commit == source.commit and same_options:
                return _of_catalogue(corpus, segment=segment)
        if not isinstance(corpus, TextCorpus) or not files:
            raise UnsupportedError(
                f"{name} was annotated from raw text ({text['files']} files, {text['bytes']:,} bytes, SHA-256 "
                f"{text['sha256'][:12]}…): name its annotated folder, or the text, with --corpus"
            )
        return _of_catalogue(_moved(corpus, source, files, read=read), segment=segment)
    try:
        bank = treebanks.known(name)
    except UnknownNameError:
        built_from = ", ".join(f"{path} (SHA-256 {entry.sha256[:12]}…)" for path, entry in source.files.items())
        raise DiscoprobeError(
            f"{name} is in no catalogue: the release was built from {built_from}; give its folder with --corpus"
        ) from None
    return _of_catalogue(
        bank if source.commit in {"", bank.commit} else _moved(bank, source, source.files), segment=segment
    )


def _moved(corpus: PinnedCorpus, source: SourceEntry, files: Mapping[str, File], **more: Any) -> PinnedCorpus:
    """A corpus of the catalogue at the commit and with the files of a manifest.

    Files have their paths from the catalogue; others are expected in the folder that has most files.
    """
    paths = {corpus.place(file): file.path for file in corpus.files}
    ((folder, _),) = Counter(PurePosixPath(path).parent for path in paths.values()).most_common(1)
    pinned = tuple(
        File(paths.get(name, str(folder / name)), entry.sha256, entry.bytes) for name, entry in files.items()
    )
    return msgspec.structs.replace(
        corpus, commit=source.commit, repo=source.repo, licence=source.licence, citation=source.citation,
        files=pinned, **more,
    )  # fmt: skip
