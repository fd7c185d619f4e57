"""Filters on documents: letters, length, script and language of their paragraphs, and what repeats in the corpus.

Scripts are Unicode's. Languages are identified by py3langid, a naive Bayes classifier on byte n-grams whose model is in
its wheel. Measured on 600 news segments in each of 20 languages (NTREX-128): of segments with 50 letters or more at
most two per language are wrong (three of 145 in Chinese), except that Indonesian and Malay are confused. No wrong
answer has a probability above 0.83.

Boilerplate lines, and paragraphs and documents that repeat earlier ones, are known only when all documents were seen.
Hashes of the text are kept in memory, not the text.
"""

from __future__ import annotations

import errno
import pickle
import re
import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import blake2b
from itertools import chain
from typing import TYPE_CHECKING, Final, Generic, TypeVar

import langcodes
import numpy as np
import polars as pl
import regex

from discoprobe.loaders import near_duplicates
from discoprobe.loaders.keys import text_keys
from discoprobe.loaders.raw.document import RUNNING, Paragraph, RawDocument
from discoprobe.loaders.raw.plain_text import DIGITS, heading, inner_sentences, lines_of
from discoprobe.loaders.running_words import UNSPACED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray
    from py3langid.langid import LanguageIdentifier

    from discoprobe.loaders.raw.document import DropCounts, Row
    from discoprobe.loaders.raw.options import ReadOptions

T = TypeVar("T")

SEVERAL: Final = {
    lang: tuple(scripts.split())
    for scripts, langs in {
        "Arab Cyrl Latn": "az kk ku ky tg tk tt ug uz crh ota",
        "Cyrl Latn": "sr bs sh cnr mn",
        "Arab Latn": "ms ha",
        "Arab Deva": "sd ks",
        "Arab Guru": "pa",
        "Deva Latn": "sa",
        "Cyrl Glag": "cu",
        "Egyp Latn": "egy",
        "Xsux Latn": "akk hit sux",
        "Goth Latn": "got",
        "Grek": "grc",
        "Hebr": "hbo",
        "Cyrl": "orv",
        "Armn": "xcl",
        "Latn": "non sga",
    }.items()
    for lang in langs.split()
}
"""ISO 15924 codes for languages with several scripts, or that are usually transliterated, and for those whose script
``langcodes`` does not know."""
PARTS: Final = {
    **dict.fromkeys(("Hans", "Hant", "Hani"), ("Hani", "Bopo")),
    "Jpan": ("Hani", "Hira", "Kana"),
    "Kore": ("Hang", "Hani"),
}
"""ISO 15924 codes that stand for several of Unicode's scripts."""
WITHOUT_SPACES: Final = frozenset({"Hans", "Hant", "Hani", "Jpan", "Thai", "Laoo", "Khmr", "Mymr", "Tibt"})
"""Scripts that put no spaces between words (Tibetan puts marks between syllables)."""
LETTERS: Final = regex.compile(r"(?:(?=\p{L})[^\p{Script=Common}\p{Script=Inherited}])+")
"""Letters of scripts."""
LETTER: Final = re.compile(r"[^\W\d_]")
MIN_LETTERS: Final = 50
"""Texts with fewer letters are not classified."""
CHARACTERS: Final = 500
"""Number of characters of a text that are classified."""
_SAME: Final = "bs hr sh sr cnr,id ms,nb nn no,yue wuu zh lzh,ar ary arz apc ajp,grc el,he hbo,es ext,it vec lij"
SAME: Final = tuple(frozenset(languages.split()) for languages in _SAME.split(","))
"""Languages that count as one here: the classifier confuses them, or has one name for them."""
CERTAIN: Final = 0.9
"""Probability from which a single paragraph counts as written in another language."""
_UNSPACED = regex.compile(UNSPACED)
_MAYBE_UNSPACED = re.compile("[\u0e00-\u1fff\u2e80-\U0010ffff]")
"""A range with all characters of those scripts, which is looked for ten times as fast."""

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


def _codes(lang: str) -> tuple[str, ...]:
    language = langcodes.Language.get(lang)
    return SEVERAL.get(lang) or tuple(filter(None, [language.script or language.maximize().script]))


