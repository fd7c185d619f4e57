"""Six sets of real text in published columns, with labels drawn by lot: they pass, and fail with one cue planted.

The text is the sample's. The share of rows that have the cue is so small that the threshold is just exceeded.
``python tests/builders/audit/test_clean_and_planted.py`` prints the table of docs/audit.md: how many of twenty drawings
pass and fail.
"""

from __future__ import annotations

import json
import random
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from discoprobe import loaders
from discoprobe.builders.audit import Status, audit, inputs

LANGUAGES = ("en", "es", "de", "ru")
_SHORT = 4


@cache
def sentences() -> tuple[str, ...]:
    """All sentences of the sample of four words or more, each once."""
    files = [Path(loaders.__file__).parent / "sample" / f"{lang}_sample-ud-test.conllu" for lang in LANGUAGES]
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    texts = [line.removeprefix("# text = ") for line in lines if line.startswith("# text = ")]
    return tuple(sorted({text for text in texts if len(text.split()) >= _SHORT}))


class Lots:
    """Sentences in random order, labels that say nothing about them, and who has the cue."""

    def __init__(self, seed: int, strength: float) -> None:
        self.random, self.strength = random.Random(seed), strength
        self.texts = self.random.sample(sentences(), len(sentences()))

    def labels(self, n: int, k: int) -> list[int]:
        return self.random.sample([at % k for at in range(n)], n)

    def chosen(self) -> bool:
        return self.random.random() < self.strength


def single_text(lots):
    """SST-2; negative reviews have a comma more."""
    rows = [{"sentence": text} for text in lots.texts]
    for row, label in zip(rows, lots.labels(len(rows), 2), strict=True):
        row["label"] = ("negative", "positive")[label]
        if label == 0 and lots.chosen():
            row["sentence"] = ", ".join([*row["sentence"].split(" ", 2)[:2], row["sentence"].split(" ", 2)[2]])
    return rows


def pair(lots):
    """SNLI; contradictions have a negation in the hypothesis."""
    names = ("entailment", "neutral", "contradiction")
    halves = lots.texts[::2], lots.texts[1::2]
    rows = [{"premise": one, "hypothesis": other} for one, other in zip(*halves, strict=False)]
    for row, label in zip(rows, lots.labels(len(rows), 3), strict=True):
        row["label"] = names[label]
        if label == 2 and lots.chosen():
            row["hypothesis"] = "Nobody thinks " + row["hypothesis"]
    return rows


def choice(lots):
    """COPA; the right alternative ends in words of the premise, the wrong one in words of elsewhere."""
    thirds = [lots.texts[at::3] for at in range(3)]
    rows = [{"premise": a, "choice1": b, "choice2": c, "question": "cause"} for a, b, c in zip(*thirds, strict=False)]
    for row, label in zip(rows, lots.labels(len(rows), 2), strict=True):
        row["label"] = label
        sources = [row["premise"] if lots.chosen() else lots.random.choice(lots.texts), lots.random.choice(lots.texts)]
        for choice, source in zip((label, 1 - label), sources, strict=True):
            row[f"choice{choice + 1}"] += " " + " ".join(sorted(source.strip(".?!").split(), key=len)[-2:])
    return rows


def similarity(lots):
    """STS benchmark; the more alike, the longer."""
    halves = lots.texts[::2], lots.texts[1::2]
    rows = [{"sentence1": one, "sentence2": other} for one, other in zip(*halves, strict=False)]
    for row in rows:
        row["score"] = round(lots.random.uniform(0, 5), 2)
        if lots.chosen():
            row["score"] = min(5.0, round(len(row["sentence1"] + row["sentence2"]) / 60, 2))
    return rows


def minimal_pairs(lots):
    """BLiMP; two letters of a word change places, and which member is good is drawn."""
    rows = []
    for text in lots.texts:
        word = max(text.split()[1:], key=len)
        at = lots.random.randrange(1, len(word) - 1)
        edited = text.replace(word, word[:at] + word[at + 1] + word[at] + word[at + 2 :])
        if edited == text:
            continue
        members = [text, edited]
        if not lots.chosen():
            lots.random.shuffle(members)
        rows.append(dict(zip(("sentence_good", "sentence_bad"), members, strict=True)))
    return rows


INTENTS = (
    "alarm_set", "audio_volume", "calendar_query", "cooking_recipe", "datetime_query", "email_send", "general_joke",
    "iot_cleaning", "lists_add", "music_likeness", "news_query", "takeaway_order",
)  # fmt: skip


def many_classes(lots):
    """Intents (MASSIVE); utterances of an intent end in the same marks."""
    rows = [{"utt": text} for text in lots.texts]
    for row, label in zip(rows, lots.labels(len(rows), len(INTENTS)), strict=True):
        row["label"] = INTENTS[label]
        if lots.chosen():
            row["utt"] += " " + "!?.…;:"[label % 6] * (1 + label // 6)
    return rows


SETS = {
    "single text": (single_text, 0.35, "punctuation"),
    "pair": (pair, 0.45, "single"),
    "choice": (choice, 0.3, "overlap"),
    "similarity": (similarity, 0.3, "length"),
    "minimal pairs": (minimal_pairs, 0.45, "language-model"),
    "many classes": (many_classes, 0.15, "punctuation"),
}
"""Name → rows, the share of rows with the cue, and the check that must find it."""


def report_of(make, seed, strength, folder):
    """The audit of a set, read from the files that its makers would publish."""
    rows = make(Lots(seed, strength))
    bounds = {"train": (0, 0.6), "validation": (0.6, 0.8), "test": (0.8, 1)}
    for split, (start, end) in bounds.items():
        part = rows[round(start * len(rows)) : round(end * len(rows))]
        (folder / f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in part), encoding="utf-8")
    (data,) = inputs.read(folder).data
    return audit(data)


@pytest.mark.parametrize("name", SETS)
def test_a_set_with_random_labels_passes(tmp_path, name):
    report = report_of(SETS[name][0], 0, 0.0, tmp_path)
    assert not report.failed, [(finding.check, finding.measured) for finding in report.errors]


@pytest.mark.parametrize("name", SETS)
def test_a_planted_cue_just_strong_enough_fails(tmp_path, name):
    make, strength, check = SETS[name]
    finding = report_of(make, 0, strength, tmp_path).finding(check)
    assert finding.status is Status.ABOVE
    assert finding.measured - finding.threshold < 0.12


def table(drawings: int) -> str:
    """Per set: rows, check, and of the drawings how many fail clean and planted, with what is measured on average."""
    lines = []
    for name, (make, strength, check) in SETS.items():
        cells = [name, make.__doc__.rstrip("."), f"{strength:.2f}", f"`{check}`"]
        for share in (0.0, strength):
            reports = []
            for seed in range(drawings):
                with TemporaryDirectory() as folder:
                    reports.append(report_of(make, seed, share, Path(folder)))
            findings = [report.finding(check) for report in reports]
            measured = sum(finding.measured for finding in findings) / drawings
            failed = [sorted(finding.check for finding in report.errors) for report in reports if report.failed]
            cells += [f"{measured:.3f}", f"{len(failed)} of {drawings}"]
            print(
                name,
                share,
                failed,
                findings[0].threshold,
                findings[0].n,
                [f.measured for f in findings],
                file=sys.stderr,
            )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table(int(sys.argv[1]) if len(sys.argv) > 1 else 20))
