"""Divides plain text into clean paragraphs and headings, and removes what is not running text.

The lines of a text (``lines_of``) are divided into blocks, without boilerplate, Markdown (``markdown_lines``), page
numbers and running heads (``page_lines``). Then it is decided what the lines are: parts of wrapped paragraphs,
sentences, or paragraphs (``line_kind``), and which blocks are headings. Each paragraph is cleaned (``clean``): words
divided by hyphens, markup, character references, invisible characters, Unicode normalisation.
"""

import html
import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, groupby, pairwise, takewhile, zip_longest
from typing import Final, Literal

import msgspec
import regex
from lxml.html.defs import tags
from msgspec.structs import replace

from discoprobe.loaders.languages.word_lists import zipf
from discoprobe.loaders.raw.document import (
    DropCounts,
    Paragraph,
    RawDocument,
    ReadOptions,
    TextWithOffsets,
    with_gaps,
)

_ELEMENTS: Final = "|".join(sorted(tags | {"main", "picture", "ref", "nowiki", "gallery", "poem"}))
"""Elements of HTML, two that `lxml` does not list, and those of MediaWiki texts."""
_ATTRIBUTE: Final = r"""\s+[A-Za-z_:@][\w:.-]*\s*=\s*(?:"[^"<]*"|'[^'<]*'|[^\s"'<>=`]+)"""
_BRACES: Final = r"(?:[^{}]++|\{(?:[^{}]++|\{(?:[^{}]++|\{[^{}]*+\})*+\})*+\})*+"


_Rule = tuple[str, str, re.Pattern[str], str | Callable[[re.Match[str]], str]]
"""The reason that is counted, a text that every match contains (for speed), the pattern, and its replacement."""

# In Python 3.11.2, `re` has a bug: it finds no match for a possessive quantifier around a group. `regex` does.
_ADDRESS: Final = r"(?:[^()\s]|\([^()\s]*\))*(?:\s\"[^\"]*\")?"
_RULES: Final[tuple[_Rule, ...]] = (
    ("bullet", "", re.compile(r"^[ \t]*[*•‣▪◦·](?=[ \t]+\w)", re.MULTILINE), ""),
    ("tag", "<", regex.compile(
        r"(?is)<!--(?:(?!-->|<!--).)*+-->|<!DOCTYPE\b[^<>]*>|<(script|style)\b[^<>]*>(?:(?!</?\1).)*+</\1\s*>"), " "),
    ("tag", "<", re.compile(r"(?i)<(?:br|hr|/?p|/?div|/?li|/?td|/?th|/?tr|/?h[1-6])\b(?:[^<>]*)>"), " "),
    ("tag", "<", re.compile(rf"(?i)</?(?:{_ELEMENTS})(?:{_ATTRIBUTE})*\s*/?>"), ""),
    ("entity", "&", re.compile(r"&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});"),
          lambda reference: html.unescape(reference[0])),
    # The TeX after each formula in texts from Wikipedia, templates, bold and italics, and what encloses a link's words.
    ("wiki-markup", "{", regex.compile(rf"\s*\{{\s*\\(?:display|text)style\b{_BRACES}\}}"), ""),
    ("wiki-markup", "{{", re.compile(r"\{\{[^{}]*\}\}"), ""),
    ("wiki-markup", "''", re.compile(r"'{2,5}"), ""),
    ("wiki-markup", "[[", re.compile(r"\[\[(?:[^\[\]|]*\|)?(?=[^\[\]|]*\]\])|(?<=[^\[\]|])\]\]"), ""),
    # Markdown: pictures, what encloses the words of a link, and bold type
    ("wiki-markup", "](", re.compile(r"!\[[^\[\]]*\]\([^()\s]*(?:\s\"[^\"]*\")?\)"), ""),
    ("wiki-markup", "](", re.compile(
        rf"\[(?=[^\[\]]+\]\({_ADDRESS}\))|(?<=[^\[\]])\]\({_ADDRESS}\)"), ""),
    ("wiki-markup", "**", re.compile(r"\*\*(?=[^\s*])|(?<=[^\s*])\*\*"), ""),
    ("reference-mark", "[", re.compile(r"(?<=[\w.,;:!?…»”\"')\]])\[\d{1,3}\]"), ""),
    ("soft-hyphen", "\u00ad", re.compile("\u00ad\\s*\n\\s*|\u00ad"), ""),
    # Surrogates too; neither controls that are white space nor the joiners U+200C and U+200D, which many scripts need.
    ("control-character", "", re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u200b\u2060\ufeff\ud800-\udfff]"), ""),
)  # fmt: skip
_WHITE: Final = re.compile(r"(?! (?!\s))\s+")
"""White space other than a single space."""

