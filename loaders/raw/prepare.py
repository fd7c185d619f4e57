"""From raw text to a corpus in one call: read and filter it, and annotate it or find its sentences.

``prepare`` annotates documents and writes a corpus: a folder of CoNLL-U shards with ``annotate.json``. For text in
parquet files ``parquet_corpus`` gives a corpus whose parts are read when they are needed.

Documents are annotated in batches; if a run is killed, only the batches in progress are lost. Batches are stored in the
cache, so that the source is read only once and memory holds one batch. The subfolder ``.annotating`` holds unfinished
work: the annotation of each batch (a *part*), in a file named by a hash of everything that it depends on, so that it is
made only once; and the new shards, which are moved to the folder when all are complete. The manifest is written last.
The files do not depend on interruptions or on the number of processes.

The comments of CoNLL-U (https://universaldependencies.org/format.html) are ``newdoc id``, ``genre``, ``newpar``,
``sent_id``, ``section_number`` and ``speaker`` where there are any, ``source`` (file, first character, end) and
``text``. MISC has ``SpaceAfter=No``. The offsets are characters of the decoded source. The sentences of a document are
numbered; a number is skipped where the text is interrupted by a heading, a stage direction, or removed text. By this
gap `conllu.documents` sees that the sentences before and after it are not neighbours.
"""

import hashlib
import importlib.metadata
import pickle  # noqa: TID251 (between processes of one run)
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec.structs import asdict

from discoprobe.loaders import annotation_manifest as manifests
from discoprobe.loaders.annotation_manifest import NAME, WORK, AnnotationManifest
from discoprobe.loaders.catalogue.treebanks import Source
from discoprobe.loaders.corpus import Corpus
from discoprobe.loaders.errors import UnsupportedError
from discoprobe.loaders.fetch.remote_files import as_path
from discoprobe.loaders.files import File, alone, cache_folder, hash_of_json, work_folder, write_atomically
from discoprobe.loaders.languages.language import language_data
from discoprobe.loaders.process_pool import Progress, process_pool, silent
from discoprobe.loaders.raw import parsers, stanza_engine
from discoprobe.loaders.raw.document import AnnotationOptions, RawDocument, ReadOptions, group_by_size
from discoprobe.loaders.raw.raw_corpus import RawCorpus, read_documents
from discoprobe.loaders.raw.row_groups import text_corpus
from discoprobe.loaders.raw.segmentation import CHUNK, Engine, RuleEngine, annotated_documents, conllu_text
from discoprobe.loaders.raw.text_rows import check_kind, ids_beside

FORMAT: Final = 12
"""Version of the CoNLL-U and counts that are written, and of the rules for sentence boundaries. Raise it when they
change: all parts are then made again."""
BATCH: Final = 40_000
"""A batch ends with the document in which it reaches this number of characters: about ten seconds on one core."""
SHARD: Final = 8 * 2**20
"""A shard ends with the batch in which it reaches this number of bytes."""
TEXTS: Final = "text"
"""The subfolder for extracted texts, which no file of the source contains."""
MAX_FILE_NAME: Final = 200
"""Bytes; file systems allow 255."""


class AnnotatedCorpus(msgspec.Struct, frozen=True):
    """An annotated corpus: its folder, its ``annotate.json``, the number of words that this run annotated, its time.

    ``notes`` say how files were read whose separator or encoding is not the usual one.
    """

    folder: Path
    manifest: AnnotationManifest
    new_words: int
    seconds: float
    notes: tuple[str, ...] = ()


def prepare(  # noqa: PLR0913 (one keyword per choice of the user)
    source: str,
    about: Source,
    options: AnnotationOptions,
    *,
    out: Path | None = None,
    jobs: int = 1,
    progress: Progress = silent,
) -> AnnotatedCorpus:
    """The annotated corpus of raw text.

    Args:
        source: a file, a folder, their URL, or a dataset on the Hub.
        about: name, language, licence, citation and origin of the text.
        options: of reading and annotation.
        out: the folder of the corpus; by default one in the cache, named after content, models and options.
        jobs: number of processes.
        progress: called with the step, the words annotated and the number of words expected.

    Raises:
        DiscoprobeError: the source cannot be read, or annotation is not possible; see :func:`choose_engine`.
    """
    place = as_path(source)
    if Path(place).is_file():
        check_kind(Path(place))
    corpus = read_documents(place, msgspec.structs.replace(options.read, lang=about.lang))
    return annotate(corpus, about, choose_engine(about.lang, options), out, jobs=jobs, progress=progress)


