"""Files of a user's own: examples of a task, a language and a corpus, a workflow that publishes, and mistakes in files.

`new_task`, `new_language` and `new_corpus` write an example that can be built at once; `mistakes_in` checks a file.
Where the files belong, and how they are used, is in ``loaders.plugins``. `new_workflow` writes the file that GitHub
runs to publish a release.
"""

import ast
import importlib
import importlib.metadata
import inspect
import re
import shlex
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from discoprobe.builders.task import all_tasks, packaged_modules, plugin_module
from discoprobe.loaders.catalogue import licences, treebanks
from discoprobe.loaders.catalogue.treebanks import KINDS, CatalogueFile, sample_files
from discoprobe.loaders.errors import DiscoprobeError, UnknownNameError, UsageError
from discoprobe.loaders.files import File, Keys, Mistake, hashes_of, mistakes, parse_toml, read_utf8
from discoprobe.loaders.languages.language import (
    Availability,
    GeneralFacts,
    LanguageSection,
    general_facts,
    packaged_language,
)
from discoprobe.loaders.plugins import CATALOGUE, FAMILIES, LANGUAGES, PARSERS, use_plugins
from discoprobe.loaders.raw.parsers import parser_module
from discoprobe.request import NOT_IN_NAMES

LONGEST_SUMMARY: Final = 160
"""Characters of the first line of a definition, which `build tasks` shows."""
FEWEST_WORDS: Final = 20
"""Words of the rest of a definition."""

TASK: Final = '''"""Is there an adjective in the sentence?

The label is `adjective` if a word of the sentence has the part of speech ADJ in the treebank, and `none` otherwise.
Replace this definition, which cards print, by your own: say what is in a row, and what each label means.
"""

import polars as pl

from discoprobe.builders.sentences.candidates import balanced
from discoprobe.builders.sentences.trees import Trees
from discoprobe.builders.task import Context, ProbingTask


def select(trees: Trees, _context: Context) -> pl.DataFrame:
    """Every sentence of a shard (`sent`) with the name of its label (`label`)."""
    has_adjective = (pl.col("upos") == "ADJ").any()
    return trees.words.group_by("sent", maintain_order=True).agg(
        label=pl.when(has_adjective).then(pl.lit("adjective")).otherwise(pl.lit("none"))
    )


TASK = ProbingTask(labels=("none", "adjective"), select=select, sample=balanced, needs=frozenset({"upos"}))
'''

LANGUAGE: Final = """# Facts about a language. Each table is optional; docs/adding_a_language.md has all keys with
# examples. `build check` lists mistakes in this file.
name = "{name}"
code = "{code}"

[connectives]
source = "say where the list is from"
entries = [
  # {{ lemma = "but", sense = "contrast" }},
]
"""

CORPUS: Final = """[language]
code = "{code}"
name = "{language}"

# A corpus of your own; `build check` lists mistakes in this file. Paths begin in the folder of the plugin.
[[treebank]]
name = "{name}"
prefix = "{prefix}"
repo = ""      # owner/name on GitHub, if the files are there
commit = ""    # the commit of these files
licence = "CC0-1.0"
genre = ["news"]
documents = {{ kind = "auto" }}
citation = "{name}: say how to cite the corpus"
default = false  # true: use it whenever the language is built and no corpus is named
files = [
  {{ path = "{path}", git_blob_sha1 = "{hash}" }},
]
"""

WORKFLOW: Final = """# Builds and audits the data set, and publishes it on the Hub when a tag such as v1.2.0 is pushed.
# The Hub trusts this workflow (https://huggingface.co/docs/hub/trusted-publishers): the settings of the data set
# REPOSITORY name this repository on GitHub and the file FILE. No token is stored.
name: publish-dataset

on:
  push:
    tags: ["v[0-9]*"]

permissions:
  contents: read

concurrency: publish-dataset

jobs:
  build:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.13"
      - run: pip install "discoprobe==VERSION"
      - name: Build; configs that fail the audit are left out
        run: build run OPTIONS --out dist/discoprobe
      - name: Audit what was built, as anybody can
        run: build audit dist/discoprobe
      - uses: actions/upload-artifact@v4
        with:
          name: release
          path: dist/discoprobe
          include-hidden-files: true
          if-no-files-found: error

  publish:
    needs: build
    runs-on: ubuntu-latest
    permissions:
      contents: read
      id-token: write
    env:
      HF_OIDC_RESOURCE: datasets/REPOSITORY
    steps:
      - uses: actions/setup-python@v5
        with:
          python-version: "3.13"
      - uses: actions/download-artifact@v4
        with:
          name: release
          path: dist/discoprobe
      - run: pip install "discoprobe==VERSION"
      - name: Publish in one commit, read it back, and tag it
        run: >-
          build push --no-build --out dist/discoprobe --repo REPOSITORY
          --release "${GITHUB_REF_NAME#v}" --yes
"""


