"""Builds a release again from the commits and hashes in its manifest, not from those of the present catalogue."""

import dataclasses
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from discoprobe.builders.settings import Settings
from discoprobe.cards.metadata.manifest import ConfigEntry, ListedFile, Manifest, SourceEntry
from discoprobe.cards.release.release_folder import take_readers
from discoprobe.loaders.catalogue import hub_texts, treebanks
from discoprobe.loaders.catalogue.pins import PinnedFile, TextCorpus, Treebank
from discoprobe.loaders.errors import DiscoprobeError, RemoteError, UnknownNameError, UnsupportedError
from discoprobe.loaders.raw.options import ReadOptions, assignments, read_options
from discoprobe.loaders.raw.prepare import AnnotationOptions
from discoprobe.pipeline import run
from discoprobe.requests import SAMPLE, Request

Pinned = Treebank | TextCorpus


def rebuilder(corpora: tuple[str, ...], jobs: int, stanza_dir: Path | None = None) -> Callable[[Manifest, Path], None]:
    """A function that builds the configs of a manifest again: from ``corpora``, else from the manifest's sources.

    Raw text is read and annotated with the options in the manifest, and with the models in ``stanza_dir`` (by default
    Stanza's own folder).

    The function raises DiscoprobeError for a source that is not in the catalogue, and RemoteError for one that cannot
    be downloaded any more. Both messages name the source.
    """

    def rebuild(found: Manifest, out: Path) -> None:
        excluded = {name: entry.get("excluded", {}) for name, entry in found["configs"].items()}
        groups: dict[tuple[str, str, tuple[str, ...]], list[ConfigEntry]] = {}
        for entry in found["configs"].values():
            read = tuple(entry.get("read", entry["sources"]))
            groups.setdefault((entry["lang"], json.dumps(entry["settings"], sort_keys=True), read), []).append(entry)
        for (lang, settings, read), entries in sorted(groups.items(), key=lambda group: group[0]):
            sources = sources_of(lang, read, found)
            named, pinned = (corpora, ()) if corpora else _named(_filling(sources, fills=False))
            fill = () if corpora else _named(_filling(sources, fills=True))[0]
            commits = tuple((name, source["commit"]) for name, source in sources.items() if _is_of_hub(source))
            request = Request(
                (lang,), named, tuple(entry["task"] for entry in entries), _settings(settings), jobs, "skip",
                audit=any(entry["audit"] for entry in entries), keep_failed=True, raw=_how(sources, stanza_dir),
                pinned=pinned, fill=fill, commits=commits, exclude=excluded,
            )  # fmt: skip
            _run(request, out)
        take_readers(out, found["configs"])

    return rebuild


def _how(sources: Mapping[str, SourceEntry], stanza_dir: Path | None) -> AnnotationOptions | None:
    """The options with which raw text was annotated: those of the first such source; None if there is none."""
    made = next((source["annotation"] for source in sources.values() if "annotation" in source), None)
    if made is None:
        return None
    names = {field.name for field in dataclasses.fields(ReadOptions)}
    read = ReadOptions(**{name: value for name, value in made["read"].items() if name in names})
    if made["made_by"]["engine"] == "rules":
        return AnnotationOptions(segment=True, rules=True, stanza_dir=stanza_dir, read=read)
    named = tuple(f"{processor}={package}" for processor, package in made["made_by"]["packages"].items())
    return AnnotationOptions(processors=named, stanza_dir=stanza_dir, read=read)


def _named(sources: Mapping[str, SourceEntry]) -> tuple[tuple[str, ...], tuple[Pinned, ...]]:
    """The names of the corpora for a request, and those corpora that the catalogue pins at another commit."""
    pinned = [corpus for name, source in sources.items() if (corpus := at_commit(name, source))]
    return tuple(sorted({_request_name(name, source) for name, source in sources.items()})), tuple(pinned)


def _filling(sources: Mapping[str, SourceEntry], *, fills: bool) -> dict[str, SourceEntry]:
    """The sources that were read as text of ``--fill``; with ``fills=False`` the other sources."""
    return {
        name: source for name, source in sources.items() if bool(source.get("annotation", {}).get("fills")) == fills
    }


def _request_name(name: str, source: SourceEntry) -> str:
    """The name of a corpus in a request; for text of the Hub that the catalogue does not have, its URL."""
    if _is_of_hub(source) and not hub_texts.is_hub_text(name):
        return str(source["annotation"]["read"]["source"])
    return SAMPLE if _is_sample(name) else name


