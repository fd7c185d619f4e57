"""Options of reading raw text, and how a user writes them."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal

import msgspec

from discoprobe.loaders.errors import OnError, UnknownNameError, UsageError

Lines = Literal["auto", "wrapped", "sentences", "paragraphs"]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Count = Annotated[int, msgspec.Meta(ge=0)]


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How raw text is read, and what is dropped."""

    lang: str = ""  # code of the language: for script and language share, and hyphens
    text: str = ""  # the column of a table with the text; if empty, chosen by common names
    id: str = ""  # the column with the ids of documents
    genre: str = ""  # the column with genres
    sentences: str = ""  # the column with the text as a list of sentences, or of such lists, one per paragraph
    encoding: str = ""  # of text files and text tables; if empty, UTF-8, or UTF-16 and UTF-32 with a byte order mark
    lines: Lines = "auto"  # what the lines of a text are; ``auto`` decides per document (``plain_text.line_kind``)
    on_error: OnError = "stop"  # at a document that cannot be read; ``skip`` counts it
    split: str = ""  # of a Hub or saved dataset; all splits if empty
    config: str = ""  # of a Hub dataset
    revision: str = ""  # of a Hub dataset
    min_words: Count = 1  # paragraphs with fewer words are dropped
    max_characters: Count = 20_000  # longer paragraphs are cut after a sentence
    min_document_words: Count = 1  # of running text; shorter documents are dropped, shorter divisions of TEI are joined
    script_share: Share = 0.5  # least share of a paragraph's letters in the scripts of the language; 0 switches it off
    language_share: Share = 0.5  # least share of a document's text in paragraphs of its language; 0 switches it off
    boilerplate: Count = 5  # number of documents from which a recurring line is boilerplate; 0 switches it off
    duplicates: bool = True  # drop paragraphs and documents that repeat earlier ones, exactly or nearly


COLUMNS: Final = ("text", "id", "genre", "sentences")
"""The options that name a column."""
NAMES: Final = tuple(field.name for field in dataclasses.fields(ReadOptions) if field.name != "lang")
WORDS: Final = {"yes": True, "no": False}


def read_options(assignments: Sequence[str]) -> ReadOptions:
    """The default options with the changes that a user writes: ``min_words=3``, ``duplicates=no``.

    Raises:
        UsageError: an assignment has no value, or a value of the wrong kind.
        UnknownNameError: there is no such option.
    """
    options, values = ReadOptions(), {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if name not in NAMES:
            raise UnknownNameError("option", name, NAMES, remedy="(`build annotate --help` lists them)")
        if not equals:
            raise UsageError(f"option '{name}' has no value; write {name}=VALUE")
        values[name] = WORDS.get(text, text) if isinstance(getattr(options, name), bool) else text
        try:
            options = msgspec.convert(values, ReadOptions, strict=False)
        except msgspec.ValidationError:
            raise UsageError(f"option '{assignment}' cannot be read; see `build annotate --help`") from None
    return options


def assignments(options: Mapping[str, object]) -> tuple[str, ...]:
    """Options that are not the default, by name, as :func:`read_options` takes them."""
    default = dataclasses.asdict(ReadOptions())
    changed = {name: value for name, value in options.items() if name in NAMES and value != default[name]}
    words = {value: word for word, value in WORDS.items()}
    return tuple(f"{name}={words[value] if isinstance(value, bool) else value}" for name, value in changed.items())
