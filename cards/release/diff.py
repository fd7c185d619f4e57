"""What changed between two releases: configs, rows, labels, definitions, settings, sources.

Release numbers, which say whether scores are comparable, and the changelog.

A removed, relabelled or edited row and a changed definition are major: scores before and after are not comparable. New
configs or rows are minor, everything else (cards, plots, versions of libraries that changed no row) is a patch
(https://semver.org, applied to data).
"""

import dataclasses
import datetime as dt
import enum
import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import pyarrow as pa

from discoprobe.cards.metadata.manifest import ConfigEntry, Manifest, SourceEntry, versions
from discoprobe.cards.metadata.yaml_header import n_rows
from discoprobe.cards.release import rows as rows_module
from discoprobe.cards.text import render
from discoprobe.loaders.errors import DiscoprobeError, UsageError

SHOWN = 3
"""Row ids that a report names per kind of change."""

Rows: TypeAlias = dict[str, tuple[str | int, dict[str, Any]]]


class Side(NamedTuple):
    """One of two releases: its manifest, and what gives the rows of a config's split, None if there is no such split.

    ``table`` is called only for splits whose rows differ.
    """

    manifest: Manifest
    table: Callable[[str, str], pa.Table | None]


def in_folder(path: Path, manifest: Manifest) -> Side:
    """A release folder with a manifest: its own, or the one that it will have after a push."""
    return Side(manifest, functools.partial(_read_table, path))


def _read_table(folder: Path, config: str, split: str) -> pa.Table | None:
    import pyarrow.parquet as pq  # noqa: PLC0415

    file = folder / config / rows_module.file_name(split)
    with rows_module.reading(file):
        return pq.read_table(file) if file.exists() else None


@dataclass(frozen=True, slots=True)
class SplitChange:
    """Rows by what happened to them, counted by id; ``ids`` names the first of each kind.

    ``edited`` rows keep id and label, and differ in another column.
    """

    added: int = 0
    removed: int = 0
    relabelled: int = 0
    edited: int = 0
    ids: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.relabelled or self.edited)


@dataclass(frozen=True, slots=True)
class ConfigChange:
    """What changed in a config that both releases have.

    Attributes:
        name: the config.
        splits: changes of rows, only for splits that have some.
        definition: changes of labels, shape or columns, in words.
        settings: changed settings, in words.
        wording: whether the text of the definition changed.
    """

    name: str
    splits: Mapping[str, SplitChange] = field(default_factory=dict)
    definition: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    wording: bool = False

    def __bool__(self) -> bool:
        return bool(self.splits or self.definition or self.settings or self.wording)

    def total(self, kind: str) -> int:
        """Rows of all splits to which this happened (``added``, ``removed``, …)."""
        return sum(getattr(change, kind) for change in self.splits.values())


@dataclass(frozen=True, slots=True)
class Changes:
    """All changes from an old to a new release.

    Attributes:
        added: new configs, with their numbers of rows.
        removed: configs that are gone, with their numbers of rows.
        changed: what changed in the others, by name; only those with changes.
        sources: changed corpora, in words.
        software: changed versions of discoprobe and libraries, in words.
        files: other files that differ (cards, plots), where that was looked at.
        first: whether there is no old release.
    """

    added: Mapping[str, int] = field(default_factory=dict)
    removed: Mapping[str, int] = field(default_factory=dict)
    changed: tuple[ConfigChange, ...] = ()
    sources: tuple[str, ...] = ()
    software: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    first: bool = False

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed or self.sources or self.software or self.files)

    def to_dict(self) -> dict[str, Any]:
        """The changes as JSON holds them."""
        return dataclasses.asdict(self)


def compare(old: Side | None, new: Side) -> Changes:
    """What changed from ``old`` to ``new``; rows are read only where the manifests' content hashes differ."""
    if old is None:
        return Changes(
            added={name: n_rows(entry) for name, entry in sorted(new.manifest["configs"].items())}, first=True
        )
    before, after = old.manifest["configs"], new.manifest["configs"]
    both = [_config_change(name, old, new) for name in sorted(before.keys() & after.keys())]
    return Changes(
        added={name: n_rows(after[name]) for name in sorted(after.keys() - before.keys())},
        removed={name: n_rows(before[name]) for name in sorted(before.keys() - after.keys())},
        changed=tuple(change for change in both if change),
        sources=_sources(old.manifest, new.manifest),
        software=values(versions(old.manifest), versions(new.manifest)),
    )


