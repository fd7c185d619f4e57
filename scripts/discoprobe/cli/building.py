"""The commands that make datasets and corpora, and list what they are made of; each prints its result.

`run`, `why`, `annotate`, `tasks`, `languages`, `corpora list`, `fetch` and `check`; for plugins `new task`, `language`
and `corpus`, and `check`.
"""

from __future__ import annotations

import logging
import sys
from collections import Counter
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import typer

from discoprobe.cli import arguments as arg
from discoprobe.cli import terminal
from discoprobe.loaders.errors import AUDIT_FAILED, NOTHING_BUILT, DiscoprobeError, OutcomeError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discoprobe.builders.why import Explanation
    from discoprobe.cards.text.verdicts import DatasetLine
    from discoprobe.cli.terminal import Cell
    from discoprobe.loaders.catalogue.treebanks import PinnedCorpus
    from discoprobe.loaders.raw.prepare import AnnotatedCorpus
    from discoprobe.pipeline import BuildResult
    from discoprobe.plan import Plan

SEED = 13
"""The seed of the published release."""

FEW_REASONS = 5
"""So many configs that are not built, and fewer, are named with their reasons; of more, reasons are counted."""

app = typer.Typer()


def _workers(address: str) -> AbstractContextManager[None]:
    """A context in which work runs on the cluster at an address, or in local processes if the address is empty."""
    from discoprobe.loaders.process_pool import cluster

    return cluster(address) if address else nullcontext()


@app.command(cls=arg.OptionsOnly)
def run(  # noqa: PLR0913 (one parameter per option)
    *, lang: arg.Lang = None, task: arg.TaskOption = None, corpus: arg.CorpusOption = None,
    out: arg.Out = "dist/discoprobe", dry_run: arg.DryBuild = False, fill: arg.Fill = None, gold: arg.Gold = False,
    silver: arg.Silver = False, segment: arg.Segment = False, parser: arg.Parser = None,
    stanza_dir: arg.StanzaDir = None, licences: arg.Licences = "open", on_error: arg.OnErrorOption = "stop",
    _plugins: arg.Plugins = None, size: arg.Size = None, min_rows: arg.MinRows = None,
    documents: arg.Documents = None, seed: arg.Seed = 13, preset: arg.Preset = "default", match: arg.Match = True,
    set_: arg.Set = None, exclude: arg.Exclude = None, audit: arg.Audit = True, keep_failed: arg.KeepFailed = False,
    jobs: arg.Jobs = 1, cluster: arg.Cluster = "", json_: arg.Json = False,
) -> None:  # fmt: skip
    """Build datasets into a release folder that `load_dataset` reads.

    Example: build run --lang es --corpus sample
    """
    from discoprobe.request import parse_request

    request = parse_request(
        lang, task, corpus, size=size, seed=seed, jobs=jobs, on_error=on_error, match=match, values=set_,
        segment=segment, stanza_dir=stanza_dir, preset=preset, min_rows=min_rows, documents=documents, fill=fill,
        gold=gold, silver=silver, parser=parser, licences=licences, audit=audit, keep_failed=keep_failed,
        exclude=exclude,
    )  # fmt: skip
    from discoprobe.plan import plan

    made = plan(request)
    if dry_run:
        show_dry_run(made, as_json=json_)
        return
    if not terminal.is_quiet():
        sys.stderr.write(_effort(made))
    from discoprobe import pipeline
    from discoprobe.remote_folders import release_at

    with release_at(out) as folder, _workers(cluster), terminal.progress() as progress:
        result = pipeline.run(made, folder, progress)
        is_there = folder.exists()
    show_build(result, out, as_json=json_)
    if result.broken:
        faults = "; ".join(map(str, result.broken.values()))
        raise DiscoprobeError(f"left out {', '.join(sorted(result.broken))}: {faults}")
    if not result.built:
        raise OutcomeError(_why_nothing(result, is_there=is_there), NOTHING_BUILT)
    if failed := result.failed:
        message = f"{len(failed)} of {len(result.built)} configs fail the audit: {', '.join(failed)}"
        raise OutcomeError(message, AUDIT_FAILED)


