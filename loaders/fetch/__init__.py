"""Verified downloads of the corpora in the catalogue.

``listing`` selects and lists corpora, ``catalogue_files`` keeps their files in the cache, ``download`` gets one.
"""
