"""The folder of everything that discoprobe keeps between runs: downloads, parsed corpora, annotated text."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """``$DISCOPROBE_CACHE``, else ``$XDG_CACHE_HOME/discoprobe``, else ``~/.cache/discoprobe``, on every system."""
    if folder := os.environ.get("DISCOPROBE_CACHE"):
        return Path(folder).expanduser().resolve()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "discoprobe"
