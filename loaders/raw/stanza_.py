"""Annotation with Stanza: many paragraphs at a time, on one thread or the GPU.

Stanza is imported when an annotator is loaded, and nothing is ever downloaded here. Every paragraph is a document of
its own to Stanza, so that no sentence crosses from one to the next; where the input is segmented already, every
sentence is one.
"""

from __future__ import annotations

import importlib.metadata
import logging
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from discoprobe.loaders.corpus import UPOS
from discoprobe.loaders.errors import DiscoprobeError
from discoprobe.loaders.raw.boundaries import mended
from discoprobe.loaders.raw.models import damaged, require_stanza
from discoprobe.loaders.raw.regrouped import regrouped
from discoprobe.loaders.raw.sentences import LONGEST, MISSING, TOO_LONG, UNREADABLE, Sentence, Token, Word
from discoprobe.loaders.validate import well_formed_feats

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from discoprobe.loaders.raw.document import Paragraph
from discoprobe.loaders.raw.models import Models

TOKENIZERS: Final = ("tokenize", "mwt")
TAGS: Final = frozenset(UPOS.categories.to_list())
NOT_TOKENISED: Final = (ValueError, AssertionError, IndexError)
"""What Stanza's tokeniser raises where it loses its place in odd text."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Text that Stanza gets as one document: what is in a paragraph from an offset on."""

    paragraph: int
    offset: int
    text: str
    whole: bool


def versions() -> dict[str, str]:
    """The versions of what computes the annotation."""
    require_stanza()
    return {name: importlib.metadata.version(name) for name in ("stanza", "torch")}


@dataclass(frozen=True)
class StanzaEngine:
    """Stanza with certain models; ``device`` is ``cpu`` or ``cuda``."""

    models: Models
    device: str = "cpu"
    versions: Mapping[str, str] = field(default_factory=versions)

    @property
    def identity(self) -> Mapping[str, object]:
        """Versions, packages, hashes of the model files, and the device: a GPU rounds otherwise."""
        return {
            "engine": "stanza",
            "software": dict(self.versions),
            "packages": dict(self.models.packages),
            "models": {file.path: {"sha256": file.sha256, "bytes": file.bytes} for file in self.models.files},
            "device": self.device,
        }

    def load(self) -> StanzaAnnotator:
        """The annotator, its models in memory.

        Raises:
            UnsupportedError: Stanza is not installed.
            DiscoprobeError: a model cannot be loaded.
        """
        require_stanza()
        return StanzaAnnotator(self.models, self.device)


def best_device() -> str:
    """``cuda`` if torch has a GPU, else ``cpu``."""
    require_stanza()
    import torch  # noqa: PLC0415 (takes seconds)

    return "cuda" if torch.cuda.is_available() else "cpu"


class StanzaAnnotator:
    """Annotates paragraphs."""

    def __init__(self, models: Models, device: str) -> None:
        import torch  # noqa: PLC0415

        torch.set_num_threads(1)
        self._models, self._device = models, device
        self._pipeline = self._load(dict(models.packages))
        self._unsplit: Any = None
        names = [name for name, _ in models.packages]
        self._first = [name for name in names if name in TOKENIZERS]
        self._rest = [name for name in names if name not in TOKENIZERS]

    def annotate(self, paragraphs: Sequence[Paragraph], mends: Counter[str]) -> list[list[Sentence]]:
        """The sentences of each paragraph, in order."""
        pieces = [piece for number, paragraph in enumerate(paragraphs) for piece in _pieces(number, paragraph)]
        documents = [
            self._mended(piece, document, mends) for piece, document in zip(pieces, self._tokenise(pieces), strict=True)
        ]
        left_out = [_drop_long(document) for document in documents]
        todo = [document for document in documents if document is not None and document.sentences]
        if self._rest and todo:
            self._pipeline.bulk_process(todo, processors=self._rest)
        found: list[list[Sentence]] = [[] for _ in paragraphs]
        for piece, document, dropped in zip(pieces, documents, left_out, strict=True):
            found[piece.paragraph] += _sentences(piece, document, dropped)
        return found

    def _load(self, packages: Mapping[str, str], **options: object) -> Any:
        """A Stanza pipeline of some processors."""
        import stanza  # noqa: PLC0415

        logging.getLogger("stanza").setLevel(logging.ERROR)
        models = self._models
        with _kept_quiet() as said:
            try:
                return stanza.Pipeline(
                    models.code, dir=str(models.folder), package=None, processors=dict(packages), download_method=None,
                    device=self._device, verbose=False, **options,
                )  # fmt: skip
            except MemoryError:
                raise
            except Exception as error:  # whatever unpickling meets in a file that was cut or is no model
                why = f"{type(error).__name__}: {error}".rstrip(": ")
                raise DiscoprobeError(damaged(_named_in(said, models), why, models.lang, models.folder)) from error

    def _tokenise(self, pieces: Sequence[Piece]) -> list[Any]:
        """A Stanza document per piece; None for one that Stanza cannot read."""
        found: list[Any] = [None] * len(pieces)
        for whole in (False, True):
            at = [i for i, piece in enumerate(pieces) if piece.whole is whole]
            for i, document in zip(at, self._tokenised([pieces[i].text for i in at], whole=whole), strict=True):
                found[i] = document
        return found

    def _tokenised(self, texts: Sequence[str], *, whole: bool) -> list[Any]:
        if not texts:
            return []
        pipeline = self._without_splitting() if whole else self._pipeline
        try:
            found: list[Any] = pipeline.bulk_process(list(texts), processors=self._first)
        except NOT_TOKENISED:
            if len(texts) == 1:
                return [None]
            half = len(texts) // 2
            return [*self._tokenised(texts[:half], whole=whole), *self._tokenised(texts[half:], whole=whole)]
        return found

    def _mended(self, piece: Piece, document: Any, mends: Counter[str]) -> Any:
        """A document whose sentences end where they should."""
        if document is None or piece.whole:
            return document
        spans = [(each.tokens[0].start_char, each.tokens[-1].end_char) for each in document.sentences]
        starts = [start for start, _ in mended(piece.text, spans, self._models.lang, mends)]
        return document if starts == [start for start, _ in spans] else regrouped(document, starts)

    def _without_splitting(self) -> Any:
        """A pipeline that takes every text for one sentence."""
        if self._unsplit is None:
            packages = {name: package for name, package in self._models.packages if name in TOKENIZERS}
            self._unsplit = self._load(packages, tokenize_no_ssplit=True)
        return self._unsplit


