"""The cards of a release and of each config, which the Hub shows.

`release_card` and `config_card` collect what the templates ``release.md`` and ``config.md`` show; ``with_…`` change a
card that is written. Parts with a form of their own are the columns of a config in words (``columns.toml``), tables of
tasks and languages, what readers found, and the quality of automatic annotation.

The agreement of automatic annotation with a treebank is data (``agreement.toml``), made by ``scripts/gold_labels.py``
from a treebank on which the models were not trained: its text was annotated, its sentences were found again by their
characters, and the labels were compared.
"""

import datetime as dt
import functools
import hashlib
import importlib.metadata
import importlib.resources
import itertools
import json
import math
import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, TypeAlias

import msgspec

from discoprobe.builders.audit.intervals import exact
from discoprobe.builders.audit.report import NOT_AUDITED, Report, Verdict
from discoprobe.builders.audit.thresholds import BY_ID
from discoprobe.builders.config import Config, Shape, schema
from discoprobe.cards.metadata import facts, yaml_header
from discoprobe.cards.metadata.manifest import AuditEntry, ConfigEntry, Manifest
from discoprobe.cards.metadata.readings import recorded
from discoprobe.cards.readers import FASTEST, LEAST_ROWS, ReaderFigures
from discoprobe.cards.text import examples, plots
from discoprobe.cards.text.templating import interval, markdown, render
from discoprobe.cards.text.verdicts import (
    ABOVE,
    DatasetLine,
    best_advised,
    lines_of,
    meanings,
    recorded_designs,
    tally,
    task_designs,
    trick_of,
    verdict_of,
    verdicts,
)
from discoprobe.loaders.annotation_manifest import is_parser
from discoprobe.loaders.catalogue import licences, treebanks
from discoprobe.loaders.catalogue.treebanks import Source

REPOSITORY = "org/discoprobe"
"""The Hub repository that a card names while its own is not known."""
MOST_BYTES = 60_000
"""Longest README.md; of a larger release the tables go into a file of their own."""
_CODE = ("repository", "source", "source code", "homepage")
"""Keys of ``[project.urls]`` for the repository of the code, tried in this order."""
_CHANGES = 60
"""Lines of the changelog that a card shows."""
_LABELS = 12
"""Most labels that a card lists with their counts; of more it gives the number, the largest and the smallest."""
_REASONS = 20
"""Most configs that could not be built that a card lists one by one."""


_SHOWN_LABELS = 6
_SEAL = re.compile(r"<!-- release (\S*); SHA-256 of what is above: ([0-9a-f]{64}) -->\n\Z")
_SEAL_BYTES = 128


def fields(
    shape: Shape, labels: Sequence[str], used: Collection[str], *, silver: bool = False
) -> dict[str, tuple[str, str]]:
    """The columns of every split of a config of this shape: name → type and what it holds, in order.

    ``used`` are the labels that rows have. Types are as `datasets` names them, such as ``string``, ``list<int32>``,
    ``struct<start: int32, end: int32>`` (without Arrow's name for list items), and ``ClassLabel`` with its names in the
    order of their numbers, the first few of many.
    """
    meanings = _columns_in_words()
    what = meanings["all"] | meanings.get(shape, {})
    columns = {}
    for column in schema(shape, silver=silver):
        arrow = str(column.type).replace("item: ", "").replace("element: ", "")
        kind = arrow.replace("float", "float32").replace("double", "float64")
        if column.name == "label":
            more = f", … {len(labels)} in all" if len(labels) > _SHOWN_LABELS else ""
            kind = f"ClassLabel({', '.join(labels[:_SHOWN_LABELS])}{more})"
        meaning = what[column.name]
        if column.name == "label" and (unused := [label for label in labels if label not in used]):
            several = f"{len(unused)} of the {len(labels)} names"
            meaning += f"; no row has {several if len(unused) > _SHOWN_LABELS else markdown(', '.join(unused))}"
        columns[column.name] = kind, meaning
    return columns


