"""From files to a ``Corpus``: three tables of documents, sentences and tokens.

``catalogue`` names pinned corpora, ``fetch`` downloads and verifies them, ``raw`` annotates plain text as CoNLL-U,
``conllu`` reads CoNLL-U into columns, and ``cache`` keeps the result. ``languages`` holds facts about languages.
"""