@cache
def _letters_of(lang: str) -> regex.Pattern[str] | None:
    """A pattern for a character of the scripts of a language; None where they are not known."""
    scripts = [rf"\p{{Script={script}}}" for code in _codes(lang) for script in PARTS.get(code, (code,))]
    try:
        return regex.compile(f"[{''.join(scripts)}]") if scripts else None
    except regex.error:
        return None


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
def _classifier() -> LanguageIdentifier:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # noqa: PLC0415 - the model takes a second to load

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def word_count(text: str) -> int:
    """The number of words: separated by white space; each letter, in scripts without spaces between words."""
    if _MAYBE_UNSPACED.search(text) is None:
        return len(text.split())
    letters = len(_UNSPACED.findall(text))
    return letters + (len(_UNSPACED.sub(" ", text).split()) if letters else len(text.split()))


def filtered(document: RawDocument, options: ReadOptions, counts: DropCounts) -> RawDocument | None:
    """A document without unusable paragraphs, or None if too little of it is left; every drop is counted."""
    parts = (_cut(p, document.source, options.max_characters, counts) for p in document.paragraphs)
    cut = _rebuilt(document, chain.from_iterable(parts))
    identify = bool(options.lang and options.language_share) and is_known(options.lang)
    reasons: dict[int, str] = {}
    sizes: Counter[bool] = Counter()  # characters of classified paragraphs, by whether they are in the language
    for i, paragraph in enumerate(cut.paragraphs):
        reason = _unusable(paragraph, options)
        if identify and paragraph.kind in RUNNING and not reason and is_long_enough(paragraph.text):
            same, other = probabilities(paragraph.text, options.lang)
            sizes[same >= other] += len(paragraph.text)
            reason = "paragraph-language" if other >= CERTAIN else ""
        if not reason and paragraph.kind in RUNNING and word_count(paragraph.text) < options.min_words:
            reason = "short-paragraph"
        if reason:
            reasons[i] = reason
    rest = without(cut, reasons, counts)
    if sizes and sizes[True] / sizes.total() < options.language_share:
        counts.add("document-language", document.source)
        return None
    return rest if long_enough(rest, options, counts) else None


def _unusable(paragraph: Paragraph, options: ReadOptions) -> str:
    """The reason why the characters of a paragraph make it unusable, or an empty text."""
    if not any(map(str.isalpha, paragraph.text)):
        return "no-letters"
    if paragraph.kind not in RUNNING or not (options.lang and options.script_share):
        return ""
    return "script" if script_share(paragraph.text, options.lang) < options.script_share else ""


def without(document: RawDocument, reasons: Mapping[int, str], counts: DropCounts) -> RawDocument:
    """A document without some paragraphs; ``reasons`` says by their index why, which is counted."""
    for reason in reasons.values():
        counts.add(reason, document.source)
    return _rebuilt(document, (None if i in reasons else p for i, p in enumerate(document.paragraphs)))


def long_enough(document: RawDocument, options: ReadOptions, counts: DropCounts) -> bool:
    """Whether a document has enough words of running text; one that has not is counted."""
    words = sum(word_count(paragraph.text) for paragraph in document.running)
    if words >= max(options.min_document_words, 1):
        return True
    counts.add("short-document" if words else "empty-document", document.source)
    return False


def _rebuilt(document: RawDocument, parts: Iterable[Paragraph | None]) -> RawDocument:
    """A document of some paragraphs; where one is None, there is a gap."""
    paragraphs: list[Paragraph] = []
    gap = False
    for part in parts:
        if part is not None:
            paragraphs.append(replace(part, gap=True) if gap else part)
        gap = part is None
    return replace(document, paragraphs=tuple(paragraphs))


