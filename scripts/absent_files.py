"""What a build gives with files that are not at hand: expected rows by treebank and task, with intervals.

``absent_files.py measure FOLDER OUT.json`` builds each treebank of the catalogue from its files below FOLDER, without
audit and without a smallest size; and from some of them: all but one, and each alone. FOLDER has a folder per treebank
with the files and ``stats.xml``, which says how many sentences the absent files have. A treebank that OUT.json has is
not built again.

``absent_files.py predict OUT.json`` prints two tables: how well the rows of a treebank are predicted from some of its
files; and what is expected of the treebanks whose files are absent.

Rows grow as ``(sentences / sentences at hand) ** exponent``. The builds from some files show exponents. The median of
those of a family of tasks predicts a config, and their 5 and 95 % quantiles are the ends of its interval. For a sum,
each such build gives one exponent for each task, because tasks of a treebank grow together. As no exponent is of the
treebank that is predicted, the coverage in the first table is that of a treebank that was never seen. Configs that the
files at hand do not give are not predicted.
"""

import json
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import msgspec
import numpy as np
import numpy.typing as npt
import typer
from rich.console import Console
from rich.table import Table

from discoprobe.builders.config import Config
from discoprobe.builders.settings import MIN_ROWS, SPLITS, SUITE_SHARE
from discoprobe.builders.task import all_tasks
from discoprobe.loaders.catalogue import treebanks
from discoprobe.loaders.catalogue.treebanks import Treebank
from discoprobe.loaders.errors import DiscoprobeError
from discoprobe.pipeline import audited_configs
from discoprobe.plan import plan
from discoprobe.request import Request, parse_request
from discoprobe.sources import corpora_of

Vector = npt.NDArray[np.float64]
Rows = dict[str, int]
"""Rows of each split."""
GROWTH = 1.5
"""Smallest ratio of sentences that shows an exponent; with less, chance decides."""
SMALLEST = 20
"""Rows from which something is predicted."""
QUANTILES = (0.05, 0.5, 0.95)

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

    def n_rows(self, task: str) -> int:
        """The rows of a task in all splits; 0 if it was not built."""
        return sum(self.rows.get(task, {}).values())


class Yield(msgspec.Struct):
    """What the files of a treebank that are at hand give.

    Attributes:
        lang: the code of the language.
        sentences: of all files of the treebank, absent ones included.
        absent: the names of absent files.
        whole: the build from the files at hand.
        parts: those from all of them but one, and from one.
    """

    lang: str
    sentences: int
    absent: list[str]
    whole: Build
    parts: list[Build]

    @property
    def growth(self) -> float:
        """Sentences of all files by those at hand."""
        return self.sentences / self.whole.sentences


# measuring


@app.command()
def measure(
    folder: Annotated[Path, typer.Argument(help="A folder with a folder per treebank.")],
    out: Measured,
    *,
    most: Annotated[float, typer.Option(help="Largest size of the files of a treebank that is built, in MB.")] = 12,
) -> None:
    """Build every treebank from its files, without each of them, and from each of them."""
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
            alone = [(file,) for file in there if len(there) > 1]
            others = [tuple(file for file in there if file != left_out) for (left_out,) in alone]
            for names in dict.fromkeys((*alone, *others)):
                if sum(numbers[file] for file in names) * GROWTH <= builds[0].sentences:
                    builds.append(_build(bank, {file: there[file] for file in names}, numbers))
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


# predicting


class Observed(msgspec.Struct, frozen=True):
    """How the rows of a task grow where files of a treebank are added.

    Attributes:
        name: the treebank.
        task: the task.
        growth: sentences of all files by those of the first ones.
        before: rows from the first files.
        after: rows from all.
    """

    name: str
    task: str
    growth: float
    before: int
    after: int

    @property
    def exponent(self) -> float:
        """The power of the growth of sentences by which the rows grew."""
        return math.log(max(1, self.after) / self.before) / math.log(self.growth)


@app.command()
def predict(measured: Measured) -> None:
    """Print how well rows are predicted, and what absent files are expected to give."""
    yields = msgspec.json.decode(measured.read_bytes(), type=dict[str, Yield])
    observed = list(_observed(yields))
    console = Console(width=200)
    console.print(_coverage(observed))
    console.print(_expected(yields, observed))


def _observed(yields: Mapping[str, Yield]) -> Iterator[Observed]:
    """The growth of every config of `SMALLEST` rows and more, where files are added that make a difference."""
    for name, of_bank in yields.items():
        for build in of_bank.parts:
            growth = of_bank.whole.sentences / max(1, build.sentences)
            for task in build.rows if growth >= GROWTH else ():
                if (before := build.n_rows(task)) >= SMALLEST:
                    yield Observed(name, task, growth, before, of_bank.whole.n_rows(task))


def _of_family(observed: Iterable[Observed], task: str, without: str) -> list[Observed]:
    """What treebanks but one show of the tasks of a task's family."""
    tasks = all_tasks()
    family = tasks[task].family
    return [each for each in observed if each.name != without and tasks[each.task].family == family]


