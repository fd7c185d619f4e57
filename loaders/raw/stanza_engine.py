"""Annotates many paragraphs at once with Stanza, on one thread or the GPU.

For Stanza every paragraph is a document, so that no sentence crosses paragraphs; if the input is already segmented,
every sentence is a document.

Models of Stanza: found in their folder and verified, or downloaded.

A folder of models has a ``resources.json`` with the packages and the MD5 of their files, and a file
``<language>/<processor>/<package>.pt`` for each (https://stanfordnlp.github.io/stanza/download_models.html). Stanza is
imported only when it is needed.
"""

import functools
import hashlib
import importlib.util
import logging
import os
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import msgspec

from discoprobe.loaders.annotation_manifest import entries
from discoprobe.loaders.conllu.parse import well_formed_feats
from discoprobe.loaders.conllu.write import MISSING, Word
from discoprobe.loaders.corpus import UPOS, SourceFile
from discoprobe.loaders.errors import DiscoprobeError, RemoteError, UnknownNameError, UnsupportedError, first_line
from discoprobe.loaders.raw.document import Paragraph
from discoprobe.loaders.raw.segmentation import (
    LONG_SENTENCE,
    MAX_WORDS,
    UNANNOTATED,
    Sentence,
    Token,
    corrected,
    versions,
)

PROCESSORS: Final = ("tokenize", "mwt", "pos", "lemma", "depparse")
"""The processors of Stanza whose results are in CoNLL-U, in the order in which they run."""
DEFAULT: Final = ("tokenize", "pos", "lemma", "depparse")
"""The default processors. Each needs the results of those before it; Stanza adds ``mwt`` if a language has it."""
IDENTITY: Final = "identity"
"""The lemmatiser that returns the form, for languages without inflection; it has no file."""
RESOURCES: Final = "resources.json"
WITHOUT: Final = "find sentences only with --segment"


def require_stanza() -> None:
    """Raise an UnsupportedError that says how to install Stanza, if it is not installed."""
    if importlib.util.find_spec("stanza") is None or importlib.util.find_spec("torch") is None:
        raise UnsupportedError(
            f"annotation needs Stanza, which is not installed: pip install 'discoprobe[stanza]', or {WITHOUT}"
        )


def default_folder() -> Path:
    """The folder to which Stanza downloads its models; ``$STANZA_RESOURCES_DIR`` names another."""
    require_stanza()
    from stanza.resources.common import DEFAULT_MODEL_DIR  # noqa: PLC0415 (imports torch)

    return Path(os.environ.get("STANZA_RESOURCES_DIR") or DEFAULT_MODEL_DIR)


def read_processors(names: Sequence[str]) -> dict[str, str]:
    """The package of each named processor, and of the processors that these need.

    ``names`` are like ``pos`` or ``pos=hdt``, where ``hdt`` is the package; a package that is not named is ``default``.
    Without names the processors are those of :data:`DEFAULT`.

    Raises:
        UnknownNameError: a processor is not one of :data:`PROCESSORS`.
    """
    named = {name.strip(): package.strip() for name, _, package in (each.partition("=") for each in names or DEFAULT)}
    for name in named:
        if name not in PROCESSORS:
            raise UnknownNameError("processor", name, PROCESSORS, remedy=f"({', '.join(PROCESSORS)} are in CoNLL-U)")
    last = max((DEFAULT.index(name) for name in named if name in DEFAULT), default=0)
    return {name: named.get(name) or "default" for name in (*DEFAULT[: last + 1], *named)}


@dataclass(frozen=True, slots=True)
class StanzaModels:
    """Models of one language, whose files exist and are verified.

    Attributes:
        lang: the code of the language.
        code: Stanza's code of the language, which names its folder: ``zh-hans`` for ``zh``.
        folder: the folder of models.
        packages: processor and package, in the order in which they run.
        files: path in the folder, SHA-256 and size of each file, including word vectors and language models.
    """

    lang: str
    code: str
    folder: Path
    packages: tuple[tuple[str, str], ...]
    files: tuple[SourceFile, ...]