@functools.cache
def _columns_in_words() -> dict[str, dict[str, str]]:
    """What columns hold: those of ``all`` rows, and by shape where that is special."""
    data = importlib.resources.files("discoprobe.cards.metadata").joinpath("columns.toml").read_bytes()
    return tomllib.loads(data.decode())


def release_card(
    manifest: Manifest, *, repository: str = REPOSITORY, release: str = "", changes: str = "", day: str = ""
) -> tuple[str, str]:
    """README.md of a release, and CONFIGS.md with the tables that are too long for it (empty if none are).

    README.md has the YAML that the Hub and `datasets` read, then what is in the release, in at most ``MOST_BYTES``. Its
    last line has the number of the release and a hash of the other lines (`sealed_release`). No other file has them: if
    only the words of this card change, no other file does.

    Args:
        manifest: what the release holds.
        repository: the Hub repository that the load snippet names; its name is that of the data set.
        release: its number, ``1.2.0``; if empty, the card names no revision.
        changes: the newest section of the changelog, Markdown; that of an earlier release if only words changed since.
        day: the date of the release, ISO 8601; empty if it has none.
    """
    configs, sources, unavailable = manifest.configs, manifest.sources, manifest.unavailable
    dataset = repository.rpartition("/")[2]
    judged = verdicts(configs)
    listed = [*itertools.chain.from_iterable(lines_of(configs, judged).values())]
    default = best_advised(configs, judged)
    first = configs.get(default)
    shown = first and _shown_row(first)
    has_marks = shown and any(text.start < text.end for text in shown.lines)
    heading, _, changed = changes.partition("\n") if changes.startswith("## ") else ("", "", changes)
    changed_lines, changed_in = changed.strip().splitlines(), (heading.split() or ["", ""])[1]
    tasks: dict[str, list[ConfigEntry]] = {}
    for entry in sorted(configs.values(), key=lambda entry: entry.task):
        tasks.setdefault(entry.task, []).append(entry)
    of_language: dict[str, list[str]] = {}
    for name, entry in configs.items():
        of_language.setdefault(entry.lang, []).append(name)
    record = recorded()
    languages = {lang: treebanks.language_name(lang) for lang in sorted(of_language)}
    read_languages = {lang for reading in record.readings for lang in reading.langs}
    read_languages |= {entry.lang for entry in configs.values() if entry.readers}
    values: dict[str, Any] = {
        "n_read_elsewhere": sum(bool(record.of(entry.task, entry.lang)) for entry in configs.values()),
        "unread": {lang: name for lang, name in languages.items() if lang not in read_languages},
        "manifest": manifest, "repository": repository, "name": dataset, "release": release,
        "author": facts.author(repository), "title": facts.title(repository), "canary": facts.canary(repository),
        "facts": facts.facts_of(manifest), "sensitive": facts.SENSITIVE,
        "default": default, "line": next((line for line in listed if line.name == default), None),
        "shown": shown, "marked": examples.MARKED.get(Shape(first.shape), "") if first and has_marks else "",
        "changes": "\n".join(changed_lines[:_CHANGES]).strip(), "changed_in": changed_in or release,
        "more_changes": len(changed_lines) > _CHANGES,
        "matrices": matrices(configs, listed), "tasks": tasks,
        "languages": languages,
        "by_language": {
            lang: ([configs[name] for name in of_lang], tally(judged[name].advice for name in of_lang))
            for lang, of_lang in of_language.items()
        },
        "rows": sum(map(yaml_header.n_rows, configs.values())),
        "sources": sorted(sources.items(), key=lambda item: (item[1].lang, item[0])),
        "used": Counter(name for entry in configs.values() for name in entry.sources),
        "day": day, "least_rows": LEAST_ROWS, "readers": {
            name: reader_table(entry.readers) for name, entry in sorted(configs.items()) if entry.readers
        },
        "advice": tally(verdict.advice for verdict in judged.values()), "designs": task_designs(configs),
        "meanings": meanings(listed), "judged": judged,
        "above": sum(verdict.word == ABOVE for verdict in judged.values()),
        "skipped": sum(sum(reasons.values()) for reasons in manifest.skipped.values()),
        "example": first and _first_row(first), "licences": facts.licences_of(sources),
        "unavailable": unavailable if len(unavailable) <= _REASONS else {}, "code": code_location(),
    }  # fmt: skip
    front = yaml_header.front_matter(manifest, dataset)
    card = render("release.md", **values | {"short": False})
    if len((front + card).encode()) <= MOST_BYTES - _SEAL_BYTES:
        return _sealed(front + card, release), ""
    return _sealed(front + render("release.md", **values | {"short": True}), release), render("configs.md", **values)


