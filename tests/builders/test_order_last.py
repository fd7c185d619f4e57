"""The task `order_last`: the last sentence stays, the others never all do."""

import pytest

import discoprobe

FIRST = [0, 1, 2, 3]


@pytest.fixture(scope="module")
def pairs():
    """The two rows of every pair, by label."""
    config = discoprobe.build("order_last", discoprobe.load_corpus("es", ["sample"]))
    found = {}
    for table in config.splits.values():
        for row in table.to_pylist():
            found.setdefault(row["pair_id"], {})[config.labels[row["label"]]] = row
    return list(found.values())


def test_both_versions_end_with_the_same_sentence(pairs):
    assert len(pairs) > 20
    assert all(pair["original"]["sentences"][-1] == pair["shuffled"]["sentences"][-1] for pair in pairs)


def test_the_other_sentences_are_shown_in_another_order(pairs):
    orders = [pair["shuffled"]["order"] for pair in pairs]
    assert all(order[4] == 4 and sorted(order[:4]) == FIRST != order[:4] for order in orders)
    assert len(set(map(tuple, orders))) > 10
