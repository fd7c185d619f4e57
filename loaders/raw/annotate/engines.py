"""The engine that annotates or segments a language on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from discoprobe.loaders.raw.annotate import stanza_models
from discoprobe.loaders.raw.annotate.rule_segmenter import RuleEngine
from discoprobe.loaders.raw.annotate.stanza_engine import StanzaEngine, best_device

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from discoprobe.loaders.raw.annotate.sentences import Engine

TOKENIZE: Final = ("tokenize",)


def choose_engine(  # noqa: PLR0913 (one keyword per choice of the user)
    lang: str,
    *,
    segment: bool = False,
    stanza_dir: Path | None = None,
    processors: Sequence[str] = stanza_models.DEFAULT,
    download: bool = False,
    rules: bool = False,
) -> Engine:
    """Stanza with the models for the processors; to segment only, Stanza's tokeniser if it is installed, else rules.

    Args:
        lang: code of the language.
        segment: only find sentences and words.
        stanza_dir: the folder of models; by default Stanza's own. If it is given, rules do not replace Stanza.
        processors: as ``stanza_models.read_processors`` takes them; ignored with ``segment``.
        download: download missing models.
        rules: with ``segment``, use rules even if Stanza is installed.

    Raises:
        UnsupportedError: Stanza or a model is missing; or rules cannot segment the language.
        RemoteError: a model cannot be downloaded.
        DiscoprobeError: a model is damaged.
    """
    if segment and (rules or not _stanza_segments(lang, stanza_dir, download=download)):
        engine = RuleEngine(lang)
        engine.load()
        return engine
    stanza_models.require_stanza()
    folder = stanza_models.models_folder(stanza_dir)
    wanted = TOKENIZE if segment else processors
    if download:
        stanza_models.download_models(lang, folder, wanted)
    return StanzaEngine(stanza_models.find_models(lang, folder, wanted), best_device())


def _stanza_segments(lang: str, stanza_dir: Path | None, *, download: bool) -> bool:
    """Whether Stanza is asked for, or is installed with a model of the language."""
    if stanza_dir is not None or download:
        return True
    return stanza_models.installed() and stanza_models.has_language(lang, stanza_models.models_folder())
