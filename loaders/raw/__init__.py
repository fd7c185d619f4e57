"""From raw text to CoNLL-U; every character keeps its offset in the source.

``files``, ``tables`` and ``tei`` give rows; ``plain_text`` and ``markup`` make documents of them; ``paragraph_filters``
drops what is not running text of the language, or repeats, all that in the order of ``raw_corpus``. ``annotate`` finds
sentences and words and annotates them; ``prepare`` does everything in one call.
"""
