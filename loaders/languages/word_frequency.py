"""Frequency lists: words and their frequencies in instances per million words (IPM)."""

import functools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Final

import langcodes
import polars as pl
from langcodes.data_dicts import MACROLANGUAGES

from discoprobe.loaders.errors import DiscoprobeError, UsageError

MILLION: Final = 1_000_000
SCHEMA: Final = {"word": pl.String, "ipm": pl.Float64}
"""Columns of a frequency list; ``word`` is unique."""
_COLUMNS: Final = 2
REMEMBERED: Final = 2**18
"""Number of words whose form in wordfreq's list is cached: about 40 MB."""


@functools.cache
def wordfreq_code(lang: str) -> str | None:
    """The code of wordfreq's list for a language; None if there is none.

    The list is that of the language itself (``tl`` and ``fil`` are codes of the same language), else that of its
    macrolanguage (Serbian and Croatian use Serbo-Croatian), else that of a language of which it is the macrolanguage
    (Norwegian uses Bokmål). Macrolanguages are those of the IANA registry, from `langcodes`.
    """
    from wordfreq import available_languages

    listed = sorted(available_languages())
    standard = langcodes.standardize_tag(lang)
    members = (code for code in listed if MACROLANGUAGES.get(code) == lang)
    return next((code for code in (lang, standard, MACROLANGUAGES.get(lang), *members) if code in listed), None)


def wordfreq_ipm(words: pl.Series, code: str) -> pl.Series:
    """The frequency of words per million words, by the largest list of wordfreq with a code; 0 for words not in it.

    1 IPM is Zipf 3 (Speer 2022). Words are normalised by `wordfreq_form`. Words are not segmented further, so that no
    segmenter is needed for Chinese, Japanese and Korean; but the words of these lists come from wordfreq's segmenters
    (jieba, MeCab), and differ from those of some treebanks.

    Raises:
        DiscoprobeError: wordfreq has no list of this code.
    """
    form = wordfreq_form(words, code).rename("word").to_frame()
    return form.join(_wordfreq_list(code), on="word", how="left", maintain_order="left")["ipm"].fill_null(0.0)


def zipf(word: str, lang: str) -> float:
    """The Zipf frequency of a word by wordfreq's list for a language; 0 if there is no list or the word is not in it.

    For Chinese, Japanese and Korean wordfreq needs a segmenter; without it the result is 0.
    """
    from wordfreq import zipf_frequency

    code = wordfreq_code(lang) if lang else None
    try:
        return zipf_frequency(word, code) if code else 0.0
    except ModuleNotFoundError:
        return 0.0


@functools.lru_cache(maxsize=1)
def _wordfreq_list(code: str) -> pl.DataFrame:
    """The list of wordfreq with a code, with the columns of `SCHEMA`; only the last list is cached."""
    import wordfreq

    try:
        words_by_centibel = wordfreq.get_frequency_list(code, "best")
    except LookupError as error:
        raise DiscoprobeError(f"wordfreq has no list '{code}'; give a list of your own: lemma<TAB>ipm") from error
    wordfreq.get_frequency_list.cache_clear()
    ipm = [wordfreq.cB_to_freq(-centibel) * MILLION for centibel in range(len(words_by_centibel))]
    listed = pl.DataFrame({"word": words_by_centibel, "ipm": ipm}, {"word": pl.List(pl.String), "ipm": pl.Float64})
    return listed.explode("word").drop_nulls("word")


def wordfreq_form(words: pl.Series, code: str) -> pl.Series:
    """Words as wordfreq's list writes them: in small letters, one script, without Arabic and Hebrew vowel marks."""
    form = _form_of(code)
    return pl.Series([form(word) for word in words.to_list()], dtype=pl.String)


@functools.lru_cache(maxsize=1)
def _form_of(code: str) -> Callable[[str], str]:
    """A function from a word to its form in wordfreq's list; it caches forms, since words recur."""
    from wordfreq.preprocess import preprocess_text

    language = langcodes.get(code)
    return functools.lru_cache(REMEMBERED)(lambda word: preprocess_text(word, language))


def read_frequencies(path: Path) -> pl.DataFrame:
    """A user's frequency list as ``word``, ``ipm``: lines ``lemma<TAB>ipm``, with or without that line as a header.

    Words are lower-cased; the frequencies of a word that occurs more than once (homographs, with and without a capital)
    are added. Empty lines are skipped.

    Raises:
        UsageError: the file does not exist, or has no frequencies.
        DiscoprobeError: a line does not have two columns, or its frequency is not a number from 0 to a million; the
            message names the line.
    """
    lines = lines_of(path, "a file of lines lemma<TAB>ipm")
    rows = []
    for number, line in lines:
        cells = line.split("\t")
        if number == 1 and line.strip().lower().split("\t")[1:] == ["ipm"]:
            continue
        if len(cells) != _COLUMNS or not cells[0].strip():
            raise DiscoprobeError(f"{path}:{number}: expected lemma<TAB>ipm, found {line[:40]!r}")
        try:
            ipm = float(cells[1])
        except ValueError:
            ipm = math.nan
        if not 0 <= ipm <= MILLION:
            problem = f"'{cells[1]}' is not a frequency per million words (0 to {MILLION})"
            raise DiscoprobeError(f"{path}:{number}: {problem}")
        rows.append((cells[0].strip().lower(), ipm))
    if not rows:
        raise UsageError(f"{path}: has no frequencies; give a file of lines lemma<TAB>ipm")
    listed = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    return listed.group_by("word", maintain_order=True).agg(pl.col("ipm").sum())


def lines_of(path: Path, wanted: str) -> list[tuple[int, str]]:
    """The lines of a user's table that are not empty, with their numbers from 1.

    Raises:
        UsageError: the file cannot be read; the message asks for what is ``wanted``.
        DiscoprobeError: it is not UTF-8.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror}); give {wanted}") from error
    except UnicodeDecodeError as error:
        raise DiscoprobeError(f"{path}: not UTF-8 (byte {error.start}); save it as UTF-8") from error
    return [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
