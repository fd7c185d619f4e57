"""Relations between units of text, as the DISRPT shared tasks publish them: a ``.rels`` file beside a ``.conllu``.

A ``.rels`` file is a table with a header. The columns of 2021 are in all later versions, which add others (``u1_raw``,
``u2_raw``, ``rel_type``). Units are given by the numbers of their words in the document. Their texts are cut from the
sentences of the ``.conllu``, which have the original spaces, and compared with the texts in the table.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from discoprobe.loaders.corpus import RELATIONS, Shard
from discoprobe.loaders.errors import BadLine
from discoprobe.loaders.hashing import record_keys

Ints = npt.NDArray[np.int64]
Row = Mapping[str, str]

NEEDED: Final = ("doc", "unit1_toks", "unit2_toks", "unit1_txt", "unit2_txt", "dir", "orig_label", "label")
"""Columns without which a row cannot be read."""

SPLITS: Final = {"train": "train", "dev": "validation", "test": "test"}
"""Last part of a file's name → the split."""

GAP: Final = "<*>"
"""What DISRPT writes where a unit is interrupted; `ELLIPSIS` replaces it in the text of the unit."""
ELLIPSIS: Final = " … "

REASON: Final = "malformed-relation"
CONNECTIVE: Final = re.compile(rb"(?:^|\|)(?:Conn|Seg)=([BI])-conn", re.IGNORECASE)
UNSPACED_END: Final = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]$")


class MalformedError(ValueError):
    """Something wrong in a file; ``line`` is its line, from 1, or 0 if the caller knows the line."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of a document in order.

    ``start`` and ``end`` are offsets in the text of the sentence, -1 if unknown. ``sent`` is the number of the
    sentence, -1 if the sentence was left out. ``mark`` is ``B`` for the first word of a connective, ``I`` for its other
    words, else empty.
    """

    forms: Sequence[str]
    start: Ints
    end: Ints
    sent: Ints
    mark: Sequence[str]


class _Unit(NamedTuple):
    """A unit: its text, the length of the connective that it begins with (None for none), its first sentence."""

    text: str
    lead: int | None
    sent: int


class WordMark(NamedTuple):
    """A word of a CoNLL-U file: its place among all words, the number of its sentence (from 1), its connective mark."""

    place: int
    sentence: int
    mark: str


def word_marks(data: bytes, sentence: int = 0) -> Iterator[WordMark]:
    """The words of a CoNLL-U file, also of malformed sentences; ``sentence`` is the number of sentences before it."""
    inside, place = False, 0
    for line in data.split(b"\n"):
        cells = line.split(b"\t")
        if cells[0].isdigit():
            sentence += not inside
            connective = CONNECTIVE.search(cells[-1])
            yield WordMark(place, sentence, connective[1].decode() if connective else "")
            inside, place = True, place + 1
        elif not line:
            inside = False


def read_relations(
    data: bytes, stem: str, corpus: str, shard: Shard, marks: Sequence[WordMark]
) -> tuple[pl.DataFrame, list[BadLine], dict[int, str]]:
    """The relations of the documents of a shard.

    Args:
        data: the ``.rels`` file.
        stem: its name without suffix, which ends with the split.
        corpus: name of the corpus.
        shard: the ``.conllu`` file or a block of it; relations of other documents are skipped.
        marks: of each word of the shard.

    Returns:
        The table ``RELATIONS``, what is malformed, and line → the document that it names.
    """
    lines = data.decode("utf-8-sig", errors="replace").replace("\r\n", "\n").rstrip("\n").split("\n")
    header = lines[0].split("\t")
    if missing := [name for name in NEEDED if name not in header]:
        message = f"no column {', '.join(missing)} in the first line; .rels files of DISRPT 2021 and later have them"
        return pl.DataFrame(schema=RELATIONS), [BadLine(REASON, 1, message)], {}
    documents = _words_by_document(shard, marks)
    texts, sent_ids = shard.sentences["text"].to_list(), shard.sentences["sent_id"].to_list()
    rows: list[tuple[int, Row, list[_Unit]]] = []
    problems: list[BadLine] = []
    named: dict[int, str] = {}
    for number, line in enumerate(lines[1:], 2):
        try:
            row = _split_row(line, header)
            named[number] = row["doc"]
            if row["doc"] in documents:
                doc, words = documents[row["doc"]]
                units = [_unit(row[f"unit{n}_toks"], row[f"unit{n}_txt"], words, texts, row["doc"]) for n in (1, 2)]
                rows.append((doc, row, units))
        except MalformedError as error:
            problems.append(BadLine(REASON, number, str(error)))
    native = SPLITS.get(stem.rpartition("_")[2])
    return _relation_table(rows, corpus, native, sent_ids), problems, named


