"""Relations between units of text, as the DISRPT shared tasks publish them: a ``.rels`` file beside a ``.conllu``.

Relations that the words of a CoNLL-U file carry in MISC, as those of GUM do, are read as the rows of such a table.

A ``.rels`` file is a table with a header. The columns of 2021 are in all later versions, which add others (``u1_raw``,
``u2_raw``, ``rel_type``). Units are given by the numbers of their words in the document. Their texts are cut from the
sentences of the ``.conllu``, which have the original spaces, and compared with the texts in the table.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

import polars as pl

from discoprobe.loaders.corpus import RELATIONS, Shard
from discoprobe.loaders.errors import CorpusFormatError
from discoprobe.loaders.hashing import record_keys

Row = Mapping[str, str]
Span = tuple[int, int]
"""The first word, from 0, and the one after the last."""
Columns = Mapping[str, list[Any]]
"""Those of a table. The words of a document have ``doc`` (its number in the shard), ``form``, ``start``, ``end``,
``sent`` (-1 if the sentence was left out), ``mark`` (``B`` for the first word of a connective, ``I`` for its others,
else empty), ``misc`` (what ``ANNOTATED`` names), ``line``; offsets are -1 if unknown."""

NEEDED: Final = ("doc", "unit1_toks", "unit2_toks", "unit1_txt", "unit2_txt", "dir", "orig_label", "label")
"""Columns without which a row cannot be read."""

SPLITS: Final = {"train": "train", "dev": "validation", "test": "test"}
"""Last part of a file's name → the split."""

GAP: Final = "<*>"
"""What DISRPT writes where a unit is interrupted; `ELLIPSIS` replaces it in the text of the unit."""
ELLIPSIS: Final = " … "

REASON: Final = "malformed-relation"
ANNOTATED: Final = (b"Discourse=", b"PDTB=")
"""Attributes of MISC with relations: of eRST (Zeldes et al. 2025) and of the Penn Discourse Treebank."""
EDGE: Final = re.compile(r"([^:;]+):(\d+)(?:->(\d+)((?::\d+)+)(?::([^;]*))?|:\d+)(?:;|$)")
"""``relation:unit->head:distance:signals``, or ``ROOT:unit:0``; further edges of a unit follow after a semicolon."""
PDTB: Final = re.compile(r"([^:;]+):([^:;]+):[^:;]*:(_|\d[\d,-]*):(\d[\d,-]*):(\d[\d,-]*)(?:;|$)")
"""``kind:sense:connective:words of it:first argument:second argument``; further relations follow after a semicolon."""
MARKED: Final = re.compile(r"(?:^|[+:])(?:dm|orp)-")
"""A signal that is a connective."""
NAMED_NUCLEI: Final = re.compile(r"_[mr]$")
NO_RELATION: Final = frozenset({"norel", "entrel"})
CONNECTIVE: Final = re.compile(rb"(?:^|\|)(?:Conn|Seg)=([BI])-conn", re.IGNORECASE)
UNSPACED_END: Final = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]$")


def word_marks(data: bytes, sentence: int = 0, line: int = 0) -> pl.DataFrame:
    """The words of a CoNLL-U file, also of malformed sentences.

    Args:
        data: the text.
        sentence: number of sentences of the file before it.
        line: number of lines of the file before it.

    Returns:
        ``place`` among all words of the text, ``sentence`` and ``line`` (from 1), ``mark`` of a connective as in
        `Columns`, and ``misc``: MISC if it has relations, else empty.
    """
    inside, rows = False, list[tuple[int, int, str, str, int]]()
    for number, text in enumerate(data.split(b"\n"), line + 1):
        cells = text.split(b"\t")
        if cells[0].isdigit():
            sentence += not inside
            connective = CONNECTIVE.search(cells[-1])
            misc = cells[-1].decode(errors="replace").strip() if any(name in cells[-1] for name in ANNOTATED) else ""
            rows.append((len(rows), sentence, connective[1].decode() if connective else "", misc, number))
            inside = True
        elif not text:
            inside = False
    schema = {"place": pl.Int64, "sentence": pl.Int64, "mark": pl.String, "misc": pl.String, "line": pl.Int64}
    return pl.DataFrame(rows, schema, orient="row")


