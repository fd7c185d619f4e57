"""The Hub's closed lists: what a card's metadata may say. The Hub refuses, or ignores, what is not in them."""

import functools
import re
from typing import Final

from discoprobe.loaders.catalogue import licences

OTHER: Final = "other"

# fmt: off
LICENCES: Final = frozenset({
    "apache-2.0", "mit", "openrail", "bigscience-openrail-m", "creativeml-openrail-m", "bigscience-bloom-rail-1.0",
    "bigcode-openrail-m", "afl-3.0", "artistic-2.0", "bsl-1.0", "bsd", "bsd-2-clause", "bsd-3-clause",
    "bsd-3-clause-clear", "c-uda", "cc", "cc0-1.0", "cc-by-2.0", "cc-by-2.5", "cc-by-3.0", "cc-by-4.0", "cc-by-sa-3.0",
    "cc-by-sa-4.0", "cc-by-nc-2.0", "cc-by-nc-3.0", "cc-by-nc-4.0", "cc-by-nd-4.0", "cc-by-nc-nd-3.0",
    "cc-by-nc-nd-4.0", "cc-by-nc-sa-2.0", "cc-by-nc-sa-3.0", "cc-by-nc-sa-4.0", "cdla-sharing-1.0",
    "cdla-permissive-1.0", "cdla-permissive-2.0", "wtfpl", "ecl-2.0", "epl-1.0", "epl-2.0", "etalab-2.0", "eupl-1.1",
    "agpl-3.0", "gfdl", "gpl", "gpl-2.0", "gpl-3.0", "lgpl", "lgpl-2.1", "lgpl-3.0", "isc", "lppl-1.3c", "ms-pl",
    "mpl-2.0", "odc-by", "odbl", "openrail++", "osl-3.0", "postgresql", "ofl-1.1", "ncsa", "unlicense", "zlib", "pddl",
    "lgpl-lr", "deepfloyd-if-license", "llama2", "gemma", "unknown", "other",
})
"""https://huggingface.co/docs/hub/repositories-licenses"""

SIZES: Final = (
    ("n<1K", 10**3), ("1K<n<10K", 10**4), ("10K<n<100K", 10**5), ("100K<n<1M", 10**6), ("1M<n<10M", 10**7),
    ("10M<n<100M", 10**8), ("100M<n<1B", 10**9), ("1B<n<10B", 10**10), ("10B<n<100B", 10**11),
    ("100B<n<1T", 10**12), ("n>1T", float("inf")),
)
"""Size categories with the number of rows that each stays below."""

TASK_CATEGORIES: Final = frozenset({
    "text-classification", "token-classification", "table-question-answering", "question-answering",
    "zero-shot-classification", "translation", "summarization", "feature-extraction", "text-generation",
    "text2text-generation", "fill-mask", "sentence-similarity", "table-to-text", "multiple-choice", "text-ranking",
    "text-retrieval", "other",
})
"""The text tasks of https://github.com/huggingface/huggingface.js, packages/tasks/src/pipelines.ts."""

TASK_IDS: Final = frozenset({
    "acceptability-classification", "multi-class-classification", "multiple-choice-qa",
})
"""Those of the Hub's finer names of tasks that describe ours (the same list, subtasks)."""

CREATORS: Final = frozenset({
    "found", "crowdsourced", "expert-generated", "machine-generated", "no-annotation", "other",
})
MULTILINGUALITY: Final = frozenset({"monolingual", "multilingual", "translation", "other"})
"""Both: https://github.com/huggingface/hub-docs, datasetcard.md."""
# fmt: on

_HUB_NAMES: Final = {"lgpllr": "lgpl-lr", "c-uda-1.0": "c-uda"}
"""Licences whose SPDX identifier is not the Hub's."""


def hub_licences(name: str) -> tuple[str, ...]:
    """The Hub's identifiers for a licence in any spelling, or several; ``other`` for one that the Hub does not list."""
    spdx = [part.lower() for part in licences.normalise(name).split(" AND ")]
    known = [_HUB_NAMES.get(part, part) for part in spdx]
    return tuple(part if part in LICENCES else OTHER for part in known)


def size_category(rows: int) -> str:
    """The size category of a number of rows."""
    return next(name for name, below in SIZES if rows < below)


_PRIVATE_USE = re.compile(r"q[a-t][a-z]")
"""ISO 639-2 reserves qaa–qtz for local use: Universal Dependencies has ``qhe`` and ``qtd`` for mixed languages."""


@functools.cache
def language_code(code: str) -> str:
    """The ISO 639-1 code of a language where it has one, else its ISO 639-3 code: ``sme`` becomes ``se``.

    A code of local use becomes ``mis`` (ISO 639-3: a language without a code).
    """
    import langcodes  # noqa: PLC0415 (half a megabyte of tables)

    return "mis" if _PRIVATE_USE.fullmatch(code) else str(langcodes.standardize_tag(code))


def is_language(code: str) -> bool:
    """Whether ``code`` is a code of ISO 639-1 or 639-3 in the form that the Hub lists."""
    import langcodes  # noqa: PLC0415

    shaped = re.fullmatch(r"[a-z]{2,3}", code) and not _PRIVATE_USE.fullmatch(code)
    return bool(shaped) and langcodes.Language.get(code).is_valid() and langcodes.standardize_tag(code) == code
