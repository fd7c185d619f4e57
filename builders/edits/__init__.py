"""Edits of sentences: words or clauses that change places, words that are replaced or hidden.

``swaps`` exchanges adjacent words, ``clause_edits`` exchanges clauses, hides their conjunction and exchanges
connectives, ``word_replacement`` and ``agreement`` replace a word. ``versions`` makes two rows of an edit: the
sentence as it is, and the edited one. The module of an edit balances what would show which of the two is edited.
"""

from discoprobe.loaders.rooms import offer

__getattr__, __dir__, __all__ = offer(__name__, {
    "clause_edits": ["ConjTypeRules", "OTHER", "SAME"],
    "swaps": ["FEW_ALIKE", "SwapRules", "adjacent_words", "impossible", "neighbours", "one_of_each", "swap",
        "swap_task", "varied"],
    "versions": ["counts_of", "exchange_words", "original_and_edited", "word_bags"],
})  # fmt: skip
