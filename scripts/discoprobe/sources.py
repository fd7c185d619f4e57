"""Reads the corpora of a plan: the sample, those of the catalogue, and a user's own.

`corpora_of` reads the groups of a `plan.Plan`, one corpus per language. `Contexts` finds the sentences around those of
a row.
"""

from __future__ import annotations

import functools
import logging
import operator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import polars as pl

from discoprobe.builders.blocks import fills
from discoprobe.loaders.annotation_manifest import AnnotationManifest, is_parser, read_manifest
from discoprobe.loaders.catalogue import treebanks
from discoprobe.loaders.catalogue.treebanks import (
    DATASETS,
    DocumentRule,
    Source,
    TextCorpus,
    Treebank,
)
from discoprobe.loaders.conllu.reader import describe, find_files, read_corpora
from discoprobe.loaders.corpus import Corpus, Counts
from discoprobe.loaders.errors import DiscoprobeError, OnError, RemoteError, UnsupportedError, UsageError
from discoprobe.loaders.fetch import downloads
from discoprobe.loaders.fetch.downloads import location
from discoprobe.loaders.fetch.remote_files import as_path
from discoprobe.loaders.files import File, hashes_of
from discoprobe.loaders.process_pool import Progress, silent
from discoprobe.loaders.raw.document import AnnotationOptions, DropCounts, read_options
from discoprobe.loaders.raw.parsers import PARSED, ParsedFiles, ParsedPart, is_parsed_text
from discoprobe.loaders.raw.prepare import choose_engine, choose_witness, parquet_corpus, parser_of, prepare
from discoprobe.loaders.raw.row_groups import TextCorpusPart
from discoprobe.loaders.raw.segmentation import sentence_spans
from discoprobe.loaders.raw.text_rows import check_kind, files_in
from discoprobe.plan import PARTLY, CorpusGroup, Plan, PlannedCorpus, is_filled, is_raw, plan
from discoprobe.request import SAMPLE, Request, corpus_name
from discoprobe.silver import held_out, is_annotated, label_errors

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from discoprobe.builders.task import AnyTask
    from discoprobe.cards.text.examples import ContextSentence


_log = logging.getLogger(__name__)


def load_corpus(
    lang: str, corpora: Sequence[str] = (), *, on_error: OnError = "stop", segment: bool = False,
    progress: Progress = silent,
) -> Corpus:  # fmt: skip
    """The corpora of one language, without the table of forms that `build run` takes from the catalogue.

    Args:
        lang: its code or name, or the path of a .conllu file or folder that holds one language.
        corpora: ``sample``, names of the catalogue, files, folders or archives; by default the catalogue's treebanks
            of the language, which are downloaded and verified, or its raw text where it has no treebank.
        on_error: ``skip`` leaves malformed sentences out and counts them.
        segment: only divide raw text into sentences and words, as ``--segment``.
        progress: called with what is downloaded and read.

    Raises:
        UnknownNameError: for a language or corpus that is not there.
        CorpusFormatError: for a malformed file.
        UnsupportedError: if the files hold no such language, or several.
    """
    raw = AnnotationOptions(segment=segment)
    if not corpora and Path(lang).exists():
        request = Request(corpora=(lang,), on_error=on_error, raw=raw)
    else:
        request = Request(languages=(lang,), corpora=tuple(corpora), on_error=on_error, raw=raw)
    of_language: list[Corpus] = []
    for group in plan(request, ()).groups:
        of_language += _read(group, request, _paths(group, request, progress), progress)
    if len(of_language) != 1:
        names = ", ".join(corpus.lang for corpus in of_language) or "none"
        raise UnsupportedError(f"expected one language, found {names}; give the code of one, and its files")
    return of_language[0]


