"""The cards of a release and of each config, which the Hub shows."""

import importlib.metadata
import itertools
import json
import operator
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from discoprobe.builders.audit.report import Report
from discoprobe.builders.audit.thresholds import BY_ID
from discoprobe.builders.config import Config, Shape
from discoprobe.cards.metadata import annotation_quality, column_descriptions, yaml_header
from discoprobe.cards.metadata.manifest import ConfigEntry, Manifest
from discoprobe.cards.text import examples, plots
from discoprobe.cards.text.length_table import Lengths
from discoprobe.cards.text.reader_table import reader_table
from discoprobe.cards.text.render import compact, render
from discoprobe.cards.text.verdicts import (
    MARKS,
    NOT_AUDITED,
    Verdict,
    tally,
    task_designs,
    verdict_of,
    verdicts,
)
from discoprobe.loaders.catalogue import licences, treebanks

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


def release_card(
    manifest: Manifest, *, repository: str = REPOSITORY, release: str = "", changes: str = ""
) -> tuple[str, str]:
    """README.md of a release, and CONFIGS.md with the tables that are too long for it (empty if none are).

    README.md has the YAML that the Hub and `datasets` read, then what is in the release, in at most ``MOST_BYTES``.

    Args:
        manifest: what the release holds.
        repository: the Hub repository that the load snippet names.
        release: its number, ``1.2.0``; if empty, the card names no revision.
        changes: the release's section of the changelog, Markdown.
    """
    configs, sources, unavailable = manifest["configs"], manifest["sources"], manifest["unavailable"]
    default = yaml_header.default_config(configs)
    changed = changes.partition("\n")[2] if changes.startswith("## ") else changes
    changed_lines = changed.strip().splitlines()
    names, languages = _language_names(), sorted({entry["lang"] for entry in configs.values()})
    values: dict[str, Any] = {
        "manifest": manifest, "repository": repository, "release": release, "default": default, "names": names,
        "changes": "\n".join(changed_lines[:_CHANGES]).strip(), "more_changes": len(changed_lines) > _CHANGES,
        "matrices": matrices(configs), "tasks": _by_task(configs),
        "languages": {lang: names.get(lang, lang) for lang in languages}, "by_language": _by_language(configs),
        "rows": sum(map(yaml_header.n_rows, configs.values())),
        "sources": sorted(sources.items(), key=lambda item: (item[1]["lang"], item[0])),
        "used": Counter(name for entry in configs.values() for name in entry["sources"]),
        "readers": {name: reader_table(one["readers"]) for name, one in sorted(configs.items()) if "readers" in one},
        "audits": tally(one.word for one in verdicts(configs).values()),
        "designs": task_designs(configs),
        "skipped": sum(sum(reasons.values()) for reasons in manifest["skipped"].values()),
        "example": _example(configs[default]) if default else None,
        "licences": sorted({licences.normalise(one["licence"]) for one in sources.values()}),
        "unavailable": unavailable if len(unavailable) <= _REASONS else {}, "contents": [], "code": code_location(),
    }  # fmt: skip
    front = yaml_header.front_matter(manifest)
    whole = _with_contents(values | {"short": False})
    if len((front + whole).encode()) <= MOST_BYTES:
        return front + whole, ""
    return front + _with_contents(values | {"short": True}), render("configs.md", **values)


def code_location() -> str:
    """Where the code is: the repository that the metadata of the installed package name, else its page on PyPI."""
    named = importlib.metadata.metadata("discoprobe").get_all("Project-URL") or []
    urls = {name.strip().lower(): url.strip() for name, _, url in (one.partition(",") for one in named)}
    return next((urls[name] for name in _CODE if name in urls), "https://pypi.org/project/discoprobe/")


def _with_contents(values: dict[str, Any]) -> str:
    """The card with a list of its sections."""
    text = render("release.md", **values)
    headings = [line[3:] for line in text.splitlines() if line.startswith("## ") and line != "## Contents"]
    return render("release.md", **values | {"contents": headings})


