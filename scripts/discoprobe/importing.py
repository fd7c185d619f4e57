"""Takes datasets of others into a release folder, with what the audit finds: `build import`.

`import_data` makes a config of them, with the splits and labels of the source, audits it and writes it. Rows that
splits share can be left out (`without_leaks`), or all rows divided again (`regrouped`).
"""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl
from msgspec.structs import replace
from scipy import sparse
from scipy.sparse import csgraph

from discoprobe.auditing import judged, read_all
from discoprobe.builders.audit.frame import AuditInput, with_edited
from discoprobe.builders.audit.inputs.data_files import Reading, Skipped
from discoprobe.builders.audit.integrity import SPLIT_NUMBER, shared_by
from discoprobe.builders.audit.own_configs import from_config
from discoprobe.builders.audit.report import Report
from discoprobe.builders.audit.run import audit
from discoprobe.builders.audit.task_types import TASK_TYPES, TaskType, check_task_type, with_task_type
from discoprobe.builders.audit.thresholds import LEAKS, MOST_DROPPED
from discoprobe.builders.config import Config, Shape, schema
from discoprobe.builders.task import all_tasks
from discoprobe.cards.metadata.yaml_header import is_language, language_code
from discoprobe.cards.release.release_folder import open_release
from discoprobe.foreign_suites import SUFFIXES, SUITES, suite_of
from discoprobe.loaders import hashing
from discoprobe.loaders.archives import is_archive
from discoprobe.loaders.catalogue import licences
from discoprobe.loaders.catalogue.treebanks import Source
from discoprobe.loaders.errors import DiscoprobeError, UnknownNameError
from discoprobe.loaders.files import hashes_of

Leaks = Literal["keep", "drop", "regroup"]


Imported = tuple[Report, Sequence[str], Sequence[Skipped], bool]
"""The report on a config, remarks on it, what was skipped, and whether it was written."""


def import_data(  # noqa: PLR0913 (one parameter per option)
    names: Sequence[str], reading: Reading, task_type: str, source: Source, out: Path, *, leaks: Leaks = "keep",
    strict: bool = False,
) -> Imported:  # fmt: skip
    """Writes the config ``{name}_{lang}`` into a release folder, with what the audit found; ``strict``: if it passes.

    ``source`` has its name, language, licence and citation; the files are added. The rows are those of others: what is
    wrong with them is for the card to say, and stops an import only on request.

    Raises:
        DiscoprobeError: the files hold several datasets, the rows have another type, name, language or licence is not
            valid, or too many rows leak to be left out.
    """
    of_rows = next((name for name in TASK_TYPES if name == task_type), None)
    if of_rows is None and task_type not in SUITES:
        raise UnknownNameError("task type", task_type, [*TASK_TYPES, *SUITES])
    name, lang = source.name, source.lang
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or name in all_tasks():
        raise DiscoprobeError(
            f"'{name}' cannot name a config: use small letters, digits and _, and not the name of a task"
        )
    if not (re.fullmatch(r"[a-z]{2,3}", lang) and is_language(language_code(lang))):
        raise DiscoprobeError(f"'{lang}' is not a language code of ISO 639-1 or 639-3, such as es or cop")
    licences.checked(source.licence)
    skipped: Sequence[Skipped] = ()
    files = _files(names)
    if of_rows is None:
        files = [file for file in files if file.suffix in SUFFIXES]
        if not files:
            kinds = ", ".join(SUFFIXES)
            raise DiscoprobeError(f"{' '.join(names)}: no file to read; --task-type {task_type} reads {kinds}")
        config = suite_of(task_type, files, name=name, lang=lang, source=_with_files(source, files))
        report = audit(config)
    else:
        read, skipped = read_all(names, out, replace(reading, task_type=of_rows))
        if len(read) > 1:
            found = ", ".join(data.name for data in read)
            raise DiscoprobeError(f"{' '.join(names)}: {len(read)} datasets ({found}); import them one by one")
        data = read[0]
        names_read = {file for of_split in (data.read.files if data.read else {}).values() for file in of_split}
        files = [path for path in files if path.name in names_read or is_archive(path)]
        source = _with_files(source, files)
        if not files:  # the repository on the Hub
            source = replace(source, name=data.name, repo=f"datasets/{data.name}")
        config = config_of(data, of_rows, name=name, lang=lang, source=source, leaks=leaks)
        typed = with_task_type(with_edited(from_config(config), reading.edited), of_rows)
        report = replace(audit(typed), read=data.read)
    (report,) = judged([report])
    written = not strict or not report.failed or report.verdict.is_minor
    if written:
        with open_release(out) as release:
            release.add(config, report)
            release.finish()
    remarks = [f"left out for {check}: {config.drops[check]:,} rows" for check in LEAKS if check in config.drops]
    remarks += [note for note in config.notes if note not in (report.read.notes if report.read else ())]
    return report, remarks, skipped, written


