"""Lines without header: SentEval, TREC, X-Probe, DiscoEval, fastText, CoLA and the multilingual Winograd schemas.

``guess_tabbed`` says which of these formats (``TABBED``) lines have; ``spread_rows`` reads the sets whose rows are
spread over files. What the formats have in common is done by ``_labelled_rows``.
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import polars as pl
from msgspec.structs import replace

from discoprobe.builders.audit.frame import (
    COMPARED,
    SCHEMA,
    AuditInput,
    Provenance,
    UnreadableDataError,
    compares,
    conform,
    most_choices,
)
from discoprobe.builders.audit.inputs.columns import index_labels, pair_columns
from discoprobe.builders.audit.inputs.data_files import NAMES, Group, with_provenance
from discoprobe.builders.config import Shape
from discoprobe.loaders import hashing
from discoprobe.loaders.tables import has_header, read_labelled_text, suffix_of
from discoprobe.loaders.words import UNSPACED

_ORIGINAL = ({"O", "I"}, {"O", "C"}, {"Orig", "Inv"}, {"Orig", "Corr"})
"""Labels of perturbation tasks of SentEval and X-Probe; the original is the first."""
_LONGEST_LABEL = 80
_LONG_UNSPACED = 8
"""Sentences in a script without spaces between words have more characters than this, on average."""
_REPEATED = 0.2
"""Largest number of different labels per row; word content has 1,000 labels in 10,000 rows."""

_TREC = r"^([A-Z]{2,}):\S*\s+(\S.*)$"
_SCORE = r"^\s*\d+\.\d+\s*$|^\s*\d+\s*$"
_FASTTEXT = r"^\s*__label__(\S+)\s*,?\s*(.*)$"
_LABEL_FIRST = r"^(\S+)\s+(\S.*)$"
_FIRST_LABELS = (
    r"(?i)^(?:[-+]?\d{1,2}|pos|neg|neu|positive|negative|neutral|mixed|ham|spam|true|false|objective|subjective)$"
)
"""First words of lines that are labels and no text."""
_SAMPLE = 1000
"""Lines that are looked at one by one."""
_MOST_CLASSES = 20
"""Largest number of labels at the start of lines of text."""
_CONLLU_FIELDS = 10
_LONG_WORDS = 25
"""Words, or a word with its tags, have fewer characters than this, on average."""
_FIELDS = pl.col("fields")
_N_FIELDS = _FIELDS.list.len()


def _expect(lines: pl.DataFrame, holds: pl.Expr, what: str) -> None:
    """Checks that all lines are as they must be.

    Raises:
        UnreadableDataError: one is not; the message names the first.
    """
    wrong = lines.filter(~holds).head(1)
    for place, fields in wrong.select("id", "fields").iter_rows():
        raise UnreadableDataError(f"{place}: expected {what}, found {_describe_fields(fields)}")


def senteval(name: str, lines: pl.DataFrame) -> AuditInput:
    """SentEval: ``split label … text``, splits ``tr``, ``va``, ``te`` (its loader reads fields 1, 2 and the last)."""
    split = _FIELDS.list.first()
    _expect(lines, (_N_FIELDS >= 3) & split.is_in(list(NAMES)), "'tr|va|te, label, text' separated by tabs")  # noqa: PLR2004
    split = split.replace_strict(NAMES, default=None)
    return _labelled_rows(name, lines, "SentEval", "split, label, text", _field(1), pl.concat_list(_field(-1)), split)


def xprobe(name: str, lines: pl.DataFrame) -> AuditInput:
    """X-Probe: ``text label`` in ``tr.txt``, ``va.txt``, ``te.txt``."""
    _expect(lines, _N_FIELDS == 2, "'text, label' separated by a tab")  # noqa: PLR2004
    return _labelled_rows(name, lines, "X-Probe", "text, label", _field(1).str.strip_chars(), pl.concat_list(_field(0)))


def trec(name: str, lines: pl.DataFrame) -> AuditInput:
    """TREC of SentEval: ``CLASS:subclass text``; the class is the label, as in its loader."""
    _expect(lines, _field(0).str.contains(_TREC), "'CLASS:subclass text'")
    label, text = (_field(0).str.extract(_TREC, group) for group in (1, 2))
    return _labelled_rows(name, lines, "TREC", "class, text", label, pl.concat_list(text))


def fasttext(name: str, lines: pl.DataFrame) -> AuditInput:
    """FastText: ``__label__x text``; a line has one label."""
    line = _FIELDS.list.join("\t")
    _expect(lines, line.str.contains(_FASTTEXT), "'__label__x text'")
    _expect(
        lines,
        line.str.count_matches("__label__", literal=True) == 1,
        "one '__label__' in a line: a row needs one label",
    )
    label, text = (line.str.extract(_FASTTEXT, group) for group in (1, 2))
    return _labelled_rows(name, lines, "fastText", "label, text", label, pl.concat_list(text))


def label_first(name: str, lines: pl.DataFrame) -> AuditInput:
    """Lines of ``label text``, separated by a space."""
    line = _FIELDS.list.join("\t").str.strip_chars_start()
    _expect(lines, line.str.contains(_LABEL_FIRST), "'label text' separated by a space")
    label, text = (line.str.extract(_LABEL_FIRST, group) for group in (1, 2))
    return _labelled_rows(name, lines, "label first", "label, text", label, pl.concat_list(text))


def discoeval(name: str, lines: pl.DataFrame) -> AuditInput:
    """DiscoEval with labels: ``label s1 … sn`` (SP, DC, SSP, PDTB); with scores, the tables of STS."""
    _expect(lines, _N_FIELDS >= 2, "'label, sentence, …' separated by tabs")  # noqa: PLR2004
    longest = int(lines["fields"].list.len().to_numpy().max())
    fields = ", ".join(["label", *(f"s{n}" for n in range(1, longest))])
    is_sts = longest == 3 and _are_scores(lines["fields"].list.first())  # noqa: PLR2004  two texts
    return _labelled_rows(name, lines, "STS" if is_sts else "DiscoEval", fields, _field(0), _FIELDS.list.slice(1))


def cola(name: str, lines: pl.DataFrame) -> AuditInput:
    """CoLA: ``source label mark text``; the mark (``*``) is what the source's author wrote."""
    _expect(lines, _N_FIELDS == 4, "'source, label, mark, text'")  # noqa: PLR2004
    return _labelled_rows(name, lines, "CoLA", "source, label, mark, text", _field(1), pl.concat_list(_field(3)))


