"""A catalogue of one Spanish treebank whose files a test makes."""

import functools
from pathlib import Path

from discoprobe.loaders.catalogue import treebanks

TOML = """
[language]
code = "es"
name = "Spanish"

[[treebank]]
name = "UD_Spanish-Tiny"
prefix = "es_tiny"
repo = "org/tiny"
commit = "0123456789abcdef0123456789abcdef01234567"
licence = "CC BY 4.0"
genre = ["news"]
documents = {documents}
citation = "Tiny, https://example.org/tiny"
files = [
{files}
]
"""


def write_catalogue(folder: Path, documents: str, **files: str) -> Path:
    """The folder with the record of the treebank.

    Args:
        folder: is created.
        documents: how its documents are recognised, in TOML.
        files: for each part (``dev``, ``test``, ``train``) what the catalogue has of its file beside the path, in TOML.
    """
    folder.mkdir()
    lines = [f'  {{ path = "es_tiny-ud-{part}.conllu", {record} }},' for part, record in files.items()]
    text = TOML.replace("{documents}", documents).replace("{files}", "\n".join(lines))
    (folder / "es.toml").write_text(text, encoding="utf-8")
    return folder


def use_catalogue(folder: Path, monkeypatch) -> None:
    """Lets this process read the catalogue of a folder, for one test."""
    monkeypatch.setattr(treebanks, "_folder", lambda: folder)
    for name, function in [*vars(treebanks).items()]:
        if hasattr(function, "cache_clear"):
            monkeypatch.setattr(treebanks, name, functools.cache(function.__wrapped__))
