"""Tasks, languages and corpora of a user: examples that are built, what makes their configs stale, and mistakes."""

import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from discoprobe import pipeline
from discoprobe.builders import all_tasks, tasks_named
from discoprobe.cards.metadata import manifest
from discoprobe.loaders import (
    VARIABLE,
    DiscoprobeError,
    UnsupportedError,
    UsageError,
    hashes_of,
    line_of,
    plugin_folders,
    use_plugins,
)
from discoprobe.loaders.catalogue import treebanks
from discoprobe.loaders.languages import language_data
from discoprobe.loaders.raw import RuleEngine
from discoprobe.own_files import mistakes_in, new_corpus, new_language, new_task
from discoprobe.plan import plan, planned_again
from discoprobe.request import Request

SAMPLE = {"languages": ("es",), "corpora": ("sample",), "audit": False}


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    """An empty folder for a plugin; no plugin is in use after the test."""
    monkeypatch.setenv(VARIABLE, "")
    yield tmp_path / "own"
    use_plugins()


def built(tmp_path, *tasks, **options):
    """The manifest of a build, and the rows of its configs."""
    out = tmp_path / "out"
    result = pipeline.run(plan(Request(**{**SAMPLE, "tasks": tasks, **options})), out)
    rows = {path.relative_to(out).as_posix(): path.read_bytes() for path in sorted(out.rglob("*.parquet"))}
    return result.manifest, rows


def reasons(tmp_path, *tasks, **options):
    """Why the configs of tasks are out of date, by name."""
    return pipeline.stale_configs(plan(Request(**{**SAMPLE, "tasks": tasks, **options})), tmp_path / "out")[1]


def test_the_example_of_a_task_is_checked_built_and_listed(command, plugin):
    written = command("new", "task", "my_task", "--plugins", plugin)
    assert written.stdout.splitlines()[0] == str(plugin / "probing" / "my_task.py")
    lines = [line.split()[1:] for line in written.stdout.splitlines() if line.startswith("build ")]
    assert [line[0] for line in lines] == ["check", "run"]
    for line in lines:
        done = command(*line)
        assert done.returncode == 0, done.stderr
    assert "128/32/64" in done.stdout
    assert "my_task" in command("tasks", "--plugins", plugin).stdout
    assert "my_task" not in command("tasks").stdout
    assert command("new", "task", "my_task", "--plugins", plugin).stderr.endswith(
        "exists; delete it, or choose another name\n"
    )
    assert command("new", "task", "dc", "--plugins", plugin).returncode == 2


def test_a_task_is_in_the_manifest_and_its_change_makes_it_stale(plugin, tmp_path):
    file = new_task("my_task", plugin)
    use_plugins(plugin)
    entry = built(tmp_path, "my_task", "bso")[0].configs["my_task_es"]
    assert entry.plugins == {"probing/my_task.py": manifest.listed_file(file)}
    assert entry.notes[-1].startswith("Made with files that are not part of discoprobe: probing/my_task.py (SHA-256 ")
    assert reasons(tmp_path, "my_task", "bso") == {}
    (plugin / "probing" / "_shared.py").write_text("NUMBER = 1\n", encoding="utf-8")
    assert reasons(tmp_path, "my_task", "bso") == {"my_task_es": ("probing/_shared.py of a plugin: new",)}
    (plugin / "probing" / "_shared.py").unlink()
    file.write_text(file.read_text("utf-8") + "\n", encoding="utf-8")
    assert reasons(tmp_path, "my_task", "bso") == {"my_task_es": ("probing/my_task.py of a plugin: changed",)}
    release = manifest.read(tmp_path / "out")
    with pytest.raises(UnsupportedError, match=r"^my_task_es was made with another probing/my_task.py"):
        next(planned_again(release, ["my_task_es"]))
    use_plugins()
    with pytest.raises(UnsupportedError, match=r"^my_task_es was made with probing/my_task.py of a plugin; give its"):
        next(planned_again(release, ["my_task_es"]))


