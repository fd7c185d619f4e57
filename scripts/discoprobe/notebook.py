"""The functions of ``import discoprobe`` that read and build, with the options of the commands, named alike.

``sources``, ``plan`` and ``pipeline`` do the work; ``built`` has what `build` returns.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, overload

import msgspec

from discoprobe import pipeline
from discoprobe.builders.config import Unavailable
from discoprobe.builders.drops import MORE_ROWS
from discoprobe.builders.task import all_tasks, generated_tasks, tasks_named
from discoprobe.built import BuiltConfig, BuiltRelease, as_built
from discoprobe.interactive import in_python, progress_bars
from discoprobe.loaders.catalogue import treebanks
from discoprobe.loaders.corpus import Corpus
from discoprobe.loaders.errors import OnError, UnknownNameError, UnsupportedError, UsageError
from discoprobe.plan import Plan, plan
from discoprobe.request import SAMPLE, Request, parse_request
from discoprobe.sources import corpora_of
from discoprobe.sources import load_corpus as read_corpus

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discoprobe.builders.settings import Settings
    from discoprobe.builders.task import AnyTask

Family: TypeAlias = Literal["all", "probing", "discourse", "relations", "suites", "feats"]
"""Groups of tasks."""
Source: TypeAlias = Corpus | str | Path
"""A corpus that was read, or the name of one."""
Sources: TypeAlias = "Source | Sequence[Source]"
"""One or several."""
Rows: TypeAlias = int | str | tuple[int, int, int]
"""Numbers of rows: ``1000`` in total, or of train, validation and test: ``(800, 100, 100)``, ``"800/100/100"``."""

_NAMED: Final = 3
"""Reasons that a message names."""


def load_corpus(
    lang: str | Path, corpora: str | Path | Sequence[str | Path] = (), *, on_error: OnError = "stop",
    segment: bool = False, progress: bool = True,
) -> Corpus:  # fmt: skip
    """The corpora of one language, without the table of forms that `build run` takes from the catalogue.

    Args:
        lang: its code or name, or the path of a .conllu file or folder that holds one language.
        corpora: one or several of: ``sample``, names of the catalogue, files and folders of CoNLL-U or text. Default:
            the catalogue's treebanks of the language, which are downloaded and verified, or its raw text where it has
            no treebank.
        on_error: ``skip`` leaves malformed sentences out and counts them.
        segment: only divide raw text into sentences and words, which needs no models. Discourse tasks need no more.
        progress: whether steps of more than a second have a progress bar.

    Raises:
        UnknownNameError: for a language or corpus that is not there.
        CorpusFormatError: for a malformed file.
        UnsupportedError: if the files hold no such language, or several.
    """
    names = _several(corpora)
    with progress_bars(shown=progress) as report:
        return read_corpus(
            str(lang), [str(name) for name in names], on_error=on_error, segment=segment, progress=report
        )


@overload
def build(
    task: Family | list[str] | tuple[str, ...], corpus: Sources = ..., settings: Settings | None = ..., **options: Any
) -> BuiltRelease: ...
@overload
def build(task: str, corpus: Sources = ..., settings: Settings | None = ..., **options: Any) -> BuiltConfig: ...
def build(  # type: ignore[misc]  # noqa: PLR0913 (one parameter per option, which the overloads leave out)
    task: str | list[str] | tuple[str, ...], corpus: Sources = (), settings: Settings | None = None, *,
    lang: str | Sequence[str] = (), size: Rows | None = None, min_rows: Rows | None = None, seed: int | None = None,
    documents: int | None = None, preset: str = "default", match: bool = True,
    exclude: str | Path | Sequence[Path] = (), fill: str | Sequence[str] = (), gold: bool = False, silver: bool = False,
    segment: bool = False, parser: str | Sequence[str] = (), stanza_dir: Path | None = None, licences: str = "open",
    on_error: OnError = "stop", audit: bool = True, keep_failed: bool = False, jobs: int = 1, progress: bool = True,
) -> BuiltConfig | BuiltRelease:  # fmt: skip
    """Builds tasks, as `build run` does, and keeps the result in memory; the options have the names of the command.

    Args:
        task: the name of a task, which gives a config; or several in a list, or a group (``all``, ``probing``,
            ``discourse``, ``relations``, ``suites``, ``feats``), which give a release.
        corpus: one or several of: what `load_corpus` returns, ``sample``, names of the catalogue, paths and URLs.
            Default: the catalogue's corpora of ``lang``. A code of a language alone stands for ``lang``.
        settings: seed, sizes and filters in place of the options ``size`` to ``match``.
        lang: languages by code or name.
        size: the largest number of rows of a config: in total, or of train, validation and test.
        min_rows: leave out configs with fewer rows of train, validation and test; 0 keeps all. Default: of a release
            200/50/100, as in `build run`; one task is given whatever its size.
        seed: another one chooses other rows.
        documents: read at most this many.
        preset: filters of probing tasks: ``default``, ``rusenteval`` or ``senteval``.
        match: match labels on surface features, or keep all candidates.
        exclude: files of marks, whose faulty rows are left out.
        fill: raw text for discourse tasks, read after the corpora. Default: ``finewiki`` if no corpus is named.
        gold: build from treebanks only.
        silver: annotate the text of ``fill``, too.
        segment: divide raw text into sentences and words only.
        parser: what annotates text, and a second one that has to agree with it.
        stanza_dir: the folder of Stanza's models.
        licences: corpora of the catalogue that may be used: ``open`` or ``all``.
        on_error: ``skip`` leaves malformed sentences, rows and files out.
        audit: audit a release, and leave out configs that fail. One task is audited when its `report` is asked for.
        keep_failed: keep configs that fail the audit.
        jobs: number of processes.
        progress: whether steps of more than a second have a progress bar.

    Returns:
        A config: its splits, `to_datasets`, `to_pandas`, `to_polars`, its audit as `report`. Or a release: a mapping of
        config names to configs with `save`, `push`, `audit`, `review`, `verify`, `why`, `probe`; `missing` says what
        was not built, and why.

    Raises:
        UnknownNameError: there is no task, language or corpus of that name.
        UsageError: options contradict each other.
        UnsupportedError: the corpora support none of the tasks; the message says why.
    """
    sources, langs = _several(corpus), _several(lang)
    if not langs and len(sources) == 1 and _is_language(*sources):
        sources, langs = langs, sources
    read = tuple(source for source in sources if isinstance(source, Corpus))
    with progress_bars(shown=progress) as report:
        if seed is not None and not isinstance(seed, int):
            raise UsageError(f"seed is {seed!r}; give a whole number")
        if not isinstance(jobs, int) or jobs < 1:
            raise UsageError(f"jobs is {jobs!r}; give a whole number, at least 1")
        if read and len(read) < len(sources):
            raise UsageError("corpus has both corpora that were read and names; give one kind, or read the others")
        if read:
            how = {
                "lang": lang, "fill": fill, "gold": gold, "silver": silver, "segment": segment, "parser": parser,
                "stanza_dir": stanza_dir, "licences": licences != "open", "on_error": on_error != "stop",
            }  # fmt: skip
            if given := [name for name, value in how.items() if value]:
                raise UsageError(
                    f"a corpus that is read takes no {given[0]}; give it to load_corpus, or name the corpus"
                )
        changed = {
            "size": size,
            "seed": seed,
            "documents": documents,
            "preset": preset != "default",
            "match": not match,
        }
        if settings and (given := [name for name, value in changed.items() if value]):
            raise UsageError(f"settings have seed, sizes and filters; leave out {given[0]}, or settings")
        of_sample = read and all(source.name.startswith(f"{SAMPLE}-") for each in read for source in each.sources)
        names = [SAMPLE] if of_sample else [] if read else [str(source) for source in sources]
        request = parse_request(
            sorted({each.lang for each in read}) or [str(name) for name in langs], [*_several(task)], names,
            size=_as_option(size), min_rows=_as_option(min_rows), seed=13 if seed is None else seed,
            documents=documents, preset=preset, match=match, exclude=[Path(file) for file in _several(exclude)],
            fill=[str(name) for name in _several(fill)], gold=gold, silver=silver, segment=segment,
            parser=[str(name) for name in _several(parser)], stanza_dir=stanza_dir, licences=licences,
            on_error=on_error, audit=audit, keep_failed=keep_failed, jobs=jobs,
        )  # fmt: skip
        if settings:
            least = request.settings.min_rows if min_rows is not None or not any(settings.min_rows) else None
            request = msgspec.structs.replace(
                request, settings=settings.with_changes(min_rows=least) if least else settings
            )
        alone = task if isinstance(task, str) and task in all_tasks() | generated_tasks() else ""
        if alone:
            least = request.settings.min_rows if min_rows is not None else (0, 0, 0)
            request = msgspec.structs.replace(
                request, audit=False, settings=request.settings.with_changes(min_rows=least)
            )
        made, corpora = _read(request, read, report)
        results = pipeline.build_in_memory(made, report, corpora)
        if not alone:
            release = BuiltRelease(made, corpora, results)
            if not release:
                raise UnsupportedError(f"nothing was built: {_reasons(release.missing)}")
            return release
        if len(results) != 1:
            n = f"{len(results)} languages" if results else "no language"
            raise UnsupportedError(f"one task gives one config, and there are {n}; name one with lang, or use "
                                   f"build(['{alone}'], …), which gives a release")  # fmt: skip
        built = next(result for result, _ in results.values())
        if isinstance(built, Unavailable):
            raise UnsupportedError(f"{built.name} cannot be built: {_reasons({'': in_python(built.reason)})}")
        return as_built(built, corpora[0][0])


def _read(request: Request, read: Sequence[Corpus], report: Any) -> tuple[Plan, list[tuple[Corpus, Sequence[AnyTask]]]]:
    """The plan of a request and its corpora with their tasks; those that were read already need no plan."""
    if not read:
        made = plan(request)
        return made, list(corpora_of(made, report))
    tasks = tasks_named(request.tasks)
    of_language: dict[str, Corpus] = {}
    for corpus in read:
        of_language[corpus.lang] = of_language[corpus.lang] + corpus if corpus.lang in of_language else corpus
    corpora: list[tuple[Corpus, Sequence[AnyTask]]] = [(of_language[lang], tasks) for lang in sorted(of_language)]
    return Plan(request, tasks, (), {}, {}), corpora


def _reasons(missing: dict[str, str]) -> str:
    """Why configs are not built, of the first of them, and what keeps small ones."""
    named = [f"{name}: {reason}".removeprefix(": ") for name, reason in missing.items()][:_NAMED]
    more = f"; and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
    small = [name for name, reason in missing.items() if reason.endswith(in_python(MORE_ROWS))]
    return f"{'; '.join(named)}{more}" + ("; min_rows=0 keeps small configs" if small else "")


def _several(value: Any) -> tuple[Any, ...]:
    """One value, or several, as a tuple."""
    return tuple(value) if isinstance(value, list | tuple) else () if value is None else (value,)


def _is_language(source: object) -> bool:
    """Whether the only corpus is a language, and no path or corpus of that name."""
    if not isinstance(source, str) or source == SAMPLE or "://" in source or Path(source).exists():
        return False
    try:
        treebanks.language_code(source)
    except UnknownNameError:
        return False
    return True


def _as_option(rows: Rows | None) -> str | None:
    """Numbers of rows as the command line has them."""
    return "/".join(map(str, rows)) if isinstance(rows, tuple | list) else None if rows is None else str(rows)
