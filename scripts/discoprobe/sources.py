"""The corpora that a request names: the sample, the catalogue's, and a user's own."""

from __future__ import annotations

import dataclasses
import functools
import importlib.resources
import operator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from discoprobe.loaders.catalogue import hub_texts, treebanks
from discoprobe.loaders.catalogue.pins import DocumentRule, TextCorpus, Treebank, TreebankFacts
from discoprobe.loaders.errors import UnknownNameError, UnsupportedError, UsageError
from discoprobe.loaders.file_hashes import hashes_of
from discoprobe.loaders.process_pool import Progress, silent
from discoprobe.requests import SAMPLE, OnError, Request, codes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from discoprobe.builders.task import AnyTask
    from discoprobe.loaders.catalogue.pins import PinnedCorpus
    from discoprobe.loaders.corpus import Corpus

TEXT = frozenset({"documents", "text"})
"""What text has that was only divided into sentences."""


def load_corpus(lang: str, corpora: Sequence[str] = (), *, on_error: OnError = "stop") -> Corpus:
    """The corpora of one language.

    Args:
        lang: its code or name, or the path of a .conllu file or folder that holds one language.
        corpora: ``sample``, names of the catalogue, files or folders; by default the catalogue's treebanks of the
            language, which are downloaded and verified, or its raw text where it has no treebank.
        on_error: ``skip`` leaves malformed sentences out and counts them.

    Raises:
        UnknownNameError: for a language or corpus that is not there.
        CorpusFormatError: for a malformed file.
        UnsupportedError: if the files hold no such language, or several.
    """
    if not corpora and Path(lang).exists():
        found = list(read(Request(corpora=(lang,), on_error=on_error)))
    else:
        found = list(read(Request(languages=(lang,), corpora=tuple(corpora), on_error=on_error)))
    if len(found) != 1:
        names = ", ".join(corpus.lang for corpus in found) or "none"
        raise UnsupportedError(f"expected one language, found {names}; name the language and the files of it")
    return found[0]


def read(request: Request, progress: Progress = silent) -> Iterator[Corpus]:
    """The corpora that a request names, one per language, languages in alphabetical order.

    Raises:
        UnsupportedError: if a language that was asked for is in none of the corpora.
    """
    from discoprobe.loaders.conllu.reader import read_corpora  # noqa: PLC0415 (imports polars)

    codes = codes_of(request)
    found = {corpus.lang: corpus for corpus in _segmented_texts(request, codes)}
    if paths := _paths(request, codes, progress):
        treebanks_read = read_corpora(
            paths, lang=codes[0] if len(codes) == 1 else None, on_error=request.on_error,
            facts=_facts_of(request), documents=request.settings.documents, jobs=request.jobs,
            progress=lambda done, total: progress("reading", done, total),
        )  # fmt: skip
        found = treebanks_read | {
            lang: treebanks_read[lang] + text if lang in treebanks_read else text for lang, text in found.items()
        }
    if lacking := sorted(set(codes) - set(found)):
        there = ", ".join(found) or "no language"
        raise UnsupportedError(
            f"no corpus of {', '.join(lacking)} among {', '.join(request.corpora)}; there is {there}"
        )
    for corpus in found.values():
        if not corpus.n_sentences and not corpus.layers:
            raise UnsupportedError(f"no sentence of {corpus.lang} among {', '.join(request.corpora) or 'its corpora'}")
    return (found[lang] for lang in sorted(found) if not codes or lang in codes)


def corpora_of(
    request: Request, tasks: Sequence[AnyTask], progress: Progress = silent
) -> Iterator[tuple[Corpus, Sequence[AnyTask]]]:
    """The corpora of each language, and the tasks that are built from them.

    Where no corpus is named and no treebank of the language is known to have documents, tasks that need documents are
    built from the catalogue's raw text, and the others from the treebanks. Tasks that need nothing but documents go on
    with ``request.fill`` where these corpora do not fill the sizes.

    Raises:
        DiscoprobeError: as for `read`; or the raw text cannot be annotated here.
    """
    for corpus, of_corpus in _apart(request, tasks, progress):
        filled = [task for task in of_corpus if request.fill and "documents" in task.needs and task.needs <= TEXT]
        if len(filled) < len(of_corpus):
            yield corpus, [task for task in of_corpus if task not in filled]
        if filled:
            yield corpus + _fill(request, corpus.lang), filled


def _fill(request: Request, lang: str) -> Corpus:
    """The text that fills the sizes of a language."""
    from discoprobe.loaders.raw.prepare import AnnotationOptions  # noqa: PLC0415
    from discoprobe.loaders.raw.row_groups.row_group_parts import as_fill  # noqa: PLC0415

    how = dataclasses.replace(request.raw or AnnotationOptions(), segment=True)
    wanted = dataclasses.replace(request, corpora=request.fill, raw=how)
    texts = [text for name in request.fill for text in _texts_named(name, wanted, (lang,))]
    return as_fill(functools.reduce(operator.add, texts))


