"""Cleaning a piece of text: markup, character references, invisible characters, composed letters, divided words."""

from __future__ import annotations

import html
import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import regex
from wordfreq import available_languages, zipf_frequency

if TYPE_CHECKING:
    from discoprobe.loaders.raw.document import DropCounts, TextWithOffsets

_ELEMENTS: Final = (
    "a|abbr|acronym|address|article|aside|audio|b|big|blockquote|body|br|button|caption|center|cite|code|col|colgroup|"
    "dd|del|details|dfn|div|dl|dt|em|embed|fieldset|figcaption|figure|font|footer|form|h[1-6]|head|header|hr|html|i|"
    "iframe|img|input|ins|kbd|label|legend|li|link|main|mark|meta|nav|noscript|object|ol|optgroup|option|p|param|picture|"
    "pre|q|s|samp|section|select|small|source|span|strike|strong|sub|summary|sup|svg|table|tbody|td|textarea|tfoot|th|"
    "thead|time|title|tr|tt|u|ul|var|video|wbr|ref|nowiki|gallery|poem"
)
"""Elements of HTML, and those of MediaWiki texts."""
_ATTRIBUTE: Final = r"""\s+[A-Za-z_:@][\w:.-]*\s*=\s*(?:"[^"<]*"|'[^'<]*'|[^\s"'<>=`]+)"""

# `re` of Python 3.11.2 does not find what has a possessive quantifier around a group.
HIDDEN: Final = regex.compile(
    r"<!--(?:(?!-->|<!--).)*+-->|<!DOCTYPE\b[^<>]*>|<(script|style)\b[^<>]*>(?:(?!</?\1).)*+</\1\s*>",
    regex.DOTALL | regex.IGNORECASE,
)
BREAKING: Final = re.compile(r"<(?:br|hr|/?p|/?div|/?li|/?td|/?th|/?tr|/?h[1-6])\b(?:[^<>]*)>", re.IGNORECASE)
TAG: Final = re.compile(rf"</?(?:{_ELEMENTS})(?:{_ATTRIBUTE})*\s*/?>", re.IGNORECASE)
ENTITY: Final = re.compile(r"&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_BRACES: Final = r"(?:[^{}]++|\{(?:[^{}]++|\{(?:[^{}]++|\{[^{}]*+\})*+\})*+\})*+"
WIKI: Final = regex.compile(rf"'{{2,5}}|\{{\{{[^{{}}]*\}}\}}|\s*\{{\s*\\(?:display|text)style\b{_BRACES}\}}")
"""Bold and italics, templates, and the TeX after each formula in texts from Wikipedia."""
LINK: Final = re.compile(r"\[\[(?:[^\[\]|]*\|)?(?=[^\[\]|]*\]\])|(?<=[^\[\]|])\]\]")
"""The markup before and after the words of a wiki link."""
BULLET: Final = re.compile(r"^[ \t]*[*•‣▪◦·](?=[ \t]+\w)", re.MULTILINE)
REFERENCE: Final = re.compile(r"(?<=[\w.,;:!?…»”\"')\]])\[\d{1,3}\]")
SOFT_HYPHEN: Final = re.compile("\u00ad\\s*\n\\s*|\u00ad")
CONTROL: Final = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u200b\u2060\ufeff\ud800-\udfff]")
"""Includes surrogates; excludes controls that are white space, and the joiners U+200C and U+200D, which belong to the
spelling in many scripts."""
WHITE: Final = re.compile(r"(?! (?!\s))\s+")
"""White space other than a single space."""

DIVIDED: Final = regex.compile(r"(?<!\w)(?P<before>[^\W\d_]++)[-‐¬](?P<gap>[ \t]*\r?[\n\r]\s*)(?P<after>[^\W\d_]+)")
"""A word, a hyphen at the end of a line, and the first word of the next line."""
WORD: Final = re.compile(r"[^\W\d_]+(?:[-‐][^\W\d_]+)*")
COMMON: Final = 5.5
"""Zipf frequency from which the second part is a word by itself, as in German ``Haus-\\nund Gartenarbeit``."""


def clean(text: TextWithOffsets, counts: DropCounts, place: str, *, markup: bool = True) -> TextWithOffsets:
    """The text in NFC with visible characters and single spaces only; ``counts`` counts every removal at a place.

    Without ``markup`` it has no tags, character references and wiki markup.
    """
    if markup:
        text = _without_markup(text, counts, place)
    for reason, pattern in (("soft-hyphen", SOFT_HYPHEN), ("control-character", CONTROL)):
        text, n = text.sub(pattern, "")
        counts.add(reason, place, n)
    text, _ = text.sub(WHITE, " ")
    text, n = text.stripped().composed()
    counts.add("not-nfc", place, n)
    return text


def _without_markup(text: TextWithOffsets, counts: DropCounts, place: str) -> TextWithOffsets:
    text, n = text.sub(BULLET, "")
    counts.add("bullet", place, n)
    if "<" in text.text:
        for pattern, by in ((HIDDEN, " "), (BREAKING, " "), (TAG, "")):
            text, n = text.sub(pattern, by)
            counts.add("tag", place, n)
    if "&" in text.text:
        text, n = text.sub(ENTITY, lambda match: html.unescape(match[0]))
        unknown = sum(html.unescape(reference) == reference for reference in ENTITY.findall(text.text))
        counts.add("entity", place, n - unknown)
    if "[" in text.text or "''" in text.text or "{" in text.text:
        for reason, pattern in (("wiki-markup", WIKI), ("wiki-markup", LINK), ("reference-mark", REFERENCE)):
            if pattern is not LINK or "[[" in text.text:
                text, n = text.sub(pattern, "")
                counts.add(reason, place, n)
    return text


@dataclass(frozen=True)
class LineEndHyphens:
    """Decides for a document what each hyphen at the end of a line is; ``lang`` may be empty."""

    source: str
    lang: str = ""

    def edits(self, text: str) -> list[tuple[int, int, str]]:
        """What to delete in a part of the document: hyphens and line ends inside words, as edits of the text."""
        edits = []
        for match in DIVIDED.finditer(text):
            before, after = match["before"], match["after"]
            hyphen, end = match.end("before"), match.start("after")
            if not after[0].islower():
                if f"{before}-{after}".lower() in self._words:
                    edits.append((hyphen + 1, end, ""))
            elif self._is_one_word(before, after):
                edits.append((hyphen, end, ""))
            elif not self._is_common(after):
                edits.append((hyphen + 1, end, ""))
        return edits

    def _is_one_word(self, before: str, after: str) -> bool:
        """Whether the word is written without the hyphen when it is not divided."""
        closed, hyphenated = (before + after).lower(), f"{before}-{after}".lower()
        if self._words[closed] or self._words[hyphenated]:
            return self._words[closed] >= self._words[hyphenated]
        if self._has_frequencies and zipf_frequency(closed, self.lang) > 0:
            return True
        return not self._is_common(after)

    def _is_common(self, word: str) -> bool:
        """Whether it is a frequent word: then the hyphen before it stands for a part that is not repeated."""
        return self._has_frequencies and zipf_frequency(word.lower(), self.lang) >= COMMON

    @cached_property
    def _has_frequencies(self) -> bool:
        return self.lang in available_languages()

    @cached_property
    def _words(self) -> Counter[str]:
        """The words of the document with their counts, including those with a hyphen inside a line."""
        return Counter(word.replace("‐", "-").lower() for word in WORD.findall(self.source))
