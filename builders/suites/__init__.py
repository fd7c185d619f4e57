"""One module per test suite: pairs of a good and a bad text, which only evaluate.

A suite is a task with ``conditions``: its configs have one split, ``test``, and one row per pair.
"""

from discoprobe.loaders.plugins import FamilyPath

__path__ = FamilyPath(__path__, "suites")  # type: ignore[assignment]  # plugins may have further modules
