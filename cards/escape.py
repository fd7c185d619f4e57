r"""Corpus text is data: what it says must not become Markdown, HTML or YAML of a card."""

from __future__ import annotations

import re
import unicodedata

from markupsafe import escape

_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#|~$^])")
_LONGEST = 600
_RIGHT_TO_LEFT = frozenset({"R", "AL", "AN"})
_ISOLATE = "\u2068{}\u2069"
"""First-strong isolate and its end: the text has a direction of its own, and nothing beside it is turned."""


def markdown(text: str) -> str:
    """``text`` as one line of Markdown that shows exactly these characters (long text is cut, with an ellipsis)."""
    shown = text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
    visible = "".join(" " if unicodedata.category(char) in {"Cc", "Zl", "Zp"} else char for char in shown)
    return str(escape(_MARKDOWN.sub(r"\\\1", _without_direction_marks(visible))))


def line(text: object) -> str:
    """``markdown(text)``, set apart from its surroundings if it holds anything that is written from right to left."""
    escaped = markdown(str(text))
    turned = any(unicodedata.bidirectional(char) in _RIGHT_TO_LEFT for char in escaped)
    return _ISOLATE.format(escaped) if turned else escaped


def _without_direction_marks(text: str) -> str:
    """Without characters that turn the direction of what follows (bidirectional controls)."""
    return re.sub("[\u202a-\u202e\u2066-\u2069]", "", text)