def test_a_copy_of_a_language_gives_the_same_rows_and_a_change_other_ones(plugin, tmp_path):
    tasks = ("dconn", "pred_tense")
    expected = built(tmp_path, *tasks)[1]
    identity = RuleEngine("es").identity
    file = new_language("Spanish", plugin)
    use_plugins(plugin)
    assert mistakes_in(file) == []
    assert reasons(tmp_path, "pred_tense") == {"pred_tense_es": ("languages/es.toml of a plugin: new",)}
    assert built(tmp_path, *tasks)[1] == expected
    assert RuleEngine("es").identity != identity, "text is divided by the rules of the language"
    text = file.read_text("utf-8")
    file.write_text(
        text.replace("[connectives]", "[pronouns]\nthird = {}\n\n[connectives]").partition("[connectives]")[0],
        "utf-8",
    )
    use_plugins(plugin)
    assert language_data("es").sections.keys() == {"pronouns"}
    changed, rows = built(tmp_path, *tasks)
    assert "dconn_es" in changed.unavailable
    assert rows != expected


def test_a_language_that_the_package_lacks(plugin):
    file = new_language("da", plugin)
    use_plugins(plugin)
    assert (mistakes_in(file), language_data("da").name) == ([], "Danish")


def test_a_corpus_is_read_by_its_name_and_its_hash_is_checked(command, plugin, tmp_path):
    assert command("new", "corpus", "mine", "--lang", "es", "--plugins", plugin).returncode == 0
    use_plugins(plugin)
    entry, rows = built(tmp_path, "bso", corpora=("mine",), languages=())
    assert rows
    assert entry.sources["mine"].licence == "CC0-1.0"
    assert entry.configs["bso_es"].plugins.keys() == {"catalogue/es.toml"}
    assert "mine" in command("corpora", "list", "es", "--plugins", plugin).stdout
    data = next((plugin / "corpora").rglob("*.conllu"))
    catalogue = plugin / "catalogue" / "es.toml"
    text = catalogue.read_text("utf-8")
    head, _, table = text.partition("# A corpus")
    table = table.partition("\n")[2].replace(' = "', '="').replace('licence="', 'licence = "')
    catalogue.write_text(f"{table}\n{head}", encoding="utf-8")  # the same, as others may write it
    use_plugins(plugin)
    assert built(tmp_path, "bso", corpora=("mine",), languages=())[1] == rows
    copy = tmp_path / "renamed.conllu"
    shutil.copy(data, copy)
    assert treebanks.facts_of(copy, hashes_of(copy)).name == "mine"
    catalogue.write_text(text, encoding="utf-8")
    use_plugins(plugin)
    data.write_text(data.read_text("utf-8").replace("cocinero", "camarero"), encoding="utf-8")
    (mistake,) = mistakes_in(plugin / "catalogue" / "es.toml")
    assert "es.toml:17: treebank[0].files[0]: " in mistake
    assert "expected git blob SHA-1" in mistake
    done = command(
        "run", "--plugins", plugin, "--corpus", "mine", "--task", "bso", DISCOPROBE_CACHE=str(tmp_path / "new")
    )
    assert done.returncode == 4
    assert [line.partition(":")[0] for line in done.stderr.splitlines()] == ["to download", "error"]
    with pytest.raises(UsageError, match="exists"):
        new_corpus("mine", "es", plugin)


