"""Verified downloads of the corpora in the catalogue, files at any URL, and models.

``downloads`` selects and lists corpora of the catalogue, and keeps their verified files in the cache. ``remote_files``
lists, reads and copies files of texts and releases through fsspec.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, submod_attrs={
    "downloads": ["HUB_TEXT", "check", "fetch", "folder", "list_corpora", "location", "places", "select"],
})  # fmt: skip
