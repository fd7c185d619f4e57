"""Lists of words: frequencies in instances per million words (IPM), and paradigms of verbs.

Frequencies are wordfreq's or those of a user's list. Paradigms are a table of UniMorph (Kirov et al. 2018) with lines
``lemma<TAB>form<TAB>V;IND;PRS;3;SG``.
"""

import functools
import io
import math
from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import langcodes
import polars as pl

from discoprobe.loaders.errors import DiscoprobeError, UsageError
from discoprobe.loaders.languages.language import wordfreq_code

MILLION: Final = 1_000_000
SCHEMA: Final = {"word": pl.String, "ipm": pl.Float64}
"""Columns of a frequency list; ``word`` is unique."""
_COLUMNS: Final = 2
REMEMBERED: Final = 2**18
"""Number of words whose form in wordfreq's list is cached: about 40 MB."""


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


def lines_of(path: Path, wanted: str) -> Iterator[tuple[int, str]]:
    """The lines of a table that are not empty, with their numbers from 1; the table may be large.

    Raises:
        UsageError: the file cannot be read; the message asks for what is ``wanted``.
        DiscoprobeError: it is not UTF-8.
    """
    try:
        lines = io.StringIO(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror}); give {wanted}") from error
    except UnicodeDecodeError as error:
        raise DiscoprobeError(f"{path}: not UTF-8 (byte {error.start}); save it as UTF-8") from error
    return ((number, line.rstrip("\n")) for number, line in enumerate(lines, 1) if line.strip())


TAGS: Final = {
    "SG": ("Number", "Sing"), "PL": ("Number", "Plur"), "DU": ("Number", "Dual"),
    "1": ("Person", "1"), "2": ("Person", "2"), "3": ("Person", "3"),
    "MASC": ("Gender", "Masc"), "FEM": ("Gender", "Fem"), "NEUT": ("Gender", "Neut"),
    "PRS": ("Tense", "Pres"), "PST": ("Tense", "Past"), "FUT": ("Tense", "Fut"),
    "IND": ("Mood", "Ind"), "SBJV": ("Mood", "Sub"), "COND": ("Mood", "Cnd"), "IMP": ("Mood", "Imp"),
}  # fmt: skip
"""Tags of UniMorph and what they are in Universal Dependencies; other tags are only compared with each other."""

PAST: Final = ("Imp", "Pqp")
"""Values of Tense in Universal Dependencies that UniMorph tells apart by other tags than ``PST``."""

AGREEMENT: Final = ("Number", "Person", "Gender")
CELL: Final = ("Tense", "Mood")
FORMAT: Final = "lemma<TAB>form<TAB>V;IND;PRS;3;SG"

Tags = frozenset[str]
Paradigms = dict[str, list[tuple[str, Tags]]]


def read_paradigms(paths: Sequence[Path], lemmas: Container[str], *, strict: bool = True) -> Paradigms:
    """The forms of verbs, in small letters, with their tags, by lemma; not imperatives, which have no subject.

    Forms of several words are left out: they have auxiliaries or pronouns (Welsh *achosen nhw*, they would cause), and
    do not stand in the place of one word.

    Args:
        paths: the files of a table.
        lemmas: of the verbs that are needed, in small letters.
        strict: whether a malformed line, or a file without verbs, is an error; else it is passed over.

    Raises:
        UsageError: a file cannot be read, or there are no verbs in it.
        DiscoprobeError: a line is not in the format of UniMorph; the message names it.
    """
    paradigms: defaultdict[str, list[tuple[str, Tags]]] = defaultdict(list)
    for path in paths:
        n_verbs = 0
        for number, line in lines_of(path, f"a table of UniMorph: {FORMAT}"):
            cells = line.lower().split("\t")
            if len(cells) < 3 or not all(cells[:3]):  # noqa: PLR2004 (some tables have a fourth column)
                if strict:
                    raise DiscoprobeError(f"{path}:{number}: expected {FORMAT}, found {line[:40]!r}")
                continue
            tags = _tags(cells[2])
            if any(tag == "V" or tag.startswith("V.") for tag in tags):
                n_verbs += 1
                lemma, form = cells[0].strip(), cells[1].strip()
                if lemma in lemmas and "IMP" not in tags and " " not in form:
                    paradigms[lemma].append((form, tags))
        if strict and not n_verbs:
            raise UsageError(f"{path}: has no verbs; give a table of UniMorph: {FORMAT}")
    return dict(paradigms)