LANGUAGE = """name = "Danish"
code = "dk"
spases = true
cased = "yes"

[connectives]
entries = [
  { lemma = "og", sense = "addition" }, { lemma = "og", sense = "addition" },
  { lemma = "derfor", sense = "results" },
  { lemma = "men", sens = "contrast", upos = ["ADVB"] },
]

[predicat]
tense = []

[predicate]
tense = ["obj"]
labels = { Case = ["Nom"] }

[gapping]
available = false
"""
LANGUAGE_MISTAKES = [
    "2: code: expected 'da', as the file is called",
    "3: spases: unknown key; did you mean spaces? (allowed: code, name, script, spaces, cased, capitals)",
    "4: cased: Expected `bool`, got `str` (allowed: true, false)",
    "6: connectives: the lemma 'og' is listed twice",
    "9: connectives.entries[2].sense: Invalid enum value 'results' (allowed: addition, contrast, alternative,",
    "10: connectives.entries[3].sens: unknown key; did you mean sense? (allowed: lemma, forms, upos, sense, scope,",
    "10: connectives.entries[3].upos[0]: Invalid enum value 'ADVB' (allowed: ADJ, ADP, ADV,",
    "13: predicat: unknown section (allowed: arguments, boundaries, conj_type, connectives,",
    "17: predicate.tense[0]: Invalid enum value 'obj' (allowed: root, aux, cop, aux:pass)",
    "18: predicate.labels.Case: the key: Expected `str` matching regex '^(Tense|Voice|Aspect)$'",
    "20: gapping: `reason` is missing: say why the task is unavailable",
]
CATALOGUE = """[language]
code = "de"
name = "German"

[[treebank]]
name = "UD_German-GSD"
prefix = "de_mine"
repo = ""
commit = ""
licence = "CC-BY 9"
genre = "news"
documents = { kind = "id" }
citation = "x"
files = [
  { path = "corpora/none.conllu", git_blob_sha1 = "12" },
]

[[treebank]]
name = "other"
prefix = "de_mine"
repo = "org/other"
commit = "0123"
licence = "CC BY-NC 4.0"
genre = ["news"]
documents = { kind = "sent_id" }
citation = "x"
files = []
"""
CATALOGUE_MISTAKES = [
    "6: treebank[0].name: there is a corpus 'ud_german-gsd'; choose another name",
    "10: treebank[0].licence: unknown licence 'CC-BY 9'; did you mean CC-BY-4.0",
    "11: treebank[0].genre: Expected `array`, got `str`",
    "12: treebank[0].documents.kind: Invalid enum value 'id' (allowed: auto, newdoc, none, file, sent_id)",
    "15: treebank[0].files[0]: there is no file ",
    "20: treebank[1].prefix: there is a corpus 'de_mine'; choose another name",
    "23: treebank[1].licence: 'CC BY-NC 4.0' is not open; make the table a [[left_out]] with a `reason`",
    "25: treebank[1].documents: a rule of kind 'sent_id' needs a pattern",
]


@pytest.mark.parametrize(
    ("place", "text", "expected"),
    [
        ("languages/da.toml", LANGUAGE, LANGUAGE_MISTAKES),
        ("catalogue/de.toml", CATALOGUE, CATALOGUE_MISTAKES),
        ("languages/da.toml", "name = 1\nname = 2\n", ["2: not valid TOML: "]),
        ("probing/a.py", '"""A."""\nTASK = None\n', ["2: TASK is no ProbingTask, DiscourseTask or RelationTask"]),
    ],
)
def test_check_lists_all_mistakes_with_their_lines(command, plugin, place, text, expected):
    file = plugin / place
    file.parent.mkdir(parents=True)
    file.write_text(text, encoding="utf-8")
    done = command("check", file)
    lines = done.stdout.splitlines()
    assert len(lines) == len(expected), done.stdout
    for line, beginning in zip(lines, expected, strict=True):
        assert line.startswith(f"{file}:{beginning}")
    assert done.returncode == 1
    number = "1 mistake" if len(expected) == 1 else f"{len(expected)} mistakes"
    assert done.stderr == f"error: {number} in {file}\n"


def test_a_build_names_the_first_mistake_of_a_section_and_how_to_list_all(command, plugin):
    file = plugin / "languages" / "es.toml"
    file.parent.mkdir(parents=True)
    file.write_text(
        LANGUAGE.replace('"dk"', '"es"').replace("spases = true\n", "").replace('cased = "yes"\n', ""), "utf-8"
    )
    done = command("run", "--plugins", plugin, "--lang", "es", "--corpus", "sample", "--task", "dconn")
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: {file}:7: connectives.entries[2].sense: Invalid enum value 'results'")
    assert done.stderr.endswith(f"(and 3 more; `build check {file}` lists them)\n")


