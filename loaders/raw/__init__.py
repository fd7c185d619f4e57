"""From raw text to CoNLL-U; the offset of every character in the source is kept.

``files``, ``tables`` and ``tei`` read documents as rows; ``plain_text`` and ``markup`` divide a row into clean
paragraphs; ``paragraph_filters`` drops text that is not running text of the language or that repeats earlier text.
``raw_corpus`` runs these steps in order. ``annotate`` finds sentences and words and annotates them; ``prepare`` does
everything in one call.
"""
