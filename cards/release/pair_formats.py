"""Minimal pairs and choices in the formats that language models are scored with.

* ``blimp``: ``<config>.jsonl``, lines with ``sentence_good`` and ``sentence_bad`` (Warstadt et al. 2020);
* ``lm-eval``: ``<config>.jsonl`` and ``<config>.yaml``, a task of lm-evaluation-harness (``output_type:
  multiple_choice``); run it inside the folder with ``--include_path .``;
* ``syntaxgym``: ``<config>.json``, a test suite of SyntaxGym (Gauthier et al. 2020) with the conditions ``original``
  and ``edited``. Where every ``group`` has one row of each condition (``continue``, ``switch``), these are one item,
  with the conditions ``continue_original``, …, ``switch_edited``, and the formula compares the sums: their interaction.
  A sentence has the regions before, edit and after, a passage one region per sentence, or its context and its last
  sentence. The metric is the mean surprisal of a region.

They hold the test split: nothing is trained. Label 0 of a pair is the original, in a suite the good text. SyntaxGym
puts a space between regions, so a region ends at white space.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import polars as pl
import yaml

from discoprobe.builders.columns import crossed
from discoprobe.builders.config import Shape, regions
from discoprobe.cards.metadata.manifest import ConfigEntry
from discoprobe.cards.readers.marks import TEXT_COLUMNS

Files = Iterator[tuple[str, Iterator[str]]]
"""Path and lines of each file of a config."""
ReadSplit = Callable[[str], pl.DataFrame]
"""Name of a split → its rows."""

CONTEXT_AND_SENTENCE: Final = ("context", "sentence")
"""The regions of passages with two of them."""

HARNESS_METRICS: Final = ("acc", "acc_norm")
"""Metrics of lm-evaluation-harness: the option with the highest probability, and that per character."""


def is_paired(rows: pl.DataFrame) -> bool:
    """Whether every row is the original (label 0) or the edited version (label 1) of a pair."""
    if "regions_good" in rows.columns:
        return True
    if rows["pair_id"].null_count() or set(rows["label"].unique()) != {0, 1}:
        return False
    return bool((rows.group_by("pair_id").agg(pl.col("label").sort())["label"] == [0, 1]).all())


def blimp(read: ReadSplit, name: str, entry: ConfigEntry) -> Files:
    """BLiMP's lines, with the keys of its own files and the id of the pair."""
    rows = read("test")
    pairs = _paired(rows)
    is_suite = entry["shape"] == Shape.SUITE
    texts = zip(_joined(pairs, ""), _joined(pairs, "_edited"), pairs["pair_id"], pairs["label"], strict=True)
    lines = (
        {
            "sentence_good": good,
            "sentence_bad": bad,
            "field": "sentence" if _of_sentences(rows, entry) else "discourse",
            "linguistics_term": entry["task"],
            "UID": name,
            "pair_id": pair_id,
            **({"condition": entry["labels"][label]} if is_suite else {}),
            "lexically_identical": sorted(good.split()) == sorted(bad.split()),
        }
        for good, bad, pair_id, label in texts
    )
    yield f"{name}.jsonl", map(as_json, lines)


def lm_eval(read: ReadSplit, name: str, entry: ConfigEntry) -> Files:
    """The rows, and the YAML of a task whose options are the texts of a pair or the choices of a row."""
    is_choice = entry["shape"] == Shape.CHOICE
    if is_choice:
        shown = read("test").select("id", "label", "choices", context=pl.col("context").list.join(" "))
        yield f"{name}.jsonl", map(as_json, shown.iter_rows(named=True))
    else:
        yield from blimp(read, name, entry)
    task = {
        "task": f"discoprobe_{name}",
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": f"{name}.jsonl"}},
        "test_split": "test",
        "output_type": "multiple_choice",
        "num_fewshot": 0,
        "doc_to_text": "{{context}}" if is_choice else "",
        "doc_to_target": "{{label}}" if is_choice else 0,
        "doc_to_choice": "choices" if is_choice else "{{[sentence_good, sentence_bad]}}",
        "metric_list": [
            {"metric": metric, "aggregation": "mean", "higher_is_better": True} for metric in HARNESS_METRICS
        ],
        "metadata": {"version": 1.0},
    }
    yield f"{name}.yaml", iter(yaml.safe_dump(task, sort_keys=False, allow_unicode=True).splitlines())