def show_dry_run(made: Plan, *, as_json: bool = False) -> None:
    """Prints what a build would read, download and take."""
    from discoprobe.plan import effort, reads

    rows = reads(made)
    if as_json:
        cost = effort(made)
        terminal.print_json({
            "reads": rows, "download_bytes": cost.download_bytes, "files_of_unknown_size": cost.of_unknown_size,
            "seconds": round(cost.seconds),
        })  # fmt: skip
        return
    terminal.show_sources(rows)
    sys.stdout.write(_effort(made))


def _effort(made: Plan) -> str:
    """A line on what is downloaded, by language, and how long building from it takes; empty if the cache has all."""
    from discoprobe.plan import effort

    cost = effort(made)
    missing, unknown = (
        sorted(of.items(), key=lambda each: -each[1]) for of in (cost.download_bytes, cost.of_unknown_size)
    )
    if not (missing or unknown):
        return ""
    sizes = [f"{lang} {n / 1e6:,.1f} MB" for lang, n in missing]
    total = f"{sum(n for _, n in missing) / 1e6:,.1f} MB" + (f" ({terminal.few(sizes)})" if len(sizes) > 1 else "")
    if unknown:
        n_files, of_each = sum(n for _, n in unknown), terminal.few([f"{lang} {n}" for lang, n in unknown])
        total += f" and {n_files} file{'s' * (n_files > 1)} of unknown size ({of_each})"
    minutes = f"{max(1, round(cost.seconds / 60)):,} min"
    about = "more than" if unknown else "about"
    return f"to download: {total}; building from treebanks takes {about} {minutes} after that\n"


def _why_nothing(result: BuildResult, *, is_there: bool) -> str:
    """The message after a build without a config: what to do."""
    from discoprobe.builders.drops import MORE_ROWS

    message = "nothing was built" + ("" if is_there else ", and no folder is written")
    if small := [config.name for config in result.missing if config.reason.endswith(MORE_ROWS)]:
        return f"{message}; --min-rows 0 keeps {terminal.few(small)}"
    return f"{message}; `build -v run …` gives the reasons, and `build tasks --lang CODE` what the corpora support"


def show_build(result: BuildResult, out: str, *, as_json: bool = False) -> None:
    """Prints a line per config, built or not, and the call that loads one of them.

    Of more than `FEW_REASONS` configs that are not built the reasons are counted, except with ``--verbose``, which also
    gives the verdict on each config in words.
    """
    from discoprobe.cards.text.verdicts import best_advised, lines_of, verdicts
    from discoprobe.loaders.catalogue.treebanks import language_name

    entries = result.manifest.configs
    judged, verbose = verdicts(entries), logging.getLogger().isEnabledFor(logging.INFO)
    if as_json:
        configs = {name: {**msgspec.to_builtins(entries[name]), "advice": judged[name].advice} for name in result.built}
        unavailable = {config.name: config.reason for config in result.missing}
        terminal.print_json({"out": out, "configs": configs, "unavailable": unavailable})
        return
    if terminal.is_quiet():
        return
    groups: dict[str, Sequence[DatasetLine]] = {}
    for lang, lines in lines_of(entries, judged).items():
        if shown := [line for line in lines if line.name in set(result.built)]:
            corpora = sorted({name for line in shown for name in entries[line.name].sources})
            n = f"{len(shown)} dataset{'s' * (len(shown) > 1)}"
            groups[f"{language_name(lang)}: {n} of {terminal.few(corpora)}"] = shown
    if groups:
        terminal.show_lines(groups)
    if tiny := [name for name in result.built if entries[name].tiny]:
        least = "fewer than 200 train, 50 validation or 100 test rows"
        named = "all" if len(tiny) == len(result.built) > 1 else terminal.few(tiny)
        terminal.print_wrapped(f"tiny ({least}), to try out only: {named}", indent="  ")
    if small := [name for name in result.built if entries[name].small]:
        terminal.print_wrapped(
            f"small (suites of 50 to 99 rows; an accuracy is known to ±15 points): {terminal.few(small)}", indent="  "
        )
    if verbose:
        for name in result.built:
            terminal.print_wrapped(f"{name}: {judged[name].text}", indent="  ")
    if verbose or len(result.missing) <= FEW_REASONS:
        for config in result.missing:
            terminal.print_wrapped(f"{config.name} is not built: {config.reason}", indent="  ")
    elif result.missing:
        counts = Counter(config.lacks for config in result.missing).most_common()
        reasons = ", ".join(f"{n} {what}" for what, n in sorted(counts, key=lambda each: each[0] == "other"))
        terminal.print_wrapped(f"{len(result.missing)} not built: {reasons} (build -v run …: why)", indent="  ")
    if result.built:
        best = best_advised({name: entries[name] for name in result.built}, judged)
        terminal.show_load_call(out, best, tuple(entries[best].counts))


