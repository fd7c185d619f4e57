"""From a request to a release folder: what `build run` does, without options and messages.

`run` does all steps: `sources.corpora_of` gives the corpora of each language and the tasks to build from them;
`configs` builds (`builders.build`), `audited` adds reports (`builders.audit`), and `_build` writes both into a release
folder (`cards.release`). `renew` builds only what is missing or out of date.

Describes, for a release, the part of a large text that was read: files, row groups, counts, titles of documents.

Builds a release again from the commits and hashes in its manifest, not from those of the present catalogue.
"""

import dataclasses
import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec
import polars as pl

from discoprobe.builders.audit.report import Report
from discoprobe.builders.build import build_all
from discoprobe.builders.config import Config, Unavailable
from discoprobe.builders.drops import without_rows
from discoprobe.builders.settings import Settings
from discoprobe.builders.task import AnyTask, tasks_named
from discoprobe.cards.metadata import manifest
from discoprobe.cards.metadata.manifest import ConfigEntry, ListedFile, Manifest, SourceEntry
from discoprobe.cards.release.release_folder import digest, open_release, take_readers, up_to_date
from discoprobe.cards.text.verdicts import FAILED, verdicts
from discoprobe.loaders.annotation_manifest import entries, summary, total
from discoprobe.loaders.catalogue import treebanks
from discoprobe.loaders.catalogue.treebanks import PinnedFile, TextCorpus, Treebank
from discoprobe.loaders.corpus import Corpus, Source
from discoprobe.loaders.errors import DiscoprobeError, RemoteError, UnknownNameError, UnsupportedError
from discoprobe.loaders.process_pool import Progress, n_workers, process_pool, silent
from discoprobe.loaders.raw.document import ReadOptions, assignments, read_options
from discoprobe.loaders.raw.prepare import AnnotationOptions
from discoprobe.loaders.raw.row_groups import ABOUT, TextCorpusPart
from discoprobe.sources import SAMPLE, Request, corpora_of, fill_of, is_filled


def read_parts(corpus: Corpus, identities: Collection[str]) -> list[TextCorpusPart]:
    """The row groups of a corpus that were read, among the parts with these identities (by default all parts)."""
    wanted = {identity.partition("[:")[0] for identity in identities}  # ``[:n]``: only the first n documents were read
    parts = [part for part in corpus.parts if isinstance(part, TextCorpusPart)]
    return [part for part in parts if (not wanted or part.identity in wanted) and part.record() is not None]


def with_what_was_read(corpus: Corpus, parts: Sequence[TextCorpusPart]) -> Corpus:
    """The corpus with sources that list only the files and row groups that were read, with the counts of these."""
    sources = tuple(
        _as_read(source, [part for part in parts if part.corpus == source.name]) for source in corpus.sources
    )
    return dataclasses.replace(corpus, sources=sources)


def _as_read(source: Source, parts: Sequence[TextCorpusPart]) -> Source:
    if not parts:
        return source
    names = sorted({part.file.name for part in parts})
    files = tuple(file for file in source.files if file.path in names)
    annotation = {
        **(source.annotation or {}),
        **total(record for part in parts if (record := part.record())),
        "row_groups": {name: sorted(part.number for part in parts if part.file.name == name) for name in names},
        "text": summary(entries(files)),
    }
    return dataclasses.replace(source, files=files, annotation=annotation)


def about_documents(parts: Sequence[TextCorpusPart], doc_ids: Collection[str]) -> pl.DataFrame:
    """``corpus``, ``doc_id``, ``title`` and ``url`` of documents that were read and have a title or URL, by id."""
    rows = [
        (part.corpus, *about)
        for part in parts
        for about in (part.record() or {}).get("about", ())
        if about[0] in doc_ids and any(about[1:])
    ]
    names = ("corpus", "doc_id", *ABOUT)
    return pl.DataFrame(rows, dict.fromkeys(names, pl.String), orient="row").unique().sort("corpus", "doc_id")


@dataclass(frozen=True, slots=True)
class BuildResult:
    """The manifest of the release, the names of the configs that were built, and the configs that are not available."""

    manifest: Manifest
    built: tuple[str, ...]
    missing: tuple[Unavailable, ...]

    @property
    def failed(self) -> list[str]:
        """The configs that were built and fail the audit."""
        of_config = verdicts(self.manifest["configs"])
        return [name for name in self.built if of_config[name].word == FAILED]


