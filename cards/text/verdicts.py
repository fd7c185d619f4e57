"""The verdict of the audit on every config of a release: one function for cards, review, terminal and JSON.

A verdict is a sentence: the outcome, the strongest solver with its figure and why it counts or not, what is told by
other things than texts, exemptions, missing splits, and the smallest gain that the rows could have shown.
"""

import functools
import importlib.resources
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from discoprobe.builders.audit.report import (
    CUE,
    NOT_AUDITED,
    Finding,
    Grade,
    Report,
    Status,
    Tally,
    Verdict,
    designs,
    grade_of,
)
from discoprobe.builders.audit.task_types import OVERLAP
from discoprobe.builders.audit.thresholds import BY_ID, FLOOR, KNOWN_AS, LEAKS, MOST_DROPPED, OF_WORDS, Kind
from discoprobe.builders.settings import SPLITS
from discoprobe.cards.metadata import yaml_header
from discoprobe.cards.metadata.manifest import Audited, AuditEntry, ConfigEntry, FindingEntry, audit_entry

ABOVE: Final = str(Status.ABOVE)
OPEN: Final = str(Status.OPEN)
BELOW: Final = str(Status.BELOW)
UNMEASURED: Final = str(Status.UNMEASURED)
_NAMED: Final = 3
"""Checks that a verdict names; of more it gives the number."""
_WITH_CUE: Final = frozenset({"token", "surface"})
"""Solvers whose finding names the cue."""


def verdict_of(report: Report) -> Verdict:
    """The verdict on a config by its own rows alone: that of the release, unless the task's design fails there."""
    return _verdict(audit_entry(report), ())


def verdicts(configs: Mapping[str, Audited]) -> dict[str, Verdict]:
    """The verdict on each config of a release, in its order: by its own rows, and by those of its task's other configs.

    A config without a task is judged by its own rows only.
    """
    above = {
        task: tuple(design.check for design in _designs(audits) if design.status is Status.ABOVE)
        for task, audits in _audits_by_task(configs).items()
    }
    return {
        name: Verdict(NOT_AUDITED) if config.audit is None else _verdict(
            config.audit, above.get(config.task, ()))
        for name, config in configs.items()
    }  # fmt: skip


def why_left_out(verdict: Verdict) -> str:
    """Why a config that fails the audit is no part of a release."""
    return f"the audit failed{' with the rows of all languages of the task' * verdict.of_design}: {verdict.faults}"


