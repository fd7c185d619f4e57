"""What a release says of itself for machines, from configs and reports.

``manifest`` is the inventory that everything else reads: it is made from configs and reports, written, read, and
combined with a published one. ``yaml_header`` and ``croissant`` describe the same release for the Hub and for other
tools.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, submod_attrs={
    "manifest": ["audit_entry", "config_entry", "read", "source_entry", "split_file"],
})  # fmt: skip
