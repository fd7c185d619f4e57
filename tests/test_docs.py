"""Every command and option has help, and what README and docs/ show is what happens."""

import ast
import contextlib
import html
import pkgutil
import re
import runpy
import shlex
import tomllib
import typing
from collections import defaultdict

import datasets
import msgspec
import pytest
import typer.main
from shared import ROOT, run_in_process

from discoprobe.builders import MIN_ROWS, PRESETS, Settings, all_tasks, preset, with_values
from discoprobe.builders.sentences import Connectives
from discoprobe.builders.sentences.connectives import Connective
from discoprobe.builders.sentences.predicate import CompoundTense
from discoprobe.cards import read_marks
from discoprobe.cli import ANYWHERE, app
from discoprobe.loaders import allowed_values, mistakes
from discoprobe.loaders.languages import parse_language
from discoprobe.loaders.languages.language import GeneralFacts
from discoprobe.loaders.raw import (
    CORRECTIONS,
    LONG_SENTENCE,
    NAMES,
    OTHER_LENGTH,
    REASONS,
    RUNNING,
    TRACES,
    UNANNOTATED,
    WITHOUT_SENTENCE,
    Kind,
)
from discoprobe.own_files import sections

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
TEXTS = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in PAGES}
README = TEXTS["README.md"]
PROGRAMS = ("build", "discoprobe")
SCRIPT = runpy.run_path(str(ROOT / "scripts" / "docs_tables.py"))


def commands_below(command, name=()):
    """Every command with its full name, groups included."""
    found = [(name, command)]
    for child, below in getattr(command, "commands", {}).items():
        found += commands_below(below, (*name, child))
    return found


COMMANDS = commands_below(typer.main.get_command(app))
LEAVES = {name: command for name, command in COMMANDS if not hasattr(command, "commands")}


