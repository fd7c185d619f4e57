"""What a build does when something is wrong: one line that says where, and a folder that is as it was."""

import contextlib
import gzip
import hashlib
import json
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from filelock import FileLock
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shared import SAMPLE_LANGUAGES, documents, run_in_process, sample_file, tree_of

from discoprobe import kept_results, pipeline
from discoprobe.builders.audit.run import audit
from discoprobe.builders.config import Config
from discoprobe.cards.metadata.manifest import split_file
from discoprobe.cards.release import release_folder
from discoprobe.loaders import DiscoprobeError, UsageError
from discoprobe.plan import plan
from discoprobe.sources import Request, load_corpus

PLACE = re.compile(r"^error: (?P<path>\S+?\.conllu(?:\.gz)?):(?P<line>\d+)( \(sent_id .+?\))?: \S")
FILES = [sample_file(lang) for lang in SAMPLE_LANGUAGES]


def in_process(*arguments):
    """The program as a user calls it, in this process: exit status, stdout, stderr."""
    done = run_in_process(*arguments)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def beginnings():
    """The first sentences of each file: whole sentences, about 200 lines."""
    found = {}
    for path in FILES:
        sentences = path.read_text(encoding="utf-8").split("\n\n")
        found[path.name] = [sentence.split("\n") for sentence in sentences[:8]]
    return found


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a corpus file to spoil and a release that must stay as it is."""
    folder = tmp_path_factory.mktemp("faults")
    pipeline.run(plan(Request(("es",), ("sample",), ("bso",), audit=False)), folder / "release")
    return folder


def render(sentences):
    return "\n\n".join("\n".join(sentence) for sentence in sentences) + "\n\n"


def words_of(sentence):
    """The places of the lines of words: numbers, neither multiword tokens nor empty nodes."""
    return [i for i, line in enumerate(sentence) if line.split("\t")[0].isdigit()]


def with_cell(line, column, value):
    cells = line.split("\t")
    cells[column] = value
    return "\t".join(cells)


def head_outside(sentence, word, draw):
    sentence[word] = with_cell(sentence[word], 6, str(draw(st.integers(len(sentence) + 1, 99999))))


def head_no_number(sentence, word, draw):
    sentence[word] = with_cell(sentence[word], 6, draw(st.sampled_from(["x", "-1", "1.5", "١", "0x1", "²"])))


def head_of_itself(sentence, word, draw):
    del draw
    sentence[word] = with_cell(sentence[word], 6, sentence[word].split("\t")[0])


def two_roots(sentence, word, draw):
    del draw
    for other in (word, words_of(sentence)[0], words_of(sentence)[-1]):
        sentence[other] = with_cell(sentence[other], 6, "0")


def column_lost(sentence, word, draw):
    cells = sentence[word].split("\t")
    del cells[draw(st.integers(0, 9))]
    sentence[word] = "\t".join(cells)


def column_added(sentence, word, draw):
    sentence[word] += "\t" + draw(st.sampled_from(["_", "x", ""]))


def tabs_as_spaces(sentence, word, draw):
    del draw
    sentence[word] = sentence[word].replace("\t", "    ")


def cell_emptied(sentence, word, draw):
    read = (1, 2, 3, 6, 7)  # empty FEATS pass as none; XPOS, DEPS and MISC are not read
    sentence[word] = with_cell(sentence[word], draw(st.sampled_from(read)), "")


def unknown_upos(sentence, word, draw):
    sentence[word] = with_cell(sentence[word], 3, draw(st.sampled_from(["NOUNS", "noun", "CONJ", "?", "ADJ ADP"])))


def odd_feats(sentence, word, draw):
    sentence[word] = with_cell(sentence[word], 5, draw(st.sampled_from(["Number", "=", "A=1||B=2", "A=1|A=2", "A=1|"])))


def number_out_of_turn(sentence, word, draw):
    sentence[word] = with_cell(sentence[word], 0, str(draw(st.sampled_from([0, 77, 70000, 10**30]))))


def line_twice(sentence, word, draw):
    del draw
    sentence.insert(word, sentence[word])


def word_lost(sentence, word, draw):
    del draw
    del sentence[word]
    if word == words_of(sentence)[-1] + 1:  # the last word: what points to it now points outside, or nothing is wrong
        sentence[words_of(sentence)[0]] = "x"


def range_reversed(sentence, word, draw):
    del draw
    number = sentence[word].split("\t")[0]
    sentence.insert(word, f"{int(number) + 1}-{number}\tab" + "\t_" * 8)


def range_too_long(sentence, word, draw):
    number = sentence[word].split("\t")[0]
    last = int(number) + len(sentence) + draw(st.integers(1, 9))
    sentence.insert(word, f"{number}-{last}\tab" + "\t_" * 8)


def sent_id_twice(sentence, word, draw):
    del word, draw
    sentence[:] = [line for line in sentence if not line.startswith("# sent_id")]
    sentence.insert(0, "# sent_id = twice")


SURE = [
    head_outside, head_no_number, head_of_itself, two_roots, column_lost, column_added, tabs_as_spaces, cell_emptied,
    unknown_upos, odd_feats, number_out_of_turn, line_twice, word_lost, range_reversed, range_too_long,
]  # fmt: skip


@st.composite
def corruptions(draw, files):
    """A file of which one sentence is certainly malformed: name, text, number of the sentence."""
    name = draw(st.sampled_from(sorted(files)))
    sentences = [list(sentence) for sentence in files[name]]
    spoil = draw(st.sampled_from([*SURE, sent_id_twice]))
    at = draw(st.integers(1, len(sentences) - 1))
    if spoil is sent_id_twice:
        sent_id_twice(sentences[0], 0, draw)
    longest = max(range(1, len(sentences)), key=lambda i: len(words_of(sentences[i])))
    at = at if len(words_of(sentences[at])) >= 3 else longest
    spoil(sentences[at], draw(st.sampled_from(words_of(sentences[at]))), draw)
    return name, sentences, at


def lines_before(sentences, at):
    return sum(len(sentence) + 1 for sentence in sentences[:at])


def test_a_malformed_sentence_is_named_and_nothing_is_written(beginnings, place):
    before, spoilt = tree_of(place / "release"), []

    @settings(max_examples=120, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(st.data())
    def check(data):
        name, sentences, at = data.draw(corruptions(beginnings))
        packed = data.draw(st.booleans())
        path = place / (name + ".gz" if packed else name)
        text = render(sentences).encode()
        path.write_bytes(gzip.compress(text, 1, mtime=0) if packed else text)
        status, out, err = in_process(
            "run", "--min-rows", "0", "--corpus", path, "--task", "bso", "--out", place / "release"
        )
        path.unlink()
        assert (status, out) == (1, ""), err
        assert err.count("\n") == 1
        found = PLACE.match(err)
        assert found, err
        assert found["path"] == str(path)
        first = lines_before(sentences, at) + 1
        assert first <= int(found["line"]) <= first + len(sentences[at])
        spoilt.append((name, packed))

    check()
    assert set(spoilt) == {(name, packed) for name in beginnings for packed in (False, True)}
    assert tree_of(place / "release") == before


BYTES = st.sampled_from(
    [b"\x00", b"\xff", b"\xc3", b"\t", b"\n", b"\r", b"\r\n", b"#", b"_", b"-", b" ", b"9", b"\xef\xbb\xbf"]
)


@st.composite
def random_damage(draw, files):
    """Bytes put in, taken out or exchanged anywhere: malformed in some cases, harmless in others."""
    name = draw(st.sampled_from(sorted(files)))
    data = bytearray(render(files[name]).encode())
    for _ in range(draw(st.integers(1, 2))):
        at, size = draw(st.integers(0, len(data) - 1)), draw(st.integers(0, 8))
        data[at : at + size] = draw(BYTES | st.binary(max_size=6))
    return name, bytes(data[: draw(st.sampled_from([len(data), len(data) // 2]))])


def test_random_damage_is_named_or_harmless(beginnings, place):
    before = tree_of(place / "release")
    seen = {"named": 0, "harmless": 0}

    @settings(max_examples=80, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(st.data())
    def check(data):
        name, damaged = data.draw(random_damage(beginnings))
        path = place / name
        path.write_bytes(damaged)
        problem = None
        try:
            pipeline.run(plan(Request(corpora=(str(path),), tasks=("bso",), audit=False)), place / "other")
        except DiscoprobeError as error:
            problem = str(error)
        path.unlink()
        seen["named" if problem else "harmless"] += 1
        assert problem is None or str(path) in problem
        assert problem is None or "\n" not in problem

    check()
    assert min(seen.values()) >= 5, seen
    assert tree_of(place / "release") == before


def test_skipped_sentences_are_counted(beginnings, place):
    counted = []

    @settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(st.data())
    def check(data):
        name, sentences, _ = data.draw(corruptions(beginnings))
        path = place / name
        path.write_text(render(sentences), encoding="utf-8")
        corpus = load_corpus(str(path), on_error="skip")
        path.unlink()
        assert sum(corpus.drops.values()) >= 1
        assert corpus.n_sentences + sum(corpus.drops.values()) == len(sentences)
        assert corpus.drop_places
        counted.append(name)

    check()
    assert set(counted) == set(beginnings)


def test_skipping_is_in_the_manifest(tmp_path):
    texts = documents(sample_file("es").read_text(encoding="utf-8"))
    texts[3] = texts[3].replace("\tNOUN\t", "\tNOUNS\t", 1)
    path = tmp_path / "es_x-ud-test.conllu"
    path.write_text("".join(texts), encoding="utf-8")
    status, _, err = in_process(
        "run", "--min-rows", "0", "--corpus", path, "--task", "bso", "--out", tmp_path / "out", "--on-error", "skip"
    )
    assert status == 0, err
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["skipped"] == {"es": {"UPOS": 1}}
    path.write_text("".join(texts).replace("\tNOUNS\t", "\tNOUN\t"), encoding="utf-8")
    assert in_process("run", "--min-rows", "0", "--corpus", path, "--task", "bso", "--out", tmp_path / "out")[0] == 0
    assert json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))["skipped"] == {}


def test_skipping_leaves_out_a_malformed_file_of_raw_text(tmp_path):
    """A novel that is no well-formed XML, beside whole ones, as `build annotate --on-error skip` leaves it out."""
    (tmp_path / "novels").mkdir()
    texts = documents(sample_file("es").read_text(encoding="utf-8"))
    for number, text in enumerate(texts):
        xml = (
            f'<TEI xmlns="http://www.tei-c.org/ns/1.0"><text><body><p>{" ".join(re.findall("# text = (.*)", text))}</p>'
        )
        xml += "</body></text></TEI>" if number else ""
        (tmp_path / "novels" / f"novel{number}.xml").write_text(xml, encoding="utf-8")
    options = ("--lang", "es", "--segment", "--task", "bso", "--min-rows", "0", "--no-audit", "--out", tmp_path / "out")
    stopped = in_process("run", "--corpus", tmp_path / "novels", *options)
    assert stopped[0] == 1
    assert "novel0.xml:1: not well-formed XML" in stopped[2]
    status, _, err = in_process("run", "--corpus", tmp_path / "novels", *options, "--on-error", "skip")
    assert status == 0, err
    tables = [pq.read_table(path, columns=["doc_id"]) for path in (tmp_path / "out" / "bso_es").glob("*.parquet")]
    used = {doc_id for table in tables for doc_id in table["doc_id"].to_pylist()}
    assert len(used) > len(texts) / 2
    assert "novel0" not in used


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("es_x-ud-test.conllu", b""),
        ("es_x-ud-test.conllu", b"\n\n\n"),
        ("es_x-ud-test.conllu", b"# newdoc id = a\n# text = b\n\n"),
        ("es_x-ud-test.conllu", bytes(range(256)) * 8),
        ("es_x-ud-test.conllu", b"\xff\xfe" + "1\ta".encode("utf-16-le")),
        ("es_x-ud-test.conllu", b"PK\x03\x04" + b"\x00" * 100),
        ("es_x-ud-test.conllu.gz", b"not compressed"),
        ("es_x-ud-test.conllu.gz", gzip.compress(b"1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n\n" * 50, mtime=0)[:40]),
        ("es_x-ud-test.conllu.gz", b""),
        ("es_x.pdf", b"1\ta\n"),
        ("unknown.conllu", b"1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n\n"),
    ],
)
def test_files_that_are_no_corpora(name, content, place, tmp_path):
    before = tree_of(place / "release")
    path = tmp_path / "corpus" / name
    path.parent.mkdir()
    path.write_bytes(content)
    status, _, err = in_process("run", "--min-rows", "0", "--corpus", path, "--task", "bso", "--out", place / "release")
    assert status == 1, err
    assert err.count("\n") == 1
    assert str(path) in err
    assert tree_of(place / "release") == before


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (["--lang", "xx", "--corpus", "sample"], 2, "xx"),
        (["--lang", "spanisch"], 2, "did you mean spanish"),
        (["--lang", "es", "--corpus", "smaple"], 2, "did you mean sample"),
        (["--lang", "ca", "--corpus", "sample"], 1, "ca"),
        (["--lang", "es", "--corpus", "UD_Spanish-AnCorra"], 2, "did you mean UD_Spanish-AnCora"),
        (["--lang", "es", "--corpus", "sample", "--task", "bs"], 2, "did you mean bso"),
        (["--lang", "es", "--corpus", "sample", "--task", ""], 2, "task"),
        (["--lang", "es", "--corpus", "/nowhere/at/all.conllu"], 2, "/nowhere/at/all.conllu"),
        (["--lang", "es", "--corpus", "sample", "--size", "many"], 2, "many"),
        (["--lang", "es", "--corpus", "sample", "--size", "1/2"], 2, "1/2"),
        (["--lang", "es", "--corpus", "sample", "--size", "-5"], 2, "-5"),
        (["--lang", "es", "--corpus", "sample", "--size", "10/0/10"], 2, "10/0/10"),
        (["--lang", "es", "--corpus", "sample", "--size", "0"], 2, "0"),
        (["--lang", "es", "--corpus", "sample", "--on-error", "panic"], 2, "panic"),
        (["--lang", "es", "--corpus", ""], 2, "unknown corpus ''"),
        ([], 2, "--lang"),
    ],
)
def test_wrong_options(arguments, status, says, tmp_path):
    found, out, err = in_process("run", *arguments, "--out", tmp_path / "out")
    assert (found, out) == (status, ""), err
    assert says.lower() in err.lower()
    assert err.count("\n") == 1, err
    assert sorted(tmp_path.iterdir()) == []


@pytest.mark.parametrize("arguments", [["--jobs", "0"], ["--seed", "x"], ["--nonsense"], ["--lang"], ["stray"]])
def test_usage(arguments, tmp_path):
    status, _, err = in_process("run", *arguments, "--out", tmp_path / "out")
    assert status == 2
    assert "Traceback" not in err
    assert sorted(tmp_path.iterdir()) == []


def test_a_foreign_folder_is_refused(tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.tex").write_text("everything I have")
    status, _, err = in_process("run", "--corpus", "sample", "--lang", "es", "--out", tmp_path / "thesis")
    assert status in {1, 2}
    assert "chapter.tex" not in err
    assert str(tmp_path / "thesis") in err
    assert tree_of(tmp_path) == {"thesis/chapter.tex": b"everything I have"}


@pytest.mark.parametrize("content", ["", "{", "[]", "null", '{"format": 1}', '{"format": 99, "configs": {}}', "\x00"])
def test_a_manifest_that_is_none(content, tmp_path):
    (tmp_path / "release").mkdir()
    (tmp_path / "release" / "manifest.json").write_text(content)
    before = tree_of(tmp_path)
    status, _, err = in_process(
        "run", "--corpus", "sample", "--lang", "es", "--task", "bso", "--out", tmp_path / "release"
    )
    assert status == 1, err
    assert "manifest.json" in err
    assert err.count("\n") == 1
    assert tree_of(tmp_path) == before


def test_out_is_a_file(tmp_path):
    (tmp_path / "file").write_text("mine")
    for out in (tmp_path / "file", tmp_path / "file" / "below"):
        status, _, err = in_process("run", "--corpus", "sample", "--lang", "es", "--task", "bso", "--out", out)
        assert status in {1, 2}
        assert err.count("\n") == 1, err
        assert str(tmp_path / "file") in err
    assert tree_of(tmp_path) == {"file": b"mine"}


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs a folder that nobody can write to")  # noqa: PTH112
def test_out_cannot_be_written():
    status, _, err = in_process(
        "run", "--corpus", "sample", "--lang", "es", "--task", "bso", "--out", "/proc/self/release"
    )
    assert status == 1, err
    assert "/proc/self" in err
    assert err.count("\n") == 1


def test_a_full_disk(tmp_path, monkeypatch):
    """The build fails while it writes: what was there stays."""
    out = tmp_path / "release"
    pipeline.run(plan(Request(("es",), ("sample",), ("bso",), audit=False)), out)
    before = tree_of(tmp_path)

    def full(*_arguments, **_options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(release_folder.rows, "write_split", full)
    status, _, err = in_process("run", "--corpus", "sample", "--lang", "es", "--task", "bso", "--out", out)
    assert status == 1, err
    assert "the disk is full" in err
    assert err.count("\n") == 1
    assert tree_of(tmp_path) == before


@pytest.mark.parametrize("lang", ["de", "ru"])
def test_building_one_language_leaves_the_others(lang, tmp_path):
    out = tmp_path / "release"
    pipeline.run(plan(Request(("es", "en"), ("sample",), ("bso", "dc"), audit=False)), out)
    before = tree_of(out)
    pipeline.run(plan(Request((lang,), ("sample",), ("bso", "dc"), audit=False)), out)
    after = tree_of(out)
    shared = {name for name in before if "/" in name}
    assert shared
    assert {name: after[name] for name in shared} == {name: before[name] for name in shared}
    assert f"bso_{lang}/test-00000-of-00001.parquet" in after
    manifest = json.loads(after["manifest.json"])
    assert set(manifest["configs"]) == {f"{task}_{code}" for task in ("bso", "dc") for code in ("es", "en", lang)}
    card = after["README.md"].decode()
    assert all(f"config_name: {name}\n" in card for name in manifest["configs"])


KILLED_AT = {
    "reading": ("discoprobe.loaders.cache", "store", 1),
    "selecting": ("discoprobe.builders.passages.windows", "sentences", 1),
    "the first split": ("discoprobe.cards.release.rows", "write_split", 1),
    "a later split": ("discoprobe.cards.release.rows", "write_split", 5),
    "a config's card": ("discoprobe.cards.text.card", "config_card", 2),
    "the release's card": ("discoprobe.cards.text.card", "release_card", 1),
    "the manifest": ("discoprobe.cards.metadata.manifest", "contents", 1),
    "the swap": ("discoprobe.loaders.files.Place", "swap", 1),
    "after the exchange": ("shutil", "rmtree", -2),
    "between the renames": ("pathlib.Path", "rename", 2),
    "after the renames": ("shutil", "rmtree", -1),
}
KILLER = """
import importlib, os, signal, sys
from discoprobe import cli
where, name, nth = sys.argv[1], sys.argv[2], int(sys.argv[3])
module, _, owner = where.rpartition(".") if where.endswith((".Path", ".Place")) else (where, "", "")
holder = importlib.import_module(module)
holder = getattr(holder, owner) if owner else holder
if name == "rename" or nth == -1:  # as on a system that exchanges nothing
    importlib.import_module("discoprobe.loaders.files").exchanged = lambda one, other: False
