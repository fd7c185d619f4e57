"""A release folder: written beside the old one and put in its place; a killed build leaves the old one whole.

Whether a config of a release folder is up to date: a build would give the same result now.

A config is up to date if nothing that can change a byte of it differs from when it was built: the corpora of its
language with the hash of every file, the settings and the user's files that they name, the data of the language, the
versions of the steps and of the task (`stage_versions`), Python and the libraries. All of that goes into one hash, and
every file of the config must still be what the manifest lists.
"""

import dataclasses
import functools
import importlib.metadata
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import polars as pl

from discoprobe.builders.audit.report import Report, Tally
from discoprobe.builders.config import Config, Unavailable
from discoprobe.builders.settings import Settings
from discoprobe.cards.metadata import croissant, manifest, yaml_header
from discoprobe.cards.metadata.manifest import (
    ConfigEntry,
    ListedFile,
    Manifest,
    SourceEntry,
    config_entry,
    lists_of,
    renewed,
    source_entry,
    stage_versions,
)
from discoprobe.cards.readers import Mark, marks_file, read_marks
from discoprobe.cards.release import checks, diff, rows
from discoprobe.cards.text import card, plots
from discoprobe.cards.text.card import reader_lines
from discoprobe.cards.text.examples import lengths
from discoprobe.cards.text.verdicts import FAILED, Verdict, verdicts
from discoprobe.loaders import languages
from discoprobe.loaders.corpus import Corpus
from discoprobe.loaders.errors import DiscoprobeError, UsageError
from discoprobe.loaders.file_hashes import hash_of_json, hashes_of
from discoprobe.loaders.folders import Place, alone

PACKAGE = "discoprobe"


def digest(
    corpus: Corpus, settings: Settings, task_version: int, excluded: Mapping[str, str] | None = None, **flags: bool
) -> str:
    """A hash of all that makes a config, besides the name of its task.

    ``excluded`` are the rows that are left out because readers found them faulty, by id; ``flags`` are options that
    change a result, such as whether it is audited.
    """
    made_of = {
        "lang": corpus.lang,
        "sources": [dataclasses.asdict(source) for source in corpus.sources],
        "drops": [dict(corpus.drops), corpus.drop_places, corpus.notes],
        "counts": dataclasses.asdict(corpus.counts),
        "settings": settings.to_dict(),
        "lists": lists_of(settings),
        "excluded": dict(excluded or {}),
        "flags": flags,
        "language": language_file_hash(corpus.lang),
        "versions": stage_versions(task_version),
        "software": software(),
    }
    return hash_of_json(made_of)


def language_file_hash(lang: str) -> str:
    """The SHA-256 of a language's data file; empty for a language without one."""
    path = Path(languages.__file__).parent / f"{lang}.toml"
    return hashes_of(path).sha256 if path.is_file() else ""


@functools.cache
def software() -> dict[str, str]:
    """Versions of Python and of every library that this package asks for; empty for one that is not installed."""
    asked = {re.split(r"[^\w.-]", line, maxsplit=1)[0] for line in importlib.metadata.requires(PACKAGE) or []}
    return manifest.installed(sorted(asked | set(manifest.SOFTWARE)))


def up_to_date(folder: Path, found: Manifest, name: str, inputs: str) -> bool:
    """Whether a config, or the reason why there is none of this name, is what a build would give now."""
    if found.get("inputs", {}).get(name) != inputs:
        return False
    if name in found["unavailable"]:
        return not (folder / name).exists()
    return name in found["configs"] and _whole(folder, name, manifest.files_of(found, {name}))


def _whole(folder: Path, name: str, listed: dict[str, ListedFile]) -> bool:
    """Whether the folder has the listed files of a config and no others."""
    there = {path.relative_to(folder).as_posix() for path in (folder / name).rglob("*") if path.is_file()}
    return there <= listed.keys() and all(
        (folder / path).is_file() and manifest.listed_file(folder / path) == entry for path, entry in listed.items()
    )


README = "README.md"
AUDIT = "audit.json"
ATTRIBUTION = "ATTRIBUTION.md"
CONFIGS = "CONFIGS.md"


