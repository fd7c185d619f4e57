"""The commands that build and measure: `run`, `why`, `annotate`, `audit`, `import`, `tasks`.

Prints the results of `build audit` and `build import`: what was read, the verdict, checks, and what was skipped.
"""

from __future__ import annotations

import sys
import textwrap
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

import typer

from discoprobe.cli import arguments as arg
from discoprobe.cli import terminal
from discoprobe.cli.terminal import Cell, print_json, remark, show, show_load_call
from discoprobe.loaders.errors import AuditFailedError, DiscoprobeError, UsageError
from discoprobe.request import corpus_name, parse_request, split_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from discoprobe.auditing import Imported
    from discoprobe.builders.audit.inputs import Skipped
    from discoprobe.builders.audit.report import Finding, Report, Rule
    from discoprobe.builders.why import Explanation
    from discoprobe.cards.text.verdicts import Verdict


SEED = 13
"""The seed of the published release."""
NARROW = 80
"""Width of the output in characters, also in a file or a pipe."""
_LABELS = 12
"""Largest number of labels that a table lists; further ones are counted."""
_NAMED = 5
"""Largest number of rows that are named for a finding."""
_NAME = 24
"""Largest number of characters of a label or file name in the table of splits."""


def show_reports(
    reports: Sequence[Report], verdicts: Sequence[Verdict], skipped: Sequence[Skipped], *, as_json: bool = False
) -> None:
    """Prints what was read and the verdict; for a single dataset also checks, baselines and rules."""
    if as_json:
        print_json(as_dict(reports, verdicts, skipped))
        return
    if len(reports) == 1:
        _show_report(reports[0], verdicts[0])
    else:
        for report in reports:
            _write(_short(report))
        sys.stdout.write("\n")
        rows = [_report_row(report, verdict) for report, verdict in zip(reports, verdicts, strict=True)]
        show(rows, ["data", "rows", "strongest shortcut", "audit", "remark"], width=NARROW)
    show_skipped(skipped)
    sys.stdout.flush()


def as_dict(reports: Sequence[Report], verdicts: Sequence[Verdict], skipped: Sequence[Skipped]) -> dict[str, object]:
    """The reports as a JSON object (docs/audit.md has the schema)."""
    return {
        "data": [
            report.to_dict() | {"verdict": one.word, "verdict_checks": list(one.checks), "of_design": one.of_design}
            for report, one in zip(reports, verdicts, strict=True)
        ],
        "skipped": [one._asdict() for one in skipped],
    }


def show_designs(rows: Sequence[Mapping[str, Cell]]) -> None:
    """Prints the accuracy of shortcuts over the rows of all configs of a task."""
    sys.stdout.write("\nall languages of a task together\n")
    show(rows, ["task", "check", "configs", "rows", "accuracy", "threshold", "design"], width=NARROW)


def show_import(done: Imported, out: str) -> None:
    """Prints the number of rows left out for each kind of leak, and the call that loads the config."""
    for check, n in done.leaks.items():
        _write(f"left out for {check}: {n:,} rows")
    if done.written:
        show_load_call(out, done.report.name, tuple(done.report.counts))


def show_skipped(skipped: Sequence[Skipped]) -> None:
    """Prints what was not read, and why."""
    if skipped:
        sys.stdout.write("\nnot read\n")
    for one in skipped:
        _write(f"  {one.name}: {one.reason}", indent="  ")


def show_read(report: Report) -> None:
    """Prints what was read: format, columns, a table of splits with their files, rows and labels, what was left out."""
    read = report.read
    _write(f"{report.name}: {read.format if read else 'config'}")
    for role, columns in (read.columns if read else {}).items():
        _write(f"  {role + ':':<9} {', '.join(columns)}", indent=" " * 12)
    for reason, n in (read.left_out if read else {}).items():
        _write(f"  left out: {n:,} row{'s' * (n != 1)}: {reason}")
    for note in read.notes if read else ():
        _write(f"  note:     {note}", indent=" " * 12)
    splits = list(report.counts)
    rows: list[dict[str, Cell]] = []
    if read and read.files:
        rows.append({"": "files", **{split: _files(read.files.get(split, ())) for split in splits}})
    rows.append({"": "rows", **{split: f"{n:,}" for split, n in report.counts.items()}})
    rows += [
        {"": f"  {_cut(label)}", **{split: f"{report.classes[split][label]:,}" for split in splits}}
        for label in report.labels[:_LABELS]
    ]
    if (more := len(report.labels) - _LABELS) > 0:
        rows.append({"": f"  {more:,} more labels"})
    show(rows, ["", *splits], width=NARROW)