@app.command()
def why(  # noqa: PLR0913 (one parameter per option)
    config: arg.WhyConfig, sentence: arg.WhySentence, *, out: arg.WhyOut = "dist/discoprobe",
    corpus: arg.CorpusOption = None, size: arg.Size = None, documents: arg.Documents = None,
    preset: arg.Preset = "default", min_rows: arg.MinRows = None, seed: arg.Seed = 13, jobs: arg.Jobs = 1,
    on_error: arg.OnErrorOption = "stop", match: arg.Match = True, set_: arg.Set = None, exclude: arg.Exclude = None,
    segment: arg.Segment = False, fill: arg.Fill = None, gold: arg.Gold = False, silver: arg.Silver = False,
    parser: arg.Parser = None,
    licences: arg.Licences = "open",
    stanza_dir: arg.StanzaDir = None, _plugins: arg.Plugins = None, json_: arg.Json = False,
) -> None:  # fmt: skip
    """Say why a sentence is in a config, or by which step, reason and rule it was lost.

    The config is built again for this, from the sources and settings of a release, or from those of the options.

    Example: build why dc_es es-news-04-2 --corpus sample
    """
    from discoprobe import pipeline
    from discoprobe.cards.metadata import manifest
    from discoprobe.loaders.raw.document import AnnotationOptions
    from discoprobe.plan import plan, planned_again
    from discoprobe.remote_folders import local
    from discoprobe.request import parse_request

    release = manifest.read(local(out))
    if config in release.configs:
        if size or documents or min_rows or set_ or exclude or fill or gold or segment or not match or seed != SEED:
            raise UsageError(
                f"{config} is in {out}, whose manifest has its settings; give --out a new folder to set others"
            )
        given = AnnotationOptions(stanza_dir=stanza_dir, parsers=tuple(parser or ()))
        made = next(planned_again(release, [config], tuple(corpus or ()), jobs, given))
    else:
        task, _, lang = config.rpartition("_")
        if not task:
            raise UsageError(f"'{config}' does not name a config; write TASK_LANGUAGE, such as dc_es")
        request = parse_request(
            [lang], [task], corpus, size=size, seed=seed, jobs=jobs, on_error=on_error, match=match, values=set_,
            segment=segment, stanza_dir=stanza_dir, preset=preset, min_rows=min_rows, documents=documents, fill=fill,
            gold=gold, silver=silver, parser=parser, licences=licences, exclude=exclude,
        )  # fmt: skip
        made = plan(request)
    with terminal.progress() as progress:
        explanations = pipeline.why(made, config, sentence, progress)
    if json_:
        terminal.print_json([explanation.to_dict() for explanation in explanations])
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
        ("row", f"{row['id']} of {row['split']}, label {row['label']}; the sentence is {article}{row['role']}")
        for row in explanation.rows
        for article in ["a " if row["role"] == "distractor" else ""]
    ]
    facts += [fact for loss in explanation.losses for fact in loss.items()]
    for name, fact in [*facts, ("note", explanation.note)]:
        if fact:
            terminal.print_wrapped(f"{name + ':':<10}{fact}", indent=" " * 10)


