"""The package as it is published: metadata, links, other systems than Linux, terminals without Unicode."""

import ast
import ctypes
import io
import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from shared import ROOT

import discoprobe
from discoprobe import cli, pipeline
from discoprobe.cli import terminal
from discoprobe.loaders import files
from discoprobe.plan import plan
from discoprobe.request import Request

PACKAGE = Path(discoprobe.__file__).parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
README = (ROOT / "README.md").read_text(encoding="utf-8")
REPOSITORY = "https://git.example/owner/name"
LINK = re.compile(r"\]\(([^)]+)\)")


@pytest.fixture(scope="module")
def metadata():
    """The functions that make description and URLs; the build backend is installed for a build only."""
    source = (ROOT / ".ci" / "project_metadata.py").read_text(encoding="utf-8")
    backend = "from hatchling.metadata.plugin.interface import MetadataHookInterface"
    assert backend in source
    names = {}
    exec(source.replace(backend, "class MetadataHookInterface: ..."), names)
    return names


def python_files():
    """The files of the package; a clone has links to three of its folders."""
    folders = [PACKAGE, *((PACKAGE / name).resolve() for name in ("builders", "cards", "loaders"))]
    return sorted({path.resolve() for folder in folders for path in folder.rglob("*.py")})


def test_links_of_the_description_hold_outside_of_the_repository(metadata):
    links = LINK.findall(README)
    pages = [link for link in links if not link.startswith(("https:", "#"))]
    assert len(pages) > 10
    without = metadata["description"](README, "", "1.2.0")
    assert [link for link in LINK.findall(without) if link in pages] == []
    assert "that the audit found, and an advice" in " ".join(without.split())
    absolute = metadata["description"](README, REPOSITORY, "1.2.0")
    assert LINK.findall(absolute) == [f"{REPOSITORY}/blob/v1.2.0/{link}" if link in pages else link for link in links]


def test_urls_are_those_of_the_index_until_the_repository_is_known(metadata):
    assert metadata["urls"]("") == {"Homepage": "https://pypi.org/project/discoprobe/"}
    urls = metadata["urls"](REPOSITORY)
    assert urls["Repository"] == REPOSITORY
    for url in urls.values():
        page = re.sub(rf"^{REPOSITORY}/(?:blob|tree)/main/", "", url)
        assert page == url or (ROOT / page).exists()


def test_the_release_workflow_tests_what_the_classifiers_name_and_needs_no_secret():
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    workflow = yaml.safe_load(text)
    jobs = workflow["jobs"]
    versions = [name.rpartition(" ")[2] for name in PROJECT["classifiers"] if re.search(r"Python :: 3\.\d+$", name)]
    matrix = jobs["test"]["strategy"]["matrix"]
    assert matrix["python"] == versions == ["3.11", "3.12", "3.13", "3.14"]
    assert {entry["os"].partition("-")[0] for entry in matrix["include"]} == {"windows", "macos"}
    assert set(jobs["publish"]["needs"]) == {"test", "build"}
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert workflow["permissions"] == {"contents": "read"}
    assert "secrets." not in text
    assert jobs["build"]["steps"][4]["env"] == {
        "DISCOPROBE_REPOSITORY": "${{ github.server_url }}/${{ github.repository }}"
    }


def test_no_advice_installs_the_package_by_a_name_that_may_be_of_others():
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md"), *python_files()]
    assert [path.name for path in pages if "discoprobe[" in path.read_text(encoding="utf-8")] == []


def test_messages_name_packages_of_the_extras():
    listed = [name for of_extra in PROJECT["optional-dependencies"].values() for name in of_extra]
    text = "\n".join(path.read_text(encoding="utf-8") for path in python_files())
    advised = set(" ".join(re.findall(r"pip install ([a-z]+(?: transformers)?)", text)).split())
    assert advised == {"stanza", "torch", "transformers", "distributed"}
    assert advised <= {re.split(r"[^\w-]", name)[0] for name in listed}


# Windows


def test_every_text_is_written_with_the_same_line_ends_on_every_system():
    calls = []
    for path in python_files():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                mode = next((argument.value for argument in node.args if isinstance(argument, ast.Constant)), "")
                opens = node.func.attr == "open" and str(mode) in {"w", "x", "a"}
                if opens or node.func.attr == "write_text":
                    calls.append((path.name, {keyword.arg for keyword in node.keywords}))
    assert len(calls) >= 3
    assert [name for name, keywords in calls if not {"encoding", "newline"} <= keywords] == []


@pytest.mark.parametrize(
    "error", [TypeError("LoadLibrary() argument 1 must be str, not None"), OSError("no such library")]
)
def test_a_release_takes_the_place_of_another_where_no_library_exchanges_folders(tmp_path, monkeypatch, error):
    def load(*_, **__):
        raise error

    monkeypatch.setattr(ctypes, "CDLL", load)
    (tmp_path / "release").mkdir()
    (tmp_path / "release" / "old").touch()
    place = files.Place(tmp_path / "release")
    place.link_tree()
    (place.new / "new").touch()
    place.swap()
    assert sorted(path.name for path in (tmp_path / "release").iterdir()) == ["new", "old"]
    assert [path.name for path in tmp_path.iterdir()] == ["release"]


def test_the_call_that_loads_a_config_is_python_for_a_path_of_windows(capsys):
    terminal.show_load_call("dist\\new\\x", "dc_es", ("test",))
    (call,) = ast.parse(capsys.readouterr().out.strip()).body
    assert [argument.value for argument in call.value.args] == ["dist\\new\\x", "dc_es"]


def test_a_clone_without_symbolic_links_runs(tmp_path):
    """Where git makes no symbolic links, it writes files with the path that each leads to."""
    for folder in ("builders", "loaders", "cards", "scripts"):
        shutil.copytree(ROOT / folder, tmp_path / folder, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("builders", "loaders", "cards"):
        link = tmp_path / "scripts" / "discoprobe" / name
        target = link.readlink().as_posix()
        link.unlink()
        link.write_text(target, encoding="utf-8")
    code = "import discoprobe; print(len(discoprobe.all_tasks()), discoprobe.builders.__file__)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True,
        env={"PYTHONPATH": str(tmp_path / "scripts"), "PATH": ""},
    )  # fmt: skip
    assert done.stdout.split() == [str(len(discoprobe.all_tasks())), str(tmp_path / "builders" / "__init__.py")]


# Terminals


def test_a_terminal_of_ascii_gets_all_output(tmp_path, monkeypatch):
    pipeline.run(plan(Request("ru", "sample", "dc", audit=False)), tmp_path / "out")
    printed = {}
    for command in ("card dc_ru --out out", "tasks --json", "audit out/dc_ru --json"):
        screen = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
        monkeypatch.setattr(sys, "argv", ["build", *command.split()])
        monkeypatch.setattr(sys, "stdout", screen)
        monkeypatch.chdir(tmp_path)
        with pytest.raises(SystemExit) as end:
            cli.main()
        assert end.value.code == 0
        screen.flush()
        printed[command] = screen.buffer.getvalue().decode("ascii")
    assert "????" in printed["card dc_ru --out out"]
    assert json.loads(printed["audit out/dc_ru --json"])


def test_an_error_on_a_terminal_of_ascii_is_escaped(process):
    done = process("run", "--lang", "añb", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert r"unknown language 'a\xf1b'" in done.stderr
