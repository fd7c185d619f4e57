"""From raw text to CoNLL-U; every character keeps its offset in the source.

``files``, ``tables`` and ``tei`` give rows and works; ``plain_text``, ``lines`` and ``markup`` make documents of them;
``paragraph_filters`` and ``repetition`` drop what is not running text of the language, all that in the order of
``raw_corpus``. ``annotate`` finds sentences and words and annotates them; ``prepare`` does everything in one call.
"""
