"""The tree of errors."""

import importlib
import pkgutil

import pytest

import discoprobe
from discoprobe.loaders import DiscoprobeError, UnknownNameError, errors


def drawn():
    """The class above each class, as the docstring of the module draws the tree."""
    above, path = {}, []
    for line in errors.__doc__.splitlines():
        name = next((word for word in line.split() if word.endswith("Error")), None)
        if line.startswith("    ") and name:
            depth = (line.index(name) - 4) // 4
            path = [*path[:depth], name]
            above[name] = path[-2] if depth else None
    return above


def classes():
    """The public classes of errors of the package, each with the class above it."""
    for module in pkgutil.walk_packages(discoprobe.__path__, "discoprobe."):
        if not module.name.endswith(("__main__", "mteb_tasks")):  # the latter needs an extra
            importlib.import_module(module.name)
    found, waiting = {"DiscoprobeError": None}, [DiscoprobeError]
    while waiting:
        parent = waiting.pop()
        for kind in parent.__subclasses__():
            if kind.__module__.startswith("discoprobe.") and not kind.__name__.startswith("_"):
                found[kind.__name__] = parent.__name__
                waiting.append(kind)
    return found


def test_the_tree_of_the_docstring_is_the_tree_of_the_classes():
    assert drawn() == classes()


@pytest.mark.parametrize(
    ("name", "hint"), [("spanich", "; did you mean spanish?"), ("xyz", ""), ("sweden", "; did you mean swedish?")]
)
def test_an_unknown_name_is_told_with_similar_ones(name, hint):
    error = UnknownNameError("language", name, ["spanish", "swedish", "thai"], remedy="(see `build languages`)")
    assert str(error) == f"unknown language '{name}'{hint} (see `build languages`)"


@pytest.mark.parametrize(
    ("known", "hint"),
    [(["ab", "cd", "ef"], "; give ab, cd or ef"), (["ab"], "; give ab"), ([], ""), ([f"a{n}" for n in range(99)], "")],
)
def test_few_names_are_listed_where_none_is_similar(known, hint):
    assert str(UnknownNameError("preset", "xyz", known)) == f"unknown preset 'xyz'{hint}"
