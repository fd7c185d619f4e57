"""Measure discoprobe.

``benchmark.py reader PATH…`` compares the reader with other readers of CoNLL-U, on files or whole treebanks (folders).

``benchmark.py build FOLDER`` builds from all files below a folder taken for one language, and from copies of them, so
that the column ``times`` shows how time and memory grow; every run is a process of its own. A copy has documents of
its own, and other letters, so that its words and sentences are new; there are 26 such copies at most. The last line is
the exponent of the processor's time over the number of words: 1 is linear.

``benchmark.py audit`` audits rows of five invented sentences, in a process of its own, beside the time that
scikit-learn's own counting of character n-grams takes for the same texts.

Every reader gets the same files in one process, best of several rounds. What is timed ends with the sentences in
memory; for discoprobe that is after checking, aligning and storing them, with an empty cache; ``parsed`` leaves out the
hashing and storing, which no other reader does, and ``cached`` is the second load, of parsed tables from the disk. The
other readers use one thread, and so does polars here.
"""

from __future__ import annotations

import argparse
import json
import os
import random  # noqa: TID251 (texts to measure with, no choice of rows)
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import conllu
import numpy as np
import polars as pl
import pyconll.load
from rich.console import Console
from rich.table import Table
from sklearn.feature_extraction.text import HashingVectorizer
from udapi.core.document import Document  # type: ignore[import-untyped]

from discoprobe.loaders.catalogue.pins import DocumentRule
from discoprobe.loaders.conllu.documents import Carried, place
from discoprobe.loaders.conllu.parse import parse
from discoprobe.loaders.conllu.reader import read_corpora
from discoprobe.loaders.conllu.word_lines import Piece
from discoprobe.loaders.corpus import Shard

if TYPE_CHECKING:
    import resource
    from collections.abc import Callable, Mapping, Sequence

CLOCKS = {"wall": time.perf_counter, "processor": time.process_time}
RATIOS = ("discoprobe", "parsed", "cached")
SAMPLE = Path(__file__).parents[1] / "loaders" / "sample"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the measurement that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    add_reader(commands.add_parser("reader", help="words per second of the reader and of others"))
    add_build(commands.add_parser("build", help="words per second and peak memory of a whole build, and how they grow"))
    add_audit(commands.add_parser("audit", help="time and peak memory of an audit, beside scikit-learn's n-grams"))
    options = parser.parse_args(arguments)
    result: int = options.run(options)
    return result


def add_reader(parser: argparse.ArgumentParser) -> None:
    """The options of ``reader``."""
    parser.add_argument("paths", nargs="*", type=Path, help="CoNLL-U files, or folders (default: the sample)")
    parser.add_argument("--rounds", type=int, default=3, help="how often each reader reads each of them (default 3)")
    parser.add_argument("--clock", choices=CLOCKS, default="wall", help="wall (default), or the processor's time")
    parser.set_defaults(run=run_reader)


def run_reader(options: argparse.Namespace) -> int:
    """Print words per second and the ratio to the ``conllu`` library, per file or treebank, and reader."""
    if pl.thread_pool_size() > 1:  # polars reads the limit when it is imported
        one_thread = os.environ | {"POLARS_MAX_THREADS": "1"}
        return subprocess.run([sys.executable, *sys.argv], check=False, env=one_thread).returncode
    table = Table("corpus", "words", *READERS, "cached", *(f"{name} : conllu" for name in RATIOS))
    for path in options.paths or sorted(SAMPLE.glob("*.conllu")):
        words = count_words(path)
        seconds = {name: best(partial(read, path), options) for name, read in READERS.items()}
        speed = {name: words / value for name, value in seconds.items()}
        speed["cached"] = words / best_cached(path, options)
        ratios = [f"{speed[name] / speed['conllu']:.1f}" for name in RATIOS]
        table.add_row(path.name, f"{words:,}", *(f"{value:,.0f}" for value in speed.values()), *ratios)
    Console(width=200).print(table)
    return 0


def add_build(parser: argparse.ArgumentParser) -> None:
    """The options of ``build``."""
    parser.add_argument("folder", type=Path, help="a folder of CoNLL-U files")
    parser.add_argument("--task", default="discourse", help="as in `build run` (default discourse)")
    parser.add_argument("--times", default="1,2,4", help="how many copies of the folder (default 1,2,4)")
    parser.add_argument("--jobs", default="1", help="processes (default 1)")
    parser.set_defaults(run=run_build)


