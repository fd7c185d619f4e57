"""From a request to a release folder, and back: what `build run` and its sisters do, without options and messages.

`run` tells a build in order: `sources.corpora_of` gives the corpora of each language and the tasks to build from them,
`audited_configs` builds their configs (`builders.build`) and audits them (`builders.audit`), and each is added to the
release folder (`cards.release`). `renew` builds only what is missing or out of date (`stale_configs`), `support` says
what could be built, and `why` what became of a sentence (`builders.why`). `rebuilder` builds a release again from the
commits and hashes in its manifest (`requests_of`), not from those of the present catalogue.
"""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec
import polars as pl

from discoprobe import kept_results
from discoprobe.builders.audit.report import Report
from discoprobe.builders.build import build_all
from discoprobe.builders.config import Config, Shape, Unavailable
from discoprobe.builders.drops import for_release
from discoprobe.builders.sentences.syncretism import packages
from discoprobe.builders.settings import Settings
from discoprobe.builders.task import AnyTask, tasks_named
from discoprobe.builders.why import Explanation, trace
from discoprobe.cards.metadata import manifest
from discoprobe.cards.metadata.manifest import ConfigEntry, Manifest, SourceEntry
from discoprobe.cards.release.release_folder import digest, open_release, take_readers, up_to_date, why_stale
from discoprobe.cards.text.verdicts import ABOVE, verdicts
from discoprobe.loaders.annotation_manifest import entries, summary, total
from discoprobe.loaders.catalogue import treebanks
from discoprobe.loaders.catalogue.treebanks import FormsTable, TextCorpus, Treebank
from discoprobe.loaders.corpus import Corpus, Loadable
from discoprobe.loaders.errors import DiscoprobeError, RemoteError, UnknownNameError, UnsupportedError
from discoprobe.loaders.files import File, cache_folder
from discoprobe.loaders.hashing import hashed
from discoprobe.loaders.languages.language import language_data
from discoprobe.loaders.plugins import identity, language_file, path_of, plugin_folders
from discoprobe.loaders.process_pool import Progress, n_workers, process_pool, silent
from discoprobe.loaders.raw.document import AnnotationOptions, ReadOptions, assignments, read_options
from discoprobe.loaders.raw.row_groups import ABOUT, TextCorpusPart
from discoprobe.request import SAMPLE, Request
from discoprobe.sources import corpora_of, fill_of, is_filled

Pinned = Treebank | TextCorpus | FormsTable


class BuildResult(msgspec.Struct, frozen=True):
    """The manifest of the release, the names of the configs that were built, and the configs that are not available."""

    manifest: Manifest
    built: tuple[str, ...]
    missing: tuple[Unavailable, ...]

    @property
    def failed(self) -> list[str]:
        """The configs that were built and fail the audit, by more than minor faults."""
        of_config = verdicts(self.manifest.configs)
        return [name for name in self.built if of_config[name].word == ABOVE and not of_config[name].is_minor]


def run(
    request: Request, out: Path, progress: Progress = silent,
    corpora: Iterable[tuple[Corpus, Sequence[AnyTask]]] | None = None,
) -> BuildResult:  # fmt: skip
    """Builds a release folder; in an existing one the configs that are built are replaced, and the others stay.

    The results of each language are kept in the cache until the release is complete. If a build is killed or fails, the
    next one with the same inputs continues with the language that it had reached.

    Args:
        request: what to build.
        out: the folder.
        progress: called with what is read, built and audited.
        corpora: the corpora and the tasks that are built from each; by default those of the request.

    Raises:
        DiscoprobeError: the request, the corpora or the folder cannot be used; ``out`` is then unchanged.
    """
    if corpora is None:
        corpora = corpora_of(request, tasks_named(request.tasks), progress)
    built: list[str] = []
    missing: list[Unavailable] = []
    kept: list[Path] = []
    with open_release(out) as release, process_pool(request.jobs) as executor:
        for corpus, tasks in corpora:
            inputs = {task.name: _inputs(corpus, task, request) for task in tasks}
            parts_read: dict[tuple[str, str], TextCorpusPart] = {}
            places = {  # where results are kept until the release is complete
                name: cache_folder() / "unfinished" / f"{name}_{corpus.lang}-{of_config}.arrow"
                for name, of_config in inputs.items()
            }
            kept += places.values()
            before = {name: result for name, place in places.items() if (result := kept_results.kept(place))}
            others = [task for task in tasks if task.name not in before]
            new = audited_configs(corpus, others, request, executor, progress) if others else iter(())
            for task in tasks:
                config, report = before[task.name] if task.name in before else next(new)
                kept_results.keep(places[task.name], config, report)
                if isinstance(config, Unavailable):
                    release.add(config, report, inputs[config.task])
                    missing.append(config)
                    continue
                config = _with_plugins(config, task, corpus)
                of_config = _parts_read(corpus, config)
                parts_read |= {(part.corpus, part.identity): part for part in of_config}
                release.add(config, report, inputs[config.task], _documents_used(of_config, config))
                built.append(config.name)
            release.add_corpus(_as_read(corpus, parts_read.values()))
        failed = [] if request.keep_failed else release.leave_out_failed()
        complete = release.finish()
    for place in kept:
        place.unlink(missing_ok=True)
    present = [name for name in built if name in complete.configs]
    return BuildResult(complete, tuple(present), (*missing, *failed))


