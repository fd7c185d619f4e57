"""What a user sets by ``NAME=VALUE``: the settings of a build, and the options of reading text."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from discoprobe.loaders.errors import UnknownNameError, UsageError


def read_assignments(  # noqa: PLR0913 (the words of two messages)
    assignments: Iterable[str],
    readers: Mapping[str, Callable[[str], object]],
    kind: str,
    *,
    remedy: str = "",
    without_value: Callable[[str], str],
    unreadable: Callable[[str], str],
) -> dict[str, Any]:
    """The values of assignments, by name.

    Args:
        assignments: ``NAME=VALUE`` each.
        readers: what may be set, each with the function that reads its value.
        kind: the word for it in messages.
        remedy: after the message that names what may be set.
        without_value: of a name, what to do if the value is missing.
        unreadable: of a name, what to do if the value cannot be read.

    Raises:
        UsageError: an assignment has no value, or one that cannot be read.
        UnknownNameError: there is no such name.
    """
    values = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if name not in readers:
            raise UnknownNameError(kind, name, readers, remedy=remedy)
        if not equals:
            raise UsageError(f"{kind} '{name}' has no value; {without_value(name)}")
        try:
            values[name] = readers[name](text)
        except ValueError:
            raise UsageError(f"{kind} '{assignment}' cannot be read; {unreadable(name)}") from None
    return values
