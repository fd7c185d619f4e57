"""Plots of a card, as SVG: plain text that is the same in every build, a few kB each, and legible on light and on dark.

Plots are drawn by templates and not by matplotlib, for three reasons. Its files change with its version, so a release
could not be rebuilt byte by byte. They need 22 kB and 0.3 s each, and these 3 kB and a millisecond. And they have one
colour for text, while CSS follows the theme of the reader.
"""

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from discoprobe.builders.audit.report import Report
from discoprobe.builders.audit.thresholds import Kind
from discoprobe.builders.config import Config
from discoprobe.cards.metadata.manifest import PLOTS
from discoprobe.cards.text.examples import Lengths
from discoprobe.cards.text.render import plain, render

WIDTH = 400
_LEFT, _RIGHT = 86, 44
_SPAN = WIDTH - _LEFT - _RIGHT
_COLOURS = 6
"""Most labels with a colour each; of more labels all have one colour."""
_NAMED = 12
"""Of many labels, the most frequent ones that are shown."""
_BAR, _STEP, _HEAD = 12, 20, 24
_HISTOGRAM = 90
_BESIDE, _FILLED = 2, 0.9
_CURVES: dict[str, Any] = {"width": 420, "height": 220, "left": 36.0, "right": 404.0, "top": 28.0, "bottom": 172.0}
"""Size of the plot of accuracies by layer, and the positions of its axes."""
_LINE, _ABOVE, _BELOW = 12.0, 4.0, 11.0
"""Between the names of dashed lines; from a line to the name above and below it."""


def rows_name(config: str) -> str:
    """The file of a config's plot of labels and lengths, inside the release."""
    return f"{PLOTS}/{config}-rows.svg"


def audit_name(config: str) -> str:
    """The file of a config's plot of solvers, inside the release."""
    return f"{PLOTS}/{config}-audit.svg"


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


@dataclass(frozen=True, slots=True)
class Panel:
    """What is drawn, and how high it is."""

    bars: tuple[Bar, ...]
    texts: tuple[PlotText, ...]
    height: float


def rows_plot(config: Config, lengths: Lengths) -> str:
    """Rows per split and label, and the distribution of their lengths."""
    counts = config.counts()
    labels = config.used_labels
    few = len(labels) <= _COLOURS
    shares = _split_bars(counts, labels) if few else _label_bars(counts, labels)
    legend = _legend(labels, shares.height) if few else Panel((), (), shares.height)
    drawn = _histogram(lengths, legend.height + _HEAD, apart=few)
    return render(
        "rows.svg", title=f"{config.name}: labels and lengths", width=WIDTH, height=drawn.height,
        bars=[*shares.bars, *legend.bars, *drawn.bars], texts=[*shares.texts, *legend.texts, *drawn.texts],
        axis=(legend.height + _HEAD + _HISTOGRAM),
    )  # fmt: skip


def _split_bars(counts: Mapping[str, Mapping[str, int]], labels: Sequence[str]) -> Panel:
    """A bar per split, divided by label; each split's bar has the full length, its number of rows stands beside it."""
    rows = [(split, [tally[label] for label in labels], sum(tally.values())) for split, tally in counts.items()]
    return _bars("rows per split and label", [(*row, row[2]) for row in rows], gap=1)


def _label_bars(counts: Mapping[str, Mapping[str, int]], labels: Sequence[str]) -> Panel:
    """A bar per label, all splits together; of many labels, the most frequent."""
    totals = {label: sum(tally[label] for tally in counts.values()) for label in labels}
    shown = sorted(totals, key=lambda label: (-totals[label], label))[:_NAMED]
    head = f"rows per label, all splits ({len(shown)} of {len(labels)} labels)"
    return _bars(head, [(_short(label), [totals[label]], totals[label], max(totals.values())) for label in shown])


def _bars(head: str, rows: Sequence[tuple[str, Sequence[int], int, int]], gap: int = 0) -> Panel:
    """A line per row, of its name, bars one after the other, and its number.

    ``rows`` have the name, the number of each bar, their sum, and the number that takes the full length.
    """
    bars, texts, y = [], [PlotText(0, 14, head, kind="head")], float(_HEAD)
    for name, numbers, total, full in rows:
        x = float(_LEFT)
        for colour, number in enumerate(numbers):
            width = _SPAN * number / max(full, 1)
            bars.append(Bar(x, y, max(width - gap, 0), _BAR, colour))
            x += width
        texts += [PlotText(_LEFT - 6, y + 10, name, "end"), PlotText(_LEFT + _SPAN + 4, y + 10, f"{total:,}")]
        y += _STEP
    return Panel(tuple(bars), tuple(texts), y)


