"""Which files are one dataset, and which of its splits each of them holds."""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from discoprobe.builders.audit.frame import UnreadableDataError
from discoprobe.builders.audit.inputs.reading import NAMES
from discoprobe.builders.audit.inputs.text_files import SUFFIXES
from discoprobe.builders.settings import SPLITS

_Sets = dict[tuple[Path, str, str], dict[str, list[Path]]]
"""(Folder, name without the split, suffix) → split → files."""

_LABELLED = {"annotated", "labeled", "labelled"}
"""Words in file names that belong neither to the name of the dataset nor to the split."""
_ORDER = (*SPLITS, "")
_SHARD = re.compile(r"-\d+-of-\d+$")
_ASIDE = {"readme", "license", "licence", "labelset", "manifest", "source", "changelog", "attribution", "audit"}
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
    over_files = _spread_sets(paths) if spread else []
    apart = {file for group in over_files for files in group.files.values() for file in files}
    given = [path for path in paths if path.is_file() and path not in apart]
    in_folders = [group for path in paths if not path.is_file() for group in _in_folder(path, named, apart)]
    return [*over_files, *(_given_files(given, named) if given else []), *in_folders]


def _given_files(files: Sequence[Path], named: Mapping[str, str]) -> list[Group]:
    placed = [(file, file.resolve().parent, *_split_of(file, named)) for file in files]
    by_split = {split: file for file, _, split, _ in placed}
    if len(files) > 1 and "" not in by_split and len(by_split) == len(files) and len({f.suffix for f in files}) == 1:
        rests = {rest for *_, rest in placed}
        name = (rests.pop() if len(rests) == 1 else "") or files[0].resolve().parent.name
        return [_group(name, {split: [file] for split, file in by_split.items()}, files[0].suffix)]
    return _grouped(placed, lambda folder, rest: rest or folder.name)


def _in_folder(path: Path, named: Mapping[str, str], apart: Collection[Path]) -> list[Group]:
    if not path.exists():
        raise UnreadableDataError(f"{path}: no such file or folder")
    files = sorted(file for file in path.rglob("*") if file not in apart and _is_data(file, path))
    if not files and not any(path in file.parents for file in apart):
        raise UnreadableDataError(f"{path}: no data files; expected one of {' '.join(SUFFIXES)}")
    placed = []
    for file in files:
        split, rest = _split_of(file, named)
        folder = file.parent
        if not split and folder != path and (split := NAMES.get(folder.name.lower(), "")):
            folder = folder.parent  # train/a.jsonl, test/a.jsonl
        placed.append((file, folder, split, rest))
    return _grouped(
        placed,
        lambda folder, rest: "/".join(filter(None, [*folder.relative_to(path).parts, rest])) or path.resolve().name,
    )


def _grouped(placed: Iterable[tuple[Path, Path, str, str]], name: Callable[[Path, str], str]) -> list[Group]:
    """Groups files into datasets.

    Args:
        placed: each file with its folder, its split, and its name without the split.
        name: makes the name of a dataset from its folder and the name of its files without the split.
    """
    by_set: _Sets = {}
    for file, folder, split, rest in placed:
        by_set.setdefault((folder, rest, file.suffix), {}).setdefault(split, []).append(file)
    complete = _with_shared_train(by_set)
    return [_group(name(folder, rest), by_split, suffix) for (folder, rest, suffix), by_split in complete.items()]


def _with_shared_train(by_set: _Sets) -> _Sets:
    """Gives datasets without a train file the train file of their folder that they share, if there is exactly one.

    A shared train file has no name besides its split (``train`` beside ``test`` and ``test_expert``), or belongs to no
    dataset with other splits (``train`` beside ``dev_matched`` and ``dev_mismatched``).
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
    """The split that a file name contains, and the name without it: ``dc-train.tsv`` is ("train", "dc")."""
    if given := named.get(file.name) or named.get(file.stem):
        return given, ""
    parts = re.split(r"([-_.])", _SHARD.sub("", file.stem))
    at = next((i for i, part in enumerate(parts) if part.lower() in NAMES), None)
    if at is None:
        return "", file.stem
    rest = ["" if part.lower() in _LABELLED else part for part in parts[:at] + parts[at + 1 :]]
    return NAMES[parts[at].lower()], re.sub(r"([-_.])[-_.]+", r"\1", "".join(rest)).strip("-_.")


def _spread_sets(paths: Sequence[Path]) -> list[Group]:
    """SentEval's sets whose rows are spread over files, among files and the files of folders.

    There is a file per class (MR, CR, SUBJ, MPQA), per column (SNLI), or one of scores and one of pairs (STS).
    """
    files = sorted({file for path in paths for file in (path.rglob("*") if path.is_dir() else [path])})
    of_class: dict[Path, dict[str, Path]] = defaultdict(dict)
    of_split: dict[Path, dict[str, dict[str, Path]]] = defaultdict(lambda: defaultdict(dict))
    for file in files:
        kind = file.suffix[1:]
        if kind in _CLASSES:
            of_class[file.with_suffix("")][kind] = file
        elif file.stem in _COLUMNS and kind in NAMES:
            of_split[file.parent][NAMES[kind]][file.stem] = file
    by_class = [
        Group(
            stem.name, {"test": tuple(by.values())}, layout="one file per class (MR, CR, SUBJ, MPQA)", classes=tuple(by)
        )
        for stem, by in of_class.items()
        if len(by) > 1
    ]
    columns = {
        folder: {
            split: tuple(by[name] for name in _COLUMNS) for split, by in splits.items() if len(by) == len(_COLUMNS)
        }
        for folder, splits in of_split.items()
    }
    by_column = [
        Group(folder.resolve().name, splits, layout="SNLI of SentEval") for folder, splits in columns.items() if splits
    ]
    return [*by_class, *by_column, *_scored(files)]


def _scored(files: Sequence[Path]) -> list[Group]:
    """``STS.input.news.txt`` holds the pairs whose scores are in ``STS.gs.news.txt``."""
    pairs = [(file.with_name(file.name.replace(_PAIRS, _SCORES, 1)), file) for file in files if _PAIRS in file.name]
    return [
        Group(f"{file.parent.name}/{file.stem.replace(_PAIRS, '', 1)}", {"test": (scores, file)}, layout="STS")
        for scores, file in pairs
        if scores in files
    ]