def _as_used(corpus: Corpus, task: AnyTask) -> Corpus:
    """The corpus without the table of forms, if a task does not use it."""
    return corpus if task.uses_forms else msgspec.structs.replace(corpus, forms=None)


def _inputs(corpus: Corpus, task: AnyTask, request: Request) -> str:
    """A hash of everything that the config of a task depends on."""
    excluded = request.exclude.get(f"{task.name}_{corpus.lang}", {})
    flags = {"audit": request.audit, "keep_failed": request.keep_failed}
    used, of_plugins = _as_used(corpus, task), identity(_plugin_files(corpus, task))
    analyser = packages(task, language_data(corpus.lang), request.settings)
    return digest(used, request.settings, task.version, excluded, of_plugins, analyser, **flags)


def _plugin_files(corpus: Corpus, task: AnyTask) -> list[Path]:
    """The files of plugins that the config of a task depends on: the task, the language and corpora."""
    own_language = language_file(corpus.lang)
    own_corpora = treebanks.own_files(source.name for source in _as_used(corpus, task).all_sources)
    return [*([Path(task.plugin)] if task.plugin else []), *([own_language] if own_language else []), *own_corpora]


def _with_plugins(config: Config, task: AnyTask, corpus: Corpus) -> Config:
    """A config with the identity of the plugins that it was made with, and a note that names them."""
    files = _plugin_files(corpus, task)
    if not files:
        return config
    named = "; ".join(
        f"{name} (SHA-256 {of.sha256[:12]})"
        for file in files
        for name, of in identity([file]).items()
        if name.endswith(file.name)
    )
    note = f"Made with files that are not part of discoprobe: {named}"
    return msgspec.structs.replace(config, plugins=identity(files), notes=(*config.notes, note))


def audited_configs(
    corpus: Corpus, tasks: Sequence[AnyTask], request: Request, executor: Executor | None, progress: Progress = silent
) -> Iterator[tuple[Config | Unavailable, Report | None]]:
    """Each config of one language, in the order of ``tasks`` and as large as a release needs it, with its audit.

    The report is None without audit, or if the config was not built. The audit compares the texts of configs with those
    of the corpus.
    """
    results: list[Config | Unavailable] = []
    least = request.least_rows
    ahead = n_workers(request.jobs) + 2
    unaudited = build_all(tasks, corpus, request.settings, executor, ahead=ahead, progress=progress)
    for n_built, config in enumerate(unaudited, 1):
        progress(f"building {corpus.lang}", n_built, len(tasks))
        result = for_release(config, request.exclude.get(config.name, {}), least)
        if request.audit:
            results.append(result)
        else:  # one at a time: all tables together are large
            yield result, None
    if not request.audit:
        return
    from discoprobe.builders.audit.run import audit  # noqa: PLC0415 (scikit-learn takes seconds to import)

    built = [config for config in results if isinstance(config, Config)]
    texts = source_texts(corpus, built) if built else []
    others = other_texts(corpus, built, texts)
    reports: dict[str, Report] = {}
    progress(f"auditing {corpus.lang}", 0, len(built))
    for n_audited, report in enumerate((executor.map if executor else map)(audit, built, texts, others), 1):
        reports[report.name] = report
        progress(f"auditing {corpus.lang}", n_audited, len(built))
    yield from ((config, reports.get(config.name)) for config in results)


