"""The commands for a release that is there: `push`, `diff`, `verify`, `card`, `review`, `export`."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Annotated

import typer

from discoprobe.cli_options import (
    Against,
    AllowLicence,
    Build,
    ConfigName,
    CorpusOption,
    CreatePr,
    DryRun,
    Jobs,
    Json,
    Lang,
    Match,
    OnErrorOption,
    Open,
    Out,
    Pages,
    Rebuild,
    ReleaseNumber,
    Repo,
    Seed,
    Segment,
    Set,
    Size,
    StanzaDir,
    TaskOption,
    Yes,
)
from discoprobe.cli_request import how_of, request_of, split_names
from discoprobe.loaders.errors import DiscoprobeError

app = typer.Typer()


@app.command()
def push(  # noqa: PLR0913 (one parameter per option)
    *, lang: Lang = "", repo: Repo = "org/discoprobe", release: ReleaseNumber = "", task: TaskOption = "all",
    corpus: CorpusOption = None, out: Out = Path("dist/discoprobe"), size: Size = None, seed: Seed = 13, jobs: Jobs = 1,
    on_error: OnErrorOption = "stop", match: Match = True, set_: Set = None, segment: Segment = False,
    stanza_dir: StanzaDir = None, build_: Build = True, allow_licence: AllowLicence = None, dry_run: DryRun = False,
    create_pr: CreatePr = False, yes: Yes = False, json_: Json = False,
) -> None:  # fmt: skip
    """Build what is asked for, audit it, and publish it on the Hub in one commit with a tag.

    Example: build push --lang de --repo org/discoprobe --release 1.2.0
    """
    from discoprobe import pipeline, terminal  # noqa: PLC0415
    from discoprobe.cards.push import Options  # noqa: PLC0415
    from discoprobe.cards.push import push as publish  # noqa: PLC0415
    from discoprobe.request import codes_of  # noqa: PLC0415

    request = request_of(
        lang, task, corpus, size=size, seed=seed, jobs=jobs, on_error=on_error, match=match, values=set_,
        raw=how_of(segment=segment, stanza_dir=stanza_dir),
    )  # fmt: skip
    codes = codes_of(request)
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
    from discoprobe import terminal  # noqa: PLC0415
    from discoprobe.cards.remote import compare  # noqa: PLC0415
    from discoprobe.request import codes_of  # noqa: PLC0415

    changes = compare(out, against, languages=codes_of(request_of(lang, "all", None)))
    terminal.show_changes(changes, as_json=json_)


@app.command()
def verify(  # noqa: PLR0913 (one parameter per option)
    target: Annotated[str, typer.Argument(help="A release folder, or owner/name@v1.2.0 on the Hub.")], *,
    corpus: CorpusOption = None, stanza_dir: StanzaDir = None, rebuild: Rebuild = True, jobs: Jobs = 1,
    json_: Json = False,
) -> None:  # fmt: skip
    """Compare a release with its manifest, and with what its sources give when they are built again.

    Example: build verify org/discoprobe@v1.2.0
    """
    from discoprobe import terminal  # noqa: PLC0415
    from discoprobe.cards.verify import verify as check  # noqa: PLC0415
    from discoprobe.rebuilding import rebuilder  # noqa: PLC0415

    again = rebuilder(tuple(corpus or ()), jobs, stanza_dir) if rebuild else None
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

    index = write_review(out, pages, languages=[treebanks.language(name).code for name in split_names(lang)])
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
