"""From raw text to an annotated corpus in one call: read, filter, annotate."""

from __future__ import annotations

import dataclasses
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import langcodes

from discoprobe.loaders import treebanks
from discoprobe.loaders.cache import cache_folder
from discoprobe.loaders.corpus import SourceFile
from discoprobe.loaders.errors import UnknownNameError, UsageError
from discoprobe.loaders.paths import SUFFIXES, holds_corpus
from discoprobe.loaders.raw.annotate import About, Annotated, Reading, annotate, annotate_into_cache
from discoprobe.loaders.raw.counts import Counts
from discoprobe.loaders.raw.engines import choose_engine
from discoprobe.loaders.raw.files import check_kind, files_in
from discoprobe.loaders.raw.models import DEFAULT
from discoprobe.loaders.raw.options import ReadOptions
from discoprobe.loaders.raw.read import HUB, RawCorpus, read_documents
from discoprobe.loaders.stretches import digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Progress = Callable[[str, int, int], None]

UNNAMED: Final = re.compile(r"[^0-9A-Za-z]+")
"""What is not in the name of a corpus, and so not in the names of its files."""
CODE: Final = re.compile(r"[a-z]{2,3}")


@dataclass(frozen=True, slots=True)
class How:
    """How raw text becomes an annotated corpus.

    Attributes:
        segment: only find sentences and words.
        stanza_dir: the folder of models; by default Stanza's own.
        processors: what Stanza does.
        download: fetch models that lack.
        read: how the text is read; ``lang`` in it does not count.
        rules: segment by rules, also where Stanza is.
    """

    segment: bool = False
    stanza_dir: Path | None = None
    processors: tuple[str, ...] = DEFAULT
    download: bool = False
    read: ReadOptions = dataclasses.field(default_factory=ReadOptions)
    rules: bool = False

    @classmethod
    def of_annotation(cls, made: Mapping[str, Any]) -> How:
        """How a corpus was made, by what a manifest says of it (:func:`annotation_of`)."""
        by, read = made["made_by"], made["read"]
        options = {field.name: read[field.name] for field in dataclasses.fields(ReadOptions) if field.name in read}
        if by["engine"] == "rules":
            return cls(segment=True, rules=True, read=ReadOptions(**options))
        named = tuple(f"{processor}={package}" for processor, package in by["packages"].items())
        return cls(processors=named, read=ReadOptions(**options))


def is_raw(source: str) -> bool:
    """Whether a source is to be annotated: a file that is no CoNLL-U, a folder without such a file, or on the Hub."""
    path = Path(source)
    if path.is_dir():
        return not holds_corpus(path)
    if path.exists():
        return not path.name.endswith(SUFFIXES)
    return source.startswith(HUB)


def corpus_name(source: str) -> str:
    """The name of a corpus after its file, folder or dataset, in small letters: ``my-notes`` for ``My notes.jsonl``."""
    path = Path(source)
    last = path.resolve().name if path.exists() else source.removeprefix(HUB)
    stem = last.partition(".")[0] if not path.is_dir() else last
    return UNNAMED.sub("-", stem).strip("-").lower() or "text"


def language_code(name: str) -> str:
    """The code of a language, by code or English name; languages without a treebank have theirs (``nn``, ``rm``) too.

    Raises:
        UnknownNameError: there is no such language.
    """
    try:
        return treebanks.language(name).code
    except UnknownNameError:
        if CODE.fullmatch(name) and langcodes.tag_is_valid(name):
            return name
        raise


def prepare(  # noqa: PLR0913 (one keyword per choice of the user)
    source: str, about: About, how: How, *, out: Path | None = None, jobs: int = 1, progress: Progress | None = None
) -> Annotated:
    """The annotated corpus of raw text.

    Args:
        source: a file, a folder, or a dataset on the Hub.
        about: name, language and licence; without a name, that of the source is taken.
        how: options of reading and annotation.
        out: the folder of the corpus; by default a folder in the cache that is named after content, models and options.
        jobs: number of processes.
        progress: called with what is done, how much of it, and of how much.

    Raises:
        UsageError: the language is not named.
        DiscoprobeError: the source cannot be read, or annotation is not possible; see :func:`choose_engine`.
    """
    if Path(source).is_file():
        check_kind(Path(source))
    if not about.lang:
        raise UsageError(f"{source}: raw text; name its language with --lang, one code")
    about = dataclasses.replace(about, name=about.name or corpus_name(source))
    options = dataclasses.replace(how.read, lang=about.lang)
    corpus = read_documents(source, options)
    engine = choose_engine(
        about.lang, segment=how.segment, stanza_dir=how.stanza_dir, processors=how.processors, download=how.download,
        rules=how.rules,
    )  # fmt: skip

    def reading() -> Reading:
        return _reading(corpus)

    if out is None:
        folder = cache_folder() / "annotated"
        return annotate_into_cache(corpus, reading, folder, about=about, engine=engine, jobs=jobs, progress=progress)
    return annotate(corpus, reading, out, about=about, engine=engine, jobs=jobs, progress=progress)


def _reading(corpus: RawCorpus) -> Reading:
    """What there is to say of a source whose documents are read."""
    return Reading(
        files=tuple(_files(corpus)),
        options={"source": corpus.name, **dataclasses.asdict(corpus.options)},
        drops=corpus.counts.reasons,
        places=corpus.counts.places,
    )


def _files(corpus: RawCorpus) -> Iterator[SourceFile]:
    """The files of the source, by name."""
    if corpus.path is None:
        return
    top = corpus.path if corpus.path.is_dir() else corpus.path.parent
    given = [corpus.path] if corpus.path.is_file() else [file.path for file in files_in(corpus.path, Counts())]
    files = [file for path in given for file in (path.rglob("*") if path.is_dir() else [path]) if file.is_file()]
    for file in sorted(files):
        found = digest(file)
        yield SourceFile(
            os.fsencode(file.relative_to(top)).decode(errors="backslashreplace"), found.sha256, found.bytes
        )