def _cut(paragraph: Paragraph, source: str, longest: int, counts: DropCounts) -> Iterator[Paragraph | None]:
    """A paragraph as parts of at most ``longest`` characters, each as many sentences as fit; None where none does."""
    if len(paragraph.text) <= longest:
        yield paragraph
        return
    spans = paragraph.sentences
    ends = inner_sentences(paragraph.text) if spans is None else [start for start, _ in spans[1:]]
    ends.append(len(paragraph.text))
    start = 0
    for end, following in zip(ends, [*ends[1:], None], strict=True):
        if following is not None and following - start <= longest:
            continue
        text = paragraph.content.cut(start, start + len(paragraph.text[start:end].rstrip()))
        if len(text.text) <= longest:
            inside = None if spans is None else tuple((a - start, b - start) for a, b in spans if start <= a < end)
            yield replace(paragraph, content=text, sentences=inside, gap=paragraph.gap and not start)
        else:
            counts.add("long-paragraph", f"{source}:{text.source_span(0, 1)[0]}")
            yield None
        start = end


class RecurringLines:
    """The lines that recur in several documents; headings and short lines do not count."""

    def __init__(self, texts: Iterable[str], least: int) -> None:
        """Find the lines that are in ``least`` texts, or in more in a large corpus; 0 looks for none."""
        sources: list[int] = []
        keys: list[NDArray[np.uint64]] = []
        for text in texts if least else ():
            sources.append(_key(text))
            keys.append(np.array(list({key for line in _lines(text) for key in _keys(line)}), np.uint64))
        lines, documents = np.unique(np.concatenate([*keys, np.empty(0, np.uint64)]), return_counts=True)
        recurring = lines[documents >= max(least, round(SHARE * len(keys)))]
        self._recurring = frozenset(recurring.tolist())
        self._without = {
            source for source, found in zip(sources, keys, strict=True) if not np.isin(found, recurring).any()
        }

    def boilerplate(self, row: Row) -> frozenset[str]:
        """The boilerplate lines of a plain text: lines that recur in other documents and are not all of this one.

        Lines that recur with other numbers are boilerplate only if they are short, and have together no more words than
        the rest: a template that is filled in is the text itself.
        """
        if row.parts is not None or not self._recurring or _key(row.text) in self._without:
            return frozenset()
        lines = _lines(row.text)
        equal = {line for line in lines if not self._recurring.isdisjoint(_keys(line)[:1])}
        rest = [line for line in lines if line not in equal]
        if not rest:
            return frozenset()
        similar = {line for line in rest if not self._recurring.isdisjoint(_keys(line)[1:])}
        words = sum(map(word_count, rest))
        similar_words = sum(word_count(line) for line in rest if line in similar)
        return frozenset(equal | similar if 2 * similar_words <= words else equal)


def _lines(source: str) -> list[str]:
    """The lines of a text that have a letter and are not headings."""
    return [line.text for line in lines_of(source) if any(map(str.isalpha, line.text)) and not heading(line.text)]


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


