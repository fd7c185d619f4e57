"""Verified downloads of the corpora in the catalogue, files at any URL, and models.

``downloads`` selects and lists corpora of the catalogue, and keeps their verified files in the cache. ``remote_files``
lists, reads and copies files of texts and releases through fsspec.
"""

from discoprobe.loaders.rooms import offer

__getattr__, __dir__, __all__ = offer(__name__, {
    "downloads": ["HUB_TEXT", "fetch", "folder", "list_corpora", "location", "places", "select", "state_of"],
})  # fmt: skip
