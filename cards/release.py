"""A release folder: written beside the old one and put in its place, so that a killed build leaves the old one whole."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from discoprobe.builders.config import Config, Unavailable
from discoprobe.cards import card, manifest, tables
from discoprobe.loaders.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from discoprobe.builders.audit.report import Report
    from discoprobe.cards.manifest import ConfigEntry, FileEntry, Manifest
    from discoprobe.loaders.corpus import Corpus

README = "README.md"
AUDIT = "audit.json"
ATTRIBUTION = "ATTRIBUTION.md"


class Release:
    """A release under construction: configs are written one by one, ``finish`` writes what speaks of all of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._old = manifest.read(folder)
        self._entries: dict[str, ConfigEntry] = {}
        self._missing: list[Unavailable] = []
        self._corpora: list[Corpus] = []

    def add_corpus(self, corpus: Corpus) -> None:
        """Names the sources of what follows."""
        self._corpora.append(corpus)

    def add(self, result: Config | Unavailable, report: Report | None = None) -> None:
        """Writes a config's folder, with what its audit found; takes away the folder of one that is not there any more."""
        place = self.folder / result.name
        shutil.rmtree(place, ignore_errors=True)
        if isinstance(result, Unavailable):
            self._missing.append(result)
            return
        place.mkdir(parents=True)
        for split in result.splits:
            tables.write_split(result, split, place)
        if report:
            (place / AUDIT).write_text(report.to_json(), encoding="utf-8")
        (place / README).write_text(card.config_card(result), encoding="utf-8")
        content = {split: tables.content_hash(table) for split, table in result.splits.items()}
        self._entries[result.name] = manifest.config_entry(result, content, _files(place, place), report)

    def finish(self) -> Manifest:
        """Writes cards and manifest over all configs, old and new, and returns the manifest."""
        whole = manifest.renewed(self._old, self._entries, self._missing, self._corpora)
        written = {README: card.release_card(whole), ATTRIBUTION: card.attribution(whole)}
        for name, text in written.items():
            _write(self.folder / name, text)
            whole["files"][name] = _entry(self.folder / name)
        _write(self.folder / manifest.NAME, manifest.render(whole))
        return whole


@contextmanager
def open_release(folder: Path) -> Iterator[Release]:
    """A release to add to: it takes the place of ``folder`` at the end; if anything fails, nothing has changed.

    Raises:
        UsageError: if ``folder`` is not empty and no release.
    """
    folder = folder.absolute()
    _recover(folder)
    _refuse_foreign(folder)
    beside = folder.with_name(f".{folder.name}.new")
    shutil.rmtree(beside, ignore_errors=True)
    try:
        _link_tree(folder, beside)
        yield Release(beside)
        _swap(beside, folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _former(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.old")


def _recover(folder: Path) -> None:
    """Ends a swap that was cut off between its two renames."""
    former = _former(folder)
    if former.exists() and not folder.exists():
        former.rename(folder)
    shutil.rmtree(former, ignore_errors=True)


def _refuse_foreign(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file; give --out a folder")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / manifest.NAME).exists():
        raise UsageError(f"{folder} is not empty and holds no {manifest.NAME}; give --out a new folder or a release folder")


def _link_tree(source: Path, target: Path) -> None:
    """The same tree without copying: hard links where the file system has them. Files are replaced, never rewritten."""
    if not source.exists():
        target.mkdir(parents=True)
        return
    try:
        shutil.copytree(source, target, copy_function=os.link, symlinks=True)
    except (OSError, shutil.Error):
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(source, target, symlinks=True)


def _swap(new: Path, folder: Path) -> None:
    former = _former(folder)
    if folder.exists():
        folder.rename(former)
    new.rename(folder)
    shutil.rmtree(former, ignore_errors=True)


def _write(path: Path, text: str) -> None:
    path.unlink(missing_ok=True)  # the file may be a link into the old release
    path.write_text(text, encoding="utf-8")


def _files(folder: Path, base: Path) -> dict[str, FileEntry]:
    return {str(path.relative_to(base)): _entry(path) for path in sorted(folder.rglob("*")) if path.is_file()}


def _entry(path: Path) -> FileEntry:
    return {"sha256": tables.file_hash(path), "bytes": path.stat().st_size}