@contextmanager
def _kept_quiet() -> Iterator[list[str]]:
    """What Stanza logs meanwhile, which is shown to nobody."""
    said: list[str] = []

    def hear(record: logging.LogRecord) -> bool:
        said.append(record.getMessage())
        return False

    logger = logging.getLogger("stanza")
    logger.addFilter(hear)
    try:
        yield said
    finally:
        logger.removeFilter(hear)


def _named_in(said: Sequence[str], models: Models) -> Path:
    """The model file that messages name; the folder of the language if they name none."""
    paths = [models.folder / file.path for file in models.files]
    named = (path for path in paths if any(str(path) in message for message in said))
    return next(named, models.folder / models.code)


def _pieces(number: int, paragraph: Paragraph) -> list[Piece]:
    if paragraph.sentences is None:
        return [Piece(number, 0, paragraph.text, whole=False)] if paragraph.text.strip() else []
    spans = [(start, paragraph.text[start:end]) for start, end in paragraph.sentences]
    return [Piece(number, start, text, whole=True) for start, text in spans if text.strip()]


def _drop_long(document: Any) -> list[int]:
    """Takes the sentences that are too long out of a document; their places among all of them."""
    if document is None:
        return []
    long = [i for i, sentence in enumerate(document.sentences) if len(sentence.words) > LONGEST]
    if long:
        document.sentences = [each for each in document.sentences if len(each.words) <= LONGEST]
        document.num_tokens = sum(len(sentence.tokens) for sentence in document.sentences)
        document.num_words = sum(len(sentence.words) for sentence in document.sentences)
    return long


def _sentences(piece: Piece, document: Any, dropped: Sequence[int]) -> list[Sentence]:
    if document is None:
        return [Sentence((), UNREADABLE)]
    found = [Sentence(tuple(_token(piece, token) for token in sentence.tokens)) for sentence in document.sentences]
    for i in dropped:
        found.insert(i, Sentence((), TOO_LONG))
    return found


def _token(piece: Piece, token: Any) -> Token:
    """A token; its form is what stands in the text, since Stanza writes ``<UNK>`` for one of a thousand characters."""
    form = piece.text[token.start_char : token.end_char]
    single = len(token.words) == 1
    words = tuple(_word(word, form if single else word.text) for word in token.words)
    return Token(piece.offset + token.start_char, piece.offset + token.end_char, words)


def _word(word: Any, form: str) -> Word:
    """A word, in cells that a CoNLL-U reader accepts whatever a model makes up."""
    return Word(
        form=_cell(form),
        lemma=_cell(word.lemma),
        upos=word.upos if word.upos in TAGS else MISSING,
        xpos=_cell(word.xpos),
        feats=word.feats if word.feats and well_formed_feats(word.feats) else MISSING,
        head=MISSING if word.head is None or word.deprel is None else str(word.head),
        deprel=_cell(word.deprel),
    )


def _cell(value: str | None) -> str:
    return " ".join((value or "").split()) or MISSING
