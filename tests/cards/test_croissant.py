"""croissant.json is valid, offline, and describes files that are there."""

import json
import logging
import shutil
import socket

import pyarrow.parquet as pq
import pytest
import releases
from msgspec.structs import replace

from discoprobe.cards.metadata import manifest
from discoprobe.cards.metadata.croissant import croissant
from discoprobe.cards.readers import ReaderFigures

mlc = pytest.importorskip("mlcroissant", reason="mlcroissant is not installed")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # mlcroissant 1.1 uses what rdflib 7.6 deprecates


SHAPES = ("dc_es", "bso_de", "bigram_shift_es", "nsp_ru", "cloze_es", "subj_number_es")
"""A config of every shape: mlcroissant takes a quarter of a second for each."""


def few(folder):
    """The manifest of a release with a config of every shape."""
    whole = manifest.read(folder)
    return replace(whole, configs={name: whole.configs[name] for name in SHAPES})


@pytest.fixture(scope="module")
def dataset(sample_release, tmp_path_factory):
    logging.getLogger("absl").setLevel(logging.ERROR)
    path = tmp_path_factory.mktemp("croissant") / "croissant.json"
    folder = tmp_path_factory.mktemp("downloaded")  # the file of a language is in a folder of its own
    for name in SHAPES:
        shutil.copytree(sample_release / name, folder / name)
    texts = croissant(few(sample_release), repository="org/x", release="1.2.0", day="2026-11-22")
    path.write_text(texts.pop("croissant.json"), encoding="utf-8")
    assert texts == {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", refuse)
        return mlc.Dataset(str(path), mapping={"repository": str(folder)})


def refuse(*_):
    raise AssertionError("validation used the network")


def test_it_is_valid_without_network(dataset):
    found = dataset.metadata.ctx.issues
    assert not found.errors
    assert not found.warnings
    assert dataset.metadata.version == "1.2.0"
    assert dataset.metadata.date_published.isoformat().startswith("2026-11-22")


def test_every_config_is_a_record_set(dataset):
    assert {records.id for records in dataset.metadata.record_sets} == {f"{name}/rows" for name in SHAPES}


@pytest.mark.parametrize("config", SHAPES)
def test_records_are_the_rows(sample_release, dataset, config):
    records = list(dataset.records(f"{config}/rows"))
    for split in ("train", "validation", "test"):
        table = pq.read_table(next((sample_release / config).glob(f"{split}-*.parquet")))
        own = [record for record in records if record[f"{config}/rows/split"].decode() == split]
        assert [record[f"{config}/rows/id"].decode() for record in own] == table["id"].to_pylist()
        assert [int(record[f"{config}/rows/label"]) for record in own] == table["label"].to_pylist()


def test_labels_have_names(sample_release):
    described = json.loads(croissant(few(sample_release), repository="org/x")["croissant.json"])
    fields = {one["name"]: {field["name"]: field for field in one["field"]} for one in described["recordSet"]}
    assert fields["bso_de"]["label"]["description"] == "0 in_order, 1 swapped"


REQUIRED = {
    "rai:dataLimitations", "rai:dataBiases", "rai:dataUseCases", "rai:dataSocialImpact",
    "rai:personalSensitiveInformation", "rai:hasSyntheticData", "prov:wasDerivedFrom", "prov:wasGeneratedBy",
    "rai:dataCollection", "rai:dataAnnotationProtocol",
}  # fmt: skip
"""What NeurIPS 2026 asks for (limitations, biases, use, synthetic data, sources), with collection and annotation."""


def described(*configs):
    """The Croissant metadata of a release with these configs."""
    whole = manifest.empty()
    whole.configs = {one.name: manifest.config_entry(one, {}, {}, releases.report(one)) for one in configs}
    whole.sources = {source.name: manifest.source_entry(source) for one in configs for source in one.sources}
    return whole, lambda: json.loads(croissant(whole, repository="org/x")["croissant.json"])


def test_what_responsible_use_needs_is_there(dataset):
    _, made = described(releases.config())
    assert made().keys() >= REQUIRED
    assert made()["prov:wasDerivedFrom"] == ["https://github.com/org/treebank/tree/" + "c" * 40]
    assert made()["creator"] == {
        "@type": "sc:Organization",
        "name": "org",
        "url": "https://huggingface.co/datasets/org",
    }
    assert made()["conformsTo"][0] == "http://mlcommons.org/croissant/1.1"
    read = dataset.metadata
    assert all((read.data_limitations, read.data_biases, read.data_use_cases, read.data_collection, read.creators))
    assert read.ctx.conforms_to.value == "http://mlcommons.org/croissant/1.1"


def of_model(whole):
    whole.configs["bso_de"].silver_test = True
    whole.configs["bso_de"].silver = {"gold": 5, "silver": 19}


def read_by_people(whole):
    figures = ReaderFigures(
        2, 9, 0, {}, 9, 6, 0, [0.3, 0.9], {"answers": None, "verdicts": None}, edited=4, acceptable=3
    )
    whole.configs["bso_de"].readers = {"person": figures}


def annotated(whole):
    whole.sources["UD_de"].annotation = {"made_by": {"engine": "stanza", "software": {"stanza": "1.15.0"}}}


def restricted(whole):
    whole.sources["UD_de"].licence = "CC BY-NC 4.0"


def of_two_genres(whole):
    whole.sources["UD_de"].genre = ["news", "wiki"]


def not_public(whole):
    whole.sources["UD_de"].repo = whole.sources["UD_de"].commit = ""


def edited(whole):
    whole.configs["bso_de"].audit.edited = True


def smaller(whole):
    whole.configs["bso_de"].counts["test"] = {"in_order": 2, "swapped": 2}


def other_candidates(whole):
    whole.configs["bso_de"].drops = {"too short": 7}


CHANGES = {
    of_model: {"rai:dataUseCases", "rai:dataAnnotationProtocol", "rai:hasSyntheticData"},
    read_by_people: {"rai:dataAnnotationProtocol"},
    annotated: {"rai:dataAnnotationProtocol", "rai:machineAnnotationTools"},
    restricted: {"license", "rai:dataUseCases", "rai:dataCollection", "rai:dataCollectionRawData"},
    of_two_genres: {"rai:dataBiases"},
    not_public: {"rai:dataSocialImpact", "rai:dataCollection", "prov:wasDerivedFrom"},
    edited: {"rai:dataLimitations", "rai:hasSyntheticData"},
    smaller: {"rai:dataLimitations", "rai:dataCollection"},
    other_candidates: {"rai:dataCollection"},
}


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_each_field_says_something_else_where_the_data_differ(change):
    whole, made = described(releases.config())
    before = made()
    change(whole)
    after = made()
    differing = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
    differing -= {"recordSet"}
    assert differing == CHANGES[change]


def test_the_order_of_configs_changes_nothing():
    """A push puts published configs and its own together in another order than a build."""
    one, other = releases.config(), releases.config(lang="es")
    whole, made = described(one, other)
    for entry, drops in zip(whole.configs.values(), ({"b": 1, "a": 1}, {"d": 1, "c": 1}), strict=True):
        entry.drops = drops
    before = made()
    whole.configs = dict(reversed(whole.configs.items()))
    whole.sources = dict(reversed(whole.sources.items()))
    assert made() == before


def test_readers_say_how_many_edits_are_acceptable():
    whole, made = described(releases.config())
    read_by_people(whole)
    edited(whole)
    assert "readers accepted 3 of the 4 edits that they saw" in " ".join(made()["rai:dataLimitations"])


def test_a_language_is_described_by_its_own_data(sample_release):
    whole = many(sample_release, 300)
    for entry in whole.configs.values():
        entry.sources = [f"sample-{entry.lang}"]
    whole.sources["sample-de"].genre = ["news"]
    parts = {path: json.loads(text) for path, text in croissant(whole, repository="org/x").items()}
    assert "Genres of the corpus: news 1." in parts["croissant/de.json"]["rai:dataBiases"]
    assert "news" not in str(parts["croissant/es.json"]["rai:dataBiases"])
    fields = ("rai:dataLimitations", "rai:dataCollection", "rai:dataCollectionRawData")
    for field in fields:
        assert len({str(part[field]) for part in parts.values()}) == 4, field


def many(folder, n):
    whole = few(folder)
    entries = list(whole.configs.values())
    langs = ("de", "es", "ru")
    whole.configs = {
        f"t{number}_{langs[number % 3]}": replace(entries[number % len(entries)], lang=langs[number % 3])
        for number in range(n)
    }
    return whole


def test_a_large_release_has_a_file_per_language(sample_release):
    texts = croissant(many(sample_release, 1_500), repository="org/x", release="1.2.0", day="2026-11-22")
    assert set(texts) == {"croissant.json", "croissant/de.json", "croissant/es.json", "croissant/ru.json"}
    assert len(texts["croissant.json"]) < 8_000
    assert all(len(text) / 500 < 4_500 for path, text in texts.items() if "/" in path), "bytes per config"
    later = croissant(many(sample_release, 1_501), repository="org/x", release="1.3.0", day="2026-11-23")
    assert {path for path in texts if texts[path] != later[path]} == {"croissant.json", "croissant/de.json"}