def _field(at: int) -> pl.Expr:
    return _FIELDS.list.get(at)


def _labelled_rows(  # noqa: PLR0913, PLR0917 (one parameter per column)
    name: str, lines: pl.DataFrame, kind: str, fields: str, label: pl.Expr, texts: pl.Expr, split: pl.Expr | None = None
) -> AuditInput:
    """Lines with a label and texts; those that lack one are left out and counted. ``fields`` describes them."""
    rows = lines.select("id", split=pl.col("split") if split is None else split, label=label, texts=texts)
    empty = (pl.col("texts").list.len() < 2) & (pl.col("texts").list.join("").str.strip_chars() == "")  # noqa: PLR2004
    faults = rows.select(
        pl.when(pl.col("label").str.strip_chars() == "").then(pl.lit("no label")).when(empty).then(pl.lit("no text"))
    ).to_series()
    frame = rows.filter(faults.is_null())
    if frame.is_empty():
        raise UnreadableDataError(f"{name}: no rows with text and label")
    perturbs = set(frame["label"].unique().to_list()) in _ORIGINAL
    if _are_scores(frame["label"]):
        frame = frame.with_columns(label=pl.col("label").str.strip_chars().cast(pl.Float64)).with_columns(score="label")
    names, label_of_rows, note = index_labels(frame["label"], first="O" if perturbs else None)
    frame = frame.with_columns(label_of_rows.alias("label"), pl.col("split").cast(SCHEMA["split"]))
    longest = int(frame["texts"].list.len().to_numpy().max())
    shape = {1: Shape.SENTENCE, 2: Shape.PAIR}.get(longest, Shape.SEQUENCE)
    about = Provenance(
        kind, columns={"fields": (fields,)}, left_out=dict(Counter(faults.drop_nulls().to_list())),
        notes=(note,) if note else (),
    )  # fmt: skip
    rows = conform(frame, shape)
    return AuditInput(
        name, shape, names, rows, perturbation=perturbs, natural=True, external=True,
        exempt=COMPARED if compares(shape, rows, names) else {}, read=about,
    )  # fmt: skip


