"""Make ``loaders/catalogue/*.toml`` from a listing of Universal Dependencies and a folder of other corpora.

Two inputs:

* ``--catalogue``: JSON with a list ``treebanks`` of records (repo, commit, date, licence, genre, includes_text, files
  with path, git_blob_sha1, bytes or null), one per repository, at its newest commit; ``[[universal]]`` of
  ``corpus_facts.toml`` has more of them;
* ``--corpora``: a folder with ``manifest.json`` (per file: path, bytes, sha256, kind, repo, commit …), the files that
  it lists, and a ``SOURCE.txt`` in the folder of each treebank, whose line ``document rule:`` says how its documents
  are recognised.

The pinned commit is that of the first input. The SHA-256 and size of a file in the folder are copied to the catalogue
if its git blob hash is the pinned one; files of older commits are not used. The same inputs give the same bytes.
``corpus_facts.toml`` has facts that are in neither.

The records of treebanks and of relations and coreference come first (`treebank_records`, `disrpt_records`,
`coreference_records`), then those of raw text (`text_records`, `listed_records`) and
tables of forms (`forms_records`). Of raw text, the files in the folder are pinned, a part of each repository, and the
novels and plays in ``eltec_files.tsv`` and ``dracor_files.tsv``. Every licence is checked against the files: the README
or licence file must contain the phrase that grants it, and the headers of TEI files name licences of their own; the
strictest one is used.
"""

import argparse
import json
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from discoprobe.loaders.catalogue.licences import UNKNOWN, normalise, openness, strictest
from discoprobe.loaders.files import hashes_of

Record = dict[str, Any]

OUT = Path(__file__).resolve().parents[1] / "loaders" / "catalogue"
FACTS: Record = tomllib.loads((Path(__file__).parent / "corpus_facts.toml").read_text(encoding="utf-8"))
"""Facts that are not in the files of the corpora."""
PUD_PATTERN = r"^([nw]\d{5})"
"""Sentence ids of all parallel treebanks (PUD): n or w, five digits of the document, three of the sentence."""
KINDS = {"None": "none", "newdoc": "newdoc", "auto": "auto"}
"""Rules of SOURCE.txt that are not a pattern of sentence ids → their kind in the catalogue."""
WHY_NOT = {
    "nc": "{} forbids commercial use",
    "nd": "{} forbids passing on changed copies",
    "restricted": "{} binds every recipient to computational use",
    "unknown": "its licence '{}' is not a known one",
    "none": "neither its README nor its publisher names a licence",
}
RELATIONS_ONLY = "used for tasks on relations"
COREFERENCE_ONLY = "used for tasks on coreference"
WITHOUT_TREEBANK = ("eu", "hu")
"""Languages without an openly licensed treebank: raw text is used for them by default."""
TARGET = re.compile(r'<licence[^>]*\btarget="https?://([^"]+)"')
TABLES = ("treebank", "text", "forms", "left_out")
PART = "# a part of the repository: the files that are listed\n"


