"""Where the tests find corpora: the sample that ships with the package, and a folder of treebanks where it is there.

That folder is ``../shared``, or what the environment variable ``DISCOPROBE_SHARED`` names (a folder that does not exist
shows what a fresh clone tests).
"""

import contextlib
import functools
import importlib.resources
import importlib.util
import io
import os
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest
import typer

from discoprobe import cli
from discoprobe.builders import Settings

typer.main.get_command = functools.cache(typer.main.get_command)  # typer makes all commands anew for each call

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("DISCOPROBE_SHARED") or ROOT.parent / "shared")
UD = SHARED / "corpora" / "ud"
SAMPLE = Path(str(importlib.resources.files("discoprobe.loaders") / "sample"))
SAMPLE_LANGUAGES = sorted(path.name.partition("_")[0] for path in SAMPLE.glob("*.conllu"))
REAL_LANGUAGES = [lang for lang in ("ca", "en", "es", "fi", "hr", "uk") if (UD / lang).is_dir()]
"""A few languages whose documents are marked in different ways: by comments, in sentence ids, a file each."""

DEFAULT = Settings()
SMALL_CLASSES = Settings(ipm="none", syncretism=(), min_class=2)
"""Settings under which the small sample supports nearly every task."""

WHY = "no ../shared with treebanks beside the repository"
needs_shared = pytest.mark.skipif(not UD.is_dir(), reason=WHY)

STANZA = SHARED / "models" / "stanza"
NOT_INSTALLED = "Stanza is not installed: pip install stanza"
HAS_STANZA = importlib.util.find_spec("stanza") is not None
NO_STANZA = (
    NOT_INSTALLED if not HAS_STANZA
    else "" if STANZA.is_dir() else "no ../shared with Stanza models beside the repository"
)  # fmt: skip
needs_stanza = pytest.mark.skipif(bool(NO_STANZA), reason=NO_STANZA)
needs_stanza_without_models = pytest.mark.skipif(not HAS_STANZA, reason=NOT_INSTALLED)


def sample_file(lang: str) -> Path:
    """The sample corpus of a language."""
    return SAMPLE / f"{lang}_sample-ud-test.conllu"


def treebank_files(where: str, lang: str) -> list[Path]:
    """The files of a language: of the sample, or of the shared treebanks (which may be none)."""
    if where == "sample":
        return [sample_file(lang)]
    return sorted((UD / lang).rglob("*.conllu"))


def as_shown(text: str, lang: str) -> str:
    """A text without the blank that Czech treebanks have before a clitic with a hyphen (*bylo- li*)."""
    return text.replace("- li", "-li") if lang == "cs" else text


def tree_of(folder: Path) -> dict[str, bytes]:
    """Every file below a folder with its bytes: what "unchanged" means."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def documents(text: str) -> list[str]:
    """The documents of a CoNLL-U text in which each begins with a ``# newdoc`` comment, each as CoNLL-U."""
    parts = text.split("# newdoc")
    assert not parts[0].strip(), "sentences before the first document"
    return [f"# newdoc{part.rstrip()}\n\n" for part in parts[1:]]


def run_in_process(*arguments, cwd: Path | None = None, environment=None) -> subprocess.CompletedProcess[str]:
    """The program as a user calls it, but in this process: exit status, stdout and stderr.

    An exception that the program would show as a traceback is raised here.
    """
    argv, out, err = ["build", *map(str, arguments)], io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(cwd or Path.cwd()),
        mock.patch.dict(os.environ, environment or {}),
        mock.patch.object(sys, "argv", argv),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        pytest.raises(SystemExit) as exit_,
    ):
        cli.main()
    return subprocess.CompletedProcess(argv, exit_.value.code or 0, out.getvalue(), err.getvalue())
