"""What to build."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from discoprobe.builders.settings import Settings
from discoprobe.loaders import treebanks

if TYPE_CHECKING:
    from discoprobe.loaders.pinned import TextCorpus
    from discoprobe.loaders.raw.prepare import How

SAMPLE = "sample"
ALL = "all"
OnError = Literal["stop", "skip"]


Progress = Callable[[str, int, int], None]
"""Hears what is being done, how many steps of it are done, and of how many; the command line draws it."""


def silent(_doing: str, _done: int, _total: int) -> None:
    """Says nothing."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to build.

    Attributes:
        languages: codes or names; empty means all that the corpora hold.
        corpora: ``sample``, names of the catalogue, files or folders of CoNLL-U or of raw text, which is annotated;
            empty means the catalogue's of the languages (see `corpora_of`).
        tasks: names of tasks or families.
        settings: seed, sizes, filters.
        jobs: processes.
        on_error: what to do with a malformed sentence.
        audit: measure every config; without it nothing is known of shortcuts.
        keep_failed: emit configs that fail the audit too.
        only_decided: leave out configs that have too few rows for the audit to decide on every check.
        raw: how raw text is read and annotated; None for the defaults.
        pinned: corpora at commits of their own, in place of the catalogue's of the same names.
    """

    languages: tuple[str, ...] = ()
    corpora: tuple[str, ...] = ()
    tasks: tuple[str, ...] = (ALL,)
    settings: Settings = field(default_factory=Settings)
    jobs: int = 1
    on_error: OnError = "stop"
    audit: bool = True
    keep_failed: bool = False
    only_decided: bool = False
    raw: How | None = None
    pinned: tuple[treebanks.Treebank | TextCorpus, ...] = ()


def codes_of(request: Request) -> tuple[str, ...]:
    """The codes of the languages that a request names; none for all."""
    if request.languages in {(), (ALL,)}:
        return ()
    return tuple(treebanks.language(name).code for name in request.languages)
