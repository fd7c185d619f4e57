"""Filters on documents: letters, length, script and language of their paragraphs, and what repeats in the corpus.

Scripts are Unicode's. Languages are identified by py3langid, a naive Bayes classifier on byte n-grams whose model is in
its wheel. Measured on 600 news segments in each of 20 languages (NTREX-128): of segments with 50 letters or more at
most two per language are wrong (three of 145 in Chinese), except that Indonesian and Malay are confused. No wrong
answer has a probability above 0.83.

Boilerplate lines, and paragraphs and documents that repeat earlier ones, are known only when all documents were seen.
Hashes of the text are kept in memory, not the text.
"""

import importlib.resources
import math
import os
import pickle
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from functools import cache
from hashlib import blake2b
from itertools import chain, pairwise
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Final, Generic, TypeVar

import langcodes
import numpy as np
import polars as pl
import regex
from numpy.typing import NDArray

from discoprobe.loaders import near_duplicates
from discoprobe.loaders.keys import text_keys
from discoprobe.loaders.raw.document import RUNNING, DropCounts, Paragraph, RawDocument, Row, grouped, with_gaps
from discoprobe.loaders.raw.options import ReadOptions
from discoprobe.loaders.raw.plain_text import DIGITS, heading, inner_sentences, lines_of
from discoprobe.loaders.running_words import UNSPACED
from discoprobe.loaders.toml_records import parse_toml

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

T = TypeVar("T")

_DATA: Final = parse_toml(
    importlib.resources.files(__package__).joinpath("scripts.toml").read_text("utf-8"), "scripts.toml"
)
"""What is known of scripts and languages; the file explains it."""
SCRIPTS: Final = {lang: codes.split() for codes, langs in _DATA["languages"].items() for lang in langs.split()}
WITHOUT_SPACES: Final = frozenset(_DATA["without_spaces"]["scripts"].split())
SAME: Final = tuple(frozenset(languages.split()) for languages in _DATA["same"]["languages"])
LETTERS: Final = regex.compile(r"(?:(?=\p{L})[^\p{Script=Common}\p{Script=Inherited}])+")
"""Letters of scripts."""
LETTER: Final = re.compile(r"[^\W\d_]")
MIN_LETTERS: Final = 50
"""Texts with fewer letters are not classified."""
CHARACTERS: Final = 500
"""Number of characters of a text that are classified."""
CERTAIN: Final = 0.9
"""Probability from which a single paragraph counts as written in another language."""
_WORD: Final = regex.compile(rf"{UNSPACED}|[\S--{UNSPACED}]+", regex.VERSION1)
_MAYBE_UNSPACED: Final = re.compile("[\u0e00-\u1fff\u2e80-\U0010ffff]")
"""A range with all characters of scripts without spaces, which is looked for ten times as fast."""

MIN_WORDS: Final = 4
"""A line with fewer words is not boilerplate: exclamations and answers recur in every novel."""
MAX_NUMBERED_WORDS: Final = 12
"""A line with more words, or with several sentences, is boilerplate only if it recurs with the same numbers."""
SHARE: Final = 0.002
"""Share of the documents in which a line must recur, in large corpora."""
PARAGRAPH_WORDS: Final = 8
"""Paragraphs with fewer words may recur, for the same reason."""
LONG_SHARE: Final = 0.8
"""Documents with a smaller share of their words in longer paragraphs are not compared for near-duplicates."""
PARAGRAPHS_AT_ONCE: Final = 10_000
"""Number of paragraphs whose text is in memory at a time."""


def written_without_spaces(lang: str) -> bool:
    """Whether a language is written without spaces between words, by its usual script."""
    return not WITHOUT_SPACES.isdisjoint(_codes(lang))


def script_share(text: str, lang: str) -> float:
    """The share of a text's letters in the scripts of a language; 1 without letters or where the script is unknown."""
    wanted = _letters_of(lang)
    numbers = Counter(text)
    letters = "".join(LETTERS.findall("".join(numbers)))
    if wanted is None or not letters:
        return 1.0
    return sum(map(numbers.__getitem__, wanted.findall(letters))) / sum(map(numbers.__getitem__, letters))


