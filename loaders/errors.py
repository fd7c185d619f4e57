"""The errors that discoprobe raises on purpose, as one tree.

::

    DiscoprobeError                  exit status 1: the user's input
    ├── CorpusFormatError            a malformed corpus file: path, line, sentence
    ├── UnknownNameError             an unknown language, task, corpus or config; names similar ones
    ├── UnsupportedError             the corpus lacks what was asked for
    ├── UnreadableDataError          a dataset for `build audit` that cannot be read
    ├── ModelError                   a model that `build probe` cannot load or use
    ├── UsageError                   exit status 2: contradictory options
    ├── AuditFailedError             exit status 3: a config has an error-level finding
    └── RemoteError                  exit status 4: the network or the Hub
        ├── IntegrityError           a file without its pinned size or hash
        ├── MissingFileError         a file that a host or mirror does not have
        ├── HubError                 a failed request to the Hub
        └── ConcurrentCommitError    somebody else's commit during a push

A message is one line: what is wrong, where, and what to do.
"""

import difflib
from collections.abc import Iterable
from typing import Literal, NamedTuple

OnError = Literal["stop", "skip"]
"""What a reader does with malformed input: raise an error, or leave it out and count it."""


class DiscoprobeError(Exception):
    """Base of every error that discoprobe raises on purpose."""

    exit_status = 1


class CorpusFormatError(DiscoprobeError):
    """A corpus file is malformed.

    The message begins with the place, ``path``, ``line`` (from 1) and ``sent_id``, as in
    ``es_x.conllu:1042 (sent_id es-12): HEAD 31 points outside the sentence (28 words)``.
    """

    def __init__(self, problem: str, *, path: str, line: int | None = None, sent_id: str | None = None) -> None:
        self.problem, self.path, self.line, self.sent_id = problem, path, line, sent_id
        place = path if line is None else f"{path}:{line}"
        if sent_id is not None:
            place += f" (sent_id {sent_id})"
        super().__init__(f"{place}: {problem}")


class BadLine(NamedTuple):
    """What is wrong in a line of a file: kind, line (from 1), message, and the sentence, where there is one."""

    reason: str
    line: int
    message: str
    sent_id: str | None = None


class UnknownNameError(DiscoprobeError):
    """A name that is not in a closed list; the message names similar ones, or all if none is similar and they are few.

    Args:
        kind: what the name should name, such as ``language``.
        name: the unknown name.
        known: all valid names.
        remedy: the end of the message; if it is given, the message never lists all names.
    """

    _FEW = 12

    def __init__(self, kind: str, name: str, known: Iterable[str], *, remedy: str = "") -> None:
        names = sorted(set(known))
        near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
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


class AuditFailedError(DiscoprobeError):
    """A config has an error-level finding."""

    exit_status = 3


class RemoteError(DiscoprobeError):
    """The network, a download host or the Hub did not deliver what was requested."""

    exit_status = 4


class IntegrityError(RemoteError):
    """A file does not have its pinned size or hash; it is not used."""


def first_line(error: BaseException) -> str:
    """The class of an error that a library raised, and the first line of its message."""
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
