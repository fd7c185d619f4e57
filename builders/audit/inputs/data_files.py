"""What the user says about labelled data, and which files are one dataset, with the splits that each of them holds."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import field
from msgspec.structs import replace

from discoprobe.builders.audit.frame import AuditInput, Provenance, UnreadableDataError
from discoprobe.builders.settings import SPLITS
from discoprobe.loaders.archives import is_archive
from discoprobe.loaders.tables import SPLIT_SUFFIXES, SUFFIXES, plain_name, read_bytes, suffix_of

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


class Reading(msgspec.Struct, frozen=True):
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
        task_type: what a row is, one of ``task_types.TASK_TYPES``.
        encoding: of text files, as Python calls it; by default that of the byte order mark, or UTF-8.
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
    encoding: str = ""
    task_type: str = ""

    @property
    def names_columns(self) -> bool:
        """Whether the user named columns of text, choices, labels or groups."""
        return bool(self.text or self.choices or self.label or self.group)


class Skipped(msgspec.Struct, frozen=True):
    """What was not read.

    Attributes:
        name: the dataset, or the split of it.
        reason: why.
        unlabelled: whether it is a split without labels, which is no fault of the data.
    """

    name: str
    reason: str
    unlabelled: bool = False


Read = tuple[tuple[AuditInput, ...], tuple[Skipped, ...]]
"""The datasets that were read, and what was skipped."""
Result = tuple[AuditInput, tuple[Skipped, ...]]
"""A dataset, and what was skipped of it."""


def with_provenance(data: AuditInput, **changes: object) -> AuditInput:
    """``data`` with some fields of its description changed."""
    return replace(data, read=replace(data.read or Provenance(""), **changes))


_LABELLED = {"annotated", "labeled", "labelled"}
"""Words in file names that belong neither to the name of the dataset nor to the split."""
_SHARD = re.compile(r"-\d+-of-\d+$")
_ABOUT = {
    "readme", "license", "licence", "labelset", "manifest", "source", "changelog", "attribution", "audit",
    "requirements",
}  # fmt: skip
"""Stems of files that hold no data."""
_CLASS_LISTS = {
    "mapping", "classes", "class_names", "label_names", "labels_map", "label_map", "label_mapping", "id2label",
    "categories",
}  # fmt: skip
"""Stems of files that hold the names of classes; they are used beside parallel files, and are no data."""
_CLASSES = ("pos", "neg", "neu", "positive", "negative", "neutral", "objective", "subjective")
"""Suffixes of files that hold one class each."""
_UNLABELLED = {"unsup", "unlabeled", "unlabelled"}
"""Folders of texts without labels, beside those of the classes."""
_TEXT_SUFFIXES = {"", ".txt", ".text"}
_LABEL_FILES = ("labels", "label", "gold", "y")
_TEXT_FILES = ("text", "texts", "sentences", "seq.in", "x", "s1", "s2", "premise", "hypothesis")
_PARALLEL = re.compile(rf"(?i)(?:^|[-_.])({'|'.join((*_LABEL_FILES, *_TEXT_FILES)).replace('.', '[.]')})(?=[-_.]|$)")
"""The part of the name of a parallel file that says which column it holds."""
_TABLES = (".csv", ".tsv", ".json", ".jsonl", ".parquet", ".rels")
_START, _LOOKED_AT = 2000, 5
"""Bytes of a file, and files of a folder, that are looked at to tell rows from texts."""
_TEXTS_PER_CLASS = 3
"""Smallest number of texts per class folder, on average."""
_SCORES, _PAIRS = "STS.gs.", "STS.input."


class Group(msgspec.Struct, frozen=True):
    """The files of one dataset.

    Attributes:
        name: how reports call it: the folder, or the file without suffix.
        files: split name → files; ``""`` if the file name contains no split. The rows of a split are in its files one
            after the other; with a ``layout``, each file has one column or one class.
        suffix: of all files.
        layout: of sets that have a file per column of a split, the label's first, or files per class, or per text.
        classes: the label of each file of a split, where all rows of a file have one.
        names: file with the names of the classes of parallel files.
    """

    name: str
    files: Mapping[str, tuple[Path, ...]]
    suffix: str = ""
    layout: str = ""
    classes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    names: Path | None = None


def groups(paths: Sequence[Path], named: Mapping[str, str], *, spread: bool) -> list[Group]:
    """The datasets under some paths, in the order of their names; first those whose rows are spread over files.

    Files whose names differ only in the split are one dataset, and so are files given by name that say different
    splits. The files of a folder are those with a known suffix, and those without one whose names say a split. A train
    file beside others that have none (MNLI's ``train``, ``dev_matched``, ``dev_mismatched``) is the train split of each
    of them.

    Args:
        paths: files and folders.
        named: file name or stem → the split that it is.
        spread: whether to look for sets that have a file per class, per column or per text.

    Raises:
        UnreadableDataError: a path is not there, or holds no data files.
    """
    folders = _class_folders(paths) if spread else []
    tops = {folder for _, folder in folders}
    datasets = [group for group, _ in folders] + (_spread_sets(paths, tops) if spread else [])
    apart = {file for group in datasets for files in group.files.values() for file in files}
    files = [file for file in paths if file.is_file() and file not in apart]
    placed = [(file, file.resolve().parent, *_split_of(file, named)) for file in files]
    by_split = {split: file for file, _, split, _ in placed}
    if len(files) > 1 and "" not in by_split and len(by_split) == len(files) and len({*map(_kind, files)}) == 1:
        rests = {rest for *_, rest in placed}
        name = (rests.pop() if len(rests) == 1 else "") or files[0].resolve().parent.name
        datasets.append(_group(name, {split: [file] for split, file in by_split.items()}, _kind(files[0])))
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
            suffix = suffix_of(file)
            is_data = suffix in SUFFIXES or (not suffix and _split_of(file, {})[0] != "")
            is_about = plain_name(file).stem.lower() in _ABOUT | _CLASS_LISTS
            inside = file in apart or tops.intersection(file.parents)
            if inside or hidden or not is_data or is_about or not file.is_file():
                continue
            folder = file.parent
            if not split and folder != path and (split := NAMES.get(folder.name.lower(), "")):
                folder = folder.parent  # train/a.jsonl, test/a.jsonl
            placed.append((file, folder, split, rest))
        if not placed and not any(path in file.parents for file in apart):
            if archives := sorted(filter(is_archive, path.iterdir())):
                raise UnreadableDataError(f"{path}: no data files, but {archives[0].name}; name the archive")
            raise UnreadableDataError(f"{path}: no data files; expected one of {' '.join(SUFFIXES)}")
        datasets += _by_name(placed, path)
    return datasets


def _by_name(placed: Iterable[tuple[Path, Path, str, str]], top: Path | None = None) -> list[Group]:
    """Files as datasets; those of a folder that are one of each split are one, however they are called.

    Datasets without a train file get the train file of their folder that they share, if there is exactly one. A shared
    train file has no name besides its split (``train`` beside ``test`` and ``test_expert``), or belongs to no dataset
    with other splits (``train`` beside ``dev_matched`` and ``dev_mismatched``).

    Args:
        placed: each file with its folder, its split, and its name without the split.
        top: the folder that the names of datasets are relative to; by default that of each file.
    """
    by_set: _BySet = {}
    for file, folder, split, rest in placed:
        by_set.setdefault((folder, rest, _kind(file)), {}).setdefault(split, []).append(file)
    by_set = _one_of_each_split(by_set)
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


_BySet = dict[tuple[Path, str, str], dict[str, list[Path]]]
"""(folder, name without the split, suffix) → split → files."""


def _one_of_each_split(by_set: _BySet) -> _BySet:
    """The files by dataset, those of a folder as one if they have different splits: ``train-full``, ``test-only-data``.

    Without a train, or with a file that is no split, they stay apart.
    """
    places: dict[tuple[Path, str], list[tuple[Path, str, str]]] = defaultdict(list)
    for key in by_set:
        places[key[0], key[2]].append(key)
    merged: _BySet = {}
    for (folder, suffix), keys in places.items():
        splits = [split for key in keys for split in by_set[key]]
        is_one = len(keys) > 1 and len({*splits}) == len(splits) and "" not in splits and "train" in splits
        parts = {split: files for key in keys for split, files in by_set[key].items()}
        merged |= {(folder, "", suffix): parts} if is_one else {key: by_set[key] for key in keys}
    return merged


def _group(name: str, by_split: Mapping[str, Sequence[Path]], suffix: str) -> Group:
    return Group(name, {split: tuple(by_split[split]) for split in (*SPLITS, "") if split in by_split}, suffix)


def _kind(file: Path) -> str:
    """The suffix of a file; empty if it is a split."""
    suffix = suffix_of(file)
    return "" if suffix in SPLIT_SUFFIXES else suffix


def _split_of(file: Path, named: Mapping[str, str]) -> tuple[str, str]:
    """The split that a file name contains, and the name without it: ``dc-train.tsv`` is ("train", "dc")."""
    name = plain_name(file)
    if split := named.get(file.name) or named.get(name.name) or named.get(name.stem):
        return split, ""
    stem = name.stem if _kind(file) else name.name
    parts = re.split(r"([-_.])", _SHARD.sub("", stem))
    at = next((i for i, part in enumerate(parts) if part.lower() in NAMES), None)
    if at is None:
        return "", stem
    rest = ["" if part.lower() in _LABELLED else part for part in parts[:at] + parts[at + 1 :]]
    return NAMES[parts[at].lower()], re.sub(r"([-_.])[-_.]+", r"\1", "".join(rest)).strip("-_.")


def _spread_sets(paths: Sequence[Path], tops: Collection[Path]) -> list[Group]:
    """Sets whose rows are spread over files, among files and the files of folders that are not below ``tops``.

    There is a file per class (MR, CR, SUBJ, MPQA; ``pos.txt``, ``neg.txt`` and others beside them), per column (SNLI of
    SentEval: ``s1.train``, ``labels.train``; TweetEval: ``train_text.txt``, ``train_labels.txt``, with the names of the
    labels in ``mapping.txt``), or one of scores and one of pairs (STS): ``STS.input.news.txt`` holds the pairs whose
    scores are in ``STS.gs.news.txt``. The pairs of one folder, which are those of a year, are one set.
    """
    files = sorted({file for path in paths for file in (path.rglob("*") if path.is_dir() else [path])})
    called = Counter(file.parent for file in files if file.suffix == ".txt" and file.stem in _CLASSES)
    of_classes_only = {folder for folder, n in called.items() if n > 1}
    by_class: dict[Path, dict[str, Path]] = defaultdict(dict)
    by_column: dict[tuple[Path, str], dict[str, dict[str, Path]]] = defaultdict(lambda: defaultdict(dict))
    scored: dict[Path, list[Path]] = defaultdict(list)
    for file in files:
        if any(top in file.parents for top in tops) or not file.is_file():
            continue
        kind, name = file.suffix[1:], plain_name(file)
        if kind in _CLASSES:
            by_class[file.with_suffix("")][kind] = file
        elif file.parent in of_classes_only and kind == "txt" and name.stem.lower() not in _ABOUT | _CLASS_LISTS:
            by_class[file.parent][name.stem] = file
        elif (column := _PARALLEL.search(name.name.removesuffix(".txt"))) and suffix_of(file) not in _TABLES:
            rest = name.name.removesuffix(".txt")[: column.start()] + name.name.removesuffix(".txt")[column.end() :]
            split, rest = _split_of(Path(rest.strip("-_.") + ".txt"), {})
            folder = file.parent
            if not split and (split := NAMES.get(folder.name.lower(), "")):
                folder = folder.parent
            by_column[folder, rest][split or "test"][column[1].lower()] = file
        scores = file.with_name(file.name.replace(_PAIRS, _SCORES, 1))
        if _PAIRS in file.name and scores in files:
            scored[file.parent] += [scores, file]
    layout = "one file per class (MR, CR, SUBJ, MPQA)"
    of_classes = [
        Group(stem.name, {"test": tuple(of_class.values())}, layout=layout, classes={"test": tuple(of_class)})
        for stem, of_class in by_class.items()
        if len(of_class) > 1
    ]
    of_columns = []
    for (folder, rest), by_split in by_column.items():
        complete = {}
        for split in (split for split in SPLITS if split in by_split):
            labels = [file for column, file in by_split[split].items() if column in _LABEL_FILES]
            texts = [by_split[split][column] for column in _TEXT_FILES if column in by_split[split]]
            if len(labels) == 1 and texts:
                complete[split] = (*labels, *texts)
        if complete:
            is_snli = all({"labels", "s1", "s2"} == by_split[split].keys() for split in complete)
            layout = "SNLI of SentEval" if is_snli else "parallel files of texts and labels (TweetEval)"
            names = next((file for file in files if file.parent == folder and file.stem.lower() in _CLASS_LISTS), None)
            of_columns.append(Group(rest or folder.resolve().name, complete, layout=layout, names=names))
    of_scores = []
    for folder, parts in scored.items():
        only = f"/{parts[1].stem.replace(_PAIRS, '', 1)}" if len(parts) == 2 else ""  # noqa: PLR2004  scores and pairs
        of_scores.append(Group(f"{folder.resolve().name}{only}", {"test": tuple(parts)}, layout="STS"))
    return [*of_classes, *of_columns, *of_scores]


def _hold_rows(folders: Iterable[Sequence[Path]]) -> bool:
    """Whether files are sets of rows, or of several texts, and no single texts.

    Then a name without a number is in several folders (``en/tense.txt``, ``ru/tense.txt``), or the lines have fields.
    """
    names = Counter(file.stem for files in folders for file in files if not re.search(r"\d", file.stem))
    looked_at = [file for files in folders for file in files[:_LOOKED_AT]]
    starts = [read_bytes(file, str(file), _START).splitlines() for file in looked_at]
    divided = [bool(lines) and all(b"\t" in line for line in lines if line.strip()) for lines in starts]
    return max(names.values(), default=0) > 1 or all(divided)


def _class_folders(paths: Sequence[Path]) -> list[tuple[Group, Path]]:
    """Sets of a file per text in a folder per class (``train/pos/0_9.txt``), each with the folder that it fills.

    The folders of the classes of a split hold texts only, and lie beside each other, in a folder that is named like the
    split, or in that of the set. A file that is named like a split holds rows and no text.
    """
    by_place: dict[Path, dict[str, list[Path]]] = defaultdict(dict)  # folder of the classes → class → files
    for path in paths:
        for folder in sorted({path, *path.rglob("*")}) if path.is_dir() else ():
            if not folder.is_dir() or folder == path or folder.name.startswith((".", "_")):
                continue
            entries = [entry for entry in folder.iterdir() if not entry.name.startswith(".")]
            texts = entries and all(
                entry.is_file() and (suffix_of(entry) in _TEXT_SUFFIXES or entry.suffix[1:].isdecimal())
                and not _split_of(entry, {})[0] and not _PARALLEL.search(entry.stem) and _PAIRS not in entry.name
                and _SCORES not in entry.name and entry.stem.lower() not in _ABOUT | _CLASS_LISTS
                for entry in entries
            )  # fmt: skip
            if texts and folder.name.lower() not in {*NAMES, *_UNLABELLED}:
                by_place[folder.parent][folder.name] = sorted(entries)
    by_top: dict[Path, dict[str, dict[str, list[Path]]]] = defaultdict(dict)
    for place, of_class in by_place.items():
        enough = sum(map(len, of_class.values())) >= _TEXTS_PER_CLASS * len(of_class)
        if len(of_class) > 1 and enough and not _hold_rows(of_class.values()):
            split = _split_of(Path(f"{place.name}.txt"), {})[0]  # 20news-bydate-train
            by_top[place.parent if split else place][split or "test"] = of_class
    return [
        (Group(
            top.resolve().name,
            {split: tuple(file for files in by_split[split].values() for file in files)
             for split in SPLITS if split in by_split},
            layout="one file per text, in a folder per class",
            classes={split: tuple(name for name, files in of_class.items() for _ in files)
                     for split, of_class in by_split.items()},
        ), top)
        for top, by_split in by_top.items()
    ]  # fmt: skip
