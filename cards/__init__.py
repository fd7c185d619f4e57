"""From configs and reports to a release on the Hub.

``metadata`` describes a release for machines, ``text`` for people; ``release`` writes and compares release folders;
``hub`` publishes them, and ``review`` shows them to reviewers.
"""

from typing import Final

from discoprobe.loaders.rooms import offer

VERSION: Final = 22
"""Version of the text and the plots of cards. Raise it when they change: published configs then count as stale."""

__getattr__, __dir__, __all__ = offer(__name__, {
    "readers": ["Mark", "append", "blind_answers", "cohen_kappa", "figures", "marks_file", "merge", "read_marks",
        "to_exclude", "verdicts_now"],
})  # fmt: skip