def choose_engine(lang: str, options: AnnotationOptions) -> Engine:
    """The engine for the options: Stanza; to segment only, Stanza's tokeniser if it is installed, else rules.

    If the options give a folder of models or permit a download, rules never replace Stanza, unless ``rules`` is set.

    Raises:
        UnsupportedError: Stanza or a model is missing; or rules cannot segment the language.
        RemoteError: a model cannot be downloaded.
        DiscoprobeError: a model is damaged.
    """
    if options.segment and options.rules:
        return RuleEngine(lang)
    first, *_ = options.parsers or (parsers.STANZA,)
    if not options.segment and not parsers.is_stanza(first):
        return parsers.find_parser(first, lang, options.lengths)
    processors = ("tokenize",) if options.segment else _processors(first, options.processors)
    try:
        folder = options.stanza_dir or stanza_engine.default_folder()
        if options.download:
            stanza_engine.download_models(lang, folder, processors)
        engine = stanza_engine.find_models(lang, folder, processors)
        return msgspec.structs.replace(engine, lengths=options.lengths)
    except UnsupportedError:
        if not options.segment or options.stanza_dir is not None or options.download:
            raise
        return RuleEngine(lang)


def _processors(name: str, processors: Sequence[str]) -> Sequence[str]:
    """The processors of ``stanza=gsd`` (all of one package) or ``stanza=pos=gsd,lemma=hdt``; else those given."""
    packages = name.partition("=")[2]
    if "=" in packages:
        return packages.split(",")
    return [f"{each.partition('=')[0]}={packages}" for each in processors] if packages else processors


def parser_of(made_by: Mapping[str, Any]) -> str:
    """The name of the parser that made an annotation, by its identity; empty for rules, which parse nothing.

    Raises:
        UnsupportedError: it is text that was parsed before, or a Python file of no plugin in use.
    """
    engine = made_by["engine"]
    if engine == "rules":
        return ""
    if engine == parsers.STANZA:
        return f"{engine}={','.join(f'{name}={package}' for name, package in made_by['packages'].items())}"
    if engine == parsers.PARSED:
        raise UnsupportedError("the text was parsed before: give its CoNLL-U files with --parser")
    if engine not in parsers.parser_files():
        digest = str(made_by["parser"])[:12]
        raise UnsupportedError(
            f"the text was parsed by {engine}.py (SHA-256 {digest}); give the file with --parser, or its plugin with "
            "--plugins"
        )
    return str(engine)


def choose_witness(lang: str, options: AnnotationOptions) -> Engine | None:
    """The second parser of the options, which has to agree with the first; None if there is none.

    Raises:
        DiscoprobeError: as for `choose_engine`.
    """
    _, *others = options.parsers or ("",)
    if not others:
        return None
    return choose_engine(lang, msgspec.structs.replace(options, parsers=tuple(others), lengths=None))


def parquet_corpus(url: str, about: Source, options: AnnotationOptions) -> Corpus:
    """The corpus of text in parquet files, of which a part is annotated, or only divided into sentences, when loaded.

    Rules find the sentences if words are not annotated, the language has spaces between words and the options give no
    folder of models.

    Raises:
        DiscoprobeError: as for :func:`text_corpus` and :func:`choose_engine`.
    """
    rules = options.segment and options.stanza_dir is None and language_data(about.lang).spaces
    engine = choose_engine(about.lang, msgspec.structs.replace(options, rules=rules))
    witness = choose_witness(about.lang, options) if engine.tags else None
    return text_corpus(url, about, options.read, engine, witness)


