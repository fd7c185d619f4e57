"""The commands that measure datasets and models: `audit`, `import`, `probe`; each prints its result."""

from __future__ import annotations

import itertools
import json
import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import typer

from discoprobe.cli import arguments as arg
from discoprobe.cli import terminal
from discoprobe.loaders.errors import AUDIT_FAILED, UNMEASURED, DiscoprobeError, OutcomeError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from discoprobe.builders.audit.frame import AuditInput
    from discoprobe.builders.audit.inputs.data_files import Skipped
    from discoprobe.builders.audit.report import Finding, Report
    from discoprobe.cli.terminal import Cell
    from discoprobe.evaluation.evaluate import Misfit
    from discoprobe.evaluation.scores import Evaluation
    from discoprobe.importing import Leaks

_LABELS = 12
"""Largest number of labels that a table lists; further ones are counted."""
_NAMED = 5
"""Largest number of rows that are named for a finding."""
_NAME = 24
"""Largest number of characters of a label or file name in the table of splits."""

app = typer.Typer()


@app.command("audit")
def audit_(  # noqa: PLR0913 (one parameter per option)
    names: arg.AuditNames = None, *, out: arg.Out = "dist/discoprobe", text: arg.TextColumns = None,
    choices: arg.ChoiceColumns = None, label: arg.LabelColumn = None, pair: arg.PairColumn = None,
    group: arg.GroupColumn = None, edited: arg.EditedLabels = None, task_type: arg.AuditedType = None,
    split: arg.SplitNames = None, exclude: arg.ExcludeLabels = None, config: arg.HubConfig = None,
    format_: arg.Format = None, encoding: arg.Encoding = "", expected: arg.Expected = None, html: arg.Html = None,
    rows: arg.RowsOf = "", jobs: arg.Jobs = 1, _plugins: arg.Plugins = None, json_: arg.Json = False,
) -> None:  # fmt: skip
    """Measure how well simple baselines solve a dataset, and check it for leaks.

    Exit status: 0 no fault, or minor ones only, 1 something could not be read, 3 a fault is serious or fatal, or there
    is a cue, 6 nothing could be measured.

    Example: build audit train.jsonl test.jsonl --text sentence --label gold
    """
    from discoprobe.auditing import audit_all, design_rows, read_all, reading_of
    from discoprobe.builders.audit.report import CUE, Grade, Status
    from discoprobe.remote_folders import local

    reading = reading_of(
        text=text, choices=choices, label=label, pair=pair, split=split, exclude=exclude, config=config,
        format_name=format_, encoding=encoding, group=group, edited=edited, task_type=task_type,
    )  # fmt: skip
    if rows:
        if html or json_:
            raise UsageError("--rows prints the rows of one check and makes no report: leave out --html and --json")
        _print_rows(read_all(names or [], local(out), reading)[0], rows)
        return
    with terminal.progress() as progress:
        read, audited = audit_all(names or [], local(out), reading, jobs, progress, expected=expected or ())
    skipped = read[1]
    if html:  # first, for whoever reads what is printed may end it (`head`)
        from discoprobe.cards.review.pages import write_audit_page

        write_audit_page(html, read, audited)
    show_reports(audited, skipped, as_json=json_)
    if not json_ and (designs := design_rows(audited)):
        sys.stdout.write("\nall languages of a task together\n")
        columns = ["task", "check", "configs", "rows", "accuracy", "threshold", "design"]
        terminal.show(designs, columns, width=terminal.NARROW)
    by_word: dict[str, list[str]] = {}
    for report in audited:
        word, grade = Grade.MINOR if report.verdict.is_minor else report.verdict.word, report.verdict.grade
        by_word.setdefault(word, []).append(f"{report.name}{f' ({grade})' if grade else ''}")
    if minor := by_word.get(Grade.MINOR):
        sys.stderr.write(f"minor faults only: {', '.join(name.removesuffix(' (minor)') for name in minor)}\n")
    failed, cues = by_word.get(Status.ABOVE, []), by_word.get(CUE, [])
    faults = [f"{len(failed)} of {len(audited)} fail the audit: {', '.join(failed)}"] if failed else []
    if cues:
        named = ", ".join(name.partition(" (")[0] for name in cues)
        faults.append(f"{len(cues)} of {len(audited)} have a cue (if it is the task, name it with --expected): {named}")
    if faults:
        raise OutcomeError("; ".join(faults), AUDIT_FAILED)
    if broken := [each.name for each in skipped if not each.unlabelled]:
        raise DiscoprobeError(f"not read: {'; '.join(broken)} (see above)")
    if unmeasured := by_word.get(Status.UNMEASURED):
        raise OutcomeError(f"nothing could be measured on {', '.join(unmeasured)}", UNMEASURED)