def _files(names: Sequence[str]) -> str:
    return _cut(names[0]) + (f" +{len(names) - 1}" if len(names) > 1 else "") if names else ""


def _cut(text: str) -> str:
    return text if len(text) <= _NAME else f"{text[: _NAME - 1]}…"


def _short(report: Report) -> str:
    read = report.read
    columns = "; ".join(f"{role} {', '.join(names)}" for role, names in (read.columns if read else {}).items())
    rows = ", ".join(f"{split} {n:,}" for split, n in report.counts.items())
    labels = ", ".join(report.labels[:_LABELS]) + (" …" if len(report.labels) > _LABELS else "")
    left = ", ".join(f"{reason} {n:,}" for reason, n in (read.left_out if read else {}).items())
    parts = [read.format if read else "config", columns, f"labels {labels}", rows, f"left out: {left}" if left else ""]
    return f"{report.name}: {'; '.join(part for part in parts if part)}"


def _write(text: str, indent: str = "    ") -> None:
    """Prints text in lines of at most ``NARROW`` columns, all but the first indented."""
    sys.stdout.write(textwrap.fill(text, NARROW, subsequent_indent=indent, break_on_hyphens=False) + "\n")


def _report_row(report: Report, verdict: Verdict) -> dict[str, Cell]:
    best = report.strongest
    return {
        "data": report.name,
        "rows": f"{sum(report.counts.values()):,}",
        "strongest shortcut": f"{best.check} {best.accuracy:.3f} ({best.gain:+.3f})" if best else None,
        "audit": verdict.word,
        "remark": remark(verdict),
    }


def _show_report(report: Report, verdict: Verdict) -> None:
    show_read(report)
    sys.stdout.write("\n")
    _write(verdict.text)
    if report.measured_on:
        crossed = f"solvers are cross-validated on {report.measured_on}"
        single = f"solvers are trained on {report.trained_on} and measured on {report.measured_on}"
        _write(crossed if report.trained_on.startswith("the other") else single)
    for note in report.notes:
        _write(f"note: {note}")
    sys.stdout.write("\n")
    show(
        [{"baseline": one.name, "accuracy": _interval(one.accuracy, one.interval)} for one in report.baselines],
        ["baseline", "accuracy"], width=NARROW,
    )  # fmt: skip
    sys.stdout.write("\n")
    show(
        [_finding_row(finding) for finding in report.findings],
        ["check", "status", "measured", "threshold"],
        width=NARROW,
    )
    _show_details(report.findings)
    if report.heuristics and report.heuristics.rules:
        sys.stdout.write("\nrules found in the training rows, applied to held-out rows\n")
        show(
            [_rule_row(rule) for rule in report.heuristics.rules],
            ["rule", "label", "coverage", "correct"],
            width=NARROW,
        )


def _show_details(findings: Iterable[Finding]) -> None:
    """Prints details and rows of the findings that are failed, exempt, or noted with a detail."""
    told = [one for one in findings if one.status in {"failed", "exempt"} or (one.status == "noted" and one.detail)]
    if told:
        sys.stdout.write("\n")
    for finding in told:
        text = "; ".join(part for part in (finding.reason, finding.detail) if part) or str(finding.status)
        rows = f" (rows {', '.join(finding.rows[:_NAMED])})" if finding.rows and finding.status != "noted" else ""
        _write(f"{finding.check}: {text}{rows}")


def _interval(value: float, interval: Sequence[float]) -> str:
    return f"{value:.3f} [{interval[0]:.3f}, {interval[1]:.3f}]"


def _finding_row(finding: Finding) -> dict[str, Cell]:
    value = finding.measured
    shown = None if value is None else _interval(value, finding.interval) if finding.interval else f"{value:g}"
    return {
        "check": finding.check,
        "status": str(finding.status),
        "measured": shown,
        "threshold": None if finding.threshold is None else f"{finding.threshold:.3g}",
    }