def read_relations(
    data: bytes, stem: str, shard: Shard, marks: pl.DataFrame
) -> tuple[pl.DataFrame, list[CorpusFormatError], dict[int, str]]:
    """The relations of the documents of a shard.

    Args:
        data: the ``.rels`` file.
        stem: its name without suffix, which ends with the split.
        shard: the ``.conllu`` file or a block of it; relations of other documents are skipped.
        marks: of each word of the shard, from `word_marks`.

    Returns:
        The table ``RELATIONS``, what is malformed, and line → the document that it names.
    """
    lines = data.decode("utf-8-sig", errors="replace").replace("\r\n", "\n").rstrip("\n").split("\n")
    header = lines[0].split("\t")
    if missing := [name for name in NEEDED if name not in header]:
        message = f"no column {', '.join(missing)} in the first line; .rels files of DISRPT 2021 and later have them"
        return pl.DataFrame(schema=RELATIONS), [CorpusFormatError(message, line=1, reason=REASON)], {}
    documents = _words_by_document(shard, marks)
    sentences = _sentence_columns(shard)
    rows, relations = list[Row](), list[dict[str, Any]]()
    problems: list[CorpusFormatError] = []
    named: dict[int, str] = {}
    for number, line in enumerate(lines[1:], 2):
        try:
            row = _split_row(line, header)
            named[number] = row["doc"]
            if row["doc"] in documents:
                words = documents[row["doc"]]
                units = [_unit(row[f"unit{n}_toks"], row[f"unit{n}_txt"], words, row["doc"]) for n in (1, 2)]
                relations.append(_relation(row, units, words, sentences, published_split(stem)))
                rows.append(row)
        except CorpusFormatError as error:
            problems.append(CorpusFormatError(error.problem, line=number, reason=REASON))
    return _relation_table(relations, rows, shard.documents), problems, named


def _sentence_columns(shard: Shard) -> Columns:
    return shard.sentences.select("text", "run", "sent_id").to_dict(as_series=False)


def published_split(stem: str) -> str | None:
    """The split that the name of a file ends with; None if it ends with another word."""
    return SPLITS.get(re.split("[-_]", stem)[-1])


def read_annotated(
    shard: Shard, marks: pl.DataFrame, stems: Sequence[str]
) -> tuple[pl.DataFrame, list[tuple[int, CorpusFormatError]]]:
    """The relations that the words of a shard carry in MISC, as the rows that DISRPT makes of them.

    A document of which a sentence was left out as malformed gives none, since its units cannot be counted.

    Args:
        shard: a CoNLL-U file or a block of it.
        marks: of each word of the shard, from `word_marks`.
        stems: name of the file of each sentence, without suffix.

    Returns:
        The table ``RELATIONS``, and what is malformed, with the number of its sentence in the shard.
    """
    sentences = _sentence_columns(shard)
    rows, relations = list[Row](), list[dict[str, Any]]()
    problems: list[tuple[int, CorpusFormatError]] = []
    for doc_id, words in _words_by_document(shard, marks).items():
        if not any(words["misc"]) or min(words["sent"]) < 0:
            continue
        layers = [dict(pair.partition("=")[::2] for pair in misc.split("|")) for misc in words["misc"]]
        of_pdtb, malformed = _rows_of_pdtb(layers, words["mark"])
        for word, message in malformed:
            sent = words["sent"][word]
            place = {"line": words["line"][word], "sent_id": sentences["sent_id"][sent]}
            problems.append((sent, CorpusFormatError(message, reason=REASON, **place)))
        for row in (*of_pdtb, *_rows_of_erst(layers)):
            units = [_spans(row[f"unit{n}_toks"], len(words["form"]), doc_id) for n in (1, 2)]
            native = published_split(stems[words["sent"][units[0][0][0]]])
            relations.append(_relation(row, units, words, sentences, native))
            rows.append(row)
    return _relation_table(relations, rows, shard.documents), problems


