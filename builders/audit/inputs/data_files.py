"""What the user says about labelled data, and which files are one dataset, with the splits that each of them holds."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from discoprobe.builders.audit.frame import AuditInput, Provenance, UnreadableDataError
from discoprobe.builders.settings import SPLITS
from discoprobe.loaders.tables import SUFFIXES

NAMES = {
    "train": "train",
    "training": "train",
    "tr": "train",
    "validation": "validation",
    "valid": "validation",
    "val": "validation",
    "va": "validation",
    "dev": "validation",
    "development": "validation",
    "trial": "validation",
    "test": "test",
    "te": "test",
    "eval": "test",
}
"""What people call a split → what it is."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What the user says about data; what is empty is detected.

    Attributes:
        format_name: one of ``inputs.FORMATS``.
        text: columns that hold the text, in order; for choices the context.
        choices: columns that hold the choices, or one column with lists of them.
        label: column that holds the label; for choices the place or the text of the right one.
        pair: column with the same value in all rows of a pair.
        split_column: column that names the split of each row.
        split_names: name of a file, of a Hub split or in ``split_column`` → ``train``, ``validation`` or ``test``.
        exclude: labels whose rows are left out.
        config: configuration of a dataset of the Hub.
        group: column with the same value in all rows that depend on each other, such as those of a document.
        edited: labels of texts that were edited.
    """

    format_name: str | None = None
    text: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    label: str | None = None
    pair: str | None = None
    split_column: str | None = None
    split_names: Mapping[str, str] = field(default_factory=dict)
    exclude: tuple[str, ...] = ()
    config: str | None = None
    group: str | None = None
    edited: tuple[str, ...] = ()

    @property
    def names_columns(self) -> bool:
        """Whether the user named columns of text, choices, labels or groups."""
        return bool(self.text or self.choices or self.label or self.group)


class Skipped(NamedTuple):
    """What was not read.

    Attributes:
        name: the dataset, or the split of it.
        reason: why.
        unlabelled: whether it is a split without labels, which is no fault of the data.
    """

    name: str
    reason: str
    unlabelled: bool = False


class Read(NamedTuple):
    """The datasets that were read, and what was skipped."""

    data: tuple[AuditInput, ...]
    skipped: tuple[Skipped, ...]


Result = tuple[AuditInput, tuple[Skipped, ...]]
"""A dataset, and what was skipped of it."""


def with_provenance(data: AuditInput, **changes: object) -> AuditInput:
    """``data`` with some fields of its description changed."""
    return replace(data, read=replace(data.read or Provenance(""), **changes))  # type: ignore[arg-type]


_LABELLED = {"annotated", "labeled", "labelled"}
"""Words in file names that belong neither to the name of the dataset nor to the split."""
_SHARD = re.compile(r"-\d+-of-\d+$")
_ABOUT = {"readme", "license", "licence", "labelset", "manifest", "source", "changelog", "attribution", "audit"}
"""Stems of files that hold no data."""
_CLASSES = ("pos", "neg", "neu", "positive", "negative", "neutral", "objective", "subjective")
"""Suffixes of files that hold one class each."""
_COLUMNS = ("labels", "s1", "s2")
_SCORES, _PAIRS = "STS.gs.", "STS.input."


@dataclass(frozen=True, slots=True)
class Group:
    """The files of one dataset.

    Attributes:
        name: how reports call it: the folder, or the file without suffix.
        files: split name → files; ``""`` if the file name contains no split. The rows of a split are in its files one
            after the other; with a ``layout``, each file has one column or one class.
        suffix: of all files.
        layout: the sets of SentEval that have a file per column of a split, the label's first, or a file per class.
        classes: the label of each file, where there is a file per class.
    """

    name: str
    files: Mapping[str, tuple[Path, ...]]
    suffix: str = ""
    layout: str = ""
    classes: tuple[str, ...] = ()


def groups(paths: Sequence[Path], named: Mapping[str, str], *, spread: bool) -> list[Group]:
    """The datasets under some paths, in the order of their names; first those whose rows are spread over files.

    Files whose names differ only in the split are one dataset, and so are files given by name that say different
    splits. The files of a folder are those with a known suffix, and those without one whose names say a split. A train
    file beside others that have none (MNLI's ``train``, ``dev_matched``, ``dev_mismatched``) is the train split of each
    of them.

    Args:
        paths: files and folders.
        named: file name or stem → the split that it is.
        spread: whether to look for sets of SentEval that have a file per class or per column.

    Raises:
        UnreadableDataError: a path is not there, or holds no data files.
    """
    datasets = _spread_sets(paths) if spread else []
    apart = {file for group in datasets for files in group.files.values() for file in files}
    files = [file for file in paths if file.is_file() and file not in apart]
    placed = [(file, file.resolve().parent, *_split_of(file, named)) for file in files]
    by_split = {split: file for file, _, split, _ in placed}
    if len(files) > 1 and "" not in by_split and len(by_split) == len(files) and len({f.suffix for f in files}) == 1:
        rests = {rest for *_, rest in placed}
        name = (rests.pop() if len(rests) == 1 else "") or files[0].resolve().parent.name
        datasets.append(_group(name, {split: [file] for split, file in by_split.items()}, files[0].suffix))
    else:
        datasets += _by_name(placed)
    for path in paths:
        if path.is_file():
            continue
        if not path.exists():
            raise UnreadableDataError(f"{path}: no such file or folder")
        placed = []
        for file in sorted(path.rglob("*")):
            split, rest = _split_of(file, named)
            hidden = any(part.startswith(".") for part in file.relative_to(path).parts)
            is_data = file.suffix in SUFFIXES or (not file.suffix and _split_of(file, {})[0] != "")
            if file in apart or hidden or not is_data or file.stem.lower() in _ABOUT or not file.is_file():
                continue
            folder = file.parent
            if not split and folder != path and (split := NAMES.get(folder.name.lower(), "")):
                folder = folder.parent  # train/a.jsonl, test/a.jsonl
            placed.append((file, folder, split, rest))
        if not placed and not any(path in file.parents for file in apart):
            raise UnreadableDataError(f"{path}: no data files; expected one of {' '.join(SUFFIXES)}")
        datasets += _by_name(placed, path)
    return datasets


def _by_name(placed: Iterable[tuple[Path, Path, str, str]], top: Path | None = None) -> list[Group]:
    """Files as datasets.

    Datasets without a train file get the train file of their folder that they share, if there is exactly one. A shared
    train file has no name besides its split (``train`` beside ``test`` and ``test_expert``), or belongs to no dataset
    with other splits (``train`` beside ``dev_matched`` and ``dev_mismatched``).

    Args:
        placed: each file with its folder, its split, and its name without the split.
        top: the folder that the names of datasets are relative to; by default that of each file.
    """
    by_set: dict[tuple[Path, str, str], dict[str, list[Path]]] = {}  # (folder, name, suffix) → split → files
    for file, folder, split, rest in placed:
        by_set.setdefault((folder, rest, file.suffix), {}).setdefault(split, []).append(file)
    trains: dict[tuple[Path, str], list[str]] = {}
    for (folder, rest, suffix), by_split in by_set.items():
        if "train" in by_split and (not rest or len(by_split) == 1):
            trains.setdefault((folder, suffix), []).append(rest)
    shared = set()
    complete = {}
    for (folder, rest, suffix), by_split in by_set.items():
        train = {}
        if len(rests := trains.get((folder, suffix), [])) == 1 and not {"train", ""} & by_split.keys():
            key = (folder, rests[0], suffix)
            shared.add(key)
            train = {"train": by_set[key]["train"]}
        complete[folder, rest, suffix] = train | by_split
    datasets = []
    for (folder, rest, suffix), by_split in complete.items():
        if (folder, rest, suffix) not in shared or set(by_split) != {"train"}:
            parts = [*folder.relative_to(top or folder).parts, rest]
            name = "/".join(filter(None, parts)) or (top or folder).resolve().name
            datasets.append(_group(name, by_split, suffix))
    return datasets


def _group(name: str, by_split: Mapping[str, Sequence[Path]], suffix: str) -> Group:
    return Group(name, {split: tuple(by_split[split]) for split in (*SPLITS, "") if split in by_split}, suffix)


def _split_of(file: Path, named: Mapping[str, str]) -> tuple[str, str]:
    """The split that a file name contains, and the name without it: ``dc-train.tsv`` is ("train", "dc")."""
    if split := named.get(file.name) or named.get(file.stem):
        return split, ""
    parts = re.split(r"([-_.])", _SHARD.sub("", file.stem))
    at = next((i for i, part in enumerate(parts) if part.lower() in NAMES), None)
    if at is None:
        return "", file.stem
    rest = ["" if part.lower() in _LABELLED else part for part in parts[:at] + parts[at + 1 :]]
    return NAMES[parts[at].lower()], re.sub(r"([-_.])[-_.]+", r"\1", "".join(rest)).strip("-_.")


def _spread_sets(paths: Sequence[Path]) -> list[Group]:
    """SentEval's sets whose rows are spread over files, among files and the files of folders.

    There is a file per class (MR, CR, SUBJ, MPQA), per column (SNLI), or one of scores and one of pairs (STS):
    ``STS.input.news.txt`` holds the pairs whose scores are in ``STS.gs.news.txt``.
    """
    files = sorted({file for path in paths for file in (path.rglob("*") if path.is_dir() else [path])})
    by_class: dict[Path, dict[str, Path]] = defaultdict(dict)
    by_column: dict[Path, dict[str, dict[str, Path]]] = defaultdict(lambda: defaultdict(dict))
    scored: list[Group] = []
    for file in files:
        kind = file.suffix[1:]
        if kind in _CLASSES:
            by_class[file.with_suffix("")][kind] = file
        elif file.stem in _COLUMNS and kind in NAMES:
            by_column[file.parent][NAMES[kind]][file.stem] = file
        scores = file.with_name(file.name.replace(_PAIRS, _SCORES, 1))
        if _PAIRS in file.name and scores in files:
            name = f"{file.parent.name}/{file.stem.replace(_PAIRS, '', 1)}"
            scored.append(Group(name, {"test": (scores, file)}, layout="STS"))
    layout = "one file per class (MR, CR, SUBJ, MPQA)"
    of_classes = [
        Group(stem.name, {"test": tuple(of_class.values())}, layout=layout, classes=tuple(of_class))
        for stem, of_class in by_class.items()
        if len(of_class) > 1
    ]
    of_columns = []
    for folder, by_split in by_column.items():
        complete = {
            split: tuple(of_column[name] for name in _COLUMNS)
            for split, of_column in by_split.items()
            if len(of_column) == len(_COLUMNS)
        }
        if complete:
            of_columns.append(Group(folder.resolve().name, complete, layout="SNLI of SentEval"))
    return [*of_classes, *of_columns, *scored]
