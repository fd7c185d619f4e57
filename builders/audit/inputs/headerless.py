"""Lines without header: SentEval, TREC, X-Probe, DiscoEval, fastText, CoLA and the multilingual Winograd schemas.

``guess_lines`` says which of the formats of ``published.toml`` lines have, ``read_lines`` reads them; ``spread_rows``
reads the sets whose rows are spread over files. What all of them have in common is done by ``_labelled_rows``.
"""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import polars as pl
from msgspec.structs import replace

from discoprobe.builders.audit.frame import (
    SCHEMA,
    AuditInput,
    Provenance,
    UnreadableDataError,
    most_choices,
    of_others,
    shape_of,
)
from discoprobe.builders.audit.inputs.columns import index_labels, pair_columns, several_labels
from discoprobe.builders.audit.inputs.data_files import NAMES, Group, with_provenance
from discoprobe.builders.audit.inputs.published import LINES, Lines
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

_SCORE = r"^\s*\d+\.\d+\s*$|^\s*\d+\s*$"
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


def read_lines(name: str, lines: pl.DataFrame, format_name: str) -> AuditInput:
    """Lines of one of the formats ``LINES``.

    Args:
        name: how reports call the dataset.
        lines: a row for each line that is not empty, with ``split``, ``id`` (``te.txt:12``) and ``fields`` (list of
            strings).
        format_name: a key of ``LINES``.

    Raises:
        UnreadableDataError: a line is not as the format has it, or there is no row with text and label.
    """
    form, line = LINES[format_name], _FIELDS.list.join("\t")
    parts = lines.select(line.str.extract_groups(form.pattern)).to_series().struct.unnest()
    _expect(lines, parts[:, 0].is_not_null(), form.expected)
    rows = lines.with_columns(parts)
    if form.once:
        once = lines.select(line.str.count_matches(form.once, literal=True) == 1).to_series()
        _expect(lines, once, f"one '{form.once}' in a line: a row needs one label")
    if "split" in parts.columns:
        _expect(lines, parts["split"].is_in(list(NAMES)), form.expected)
        rows = rows.with_columns(pl.col("split").replace_strict(NAMES, default=None))
    if format_name == "xwino":
        return _schemas(name, lines, rows, form)
    texts = pl.concat_list("text") if "text" in parts.columns else pl.col("texts").str.split("\t")
    rows = rows.with_columns(texts=texts)
    if format_name == "discoeval-bso":
        return _in_both_orders(name, rows, form)
    longest = int(rows["texts"].list.len().to_numpy().max())
    if format_name != "discoeval":
        return _labelled_rows(name, rows, form.title, form.fields)
    fields = ", ".join(["label", *(f"s{n}" for n in range(1, longest + 1))])
    is_sts = longest == 2 and _are_scores(rows["label"])  # noqa: PLR2004
    return _labelled_rows(name, rows, "STS" if is_sts else form.title, fields)


def _expect(lines: pl.DataFrame, holds: pl.Series, what: str) -> None:
    """Checks that all lines are as they must be.

    Raises:
        UnreadableDataError: one is not; the message names the first.
    """
    wrong = lines.filter(~holds).head(1)
    for place, fields in wrong.select("id", "fields").iter_rows():
        raise UnreadableDataError(f"{place}: expected {what}, found {_describe_fields(fields)}")


def _field(at: int) -> pl.Expr:
    return _FIELDS.list.get(at)


def _labelled_rows(name: str, lines: pl.DataFrame, kind: str, fields: str) -> AuditInput:
    """Lines with ``label`` and ``texts``; those that lack one are left out and counted. ``fields`` describes them."""
    rows = lines.select("id", "split", "label", "texts")
    empty = (pl.col("texts").list.len() < 2) & (pl.col("texts").list.join("").str.strip_chars() == "")  # noqa: PLR2004
    faults = rows.select(
        pl.when(pl.col("label").str.strip_chars() == "").then(pl.lit("no label")).when(empty).then(pl.lit("no text"))
    ).to_series()
    frame = rows.filter(faults.is_null())
    if frame.is_empty():
        raise UnreadableDataError(f"{name}: no rows with text and label")
    if several := several_labels(frame["label"]):
        raise UnreadableDataError(f"{name}: the label {several}")
    perturbs = set(frame["label"].unique().to_list()) in _ORIGINAL
    if _are_scores(frame["label"]):
        frame = frame.with_columns(label=pl.col("label").str.strip_chars().cast(pl.Float64)).with_columns(score="label")
    names, label_of_rows, note = index_labels(frame["label"], first="O" if perturbs else None)
    frame = frame.with_columns(label_of_rows.alias("label"), pl.col("split").cast(SCHEMA["split"]))
    left_out = dict(Counter(faults.drop_nulls().to_list()))
    about = Provenance(kind, {"fields": (fields,)}, left_out=left_out, notes=(note,) if note else ())
    return of_others(name, shape_of(frame["texts"]), names, frame, about, perturbation=perturbs)