def _codes(lang: str) -> list[str]:
    language = langcodes.Language.get(lang)
    return SCRIPTS.get(lang) or list(filter(None, [language.script or language.maximize().script]))


@cache
def _letters_of(lang: str) -> regex.Pattern[str] | None:
    """A pattern for a character of the scripts of a language; None where they are not known."""
    scripts = [rf"\p{{Script={script}}}" for code in _codes(lang) for script in _DATA["parts"].get(code, code).split()]
    try:
        return regex.compile(f"[{''.join(scripts)}]") if scripts else None
    except regex.error:
        return None


@cache
def is_known(lang: str) -> bool:
    """Whether the classifier knows a language, or one that counts as the same."""
    return not _same_as(lang).isdisjoint(_classifier().nb_classes)


def is_long_enough(text: str) -> bool:
    """Whether a text has enough letters to be classified."""
    return len(LETTER.findall(text[:CHARACTERS])) >= MIN_LETTERS


def probabilities(text: str, lang: str) -> tuple[float, float]:
    """The probability that a text is in a language, and that of the most probable other language."""
    same, ranked = _same_as(lang), _classifier().rank(text[:CHARACTERS])
    other = next(float(share) for code, share in ranked if code not in same)
    return sum(float(share) for code, share in ranked if code in same), other


def _same_as(lang: str) -> frozenset[str]:
    return next((languages for languages in SAME if lang in languages), frozenset({lang}))


@cache
def _classifier() -> "LanguageIdentifier":
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # noqa: PLC0415 - the model takes a second to load

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def word_count(text: str) -> int:
    """The number of words: separated by white space; each letter, in scripts without spaces between words."""
    return len(text.split() if _MAYBE_UNSPACED.search(text) is None else _WORD.findall(text))


def filtered(document: RawDocument, options: ReadOptions, counts: DropCounts) -> RawDocument | None:
    """A document without unusable paragraphs, or None if too little of it is left; every drop is counted."""
    parts = chain.from_iterable(_cut(p, document.source, options.max_characters, counts) for p in document.paragraphs)
    cut = replace(document, paragraphs=tuple(with_gaps(parts)))
    sizes: Counter[bool] = Counter()
    reasons = {i: reason for i, p in enumerate(cut.paragraphs) if (reason := _unusable(p, options, sizes))}
    rest = without(cut, reasons, counts)
    if sizes and sizes[True] / sizes.total() < options.language_share:
        counts.add("document-language", document.source)
        return None
    return rest if long_enough(rest, options, counts) else None


def _unusable(paragraph: Paragraph, options: ReadOptions, sizes: Counter[bool]) -> str:
    """The reason why a paragraph is unusable, or an empty text.

    ``sizes`` counts characters of paragraphs whose language was identified, by whether it is that of the corpus.
    """
    text, lang = paragraph.text, options.lang
    if not any(map(str.isalpha, text)):
        return "no-letters"
    if paragraph.kind not in RUNNING:
        return ""
    if lang and script_share(text, lang) < options.script_share:
        return "script"
    if lang and options.language_share and is_known(lang) and is_long_enough(text):
        same, other = probabilities(text, lang)
        sizes[same >= other] += len(text)
        if other >= CERTAIN:
            return "paragraph-language"
    return "short-paragraph" if word_count(text) < options.min_words else ""


def without(document: RawDocument, reasons: Mapping[int, str], counts: DropCounts) -> RawDocument:
    """A document without some paragraphs; ``reasons`` says by their index why, which is counted."""
    for reason in reasons.values():
        counts.add(reason, document.source)
    rest = with_gaps(None if i in reasons else paragraph for i, paragraph in enumerate(document.paragraphs))
    return replace(document, paragraphs=tuple(rest))


def long_enough(document: RawDocument, options: ReadOptions, counts: DropCounts) -> bool:
    """Whether a document has enough words of running text; one that has not is counted."""
    words = sum(word_count(paragraph.text) for paragraph in document.running)
    if words >= max(options.min_document_words, 1):
        return True
    counts.add("short-document" if words else "empty-document", document.source)
    return False


