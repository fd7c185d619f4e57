"""Files on disk as splits of datasets."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from discoprobe.builders.audit.frame import UnreadableDataError
from discoprobe.builders.audit.inputs.text_files import SUFFIXES
from discoprobe.builders.settings import SPLITS

_Sets = dict[tuple[Path, str, str], dict[str, list[Path]]]
"""(Folder, name without the split, suffix) → split → files."""

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

_LABELLED = {"annotated", "labeled", "labelled"}
"""What the name of a split's file may say besides."""
_ORDER = (*SPLITS, "")
_SHARD = re.compile(r"-\d+-of-\d+$")
_ASIDE = {"readme", "license", "licence", "labelset", "manifest", "source", "changelog", "attribution", "audit"}
"""Files beside data, by stem."""


@dataclass(frozen=True, slots=True)
class Group:
    """The files of one dataset.

    Attributes:
        name: how reports call it: the folder, or the file without suffix.
        files: split name → files; ``""`` where the name of the file says nothing.
        suffix: of all files.
    """

    name: str
    files: Mapping[str, tuple[Path, ...]]
    suffix: str


PAIR_COLUMNS = (
    ("sentence_good", "sentence_bad"),
    ("source_sentence", "target_sentence"),
    ("sen", "wrong_sen"),
    ("good", "bad"),
    ("grammatical", "ungrammatical"),
)
"""Columns of minimal pairs: BLiMP, RuBLiMP, MultiBLiMP and common names; the acceptable sentence comes first."""


def pair_columns(columns: Iterable[str]) -> tuple[str, str] | None:
    """The two columns of a minimal pair among ``columns``."""
    return next((pair for pair in PAIR_COLUMNS if set(pair) <= set(columns)), None)


def groups(paths: Sequence[Path], named: Mapping[str, str], apart: Collection[Path] = ()) -> list[Group]:
    """The datasets under some paths, in the order of their names.

    Files whose names differ only in the split are one dataset, and so are files given by name that say different
    splits. The files of a folder are those with a known suffix, and those without one whose names say a split. A train
    file beside others that have none (MNLI's ``train``, ``dev_matched``, ``dev_mismatched``) is the train split of each
    of them.

    Args:
        paths: files and folders.
        named: file name or stem → the split that it is.
        apart: files that are read otherwise.

    Raises:
        UnreadableDataError: a path is not there, or holds no data files.
    """
    given = [path for path in paths if path.is_file() and path not in apart]
    in_folders = [group for path in paths if not path.is_file() for group in _in_folder(path, named, apart)]
    return [*_given_files(given, named), *in_folders] if given else in_folders


def _given_files(files: Sequence[Path], named: Mapping[str, str]) -> list[Group]:
    placed = [(file, *_split_of(file, named)) for file in files]
    splits = [split for _, split, _ in placed]
    together = len(files) > 1 and all(splits) and len(set(splits)) == len(splits)
    if together and len({file.suffix for file in files}) == 1:
        rests = {rest for _, _, rest in placed}
        name = rests.pop() if len(rests) == 1 else ""
        by_split = {split: [file] for file, split, _ in placed}
        return [_group(name or files[0].resolve().parent.name, by_split, files[0].suffix)]
    by_set: _Sets = {}
    for file, split, rest in placed:
        by_set.setdefault((file.resolve().parent, rest, file.suffix), {}).setdefault(split, []).append(file)
    by_set = _with_shared_train(by_set)
    return [_group(rest or parent.name, by_split, suffix) for (parent, rest, suffix), by_split in by_set.items()]


def _in_folder(path: Path, named: Mapping[str, str], apart: Collection[Path]) -> list[Group]:
    if not path.exists():
        raise UnreadableDataError(f"{path}: no such file or folder")
    files = sorted(file for file in path.rglob("*") if file not in apart and _is_data(file, path))
    if not files and not any(path in file.parents for file in apart):
        raise UnreadableDataError(f"{path}: no data files; expected one of {' '.join(SUFFIXES)}")
    by_set: _Sets = {}
    for file in files:
        split, rest = _split_of(file, named)
        parent = file.parent
        if not split and parent != path and (split := NAMES.get(parent.name.lower(), "")):
            parent = parent.parent  # train/a.jsonl, test/a.jsonl
        by_set.setdefault((parent, rest, file.suffix), {}).setdefault(split, []).append(file)
    by_set = _with_shared_train(by_set)
    return [_group(_name(path, parent, rest), by_split, suffix) for (parent, rest, suffix), by_split in by_set.items()]


def _with_shared_train(by_set: _Sets) -> _Sets:
    """The sets, of which those that only evaluate get the one train file that no other name sets apart.

    That is the train file of a set without a name of its own (``train`` beside ``test`` and ``test_expert``), or the
    only one that has no other splits (``train`` beside ``dev_matched`` and ``dev_mismatched``).
    """
    trains: dict[tuple[Path, str], list[str]] = {}
    for (parent, rest, suffix), by_split in by_set.items():
        if "train" in by_split and (not rest or len(by_split) == 1):
            trains.setdefault((parent, suffix), []).append(rest)
    complete: _Sets = {}
    used = set()
    for (parent, rest, suffix), by_split in by_set.items():
        shared = trains.get((parent, suffix), [])
        train = {}
        if len(shared) == 1 and "train" not in by_split and "" not in by_split:
            used.add((parent, shared[0], suffix))
            train = {"train": by_set[parent, shared[0], suffix]["train"]}
        complete[parent, rest, suffix] = train | by_split
    return {key: by_split for key, by_split in complete.items() if key not in used or set(by_split) != {"train"}}


def _group(name: str, by_split: Mapping[str, Sequence[Path]], suffix: str) -> Group:
    return Group(name, {split: tuple(by_split[split]) for split in _ORDER if split in by_split}, suffix)


def _is_data(file: Path, root: Path) -> bool:
    hidden = any(part.startswith(".") for part in file.relative_to(root).parts)
    named = file.suffix in SUFFIXES or (not file.suffix and _split_of(file, {})[0] != "")
    return file.is_file() and named and file.stem.lower() not in _ASIDE and not hidden


def _split_of(file: Path, named: Mapping[str, str]) -> tuple[str, str]:
    """The split a file name says, and the name without it: ``dc-train.tsv`` is ("train", "dc")."""
    if told := named.get(file.name) or named.get(file.stem):
        return told, ""
    parts = re.split(r"([-_.])", _SHARD.sub("", file.stem))
    at = next((i for i, part in enumerate(parts) if part.lower() in NAMES), None)
    if at is None:
        return "", file.stem
    rest = ["" if part.lower() in _LABELLED else part for part in parts[:at] + parts[at + 1 :]]
    return NAMES[parts[at].lower()], re.sub(r"([-_.])[-_.]+", r"\1", "".join(rest)).strip("-_.")


def _name(root: Path, parent: Path, rest: str) -> str:
    inside = parent.relative_to(root).parts if root.is_dir() else ()
    return "/".join([*inside, *([rest] if rest else [])]) or parent.resolve().name
