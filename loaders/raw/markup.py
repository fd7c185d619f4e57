"""Cleans text: markup, character references, invisible characters, Unicode normalisation, words divided by hyphens."""

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import regex
from lxml.html.defs import tags

from discoprobe.loaders.languages.word_frequency import zipf
from discoprobe.loaders.raw.document import DropCounts, TextWithOffsets

_ELEMENTS: Final = "|".join(sorted(tags | {"main", "picture", "ref", "nowiki", "gallery", "poem"}))
"""Elements of HTML, two that `lxml` does not list, and those of MediaWiki texts."""
_ATTRIBUTE: Final = r"""\s+[A-Za-z_:@][\w:.-]*\s*=\s*(?:"[^"<]*"|'[^'<]*'|[^\s"'<>=`]+)"""
_BRACES: Final = r"(?:[^{}]++|\{(?:[^{}]++|\{(?:[^{}]++|\{[^{}]*+\})*+\})*+\})*+"


class _Rule(NamedTuple):
    """The reason that is counted, a text that every match contains (for speed), the pattern, and its replacement."""

    reason: str
    signs: str
    pattern: re.Pattern[str]
    by: str | Callable[[re.Match[str]], str] = ""


# In Python 3.11.2, `re` has a bug: it finds no match for a possessive quantifier around a group. `regex` does.
_RULES: Final = (
    _Rule("bullet", "", re.compile(r"^[ \t]*[*•‣▪◦·](?=[ \t]+\w)", re.MULTILINE)),
    _Rule("tag", "<", regex.compile(
        r"(?is)<!--(?:(?!-->|<!--).)*+-->|<!DOCTYPE\b[^<>]*>|<(script|style)\b[^<>]*>(?:(?!</?\1).)*+</\1\s*>"), " "),
    _Rule("tag", "<", re.compile(r"(?i)<(?:br|hr|/?p|/?div|/?li|/?td|/?th|/?tr|/?h[1-6])\b(?:[^<>]*)>"), " "),
    _Rule("tag", "<", re.compile(rf"(?i)</?(?:{_ELEMENTS})(?:{_ATTRIBUTE})*\s*/?>")),
    _Rule("entity", "&", re.compile(r"&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});"),
          lambda reference: html.unescape(reference[0])),
    # The TeX after each formula in texts from Wikipedia, templates, bold and italics, and what encloses a link's words.
    _Rule("wiki-markup", "{", regex.compile(rf"\s*\{{\s*\\(?:display|text)style\b{_BRACES}\}}")),
    _Rule("wiki-markup", "{{", re.compile(r"\{\{[^{}]*\}\}")),
    _Rule("wiki-markup", "''", re.compile(r"'{2,5}")),
    _Rule("wiki-markup", "[[", re.compile(r"\[\[(?:[^\[\]|]*\|)?(?=[^\[\]|]*\]\])|(?<=[^\[\]|])\]\]")),
    _Rule("reference-mark", "[", re.compile(r"(?<=[\w.,;:!?…»”\"')\]])\[\d{1,3}\]")),
    _Rule("soft-hyphen", "\u00ad", re.compile("\u00ad\\s*\n\\s*|\u00ad")),
    # Surrogates too; neither controls that are white space nor the joiners U+200C and U+200D, which many scripts need.
    _Rule("control-character", "", re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u200b\u2060\ufeff\ud800-\udfff]")),
)  # fmt: skip
_WHITE: Final = re.compile(r"(?! (?!\s))\s+")
"""White space other than a single space."""

_DIVIDED: Final = regex.compile(r"(?<!\w)(?P<before>[^\W\d_]++)[-‐¬](?P<gap>[ \t]*\r?[\n\r]\s*)(?P<after>[^\W\d_]+)")
"""A word, a hyphen at the end of a line, and the first word of the next line."""
_WORD: Final = re.compile(r"[^\W\d_]+(?:[-‐][^\W\d_]+)*")
_COMMON: Final = 5.5
"""Zipf frequency from which the second part is a separate word, as in German ``Haus-\\nund Gartenarbeit``."""


def clean(text: TextWithOffsets, counts: DropCounts, place: str) -> TextWithOffsets:
    """The text in NFC without markup and invisible characters, with single spaces; ``counts`` counts the removals."""
    for rule in _RULES:
        if rule.signs in text.text:
            text, n = text.sub(rule.pattern, rule.by)
            counts.add(rule.reason, place, n)
    text = text.sub(_WHITE, " ")[0].stripped()
    if not unicodedata.is_normalized("NFC", text.text):
        text, n = text.sub(regex.compile(r"\X"), lambda cluster: unicodedata.normalize("NFC", cluster[0]))
        counts.add("not-nfc", place, n)
    return text


@dataclass(frozen=True)
class LineEndHyphens:
    """Removes hyphens that divide a word at the end of a line, by the words of the document and word frequencies.

    ``source`` is the text of the document; ``lang`` may be empty.
    """

    source: str
    lang: str = ""

    def edits(self, text: str) -> list[tuple[int, int, str]]:
        """The hyphens and line ends inside words of a part of the document, as edits that delete them."""
        if "\n" not in text and "\r" not in text:
            return []
        divided = ((match, self._remaining(match["before"], match["after"])) for match in _DIVIDED.finditer(text))
        return [(match.end("before") + len(sign), match.start("after"), "") for match, sign in divided if sign != " "]

    def _remaining(self, before: str, after: str) -> str:
        """What remains between the two parts: nothing, a hyphen, or a space if they are two words."""
        closed, hyphenated = (before + after).lower(), f"{before}-{after}".lower()
        n_closed, n_hyphenated = self._words[closed], self._words[hyphenated]
        if not after[0].islower():
            return "-" if n_hyphenated else " "
        is_common = zipf(after.lower(), self.lang) >= _COMMON  # then the hyphen stands for a part that is not repeated
        if n_closed or n_hyphenated:
            return "" if n_closed >= n_hyphenated else " " if is_common else "-"
        return " " if is_common and not zipf(closed, self.lang) else ""

    @cached_property
    def _words(self) -> Counter[str]:
        """The words of the document with their counts, including those with a hyphen inside a line."""
        return Counter(word.replace("‐", "-").lower() for word in _WORD.findall(self.source))
