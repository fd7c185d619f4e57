"""The files of a folder in the order of their names, each once even if links lead to it several times."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from discoprobe.loaders.errors import DiscoprobeError
from discoprobe.loaders.raw.read import hub_datasets, tables
from discoprobe.loaders.raw.read.document_ids import percent_encoded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from discoprobe.loaders.raw.drop_counts import DropCounts

PLAIN: Final = (".txt",)
TEI: Final = (".xml", ".tei")
READABLE: Final = (*PLAIN, *TEI, *tables.SUFFIXES)
ABOUT: Final = frozenset(
    {"readme", "license", "licence", "copying", "notice", "source", "sources", "authors", "changelog", "citation"}
)
"""Names of files about the corpus, in lower case and without suffix."""
UNSAFE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f%\u2028\u2029\udc80-\udcff]|^ | $")


@dataclass(frozen=True, slots=True)
class RawFile:
    """A file, or a folder saved by ``datasets``; ``name`` is relative to the source folder."""

    path: Path
    name: str

    @property
    def place(self) -> str:
        """The name for messages and comments: spaces at its ends, control characters and ``%`` written as in URLs."""
        return UNSAFE.sub(lambda match: percent_encoded(match[0]), self.name)


def check_kind(path: Path) -> None:
    """Raise an error for a file of a kind that is not read.

    Raises:
        DiscoprobeError: its suffix is not one of :data:`READABLE`.
    """
    if path.suffix.lower() not in READABLE:
        raise DiscoprobeError(f"{path}: neither .conllu nor a text that can be read: {', '.join(READABLE)}")


def files_in(folder: Path, counts: DropCounts) -> list[RawFile]:
    """The readable files of a folder and its subfolders; other files are counted.

    Names that begin with a dot are ignored. A folder that is reached again through a link is not read again, and its
    files have their names without links.

    Raises:
        DiscoprobeError: a folder cannot be listed, or no file can be read.
    """
    files = sorted(_walk(folder, counts), key=lambda file: file.name)
    if not files:
        raise DiscoprobeError(f"{folder}: nothing to read in this folder; what can be read: {', '.join(READABLE)}")
    return files


def _walk(top: Path, counts: DropCounts) -> Iterator[RawFile]:
    """The files below a folder; links to folders are followed when everything else was visited."""
    seen: set[tuple[int, int]] = set()
    waiting = [top]
    while waiting:
        for here, folders, names in os.walk(waiting.pop(0), onerror=_cannot_list):
            folder = RawFile(Path(here), Path(here).relative_to(top).as_posix())
            visible = sorted(name for name in folders if not name.startswith("."))
            links = [name for name in visible if (folder.path / name).is_symlink()]
            folders.clear()
            status = folder.path.stat()
            if (status.st_dev, status.st_ino) in seen:
                counts.add("folder-loop", folder.place)
                continue
            seen.add((status.st_dev, status.st_ino))
            if hub_datasets.is_saved(folder.path):
                yield folder
                continue
            folders += [name for name in visible if name not in links]
            waiting += [folder.path / name for name in links]
            yield from _texts(folder.path, top, names, counts)
        waiting.sort()


def _cannot_list(error: OSError) -> None:
    raise DiscoprobeError(f"{error.filename}: cannot be listed: {error.strerror}") from error


def _texts(folder: Path, top: Path, names: list[str], counts: DropCounts) -> Iterator[RawFile]:
    for name in sorted(names):
        file = RawFile(folder / name, (folder / name).relative_to(top).as_posix())
        suffix = file.path.suffix.lower()
        if name.startswith("."):
            continue
        if suffix not in READABLE or not file.path.is_file():
            counts.add("unknown-file", file.place)
        elif suffix in PLAIN and file.path.stem.lower() in ABOUT:
            counts.add("about-the-corpus", file.place)
        else:
            yield file
