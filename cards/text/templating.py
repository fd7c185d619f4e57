"""Templates as text: Markdown of cards, SVG of plots, HTML of review pages.

Corpus text is data: it must not become Markdown, HTML or YAML of a card.
"""

import functools
import html
import re
import unicodedata
from collections.abc import Iterable, Sequence

from jinja2 import Environment, PackageLoader, StrictUndefined

from discoprobe.cards.metadata.yaml_header import n_rows
from discoprobe.loaders.catalogue.treebanks import language_name

_MARKDOWN = re.compile(r"([\\`*_{}\[\]#|~$^])")
_NO_CHARACTERS = re.compile("[\ud800-\udfff\ufffe\uffff]")
"""What neither XML nor UTF-8 can hold."""
_DIRECTION_MARKS = re.compile("[\u202a-\u202e\u2066-\u2069]")
"""Characters that change the direction of the following text (bidirectional controls)."""
_LONGEST = 600
_RIGHT_TO_LEFT = frozenset({"R", "AL", "AN"})
_ISOLATE = "\u2068{}\u2069"
"""First-strong isolate and its end: the text has its own direction, and the text beside it keeps its own."""


def markdown(text: str) -> str:
    """``text`` as one line of Markdown that shows exactly these characters (long text is cut, with an ellipsis)."""
    return html.escape(_MARKDOWN.sub(r"\\\1", plain(text, _LONGEST)), quote=False)


def plain(text: str, longest: int) -> str:
    """At most ``longest`` characters of ``text`` on one line, without control characters: fit for XML and Markdown."""
    short = text if len(text) <= longest else text[:longest] + "…"
    visible = "".join(" " if unicodedata.category(char) in {"Cc", "Zl", "Zp"} else char for char in short)
    return _DIRECTION_MARKS.sub("", _NO_CHARACTERS.sub("\ufffd", visible))


def line(text: object) -> str:
    """``markdown(text)``, isolated from the text around it if any of it is written from right to left."""
    return isolated(markdown(str(text)))


def marked(pieces: Iterable[tuple[str, bool]]) -> str:
    """Pieces of one text as Markdown; marked pieces are highlighted, or bold on sites that do not show highlights.

    The text is isolated as a whole: pieces that are isolated one by one would have the direction of the page.
    """
    escaped = [(markdown(text), mark) for text, mark in pieces]
    return isolated("".join(f"<mark><b>{text}</b></mark>" if mark else text for text, mark in escaped))


def isolated(text: str) -> str:
    """Text, isolated with its own direction if any of it is written from right to left."""
    has_right_to_left = any(unicodedata.bidirectional(char) in _RIGHT_TO_LEFT for char in text)
    return _ISOLATE.format(text) if has_right_to_left else text


def render(template: str, /, *, package: str = "text", **values: object) -> str:
    """The template ``cards/{package}/templates/{template}.jinja`` with these values filled in.

    In ``.svg`` and ``.html`` every value is escaped. In ``.md`` the filter ``md`` makes one line of Markdown
    that shows exactly the text; every text from a corpus goes through it.
    """
    environment = _environment(package, escaping=not template.endswith(".md"))
    return environment.get_template(f"{template}.jinja").render(**values)


def interval(ends: Sequence[float] | None) -> str:
    """``0.299–0.701``; nothing for None and an empty list."""
    return f"{ends[0]:.3f}–{ends[1]:.3f}" if ends else ""


_FILTERS = {
    "md": line, "marked": marked, "interval": interval, "n_rows": n_rows,
    "language": language_name, "count": "{:,}".format,  # 12,345
    "share": lambda value, sign="": "" if value is None else f"{value:{sign}.3f}",  # 0.650
}  # fmt: skip


@functools.cache
def _environment(package: str, *, escaping: bool) -> Environment:
    environment = Environment(
        loader=PackageLoader(f"discoprobe.cards.{package}"), undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, autoescape=escaping,  # noqa: S701 (Markdown is escaped by the filter `md`)
        keep_trailing_newline=True,
    )  # fmt: skip
    environment.filters |= _FILTERS
    return environment
