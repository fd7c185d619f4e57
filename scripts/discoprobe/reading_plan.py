"""Lists what a request would read, by the catalogue, file sizes and listings of URLs, without reading a corpus."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from discoprobe import sources
from discoprobe.builders.task import AnyTask
from discoprobe.loaders.catalogue import treebanks
from discoprobe.loaders.catalogue.licences import UNKNOWN
from discoprobe.loaders.catalogue.pins import PinnedCorpus, TextCorpus
from discoprobe.loaders.fetch.catalogue_files import location
from discoprobe.loaders.fetch.remote_files import PARQUET, files_at
from discoprobe.requests import SAMPLE, Request, catalogue_corpus, language_codes

READ: Final = "read"
DOWNLOAD: Final = "download and read"
ANNOTATE: Final = "annotate with Stanza"
SEGMENT: Final = "divide into sentences"
PARTLY: Final = "read until the sizes are full"
FILL: Final = "fill what is left, until the sizes are full"
LONG: Final = frozenset({DOWNLOAD, ANNOTATE, SEGMENT})
"""Steps without which it is not known whether a config is up to date."""


@dataclass(frozen=True, slots=True)
class PlannedSource:
    """A corpus that would be read.

    Attributes:
        lang: the code of its language; empty if it is known only from the files.
        corpus: its name, path or URL.
        how: what is done with it: one of the constants above, such as `READ`.
        tasks: names of the tasks that are built from it.
        licence: as its source writes it.
        files: number of files.
        bytes: size of these files, of which `PARTLY` and `FILL` may read only a part; None if it is not known.
    """

    lang: str
    corpus: str
    how: str
    tasks: tuple[str, ...]
    licence: str
    files: int
    bytes: int | None


def planned_sources(request: Request, tasks: Sequence[AnyTask]) -> list[PlannedSource]:
    """The corpora that a request would read, in the order in which rows are taken from them.

    Raises:
        UnknownNameError: there is no corpus of a name.
        RemoteError: a URL, or the Hub, cannot be reached.
    """
    codes = language_codes(request.languages)
    names = tuple(task.name for task in tasks)
    if request.corpora:
        planned = [found for name in request.corpora for found in _named(name, request, codes, names)]
    else:
        planned = [
            _of_catalogue(corpus, request, names) for code in codes for corpus in treebanks.default_corpora(code)
        ]
    filled = tuple(task.name for task in tasks if sources.is_filled(task))
    for code in (codes or _languages(planned)) if filled else ():
        fills = names if not request.corpora and not treebanks.default_corpora(code) else filled
        planned += [_text(name, request, code, FILL, fills) for name in sources.fill_of(request, code)]
    return planned


def _languages(planned: Sequence[PlannedSource]) -> tuple[str, ...]:
    return tuple(sorted({one.lang for one in planned} - {""}))


def _named(name: str, request: Request, codes: Sequence[str], tasks: tuple[str, ...]) -> Iterator[PlannedSource]:
    """The corpora for a name of ``--corpus``: several only for the sample."""
    lang = codes[0] if len(codes) == 1 else ""
    if name == SAMPLE:
        for code in codes or treebanks.sample_files():
            yield PlannedSource(code, SAMPLE, READ, tasks, "CC0 1.0", 1, None)
    elif sources.is_segmented_text(name, request):
        yield _text(name, request, lang, PARTLY, tasks)
    elif "://" in name or sources.is_raw(name):
        how = SEGMENT if request.raw and request.raw.segment else ANNOTATE
        yield PlannedSource(lang, name, how, tasks, UNKNOWN, *_size(Path(name)))
    elif Path(name).exists():
        yield PlannedSource(lang, name, READ, tasks, UNKNOWN, *_size(Path(name)))
    else:
        yield _of_catalogue(catalogue_corpus(name), request, tasks)


def _of_catalogue(corpus: PinnedCorpus, request: Request, tasks: tuple[str, ...]) -> PlannedSource:
    how = READ if all(location(corpus, file).is_file() for file in corpus.files) else DOWNLOAD
    if isinstance(corpus, TextCorpus):
        how = SEGMENT if request.raw and request.raw.segment else ANNOTATE
    return PlannedSource(corpus.lang, corpus.name, how, tasks, corpus.licence, len(corpus.files), corpus.bytes)


def _text(name: str, request: Request, lang: str, how: str, tasks: tuple[str, ...]) -> PlannedSource:
    """Text in parquet files: a path, a URL, or a dataset of the catalogue."""
    known = sources.hub_text_of(name, request, (lang,) if lang else ())
    files = files_at(known[0].url(known[1]) if known else name, PARQUET)
    corpus, licence = (known[0].corpus(known[1]), known[0].licence) if known else (name, UNKNOWN)
    return PlannedSource(lang, corpus, how, tasks, licence, len(files), sum(file.bytes for file in files))


def _size(path: Path) -> tuple[int, int | None]:
    """Number and bytes of the files at a path; 0 and None for a URL."""
    if not path.exists():
        return 0, None
    files = [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path]
    return len(files), sum(file.stat().st_size for file in files)
