"""The commands for a finished release: `push`, `diff`, `verify`, `card`, `review`, `export`."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import logging
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discoprobe.cli import arguments as arg
from discoprobe.cli import reviewing, summaries, terminal
from discoprobe.loaders.errors import DiscoprobeError, RemoteError, UsageError
from discoprobe.loaders.fetch.remote_files import is_url
from discoprobe.requests import language_codes, parse_request, split_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from discoprobe.cards.hub.push import Plan
    from discoprobe.loaders.corpus import Corpus
    from discoprobe.reading_plan import PlannedSource
    from discoprobe.requests import Request

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
    from discoprobe import pipeline  # noqa: PLC0415
    from discoprobe.builders.task import tasks_named  # noqa: PLC0415
    from discoprobe.cards.hub.push import Options, check_target  # noqa: PLC0415
    from discoprobe.cards.hub.push import push as publish  # noqa: PLC0415
    from discoprobe.reading_plan import planned_sources  # noqa: PLC0415
    from discoprobe.remote_folders import release_at  # noqa: PLC0415

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
            summaries.show_sources(planned, unbuilt, as_json=json_)
            if unbuilt:
                return
        with terminal.progress() as progress:
            if build_ and not dry_run:
                check = functools.partial(_check_licences, allow_licence=options.allow_licence)
                built, fresh = pipeline.renew(request, folder, progress, check=check)
                logging.getLogger(__name__).info("%d configs built, %d are up to date", len(built.built), len(fresh))

            def confirm(plan: Plan) -> bool:
                progress.stop()
                summaries.show_plan(plan, as_json=json_)
                agreed = yes or summaries.confirmed(plan)
                progress.start()
                return agreed

            result = publish(folder, repo, options, confirm=confirm, progress=progress)
    summaries.show_push(result, as_json=json_)


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
    from discoprobe.builders.task import tasks_named  # noqa: PLC0415
    from discoprobe.pipeline import stale_configs  # noqa: PLC0415
    from discoprobe.reading_plan import LONG  # noqa: PLC0415

    if LONG.isdisjoint(one.how for one in planned):
        return stale_configs(request, out).names
    langs = sorted({one.lang for one in planned if one.lang})
    return [f"{task.name}_{lang}" for lang in langs for task in tasks_named(request.tasks)]


def _check_licences(corpus: Corpus, *, allow_licence: tuple[str, ...]) -> None:
    from discoprobe.cards.release.publish_checks import check_licences  # noqa: PLC0415

    check_licences({source.name: source.licence for source in corpus.sources}, allow_licence)


@app.command()
def diff(
    *, against: arg.Against = "org/discoprobe", lang: arg.Lang = None, out: arg.Out = "dist/discoprobe",
    json_: arg.Json = False,
) -> None:  # fmt: skip
    """Show what changed since a release: configs, rows (added, removed, relabelled) and sources.

    Example: build diff --against org/discoprobe@v1.2.0
    """
    from discoprobe.cards.hub.staging import compare  # noqa: PLC0415
    from discoprobe.remote_folders import local  # noqa: PLC0415

    since = str(local(against)) if is_url(against) else against
    changes = compare(local(out), since, languages=language_codes(split_names(lang)))
    summaries.show_changes(changes, as_json=json_)


@app.command()
def verify(  # noqa: PLR0913 (one parameter per option)
    target: Annotated[str, typer.Argument(help="A release folder by path or URL, or owner/name@v1.2.0 on the Hub.")], *,
    corpus: arg.SourceCorpora = None, stanza_dir: arg.StanzaDir = None, rebuild: arg.Rebuild = True, jobs: arg.Jobs = 1,
    json_: arg.Json = False,
) -> None:  # fmt: skip
    """Check that a release matches its manifest and a new build from the same sources.

    Example: build verify org/discoprobe@v1.2.0
    """
    from discoprobe.cards.hub.verify import verify as check  # noqa: PLC0415
    from discoprobe.rebuilding import rebuilder  # noqa: PLC0415
    from discoprobe.remote_folders import local  # noqa: PLC0415

    rebuild_configs = rebuilder(tuple(corpus or ()), jobs, stanza_dir) if rebuild else None
    checked = check(str(local(target)) if is_url(target) else target, rebuild_configs)
    verified = dataclasses.replace(checked, target=target)
    summaries.show_verified(verified, as_json=json_)
    if verified.differences:
        raise DiscoprobeError(f"{target}: {len(verified.differences)} files differ")


@app.command("card")
def show_card(config: arg.ConfigName = "", *, out: arg.Out = "dist/discoprobe") -> None:
    """Show the card of a config, or of the release.

    Example: build card dc_es
    """
    from discoprobe.cards.review.terminal_view import card_text, for_terminal  # noqa: PLC0415
    from discoprobe.remote_folders import local  # noqa: PLC0415

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
    from discoprobe.cards.readers.marks import READER_KINDS  # noqa: PLC0415
    from discoprobe.remote_folders import local  # noqa: PLC0415

    if reader_kind not in READER_KINDS:
        raise UsageError(f"--reader-kind is '{reader_kind}'; give person or model")
    if is_url(out) and not static:
        raise UsageError(f"--out {out}: marks are kept beside a folder; give a path, or --static to read only")
    languages, release = language_codes(split_names(lang)), local(out)
    if marks:
        reviewing.add_marks(release, marks)
    elif static:
        reviewing.write_pages(release, pages, languages, against, open_=open_)
    else:
        who = (reader, reader_kind)
        reviewing.serve(release, languages, who, against, corpus or [], port=port, open_=open_)


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
    from discoprobe.cards.release.export import export as write  # noqa: PLC0415
    from discoprobe.remote_folders import local, new_folder_at  # noqa: PLC0415

    with new_folder_at(out) as folder:
        exported = write(local(release), folder, form, config or [])
    rows = [{"config": name, "files": ", ".join(files), "reason": None} for name, files in exported.files.items()]
    rows += [{"config": name, "files": None, "reason": reason} for name, reason in exported.skipped.items()]
    terminal.show(rows, ["config", "files", "reason"], as_json=json_)
