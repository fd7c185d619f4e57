"""Text that nobody would write, through the command line: clear words, the right exit status, nothing lost."""

import json
import os

import conllu
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from shared import sample_file, tree_of

GOOD = "Der Hund schläft im Garten. Die Katze auch."
RULES = {"STANZA_RESOURCES_DIR": "/no/models"}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "notes").mkdir()
    return tmp_path / "notes"


def annotate(command, folder, *options):
    return command("annotate", folder, "--lang", "de", "--segment", "--out", "out", *options, **RULES)


def refused(done):
    assert done.returncode == 1, done.stderr
    assert not done.stdout
    (line,) = done.stderr.strip().splitlines()
    return line.removeprefix("error: ")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "no text of de in notes: nothing is left to annotate (left out: empty-document 1)"),
        (bytes(range(256)) * 100, "a.txt: NUL byte at position 0: not a text file;"),
        (("собака спит " * 9).encode(), "nothing is left to annotate (left out: script 1, empty-document 1)"),
    ],
    ids=["empty", "binary", "another script"],
)
def test_what_cannot_be_used_is_refused_in_a_line(command, folder, tmp_path, content, expected):
    (folder / "a.txt").write_bytes(content)
    assert expected in refused(annotate(command, folder))
    assert list(tmp_path.iterdir()) == [folder]


def test_utf_16_without_a_mark_is_read_and_said(command, folder):
    (folder / "a.txt").write_bytes(GOOD.encode("utf-16-le"))
    done = annotate(command, folder)
    assert done.returncode == 0
    assert "note: a.txt: read as utf-16-le; if that is wrong, name its encoding" in done.stdout


TEI = '<TEI xmlns="http://www.tei-c.org/ns/1.0"><text><body></body></text></TEI>'
FAULTS = {
    "a TEI text without a word": ("a.xml", TEI, "nothing is left to annotate (left out: empty-document 1)"),
    "a table without a row": ("a.csv", "id,text\n", "nothing is left to annotate (left out: empty-document 1)"),
    "a broken line": ("a.jsonl", '{"text": "Ja."}\n{"text": "Nein."}\n{"text"\n', "a.jsonl:3: not a JSON object: "),
    "half a character": ("a.jsonl", '{"text": "Ja \\ud800."}', "a.jsonl:1: column 'text' holds half of a character"),
    "a column twice": ("a.csv", "text,text\nJa.,Nein.\n", "a.csv: 2 columns are called 'text'"),
}


@pytest.mark.parametrize(("name", "content", "expected"), FAULTS.values(), ids=FAULTS)
def test_what_is_wrong_is_the_same_line_from_both_commands(command, folder, tmp_path, name, content, expected):
    (folder / name).write_text(content, encoding="utf-8")
    said = refused(annotate(command, folder))
    assert expected in said
    options = ("--lang", "de", "--task", "discourse", "--corpus", folder, "--segment", "--out", "release")
    cache = tmp_path / "cache"
    assert refused(command("run", *options, **RULES, DISCOPROBE_CACHE=str(cache))) == said
    assert {path.name for path in tmp_path.iterdir()} == {"notes", "cache"}
    assert not [path for path in cache.rglob("*") if path.is_file() and not path.name.endswith(".lock")]


def test_a_row_without_a_text_is_counted(command, folder, tmp_path):
    pq.write_table(pa.table({"id": ["a", "b"], "text": [None, GOOD]}), folder / "a.parquet")
    done = annotate(command, folder, "--json")
    made = json.loads(done.stdout)
    assert (made["documents"], made["drops"]["reading"]) == (1, {"empty-document": 1})
    assert made["drop_places"] == {"empty-document": ["a.parquet:1"]}


def test_a_fault_while_building_leaves_release_and_cache_as_they_were(command, folder, tmp_path):
    (folder / "a.txt").write_text(GOOD, encoding="utf-8")
    options = (
        "run",
        "--min-rows",
        "0",
        "--lang",
        "de",
        "--corpus",
        folder,
        "--segment",
        "--task",
        "sent_len",
        "--no-audit",
    )
    environment = {**RULES, "DISCOPROBE_CACHE": str(tmp_path / "cache")}
    sample = ("run", "--lang", "de", "--corpus", "sample", "--task", "bso", "--no-audit")
    assert command(*sample, "--out", "release", **environment).returncode == 0
    assert command(*options, "--out", "release", **environment).returncode == 5, "too little text for rows"
    before = tree_of(tmp_path / "release"), tree_of(tmp_path / "cache")
    (folder / "b.txt").write_bytes(b"Das \x00 Reh springt.")
    done = command(*options, "--out", "release", **environment)
    assert refused(done).startswith("b.txt: NUL byte at position ")
    assert (tree_of(tmp_path / "release"), tree_of(tmp_path / "cache")) == before


