"""What a text of a user will give, before anything is built: rows of tasks on documents, by measured rates.

The rates are of 314 texts of ten sentences each, made of UD treebanks (Spanish AnCora and GSD, English GUM, German
GSD), divided by rules and built with the default settings on 2026-11-30. Between the languages a rate varies by a
fifth for `bso`, `so`, `sp` and `sp_swap`, and by a half for `dc`, `nsp` and `cloze`, which need similar distractors.
"""

from __future__ import annotations

import math
from typing import Final

import msgspec

from discoprobe.builders.settings import MIN_ROWS

RATES: Final = {"bso": 0.83, "so": 0.34, "sp_swap": 0.25, "nsp": 0.14, "dc": 0.13, "sp": 0.088, "cloze": 0.067}
"""Task → rows of all splits by sentence of text; of the three languages the median."""
SHORTEST: Final = 6
"""Sentences of a text that most tasks on documents need; `bso` needs two."""
SHARES: Final = (0.55, 0.14, 0.28)
"""The share of rows that train, validation and test get in a small corpus, at least."""


class ExpectedRows(msgspec.Struct, frozen=True):
    """What a corpus is likely to give of a task.

    Attributes:
        task: its name.
        rows: about so many, in all splits together.
        needed: sentences with which it has as many rows as a published config.
        texts: in so many texts as long as those of the corpus.
    """

    task: str
    rows: int
    needed: int
    texts: int

    @property
    def is_small(self) -> bool:
        """Whether it is likely to have fewer rows than a published config."""
        return self.rows < rows_needed()


def rows_needed() -> int:
    """The rows of all splits together from which each split has ``MIN_ROWS``."""
    return math.ceil(max(least / share for least, share in zip(MIN_ROWS, SHARES, strict=True)))


def expected_rows(sentences: int, documents: int) -> list[ExpectedRows]:
    """The rows of tasks on documents that a corpus is likely to give, those with most rows first.

    Of texts with fewer than ``SHORTEST`` sentences in the mean only `bso` is known to have rows.
    """
    length = max(1.0, sentences / max(1, documents))
    needs = {task: _rounded(rows_needed() / rate) for task, rate in RATES.items()}
    return [
        ExpectedRows(task, round(sentences * rate), needs[task], math.ceil(needs[task] / length))
        for task, rate in RATES.items()
        if length >= SHORTEST or task == "bso"
    ]


def _rounded(number: float) -> int:
    """A number to two digits, rounded up."""
    size = int(10 ** max(0, int(math.log10(number)) - 1))
    return math.ceil(number / size) * size
