"""The manifest of a release: the sources of its rows, how rows were chosen, and the hash of every file.

In the order of its life: `empty`, or `read` from a folder with all checks; the entries of what a build made
(`config_entry`, `audit_entry`, `source_entry`), which `renewed` puts in the place of the older ones; `contents` writes
it; `listed` and `files_of` say which files belong to it; `only` and `merged` combine it with a published one.

In a release of more than 100 configs, what belongs to one language is in a part, ``manifest/es.parquet``: a change of
some configs then changes only the parts of their languages. A part is a table of entries: the ``key`` of the manifest,
the ``name`` of the entry, and the entry as JSON; ``files`` lists the parts.
"""

import functools
import importlib.metadata
import io
import json
import platform
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Final

import msgspec
import polars as pl

from discoprobe import builders, cards
from discoprobe.builders.audit import report as audit_report
from discoprobe.builders.audit.report import Figure, Finding, Groups, Report, Status, tallies
from discoprobe.builders.audit.thresholds import BY_ID, FLOOR, Kind
from discoprobe.builders.config import Config, Unavailable
from discoprobe.builders.settings import SPLITS, Settings
from discoprobe.cards.readers import ReaderFigures
from discoprobe.loaders import corpus as corpus_tables
from discoprobe.loaders.annotation_manifest import entries
from discoprobe.loaders.catalogue.treebanks import Source
from discoprobe.loaders.corpus import Corpus
from discoprobe.loaders.errors import DiscoprobeError
from discoprobe.loaders.files import File, hashes_of, recovered

NAME = "manifest.json"
README = "README.md"
"""The card, which no manifest lists: it says itself what it is (`card.sealed_release`), so that it can change alone."""
PARTS = "manifest"
"""The folder of the parts."""
CARDS, AUDITS, PLOTS, ATTRIBUTION = "cards", "audits", "assets", "attribution"
"""The folders of files that each have something of all configs of a language (`release.language_files`)."""
OF_LANGUAGES = (CARDS, AUDITS, PLOTS, ATTRIBUTION)
FORMAT = 2
MOST_IN_CARD = 100
"""Most configs of a release without parts, whose card lists them all, as the Hub's page on how to load does."""
SOFTWARE = (
    "conllu", "datasets", "langcodes", "msgspec", "numpy", "polars", "py3langid", "pyarrow", "pymorphy3",
    "pymorphy3-dicts-ru", "pymorphy3-dicts-uk", "regex", "scikit-learn", "scipy", "sentencex", "wordfreq",
)  # fmt: skip
"""Distributions, dictionaries too, whose version can change a row or an audit."""
ANALYSERS = ("pymorphy3", "pymorphy3-dicts-ru", "pymorphy3-dicts-uk")
"""Those of which a config depends on the ones that its task asks in its language, if any (`syncretism.packages`)."""
WRITING = ("jinja2", "lxml", "markupsafe", "pyyaml")
"""Further ones whose version can change a byte of a card, or a text that is read from XML."""
SAFE_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")
"""Names of configs, tasks and languages: they become names of files and folders."""
_COLUMNS: Final = ("key", "name", "entry")
_LEVEL: Final = 9
"""How hard tables are compressed (Zstandard)."""
_DECIDED: Final = frozenset({Status.BELOW, Status.OPEN, Status.ABOVE})
_LONGEST: Final = 160
"""Characters of a text in the example of a config."""


class FindingEntry(msgspec.Struct):
    """A finding in a summary: its outcome, the figure that decides it, and what it costs."""

    status: str
    measure: str
    value: float
    baseline: float | None
    threshold: float | None
    interval: list[float] | None
    n: int
    cost: float
    reason: str
    detail: str = ""


