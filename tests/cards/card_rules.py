"""What the Hub, its viewer or `datasets` would refuse or misread in a card; the Hub says so when it is committed."""

import re
from collections import Counter

import yaml

from discoprobe.builders.settings import SPLITS
from discoprobe.cards.metadata import yaml_header
from discoprobe.cards.metadata.manifest import SAFE_NAME
from discoprobe.cards.release.checks import number_problem, size_problem

NEEDED = (
    "pretty_name", "language", "license", "multilinguality", "size_categories", "source_datasets",
    "annotations_creators", "task_categories", "tags", "configs",
)  # fmt: skip
FORMS = {
    "language": yaml_header.is_language,
    "source_datasets": re.compile(r"original|extended|extended\|[\w./-]+").fullmatch,
    "tags": bool,
}
"""What the values of keys must be like for which the Hub has no closed list."""
KEYS = {"config_name", "version", "default", "description", "data_dir", "data_files"}
"""Keys of a config; `datasets` passes any other one to the parquet reader, which does not know it."""
RESERVED = {"data", "default"}
"""Names of configs that have a special meaning in `datasets`."""


def card_problems(card, files, standalone=""):
    """What is wrong with README.md, whose configs are read from ``standalone`` where there is one.

    ``files`` are the paths of the repository's files.
    """
    data = yaml.safe_load(card.split("---\n")[1]) | (yaml.safe_load(standalone) if standalone else {})
    limits = [problem for problem in (size_problem(card), number_problem(len(data.get("configs") or ()))) if problem]
    return [*limits, *value_problems(data), *list_problems(data.get("configs") or (), set(files))]


def value_problems(data):
    yield from (f"`{key}` is missing or empty" for key in NEEDED if not data.get(key))
    closed_lists = yaml_header.closed_lists()
    for key in [*closed_lists, *FORMS]:
        is_known = FORMS[key] if key in FORMS else closed_lists[key].__contains__
        values = data.get(key) or []
        unknown = [value for value in (values if isinstance(values, list) else [values])
                   if not (isinstance(value, str) and is_known(value))]  # fmt: skip
        yield from (f"`{key}` has {value!r}, which the Hub does not know" for value in unknown)
    if data.get("license") == yaml_header.OTHER or yaml_header.OTHER in (data.get("license") or ()):
        yield from (f"`{key}` is needed" for key in ("license_name", "license_link") if not data.get(key))


def list_problems(configs, files):
    if not configs:
        return
    names = Counter(config["config_name"] for config in configs)
    yield from (f"config {name} is listed {times} times" for name, times in names.items() if times > 1)
    if (defaults := sum(bool(config.get("default")) for config in configs)) != 1:
        yield f"{defaults} configs are the default; one must be"
    stems = {re.sub(r"-00000-of-00001\.parquet$", "-*", path) for path in files}
    for config in configs:
        name = config["config_name"]
        if not SAFE_NAME.fullmatch(name) or name in RESERVED:
            yield f"{name} is no name of a config, or has a meaning of its own"
        yield from (f"config {name}: unknown key `{key}`" for key in config if key not in KEYS)
        splits = [entry["split"] for entry in config["data_files"]]
        if splits not in (list(SPLITS), list(SPLITS[-1:])):
            yield f"config {name}: its splits are {splits}"
        for entry in config["data_files"]:
            path = "/".join(filter(None, (config.get("data_dir"), entry["path"])))
            if path not in stems:
                yield f"config {name}: no file of the release is {path}"
