"""Make ``loaders/catalogue/*.toml`` from listings of Universal Dependencies and a folder of other corpora.

Three inputs:

* ``--catalogue``, which may be repeated: a folder of git clones of the treebanks (``list_treebanks.py``), or JSON with
  a list ``treebanks`` of records (repo, commit, date, licence, genre, includes_text, files with path, git_blob_sha1,
  bytes or null), one per repository, at its newest commit. A record may also say in which release the treebank was
  last (``last_release``), how it was called (``old_names``) and what its licence file says (``licence_file_says``).
  Lists ``no_conllu_at_head`` and ``index_only`` have the treebanks whose files are on a
  branch, or could not be read.
  A later listing takes the place of an earlier one for the treebanks that it has, and for their old names;
* ``--forms``: JSON with a list ``repositories`` of the tables of UniMorph (repo, iso, commit, date, licence, files as
  above, and ``usable_files``, those that have forms), and a list ``ud_languages`` (lcode, and the repositories of the
  language as ``unimorph``);
* ``--corpora``: a folder with ``manifest.json`` (per file: path, bytes, sha256, kind, repo, commit …), the files that
  it lists, and a ``SOURCE.txt`` in the folder of each treebank, whose line ``document rule:`` says how its documents
  are recognised.

The pinned commit is that of the first input. The SHA-256 and size of a file in the folder are copied to the catalogue
if its git blob hash is the pinned one; files of older commits are not used. The same inputs give the same bytes.
``corpus_facts.toml`` has facts that are in neither, and decisions with their reasons: which rule finds the documents of
a treebank, which genres of a README are wrong, and what is not taken.

The records of treebanks and of relations and coreference come first (`treebank_records`, `disrpt_records`,
`coreference_records`), then those of raw text (`text_records`, `listed_records`) and tables of forms (`forms_records`).
Of raw text, the files in the folder are pinned, a part of each repository, and the novels, plays and news in
``eltec_files.tsv``, ``dracor_files.tsv`` and ``ntrex_files.tsv``. The licence of files in the folder is checked against
them: the README or licence file must contain the phrase that grants it, and the headers of TEI files name licences of
their own; the strictest one is used.
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
from list_treebanks import ORGANISATION, treebanks_in

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
TARGET = re.compile(r'<licence[^>]*\btarget="https?://([^"]+)"')
DEV = ("commit", "date")
"""What a listing says of the branch ``dev``, where the files of a treebank are there only."""
TABLES = ("treebank", "text", "forms", "left_out")
PART = "# a part of the repository: the files that are listed\n"


def main(argv: list[str] | None = None) -> int:
    """Write the catalogue, or with ``--check`` compare it; exit status 1 where it differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    help_ = "JSON listing of Universal Dependencies, or a folder of clones of its treebanks; may be repeated"
    parser.add_argument("--catalogue", type=Path, required=True, action="append", help=help_)
    parser.add_argument("--forms", type=Path, required=True, help="JSON listing of the tables of UniMorph")
    parser.add_argument("--corpora", type=Path, required=True, help="folder of corpora with manifest.json")
    parser.add_argument("--out", type=Path, default=OUT, help="folder of the catalogue (default: the package's)")
    parser.add_argument("--check", action="store_true", help="write nothing, print the files that differ")
    options = parser.parse_args(argv)
    pages = catalogue(options.catalogue, options.forms, options.corpora)
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


def catalogue(listings: list[Path], forms: Path, corpora: Path) -> dict[str, str]:
    """The text of every file of the catalogue, by file name: one per language, treebanks first, then raw text."""
    files = json.loads((corpora / "manifest.json").read_text(encoding="utf-8"))["files"]
    by_repo: Record = {}
    for path in listings:
        by_repo |= {treebank["repo"]: treebank for treebank in listed_treebanks(path)}
    for old in {old for treebank in by_repo.values() for old in treebank.get("old_names", ())}:
        by_repo.pop(f"{ORGANISATION}/{old}", None)
    records = [*treebank_records([*by_repo.values()], corpora, files), *disrpt_records(), *coreference_records()]
    banks = {record["lang"] for record in records if record["table"] == "treebank" and _is_used_by_default(record)}
    records += text_records(corpora, files, banks)
    names = {record["lang"]: record["language"] for record in records}
    records += [*listed_records(names, banks), *forms_records(forms, names)]
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


def _is_used_by_default(record: Record) -> bool:
    return bool(record.get("default", True)) and openness(record["licence"]) == "open"


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