class AuditEntry(msgspec.Struct, kw_only=True):
    """A summary of a config's audit; ``audits`` has the whole report.

    ``failed``, ``open``, ``exempt`` and ``not_measured`` are checks with these outcomes, those that cost most first;
    ``thresholds`` is the number of solvers that have one and are not exempt. ``unmeasured`` says why nothing was.
    ``findings`` has those that a verdict names. ``dropped`` is the largest share of a split that is gone if later
    splits share nothing with it. ``missing`` says which splits are missing, ``edited`` whether texts were edited,
    ``external`` whether others made the rows, and ``expected`` which solvers are no cue. ``strongest`` is the solver
    with the largest gain of those that read texts, ``beside_text`` that of the others. ``open_reach`` is the accuracy
    that those of ``open`` that read texts reach at most (the largest end of an interval), ``deciding_rows`` how many
    rows would decide them (`Report.deciding_rows`). ``groups`` are those of the last split.
    """

    failed: list[str]
    open: list[str] = []
    exempt: list[str] = []
    not_measured: list[str] = []
    thresholds: int = 0
    unmeasured: str = ""
    findings: dict[str, FindingEntry] = {}
    dropped: float = 0.0
    missing: str = ""
    edited: bool = False
    external: bool = False
    expected: list[str] = []
    resolution: float | None = None
    majority: float
    strongest: str | None
    accuracy: float | None
    gain: float | None = None
    beside_text: str | None = None
    open_reach: float = 1.0
    deciding_rows: int | None = None
    groups: Groups | None = None
    evidence: dict[str, Any] = {}


class Audited(msgspec.Struct, kw_only=True):
    """The task of a config, empty if it is of none, and what its audit found; None without an audit."""

    task: str
    audit: AuditEntry | None


class ConfigEntry(Audited, kw_only=True, omit_defaults=True):
    """What the manifest says of a config.

    ``read`` are the corpora that it was built from, where that is more than ``sources``, which rows are from; ``lists``
    has size and hash of the user's own files that a setting names. ``versions`` are the versions of the steps that made
    it (`stage_versions`). ``tiny`` says that a split has fewer rows than a published config needs, ``small`` that it is
    a suite with fewer rows than other configs have in test; ``silver`` how many rows people annotated (``gold``) and
    how many a model (``silver``), if it did any; ``silver_test`` that people annotated no row of test. ``readers`` has
    what people and models found who read rows (``person``, ``model``), and ``excluded`` the rows that were left out
    because of what readers said, by id with the verdict. ``plugins`` has size and hash of the files of plugins that it
    was made with.
    ``asks`` is the question in a few words, ``example`` a row of test, long texts cut. ``unknown`` has what a newer
    version of discoprobe wrote beside these.
    """

    lang: str
    summary: str
    shape: str
    labels: list[str]
    counts: dict[str, dict[str, int]]
    candidates: int
    drops: dict[str, int]
    notes: list[str]
    sources: list[str]
    settings: dict[str, object]
    content: dict[str, str]
    files: dict[str, File]
    versions: dict[str, int] = {}
    lists: dict[str, File] = {}
    read: list[str] = []
    tiny: bool = False
    small: bool = False
    silver: dict[str, int] = {}
    silver_test: bool = False
    readers: dict[str, ReaderFigures] = {}
    excluded: dict[str, str] = {}
    plugins: dict[str, File] = {}
    asks: str = ""
    example: dict[str, Any] = {}
    unknown: dict[str, Any] = msgspec.field(default_factory=dict, name="")


class SourceEntry(msgspec.Struct, omit_defaults=True):
    """A corpus, as the catalogue pins it or as it was found.

    ``genre`` has the genres of its texts, where they are known; ``annotation`` is how one was made from raw text.
    """

    lang: str
    licence: str
    repo: str
    commit: str
    citation: str
    files: dict[str, File]
    genre: list[str] = []
    annotation: dict[str, Any] = {}
    unknown: dict[str, Any] = msgspec.field(default_factory=dict, name="")


class Manifest(msgspec.Struct, omit_defaults=True):
    """The whole file.

    ``beside`` has, by language, the corpora that were read but have no row in any config: sentences of other corpora
    may have been left out because they nearly repeat one of theirs. ``unavailable_drops`` has the drops by reason of
    configs that are not available. ``inputs`` has a hash of everything that each config, or the reason why there is
    none, depends on; it is not published.

    A published one has the ``version`` of the release that last changed more than README.md, and ``repository``, which
    the cards name. ``built_with`` has the versions of discoprobe and libraries of those configs that were built with
    others than the manifest's: they were published earlier and left as they were.
    """

    format: int
    discoprobe: str
    software: dict[str, str]
    sources: dict[str, SourceEntry]
    skipped: dict[str, dict[str, int]]
    configs: dict[str, ConfigEntry]
    unavailable: dict[str, str]
    files: dict[str, File]
    beside: dict[str, dict[str, SourceEntry]] = {}
    unavailable_drops: dict[str, dict[str, int]] = {}
    inputs: dict[str, str] = {}
    version: str = ""
    repository: str = ""
    built_with: dict[str, dict[str, str]] = {}
    unknown: dict[str, Any] = msgspec.field(default_factory=dict, name="")


