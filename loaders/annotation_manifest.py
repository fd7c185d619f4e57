"""``annotate.json``: what an annotated corpus was made from, by what, and the hash of each file in its folder."""

import functools
import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from discoprobe.loaders.catalogue.treebanks import DocumentRule, Source
from discoprobe.loaders.errors import DiscoprobeError
from discoprobe.loaders.files import File, hashes_of

NAME: Final = "annotate.json"
WORK: Final = ".annotating"
"""The folder beside it for unfinished work; it is deleted after ``annotate.json`` is written."""
FORMAT: Final = 2


class AnnotationManifest(msgspec.Struct, frozen=True, kw_only=True):
    """The content of the file.

    ``content`` is the digest of everything that the annotation depends on; ``made_by`` has the software, packages and
    models, ``read`` the options of reading; ``source`` lists the files of the text, ``files`` those of the corpus.
    ``drops`` counts by reason what was left out, in the steps ``reading`` and ``annotation``. ``corrections`` counts by
    kind the sentence boundaries of the segmenter that were corrected (``segmentation.CORRECTIONS``).
    """

    format: int
    name: str
    lang: str
    licence: str
    citation: str
    repo: str
    commit: str
    discoprobe: str
    content: str
    made_by: dict[str, Any]
    read: dict[str, Any]
    documents: int
    sentences: int
    words: int
    drops: dict[str, dict[str, int]]
    corrections: dict[str, int]
    drop_places: dict[str, list[str]]
    source: dict[str, File]
    files: dict[str, File]


def total(counts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The sums of ``documents``, ``sentences``, ``words``, ``drops`` and ``corrections``, of the parts of a corpus.

    They are counted as in the manifest; reasons and kinds are in alphabetical order.
    """
    every = list(counts)
    sums: dict[str, Any] = {name: sum(each[name] for each in every) for name in ("documents", "sentences", "words")}
    drops = {step: _sum(each["drops"].get(step, {}) for each in every) for step in ("reading", "annotation")}
    return {**sums, "drops": drops, "corrections": _sum(each["corrections"] for each in every)}


def _sum(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    return dict(sorted(sum(map(Counter[str], counts), Counter[str]()).items()))


def entries(files: Iterable[File]) -> dict[str, File]:
    """Files as the manifest lists them."""
    return {file.path: File("", file.sha256, file.bytes) for file in files}


def dump(manifest: AnnotationManifest) -> bytes:
    """The bytes of the file."""
    return (json.dumps(msgspec.to_builtins(manifest), ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode()


def read_manifest(folder: Path) -> AnnotationManifest | None:
    """The manifest of a folder; None if it has none.

    Raises:
        DiscoprobeError: it is damaged, or of another version.
    """
    path = folder / NAME
    try:
        state = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return _read_unchanged(path, state.st_mtime_ns, state.st_size)


@functools.lru_cache(maxsize=64)
def _read_unchanged(path: Path, _mtime: int, _size: int) -> AnnotationManifest:
    """The manifest at a path, read again if the time or size of the file changes."""
    data = path.read_bytes()
    try:
        version = msgspec.json.decode(data, type=dict[str, Any]).get("format")
        if version in {None, FORMAT}:
            return msgspec.json.decode(data, type=AnnotationManifest)
    except msgspec.MsgspecError as error:
        raise DiscoprobeError(f"{path} is damaged ({error}); annotate again into a new folder") from error
    raise DiscoprobeError(
        f"{path} is of format {version}, and this version reads {FORMAT}; annotate again into a new folder"
    )


def first_difference(folder: Path, files: Mapping[str, File]) -> str:
    """A message on the first file of a corpus that is missing or has changed; empty if all are as listed."""
    for name, entry in files.items():
        path = folder / name
        if not path.is_file():
            return f"{name} is not there"
        if hashes_of(path, with_git=False) != entry:
            return f"{name} was changed"
    return ""


def listed(folder: Path, paths: Iterable[Path]) -> dict[str, File]:
    """The manifest entries of those ``paths`` that are files; all are below ``folder``."""
    files = sorted(path for path in paths if path.is_file())
    names = (os.fsencode(path.relative_to(folder)).decode(errors="backslashreplace") for path in files)
    return {name: hashes_of(path, with_git=False) for name, path in zip(names, files, strict=True)}


def check_folder(folder: Path, name: str, lang: str) -> None:
    """Check that a folder is new or empty, or holds the corpus of this name and language, finished or not.

    Raises:
        DiscoprobeError: it holds something else, or is a file.
    """
    if folder.exists() and not folder.is_dir():
        raise DiscoprobeError(f"{folder} is a file; --out is a folder")
    manifest = read_manifest(folder)
    if manifest is not None and (manifest.name, manifest.lang) != (name, lang):
        raise DiscoprobeError(
            f"{folder} holds the corpus {manifest.name} ({manifest.lang}), and this is {name} "
            f"({lang}); give another --out"
        )
    if manifest is None and not (folder / WORK).is_dir() and folder.is_dir() and any(folder.iterdir()):
        raise DiscoprobeError(f"{folder} is not empty and holds no annotated corpus; give another --out")


def replace_files(folder: Path, new: Path, names: Iterable[str]) -> None:
    """Move new files to the place of those of a corpus.

    The manifest, which lists the old ones, is moved away first, so that the corpus counts as unfinished until another
    is written.
    """
    old = folder / WORK / "old.json"
    if (folder / NAME).exists():
        (folder / NAME).replace(old)
    if old.exists():
        for name in json.loads(old.read_bytes())["files"]:
            (folder / name).unlink(missing_ok=True)
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (new / name).replace(folder / name)


def corpus_facts(path: Path) -> Source | None:
    """The facts of the corpus that a CoNLL-U file belongs to, from the manifest beside it; None if there is none.

    Raises:
        DiscoprobeError: the annotation of the folder is unfinished, or the manifest is damaged.
    """
    folder = path.parent
    manifest = read_manifest(folder)
    if manifest is None:
        if (folder / WORK).is_dir():
            raise DiscoprobeError(f"{folder}: its annotation is unfinished; run `build annotate` again to continue it")
        return None
    return Source(
        manifest.name, manifest.lang, manifest.licence, manifest.repo, manifest.commit, manifest.citation,
        documents=DocumentRule("newdoc"),
    )  # fmt: skip


def is_parser(made_by: Mapping[str, Any]) -> bool:
    """Whether what made an annotation, by its identity, annotated words, beside finding sentences."""
    if made_by["engine"] == "stanza":
        return not {"pos", "lemma", "depparse"}.isdisjoint(made_by["packages"])
    return bool(made_by["engine"] != "rules")


def annotation_of(path: Path) -> Mapping[str, Any] | None:
    """How the corpus of a CoNLL-U file was made, as JSON values; None if it was not made from raw text.

    ``text`` has the number of source files, their bytes and one digest of all; for text from a repository also every
    file (``listed``), so that it can be downloaded again.
    """
    manifest = read_manifest(path.parent)
    if manifest is None:
        return None
    values = msgspec.to_builtins(manifest)
    text = summary(manifest.source) | ({"listed": values["source"]} if manifest.commit else {})
    return {key: values[key] for key in ("made_by", "read", "drops", "corrections", "content")} | {"text": text}


def summary(files: Mapping[str, File]) -> dict[str, Any]:
    """The number of files, their bytes, and one digest of all."""
    listing = "".join(f"{entry.sha256}  {name}\n" for name, entry in sorted(files.items()))
    return {
        "files": len(files),
        "bytes": sum(entry.bytes or 0 for entry in files.values()),
        "sha256": hashlib.sha256(listing.encode()).hexdigest(),
    }
