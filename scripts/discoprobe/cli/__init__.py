"""The command line: options and messages. ``pipeline``, ``builders``, ``loaders`` and ``cards`` do the work.

``arguments`` has the options with their help. ``building``, ``measuring`` and ``publishing`` have the commands, each
with what it prints; ``terminal`` shows progress and tables.
"""

import errno
import importlib.metadata
import io
import logging
import os
import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from discoprobe.cli import arguments, building, measuring, publishing
from discoprobe.loaders.errors import DiscoprobeError

app = typer.Typer(
    name="build",
    help="Build balanced, audited probing and discourse datasets from annotated corpora.",
    no_args_is_help=True,
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
_ONLY_AUDIT = frozenset({"audit", "import"})
"""Commands that build no blocks. For them, a tenth less memory is worth more than the time."""


def main() -> NoReturn:
    """Runs the program.

    Exit status: 0 done, 1 wrong input, 2 wrong usage, 3 audit failed, 4 network or Hub failed, 5 nothing built, 6
    nothing measured.
    """
    if isinstance(sys.stdout, io.TextIOWrapper) and not sys.stdout.encoding.lower().startswith("utf"):
        sys.stdout.reconfigure(errors="replace")  # a terminal of ASCII shows other characters as ?; stderr escapes them
    try:
        app(prog_name=Path(sys.argv[0]).name if "__main__" not in sys.argv[0] else "discoprobe")
    except DiscoprobeError as error:
        _fail(str(error), error.exit_status)
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT} or "No space left" in str(error):
            where = f" ({error.filename})" if error.filename else ""
            _fail(f"the disk is full{where}; nothing was changed: free some space and run it again", 1)
        _fail(f"{error.filename}: {error.strerror}" if error.filename else error.strerror or str(error), 1)
    sys.exit(0)


def _fail(message: str, status: int) -> NoReturn:
    """Prints an error on one line and ends the program."""
    sys.stderr.write(f"error: {' '.join(message.split())}\n")
    sys.exit(status)


def _show_version(asked: bool) -> None:  # noqa: FBT001 (typer's signature)
    if asked:
        typer.echo(importlib.metadata.version("discoprobe"))
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    *, _plugins: arguments.Plugins = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show the log.")] = False,
    version: Annotated[  # noqa: ARG001 (its callback prints the version)
        bool, typer.Option("--version", help="Show the version.", is_eager=True, callback=_show_version)
    ] = False,
) -> None:  # fmt: skip
    freed = _GIVE_BACK if context.invoked_subcommand in _ONLY_AUDIT else KEEP_FREED
    os.environ.setdefault("_RJEM_MALLOC_CONF", freed)  # read when polars is imported, here and in workers
    logging.basicConfig(level=logging.INFO if verbose else logging.WARNING, stream=sys.stderr, format="%(message)s")
