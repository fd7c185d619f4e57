"""Probing tasks over single sentences, one module each; they are found by listing this folder.

A task takes words and clauses from ``builders.sentences``, labels them, and leaves the choice of rows to
``builders.sentences.candidates``.
"""

from discoprobe.loaders.plugins import FamilyPath

__path__ = FamilyPath(__path__, "probing")  # type: ignore[assignment]  # plugins may have further modules
