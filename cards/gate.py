"""What must be true of a release before anything of it leaves this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discoprobe.cards.verdicts import FAILED, verdicts
from discoprobe.loaders import licences
from discoprobe.loaders.errors import AuditFailedError, DiscoprobeError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from discoprobe.cards.manifest import ConfigEntry, Manifest, SourceEntry

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
    allowed = {part for name in allow_licence for part in licences.normalise(name).split(" AND ")}
    for name in used:
        _check_licence(name, manifest["sources"][name], allowed)
    _check_attribution({name: manifest["sources"][name] for name in used})


def _check_audits(configs: dict[str, ConfigEntry]) -> None:
    unknown = [name for name, entry in sorted(configs.items()) if entry["audit"] is None]
    failed = {name: one.checks for name, one in sorted(verdicts(configs).items()) if one.word == FAILED}
    if failed:
        what = _some(f"{name} ({', '.join(checks)})" for name, checks in failed.items())
        raise AuditFailedError(
            f"the audit failed: {what}; nothing is published; see build card, or build without --keep-failed"
        )
    if unknown:
        raise AuditFailedError(f"not audited: {_some(unknown)}; nothing is published; build without --no-audit")


def _check_licence(name: str, source: SourceEntry, allowed: Collection[str]) -> None:
    parts = licences.normalise(source["licence"]).split(" AND ")
    if closed := [part for part in parts if not licences.publishable(part) and part not in allowed]:
        raise DiscoprobeError(
            f"{name}: the licence '{source['licence']}' forbids publishing ({licences.openness(closed[0])}); leave"
            f" the corpus out, or give --allow-licence '{closed[0]}' if you have the right"
        )


def _check_attribution(sources: dict[str, SourceEntry]) -> None:
    lacking = [
        name for name, source in sources.items() if not source["citation"].strip() and _asks_credit(source["licence"])
    ]
    if lacking:
        raise DiscoprobeError(
            f"no attribution for {_some(lacking)}: their licence asks for one; name their citation in the catalogue"
        )


def _asks_credit(licence: str) -> bool:
    """Whether a licence is known that asks for attribution: not a dedication to the public, not an unknown one."""
    return any(
        part not in {"CC0-1.0", licences.PUBLIC_DOMAIN, licences.UNKNOWN}
        for part in licences.normalise(licence).split(" AND ")
    )


def _some(names: Iterable[str]) -> str:
    found = list(names)
    return ", ".join(found[:_SHOWN]) + (f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else "")
