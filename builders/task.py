"""What a task is, and how tasks are found.

A task is one module in ``builders/probing``, ``builders/discourse``, ``builders/relations`` or ``builders/suites``. The
name of the module is the name of the task, its docstring is the definition on the card, and ``TASK`` holds the rest.
There is no list to edit. Plugins (``loaders.plugins``) have such modules in folders of their own. A module may instead
hold a family of tasks that a rule generates, as ``TASKS``; the name of the module then stands for all of them.
"""

import functools
import importlib
import inspect
import pkgutil
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, Literal, TypeVar

import msgspec
import polars as pl
from msgspec import field
from msgspec.structs import replace

from discoprobe.builders.config import Paper, Shape, papers_of
from discoprobe.builders.drops import Drops
from discoprobe.builders.passages.similarity import Similarity
from discoprobe.builders.sentences.frequency_filter import Frequencies
from discoprobe.builders.sentences.trees import Trees
from discoprobe.builders.settings import SPLITS, Settings
from discoprobe.loaders import plugins
from discoprobe.loaders.catalogue.treebanks import Source
from discoprobe.loaders.corpus import Shard, Trust
from discoprobe.loaders.errors import DiscoprobeError, UnknownNameError, UsageError
from discoprobe.loaders.languages.language import LanguageData
from discoprobe.loaders.plugins import FAMILIES

SLACK = 10.0
"""Rows of a split by which a rule may be better than chance. In 60 rows that is little more than the standard deviation
of chance; to remove it as well would make the choice of rows depend on every other row."""
SLACK_IN_BLOCKS = 3.0
"""The same for each block of a larger corpus: mostly the same rules are better in all blocks, and their rows add up."""


class Context(msgspec.Struct, frozen=True):
    """What the steps of a build know besides the candidates: of all tasks, and `of_task` of one.

    Attributes:
        task: name of the task; every choice depends on it. Empty for all.
        language: facts about the language.
        settings: seed, sizes and filters.
        labels: label names; empty where the corpus decides.
        frequencies: the word frequency list that the settings name; None where there is none.
        similarity: of the sentences that discourse tasks sample from.
        free: whether each candidate may be in any split.
        small: whether the corpus is one block, which is sampled as a whole: the splits of groups are assigned by their
            sizes, each sample has the set sizes, and matching is less strict, since there is less to choose from. In a
            block of a larger corpus, splits depend on the hash of a group alone, and sizes hold for all blocks
            together.
        forms: a table of inflected forms beside the corpora; None for none.
        decided_labels: those that the first blocks of a large corpus decided on, by task, where the corpus decides.
        sources: the corpora.
        tokenised: those whose text was tokenised; it is not edited.
        layers: annotation of the corpora.
        n_sentences: in the corpora.
        trust: how sure the models of annotated text must be, by the name of the task.
        gold_blocks: number of blocks before those of annotated text: their rows go first to test, then to validation.
        shares: of the splits in a block, by the name of the task; else `Settings.shares`.
        drops: where every step marks the candidates that it leaves out.
    """

    task: str
    language: LanguageData
    settings: Settings
    labels: tuple[str, ...] = ()
    frequencies: Frequencies | None = None
    similarity: Similarity | None = None
    free: bool = False
    small: bool = True
    forms: Source | None = None
    decided_labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    sources: tuple[Source, ...] = ()
    tokenised: frozenset[str] = frozenset()
    layers: frozenset[str] = frozenset()
    n_sentences: int = 0
    trust: Mapping[str, Trust] = field(default_factory=dict)
    gold_blocks: int = 0
    shares: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    drops: Drops = field(default_factory=Drops)

    def of_task(self, task: "AnyTask", settings: Settings | None = None) -> "Context":
        """The context of one task, without drops; with other ``settings``, if given."""
        return replace(
            self, task=task.name, labels=task.labels, settings=settings or self.settings,
            free=task.split_by == "cluster" and self.small, drops=Drops(self.drops.remember),
        )  # fmt: skip

    @property
    def decided(self) -> tuple[str, ...]:
        """The labels of the task that the first blocks decided on, where the corpus decides.

        The counts of these labels are made equal over all blocks. Empty where they are still to be decided.
        """
        return self.decided_labels.get(self.task, ())

    @property
    def slack(self) -> float:
        """Number of rows of a split by which a rule may be better than chance (`remove_bias`)."""
        return SLACK if self.small else SLACK_IN_BLOCKS

    @property
    def seed_key(self) -> tuple[int | str, ...]:
        """What every hash of this task starts with."""
        return self.settings.seed, self.task

    @property
    def silver(self) -> frozenset[str]:
        """The corpora that a model annotated, so that ``trust`` decides which candidates of theirs are used."""
        return frozenset(source.name for source in self.sources if "silver" in (source.annotation or {}))


