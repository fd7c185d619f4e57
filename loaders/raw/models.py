"""Which Stanza models annotate a language: found in their folder and verified, before Stanza is imported.

A folder of models has a ``resources.json``, which names packages and the MD5 of their files, and a file
``<language>/<processor>/<package>.pt`` for each (https://stanfordnlp.github.io/stanza/download_models.html).
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from discoprobe.loaders.corpus import SourceFile
from discoprobe.loaders.errors import DiscoprobeError, RemoteError, UnknownNameError, UnsupportedError, UsageError
from discoprobe.loaders.stretches import digest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

PROCESSORS: Final = ("tokenize", "mwt", "pos", "lemma", "depparse")
"""Processors whose result CoNLL-U holds, in the order in which they work."""
DEFAULT: Final = ("tokenize", "pos", "lemma", "depparse")
"""``mwt`` is added where the language has it."""
NEEDS: Final[Mapping[str, frozenset[str]]] = {
    "mwt": frozenset({"tokenize"}),
    "pos": frozenset({"tokenize"}),
    "lemma": frozenset({"tokenize", "pos"}),
    "depparse": frozenset({"tokenize", "pos", "lemma"}),
}
IDENTITY: Final = "identity"
"""The lemmatiser that gives the form, for languages without inflection; it has no file."""
RESOURCES: Final = "resources.json"
FOLDER_VARIABLE: Final = "STANZA_RESOURCES_DIR"


@dataclass(frozen=True, slots=True)
class Models:
    """The models of one language that an annotation needs.

    Attributes:
        lang: the code of the language.
        code: what the folder calls it: Stanza has ``zh-hans`` for ``zh``.
        folder: where they are.
        packages: (processor, package), in the order in which they work.
        files: path in the folder, SHA-256 and size of each, vectors and language models that they need included.
    """

    lang: str
    code: str
    folder: Path
    packages: tuple[tuple[str, str], ...]
    files: tuple[SourceFile, ...]


def installed() -> bool:
    """Whether Stanza can be imported."""
    return importlib.util.find_spec("stanza") is not None and importlib.util.find_spec("torch") is not None


def require_stanza() -> None:
    """Do nothing where Stanza is installed.

    Raises:
        UnsupportedError: it is not.
    """
    if not installed():
        raise UnsupportedError(
            "annotation needs Stanza, which is not installed: pip install 'discoprobe[stanza]' "
            "(--segment alone works without it)"
        )


def models_folder(given: Path | None = None) -> Path:
    """The folder of models: the one given, else ``$STANZA_RESOURCES_DIR``, else where Stanza downloads to."""
    if given is not None:
        return given
    if folder := os.environ.get(FOLDER_VARIABLE):
        return Path(folder)
    require_stanza()
    from stanza.resources.common import DEFAULT_MODEL_DIR  # noqa: PLC0415 (imports torch)

    return Path(DEFAULT_MODEL_DIR)


def read_processors(names: Sequence[str]) -> dict[str, str]:
    """Processors and packages as a user names them: ``pos``, or ``pos=hdt`` for a package other than the default.

    Returns:
        Processor to package, the package empty for the default one.

    Raises:
        UnknownNameError: for a processor that is not one of :data:`PROCESSORS`.
        UsageError: for one that works on the result of another that is missing.
    """
    chosen = {name.strip(): package.strip() for name, _, package in (each.partition("=") for each in names)}
    for name in chosen:
        if name not in PROCESSORS:
            raise UnknownNameError("processor", name, PROCESSORS, remedy=f"({', '.join(PROCESSORS)} are in CoNLL-U)")
        if missing := sorted(NEEDS.get(name, frozenset()) - chosen.keys()):
            raise UsageError(f"the processor {name} needs {', '.join(missing)}; name {'them' if missing[1:] else 'it'}")
    if not chosen:
        raise UsageError(f"--processors names none; the default is {','.join(DEFAULT)}")
    return {name: chosen[name] for name in PROCESSORS if name in chosen}


def find_models(lang: str, folder: Path, processors: Sequence[str] = DEFAULT) -> Models:
    """The models that processors need, each file verified.

    Args:
        lang: code of the language.
        folder: of the models.
        processors: as :func:`read_processors` takes them.

    Raises:
        UnsupportedError: there is no such model in the folder; the message says how to download it.
        DiscoprobeError: a file is damaged.
    """
    chosen = read_processors(processors)
    resources = _resources(lang, folder)
    code = resources.get(lang, {}).get("alias", lang)
    if code not in resources:
        raise UnsupportedError(_no_language(lang, folder, resources))
    known = resources[code]
    packages = _packages(lang, known, chosen, folder)
    paths = dict(_model_files(code, known, packages))
    files = tuple(_verified(lang, folder, path, md5) for path, md5 in sorted(paths.items()))
    return Models(lang, code, folder, tuple(packages.items()), files)


def has_language(lang: str, folder: Path) -> bool:
    """Whether a folder has models of a language, whole or not."""
    try:
        resources = _resources(lang, folder)
    except UnsupportedError:
        return False
    code: str = resources.get(lang, {}).get("alias", lang)
    return (folder / code).is_dir()


def download_command(lang: str, folder: Path) -> str:
    """What to type to have the models of a language in a folder."""
    code = f"import stanza; stanza.download('{lang}', model_dir='{folder}', processors='{','.join(DEFAULT)}')"
    return f'python -c "{code}"'


def download_models(lang: str, folder: Path, processors: Sequence[str] = DEFAULT) -> None:
    """Download the models of a language with Stanza; those that are there already are left as they are.

    Raises:
        RemoteError: the host cannot be reached, or does not give what it should.
        UnsupportedError: Stanza is not installed, or has no models of the language.
    """
    require_stanza()
    import requests  # noqa: PLC0415 (takes .2 s)
    import stanza  # noqa: PLC0415 (imports torch)

    chosen = {name: package or "default" for name, package in read_processors(processors).items()}
    try:
        stanza.download(lang, model_dir=str(folder), package=None, processors=chosen, verbose=False)
    except (requests.exceptions.RequestException, ConnectionError) as error:
        raise RemoteError(
            f"the Stanza models of {lang} cannot be downloaded: no connection to Stanza's host ({_host(error)}); copy "
            f"a folder of models here by other means and name it with --stanza-dir"
        ) from error
    except ValueError as error:
        raise UnsupportedError(f"Stanza gives no models of {lang}: {error}") from error


def _host(error: Exception) -> str:
    request = getattr(error, "request", None)
    return getattr(request, "url", None) or str(error)


def _resources(lang: str, folder: Path) -> dict[str, Any]:
    path = folder / RESOURCES
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UnsupportedError(f"no Stanza models in {folder} (no {RESOURCES}); {_how_to_get(lang, folder)}") from None
    except ValueError as error:
        raise DiscoprobeError(f"{path} is damaged ({error}); delete it and {_how_to_get(lang, folder)}") from error
    if not isinstance(found, dict):
        raise DiscoprobeError(f"{path} is damaged (no JSON object); delete it and {_how_to_get(lang, folder)}")
    return found


def _how_to_get(lang: str, folder: Path) -> str:
    return f"download them with: {download_command(lang, folder)} (or --download), or name another folder: --stanza-dir"


def _no_language(lang: str, folder: Path, resources: Mapping[str, Any]) -> str:
    there = ", ".join(
        sorted(code for code, known in resources.items() if isinstance(known, dict) and "packages" in known)
    )
    if installed():
        from stanza.resources.default_packages import default_treebanks  # noqa: PLC0415 (imports torch)

        if lang not in {*default_treebanks, "zh", "no"}:
            return (
                f"Stanza has no model of '{lang}' (neither has {folder}: {there}); segment only with --segment, or "
                f"give an annotated corpus"
            )
    return f"no Stanza model of '{lang}' in {folder} (there is {there}); {_how_to_get(lang, folder)}"


def _packages(lang: str, known: Mapping[str, Any], chosen: Mapping[str, str], folder: Path) -> dict[str, str]:
    """The package of each processor, ``mwt`` added where the tokeniser is one that leaves multiword tokens to it."""
    default = known.get("packages", {}).get("default", {})
    found = {}
    for name, package in chosen.items():
        package = package or default.get(name, "")  # noqa: PLW2901
        if not package or (package not in known.get(name, {}) and package != IDENTITY):
            there = ", ".join(one for one in PROCESSORS if one in known)
            what = f"package {name}={package}" if package else f"processor {name}"
            raise UnsupportedError(
                f"no {what} for '{lang}' among the Stanza models in {folder}; it has {there}: name those (--processors)"
            )
        found[name] = package
    if "tokenize" in found and "mwt" not in found and (mwt := _expander(known, found["tokenize"], default)):
        found["mwt"] = mwt
    return {name: found[name] for name in PROCESSORS if name in found}


def _expander(known: Mapping[str, Any], tokenizer: str, default: Mapping[str, str]) -> str:
    """The package that expands the multiword tokens of a tokeniser; empty for none (``add_mwt`` in Stanza)."""
    if tokenizer == default.get("tokenize"):
        return str(default.get("mwt", ""))
    stem = tokenizer.removesuffix("_nocharlm").removesuffix("_charlm")
    return next((name for name in (tokenizer, stem) if name in known.get("mwt", {})), "")


def _model_files(code: str, known: Mapping[str, Any], packages: Mapping[str, str]) -> Iterator[tuple[str, str | None]]:
    """Path and MD5, where it is known, of every file that packages consist of."""
    for name, package in packages.items():
        if package == IDENTITY:
            continue
        entry = known[name][package]
        yield f"{code}/{name}/{package}.pt", entry.get("md5")
        for needed in entry.get("dependencies", ()):
            md5 = known.get(needed["model"], {}).get(needed["package"], {}).get("md5")
            yield f"{code}/{needed['model']}/{needed['package']}.pt", md5


def _verified(lang: str, folder: Path, name: str, md5: str | None) -> SourceFile:
    path = folder / name
    if not path.is_file():
        raise UnsupportedError(f"no Stanza model {name} in {folder}; {_how_to_get(lang, folder)}")
    found = digest(path)
    if md5:
        with path.open("rb") as file:
            actual = hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
        if actual != md5:
            raise DiscoprobeError(damaged(path, f"MD5 {actual}, {RESOURCES} says {md5}", lang, folder))
    return SourceFile(name, found.sha256, found.bytes)


def damaged(path: Path, why: str, lang: str, folder: Path) -> str:
    """What to say of a model file that is not as it should be."""
    return f"{path} is a damaged Stanza model ({why}); delete it and {_how_to_get(lang, folder)}"