def run(request: Request, out: Path, progress: Progress = silent) -> BuildResult:
    """Builds a release folder; in an existing one the configs of the request are built again and replaced.

    Raises:
        DiscoprobeError: the request, the corpora or the folder cannot be used; ``out`` is then unchanged.
    """
    tasks = tasks_named(request.tasks)
    return _build(corpora_of(request, tasks, progress), request, out, progress)


def _build(
    wanted: Iterable[tuple[Corpus, Sequence[AnyTask]]], request: Request, out: Path, progress: Progress
) -> BuildResult:
    """Builds the tasks of each corpus into the release folder."""
    built: list[str] = []
    missing: list[Unavailable] = []
    with open_release(out) as release, process_pool(request.jobs) as executor:
        for corpus, tasks in wanted:
            inputs = {task.name: _inputs(corpus, task, request) for task in tasks}
            parts: dict[str, TextCorpusPart] = {}
            for config, report in audited(corpus, tasks, request, executor, progress):
                of_config, documents = read_for(corpus, config)
                parts |= {part.identity: part for part in of_config}
                release.add(config, report, inputs[config.task], documents)
                missing.append(config) if isinstance(config, Unavailable) else built.append(config.name)
            release.add_corpus(with_what_was_read(corpus, list(parts.values())))
        excluded = [] if request.keep_failed else release.leave_out_failed()
        whole = release.finish()
    present = [name for name in built if name in whole["configs"]]
    return BuildResult(whole, tuple(present), (*missing, *excluded))


def configs(
    corpus: Corpus, tasks: Sequence[AnyTask], request: Request, executor: Executor | None, progress: Progress = silent
) -> Iterator[Config | Unavailable]:
    """The configs of one language, in the order of ``tasks``."""
    made = build_all(tasks, corpus, request.settings, executor, ahead=n_workers(request.jobs) + 2, progress=progress)
    for done, built in enumerate(made, 1):
        progress(f"building {corpus.lang}", done, len(tasks))
        config = without_rows(built, request.exclude.get(built.name, {}))
        yield config if SAMPLE in request.corpora else _large_enough(config, request.settings.min_rows)


def _large_enough(config: Config | Unavailable, least: tuple[int, int, int]) -> Config | Unavailable:
    """The config, or why it is too small for a release."""
    if not isinstance(config, Config) or config.large_enough(least):
        return config
    sizes = [table.num_rows for table in config.splits.values()]
    actual, needed = ("/".join(map(str, numbers)) for numbers in (sizes, least[-len(sizes) :]))
    reason = f"{actual} rows, {needed} are needed: add corpora of this language, or use --min-rows"
    return Unavailable(config.name, config.task, config.lang, reason, config.candidates, config.drops)


def audited(
    corpus: Corpus, tasks: Sequence[AnyTask], request: Request, executor: Executor | None, progress: Progress = silent
) -> Iterator[tuple[Config | Unavailable, Report | None]]:
    """Each config of one language with the report of its audit; None without audit, or if it was not built."""
    made = configs(corpus, tasks, request, executor, progress)
    if not request.audit:  # one at a time: all tables together are large
        yield from ((config, None) for config in made)
        return
    results = list(made)
    built = [result for result in results if isinstance(result, Config)]
    reports = _reports(corpus, built, executor, progress)
    yield from ((result, reports.get(result.name)) for result in results)


def _reports(
    corpus: Corpus, built: Sequence[Config], executor: Executor | None, progress: Progress
) -> dict[str, Report]:
    """The reports on the configs of one language, by name; their texts are compared with the corpus."""
    from discoprobe.builders.audit.run import audit  # noqa: PLC0415 (scikit-learn takes seconds to import)

    reports: dict[str, Report] = {}
    sources = source_texts(corpus, built) if built else []
    for done, report in enumerate((executor.map if executor else map)(audit, built, sources), 1):
        reports[report.name] = report
        progress(f"auditing {corpus.lang}", done, len(built))
    return reports