def _rule_row(rule: Rule) -> dict[str, Cell]:
    correct = None if rule.correct is None else _interval(rule.correct, rule.interval)
    return {
        "rule": f"{rule.family}: {rule.condition}",
        "label": _cut(rule.label),
        "coverage": f"{rule.coverage:.3f}",
        "correct": correct,
    }


app = typer.Typer()


def workers_of(address: str) -> AbstractContextManager[None]:
    """A context in which work runs on the cluster at an address, or in local processes if the address is empty."""
    from discoprobe.loaders.process_pool import cluster

    return cluster(address) if address else nullcontext()


@app.command()
def run(  # noqa: PLR0913 (one parameter per option)
    *, lang: arg.Lang = None, task: arg.TaskOption = None, corpus: arg.CorpusOption = None,
    out: arg.Out = "dist/discoprobe", size: arg.Size = None, documents: arg.Documents = None,
    preset: arg.Preset = "default", min_rows: arg.MinRows = None, seed: arg.Seed = 13, jobs: arg.Jobs = 1,
    cluster: arg.Cluster = "", on_error: arg.OnErrorOption = "stop", match: arg.Match = True, set_: arg.Set = None,
    exclude: arg.Exclude = None, audit: arg.Audit = True, keep_failed: arg.KeepFailed = False,
    segment: arg.Segment = False, fill: arg.Fill = None, gold: arg.Gold = False, stanza_dir: arg.StanzaDir = None,
    json_: arg.Json = False,
) -> None:  # fmt: skip
    """Build datasets into a release folder that `load_dataset` reads.

    Example: build run --lang es --corpus sample
    """
    request = parse_request(
        lang, task, corpus, size=size, seed=seed, jobs=jobs, on_error=on_error, match=match, values=set_,
        segment=segment, stanza_dir=stanza_dir, preset=preset, min_rows=min_rows, documents=documents, fill=fill,
        gold=gold, audit=audit, keep_failed=keep_failed, exclude=exclude,
    )  # fmt: skip
    from discoprobe import pipeline
    from discoprobe.remote_folders import release_at

    with release_at(out) as folder, workers_of(cluster), terminal.progress() as progress:
        result = pipeline.run(request, folder, progress)
    terminal.show_build(result, out, as_json=json_)
    if failed := result.failed:
        raise AuditFailedError(f"{len(failed)} of {len(result.built)} configs fail the audit: {', '.join(failed)}")


@app.command()
def why(  # noqa: PLR0913 (one parameter per option)
    config: arg.WhyConfig, sentence: arg.WhySentence, *, out: arg.WhyOut = "dist/discoprobe",
    corpus: arg.CorpusOption = None, size: arg.Size = None, documents: arg.Documents = None,
    preset: arg.Preset = "default", min_rows: arg.MinRows = None, seed: arg.Seed = 13, jobs: arg.Jobs = 1,
    on_error: arg.OnErrorOption = "stop", match: arg.Match = True, set_: arg.Set = None, exclude: arg.Exclude = None,
    segment: arg.Segment = False, fill: arg.Fill = None, gold: arg.Gold = False, stanza_dir: arg.StanzaDir = None,
    json_: arg.Json = False,
) -> None:  # fmt: skip
    """Say why a sentence is in a config, or by which step, reason and rule it was lost.

    The config is built again for this, from the sources and settings of a release, or from those of the options.

    Example: build why dc_es es-news-04-2 --corpus sample
    """
    from discoprobe import pipeline
    from discoprobe.cards.metadata import manifest
    from discoprobe.remote_folders import local

    release = manifest.read(local(out))
    if config in release["configs"]:
        if size or documents or min_rows or set_ or exclude or fill or gold or segment or not match or seed != SEED:
            raise UsageError(
                f"{config} is in {out}, whose manifest has its settings; give --out a new folder to set others"
            )
        request = next(pipeline.requests_of(release, [config], tuple(corpus or ()), jobs, stanza_dir))
    else:
        task, _, lang = config.rpartition("_")
        request = parse_request(
            [lang], [task], corpus, size=size, seed=seed, jobs=jobs, on_error=on_error, match=match, values=set_,
            segment=segment, stanza_dir=stanza_dir, preset=preset, min_rows=min_rows, documents=documents, fill=fill,
            gold=gold, exclude=exclude,
        )  # fmt: skip
    with terminal.progress() as progress:
        explanations = pipeline.why(request, config, sentence, progress)
    if json_:
        print_json([explanation.to_dict() for explanation in explanations])
        return
    for explanation in explanations:
        show_explanation(explanation)


