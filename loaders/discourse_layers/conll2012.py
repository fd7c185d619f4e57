r"""Coreference in the columns of CoNLL-2012 (``.conll``): OntoNotes, LitBank, OpenBoek, GerDraCor-Coref, KoCoNovel.

A line is a word, with cells between tabs or spaces: document, part, number of the word from 0, form, tag of its part of
speech, and last the brackets of mentions (``(12|(7)``, ``12)``). Documents are between ``#begin document (NAME); part
0`` and ``#end document``. Every part is a document, because its entities are not those of the other parts.

Facts about mentions are in a second file with the same name, beside the first or in a folder beside its folder:

* that of LitBank (``.ann``), a line per mention: ``MENTION``, id, sentence and word of its beginning and end (from 0),
  text, type of the entity, kind of the mention;
* that of OpenBoek (``.tsv``), a line per entity, named by its first mention: file, sentence and first word (from 0),
  word after the last, gender, number, category.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from discoprobe.loaders.conllu.parse import Word
from discoprobe.loaders.discourse_layers.disrpt_relations import MalformedError
from discoprobe.loaders.discourse_layers.mentions import REASON, Annotated, Facts, Mention, MentionPlace, conllu
from discoprobe.loaders.errors import BadLine
from discoprobe.loaders.languages.language import language_data

BEGIN: Final = re.compile(r"#begin document \((.*)\)(?:; part 0*(\d+))?\s*$")
END: Final = "#end document"
LEAST: Final = 5
"""Cells that a line has at least."""
BRACKETS: Final = re.compile(r"(\()?([^()|]+)(\))?")
NOTHING: Final = frozenset({"", "-", "_", "*"})
PRONOUN: Final = re.compile(r"PRP|WP|PPER|PPOS|PRF|PRELS|PDS$|VNW\[(?:pers|refl|pr,|bez|betr|aanw,pron)")
"""Tags of pronouns: of the Penn Treebank, of STTS, of the Corpus Gesproken Nederlands."""
NAME: Final = re.compile(r"NNPS?$|NE$|SPEC\[deeleigen|N\[eigen")
"""Tags of names in the same tag sets."""
GENDERS: Final = {"m": "Masc", "f": "Fem", "fm": "Fem,Masc", "n": "Neut"}
NUMBERS: Final = {"sg": "Sing", "pl": "Plur"}


class _BracketedWord(msgspec.Struct, frozen=True):
    """A word with the line that it stands in, its tag and its brackets."""

    form: str
    tag: str
    brackets: str
    line: int


def read_conll2012(data: bytes, stem: str, lang: str, facts: Facts) -> Annotated:
    """The documents of a file as CoNLL-U, and their mentions.

    The tags of parts of speech are those of many tag sets: they are not read, but show which mentions are pronouns and
    names. A mention that begins in another sentence than it ends is left out.

    Args:
        data: the file.
        stem: its name without suffix: the document before the first that begins.
        lang: the code of the language, whose rules set the blanks.
        facts: of mentions, from the second file.
    """
    documents: list[tuple[str, list[list[_BracketedWord]]]] = []
    problems: list[BadLine] = []
    words: list[_BracketedWord] = []
    for number, line in enumerate([*data.decode(errors="replace").split("\n"), ""], 1):
        begins, cells = BEGIN.match(line), line.split("\t") if "\t" in line else line.split()
        if line.startswith("#") or not line.strip():
            if words:
                documents[-1][1].append(words)
                words = []
            if begins:
                part = begins[2] or "0"
                documents.append((begins[1] if part == "0" else f"{begins[1]}.{part}", []))
            continue
        if not documents:
            documents.append((stem, []))
        if len(cells) < LEAST or cells[2].strip() not in {str(len(words)), str(len(words) + 1)}:
            expected = f"document, part, {len(words)}, word, tag … brackets"
            problems.append(BadLine(REASON, number, f"expected the cells {expected}; is this a file of CoNLL-2012?"))
            continue
        words.append(_BracketedWord(cells[3].strip(), cells[4].strip(), cells[-1].strip(), number))
    sentences = [(doc, [[Word(word.form) for word in sentence] for sentence in part]) for doc, part in documents]
    mentions: list[Mention] = []
    before = 0
    for _, part in documents:
        of_document, malformed = _mentions(part, before, facts)
        mentions += of_document
        problems += malformed
        before += len(part)
    return Annotated(conllu(sentences, language_data(lang)), mentions, sorted(problems, key=lambda bad: bad.line))


def _mentions(
    sentences: Sequence[Sequence[_BracketedWord]], before: int, facts: Facts
) -> tuple[list[Mention], list[BadLine]]:
    """The mentions of a document, in the order in which they end, and what is malformed in its brackets."""
    problems: list[BadLine] = []
    opened: defaultdict[str, list[tuple[int, int, int]]] = defaultdict(list)  # sentence, word and line of each bracket
    places: dict[tuple[str, MentionPlace], None] = {}
    for number, sentence in enumerate(sentences, before + 1):
        for at, word in enumerate(sentence, 1):
            try:
                for entity, opens, closes in _brackets(word):
                    if opens:
                        opened[entity].append((number, at, word.line))
                    if not closes:
                        continue
                    if not opened[entity]:
                        raise MalformedError(
                            f"{entity}) closes a mention that no bracket opens; add ({entity}", word.line
                        )
                    first_sentence, first, _ = opened[entity].pop()
                    if first_sentence == number:
                        places[entity, MentionPlace(number, first, at)] = None
            except MalformedError as error:
                problems.append(BadLine(REASON, error.line, str(error)))
    for entity, left in opened.items():
        message = f"({entity} opens a mention that no bracket closes; add {entity})"
        problems += [BadLine(REASON, line, message) for _, _, line in left]
    of_entity = {entity: facts.entities[place] for entity, place in places if place in facts.entities}
    mentions = []
    for entity, place in places:
        tags = [word.tag for word in sentences[place.sentence - before - 1][place.first - 1 : place.last]]
        type_, kind = facts.mentions.get(place, ("", _kind_of_tags(tags)))
        category, gender, number_ = of_entity.get(entity, ("", "", ""))
        words = tuple(range(place.first, place.last + 1))
        values = (type_ or category or None, kind or None, gender or None, number_ or None)
        mentions.append(Mention(place.sentence, entity, words, None, *values))
    return mentions, problems


def _brackets(word: _BracketedWord) -> Iterator[tuple[str, bool, bool]]:
    """The brackets of a word: the entity, whether a bracket opens, whether one closes."""
    if word.brackets in NOTHING:
        return
    for part in word.brackets.split("|"):
        match = BRACKETS.fullmatch(part)
        if not match or not (match[1] or match[3]):
            raise MalformedError(
                f"'{word.brackets}' is malformed; expected brackets such as (1, 1) or (1)|(2", word.line
            )
        yield match[2], bool(match[1]), bool(match[3])


def _kind_of_tags(tags: Sequence[str]) -> str:
    """The kind of a mention by its tags: a pronoun alone, a name, or another noun phrase; empty without tags."""
    if all(tag in NOTHING for tag in tags):
        return ""
    if len(tags) == 1 and PRONOUN.match(tags[0]):
        return "PRON"
    return "PROP" if any(map(NAME.match, tags)) else "NOM"


def read_facts(data: bytes, suffix: str) -> tuple[Facts, list[BadLine]]:
    """The facts of the second file, and what is malformed in it."""
    facts, problems = Facts({}, {}), list[BadLine]()
    for number, line in enumerate(data.decode(errors="replace").splitlines(), 1):
        cells = line.split("\t")
        try:
            if suffix == ".ann" and cells[0] == "MENTION":
                sentence, first, _, last = map(int, cells[2:6])
                facts.mentions[MentionPlace(sentence + 1, first + 1, last + 1)] = cells[7], cells[8]
            elif suffix == ".tsv" and line.strip() and cells[:2] != ["filename", "sentno"]:
                sentence, first, after = map(int, cells[1:4])
                values = cells[6], GENDERS.get(cells[4], ""), NUMBERS.get(cells[5], "")
                facts.entities[MentionPlace(sentence + 1, first + 1, after)] = values
        except (ValueError, IndexError):
            problems.append(
                BadLine(REASON, number, "expected the cells of a mention of LitBank or an entity of OpenBoek")
            )
    return facts, problems
