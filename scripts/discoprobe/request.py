"""What a request asks for, and how the options of a command describe it; light, because every command imports it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import msgspec
from msgspec import field

from discoprobe.builders.settings import MIN_ROWS, Settings, read_min_rows, read_sizes, with_values
from discoprobe.builders.settings import preset as settings_of
from discoprobe.loaders.catalogue import treebanks
from discoprobe.loaders.catalogue.treebanks import DATASETS, HUB, LICENCES, Licences, TextCorpus, Treebank
from discoprobe.loaders.errors import OnError, UnknownNameError, UsageError
from discoprobe.loaders.fetch.remote_files import GLOB, hub_url
from discoprobe.loaders.raw.document import AnnotationOptions

if TYPE_CHECKING:
    from collections.abc import Sequence


SAMPLE = "sample"
ALL = "all"
NOT_IN_NAMES: Final = re.compile(r"[^0-9A-Za-z]+")
"""Characters that are replaced by ``-`` in the name of a corpus, because it is part of file names."""


class Request(msgspec.Struct, frozen=True):
    """What to build.

    Attributes:
        languages: by code (names are replaced by codes); empty means all languages of the corpora.
        corpora: ``sample``, names of the catalogue, files, folders or archives of CoNLL-U, or raw text (which is
            annotated first); empty means the catalogue's corpora of the languages (see `plan.plan`).
        tasks: names of tasks or families.
        settings: seed, sizes, filters.
        jobs: number of processes.
        on_error: what to do with a malformed sentence, or a malformed file or row of raw text.
        audit: audit every config; without it nothing is known about shortcuts.
        keep_failed: keep configs that fail the audit.
        raw: how raw text is read and annotated; None for the defaults. ``reading`` is the same with ``on_error``.
        exclude: rows that readers found faulty: config → id → verdict.
        licences: which corpora of the catalogue may be used.
        silver: whether the text of ``fill`` is annotated, too, for tasks that need annotation of words.
        fill: text for tasks that need no annotation of words, read after the corpora until the sizes are reached; None
            for the default text of the catalogue.
    """

    languages: tuple[str, ...] = ()
    corpora: tuple[str, ...] = ()
    tasks: tuple[str, ...] = (ALL,)
    settings: Settings = field(default_factory=Settings)
    jobs: int = 1
    on_error: OnError = "stop"
    audit: bool = True
    keep_failed: bool = False
    raw: AnnotationOptions | None = None
    licences: Licences = "open"
    silver: bool = False
    fill: tuple[str, ...] | None = ()
    exclude: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("languages", "corpora", "tasks", "fill"):
            if isinstance(value := getattr(self, name), str):  # one name instead of several
                msgspec.structs.force_setattr(self, name, (value,))
        msgspec.structs.force_setattr(self, "languages", language_codes(self.languages))

    @property
    def reading(self) -> AnnotationOptions:
        """How raw text is read and annotated; what is malformed in it is left out if either says so."""
        raw = self.raw or AnnotationOptions()
        skips = self.on_error == "skip"
        return msgspec.structs.replace(raw, read=msgspec.structs.replace(raw.read, on_error="skip")) if skips else raw

    @property
    def least_rows(self) -> tuple[int, int, int]:
        """The fewest rows that a config needs in train, validation and test; the sample is too small for any."""
        return (0, 0, 0) if SAMPLE in self.corpora else self.settings.min_rows


def parse_request(  # noqa: PLR0913 (one parameter per option)
    lang: Sequence[str] | None, task: Sequence[str] | None, corpus: Sequence[str] | None, *, size: str | None = None,
    seed: int = 13, jobs: int = 1, on_error: str = "stop", match: bool = True, values: Sequence[str] | None = None,
    segment: bool = False, stanza_dir: Path | None = None, preset: str = "default", min_rows: str | None = None,
    documents: int | None = None, fill: Sequence[str] | None = None, gold: bool = False, audit: bool = True,
    keep_failed: bool = False, exclude: Sequence[Path] | None = None, licences: str = "open", silver: bool = False,
    parser: Sequence[str] | None = None,
) -> Request:  # fmt: skip
    """The request that the options of a command describe.

    Without ``fill``, its default text is used if no corpus is named and ``gold`` is not set; else none. If ``lang`` is
    ``all`` and no corpus is named, the languages are all of the catalogue that have a corpus.

    Raises:
        UnknownNameError: there is no language, corpus or task of a name.
        UsageError: an option has a value that is not allowed, a file is not there, or no task is named.
        DiscoprobeError: a line of a file of marks is malformed.
    """
    languages, corpora, tasks = split_names(lang), tuple(corpus or ()), split_names([ALL] if task is None else task)
    if not tasks:
        raise UsageError("--task names no task; `build tasks` lists them")
    if on_error not in {"stop", "skip"}:
        raise UsageError(f"--on-error is '{on_error}'; give stop or skip")
    accepted = read_licences(licences)
    if gold and fill:
        raise UsageError("--gold keeps to treebanks and --fill adds text; give one of them")
    if gold and silver:
        raise UsageError("--gold keeps to treebanks and --silver adds annotated text; give one of them")
    is_parsed = False
    if parser:
        from discoprobe.loaders.raw.parsers import check_parser, is_parsed_text  # noqa: PLC0415 (imports polars)

        for name in parser:
            check_parser(name)
        is_parsed = is_parsed_text(parser[0])
    least = MIN_ROWS if min_rows is None else read_min_rows(min_rows)
    settings = settings_of(preset).with_changes(seed=seed, match=match, min_rows=least)
    if documents is not None:
        settings = settings.with_changes(most_documents=documents)
    if size:
        settings = settings.with_changes(sizes=read_sizes(size))
    settings = with_values(settings, values or [])
    if languages == (ALL,) and not corpora:
        every = [head.code for head in treebanks.languages(every=True)]
        languages = tuple(code for code in every if treebanks.default_corpora(code, accepted))
    languages = language_codes(languages)
    for name in corpora:
        if re.match(r"[a-z][\w+]+:/(?!/)", name):
            raise UsageError(f"'{name}' is no URL; write two slashes after the colon: {name.replace(':/', '://', 1)}")
        if name != SAMPLE and "://" not in name and not Path(name).exists() and not is_hub_text(name):
            catalogue_corpus(name, accepted)
    from discoprobe.builders.task import tasks_named  # noqa: PLC0415 (imports polars)

    tasks_named(tasks)
    return Request(
        languages, corpora, tasks, settings, jobs, cast("OnError", on_error), audit=audit, keep_failed=keep_failed,
        exclude=_rows_to_exclude(exclude or ()), licences=accepted, silver=silver or is_parsed,
        raw=AnnotationOptions(segment=segment, stanza_dir=stanza_dir, parsers=tuple(parser or ())),
        fill=tuple(fill) if fill else () if gold or corpus else None,
    )  # fmt: skip


def _rows_to_exclude(files: Sequence[Path]) -> dict[str, dict[str, str]]:
    """The rows that the readers of files of marks found faulty: config → id → verdict."""
    for file in files:
        if not file.is_file():
            raise UsageError(f"--exclude: {file} does not exist; give a file of marks, which `build review` writes")
    if not files:
        return {}
    from discoprobe.cards.readers import read_marks, to_exclude  # noqa: PLC0415 (imports polars)

    return to_exclude(sorted((mark for file in files for mark in read_marks(file)), key=lambda mark: mark.time))


def split_names(texts: Sequence[str] | None) -> tuple[str, ...]:
    """The names in texts, of which each may have several, separated by commas."""
    names = (name.strip() for text in texts or () for name in text.split(","))
    return tuple(name for name in names if name)


def language_codes(names: tuple[str, ...]) -> tuple[str, ...]:
    """The codes of languages that are given by code or name; empty for ``all``.

    Raises:
        UnknownNameError: there is no such language.
    """
    return () if names == (ALL,) else tuple(treebanks.language_code(name) for name in names)


def read_licences(text: str) -> Licences:
    """The value of ``--licences``.

    Raises:
        UsageError: there is no such value.
    """
    for licences in LICENCES:
        if licences == text:
            return licences
    raise UsageError(f"--licences is '{text}'; give {' or '.join(LICENCES)}")


def catalogue_corpus(name: str, licences: Licences) -> Treebank | TextCorpus:
    """The corpus of the catalogue with this name.

    Raises:
        UnknownNameError: there is none; the message names similar corpora.
        UnsupportedError: it is left out, for its licence or another reason.
    """
    try:
        return treebanks.corpus(name, licences)
    except UnknownNameError as error:
        every = treebanks.languages(every=True)
        names = [SAMPLE, *(corpus.name for each in every for corpus in (*each.treebanks, *each.texts))]
        remedy = "(there is no file or folder of that name either; `build corpora list` lists the catalogue)"
        raise UnknownNameError("corpus", name, names, remedy=remedy) from error


def is_hub_text(name: str) -> bool:
    """Whether a name is that of a Hub dataset in the catalogue, and there is no such file."""
    return not Path(name).exists() and treebanks.is_hub_text(name)


def corpus_name(source: str) -> str:
    """The name of a corpus after its file, folder or dataset, in lower case: ``my-notes`` for ``My notes.jsonl``.

    The last part of a URL names it, without a pattern; of the Hub ``org/name``.
    """
    path = Path(source)
    if path.exists():
        last = path.resolve().name
    elif source.startswith(HUB):
        last = "/".join(hub_url(source).removeprefix(f"{HUB}{DATASETS}").partition("@")[0].split("/")[:2])
    else:
        plain = [part for part in source.split("/") if GLOB.isdisjoint(part)]
        last = plain[-1] if plain else source
    stem = last.partition(".")[0] if not path.is_dir() else last
    return NOT_IN_NAMES.sub("-", stem).strip("-").lower() or "text"
