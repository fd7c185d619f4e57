"""The rows of a release: written as parquet files, read and found again, with what readers said of them.

`write_split` writes files that `datasets`, its viewer and its streaming read as they are, and `content_hash` says
whether rows changed, whatever wrote them. Every reader of a release goes through `scan_split`, `read_split` and
`read_table`. `RowStore` finds rows by what they are, page by page. `figures_of` and `checked_marks` bring together
readers' marks and the rows that they are about.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import operator
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from packaging.version import Version

from discoprobe.builders.settings import SPLITS
from discoprobe.cards import readers
from discoprobe.cards.metadata import manifest
from discoprobe.cards.metadata.manifest import ConfigEntry, split_file
from discoprobe.cards.readers import TEXT_COLUMNS, Mark, ReaderFigures, shown_hash
from discoprobe.loaders.catalogue import treebanks
from discoprobe.loaders.errors import DiscoprobeError, UnknownNameError, UsageError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    from werkzeug.datastructures import MultiDict

    from discoprobe.builders.config import Config
    from discoprobe.cards.metadata.manifest import Manifest

CHUNKING = {"min_chunk_size": 256 * 1024, "max_chunk_size": 1024 * 1024, "norm_level": 0}
"""Content-defined chunking with the sizes that `datasets` writes with (its ``DEFAULT_CDC_OPTIONS``)."""
CHUNKS = Version("21")
"""The first version of pyarrow with chunking; without it the Hub stores more of a changed file, with the same rows."""
ROW_GROUP = 10_000
"""Rows per row group: the dataset viewer pages through row groups and wants them small."""
_NUMBER = "_number"


def write_split(config: Config, split: str, folder: Path) -> Path:
    """Writes one split below ``folder``; label names go into the schema's metadata, where `datasets` looks for them."""
    path = folder / split_file(split)
    chunking = {"use_content_defined_chunking": CHUNKING} if Version(pa.__version__) >= CHUNKS else {}
    pq.write_table(
        with_features(config.splits[split], config.labels),
        path,
        compression="zstd",
        row_group_size=ROW_GROUP,
        write_page_index=True,
        **chunking,
    )
    return path


def with_features(table: pa.Table, labels: Sequence[str]) -> pa.Table:
    """Rows with the names of their labels in the metadata, where `datasets` looks for the features of a table.

    A list is a ``Sequence``, as all versions of `datasets` read it; ``List`` is unknown before 4.
    """

    def feature(kind: pa.DataType) -> Any:
        if pa.types.is_struct(kind):
            return {field.name: feature(field.type) for field in kind}
        if pa.types.is_list(kind):
            element = feature(kind.value_type)
            return [element] if pa.types.is_struct(kind.value_type) else {"feature": element, "_type": "Sequence"}
        return {"dtype": {"float": "float32", "double": "float64"}.get(str(kind), str(kind)), "_type": "Value"}

    features = {column.name: feature(column.type) for column in table.schema}
    features["label"] = {"names": [*labels], "_type": "ClassLabel"}
    return table.replace_schema_metadata({"huggingface": json.dumps({"info": {"features": features}})})


def content_hash(table: pa.Table) -> str:
    """SHA-256 of the rows as JSON lines with sorted keys, the same whatever version of pyarrow wrote them."""
    digest = hashlib.sha256()
    for rows in pl.DataFrame(table.select(sorted(table.column_names))).iter_slices(ROW_GROUP):
        digest.update(rows.write_ndjson().encode())
    return digest.hexdigest()


@contextlib.contextmanager
def _explaining(path: Path) -> Iterator[None]:
    """Turns the errors of parquet readers into one line that names the file."""
    try:
        yield
    except (pa.ArrowException, pl.exceptions.PolarsError) as error:
        raise DiscoprobeError(f"{path} cannot be read as parquet ({error}); build the release again") from error


def scan_split(release: Path, config: str, split: str) -> pl.LazyFrame:
    """The rows of a split of a release folder, none of which is read yet.

    Raises:
        DiscoprobeError: its file is missing, or is not parquet.
    """
    path = release / config / split_file(split)
    if not path.is_file():
        raise DiscoprobeError(f"{path} is missing; build the release again")
    with _explaining(path):
        rows = pl.scan_parquet(path, glob=False)
        rows.collect_schema()
    return rows


def read_split(release: Path, config: str, split: str, columns: Sequence[str] = ()) -> pl.DataFrame:
    """The rows of a split of a release folder, with those of some columns that it has; by default with all.

    Raises:
        DiscoprobeError: its file is missing, or is not parquet.
    """
    rows = scan_split(release, config, split)
    with _explaining(release / config / split_file(split)):
        return rows.select(name for name in rows.collect_schema() if not columns or name in columns).collect()


def read_table(path: Path) -> pa.Table:
    """The rows of a split's file, with the types that the file has.

    Raises:
        DiscoprobeError: it is not parquet.
    """
    with _explaining(path):
        return pq.read_table(path)


class RowFilter(msgspec.Struct, frozen=True):
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