def _verdict(audit: AuditEntry, of_design: tuple[str, ...]) -> Verdict:
    """The verdict on an audit, and on the design of the task by the checks that are above in all languages together."""
    findings, undecided = audit.findings, audit.open
    checks, resolution, exempt = tuple(audit.failed), audit.resolution, tuple(audit.exempt)
    grade = faults = ""
    if checks:
        word, grade, faults = ABOVE, _grade(findings, checks[0]), _faults(findings, checks)
        head = f"{faults[:1].upper()}{faults[1:]}."
    elif of_design:
        word, checks, faults = ABOVE, of_design, ", ".join(of_design)
        head = f"Above the threshold with the rows of all languages of the task: {faults}."
    elif reason := audit.unmeasured:
        word, head = UNMEASURED, f"Not measured: {reason.removeprefix('no shortcut was measured: ')}."
    elif undecided:
        word, n = OPEN, audit.thresholds or len(undecided)
        names = f" ({', '.join(undecided)})" if 1 < len(undecided) <= _NAMED else ""
        head = (
            f"Open, which is no failure: too few rows to decide {len(undecided)} of the {n} solvers that have a "
            f"threshold{names}; closest to fail: {_figure(undecided[0], findings[undecided[0]])}."
        )
        if audit.deciding_rows:
            head += f" About {audit.deciding_rows:,} rows would decide."
    else:
        n = audit.thresholds
        word, head = (
            BELOW,
            f"Below: {n} {'solver is below its threshold' if n == 1 else 'solvers are below their thresholds'}.",
        )
    sentences, remarks = [head], []
    cue = _cue(audit, findings) if word in {OPEN, BELOW} or grade == Grade.MINOR else ""
    if cue:
        rest = head.removeprefix("Open, which is no failure: ")
        sentences = [cue, f"{rest[:1].upper()}{rest[1:]}"]
        word = CUE
    if audit.failed:
        sentences += _about_faults(checks, findings, audit)
    if faults:
        remarks.append(f"{faults} (all languages of the task)" if of_design and not audit.failed else faults)
    best = audit.strongest
    if best and best in findings and best not in (*checks, *undecided[:1]):
        if not cue:
            sentences.append(_about_strongest(best, findings[best], audit))
        if findings[best].threshold is None:
            remarks.append(f"{best} has no threshold here")
    if floor := findings.get(FLOOR):
        sentences.append(
            f"Floor: {FLOOR} of other text of the corpora find the edited text in {floor.value:.3f} of the pairs; a "
            "model has to do better."
        )
    beside = audit.beside_text
    if beside and beside in findings and beside not in checks and _is_gain(beside_text := findings[beside]):
        of = f" (column {beside_text.detail})" if beside == "metadata" else ""
        sentences.append(
            f"Beside the texts, where no model looks: {beside}{of} {beside_text.value:.3f} (majority baseline "
            f"{beside_text.baseline or 0.0:.3f})."
        )
    if others := [check for check in exempt if check != best]:
        sentences.append(f"The task is exempt from {', '.join(others)}.")
    if exempt:
        remarks.append(f"exempt from {', '.join(exempt)}")
    if (groups := audit.groups) and groups.are_few(audit.majority):
        sentences.append(
            f"The last split has rows of {groups.n} {groups.of} only, {groups.largest:,} of {groups.rows:,} of one of "
            f"them: they count as {groups.independent:.1f} of equal size, which say little about others."
        )
    if (shared := findings.get("group-split")) and shared.status == Status.NOTED:
        repeated = f"{shared.value:,.0f} of {shared.n:,} rows are of a document or group of an earlier split"
        sentences.append(
            f"{repeated}; with --group it would be a fault."
            + f" The commonest label of each gains {shared.cost:.2f}." * (grade_of(shared.cost) != Grade.MINOR)
        )
    alike = {check: findings[check] for check in ("altered-dup", "paraphrase") if check in findings}
    alike = {check: finding for check, finding in alike.items() if finding.status == Status.NOTED}
    if alike and audit.external:  # paraphrases include most altered copies: one sentence tells both
        check = max(alike, key=lambda check: alike[check].value)
        sentences.append(
            f"{_figure(check, alike[check])}: no fault in data of others, where it may be the design, but a model may "
            "know these rows from training."
        )
    if (shares := findings.get("label-shares")) and shares.status == Status.NOTED and audit.external:
        sentences.append(f"Label shares differ between splits: {shares.detail}.")
    if word != UNMEASURED and (without := audit.not_measured):
        more = f" and {len(without) - _NAMED} more" if len(without) > _NAMED else ""
        sentences.append(f"Not measured: {', '.join(without[:_NAMED])}{more}.")
    if missing := audit.missing:
        sentences.append(f"{missing[:1].upper()}{missing[1:]}.")
    if word in {OPEN, BELOW, CUE} and resolution is not None:
        gain = f"gain of less than {resolution:.2f} over the majority baseline could be chance."
        sentences.append(f"With so few rows, a {gain}" if word == OPEN else f"A {gain}")
        remarks.append(f"a gain below {resolution:.2f} could be chance")
    if cue:
        checks, grade = (str(best),), _grade(findings, str(best))
    warns_of = checks[0] if checks and grade != Grade.MINOR else ""
    return Verdict(
        word, checks, resolution, bool(of_design and not audit.failed), grade, faults, exempt, percent(audit.majority),
        trick_of(audit, warns_of), _advice(word, warns_of, audit), " ".join(sentences), "; ".join(remarks),
    )  # fmt: skip


THOUSANDS: Final = 10_000
"""From so many rows on a table gives thousands."""
FEW: Final = 0.05
"""From a half interval of more than 5 points on, an advice has it: as that of fewer than 400 independent rows is."""


def trick_of(audit: AuditEntry, warns_of: str = "") -> str:
    """The best cheap trick and its accuracy (``spelling 73%``), or the one that the advice warns of.

    Empty if none is better than the majority baseline.
    """
    if warns_of in audit.findings and BY_ID[warns_of].kind is Kind.SHORTCUT:
        finding = audit.findings[warns_of]
        return f"{_known_as(warns_of, finding)} {percent(finding.value)}"
    if not audit.strongest or audit.accuracy is None or (audit.gain or 0.0) <= 0:
        return ""
    return f"{_known_as(audit.strongest, audit.findings.get(audit.strongest))} {percent(audit.accuracy)}"