def _sealed(readme: str, release: str) -> str:
    digest = hashlib.sha256(readme.encode()).hexdigest()
    return f"{readme}<!-- release {release}; SHA-256 of what is above: {digest} -->\n"


def sealed_release(readme: str) -> tuple[str, bool]:
    """The number of the release that a README.md is of, and whether it is as it was written.

    The number is empty for a build that is not released, and where there is no last line that says it.
    """
    if not (seal := _SEAL.search(readme)):
        return "", False
    return seal[1], hashlib.sha256(readme[: seal.start()].encode()).hexdigest() == seal[2]


def _shown_row(entry: ConfigEntry) -> examples.Example | None:
    """The example that the manifest has of a config, as a person reads it; None if it has none."""
    return examples.example_of(Shape(entry.shape), entry.labels, entry.example) if entry.example else None


def _first_row(entry: ConfigEntry) -> tuple[str, dict[str, tuple[str, str]]] | None:
    """The example that the manifest has of a config, as JSON, and what its fields mean; None if it has none.

    The keys of objects are sorted, as in the manifest.
    """
    if not entry.example:
        return None
    row, used = entry.example, {label for of_split in entry.counts.values() for label in of_split}
    columns = fields(Shape(entry.shape), entry.labels, used, silver=bool(entry.silver))
    values = {name: row[name] for name in columns if name in row}
    values |= {name: dict(sorted(value.items())) for name, value in values.items() if isinstance(value, dict)}
    text = json.dumps(values, ensure_ascii=False, indent=1)
    plain = "".join(char for char in text if char == "\n" or unicodedata.category(char) not in {"Cc", "Cf"})
    return plain.replace("`", "\\u0060"), columns


def code_location() -> str:
    """Where the code is: the repository that the metadata of the installed package name, else its page on PyPI."""
    stated = importlib.metadata.metadata("discoprobe").get_all("Project-URL") or []
    urls = {name.strip().lower(): url.strip() for name, _, url in (line.partition(",") for line in stated)}
    return next((urls[name] for name in _CODE if name in urls), "https://pypi.org/project/discoprobe/")


def overview(configs: Mapping[str, ConfigEntry]) -> str:
    """overview.svg: task × language, with size and advice; empty without configs."""
    names = {entry.lang: treebanks.language_name(entry.lang) for entry in configs.values()}
    return plots.overview_plot(configs, names) if configs else ""


def attribution(manifest: Manifest) -> str:
    """ATTRIBUTION.md: each source with its licence, commit and citation."""
    return render("attribution.md", sources=manifest.sources)


Matrix: TypeAlias = tuple[str, tuple[str, ...], tuple[tuple[str, tuple[str, ...]], ...]]
"""A table of a release card: its title, the names of its columns, and its rows (name of the row, cells).

Languages or tasks are the rows, whichever are more.
"""


