"""discoprobe: balanced, audited probing and discourse datasets for every language that has a treebank.

>>> import discoprobe
>>> config = discoprobe.build("bso", discoprobe.load_corpus("es", "sample"))
>>> config
<BuiltConfig bso_es: 146 train, 28 validation, 72 test rows; labels in_order, swapped>

`load_corpus` reads corpora. `build` builds a task, or several as a release, which can be saved and published. `audit`
measures how well simple baselines solve a config or any other data. A notebook shows each of them as a table.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from discoprobe.auditing import audit_any as audit
    from discoprobe.builders.config import Config as Config
    from discoprobe.builders.settings import Settings as Settings
    from discoprobe.builders.task import all_tasks as all_tasks
    from discoprobe.loaders.catalogue.treebanks import languages as languages
    from discoprobe.loaders.corpus import Corpus as Corpus
    from discoprobe.loaders.errors import DiscoprobeError as DiscoprobeError
    from discoprobe.loaders.plugins import use_plugins as use_plugins
    from discoprobe.loaders.process_pool import use_executor as use_executor
    from discoprobe.notebook import build, load_corpus

    __version__: str

if not os.path.isdir(f"{__path__[0]}/builders"):  # noqa: PTH112 (imports nothing else)
    # a clone without symbolic links, such as git makes on Windows: the three folders are those of the repository
    __path__.append(os.path.dirname(os.path.dirname(__path__[0])))  # noqa: PTH120

_PLACES = {
    "Config": "discoprobe.builders.config",
    "Corpus": "discoprobe.loaders.corpus",
    "DiscoprobeError": "discoprobe.loaders.errors",
    "Settings": "discoprobe.builders.settings",
    "all_tasks": "discoprobe.builders.task",
    "audit": "discoprobe.auditing:audit_any",
    "build": "discoprobe.notebook",
    "languages": "discoprobe.loaders.catalogue.treebanks",
    "load_corpus": "discoprobe.notebook",
    "use_executor": "discoprobe.loaders.process_pool",
    "use_plugins": "discoprobe.loaders.plugins",
}
__all__ = [
    "Config", "Corpus", "DiscoprobeError", "Settings", "all_tasks", "audit", "build", "languages", "load_corpus",
    "use_executor", "use_plugins",
]  # fmt: skip


def __getattr__(name: str) -> object:
    """Imports a public name when it is first used, so that `import discoprobe` is fast."""
    if name == "__version__":
        return importlib.metadata.version("discoprobe")
    if name in _PLACES:
        module, _, called = _PLACES[name].partition(":")
        return getattr(importlib.import_module(module), called or name)
    raise AttributeError(f"module 'discoprobe' has no attribute '{name}'")


def __dir__() -> list[str]:
    """All public names, also those that were not used yet."""
    return sorted(({*globals(), "__version__"} | {*__all__}) - {"TYPE_CHECKING", "annotations", "importlib", "os"})
