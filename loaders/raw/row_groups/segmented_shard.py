"""Rows of text as the tables of a shard: read, filtered and divided into sentences, which have no tokens.

What needs other documents is counted inside the part: lines that recur, and paragraphs that repeat earlier ones. What
repeats from part to part is found when rows are sampled (`near_duplicates`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import accumulate, repeat
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from discoprobe.loaders.corpus import DOCUMENTS, SENTENCES, TOKENS, Shard
from discoprobe.loaders.keys import record_keys, text_keys
from discoprobe.loaders.raw.annotate.placed_sentences import placed
from discoprobe.loaders.raw.document import DropCounts
from discoprobe.loaders.raw.read.raw_corpus import usable_documents

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from discoprobe.loaders.raw.annotate.placed_sentences import Annotator, PlacedSentence
    from discoprobe.loaders.raw.document import RawDocument
    from discoprobe.loaders.raw.options import ReadOptions
    from discoprobe.loaders.raw.read.tables import Row

_LINK: Final = r"[\p{wb=Extend}\p{wb=Format}\p{wb=ZWJ}]*"
_LETTERS: Final = rf"(?:[\p{{wb=ALetter}}\p{{wb=Hebrew_Letter}}]{_LINK})+"
_DIGITS: Final = rf"(?:\p{{wb=Numeric}}{_LINK})+"
_JOINS: Final = rf"(?:\p{{wb=ExtendNumLet}}{_LINK})*"
_IN_WORD: Final = rf"[\p{{wb=MidLetter}}\p{{wb=MidNumLet}}\p{{wb=Single_Quote}}]{_LINK}"
_IN_NUMBER: Final = rf"[\p{{wb=MidNum}}\p{{wb=MidNumLet}}\p{{wb=Single_Quote}}]{_LINK}"
_PART: Final = rf"(?:{_LETTERS}(?:{_IN_WORD}{_LETTERS})*|{_DIGITS}(?:{_IN_NUMBER}{_DIGITS})*)"
WORD: Final = rf"{_JOINS}(?:{_PART}{_JOINS})+|(?:\p{{wb=Katakana}}{_LINK})+|[\p{{L}}\p{{N}}]{_LINK}"
"""A word with a letter or digit, by Unicode's word boundaries: the words of ``rule_segmenter``, for polars to count."""


@dataclass(frozen=True, slots=True)
class Segmented:
    """What a part gave.

    Attributes:
        shard: its tables; there are no tokens, and ``n_words`` counts words with a letter or digit.
        reading: what was removed from the text, by reason.
        dropped: headings and sentences that were not taken, by reason.
        corrections: corrected sentence boundaries, by kind.
    """

    shard: Shard
    reading: DropCounts
    dropped: Counter[str]
    corrections: Counter[str]


def segmented(rows: Mapping[str, Row], corpus: str, options: ReadOptions, annotator: Annotator) -> Segmented:
    """The shard of some rows.

    Args:
        rows: by the id of the document.
        corpus: name of the corpus.
        options: how text is read and filtered.
        annotator: finds sentences.
    """
    reading, dropped, corrections = DropCounts(), Counter[str](), Counter[str]()
    documents, found = [], []
    for document in usable_documents(lambda: sorted(rows.items()), options, reading):
        sentences = list(placed(document, annotator.segment(document.running, corrections), dropped))
        if sentences:
            documents.append(document)
            found.append(sentences)
    return Segmented(_shard(documents, found, corpus), reading, dropped, corrections)


def _shard(documents: Sequence[RawDocument], found: Sequence[Sequence[PlacedSentence]], corpus: str) -> Shard:
    """The tables of documents with some sentences each."""
    names = [document.doc_id for document in documents]
    sentences = [(at, index, one) for at, placed_ones in enumerate(found) for index, one in enumerate(placed_ones)]
    texts = [one.text for _, _, one in sentences]
    doc_ids = [names[at] for at, _, _ in sentences]
    sent_ids = [f"{doc_id}-{one.number}" for doc_id, (_, _, one) in zip(doc_ids, sentences, strict=True)]
    table = _frame(
        SENTENCES,
        sent=range(len(sentences)),
        doc=[at for at, _, _ in sentences],
        index=[index for _, index, _ in sentences],
        run=[n - 1 for n in accumulate(one.opens_passage for _, _, one in sentences)],
        sent_id=sent_ids,
        text=texts,
        n_words=[one.sentence.spoken_words for _, _, one in sentences],
        aligned=[True] * len(sentences),
        key=record_keys(repeat(corpus, len(sentences)), doc_ids, sent_ids, texts),
        text_key=text_keys(texts),
        section=[one.paragraph.section for _, _, one in sentences],
        speaker=[None] * len(sentences),
        element=[None] * len(sentences),
    )
    counted = pl.coalesce("n_words", pl.col("text").str.count_matches(WORD))
    of_documents = _frame(
        DOCUMENTS,
        doc=range(len(documents)),
        corpus=[corpus] * len(documents),
        doc_id=names,
        genre=[document.genre or None for document in documents],
        n_sentences=list(map(len, found)),
        key=record_keys(repeat(corpus, len(documents)), names),
    )
    return Shard(of_documents, table.with_columns(n_words=counted), _frame(TOKENS, **dict.fromkeys(TOKENS, ())))


def _frame(schema: Mapping[str, Any], **columns: Any) -> pl.DataFrame:
    return pl.DataFrame([pl.Series(name, columns[name], dtype) for name, dtype in schema.items()])
