"""How far labels from raw text agree with those of a treebank: figures that were measured, by the models they hold for.

The figures are data (``agreement.toml``), made by ``scripts/agreement.py`` from a treebank that the models were not
trained on: its own text was annotated, its sentences found again by their characters, and the labels compared.
"""

from __future__ import annotations

import functools
import importlib.resources
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

TASKS: Final = ("sent_len", "subj_number", "tree_depth")
"""What is compared: one label by segmentation, one by features and relations, one by the whole tree."""
SEGMENTED: Final = ("sent_len",)
"""What is compared where sentences and words were found and nothing was annotated."""


@dataclass(frozen=True, slots=True)
class Labels:
    """Candidates of a task among the sentences with the same boundaries.

    ``both``: candidates of the treebank and of the annotation; ``agree``: of these, with the same label;
    ``gold_only`` and ``annotated_only``: of one and not of the other.
    """

    both: int
    agree: int
    gold_only: int
    annotated_only: int

    @property
    def right(self) -> float | None:
        """Share of the annotation's candidates that the treebank has too, with this label; None if there is none."""
        offered = self.both + self.annotated_only
        return self.agree / offered if offered else None


@dataclass(frozen=True, slots=True)
class Agreement:
    """What was measured with certain models, or with rules.

    ``gold``, ``annotated`` and ``same`` count sentences: the treebank's, those that were found, and those among them
    with the treebank's boundaries. ``tasks`` has the labels of each task that the annotation supports.
    """

    lang: str
    treebank: str
    date: str
    software: Mapping[str, str]
    packages: Mapping[str, str]
    gold: int
    annotated: int
    same: int
    tasks: Mapping[str, Labels]
    note: str = ""


def agreement(lang: str, made_by: Mapping[str, Any]) -> Agreement | None:
    """What was measured of an annotation; None if it was not.

    Args:
        lang: code of the language.
        made_by: engine, software and models, as the manifest of an annotated corpus has them. Models are known by their
            content, rules by the versions of their libraries. Of models that only segment, the figures of an annotation
            that begins with them hold, as far as they depend on segmentation.
    """
    models = {name: file["sha256"] for name, file in made_by.get("models", {}).items()}
    for table in _measured():
        if (table["lang"], table["engine"]) != (lang, made_by["engine"]):
            continue
        if models and models.items() <= table["models"].items():
            return _agreement(table, TASKS if models.keys() == table["models"].keys() else SEGMENTED)
        if not models and table["software"] == made_by["software"]:
            return _agreement(table, SEGMENTED)
    return None


def _agreement(table: Mapping[str, Any], tasks: tuple[str, ...]) -> Agreement:
    return Agreement(
        table["lang"], table["treebank"], table["date"].isoformat(), table["software"], table["packages"],
        **table["sentences"], tasks={task: Labels(**table[task]) for task in tasks}, note=table.get("note", ""),
    )  # fmt: skip


@functools.cache
def _measured() -> list[dict[str, Any]]:
    data = importlib.resources.files("discoprobe.loaders.raw").joinpath("agreement.toml").read_bytes()
    found: list[dict[str, Any]] = tomllib.loads(data.decode())["measured"]
    return found
