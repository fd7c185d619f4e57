"""Models of Stanza: found in their folder and verified, or downloaded.

A folder of models has a ``resources.json`` with the packages and the MD5 of their files, and a file
``<language>/<processor>/<package>.pt`` for each (https://stanfordnlp.github.io/stanza/download_models.html). Stanza is
imported only when it is needed.
"""

import hashlib
import importlib.util
import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from discoprobe.loaders.corpus import SourceFile
from discoprobe.loaders.errors import DiscoprobeError, RemoteError, UnknownNameError, UnsupportedError, first_line

PROCESSORS: Final = ("tokenize", "mwt", "pos", "lemma", "depparse")
"""The processors of Stanza whose results are in CoNLL-U, in the order in which they run."""
DEFAULT: Final = ("tokenize", "pos", "lemma", "depparse")
"""The default processors. Each needs the results of those before it; Stanza adds ``mwt`` if a language has it."""
IDENTITY: Final = "identity"
"""The lemmatiser that returns the form, for languages without inflection; it has no file."""
RESOURCES: Final = "resources.json"
WITHOUT: Final = "find sentences only with --segment"


def require_stanza() -> None:
    """Raise an UnsupportedError that says how to install Stanza, if it is not installed."""
    if importlib.util.find_spec("stanza") is None or importlib.util.find_spec("torch") is None:
        raise UnsupportedError(
            f"annotation needs Stanza, which is not installed: pip install 'discoprobe[stanza]', or {WITHOUT}"
        )


def default_folder() -> Path:
    """The folder to which Stanza downloads its models; ``$STANZA_RESOURCES_DIR`` names another."""
    require_stanza()
    from stanza.resources.common import DEFAULT_MODEL_DIR  # noqa: PLC0415 (imports torch)

    return Path(os.environ.get("STANZA_RESOURCES_DIR") or DEFAULT_MODEL_DIR)


def read_processors(names: Sequence[str]) -> dict[str, str]:
    """The package of each named processor, and of the processors that these need.

    ``names`` are like ``pos`` or ``pos=hdt``, where ``hdt`` is the package; a package that is not named is ``default``.
    Without names the processors are those of :data:`DEFAULT`.

    Raises:
        UnknownNameError: a processor is not one of :data:`PROCESSORS`.
    """
    named = {name.strip(): package.strip() for name, _, package in (each.partition("=") for each in names or DEFAULT)}
    for name in named:
        if name not in PROCESSORS:
            raise UnknownNameError("processor", name, PROCESSORS, remedy=f"({', '.join(PROCESSORS)} are in CoNLL-U)")
    last = max((DEFAULT.index(name) for name in named if name in DEFAULT), default=0)
    return {name: named.get(name) or "default" for name in (*DEFAULT[: last + 1], *named)}


@dataclass(frozen=True, slots=True)
class StanzaModels:
    """Models of one language, whose files exist and are verified.

    Attributes:
        lang: the code of the language.
        code: Stanza's code of the language, which names its folder: ``zh-hans`` for ``zh``.
        folder: the folder of models.
        packages: processor and package, in the order in which they run.
        files: path in the folder, SHA-256 and size of each file, including word vectors and language models.
    """

    lang: str
    code: str
    folder: Path
    packages: tuple[tuple[str, str], ...]
    files: tuple[SourceFile, ...]