def main(argv: list[str] | None = None) -> int:
    """Write the catalogue, or with ``--check`` compare it; exit status 1 where it differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--catalogue", type=Path, required=True, help="JSON listing of Universal Dependencies")
    parser.add_argument("--corpora", type=Path, required=True, help="folder of corpora with manifest.json")
    parser.add_argument("--out", type=Path, default=OUT, help="folder of the catalogue (default: the package's)")
    parser.add_argument("--check", action="store_true", help="write nothing, print the files that differ")
    options = parser.parse_args(argv)
    pages = catalogue(options.catalogue, options.corpora)
    existing = {path.name: path.read_text(encoding="utf-8") for path in options.out.glob("*.toml")}
    if options.check:
        differing = sorted(name for name in pages.keys() | existing.keys() if pages.get(name) != existing.get(name))
        for name in differing:
            print(f"{name} differs from what the inputs give: run scripts/pin_corpora.py")
        return 1 if differing else 0
    options.out.mkdir(parents=True, exist_ok=True)
    for stale in existing.keys() - pages.keys():
        (options.out / stale).unlink()
    for name, text in pages.items():
        (options.out / name).write_text(text, encoding="utf-8", newline="\n")
    print(f"{len(pages)} languages in {options.out}", file=sys.stderr)
    return 0


def catalogue(listing: Path, corpora: Path) -> dict[str, str]:
    """The text of every file of the catalogue, by file name: one per language, treebanks first, then raw text."""
    files = json.loads((corpora / "manifest.json").read_text(encoding="utf-8"))["files"]
    treebanks = json.loads(listing.read_text(encoding="utf-8"))["treebanks"]
    treebanks += FACTS["universal"]
    records = [*treebank_records(treebanks, corpora, files), *disrpt_records(), *coreference_records()]
    records += text_records(corpora, files)
    names = {record["lang"]: record["language"] for record in records}
    records += [*listed_records(names), *forms_records(names)]
    by_language: defaultdict[str, list[Record]] = defaultdict(list)
    for record in sorted(records, key=lambda record: record["name"].casefold()):
        by_language[record["lang"]].append(record)
    pages = {}
    for code, of_language in sorted(by_language.items()):
        parts = [f"[language]\ncode = {_toml(code)}\nname = {_toml(of_language[0]['language'])}\n"]
        for kind in TABLES:
            not_written = {"table", "lang", "language"}
            for record in of_language:
                if record["table"] == kind:
                    lines = [f"{key} = {_toml(value)}" for key, value in record.items() if key not in not_written]
                    parts.append(PART * (kind == "text") + "\n".join([f"[[{kind}]]", *lines, ""]))
        pages[f"{code}.toml"] = "\n".join(parts)
    return pages


def _toml(value: object) -> str:
    """A value in TOML: strings without a control character are written as in JSON, tables inline, files one a line."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n" + "".join(f"  {_toml(item)},\n" for item in value) + "]"
    if isinstance(value, str) and "\\" in value and "'" not in value:
        return f"'{value}'"
    return json.dumps(value, ensure_ascii=False)


# treebanks


def treebank_records(treebanks: list[Record], corpora: Path, files: list[Record]) -> Iterator[Record]:
    """The records of the treebanks of Universal Dependencies, and of those that only the folder of corpora has.

    Args:
        treebanks: the listing of Universal Dependencies.
        corpora: the folder of corpora.
        files: what its manifest lists.
    """
    of_treebanks = sorted((file for file in files if file.get("kind") == "ud"), key=lambda file: str(file["path"]))
    by_blob = {hashes_of(corpora / file["path"]).git_blob_sha1: file for file in of_treebanks}
    rules = {}
    for source in sorted(corpora.rglob("SOURCE.txt")):
        if rule := re.search(r"^document rule: (.+)$", source.read_text(encoding="utf-8"), re.MULTILINE):
            rules[source.parent.name] = rule[1].strip()
    for treebank in treebanks:
        yield _universal(treebank, rules, by_blob)
    for facts in FACTS["elsewhere"]:
        trees = [file for file in files if file.get("kind") == "rst" and facts["name"] in Path(file["path"]).parts]
        of_trees = {hashes_of(corpora / file["path"]).git_blob_sha1: file for file in trees if "edus" in file}
        of_words = {blob: file for blob, file in by_blob.items() if file["treebank"] == facts["name"]}
        yield _elsewhere(facts, of_words, of_trees, rules)


def _universal(treebank: Record, rules: dict[str, str], by_blob: dict[str, Record]) -> Record:
    """The record of a treebank of Universal Dependencies; it is left out if it lacks text or an open licence."""
    name = treebank["repo"].split("/")[1]
    prefix = treebank["files"][0]["path"].split("-ud-")[0]
    commit = treebank["commit"]
    record = {
        "table": "treebank", "name": name, "prefix": prefix, "lang": prefix.split("_")[0],
        "language": name.removeprefix("UD_").rsplit("-", 1)[0].replace("_", " "),
        **{key: treebank[key] for key in ("repo", "commit", "date", "licence")}, "genre": treebank["genre"].split(),
        "documents": _rule(name, rules),
        "citation": f"{name}, Universal Dependencies, commit {commit[:7]}, https://github.com/{treebank['repo']}",
    }  # fmt: skip
    if name in FACTS["notes"]:
        record["note"] = FACTS["notes"][name]
    if name in FACTS["layers"]:
        record["layers"] = FACTS["layers"][name]
    if treebank["includes_text"] != "yes":
        reason = "its files hold annotation without the text, which has to be got from elsewhere"
        return record | {"table": "left_out", "reason": reason}
    return _by_licence(record, [_pin(file, by_blob) for file in treebank["files"]])