original, calls = getattr(holder, name), []
def die(*arguments, **options):
    counts = not (name == "rename" and "release" not in str(arguments[0]))
    counts = counts and not (nth < 0 and not str(arguments[0]).endswith(".old" if nth == -1 else "release.new"))
    calls.append(1) if counts else None
    swapped = (nth == -1 and len(calls) == 1) or (nth == -2 and len(calls) == 2)  # the first is before the build
    if counts and (len(calls) == nth or swapped):
        os.kill(os.getpid(), signal.SIGKILL)
    return original(*arguments, **options)
setattr(holder, name, die)
sys.argv = ["build", *sys.argv[4:]]
cli.main()
"""


TWO_TASKS = ["--corpus", "sample", "--no-audit", "--min-rows", "0", "--task", "bso,dc"]
"""As `spanish_and_both` asks for them: the manifest records the least numbers of rows too."""


@pytest.fixture(scope="module")
def spanish_and_both(tmp_path_factory):
    """Releases of two tasks: in Spanish, and in Spanish and German."""
    folders = [tmp_path_factory.mktemp("undisturbed") / name for name in ("es", "both")]
    for folder, languages in zip(folders, (("es",), ("es", "de")), strict=True):
        pipeline.run(plan(Request(languages, ("sample",), ("bso", "dc"), audit=False)), folder)
    return folders


@pytest.mark.parametrize("point", KILLED_AT)
def test_killed_in_the_middle(point, tmp_path, spanish_and_both):
    """The old release stays whole, and the next build gives what an undisturbed one gives."""
    spanish, both = spanish_and_both
    out, old = tmp_path / "release", tree_of(spanish)
    shutil.copytree(spanish, out)
    killed = subprocess.run(
        [sys.executable, "-c", KILLER, *map(str, KILLED_AT[point]), "run", "--lang", "de", *TWO_TASKS, "--out", out],
        check=False, capture_output=True, text=True, timeout=120,
        env={**os.environ, "DISCOPROBE_CACHE": str(tmp_path / "cache")},
    )  # fmt: skip
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    if point == "between the renames":
        assert tree_of(tmp_path / ".release.old") == old
    elif point in {"after the renames", "after the exchange"}:
        assert tree_of(out) != old
    else:
        assert tree_of(out) == old
    status, _, err = in_process("run", "--lang", "de", *TWO_TASKS, "--out", out)
    assert status == 0, err
    assert tree_of(out) == tree_of(both)
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "cache") == ["release"]


def test_killed_at_any_time(tmp_path):
    """A process killed after so many milliseconds, wherever it is then."""
    out = tmp_path / "release"
    pipeline.run(plan(Request(("es",), ("sample",), ("bso",), audit=False)), out)
    old = tree_of(out)
    program = [sys.executable, "-m", "discoprobe", "run", "--corpus", "sample", "--out", str(out), "--no-audit"]
    for seconds in (0.5, 1, 2):
        process = subprocess.Popen(program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
        process.kill()
        process.wait()
        standing = out if out.exists() else tmp_path / ".release.old"
        found = tree_of(standing)
        assert found == old or json.loads(found["manifest.json"])["configs"].keys() > {"bso_es"}
    assert in_process("run", "--corpus", "sample", "--lang", "es", "--task", "bso", "--no-audit", "--out", out)[0] == 0
    assert [path.name for path in tmp_path.iterdir()] == ["release"]


def test_folders_that_killed_builds_of_other_releases_left_are_deleted(tmp_path):
    for name in ("killed", "running", "unmanaged"):
        (tmp_path / f".{name}.new" / "dc_es").mkdir(parents=True)
        (tmp_path / f".{name}.new" / "dc_es" / split_file("train")).touch()
    (tmp_path / ".foreign.new").mkdir()
    (tmp_path / ".foreign.new" / "file").touch()
    for name in ("killed", "foreign"):
        (tmp_path / f".{name}.lock").touch()
    with FileLock(tmp_path / ".running.lock"):
        pipeline.run(plan(Request(("es",), ("sample",), ("bso",), audit=False)), tmp_path / "release")
        left = sorted(path.name for path in tmp_path.iterdir())
    assert left == [".foreign.lock", ".foreign.new", ".running.lock", ".running.new", ".unmanaged.new", "release"]


def test_where_nothing_can_be_built_no_folder_is_written(tmp_path):
    file = tmp_path / "es_x-ud-test.conllu"
    file.write_text(sample_file("es").read_text(encoding="utf-8"), encoding="utf-8")
    out = tmp_path / "release"
    command = ("run", "--lang", "es", "--corpus", str(file), "--out", str(out))
    status, shown, error = in_process(*command, "--task", "dc,nsp,ssp")
    assert (status, out.exists()) == (5, False)
    assert re.search(r"dc_es is not built: \d+/\d+/\d+ rows,\s+200/50/100 are needed", shown)
    assert error.endswith("nothing was built, and no folder is written; --min-rows 0 keeps dc_es, nsp_es\n")
    assert "`build -v run …` gives the reasons" in in_process(*command, "--task", "ssp")[2]
    # `bigram_shift` alone has 200/50/100 rows
    status, shown, error = in_process(*command, "--task", "discourse,pred_tense,subj_number,obj_number,tree_depth")
    assert status == 5
    assert re.match(r"\d+ not built: \d+ need more rows, ", shown), "configs that lack the same are counted"
    assert len(shown.splitlines()) < 10
    assert in_process(*command, "--task", "dc", "--min-rows", "0")[0] == 0
    before = tree_of(out)
    status, _, error = in_process(*command, "--task", "nsp")
    assert (status, error.partition("; ")[0]) == (5, "error: nothing was built")
    assert (tree_of(out).keys() ^ before.keys()) == set(), "what the release has stays"


def test_an_interrupted_build_goes_on_with_the_language_that_it_was_at(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCOPROBE_CACHE", str(tmp_path / "cache"))
    request = Request(("de", "es"), ("sample",), ("dc", "bso", "subj_number"))
    steps = []

    def interrupted(step, *_):
        if step == "auditing es: tasks":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pipeline.run(plan(request), tmp_path / "release", interrupted)
    assert not (tmp_path / "release").exists()
    kept = sorted((tmp_path / "cache" / "unfinished").iterdir())
    assert [path.name.partition("-")[0] for path in kept] == ["bso_de", "dc_de", "subj_number_de"]
    kept[0].write_bytes(b"damaged")
    changed_version = kept[1].read_bytes()[kept_results.SIZE :].replace(b'"unavailable":', b'"unavailably":')
    kept[1].write_bytes(hashlib.sha256(changed_version).digest() + changed_version)
    pipeline.run(plan(request), tmp_path / "release", lambda step, _, total: steps.append((step, total)))
    assert ("auditing de: tasks", 2) in steps, "the damaged one, and that of another version"
    assert ("auditing es: tasks", 3) in steps
    assert not any((tmp_path / "cache" / "unfinished").iterdir())
    pipeline.run(plan(request), tmp_path / "whole")
    assert tree_of(tmp_path / "release") == tree_of(tmp_path / "whole")


def test_a_kept_result_is_what_it_was_and_reading_it_executes_nothing(tmp_path, built):
    """A file that somebody else wrote in its place counts as damaged."""
    for number, config in enumerate((built("sample", "es")["dc"], built("sample", "en")["subj_gender"])):
        place, report = tmp_path / f"{number}.arrow", audit(config) if isinstance(config, Config) else None
        kept_results.keep(place, config, report)
        again, report_again = kept_results.kept(place)
        assert (again, report_again) == (config, report)
        assert report is None or report_again.to_json() == report.to_json()
        assert isinstance(config, Config) == (number == 0)

    class Command:
        def __reduce__(self):
            return (Path.touch, (tmp_path / "executed",))

    for exchanged in (pickle.dumps(Command()), pa.compress(pickle.dumps(Command()), "zstd", asbytes=True)):
        place.write_bytes(exchanged)
        assert kept_results.kept(place) is None
        place.write_bytes(hashlib.sha256(exchanged).digest() + exchanged)
        assert kept_results.kept(place) is None
    assert not (tmp_path / "executed").exists()


def test_refused_in_process(tmp_path):
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "y").touch()
    with pytest.raises(UsageError, match="is not empty"):
        pipeline.run(plan(Request(("es",), ("sample",))), tmp_path / "x")


@pytest.mark.parametrize("name", ["data/trian", "owner/train.jsonl", "./train/x"])
def test_a_path_with_a_mistake_is_no_question_to_the_hub(name, tmp_path, monkeypatch):
    """Only a name that can be that of a dataset is one: without network the answer would take half a minute."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    (tmp_path / "data").mkdir()
    status, _, error = in_process("audit", name)
    assert (status, error.partition(": ")[2].partition(", config")[0]) == (1, f"{name}: no such file, folder")
    assert "Hub id (hf://owner/name)" in error