def find_models(lang: str, folder: Path, processors: Sequence[str] = DEFAULT) -> StanzaModels:
    """The models for processors, which are given as to :func:`read_processors`; every file is verified.

    Raises:
        UnsupportedError: the folder has no such model; the message says how to download it. Or Stanza is not installed.
        DiscoprobeError: a file is damaged.
    """
    chosen = read_processors(processors)
    require_stanza()
    from stanza.resources import common  # noqa: PLC0415 (imports torch)

    logging.getLogger("stanza").setLevel(logging.CRITICAL)  # it warns of what is an error here
    resources, code = _resources(lang, folder)
    known = resources[code]
    models = common.maintain_processor_list(resources, code, None, dict(chosen))
    packages = {name: of_processor[0].package for name, of_processor in models}
    for name, package in chosen.items():
        if packages.get(name) not in {IDENTITY, *known.get(name, ())}:
            packages_there = [f"{name}={each}" for each in known.get(name, ())]
            there = ", ".join(packages_there or (each for each in PROCESSORS if each in known))
            raise UnsupportedError(
                f"no Stanza package {name}={package} of '{lang}' in {folder}, which lists {there}; "
                f"name one of these with --processors, try --download, or {WITHOUT}"
            )
    files = [
        _model_file(folder, f"{code}/{name}/{package}.pt", known.get(name, {}).get(package, {}).get("md5"), lang)
        for name, package in common.flatten_processor_list(common.add_dependencies(resources, code, models))
        if package != IDENTITY
    ]
    of_folder = tuple(sorted(files, key=lambda file: file.path))
    return StanzaModels(lang, code, folder, tuple(packages.items()), of_folder)


def _model_file(folder: Path, name: str, md5: str | None, lang: str) -> SourceFile:
    """A file of a model; its MD5 is checked if ``resources.json`` has one."""
    path = folder / name
    if not path.is_file():
        raise _lacking(f"model {name}", lang, folder)
    content = path.read_bytes()
    if md5 and md5 != (actual := hashlib.md5(content, usedforsecurity=False).hexdigest()):
        raise damaged(path, f"MD5 {actual}, {RESOURCES} says {md5}", lang, folder)
    return SourceFile(name, hashlib.sha256(content).hexdigest(), len(content))


def _resources(lang: str, folder: Path) -> tuple[dict[str, Any], str]:
    """The content of ``resources.json`` in a folder, and Stanza's code of a language."""
    path = folder / RESOURCES
    if not path.is_file():
        raise _lacking(f"models with {RESOURCES}", lang, folder)
    try:
        resources = msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except msgspec.MsgspecError as error:
        raise damaged(path, str(error), lang, folder) from error
    code = str(resources.get(lang, {}).get("alias", lang))
    if code not in resources:
        there = ", ".join(sorted(name for name, of in resources.items() if isinstance(of, dict) and "packages" in of))
        raise _lacking(f"model of '{lang}' (only of {there})", lang, folder)
    return resources, code


def download_models(lang: str, folder: Path, processors: Sequence[str] = DEFAULT) -> None:
    """Download the models of a language with Stanza; models that are present are kept.

    Raises:
        RemoteError: the host cannot be reached, or does not provide them.
        UnsupportedError: Stanza is not installed, or has no models of the language.
    """
    require_stanza()
    import stanza  # noqa: PLC0415 (imports torch)

    try:
        stanza.download(
            lang, model_dir=str(folder), package=None, processors=read_processors(processors), verbose=False
        )
    except OSError as error:  # of `requests`, the Hub's client and the file system
        what = getattr(getattr(error, "request", None), "url", None) or first_line(error)
        raise RemoteError(
            f"the Stanza models of {lang} cannot be downloaded ({what}); check the network, or copy a folder of models "
            "from another machine and name it with --stanza-dir"
        ) from error
    except ValueError as error:
        raise UnsupportedError(f"Stanza has no such models of {lang}: {error}; {WITHOUT}") from error


def _lacking(what: str, lang: str, folder: Path) -> UnsupportedError:
    return UnsupportedError(f"no Stanza {what} in {folder}; {_how_to_get(lang, folder)}")


def damaged(path: Path, why: str, lang: str, folder: Path) -> DiscoprobeError:
    """The error for a damaged file of models; the message says how to download it again."""
    return DiscoprobeError(f"{path} is damaged ({why}); delete it and {_how_to_get(lang, folder)}")


def _how_to_get(lang: str, folder: Path) -> str:
    code = f"import stanza; stanza.download('{lang}', model_dir='{folder}', processors='{','.join(DEFAULT)}')"
    return f'download with: python -c "{code}" (or --download), name another folder with --stanza-dir, or {WITHOUT}'
