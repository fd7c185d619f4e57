"""Cards of a release folder as they are read: whole, without their YAML, or in a terminal."""

import re
from pathlib import Path

from discoprobe.cards.metadata import manifest
from discoprobe.loaders.errors import DiscoprobeError, UnknownNameError

README = "README.md"
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)


def card_text(release: Path, config: str) -> str:
    """The card of a config of a release folder; for the empty name, the card of the release.

    Raises:
        UnknownNameError: if the release has no such config.
        DiscoprobeError: if there is no release in the folder.
    """
    names = manifest.read(release)["configs"]
    if config and config not in names:
        raise UnknownNameError("config", config, names, remedy=f"({release} does not have it; `build run` builds it)")
    if not (release / README).exists():
        raise DiscoprobeError(f"{release} is not a release folder; `build run` writes one")
    return (release / config / README).read_text(encoding="utf-8")


def body(card: str) -> str:
    """A card without its YAML block."""
    return _FRONT_MATTER.sub("", card, count=1)


def for_terminal(card: str) -> str:
    """A card as Markdown that reads well in a terminal: marks as brackets, no images, no YAML.

    >>> print(for_terminal("a <mark><b>b</b></mark>"))
    a ⟦b⟧
    """
    text = body(card).replace("<mark><b>", "⟦").replace("</b></mark>", "⟧")
    return re.sub(r"^!\[[^\]]*\]\([^)]*\)\n\n?", "", text, flags=re.MULTILINE)
