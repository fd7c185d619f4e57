"""Verified downloads of the corpora in the catalogue, files at any URL, and models.

``listing`` selects and lists corpora, ``catalogue_files`` keeps their files in the cache, ``download`` gets one.
``remote_files`` lists and reads files of texts and releases through fsspec. ``stanza_models`` finds and downloads the
models of Stanza.
"""