_DIVIDED: Final = regex.compile(r"(?<!\w)(?P<before>[^\W\d_]++)[-‐¬](?P<gap>[ \t]*\r?[\n\r]\s*)(?P<after>[^\W\d_]+)")
"""A word, a hyphen at the end of a line, and the first word of the next line."""
_WORD: Final = re.compile(r"[^\W\d_]+(?:[-‐][^\W\d_]+)*")
_COMMON: Final = 5.5
"""Zipf frequency from which the second part is a separate word, as in German ``Haus-\\nund Gartenarbeit``."""

LineKind = Literal["wrapped", "sentences", "paragraphs"]

_CLOSERS: Final = r"""["'»«›‹“”„’‘)\]}」』）*_]*"""
FINAL: Final = re.compile(rf"[.!?…:;。．！？：；।॥؟۔։።፧]\s*{_CLOSERS}\s*$")
"""The end of a line at which a sentence ends, or that introduces a list."""
INNER: Final = re.compile(
    rf"(?:(?<=\w\w\w)[.!?…।؟۔።]{_CLOSERS}\s+[\"«„“”‘»›¿¡(\[–—-]*|[。！？]{_CLOSERS})(?P<next>[^\W\d_])"
)
"""The end of a sentence inside a line, unless ``next`` is a small letter; short abbreviations do not match."""
HEADING: Final = re.compile(r"(?P<mark>={1,6}|#{1,6}(?=\s))\s*(?P<title>[^\s=](?:.*[^\s=#])?)")
"""A heading in wiki markup or Markdown: ``== Title ==``, also without the signs at the end, ``## Title``."""

EVIDENCE: Final = 3
"""Least number of lines, not counting the last of each block, from which `line_kind` decides."""
ENDING: Final = 0.9
"""Lines are sentences or paragraphs if at least this share of them end a sentence.

In 233 articles of Klexikon and the German Wikipedia with a sentence per line the share is at least 0.92.
"""
SEVERAL: Final = 0.2
"""Such lines are paragraphs if more than this share of them have several sentences; at most 0.17 in those articles."""

MARKDOWN: Final = re.compile(
    r"""^(?:
      (?P<code> (`{3,}(?!`)|~{3,}(?!~)) .*\n (?s:.*?) \2 .*)
    | (?P<formula> \$\$ (?s:.*?) \$\$ .* | \\\[ (?s:.*?) \\\] .* | \$[^$\n]+\$[.,;]?$ | \\\(.+\\\)[.,;]?$ | \\begin\{.*)
    | (?P<table> \|.*\|.* | \|?[^\S\n]*:?-{2,}:?[^\S\n]*(?:\|[^\S\n]*:?-{2,}:?[^\S\n]*)+\|?$)
    | (?P<heading> \#{1,6}[^\S\n]+\S)
    | (?P<front> \A---\n (?:[\w-]+:.*\n)+ ---$)
    )""",
    re.MULTILINE | re.VERBOSE,
)
"""Code between fences; a formula on lines of its own; a row of a table, or the line under its head; a heading; what a
file says of itself at its beginning."""
ITEM: Final = re.compile(r"(?:[-*+•]|\d{1,3}[.)])\s+\S")