def discoeval_bso(name: str, lines: pl.DataFrame) -> AuditInput:
    """DiscoEval's binary sentence ordering: ``s1 s2`` in the right order; both orders are made, as its loader does."""
    _expect(lines, _N_FIELDS == 2, "'s1, s2' separated by a tab")  # noqa: PLR2004
    numbered = lines.with_row_index("number")
    both = [
        numbered.select(
            "number", "split", id=pl.format("{}{}", "id", pl.lit(mark)), label=pl.lit(at, dtype=pl.Int64), texts=texts,
            pair_id="id",
        )
        for at, (mark, texts) in enumerate((("", _FIELDS), ("~", _FIELDS.list.reverse())))
    ]  # fmt: skip
    shuffled = _shuffle_rows(pl.concat(both).sort("number", "label").drop("number"), "bso")
    return AuditInput(
        name, Shape.PAIR, ("in_order", "swapped"), conform(shuffled, Shape.PAIR), perturbation=True, pairs=True,
        natural=True, external=True,
        read=Provenance("DiscoEval BSO", columns={"fields": ("s1, s2",)},
                        notes=("the files hold no labels: each pair gives a row in order and a row swapped",)),
    )  # fmt: skip


def xwino(name: str, lines: pl.DataFrame) -> AuditInput:
    """Winograd schemas of many languages: ``language source _ text tokens pronoun candidates``, the last in JSON."""
    entries, languages = [], Counter[str]()
    for split, place, fields in lines.select("split", "id", "fields").iter_rows():
        try:
            candidates = json.loads(fields[6])
            truth = [bool(candidate[3]) for candidate in candidates]
        except (IndexError, ValueError, TypeError) as error:
            raise UnreadableDataError(
                f"{place}: expected the candidates in JSON in field 7, found {_describe_fields(fields)}"
            ) from error
        if sum(truth) != 1:
            raise UnreadableDataError(f"{place}: {sum(truth)} candidates are right instead of one")
        languages[fields[0]] += 1
        entries.append((split, place, truth.index(True), [fields[3], *(candidate[0] for candidate in candidates)], 1))
    schema = {name: SCHEMA[name] for name in ("split", "id", "label", "texts", "n_context")}
    rows = conform(pl.DataFrame(entries, schema=schema, orient="row"), Shape.CHOICE)
    spread = ", ".join(f"{language} {n}" for language, n in languages.most_common())
    about = Provenance("XWino", columns={"fields": ("language, text, candidates",)}, notes=(f"languages: {spread}",))
    labels = tuple(map(str, range(most_choices(rows))))
    return AuditInput(name, Shape.CHOICE, labels, rows, natural=True, external=True, read=about)


def spread_rows(group: Group, encoding: str = "") -> AuditInput:
    """The rows of a dataset that are spread over files: a file per column, per class, or per text.

    Raises:
        CorpusFormatError: a file is no text.
        UnreadableDataError: the files of a split have different numbers of lines, or a label has no name.
    """
    lines = []
    label, texts = _field(0), _FIELDS.list.slice(1)
    for split, classes in group.classes.items():
        of_texts = group.layout.startswith("one file per text")
        fields, places = [], []
        for name, file in zip(classes, group.files[split], strict=True):
            content = [read_labelled_text(file, encoding)[0]] if of_texts else _text_lines(file, encoding)
            for number, text in enumerate(content, 1):
                if of_texts or text.strip():
                    fields.append([name, text.strip("\n") if of_texts else text])
                    places.append(f"{name}/{file.name}" if of_texts else f"{file.name}:{number}")
        rows = _field_rows(fields, split).with_columns(id=pl.Series(places, dtype=pl.String))
        lines.append(_shuffle_rows(rows, "classes"))
    if group.classes:
        data = _labelled_rows(group.name, pl.concat(lines), group.layout, "label, text", label, texts)
        return with_provenance(data, notes=("each file holds one class: the rows are in the order of a hash",))
    for split, files in group.files.items():
        # A file of scores and one of pairs for each part of an STS set; else a file for each column.
        step = 2 if group.layout == "STS" else len(files)
        for part in (files[at : at + step] for at in range(0, len(files), step)):
            columns = [_text_lines(file, encoding) for file in part]
            shortest = min(map(len, columns))  # empty lines at the end of one file are no rows
            columns = [column if any(column[shortest:]) else column[:shortest] for column in columns]
            if len(set(map(len, columns))) > 1:
                sizes = ", ".join(f"{file} {len(column)}" for file, column in zip(part, columns, strict=True))
                raise UnreadableDataError(f"files of one set have different numbers of lines: {sizes}")
            fields = [[*row] for row in zip(*columns, strict=True)]
            if group.layout == "STS":
                fields = [[score, *pair.split("\t")] for score, pair in fields]
            lines.append(_number_fields(fields, split, part[-1]))
    several = group.layout == "STS" or max(map(len, group.files.values())) > 2  # noqa: PLR2004  labels and one text
    kinds = "label, s1, s2" if several else "label, text"
    data = _labelled_rows(group.name, pl.concat(lines), group.layout, kinds, label, texts)
    return _name_classes(data, group.names, encoding) if group.names else data


