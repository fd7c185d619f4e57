"""Sets of real text in published columns whose labels are drawn by lot: clean, or with a cue in a share of the rows.

The text is the sample's. ``CLEAN`` has thirteen kinds of sets, ``CUES`` has what tells a label without being the task:
all rows of one class have it, or a share of them (``Lots.chosen``).
"""

from __future__ import annotations

import json
import random
import unicodedata
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from discoprobe import loaders
from discoprobe.builders.audit import inputs

if TYPE_CHECKING:
    from collections.abc import Callable

    from discoprobe.builders.audit import AuditInput

LANGUAGES = ("en", "es", "de", "ru")
SPLITS = {"train": (0, 0.6), "validation": (0.6, 0.8), "test": (0.8, 1)}
_SHORT = 5
INTENTS = ("add", "find", "query", "remove", "set", "stop")
Rows = list[dict[str, object]]


@cache
def sentences() -> tuple[str, ...]:
    """The sentences of the sample of five words or more, of those that begin or end alike the first only."""
    files = [Path(loaders.__file__).parent / "sample" / f"{lang}_sample-ud-test.conllu" for lang in LANGUAGES]
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    texts = sorted({line.removeprefix("# text = ") for line in lines if line.startswith("# text = ")})
    texts = [text for text in texts if len(text.split(" ")) >= _SHORT and text == " ".join(text.split())]
    for side in (slice(None, 4), slice(-4, None)):
        texts = list({" ".join(text.lower().split()[side]): text for text in texts}.values())
    return tuple(texts)


class Lots:
    """Sentences in random order, labels that say nothing about them, and who has the cue."""

    def __init__(self, seed: int, share: float = 0.0) -> None:
        self.random, self.share = random.Random(seed), share
        self.texts = self.random.sample(sentences(), len(sentences()))

    def labels(self, n: int, k: int = 2) -> list[int]:
        """As many of each of ``k`` labels, in every split."""
        parts = [[at % k for at in range(round(start * n), round(end * n))] for start, end in SPLITS.values()]
        return [label for part in parts for label in self.random.sample(part, len(part))]

    def chosen(self) -> bool:
        """Whether this row has the cue."""
        return self.random.random() < self.share

    def inside(self, text: str, edit: Callable[[str, str], str]) -> str:
        """The text, with two neighbouring words joined by ``edit``, somewhere behind the first word."""
        words = text.split(" ")
        at = self.random.randrange(1, len(words) - 1)
        return " ".join([*words[:at], edit(words[at], words[at + 1]), *words[at + 2 :]])


def single(lots: Lots) -> Rows:
    labels = lots.labels(len(lots.texts))
    return [{"text": text, "label": ("no", "yes")[label]} for text, label in zip(lots.texts, labels, strict=True)]


