"""The corpora of raw text that ``pin_corpora.py`` writes to the catalogue: facts that their files do not contain.

Only files in the folder of corpora are pinned, a part of each repository. Every licence is checked against the files:
the README or licence file must contain the phrase that grants it, and the headers of TEI files name licences of their
own; the strictest one is used.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discoprobe.loaders.catalogue.licences import normalise, openness, strictest
from discoprobe.loaders.file_hashes import hashes_of

Record = dict[str, Any]

WITHOUT_TREEBANK = ("eu", "hu")
"""Languages without an openly licensed treebank: raw text is used for them by default."""
TITLES = {
    "arb": ("ar", "Arabic"), "deu": ("de", "German"), "eus": ("eu", "Basque"), "fas": ("fa", "Persian"),
    "fin": ("fi", "Finnish"), "fra": ("fr", "French"), "heb": ("he", "Hebrew"), "hin": ("hi", "Hindi"),
    "hun": ("hu", "Hungarian"), "ind": ("id", "Indonesian"), "ita": ("it", "Italian"), "jpn": ("ja", "Japanese"),
    "kor": ("ko", "Korean"), "pol": ("pl", "Polish"), "por": ("pt", "Portuguese"), "ron": ("ro", "Romanian"),
    "rus": ("ru", "Russian"), "spa": ("es", "Spanish"), "tur": ("tr", "Turkish"), "ukr": ("uk", "Ukrainian"),
    "zho-CN": ("zh", "Chinese"), "eng": ("en", "English"),
}  # fmt: skip
"""Code and English name in the catalogue of the languages, by the codes in names of files and repositories."""
TARGETS = {
    "creativecommons.org/publicdomain/zero/1.0": "CC0 1.0",
    "creativecommons.org/licenses/by/3.0": "CC BY 3.0",
    "creativecommons.org/licenses/by/4.0": "CC BY 4.0",
    "creativecommons.org/licenses/by-sa/3.0": "CC BY-SA 3.0",
}
"""Licences by the addresses in the headers of TEI files; the pinned files have no others."""
TARGET = re.compile(r'<licence[^>]*\btarget="https?://([^"]+)"')


@dataclass(frozen=True)
class KnownText:
    """A corpus of raw text.

    Attributes:
        folder: its folder among the corpora.
        inside: the folder of its texts in the repository.
        pattern: matches the names of its texts.
        grant: the file and the phrase in which its publisher grants ``licence``.
        read: options of reading.
        beside: other files that are pinned.
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
    read: tuple[str, ...] = ()
    licence_note: str = ""
    beside: tuple[str, ...] = ()
    translated: bool = False


KLEXIKON = (
    "Aumiller, Dennis and Michael Gertz (2022). Klexikon: A German Dataset for Joint Summarization and "
    "Simplification. LREC 2022, 2693-2701"
)
DRACOR = (
    "Fischer, Frank, et al. (2019). Programmable Corpora: Introducing DraCor, an Infrastructure for the Research on "
    "European Drama. DH2019"
)
ELTEC = (
    "Schöch, Christof, et al. (2021). Creating the European Literary Text Collection (ELTeC): Challenges and "
    "Perspectives. Modern Languages Open 1"
)
NTREX = (
    "Federmann, Christian, Tom Kocmi and Ying Xin (2022). NTREX-128: News Test References for MT Evaluation of 128 "
    "Languages. SUMEval 2022, 21-24"
)
ARTICLES = ("README.md", "Data will be re-distributed under the CC BY-SA license.")
SCENES = ("min_document_words=100",)


def _klexikon(name: str, prefix: str, inside: str, note: str) -> KnownText:
    return KnownText(
        name, prefix, "de", f"text/de/klexikon/{inside}", f"data/raw/{inside}", "*.txt", "CC BY-SA", ARTICLES,
        ("wiki",), KLEXIKON, ("lines=sentences",), f"{note}; no version is named, and MIT is for the code beside them",
    )  # fmt: skip


