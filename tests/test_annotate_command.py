import json
import os
import subprocess
import sys

import conllu
import pytest
from raw_cases import GERMAN
from shared import STANZA, needs_stanza, sample_file, tree_of

from discoprobe import pipeline
from discoprobe.loaders import Source
from discoprobe.loaders.raw import AnnotationOptions
from discoprobe.loaders.raw.prepare import prepare
from discoprobe.plan import plan
from discoprobe.sources import Request

STORIES = [
    "Die Katze schläft im Garten. Der Hund läuft am See. Sie haben keine Angst.",
    "Am Morgen regnet es. Die Kinder gehen zur Schule. Der Lehrer wartet schon.",
    "Im Winter fällt Schnee. Der See ist gefroren. Viele Leute laufen Schlittschuh.",
]

RECORDS = ("corpus/annotate.json", "release/manifest.json")


@pytest.fixture
def notes(tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    for number, story in enumerate(STORIES):
        (folder / f"story-{number}.txt").write_text(f"{story}\n\n{GERMAN[number]}\n", encoding="utf-8")
    return folder


def one_line_of(done, status):
    assert done.returncode == status, done.stderr
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("error: ")
    return lines[0]


@needs_stanza
def test_annotate_writes_a_corpus_once(command, notes, tmp_path):
    first = command(
        "annotate", notes, "--lang", "German", "--out", "out", "--stanza-dir", STANZA, "--licence", "CC0", "--json"
    )
    assert first.returncode == 0, first.stderr
    made = json.loads(first.stdout)
    assert (made["documents"], made["lang"], made["name"], made["licence"]) == (3, "de", "notes", "CC0")
    assert made["new_words"] == made["words"] > 80
    assert sorted(made["source"]) == ["story-0.txt", "story-1.txt", "story-2.txt"]
    before = tree_of(tmp_path / "out")
    second = command("annotate", notes, "--lang", "de", "--out", "out", "--stanza-dir", STANZA, "--licence", "MIT")
    assert "nothing to annotate" in second.stdout
    after = tree_of(tmp_path / "out")
    assert json.loads(after.pop("annotate.json"))["licence"] == "MIT"
    assert after == {name: content for name, content in before.items() if name != "annotate.json"}


def test_run_annotates_once_and_again_only_what_changed(command, notes, tmp_path):
    cache = tmp_path / "cache"
    options = [
        "run",
        "--min-rows",
        "0",
        "--lang",
        "de",
        "--corpus",
        notes,
        "--task",
        "sent_len",
        "--no-audit",
        "--segment",
    ]
    environment = {"DISCOPROBE_CACHE": str(cache), "STANZA_RESOURCES_DIR": str(tmp_path / "no-models")}
    assert command(*options, "--out", "one", **environment).returncode == 5, "too little text for rows"
    corpora = cache / "annotated"
    before = {name: (corpora / name).stat().st_mtime_ns for name in tree_of(corpora)}
    assert len(list(corpora.rglob("annotate.json"))) == 1
    assert command(*options, "--out", "two", **environment).returncode == 5
    assert {name: (corpora / name).stat().st_mtime_ns for name in tree_of(corpora)} == before
    (notes / "story-0.txt").write_text(STORIES[0], encoding="utf-8")
    assert command(*options, "--out", "three", **environment).returncode == 5
    assert len(list(corpora.rglob("annotate.json"))) == 2
    assert not list(corpora.glob(".reading-*"))


def test_corrected_boundaries_are_shown_and_the_same_in_one_go(command, notes, tmp_path):
    (notes / "story-3.txt").write_text("Er schwieg. ... Sie ging weg.\n\n»Ach! « *** Er kam.", encoding="utf-8")
    environment = {"DISCOPROBE_CACHE": str(tmp_path / "cache"), "STANZA_RESOURCES_DIR": str(tmp_path / "no-models")}
    done = command("annotate", notes, "--lang", "de", "--segment", "--out", "out", **environment)
    assert done.returncode == 0, done.stderr
    made = json.loads((tmp_path / "out" / "annotate.json").read_bytes())
    assert made["corrections"]["signs-alone"] == 1
    shown = [line.split() for line in done.stdout.partition("sentence boundaries corrected")[2].splitlines()[1:]]
    assert shown == [[kind, str(n)] for kind, n in made["corrections"].items()]
    options = ("--segment", "--task", "sent_len", "--no-audit", "--jobs", "2")
    done = command("run", "--min-rows", "0", "--lang", "de", "--corpus", notes, *options, **environment)
    assert done.returncode == 5, "too little text for rows"
    (cached,) = (tmp_path / "cache" / "annotated").rglob("annotate.json")
    assert json.loads(cached.read_bytes())["corrections"] == made["corrections"]


def test_run_segments_without_any_model(command, notes, tmp_path):
    models = tmp_path / "no-models"
    done = command(
        "tasks", "--lang", "de", "--corpus", notes, "--json", STANZA_RESOURCES_DIR=str(models),
        DISCOPROBE_CACHE=str(tmp_path / "cache"),
    )  # fmt: skip
    assert "--segment" in one_line_of(done, 1) or "no Stanza models" in done.stderr
    done = command(
        "tasks", "--lang", "de", "--corpus", notes, "--segment", "--json", STANZA_RESOURCES_DIR=str(models),
        DISCOPROBE_CACHE=str(tmp_path / "cache"),
    )  # fmt: skip
    rows = {row["task"]: row for row in json.loads(done.stdout)}
    assert rows["subj_number"]["reason"] == "the corpus has no deps, feats, upos, or hardly any"
    assert "the corpus has no" not in str(rows["dc"]["reason"])
    done = command(
        "run", "--min-rows", "0", "--lang", "de", "--corpus", notes, "--segment", "--json", "--no-audit",
        STANZA_RESOURCES_DIR=str(models), DISCOPROBE_CACHE=str(tmp_path / "cache"),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    reasons = json.loads(done.stdout)["unavailable"]
    assert reasons["subj_number_de"] == "the corpus has no deps, feats, upos, or hardly any"
    assert "the corpus has no" not in reasons["dc_de"]


def without_stanza(*arguments, cwd):
    """The program where Stanza cannot be imported."""
    code = "import sys; sys.modules['stanza'] = None; from discoprobe.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], check=False, capture_output=True, text=True, cwd=cwd,
        env={**os.environ, "TERM": "dumb"}, timeout=120,
    )  # fmt: skip


def test_without_stanza_the_extra_is_named_and_segmenting_works(notes, tmp_path):
    done = without_stanza("annotate", notes, "--lang", "de", "--out", "out", cwd=tmp_path)
    assert "pip install stanza" in one_line_of(done, 1)
    assert not (tmp_path / "out").exists()
    done = without_stanza("annotate", notes, "--lang", "de", "--out", "out", "--segment", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "sentencex" in done.stdout


@needs_stanza
def test_without_a_network_a_download_fails_in_words(command, notes, tmp_path):
    done = command(
        "annotate", notes, "--lang", "de", "--out", "out", "--download", "--stanza-dir", tmp_path / "models",
        STANZA_RESOURCES_URL="http://127.0.0.1:9/", HF_HUB_OFFLINE="1",
    )  # fmt: skip
    assert "cannot be downloaded" in one_line_of(done, 4)


@pytest.mark.parametrize(
    ("arguments", "status", "expected"),
    [
        (["annotate", "nowhere", "--lang", "de", "--out", "out", "--segment"], 1, "no such file or folder"),
        (["annotate", "notes", "--lang", "Germann", "--out", "out"], 2, "did you mean German"),
        (["annotate", "notes", "--lang", "de", "--out", "out", "--set", "min_words=x"], 2, "cannot be read"),
        (["annotate", "notes", "--lang", "de", "--out", "out", "--set", "minwords=3"], 2, "did you mean min_words"),
        (["annotate", "notes", "--lang", "zh", "--out", "out", "--segment"], 1, "written without spaces"),
        (["annotate", "notes", "--lang", "de", "--out", "notes", "--segment"], 1, "holds no annotated corpus"),
        (["run", "--corpus", "notes"], 2, "name its language with --lang"),
        (["run", "--corpus", "notes", "--lang", "de,es"], 2, "name its language with --lang"),
    ],
)
def test_faults_are_one_line(command, notes, tmp_path, arguments, status, expected):
    before = tree_of(notes)
    done = command(*arguments, STANZA_RESOURCES_DIR=str(tmp_path / "no-models"))
    assert expected in one_line_of(done, status)
    assert tree_of(notes) == before
    assert not (tmp_path / "out").exists()


def test_a_rebuild_of_raw_text_asks_for_the_text(command, tmp_path, monkeypatch):
    monkeypatch.setenv("STANZA_RESOURCES_DIR", str(tmp_path / "no-models"))
    sentences = conllu.parse(sample_file("es").read_text(encoding="utf-8"))
    texts = {}
    for sentence in sentences:
        if "newdoc id" in sentence.metadata:
            texts[sentence.metadata["newdoc id"]] = []
        texts[next(reversed(texts))].append(sentence.metadata["text"])
    (tmp_path / "texts").mkdir()
    for name, text in texts.items():
        (tmp_path / "texts" / f"{name}.txt").write_text(" ".join(text), encoding="utf-8")
    about = Source("texts", "es", licence="CC BY 4.0", citation="Ana (2026). Notes.")
    prepare(str(tmp_path / "texts"), about, AnnotationOptions(segment=True), out=tmp_path / "corpus")
    request = Request(corpora=(str(tmp_path / "corpus"),), tasks=("dc",), audit=False)
    assert pipeline.run(plan(request), tmp_path / "release").built == ("dc_es",)
    made, release = [json.loads((tmp_path / name).read_bytes()) for name in RECORDS]
    assert release["sources"]["texts"]["annotation"]["corrections"] == made["corrections"]
    done = command("verify", "release")
    message = one_line_of(done, 1)
    assert f"was annotated from raw text ({len(texts)} files" in message
    assert message.endswith("--no-rebuild compares the files with the manifest only")
    assert command("verify", "release", "--corpus", "corpus").returncode == 0
    assert command("verify", "release", "--corpus", "texts").returncode == 0
