"""Plugins: a user's own tasks, languages and corpora, in folders beside the package.

A plugin is a folder with the layout of the package::

    probing/ discourse/ relations/ suites/    Python files: one task each, as in ``builders``
    parsers/                                  Python files: parsers of text, as in ``loaders.raw.parsers``
    languages/<code>.toml                     takes the place of the package's file of the language
    catalogue/<code>.toml                     corpora beside those of the package's catalogue

Files whose names begin with ``_`` are no tasks: other files may import them. Two plugins have no such file of one name,
no task of one name, and no file of one language: an error names both. Their catalogues are put together.

In use are the folders that the environment variable ``DISCOPROBE_PLUGINS`` names, and the packages that the entry
points of the group ``discoprobe`` name. ``--plugins`` and `use_plugins` set the variable, so that worker processes have
the same plugins.
"""

import functools
import importlib
import importlib.metadata
import importlib.util
import os
import re
import sys
import traceback
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, ParamSpec, TypeVar, cast

from discoprobe.loaders.errors import DiscoprobeError, UsageError, first_line
from discoprobe.loaders.files import File, hashes_of

P = ParamSpec("P")
T = TypeVar("T")

VARIABLE: Final = "DISCOPROBE_PLUGINS"
GROUP: Final = "discoprobe"
"""The group of the entry points."""
LANGUAGES: Final = "languages"
CATALOGUE: Final = "catalogue"
PARSERS: Final = "parsers"
FAMILIES: Final = ("probing", "discourse", "relations", "suites")
"""The folders with tasks, of a plugin and of ``builders``."""

PluginFiles = Mapping[str, File]
"""Size and hash of files of plugins, by path in their folder; see `identity`."""

_reloads = 0
"""Number of calls of `use_plugins`: what was cached before a call is not used after it."""


def use_plugins(*folders: str | os.PathLike[str]) -> None:
    """Use the plugins in these folders from now on, in the place of those before; their files are read again.

    Raises:
        UsageError: a folder does not exist or is no plugin.
    """
    global _reloads  # noqa: PLW0603 (the files of a plugin may have changed)
    paths = [Path(folder).expanduser().resolve() for folder in folders]
    _check(paths)
    before: tuple[Path, ...] = ()
    with suppress(UsageError):  # those named before may be gone
        before = plugin_folders()
    _reloads += 1
    os.environ[VARIABLE] = os.pathsep.join(map(str, paths))
    importlib.invalidate_caches()
    families = tuple(f"discoprobe.builders.{family}." for family in FAMILIES)
    for name in [name for name in sys.modules if name.startswith(families)]:
        if any(Path(str(sys.modules[name].__file__)).is_relative_to(folder) for folder in before):
            del sys.modules[name]


def plugin_folders() -> tuple[Path, ...]:
    """The folders of all plugins in use, each once: of the variable, then of entry points.

    Raises:
        UsageError: one does not exist or is no plugin, or two have a file of one name that tasks import.
    """
    return _folders(os.environ.get(VARIABLE, ""), _reloads)


@functools.cache
def _folders(named: str, _reloads: int) -> tuple[Path, ...]:
    folders = [Path(name).expanduser().resolve() for name in named.split(os.pathsep) if name]
    for entry in importlib.metadata.entry_points(group=GROUP):
        try:
            spec = importlib.util.find_spec(entry.module)
        except ImportError:
            spec = None
        if spec is None or not spec.submodule_search_locations:
            raise UsageError(f"entry point {entry.name} = {entry.value}: there is no package {entry.module}")
        folders += [Path(location).resolve() for location in spec.submodule_search_locations]
    _check(folders)
    folders = list(dict.fromkeys(folders))
    imported: dict[tuple[str, str], Path] = {}
    for file in (file for folder in folders for family in FAMILIES for file in sorted((folder / family).glob("_*"))):
        first = imported.setdefault((file.parent.name, file.stem), file)
        if first != file and not file.name.startswith("__"):
            problem = "have one name, so that tasks of both plugins would import the first; rename one of them"
            raise UsageError(f"plugins: {first} and {file} {problem}")
    return tuple(folders)