def show_explanation(explanation: Explanation) -> None:
    """Prints what became of a sentence, a line per fact."""
    facts = [
        ("config", explanation.config),
        ("sentence", f"{explanation.sent_id} of {explanation.corpus}"),
        ("text", explanation.text),
        ("outcome", explanation.outcome),
    ]
    facts += [
        ("row", f"{row['id']} of {row['split']}, label {row['label']}; the sentence is {row['role']}")
        for row in explanation.rows
    ]
    facts += [fact for loss in explanation.losses for fact in loss.items()]
    for name, fact in [*facts, ("note", explanation.note)]:
        if fact:
            _write(f"{name + ':':<10}{fact}", indent=" " * 10)


@app.command("annotate")
def annotate_(  # noqa: PLR0913 (one parameter per option)
    source: arg.SourceArgument, *, lang: arg.RawLang, out: arg.CorpusFolder, stanza_dir: arg.StanzaDir = None,
    processors: arg.Processors = "tokenize,pos,lemma,depparse", segment: arg.Segment = False,
    download: arg.Download = False, name: arg.CorpusName = "", licence: arg.Licence = "unknown",
    citation: arg.Citation = "", text: arg.TextColumn = "", id_: arg.IdColumn = "", genre: arg.GenreColumn = "",
    sentences: arg.SentencesColumn = "", set_: arg.ReadSet = None, on_error: arg.OnErrorOption = "stop",
    jobs: arg.Jobs = 1, cluster: arg.Cluster = "", json_: arg.Json = False,
) -> None:  # fmt: skip
    """Annotate raw text with Stanza and write a folder of CoNLL-U for `run --corpus`.

    If an annotation was interrupted, the same command continues it.

    Example: build annotate notes/ --lang de --out corpora/notes
    """
    from discoprobe.loaders.catalogue.treebanks import language_code
    from discoprobe.loaders.corpus import Source
    from discoprobe.loaders.raw.document import read_options
    from discoprobe.loaders.raw.prepare import (
        AnnotationOptions,
        prepare,
    )
    from discoprobe.remote_folders import corpus_at

    values = [f"text={text}", f"id={id_}", f"genre={genre}", f"sentences={sentences}", f"on_error={on_error}"]
    how = AnnotationOptions(
        segment=segment, stanza_dir=stanza_dir, processors=split_names([processors]), download=download,
        read=read_options([*values, *(set_ or [])]),
    )  # fmt: skip
    about = Source(corpus_name(name or source), language_code(lang), licence, citation=citation)
    with corpus_at(out) as folder, workers_of(cluster), terminal.progress() as progress:
        annotated = prepare(source, about, how, out=folder, jobs=jobs, progress=progress)
    terminal.show_annotated(annotated, out, as_json=json_)


@app.command("audit")
def audit_(  # noqa: PLR0913 (one parameter per option)
    names: arg.AuditNames = None, *, out: arg.Out = "dist/discoprobe", text: arg.TextColumns = None,
    choices: arg.ChoiceColumns = None, label: arg.LabelColumn = None, pair: arg.PairColumn = None,
    split: arg.SplitNames = None, exclude: arg.ExcludeLabels = None, config: arg.HubConfig = None,
    format_: arg.Format = None, html: arg.Html = None, jobs: arg.Jobs = 1, json_: arg.Json = False,
) -> None:  # fmt: skip
    """Measure how well simple baselines solve a dataset, and check it for leaks.

    Exit status: 0 all passed, 1 something could not be read, 3 a check failed.

    Example: build audit train.jsonl test.jsonl --text sentence --label gold
    """
    from discoprobe.auditing import (
        design_rows,
        read_all,
        reading_of,
        reports,
        verdicts_of,
    )
    from discoprobe.cards.review.pages import write_audit_page
    from discoprobe.remote_folders import local

    reading = reading_of(
        text=text, choices=choices, label=label, pair=pair, split=split, exclude=exclude, config=config,
        format_name=format_,
    )  # fmt: skip
    with terminal.progress() as progress:
        read = read_all(names or [], local(out), reading)
        audited = reports(read, jobs, progress)
    verdicts = verdicts_of(audited)
    show_reports(audited, verdicts, read.skipped, as_json=json_)
    if html:
        write_audit_page(html, read, audited, verdicts)
    if not json_ and (designs := design_rows(audited)):
        show_designs(designs)
    if failed := [report.name for report, one in zip(audited, verdicts, strict=True) if one.word == "failed"]:
        raise AuditFailedError(f"{len(failed)} of {len(audited)} fail the audit: {', '.join(failed)}")
    if broken := [one for one in read.skipped if not one.unlabelled]:
        raise DiscoprobeError(f"not read: {'; '.join(one.name for one in broken)} (see above)")


