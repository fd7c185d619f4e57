"""Passages of documents, the rows of discourse tasks made from them, and distractors.

``windows`` finds unbroken passages and cuts windows from them. ``window_rows`` makes rows from windows, and ``links``
makes the suites of orders. ``distractors`` finds sentences that resemble the one they replace, by ``similarity``;
``char_ngrams`` counts what it compares.
"""
