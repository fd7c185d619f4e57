"""What a user may set for a build. The manifest records all of it."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec

from discoprobe.loaders.assignments import read_assignments
from discoprobe.loaders.errors import UnknownNameError, UsageError
from discoprobe.loaders.raw.document import NAMES as READING

SPLITS = ("train", "validation", "test")
"""The order of the splits, in files, tables and messages."""
MIN_ROWS = (200, 50, 100)
"""Fewest rows in train, validation and test of a config that is published. With 100 test rows a difference of .14
between two accuracies shows; with 200 training rows a linear probe learns."""

SUITE_SHARE = 0.5
"""Of the test rows that other configs need, the share that a suite needs, which trains nothing: it is *small*. With
50 rows an accuracy of .5 is known to .15, with 100 to .10."""

SMALL_GROUPS = 6
"""Fewest groups (of one document, mostly) that the rows of a small suite are of. To be right in all of five could be
chance (on both sides, .5 to the power of 4 is .06)."""

SHARES = (0.55, 0.15, 0.3)
"""Share of the usable material per split: that of ``MIN_ROWS``, and a little more for validation and test, where
matching loses more because they are smaller."""


UNIMORPH = "unimorph"
"""The table of inflected forms that the catalogue has for a language."""

_ALL = 2**40


class Settings(msgspec.Struct, frozen=True):
    """How to build: seed, sizes and filters.

    Attributes:
        seed: every choice depends on it.
        sizes: largest number of rows in train, validation and test (default SentEval's).
        match: match labels on surface features; without it all candidates are kept.
        min_rows: fewest rows in train, validation and test of a config that becomes part of a release; the commands
            set ``MIN_ROWS``.
        discourse_words: least and most words of a sentence in a discourse task; punctuation is not counted.
        probing_words: the same for a probing task.
        length_bins: the classes of `sent_len`: ``quantile`` (six of equal size), ``equal`` (six of equal width, as in
            RuSentEval) or ``senteval`` (SentEval's).
        ipm: what the filter by frequency (instances per million words) uses: the ``share`` of common words of a
            sentence, the ``mean`` of their frequencies, or ``none``.
        ipm_min: the least share or mean of a sentence that is kept.
        frequency: ``wordfreq``, ``corpus`` (the corpora's own counts) or the path of a list of lines ``lemma<TAB>ipm``.
        paradigms: the table that gives `agreement_suite` the forms of verbs that the treebanks lack: ``unimorph`` (that
            of the catalogue, if a corpus of the language is the catalogue's, too), its name in the catalogue
            (``UniMorph-es``, for any corpora), ``none``, or the path of a table of UniMorph.
        syncretism: what the form of a target must not be ambiguous in: ``pos``, ``feature``, both or nothing.
        min_class: fewest rows of a label; rarer labels are left out, and a task whose labels have fewer is not built.
        block: bytes of text that are sampled together; a larger corpus is built block by block until the sizes are
            full.
        most_documents: largest number of documents that are read; None for all.
        documents: how the documents of every corpus are separated: ``auto`` (the catalogue's rule for the treebank),
            ``newdoc`` (comments only), ``file`` (a file is a document) or ``none``.
        genres: whether a task takes the genres that suit it (``prose``, by the table of ``genres.py``) or ``all``.
    """

    seed: int = 13
    sizes: tuple[int, int, int] = (100_000, 10_000, 10_000)
    min_rows: tuple[int, int, int] = (0, 0, 0)
    match: bool = True
    discourse_words: tuple[int, int] = (3, 64)
    probing_words: tuple[int, int] = (5, 40)
    length_bins: Literal["quantile", "equal", "senteval"] = "quantile"
    ipm: Literal["share", "mean", "none"] = "none"
    ipm_min: float = 0.9
    frequency: str = "wordfreq"
    paradigms: str = UNIMORPH
    syncretism: tuple[str, ...] = ("pos", "feature")
    min_class: int = 20
    documents: Literal["auto", "newdoc", "file", "none"] = "auto"
    genres: Literal["prose", "all"] = "prose"
    block: int = 4 * 2**20
    most_documents: int | None = None

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            if (value := getattr(self, name)) not in choices:
                raise UsageError(f"{name} is '{value}'; give {', '.join(choices[:-1])} or {choices[-1]}")
        if self.ipm_min < 0 or (self.ipm == "share" and self.ipm_min > 1):
            raise UsageError(f"ipm_min is {self.ipm_min:g}; give a share from 0 to 1, or with ipm=mean a frequency")
        if set(self.syncretism) - {"pos", "feature"}:
            raise UsageError(f"syncretism is '{','.join(self.syncretism)}'; give pos, feature, both or none")
        if self.block < 1:
            raise UsageError(f"block is {self.block}; give a number of bytes, such as {4 * 2**20}")
        if self.most_documents is not None and self.most_documents < 1:
            raise UsageError(f"documents is {self.most_documents}; give a number of documents, such as 1000")
        if self.min_class < 0:
            raise UsageError(f"min_class is {self.min_class}; give a number of rows, such as 20")
        if not self.frequency:
            raise UsageError("frequency is empty; give wordfreq, corpus or the path of a list")
        if not self.paradigms:
            raise UsageError("paradigms is empty; give unimorph, none or the path of a table of UniMorph")

    def with_changes(self, **changes: Any) -> "Settings":
        """The settings with other values, which are checked (`msgspec.structs.replace` checks nothing before 0.21)."""
        return Settings(**(msgspec.structs.asdict(self) | changes))

    def without_sizes(self) -> "Settings":
        """The settings with unlimited sizes, for decisions that must not depend on the sizes."""
        return msgspec.structs.replace(self, sizes=(_ALL, _ALL, _ALL))

    def within_block(self) -> "Settings":
        """The settings of one of several blocks: sizes and least numbers hold for all blocks together."""
        return msgspec.structs.replace(self.without_sizes(), min_class=0)

    @property
    def shares(self) -> tuple[float, ...]:
        """The share of a large text that each split gets, so that all reach their size from as little text as possible.

        A split without rows gets none. In a small corpus the splits get ``SHARES``, because few reach their size.
        """
        return tuple(size / max(1, sum(self.sizes)) for size in self.sizes)

    def size(self, split: str) -> int:
        """The largest number of rows of ``split``."""
        return self.sizes[SPLITS.index(split)]

    def files(self) -> dict[str, Path]:
        """The user's own files that settings name, by setting."""
        named = {} if self.frequency in {"wordfreq", "corpus"} else {"frequency": Path(self.frequency)}
        of_catalogue = self.paradigms == "none" or self.paradigms.casefold().partition("-")[0] == UNIMORPH
        return named if of_catalogue else named | {"paradigms": Path(self.paradigms)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Settings":
        """The settings that a manifest holds."""
        tuples: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
        }
        return cls(**tuples)

    def to_dict(self) -> dict[str, object]:
        """The settings as the manifest holds them."""
        values: dict[str, object] = msgspec.to_builtins(self)
        return values


_CHOICES = {name: get_args(kind) for name, kind in get_type_hints(Settings).items() if get_origin(kind) is Literal}
"""The values of the settings that have a fixed set of them."""

PRESETS: dict[str, dict[str, object]] = {
    "default": {},
    "rusenteval": {"probing_words": (5, 25), "length_bins": "equal", "ipm": "share", "ipm_min": 0.9},
    "senteval": {"probing_words": (5, 28), "length_bins": "senteval", "syncretism": ()},
}
"""Settings by the name of a preset. The default spares annotated corpora, which are small; RuSentEval (Mikhailov et al.
2021) leaves out long sentences and those with rare words; SentEval (Conneau et al. 2018) filters by length alone."""


def preset(name: str) -> Settings:
    """The settings of a preset.

    Raises:
        UnknownNameError: there is no preset of that name.
    """
    if name not in PRESETS:
        raise UnknownNameError("preset", name, PRESETS)
    changes: dict[str, Any] = PRESETS[name]
    return Settings(**changes)


def read_min_rows(text: str) -> tuple[int, int, int]:
    """Least numbers of rows as a user writes them: ``TRAIN/VAL/TEST``, or ``0`` for none.

    Raises:
        UsageError: if it is neither.
    """
    parts = text.split("/")
    if text == "0":
        return 0, 0, 0
    if len(parts) != len(SPLITS) or not all(part.isdecimal() for part in parts):
        raise UsageError(f"min-rows '{text}' is neither 0 nor TRAIN/VAL/TEST, such as 200/50/100")
    train, validation, test = map(int, parts)
    return train, validation, test


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


_READERS: dict[str, tuple[Callable[[str], object], str]] = {
    "discourse_words": (_bounds, "3/64"),
    "probing_words": (_bounds, "5/40"),
    "length_bins": (str, "quantile"),
    "ipm": (str, "share"),
    "ipm_min": (float, "0.9"),
    "frequency": (str, "wordfreq"),
    "paradigms": (str, UNIMORPH),
    "syncretism": (lambda text: tuple(name for name in text.split(",") if name not in {"", "none"}), "pos"),
    "min_class": (int, "20"),
    "documents": (str, "newdoc"),
    "genres": (str, "all"),
    "block": (int, "4194304"),
}
"""What a user may set by name, how its value is read, and an example of one."""


def with_values(settings: Settings, assignments: Sequence[str]) -> Settings:
    """Settings changed by what a user writes: ``ipm=none``, ``probing_words=3/40``, ``syncretism=pos``.

    Raises:
        UsageError: if an assignment has no value or one that cannot be read.
        UnknownNameError: for a name that cannot be set.
    """
    for name in (assignment.partition("=")[0] for assignment in assignments):
        if name in READING:
            raise UsageError(
                f"'{name}' says how text is read: give it to `build annotate --set`, and build from what that writes"
            )
    changes = read_assignments(
        assignments, {name: read for name, (read, _) in _READERS.items()}, "setting",
        without_value=lambda name: f"write it without blanks, such as {name}={_READERS[name][1]}",
        unreadable=lambda name: f"give a value such as {name}={_READERS[name][1]}",
    )  # fmt: skip
    changed = settings.with_changes(**changes)
    for name, path in changed.files().items():
        if not path.is_file():
            raise UsageError(f"setting '{name}={path}': there is no such file")
    return changed