def _print_rows(datasets: Sequence[AuditInput], check: str) -> None:
    """Prints the rows of a finding as JSON lines, with the name of their data."""
    from discoprobe.builders.audit.run import rows_of

    for data in datasets:
        for row in rows_of(data, check).iter_rows(named=True):
            terminal.print_json({"data": data.name, **row}, indent=None)


@app.command("import")
def import_(  # noqa: PLR0913 (one parameter per option)
    source: arg.ImportSource, *, task_type: arg.ImportType, name: arg.ImportName, lang: arg.ImportLang,
    licence: arg.ImportLicence, citation: arg.Citation = "", drop_leaks: arg.DropLeaks = False,
    regroup: arg.Regroup = False, strict: arg.Strict = False, out: arg.Out = "dist/discoprobe",
    text: arg.TextColumns = None, choices: arg.ChoiceColumns = None, label: arg.LabelColumn = None,
    pair: arg.PairColumn = None, group: arg.GroupColumn = None, edited: arg.EditedLabels = None,
    split: arg.SplitNames = None,
    exclude: arg.ExcludeLabels = None, config: arg.HubConfig = None, format_: arg.Format = None,
    encoding: arg.Encoding = "", json_: arg.Json = False,
) -> None:  # fmt: skip
    """Add any labelled dataset to a release folder, as an audited config with a card.

    Rows, labels and splits stay as they are. What the audit finds in them is on the card, and is no error.

    Example: build import sick/ --task-type similarity --name sick --lang en --licence "CC BY-NC-SA 3.0"
    """
    from discoprobe.auditing import reading_of
    from discoprobe.importing import import_data
    from discoprobe.loaders.catalogue.treebanks import Source
    from discoprobe.remote_folders import release_at

    reading = reading_of(
        text=text, choices=choices, label=label, pair=pair, split=split, exclude=exclude, config=config,
        format_name=format_, encoding=encoding, group=group, edited=edited,
    )  # fmt: skip
    if drop_leaks and regroup:
        raise UsageError("--drop-leaks and --regroup are two ways to treat leaks: give one of them")
    described = Source(name, lang, licence, citation=citation)
    with release_at(out) as folder, terminal.progress():
        leaks: Leaks = "drop" if drop_leaks else "regroup" if regroup else "keep"
        report, remarks, skipped, written = import_data(
            source, reading, task_type, described, folder, leaks=leaks, strict=strict
        )
    if json_ or not terminal.is_quiet():
        show_reports([report], skipped, as_json=json_)
    if not (json_ or terminal.is_quiet()):
        for remark in remarks:
            terminal.print_wrapped(remark)
        if written:
            terminal.show_load_call(out, report.name, tuple(report.counts))
    if not written:
        message = f"{report.name} fails the audit and is left out; without --strict its card says why"
        raise OutcomeError(message, AUDIT_FAILED)


def show_reports(reports: Sequence[Report], skipped: Sequence[Skipped], *, as_json: bool = False) -> None:
    """Prints what was read and the verdict; for a single dataset also checks, baselines and rules.

    docs/audit.md has the schema of the JSON.
    """
    if as_json:
        data = [report.to_dict() for report in reports]
        terminal.print_json({"data": data, "skipped": [msgspec.to_builtins(each) for each in skipped]})
        return
    if len(reports) == 1:
        _show_read(reports[0])
        _show_report(reports[0])
    else:
        _show_summary(reports)
    if skipped:
        sys.stdout.write("\nnot read\n")
    for each in skipped:
        terminal.print_wrapped(f"  {each.name}: {each.reason}", indent="  ")
    sys.stdout.flush()


def _show_summary(reports: Sequence[Report]) -> None:
    """Prints a paragraph on what was read of each dataset that is no config, and a table of the verdicts."""
    for report in reports:
        if (read := report.read) is None or not report.external:
            continue
        columns = "; ".join(f"{role} {', '.join(names)}" for role, names in read.columns.items())
        labels = ", ".join(report.labels[:_LABELS]) + (" …" if len(report.labels) > _LABELS else "")
        rows = ", ".join(f"{split} {n:,}" for split, n in report.counts.items())
        left_out = ", ".join(f"{reason} {n:,}" for reason, n in read.left_out.items())
        parts = [read.format, read.row, columns, f"labels {labels}", rows, left_out and f"left out: {left_out}"]
        terminal.print_wrapped(f"{report.name}: {'; '.join(filter(None, parts))}")
        sys.stdout.write("\n")
    _show_lines(reports, f"{len(reports)} datasets")
    for report in reports if logging.getLogger().isEnabledFor(logging.INFO) else ():
        terminal.print_wrapped(f"{report.name}: {report.verdict.text}")


