"""List the treebanks of Universal Dependencies in a folder of git clones, as ``pin_corpora.py`` reads them.

``python scripts/list_treebanks.py CLONES > listing.json`` writes the listing; ``pin_corpora.py --catalogue CLONES``
makes it by itself. A clone is a folder of git, with or without a work tree, called like the treebank (``UD_Wolof-WTB``,
``UniversalDependencies+UD_Wolof-WTB/repo``). Only names, sizes and hashes of the files are read, and the README and
licence file; so a clone without large blobs (``git clone --filter=blob:limit=100k``) is enough.
"""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ORGANISATION = "UniversalDependencies"
_NAME = re.compile(r"UD_[\w-]+")
_FIELD = re.compile(r"^(License|Genre|Includes text): *(.*)$", re.MULTILINE)
"""A line of the block at the end of a README that programs read."""
_BLOB = re.compile(r"^\d+ blob ([0-9a-f]{40}) +(\d+|-)\t(.*)$")
_VERSION = re.compile(r"\b[1-4]\.0\b")


def main() -> int:
    """Print the listing of the folder that is named."""
    print(json.dumps({"treebanks": treebanks_in(Path(sys.argv[1]))}, ensure_ascii=False, indent=1))
    return 0


def treebanks_in(folder: Path) -> list[dict[str, Any]]:
    """The records of the clones in a folder, by name; of those only that have CoNLL-U files in the newest commit."""
    repositories = {path.parent for path in folder.glob("**/HEAD") if path.with_name("objects").is_dir()}
    records = [_record(repository) for repository in repositories if _NAME.search(str(repository.relative_to(folder)))]
    return sorted((record for record in records if record["files"]), key=lambda record: str(record["repo"]).casefold())


def _record(repository: Path) -> dict[str, Any]:
    """What the newest commit of a clone says of its treebank, with ``unknown`` for what its README does not say."""
    name = _NAME.findall(str(repository))[-1]
    blobs = [match.groups() for line in _git(repository, "ls-tree", "-l", "HEAD") if (match := _BLOB.match(line))]
    paths = {path: (sha1, None if size == "-" else int(size)) for sha1, size, path in blobs}
    readme = next((path for path in ("README.md", "README.txt") if path in paths), "")
    fields = dict(_FIELD.findall("\n".join(_git(repository, "show", f"HEAD:{readme}")))) if readme else {}
    terms = "\n".join(_git(repository, "show", "HEAD:LICENSE.txt")) if "LICENSE.txt" in paths else ""
    commit, date = _git(repository, "log", "-1", "--format=%H %cs", "HEAD")[0].split()
    return {
        "repo": f"{ORGANISATION}/{name}", "commit": commit, "date": date,
        "licence": fields.get("License", "").strip() or "unknown", "genre": fields.get("Genre", "").strip(),
        "includes_text": fields.get("Includes text", "unknown").strip(), "licence_file_says": _terms(terms),
        "files": [
            {"path": path, "git_blob_sha1": sha1, "bytes": size}
            for path, (sha1, size) in sorted(paths.items())
            if path.endswith(".conllu")
        ],
    }  # fmt: skip


def _terms(licence: str) -> str:
    """The conditions and versions that a licence file names."""
    words = {"NonCommercial": r"Non-?Commercial|-NC\b", "ShareAlike": r"Share-?Alike|-SA\b"}
    return ", ".join(
        [*(word for word, form in words.items() if re.search(form, licence)), *_VERSION.findall(licence)[:1]]
    )


def _git(repository: Path, *arguments: str) -> list[str]:
    done = subprocess.run(["git", f"--git-dir={repository}", *arguments], capture_output=True, check=True)
    return done.stdout.decode(errors="replace").splitlines()


if __name__ == "__main__":
    raise SystemExit(main())
