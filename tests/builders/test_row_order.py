"""The order of rows: a hash, and by none of many orders would the place of a row tell its label."""

import numpy as np
import polars as pl

from discoprobe.builders import chance
from discoprobe.builders.audit.order import tells
from discoprobe.builders.settings import SPLITS
from discoprobe.builders.task import all_tasks
from discoprobe.builders.write import _in_hash_order

TASK = all_tasks()["bso"]


def rows(number, size=60):
    keys = chance.mix(np.arange(size, dtype=np.uint64), "test", number)
    return pl.DataFrame({"key": keys, "label": np.arange(size) % 2, "split": [SPLITS[i // 2 % 3] for i in range(size)]})


def labels(frame):
    return [split["label"].to_numpy() for split in frame.partition_by("split")]


def test_parity_and_runs_that_tell():
    assert tells([np.tile([0, 1], 30)], 2)
    assert tells([np.repeat([0, 1], 30)], 2)
    assert not tells([np.zeros(30, np.int64)], 2)


def test_no_order_tells_the_label_though_some_first_ones_would():
    tables = [rows(number) for number in range(1500)]
    first = [table.sort(pl.Series(chance.mix(table["key"].to_numpy(), "row order", "bso"))) for table in tables]
    unlucky = [number for number, table in enumerate(first) if tells(labels(table), 2)]
    assert unlucky
    shown = [_in_hash_order(table, TASK) for table in tables]
    assert not any(tells(labels(table), 2) for table in shown)
    assert all(shown[i].equals(first[i]) for i in range(len(tables)) if i not in unlucky)


def test_the_order_does_not_depend_on_the_order_given():
    table = rows(1)
    assert _in_hash_order(table, TASK).equals(_in_hash_order(table.reverse(), TASK))
