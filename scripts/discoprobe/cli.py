"""The command line: options and messages, nothing else."""

from __future__ import annotations

import dataclasses
import json
import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from discoprobe.loaders.errors import AuditFailedError, DiscoprobeError, UsageError

if TYPE_CHECKING:
    from discoprobe.loaders.raw.prepare import How
    from discoprobe.pipeline import OnError, Outcome, Request

app = typer.Typer(
    name="build",
    help="Build balanced, audited probing and discourse datasets from annotated corpora.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
corpora_app = typer.Typer(no_args_is_help=True, help="The catalogue of corpora: list, fetch, check.")
app.add_typer(corpora_app, name="corpora")

Lang = Annotated[str, typer.Option("--lang", "-l", help="Languages, by code or name, separated by commas; `all`.")]
CorpusOption = Annotated[
    list[str] | None,
    typer.Option(
        "--corpus",
        "-c",
        help="`sample`, a corpus of the catalogue, a .conllu file or folder, or raw text, which is annotated (see "
        "`annotate`); repeatable.",
    ),
]
TaskOption = Annotated[
    str, typer.Option("--task", "-t", help="Tasks, `discourse`, `probing` or `all`; commas between.")
]
Out = Annotated[Path, typer.Option("--out", "-o", help="The release folder.")]
Size = Annotated[str | None, typer.Option("--size", help="Most rows: N in all, or TRAIN/VAL/TEST.")]
Seed = Annotated[int, typer.Option("--seed", help="Every choice depends on it.")]
Jobs = Annotated[int, typer.Option("--jobs", "-j", min=1, help="Processes.")]
OnErrorOption = Annotated[str, typer.Option("--on-error", help="A malformed sentence: `stop` or `skip`.")]
Match = Annotated[bool, typer.Option("--match/--no-match", help="Repair shortcuts by construction, or emit the pool.")]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="A filter: ipm=share|mean|none, ipm_min=0.9, frequency=wordfreq|corpus|FILE, syncretism=pos,feature, "
        "probing_words=5/25, discourse_words=3/64, min_class=20; repeatable.",
    ),
]
Audit = Annotated[bool, typer.Option("--audit/--no-audit", help="Measure every config, and leave out what fails.")]
KeepFailed = Annotated[bool, typer.Option("--keep-failed", help="Emit what fails the audit too; the exit status is 3.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
AuditNames = Annotated[list[str] | None, typer.Argument(help="Paths, configs of --out, Hub ids; else all of --out.")]
TextColumns = Annotated[list[str] | None, typer.Option("--text", help="A column that holds text; repeatable.")]
LabelColumn = Annotated[str | None, typer.Option("--label", help="The column that holds the label.")]
Format = Annotated[
    str | None,
    typer.Option("--format", help="senteval, xprobe, discoeval, discoeval-bso, pairs or table; guessed by default."),
]
Repo = Annotated[str, typer.Option("--repo", help="The dataset repository on the Hub, owner/name.")]
ReleaseNumber = Annotated[str, typer.Option("--release", help="X.Y.Z; proposed from the changes by default.")]
Build = Annotated[bool, typer.Option("--build/--no-build", help="Build first, or publish --out as it is.")]
AllowLicence = Annotated[
    list[str] | None, typer.Option("--allow-licence", help="Publish under this licence though it is not open.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the plan and stop.")]
CreatePr = Annotated[bool, typer.Option("--create-pr", help="Propose the commit as a pull request.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
Against = Annotated[str, typer.Option("--against", help="A release folder, owner/name, or owner/name@v1.2.0.")]
Rebuild = Annotated[
    bool, typer.Option("--rebuild/--no-rebuild", help="Build again, or compare with the manifest only.")
]
ConfigName = Annotated[str, typer.Argument(help="A config, such as dc_es; without it, the card of the release.")]
Pages = Annotated[Path, typer.Option("--pages", help="Where the pages go.")]
Open = Annotated[bool, typer.Option("--open/--no-open", help="Open the first page in a browser.")]
Source = Annotated[str, typer.Argument(help="A text file, table or TEI file, a folder of them, or hf://owner/name.")]
CorpusFolder = Annotated[Path, typer.Option("--out", "-o", help="The folder of the annotated corpus.")]
RawLang = Annotated[str, typer.Option("--lang", "-l", help="The language, by code or name.")]
StanzaDir = Annotated[
    Path | None, typer.Option("--stanza-dir", help="The folder of Stanza's models; by default Stanza's own.")
]
Segment = Annotated[
    bool,
    typer.Option(
        "--segment",
        help="Of raw text, only find sentences and words: with Stanza's tokeniser where it is, else by rules (in any "
        "language with spaces between words). Tasks that need annotation are not built then.",
    ),
]
Processors = Annotated[
    str, typer.Option("--processors", help="What Stanza does; `pos=hdt` for a package other than the default.")
]
Download = Annotated[bool, typer.Option("--download", help="Download models that are not there.")]
CorpusName = Annotated[str, typer.Option("--name", help="What the corpus is called; by default as SOURCE is.")]
Licence = Annotated[str, typer.Option("--licence", help="Of the text, as in `CC BY-SA 4.0`; without one, no push.")]
Citation = Annotated[str, typer.Option("--citation", help="How to cite the text.")]
TextColumn = Annotated[str, typer.Option("--text", help="The column of a table that holds the text.")]
IdColumn = Annotated[str, typer.Option("--id", help="The column that names the documents.")]
GenreColumn = Annotated[str, typer.Option("--genre", help="The column of genres.")]
SentencesColumn = Annotated[str, typer.Option("--sentences", help="The column with the text as a list of sentences.")]
ReadSet = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="How text is read and filtered: encoding=cp1252, lines=wrapped|sentences|paragraphs, min_words=3, "
        "max_characters=20000, min_document_words=100, script_share=0.5, language_share=0.5, boilerplate=5, "
        "duplicates=no, split=train, config=NAME, revision=NAME; repeatable.",
    ),
]
Names = Annotated[list[str] | None, typer.Argument(help="Languages or corpora; all by default.")]


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
    set_: Set = None, audit: Audit = True, keep_failed: KeepFailed = False, segment: Segment = False,
    stanza_dir: StanzaDir = None, json_: Json = False,
) -> None:  # fmt: skip
    """Build datasets into a release folder that `load_dataset` reads.

    Example: build run --lang es --corpus sample
    """
    from discoprobe import pipeline  # noqa: PLC0415 (polars and pyarrow take a second that --help need not wait for)

    request = _request(lang, task, corpus, size=size, seed=seed, jobs=jobs, on_error=on_error, match=match, values=set_)
    request = dataclasses.replace(
        request, audit=audit, keep_failed=keep_failed, raw=_how(segment=segment, stanza_dir=stanza_dir)
    )
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
    how = _how(segment=segment, stanza_dir=stanza_dir)
    how = dataclasses.replace(
        how, processors=_split(processors), download=download, read=read_options([*values, *(set_ or [])])
    )
    about = About(corpus_name(name or source), language_code(lang), licence, citation)
    with terminal.progress() as heard:
        annotated = prepare(source, about, how, out=out, jobs=jobs, progress=heard)
    terminal.show_annotated(annotated, as_json=json_)


def _how(*, segment: bool, stanza_dir: Path | None) -> How:
    from discoprobe.loaders.raw.prepare import How  # noqa: PLC0415

    return How(segment=segment, stanza_dir=stanza_dir)


def _request(  # noqa: PLR0913 (one parameter per option)
    lang: str, task: str, corpus: list[str] | None, *, size: str | None = None, seed: int = 13, jobs: int = 1,
    on_error: str = "stop", match: bool = True, values: list[str] | None = None,
) -> Request:  # fmt: skip
    from discoprobe.builders.settings import Settings, read_sizes, with_values  # noqa: PLC0415
    from discoprobe.pipeline import Request  # noqa: PLC0415

    if not _split(task):
        raise UsageError("--task names no task; `build tasks` lists them")
    if on_error not in {"stop", "skip"}:
        raise UsageError(f"--on-error is '{on_error}'; give stop or skip")
    how: OnError = "skip" if on_error == "skip" else "stop"
    settings = Settings(seed=seed, match=match, sizes=read_sizes(size) if size else Settings().sizes)
    settings = with_values(settings, values or [])
    return Request(_split(lang), tuple(corpus or ()), _split(task), settings, jobs, how)


def _split(names: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in names.split(",") if name.strip())


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
    from discoprobe.auditing import Reading, pooled_rows, reports  # noqa: PLC0415

    with terminal.progress() as heard:
        found = reports(names or [], out, Reading(format_, tuple(text or ()), label), jobs, heard)
    terminal.show_reports(found, as_json=json_)
    if not json_ and (together := pooled_rows(found)):
        typer.echo("\nthe configs of a task together")
        columns = ["task", "check", "configs", "rows", "accuracy", "lift", "limit", "together"]
        terminal.show(together, columns)
    if failed := [report.name for report in found if report.failed]:
        raise AuditFailedError(f"{len(failed)} of {len(found)} fail the audit: {', '.join(failed)}")


@app.command()
def tasks(*, lang: Lang = "", corpus: CorpusOption = None, jobs: Jobs = 1, json_: Json = False) -> None:
    """List the tasks; with --lang, what a language's corpora support and why not the rest."""
    from discoprobe import terminal  # noqa: PLC0415
    from discoprobe.builders.task import all_tasks  # noqa: PLC0415
    from discoprobe.pipeline import support  # noqa: PLC0415

    if lang or corpus:
        with terminal.progress() as heard:
            found = support(_request(lang, "all", corpus, jobs=jobs), heard)
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
def push(  # noqa: PLR0913 (one parameter per option)
    *, lang: Lang = "", repo: Repo = "org/discoprobe", release: ReleaseNumber = "", task: TaskOption = "all",
    corpus: CorpusOption = None, out: Out = Path("dist/discoprobe"), size: Size = None, seed: Seed = 13, jobs: Jobs = 1,
    on_error: OnErrorOption = "stop", match: Match = True, set_: Set = None, build_: Build = True,
    allow_licence: AllowLicence = None, dry_run: DryRun = False, create_pr: CreatePr = False, yes: Yes = False,
    json_: Json = False,
) -> None:  # fmt: skip
    """Build what is asked for, audit it, and publish it on the Hub in one commit with a tag.

    Example: build push --lang de --repo org/discoprobe --release 1.2.0
    """
    from discoprobe import pipeline, terminal  # noqa: PLC0415
    from discoprobe.cards.push import Options  # noqa: PLC0415
    from discoprobe.cards.push import push as publish  # noqa: PLC0415

    request = _request(lang, task, corpus, size=size, seed=seed, jobs=jobs, on_error=on_error, match=match, values=set_)
    codes = pipeline.codes_of(request)
    options = Options(
        release=release, languages=codes, allow_licence=tuple(allow_licence or ()), dry_run=dry_run,
        pull_request=create_pr,
    )  # fmt: skip
    with terminal.progress() as heard:
        if build_:
            made, fresh = pipeline.renew(request, out, heard)
            logging.getLogger(__name__).info("%d configs built, %d are up to date", len(made.built), len(fresh))
        agreed = (lambda _plan: True) if yes or dry_run else terminal.confirm_push
        outcome = publish(out, repo, options, confirm=agreed, progress=heard)
    terminal.show_push(outcome, as_json=json_)


@app.command()
def diff(
    *, against: Against = "org/discoprobe", lang: Lang = "", out: Out = Path("dist/discoprobe"), json_: Json = False
) -> None:
    """Show what changed since a release: configs, rows added, removed and relabelled, sources.

    Example: build diff --against org/discoprobe@v1.2.0
    """
    from discoprobe import pipeline, terminal  # noqa: PLC0415
    from discoprobe.cards.remote import compare  # noqa: PLC0415

    changes = compare(out, against, languages=pipeline.codes_of(_request(lang, "all", None)))
    terminal.show_changes(changes, as_json=json_)


@app.command()
def verify(
    target: Annotated[str, typer.Argument(help="A release folder, or owner/name@v1.2.0 on the Hub.")], *,
    corpus: CorpusOption = None, rebuild: Rebuild = True, jobs: Jobs = 1, json_: Json = False,
) -> None:  # fmt: skip
    """Compare a release with its manifest, and with what its sources give when they are built again.

    Example: build verify org/discoprobe@v1.2.0
    """
    from discoprobe import terminal  # noqa: PLC0415
    from discoprobe.cards.verify import verify as check  # noqa: PLC0415
    from discoprobe.rebuilding import rebuilder  # noqa: PLC0415

    again = rebuilder(tuple(corpus or ()), jobs) if rebuild else None
    verified = check(target, again)
    terminal.show_verified(verified, as_json=json_)
    if verified.differences:
        raise DiscoprobeError(f"{target}: {len(verified.differences)} files differ")


@app.command("card")
def show_card(config: ConfigName = "", *, out: Out = Path("dist/discoprobe")) -> None:
    """Show the card of a config, or of the release.

    Example: build card dc_es
    """
    from discoprobe import terminal  # noqa: PLC0415
    from discoprobe.cards.reading import card_text, for_terminal  # noqa: PLC0415

    terminal.show_markdown(for_terminal(card_text(out, config)))


@app.command()
def review(
    *, lang: Lang = "", out: Out = Path("dist/discoprobe"), pages: Pages = Path("dist/review"), open_: Open = True
) -> None:
    """Write all cards as pages for a browser, and open them."""
    from discoprobe.cards.review import write_review  # noqa: PLC0415
    from discoprobe.loaders import treebanks  # noqa: PLC0415

    index = write_review(out, pages, languages=[treebanks.language(name).code for name in _split(lang)])
    typer.echo(index)
    if open_:
        typer.launch(index.absolute().as_uri())


@app.command()
def export(
    release: Annotated[Path, typer.Argument(help="A release folder.")],
    out: Annotated[Path, typer.Argument(help="A new folder.")], *,
    form: Annotated[str, typer.Option("--format", "-f", help="`senteval`, `xprobe`, `discoeval` or `jsonl`.")],
    config: Annotated[
        list[str] | None, typer.Option("--config", help="A config's name; repeatable; all by default.")
    ] = None,
    json_: Json = False,
) -> None:  # fmt: skip
    """Write configs of a release folder in the format of an older harness.

    Example: build export dist/discoprobe senteval --format senteval
    """
    from discoprobe import terminal  # noqa: PLC0415
    from discoprobe.cards.export import export as write  # noqa: PLC0415

    exported = write(release, out, form, config or [])
    rows = [{"config": name, "files": ", ".join(files), "reason": None} for name, files in exported.files.items()]
    rows += [{"config": name, "files": None, "reason": reason} for name, reason in exported.skipped.items()]
    terminal.show(rows, ["config", "files", "reason"], as_json=json_)


@app.command()
def languages(*, json_: Json = False) -> None:
    """List the languages of the catalogue and what is known of each."""
    from discoprobe import terminal  # noqa: PLC0415
    from discoprobe.corpora import language_rows  # noqa: PLC0415

    terminal.show(language_rows(), ["code", "name", "treebanks", "texts", "language data", "sample"], as_json=json_)


@corpora_app.command("list")
def corpora_list(names: Names = None, *, json_: Json = False) -> None:
    """List corpora with licence, commit and how their documents are told apart."""
    from discoprobe import terminal  # noqa: PLC0415
    from discoprobe.corpora import corpus_rows  # noqa: PLC0415

    columns = ["lang", "name", "licence", "documents", "files", "cached", "offered", "default", "note"]
    terminal.show(corpus_rows(names or []), columns, as_json=json_)


@corpora_app.command("fetch")
def corpora_fetch(names: Names = None, *, jobs: Jobs = 4, json_: Json = False) -> None:
    """Download corpora into the cache and verify every file."""
    from discoprobe import terminal  # noqa: PLC0415
    from discoprobe.corpora import fetch_rows  # noqa: PLC0415

    terminal.show(fetch_rows(names or [], jobs), ["corpus", "file", "state"], as_json=json_)


@corpora_app.command("check")
def corpora_check(names: Names = None, *, json_: Json = False) -> None:
    """Say for every file of the cache whether it is there and matches its hash."""
    from discoprobe import terminal  # noqa: PLC0415
    from discoprobe.corpora import check_rows  # noqa: PLC0415

    rows = check_rows(names or [])
    terminal.show(rows, ["corpus", "file", "state", "problem"], as_json=json_)
    if corrupt := [str(row["file"]) for row in rows if row["state"] == "corrupt"]:
        raise DiscoprobeError(f"{len(corrupt)} corrupt: {', '.join(corrupt[:3])}; `build corpora fetch` gets them anew")
