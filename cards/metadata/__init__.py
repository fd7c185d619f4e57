"""What a release says of itself for machines, from configs and reports.

``manifest`` is the inventory that everything else reads; ``yaml_header`` and ``croissant`` describe the release for the
Hub and for other tools; ``card_checks`` checks a card before it is published.
"""
