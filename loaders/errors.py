"""The errors that discoprobe raises on purpose, as one tree.

::

    DiscoprobeError                  exit status 1: the user's input
    ├── CorpusFormatError            a malformed corpus file: path, line, sentence
    ├── UnsupportedError             the corpus lacks what was asked for
    ├── UnreadableDataError          a dataset for `build audit` that cannot be read
    ├── UsageError                   exit status 2: contradictory options
    ├── UnknownNameError             exit status 2: an unknown language, task, corpus or config; names similar ones
    ├── OutcomeError                 exit status 3, 5 or 6: what a command made or measured is not what it should be
    └── RemoteError                  exit status 4: the network, a host or the Hub
        ├── IntegrityError           a file without its pinned size or hash
        └── BrokenReleaseError       a release on the Hub that does not hold what its manifest says

A message is one line: what is wrong, where, and what to do. A `RetryPolicy` says how often to try again what a host may
answer later.
"""

import difflib
import logging
import re
import time
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final, Literal

import msgspec

_log = logging.getLogger(__name__)

OnError = Literal["stop", "skip"]
"""What a reader does with malformed input: raise an error, or leave it out and count it."""


class DiscoprobeError(Exception):
    """Base of every error that discoprobe raises on purpose."""

    exit_status = 1


class CorpusFormatError(DiscoprobeError):
    """What is wrong in a corpus file: raised, or collected with others of the file and counted by ``reason``.

    The message begins with the place, ``path``, ``line`` (from 1; 0 if it is not known) and ``sent_id``, as in
    ``es_x.conllu:1042 (sent_id es-12): HEAD 31 points outside the sentence (28 words)``. A reader of a format does not
    know the path.
    """

    def __init__(
        self, problem: str, *, path: str = "", line: int = 0, sent_id: str | None = None, reason: str = ""
    ) -> None:
        self.problem, self.path, self.line, self.sent_id, self.reason = problem, path, line, sent_id, reason
        place = f"{path}:{line}" if line else path
        if sent_id is not None:
            place += f" (sent_id {sent_id})"
        super().__init__(f"{place}: {problem}" if path else problem)


class UnknownNameError(DiscoprobeError):
    """A name that is not in a closed list; the message names similar ones, or all if none is similar and they are few.

    Args:
        kind: what the name should name, such as ``language``.
        name: the unknown name.
        known: all valid names.
        remedy: the end of the message; if it is given, the message never lists all names.
    """

    exit_status = 2
    _FEW = 12

    def __init__(self, kind: str, name: str, known: Iterable[str], *, remedy: str = "") -> None:
        names = sorted(set(known))
        lowered = {each.lower(): each for each in names}
        near = [lowered[each] for each in difflib.get_close_matches(name.lower(), lowered, n=3, cutoff=0.5)]
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        if names and not near and not remedy and len(names) <= self._FEW:
            hint = f"; give {' or '.join([part for part in (', '.join(names[:-1]), names[-1]) if part])}"
        after = f" {remedy}" if remedy else ""
        super().__init__(f"unknown {kind} '{name}'{hint}{after}")


class UnsupportedError(DiscoprobeError):
    """The corpus does not have what was asked for, or too little of it."""


class UsageError(DiscoprobeError):
    """Options that contradict each other or have no valid value."""

    exit_status = 2


AUDIT_FAILED: Final = 3
"""Exit status: a config has an error-level finding that is more than minor, or no audit."""
NOTHING_BUILT: Final = 5
"""Exit status: the corpora support none of the tasks, and no folder is written."""
UNMEASURED: Final = 6
"""Exit status: the audit could measure nothing, because the rows have one class or are too few."""


class OutcomeError(DiscoprobeError):
    """What a command made or measured is not what it should be; the exit status says in which way."""

    def __init__(self, message: str, exit_status: int) -> None:
        super().__init__(message)
        self.exit_status = exit_status


class RemoteError(DiscoprobeError):
    """The network, a download host or the Hub did not deliver what was requested.

    Attributes:
        status: that of HTTP; 404 also for a file that is not in a folder; None where there was no answer.
        transient: whether it may go well the next time.
        wait: seconds that the host asked to wait.
    """

    exit_status = 4

    def __init__(
        self, message: str, status: int | None = None, *, transient: bool = False, wait: float | None = None
    ) -> None:
        super().__init__(message)
        self.status, self.transient, self.wait = status, transient, wait


class IntegrityError(RemoteError):
    """A file does not have its pinned size or hash; it is not used."""


def first_line(error: BaseException) -> str:
    """The class of an error that a library raised, and the first line of its message."""
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"


class RetryPolicy(msgspec.Struct, frozen=True):
    """How often and how long to try.

    Attributes:
        attempts: tries of one step.
        first_wait: seconds before the second try; each further wait is twice as long.
        longest_wait: the most seconds that such a wait grows to.
        longest_asked: the most seconds to wait when a host asks for a wait; five minutes are the window of the Hub's
            rate limit.
        timeout: seconds without an answer; the Hub gives up a commit after 60.
    """

    attempts: int = 5
    first_wait: float = 1.0
    longest_wait: float = 60.0
    longest_asked: float = 300.0
    timeout: float = 120.0

    def wait(self, attempt: int, asked: float | None) -> None:
        """Sleep after the failed try number ``attempt`` (from 0), as long as the host asked, where it did."""
        grown = min(self.first_wait * 2**attempt, self.longest_wait)
        seconds = grown if asked is None else min(asked, self.longest_asked)
        _log.info("waiting %.1f s before another try", seconds)
        time.sleep(seconds)


def asked_wait(headers: Mapping[str, str]) -> float | None:
    """The seconds that a host asks to wait; None where it asks for nothing.

    ``Retry-After`` is a number of seconds or a date; a used-up rate limit of the Hub is ``RateLimit: "api";r=0;t=N``.
    """
    after = headers.get("Retry-After", "")
    if after.isdecimal():
        return float(after)
    try:
        return max(0.0, (parsedate_to_datetime(after) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):  # no date, or a date without a time zone
        limit = re.search(r"r=0;\s*t=(\d+)", headers.get("RateLimit", ""))
        return float(limit[1]) if limit else None
