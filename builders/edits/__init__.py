"""Edits of sentences: words or clauses that change places, words that are replaced or hidden.

``swaps`` exchange ``adjacent_words`` in a ``fixed_order``; ``clause_inversion`` exchanges clauses that ``anaphora`` tie
to their order; ``word_replacement`` (by ``misfits``, in rings of ``word_pairs``), ``agreement`` and
``connective_exchange`` replace a word; ``hidden_conjunction`` hides one. ``versions`` makes two rows of an edit: the
sentence as it is, and the edited one. The module of an edit balances what would show which of the two is edited.
"""
