"""Configs of a release folder as the files that other harnesses read.

* ``senteval``: ``<lang>/<task>.txt``, lines ``split<TAB>label<TAB>sentence`` with tr, va, te (Conneau & Kiela 2018);
* ``xprobe``: ``<lang>/<task>/{tr,va,te}.txt``, lines ``sentence<TAB>label`` (Ravishankar et al. 2019);
* ``discoeval``: ``<TASK>/<lang>/{train,valid,test}.txt``, lines ``label<TAB>sentence…`` (Chen et al. 2019); of a config
  that shows each pair of sentences in both orders only the true order stands there, without a label;
* ``jsonl``: ``<config>/{train,validation,test}.jsonl``, rows as in the release, the label's name as ``label_name``;
* ``blimp``: ``<config>.jsonl``, lines with ``sentence_good`` and ``sentence_bad`` (Warstadt et al. 2020);
* ``lm-eval``: ``<config>.jsonl`` and ``<config>.yaml``, a task of lm-evaluation-harness (``output_type:
  multiple_choice``; of marked mentions the question without marks, with its answers); run it inside the folder with
  ``--include_path .``; the groups ``discoprobe``, ``discoprobe_TASK`` and ``discoprobe_lang_LANG`` have the mean over
  their configs;
* ``lm-eval-chat``: the same for instruction-tuned models: the question that readers get, the texts and numbered answers
  as one prompt (``prompt_of``), of which the number is generated; of all configs with test; the tasks are
  ``discoprobe_chat_<config>``;
* ``lighteval``: ``<config>/test.jsonl``, lines with ``query``, ``choices`` and ``label``, and ``discoprobe_tasks.py``,
  which defines a task ``discoprobe_CONFIG`` for each of them; give it to ``--custom-tasks``;
* ``syntaxgym``: ``<config>.json``, a test suite of SyntaxGym (Gauthier et al. 2020) with the conditions ``original``
  and ``edited``. Where every ``group`` has one row of each condition (``continue``, ``switch``), these are one item,
  with the conditions ``continue_original``, …, ``switch_edited``, and the formula compares the sums: their interaction.
  A sentence has the regions before, edit and after, a passage one region per sentence, or its context and its last
  sentence. The metric is that of `build probe`: the mean surprisal of the tokens of a region in suites that compare a
  region of passages, else the sum.

The first three have tokens with spaces between them. A release has running text, which ``tokens`` divides by one rule
for all languages. The words of the treebank are not used: those of a multiword token such as *del* are *de* and *el*,
which nobody writes, and after an edit they would have to be found again.

The last five hold the test split: nothing is trained. Label 0 of a pair is the original, in a suite the good text.
SyntaxGym puts a space between regions, so a region ends at white space.

`export` takes a format from ``FORMATS``, the table at the end, and writes what its function yields.
"""

import functools
import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
import polars as pl
import yaml

from discoprobe.builders.config import Shape, crossed, regions
from discoprobe.builders.settings import SPLITS
from discoprobe.cards.metadata import manifest
from discoprobe.cards.metadata.manifest import ConfigEntry
from discoprobe.cards.readers import TEXT_COLUMNS
from discoprobe.cards.release.rows import read_split
from discoprobe.cards.text.questions import prompt_of
from discoprobe.loaders.errors import UnknownNameError, UnsupportedError, UsageError
from discoprobe.loaders.words import UNSPACED, join_texts, mostly_unspaced

