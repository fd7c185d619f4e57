"""Frequency lists: words and how often they stand in a million words (IPM)."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Final

import polars as pl

from discoprobe.loaders.errors import DiscoprobeError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

MILLION: Final = 1_000_000
SCHEMA: Final = {"word": pl.String, "ipm": pl.Float64}
"""Columns of a frequency list; ``word`` is unique."""
_COLUMNS: Final = 2


@functools.lru_cache(maxsize=4)
def wordfreq_list(code: str) -> pl.DataFrame:
    """The best list of wordfreq for a language as ``word``, ``ipm`` (Speer 2022; 1 IPM is Zipf 3).

    Words are as wordfreq normalises them: see `wordfreq_form`. Nothing is segmented, so that the lists of Chinese,
    Japanese and Korean need no segmenter.

    Raises:
        DiscoprobeError: wordfreq has no list of this code.
    """
    import wordfreq  # noqa: PLC0415 (a third of a second that --help need not wait for)

    try:
        found = wordfreq.get_frequency_dict(code, "best")
    except LookupError as error:
        raise DiscoprobeError(f"wordfreq has no list '{code}'; give a list of your own: lemma<TAB>ipm") from error
    return pl.DataFrame({"word": list(found), "ipm": [share * MILLION for share in found.values()]}, schema=SCHEMA)


def wordfreq_form(words: pl.Series, code: str) -> pl.Series:
    """Words as they stand in wordfreq's list: small letters, without Arabic and Hebrew vowel marks, one script."""
    import langcodes  # noqa: PLC0415 (what wordfreq names languages by)
    from wordfreq.preprocess import preprocess_text  # noqa: PLC0415

    language = langcodes.get(code)
    return pl.Series([preprocess_text(word, language) for word in words.to_list()], dtype=pl.String)


def read_frequencies(path: Path) -> pl.DataFrame:
    """A user's frequency list as ``word``, ``ipm``: lines ``lemma<TAB>ipm``, with or without that line as a header.

    Words are lower-cased; the frequencies of a word that stands there twice (homographs, with capital and without) are
    added. Empty lines are passed over.

    Raises:
        UsageError: the file is not there, or has no frequencies.
        DiscoprobeError: a line has no two columns, or its frequency is no number from 0 to a million; says which.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror}); give a file of lines lemma<TAB>ipm") from error
    except UnicodeDecodeError as error:
        raise DiscoprobeError(f"{path}: not UTF-8 (byte {error.start}); save the list as UTF-8") from error
    rows = [
        _row(path, number, line)
        for number, line in enumerate(lines, 1)
        if line.strip() and not _is_header(number, line)
    ]
    if not rows:
        raise UsageError(f"{path}: holds no frequencies; give a file of lines lemma<TAB>ipm")
    listed = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    return listed.group_by("word", maintain_order=True).agg(pl.col("ipm").sum())


def _is_header(number: int, line: str) -> bool:
    return number == 1 and line.strip().lower().split("\t")[1:] == ["ipm"]


def _row(path: Path, number: int, line: str) -> tuple[str, float]:
    cells = line.split("\t")
    if len(cells) != _COLUMNS or not cells[0].strip():
        raise DiscoprobeError(f"{path}:{number}: expected lemma<TAB>ipm, found {line[:40]!r}")
    try:
        ipm = float(cells[1])
    except ValueError:
        ipm = math.nan
    if not 0 <= ipm <= MILLION:
        raise DiscoprobeError(f"{path}:{number}: '{cells[1]}' is no frequency per million words (0 to {MILLION})")
    return cells[0].strip().lower(), ipm
