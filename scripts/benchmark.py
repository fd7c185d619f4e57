"""Measures time and memory of discoprobe.

``benchmark.py reader PATH…`` compares the reader with other readers of CoNLL-U, on files or whole treebanks (folders).
All readers read the same files in one process; the best of several rounds counts. Time is measured until the sentences
are in memory: for discoprobe after checking, aligning and storing them, with an empty cache. ``cached`` only loads
stored tables. ``parsed`` does not hash and store, as the other readers do not. ``csv`` is a lower bound for polars:
``read_csv`` of all cells, with ids, heads and UPOS cast, without checks. All readers use one thread, and polars keeps
freed memory as long as in ``build run``.

``benchmark.py build FOLDER`` builds from all files below a folder as one language, and from several copies of them, so
that the column ``times`` shows how time and memory grow. Every run is a separate process with an empty cache. A copy
has other documents, and each noun, verb, adjective, adverb and name is replaced by another of the treebank with the
same features, so that nearly all sentences are new. The last line is the exponent of processor time as a function of
the number of words: 1 is linear.

``benchmark.py plain FOLDER`` builds five probing tasks with discoprobe, and with a short program that uses the conllu
library to label, balance and write them, without filters, matching and audit.

``benchmark.py audit`` audits rows of five random sentences in a separate process, and compares the time with that of
scikit-learn for counting the character n-grams of the same texts.

``benchmark.py scores`` lets models of the size of mBERT, XLM-R and a causal model of 1.5 billion parameters (random
weights, the last one in half precision) read sentences of the sample with `build probe`'s code and with a plain loop
over transformers, by turns, each in a process of its own. It prints rows per second of the processor, the peak of the
memory, the time of the probes of a layer with 10,000 training rows, and what follows for 30 configs: hours of one
processor for encoding and probes, without controls, with them (the texts are read five times), and with ``--quick``.

``benchmark.py all FOLDER`` prints all tables.

``benchmark.py release`` builds from large corpora of ``../shared`` and compares the configs with those of
``docs/records/scale.json``: rows, drops, a digest of the rows, and the strongest baseline. It prints a line for each
difference, and ends with status 1 if there is one. ``--write`` changes the file.
"""

import json
import os
import random  # noqa: TID251 (texts to measure with, no choice of rows)
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import conllu
import msgspec
import numpy as np
import polars as pl
import psutil
import pyconll.load
import typer
from rich.console import Console
from rich.table import Table
from sklearn.feature_extraction.text import HashingVectorizer
from udapi.core.document import Document  # type: ignore[import-untyped]

from discoprobe.builders.audit.report import Finding
from discoprobe.cards.metadata import manifest
from discoprobe.cards.release import LanguageFiles
from discoprobe.cards.text.verdicts import closest_designs
from discoprobe.cli import KEEP_FREED
from discoprobe.loaders.catalogue.treebanks import DocumentRule
from discoprobe.loaders.conllu.documents import Carried, place
from discoprobe.loaders.conllu.parse import NAMES, Piece, parse
from discoprobe.loaders.conllu.reader import read_corpora
from discoprobe.loaders.corpus import UPOS, Shard
from discoprobe.loaders.files import hash_of_json

CLOCKS = {"wall": time.perf_counter, "processor": time.process_time}
RATIOS = ("discoprobe", "parsed", "csv", "cached")
FULL = 120_000
"""Number of rows of a config that reaches the default sizes."""
SAMPLE = Path(__file__).parents[1] / "loaders" / "sample"
AUDIT_FAILED = 3
"""Exit status of a command that wrote everything, but an audit failed."""


app = typer.Typer(help=__doc__, no_args_is_help=True)
Folder = Annotated[Path, typer.Argument(help="A folder of CoNLL-U files.")]
Lang = Annotated[str, typer.Option(help="The language of the folder.")]
Times = Annotated[str, typer.Option(help="How many copies of the folder.")]


@app.command()
def reader(
    paths: Annotated[list[Path] | None, typer.Argument(help="CoNLL-U files, or folders; default: the sample.")] = None,
    *,
    rounds: Annotated[int, typer.Option(help="How often each reader reads each of them.")] = 3,
    clock: Annotated[str, typer.Option(help="`wall`, or `processor` for the processor's time.")] = "wall",
) -> None:
    """Words per second and the ratio to the ``conllu`` library, per file or treebank, and reader."""
    if pl.thread_pool_size() > 1:  # polars reads the limit when it is imported
        one_thread = {"_RJEM_MALLOC_CONF": KEEP_FREED} | os.environ | {"POLARS_MAX_THREADS": "1"}
        raise typer.Exit(subprocess.run([sys.executable, *sys.argv], check=False, env=one_thread).returncode)
    table = Table("corpus", "words", *READERS, *(f"{name} : conllu" for name in RATIOS))
    for path in paths or sorted(SAMPLE.glob("*.conllu")):
        words = count_words(path)
        times = [[seconds(partial(read, path), clock) for read in READERS.values()] for _ in range(rounds)]
        speed = {name: words / min(of_reader) for name, *of_reader in zip(READERS, *times, strict=True)}
        ratios = [f"{speed[name] / speed['conllu']:.1f}" for name in RATIOS]
        table.add_row(path.name, f"{words:,}", *(f"{value:,.0f}" for value in speed.values()), *ratios)
    Console(width=200).print(table)


