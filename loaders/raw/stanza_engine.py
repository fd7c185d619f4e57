"""Annotates many paragraphs at once with Stanza, on one thread or the GPU.

Models of Stanza are found in their folder and verified (``find_models``), or downloaded (``download_models``). A folder
of models has a ``resources.json`` with the packages and the MD5 of their files, and a file
``<language>/<processor>/<package>.pt`` for each (https://stanfordnlp.github.io/stanza/download_models.html).

A ``StanzaEngine`` annotates with these models. For Stanza every paragraph is a document, so that no sentence crosses
paragraphs; if the input is already segmented, every sentence is a document. Stanza is imported only when it is needed.
"""

import functools
import hashlib
import importlib.util
import logging
import os
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Self

import msgspec
import numpy as np
from msgspec import field

from discoprobe.loaders.annotation_manifest import entries
from discoprobe.loaders.conllu.parse import MISSING, well_formed_feats
from discoprobe.loaders.corpus import UPOS, Word
from discoprobe.loaders.errors import DiscoprobeError, RemoteError, UnknownNameError, UnsupportedError, first_line
from discoprobe.loaders.files import File
from discoprobe.loaders.raw.document import ANNOTATING, Paragraph
from discoprobe.loaders.raw.segmentation import (
    LONG_SENTENCE,
    MAX_WORDS,
    OTHER_LENGTH,
    UNANNOTATED,
    Sentence,
    boundary_rules,
    correct_boundaries,
    versions,
)

PROCESSORS: Final = ("tokenize", "mwt", "pos", "lemma", "depparse")
"""The processors of Stanza whose results are in CoNLL-U, in the order in which they run."""
IDENTITY: Final = "identity"
"""The lemmatiser that returns the form, for languages without inflection; it has no file."""
RESOURCES: Final = "resources.json"
WITHOUT: Final = "find sentences only with --segment"


def require_stanza() -> None:
    """Raise an UnsupportedError that says how to install Stanza, if it is not installed."""
    if importlib.util.find_spec("stanza") is None or importlib.util.find_spec("torch") is None:
        raise UnsupportedError(f"annotation needs Stanza, which is not installed: pip install stanza, or {WITHOUT}")


def default_folder() -> Path:
    """The folder to which Stanza downloads its models; ``$STANZA_RESOURCES_DIR`` names another."""
    require_stanza()
    from stanza.resources.common import DEFAULT_MODEL_DIR

    return Path(os.environ.get("STANZA_RESOURCES_DIR") or DEFAULT_MODEL_DIR)


def read_processors(names: Sequence[str]) -> dict[str, str]:
    """The package of each named processor, and of the processors that these need.

    ``names`` are like ``pos`` or ``pos=hdt``, where ``hdt`` is the package; a package that is not named is ``default``.
    Without names the processors are those of :data:`ANNOTATING`.

    Raises:
        UnknownNameError: a processor is not one of :data:`PROCESSORS`.
    """
    named = {
        name.strip(): package.strip() for name, _, package in (each.partition("=") for each in names or ANNOTATING)
    }
    for name in named:
        if name not in PROCESSORS:
            raise UnknownNameError("processor", name, PROCESSORS, remedy=f"({', '.join(PROCESSORS)} are in CoNLL-U)")
    last = max((ANNOTATING.index(name) for name in named if name in ANNOTATING), default=0)
    return {name: named.get(name) or "default" for name in (*ANNOTATING[: last + 1], *named)}


