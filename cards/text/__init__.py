"""Cards: what people read of a release and of a config.

``card`` collects the content, with ``reader_table``, ``examples`` and ``plots``, and ``render`` fills the templates.
``verdicts`` decides for all of them what the audit says of a config.
"""