def _known_as(check: str, finding: FindingEntry | None) -> str:
    """What people call a trick: of one that compares pairs, by what; of one that reads one text alone, which."""
    detail = finding.detail if finding else ""
    if check == "pairwise" and detail in KNOWN_AS:
        return f"pairs by {KNOWN_AS[detail]}"
    if check == "single" and (number := re.search(r" of text (\d+)$", detail)):
        return f"text {number[1]} alone"
    return KNOWN_AS[check]


def percent(share: float) -> str:
    """A share in whole percent: ``73%``."""
    return f"{100 * share:.0f}%"


CAREFUL: Final = "careful"
TASK: Final = "yes (task)"
"""The advice where the best cheap trick reads what the task asks for, as its exemption says."""


def _advice(word: str, warns_of: str, audit: AuditEntry) -> str:
    """Whether to use the data (docs/concepts.md): of the reasons for care the most serious one.

    What is open is no reason if the strongest trick is better than chance, and open ones reach no more than the end of
    its interval: a model that is better than this trick is better than all of them. Where rows are few, the advice says
    how many points luck can give.
    """
    best, resolution = audit.findings.get(audit.strongest or ""), audit.resolution
    gains = best and (_is_gain(best) or (audit.gain or 0.0) > max(resolution or 0.0, _half(best)))
    gains = best and gains and audit.open_reach <= (best.interval or (best.value,))[-1]
    if word == UNMEASURED:
        advice = UNMEASURED
    elif faulty := _few_faulty_rows(word, audit):
        advice = f"{CAREFUL}: {faulty}"
    elif warns_of:
        advice = f"{CUE if word == CUE else 'no'}: {_known_as(warns_of, audit.findings.get(warns_of))}"
    elif (groups := audit.groups) and groups.are_few(audit.majority):
        advice = f"{CAREFUL}: {groups.n} {groups.of}"
    elif (shared := audit.findings.get("group-split")) and grade_of(shared.cost) != Grade.MINOR:
        advice = f"{CAREFUL}: {KNOWN_AS['group-split']}"
    elif best and gains and best.status == Status.EXEMPT:
        advice = TASK + _spread(best)
    elif best and gains and best.status in {Status.NOTED, Status.OPEN}:
        advice = f"beat {percent(audit.accuracy or best.value)}{_spread(best)}"
    elif word == OPEN:
        advice = f"{CAREFUL}{_points(resolution or 0.0)}"
    elif resolution is None:  # no solver could have shown anything
        advice = UNMEASURED
    else:
        advice = f"yes{_points(resolution) if resolution > FEW else ''}"
    return advice


def _few_faulty_rows(word: str, audit: AuditEntry) -> str:
    """The fault that costs most, with the share of its rows, if few rows have to be left out for all but minor ones.

    Else empty; also if there is a cue that may be from rows that differ more from those of earlier splits.
    """
    serious = [check for check in audit.failed if _grade(audit.findings, check) != Grade.MINOR]
    costs = {check: audit.findings[check].cost for check in serious if check in audit.findings}
    if word != ABOVE or not serious or len(costs) < len(serious):
        return ""
    alike = [audit.findings[check].value for check in ("altered-dup", "paraphrase") if check in audit.findings]
    if max(alike, default=0.0) > MOST_DROPPED and _cue(audit, audit.findings):
        return ""
    if audit.dropped > MOST_DROPPED or any(
        not BY_ID[check].removable or cost > MOST_DROPPED for check, cost in costs.items()
    ):
        return ""
    return f"{KNOWN_AS[serious[0]]} {percent(costs[serious[0]])}"


def _spread(finding: FindingEntry) -> str:
    """Half the interval of a trick, if its rows are few."""
    return _points(_half(finding)) if _half(finding) > FEW else ""


def _half(finding: FindingEntry) -> float:
    low, high = finding.interval or (finding.value, finding.value)
    return (high - low) / 2


def _points(share: float) -> str:
    return f" ±{math.ceil(100 * share)}"


