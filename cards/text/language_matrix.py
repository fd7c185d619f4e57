"""The matrix of languages and tasks: how large every config is, and what its audit said."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from discoprobe.builders.config import Shape
from discoprobe.cards.metadata.manifest import ConfigEntry
from discoprobe.cards.text.render import compact
from discoprobe.cards.text.verdicts import MARKS, Verdict, verdicts

_GENERATED = "feats_"


class Matrix(NamedTuple):
    """A table: what it is of, the names of its columns, and rows that begin with a name.

    The longer side, languages or tasks, goes down.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]


def matrices(configs: Mapping[str, ConfigEntry]) -> list[Matrix]:
    """One matrix per kind of task that the release has, cells being Markdown."""
    kinds: dict[str, Callable[[ConfigEntry], bool]] = {
        "Discourse (rows of several sentences)": lambda entry: entry["shape"] not in {Shape.SENTENCE, Shape.SUITE},
        "Probing (rows of one sentence)": lambda entry: entry["shape"] == Shape.SENTENCE and not _generated(entry),
        "Suites (minimal pairs, test only)": lambda entry: entry["shape"] == Shape.SUITE,
        "Generated probes (a feature of the word in a role)": _generated,
    }
    by_kind = {title: {name: entry for name, entry in configs.items() if of(entry)} for title, of in kinds.items()}
    said = verdicts(configs)
    return [_matrix(title, entries, said) for title, entries in by_kind.items() if entries]


def _generated(entry: ConfigEntry) -> bool:
    return entry["task"].startswith(_GENERATED)


def _matrix(title: str, configs: Mapping[str, ConfigEntry], said: Mapping[str, Verdict]) -> Matrix:
    cells = {(entry["lang"], entry["task"]): _cell(name, entry, said[name]) for name, entry in configs.items()}
    if len({lang for lang, _ in cells}) < len({task for _, task in cells}):
        cells = {(task, lang): cell for (lang, task), cell in cells.items()}
    down, across = (sorted(set(side)) for side in zip(*cells, strict=True))
    rows = tuple((name, tuple(cells.get((name, other), "–") for other in across)) for name in down)
    return Matrix(title, tuple(across), rows)


def _cell(name: str, entry: ConfigEntry, said: Verdict) -> str:
    sizes = " / ".join(compact(sum(labels.values())) for labels in entry["counts"].values())
    shown = f"{sizes} {MARKS[said.word]}".strip()
    return f"[{shown}]({name}/README.md)"