def _show_lines(reports: Sequence[Report], head: str) -> None:
    """Prints the table of some reports."""
    from discoprobe.cards.text.verdicts import line_of

    lines = [line_of(report.name, report.counts, report.verdict) for report in reports]
    terminal.show_lines({head: lines})


def _show_read(report: Report) -> None:
    """Prints what was read: format, columns, a table of splits with their files, rows and labels, what was left out."""
    read, splits = report.read, list(report.counts)
    table: list[dict[str, Cell]] = []
    terminal.print_wrapped(f"{report.name}: {read.format if read else 'config'}")
    if read:
        terminal.print_wrapped(f"  {'row:':<9} {read.row}")
        for role, columns in read.columns.items():
            terminal.print_wrapped(f"  {role + ':':<9} {', '.join(columns)}", indent=" " * 12)
        for reason, n in read.left_out.items():
            terminal.print_wrapped(f"  left out: {n:,} row{'s' * (n != 1)}: {reason}")
        for note in read.notes:
            terminal.print_wrapped(f"  note:     {note}", indent=" " * 12)
        if read.files:
            files: dict[str, Cell] = {"": "files"}
            for split in splits:
                names = read.files.get(split, ())
                more = f" +{len(names) - 1}" if len(names) > 1 else ""
                files[split] = _shorten_name(names[0]) + more if names else ""
            table.append(files)
    table.append({"": "rows", **{split: f"{n:,}" for split, n in report.counts.items()}})
    table += [
        {"": f"  {_shorten_name(label)}", **{split: f"{report.classes[split][label]:,}" for split in splits}}
        for label in report.labels[:_LABELS]
    ]
    if len(report.labels) > _LABELS:
        table.append({"": f"  {len(report.labels) - _LABELS:,} more labels"})
    terminal.show(table, ["", *splits], width=terminal.NARROW)


def _show_report(report: Report) -> None:
    """Prints the table, the verdict, and the checks that need a remark; with ``--verbose`` all checks and rules."""
    sys.stdout.write("\n")
    _show_lines([report], "")
    sys.stdout.write("\n")
    terminal.print_wrapped(report.verdict.text)
    if report.trained_on.startswith("the other") and report.measured_on:
        terminal.print_wrapped(f"solvers are cross-validated on {report.measured_on}")
    elif report.measured_on:
        terminal.print_wrapped(f"solvers are trained on {report.trained_on} and measured on {report.measured_on}")
    for note in report.notes:
        terminal.print_wrapped(f"note: {note}")
    if not logging.getLogger().isEnabledFor(logging.INFO):
        _show_findings(report.findings, table=False)
        terminal.print_wrapped("(build -v audit …: all checks and rules)")
        return
    sys.stdout.write("\n")
    baselines = [
        {"baseline": each.name, "accuracy": _interval(each.accuracy, each.interval)} for each in report.baselines
    ]
    terminal.show(baselines, ["baseline", "accuracy"], width=terminal.NARROW)
    sys.stdout.write("\n")
    _show_findings(report.findings)
    for outcome, checks in report.without_value.items():
        terminal.print_wrapped(f"{outcome}: {', '.join(checks)}")
    if report.heuristics and report.heuristics.rules:
        sys.stdout.write("\nrules found in the training rows that hold on held-out rows\n")
        rules: list[dict[str, Cell]] = []
        for rule in report.heuristics.rules:
            correct = None if rule.correct is None else _interval(rule.correct, rule.interval)
            condition = f"{rule.family}: {rule.condition}"
            label, coverage = _shorten_name(rule.label), f"{rule.coverage:.3f}"
            rules.append({"rule": condition, "label": label, "coverage": coverage, "correct": correct})
        terminal.show(rules, ["rule", "label", "coverage", "correct"], width=terminal.NARROW)


LEGEND = (
    "above: the whole 95 % interval (or the value, if it has none) is above the threshold; below: the value is, "
    "and a gain of .10 is ruled out; open: neither; noted: reported, and never a fault here"
)