def _files(names: Sequence[str]) -> list[Path]:
    """The named files, and all files in the named folders."""
    places = [path for name in names if (path := Path(name)).exists()]
    inside = [file for place in places for file in ([place] if place.is_file() else sorted(place.rglob("*")))]
    return [file for file in inside if file.is_file()]


def _with_files(source: Source, files: Sequence[Path]) -> Source:
    """The source with its files and their hashes."""
    hashed = tuple(replace(hashes_of(path, with_git=False), path=path.name) for path in files)
    return replace(source, files=hashed)


def config_of(  # noqa: PLR0913 (one parameter per fact)
    data: AuditInput, task_type: TaskType, *, name: str, lang: str, source: Source, leaks: Leaks = "keep"
) -> Config:
    """The config ``{name}_{lang}`` with the rows of ``data``, in their splits and their order.

    It has the splits of ``data``: `datasets` cannot load an empty one. Scores stay numbers in ``score``; ``label`` has
    the classes of the audit.

    Args:
        data: rows that `inputs.read` gave.
        task_type: what a row is.
        name: what the config is called, before its language.
        lang: code of the language.
        source: where the rows come from, with licence and citation.
        leaks: what is done with rows that splits share: ``keep``; ``drop`` leaves out those of earlier splits, which
            are counted; ``regroup`` divides all rows again, each once, so that rows that share a sentence are in one
            split.

    Raises:
        DiscoprobeError: the rows are not of this type, or ``drop`` would take more than ``MOST_DROPPED`` of a split.
    """
    shape, question = TASK_TYPES[check_task_type(data, task_type)]
    used, dropped = without_leaks(data) if leaks == "drop" else (data, {})
    different, left = (dict(rows.keyed.group_by("split").agg(pl.col("input").n_unique()).iter_rows()) for rows in (
        data, used))  # fmt: skip
    for split, n in different.items():
        if (fewer := n - left.get(split, 0)) > MOST_DROPPED * n:
            raise DiscoprobeError(
                f"--drop-leaks would leave out {fewer:,} of the {n:,} different rows of {split}, more than "
                "a tenth. Keep them (the card says what leaks), or use --regroup: it divides all rows again, so that "
                "rows that share a sentence are in one split"
            )
    remark = ""
    if leaks == "regroup":
        used, remark = regrouped(data)
        dropped = {"dup-within": n} if (n := data.rows.height - used.rows.height) else {}
    if remark and len(used.splits) < len(data.splits):
        raise DiscoprobeError(f"--regroup: {remark}; so a split has no rows. Keep the splits as they are published")
    texts, n_context = pl.col("texts"), pl.col("n_context")
    first, second = (texts.list.get(at).alias(f"sentence{at + 1}") for at in (0, 1))
    columns: dict[Shape, list[pl.Expr]] = {
        Shape.SENTENCE: [
            texts.list.first().alias("text"),
            texts.list.first().str.count_matches(r"\w+").cast(pl.Int32).alias("n_words"),
        ],
        Shape.PAIR: [first, second],
        Shape.SCORED: [first, second, pl.col("score")],
        Shape.CHOICE: [
            texts.list.slice(0, n_context).alias("context"),
            texts.list.slice(n_context).alias("choices"),
            texts.list.slice(n_context).list.eval(pl.lit(None, dtype=pl.String)).alias("distractor"),
        ],
    }
    target = schema(shape)
    splits = {}
    for split in used.splits:
        rows = used.split(split).select("id", "label", "pair_id", "group", *columns[shape], corpus=pl.lit(source.name))
        rows = rows.with_columns(pl.lit(None).alias(column) for column in target.names if column not in rows.columns)
        splits[split] = rows.select(target.names).to_arrow().cast(target)
    left_out = dict(data.read.left_out) if data.read else {}
    meanings = dict.fromkeys(left_out, "not usable as published")
    read = f" Read as {data.read.format}." if data.read and data.read.format else ""
    of_source = "Rows and labels" if remark else "Rows, labels and splits"
    about = f"{of_source} are those of the source; they were audited, not chosen.{read}"
    return Config(
        name=f"{name}_{lang}", task=name, lang=lang, shape=shape, labels=data.labels, splits=splits,
        drops=left_out | dropped, meanings=meanings | {check: LEAKS[check] for check in dropped},
        candidates=data.rows.height + sum(left_out.values()), sources=(source,), read=(source.name,),
        definition=f"{question}, from {source.name}.\n\n{about}", asks=question, split_by="",
        published=True, pairs=False,
        notes=(*(data.read.notes if data.read else ()), *filter(None, [remark])), exempt=data.exempt,
    )  # fmt: skip