def listed_treebanks(path: Path) -> Iterator[Record]:
    """The records of a listing, or of a folder of clones, each with a list of ``files``, empty if none can be pinned.

    Of treebanks of the release whose main branch has no files, those of the branch ``dev`` are taken.
    """
    listing = {"treebanks": treebanks_in(path)} if path.is_dir() else json.loads(path.read_text(encoding="utf-8"))
    yield from listing["treebanks"]
    for treebank in (*listing.get("no_conllu_at_head", ()), *listing.get("index_only", ())):
        if treebank["in_release_2_18"] or treebank["repo"].split("/")[1] in FACTS["not_taken"]:
            commit = treebank.get("commit") or treebank["readme_commit"]
            if treebank.get("dev_files"):
                yield treebank | {"files": treebank["dev_files"]} | {key: treebank["dev"][key] for key in DEV}
            else:
                yield treebank | {"files": [], "commit": commit}


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
    """The record of a treebank of Universal Dependencies; it is left out if it lacks files, text or an open licence."""
    name, files = treebank["repo"].split("/")[1], treebank["files"]
    language, _, corpus = name.removeprefix("UD_").rpartition("-")
    prefix = files[0]["path"].split("-ud-")[0] if files else f"{treebank['lcode']}_{corpus.lower()}"
    commit, unclear = treebank["commit"], FACTS["unclear"].get(name, {})
    genre = FACTS["genres"].get(name) or re.findall(r"[a-z][a-z-]+", treebank["genre"])
    notes = [_not_in_release(treebank), FACTS["notes"].get(name, "")]
    record = {
        "table": "treebank", "name": name, "prefix": prefix, "lang": prefix.split("_")[0],
        "language": language.replace("_", " "), "repo": treebank["repo"], "commit": commit,
        **({"date": treebank["date"]} if "date" in treebank else {}),
        "licence": unclear.get("licence", treebank["licence"]), "genre": genre, "documents": _rule(name, rules),
        "citation": f"{name}, Universal Dependencies, commit {commit[:7]}, https://github.com/{treebank['repo']}",
    }  # fmt: skip
    if note := unclear.get("licence_note") or _stricter(treebank):
        record["licence_note"] = note
    if note := "; ".join(filter(None, notes)):
        record["note"] = note
    if name in FACTS["layers"]:
        record["layers"] = FACTS["layers"][name]
    if reason := _unusable(treebank):
        return record | {"table": "left_out", "reason": reason}
    pins = [_pin(file, by_blob) for file in files]
    if unclear:
        return record | {"table": "left_out", "reason": unclear["reason"], "files": pins}
    return _by_licence(record, pins)


def _unusable(treebank: Record) -> str:
    """Why no file of a treebank can be used, under any licence; empty where one can."""
    if (name := treebank["repo"].split("/")[1]) in FACTS["not_taken"]:
        return str(FACTS["not_taken"][name])
    if treebank["includes_text"] != "yes":
        return "its files hold annotation without the text, which has to be got from elsewhere"
    return "" if treebank["files"] else "no copy of its files could be read when the catalogue was made"


def _not_in_release(treebank: Record) -> str:
    """A note on a treebank that the newest release does not have; empty for others, and where it is not listed."""
    if treebank.get("in_release_2_18", True):
        return ""
    return f"last in release {treebank['last_release']} of Universal Dependencies"


def _stricter(treebank: Record) -> str:
    """A note where the README names a stricter licence than the licence file; the stricter one is taken."""
    of_file = treebank.get("licence_file_says", "NonCommercial")
    if openness(treebank["licence"]) != "nc" or "NonCommercial" in of_file:
        return ""
    return f"the README says {treebank['licence']}, the licence file allows commercial use; the stricter one counts"


def _by_licence(record: Record, files: list[Record]) -> Record:
    """A record with its files; it is left out, with the reason, if its licence is not an open one."""
    kind = openness(record["licence"])
    if kind == "open":
        return record | {"files": files}
    reason = WHY_NOT["none" if record["licence"] == UNKNOWN else kind].format(record["licence"])
    return record | {"table": "left_out", "reason": reason, "files": files}