def _example(entry: ConfigEntry) -> tuple[str, list[column_descriptions.Field]] | None:
    """The example that the manifest has of a config, as JSON, and what its fields mean; None if it has none."""
    if not entry.get("example"):
        return None
    row, fields = entry["example"], column_descriptions.fields(Shape(entry["shape"]), tuple(entry["labels"]))
    ordered = {field.name: _sorted(row[field.name]) for field in fields if field.name in row}
    shown = json.dumps(ordered, ensure_ascii=False, indent=1)
    plain = "".join(char for char in shown if char == "\n" or unicodedata.category(char) not in {"Cc", "Cf"})
    return plain.replace("`", "\\u0060"), fields


def _sorted(value: object) -> object:
    """A value of a row with the keys of its objects sorted, as in the manifest."""
    return dict(sorted(value.items())) if isinstance(value, dict) else value


def _by_task(configs: Mapping[str, ConfigEntry]) -> dict[str, list[ConfigEntry]]:
    task = operator.itemgetter("task")
    return {name: list(of_task) for name, of_task in itertools.groupby(sorted(configs.values(), key=task), task)}


def _by_language(configs: Mapping[str, ConfigEntry]) -> dict[str, tuple[list[ConfigEntry], dict[str, int]]]:
    """The configs of each language, and how many of them have which verdict."""
    judged = verdicts(configs)
    names: dict[str, list[str]] = {}
    for name, entry in configs.items():
        names.setdefault(entry["lang"], []).append(name)
    return {
        lang: ([configs[name] for name in of_lang], tally(judged[name].word for name in of_lang))
        for lang, of_lang in names.items()
    }


def language_name(code: str) -> str:
    """The English name of a language that the catalogue knows, else its code."""
    return _language_names().get(code, code)


def _language_names() -> dict[str, str]:
    return {language.code: language.name for language in treebanks.languages(every=True)}


def attribution(manifest: Manifest) -> str:
    """ATTRIBUTION.md: each source with its licence, commit and citation."""
    return render("attribution.md", sources=manifest["sources"], names=_language_names())


def config_card(config: Config, lengths: Lengths, report: Report | None = None) -> str:
    """README.md of one config: what it asks, what it holds, how its rows were chosen, what its audit found.

    It names neither repository nor release, so that it changes only if the config changes.
    """
    title, _, definition = config.definition.partition("\n")
    return render(
        "config.md", config=config, title=title, definition=paragraphs(definition), language=language_name(config.lang),
        papers=config.papers, splits=tuple(config.splits), counts=config.counts(), labels=_labels(config),
        lengths=lengths, fields=column_descriptions.fields(config.shape, config.labels),
        examples=_examples(config),
        marked=examples.MARKED.get(config.shape, ""), drops=_drops(config),
        filters=_filters(config),
        licence=licences.strictest([source.licence for source in config.sources]),
        annotations=annotation_quality.noise_of(config.sources), audit=report, checks=BY_ID,
        verdict=verdict_of(report).text if report else NOT_AUDITED,
        rows_plot=plots.rows_name(config.name), audit_plot=plots.audit_name(config.name),
    )  # fmt: skip


_VERDICT = re.compile(r"^Audit: \*\*.*\*\*$", re.MULTILINE)


def with_verdict(card: str, verdict: Verdict) -> str:
    """A config's card with another verdict."""
    return _VERDICT.sub(lambda _: f"Audit: **{verdict.text}**", card, count=1)


_LOAD = re.compile(
    r'^(?:import os\n\n)?(from datasets import load_dataset\n\n)load_dataset\([^,]*, ("[^"]+").*$', re.MULTILINE
)


def with_repository(card: str, repository: str) -> str:
    """A config's card whose load snippet names the Hub repository."""
    return _LOAD.sub(lambda found: f'{found[1]}load_dataset("{repository}", {found[2]})', card, count=1)


_READERS = re.compile(r"^## Readers\n.*?(?=^## )", re.MULTILINE | re.DOTALL)
_SOURCES = re.compile(r"^## Sources$", re.MULTILINE)


def with_readers(card: str, entry: ConfigEntry) -> str:
    """A config's card with a new section on its readers, or without this section if nobody read rows."""
    plain = _READERS.sub("", card, count=1)
    if not (readers := entry.get("readers", {})):
        return plain
    section = render("readers.md", readers=reader_table(readers), audit=entry["audit"], person="person" in readers)
    return _SOURCES.sub(lambda found: section + found[0], plain, count=1)


