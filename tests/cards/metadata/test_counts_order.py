"""Counts of a manifest that was read: in the order of a build, with the labels that the config uses."""

import json

from card_cases import config

from discoprobe.builders import Shape
from discoprobe.cards.metadata import config_entry, manifest


def test_counts_of_a_config_that_uses_a_part_of_the_labels_of_its_task(tmp_path):
    used = {"Feminine": 2, "Masculine": 3}
    made = config(Shape.SENTENCE, ("Masculine", "Feminine", "Neuter"), [{"text": "x"}] * 2, name="gender_es")
    entry = config_entry(made, {}, {}) | {
        "task": "gender", "lang": "es", "files": {}, "labels": ["Masculine", "Feminine", "Neuter"],
        "counts": dict.fromkeys(("test", "train", "validation"), used),
    }  # fmt: skip
    (tmp_path / manifest.NAME).write_text(json.dumps(manifest.empty() | {"configs": {"gender_es": entry}}))
    ordered = manifest.read(tmp_path)["configs"]["gender_es"]["counts"]
    assert list(ordered) == ["train", "validation", "test"]
    assert [list(split.items()) for split in ordered.values()] == [[("Masculine", 3), ("Feminine", 2)]] * 3
