"""What is asked for on the command line, as values that the rest of the package takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discoprobe.loaders.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from discoprobe.loaders.raw.prepare import How
    from discoprobe.request import OnError, Request


def how_of(*, segment: bool, stanza_dir: Path | None) -> How:
    """How raw text is to be annotated, read with the defaults."""
    from discoprobe.loaders.raw.prepare import How  # noqa: PLC0415

    return How(segment=segment, stanza_dir=stanza_dir)


def request_of(  # noqa: PLR0913 (one parameter per option)
    lang: str, task: str, corpus: list[str] | None, *, size: str | None = None, seed: int = 13, jobs: int = 1,
    on_error: str = "stop", match: bool = True, values: list[str] | None = None, raw: How | None = None,
) -> Request:  # fmt: skip
    """What is to be built.

    Raises:
        UsageError: an option has a value that it cannot have, or no task is named.
    """
    from discoprobe.builders.settings import Settings, read_sizes, with_values  # noqa: PLC0415
    from discoprobe.request import Request  # noqa: PLC0415

    if not split_names(task):
        raise UsageError("--task names no task; `build tasks` lists them")
    if on_error not in {"stop", "skip"}:
        raise UsageError(f"--on-error is '{on_error}'; give stop or skip")
    how: OnError = "skip" if on_error == "skip" else "stop"
    settings = Settings(seed=seed, match=match, sizes=read_sizes(size) if size else Settings().sizes)
    settings = with_values(settings, values or [])
    return Request(split_names(lang), tuple(corpus or ()), split_names(task), settings, jobs, how, raw=raw)


def split_names(names: str) -> tuple[str, ...]:
    """Names that were written with commas between them."""
    return tuple(name.strip() for name in names.split(",") if name.strip())