class Release:
    """A release under construction: configs are written one by one, ``finish`` writes the files about all of them.

    Args:
        folder: where it is written.
        marks: what readers said of rows.
    """

    def __init__(self, folder: Path, marks: Sequence[Mark] = ()) -> None:
        self.folder, self._marks = folder, marks
        self._old = manifest.read(folder)
        self._entries: dict[str, ConfigEntry] = {}
        self._missing: list[Unavailable] = []
        self._corpora: list[Corpus] = []
        self._inputs: dict[str, str] = {}
        self._published: dict[str, SourceEntry] = {}

    def add_corpus(self, corpus: Corpus) -> None:
        """Adds the sources of the configs that are added next."""
        self._corpora.append(corpus)

    def add(
        self, result: Config | Unavailable, report: Report | None = None, inputs: str = "",
        documents: pl.DataFrame | None = None,
    ) -> None:  # fmt: skip
        """Writes the folder and plots of a config, with its audit; removes those of a config that is not available.

        ``inputs`` is a hash of everything that it depends on (`staleness.digest`), which shows later whether it is up
        to date; ``documents`` has ``corpus``, ``doc_id``, ``title`` and ``url`` of those that its licence asks to name.
        """
        if inputs:
            self._inputs[result.name] = inputs
        place = self.folder / result.name
        self._take_away(result.name)
        if isinstance(result, Unavailable):
            self._missing.append(result)
            return
        place.mkdir(parents=True)
        for split in result.splits:
            rows.write_split(result, split, place)
        if report:
            (place / AUDIT).write_text(report.to_json(), encoding="utf-8")
        if documents is not None and not documents.is_empty():
            table = self.folder / manifest.attribution_name(result.name)
            table.parent.mkdir(exist_ok=True)
            documents.write_parquet(table)
        self._describe(result, report)
        if result.published:
            self._published |= {source.name: source_entry(source) for source in result.sources}
        content = {split: rows.content_hash(table) for split, table in result.splits.items()}
        self._entries[result.name] = config_entry(result, content, _files(place), report)
        if problem := checks.number_problem(len(self._old["configs"].keys() | self._entries.keys())):
            raise DiscoprobeError(problem)  # now, not after all languages are built

    def _take_away(self, name: str) -> None:
        shutil.rmtree(self.folder / name, ignore_errors=True)
        for file in (plots.rows_name(name), plots.audit_name(name), manifest.attribution_name(name)):
            (self.folder / file).unlink(missing_ok=True)

    def _describe(self, config: Config, report: Report | None) -> None:
        """Writes a config's card and its plots."""
        sizes = lengths(config)
        (self.folder / config.name / README).write_text(card.config_card(config, sizes, report), encoding="utf-8")
        drawn = {plots.rows_name(config.name): plots.rows_plot(config, sizes)}
        if report:
            drawn[plots.audit_name(config.name)] = plots.audit_plot(report)
        for name, svg in drawn.items():
            _write(self.folder / name, svg)

    def leave_out_failed(self) -> list[Unavailable]:
        """Removes all configs that fail the audit, old and new, from the release, until none fails; returns them.

        A task that fails with the rows of all languages together fails in every language.
        """
        left_out: list[Unavailable] = []
        while failed := self._failed():
            configs = self._whole()["configs"]
            for name, verdict in failed.items():
                entry = configs[name]
                left_out.append(
                    Unavailable(
                        name, entry["task"], entry["lang"], _reason(verdict, entry), entry["candidates"], entry["drops"]
                    )
                )
                self._missing.append(left_out[-1])
                self._take_away(name)
                self._entries.pop(name, None)
                if verdict.of_design:
                    self._inputs.pop(name, None)  # rows of other languages decide: it is not known to be up to date
        return left_out

    def _failed(self) -> dict[str, Verdict]:
        """The configs that fail the audit, with the verdict."""
        return {name: verdict for name, verdict in verdicts(self._whole()["configs"]).items() if verdict.word == FAILED}

    def _whole(self) -> Manifest:
        whole = renewed(self._old, self._entries, self._missing, self._corpora, self._inputs)
        whole["sources"] |= self._published
        return whole

    def finish(self) -> Manifest:
        """Writes the files about all configs, old and new, and returns the manifest.

        Raises:
            DiscoprobeError: there are more configs than the card of one repository can name.
        """
        whole = self._whole()
        self._renew_figures(whole)
        self._renew_cards(whole)
        texts = documents(whole)
        if problem := checks.size_problem(texts[README]):
            raise DiscoprobeError(f"{README}: {problem}")
        for name in self._old["files"].keys() - texts.keys():
            if not name.startswith((f"{manifest.PLOTS}/", f"{manifest.ATTRIBUTION}/")):
                (self.folder / name).unlink(missing_ok=True)
        for name, text in texts.items():
            _write(self.folder / name, text)
            whole["files"][name] = manifest.listed_file(self.folder / name)
        whole["files"] |= {
            f"{folder}/{name}": entry
            for folder in (manifest.PLOTS, manifest.ATTRIBUTION)
            for name, entry in _files(self.folder / folder).items()
        }
        for name, text in manifest.texts(whole).items():
            _write(self.folder / name, text)
        return whole

    def take_readers(self, configs: Mapping[str, ConfigEntry]) -> None:
        """Copies the figures of readers from ``configs`` to the configs of the same names in the folder."""
        for name, entry in self._old["configs"].items():
            if name in configs and "readers" in configs[name]:
                entry["readers"] = configs[name]["readers"]

    def _renew_figures(self, whole: Manifest) -> None:
        """Puts what readers found into the manifest; if there are no marks, the earlier figures stay."""
        if not self._marks:
            return
        reader_figures = rows.figures_of(self.folder, whole["configs"], self._marks)
        for name, entry in whole["configs"].items():
            entry.pop("readers", None)
            if name in reader_figures:
                entry["readers"] = reader_figures[name]

    def _renew_cards(self, whole: Manifest) -> None:
        """Puts the verdict of the release and what readers found on every config's card.

        The verdict may have changed with the rows of other languages.
        """
        for name, verdict in verdicts(whole["configs"]).items():
            entry = whole["configs"][name]
            path = self.folder / name / README
            text = path.read_text(encoding="utf-8")
            if (renewed := card.with_readers(card.with_verdict(text, verdict), entry)) != text:
                _write(path, renewed)
                entry["files"][README] = manifest.listed_file(path)