def _config_change(name: str, old: Side, new: Side) -> ConfigChange:
    before, after = old.manifest["configs"][name], new.manifest["configs"][name]
    touched = [
        split
        for split in dict.fromkeys([*before["content"], *after["content"]])
        if before["content"].get(split) != after["content"].get(split) or before["labels"] != after["labels"]
    ]
    pairs = {split: (old.table(name, split), new.table(name, split)) for split in touched}
    changes = {split: _split_change(*pair, before["labels"], after["labels"]) for split, pair in pairs.items()}
    return ConfigChange(
        name,
        {split: change for split, change in changes.items() if change},
        (*_definition(before, after), *_columns(pairs)),
        values(before["settings"], after["settings"]),
        before["summary"] != after["summary"],
    )


def _definition(before: ConfigEntry, after: ConfigEntry) -> tuple[str, ...]:
    labels = "labels", ", ".join(before["labels"]), ", ".join(after["labels"])
    shape = "shape", before["shape"], after["shape"]
    return tuple(f"{what}: {old} → {new}" for what, old, new in (labels, shape) if old != new)


def _columns(pairs: Mapping[str, tuple[pa.Table | None, pa.Table | None]]) -> tuple[str, ...]:
    schemas = [(old.schema, new.schema) for old, new in pairs.values() if old is not None and new is not None]
    lines = [
        f"column {name}: {_type(old, name)} → {_type(new, name)}"
        for old, new in schemas
        for name in dict.fromkeys([*old.names, *new.names])
        if _type(old, name) != _type(new, name)
    ]
    return tuple(dict.fromkeys(lines))


def _type(schema: pa.Schema, name: str) -> str:
    return str(schema.field(name).type) if name in schema.names else "none"


def _split_change(
    old: pa.Table | None, new: pa.Table | None, old_labels: list[str], new_labels: list[str]
) -> SplitChange:
    before, after = _rows(old, old_labels), _rows(new, new_labels)
    both = [name for name in before if name in after]
    relabelled = [name for name in both if before[name][0] != after[name][0]]
    ids = {
        "added": [name for name in after if name not in before],
        "removed": [name for name in before if name not in after],
        "relabelled": relabelled,
        "edited": [name for name in both if before[name][0] == after[name][0] and before[name][1] != after[name][1]],
    }
    shown = {kind: tuple(names[:SHOWN]) for kind, names in ids.items() if names}
    return SplitChange(**{kind: len(names) for kind, names in ids.items()}, ids=shown)


def _rows(table: pa.Table | None, labels: list[str]) -> Rows:
    """Rows by id, each with its label's name and its other columns."""
    rows: Rows = {}
    for row in [] if table is None else table.to_pylist():
        label = row.pop("label")
        rows[str(row["id"])] = labels[label] if 0 <= label < len(labels) else label, row
    return rows


def values(before: Mapping[str, object], after: Mapping[str, object]) -> tuple[str, ...]:
    """Values that differ, in words: ``seed: 13 → 14``."""
    names = dict.fromkeys([*before, *after])
    lines = {name: (before.get(name, "none"), after.get(name, "none")) for name in names}
    return tuple(f"{name}: {old} → {new}" for name, (old, new) in lines.items() if old != new)


def _sources(old: Manifest, new: Manifest) -> tuple[str, ...]:
    before, after = old["sources"], new["sources"]
    gone = [f"{name}: not used any more" for name in sorted(before.keys() - after.keys())]
    fresh = [f"{name}: new, {after[name]['licence']}" for name in sorted(after.keys() - before.keys())]
    return (
        *gone,
        *fresh,
        *(line for name in sorted(before.keys() & after.keys()) for line in source(name, before[name], after[name])),
    )


def source(name: str, before: SourceEntry, after: SourceEntry) -> list[str]:
    """What differs in a source that both have, in words; empty if nothing."""
    lines = [f"{name}: licence {before['licence']} → {after['licence']}"] * (before["licence"] != after["licence"])
    if before["commit"] != after["commit"]:
        lines.append(f"{name}: commit {before['commit'][:12] or 'none'} → {after['commit'][:12] or 'none'}")
    paths = dict.fromkeys([*before["files"], *after["files"]])
    differing = [path for path in paths if before["files"].get(path) != after["files"].get(path)]
    if differing:
        lines.append(f"{name}: other content of {', '.join(differing[:SHOWN])}{' …' if len(differing) > SHOWN else ''}")
    made = before.get("annotation", {}), after.get("annotation", {})
    parts = {"text": "raw text", "read": "options of reading", "made_by": "annotating software or models"}
    other = [what for key, what in parts.items() if made[0].get(key) != made[1].get(key)]
    return [*lines, *(f"{name}: other {what}" for what in other)]


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
        "Sources": [render.line(line) for line in changes.sources],
        "Built with": [render.line(line) for line in changes.software],
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
    return f"`{change.name}`: {'; '.join(render.line(word) for word in words)}"


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
