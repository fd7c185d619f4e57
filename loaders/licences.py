"""Licences by name: one identifier for the many spellings, whether one may publish under it, and which is strictest.

An identifier is the SPDX one (https://spdx.org/licenses/) where there is one: ``CC-BY-SA-4.0``, ``GPL-3.0``,
``LGPLLR``; else ``CC-BY-SA`` where no version is given, ``LicenseRef-public-domain`` for a dedication without a
licence, and ``unknown``. A text that names several licences, as for a corpus of several sources, is all of them:
``CC-BY-4.0 AND CC-BY-SA-3.0``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable

Openness = Literal["open", "restricted", "nc", "nd", "unknown"]

UNKNOWN: Final = "unknown"
PUBLIC_DOMAIN: Final = "LicenseRef-public-domain"

_NAMED: Final = {
    "zero": "CC0-1.0",
    "pd": PUBLIC_DOMAIN,
    "lgpllr": "LGPLLR",
    "mit": "MIT",
    "apache": "Apache-2.0",
    "cuda": "C-UDA-1.0",
}
"""Groups of `_MENTION` that stand for one licence."""

_MENTION = re.compile(
    r"""
      (?P<zero>\bcc[\s-]*0(?:[\s-]*1\.0)?\b)
    | (?P<cc>\b(?:cc|creative\s+commons)[\s-]*by(?P<terms>(?:[\s-]*(?:nc|sa|nd)\b)*)(?:[\s-]*v?(?P<ccv>\d\.\d))?)
    | (?P<pd>\bpublic[\s-]domain\b|\bPD\b)
    | (?P<lgpllr>\blgpl-?lr\b)
    | (?P<gpl>\b(?:gnu\s+)?gpl[\s-]*v?(?P<gplv>\d(?:\.\d)?)\b)
    | (?P<mit>(?-i:\bMIT\b)|\A\s*mit\s*\Z)
    | (?P<apache>\bapache(?:\s+licen[cs]e)?(?:[\s,-]*(?:version\s+)?2(?:\.0)?)\b)
    | (?P<cuda>\bc-uda(?:[\s-]*1\.0)?\b)
    """,
    re.VERBOSE | re.IGNORECASE,
)

_ORDER: Final = (
    "CC0",
    PUBLIC_DOMAIN,
    "MIT",
    "Apache",
    "CC-BY",
    "CC-BY-SA",
    "LGPLLR",
    "GPL",
    "C-UDA",
    "CC-BY-NC",
    "CC-BY-NC-SA",
    "CC-BY-ND",
    "CC-BY-NC-ND",
    UNKNOWN,
)
"""Families from what asks least to what asks most; an unknown licence grants nothing and is the last.

Between copyleft families the order follows what may be relicensed: CC BY-SA 4.0 may become GPL 3.0, never the reverse
(https://creativecommons.org/compatiblelicenses). Within a family the later version is the stricter, since a work under
CC BY-SA 3.0 may be passed on under 4.0 and not the other way round.
"""


def normalise(name: str) -> str:
    """The identifier of a licence, of several joined by ``AND`` in the order they are named, or ``unknown``."""
    found = dict.fromkeys(_identifier(mention) for mention in _MENTION.finditer(name))
    return " AND ".join(found) or UNKNOWN


def openness(name: str) -> Openness:
    """What a licence lets one publish, in any spelling; of several licences, the worst.

    ``open``: anybody may change and pass on for any purpose, if need be under the same licence. ``restricted``: only
    for a use that is limited otherwise than by trade (C-UDA binds every recipient to computational use, so that
    examples could not be printed in a card). ``nc``: not commercially; ``nd``: not changed, so that nothing derives.
    """
    identifier = strictest([name])
    if identifier == UNKNOWN:
        return "unknown"
    terms = identifier.split("-")
    if "ND" in terms:
        return "nd"
    if "NC" in terms:
        return "nc"
    return "restricted" if identifier.startswith("C-UDA") else "open"


def publishable(name: str) -> bool:
    """Whether data derived from a source under this licence may be published without asking anybody."""
    return openness(name) == "open"


def strictest(names: Iterable[str]) -> str:
    """The identifier of the licence that asks most, by `strictness`; ``unknown`` where no name is given."""
    parts = [part for name in names for part in normalise(name).split(" AND ")]
    return max(parts, key=strictness, default=UNKNOWN)


def strictness(identifier: str) -> tuple[int, str]:
    """The place of an identifier in the order of strictness: its family's, then its version."""
    family, version = re.fullmatch(r"(.*?)(?:-(\d[\d.]*))?", identifier, re.DOTALL).groups("")  # type: ignore[union-attr]
    return (_ORDER.index(family) if family in _ORDER else _ORDER.index(UNKNOWN), version)


def _identifier(mention: re.Match[str]) -> str:
    kind = next(group for group in ("cc", "gpl", *_NAMED) if mention[group])
    if kind == "cc":
        terms = [term.upper() for term in re.findall(r"nc|sa|nd", mention["terms"], re.IGNORECASE)]
        return "-".join(["CC", "BY", *terms, *([mention["ccv"]] if mention["ccv"] else [])])
    if kind == "gpl":
        version = mention["gplv"]
        return f"GPL-{version if '.' in version else version + '.0'}"
    return _NAMED[kind]