LAYOUT: Final = 3
"""Least number of lines that follow each other and are a mail header, a list or a chat by their layout."""
FIELD: Final = regex.compile(r"\p{L}[\p{L}\p{M} -]{0,24}:(?:\s+\S|$)|From \S+@\S+\s")
"""A line of a mail header, in any language: ``From: …``, ``Betreff: …``; or before one, in a file of several mails."""
REPLY: Final = re.compile(r">+(?:\s|$)")
"""A line of the mail that is answered."""
SIGNATURE_LINES: Final = 12
"""Most lines after ``--`` that are a signature."""
RULE: Final = re.compile(r"([-_=*~#])\1{3,}(?:.*\1{4,})?$")
"""A line drawn between parts of a text, maybe with words inside: ``-----Original Message-----``."""
FOOTER_LINES: Final = 6
"""Most lines after the last drawn line of a mail that are its footer, if one of them has an address."""
GREETING_WORDS: Final = 5
"""Most words in a line of a mail's greeting, or of each line of its closing."""
_TIME: Final = r"\[?(?:\d{1,4}[./-]\d{1,2}[./-]\d{1,4}(?:,?\s+|T))?\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?:\s?[ap]\.?m\.?)?\]?"
TURN: Final = re.compile(
    rf"{_TIME}\s*[-–]?\s*(?:<[^>]{{1,30}}>|[^\s:*<][^:]{{0,30}}:)\s+(?=\S)", re.IGNORECASE,
)  # fmt: skip
"""Time and name before a message of a chat: ``[12:03] Ana:``, ``3/11/26, 12:03 - Ana:``, ``12:03 <ana>``."""
EVENT: Final = re.compile(rf"{_TIME}\s*(?:\*{{1,3}}|-->?|<--?|[-–=]!?-)\s", re.IGNORECASE)
"""A line of a chat that says what happens: ``12:03 * ana has quit``."""

PAGE: Final = re.compile(r"[\[({<|*–—-]{0,2}\s*(?:[^\W\d_]{1,6}\.?\s+)?(?P<number>\d{1,4})\s*[\])}>|*–—-]{0,2}")
"""A line with a page number: ``12``, ``- 12 -``, ``[12]``, ``Seite 12``, ``p. 12``."""
DIGITS: Final = re.compile(r"\d+")
SEQUENCE: Final = 3
"""Least number of lines in a rising sequence of page numbers."""
SKIPPED: Final = 3
"""Largest difference between successive page numbers (title pages and plates have none)."""
REACH: Final = 2
"""Largest distance in lines between a running head and a page number or page break."""
RECURS: Final = 3
"""Least number of times that a running head occurs beside page numbers or page breaks."""

TITLE_CHARACTERS: Final = 80
TITLE_WORDS: Final = 12
"""A block of one line may be a heading if it has at most this many characters and words."""
INTRODUCTION_WORDS: Final = 6
"""A block of one line that ends with a colon introduces a list if it has at most this many words, and no speech
follows."""
SPEECH: Final = regex.compile(r"[\p{Pi}\p{Pf}\"„‚「『¿¡—―–]|\p{Pd}(?!\s)")
"""How a line begins that is direct speech: with a mark of quotation or a dash. A hyphen and a space begin an item."""
PROSE: Final = 2 / 3
"""Short blocks that do not end with a sentence are headings only if at least this share of all blocks end with one."""
PAGES: Final = frozenset({"page-number", "running-head"})
"""Reasons for removing lines that belong to the page: a sentence may continue after them."""


class Line(msgspec.Struct, frozen=True):
    """A line without white space at its ends, and where it begins in the source; a blank line is empty."""

    start: int
    text: str
    page_break: bool  # a form feed is in it, or in blank lines before it
    indented: bool


def row_document(
    row: RawDocument, options: ReadOptions, counts: DropCounts, boilerplate: Collection[str] = frozenset()
) -> RawDocument:
    """The document of a row without the lines in ``boilerplate``; ``counts`` counts what is removed.

    If there are marked headings, paragraphs have the numbers of their sections. If the text begins with a heading of a
    higher level than all others (``# Title``), that heading begins no section.
    """
    read = row.paragraphs or _divide(row, options, counts, boilerplate)
    cleaned = (clean for paragraph in read for clean in _clean_paragraph(row, paragraph, options.lang, counts))
    paragraphs = list(with_gaps(cleaned))
    levels = [paragraph.level for paragraph in paragraphs]
    has_title = any(levels[:1]) and all(levels[0] < level for level in levels[1:] if level)  # it begins no section
    if sum(map(bool, levels)) > has_title:
        sections = zip(paragraphs, accumulate(map(bool, levels)), strict=True)
        paragraphs = [replace(paragraph, section=number - has_title) for paragraph, number in sections]
    return replace(row, paragraphs=tuple(paragraphs))