def source_texts(corpus: Corpus, built: Sequence[Config]) -> list[dict[tuple[str, str], str]]:
    """For each config the texts of the sentences that its rows use: (corpus, sent_id) → text.

    If several sentences of a corpus have the same sent_id, their texts are joined by line ends.
    """
    used = [
        {sent_id for table in config.splits.values() for ids in table["sent_ids"].to_pylist() for sent_id in ids or ()}
        for config in built
    ]
    wanted = pl.Series(sorted(set().union(*used)), dtype=pl.String).implode()
    texts: dict[tuple[str, str], str] = {}
    read = {identity for config in built for identity in config.parts}
    everything = any(not config.parts for config in built)
    for part in corpus.parts:
        if not everything and part.identity not in read:
            continue
        shard = part.load()
        named = shard.sentences.join(shard.documents.select("doc", "corpus"), on="doc", how="left")
        rows = named.filter(pl.col("sent_id").cast(pl.String).is_in(wanted))
        for corpus_name, sent_id, text in rows.select("corpus", "sent_id", "text").iter_rows():
            key = (str(corpus_name), str(sent_id))
            texts[key] = f"{texts[key]}\n{text}" if key in texts else text
    return [{key: text for key, text in texts.items() if key[1] in ids} for ids in used]


def read_for(corpus: Corpus, config: Config | Unavailable) -> tuple[list[TextCorpusPart], pl.DataFrame | None]:
    """The row groups that were read for a config, and its documents' titles and URLs; None if it was not built."""
    if not isinstance(config, Config):
        return [], None
    parts = read_parts(corpus, config.parts)
    used = {doc_id for table in config.splits.values() for doc_id in table["doc_id"].to_pylist()}
    return parts, about_documents(parts, used)


def _inputs(corpus: Corpus, task: AnyTask, request: Request) -> str:
    """A hash of everything that the config of a task depends on."""
    excluded = request.exclude.get(f"{task.name}_{corpus.lang}", {})
    flags = {"audit": request.audit, "keep_failed": request.keep_failed}
    return digest(corpus, request.settings, task.version, excluded, **flags)


@dataclass(frozen=True, slots=True)
class StaleConfigs:
    """The tasks of each corpus that have to be built, and the names of the configs that are up to date."""

    to_build: tuple[tuple[Corpus, Sequence[AnyTask]], ...]
    fresh: tuple[str, ...]

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
    tasks, present = tasks_named(request.tasks), manifest.read(out)
    fresh: list[str] = []
    to_build: list[tuple[Corpus, list[AnyTask]]] = []
    for corpus, wanted in corpora_of(request, tasks, progress):
        if check:
            check(corpus)
        done = [
            task
            for task in wanted
            if up_to_date(out, present, f"{task.name}_{corpus.lang}", _inputs(corpus, task, request))
        ]
        fresh += [f"{task.name}_{corpus.lang}" for task in done]
        if rest := [task for task in wanted if task not in done]:
            to_build.append((corpus, rest))
    return StaleConfigs(tuple(to_build), tuple(fresh))


def renew(
    request: Request, out: Path, progress: Progress = silent, *, check: Callable[[Corpus], None] | None = None
) -> tuple[BuildResult, tuple[str, ...]]:
    """Builds the `stale_configs` of a request; the rest of the folder does not change.

    Returns:
        The result, and the names of the configs that are up to date (also of those that cannot be built).

    Raises:
        DiscoprobeError: as for `run`.
    """
    stale = stale_configs(request, out, progress, check=check)
    if not stale.to_build:
        return BuildResult(manifest.read(out), (), ()), stale.fresh
    return _build(stale.to_build, request, out, progress), stale.fresh


def support(request: Request, progress: Progress = silent) -> list[dict[str, str | int | bool | None]]:
    """A row per language and task: whether the corpora support it, why not, and the text of ``--fill`` in a build.

    That text is not read: the numbers of rows are those of the corpora alone.
    """
    wanted = tasks_named(request.tasks)
    filled = {task.name for task in wanted if is_filled(task)}
    return [
        _support_row(config, ", ".join(fill_of(request, corpus.lang)) if config.task in filled else "")
        for corpus, tasks in corpora_of(dataclasses.replace(request, fill=()), wanted, progress)
        for config in configs(corpus, tasks, request, None, progress)
    ]


