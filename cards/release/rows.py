"""All rows of a release, found by what they are and page by page, read lazily from the parquet files.

Splits as parquet files that `datasets`, its viewer and its streaming read as they are.

Readers' marks on the rows of a release: checked against the rows, and summed up per config.
"""

from __future__ import annotations

import contextlib
import hashlib
import operator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import msgspec
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from discoprobe.builders.settings import SPLITS
from discoprobe.cards.metadata import manifest
from discoprobe.cards.readers import (
    CANNOT_TELL,
    PLACES,
    TEXT_COLUMNS,
    Mark,
    ReaderFigures,
    figures,
    read_marks,
    right_answer,
    shown_hash,
)
from discoprobe.cards.text.card import language_name
from discoprobe.loaders.errors import DiscoprobeError, UnknownNameError, UsageError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from werkzeug.datastructures import MultiDict

    from discoprobe.builders.config import Config
    from discoprobe.cards.metadata.manifest import ConfigEntry, Manifest


CHUNKING = {"min_chunk_size": 256 * 1024, "max_chunk_size": 1024 * 1024, "norm_level": 0}
"""Content-defined chunking with the sizes that `datasets` writes with (its ``DEFAULT_CDC_OPTIONS``)."""

ROW_GROUP = 10_000
"""Rows per row group: the dataset viewer pages through row groups and wants them small."""


def file_name(split: str) -> str:
    """The name of the file of a split; each split has one."""
    return f"{split}-00000-of-00001.parquet"


@contextlib.contextmanager
def reading(place: Path) -> Iterator[None]:
    """Turns the errors of parquet readers into one line that names the file.

    Raises:
        DiscoprobeError: a file that is read inside the block is not parquet.
    """
    try:
        yield
    except (pa.ArrowException, pl.exceptions.PolarsError) as error:
        raise DiscoprobeError(f"{place} cannot be read as parquet ({error}); build the release again") from error


def write_split(config: Config, split: str, folder: Path) -> Path:
    """Writes one split below ``folder``; label names go into the schema's metadata, where `datasets` looks for them."""
    path = folder / file_name(split)
    pq.write_table(
        with_label_names(config.splits[split], config.labels),
        path,
        compression="zstd",
        row_group_size=ROW_GROUP,
        write_page_index=True,
        use_content_defined_chunking=CHUNKING,
    )
    return path


def with_label_names(table: pa.Table, labels: tuple[str, ...]) -> pa.Table:
    """The table with the features' description (``label`` as a ClassLabel) in its schema metadata."""
    from datasets import ClassLabel, Features  # noqa: PLC0415 (a second of import time, needed only to write)

    features = Features.from_arrow_schema(table.schema)
    features["label"] = ClassLabel(names=list(labels))
    return table.replace_schema_metadata(features.arrow_schema.metadata)


def content_hash(table: pa.Table) -> str:
    """SHA-256 of the rows as JSON lines with sorted keys, the same whatever version of pyarrow wrote them."""
    digest = hashlib.sha256()
    for rows in pl.DataFrame(table.select(sorted(table.column_names))).iter_slices(ROW_GROUP):
        digest.update(rows.write_ndjson().encode())
    return digest.hexdigest()


_Rows: TypeAlias = tuple[dict[str, str], dict[str, str]]
"""The right answer, and the hash of what is shown, of each row of a config by id."""


def _rows(folder: Path, config: str, entry: ConfigEntry) -> _Rows:
    """The rows of all splits of a config."""
    labels, shown = {}, {}
    for split in entry["counts"]:
        path = folder / config / file_name(split)
        with reading(path):
            present = [name for name in ("id", "label", *TEXT_COLUMNS) if name in pq.read_schema(path).names]
            table = pq.read_table(path, columns=present)
        for row in table.to_pylist():
            labels[row["id"]] = right_answer(row, entry["labels"])
            shown[row["id"]] = shown_hash(row, entry["labels"])
    return labels, shown


def figures_of(
    folder: Path, entries: dict[str, ConfigEntry], marks: Sequence[Mark]
) -> dict[str, dict[str, ReaderFigures]]:
    """What readers of each kind found in the configs of a release folder, by config; those nobody read are not there.

    ``marks`` are in the order of their times.
    """
    by_config = {}
    for config in sorted({mark.config for mark in marks} & entries.keys()):
        of_config = [mark for mark in marks if mark.kind == "reveal" or mark.config == config]
        if of_kinds := figures(of_config, *_rows(folder, config, entries[config])):
            by_config[config] = of_kinds
    return by_config


