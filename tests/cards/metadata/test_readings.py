"""Readings of other builds: one file of data, from which cards and the record of readings are made."""

from types import SimpleNamespace

import pytest
from card_cases import config
from msgspec.structs import replace

from discoprobe.builders import Shape
from discoprobe.builders.task import GONE, all_tasks
from discoprobe.cards.metadata import manifest
from discoprobe.cards.metadata.readings import recorded
from discoprobe.cards.text.card import release_card, with_readers
from discoprobe.loaders.catalogue.treebanks import language_name

FOREIGN = {"winograd_suite"}
"""Suites of others that are read, not built."""


def section(task, lang):
    entry = SimpleNamespace(task=task, lang=lang, readers={}, audit=None)
    return with_readers("# x\n\n## Sources\n", entry).partition("## Sources")[0]


@pytest.mark.parametrize("reading", recorded().readings, ids=lambda reading: f"{reading.round}-{reading.tasks[0]}")
def test_a_reading_counts_rows_of_tasks_and_languages_that_there_are(reading):
    assert reading.round in recorded().rounds
    assert set(reading.tasks) <= all_tasks().keys() | GONE.keys() | FOREIGN
    assert all(language_name(lang) != lang for lang in reading.langs)
    assert reading.read > 0
    assert (reading.agreed or 0) + (reading.wrong or 0) <= reading.read
    assert reading.interval is None or reading.interval[0] <= reading.agreed / reading.read <= reading.interval[1]


def test_a_card_has_the_readings_of_its_own_task_and_language():
    text = section("same_entity", "hu")
    assert "Not read: nobody has read rows of this config, neither a person nor a model.\n" in text
    assert "Rows of `same_entity` in Hungarian of other builds were read while the task was made, by a model:" in text
    (row,) = [line for line in text.splitlines() if line.startswith("| 2026-")]
    assert row == "| 2026-11-28 | hidden |  | 40 | 37 | 0.925 | 0.796–0.984 | 0 |"


def test_rows_that_were_counted_together_with_others_say_so():
    (row,) = [line for line in section("ssp", "pt").splitlines() if line.startswith("| 2026-")]
    assert "| together with de, en, es, ru | 62 | 46 |" in row
    assert "together with `dc_easy`, `cloze`, ca, en" in section("dc", "nl")


def test_an_earlier_construction_is_named():
    text = section("antecedent_suite", "fr")
    assert "by pronoun; 5 told by agreement; earlier construction | 20 | 19 | 0.950 |" in text


def test_what_nobody_has_read_says_so_for_its_language():
    text = section("same_entity", "vi")
    assert text == (
        "# x\n\n## Readers\n\nNot read: nobody has read rows of this config, neither a person nor a model.\n"
        "Nor are there readings of `same_entity` in Vietnamese from the time when the task was made.\n\n"
    )


def test_a_release_names_the_languages_in_which_nobody_has_read_a_row():
    one = config(Shape.SEQUENCE, ("a", "b"), [{"sentences": ["x"]}] * 2)
    entry, whole = manifest.config_entry(one, {}, {}), manifest.empty()
    whole.configs = {f"dc_{lang}": replace(entry, task="dc", lang=lang) for lang in ("nl", "hu", "vi")}
    whole.sources = {source.name: manifest.source_entry(source) for source in one.sources}
    text, _ = release_card(whole)
    assert "\nOf 1 of the 3 configs, rows of the same task and language were read in other builds; " in text
    assert "\nNobody has ever read a row in: Vietnamese.\n" in text, "rows of another task in Hungarian were read"
