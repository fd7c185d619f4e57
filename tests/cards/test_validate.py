"""Our cards have nothing that the Hub would refuse or misread; what the metadata are made of."""

import copy
import json
import re

import msgspec
import pytest
import releases
import yaml
from card_rules import card_problems

from discoprobe.cards.metadata import manifest, source_entry, yaml_header
from discoprobe.cards.metadata import yaml_header as vocabulary
from discoprobe.cards.release import MOST_BYTES
from discoprobe.loaders import DiscoprobeError, Source

SPLITS = ("train", "validation", "test")
GOOD = {
    "pretty_name": "x", "language": ["es", "hsb"], "license": "cc-by-4.0", "multilinguality": ["multilingual"],
    "size_categories": ["1K<n<10K"], "source_datasets": ["original", "extended|universal_dependencies"],
    "annotations_creators": ["expert-generated"], "task_categories": ["text-classification"], "tags": ["probing"],
    "configs": [
        {
            "config_name": name,
            "data_files": [{"split": split, "path": f"{name}/{split}-*"} for split in SPLITS],
        } | ({"default": True} if name == "dc_es" else {})
        for name in ("bso_es", "dc_es")
    ],
}  # fmt: skip
FILES = [f"{name}/{split}-00000-of-00001.parquet" for name in ("bso_es", "dc_es") for split in SPLITS]


def as_card(data):
    return f"---\n{yaml.safe_dump(data, sort_keys=False)}---\n# Card\n"


def found(change):
    data = copy.deepcopy(GOOD)
    change(data)
    return card_problems(as_card(data), FILES)


def test_a_good_card_passes():
    assert card_problems(as_card(GOOD), FILES) == []


def first_config(**values):
    return lambda data: data["configs"][0].update(values)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data.update(license="cc-by-sa-2.0"), "`license` has 'cc-by-sa-2.0'"),
        (lambda data: data.update(license=["mit", "CC-BY-4.0"]), "`license` has 'CC-BY-4.0'"),
        (lambda data: data.update(license="other", license_link="L"), "`license_name` is needed"),
        (lambda data: data.update(license="other", license_name="l"), "`license_link` is needed"),
        (lambda data: data.update(language=["es", "spa"]), "`language` has 'spa'"),
        (lambda data: data.update(language=["sme"]), "`language` has 'sme'"),
        (lambda data: data.update(language=["qhe"]), "`language` has 'qhe'"),
        (lambda data: data.update(language=[False]), "`language` has False"),
        (lambda data: data.update(size_categories=["1k<n<10k"]), "`size_categories`"),
        (lambda data: data.update(multilinguality="both"), "`multilinguality` has 'both'"),
        (lambda data: data.update(annotations_creators=["experts"]), "`annotations_creators` has 'experts'"),
        (lambda data: data.update(task_categories=["probing"]), "`task_categories` has 'probing'"),
        (lambda data: data.update(source_datasets=["UD treebanks"]), "`source_datasets`"),
        (lambda data: data.pop("pretty_name"), "`pretty_name` is missing"),
        (lambda data: data.update(configs=[]), "`configs` is missing or empty"),
        (first_config(config_name="dc_es"), "config dc_es is listed 2 times"),
        (first_config(default=True), "2 configs are the default"),
        (lambda data: data["configs"][1].pop("default"), "0 configs are the default"),
        (first_config(config_name="data"), "has a meaning of its own"),
        (first_config(features=[]), "unknown key `features`"),
        (lambda data: data["configs"][0]["data_files"].pop(), "its splits are ['train', 'validation']"),
        (
            lambda data: data["configs"][0]["data_files"][0].update(path="bso_es/training-*"),
            "no file of the release",
        ),
        (lambda data: data["configs"][0]["data_files"][0].update(path="**/train-*"), "no file of the release"),
        (lambda data: data.update(tags=["x" * MOST_BYTES]), "its YAML has"),
    ],
)
def test_each_fault_is_named(change, message):
    assert len(found(change)) == 1
    assert message in found(change)[0]