Files = Iterator[tuple[str, Iterator[str]]]
"""Path and lines of each file of a config."""
ReadSplit = Callable[[str], pl.DataFrame]
"""Name of a split → its rows."""
SHORT: Final = dict(zip(SPLITS, ("tr", "va", "te"), strict=True))
DISCOEVAL_SPLITS: Final = dict(zip(SPLITS, ("train", "valid", "test"), strict=True))
SENTEVAL_NAMES: Final = {
    "sent_len": "sentence_length",
    "pred_tense": "past_present",
    "somo": "odd_man_out",
    "coord_inv": "coordination_inversion",
}
"""What SentEval and X-Probe call a task, where it is not the name here; their loaders look for files of these names."""
HARNESS_METRICS: Final = ("acc", "acc_norm")
"""Metrics of lm-evaluation-harness: the option with the highest probability, and that per character."""
CHAT_METRICS: Final = ("exact_match",)
"""Whether the first number that a model generates is that of the right answer."""
TASK_PREFIX, CHAT_PREFIX = "discoprobe_", "discoprobe_chat_"
"""What the names of tasks begin with in lm-evaluation-harness; then follows the config."""
CONTEXT_AND_SENTENCE: Final = ("context", "sentence")
"""The regions of passages with two of them."""
_LIGHTEVAL_TASKS: Final = '''"""Tasks of lighteval: the correct choice has the highest probability."""

from pathlib import Path

from lighteval.metrics.metrics import Metrics
from lighteval.tasks.lighteval_task import LightevalTaskConfig
from lighteval.tasks.requests import Doc


def prompt(line, task_name=None):
    return Doc(task_name=task_name, query=line["query"], choices=line["choices"], gold_index=line["label"])


TASKS_TABLE = [
    LightevalTaskConfig(
        name=f"discoprobe_{path.parent.name}", prompt_function=prompt, hf_repo=str(path.parent), hf_subset="default",
        hf_avail_splits=["test"], evaluation_splits=["test"], metrics=[Metrics.loglikelihood_acc],
    )
    for path in sorted(Path(__file__).parent.glob("*/test.jsonl"))
]
'''
_UNSPACED: Final = rf"{UNSPACED}\p{{M}}*"
_LETTER: Final = rf"[\w--{UNSPACED}]"
_TOKEN: Final = rf"{_UNSPACED}|{_LETTER}+(?:[-'’.,:/·‐‑]{_LETTER}+)*|\.+|[^\w\s]"


class Format(msgspec.Struct, frozen=True):
    """A format: the shapes that it supports, its files for a config (path → lines), and whether it is one of pairs.

    A format of pairs takes configs whose rows come in pairs, and configs of ``_ASKED`` if ``shapes`` has them.
    """

    shapes: frozenset[Shape]
    files: Callable[[ReadSplit, str, ConfigEntry], Files]
    pairs: bool = False
    splits: frozenset[str] = frozenset()  # that a config must have
    shared: Callable[[Mapping[str, ConfigEntry]], Files] | None = None  # files of all configs together


def export(
    release: Path, out: Path, form: str, configs: Sequence[str] = ()
) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    """Writes configs of a release folder in a harness's format.

    Args:
        release: the folder that ``build run`` wrote.
        out: a folder that is not there or is empty; if anything fails, it stays so.
        form: one of ``FORMATS``.
        configs: names of configs; by default all that the format supports.

    Returns:
        The files that were written, by config, relative to ``out``; and why the other configs were not.

    Raises:
        DiscoprobeError: if ``release`` is no release folder, or a file of it is missing.
        UnknownNameError: for a format or config that is not there.
        UsageError: if ``out`` is not empty.
        UnsupportedError: if the format does not support one of ``configs``, or any config of the release.
    """
    if form not in FORMATS:
        raise UnknownNameError("format", form, FORMATS)
    entries = manifest.read_release(release).configs
    for name in configs:
        if name not in entries:
            raise UnknownNameError("config", name, entries)
    chosen = configs or sorted(entries)
    misfits = {name: _misfit(functools.partial(read_split, release, name), entries[name], form) for name in chosen}
    skipped = {name: reason for name, reason in misfits.items() if reason}
    if skipped and (configs or len(skipped) == len(misfits)):
        raise UnsupportedError("; ".join(f"{name}: {reason}" for name, reason in skipped.items()))
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"{out} is not empty; give a new folder")
    beside = out.absolute().with_name(f".{out.absolute().name}.new")
    shutil.rmtree(beside, ignore_errors=True)
    files: dict[str, tuple[str, ...]] = {}
    try:
        for name in misfits:
            if name in skipped:
                continue
            of_config = FORMATS[form].files(functools.partial(read_split, release, name), name, entries[name])
            files[name] = _write(beside, of_config)
        if shared := FORMATS[form].shared:
            _write(beside, shared({name: entries[name] for name in files}))
        if out.exists():
            out.rmdir()
        beside.rename(out)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return files, skipped


def _write(folder: Path, files: Files) -> tuple[str, ...]:
    """Writes files into a folder; returns their paths in it."""
    paths = []
    for path, lines in files:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        with (folder / path).open("w", encoding="utf-8", newline="\n") as stream:
            stream.writelines(line + "\n" for line in lines)
        paths.append(path)
    return tuple(paths)


