"""From raw text to CoNLL-U; every character keeps its offset in the source.

``files``, ``tables`` and ``tei`` give rows; ``plain_text`` and ``markup`` make documents of them; ``paragraph_filters``
drops text that is not running text of the language or that repeats earlier text. ``raw_corpus`` applies these steps in
order. ``annotate`` finds sentences and words and annotates them; ``prepare`` does everything in one call.
"""
