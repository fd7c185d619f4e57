"""The commands that list the catalogue: `build corpora …` and `build languages`."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import typer

from discoprobe.cli import arguments as arg
from discoprobe.cli import terminal
from discoprobe.cli.terminal import Cell
from discoprobe.loaders.errors import DiscoprobeError

app = typer.Typer(no_args_is_help=True, help="List, download and check the corpora of the catalogue.")


@app.command("list")
def corpora_list(names: arg.Names = None, *, json_: arg.Json = False) -> None:
    """List corpora with their licence, how their documents are recognised, and whether they are downloaded."""
    from discoprobe.loaders.fetch import downloads

    columns = ["lang", "name", "licence", "documents", "files", "cached", "offered", "default", "note"]
    rows = [dataclasses.asdict(row) for row in downloads.list_corpora(names or [])]
    terminal.show(rows, columns, as_json=json_)


@app.command("fetch")
def corpora_fetch(names: arg.Names = None, *, jobs: arg.Jobs = 4, json_: arg.Json = False) -> None:
    """Download corpora into the cache and verify every file."""
    from discoprobe.loaders.fetch import downloads

    with terminal.progress() as progress:
        downloads.fetch(downloads.select(names or []), jobs=jobs, progress=progress)
    terminal.show(_file_rows(names or []), ["corpus", "file", "state"], as_json=json_)


@app.command("check")
def corpora_check(names: arg.CheckNames = None, *, json_: arg.Json = False) -> None:
    """Check the files of the catalogue in the cache, or your own files, and show how documents are recognised."""
    from discoprobe.loaders.catalogue.treebanks import DocumentRule, facts_for
    from discoprobe.loaders.conllu.documents import explain_documents
    from discoprobe.loaders.paths import describe, find_files

    paths = [Path(name) for name in names or [] if Path(name).exists()]
    of_catalogue = [name for name in names or [] if not Path(name).exists()]
    rows = _file_rows(of_catalogue) if of_catalogue or not paths else []
    for path, top in find_files(paths).items() if paths else ():
        file = describe(path, top, "und", facts_for)
        documents = explain_documents(path, file.facts.documents if file.facts else DocumentRule())
        row: dict[str, Cell] = {"corpus": file.treebank, "file": file.name, "state": "own file"}
        rows.append(row | {"documents": documents, "problem": ""})
    terminal.show(rows, ["corpus", "file", "state", "documents", "problem"], as_json=json_)
    if corrupt := [str(row["file"]) for row in rows if row["state"] == "corrupt"]:
        raise DiscoprobeError(
            f"{len(corrupt)} corrupt files: {', '.join(corrupt[:3])}; `build corpora fetch` downloads them again"
        )


def _file_rows(names: Sequence[str]) -> list[dict[str, Cell]]:
    """A row per file of the catalogue: its state, and if it is ok, how its documents are recognised."""
    from discoprobe.loaders.catalogue.treebanks import facts_for
    from discoprobe.loaders.conllu.documents import explain_documents
    from discoprobe.loaders.fetch import downloads

    rows: list[dict[str, Cell]] = []
    for checked in downloads.check(downloads.select(names)):
        facts = facts_for(checked.corpus) if checked.state == "ok" else None
        documents = explain_documents(checked.location, facts.documents) if facts else ""
        row: dict[str, Cell] = {"corpus": checked.corpus, "file": checked.file.path, "state": checked.state}
        rows.append(row | {"documents": documents, "problem": checked.problem})
    return rows


def languages(*, json_: arg.Json = False) -> None:
    """List the languages of the catalogue: how many treebanks and raw texts they have, and whether a sample."""
    from discoprobe.loaders.catalogue import treebanks
    from discoprobe.loaders.languages import language

    with_data, with_sample = set(language.languages()), set(treebanks.sample_files())
    rows: list[dict[str, Cell]] = [
        {
            "code": each.code, "name": each.name, "treebanks": len(each.treebanks), "texts": len(each.texts),
            "language data": each.code in with_data, "sample": each.code in with_sample,
        }
        for each in treebanks.languages(every=True)
    ]  # fmt: skip
    terminal.show(rows, ["code", "name", "treebanks", "texts", "language data", "sample"], as_json=json_)
