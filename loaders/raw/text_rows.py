"""From files to rows: finds the documents of a source, whatever contains them.

``find_files`` lists the files of a source; ``rows_in`` reads one. A text file is a document, and so is a row of a table
(``rows_of``), a part of an aligned text (``aligned_rows``), or a division of a TEI work (`tei`).

Aligned texts (NTREX, WMT test sets) have a segment per line, and beside them a file with the document id of each line.
A segment counts as a sentence, since the translations of a document are aligned by segments. The first segment of a
document is its headline; this is so in all 123 documents of newstest2019.
"""

import itertools
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from discoprobe.loaders.errors import CorpusFormatError, DiscoprobeError, UsageError
from discoprobe.loaders.files import File
from discoprobe.loaders.languages.language import script_share
from discoprobe.loaders.raw.document import (
    UNSAFE,
    DropCounts,
    Paragraph,
    RawDocument,
    ReadOptions,
    TextWithOffsets,
    lay_out,
    one_line,
    paragraph_of,
    percent_encode,
)
from discoprobe.loaders.raw.html_text import text_of_html
from discoprobe.loaders.raw.tei import read_tei
from discoprobe.loaders.tables import (
    MARKS,
    TABLES,
    dataset_records,
    read_bytes,
    read_records,
    read_text,
    type_problem,
    utf_16_of,
)

HTML: Final = (".html", ".htm")
PLAIN: Final = (".txt", ".md", ".markdown", ".eml", *HTML)
TEI: Final = (".xml", ".tei")
READABLE: Final = (*PLAIN, *TEI, *TABLES)
SAVED: Final = frozenset({"dataset_dict.json", "state.json"})
"""Files in a folder that ``save_to_disk`` of ``datasets`` wrote."""
ABOUT: Final = frozenset(
    {"readme", "license", "licence", "copying", "notice", "source", "sources", "authors", "changelog", "citation"}
)
"""Names of files about the corpus, in lower case and without suffix."""
IDS: Final = "DOCUMENT_IDS.tsv"
"""The file beside aligned texts (NTREX, WMT test sets) that has the id of the document of each line."""
UNSAFE_IN_NAMES: Final = re.compile(r"[\x00-\x1f\x7f-\x9f%\u2028\u2029\udc80-\udcff]|^ | $")
COLUMNS: Final = {
    "sentences": ("sentences", "sents"),
    "text": ("text", "content", "body", "document", "article", "raw_content", "paragraphs", "sections"),
    "id": ("id", "doc_id", "document_id", "docid", "_id", "name", "title", "url"),
    "genre": ("genre", "register", "domain"),
}
"""Option → the column names, in lower case, that are tried in this order if the user does not name the column."""
PARQUET: Final = ".parquet"
SURROGATE: Final = re.compile("[\ud800-\udfff]")
"""Half of a character: JSON can express it, but UTF-8 cannot encode it."""


def place_of(file: File) -> str:
    """The name for messages and comments: spaces at its ends, control characters and ``%`` percent-encoded."""
    return UNSAFE_IN_NAMES.sub(percent_encode, file.path)


def is_table(file: File) -> bool:
    """Whether a file of a source is a table, whose rows are documents: so is a folder saved by ``datasets``."""
    path = Path(file.url)
    return not file.url or path.is_dir() or path.suffix.lower() in TABLES


def ids_beside(file: File) -> Path | None:
    """The file beside an aligned text with the document id of each line; None if there is none."""
    path = Path(file.url)
    ids = path.with_name(IDS) if file.url and path.suffix.lower() in PLAIN else None
    return ids if ids and ids.is_file() else None


def find_files(name: str, path: Path | None, options: ReadOptions, counts: DropCounts) -> list[File]:
    """The files of a source, by name; a dataset on the Hub (``path`` is None) counts as one without ``url``.

    Raises:
        DiscoprobeError: there is no file that can be read, or several texts are beside one file of ids.
        UsageError: an option names a column, and there is no table.
    """
    if path is None:
        return [File(name)]
    if path.is_file():
        check_kind(path)
        files = [File(path.name, url=str(path))]
    else:
        files = files_in(path, counts)
        for ids, n in Counter(ids for file in files if (ids := ids_beside(file))).items():
            if n > 1:
                problem = f"has {n} texts beside {ids.name}, which are the same documents; name the file to read"
                raise DiscoprobeError(f"{ids.parent}: {problem}")
    for option in () if any(map(is_table, files)) else COLUMNS:
        if column := getattr(options, option):
            raise UsageError(f"{name}: --{option} names a column, '{column}', but there is no table")
    return files


