"""The files of a folder, in the order of their names, each once whatever links there are."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from discoprobe.loaders.errors import DiscoprobeError
from discoprobe.loaders.raw import hub, tables

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from discoprobe.loaders.raw.counts import Counts

PLAIN: Final = (".txt",)
TEI: Final = (".xml", ".tei")
READ: Final = (*PLAIN, *TEI, *tables.SUFFIXES)
ABOUT: Final = frozenset(
    {"readme", "license", "licence", "copying", "notice", "source", "sources", "authors", "changelog", "citation"}
)
"""Names, without suffix and in small letters, of files that tell of a corpus and belong to none."""
UNSAFE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f%\u2028\u2029\udc80-\udcff]|^ | $")


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file, or a folder saved by ``datasets``; ``name`` is relative to the source folder."""

    path: Path
    name: str

    @property
    def place(self) -> str:
        """The name for messages and comments: line ends, spaces at the ends, controls and ``%`` written as in URLs."""
        return UNSAFE.sub(_escaped, self.name)


def check_kind(path: Path) -> None:
    """Refuses a file whose name does not end like one that can be read.

    Raises:
        DiscoprobeError: that is so.
    """
    if path.suffix.lower() not in READ:
        raise DiscoprobeError(f"{path}: neither .conllu nor a text that can be read: {', '.join(READ)}")


def _escaped(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode(errors="surrogateescape"))


def files_in(folder: Path, counts: Counts) -> list[SourceFile]:
    """The files of a folder that can be read, however deep; others are counted.

    Names that begin with a dot are passed over. A folder that is reached again through a link is not read again; what
    is reached both ways is known by its name without links.

    Raises:
        DiscoprobeError: a folder cannot be listed, or there is nothing to read.
    """
    found = sorted(_walk(folder, counts), key=lambda file: file.name)
    if not found:
        raise DiscoprobeError(f"{folder}: nothing to read in this folder; what can be read: {', '.join(READ)}")
    return found


def _walk(top: Path, counts: Counts) -> Iterator[SourceFile]:
    seen: set[tuple[int, int]] = set()
    links: list[Path] = [top]
    while links:
        folder = links.pop(0)
        later: list[Path] = []
        yield from _below(folder, top, seen, later, counts)
        links = sorted([*links, *later])


def _below(
    folder: Path, top: Path, seen: set[tuple[int, int]], links: list[Path], counts: Counts
) -> Iterator[SourceFile]:
    """The files below a folder without following links to folders, which are put by for later."""
    waiting = [folder]
    while waiting:
        here = waiting.pop()
        name = here.relative_to(top).as_posix()
        try:
            status = here.stat()
            if (status.st_dev, status.st_ino) in seen:
                counts.add("folder-loop", SourceFile(here, name).place)
                continue
            seen.add((status.st_dev, status.st_ino))
            entries = sorted(here.iterdir())
        except OSError as error:
            raise DiscoprobeError(f"{here}: cannot be listed: {error.strerror}") from error
        if hub.is_saved(here):
            yield SourceFile(here, name)
            continue
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.is_dir():
                (links if entry.is_symlink() else waiting).append(entry)
            elif _is_text(file := SourceFile(entry, entry.relative_to(top).as_posix()), counts):
                yield file


def _is_text(file: SourceFile, counts: Counts) -> bool:
    if file.path.suffix.lower() not in READ or not file.path.is_file():
        counts.add("unknown-file", file.place)
        return False
    if file.path.suffix.lower() in PLAIN and file.path.stem.lower() in ABOUT:
        counts.add("about-the-corpus", file.place)
        return False
    return True
