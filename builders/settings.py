"""What a user may set for a build; all of it stands in the manifest."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from discoprobe.loaders.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SPLITS = ("train", "validation", "test")
SHARES = (0.6, 0.2, 0.2)
"""Share of documents (targets, sentence clusters) per split: close to DiscoEval's 10,000/4,000/4,000, so that the test
split of a small treebank is large enough to tell a shortcut from chance."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How to build: seed, sizes and filters.

    Attributes:
        seed: every choice depends on it.
        sizes: largest number of rows in train, validation and test (default SentEval's).
        match: repair shortcuts by construction; without it the unmatched pool is emitted.
        discourse_words: least and most words of a sentence in a discourse task.
        probing_words: the same for a probing task (RuSentEval: 5-25).
        ipm: what the filter by frequency (instances per million words) goes by: the ``share`` of common words of a
            sentence, the ``mean`` of their frequencies, or ``none``.
        ipm_min: the least share or mean of a sentence that is kept.
        frequency: ``wordfreq``, ``corpus`` (the corpora's own counts) or the path of a list of lines ``lemma<TAB>ipm``.
        syncretism: what the form of a target must not be ambiguous in: ``pos``, ``feature``, both or nothing.
        min_class: fewest candidates of a class of an open label set (connectives).
        draw: how often a config was drawn before: choices are made anew, splits stay (`drawing`).
    """

    seed: int = 13
    sizes: tuple[int, int, int] = (100_000, 10_000, 10_000)
    match: bool = True
    discourse_words: tuple[int, int] = (3, 64)
    probing_words: tuple[int, int] = (5, 25)
    ipm: Literal["share", "mean", "none"] = "share"
    ipm_min: float = 0.9
    frequency: str = "wordfreq"
    syncretism: tuple[str, ...] = ("pos", "feature")
    min_class: int = 20
    draw: int = 0

    def __post_init__(self) -> None:
        if self.ipm not in {"share", "mean", "none"}:
            raise UsageError(f"ipm is '{self.ipm}'; give share, mean or none")
        if self.ipm_min < 0 or (self.ipm == "share" and self.ipm_min > 1):
            raise UsageError(f"ipm_min is {self.ipm_min:g}; give a share from 0 to 1, or with ipm=mean a frequency")
        if set(self.syncretism) - {"pos", "feature"}:
            raise UsageError(f"syncretism is '{','.join(self.syncretism)}'; give pos, feature, both or none")
        if not self.frequency:
            raise UsageError("frequency is empty; give wordfreq, corpus or the path of a list")

    def size(self, split: str) -> int:
        """The largest number of rows of ``split``."""
        return self.sizes[SPLITS.index(split)]

    def files(self) -> dict[str, Path]:
        """The user's own files that settings name, by setting."""
        return {} if self.frequency in {"wordfreq", "corpus"} else {"frequency": Path(self.frequency)}

    def to_dict(self) -> dict[str, object]:
        """The settings as the manifest holds them."""
        return dataclasses.asdict(self)


def read_sizes(text: str) -> tuple[int, int, int]:
    """Sizes as a user writes them: ``N`` rows in all, divided by the split's shares, or ``TRAIN/VAL/TEST``.

    Raises:
        UsageError: if it is neither.
    """
    parts = text.split("/")
    if not all(part.isdecimal() for part in parts) or len(parts) not in {1, len(SPLITS)} or not all(map(int, parts)):
        raise UsageError(
            f"size '{text}' is neither a number of rows nor TRAIN/VAL/TEST, such as 1000 or 10000/4000/4000"
        )
    numbers = [int(part) for part in parts] if len(parts) > 1 else [round(int(text) * share) for share in SHARES]
    return numbers[0], numbers[1], numbers[2]


def _bounds(text: str) -> tuple[int, int]:
    least, most = map(int, text.split("/"))
    if not 0 < least <= most:
        raise ValueError
    return least, most


_READERS: dict[str, Callable[[str], object]] = {
    "discourse_words": _bounds,
    "probing_words": _bounds,
    "ipm": str,
    "ipm_min": float,
    "frequency": str,
    "syncretism": lambda text: tuple(name for name in text.split(",") if name not in {"", "none"}),
    "min_class": int,
}
"""What a user may set by name, and how its value is read."""


def with_values(settings: Settings, assignments: Sequence[str]) -> Settings:
    """Settings changed by what a user writes: ``ipm=none``, ``probing_words=3/40``, ``syncretism=pos``.

    Raises:
        UsageError: if an assignment has no value or one that cannot be read.
        UnknownNameError: for a name that cannot be set.
    """
    changes: dict[str, Any] = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if name not in _READERS:
            raise UnknownNameError("setting", name, _READERS)
        try:
            changes[name] = _READERS[name](value)
        except ValueError:
            raise UsageError(f"setting '{assignment}' cannot be read; see `build run --help`") from None
        if not equals:
            raise UsageError(f"setting '{name}' has no value; write {name}=VALUE")
    return dataclasses.replace(settings, **changes)