def _texts_named(name: str, request: Request, codes: tuple[str, ...]) -> list[Corpus]:
    if not _is_segmented_text(name, request):
        raise UsageError(f"--fill {name}: not text in parquet files; `build corpora list` shows what the catalogue has")
    return list(_segmented_texts(dataclasses.replace(request, corpora=(name,)), codes))


def _apart(
    request: Request, tasks: Sequence[AnyTask], progress: Progress
) -> Iterator[tuple[Corpus, Sequence[AnyTask]]]:
    """The corpora of each language and their tasks, before anything is filled."""
    codes = () if request.corpora else codes_of(request)
    split = [code for code in codes if treebanks.open_texts(code) and _has_treebank(code)]
    apart = [task for task in tasks if "documents" in task.needs] if split else []
    beside = [task for task in tasks if task not in apart]
    found: list[tuple[Corpus, Sequence[AnyTask]]] = []
    for code in split if apart else ():
        texts = tuple(text.name for text in treebanks.open_texts(code))
        one = dataclasses.replace(request, languages=(code,), corpora=texts)
        found += [(corpus, apart) for corpus in _read_texts(one, texts, apart, progress)]
    rest = tuple(code for code in codes if code not in split or beside)
    if rest or not split:
        wanted = dataclasses.replace(request, languages=rest) if split else request
        found += [(corpus, beside if corpus.lang in split else tasks) for corpus in read(wanted, progress)]
    yield from sorted(found, key=lambda pair: pair[0].lang)


def _has_treebank(code: str) -> bool:
    return any(bank.default for bank in treebanks.language(code).treebanks)


def _read_texts(request: Request, texts: Sequence[str], tasks: Sequence[AnyTask], progress: Progress) -> list[Corpus]:
    """The corpora of raw text; where they cannot be annotated, what they are for and how to do without."""
    try:
        return list(read(request, progress))
    except UnsupportedError as error:
        wanted = ", ".join(task.name for task in tasks)
        raise UnsupportedError(
            f"{wanted}: built from raw text, {', '.join(texts)}, since no treebank of {request.languages[0]} has "
            f"documents: {error}; --segment needs no models, or name other tasks with --task"
        ) from error


def _segmented_texts(request: Request, codes: tuple[str, ...]) -> Iterator[Corpus]:
    """The corpora of text in parquet files, one per language, whose parts are read when they are needed."""
    from discoprobe.loaders.raw.annotate.annotate_corpus import CorpusFacts  # noqa: PLC0415
    from discoprobe.loaders.raw.prepare import AnnotationOptions, segment_parquet  # noqa: PLC0415

    how = request.raw or AnnotationOptions()
    found: dict[str, Corpus] = {}
    for name in request.corpora:
        if not _is_segmented_text(name, request):
            continue
        if known := _hub_text(name, request, codes):
            text, lang = known
            about = CorpusFacts(
                text.corpus(lang), lang, text.licence, text.citation, f"{hub_texts.DATASETS}{text.repo}", text.commit
            )
            corpus = segment_parquet([text.url(lang)], about, how)
        else:
            corpus = segment_parquet([name], CorpusFacts("", codes[0] if len(codes) == 1 else ""), how)
        found[corpus.lang] = found[corpus.lang] + corpus if corpus.lang in found else corpus
    yield from found.values()


def _is_segmented_text(name: str, request: Request) -> bool:
    """Whether a name is text whose parts are read when they are needed: parquet, of which only sentences are asked."""
    from discoprobe.loaders.raw.prepare import is_parquet_text  # noqa: PLC0415

    if request.raw is None or not request.raw.segment or name == SAMPLE:
        return False
    return _is_hub_text(name) or is_parquet_text(name)


def _is_hub_text(name: str) -> bool:
    return not Path(name).exists() and hub_texts.is_hub_text(name)


def _hub_text(name: str, request: Request, codes: tuple[str, ...]) -> tuple[hub_texts.HubText, str] | None:
    """A data set of the catalogue and its language, at the commit that the request pins."""
    if not _is_hub_text(name):
        return None
    found = hub_texts.hub_text(name, codes[0] if len(codes) == 1 else "")
    if found is None:
        return None
    text, lang = found
    commit = next((commit for pinned, commit in request.commits if pinned == text.corpus(lang)), text.commit)
    return msgspec.structs.replace(text, commit=commit), lang


def _facts_of(request: Request) -> Callable[[str], TreebankFacts | None]:
    """What is known of a treebank by the name of its file: the catalogue, the sample, and what the request pins."""
    pinned = {bank.name: bank for bank in request.pinned if isinstance(bank, Treebank)}

    def facts(name: str) -> TreebankFacts | None:
        found = _facts(name)
        if found is None or found.name not in pinned:
            return found
        bank = pinned[found.name]
        return msgspec.structs.replace(bank.facts, sha256=frozenset(file.sha256 for file in bank.files if file.sha256))

    return facts


def _facts(name: str) -> TreebankFacts | None:
    """What is known of a treebank: the catalogue, and the sample."""
    if name.endswith(f"_{SAMPLE}-ud-test.conllu"):
        lang = name.partition("_")[0]
        packaged = _sample_folder() / name
        sha256 = frozenset({hashes_of(packaged).sha256} if packaged.is_file() else ())
        return TreebankFacts(f"{SAMPLE}-{lang}", lang, "CC0 1.0", "", "", "", DocumentRule("newdoc"), sha256)
    return treebanks.facts_for(name)