def without_leaks(data: AuditInput) -> tuple[AuditInput, dict[str, int]]:
    """``data`` without the rows of earlier splits that leak into later ones, and how many rows each check removed.

    Later splits stay as they were published, so that scores on them can be compared. Of a row that occurs several times
    in its split the first stays.
    """
    counts: Counter[str] = Counter()
    rows = data.rows
    for check in LEAKS:
        of_rows = replace(data, rows=rows)
        if check == "dup-within":
            leaking = of_rows.keyed.filter(pl.int_range(pl.len()).over("split", "input") > 0)
        else:
            frame, key = shared_by(of_rows, check)
            leaking = frame.filter(SPLIT_NUMBER.max().over(key) > SPLIT_NUMBER)
        leaking = leaking.select("split", "place").unique()
        counts[check] = leaking.height
        rows = rows.join(leaking, on=["split", "place"], how="anti", maintain_order="left")
    placed = rows.with_columns(place=pl.int_range(pl.len(), dtype=pl.UInt32).over("split"))
    return replace(data, rows=placed), {check: n for check, n in counts.items() if n}


def regrouped(data: AuditInput) -> tuple[AuditInput, str]:
    """``data`` with rows that share an input, a sentence or a near duplicate in one split, and a remark on the groups.

    Of a row that occurs several times the first stays: its copies would be in its split. Splits keep their shares.
    The groups (connected rows, over any number of steps) are dealt from the largest to the smallest, those of one size
    in the order of a hash, each to the split that lacks most of its published share of the rows.
    """
    once = data.rows.filter(data.keyed["input"].is_first_distinct())
    placed = once.with_columns(place=pl.int_range(pl.len(), dtype=pl.UInt32).over("split"))
    data = replace(data, rows=placed)
    rows = data.rows.with_row_index("row")
    numbers = rows.select("row", "split", "place")
    n = rows.height
    ends: list[tuple[np.ndarray, np.ndarray]] = []
    for check in ("dup-across", "sentence-leak", "near-dup"):
        frame, key = shared_by(data, check)
        shared = (
            frame.select("split", "place", key).join(numbers, on=["split", "place"]).select("row", link=pl.col(key))
        )
        first = pl.col("row").min().over("link")
        pairs = shared.select("row", first=first).filter(pl.col("row") != pl.col("first"))
        ends.append((pairs["row"].to_numpy(), pairs["first"].to_numpy()))
    start, end = (np.concatenate(side) for side in zip(*ends, strict=True))
    graph = sparse.coo_matrix((np.ones(len(start)), (start, end)), (n, n))
    component = pl.Series(csgraph.connected_components(graph, directed=False)[1])
    groups = rows.select("id", component=component).group_by("component").agg(pl.len(), pl.col("id").min())
    keys = pl.Series(hashing.mix([hashing.digest(row_id) for row_id in groups["id"]], "audit", "regrouped"))
    groups = groups.with_columns(key=keys).sort("len", "key", descending=[True, False])
    lacking = dict(data.counts)
    splits = []
    for size in groups["len"]:
        split = max(lacking, key=lambda name: lacking[name])
        lacking[split] -= size
        splits.append(split)
    of_row = component.replace_strict(groups["component"], pl.Series(splits), return_dtype=rows.schema["split"])
    dealt = rows.with_columns(split=of_row).sort("split", "row", maintain_order=True).drop("row")
    dealt = dealt.with_columns(place=pl.int_range(pl.len(), dtype=pl.UInt32).over("split"))
    largest = groups["len"][0]
    remark = f"rows that share a sentence are in one split: {groups.height:,} groups, the largest has {largest:,} rows"
    return replace(data, rows=dealt), remark
