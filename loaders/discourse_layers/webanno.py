"""Coreference in the TSV of WebAnno 3 (``.tsv``): the layer of chains, in FullStack-LV.

https://webanno.github.io/webanno/releases/3.6.11/docs/user-guide.html#sect_webannotsv. A file is a document. ``#Text``
is the text of a sentence, a line is a word: its number, its characters in the document, its form, then the cells of the
layers that ``#T_SP`` (spans), ``#T_CH`` (chains) and ``#T_RL`` (relations) declare. A word in a chain has a cell
``*->7-2``: it belongs to mention 2 of chain 7.
"""

import re
from collections import defaultdict
from typing import Final

from discoprobe.loaders.corpus import Mention, Word
from discoprobe.loaders.discourse_layers.mentions import Annotated, feature, kind_of, malformed, sentence_lines

LAYER: Final = re.compile(r"#T_(?:SP|CH|RL)=([^|]+)(\|.*)?")
TEXT: Final = "#Text="
WORD: Final = re.compile(r"(\d+)-(\d+)\t(\d+)-(\d+)\t([^\t]+)((?:\t.*)?)")
SUBTOKEN: Final = re.compile(r"\d+-\d+\.\d+\t")
LINK: Final = re.compile(r"(?:.*)->(\d+)-(\d+)")
FEATURES: Final = ("Gender", "Number")
PRONOUN, NAME = re.compile("p"), re.compile("np")
"""How tags of MULTEXT-East begin."""


def read_webanno(data: bytes, stem: str) -> Annotated:
    """The document of a file as CoNLL-U, and its mentions; a mention of one word has gender and number of the word.

    Args:
        data: the file.
        stem: its name without suffix: the document.
    """
    layers: list[str] = []
    text = ""
    lines: list[str] = []
    words: list[tuple[int, int, str]] = []
    parts: defaultdict[tuple[int, str, str], list[int]] = defaultdict(list)
    tags: dict[tuple[int, int], str] = {}
    feats: dict[tuple[int, int], str] = {}
    problems = []
    number = 0
    for place, line in enumerate([*data.decode(errors="replace").replace("\r\n", "\n").split("\n"), TEXT], 1):
        if layer := LAYER.match(line):
            names = [name for name in (layer[2] or "").split("|")[1:] if not name.startswith("BT_")]
            layers += [f"{layer[1].rsplit('.', 1)[-1]}.{name}" for name in names]
            layers += ["relation"] * ("|BT_" in line)
        elif line.startswith(TEXT):
            if words:
                starts = [*(start for start, _, _ in words[1:]), -1]
                spaced = [(Word(form), end != start) for (_, end, form), start in zip(words, starts, strict=True)]
                lines.append(sentence_lines(stem, number, spaced, text))
            words, text = [], line.removeprefix(TEXT)
            number += 1
        elif match := WORD.fullmatch(line):
            words.append((int(match[3]), int(match[4]), match[5]))
            cells = dict(zip(layers, match[6].split("\t")[1:], strict=False))
            tags[number, len(words)] = cells.get("POS.PosValue", "")
            feats[number, len(words)] = cells.get("MorphologicalFeatures.value", "").replace("\\|", "|")
            for relation in cells.get("CoreferenceLink.referenceRelation", "_").split("|"):
                if link := LINK.fullmatch(relation):
                    parts[number, link[1], link[2]].append(len(words))
                elif relation not in {"_", "*"}:
                    problems.append(malformed(place, f"'{relation}' is malformed; expected *->7-2"))
        elif line.strip() and not line.startswith("#") and not SUBTOKEN.match(line):
            problems.append(malformed(place, "expected a word such as 1-1, 0-4, Anna and the cells of the layers"))
    mentions = []
    for (sentence, chain, _), numbers in parts.items():
        of_word = feats[sentence, numbers[0]] if len(numbers) == 1 else ""
        gender, count = (feature(of_word, name) for name in FEATURES)
        kind = kind_of([tags[sentence, n] for n in numbers], PRONOUN.match, NAME.match)
        mentions.append(Mention(sentence, chain, tuple(numbers), None, None, kind, gender, count))
    return "".join(lines).encode(), mentions, problems