def _split_row(line: str, header: list[str]) -> Row:
    cells = line.split("\t")
    if len(cells) != len(header):
        raise MalformedError(f"{len(cells)} columns where the first line has {len(header)}; check for stray tabs")
    row = dict(zip(header, cells, strict=True))
    if empty := [name for name in ("doc", "orig_label", "label") if not row[name].strip()]:
        raise MalformedError(f"{', '.join(empty)} is empty; fill it or remove the line")
    return row


def _words_by_document(shard: Shard, marks: Sequence[WordMark]) -> dict[str, tuple[int, _Words]]:
    """Document id → the number of the document in the shard, and its words with those of left-out sentences."""
    words = shard.tokens.join(shard.sentences.select("sent", "doc"), on="sent", maintain_order="left").select(
        "doc", "form", *(pl.col(name).cast(pl.Int64) for name in ("start", "end", "sent")),
        mark=pl.Series([word.mark for word in marks], dtype=pl.String),
        place=pl.Series([word.place for word in marks], dtype=pl.Int64),
    )  # fmt: skip
    ids = dict(shard.documents.select("doc", "doc_id").drop_nulls("doc_id").iter_rows())
    documents = {}
    for (doc,), part in words.group_by("doc", maintain_order=True):
        if doc in ids:
            first, last = part.select(pl.col("place").min(), last=pl.col("place").max()).row(0)
            places = pl.DataFrame({"place": range(first, last + 1)})
            every = places.join(part, on="place", how="left", maintain_order="left")
            start, end, sent = (every[name].fill_null(-1).to_numpy() for name in ("start", "end", "sent"))
            forms, connectives = (every[name].fill_null("").to_list() for name in ("form", "mark"))
            documents[ids[doc]] = doc, _Words(forms, start, end, sent, connectives)
    return documents


def _unit(numbers: str, text: str, words: _Words, sentences: Sequence[str], doc: str) -> _Unit:
    """The unit that the numbers of its words name; ``text`` is its text in the table."""
    spans = _spans(numbers, len(words.forms), doc)
    inside = [place for span in spans for place in range(*span)]
    if any(words.sent[place] < 0 for place in inside):
        raise MalformedError(f"words {numbers} of document {doc} are in a malformed sentence, which was left out")
    # some tables were written with quotation marks around cells
    quoted = len(text) > 1 and text[0] == text[-1] == '"'
    unquoted = text[1:-1].replace('""', '"') if quoted else text
    forms = [words.forms[place] for place in inside]
    if not _is_made_of(text, forms) and not _is_made_of(unquoted, forms):
        raise MalformedError(
            f"words {numbers} of document {doc} are '{_shorten(' '.join(forms))}', not '{_shorten(text)}'; "
            "the .rels and the .conllu file must be of the same release"
        )
    parts = []
    for first, after in spans:
        pieces = []
        for sent in dict.fromkeys(words.sent[first:after].tolist()):
            places = [place for place in range(first, after) if words.sent[place] == sent]
            start, end = words.start[places[0]], words.end[places[-1]]
            is_placed = start >= 0 and end >= 0
            pieces.append(sentences[sent][start:end] if is_placed else " ".join(words.forms[at] for at in places))
        parts.append(running_text(pieces))
    return _Unit(ELLIPSIS.join(parts), _lead(words, *spans[0]), int(words.sent[spans[0][0]]))


