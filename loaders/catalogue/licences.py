"""Licences: one identifier for all spellings of a licence, how open it is, and which of several is strictest.

The identifier is that of SPDX (https://spdx.org/licenses/) where there is one: ``CC-BY-SA-4.0``, ``GPL-3.0``,
``LGPLLR``. Else it is ``CC-BY-SA`` where no version is given, ``LicenseRef-public-domain`` for a dedication without a
licence, or ``unknown``. A text that names several licences, as for a corpus of several sources, has all of them:
``CC-BY-4.0 AND CC-BY-SA-3.0``. Whatever else a text says may restrict these licences, so it counts as one more licence
that is unknown: ``CC BY 4.0 (non-commercial)`` is ``CC-BY-4.0 AND unknown``.
"""

import re
from collections.abc import Iterable
from typing import Final, Literal

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

from discoprobe.loaders.errors import UnknownNameError

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

_MEANINGLESS = re.compile(
    r"(?:\b(?:and|or|later|under|the|an?|licen[cs]e[sd]?|licenseref|version|international|unported|generic|universal"
    r"|dedication)\b|[\s,;:.&+/()\[\]-])*",
    re.IGNORECASE,
)
"""Words and punctuation between licences that do not change what they allow."""

NAMES: Final = (
    "CC0-1.0", "CC-BY-4.0", "CC-BY-SA-4.0", "CC-BY-NC-4.0", "CC-BY-NC-SA-4.0", "CC-BY-ND-4.0", "CC-BY-NC-ND-4.0",
    "CC-BY-3.0", "CC-BY-SA-3.0", "CC-BY-NC-3.0", "CC-BY-NC-SA-3.0", "MIT", "Apache-2.0", "BSD-3-Clause", "GPL-3.0-only",
    "LGPLLR", "C-UDA-1.0", "ODC-By-1.0", "ODbL-1.0", "PDDL-1.0", "public domain", UNKNOWN,
)  # fmt: skip
"""Names that a message proposes in place of one that is none."""

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
"""Families from the least to the most restrictive; an unknown licence grants nothing and is the last.

Between copyleft families the order follows what may be relicensed: CC BY-SA 4.0 may become GPL 3.0, never the reverse
(https://creativecommons.org/compatiblelicenses). Within a family the later version is the stricter, since a work under
CC BY-SA 3.0 may be passed on under 4.0 and not the other way round.
"""


def normalise(name: str) -> str:
    """The identifier of a licence; of several, all identifiers in the order they are named, joined by ``AND``.

    ``unknown`` is one of them where the text says anything else than the licences.
    """
    identifiers: dict[str, None] = {}
    for mention in _MENTION.finditer(name):
        kind = next(group for group in ("cc", "gpl", *_NAMED) if mention[group])
        identifier = _NAMED.get(kind, "")
        if kind == "cc":
            terms = [term.upper() for term in re.findall(r"nc|sa|nd", mention["terms"], re.IGNORECASE)]
            identifier = "-".join(["CC", "BY", *terms, *filter(None, [mention["ccv"]])])
        elif kind == "gpl":
            version = mention["gplv"]
            identifier = f"GPL-{version if '.' in version else version + '.0'}"
        identifiers[identifier] = None
    rest = _MENTION.sub(" ", name)
    if not identifiers or not _MEANINGLESS.fullmatch(rest):
        identifiers[UNKNOWN] = None
    return " AND ".join(identifiers)


def checked(name: str) -> str:
    """The name, if it is that of a licence.

    That is an identifier of SPDX, or several with AND or OR; a spelling that ``normalise`` knows, with a version that
    there is; or ``unknown``.

    Raises:
        UnknownNameError: it is empty or no licence; the message proposes similar names.
    """
    parts = normalise(name).split(" AND ")
    versionless = re.compile(r"CC-BY(?:-NC)?(?:-SA|-ND)?")
    for spelling in ([name], parts):
        try:
            for part in spelling:
                if part not in {UNKNOWN, PUBLIC_DOMAIN} and not versionless.fullmatch(part):
                    if "licenseref" in part.lower():
                        raise InvalidLicenseExpression
                    canonicalize_license_expression(part)
        except InvalidLicenseExpression:
            continue
        if spelling == [name] or UNKNOWN not in parts:
            return name
    raise UnknownNameError(
        "licence", name, NAMES, remedy="(it is an identifier of https://spdx.org/licenses, or unknown)"
    )


def openness(name: str) -> Openness:
    """How open a licence is, in any spelling; of several licences, the most restrictive.

    * ``open``: anybody may change the work and pass it on for any purpose, perhaps only under the same licence;
    * ``restricted``: the use is limited, but not to non-commercial use (C-UDA allows every recipient computational use
      only, so examples could not be printed in a card);
    * ``nc``: no commercial use;
    * ``nd``: no changes, so no data may be derived.
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
    """Whether data derived from a source under this licence may be published without further permission."""
    return openness(name) == "open"


def strictest(names: Iterable[str]) -> str:
    """The identifier of the most restrictive licence, by `strictness`; ``unknown`` without names."""
    parts = [part for name in names for part in normalise(name).split(" AND ")]
    return max(parts, key=strictness, default=UNKNOWN)


def strictness(identifier: str) -> tuple[int, str]:
    """The sort key of an identifier: the rank of its family, then its version."""
    family, _, version = identifier.rpartition("-")
    if not version[:1].isdecimal():
        family, version = identifier, ""
    return (_ORDER.index(family) if family in _ORDER else _ORDER.index(UNKNOWN), version)