class DatasetLine(msgspec.Struct, frozen=True):
    """What is said of one config in a table; a table has the same lines wherever it is shown.

    Attributes:
        name: the config.
        task: its task, or its name where it has none.
        asks: the question in a few words.
        rows: in train, validation and test: ``342/94/188``; ``-`` for no split, from 10,000 on in thousands.
        chance: the accuracy of the majority baseline.
        trick: the best cheap trick, or the one that the advice warns of, and its accuracy.
        advice: whether to use it.
    """

    name: str
    task: str
    asks: str
    rows: str
    chance: str
    trick: str
    advice: str


def line_of(name: str, n_rows: Mapping[str, int], verdict: Verdict, *, entry: ConfigEntry | None = None) -> DatasetLine:
    """The line of a dataset: of a config of a release with its entry, else of data that has a name only.

    ``n_rows`` has the number of rows of each split.
    """
    numbers = (n_rows.get(split, 0) for split in SPLITS)
    sizes = "/".join(f"{n / 1000:.0f}k" if n >= THOUSANDS else str(n or "-") for n in numbers)
    asks, task = (entry.asks or entry.summary, entry.task) if entry else ("", name)
    return DatasetLine(name, task or name, asks, sizes, verdict.chance, verdict.trick, verdict.advice)


def lines_of(configs: Mapping[str, ConfigEntry], judged: Mapping[str, Verdict]) -> dict[str, list[DatasetLine]]:
    """The lines of the configs of a release with their `verdicts`, by language."""
    by_language: dict[str, list[DatasetLine]] = {}
    for name, entry in configs.items():
        n_rows = {split: sum(labels.values()) for split, labels in entry.counts.items()}
        by_language.setdefault(entry.lang, []).append(line_of(name, n_rows, judged[name], entry=entry))
    return by_language


def failing(configs: Mapping[str, ConfigEntry]) -> dict[str, Verdict]:
    """The configs that a release leaves out: those that fail, and those that then fail, until none does.

    A task that fails with the rows of all languages together fails in every language.
    """
    left, found = dict(configs), dict[str, Verdict]()
    while now := {name: verdict for name, verdict in verdicts(left).items() if verdict.word == ABOVE}:
        found |= now
        left = {name: entry for name, entry in left.items() if name not in now}
    return found


def best_advised(configs: Mapping[str, ConfigEntry], judged: Mapping[str, Verdict]) -> str:
    """The config that an example should load: of those with the best advice one in English, and with most rows.

    Empty if there is none.
    """
    kinds = ["yes", *ADVICE]

    def rank(name: str) -> tuple[int, bool, int, str]:
        kind, entry = kind_of(judged[name].advice), configs[name]
        place = kinds.index(kind) if kind in kinds else len(kinds)
        return place, entry.lang != yaml_header.DEFAULT[0], -yaml_header.n_rows(entry), name

    return min(configs, key=rank, default="")


def kind_of(advice: str) -> str:
    """What an advice is without figures and names: ``yes``, a key of ``ADVICE``, or ``not audited``."""
    if advice.startswith(CAREFUL):
        of_groups = _OF_GROUPS if any(map(str.isdigit, advice)) else _OF_SHARED
        return _OF_ROWS if "%" in advice else of_groups if ":" in advice else CAREFUL
    return TASK if advice.startswith(TASK) else word_of(advice)


def word_of(advice: str) -> str:
    """The word of an advice, one of ``WORDS``."""
    return next(word for word in WORDS if re.match(rf"{word}(?:[ :]|$)", advice))


def meanings(lines: Iterable[DatasetLine]) -> list[str]:
    """What the advice in some lines means, a sentence for each kind that occurs, and for the points."""
    every = [line.advice for line in lines]
    kinds = {*map(kind_of, every), *("±" for advice in every if "±" in advice)}
    return [meaning for kind, meaning in ADVICE.items() if kind in kinds]


