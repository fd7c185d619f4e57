"""What a user may choose when raw text is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Lines = Literal["auto", "wrapped", "sentences", "paragraphs"]
OnError = Literal["stop", "skip"]

LINES: Final[tuple[Lines, ...]] = ("auto", "wrapped", "sentences", "paragraphs")


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How raw text is read and what is left out of it.

    Attributes:
        lang: code of the language, for script and language share, divided words, and folders with files of many
            languages.
        text: the column of a table that holds the text; guessed from the names if empty.
        id: the column that names the documents.
        genre: the column of genres.
        sentences: the column with the text as a list of sentences, or of paragraphs that are lists of sentences.
        encoding: of text files and text tables; empty for UTF-8, or UTF-16 and UTF-32 with a byte order mark.
        lines: what a line of a block of text is: a part of a paragraph, a sentence, a paragraph, or decided per
            document (:func:`discoprobe.loaders.raw.lines.form_of_lines`).
        on_error: whether a document that cannot be read ends the reading, or is left out and counted.
        split: of a Hub or saved dataset; all of them if empty.
        config: of a Hub dataset.
        revision: of a Hub dataset.
        min_words: paragraphs with fewer words are left out.
        max_characters: longer paragraphs are cut after a sentence.
        min_document_words: documents with fewer words of running text are left out; a division of a TEI work with fewer
            is joined with the next.
        script_share: least share of letters in the scripts of the language, per paragraph; 0 for no such filter.
        language_share: least share of the letters of a document in paragraphs of its language; 0 for no such filter.
        boilerplate: a line in at least so many documents is boiler-plate, unless a document has nothing else; 0 for no
            such filter.
        duplicates: whether paragraphs and documents that repeat earlier ones, exactly or nearly, are left out.
    """

    lang: str = ""
    text: str = ""
    id: str = ""
    genre: str = ""
    sentences: str = ""
    encoding: str = ""
    lines: Lines = "auto"
    on_error: OnError = "stop"
    split: str = ""
    config: str = ""
    revision: str = ""
    min_words: int = 1
    max_characters: int = 20_000
    min_document_words: int = 1
    script_share: float = 0.5
    language_share: float = 0.5
    boilerplate: int = 5
    duplicates: bool = True
