"""Files by content, and folders that processes share: the cache, locks, unfinished work, and the folder of a release.

Everything in discoprobe that compares files by content uses `hashes_of`: corpora against the catalogue, the cache of
parsed corpora, models, releases against their manifest and against the Hub. `hash_of_json` hashes the inputs of a
stored result, so that it can be found again. (`hashing` makes the keys of rows, which are columns of polars; what only
lists or downloads corpora does without.)

A new release is made in a folder beside the old one, ``.NAME.new``. Linux exchanges both in one step (``renameat2``);
elsewhere two renames do it. A folder that cannot be renamed (a mount point, or the folder that the program was started
in) stays where it is: the new release is made inside it, and its entries are moved. If the program is killed on the
way, the next reader of the release calls ``recovered``: it restores the old release, or finishes the exchange if all
entries of the old one had been moved away.

Data that is written by hand is TOML: `parse_toml` and `convert_table` give its tables as typed values, checked by
`msgspec`, with errors that name file, table and key.
"""

import copy
import ctypes
import difflib
import enum
import errno
import hashlib
import io
import json
import os
import re
import shutil
import tempfile
import tomllib
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Final, Literal, TypeVar

import msgspec

from discoprobe.loaders.errors import DiscoprobeError

T = TypeVar("T")

_CHUNK: Final = 2**18
_TOML_PLACE: Final = re.compile(r"(?P<problem>.*?)(?: - at (?P<key>`key` in )?`\$\.?(?P<path>.*)`)?", re.DOTALL)
"""The format of messages of `msgspec`: the problem, and the path of the value (``$.entries[0].upos[1]``)."""
PREFIX: Final = ".reading-"
GUARD: Final = ".reading.lock"
LOCK: Final = "lock"


class File(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    r"""A file that is read or published: its path, and the size and the hashes of its content.

    What is not known is empty, and left out where a file is written as JSON.

    Attributes:
        path: inside its repository, folder or release. It is empty where a mapping has the path as its key, and for
            content that is compared whatever it is called.
        sha256: SHA-256 of the content, in hexadecimal. Of a file elsewhere it may be another text that changes when the
            content changes: the hash that the file system gives, such as an ETag, else size and time.
        bytes: the size; None where it is not known.
        git_blob_sha1: SHA-1 of ``blob <size>\0`` and the content, as ``git hash-object`` prints it.
        url: the path or URL at which it is read, if it is not below a folder that is known.
    """

    path: str = ""
    sha256: str = ""
    bytes: int | None = None
    git_blob_sha1: str = ""
    url: str = ""

    @property
    def name(self) -> str:
        """The last part of the path."""
        return PurePosixPath(self.path).name

    @property
    def content_hash(self) -> str:
        """The hash that names the content: git's, or the SHA-256 where git's is not known."""
        return self.git_blob_sha1 or self.sha256

    def holds(self, content: "File") -> bool:
        """Whether a content, of which all is known, is that of this file."""
        return content.sha256 == self.sha256 if self.sha256 else content.git_blob_sha1 == self.git_blob_sha1

    def mismatch(self, path: Path) -> str:
        """How the content of ``path`` differs from this file (``expected …, got …``); empty where it is the same.

        Raises:
            DiscoprobeError: ``path`` cannot be read.
            OSError: there is no file at ``path``.
        """
        size = path.stat().st_size
        if self.bytes not in {None, size}:
            return f"expected {self.bytes} bytes, got {size}"
        content = hashes_of(path)
        if self.git_blob_sha1 not in {"", content.git_blob_sha1}:
            return f"expected git blob SHA-1 {self.git_blob_sha1}, got {content.git_blob_sha1}"
        if self.sha256 not in {"", content.sha256}:
            return f"expected SHA-256 {self.sha256}, got {content.sha256}"
        return ""


def hashes_of(content: Path | bytes, *, with_git: bool = True) -> File:
    """A file, or bytes in memory, as a `File` without path. It is read once, in pieces.

    Args:
        content: the path of the file, or the bytes.
        with_git: whether git's hash is computed too, which doubles the time.

    Raises:
        DiscoprobeError: the file cannot be read.
    """
    try:
        with io.BytesIO(content) if isinstance(content, bytes) else content.open("rb") as stream:
            size = len(content) if isinstance(content, bytes) else content.stat().st_size
            sha256 = hashlib.sha256()
            blob = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
            part = memoryview(bytearray(min(size, _CHUNK) + 1))
            while n_read := stream.readinto(part):
                sha256.update(part[:n_read])
                if with_git:
                    blob.update(part[:n_read])
    except OSError as error:
        raise DiscoprobeError(f"{content!s}: cannot be read: {error.strerror}") from error
    return File("", sha256.hexdigest(), size, blob.hexdigest() if with_git else "")


def hash_of_json(content: object) -> str:
    """SHA-256, in hexadecimal, of a value as JSON with sorted keys; any mapping or struct is a JSON object."""
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=_plain).encode()).hexdigest()