def _by_licence(record: Record, files: list[Record]) -> Record:
    """A record with its files; it is left out, with the reason, if its licence is not an open one."""
    kind = openness(record["licence"])
    if kind == "open":
        return record | {"files": files}
    reason = WHY_NOT["none" if record["licence"] == UNKNOWN else kind].format(record["licence"])
    return record | {"table": "left_out", "reason": reason, "files": files}


def disrpt_records() -> Iterator[Record]:
    """The records of the corpora of relations in ``corpus_facts.toml``.

    It pins the files of a corpus, or gives the reason why it cannot be used.
    """
    of_all = FACTS["disrpt"]
    for facts in of_all["corpus"]:
        record = {
            "table": "treebank", **{key: facts[key] for key in ("name", "prefix")},
            "lang": facts["prefix"].partition("_")[0], "language": facts["language"],
            "repo": of_all["repo"], "commit": of_all["commit"],
            **{key: facts[key] for key in ("licence", "licence_note") if key in facts}, "default": False,
            "note": RELATIONS_ONLY, "genre": facts["genre"], "layers": ["relations"],
            **{key: facts[key] for key in ("part_of",) if key in facts}, "documents": {"kind": "auto"},
            "citation": _citation(facts, of_all),
        }  # fmt: skip
        if "reason" in facts:
            yield record | {"table": "left_out", "reason": facts["reason"]}
        else:
            yield _by_licence(record, facts["files"])


def coreference_records() -> Iterator[Record]:
    """The records of the corpora of coreference in ``corpus_facts.toml``, whose files are in a table beside it."""
    files = defaultdict(list)
    for line in (Path(__file__).parent / "coreference_files.tsv").read_text(encoding="utf-8").splitlines():
        name, path, blob, size, sha256 = line.split("\t")
        files[name].append({"path": path, "git_blob_sha1": blob, "bytes": int(size), "sha256": sha256})
    for facts in FACTS["coreference"]:
        record = {
            "table": "treebank", **{key: facts[key] for key in ("name", "prefix")},
            "lang": facts["prefix"].partition("_")[0], "language": facts["language"],
            **{key: facts[key] for key in ("repo", "commit", "date", "licence", "licence_note") if key in facts},
            "default": False, "note": f"{COREFERENCE_ONLY}: {facts['note']}", "genre": facts["genre"],
            "layers": ["coreference"],
            "documents": {"kind": "newdoc"}, "citation": _citation(facts, facts),
        }  # fmt: skip
        yield _by_licence(record, files[facts["name"]])


def listed_records(names: dict[str, str]) -> Iterator[Record]:
    """The records of novels and plays whose files are listed beside this program, for languages of these names.

    ``files`` names the list: a folder or code per corpus, path, git blob hash and bytes. A language may have a licence
    of its own.
    """
    for facts in (FACTS["novels"], FACTS["plays"]):
        files = defaultdict(list)
        for line in (Path(__file__).parent / facts["files"]).read_text(encoding="utf-8").splitlines():
            code, path, blob, size = line.split("\t")
            files[code].append({"path": path, "git_blob_sha1": blob, "bytes": int(size)})
        for language in facts["languages"]:
            if (lang := language["lang"]) in names:
                name, prefix, repo = (facts[key].format(**language) for key in ("name", "prefix", "repo"))
                source = {"repo": repo, "commit": language["commit"]}
                licence = {key: language.get(key, facts[key]) for key in ("licence", "licence_note")}
                yield {
                    "table": "text", "name": name, "prefix": prefix, "lang": lang, "language": names[lang], **source,
                    **licence, "default": False, **{key: facts[key] for key in ("note", "genre")},
                    "read": [*facts["read"], *language.get("read", ())], "citation": _citation(facts, source),
                    "files": files[language["code"]],
                }  # fmt: skip


