"""Tasks over the relation of two units of text, one module each; the name of the module is the name of the task."""

from discoprobe.loaders.plugins import FamilyPath

__path__ = FamilyPath(__path__, "relations")  # type: ignore[assignment]  # plugins may have further modules
