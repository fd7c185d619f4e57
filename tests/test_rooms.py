"""The package as a newcomer sees it: names that mean one thing, rooms that are not crowded, imports without circles."""

import ast
from collections import defaultdict
from pathlib import Path

import grimp
import pytest

import discoprobe
from discoprobe.builders import FAMILIES

ROOT = Path(discoprobe.__file__).parent
LARGEST_ROOM = 12
TASK_FOLDERS = {"builders/probing", "builders/discourse"}
"""Rooms with one module per task, found by listing the folder: as many as there are tasks."""
LONGEST_TASK = 30
"""Lines of a task: its definition and its declaration; algorithms have modules of their own."""


def files():
    return sorted(_walk(ROOT))


def _walk(folder):
    for path in folder.iterdir():
        if path.is_dir() and path.name != "__pycache__":
            yield from _walk(path)
        elif path.suffix == ".py":
            yield path


def module_name(file):
    return file.parent.name if file.stem == "__init__" else file.stem


def test_no_two_modules_have_one_name():
    places = defaultdict(list)
    for file in files():
        places[module_name(file)].append(file.relative_to(ROOT).as_posix())
    assert len(places) > 100
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_no_two_public_classes_have_one_name():
    places = defaultdict(list)
    for file in files():
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(file.relative_to(ROOT).as_posix())
    assert len(places) > 50
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_no_room_has_too_many_modules():
    rooms = defaultdict(list)
    for file in files():
        if file.stem != "__init__":
            rooms[file.parent.relative_to(ROOT).as_posix()].append(file.stem)
    assert rooms.keys() >= TASK_FOLDERS
    crowded = {room: len(found) for room, found in rooms.items() if len(found) > LARGEST_ROOM}
    assert {room: n for room, n in crowded.items() if room not in TASK_FOLDERS} == {}


def test_a_task_is_a_definition_and_a_declaration():
    tasks = {
        file for family in FAMILIES for file in (ROOT / "builders" / family).glob("*.py") if file.stem != "__init__"
    }
    lengths = {file.stem: len(file.read_text(encoding="utf-8").splitlines()) for file in tasks}
    assert len(lengths) > 40
    assert {name: n for name, n in lengths.items() if n > LONGEST_TASK} == {}


@pytest.fixture(scope="module")
def graph():
    return grimp.build_graph("discoprobe", cache_dir=None, exclude_type_checking_imports=True)


def test_no_circle_of_imports(graph):
    circles = {}
    for module in graph.modules:
        imported = graph.find_upstream_modules(module)
        if circle := sorted(other for other in imported if module in graph.find_upstream_modules(other)):
            circles[module] = circle
    assert circles == {}
