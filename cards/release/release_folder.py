"""A release folder: what must be built again, and how configs are written and put in the place of the old release.

A config is up to date (`up_to_date`) if nothing that can change a byte of it differs from when it was built: the
corpora of its language with the hash of every file, the settings and the user's files that they name, the data of the
language, the versions of the steps and of the task (`stage_versions`), Python and the libraries. All of that goes into
one hash (`digest`), and every file of the config must still be what the manifest lists.

A config has a folder with its rows; what else a release has of it is in the files of its language (`language_files`).
A release is written beside the old one and put in its place (`open_release`); a killed build leaves the old one whole.
`Release` writes configs one by one, and at the end the files about all of them (`documents`) and the manifest.
"""

import functools
import json
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
import polars as pl

from discoprobe.builders.audit.report import Report
from discoprobe.builders.config import Config, Unavailable
from discoprobe.builders.settings import Settings
from discoprobe.cards.metadata import benchmark, croissant, manifest, yaml_header
from discoprobe.cards.metadata.manifest import README, ConfigEntry, Manifest, SourceEntry
from discoprobe.cards.readers import Mark, ReaderFigures, marks_file, read_marks
from discoprobe.cards.release import checks, diff, language_files, rows
from discoprobe.cards.release.language_files import LanguageFiles
from discoprobe.cards.text import card, plots
from discoprobe.cards.text.card import reader_lines
from discoprobe.cards.text.verdicts import failing, verdicts, why_left_out
from discoprobe.loaders import languages
from discoprobe.loaders.annotation_manifest import listed
from discoprobe.loaders.corpus import Corpus
from discoprobe.loaders.errors import DiscoprobeError, UsageError
from discoprobe.loaders.files import File, Place, alone, hash_of_json, hashes_of
from discoprobe.loaders.plugins import PluginFiles

ATTRIBUTION = "ATTRIBUTION.md"
CONFIGS = "CONFIGS.md"
OVERVIEW = "overview.svg"


def digest(  # noqa: PLR0913, PLR0917 (what a config depends on)
    corpus: Corpus, settings: Settings, task_version: int, excluded: Mapping[str, str] | None = None,
    plugins: PluginFiles | None = None, analyser: Collection[str] = (), **flags: bool,
) -> str:  # fmt: skip
    """A hash of all that makes a config, besides the name of its task.

    ``excluded`` are the rows that are left out because readers found them faulty, by id; ``plugins`` the files of
    plugins that it depends on; ``analyser`` those of `manifest.ANALYSERS` that its rows depend on; ``flags`` are
    options that change a result, such as whether it is audited.
    """
    parts = {
        "lang": corpus.lang,
        "sources": [source.identity for source in corpus.all_sources],
        "drops": [dict(corpus.drops), corpus.drop_places, corpus.notes],
        "counts": msgspec.to_builtins(corpus.counts),
        "settings": settings.to_dict(),
        "lists": manifest.lists_of(settings),
        "excluded": dict(excluded or {}),
        "flags": flags,
        "language": language_file_hash(corpus.lang),
        "versions": manifest.stage_versions(task_version),
        "software": environment() | (manifest.installed(analyser) if analyser else {}),
    }
    return hash_of_json(parts | ({"plugins": plugins} if plugins else {}))


def language_file_hash(lang: str) -> str:
    """The SHA-256 of a language's data file; empty for a language without one."""
    path = Path(languages.__file__).parent / f"{lang}.toml"
    return hashes_of(path).sha256 if path.is_file() else ""


@functools.cache
def environment() -> dict[str, str]:
    """Versions of Python and of each library that can change a byte of any config; empty for one that is not installed.

    Other libraries, such as those of extras, change nothing, and no config is out of date if one is installed.
    """
    return manifest.installed(sorted({*manifest.SOFTWARE, *manifest.WRITING} - {*manifest.ANALYSERS}))