def blocks(text, language):
    """The contents of the fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)


def console_lines(text):
    """The commands of ``console`` blocks: lines that begin with ``$``, cut at ``&&``."""
    lines = [line[2:] for block in blocks(text, "console") for line in block.splitlines() if line.startswith("$ ")]
    parts = [part.strip() for line in lines for part in line.split("&&")]
    return [part for part in parts if part.split()[:1] and part.split()[0] in PROGRAMS]


SHOWN = list(dict.fromkeys(line for text in TEXTS.values() for line in console_lines(text)))


@pytest.mark.parametrize("name", [pytest.param(name, id=" ".join(name) or "build") for name, _ in COMMANDS])
def test_every_command_and_option_has_help(name):
    command = dict(COMMANDS)[name]
    assert command.help
    assert command.help.strip()[0].isupper()
    for parameter in command.params:
        if parameter.name != "help":
            assert (getattr(parameter, "help", None) or "").strip(), f"{' '.join(name)}: {parameter.name} has no help"


@pytest.mark.parametrize("name", all_tasks())
def test_every_task_says_what_it_is(name):
    first, _, rest = all_tasks()[name].definition.partition("\n")
    assert len(first) <= 160
    assert first.strip()[-1] in ".?)"
    assert len(rest.split()) >= 20, "the card needs a definition"


def test_every_command_is_in_readme_or_docs():
    shown = "\n".join(TEXTS.values())
    missing = [" ".join(name) for name in LEAVES if f"build {' '.join(name)}" not in shown]
    assert not missing


def test_the_pages_of_users_are_short():
    """At most 12,000 words, tables included, without code and the pages of those who extend the program."""
    texts = [text for name, text in TEXTS.items() if name != "README.md" and "adding_a" not in name]
    without_code = (re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE) for text in texts)
    assert sum(len(text.split()) for text in without_code) <= 12_000


def test_readme_is_short():
    assert len(README.splitlines()) <= 150


def command_of(words):
    """The command that the words call, and its arguments."""
    words = [word for word in words if word not in ANYWHERE]
    name = next((tuple(words[:n]) for n in (2, 1) if tuple(words[:n]) in LEAVES), None)
    assert name, f"no such command: {' '.join(words)}"
    return LEAVES[name], words[len(name) :]


@pytest.mark.parametrize("line", SHOWN)
def test_commands_can_be_parsed(line):
    command, arguments = command_of(shlex.split(line, comments=True)[1:])
    known = {option for parameter in command.params for option in parameter.opts + parameter.secondary_opts}
    for word in arguments:
        if word.startswith("-"):
            assert word.partition("=")[0] in known | {"--help", "-h"}, line


FILES = (".conllu", ".tsv", ".parquet", ".csv")
NETWORK = {"probe", "push", "pull", "verify", "fetch", "diff"}


def needs_more(words):
    """Whether a command needs the network (the catalogue's corpora, the Hub) or files of the reader."""
    if any(word.endswith(FILES) or word.startswith(("my_", "hf://", "corpora/", "dist/notes")) for word in words):
        return True
    if "--exclude" in words:  # it needs a file of marks
        return True
    if words[1] == "review":  # it serves until Ctrl-C, or reads marks of the reader's
        return True
    network = bool(NETWORK & set(words))
    if words[1] == "corpora":
        return network or "check" in words
    return network or (words[1] in {"run", "tasks"} and "--lang" in words and "sample" not in words)


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """What the commands print that need nothing but the sample, run in the order of the pages in one folder."""
    folder, printed = tmp_path_factory.mktemp("docs"), {}
    for line in SHOWN:
        words = shlex.split(line, comments=True)
        if needs_more(words):
            continue
        done = run_in_process(*words[1:], cwd=folder, environment={"TERM": "dumb", "COLUMNS": "79"})
        assert done.returncode in {0, 3}, f"{line}\n{done.stderr}"
        assert "Traceback" not in done.stderr
        printed[line] = done.stdout
    return folder, printed


def test_readme_shows_what_its_first_command_prints(outputs):
    folder, printed = outputs
    there = SCRIPT["readme"](README, printed[console_lines(README)[0]], folder / "dist" / "discoprobe")
    assert there.splitlines() == README.splitlines(), "python scripts/docs_tables.py writes it"


def named_tasks(line):
    """The tasks that a command names with ``--task``."""
    words = shlex.split(line, comments=True)
    return words[words.index("--task") + 1].split(",") if "--task" in words else []


def test_a_task_that_is_built_from_the_sample_gives_a_config(outputs):
    lines = [line for line in outputs[1] if line.split()[1] == "run" and named_tasks(line)]
    assert len(lines) >= 2
    for line in lines:
        assert "not built" not in outputs[1][line], line


def test_the_guide_shows_what_a_build_of_its_example_prints(outputs):
    text = TEXTS["docs/adding_a_task.md"]
    (line,) = (line for line in console_lines(text) if line in outputs[1] and "--task sp" in line)
    (shown,) = blocks(text, "text")
    table = outputs[1][line].partition("\n\nload_dataset")[0]
    assert [row.rstrip() for row in table.splitlines()] == shown.splitlines()


def test_readme_shows_a_row_of_what_was_built(outputs, monkeypatch):
    monkeypatch.chdir(outputs[0])
    block = next(block for block in blocks(README, "python") if block.startswith(">>>"))
    expression, shown = block[4:].split("\n", 1)
    assert eval(expression, {"load_dataset": datasets.load_dataset}) == ast.literal_eval(shown)


def test_readme_shows_the_message_for_a_malformed_file(command, tmp_path):
    rows = ["1\tSí\tsí\tINTJ\t_\t_\t0\troot\t_\t_", "2\t.\t.\tPUNCT\t_\t_\t31\tpunct\t_\t_"]
    (tmp_path / "broken.conllu").write_text("\n".join(["# sent_id = 1", *rows, "", ""]), encoding="utf-8")
    done = command("run", "--lang", "es", "--corpus", "broken.conllu", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.replace(str(tmp_path), "/home/me") == blocks(README, "text")[1]


def test_the_use_from_python_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    block = next(block for block in blocks(README, "python") if block.startswith("import discoprobe"))
    names = {}
    exec(block, names)
    assert names["config"].counts()["test"] == {"coherent": 9, "incoherent": 9}


def test_the_mark_that_is_shown_can_be_read(tmp_path):
    (block,) = blocks(TEXTS["docs/reviewing.md"], "json")
    file = tmp_path / "marks.jsonl"
    file.write_text(block.replace("\n ", "").strip(), encoding="utf-8")
    assert [(one.kind, one.config, one.verdict) for one in read_marks(file)] == [("mark", "dc_es", "wrong label")]


def option_of(command, flag):
    """The option of a command with this flag."""
    (option,) = [parameter for parameter in LEAVES[command].params if flag in parameter.opts]
    return option


def names_in_help(option):
    """The names on the lines ``NAME=VALUE`` of an option's help."""
    return set(re.findall(r"(?:^|, )(\w+)=", option.help, re.MULTILINE))


def first_column(text, head):
    """The names in the first column of the table that begins with this head."""
    rows = text.partition(f"| {head} |")[2].partition("\n\n")[0].splitlines()[2:]
    return {name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])}