def _cut(paragraph: Paragraph, source: str, longest: int, counts: DropCounts) -> Iterator[Paragraph | None]:
    """A paragraph as parts of at most ``longest`` characters, each as many sentences as fit; None where none does."""
    if len(paragraph.text) <= longest:
        yield paragraph
        return
    spans = paragraph.sentences
    ends = inner_sentences(paragraph.text) if spans is None else [start for start, _ in spans[1:]]
    start = 0
    for end, following in pairwise([*ends, len(paragraph.text), math.inf]):
        if following - start <= longest:
            continue
        text = paragraph.content.cut(start, int(end)).stripped()
        if len(text.text) <= longest:
            inside = None if spans is None else tuple((a - start, b - start) for a, b in spans if start <= a < end)
            yield replace(paragraph, content=text, sentences=inside, gap=paragraph.gap and not start)
        else:
            counts.add("long-paragraph", f"{source}:{text.source_span(0, 1)[0]}")
            yield None
        start = int(end)


def with_boilerplate(rows: Iterable[Row], least: int) -> Iterator[tuple[Row, Collection[str]]]:
    """Rows, each with the lines of its plain text that recur in other documents and are not all of this one.

    A line recurs if it is in ``least`` texts, or in more in a large corpus; 0 looks for none. Headings and short lines
    do not count. The rows are iterated over twice.
    """
    keys = [_distinct_keys(row.text) for row in rows if row.parts is None] if least else []
    lines, documents = np.unique(np.concatenate([*keys, np.empty(0, np.uint64)]), return_counts=True)
    recurring = lines[documents >= max(least, round(SHARE * len(keys)))]
    has_some = iter([bool(np.isin(of_row, recurring).any()) for of_row in keys])
    known = frozenset(recurring.tolist())
    for row in rows:
        yield row, _boilerplate(row.text, known) if row.parts is None and next(has_some, False) else ()


def _boilerplate(text: str, recurring: Collection[int]) -> Collection[str]:
    """The lines of a text that recur, unless all of them do.

    Lines that recur with other numbers are boilerplate only if they are short, and have together no more words than
    the rest: a template that is filled in is the text itself.
    """
    lines = _lines(text)
    equal = {line for line in lines if any(key in recurring for key in _keys(line)[:1])}
    rest = [line for line in lines if line not in equal]
    similar = {line for line in rest if any(key in recurring for key in _keys(line)[1:])}
    words = sum(map(word_count, rest))
    similar_words = sum(word_count(line) for line in rest if line in similar)
    return (equal | similar if 2 * similar_words <= words else equal) if rest else ()


def _lines(source: str) -> list[str]:
    """The lines of a text that have a letter and are not headings."""
    return [line.text for line in lines_of(source) if any(map(str.isalpha, line.text)) and not heading(line.text)]


def _distinct_keys(text: str) -> NDArray[np.uint64]:
    return np.array(list({key for line in _lines(text) for key in _keys(line)}), np.uint64)


def _keys(line: str) -> list[int]:
    """The key of a line, followed by its key without numbers if it is short and has some; none for a very short one."""
    words = word_count(line)
    if words < MIN_WORDS:
        return []
    text = " ".join(line.casefold().split())
    masked, numbers = DIGITS.subn("0", text)
    if not numbers or words > MAX_NUMBERED_WORDS or inner_sentences(line):
        return [_key(text)]
    return [_key(text), _key(f"{masked}\n")]


def _key(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest(), "little")


_PARAGRAPHS: Final = {"document": pl.Int64, "paragraph": pl.Int64, "text": pl.String, "words": pl.Int64}
_LONG: Final = pl.col("words") >= PARAGRAPH_WORDS