def find_models(lang: str, folder: Path, processors: Sequence[str] = DEFAULT) -> StanzaModels:
    """The models for processors, which are given as to :func:`read_processors`; every file is verified.

    Raises:
        UnsupportedError: the folder has no such model; the message says how to download it. Or Stanza is not installed.
        DiscoprobeError: a file is damaged.
    """
    chosen = read_processors(processors)
    require_stanza()
    from stanza.resources import common  # noqa: PLC0415 (imports torch)

    logging.getLogger("stanza").setLevel(logging.CRITICAL)  # it warns of what is an error here
    resources, code = _resources(lang, folder)
    known = resources[code]
    models = common.maintain_processor_list(resources, code, None, dict(chosen))
    packages = {name: of_processor[0].package for name, of_processor in models}
    for name, package in chosen.items():
        if packages.get(name) not in {IDENTITY, *known.get(name, ())}:
            packages_there = [f"{name}={each}" for each in known.get(name, ())]
            there = ", ".join(packages_there or (each for each in PROCESSORS if each in known))
            raise UnsupportedError(
                f"no Stanza package {name}={package} of '{lang}' in {folder}, which lists {there}; "
                f"name one of these with --processors, try --download, or {WITHOUT}"
            )
    files = [
        _model_file(folder, f"{code}/{name}/{package}.pt", known.get(name, {}).get(package, {}).get("md5"), lang)
        for name, package in common.flatten_processor_list(common.add_dependencies(resources, code, models))
        if package != IDENTITY
    ]
    of_folder = tuple(sorted(files, key=lambda file: file.path))
    return StanzaModels(lang, code, folder, tuple(packages.items()), of_folder)


def _model_file(folder: Path, name: str, md5: str | None, lang: str) -> SourceFile:
    """A file of a model; its MD5 is checked if ``resources.json`` has one."""
    path = folder / name
    if not path.is_file():
        raise _lacking(f"model {name}", lang, folder)
    content = path.read_bytes()
    if md5 and md5 != (actual := hashlib.md5(content, usedforsecurity=False).hexdigest()):
        raise damaged(path, f"MD5 {actual}, {RESOURCES} says {md5}", lang, folder)
    return SourceFile(name, hashlib.sha256(content).hexdigest(), len(content))


def _resources(lang: str, folder: Path) -> tuple[dict[str, Any], str]:
    """The content of ``resources.json`` in a folder, and Stanza's code of a language."""
    path = folder / RESOURCES
    if not path.is_file():
        raise _lacking(f"models with {RESOURCES}", lang, folder)
    try:
        resources = msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except msgspec.MsgspecError as error:
        raise damaged(path, str(error), lang, folder) from error
    code = str(resources.get(lang, {}).get("alias", lang))
    if code not in resources:
        there = ", ".join(sorted(name for name, of in resources.items() if isinstance(of, dict) and "packages" in of))
        raise _lacking(f"model of '{lang}' (only of {there})", lang, folder)
    return resources, code


def download_models(lang: str, folder: Path, processors: Sequence[str] = DEFAULT) -> None:
    """Download the models of a language with Stanza; models that are present are kept.

    Raises:
        RemoteError: the host cannot be reached, or does not provide them.
        UnsupportedError: Stanza is not installed, or has no models of the language.
    """
    require_stanza()
    import stanza  # noqa: PLC0415 (imports torch)

    try:
        stanza.download(
            lang, model_dir=str(folder), package=None, processors=read_processors(processors), verbose=False
        )
    except OSError as error:  # of `requests`, the Hub's client and the file system
        what = getattr(getattr(error, "request", None), "url", None) or first_line(error)
        raise RemoteError(
            f"the Stanza models of {lang} cannot be downloaded ({what}); check the network, or copy a folder of models "
            "from another machine and name it with --stanza-dir"
        ) from error
    except ValueError as error:
        raise UnsupportedError(f"Stanza has no such models of {lang}: {error}; {WITHOUT}") from error


