"""discoprobe: balanced, audited probing and discourse datasets for every language that has a treebank.

>>> import discoprobe
>>> corpus = discoprobe.load_corpus("es", ["sample"])
>>> discoprobe.build("bso", corpus).labels
('in_order', 'swapped')
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from discoprobe.auditing import audit_any as audit
    from discoprobe.builders.build import build
    from discoprobe.builders.settings import Settings as Settings
    from discoprobe.loaders.process_pool import use_executor as use_executor
    from discoprobe.sources import load_corpus

_PLACES = {
    "audit": "discoprobe.auditing:audit_any",
    "build": "discoprobe.builders.build",
    "load_corpus": "discoprobe.sources",
    "Settings": "discoprobe.builders.settings",
    "use_executor": "discoprobe.loaders.process_pool",
}
__all__ = ["Settings", "audit", "build", "load_corpus", "use_executor"]


def __getattr__(name: str) -> object:
    """Imports a public name when it is first used, so that `import discoprobe` is fast."""
    if name in _PLACES:
        module, _, called = _PLACES[name].partition(":")
        return getattr(importlib.import_module(module), called or name)
    raise AttributeError(f"module 'discoprobe' has no attribute {name!r}")
