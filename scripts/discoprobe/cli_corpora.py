"""The commands `build corpora …`."""

from __future__ import annotations

import typer

from discoprobe.cli_options import Jobs, Json, Names
from discoprobe.loaders.errors import DiscoprobeError

app = typer.Typer(no_args_is_help=True, help="The catalogue of corpora: list, fetch, check.")


@app.command("list")
def corpora_list(names: Names = None, *, json_: Json = False) -> None:
    """List corpora with licence, commit and how their documents are told apart."""
    from discoprobe import terminal  # noqa: PLC0415
    from discoprobe.corpora import corpus_rows  # noqa: PLC0415

    columns = ["lang", "name", "licence", "documents", "files", "cached", "offered", "default", "note"]
    terminal.show(corpus_rows(names or []), columns, as_json=json_)


@app.command("fetch")
def corpora_fetch(names: Names = None, *, jobs: Jobs = 4, json_: Json = False) -> None:
    """Download corpora into the cache and verify every file."""
    from discoprobe import terminal  # noqa: PLC0415
    from discoprobe.corpora import fetch_rows  # noqa: PLC0415

    terminal.show(fetch_rows(names or [], jobs), ["corpus", "file", "state"], as_json=json_)


@app.command("check")
def corpora_check(names: Names = None, *, json_: Json = False) -> None:
    """Say for every file of the cache whether it is there and matches its hash."""
    from discoprobe import terminal  # noqa: PLC0415
    from discoprobe.corpora import check_rows  # noqa: PLC0415

    rows = check_rows(names or [])
    terminal.show(rows, ["corpus", "file", "state", "problem"], as_json=json_)
    if corrupt := [str(row["file"]) for row in rows if row["state"] == "corrupt"]:
        raise DiscoprobeError(f"{len(corrupt)} corrupt: {', '.join(corrupt[:3])}; `build corpora fetch` gets them anew")