@functools.lru_cache(maxsize=2**12)
def _tags(text: str) -> Tags:
    return frozenset(text.strip().upper().split(";"))


def other_forms(verbs: pl.DataFrame, feature: str, paradigms: Paradigms) -> pl.DataFrame:
    """The form of each verb for every other value of a feature, where the table knows exactly one.

    Args:
        verbs: ``row``, ``lemma``, ``form`` (both in small letters) and ``feats``.
        feature: one of ``AGREEMENT``. With Number the tag of Gender may differ too, since many plurals have none.
        paradigms: from `read_paradigms`.

    Returns:
        ``row``, ``other_value``, ``other`` (the form), without forms that could also have the values of the verb.
    """
    rows: list[tuple[int, str, str]] = []
    changed = {feature, "Gender"} if feature == "Number" else {feature}
    for row, lemma, form, written in verbs.select("row", "lemma", "form", "feats").iter_rows():
        paradigm, feats = paradigms.get(lemma, ()), _values(written)
        of_form = [tags for other, tags in paradigm if other == form and _agrees(tags, feats, AGREEMENT + CELL)]
        if "Mood" not in feats:  # Dutch *klagen* is indicative, although *(zij) klagen* could be a subjunctive
            of_form = [tags for tags in of_form if "IND" in tags] or of_form
        rests = {_other_tags(tags, changed) for tags in of_form}
        options: defaultdict[str, set[str]] = defaultdict(set)
        for other, tags in paradigm:
            value = _features(tags).get(feature)
            if value and value != feats.get(feature) and _other_tags(tags, changed) in rests:
                same_gender = feature != "Number" or _agrees(tags, feats, ("Gender",))
                options[value] |= {other} if same_gender else set()
        agreeing = {form, *(other for other, tags in paradigm if _agrees(tags, feats, AGREEMENT))}
        rows += [(row, value, min(f)) for value, f in options.items() if len(f) == 1 and not f & agreeing]
    return pl.DataFrame(rows, {"row": verbs.schema["row"], "other_value": pl.String, "other": pl.String}, orient="row")


def forms_that_agree(verbs: pl.DataFrame, paradigms: Paradigms) -> pl.DataFrame:
    """``row`` and ``other``: every form of the verb's paradigm that agrees with it, in any tense or mood.

    ``verbs`` needs ``row``, ``lemma`` and ``feats``.
    """
    rows: list[tuple[int, str]] = []
    for row, lemma, written in verbs.select("row", "lemma", "feats").iter_rows():
        feats, paradigm = _values(written), paradigms.get(lemma, ())
        # a form with a tag of number and without a tag that contradicts the verb's values
        forms = {f for f, tags in paradigm if "Number" in _features(tags) and _agrees(tags, feats, AGREEMENT)}
        rows += [(row, form) for form in forms]
    return pl.DataFrame(rows, {"row": verbs.schema["row"], "other": pl.String}, orient="row")


def _agrees(tags: Tags, feats: Mapping[str, str], names: Sequence[str]) -> bool:
    """Whether tags do not contradict the features with these names."""
    named = _features(tags)
    past = feats.get("Tense") in PAST and named.get("Tense") == "Past"
    return all(
        named[name] == feats[name] or (name == "Tense" and past) for name in names if name in named and name in feats
    )


def _features(tags: Tags) -> dict[str, str]:
    """The features that tags stand for."""
    return dict(TAGS[tag] for tag in tags if tag in TAGS)


def _other_tags(tags: Tags, without: set[str]) -> Tags:
    """The tags except those of some features."""
    return frozenset(tag for tag in tags if tag not in TAGS or TAGS[tag][0] not in without)


def _values(feats: str | None) -> dict[str, str]:
    """Features in the notation of CoNLL-U, as name → value."""
    return dict(pair.split("=", 1) for pair in (feats or "").split("|") if "=" in pair)