@app.command("annotate")
def annotate_(  # noqa: PLR0913 (one parameter per option)
    source: arg.SourceArgument, *, lang: arg.RawLang, out: arg.CorpusFolder, stanza_dir: arg.StanzaDir = None,
    parser: arg.Parser = None, _plugins: arg.Plugins = None,
    processors: arg.Processors = "tokenize,pos,lemma,depparse", segment: arg.Segment = False,
    download: arg.Download = False, name: arg.CorpusName = "", licence: arg.Licence = "unknown",
    citation: arg.Citation = "", text: arg.TextColumn = "", id_: arg.IdColumn = "", genre: arg.GenreColumn = "",
    sentences: arg.SentencesColumn = "", encoding: arg.Encoding = "", set_: arg.ReadSet = None,
    on_error: arg.OnErrorOption = "stop",
    jobs: arg.Jobs = 1, cluster: arg.Cluster = "", json_: arg.Json = False,
) -> None:  # fmt: skip
    """Annotate raw text with Stanza and write a folder of CoNLL-U for `run --corpus`.

    Texts of several languages become a corpus each, below --out. If an annotation was interrupted, the same command
    continues it.

    Example: build annotate notes/ --lang de --out corpora/notes
    """
    from discoprobe.loaders.catalogue.treebanks import Source
    from discoprobe.loaders.raw.document import AnnotationOptions, read_options
    from discoprobe.loaders.raw.prepare import prepare
    from discoprobe.loaders.raw.raw_corpus import check_languages
    from discoprobe.remote_folders import corpus_at
    from discoprobe.request import corpus_name, language_codes, split_names

    languages = language_codes(split_names([lang]))
    if not languages:
        raise UsageError("--lang names no language; give codes, such as de or it,en,de")
    if len(languages) > 1:
        check_languages(languages)
    columns = {"text": text, "id": id_, "genre": genre, "sentences": sentences, "on_error": on_error}
    values = [f"{name}={value}" for name, value in (columns | {"encoding": encoding}).items()]
    read = msgspec.structs.replace(
        read_options([*values, *(set_ or [])]), among=languages if len(languages) > 1 else ()
    )
    how = AnnotationOptions(
        segment=segment, stanza_dir=stanza_dir, processors=split_names([processors]), download=download,
        parsers=tuple(parser or ()), read=read,
    )  # fmt: skip
    made: dict[str, AnnotatedCorpus] = {}
    with _workers(cluster), terminal.progress() as progress:
        for code in languages:
            place = out if len(languages) == 1 else f"{out.rstrip('/')}/{code}"
            about = Source(corpus_name(name or source), code, licence, citation=citation)
            with corpus_at(place) as folder:
                made[place] = prepare(source, about, how, out=folder, jobs=jobs, progress=progress)
    if json_:
        as_json = [annotated_as_json(annotated, place) for place, annotated in made.items()]
        terminal.print_json(as_json if len(as_json) > 1 else as_json[0])
    elif not terminal.is_quiet():
        for place, annotated in made.items():
            show_annotated(annotated, place)
        if len(made) > 1:
            sys.stdout.write(f"build run --corpus {out} builds all of them\n")


def annotated_as_json(annotated: AnnotatedCorpus, out: str) -> dict[str, object]:
    """The manifest of an annotated corpus, with what this run did and what to expect of the corpus."""
    from discoprobe.expected_rows import expected_rows

    manifest = annotated.manifest
    made = {
        "out": out, "new_words": annotated.new_words, "seconds": annotated.seconds, "notes": annotated.notes,
        "expected": msgspec.to_builtins(expected_rows(manifest.sentences, manifest.documents)),
    }  # fmt: skip
    return made | dict(msgspec.to_builtins(manifest))


