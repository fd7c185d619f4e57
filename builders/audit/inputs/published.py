"""The columns and lines of published datasets: the records of ``published.toml``.

A record of columns says what each column of a table holds (`Roles`), one of lines how a line without header is divided
(`Lines`). A format that is like others needs a record and no code.
"""

import importlib.resources
from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from discoprobe.loaders.files import parse_toml


class Roles(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which columns of a table hold what.

    Attributes:
        name: the published dataset, or those that share the columns; empty for a table of another kind.
        texts: columns of text, in order; for choices the context.
        labels: columns that may hold the label; the first that is there does.
        choices: columns of choices, or one with lists.
        choice_names: column with the lists of names that the label is one of (``A``, ``B`` …).
        needs: further columns that the dataset has.
        exclude: labels that are no classes.
        pair: column of pairs.
        group: column of what rows share, such as a document.
        notes: how columns were found, for people.
    """

    name: str
    texts: tuple[str, ...]
    labels: tuple[str, ...]
    choices: tuple[str, ...] = ()
    choice_names: str = ""
    needs: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    pair: str | None = None
    group: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The column of the label."""
        return self.labels[0]

    @property
    def required(self) -> set[str]:
        """The columns that a table must have beside a label."""
        return {*self.texts, *self.choices, *self.needs, *([self.choice_names] if self.choice_names else [])}

    def written_as(self, columns: Sequence[str]) -> "Roles":
        """The roles with the names of columns as a table writes them, which may have other capitals."""
        written = {column.lower(): column for column in columns} | {column: column for column in columns}

        def named(names: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(written.get(name, written.get(name.lower(), name)) for name in names)

        (choice_names,) = named((self.choice_names,))
        return replace(
            self, texts=named(self.texts), labels=named(self.labels), choices=named(self.choices),
            choice_names=choice_names, needs=named(self.needs),
        )  # fmt: skip


class Lines(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How lines without header are read.

    Attributes:
        title: what reports call the format.
        fields: what the fields of a line are, for reports.
        expected: the same for messages.
        pattern: what a line has to match, its fields joined by tabs. Its groups are ``split``, ``label`` and ``text``,
            or ``texts``, which tabs divide.
        once: what has to be in a line exactly once.
    """

    title: str
    fields: str
    expected: str
    pattern: str
    once: str = ""


_RECORDS: Final = parse_toml(
    importlib.resources.files(__package__).joinpath("published.toml").read_text("utf-8"), "published.toml"
)
COLUMNS: Final = msgspec.convert(_RECORDS["columns"], tuple[Roles, ...])
"""The first whose columns are there; those with more columns come before those with fewer."""
LINES: Final = msgspec.convert(_RECORDS["lines"], dict[str, Lines])
"""Format name → how it is read."""
PAIRS: Final = msgspec.convert(_RECORDS["pairs"], tuple[tuple[str, str], ...])
"""Columns of the acceptable and of the other sentence of minimal pairs."""
