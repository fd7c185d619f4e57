"""From CoNLL-U files to columns, and from words to lines of CoNLL-U.

``blocks`` cuts files into shards, ``word_lines`` and ``comments`` read them into columns, ``check`` refuses malformed
sentences, ``align`` finds the tokens in the text; ``parse`` calls these four. ``documents`` finds the documents.
``reader`` is what others call. ``write`` gives the lines of a sentence.
"""
