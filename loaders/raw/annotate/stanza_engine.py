"""Annotation with Stanza: its models, found in their folder and verified, and many paragraphs annotated at once.

A folder of models has a ``resources.json`` with the packages and the MD5 of their files, and a file
``<language>/<processor>/<package>.pt`` for each (https://stanfordnlp.github.io/stanza/download_models.html). Stanza is
imported when an annotator is loaded, and works on one thread or the GPU. Every paragraph is a document for Stanza, so
that no sentence crosses paragraphs; in input that is already segmented, every sentence is one.
"""

from __future__ import annotations

import hashlib
import importlib.util
import logging
import os
from bisect import bisect_right
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from discoprobe.loaders.conllu.check import well_formed_feats
from discoprobe.loaders.corpus import UPOS, SourceFile
from discoprobe.loaders.errors import DiscoprobeError, RemoteError, UnknownNameError, UnsupportedError, UsageError
from discoprobe.loaders.file_hashes import hashes_of
from discoprobe.loaders.raw.annotate.placed_sentences import (
    LONG_SENTENCE,
    MAX_WORDS,
    MISSING,
    UNANNOTATED,
    Sentence,
    Token,
    Word,
    versions,
)
from discoprobe.loaders.raw.annotate.sentence_boundaries import corrected

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator, Mapping, Sequence

    from discoprobe.loaders.raw.annotate.placed_sentences import Sentences
    from discoprobe.loaders.raw.document import Paragraph

NEEDS: Final[Mapping[str, frozenset[str]]] = {
    "tokenize": frozenset(),
    **dict.fromkeys(("mwt", "pos"), frozenset({"tokenize"})),
    "lemma": frozenset({"tokenize", "pos"}),
    "depparse": frozenset({"tokenize", "pos", "lemma"}),
}
"""Processors whose results are in CoNLL-U, in the order in which they work, and those whose results they need."""
TOKENIZERS: Final = ("tokenize", "mwt")
DEFAULT: Final = ("tokenize", "pos", "lemma", "depparse")
"""``mwt`` is added for languages that have it."""
IDENTITY: Final = "identity"
"""The lemmatiser that returns the form, for languages without inflection; it has no file."""
RESOURCES: Final = "resources.json"
FOLDER_VARIABLE: Final = "STANZA_RESOURCES_DIR"
TAGS: Final = frozenset(UPOS.categories.to_list())
NOT_TOKENISED: Final = (ValueError, AssertionError, IndexError)
"""What Stanza's tokeniser raises for text in which it loses its place."""

TokenEntries = list[dict[str, Any]]
"""A token as Stanza's ``to_dict`` gives it: an entry for the token, followed by its words if it has several."""


def installed() -> bool:
    """Whether Stanza can be imported."""
    return importlib.util.find_spec("stanza") is not None and importlib.util.find_spec("torch") is not None


def require_stanza() -> None:
    """Raise an UnsupportedError that says how to install Stanza, if it is not installed."""
    if not installed():
        raise UnsupportedError(
            "annotation needs Stanza, which is not installed: pip install 'discoprobe[stanza]' "
            "(--segment alone works without it)"
        )


def models_folder(given: Path | None = None) -> Path:
    """The folder of models: the given one, else ``$STANZA_RESOURCES_DIR``, else the one to which Stanza downloads."""
    if given is not None:
        return given
    if folder := os.environ.get(FOLDER_VARIABLE):
        return Path(folder)
    require_stanza()
    from stanza.resources.common import DEFAULT_MODEL_DIR  # noqa: PLC0415 (imports torch)

    return Path(DEFAULT_MODEL_DIR)


def best_device() -> str:
    """``cuda`` if torch has a GPU, else ``cpu``."""
    require_stanza()
    import torch  # noqa: PLC0415 (takes seconds)

    return "cuda" if torch.cuda.is_available() else "cpu"


