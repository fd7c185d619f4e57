"""The catalogue of corpora that are pinned to a commit, one TOML file per language.

``treebanks`` has the records of a file and looks corpora up, ``licences`` has the identifiers of licences.
"""

from discoprobe.loaders.rooms import offer

__getattr__, __dir__, __all__ = offer(__name__, {
    "licences": ["checked", "normalise", "openness", "publishable", "strictest", "strictness"],
    "treebanks": ["DocumentRule", "Licences", "Source", "Treebank", "corpora_with", "corpus",
        "default_corpora", "facts_of", "hub_texts", "language", "language_code", "languages", "needed_corpora",
        "treebank"],
})  # fmt: skip
