"""The commands that build and measure: `run`, `annotate`, `audit`, `import`, `tasks`."""

from contextlib import AbstractContextManager, nullcontext

import typer

from discoprobe.cli import arguments as arg
from discoprobe.cli import audit_view, summaries, terminal
from discoprobe.cli.terminal import Cell
from discoprobe.loaders.errors import AuditFailedError, DiscoprobeError
from discoprobe.requests import corpus_name, parse_request, split_names

app = typer.Typer()


def workers_of(address: str) -> AbstractContextManager[None]:
    """A context in which work runs on the cluster at an address, or in local processes if the address is empty."""
    from discoprobe.loaders.process_pool import cluster  # noqa: PLC0415

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
    from discoprobe import pipeline  # noqa: PLC0415 (takes a second, for which --help and wrong names do not wait)
    from discoprobe.remote_folders import release_at  # noqa: PLC0415

    with release_at(out) as folder, workers_of(cluster), terminal.progress() as progress:
        result = pipeline.run(request, folder, progress)
    summaries.show_build(result, out, as_json=json_)
    if failed := result.failed:
        raise AuditFailedError(f"{len(failed)} of {len(result.built)} configs fail the audit: {', '.join(failed)}")


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
    from discoprobe.loaders.catalogue.treebanks import language_code  # noqa: PLC0415
    from discoprobe.loaders.corpus import Source  # noqa: PLC0415
    from discoprobe.loaders.raw.options import read_options  # noqa: PLC0415
    from discoprobe.loaders.raw.prepare import AnnotationOptions, prepare  # noqa: PLC0415
    from discoprobe.remote_folders import corpus_at  # noqa: PLC0415

    values = [f"text={text}", f"id={id_}", f"genre={genre}", f"sentences={sentences}", f"on_error={on_error}"]
    how = AnnotationOptions(
        segment=segment, stanza_dir=stanza_dir, processors=split_names([processors]), download=download,
        read=read_options([*values, *(set_ or [])]),
    )  # fmt: skip
    about = Source(corpus_name(name or source), language_code(lang), licence, citation=citation)
    with corpus_at(out) as folder, workers_of(cluster), terminal.progress() as progress:
        annotated = prepare(source, about, how, out=folder, jobs=jobs, progress=progress)
    summaries.show_annotated(annotated, out, as_json=json_)


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
    from discoprobe.auditing import design_rows, read_all, reading_of, reports, verdicts_of  # noqa: PLC0415
    from discoprobe.cards.review.audit_page import write_audit_page  # noqa: PLC0415
    from discoprobe.remote_folders import local  # noqa: PLC0415

    reading = reading_of(
        text=text, choices=choices, label=label, pair=pair, split=split, exclude=exclude, config=config,
        format_name=format_,
    )  # fmt: skip
    with terminal.progress() as progress:
        read = read_all(names or [], local(out), reading)
        audited = reports(read, jobs, progress)
    verdicts = verdicts_of(audited)
    audit_view.show_reports(audited, verdicts, read.skipped, as_json=json_)
    if html:
        write_audit_page(html, read, audited, verdicts)
    if not json_ and (designs := design_rows(audited)):
        audit_view.show_designs(designs)
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
    from discoprobe.auditing import reading_of, verdicts_of  # noqa: PLC0415
    from discoprobe.importing import About, import_data  # noqa: PLC0415
    from discoprobe.remote_folders import release_at  # noqa: PLC0415

    reading = reading_of(
        text=text, choices=choices, label=label, pair=pair, split=split, exclude=exclude, config=config,
        format_name=format_,
    )  # fmt: skip
    about = About(task_type, name, lang, licence, citation)
    with release_at(out) as folder, terminal.progress():
        done = import_data(source, reading, about, folder, drop_leaks=drop_leaks, keep_failed=keep_failed)
    audit_view.show_reports([done.report], verdicts_of([done.report]), done.skipped, as_json=json_)
    if not json_:
        audit_view.show_import(done, out)
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
    from discoprobe.pipeline import support  # noqa: PLC0415

    with terminal.progress() as progress:
        rows = support(request, progress)
    terminal.show(rows, ["lang", "task", "available", "rows", "candidates", "filled by", "reason"], as_json=json_)


def _task_rows() -> list[dict[str, Cell]]:
    from discoprobe.builders.task import all_tasks  # noqa: PLC0415

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
