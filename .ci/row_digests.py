"""Prints a digest of the rows of every split of release folders, the same whatever versions of libraries wrote them.

Usage: ``python row_digests.py RELEASE… > FILE``. Two lists are compared with ``diff``.
"""

import hashlib
import json
import sys
from pathlib import Path

import pyarrow.parquet as pq


def digests(release: Path) -> list[str]:
    """A line for each parquet file of a release: configuration, split, number of rows, digest of the rows in order.

    Reports of the audit are left out: versions of libraries may change accuracies by a row.
    """
    lines = []
    for file in sorted(set(release.glob("*/*.parquet")) - set(release.glob("audits/*"))):
        rows = pq.read_table(file).to_pylist()
        content = json.dumps(rows, sort_keys=True, ensure_ascii=False).encode()
        lines.append(
            f"{file.parent.name} {file.name.partition('-')[0]} {len(rows)} {hashlib.sha256(content).hexdigest()}"
        )
    return lines


if __name__ == "__main__":
    for folder in sys.argv[1:]:
        sys.stdout.writelines(f"{line}\n" for line in digests(Path(folder)))