_OF_ROWS, _OF_GROUPS, _OF_SHARED = (f"{CAREFUL}, of {what}" for what in ("rows", "groups", "shared groups"))
ADVICE: Final = {
    TASK: "(task): the trick reads what the task asks for",
    "beat": "beat: a model has to do better than the trick, not only better than chance",
    CAREFUL: "careful ±: too few rows to say what tricks reach",
    _OF_ROWS: "careful, with %: so many rows are faulty, and should be left out",
    _OF_GROUPS: "careful, with a number: test has rows of so few that a score may hold for them only",
    _OF_SHARED: "careful: shared documents: a column tells which rows belong together and much of the label",
    CUE: "cue: the trick that is named decides more than half; of use only if the labels are about it",
    "no": "no: the trick or fault that is named is more than the audit allows",
    UNMEASURED: "not measured: these rows cannot show what tricks reach",
    "±": "±: points of accuracy that luck can add or take, as rows are few",
}
"""Kind of advice → what it means; from the best kind to the worst."""
WORDS: Final = ("yes", "beat", CAREFUL, CUE, "no", UNMEASURED, NOT_AUDITED)
"""The words of advice, from the best to the worst."""


def _about_faults(checks: Sequence[str], findings: Mapping[str, FindingEntry], audit: AuditEntry) -> list[str]:
    """What the solver that costs most reads, with the cue if it is known; and how faulty rows can be taken out."""
    sentences = []
    solver = next((check for check in checks[:_NAMED] if BY_ID[check].kind is Kind.SHORTCUT and check in findings), "")
    if solver:
        cue = findings[solver].detail if solver in _WITH_CUE else ""
        sentences.append(f"What {solver} is: {BY_ID[solver].measures}{cue and f'; here {cue}'}.")
    faulty = [check for check in checks if BY_ID[check].removable]
    if not faulty:
        return sentences
    leaks = audit.external and LEAKS.keys() >= set(faulty)
    rows = "These rows" if len(faulty) == len(checks) else f"The rows of {', '.join(faulty)}"
    if leaks and audit.dropped <= MOST_DROPPED:
        sentences.append(f"{rows} can be taken out with `build import … --drop-leaks`.")
    elif leaks:
        again = "divides all rows again, each once, so that no sentence is in two splits"
        sentences.append(f"`build import … --regroup` {again}.")
    else:
        sentences.append(
            f"Without {rows[0].lower()}{rows[1:]} {'this fault' if len(faulty) == 1 else 'these faults'} would be gone."
        )
    return sentences


def _is_gain(finding: FindingEntry) -> bool:
    """Whether a solver is better than the majority baseline, by more than chance."""
    return (finding.interval or (finding.value,))[0] > (finding.baseline or 0.0)


def _cue(audit: AuditEntry, findings: Mapping[str, FindingEntry]) -> str:
    """A warning for data of others, if a solver without a threshold decides more than half of what can be gained."""
    best = audit.strongest or ""
    finding = findings.get(best)
    if not (finding and audit.external and finding.status == Status.NOTED) or best in audit.expected:
        return ""
    if grade_of(finding.cost) is not Grade.FATAL:
        return ""
    cue = finding.detail if best in _WITH_CUE else ""
    value = f"This alone reaches {finding.value:.3f} ({best}; majority baseline {finding.baseline or 0.0:.3f})."
    option = f"--expected {'words' if best in OF_WORDS else best}"
    if best in OVERLAP:
        option = "--task-type paraphrase"
    return (
        f"Cue: {cue or KNOWN_AS[best]}. {value} If the labels are about this, say so with {option}; if not, do not use "
        "these data."
    )


def _about_strongest(check: str, finding: FindingEntry, audit: AuditEntry) -> str:
    """A sentence on the strongest solver: its figure, and why it counts or does not."""
    accuracy = audit.accuracy or 0.0
    baseline = accuracy - (audit.gain or 0.0)
    if accuracy <= baseline:
        return f"No solver is better than the majority baseline ({baseline:.3f})."
    value = f"{accuracy:.3f} (majority baseline {baseline:.3f})"
    if finding.threshold is None and (finding.interval or (0.0,))[0] <= baseline:
        return f"Strongest solver: {check} {value}, which may be chance."
    if finding.status == Status.EXEMPT:
        return f"Strongest solver: {check} {value}; the task is exempt: {finding.reason}."
    if finding.threshold is not None:
        return f"Strongest solver: {_figure(check, finding)}."
    reading = f"{check} alone reach" if check.endswith("s") else f"{check} alone reaches"
    if BY_ID[check].perturbation_only and not audit.edited:
        remark = "That is no fault in a task about words, but the score that a model must beat"
        remark += "; with --edited it would be a fault." if audit.external else "."
        return f"Strongest solver: {reading} {value}. {remark}"
    return f"Strongest solver: {reading} {value}. It is only reported."