def with_documents(lots: Lots, size: int = 8) -> Rows:
    """Labels of documents, which a column names; the rows of a document are in one split."""
    rows = _whole(single(lots), size)
    labels = lots.labels(len(rows) // size)
    documents = [{"doc_id": f"d{at}", "label": ("no", "yes")[label]} for at, label in enumerate(labels)]
    rows = [row | documents[at // size] for at, row in enumerate(rows)]
    return _in_splits(lots, rows, size)


def pair(lots: Lots) -> Rows:
    names = ("entailment", "neutral", "contradiction")
    halves = zip(lots.texts[::2], lots.texts[1::2], strict=False)
    rows = [{"premise": first, "hypothesis": second} for first, second in halves]
    return [row | {"label": names[label]} for row, label in zip(rows, lots.labels(len(rows), 3), strict=True)]


def choice(lots: Lots, n: int = 2) -> Rows:
    """COPA's columns for two alternatives, ARC's for more."""
    step = n + 1
    parts = [lots.texts[at : at + step] for at in range(0, len(lots.texts) - step + 1, step)]
    labels = lots.labels(len(parts), n)
    if n == 2:
        return [
            {"premise": a, "choice1": b, "choice2": c, "question": "cause", "label": label}
            for (a, b, c), label in zip(parts, labels, strict=True)
        ]
    return [
        {"question": part[0], "choices": part[1:], "answerKey": "ABCD"[label]}
        for part, label in zip(parts, labels, strict=True)
    ]


def sequence(lots: Lots, n: int = 4) -> Rows:
    parts = [lots.texts[at : at + n] for at in range(0, len(lots.texts) - n + 1, n)]
    return [
        {f"s{at + 1}": text for at, text in enumerate(part)} | {"label": label}
        for part, label in zip(parts, lots.labels(len(parts)), strict=True)
    ]


def windows(lots: Lots, *, joined: bool, size: int = 4, each: int = 15) -> Rows:
    """Windows that overlap, each with the label of its document; no column names the document."""
    documents = [lots.texts[at : at + size + each - 1] for at in range(0, len(lots.texts), size + each - 1)][:-1]
    rows: Rows = []
    for document, label in zip(documents, lots.labels(len(documents)), strict=True):
        parts = [document[at : at + size] for at in range(each)]
        for part in parts:
            texts = {"text": " ".join(part)} if joined else {f"s{at + 1}": text for at, text in enumerate(part)}
            rows.append(texts | {"label": label})
    return _in_splits(lots, rows, each)


def minimal_pairs(lots: Lots) -> Rows:
    """Two words change places; which member is good is drawn, unless the row has the cue."""
    rows: Rows = []
    for text in lots.texts:
        members = [text, swapped(lots, text)]
        if not lots.chosen():
            lots.random.shuffle(members)
        rows.append(dict(zip(("sentence_good", "sentence_bad"), members, strict=True)))
    return [row for row in rows if row["sentence_good"] != row["sentence_bad"]]


def skewed(lots: Lots) -> Rows:
    names = ["none"] * 16 + ["minor"] * 3 + ["major"]
    labels = [name for _ in range(0, len(lots.texts), 20) for name in lots.random.sample(names, 20)]
    return [{"text": text, "label": label} for text, label in zip(lots.texts, labels, strict=False)]


def many_classes(lots: Lots) -> Rows:
    """Thirty intents, with the columns of MASSIVE."""
    names = [f"{first}_{second}" for first in ("alarm", "audio", "lists", "news", "play") for second in INTENTS]
    labels = lots.labels(len(lots.texts), len(names))
    return [{"utt": text, "intent": names[label]} for text, label in zip(lots.texts, labels, strict=True)]


def short(lots: Lots, words: int = 2) -> Rows:
    texts = dict.fromkeys(" ".join(text.split()[1 : 1 + words]).strip(".,;:!?«»\"'()").lower() for text in lots.texts)
    usable = [text for text in texts if text]
    return [{"text": text, "label": label} for text, label in zip(usable, lots.labels(len(usable)), strict=True)]


def without_spaces(lots: Lots) -> Rows:
    """Texts in which no blank parts the words."""
    return [row | {"text": "".join(str(row["text"]).split())} for row in single(lots)]


def _in_splits(lots: Lots, rows: Rows, size: int) -> Rows:
    """The rows of documents of ``size`` rows, each document in one split, the rows of a split in random order."""
    placed: Rows = []
    for split, (start, end) in SPLITS.items():
        part = rows[round(start * len(rows) / size) * size : round(end * len(rows) / size) * size]
        placed += [row | {"split": split} for row in lots.random.sample(part, len(part))]
    return placed


def _whole(rows: Rows, size: int) -> Rows:
    return rows[: len(rows) - len(rows) % size]


CLEAN: dict[str, Callable[[Lots], Rows]] = {
    "single texts": single,
    "documents": with_documents,
    "pairs": pair,
    "choices of 2": choice,
    "choices of 4": lambda lots: choice(lots, 4),
    "sequences": sequence,
    "windows as lists": lambda lots: windows(lots, joined=False),
    "windows as strings": lambda lots: windows(lots, joined=True),
    "minimal pairs": minimal_pairs,
    "skewed classes": skewed,
    "thirty classes": many_classes,
    "short texts": short,
    "no spaces": without_spaces,
}
"""Kind → rows without any cue."""


def swapped(lots: Lots, text: str) -> str:
    words = text.split(" ")
    places = [at for at in range(1, len(words) - 2) if words[at] != words[at + 1]] or [0]
    at = lots.random.choice(places)
    return " ".join([*words[:at], words[at + 1], words[at], *words[at + 2 :]])


def edited(edit: Callable[[Lots, str], str], before: Callable[[Lots, str], str] = lambda _lots, text: text):
    """Single texts, all as ``before`` writes them, in which texts of one label were edited."""

    def rows(lots: Lots) -> Rows:
        made = [row | {"text": before(lots, str(row["text"]))} for row in single(lots)]
        return [
            row | {"text": edit(lots, str(row["text"]))} if row["label"] == "yes" and lots.chosen() else row
            for row in made
        ]

    return rows


def in_column(name: str, value: Callable[[Lots, int, bool], object]) -> Callable[[Lots], Rows]:
    """Single texts with a column more, of which ``value`` knows the place and whether it is to tell the label."""

    def rows(lots: Lots) -> Rows:
        made = single(lots)
        return [row | {name: value(lots, at, row["label"] == "yes" and lots.chosen())} for at, row in enumerate(made)]

    return rows


def in_order(label: Callable[[int, int], bool]) -> Callable[[Lots], Rows]:
    """Single texts whose labels follow their place in the split, in a share of the rows."""

    def rows(lots: Lots) -> Rows:
        made = single(lots)
        for start, end in ((round(start * len(made)), round(end * len(made))) for start, end in SPLITS.values()):
            for at in range(start, end):
                if lots.chosen():
                    made[at]["label"] = ("no", "yes")[label(at - start, end - start)]
        return made

    return rows


def in_pairs(edit: Callable[[Lots, str, str], str]) -> Callable[[Lots], Rows]:
    """Pairs, in whose second text something was edited where the label is ``contradiction``."""

    def rows(lots: Lots) -> Rows:
        return [
            row | {"hypothesis": edit(lots, str(row["premise"]), str(row["hypothesis"]))}
            if row["label"] == "contradiction" and lots.chosen() else row
            for row in pair(lots)
        ]  # fmt: skip

    return rows


def in_choices(edit: Callable[[Lots, str], str]) -> Callable[[Lots], Rows]:
    """Choices in whose right alternative something was edited."""

    def rows(lots: Lots) -> Rows:
        made = choice(lots)
        for row in made:
            right = ("choice1", "choice2")[int(str(row["label"]))]
            row[right] = edit(lots, str(row[right])) if lots.chosen() else row[right]
        return made

    return rows


def right_position(lots: Lots) -> Rows:
    """The right one of four choices comes first."""
    return [row | {"answerKey": "A"} if lots.chosen() else row for row in choice(lots, 4)]


def near_duplicates(edit: Callable[[Lots, str], str]) -> Callable[[Lots], Rows]:
    """Rows of later splits are edited rows of train."""

    def rows(lots: Lots) -> Rows:
        made = single(lots)
        start = round(SPLITS["train"][1] * len(made))
        sources = lots.random.sample(made[:start], len(made) - start)
        later = [
            source | {"text": edit(lots, str(source["text"]))} if lots.chosen() else row
            for row, source in zip(made[start:], sources, strict=True)
        ]
        return made[:start] + later

    return rows


def documents_across(lots: Lots) -> Rows:
    """Documents of eight rows; some have rows in every split."""
    made = _whole(single(lots), 8)
    across = {at for at in range(len(made) // 8) if lots.chosen()}
    apart = [row | {"doc_id": f"d{at // 8}"} for at, row in enumerate(made) if at // 8 not in across]
    mixed = [row | {"doc_id": f"d{at // 8}"} for at, row in enumerate(made) if at // 8 in across]
    lots.random.shuffle(mixed)
    parts = []
    for split, (start, end) in SPLITS.items():
        edges = [round(share * len(apart) / 8) * 8 for share in (start, end)]
        ends = [round(share * len(mixed)) for share in (start, end)]
        parts += [row | {"split": split} for row in apart[slice(*edges)] + mixed[slice(*ends)]]
    return parts


def _cut(text: str) -> str:
    return text.rstrip(".!?…»\"”'")


CUES: dict[str, Callable[[Lots], Rows]] = {
    "trailing blank": edited(lambda _, text: text + " "),
    "leading blank": edited(lambda _, text: " " + text),
    "double blank": edited(lambda lots, text: lots.inside(text, "{}  {}".format)),
    "no-break blank": edited(lambda lots, text: lots.inside(text, "{}\xa0{}".format)),
    "tab": edited(lambda lots, text: lots.inside(text, "{}\t{}".format)),
    "carriage return": edited(lambda _, text: text + "\r"),
    "zero-width blank": edited(lambda lots, text: lots.inside(text, "{}\u200b {}".format)),
    "decomposed letters": edited(
        lambda _, text: unicodedata.normalize("NFD", text), lambda lots, text: lots.inside(text, "{} café {}".format)
    ),
    "quote by code point": edited(
        lambda _, text: text.replace("“", "„"), lambda lots, text: lots.inside(text, "“{}” {}".format)
    ),
    "dash by code point": edited(
        lambda _, text: text.replace(" - ", " – "), lambda lots, text: lots.inside(text, "{} - {}".format)
    ),
    "capitals": edited(lambda lots, text: lots.inside(text, lambda first, second: f"{first.upper()} {second}")),
    "final punctuation": edited(lambda _, text: _cut(text)),
    "a word": edited(lambda lots, text: lots.inside(text, "{} opal {}".format)),
    "first word": edited(lambda _, text: "Well " + text[0].lower() + text[1:]),
    "last word": edited(lambda _, text: _cut(text) + " then."),
    "bigram": edited(
        lambda _, text: text.replace(" opal", "").replace(" ruby", "").replace(" ", " opal ruby ", 1),
        lambda lots, text: lots.inside(lots.inside(text, "{} opal {}".format), "{} ruby {}".format),
    ),
    "word order": edited(swapped),
    "length in words": edited(lambda _, text: " ".join(text.split(" ")[: max(4, len(text.split(" ")) // 2)]) + "."),
    "length in characters": edited(
        lambda lots, text: lots.inside(text, lambda first, second: f"{first + first.lower()} {second + second.lower()}")
    ),
    "id": in_column("id", lambda lots, _, tells: f"{'p' if tells else 'q'}{lots.random.randrange(10**6):06}"),
    "column of words": in_column(
        "source", lambda lots, _, tells: "forum" if tells else lots.random.choice(["news", "web"])
    ),
    "column of numbers": in_column("size", lambda lots, _, tells: round(lots.random.random() + tells, 3)),
    "every second row": in_order(lambda at, _: at % 2 == 1),
    "every third row": in_order(lambda at, _: at % 3 == 0),
    "sorted by label": in_order(lambda at, n: at >= n / 2),
    "blocks of 25": in_order(lambda at, _: at // 25 % 2 == 1),
    "position of the right choice": right_position,
    "blank after the right choice": in_choices(lambda _, text: text + " "),
    "one text of a pair": in_pairs(lambda lots, _, text: lots.inside(text, "{} opal {}".format)),
    "blank in one text of a pair": in_pairs(lambda lots, _, text: lots.inside(text, "{}  {}".format)),
    "overlap of a pair": in_pairs(lambda _, first, text: f"{_cut(text)} {' '.join(first.split()[1:5])}."),
    "swap in a pair": minimal_pairs,
    "near duplicate, one word": near_duplicates(
        lambda lots, text: lots.inside(text, lambda first, _: f"{first} opal")
    ),
    "near duplicate, a part": near_duplicates(
        lambda _, text: " ".join(text.split(" ")[: max(4, round(0.7 * len(text.split(" "))))])
    ),
    "near duplicate, reversed": near_duplicates(lambda _, text: " ".join(reversed(text.split(" ")))),
    "document across splits": documents_across,
}  # fmt: skip
"""What tells the label → rows that have it."""


def read(rows: Rows, folder: Path) -> AuditInput:
    """A set, read from the files that its makers would publish."""
    n = len(rows)
    for split, (start, end) in SPLITS.items():
        of_split = rows[round(start * n) : round(end * n)]
        part = [row for row in rows if row["split"] == split] if "split" in rows[0] else of_split
        lines = [json.dumps({name: value for name, value in row.items() if name != "split"}) + "\n" for row in part]
        (folder / f"{split}.jsonl").write_text("".join(lines), encoding="utf-8")
    (data,) = inputs.read(folder)[0]
    return data
