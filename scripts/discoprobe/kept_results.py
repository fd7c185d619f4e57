"""Results of an interrupted build, kept in the cache until the release is complete.

A file has the rows of a config and its audit as an Arrow IPC stream with JSON in the metadata of its schema, after the
SHA-256 of the whole. It is data only: reading it executes nothing. What is damaged, or written by another version, is
made again.
"""

import hashlib
import logging
from pathlib import Path
from typing import Final

import msgspec
import pyarrow as pa
from msgspec.structs import replace

from discoprobe.builders.audit.report import Report
from discoprobe.builders.config import Config, Unavailable
from discoprobe.loaders.files import write_atomically

SIZE: Final = hashlib.sha256().digest_size
FACTS: Final = b"discoprobe"
"""The key of the JSON in the metadata of the schema."""

_log = logging.getLogger(__name__)


class _Facts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A result without its rows, of which it has the numbers, split by split."""

    config: Config | None
    unavailable: Unavailable | None
    report: Report | None
    rows: dict[str, int]


def keep(place: Path, config: Config | Unavailable, report: Report | None) -> None:
    """Writes a result, unless it is there already."""
    if place.exists():
        return
    if isinstance(config, Config):
        splits = config.splits
        rows = {split: table.num_rows for split, table in splits.items()}
        facts = _Facts(replace(config, splits={}), None, report, rows)
    else:
        splits, facts = {}, _Facts(None, config, report, {})
    columns = next((table.schema for table in splits.values()), pa.schema([]))
    columns, stream = columns.with_metadata({FACTS: msgspec.json.encode(facts)}), pa.BufferOutputStream()
    with pa.ipc.new_stream(stream, columns, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        for table in splits.values():
            writer.write_table(table.replace_schema_metadata(columns.metadata))
    content = stream.getvalue().to_pybytes()
    write_atomically(place, hashlib.sha256(content).digest() + content)


def kept(place: Path) -> tuple[Config | Unavailable, Report | None] | None:
    """A result that was kept; None if there is none that can be read, for which the log has the reason."""
    try:
        content = place.read_bytes()
        if hashlib.sha256(content[SIZE:]).digest() != content[:SIZE]:
            raise ValueError("damaged")
        table = pa.ipc.open_stream(pa.py_buffer(content)[SIZE:]).read_all()
        facts = msgspec.json.decode(table.schema.metadata[FACTS], type=_Facts)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, pa.ArrowException) as error:
        _log.info("%s is made again: %s", place, error)
        return None
    if facts.config is None:
        return (facts.unavailable, facts.report) if facts.unavailable else None
    table, splits, first = table.replace_schema_metadata(), dict[str, pa.Table](), 0
    for split, n_rows in facts.rows.items():
        splits[split] = table.slice(first, n_rows)
        first += n_rows
    return replace(facts.config, splits=splits), facts.report