def check_kind(path: Path) -> None:
    """Raise a DiscoprobeError for a file whose suffix is not one of :data:`READABLE`."""
    if path.suffix.lower() not in READABLE:
        raise DiscoprobeError(f"{path}: neither .conllu nor a text that can be read: {', '.join(READABLE)}")


def files_in(top: Path, counts: DropCounts) -> list[File]:
    """The readable files of a folder and its subfolders, sorted by name; other files are counted.

    A folder that ``datasets`` saved counts as one file.
    Hidden files, and the ids beside aligned texts, are ignored. A folder that is reached again through a link is not
    read again; the names of its files are those without the link.

    Raises:
        DiscoprobeError: a folder cannot be listed, or no file can be read.
    """
    files: list[File] = []
    visited: set[Path] = set()
    folders, links = [top], list[Path]()  # links to folders are followed at the end
    while folders or links:
        folder = (folders or links).pop(0)
        try:
            paths = sorted(path for path in folder.iterdir() if path.name != IDS and not path.name.startswith("."))
        except OSError as error:
            raise DiscoprobeError(f"{folder}: cannot be listed: {error.strerror}") from error
        subfolders = [path for path in paths if os.path.isdir(path)]  # noqa: PTH112 (`is_dir` raises for some links)
        reasons: dict[Path, str] = {}  # why a path is not read; empty if it is read
        if folder.resolve() in visited:
            reasons[folder] = "folder-loop"
        elif SAVED.intersection(path.name for path in paths):
            reasons[folder] = ""
        else:
            folders[:0] = [path for path in subfolders if not path.is_symlink()]
            links += [path for path in subfolders if path.is_symlink()]
            for path in sorted({*paths} - {*subfolders}):
                suffix = path.suffix.lower()
                is_about = suffix in PLAIN and path.stem.lower() in ABOUT
                reasons[path] = "about-the-corpus" if is_about else ""
                if suffix not in READABLE or not os.path.isfile(path):  # noqa: PTH113 (`is_file` raises for some links)
                    reasons[path] = "unknown-file"
        visited.add(folder.resolve())
        for path, reason in reasons.items():
            file = File(path.relative_to(top).as_posix(), url=str(path))
            if reason:
                counts.add(reason, place_of(file))
            else:
                files.append(file)
    if not files:
        raise DiscoprobeError(f"{top}: nothing to read in this folder; what can be read: {', '.join(READABLE)}")
    return sorted(files, key=lambda file: file.path)


def rows_in(file: File, source: str, options: ReadOptions, counts: DropCounts) -> Iterator[RawDocument]:
    """The rows of a file of a source, a few at a time in memory.

    ``counts`` counts what is not read, such as malformed rows if the option ``on_error`` is ``"skip"``.

    Raises:
        CorpusFormatError: the file, or a row, is malformed.
        UsageError: the columns are not known.
        RemoteError: the Hub does not provide it.
        DiscoprobeError: it cannot be read, or has no such split.
    """
    path = Path(file.url) if file.url else None
    place = source if path is None or file.path == "." else place_of(file)

    def choose(names: Sequence[str], split: str = place) -> list[str]:
        return list(find_columns(names, options, split).values())

    if path is None or path.is_dir():
        records = dataset_records(
            path or source, place, choose, split=options.split, config=options.config, revision=options.revision
        )
        for split, group in itertools.groupby(records, lambda record: record[0]):
            yield from rows_of(((number, record) for _, number, record in group), split, options, counts)
    elif is_table(file):
        encoding, note = encoding_of(path, place, options, counts), counts.notes.append
        yield from rows_of(read_records(path, place, choose, encoding, note), place, options, counts)
    elif path.suffix.lower() in TEI:
        yield from read_tei(path, place, document_id(file.path), counts, options.min_document_words)
    elif ids := ids_beside(file):
        yield from aligned_rows(read_text(path, place, options.encoding), read_text(ids, ids.name), place)
    else:
        text = read_text(path, place, encoding_of(path, place, options, counts))
        text = text_of_html(text) if path.suffix.lower() in HTML else text
        yield RawDocument(document_id(file.path), (), place, text)