def run_build(options: argparse.Namespace) -> int:
    """Print seconds, words per second and peak memory for each number of copies."""
    table = Table("times", "words", "seconds", "processor s", "words/s", "peak MB", "rows")
    points = []
    for times in map(int, options.times.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            words = copy_corpus(options.folder, Path(folder) / "corpus", times)
            seconds, processor, peak, rows = measure_build(Path(folder), options)
        points.append((words, processor))
        table.add_row(
            str(times), f"{words:,}", f"{seconds:.1f}", f"{processor:.1f}", f"{words / seconds:,.0f}", f"{peak:,.0f}",
            f"{rows:,}",
        )  # fmt: skip
    Console(width=120).print(table)
    if len(points) > 1:
        sys.stdout.write(f"processor time grows with the number of words to the power of {exponent(points):.2f}\n")
    return 0


def exponent(points: Sequence[tuple[float, float]]) -> float:
    """The slope of the line through the logarithms of sizes and times."""
    sizes, times = np.log(np.array(points, dtype=np.float64)).T
    return float(np.polyfit(sizes, times, 1)[0])


def copy_corpus(source: Path, target: Path, times: int) -> int:
    """Copies all files as one corpus ``times`` over; returns the number of words."""
    target.mkdir()
    words = 0
    for number, path in enumerate(sorted(source.rglob("*.conllu"))):
        text = path.read_text(encoding="utf-8")
        for copy in range(times):
            name = f"{number:04}-{copy}"
            (target / f"{name}.conllu").write_text(distinct(text, copy, name), encoding="utf-8")
        words += times * sum(line[:1].isdigit() for line in text.split("\n"))
    return words


def distinct(text: str, copy: int, name: str) -> str:
    """The text with other ids, and in every copy but the first with other letters, so that no sentence recurs."""
    letters = rotated(copy)
    return "\n".join(distinct_line(line, letters, name) for line in text.split("\n"))


def rotated(by: int) -> dict[int, int]:
    """Latin and Cyrillic small letters, each replaced by the one so many places further."""
    alphabets = [list(range(ord("a"), ord("z") + 1)), list(range(ord("а"), ord("я") + 1))]
    return {letter: letters[(i + by) % len(letters)] for letters in alphabets for i, letter in enumerate(letters)}


def distinct_line(line: str, letters: dict[int, int], name: str) -> str:
    """One line of a copy: ids with its name, form, lemma and text in its letters."""
    if line.startswith(("# sent_id = ", "# newdoc id = ", "# newdoc_id = ")):
        return f"{line}-{name}"
    if line.startswith("# text = "):
        return "# text = " + line.removeprefix("# text = ").translate(letters)
    if line.startswith("#") or not line:
        return line
    number, form, lemma, *rest = line.split("\t")
    return "\t".join([number, form.translate(letters), lemma.translate(letters), *rest])


def measure_build(folder: Path, options: argparse.Namespace) -> tuple[float, float, float, int]:
    """Seconds, processor seconds, peak memory of the largest process in MB, and rows of ``build run`` over a folder."""
    command = [
        *(sys.executable, "-m", "discoprobe", "run", "--lang", "en", "--corpus", str(folder / "corpus"), "--no-audit"),
        *("--out", str(folder / "out"), "--task", options.task, "--jobs", options.jobs, "--json", "--on-error", "skip"),
    ]
    found, seconds, usage = measured(command, {"DISCOPROBE_CACHE": str(folder / "cache")})
    configs = found["configs"].values()
    rows = sum(n for config in configs for labels in config["counts"].values() for n in labels.values())
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, rows


def measured(command: Sequence[str], environment: Mapping[str, str]) -> tuple[Any, float, resource.struct_rusage]:
    """What a command prints as JSON, seconds, and what it used."""
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, **environment}) as process:
        assert process.stdout is not None
        found = json.load(process.stdout)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return found, time.perf_counter() - start, usage


def add_audit(parser: argparse.ArgumentParser) -> None:
    """The options of ``audit``."""
    parser.add_argument("rows", nargs="*", type=int, default=[1_000, 12_000, 120_000], help="numbers of rows")
    parser.set_defaults(run=run_audit)