@app.command()
def build(  # noqa: PLR0913 (one parameter per option)
    source: Folder, *, task: Annotated[str, typer.Option(help="As in `build run`.")] = "discourse",
    times: Times = "1,2,4", jobs: Annotated[int, typer.Option(help="Processes.")] = 1, lang: Lang = "en",
    size: Annotated[str, typer.Option(help="As in `build run`.")] = "",
    audited: Annotated[bool, typer.Option("--audit", help="Also audit the configs.")] = False,
    work: Annotated[Path | None, typer.Option(help="Where copies, cache and release are written.")] = None,
) -> None:  # fmt: skip
    """What a build costs for each number of copies, and how the processor's time grows."""
    table = Table(
        "times", "sentences", "words", "seconds", "processor s", "of the parent", "words/s", "peak MB", "rows", "full"
    )
    options = ["--task", task, "--jobs", str(jobs), *(["--size", size] if size else [])]
    points = []
    for copies in map(int, times.split(",")):
        with tempfile.TemporaryDirectory(dir=work) as folder:
            sentences, words = copy_corpus(source, Path(folder) / "corpus", copies)
            of_copies = ["--lang", lang, "--corpus", f"{folder}/corpus", "--on-error", "skip"]
            result, cost = measure_build(Path(folder), [*of_copies, *options, *([] if audited else ["--no-audit"])])
        points.append((words, cost.processor))
        configs = result["configs"].values()
        sizes = [sum(map(rows_in, config["counts"].values())) for config in configs]
        table.add_row(
            str(copies), f"{sentences:,}", f"{words:,}", f"{cost.seconds:.1f}", f"{cost.processor:.1f}",
            f"{cost.parent:.1f}", f"{words / cost.seconds:,.0f}", f"{cost.peak:,.0f}", f"{sum(sizes):,}",
            f"{sum(size >= FULL for size in sizes)} of {len(sizes)}",
        )  # fmt: skip
        Console(width=140, stderr=True).print(table)
    Console(width=140).print(table)
    if len(points) > 1:
        print(f"processor time grows with the number of words to the power of {exponent(points):.2f}")


def exponent(points: Sequence[tuple[float, float]]) -> float:
    """The slope of the line through the logarithms of sizes and times."""
    sizes, times = np.log(np.array(points, dtype=np.float64)).T
    return float(np.polyfit(sizes, times, 1)[0])


def copy_corpus(source: Path, target: Path, times: int) -> tuple[int, int]:
    """Writes several copies of all files, with other ids; all but the first have other words.

    Returns:
        The number of sentences and of words.
    """
    files = files_of(source)
    sentences = {file: read_templates(file) for file in files}
    words_of_class = classes_of([sentence for of_file in sentences.values() for sentence in of_file])
    for copy in range(times):
        choose = random.Random(copy).random
        for file in files:
            folder = target / file.parent.name
            folder.mkdir(parents=True, exist_ok=True)
            name = file.name.removesuffix(".conllu")
            with (folder / f"{name}-{copy:04}.conllu").open("w", encoding="utf-8") as out:
                out.writelines(sentence.written(copy, words_of_class, choose) for sentence in sentences[file])
    every = [sentence for of_file in sentences.values() for sentence in of_file]
    return times * len(every), times * sum(sentence.words for sentence in every)


class Template(msgspec.Struct, frozen=True):
    """A sentence of CoNLL-U with a ``%s`` for the number of the copy and for every word that may be replaced.

    Attributes:
        text: the format string.
        exchanged: form and lemma of the words that may be replaced, and the class of words that may replace each.
        order: the value for each ``%s``: -1 for the copy, else twice the index of a word, plus one for its lemma.
        words: number of words of the sentence.
    """

    text: str
    exchanged: Sequence[tuple[tuple[str, str], str]]
    order: Sequence[int]
    words: int

    def written(
        self, copy: int, words_of_class: Mapping[str, Sequence[tuple[str, str]]], choose: Callable[[], float]
    ) -> str:
        """The sentence of a copy; the first copy has the words of the treebank."""
        flat: list[str] = []
        for word, name in self.exchanged:
            among = words_of_class[name]
            flat += among[int(choose() * len(among))] if copy else word
        number = f"{copy:04}-"
        return self.text % tuple(number if place < 0 else flat[place] for place in self.order)


def read_templates(path: Path) -> list[Template]:
    """The sentences of a file."""
    return [template(block) for block in path.read_text(encoding="utf-8").split("\n\n") if block.strip()]


OPEN = frozenset({"NOUN", "VERB", "ADJ", "ADV", "PROPN"})