def find_models(lang: str, folder: Path, processors: Sequence[str] = ANNOTATING) -> "StanzaEngine":
    """The engine with the models for processors, which are given as to :func:`read_processors`; every file is verified.

    Raises:
        UnsupportedError: the folder has no such model; the message says how to download it. Or Stanza is not installed.
        DiscoprobeError: a file is damaged.
    """
    chosen = read_processors(processors)
    require_stanza()
    from stanza.resources import common

    logging.getLogger("stanza").setLevel(logging.CRITICAL)  # it warns of what is an error here
    remedy = _remedy(lang, folder)
    path = folder / RESOURCES
    if not path.is_file():
        raise UnsupportedError(f"no Stanza models with {RESOURCES} in {folder}; {remedy}")
    try:
        resources = msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except msgspec.MsgspecError as error:
        raise damage(path, str(error), lang, folder) from error
    code = str(resources.get(lang, {}).get("alias", lang))
    if code not in resources:
        langs = ", ".join(sorted(name for name, of in resources.items() if isinstance(of, dict) and "packages" in of))
        raise UnsupportedError(f"no Stanza model of '{lang}' (only of {langs}) in {folder}; {remedy}")
    available = resources[code]
    of_package = available.get("packages", {})  # the package of each processor, by the name of a treebank
    chosen = {
        name: package if package in available.get(name, ()) else of_package.get(package, {}).get(name, package)
        for name, package in chosen.items()
    }
    models = common.maintain_processor_list(resources, code, None, dict(chosen))
    packages = {name: of_processor[0].package for name, of_processor in models}
    for name, package in chosen.items():
        if packages.get(name) not in {IDENTITY, *available.get(name, ())}:
            choices = [f"{name}={each}" for each in available.get(name, ())]
            listed = ", ".join(choices or (each for each in PROCESSORS if each in available))
            raise UnsupportedError(
                f"no Stanza package {name}={package} of '{lang}' in {folder}, which lists {listed}; "
                f"name one of these with --processors, try --download, or {WITHOUT}"
            )
    files: list[File] = []
    for name, package in common.flatten_processor_list(common.add_dependencies(resources, code, models)):
        if package == IDENTITY:
            continue
        file = f"{code}/{name}/{package}.pt"
        path, md5 = folder / file, available.get(name, {}).get(package, {}).get("md5")  # None for some packages
        if not path.is_file():
            raise UnsupportedError(f"no Stanza model {file} in {folder}; {remedy}")
        content = path.read_bytes()
        if md5 and md5 != (actual := hashlib.md5(content, usedforsecurity=False).hexdigest()):
            raise damage(path, f"MD5 {actual}, {RESOURCES} says {md5}", lang, folder)
        files.append(File(file, hashlib.sha256(content).hexdigest(), len(content)))
    in_order = tuple(sorted(files, key=lambda file: file.path))
    return StanzaEngine(lang, code, folder, tuple(packages.items()), in_order)


def download_models(lang: str, folder: Path, processors: Sequence[str] = ANNOTATING) -> None:
    """Download the models of a language with Stanza; models that are present are kept.

    Raises:
        RemoteError: the host cannot be reached, or does not provide them.
        UnsupportedError: Stanza is not installed, or has no models of the language.
    """
    require_stanza()
    import stanza

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


def damage(path: Path, why: str, lang: str, folder: Path) -> DiscoprobeError:
    """The error for a damaged file of models; the message says how to download it again."""
    return DiscoprobeError(f"{path} is damaged ({why}); delete it and {_remedy(lang, folder)}")


def _remedy(lang: str, folder: Path) -> str:
    code = f"import stanza; stanza.download('{lang}', model_dir='{folder}', processors='{','.join(ANNOTATING)}')"
    return f'download with: python -c "{code}" (or --download), name another folder with --stanza-dir, or {WITHOUT}'


TOKENIZERS: Final = ("tokenize", "mwt")
TAGS: Final = frozenset(UPOS.categories.to_list())
NOT_TOKENISED: Final = (ValueError, AssertionError, IndexError)
"""Errors that Stanza's tokeniser raises for text in which it cannot locate its tokens."""


def _device() -> str:
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


