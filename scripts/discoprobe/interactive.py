"""What notebooks and other programs get in place of a terminal: progress bars, and messages in the words of Python.

The messages of errors name options of the command line (``--min-rows 0``); `in_python` writes them as a caller of
`discoprobe.build` does (``min_rows=0``), so that each message is written once.
"""

from __future__ import annotations

import re
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from discoprobe.loaders.errors import DiscoprobeError
from discoprobe.loaders.process_pool import WORDS, Progress, silent

if TYPE_CHECKING:
    from collections.abc import Iterator

DELAY: Final = 1.0
"""Seconds after which a step has a progress bar."""

_NO_OPTION: Final = re.compile(r"(?<![\w-])--no-([a-z]+)\b")
_OPTION: Final = re.compile(
    r"(?<![\w-])--(?P<name>[a-z][a-z-]*)(?: (?P<number>\d[\d/]*)\b| (?P<assigned>[^\s=,;:]+=\w+))?"
)
"""An option, with its value if this is a number or an assignment: of another word it is not known whether it is one."""
_COMMANDS: Final = {
    "`build tasks`": "`discoprobe.all_tasks()`",
    "`build languages`": "`discoprobe.languages()`",
    "`build run`": "`discoprobe.build`",
    "`build -v run …`": "`missing` of the release",
}
"""Commands that have a function, and what it is called."""


def in_python(message: str) -> str:
    """A message that names options and commands, as one that names arguments and functions."""
    for command, function in _COMMANDS.items():
        message = message.replace(command, function)
    return _OPTION.sub(_as_argument, _NO_OPTION.sub(r"\1=False", message))


def _as_argument(option: re.Match[str]) -> str:
    name = option["name"].replace("-", "_")
    if option["assigned"]:
        return f"{name}='{option['assigned']}'"
    number = option["number"]
    return name if number is None else f"{name}={number if number.isdecimal() else repr(number)}"


@contextmanager
def python_messages() -> Iterator[None]:
    """Inside, the message of an error is in the words of Python."""
    try:
        yield
    except DiscoprobeError as error:
        error.args = (in_python(str(error)), *error.args[1:])
        raise


@contextmanager
def progress_bars(*, shown: bool) -> Iterator[Progress]:
    """What reports progress by bars, in notebooks as widgets, else on stderr; they are removed at the end.

    Messages of errors are those of `python_messages`.
    """
    with python_messages():
        if not shown:
            yield silent
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # where a notebook has no widgets, bars are text
            from tqdm.auto import tqdm  # noqa: PLC0415 (imports the widgets of a notebook)

        bars: dict[str, Any] = {}

        def report(step: str, done: int, total: int) -> None:
            if step == WORDS:
                return
            if step not in bars:
                bars[step] = tqdm(desc=step, total=total, delay=DELAY, leave=False)
            bars[step].total = total
            bars[step].update(done - bars[step].n)

        try:
            yield report
        finally:
            for bar in bars.values():
                bar.close()