def _clean_paragraph(
    row: RawDocument, paragraph: Paragraph, lang: str, counts: DropCounts
) -> Iterator[Paragraph | None]:
    """A paragraph cleaned, or several of it if it has empty sentences; None for each gap.

    In plain text divided words are joined, and a line that has only markup is ignored.
    """
    is_plain, spans = not row.paragraphs, paragraph.sentences
    if paragraph.gap:
        yield None
    if spans is None:
        edits = hyphen_edits(paragraph.text, row.source_text, lang) if is_plain else []
        counts.add("line-hyphen", row.source, len(edits))
        texts = [paragraph.content.edited(edits)]
    else:
        texts = [paragraph.content.cut(start, end) for start, end in spans]
    cleaned = [clean(text, counts, row.source) for text in texts]
    if is_plain or spans is None:
        cleaned = [text for text in cleaned if text.text]
    for is_filled, group in groupby(cleaned, lambda text: bool(text.text)):
        sentences = list(group)
        if is_filled:
            text, places = TextWithOffsets.joined(sentences)
            yield replace(paragraph, content=text, sentences=None if spans is None else tuple(places), gap=False)
        else:
            counts.add("empty-segment", row.source, len(sentences))
            yield None


def _divide(
    row: RawDocument, options: ReadOptions, counts: DropCounts, boilerplate: Collection[str]
) -> Iterator[Paragraph]:
    """The paragraphs and headings of plain text."""
    lines = lines_of(row.source_text)
    turns = chat_turns(lines)
    for i, line in turns.items():
        lines[i] = line
    counts.add("chat-prefix", row.source, len(turns))
    filled = [i for i, line in enumerate(lines) if line.text]
    reasons = {i: "boilerplate" for i in filled if lines[i].text in boilerplate}
    reasons |= laid_out_lines(lines) | markdown_lines(lines)
    reasons |= {filled[i]: reason for i, reason in page_lines([lines[i] for i in filled]).items()}
    for reason in reasons.values():
        counts.add(reason, row.source)
    blocks: list[tuple[list[Line], bool]] = []  # lines that belong together, and whether text was removed before them
    between: set[str] = set()  # why lines since the last one are left out; empty for a blank line
    for i, line in enumerate(lines):
        if i in reasons or not line.text:
            between.add(reasons.get(i, ""))
            continue
        gap = not between <= {"", *PAGES}
        # A block ends at a blank or removed line, but not inside a sentence that a page break interrupts.
        before = blocks[-1][0] if blocks else []
        interrupted = before and PAGES & between and is_interrupted(before[-1].text, line.text)
        marked = any(HEADING.match(each.text) for each in (*before[:1], line))
        if before and not (gap or marked) and (interrupted or not between):
            before.append(line)
        else:
            blocks.append(([line], gap))
        between = set()
    bodies = [block for block, _ in blocks if not HEADING.match(block[0].text)]
    kind = options.lines
    if kind == "auto" and turns:
        kind = "paragraphs"
    if kind == "auto":
        kind = line_kind([[line.text for line in body] for body in bodies])
    titles = _titles(bodies, lines[filled[0]] if filled else None)
    for block, gap in blocks:
        texts = [TextWithOffsets(line.text, line.start) for line in block]
        is_title = block[0] in titles
        if match := HEADING.match(block[0].text):
            title_text = texts[0].cut(*match.span("title"))
            yield Paragraph(title_text, "heading", gap=gap, level=len(match["mark"]))
        elif kind == "paragraphs" and not is_title:
            for number, text in enumerate(texts):
                yield Paragraph(text, gap=gap and not number)
        else:
            text, spans = TextWithOffsets.joined(texts, "\n")
            sentences = tuple(spans) if kind == "sentences" and not is_title else None
            yield Paragraph(text, "heading" if is_title else "text", sentences, gap=gap)


