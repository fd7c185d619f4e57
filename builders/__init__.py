"""Build configs from a corpus, and audit them.

``build`` tells a build from a corpus to configs, block by block (``blocks``): the tasks (``probing``, ``discourse``,
``relations``, ``suites``) give candidates and choose rows of them (``selection``), and only these rows get their texts.
``audit`` measures a finished config, or any other labelled dataset.
"""

from typing import Final

from discoprobe.loaders.rooms import offer

VERSION: Final = 19
"""Version of selection, sampling and realisation, as far as all tasks share them.

Raise it when rows change: published configs then count as stale.
"""

__getattr__, __dir__, __all__ = offer(__name__, {
    "blocks": ["SomeDocuments", "blocks_of", "load", "rows_of_block"],
    "build": ["ConfigRows", "build_all", "collect_rows", "suite_rows"],
    "config": ["Config", "Paper", "Shape", "Unavailable", "crossed", "papers_of", "schema"],
    "drops": ["Drops", "meanings", "without_rows"],
    "selection": ["hindrance", "losses", "merge", "problem_of", "problem_of_sample", "sample",
        "select"],
    "settings": ["MIN_ROWS", "PRESETS", "SHARES", "SPLITS", "Settings", "preset", "with_values"],
    "task": ["Context", "DiscourseTask", "FAMILIES", "GONE", "ProbingTask", "Sample", "all_tasks", "generated_tasks",
        "tasks_named", "unsupported"],
    "why": ["Explanation", "Trace", "trace"],
})  # fmt: skip
