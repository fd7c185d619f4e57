"""What changed between two releases, which number the new one gets, and what the changelog says of it.

`compare` takes two `Side`s and returns `Changes`: configs, rows, labels, definitions, settings, sources. They decide on
the number (`propose`, `check_number`): a removed, relabelled or edited row and a changed definition are major, because
scores before and after are not comparable. New configs or rows are minor, everything else (cards, plots, versions of
libraries that changed no row) is a patch (https://semver.org, applied to data). `section` writes them into the
changelog.
"""

import datetime as dt
import enum
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
import pyarrow as pa
from msgspec import field

from discoprobe.cards.metadata.manifest import Manifest, SourceEntry, split_file, versions
from discoprobe.cards.metadata.yaml_header import n_rows
from discoprobe.cards.release.rows import read_table
from discoprobe.cards.text import templating
from discoprobe.loaders.errors import DiscoprobeError, UsageError

SHOWN = 3
"""Row ids that a report names per kind of change."""
KINDS = ("added", "removed", "relabelled", "edited")
"""What can happen to a row."""
TITLE = "# Changelog\n"


Side: TypeAlias = tuple[Manifest, Callable[[str, str], pa.Table | None]]
"""A release: its manifest, and what gives the rows of a config's split, None if there is no such split.

It is called only for splits whose rows differ.
"""


def in_folder(path: Path, manifest: Manifest) -> Side:
    """A release folder with a manifest: its own, or the one that it will have after a push."""

    def table(config: str, split: str) -> pa.Table | None:
        file = path / config / split_file(split)
        return read_table(file) if file.exists() else None

    return manifest, table


class SplitChange(msgspec.Struct, frozen=True):
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


class ConfigChange(msgspec.Struct, frozen=True):
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

    def breaks(self) -> bool:
        """Whether scores before and after are not comparable."""
        return bool(self.definition or any(self.total(kind) for kind in KINDS if kind != "added"))

    def parts(self) -> Iterator[str]:
        """What changed in the definition and the rows, in words."""
        yield from self.definition
        for split, change in self.splits.items():
            counts = {kind: getattr(change, kind) for kind in KINDS}
            yield f"{split} " + ", ".join(f"{n} rows {kind}" for kind, n in counts.items() if n)


class Changes(msgspec.Struct, frozen=True):
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
        values: dict[str, Any] = msgspec.to_builtins(self)
        return values


def compare(old: Side | None, new: Side) -> Changes:
    """What changed from ``old`` to ``new``; rows are read only where the manifests' content hashes differ."""
    new_manifest, after = new[0], new[0].configs
    if old is None:
        return Changes(added={name: n_rows(entry) for name, entry in sorted(after.items())}, first=True)
    old_manifest, before = old[0], old[0].configs
    both = [_compare_config(name, old, new) for name in sorted(before.keys() & after.keys())]
    old_sources, new_sources = old_manifest.sources, new_manifest.sources
    sources = [f"{name}: not used any more" for name in sorted(old_sources.keys() - new_sources.keys())]
    sources += [f"{name}: new, {new_sources[name].licence}" for name in sorted(new_sources.keys() - old_sources.keys())]
    for name in sorted(old_sources.keys() & new_sources.keys()):
        sources += source_changes(name, old_sources[name], new_sources[name])
    return Changes(
        added={name: n_rows(after[name]) for name in sorted(after.keys() - before.keys())},
        removed={name: n_rows(before[name]) for name in sorted(before.keys() - after.keys())},
        changed=tuple(change for change in both if change),
        sources=tuple(sources),
        software=changed_values(versions(old_manifest), versions(new_manifest)),
    )


def _compare_config(name: str, old: Side, new: Side) -> ConfigChange:
    (old_manifest, old_rows), (new_manifest, new_rows) = old, new
    before, after = old_manifest.configs[name], new_manifest.configs[name]
    labels = before.labels, after.labels
    definition = []
    if labels[0] != labels[1]:
        definition.append(f"labels: {', '.join(labels[0])} → {', '.join(labels[1])}")
    if before.shape != after.shape:
        definition.append(f"shape: {before.shape} → {after.shape}")
    splits = {}
    for split in dict.fromkeys([*before.content, *after.content]):
        if before.content.get(split) == after.content.get(split) and labels[0] == labels[1]:
            continue
        tables = old_rows(name, split), new_rows(name, split)
        if change := compare_rows(*tables, *labels):
            splits[split] = change
        if tables[0] is not None and tables[1] is not None:
            definition += compare_columns(tables[0].schema, tables[1].schema)
    return ConfigChange(
        name,
        splits,
        tuple(dict.fromkeys(definition)),
        changed_values(before.settings, after.settings),
        before.summary != after.summary,
    )


def compare_columns(old: pa.Schema, new: pa.Schema) -> tuple[str, ...]:
    """Columns of other types, in words: ``column score: none → double``."""
    types = [{column.name: str(column.type) for column in schema} for schema in (old, new)]
    return tuple(f"column {line}" for line in changed_values(*types))


