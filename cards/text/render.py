"""Templates as text: Markdown of cards, SVG of plots, HTML of review pages."""

import functools
from collections.abc import Sequence

from jinja2 import Environment, PackageLoader, StrictUndefined

from discoprobe.cards.metadata.yaml_header import n_rows
from discoprobe.cards.text import escape


def render(template: str, /, *, package: str = "text", **values: object) -> str:
    """The template ``cards/{package}/templates/{template}.jinja`` with these values filled in.

    In ``.svg`` and ``.html`` every value is escaped. In ``.md`` the filter ``md`` makes one line of Markdown
    that shows exactly the text; every text from a corpus goes through it.
    """
    environment = _environment(package, escaping=not template.endswith(".md"))
    return environment.get_template(f"{template}.jinja").render(**values)


@functools.cache
def _environment(package: str, *, escaping: bool) -> Environment:
    made = Environment(
        loader=PackageLoader(f"discoprobe.cards.{package}"), undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, autoescape=escaping,  # noqa: S701 (Markdown is escaped by the filter `md`)
        keep_trailing_newline=True,
    )  # fmt: skip
    made.filters |= {
        "md": escape.line, "marked": escape.marked, "count": _count, "share": _share, "interval": interval,
        "compact": compact, "n_rows": n_rows,
    }  # fmt: skip
    return made


def _count(number: int) -> str:
    """``12,345``."""
    return f"{number:,}"


def _share(value: float | None, sign: str = "") -> str:
    """``0.650``; nothing for None."""
    return "" if value is None else f"{value:{sign}.3f}"


def interval(ends: Sequence[float] | None) -> str:
    """``0.299–0.701``; nothing for None and an empty list."""
    return f"{ends[0]:.3f}–{ends[1]:.3f}" if ends else ""


def compact(number: int) -> str:
    """``950``, ``1.2k``, ``14k``, ``1.4M``."""
    value, unit = next((number / size, unit) for size, unit in _UNITS if number >= size * 0.9995 or size == 1)
    return f"{value:.{int(value < _TWO_DIGITS)}f}".removesuffix(".0") + unit


_UNITS = ((1_000_000, "M"), (1_000, "k"), (1, ""))
_TWO_DIGITS = 9.95