def read_processors(names: Sequence[str]) -> dict[str, str]:
    """The package of each processor, empty for the default, from names such as ``pos`` or ``pos=hdt``.

    Raises:
        UnknownNameError: a processor is not one of :data:`NEEDS`.
        UsageError: a processor needs the result of another that is not named.
    """
    chosen = {name.strip(): package.strip() for name, _, package in (each.partition("=") for each in names)}
    for name in chosen:
        if name not in NEEDS:
            raise UnknownNameError("processor", name, tuple(NEEDS), remedy=f"({', '.join(NEEDS)} are in CoNLL-U)")
        if missing := sorted(NEEDS[name] - chosen.keys()):
            raise UsageError(f"the processor {name} needs {', '.join(missing)}; name {'them' if missing[1:] else 'it'}")
    if not chosen:
        raise UsageError(f"--processors names none; the default is {','.join(DEFAULT)}")
    return {name: chosen[name] for name in NEEDS if name in chosen}


@dataclass(frozen=True, slots=True)
class StanzaEngine:
    """Stanza with certain models of one language."""

    lang: str
    code: str  # the language in the folder: Stanza has ``zh-hans`` for ``zh``
    folder: Path
    packages: tuple[tuple[str, str], ...]  # processor and package, in the order in which they work
    files: tuple[SourceFile, ...]  # path in the folder, SHA-256 and size, including word vectors and language models
    device: str = "cpu"  # or ``cuda``

    @property
    def identity(self) -> Mapping[str, object]:
        """Versions, packages, hashes of the model files, and the device, since a GPU rounds differently."""
        return {
            "engine": "stanza",
            "software": versions("stanza", "torch"),
            "packages": dict(self.packages),
            "models": {file.path: {"sha256": file.sha256, "bytes": file.bytes} for file in self.files},
            "device": self.device,
        }

    def load(self) -> StanzaAnnotator:
        """The annotator with its models in memory.

        Raises:
            UnsupportedError: Stanza is not installed.
            DiscoprobeError: a model cannot be loaded.
        """
        require_stanza()
        return StanzaAnnotator(self)


def find_models(lang: str, folder: Path, processors: Sequence[str] = DEFAULT) -> StanzaEngine:
    """Stanza with the models that processors need, as :func:`read_processors` takes them; every file is verified.

    Raises:
        UnsupportedError: the folder has no such model; the message says how to download it.
        DiscoprobeError: a file is damaged.
    """
    return _ModelFolder(lang, folder).engine(read_processors(processors))


def is_installed_for(lang: str) -> bool:
    """Whether Stanza is installed, and its folder has models of a language, complete or not."""
    if not installed():
        return False
    folder = models_folder()
    try:
        return (folder / _ModelFolder(lang, folder).code).is_dir()
    except UnsupportedError:
        return False


def download_models(lang: str, folder: Path, processors: Sequence[str] = DEFAULT) -> None:
    """Download the models of a language with Stanza; models that are present are kept.

    Raises:
        RemoteError: the host cannot be reached, or does not provide them.
        UnsupportedError: Stanza is not installed, or has no models of the language.
    """
    require_stanza()
    import requests  # noqa: PLC0415 (takes .2 s)
    import stanza  # noqa: PLC0415 (imports torch)

    chosen = {name: package or "default" for name, package in read_processors(processors).items()}
    try:
        stanza.download(lang, model_dir=str(folder), package=None, processors=chosen, verbose=False)
    except (requests.exceptions.RequestException, ConnectionError) as error:
        host = getattr(getattr(error, "request", None), "url", None) or str(error)
        raise RemoteError(
            f"the Stanza models of {lang} cannot be downloaded: no connection to Stanza's host ({host}); copy a folder "
            f"of models here by other means and name it with --stanza-dir"
        ) from error
    except ValueError as error:
        raise UnsupportedError(f"Stanza gives no models of {lang}: {error}") from error