def matrices(configs: Mapping[str, ConfigEntry], lines: Sequence[DatasetLine]) -> list[Matrix]:
    """One table of tasks and languages per kind of task in the release; cells are Markdown: rows and advice.

    ``lines`` are those of the configs (`verdicts.lines_of`).
    """
    discourse, probing = "Discourse (rows of several sentences)", "Probing (rows of one sentence)"
    suites, generated = "Suites (minimal pairs, test only)", "Generated probes (a feature of the word in a role)"
    by_kind: dict[str, dict[tuple[str, str], str]] = {kind: {} for kind in (discourse, probing, suites, generated)}
    for line in lines:
        entry = configs[line.name]
        kind = {Shape.SENTENCE: probing, Shape.SUITE: suites}.get(Shape(entry.shape), discourse)
        cell = f"{line.rows} {line.advice}".replace(" ", "\u00a0")
        cells = by_kind[generated if entry.task.startswith("feats_") else kind]
        cells[entry.lang, entry.task] = f"[{cell}](cards/{entry.lang}.md#{line.name})"
    tables: list[Matrix] = []
    for title, cells in by_kind.items():
        if not cells:
            continue
        langs, tasks = (sorted(set(side)) for side in zip(*cells, strict=True))
        if len(langs) < len(tasks):
            rows = tuple((task, tuple(cells.get((lang, task), "–") for lang in langs)) for task in tasks)
        else:
            rows = tuple((lang, tuple(cells.get((lang, task), "–") for task in tasks)) for lang in langs)
        tables.append((title, tuple(langs if len(langs) < len(tasks) else tasks), rows))
    return tables


def config_card(config: Config, report: Report | None = None) -> str:
    """The card of one config: what it asks, what it holds, how its rows were chosen, what its audit found.

    It names neither repository nor release, so that it changes only if the config changes.
    """
    title, _, definition = config.definition.partition("\n")
    paragraphs = [" ".join(part.split()) for part in definition.strip().split("\n\n")]
    with_rows = [table for table in config.splits.values() if table.num_rows]
    drops, used = sorted(config.drops.items(), key=lambda drop: (-drop[1], drop[0])), config.used_labels
    return render(
        "config.md", config=config, title=title, definition="\n\n".join(paragraphs),
        language=treebanks.language_name(config.lang), papers=config.papers, splits=tuple(config.splits),
        counts=config.counts(), used=used, labels=used if len(used) <= _LABELS else (),
        lengths=examples.lengths(config) if len(used) <= _LABELS else None,
        fields=fields(config.shape, config.labels, used, silver=bool(config.silver)),
        examples=examples.examples(config.shape, config.labels, [config.last_split, *with_rows][-1]),
        marked=examples.MARKED.get(config.shape, ""), filters=_filters(config),
        margin=_margin(config.last_split.num_rows),
        drops=[(reason, number, config.meanings.get(reason, "")) for reason, number in drops],
        licence=licences.strictest([source.licence for source in config.sources]),
        annotations=noise_of(config.sources), audit=report, checks=BY_ID,
        design=recorded_designs().get(config.task),
        verdict=_advice_and_verdict(verdict_of(report) if report else Verdict(NOT_AUDITED)),
        plot_size=plots.image_size(plots.audit_plot(report)) if report else (),
    )  # fmt: skip


def _margin(n: int) -> int:
    """Points around an accuracy of one half in so many rows that its 95 % interval has, rounded up."""
    return math.ceil(100 * (exact(n / 2, n)[1] - 1 / 2))


_READINGS = {"pos": "part of speech", "feature": "the feature of the label"}


def _filters(config: Config) -> list[str]:
    """The conditions for candidates, from the settings of the build, as Markdown."""
    settings = config.settings
    if config.published or config.shape in {Shape.RELATION, Shape.MENTIONS}:
        return []
    if config.split_by == "document":
        least, most = settings.discourse_words
        ids = config.last_split["sent_ids"].to_pylist() if config.shape is Shape.SUITE else [()]
        of_sentences = config.shape is Shape.SENTENCE or all(len(of_row) == 1 for of_row in ids)
        gapless = [] if of_sentences else ["sentences follow each other in the source without a gap"]
        return [f"{least}–{most} words in every sentence", *gapless]
    least, most = settings.probing_words
    readings = " or in ".join(_READINGS[name] for name in settings.syncretism)
    forms = f"target forms are not ambiguous in {readings} (according to dictionary, rules and corpus)"
    return [f"{least}–{most} words", *([forms] if readings and config.split_by == "target" else [])]


_VERDICT = re.compile(r"^(?:Use it\? .*\n\n)?Audit: \*\*.*$", re.MULTILINE)


