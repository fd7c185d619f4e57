"""Counts of a manifest that was read: in the order of a build, with the labels that the config uses."""

import msgspec
from card_cases import config

from discoprobe.builders import Shape
from discoprobe.cards.metadata import config_entry, manifest


def test_counts_of_a_config_that_uses_a_part_of_the_labels_of_its_task(tmp_path):
    used = {"Feminine": 2, "Masculine": 3}
    made = config(Shape.SENTENCE, ("Masculine", "Feminine", "Neuter"), [{"text": "x"}] * 2, name="gender_es")
    entry = config_entry(made, {}, {})
    entry.counts = dict.fromkeys(("test", "train", "validation"), used)
    whole = msgspec.structs.replace(manifest.empty(), configs={"gender_es": entry})
    (tmp_path / manifest.NAME).write_bytes(manifest.contents(whole)[manifest.NAME])
    ordered = manifest.read(tmp_path).configs["gender_es"].counts
    assert list(ordered) == ["train", "validation", "test"]
    assert [list(split.items()) for split in ordered.values()] == [[("Masculine", 3), ("Feminine", 2)]] * 3
