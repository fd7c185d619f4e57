"""Command lines as users of `datasets`, `hf`, git and pandas type them, with exit status and message.

They are in command_lines.tsv: each line is run in this process, in a folder with a few files, and must end
as the table says. `pytest tests/test_command_lines.py --write-versions` writes the table again.
"""

import shlex

import pytest
from shared import ROOT, run_in_process, sample_file

TABLE = ROOT / "tests" / "command_lines.tsv"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with notes, a table, a corpus and a broken one, a picture, an empty folder and a release."""
    place = tmp_path_factory.mktemp("lines")
    (place / "notes").mkdir()
    (place / "empty").mkdir()
    (place / "home").mkdir()
    (place / "notes" / "a.txt").write_text("Der Hund bellt laut. Die Katze schläft.\n", encoding="utf-8")
    (place / "photo.jpg").write_bytes(bytes(range(256)))
    rows = (f"this is text {n} and it is {'good' if n % 2 else 'bad'},{'pos' if n % 2 else 'neg'}" for n in range(60))
    (place / "data.csv").write_text("\n".join(["text,label", *rows, ""]), encoding="utf-8")
    (place / "data.json").write_text('{"a": 1}', encoding="utf-8")
    (place / "es.conllu").write_bytes(sample_file("es").read_bytes())
    broken = ["# sent_id = 1", "1\tJa\tja\tINTJ\t_\t_\t0\troot\t_\t_", "2\t.\t.\tPUNCT\t_\t_\t31\tpunct\t_\t_", "", ""]
    (place / "broken.conllu").write_text("\n".join(broken), encoding="utf-8")
    options = ("--lang", "es", "--corpus", "sample", "--task", "dc", "--no-audit", "--out", "rel")
    assert run_in_process("run", *options, cwd=place).returncode == 0
    return place


def outcome(line, folder):
    """Exit status of a command line, and what it says: its error, else how much it prints."""
    environment = {
        "TERM": "dumb", "COLUMNS": "120", "HOME": str(folder / "home"), "USERPROFILE": str(folder / "home"),
        "HF_TOKEN": "",
    }  # fmt: skip
    done = run_in_process(*shlex.split(line)[1:], cwd=folder, environment=environment)
    said = done.stderr.strip().splitlines()
    assert len(said) <= 1 or done.returncode == 0, f"{line}: an error is one line\n{done.stderr}"
    message = said[-1] if said else f"(prints {'a line' if done.stdout.count(chr(10)) < 2 else 'a table or page'})"
    return done.returncode, message.replace(str(folder), "…")


def test_command_lines_end_as_the_table_says(folder, request):
    head, *rows = TABLE.read_text(encoding="utf-8").splitlines()
    expected = {line: (int(status), message) for status, line, message in (row.split("\t") for row in rows)}
    assert len(expected) >= 150
    found = {line: outcome(line, folder) for line in expected}
    if request.config.getoption("--write-versions"):
        written = [f"{status}\t{line}\t{message}" for line, (status, message) in found.items()]
        TABLE.write_text("\n".join([head, *written, ""]), encoding="utf-8")
        return
    for line, (status, message) in expected.items():
        assert found[line][0] == status, line
        if not message.endswith("--help`"):  # the words of typer differ between its versions
            assert found[line][1] == message, line
