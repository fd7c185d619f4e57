"""The commands for a finished release: `push`, `diff`, `verify`, `card`, `review`, `export`; each prints its result."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import msgspec
import typer

from discoprobe.cli import arguments as arg
from discoprobe.cli import terminal
from discoprobe.loaders.errors import DiscoprobeError, RemoteError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from discoprobe.cards.hub.staging import PushResult
    from discoprobe.cards.readers import ReaderKind
    from discoprobe.cards.release.diff import Changes
    from discoprobe.cli.terminal import Cell, ProgressDisplay
    from discoprobe.loaders.corpus import Corpus
    from discoprobe.plan import Plan

app = typer.Typer()


@app.command(cls=arg.OptionsOnly)
def push(  # noqa: PLR0913 (one parameter per option)
    *, lang: arg.Lang = None, repo: arg.Repo = "org/discoprobe", task: arg.TaskOption = None,
    corpus: arg.CorpusOption = None, out: arg.Out = "dist/discoprobe", dry_run: arg.DryRun = False,
    yes: arg.Yes = False, release: arg.ReleaseNumber = "", build_: arg.Build = True,
    allow_licence: arg.AllowLicence = None, private: arg.Private = False, create_pr: arg.CreatePr = False,
    restore: arg.Restore = "", fill: arg.Fill = None, gold: arg.Gold = False, silver: arg.Silver = False,
    segment: arg.Segment = False, parser: arg.Parser = None, stanza_dir: arg.StanzaDir = None,
    licences: arg.Licences = "open", on_error: arg.OnErrorOption = "stop", _plugins: arg.Plugins = None,
    size: arg.Size = None, min_rows: arg.MinRows = None, documents: arg.Documents = None, seed: arg.Seed = 13,
    preset: arg.Preset = "default", match: arg.Match = True, set_: arg.Set = None, exclude: arg.Exclude = None,
    jobs: arg.Jobs = 1, json_: arg.Json = False,
) -> None:  # fmt: skip
    """Build and audit what is missing or out of date, and publish the release on the Hub in one commit with one tag.

    Example: build push --lang de --repo org/discoprobe --release 1.2.0
    """
    from discoprobe.request import ALL, parse_request, split_names

    request = parse_request(
        lang, task, corpus, size=size, seed=seed, jobs=jobs, on_error=on_error, match=match, values=set_,
        segment=segment, stanza_dir=stanza_dir, preset=preset, min_rows=min_rows, documents=documents, fill=fill,
        gold=gold, silver=silver, parser=parser, licences=licences, exclude=exclude,
    )  # fmt: skip
    from discoprobe import pipeline
    from discoprobe.cards.hub.client import Hub
    from discoprobe.cards.hub.push import send
    from discoprobe.cards.hub.staging import check_target, plan_push, plan_restore
    from discoprobe.cards.release.checks import check_licences
    from discoprobe.plan import plan, reads
    from discoprobe.remote_folders import release_at

    if not (yes or dry_run or sys.stdin.isatty()):
        raise UsageError("without a terminal, push cannot ask before it publishes; give --yes or --dry-run")
    if restore and (lang or task or corpus or release):
        raise UsageError("--restore puts a whole release back; leave out --lang, --task, --corpus and --release")
    hub = Hub(repo, pull_request=create_pr)
    if restore:
        with _interruptible(repo), terminal.progress() as progress:
            result, staged = plan_restore(hub, restore, dry_run=dry_run)
            if not dry_run:
                result = _asked(result, progress, yes=yes, as_json=json_)
                result = send(hub, result, staged, progress=progress)
        show_result(result, as_json=json_)
        return
    languages = () if split_names(lang) == (ALL,) else request.languages
    with _interruptible(repo), release_at(out) as folder:
        check_target(hub, folder, release=release, languages=languages, dry_run=dry_run)
        if build_:
            made = plan(request)
            read = reads(made)
            unbuilt = _unbuilt(made, read, folder) if dry_run else {}
            _show_unbuilt(read, unbuilt, as_json=json_)
            if unbuilt:
                return
        with terminal.progress() as progress:
            if build_ and not dry_run:

                def check(corpus: Corpus) -> None:
                    licences = {source.name: source.licence for source in corpus.sources}
                    check_licences(licences, allow_licence or ())

                def report(reasons: Mapping[str, tuple[str, ...]]) -> None:
                    progress.stop()
                    if not json_:
                        show_stale(reasons)
                    progress.start()

                built, fresh = pipeline.renew(made, folder, progress, check=check, report=report)
                logging.getLogger(__name__).info("%d configs built, %d are up to date", len(built.built), len(fresh))

            result, staged = plan_push(
                folder, hub, release=release, languages=languages, allow_licence=allow_licence or (), dry_run=dry_run
            )
            if not dry_run:
                result = _asked(result, progress, yes=yes, as_json=json_)
                result = send(hub, result, staged, folder=folder, private=private, progress=progress)
    show_result(result, as_json=json_)


def _asked(result: PushResult, progress: ProgressDisplay, *, yes: bool, as_json: bool) -> PushResult:
    """Shows a plan and asks whether to carry it out; its state is ``declined`` if not.

    With ``yes`` it does not ask, and it shows nothing if there is no file to send or delete.
    """
    if not result.uploads and not result.deletes:
        return result
    progress.stop()
    show_plan(result, as_json=as_json)
    if not yes:
        sys.stdout.write(f"Publish {result.release} to {result.repo}? [y/N] ")
        sys.stdout.flush()
    agreed = yes or sys.stdin.readline().strip().lower() in {"y", "yes"}
    progress.start()
    return result if agreed else msgspec.structs.replace(result, state="declined")


def show_result(result: PushResult, *, as_json: bool) -> None:
    """Prints what a push did, for a dry run with the plan."""
    if as_json:
        terminal.print_json(result.to_dict())
        return
    if terminal.is_quiet() and result.state != "planned":
        return
    if result.state == "planned":
        show_plan(result)
    at = " ".join(filter(None, (result.commit, result.url)))
    sys.stdout.write(f"{result.state}: {result.repo} {result.release} {at}".rstrip() + "\n")
    for note in result.notes:
        sys.stdout.write(f"note: {note}\n")


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


def _unbuilt(made: Plan, read: Sequence[Mapping[str, Any]], out: Path) -> Mapping[str, tuple[str, ...]]:
    """The configs that a push would build, and why; empty if all are up to date.

    If this is known only after corpora were downloaded or annotated, these are all configs of the plan.
    """
    from discoprobe.pipeline import stale_configs
    from discoprobe.plan import LONG

    if LONG.isdisjoint(row["how"] for row in read):
        return stale_configs(made, out)[1]
    langs = sorted({row["lang"] for row in read if row["lang"]})
    return {f"{task.name}_{lang}": () for lang in langs for task in made.tasks}


def show_stale(reasons: Mapping[str, tuple[str, ...]]) -> None:
    """Prints which configs are built again, those with the same reasons on one line."""
    of_reasons: dict[tuple[str, ...], list[str]] = {}
    for name, why in reasons.items():
        of_reasons.setdefault(why, []).append(name)
    for why, names in of_reasons.items():
        terminal.print_wrapped(f"to build: {terminal.few(names)}" + (f" ({'; '.join(why)})" if why else ""))


def _show_unbuilt(
    read: Sequence[Mapping[str, Any]], unbuilt: Mapping[str, tuple[str, ...]], *, as_json: bool = False
) -> None:
    """Prints what a push reads, and for a dry run the configs that it would build.

    JSON is printed only for a dry run with such configs.
    """
    if as_json:
        if unbuilt:
            terminal.print_json({"state": "unbuilt", "reads": read, "build": [*unbuilt], "why": unbuilt})
        return
    terminal.show_sources(read)
    if unbuilt:
        sys.stdout.write("\nto build first, if the corpora support them:\n")
        show_stale(unbuilt)
        sys.stdout.write("the files to send are known only after the build: run this again after `build run`\n")
    sys.stdout.flush()


def show_plan(plan: PushResult, *, as_json: bool = False) -> None:
    """Prints what a push will send, delete, keep and change; on stderr if stdout is for JSON."""
    from discoprobe.cards.release.checks import name_some

    stream = sys.stderr if as_json else sys.stdout
    size = sum(plan.uploads.values())
    since = f" (after {plan.last})" if plan.last else ""
    keeps = "" if plan.changes is None else f", {len(plan.keeps)} configs stay as they are"
    stream.write(
        f"{plan.repo} {plan.release}{since}: {len(plan.uploads)} files to send ({size:,} bytes), "
        f"{len(plan.deletes)} to delete{keeps}\n"
    )
    if plan.changes is None and plan.uploads:
        stream.write(f"files to send: {name_some(plan.uploads)}\n")
    if plan.deletes:
        stream.write(f"files to delete: {', '.join(plan.deletes)}\n")
    if plan.resourced:
        stream.write(f"configs that are replaced by ones from other corpora: {'; '.join(plan.resourced)}\n")
    if plan.keeps:
        stream.write(f"configs that stay: {', '.join(plan.keeps)}\n")
    if plan.unmanaged:
        stream.write(f"files that no release wrote, which stay: {', '.join(plan.unmanaged)}\n")
    if plan.changes is not None and not as_json:
        show_changes(plan.changes)
    stream.flush()


@app.command()
def diff(
    *, against: arg.Against = "org/discoprobe", lang: arg.Lang = None, out: arg.Out = "dist/discoprobe",
    json_: arg.Json = False,
) -> None:  # fmt: skip
    """Show what changed since a release: configs, rows (added, removed, relabelled) and sources.

    Example: build diff --against org/discoprobe@v1.2.0
    """
    from discoprobe.cards.hub.staging import compare
    from discoprobe.loaders.fetch.remote_files import is_url
    from discoprobe.remote_folders import local
    from discoprobe.request import language_codes, split_names

    since = str(local(against)) if is_url(against) else against
    changes = compare(local(out), since, languages=language_codes(split_names(lang)))
    show_changes(changes, as_json=json_)


def show_changes(changes: Changes, *, as_json: bool = False) -> None:
    """Prints what changed between two releases: a line per config, then sources, software and other files."""
    if as_json:
        terminal.print_json(changes.to_dict())
        return
    rows: list[dict[str, Cell]] = [{"config": name, "change": "new", "added": n} for name, n in changes.added.items()]
    rows += [{"config": name, "change": "gone", "removed": n} for name, n in changes.removed.items()]
    kinds = ("added", "removed", "relabelled", "edited")
    rows += [
        {"config": change.name, "change": "changed", **{kind: change.total(kind) for kind in kinds}}
        for change in changes.changed
    ]
    if rows:
        terminal.show(rows, ["config", "change", *kinds])
    for what, lines in (("source", changes.sources), ("software", changes.software), ("file", changes.files)):
        for line in lines:
            sys.stdout.write(f"{what}: {line}\n")
    if not changes:
        sys.stdout.write("nothing changed\n")


@app.command()
def verify(  # noqa: PLR0913 (one parameter per option)
    target: Annotated[str, typer.Argument(help="A release folder by path or URL, or owner/name@v1.2.0 on the Hub.")], *,
    corpus: arg.SourceCorpora = None, stanza_dir: arg.StanzaDir = None, parser: arg.Parser = None,
    rebuild: arg.Rebuild = True, jobs: arg.Jobs = 1,
    _plugins: arg.Plugins = None, json_: arg.Json = False,
) -> None:  # fmt: skip
    """Check that a release matches its manifest and a new build from the same sources.

    Example: build verify org/discoprobe@v1.2.0
    """
    from discoprobe.cards.hub.verify import verify as check
    from discoprobe.loaders.fetch.remote_files import is_url
    from discoprobe.loaders.raw.document import AnnotationOptions
    from discoprobe.pipeline import rebuilder
    from discoprobe.remote_folders import local

    given = AnnotationOptions(stanza_dir=stanza_dir, parsers=tuple(parser or ()))
    rebuild_configs = rebuilder(tuple(corpus or ()), jobs, given) if rebuild else None
    checked = check(str(local(target)) if is_url(target) else target, rebuild_configs)
    verified = msgspec.structs.replace(checked, target=target)
    if json_:
        terminal.print_json(verified.to_dict())
    else:
        about = " ".join(filter(None, (verified.target, verified.release, verified.commit)))
        sys.stdout.write(
            f"{about}: {verified.files} files compared with the manifest, {verified.rebuilt} with the rebuild, "
            f"{len(verified.differences)} differ\n"
        )
        rows: list[dict[str, Cell]] = [
            {"file": each.path, "step": each.step, "why": "; ".join(each.why)} for each in verified.differences
        ]
        if rows:
            terminal.show(rows, ["file", "step", "why"])
    if verified.differences:
        raise DiscoprobeError(f"{target}: {len(verified.differences)} files differ")


@app.command()
def pull(
    repo: Annotated[str, typer.Argument(help="The dataset repository on the Hub, owner/name.")], *,
    pull_request: Annotated[int | None, typer.Option("--pr", min=1, help=
        "The number of a pull request. Default: what is on main.")] = None,
    out: arg.Out = "dist/discoprobe", dry_run: Annotated[bool, typer.Option("--dry-run", help=
        "Show the corrections; write nothing.")] = False,
    json_: arg.Json = False,
) -> None:  # fmt: skip
    """Show which rows others changed or deleted on the Hub since the last release, and take them as marks.

    A build with these marks (`--exclude`) leaves the rows out and names on the card who found them faulty.
    Example: build pull org/discoprobe
    """
    from discoprobe.cards.hub.client import Hub
    from discoprobe.cards.hub.corrections import corrections, marks_of
    from discoprobe.cards.hub.staging import read_remote
    from discoprobe.cards.readers import marks_file, merge
    from discoprobe.loaders.fetch.remote_files import is_url

    if is_url(out):
        raise UsageError(f"--out {out}: marks are kept beside a folder; give a path")
    hub = Hub(repo)
    remote = read_remote(hub)
    found = corrections(hub, remote, pull_request)
    configs = remote.manifest.configs if remote.manifest else {}
    rows: list[dict[str, Cell]] = [
        {
            "config": one.config, "split": one.split, "row": one.row, "by": one.author,
            "change": one.in_words(configs[one.config].labels),
        }
        for one in found
    ]  # fmt: skip
    if json_ or rows:
        terminal.show(rows, ["config", "split", "row", "by", "change"], as_json=json_)
    if not found and not json_:
        sys.stdout.write(f"nobody has corrected rows of {repo} since v{remote.release}\n")
    if not found or dry_run:
        return
    path = marks_file(Path(out))
    added = merge(path, marks_of(found, configs))
    typer.echo(f"{added:,} marks added to {path}; to leave these rows out: build push --exclude {path}", err=json_)


@app.command("card")
def show_card(
    config: arg.ConfigName = "", *, out: arg.Out = "dist/discoprobe", json_: arg.Json = False
) -> None:  # fmt: skip
    """Show the card of a config, or of the release.

    Example: build card dc_es
    """
    from discoprobe.cards.metadata import manifest
    from discoprobe.cards.review.pages import card_for_terminal, read_card
    from discoprobe.remote_folders import local

    release = local(out)
    card = read_card(release, config)
    if json_:
        entry = manifest.read(release).configs.get(config)
        terminal.print_json({"config": config, "card": card, "entry": msgspec.to_builtins(entry)})
    else:
        terminal.show_markdown(card_for_terminal(card))


@app.command()
def review(  # noqa: PLR0913 (one parameter per option)
    *, lang: arg.Lang = None, out: arg.Out = "dist/discoprobe", reader: arg.ReaderName = "",
    reader_kind: arg.ReaderKindOption = "person", corpus: arg.ContextCorpus = None, against: arg.SinceRelease = "",
    marks: arg.MarksOption = None, port: arg.Port = 0, open_: arg.Open = True, json_: arg.Json = False,
) -> None:  # fmt: skip
    """Read rows and cards in the browser: filter rows, mark faulty rows, and label a sample without seeing its labels.

    Marks are written to a file beside the release, such as dist/discoprobe.marks.jsonl. Ctrl-C ends the application and
    adds the results of the readers to the cards. With --json, no browser opens: this prints for each config what there
    is to read, and what readers found so far.

    Example: build review --lang es --reader ana
    """
    from discoprobe.cards.readers import READER_KINDS
    from discoprobe.cards.review.site import Reader
    from discoprobe.loaders.fetch.remote_files import is_url
    from discoprobe.request import language_codes, split_names
    from discoprobe.sources import Contexts

    if reader_kind not in READER_KINDS:
        raise UsageError(f"--reader-kind is '{reader_kind}'; give person or model")
    if is_url(out):
        raise UsageError(f"--out {out}: marks are kept beside a folder; give a path")
    release = Path(out)
    languages, changes = language_codes(split_names(lang)), None
    if marks:
        _add_marks(release, marks, as_json=json_)
    if json_:
        _show_readings(release, languages)
    if marks or json_:
        return
    from discoprobe.cards.review.web_app import server

    if against:
        from discoprobe.cards.hub.staging import compare

        changes = compare(release, against, languages=languages)
    listening, address = server(
        release, port, languages=languages, reader=Reader(reader, cast("ReaderKind", reader_kind)), changes=changes,
        against=against, context=Contexts(corpus) if corpus else None,
    )  # fmt: skip
    typer.echo(address)
    typer.echo("Ctrl-C ends the application and writes what readers found on the cards", err=True)
    if open_:
        typer.launch(address)
    for end in (signal.SIGINT, signal.SIGTERM):  # a shell lets a program in the background ignore Ctrl-C
        signal.signal(end, signal.default_int_handler)
    try:
        listening.serve_forever()
    except KeyboardInterrupt:
        pass
    finally:
        listening.server_close()
    _write_figures(release)


def _show_readings(release: Path, languages: Sequence[str]) -> None:
    """Prints the rows of each config, its verdict and what readers found, as JSON."""
    from discoprobe.cards.readers import marks_file, read_marks
    from discoprobe.cards.release.release_folder import renew_figures
    from discoprobe.cards.release.rows import shown_configs
    from discoprobe.cards.text.verdicts import verdicts

    shown_configs(release, languages)  # an error is shown before anything is written
    renew_figures(release)
    _, configs = shown_configs(release, languages)
    judged = verdicts(configs)
    terminal.print_json({
        "marks": len(read_marks(marks_file(release))),
        "configs": {
            name: {
                "rows": {split: sum(of_label.values()) for split, of_label in entry.counts.items()},
                "advice": judged[name].advice,
                "readers": msgspec.to_builtins(entry.readers),
            }
            for name, entry in sorted(configs.items())
        },
    })  # fmt: skip


def _add_marks(release: Path, files: Sequence[Path], *, as_json: bool) -> None:
    """Adds the marks of files to those of a release, and, unless JSON follows, what readers found to its cards."""
    from discoprobe.cards.readers import marks_file, merge
    from discoprobe.cards.release.rows import checked_marks

    target = marks_file(release)
    added = {file: merge(target, checked_marks(release, file)) for file in files}  # one bad file: none is printed
    for file, number in added.items():
        typer.echo(f"{file}: {number:,} marks added to {target}", err=as_json)
    if not as_json:
        _write_figures(release)


def _write_figures(release: Path) -> None:
    from discoprobe.cards.readers import marks_file
    from discoprobe.cards.release.release_folder import renew_figures

    if marks_file(release).exists():
        typer.echo("writing what readers found on the cards …", err=True)
    for line in renew_figures(release):
        typer.echo(line)


@app.command()
def export(
    release: Annotated[str, typer.Argument(help="A release folder, by path or URL.")],
    out: Annotated[str, typer.Argument(help="A folder that does not exist yet or is empty, by path or URL.")], *,
    form: Annotated[str, typer.Option(
        "--format", "-f",
        help="`senteval`, `xprobe`, `discoeval`, `jsonl`, `blimp`, `lm-eval`, `lm-eval-chat` (prompts for "
        "instruction-tuned models), `lighteval` or `syntaxgym`.")],
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
        files, skipped = write(local(release), folder, form, config or [])
    rows = [{"config": name, "files": ", ".join(paths), "reason": None} for name, paths in files.items()]
    rows += [{"config": name, "files": None, "reason": reason} for name, reason in skipped.items()]
    terminal.show(rows, ["config", "files", "reason"], as_json=json_)
