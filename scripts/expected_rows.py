"""What a build gives with files that are not at hand: expected rows by treebank and task, with intervals.

``expected_rows.py measure FOLDER OUT.json`` builds each treebank of the catalogue from its files below FOLDER, without
audit and without a smallest size, and again without each of its files. FOLDER has a folder per treebank with the files
and ``stats.xml``, which says how many sentences the absent files have. A treebank that OUT.json has is not built again.

``expected_rows.py predict OUT.json`` prints three tables: how well the rows of a whole treebank are predicted from all
files but one; what is expected of the treebanks whose files are absent; and which tasks this adds.

The rows of a task are predicted as ``rows x (sentences of all files / sentences at hand) ** exponent``. The exponent is
the median of those that the left-out files show, by task where 15 of them do, else by family. The interval is
given by the 5 and 95 % quantiles of the exponents. Both are taken from other treebanks than the one that is predicted,
so that the coverage is that of treebanks that are new.
"""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from discoprobe.builders.config import Config
from discoprobe.loaders.catalogue import treebanks
from discoprobe.loaders.catalogue.treebanks import Treebank
from discoprobe.loaders.errors import DiscoprobeError
from discoprobe.pipeline import audited_configs
from discoprobe.plan import plan
from discoprobe.request import Request, parse_request
from discoprobe.sources import corpora_of

Rows = dict[str, int]
"""Rows of each split."""
LEAST = 15
"""Exponents from which a task has an exponent of its own."""
QUANTILES = (0.05, 0.95)
SMALLEST = 20
"""Rows from which something is predicted; of fewer, a config may or may not be built."""

app = typer.Typer(help=__doc__, no_args_is_help=True)
Measured = Annotated[Path, typer.Argument(help="The JSON file that `measure` writes.")]


class Build(msgspec.Struct):
    """What one build gave.

    Attributes:
        files: the names of the files.
        sentences: their number.
        rows: of each task that was built.
    """

    files: list[str]
    sentences: int
    rows: dict[str, Rows]


class Yield(msgspec.Struct):
    """What the files of a treebank that are at hand give.

    Attributes:
        lang: the code of the language.
        sentences: of all files of the treebank, absent ones included.
        absent: the names of absent files.
        whole: the build from the files at hand.
        without: those from all of them but one.
    """

    lang: str
    sentences: int
    absent: list[str]
    whole: Build
    without: list[Build]


# measuring


@app.command()
def measure(
    folder: Annotated[Path, typer.Argument(help="A folder with a folder per treebank.")],
    out: Measured,
    *,
    most: Annotated[float, typer.Option(help="Largest size of the files of a treebank that is built, in MB.")] = 12,
) -> None:
    """Build every treebank from its files, and without each of them."""
    measured = json.loads(out.read_text(encoding="utf-8")) if out.exists() else {}
    banks = {bank.name: bank for each in treebanks.languages(every=True) for bank in each.treebanks}
    for name, bank in sorted(banks.items()):
        there = {file.name: path for file in bank.files if (path := folder / name / file.name).is_file()}
        stats = folder / name / "stats.xml"
        absent = [file.name for file in bank.files if file.name not in there]
        size = sum(path.stat().st_size for path in there.values()) / 1e6
        if name in measured or not there or (absent and not stats.is_file()) or size > most or len(bank.files) == 1:
            continue
        numbers = {file: _n_sentences(path) for file, path in there.items()}
        every = sum(numbers.values()) + (_n_absent(stats, absent) if absent else 0)
        try:
            builds = [_build(bank, there, numbers)]
            if len(there) > 1:
                for left_out in there:
                    others = {file: path for file, path in there.items() if file != left_out}
                    builds.append(_build(bank, others, numbers))
        except DiscoprobeError as error:
            print(f"{name}: {error}", flush=True)
            continue
        of_bank = Yield(bank.lang, every, absent, builds[0], builds[1:])
        measured[name] = msgspec.to_builtins(of_bank)
        out.write_text(json.dumps(measured, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        print(f"{name}: {builds[0].sentences:,} of {every:,} sentences, {len(builds[0].rows)} configs", flush=True)


def _n_sentences(path: Path) -> int:
    return len(re.findall(r"^1\t", path.read_text(encoding="utf-8"), re.MULTILINE))


def _n_absent(stats: Path, absent: Iterable[str]) -> int:
    """The sentences of the splits of absent files, as the treebank's own statistics have them."""
    text = stats.read_text(encoding="utf-8")
    numbers = {split: int(n) for split, n in re.findall(r"<(train|dev|test)><sentences>(\d+)<", text)}
    splits = {split for split in numbers for name in absent if f"-ud-{split}" in name}
    return sum(numbers[split] for split in splits)


def _build(bank: Treebank, files: Mapping[str, Path], numbers: Mapping[str, int]) -> Build:
    """A build of all tasks from files of a treebank."""
    request: Request = parse_request(
        [bank.lang], ["all"], [str(path) for path in files.values()], min_rows="0", audit=False, gold=True
    )
    rows: dict[str, Rows] = {}
    for corpus, tasks in corpora_of(plan(request)):
        for config, _ in audited_configs(corpus, tasks, request, None):
            if isinstance(config, Config):
                rows[config.task] = {split: len(table) for split, table in config.splits.items()}
    return Build(sorted(files), sum(numbers[name] for name in files), rows)


if __name__ == "__main__":
    app()