@app.command("import")
def import_(  # noqa: PLR0913 (one parameter per option)
    source: arg.ImportSource, *, task_type: arg.ImportType, name: arg.ImportName, lang: arg.ImportLang,
    licence: arg.ImportLicence, citation: arg.Citation = "", drop_leaks: arg.DropLeaks = False,
    out: arg.Out = "dist/discoprobe", text: arg.TextColumns = None, choices: arg.ChoiceColumns = None,
    label: arg.LabelColumn = None, pair: arg.PairColumn = None, split: arg.SplitNames = None,
    exclude: arg.ExcludeLabels = None, config: arg.HubConfig = None, format_: arg.Format = None,
    keep_failed: arg.KeepFailed = False, json_: arg.Json = False,
) -> None:  # fmt: skip
    """Add any labelled dataset to a release folder, as an audited config with a card.

    Rows, labels and splits stay as they are; leaks between splits are reported. Exit status 3 if the audit fails.

    Example: build import sick/ --task-type similarity --name sick --lang en --licence "CC BY-NC-SA 3.0"
    """
    from discoprobe.auditing import (
        About,
        import_data,
        reading_of,
        verdicts_of,
    )
    from discoprobe.remote_folders import release_at

    reading = reading_of(
        text=text, choices=choices, label=label, pair=pair, split=split, exclude=exclude, config=config,
        format_name=format_,
    )  # fmt: skip
    about = About(task_type, name, lang, licence, citation)
    with release_at(out) as folder, terminal.progress():
        done = import_data(source, reading, about, folder, drop_leaks=drop_leaks, keep_failed=keep_failed)
    show_reports([done.report], verdicts_of([done.report]), done.skipped, as_json=json_)
    if not json_:
        show_import(done, out)
    if done.report.failed:
        where = "kept" if keep_failed else "left out; use --drop-leaks or --keep-failed"
        raise AuditFailedError(f"{done.report.name} fails the audit ({where})")


@app.command()
def tasks(  # noqa: PLR0913 (one parameter per option)
    *, lang: arg.Lang = None, corpus: arg.CorpusOption = None, segment: arg.Segment = False,
    stanza_dir: arg.StanzaDir = None, jobs: arg.Jobs = 1, json_: arg.Json = False,
) -> None:  # fmt: skip
    """List the tasks. With --lang, show which of them the corpora of a language support, and why not the others."""
    if not lang and not corpus:
        terminal.show(_task_rows(), ["task", "family", "labels", "what"], as_json=json_)
        return
    request = parse_request(lang, None, corpus, jobs=jobs, segment=segment, stanza_dir=stanza_dir)
    from discoprobe.pipeline import support

    with terminal.progress() as progress:
        rows = support(request, progress)
    terminal.show(rows, ["lang", "task", "available", "rows", "candidates", "filled by", "reason"], as_json=json_)


def _task_rows() -> list[dict[str, Cell]]:
    from discoprobe.builders.task import all_tasks

    rows: list[dict[str, Cell]] = [
        {
            "task": task.name,
            "family": task.family,
            "labels": len(task.labels),
            "what": task.definition.partition("\n")[0],
        }
        for task in all_tasks().values()
    ]
    what = "Any feature of a word in any role of the clause: `--task feats`, or one of them, `feats_nsubj_case`."
    return [*rows, {"task": "feats", "family": "generated", "labels": 0, "what": what}]
