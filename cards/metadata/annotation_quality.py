"""Annotation noise: what a card says of sources that were made from raw text, and not annotated by people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from discoprobe.loaders.raw.gold_agreement import agreement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from discoprobe.loaders.corpus import Source
    from discoprobe.loaders.raw.gold_agreement import Agreement


class AnnotationGroup(NamedTuple):
    """How sources were made that have their annotation from the same program and models.

    ``software`` and ``packages`` are texts; ``measured`` is None where nobody measured these models.
    """

    names: tuple[str, ...]
    segmented: bool
    software: str
    packages: str
    measured: MeasuredAgreement | None


class MeasuredAgreement(NamedTuple):
    """What was measured of them; ``same`` is the share of the treebank's sentences that were found."""

    treebank: str
    date: str
    stanza: str
    gold: int
    annotated: int
    same: float
    tasks: tuple[TaskAgreement, ...]
    note: str


class TaskAgreement(NamedTuple):
    """A task's labels in the sentences with the same boundaries; shares are None where there is nothing to share."""

    task: str
    both: int
    agree: float | None
    gold_only: int
    annotated_only: int
    right: float | None


def noise_of(sources: Sequence[Source]) -> list[AnnotationGroup]:
    """The annotations of the sources that were made from raw text, each once, in the order of the sources."""
    groups: dict[str, list[Source]] = {}
    for source in sources:
        if source.annotation is not None:
            groups.setdefault(repr(source.annotation["made_by"]), []).append(source)
    return [_made(group) for group in groups.values()]


def _made(sources: Sequence[Source]) -> AnnotationGroup:
    by: Mapping[str, Any] = (sources[0].annotation or {})["made_by"]
    packages: Mapping[str, str] = by.get("packages", {})
    measured = agreement(sources[0].lang, by)
    return AnnotationGroup(
        tuple(source.name for source in sources), "pos" not in packages and "depparse" not in packages,
        _listed(by["software"]), _listed(packages), None if measured is None else _measured(measured, by),
    )  # fmt: skip


def _listed(values: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items())


def _measured(found: Agreement, by: Mapping[str, Any]) -> MeasuredAgreement:
    tasks = tuple(
        TaskAgreement(
            task, one.both, one.agree / one.both if one.both else None, one.gold_only, one.annotated_only, one.precision
        )
        for task, one in found.tasks(by).items()
    )
    return MeasuredAgreement(
        found.treebank, found.date.isoformat(), _listed(found.software), found.sentences.gold,
        found.sentences.annotated, found.sentences.same / found.sentences.gold, tasks, found.note,
    )  # fmt: skip
