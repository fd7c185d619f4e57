"""From raw text to a corpus in one call: read and filter it, and annotate it or find its sentences."""

import dataclasses
from dataclasses import dataclass
from pathlib import Path

from discoprobe.loaders.corpus import Corpus, Source
from discoprobe.loaders.errors import UnsupportedError
from discoprobe.loaders.fetch import stanza_models
from discoprobe.loaders.fetch.remote_files import as_path
from discoprobe.loaders.languages.language import language_data
from discoprobe.loaders.process_pool import Progress, silent
from discoprobe.loaders.raw.annotate.annotate_corpus import AnnotatedCorpus, AnnotationJob, annotate
from discoprobe.loaders.raw.annotate.placed_sentences import Engine, RuleEngine
from discoprobe.loaders.raw.annotate.row_group_parts import text_corpus
from discoprobe.loaders.raw.annotate.stanza_engine import StanzaEngine
from discoprobe.loaders.raw.files import check_kind
from discoprobe.loaders.raw.options import ReadOptions
from discoprobe.loaders.raw.raw_corpus import read_documents


@dataclass(frozen=True, slots=True)
class AnnotationOptions:
    """How raw text becomes an annotated corpus."""

    segment: bool = False  # only find sentences and words
    stanza_dir: Path | None = None  # the folder of models; by default Stanza's own
    processors: tuple[str, ...] = stanza_models.DEFAULT  # of Stanza
    download: bool = False  # download missing models
    read: ReadOptions = dataclasses.field(default_factory=ReadOptions)  # ``lang`` in it is ignored
    rules: bool = False  # segment by rules, even if Stanza is installed


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
    wanted = ("tokenize",) if options.segment else options.processors
    try:
        folder = options.stanza_dir or stanza_models.default_folder()
        if options.download:
            stanza_models.download_models(lang, folder, wanted)
        return StanzaEngine(stanza_models.find_models(lang, folder, wanted))
    except UnsupportedError:
        if not options.segment or options.stanza_dir is not None or options.download:
            raise
        return RuleEngine(lang)


def segment_parquet(url: str, about: Source, options: AnnotationOptions) -> Corpus:
    """The corpus of text in parquet files; a row group is divided into sentences when it is loaded.

    Rules find the sentences if the language has spaces between words and the options give no folder of models.

    Raises:
        DiscoprobeError: as for :func:`text_corpus` and :func:`choose_engine`.
    """
    rules = options.stanza_dir is None and language_data(about.lang).spaces
    engine = choose_engine(about.lang, dataclasses.replace(options, segment=True, rules=rules))
    return text_corpus(url, about, options.read, engine)


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
    corpus = read_documents(place, dataclasses.replace(options.read, lang=about.lang))
    return annotate(AnnotationJob(corpus, about, choose_engine(about.lang, options), jobs, progress), out)