def _show_findings(findings: Sequence[Finding], *, table: bool = True) -> None:
    """Prints a table of the checks that have a value, and details of those above, exempt, or noted with a detail."""
    rows: list[dict[str, Cell]] = []
    details = []
    for finding in findings:
        if (figure := finding.figure) is None:
            continue
        value = _interval(figure.value, figure.interval) if figure.interval else f"{figure.value:g}"
        if figure.measure not in {"accuracy", "rows"} and finding.kind == "shortcut":
            value = f"{figure.measure} {value}"
        grade = f", {finding.grade}" if finding.status == "above" else ""
        row: dict[str, Cell] = {"check": finding.check, "outcome": f"{finding.status}{grade}", "measured": value}
        rows.append(row | {"threshold": None if figure.threshold is None else f"{figure.threshold:.3g}"})
        if finding.status in {"above", "exempt"} or (finding.status in {"noted", "not measured"} and finding.detail):
            text = "; ".join(filter(None, (finding.reason, finding.detail))) or str(finding.status)
            twins = [f" with {twin}" for twin in finding.twins] or [""] * len(finding.rows)
            named = [f"{row}{twin}" for row, twin in zip(finding.rows, twins, strict=True)][:_NAMED]
            ids = f" (rows {', '.join(named)})" if named and finding.status != "noted" else ""
            details.append(f"{finding.check}: {text}{ids}")
    if table:
        terminal.show(rows, ["check", "outcome", "measured", "threshold"], width=terminal.NARROW)
        terminal.print_wrapped(LEGEND)
    if details:
        sys.stdout.write("\n")
    for detail in details:
        terminal.print_wrapped(detail)


def _shorten_name(text: str) -> str:
    return text if len(text) <= _NAME else f"{text[: _NAME - 1]}…"


def _interval(value: float, interval: Sequence[float]) -> str:
    return f"{value:.3f} [{interval[0]:.3f}, {interval[1]:.3f}]"


_PROBE_COLUMNS = {
    "accuracy": 20, "best": 26, "F1": 5, "select.": 7, "compr.": 6, "majority": 8, "shortcut": 24, "train": 6,
    "test": 6, "ties": 5, "cut": 5,
}  # fmt: skip
"""Columns of `build probe` and their widths in characters; rows are printed before the widest one is known."""


@app.command()
def probe(  # noqa: PLR0913 (one parameter per option)
    names: arg.AuditNames = None, *, model: arg.ModelNames = None, harness: arg.HarnessResults = None,
    out: arg.Out = "dist/discoprobe", lang: arg.ProbeLang = None, task: arg.ProbeTask = None,
    surprisal: arg.Surprisal = False,
    controls: arg.ControlFigures = True, train_rows: arg.TrainRows = 10_000, jobs: arg.Jobs = 1,
    device: arg.Device = "auto", dtype: arg.Precision = "float32", batch_size: arg.BatchSize = 64,
    layers: arg.Layers = None, transfer: arg.Transfer = None, quick: arg.Quick = False,
    trust_remote_code: arg.TrustRemoteCode = False,
    analyse_layers: arg.AnalyseLayers = False, vector_cache: arg.VectorCache = 10, save: arg.SaveFolder = None,
    repo: arg.Repo = "org/discoprobe", create_pr: arg.ResultsPr = False, json_: arg.Json = False,
) -> None:  # fmt: skip
    """Score language models on configs, beside the majority baseline and the best cheap trick.

    Trains probes on the frozen hidden states of every layer; the layer is chosen on validation. Suites are scored by
    surprisal. Each config is printed when it is done. Run the same command again to go on after an interruption.
    With --results, scores of prompted models are read from what lm-evaluation-harness wrote.

    Example: build probe --out dist/discoprobe --model google-bert/bert-base-multilingual-cased --model ./my_gpt
    """
    from discoprobe.evaluation.comparison import write_comparison
    from discoprobe.evaluation.evaluate import evaluations, evaluations_of_harness
    from discoprobe.evaluation.scores import Evaluation, full_name, short_names
    from discoprobe.remote_folders import local
    from discoprobe.request import language_codes, split_names

    release = local(out)
    folder = save or release.with_name(f"{release.name}-scores")
    if not (model or harness):
        raise UsageError("name what is scored: --model for a model, --results for results of lm-evaluation-harness")
    of_harness = list(evaluations_of_harness(harness, release, folder)) if harness else []
    scored_there = [each.model for each in of_harness if isinstance(each, Evaluation)]
    names_of_models = short_names([*map(full_name, model or ()), *scored_there])
    results: list[Evaluation] = []
    misfits: list[Misfit] = []
    with terminal.progress() as progress:
        of_models = evaluations(
            names or [], release, model or [], progress, langs=language_codes(split_names(lang)),
            tasks=split_names(task), by_surprisal=surprisal, train_rows=train_rows, controls=controls, device=device,
            dtype=dtype, batch_size=batch_size, layers=_numbers(layers), jobs=jobs,
            trust_remote_code=trust_remote_code, transfer=language_codes(split_names(transfer)), quick=quick,
            save=folder, cache=int(vector_cache * 10**9), analyse_layers=analyse_layers,
        )  # fmt: skip
        for result in itertools.chain(of_harness, of_models if model else ()):
            if not isinstance(result, Evaluation):
                misfits.append(result)
                continue
            if not json_:
                lines = (
                    []
                    if results
                    else [_probe_line(dict(zip(_PROBE_COLUMNS, _PROBE_COLUMNS, strict=True)), "config", "model")]
                )
                lines.append(_probe_line(_probe_cells(result), result.config, names_of_models[result.model]))
                lines += [
                    f"  {each.condition:<42} {_interval(each.accuracy, each.interval)} of {each.n}"
                    for each in (*result.conditions, *result.transfer)
                ]
                progress.print_above("".join(f"{line.rstrip()}\n" for line in lines))
            results.append(result)
    page = write_comparison(folder, repo)
    if create_pr:
        for line in _propose_results(folder, sorted({each.model for each in results}), repo):
            typer.echo(line, err=json_)
    if json_:
        skipped = ",\n".join(
            json.dumps({"config": config, "model": of_model, "reason": reason}, ensure_ascii=False)
            for config, of_model, reason in misfits
        )
        scores = ",\n".join(each.to_json().rstrip() for each in results)
        typer.echo(f'{{"scores": [{scores}],\n"skipped": [{skipped}]}}')
    else:
        by_reason: dict[tuple[str, str], list[str]] = {}
        for config, of_model, reason in misfits:
            by_reason.setdefault((of_model, reason), []).append(config)
        sys.stdout.write("\nnot scored\n" if misfits else "")
        for (of_model, reason), configs in by_reason.items():
            terminal.print_wrapped(
                f"  {': '.join(filter(None, (names_of_models.get(of_model, of_model), ', '.join(configs))))}: {reason}"
            )
        if results:
            sys.stdout.write(f"\nscores: {page}\n")
    if not results:
        raise DiscoprobeError("no config could be scored" + ("" if json_ else " (see above)"))


