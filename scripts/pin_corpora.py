"""Make ``loaders/catalogue/*.toml`` from a listing of Universal Dependencies and a folder of other corpora.

Two inputs:

* ``--catalogue``: JSON with a list ``treebanks`` of records (repo, commit, date, licence, genre, includes_text, files
  with path, git_blob_sha1, bytes or null), one per repository, at its newest commit;
* ``--corpora``: a folder with ``manifest.json`` (per file: path, bytes, sha256, kind, repo, commit …), the files that
  it lists, and a ``SOURCE.txt`` in the folder of each treebank, whose line ``document rule:`` says how its documents
  are recognised.

The pinned commit is that of the first input. The SHA-256 and size of a file in the folder are copied to the catalogue
if its git blob hash is the pinned one; files of older commits are not used. The same inputs give the same bytes.

``corpus_facts.toml`` has facts that are in neither. ``text_corpora.py`` makes the records of raw text.
"""

import argparse
import json
import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from discoprobe.loaders.catalogue.licences import openness
from discoprobe.loaders.file_hashes import hashes_of
from text_corpora import FACTS, text_records

Record = dict[str, Any]

OUT = Path(__file__).resolve().parents[1] / "loaders" / "catalogue"
PUD_PATTERN = r"^([nw]\d{5})"
"""Sentence ids of all parallel treebanks (PUD): n or w, five digits of the document, three of the sentence."""
KINDS = {"None": "none", "newdoc": "newdoc", "auto": "auto"}
"""Rules of SOURCE.txt that are not a pattern of sentence ids → their kind in the catalogue."""
WHY_NOT = {
    "nc": "{} forbids commercial use",
    "nd": "{} forbids passing on changed copies",
    "restricted": "{} binds every recipient to computational use",
    "unknown": "its licence '{}' is not a known one",
}

TABLES = ("treebank", "text", "left_out")
PART = "# a part of the repository: the files that are listed\n"


def main(argv: list[str] | None = None) -> int:
    """Write the catalogue, or with ``--check`` compare it; exit status 1 where it differs."""
    options = _options().parse_args(argv)
    made = catalogue(options.catalogue, options.corpora)
    if options.check:
        return _report(_differing(made, options.out))
    _write(made, options.out)
    print(f"{len(made)} languages in {options.out}", file=sys.stderr)
    return 0


def catalogue(listing: Path, corpora: Path) -> dict[str, str]:
    """The text of every file of the catalogue, by file name."""
    manifest = json.loads((corpora / "manifest.json").read_text(encoding="utf-8"))["files"]
    files = sorted((file for file in manifest if file.get("kind") == "ud"), key=lambda file: str(file["path"]))
    at_hand = {hashes_of(corpora / file["path"]).git_blob_sha1: file for file in files}
    rules = _document_rules(corpora)
    treebanks = json.loads(listing.read_text(encoding="utf-8"))["treebanks"]
    records = [_universal(treebank, rules, at_hand) for treebank in treebanks]
    records += [_elsewhere(known, at_hand, rules) for known in FACTS["elsewhere"]]
    records += text_records(corpora, manifest)
    by_language: defaultdict[str, list[Record]] = defaultdict(list)
    for record in sorted(records, key=lambda record: record["name"].casefold()):
        by_language[record["lang"]].append(record)
    return {f"{code}.toml": _language_file(code, by_language[code]) for code in sorted(by_language)}


def _universal(treebank: Record, rules: dict[str, str], at_hand: dict[str, Record]) -> Record:
    """The record of a treebank of Universal Dependencies."""
    name = treebank["repo"].split("/")[1]
    prefix = treebank["files"][0]["path"].split("-ud-")[0]
    reason = _reason(treebank)
    return {
        "name": name,
        "prefix": prefix,
        "lang": prefix.split("_")[0],
        "language": _language_name(name),
        "repo": treebank["repo"],
        "commit": treebank["commit"],
        "date": treebank["date"],
        "licence": treebank["licence"],
        "genre": treebank["genre"].split(),
        "documents": _rule(name, rules),
        "citation": f"{name}, Universal Dependencies, commit {treebank['commit'][:7]}, "
        f"https://github.com/{treebank['repo']}",
        **({"note": FACTS["notes"][name]} if name in FACTS["notes"] else {}),
        **({"reason": reason} if reason else {"files": [_pinned(file, at_hand) for file in treebank["files"]]}),
    }


def _reason(treebank: Record) -> str:
    """Why a treebank is left out; empty if it is not."""
    if treebank["includes_text"] != "yes":
        return "its files hold annotation without the text, which has to be got from elsewhere"
    kind = openness(treebank["licence"])
    return "" if kind == "open" else WHY_NOT[kind].format(treebank["licence"])


def _pinned(file: Record, at_hand: dict[str, Record]) -> Record:
    """A file as the catalogue writes it, with size and SHA-256 if the folder of corpora has its content."""
    known = at_hand.get(file["git_blob_sha1"], {})
    sha256, size = known.get("sha256"), known.get("bytes", file["bytes"])
    return {
        "path": file["path"],
        "git_blob_sha1": file["git_blob_sha1"],
        **({} if size is None else {"bytes": size}),
        **({"sha256": sha256} if sha256 else {}),
    }


