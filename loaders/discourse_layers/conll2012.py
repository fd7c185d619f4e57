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
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from discoprobe.loaders.corpus import Mention, Word
from discoprobe.loaders.discourse_layers.mentions import Annotated, conllu, kind_of, malformed
from discoprobe.loaders.errors import CorpusFormatError
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


_Word = tuple[str, str, str, int]
"""A word: its form, its tag, its brackets, its line."""
Facts = Mapping[tuple[int, tuple[int, ...]], Mention]
"""Sentence and words → what the second file says of a mention, without its entity; of LitBank, its kind, too."""


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
    documents: list[tuple[str, list[list[_Word]]]] = []
    problems: list[CorpusFormatError] = []
    words: list[_Word] = []
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
            problems.append(malformed(number, f"expected the cells {expected}; is this a file of CoNLL-2012?"))
            continue
        words.append((cells[3].strip(), cells[4].strip(), cells[-1].strip(), number))
    sentences = [(doc, [[Word(form) for form, *_ in sentence] for sentence in part]) for doc, part in documents]
    mentions: list[Mention] = []
    before = 0
    for _, part in documents:
        of_document, wrong = _mentions(part, before, facts)
        mentions += of_document
        problems += wrong
        before += len(part)
    return conllu(sentences, language_data(lang)), mentions, sorted(problems, key=lambda bad: bad.line)


def _mentions(
    sentences: Sequence[Sequence[_Word]], before: int, facts: Facts
) -> tuple[list[Mention], list[CorpusFormatError]]:
    """The mentions of a document, in the order in which they end, and what is malformed in its brackets."""
    problems: list[CorpusFormatError] = []
    opened: defaultdict[str, list[tuple[int, int, int]]] = defaultdict(list)  # sentence, word and line of each bracket
    found: dict[Mention, None] = {}
    for number, sentence in enumerate(sentences, before + 1):
        for at, (_, _, brackets, line) in enumerate(sentence, 1):
            try:
                for entity, opens, closes in _brackets(brackets, line):
                    if opens:
                        opened[entity].append((number, at, line))
                    if not closes:
                        continue
                    if not opened[entity]:
                        raise malformed(line, f"{entity}) closes a mention that no bracket opens; add ({entity}")
                    first_sentence, first, _ = opened[entity].pop()
                    if first_sentence == number:
                        found[Mention(number, entity, tuple(range(first, at + 1)))] = None
            except CorpusFormatError as error:
                problems.append(error)
    for entity, left in opened.items():
        message = f"({entity} opens a mention that no bracket closes; add {entity})"
        problems += [malformed(line, message) for _, _, line in left]
    of_entity = {
        each.entity: fact
        for each in found if (fact := facts.get((each.sent, each.words))) and fact.kind is None
    }  # fmt: skip
    mentions = []
    for each in found:
        fact = facts.get((each.sent, each.words), each)
        if fact.kind is None:
            tags = [sentences[each.sent - before - 1][number - 1][1] for number in each.words]
            kind = "" if NOTHING.issuperset(tags) else kind_of(tags, PRONOUN.match, NAME.match)
            fact = replace(of_entity.get(each.entity, each), kind=kind)
        mentions.append(replace(fact, sent=each.sent, entity=each.entity, words=each.words, kind=fact.kind or None))
    return mentions, problems


def _brackets(brackets: str, line: int) -> Iterator[tuple[str, bool, bool]]:
    """The brackets of a word: the entity, whether a bracket opens, whether one closes."""
    if brackets in NOTHING:
        return
    for part in brackets.split("|"):
        match = BRACKETS.fullmatch(part)
        if not match or not (match[1] or match[3]):
            raise malformed(line, f"'{brackets}' is malformed; expected brackets such as (1, 1) or (1)|(2")
        yield match[2], bool(match[1]), bool(match[3])


def read_facts(data: bytes, suffix: str) -> tuple[Facts, list[CorpusFormatError]]:
    """The facts of the second file, and what is malformed in it."""
    facts, problems = dict[tuple[int, tuple[int, ...]], Mention](), list[CorpusFormatError]()
    for number, line in enumerate(data.decode(errors="replace").splitlines(), 1):
        cells = line.split("\t")
        try:
            if suffix == ".ann" and cells[0] == "MENTION":
                sentence, first, _, last = map(int, cells[2:6])
                fact = Mention(sentence + 1, "", tuple(range(first + 1, last + 2)), None, cells[7] or None, cells[8])
            elif suffix == ".tsv" and line.strip() and cells[:2] != ["filename", "sentno"]:
                sentence, first, after = map(int, cells[1:4])
                values = cells[6] or None, None, GENDERS.get(cells[4]), NUMBERS.get(cells[5])
                fact = Mention(sentence + 1, "", tuple(range(first + 1, after + 1)), None, *values)
            else:
                continue
            facts[fact.sent, fact.words] = fact
        except (ValueError, IndexError):
            problems.append(malformed(number, "expected the cells of a mention of LitBank or an entity of OpenBoek"))
    return facts, problems
