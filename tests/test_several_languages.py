"""`build annotate` of a folder with texts in several languages, and what it says that a corpus will give."""

import json
import re

import pytest
from msgspec.structs import replace
from shared import sample_file

from discoprobe.cards.metadata import manifest
from discoprobe.cards.release.checks import check_release
from discoprobe.cards.text.verdicts import UNMEASURED, verdicts
from discoprobe.loaders.errors import OutcomeError

LANGUAGES = ("de", "en", "es")


@pytest.fixture
def notes(tmp_path):
    """Eight texts of each language, one with a semicolon table, and a text of one line."""
    folder = tmp_path / "notes"
    folder.mkdir()
    for lang in LANGUAGES:
        documents = sample_file(lang).read_text(encoding="utf-8").split("# newdoc")[1:9]
        for number, document in enumerate(documents):
            sentences = re.findall(r"^# text = (.+)$", document, re.MULTILINE)
            (folder / f"{lang}{number}.txt").write_text(" ".join(sentences) + "\n", encoding="utf-8")
    (folder / "short.txt").write_text("Der Hund schläft schon.\n", encoding="utf-8")
    return folder


def test_each_language_becomes_a_corpus_and_all_are_built(command, notes, tmp_path):
    done = command("annotate", notes, "--lang", "de,English,es", "--segment", "--out", "corpora", "--json")
    assert done.returncode == 0, done.stderr
    made = {each["lang"]: each for each in json.loads(done.stdout)}
    assert {lang: each["documents"] for lang, each in made.items()} == {"de": 9, "en": 8, "es": 8}
    for lang in LANGUAGES:
        names = {path.partition(".")[0] for path in made[lang]["source"]}
        assert {f"{lang}{number}" for number in range(8)} <= names
    built = command(
        "run", "--corpus", "corpora", "--task", "bso", "--min-rows", "0", "--no-audit", "--json", "--out", "out"
    )
    assert built.returncode == 0, built.stderr
    assert set(json.loads(built.stdout)["configs"]) == {"bso_de", "bso_en", "bso_es"}


def test_four_texts_may_be_published_though_nothing_can_be_measured(command, notes, tmp_path):
    """Whoever keeps tiny configs knows it, and their cards say so."""
    for path in notes.iterdir():
        if not re.fullmatch(r"es[0-3]\.txt", path.name):
            path.unlink()
    licence = ("--licence", "CC BY 4.0", "--citation", "Notes (2026)")
    assert command("annotate", notes, "--lang", "es", "--segment", "--out", "corpus", *licence).returncode == 0
    options = ("--corpus", "corpus", "--lang", "es", "--task", "bso,dc,cloze,nsp,speaker,sp,dconn", "--out", "out")
    built = command("run", *options, "--min-rows", "0")
    assert built.returncode == 0, built.stderr
    (reasons,) = re.findall(r"not built: (?:[^(]|\n)+", built.stdout) or [built.stdout]
    assert "other" not in reasons
    made = manifest.read(tmp_path / "out")
    assert {verdict.word for verdict in verdicts(made.configs).values()} == {UNMEASURED}
    check_release(made)
    large = {name: replace(entry, tiny=False) for name, entry in made.configs.items()}
    with pytest.raises(OutcomeError, match="could measure nothing: bso_es"):
        check_release(replace(made, configs=large))


def test_one_language_stays_as_it_was(command, notes):
    done = command("annotate", notes, "--lang", "es", "--segment", "--out", "one", "--json")
    assert json.loads(done.stdout)["lang"] == "es"
    assert json.loads(done.stdout)["out"] == "one"


def test_languages_that_cannot_be_told_apart_are_refused(command, notes):
    done = command("annotate", notes, "--lang", "hr,sr", "--segment", "--out", "no")
    assert done.returncode == 2
    assert "cannot be told apart" in done.stderr
    assert done.stderr.count("\n") == 1


def test_annotate_says_what_to_expect(command, notes):
    done = command("annotate", notes, "--lang", "es", "--segment", "--out", "one", "--json")
    expected = {row["task"]: row for row in json.loads(done.stdout)["expected"]}
    built = command(
        "run", "--corpus", "one", "--task", "bso,dc,nsp", "--min-rows", "0", "--no-audit", "--json", "--out", "out"
    )
    configs = json.loads(built.stdout)["configs"]
    for name, entry in configs.items():
        rows = sum(sum(labels.values()) for labels in entry["counts"].values())
        assert expected[name[:-3]]["rows"] == pytest.approx(rows, rel=0.6, abs=8), name
    table = command("annotate", notes, "--lang", "es", "--segment", "--out", "one").stdout
    line = next(line for line in table.splitlines() if "dc" in line and "sentences" in line)
    assert re.search(r"dc: about \d+ rows; 200/50/100 need about [\d,]+ sentences in [\d,]+ such texts", line)


def test_texts_that_are_too_short_for_most_tasks(command, tmp_path):
    rows = [f"{n};Der Hund Nummer {n} schläft. Die Katze {n} läuft über die Wiese." for n in range(20)]
    (tmp_path / "short.csv").write_text("\n".join(["id;text", *rows]), encoding="utf-8")
    done = command("annotate", "short.csv", "--lang", "de", "--segment", "--set", "duplicates=no", "--out", "short")
    assert done.returncode == 0, done.stderr
    assert "note: short.csv: columns are separated by ;" in done.stdout
    assert "bso: about 33 rows" in done.stdout
    assert "texts have 2.0 sentences in the mean; most other tasks on documents need 6 or" in done.stdout
    assert "dc: about" not in done.stdout
