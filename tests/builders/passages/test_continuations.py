"""A passage with the sentence that follows and one that does not, where nothing is matched."""

import pytest

from discoprobe.builders import Settings
from discoprobe.builders.build import build


@pytest.mark.parametrize("task", ["cloze", "nsp"])
def test_without_matching_every_passage_has_one_wrong_sentence(corpus_of, task):
    """With `--no-match` too, where a passage had one of each of two lists."""
    config = build(task, corpus_of("sample", "es"), Settings(match=False, min_class=2))
    rows = [row for table in config.splits.values() for row in table.to_pylist()]
    passages = [tuple(row["sent_ids"][:4]) for row in rows]
    assert len(rows) > 20
    assert len(passages) == len(set(passages)) * (len(config.labels) if config.pairs else 1)
