"""The command line: options and messages. ``pipeline``, ``builders``, ``loaders`` and ``cards`` do the work.

``arguments`` has the options with their help; ``building``, ``publishing`` (with ``reviewing``), ``evaluating`` and
``corpora`` have the commands; ``terminal`` shows progress and tables; ``summaries`` and ``audit_view`` show results.
"""

import errno
import logging
import os
import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from discoprobe.cli import building, corpora, evaluating, publishing
from discoprobe.loaders.errors import DiscoprobeError

app = typer.Typer(
    name="build",
    help="Build balanced, audited probing and discourse datasets from annotated corpora.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(building.app)
app.add_typer(publishing.app)
app.add_typer(evaluating.app)
app.add_typer(corpora.app, name="corpora")
app.command("languages")(corpora.languages)


_DISK_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})

KEEP_FREED = "dirty_decay_ms:10000,muzzy_decay_ms:0"
"""Setting of jemalloc: polars returns freed memory to the system after ten seconds instead of half a second. To request
it again in each step of a block would take a tenth of the processor time."""
_GIVE_BACK = "dirty_decay_ms:500,muzzy_decay_ms:0"
_ONLY_AUDIT = frozenset({"audit", "import"})
"""Commands that build no blocks. For them, a tenth less memory is worth more than the time."""


def main() -> NoReturn:
    """Runs the program. Exit status: 0 done, 1 wrong input, 2 wrong usage, 3 audit failed, 4 network or Hub failed."""
    try:
        app(prog_name=Path(sys.argv[0]).name if "__main__" not in sys.argv[0] else "discoprobe")
    except DiscoprobeError as error:
        sys.stderr.write(f"error: {_one_line(str(error))}\n")
        sys.exit(error.exit_status)
    except OSError as error:
        sys.stderr.write(f"error: {_one_line(_message_of(error))}\n")
        sys.exit(1)
    sys.exit(0)


def _message_of(error: OSError) -> str:
    if error.errno in _DISK_FULL or "No space left" in str(error):
        where = f" ({error.filename})" if error.filename else ""
        return f"the disk is full{where}; nothing was changed: free some space and run it again"
    return f"{error.filename}: {error.strerror}" if error.filename else error.strerror or str(error)


def _one_line(message: str) -> str:
    return " ".join(message.split())


def _show_version(asked: bool) -> None:  # noqa: FBT001 (typer's signature)
    if asked:
        import importlib.metadata

        typer.echo(importlib.metadata.version("discoprobe"))
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    *, verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show the log.")] = False,
    version: Annotated[  # noqa: ARG001 (its callback prints the version)
        bool, typer.Option("--version", help="Show the version.", is_eager=True, callback=_show_version)
    ] = False,
) -> None:  # fmt: skip
    freed = _GIVE_BACK if context.invoked_subcommand in _ONLY_AUDIT else KEEP_FREED
    os.environ.setdefault("_RJEM_MALLOC_CONF", freed)  # read when polars is imported, here and in workers
    logging.basicConfig(level=logging.INFO if verbose else logging.WARNING, stream=sys.stderr, format="%(message)s")