def _part(out: Path, key: str) -> Path:
    """The file with the annotation of a batch, which its key names: a line of counts, then CoNLL-U."""
    return out / WORK / "parts" / f"{key}.batch"


def _read_part(out: Path, key: str) -> tuple[dict[str, Any], bytes]:
    """The counts and the CoNLL-U of a batch."""
    line, _, text = _part(out, key).read_bytes().partition(b"\n")
    return msgspec.json.decode(line), text


def annotate(  # noqa: PLR0913 (what, how, and where to)
    read: RawCorpus,
    about: Source,
    engine: Engine,
    out: Path | None = None,
    *,
    jobs: int = 1,
    progress: Progress = silent,
    batch: int = BATCH,
) -> AnnotatedCorpus:
    """Annotate documents into a folder, or complete or update the annotation of the same corpus in it.

    Args:
        read: the documents; they are read once, and one batch of them is in memory.
        about: name, language, licence, citation and origin.
        engine: what annotates.
        out: the folder; by default one in the cache, named by a hash of content, models and options, so that it is made
            only once.
        jobs: number of processes; each loads the models and uses one thread.
        progress: called with the words annotated and the number of words expected.
        batch: characters per batch.

    Raises:
        UnsupportedError: there is no text to annotate.
        DiscoprobeError: the folder holds something else, or another process works in it; or annotation failed.
    """
    cache = cache_folder() / "annotated"
    with ExitStack() as held:
        if out is not None:
            held.enter_context(_lock(out))
            manifests.check_folder(out, about.name, about.lang)
        work = held.enter_context(work_folder(cache))
        batches = dict[str, int]()  # the key of the annotation of each → its size in characters
        for documents in group_by_size(read, _n_characters, batch):
            for document in documents:
                if document.extracted:
                    write_atomically(work / text_file(document.doc_id), document.source_text.encode())
            contents = [[document.source, document.digest] for document in documents]
            key = hash_of_json([FORMAT, CHUNK, {"lang": about.lang, **engine.identity}, contents])
            (work / key).write_bytes(pickle.dumps(documents, protocol=pickle.HIGHEST_PROTOCOL))
            batches[key] = sum(map(_n_characters, documents))
        if not batches:
            most = ", ".join(f"{reason} {n:,}" for reason, n in read.counts.reasons.most_common(4))
            why = f" (left out: {most})" if most else ""
            raise UnsupportedError(f"no text of {about.lang} in {about.name}: nothing is left to annotate{why}")
        content = hash_of_json([about.name, about.lang, SHARD, [*batches]])
        if out is None:
            out = cache / content[:2] / content
            held.enter_context(_lock(out))
        begun, new_words = time.monotonic(), 0
        old = manifests.read_manifest(out)
        if old is not None and old.content == content and not manifests.first_difference(out, old.files):
            counts, files = asdict(old), old.files
        else:
            new_words, old = (
                _annotate_batches(partial(_annotate_batch, engine, work, out), batches, out, jobs, progress),
                None,
            )
            counts, files = _join_parts(batches, work, out, f"{about.lang}_{about.name}")
        sources: dict[str, File] = {}  # none for a dataset on the Hub
        if read.path is not None:
            paths = [path for file in read.files for path in (Path(file.url), ids_beside(file)) if path]
            inside = {file for path in paths for file in (path.rglob("*") if path.is_dir() else [path])}
            sources = manifests.listed(read.path if read.path.is_dir() else read.path.parent, inside)
        manifest = AnnotationManifest(
            format=manifests.FORMAT, name=about.name, lang=about.lang, licence=about.licence, citation=about.citation,
            repo=about.repo, commit=about.commit, discoprobe=importlib.metadata.version("discoprobe"), content=content,
            made_by=dict(engine.identity), read={"source": read.name, **_as_given(read.options)},
            documents=counts["documents"], sentences=counts["sentences"], words=counts["words"],
            drops=counts["drops"] | {"reading": dict(read.counts.reasons)}, corrections=counts["corrections"],
            drop_places=read.counts.places, source=sources, files=files,
        )  # fmt: skip
        if manifest != old:
            write_atomically(out / NAME, manifests.dump(manifest))
        shutil.rmtree(out / WORK, ignore_errors=True)
        return AnnotatedCorpus(out, manifest, new_words, time.monotonic() - begun, tuple(read.counts.notes))