def _is_of_hub(source: SourceEntry) -> bool:
    """Whether a corpus is text that was read from the Hub by row group."""
    return source["repo"].startswith(hub_texts.DATASETS)


def _is_sample(name: str) -> bool:
    return name.startswith(f"{SAMPLE}-")


def sources_of(lang: str, read: Iterable[str], found: Manifest) -> dict[str, SourceEntry]:
    """The corpora that configs of a language were built from, by name."""
    known = found["sources"] | found.get("beside", {}).get(lang, {})
    return {name: known[name] for name in sorted(read)}


def at_commit(name: str, source: SourceEntry) -> Pinned | None:
    """A corpus at the commit in a manifest, if the catalogue pins another; None if it is the same.

    None also for the sample and for text of the Hub, which need no pinned files.

    Raises:
        UnsupportedError: the source is raw text that is not in the catalogue, or the manifest does not list its files.
        DiscoprobeError: the catalogue has no such treebank.
    """
    if _is_sample(name) or _is_of_hub(source):
        return None
    if made := source.get("annotation"):
        return _text_at_commit(name, source, made)
    try:
        bank = treebanks.treebank(name)
    except UnknownNameError:
        files = ", ".join(f"{path} (SHA-256 {entry['sha256'][:12]}…)" for path, entry in source["files"].items())
        raise DiscoprobeError(
            f"{name} is in no catalogue: the release was built from {files}; give its folder with --corpus"
        ) from None
    if source["commit"] in {"", bank.commit}:
        return None
    return msgspec.structs.replace(
        bank, commit=source["commit"], repo=source["repo"], licence=source["licence"], citation=source["citation"],
        files=_files(bank, source["files"]),
    )  # fmt: skip


def _text_at_commit(name: str, source: SourceEntry, made: Mapping[str, Any]) -> TextCorpus | None:
    """Raw text at the commit and with the options in a manifest; None if the catalogue has the same.

    Raises:
        UnsupportedError: the catalogue has no such text, or the manifest does not list its files.
    """
    text, read, known = made["text"], assignments(made["read"]), _text_of_catalogue(name)
    listed = text.get("listed")
    if known and known.commit == source["commit"] and (not listed or read_options(known.read) == read_options(read)):
        return None
    if not known or not listed:
        raise UnsupportedError(
            f"{name} was annotated from raw text ({text['files']} files, {text['bytes']:,} bytes, SHA-256 "
            f"{text['sha256'][:12]}…): name that text, or its annotated folder, with --corpus; or --no-rebuild"
        )
    return msgspec.structs.replace(
        known, commit=source["commit"], repo=source["repo"], licence=source["licence"], citation=source["citation"],
        files=_files(known, listed), read=read,
    )  # fmt: skip


def _text_of_catalogue(name: str) -> TextCorpus | None:
    """The catalogue's corpus of raw text with a name."""
    try:
        known = treebanks.corpus(name)
    except (UnknownNameError, UnsupportedError):
        return None
    return known if isinstance(known, TextCorpus) else None


def _files(corpus: Pinned, listed: Mapping[str, ListedFile]) -> tuple[PinnedFile, ...]:
    """The listed files with their paths from the catalogue; others are expected in the folder that has most files."""
    paths = {file.name: file.path for file in corpus.files}
    ((most, _),) = Counter(PurePosixPath(path).parent for path in paths.values()).most_common(1)
    return tuple(
        PinnedFile(paths.get(name, str(most / name)), "", entry["bytes"], entry["sha256"])
        for name, entry in listed.items()
    )


def _run(request: Request, out: Path) -> None:
    """Builds a request; if a corpus cannot be downloaded at its pinned commit, the error names it."""
    try:
        run(request, out)
    except RemoteError as error:
        if not request.pinned:
            raise
        moved = ", ".join(
            f"{bank.name} at {bank.commit[:12]} (the catalogue has {treebanks.corpus(bank.name).commit[:12]} now)"
            for bank in request.pinned
        )
        raise type(error)(f"the release was built from {moved}, which cannot be downloaded: {error}") from error


def _settings(text: str) -> Settings:
    """The settings of a manifest, given as JSON."""
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in json.loads(text).items()
    }
    return Settings(**values)