def test_nothing_of_an_odd_folder_is_lost(command, folder, tmp_path):
    """Every document and paragraph is in the corpus, or counted with its reason."""
    stories = {
        "ein\nname": GOOD,
        " # text = x": "Das Huhn brütet im Stall. Der Hahn kräht.",
        "tief/# newdoc id = y": "Die Maus gräbt im Keller. Der Igel nicht.",
        "mixed": "Собака спит в саду.\n\nEin Satz mit собака und 犬 darin steht hier.\n\n犬は庭で寝ている。",
        "word": "x" * 5_000_000 + "\n\nDer Fuchs wartet im Wald. Er hat Zeit.",
    }
    for name, text in stories.items():
        (folder / f"{name}.txt").parent.mkdir(exist_ok=True)
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    (folder / "utf16.txt").write_text("Das Reh springt über den Bach. Es ist scheu.", encoding="utf-16")
    with (folder / os.fsdecode(b"\xff\xfe.txt")).open("w", encoding="utf-8") as file:
        file.write("Der Wolf heult in der Nacht. Der Mond scheint.")
    (folder / "leer.txt").touch()
    (folder / "bild.png").write_bytes(b"\x89PNG")
    (folder / "tief" / "loop").symlink_to("..")
    (folder / "nowhere.txt").symlink_to("not there")
    done = annotate(command, folder, "--json")
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    assert made["documents"] == 7
    assert made["drops"] == {
        "reading": {"empty-document": 1, "folder-loop": 1, "long-paragraph": 1, "script": 2, "unknown-file": 2},
        "annotation": {},
    }
    assert made["drop_places"]["long-paragraph"] == ["word.txt:0"]
    (shard,) = (tmp_path / "out").glob("*.conllu")
    parsed = conllu.parse(shard.read_text(encoding="utf-8"))
    ids = {one.metadata["newdoc id"] for one in parsed if "newdoc id" in one.metadata}
    assert ids >= {"ein%0Aname", "%20#%20text%20=%20x", "tief/#%20newdoc%20id%20=%20y", "%FF%FE", "utf16"}
    texts = [one.metadata["text"] for one in parsed]
    assert texts.count("Der Hund schläft im Garten.") == 1
    assert "Ein Satz mit собака und 犬 darin steht hier." in texts
    assert len(texts) == 13


@pytest.mark.slow
def test_a_line_of_five_megabytes(command, folder, tmp_path):
    long = "Donaudampfschifffahrtsgesellschaftskapitänsmützenfabrikantenwitwenrentenversicherungsanstalt"
    line = " ".join(f"Die {long} Nummer {n} meldet {n * n % 9973} Fälle von {long}." for n in range(23_000))
    assert len(line) > 5_000_000
    (folder / "a.txt").write_text(line, encoding="utf-8")
    assert annotate(command, folder).returncode == 0
    (shard,) = (tmp_path / "out").glob("*.conllu")
    with shard.open(encoding="utf-8") as file:
        texts = [row.removeprefix("# text = ").rstrip("\n") for row in file if row.startswith("# text = ")]
    assert len(texts) == 23_000
    assert " ".join(texts) == line


@pytest.mark.slow
def test_ten_thousand_tiny_files(command, folder, tmp_path):
    sentences = [
        line.removeprefix("# text = ").rstrip("\n")
        for line in sample_file("de").read_text(encoding="utf-8").splitlines()
        if line.startswith("# text = ")
    ]
    for n in range(10_000):
        (folder / f"{n:05}.txt").write_text(f"{sentences[n % len(sentences)]} Das war Nummer {n}.", encoding="utf-8")
    done = annotate(command, folder, "--json", "--jobs", "2", "--set", "duplicates=no", "--set", "boilerplate=0")
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    assert (made["documents"], len(made["source"])) == (10_000, 10_000)
    assert sum(made["drops"]["reading"].values()) == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "annotate.json", *sorted(path.name for path in (tmp_path / "out").glob("*.conllu"))
    ]  # fmt: skip