def corpora_of(
    made: Plan, progress: Progress = silent, broken: dict[str, DiscoprobeError] | None = None
) -> Iterator[tuple[Corpus, Sequence[AnyTask]]]:
    """The corpora of each language of a plan, and the tasks that are built from them.

    Tasks that need no annotation of words get the text of ``--fill`` in addition, which is read after the corpora until
    the sizes are reached; with ``silver``, so do tasks on annotated sentences whose labels are right (`label_errors`).
    ``broken`` takes the faults in the files of languages, which are then left out.

    Raises:
        DiscoprobeError: a corpus cannot be downloaded, or read if there is no ``broken``.
    """
    request = made.request
    with_text = request.silver or any(map(is_filled, made.tasks))
    text_of = functools.cache(functools.partial(_fill, made) if with_text else lambda *_, **__: None)
    texts = {code: text_of(code) for code in request.languages}  # first, so that a network error comes early
    if request.silver and texts and not any(texts.values()) and not _parsed_text(request):
        raise UnsupportedError(f"--silver: there is no text of {', '.join(texts)} to annotate; name it with --fill")
    paths_of = [_paths(group, request, progress) for group in made.groups]
    forms = {}
    for lang, table in made.forms.items():
        files = downloads.fetch([table], jobs=request.jobs, progress=progress)
        listed = tuple(
            msgspec.structs.replace(hashes_of(path, with_git=False), path=path.name, url=str(path)) for path in files
        )
        forms[lang] = Source(table.name, lang, table.licence, table.repo, table.commit, table.citation, listed)
    for group, all_paths in zip(made.groups, paths_of, strict=True):
        paths = [path for path in all_paths if _made_by_model(path) is None]
        parsed = [path for path in all_paths if _made_by_model(path) is not None]
        automatic = _of_files(group, request, parsed, progress, broken) if parsed else {}
        beside = {describe(path, top, None).lang for path, top in find_files(parsed).items()} if parsed else ()
        read = functools.partial(_read, group, request, paths, progress, beside, broken)
        of_people = read() if group.corpora else map(text_of, group.languages)
        corpora = {corpus.lang: corpus for corpus in of_people if corpus and corpus.lang not in (broken or ())}
        asked = group.languages or sorted({*corpora, *automatic})
        for lang in (code for code in asked if code in corpora or code in automatic):
            if lang in (broken or ()):
                continue
            corpus = corpora.get(lang, Corpus(lang, (), (), Counts()))
            corpus = msgspec.structs.replace(corpus, forms=forms.get(lang))
            of_lang, text = group.tasks_of(lang), text_of(lang) if group.corpora else None
            unfilled = [task for task in of_lang if text is None or not is_filled(task)]
            annotated = [task for task in unfilled if is_annotated(task)]
            silver = automatic.get(lang)
            if silver is None and request.silver and (text or _parsed_text(request)):
                silver = text_of(lang, annotate=True)
            if silver and annotated:
                progress(f"comparing labels of {lang}", 0, 1)
                silver = _judged(silver, annotated, paths, request)
                progress(f"comparing labels of {lang}", 1, 1)
                of_silver = [task for task in annotated if task.name in silver.trust]
                if not corpus.parts:  # the others say why they are none
                    of_silver = annotated
                if of_silver:
                    yield corpus + silver, of_silver
                unfilled = [task for task in unfilled if task not in of_silver]
            if unfilled and lang in automatic:  # sentences and documents are not in doubt
                of_text = [task for task in unfilled if not is_annotated(task)]
                if of_text:
                    yield corpus + automatic[lang], of_text
                unfilled = [task for task in unfilled if is_annotated(task)]
            if unfilled:
                yield corpus, unfilled
            if text and (filled := [task for task in of_lang if is_filled(task)]):
                yield corpus + text, filled


def _made_by_model(path: Path) -> AnnotationManifest | None:
    """The manifest of a folder or file of CoNLL-U whose words a model annotated; None for any other."""
    found = read_manifest(path if path.is_dir() else path.parent)
    return found if found and is_parser(found.made_by) else None


