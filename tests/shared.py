"""Where the tests find corpora: the sample that ships with the package, and ``../shared`` where it is there."""

import importlib.resources
import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"
UD = SHARED / "corpora" / "ud"
SAMPLE = Path(str(importlib.resources.files("discoprobe.loaders") / "sample"))
SAMPLE_LANGUAGES = sorted(path.name.partition("_")[0] for path in SAMPLE.glob("*.conllu"))
REAL_LANGUAGES = [lang for lang in ("ca", "en", "es", "fi", "hr", "uk") if (UD / lang).is_dir()]
"""A few languages whose documents are marked in different ways: by comments, in sentence ids, a file each."""

WHY = "no ../shared with treebanks beside the repository"
needs_shared = pytest.mark.skipif(not UD.is_dir(), reason=WHY)

STANZA = SHARED / "models" / "stanza"
NO_STANZA = (
    "Stanza is not installed: pip install 'discoprobe[stanza]'"
    if importlib.util.find_spec("stanza") is None
    else "" if STANZA.is_dir() else "no ../shared with Stanza models beside the repository"
)  # fmt: skip
needs_stanza = pytest.mark.skipif(bool(NO_STANZA), reason=NO_STANZA)


def sample_file(lang: str) -> Path:
    """The sample corpus of a language."""
    return SAMPLE / f"{lang}_sample-ud-test.conllu"


def treebank_files(where: str, lang: str) -> list[Path]:
    """The files of a language: of the sample, or of the shared treebanks (which may be none)."""
    if where == "sample":
        return [sample_file(lang)]
    return sorted((UD / lang).rglob("*.conllu"))


def tree_of(folder: Path) -> dict[str, bytes]:
    """Every file below a folder with its bytes: what "unchanged" means."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def documents(text: str) -> list[str]:
    """The documents of a CoNLL-U text in which each begins with a ``# newdoc`` comment, each as CoNLL-U."""
    parts = text.split("# newdoc")
    assert not parts[0].strip(), "sentences before the first document"
    return [f"# newdoc{part.rstrip()}\n\n" for part in parts[1:]]
