"""Coreference in CoNLL-U Plus (``.conllup``) as KorKor has it: the columns ``COREFHEAD`` and ``COREFTYPE``.

``COREFHEAD`` is the place of an antecedent (``2:7``, word 7 of sentence 2), ``COREFTYPE`` how a word refers to it. A
file is a document, and a mention is a word, the head of its phrase. Numbers of words may be missing. Trees are not
read: their relations are not those of Universal Dependencies. Zero pronouns are no words, and are left out.
"""

import re
from typing import Final

from discoprobe.loaders.corpus import Mention, Word
from discoprobe.loaders.discourse_layers.mentions import Annotated, conllu, entities, feature, malformed
from discoprobe.loaders.languages.language import language_data

COLUMNS: Final = re.compile(r"#\s*global\.columns\s*=\s*(.*)")
NEEDED: Final = ("ID", "FORM", "COREFHEAD", "COREFTYPE")
SAME: Final = frozenset({"coref", "koref", "rep", "prs", "dem", "rel", "refl", "recip", "poss"})
"""Ways of reference to the same entity; others are parts (``holo``), or have no antecedent (``arb``)."""
PLACE: Final = re.compile(r"(\d+):(\d+)")
KINDS: Final = {"PRON": "PRON", "DET": "PRON", "PROPN": "PROP"}
"""Universal tag → kind of mention; others are ``NOM``."""


def read_korkor(data: bytes, stem: str, lang: str) -> Annotated:
    """The document of a file as CoNLL-U, with its lemmas, tags and features, and its mentions.

    Args:
        data: the file.
        stem: its name without suffix: the document.
        lang: the code of the language, whose rules set the blanks.
    """
    columns: list[str] = []
    sentences: list[dict[int, Word]] = [{}]
    links: list[tuple[str, str, int]] = []
    problems = []
    for number, line in enumerate([*data.decode(errors="replace").split("\n"), ""], 1):
        if match := COLUMNS.match(line):
            columns = match[1].split()
        if line.startswith("#"):
            continue
        if not line.strip():
            sentences += [{}] if sentences[-1] else []
            continue
        cells = dict(zip(columns, line.rstrip("\r").split("\t"), strict=False))
        last = max(sentences[-1], default=0)
        if any(name not in cells for name in NEEDED) or not cells["ID"].isdecimal() or int(cells["ID"]) <= last:
            expected = f"a word after {last} with the columns {', '.join(NEEDED)} of global.columns"
            problems.append(malformed(number, f"expected {expected}; is this a file of KorKor?"))
            continue
        lemma, upos, feats = (cells.get(name, "") for name in ("LEMMA", "UPOS", "FEATS"))
        sentences[-1][int(cells["ID"])] = Word(cells["FORM"], lemma, upos, feats=feats)
        if cells["COREFTYPE"] in SAME and (place := PLACE.fullmatch(cells["COREFHEAD"])):
            links.append((f"{len(sentences)}:{int(cells['ID'])}", f"{int(place[1])}:{int(place[2])}", number))
    places = {
        f"{s}:{name}": (s, at, word)
        for s, sentence in enumerate(sentences, 1) for at, (name, word) in enumerate(sentence.items(), 1)
    }  # fmt: skip
    problems += [malformed(number, f"there is no word {head}") for _, head, number in links if head not in places]
    pairs = [(name, head) for name, head, _ in links if head in places]
    linked = {name for pair in pairs for name in pair}
    mentions = []
    for name, entity in entities([name for name in places if name in linked], pairs).items():
        sentence_number, at, word = places[name]
        facts = (None, KINDS.get(word.upos, "NOM"), None, feature(word.feats, "Number"))
        mentions.append(Mention(sentence_number, entity, (at,), at, *facts))
    mentions.sort(key=lambda mention: (mention.sent, mention.words))
    text = conllu([(stem, [list(sentence.values()) for sentence in sentences if sentence])], language_data(lang))
    return text, mentions, sorted(problems, key=lambda bad: bad.line)