def _exponents(observed: Sequence[Observed], task: str, without: str) -> Vector:
    """The exponent of a task in each build of treebanks but one, in their order.

    A build without the task has the median of its tasks of the same family, or else that of all builds.
    """
    own: defaultdict[tuple[str, float], list[float]] = defaultdict(list)
    of_family: defaultdict[tuple[str, float], list[float]] = defaultdict(list)
    for each in (shown := _of_family(observed, task, without)):
        own[each.name, each.growth] += [each.exponent] if each.task == task else []
        of_family[each.name, each.growth].append(each.exponent)
    usual = [np.median([each.exponent for each in shown])]
    builds = sorted({(each.name, each.growth) for each in observed if each.name != without})
    return np.array([np.median(own[build] or of_family[build] or usual) for build in builds])


def _coverage(observed: Sequence[Observed]) -> Table:
    """By family, and for the sum of a build: exponents, share inside the interval, median of the relative errors."""
    table = Table("rows of", "predicted", "treebanks", "exponent", "90 % of exponents", "inside", "median error")
    lines: defaultdict[str, list[tuple[str, float, bool, float]]] = defaultdict(list)
    builds: defaultdict[tuple[str, float], list[Observed]] = defaultdict(list)
    for each in observed:
        builds[each.name, each.growth].append(each)
        lines[all_tasks()[each.task].family].append(_compared([each], observed))
    lines["all tasks"] += [_compared(of_build, observed) for of_build in builds.values()]
    for rows_of, of_line in lines.items():
        names, exponents, inside, errors = zip(*of_line, strict=True)
        low, middle, high = np.quantile(exponents, QUANTILES)
        n, n_banks = f"{len(of_line):,}", str(len(set(names)))
        ends = f"{low:.2f} to {high:.2f}"
        table.add_row(rows_of, n, n_banks, f"{middle:.2f}", ends, f"{np.mean(inside):.2f}", f"{np.median(errors):.2f}")
    return table


def _compared(of_build: Sequence[Observed], observed: Sequence[Observed]) -> tuple[str, float, bool, float]:
    """Configs of a build together: their treebank, exponent, whether it is inside the interval, the relative error."""
    name, growth = of_build[0].name, of_build[0].growth
    before, after = sum(each.before for each in of_build), max(1, sum(each.after for each in of_build))
    if len(of_build) == 1:
        shown = _of_family(observed, of_build[0].task, name)
        rows = before * growth ** np.array([each.exponent for each in shown])
    else:
        rows = sum((each.before * growth ** _exponents(observed, each.task, name) for each in of_build), np.zeros(1))
    low, middle, high = np.quantile(rows, QUANTILES)
    exponent = math.log(after / before) / math.log(growth)
    return name, exponent, bool(low <= after <= high), abs(middle / after - 1)


def _expected(yields: Mapping[str, Yield], observed: Sequence[Observed]) -> Table:
    """What is expected of each treebank with absent files, and of all together."""
    columns = ("sentences", "at hand", "rows", "expected", "90 % interval", "configs", "expected", "90 % interval")
    table = Table("treebank", *columns)
    sums: dict[str, tuple[Sequence[int], Vector, Vector]] = {}
    for name, of_bank in sorted(yields.items()):
        if of_bank.absent:
            sums[name] = _sums(name, of_bank, observed)
            table.add_row(name, *_cells(*sums[name]))
    figures = [sum(of_bank) for of_bank in zip(*(figures for figures, _, _ in sums.values()), strict=True)]
    n = min(len(rows) for _, rows, _ in sums.values())
    shifted = [
        (np.roll(rows[:n], place), np.roll(full[:n], place)) for place, (_, rows, full) in enumerate(sums.values())
    ]
    rows, configs = (sum(parts, np.zeros(n)) for parts in zip(*shifted, strict=True))
    table.add_section()
    table.add_row(f"{len(sums)} treebanks", *_cells(figures, rows, configs))
    return table


def _sums(name: str, of_bank: Yield, observed: Sequence[Observed]) -> tuple[Sequence[int], Vector, Vector]:
    """Sentences, those at hand, rows and full configs; and the rows and full configs that each other build predicts."""
    n_builds = len({(each.name, each.growth) for each in observed if each.name != name})
    rows, configs, n_rows, n_configs = np.zeros(n_builds), np.zeros(n_builds), 0, 0
    for task, splits in of_bank.whole.rows.items():
        n = sum(splits.values())
        factors = of_bank.growth ** _exponents(observed, task, name) if n >= SMALLEST else np.ones(1)
        rows, configs = rows + factors * n, configs + _is_full(task, splits, factors)
        n_rows, n_configs = n_rows + n, n_configs + int(_is_full(task, splits, np.ones(1))[0])
    return (of_bank.sentences, of_bank.whole.sentences, n_rows, n_configs), rows, configs


def _is_full(task: str, splits: Rows, factors: Vector) -> Vector:
    """Whether a config has the rows that a release needs, with each factor."""
    is_suite = bool(all_tasks()[task].conditions)
    least = dict(zip(SPLITS, MIN_ROWS, strict=True)) | ({"test": MIN_ROWS[-1] * SUITE_SHARE} if is_suite else {})
    return np.all([factors * n >= least[split] for split, n in splits.items()], axis=0)


def _cells(figures: Sequence[int], rows: Vector, configs: Vector) -> list[str]:
    sentences, at_hand, n_rows, n_configs = figures
    cells = [f"{sentences:,}", f"{at_hand:,}"]
    for n, expected in ((n_rows, rows), (n_configs, configs)):
        low, middle, high = np.quantile(expected, QUANTILES)
        cells += [f"{n:,}", f"{middle:,.0f}", f"{low:,.0f} to {high:,.0f}"]
    return cells


if __name__ == "__main__":
    app()