def take_readers(folder: Path, configs: Mapping[str, ConfigEntry]) -> None:
    """Copies the readers' figures of other manifests to the cards of a release folder that was built again."""
    if any("readers" in entry for entry in configs.values()):
        with open_release(folder) as release:
            release.take_readers(configs)
            release.finish()


def renew_figures(folder: Path) -> list[str]:
    """Writes what readers found on the cards of a release folder, and returns it, a line per config and kind of reader.

    Raises:
        UsageError: the folder is no release.
    """
    marks = read_marks(marks_file(folder))
    if not marks:
        return []
    with open_release(folder) as release:
        configs = release.finish()["configs"]
    return [
        f"{name}: {line}"
        for name, entry in sorted(configs.items())
        for line in reader_lines(entry.get("readers", {}), entry["audit"])
    ]


def _reason(verdict: Verdict, entry: ConfigEntry) -> str:
    """Why a config is left out: ``the audit failed: length 0.630 (threshold 0.520)``."""
    if verdict.of_design:
        return f"the audit failed with the rows of all languages of the task: {', '.join(verdict.checks)}"
    tallies = entry["audit"].get("evidence", {}) if entry["audit"] else {}
    return f"the audit failed: {', '.join(_measured(check, tallies) for check in verdict.checks)}"


def _measured(check: str, tallies: Mapping[str, Tally]) -> str:
    if (tally := tallies.get(check)) is None:
        return check
    accuracy, threshold = max(tally["correct"].values()) / tally["n"], tally["threshold"] / tally["n"]
    return f"{check} {accuracy:.3f} (threshold {threshold:.3f})"


def documents(
    whole: Manifest, *, repository: str = card.REPOSITORY, release: str = "", changes: str = ""
) -> dict[str, str]:
    """The files about a release as a whole, by name: README.md, ATTRIBUTION.md, croissant.json.

    A large release has its configs in ``.huggingface.yaml`` and the tables of its card in ``CONFIGS.md``.

    Args:
        whole: the manifest, of which only configs, sources and what was left out are read.
        repository: the Hub repository that load snippets name.
        release: the release's number, ``1.2.0``; empty for a build that is not released.
        changes: the release's section of the changelog.
    """
    readme, tables = card.release_card(whole, repository=repository, release=release, changes=changes)
    texts = {
        README: readme, CONFIGS: tables, ATTRIBUTION: card.attribution(whole),
        yaml_header.STANDALONE: yaml_header.standalone(whole),
        **croissant.croissant(whole, repository=repository, release=release, day=diff.day(changes)),
    }  # fmt: skip
    return {name: text for name, text in texts.items() if text}


@contextmanager
def open_release(folder: Path) -> Iterator[Release]:
    """A release to add to: it takes the place of ``folder`` at the end; if anything fails, nothing has changed.

    Raises:
        UsageError: if ``folder`` is not empty and no release.
    """
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file; give --out a folder")
    place = Place(folder)
    made = [parent for parent in place.folder.parents if not parent.exists()]
    place.lock.parent.mkdir(parents=True, exist_ok=True)
    try:
        with alone(folder, "another build is writing", place.lock):
            place.recover()
            _refuse_unmanaged(place)
            yield from _renewal(place)
    finally:
        with suppress(OSError):  # a folder that holds something stays
            for parent in made:
                parent.rmdir()


def _renewal(place: Place) -> Iterator[Release]:
    """The release in the making, put in the place of the old one when it is done."""
    try:
        place.link_tree()
        yield Release(place.new, read_marks(marks_file(place.folder)))
        place.swap()
    finally:
        place.clean()


def _refuse_unmanaged(place: Place) -> None:
    folder = place.folder
    if not folder.is_dir():
        return
    if any(place.entries()) and not (folder / manifest.NAME).exists():
        raise UsageError(
            f"{folder} is not empty and holds no {manifest.NAME}; give --out a new folder or a release folder"
        )
    if links := [path for path in folder.rglob("*") if path.is_symlink()]:
        raise UsageError(f"{links[0]} is a symbolic link; delete it: a release folder must not contain links")
    manifest.read(folder)  # its errors name this path, not that of the copy


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)  # the file may be a link into the old release
    path.write_text(text, encoding="utf-8")


def _files(folder: Path) -> dict[str, ListedFile]:
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {path.relative_to(folder).as_posix(): manifest.listed_file(path) for path in files}
