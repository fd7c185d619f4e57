"""The Hub's closed lists (``hub_lists.toml``): what a card's metadata may say."""

import functools
import importlib.resources
import re
import tomllib
from typing import Final

from discoprobe.loaders.catalogue import licences

OTHER: Final = "other"

_HUB_NAMES: Final = {"lgpllr": "lgpl-lr", "c-uda-1.0": "c-uda"}
"""Licences whose SPDX identifier is not the Hub's."""


@functools.cache
def closed_lists() -> dict[str, list[str]]:
    """The values that the Hub knows, by the key of the YAML."""
    data = importlib.resources.files("discoprobe.cards.metadata").joinpath("hub_lists.toml").read_bytes()
    return tomllib.loads(data.decode())


def hub_licences(name: str) -> tuple[str, ...]:
    """The Hub's identifiers for a licence in any spelling, or several; ``other`` for one that the Hub does not list."""
    spdx = [part.lower() for part in licences.normalise(name).split(" AND ")]
    known = [_HUB_NAMES.get(part, part) for part in spdx]
    return tuple(part if part in closed_lists()["license"] else OTHER for part in known)


def size_category(rows: int) -> str:
    """The size category of a number of rows."""
    names = closed_lists()["size_categories"]
    return next((name for power, name in enumerate(names[:-1], 3) if rows < 10**power), names[-1])


_PRIVATE_USE = re.compile(r"q[a-t][a-z]")
"""ISO 639-2 reserves qaa–qtz for local use: Universal Dependencies has ``qhe`` and ``qtd`` for mixed languages."""


@functools.cache
def language_code(code: str) -> str:
    """The ISO 639-1 code of a language where it has one, else its ISO 639-3 code: ``sme`` becomes ``se``.

    A code of local use becomes ``mis`` (ISO 639-3: a language without a code).
    """
    import langcodes  # noqa: PLC0415 (half a megabyte of tables)

    return "mis" if _PRIVATE_USE.fullmatch(code) else str(langcodes.standardize_tag(code))


def is_language(code: str) -> bool:
    """Whether ``code`` is a code of ISO 639-1 or 639-3 in the form that the Hub lists."""
    import langcodes  # noqa: PLC0415

    shaped = re.fullmatch(r"[a-z]{2,3}", code) and not _PRIVATE_USE.fullmatch(code)
    return bool(shaped) and langcodes.Language.get(code).is_valid() and langcodes.standardize_tag(code) == code