def _hashed(documents: Iterable[RawDocument]) -> tuple[pl.DataFrame, pl.DataFrame, near_duplicates.Shingles]:
    """What is compared: documents by number, their long paragraphs by index, and the shingles of these paragraphs."""
    running = (
        [(n, i, p.text, word_count(p.text)) for i, p in enumerate(document.paragraphs) if p.kind in RUNNING]
        for n, document in enumerate(documents)
    )
    wholes, tables, shingles = [], [], []
    for batch in chain([[]], grouped(running, len, PARAGRAPHS_AT_ONCE)):  # an empty one, if there is no document
        table = pl.DataFrame([row for rows in batch for row in rows], _PARAGRAPHS, orient="row")
        compared = pl.col("words").filter(_LONG).sum() >= LONG_SHARE * pl.col("words").sum()
        whole = table.group_by("document", maintain_order=True).agg(pl.col("text").str.join(" "), compared=compared)
        wholes.append(whole.select("document", "compared", key=text_keys(whole["text"].to_list())))
        long = table.filter(_LONG)
        tables.append(long.drop("text").with_columns(key=text_keys(long["text"].to_list())))
        shingles.append(near_duplicates.shingles(long["text"]))
    return pl.concat(wholes), pl.concat(tables), near_duplicates.together(shingles)


def _repeats(documents: Iterable[RawDocument]) -> tuple[dict[int, str], dict[int, dict[int, str]]]:
    """What repeats earlier text: documents, number → reason, and paragraphs, document → index → reason.

    Documents are judged first, so that a paragraph is dropped only if the one that it repeats stays.
    """
    wholes, long, shingles = _hashed(documents)
    pooled = near_duplicates.pooled(shingles, long["document"].to_numpy(), wholes.height)
    wholes = wholes.with_columns(cluster=near_duplicates.clusters(pooled), is_equal=_is_later("key"))
    near = wholes.filter("compared", ~pl.col("is_equal")).filter(_is_later("cluster"))
    repeated = dict.fromkeys(wholes.filter("is_equal")["document"], "duplicate-document")
    repeated |= dict.fromkeys(near["document"], "near-duplicate-document")
    reason = pl.when(_is_later("key")).then(pl.lit("duplicate")).otherwise(pl.lit("near-duplicate")) + "-paragraph"
    long = long.with_columns(cluster=near_duplicates.clusters(shingles))
    long = long.filter(~pl.col("document").is_in(list(repeated))).with_columns(reason=reason)
    paragraphs: dict[int, dict[int, str]] = {}
    for number, i, why in long.filter(_is_later("cluster")).select("document", "paragraph", "reason").rows():
        paragraphs.setdefault(number, {})[i] = why
    return repeated, paragraphs


def _is_later(column: str) -> pl.Expr:
    """Whether an earlier row has the same value."""
    return pl.int_range(pl.len()).over(column) > 0


class Spool(Generic[T]):
    """Values by key in a temporary file, one of them in memory; iterated over in the order of keys.

    The file has no name on disk and is gone when it is closed, also if the process is killed.
    """

    def __init__(self) -> None:
        self._file = TemporaryFile()  # noqa: SIM115 (`close` closes it)
        self._starts: dict[str | int, int] = {}

    def add(self, key: str | int, value: T) -> bool:
        """Add a value, and whether it was added: not if there is one with this key.

        Raises:
            OSError: there is no room on the disk.
        """
        if key in self._starts:
            return False
        self._starts[key] = self._file.seek(0, os.SEEK_END)
        pickle.dump(value, self._file, pickle.HIGHEST_PROTOCOL)
        self._file.flush()
        return True

    def __iter__(self) -> Iterator[T]:
        """The values in the order of their keys."""
        for _, start in sorted(self._starts.items()):
            self._file.seek(start)
            yield pickle.load(self._file)  # noqa: S301 (this process wrote it)

    def close(self) -> None:
        """Delete what is on disk."""
        self._file.close()


def without_repeats(
    documents: Iterable[RawDocument], options: ReadOptions, counts: DropCounts
) -> Iterator[RawDocument]:
    """The documents without what repeats earlier text, which ``counts`` counts; all are read before the first is given.

    Without the option ``duplicates`` the documents are given as they are.
    """
    if not options.duplicates:
        yield from documents
        return
    with closing(Spool[RawDocument]()) as stored:
        repeated, paragraphs = _repeats(one for number, one in enumerate(documents) if stored.add(number, one))
        for number, document in enumerate(stored):
            reasons = paragraphs.get(number, {})
            if reason := repeated.get(number):
                counts.add(reason, document.source)
                continue
            rest = without(document, reasons, counts)
            if not reasons or long_enough(rest, options, counts):
                yield rest