def _misfit(read: ReadSplit, entry: ConfigEntry, form: str) -> str:
    """Why a format does not support a config; empty if it does."""
    shape, asked = Shape(entry.shape), FORMATS[form]
    if shape not in asked.shapes:
        return f"{form} has no place for rows of shape {shape}"
    if missing := ", ".join(split for split in SPLITS if split in asked.splits - entry.counts.keys()):
        needed = ", ".join(split for split in SPLITS if split in asked.splits)
        return f"{form} needs {needed}, and the config has no {missing}"
    if asked.pairs and shape not in _ASKED and not is_paired(read("test")):
        return f"{form} shows pairs of an original and an edited text, and these rows are no pairs"
    return ""


def is_paired(rows: pl.DataFrame) -> bool:
    """Whether every row is the original (label 0) or the edited version (label 1) of a pair."""
    if "regions_good" in rows.columns:
        return True
    if rows["pair_id"].null_count() or set(rows["label"].unique()) != {0, 1}:
        return False
    return bool((rows.group_by("pair_id").agg(pl.col("label").sort())["label"] == [0, 1]).all())


def tokens(text: pl.Expr) -> pl.Expr:
    """The texts with one space between tokens.

    A token is a sequence of letters and digits, also with single marks inside (*l'amour*, *well-known*, 3.5, U.S), a
    sequence of full stops, or any other character that is no space. In scripts without spaces between words, each
    character is a token, with its diacritics. Nothing but white space is lost.
    """
    return text.str.extract_all(_TOKEN).list.join(" ")


def senteval(read: ReadSplit, _: str, entry: ConfigEntry) -> Files:
    """All splits in one file of sentences."""
    lines = ((SHORT[split], *cells) for split in SPLITS for cells in _labels_and_tokens(read(split), entry))
    yield f"{entry.lang}/{_senteval_name(entry)}.txt", _tabbed(lines)


def xprobe(read: ReadSplit, _: str, entry: ConfigEntry) -> Files:
    """A file of sentences per split."""
    for split in SPLITS:
        lines = ((text, label) for label, text in _labels_and_tokens(read(split), entry))
        yield f"{entry.lang}/{_senteval_name(entry)}/{SHORT[split]}.txt", _tabbed(lines)


def _senteval_name(entry: ConfigEntry) -> str:
    return SENTEVAL_NAMES.get(entry.task, entry.task)


def _labels_and_tokens(rows: pl.DataFrame, entry: ConfigEntry) -> Iterator[tuple[str, str]]:
    """Label name and tokens of each row."""
    return ((entry.labels[label], text) for label, text in rows.select("label", tokens(pl.col("text"))).iter_rows())


def discoeval(read: ReadSplit, _: str, entry: ConfigEntry) -> Files:
    """A file of texts per split, and the names of the labels."""
    folder = f"{entry.task.upper()}/{entry.lang}"
    parts = {}
    for split in SPLITS:
        rows = read(split)
        texts = pl.concat_list(name for name in TEXT_COLUMNS if name in rows.columns).list.eval(tokens(pl.element()))
        parts[split] = rows.select("label", "pair_id", texts=texts)
    if all(map(_shows_both_orders, parts.values())):
        for split, rows in parts.items():
            yield f"{folder}/{DISCOEVAL_SPLITS[split]}.txt", _tabbed(rows.filter(label=0)["texts"])
        return
    for split, rows in parts.items():
        lines = ([label, *texts] for label, texts in rows.select("label", "texts").rows())
        yield f"{folder}/{DISCOEVAL_SPLITS[split]}.txt", _tabbed(lines)
    yield f"{folder}/labelset.txt", _tabbed(enumerate(entry.labels))


def _shows_both_orders(rows: pl.DataFrame) -> bool:
    """Whether every row of label 1 shows the two sentences of the row of label 0 of its pair the other way round."""
    first, second = (rows.filter(pl.col("label") == label).select("pair_id", "texts") for label in (0, 1))
    pairs = first.join(second, on="pair_id", suffix="_other")
    turned = pairs.select((pl.col("texts").list.reverse() == pl.col("texts_other")).all()).item()
    return 2 * pairs.height == rows.height and bool(turned) and rows["texts"].list.len().eq(2).all()


