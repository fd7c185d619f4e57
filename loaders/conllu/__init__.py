"""From CoNLL-U files to columns.

``blocks`` cuts files into shards, ``parse`` and ``columns`` read lines into tables, ``check`` refuses malformed
sentences, ``align`` finds the tokens in the text, and ``documents`` finds the documents. ``reader`` calls them in this
order.
"""
