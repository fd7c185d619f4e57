"""Rows that other people changed or deleted on the Hub, in Data Studio or by a pull request, since the last release.

`corrections` compares the commits after a release row by row, so that each change has its author. `marks_of` makes
marks of them, as a reader would have set them: a build with ``--exclude`` leaves these rows out, and says on the card
who found them faulty. `check_taken` stops a push that would throw corrections away.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import msgspec

from discoprobe.cards.metadata import manifest
from discoprobe.cards.readers import ON_THE_HUB, TEXT_COLUMNS, Mark, shown_hash
from discoprobe.cards.release import rows
from discoprobe.loaders.errors import DiscoprobeError, RemoteError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from discoprobe.cards.hub.client import Hub
    from discoprobe.cards.hub.staging import Remote
    from discoprobe.cards.metadata.manifest import ConfigEntry, Manifest
    from discoprobe.loaders.files import File

Rows = dict[str, dict[str, Any]]
_NAMED: Final = 3


class Correction(msgspec.Struct, frozen=True):
    """What somebody did to a row.

    Attributes:
        config, split, row: the row, by its id.
        author: the name of who changed it, on the Hub.
        time: when, ISO 8601 in UTC.
        commit: the id of the commit.
        changes: for each column the values before and after; empty if the row was deleted.
        shown: hash of what the row showed in the release.
    """

    config: str
    split: str
    row: str
    author: str
    time: str
    commit: str
    changes: Mapping[str, tuple[Any, Any]]
    shown: str

    @property
    def verdict(self) -> str:
        """What a reader would have said of the row."""
        return "wrong label" if "label" in self.changes else "other"

    def in_words(self, labels: Sequence[str]) -> str:
        """``label: in_order → swapped``, or ``deleted``; long values are cut."""

        def value(column: str, content: object) -> str:
            known = column == "label" and isinstance(content, int) and 0 <= content < len(labels)
            text = labels[content] if known and isinstance(content, int) else str(content)
            return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"

        lines = (
            f"{column}: {value(column, old)} → {value(column, new)}" for column, (old, new) in self.changes.items()
        )
        return "; ".join(lines) or "deleted"


_LONGEST: Final = 60


def corrections(hub: Hub, remote: Remote, pull: int | None = None) -> list[Correction]:
    """What others did to rows since the last release, on main or in a pull request; ``remote`` is what main holds.

    Raises:
        RemoteError: there is no release, something else than rows of it was changed or deleted, or the Hub failed.
    """
    if remote.manifest is None:
        raise RemoteError(f"{hub.repo} holds no release; there is nothing to correct")
    return _since_release(hub, remote, remote.manifest, f"refs/pr/{pull}" if pull else "main")


def check_taken(hub: Hub, remote: Remote, local: Manifest) -> None:
    """Makes sure that a push throws away no correction: each row must be left out of the local config.

    Raises:
        RemoteError: naming who corrected rows, and what to do.
    """
    if remote.manifest is None or not _changed_files(remote):
        return
    found = _since_release(hub, remote, remote.manifest)
    entries = local.configs
    lost = [one for one in found if one.row not in (entries[one.config].excluded if one.config in entries else ())]
    if lost:
        authors = ", ".join(sorted({one.author for one in lost}))
        places = ", ".join(f"{one.config} {one.row}" for one in lost[:_NAMED])
        more = f" and {len(lost) - _NAMED} more" if len(lost) > _NAMED else ""
        raise RemoteError(
            f"{authors} changed or deleted rows of v{remote.release} in {hub.repo} ({places}{more}), which this push"
            f" would undo; take them with `build pull {hub.repo}` and build with --exclude, or put the release back"
            f" with `build push --restore v{remote.release} --repo {hub.repo}`"
        )


def marks_of(found: Sequence[Correction], configs: Mapping[str, ConfigEntry]) -> list[Mark]:
    """The corrections as marks of people, in the order of their times."""
    return [
        Mark(
            "mark", one.author, "person", one.time, one.config, one.row, verdict=one.verdict, shown=one.shown,
            comment=one.in_words(configs[one.config].labels), sitting=f"{ON_THE_HUB}{one.commit[:12]}",
        )
        for one in sorted(found, key=lambda one: (one.time, one.config, one.row))
    ]  # fmt: skip


def _changed_files(remote: Remote) -> dict[str, tuple[str, str]]:
    """The files of rows that are not those of the manifest: path → config, split."""
    assert remote.manifest is not None
    changed = {}
    for name, entry in remote.manifest.configs.items():
        for split in entry.counts:
            path = f"{name}/{manifest.split_file(split)}"
            file, listed = remote.tree.get(path), entry.files.get(manifest.split_file(split))
            if file and listed and file.sha256 not in {"", listed.sha256}:
                changed[path] = name, split
    return changed


def _since_release(hub: Hub, remote: Remote, release: Manifest, revision: str = "main") -> list[Correction]:
    oid = remote.tags.get(f"v{remote.release}")
    if oid is None:
        raise RemoteError(
            f"{hub.repo} has no tag v{remote.release}; push it again first, then corrections can be found"
        )
    released = hub.tree(oid)
    paths = {
        f"{name}/{manifest.split_file(split)}": (name, split)
        for name, entry in release.configs.items()
        for split in entry.counts
    }
    found: dict[tuple[str, str], Correction] = {}
    before: Mapping[str, File] = released
    at = oid
    for change in reversed(hub.changes_since(oid, revision)):
        after = hub.tree(change.commit)
        for path, (config, split) in paths.items():
            if path not in after:
                raise _no_correction(hub, remote, f"{path} is not there")
            if before[path] != after[path]:
                versions = [(oid, released), (at, before), (change.commit, after)]
                tables = [_rows_of(hub, path, *version) for version in versions]
                for row, changes in _differences(release.configs[config], tables):
                    found.pop((config, row), None)
                    old = tables[0].get(row)
                    problem = "another row" if old is None else _problem(changes)
                    if problem or old is None:
                        raise _no_correction(hub, remote, f"{config} {split} {row}: {problem}")
                    if changes != _SAME:
                        shown = shown_hash(old, release.configs[config].labels)
                        found[config, row] = Correction(
                            config, split, row, change.author, change.time, change.commit, changes, shown
                        )
        before, at = after, change.commit
    if strangers := [
        path
        for path in sorted(manifest.paths(release) - {manifest.NAME})
        if path not in paths and path in released and before.get(path) != released[path]
    ]:
        raise _no_correction(hub, remote, f"{', '.join(strangers[:_NAMED])} changed")
    return sorted(found.values(), key=lambda one: (one.config, one.split, one.row))


_SAME: Final[Mapping[str, tuple[Any, Any]]] = {"": (None, None)}
"""The changes of a row that is again as it was released."""


def _differences(entry: ConfigEntry, tables: Sequence[Rows]) -> Iterator[tuple[str, Mapping[str, tuple[Any, Any]]]]:
    """Rows that a commit changed, with what they are now beside the release: ``tables`` of release, parent and commit.

    The label of a row is a name where the editor of the Hub wrote it as one.
    """
    released, before, after = tables
    for row in sorted(before.keys() | after.keys()):
        if before.get(row) == after.get(row):
            continue
        old, new = released.get(row, {}), after.get(row)
        if new is not None and new.get("label") in entry.labels:
            new = new | {"label": entry.labels.index(new["label"])}
        if new is None:
            yield row, {}
        else:
            changed = {
                name: (old.get(name), new.get(name)) for name in {**old, **new} if old.get(name) != new.get(name)
            }
            yield row, changed or _SAME


_MOVED: Final = frozenset({"edit", "target", "position", "regions_good", "regions_bad", "region", "original", "marked"})
"""Columns that follow the texts."""


def _problem(changes: Mapping[str, tuple[Any, Any]]) -> str:
    """Why changes of a row are no correction of it; empty if they are one."""
    others = changes.keys() - {"", "label", *TEXT_COLUMNS, *_MOVED}
    return f"another {', '.join(sorted(others))}" if others else ""


def _rows_of(hub: Hub, path: str, oid: str, tree: Mapping[str, File]) -> Rows:
    try:
        table = rows.read_table(hub.download(path, oid, tree[path]))
        return {row["id"]: row for row in table.to_pylist()}
    except (DiscoprobeError, KeyError) as error:
        if isinstance(error, RemoteError):
            raise
        raise RemoteError(
            f"{path} of {hub.repo} at {oid[:12]} has no rows that can be read; put a release back with"
            f" `build push --restore RELEASE --repo {hub.repo}`"
        ) from error


def _no_correction(hub: Hub, remote: Remote, problem: str) -> RemoteError:
    return RemoteError(
        f"main of {hub.repo} holds more than corrections of rows of v{remote.release} ({problem}); put the release back"
        f" with `build push --restore v{remote.release} --repo {hub.repo}`, or give another --repo"
    )