class _ModelFolder:
    """What ``resources.json`` of a folder of models says of a language."""

    def __init__(self, lang: str, folder: Path) -> None:
        self._lang, self._folder = lang, folder
        path = folder / RESOURCES
        try:
            self._resources = msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
        except FileNotFoundError:
            how = _how_to_get(lang, folder)
            raise UnsupportedError(f"no Stanza models in {folder} (no {RESOURCES}); {how}") from None
        except msgspec.MsgspecError as error:
            raise DiscoprobeError(f"{path} is damaged ({error}); delete it and {_how_to_get(lang, folder)}") from error
        self.code = str(self._resources.get(lang, {}).get("alias", lang))
        self._known: Mapping[str, Any] = self._resources.get(self.code, {})
        self._default: Mapping[str, str] = self._known.get("packages", {}).get("default", {})

    def engine(self, chosen: Mapping[str, str]) -> StanzaEngine:
        """Stanza with the verified models of processors, by their packages (empty for the default)."""
        if self.code not in self._resources:
            raise UnsupportedError(self._no_language())
        packages = self._packages(chosen)
        paths = dict(self._paths(packages))
        files = tuple(self._verified(path, md5) for path, md5 in sorted(paths.items()))
        return StanzaEngine(self._lang, self.code, self._folder, tuple(packages.items()), files)

    def _no_language(self) -> str:
        known = self._resources.items()
        there = ", ".join(sorted(code for code, of in known if isinstance(of, dict) and "packages" in of))
        if installed():
            from stanza.resources.default_packages import default_treebanks  # noqa: PLC0415 (imports torch)

            if self._lang not in {*default_treebanks, "zh", "no"}:
                return (
                    f"Stanza has no model of '{self._lang}' (neither has {self._folder}: {there}); segment only with "
                    f"--segment, or give an annotated corpus"
                )
        how = _how_to_get(self._lang, self._folder)
        return f"no Stanza model of '{self._lang}' in {self._folder} (there is {there}); {how}"

    def _packages(self, chosen: Mapping[str, str]) -> dict[str, str]:
        """The package of each processor; ``mwt`` is added if the tokeniser leaves multiword tokens to it."""
        packages = {name: package or self._default.get(name, "") for name, package in chosen.items()}
        for name, package in packages.items():
            if not package or (package not in self._known.get(name, {}) and package != IDENTITY):
                there = ", ".join(processor for processor in NEEDS if processor in self._known)
                what = f"package {name}={package}" if package else f"processor {name}"
                raise UnsupportedError(
                    f"no {what} for '{self._lang}' among the Stanza models in {self._folder}; it has {there}: name "
                    f"those (--processors)"
                )
        if "tokenize" in packages and "mwt" not in packages and (mwt := self._expander(packages["tokenize"])):
            packages["mwt"] = mwt
        return {name: packages[name] for name in NEEDS if name in packages}

    def _expander(self, tokenizer: str) -> str:
        """The package that expands the multiword tokens of a tokeniser, as ``add_mwt`` in Stanza; empty for none."""
        if tokenizer == self._default.get("tokenize"):
            return str(self._default.get("mwt", ""))
        stem = tokenizer.removesuffix("_nocharlm").removesuffix("_charlm")
        return next((name for name in (tokenizer, stem) if name in self._known.get("mwt", {})), "")

    def _paths(self, packages: Mapping[str, str]) -> Iterator[tuple[str, str | None]]:
        """The path of every file of packages, and its MD5 or None."""
        for name, package in packages.items():
            if package != IDENTITY:
                needed = self._known[name][package].get("dependencies", ())
                for model, of_model in ((name, package), *((each["model"], each["package"]) for each in needed)):
                    md5 = self._known.get(model, {}).get(of_model, {}).get("md5")
                    yield f"{self.code}/{model}/{of_model}.pt", md5

    def _verified(self, name: str, md5: str | None) -> SourceFile:
        path = self._folder / name
        if not path.is_file():
            raise UnsupportedError(f"no Stanza model {name} in {self._folder}; {_how_to_get(self._lang, self._folder)}")
        if md5:
            with path.open("rb") as file:
                actual = hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
            if actual != md5:
                raise _damaged(path, f"MD5 {actual}, {RESOURCES} says {md5}", self._lang, self._folder)
        content = hashes_of(path)
        return SourceFile(name, content.sha256, content.bytes)


def _how_to_get(lang: str, folder: Path) -> str:
    code = f"import stanza; stanza.download('{lang}', model_dir='{folder}', processors='{','.join(DEFAULT)}')"
    return f'download them with: python -c "{code}" (or --download), or name another folder: --stanza-dir'