def with_verdict(card: str, verdict: Verdict) -> str:
    """A config's card with another verdict."""
    return _VERDICT.sub(lambda _: _advice_and_verdict(verdict), card, count=1)


def _advice_and_verdict(verdict: Verdict) -> str:
    """The advice, and the sentences of a verdict with its word in bold and not twice, as Markdown."""
    word, text = verdict.word.capitalize(), markdown(verdict.text)
    said = f"Audit: **{word}**{text.removeprefix(word)}" if text.startswith(word) else f"Audit: **{word}**. {text}"
    if not verdict.chance:
        return said
    trick = f"; best cheap trick: {markdown(verdict.trick)}" if verdict.trick else ""
    return f"Use it? **{verdict.advice}** (chance: {verdict.chance}{trick})\n\n{said}"


_LOAD = re.compile(
    r'^(?:import os\n\n)?(from datasets import load_dataset\n\n)load_dataset\([^,]*, ("[^"]+").*$', re.MULTILINE
)


def with_repository(card: str, repository: str) -> str:
    """A config's card whose load snippet names the Hub repository."""
    return _LOAD.sub(lambda match: f'{match[1]}load_dataset("{repository}", {match[2]})', card, count=1)


_READERS = re.compile(r"^## Readers\n.*?(?=^## )", re.MULTILINE | re.DOTALL)
_SOURCES = re.compile(r"^## Sources$", re.MULTILINE)


def with_readers(card: str, entry: ConfigEntry) -> str:
    """A config's card with a new section on its readers, also if there are none.

    Readings of other builds of its task in its language follow, apart from the figures of its own rows.
    """
    plain, readers = _READERS.sub("", card, count=1), entry.readers
    record = recorded()
    readings = record.of(entry.task, entry.lang)
    section = render(
        "readers.md", readers=reader_table(readers), audit=entry.audit, too_fast=_too_fast(readers),
        trick=entry.audit and trick_of(entry.audit),
        person="person" in readers and not _too_fast(readers), least_rows=LEAST_ROWS, fastest=FASTEST,
        task=entry.task, lang=entry.lang, language=treebanks.language_name(entry.lang), readings=readings,
        rounds=record.rounds, kinds=sorted({record.rounds[reading.round].reader for reading in readings}),
    )  # fmt: skip
    return _SOURCES.sub(lambda match: section + match[0], plain, count=1)


# readers

_PLURAL: Final = {"person": "people", "model": "models"}


def _too_fast(readers: Mapping[str, ReaderFigures]) -> bool:
    """Whether the answers that people are said to have given came faster than anybody reads."""
    seconds = readers["person"].seconds if "person" in readers else None
    return seconds is not None and seconds < FASTEST


def reader_table(readers: Mapping[str, ReaderFigures]) -> dict[str, ReaderFigures]:
    """What readers of each kind found, by who they are (``2 people``, ``1 model``): people first."""
    return {
        f"{figures.readers} {kind if figures.readers == 1 else _PLURAL[kind]}": figures
        for kind, figures in sorted(readers.items(), key=lambda item: item[0] != "person")
    }


def reader_lines(readers: Mapping[str, ReaderFigures], audit: AuditEntry | None) -> list[str]:
    """What readers found, beside the baselines of the audit, a line of text per kind: for the terminal."""
    lines = []
    for who, figures in reader_table(readers).items():
        line = f"{figures.rows:,} {'row' if figures.rows == 1 else 'rows'} read by {who}"
        if 0 < figures.answers < LEAST_ROWS:
            n = figures.answers
            line += f", {n} blind answer{'s' * (n != 1)}, too few for a figure"
        elif n := figures.answers:
            accuracy = f"{figures.correct / n:.3f} ({interval(figures.interval)})"
            line += f", accuracy {accuracy} on {n:,} blind answers"
            if of_edits := figures.edited:
                line += f", {figures.acceptable:,} of {of_edits:,} edits still acceptable"
            if audit:
                line += f" (majority {audit.majority:.3f}, {trick_of(audit) or 'no cheap trick'})"
        if (seconds := figures.seconds) is not None:
            line += f", {seconds:.1f} seconds per answer"
            line += ": too fast for a person" if "model" not in who and seconds < FASTEST else ""
        if (n := figures.verdicts) >= LEAST_ROWS:
            line += f", {sum(figures.faults.values()) / n:.3f} of {n:,} verdicts are faults"
        lines.append(line)
    return lines