def _is_made_of(text: str, forms: Sequence[str]) -> bool:
    """Whether a text of the table is made of these words; those that a licence masks (``____``) can be any."""
    pairs = [word for word in text.split(" ") if word != GAP], [word for form in forms for word in form.split(" ")]
    return "".join(pairs[0]) == "".join(pairs[1]) or (
        len(pairs[0]) == len(pairs[1])
        and all(word == other or "" in {word.strip("_"), other.strip("_")} for word, other in zip(*pairs, strict=True))
    )


def _spans(numbers: str, n_words: int, doc: str) -> list[tuple[int, int]]:
    """The spans of words of a unit, ``1-11,15`` as ``[(0, 11), (14, 15)]``."""
    if not re.fullmatch(r"\d+(-\d+)?(,\d+(-\d+)?)*", numbers):
        raise MalformedError(f"'{numbers}' names no words; a unit is written like 1-11,15")
    spans = [(int(first) - 1, int(last or first)) for first, _, last in (x.partition("-") for x in numbers.split(","))]
    places = [place for span in spans for place in span]
    if places != sorted(places) or any(first >= after for first, after in spans):
        raise MalformedError(
            f"the spans of {numbers} overlap or are out of order; list each word once, in order, or leave the row out "
            "with --on-error skip"
        )
    if places[0] < 0 or places[-1] > n_words:
        raise MalformedError(f"{numbers} points outside document {doc} ({n_words} words); words are counted from 1")
    return spans


def running_text(sentences: Sequence[str]) -> str:
    """Sentences joined to a text: by a blank, or by nothing after a sentence in a script without blanks."""
    return "".join(text if UNSPACED_END.search(text) else f"{text} " for text in sentences).rstrip()


def _lead(words: _Words, first: int, after: int) -> int | None:
    """The number of characters of the connective at the beginning of a span; None if there is none."""
    if words.mark[first].upper() != "B" or words.start[first] < 0:
        return None
    last = first
    while last + 1 < after and words.mark[last + 1].upper() == "I" and words.sent[last + 1] == words.sent[first]:
        last += 1
    return int(words.end[last] - words.start[first])


def _shorten(text: str, most: int = 40) -> str:
    return text if len(text) <= most else f"{text[:most]}…"


def _relation_table(
    rows: Sequence[tuple[int, Row, list[_Unit]]], corpus: str, native: str | None, sent_ids: Sequence[str]
) -> pl.DataFrame:
    names = [tuple(row.get(name, "") for name in ("doc", "unit1_toks", "unit2_toks", "rel_type", "orig_label"))
             for _, row, _ in rows]  # fmt: skip
    repeats = Counter[tuple[str, ...]]()
    occurrences = []  # how often the same name occurred before: this makes the keys of repeated rows differ
    for name in names:
        occurrences.append(str(repeats[name]))
        repeats[name] += 1
    kinds = [row.get("rel_type", "") for _, row, _ in rows]
    columns = {
        "doc": [doc for doc, _, _ in rows],
        **{f"unit{n}": [units[n - 1].text for _, _, units in rows] for n in (1, 2)},
        **{f"lead{n}": [units[n - 1].lead for _, _, units in rows] for n in (1, 2)},
        "direction": [row["dir"] for _, row, _ in rows],
        "rel_type": [None if kind in {"", "_", "none"} else kind for kind in kinds],
        "orig_label": [row["orig_label"].strip() for _, row, _ in rows],
        "label": [row["label"].strip() for _, row, _ in rows],
        "native": [native] * len(rows),
        "ids": [[sent_ids[unit.sent] for unit in units] for _, _, units in rows],
        "key": record_keys([corpus] * len(rows), *zip(*names, strict=True), occurrences) if rows else [],
    }
    return pl.DataFrame(columns, schema=RELATIONS)