def _numbers(layers: Sequence[str] | None) -> list[int]:
    """The numbers of layers in texts like ``0,6,12``."""
    from discoprobe.request import split_names

    names = split_names(layers)
    for name in names:
        if not name.isdecimal():
            raise UsageError(f"--layers {name}: give numbers of layers, such as 0,6,12 (0 is that of the embeddings)")
    return [int(name) for name in names]


def _propose_results(folder: Path, models: Sequence[str], repo: str) -> Iterator[str]:
    """Proposes the scores of each model that is on the Hub to its repository; a line of text for each."""
    from discoprobe.cards.hub.client import Hub
    from discoprobe.cards.hub.push import propose_file
    from discoprobe.cards.metadata.benchmark import results_file
    from discoprobe.evaluation.scores import path_of

    for model in models:
        path = folder / path_of(folder, "", model).stem / results_file(repo)
        if Path(model).exists() or not path.is_file():
            reason = "a folder of this machine" if Path(model).exists() else "no probe was scored"
            yield f"{model}: nothing to propose ({reason})"
            continue
        hub = Hub(model, pull_request=True, kind="model")
        url = propose_file(hub, results_file(repo), path.read_bytes(), f"Add scores on {repo}")
        yield f"{model}: {url or 'these scores are there, or proposed, already'}"


def _probe_line(cells: dict[str, str], config: str, model: str) -> str:
    """A line of the table: the name of the config and the model, then cells in columns."""
    return f"{config:<24} {model:<20} " + " ".join(f"{cells[name]:<{width}}" for name, width in _PROBE_COLUMNS.items())


def _probe_cells(evaluation: Evaluation) -> dict[str, str]:
    """What is printed of an evaluation, by column."""
    from discoprobe.evaluation.scores import Selectivity

    best, controls, shortcut = evaluation.best, evaluation.controls, evaluation.shortcut_accuracy
    selectivity = controls.selectivity if controls else ""
    return {
        "accuracy": _interval(best.accuracy, best.interval),
        "best": best.where,
        "F1": "" if best.macro_f1 is None else f"{best.macro_f1:.3f}",
        "select.": f"{selectivity.value:+.3f}" if isinstance(selectivity, Selectivity) else "",
        "compr.": f"{controls.code_length.compression:.2f}" if controls and controls.code_length.is_known else "",
        "majority": f"{evaluation.majority:.3f}",
        "shortcut": "" if shortcut is None else f"{shortcut:.3f} ({evaluation.shortcut})",
        "train": str(evaluation.train_rows or ""),
        "test": str(best.n),
        "ties": str(best.ties or ""),
        "cut": str(evaluation.truncated or ""),
    }
