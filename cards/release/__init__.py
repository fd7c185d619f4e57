"""Release folders: write, compare, check, export.

``release_folder`` writes configs and cards into a folder; ``diff`` and ``version`` compare it with the release before;
``staleness`` finds what must be built again; ``publish_checks`` refuses what must not be published.
"""
