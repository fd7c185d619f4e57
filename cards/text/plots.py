"""Plots of a card, as SVG: plain text that is the same in every build, a few kB each, and legible on light and on dark.

Plots are drawn by templates and not by matplotlib, for three reasons. Its files change with its version, so a release
could not be rebuilt byte by byte. They need 22 kB and 0.3 s each, and these 3 kB and a millisecond. And they have one
colour for text, while CSS follows the theme of the reader.
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from discoprobe.builders.audit.report import Report
from discoprobe.builders.audit.thresholds import BY_ID, KNOWN_AS, Kind
from discoprobe.cards.metadata.manifest import ConfigEntry
from discoprobe.cards.text.templating import render
from discoprobe.cards.text.verdicts import CAREFUL, UNMEASURED, task_designs, verdicts, word_of

WIDTH = 400
_STEP, _HEAD = 20, 24
_CELL = 15
"""Width and height of a config in the picture of a release: two letters of 11 pixels."""
_BETWEEN = 20
"""Pixels between the plots of a sheet."""
_SIZE = re.compile(r'<svg [^>]*width="(\d+)" height="(\d+)"')
_PLACED = re.compile(
    r'^<view id="([\w-]+)" [^\n]*\n<svg y="\d+">\n(.*?</title>\n)(.*?^</svg>\n)</svg>$', re.MULTILINE | re.DOTALL
)
_CURVES: dict[str, Any] = {"width": 420, "height": 220, "left": 36.0, "right": 404.0, "top": 28.0, "bottom": 172.0}
"""Size of the plot of accuracies by layer, and the positions of its axes."""
_LETTER = 7
"""Pixels of a letter of a title, and of the names of rows."""
_SHORT = 18
"""Most characters of names of curves of which three stand in a line."""
_LINE, _ABOVE, _BELOW = 12.0, 4.0, 11.0
"""Between the names of dashed lines; from a line to the name above and below it."""


def sheet(plots: Mapping[str, str]) -> str:
    """Plots below each other in one SVG, with a view per plot: ``sheet.svg#dc_es`` shows this one alone.

    The style that all plots have stands in it once.
    """
    placed, y, width, style = [], 0, 0, render("style.svg")
    for name, plot in plots.items():
        size = image_size(plot)
        placed.append((name, y, *size, plot.replace(style, "", 1)))
        y, width = y + size[1] + _BETWEEN, max(width, size[0])
    return render("sheet.svg", placed=placed, width=width, height=y)


def split_sheet(text: str) -> dict[str, str]:
    """The plots of a `sheet`, by their ids."""
    style = render("style.svg")
    return {match[1]: f"{match[2]}{style}{match[3]}" for match in _PLACED.finditer(text)}


def image_size(plot: str) -> tuple[int, int]:
    """Width and height of a plot, in pixels.

    Raises:
        ValueError: the text is not one of these plots.
    """
    if match := _SIZE.search(plot):
        return int(match[1]), int(match[2])
    raise ValueError("the plot does not say its size")


def audit_plot(report: Report) -> str:
    """Accuracy of every shortcut solver with its 95 % interval, beside the majority baseline and thresholds."""
    measured = [each for each in report.findings if each.kind is Kind.SHORTCUT and each.measured is not None]
    majority = next((each.accuracy for each in report.baselines if each.name == "majority"), None)
    return render(
        "audit.svg", title=f"{report.name}: accuracy of shortcut solvers", width=WIDTH, findings=measured,
        chance=majority, head=_HEAD, step=_STEP,
    )  # fmt: skip


def overview_plot(configs: Mapping[str, ConfigEntry], names: Mapping[str, str]) -> str:
    """The SVG text: a row per language, a column per task, and in each cell the size of a config and its advice.

    The side of a square grows with the logarithm of the number of rows; its colour and filling are the advice. Below
    stands the best cheap trick, of each task over all its languages or of its only config. Generated tasks are left
    out, as there are hundreds of them.

    Args:
        configs: those of a release.
        names: names of languages, by code.
    """
    shown = {name: entry for name, entry in sorted(configs.items()) if not entry.task.startswith("feats_")}
    tasks = sorted({entry.task for entry in shown.values()})
    languages = sorted({entry.lang for entry in shown.values()}, key=lambda lang: names.get(lang, lang))
    left, top, judged = 140, 96, verdicts(configs)
    bottom = top + _CELL * len(languages)
    squares: dict[str, list[tuple[float, float, float]]] = {}
    for name, entry in shown.items():
        rows = sum(sum(of_label.values()) for of_label in entry.counts.values())
        side = round(min(_CELL - 2.0, max(3.0, 2.5 * math.log10(max(rows, 1)) - 1)), 1)
        x, y = left + _CELL * (tasks.index(entry.task) + 0.5), top + _CELL * (languages.index(entry.lang) + 0.5)
        square = (round(x - side / 2, 1), round(y - side / 2, 1), side)
        squares.setdefault(word_of(judged[name].advice).replace(" ", "-"), []).append(square)
    strongest = {
        entry.task: (audit.strongest, audit.gain or 0.0)
        for entry in shown.values()
        if (audit := entry.audit) and audit.strongest
    }
    for task, checks in task_designs(shown).items():
        if of_text := [check for check in checks if BY_ID[check.check].of_text]:
            best = max(of_text, key=lambda check: check.gain or 0.0)
            strongest[task] = best.check, best.gain or 0.0
    bars = [
        (
            left + _CELL * at + 3,
            KNOWN_AS[strongest[task][0]],
            strongest[task][1],
            round(min(0.5, max(0.0, strongest[task][1])) * 100, 1),
        )
        for at, task in enumerate(tasks)
        if task in strongest
    ]
    return render(
        "overview.svg", title=f"{len(languages)} languages, {len(tasks)} tasks: size and advice of the audit",
        width=max(WIDTH + 60, left + _CELL * len(tasks) + 60), height=bottom + 200, left=left, top=top, bottom=bottom,
        cell=_CELL, words=("yes", "beat", CAREFUL, "no", UNMEASURED), tasks=tasks,
        languages=[f"{names.get(lang, lang)} {lang}" for lang in languages], squares=squares, bars=bars,
    )  # fmt: skip


def layer_plot(
    title: str, curves: Mapping[str, Sequence[tuple[int, float, tuple[float, float] | None]]],
    baselines: Mapping[str, float],
) -> str:  # fmt: skip
    """The SVG text: per curve layer, accuracy on test and its interval (or None), and baselines as dashed lines.

    Intervals are vertical lines. Models with fewer layers end further left. A baseline's name stands below its line
    (above it if it is the highest one), and on no other name.
    """
    last = max(layer for points in curves.values() for layer, *_ in points)
    lines: list[tuple[str, float, float]] = []
    for name, accuracy in sorted(baselines.items(), key=lambda item: -item[1]):
        y = round(_y(accuracy), 1)
        lowest = lines[-1][2] + _LINE if lines else _CURVES["top"]
        lines.append((name, y, max(y + _BELOW if lines else y - _ABOVE, lowest)))
    beside = 3 if max(map(len, curves)) <= _SHORT else 1
    lines_of_names = math.ceil(len(curves) / beside)
    size = _CURVES | {"height": _CURVES["height"] + 14 * (lines_of_names - 1)}
    return render(
        "layers.svg", title=title, **size, baselines=lines, names_beside=beside,
        curves={
            name: [(_x(layer, last), round(_y(value), 1)) for layer, value, _ in points]
            for name, points in curves.items()
        },
        intervals={
            name: [(_x(layer, last), round(_y(ends[0]), 1), round(_y(ends[1]), 1)) for layer, _, ends in points if ends]
            for name, points in curves.items()
        },
        layers=[(_x(layer, last), layer) for layer in range(0, last + 1, max(1, (last + 1) // 12))],
        ticks=[(round(_y(value), 1), f"{value:.1f}") for value in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)],
    )  # fmt: skip


def heat_map(title: str, values: Mapping[tuple[str, str], float]) -> str:
    """The SVG text: a cell per row and column with a value from -1 (red) over 0 (no colour) to 1 (blue).

    Args:
        title: what the values are.
        values: names of row and column → value; other cells stay empty.
    """
    rows, columns = (sorted({key[at] for key in values}) for at in (0, 1))
    margin, width, height = max(130, 12 + _LETTER * max(map(len, rows))), 44, 18
    return render(
        "heatmap.svg", title=title, left=margin, cell_width=width - 2, cell_height=height - 2,
        width=max(WIDTH, margin + width * len(columns), _LETTER * len(title)), height=44 + height * len(rows),
        columns=[(margin + width * at + width / 2, name) for at, name in enumerate(columns)],
        rows=[(53 + height * at, name) for at, name in enumerate(rows)],
        cells=[
            (margin + width * columns.index(column), 40 + height * rows.index(row), f"{value:.2f}",
             "#3b7dd8" if value > 0 else "#d1495b", round(min(1.0, abs(value)), 2))
            for (row, column), value in sorted(values.items())
        ],
    )  # fmt: skip


def _x(layer: int, last: int) -> float:
    return round(float(_CURVES["left"] + (_CURVES["right"] - _CURVES["left"]) * layer / max(1, last)), 1)


def _y(accuracy: float) -> float:
    return float(_CURVES["bottom"] - (_CURVES["bottom"] - _CURVES["top"]) * accuracy)
