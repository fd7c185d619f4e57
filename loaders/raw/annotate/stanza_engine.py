"""Annotation with Stanza: its models, found in their folder and verified, and many paragraphs annotated at once.

A folder of models has a ``resources.json`` with the packages and the MD5 of their files, and a file
``<language>/<processor>/<package>.pt`` for each (https://stanfordnlp.github.io/stanza/download_models.html). Stanza is
imported when models are looked for, and works on one thread or the GPU. Every paragraph is a document for Stanza, so
that no sentence crosses paragraphs; in input that is already segmented, every sentence is one.
"""

from __future__ import annotations

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

PROCESSORS: Final = ("tokenize", "mwt", "pos", "lemma", "depparse")
"""Those whose results are in CoNLL-U, in the order in which they work."""
TOKENIZERS: Final = ("tokenize", "mwt")
DEFAULT: Final = ("tokenize", "pos", "lemma", "depparse")
"""Each needs the results of those before it; ``mwt`` is added for languages that have it."""
IDENTITY: Final = "identity"
"""The lemmatiser that returns the form, for languages without inflection; it has no file."""
RESOURCES: Final = "resources.json"
TAGS: Final = frozenset(UPOS.categories.to_list())
NOT_TOKENISED: Final = (ValueError, AssertionError, IndexError)
"""What Stanza's tokeniser raises for text in which it loses its place."""


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
    require_stanza()
    from stanza.resources.common import DEFAULT_MODEL_DIR  # noqa: PLC0415 (imports torch)

    return Path(os.environ.get("STANZA_RESOURCES_DIR") or DEFAULT_MODEL_DIR)