def _lacking(what: str, lang: str, folder: Path) -> UnsupportedError:
    return UnsupportedError(f"no Stanza {what} in {folder}; {_how_to_get(lang, folder)}")


def damaged(path: Path, why: str, lang: str, folder: Path) -> DiscoprobeError:
    """The error for a damaged file of models; the message says how to download it again."""
    return DiscoprobeError(f"{path} is damaged ({why}); delete it and {_how_to_get(lang, folder)}")


def _how_to_get(lang: str, folder: Path) -> str:
    code = f"import stanza; stanza.download('{lang}', model_dir='{folder}', processors='{','.join(DEFAULT)}')"
    return f'download with: python -c "{code}" (or --download), name another folder with --stanza-dir, or {WITHOUT}'


TOKENIZERS: Final = ("tokenize", "mwt")
TAGS: Final = frozenset(UPOS.categories.to_list())
NOT_TOKENISED: Final = (ValueError, AssertionError, IndexError)
"""Errors that Stanza's tokeniser raises for text in which it cannot locate its tokens."""


def _device() -> str:
    import torch  # noqa: PLC0415 (takes seconds)

    return "cuda" if torch.cuda.is_available() else "cpu"


@dataclass(frozen=True, slots=True)
class StanzaEngine:
    """Stanza with certain models of one language."""

    models: StanzaModels
    device: str = field(default_factory=_device)  # ``cuda`` where there is a GPU, else ``cpu``

    @property
    def identity(self) -> Mapping[str, object]:
        """Versions, packages, hashes of the model files, and the device, since a GPU rounds differently."""
        return {
            "engine": "stanza",
            "software": versions("stanza", "torch"),
            "packages": dict(self.models.packages),
            "models": entries(self.models.files),
            "device": self.device,
        }

    def annotate(self, paragraphs: Sequence[Paragraph], corrections: Counter[str]) -> list[list[Sentence]]:
        """The sentences of each paragraph, in order, with annotated tokens.

        Raises:
            UnsupportedError: Stanza is not installed.
            DiscoprobeError: a model cannot be loaded.
        """
        inputs = [(paragraph, paragraph.sentences or [(0, len(paragraph.text))]) for paragraph in paragraphs]
        texts = [paragraph.text[start:end] for paragraph, spans in inputs for start, end in spans]
        documents = iter(self._tokenised(texts))
        found = [
            [one for start, _ in spans for one in self._sentences(paragraph, start, next(documents), corrections)]
            for paragraph, spans in inputs
        ]
        words = self._tagged([one for sentences in found for one in sentences if one.tokens])
        return [
            [
                one._replace(tokens=tuple(_with_words(token, paragraph.text, words) for token in one.tokens))
                for one in each
            ]
            for paragraph, each in zip(paragraphs, found, strict=True)
        ]

    def _tokenised(self, texts: Sequence[str]) -> list[Any]:
        """Stanza's documents of texts, with tokens; None for a text that Stanza cannot read."""
        try:
            documents: list[Any] = _pipeline(self).bulk_process(texts, processors=TOKENIZERS)
        except NOT_TOKENISED:
            if len(texts) == 1:
                return [None]
            half = len(texts) // 2
            return [*self._tokenised(texts[:half]), *self._tokenised(texts[half:])]
        return documents

    def _sentences(self, paragraph: Paragraph, at: int, document: Any, corrections: Counter[str]) -> list[Sentence]:
        """The sentences in a tokenised document: a paragraph, or a sentence of the input that begins at an offset."""
        if document is None:
            return [Sentence(0, 0, dropped=UNANNOTATED)]
        tokens = [[_token(token, at) for token in sentence.tokens] for sentence in document.sentences]
        starts = [at]
        if paragraph.sentences is None:
            spans = [(of_sentence[0].start, of_sentence[-1].end) for of_sentence in tokens]
            starts = [start for start, _ in corrected(paragraph.text, self.models.lang, corrections, spans)]
        return [_sentence(of_sentence) for of_sentence in regrouped(tokens, starts) if of_sentence]

    def _tagged(self, sentences: Sequence[Sentence]) -> Iterator[Any]:
        """Stanza's words of sentences, annotated."""
        from stanza.models.common.doc import Document  # noqa: PLC0415 (takes seconds)

        forms = [[word.form for token in sentence.tokens for word in token.words] for sentence in sentences]
        document = Document([[{"id": i, "text": form} for i, form in enumerate(each, 1)] for each in forms])
        if sentences:
            taggers = [name for name, _ in self.models.packages if name not in TOKENIZERS]
            _pipeline(self).process(document, processors=taggers)
        return iter(document.iter_words())