def _check(folders: Iterable[Path]) -> None:
    names = (*FAMILIES, PARSERS, LANGUAGES, CATALOGUE)
    for folder in folders:
        if not folder.is_dir():
            raise UsageError(f"plugins: {folder} is no folder; `build new task NAME` writes one with an example")
        if not any((folder / name).is_dir() for name in names):
            raise UsageError(
                f"plugins: {folder} has none of the folders {', '.join(names)}; `build new task NAME` writes an example"
            )


def cached(function: Callable[P, T]) -> Callable[P, T]:
    """As `functools.cache`, for a function of positional arguments whose result depends on the plugins in use."""
    called: Callable[..., T] = function
    by_plugins = functools.cache(lambda _folders, _reloads, *arguments: called(*arguments))

    @functools.wraps(function)
    def call(*arguments: Hashable) -> T:
        folders = plugin_folders()
        return by_plugins(folders, _reloads if folders else 0, *arguments)

    call.cache_clear = by_plugins.cache_clear  # type: ignore[attr-defined]
    return cast("Callable[P, T]", call)


class FamilyPath:
    """Where Python looks for the modules of a family: in its folder of the package, then in those of plugins."""

    def __init__(self, of_package: Iterable[str], family: str) -> None:
        self._of_package, self._family = tuple(of_package), family

    def __iter__(self) -> Iterator[str]:
        yield from self._of_package
        yield from (str(folder / self._family) for folder in plugin_folders())


def plugin_files(kind: str) -> Iterator[Path]:
    """The TOML files of languages (`LANGUAGES`) or corpora (`CATALOGUE`) of all plugins in use."""
    for folder in plugin_folders():
        yield from sorted((folder / kind).glob("*.toml"))


def language_file(code: str) -> Path | None:
    """The file that a plugin has of a language; None if none has one.

    Raises:
        UsageError: two plugins have one.
    """
    files = [file for file in plugin_files(LANGUAGES) if file.stem == code]
    if files[1:]:
        raise UsageError(f"plugins: {files[0]} and {files[1]} are files of one language; use one of them")
    return files[0] if files else None


def folder_of(file: Path) -> Path | None:
    """The folder of the plugin that a file belongs to; None for a file of the package."""
    return next((folder for folder in plugin_folders() if file.is_relative_to(folder)), None)


def identity(files: Iterable[Path]) -> PluginFiles:
    """Hash and size of files of plugins, by their path in the folder; of a Python file all of its plugin.

    If several plugins have a file of one path, the files are in the order of their hashes, and all but the first have a
    number: ``catalogue/es.toml (2)``. `path_of` returns the path.
    """
    paths: defaultdict[str, set[Path]] = defaultdict(set)
    for file in files:
        folder = folder_of(file)
        assert folder is not None
        for path in folder.rglob("*.py") if file.suffix == ".py" else [file]:
            paths[path.relative_to(folder).as_posix()].add(path)
    return {
        f"{name} ({number})" if number > 1 else name: file
        for name, of_name in sorted(paths.items())
        for number, file in enumerate(
            sorted((hashes_of(path, with_git=False) for path in of_name), key=lambda file: file.sha256), 1
        )
    }


def path_of(name: str) -> str:
    """The path in a plugin of a file that `identity` names."""
    return re.sub(r" \(\d+\)$", "", name)


def language_identity(code: str) -> PluginFiles:
    """The identity of the file that a plugin has of a language; empty if none has one."""
    file = language_file(code)
    return identity([file]) if file else {}


def plugin_error(file: Path, error: BaseException) -> DiscoprobeError:
    """The error for what a Python file of a plugin raised: one line with the last line of a plugin that was run."""
    if isinstance(error, SyntaxError):
        return DiscoprobeError(f"{error.filename}:{error.lineno}: {type(error).__name__}: {error.msg}")
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if folder_of(Path(frame.filename))]
    place = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else f"{file}:{line_of_task(file)}"
    return DiscoprobeError(f"{place}: {first_line(error)}")


def line_of_task(file: Path) -> int:
    """The line on which a Python file defines its task; 1 if there is none."""
    lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    return next((number for number, line in enumerate(lines, 1) if line.startswith("TASK")), 1)