def _titles(blocks: Sequence[Sequence[Line]], first: Line | None) -> Collection[Line]:
    """The headings: blocks of one short line that does not end a sentence, or that introduces a list (``PROSE``).

    The first line of the text may be of any length. A line that introduces speech (*Luego dijo:*) is no heading.
    """
    if sum(is_final(block[-1].text) for block in blocks) < PROSE * len(blocks):
        return ()
    titles = set()
    for block, after in zip_longest(blocks, blocks[1:]):
        line, announces = block[0].text, block[0].text.endswith(":")
        words = INTRODUCTION_WORDS if announces else TITLE_WORDS
        short = len(line) <= TITLE_CHARACTERS and len(line.split()) <= words
        speech = announces and after is not None and SPEECH.match(after[0].text) is not None
        opens = (short and announces and not speech) or ((short or block[0] is first) and not is_final(line))
        if len(block) == 1 and opens:
            titles.add(block[0])
    return titles


def lines_of(source: str) -> list[Line]:
    r"""The lines of a text including blank ones; ``\n``, ``\r\n`` and, in a text without ``\n``, ``\r`` end a line."""
    lines = []
    at, page_break = 0, False
    for line in source.split("\n" if "\n" in source else "\r"):
        text = line.strip()
        page_break |= "\f" in line
        start = at + len(line) - len(line.lstrip())
        lines.append(Line(start, text, page_break, line[:1].isspace()))
        at += len(line) + 1
        page_break &= not text
    return lines


def is_final(text: str) -> bool:
    """Whether a sentence ends at the end of a line."""
    return FINAL.search(text[-20:]) is not None


def inner_sentences(text: str) -> list[int]:
    """Where sentences begin inside a line, by punctuation; empty for a line with one sentence."""
    return [match.start("next") for match in INNER.finditer(text) if not match["next"].islower()]


def line_kind(blocks: Sequence[Sequence[str]]) -> LineKind:
    """What lines are: parts of wrapped paragraphs, sentences or paragraphs. The last line of a block is not considered.

    They are parts of wrapped paragraphs unless nearly all of them end a sentence; then each is a sentence, or a
    paragraph if many have several sentences. If there are too few lines, they are parts of wrapped paragraphs.
    """
    followed = [line for block in blocks for line in block[:-1]]
    if len(followed) < EVIDENCE or sum(map(is_final, followed)) < ENDING * len(followed):
        return "wrapped"
    several = sum(bool(inner_sentences(line)) for line in followed)
    return "paragraphs" if several > SEVERAL * len(followed) else "sentences"


def markdown_lines(lines: Sequence[Line]) -> dict[int, str]:
    """The lines of Markdown to remove: index of the line → ``code``, ``formula``, ``table`` or ``list``.

    Lists are removed only in a text with headings, tables, formulas or code of Markdown, since a turn of a dialogue
    begins like an item of a list. There, items are a list if several follow each other, or if one does not end a
    sentence.
    """
    matches = list(MARKDOWN.finditer("\n".join(line.text for line in lines)))
    if not matches:
        return {}
    starts = list(accumulate((len(line.text) + 1 for line in lines), initial=0))
    reasons: dict[int, str] = {}
    for match in matches:
        if match.lastgroup != "heading":
            kind = "code" if match.lastgroup == "front" else match.lastgroup or ""
            first, end = (bisect_right(starts, at) for at in (match.start(), match.end() - 1))
            reasons |= dict.fromkeys(range(first - 1, end), kind)
    marked = [*(ITEM.match(line.text) is not None for line in lines), False]
    inside = False
    for i, line in enumerate(lines):
        continues = inside and bool(line.text) and line.indented
        inside = continues or (marked[i] and (inside or marked[i + 1] or not is_final(line.text)))
        if inside:
            reasons[i] = "list"
    return reasons


