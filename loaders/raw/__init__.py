"""From raw text to CoNLL-U; every character keeps its offset in the source.

``read`` finds documents, ``clean`` removes what is not running text, and ``annotate`` adds sentences, words and their
annotation.
"""
