"""Strict reading of TOML tables: every key is taken once, with its type, and what is left over is an error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NoReturn

from discoprobe.loaders.errors import DiscoprobeError

if TYPE_CHECKING:
    from collections.abc import Collection

_MISSING: Final = object()


class Table:
    """One TOML table that remembers where it stands and which of its keys have been taken.

    Every error is a `DiscoprobeError` of one line that begins with the file and the dotted path of the key, as in
    ``languages/es.toml: connectives.entries[3].upos: 'ADVB' is not one of ADJ, ADP, …``.
    """

    def __init__(self, values: dict[str, Any], file: str, path: str = "") -> None:
        self._values, self.file, self.path = dict(values), file, path

    def close(self) -> None:
        """Raise where a key is left that nobody has taken."""
        if self._values:
            self.fail(f"unknown key '{min(self._values)}'")

    def fail(self, problem: str, key: str = "") -> NoReturn:
        """Raise a `DiscoprobeError` about this table or one of its keys."""
        place = self._path_of(key) if key else self.path
        raise DiscoprobeError(f"{self.file}: {place}: {problem}" if place else f"{self.file}: {problem}")

    def keys(self) -> tuple[str, ...]:
        """The keys nobody has taken yet, in the order of the file."""
        return tuple(self._values)

    def string(self, key: str, default: str | None = None, *, among: Collection[str] = ()) -> str:
        """A string, one of ``among`` if given; ``default`` if the key is missing (None: it is required)."""
        value = self._take(key, str, "a string", default)
        return value if value == default else self._known(key, value, among)

    def flag(self, key: str, *, default: bool | None = None) -> bool:
        """A boolean; ``default`` if the key is missing (None: it is required)."""
        return bool(self._take(key, bool, "true or false", default))

    def strings(self, key: str, *, among: Collection[str] = ()) -> tuple[str, ...]:
        """A list of different strings, each one of ``among`` if given; empty if the key is missing."""
        values = self._take(key, list, "a list of strings", [])
        for value in values:
            if not isinstance(value, str):
                self.fail(f"expected a list of strings, found {value!r} in it", key)
            self._known(key, value, among)
        if len(set(values)) < len(values):
            self.fail("lists a value twice", key)
        return tuple(values)

    def items(self, key: str) -> tuple[Any, ...]:
        """A list of anything; empty if the key is missing."""
        return tuple(self._take(key, list, "a list", []))

    def table(self, key: str) -> Table | None:
        """A table inside this one, None if the key is missing."""
        if key not in self._values:
            return None
        return Table(self._take(key, dict, "a table", None), self.file, self._path_of(key))

    def tables(self, key: str) -> tuple[Table, ...]:
        """A list of tables; empty if the key is missing."""
        values = self.items(key)
        if not all(isinstance(value, dict) for value in values):
            self.fail("expected a list of tables", key)
        return tuple(Table(value, self.file, f"{self._path_of(key)}[{i}]") for i, value in enumerate(values))

    def _path_of(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key

    def _take(self, key: str, kind: type, wanted: str, default: Any) -> Any:
        value = self._values.pop(key, _MISSING)
        if value is _MISSING:
            return self.fail("is missing", key) if default is None else default
        return value if isinstance(value, kind) else self.fail(f"expected {wanted}, found {value!r}", key)

    def _known(self, key: str, value: str, among: Collection[str]) -> str:
        if among and value not in among:
            self.fail(f"'{value}' is not one of {', '.join(among)}", key)
        return value
