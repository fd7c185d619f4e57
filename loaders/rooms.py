"""What a room (a package of this project) offers by name; each module is imported when one of its names is used."""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def offer(
    room: str, names: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """The ``__getattr__``, ``__dir__`` and ``__all__`` of a room (PEP 562).

    Args:
        room: its ``__name__``.
        names: those that each of its modules defines; none is the name of a module.
    """
    module_of = {name: module for module, of_module in names.items() for name in of_module}

    def get(name: str) -> Any:
        if name not in module_of:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        value = getattr(import_module(f"{room}.{module_of[name]}"), name)
        setattr(sys.modules[room], name, value)
        return value

    return get, lambda: sorted(module_of), sorted(module_of)