class StanzaEngine(msgspec.Struct, frozen=True):
    """Stanza with certain models of one language, whose files exist and are verified.

    Attributes:
        lang: the code of the language.
        code: Stanza's code of the language, which names its folder: ``zh-hans`` for ``zh``.
        folder: the folder of models.
        packages: processor and package, in the order in which they run.
        files: path in the folder, SHA-256 and size of each file, including word vectors and language models.
        device: ``cuda`` where there is a GPU, else ``cpu``.
        lengths: least and largest number of words (with a letter or digit) of sentences that are tagged and parsed,
            others are dropped; None for all. Half of the words of a Wikipedia are in longer sentences than probing
            tasks use.
    """

    lang: str
    code: str
    folder: Path
    packages: tuple[tuple[str, str], ...]
    files: tuple[File, ...]
    device: str = field(default_factory=_device)
    lengths: tuple[int, int] | None = None

    @property
    def identity(self) -> Mapping[str, object]:
        """Versions, packages, hashes of the model files, and the device, since a GPU rounds differently."""
        return {
            "engine": "stanza",
            "software": versions("stanza", "torch"),
            "packages": dict(self.packages),
            "models": msgspec.to_builtins(entries(self.files)),
            "device": self.device,
            **({"lengths": list(self.lengths)} if self.lengths else {}),
            **boundary_rules(self.lang),
        }

    @property
    def tags(self) -> bool:
        """Whether it has a processor beside the tokenisers."""
        return any(name not in TOKENIZERS for name, _ in self.packages)

    def annotate(self, paragraphs: Sequence[Paragraph], corrections: Counter[str]) -> list[list[Sentence]]:
        """The sentences of each paragraph, in order, with annotated words.

        Raises:
            UnsupportedError: Stanza is not installed.
            DiscoprobeError: a model cannot be loaded.
        """
        inputs = [(paragraph, paragraph.sentences or [(0, len(paragraph.text))]) for paragraph in paragraphs]
        texts = [paragraph.text[start:end] for paragraph, spans in inputs for start, end in spans]
        documents = iter(self._tokenise(texts))
        sentences = [
            [
                sentence
                for start, _ in spans
                for sentence in self._divide(paragraph, start, next(documents), corrections)
            ]
            for paragraph, spans in inputs
        ]
        words = self._tag([sentence for each in sentences for sentence in each if sentence.words])
        for paragraph, of_paragraph in zip(paragraphs, sentences, strict=True):
            for i, sentence in enumerate(of_paragraph):
                annotated = tuple(_annotated_words(sentence.words, paragraph.text, words))
                of_paragraph[i] = msgspec.structs.replace(sentence, words=annotated)
        return sentences

    def _tokenise(self, texts: Sequence[str]) -> list[Any]:
        """Stanza's documents of texts, with tokens; None for a text that Stanza cannot read."""
        try:
            documents: list[Any] = _pipeline(self).bulk_process(texts, processors=TOKENIZERS)
        except NOT_TOKENISED:
            if len(texts) == 1:
                return [None]
            half = len(texts) // 2
            return [*self._tokenise(texts[:half]), *self._tokenise(texts[half:])]
        return documents

    def _divide(self, paragraph: Paragraph, at: int, document: Any, corrections: Counter[str]) -> list[Sentence]:
        """The sentences in a tokenised document: a paragraph, or a sentence of the input that begins at an offset.

        Sentences that are too long to be annotated are dropped.
        """
        if document is None:
            return [Sentence(paragraph, 0, 0, dropped=UNANNOTATED)]
        words = [
            [
                Word(word.text, start=token.start_char + at, end=token.end_char + at)
                for token in sentence.tokens
                for word in token.words
            ]
            for sentence in document.sentences
        ]
        starts = [at]
        if paragraph.sentences is None:
            spans = [(of_sentence[0].start, of_sentence[-1].end) for of_sentence in words]
            boundaries = correct_boundaries(paragraph.text, self.lang, corrections, spans)
            starts = [start for start, _ in boundaries]
        sentences = []
        for of_sentence in filter(None, regroup(words, starts)):
            dropped = LONG_SENTENCE if len(of_sentence) > MAX_WORDS else ""
            if self.lengths and not dropped:
                least, most = self.lengths
                n_words = sum(any(map(str.isalnum, word.form)) for word in of_sentence)
                dropped = "" if least <= n_words <= most else OTHER_LENGTH
            start, end = of_sentence[0].start, of_sentence[-1].end
            sentences.append(Sentence(paragraph, start, end, () if dropped else tuple(of_sentence), dropped))
        return sentences

    def _tag(self, sentences: Sequence[Sentence]) -> Iterator[Any]:
        """Stanza's words of sentences, annotated."""
        from stanza.models.common.doc import Document

        forms = [[word.form for word in sentence.words] for sentence in sentences]
        document = Document([[{"id": i, "text": form} for i, form in enumerate(each, 1)] for each in forms])
        if sentences:
            taggers = [name for name, _ in self.packages if name not in TOKENIZERS]
            _pipeline(self).process(document, processors=taggers)
        return iter(document.iter_words())


@functools.lru_cache(maxsize=1)
def _pipeline(engine: StanzaEngine) -> Any:
    """Stanza with the models of an engine; the last one stays in memory, so that a process loads it once."""
    require_stanza()
    import stanza
    import torch

    torch.set_num_threads(1)
    try:
        pipeline = stanza.Pipeline(
            engine.code, dir=str(engine.folder), package=None, processors=dict(engine.packages), download_method=None,
            device=engine.device, verbose=False, logging_level="CRITICAL",
            lemma_store_results=True,  # a lemma depends on word and tag, and half of the words are frequent ones
        )  # fmt: skip
    except MemoryError:
        raise
    except Exception as error:  # unpickling a truncated file, or one that is no model, raises many classes
        why = f"{type(error).__name__}: {error}".rstrip(": ")
        raise damage(engine.folder / engine.code, why, engine.lang, engine.folder) from error
    if "depparse" in pipeline.processors:
        tagger, parser = (pipeline.processors[name].trainer for name in ("pos", "depparse"))
        # Stanza before 1.15 has other classifiers, and a parser by transitions has no probabilities of arcs.
        if hasattr(tagger.model, "tag_clf") and hasattr(parser.model, "forward_scores"):
            _score_tags(tagger)
            _score_arcs(parser)
    return pipeline


class _Scored(str):
    """A value that Stanza predicts, with the logarithm of its probability, which Stanza does not return."""

    __slots__ = ("log_probability",)
    log_probability: float

    def __new__(cls, value: str, log_probability: float = 0.0) -> Self:
        scored = super().__new__(cls, value)
        scored.log_probability = log_probability
        return scored