def _damaged(path: Path, why: str, lang: str, folder: Path) -> DiscoprobeError:
    return DiscoprobeError(f"{path} is a damaged Stanza model ({why}); delete it and {_how_to_get(lang, folder)}")


@dataclass(slots=True)
class _Piece:
    """What Stanza gets as one document: a paragraph, or a sentence of it that begins at an offset."""

    paragraph: int
    offset: int
    text: str
    is_sentence: bool
    document: Any = None  # Stanza's; None if Stanza cannot read the text
    sentences: Sequence[Any] = ()  # all of the document, also those that are too long to be annotated


class StanzaAnnotator:
    """Annotates paragraphs."""

    def __init__(self, engine: StanzaEngine) -> None:
        import torch  # noqa: PLC0415 (takes seconds)

        torch.set_num_threads(1)
        self._engine = engine
        self._pipeline = self._load(dict(engine.packages))
        self._without_splitting: Any = None
        names = [name for name, _ in engine.packages]
        self._tokenizers = [name for name in names if name in TOKENIZERS]
        self._taggers = [name for name in names if name not in TOKENIZERS]

    def annotate(self, paragraphs: Sequence[Paragraph], corrections: Counter[str], *, tokens: bool = True) -> Sentences:
        """The sentences of each paragraph, in order."""
        pieces = [piece for number, paragraph in enumerate(paragraphs) for piece in _pieces(number, paragraph)]
        for is_sentence in (False, True):
            some = [piece for piece in pieces if piece.is_sentence is is_sentence]
            documents = self._tokenise([piece.text for piece in some], split=not is_sentence)
            for piece, document in zip(some, documents, strict=True):
                piece.document = document
        for piece in pieces:
            self._correct(piece, corrections)
            _set_long_aside(piece)
        filled = [piece.document for piece in pieces if piece.document is not None and piece.document.sentences]
        if tokens and self._taggers and filled:
            self._pipeline.bulk_process(filled, processors=self._taggers)
        sentences: Sentences = [[] for _ in paragraphs]
        for piece in pieces:
            found = [_sentence(piece, one) for one in piece.sentences]
            sentences[piece.paragraph] += [Sentence.of((), UNANNOTATED)] if piece.document is None else found
        return sentences

    def _load(self, packages: Mapping[str, str], **options: object) -> Any:
        """A Stanza pipeline of some processors."""
        import stanza  # noqa: PLC0415 (imports torch)

        logging.getLogger("stanza").setLevel(logging.CRITICAL)  # errors are raised, too
        engine = self._engine
        try:
            return stanza.Pipeline(
                engine.code, dir=str(engine.folder), package=None, processors=dict(packages), download_method=None,
                device=engine.device, verbose=False, **options,
            )  # fmt: skip
        except MemoryError:
            raise
        except Exception as error:  # whatever unpickling meets in a file that was cut or is no model
            why = f"{type(error).__name__}: {error}".rstrip(": ")
            raise _damaged(_damaged_file(engine), why, engine.lang, engine.folder) from error

    def _tokenise(self, texts: Sequence[str], *, split: bool) -> list[Any]:
        """Stanza documents of texts, ``split`` into sentences or each one sentence; None for what it cannot read."""
        if not texts:
            return []
        if not split and self._without_splitting is None:
            packages = {name: package for name, package in self._engine.packages if name in TOKENIZERS}
            self._without_splitting = self._load(packages, tokenize_no_ssplit=True)
        pipeline = self._pipeline if split else self._without_splitting
        try:
            documents: list[Any] = pipeline.bulk_process(list(texts), processors=self._tokenizers)
        except NOT_TOKENISED:
            if len(texts) == 1:
                return [None]
            half = len(texts) // 2
            return [*self._tokenise(texts[:half], split=split), *self._tokenise(texts[half:], split=split)]
        return documents

    def _correct(self, piece: _Piece, corrections: Counter[str]) -> None:
        """Correct the sentence boundaries of a piece that Stanza has split."""
        if piece.document is None or piece.is_sentence:
            return
        spans = [(one.tokens[0].start_char, one.tokens[-1].end_char) for one in piece.document.sentences]
        starts = [start for start, _ in corrected(piece.text, spans, self._engine.lang, corrections)]
        if starts != [start for start, _ in spans]:
            piece.document = regrouped(piece.document, starts)


