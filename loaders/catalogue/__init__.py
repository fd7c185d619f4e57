"""The catalogue of corpora that are pinned to a commit, one TOML file per language.

``pins`` has the records of a file, ``licences`` the identifiers of licences, and ``treebanks`` looks corpora up.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, submod_attrs={
    "licences": ["normalise", "openness", "publishable", "strictest", "strictness"],
    "pins": ["DocumentRule", "PinnedFile", "Treebank", "TreebankFacts"],
    "treebanks": ["corpus", "default_corpora", "facts_for", "hub_texts", "language", "language_code", "languages",
        "open_treebanks", "treebank"],
})  # fmt: skip