class Sample(msgspec.Struct, frozen=True):
    """The rows that a task chose.

    Attributes:
        rows: the columns of ``PROBING_ROWS`` or ``DISCOURSE_ROWS`` (``builders/config.py``).
        labels: label names, where the corpus decides on them; or those of the task's labels that rows have.
        candidates: number of candidates before any was dropped.
        reason: why there are no rows, where the task knows; else empty.
        frame: the candidates, to which the rows refer by number; filled in by the build, as what follows is.
        notes: what the card says of the candidates.
        drops: the candidates that were lost.
        ends: sentences at which a passage ends, by reason, for the card.
    """

    rows: pl.DataFrame
    labels: tuple[str, ...] = ()
    candidates: int = 0
    reason: str = ""
    frame: pl.DataFrame = field(default_factory=pl.DataFrame)
    notes: tuple[str, ...] = ()
    drops: Drops = field(default_factory=Drops)
    ends: Counter[str] = field(default_factory=Counter)


class Edit(msgspec.Struct, frozen=True):
    """One edit of a text: ``replacement`` takes the place of the characters ``start`` to ``end``."""

    start: int
    end: int
    replacement: str


def always_available(_language: LanguageData) -> str:
    """Says that a task is available in every language."""
    return ""


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """How the rows of a task are made, as far as all tasks have it in common, and what cards and the audit say of it.

    Attributes:
        sample: chooses rows from the candidates of the whole corpus.
        labels: label names in the order of their indices, the same in every language, which may use a part of them;
            empty where the corpus decides.
        decides: the corpus decides which labels are used; always so where there are no ``labels``.
        pairs: rows come in sets that share ``pair_id``: label 0 is an original, the other labels are edits of it.
        needs: layers of annotation without which the task cannot be built.
        lacks: why the task is not available in a language; an empty string where it is.
        conditions: what the wrong text of a pair can be; given, the task is a suite, which only evaluates: it has one
            split, ``test``, and one row per pair. ``sample`` names the condition of each row (the first by default).
        region: number of the region that the two texts of a suite are compared in, from 1; 0 for the whole text.
        uses_forms: whether it takes forms from a table of UniMorph (`Context.forms`).
        name: the name of the module; filled in when tasks are found, as ``family`` is (its folder).
        definition: what cards print; ``{docstring}`` in it becomes the docstring of the module when tasks are found.
        asks: the question in a few words, for tables: ``ASKS`` of the module, or else the first line of the definition
            without what is in brackets.
        papers: publications whose names ``builders/papers.toml`` does not have; those that the definition mentions are
            added when tasks are found.
        version: raised when the rows of the task change.
        exempt: checks of the audit that do not apply → reason.
        reasons: the task's own reasons for drops → what they mean; shared ones stand in ``drop_reasons``.
        plugin: the file of a plugin that defines the task; empty for a task of the package. Filled in when tasks are
            found.
    """

    sample: Callable[[pl.DataFrame, Context], Sample]
    labels: tuple[str, ...] = ()
    decides: bool = False
    pairs: bool = False
    needs: frozenset[str] = frozenset()
    lacks: Callable[[LanguageData], str] = always_available
    conditions: tuple[str, ...] = ()
    region: int = 0
    uses_forms: bool = False
    name: str = ""
    family: str = ""
    definition: str = "{docstring}"
    asks: str = ""
    papers: tuple[Paper, ...] = ()
    version: int = 1
    exempt: Mapping[str, str] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)
    plugin: str = ""

    @property
    def place(self) -> str:
        """What messages to the author of the task begin with: its name, and the file and line of a plugin."""
        return f"{self.plugin}:{plugins.line_of_task(Path(self.plugin))}: {self.name}" if self.plugin else self.name

    @property
    def natural(self) -> bool:
        """Whether the labels have the shares that they have in the corpus, and need not be equally frequent."""
        return False

    @property
    def open(self) -> bool:
        """Whether the labels that rows have depend on the corpus."""
        return self.decides or not self.labels

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that its configs have."""
        return SPLITS[-1:] if self.conditions else SPLITS

    @property
    def paired(self) -> bool:
        """Whether its configs hold pairs of an original and an edited text."""
        return self.pairs or bool(self.conditions)

    def sized(self, settings: Settings) -> Settings:
        """The settings with sizes in rows that ``sample`` gives: two for each row of a suite of pairs."""
        if not (self.conditions and self.pairs):
            return settings
        return replace(settings, sizes=(*settings.sizes[:-1], 2 * settings.sizes[-1]))


class ProbingTask(Task, frozen=True, kw_only=True):
    """A task over single sentences.

    Attributes:
        select: the candidates of a shard, with the columns of ``PROBING_CANDIDATES`` and any others that ``sample``
            reads; at most one row per sentence, or several of which ``sample`` uses one.
        edit: makes the text of an edited row from the text and the row's ``plan``.
        feature: the feature of the target that is probed; forms ambiguous in it are no targets.
        split_by: what is in one split only: the form of the target, or the cluster of near duplicates.
    """

    shape: ClassVar[Shape] = Shape.SENTENCE

    select: Callable[[Trees, Context], pl.DataFrame]
    edit: Callable[[str, Mapping[str, Any]], Edit] | None = None
    feature: str | None = None
    split_by: Literal["target", "cluster"] = "cluster"


class DiscourseTask(Task, frozen=True, kw_only=True):
    """A task over sentences of documents.

    Attributes:
        shape: what one row holds.
        mark: facts about the sentences of a shard that the task can use, by ``sent``.
        least: fewest sentences that a document must have.
    """

    split_by: ClassVar[str] = "document"
    feature: ClassVar[str | None] = None

    shape: Shape
    mark: Callable[[Shard, LanguageData], pl.DataFrame] | None = None
    least: int = 2
    needs: frozenset[str] = frozenset({"documents"})


class RelationTask(Task, frozen=True, kw_only=True):
    """A task over the relation of two units of text, or over mentions of entities.

    Attributes:
        select: the candidates of a shard, with the columns of ``RELATION_CANDIDATES``.
        shape: what one row holds.
        note: what its cards say of the rows; nothing if empty.
    """

    split_by: ClassVar[str] = "document"
    feature: ClassVar[str | None] = None

    select: Callable[[Shard, Context], pl.DataFrame]
    shape: Shape = Shape.RELATION
    note: str = ""

    @property
    def natural(self) -> bool:
        """So in all that are not pairs: they are too few to leave some out."""
        return not self.paired


AnyTask = ProbingTask | DiscourseTask | RelationTask
T = TypeVar("T", bound=AnyTask)


@plugins.cached
def all_tasks() -> dict[str, AnyTask]:
    """Every task by name, in the order of ``FAMILIES``, each family in alphabetical order; without generated ones.

    Raises:
        DiscoprobeError: a module of a plugin is no task; the message names file and line.
    """
    return {
        name: _published(task, name, family, module)
        for family, name, module in _modules()
        if isinstance(task := getattr(module, "TASK", None), AnyTask)
    }


@plugins.cached
def generated_tasks() -> dict[str, AnyTask]:
    """The tasks that a rule generates, by name; their family is the name of the module that holds the rule."""
    return {
        task.name: _published(task, task.name, name, module)
        for _, name, module in _modules()
        for task in getattr(module, "TASKS", ())
    }


def _published(task: T, name: str, family: str, module: ModuleType) -> T:
    definition = task.definition.replace("{docstring}", _docstring(module))
    papers = (*papers_of(definition), *task.papers)
    asks = task.asks or getattr(module, "ASKS", "") or re.sub(r" \(.*?\)|\.$", "", definition.partition("\n")[0])
    task = replace(task, name=name, family=family, definition=definition, asks=asks, papers=papers)
    file = Path(getattr(module, "__file__", None) or "")
    if not plugins.folder_of(file):
        return task
    functions: dict[str, Any] = {
        role: functools.partial(_call_plugin, role, function, file)
        for role in RETURNED
        if (function := getattr(task, role, None))
    }
    return replace(task, plugin=str(file), **functions)


RETURNED: Mapping[str, type] = {
    "select": pl.DataFrame, "mark": pl.DataFrame, "sample": Sample, "edit": Edit, "lacks": str,
}  # fmt: skip
"""The functions of a task, and what they return."""


def _call_plugin(role: str, function: Callable[..., Any], file: Path, *arguments: Any) -> Any:
    """What a function of a task of a plugin returns; what it raises becomes an error that names a line of the plugin.

    Raises:
        DiscoprobeError: it fails, or does not return what a function of this role does.
    """
    try:
        returned = function(*arguments)
        if not isinstance(returned, expected := RETURNED[role]):
            raise TypeError(f"{role} returned {type(returned).__name__}, not {expected.__name__}")
    except DiscoprobeError:
        raise
    except Exception as error:
        raise plugins.plugin_error(file, error) from error
    return returned


def packaged_modules() -> Iterator[tuple[str, str, ModuleType]]:
    """Family, name and module of everything in the package's folders of tasks."""
    for family in FAMILIES:
        package = importlib.import_module(f"discoprobe.builders.{family}")
        for name in sorted(info.name for info in pkgutil.iter_modules([*package.__path__][:1])):
            yield family, name, importlib.import_module(f"{package.__name__}.{name}")