def _judged(silver: Corpus, tasks: Sequence[AnyTask], paths: Sequence[Path], request: Request) -> Corpus:
    """Annotated text, with what treebanks show of its labels: which candidates of which tasks may be used.

    Without treebanks among the corpora of the request, those of the catalogue show it. Where nothing shows it, no task
    has candidates, and the sources say why.
    """
    lang, reading = silver.lang, _annotating(request)
    made = next(iter(silver.sources)).annotation or {}
    try:
        if not reading.parsers and not (made.get("fills") and made["made_by"]["engine"] != PARSED):
            named = tuple(parser_of(each) for each in (made["made_by"], made.get("witness")) if each)
            reading = msgspec.structs.replace(reading, parsers=named)
        if not paths:
            banks = treebanks.default_corpora(lang, "all")
            paths = downloads.fetch([bank for bank in banks if isinstance(bank, Treebank)], jobs=request.jobs)
        engine, witness = choose_engine(lang, reading), choose_witness(lang, reading)
        scored = all(map(fills, silver.parts))
        errors = label_errors(tasks, held_out(paths, lang, request.on_error), engine, witness, scored=scored)
        judged: dict[str, Any] = {"silver": {name: msgspec.to_builtins(figures) for name, figures in errors.items()}}
    except (RemoteError, UnsupportedError) as error:
        if request.silver:
            raise
        errors, judged = {}, {"silver": {}, "unjudged": str(error)}
    trust = {name: figures.trust for name, figures in errors.items() if figures.trust}
    sources = tuple(
        msgspec.structs.replace(source, annotation={**(source.annotation or {}), **judged}) for source in silver.sources
    )
    parts = tuple(part if fills(part) else ParsedPart(part) for part in silver.parts)
    return msgspec.structs.replace(silver, sources=sources, trust=trust, parts=parts)


def _fill(made: Plan, lang: str, *, annotate: bool = False) -> Corpus | None:
    """The text of ``--fill`` as a corpus, divided into sentences or also annotated; None if there is none.

    Its parts and sources are marked, because they are read after all other parts.

    Raises:
        UsageError: a name is not text in parquet files.
        RemoteError: the Hub cannot be reached.
        UnsupportedError: Stanza or a model is missing.
    """
    named, request = made.text_of(lang), made.request
    if annotate and (parsed := _parsed_text(request)):
        options = _annotating(request)
        engine = choose_engine(lang, options)
        assert isinstance(engine, ParsedFiles), parsed
        return engine.corpus(choose_witness(lang, options))
    if not named:
        return None
    given = request.reading
    options = _annotating(request) if annotate else msgspec.structs.replace(given, segment=True)
    try:
        text = functools.reduce(operator.add, [_text_in_parquet(corpus, lang, options) for corpus in named])
    except RemoteError as error:
        raise RemoteError(f"{error}; or build from treebanks alone with --gold") from error
    parts = tuple(msgspec.structs.replace(part, fills=True) for part in text.parts if isinstance(part, TextCorpusPart))
    sources = tuple(
        msgspec.structs.replace(source, annotation={**(source.annotation or {}), "fills": True})
        for source in text.sources
    )
    return msgspec.structs.replace(text, parts=parts, sources=sources)


def _annotating(request: Request) -> AnnotationOptions:
    """How text is annotated for tasks that need annotation of words: sentences of the lengths that these use."""
    given = request.reading
    return msgspec.structs.replace(given, segment=False, rules=False, lengths=request.settings.probing_words)


def _parsed_text(request: Request) -> str:
    """The files of the request with text that was parsed before; empty if there are none."""
    first, *_ = request.reading.parsers or ("",)
    return first if is_parsed_text(first) else ""


def _read(  # noqa: PLR0913, PLR0917 (what is read, and what is known of the rest)
    group: CorpusGroup, request: Request, paths: Sequence[Path], progress: Progress = silent,
    beside: Collection[str] = (), broken: dict[str, DiscoprobeError] | None = None,
) -> Iterator[Corpus]:  # fmt: skip
    """The corpora of a group whose files are at ``paths``, one per language, languages in alphabetical order.

    ``beside`` are languages that other files of the group have; ``broken`` takes the faults of languages, which are
    then left out.

    Raises:
        UnsupportedError: if a language that was asked for is in none of the corpora.
    """
    codes, options = group.languages, request.reading
    lang = codes[0] if len(codes) == 1 else ""
    corpora: dict[str, Corpus] = {}
    for text in (_text_in_parquet(corpus, lang, options) for corpus in group.corpora if corpus.how == PARTLY):
        corpora[text.lang] = corpora[text.lang] + text if text.lang in corpora else text
    if paths:
        of_files = _of_files(group, request, paths, progress, broken)
        corpora = of_files | {
            code: of_files[code] + text if code in of_files else text for code, text in corpora.items()
        }
    names = ", ".join(corpus.name for corpus in group.corpora)
    if lacking := sorted({*codes} - {*corpora, *beside, *(broken or ())}):
        in_files = (find_files(paths) if paths else {}).items()
        languages = {*corpora, *beside, *(describe(path, top, lang or None).lang for path, top in in_files)}
        there = ", ".join(sorted(languages)) or "no language"
        raise UnsupportedError(f"no corpus of {', '.join(lacking)} among {names}; there is {there}")
    for corpus in corpora.values():
        if not corpus.n_sentences and not corpus.layers:
            fault = UnsupportedError(f"no sentence of {corpus.lang} among {names}")
            if broken is None:
                raise fault
            broken.setdefault(corpus.lang, fault)
    return (corpora[code] for code in sorted(corpora) if not codes or code in codes)


