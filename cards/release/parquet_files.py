"""Splits as parquet files that `datasets`, its viewer and its streaming read as they are."""

import contextlib
import hashlib
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from discoprobe.builders.config import Config
from discoprobe.loaders.errors import DiscoprobeError

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