def _plain(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else msgspec.to_builtins(value)


def cache_folder() -> Path:
    """The folder of everything that is kept between runs: downloads, parsed corpora, annotated text.

    ``$DISCOPROBE_CACHE``, else ``$XDG_CACHE_HOME/discoprobe``, else ``~/.cache/discoprobe``, on every system.
    """
    if folder := os.environ.get("DISCOPROBE_CACHE"):
        return Path(folder).expanduser().resolve()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "discoprobe"


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file under another name and rename it, so that it is complete or absent."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{os.getpid()}.new")
    new.write_bytes(data)
    new.replace(path)


@contextmanager
def alone(folder: Path, doing: str, path: Path) -> Iterator[None]:
    """Lock a folder against other processes, including those of other containers that mount it.

    Args:
        folder: the folder; it need not exist yet.
        doing: the beginning of the message if the folder is locked, such as ``another build is writing``.
        path: the lock file, on the file system of the folder; it is deleted at the end.

    Raises:
        DiscoprobeError: another process has locked the folder, or no file can be written beside it.
    """
    from filelock import FileLock, Timeout  # noqa: PLC0415 (imports asyncio; most commands lock nothing)

    lock = FileLock(path, timeout=0)
    try:
        lock.acquire()
    except Timeout:
        try:  # FileLock reports a folder that cannot be written like one that is locked
            tempfile.TemporaryFile(dir=path.parent).close()
        except OSError as error:
            raise DiscoprobeError(f"{folder}: no file can be written beside it: {error.strerror}") from None
        raise DiscoprobeError(f"{doing} {folder}; wait for it, or give --out another folder") from None
    try:
        yield
    finally:
        with suppress(OSError):  # FileLock notices when it has locked a deleted file, and locks again
            path.unlink()
        lock.release()


@contextmanager
def work_folder(cache: Path) -> Iterator[Path]:
    """A new folder in a cache that is deleted at the end; those of killed processes are deleted too.

    A process holds a lock in its folder as long as it lives. The lock of the cache is held while a folder is made and
    while abandoned ones are deleted, so that no folder is deleted before its process has locked it.
    """
    from filelock import FileLock, Timeout  # noqa: PLC0415 (imports asyncio; most commands lock nothing)

    cache.mkdir(parents=True, exist_ok=True)
    with FileLock(cache / GUARD):
        for folder in sorted(cache.glob(f"{PREFIX}*")):
            with suppress(Timeout, OSError):  # in use, or already deleted
                with FileLock(folder / LOCK, timeout=0):
                    pass
                shutil.rmtree(folder, ignore_errors=True)
        new = Path(tempfile.mkdtemp(prefix=PREFIX, dir=cache))
        lock = FileLock(new / LOCK)
        lock.acquire()
    try:
        yield new
    finally:
        lock.release()
        shutil.rmtree(new, ignore_errors=True)


_AT_FDCWD: Final = -100
_RENAME_EXCHANGE: Final = 2
_INSIDE_NEW: Final = ".discoprobe.new"
_INSIDE_OLD: Final = ".discoprobe.old"
_INSIDE_LOCK: Final = ".discoprobe.lock"
_PUT_AWAY: Final = ".all"
"""In the folder of old entries: all of them have been put away."""
OWN: Final = frozenset({_INSIDE_NEW, _INSIDE_OLD, _INSIDE_LOCK})
"""Names in a folder that are no part of a release."""


