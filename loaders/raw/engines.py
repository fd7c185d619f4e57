"""Which engine annotates or segments a language on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discoprobe.loaders.raw.models import (
    DEFAULT,
    download_models,
    find_models,
    has_language,
    installed,
    models_folder,
    require_stanza,
)
from discoprobe.loaders.raw.segment import RuleEngine
from discoprobe.loaders.raw.stanza_ import StanzaEngine, best_device

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from discoprobe.loaders.raw.sentences import Engine

TOKENIZE: Sequence[str] = ("tokenize",)


def choose_engine(  # noqa: PLR0913 (one keyword per choice of the user)
    lang: str,
    *,
    segment: bool = False,
    stanza_dir: Path | None = None,
    processors: Sequence[str] = DEFAULT,
    download: bool = False,
    rules: bool = False,
) -> Engine:
    """Stanza with the models that the processors need; to segment only, Stanza's tokeniser where it is, else rules.

    Args:
        lang: code of the language.
        segment: only find sentences and words. Without ``stanza_dir``, rules do it where Stanza or its model lacks.
        stanza_dir: the folder of models; by default Stanza's own.
        processors: as :func:`discoprobe.loaders.raw.models.read_processors` takes them; not used to segment.
        download: fetch models that lack.
        rules: to segment, rules do it whatever is installed.

    Raises:
        UnsupportedError: Stanza or a model lacks; or rules cannot segment the language.
        RemoteError: a model cannot be downloaded.
        DiscoprobeError: a model is damaged.
    """
    if segment and (rules or not _stanza_segments(lang, stanza_dir, download=download)):
        engine = RuleEngine(lang)
        engine.load()
        return engine
    require_stanza()
    folder = models_folder(stanza_dir)
    wanted = TOKENIZE if segment else processors
    if download:
        download_models(lang, folder, wanted)
    return StanzaEngine(find_models(lang, folder, wanted), best_device())


def _stanza_segments(lang: str, stanza_dir: Path | None, *, download: bool) -> bool:
    """Whether Stanza is to segment: it was asked for, or it is here with a model of the language."""
    return stanza_dir is not None or download or (installed() and has_language(lang, models_folder()))
