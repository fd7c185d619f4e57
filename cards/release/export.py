"""Configs of a release folder as the files that other harnesses read.

* ``senteval``: ``<lang>/<task>.txt``, lines ``split<TAB>label<TAB>sentence`` with tr, va, te (Conneau & Kiela 2018);
* ``xprobe``: ``<lang>/<task>/{tr,va,te}.txt``, lines ``sentence<TAB>label`` (Ravishankar et al. 2019);
* ``discoeval``: ``<TASK>/<lang>/{train,valid,test}.txt``, lines ``label<TAB>sentence…`` (Chen et al. 2019); of a config
  that shows each pair of sentences in both orders only the true order stands there, without a label;
* ``jsonl``: ``<config>/{train,validation,test}.jsonl``, rows as in the release, the label's name as ``label_name``;
* ``blimp``, ``lm-eval`` and ``syntaxgym``: pairs and choices of test (`pair_formats`).

The first three have tokens with spaces between them. A release has running text, which ``tokens`` divides by one rule
for all languages. The words of the treebank are not used: those of a multiword token such as *del* are *de* and *el*,
which nobody writes, and after an edit they would have to be found again.
"""

import functools
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

import polars as pl

from discoprobe.builders.config import Shape
from discoprobe.builders.settings import SPLITS
from discoprobe.cards.metadata import manifest
from discoprobe.cards.metadata.manifest import ConfigEntry
from discoprobe.cards.readers.marks import TEXT_COLUMNS
from discoprobe.cards.release import pair_formats, parquet_files
from discoprobe.cards.release.pair_formats import Files, ReadSplit
from discoprobe.loaders.errors import DiscoprobeError, UnknownNameError, UnsupportedError, UsageError
from discoprobe.loaders.running_words import UNSPACED

Line = Sequence[object]

SHORT: Final = dict(zip(SPLITS, ("tr", "va", "te"), strict=True))
DISCOEVAL_SPLITS: Final = dict(zip(SPLITS, ("train", "valid", "test"), strict=True))

SENTEVAL_NAMES: Final = {
    "sent_len": "sentence_length",
    "top_deps": "top_constituents",
    "pred_tense": "past_present",
    "somo": "odd_man_out",
    "coord_inv": "coordination_inversion",
}
"""What SentEval and X-Probe call a task, where it is not the name here; their loaders look for files of these names."""

_UNSPACED: Final = rf"{UNSPACED}\p{{M}}*"
_LETTER: Final = rf"[\w--{UNSPACED}]"
_TOKEN: Final = rf"{_UNSPACED}|{_LETTER}+(?:[-'’.,:/·‐‑]{_LETTER}+)*|\.+|[^\w\s]"