DOCSTRING, IMPORTS = '"""A task."""\n', "from discoprobe.builders.sentences.candidates import balanced\n"
TASK = """
from discoprobe.builders.task import ProbingTask

TASK = ProbingTask(labels=("a", "b"), select=select, sample=balanced)
"""
BROKEN = {
    f"{DOCSTRING}TASK = (\n": r":2: SyntaxError: '\(' was never closed",
    f"{DOCSTRING}import no_such_module\n": r":2: ModuleNotFoundError: No module named 'no_such_module'",
    f"{DOCSTRING}x = 1\n": r":1: TASK is no ProbingTask, DiscourseTask or RelationTask",
    f"{IMPORTS}def select(*_): ...\n{TASK}": r":1: the docstring is missing",
    f"{DOCSTRING}{IMPORTS}def select(trees, _):\n    return trees.word\n{TASK}": r":4: AttributeError: 'Trees' object",
    f"{DOCSTRING}{IMPORTS}def select(*_): ...\n{TASK}": r":7: TypeError: select returned NoneType, not DataFrame",
    f"{DOCSTRING}{IMPORTS}def select(trees, _): return trees.words.select('sent')\n{TASK}": (
        r":7: own: select returned no column label"
    ),
}


@pytest.mark.parametrize("text", BROKEN)
def test_an_error_in_a_task_is_one_line_with_file_and_line(command, plugin, text):
    file = plugin / "probing" / "own.py"
    file.parent.mkdir(parents=True)
    file.write_text(text, encoding="utf-8")
    done = command("run", "--plugins", plugin, "--lang", "es", "--corpus", "sample", "--task", "own")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    use_plugins(plugin)
    with pytest.raises(DiscoprobeError, match=f"^{file}{BROKEN[text]}"):
        pipeline.run(plan(Request(**SAMPLE, tasks=("own",))), plugin / "out")
    assert not (plugin / "out").exists()


@pytest.mark.parametrize("name", ["probing/dc.py", "discourse/tree_depth.py", "suites/Own.py"])
def test_a_task_needs_a_name_of_its_own(plugin, name):
    file = plugin / name
    file.parent.mkdir(parents=True)
    file.write_text('"""A."""\n', encoding="utf-8")
    use_plugins(plugin)
    with pytest.raises(DiscoprobeError, match=f"^{file}:1: .*; rename the file$"):
        all_tasks()


def test_a_folder_without_a_plugin_is_refused(command, tmp_path):
    for name, problem in (("none", "is no folder"), ("", "has none of the folders probing,")):
        done = command("tasks", "--plugins", tmp_path / name)
        assert (done.returncode, problem in done.stderr, done.stderr.count("\n")) == (2, True, 1)


def test_a_worker_process_imports_the_task(plugin):
    new_task("my_task", plugin)
    use_plugins(plugin)
    pickled = pickle.dumps(tasks_named(["my_task"])[0])
    code = "import pickle, sys; print(pickle.loads(sys.stdin.buffer.read()).select.args[1].__module__)"
    done = subprocess.run([sys.executable, "-c", code], input=pickled, capture_output=True, check=True)
    assert done.stdout.split() == [b"discoprobe.builders.probing.my_task"]


