"""The accuracy of linear probes by layer, as an SVG curve per pooling."""

from collections.abc import Mapping, Sequence

from discoprobe.cards.text.render import render

WIDTH, HEIGHT = 420, 220
_LEFT, _RIGHT, _TOP, _BOTTOM = 36.0, 404.0, 28.0, 172.0
_LINE, _ABOVE, _BELOW = 12.0, 4.0, 11.0


def layer_plot(title: str, accuracies: Mapping[str, Sequence[float]], baselines: Mapping[str, float]) -> str:
    """The SVG text: per pooling the accuracy on test in each layer, and baselines as dashed lines over all layers."""
    n_layers = max(map(len, accuracies.values()))
    curves = {
        name: [(round(_x(layer, len(values)), 1), round(_y(value), 1)) for layer, value in enumerate(values)]
        for name, values in accuracies.items()
    }
    return render(
        "layers.svg", title=title, width=WIDTH, height=HEIGHT, left=_LEFT, right=_RIGHT, top=_TOP, bottom=_BOTTOM,
        curves=curves, baselines=_baselines(baselines),
        layers=[(round(_x(layer, n_layers), 1), layer) for layer in range(0, n_layers, max(1, n_layers // 12))],
        ticks=[(round(_y(value), 1), f"{value:.1f}") for value in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)],
    )  # fmt: skip


def _baselines(accuracies: Mapping[str, float]) -> list[tuple[str, float, float]]:
    """The dashed lines from the highest to the lowest: name, place, and place of the name, on no other name."""
    lines: list[tuple[str, float, float]] = []
    for name, accuracy in sorted(accuracies.items(), key=lambda item: -item[1]):
        y = round(_y(accuracy), 1)
        lowest = lines[-1][2] + _LINE if lines else _TOP
        lines.append((name, y, max(y + _BELOW if lines else y - _ABOVE, lowest)))
    return lines


def _x(layer: int, n_layers: int) -> float:
    return _LEFT + (_RIGHT - _LEFT) * layer / max(1, n_layers - 1)


def _y(accuracy: float) -> float:
    return _BOTTOM - (_BOTTOM - _TOP) * accuracy