def read_processors(names: Sequence[str]) -> dict[str, str]:
    """The package of each processor, ``default`` if none is named, from names such as ``pos`` or ``pos=hdt``.

    Raises:
        UnknownNameError: a processor is not one of :data:`PROCESSORS`.
        UsageError: a processor needs the result of another that is not named.
    """
    chosen = {
        name.strip(): package.strip() or "default" for name, _, package in (each.partition("=") for each in names)
    }
    for name in chosen:
        if name not in PROCESSORS:
            raise UnknownNameError("processor", name, PROCESSORS, remedy=f"({', '.join(PROCESSORS)} are in CoNLL-U)")
        needed = DEFAULT[: DEFAULT.index(name)] if name in DEFAULT else DEFAULT[:1]
        if missing := sorted(set(needed) - chosen.keys()):
            raise UsageError(f"the processor {name} needs {', '.join(missing)}; name {'them' if missing[1:] else 'it'}")
    if not chosen:
        raise UsageError(f"--processors names none; the default is {','.join(DEFAULT)}")
    return chosen


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
        UnsupportedError: the folder has no such model; the message says how to download it. Or Stanza is not installed.
        DiscoprobeError: a file is damaged.
    """
    chosen = read_processors(processors)
    require_stanza()
    import torch  # noqa: PLC0415 (takes seconds)
    from stanza.resources import common  # noqa: PLC0415 (imports torch)

    logging.getLogger("stanza").setLevel(logging.CRITICAL)  # it warns of what is an error here
    resources, code = _resources(lang, folder)
    known = resources[code]
    models = common.maintain_processor_list(resources, code, None, dict(chosen))
    packages = {name: of_processor[0].package for name, of_processor in models}
    for name in chosen:
        if packages.get(name) not in {IDENTITY, *known.get(name, ())}:
            there = ", ".join(processor for processor in PROCESSORS if processor in known)
            what = f"processor {name}" if chosen[name] == "default" else f"package {name}={chosen[name]}"
            raise UnsupportedError(
                f"no {what} for '{lang}' among the Stanza models in {folder}; it has {there}: name those (--processors)"
            )
    files = []
    for name, package in common.flatten_processor_list(common.add_dependencies(resources, code, models)):
        path, md5 = folder / code / name / f"{package}.pt", known.get(name, {}).get(package, {}).get("md5")
        if package == IDENTITY:
            continue
        if not path.is_file():
            missing = path.relative_to(folder).as_posix()
            raise UnsupportedError(f"no Stanza model {missing} in {folder}; {_how_to_get(lang, folder)}")
        if md5 and md5 != (actual := common.get_md5(path)):
            raise _damaged(path, f"MD5 {actual}, {RESOURCES} says {md5}", lang, folder)
        content = hashes_of(path)
        files.append(SourceFile(path.relative_to(folder).as_posix(), content.sha256, content.bytes))
    device = "cuda" if torch.cuda.is_available() else "cpu"
    of_folder = tuple(sorted(files, key=lambda file: file.path))
    return StanzaEngine(lang, code, folder, tuple(packages.items()), of_folder, device)


def _resources(lang: str, folder: Path) -> tuple[dict[str, Any], str]:
    """What ``resources.json`` of a folder says, and the code that it has for a language."""
    path, how = folder / RESOURCES, _how_to_get(lang, folder)
    try:
        resources = msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except FileNotFoundError:
        raise UnsupportedError(f"no Stanza models in {folder} (no {RESOURCES}); {how}") from None
    except msgspec.MsgspecError as error:
        raise DiscoprobeError(f"{path} is damaged ({error}); delete it and {how}") from error
    code = str(resources.get(lang, {}).get("alias", lang))
    if code in resources:
        return resources, code
    there = ", ".join(sorted(name for name, of in resources.items() if isinstance(of, dict) and "packages" in of))
    from stanza.resources.default_packages import default_treebanks  # noqa: PLC0415 (imports torch)

    if lang in {*default_treebanks, "zh", "no"}:
        raise UnsupportedError(f"no Stanza model of '{lang}' in {folder} (there is {there}); {how}")
    raise UnsupportedError(
        f"Stanza has no model of '{lang}', and {folder} has only {there}; use --segment to find sentences only, "
        "or give an annotated corpus"
    )


def download_models(lang: str, folder: Path, processors: Sequence[str] = DEFAULT) -> None:
    """Download the models of a language with Stanza; models that are present are kept.

    Raises:
        RemoteError: the host cannot be reached, or does not provide them.
        UnsupportedError: Stanza is not installed, or has no models of the language.
    """
    require_stanza()
    import requests  # noqa: PLC0415 (takes .2 s)
    import stanza  # noqa: PLC0415 (imports torch)

    try:
        stanza.download(
            lang, model_dir=str(folder), package=None, processors=read_processors(processors), verbose=False
        )
    except (requests.exceptions.RequestException, ConnectionError) as error:
        host = getattr(getattr(error, "request", None), "url", None) or str(error)
        raise RemoteError(
            f"the Stanza models of {lang} cannot be downloaded: no connection to Stanza's host ({host}); copy a folder "
            f"of models from another machine and name it with --stanza-dir"
        ) from error
    except ValueError as error:
        raise UnsupportedError(f"Stanza gives no models of {lang}: {error}") from error


def _how_to_get(lang: str, folder: Path) -> str:
    code = f"import stanza; stanza.download('{lang}', model_dir='{folder}', processors='{','.join(DEFAULT)}')"
    return f'download them with: python -c "{code}" (or --download), or name another folder: --stanza-dir'


def _damaged(path: Path, why: str, lang: str, folder: Path) -> DiscoprobeError:
    return DiscoprobeError(f"{path}: a damaged Stanza model ({why}); delete it and {_how_to_get(lang, folder)}")


@dataclass(slots=True)
class _Piece:
    """What is one document for Stanza: a paragraph, or a sentence of it that begins at an offset."""

    paragraph: int
    offset: int
    document: Any  # Stanza's; None if Stanza cannot read the text
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
        pieces = list(self._pieces(paragraphs, corrections))
        for piece in pieces:
            _set_long_aside(piece)
        filled = [piece.document for piece in pieces if piece.document is not None and piece.document.sentences]
        if tokens and self._taggers and filled:
            self._pipeline.bulk_process(filled, processors=self._taggers)
        sentences: Sentences = [[] for _ in paragraphs]
        for piece in pieces:
            found = [_sentence(piece, one) for one in piece.sentences]
            sentences[piece.paragraph] += [Sentence.of((), UNANNOTATED)] if piece.document is None else found
        return sentences

    def _pieces(self, paragraphs: Sequence[Paragraph], corrections: Counter[str]) -> Iterator[_Piece]:
        """The tokenised pieces of paragraphs, those of a paragraph in order."""
        unsplit = [number for number, each in enumerate(paragraphs) if each.sentences is None and each.text.strip()]
        texts = [paragraphs[number].text for number in unsplit]
        for number, text, document in zip(unsplit, texts, self._tokenise(texts, split=True), strict=True):
            found = document.sentences if document else []
            spans = [(one.tokens[0].start_char, one.tokens[-1].end_char) for one in found]
            starts = [start for start, _ in corrected(text, spans, self._engine.lang, corrections)]
            changed = starts != [start for start, _ in spans]
            yield _Piece(number, 0, regrouped(document, starts) if changed else document)
        given = [(number, *span) for number, each in enumerate(paragraphs) for span in each.sentences or ()]
        given = [(number, start, end) for number, start, end in given if paragraphs[number].text[start:end].strip()]
        texts = [paragraphs[number].text[start:end] for number, start, end in given]
        for (number, start, _), document in zip(given, self._tokenise(texts, split=False), strict=True):
            yield _Piece(number, start, document)

    def _load(self, packages: Mapping[str, str], **options: object) -> Any:
        """A Stanza pipeline of some processors."""
        import stanza  # noqa: PLC0415 (imports torch)

        engine = self._engine
        try:
            return stanza.Pipeline(
                engine.code, dir=str(engine.folder), package=None, processors=dict(packages), download_method=None,
                device=engine.device, verbose=False, logging_level="CRITICAL", **options,
            )  # fmt: skip
        except MemoryError:
            raise
        except Exception as error:  # whatever unpickling meets in a file that was cut or is no model
            why = f"{type(error).__name__}: {error}".rstrip(": ")
            raise _damaged(engine.folder / engine.code, why, engine.lang, engine.folder) from error

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


def regrouped(document: Any, starts: Sequence[int]) -> Any:
    """A Stanza document with the same tokens in sentences that begin at other characters.

    The document is tokenised and not annotated. Dots that were in two sentences, as in an ellipsis that was cut, become
    one token.
    """
    from stanza.models.common.doc import Document  # noqa: PLC0415 (takes seconds)

    sentences: list[list[dict[str, Any]]] = [[] for _ in starts]
    for old_sentence in document.sentences:
        for i, token in enumerate(old_sentence.tokens):
            sentence = sentences[max(0, bisect_right(starts, token.start_char) - 1)]
            entries = token.to_dict()  # the token, followed by its words if it has several
            last = sentence[-1] if sentence else {"id": 0}
            if i == 0 and last.get("end_char") == token.start_char and not (last["text"] + token.text).strip(".…"):
                last |= {"text": last["text"] + token.text, "end_char": token.end_char}
                last.pop("misc", None)
                continue
            words = entries[1:] or entries
            entries[0]["id"] = (last["id"] + 1, last["id"] + len(words))
            for number, word in enumerate(words, last["id"] + 1):
                word["id"] = number
            sentence += entries
    return Document([sentence for sentence in sentences if sentence], text=document.text)


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
    form = piece.document.text[token.start_char : token.end_char]
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
