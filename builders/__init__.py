"""Build configs from a corpus, and audit them.

``build`` runs all steps: ``selection`` asks the tasks (``probing``, ``discourse``, ``relations``, ``suites``) for
candidates, ``sample`` chooses rows, ``realise`` reads the texts of the chosen rows. ``audit`` measures a finished
config, or any other labelled dataset.
"""

from typing import Final

VERSION: Final = 8
"""Version of selection, sampling and realisation, as far as all tasks share them.

Raise it when rows change: published configs then count as stale.
"""