def show_annotated(annotated: AnnotatedCorpus, out: str) -> None:
    """Prints what was annotated and how fast, what was left out, and which sentence boundaries were corrected.

    For tasks on documents it also says how many rows they are likely to give, and how much text a published config
    needs.
    """
    from discoprobe.expected_rows import SHORTEST, expected_rows

    manifest = annotated.manifest
    for note in annotated.notes:
        terminal.print_wrapped(f"note: {note}")
    software = ", ".join(f"{name} {version}" for name, version in manifest.made_by["software"].items())
    sys.stdout.write(
        f"{manifest.name} ({manifest.lang}): {manifest.documents:,} documents, "
        f"{manifest.sentences:,} sentences, {manifest.words:,} words in {out}, by {software}\n"
    )
    if annotated.new_words:
        speed = f"{annotated.new_words / annotated.seconds:,.0f} words/s, loading of models included"
        sys.stdout.write(f"{annotated.new_words:,} words in {annotated.seconds:.0f} s: {speed}\n")
    else:
        sys.stdout.write("nothing to annotate: the annotation is complete\n")
    for row in expected_rows(manifest.sentences, manifest.documents):
        if row.is_small:
            needed = f"200/50/100 need about {row.needed:,} sentences in {row.texts:,} such texts"
            sys.stdout.write(f"{row.task}: about {row.rows:,} rows; {needed}\n")
    if manifest.sentences < SHORTEST * manifest.documents:
        short = f"texts have {manifest.sentences / manifest.documents:.1f} sentences in the mean"
        terminal.print_wrapped(f"{short}; most other tasks on documents need {SHORTEST} or more")
    drops = [(step, reason, n) for step, reasons in manifest.drops.items() for reason, n in reasons.items()]
    for columns, values in (
        (("left out in", "reason", "number"), drops),
        (("sentence boundaries corrected", "number"), [*manifest.corrections.items()]),
    ):
        if values:
            terminal.show([dict(zip(columns, line, strict=True)) for line in values], columns)


@app.command()
def tasks(  # noqa: PLR0913 (one parameter per option)
    *, lang: arg.Lang = None, corpus: arg.CorpusOption = None, task: arg.TaskOption = None,
    segment: arg.Segment = False, stanza_dir: arg.StanzaDir = None, jobs: arg.Jobs = 1, _plugins: arg.Plugins = None,
    json_: arg.Json = False,
) -> None:  # fmt: skip
    """List the tasks. With --lang, show which of them the corpora of a language support, and why not the others."""
    from discoprobe.request import parse_request, split_names

    if lang or corpus:
        request = parse_request(lang, task, corpus, jobs=jobs, segment=segment, stanza_dir=stanza_dir)
        from discoprobe.pipeline import support

        with terminal.progress() as progress:
            rows = support(request, progress)
        terminal.show(rows, ["lang", "task", "available", "rows", "candidates", "filled by", "reason"], as_json=json_)
        return
    from discoprobe.builders.task import tasks_named

    rows = []
    for shown in tasks_named(split_names(task) or ["all"]):
        what = shown.definition.partition("\n")[0]
        rows.append({"task": shown.name, "family": shown.family, "labels": len(shown.labels), "what": what})
    if not task:
        what = "Any feature of a word in any role of the clause: `--task feats`, or one of them, `feats_nsubj_case`."
        rows.append({"task": "feats", "family": "generated", "labels": 0, "what": what})
    terminal.show(rows, ["task", "family", "labels", "what"], as_json=json_)


corpora = typer.Typer(no_args_is_help=True, help="List, download and check the corpora of the catalogue.")


@corpora.command("list")
def corpora_list(
    names: arg.Names = None, *, _plugins: arg.Plugins = None, json_: arg.Json = False
) -> None:  # fmt: skip
    """List corpora with their licence, how their documents are recognised, and whether they are downloaded."""
    from discoprobe.loaders.fetch import downloads

    columns = ["lang", "name", "licence", "documents", "files", "cached", "offered", "default", "note"]
    terminal.show(downloads.list_corpora(names or []), columns, as_json=json_)


@corpora.command("fetch")
def corpora_fetch(
    names: arg.Names = None, *, licences: arg.Licences = "open", jobs: arg.Jobs = 4, _plugins: arg.Plugins = None,
    json_: arg.Json = False,
) -> None:  # fmt: skip
    """Download corpora into the cache and verify every file."""
    from discoprobe.loaders.fetch import downloads
    from discoprobe.request import read_licences

    corpora = downloads.select(names or [], read_licences(licences))
    with terminal.progress() as progress:
        downloads.fetch(corpora, jobs=jobs, progress=progress)
    terminal.show(_file_rows(corpora), ["corpus", "file", "state"], as_json=json_)