def _support_row(config: Config | Unavailable, fill: str) -> dict[str, str | int | bool | None]:
    available = not isinstance(config, Unavailable)
    return {
        "lang": config.lang,
        "task": config.task,
        "available": available,
        "rows": None if isinstance(config, Unavailable) else config.n_rows,
        "candidates": config.candidates,
        "filled by": fill or None,
        "reason": config.reason if isinstance(config, Unavailable) else None,
    }


Pinned = Treebank | TextCorpus


def rebuilder(corpora: tuple[str, ...], jobs: int, stanza_dir: Path | None = None) -> Callable[[Manifest, Path], None]:
    """A function that builds the configs of a manifest again: from ``corpora``, else from the manifest's sources.

    Raw text is read and annotated with the options in the manifest, and with the models in ``stanza_dir`` (by default
    Stanza's own folder).

    The function raises DiscoprobeError for a source that is not in the catalogue, and RemoteError for one that cannot
    be downloaded any more. Both messages name the source.
    """

    def rebuild(found: Manifest, out: Path) -> None:
        excluded = {name: entry.get("excluded", {}) for name, entry in found["configs"].items()}
        groups: dict[tuple[str, str, tuple[str, ...]], list[ConfigEntry]] = {}
        for entry in found["configs"].values():
            read = tuple(entry.get("read", entry["sources"]))
            groups.setdefault((entry["lang"], json.dumps(entry["settings"], sort_keys=True), read), []).append(entry)
        for (lang, settings, read), of_group in sorted(groups.items(), key=lambda group: group[0]):
            sources = sources_of(lang, read, found)
            named, pinned = (corpora, ()) if corpora else _named(_filling(sources, fills=False))
            fill = () if corpora else _named(_filling(sources, fills=True))[0]
            commits = tuple((name, source["commit"]) for name, source in sources.items() if _is_of_hub(source))
            request = Request(
                (lang,), named, tuple(entry["task"] for entry in of_group), _settings(settings), jobs, "skip",
                audit=any(entry["audit"] for entry in of_group), keep_failed=True, raw=_how(sources, stanza_dir),
                pinned=pinned, fill=fill, commits=commits, exclude=excluded,
            )  # fmt: skip
            _run(request, out)
        take_readers(out, found["configs"])

    return rebuild


def _how(sources: Mapping[str, SourceEntry], stanza_dir: Path | None) -> AnnotationOptions | None:
    """The options with which raw text was annotated: those of the first such source; None if there is none."""
    made = next((source["annotation"] for source in sources.values() if "annotation" in source), None)
    if made is None:
        return None
    names = {field.name for field in dataclasses.fields(ReadOptions)}
    read = ReadOptions(**{name: value for name, value in made["read"].items() if name in names})
    if made["made_by"]["engine"] == "rules":
        return AnnotationOptions(segment=True, rules=True, stanza_dir=stanza_dir, read=read)
    named = tuple(f"{processor}={package}" for processor, package in made["made_by"]["packages"].items())
    return AnnotationOptions(processors=named, stanza_dir=stanza_dir, read=read)


def _named(sources: Mapping[str, SourceEntry]) -> tuple[tuple[str, ...], tuple[Pinned, ...]]:
    """The names of the corpora for a request, and those corpora that the catalogue pins at another commit."""
    pinned = [corpus for name, source in sources.items() if (corpus := at_commit(name, source))]
    return tuple(sorted({_request_name(name, source) for name, source in sources.items()})), tuple(pinned)


def _filling(sources: Mapping[str, SourceEntry], *, fills: bool) -> dict[str, SourceEntry]:
    """The sources that were read as text of ``--fill``; with ``fills=False`` the other sources."""
    return {
        name: source for name, source in sources.items() if bool(source.get("annotation", {}).get("fills")) == fills
    }


def _request_name(name: str, source: SourceEntry) -> str:
    """The name of a corpus in a request; for text of the Hub that the catalogue does not have, its URL."""
    if _is_of_hub(source) and not treebanks.is_hub_text(name):
        return str(source["annotation"]["read"]["source"])
    return SAMPLE if _is_sample(name) else name


