"""What a release says of itself for machines, from configs and reports.

``manifest`` is the inventory that everything else reads; ``yaml_header`` and ``croissant`` describe the release for the
Hub and for other tools; ``card_checks`` checks a card before it is published.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, submod_attrs={
    "manifest": ["audit_entry", "config_entry", "read", "source_entry"],
})  # fmt: skip
