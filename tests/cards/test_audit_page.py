"""`build audit --html` writes one page that loads nothing and shows the rows of each finding."""

import json
import re

from typer.testing import CliRunner

from discoprobe.cli import app

WORDS = ("river", "stone", "quiet", "old", "window", "slowly", "walked", "home", "after", "rain", "while", "nobody")


def test_one_page(tmp_path):
    rows = [{"text": " ".join([*WORDS[at % 5 :], f"number{at}"]), "label": at % 2} for at in range(40)]
    twice = {"text": "<script>alert(1)</script> in a sentence of more words than six", "label": 1}
    for split, part in (("train", [*rows[:20], twice]), ("test", [*rows[20:], twice])):
        (tmp_path / f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in part))
    (tmp_path / "other.jsonl").write_text("broken\n")
    page = tmp_path / "page.html"
    done = CliRunner().invoke(app, ["audit", str(tmp_path), "--html", str(page)])
    assert done.exception.exit_status == 3
    text = page.read_text()
    assert "<script" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt; in a sentence" in text
    assert not re.findall(r"""(?:src|href)=|url\(|@import""", text)
    assert "other.jsonl:1: not a JSON object" in text
    assert re.search(r'dup-across.*?class="above">above, serious', text, re.DOTALL)
    assert "test · test:20 · label 1" in text


def test_what_is_printed_fits_eighty_columns(tmp_path):
    rows = [
        {"text": " ".join([*WORDS[at % 5 :], f"number{at}"]), "label": f"a rather long name of a label {at % 2}"}
        for at in range(60)
    ]
    for name in ("train", "test"):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for paths in ([str(tmp_path)], [str(tmp_path / "train.jsonl")]):
        done = CliRunner().invoke(app, ["audit", *paths])
        assert max(map(len, done.stdout.splitlines())) <= 80, done.stdout
        assert "train" in done.stdout
