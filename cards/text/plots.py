"""Plots of a card, as SVG: plain text that is the same in every build, a few kB each, and legible on light and on dark.

Plots are drawn by templates and not by matplotlib, for three reasons. Its files change with its version, so a release
could not be rebuilt byte by byte. They need 22 kB and 0.3 s each, and these 3 kB and a millisecond. And they have one
colour for text, while CSS follows the theme of the reader.
"""

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from discoprobe.builders.audit.report import Report
from discoprobe.builders.audit.thresholds import BY_ID, Kind
from discoprobe.builders.config import Config
from discoprobe.cards.metadata.manifest import ConfigEntry
from discoprobe.cards.text.examples import Lengths
from discoprobe.cards.text.templating import plain, render
from discoprobe.cards.text.verdicts import task_designs, verdicts

WIDTH = 400
_LEFT, _RIGHT = 86, 44
_SPAN = WIDTH - _LEFT - _RIGHT
_COLOURS = 6
"""Most labels with a colour each; of more labels all have one colour."""
_NAMED = 12
"""Of many labels, the most frequent ones that are shown."""
_BAR, _STEP, _HEAD = 12, 20, 24
_HISTOGRAM = 90
_CELL = 15
"""Width and height of a config in the picture of a release: two letters of 11 pixels."""
_BESIDE, _FILLED = 2, 0.9
_BETWEEN = 20
"""Pixels between the plots of a sheet."""
_SIZE = re.compile(r'<svg [^>]*width="(\d+)" height="(\d+)"')
_PLACED = re.compile(r'^<view id="([\w-]+)" [^\n]*\n<svg y="\d+">\n(.*?^</svg>\n)</svg>$', re.MULTILINE | re.DOTALL)
_CURVES: dict[str, Any] = {"width": 420, "height": 220, "left": 36.0, "right": 404.0, "top": 28.0, "bottom": 172.0}
"""Size of the plot of accuracies by layer, and the positions of its axes."""
_LINE, _ABOVE, _BELOW = 12.0, 4.0, 11.0
"""Between the names of dashed lines; from a line to the name above and below it."""


def rows_name(config: str) -> str:
    """The id of a config's plot of labels and lengths in the sheet of its language."""
    return f"{config}-rows"


def audit_name(config: str) -> str:
    """The id of a config's plot of solvers in the sheet of its language."""
    return f"{config}-audit"


def sheet(plots: Mapping[str, str]) -> str:
    """Plots below each other in one SVG, with a view per plot: ``sheet.svg#dc_es-rows`` shows this one alone."""
    placed, y, width = [], 0, 0
    for name, plot in plots.items():
        size = image_size(plot)
        placed.append((name, y, *size, plot))
        y, width = y + size[1] + _BETWEEN, max(width, size[0])
    return render("sheet.svg", placed=placed, width=width, height=y)


def split_sheet(text: str) -> dict[str, str]:
    """The plots of a `sheet`, by their ids."""
    return {match[1]: match[2] for match in _PLACED.finditer(text)}


def image_size(plot: str) -> tuple[int, int]:
    """Width and height of a plot, in pixels.

    Raises:
        ValueError: the text is not one of these plots.
    """
    if match := _SIZE.search(plot):
        return int(match[1]), int(match[2])
    raise ValueError("the plot does not say its size")


class Bar(NamedTuple):
    """A rectangle; ``colour`` is the number of a colour."""

    x: float
    y: float
    width: float
    height: float
    colour: int


class PlotText(NamedTuple):
    """A word; ``anchor`` says which end of it is at ``x``; ``kind`` is a class of the style sheet."""

    x: float
    y: float
    text: str
    anchor: str = "start"
    kind: str = "small"


@dataclass(slots=True)
class Panel:
    """What is drawn so far, and how high it is."""

    bars: list[Bar] = field(default_factory=list)
    texts: list[PlotText] = field(default_factory=list)
    height: float = 0.0


def rows_plot(config: Config, lengths: Lengths) -> str:
    """Rows per split and label, and the distribution of their lengths.

    There is a bar per split, divided by label, as long as its number of rows, which stands beside it. If there are too
    many labels for a colour each, there is a bar per label (of the most frequent ones), all splits together.
    """
    counts, labels = config.counts(), config.used_labels
    has_colours = len(labels) <= _COLOURS
    panel = Panel()
    if has_colours:
        rows = [(split, [of_label[label] for label in labels]) for split, of_label in counts.items()]
        _draw_bars(panel, "rows per split and label", rows, gap=1)
        _draw_legend(panel, labels)
    else:
        totals = {label: sum(of_label[label] for of_label in counts.values()) for label in labels}
        most = sorted(totals, key=lambda label: (-totals[label], label))[:_NAMED]
        head = f"rows per label, all splits ({len(most)} of {len(labels)} labels)"
        _draw_bars(panel, head, [(_short(label), [totals[label]]) for label in most])
    axis = panel.height + _HEAD + _HISTOGRAM
    _draw_histogram(panel, lengths, axis, apart=has_colours)
    return render(
        "rows.svg", title=f"{config.name}: labels and lengths", width=WIDTH, height=panel.height, bars=panel.bars,
        texts=panel.texts, axis=axis,
    )  # fmt: skip