def _elsewhere(known: Record, every: dict[str, Record], rules: dict[str, str]) -> Record:
    """The record of a treebank outside Universal Dependencies, which only the folder of corpora has."""
    name = known["name"]
    at_hand = {blob: file for blob, file in every.items() if file["treebank"] == name}
    first = next(iter(at_hand.values()))
    return {
        "name": name,
        "prefix": known["prefix"],
        "lang": first["lang"],
        "language": known["language"],
        "repo": first["repo"],
        "commit": first["commit"],
        "licence": known["licence"],
        "licence_note": known["licence_note"],
        **({"default": False, "note": known["note"]} if "note" in known else {}),
        "genre": sorted({Path(file["path"]).name.split("_")[1] for file in at_hand.values()}),
        "documents": _rule(name, {name: "newdoc"} | rules),
        "citation": f"{known['citation']}; commit {first['commit'][:7]}, https://github.com/{first['repo']}",
        "files": [_pinned(_in_repository(known["folders"], blob, file), at_hand) for blob, file in at_hand.items()],
    }


def _in_repository(folders: dict[str, str], blob: str, file: Record) -> Record:
    """The file with its path in the repository."""
    name = Path(file["path"]).name
    folder = next(folder for start, folder in folders.items() if name.startswith(start))
    return {"path": f"{folder}/{name}", "git_blob_sha1": blob, "bytes": file["bytes"]}


def _document_rules(corpora: Path) -> dict[str, str]:
    """The document rule of each treebank that has one, by the name of its folder."""
    rules = {}
    for source in sorted(corpora.rglob("SOURCE.txt")):
        rule = re.search(r"^document rule: (.+)$", source.read_text(encoding="utf-8"), re.MULTILINE)
        if rule:
            rules[source.parent.name] = rule[1].strip()
    return rules


def _rule(name: str, rules: dict[str, str]) -> Record:
    """The document rule of a treebank as the catalogue writes it."""
    if name in FACTS["documents"]:
        return dict(FACTS["documents"][name])
    if name.endswith("-PUD"):
        return {"kind": "sent_id", "pattern": PUD_PATTERN}
    rule = rules.get(name, "auto")
    return {"kind": KINDS[rule]} if rule in KINDS else {"kind": "sent_id", "pattern": rule}


def _language_name(treebank: str) -> str:
    return treebank.removeprefix("UD_").rsplit("-", 1)[0].replace("_", " ")


def _language_file(code: str, records: list[Record]) -> str:
    """The text of one language's file: open treebanks first, then corpora of raw text, then corpora left out."""
    head = f"[language]\ncode = {_toml(code)}\nname = {_toml(records[0]['language'])}\n"
    tables = [_table(kind, record) for kind in TABLES for record in records if _kind(record) == kind]
    return "\n".join([head, *(PART * table.startswith("[[text]]") + table for table in tables)])


def _kind(record: Record) -> str:
    return str(record.get("table") or ("treebank" if "files" in record else "left_out"))


def _table(kind: str, record: Record) -> str:
    """One table of the file, keys in the record's order."""
    left_out = ("table", "lang", "language", *(("date", "genre") if kind == "left_out" else ()))
    lines = [f"{key} = {_toml(value)}" for key, value in record.items() if key not in left_out]
    return "\n".join([f"[[{kind}]]", *lines, ""])


def _toml(value: object) -> str:
    """A value in TOML: strings without a control character are written as in JSON, tables inline, files one a line."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n" + "".join(f"  {_toml(item)},\n" for item in value) + "]"
    if isinstance(value, str) and "\\" in value and "'" not in value:
        return f"'{value}'"
    return json.dumps(value, ensure_ascii=False)


def _write(made: dict[str, str], out: Path) -> None:
    """Write the files, and remove those of languages that are no longer in the inputs."""
    out.mkdir(parents=True, exist_ok=True)
    for stale in set(out.glob("*.toml")) - {out / name for name in made}:
        stale.unlink()
    for name, text in made.items():
        (out / name).write_text(text, encoding="utf-8", newline="\n")


def _differing(made: dict[str, str], out: Path) -> list[str]:
    """The names of files that are missing, stale or differ."""
    existing = {path.name: path.read_text(encoding="utf-8") for path in out.glob("*.toml")}
    return sorted(name for name in made.keys() | existing.keys() if made.get(name) != existing.get(name))


def _report(names: list[str]) -> int:
    for name in names:
        print(f"{name} differs from what the inputs give: run scripts/pin_corpora.py")
    return 1 if names else 0


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--catalogue", type=Path, required=True, help="JSON listing of Universal Dependencies")
    parser.add_argument("--corpora", type=Path, required=True, help="folder of corpora with manifest.json")
    parser.add_argument("--out", type=Path, default=OUT, help="folder of the catalogue (default: the package's)")
    parser.add_argument("--check", action="store_true", help="write nothing, print the files that differ")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
