"""From a plan to a release folder, and back: what `build run` and its sisters do, without options and messages.

The road of a build, in the order in which it runs:

1. The words of a user are a `request.Request`. `plan.plan` says which corpora they mean, at which commit, and which
   tasks are built from each; no corpus is read for it.
2. `cards.release.open_release` locks the release folder and makes a copy of it, which takes its place at the end.
3. `sources.corpora_of` downloads what is needed, then gives one corpus after the other: a language comes twice where
   tasks are filled with more text.
4. `run` takes over what a killed build has kept (`kept_results`), and gives the other tasks to `audited_configs`:
   `builders.build` reads the corpus block by block (select candidates, mark those that are lost, sample, render rows),
   `builders.drops.for_release` leaves out rows that readers found faulty and configs that are too small, and
   `builders.audit` measures each config, beside the texts of its corpus.
5. Each config is written with its card (`Release.add`); those that fail the audit are taken out again
   (`leave_out_failed`); manifest and card of the release come last (`finish`), and the folder is exchanged.
6. `cards.hub` publishes it: `staging.plan_push`, `push.send`.

`renew` builds only what is missing or out of date (`stale_configs`), `support` says what could be built, and `why` what
became of a sentence (`builders.why`). `rebuilder` builds a release again from the plan in its manifest
(`plan.planned_again`), not from the present catalogue.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from types import MappingProxyType
from typing import Final

import msgspec
import polars as pl

from discoprobe import kept_results
from discoprobe.builders.audit.report import Report
from discoprobe.builders.build import build_all
from discoprobe.builders.config import Config, Shape, Unavailable
from discoprobe.builders.drops import for_release
from discoprobe.builders.sentences.syncretism import packages
from discoprobe.builders.task import AnyTask
from discoprobe.builders.why import Explanation, trace
from discoprobe.cards.metadata import manifest
from discoprobe.cards.metadata.manifest import Manifest
from discoprobe.cards.release.release_folder import digest, open_release, take_readers, up_to_date, why_stale
from discoprobe.cards.text.verdicts import ABOVE, verdicts
from discoprobe.loaders.annotation_manifest import entries, summary, total
from discoprobe.loaders.catalogue import treebanks
from discoprobe.loaders.corpus import Corpus, Loadable
from discoprobe.loaders.errors import DiscoprobeError, RemoteError, UnknownNameError, UnsupportedError
from discoprobe.loaders.files import cache_folder
from discoprobe.loaders.hashing import hashed
from discoprobe.loaders.languages.language import language_data
from discoprobe.loaders.plugins import identity, language_file
from discoprobe.loaders.process_pool import Progress, in_order, n_workers, process_pool, silent
from discoprobe.loaders.raw.document import DEFAULT, AnnotationOptions
from discoprobe.loaders.raw.row_groups import ABOUT, TextCorpusPart
from discoprobe.plan import Plan, fill_of, is_filled, plan, planned_again
from discoprobe.request import Request
from discoprobe.sources import corpora_of


class BuildResult(msgspec.Struct, frozen=True):
    """What a build made.

    Attributes:
        manifest: of the release.
        built: the names of the configs that were built.
        missing: the configs that are not available.
        broken: by language the fault in a file, because of which nothing of the language was built.
    """

    manifest: Manifest
    built: tuple[str, ...]
    missing: tuple[Unavailable, ...]
    broken: Mapping[str, DiscoprobeError] = {}

    @property
    def failed(self) -> list[str]:
        """The configs that were built and fail the audit, by more than minor faults."""
        of_config = verdicts(self.manifest.configs)
        return [name for name in self.built if of_config[name].word == ABOVE and not of_config[name].is_minor]


Results = Mapping[str, tuple[Config | Unavailable, Report | None]]
"""By the name of each config itself, or why there is none, and its audit."""
WRITING: Final = "writing cards and manifest"
"""The last step of a build."""
CorporaWithTasks = Iterable[tuple[Corpus, Sequence[AnyTask]]]
"""Corpora, each with the tasks that are built from it."""


def build_in_memory(made: Plan, progress: Progress = silent, corpora: CorporaWithTasks | None = None) -> Results:
    """Builds and audits the configs of a plan, and writes nothing; `run` takes them as ``done``.

    The arguments are those of `run`; what fails the audit is not left out yet.
    """
    results: dict[str, tuple[Config | Unavailable, Report | None]] = {}
    with process_pool(made.request.jobs) as executor:
        for corpus, tasks in corpora_of(made, progress) if corpora is None else corpora:
            for config, report in audited_configs(corpus, tasks, made.request, executor, progress):
                results[config.name] = config, report
    return results


def run(
    made: Plan, out: Path, progress: Progress = silent, corpora: CorporaWithTasks | None = None,
    done: Results = MappingProxyType({}),
) -> BuildResult:  # fmt: skip
    """Builds a release folder; in an existing one the configs that are built are replaced, and the others stay.

    The results of each language are kept in the cache until the release is complete. If a build is killed or fails, the
    next one with the same inputs continues with the language that it had reached. A fault in a file of one language
    does not end the build of the others.

    Args:
        made: what is read and built.
        out: the folder.
        progress: called with what is read, built and audited.
        corpora: the corpora and the tasks that are built from each; by default those of the plan.
        done: configs that were built in memory (`build_in_memory`), and are only written.

    Raises:
        DiscoprobeError: the folder or no corpus can be used; ``out`` is then unchanged.
    """
    request = made.request
    broken: dict[str, DiscoprobeError] = {}
    if corpora is None:
        corpora = corpora_of(made, progress, broken)
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
            before = {
                name: result
                for name, place in places.items()
                if (result := done.get(f"{name}_{corpus.lang}") or kept_results.kept(place))
            }
            others = [task for task in tasks if task.name not in before]
            new = audited_configs(corpus, others, request, executor, progress) if others else iter(())
            for task in tasks:
                config, report = before[task.name] if task.name in before else next(new)
                if config.name not in done:
                    kept_results.keep(places[task.name], config, report)
                if isinstance(config, Unavailable):
                    release.add(config, report, inputs[config.task])
                    missing.append(config)
                    continue
                of_config = _parts_read(corpus, config)
                parts_read |= {(part.corpus, part.identity): part for part in of_config}
                release.add(config, report, inputs[config.task], _documents_used(of_config, config))
                built.append(config.name)
            release.add_corpus(_as_read(corpus, parts_read.values()))
        if broken and not (built or missing):
            raise next(iter(broken.values()))
        progress(WRITING, 0, 1)
        failed = [] if request.keep_failed else release.leave_out_failed()
        complete = release.finish()
        progress(WRITING, 1, 1)
    for place in kept:
        place.unlink(missing_ok=True)
    present = [name for name in built if name in complete.configs]
    return BuildResult(complete, tuple(present), (*missing, *failed), broken)


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
    unaudited = build_all(tasks, corpus, request.settings, executor, jobs=request.jobs, progress=progress)
    results = (_for_release(config, task, corpus, request) for task, config in zip(tasks, unaudited, strict=True))
    if not request.audit:
        for n_built, result in enumerate(results, 1):
            progress(f"building {corpus.lang}: tasks", n_built, len(tasks))
            yield result, None
        return
    from discoprobe.builders.audit.run import audit  # noqa: PLC0415 (scikit-learn takes seconds to import)

    texts, waiting = SourceTexts(corpus), deque[Config | Unavailable]()
    step, n_done = f"auditing {corpus.lang}: tasks", 0

    def work() -> Iterator[tuple[Config, pl.DataFrame, tuple[str, ...] | None]]:
        for n_made, result in enumerate(results):  # few wait for their audit: all tables together are large
            if not n_made:
                progress(step, 0, len(tasks))
            waiting.append(result)
            if isinstance(result, Config):
                yield result, (used := texts.of(result)), texts.others(result, used)

    def ended(result: Config | Unavailable, report: Report | None) -> tuple[Config | Unavailable, Report | None]:
        nonlocal n_done
        n_done += 1
        progress(step, n_done, len(tasks))
        return result, report

    for report in in_order(audit, work(), executor, n_workers(request.jobs)):
        while isinstance(waiting[0], Unavailable):
            yield ended(waiting.popleft(), None)
        yield ended(waiting.popleft(), report)
    for result in waiting:
        yield ended(result, None)


def _for_release(config: Config | Unavailable, task: AnyTask, corpus: Corpus, request: Request) -> Config | Unavailable:
    """The config as a release has it: without rows that readers found faulty, and not if too few are left."""
    result = for_release(config, request.exclude.get(config.name, {}), request.least_rows)
    return _with_plugins(result, task, corpus) if isinstance(result, Config) else result


OTHER_TEXT = 2_000_000
"""Characters of text at most that a model of other text is made of."""


class SourceTexts:
    """The sentences of a corpus, with which configs are compared; each part is read once."""

    def __init__(self, corpus: Corpus) -> None:
        """Takes the corpora of one language."""
        self._corpus, self._of_part = corpus, dict[str, pl.DataFrame]()

    def _read_for(self, config: Config) -> pl.DataFrame:
        """``corpus``, ``sent_id`` and ``text`` of all sentences that were read for a config."""
        frames = [pl.DataFrame(schema=dict.fromkeys(("corpus", "sent_id", "text"), pl.String))]
        for part in _parts_of(self._corpus, config):
            if part.identity not in self._of_part:
                shard = part.load()
                sentences = shard.sentences.join(shard.documents.select("doc", "corpus"), on="doc", how="left")
                self._of_part[part.identity] = sentences.select(pl.col("corpus", "sent_id").cast(pl.String), "text")
            frames.append(self._of_part[part.identity])
        return pl.concat(frames)

    def of(self, config: Config) -> pl.DataFrame:
        """The sentences that the rows of a config use: ``corpus``, ``sent_id`` and ``text``.

        If several sentences of a corpus have the same sent_id, their texts are joined by line ends.
        """
        ids = pl.concat([pl.DataFrame(table.select(["sent_ids"])) for table in config.splits.values()])
        used = ids.select(sent_id=pl.col("sent_ids").explode()).unique()
        sentences = self._read_for(config).join(used, on="sent_id", how="semi", maintain_order="left")
        return sentences.group_by("corpus", "sent_id", maintain_order=True).agg(pl.col("text").str.join("\n"))

    def others(self, config: Config, texts: pl.DataFrame) -> tuple[str, ...] | None:
        """For a config of pairs of sentences, texts of the corpus that are not among those of its rows; else None.

        Sentences are taken in hash order, of those that were read for the config, up to ``OTHER_TEXT``. ``texts`` are
        those that ``of`` gives.
        """
        if not config.pairs or config.shape is not Shape.SENTENCE:
            return None
        used = texts.select(pl.col("text").str.split("\n").explode())
        pool = self._read_for(config).select("text", hash=hashed(pl.col("text"))).unique("hash").sort("hash")
        pool = pool.join(used, on="text", how="anti", maintain_order="left")
        return tuple(pool.filter(pl.col("text").str.len_chars().cum_sum() <= OTHER_TEXT)["text"])


def _parts_of(corpus: Corpus, config: Config) -> Iterator[Loadable]:
    """The parts of a corpus that were read for a config."""
    return (part for part in corpus.parts if not config.parts or part.identity in config.parts)


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


Reasons = dict[str, tuple[str, ...]]
"""Why each config has to be built, by its name."""


def stale_configs(
    made: Plan, out: Path, progress: Progress = silent, *, check: Callable[[Corpus], None] | None = None
) -> tuple[list[tuple[Corpus, Sequence[AnyTask]]], Reasons, tuple[str, ...]]:
    """The configs of a plan that a release folder does not have, or has from other inputs; reads the corpora.

    Returns:
        The tasks of each corpus that have to be built (the corpora may not support all of them), why, and the names of
        the configs that are up to date.

    Raises:
        DiscoprobeError: as for `run`, or raised by ``check``, which is called with every corpus.
    """
    present, settings = manifest.read(out), made.request.settings
    fresh: list[str] = []
    reasons: Reasons = {}
    to_build: list[tuple[Corpus, Sequence[AnyTask]]] = []
    for corpus, tasks in corpora_of(made, progress):
        if check:
            check(corpus)
        stale = []
        for task in tasks:
            name = f"{task.name}_{corpus.lang}"
            if up_to_date(out, present, name, _inputs(corpus, task, made.request)):
                fresh.append(name)
            else:
                stale.append(task)
                of_plugins = identity(_plugin_files(corpus, task))
                analyser = packages(task, language_data(corpus.lang), settings)
                used = _as_used(corpus, task)
                reasons[name] = why_stale(present, name, used, settings, task.version, of_plugins, analyser)
        if stale:
            to_build.append((corpus, stale))
    return to_build, reasons, tuple(fresh)


def renew(
    made: Plan, out: Path, progress: Progress = silent, *, check: Callable[[Corpus], None] | None = None,
    report: Callable[[Reasons], None] | None = None,
) -> tuple[BuildResult, tuple[str, ...]]:  # fmt: skip
    """Builds the `stale_configs` of a plan, of which ``report`` is told why; the rest of the folder does not change.

    Returns:
        The result, and the names of the configs that are up to date (also of those that cannot be built).

    Raises:
        DiscoprobeError: as for `run`.
    """
    to_build, reasons, fresh = stale_configs(made, out, progress, check=check)
    if report:
        report(reasons)
    if not to_build:
        return BuildResult(manifest.read(out), (), ()), fresh
    return run(made, out, progress, to_build), fresh


def support(request: Request, progress: Progress = silent) -> list[dict[str, str | int | bool | None]]:
    """A row per language and task: whether the corpora support it, why not, and the text of ``--fill`` in a build.

    That text is not read: the numbers of rows are those of the corpora alone.
    """
    made = plan(msgspec.structs.replace(request, fill=(), audit=False))
    filled = {task.name for task in made.tasks if is_filled(task)}
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
        for corpus, of_corpus in corpora_of(made, progress)
        for config, _ in audited_configs(corpus, of_corpus, made.request, None, progress)
    ]


def why(
    made: Plan, config: str, sentence: str, progress: Progress = silent, corpora: CorporaWithTasks | None = None
) -> list[Explanation]:
    """What became of a sentence, or of the sentences of a row, in a config.

    Args:
        made: a plan of this config alone.
        config: such as ``dc_es``.
        sentence: ``sent_id`` of the corpus, text of a sentence or a part of it, or ``id`` of a row.
        progress: called with what is read.
        corpora: as for `run`.

    Raises:
        UnknownNameError: there is no such task, language, sentence or row.
        DiscoprobeError: as for `run`.
    """
    request, lang = made.request, config.rpartition("_")[2]
    if [f"{task.name}_{lang}" for task in made.tasks] != [config]:
        raise UnknownNameError("config", config, [f"{task.name}_{lang}" for task in made.tasks])
    with process_pool(request.jobs) as executor:
        for corpus, of_corpus in corpora_of(made, progress) if corpora is None else corpora:
            if of_corpus:
                traced = trace(of_corpus[0], corpus, request.settings, executor, request.jobs, progress)
                excluded, least = request.exclude.get(config, {}), request.least_rows
                traced = msgspec.structs.replace(
                    traced, config=for_release(traced.config, excluded, least), excluded=excluded
                )
                return traced.explain(sentence)
    raise UnknownNameError("config", config, [])


def rebuilder(
    corpora: tuple[str, ...], jobs: int, given: AnnotationOptions = DEFAULT
) -> Callable[[Manifest, Path], None]:
    """A function that builds the configs of a manifest again: from ``corpora``, else from the manifest's sources.

    Raw text is read and annotated with the options in the manifest, and with Stanza's models in the folder of
    ``given``, or by its parsers, if it names any.

    The function raises DiscoprobeError for a source that is not in the catalogue, and RemoteError for one that cannot
    be downloaded any more. Both messages name the source.
    """

    def rebuild(release: Manifest, out: Path) -> None:
        try:
            plans = list(planned_again(release, release.configs, corpora, jobs, given))
        except UnsupportedError as error:
            raise UnsupportedError(f"{error}; --no-rebuild compares the files with the manifest only") from error
        for made in plans:
            try:
                run(made, out)
            except RemoteError as error:
                pinned = [corpus.pinned for group in made.groups for corpus in group.corpora if corpus.pinned]
                moved = ", ".join(
                    f"{bank.name} at {bank.commit[:12]} (the catalogue has {now[:12]} now)"
                    for bank in (*pinned, *made.forms.values())
                    if (now := treebanks.known(bank.name).commit) != bank.commit
                )
                if not moved:
                    raise
                raise type(error)(f"the release was built from {moved}, which cannot be downloaded: {error}") from error
        take_readers(out, release.configs)

    return rebuild
