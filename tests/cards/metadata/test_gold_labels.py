"""The script that measures annotation quality counts labels of every task that it names."""

import importlib.util
import sys
import tomllib
from pathlib import Path

import discoprobe.loaders

ROOT = Path(__file__).resolve().parents[3]
SAMPLE = Path(discoprobe.loaders.__file__).parent / "sample"


def test_lengths_of_sentences_are_compared(tmp_path):
    """Their ranges depend on the corpus in a config, so that no candidate had a label."""
    spec = importlib.util.spec_from_file_location("gold_labels", ROOT / "scripts" / "gold_labels.py")
    script = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = script
    spec.loader.exec_module(script)
    out = tmp_path / "agreement.toml"
    (treebank,) = SAMPLE.glob("es_*.conllu")
    assert script.main([str(treebank), "--lang", "es", "--segment", "--out", str(out)]) == 0
    (measured,) = tomllib.loads(out.read_text(encoding="utf-8"))["measured"]
    assert measured["sent_len"]["both"] > 0.5 * measured["sentences"]["same"] > 0
    assert measured["sent_len"]["agree"] > 0.8 * measured["sent_len"]["both"]