class Place:
    """Where a release stands, and where the next one is made.

    Args:
        folder: the release folder; a symbolic link stands for what it leads to.

    Attributes:
        fixed: whether the folder cannot be renamed; then its entries are moved.
        new: the folder in which the next release is made, on the same file system.
        old: where the old release is while the new one takes its place.
        lock: the file that is locked while the folder is written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.fixed = self.folder.is_dir() and (
            os.path.ismount(self.folder)
            or Path.cwd().is_relative_to(self.folder)
            or not os.access(self.folder.parent, os.W_OK | os.X_OK)
        )
        inside = (self.folder / name for name in (_INSIDE_NEW, _INSIDE_OLD, _INSIDE_LOCK))
        beside = (self.folder.with_name(f".{self.folder.name}.{what}") for what in ("new", "old", "lock"))
        self.new, self.old, self.lock = inside if self.fixed else beside

    def entries(self) -> Iterator[Path]:
        """The entries of the release folder."""
        yield from (path for path in sorted(self.folder.iterdir()) if path.name not in OWN)

    def recover(self) -> None:
        """Repairs what a killed program has left; the release is then the old one or the new one."""
        if not self.old.exists():
            return
        if not self.fixed:
            if not self.folder.exists():
                self.old.rename(self.folder)
        elif (self.old / _PUT_AWAY).exists():
            self._move_in()
        else:
            for path in self.old.iterdir():
                path.rename(self.folder / path.name)
        shutil.rmtree(self.old, ignore_errors=True)

    def link_tree(self) -> None:
        """Makes ``new`` the same tree without copying: files are replaced, never rewritten."""
        shutil.rmtree(self.new, ignore_errors=True)
        if not self.folder.exists():
            self.new.mkdir(parents=True)
            return
        try:
            self._copy(os.link)
        except (OSError, shutil.Error):
            shutil.rmtree(self.new, ignore_errors=True)
            self._copy(shutil.copy2)

    def _copy(self, how: object) -> None:
        shutil.copytree(
            self.folder, self.new, copy_function=how, symlinks=True,  # type: ignore[arg-type]
            ignore=lambda where, names: OWN & set(names) if Path(where) == self.folder else (),
        )  # fmt: skip

    def swap(self) -> None:
        """Puts the new release in the place of the old one."""
        if self.fixed:
            self.old.mkdir()
            for path in self.entries():
                path.rename(self.old / path.name)
            (self.old / _PUT_AWAY).touch()
            self._move_in()
            shutil.rmtree(self.old, ignore_errors=True)
        elif not self.folder.exists():
            self.new.rename(self.folder)
        elif not exchanged(self.new, self.folder):
            self.folder.rename(self.old)
            self.new.rename(self.folder)
            shutil.rmtree(self.old, ignore_errors=True)

    def _move_in(self) -> None:
        for path in sorted(self.new.iterdir()) if self.new.exists() else ():
            path.rename(self.folder / path.name)

    def delete_abandoned(self, is_release: Callable[[Path], bool]) -> None:
        """Deletes folders beside this one in which killed programs made other releases: nobody holds their locks.

        Args:
            is_release: whether a folder holds a part of a release; another program may use such names, too.
        """
        from filelock import FileLock, Timeout  # noqa: PLC0415 (as in `work_folder`)

        for lock in () if self.fixed else self.folder.parent.glob(".*.lock"):
            new, old = (lock.with_suffix(suffix) for suffix in (".new", ".old"))
            if lock == self.lock or not new.is_dir() or old.exists() or not is_release(new):
                continue
            with suppress(Timeout, OSError), FileLock(lock, timeout=0):
                shutil.rmtree(new, ignore_errors=True)
                lock.unlink()

    def clean(self) -> None:
        """Removes the folder in which a release was made: what is in it is the old one, or half made."""
        shutil.rmtree(self.new, ignore_errors=True)


def exchanged(one: Path, other: Path) -> bool:
    """Exchanges two paths in one step; False where the system cannot do that."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):  # not Linux, or an old C library; Windows has no library without name
        return False
    paths = os.fsencode(one), os.fsencode(other)
    if rename(_AT_FDCWD, paths[0], _AT_FDCWD, paths[1], _RENAME_EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in {errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.ENOTSUP}:
        return False  # a file system without it
    raise OSError(number, os.strerror(number), str(other))


def recovered(folder: Path) -> Path:
    """The folder, after a repair of what a killed program left there.

    A program that is writing it now is left alone: it holds the lock, and never leaves the folder without a release for
    longer than between two renames.
    """
    place = Place(folder)
    if place.old.exists():
        from filelock import FileLock, Timeout  # noqa: PLC0415 (imports asyncio; most commands lock nothing)

        with suppress(Timeout, OSError), FileLock(place.lock, timeout=1):
            place.recover()
            place.lock.unlink(missing_ok=True)
    return folder


def parse_toml(text: str, file: str) -> dict[str, Any]:
    """The tables of a TOML text as plain values.

    Raises:
        DiscoprobeError: the text is not TOML; the message names the file, the line and the column.
    """
    try:
        return msgspec.toml.decode(text, type=dict[str, Any])
    except msgspec.DecodeError as error:
        line = re.search(r"at line (\d+)", str(error))
        place = f"{file}:{line[1]}" if line and Path(file).is_absolute() else file
        raise DiscoprobeError(f"{place}: not valid TOML: {error}") from error


def read_utf8(path: Path) -> str:
    """The text of a file in UTF-8.

    Raises:
        DiscoprobeError: it cannot be read, or is in another encoding.
    """
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise DiscoprobeError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise DiscoprobeError(f"{path}: not UTF-8 (byte {error.start}); save it as UTF-8") from error


Keys = Sequence[str | int]
"""The keys and indices that lead to a value in a TOML text, such as ``("connectives", "entries", 3)``."""


def line_of(toml: str, keys: Keys) -> int:
    """The line on which a value of a TOML text ends its first line: the first after which the text so far has it.

    A text that is cut inside an array is completed by brackets. If the text has no such value, the line is that of the
    table that lacks it.
    """
    lines = toml.splitlines(keepends=True)
    low, high = 1, len(lines)  # bisection: once the text has a value, it keeps it
    while low < high:
        middle = (low + high) // 2
        tables, last = _tables_to(lines, middle)
        if _has(tables, keys):
            high = middle
        else:
            low = max(last, middle) + 1
    low = min(low, len(lines)) or 1
    if keys and not _has(_tables_to(lines, low)[0], keys):
        return line_of(toml, keys[:-1])
    return low if keys else 1


def _tables_to(lines: Sequence[str], number: int) -> tuple[Any, int]:
    """The tables of the first lines of a TOML text, at least as many as ``number``, and how many these are."""
    for last in range(number, len(lines) + 1):
        for closing in ("", "]", "}", "]}", "]]", "]}]"):
            with suppress(tomllib.TOMLDecodeError):
                return tomllib.loads("".join(lines[:last]).rstrip("\n") + closing), last
    return {}, len(lines)


def _has(value: Any, keys: Keys) -> bool:
    try:
        for key in keys:
            value = value[key]
    except (KeyError, IndexError, TypeError):
        return False
    return True


class Mistake(msgspec.Struct, frozen=True):
    """A mistake in a table: the keys that lead to it, and what is wrong, with the allowed values."""

    keys: Keys
    problem: str

    def at(self, file: Path | str, toml: str) -> str:
        """The mistake as a line that begins with the file and the line in it."""
        names = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in self.keys).lstrip(".")
        return f"{file}:{line_of(toml, self.keys)}: {names + ': ' if names else ''}{self.problem}"