def _rows_of_erst(layers: Sequence[Mapping[str, str]]) -> Iterator[Row]:
    """The edges of eRST: a unit is all words up to the next unit, with the parts that *same-unit* joins to it.

    Of several edges between two units the first counts. Its arrow leads to the unit on which the other depends.
    """
    words_of: dict[int, list[int]] = {}
    edges: list[tuple[str, int, int, str]] = []
    for word, layer in enumerate(layers, 1):
        for name, unit, head, _, signals in EDGE.findall(layer.get("Discourse", "")):
            if int(unit) == len(words_of) + 1:
                words_of[int(unit)] = []
            if head:
                edges.append((NAMED_NUCLEI.sub("", name), int(unit), int(head), signals))
        if words_of:
            words_of[len(words_of)].append(word)
    first_part = {unit: head for name, unit, head, _ in edges if name == "same-unit" and head < unit}

    def whole(unit: int) -> int:
        while unit in first_part:
            unit = first_part[unit]
        return unit

    units: dict[int, list[int]] = {}
    for unit, words in words_of.items():
        units.setdefault(whole(unit), []).extend(words)
    joined = set()
    for name, unit, head, signals in edges:
        ends = whole(unit), whole(head)
        if name != "same-unit" and frozenset(ends) not in joined and all(units.get(end) for end in ends):
            joined.add(frozenset(ends))
            yield _row(name, "explicit" if MARKED.search(signals) else "implicit", units[ends[0]], units[ends[1]], 0)


def _rows_of_pdtb(layers: Sequence[Mapping[str, str]], marks: list[str]) -> tuple[list[Row], list[tuple[int, str]]]:
    """Relations of the Penn Discourse Treebank: ``kind:sense:connective:words:first argument:second argument``.

    The connective is a part of the argument that it is inside, or stands before, or else stands after. Where the sense
    gives the first argument a role, the first depends on the second. The words of explicit connectives are marked.

    Returns:
        The rows; and the word of each relation that names other words than those of the document, with a message.
    """
    rows: list[Row] = []
    malformed: list[tuple[int, str]] = []
    for word, layer in enumerate(layers):
        for kind, sense, connective, *arguments in PDTB.findall(layer.get("PDTB", "")):
            if kind.lower() in NO_RELATION or sense.lower() in NO_RELATION:
                continue
            try:
                first, second, marked = (_numbers(text, len(layers)) for text in (*arguments, connective))
            except CorpusFormatError as error:
                malformed.append((word, f"PDTB={kind}:{sense}: {error}"))
                continue
            for start, end in _runs(marked):
                inside = [
                    (start - 1 in words) + (end + 1 in words) + (end + 1 in words) / 2 for words in (first, second)
                ]
                (first if inside[0] > inside[1] else second).extend(range(start, end + 1))
                if kind.lower() == "explicit":
                    marks[start - 1 : end] = ["B", *"I" * (end - start)]
            rows.append(_row(sense, kind, first, second, int("arg1-as" in sense.lower()) or -1))
    return rows, malformed


def _row(name: str, kind: str, first: list[int], second: list[int], depends: int) -> Row:
    """A row of a table of DISRPT, but for its document.

    ``depends`` is 1 if the unit that comes first in the text depends on the other, -1 for the other way round, and 0 if
    the unit ``first`` does.
    """
    units = [sorted(first), sorted(second)]
    is_first = units[0][0] <= units[1][0]
    numbers = [",".join(f"{start}-{end}" for start, end in _runs(words)) for words in sorted(units, key=lambda w: w[0])]
    depending = depends > 0 if depends else is_first
    return {
        "unit1_toks": numbers[0], "unit2_toks": numbers[1], "dir": "1>2" if depending else "1<2",
        "rel_type": kind.lower(), "orig_label": name.lower(), "label": name.lower(),
    }  # fmt: skip


def _numbers(text: str, n_words: int) -> list[int]:
    """``1-3,5`` as ``[1, 2, 3, 5]``; ``_`` as none. Raises CorpusFormatError if these are no words of the document."""
    if text == "_":
        return []
    if not re.fullmatch(r"\d+(-\d+)?(,\d+(-\d+)?)*", text):
        raise CorpusFormatError(f"'{text}' names no words; they are written like 1-11,15")
    ends = [(int(first), int(last or first)) for first, _, last in (part.partition("-") for part in text.split(","))]
    if any(not 1 <= first <= last <= n_words for first, last in ends):
        raise CorpusFormatError(f"{text} points outside the document ({n_words} words); words are counted from 1")
    return [number for first, last in ends for number in range(first, last + 1)]