def source_texts(corpus: Corpus, built: Sequence[Config]) -> list[dict[tuple[str, str], str]]:
    """For each config the texts of the sentences that its rows use: (corpus, sent_id) → text.

    If several sentences of a corpus have the same sent_id, their texts are joined by line ends.
    """
    used = [
        {sent_id for table in config.splits.values() for ids in table["sent_ids"].to_pylist() for sent_id in ids or ()}
        for config in built
    ]
    used_by_any = pl.Series(sorted(set().union(*used)), dtype=pl.String).implode()
    texts: dict[tuple[str, str], str] = {}
    for part in _parts_of(corpus, built):
        shard = part.load()
        sentences = shard.sentences.join(shard.documents.select("doc", "corpus"), on="doc", how="left")
        sentences = sentences.select(pl.col("corpus", "sent_id").cast(pl.String), "text")
        for corpus_name, sent_id, text in sentences.filter(pl.col("sent_id").is_in(used_by_any)).iter_rows():
            key = (str(corpus_name), str(sent_id))
            texts[key] = f"{texts[key]}\n{text}" if key in texts else text
    return [{key: text for key, text in texts.items() if key[1] in ids} for ids in used]


OTHER_TEXT = 2_000_000
"""Characters of text at most that a model of other text is made of."""


def other_texts(
    corpus: Corpus, built: Sequence[Config], texts: Sequence[Mapping[tuple[str, str], str]]
) -> list[tuple[str, ...] | None]:
    """For each config of pairs of sentences, texts of the corpus that no row has; None for the others.

    Sentences are taken in hash order, of those that were read for a config, up to ``OTHER_TEXT``.

    Args:
        corpus: one language's corpora.
        built: the configs.
        texts: for each config the texts that its rows use.
    """
    of_pairs = [config.pairs and config.shape is Shape.SENTENCE for config in built]
    if not any(of_pairs):
        return [None] * len(built)
    most = OTHER_TEXT + max(sum(map(len, of_config.values())) for of_config in texts)
    pool = pl.DataFrame(schema={"text": pl.String, "hash": pl.UInt64})
    for part in _parts_of(corpus, [config for config, paired in zip(built, of_pairs, strict=True) if paired]):
        of_part = part.load().sentences.select("text", hash=hashed(pl.col("text")))
        pool = pl.concat([pool, of_part]).unique("hash").sort("hash")
        pool = pool.filter(pl.col("text").str.len_chars().cum_sum() <= most)
    found: list[tuple[str, ...] | None] = []
    for paired, of_config in zip(of_pairs, texts, strict=True):
        sentences = sorted({sentence for text in of_config.values() for sentence in text.split("\n")})
        used = pl.Series(sentences, dtype=pl.String).implode()
        others = pool.filter(~pl.col("text").is_in(used)).filter(pl.col("text").str.len_chars().cum_sum() <= OTHER_TEXT)
        found.append(tuple(others["text"]) if paired else None)
    return found


def _parts_of(corpus: Corpus, built: Sequence[Config]) -> Iterator[Loadable]:
    """The parts of a corpus that were read for some of the configs."""
    read = {identity for config in built for identity in config.parts}
    all_read = any(not config.parts for config in built)
    return (part for part in corpus.parts if all_read or part.identity in read)


def _parts_read(corpus: Corpus, config: Config) -> list[TextCorpusPart]:
    """The row groups of large texts that were read for a config."""
    parts = [part for part in corpus.parts if isinstance(part, TextCorpusPart)]
    read = [part for part in parts if not config.parts or part.identity in config.parts]
    return [part for part in read if part.record() is not None]


