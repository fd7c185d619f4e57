"""Filters on documents: letters, length, script and language of their paragraphs.

Scripts are Unicode's. Languages are identified by py3langid, a naive Bayes classifier on byte n-grams whose model is in
its wheel. Measured on 600 news segments in each of 20 languages (NTREX-128): of segments with 50 letters or more at
most two per language are wrong (three of 145 in Chinese), except that Indonesian and Malay are confused. No wrong
answer has a probability above 0.83.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Final

import langcodes
import regex

from discoprobe.loaders.raw.document import RUNNING, Paragraph, RawDocument
from discoprobe.loaders.raw.lines import inner_sentences
from discoprobe.loaders.running_words import UNSPACED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from py3langid.langid import LanguageIdentifier

    from discoprobe.loaders.raw.document import DropCounts
    from discoprobe.loaders.raw.options import ReadOptions

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
OF_A_SCRIPT: Final = regex.compile(r"(?=\p{L})[^\p{Script=Common}\p{Script=Inherited}]")

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


def written_without_spaces(lang: str) -> bool:
    """Whether a language is written without spaces between words, by its usual script."""
    return not WITHOUT_SPACES.isdisjoint(_codes(lang))


def script_share(text: str, lang: str) -> float:
    """The share of a text's letters in the scripts of a language; 1 without letters or where the script is unknown."""
    wanted = _letters_of(lang)
    if wanted is None:
        return 1.0
    letters = {letter: n for letter, n in Counter(text).items() if _is_letter(letter)}
    total = sum(letters.values())
    return sum(n for letter, n in letters.items() if wanted.match(letter)) / total if total else 1.0


def _codes(lang: str) -> tuple[str, ...]:
    language = langcodes.Language.get(lang)
    return SEVERAL.get(lang) or tuple(filter(None, [language.script or language.maximize().script]))


@cache
def _letters_of(lang: str) -> regex.Pattern[str] | None:
    """A pattern for one letter of the scripts of a language; None where they are not known."""
    scripts = [rf"\p{{Script={script}}}" for code in _codes(lang) for script in PARTS.get(code, (code,))]
    try:
        return regex.compile(f"[{''.join(scripts)}]") if scripts else None
    except regex.error:
        return None


@cache
def _is_letter(character: str) -> bool:
    return OF_A_SCRIPT.match(character) is not None


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