def _in_both_orders(name: str, rows: pl.DataFrame, form: Lines) -> AuditInput:
    """Two sentences in the right order; both orders are made, as the loader of DiscoEval does."""
    numbered = rows.with_row_index("number")
    both = [
        numbered.select(
            "number", "split", id=pl.format("{}{}", "id", pl.lit(mark)), label=pl.lit(at, dtype=pl.Int64), texts=texts,
            pair_id="id",
        )
        for at, (mark, texts) in enumerate((("", pl.col("texts")), ("~", pl.col("texts").list.reverse())))
    ]  # fmt: skip
    shuffled = _shuffle_rows(pl.concat(both).sort("number", "label").drop("number"), "bso")
    note = "the files hold no labels: each pair gives a row in order and a row swapped"
    about = Provenance(form.title, {"fields": (form.fields,)}, notes=(note,))
    return of_others(name, Shape.PAIR, ("in_order", "swapped"), shuffled, about, perturbation=True, pairs=True)


def _schemas(name: str, lines: pl.DataFrame, rows: pl.DataFrame, form: Lines) -> AuditInput:
    """Winograd schemas, whose candidates are JSON: a text each, and whether it is right."""
    entries, languages = [], Counter[str]()
    columns = rows.select("split", "id", "language", "text", "choices")
    for at, (split, place, language, text, choices) in enumerate(columns.iter_rows()):
        try:
            candidates = json.loads(choices)
            truth = [bool(candidate[3]) for candidate in candidates]
        except (IndexError, ValueError, TypeError) as error:
            found = _describe_fields(lines["fields"][at].to_list())
            raise UnreadableDataError(f"{place}: expected {form.expected}, found {found}") from error
        if sum(truth) != 1:
            raise UnreadableDataError(f"{place}: {sum(truth)} candidates are right instead of one")
        languages[language] += 1
        entries.append((split, place, truth.index(True), [text, *(candidate[0] for candidate in candidates)], 1))
    schema = {name: SCHEMA[name] for name in ("split", "id", "label", "texts", "n_context")}
    frame = pl.DataFrame(entries, schema=schema, orient="row")
    spread = ", ".join(f"{language} {n}" for language, n in languages.most_common())
    about = Provenance(form.title, {"fields": (form.fields,)}, notes=(f"languages: {spread}",))
    return of_others(name, Shape.CHOICE, tuple(map(str, range(most_choices(frame)))), frame, about)


def spread_rows(group: Group, encoding: str = "") -> AuditInput:
    """The rows of a dataset that are spread over files: a file per column, per class, or per text.

    Raises:
        CorpusFormatError: a file is no text.
        UnreadableDataError: the files of a split have different numbers of lines, or a label has no name.
    """
    lines = []
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
        data = _labelled_rows(group.name, _first_is_label(lines), group.layout, "label, text")
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
    data = _labelled_rows(group.name, _first_is_label(lines), group.layout, kinds)
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


def _first_is_label(lines: list[pl.DataFrame]) -> pl.DataFrame:
    return pl.concat(lines).with_columns(label=_field(0), texts=_FIELDS.list.slice(1))


def _field_rows(fields: list[list[str]], split: str) -> pl.DataFrame:
    return pl.DataFrame({"fields": pl.Series(fields, dtype=pl.List(pl.String))}).with_columns(split=pl.lit(split))


def _number_fields(fields: list[list[str]], split: str, file: Path) -> pl.DataFrame:
    rows = _field_rows(fields, split).with_row_index("number", offset=1)
    return rows.select("fields", "split", id=pl.format("{}:{}", pl.lit(file.name), "number"))


def _text_lines(file: Path, encoding: str) -> list[str]:
    return [line.removesuffix("\r") for line in read_labelled_text(file, encoding)[0].removesuffix("\n").split("\n")]


def _shuffle_rows(rows: pl.DataFrame, of: str) -> pl.DataFrame:
    return rows[hashing.ranking([hashing.digest(row_id) for row_id in rows["id"]], "audit", of)]


def guess_lines(name: str, lines: pl.DataFrame) -> str | None:  # noqa: PLR0911 (one per format)
    """The format of lines without header; None for a table.

    Raises:
        UnreadableDataError: they could be two of them, or are no rows: words with tags, or names of classes.
    """
    sample = lines["fields"].head(_SAMPLE).to_list()
    _refuse_words(name, lines)
    if is_class_list(sample):
        raise UnreadableDataError(f"{name}: numbers with names of classes, no rows; name the files of rows")
    if bool(lines["fields"].head(_SAMPLE).list.first().str.contains(LINES["fasttext"].pattern).all()):
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
    if widest == 1 and bool(before.str.contains(LINES["trec"].pattern).all()):
        return "trec"
    starts = before.str.extract(LINES["label-first"].pattern, 1)
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