def template(block: str) -> Template:
    """A sentence whose nouns, verbs, adjectives, adverbs and names can be replaced, except inside multiword tokens."""
    rows = [line.split("\t") for line in block.strip("\n").split("\n") if line[:1].isdigit()]
    inside = {
        n for row in rows if "-" in row[0] for n in range(int(row[0].split("-")[0]), int(row[0].split("-")[1]) + 1)
    }
    words = [row for row in rows if row[0].isdigit()]
    free = {row[0]: n for n, row in enumerate(row for row in words if row[3] in OPEN and int(row[0]) not in inside)}
    lines: list[str] = []
    order: list[int] = []
    for line in block.strip("\n").split("\n"):
        key, equals, value = line.partition(" = ")
        if key in {"# sent_id", "# newdoc id", "# newdoc_id"} and equals:
            order.append(-1)
            lines.append(f"{key} = %s{value.replace('%', '%%')}")
        elif key == "# text" and equals:
            order += [2 * free[row[0]] for row in words if row[0] in free]
            lines.append("# text = " + spelled(rows, inside, free))
        elif (row := line.split("\t"))[0] in free:
            order += [2 * free[row[0]], 2 * free[row[0]] + 1]
            lines.append("\t".join([row[0], "%s", "%s", *(value.replace("%", "%%") for value in row[3:])]))
        else:
            lines.append(line.replace("%", "%%"))
    exchanged = [((row[1], row[2]), class_of(row)) for row in words if row[0] in free]
    return Template("\n".join(lines) + "\n\n", exchanged, order, len(words))


def spelled(rows: Sequence[Sequence[str]], inside: Collection[int], free: Collection[str]) -> str:
    """The text of a sentence, with a place for every free word."""
    written = [row for row in rows if "-" in row[0] or (row[0].isdigit() and int(row[0]) not in inside)]
    pieces = [
        ("%s" if row[0] in free else row[1].replace("%", "%%")) + ("" if "SpaceAfter=No" in row[9] else " ")
        for row in written
    ]
    return "".join(pieces).rstrip(" ")


def class_of(row: Sequence[str]) -> str:
    """The class of a word: part of speech, features and capital. Words of a class can replace each other."""
    return "\t".join([row[3], row[5], str(row[1][:1].isupper())])


def classes_of(sentences: Sequence[Template]) -> dict[str, list[tuple[str, str]]]:
    """The words of each class, as often as they occur, so that frequent words stay frequent."""
    classes: dict[str, list[tuple[str, str]]] = {}
    for sentence in sentences:
        for word, name in sentence.exchanged:
            classes.setdefault(name, []).append(word)
    return classes


def measure_build(folder: Path, options: Sequence[str]) -> "tuple[dict[str, Any], Cost]":
    """What ``build run`` prints when it builds into ``folder/out`` with an empty cache, and what it cost."""
    command = [sys.executable, "-m", "discoprobe", "run", "--out", str(folder / "out"), "--json", *options]
    return measured(command, {"DISCOPROBE_CACHE": str(folder / "cache")})


class Cost(msgspec.Struct, frozen=True):
    """What a command took.

    Attributes:
        seconds: elapsed time.
        processor: processor time of all processes, in seconds.
        parent: processor time of the first process, in seconds.
        peak: peak memory of all processes together, in MB: the sum of their proportional set sizes (PSS).
    """

    seconds: float
    processor: float
    parent: float
    peak: float


def measured(command: Sequence[str], environment: Mapping[str, str]) -> tuple[Any, Cost]:
    """What a command prints as JSON, and what it cost.

    Raises:
        CalledProcessError: it ended with another status than 0, or 3 for a failed audit.
    """
    start = time.perf_counter()
    with (
        tempfile.TemporaryFile() as printed,
        subprocess.Popen(command, stdout=printed, env={**os.environ, **environment}) as process,
    ):
        peak = parent = 0.0
        while (ended := os.wait4(process.pid, os.WNOHANG))[0] == 0:
            peak = max(peak, memory_of(process.pid))
            parent = max(parent, processor_of(process.pid))
            time.sleep(1)
        process.returncode = os.waitstatus_to_exitcode(ended[1])
        seconds = time.perf_counter() - start
        if process.returncode not in {0, AUDIT_FAILED}:
            raise subprocess.CalledProcessError(process.returncode, command)
        printed.seek(0)
        result = json.loads(printed.read())
    return result, Cost(seconds, ended[2].ru_utime + ended[2].ru_stime, parent, peak)


def memory_of(pid: int) -> float:
    """MB of a process and all that it started."""
    try:
        root = psutil.Process(pid)
        return sum(process.memory_full_info().pss for process in [root, *root.children(recursive=True)]) / 2**20
    except psutil.Error:  # one of them has ended
        return 0.0


def processor_of(pid: int) -> float:
    """Seconds of the processor that a process has used itself."""
    try:
        times = psutil.Process(pid).cpu_times()
    except psutil.Error:
        return 0.0
    return float(times.user + times.system)


