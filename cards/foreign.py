"""Files of a repository that no release put there: which stay beside one, and which are in its way.

A push deletes and overwrites only what a release put there. The folder of a published config is the release's own, for
its card names the files of a split by a pattern: whatever else somebody puts there would be loaded.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from discoprobe.cards import manifest
from discoprobe.loaders.errors import RemoteError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from discoprobe.cards.staging import Remote, Staged

GIT = frozenset({".gitattributes", ".gitignore"})
"""What the Hub itself puts into a new repository, or a person for git alone."""
_LOADED_INSTEAD = frozenset({".huggingface.yaml", "dataset_infos.json"})
"""What `datasets` reads instead of a card's configs, or beside them; a script of the repository's name is another."""
_SHOWN = 3


def foreign(remote: Remote) -> frozenset[str]:
    """The files that no release put there; none of them is ever deleted."""
    if remote.manifest is None:
        return frozenset(remote.tree)
    ours = {manifest.NAME, *remote.manifest["files"]}
    folders = tuple(f"{name}/" for name in remote.manifest["configs"])
    return frozenset(path for path in remote.tree if path not in ours and not path.startswith(folders))


def says_nothing(card: str, others: Collection[str]) -> bool:
    """Whether a README.md that no release wrote may be replaced, given the repository's other files.

    It may where it describes nothing: where it has no text, as the Hub's form for new repositories leaves it, or where
    there is nothing else.
    """
    text = re.sub(r"\A---\n.*?^---\n?", "", card.replace("\r\n", "\n"), flags=re.DOTALL | re.MULTILINE)
    return not text.strip() or not others


def refuse_in_the_way(remote: Remote, staged: Staged, repo: str) -> None:
    """Makes sure that a release would overwrite nothing of somebody else's, and that `datasets` would read its card.

    Raises:
        RemoteError: naming what is in the way.
    """
    found = sorted(_in_the_way(remote, staged, repo))
    if found:
        more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        raise RemoteError(
            f"{repo} holds files that no release put there and that are in the way of this one:"
            f" {', '.join(found[:_SHOWN])}{more}; rename or delete them there, or give another --repo"
        )


def _in_the_way(remote: Remote, staged: Staged, repo: str) -> Iterator[str]:
    configs = staged.manifest["configs"]
    folders = {str(folder) for path in staged.files for folder in PurePosixPath(path).parents}
    instead = {*_LOADED_INSTEAD, f"{repo.rpartition('/')[2]}.py"}
    for path in staged.foreign - remote.replaceable:
        wanted = staged.files.get(path)
        above = {str(folder) for folder in PurePosixPath(path).parents}
        if (
            (wanted and not wanted.equals(remote.tree[path]))
            or path.partition("/")[0] in configs
            or path in folders | instead
            or above & staged.files.keys()
        ):
            yield path