def installed(names: Iterable[str]) -> dict[str, str]:
    """The versions of Python and of these distributions, in order; empty for one that is not installed."""
    return {"python": platform.python_version()} | {name: _version(name) for name in names}


@functools.cache
def _version(name: str) -> str:
    """The version of a distribution, of which the whole metadata are parsed; empty if it is not installed."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""


def software() -> dict[str, str]:
    """The versions of Python and of those libraries of ``SOFTWARE`` that are installed."""
    return {name: version for name, version in installed(SOFTWARE).items() if version}


def empty() -> Manifest:
    """The manifest of a release without configs."""
    version = _version("discoprobe")
    return Manifest(FORMAT, version, software(), sources={}, skipped={}, configs={}, unavailable={}, files={})


def read(folder: Path) -> Manifest:
    """The manifest of a release folder with its parts; an empty one if there is none.

    Raises:
        DiscoprobeError: the file cannot be read as a manifest, it names files outside of the release, or a file of the
            release is a link to another place.
    """
    path = recovered(folder) / NAME
    if not path.exists():
        return empty()
    values = _parse(path)
    if isinstance(version := values.get("format"), int) and version < FORMAT:
        raise DiscoprobeError(
            f"{path}: a release of an earlier version of discoprobe, with other files (format {version}, now {FORMAT});"
            " build it again, into another folder"
        )
    if version != FORMAT or _required() - values.keys():
        raise DiscoprobeError(f"{path}: not a manifest of format {FORMAT}; build into another folder")
    manifest = _convert(path, values)
    _check_places(path, manifest)
    if parts := [path.parent / name for name in manifest.files if is_part(name)]:
        for part in parts:
            _convert(part, msgspec.to_builtins(empty()) | (of_part := _parse_part(part)))
            for key, of_key in of_part.items():  # in the order of a manifest without parts
                values[key] = dict(sorted({**values.get(key, {}), **of_key}.items()))
        manifest = _convert(path, values)
        _check_places(path, manifest)
    for entry in manifest.configs.values():
        # the file has keys sorted; splits, and the labels that are used, come in the order of a build
        entry.counts = {
            split: {label: entry.counts[split][label] for label in entry.labels if label in entry.counts[split]}
            for split in SPLITS
            if split in entry.counts
        }
    return manifest


def _required() -> set[str]:
    """The keys that every manifest has."""
    return {field.name for field in msgspec.structs.fields(Manifest) if field.required}


def _convert(path: Path, values: dict[str, Any]) -> Manifest:
    """The manifest that a file's values are; raises an error that names the first value that is not of its type."""
    problem = ""
    try:
        manifest = msgspec.convert(values, Manifest)  # before keys are looked at: they may be of any type
        manifest = msgspec.convert(_with_unknown(values), Manifest)
        listing = [manifest, *manifest.configs.values(), *manifest.sources.values()]
        listing += [entry for of_lang in manifest.beside.values() for entry in of_lang.values()]
        lists = [getattr(entry, key, {}) for entry in listing for key in ("files", "lists", "plugins")]
        for name, file in ((name, file) for files in lists for name, file in files.items()):
            if not file.sha256 or file.bytes is None:
                problem = f"the file '{name}' has no {'bytes' if file.sha256 else 'sha256'}"
    except msgspec.ValidationError as error:
        problem = str(error)
    if problem:
        raise DiscoprobeError(f"{path}: not a manifest: {problem}; restore it or build into another folder")
    return manifest