def _score_tags(trainer: Any) -> None:
    """Let a tagger of Stanza return each UPOS as `_Scored`: the probability of it and of all features of the word."""
    import torch
    from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

    predict, outputs, model = trainer.predict, list[Any](), trainer.model
    of_feats = model.tag_clf["feats"] if "feats" in model.tag_clf else []  # noqa: SIM401 (a ModuleDict has no `get`)
    classifiers = of_feats if isinstance(of_feats, (list, torch.nn.ModuleList)) else [of_feats]
    for classifier in (model.upos_clf, *classifiers):
        classifier.register_forward_hook(
            lambda _module, _inputs, output: outputs.append(torch.log_softmax(output.detach(), -1).amax(-1))
        )

    def predict_with_scores(batch: Any, *args: Any, **options: Any) -> Any:
        outputs.clear()
        predicted = predict(batch, *args, **options)
        lengths = torch.as_tensor(batch.lens)
        places = torch.zeros(len(lengths), int(lengths.max()))
        sizes = pack_padded_sequence(places, lengths, batch_first=True).batch_sizes
        padded, _ = pad_packed_sequence(PackedSequence(sum(outputs).cpu(), sizes), batch_first=True)
        for place, of_sentence in zip(batch.orig_idx, padded.tolist(), strict=True):
            for word, score in zip(predicted[place], of_sentence, strict=False):  # shorter sentences are padded
                word[0] = _Scored(word[0], score)
        return predicted

    trainer.predict = predict_with_scores


def _score_arcs(trainer: Any) -> None:
    """Let a parser of Stanza return each relation as `_Scored`: the probability of head and relation."""
    predict, outputs = trainer.predict, dict[str, Any]()
    trainer.model.register_forward_hook(lambda _module, _inputs, output: outputs.update(scores=output[1]))

    def predict_with_scores(batch: Any, *args: Any, **options: Any) -> Any:
        predicted = predict(batch, *args, **options)
        arcs, _, labels = outputs.pop("scores")
        places = batch[-5]  # as the data of Stanza's parser end: … orig_idx, word_orig_idx, sentlens, word_lens, text
        for place, of_arcs, of_labels in zip(places, arcs, labels, strict=True):
            n_nodes = len(predicted[place]) + 1  # the others are padding, which Stanza counts in
            arcs_within = of_arcs[:n_nodes, :n_nodes]
            arcs_within = arcs_within - np.logaddexp.reduce(arcs_within, axis=1, keepdims=True)
            for n, word in enumerate(predicted[place], 1):
                head = word[0]
                word[1] = _Scored(word[1], float(arcs_within[n, head] + of_labels[n, head].max()))
        return predicted

    trainer.predict = predict_with_scores


def regroup(sentences: Sequence[Sequence[Word]], starts: Sequence[int]) -> list[list[Word]]:
    """The words of ``sentences``, divided into sentences that begin at the characters ``starts`` instead.

    Dots at the end of one sentence and the beginning of the next (a divided ellipsis) become one word.
    """
    regrouped: list[list[Word]] = [[] for _ in starts]
    for words in sentences:
        for i, word in enumerate(words):
            sentence = regrouped[max(0, bisect_right(starts, word.start) - 1)]
            joined = word
            if i == 0 and sentence and sentence[-1].end == word.start:
                places = sentence[-1].start, word.start
                if not "".join(each.form for each in (*sentence, *words) if each.start in places).strip(".…"):
                    last = sentence.pop()
                    joined = Word(last.form + word.form, start=last.start, end=word.end)
            sentence.append(joined)
    return regrouped


def _annotated_words(words: Sequence[Word], text: str, annotated: Iterator[Any]) -> Iterator[Word]:
    """Words with the annotation of the next words of Stanza, in cells that a CoNLL-U reader accepts.

    The form of a word that is a token is taken from the text, since Stanza writes ``<UNK>`` for very long ones.
    """
    n_words = Counter(word.start for word in words)
    for each in words:
        word = next(annotated)
        cells = (
            each.form if n_words[each.start] > 1 else text[each.start : each.end],
            word.lemma,
            word.xpos,
            word.deprel,
        )
        form, lemma, xpos, deprel = (" ".join((cell or "").split()) for cell in cells)
        is_scored = isinstance(word.upos, _Scored) and isinstance(word.deprel, _Scored)
        yield msgspec.structs.replace(
            each, form=form or MISSING, lemma=lemma, upos=word.upos if word.upos in TAGS else "", xpos=xpos,
            feats=word.feats if word.feats and well_formed_feats(word.feats) else "",
            head=None if word.deprel is None else word.head, deprel=deprel,
            confidence=(word.upos.log_probability, word.deprel.log_probability) if is_scored else None,
        )  # fmt: skip
