import shutil

import pytest
import requests
from huggingface_hub.errors import LocalEntryNotFoundError
from shared import STANZA, needs_stanza, needs_stanza_without_models

from discoprobe.loaders import DiscoprobeError, RemoteError, UnknownNameError, UnsupportedError
from discoprobe.loaders.raw import download_models, find_models, read_processors


def folder_of(tmp_path):
    shutil.copytree(STANZA / "es", tmp_path / "es", copy_function=shutil.copyfile)
    shutil.copyfile(STANZA / "resources.json", tmp_path / "resources.json")
    return tmp_path


@needs_stanza
def test_packages_and_files_are_found_without_importing_stanza():
    found = find_models("es", STANZA)
    assert dict(found.packages) == dict.fromkeys(("tokenize", "mwt", "pos", "lemma", "depparse"), "gsdtiny")
    assert len(found.files) == 5
    assert [name for name, _ in find_models("ru", STANZA).packages] == ["tokenize", "pos", "lemma", "depparse"]


@needs_stanza_without_models
def test_a_folder_without_models_is_named_with_the_command(tmp_path):
    with pytest.raises(
        UnsupportedError, match=r"no Stanza models with resources\.json in .*stanza\.download\('de', model_dir='.*'"
    ):
        find_models("de", tmp_path)


@needs_stanza
def test_a_language_that_is_not_in_the_folder(tmp_path):
    with pytest.raises(
        UnsupportedError, match=r"no Stanza model of 'fi' \(only of de, en, es, ru\) in .*stanza\.download\('fi'"
    ):
        find_models("fi", STANZA)


@needs_stanza
def test_a_language_that_stanza_does_not_have():
    with pytest.raises(UnsupportedError, match=r"no Stanza model of 'rm' \(only of .*--segment"):
        find_models("rm", STANZA)


@needs_stanza
def test_a_file_that_is_not_there(tmp_path):
    folder = folder_of(tmp_path)
    (folder / "es" / "pos" / "gsdtiny.pt").unlink()
    with pytest.raises(UnsupportedError, match=r"no Stanza model es/pos/gsdtiny\.pt in .*download"):
        find_models("es", folder)


@needs_stanza
def test_a_damaged_file_is_found_before_it_is_loaded(tmp_path):
    folder = folder_of(tmp_path)
    path = folder / "es" / "pos" / "gsdtiny.pt"
    path.write_bytes(path.read_bytes()[:-1000])
    with pytest.raises(DiscoprobeError, match=r"gsdtiny\.pt is damaged \(MD5 .*delete it and download"):
        find_models("es", folder)


@needs_stanza_without_models
@pytest.mark.parametrize("text", ["{", "[]"])
def test_damaged_resources(tmp_path, text):
    (tmp_path / "resources.json").write_text(text)
    with pytest.raises(DiscoprobeError, match=r"resources\.json is damaged"):
        find_models("es", tmp_path)


def test_processors_are_those_named_and_those_that_they_need():
    default = dict.fromkeys(("tokenize", "pos", "lemma", "depparse"), "default")
    assert read_processors([]) == read_processors(["depparse"]) == read_processors(["depparse", "pos"]) == default
    assert read_processors([" pos=hdt "]) == {"tokenize": "default", "pos": "hdt"}
    assert read_processors(["lemma", "pos=hdt"]) == {"tokenize": "default", "pos": "hdt", "lemma": "default"}
    assert read_processors(["mwt=gsd"]) == {"tokenize": "default", "mwt": "gsd"}
    with pytest.raises(UnknownNameError, match="unknown processor 'ner'"):
        read_processors(["tokenize", "ner"])


@needs_stanza
def test_a_package_that_is_not_there():
    with pytest.raises(UnsupportedError, match=r"package pos=hdt of 'de' .*, which lists pos=\w+.*--download"):
        find_models("de", STANZA, ("tokenize", "pos=hdt"))
    with pytest.raises(UnsupportedError, match=r"mwt=default of 'ru' .* lists tokenize, pos, lemma, depparse;"):
        find_models("ru", STANZA, ("mwt",))


@needs_stanza_without_models
@pytest.mark.parametrize("error", [requests.ConnectionError, LocalEntryNotFoundError, ConnectionError])
def test_a_download_that_fails_is_said_in_one_line(tmp_path, monkeypatch, error):
    """Stanza asks for its list of models with `requests`, and for models with the client of the Hub."""

    def fail(*_args, **_options):
        raise error("no way\nto the host")

    monkeypatch.setattr("stanza.download", fail)
    with pytest.raises(RemoteError, match=r"models of de cannot be downloaded \(.*: no way\); check .* --stanza-dir$"):
        download_models("de", tmp_path)


@needs_stanza_without_models
def test_models_of_the_wrong_form_are_named(tmp_path):
    (tmp_path / "resources.json").write_text("[1]")
    with pytest.raises(DiscoprobeError, match=r"resources\.json is damaged .*delete it and download"):
        find_models("de", tmp_path)