def test_an_installed_package_offers_its_tasks_by_an_entry_point(plugin, tmp_path, monkeypatch):
    new_task("my_task", tmp_path / "site" / "own_tasks")
    (tmp_path / "site" / "own_tasks" / "__init__.py").touch()
    info = tmp_path / "site" / "own_tasks-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: own-tasks\nVersion: 1\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[discoprobe]\nmine = own_tasks\n", encoding="utf-8")
    assert "my_task" not in all_tasks()
    monkeypatch.syspath_prepend(tmp_path / "site")
    use_plugins()
    assert plugin_folders() == (tmp_path / "site" / "own_tasks",)
    assert Path(all_tasks()["my_task"].plugin).is_relative_to(tmp_path / "site")
    (info / "entry_points.txt").write_text("[discoprobe]\nmine = no_such_package\n", encoding="utf-8")
    use_plugins()
    with pytest.raises(UsageError, match="entry point mine = no_such_package: there is no package no_such_package"):
        plugin_folders()
    (info / "entry_points.txt").unlink()


@pytest.fixture
def two(plugin, tmp_path):
    """Two folders for plugins."""
    return plugin, tmp_path / "other"


def write(file, text):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("path", "ask", "problem"),
    [
        ("languages/da.toml", lambda: language_data("da"), "are files of one language; use one of them"),
        (
            "probing/_shared.py",
            all_tasks,
            "have one name, so that tasks of both plugins would import the first; rename",
        ),
    ],
)
def test_of_two_plugins_with_one_file_none_wins(two, path, ask, problem):
    one, other = (write(folder / path, 'name = "Danish"\ncode = "da"\n') for folder in two)
    use_plugins(*two)
    with pytest.raises(UsageError, match=f"^plugins: {one} and {other} {problem}"):
        ask()
    use_plugins(two[1])
    ask()


def test_two_plugins_with_one_language_are_an_error_of_one_line(command, two):
    files = [new_language("es", folder) for folder in two]
    done = command("run", *(f"--plugins={folder}" for folder in two), "--corpus", "sample", "--lang", "es")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert all(str(file) in done.stderr for file in files)


def test_of_two_plugins_with_one_task_none_wins(two):
    one, other = (new_task("my_task", two[0]), write(two[1] / "discourse" / "my_task.py", '"""A."""\n'))
    use_plugins(*two)
    with pytest.raises(DiscoprobeError, match=f"^{other}:1: there is a task my_task in {one}; rename the file$"):
        all_tasks()


def test_of_two_plugins_with_one_corpus_none_wins(two):
    one, other = (new_corpus("mine", "es", folder) for folder in two)
    use_plugins(*two)
    with pytest.raises(DiscoprobeError, match=f"^{other}: there is a corpus es_mine in {one}; choose another name"):
        treebanks.default_corpora("es")


def test_a_language_has_one_name_in_all_catalogues(two):
    """That of the package, or else of the first plugin."""
    file = new_corpus("mine", "es", two[0])
    file.write_text(file.read_text("utf-8").replace('"Spanish"', '"Castilian"'), encoding="utf-8")
    problem = f"{file}:3: language.name: expected 'Spanish', as in catalogue/es.toml"
    assert mistakes_in(file) == [problem]
    use_plugins(two[0])
    with pytest.raises(DiscoprobeError, match=f"^{problem}$"):
        treebanks.language_name("es")
    one, other = (
        write(folder / "catalogue" / "qaa.toml", f'[language]\ncode = "qaa"\nname = "{name}"\n')
        for folder, name in zip(two, ("Elvish", "Sindarin"), strict=True)
    )
    file.unlink()
    use_plugins(*two)
    with pytest.raises(DiscoprobeError, match=f"^{other}:3: language.name: expected 'Elvish', as in {one}$"):
        treebanks.language_name("qaa")


