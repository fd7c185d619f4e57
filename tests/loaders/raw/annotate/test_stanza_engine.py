import importlib.metadata
import json
import shutil
from collections import Counter

import pytest
from shared import STANZA, needs_stanza

from discoprobe.loaders import DiscoprobeError, UnsupportedError
from discoprobe.loaders.raw import AnnotationOptions, RuleEngine, choose_engine


@needs_stanza
@pytest.mark.parametrize("processor", ["tokenize", "mwt", "pos", "lemma", "depparse"])
@pytest.mark.parametrize("content", ["no model", "cut", ""])
def test_a_file_that_is_no_model_and_has_no_hash_is_said_in_one_line(tmp_path, capfd, processor, content):
    shutil.copytree(STANZA / "es", tmp_path / "es", copy_function=shutil.copyfile)
    resources = json.loads((STANZA / "resources.json").read_text())
    del resources["es"][processor]["gsdtiny"]["md5"]
    (tmp_path / "resources.json").write_text(json.dumps(resources))
    path = tmp_path / "es" / processor / "gsdtiny.pt"
    path.write_bytes(path.read_bytes()[:5000] if content == "cut" else content.encode())
    with pytest.raises(DiscoprobeError, match=r"/es is damaged \(\w+(: |\))"):
        choose_engine("es", AnnotationOptions(stanza_dir=tmp_path)).annotate([], Counter())
    assert capfd.readouterr() == ("", "")


def test_rules_segment_where_no_model_is(tmp_path, monkeypatch):
    monkeypatch.setenv("STANZA_RESOURCES_DIR", str(tmp_path))
    assert choose_engine("de", AnnotationOptions(segment=True)) == RuleEngine("de")
    with pytest.raises(UnsupportedError, match="written without spaces"):
        choose_engine("zh", AnnotationOptions(segment=True))


@needs_stanza
@pytest.mark.parametrize("options", [{}, {"segment": True}, {"segment": True, "rules": True}])
def test_an_engine_names_the_versions_of_all_that_finds_sentences(options):
    software = choose_engine("es", AnnotationOptions(stanza_dir=STANZA, **options)).identity["software"]
    wanted = {"regex", "sentencex"} if "rules" in options else {"regex", "sentencex", "stanza", "torch"}
    assert software == {name: importlib.metadata.version(name) for name in wanted}
