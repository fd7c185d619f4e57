"""Small releases that tests push: two configs in two languages, made by the same code as real ones."""

from __future__ import annotations

import pyarrow as pa
from card_rules import card_problems

from discoprobe.builders import Config, Shape, Unavailable, schema
from discoprobe.builders.audit import Finding, Kind, Report, Severity, Status, exact
from discoprobe.cards.metadata import yaml_header
from discoprobe.cards.release import open_release
from discoprobe.loaders import Corpus, Counts, File, Source

SPLITS = {"train": 12, "validation": 4, "test": 8}
LABELS = ("in_order", "swapped")
READERS = {
    "datasets 3.6": ["datasets==3.6.0"],
    "datasets 4.0": ["datasets==4.0.0"],
    "datasets 4.8": ["datasets==4.8.5"],
    "datasets 5.2": ["datasets==5.2.0"],
    "frames": ["polars", "pandas", "pyarrow", "duckdb", "dask[dataframe]"],
}
"""Packages of the environments in which a release is read (``python_with``)."""


def source(lang, **changes):
    file = File("a.conllu", "0" * 64, 10)
    known = {"licence": "CC BY-SA 4.0", "repo": "org/treebank", "commit": "c" * 40, "citation": "Someone (2020)."}
    return Source(f"UD_{lang}", lang, **known | {"files": (file,)} | changes)


def rows(lang, split, n, *, change=None):
    """Rows by id; ``change`` gets the list of rows and returns another."""
    made = [
        {
            "id": f"{lang}-{split}-{i}", "label": i % 2, "corpus": f"UD_{lang}", "doc_id": f"d{i // 2}",
            "sent_ids": [f"s{i}"], "pair_id": f"p{i // 2}", "group": f"d{i // 2}",
            "sentence1": f"Satz {i} in {lang}.", "sentence2": f"Noch {split} {i}.",
        }
        for i in range(n)
    ]  # fmt: skip
    return change(made) if change else made


def config(task="bso", lang="de", *, change=None, splits=("test",), labels=LABELS, sources=None, **more):
    """A config; ``change`` is made in these splits."""
    tables = {
        split: pa.Table.from_pylist(
            rows(lang, split, n, change=change if split in splits else None), schema(Shape.PAIR)
        )
        for split, n in SPLITS.items()
    }
    definition = "Whether two sentences stand in their order.\nMore of it."
    return Config(f"{task}_{lang}", task, lang, Shape.PAIR, labels, tables, {"too long": 3}, candidates=30,
                  sources=sources or (source(lang),), definition=definition, **more)  # fmt: skip


def report(made, *, failed=()):
    """A report with checks above their threshold, or with one below it."""
    above = tuple(Finding(check, Kind.SHORTCUT, Severity.ERROR, Status.ABOVE, 0.9, 0.5, 0.5) for check in failed)
    below = Finding("overlap", Kind.SHORTCUT, Severity.ERROR, Status.BELOW, 0.5, 0.55, 0.5, exact(500, 1000), 1000,
                    independent=1000.0, resolution=0.04)  # fmt: skip
    found = above or (below,)
    counts = {split: table.num_rows for split, table in made.splits.items()}
    return Report(made.name, counts, made.labels, "train", "test", (), found, None, ())


def write(folder, *results, audit=True, failed=()):
    """A release folder of configs and of what could not be built."""
    with open_release(folder) as release:
        for one in results:
            if isinstance(one, Unavailable):
                release.add(one)
                continue
            release.add_corpus(Corpus(one.lang, one.sources, (), Counts()))
            release.add(one, report(one, failed=failed) if audit else None)
        release.finish()
    return folder


def problems(folder):
    """What the Hub, or `datasets`, would refuse in the card of a release folder."""
    files = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
    standalone = folder / yaml_header.STANDALONE
    text = standalone.read_text(encoding="utf-8") if standalone.is_file() else ""
    return card_problems((folder / "README.md").read_text(encoding="utf-8"), files, text)