def _name_classes(data: AuditInput, file: Path, encoding: str) -> AuditInput:
    """``data`` with the class names that a file has for its numbers: ``2<TAB>joy``, or the third line."""
    if suffix_of(file) == ".json":
        return data
    lines = [line.split("\t") for line in _text_lines(file, encoding) if line.strip()]
    numbered = is_class_list(lines)
    names = {line[0].strip() if numbered else str(at): line[-1].strip() for at, line in enumerate(lines)}
    before = data.read.notes if data.read else ()
    if not set(data.labels) <= names.keys():
        return with_provenance(data, notes=(*before, f"{file.name} does not name all classes, and is not used"))
    named = replace(data, labels=tuple(names[label] for label in data.labels))
    return with_provenance(named, notes=(*before, f"the names of the classes are those of {file.name}"))


def is_class_list(lines: Sequence[Sequence[str]]) -> bool:
    """Whether lines are numbers with names of classes (``0<TAB>joy``), each once, and no rows."""
    if not lines or any(len(line) != 2 for line in lines):  # noqa: PLR2004
        return False
    numbers, names = ({line[at].strip() for line in lines} for at in (0, 1))
    start = int("0" not in numbers)
    return len(names) == len(lines) and numbers == {str(number + start) for number in range(len(lines))}


def _field_rows(fields: list[list[str]], split: str) -> pl.DataFrame:
    return pl.DataFrame({"fields": pl.Series(fields, dtype=pl.List(pl.String))}).with_columns(split=pl.lit(split))


def _number_fields(fields: list[list[str]], split: str, file: Path) -> pl.DataFrame:
    rows = _field_rows(fields, split).with_row_index("number", offset=1)
    return rows.select("fields", "split", id=pl.format("{}:{}", pl.lit(file.name), "number"))


def _text_lines(file: Path, encoding: str) -> list[str]:
    return [line.removesuffix("\r") for line in read_labelled_text(file, encoding)[0].removesuffix("\n").split("\n")]


def _shuffle_rows(rows: pl.DataFrame, of: str) -> pl.DataFrame:
    return rows[hashing.ranking([hashing.digest(row_id) for row_id in rows["id"]], "audit", of)]


TABBED: Mapping[str, Callable[[str, pl.DataFrame], AuditInput]] = {
    "senteval": senteval,
    "trec": trec,
    "fasttext": fasttext,
    "label-first": label_first,
    "xprobe": xprobe,
    "discoeval": discoeval,
    "discoeval-bso": discoeval_bso,
    "cola": cola,
    "xwino": xwino,
}
"""Format name → reader of a dataset: its name, and a row for each line that is not empty, with ``split``, ``id``
(``te.txt:12``) and ``fields`` (list of strings)."""