def _of_files(
    group: CorpusGroup, request: Request, paths: Sequence[Path], progress: Progress,
    broken: dict[str, DiscoprobeError] | None = None,
) -> dict[str, Corpus]:  # fmt: skip
    """The corpora in files of a group, by language, whoever annotated them; ``broken`` is that of `_read`."""
    codes = group.languages
    pinned = {file.sha256: bank for bank in group.treebanks for file in bank.files if file.sha256}
    return read_corpora(
        paths, lang=codes[0] if len(codes) == 1 else None, only=codes, on_error=request.on_error,
        facts=functools.partial(_facts, pinned),
        documents=request.settings.documents, texts=functools.partial(_texts_of_trees, request),
        find_sentences=sentence_spans, jobs=request.jobs, broken=broken,
        progress=lambda done, total: progress("reading: kB", done // 1000, total // 1000),
    )  # fmt: skip


def _texts_of_trees(request: Request, names: Collection[str]) -> list[Path]:
    """Files of the catalogue with the texts of trees of these names, as far as they are downloaded.

    A build of one's own files needs no network. A warning says what is not downloaded: rules set the blanks of its
    trees, as of all whose text is not known.
    """
    found: list[Path] = []
    for bank in treebanks.files_named([f"{name}.conllu" for name in names], request.licences):
        places = [location(bank, file).resolve() for file in bank.files]
        found += (there := [place for place in places if place.is_file()])
        if n_missing := len(places) - len(there):
            _log.warning(
                "the texts of %d trees are in %s, which is not downloaded, so that rules set their blanks; "
                "`build corpora fetch %s` gets it", n_missing, bank.name, bank.name,
            )  # fmt: skip
    return found


def _paths(group: CorpusGroup, request: Request, progress: Progress = silent) -> list[Path]:
    """The files and folders of a group; those of the catalogue are downloaded, and raw text is annotated first.

    Text of the catalogue that no one named is divided into sentences only if models are missing: so a build of several
    languages does not end at one of them.
    """
    codes, options, jobs = group.languages, request.reading, request.jobs
    paths = downloads.fetch(group.treebanks, jobs=jobs, progress=progress) if group.treebanks else []
    for corpus in group.corpora:
        if corpus.name == SAMPLE:
            packaged = treebanks.sample_files()
            if lacking := [code for code in codes if code not in packaged]:
                raise UnsupportedError(f"the sample corpus has {', '.join(packaged)}, not {', '.join(lacking)}")
            paths += [packaged[code] for code in codes or packaged]
        elif isinstance(text := corpus.pinned, TextCorpus):
            about = Source(text.name, text.lang, text.licence, text.repo, text.commit, text.citation)
            how = msgspec.structs.replace(options, read=read_options(text.read))
            downloads.fetch([text], jobs=jobs, progress=progress)
            read = functools.partial(prepare, str(downloads.folder(text)), about, jobs=jobs, progress=progress)
            try:
                paths.append(read(how).folder)
            except UnsupportedError as error:
                if request.corpora or how.segment:
                    raise
                _log.warning(
                    "%s; without them, tasks that need annotated words are not built from %s", error, text.name
                )
                paths.append(read(msgspec.structs.replace(how, segment=True)).folder)
        elif corpus.pinned is None and corpus.how != PARTLY:
            path = as_path(corpus.name)
            if is_raw(path):
                own = _own_text(path, codes[0] if len(codes) == 1 else "")
                about = msgspec.structs.replace(
                    own, licence=options.licence or own.licence, citation=options.citation or own.citation
                )
                paths.append(prepare(path, about, options, jobs=jobs, progress=progress).folder)
            else:
                paths.append(Path(path))
    return paths


def _facts(pinned: Mapping[str, Treebank], path: Path, digest: File) -> Source | None:
    """What is known of the treebank of a file by its content: from the pins of a plan, the catalogue, the sample."""
    if bank := pinned.get(digest.sha256):
        return bank.facts
    facts = treebanks.facts_of(path, digest)
    if facts is None and (lang := _sample_hashes().get(digest.sha256)):
        return Source(f"{SAMPLE}-{lang}", lang, "CC0 1.0", "", "", "", documents=DocumentRule("newdoc"))
    return facts


@functools.cache
def _sample_hashes() -> Mapping[str, str]:
    return {hashes_of(path, with_git=False).sha256: lang for lang, path in treebanks.sample_files().items()}


def _text_in_parquet(corpus: PlannedCorpus, lang: str, options: AnnotationOptions) -> Corpus:
    """The corpus of text in parquet files; its parts are read only when they are needed."""
    if text := corpus.hub_text:
        repo = f"{DATASETS}{text.repo}"
        about = Source(text.corpus(corpus.lang), corpus.lang, text.licence, repo, text.commit, text.citation)
        return parquet_corpus(text.url(corpus.lang), about, options)
    return parquet_corpus(corpus.name, _own_text(corpus.name, lang), options)


def _own_text(source: str, lang: str) -> Source:
    """Name and language of a user's own text.

    Raises:
        DiscoprobeError: no file of it can be read.
        UsageError: the language is not known.
    """
    if Path(source).is_file():
        check_kind(Path(source))
    elif Path(source).is_dir():
        files_in(Path(source), DropCounts())
    if not lang:
        raise UsageError(f"{source} is raw text: name its language with --lang, a single one such as de")
    return Source(corpus_name(source), lang)


AROUND = 2
"""Sentences before and after that are shown."""


class Contexts:
    """Finds the neighbours of sentences in corpora; the corpora of a language are read when they are first needed."""

    def __init__(self, corpora: Sequence[str]) -> None:
        self._corpora = tuple(corpora)
        self._of_language: dict[str, pl.DataFrame] = {}

    def __call__(self, lang: str, corpus: str, sent_ids: Collection[str]) -> list[ContextSentence]:
        """These sentences and those around them, in the order of the source; empty if the corpora do not have them."""
        of_corpus = self._sentences(lang).filter(pl.col("corpus") == corpus)
        places = of_corpus.filter(pl.col("sent_id").is_in(list(sent_ids))).select("number", "doc")
        near = (
            places.join(of_corpus, on="doc", suffix="_near")
            .filter((pl.col("number_near") - pl.col("number")).abs() <= AROUND)
            .unique("number_near")
            .sort("number_near")
        )
        sentences: list[ContextSentence] = []
        last = None
        for number, sent_id, text in near.select("number_near", "sent_id", "text").iter_rows():
            sentences.append((text, sent_id in sent_ids, last is not None and number > last + 1))
            last = number
        return sentences

    def _sentences(self, lang: str) -> pl.DataFrame:
        """All sentences of a language: ``corpus``, ``doc``, ``sent_id``, ``text``, ``number`` (signed, in order)."""
        if lang not in self._of_language:
            parts = []
            for part_number, part in enumerate(load_corpus(lang, self._corpora).parts):
                shard = part.load()
                sentences = shard.sentences.join(shard.documents.select("doc", "corpus"), on="doc", how="left")
                doc = pl.format("{}/{}", pl.lit(part_number), "doc")
                parts.append(sentences.select(pl.col("corpus", "sent_id").cast(pl.String), "text", doc=doc))
            self._of_language[lang] = pl.concat(parts).with_row_index("number").cast({"number": pl.Int64})
        return self._of_language[lang]
