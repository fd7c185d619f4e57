"""The corpora of raw text that ``pin_corpora.py`` writes to the catalogue, by the facts in ``corpus_facts.toml``.

Only files in the folder of corpora are pinned, a part of each repository. Every licence is checked against the files:
the README or licence file must contain the phrase that grants it, and the headers of TEI files name licences of their
own; the strictest one is used.
"""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from discoprobe.loaders.catalogue.licences import normalise, openness, strictest
from discoprobe.loaders.file_hashes import hashes_of

Record = dict[str, Any]

FACTS: Record = tomllib.loads((Path(__file__).parent / "corpus_facts.toml").read_text(encoding="utf-8"))
"""Facts that are not in the files of the corpora."""
WITHOUT_TREEBANK = ("eu", "hu")
"""Languages without an openly licensed treebank: raw text is used for them by default."""
TARGET = re.compile(r'<licence[^>]*\btarget="https?://([^"]+)"')


class KnownText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A corpus of raw text.

    Attributes:
        folder: its folder among the corpora.
        inside: the folder of its texts in the repository.
        pattern: matches the names of its texts.
        grant: the file and the phrase in which its publisher grants ``licence``.
        read: options of reading (`TextCorpus.read`).
        beside: names of further files to pin.
        translated: whether the texts are translations.
    """

    name: str
    prefix: str
    lang: str
    folder: str
    inside: str
    pattern: str
    licence: str
    grant: tuple[str, str]
    genre: tuple[str, ...]
    citation: str
    licence_note: str
    read: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    translated: bool = False


def known_texts() -> list[KnownText]:
    """The corpora of raw text of ``corpus_facts.toml``; an entry with ``codes`` is one per language."""
    entries = [entry for table in FACTS["text"] for entry in _of_languages(dict(table))]
    return msgspec.convert(entries, list[KnownText])


def _of_languages(entry: Record) -> Iterator[Record]:
    """The corpora of an entry; ``grants`` has the phrases that grant the licence of some of them."""
    grants: dict[str, str] = entry.pop("grants", {})
    if "codes" not in entry:
        yield entry
    for code in entry.pop("codes", ()):
        lang, _ = FACTS["codes"][code]
        texts = {key: value.format(code=code, lang=lang) for key, value in entry.items() if isinstance(value, str)}
        yield entry | texts | {"lang": lang, "grant": [entry["grant"][0], grants.get(code, entry["grant"][1])]}


def text_records(corpora: Path, files: list[Record]) -> list[Record]:
    """The records of the corpora of raw text that the folder has, and of what is left out.

    Args:
        corpora: the folder.
        files: what its manifest lists.

    Raises:
        ValueError: a file differs from the manifest, or a licence from this module.
    """
    known = {file["path"]: file for file in files}
    records = [_record(text, paths, corpora, known) for text in known_texts() if (paths := _paths(text, corpora))]
    left_out = known.get(FACTS["left_out"]["path"])
    return [*records, *([_left_out(left_out)] if left_out else [])]


def _paths(text: KnownText, corpora: Path) -> list[Path]:
    return sorted(path for path in (corpora / text.folder).glob(text.pattern) if path.name != "SOURCE.txt")


def _record(text: KnownText, texts: list[Path], corpora: Path, known: dict[str, Record]) -> Record:
    folder = corpora / text.folder
    paths = [*texts, *(folder / name for name in text.beside)]
    first = known[paths[0].relative_to(corpora).as_posix()]
    licence = _licence(text, folder, paths)
    default = text.lang in WITHOUT_TREEBANK
    return {
        "table": "text",
        "name": text.name,
        "prefix": text.prefix,
        "lang": text.lang,
        "language": next(name for code, name in FACTS["codes"].values() if code == text.lang),
        "repo": first["repo"],
        "commit": first["commit"],
        "licence": licence,
        "licence_note": text.licence_note,
        **({} if default else {"default": False, "note": _why_not(text)}),
        "genre": list(text.genre),
        "read": list(text.read),
        "citation": f"{text.citation}; commit {first['commit'][:7]}, https://github.com/{first['repo']}",
        "files": [_pinned(path, text, known[path.relative_to(corpora).as_posix()]) for path in paths],
    }  # fmt: skip


def _why_not(text: KnownText) -> str:
    return "raw text; treebanks are taken by default" + (", and this is translated" if text.translated else "")


def _pinned(path: Path, text: KnownText, known: Record) -> Record:
    hashes = hashes_of(path)
    if (hashes.sha256, hashes.bytes) != (known["sha256"], known["bytes"]):
        raise ValueError(f"{path} differs from the manifest")
    inside = "" if path.name in text.beside else f"{text.inside}/"
    return {
        "path": f"{inside}{path.name}",
        "git_blob_sha1": hashes.git_blob_sha1,
        "bytes": hashes.bytes,
        "sha256": hashes.sha256,
    }


def _licence(text: KnownText, folder: Path, paths: list[Path]) -> str:
    """The strictest licence that the corpus and the headers of its files name."""
    name, phrase = text.grant
    at = next(path for path in (folder / name, folder.parent / name) if path.is_file())
    if " ".join(phrase.split()) not in " ".join(at.read_text(encoding="utf-8").split()):
        raise ValueError(f"{at} does not say '{phrase}'")
    named = {text.licence}.union(*(_in_header(path) for path in paths if path.suffix == ".xml"))
    worst = strictest(named)
    if openness(worst) != "open":
        raise ValueError(f"{text.name}: {worst} is not open")
    return next(name for name in sorted(named) if normalise(name) == worst)


def _in_header(path: Path) -> set[str]:
    """The licences that the header of a TEI file names."""
    header = path.read_text(encoding="utf-8").partition("</teiHeader>")[0]
    licences = set()
    for target in TARGET.findall(header):
        names = [name for start, name in FACTS["licences"].items() if target.startswith(start)]
        if not names:
            raise ValueError(f"{path} names an unknown licence: {target}")
        licences.update(names)
    return licences


def _left_out(file: Record) -> Record:
    """The record of a corpus that is known and not offered."""
    known = FACTS["left_out"]
    return {
        "table": "left_out",
        **{key: known[key] for key in ("name", "prefix", "lang", "language")},
        **{key: file[key] for key in ("repo", "commit", "licence")},
        "documents": {"kind": "auto"},
        "citation": f"{known['citation']}; commit {file['commit'][:7]}, https://github.com/{file['repo']}",
        "reason": known["reason"],
    }