PLAIN = ("sent_len", "tree_depth", "pred_tense", "subj_number", "bigram_shift")
"""Tasks that a plain builder makes too."""


@app.command()
def plain(source: Folder, *, lang: Lang = "en") -> None:
    """What five probing tasks cost here, and in a plain program over the conllu library."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "corpus").symlink_to(source.resolve())
        options = ["--lang", lang, "--corpus", f"{folder}/corpus", "--on-error", "skip", "--task", ",".join(PLAIN)]
        result, cost = measure_build(Path(folder), [*options, "--no-audit"])
        configs = result["configs"].values()
        ours = {config["task"]: sum(map(rows_in, config["counts"].values())) for config in configs}
        start, clock = time.perf_counter(), time.process_time()
        theirs = plain_build(source, Path(folder) / "plain")
        seconds, processor = time.perf_counter() - start, time.process_time() - clock
    table = Table("builder", "seconds", "processor s", *PLAIN)
    counted = [(ours, cost.seconds, cost.processor, "discoprobe"), (theirs, seconds, processor, "plain, conllu")]
    for rows, wall, used, name in counted:
        table.add_row(name, f"{wall:.1f}", f"{used:.1f}", *(f"{rows.get(task, 0):,}" for task in PLAIN))
    Console(width=140).print(table)


def rows_in(labels: Mapping[str, int]) -> int:
    """The rows of a split, from those of each label."""
    return sum(labels.values())


def plain_build(source: Path, target: Path) -> dict[str, int]:
    """Builds tasks with the conllu library: labels, the same number of rows for each label, JSON lines.

    It has no filters, no matching, and no search for near-duplicates.

    Returns:
        Task → number of rows.
    """
    labelled: dict[str, dict[object, list[str]]] = {task: {} for task in PLAIN}
    for file in read_conllu(source):
        for sentence in file:
            for task, label, text in plain_labels(sentence):
                labelled[task].setdefault(label, []).append(text)
    target.mkdir()
    choose = random.Random(13)
    counts = {}
    for task, texts in labelled.items():
        least = min(map(len, texts.values()), default=0)
        rows = [(text, str(label)) for label, of_label in texts.items() for text in choose.sample(of_label, least)]
        choose.shuffle(rows)
        (target / f"{task}.jsonl").write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows))
        counts[task] = len(rows)
    return counts


def plain_labels(sentence: conllu.TokenList) -> Iterator[tuple[str, object, str]]:
    """The task, label and text of each row that a sentence may be."""
    words = [token for token in sentence if isinstance(token["id"], int)]
    text = sentence.metadata.get("text") or " ".join(token["form"] for token in words)
    heads = {token["id"]: token["head"] for token in words}
    root = next((token for token in words if token["head"] == 0), None)
    yield "sent_len", min(len(words) // 5, 5), text
    yield "tree_depth", min(max(steps_to_root(word, heads) for word in heads), 10), text
    if root and (tense := (root["feats"] or {}).get("Tense")) in {"Past", "Pres"}:
        yield "pred_tense", tense, text
    subject = next(
        (token for token in words if root and token["head"] == root["id"] and token["deprel"] == "nsubj"), None
    )
    if subject and (number := (subject["feats"] or {}).get("Number")) in {"Sing", "Plur"}:
        yield "subj_number", number, text
    at = len(words) // 2
    if at and words[at]["form"] != words[at - 1]["form"]:
        shifted = [*words[: at - 1], words[at], words[at - 1], *words[at + 1 :]]
        yield "bigram_shift", "original", text
        yield "bigram_shift", "inverted", " ".join(token["form"] for token in shifted)


def steps_to_root(word: int, heads: Mapping[int, int | None]) -> int:
    """How many edges lead from a word to the root."""
    steps = 0
    while (head := heads.get(word)) and steps <= len(heads):
        word, steps = head, steps + 1
    return steps


RECORD = Path(__file__).parents[1] / "docs" / "records" / "scale.json"
DESIGNS = Path(__file__).parents[1] / "cards" / "metadata" / "designs.json"
"""What cards quote of the treebanks' audits: ``closest_designs``."""
DESIGN = ("check", "kind", "status", "measured", "threshold", "baseline", "interval", "n", "configs")
"""The fields of a finding that are kept of them."""
SHARED = Path(os.environ.get("DISCOPROBE_SHARED") or Path(__file__).parents[2] / "shared")
WIKI = ("hub/wiki_de", "--lang de --segment --task discourse")
NOVELS = ("hub/novels_es", "--lang es --segment --task discourse")
PARTS = {
    "wiki_de_2k": (WIKI[0], f"{WIKI[1]} --size 2000/400/400"),
    "wiki_de_10k": (WIKI[0], f"{WIKI[1]} --size 10000/4000/4000"),
    "wiki_de": WIKI,
    "novels_es_10k": (NOVELS[0], f"{NOVELS[1]} --size 10000/4000/4000"),
    "novels_es": NOVELS,
    "treebanks": ("ud", "--lang all --task all --gold"),
}
"""The parts of the record: a corpus below ``corpora`` of the shared folder, and the options of ``build run``."""
NOISE = 0.005
"""The accuracy of a baseline on the same rows may differ by less than this between machines."""
DIGITS = 3


