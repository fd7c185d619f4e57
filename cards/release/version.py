"""Release numbers, which say whether scores are comparable, and the changelog.

A removed, relabelled or edited row and a changed definition are major: scores before and after are not comparable. New
configs or rows are minor, everything else (cards, plots, versions of libraries that changed no row) is a patch
(https://semver.org, applied to data).
"""

import datetime as dt
import enum
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from discoprobe.cards.release.diff import Changes, ConfigChange
from discoprobe.cards.text import escape
from discoprobe.loaders.errors import DiscoprobeError, UsageError

TITLE = "# Changelog\n"


class Level(enum.IntEnum):
    """How much a release changes."""

    NONE = 0
    PATCH = 1
    MINOR = 2
    MAJOR = 3


class Version(NamedTuple):
    """A release number."""

    major: int
    minor: int
    patch: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"

    def next(self, level: Level) -> "Version":
        """The number after this one."""
        if level is Level.MAJOR:
            return Version(self.major + 1, 0, 0)
        if level is Level.MINOR:
            return Version(self.major, self.minor + 1, 0)
        return Version(self.major, self.minor, self.patch + 1)


FIRST = Version(1, 0, 0)


def parse(text: str) -> Version:
    """The number that ``1.2.0`` or ``v1.2.0`` stands for.

    Raises:
        UsageError: for anything else.
    """
    match = re.fullmatch(r"v?(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)", text)
    if not match:
        raise UsageError(f"release '{text}' is not a number of three parts, such as 1.2.0")
    return Version(*map(int, match.groups()))


def latest(tags: Iterable[str]) -> Version | None:
    """The greatest release among tags; None if none is a release."""
    return max((parse(tag) for tag in tags if re.fullmatch(r"v\d+\.\d+\.\d+", tag)), default=None)


def level(changes: Changes) -> Level:
    """How much changed."""
    if changes.removed or any(_breaks(change) for change in changes.changed):
        return Level.MAJOR
    if changes.added or any(change.total("added") for change in changes.changed):
        return Level.MINOR
    return Level.PATCH if changes else Level.NONE


def _breaks(change: ConfigChange) -> bool:
    return bool(change.definition or any(change.total(kind) for kind in ("removed", "relabelled", "edited")))


def propose(last: Version | None, changes: Changes) -> Version:
    """The number that the changes ask for."""
    return last.next(level(changes)) if last else FIRST


def check(asked: Version, last: Version | None, changes: Changes) -> Version:
    """``asked``, if it can be the number of a release with these changes.

    Raises:
        DiscoprobeError: if it is not above the last release, or promises more stability than the changes keep.
    """
    least = propose(last, changes)
    if last and asked <= last:
        raise DiscoprobeError(
            f"release {asked} is not above {last}, the last one, and a published release never changes; give --release"
            f" {least} or leave it out"
        )
    if last and _step(last, asked) < level(changes):
        why = f"the changes are {level(changes).name.lower()}: {'; '.join(reasons(changes)) or 'see build diff'}"
        raise DiscoprobeError(
            f"release {asked} is too small a step after {last}: {why}; give --release {least} or leave it out"
        )
    return asked


def _step(last: Version, asked: Version) -> Level:
    if asked.major > last.major:
        return Level.MAJOR
    return Level.MINOR if asked.minor > last.minor else Level.PATCH


def reasons(changes: Changes) -> list[str]:
    """The changes that make a release more than a patch, in words, a line each: worst first."""
    lines = [f"{name} removed ({rows} rows)" for name, rows in changes.removed.items()]
    lines += [f"{change.name}: {', '.join(_parts(change))}" for change in changes.changed if _breaks(change)]
    lines += [f"{name} new ({rows} rows)" for name, rows in changes.added.items()]
    rest = [change for change in changes.changed if not _breaks(change) and change.total("added")]
    return [*lines, *(f"{change.name}: {', '.join(_parts(change))}" for change in rest)]


def _parts(change: ConfigChange) -> Iterator[str]:
    yield from change.definition
    for split, rows in change.splits.items():
        counts = {kind: getattr(rows, kind) for kind in ("added", "removed", "relabelled", "edited")}
        yield f"{split} " + ", ".join(f"{n} rows {kind}" for kind, n in counts.items() if n)


def section(version: Version, changes: Changes, day: dt.date) -> str:
    """The release's section of the changelog."""
    blocks = {
        "Removed": [f"`{name}` ({rows} rows)" for name, rows in changes.removed.items()],
        "Added": [f"`{name}` ({rows} rows)" for name, rows in changes.added.items()],
        "Changed": [_changed(change) for change in changes.changed],
        "Sources": [escape.line(line) for line in changes.sources],
        "Built with": [escape.line(line) for line in changes.software],
    }
    parts = [f"### {title}\n\n" + "".join(f"- {line}\n" for line in lines) for title, lines in blocks.items() if lines]
    summary = _summary(changes)
    return "\n".join([f"## {version} ({day.isoformat()})\n", *([summary] if summary else []), *parts])


def _summary(changes: Changes) -> str:
    if changes.first:
        return f"First release, of {len(changes.added)} config{'s' * (len(changes.added) != 1)}.\n"
    return {
        Level.MAJOR: "Where rows changed, scores are not comparable with the release before.\n",
        Level.MINOR: "",
        Level.PATCH: "No row changed.\n",
        Level.NONE: "",
    }[level(changes)]


def _changed(change: ConfigChange) -> str:
    words = [*_parts(change), *(f"setting {line}" for line in change.settings)]
    words += ["wording of the definition"] * change.wording
    return f"`{change.name}`: {'; '.join(escape.line(word) for word in words)}"


def sections(changelog: str) -> list[str]:
    """The sections of a changelog, newest first, each with its heading."""
    return [f"## {part.strip()}\n" for part in re.split(r"^## ", changelog, flags=re.MULTILINE)[1:]]


def day(text: str) -> str:
    """The date in the heading of a section, ISO 8601; empty if it has none."""
    match = re.match(r"## \S+ \((\d{4}-\d\d-\d\d)\)", text)
    return match[1] if match else ""


def with_section(changelog: str, text: str) -> str:
    """The changelog with a new section on top."""
    former = changelog.removeprefix(TITLE).strip("\n")
    return f"{TITLE}\n{text.strip()}\n" + (f"\n{former}\n" if former else "")