def checked_marks(release: Path, file: Path) -> list[Mark]:
    """The marks of a file that somebody else wrote, each of which names a row of the release.

    A mark without a hash of what its row shows gets that of the row as it is now.

    Raises:
        DiscoprobeError: the file is not there, or a mark names a row or an answer that the release does not have.
    """
    if not file.is_file():
        raise DiscoprobeError(f"{file} does not exist; give a file of marks, such as `build review` exports")
    marks, entries = read_marks(file), manifest.read(release)["configs"]
    if unknown := sorted({mark.config for mark in marks if mark.config} - entries.keys()):
        raise DiscoprobeError(f"{file}: {release} has no config {unknown[0]}; are the marks of another release?")
    known = {config: _rows(release, config, entries[config]) for config in {mark.config for mark in marks} - {""}}
    return [_checked(mark, known, entries, file) for mark in marks]


def _checked(mark: Mark, known: dict[str, _Rows], entries: dict[str, ConfigEntry], file: Path) -> Mark:
    if mark.kind == "reveal":
        return mark
    labels, shown = known[mark.config]
    if mark.row not in labels:
        raise DiscoprobeError(f"{file}: {mark.config} has no row {mark.row}; are the marks of another release?")
    if mark.kind == "answer" and mark.answer not in {*entries[mark.config]["labels"], *PLACES, CANNOT_TELL}:
        raise DiscoprobeError(f"{file}: '{mark.answer}' is not a label of {mark.config}")
    return mark if mark.shown else msgspec.structs.replace(mark, shown=shown[mark.row])


_NUMBER = "_number"


@dataclass(frozen=True, slots=True)
class RowFilter:
    """Which rows; an empty value is no condition.

    ``words`` is what the texts of a row contain, in any case. ``places`` are the (config, id) of the rows that may be
    found, None for no condition, and ``without`` those of rows that are left out.
    """

    configs: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    split: str = ""
    label: str = ""
    corpus: str = ""
    words: str = ""
    places: frozenset[tuple[str, str]] | None = None
    without: frozenset[tuple[str, str]] = frozenset()


def configs_asked(args: MultiDict[str, str]) -> RowFilter:
    """The configs, tasks and languages that an address names."""
    configs, tasks, languages = (tuple(filter(None, args.getlist(name))) for name in ("config", "task", "lang"))
    return RowFilter(configs, tasks, languages)


@dataclass(frozen=True, slots=True)
class ReleaseRow:
    """A row: its columns (``values``), its number in the split (from 0), and the name of its label."""

    config: str
    split: str
    number: int
    values: Mapping[str, Any]
    label: str
    entry: ConfigEntry = field(repr=False)

    @property
    def id(self) -> str:
        """Its id, which no other row of its config has."""
        return str(self.values["id"])

    @property
    def place(self) -> tuple[str, str]:
        """Config and id."""
        return self.config, self.id

    @property
    def shown(self) -> str:
        """A hash of what it shows."""
        return shown_hash(self.values, self.entry["labels"])


class RowPage(NamedTuple):
    """Some of the rows that were looked for, and how many there are."""

    rows: list[ReleaseRow]
    total: int


class _Part(NamedTuple):
    """A split of a config: rows that may be found, and how many if no file needs to be read to know it."""

    config: str
    split: str
    rows: pl.LazyFrame
    known: int | None


def shown_configs(release: Path, languages: Sequence[str]) -> tuple[Manifest, dict[str, ConfigEntry]]:
    """The manifest of a release folder, and its configs of some languages, of all if none is named, by name.

    Raises:
        UsageError: the folder holds no configs, or none of these languages.
    """
    found = manifest.read(release)
    if not found["configs"]:
        raise UsageError(f"{release} holds no configs; `build run` makes a release folder")
    configs = {name: one for name, one in sorted(found["configs"].items()) if not languages or one["lang"] in languages}
    if not configs:
        raise UsageError(f"{release} has no config of {', '.join(languages)}")
    return found, configs