def test_catalogues_of_two_plugins_for_one_language_are_put_together(two, tmp_path):
    """A change of either makes configs out of date, and the release can be built again with both."""
    files = [new_corpus(name, "es", folder) for folder, name in zip(two, ("mine", "yours"), strict=True)]
    (data,) = (two[1] / "corpora").rglob("*.conllu")
    before = hashes_of(data).git_blob_sha1
    data.write_text(data.read_text("utf-8").replace("cocinero", "camarero"), encoding="utf-8")
    files[1].write_text(files[1].read_text("utf-8").replace(before, hashes_of(data).git_blob_sha1), encoding="utf-8")
    use_plugins(*two)
    options = {"corpora": ("mine", "yours"), "languages": ()}
    entry = built(tmp_path, "sent_len", **options)[0].configs["sent_len_es"]
    assert set(entry.sources) == {"mine", "yours"}
    assert entry.plugins.keys() == {"catalogue/es.toml", "catalogue/es.toml (2)"}
    use_plugins(*two[::-1])
    assert reasons(tmp_path, "sent_len", **options) == {}
    release = manifest.read(tmp_path / "out")
    assert list(planned_again(release, ["sent_len_es"]))
    for file in files:
        text = file.read_text("utf-8")
        file.write_text(f"{text}\n", encoding="utf-8")
        use_plugins(*two)
        assert reasons(tmp_path, "sent_len", **options).keys() == {"sent_len_es"}
        with pytest.raises(UnsupportedError, match=r"^sent_len_es was made with another catalogue/es.toml"):
            next(planned_again(release, ["sent_len_es"]))
        file.write_text(text, encoding="utf-8")


def test_a_config_depends_on_the_catalogues_of_its_corpora_only(plugin, tmp_path):
    new_corpus("mine", "es", plugin)
    use_plugins(plugin)
    assert not built(tmp_path, "bso")[0].configs["bso_es"].plugins


def test_a_folder_that_is_named_twice_is_one_plugin(plugin):
    new_task("my_task", plugin)
    use_plugins(plugin, plugin)
    assert "my_task" in all_tasks()


def test_a_task_imports_the_files_of_its_own_plugin(two):
    """Also if another plugin with such a file was in use before."""
    for folder in two:
        write(folder / "probing" / "_shared.py", f"SUMMARY = '{folder.name}'\n")
        file = new_task("my_task", folder)
        imported = "import polars as pl\n\nfrom discoprobe.builders.probing._shared import SUMMARY\n"
        text = file.read_text("utf-8").replace("import polars as pl\n", imported)
        file.write_text(f"{text}\n__doc__ = SUMMARY\n", encoding="utf-8")
    for folder in two:
        use_plugins(folder)
        assert all_tasks()["my_task"].definition == folder.name


def test_an_error_in_a_file_that_a_task_imports_names_its_line(plugin):
    file = write(plugin / "probing" / "_shared.py", "def words(trees):\n    return trees.word\n")
    write(plugin / "probing" / "own.py", f"{DOCSTRING}{IMPORTS}from discoprobe.builders.probing._shared import words\n"
          f"def select(trees, _):\n    return words(trees)\n{TASK}")  # fmt: skip
    use_plugins(plugin)
    with pytest.raises(DiscoprobeError, match=f"^{file}:2: AttributeError: 'Trees' object"):
        pipeline.run(plan(Request(**SAMPLE, tasks=("own",))), plugin / "out")


def test_the_variable_names_several_folders(plugin, tmp_path, monkeypatch):
    new_task("my_task", plugin)
    new_task("my_other", tmp_path / "other")
    monkeypatch.setenv(VARIABLE, os.pathsep.join([str(plugin), str(tmp_path / "other")]))
    assert {"my_task", "my_other"} <= all_tasks().keys()


TOML = """a = 1
[b]
c = [
  { d = 1 },
  { d = [1,
         2] },
]
e = \"\"\"
text\"\"\"
[[f]]
g = { h.i = 1 }
[[f]]
"""
LINES = {
    ("a",): 1, ("b",): 2, ("b", "c"): 3, ("b", "c", 0): 4, ("b", "c", 1, "d"): 5, ("b", "c", 1, "d", 1): 6,
    ("b", "e"): 8, ("f", 0): 10, ("f", 0, "g", "h", "i"): 11, ("f", 1): 12, ("b", "none"): 2, ("none",): 1, (): 1,
}  # fmt: skip


@pytest.mark.parametrize("keys", LINES)
def test_the_line_of_a_value(keys):
    assert line_of(TOML, keys) == LINES[keys]