def run_audit(options: argparse.Namespace) -> int:
    """Print seconds, processor seconds and peak memory for each number of rows, and the ratio to counting n-grams."""
    table = Table("rows", "characters", "seconds", "processor s", "peak MB", "n-grams of scikit-learn, s", "ratio")
    for n in options.rows:
        with tempfile.TemporaryDirectory() as folder:
            texts = invent(Path(folder), n)
            command = [sys.executable, "-m", "discoprobe", "audit", folder, "--json"]
            _, seconds, usage = measured(command, {})
        start = time.perf_counter()
        HashingVectorizer(analyzer="char_wb", ngram_range=(1, 4), lowercase=False).transform(texts)
        peer = time.perf_counter() - start
        table.add_row(
            f"{n:,}", f"{sum(map(len, texts)):,}", f"{seconds:.1f}", f"{usage.ru_utime + usage.ru_stime:.1f}",
            f"{usage.ru_maxrss / 1024:,.0f}", f"{peer:.1f}", f"{seconds / peer:.2f}",
        )  # fmt: skip
    Console(width=120).print(table)
    return 0


def invent(folder: Path, n: int) -> list[str]:
    """Rows of five sentences of invented words with a label of five, as JSONL files; returns the texts of each row."""
    source = random.Random(13)
    vocabulary = ["".join(source.choices("abcdefghiklmnoprstuvz", k=source.randint(2, 9))) for _ in range(3000)]
    weights = [1 / (rank + 10) for rank in range(len(vocabulary))]
    found = []
    for split, share in (("train", 0.6), ("validation", 0.2), ("test", 0.2)):
        with (folder / f"{split}.jsonl").open("w", encoding="utf-8") as file:
            for place in range(round(n * share)):
                sentences = [
                    " ".join(source.choices(vocabulary, weights, k=source.randint(6, 20))).capitalize() + "."
                    for _ in range(5)
                ]
                file.write(json.dumps({"sentences": sentences, "label": place * 7 % 5}) + "\n")
                found.append(" ".join(sentences))
    return found


def best(work: Callable[[], object], options: argparse.Namespace) -> float:
    """Seconds of the fastest round."""
    clock = CLOCKS[options.clock]
    times = []
    for _ in range(options.rounds):
        start = clock()
        work()
        times.append(clock() - start)
    return min(times)


def files_of(path: Path) -> list[Path]:
    """The CoNLL-U files in a folder, or the file itself."""
    return sorted(path.rglob("*.conllu")) if path.is_dir() else [path]


def count_words(path: Path) -> int:
    """Number of syntactic words."""
    return sum(isinstance(token["id"], int) for file in read_conllu(path) for sentence in file for token in sentence)


def read_discoprobe(path: Path) -> object:
    """Parse, store and map the tables, with an empty cache."""
    os.environ["DISCOPROBE_CACHE"] = tempfile.mkdtemp(dir=os.environ["BENCHMARK_FOLDER"])
    return read_mapped(path)


def read_parsed(path: Path) -> object:
    """Check, align and place, without hashing the file and storing its tables: what the other readers do, and more."""
    files = files_of(path)
    stems = [file.stem for file in files]
    parsed = parse([Piece(stem, file.read_bytes()) for stem, file in zip(stems, files, strict=True)])
    placed = place(parsed.sentences, path.stem, stems, DocumentRule(), Carried())
    return Shard(placed.documents, placed.sentences, parsed.tokens)


def read_mapped(path: Path) -> object:
    """Read with whatever the cache holds."""
    (corpus,) = read_corpora([path], lang="en").values()
    return list(corpus.shards())


def best_cached(path: Path, options: argparse.Namespace) -> float:
    """Seconds of a load from the cache."""
    read_mapped(path)
    return best(partial(read_mapped, path), options)


def read_conllu(path: Path) -> list[list[conllu.TokenList]]:
    """All sentences of each file, by the conllu library."""
    return [list(conllu.parse(file.read_text(encoding="utf-8"))) for file in files_of(path)]


READERS: dict[str, Callable[[Path], object]] = {
    "discoprobe": read_discoprobe,
    "parsed": read_parsed,
    "conllu": read_conllu,
    "pyconll": lambda path: [pyconll.load.load_from_file(str(file)) for file in files_of(path)],
    "udapi": lambda path: [Document(str(file)) for file in files_of(path)],
}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.environ["BENCHMARK_FOLDER"] = folder
        sys.exit(main())
