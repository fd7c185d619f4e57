r"""Corpus text is data: it must not become Markdown, HTML or YAML of a card."""

import html
import re
import unicodedata
from collections.abc import Iterable

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
    shown = text if len(text) <= longest else text[:longest] + "…"
    visible = "".join(" " if unicodedata.category(char) in {"Cc", "Zl", "Zp"} else char for char in shown)
    return _DIRECTION_MARKS.sub("", _NO_CHARACTERS.sub("\ufffd", visible))


def line(text: object) -> str:
    """``markdown(text)``, isolated from the text around it if any of it is written from right to left."""
    return isolated(markdown(str(text)))


def marked(pieces: Iterable[tuple[str, bool]]) -> str:
    """Pieces of one text as Markdown; marked pieces are highlighted, or bold on sites that do not show highlights.

    The text is isolated as a whole: pieces that are isolated one by one would have the direction of the page.
    """
    shown = [(markdown(text), mark) for text, mark in pieces]
    return isolated("".join(f"<mark><b>{text}</b></mark>" if mark else text for text, mark in shown))


def isolated(shown: str) -> str:
    """Text, isolated with its own direction if any of it is written from right to left."""
    turned = any(unicodedata.bidirectional(char) in _RIGHT_TO_LEFT for char in shown)
    return _ISOLATE.format(shown) if turned else shown