def forms_records(names: dict[str, str]) -> Iterator[Record]:
    """The records of the tables of UniMorph in ``corpus_facts.toml``, for the languages with these codes and names."""
    of_all = FACTS["forms"]
    for table in of_all["table"]:
        if (lang := table["lang"]) in names:
            yield {
                "table": "forms", "name": f"UniMorph-{lang}", "prefix": f"{lang}_unimorph", "lang": lang,
                "language": names[lang], **{key: table[key] for key in ("repo", "commit", "date")},
                "licence": of_all["licence"], "citation": _citation(of_all, table), "files": table["files"],
            }  # fmt: skip


def _elsewhere(
    facts: Record, of_words: dict[str, Record], of_trees: dict[str, Record], rules: dict[str, str]
) -> Record:
    """The record of a treebank outside Universal Dependencies, which only the folder of corpora has.

    A file is in the folder of its repository that ``corpus_facts.toml`` names for the beginning of its name.
    """
    first = next(iter(of_words.values()))
    names = {blob: Path(file["path"]).name for blob, file in of_words.items()}
    files = []
    for by_blob, key in ((of_words, "folders"), (of_trees, "trees")):
        for blob, listed in by_blob.items():
            name = Path(listed["path"]).name
            folder = next(folder for start, folder in facts[key].items() if name.startswith(start))
            file = {"path": f"{folder}/{name}", "git_blob_sha1": blob, "bytes": listed["bytes"]}
            files.append(_pin(file, by_blob))
    return {
        "table": "treebank", "name": facts["name"], "prefix": facts["prefix"], "lang": first["lang"],
        "language": facts["language"], "repo": first["repo"], "commit": first["commit"],
        "licence": facts["licence"], "licence_note": facts["licence_note"],
        **({"default": False, "note": facts["note"]} if "note" in facts else {}),
        "genre": sorted({name.split("_")[1] for name in names.values()}),
        **{key: facts[key] for key in ("layers", "part_of") if key in facts},
        "documents": _rule(facts["name"], {facts["name"]: "newdoc"} | rules), "citation": _citation(facts, first),
        "files": files,
    }  # fmt: skip


def _citation(facts: Record, file: Record) -> str:
    """How a corpus outside Universal Dependencies is cited: its paper, and the commit that its files are from."""
    return f"{facts['citation']}; commit {file['commit'][:7]}, https://github.com/{file['repo']}"


def _rule(name: str, rules: dict[str, str]) -> Record:
    """The document rule of a treebank as the catalogue writes it; ``rules`` are those of SOURCE.txt."""
    if name in FACTS["documents"]:
        return dict(FACTS["documents"][name])
    if name.endswith("-PUD"):
        return {"kind": "sent_id", "pattern": PUD_PATTERN}
    rule = rules.get(name, "auto")
    return {"kind": KINDS[rule]} if rule in KINDS else {"kind": "sent_id", "pattern": rule}


def _pin(file: Record, by_blob: dict[str, Record]) -> Record:
    """A file as the catalogue writes it, with size and SHA-256 if the folder of corpora has its content."""
    pinned = {"path": file["path"], "git_blob_sha1": file["git_blob_sha1"]}
    in_folder = by_blob.get(file["git_blob_sha1"], {})
    size, sha256 = in_folder.get("bytes", file.get("bytes")), in_folder.get("sha256")
    return pinned | ({} if size is None else {"bytes": size}) | ({"sha256": sha256} if sha256 else {})


# raw text


class TextFacts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What ``corpus_facts.toml`` says of a corpus of raw text.

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


