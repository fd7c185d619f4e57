"""The rows that absent files are expected to give: of treebanks whose rows grow in a known way."""

import importlib.util
import re
import sys
from pathlib import Path

import msgspec
import pytest
from shared import SAMPLE_LANGUAGES, sample_file

from discoprobe.loaders.catalogue import treebanks

SCRIPT = Path(__file__).parents[1] / "scripts" / "absent_files.py"
COLUMNS = re.compile(r" *[│┃] *")


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("absent_files", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules["absent_files"] = module
    spec.loader.exec_module(module)
    return module


def of_bank(n, exponent, *, absent=0, scale=1.0):
    """A treebank of ``n`` sentences at hand, of which one file has half, and what an exponent gives of two tasks."""

    def build(sentences):
        rows = {
            task: {"train": round(share * scale * sentences**exponent)}
            for task, share in {"bso": 2, "sent_len": 5}.items()
        }
        return {"files": ["a"], "sentences": sentences, "rows": rows}

    names = ["x-ud-train.conllu"] if absent else []
    return {
        "lang": "es", "sentences": n + absent, "absent": names, "whole": build(n), "parts": [build(n // 2)],
    }  # fmt: skip


def tables(script, yields, tmp_path, capsys):
    path = tmp_path / "yields.json"
    path.write_bytes(msgspec.json.encode(yields))
    script.predict(path)
    lines = [COLUMNS.split(line.strip(" │┃")) for line in capsys.readouterr().out.splitlines()]
    return {line[0]: line[1:] for line in lines if len(line) > 2}


def test_linear_yields_are_predicted_exactly(script, tmp_path, capsys):
    yields = {f"UD_{n}": of_bank(n, 1) for n in range(1000, 2000, 100)} | {"UD_Absent": of_bank(600, 1, absent=1800)}
    found = tables(script, yields, tmp_path, capsys)
    for family in ("discourse", "probing", "all tasks"):
        assert found[family] == ["11", "11", "1.00", "1.00 to 1.00", "1.00", "0.00"]
    assert found["UD_Absent"][:5] == ["2,400", "600", "4,200", "16,800", "16,800 to 16,800"]
    assert found["1 treebanks"] == found["UD_Absent"]


def test_the_interval_is_as_wide_as_treebanks_differ(script, tmp_path, capsys):
    exponents = [0.8, 0.9, 0.95, 1, 1, 1, 1.05, 1.1, 1.2]
    yields = {f"UD_{n}": of_bank(1000, exponent) for n, exponent in enumerate(exponents)}
    absent = {"UD_Absent": of_bank(1000, 1, absent=3000), "UD_Empty": of_bank(1000, 1, absent=9, scale=0.0001)}
    found = tables(script, yields | absent, tmp_path, capsys)
    assert (found["UD_Empty"][2], found["UD_Empty"][4]) == ("0", "0 to 0")
    assert found["2 treebanks"][2:] == found["UD_Absent"][2:]
    low, high = (int(number.replace(",", "")) for number in found["UD_Absent"][4].split(" to "))
    rows = int(found["UD_Absent"][2].replace(",", ""))
    assert found["UD_Absent"][3] == "28,000"
    assert 4**0.8 < low / rows < 4**0.9 < 4**1.1 < high / rows < 4**1.2
    assert found["probing"][4] == "0.80", "the two ends are outside the interval of the others"


def test_a_treebank_that_nothing_is_absent_of_is_not_predicted(script, tmp_path, capsys):
    yields = {f"UD_{n}": of_bank(n, 1) for n in (1000, 2000)} | {"UD_Absent": of_bank(600, 1, absent=60)}
    assert {"UD_1000", "UD_2000"}.isdisjoint(tables(script, yields, tmp_path, capsys))


def test_files_are_counted_built_and_left_out(script, tmp_path, monkeypatch):
    lang = SAMPLE_LANGUAGES[0]
    text = sample_file(lang).read_text(encoding="utf-8")
    blocks = text.strip().split("\n\n")
    half = len(blocks) // 2
    bank = next(bank for bank in treebanks.language(lang).treebanks if len(bank.files) == 3)
    folder = tmp_path / bank.name
    folder.mkdir()
    there = [file.name for file in bank.files if "-ud-train" not in file.name]
    for name, part in zip(there, (blocks[:half], blocks[half:]), strict=True):
        (folder / name).write_text("\n\n".join(part) + "\n\n", encoding="utf-8")
    (folder / "stats.xml").write_text("<train><sentences>70</sentences></train>", encoding="utf-8")
    script.measure(tmp_path, tmp_path / "out.json", most=12)
    found = msgspec.json.decode((tmp_path / "out.json").read_bytes(), type=dict[str, script.Yield])
    assert list(found) == [bank.name]
    made = found[bank.name]
    assert (made.sentences, made.whole.sentences) == (len(blocks) + 70, len(blocks))
    assert sorted(build.sentences for build in made.parts) == sorted([half, len(blocks) - half])
    assert made.absent == [file.name for file in bank.files if "-ud-train" in file.name]
    assert made.whole.rows["sent_len"].keys() == {"train", "validation", "test"}
