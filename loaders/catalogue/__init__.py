"""The catalogue of corpora that are pinned to a commit, one TOML file per language.

``pins`` has the records of a file, ``licences`` the identifiers of licences, and ``treebanks`` looks corpora up.
"""
