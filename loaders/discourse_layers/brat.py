"""Coreference in the standoff format of brat (``.ann``, https://brat.nlplab.org/standoff.html): fr-litbank, NARC.

Beside it is the text (``.txt``), a document. A line ``T1 → PER 0 19 → …`` (→ is a tab) is a mention: its type, and the
characters where it begins and ends, of several parts if it has gaps (``0 5;10 15``). Mentions that a relation of a type
with ``coref`` in its name joins (``R1 → Coreference Arg1:T1 Arg2:T2``), or a line of the type ``Equiv``, have one
entity. Other annotation is not read. A line of the text is a paragraph. Its sentences are found by rules; a boundary
inside a mention is none. A mention that does not end in its paragraph is left out.

If the text is tokenised, its words are between blanks, a sentence ends after a word that is a mark, and the blanks of
its sentences are set by rule (`conllu`); a mention whose edge is inside a word is left out.

`read_sacr` reads the same from files of SACR (``.sacr``, https://boberle.com/projects/sacr/), which have mentions in
their text: ``{Anne:EN="p PER" Anne} rit`` is one of the entity *Anne* and of the type PER, the last word of its first
property.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, chain, pairwise
from typing import Final

from discoprobe.loaders.corpus import Mention, Word
from discoprobe.loaders.discourse_layers.mentions import Annotated, conllu, entities, malformed, sentence_lines
from discoprobe.loaders.errors import CorpusFormatError
from discoprobe.loaders.languages.language import language_data
from discoprobe.loaders.languages.spacing import Spacing, is_spaced_out
from discoprobe.loaders.words import word_spans

Span = tuple[int, int]
FindSentences = Callable[[str, str], Sequence[Span]]
"""The spans of the sentences of a paragraph in a language."""

OTHERS: Final = "EAMN#*"
"""How lines begin that are not read."""
SPAN: Final = re.compile(r"(\d+) (\d+)")
TEXT_BOUND: Final = re.compile(r"(T\d+)\t(\S+) (\d+ \d+(?:;\d+ \d+)*)(?:\t.*)?")
RELATION: Final = re.compile(r"R\d+\t(\S+) \S+:(T\d+) \S+:(T\d+)\s*")
EQUIVALENT: Final = re.compile(r"\*\tEquiv((?: T\d+)+)\s*")
LINE: Final = re.compile(r"[^\r\n]+")
LINE_END: Final = re.compile(r"[\r\n]")
WORD: Final = re.compile(r"\S+")
MARK: Final = re.compile(r"(?<!\S)[^\s\w]+\s*\Z")
"""A word of marks alone, with the blanks after it, at the end of a part of a text."""
ELIDED: Final = re.compile(r"(?<=\w)['’](?=\w)")
SACR_MARK: Final = re.compile(r"\{([^\s{}:]+):(?:[\w-]+=\"([^\"]*)\")?(?:,\s*[\w-]+=\"[^\"]*\")* ?|[{}]")
"""Where a mention begins (its entity, its first property) or ends, or a bracket that is neither."""
SACR_NOTE: Final = re.compile(r"(?m)^#[A-Z-]+:.*$")
"""Lines about how a file is shown."""
ANY_MENTION: Final = "mention"
ANY: Final = frozenset({"entity", "markable", ANY_MENTION, "np"})
"""Types, in small letters, that say no more than that a span is a mention."""


_Marked = tuple[str, str, list[Span]]
"""A mention by its characters: its entity, its type, its parts."""


def read_brat(data: bytes, text: str, stem: str, lang: str, find: FindSentences) -> Annotated:
    """The document of a text as CoNLL-U, and its mentions.

    Args:
        data: the annotation.
        text: the text, with the line ends of its file.
        stem: the name of the file without suffix: the document.
        lang: the code of the language.
        find: finds the sentences of a paragraph.
    """
    marked, problems = _read_lines(data, text)
    return _annotated(text, marked, problems, stem, lang, find)


def read_sacr(data: bytes, stem: str, lang: str, find: FindSentences) -> Annotated:
    """The document of a file of SACR as CoNLL-U, and its mentions; the arguments are those of `read_brat`."""
    source = SACR_NOTE.sub("", data.decode(errors="replace"))
    marked: list[_Marked] = []
    opened: list[tuple[re.Match[str], int]] = []
    wrong: dict[int, str] = {}
    text, at = "", 0
    for mark in SACR_MARK.finditer(source):
        text += source[at : mark.start()]
        at = mark.end()
        if mark[1]:
            opened.append((mark, len(text)))
        elif mark[0] == "}" and opened:
            begun, start = opened.pop()
            start, end = _trimmed(text, start, len(text))
            if start < end:
                marked.append((begun[1], (begun[2] or ANY_MENTION).rpartition(" ")[2], [(start, end)]))
        else:
            wrong[mark.start()] = f'{mark[0]} belongs to no mention ({{Anne:EN="p PER" Anne}})'
    text += source[at:]
    wrong |= {begun.start(): f"{{{begun[1]}: opens a mention that no }} closes" for begun, _ in opened}
    problems = [malformed(source.count("\n", 0, place) + 1, wrong[place]) for place in sorted(wrong)]
    return _annotated(text, marked, problems, stem, lang, find)


def _annotated(  # noqa: PLR0913, PLR0917 (what both formats say of a document)
    text: str,
    marked: Sequence[_Marked],
    problems: list[CorpusFormatError],
    stem: str,
    lang: str,
    find_sentences: FindSentences,
) -> Annotated:
    """A document as CoNLL-U, and its mentions, from its text and the places of the mentions."""
    edges = sorted({edge for *_, parts in marked for part in parts for edge in part})
    language = language_data(lang)
    elides, tokenised = language.section(Spacing).elides, is_spaced_out(text, language)
    ordered = sorted(marked, key=lambda mention: mention[2][0])
    in_line = [mention for mention in ordered if not LINE_END.search(text, mention[2][0][0], mention[2][-1][1])]
    if tokenised:
        of_words = {edge for word in WORD.finditer(text) for edge in word.span()}
        in_line = [mention for mention in in_line if of_words.issuperset(chain.from_iterable(mention[2]))]
    starts = [parts[0][0] for *_, parts in in_line]
    reach = [0, *accumulate((parts[-1][1] for *_, parts in in_line), max)]

    def is_inside(first: int, boundary: int) -> bool:
        in_mention = reach[bisect_left(starts, boundary)] > boundary
        return in_mention or (tokenised and not MARK.search(text, first, boundary))

    lines: list[str] = []
    sentences: list[list[Word]] = []
    mentions: list[Mention] = []
    done = 0
    for paragraph in LINE.finditer(text):
        begin = paragraph.start()
        spans = [(begin + start, begin + end) for start, end in find_sentences(paragraph[0], lang)]
        for first, after in _joined(spans, is_inside):
            if tokenised:
                words = [word.span() for word in WORD.finditer(text, first, after)]
            else:
                words = list(_words(text, first, after, edges, elides=elides))
            if words:  # a line of white space has none
                sentences.append([Word(text[start:end]) for start, end in words])
                follows = [*(start for start, _ in words[1:]), -1]
                blanks = [end != following for (_, end), following in zip(words, follows, strict=True)]
                spaced = list(zip(sentences[-1], blanks, strict=True))
                lines.append(sentence_lines(stem, len(sentences), spaced, " ".join(text[first:after].split())))
            while done < len(in_line) and starts[done] < after:
                entity, type_, parts = in_line[done]
                numbers = tuple(n for n, word in enumerate(words, 1) if any(a <= word[0] < b for a, b in parts))
                known = None if type_.lower() in ANY else type_
                mentions.append(Mention(len(sentences), entity, numbers, type=known))
                done += 1
    as_conllu = conllu([(stem, sentences)], language) if tokenised else "".join(lines).encode()
    return as_conllu, mentions, problems


def _read_lines(data: bytes, text: str) -> tuple[list[_Marked], list[CorpusFormatError]]:
    """The mentions of a file, and what is malformed."""
    marked: dict[str, tuple[str, list[Span], int]] = {}  # name → type, parts and line
    joined: list[tuple[str, str, int]] = []
    problems: list[CorpusFormatError] = []
    for number, line in enumerate(data.decode(errors="replace").replace("\r\n", "\n").split("\n"), 1):
        problem = ""
        if line.startswith("T"):
            match = TEXT_BOUND.fullmatch(line)
            parts = [(int(start), int(end)) for start, end in SPAN.findall(match[3])] if match else []
            trimmed = [_trimmed(text, start, end) for start, end in parts if start < end <= len(text)]
            if not match or len(trimmed) < len(parts) or any(start == end for start, end in trimmed):
                problem = f"expected a mention of the text, which has {len(text)} characters (T1\tPER 0 19)"
            elif match[1] in marked:
                problem = f"{match[1]} is in line {marked[match[1]][2]} too; rename one"
            else:
                marked[match[1]] = match[2], sorted(trimmed), number
        elif relation := RELATION.fullmatch(line):
            if "coref" in relation[1].lower():
                joined.append((relation[2], relation[3], number))
        elif equivalent := EQUIVALENT.fullmatch(line):
            joined += [(one, other, number) for one, other in pairwise(equivalent[1].split())]
        elif line.startswith("R"):
            problem = "expected a relation of two mentions (R1\tCoreference Arg1:T1 Arg2:T2)"
        elif line.strip() and line[0] not in OTHERS:
            problem = f"expected a line of brat, which begins with T, R or one of {' '.join(OTHERS)}"
        if problem:
            problems.append(malformed(number, problem))
    for one, other, number in joined:
        absent = [name for name in (one, other) if name not in marked]
        problems += [malformed(number, f"{name} is no mention of the file") for name in absent]
    known = [(one, other) for one, other, _ in joined if one in marked and other in marked]
    entity_of = entities([*marked], known)
    return [(entity_of[name], type_, parts) for name, (type_, parts, _) in marked.items()], problems


def _trimmed(text: str, start: int, end: int) -> Span:
    """A span without the white space at its edges."""
    part = text[start:end]
    return start + len(part) - len(part.lstrip()), start + len(part.rstrip())


def _joined(spans: Sequence[Span], is_inside: Callable[[int, int], bool]) -> Iterator[Span]:
    """Sentences without the boundaries that are inside one.

    Args:
        spans: of the sentences.
        is_inside: whether a boundary is, by the first characters of the sentence before it and of that after it.
    """
    held: Span | None = None
    for start, end in spans:
        if held and not is_inside(held[0], start):
            yield held
            held = None
        held = held[0] if held else start, end
    if held:
        yield held


def _words(text: str, first: int, after: int, edges: Sequence[int], *, elides: bool) -> Iterator[Span]:
    """The words of a sentence, divided at the edges of mentions and, in languages that elide, after an apostrophe."""
    cuts = set(edges[bisect_left(edges, first) : bisect_left(edges, after)])
    cuts |= {match.end() for match in ELIDED.finditer(text, first, after)} if elides else set()
    for start, end in word_spans(text, first, after):
        yield from pairwise([start, *sorted(cut for cut in cuts if start < cut < end), end])