def test_every_setting_is_in_docs_and_help():
    """The settings that ``--set`` takes are the fields of `Settings` that have no option of their own."""
    own = {"seed", "sizes", "min_rows", "match", "most_documents"}
    names = {field.name for field in msgspec.structs.fields(Settings)} - own
    assert first_column(TEXTS["docs/settings.md"], "setting") == names
    assert names_in_help(option_of(("run",), "--set")) == names


def test_settings_are_documented_with_their_defaults():
    defaults = re.findall(r"^\| `(\w+)` \| `([^`]+)` \|", TEXTS["docs/settings.md"], re.MULTILINE)
    assert len(defaults) >= 10
    assert with_values(Settings(), [f"{name}={value}" for name, value in defaults]) == Settings()


def test_help_says_the_default_numbers_of_rows():
    for option, numbers in {"--size": Settings().sizes, "--min-rows": MIN_ROWS}.items():
        assert f"Default: {'/'.join(map(str, numbers))}." in " ".join(option_of(("run",), option).help.split())


def test_presets_are_documented_with_their_settings():
    shown = re.findall(r"^\| `(\w+)` \([^)]+\) \| (.+) \|$", TEXTS["docs/settings.md"], re.MULTILINE)
    assert {name for name, _ in shown} == PRESETS.keys() - {"default"}
    for name, settings in shown:
        assert with_values(Settings(), re.findall(r"`([^`]+)`", settings)) == preset(name)


def test_every_option_of_reading_is_in_docs_and_help():
    """The options that ``annotate --set`` takes are those of `ReadOptions` that have no option of their own."""
    names = set(NAMES) - {"text", "id", "genre", "sentences", "on_error", "encoding"}
    assert first_column(TEXTS["docs/raw_text.md"], "option") == names
    assert names_in_help(option_of(("annotate",), "--set")) == names


def test_every_output_is_compared():
    """One of the tests above compares each of these blocks; a page that shows another output needs another test."""
    shown = {name: len(blocks(text, "text")) + text.count("\n>>> ") for name, text in TEXTS.items()}
    assert {name: n for name, n in shown.items() if n} == {
        "README.md": 3,
        "docs/adding_a_task.md": 1,
        "docs/index.md": 1,
    }
    mixed = [line for text in TEXTS.values() for block in blocks(text, "console") for line in block.splitlines()]
    assert [line for line in mixed if not line.startswith("$ ")] == [], "commands and their output are two blocks"
    json_blocks = {name: len(blocks(text, "json")) for name, text in TEXTS.items()}
    assert {name: n for name, n in json_blocks.items() if n} == {"docs/reviewing.md": 1}


@pytest.mark.parametrize("name", TEXTS)
def test_python_of_pages_compiles(name):
    for block in blocks(TEXTS[name], "python"):
        if not block.startswith(">>>"):
            compile(block, name, "exec")


@pytest.mark.parametrize("name", TEXTS)
def test_links_and_named_files_exist(name):
    folder = (ROOT / name).parent
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", TEXTS[name]):
        assert (folder / target).exists(), target
    for target in re.findall(r"(?<![\w/])((?:builders|loaders|cards|scripts|tests)/[\w/.-]*\w)", TEXTS[name]):
        of_a_release = re.fullmatch(r"cards/\w+\.md", target)
        assert of_a_release or "NAME" in target or (ROOT / target).exists(), target