def _faults(findings: Mapping[str, FindingEntry], checks: Sequence[str]) -> str:
    """Checks with their figures, by grade: ``serious: length, accuracy 0.630 (threshold 0.520)``."""
    by_grade: dict[str, list[str]] = {}
    for check in checks[:_NAMED]:
        figure = _figure(check, findings[check]) if check in findings else check
        by_grade.setdefault(_grade(findings, check), []).append(figure)
    n_more = len(checks) - _NAMED
    more = f"; and {n_more} more check{'s' * (n_more > 1)}" if n_more > 0 else ""
    return "; ".join(f"{grade}: {', '.join(figure)}" for grade, figure in by_grade.items()) + more


def _grade(findings: Mapping[str, FindingEntry], check: str) -> str:
    return str(grade_of(findings[check].cost)) if check in findings else str(Grade.SERIOUS)


def _figure(check: str, finding: FindingEntry) -> str:
    """A check with the figure that decided it: ``4 rows (of 2,623) whose input occurs … (dup-within)``."""
    value, n, measures = finding.value, finding.n, BY_ID[check].measures
    if BY_ID[check].kind is Kind.INTEGRITY:
        if BY_ID[check].unit == "rows" and check != "balance":
            rows = f"{'row' if value == 1 else 'rows'} (of {n:,})"
            return f"{value:,.0f} {measures.replace('rows', rows, 1)} ({check})"
        if BY_ID[check].unit == "share of rows":
            allowed = f"threshold {finding.threshold or 0.0:.1%}"
            return f"{value:.1%} of {n:,} {measures.removeprefix('share of ')} ({check}; {allowed})"
        return f"{finding.detail or measures} ({check})"
    ends, threshold = finding.interval, finding.threshold
    interval = f" [{ends[0]:.3f}, {ends[1]:.3f}]" if ends else ""
    return f"{check} {finding.measure} {value:.3f}{interval} (threshold {threshold or 0.0:.3f})"


def task_designs(configs: Mapping[str, Audited]) -> dict[str, list[Finding]]:
    """Every shortcut over the rows of all configs of a task, by task; for tasks of which several were audited."""
    return {
        task: of_task
        for task, audits in sorted(_audits_by_task(configs).items())
        if len(audits) > 1 and (of_task := _designs(audits))
    }


def closest_designs(configs: Mapping[str, Audited]) -> dict[str, Finding]:
    """Of `task_designs`, for each task the shortcut that is farthest above its threshold, or least below it."""
    designs = {task: of_task for task, of_task in task_designs(configs).items() if of_task}
    return {
        task: max(of_task, key=lambda each: (each.measured or 0.0) - (each.threshold or 0.0))
        for task, of_task in designs.items()
    }


@functools.cache
def recorded_designs() -> Mapping[str, Finding]:
    """`closest_designs` of the treebanks that ``scripts/benchmark.py release`` builds, as it wrote them.

    They are the same on every card of a task, whatever else is in the release.
    """
    data = importlib.resources.files("discoprobe.cards.metadata").joinpath("designs.json").read_bytes()
    return msgspec.json.decode(data, type=dict[str, Finding])


def _audits_by_task(configs: Mapping[str, Audited]) -> dict[str, list[AuditEntry]]:
    audits: dict[str, list[AuditEntry]] = {}
    for config in configs.values():
        if config.audit is not None and config.task:
            audits.setdefault(config.task, []).append(config.audit)
    return audits


def _designs(audits: Sequence[AuditEntry]) -> list[Finding]:
    """Every shortcut of a task over the rows of its configs; without those that the task is exempt from."""
    exempt = {check for audit in audits for check in audit.exempt}
    evidence = [msgspec.convert(audit.evidence, dict[str, Tally]) for audit in audits]
    return [design for design in designs(evidence) if design.check not in exempt]


def tally(advice: Iterable[str]) -> dict[str, int]:
    """How many configs have each advice, by its word: only those that occur, from the best to the worst."""
    counts = Counter(map(word_of, advice))
    return {word: counts[word] for word in WORDS if word in counts}
