"""Mentions of entities, from coreference as CorefUD writes it: brackets of ``Entity=`` in MISC.

``# global.Entity`` names the fields of the brackets. Other formats are read as CoNLL-U without brackets (`conllu`) and
a list of mentions.

The first field is the entity (``eid``, or ``GRP`` in GUM). Files whose brackets have no such field mark named entities
only, and are skipped. A mention may have several parts (``e1[1/2]``); one field may give its head. GUM also has fields
for the information status of a mention, how it is linked to its antecedent, and which summaries of the document name
the entity; ``Bridge=`` and ``SplitAnte=`` in MISC link entities (``e1<e2``: e2 can be understood because of e1). If
sentences were divided again after the annotation (Potsdam Commentary Corpus), a mention may continue in the next
sentence; it is left out, and is not an error.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import msgspec

from discoprobe.loaders.conllu.parse import MISSING, sentence_text
from discoprobe.loaders.corpus import Mention, Word
from discoprobe.loaders.errors import CorpusFormatError
from discoprobe.loaders.languages.language import LanguageData
from discoprobe.loaders.languages.spacing import close_up

DECLARED: Final = re.compile(r"#\s*global\.Entity\s*=\s*(.*)")
ENTITY: Final = re.compile(r"(?:^|\|)Entity=([^|]*)")
BRIDGE: Final = re.compile(r"(?:^|\|)Bridge=([^|]*)")
SPLIT: Final = re.compile(r"(?:^|\|)SplitAnte=([^|]*)")
LINK: Final = re.compile(r"([^<,:]+)<([^<,:]+)")
BRACKET: Final = re.compile(r"\(([^()]+)(\))?|([^()]+)\)")
PART: Final = re.compile(r"(.+)\[(\d+)/(\d+)\]")
WORD: Final = re.compile(r"(\d+)(\.\d+)?\t")
"""A word or an empty node; multiword tokens have no brackets."""
HEAD: Final = 6
"""Index of the column HEAD."""


Annotated = tuple[bytes, list[Mention], list[CorpusFormatError]]
"""A file of coreference in another format: its text as CoNLL-U, its mentions, what is malformed in it."""


def malformed(line: int, problem: str, sent_id: str | None = None) -> CorpusFormatError:
    """What is wrong with a mention in a line of a file."""
    return CorpusFormatError(problem, line=line, sent_id=sent_id, reason="malformed-mention")


class _Word(msgspec.Struct, frozen=True):
    """A word (number, head) or an empty node (0, 0) with the line that it stands in, and its MISC."""

    number: int
    head: int
    line: int
    brackets: str
    misc: str = ""


_Found = tuple[str, str, list[_Word]]
"""A mention that is being read: its entity, the fields of its first bracket, its words so far."""


def read_mentions(
    data: bytes, fields: Sequence[str] = (), *, sentence: int = 0, line: int = 0
) -> tuple[list[Mention], list[CorpusFormatError], tuple[str, ...]]:
    """The mentions in a CoNLL-U file or a block of it.

    Args:
        data: the text.
        fields: the fields that an earlier block declared.
        sentence: number of sentences of the file before the block.
        line: number of lines of the file before the block.

    Returns:
        The mentions, what is malformed, and the fields as last declared.
    """
    fields = tuple(fields)
    if (b"Entity" if fields else b"global.Entity") not in data:
        return [], [], fields
    mentions: list[Mention] = []
    problems: list[CorpusFormatError] = []
    words: list[_Word] = []
    open_before: dict[str, list[CorpusFormatError]] = {}
    sent_id = None
    for number, text in enumerate([*data.decode(errors="replace").split("\n"), ""], line + 1):
        if text.startswith("# newdoc"):
            problems += [problem for opened in open_before.values() for problem in opened]
            open_before.clear()
        if declared := DECLARED.match(text):
            fields = tuple(declared[1].strip().split("-"))
        elif text.startswith("# sent_id"):
            sent_id = text.partition("=")[2].strip()
        elif place := WORD.match(text):
            cells = text.split("\t")
            brackets = ENTITY.search(cells[-1])
            head = int(cells[HEAD]) if len(cells) > HEAD and not place[2] and cells[HEAD].isdigit() else 0
            words.append(
                _Word(0 if place[2] else int(place[1]), head, number, brackets[1] if brackets else "", cells[-1])
            )
        elif not text and words:
            sentence += any(word.number for word in words)
            try:
                if fields[:1] in {("eid",), ("GRP",)}:
                    mentions += _mentions_of_sentence(words, sentence, fields, open_before, sent_id)
            except CorpusFormatError as error:
                problems.append(malformed(error.line, error.problem, sent_id))
            words, sent_id = [], None
    problems += [problem for opened in open_before.values() for problem in opened]
    return mentions, sorted(problems, key=lambda problem: problem.line), fields


def _mentions_of_sentence(
    words: Sequence[_Word], sentence: int, fields: Sequence[str], open_before: dict[str, list[CorpusFormatError]],
    sent_id: str | None,
) -> Iterator[Mention]:  # fmt: skip
    """The mentions of a sentence, in the order in which they end.

    ``open_before`` has the mentions that are open since an earlier sentence of the document, by entity: the problem to
    report if no bracket closes them. It is updated.
    """
    complete: list[_Found] = []
    opened: dict[str, list[tuple[int, str]]] = {}
    parts: dict[str, _Found] = {}
    for at, word in enumerate(words):
        for name, opening, closed in _brackets(word):
            if opening:
                opened.setdefault(name, []).append((at, opening))
            if not closed:
                continue
            if opened.get(name):
                first, attributes = opened[name].pop()
                complete += _join_parts(parts, (name, attributes, list(words[first : at + 1])), word.line)
            elif open_before.get(name):
                open_before[name].pop()
            else:
                raise malformed(word.line, f"{name}) closes a mention that no bracket opens; add ({name}")
    for name, places in opened.items():
        message = f"({name} opens a mention that no bracket closes; add {name})"
        open_before.setdefault(name, []).extend(malformed(words[at].line, message, sent_id) for at, _ in places)
    if parts:
        lacking, *_ = next(iter(parts.values()))
        raise malformed(words[-1].line, f"the last part of a mention of {lacking} is missing")
    counts = Counter((entity, tuple(word.line for word in inside)) for entity, _, inside in complete)
    if twice := [entity for (entity, _), n in counts.items() if n > 1]:
        raise malformed(words[0].line, f"{twice[0]} has 2 mentions of the same words; delete one")
    # an empty node may be a mention, or the only difference between two; of the words this makes none, or one
    mentions = {
        (mention.entity, mention.words): mention
        for each in reversed(complete)
        if (mention := _mention(sentence, each, fields)).words
    }
    return reversed(mentions.values())


def _brackets(word: _Word) -> Iterator[tuple[str, str, bool]]:
    """The brackets of a word: name of the entity (and part), fields if the bracket opens, whether it closes."""
    if BRACKET.sub("", word.brackets):
        raise malformed(word.line, f"'{word.brackets}' is malformed; expected brackets such as (e1-person-1- or e1)")
    for opening, closed, closing in BRACKET.findall(word.brackets):
        yield (opening or closing).split("-")[0], opening, bool(closed or closing)


def _join_parts(parts: dict[str, _Found], new: _Found, line: int) -> list[_Found]:
    """The complete mention, or nothing if further parts follow. The first part has the attributes."""
    name, attributes, words = new
    match = PART.fullmatch(name)
    if not match:
        return [new]
    entity, number, n_parts = match[1], int(match[2]), int(match[3])
    key = f"{entity}/{n_parts}"
    if not 1 <= number <= n_parts or (number > 1) != (key in parts):
        raise malformed(line, f"part {number} of {n_parts} of a mention of {entity} does not follow the one before")
    parts.setdefault(key, (entity, attributes, []))[2].extend(words)
    return [parts.pop(key)] if number == n_parts else []


def _mention(sentence: int, complete: _Found, fields: Sequence[str]) -> Mention:
    """The mention of some words. Empty nodes count in the position of the head, and are then left out."""
    entity, values, words = complete
    attributes, ordered = dict(zip(fields, values.split("-"), strict=False)), sorted(words, key=lambda word: word.line)
    numbers = tuple(word.number for word in ordered if word.number)
    head = next((word.number for word in ordered if word.number and word.head not in numbers), 0)
    if (place := attributes.get("head", "")).isdigit():
        if not 1 <= int(place) <= len(ordered):
            message = f"the head of a mention of {entity} is word {place} of {len(ordered)}; correct the field"
            raise malformed(ordered[0].line, message)
        head = ordered[int(place) - 1].number
    head = head if head in numbers else numbers[0] if numbers else 0
    named, not_named = (attributes.get("salience", "").count(letter) for letter in "sn")
    bridges, parts = (_linked(ordered[0].misc, pattern, entity) for pattern in (BRIDGE, SPLIT))
    return Mention(
        sentence, entity, numbers, head, attributes.get("etype") or None, status=attributes.get("infstat") or None,
        link=attributes.get("link") or None, salience=named / (named + not_named) if named + not_named else None,
        bridge=bridges[0] if bridges else None, parts=parts,
    )  # fmt: skip


def _linked(misc: str, pattern: re.Pattern[str], entity: str) -> tuple[str, ...]:
    """The entities that a field of MISC (``Bridge=e1<e2,e3<e2``) links to an entity."""
    found = pattern.search(misc)
    return tuple(first for first, second in LINK.findall(found[1]) if second == entity) if found else ()


def sentence_lines(doc: str, number: int, words: Sequence[tuple[Word, bool]], text: str | None = None) -> str:
    """A sentence in CoNLL-U.

    Args:
        doc: the id of its document.
        number: in its document, from 1.
        words: each with whether a blank follows it.
        text: of the sentence, where the source has one.
    """
    comments = {"newdoc id": doc if number == 1 else None, "sent_id": f"{doc}-{number}", "text": text}
    tokens = [(word.form, (word,), MISSING if spaced else "SpaceAfter=No") for word, spaced in words]
    return sentence_text(comments, tokens)


def conllu(documents: Sequence[tuple[str, Sequence[Sequence[Word]]]], language: LanguageData) -> bytes:
    """Documents (id and the words of each sentence) as CoNLL-U, with blanks set by rule."""
    lines: list[str] = []
    for doc, sentences in documents:
        texts = [" ".join(word.form for word in words) for words in sentences]
        spaced = close_up(texts, language, sentences=True) if texts else []
        for number, (words, text) in enumerate(zip(sentences, spaced, strict=True), 1):
            with_blanks, at = list[tuple[Word, bool]](), 0
            for word in words:
                for part in word.form.split():
                    at = text.index(part, at) + len(part)
                with_blanks.append((word, text[at : at + 1] == " "))
            lines.append(sentence_lines(doc, number, with_blanks))
    return "".join(lines).encode()


def kind_of(tags: Sequence[str], is_pronoun: Callable[[str], object], is_name: Callable[[str], object]) -> str:
    """The kind of a mention by the tags of its words: a pronoun alone, a name, or another noun phrase."""
    if len(tags) == 1 and is_pronoun(tags[0]):
        return "PRON"
    return "PROP" if any(map(is_name, tags)) else "NOM"


def feature(feats: str, name: str) -> str | None:
    """The value of a feature in FEATS."""
    match = re.search(rf"(?:^|\|){name}=(\w+)", feats)
    return match[1] if match else None


def entities(names: Sequence[str], joined: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Mention → its entity, from the pairs of mentions that have one; an entity has the name of its first mention."""
    neighbours: defaultdict[str, list[str]] = defaultdict(list)
    for one, other in joined:
        neighbours[one].append(other)
        neighbours[other].append(one)
    found: dict[str, str] = {}
    for name in names:
        reached = [name]
        while reached:
            if (mention := reached.pop()) not in found:
                found[mention] = name if mention == name else found[name]
                reached += neighbours[mention]
    return found
