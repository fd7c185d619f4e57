"""The task about shallow and deep trees: the length of a sentence tells nothing."""

from collections import Counter

import pytest
from shared import UD, needs_shared

from discoprobe.builders import Config, Settings, build_all, tasks_named
from discoprobe.sources import load_corpus


@needs_shared
@pytest.mark.parametrize("lang", ["es", "ru"])
def test_each_number_of_words_has_as_many_shallow_trees_as_deep_ones(lang):
    """Within strata of six numbers of words, length told the class of .576 of Russian rows."""
    (config,) = build_all(tasks_named(["deep_tree"]), load_corpus(lang, [str(UD / lang)]), Settings())
    assert isinstance(config, Config)
    assert config.n_rows >= 60
    for table in config.splits.values():
        rows = table.select(["n_words", "label"]).to_pylist()
        counts = [Counter(row["n_words"] for row in rows if row["label"] == label) for label in (0, 1)]
        assert counts[0] == counts[1]