def _modules() -> Iterator[tuple[str, str, ModuleType]]:
    """Family, name and module of everything in the folders of tasks, those of plugins last.

    Raises:
        DiscoprobeError: a module of a plugin is no task.
    """
    names: dict[str, str] = {}
    for family, name, module in packaged_modules():
        names[name] = family
        yield family, name, module
    for folder in plugins.plugin_folders():
        for family in FAMILIES:
            for file in sorted((folder / family).glob("[!_]*.py")):
                yield family, file.stem, plugin_module(file, names)
                names[file.stem] = str(file)


def plugin_module(file: Path, names: Mapping[str, str]) -> ModuleType:
    """The module of a plugin that defines a task, or a family of tasks.

    Args:
        file: its path; the folder is that of the family.
        names: the tasks that there are, and where: a family, or the file of another plugin.

    Raises:
        DiscoprobeError: it fails, or defines no task with a docstring, or its name is no name or is used.
    """
    name, module_name = file.stem, f"discoprobe.builders.{file.parent.name}.{file.stem}"
    if not re.fullmatch("[a-z][a-z0-9_]*", name):
        raise DiscoprobeError(f"{file}:1: the name of a task has small letters, digits and _; rename the file")
    if name in names:
        raise DiscoprobeError(f"{file}:1: there is a task {name} in {names[name]}; rename the file")
    try:
        loaded = sys.modules.get(module_name)
        if loaded and loaded.__file__ != str(file):
            del sys.modules[module_name]
        module = importlib.import_module(module_name)
    except DiscoprobeError:
        raise
    except Exception as error:
        raise plugins.plugin_error(file, error) from error
    defined = [getattr(module, "TASK", None), *getattr(module, "TASKS", ())]
    if not any(isinstance(task, AnyTask) for task in defined):
        raise DiscoprobeError(
            f"{file}:{plugins.line_of_task(file)}: TASK is no ProbingTask, DiscourseTask or RelationTask; "
            "a file that defines no task has a name that begins with _"
        )
    if not _docstring(module):
        raise DiscoprobeError(f"{file}:1: the docstring is missing; it is the definition that cards print")
    return module