def _with_unknown(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a manifest, the keys that are not known here apart."""

    def apart(kind: type[msgspec.Struct], values: Mapping[str, Any]) -> dict[str, Any]:
        known = kind.__struct_encode_fields__
        return {**values, "": {key: value for key, value in values.items() if key not in known}}

    return apart(Manifest, values) | {
        key: {name: apart(kind, entry) for name, entry in values[key].items()}
        for key, kind in (("configs", ConfigEntry), ("sources", SourceEntry))
    }


def read_release(folder: Path) -> Manifest:
    """The manifest of a release folder.

    Raises:
        DiscoprobeError: there is none, or as for `read`.
    """
    manifest = read(folder)  # restores what a killed program has left, so that it comes first
    if not (folder / NAME).is_file():
        raise DiscoprobeError(f"{folder} holds no {NAME}; build a release there first, or name its folder")
    return manifest


def _parse(path: Path) -> dict[str, Any]:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DiscoprobeError(f"{path}: not a manifest ({error}); restore it or build into another folder") from error
    if not isinstance(values, dict):
        raise DiscoprobeError(f"{path}: not a manifest; restore it or build into another folder")
    return values


def _parse_part(path: Path) -> dict[str, dict[str, Any]]:
    values: defaultdict[str, dict[str, Any]] = defaultdict(dict)
    try:
        for key, name, entry in pl.read_parquet(path, columns=list(_COLUMNS)).iter_rows():
            values[key][name] = json.loads(entry)
    except (OSError, ValueError, TypeError, pl.exceptions.PolarsError) as error:
        problem = " ".join(str(error).split())
        raise DiscoprobeError(f"{path}: not a manifest ({problem}); restore it or build into another folder") from error
    return dict(values)


def _check_places(path: Path, manifest: Manifest) -> None:
    """Refuses names that would lead out of the release folder, and files of the release that are links to other places.

    Names become names of files and folders. The cache of the Hub's client links to its own blobs.
    """
    configs = manifest.configs.values()
    names = [*manifest.configs, *manifest.unavailable]
    names += [name for entry in configs for name in (entry.task, entry.lang)]
    for name in names:
        if not SAFE_NAME.fullmatch(name):
            raise DiscoprobeError(f"{path}: {name!r} cannot be the name of a config, task or language; do not use it")
    for file in [*manifest.files, *(file for entry in configs for file in entry.files)]:
        if PurePosixPath(file).is_absolute() or ".." in PurePosixPath(file).parts or "\\" in file:
            raise DiscoprobeError(f"{path}: {file!r} leads out of the release folder; do not use it")
    folder = path.parent.resolve()
    allowed = (folder, folder.parent.parent / "blobs")
    for name in (README, *listed(manifest)):
        place = folder / name
        linked = place.is_symlink() or place.parent.is_symlink()
        if linked and not any(place.resolve().is_relative_to(root) for root in allowed):
            raise DiscoprobeError(f"{place} is a symbolic link that leads out of the release folder; do not use it")


def config_entry(
    config: Config, content: dict[str, str], files: dict[str, File], report: Report | None = None
) -> ConfigEntry:
    """A config's entry; ``content`` has a hash of the rows per split, ``files`` what its folder holds."""
    sources = [source.name for source in config.sources]
    return ConfigEntry(
        task=config.task, lang=config.lang, summary=config.definition.partition("\n")[0], asks=config.asks,
        shape=str(config.shape),
        labels=list(config.labels), counts=config.counts(), candidates=config.candidates, drops=dict(config.drops),
        notes=list(config.notes), sources=sources, settings=json.loads(json.dumps(config.settings.to_dict())),
        content=content, files=files, audit=audit_entry(report) if report else None,
        versions=stage_versions(config.version), lists=lists_of(config.settings),
        read=list(config.read) if set(config.read) != set(sources) else [],
        tiny=config.tiny, small=config.small, silver=config.silver,
        silver_test=config.silver_splits.get("test", -1) == config.last_split.num_rows,
        excluded=dict(config.excluded), plugins=dict(config.plugins),
        example=next(map(_shorten_texts, config.last_split.slice(0, 1).to_pylist()), {}),
    )  # fmt: skip


def _shorten_texts(value: Any) -> Any:
    """A value of a row with texts of at most ``_LONGEST`` characters."""
    if isinstance(value, str):
        return value if len(value) <= _LONGEST else value[:_LONGEST] + "…"
    if isinstance(value, list):
        return [_shorten_texts(item) for item in value]
    return {name: _shorten_texts(item) for name, item in value.items()} if isinstance(value, dict) else value


def audit_entry(report: Report) -> AuditEntry:
    """The summary of a report."""
    best, beside = report.strongest, report.strongest_beside_text
    failed = [finding.check for finding in report.errors]
    undecided, exempt = ([f for f in report.findings if f.status is status] for status in (Status.OPEN, Status.EXEMPT))
    excess = {f.check: (BY_ID[f.check].of_text, f.figure.excess if f.figure else (0, 0.0)) for f in undecided}
    closest = max(undecided, key=lambda f: excess[f.check], default=None)
    noted = {"group-split", "altered-dup", "paraphrase", "label-shares"}
    dependent = [f for f in report.findings if f.check in noted and f.status is Status.NOTED]
    named = {FLOOR, *failed, *(f.check for f in (*exempt, closest, best, beside, *dependent) if f)}
    return AuditEntry(
        failed=failed,
        open=sorted((f.check for f in undecided), key=lambda check: check != getattr(closest, "check", "")),
        exempt=[f.check for f in exempt],
        not_measured=[f.check for f in report.findings if f.status is Status.UNMEASURED],
        thresholds=sum(
            f.threshold is not None and f.status in _DECIDED
            for f in report.findings
            if BY_ID[f.check].kind is Kind.SHORTCUT
        ),
        unmeasured=report.unmeasured,
        findings={f.check: _finding_entry(f) for f in report.findings if f.check in named and f.figure},
        dropped=max((f.dropped for f in report.findings), default=0.0),
        missing=""
        if {"train", "test"} <= report.counts.keys()
        else next(  # no validation split harms nothing
            (f.detail for f in report.findings if f.check == "split-set"), ""
        ),
        edited=report.edited,
        external=report.external,
        expected=list(report.expected),
        resolution=report.resolution,
        majority=report.majority,
        strongest=best.check if best else None,
        accuracy=best.measured if best else None,
        gain=best.gain if best else None,
        beside_text=beside.check if beside else None,
        open_reach=max((f.interval[1] for f in undecided if f.interval and BY_ID[f.check].of_text), default=0.0),
        deciding_rows=report.deciding_rows,
        groups=report.groups,
        evidence=msgspec.to_builtins(tallies(report)),
    )


def _finding_entry(finding: Finding) -> FindingEntry:
    figure = finding.figure or Figure("", 0.0, None, None, None)
    return FindingEntry(
        finding.status, figure.measure, figure.value, figure.baseline, figure.threshold,
        None if figure.interval is None else list(figure.interval), finding.n, finding.cost or 0.0, finding.reason,
        finding.detail,
    )  # fmt: skip


def lists_of(settings: Settings) -> dict[str, File]:
    """Size and hash of the user's files that settings name, by setting; only of those that are there."""
    return {name: listed_file(path) for name, path in settings.files().items() if path.is_file()}


def stage_versions(task_version: int) -> dict[str, int]:
    """The version of each step that makes a config, by the name of the step; each is defined in the step's package.

    They are raised by hand: a change of the code that changes no output leaves the published configs as they are.
    ``tests/golden/test_stage_versions.py`` fails where an output changes and its version does not.
    """
    return {
        "reader": corpus_tables.VERSION,
        "build": builders.VERSION,
        "task": task_version,
        "audit": audit_report.VERSION,
        "card": cards.VERSION,
    }


def source_entry(source: Source) -> SourceEntry:
    """A corpus's entry."""
    return SourceEntry(
        source.lang, source.licence, source.repo, source.commit, source.citation, entries(source.files),
        list(source.genre), dict(source.annotation or {}),
    )  # fmt: skip


def renewed(
    old: Manifest,
    configs: dict[str, ConfigEntry],
    missing: list[Unavailable],
    corpora: list[Corpus],
    inputs: dict[str, str],
) -> Manifest:
    """The old manifest with the new results in place of those of the same names, and without files.

    Args:
        old: the manifest of the release so far.
        configs: the configs that were built.
        missing: the configs that could not be built.
        corpora: the corpora that were read.
        inputs: hash of everything that each of these results depends on (`release_folder.digest`).
    """
    fresh = empty()
    if not configs and not missing and old.configs:
        fresh.discoprobe = old.discoprobe  # nothing was built
    replaced = {*configs, *(result.name for result in missing)}
    fresh.configs = {name: entry for name, entry in old.configs.items() if name not in replaced} | configs
    used = {name for entry in fresh.configs.values() for name in entry.sources}

    sources = dict(old.sources)
    read: dict[str, dict[str, SourceEntry]] = {}
    for corpus in corpora:
        of_corpus = {source.name: source_entry(source) for source in corpus.sources}
        sources |= {source.name: source_entry(source) for source in corpus.all_sources}
        read.setdefault(corpus.lang, {}).update(of_corpus)
    fresh.sources = {name: entry for name, entry in sources.items() if name in used}
    unused = {
        lang: {name: entry for name, entry in of_lang.items() if name not in used}
        for lang, of_lang in sorted((old.beside | read).items())
    }
    fresh.beside = {lang: of_lang for lang, of_lang in unused.items() if of_lang}

    dropped: dict[str, Counter[str]] = {corpus.lang: Counter() for corpus in corpora if corpus.drops}
    for corpus in corpora:
        dropped.get(corpus.lang, Counter()).update(corpus.drops)
    fresh.skipped = {lang: drops for lang, drops in old.skipped.items() if lang not in read}
    fresh.skipped |= {lang: dict(drops) for lang, drops in dropped.items()}

    fresh.unavailable = {name: reason for name, reason in old.unavailable.items() if name not in replaced}
    fresh.unavailable |= {result.name: result.reason for result in missing}
    drops_of_missing = {result.name: dict(result.drops) for result in missing}
    fresh.unavailable_drops = _of_unavailable(fresh, old.unavailable_drops | drops_of_missing)
    fresh.inputs = {name: digest for name, digest in old.inputs.items() if name not in replaced} | inputs
    return fresh


def _of_unavailable(manifest: Manifest, drops: Mapping[str, dict[str, int]]) -> dict[str, dict[str, int]]:
    """The drops of the configs that are not available, of which there are any."""
    return {name: of_config for name, of_config in drops.items() if of_config and name in manifest.unavailable}


def contents(manifest: Manifest) -> dict[str, bytes]:
    """The bytes of the manifest by path, keys sorted: ``manifest.json``, and before it the parts, if it has any."""
    values = _with_unknown_beside(msgspec.to_builtins(manifest))
    if len(manifest.configs) <= MOST_IN_CARD:
        return {NAME: _dump_json(values)}
    rest: dict[str, Any] = {}
    parts: defaultdict[str, list[tuple[str, str, str]]] = defaultdict(list)
    for key, value in sorted(values.items()):
        rest[key] = {} if isinstance(value, dict) else value
        for name, entry in sorted(value.items()) if isinstance(value, dict) else ():
            if lang := _language(manifest, key, name):
                parts[lang].append((key, name, _compact_json(entry)))
            else:
                rest[key][name] = entry
    written = {
        f"{PARTS}/{lang}.parquet": parquet(pl.DataFrame(rows, list(_COLUMNS), orient="row"))
        for lang, rows in sorted(parts.items())
    }
    rest["files"] |= {path: msgspec.to_builtins(listed_file(part)) for path, part in written.items()}
    return {**written, NAME: _dump_json(rest)}


def parquet(table: pl.DataFrame) -> bytes:
    """A table as a file of a release: compressed, and the same bytes for the same rows."""
    table.write_parquet(buffer := io.BytesIO(), compression_level=_LEVEL)
    return buffer.getvalue()


def _with_unknown_beside(values: dict[str, Any]) -> dict[str, Any]:
    """The values of a manifest as its file has them: the keys that are not known here beside the others."""

    def beside(values: dict[str, Any]) -> dict[str, Any]:
        unknown: dict[str, Any] = values.pop("", {})
        return values | unknown

    for key in ("configs", "sources"):
        values[key] = {name: beside(entry) for name, entry in values[key].items()}
    return beside(values)


def _language(manifest: Manifest, key: str, name: str) -> str:
    """The language that an entry belongs to; empty for one of the whole release."""
    if key in {"skipped", "beside"}:
        return name
    if key == "sources":
        return manifest.sources[name].lang
    if key == "files":
        folder, _, file = name.partition("/")
        return file.partition(".")[0] if folder in OF_LANGUAGES else ""
    if key not in {"configs", "unavailable", "unavailable_drops", "inputs", "built_with"}:
        return ""
    return name.rpartition("_")[2]


def _dump_json(values: Mapping[str, object]) -> bytes:
    """JSON with a line for each entry of an object: a change of a config is one line, and indentation costs nothing."""

    def lines(value: object) -> str:
        if not isinstance(value, dict) or not value:
            return _compact_json(value)
        entries = (f"{_compact_json(key)}:{_compact_json(entry)}" for key, entry in sorted(value.items()))
        return "{\n" + ",\n".join(entries) + "\n}"

    text = ",\n".join(f"{_compact_json(key)}:{lines(value)}" for key, value in sorted(values.items()))
    return f"{{\n{text}\n}}\n".encode()


def _compact_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def is_part(path: str) -> bool:
    """Whether a path inside a release is that of a part."""
    return path.startswith(f"{PARTS}/")


def listed_file(content: Path | bytes) -> File:
    """The size and hash of a file, or of bytes that are to be one."""
    return hashes_of(content, with_git=False)


def listed(manifest: Manifest) -> dict[str, File]:
    """The size and hash of every file that a manifest lists, by path inside the release."""
    return {
        f"{name}/{path}": entry for name, config in manifest.configs.items() for path, entry in config.files.items()
    } | manifest.files


def paths(manifest: Manifest) -> set[str]:
    """All files of a release: those that its manifest lists, the manifest, and README.md."""
    return {NAME, README, *listed(manifest)}


def files_of(manifest: Manifest, names: Collection[str]) -> dict[str, File]:
    """The size and hash of every file of some configs, and of the files of their languages, by path."""
    configs = {name: entry for name, entry in manifest.configs.items() if name in names}
    langs = {entry.lang for entry in configs.values()}
    of_langs = {path: entry for path, entry in manifest.files.items() if _language(manifest, "files", path) in langs}
    return {
        f"{name}/{path}": entry for name, config in configs.items() for path, entry in config.files.items()
    } | of_langs


def split_file(split: str) -> str:
    """The name of the file of a split in the folder of a config; each split has one."""
    return f"{split}-00000-of-00001.parquet"


def versions(manifest: Manifest) -> dict[str, str]:
    """The versions of discoprobe and of the libraries that a manifest names."""
    return {"discoprobe": manifest.discoprobe, **manifest.software}


def only(local: Manifest, languages: Collection[str]) -> Manifest:
    """The manifest without other languages; the same if none is named."""
    if not languages:
        return local
    configs = {name: entry for name, entry in local.configs.items() if entry.lang in languages}
    used = {name for entry in configs.values() for name in entry.sources}
    return msgspec.structs.replace(
        local,
        configs=configs,
        sources={name: entry for name, entry in local.sources.items() if name in used},
        skipped={lang: drops for lang, drops in local.skipped.items() if lang in languages},
        unavailable={
            name: reason for name, reason in local.unavailable.items() if name.rpartition("_")[2] in languages
        },
        beside={lang: sources for lang, sources in local.beside.items() if lang in languages},
    )


def merged(remote: Manifest | None, local: Manifest) -> Manifest:
    """The manifest of both, without the list of the files about all configs.

    Raises:
        DiscoprobeError: if a config that stays was built from another state of a corpus than the local ones.
    """
    manifest = msgspec.structs.replace(local, files={})
    if remote is None:
        return manifest
    replaced = local.configs.keys() | local.unavailable.keys()
    staying = {name: entry for name, entry in sorted(remote.configs.items()) if name not in replaced}
    manifest.configs = staying | local.configs
    for config, entry in staying.items():
        for name in entry.sources:
            if name in local.sources and remote.sources[name] != local.sources[name]:
                raise DiscoprobeError(
                    f"{config} on the Hub was built from another version of {name} than the configs to be pushed;"
                    f" build {config} too, so that the release has one version of each corpus"
                )
    used = {name for entry in staying.values() for name in entry.sources}
    manifest.sources = {name: remote.sources[name] for name in sorted(used)} | local.sources
    manifest.skipped = remote.skipped | local.skipped
    manifest.beside = remote.beside | local.beside
    unavailable = remote.unavailable | local.unavailable
    manifest.unavailable = {name: reason for name, reason in unavailable.items() if name not in manifest.configs}
    manifest.unavailable_drops = _of_unavailable(manifest, remote.unavailable_drops | local.unavailable_drops)
    current = versions(manifest)
    built_with = {name: remote.built_with.get(name, versions(remote)) for name in staying}
    manifest.built_with = {name: used_then for name, used_then in built_with.items() if used_then != current}
    if manifest.configs == remote.configs and manifest.sources == remote.sources:
        # the same rows, cards and figures: built with what they were built with when they were published
        manifest.discoprobe, manifest.software = remote.discoprobe, dict(remote.software)
        manifest.built_with = dict(remote.built_with)
    return manifest