def guess_tabbed(name: str, lines: pl.DataFrame) -> str | None:  # noqa: PLR0911 (one per format)
    """The format of lines without header; None for a table.

    Raises:
        UnreadableDataError: they could be two of them, or are no rows: words with tags, or names of classes.
    """
    sample = lines["fields"].head(_SAMPLE).to_list()
    _refuse_words(name, lines)
    if is_class_list(sample):
        raise UnreadableDataError(f"{name}: numbers with names of classes, no rows; name the files of rows")
    if bool(lines["fields"].head(_SAMPLE).list.first().str.contains(_FASTTEXT).all()):
        return "fasttext"
    if min(map(len, sample)) > 2 and all(fields[0] in NAMES for fields in sample):  # noqa: PLR2004
        return "senteval"
    of_first_split = lines.filter(split=lines["split"][0])  # files of other splits have headers of their own
    if pair_columns(sample[0]) is not None or has_header(of_first_split["fields"].head(_SAMPLE).to_list()):
        return None
    in_cola = (_N_FIELDS == 4) & _field(0).str.contains(r"^[\w&.-]{1,12}$")  # noqa: PLR2004
    for at, marks in ((1, "^[01]$"), (2, r"^[\s*?#%]*$")):
        in_cola &= _FIELDS.list.get(at, null_on_oob=True).str.contains(marks)
    if lines.select(in_cola.all()).item():
        return "cola"
    if all(len(fields) > 6 and fields[5][:1] == fields[6][:1] == "[" for fields in sample[:100]):  # noqa: PLR2004
        return "xwino"
    widest = int(lines["fields"].list.len().to_numpy().max())
    before, after = (lines["fields"].list.get(at) for at in (0, -1))
    if widest == 1 and bool(before.str.contains(_TREC).all()):
        return "trec"
    starts = before.str.strip_chars_start().str.extract(_LABEL_FIRST, 1)
    if widest == 1 and bool(starts.str.contains(_FIRST_LABELS).fill_null(value=False).all()):
        return "label-first" if 1 < starts.n_unique() <= min(_MOST_CLASSES, len(starts) // 2) else None
    first, last = _are_labels(before), _are_labels(after)
    if widest != 2:  # noqa: PLR2004
        return "discoeval" if widest > 2 and not last and (first or _are_scores(before)) else None  # noqa: PLR2004
    length, length_after = (float(values.str.len_chars().to_numpy().mean()) for values in (before, after))
    if first or last:
        return "discoeval" if first and (not last or length < length_after) else "xprobe"
    spaced = [float(values.str.contains(r"\S \S").to_numpy().mean()) for values in (before, after)]
    unspaced = min(length, length_after) > _LONG_UNSPACED and bool(before.head(1).str.contains(UNSPACED).all())
    if min(spaced) > 0.5 or unspaced:  # noqa: PLR2004  both are sentences
        return "discoeval-bso"
    raise UnreadableDataError(
        f"{name}: two fields without header, '{sample[0][0][:30]}' and '{sample[0][-1][:30]}', could be text and "
        "label (--format xprobe), label and text (--format discoeval), or two sentences (--format discoeval-bso)"
    )


def _refuse_words(name: str, lines: pl.DataFrame) -> None:
    """Raises an error for CoNLL: a word per line, with its tags, and empty lines between sentences."""
    words = lines.filter(split=lines["split"][0]).head(_SAMPLE)
    words = words.filter(~_field(0).str.starts_with("#"), ~_field(0).str.starts_with("-DOCSTART-"))
    if words.is_empty():
        return
    is_conllu = words.select(
        ((_N_FIELDS == _CONLLU_FIELDS) & _field(0).str.contains(r"^\d+(?:[-.]\d+)?$")).all()
    ).item()
    number = pl.col("id").str.extract(r":(\d+)$", 1).cast(pl.Int64)
    n_parts = _field(0).str.split(" ").list.len()
    tagged = ((_N_FIELDS > 1) & ~_field(0).str.contains(r"\s")) | ((_N_FIELDS == 1) & n_parts.is_between(2, 6))
    facts = words.select(
        tagged=tagged.all(), words=(_field(0).str.len_chars().mean() < _LONG_WORDS), gaps=(number.diff() > 1).sum(),
        blocks=(number.diff() == 1).sum(),
    ).row(0, named=True)  # fmt: skip
    is_conll = facts["tagged"] and facts["words"] and facts["gaps"] > 0 and facts["blocks"] > 2 * facts["gaps"]
    if is_conllu or is_conll:
        use = (
            "build from it with `build run --corpus`"
            if is_conllu
            else ("write a row per sentence, with its text (or the list of its words) and one label")
        )
        raise UnreadableDataError(
            f"{name}: {'CoNLL-U' if is_conllu else 'CoNLL'}, a word per line with its tags; a row needs a text "
            f"and one label: {use}"
        )


def _are_labels(values: pl.Series) -> bool:
    """Whether values are short and repeated throughout."""
    repeated = values.n_unique() < len(values) and values.n_unique() <= max(2, _REPEATED * len(values))
    return repeated and int(values.str.len_chars().to_numpy().max()) <= _LONGEST_LABEL


def _are_scores(values: pl.Series) -> bool:
    """Whether labels are numbers of which some have decimals; lines without a label do not count."""
    written = values.filter(values.str.strip_chars() != "")
    return bool(written.str.contains(_SCORE).all() and written.str.contains(r"\.\d").any())


def _describe_fields(fields: list[str]) -> str:
    return (
        f"{len(fields)} field{'s' * (len(fields) != 1)} beginning '{fields[0][:30]}'; name the right one with --format"
    )
