"""Readers of discourse annotation: relations, trees of Rhetorical Structure Theory, coreference.

``disrpt_relations`` reads a ``.rels`` file into the columns ``RELATIONS``, ``rst_trees`` reads ``.rs3`` and ``.rs4``
files into ``RST_NODES``, and ``mentions`` reads ``Entity=`` in CoNLL-U files into ``MENTIONS``. Each also returns a
list of what is malformed, with line numbers.
"""

from discoprobe.loaders.rooms import offer

__getattr__, __dir__, __all__ = offer(__name__, {
    "mentions": ["read_mentions"],
    "rst_trees": ["read_trees"],
})  # fmt: skip
