"""What a release says of itself for machines, from configs and reports.

``manifest`` is the inventory that everything else reads: it is made from configs and reports, written, read, and
combined with a published one. ``yaml_header`` and ``croissant`` describe the same release for the Hub and for other
tools.
"""

from discoprobe.loaders.rooms import offer

__getattr__, __dir__, __all__ = offer(__name__, {
    "manifest": ["audit_entry", "config_entry", "read", "source_entry", "split_file"],
})  # fmt: skip
