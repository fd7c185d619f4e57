"""The commands for a finished release: `push`, `diff`, `verify`, `card`, `review`, `export`.

The actions of `build review`, with their messages: start the application, write pages, or add marks.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import logging
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from discoprobe.cli import arguments as arg
from discoprobe.cli import terminal
from discoprobe.loaders.errors import DiscoprobeError, RemoteError, UnsupportedError, UsageError
from discoprobe.loaders.fetch.remote_files import is_url
from discoprobe.request import language_codes, parse_request, split_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from discoprobe.cards.hub.push import Plan
    from discoprobe.cards.readers import ReaderKind
    from discoprobe.cards.release.diff import Changes
    from discoprobe.loaders.corpus import Corpus
    from discoprobe.request import Request
    from discoprobe.sources import PlannedSource


def serve(  # noqa: PLR0913 (what a server is started with)
    release: Path, languages: tuple[str, ...], who: tuple[str, str], against: str, corpora: Sequence[str], *, port: int,
    open_: bool,
) -> None:  # fmt: skip
    """Serves the review application until Ctrl-C or SIGTERM, then adds the results of the readers to the cards."""
    try:
        from discoprobe.cards.review.site import (
            Reader,
            ReviewOptions,
        )
        from discoprobe.cards.review.web_app import server
    except ModuleNotFoundError as error:
        if error.name not in {"flask", "werkzeug"}:
            raise
        raise UnsupportedError(
            "the review application needs Flask: pip install 'discoprobe[review]'; --static writes pages without it"
        ) from None
    from discoprobe.sources import Contexts

    options = ReviewOptions(
        languages, Reader(who[0], cast("ReaderKind", who[1])), _changes(release, against, languages), against,
        Contexts(corpora) if corpora else None,
    )  # fmt: skip
    made, address = server(release, options, port)
    typer.echo(address)
    if open_:
        typer.launch(address)
    for end in (signal.SIGINT, signal.SIGTERM):  # a shell lets a program in the background ignore Ctrl-C
        signal.signal(end, signal.default_int_handler)
    try:
        made.serve_forever()
    except KeyboardInterrupt:
        pass
    finally:
        made.server_close()
    _write_figures(release)


def write_pages(release: Path, pages: Path, languages: Sequence[str], against: str, *, open_: bool) -> None:
    """Writes all cards as web pages."""
    from discoprobe.cards.review.pages import write_review

    index = write_review(release, pages, _changes(release, against, languages), languages=languages)
    typer.echo(index)
    if open_:
        typer.launch(index.absolute().as_uri())


def add_marks(release: Path, files: Sequence[Path]) -> None:
    """Adds the marks of files to those of a release, and the results of the readers to its cards."""
    from discoprobe.cards.readers import (
        marks_file,
        merge,
    )
    from discoprobe.cards.release.rows import checked_marks

    target = marks_file(release)
    added = {file: merge(target, checked_marks(release, file)) for file in files}
    for file, number in added.items():
        typer.echo(f"{file}: {number:,} marks added to {target}")
    _write_figures(release)


def _write_figures(release: Path) -> None:
    from discoprobe.cards.readers import marks_file
    from discoprobe.cards.release.release_folder import renew_figures

    if marks_file(release).exists():
        typer.echo("writing what readers found on the cards …", err=True)
    for line in renew_figures(release):
        typer.echo(line)


def _changes(release: Path, against: str, languages: Sequence[str]) -> Changes | None:
    if not against:
        return None
    from discoprobe.cards.hub.staging import compare

    return compare(release, against, languages=languages)


app = typer.Typer()


@app.command()
def push(  # noqa: PLR0913 (one parameter per option)
    *, lang: arg.Lang = None, repo: arg.Repo = "org/discoprobe", release: arg.ReleaseNumber = "",
    task: arg.TaskOption = None, corpus: arg.CorpusOption = None, out: arg.Out = "dist/discoprobe",
    size: arg.Size = None, documents: arg.Documents = None, preset: arg.Preset = "default",
    min_rows: arg.MinRows = None, seed: arg.Seed = 13, jobs: arg.Jobs = 1, on_error: arg.OnErrorOption = "stop",
    match: arg.Match = True, set_: arg.Set = None, exclude: arg.Exclude = None, segment: arg.Segment = False,
    fill: arg.Fill = None, gold: arg.Gold = False, stanza_dir: arg.StanzaDir = None, build_: arg.Build = True,
    allow_licence: arg.AllowLicence = None, dry_run: arg.DryRun = False, private: arg.Private = False,
    create_pr: arg.CreatePr = False, yes: arg.Yes = False, json_: arg.Json = False,
) -> None:  # fmt: skip
    """Build and audit what is missing or out of date, and publish the release on the Hub in one commit with one tag.

    Example: build push --lang de --repo org/discoprobe --release 1.2.0
    """
    request = parse_request(
        lang, task, corpus, size=size, seed=seed, jobs=jobs, on_error=on_error, match=match, values=set_,
        segment=segment, stanza_dir=stanza_dir, preset=preset, min_rows=min_rows, documents=documents, fill=fill,
        gold=gold, exclude=exclude,
    )  # fmt: skip
    from discoprobe import pipeline
    from discoprobe.builders.task import tasks_named
    from discoprobe.cards.hub.push import Options, check_target
    from discoprobe.cards.hub.push import push as publish
    from discoprobe.remote_folders import release_at
    from discoprobe.sources import planned_sources

    options = Options(
        release=release, languages=language_codes(request.languages), allow_licence=tuple(allow_licence or ()),
        dry_run=dry_run, private=private, pull_request=create_pr,
    )  # fmt: skip
    if not (yes or dry_run or sys.stdin.isatty()):
        raise UsageError("without a terminal, push cannot ask before it publishes; give --yes or --dry-run")
    with _interruptible(repo), release_at(out) as folder:
        check_target(repo, options, folder)
        if build_:
            planned = planned_sources(request, tasks_named(request.tasks))
            unbuilt = _unbuilt(planned, request, folder) if dry_run else None
            terminal.show_sources(planned, unbuilt, as_json=json_)
            if unbuilt:
                return
        with terminal.progress() as progress:
            if build_ and not dry_run:
                check = functools.partial(_check_licences, allow_licence=options.allow_licence)
                built, fresh = pipeline.renew(request, folder, progress, check=check)
                logging.getLogger(__name__).info("%d configs built, %d are up to date", len(built.built), len(fresh))

            def confirm(plan: Plan) -> bool:
                progress.stop()
                terminal.show_plan(plan, as_json=json_)
                agreed = yes or terminal.confirmed(plan)
                progress.start()
                return agreed

            result = publish(folder, repo, options, confirm=confirm, progress=progress)
    terminal.show_push(result, as_json=json_)


@contextlib.contextmanager
def _interruptible(repo: str) -> Iterator[None]:
    """After Ctrl-C, prints the state of the repository and ends the process, even if threads still wait for the Hub."""
    try:
        yield
    except KeyboardInterrupt:
        sys.stdout.flush()
        sys.stderr.write(
            f"error: interrupted: {repo} holds the complete old release or the new one; the next push continues\n"
        )
        sys.stderr.flush()
        os._exit(RemoteError.exit_status)


def _unbuilt(planned: Sequence[PlannedSource], request: Request, out: Path) -> list[str]:
    """The configs that a push would build; empty if all are up to date.

    If this is known only after corpora were downloaded or annotated, these are all configs of the request.
    """
    from discoprobe.builders.task import tasks_named
    from discoprobe.pipeline import stale_configs
    from discoprobe.sources import LONG

    if LONG.isdisjoint(one.how for one in planned):
        return stale_configs(request, out).names
    langs = sorted({one.lang for one in planned if one.lang})
    return [f"{task.name}_{lang}" for lang in langs for task in tasks_named(request.tasks)]


def _check_licences(corpus: Corpus, *, allow_licence: tuple[str, ...]) -> None:
    from discoprobe.cards.release.checks import check_licences

    check_licences({source.name: source.licence for source in corpus.sources}, allow_licence)


@app.command()
def diff(
    *, against: arg.Against = "org/discoprobe", lang: arg.Lang = None, out: arg.Out = "dist/discoprobe",
    json_: arg.Json = False,
) -> None:  # fmt: skip
    """Show what changed since a release: configs, rows (added, removed, relabelled) and sources.

    Example: build diff --against org/discoprobe@v1.2.0
    """
    from discoprobe.cards.hub.staging import compare
    from discoprobe.remote_folders import local

    since = str(local(against)) if is_url(against) else against
    changes = compare(local(out), since, languages=language_codes(split_names(lang)))
    terminal.show_changes(changes, as_json=json_)


@app.command()
def verify(  # noqa: PLR0913 (one parameter per option)
    target: Annotated[str, typer.Argument(help="A release folder by path or URL, or owner/name@v1.2.0 on the Hub.")], *,
    corpus: arg.SourceCorpora = None, stanza_dir: arg.StanzaDir = None, rebuild: arg.Rebuild = True, jobs: arg.Jobs = 1,
    json_: arg.Json = False,
) -> None:  # fmt: skip
    """Check that a release matches its manifest and a new build from the same sources.

    Example: build verify org/discoprobe@v1.2.0
    """
    from discoprobe.cards.hub.verify import verify as check
    from discoprobe.pipeline import rebuilder
    from discoprobe.remote_folders import local

    rebuild_configs = rebuilder(tuple(corpus or ()), jobs, stanza_dir) if rebuild else None
    checked = check(str(local(target)) if is_url(target) else target, rebuild_configs)
    verified = dataclasses.replace(checked, target=target)
    terminal.show_verified(verified, as_json=json_)
    if verified.differences:
        raise DiscoprobeError(f"{target}: {len(verified.differences)} files differ")


@app.command("card")
def show_card(config: arg.ConfigName = "", *, out: arg.Out = "dist/discoprobe") -> None:
    """Show the card of a config, or of the release.

    Example: build card dc_es
    """
    from discoprobe.cards.review.pages import (
        card_text,
        for_terminal,
    )
    from discoprobe.remote_folders import local

    terminal.show_markdown(for_terminal(card_text(local(out), config)))


@app.command()
def review(  # noqa: PLR0913 (one parameter per option)
    *, lang: arg.Lang = None, out: arg.Out = "dist/discoprobe", reader: arg.ReaderName = "",
    reader_kind: arg.ReaderKindOption = "person", corpus: arg.ContextCorpus = None, against: arg.SinceRelease = "",
    marks: arg.MarksOption = None, port: arg.Port = 0, open_: arg.Open = True, static: arg.Static = False,
    pages: arg.Pages = Path("dist/review"),
) -> None:  # fmt: skip
    """Read rows and cards in the browser: filter rows, mark faulty rows, and label a sample without seeing its labels.

    Marks are written to a file beside the release, such as dist/discoprobe.marks.jsonl. Ctrl-C ends the application and
    adds the results of the readers to the cards.

    Example: build review --lang es --reader ana
    """
    from discoprobe.cards.readers import READER_KINDS
    from discoprobe.remote_folders import local

    if reader_kind not in READER_KINDS:
        raise UsageError(f"--reader-kind is '{reader_kind}'; give person or model")
    if is_url(out) and not static:
        raise UsageError(f"--out {out}: marks are kept beside a folder; give a path, or --static to read only")
    languages, release = language_codes(split_names(lang)), local(out)
    if marks:
        add_marks(release, marks)
    elif static:
        write_pages(release, pages, languages, against, open_=open_)
    else:
        who = (reader, reader_kind)
        serve(release, languages, who, against, corpus or [], port=port, open_=open_)


@app.command()
def export(
    release: Annotated[str, typer.Argument(help="A release folder, by path or URL.")],
    out: Annotated[str, typer.Argument(help="A folder that does not exist yet or is empty, by path or URL.")], *,
    form: Annotated[str, typer.Option(
        "--format", "-f", help="`senteval`, `xprobe`, `discoeval`, `jsonl`, `blimp`, `lm-eval` or `syntaxgym`.")],
    config: Annotated[
        list[str] | None, typer.Option("--config", help="A config, such as dc_es. Repeatable. Default: all configs.")
    ] = None,
    json_: arg.Json = False,
) -> None:  # fmt: skip
    """Write configs of a release folder in the format of another evaluation harness.

    Example: build export dist/discoprobe senteval --format senteval
    """
    from discoprobe.cards.release.export import export as write
    from discoprobe.remote_folders import local, new_folder_at

    with new_folder_at(out) as folder:
        exported = write(local(release), folder, form, config or [])
    rows = [{"config": name, "files": ", ".join(files), "reason": None} for name, files in exported.files.items()]
    rows += [{"config": name, "files": None, "reason": reason} for name, reason in exported.skipped.items()]
    terminal.show(rows, ["config", "files", "reason"], as_json=json_)