def new_task(name: str, plugin: Path) -> Path:
    """Writes the example of a task, a probing task, and returns its path.

    Raises:
        UsageError: the name cannot be that of a task, there is such a task, or the file exists.
    """
    if not name.isidentifier() or name != name.lower() or name.startswith("_"):
        raise UsageError(f"'{name}' cannot be the name of a task: use small letters, digits and _, such as my_task")
    if name in all_tasks():
        raise UsageError(f"there is a task {name}; choose another name")
    return _write(plugin / FAMILIES[0] / f"{name}.py", TASK)


def new_language(name: str, plugin: Path) -> Path:
    """Writes a language file: a copy of the package's, or the beginning of one; returns its path.

    Raises:
        UnknownNameError: there is no such language.
        UsageError: the file exists.
    """
    code = treebanks.language_code(name)
    text = packaged_language(code) or LANGUAGE.format(code=code, name=treebanks.language_name(code))
    return _write(plugin / LANGUAGES / f"{code}.toml", text)


def new_corpus(name: str, lang: str, plugin: Path) -> Path:
    """Writes a catalogue of one corpus, which is a copy of the sample of the language; returns its path.

    Raises:
        UnknownNameError: there is no such language.
        UsageError: the file exists, there is a corpus of that name, or the sample has no such language.
    """
    code, sample = treebanks.language_code(lang), sample_files()
    if code not in sample:
        raise UsageError(
            f"the example is a copy of the sample corpus, which has {', '.join(sample)}, not {code}; give --lang "
            f"{next(iter(sample))}, and change the file for {code} then"
        )
    prefix = f"{code}_{NOT_IN_NAMES.sub('_', name).strip('_').lower()}"
    if name != (plain := NOT_IN_NAMES.sub("-", name).strip("-")):
        raise UsageError(f"'{name}' cannot be the name of a corpus; use letters and digits, such as {plain or 'mine'}")
    if {name.casefold(), prefix} & treebanks.packaged_names():
        raise UsageError(f"the catalogue has a corpus {name}; choose another name")
    path = f"corpora/{name}/{prefix}.conllu"
    place = plugin / CATALOGUE / f"{code}.toml"
    if place.exists():
        raise UsageError(f"{place} exists; add a table [[treebank]] to it")
    data = plugin / path
    if data.exists():
        raise UsageError(f"{data} exists; choose another name")
    data.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(sample[code], data)
    pin = {"path": path, "hash": hashes_of(data).git_blob_sha1}
    return _write(
        place, CORPUS.format(code=code, language=treebanks.language_name(code), name=name, prefix=prefix, **pin)
    )


def new_workflow(repo: str, options: Sequence[str], folder: Path) -> Path:
    """Writes a workflow for GitHub that builds, audits and publishes a data set; returns its path.

    Args:
        repo: the dataset repository on the Hub, ``owner/name``.
        options: those of `build run` that say what is built: ``--lang de``.
        folder: a clone of the repository on GitHub.

    Raises:
        UsageError: the file exists.
    """
    path = folder / ".github" / "workflows" / "publish-dataset.yml"
    words = {
        "REPOSITORY": repo, "FILE": path.name, "OPTIONS": shlex.join(options),
        "VERSION": importlib.metadata.version("discoprobe"),
    }  # fmt: skip
    return _write(path, re.sub("|".join(words), lambda match: words[match[0]], WORKFLOW))


