"""How long the rows of a config are."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from discoprobe.builders.config import Config, Shape
from discoprobe.cards.readers.marks import TEXT_COLUMNS

QUANTILES = (0.0, 0.25, 0.5, 0.75, 1.0)
_BINS = 20


@dataclass(frozen=True, slots=True)
class Lengths:
    """Distribution of the lengths of all rows of a config.

    Attributes:
        unit: ``words`` (UD words of the sentence) or ``characters`` (of all texts of the row).
        quantiles: per label, least, lower quartile, median, upper quartile and most.
        edges: bin edges, one more than bins.
        counts: rows per label and bin.
    """

    unit: str
    quantiles: Mapping[str, tuple[int, ...]]
    edges: tuple[float, ...]
    counts: Mapping[str, tuple[int, ...]]


def lengths(config: Config) -> Lengths:
    """The lengths of a config's rows, all splits together."""
    sizes = np.concatenate([_sizes(table) for table in config.splits.values()])
    labels = np.concatenate([table["label"].to_numpy() for table in config.splits.values()])
    edges = _edges(sizes)
    of_label = {name: sizes[labels == number] for number, name in enumerate(config.labels) if (labels == number).any()}
    return Lengths(
        "words" if config.shape is Shape.SENTENCE else "characters",
        {name: tuple(int(value) for value in np.quantile(lengths, QUANTILES)) for name, lengths in of_label.items()},
        tuple(float(edge) for edge in edges),
        {name: tuple(int(n) for n in np.histogram(lengths, edges)[0]) for name, lengths in of_label.items()},
    )


def _sizes(table: pa.Table) -> npt.NDArray[np.int64]:
    """The length of each row; of a pair in a suite, that of its good text."""
    if "n_words" in table.column_names:
        return np.asarray(table["n_words"].to_numpy(), dtype=np.int64)
    shown = [name for name in TEXT_COLUMNS if name in table.column_names and name != "sentence_bad"]
    frame = pl.DataFrame({name: pl.from_arrow(table[name]) for name in shown})
    whole = [
        pl.col(name).list.join("") if isinstance(kind, pl.List) else pl.col(name) for name, kind in frame.schema.items()
    ]
    return frame.select(n=pl.concat_str(whole).str.len_chars())["n"].to_numpy().astype(np.int64)


def _edges(sizes: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Edges of at most twenty bins of equal whole width; the longest 1 % stand in the last one."""
    least, most = int(sizes.min()), int(np.quantile(sizes, 0.99))
    width = max(1, -(-(most - least + 1) // _BINS))
    edges = np.arange(least, most + width + 1, width, dtype=np.float64)
    edges[-1] = max(edges[-2] + 1, sizes.max())
    return edges
