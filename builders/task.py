"""What a task is, and how tasks are found.

A task is one module in ``builders/probing`` or ``builders/discourse``: the module's name is the task's name, its
docstring is the card's definition of the task and ``TASK`` is the definition. There is no list to edit. A module may
instead hold a whole family that is generated from a rule, as ``TASKS``; the module's name stands for all of them.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from discoprobe.loaders.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import ModuleType

    import polars as pl

    from discoprobe.builders.config import Shape
    from discoprobe.builders.frequency import Frequencies
    from discoprobe.builders.settings import Settings
    from discoprobe.builders.tree import Trees
    from discoprobe.loaders.corpus import Shard
    from discoprobe.loaders.language import LanguageData

FAMILIES = ("probing", "discourse")


@dataclass(frozen=True, slots=True)
class Context:
    """What a task may know besides its candidates: the language's data, the settings, its own name (a salt) and labels.

    ``frequencies`` is the frequency list, None where there is none.
    """

    task: str
    language: LanguageData
    settings: Settings
    labels: tuple[str, ...] = ()
    frequencies: Frequencies | None = None

    @property
    def salt(self) -> tuple[int | str, ...]:
        """What every choice of this task is salted with."""
        first = (self.settings.seed, self.task)
        return (*first, "draw", self.settings.draw) if self.settings.draw else first


@dataclass(frozen=True, slots=True)
class Arranged:
    """The rows that were chosen, and why the others were not.

    ``rows`` has ``key`` (u64, unique), ``pair`` (u64 or null), ``label`` (number), ``split`` and ``row`` (the candidate
    that gives corpus and document). Rows of a discourse task have ``members`` (rows of the sentences shown), ``order``,
    ``position`` and, by shape, ``n_context`` and ``trim``; rows of a probing task have ``edited`` (whether the text is
    shown as ``Task.edit`` makes it).
    ``labels`` stands in for the task's where the data decide on them; ``reason`` says why there are no rows where the
    task knows.
    """

    rows: pl.DataFrame
    drops: Mapping[str, int] = field(default_factory=dict)
    labels: tuple[str, ...] = ()
    candidates: int = 0
    reason: str = ""


class Edit(NamedTuple):
    """One edit of a text: the characters ``start`` to ``end`` give way to ``replacement``."""

    start: int
    end: int
    replacement: str


@dataclass(frozen=True, slots=True)
class Task:
    """A task.

    Attributes:
        labels: label names in the order of their numbers; empty where the data decide.
        shape: what one row holds.
        arrange: chooses rows from the candidates of the whole corpus.
        select: for a probing task, the candidates of a shard: at most one row per sentence (several where ``arrange``
            shows one of them) with ``sent``, ``label`` (name), and where it has them ``target`` (row of the word),
            ``cell`` (rows are balanced inside each value) and ``plan`` (a struct, what ``edit`` needs).
        mark: for a discourse task, columns of its own for the sentences of a shard that it can use (``sent`` and more).
        edit: how the text of an edited row comes about, from the text and the row's ``plan``.
        feature: the feature that a targeted task probes; forms ambiguous in it are no targets.
        split_by: what never stands in two splits.
        needs: layers of annotation without which the task cannot be built.
        lacks: why the task is not offered in a language; None where it is.
        perturbation: label 0 is an original, the others are edits of it.
        pairs: rows come in pairs (or larger sets) sharing ``pair_id``.
        natural: class shares are the corpus's own.
        exempt: checks of the audit that do not apply → reason.
        name: the module's name; with ``family`` and ``definition`` (its docstring) filled in when tasks are found.
    """

    labels: tuple[str, ...]
    shape: Shape
    arrange: Callable[[pl.DataFrame, Context], Arranged]
    select: Callable[[Trees, Context], pl.DataFrame] | None = None
    mark: Callable[[Shard, LanguageData], pl.DataFrame] | None = None
    edit: Callable[[str, Mapping[str, Any]], Edit] | None = None
    feature: str | None = None
    split_by: Literal["document", "target", "cluster"] = "document"
    needs: frozenset[str] = frozenset({"documents"})
    lacks: Callable[[LanguageData], str | None] | None = None
    perturbation: bool = False
    pairs: bool = False
    natural: bool = False
    exempt: Mapping[str, str] = field(default_factory=dict)
    name: str = ""
    family: str = ""
    definition: str = ""


@functools.cache
def all_tasks() -> dict[str, Task]:
    """Every task by name, probing before discourse, each family in alphabetical order; without generated ones."""
    return {
        name: replace(task, name=name, family=family, definition=_definition(module))
        for family, name, module in _modules()
        if isinstance(task := getattr(module, "TASK", None), Task)
    }


@functools.cache
def generated_tasks() -> dict[str, Task]:
    """The tasks that are generated from a rule, by name; their family is the name of the module that holds the rule."""
    return {
        task.name: replace(task, family=name, definition=f"{task.definition}\n\n{_definition(module)}")
        for _, name, module in _modules()
        for task in getattr(module, "TASKS", ())
    }


def _modules() -> Iterator[tuple[str, str, ModuleType]]:
    """Family, name and module of everything in the folders of tasks."""
    for family in FAMILIES:
        package = importlib.import_module(f"discoprobe.builders.{family}")
        for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda module: module.name):
            yield family, info.name, importlib.import_module(f"{package.__name__}.{info.name}")


def _definition(module: ModuleType) -> str:
    return inspect.cleandoc(module.__doc__ or "")


def tasks_named(names: Sequence[str]) -> list[Task]:
    """The tasks that ``names`` stand for, each once.

    A name is that of a task, a family (``probing``, ``discourse``), ``all`` (both families), a generated task
    (``feats_nsubj_number``) or a family of those (``feats``), which no other name includes.

    Raises:
        UnknownNameError: for a name that is none of these.
    """
    tasks, generated = all_tasks(), generated_tasks()
    chosen: dict[str, Task] = {}
    for name in names:
        matching = {key: task for key, task in tasks.items() if name in {key, task.family, "all"}}
        matching |= {key: task for key, task in generated.items() if name in {key, task.family}}
        if not matching:
            known = [*tasks, *generated, *FAMILIES, *{task.family for task in generated.values()}, "all"]
            raise UnknownNameError("task", name, known, remedy="`build tasks` lists them")
        chosen |= matching
    return list(chosen.values())


def unsupported(task: Task, layers: frozenset[str], language: LanguageData) -> str:
    """Why a task cannot be built from a corpus with these layers, in this language; empty where it can."""
    if missing := task.needs - layers:
        return "the corpus has no " + ", ".join(sorted(missing))
    return (task.lacks(language) if task.lacks else None) or ""