def _eltec(code: str, grant: str) -> KnownText:
    lang = TITLES[code][0]
    note = "texts in the public domain, markup CC BY 4.0"
    return KnownText(
        f"ELTeC-{code}", f"{lang}_eltec", lang, f"text/{lang}/eltec", "level1", "*.xml", "CC BY 4.0",
        ("README.md", grant), ("fiction",), ELTEC, SCENES, note,
    )  # fmt: skip


def _ntrex(code: str) -> KnownText:
    lang = TITLES[code][0]
    note = "translated from English"
    return KnownText(
        f"NTREX-128-{lang}", f"{lang}_ntrex128", lang, "text/ntrex128", "NTREX-128", f"newstest2019-ref.{code}.txt",
        "CC BY-SA 4.0", ("README.md", "The NTREX-128 data set is released under the [CC BY-SA 4.0 license]"), ("news",),
        NTREX, (), note, ("DOCUMENT_IDS.tsv",), translated=True,
    )  # fmt: skip


MARKUP = "provided with a Creative Commons Attribution International 4.0 licence"
PUBLIC = "All texts included in this collection are in the public domain."
TEXTS = (
    _klexikon("Klexikon", "de_klexikon", "klexikon", "articles of the children's encyclopedia Klexikon"),
    _klexikon("Klexikon-Wikipedia", "de_klexikon-wikipedia", "wiki", "articles of Wikipedia on the same subjects"),
    KnownText(
        "GerDraCor", "de_gerdracor", "de", "text/de/gerdracor", "tei", "*.xml", "CC0 1.0",
        ("README.md", "released under the Creative Commons Zero copyright waiver"), ("drama",), DRACOR, SCENES,
        "the strictest of its parts: corpus CC0 1.0; stramm-rudimentaer from the TextGrid Repository under CC BY 3.0",
    ),
    KnownText(
        "RusDraCor", "ru_rusdracor", "ru", "text/ru/rusdracor", "tei", "*.xml", "CC0 1.0",
        ("turgenev-vecher-v-sorrente.xml", "CC0 1.0</licence>"), ("drama",), DRACOR, SCENES,
        "the strictest of its parts: corpus CC0 1.0; turgenev-vecher-v-sorrente from Wikisource under CC BY-SA 3.0",
    ),
    _eltec("deu", MARKUP), _eltec("spa", MARKUP), _eltec("ukr", MARKUP), _eltec("por", MARKUP),
    _eltec("hun", "The markup is published with a Creative Commons Attribution (CC BY) licence."),
    _eltec("fra", PUBLIC), _eltec("pol", PUBLIC),
    *(_ntrex(code) for code in TITLES if code not in {"por", "eng"}),
)  # fmt: skip
"""In the order of the catalogue's names below."""


def text_records(corpora: Path, files: list[Record]) -> list[Record]:
    """The records of the corpora of raw text that the folder has, and of what is left out.

    Args:
        corpora: the folder.
        files: what its manifest lists.

    Raises:
        ValueError: a file differs from the manifest, or a licence from this module.
    """
    known = {file["path"]: file for file in files}
    records = [_record(text, paths, corpora, known) for text in TEXTS if (paths := _paths(text, corpora))]
    english = known.get("text/ntrex128/newstest2019-src.eng.txt")
    return [*records, *([_left_out_source(english)] if english else [])]


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
        "language": next(name for code, name in TITLES.values() if code == text.lang),
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
        names = [name for start, name in TARGETS.items() if target.startswith(start)]
        if not names:
            raise ValueError(f"{path} names an unknown licence: {target}")
        licences.update(names)
    return licences


def _left_out_source(file: Record) -> Record:
    return {
        "table": "left_out",
        "name": "NTREX-128-en",
        "prefix": "en_ntrex128",
        "lang": "en",
        "language": "English",
        "repo": file["repo"],
        "commit": file["commit"],
        "licence": file["licence"],
        "documents": {"kind": "auto"},
        "citation": f"{NTREX}; commit {file['commit'][:7]}, https://github.com/{file['repo']}",
        "reason": (
            "its texts are articles of news sites, gathered for the test set of WMT 2019: whether the licence of the "
            "translations covers them is not clear"
        ),
    }
