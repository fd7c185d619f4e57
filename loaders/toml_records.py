"""TOML tables as typed values, checked by `msgspec`, with errors that name file, table and key."""

import re
from typing import Any, Final, TypeVar

import msgspec

from discoprobe.loaders.errors import DiscoprobeError

T = TypeVar("T")

_PLACE: Final = re.compile(r"(?P<problem>.*?)(?: - at (?P<key>`key` in )?`\$\.?(?P<path>.*)`)?", re.DOTALL)
"""The format of messages of `msgspec`: the problem, and the path of the value (``$.entries[0].upos[1]``)."""


def parse_toml(text: str, file: str) -> dict[str, Any]:
    """The tables of a TOML text as plain values.

    Raises:
        DiscoprobeError: the text is not TOML; the message names the file, the line and the column.
    """
    try:
        return msgspec.toml.decode(text, type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise DiscoprobeError(f"{file}: not valid TOML: {error}") from error


def convert_table(table: object, kind: type[T], file: str, path: str = "") -> T:
    """A plain value as an instance of ``kind``, usually a `msgspec.Struct`.

    Args:
        table: what `parse_toml` returned, or a part of it.
        kind: the expected type.
        file: where the table stands, for messages.
        path: the keys that lead to the table in its file, for messages (``connectives``).

    Raises:
        DiscoprobeError: the value is not what ``kind`` declares. The message is one line, as in
            ``languages/es.toml: connectives.entries[3].upos[0]: Invalid enum value 'ADVB'; see Connectives in …``.
    """
    try:
        return msgspec.convert(table, kind)
    except msgspec.ValidationError as error:
        message = _PLACE.fullmatch(" ".join(str(error).split()))
        assert message is not None
        inside = message["path"] or ""
        keys = f"{path}{'' if not path or not inside or inside.startswith('[') else '.'}{inside}"
        place = f"{file}: {keys}" if keys else file
        which = "a key: " if message["key"] else ""
        raise DiscoprobeError(
            f"{place}: {which}{message['problem']}; see {kind.__qualname__} in {kind.__module__}"
        ) from error