def _documents_used(parts: Sequence[TextCorpusPart], config: Config) -> pl.DataFrame:
    """``corpus``, ``doc_id``, ``title`` and ``url`` of documents that the config uses and that have one, by id."""
    used = {doc_id for table in config.splits.values() for doc_id in table["doc_id"].to_pylist()}
    rows = [
        (part.corpus, *about)
        for part in parts
        for about in (part.record() or {}).get("about", ())
        if about[0] in used and any(about[1:])
    ]
    names = ("corpus", "doc_id", *ABOUT)
    return pl.DataFrame(rows, dict.fromkeys(names, pl.String), orient="row").unique().sort("corpus", "doc_id")


def _as_read(corpus: Corpus, parts_read: Collection[TextCorpusPart]) -> Corpus:
    """The corpus with sources that list only the files and row groups that were read, with the counts of these."""
    sources = []
    for source in corpus.sources:
        if parts := [part for part in parts_read if part.corpus == source.name]:
            names = sorted({part.file.path for part in parts})
            files = tuple(file for file in source.files if file.path in names)
            annotation = {
                **(source.annotation or {}),
                **total(record for part in parts if (record := part.record())),
                "row_groups": {
                    name: sorted({part.number for part in parts if part.file.path == name}) for name in names
                },
                "text": summary(entries(files)),
            }
            sources.append(msgspec.structs.replace(source, files=files, annotation=annotation))
        else:
            sources.append(source)
    return msgspec.structs.replace(corpus, sources=tuple(sources))


class StaleConfigs(msgspec.Struct, frozen=True):
    """The tasks of each corpus that have to be built, and why; and the names of the configs that are up to date."""

    to_build: tuple[tuple[Corpus, Sequence[AnyTask]], ...]
    fresh: tuple[str, ...]
    reasons: Mapping[str, tuple[str, ...]]

    @property
    def names(self) -> list[str]:
        """The configs that are missing or out of date; the corpora may not support all of them."""
        return [f"{task.name}_{corpus.lang}" for corpus, tasks in self.to_build for task in tasks]


def stale_configs(
    request: Request, out: Path, progress: Progress = silent, *, check: Callable[[Corpus], None] | None = None
) -> StaleConfigs:
    """The configs of a request that a release folder does not have, or has from other inputs; reads the corpora.

    Raises:
        DiscoprobeError: as for `run`, or raised by ``check``, which is called with every corpus.
    """
    present = manifest.read(out)
    fresh: list[str] = []
    reasons: dict[str, tuple[str, ...]] = {}
    to_build: list[tuple[Corpus, list[AnyTask]]] = []
    for corpus, tasks in corpora_of(request, tasks_named(request.tasks), progress):
        if check:
            check(corpus)
        stale = []
        for task in tasks:
            name = f"{task.name}_{corpus.lang}"
            if up_to_date(out, present, name, _inputs(corpus, task, request)):
                fresh.append(name)
            else:
                stale.append(task)
                of_plugins = identity(_plugin_files(corpus, task))
                used = _as_used(corpus, task)
                analyser = packages(task, language_data(corpus.lang), request.settings)
                reasons[name] = why_stale(present, name, used, request.settings, task.version, of_plugins, analyser)
        if stale:
            to_build.append((corpus, stale))
    return StaleConfigs(tuple(to_build), tuple(fresh), reasons)


def renew(
    request: Request, out: Path, progress: Progress = silent, *, check: Callable[[Corpus], None] | None = None,
    report: Callable[[StaleConfigs], None] | None = None,
) -> tuple[BuildResult, tuple[str, ...]]:  # fmt: skip
    """Builds the `stale_configs` of a request, which ``report`` is told; the rest of the folder does not change.

    Returns:
        The result, and the names of the configs that are up to date (also of those that cannot be built).

    Raises:
        DiscoprobeError: as for `run`.
    """
    stale = stale_configs(request, out, progress, check=check)
    if report:
        report(stale)
    if not stale.to_build:
        return BuildResult(manifest.read(out), (), ()), stale.fresh
    return run(request, out, progress, stale.to_build), stale.fresh


