"""A catalogue of one Spanish treebank whose files a test makes."""

from pathlib import Path

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
