"""The command line: options and messages. ``pipeline``, ``builders``, ``loaders`` and ``cards`` do the work.

``arguments`` has the options with their help. ``building``, ``measuring`` and ``publishing`` have the commands, each
with what it prints; ``terminal`` shows progress and tables.
"""

import contextlib
import ctypes
import errno
import importlib.metadata
import io
import logging
import os
import re
import sys
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from discoprobe.cli import arguments, building, measuring, publishing
from discoprobe.loaders.errors import DiscoprobeError

try:
    from typer.exceptions import TyperException
except ModuleNotFoundError:  # before typer 0.27 these errors are click's
    from click import ClickException as TyperException  # type: ignore[assignment, import-not-found, unused-ignore]

app = typer.Typer(
    name="build",
    help="Build balanced, audited probing and discourse datasets from annotated corpora.",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(building.app)
app.add_typer(measuring.app)
app.add_typer(publishing.app)
app.add_typer(building.corpora, name="corpora")
app.add_typer(building.new, name="new")


KEEP_FREED = "dirty_decay_ms:10000,muzzy_decay_ms:0"
"""Setting of jemalloc: polars returns freed memory to the system after ten seconds instead of half a second. To request
it again in each step of a block would take a tenth of the processor time."""
_GIVE_BACK = "dirty_decay_ms:500,muzzy_decay_ms:0"
_LARGE_ARRAYS = {"MALLOC_MMAP_THRESHOLD_": (-3, 2**26), "MALLOC_TRIM_THRESHOLD_": (-1, 2**27)}
"""Settings of glibc, which has numpy's arrays: numbers of bytes, and what ``mallopt`` calls them. Arrays of up to 64 MB
and 128 MB of what was freed are not returned, for the same reason."""

_ONLY_AUDIT = frozenset({"audit", "import"})
"""Commands that build no blocks. For them, a tenth less memory is worth more than the time."""

FIRST = """\
build makes balanced, audited datasets that probe what language models know. To begin, type:

  {name} run --lang es --corpus sample   build 22 datasets from the sample (seconds)
  {name} tasks --lang de                 what the treebanks of a language support
  {name} annotate notes/ --lang de --segment --out corpora/notes   your own texts
  {name} audit train.csv test.csv        how easy a dataset of yours is
  {name} --help                          all commands
"""
"""What the program says if nothing is asked."""

ANYWHERE = {"-q", "--quiet", "-v", "--verbose"}
"""Options of the program that may also stand after the command."""

CTRL_C = 130
"""The exit status after Ctrl-C, as shells have it."""
INTERRUPTED = {
    "run": "the release folder was not changed; the same command continues with what is missing",
    "annotate": "the corpus is not complete; the same command continues",
    "corpora": "files that are complete are in the cache; the same command continues",
    "probe": "the scores of finished configs are saved; the same command continues",
}
"""What Ctrl-C leaves behind, by command; other commands write at their end only."""

_HOME = re.compile(r"^(?P<option>(?:[\w-]+=)*)~(?=/|$)")
"""The sign of the home folder, which shells leave in place after a ``=``."""


def _at_home(found: re.Match[str]) -> str:
    return found["option"] + str(Path.home())


def main() -> NoReturn:
    """Runs the program.

    Exit status: 0 done, 1 wrong input, 2 wrong usage, 3 audit failed, 4 network or Hub failed, 5 nothing built, 6
    nothing measured, 130 interrupted. An error is one line on stderr.
    """
    if isinstance(sys.stdout, io.TextIOWrapper) and not sys.stdout.encoding.lower().startswith("utf"):
        sys.stdout.reconfigure(errors="replace")  # a terminal of ASCII shows other characters as ?; stderr escapes them
    name = Path(sys.argv[0]).name if "__main__" not in sys.argv[0] else "discoprobe"
    arguments = [_HOME.sub(_at_home, word) for word in sys.argv[1:]]
    arguments.sort(key=lambda word: word not in ANYWHERE)
    if not arguments and not any(word.endswith("_COMPLETE") for word in os.environ):
        sys.stdout.write(FIRST.format(name=name))
        sys.exit(2)
    try:
        status = app(arguments, prog_name=name, standalone_mode=False) or 0
    except typer.Abort:
        status = CTRL_C
    except TyperException as error:
        called: Any = getattr(error, "ctx", None)
        if not (message := error.format_message()):  # the help was printed, because there are no arguments
            sys.exit(error.exit_code)
        _fail(f"{message.rstrip('.')}; see `{called.command_path if called else name} --help`", error.exit_code)
    except DiscoprobeError as error:
        _fail(str(error), error.exit_status)
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT} or "No space left" in str(error):
            where = f" ({error.filename})" if error.filename else ""
            _fail(f"the disk is full{where}; nothing was changed: free some space and run it again", 1)
        _fail(f"{error.filename}: {error.strerror}" if error.filename else error.strerror or str(error), 1)
    if status == CTRL_C:
        command = next((word for word in arguments if not word.startswith("-")), "")
        _fail(f"interrupted: {INTERRUPTED.get(command, 'nothing was changed')}", CTRL_C)
    sys.exit(status)


def _fail(message: str, status: int) -> NoReturn:
    """Prints an error on one line and ends the program."""
    sys.stderr.write(f"error: {' '.join(message.split())}\n")
    sys.exit(status)


def _show_version(asked: bool) -> None:  # noqa: FBT001 (typer's signature)
    if asked:
        typer.echo(importlib.metadata.version("discoprobe"))
        raise typer.Exit


def _keep_large_arrays() -> None:
    """Sets `_LARGE_ARRAYS` for this process and for workers, except what the environment sets; only glibc has them."""
    for name, (parameter, value) in _LARGE_ARRAYS.items():
        if name not in os.environ:
            os.environ[name] = str(value)
            with contextlib.suppress(OSError, AttributeError, TypeError):
                ctypes.CDLL(None).mallopt(parameter, value)


@app.callback()
def _options(
    context: typer.Context,
    *, _plugins: arguments.Plugins = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show the log and more details.")] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Show no progress and no summary: only errors and what --json asks.")
    ] = False,
    version: Annotated[  # noqa: ARG001 (its callback prints the version)
        bool, typer.Option("--version", help="Show the version.", is_eager=True, callback=_show_version)
    ] = False,
) -> None:  # fmt: skip
    freed = _GIVE_BACK if context.invoked_subcommand in _ONLY_AUDIT else KEEP_FREED
    os.environ.setdefault("_RJEM_MALLOC_CONF", freed)  # read when polars is imported, here and in workers
    if freed == KEEP_FREED:
        _keep_large_arrays()
    level = logging.INFO if verbose else logging.ERROR if quiet else logging.WARNING
    logging.basicConfig(level=level, stream=sys.stderr, format="%(message)s")