def support(request: Request, progress: Progress = silent) -> list[dict[str, str | int | bool | None]]:
    """A row per language and task: whether the corpora support it, why not, and the text of ``--fill`` in a build.

    That text is not read: the numbers of rows are those of the corpora alone.
    """
    tasks = tasks_named(request.tasks)
    filled = {task.name for task in tasks if is_filled(task)}
    return [
        {
            "lang": config.lang,
            "task": config.task,
            "available": isinstance(config, Config),
            "rows": config.n_rows if isinstance(config, Config) else None,
            "candidates": config.candidates,
            "filled by": (", ".join(fill_of(request, corpus.lang)) or None) if config.task in filled else None,
            "reason": config.reason if isinstance(config, Unavailable) else None,
        }
        for corpus, of_corpus in corpora_of(msgspec.structs.replace(request, fill=()), tasks, progress)
        for config, _ in audited_configs(
            corpus, of_corpus, msgspec.structs.replace(request, audit=False), None, progress
        )
    ]


def why(request: Request, config: str, sentence: str, progress: Progress = silent) -> list[Explanation]:
    """What became of a sentence, or of the sentences of a row, in a config.

    Args:
        request: as for `run`; its languages and tasks need not name the config.
        config: such as ``dc_es``.
        sentence: ``sent_id`` of the corpus, text of a sentence or a part of it, or ``id`` of a row.
        progress: called with what is read.

    Raises:
        UnknownNameError: there is no such task, language, sentence or row.
        DiscoprobeError: as for `run`.
    """
    task_name, _, lang = config.rpartition("_")
    tasks = tasks_named([task_name])
    if len(tasks) > 1 or tasks[0].name != task_name:
        raise UnknownNameError("config", config, [f"{task.name}_{lang}" for task in tasks])
    request = msgspec.structs.replace(request, languages=(lang,), tasks=(task_name,))
    with process_pool(request.jobs) as executor:
        for corpus, of_corpus in corpora_of(request, tasks, progress):
            if of_corpus:
                traced = trace(tasks[0], corpus, request.settings, executor, n_workers(request.jobs) + 2, progress)
                excluded, least = request.exclude.get(config, {}), request.least_rows
                traced = msgspec.structs.replace(
                    traced, config=for_release(traced.config, excluded, least), excluded=excluded
                )
                return traced.explain(sentence)
    raise UnknownNameError("config", config, [])


def rebuilder(corpora: tuple[str, ...], jobs: int, stanza_dir: Path | None = None) -> Callable[[Manifest, Path], None]:
    """A function that builds the configs of a manifest again: from ``corpora``, else from the manifest's sources.

    Raw text is read and annotated with the options in the manifest, and with the models in ``stanza_dir`` (by default
    Stanza's own folder).

    The function raises DiscoprobeError for a source that is not in the catalogue, and RemoteError for one that cannot
    be downloaded any more. Both messages name the source.
    """

    def rebuild(release: Manifest, out: Path) -> None:
        try:
            requests = list(requests_of(release, release.configs, corpora, jobs, stanza_dir))
        except UnsupportedError as error:
            raise UnsupportedError(f"{error}; --no-rebuild compares the files with the manifest only") from error
        for request in requests:
            try:
                run(request, out)
            except RemoteError as error:
                if not request.pinned:
                    raise
                moved = ", ".join(
                    f"{bank.name} at {bank.commit[:12]} (the catalogue has "
                    f"{treebanks.corpus(bank.name, 'all').commit[:12]} now)"
                    for bank in request.pinned
                )
                raise type(error)(f"the release was built from {moved}, which cannot be downloaded: {error}") from error
        take_readers(out, release.configs)

    return rebuild


