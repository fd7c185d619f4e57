"""The package as a newcomer sees it: names that mean one thing, rooms that offer what they name, no circles."""

import ast
from collections import defaultdict
from importlib import import_module
from pathlib import Path

import grimp
import pytest

import discoprobe
from discoprobe.builders import FAMILIES

ROOT = Path(discoprobe.__file__).parent


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


def rooms():
    """The packages whose ``__init__`` offers names of its modules."""
    return [
        file.parent for file in files() if file.stem == "__init__" and "lazy_loader.attach(" in file.read_text("utf-8")
    ]


@pytest.mark.parametrize("room", [room.relative_to(ROOT).as_posix() for room in rooms()])
def test_a_room_offers_what_its_table_names(room):
    module = import_module(".".join((discoprobe.__name__, *room.strip(".").split("/"))).rstrip("."))
    assert [name for name in module.__all__ if not hasattr(module, name)] == []


def test_every_module_of_a_family_declares_a_task():
    """A task is found by listing its folder, and what it asks is said where it is declared."""
    modules = {
        file for family in FAMILIES for file in (ROOT / "builders" / family).glob("*.py") if file.stem != "__init__"
    }
    trees = {file.stem: ast.parse(file.read_text(encoding="utf-8")) for file in modules}
    assert len(trees) > 40
    without = {name for name, tree in trees.items() if not ast.get_docstring(tree)}
    for name, tree in trees.items():
        targets = {target.id for node in tree.body if isinstance(node, ast.Assign) for target in node.targets}
        without |= set() if targets & {"TASK", "TASKS"} else {name}
    assert without == set()


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