@dataclass(slots=True)
class _RepeatFinder:
    """Finds what repeats earlier text; call `add` for every document in order, then `repeats`."""

    texts: list[str] = field(default_factory=list)
    keys: list[pl.Series] = field(default_factory=list)
    shingles: list[near_duplicates.Shingles] = field(default_factory=list)
    places: list[tuple[int, int]] = field(default_factory=list)
    documents: list[tuple[int, bool]] = field(default_factory=list)

    def add(self, document: RawDocument) -> None:
        """Record the hashes of the next document: of its long paragraphs, and of all that runs."""
        running = [(i, p.text, word_count(p.text)) for i, p in enumerate(document.paragraphs) if p.kind in RUNNING]
        long = [(i, text, words) for i, text, words in running if words >= PARAGRAPH_WORDS]
        words = sum(words for _, _, words in long)
        compared = 0 < words >= LONG_SHARE * sum(words for _, _, words in running)
        self.places += [(len(self.documents), i) for i, _, _ in long]
        self.texts += [text for _, text, _ in long]
        self.documents.append((text_keys([" ".join(text for _, text, _ in running)])[0], compared))
        if len(self.texts) >= PARAGRAPHS_AT_ONCE:
            self._hash()

    def _hash(self) -> None:
        self.keys.append(text_keys(self.texts))
        self.shingles.append(near_duplicates.shingles(pl.Series(self.texts, dtype=pl.String)))
        self.texts = []

    def repeats(self) -> tuple[dict[int, str], dict[int, dict[int, str]]]:
        """The documents that repeat an earlier one: number → reason; and paragraphs: document → index → reason.

        Documents are judged first, so that a paragraph is dropped only if the one that it repeats stays.
        """
        self._hash()
        shingles = near_duplicates.together(self.shingles)
        self.shingles = []
        places = pl.DataFrame(self.places, {"document": pl.Int64, "paragraph": pl.Int64}, orient="row")
        pooled = near_duplicates.pooled(shingles, places["document"].to_numpy(), len(self.documents))
        judged = pl.DataFrame(self.documents, {"content": pl.UInt64, "compared": pl.Boolean}, orient="row")
        judged = judged.with_row_index("document").with_columns(cluster=near_duplicates.clusters(pooled))
        equal = judged.filter(_is_later("content"))["document"]
        near = judged.filter("compared", ~pl.col("document").is_in(equal.implode())).filter(_is_later("cluster"))
        documents = dict.fromkeys(equal, "duplicate-document")
        documents |= dict.fromkeys(near["document"], "near-duplicate-document")
        reason = pl.when(_is_later("key")).then(pl.lit("duplicate")).otherwise(pl.lit("near-duplicate")) + "-paragraph"
        found = places.with_columns(cluster=near_duplicates.clusters(shingles), key=pl.concat(self.keys))
        found = found.filter(~pl.col("document").is_in(list(documents)))
        found = found.with_columns(reason=reason).filter(_is_later("cluster"))
        paragraphs: dict[int, dict[int, str]] = {}
        for document, paragraph, why in found.select("document", "paragraph", "reason").iter_rows():
            paragraphs.setdefault(document, {})[paragraph] = why
        return documents, paragraphs


def _is_later(column: str) -> pl.Expr:
    """Whether an earlier row has the same value."""
    return pl.int_range(pl.len()).over(column) > 0


class Spool(Generic[T]):
    """Values by key in a temporary database on disk, one of them in memory; iterated over in the order of keys.

    It has no name on disk and is gone when it is closed, also if the process is killed.
    """

    def __init__(self) -> None:
        self._values = sqlite3.connect("")  # a name that stands for a temporary file
        self._values.execute("PRAGMA page_size = 65536")  # as fast as a file, also for long texts
        self._values.execute("CREATE TABLE spool (key PRIMARY KEY, value BLOB)")

    def add(self, key: str | int, value: T) -> bool:
        """Add a value, and whether it was added: not if there is one with this key.

        Raises:
            OSError: there is no room on the disk.
        """
        row = (key, pickle.dumps(value, pickle.HIGHEST_PROTOCOL))
        try:
            return self._values.execute("INSERT OR IGNORE INTO spool VALUES (?, ?)", row).rowcount > 0
        except sqlite3.OperationalError as error:
            is_full = error.sqlite_errorcode == sqlite3.SQLITE_FULL
            raise OSError(errno.ENOSPC if is_full else errno.EIO, f"temporary file: {error}") from error

    def __iter__(self) -> Iterator[T]:
        """The values in the order of their keys."""
        for (value,) in self._values.execute("SELECT value FROM spool ORDER BY key"):
            yield pickle.loads(value)  # noqa: S301 (this process wrote it)

    def close(self) -> None:
        """Delete what is on disk."""
        self._values.close()


def without_repeats(
    documents: Iterable[RawDocument], options: ReadOptions, counts: DropCounts
) -> Iterator[RawDocument]:
    """The documents without what repeats earlier text, which ``counts`` counts; all are read before the first is given.

    Without the option ``duplicates`` the documents are given as they are.
    """
    if not options.duplicates:
        yield from documents
        return
    finder = _RepeatFinder()
    with closing(Spool[RawDocument]()) as stored:
        for number, document in enumerate(documents):
            finder.add(document)
            stored.add(number, document)
        repeated, paragraphs = finder.repeats()
        for number, document in enumerate(stored):
            reasons = paragraphs.get(number, {})
            if reason := repeated.get(number):
                counts.add(reason, document.source)
                continue
            rest = without(document, reasons, counts)
            if not reasons or long_enough(rest, options, counts):
                yield rest
