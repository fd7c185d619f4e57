"""Passages of documents, the rows of discourse tasks made from them, and distractors.

``windows`` finds unbroken passages and cuts windows from them; ``rows`` and ``window_rows`` make rows from windows, and
``links`` the suites of orders;
``distractors`` finds sentences that resemble the one they replace, by ``similarity``, which ``char_ngrams`` counts for.
"""
