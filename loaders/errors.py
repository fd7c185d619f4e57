"""What can go wrong, as one tree.

::

    DiscoprobeError                 exit status 1: the user's input
    ├── CorpusFormatError           a malformed corpus file: path, line, sentence
    ├── UnknownNameError            no such language, task, corpus, config (did you mean …)
    ├── UnsupportedError            the corpus lacks what was asked for
    ├── UsageError                  exit status 2: options that contradict each other
    ├── AuditFailedError                 exit status 3: a config has an error-level finding
    └── RemoteError                 exit status 4: the network or the Hub
        └── IntegrityError          a file does not match its pinned size or hash

Every message is one line that says what is wrong, where, and what to do.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class DiscoprobeError(Exception):
    """Base of every error that discoprobe raises on purpose."""

    exit_status = 1


class CorpusFormatError(DiscoprobeError):
    """A corpus file is malformed.

    ``path``, ``line`` (1-based) and ``sent_id`` say where; the message begins with them, as in
    ``es_x.conllu:1042 (sent_id es-12): HEAD 31 points outside the sentence (28 words)``.
    """

    def __init__(self, problem: str, *, path: str, line: int | None = None, sent_id: str | None = None) -> None:
        self.problem, self.path, self.line, self.sent_id = problem, path, line, sent_id
        place = path if line is None else f"{path}:{line}"
        if sent_id is not None:
            place += f" (sent_id {sent_id})"
        super().__init__(f"{place}: {problem}")


class UnknownNameError(DiscoprobeError):
    """A name that is not in a closed list; the message names the near ones."""

    def __init__(self, kind: str, name: str, known: Iterable[str], *, remedy: str = "") -> None:
        names = sorted(set(known))
        near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        after = f" {remedy}" if remedy else ""
        super().__init__(f"unknown {kind} '{name}'{hint}{after}")


class UnsupportedError(DiscoprobeError):
    """The corpus does not carry what was asked for, or too little of it."""


class UsageError(DiscoprobeError):
    """Options that contradict each other or cannot be read."""

    exit_status = 2


class AuditFailedError(DiscoprobeError):
    """A config has an error-level finding."""

    exit_status = 3


class RemoteError(DiscoprobeError):
    """The network, a download host or the Hub did not give what was asked for."""

    exit_status = 4


class IntegrityError(RemoteError):
    """A file does not match the size or hash it is pinned to; it is never used."""
