"""Configs and their audits; rows that show a shortcut by chance are drawn anew.

Of some hundred configs with eight shortcuts each, some are beyond a limit by the luck of the draw: of twenty passages
that end in a question mark, fifteen have the same label. As in designed experiments (Morgan & Rubin 2012,
"Rerandomization to improve covariate balance in experiments"), such a draw is thrown away and another one made, by a
rule that is fixed beforehand: at most `DRAWS` in all, the first that nothing speaks against is taken, and its number
stands in the manifest and on the card. A shortcut of the task's design is there in each, and the config is left out.
Documents stay in their splits.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final, TypeAlias

from discoprobe.builders.audit.limits import Kind
from discoprobe.builders.audit.run import audit
from discoprobe.builders.config import Config, Unavailable
from discoprobe.pipeline import configs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from concurrent.futures import Executor

    from discoprobe.builders.audit.report import Report
    from discoprobe.builders.task import Task
    from discoprobe.loaders.corpus import Corpus
    from discoprobe.request import Progress, Request

Measured: TypeAlias = "tuple[Config | Unavailable, Report | None]"

DRAWS: Final = 3


def audited(
    corpus: Corpus, tasks: Sequence[Task], request: Request, executor: Executor | None, progress: Progress
) -> Iterator[Measured]:
    """Each config with what its audit found; one that fails, or may well, is drawn anew; what still fails is left out.

    With ``request.keep_failed`` what was asked for is emitted as it was drawn.
    """
    found = _measured(corpus, tasks, request, executor, progress)
    for draw in range(1, 1 if request.keep_failed else DRAWS):
        names = {result.task for result, report in found if _doubt(report) and not _at_fault(report)}
        if not names:
            break
        again = dataclasses.replace(request, settings=dataclasses.replace(request.settings, draw=draw))
        drawn = _measured(corpus, [task for task in tasks if task.name in names], again, executor, progress)
        others = {result.name: (result, report) for result, report in drawn if report}
        found = [_better(one, others.get(one[0].name, one)) for one in found]
    for result, report in found:
        yield _left_out(result, report) if report and report.failed and not request.keep_failed else (result, report)


def _measured(
    corpus: Corpus, tasks: Sequence[Task], request: Request, executor: Executor | None, progress: Progress
) -> list[Measured]:
    found = list(configs(corpus, tasks, request, executor, progress))
    subjects = [result for result in found if isinstance(result, Config) and request.audit]
    reports: dict[str, Report] = {}
    for done, report in enumerate((executor.map if executor else map)(audit, subjects), 1):
        reports[report.name] = report
        progress(f"auditing {corpus.lang}", done, len(subjects))
    return [(result, reports.get(result.name)) for result in found]


def _doubt(report: Report | None) -> int:
    """2 for what fails, 1 for what the rows of all splits say may fail, 0 for what nothing speaks against."""
    return 0 if report is None else 2 if report.failed else 1 if report.suspect else 0


def _at_fault(report: Report | None) -> bool:
    """Whether a config fails not for shortcuts alone: a duplicate or a leak is no luck."""
    return report is not None and any(one.kind is not Kind.SHORTCUT for one in report.errors)


def _better(one: Measured, other: Measured) -> Measured:
    return other if _doubt(other[1]) < _doubt(one[1]) else one


def _left_out(result: Config | Unavailable, report: Report) -> Measured:
    reason = f"the audit failed{f', {DRAWS} times' if not _at_fault(report) else ''}: {_worst(report)}"
    return Unavailable(result.name, result.task, result.lang, reason, result.candidates, result.drops), None


def _worst(report: Report) -> str:
    """The error-level findings in a few words: ``length .63 (limit .52)``."""
    shown = [f"{one.check} {one.beyond[0]:.3g} (limit {one.beyond[1]:.3g})" for one in report.errors if one.beyond]
    return ", ".join(shown or [one.check for one in report.errors])
