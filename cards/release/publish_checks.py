"""Checks of a release before anything of it is published: audits, licences, attribution."""

from collections.abc import Collection, Iterable, Mapping

from discoprobe.cards.metadata.manifest import ConfigEntry, Manifest, SourceEntry
from discoprobe.cards.text.verdicts import FAILED, verdicts
from discoprobe.loaders.catalogue import licences
from discoprobe.loaders.errors import AuditFailedError, DiscoprobeError

_SHOWN = 3


def check(manifest: Manifest, allow_licence: Collection[str] = ()) -> None:
    """Makes sure that the configs of a manifest may be published.

    Args:
        manifest: of what is to be published.
        allow_licence: licences that are published though they are not open, in any spelling; ``unknown`` is one.

    Raises:
        AuditFailedError: if a config failed its audit or was not audited.
        DiscoprobeError: for a licence that forbids it, a source that cannot be attributed, or nothing to publish.
    """
    if not manifest["configs"]:
        raise DiscoprobeError("there is no config to publish; build some first, and see the reasons for those left out")
    _check_audits(manifest["configs"])
    used = sorted({name for entry in manifest["configs"].values() for name in entry["sources"]})
    check_licences({name: manifest["sources"][name]["licence"] for name in used}, allow_licence)
    _check_attribution({name: manifest["sources"][name] for name in used})


def check_licences(licence_of: Mapping[str, str], allow_licence: Collection[str] = ()) -> None:
    """Makes sure that data from corpora with these licences may be published.

    Args:
        licence_of: the licence of each corpus, in any spelling, by the name of the corpus.
        allow_licence: as for `check`.

    Raises:
        DiscoprobeError: naming the first corpus that may not be published.
    """
    allowed = {licences.normalise(name) for name in allow_licence} | {_plain(name) for name in allow_licence}
    for name, licence in sorted(licence_of.items()):
        _check_licence(name, licence, allowed)


def _check_audits(configs: dict[str, ConfigEntry]) -> None:
    unknown = [name for name, entry in sorted(configs.items()) if entry["audit"] is None]
    failed = {name: one.checks for name, one in sorted(verdicts(configs).items()) if one.word == FAILED}
    if failed:
        what = some(f"{name} ({', '.join(checks)})" for name, checks in failed.items())
        raise AuditFailedError(
            f"the audit failed: {what}; nothing is published; see build card, or build without --keep-failed"
        )
    if unknown:
        raise AuditFailedError(f"not audited: {some(unknown)}; nothing is published; build without --no-audit")


def check_designs(configs: Mapping[str, ConfigEntry]) -> None:
    """Makes sure that no task fails with the rows of all languages that will be published together.

    Raises:
        AuditFailedError: naming the task; then the cards of its configs would say *passed*, and the release's *failed*.
    """
    found = {configs[name]["task"]: one.checks for name, one in verdicts(configs).items() if one.of_design}
    if found:
        what = some(f"{task} ({', '.join(checks)})" for task, checks in sorted(found.items()))
        raise AuditFailedError(
            f"the audit fails together with the published configs: {what}; nothing is published; publish this"
            " task in a repository of its own, or leave it out with --task"
        )


def _check_licence(name: str, licence: str, allowed: Collection[str]) -> None:
    parts = licences.normalise(licence).split(" AND ")
    closed = [part for part in parts if not licences.publishable(part) and part not in allowed]
    if closed and _plain(licence) not in allowed:
        named = licence if len(parts) > 1 else closed[0]
        raise DiscoprobeError(
            f"{name}: the licence '{licence}' does not allow publishing ({licences.openness(closed[0])});"
            f" exclude the corpus, or give --allow-licence '{named}' if you have the right to publish it"
        )


def _plain(licence: str) -> str:
    """The name of a licence in lower case, with single spaces."""
    return " ".join(licence.casefold().split())


def _check_attribution(sources: dict[str, SourceEntry]) -> None:
    lacking = [
        name for name, source in sources.items() if not source["citation"].strip() and _asks_credit(source["licence"])
    ]
    if lacking:
        raise DiscoprobeError(
            f"no attribution for {some(lacking)}: their licence requires one; add their citation to the catalogue"
        )


def _asks_credit(licence: str) -> bool:
    """Whether a licence is known that asks for attribution: not a dedication to the public, not an unknown one."""
    return any(
        part not in {"CC0-1.0", licences.PUBLIC_DOMAIN, licences.UNKNOWN}
        for part in licences.normalise(licence).split(" AND ")
    )


def some(names: Iterable[str]) -> str:
    """The first names of a list, and how many more there are."""
    found = list(names)
    return ", ".join(found[:_SHOWN]) + (f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else "")
