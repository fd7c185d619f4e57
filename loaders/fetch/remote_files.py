"""Files by path or URL, through fsspec: a folder, ``hf://datasets/org/name@commit/…``, ``s3://…``, ``file://…``."""

from __future__ import annotations

import hashlib
import os
import re
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, BinaryIO, Final, cast

from msgspec.structs import replace

from discoprobe.loaders.catalogue.treebanks import DATASETS, HUB
from discoprobe.loaders.errors import DiscoprobeError, RemoteError, UsageError, first_line
from discoprobe.loaders.files import File, cache_folder, hashes_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fsspec import AbstractFileSystem

PARQUET: Final = ".parquet"
GLOB: Final = frozenset("*?[")
HASHES: Final = ("sha256", "ETag", "etag", "blob_id", "md5", "checksum")
"""Keys that file systems use for the hash of a file's content; it may also be inside ``lfs``."""
TIMES: Final = ("LastModified", "last_modified", "updated", "mtime", "modify", "created")
"""Keys that file systems use for the time of the last change, which is used if there is no hash."""
LOCAL: Final = ("file", "local")
PACKAGES: Final = {
    "http": "aiohttp requests", "https": "aiohttp requests", "s3": "s3fs", "gs": "gcsfs", "abfs": "adlfs",
    "sftp": "paramiko",
}  # fmt: skip
"""What fsspec needs for a protocol and does not install itself."""


def open_file(file: File) -> BinaryIO:
    """A file at its URL, open; only the byte ranges that are read are transferred.

    Raises:
        RemoteError: it cannot be opened.
    """
    with reaching(file.url):
        system, path = _system(file.url)
        kind: dict[str, Any] = {} if _is_local(system) else {"cache_type": "none", "size": file.bytes}
        return cast("BinaryIO", system.open(path, "rb", **kind))


def is_url(source: str) -> bool:
    """Whether a source is a URL and not a path."""
    return "://" in source


def without_secret(url: str) -> str:
    """A URL as messages may show it: without user, password and query."""
    return re.sub(r"(?<=://)[^/@]*@|\?[^?]*=.*", "", url)


def hub_url(source: str) -> str:
    """A URL of the Hub with the kind of repository: ``hf://org/name`` becomes ``hf://datasets/org/name``."""
    rest = source.removeprefix(HUB)
    kinds = (DATASETS, "models/", "spaces/", "buckets/")
    return source if not source.startswith(HUB) or rest.startswith(kinds) else f"{HUB}{DATASETS}{rest}"


def pinned(url: str) -> tuple[str, str, str]:
    """A URL with its branch or tag replaced by the current commit, the repository, and the commit.

    Repository and commit are empty for a URL that is not of the Hub.

    Raises:
        RemoteError: the Hub cannot be reached, or has no such repository.
    """
    if not url.startswith(HUB):
        return url, "", ""
    with reaching(url):
        system, path = _system(url)
        place = system.resolve_path(path)
        commit = system._api.repo_info(place.repo_id, repo_type=place.repo_type, revision=place.revision).sha  # noqa: SLF001 (no public way)
    inside = f"/{place.path_in_repo}" if place.path_in_repo else ""
    return f"{HUB}{DATASETS}{place.repo_id}@{commit}{inside}", f"{DATASETS}{place.repo_id}", commit


def files_at(url: str, suffix: str = "") -> list[File]:
    """The files with a suffix at a URL or path (of a file or a folder, or a pattern with ``*``), sorted by name.

    Raises:
        DiscoprobeError: there is no such file at a path.
        RemoteError: the URL cannot be reached, or has no such file.
        UsageError: fsspec has no such protocol, or needs another package for it.
    """
    with reaching(url):
        system, path = _system(url)
        entries = system.find(path, detail=True) if GLOB.isdisjoint(path) else system.glob(path, detail=True)
        entries = {name: info or system.info(name) for name, info in entries.items()}  # of a file, HTTP gives none
        if hasattr(system, "resolve_path"):  # names are relative to the repository of the Hub
            inside = path.partition("*")[0].rpartition("/")[0] if "*" in path else path
            top = str(system.resolve_path(inside).root)
        else:  # … or to the folder that was named
            plain = list(PurePosixPath(path).parts)
            fixed = next((i for i, part in enumerate(plain) if not GLOB.isdisjoint(part)), len(plain))
            folder = PurePosixPath(*plain[:fixed])
            top = str(folder if fixed < len(plain) or system.isdir(path) else folder.parent)
    files = [_file(system, name, info, top) for name, info in entries.items() if info["type"] == "file"]
    chosen = sorted((file for file in files if file.path.endswith(suffix)), key=lambda file: file.path)
    if not chosen:
        kind = f"no {suffix} file" if files else "no such file or folder"
        raise (DiscoprobeError if _is_local(system) else RemoteError)(f"{url}: {kind} there")
    return chosen