def paragraphs(text: str) -> str:
    """Text that is broken at the width of source code, one paragraph per line."""
    return "\n\n".join(" ".join(part.split()) for part in text.strip().split("\n\n"))


def _examples(config: Config) -> list[examples.Example]:
    shown = next((table for table in reversed([*config.splits.values()]) if table.num_rows), config.splits["test"])
    return examples.examples(config.shape, config.labels, shown)


def _drops(config: Config) -> list[tuple[str, int, str]]:
    """Why candidates were not used: reason, number, meaning of the reason; the most frequent first."""
    counted = sorted(config.drops.items(), key=lambda drop: (-drop[1], drop[0]))
    return [(reason, number, config.meanings.get(reason, "")) for reason, number in counted]


def _labels(config: Config) -> tuple[str, ...]:
    return config.used_labels if len(config.used_labels) <= _LABELS else ()


_READINGS = {"pos": "part of speech", "feature": "the feature of the label"}


def _filters(config: Config) -> list[str]:
    """The conditions for candidates, from the settings of the build, as Markdown."""
    settings = config.settings
    if config.published or config.shape == Shape.RELATION:
        return []
    ids = config.splits["test"]["sent_ids"].to_pylist() if config.shape is Shape.SUITE else [()]
    of_sentences = config.shape is Shape.SENTENCE or all(len(shown) == 1 for shown in ids)
    if config.split_by == "document":
        least, most = settings.discourse_words
        gapless = [] if of_sentences else ["sentences follow each other in the source without a gap"]
        return [f"{least}–{most} words in every sentence", *gapless]
    least, most = settings.probing_words
    readings = " or in ".join(_READINGS[name] for name in settings.syncretism)
    forms = f"target forms are not ambiguous in {readings} (according to dictionary, rules and corpus)"
    return [f"{least}–{most} words", *([forms] if readings and config.split_by == "target" else [])]


_GENERATED = "feats_"


class Matrix(NamedTuple):
    """A table of a release card: its title, the names of its columns, and its rows (name of the row, cells).

    Languages or tasks are the rows, whichever are more.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]


def matrices(configs: Mapping[str, ConfigEntry]) -> list[Matrix]:
    """One table of tasks and languages per kind of task in the release; cells are Markdown."""
    kinds: dict[str, Callable[[ConfigEntry], bool]] = {
        "Discourse (rows of several sentences)": lambda entry: entry["shape"] not in {Shape.SENTENCE, Shape.SUITE},
        "Probing (rows of one sentence)": lambda entry: entry["shape"] == Shape.SENTENCE and not _generated(entry),
        "Suites (minimal pairs, test only)": lambda entry: entry["shape"] == Shape.SUITE,
        "Generated probes (a feature of the word in a role)": _generated,
    }
    by_kind = {title: {name: entry for name, entry in configs.items() if of(entry)} for title, of in kinds.items()}
    judged = verdicts(configs)
    return [_matrix(title, entries, judged) for title, entries in by_kind.items() if entries]


def _generated(entry: ConfigEntry) -> bool:
    return entry["task"].startswith(_GENERATED)


def _matrix(title: str, configs: Mapping[str, ConfigEntry], judged: Mapping[str, Verdict]) -> Matrix:
    cells = {(entry["lang"], entry["task"]): _cell(name, entry, judged[name]) for name, entry in configs.items()}
    if len({lang for lang, _ in cells}) < len({task for _, task in cells}):
        cells = {(task, lang): cell for (lang, task), cell in cells.items()}
    down, across = (sorted(set(side)) for side in zip(*cells, strict=True))
    rows = tuple((name, tuple(cells.get((name, other), "–") for other in across)) for name in down)
    return Matrix(title, tuple(across), rows)


def _cell(name: str, entry: ConfigEntry, verdict: Verdict) -> str:
    sizes = " / ".join(compact(sum(labels.values())) for labels in entry["counts"].values())
    shown = f"{sizes} {MARKS[verdict.word]}".strip()
    return f"[{shown}]({name}/README.md)"
