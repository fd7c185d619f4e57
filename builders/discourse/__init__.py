"""Discourse tasks over sentences of documents, one module each; they are found by listing this folder.

A task takes windows from ``builders.passages``, gives them labels, and returns rows; their texts come last,
in ``builders.blocks``.
"""

from discoprobe.loaders.plugins import FamilyPath

__path__ = FamilyPath(__path__, "discourse")  # type: ignore[assignment]  # plugins may have further modules