CODE_PAGES: Final = {
    "cp1250": "bs cs hr hu pl ro sh sk sl", "cp1251": "be bg mk ru sr uk", "cp1253": "el", "cp1254": "az tr",
    "cp1255": "he yi", "cp1256": "ar fa ur", "cp1257": "et lt lv",
}  # fmt: skip
"""Encoding of Windows → the languages that it is used for; those of other languages in Latin script have cp1252."""
WESTERN: Final = "cp1252"


def encoding_of(path: Path, place: str, options: ReadOptions, counts: DropCounts) -> str:
    """The encoding of a text file: that of the options, else of its content, with a note unless it is UTF-8.

    A file that is not UTF-8 has the code page of Windows for the language, as spreadsheets write it, if all of its
    letters beyond ASCII are of the script of the language there. Empty where nothing fits, and for UTF-8.
    """
    if options.encoding or path.suffix.lower() == PARQUET:
        return options.encoding
    data = read_bytes(path, place)
    if data.startswith(tuple(MARKS)):
        return ""
    try:
        data.decode()
    except UnicodeDecodeError:
        pages = (page for page, languages in CODE_PAGES.items() if options.lang in languages.split())
        found = next(pages, WESTERN)
        text = data.decode(found, "replace")
        letters = "".join(sorted({char for char in text if char.isalpha() and not char.isascii()}))
        usual = bool(options.lang) and (not letters or script_share(letters, options.lang) == 1)
        found = found if usual and "\ufffd" not in text and "\0" not in text else ""
    else:
        found = utf_16_of(data)
    found = found or utf_16_of(data)
    if found:
        counts.notes.append(f"{place}: read as {found}; if that is wrong, name its encoding with --encoding")
    return found


def document_id(name: str) -> str:
    """The document id for a name: NFC, with white space, control characters and ``%`` percent-encoded.

    Different names give different ids, unless they differ only in Unicode normalisation. The suffix of a text file is
    removed, so that a file and a row of a table with its name have the same id.
    """
    short = next((name.removesuffix(suffix) for suffix in (*PLAIN, *TEI) if name.endswith(suffix)), name)
    return UNSAFE.sub(percent_encode, unicodedata.normalize("NFC", short or name)) or "%"


def find_columns(names: Sequence[str], options: ReadOptions, where: str) -> dict[str, str]:
    """Option → column, for the text or sentences, ids and genres: the columns that the user names, else usual names.

    Raises:
        UsageError: a column that the user names is missing, or no column has a usual name for the text.
        CorpusFormatError: several columns have the name of a chosen one.
    """
    if options.text and options.sentences:
        raise UsageError("--text and --sentences both name the column of the text; give one of them")
    chosen = {option: getattr(options, option) or find_column(names, usual) for option, usual in COLUMNS.items()}
    chosen.pop("sentences" if options.text else "text" if chosen["sentences"] else "", None)
    columns = {option: column for option, column in chosen.items() if column}
    for option, column in columns.items():
        if column not in names:
            raise UsageError(f"{where}: no column '{column}' for --{option}; there are: {', '.join(names)}")
        if (n := names.count(column)) > 1:
            raise CorpusFormatError(f"{n} columns are called '{column}'; give each a name of its own", path=where)
    if not columns.keys() & {"text", "sentences"}:
        raise UsageError(
            f"{where}: which column holds the text? Name it with `build annotate --text`: {', '.join(names)}"
        )
    return columns


def find_column(names: Sequence[str], usual: Sequence[str]) -> str:
    """The column with the first of the ``usual`` names that exists, in any case; empty if none does."""
    lower = {name.lower(): name for name in reversed(names)}
    return next((lower[name] for name in usual if name in lower), "")


