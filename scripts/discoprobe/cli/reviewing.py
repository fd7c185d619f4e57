"""The actions of `build review`, with their messages: start the application, write pages, or add marks."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, cast

import typer

from discoprobe.loaders.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from discoprobe.cards.readers.marks import ReaderKind
    from discoprobe.cards.release.diff import Changes


def serve(  # noqa: PLR0913 (what a server is started with)
    release: Path, languages: tuple[str, ...], who: tuple[str, str], against: str, corpora: Sequence[str], *, port: int,
    open_: bool,
) -> None:  # fmt: skip
    """Serves the review application until Ctrl-C or SIGTERM, then adds the results of the readers to the cards."""
    try:
        from discoprobe.cards.review.site import Reader, ReviewOptions  # noqa: PLC0415
        from discoprobe.cards.review.web_app import server  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if error.name not in {"flask", "werkzeug"}:
            raise
        raise UnsupportedError(
            "the review application needs Flask: pip install 'discoprobe[review]'; --static writes pages without it"
        ) from None
    from discoprobe.contexts import Contexts  # noqa: PLC0415

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
    from discoprobe.cards.review.pages import write_review  # noqa: PLC0415

    index = write_review(release, pages, _changes(release, against, languages), languages=languages)
    typer.echo(index)
    if open_:
        typer.launch(index.absolute().as_uri())


def add_marks(release: Path, files: Sequence[Path]) -> None:
    """Adds the marks of files to those of a release, and the results of the readers to its cards."""
    from discoprobe.cards.readers.marks import marks_file, merge  # noqa: PLC0415
    from discoprobe.cards.release.read_rows import checked_marks  # noqa: PLC0415

    target = marks_file(release)
    added = {file: merge(target, checked_marks(release, file)) for file in files}
    for file, number in added.items():
        typer.echo(f"{file}: {number:,} marks added to {target}")
    _write_figures(release)


def _write_figures(release: Path) -> None:
    from discoprobe.cards.readers.marks import marks_file  # noqa: PLC0415
    from discoprobe.cards.release.release_folder import renew_figures  # noqa: PLC0415

    if marks_file(release).exists():
        typer.echo("writing what readers found on the cards …", err=True)
    for line in renew_figures(release):
        typer.echo(line)


def _changes(release: Path, against: str, languages: Sequence[str]) -> Changes | None:
    if not against:
        return None
    from discoprobe.cards.hub.staging import compare  # noqa: PLC0415

    return compare(release, against, languages=languages)