def syntaxgym(read: ReadSplit, name: str, entry: ConfigEntry) -> Files:
    """One test suite; an item per pair, or per group of pairs with one of each condition."""
    rows = read("test")
    pairs, prefixes = _paired(rows), [""]
    versions = [*zip(_regions(pairs, ""), _regions(pairs, "_edited"), strict=True)]
    items = [[pair] for pair in versions]
    if entry["shape"] == Shape.SUITE and crossed(rows.select("group", condition="label")):
        prefixes = [f"{entry['labels'][label]}_" for label in rows["label"].unique().sort()]
        numbered = pairs.with_row_index("_at").sort("label").group_by("group").agg("_at", _first=pl.col("_at").min())
        items = [[versions[at] for at in item] for item in numbered.sort("_first")["_at"]]
    is_sentence = _of_sentences(rows, entry)
    region = pairs["region"][0] if entry["shape"] == Shape.SUITE else 2 if is_sentence else 0
    suite = {
        "meta": {"name": name, "metric": "mean", "comments": entry["summary"]},
        "region_meta": {str(n): region for n, region in enumerate(_region_names(versions[0][0], is_sentence), 1)},
        "predictions": [
            {"type": "formula", "formula": _formula(part, prefixes)} for part in ([region] if region else []) + ["*"]
        ],
        "items": [
            {"item_number": number, "conditions": _conditions(item, prefixes)} for number, item in enumerate(items, 1)
        ],
    }
    yield f"{name}.json", iter([json.dumps(suite, ensure_ascii=False, indent=1)])


def _region_names(parts: Sequence[str], is_sentence: bool) -> Sequence[str]:  # noqa: FBT001 (a fact)
    if len(parts) == len(CONTEXT_AND_SENTENCE):
        return CONTEXT_AND_SENTENCE
    return ("before", "edit", "after") if is_sentence else [f"sentence {at}" for at in range(1, len(parts) + 1)]


def _formula(region: int | str, prefixes: Sequence[str]) -> str:
    """The edited texts have more surprisal in a region than the originals, added up over the conditions."""
    return " > ".join(
        " + ".join(f"({region};%{prefix}{version}%)" for prefix in prefixes) for version in ("edited", "original")
    )


def _conditions(item: Sequence[tuple[list[str], list[str]]], prefixes: Sequence[str]) -> list[dict[str, Any]]:
    """The original and the edited text of each pair of an item, in regions."""
    return [
        {
            "condition_name": f"{prefix}{version}",
            "regions": [{"region_number": number, "content": content} for number, content in enumerate(parts, 1)],
        }
        for prefix, pair in zip(prefixes, item, strict=True)
        for version, parts in zip(("original", "edited"), pair, strict=True)
    ]


def _of_sentences(rows: pl.DataFrame, entry: ConfigEntry) -> bool:
    """Whether a row is an edited sentence, not a passage."""
    suite = entry["shape"] == Shape.SUITE
    return rows["target"].null_count() == 0 if suite else entry["shape"] == Shape.SENTENCE


def _paired(rows: pl.DataFrame) -> pl.DataFrame:
    """One row per pair, columns of the edited version with the suffix ``_edited``."""
    if "regions_good" in rows.columns:
        return rows.rename({"sentence_good": "text", "sentence_bad": "text_edited", "regions_good": "regions",
                            "regions_bad": "regions_edited"})  # fmt: skip
    originals, edited = rows.filter(pl.col("label") == 0), rows.filter(pl.col("label") == 1)
    return originals.join(edited, on="pair_id", suffix="_edited", maintain_order="left")


def _texts(pairs: pl.DataFrame, suffix: str) -> list[list[str]]:
    """The texts of each row of one version, in order."""
    names = [name for name in TEXT_COLUMNS if name in pairs.columns]
    return pairs.select(texts=pl.concat_list([f"{name}{suffix}" for name in names]))["texts"].to_list()


def _joined(pairs: pl.DataFrame, suffix: str) -> list[str]:
    return [" ".join(texts) for texts in _texts(pairs, suffix)]


def _regions(pairs: pl.DataFrame, suffix: str) -> Iterator[list[str]]:
    """The regions of each row of one version; joined by spaces they are its text."""
    if "regions" in pairs.columns:
        yield from pairs[f"regions{suffix}"].to_list()
        return
    if "text" not in pairs.columns:
        yield from _texts(pairs, suffix)
        return
    for text, edit in pairs.select(f"text{suffix}", f"edit{suffix}").iter_rows():
        yield regions(text, edit["start"], edit["end"])


def as_json(row: dict[str, Any]) -> str:
    """A row as a line of JSON."""
    return json.dumps(row, ensure_ascii=False)