def rows_of(
    records: Iterable[tuple[int, Mapping[str, Any] | CorpusFormatError]],
    name: str,
    options: ReadOptions,
    counts: DropCounts,
) -> Iterator[RawDocument]:
    """Numbered records as rows; the first record tells which columns there are.

    The id of a row without an id, or with the id of an earlier row, is made of the name of the table and the number of
    the row, with ``~2``, ``~3``, … if an earlier row has that id. If the user names the column of ids, such a row is
    malformed.
    """
    columns: dict[str, str] = {}
    numbers: dict[str, int] = {}  # of rows, by id
    stem = document_id(str(PurePosixPath(name).with_suffix("")))
    for number, record in records:
        place = f"{name}:{number}"
        if not columns and isinstance(record, Mapping):
            columns = find_columns(list(record), options, name)
        try:
            if isinstance(record, CorpusFormatError):
                raise record
            row = _record_row(record, columns, place)
            if options.id and not row.doc_id:
                raise CorpusFormatError(f"no id in column '{options.id}'; name another one with --id", path=place)
            if options.id and (before := numbers.get(row.doc_id)) is not None:
                problem = f"id '{row.doc_id}' names this row and {name}:{before}; name a column of unique ids with --id"
                raise CorpusFormatError(problem, path=place)
        except CorpusFormatError as error:
            counts.refuse(error, options.on_error)
            continue
        numbered = f"{stem}-{number:06}"
        candidates = itertools.chain([row.doc_id, numbered], (f"{numbered}~{n}" for n in itertools.count(2)))
        unique = next(candidate for candidate in candidates if candidate and candidate not in numbers)
        numbers[unique] = number
        yield replace(row, doc_id=unique)


class _Section(msgspec.Struct):
    text: str
    name: str | None = None


def _record_row(record: Mapping[str, Any], columns: Mapping[str, str], place: str) -> RawDocument:
    """A record as a row; its id may be empty.

    Sections become Markdown: the name of the first section (the lead) becomes the title, other names headings.
    """
    option = "sentences" if "sentences" in columns else "text"
    content, paragraphs = record.get(columns[option]), tuple[Paragraph, ...]()
    try:
        if option == "sentences":
            nested = isinstance(content, list) and content and isinstance(content[0], list)
            lists = msgspec.convert(content, list[list[str]]) if nested else [msgspec.convert(content or [], list[str])]
            text, paragraphs = lay_out([paragraph_of(sentences) for sentences in lists])
        elif isinstance(content, list) and any(isinstance(part, dict) for part in content):
            blocks: list[str] = []
            for number, section in enumerate(msgspec.convert(content, list[_Section]), 1):
                heading = " ".join((section.name or "").split())
                if number > 1 and not heading:
                    problem = f"section {number} has no name; only the first, the lead, may have none"
                    raise CorpusFormatError(problem, path=place)
                blocks += [f"{'#' * min(number, 2)} {heading}", section.text] if heading else [section.text]
            text = "\n\n".join(blocks)
        elif isinstance(content, list):
            text = "\n\n".join(msgspec.convert(content, list[str]))
        else:
            text = msgspec.convert(content, str | None) or ""
    except msgspec.ValidationError as error:
        problem = f"column '{columns[option]}'{type_problem(error)}; correct it, or name another column with --{option}"
        raise CorpusFormatError(problem, path=place) from error
    if half := SURROGATE.search(text):
        problem = f"column '{columns[option]}' holds half of a character (surrogate U+{ord(half[0]):04X}); remove it"
        raise CorpusFormatError(problem, path=place)
    name, genre = (record.get(columns[column]) if column in columns else None for column in ("id", "genre"))
    return RawDocument(
        "" if name is None else document_id(str(name)), paragraphs, place, text, isinstance(content, list),
        "" if genre is None else one_line(str(genre)),
    )  # fmt: skip


def aligned_rows(source: str, ids: str, name: str) -> list[RawDocument]:
    """The documents of an aligned text, in the order of the file; ``ids`` has the id of the document of each line.

    Raises:
        CorpusFormatError: the numbers of ids and segments differ, or the lines of a document are not together.
    """
    lines, labels = (text.removesuffix("\n").split("\n") for text in (source, ids))
    if len(lines) != len(labels):
        raise CorpusFormatError(f"has {len(lines)} lines, {IDS} beside it has {len(labels)}", path=name)
    starts = list(itertools.accumulate((len(line) + 1 for line in lines), initial=0))
    rows: dict[str, RawDocument] = {}
    for label, group in itertools.groupby(range(len(lines)), lambda number: labels[number].strip()):
        numbers = list(group)
        first = numbers[0]
        if label in rows:
            problem = f"document '{label}' continues here after another one: {IDS} must keep its lines together"
            raise CorpusFormatError(problem, path=name, line=first + 1)
        sentences = paragraph_of([lines[number] for number in numbers[1:]])
        paragraphs = (
            Paragraph(TextWithOffsets(lines[first], starts[first]), "heading"),
            replace(sentences, content=TextWithOffsets(sentences.text, starts[first + 1])),
        )
        rows[label] = RawDocument(document_id(label), paragraphs, name, source)
    return list(rows.values())
