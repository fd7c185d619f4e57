"""From configs and reports to a release on the Hub.

``metadata`` describes a release for machines, ``text`` for people; ``release`` writes and compares release folders;
``hub`` publishes them, and ``review`` shows them to reviewers.
"""

from typing import Final

VERSION: Final = 8
"""Version of the text and the plots of cards. Raise it when they change: published configs then count as stale."""
