"""Cards: the pages that describe a release and its configs.

``card`` collects the content, with ``reader_table``, ``examples`` and ``plots``, and ``render`` fills the templates.
``verdicts`` puts the result of the audit of a config into words, for all pages.
"""
