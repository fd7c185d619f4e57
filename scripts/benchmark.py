"""Measure discoprobe. ``benchmark.py reader FILE…`` compares the reader with other readers of CoNLL-U.

Every reader gets the same files in one process and one thread of its own, best of several rounds; what is timed ends
with the sentences in memory. The discoprobe column ``cached`` is the second load, of parsed tables from the disk.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import conllu
import pyconll.load
from rich.console import Console
from rich.table import Table
from udapi.core.document import Document  # type: ignore[import-untyped]

from discoprobe.loaders.conllu import read_corpora

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SAMPLE = Path(__file__).parents[1] / "loaders" / "sample"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the measurement that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    add_reader(commands.add_parser("reader", help="words per second of the reader and of others"))
    options = parser.parse_args(arguments)
    result: int = options.run(options)
    return result


def add_reader(parser: argparse.ArgumentParser) -> None:
    """The options of ``reader``."""
    parser.add_argument("files", nargs="*", type=Path, help="CoNLL-U files (default: the sample that ships)")
    parser.add_argument("--rounds", type=int, default=3, help="how often each reader reads each file (default 3)")
    parser.set_defaults(run=run_reader)


def run_reader(options: argparse.Namespace) -> int:
    """Print words per second and the ratio to the ``conllu`` library, per file and reader."""
    table = Table("file", "words", *READERS, "cached", "discoprobe : conllu", "cached : conllu")
    for path in options.files or sorted(SAMPLE.glob("*.conllu")):
        words = count_words(path)
        seconds = {name: best(partial(read, path), options.rounds) for name, read in READERS.items()}
        speed = {name: words / value for name, value in seconds.items()}
        speed["cached"] = words / cached(path, options.rounds)
        ratios = [f"{speed[name] / speed['conllu']:.1f}" for name in ("discoprobe", "cached")]
        table.add_row(path.name, f"{words:,}", *(f"{value:,.0f}" for value in speed.values()), *ratios)
    Console(width=160).print(table)
    return 0


def best(work: Callable[[], object], rounds: int) -> float:
    """Seconds of the fastest round."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def count_words(path: Path) -> int:
    """Number of syntactic words in a file."""
    with path.open(encoding="utf-8") as file:
        return sum(isinstance(token["id"], int) for sentence in conllu.parse_incr(file) for token in sentence)


def read_discoprobe(path: Path) -> object:
    """Parse, store and map the tables, with an empty cache."""
    os.environ["DISCOPROBE_CACHE"] = tempfile.mkdtemp(dir=os.environ["BENCHMARK_FOLDER"])
    return read_mapped(path)


def read_mapped(path: Path) -> object:
    """Read with whatever the cache holds."""
    (corpus,) = read_corpora([path], lang="en").values()
    return list(corpus.shards())


def cached(path: Path, rounds: int) -> float:
    """Seconds of a load from the cache."""
    read_mapped(path)
    return best(lambda: read_mapped(path), rounds)


def read_conllu(path: Path) -> object:
    """All sentences, by the conllu library."""
    with path.open(encoding="utf-8") as file:
        return list(conllu.parse_incr(file))


READERS: dict[str, Callable[[Path], object]] = {
    "discoprobe": read_discoprobe,
    "conllu": read_conllu,
    "pyconll": lambda path: pyconll.load.load_from_file(str(path)),
    "udapi": lambda path: Document(str(path)),
}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.environ["BENCHMARK_FOLDER"] = folder
        sys.exit(main())
