"""What a corpus is known by: the content of its files, not their names."""

import shutil

import pytest
from shared import sample_file

from discoprobe.loaders import DiscoprobeError
from discoprobe.sources import load_corpus


def test_the_sample_is_known_by_its_content():
    (source,) = load_corpus("es", ["sample"]).sources
    assert (source.name, source.licence) == ("sample-es", "CC0 1.0")


@pytest.mark.parametrize("name", ["es_gsd-ud-train.conllu", "es_sample-ud-test.conllu"])
def test_a_file_with_the_name_of_a_treebank_and_other_content_is_the_user_s_text(tmp_path, name):
    text = sample_file("es").read_text(encoding="utf-8")
    (tmp_path / name).write_text(text.replace("# newdoc", "# mine = yes\n# newdoc", 1), encoding="utf-8")
    (source,) = load_corpus("es", [str(tmp_path / name)]).sources
    assert (source.licence, source.repo, source.commit, source.citation) == ("unknown", "", "", "")


def test_corpora_are_read_by_url_as_by_path(tmp_path):
    (tmp_path / "bank").mkdir()
    shutil.copy(sample_file("es"), tmp_path / "bank" / "es_x-ud-test.conllu")
    by_path = load_corpus("es", [str(tmp_path / "bank" / "es_x-ud-test.conllu")])
    by_url = load_corpus("es", [f"file://{tmp_path}/bank/es_x-ud-test.conllu"])
    assert by_url.counts == by_path.counts
    assert by_url.parts[0].load().sentences["text"].equals(by_path.parts[0].load().sentences["text"])
    with pytest.raises(DiscoprobeError, match=r"file:///nowhere/x\.conllu: no such file or folder there"):
        load_corpus("es", ["file:///nowhere/x.conllu"])