def _damaged_file(engine: StanzaEngine) -> Path:
    """The first model file that torch cannot load; the folder of the language if it loads all of them."""
    import torch  # noqa: PLC0415 (takes seconds)

    for file in engine.files:
        path = engine.folder / file.path
        try:
            torch.load(path, map_location="cpu", weights_only=True)
        except Exception:  # noqa: BLE001 (whatever unpickling meets)
            return path
    return engine.folder / engine.code


def _pieces(number: int, paragraph: Paragraph) -> list[_Piece]:
    if paragraph.sentences is None:
        return [_Piece(number, 0, paragraph.text, is_sentence=False)] if paragraph.text.strip() else []
    spans = [(start, paragraph.text[start:end]) for start, end in paragraph.sentences]
    return [_Piece(number, start, text, is_sentence=True) for start, text in spans if text.strip()]


def regrouped(document: Any, starts: Sequence[int]) -> Any:
    """A Stanza document with the same tokens in sentences that begin at other characters.

    The document is tokenised and not annotated. Dots that were in two sentences, as in an ellipsis that was cut, become
    one token.
    """
    from stanza.models.common.doc import Document  # noqa: PLC0415 (takes seconds)

    sentences: list[list[TokenEntries]] = [[] for _ in starts]
    for old_sentence in document.sentences:
        for i, token in enumerate(old_sentence.tokens):
            sentence = sentences[max(0, bisect_right(starts, token.start_char) - 1)]
            entries = token.to_dict()
            if i == 0 and sentence and _are_dots(sentence[-1][-1], entries[0]):
                dots = sentence[-1][-1]
                dots |= {"text": dots["text"] + entries[0]["text"], "end_char": entries[0]["end_char"]}
                dots.pop("misc", None)
            else:
                sentence.append(entries)
    return Document([list(_numbered(sentence)) for sentence in sentences if sentence], text=document.text)


def _are_dots(left: Mapping[str, Any], right: Mapping[str, Any]) -> bool:
    return left["end_char"] == right["start_char"] and not (left["text"] + right["text"]).strip(".…")


def _numbered(sentence: Sequence[TokenEntries]) -> Iterator[dict[str, Any]]:
    """The entries of a sentence with its words counted from 1."""
    number = 0
    for entries in sentence:
        words = entries[1:] or entries
        if words is not entries:
            yield {**entries[0], "id": (number + 1, number + len(words))}
        for word in words:
            number += 1
            yield {**word, "id": number}


def _set_long_aside(piece: _Piece) -> None:
    """Leave only those sentences in the document of a piece that are not too long to be annotated."""
    document = piece.document
    piece.sentences = () if document is None else document.sentences
    if any(map(_is_long, piece.sentences)):
        document.sentences = [sentence for sentence in piece.sentences if not _is_long(sentence)]
        document.num_tokens = sum(len(sentence.tokens) for sentence in document.sentences)
        document.num_words = sum(len(sentence.words) for sentence in document.sentences)


def _is_long(sentence: Any) -> bool:
    return len(sentence.words) > MAX_WORDS


def _sentence(piece: _Piece, sentence: Any) -> Sentence:
    if _is_long(sentence):
        return Sentence.of((), LONG_SENTENCE)
    return Sentence.of([_token(piece, token) for token in sentence.tokens])


def _token(piece: _Piece, token: Any) -> Token:
    """A token; its form is taken from the text, since Stanza writes ``<UNK>`` for one of a thousand characters."""
    form = piece.text[token.start_char : token.end_char]
    single = len(token.words) == 1
    words = tuple(_word(word, form if single else word.text) for word in token.words)
    return Token(piece.offset + token.start_char, piece.offset + token.end_char, words)


def _word(word: Any, form: str) -> Word:
    """A word, in cells that a CoNLL-U reader accepts whatever a model predicts."""
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
