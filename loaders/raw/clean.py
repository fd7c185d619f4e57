"""Cleaning a stretch of text: markup, character references, invisible characters, composed letters, white space."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from discoprobe.loaders.raw.counts import Counts
    from discoprobe.loaders.raw.tracked import Tracked

_ELEMENTS: Final = (
    "a|abbr|acronym|address|article|aside|audio|b|big|blockquote|body|br|button|caption|center|cite|code|col|colgroup|"
    "dd|del|details|dfn|div|dl|dt|em|embed|fieldset|figcaption|figure|font|footer|form|h[1-6]|head|header|hr|html|i|"
    "iframe|img|input|ins|kbd|label|legend|li|link|main|mark|meta|nav|noscript|object|ol|optgroup|option|p|param|picture|"
    "pre|q|s|samp|section|select|small|source|span|strike|strong|sub|summary|sup|svg|table|tbody|td|textarea|tfoot|th|"
    "thead|time|title|tr|tt|u|ul|var|video|wbr|ref|nowiki|gallery|poem"
)
"""Elements of HTML, and those of MediaWiki texts."""
_ATTRIBUTE: Final = r"""\s+[A-Za-z_:@][\w:.-]*\s*=\s*(?:"[^"<]*"|'[^'<]*'|[^\s"'<>=`]+)"""

HIDDEN: Final = re.compile(
    r"<!--(?:(?!-->|<!--).)*+-->|<!DOCTYPE\b[^<>]*>|<(script|style)\b[^<>]*>(?:(?!</?\1).)*+</\1\s*>",
    re.DOTALL | re.IGNORECASE,
)
BREAKING: Final = re.compile(r"<(?:br|hr|/?p|/?div|/?li|/?td|/?th|/?tr|/?h[1-6])\b(?:[^<>]*)>", re.IGNORECASE)
TAG: Final = re.compile(rf"</?(?:{_ELEMENTS})(?:{_ATTRIBUTE})*\s*/?>", re.IGNORECASE)
ENTITY: Final = re.compile(r"&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_BRACES: Final = r"(?:[^{}]++|\{(?:[^{}]++|\{(?:[^{}]++|\{[^{}]*+\})*+\})*+\})*+"
WIKI: Final = re.compile(rf"'{{2,5}}|\{{\{{[^{{}}]*\}}\}}|\s*\{{\s*\\(?:display|text)style\b{_BRACES}\}}")
"""Bold and italics, templates, and the TeX that texts of Wikipedia have after each formula."""
LINK: Final = re.compile(r"\[\[(?:[^\[\]|]*\|)?(?=[^\[\]|]*\]\])|(?<=[^\[\]|])\]\]")
"""What stands before and after the words of a link of a wiki."""
BULLET: Final = re.compile(r"^[ \t]*[*•‣▪◦·](?=[ \t]+\w)", re.MULTILINE)
REFERENCE: Final = re.compile(r"(?<=[\w.,;:!?…»”\"')\]])\[\d{1,3}\]")
SOFT_HYPHEN: Final = re.compile("\u00ad\\s*\n\\s*|\u00ad")
CONTROL: Final = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u200b\u2060\ufeff\ud800-\udfff]")
"""Also halves of surrogate pairs; not the controls that are white space, nor the joiners U+200C and U+200D, which are
spelling in many scripts."""
WHITE: Final = re.compile(r"(?! (?!\s))\s+")
"""White space that is not one space."""


def clean(text: Tracked, counts: Counts, place: str, *, markup: bool = True) -> Tracked:
    """The text in NFC with nothing in it but its characters and single spaces.

    Args:
        text: a stretch of a source.
        counts: gets every removal by its reason.
        place: where the text is, for ``counts``.
        markup: whether tags, character references and wiki markup can be there.
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


def _without_markup(text: Tracked, counts: Counts, place: str) -> Tracked:
    text, n = text.sub(BULLET, "")
    counts.add("bullet", place, n)
    if "<" in text.text:
        for pattern, by in ((HIDDEN, " "), (BREAKING, " "), (TAG, "")):
            text, n = text.sub(pattern, by)
            counts.add("tag", place, n)
    if "&" in text.text:
        text, n = text.sub(ENTITY, lambda match: html.unescape(match[0]))
        counts.add("entity", place, n - sum(html.unescape(found) == found for found in ENTITY.findall(text.text)))
    if "[" in text.text or "''" in text.text or "{" in text.text:
        for reason, pattern in (("wiki-markup", WIKI), ("wiki-markup", LINK), ("reference-mark", REFERENCE)):
            if pattern is not LINK or "[[" in text.text:
                text, n = text.sub(pattern, "")
                counts.add(reason, place, n)
    return text