@app.command()
def release(  # noqa: PLR0913 (one parameter per option)
    *, part: Annotated[list[str] | None, typer.Option(help=f"Build only this part: {', '.join(PARTS)}.")] = None,
    jobs: Annotated[int, typer.Option(help="Processes; the rows do not depend on it.")] = 2,
    shared: Annotated[Path, typer.Option(help="The folder that has `corpora`.")] = SHARED,
    record: Annotated[Path, typer.Option(help="The record that is compared, and changed with --write.")] = RECORD,
    write: Annotated[bool, typer.Option("--write", help="Store the parts in the record.")] = False,
    work: Annotated[Path | None, typer.Option(help="Where cache and release are written.")] = None,
) -> None:  # fmt: skip
    """Build the parts of the record of scale, and print what differs from it; the exit status is 1 if anything does."""
    differ = False
    for name in part or PARTS:
        built, reasons, designs = build_part(name, jobs, shared, work)
        recorded = json.loads(record.read_text(encoding="utf-8")) if record.exists() else {}
        before = recorded.get(name, {"software": {}, "cost": {}, "configs": {}})
        lines = differences(before["configs"], built["configs"], reasons)
        versions = changed(before["software"], built["software"]) if name in recorded else []
        if lines and versions:
            lines.append(f"built with other software: {', '.join(versions)}")
        print("\n  ".join([f"{name}: {cost_text(before['cost'], built['cost'])}", *lines]), flush=True)
        differ = differ or bool(lines)
        if write:
            recorded[name] = built
            record.parent.mkdir(parents=True, exist_ok=True)
            ordered = {each: recorded[each] for each in PARTS if each in recorded}
            record.write_text(record_text(ordered), encoding="utf-8")
            if name == "treebanks":
                lines = (
                    f" {json.dumps(task)}: {json.dumps({name: getattr(design, name) for name in DESIGN})}"
                    for task, design in designs.items()
                )
                DESIGNS.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    if differ and not write:
        raise typer.Exit(1)


def build_part(
    name: str, jobs: int, shared: Path, work: Path | None
) -> tuple[dict[str, Any], dict[str, str], dict[str, Finding]]:
    """What the record has of a part, built now; why configs are not built, by name; and ``closest_designs``."""
    corpus, options = PARTS[name]
    command = ["--corpus", str(shared / "corpora" / corpus), *options.split(), "--keep-failed", "--jobs", str(jobs)]
    with tempfile.TemporaryDirectory(dir=work) as folder:
        out = Path(folder) / "out"
        result, cost = measure_build(Path(folder), command)
        release = manifest.read(out)
        languages = {entry.lang for entry in release.configs.values()}
        reports = {
            config: report
            for lang in languages
            for config, report in LanguageFiles.of_folder(out, lang, manifest.AUDITS).reports.items()
        }
    built = {
        "command": f"build run --corpus {corpus} {options} --keep-failed --jobs {jobs}",
        "software": release.software,
        "cost": {what: round(value) for what, value in msgspec.structs.asdict(cost).items()},
        "configs": {config: config_record(entry, reports[config]) for config, entry in result["configs"].items()},
    }
    return built, result["unavailable"], closest_designs(release.configs)


def config_record(entry: Mapping[str, Any], report: Mapping[str, Any]) -> dict[str, Any]:
    """What the record has of a config, from its entry in the manifest and the report of its audit.

    ``open`` has the checks that the rows cannot decide. Each has the accuracy, both ends and the threshold.
    """
    strongest = report["strongest"]
    shortcuts = [finding for finding in report["findings"] if finding["interval"] and finding["threshold"] is not None]
    return {
        "rows": {split: rows_in(labels) for split, labels in entry["counts"].items()},
        "digest": hash_of_json(entry["content"])[:16],
        "drops": entry["drops"],
        "strongest": strongest and {
            "check": strongest["check"],
            "accuracy": round(strongest["accuracy"], DIGITS),
            "interval": [round(end, DIGITS) for end in strongest["interval"] or ()],
        },
        "failed": entry["audit"]["failed"],
        "open": {
            finding["check"]: [
                round(number, DIGITS) for number in (finding["measured"], *finding["interval"], finding["threshold"])
            ]
            for finding in shortcuts
            if finding["status"] == "open"
        },
    }  # fmt: skip


def differences(
    before: Mapping[str, Mapping[str, Any]], after: Mapping[str, Mapping[str, Any]], reasons: Mapping[str, str]
) -> list[str]:
    """What differs between the configs of a part, a line each.

    Args:
        before: config → ``config_record`` on file.
        after: the same, built now.
        reasons: why other configs are not built now.
    """
    lines = []
    for name in sorted(before.keys() | after.keys()):
        if name not in after:
            lines.append(f"{name} {rows_of(before[name])} → not built: {reasons.get(name, 'not asked for')}")
        elif name not in before:
            lines.append(f"{name} not in the record → {rows_of(after[name])}")
        else:
            lines += [f"{name} {line}" for line in config_differences(before[name], after[name])]
    return lines