# automatic annotation

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


class Agreement(msgspec.Struct, frozen=True):
    """What was measured with certain models, known by their SHA-256, or with rules, known by their software.

    ``sentences`` has the numbers of sentences of the treebank (``gold``), of the annotation (``annotated``), and of
    those with the treebank's boundaries (``same``).
    """

    lang: str
    engine: str
    software: dict[str, str]
    packages: dict[str, str]
    models: dict[str, str]
    treebank: str
    date: dt.date
    sentences: dict[str, int]
    sent_len: LabelAgreement
    subj_number: LabelAgreement | None = None
    tree_depth: LabelAgreement | None = None
    note: str = ""

    @property
    def program(self) -> str:
        """Programs with their versions: ``stanza 1.15.0, torch 2.13.0``."""
        return _versions(self.software)


def noise_of(sources: Sequence[Source]) -> list[dict[str, Any]]:
    """The annotations of the sources that were made from raw text, each once, in the order of the sources.

    An annotation has the ``names`` of the sources, and the program (``software``) with its ``packages`` as texts;
    ``segmented`` says that it found sentences and words only. ``measured`` is None where nobody measured these models;
    ``tasks`` are those whose agreement holds for the sources. ``compared`` has for each task that could be filled with
    the annotation what a comparison with a treebank gave (`discoprobe.silver.LabelErrors`). ``witness`` has the
    software and the packages that annotated the same sentences a second time, if there are any.
    """
    by_program: dict[str, list[Source]] = {}
    for source in sources:
        if source.annotation is not None:
            by_program.setdefault(repr(source.annotation["made_by"]), []).append(source)
    groups = []
    for annotated in by_program.values():
        made_by: Mapping[str, Any] = (annotated[0].annotation or {})["made_by"]
        packages: Mapping[str, str] = made_by.get("packages", {})
        measured = _agreement(annotated[0].lang, made_by)
        # A tokeniser alone was measured with the models that follow it: then the figures of segmentation hold.
        is_complete = measured is not None and measured.models.keys() == made_by.get("models", {}).keys()
        names = TASKS if is_complete else SEGMENTATION_TASKS
        group = {
            "names": [source.name for source in annotated],
            "segmented": not is_parser(made_by),
            "software": _versions(made_by["software"]), "packages": _versions(packages), "measured": measured,
            "tasks": {name: figures for name in names if (figures := getattr(measured, name, None)) is not None},
            "compared": (annotated[0].annotation or {}).get("silver", {}),
            "witness": _second((annotated[0].annotation or {}).get("witness", {})),
        }  # fmt: skip
        groups.append(group)
    return groups


def _agreement(lang: str, made_by: Mapping[str, Any]) -> Agreement | None:
    """What was measured with the models of an annotation, or with more of them, or with its rules; else None."""
    models = {name: file["sha256"] for name, file in made_by.get("models", {}).items()}
    for measured in measurements():
        if (measured.lang, measured.engine) != (lang, made_by["engine"]):
            continue
        if models.items() <= measured.models.items() if models else measured.software == made_by["software"]:
            return measured
    return None


@functools.cache
def measurements() -> list[Agreement]:
    """All that was measured."""
    data = importlib.resources.files("discoprobe.cards.metadata").joinpath("agreement.toml").read_bytes()
    return msgspec.convert(tomllib.loads(data.decode())["measured"], list[Agreement])


def _second(made_by: Mapping[str, Any]) -> str:
    packages = _versions(made_by.get("packages", {}))
    return _versions(made_by.get("software", {})) + (f"; packages {packages}" if packages else "")


def _versions(software: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in software.items())
