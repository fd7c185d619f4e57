"""The command line: options and messages, nothing else."""

from __future__ import annotations

import dataclasses
import json
import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from discoprobe.cli_corpora import app as corpora_app
from discoprobe.cli_options import (
    Audit,
    AuditNames,
    Citation,
    CorpusFolder,
    CorpusName,
    CorpusOption,
    Download,
    Format,
    GenreColumn,
    IdColumn,
    Jobs,
    Json,
    KeepFailed,
    LabelColumn,
    Lang,
    Licence,
    Match,
    OnErrorOption,
    OnlyDecided,
    Out,
    Processors,
    RawLang,
    ReadSet,
    Seed,
    Segment,
    SentencesColumn,
    Set,
    Size,
    Source,
    StanzaDir,
    TaskOption,
    TextColumn,
    TextColumns,
)
from discoprobe.cli_release import app as release_app
from discoprobe.cli_request import how_of, request_of, split_names
from discoprobe.loaders.errors import AuditFailedError, DiscoprobeError, UsageError

if TYPE_CHECKING:
    from discoprobe.pipeline import Outcome

app = typer.Typer(
    name="build",
    help="Build balanced, audited probing and discourse datasets from annotated corpora.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(release_app)
app.add_typer(corpora_app, name="corpora")


def main() -> NoReturn:
    """Runs the program: 0 done, 1 the user's input, 2 usage, 3 the audit failed, 4 the network or the Hub failed."""
    try:
        app(prog_name=Path(sys.argv[0]).name if "__main__" not in sys.argv[0] else "discoprobe")
    except DiscoprobeError as error:
        sys.stderr.write(f"error: {_one_line(str(error))}\n")
        sys.exit(error.exit_status)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        sys.stderr.write(f"error: {_one_line(f'{place}{error.strerror or error}')}\n")
        sys.exit(1)
    sys.exit(0)


def _one_line(message: str) -> str:
    return " ".join(message.split())


def _show_version(asked: bool) -> None:  # noqa: FBT001 (typer's signature)
    if asked:
        import importlib.metadata  # noqa: PLC0415

        typer.echo(importlib.metadata.version("discoprobe"))
        raise typer.Exit


@app.callback()
def _options(
    *, verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show the log.")] = False,
    version: Annotated[  # noqa: ARG001 (its callback answers)
        bool, typer.Option("--version", help="Show the version.", is_eager=True, callback=_show_version)
    ] = False,
) -> None:  # fmt: skip
    logging.basicConfig(level=logging.INFO if verbose else logging.WARNING, stream=sys.stderr, format="%(message)s")


@app.command()
def run(  # noqa: PLR0913 (one parameter per option)
    *, lang: Lang = "", task: TaskOption = "all", corpus: CorpusOption = None, out: Out = Path("dist/discoprobe"),
    size: Size = None, seed: Seed = 13, jobs: Jobs = 1, on_error: OnErrorOption = "stop", match: Match = True,
    set_: Set = None, audit: Audit = True, keep_failed: KeepFailed = False, only_decided: OnlyDecided = False,
    segment: Segment = False, stanza_dir: StanzaDir = None, json_: Json = False,
) -> None:  # fmt: skip
    """Build datasets into a release folder that `load_dataset` reads.

    Example: build run --lang es --corpus sample
    """
    from discoprobe import pipeline  # noqa: PLC0415 (polars and pyarrow take a second that --help need not wait for)

    request = request_of(
        lang, task, corpus, size=size, seed=seed, jobs=jobs, on_error=on_error, match=match, values=set_,
        raw=how_of(segment=segment, stanza_dir=stanza_dir),
    )  # fmt: skip
    if only_decided and not audit:
        raise UsageError("--only-decided needs the audit: leave --no-audit away")
    request = dataclasses.replace(request, audit=audit, keep_failed=keep_failed, only_decided=only_decided)
    from discoprobe.terminal import progress  # noqa: PLC0415

    with progress() as heard:
        outcome = pipeline.run(request, out, heard)
    _report(outcome, out, as_json=json_)
    if failed := outcome.failed:
        raise AuditFailedError(f"{len(failed)} of {len(outcome.built)} configs fail the audit: {', '.join(failed)}")


@app.command("annotate")
def annotate_(  # noqa: PLR0913 (one parameter per option)
    source: Source, *, lang: RawLang, out: CorpusFolder, stanza_dir: StanzaDir = None,
    processors: Processors = "tokenize,pos,lemma,depparse", segment: Segment = False, download: Download = False,
    name: CorpusName = "", licence: Licence = "unknown", citation: Citation = "", text: TextColumn = "",
    id_: IdColumn = "", genre: GenreColumn = "", sentences: SentencesColumn = "", set_: ReadSet = None,
    on_error: OnErrorOption = "stop", jobs: Jobs = 1, json_: Json = False,
) -> None:  # fmt: skip
    """Annotate raw text with Stanza into a folder of CoNLL-U that `run --corpus` reads; goes on where it was stopped.

    Example: build annotate notes/ --lang de --out corpora/notes
    """
    from discoprobe import terminal  # noqa: PLC0415
    from discoprobe.loaders.raw.annotate import About  # noqa: PLC0415
    from discoprobe.loaders.raw.option_values import read_options  # noqa: PLC0415
    from discoprobe.loaders.raw.prepare import corpus_name, language_code, prepare  # noqa: PLC0415

    values = [f"text={text}", f"id={id_}", f"genre={genre}", f"sentences={sentences}", f"on_error={on_error}"]
    how = how_of(segment=segment, stanza_dir=stanza_dir)
    how = dataclasses.replace(
        how, processors=split_names(processors), download=download, read=read_options([*values, *(set_ or [])])
    )
    about = About(corpus_name(name or source), language_code(lang), licence, citation)
    with terminal.progress() as heard:
        annotated = prepare(source, about, how, out=out, jobs=jobs, progress=heard)
    terminal.show_annotated(annotated, as_json=json_)


def _report(outcome: Outcome, out: Path, *, as_json: bool) -> None:
    from discoprobe import terminal  # noqa: PLC0415

    if as_json:
        found = {name: outcome.manifest["configs"][name] for name in outcome.built}
        missing = {one.name: one.reason for one in outcome.missing}
        typer.echo(
            json.dumps({"out": str(out), "configs": found, "unavailable": missing}, ensure_ascii=False, indent=1)
        )
    else:
        terminal.show_run(outcome, out)


@app.command("audit")
def audit_(  # noqa: PLR0913 (one parameter per option)
    names: AuditNames = None, *, out: Out = Path("dist/discoprobe"), text: TextColumns = None,
    label: LabelColumn = None, format_: Format = None, jobs: Jobs = 1, json_: Json = False,
) -> None:  # fmt: skip
    """Measure what can be scored on a data set without knowing the language; exit status 3 if something is wrong.

    Example: build audit my_benchmark/ --text sentence --label gold
    """
    from discoprobe import terminal  # noqa: PLC0415
    from discoprobe.auditing import Reading, pooled_rows, reports, verdicts_of  # noqa: PLC0415

    with terminal.progress() as heard:
        found = reports(names or [], out, Reading(format_, tuple(text or ()), label), jobs, heard)
    said = verdicts_of(found)
    terminal.show_reports(found, said, as_json=json_)
    if not json_ and (together := pooled_rows(found)):
        typer.echo("\nthe configs of a task together")
        columns = ["task", "check", "configs", "rows", "accuracy", "lift", "limit", "together"]
        terminal.show(together, columns)
    if failed := [report.name for report, one in zip(found, said, strict=True) if one.word == "failed"]:
        raise AuditFailedError(f"{len(failed)} of {len(found)} fail the audit: {', '.join(failed)}")


@app.command()
def tasks(  # noqa: PLR0913 (one parameter per option)
    *, lang: Lang = "", corpus: CorpusOption = None, segment: Segment = False, stanza_dir: StanzaDir = None,
    jobs: Jobs = 1, json_: Json = False,
) -> None:  # fmt: skip
    """List the tasks; with --lang, what a language's corpora support and why not the rest."""
    from discoprobe import terminal  # noqa: PLC0415
    from discoprobe.builders.task import all_tasks  # noqa: PLC0415
    from discoprobe.pipeline import support  # noqa: PLC0415

    if lang or corpus:
        with terminal.progress() as heard:
            raw = how_of(segment=segment, stanza_dir=stanza_dir)
            found = support(request_of(lang, "all", corpus, jobs=jobs, raw=raw), heard)
        terminal.show(
            found, ["lang", "task", "available", "rows", "candidates", "reason"], as_json=json_,
        )  # fmt: skip
    else:
        rows: list[dict[str, str | int | bool | None]] = [
            {
                "task": task.name,
                "family": task.family,
                "labels": len(task.labels),
                "what": task.definition.partition("\n")[0],
            }
            for task in all_tasks().values()
        ]
        what = "Any feature of a word in any role of the clause: `--task feats`, or one of them, `feats_nsubj_case`."
        rows.append({"task": "feats", "family": "generated", "labels": 0, "what": what})
        terminal.show(rows, ["task", "family", "labels", "what"], as_json=json_)


@app.command()
def languages(*, json_: Json = False) -> None:
    """List the languages of the catalogue and what is known of each."""
    from discoprobe import terminal  # noqa: PLC0415
    from discoprobe.corpora import language_rows  # noqa: PLC0415

    terminal.show(language_rows(), ["code", "name", "treebanks", "texts", "language data", "sample"], as_json=json_)
