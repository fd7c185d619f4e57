"""From a request to a release folder: what `build run` does, without options and messages.

`run` does all steps: `sources.corpora_of` gives the corpora of each language and the tasks to build from them;
`configs` builds (`builders.build`), `audited` adds reports (`builders.audit`), and `_build` writes both into a release
folder (`cards.release`). `renew` builds only what is missing or out of date.
"""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from discoprobe.builders.audit.report import Report
from discoprobe.builders.build import build_all
from discoprobe.builders.config import Config, Unavailable
from discoprobe.builders.sampling.exclusion import without_rows
from discoprobe.builders.task import AnyTask, tasks_named
from discoprobe.cards.metadata import manifest
from discoprobe.cards.metadata.manifest import Manifest
from discoprobe.cards.release.release_folder import open_release
from discoprobe.cards.release.staleness import digest, up_to_date
from discoprobe.cards.text.verdicts import FAILED, verdicts
from discoprobe.loaders.corpus import Corpus
from discoprobe.loaders.process_pool import Progress, n_workers, process_pool, silent
from discoprobe.loaders.raw.annotate.row_group_parts import TextCorpusPart
from discoprobe.read_texts import about_documents, read_parts, with_what_was_read
from discoprobe.requests import SAMPLE, Request
from discoprobe.sources import corpora_of, fill_of, is_filled


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
