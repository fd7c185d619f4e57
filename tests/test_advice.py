"""What an audit advises is tried: the command or the change that it names makes the finding go away."""

from __future__ import annotations

import json
import random
import re

import pytest
from typer.testing import CliRunner

import discoprobe
from discoprobe.builders.audit import CHECKS
from discoprobe.cli import app

WORDS = [f"{a}{b}{c}" for a in "bdfglmnprst" for b in "aeiou" for c in "klmnrst"]
N = {"train": 240, "test": 120}


class Rows:
    """Rows of random words in two splits, the labels balanced and in random order."""

    def __init__(self) -> None:
        self.random = random.Random(11)
        self.splits = {split: [self.row(label) for label in self.labels(n)] for split, n in N.items()}

    def text(self, n: int = 14) -> str:
        return " ".join(self.random.choices(WORDS, k=n))

    def row(self, label: int) -> dict:
        return {"text": self.text(), "label": label}

    def labels(self, n: int) -> list[int]:
        return self.random.sample([at % 2 for at in range(n)], n)

    def repeat(self, share: float, source: str, target: str) -> None:
        """So many rows of ``target``, the last ones, get the text and label of the first rows of ``source``."""
        for row, other in zip(self.splits[target][-round(share * N[target]) :], self.splits[source], strict=False):
            row.update(other)

    def alter(self, share: float, edit, *, flip: bool = False) -> None:
        """So many rows of test get an edited text of train, with its label or, if they ``flip``, with the other one."""
        for row, other in zip(self.splits["test"][: round(share * N["test"])], self.splits["train"], strict=False):
            row.update(text=edit(other["text"]), label=abs(other["label"] - flip))

    def spread(self) -> None:
        """A quarter of the rows of train have one sentence of test, each written with another word in capitals."""
        words = self.splits["test"][0]["text"].split(" ")
        for at, row in enumerate(self.splits["train"][: N["train"] // 4], 1):
            row["text"] = " ".join([f"{word.upper() if at >> n & 1 else word}" for n, word in enumerate(words)])


FAULTS = {
    "dup-within, few": ("dup-within", lambda rows: rows.repeat(0.05, "train", "train")),
    "dup-within, many": ("dup-within", lambda rows: rows.repeat(0.4, "train", "train")),
    "dup-within, most": ("dup-within", lambda rows: [rows.repeat(0.5, split, split) for split in N]),
    "dup-across, few": ("dup-across", lambda rows: rows.repeat(0.05, "train", "test")),
    "dup-across, many": ("dup-across", lambda rows: rows.repeat(0.6, "train", "test")),
    "near-dup, few": ("near-dup", lambda rows: rows.alter(0.05, lambda text: f"{text} so")),
    "near-dup, many": ("near-dup", lambda rows: rows.alter(0.5, lambda text: f"{text} so")),
    "sentence-leak, few": ("sentence-leak", lambda rows: rows.alter(0.05, str.upper)),
    "sentence-leak, many": ("sentence-leak", lambda rows: rows.alter(0.5, str.upper)),
    "label-conflict": ("label-conflict", lambda rows: rows.alter(0.1, str, flip=True)),
    "sentence-leak, of a quarter of train in a row": ("sentence-leak", Rows.spread),
}  # fmt: skip
"""Name → check, and what makes its fault in the rows."""
_COMMAND = re.compile(r"`build import … (--[a-z-]+)`")


def _write(rows, folder):
    for split, part in rows.splits.items():
        (folder / f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in part))
    return folder


def _audit(path):
    return discoprobe.audit(path, text="text", label="label", task_type="single")


@pytest.mark.parametrize("fault", FAULTS)
def test_advice_makes_the_finding_go_away(fault, tmp_path):
    check, plant = FAULTS[fault]
    rows = Rows()
    plant(rows)
    (tmp_path / "data").mkdir()
    report = _audit(_write(rows, tmp_path / "data"))
    assert check in {finding.check for finding in report.errors}
    if command := _COMMAND.search(report.verdict.text):
        call = [
            "import", str(tmp_path / "data"), "--task-type", "single", "--name", "mine", "--lang", "es", "--licence",
            "CC0-1.0", "--out", str(tmp_path / "out"), "--json", command[1],
        ]  # fmt: skip
        done = CliRunner().invoke(app, call)
        assert done.exception is None, done.exception
        (again,) = json.loads(done.stdout)["data"]
        left = {finding["check"] for finding in again["findings"] if finding["status"] == "above"}
    else:
        assert re.search(r"Without these rows th\w+ faults? would be gone", report.verdict.text)
        faulty = {row for finding in report.errors for row in report.rows(finding.check)["id"]}
        for split, part in rows.splits.items():
            rows.splits[split] = [row for at, row in enumerate(part) if f"{split}:{at}" not in faulty]
        left = {finding.check for finding in _audit(_write(rows, tmp_path / "data")).errors}
    assert not left & {finding.check for finding in report.errors}


def test_repeated_rows_inside_a_split_keep_the_splits(tmp_path):
    """Rows that repeat in their split are left out where they are: no row has to change its split for that."""
    rows = Rows()
    rows.repeat(0.4, "train", "train")
    report = _audit(_write(rows, tmp_path))
    assert _COMMAND.search(report.verdict.text)[1] == "--drop-leaks"


def test_every_fault_with_advice_is_tried():
    """The faults that a user can take out of rows of one text without edits, targets, pairs or documents."""
    tried = {check for check, _ in FAULTS.values()}
    of_design = {"target-leak", "group-split", "unperturbed", "pair-split", "clean-text", "doubled-words", "fidelity"}
    removable = {check.id for check in CHECKS if check.removable}
    assert removable - tried == of_design | {"altered-dup", "paraphrase"}