class RowStore:
    """The rows of a release folder.

    Raises:
        UsageError: the folder holds no configs, or none of these languages.
    """

    def __init__(self, release: Path, languages: Sequence[str] = ()) -> None:
        self.folder = release
        self.manifest, self.configs = shown_configs(release, languages)

    def entry(self, config: str) -> ConfigEntry:
        """What the manifest says of a config.

        Raises:
            UnknownNameError: there is no such config.
        """
        if config not in self.configs:
            raise UnknownNameError("config", config, self.configs, remedy=f"({self.folder} does not have it)")
        return self.configs[config]

    def tasks(self) -> list[str]:
        """The names of its tasks, sorted."""
        return sorted({one["task"] for one in self.configs.values()})

    def languages(self) -> dict[str, str]:
        """The names of its languages by code, sorted by name."""
        names = {one["lang"]: language_name(one["lang"]) for one in self.configs.values()}
        return dict(sorted(names.items(), key=operator.itemgetter(1)))

    def chosen(self, wanted: RowFilter) -> dict[str, ConfigEntry]:
        """The configs that a filter is for."""
        return {
            name: one
            for name, one in self.configs.items()
            if (not wanted.configs or name in wanted.configs)
            and (not wanted.tasks or one["task"] in wanted.tasks)
            and (not wanted.languages or one["lang"] in wanted.languages)
            and (not wanted.label or wanted.label in one["labels"])
            and (not wanted.corpus or wanted.corpus in one["sources"])
            and (wanted.places is None or any(config == name for config, _ in wanted.places))
        }

    def find(self, wanted: RowFilter, start: int, size: int) -> RowPage:
        """The rows from number ``start`` on, at most ``size``, ordered by config, split, and place in the split."""
        parts = list(self._parts(wanted))
        unknown = [part.rows.select(pl.len()) for part in parts if part.known is None]
        counted = iter([frame.item() for frame in pl.collect_all(unknown)])
        rows: list[ReleaseRow] = []
        total = 0
        for part in parts:
            n = next(counted) if part.known is None else part.known
            first, last = max(start, total) - total, min(start + size, total + n) - total
            if first < last:
                rows += self._collected(part.config, part.split, part.rows.slice(first, last - first))
            total += n
        return RowPage(rows, total)

    def row(self, config: str, row_id: str) -> ReleaseRow:
        """A row by its id.

        Raises:
            UnknownNameError: the config has no such row.
        """
        self.entry(config)
        matching = self.find(RowFilter(configs=(config,), places=frozenset({(config, row_id)})), 0, 1)
        if not matching.rows:
            raise DiscoprobeError(f"{config} has no row {row_id}")
        return matching.rows[0]

    def pair_of(self, row: ReleaseRow) -> list[ReleaseRow]:
        """The rows that share the pair of a row, with itself, by label; only the row if it is in none."""
        pair = row.values["pair_id"]
        if pair is None:
            return [row]
        found = self._collected(row.config, row.split, self._scan(row.config, row.split).filter(pair_id=pair))
        return sorted(found, key=lambda one: (one.values["label"], one.number))

    def at(self, places: frozenset[tuple[str, str]]) -> list[ReleaseRow]:
        """The rows at these places (config, id), as far as there are such."""
        return self.find(RowFilter(places=places), 0, len(places)).rows

    def columns(self, config: str, split: str, names: Sequence[str]) -> pl.DataFrame:
        """Those of these columns that a split has."""
        rows = self._scan(config, split)
        return rows.select(name for name in rows.collect_schema() if name in names).collect()

    def rows_with(self, config: str, split: str, ids: Collection[str]) -> dict[str, ReleaseRow]:
        """Rows of a split by id."""
        rows = self._scan(config, split).filter(pl.col("id").is_in(list(ids)))
        return {row.id: row for row in self._collected(config, split, rows)}

    def _parts(self, wanted: RowFilter) -> Iterator[_Part]:
        for config, entry in self.chosen(wanted).items():
            for split in (wanted.split,) if wanted.split else SPLITS:
                if split in entry["counts"]:
                    yield self._part(config, split, entry, wanted)

    def _part(self, config: str, split: str, entry: ConfigEntry, wanted: RowFilter) -> _Part:
        rows, counts = self._scan(config, split), entry["counts"][split]
        known: int | None = sum(counts.values())
        if wanted.label:
            rows, known = rows.filter(label=entry["labels"].index(wanted.label)), counts.get(wanted.label, 0)
        if wanted.corpus and entry["sources"] != [wanted.corpus]:
            rows, known = rows.filter(corpus=wanted.corpus), None
        if wanted.places is not None:
            ids = sorted(row for name, row in wanted.places if name == config)
            rows, known = rows.filter(pl.col("id").is_in(ids)), None
        if left_out := sorted(row for name, row in wanted.without if name == config):
            rows, known = rows.filter(~pl.col("id").is_in(left_out)), None
        if wanted.words:
            rows, known = rows.filter(_contains(rows.collect_schema(), wanted.words)), None
        return _Part(config, split, rows, known)

    def _scan(self, config: str, split: str) -> pl.LazyFrame:
        path = self.folder / config / file_name(split)
        if not path.is_file():
            raise DiscoprobeError(f"{path} is missing; build the release again")
        with reading(path):
            rows = pl.scan_parquet(path, glob=False).with_row_index(_NUMBER)
            rows.collect_schema()
        return rows

    def _collected(self, config: str, split: str, rows: pl.LazyFrame) -> list[ReleaseRow]:
        entry = self.configs[config]
        collected = []
        for values in rows.collect().to_dicts():
            number, label = values.pop(_NUMBER), values["label"]
            name = entry["labels"][label] if 0 <= label < len(entry["labels"]) else str(label)
            collected.append(ReleaseRow(config, split, number, values, name, entry))
        return collected


def _contains(schema: pl.Schema, words: str) -> pl.Expr:
    """Whether one of the texts of a row contains these characters, in any case."""
    sought = words.lower()
    texts = [
        pl.col(name).list.join(" ") if schema[name] == pl.List(pl.String) else pl.col(name)
        for name in TEXT_COLUMNS
        if name in schema
    ]
    return pl.any_horizontal(text.str.to_lowercase().str.contains(sought, literal=True) for text in texts)