def _draw_bars(panel: Panel, head: str, rows: Sequence[tuple[str, Sequence[int]]], *, gap: int = 0) -> None:
    """Draws a line per row, of its name, bars one after the other for its numbers, and their sum.

    The largest sum has the full length.
    """
    full = max([1, *(sum(numbers) for _, numbers in rows)])
    panel.texts.append(PlotText(0, 14, head, kind="head"))
    y = float(_HEAD)
    for name, numbers in rows:
        x, total = float(_LEFT), sum(numbers)
        for colour, number in enumerate(numbers):
            width = _SPAN * number / full
            panel.bars.append(Bar(x, y, max(width - gap, 0), _BAR, colour))
            x += width
        panel.texts += [PlotText(_LEFT - 6, y + 10, name, "end"), PlotText(_LEFT + _SPAN + 4, y + 10, f"{total:,}")]
        y += _STEP
    panel.height = y


def _draw_legend(panel: Panel, labels: Sequence[str]) -> None:
    """Draws the labels with their colours, as many on a line as it holds."""
    x, y = float(_LEFT), panel.height
    for number, label in enumerate(labels):
        text = _short(label)
        # characters of Chinese and its like are two letters wide
        letters = sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)
        width = 28 + 6.8 * letters
        if x > _LEFT and x + width > WIDTH:
            x, y = float(_LEFT), y + _STEP
        panel.bars.append(Bar(x, y, _BAR, _BAR, number))
        panel.texts.append(PlotText(x + 17, y + 10, text))
        x += width
    panel.height = y + _STEP


def _draw_histogram(panel: Panel, lengths: Lengths, bottom: float, *, apart: bool) -> None:
    """Draws bars per bin of length: of two labels beside each other, of some more stacked, else one for all labels."""
    groups = list(lengths.counts.values()) if apart else [tuple(map(sum, zip(*lengths.counts.values(), strict=True)))]
    bins = list(zip(*groups, strict=True))
    slot, middle, is_stacked = (WIDTH - 8) / len(bins), len(bins) // 2, len(groups) > _BESIDE
    highest = max(sum(numbers) if is_stacked else max(numbers) for numbers in bins)
    panel.texts += [
        PlotText(0, bottom - _HISTOGRAM - 8, f"length in {lengths.unit}", kind="head"),
        PlotText(WIDTH, bottom - _HISTOGRAM - 8, f"highest bar: {highest:,} rows", "end"),
        PlotText(4, bottom + 14, f"{lengths.edges[0]:.0f}"),
        PlotText(4 + slot * middle, bottom + 14, f"{lengths.edges[middle]:.0f}", "middle"),
        PlotText(WIDTH - 4, bottom + 14, f"{max(values[-1] for values in lengths.quantiles.values())}", "end"),
    ]
    scale = _HISTOGRAM / max(highest, 1)
    if is_stacked:
        for place, numbers in enumerate(bins):
            y = bottom
            for colour, n in enumerate(numbers):
                if n:
                    y -= n * scale
                    panel.bars.append(Bar(4 + slot * place, y, slot * _FILLED, n * scale, colour))
    else:
        width = slot * _FILLED / len(groups)
        panel.bars += [
            Bar(4 + slot * place + width * colour, bottom - n * scale, width, n * scale, colour)
            for colour, group in enumerate(groups)
            for place, n in enumerate(group)
            if n
        ]
    panel.height = bottom + 20


def _short(label: str) -> str:
    return plain(label, 12)


def audit_plot(report: Report) -> str:
    """Accuracy of every shortcut solver with its 95 % interval, beside the majority baseline and thresholds."""
    measured = [each for each in report.findings if each.kind is Kind.SHORTCUT and each.measured is not None]
    majority = next((each.accuracy for each in report.baselines if each.name == "majority"), None)
    return render(
        "audit.svg", title=f"{report.name}: accuracy of shortcut solvers", width=WIDTH, findings=measured,
        chance=majority, head=_HEAD, step=_STEP,
    )  # fmt: skip