def _is_of_hub(source: SourceEntry) -> bool:
    """Whether a corpus is text that was read from the Hub by row group."""
    return source["repo"].startswith(treebanks.DATASETS)


def _is_sample(name: str) -> bool:
    return name.startswith(f"{SAMPLE}-")


def sources_of(lang: str, read: Iterable[str], found: Manifest) -> dict[str, SourceEntry]:
    """The corpora that configs of a language were built from, by name."""
    known = found["sources"] | found.get("beside", {}).get(lang, {})
    return {name: known[name] for name in sorted(read)}


def at_commit(name: str, source: SourceEntry) -> Pinned | None:
    """A corpus at the commit in a manifest, if the catalogue pins another; None if it is the same.

    None also for the sample and for text of the Hub, which need no pinned files.

    Raises:
        UnsupportedError: the source is raw text that is not in the catalogue, or the manifest does not list its files.
        DiscoprobeError: the catalogue has no such treebank.
    """
    if _is_sample(name) or _is_of_hub(source):
        return None
    if made := source.get("annotation"):
        return _text_at_commit(name, source, made)
    try:
        bank = treebanks.treebank(name)
    except UnknownNameError:
        files = ", ".join(f"{path} (SHA-256 {entry['sha256'][:12]}…)" for path, entry in source["files"].items())
        raise DiscoprobeError(
            f"{name} is in no catalogue: the release was built from {files}; give its folder with --corpus"
        ) from None
    if source["commit"] in {"", bank.commit}:
        return None
    return msgspec.structs.replace(
        bank, commit=source["commit"], repo=source["repo"], licence=source["licence"], citation=source["citation"],
        files=_files(bank, source["files"]),
    )  # fmt: skip


def _text_at_commit(name: str, source: SourceEntry, made: Mapping[str, Any]) -> TextCorpus | None:
    """Raw text at the commit and with the options in a manifest; None if the catalogue has the same.

    Raises:
        UnsupportedError: the catalogue has no such text, or the manifest does not list its files.
    """
    text, read, known = made["text"], assignments(made["read"]), _text_of_catalogue(name)
    listed = text.get("listed")
    if known and known.commit == source["commit"] and (not listed or read_options(known.read) == read_options(read)):
        return None
    if not known or not listed:
        raise UnsupportedError(
            f"{name} was annotated from raw text ({text['files']} files, {text['bytes']:,} bytes, SHA-256 "
            f"{text['sha256'][:12]}…): name that text, or its annotated folder, with --corpus; or --no-rebuild"
        )
    return msgspec.structs.replace(
        known, commit=source["commit"], repo=source["repo"], licence=source["licence"], citation=source["citation"],
        files=_files(known, listed), read=read,
    )  # fmt: skip


def _text_of_catalogue(name: str) -> TextCorpus | None:
    """The catalogue's corpus of raw text with a name."""
    try:
        known = treebanks.corpus(name)
    except (UnknownNameError, UnsupportedError):
        return None
    return known if isinstance(known, TextCorpus) else None


def _files(corpus: Pinned, listed: Mapping[str, ListedFile]) -> tuple[PinnedFile, ...]:
    """The listed files with their paths from the catalogue; others are expected in the folder that has most files."""
    paths = {file.name: file.path for file in corpus.files}
    ((most, _),) = Counter(PurePosixPath(path).parent for path in paths.values()).most_common(1)
    return tuple(
        PinnedFile(paths.get(name, str(most / name)), "", entry["bytes"], entry["sha256"])
        for name, entry in listed.items()
    )


def _run(request: Request, out: Path) -> None:
    """Builds a request; if a corpus cannot be downloaded at its pinned commit, the error names it."""
    try:
        run(request, out)
    except RemoteError as error:
        if not request.pinned:
            raise
        moved = ", ".join(
            f"{bank.name} at {bank.commit[:12]} (the catalogue has {treebanks.corpus(bank.name).commit[:12]} now)"
            for bank in request.pinned
        )
        raise type(error)(f"the release was built from {moved}, which cannot be downloaded: {error}") from error


def _settings(text: str) -> Settings:
    """The settings of a manifest, given as JSON."""
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in json.loads(text).items()
    }
    return Settings(**values)
