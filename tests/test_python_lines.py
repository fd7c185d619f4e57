"""Python lines as users of `datasets`, pandas and `mteb` type them: what is no success has a message of one line.

They are in python_lines.tsv: each is evaluated, and must end as the table says: ``ok``, or an error of this class.
`pytest tests/test_python_lines.py --write-versions` writes the table again.
"""

import pandas as pd
import pytest
from shared import ROOT

import discoprobe

TABLE = ROOT / "tests" / "python_lines.tsv"
OURS = (discoprobe.DiscoprobeError, KeyError, TypeError, AttributeError)
"""Errors on purpose, and those that Python itself has for a wrong key, argument or name."""


@pytest.fixture(scope="module")
def names():
    corpus = discoprobe.load_corpus("es", "sample", progress=False)
    return {
        "discoprobe": discoprobe, "pd": pd, "corpus": corpus,
        "config": discoprobe.build("dc", corpus, progress=False),
        "release": discoprobe.build(["bso", "dr"], corpus, audit=False, progress=False),
        "rows": [{"text": f"this is text {n} and {'good' if n % 2 else 'bad'}", "label": n % 2} for n in range(60)],
    }  # fmt: skip


def outcome(line, names):
    """``ok``, or the class of the error, and its message."""
    try:
        eval(line, dict(names))
    except OURS as error:
        return type(error).__name__, str(error).replace(str(ROOT), "…")
    return "ok", ""


def test_lines_end_as_the_table_says(names, request, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    head, *rows = TABLE.read_text(encoding="utf-8").splitlines()
    expected = {line: (kind, message) for kind, line, message in (row.split("\t") for row in rows)}
    assert len(expected) >= 60
    found = {line: outcome(line, names) for line in expected}
    if request.config.getoption("--write-versions"):
        written = [f"{kind}\t{line}\t{message}" for line, (kind, message) in found.items()]
        TABLE.write_text("\n".join([head, *written, ""]), encoding="utf-8")
        return
    for line, (_, message) in found.items():
        assert "\n" not in message, line
        assert " --" not in message, line
    assert {line: kind for line, (kind, _) in found.items()} == {line: kind for line, (kind, _) in expected.items()}
    for line, (kind, message) in expected.items():
        if kind not in {"TypeError", "AttributeError"}:  # the words of Python differ between its versions
            assert found[line][1].replace(str(tmp_path), "…") == message.replace(str(tmp_path), "…"), line