def _write(path: Path, text: str) -> Path:
    """Writes a new file, and returns its path."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        raise UsageError(f"{path} exists; delete it, or choose another name") from None
    return path


def sections() -> Mapping[str, type[LanguageSection]]:
    """The sections that a language file may have, by name in alphabetical order."""
    for module in ("builders.build", "loaders.raw.segmentation"):  # a section is declared by the module that uses it
        importlib.import_module(f"discoprobe.{module}")
    list(packaged_modules())
    kinds = (*LanguageSection.__subclasses__(), *Availability.__subclasses__())
    of_package = (kind for kind in kinds if hasattr(kind, "section") and kind.__module__.startswith("discoprobe."))
    return {kind.section: kind for kind in sorted(of_package, key=lambda kind: kind.section)}


def files_of(place: Path) -> list[Path]:
    """The files of a plugin that can be checked, sorted by path; of a file itself.

    Raises:
        UsageError: the folder has none.
    """
    if not place.is_dir():
        return [place]
    folders = {*FAMILIES, PARSERS} | {LANGUAGES, CATALOGUE}
    of_folders = (file for folder in sorted(folders) for file in sorted((place / folder).glob("*.[pt]*")))
    if not (found := [file for file in of_folders if file.suffix in {".py", ".toml"} and file.name[0] != "_"]):
        within = f"in {', '.join(sorted(folders))}"
        raise UsageError(f"{place}: no file of a plugin {within}; `build new task NAME` writes an example")
    return found


def mistakes_in(file: Path) -> list[str]:
    """All mistakes of a file of a plugin, each a line with file, line number and the allowed values; empty for none.

    A TOML file with a table ``[language]`` is a catalogue, another one is of a language; a Python file is a task,
    in the folder ``parsers`` a parser.

    Raises:
        DiscoprobeError: the file cannot be read.
        UsageError: it is neither Python nor TOML.
    """
    if file.suffix not in {".py", ".toml"}:
        raise UsageError(f"{file}: neither a task or parser (.py) nor a language or corpus file (.toml)")
    text = read_utf8(file)
    file = file.resolve()
    if file.suffix == ".py":
        return list((_of_parser if file.parent.name == PARSERS else _of_task)(file, text))
    try:
        tables = parse_toml(text, str(file))
    except DiscoprobeError as error:
        return [str(error)]
    is_catalogue = "language" in tables or any(kind in tables for kind in KINDS) or file.parent.name == CATALOGUE
    listed = list((_of_catalogue if is_catalogue else _of_language)(file, tables))
    lines = [mistake.at(file, text) for mistake in listed]
    return sorted(dict.fromkeys(lines), key=lambda line: int(line.removeprefix(f"{file}:").partition(":")[0]))


def _of_parser(file: Path, _text: str) -> Iterator[str]:
    try:
        parser_module(file)
    except DiscoprobeError as error:
        yield str(error)


def _of_task(file: Path, text: str) -> Iterator[str]:
    if file.parent.name not in FAMILIES:
        folders = ", ".join(FAMILIES)
        yield f"{file}:1: a task belongs into one of the folders {folders} of a plugin, a parser into {PARSERS}"
        return
    try:
        use_plugins(file.parents[1])
        plugin_module(file, {})
    except DiscoprobeError as error:
        yield str(error)
        return
    summary, _, rest = inspect.cleandoc(ast.get_docstring(ast.parse(text)) or "").partition("\n")
    if len(summary) > LONGEST_SUMMARY or summary[-1:] not in {".", "?", ")"}:
        yield f"{file}:1: the docstring's first line has at most {LONGEST_SUMMARY} characters, and ends with . ? or )"
    if (n_words := len(rest.split())) < FEWEST_WORDS:
        yield f"{file}:1: below its first line, the docstring has {n_words} words; it needs {FEWEST_WORDS}"


def _of_language(file: Path, tables: dict[str, Any]) -> Iterator[Mistake]:
    facts, of_sections = general_facts(tables)
    kinds = sections()
    for mistake in mistakes(facts, GeneralFacts):
        more = f"; sections: {', '.join(f'[{name}]' for name in kinds)}" if "unknown key" in mistake.problem else ""
        yield Mistake(mistake.keys, mistake.problem + more)
    if facts.get("code", file.stem) != file.stem:
        yield Mistake(["code"], f"expected '{file.stem}', as the file is called")
    for name, table in of_sections.items():
        if name in kinds:
            yield from mistakes(table, kinds[name], [name])
        else:
            yield Mistake([name], f"unknown section (allowed: {', '.join(kinds)})")


def _of_catalogue(file: Path, tables: dict[str, Any]) -> Iterator[Mistake]:
    for kind in KINDS:
        of_kind = tables.get(kind)
        for table in of_kind if isinstance(of_kind, list) else ():
            if isinstance(table, dict):
                table["lang"] = file.stem
    of_form = list(mistakes(tables, CatalogueFile))
    yield from (Mistake(each.keys, each.problem.replace("lang, ", "")) for each in of_form)
    head = tables.get("language")
    if isinstance(head, dict) and head.get("code", file.stem) != file.stem:
        yield Mistake(["language", "code"], f"expected '{file.stem}', as the file is called")
    language = treebanks.packaged_language_name(file.stem)
    if isinstance(head, dict) and language and head.get("name", language) != language:
        yield Mistake(["language", "name"], f"expected '{language}', as in catalogue/{file.stem}.toml")
    names: Counter[str] = Counter()
    for kind in KINDS:
        of_kind = tables.get(kind)
        for number, table in enumerate(of_kind if isinstance(of_kind, list) else ()):
            if not isinstance(table, dict):
                continue
            for key in ("name", "prefix"):
                name = str(table.get(key, "")).casefold()
                names[name] += bool(name)
                if names[name] > 1 or name in treebanks.packaged_names():
                    yield Mistake([kind, number, key], f"there is a corpus '{name}'; choose another name")
            licence = table.get("licence")
            if isinstance(licence, str):
                try:
                    licences.checked(licence)
                except UnknownNameError as error:
                    yield Mistake([kind, number, "licence"], str(error))
                else:
                    if kind != "left_out" and not licences.publishable(licence):
                        problem = f"'{licence}' is not open; make the table a [[left_out]] with a `reason`"
                        yield Mistake([kind, number, "licence"], problem)
            files = table.get("files")
            for place, entry in enumerate(files if isinstance(files, list) else ()):
                if not isinstance(entry, dict) or not isinstance(entry.get("path"), str):
                    continue
                keys: Keys = [kind, number, "files", place]
                path = file.parents[1] / entry["path"]
                if path.is_file():
                    pinned = File(
                        entry["path"],
                        str(entry.get("sha256", "")),
                        entry.get("bytes"),
                        str(entry.get("git_blob_sha1", "")),
                    )
                    if problem := pinned.mismatch(path):
                        yield Mistake(keys, f"{path}: {problem}")
                elif not table.get("repo"):
                    yield Mistake(keys, f"there is no file {path}, and no `repo` to download it from")
