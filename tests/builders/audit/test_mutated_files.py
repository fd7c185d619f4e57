"""Damaged files are read, or refused with a message: reading never ends in another error."""

from __future__ import annotations

import json

import pytest
from mutated_files import mutated
from published_shapes import published

from discoprobe.builders.audit import audit
from discoprobe.builders.audit.inputs import read
from discoprobe.loaders import DiscoprobeError

SEEDS = (3, 14, 15, 92, 65)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_mutated_files_give_no_traceback(seed, tmp_path):
    """Few of them are read at all, so that the message is what most users of such files see."""
    ends = {"read": 0, "refused": 0}
    for number, shape in enumerate(published()):
        place = tmp_path / str(number)
        for name, content in mutated(shape, seed).items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_bytes(content)
        path = place / shape.path
        try:
            data, _ = read(path if path.exists() else place)
        except DiscoprobeError:
            ends["refused"] += 1
        else:
            assert all(each.rows.height for each in data), (shape.name, seed)
            if number % 10 == seed % 10:  # the audit of a small set takes a second
                assert all(json.loads(audit(each).to_json())["read"]["row"] for each in data)
            ends["read"] += 1
    assert min(ends.values()) > 10