@functools.lru_cache(maxsize=1)
def _pipeline(engine: StanzaEngine) -> Any:
    """Stanza with the models of an engine; the last one stays in memory, so that a process loads it once."""
    require_stanza()
    import stanza  # noqa: PLC0415 (imports torch)
    import torch  # noqa: PLC0415 (takes seconds)

    torch.set_num_threads(1)
    models = engine.models
    try:
        return stanza.Pipeline(
            models.code, dir=str(models.folder), package=None, processors=dict(models.packages), download_method=None,
            device=engine.device, verbose=False, logging_level="CRITICAL",
        )  # fmt: skip
    except MemoryError:
        raise
    except Exception as error:  # unpickling a truncated file, or one that is no model, raises many classes
        why = f"{type(error).__name__}: {error}".rstrip(": ")
        raise damaged(models.folder / models.code, why, models.lang, models.folder) from error


def regrouped(sentences: Sequence[Sequence[Token]], starts: Sequence[int]) -> list[list[Token]]:
    """The tokens of ``sentences``, divided into sentences that begin at the characters ``starts`` instead.

    Dots at the end of one sentence and the beginning of the next (a divided ellipsis) become one token.
    """
    found: list[list[Token]] = [[] for _ in starts]
    for tokens in sentences:
        for i, token in enumerate(tokens):
            sentence = found[max(0, bisect_right(starts, token.start) - 1)]
            if i == 0 and sentence and sentence[-1].end == token.start and _are_dots(sentence[-1], token):
                last = sentence.pop()
                token = Token(last.start, token.end, (Word(last.words[0].form + token.words[0].form),))  # noqa: PLW2901
            sentence.append(token)
    return found


def _are_dots(*tokens: Token) -> bool:
    return not "".join(word.form for token in tokens for word in token.words).strip(".…")


def _token(token: Any, at: int) -> Token:
    return Token(token.start_char + at, token.end_char + at, tuple(Word(word.text) for word in token.words))


def _sentence(tokens: Sequence[Token]) -> Sentence:
    """A sentence of these tokens; it is dropped if it is too long to be annotated."""
    long = sum(len(token.words) for token in tokens) > MAX_WORDS
    return Sentence(tokens[0].start, tokens[-1].end, () if long else tuple(tokens), LONG_SENTENCE if long else "")


def _with_words(token: Token, text: str, words: Iterator[Any]) -> Token:
    """The token with the annotation of the next words of Stanza.

    The form of a single word is taken from the text, since Stanza writes ``<UNK>`` for very long ones.
    """
    forms = [word.form for word in token.words] if token.words[1:] else [text[token.start : token.end]]
    return token._replace(words=tuple(_word(next(words), form) for form in forms))


def _word(word: Any, form: str) -> Word:
    """A word whose cells a CoNLL-U reader accepts, whatever the model predicts."""
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