def requests_of(
    release: Manifest, names: Collection[str], corpora: tuple[str, ...] = (), jobs: int = 1,
    stanza_dir: Path | None = None,
) -> Iterator[Request]:  # fmt: skip
    """The requests that build some configs of a release again: one for those of equal language, settings and sources.

    Args:
        release: its manifest.
        names: of configs.
        corpora: used in place of the sources in the manifest.
        jobs: number of processes.
        stanza_dir: models with which raw text is annotated.

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
        tables = {name: of_lang[name] for entry in of_group for name in entry.sources if name not in read}
        filling = {name for name, source in sources.items() if source.annotation.get("fills")}
        named = {name: _name_in_request(name, source) for name, source in sources.items()}
        pinned = () if corpora else tuple(
            corpus
            for name, source in (sources | tables).items()
            if name not in filling and (corpus := at_commit(name, source)) is not None
        )  # fmt: skip
        yield Request(
            (lang,), corpora or tuple(sorted({named[name] for name in sources.keys() - filling})),
            tuple(entry.task for entry in of_group),
            Settings.from_dict(of_group[0].settings),
            jobs, "skip", audit=any(entry.audit for entry in of_group), keep_failed=True,
            raw=_annotation_options(sources, stanza_dir), pinned=pinned,
            fill=() if corpora else tuple(sorted({named[name] for name in filling})),
            commits=tuple((name, source.commit) for name, source in sources.items() if _is_of_hub(source)),
            exclude=excluded, licences="all",
            silver=any("silver" in source.annotation for source in sources.values()),
        )  # fmt: skip


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


def _annotation_options(sources: Mapping[str, SourceEntry], stanza_dir: Path | None) -> AnnotationOptions | None:
    """The options with which raw text was annotated: those of the first such source; None if there is none."""
    source = next((source for source in sources.values() if source.annotation), None)
    if source is None:
        return None
    annotation, licence, citation = source.annotation, source.licence, source.citation
    names = {field.name for field in msgspec.structs.fields(ReadOptions)}
    read = ReadOptions(**{name: value for name, value in annotation["read"].items() if name in names})
    if annotation["made_by"]["engine"] == "rules":
        return AnnotationOptions(
            segment=True, rules=True, stanza_dir=stanza_dir, read=read, licence=licence, citation=citation
        )
    packages = tuple(f"{processor}={package}" for processor, package in annotation["made_by"]["packages"].items())
    return AnnotationOptions(processors=packages, stanza_dir=stanza_dir, read=read, licence=licence, citation=citation)


def _name_in_request(name: str, source: SourceEntry) -> str:
    """The name of a corpus in a request; for text of the Hub that the catalogue does not have, its URL."""
    if _is_of_hub(source) and not treebanks.is_hub_text(name):
        return str(source.annotation["read"]["source"])
    return SAMPLE if name.startswith(f"{SAMPLE}-") else name


def _is_of_hub(source: SourceEntry) -> bool:
    """Whether a corpus is text that was read from the Hub by row group."""
    return source.repo.startswith(treebanks.DATASETS)


def at_commit(name: str, source: SourceEntry) -> Pinned | None:
    """A corpus at the commit in a manifest, if the catalogue pins another; None if it is the same.

    None also for the sample and for text of the Hub, which need no pinned files. Raw text is also compared by the
    options with which it was read.

    Raises:
        UnsupportedError: the source is raw text that is not in the catalogue, or the manifest does not list its files.
        DiscoprobeError: the catalogue has no such treebank.
    """
    if name.startswith(f"{SAMPLE}-") or _is_of_hub(source):
        return None
    if annotation := source.annotation:
        text, read = annotation["text"], assignments(annotation["read"])
        text_corpus, files = None, text.get("listed")
        with suppress(UnknownNameError, UnsupportedError):
            text_corpus = treebanks.corpus(name, "all")
        if isinstance(text_corpus, TextCorpus):
            same_options = not files or read_options(text_corpus.read) == read_options(read)
            if text_corpus.commit == source.commit and same_options:
                return None
        if not isinstance(text_corpus, TextCorpus) or not files:
            raise UnsupportedError(
                f"{name} was annotated from raw text ({text['files']} files, {text['bytes']:,} bytes, SHA-256 "
                f"{text['sha256'][:12]}…): name its annotated folder, or the text, with --corpus"
            )
        return _moved(text_corpus, source, msgspec.convert(files, dict[str, File]), read=read)
    try:
        bank = treebanks.known(name)
    except UnknownNameError:
        built_from = ", ".join(f"{path} (SHA-256 {entry.sha256[:12]}…)" for path, entry in source.files.items())
        raise DiscoprobeError(
            f"{name} is in no catalogue: the release was built from {built_from}; give its folder with --corpus"
        ) from None
    return None if source.commit in {"", bank.commit} else _moved(bank, source, source.files)


def _moved(corpus: Pinned, source: SourceEntry, files: Mapping[str, File], **more: Any) -> Pinned:
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