def why_stale(  # noqa: PLR0913, PLR0917 (what a config depends on)
    current: Manifest, name: str, corpus: Corpus, settings: Settings, task_version: int,
    plugins: PluginFiles | None = None, analyser: Collection[str] = (),
) -> tuple[str, ...]:  # fmt: skip
    """Why a config that is not up to date has to be built, in words: ``numpy: 2.1 → 2.2``."""
    if name not in current.configs:
        known = name in current.unavailable
        return ("could not be built, and something has changed",) if known else ("not built yet",)
    entry, now = current.configs[name], json.loads(json.dumps(settings.to_dict()))
    of_lang = current.sources | current.beside.get(corpus.lang, {})
    before = {source: of_lang[source] for source in {*entry.read, *entry.sources} if source in of_lang}
    after = {source.name: manifest.source_entry(source) for source in corpus.all_sources}
    unused = {*manifest.ANALYSERS} - {*analyser}
    installed = [
        {name: version for name, version in software.items() if name not in unused}
        for software in (current.software, manifest.software())
    ]
    lines = [
        *diff.changed_values(*installed),
        *diff.changed_values(entry.versions, manifest.stage_versions(task_version)),
        *diff.changed_values(entry.settings, now),
        *_changed_plugins(entry.plugins, plugins or {}),
        *(f"{source}: not read before" for source in sorted(after.keys() - before.keys())),
        *(f"{source}: not read any more" for source in sorted(before.keys() - after.keys())),
        *(
            line
            for both in sorted(after.keys() & before.keys())
            for line in diff.source_changes(both, before[both], after[both])
        ),
    ]
    return tuple(lines) or ("its files, the data of the language, its options, or libraries of an earlier build",)


def _changed_plugins(before: PluginFiles, now: PluginFiles) -> Iterator[str]:
    for name in sorted(before.keys() | now.keys()):
        if before.get(name) != now.get(name):
            change = "changed" if name in before and name in now else "new" if name in now else "not used any more"
            yield f"{name} of a plugin: {change}"


def up_to_date(folder: Path, current: Manifest, name: str, inputs: str) -> bool:
    """Whether a config, or the reason why there is none of this name, is what a build would give now.

    Args:
        folder: the release folder.
        current: its manifest.
        name: of the config.
        inputs: hash of everything that it depends on now (`digest`).
    """
    if current.inputs.get(name) != inputs:
        return False
    if name in current.unavailable:
        return not (folder / name).exists()
    if name not in current.configs:
        return False
    entries = manifest.files_of(current, {name})
    present = {path.relative_to(folder).as_posix() for path in (folder / name).rglob("*") if path.is_file()}
    return present <= entries.keys() and all(
        (folder / path).is_file() and _listed_now(folder / path, (folder / path).stat().st_mtime_ns) == entry
        for path, entry in entries.items()
    )


@functools.lru_cache(maxsize=64)
def _listed_now(path: Path, _changed: int) -> File:
    """`manifest.listed_file`; all configs of a language ask for the same files."""
    return manifest.listed_file(path)