def mistakes(value: Any, kind: Any, keys: Keys = ()) -> Iterator[Mistake]:
    """All mistakes of a plain value that should be an instance of ``kind``, where `convert_table` names the first.

    Args:
        value: what `parse_toml` returned, or a part of it.
        kind: a `msgspec.Struct`, or the type of one of its fields.
        keys: that lead to the value.
    """
    inner: list[Mistake] = []
    annotated = typing.get_args(kind)[0] if typing.get_origin(kind) is Annotated else kind
    origin, arguments = typing.get_origin(annotated), typing.get_args(annotated)
    if isinstance(value, dict) and isinstance(annotated, type) and issubclass(annotated, msgspec.Struct):
        fields = {field.encode_name: field for field in msgspec.structs.fields(annotated)}
        for key in [key for key in value if key not in fields]:
            near = difflib.get_close_matches(key, fields, n=1)
            meant = f"; did you mean {near[0]}?" if near else ""
            inner.append(Mistake([*keys, key], f"unknown key{meant} (allowed: {', '.join(fields)})"))
        inner += [
            Mistake(keys, f"the key {name} is missing")
            for name, field in fields.items()
            if field.required and name not in value
        ]
        for name in [name for name in value if name in fields]:
            inner += mistakes(value[name], fields[name].type, [*keys, name])
    elif isinstance(value, dict) and origin is dict:
        for key, item in value.items():
            inner += (Mistake([*keys, key], f"the key: {each.problem}") for each in mistakes(key, arguments[0]))
            inner += mistakes(item, arguments[1], [*keys, key])
    elif isinstance(value, list) and origin in {list, tuple, set, frozenset}:
        for number, item in enumerate(value):
            inner += mistakes(item, arguments[0], [*keys, number])
    yield from inner
    sound = _without_items(value, [mistake.keys[len(keys) :] for mistake in inner])
    try:
        if sound is not None:
            msgspec.convert(sound, kind)
    except msgspec.ValidationError as error:
        message = _TOML_PLACE.fullmatch(" ".join(str(error).split()))
        assert message is not None
        allowed = ", ".join(dict.fromkeys(allowed_values(kind)))
        yield Mistake(keys, message["problem"] + (f" (allowed: {allowed})" if allowed else ""))


