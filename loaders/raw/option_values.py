"""Options of reading raw text as a user writes them."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final

from discoprobe.loaders.errors import UnknownNameError, UsageError
from discoprobe.loaders.raw.options import LINES, ReadOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


def _yes(value: str) -> bool:
    if value not in {"yes", "no"}:
        raise ValueError(value)
    return value == "yes"


def _one_of(names: Sequence[str]) -> Callable[[str], str]:
    def read(value: str) -> str:
        if value not in names:
            raise ValueError(value)
        return value

    return read


def _share(value: str) -> float:
    share = float(value)
    if not 0 <= share <= 1:
        raise ValueError(value)
    return share


def _count(value: str) -> int:
    number = int(value)
    if number < 0:
        raise ValueError(value)
    return number


_READERS: Final[dict[str, Callable[[str], object]]] = {
    **dict.fromkeys(("text", "id", "genre", "sentences", "encoding", "split", "config", "revision"), str),
    **dict.fromkeys(("min_words", "max_characters", "min_document_words", "boilerplate"), _count),
    **dict.fromkeys(("script_share", "language_share"), _share),
    "lines": _one_of(LINES),
    "on_error": _one_of(("stop", "skip")),
    "duplicates": _yes,
}


def read_options(assignments: Sequence[str]) -> ReadOptions:
    """Options changed by what a user writes: ``min_words=3``, ``duplicates=no``, ``lines=sentences``.

    Raises:
        UsageError: an assignment has no value or one that cannot be read.
        UnknownNameError: there is no such option.
    """
    changes: dict[str, object] = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if name not in _READERS:
            raise UnknownNameError("option of reading", name, _READERS)
        if not equals:
            raise UsageError(f"option '{name}' has no value; write {name}=VALUE")
        try:
            changes[name] = _READERS[name](value)
        except ValueError:
            raise UsageError(f"option '{assignment}' cannot be read; see `build annotate --help`") from None
    return dataclasses.replace(ReadOptions(), **changes)  # type: ignore[arg-type]


def assignments(options: Mapping[str, object]) -> tuple[str, ...]:
    """What a user writes for options, by name, that are not the defaults: what :func:`read_options` reads."""
    default = dataclasses.asdict(ReadOptions())
    changed = {name: value for name, value in options.items() if name in _READERS and value != default[name]}
    return tuple(f"{name}={_written(value)}" for name, value in changed.items())


def _written(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