def _tabbed(lines: Iterable[Iterable[object]]) -> Iterator[str]:
    return ("\t".join(map(str, line)) for line in lines)


def jsonl(read: ReadSplit, name: str, entry: ConfigEntry) -> Files:
    """The rows of each split, with the name of the label."""
    for split in entry.counts:
        rows = read(split).iter_rows(named=True)
        if entry.shape != Shape.CHOICE:
            rows = (row | {"label_name": entry.labels[row["label"]]} for row in rows)
        yield f"{name}/{split}.jsonl", _json_lines(rows)


def _json_lines(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    return (json.dumps(row, ensure_ascii=False) for row in rows)


def blimp(read: ReadSplit, name: str, entry: ConfigEntry) -> Files:
    """BLiMP's lines, with the keys of its own files and the id of the pair."""
    rows = read("test")
    pairs = _paired(rows)
    versions = ([join_texts(texts)[0] for texts in _texts_of(pairs, suffix)] for suffix in ("", "_edited"))
    phenomenon = "sentence" if _has_edited_sentences(rows, entry) else "discourse"
    lines = (
        {
            "sentence_good": good,
            "sentence_bad": bad,
            "field": phenomenon,
            "linguistics_term": entry.task,
            "UID": name,
            "pair_id": pair_id,
            **({"condition": entry.labels[label]} if entry.shape == Shape.SUITE else {}),
            "lexically_identical": sorted(good.split()) == sorted(bad.split()),
        }
        for good, bad, pair_id, label in zip(*versions, pairs["pair_id"], pairs["label"], strict=True)
    )
    yield f"{name}.jsonl", _json_lines(lines)


def lm_eval(read: ReadSplit, name: str, entry: ConfigEntry) -> Files:
    """The rows, and the YAML of a task whose options are the texts of a pair or the choices of a row."""
    is_choice, between = entry.shape in _ASKED, ""
    if is_choice:
        rows = _with_choices(read("test"))
        between = _between(rows)
        rows = rows.select("id", "label", "choices", context=pl.col("context").list.join(between))
        yield f"{name}.jsonl", _json_lines(rows.iter_rows(named=True))
    else:
        yield from blimp(read, name, entry)
    yield _lm_eval_task(name, TASK_PREFIX, HARNESS_METRICS, {
        "output_type": "multiple_choice",
        "doc_to_text": "{{context}}" if is_choice else "",
        "doc_to_target": "{{label}}" if is_choice else 0,
        "doc_to_choice": "choices" if is_choice else "{{[sentence_good, sentence_bad]}}",
        "target_delimiter": between,
    })  # fmt: skip


def lm_eval_chat(read: ReadSplit, name: str, entry: ConfigEntry) -> Files:
    """The prompt and the right number of each row, and the YAML of a task in which the number is generated."""
    lines = (
        {"id": row["id"], "pair_id": row["pair_id"], "prompt": prompt, "answer": answer}
        for row in read("test").iter_rows(named=True)
        for prompt, answer in [prompt_of(entry, row)]
    )
    yield f"{name}.jsonl", _json_lines(lines)
    yield _lm_eval_task(name, CHAT_PREFIX, CHAT_METRICS, {
        "output_type": "generate_until",
        "doc_to_text": "{{prompt}}",
        "doc_to_target": "{{answer}}",
        "generation_kwargs": {"until": ["<|endoftext|>"], "do_sample": False, "max_gen_toks": 16},
        "filter_list": [
            {"name": "number", "filter": [{"function": "regex", "regex_pattern": r"(\d+)"}, {"function": "take_first"}]}
        ],
    })  # fmt: skip


def _lm_eval_task(
    name: str, prefix: str, metrics: Sequence[str], how: Mapping[str, Any]
) -> tuple[str, Iterator[str]]:  # fmt: skip
    """Path and lines of the YAML of a task whose rows are in ``<config>.jsonl``."""
    task = {
        "task": f"{prefix}{name}",
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": f"{name}.jsonl"}},
        "test_split": "test",
        "num_fewshot": 0,
        **how,
        "metric_list": [{"metric": metric, "aggregation": "mean", "higher_is_better": True} for metric in metrics],
        "metadata": {"version": 1.0},
    }
    return f"{name}.yaml", _yaml_lines(task)


def _with_choices(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of choices; of questions on mentions, the passage and the question are the context of the answers."""
    if "choices" in rows.columns:
        return rows
    return rows.with_columns(context=pl.concat_list("passage", "question"), choices="answers")


def _between(choices: pl.DataFrame) -> str:
    """What stands between the sentences of choices: a blank, but nothing in scripts without blanks between words."""
    return "" if mostly_unspaced(choices["context"].list.join("")) else " "


def lm_eval_groups(
    prefix: str, metrics: Sequence[str], entries: Mapping[str, ConfigEntry]
) -> Files:  # fmt: skip
    """The YAML of a group of all configs, and of one per task and per language; the mean counts every config alike."""
    members: dict[str, list[str]] = {}
    for name, entry in entries.items():
        for group in (prefix.removesuffix("_"), f"{prefix}{entry.task}", f"{prefix}lang_{entry.lang}"):
            members.setdefault(group, []).append(f"{prefix}{name}")
    for group, tasks in members.items():
        means = [{"metric": metric, "aggregation": "mean", "weight_by_size": False} for metric in metrics]
        yield f"_{group}.yaml", _yaml_lines({"group": group, "task": tasks, "aggregate_metric_list": means})


def _yaml_lines(value: Mapping[str, Any]) -> Iterator[str]:
    return iter(yaml.safe_dump(value, sort_keys=False, allow_unicode=True).splitlines())


def lighteval(read: ReadSplit, name: str, entry: ConfigEntry) -> Files:
    """The context, the texts of a pair or the choices of a row, and the index of the correct one."""
    rows = read("test")
    if entry.shape in _ASKED:
        rows = _with_choices(rows)
        between = _between(rows)
        lines: Iterable[dict[str, Any]] = (
            {"id": row, "query": between.join(context), "choices": [between + choice for choice in choices],
             "label": label}
            for row, context, choices, label in rows.select("id", "context", "choices", "label").iter_rows()
        )  # fmt: skip
    else:
        pairs = _paired(rows)
        texts = [[join_texts(parts)[0] for parts in _texts_of(pairs, suffix)] for suffix in ("", "_edited")]
        lines = (
            {"id": pair_id, "query": "", "choices": list(choices), "label": 0}
            for pair_id, choices in zip(pairs["pair_id"], zip(*texts, strict=True), strict=True)
        )
    yield f"{name}/test.jsonl", _json_lines(lines)


def lighteval_tasks(_: Mapping[str, ConfigEntry]) -> Files:
    """The module that defines a task for each folder beside it."""
    yield "discoprobe_tasks.py", iter(_LIGHTEVAL_TASKS.splitlines())


def syntaxgym(read: ReadSplit, name: str, entry: ConfigEntry) -> Files:
    """One test suite; an item per pair, or per group of pairs with one of each condition."""
    rows = read("test")
    pairs, prefixes = _paired(rows), [""]
    texts = [*zip(_regions(pairs, ""), _regions(pairs, "_edited"), strict=True)]
    groups = [[pair] for pair in texts]
    if entry.shape == Shape.SUITE and crossed(rows.select("group", condition="label")):
        prefixes = [f"{entry.labels[label]}_" for label in rows["label"].unique().sort()]
        numbered = pairs.with_row_index("_at").sort("label").group_by("group").agg("_at", _first=pl.col("_at").min())
        groups = [[texts[at] for at in group] for group in numbered.sort("_first")["_at"]]
    items = []
    for number, group in enumerate(groups, 1):
        conditions = [
            {
                "condition_name": f"{prefix}{version}",
                "regions": [{"region_number": at, "content": content} for at, content in enumerate(parts, 1)],
            }
            for prefix, pair in zip(prefixes, group, strict=True)
            for version, parts in zip(("original", "edited"), pair, strict=True)
        ]
        items.append({"item_number": number, "conditions": conditions})

    is_sentence = _has_edited_sentences(rows, entry)
    compared = pairs["region"][0] if entry.shape == Shape.SUITE else 2 if is_sentence else 0
    predictions = []
    for region in [*([compared] if compared else []), "*"]:
        # the edited texts have more surprisal in a region than the originals, added up over the conditions
        edited, original = (
            " + ".join(f"({region};%{prefix}{version}%)" for prefix in prefixes) for version in ("edited", "original")
        )
        predictions.append({"type": "formula", "formula": f"{edited} > {original}"})
    metric = "mean" if entry.shape == Shape.SUITE and compared and not is_sentence else "sum"
    n_regions = len(texts[0][0])
    names: Sequence[str] = [f"sentence {at}" for at in range(1, n_regions + 1)]
    if n_regions == len(CONTEXT_AND_SENTENCE):
        names = CONTEXT_AND_SENTENCE
    elif is_sentence:
        names = ("before", "edit", "after")
    suite = {
        "meta": {"name": name, "metric": metric, "comments": entry.summary},
        "region_meta": {str(at): region for at, region in enumerate(names, 1)},
        "predictions": predictions,
        "items": items,
    }
    yield f"{name}.json", iter([json.dumps(suite, ensure_ascii=False, indent=1)])


def _has_edited_sentences(rows: pl.DataFrame, entry: ConfigEntry) -> bool:
    """Whether a row is an edited sentence, not a passage."""
    is_suite = entry.shape == Shape.SUITE
    return rows["target"].null_count() == 0 if is_suite else entry.shape == Shape.SENTENCE


def _paired(rows: pl.DataFrame) -> pl.DataFrame:
    """One row per pair, columns of the edited version with the suffix ``_edited``."""
    if "regions_good" in rows.columns:
        return rows.rename({"sentence_good": "text", "sentence_bad": "text_edited", "regions_good": "regions",
                            "regions_bad": "regions_edited"})  # fmt: skip
    originals, edited = rows.filter(pl.col("label") == 0), rows.filter(pl.col("label") == 1)
    return originals.join(edited, on="pair_id", suffix="_edited", maintain_order="left")


def _texts_of(pairs: pl.DataFrame, suffix: str) -> list[list[str]]:
    """The texts of each row of one version, in order."""
    names = [name for name in TEXT_COLUMNS if name in pairs.columns]
    return pairs.select(texts=pl.concat_list([f"{name}{suffix}" for name in names]))["texts"].to_list()


def _regions(pairs: pl.DataFrame, suffix: str) -> list[list[str]]:
    """The regions of each row of one version; joined by spaces they are its text."""
    if "regions" in pairs.columns:
        return pairs[f"regions{suffix}"].to_list()
    if "text" not in pairs.columns:
        return _texts_of(pairs, suffix)
    edits = pairs.select(f"text{suffix}", f"edit{suffix}").iter_rows()
    return [[*regions(text, edit["start"], edit["end"])] for text, edit in edits]


_ASKED: Final = frozenset({Shape.CHOICE, Shape.MENTIONS})
_PAIRS: Final = frozenset(Shape) - _ASKED
_ALL_SPLITS: Final = frozenset(SPLITS)
_TEXTS_IN_ORDER: Final = frozenset(
    {Shape.MENTIONS, Shape.SEQUENCE, Shape.PAIR, Shape.RELATION, Shape.SCORED, Shape.CANDIDATE}
)

FORMATS: Final[Mapping[str, Format]] = {
    "senteval": Format(frozenset({Shape.SENTENCE}), senteval, splits=_ALL_SPLITS),
    "xprobe": Format(frozenset({Shape.SENTENCE}), xprobe, splits=_ALL_SPLITS),
    "discoeval": Format(_TEXTS_IN_ORDER, discoeval, splits=_ALL_SPLITS),
    "jsonl": Format(frozenset(Shape), jsonl),
    "blimp": Format(_PAIRS, blimp, pairs=True),
    "lm-eval": Format(
        frozenset(Shape), lm_eval, pairs=True, shared=functools.partial(lm_eval_groups, TASK_PREFIX, HARNESS_METRICS)
    ),
    "lm-eval-chat": Format(
        frozenset(Shape),
        lm_eval_chat,
        splits=frozenset({SPLITS[-1]}),
        shared=functools.partial(lm_eval_groups, CHAT_PREFIX, CHAT_METRICS),
    ),
    "lighteval": Format(frozenset(Shape), lighteval, pairs=True, shared=lighteval_tasks),
    "syntaxgym": Format(_PAIRS, syntaxgym, pairs=True),
}
