"""Verified downloads of the corpora in the catalogue, files at any URL, and models.

``listing`` selects and lists corpora, ``catalogue_files`` keeps their files in the cache, ``download`` gets one.
``remote_files`` lists and reads files of texts and releases through fsspec. ``stanza_models`` finds and downloads the
models of Stanza.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, submod_attrs={
    "downloads": ["HUB_TEXT", "Patience", "check", "fetch", "folder", "list_corpora", "location", "places",
        "select"],
})  # fmt: skip
