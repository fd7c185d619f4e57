"""Coreference in the format of KNP (``.knp``): Wikipedia Annotated Corpus, Kyoto University Web Document Leads Corpus.

https://github.com/ku-nlp/KWDLC. After ``# S-ID:…`` a sentence has lines of phrases (``*``), of base phrases (``+``) and
of words, and ends with ``EOS``. A file is a document. A base phrase refers to the entity of another one by
``<rel type="=" target="…" sid="…" id="2"/>``; other relations are not read. A mention is what precedes particles and
punctuation marks in a base phrase, from the beginning of its phrase. Sentences that were made of text in
brackets are left out.
"""

import re
from collections.abc import Mapping
from typing import Final

from discoprobe.loaders.corpus import Mention, Word
from discoprobe.loaders.discourse_layers.mentions import Annotated, entities, malformed, sentence_lines

SENTENCE: Final = re.compile(r"# S-ID:(\S+)(.*)")
IN_BRACKETS: Final = "括弧始"
SAME: Final = re.compile(r'<rel type="=" target="[^"]*" sid="([^"]+)" id="(\d+)"')
NAMED: Final = re.compile(r"<NE:([A-Z]+):")
AFTER: Final = frozenset({"助詞", "助動詞", "判定詞", "特殊", "接続詞"})
"""Parts of speech of the words around the content of a base phrase: particles, copulas, punctuation marks."""
NAMES: Final = frozenset({"人名", "地名", "組織名", "固有名詞"})
PRONOUN: Final = "指示詞"
LEAST: Final = 9
"""Cells that the line of a word has at least."""


_Phrase = tuple[int, int, list[tuple[int, str, str]], str | None]
"""A base phrase: its sentence (0 if that is left out), the first word of its phrase, its words with two tags, and the
type of a name."""


def read_knp(data: bytes, stem: str) -> Annotated:
    """The document of a file as CoNLL-U, and its mentions.

    Args:
        data: the file.
        stem: its name without suffix: the document.
    """
    problems = []
    phrases: dict[str, _Phrase] = {}
    links: list[tuple[str, str, int]] = []
    lines: list[str] = []
    sentence, sid, is_read = 0, "", False
    forms: list[str] = []
    first = 1  # word of the phrase
    here: list[_Phrase] = []
    for number, line in enumerate(data.decode(errors="replace").replace("\r\n", "\n").split("\n"), 1):
        if match := SENTENCE.match(line):
            sid, is_read, forms, here = match[1], IN_BRACKETS not in match[2], [], []
            sentence += is_read
        elif line.startswith("* "):
            first = len(forms) + 1
        elif line.startswith("+ "):
            named = NAMED.search(line)
            here.append((sentence if is_read else 0, first, [], named[1] if named else None))
            name = f"{sid} {len(here) - 1}"
            phrases[name] = here[-1]
            links += [(name, f"{target} {at}", number) for target, at in SAME.findall(line)]
        elif line == "EOS":
            if is_read and forms:
                lines.append(sentence_lines(stem, sentence, [(Word(form), False) for form in forms], "".join(forms)))
        elif line.strip() and not line.startswith("#"):
            cells = line.split(" ")
            if len(cells) < LEAST or not here:
                problems.append(malformed(number, "expected a word with its cells, in a base phrase (+)"))
            elif cells[0].strip():  # no ideographic space
                forms.append(cells[0])
                here[-1][2].append((len(forms), cells[3], cells[5]))
    for _, target, number in links:
        if target not in phrases and target.startswith(stem):
            problems.append(malformed(number, f"there is no base phrase {target}"))
    pairs = [(name, target) for name, target, _ in links if target in phrases]
    linked = {name for pair in pairs for name in pair}
    return "".join(lines).encode(), _mentions(phrases, linked, pairs), problems


def _mentions(phrases: Mapping[str, _Phrase], linked: set[str], pairs: list[tuple[str, str]]) -> list[Mention]:
    """The mentions of a document, in its order."""
    mentions = []
    for name, entity in entities([name for name in phrases if name in linked], pairs).items():
        sentence, of_phrase, words, type_ = phrases[name]
        first = next((n for n, (_, tag, _) in enumerate(words) if tag not in AFTER), 0)
        after = next((n for n, (_, tag, _) in enumerate(words) if n > first and tag in AFTER), len(words))
        if sentence and words:
            content = words[first:after]
            numbers = [number for number, _, _ in content]
            if of_phrase < words[0][0]:
                numbers = [*range(of_phrase, numbers[0]), *numbers]
            is_pronoun = len(numbers) == 1 and content[0][1] == PRONOUN
            kind = "PRON" if is_pronoun else "PROP" if any(each in NAMES for _, _, each in content) else "NOM"
            mentions.append(Mention(sentence, entity, tuple(numbers), numbers[-1], type_, kind))
    return sorted(mentions, key=lambda mention: (mention.sent, mention.words))
