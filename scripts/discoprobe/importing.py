"""Adds an external labelled dataset to a release folder, as a config: `build import`."""

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from discoprobe.auditing import read_all
from discoprobe.builders.audit.as_config import TASK_TYPES, config_of
from discoprobe.builders.audit.as_suite import SUFFIXES, SUITES, suite_of
from discoprobe.builders.audit.frame import AuditInput
from discoprobe.builders.audit.inputs import Reading, Skipped
from discoprobe.builders.audit.integrity import LEAKS
from discoprobe.builders.audit.report import Report
from discoprobe.builders.audit.run import audit
from discoprobe.builders.config import Config
from discoprobe.builders.task import all_tasks
from discoprobe.cards.metadata.vocabulary import is_language, language_code
from discoprobe.cards.release.release_folder import open_release
from discoprobe.loaders.corpus import Source, SourceFile
from discoprobe.loaders.errors import DiscoprobeError, UnknownNameError
from discoprobe.loaders.file_hashes import hashes_of


@dataclass(frozen=True, slots=True)
class About:
    """The user's description of the data: type of the rows, name and language of the config, licence, citation."""

    task_type: str
    name: str
    lang: str
    licence: str
    citation: str = ""


@dataclass(frozen=True, slots=True)
class Imported:
    """The report on a config, leak → rows left out, what was skipped, and whether the config was written."""

    report: Report
    leaks: Mapping[str, int]
    skipped: Sequence[Skipped]
    written: bool


def import_data(  # noqa: PLR0913 (one parameter per option)
    names: Sequence[str], reading: Reading, about: About, out: Path, *, drop_leaks: bool, keep_failed: bool
) -> Imported:
    """Writes the config ``{name}_{lang}`` into a release folder; without ``keep_failed`` only if the audit passes.

    Raises:
        DiscoprobeError: the files hold several datasets, the rows have another type, or name or language is not valid.
    """
    task_type = next((known for known in TASK_TYPES if known == about.task_type), None)
    if task_type is None and about.task_type not in SUITES:
        raise UnknownNameError("task type", about.task_type, [*TASK_TYPES, *SUITES])
    if not re.fullmatch(r"[a-z][a-z0-9_]*", about.name) or about.name in all_tasks():
        raise DiscoprobeError(
            f"'{about.name}' cannot name a config: use small letters, digits and _, and not the name of a task"
        )
    if not (re.fullmatch(r"[a-z]{2,3}", about.lang) and is_language(language_code(about.lang))):
        raise DiscoprobeError(f"'{about.lang}' is not a language code of ISO 639-1 or 639-3, such as es or cop")
    skipped: Sequence[Skipped] = ()
    if task_type is None:
        config = _suite(names, about)
        report = audit(config)
    else:
        data, skipped = _only(names, out, reading)
        config = config_of(
            data, task_type, name=about.name, lang=about.lang, source=_source(names, data, about), drop_leaks=drop_leaks
        )
        report = dataclasses.replace(audit(config), read=data.read)
    written = keep_failed or not report.failed
    if written:
        with open_release(out) as release:
            release.add(config, report)
            release.finish()
    return Imported(report, {check: config.drops[check] for check in LEAKS if check in config.drops}, skipped, written)


def _only(names: Sequence[str], out: Path, reading: Reading) -> tuple[AuditInput, Sequence[Skipped]]:
    """The only dataset in the sources, and what was skipped."""
    read = read_all(names, out, reading)
    if len(read.data) > 1:
        found_names = ", ".join(data.name for data in read.data)
        raise DiscoprobeError(f"{' '.join(names)}: {len(read.data)} datasets ({found_names}); import them one by one")
    return read.data[0], read.skipped


def _suite(names: Sequence[str], about: About) -> Config:
    """The suite in the files."""
    files = [file for file in _files(names) if file.suffix in SUFFIXES]
    if not files:
        kinds = ", ".join(SUFFIXES)
        raise DiscoprobeError(f"{' '.join(names)}: no file to read; --task-type {about.task_type} reads {kinds}")
    source = _source_of(about, files)
    return suite_of(about.task_type, files, name=about.name, lang=about.lang, source=source)


def _files(names: Sequence[str]) -> list[Path]:
    """The named files, and all files in the named folders."""
    places = [path for name in names if (path := Path(name)).exists()]
    inside = [file for place in places for file in ([place] if place.is_file() else sorted(place.rglob("*")))]
    return [file for file in inside if file.is_file()]


def _source(names: Sequence[str], data: AuditInput, about: About) -> Source:
    """The source of the rows: the files that were read, with their hashes, or the repository on the Hub."""
    wanted = {file for files in (data.read.files if data.read else {}).values() for file in files}
    files = [path for path in _files(names) if path.name in wanted]
    source = _source_of(about, files)
    return source if files else dataclasses.replace(source, name=data.name, repo=f"datasets/{data.name}")


def _source_of(about: About, files: Sequence[Path]) -> Source:
    """The user's description as a source, with the files and their hashes."""
    hashed = tuple(SourceFile(path.name, hashes_of(path).sha256, path.stat().st_size) for path in files)
    return Source(about.name, about.lang, about.licence, "", "", about.citation, hashed)
