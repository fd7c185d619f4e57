"""What keeps a release from being published, found offline, before anything is sent.

In the order in which a release meets it: there are too many configs for one repository (`number_problem`, before
anything is built), the card is too large (`size_problem`, at the end of a build), an audit failed or a licence or an
attribution is lacking (`check_release`, at the start of a push), and a task fails together with the published configs
(`check_designs`).
"""

import re
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from typing import Final

from discoprobe.cards.metadata.manifest import ConfigEntry, Manifest
from discoprobe.cards.metadata.yaml_header import MOST_CONFIGS
from discoprobe.cards.text.verdicts import ABOVE, UNMEASURED, verdicts
from discoprobe.loaders.catalogue import licences, treebanks
from discoprobe.loaders.errors import AUDIT_FAILED, DiscoprobeError, OutcomeError, UnknownNameError

MOST_BYTES: Final = 100_000
"""Largest YAML: every ``load_dataset`` parses it in pure Python first, and the Hub's check refuses large ones (413)."""
_BLOCK = re.compile(r"\A---\r?\n(.*?\n)---\r?\n", re.DOTALL)
_NAMED = 3
"""Names of a list that a message gives."""


def number_problem(configs: int) -> str:
    """What is wrong with a number of configs; empty if one repository can have them."""
    if configs <= MOST_CONFIGS:
        return ""
    return (
        f"{configs:,} configs are too many for one repository: the Hub's viewer shows none of more than"
        f" {MOST_CONFIGS:,}; publish languages in groups (--lang, --out), each in a repository of its own (--repo)"
    )


def size_problem(card: str) -> str:
    """What is wrong with the size of a card's YAML; empty for a size that the Hub accepts."""
    block = _BLOCK.match(card)
    size = len(block[1].encode()) if block else 0
    if size <= MOST_BYTES:
        return ""
    return (
        f"its YAML has {size:,} bytes, and the Hub accepts {MOST_BYTES:,}; build fewer languages or tasks into one"
        " folder, and publish each folder in a repository of its own (--lang, --out, --repo)"
    )


def check_release(manifest: Manifest, allow_licence: Collection[str] = ()) -> None:
    """Makes sure that the configs of a manifest may be published.

    A config that is above a threshold may not, and one on which no solver could be measured may only if it is tiny:
    whoever keeps tiny configs (``--min-rows``) knows it, and their cards say so. One that is open may: its rows cannot
    tell, and its card says so, with all figures and the smallest gain that they could show.

    Args:
        manifest: of what is to be published.
        allow_licence: licences that are published though they are not open, in any spelling; ``unknown`` is one.

    Raises:
        OutcomeError: if a config failed its audit, was not audited, or could not be measured although it is not tiny.
        DiscoprobeError: for a licence that forbids it, a source that cannot be attributed, or nothing to publish.
    """
    configs = manifest.configs
    if not configs:
        raise DiscoprobeError("there is no config to publish; build some first, and see the reasons for those left out")
    judged = dict(sorted(verdicts(configs).items()))
    if failed := {name: verdict for name, verdict in judged.items() if verdict.word == ABOVE}:
        what = name_some(f"{name} ({', '.join(verdict.checks)})" for name, verdict in failed.items())
        raise OutcomeError(
            f"the audit failed: {what}; nothing is published; see build card, or build without --keep-failed",
            AUDIT_FAILED,
        )
    if unaudited := [name for name, entry in sorted(configs.items()) if entry.audit is None]:
        raise OutcomeError(
            f"not audited: {name_some(unaudited)}; nothing is published; build without --no-audit",
            AUDIT_FAILED,
        )  # fmt: skip
    unmeasured = [name for name, verdict in judged.items() if verdict.word == UNMEASURED]
    if unmeasured := [name for name in unmeasured if not configs[name].tiny]:
        raise OutcomeError(
            f"the audit could measure nothing: {name_some(unmeasured)}; nothing is published; see build card",
            AUDIT_FAILED,
        )
    names = sorted({name for entry in configs.values() for name in entry.sources})
    sources = {name: manifest.sources[name] for name in names}
    check_licences({name: source.licence for name, source in sources.items()}, allow_licence)
    # An unknown licence, and what is dedicated to the public, ask for no attribution.
    without_credit = {"CC0-1.0", licences.PUBLIC_DOMAIN, licences.UNKNOWN}
    lacking = [
        name
        for name, source in sources.items()
        if not source.citation.strip()
        and not without_credit.issuperset(licences.normalise(source.licence).split(" AND "))
    ]
    if lacking:
        raise DiscoprobeError(
            f"no attribution for {name_some(lacking)}: their licence requires one; give --citation to "
            "`build annotate` or `build import` for data of your own, or add a citation to the catalogue"
        )


def check_licences(licence_of: Mapping[str, str], allow_licence: Collection[str] = ()) -> None:
    """Makes sure that data from corpora with these licences may be published.

    Args:
        licence_of: the licence of each corpus, in any spelling, by the name of the corpus.
        allow_licence: as for `check_release`.

    Raises:
        DiscoprobeError: naming the first corpus that may not be published.
    """

    def plain(licence: str) -> str:
        return " ".join(licence.casefold().split())

    allowed = {licences.normalise(name) for name in allow_licence} | {plain(name) for name in allow_licence}
    for name, licence in sorted(licence_of.items()):
        parts = licences.normalise(licence).split(" AND ")
        closed = [part for part in parts if not licences.publishable(part) and part not in allowed]
        if closed and plain(licence) not in allowed:
            to_allow = licence if len(parts) > 1 else closed[0]
            if closed[0] == licences.UNKNOWN and (pinned := _in_catalogue(name)):
                raise DiscoprobeError(
                    f"{name}: its files are not those of {pinned} in the catalogue, so that their licence is unknown;"
                    f" build from the pinned files (--corpus {pinned} in place of the path), exclude the corpus, or"
                    f" give --allow-licence '{to_allow}' if you have the right to publish it"
                )
            raise DiscoprobeError(
                f"{name}: the licence '{licence}' does not allow publishing ({licences.openness(closed[0])});"
                f" exclude the corpus, or give --allow-licence '{to_allow}' if you have the right to publish it"
            )


def _in_catalogue(name: str) -> str:
    """The corpus of the catalogue that a corpus or its file (``fr_gsd-ud-train``) is named like; empty without one."""
    with suppress(UnknownNameError):
        return treebanks.known(name.partition("-ud-")[0]).name
    return ""


def check_designs(configs: Mapping[str, ConfigEntry]) -> None:
    """Makes sure that no task fails with the rows of all languages that will be published together.

    Raises:
        OutcomeError: naming the task; then the cards of its configs would say something else than the release's.
    """
    of_design = {configs[name].task: verdict.checks for name, verdict in verdicts(configs).items() if verdict.of_design}
    if of_design:
        what = name_some(f"{task} ({', '.join(checks)})" for task, checks in sorted(of_design.items()))
        raise OutcomeError(
            f"the audit fails together with the published configs: {what}; nothing is published; publish this"
            " task in a repository of its own, or leave it out with --task",
            AUDIT_FAILED,
        )


def name_some(names: Iterable[str]) -> str:
    """The first names of a list, and how many more there are."""
    several = list(names)
    more = len(several) - _NAMED
    return ", ".join(several[:_NAMED]) + (f" and {more} more" if more > 0 else "")
