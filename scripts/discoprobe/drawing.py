"""Configs and their audits; rows that show a shortcut by chance are drawn anew.

Of some hundred configs with eight shortcuts each, some are beyond a limit by the luck of the draw: of twenty passages
that end in a question mark, fifteen have the same label. As in designed experiments (Morgan & Rubin 2012,
"Rerandomization to improve covariate balance in experiments"), such a draw is thrown away and another one made, by a
rule that is fixed beforehand: at most `DRAWS` in all, the first that passes is taken, and its number stands in the
manifest and on the card. A shortcut of the task's design is there in each, and the config is left out. Documents stay
in their splits.
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
    """Each config with what its audit found; one that fails is drawn anew, and at last left out.

    With ``request.keep_failed`` what was asked for is emitted as it was drawn.
    """
    found = _measured(corpus, tasks, request, executor, progress)
    for draw in range(1, 1 if request.keep_failed else DRAWS):
        names = {result.task for result, report in found if _may_be_luck(report)}
        if not names:
            break
        again = dataclasses.replace(request, settings=dataclasses.replace(request.settings, draw=draw))
        drawn = _measured(corpus, [task for task in tasks if task.name in names], again, executor, progress)
        better = {result.name: (result, report) for result, report in drawn if report and not report.failed}
        found = [better.get(result.name, (result, report)) for result, report in found]
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


def _may_be_luck(report: Report | None) -> bool:
    """Whether a config fails for shortcuts alone: a duplicate or a leak is a fault."""
    return report is not None and report.failed and all(one.kind is Kind.SHORTCUT for one in report.errors)


def _left_out(result: Config | Unavailable, report: Report) -> Measured:
    reason = f"the audit failed{f', {DRAWS} times' if _may_be_luck(report) else ''}: {_worst(report)}"
    return Unavailable(result.name, result.task, result.lang, reason, result.candidates, result.drops), None


def _worst(report: Report) -> str:
    """The error-level findings in a few words: ``length .63 (limit .52)``."""
    shown = [f"{one.check} {one.beyond[0]:.3g} (limit {one.beyond[1]:.3g})" for one in report.errors if one.beyond]
    return ", ".join(shown or [one.check for one in report.errors])