def _docstring(module: ModuleType) -> str:
    return inspect.cleandoc(module.__doc__ or "")


GONE: Mapping[str, str] = {
    "dc_easy": "use dc", "dr_balanced": "use dr", "nuclearity": "use dr_tree, whose rows have it as `direction`",
    "obl_case": "use feats_obl_case", "order_last": "use so, or order_context", "pred_mood": "use feats_root_mood",
    "pred_person": "use feats_root_person", "top_deps": "use tree_depth",
}  # fmt: skip
"""Names of tasks that are gone → what to do instead."""


def tasks_named(names: Sequence[str]) -> list[AnyTask]:
    """The tasks that ``names`` stand for, each once.

    A name is that of a task, a family (``probing``, ``discourse``, ``relations``, ``suites``), ``all`` (these), a
    generated task (``feats_nsubj_number``) or a family of those (``feats``), which no other name includes.

    Raises:
        UnknownNameError: for a name that is none of these.
        UsageError: for the name of a task that is gone.
    """
    tasks = all_tasks()
    chosen: dict[str, AnyTask] = {}
    for name in names:
        matching = {key: task for key, task in tasks.items() if name in {key, task.family, "all"}}
        if not matching:  # hundreds of tasks, which take a while
            matching = {key: task for key, task in generated_tasks().items() if name in {key, task.family}}
        if not matching and name in GONE:
            raise UsageError(f"{name} is gone: {GONE[name]}")
        if not matching:
            generated = generated_tasks()
            names_of_all = [*tasks, *generated, *FAMILIES, *{task.family for task in generated.values()}, "all"]
            blank = "; separate tasks by commas" if " " in name else ""
            raise UnknownNameError("task", name, names_of_all, remedy=f"`build tasks` lists them{blank}")
        chosen |= matching
    return list(chosen.values())


def unsupported(task: AnyTask, layers: frozenset[str], language: LanguageData) -> str:
    """Why a task cannot be built from a corpus with these layers, in this language; empty where it can."""
    from discoprobe.loaders.corpus import LEAST_SHARE  # noqa: PLC0415 (imports polars, which a list of tasks spares)

    if missing := task.needs - layers:
        names = {"documents": "documents of running text"}
        few = ", or hardly any" if missing & LEAST_SHARE.keys() else ""
        return "the corpus has no " + ", ".join(names.get(layer, layer) for layer in sorted(missing)) + few
    return task.lacks(language)