def laid_out_lines(lines: Sequence[Line]) -> dict[int, str]:
    """The lines that are no running text by their layout: index → the reason to remove the line.

    That are the header, the answered text and the signature of a mail, and lists: items that follow each other and
    mostly end no sentence, while the turns of a dialogue do.
    """
    reasons: dict[int, str] = {}
    texts = [line.text for line in lines]
    reasons |= {i: "no-letters" for i, text in enumerate(texts) if RULE.match(text)}
    fields = [FIELD.match(text) is not None for text in texts]
    for i in range(1, len(texts)):  # a field goes on in an indented line
        fields[i] |= fields[i - 1] and bool(texts[i]) and lines[i].indented
    for is_field, group in groupby(range(len(texts)), lambda i: fields[i]):
        places = [*group]
        opens = not places[0] or not texts[places[0] - 1] or places[0] - 1 in reasons
        if is_field and opens and len(places) >= LAYOUT and any("@" in texts[i] for i in places):
            reasons |= dict.fromkeys(places, "mail-header")
    for is_item, group in groupby(range(len(texts)), lambda i: ITEM.match(texts[i]) is not None):
        places = [*group]
        if is_item and len(places) >= LAYOUT and sum(is_final(texts[i]) for i in places) * 2 < len(places):
            reasons |= dict.fromkeys(places, "list")
    replies = [i for i, text in enumerate(texts) if REPLY.match(text)]
    if len(replies) > 1 or reasons:
        filled = [i for i, text in enumerate(texts) if text]
        wrote = [i for i, after in pairwise(filled) if after in {*replies} - {i} and texts[i].endswith(":")]
        reasons |= dict.fromkeys([*replies, *wrote], "reply")  # and who wrote it: ``On Monday, Ana wrote:``
    if "mail-header" in reasons.values():
        first = next((i for i, text in enumerate(texts) if text and i not in reasons), len(texts) - 1)
        alone = not "".join(texts[first + 1 : first + 2])
        if alone and not is_final(texts[first]) and len(texts[first].split()) <= GREETING_WORDS:
            reasons[first] = "mail-header"  # the greeting
    return reasons | _end_of_mail(texts, is_mail="mail-header" in reasons.values())


def _end_of_mail(texts: Sequence[str], *, is_mail: bool) -> dict[int, str]:
    """The lines of the signature of a mail; with ``is_mail`` also of its closing and footer."""
    filled = [i for i, text in enumerate(texts) if text]
    last = max((i for i, text in enumerate(texts) if text == "--"), default=len(texts))
    signed = [i for i in filled if i >= last]
    if len(signed) > SIGNATURE_LINES:  # a footer follows: the signature ends at a blank or drawn line
        ends = next((i for i in range(last, len(texts)) if not texts[i] or RULE.match(texts[i])), len(texts))
        signed = [i for i in signed if i < ends and ends - last <= SIGNATURE_LINES]
    drawn = max((i for i in filled if RULE.match(texts[i])), default=len(texts))
    footer = [i for i in filled if i > drawn]
    if is_mail and len(footer) <= FOOTER_LINES and any("@" in texts[i] or "://" in texts[i] for i in footer):
        signed += footer
    if is_mail:
        rest = [i for i in filled if i not in signed and not RULE.match(texts[i])]
        closing = [*takewhile(lambda i: texts[i] and not is_final(texts[i]), range(rest[-1], -1, -1))] if rest else []
        short = all(len(texts[i].split()) <= GREETING_WORDS for i in closing)
        signed += closing if short and len(closing) < GREETING_WORDS and closing[-1:] and closing[-1] > 0 else []
    return dict.fromkeys(signed, "signature")


def chat_turns(lines: Sequence[Line]) -> dict[int, Line]:
    """The messages of a chat without time and name, by line; empty unless most lines of the text are messages."""
    found = {i: match.end() for i, line in enumerate(lines) if (match := TURN.match(line.text))}
    found |= {i: len(line.text) for i, line in enumerate(lines) if EVENT.match(line.text)}
    if len(found) < LAYOUT or len(found) * 2 < sum(bool(line.text) for line in lines):
        return {}
    return {i: replace(lines[i], start=lines[i].start + end, text=lines[i].text[end:]) for i, end in found.items()}