@pytest.mark.parametrize("path", [ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*/*.md")])
def test_links_of_other_pages_exist(path):
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), target


ARGUMENTS = {"bench", "context", "drops", "shard", "trees"}
"""What the functions of an author get; the guides name their attributes."""


@pytest.mark.parametrize("name", [name for name in TEXTS if "adding_a" in name])
def test_functions_that_guides_name_exist(name):
    """``room.module.function``, below ``discoprobe.builders`` or ``discoprobe``."""
    for dotted in re.findall(r"`([a-z]\w*(?:\.[a-z]\w*)+)(?=[`(])", TEXTS[name]):
        if dotted.partition(".")[0] in ARGUMENTS or dotted.endswith((".py", ".toml", ".conllu", ".rels", ".json")):
            continue
        for package in ("discoprobe.builders", "discoprobe"):
            with contextlib.suppress(ImportError, AttributeError):
                pkgutil.resolve_name(f"{package}.{dotted}")
                break
        else:
            pytest.fail(f"{name}: {dotted} does not exist")


SECTIONS = {"": GeneralFacts, **sections()}


def test_the_language_of_the_guide_is_valid():
    (toml,) = blocks(TEXTS["docs/adding_a_language.md"], "toml")
    language = parse_language(toml, "da")
    assert [entry.lemma for entry in language.section(Connectives).entries] == ["men", "derfor"]


def test_every_key_of_a_language_file_is_documented_with_a_valid_example():
    """The page is compared with the classes that read the files; the script that writes its table is not asked."""
    page = TEXTS["docs/adding_a_language.md"]
    rows = re.findall(
        r"^\| `(?:\[(\w+)\] )?([\w.]+)` \| (.+) \| (?:`(.+)`|<code>(.+)</code>) \([\w ]+\) \|$", page, re.MULTILINE
    )
    keys = defaultdict(set)
    for section, name, about, code, escaped in rows:
        example = (code or html.unescape(escaped)).replace("\\|", "|")
        keys[section].add(name)
        kind = SECTIONS[section]
        for part in name.split("."):
            while typing.get_origin(kind):  # a list, or a table whose keys are free
                kind = typing.get_args(kind)[-1 if typing.get_origin(kind) is dict else 0]
            fields = {field.name: field.type for field in msgspec.structs.fields(kind)}
            kind = fields[part]
        value = tomllib.loads(example)[name.rpartition(".")[2]]
        assert list(mistakes(value, kind)) == [], example
        closed = [*allowed_values(typing.get_args(kind)[0] if typing.get_origin(kind) in {tuple, frozenset} else kind)]
        assert all(f"`{each}`" in about for each in closed), name
    for section, kind in SECTIONS.items():
        assert {name for name in keys[section] if "." not in name} == set(kind.__struct_fields__) - {"source"}
    assert keys["connectives"] >= {f"entries.{name}" for name in Connective.__struct_fields__}
    assert keys["predicate"] >= {f"compound.{name}" for name in CompoundTense.__struct_fields__}


def test_tables_of_docs_are_up_to_date():
    """`python scripts/docs_tables.py` writes them."""
    stale = [path.name for path, text in SCRIPT["pages"]().items() if path.read_text(encoding="utf-8") != text]
    assert stale == []


def test_pages_of_papers_name_our_tasks_and_commands():
    for page in tomllib.loads(SCRIPT["SETS"].read_text(encoding="utf-8"))["pages"]:
        assert {each["task"] for each in page["sets"] if "task" in each} <= set(all_tasks())
        assert all(0 < each["chance"] < 100 and 0 <= each["accuracy"] <= 100 for each in page["sets"])
        assert command_of(shlex.split(page["command"])[1:])
        written = (ROOT / "docs" / "papers" / f"{page['page']}.md").read_text(encoding="utf-8")
        assert "https://" in written.rpartition("```")[2], "the publication"
        assert f"papers/{page['page']}.md" in TEXTS["docs/choose.md"]


def test_every_count_of_raw_text_is_explained():
    page = TEXTS["docs/adding_a_corpus.md"].partition("## What annotate.json counts")[2].partition("\n## ")[0]
    rows = [re.findall(r"^\| (`.+?) \|", part, re.MULTILINE) for part in page.split("what it counts")[1:]]
    tables = [set(re.findall(r"`([a-z-]+)`", " ".join(first))) for first in rows]
    kinds = set(typing.get_args(Kind)) - RUNNING
    sentences = {"unfinished", "continued", LONG_SENTENCE, OTHER_LENGTH, UNANNOTATED, WITHOUT_SENTENCE, *TRACES, *kinds}
    assert tables == [REASONS, sentences, CORRECTIONS]