class Release:
    """A release under construction: configs are written one by one, ``finish`` writes the files about all of them.

    Args:
        folder: where it is written.
        marks: what readers said of rows.

    Attributes:
        worth_keeping: whether the finished release has a config, or had one before.
    """

    def __init__(self, folder: Path, marks: Sequence[Mark] = ()) -> None:
        self.folder, self._marks = folder, marks
        self._old = manifest.read(folder)
        self._entries: dict[str, ConfigEntry] = {}
        self._missing: list[Unavailable] = []
        self._corpora: list[Corpus] = []
        self._inputs: dict[str, str] = {}
        self._published: dict[str, SourceEntry] = {}
        self._files: LanguageFiles | None = None  # of the language that configs were added to last, as they will be
        self.worth_keeping = True

    def add_corpus(self, corpus: Corpus) -> None:
        """Adds the sources of the configs that are added next."""
        self._corpora.append(corpus)

    def add(
        self, result: Config | Unavailable, report: Report | None = None, inputs: str = "",
        documents: pl.DataFrame | None = None,
    ) -> None:  # fmt: skip
        """Writes the rows of a config, its card, plot and audit; removes those of a config that is not available.

        ``inputs`` is a hash of everything that it depends on (`digest`), which shows later whether it is up to date;
        ``documents`` has ``corpus``, ``doc_id``, ``title`` and ``url`` of those that its licence asks to name.
        """
        if inputs:
            self._inputs[result.name] = inputs
        files = self._of_language(result.lang)
        self._remove_files(result.name, files)
        if isinstance(result, Unavailable):
            self._missing.append(result)
            return
        place = self.folder / result.name
        place.mkdir(parents=True)
        for split in result.splits:
            rows.write_split(result, split, place)
        files.cards[result.name] = card.config_card(result, report)
        if report:
            files.reports[result.name] = json.loads(report.to_json())
            files.plots[result.name] = plots.audit_plot(report)
        if documents is not None and not documents.is_empty():
            files.documents[result.name] = documents
        if result.published:
            self._published |= {source.name: manifest.source_entry(source) for source in result.sources}
        content = {split: rows.content_hash(table) for split, table in result.splits.items()}
        self._entries[result.name] = manifest.config_entry(result, content, listed(place, place.rglob("*")), report)
        if problem := checks.number_problem(len(self._old.configs.keys() | self._entries.keys())):
            raise DiscoprobeError(problem)  # now, not after all languages are built

    def _of_language(self, lang: str) -> LanguageFiles:
        """The files of a language; those of the language before are written, so that one is in memory at a time."""
        if self._files is None or self._files.lang != lang:
            self._write_language()
            self._files = LanguageFiles.of_folder(self.folder, lang)
        return self._files

    def _write_language(self) -> None:
        if self._files:
            contents = self._files.contents()
            for path in language_files.paths(self._files.lang):
                if path in contents:
                    _replace(self.folder / path, contents[path])
                else:
                    (self.folder / path).unlink(missing_ok=True)

    def _remove_files(self, name: str, files: LanguageFiles) -> None:
        shutil.rmtree(self.folder / name, ignore_errors=True)
        files.remove({name})

    def leave_out_failed(self) -> list[Unavailable]:
        """Removes all configs that fail the audit, old and new, from the release (`failing`); returns them."""
        failed: list[Unavailable] = []
        configs = self._renewed().configs
        for name, verdict in failing(configs).items():
            entry = configs[name]
            if verdict.of_design:
                self._inputs.pop(name, None)  # rows of other languages decide: it is not known to be up to date
            reason = why_left_out(verdict)
            left_out = Unavailable(name, entry.task, entry.lang, reason, entry.candidates, entry.drops)
            failed.append(left_out)
            self._missing.append(left_out)
            self._remove_files(name, self._of_language(entry.lang))
            self._entries.pop(name, None)
        return failed

    def _renewed(self) -> Manifest:
        """The manifest of what was there and what was added, without files."""
        combined = manifest.renewed(self._old, self._entries, self._missing, self._corpora, self._inputs)
        combined.sources |= self._published
        return combined

    def finish(self, reader_figures: Mapping[str, dict[str, ReaderFigures]] | None = None) -> Manifest:
        """Writes the files about all configs, old and new, and returns the manifest.

        ``reader_figures`` has what readers found, by config, where it is not to be counted from marks.

        Raises:
            DiscoprobeError: there are more configs than the card of one repository can name.
        """
        combined = self._renewed()
        self.worth_keeping = bool(combined.configs or self._old.configs)
        self._renew_cards(combined.configs, reader_figures or {})
        texts = documents(combined)
        if problem := checks.size_problem(texts[README]):
            raise DiscoprobeError(f"{README}: {problem}")
        for name in self._old.files.keys() - texts.keys():
            if name.partition("/")[0] not in manifest.OF_LANGUAGES:
                (self.folder / name).unlink(missing_ok=True)
        for name, text in texts.items():
            _replace(self.folder / name, text.encode())
            if name != README:
                combined.files[name] = manifest.listed_file(self.folder / name)
        for folder in manifest.OF_LANGUAGES:
            combined.files |= listed(self.folder, (self.folder / folder).rglob("*"))
        for name, content in manifest.contents(combined).items():
            _replace(self.folder / name, content)
        return combined

    def _renew_cards(
        self, configs: dict[str, ConfigEntry], reader_figures: Mapping[str, dict[str, ReaderFigures]]
    ) -> None:
        """Puts what readers found, and the verdict of the release, on the cards of all configs.

        If there are no marks, the earlier figures of readers stay. The verdict on a config may have changed with the
        rows of other languages.
        """
        if self._marks:
            reader_figures = rows.figures_of(self.folder, configs, self._marks)
            for entry in configs.values():
                entry.readers = {}
        for name in reader_figures.keys() & configs.keys():
            configs[name].readers = reader_figures[name]
        by_language = sorted(verdicts(configs).items(), key=lambda item: (configs[item[0]].lang, item[0]))
        for name, verdict in by_language:
            cards = self._of_language(lang := configs[name].lang).cards
            if name not in cards:
                raise DiscoprobeError(
                    f"{language_files.paths(lang)[0]} of the release lacks the card of {name}; build {name} again"
                )
            cards[name] = card.with_readers(card.with_verdict(cards[name], verdict), configs[name])
        self._write_language()


