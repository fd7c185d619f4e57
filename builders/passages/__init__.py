"""Passages of documents, the rows of discourse tasks made from them, and distractors.

``windows`` finds unbroken passages and cuts windows from them. ``window_rows`` makes rows from windows. Most other
modules make families of tasks: ``distractor_windows``, ``continuations`` and ``choices`` with wrong sentences,
``links`` with other orders, ``corpus_labels`` and ``connective_pairs`` with what the corpus says. ``distractors`` finds
sentences that resemble the one they replace, by ``similarity``; ``char_ngrams`` counts what it compares.
"""