def _without_items(value: Any, faulty: Sequence[Keys]) -> Any:
    """A value without the items of lists that have mistakes; None if there is a mistake that is not in a list."""
    value = copy.deepcopy(value)
    items = set()
    for keys in faulty:
        first = next((n for n, key in enumerate(keys) if isinstance(key, int)), None)
        if first is None:
            return None
        items.add(tuple(keys[: first + 1]))
    for *above, item in sorted(items, key=lambda keys: keys[-1], reverse=True):  # the last item first
        inside = value
        for key in above:
            inside = inside[key]
        del inside[item]
    return value


def allowed_values(kind: Any) -> Iterator[str]:
    """The values of a closed list, or of one of several types."""
    if kind is bool:
        yield from ("true", "false")
    elif isinstance(kind, type) and issubclass(kind, enum.Enum):
        yield from (str(member.value) for member in kind)
    elif typing.get_origin(kind) is Literal:
        yield from map(str, typing.get_args(kind))
    elif typing.get_origin(kind) in {Annotated, types.UnionType, typing.Union}:
        for each in typing.get_args(kind):
            yield from allowed_values(each)


def convert_table(table: object, kind: type[T], file: str, path: str = "", *, toml: str = "") -> T:
    """A plain value as an instance of ``kind``, usually a `msgspec.Struct`.

    Args:
        table: what `parse_toml` returned, or a part of it.
        kind: the expected type.
        file: where the table stands, for messages.
        path: the keys that lead to the table in its file, for messages (``connectives``).
        toml: the text of a plugin's file, whose lines messages name; its messages are those of `mistakes`.

    Raises:
        DiscoprobeError: the value is not what ``kind`` declares. The message is one line, as in
            ``languages/es.toml: connectives.entries[3].upos[0]: Invalid enum value 'ADVB'; see Connectives in …``.
    """
    try:
        return msgspec.convert(table, kind)
    except msgspec.ValidationError as error:
        if toml:
            first, *others = mistakes(table, kind, [path] if path else [])
            more = f" (and {len(others)} more; `build check {file}` lists them)" if others else ""
            raise DiscoprobeError(first.at(file, toml) + more) from None
        message = _TOML_PLACE.fullmatch(" ".join(str(error).split()))
        assert message is not None
        inside = message["path"] or ""
        keys = f"{path}{'' if not path or not inside or inside.startswith('[') else '.'}{inside}"
        place = f"{file}: {keys}" if keys else file
        which = "a key: " if message["key"] else ""
        raise DiscoprobeError(
            f"{place}: {which}{message['problem']}; see {kind.__qualname__} in {kind.__module__}"
        ) from error