def _legend(labels: Sequence[str], y: float) -> Panel:
    """The labels with their colours, as many on a line as it holds."""
    bars, texts, x = [], [], float(_LEFT)
    for number, label in enumerate(labels):
        width = 28 + 6.8 * _columns(_short(label))
        if x > _LEFT and x + width > WIDTH:
            x, y = float(_LEFT), y + _STEP
        bars.append(Bar(x, y, _BAR, _BAR, number))
        texts.append(PlotText(x + 17, y + 10, _short(label)))
        x += width
    return Panel(tuple(bars), tuple(texts), y + _STEP)


def _histogram(lengths: Lengths, top: float, *, apart: bool) -> Panel:
    """Bars per bin of length: of two labels beside each other, of some more on top of each other, else one for all."""
    groups = list(lengths.counts.values()) if apart else [tuple(map(sum, zip(*lengths.counts.values(), strict=True)))]
    n_bins = len(lengths.edges) - 1
    slot, bottom, middle = (WIDTH - 8) / n_bins, top + _HISTOGRAM, n_bins // 2
    stacked = len(groups) > _BESIDE
    totals = [sum(bin_) if stacked else max(bin_) for bin_ in zip(*groups, strict=True)]
    texts = [
        PlotText(0, top - 8, f"length in {lengths.unit}", kind="head"),
        PlotText(WIDTH, top - 8, f"highest bar: {max(totals):,} rows", "end"),
        PlotText(4, bottom + 14, f"{lengths.edges[0]:.0f}"),
        PlotText(4 + slot * middle, bottom + 14, f"{lengths.edges[middle]:.0f}", "middle"),
        PlotText(WIDTH - 4, bottom + 14, f"{max(values[-1] for values in lengths.quantiles.values())}", "end"),
    ]
    arrange = _stacked if stacked else _beside
    return Panel(tuple(arrange(groups, slot, bottom, _HISTOGRAM / max(*totals, 1))), tuple(texts), bottom + 20)


def _beside(groups: Sequence[Sequence[int]], slot: float, bottom: float, scale: float) -> Iterator[Bar]:
    width = slot * _FILLED / len(groups)
    for number, group in enumerate(groups):
        for place, n in enumerate(group):
            if n:
                yield Bar(4 + slot * place + width * number, bottom - n * scale, width, n * scale, number)


def _stacked(groups: Sequence[Sequence[int]], slot: float, bottom: float, scale: float) -> Iterator[Bar]:
    for place, bin_ in enumerate(zip(*groups, strict=True)):
        y = bottom
        for number, n in enumerate(bin_):
            if n:
                y -= n * scale
                yield Bar(4 + slot * place, y, slot * _FILLED, n * scale, number)


def _short(label: str) -> str:
    return plain(label, 12)


def _columns(text: str) -> int:
    """How many letters wide a text is: characters of Chinese and its like take two."""
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def audit_plot(report: Report) -> str:
    """Accuracy of every shortcut solver with its 95 % interval, beside the majority baseline and thresholds."""
    measured = [one for one in report.findings if one.kind is Kind.SHORTCUT and one.measured is not None]
    return render(
        "audit.svg", title=f"{report.name}: accuracy of shortcut solvers", width=WIDTH, findings=measured,
        chance=next((one.accuracy for one in report.baselines if one.name == "majority"), None), head=_HEAD, step=_STEP,
    )  # fmt: skip


def layer_plot(title: str, accuracies: Mapping[str, Sequence[float]], baselines: Mapping[str, float]) -> str:
    """The SVG text: per pooling the accuracy on test in each layer, and baselines as dashed lines over all layers."""
    n_layers = max(map(len, accuracies.values()))
    curves = {
        name: [(round(_x(layer, len(values)), 1), round(_y(value), 1)) for layer, value in enumerate(values)]
        for name, values in accuracies.items()
    }
    return render(
        "layers.svg", title=title, **_CURVES, curves=curves, baselines=_baselines(baselines),
        layers=[(round(_x(layer, n_layers), 1), layer) for layer in range(0, n_layers, max(1, n_layers // 12))],
        ticks=[(round(_y(value), 1), f"{value:.1f}") for value in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)],
    )  # fmt: skip


def _baselines(accuracies: Mapping[str, float]) -> list[tuple[str, float, float]]:
    """The dashed lines from the highest to the lowest: name, place, and place of the name, on no other name."""
    lines: list[tuple[str, float, float]] = []
    for name, accuracy in sorted(accuracies.items(), key=lambda item: -item[1]):
        y = round(_y(accuracy), 1)
        lowest = lines[-1][2] + _LINE if lines else _CURVES["top"]
        lines.append((name, y, max(y + _BELOW if lines else y - _ABOVE, lowest)))
    return lines


def _x(layer: int, n_layers: int) -> float:
    left, right = _CURVES["left"], _CURVES["right"]
    return float(left + (right - left) * layer / max(1, n_layers - 1))


def _y(accuracy: float) -> float:
    top, bottom = _CURVES["top"], _CURVES["bottom"]
    return float(bottom - (bottom - top) * accuracy)
