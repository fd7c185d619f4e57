"""Layers of discourse: relations of DISRPT beside CoNLL-U files, and trees of Rhetorical Structure Theory.

``disrpt_relations`` reads a ``.rels`` file into the columns ``RELATIONS``, ``rst_trees`` reads ``.rs3`` and ``.rs4``
files into ``RST_NODES``. Both list what is malformed, with its line.
"""