def _runs(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """The first and the last of the numbers that follow each other."""
    runs: list[tuple[int, int]] = []
    for number in sorted(set(numbers)):
        runs[-1:] = [(runs[-1][0], number)] if runs and runs[-1][1] == number - 1 else [*runs[-1:], (number, number)]
    return runs


def _split_row(line: str, header: list[str]) -> Row:
    cells = line.split("\t")
    if len(cells) != len(header):
        raise CorpusFormatError(f"{len(cells)} columns where the first line has {len(header)}; check for stray tabs")
    row = dict(zip(header, cells, strict=True))
    if empty := [name for name in ("doc", "orig_label", "label") if not row[name].strip()]:
        raise CorpusFormatError(f"{', '.join(empty)} is empty; fill it or remove the line")
    return row


def _words_by_document(shard: Shard, marks: pl.DataFrame) -> dict[str, Columns]:
    """Document id → its words, with those of sentences that were left out."""
    words = shard.tokens.join(shard.sentences.select("sent", "doc"), on="sent", maintain_order="left").select(
        "doc", "form", *(pl.col(name).cast(pl.Int64) for name in ("start", "end", "sent")), *marks.drop("sentence")
    )
    ids = dict(shard.documents.select("doc", "doc_id").drop_nulls("doc_id").iter_rows())
    documents: dict[str, Columns] = {}
    for (doc,), part in words.group_by("doc", maintain_order=True):
        if doc in ids:
            first, last = part.select(pl.col("place").min(), last=pl.col("place").max()).row(0)
            places = pl.DataFrame({"place": range(first, last + 1)})
            every = places.join(part, on="place", how="left", maintain_order="left").with_columns(
                pl.col("start", "end", "sent").fill_null(-1), pl.col("form", "mark", "misc").fill_null(""),
                pl.col("line").fill_null(0),
            )  # fmt: skip
            documents[ids[doc]] = every.with_columns(doc=pl.lit(doc)).to_dict(as_series=False)
    return documents


def _unit(numbers: str, text: str, words: Columns, doc: str) -> list[Span]:
    """The spans of the words of a unit, which must be those of its ``text`` in the table."""
    spans = _spans(numbers, len(words["form"]), doc)
    inside = [place for span in spans for place in range(*span)]
    if any(words["sent"][place] < 0 for place in inside):
        raise CorpusFormatError(f"words {numbers} of document {doc} are in a malformed sentence, which was left out")
    # some tables were written with quotation marks around cells
    quoted = len(text) > 1 and text[0] == text[-1] == '"'
    unquoted = text[1:-1].replace('""', '"') if quoted else text
    forms = [words["form"][place] for place in inside]
    if not _is_made_of(text, forms) and not _is_made_of(unquoted, forms):
        raise CorpusFormatError(
            f"words {numbers} of document {doc} are '{_shorten(' '.join(forms))}', not '{_shorten(text)}'; "
            "the .rels and the .conllu file must be of the same release"
        )
    return spans


def _cut(spans: list[Span], words: Columns, sentences: Sequence[str]) -> str:
    """The text of a unit."""
    parts = []
    for first, after in spans:
        pieces = []
        for sent in dict.fromkeys(words["sent"][first:after]):
            places = [place for place in range(first, after) if words["sent"][place] == sent]
            start, end = words["start"][places[0]], words["end"][places[-1]]
            is_placed = start >= 0 and end >= 0
            pieces.append(sentences[sent][start:end] if is_placed else " ".join(words["form"][at] for at in places))
        parts.append(running_text(pieces))
    return ELLIPSIS.join(parts)


def _context(
    units: Sequence[list[Span]], words: Columns, sentences: Columns
) -> tuple[str, list[list[dict[str, int]]]] | None:
    """The sentences of both units as one text, and where the parts of each unit are in it.

    It is None if it is not known where a word stands in its sentence.

    Between sentences that do not follow each other there is an ellipsis.
    """
    texts, passages = sentences["text"], sentences["run"]
    numbers = {sent for unit in units for first, after in unit for sent in words["sent"][first:after]}
    text, begins, last = "", {}, -1
    for sent in sorted(numbers):
        if text:
            follows = sent == last + 1 and passages[sent] == passages[last]
            text += ("" if UNSPACED_END.search(text) else " ") if follows else ELLIPSIS
        begins[sent], last = len(text), sent
        text += texts[sent]
    places = [
        [(first, after - 1, words["start"][first], words["end"][after - 1]) for first, after in unit] for unit in units
    ]
    if any(start < 0 or end < 0 for unit in places for *_, start, end in unit):
        return None
    spans = [
        [
            {"start": begins[words["sent"][first]] + start, "end": begins[words["sent"][last]] + end}
            for first, last, start, end in unit
        ]
        for unit in places
    ]
    return text, spans


def _is_made_of(text: str, forms: Sequence[str]) -> bool:
    """Whether a text of the table is made of these words; those that a licence masks (``____``) can be any."""
    pairs = text.replace(GAP, " ").split(), [word for form in forms for word in form.split()]
    return "".join(pairs[0]) == "".join(pairs[1]) or (
        len(pairs[0]) == len(pairs[1])
        and all(word == other or "" in {word.strip("_"), other.strip("_")} for word, other in zip(*pairs, strict=True))
    )


def _spans(numbers: str, n_words: int, doc: str) -> list[Span]:
    """The spans of words of a unit, ``1-11,15`` as ``[(0, 11), (14, 15)]``."""
    if not re.fullmatch(r"\d+(-\d+)?(,\d+(-\d+)?)*", numbers):
        raise CorpusFormatError(f"'{numbers}' names no words; a unit is written like 1-11,15")
    spans = [(int(first) - 1, int(last or first)) for first, _, last in (x.partition("-") for x in numbers.split(","))]
    places = [place for span in spans for place in span]
    if places != sorted(places) or any(first >= after for first, after in spans):
        raise CorpusFormatError(
            f"the spans of {numbers} overlap or are out of order; list each word once, in order, or leave the row out "
            "with --on-error skip"
        )
    if places[0] < 0 or places[-1] > n_words:
        raise CorpusFormatError(f"{numbers} points outside document {doc} ({n_words} words); words are counted from 1")
    return spans


def running_text(sentences: Sequence[str]) -> str:
    """Sentences joined to a text: by a blank, or by nothing after a sentence in a script without blanks."""
    return "".join(text if UNSPACED_END.search(text) else f"{text} " for text in sentences).rstrip()


def _lead(words: Columns, first: int, after: int) -> int | None:
    """The number of characters of the connective at the beginning of a span; None if there is none."""
    if words["mark"][first].upper() != "B" or words["start"][first] < 0:
        return None
    last = first
    while (
        last + 1 < after and words["mark"][last + 1].upper() == "I" and words["sent"][last + 1] == words["sent"][first]
    ):
        last += 1
    return cast("int", words["end"][last] - words["start"][first])


def _shorten(text: str, most: int = 40) -> str:
    return text if len(text) <= most else f"{text[:most]}…"


def _relation(
    row: Row, units: Sequence[list[Span]], words: Columns, sentences: Columns, native: str | None
) -> dict[str, Any]:  # fmt: skip
    """A row of ``RELATIONS`` without its key.

    Args:
        row: of a table of DISRPT.
        units: the spans of words of both.
        words: of the document.
        sentences: columns of the shard.
        native: the split.
    """
    context = _context(units, words, sentences)
    kind = row.get("rel_type", "")
    return {
        "doc": words["doc"][0],
        **{f"unit{n}": _cut(spans, words, sentences["text"]) for n, spans in enumerate(units, 1)},
        **{f"lead{n}": _lead(words, *spans[0]) for n, spans in enumerate(units, 1)},
        "direction": row["dir"],
        "rel_type": None if kind in {"", "_", "none"} else kind,
        "orig_label": row["orig_label"].strip(),
        "label": row["label"].strip(),
        "native": native,
        "context": context and context[0],
        **{f"span{n}": context and context[1][n - 1] for n in (1, 2)},
        "ids": [sentences["sent_id"][words["sent"][spans[0][0]]] for spans in units],
    }


def _relation_table(relations: Sequence[dict[str, Any]], rows: Sequence[Row], documents: pl.DataFrame) -> pl.DataFrame:
    """The table ``RELATIONS`` of relations, which are made of rows of a table of DISRPT."""
    document_of = dict(documents.select("doc", pl.col("key").cast(pl.String)).iter_rows())
    fields = "unit1_toks", "unit2_toks", "rel_type", "orig_label"
    names = [
        (document_of[relation["doc"]], *(row.get(name, "") for name in fields))
        for relation, row in zip(relations, rows, strict=True)
    ]
    repeats = Counter[tuple[str, ...]]()
    occurrences = []  # how often the same name occurred before: this makes the keys of repeated rows differ
    for name in names:
        occurrences.append(str(repeats[name]))
        repeats[name] += 1
    if not rows:
        return pl.DataFrame(schema=RELATIONS)
    columns = {name: [relation[name] for relation in relations] for name in RELATIONS if name != "key"}
    return pl.DataFrame({**columns, "key": record_keys(*zip(*names, strict=True), occurrences)}, schema=RELATIONS)
