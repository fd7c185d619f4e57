"""Files of a repository that no release wrote, and that are in the way of one.

A push deletes and overwrites only files that a release wrote.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from discoprobe.loaders.errors import RemoteError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from discoprobe.cards.hub.remote_release import Remote
    from discoprobe.cards.hub.staging import Staged

_LOADED_INSTEAD = frozenset({".huggingface.yaml", "dataset_infos.json"})
"""Files that `datasets` reads instead of a card's configs, or beside them; a script named like the repository too."""
_SHOWN = 3


def refuse_in_the_way(remote: Remote, staged: Staged, repo: str) -> None:
    """Makes sure that a release would overwrite nothing of somebody else's, and that `datasets` would read its card.

    Raises:
        RemoteError: naming what is in the way.
    """
    paths = sorted(_in_the_way(remote, staged, repo))
    if paths:
        more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
        raise RemoteError(
            f"{repo} holds files that no release put there and that are in the way of this one:"
            f" {', '.join(paths[:_SHOWN])}{more}; rename or delete them there, or give another --repo"
        )


def _in_the_way(remote: Remote, staged: Staged, repo: str) -> Iterator[str]:
    configs = staged.manifest["configs"]
    folders = {str(folder) for path in staged.files for folder in PurePosixPath(path).parents}
    instead = {*_LOADED_INSTEAD, f"{repo.rpartition('/')[2]}.py"}
    for path in staged.unmanaged - remote.replaceable:
        wanted = staged.files.get(path)
        above = {str(folder) for folder in PurePosixPath(path).parents}
        if (
            (wanted and not wanted.equals(remote.tree[path]))
            or path.partition("/")[0] in configs
            or path in folders | instead
            or above & staged.files.keys()
        ):
            yield path
