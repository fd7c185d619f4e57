"""Clean datasets without any shortcut, in which tests plant what the audit must find."""

from __future__ import annotations

import itertools
import random

import polars as pl
import pytest

from discoprobe.builders import Shape
from discoprobe.builders.audit import AuditInput, conform

SHARES = (("train", 0.6), ("validation", 0.2), ("test", 0.2))


class Maker:
    """Sentences of invented words, and datasets of them whose labels say nothing about the texts."""

    def __init__(self, seed: int) -> None:
        self.source = random.Random(seed)
        letters = "abcdefghiklmnoprstuvz"
        self.vocabulary = ["".join(self.source.choices(letters, k=self.source.randint(2, 9))) for _ in range(3000)]
        self.weights = list(itertools.accumulate(1 / (rank + 10) for rank in range(len(self.vocabulary))))

    def sentence(self, least: int = 6, most: int = 20) -> str:
        words = self.source.choices(self.vocabulary, cum_weights=self.weights, k=self.source.randint(least, most))
        if len(words) > 8 and self.source.random() < 0.3:
            words[3] += ","
        return " ".join(words).capitalize() + self.source.choice(".......?!")

    def labels(self, n: int, k: int) -> list[int]:
        values = [place % k for place in range(n - n % k)]
        self.source.shuffle(values)
        return values

    def rows(self, n: int, k: int, texts: int) -> list[dict]:
        return [
            {"split": split, "label": label, "texts": [self.sentence() for _ in range(texts)]}
            for split, share in SHARES
            for label in self.labels(max(k, round(n * share)), k)
        ]

    def data(self, n: int = 1000, *, shape=Shape.SENTENCE, k: int = 2, texts: int = 1, **flags) -> AuditInput:
        return as_input(self.rows(n, k, texts), shape=shape, k=k, **flags)


def as_input(rows: list[dict], *, shape=Shape.SENTENCE, k: int = 2, **flags) -> AuditInput:
    """The rows as the audit takes them; ids are ``split:place``."""
    frame = pl.DataFrame(rows, infer_schema_length=None)
    return AuditInput("planted", shape, tuple(f"label{i}" for i in range(k)), conform(frame, shape), **flags)


@pytest.fixture
def make():
    return Maker(7)


@pytest.fixture(scope="session")
def maker():
    return Maker


@pytest.fixture
def build():
    return as_input