def disrpt_records() -> Iterator[Record]:
    """The records of the corpora of relations in ``corpus_facts.toml``.

    It pins the files of a corpus, whose repository may be its own, or gives the reason why it cannot be used.
    """
    of_all = FACTS["disrpt"]
    for facts in of_all["corpus"]:
        record = {
            "table": "treebank", **{key: facts[key] for key in ("name", "prefix")},
            "lang": facts["prefix"].partition("_")[0], "language": facts["language"],
            **{key: (of_all | facts)[key] for key in ("repo", "commit")},
            **{key: facts[key] for key in ("licence", "licence_note") if key in facts}, "default": False,
            "note": RELATIONS_ONLY, "genre": facts["genre"], "layers": ["relations"],
            **{key: facts[key] for key in ("part_of",) if key in facts}, "documents": {"kind": "auto"},
            "citation": _citation(facts, of_all | facts),
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


def listed_records(names: dict[str, str], with_treebank: set[str]) -> Iterator[Record]:
    """The records of novels, plays and news whose files are listed beside this program.

    ``files`` names the list: a folder or code per corpus, path, git blob hash and bytes. A language may have a licence
    of its own. Languages are left out that are not in ``names`` and have no name of their own. With
    ``without_treebank``, text is used by default for languages that are not ``with_treebank``.
    """
    for facts in (FACTS["novels"], FACTS["plays"], FACTS["news"]):
        files = defaultdict(list)
        for line in (Path(__file__).parent / facts["files"]).read_text(encoding="utf-8").splitlines():
            code, path, blob, size = line.split("\t")
            files[code].append({"path": path, "git_blob_sha1": blob, "bytes": int(size)})
        for language in facts["languages"]:
            if (lang := language["lang"]) in names or "language" in language:
                name, prefix, repo = (facts[key].format(**language) for key in ("name", "prefix", "repo"))
                source = {"repo": repo, "commit": language.get("commit") or facts["commit"]}
                is_default = facts.get("without_treebank", False) and lang not in with_treebank
                usual = {} if is_default else {"default": False, "note": facts["note"]}
                licence = {key: language.get(key, facts[key]) for key in ("licence", "licence_note")}
                yield {
                    "table": "text", "name": name, "prefix": prefix, "lang": lang,
                    "language": names.get(lang) or language["language"], **source, **licence, **usual,
                    "genre": facts["genre"], "read": [*facts["read"], *language.get("read", ())],
                    "citation": _citation(facts, source), "files": files[language["code"]],
                }  # fmt: skip


def forms_records(listing: Path, names: dict[str, str]) -> Iterator[Record]:
    """The records of the tables of UniMorph in a listing, for the languages with these codes and names.

    A table without a known licence is not used by default.
    """
    listed, of_all = json.loads(listing.read_text(encoding="utf-8")), FACTS["forms"]
    tables = {table["repo"]: table for table in listed["repositories"] if table["repo"] not in of_all["not_taken"]}
    for language in listed["ud_languages"]:
        lang = language["lcode"]
        for table in (tables[repo] for repo in language["unimorph"] if repo in tables and lang in names):
            usable, name = table["usable_files"], table["iso"]
            paths = of_all["files"].get(lang) or ([name] if name in usable else usable)
            files = [_pin(file, {}) for file in table["files"] if file["path"] in paths]
            unlicensed = {"default": False, "note": of_all["note"]} if table["licence"] == UNKNOWN else {}
            if files:
                yield {
                    "table": "forms", "name": f"UniMorph-{lang}", "prefix": f"{lang}_unimorph", "lang": lang,
                    "language": names[lang], **{key: table[key] for key in ("repo", "commit", "date", "licence")},
                    **unlicensed, "citation": _citation(of_all, table), "files": files,
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


def text_records(corpora: Path, files: list[Record], with_treebank: set[str]) -> list[Record]:
    """The records of the corpora of raw text that the folder has, and of what is left out.

    An entry of ``corpus_facts.toml`` with ``codes`` is a corpus per language; its ``grants`` has the phrases that grant
    the licence of some of them.

    Args:
        corpora: the folder.
        files: what its manifest lists.
        with_treebank: languages whose text is not used by default, because a treebank is.

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
                records.append(_text_record(text, paths, corpora, listed, with_treebank))
    facts = FACTS["left_out"]
    if file := listed.get(facts["path"]):
        record = {
            "table": "left_out", **{key: facts[key] for key in ("name", "prefix", "lang", "language")},
            **{key: file[key] for key in ("repo", "commit", "licence")}, "documents": {"kind": "auto"},
            "citation": _citation(facts, file), "reason": facts["reason"],
        }  # fmt: skip
        records.append(record)
    return records


def _text_record(
    text: TextFacts, texts: list[Path], corpora: Path, listed: dict[str, Record], with_treebank: set[str]
) -> Record:
    """The record of a corpus of raw text, whose files are those that the manifest lists."""
    licence = _strictest_licence(text, corpora / text.folder, texts)
    pinned = []
    for path in texts:
        hashes, file = hashes_of(path), listed[path.relative_to(corpora).as_posix()]
        if (hashes.sha256, hashes.bytes) != (file["sha256"], file["bytes"]):
            raise ValueError(f"{path} differs from the manifest")
        pin = {"path": f"{text.inside}/{path.name}", "git_blob_sha1": hashes.git_blob_sha1}
        pinned.append(pin | {"bytes": hashes.bytes, "sha256": hashes.sha256})
    first = listed[texts[0].relative_to(corpora).as_posix()]
    note = "raw text; treebanks are taken by default"
    return {
        "table": "text", "name": text.name, "prefix": text.prefix, "lang": text.lang,
        "language": next(name for code, name in FACTS["codes"].values() if code == text.lang),
        "repo": first["repo"], "commit": first["commit"], "licence": licence, "licence_note": text.licence_note,
        **({"default": False, "note": note} if text.lang in with_treebank else {}),
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