class ReleaseRow(msgspec.Struct, frozen=True):
    """A row: its columns (``values``), its number in the split (from 0), and the name of its label."""

    config: str
    split: str
    number: int
    values: Mapping[str, Any]
    label: str
    entry: ConfigEntry

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
        return shown_hash(self.values, self.entry.labels)


def shown_configs(release: Path, languages: Sequence[str]) -> tuple[Manifest, dict[str, ConfigEntry]]:
    """The manifest of a release folder, and its configs of some languages, of all if none is named, by name.

    Raises:
        UsageError: the folder holds no configs, or none of these languages.
    """
    listed = manifest.read(release)
    if not listed.configs:
        raise UsageError(f"{release} holds no configs; `build run` makes a release folder")
    of_all = sorted(listed.configs.items())
    configs = {name: entry for name, entry in of_all if not languages or entry.lang in languages}
    if not configs:
        raise UsageError(f"{release} has no config of {', '.join(languages)}")
    return listed, configs


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
        return sorted({entry.task for entry in self.configs.values()})

    def languages(self) -> dict[str, str]:
        """The names of its languages by code, sorted by name."""
        names = {entry.lang: treebanks.language_name(entry.lang) for entry in self.configs.values()}
        return dict(sorted(names.items(), key=operator.itemgetter(1)))

    def chosen(self, row_filter: RowFilter) -> dict[str, ConfigEntry]:
        """The configs that a filter is for."""
        return {
            name: entry
            for name, entry in self.configs.items()
            if (not row_filter.configs or name in row_filter.configs)
            and (not row_filter.tasks or entry.task in row_filter.tasks)
            and (not row_filter.languages or entry.lang in row_filter.languages)
            and (not row_filter.label or row_filter.label in entry.labels)
            and (not row_filter.corpus or row_filter.corpus in entry.sources)
            and (row_filter.places is None or any(config == name for config, _ in row_filter.places))
        }

    def find(self, row_filter: RowFilter, start: int, size: int) -> tuple[list[ReleaseRow], int]:
        """The rows from number ``start`` on, at most ``size``, and how many there are in all.

        They are ordered by config, split, and place in the split.
        """
        parts = [
            (config, split, *self._matching(config, split, row_filter))
            for config, entry in self.chosen(row_filter).items()
            for split in ((row_filter.split,) if row_filter.split else SPLITS)
            if split in entry.counts
        ]
        uncounted = [matching.select(pl.len()) for _, _, matching, n in parts if n is None]
        counted = iter([frame.item() for frame in pl.collect_all(uncounted)])
        rows: list[ReleaseRow] = []
        total = 0
        for config, split, matching, n in parts:
            n_rows = next(counted) if n is None else n
            first, last = max(start, total) - total, min(start + size, total + n_rows) - total
            if first < last:
                rows += self._collect(config, split, matching.slice(first, last - first))
            total += n_rows
        return rows, total

    def row(self, config: str, row_id: str) -> ReleaseRow:
        """A row by its id.

        Raises:
            UnknownNameError: the config has no such row.
        """
        self.entry(config)
        rows, _ = self.find(RowFilter(configs=(config,), places=frozenset({(config, row_id)})), 0, 1)
        if not rows:
            raise DiscoprobeError(f"{config} has no row {row_id}")
        return rows[0]

    def pair_of(self, row: ReleaseRow) -> list[ReleaseRow]:
        """The rows that share the pair of a row, with itself, by label; only the row if it is in none."""
        pair = row.values["pair_id"]
        if pair is None:
            return [row]
        members = self._collect(row.config, row.split, self._scan(row.config, row.split).filter(pair_id=pair))
        return sorted(members, key=lambda member: (member.values["label"], member.number))

    def at(self, places: frozenset[tuple[str, str]]) -> list[ReleaseRow]:
        """The rows at these places (config, id), as far as there are such."""
        return self.find(RowFilter(places=places), 0, len(places))[0]

    def columns(self, config: str, split: str, names: Sequence[str]) -> pl.DataFrame:
        """Those of these columns that a split has."""
        return read_split(self.folder, config, split, names)

    def rows_with(self, config: str, split: str, ids: Collection[str]) -> dict[str, ReleaseRow]:
        """Rows of a split by id."""
        rows = self._scan(config, split).filter(pl.col("id").is_in(list(ids)))
        return {row.id: row for row in self._collect(config, split, rows)}

    def _scan(self, config: str, split: str) -> pl.LazyFrame:
        return scan_split(self.folder, config, split).with_row_index(_NUMBER)

    def _matching(self, config: str, split: str, row_filter: RowFilter) -> tuple[pl.LazyFrame, int | None]:
        """The rows of a split that a filter is for, and how many, if no file needs to be read to know it."""
        entry, rows = self.configs[config], self._scan(config, split)
        counts = entry.counts[split]
        n: int | None = sum(counts.values())
        if row_filter.label:
            label = row_filter.label
            rows, n = rows.filter(label=entry.labels.index(label)), counts.get(label, 0)
        if row_filter.corpus and entry.sources != [row_filter.corpus]:
            rows, n = rows.filter(corpus=row_filter.corpus), None
        if row_filter.places is not None:
            ids = sorted(row for name, row in row_filter.places if name == config)
            rows, n = rows.filter(pl.col("id").is_in(ids)), None
        if left_out := sorted(row for name, row in row_filter.without if name == config):
            rows, n = rows.filter(~pl.col("id").is_in(left_out)), None
        if row_filter.words:
            schema, words = rows.collect_schema(), row_filter.words.lower()
            texts = [
                pl.col(name).list.join(" ") if schema[name] == pl.List(pl.String) else pl.col(name)
                for name in TEXT_COLUMNS
                if name in schema
            ]
            contains = [text.str.to_lowercase().str.contains(words, literal=True) for text in texts]
            rows, n = rows.filter(pl.any_horizontal(contains)), None
        return rows, n

    def _collect(self, config: str, split: str, rows: pl.LazyFrame) -> list[ReleaseRow]:
        entry = self.configs[config]
        collected = []
        for values in rows.collect().to_dicts():
            number, label = values.pop(_NUMBER), values["label"]
            name = entry.labels[label] if 0 <= label < len(entry.labels) else str(label)
            collected.append(ReleaseRow(config, split, number, values, name, entry))
        return collected