def _as_given(options: ReadOptions) -> dict[str, Any]:
    """The options as the manifest has them: other languages of the source only where there are some."""
    return {name: value for name, value in asdict(options).items() if name != "among" or value}


def _lock(out: Path) -> AbstractContextManager[None]:
    """Keeps other processes out of the folder of a corpus."""
    folder = out.resolve()
    folder.parent.mkdir(parents=True, exist_ok=True)
    return alone(folder, "another process is annotating into", folder.with_name(f".{folder.name}.lock"))


def _n_characters(document: RawDocument) -> int:
    return sum(len(paragraph.text) for paragraph in document.running)


def text_file(doc_id: str) -> str:
    """The file in the corpus folder for the text of a document, named by a hash if the id is not a valid file name."""
    parts = doc_id.split("/")
    usable = all(part.strip(".") and len(part.encode()) <= MAX_FILE_NAME for part in parts)
    return f"{TEXTS}/{doc_id if usable else hashlib.sha256(doc_id.encode()).hexdigest()}.txt"


def _annotate_batches(
    make_part: Callable[[str], int], batches: Mapping[str, int], out: Path, jobs: int, progress: Progress
) -> int:
    """Annotate the batches that have no part in a folder; returns the number of words annotated now."""
    done: dict[str, int] = {key: _read_part(out, key)[0]["words"] for key in batches if _part(out, key).exists()}
    todo = [key for key in batches if key not in done]
    words = before = sum(done.values())
    characters, total = (sum(batches[key] for key in some) for some in (done, batches))
    with process_pool(min(jobs, len(todo))) as pool:
        for key, new_words in zip(todo, (pool.map if pool else map)(make_part, todo), strict=True):
            words += new_words
            characters += batches[key]
            progress("annotating", words, round(words * total / max(characters, 1)))
    return words - before


def _annotate_batch(engine: Engine, work: Path, out: Path, key: str) -> int:
    """Annotate a batch and write its part; returns the number of words."""
    documents: list[RawDocument] = pickle.loads((work / key).read_bytes())  # noqa: S301 (this run wrote it)
    n_documents = n_sentences = n_words = 0
    drops, corrections = Counter[str](), Counter[str]()
    texts: list[str] = []
    for document, sentences in annotated_documents(documents, engine, drops, corrections):
        source = text_file(document.doc_id) if document.extracted else document.source
        n_documents, n_sentences = n_documents + 1, n_sentences + len(sentences)
        n_words += sum(len(sentence.all_words) for sentence in sentences)
        texts.append(conllu_text(document, sentences, source))
    counts = {
        "documents": n_documents, "sentences": n_sentences, "words": n_words, "drops": {"annotation": drops},
        "corrections": corrections,
    }  # fmt: skip
    write_atomically(_part(out, key), msgspec.json.encode(counts) + b"\n" + "".join(texts).encode())
    return n_words


def _join_parts(keys: Iterable[str], work: Path, out: Path, stem: str) -> tuple[dict[str, Any], dict[str, File]]:
    """Make shards of the parts and replace the old files by them; returns the counts and the new files."""
    new = out / WORK / "new"
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    counts = []
    parts = (_read_part(out, key) for key in keys)
    for number, group in enumerate(group_by_size(parts, lambda part: len(part[1]), SHARD), 1):
        counts += [of_part for of_part, _ in group]
        if (text := b"".join(text for _, text in group)) or number == 1:
            (new / f"{stem}-{number:05}.conllu").write_bytes(text)
    if (work / TEXTS).is_dir():
        shutil.copytree(work / TEXTS, new / TEXTS)
    files = manifests.listed(new, new.rglob("*"))
    manifests.replace_files(out, new, files)
    return manifests.total(counts), files