def test_a_release_passes_and_a_lost_file_does_not(sample_release, tmp_path):
    assert releases.problems(sample_release) == []
    (tmp_path / "README.md").write_text((sample_release / "README.md").read_text(encoding="utf-8"), encoding="utf-8")
    found = releases.problems(tmp_path)
    assert len(found) > 1
    assert all(": no file of the release is " in problem for problem in found)


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        ("CC BY-SA 4.0", ("cc-by-sa-4.0",)),
        ("CC BY-SA 2.5", ("other",)),
        ("CC BY-SA", ("other",)),
        ("LGPL-LR", ("lgpl-lr",)),
        ("GNU GPL 3.0", ("gpl-3.0",)),
        ("public domain", ("other",)),
        ("whatever", ("unknown",)),
        ("CC BY 4.0 and CC BY-SA 3.0", ("cc-by-4.0", "cc-by-sa-3.0")),
    ],
)
def test_licences_in_the_hub_s_words(name, ids):
    assert vocabulary.hub_licences(name) == ids
    assert set(ids) <= set(vocabulary.closed_lists()["license"])


@pytest.mark.parametrize(
    ("code", "iso"), [("es", "es"), ("sme", "se"), ("no", "no"), ("hsb", "hsb"), ("qhe", "mis"), ("lzh", "lzh")]
)
def test_language_codes(code, iso):
    assert vocabulary.language_code(code) == iso
    assert vocabulary.is_language(iso)


def test_every_language_of_the_catalogue_has_a_code_that_the_hub_knows():
    from discoprobe.loaders.catalogue import treebanks

    codes = {language.code for language in treebanks.languages(every=True)}
    assert {code for code in codes if not vocabulary.is_language(vocabulary.language_code(code))} == set()


@pytest.mark.parametrize(
    ("rows", "name"), [(0, "n<1K"), (999, "n<1K"), (1000, "1K<n<10K"), (10**6, "1M<n<10M"), (10**13, "n>1T")]
)
def test_size_categories(rows, name):
    assert vocabulary.size_category(rows) == name


def with_licences(*names):
    made = manifest.empty()
    for number, name in enumerate(names):
        made.sources[f"s{number}"] = source_entry(Source(f"s{number}", "es", licence=name))
    return yaml_header.data(made)


def test_a_licence_that_the_hub_does_not_list_is_named():
    assert with_licences("CC BY 4.0")["license"] == "cc-by-4.0"
    assert with_licences("CC BY 4.0", "CC BY-SA 4.0")["license"] == ["cc-by-4.0", "cc-by-sa-4.0"]
    one = with_licences("CC BY-SA 2.5", "CC BY 4.0")
    assert (one["license"], one["license_name"]) == (["cc-by-4.0", "other"], "cc-by-sa-2.5")
    assert with_licences("CC BY-SA 2.5", "PD")["license_name"] == "see-attribution"
    assert re.fullmatch(r"[a-z0-9.-]+", with_licences("CC BY-SA 2.5")["license_name"])


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"configs": 3}, "Expected `object`, got `int` - at `$.configs`"),
        ({"configs": {"so_de": {"a": 1}}}, "Object missing required field"),
        ({"sources": {"x": [1]}}, "Expected `object`, got `array` - at `$.sources[...]`"),
        ({"files": {"a": {"bytes": "1", "sha256": ""}}}, "Expected `int | null`, got `str`"),
        ({"files": {"a": {"bytes": 1}}}, "the file 'a' has no sha256"),
        ({"files": {"a": {"sha256": "0"}}}, "the file 'a' has no bytes"),
    ],
)
def test_a_manifest_of_another_program_is_one_line(tmp_path, change, named):
    (tmp_path / manifest.NAME).write_text(json.dumps(msgspec.to_builtins(manifest.empty()) | change), encoding="utf-8")
    with pytest.raises(DiscoprobeError) as raised:
        manifest.read(tmp_path)
    assert named in str(raised.value)
    assert str(raised.value).endswith("; restore it or build into another folder")
    assert "\n" not in str(raised.value)
