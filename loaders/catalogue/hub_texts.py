"""Datasets of text on the Hub that the catalogue pins by repository and commit, per language.

A corpus is one language of a dataset: ``finewiki-de`` is German FineWiki.
"""

import functools
import importlib.resources
from typing import Final

import msgspec

from discoprobe.loaders.catalogue import treebanks
from discoprobe.loaders.errors import UnknownNameError
from discoprobe.loaders.toml_records import convert_table, parse_toml

HUB: Final = "hf://"
"""Prefix of URLs on the Hub."""
DATASETS: Final = "datasets/"
"""Prefix of dataset repositories, in URLs after `HUB` and in the sources of a manifest."""


class HubText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A dataset of text on the Hub.

    Attributes:
        name: its name for ``--corpus`` and ``--fill``.
        repo: the repository on the Hub.
        commit: the pinned commit.
        files: pattern for the paths of a language's parquet files; ``{wiki}`` stands for the code of its Wikipedia.
        licence: of the text.
        citation: how to cite the text.
        genre: the genres of the text.
        note: a description of the text.
        without: codes of languages that the dataset does not have.
        wikis: code of a language → code of its Wikipedia, if they differ.
        licence_note: further information on the licence.
        default: whether it is the default of ``--fill`` when no corpus is named.
    """

    name: str
    repo: str
    commit: str
    files: str
    licence: str
    citation: str
    genre: tuple[str, ...]
    note: str
    without: tuple[str, ...] = ()
    wikis: dict[str, str] = {}
    licence_note: str = ""
    default: bool = False

    def corpus(self, lang: str) -> str:
        """The name of the corpus of a language."""
        return f"{self.name}-{lang}"

    def pattern(self, lang: str) -> str:
        """The pattern of the paths of a language's files."""
        return self.files.replace("{wiki}", self.wikis.get(lang, lang))

    def url(self, lang: str) -> str:
        """The URL of the files of a language, with their pattern."""
        return f"{HUB}{DATASETS}{self.repo}@{self.commit}/{self.pattern(lang)}"


class _Contents(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    dataset: tuple[HubText, ...]


@functools.cache
def hub_texts() -> tuple[HubText, ...]:
    """The datasets of the catalogue."""
    file = "catalogue/hub/texts.toml"
    text = (importlib.resources.files("discoprobe.loaders") / file).read_text(encoding="utf-8")
    return convert_table(parse_toml(text, file), _Contents, file).dataset


def is_hub_text(name: str) -> bool:
    """Whether a name is that of a dataset (``finewiki``), or of one language of it (``finewiki-de``)."""
    return any(_stem(name) == text.name for text in hub_texts())


def hub_text(name: str, lang: str = "") -> tuple[HubText, str]:
    """The dataset and the language that a name means: ``finewiki-de``, or ``finewiki`` of a language.

    Args:
        name: one for which `is_hub_text` is true.
        lang: the code of the language, where the name has none.

    Raises:
        UnknownNameError: the dataset has no such language, or none is named.
    """
    text = next(text for text in hub_texts() if _stem(name) == text.name)
    code = name.casefold().partition("-")[2] or lang
    offered = [known.code for known in treebanks.languages(every=True) if known.code not in text.without]
    if code not in offered:
        raise UnknownNameError(f"language of {text.name}", code, offered, remedy="(name one with --lang)")
    return text, code


def _stem(name: str) -> str:
    return name.casefold().partition("-")[0]
