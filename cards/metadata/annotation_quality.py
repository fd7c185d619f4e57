"""What a card says of automatically annotated sources: the program, and the agreement of its labels with a treebank.

The agreement is data (``agreement.toml``), made by ``scripts/gold_labels.py`` from a treebank on which the models were
not trained: its text was annotated, its sentences were found again by their characters, and the labels were compared.
"""

import datetime as dt
import functools
import importlib.resources
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from discoprobe.loaders.corpus import Source

SEGMENTATION_TASKS: Final = ("sent_len",)
"""Tasks whose labels depend on segmentation only."""
TASKS: Final = (*SEGMENTATION_TASKS, "subj_number", "tree_depth")
"""Tasks that are compared: by segmentation, by features and relations, by the whole tree."""


class LabelAgreement(msgspec.Struct, frozen=True):
    """Candidates of a task among the sentences with the same boundaries.

    ``both``: candidates of the treebank and of the annotation; ``agree``: those with the same label; ``gold_only`` and
    ``annotated_only``: candidates of one of them only.
    """

    both: int
    agree: int
    gold_only: int
    annotated_only: int

    @property
    def same_label(self) -> float | None:
        """Share of ``both`` with the same label; None without candidates."""
        return self.agree / self.both if self.both else None

    @property
    def precision(self) -> float | None:
        """Share of the annotation's candidates that the treebank has with the same label; None without candidates."""
        candidates = self.both + self.annotated_only
        return self.agree / candidates if candidates else None


class SentenceAgreement(msgspec.Struct, frozen=True):
    """Numbers of sentences: of the treebank, of the annotation, and of these with the treebank's boundaries."""

    gold: int
    annotated: int
    same: int


class Agreement(msgspec.Struct, frozen=True):
    """What was measured with certain models, known by their SHA-256, or with rules, known by their software."""

    lang: str
    engine: str
    software: dict[str, str]
    packages: dict[str, str]
    models: dict[str, str]
    treebank: str
    date: dt.date
    sentences: SentenceAgreement
    sent_len: LabelAgreement
    subj_number: LabelAgreement | None = None
    tree_depth: LabelAgreement | None = None
    note: str = ""

    @property
    def program(self) -> str:
        """Programs with their versions: ``stanza 1.15.0, torch 2.13.0``."""
        return _listed(self.software)


class AnnotationGroup(NamedTuple):
    """Sources with the same annotation: their names, and the program with its versions and packages as texts.

    ``measured`` is None where nobody measured these models; ``tasks`` are those whose agreement holds for the sources.
    """

    names: tuple[str, ...]
    segmented: bool
    software: str
    packages: str
    measured: Agreement | None
    tasks: dict[str, LabelAgreement]


def noise_of(sources: Sequence[Source]) -> list[AnnotationGroup]:
    """The annotations of the sources that were made from raw text, each once, in the order of the sources."""
    groups: dict[str, list[Source]] = {}
    for source in sources:
        if source.annotation is not None:
            groups.setdefault(repr(source.annotation["made_by"]), []).append(source)
    return [_group(group) for group in groups.values()]


def _group(sources: Sequence[Source]) -> AnnotationGroup:
    by: Mapping[str, Any] = (sources[0].annotation or {})["made_by"]
    packages: Mapping[str, str] = by.get("packages", {})
    measured = _agreement(sources[0].lang, by)
    # A tokeniser alone was measured with the models that follow it: then the figures of segmentation hold.
    names = TASKS if measured and measured.models.keys() == by.get("models", {}).keys() else SEGMENTATION_TASKS
    tasks = {name: figures for name in names if (figures := getattr(measured, name, None)) is not None}
    segmented = "pos" not in packages and "depparse" not in packages
    software = _listed(by["software"])
    return AnnotationGroup(tuple(one.name for one in sources), segmented, software, _listed(packages), measured, tasks)


def _agreement(lang: str, by: Mapping[str, Any]) -> Agreement | None:
    """What was measured with the models of an annotation, or with more of them, or with its rules; else None."""
    models = {name: file["sha256"] for name, file in by.get("models", {}).items()}
    for measured in measurements():
        if (measured.lang, measured.engine) != (lang, by["engine"]):
            continue
        if models.items() <= measured.models.items() if models else measured.software == by["software"]:
            return measured
    return None


@functools.cache
def measurements() -> list[Agreement]:
    """All that was measured."""
    data = importlib.resources.files("discoprobe.cards.metadata").joinpath("agreement.toml").read_bytes()
    return msgspec.convert(tomllib.loads(data.decode())["measured"], list[Agreement])


def _listed(values: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items())