def test_a_fault_in_a_file_of_one_language_does_not_end_the_build_of_others(tmp_path):
    """The other languages are built, the message names the place, and the exit status is that of a fault."""
    corpora, out = tmp_path / "corpora", tmp_path / "out"
    corpora.mkdir()
    for lang in ("de", "es"):
        shutil.copy(sample_file(lang), corpora / f"{lang}_x-ud-test.conllu")
    broken = corpora / "es_x-ud-test.conllu"
    broken.write_text(broken.read_text(encoding="utf-8").replace("\tNOUN\t", "\tNOUNS\t", 1), encoding="utf-8")
    (corpora / "ru_x-ud-test.conllu").write_text("", encoding="utf-8")
    options = ("--min-rows", "0", "--no-audit", "--corpus", corpora, "--task", "bso", "--out", out)
    status, shown, err = in_process("run", *options)
    assert (status, "bso_de" in shown) == (1, True)
    assert re.search(r"^error: left out es, ru: \S+es_x-ud-test\.conllu:\d+ .*; no sentence of ru among", err)
    assert {path.name for path in out.glob("bso_*")} == {"bso_de"}

    status, _, err = in_process("run", *options, "--lang", "es")
    assert status == 1
    assert PLACE.match(err), "a build of that language alone ends as before"
    status, _, err = in_process("run", *options, "--lang", "de,es", "--on-error", "skip")
    assert status == 0, err
    assert {path.name for path in out.glob("bso_*")} == {"bso_de", "bso_es"}