def overview_plot(configs: Mapping[str, ConfigEntry], names: Mapping[str, str]) -> str:
    """The SVG text: a row per language, a column per task, and in each cell the size and the verdict of a config.

    The side of a square grows with the logarithm of the number of rows; its colour and filling are the verdict. Below
    stands the strongest shortcut that reads texts, of each task over all its languages or of its only config. Generated
    tasks are left out, as there are hundreds of them.

    Args:
        configs: those of a release.
        names: names of languages, by code.
    """
    shown = {name: entry for name, entry in sorted(configs.items()) if not entry["task"].startswith("feats_")}
    tasks = sorted({entry["task"] for entry in shown.values()})
    languages = sorted({entry["lang"] for entry in shown.values()}, key=lambda lang: names.get(lang, lang))
    left, top, judged = 140, 96, verdicts(configs)
    bottom = top + _CELL * len(languages)
    squares: dict[str, list[tuple[float, float, float]]] = {}
    for name, entry in shown.items():
        rows = sum(sum(of_label.values()) for of_label in entry["counts"].values())
        side = round(min(_CELL - 2.0, max(3.0, 2.5 * math.log10(max(rows, 1)) - 1)), 1)
        x, y = left + _CELL * (tasks.index(entry["task"]) + 0.5), top + _CELL * (languages.index(entry["lang"]) + 0.5)
        square = (round(x - side / 2, 1), round(y - side / 2, 1), side)
        squares.setdefault(judged[name].word.replace(" ", "-"), []).append(square)
    strongest = {
        entry["task"]: (audit["strongest"], audit.get("gain") or 0.0)
        for entry in shown.values()
        if (audit := entry["audit"]) and audit["strongest"]
    }
    for task, checks in task_designs(shown).items():
        if of_text := [check for check in checks if BY_ID[check.check].of_text]:
            best = max(of_text, key=lambda check: check.gain)
            strongest[task] = best.check, best.gain
    bars = [
        (
            left + _CELL * at + 3,
            strongest[task][0],
            strongest[task][1],
            round(min(0.5, max(0.0, strongest[task][1])) * 100, 1),
        )
        for at, task in enumerate(tasks)
        if task in strongest
    ]
    return render(
        "overview.svg", title=f"{len(languages)} languages, {len(tasks)} tasks: size and verdict of the audit",
        width=max(WIDTH + 60, left + _CELL * len(tasks) + 60), height=bottom + 200, left=left, top=top, bottom=bottom,
        cell=_CELL, tasks=tasks, languages=[f"{names.get(lang, lang)} {lang}" for lang in languages], squares=squares,
        bars=bars,
    )  # fmt: skip


def layer_plot(
    title: str, accuracies: Mapping[str, Sequence[float]], baselines: Mapping[str, float],
    intervals: Mapping[str, Sequence[tuple[float, float]]] | None = None,
) -> str:  # fmt: skip
    """The SVG text: per pooling the accuracy on test in each layer, and baselines as dashed lines over all layers.

    The intervals of accuracies are vertical lines. A baseline's name stands below its line (above it if it is the
    highest one), and on no other name.
    """
    n_layers = max(map(len, accuracies.values()))
    lines: list[tuple[str, float, float]] = []
    for name, accuracy in sorted(baselines.items(), key=lambda item: -item[1]):
        y = round(_y(accuracy), 1)
        lowest = lines[-1][2] + _LINE if lines else _CURVES["top"]
        lines.append((name, y, max(y + _BELOW if lines else y - _ABOVE, lowest)))
    lines_of_names = (len(accuracies) + 2) // 3
    size = _CURVES | {"height": _CURVES["height"] + 14 * (lines_of_names - 1)}
    return render(
        "layers.svg", title=title, **size, baselines=lines,
        curves={
            name: [(round(_x(layer, len(values)), 1), round(_y(value), 1)) for layer, value in enumerate(values)]
            for name, values in accuracies.items()
        },
        intervals={
            name: [(round(_x(layer, len(ends)), 1), round(_y(low), 1), round(_y(high), 1))
                   for layer, (low, high) in enumerate(ends)]
            for name, ends in (intervals or {}).items()
        },
        layers=[(round(_x(layer, n_layers), 1), layer) for layer in range(0, n_layers, max(1, n_layers // 12))],
        ticks=[(round(_y(value), 1), f"{value:.1f}") for value in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)],
    )  # fmt: skip


def heat_map(title: str, values: Mapping[tuple[str, str], float]) -> str:
    """The SVG text: a cell per row and column with a value from -1 (red) over 0 (no colour) to 1 (blue).

    Args:
        title: what the values are.
        values: names of row and column → value; other cells stay empty.
    """
    rows, columns = (sorted({key[at] for key in values}) for at in (0, 1))
    margin, width, height = 130, 44, 18
    return render(
        "heatmap.svg", title=title, left=margin, cell_width=width - 2, cell_height=height - 2,
        width=max(WIDTH, margin + width * len(columns)), height=44 + height * len(rows),
        columns=[(margin + width * at + width / 2, name) for at, name in enumerate(columns)],
        rows=[(53 + height * at, name) for at, name in enumerate(rows)],
        cells=[
            (margin + width * columns.index(column), 40 + height * rows.index(row), f"{value:.2f}",
             "#3b7dd8" if value > 0 else "#d1495b", round(min(1.0, abs(value)), 2))
            for (row, column), value in sorted(values.items())
        ],
    )  # fmt: skip


def _x(layer: int, n_layers: int) -> float:
    return float(_CURVES["left"] + (_CURVES["right"] - _CURVES["left"]) * layer / max(1, n_layers - 1))


def _y(accuracy: float) -> float:
    return float(_CURVES["bottom"] - (_CURVES["bottom"] - _CURVES["top"]) * accuracy)