@corpora.command("check")
def corpora_check(
    names: arg.CheckNames = None, *, _plugins: arg.Plugins = None, json_: arg.Json = False
) -> None:  # fmt: skip
    """Check the files of the catalogue in the cache, or your own files, and show how documents are recognised."""
    from discoprobe.loaders.catalogue.treebanks import DocumentRule
    from discoprobe.loaders.conllu.documents import explain_documents
    from discoprobe.loaders.conllu.reader import describe, find_files
    from discoprobe.loaders.fetch import downloads

    paths = [Path(name) for name in names or [] if Path(name).exists()]
    of_catalogue = [name for name in names or [] if not Path(name).exists()]
    corpora = downloads.select(of_catalogue, "all" if of_catalogue else "open")
    rows = _file_rows(corpora) if of_catalogue or not paths else []
    for path, top in find_files(paths).items() if paths else ():
        file = describe(path, top, "und")
        documents = explain_documents(path, file.facts.documents if file.facts else DocumentRule())
        row: dict[str, Cell] = {"corpus": file.treebank, "file": file.file.path, "state": "own file"}
        rows.append(row | {"documents": documents, "problem": ""})
    terminal.show(rows, ["corpus", "file", "state", "documents", "problem"], as_json=json_)
    if corrupt := [str(row["file"]) for row in rows if row["state"] == "corrupt"]:
        raise DiscoprobeError(
            f"{len(corrupt)} corrupt files: {', '.join(corrupt[:3])}; `build corpora fetch` downloads them again"
        )


def _file_rows(corpora: Sequence[PinnedCorpus]) -> list[dict[str, Cell]]:
    """A row per file of corpora: its state, and if it is ok, how its documents are recognised."""
    from discoprobe.loaders.catalogue.treebanks import Treebank
    from discoprobe.loaders.conllu.documents import explain_documents
    from discoprobe.loaders.fetch import downloads

    rows: list[dict[str, Cell]] = []
    for corpus, file in ((bank, file) for bank in corpora for file in bank.files):
        state, problem = downloads.state_of(corpus, file)
        has_documents = state == "ok" and isinstance(corpus, Treebank)
        documents = explain_documents(downloads.location(corpus, file), corpus.documents) if has_documents else ""
        row: dict[str, Cell] = {"corpus": corpus.name, "file": file.path, "state": state}
        rows.append(row | {"documents": documents, "problem": problem})
    return rows


@app.command()
def languages(
    names: arg.LanguageNames = None, *, _plugins: arg.Plugins = None, json_: arg.Json = False
) -> None:  # fmt: skip
    """List languages of the catalogue: treebanks, raw texts, whether there is a sample, and what rules lack.

    A language works without what it lacks: docs/adding_a_language.md says what follows from it.
    """
    from discoprobe.loaders.catalogue import treebanks
    from discoprobe.loaders.languages.language import lacking

    with_sample, codes = set(treebanks.sample_files()), {treebanks.language_code(name) for name in names or ()}
    rows: list[dict[str, Cell]] = [
        {
            "code": each.code, "name": each.name, "treebanks": each.count("treebank"), "texts": each.count("text"),
            "sample": each.code in with_sample, "lacks": ", ".join(lacking(each.code)),
        }
        for each in treebanks.languages(every=True) if not codes or each.code in codes
    ]  # fmt: skip
    terminal.show(rows, ["code", "name", "treebanks", "texts", "sample", "lacks"], as_json=json_)


new = typer.Typer(no_args_is_help=True, help="Write an example of a task, language or corpus, or a workflow.")


@new.command("task")
def new_task(name: arg.NewTask, *, plugins: arg.NewIn = Path("plugins"), json_: arg.Json = False) -> None:
    """Write an example of a task, which can be built at once, as PLUGINS/probing/NAME.py."""
    from discoprobe import own_files

    made = own_files.new_task(name, plugins)
    _show_new(made, plugins, f"--task {name} --lang es --corpus sample", as_json=json_)