def _paths(request: Request, codes: tuple[str, ...], progress: Progress) -> list[Path]:
    """The files and folders that a request names; raw text is annotated first."""
    from discoprobe.loaders.raw.prepare import as_path, is_raw  # noqa: PLC0415

    if not request.corpora:
        if not codes:
            raise UsageError("give --lang, or --corpus with the corpora to build from")
        banks = [bank for code in codes for bank in _default_treebanks(code)]
        texts = [text for code in codes if not _has_treebank(code) for text in treebanks.open_texts(code)]
        return [*_catalogue(banks, request, progress), *(_of_catalogue(text, request, progress) for text in texts)]
    paths: list[Path] = []
    for name in request.corpora:
        if _is_segmented_text(name, request):
            continue
        name = as_path(name)  # noqa: PLW2901 (a URL is read as its copy)
        if name == SAMPLE:
            paths += _sample(codes)
        elif _is_hub_text(name):
            raise UsageError(f"{name}: text of the Hub is read with --segment (discourse tasks need no annotation)")
        elif name and is_raw(name):
            paths.append(_annotated(name, request, codes, progress))
        elif name and Path(name).exists():
            paths.append(Path(name))
        else:
            bank = next((bank for bank in request.pinned if bank.name == name), None) or _corpus(name)
            if isinstance(bank, TextCorpus):
                paths.append(_of_catalogue(bank, request, progress))
            else:
                paths += _catalogue([bank], request, progress)
    return paths


def _default_treebanks(code: str) -> Sequence[Treebank]:
    """The treebanks that are taken for a language; none where raw text stands in for them."""
    return () if treebanks.open_texts(code) and not _has_treebank(code) else treebanks.open_treebanks(code)


def _of_catalogue(text: TextCorpus, request: Request, progress: Progress) -> Path:
    """The folder of a corpus of the catalogue's raw text, downloaded, verified and annotated, now or before."""
    from discoprobe.loaders.fetch.catalogue_files import folder  # noqa: PLC0415
    from discoprobe.loaders.raw.annotate.annotate_corpus import CorpusFacts  # noqa: PLC0415
    from discoprobe.loaders.raw.options import read_options  # noqa: PLC0415
    from discoprobe.loaders.raw.prepare import AnnotationOptions, prepare  # noqa: PLC0415

    how = dataclasses.replace(request.raw or AnnotationOptions(), read=read_options(text.read))
    about = CorpusFacts(text.name, text.lang, text.licence, text.citation, text.repo, text.commit)
    _catalogue([text], request, progress)
    return prepare(str(folder(text)), about, how, jobs=request.jobs, progress=progress).folder


def _annotated(source: str, request: Request, codes: tuple[str, ...], progress: Progress) -> Path:
    """The folder of a corpus that is annotated now, or was before, from raw text."""
    from discoprobe.loaders.raw.annotate.annotate_corpus import CorpusFacts  # noqa: PLC0415
    from discoprobe.loaders.raw.prepare import AnnotationOptions, prepare  # noqa: PLC0415

    about = CorpusFacts("", codes[0] if len(codes) == 1 else "")
    return prepare(source, about, request.raw or AnnotationOptions(), jobs=request.jobs, progress=progress).folder


def _corpus(name: str) -> Treebank | TextCorpus:
    """A corpus of the catalogue; for a name that is nothing at all, what is near it."""
    try:
        return treebanks.corpus(name)
    except UnknownNameError as error:
        every = treebanks.languages(every=True)
        known = [SAMPLE, *(corpus.name for each in every for corpus in (*each.treebanks, *each.texts))]
        remedy = "(there is no file or folder of that name either; `build corpora list` lists the catalogue)"
        raise UnknownNameError("corpus", name, known, remedy=remedy) from error


def _catalogue(corpora: Sequence[PinnedCorpus], request: Request, progress: Progress) -> list[Path]:
    """The files of corpora of the catalogue in the cache; missing ones are downloaded."""
    from discoprobe.loaders.fetch.catalogue_files import fetch  # noqa: PLC0415

    return fetch(corpora, jobs=request.jobs, show=lambda done, files, _: progress("downloading", done, files))


def sample_languages() -> list[str]:
    """Languages of the corpus that ships with the package."""
    return sorted(path.name.partition("_")[0] for path in _sample_folder().glob("*.conllu"))


def _sample_folder() -> Path:
    return Path(str(importlib.resources.files("discoprobe.loaders").joinpath(SAMPLE)))


def _sample(codes: tuple[str, ...]) -> list[Path]:
    there = sample_languages()
    if lacking := [code for code in codes if code not in there]:
        raise UnsupportedError(f"the sample corpus has {', '.join(there)}, not {', '.join(lacking)}")
    return [_sample_folder() / f"{code}_{SAMPLE}-ud-test.conllu" for code in codes or there]
