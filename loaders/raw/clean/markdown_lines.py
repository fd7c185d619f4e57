"""Lines of Markdown that are no running text: code, formulas, tables and lists."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from discoprobe.loaders.raw.clean.lines import is_final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from discoprobe.loaders.raw.clean.lines import Line

FENCE: Final = re.compile(r"(?P<fence>`{3,}|~{3,}|\$\$|\\\[)")
CLOSING: Final = {"$$": "$$", "\\[": "\\]"}
"""What ends a block that another sign opens."""
HEADING: Final = re.compile(r"#{1,6}\s+\S")
ROW: Final = re.compile(r"\|.*\||\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)+\|?$")
"""A row of a table, or the line under its head."""
ITEM: Final = re.compile(r"(?:[-*+•]|\d{1,3}[.)])\s+\S")
FORMULA: Final = re.compile(r"\$[^$]+\$[.,;]?$|\\\(.+\\\)[.,;]?$|\\begin\{")


def markdown_lines(lines: Sequence[Line]) -> dict[int, str]:
    """The lines that are no running text: index of the line → ``code``, ``formula``, ``table`` or ``list``.

    Items are a list only in a text that has headings, tables or blocks of code as Markdown writes them, since a turn of
    a dialogue begins like an item: there, if several follow each other, or if no sentence ends at the end of one.
    """
    reasons = dict(_fenced(lines))
    rows = [i for i, line in enumerate(lines) if i not in reasons and ROW.match(line.text)]
    reasons |= dict.fromkeys(rows, "table")
    reasons |= {i: "formula" for i, line in enumerate(lines) if i not in reasons and FORMULA.match(line.text)}
    if reasons or any(HEADING.match(line.text) for line in lines):
        reasons |= dict.fromkeys(_items(lines), "list")
    return reasons


def _fenced(lines: Sequence[Line]) -> Iterator[tuple[int, str]]:
    """The lines from each fence to the one that closes it; a fence that nothing closes is text."""
    i = 0
    while i < len(lines):
        opening = FENCE.match(lines[i].text)
        end = _closing(lines, i, opening["fence"]) if opening else None
        if opening and end is not None:
            kind = "formula" if opening["fence"] in CLOSING else "code"
            yield from ((at, kind) for at in range(i, end + 1))
            i = end
        i += 1


def _closing(lines: Sequence[Line], start: int, fence: str) -> int | None:
    closing = CLOSING.get(fence, fence)
    if fence in CLOSING and closing in lines[start].text[len(fence) :]:
        return start
    return next((at for at in range(start + 1, len(lines)) if closing in lines[at].text), None)


def _items(lines: Sequence[Line]) -> Iterator[int]:
    """The items of lists, with the indented lines that continue them."""
    marked = [ITEM.match(line.text) is not None for line in lines]
    inside = False
    for i, line in enumerate(lines):
        beside = (i > 0 and marked[i - 1]) or (i + 1 < len(lines) and marked[i + 1]) or inside
        inside = (marked[i] and (beside or not is_final(line.text))) or (inside and bool(line.text) and line.indent > 0)
        if inside:
            yield i