def config_differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """What differs in a config: rows, drops, baselines and verdict."""
    same_rows = before["digest"] == after["digest"]
    lines = changed(before["rows"], after["rows"])
    if not same_rows and not lines:
        lines.append(f"other rows: digest {before['digest']} → {after['digest']}")
    lines += changed(before["drops"], after["drops"])
    solvers = [side["strongest"] or {"check": "no baseline", "accuracy": 0.0} for side in (before, after)]
    accuracies = [solver["accuracy"] for solver in solvers]
    if abs(accuracies[1] - accuracies[0]) >= (NOISE if same_rows else 10**-DIGITS / 2):
        texts = [f"{solver['check']} {solver['accuracy']:.{DIGITS}f}" for solver in solvers]
        same_solver = solvers[0]["check"] == solvers[1]["check"]
        lines.append(" → ".join([texts[0], texts[1].rpartition(" ")[2] if same_solver else texts[1]]))
    if before["failed"] != after["failed"]:
        lines.append(" → ".join(f"fails {', '.join(side['failed']) or 'no check'}" for side in (before, after)))
    for check in sorted(before["open"].keys() ^ after["open"].keys()):
        accuracy, low, high, threshold = (before["open"] | after["open"])[check]
        if not same_rows or high - threshold >= NOISE:
            now = "is open" if check in after["open"] else "was open"
            lines.append(f"{check} {now}: {accuracy} ({low}–{high}), threshold {threshold}")
    return lines


def changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Values that differ: ``train 76,676 → 9,188``; ``none`` where there is no value."""
    texts = [
        {name: f"{value:,}" if isinstance(value, int) else str(value) for name, value in side.items()}
        for side in (before, after)
    ]
    names = dict.fromkeys([*before, *after])
    pairs = {name: [side.get(name, "none") for side in texts] for name in names}
    return [f"{name} {old} → {new}" for name, (old, new) in pairs.items() if old != new]


def rows_of(config: Mapping[str, Any]) -> str:
    """The numbers of rows of the splits: ``76,676/10,000/10,000``."""
    return "/".join(f"{n:,}" for n in config["rows"].values())


def cost_text(before: Mapping[str, int], after: Mapping[str, int]) -> str:
    """What a part cost, and the ratio to the record; machines are too different to compare it."""
    units = {"seconds": "s", "processor": "processor s", "parent": "of the parent", "peak": "MB"}
    values = {what: f"{after[what]:,} {unit}" for what, unit in units.items()}
    return ", ".join(f"{text} (× {after[w] / before[w]:.2f})" if before.get(w) else text for w, text in values.items())


def record_text(record: Mapping[str, Mapping[str, Any]]) -> str:
    """The record as JSON with a line per config, so that a change shows which configs it concerns."""
    parts = []
    for name, part in record.items():
        lines = [f"  {json.dumps(key)}: {json.dumps(value)},\n" for key, value in part.items() if key != "configs"]
        configs = [f"   {json.dumps(key)}: {json.dumps(value)}" for key, value in part["configs"].items()]
        parts.append(f' "{name}": {{\n{"".join(lines)}  "configs": {{\n' + ",\n".join(configs) + "\n  }\n }")
    return "{\n" + ",\n".join(parts) + "\n}\n"


@app.command("all")
def all_(source: Folder, *, lang: Lang = "en", times: Times = "1,2,4", rows: str = "1000,12000,120000") -> None:
    """Print all tables, each by its own command; ``--rows`` are the numbers of rows to audit."""
    build_of = ["build", str(source), "--lang", lang, "--task"]
    for command in (
        ["reader", str(source)],
        ["plain", str(source), "--lang", lang],
        *([*build_of, task, "--times", times] for task in ("probing", "discourse")),
        [*build_of, "probing", "--times", times.rpartition(",")[2], "--jobs", "2"],
        [*build_of, "probing", "--times", times, "--audit"],
        ["audit", *rows.split(",")],
    ):
        print(f"\nbenchmark.py {' '.join(command)}", flush=True)
        if status := subprocess.run([sys.executable, __file__, *command], check=False).returncode:
            raise typer.Exit(status)


@app.command()
def audit(rows: Annotated[list[int] | None, typer.Argument(help="Numbers of rows.")] = None) -> None:
    """Seconds, processor seconds and peak memory for each number of rows, and the ratio to counting n-grams."""
    table = Table("rows", "characters", "seconds", "processor s", "peak MB", "n-grams of scikit-learn, s", "ratio")
    for n in rows or [1_000, 12_000, 120_000]:
        with tempfile.TemporaryDirectory() as folder:
            texts = invent(Path(folder), n)
            _, cost = measured([sys.executable, "-m", "discoprobe", "audit", folder, "--json"], {})
        start = time.perf_counter()
        HashingVectorizer(analyzer="char_wb", ngram_range=(1, 4), lowercase=False).transform(texts)
        peer = time.perf_counter() - start
        table.add_row(
            f"{n:,}", f"{sum(map(len, texts)):,}", f"{cost.seconds:.1f}", f"{cost.processor:.1f}",
            f"{cost.peak:,.0f}", f"{peer:.1f}", f"{cost.seconds / peer:.2f}",
        )  # fmt: skip
    Console(width=120).print(table)


CONFIGS, PROBED, POOLED = 30, (10_000, 2_000, 2_000), 3
"""Configs of a release, rows of train, validation and test of each, and poolings of a layer."""
QUICK_ROWS = (2500, 500, 2000)
ENCODINGS = 5
"""How often texts are read with controls: as they are, with words in another order, by three untrained models."""
THREADS = "--threads"


def model_of(size: str) -> Any:
    """A model with random weights that `discoprobe.evaluation` can use; its tokens have four characters at most."""
    import tokenizers  # noqa: PLC0415 (extras)
    import torch
    import transformers

    from discoprobe.evaluation import LanguageModel  # noqa: PLC0415 (the same)

    base = {"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072}
    config = {
        "mBERT": lambda: transformers.BertConfig(vocab_size=119_547, **base),
        "XLM-R": lambda: transformers.XLMRobertaConfig(vocab_size=250_002, max_position_embeddings=514, **base),
        "1.5 B": lambda: transformers.Qwen2Config(
            vocab_size=151_936,
            hidden_size=1536,
            num_hidden_layers=28,
            num_attention_heads=12,
            num_key_value_heads=2,
            intermediate_size=8960,
            tie_word_embeddings=True,
        ),
    }[size]()
    dtype = torch.bfloat16 if size == "1.5 B" else torch.float32
    torch.set_default_dtype(dtype)
    model = transformers.AutoModel.from_config(config).eval()
    torch.set_default_dtype(torch.float32)
    splitter = tokenizers.Tokenizer(tokenizers.models.WordLevel({"[PAD]": 0, "[UNK]": 1}, unk_token="[UNK]"))
    pieces = tokenizers.pre_tokenizers.Split(tokenizers.Regex(".{1,4}"), "isolated")
    splitter.pre_tokenizer = tokenizers.pre_tokenizers.Sequence([tokenizers.pre_tokenizers.Whitespace(), pieces])
    marks = {"pad_token": "[PAD]", "unk_token": "[UNK]"}
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=splitter, model_max_length=512, **marks)
    kind = "causal" if size == "1.5 B" else "encoder"
    return LanguageModel(
        size, kind, "", "", has_head=False, device="cpu", config=config, dtype=str(dtype).partition(".")[2],
        model=model, tokenizer=tokenizer, longest=512,
    )  # fmt: skip


@app.command()
def scores(
    sizes: Annotated[list[str] | None, typer.Argument(help="`mBERT`, `XLM-R`, `1.5 B`; default: all.")] = None,
    *, texts: Annotated[int, typer.Option(help="Sentences that are read.")] = 256,
    threads: Annotated[int, typer.Option(help="Threads of torch.")] = 1,
) -> None:  # fmt: skip
    """Rows per processor second, memory, and hours for a release of 30 configs, by size of the model."""
    if sizes is None or len(sizes) > 1:
        for size in sizes or ["mBERT", "XLM-R", "1.5 B"]:
            command = [sys.executable, __file__, "scores", size, "--texts", str(texts), THREADS, str(threads)]
            subprocess.run(command, check=True)
        return
    import resource  # noqa: PLC0415 (not on Windows)

    import torch
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 (takes a second)

    from discoprobe.evaluation import vectors_of  # noqa: PLC0415 (needs the extra)
    from discoprobe.evaluation.probes import STEPS, STRENGTHS  # noqa: PLC0415 (the same)
    from discoprobe.loaders import silent  # noqa: PLC0415 (the same)

    (size,) = sizes
    torch.set_num_threads(threads)
    lines = [line for path in sorted(SAMPLE.glob("*.conllu")) for line in path.read_text("utf-8").splitlines()]
    units = [(text, 0, 0) for text in dict.fromkeys(line[9:] for line in lines if line.startswith("# text = "))][:texts]
    model = model_of(size)

    def with_transformers(part: Sequence[tuple[str, int, int]]) -> None:
        in_order = sorted((text for text, *_ in part), key=len)
        with torch.inference_mode():
            for start in range(0, len(in_order), 64):
                batch = model.tokenizer(in_order[start : start + 64], padding=True, return_tensors="pt")
                batch.pop("token_type_ids", None)
                model.model(**batch, output_hidden_states=True)

    spent = {"ours": 0.0, "plain": 0.0}
    ways: dict[str, Callable[[Sequence[tuple[str, int, int]]], object]] = {
        "ours": lambda part: dict(vectors_of(model, part, silent)), "plain": with_transformers,
    }  # fmt: skip
    parts = [units[:8], *(units[start : start + 64] for start in range(0, len(units), 64))]
    for is_first, part in zip([True, *([False] * len(parts))], parts, strict=False):
        for name, way in ways.items():
            took = seconds(partial(way, part), "processor")
            spent[name] += 0.0 if is_first else took
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    per_row = {name: value / len(units) for name, value in spent.items()}
    source = np.random.Generator(np.random.PCG64(1))  # noqa: TID251 (texts to measure with, no choice of rows)
    size_of = (PROBED[0], model.config.hidden_size)
    hidden = source.standard_normal(size_of, np.float32) / np.sqrt(np.arange(1, size_of[1] + 1, dtype=np.float32))
    features = hidden @ source.standard_normal((size_of[1], size_of[1]), np.float32)  # neurons that correlate
    features /= features.std(axis=0)
    labels = (hidden[:, :20].sum(axis=1) + 2 * source.standard_normal(PROBED[0]) > 0).astype(int)
    probe = {
        n: sum(
            seconds(partial(LogisticRegression(C=each, max_iter=STEPS).fit, features[:n], labels[:n]), "processor")
            for each in STRENGTHS
        )
        for n in (PROBED[0], QUICK_ROWS[0])
    }
    layers = model.config.num_hidden_layers + 1
    hours = {
        name: CONFIGS * (times * sum(rows) * per_row["ours"] + layers * POOLED * probe[rows[0]]) / 3600
        for name, rows, times in (
            ("no controls", PROBED, 1), ("controls", PROBED, ENCODINGS), ("quick", QUICK_ROWS, 1)
        )
    }  # fmt: skip
    print(
        f"{size}: {1 / per_row['ours']:.1f} rows/s, plain transformers {1 / per_row['plain']:.1f} (ratio "
        f"{per_row['plain'] / per_row['ours']:.2f}); peak {peak:.2f} GB; probes of a layer and pooling "
        f"{probe[PROBED[0]]:.1f} s (quick {probe[QUICK_ROWS[0]]:.2f} s); {CONFIGS} configs: "
        + ", ".join(f"{name} {value:.1f} h" for name, value in hours.items()),
        flush=True,
    )


def invent(folder: Path, n: int) -> list[str]:
    """Write rows of five sentences of random words, with one of five labels, as JSONL; returns the text of each row."""
    source = random.Random(13)
    vocabulary = ["".join(source.choices("abcdefghiklmnoprstuvz", k=source.randint(2, 9))) for _ in range(3000)]
    weights = [1 / (rank + 10) for rank in range(len(vocabulary))]
    texts = []
    for split, share in (("train", 0.6), ("validation", 0.2), ("test", 0.2)):
        with (folder / f"{split}.jsonl").open("w", encoding="utf-8") as file:
            for place in range(round(n * share)):
                sentences = [
                    " ".join(source.choices(vocabulary, weights, k=source.randint(6, 20))).capitalize() + "."
                    for _ in range(5)
                ]
                file.write(json.dumps({"sentences": sentences, "label": place * 7 % 5}) + "\n")
                texts.append(" ".join(sentences))
    return texts


def seconds(work: Callable[[], object], clock: str) -> float:
    """The seconds that a call takes."""
    start = CLOCKS[clock]()
    work()
    return CLOCKS[clock]() - start


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
    """Parse, check, align, and find documents, without hashing the file and storing its tables."""
    files = files_of(path)
    stems = [file.stem for file in files]
    parsed = parse([Piece(stem, file.read_bytes()) for stem, file in zip(stems, files, strict=True)])
    placed = place(parsed.sentences, path.stem, stems, DocumentRule(), Carried())
    return Shard(placed.documents, placed.sentences, parsed.tokens)


def read_cells(path: Path) -> list[pl.DataFrame]:
    """The cells of each file, with ids, heads and UPOS cast."""
    return [
        pl.read_csv(
            file, schema=dict.fromkeys(NAMES, pl.String), has_header=False, separator="\t", quote_char=None,
            comment_prefix="#", truncate_ragged_lines=True,
        ).cast({"id": pl.UInt16, "head": pl.UInt16, "upos": UPOS}, strict=False)
        for file in files_of(path)
    ]  # fmt: skip


def read_mapped(path: Path) -> object:
    """Read the tables from the cache if they are there."""
    (corpus,) = read_corpora([path], lang="en").values()
    return list(corpus.shards())


def read_conllu(path: Path) -> list[list[conllu.TokenList]]:
    """All sentences of each file, by the conllu library."""
    return [list(conllu.parse(file.read_text(encoding="utf-8"))) for file in files_of(path)]


READERS: dict[str, Callable[[Path], object]] = {
    "discoprobe": read_discoprobe,
    "cached": read_mapped,
    "parsed": read_parsed,
    "csv": read_cells,
    "conllu": read_conllu,
    "pyconll": lambda path: [pyconll.load.load_from_file(str(file)) for file in files_of(path)],
    "udapi": lambda path: [Document(str(file)) for file in files_of(path)],
}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.environ["BENCHMARK_FOLDER"] = folder
        app()