def tokens(text: pl.Expr) -> pl.Expr:
    """The texts with one space between tokens.

    A token is a sequence of letters and digits, also with single marks inside (*l'amour*, *well-known*, 3.5, U.S), a
    sequence of full stops, or any other character that is no space. In scripts without spaces between words, each
    character is a token, with its diacritics. Nothing but white space is lost.
    """
    return text.str.extract_all(_TOKEN).list.join(" ")


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written: files per config, relative to the folder; and why the other configs were not."""

    files: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    skipped: Mapping[str, str] = field(default_factory=dict)


class Format(NamedTuple):
    """A format: the shapes that it supports, its files for a config (path → lines), and whether it is one of pairs.

    A format of pairs takes configs whose rows come in pairs, and configs of choices if ``shapes`` has them.
    """

    shapes: frozenset[Shape]
    files: Callable[[ReadSplit, str, ConfigEntry], Files]
    pairs: bool = False
    splits: frozenset[str] = frozenset()  # that a config must have


def export(release: Path, out: Path, form: str, configs: Sequence[str] = ()) -> Exported:
    """Writes configs of a release folder in a harness's format.

    Args:
        release: the folder that ``build run`` wrote.
        out: a folder that is not there or is empty; if anything fails, it stays so.
        form: one of ``FORMATS``.
        configs: names of configs; by default all that the format supports.

    Raises:
        DiscoprobeError: if ``release`` is no release folder, or a file of it is missing.
        UnknownNameError: for a format or config that is not there.
        UsageError: if ``out`` is not empty.
        UnsupportedError: if the format does not support one of ``configs``, or any config of the release.
    """
    if form not in FORMATS:
        raise UnknownNameError("format", form, FORMATS)
    entries = _entries(release, configs)
    skipped = {name: reason for name, entry in entries.items() if (reason := _misfit(release, name, entry, form))}
    if skipped and (configs or len(skipped) == len(entries)):
        raise UnsupportedError("; ".join(f"{name}: {reason}" for name, reason in skipped.items()))
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"{out} is not empty; give a new folder")
    beside = out.absolute().with_name(f".{out.absolute().name}.new")
    shutil.rmtree(beside, ignore_errors=True)
    try:
        files = {
            name: tuple(
                _write(beside / path, path, lines)
                for path, lines in FORMATS[form].files(functools.partial(_read, release, name), name, entry)
            )
            for name, entry in entries.items()
            if name not in skipped
        }
        if out.exists():
            out.rmdir()
        beside.rename(out)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return Exported(files, skipped)


def _entries(release: Path, configs: Sequence[str]) -> dict[str, ConfigEntry]:
    there = manifest.read_release(release)["configs"]
    for name in configs:
        if name not in there:
            raise UnknownNameError("config", name, there)
    return {name: there[name] for name in (configs or sorted(there))}


def _misfit(release: Path, name: str, entry: ConfigEntry, form: str) -> str | None:
    """Why a format does not support a config; None if it does."""
    shape, described = Shape(entry["shape"]), FORMATS[form]
    if shape not in described.shapes:
        return f"{form} has no place for rows of shape {shape}"
    if missing := ", ".join(split for split in SPLITS if split in described.splits - entry["counts"].keys()):
        return f"{form} needs {', '.join(SPLITS)}, and the config has no {missing}"
    if described.pairs and shape is not Shape.CHOICE and not pair_formats.is_paired(_read(release, name, "test")):
        return f"{form} shows pairs of an original and an edited text, and these rows are no pairs"
    return None


def _write(file: Path, path: str, lines: Iterator[str]) -> str:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", encoding="utf-8", newline="\n") as stream:
        stream.writelines(line + "\n" for line in lines)
    return path


def _read(release: Path, name: str, split: str) -> pl.DataFrame:
    files = sorted((release / name).glob(f"{split}-*.parquet"))
    if not files:
        raise DiscoprobeError(f"{release / name} has no {split} split, though {manifest.NAME} names it; build it again")
    with parquet_files.reading(files[0]):
        return pl.read_parquet(files)


def _tabbed(lines: Iterator[Line]) -> Iterator[str]:
    return ("\t".join(map(str, line)) for line in lines)


def _senteval(read: ReadSplit, _: str, entry: ConfigEntry) -> Files:
    lines = ((SHORT[split], label, text) for split in SPLITS for label, text in _labelled(read(split), entry))
    yield f"{entry['lang']}/{_senteval_name(entry)}.txt", _tabbed(lines)


def _xprobe(read: ReadSplit, _: str, entry: ConfigEntry) -> Files:
    folder = f"{entry['lang']}/{_senteval_name(entry)}"
    for split in SPLITS:
        rows = _labelled(read(split), entry)
        yield f"{folder}/{SHORT[split]}.txt", _tabbed((text, label) for label, text in rows)


def _senteval_name(entry: ConfigEntry) -> str:
    return SENTEVAL_NAMES.get(entry["task"], entry["task"])


def _labelled(rows: pl.DataFrame, entry: ConfigEntry) -> Iterator[tuple[str, str]]:
    """Label name and tokens of each row."""
    shown = rows.select("label", tokens(pl.col("text")))
    return ((entry["labels"][label], text) for label, text in shown.iter_rows())


def _discoeval(read: ReadSplit, _: str, entry: ConfigEntry) -> Files:
    folder = f"{entry['task'].upper()}/{entry['lang']}"
    parts = {split: _with_texts(read(split)) for split in SPLITS}
    both_orders = all(_shows_both_orders(part) for part in parts.values())
    for split, part in parts.items():
        shown = part.filter(label=0) if both_orders else part
        lines = ([*([] if both_orders else [label]), *texts] for label, texts in shown.select("label", "texts").rows())
        yield f"{folder}/{DISCOEVAL_SPLITS[split]}.txt", _tabbed(lines)
    if not both_orders:
        yield f"{folder}/labelset.txt", _tabbed(iter(enumerate(entry["labels"])))


def _with_texts(rows: pl.DataFrame) -> pl.DataFrame:
    """``label``, ``pair_id`` and ``texts``: the sentences of a row in the order in which they are read, in tokens."""
    names = [name for name in TEXT_COLUMNS if name in rows.columns]
    texts = pl.concat_list(names).list.eval(tokens(pl.element()))
    return rows.select("label", "pair_id", texts=texts)


def _shows_both_orders(rows: pl.DataFrame) -> bool:
    """Whether every row of label 1 shows the two sentences of the row of label 0 of its pair the other way round."""
    first, second = (rows.filter(pl.col("label") == label).select("pair_id", "texts") for label in (0, 1))
    pairs = first.join(second, on="pair_id", suffix="_other")
    turned = pairs.select((pl.col("texts").list.reverse() == pl.col("texts_other")).all()).item()
    return 2 * pairs.height == rows.height and bool(turned) and rows["texts"].list.len().eq(2).all()


def _jsonl(read: ReadSplit, name: str, entry: ConfigEntry) -> Files:
    choice = entry["shape"] == Shape.CHOICE
    for split in entry["counts"]:
        rows = read(split).iter_rows(named=True)
        named = (row if choice else row | {"label_name": entry["labels"][row["label"]]} for row in rows)
        yield f"{name}/{split}.jsonl", map(pair_formats.as_json, named)


_PAIRS: Final = frozenset(Shape) - {Shape.CHOICE}
_ALL_SPLITS: Final = frozenset(SPLITS)

FORMATS: Final[Mapping[str, Format]] = {
    "senteval": Format(frozenset({Shape.SENTENCE}), _senteval, splits=_ALL_SPLITS),
    "xprobe": Format(frozenset({Shape.SENTENCE}), _xprobe, splits=_ALL_SPLITS),
    "discoeval": Format(
        frozenset({Shape.SEQUENCE, Shape.PAIR, Shape.RELATION, Shape.SCORED, Shape.CANDIDATE}),
        _discoeval,
        splits=_ALL_SPLITS,
    ),
    "jsonl": Format(frozenset(Shape), _jsonl),
    "blimp": Format(_PAIRS, pair_formats.blimp, pairs=True),
    "lm-eval": Format(frozenset(Shape), pair_formats.lm_eval, pairs=True),
    "syntaxgym": Format(_PAIRS, pair_formats.syntaxgym, pairs=True),
}