def page_lines(lines: Sequence[Line]) -> dict[int, str]:
    """The page numbers and running heads among the lines that are not blank: index → the reason to remove the line.

    Numbers on lines by themselves are page numbers if they count up, and if one of them interrupts a sentence or is
    next to a form feed; numbers between complete paragraphs are headings of chapters. A running head recurs beside page
    numbers or form feeds, with the same digits or others.
    """
    matches = ((i, PAGE.fullmatch(line.text)) for i, line in enumerate(lines))
    numbers = _rising_sequences({i: int(match["number"]) for i, match in matches if match})
    is_next_to_break = any(line.page_break for i in numbers for line in lines[i : i + 2])
    is_inside_sentence = any(
        0 < i < len(lines) - 1 and is_interrupted(lines[i - 1].text, lines[i + 1].text) for i in numbers
    )
    pages = dict.fromkeys(numbers, "page-number") if is_next_to_break or is_inside_sentence else {}
    breaks = [i for i, line in enumerate(lines) if line.page_break or i in pages]
    beside = {i for at in breaks for i in range(max(0, at - REACH), min(len(lines), at + REACH + 1))}
    heads = [i for i in sorted(beside - pages.keys()) if not lines[i].text[0].islower()]
    masked = [DIGITS.sub("0", line.text).casefold() for line in lines] if heads else []
    total, recurring = Counter(masked), Counter(masked[i] for i in heads)
    for i in heads:
        n = recurring[masked[i]]
        if n >= RECURS and n * 2 > total[masked[i]] and any(map(str.isalpha, masked[i])):
            pages[i] = "running-head"
    return pages


def is_interrupted(before: str, after: str) -> bool:
    """Whether a sentence continues from one line to another."""
    first = next((letter for letter in after if letter.isalpha()), "")
    return not is_final(before) and (first.islower() or before.endswith(("-", ",")))


def _rising_sequences(numbers: Mapping[int, int]) -> list[int]:
    """The lines of rising sequences of at least ``SEQUENCE`` numbers; ``numbers`` maps lines to their numbers."""
    sequence: dict[int, int] = {}  # line → the first line of its sequence
    ending_with: dict[int, int] = {}  # number → the first line of the last sequence that ends with it
    for i, number in numbers.items():
        before = next((number - step for step in range(1, SKIPPED + 1) if number - step in ending_with), None)
        sequence[i] = ending_with[number] = i if before is None else ending_with.pop(before)
    sizes = Counter(sequence.values())
    return [i for i, first in sequence.items() if sizes[first] >= SEQUENCE]


def clean(text: TextWithOffsets, counts: DropCounts, place: str) -> TextWithOffsets:
    """The text in NFC without markup and invisible characters, with single spaces; ``counts`` counts the removals."""
    for reason, signs, pattern, replacement in _RULES:
        if signs in text.text:
            text, n = text.sub(pattern, replacement)
            counts.add(reason, place, n)
    text = text.sub(_WHITE, " ")[0].stripped()
    if not unicodedata.is_normalized("NFC", text.text):
        text, n = text.sub(regex.compile(r"\X"), lambda cluster: unicodedata.normalize("NFC", cluster[0]))
        counts.add("not-nfc", place, n)
    return text


def hyphen_edits(text: str, document: str, lang: str) -> list[tuple[int, int, str]]:
    """The hyphens and line ends that divide words in a part of a document, as edits that delete them.

    The words of the whole document decide, and word frequencies; ``lang`` may be empty.
    """
    if "\n" not in text and "\r" not in text:
        return []
    divided = ((match, _between(match["before"], match["after"], document, lang)) for match in _DIVIDED.finditer(text))
    return [(match.end("before") + len(sign), match.start("after"), "") for match, sign in divided if sign != " "]


def _between(before: str, after: str, document: str, lang: str) -> str:
    """What remains between the two parts of a word: nothing, a hyphen, or a space if they are two words."""
    closed, hyphenated = (before + after).lower(), f"{before}-{after}".lower()
    words = _word_counts(document)
    n_closed, n_hyphenated = words[closed], words[hyphenated]
    if not after[0].islower():
        return "-" if n_hyphenated else " "
    is_common = zipf(after.lower(), lang) >= _COMMON  # then the hyphen stands for a part that is not repeated
    if n_closed or n_hyphenated:
        return "" if n_closed >= n_hyphenated else " " if is_common else "-"
    return " " if is_common and not zipf(closed, lang) else ""


@lru_cache(maxsize=1)
def _word_counts(document: str) -> Counter[str]:
    """The words of a document with their counts, including those with a hyphen inside a line."""
    return Counter(word.replace("‐", "-").lower() for word in _WORD.findall(document))