def local_copy(url: str, folder: Path) -> Path:
    """Copy the files at a URL into a subfolder of ``folder`` that is named by their hashes, unless they are there.

    Returns:
        The path of the copied folder, or of the file if there is only one.

    Raises:
        RemoteError: a file cannot be read.
    """
    files = files_at(url)
    content = "".join(f"{file.path}\n{file.sha256}\n" for file in files)
    names = [part for part in url.partition("://")[2].split("/") if part and GLOB.isdisjoint(part)]
    folder_names = names[:-1] if [file.path for file in files] == names[-1:] else names
    top = folder / hashlib.sha256(content.encode()).hexdigest()[:16] / (folder_names or ["files"])[-1]
    copy_here([file for file in files if not (top / file.path).exists()], top)
    return top / files[0].path if len(files) == 1 else top


def as_path(source: str) -> str:
    """Copy the files at a URL into the cache and return their path; a path or Hub dataset is returned as it is.

    Raises:
        RemoteError: a file cannot be read.
    """
    if not is_url(source) or source.startswith(HUB):
        return source
    return str(local_copy(source, cache_folder() / "remote"))


def files_below(url: str) -> list[File]:
    """The files in a folder, sorted by name; an empty list if the folder does not exist.

    Raises:
        RemoteError: the URL cannot be reached.
    """
    with reaching(url):
        system, path = _system(url)
        has_files = bool(system.isdir(path) and system.find(path))
    return files_at(url) if has_files else []


def copy_here(files: Iterable[File], folder: Path) -> None:
    """Copies files into a folder, under their names; a file appears there only when it is complete.

    Raises:
        RemoteError: a file cannot be read.
    """
    for file in files:
        path = folder / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f".{os.getpid()}.{path.name}")
        with reaching(file.url):
            system, there = _system(file.url)
            system.get_file(there, str(part))  # unlike `open`, it needs no server that sends parts of files
        part.replace(path)


def copy_there(folder: Path, names: Iterable[str], url: str) -> None:
    """Copies files of a folder to a URL, in the given order.

    Raises:
        RemoteError: a file cannot be written.
        UsageError: fsspec has no such protocol, or needs another package for it.
    """
    with reaching(url):
        system, top = _system(url)
        for name in names:
            target = f"{top.rstrip('/')}/{name}"
            system.makedirs(target.rpartition("/")[0], exist_ok=True)
            system.put_file(str(folder / name), target)


def remove(url: str, names: Iterable[str]) -> None:
    """Removes files of a folder.

    Raises:
        RemoteError: a file cannot be removed.
    """
    with reaching(url):
        system, top = _system(url)
        for name in names:
            system.rm_file(f"{top.rstrip('/')}/{name}")


@contextmanager
def reaching(url: str) -> Iterator[None]:
    """Turn the errors of file systems into a one-line error that names the URL and says what to do.

    Raises:
        RemoteError: the file is not there, may not be read, or the network failed.
        UsageError: fsspec has no such protocol, or needs another package for it.
    """
    try:
        yield
    except DiscoprobeError:
        raise
    except (ImportError, ValueError) as error:
        if isinstance(error, ImportError):
            protocol = url.partition("://")[0]
            remedy = f"`pip install {PACKAGES[protocol]}`" if protocol in PACKAGES else first_line(error)
            raise UsageError(
                f"{url}: {protocol}:// needs packages that are not installed: {remedy}; or download the files and give "
                "their folder"
            ) from error
        if "rotocol" in str(error):
            raise UsageError(f"{url}: {first_line(error)}") from error
        raise RemoteError(f"{url}: {first_line(error)}") from error
    except FileNotFoundError as error:
        raise RemoteError(f"{url}: not there: {first_line(error)}; check repository, commit and path") from error
    except Exception as error:  # every file system has classes of its own
        status = getattr(getattr(error, "response", None), "status_code", None)
        if status in {401, 403} or isinstance(error, PermissionError):
            remedy = "access is refused; log in with `hf auth login` or set HF_TOKEN, and accept the dataset's terms"
        elif status == 404:  # noqa: PLR2004
            remedy = "not there; check repository, commit and path"
        else:
            remedy = "cannot be read; check the network (and HF_ENDPOINT), then run the command again"
        raise RemoteError(f"{url}: {remedy}: {first_line(error)}") from error


def _system(url: str) -> tuple[AbstractFileSystem, str]:
    from fsspec.core import url_to_fs  # noqa: PLC0415 (only where text is read)

    system, path = url_to_fs(hub_url(url))
    return system, str(path)


def _is_local(system: AbstractFileSystem) -> bool:
    return system.protocol in LOCAL or any(name in LOCAL for name in system.protocol)


def _file(system: AbstractFileSystem, path: str, info: dict[str, Any], top: str) -> File:
    name = path.removeprefix(top).lstrip("/")
    if _is_local(system):
        return replace(hashes_of(Path(path), with_git=False), path=name, url=path)
    about = dict(info.get("lfs") or {}) | info
    digest = next((str(about[key]).strip('"') for key in HASHES if about.get(key)), "")
    changed = next((f"{info['size']} {about[key]}" for key in TIMES if about.get(key)), f"{info['size']}")
    return File(name, digest or changed, int(info["size"]), url=system.unstrip_protocol(path))