def _replace(path: Path, content: bytes) -> None:
    path.parent.mkdir(exist_ok=True)
    if path.is_file() and path.read_bytes() == content:
        return
    path.unlink(missing_ok=True)  # the file may be a link into the old release
    path.write_bytes(content)


def documents(
    combined: Manifest, *, repository: str = card.REPOSITORY, release: str = "", changes: str = ""
) -> dict[str, str]:
    """The files about a release as a combined, by name: README.md, ATTRIBUTION.md, croissant.json, eval.yaml.

    A large release has its configs in ``.huggingface.yaml`` and the tables of its card in ``CONFIGS.md``.

    Args:
        combined: the manifest, of which only the version, configs, sources and what was left out are read.
        repository: the Hub repository that load snippets name.
        release: the release's number, ``1.2.0``; empty for a build that is not released.
        changes: the newest section of the changelog.
    """
    day = diff.day(changes)
    readme, tables = card.release_card(combined, repository=repository, release=release, changes=changes, day=day)
    texts = {
        README: readme, CONFIGS: tables, OVERVIEW: card.overview(combined.configs),
        ATTRIBUTION: card.attribution(combined),
        yaml_header.STANDALONE: yaml_header.standalone(combined),
        benchmark.NAME: benchmark.benchmark(combined, repository.rpartition("/")[2]),
        **croissant.croissant(combined, repository=repository, release=combined.version, day=day),
    }  # fmt: skip
    return {name: text for name, text in texts.items() if text}


@contextmanager
def open_release(folder: Path) -> Iterator[Release]:
    """A release to add to: it takes the place of ``folder`` at the end; if anything fails, nothing has changed.

    Nor has it if the release holds no config, and held none before.

    Raises:
        UsageError: if ``folder`` is not empty and no release.
    """
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file; give --out a folder")
    place = Place(folder)
    new_parents = [parent for parent in place.folder.parents if not parent.exists()]
    place.lock.parent.mkdir(parents=True, exist_ok=True)
    try:
        with alone(folder, "another build is writing", place.lock):
            place.recover()
            place.delete_abandoned(_is_release)
            if place.folder.is_dir():
                _check_managed(place)
            try:
                place.link_tree()
                release = Release(place.new, read_marks(marks_file(place.folder)))
                yield release
                if release.worth_keeping:
                    place.swap()
            finally:
                place.clean()
    finally:
        with suppress(OSError):  # a folder that holds something stays
            for parent in new_parents:
                parent.rmdir()


def _is_release(folder: Path) -> bool:
    """Whether a folder holds a manifest, or at least the rows of a split of a config."""
    return (folder / manifest.NAME).is_file() or any(folder.glob(f"*/*{manifest.split_file('')}"))


def _check_managed(place: Place) -> None:
    """Refuses to write into a folder that a build has not written, or that somebody has put links into."""
    if any(place.entries()) and not (place.folder / manifest.NAME).exists():
        raise UsageError(
            f"{place.folder} is not empty and holds no {manifest.NAME}; give --out a new folder or a release folder"
        )
    if links := [path for path in place.folder.rglob("*") if path.is_symlink()]:
        raise UsageError(f"{links[0]} is a symbolic link; delete it: a release folder must not contain links")
    manifest.read(place.folder)  # its errors name this path, not that of the copy


def take_readers(folder: Path, configs: Mapping[str, ConfigEntry]) -> None:
    """Copies the readers' figures of other manifests to the cards of a release folder that was built again."""
    reader_figures = {name: entry.readers for name, entry in configs.items() if entry.readers}
    if reader_figures:
        with open_release(folder) as release:
            release.finish(reader_figures)


def renew_figures(folder: Path) -> list[str]:
    """Writes what readers found on the cards of a release folder, and returns it, a line per config and kind of reader.

    Raises:
        UsageError: the folder is no release.
    """
    marks = read_marks(marks_file(folder))
    if not marks:
        return []
    with open_release(folder) as release:
        configs = release.finish().configs
    return [
        f"{name}: {line}"
        for name, entry in sorted(configs.items())
        for line in reader_lines(entry.readers, entry.audit)
    ]
