"""The description and the URLs of the project on the package index, made when the package is built.

README links to pages of the repository. On the index such a link would lead nowhere. So if the environment variable
``DISCOPROBE_REPOSITORY`` has the URL of the repository, links lead there, to the tag of this version; else the text of
each link stays, without a link. The release workflow sets the variable.
"""

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

INDEX = "https://pypi.org/project/discoprobe/"
_LINK = re.compile(r"\[([^\]]+)\]\((?!https?://|#)([^)]+)\)")
"""A Markdown link to a page of the repository."""


def description(readme: str, repository: str, version: str) -> str:
    """README with links that hold outside of the repository.

    Args:
        readme: the text of README.md.
        repository: its URL, such as ``https://github.com/owner/name``; empty if it is not known.
        version: of the package.
    """
    pages = f"{repository}/blob/v{version}"
    return _LINK.sub(rf"[\1]({pages}/\2)" if repository else r"\1", readme)


def urls(repository: str) -> dict[str, str]:
    """The URLs of the project, by the names that the index knows."""
    if not repository:
        return {"Homepage": INDEX}
    return {
        "Homepage": INDEX,
        "Repository": repository,
        "Documentation": f"{repository}/tree/main/docs",
        "Changelog": f"{repository}/blob/main/CHANGELOG.md",
        "Issues": f"{repository}/issues",
    }


class ProjectMetadata(MetadataHookInterface):
    """Fills in what pyproject.toml declares as dynamic."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Adds description and URLs."""
        repository = os.environ.get("DISCOPROBE_REPOSITORY", "").rstrip("/")
        readme = Path(self.root, "README.md").read_text(encoding="utf-8")
        text = description(readme, repository, metadata["version"])
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
        metadata["urls"] = urls(repository)