@new.command("language")
def new_language(name: arg.NewLanguage, *, plugins: arg.NewIn = Path("plugins"), json_: arg.Json = False) -> None:
    """Write the file of a language, as PLUGINS/languages/CODE.toml: a copy of the package's, if it has one."""
    from discoprobe import own_files
    from discoprobe.loaders.catalogue.treebanks import sample_files

    path = own_files.new_language(name, plugins)
    corpus = "sample" if path.stem in sample_files() else "my_treebank/"
    _show_new(path, plugins, f"--lang {path.stem} --corpus {corpus}", as_json=json_)


@new.command("corpus")
def new_corpus(
    name: arg.NewCorpus, *, lang: arg.NewCorpusLang, plugins: arg.NewIn = Path("plugins"), json_: arg.Json = False
) -> None:  # fmt: skip
    """Write a catalogue with one corpus, a copy of the sample of the language, as PLUGINS/catalogue/CODE.toml."""
    from discoprobe import own_files

    path = own_files.new_corpus(name, lang, plugins)
    _show_new(path, plugins, f"--lang {path.stem} --corpus {name} --min-rows 0", as_json=json_)


@new.command("workflow")
def new_workflow(  # noqa: PLR0913 (one parameter per option)
    *, repo: arg.Repo = "org/discoprobe", lang: arg.Lang = None, task: arg.TaskOption = None,
    corpus: arg.CorpusOption = None, folder: arg.NewWorkflowIn = Path(), json_: arg.Json = False,
) -> None:  # fmt: skip
    """Write a workflow for GitHub that builds, audits and publishes a release when a tag such as v1.2.0 is pushed.

    The Hub trusts the workflow (Trusted Publishers), so that no token is stored.
    Example: build new workflow --repo org/discoprobe --lang de
    """
    from discoprobe import own_files
    from discoprobe.cards.hub.client import Hub
    from discoprobe.request import parse_request

    request = parse_request(lang, task, corpus)
    if not (request.languages or request.corpora):
        raise UsageError("a workflow has to say what it builds: give --lang or --corpus")
    hub = Hub(repo)
    given = {"--lang": lang, "--task": task, "--corpus": corpus}
    options = [word for option, values in given.items() for value in values or () for word in (option, value)]
    path = own_files.new_workflow(repo, options, folder)
    steps = [
        f"create {hub.endpoint}/datasets/{repo}, if it is not there",
        f"name this repository and {path.name} at {hub.endpoint}/datasets/{repo}/settings, Trusted Publishers",
        "git tag v1.0.0 && git push origin v1.0.0",
    ]
    if json_:
        terminal.print_json({"file": path, "steps": steps})
    else:
        sys.stdout.write("\n".join([str(path), "", *(f"{n}. {step}" for n, step in enumerate(steps, 1)), ""]))


def _show_new(path: Path, plugins: Path, options: str, *, as_json: bool) -> None:
    """Prints where an example is, and the commands that check and build it."""
    commands = [f"build check {path}", f"build run --plugins {plugins} {options}"]
    if as_json:
        terminal.print_json({"file": path, "commands": commands})
    else:
        sys.stdout.write("\n".join([str(path), "", *commands, ""]))


@app.command()
def check(files: arg.OwnFiles, *, json_: arg.Json = False) -> None:
    """List all mistakes of a plugin, or of files of it, each with its line and the allowed values.

    Example: build check plugins/
    """
    from discoprobe.own_files import files_of, mistakes_in

    checked = [file for place in files for file in files_of(place)]
    listed = [line for file in checked for line in mistakes_in(file)]
    if json_:
        terminal.print_json(listed)
    else:
        sys.stdout.writelines(f"{line}\n" for line in listed)
    if listed:
        raise DiscoprobeError(f"{len(listed)} mistake{'s'[: len(listed) > 1]} in {', '.join(map(str, files))}")
    if not json_:
        sys.stdout.write(f"no mistakes in {len(checked)} file{'s' * (len(checked) > 1)}\n")