def compare_rows(
    old: pa.Table | None, new: pa.Table | None, old_labels: list[str], new_labels: list[str]
) -> SplitChange:
    """What happened to the rows of a split; labels are compared by name, all other columns by value."""
    sides: list[dict[str, tuple[str | int, dict[str, Any]]]] = []
    for table, labels in ((old, old_labels), (new, new_labels)):
        rows = {}
        for row in [] if table is None else table.to_pylist():
            label = row.pop("label")
            rows[str(row["id"])] = labels[label] if 0 <= label < len(labels) else label, row
        sides.append(rows)
    before, after = sides
    ids: dict[str, list[str]] = {kind: [] for kind in KINDS}
    ids["added"] = [row_id for row_id in after if row_id not in before]
    for row_id, (label, columns) in before.items():
        if row_id not in after:
            ids["removed"].append(row_id)
        elif after[row_id][0] != label:
            ids["relabelled"].append(row_id)
        elif after[row_id][1] != columns:
            ids["edited"].append(row_id)
    first = {kind: tuple(names[:SHOWN]) for kind, names in ids.items() if names}
    return SplitChange(**{kind: len(names) for kind, names in ids.items()}, ids=first)


def changed_values(before: Mapping[str, object], after: Mapping[str, object]) -> tuple[str, ...]:
    """Values that differ, in words: ``seed: 13 → 14``."""
    names = dict.fromkeys([*before, *after])
    lines = {name: (before.get(name, "none"), after.get(name, "none")) for name in names}
    return tuple(f"{name}: {old} → {new}" for name, (old, new) in lines.items() if old != new)


def source_changes(name: str, before: SourceEntry, after: SourceEntry) -> list[str]:
    """What differs in a source that both have, in words; empty if nothing."""
    lines = [f"{name}: licence {before.licence} → {after.licence}"] * (before.licence != after.licence)
    if before.commit != after.commit:
        lines.append(f"{name}: commit {before.commit[:12] or 'none'} → {after.commit[:12] or 'none'}")
    paths = dict.fromkeys([*before.files, *after.files])
    differing = [path for path in paths if before.files.get(path) != after.files.get(path)]
    if differing:
        lines.append(f"{name}: other content of {', '.join(differing[:SHOWN])}{' …' if len(differing) > SHOWN else ''}")
    old, new = before.annotation, after.annotation
    parts = {"text": "raw text", "read": "options of reading", "made_by": "annotating software or models"}
    return [*lines, *(f"{name}: other {what}" for key, what in parts.items() if old.get(key) != new.get(key))]


class Level(enum.IntEnum):
    """How much a release changes."""

    NONE = 0
    PATCH = 1
    MINOR = 2
    MAJOR = 3


class Version(msgspec.Struct, frozen=True, order=True):
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
    if changes.removed or any(change.breaks() for change in changes.changed):
        return Level.MAJOR
    if changes.added or any(change.total("added") for change in changes.changed):
        return Level.MINOR
    return Level.PATCH if changes else Level.NONE


def propose(last: Version | None, changes: Changes) -> Version:
    """The number that the changes ask for."""
    return last.next(level(changes)) if last else FIRST


def check_number(asked: Version, last: Version | None, changes: Changes) -> Version:
    """``asked``, if it can be the number of a release with these changes.

    Raises:
        DiscoprobeError: if it is not above the last release, or promises more stability than the changes keep.
    """
    if last is None:
        return asked
    least = propose(last, changes)
    if asked <= last:
        raise DiscoprobeError(
            f"release {asked} is not above {last}, the last one, and a published release never changes; give --release"
            f" {least} or leave it out"
        )
    minor_step = Level.MINOR if asked.minor > last.minor else Level.PATCH
    if (Level.MAJOR if asked.major > last.major else minor_step) < level(changes):
        why = f"the changes are {level(changes).name.lower()}: {'; '.join(reasons(changes)) or 'see build diff'}"
        raise DiscoprobeError(
            f"release {asked} is too small a step after {last}: {why}; give --release {least} or leave it out"
        )
    return asked


def reasons(changes: Changes) -> list[str]:
    """The changes that make a release more than a patch, in words, a line each: worst first."""
    breaking = [change for change in changes.changed if change.breaks()]
    growing = [change for change in changes.changed if not change.breaks() and change.total("added")]
    return [
        *(f"{name} removed ({rows} rows)" for name, rows in changes.removed.items()),
        *(f"{change.name}: {', '.join(change.parts())}" for change in breaking),
        *(f"{name} new ({rows} rows)" for name, rows in changes.added.items()),
        *(f"{change.name}: {', '.join(change.parts())}" for change in growing),
    ]


def section(version: Version, changes: Changes, day: dt.date) -> str:
    """The release's section of the changelog."""
    changed = []
    for change in changes.changed:
        words = [*change.parts(), *(f"setting {line}" for line in change.settings)]
        words += ["wording of the definition"] * change.wording
        changed.append(f"`{change.name}`: {'; '.join(templating.line(word) for word in words)}")
    blocks = {
        "Removed": [f"`{name}` ({rows} rows)" for name, rows in changes.removed.items()],
        "Added": [f"`{name}` ({rows} rows)" for name, rows in changes.added.items()],
        "Changed": changed,
        "Sources": [templating.line(line) for line in changes.sources],
        "Built with": [templating.line(line) for line in changes.software],
    }
    parts = [f"### {title}\n\n" + "".join(f"- {line}\n" for line in lines) for title, lines in blocks.items() if lines]
    if changes.first:
        parts.insert(0, f"First release, of {len(changes.added)} config{'s' * (len(changes.added) != 1)}.\n")
    elif level(changes) is Level.MAJOR:
        parts.insert(0, "Where rows changed, scores are not comparable with the release before.\n")
    elif level(changes) is Level.PATCH:
        parts.insert(0, "No row changed.\n")
    return "\n".join([f"## {version} ({day.isoformat()})\n", *parts])


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