def _read_shown(
    release: Path, config: str, entry: ConfigEntry
) -> tuple[dict[str, str], dict[str, str], str, dict[str, str]]:
    """Of each row of a config, by id: right answer, hash of what it shows, document; third is the label of originals.

    That is the first of two labels if the rows are pairs of an original and its edited version, else empty. In a suite
    both are in one row.
    """
    answers, hashes, documents, paired = {}, {}, {}, False
    for split in entry.counts:
        for row in read_split(release, config, split, _SHOWN).iter_rows(named=True):
            if row.get("doc_id") is not None:
                documents[row["id"]] = f"{row['corpus']}\x1f{row['doc_id']}"
            paired |= row.get("pair_id") is not None and "sentence_good" not in row
            answers[row["id"]] = readers.right_answer(row, entry.labels)
            hashes[row["id"]] = shown_hash(row, entry.labels)
    original = entry.labels[0] if paired and len(entry.labels) == 2 else ""  # noqa: PLR2004
    return answers, hashes, original, documents


_SHOWN = ("id", "label", "pair_id", "corpus", "doc_id", *TEXT_COLUMNS)


def figures_of(
    folder: Path, entries: dict[str, ConfigEntry], marks: Sequence[Mark]
) -> dict[str, dict[str, ReaderFigures]]:
    """What readers of each kind found in the configs of a release folder, by config; those nobody read are not there.

    ``marks`` are in the order of their times.
    """
    by_config = {}
    for config in sorted({mark.config for mark in marks} & entries.keys()):
        of_config = [mark for mark in marks if mark.kind == "reveal" or mark.config == config]
        if of_kinds := readers.figures(of_config, *_read_shown(folder, config, entries[config])):
            by_config[config] = of_kinds
    return by_config


def accuracy_of_people(folder: Path, config: str, entry: ConfigEntry, marks: Iterable[Mark]) -> dict[str, float]:
    """The share of people whose blind answer is the label, by row of a config of a release folder."""
    of_config = [mark for mark in marks if mark.kind == "reveal" or mark.config == config]
    return readers.accuracy_by_row(of_config, *_read_shown(folder, config, entry)[:2])


def checked_marks(release: Path, file: Path) -> list[Mark]:
    """The marks of a file that somebody else wrote, each of which names a row of the release.

    A mark without a hash of what its row shows gets that of the row as it is now; marks without a sitting have that of
    their file, which its first line names.

    Raises:
        DiscoprobeError: the file is not there, or a mark names a row or an answer that the release does not have.
    """
    if not file.is_file():
        raise DiscoprobeError(f"{file} does not exist; give a file of marks, such as `build review` exports")
    marks, entries = readers.read_marks(file), manifest.read(release).configs
    configs = {mark.config for mark in marks if mark.config}
    if unknown := sorted(configs - entries.keys()):
        raise DiscoprobeError(f"{file}: {release} has no config {unknown[0]}; are the marks of another release?")
    hashes_of = {config: _read_shown(release, config, entries[config])[1] for config in configs}
    with file.open("rb") as lines:
        sitting = f"file {hashlib.sha256(lines.readline()).hexdigest()[:12]}"
    checked = []
    for mark in marks:
        mark = mark if mark.sitting else msgspec.structs.replace(mark, sitting=sitting)  # noqa: PLW2901
        if mark.kind != "reveal":
            config, hashes = mark.config, hashes_of[mark.config]
            if mark.row not in hashes:
                raise DiscoprobeError(f"{file}: {config} has no row {mark.row}; are the marks of another release?")
            labels = {*entries[config].labels, *readers.PLACES, readers.CANNOT_TELL}
            if mark.kind == "answer" and mark.answer not in labels:
                raise DiscoprobeError(f"{file}: '{mark.answer}' is not a label of {config}")
            mark = mark if mark.shown else msgspec.structs.replace(mark, shown=hashes[mark.row])  # noqa: PLW2901
        checked.append(mark)
    return checked
