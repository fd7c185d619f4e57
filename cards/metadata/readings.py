"""What was read of the tasks' rows while the tasks were made: ``readings.toml``.

These rows are those of other builds. What readers found in the rows of a release itself is counted from its marks
(`discoprobe.cards.readers`).
"""

import datetime as dt
import functools
import importlib.resources
import tomllib
from typing import Literal

import msgspec

from discoprobe.builders.audit.intervals import exact
from discoprobe.cards.readers import ReaderKind


class Round(msgspec.Struct, frozen=True):
    """Rows that were read in one way.

    ``label`` says whether the reader saw it, and ``what`` which rows were read, or which question was answered.
    """

    first: dt.date
    last: dt.date
    reader: ReaderKind
    label: Literal["hidden", "shown", "not noted"]
    what: str

    @property
    def days(self) -> str:
        """From the first to the last day, ISO 8601."""
        return f"{self.first}" if self.first == self.last else f"{self.first} to {self.last}"


class ReadRows(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How many rows were read in a round, of which ``agreed`` are right as far as the reader could see.

    Of several ``tasks`` and ``langs`` the rows were counted together; there are no ``langs`` if they were not written
    down. ``corpus`` and ``rows`` say which rows they are, where it is known. ``earlier`` rows are of a construction
    that was changed afterwards. ``wrong`` are the rows whose fault is certain: the label, the passage, an edit that is
    acceptable, a pair that is rejected. The others were not decided. Both are None if they were not counted.
    """

    round: str
    tasks: list[str]
    langs: list[str]
    read: int
    agreed: int | None = None
    wrong: int | None = None
    corpus: str = ""
    rows: str = ""
    earlier: bool = False

    @property
    def about(self) -> str:
        """Which rows these are, in words; empty if it is not known."""
        return "; ".join(filter(None, (self.corpus, self.rows, "earlier construction" if self.earlier else "")))

    def together(self, task: str, lang: str) -> str:
        """The other tasks and languages that were counted with these, as Markdown; empty if there are none."""
        names = [f"`{name}`" for name in self.tasks if name != task] + [code for code in self.langs if code != lang]
        return f"together with {', '.join(names)}" if names else ""

    @property
    def interval(self) -> tuple[float, float] | None:
        """The exact 95 % interval of the share of ``agreed``; None if it was not counted."""
        return None if self.agreed is None else exact(self.agreed, self.read)


class Readings(msgspec.Struct, frozen=True):
    """All rounds by name, and what was read in them."""

    rounds: dict[str, Round]
    readings: list[ReadRows]

    def of(self, task: str, lang: str) -> list[ReadRows]:
        """The readings that have rows of a task in a language, in the order of the file."""
        return [reading for reading in self.readings if task in reading.tasks and lang in reading.langs]


@functools.cache
def recorded() -> Readings:
    """What the file has."""
    data = importlib.resources.files("discoprobe.cards.metadata").joinpath("readings.toml").read_bytes()
    return msgspec.convert(tomllib.loads(data.decode()), Readings)
