"""`build audit --html` writes one page that loads nothing and shows the rows of each finding."""

import json
import random
import re
import subprocess
import sys

import pytest
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


def test_the_page_is_there_whoever_reads_what_is_printed(tmp_path):
    """``build audit … --html page.html | head -1`` ends the command at its first lines."""
    rows = [{"text": " ".join([*WORDS[at % 5 :], f"number{at}"]), "label": at % 2} for at in range(40)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    page = tmp_path / "page.html"
    command = [sys.executable, "-m", "discoprobe", "audit", str(tmp_path / "rows.jsonl"), "--html", str(page)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        process.stdout.close()  # nobody reads anything
    assert "rows" in page.read_text()


@pytest.mark.parametrize(("copies", "status"), [(1, 0), (60, 3)])
def test_minor_faults_only_are_said_and_are_no_error(copies, status, tmp_path):
    source = random.Random(5)
    vocabulary = [f"{source.choice(WORDS)}{number}" for number in range(400)]
    rows = [
        {"text": " ".join(source.choices(vocabulary, k=source.randint(8, 14))), "label": source.choice("ab")}
        for _ in range(400)
    ]
    repeated = {row["text"]: row for row in rows[:copies]}
    (tmp_path / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in [*rows, *repeated.values()]))
    done = CliRunner().invoke(app, ["audit", str(tmp_path)])
    assert getattr(done.exception, "exit_status", 0) == status
    assert ("minor faults only" in done.stderr) is (status == 0)
    assert f"{2 * copies} rows (of {400 + copies}) whose input occurs more than once" in " ".join(done.stdout.split())


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


def _files(folder):
    """A set of which test repeats two rows of train and one class has a word of its own, and a set without a fault."""
    source = random.Random(3)
    vocabulary = [f"{word}{number}" for word in WORDS for number in range(60)]
    rows = [
        {"text": " ".join(source.choices(vocabulary, k=12)), "label": at % 2} for at in source.sample(range(400), 400)
    ]
    (folder / "clean.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    marked = [row | {"text": f"{row['text']}{(',', '')[row['label']]} so it is"} for row in rows]
    (folder / "faulty_train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in marked[:280]))
    (folder / "faulty_test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in [*marked[280:], *marked[:2]]))


def test_the_page_is_in_the_order_of_seriousness_and_has_a_plot(tmp_path):
    _files(tmp_path)
    page = tmp_path / "page.html"
    done = CliRunner().invoke(app, ["audit", str(tmp_path), "--html", str(page)])
    assert done.exception.exit_status == 3
    text = page.read_text()
    assert re.findall(r"<h2>(\w+): (\w+)", text) == [("faulty", "above"), ("clean", "open")]
    assert text.count("<svg ") == 2
    assert text.count("accuracy of shortcuts, 95 % interval") == 2
    for section in text.split("<h2>")[1:3]:
        checks = section[section.index("<th>check</th>") :]
        statuses = re.findall(r'<td class="(above|open|noted|exempt|below)">', checks)
        order = ["above", "open", "noted", "exempt", "below"]
        assert statuses == sorted(statuses, key=order.index)
    checks = re.findall(r"<td>([\w-]+)<br>", text.split("<h2>")[1])
    assert checks.index("punctuation") < checks.index("dup-across"), "two repeated rows cost less"
    assert checks.index("dup-across") < checks.index("clean-text"), "what is below comes last"


def test_a_repeated_row_is_shown_with_its_twin(tmp_path):
    _files(tmp_path)
    page = tmp_path / "page.html"
    CliRunner().invoke(app, ["audit", str(tmp_path), "--html", str(page)])
    shown = r"<small>{} · label (\d)</small><br>([^<]+)"
    both = f"<blockquote>{shown.format('test · test:120')}<br>{shown.format('twin: train · train:0')}</blockquote>"
    twin = re.search(both, page.read_text())
    assert twin
    assert (twin[1], twin[2]) == (twin[3], twin[4])


def test_a_closed_pipe_is_no_error(tmp_path):
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps({"text": word, "label": 0}) + "\n" for word in WORDS))
    command = [sys.executable, "-m", "discoprobe", "audit", str(tmp_path / "rows.jsonl"), "--text", "text"]
    for extra in ([], ["--json"], ["--rows", "dup-within"]):
        with subprocess.Popen([*command, *extra], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            process.stdout.close()
            assert b"Traceback" not in (said := process.stderr.read())
            assert b"Errno" not in said
            assert b"pipe" not in said.lower()