def text_records(corpora: Path, files: list[Record]) -> list[Record]:
    """The records of the corpora of raw text that the folder has, and of what is left out.

    An entry of ``corpus_facts.toml`` with ``codes`` is a corpus per language; its ``grants`` has the phrases that grant
    the licence of some of them.

    Args:
        corpora: the folder.
        files: what its manifest lists.

    Raises:
        ValueError: a file differs from the manifest, or a licence from ``corpus_facts.toml``.
    """
    listed = {file["path"]: file for file in files}
    records = []
    for table in FACTS["text"]:
        entry = {key: value for key, value in table.items() if key not in {"codes", "grants"}}
        for code in table.get("codes", [None]):
            if code:
                values = {"code": code, "lang": FACTS["codes"][code][0]}
                texts = {key: value.format(**values) for key, value in entry.items() if isinstance(value, str)}
                phrase = table.get("grants", {}).get(code, table["grant"][1])
                entry_of_code = entry | texts | {"lang": values["lang"], "grant": [table["grant"][0], phrase]}
            text = msgspec.convert(entry_of_code if code else entry, TextFacts)
            paths = sorted(path for path in (corpora / text.folder).glob(text.pattern) if path.name != "SOURCE.txt")
            if paths:
                records.append(_text_record(text, paths, corpora, listed))
    facts = FACTS["left_out"]
    if file := listed.get(facts["path"]):
        record = {
            "table": "left_out", **{key: facts[key] for key in ("name", "prefix", "lang", "language")},
            **{key: file[key] for key in ("repo", "commit", "licence")}, "documents": {"kind": "auto"},
            "citation": _citation(facts, file), "reason": facts["reason"],
        }  # fmt: skip
        records.append(record)
    return records


def _text_record(text: TextFacts, texts: list[Path], corpora: Path, listed: dict[str, Record]) -> Record:
    """The record of a corpus of raw text, whose files are those that the manifest lists."""
    paths = [*texts, *(corpora / text.folder / name for name in text.beside)]
    licence = _strictest_licence(text, corpora / text.folder, paths)
    pinned = []
    for path in paths:
        hashes, file = hashes_of(path), listed[path.relative_to(corpora).as_posix()]
        if (hashes.sha256, hashes.bytes) != (file["sha256"], file["bytes"]):
            raise ValueError(f"{path} differs from the manifest")
        inside = "" if path.name in text.beside else f"{text.inside}/"
        pin = {"path": f"{inside}{path.name}", "git_blob_sha1": hashes.git_blob_sha1}
        pinned.append(pin | {"bytes": hashes.bytes, "sha256": hashes.sha256})
    first = listed[paths[0].relative_to(corpora).as_posix()]
    note = "raw text; treebanks are taken by default" + (", and this is translated" if text.translated else "")
    return {
        "table": "text", "name": text.name, "prefix": text.prefix, "lang": text.lang,
        "language": next(name for code, name in FACTS["codes"].values() if code == text.lang),
        "repo": first["repo"], "commit": first["commit"], "licence": licence, "licence_note": text.licence_note,
        **({} if text.lang in WITHOUT_TREEBANK else {"default": False, "note": note}),
        "genre": list(text.genre), "read": list(text.read),
        "citation": _citation({"citation": text.citation}, first), "files": pinned,
    }  # fmt: skip


def _strictest_licence(text: TextFacts, folder: Path, paths: list[Path]) -> str:
    """The strictest licence that the corpus and the headers of its TEI files name."""
    name, phrase = text.grant
    path = next(path for path in (folder / name, folder.parent / name) if path.is_file())
    if " ".join(phrase.split()) not in " ".join(path.read_text(encoding="utf-8").split()):
        raise ValueError(f"{path} does not say '{phrase}'")
    licences = {text.licence}
    for tei in (path for path in paths if path.suffix == ".xml"):
        header = tei.read_text(encoding="utf-8").partition("</teiHeader>")[0]
        for target in TARGET.findall(header):
            names = [name for start, name in FACTS["licences"].items() if target.startswith(start)]
            if not names:
                raise ValueError(f"{tei} names an unknown licence: {target}")
            licences.update(names)
    worst = strictest(licences)
    if openness(worst) != "open":
        raise ValueError(f"{text.name}: {worst} is not open")
    return next(name for name in sorted(licences) if normalise(name) == worst)


if __name__ == "__main__":
    raise SystemExit(main())
