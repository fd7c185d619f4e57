"""The script that measures annotation quality counts labels of every task that it names."""

import importlib.util
import sys
import tomllib
from pathlib import Path

import discoprobe.loaders

ROOT = Path(__file__).resolve().parents[3]
SAMPLE = Path(discoprobe.loaders.__file__).parent / "sample"


def measured(treebanks, tmp_path):
    """What the script measures of segmentation."""
    spec = importlib.util.spec_from_file_location("gold_labels", ROOT / "scripts" / "gold_labels.py")
    script = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = script
    spec.loader.exec_module(script)
    out = tmp_path / "agreement.toml"
    assert script.main([*map(str, treebanks), "--lang", "es", "--segment", "--out", str(out)]) == 0
    (entry,) = tomllib.loads(out.read_text(encoding="utf-8"))["measured"]
    return entry


def test_lengths_of_sentences_are_compared(tmp_path):
    """Their ranges depend on the corpus in a config, so that no candidate had a label."""
    entry = measured(SAMPLE.glob("es_*.conllu"), tmp_path)
    assert entry["sent_len"]["both"] > 0.5 * entry["sentences"]["same"] > 0
    assert entry["sent_len"]["agree"] > 0.8 * entry["sent_len"]["both"]


def test_blanked_words_are_not_compared(tmp_path):
    """A treebank whose words are underscores, as licences demand, is none of those measured."""
    (treebank,) = SAMPLE.glob("es_*.conllu")
    blanked = tmp_path / "blanked" / "es_blanked-ud-test.conllu"
    blanked.parent.mkdir()
    lines = [
        line if line.startswith("#") or not line else "\t".join([line.split("\t")[0], "__", *line.split("\t")[2:]])
        for line in treebank.read_text(encoding="utf-8").splitlines()
        if not line.startswith("# text")
    ]
    blanked.write_text("\n".join([*lines, "", ""]), encoding="utf-8")
    (tmp_path / "both").mkdir()
    (tmp_path / "alone").mkdir()
    without = measured([treebank], tmp_path / "alone")
    assert measured([treebank, blanked], tmp_path / "both") == without
