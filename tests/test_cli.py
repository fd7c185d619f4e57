"""The program: what it prints where, and its exit status; in a process of its own where that matters."""

import importlib.resources
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from shared import SAMPLE_LANGUAGES, sample_file

from discoprobe.builders import all_tasks
from discoprobe.loaders.catalogue import treebanks


def test_run_prints_a_table_and_says_nothing_on_stderr(process, tmp_path):
    done = process("run", "--lang", "es", "--corpus", "sample", "--task", "bso,dc", "--no-audit")
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"^bso  .*146/28/72", done.stdout, re.MULTILINE)
    assert 'load_dataset("dist/discoprobe", "bso_es")' in done.stdout  # without advice the one with most rows
    assert (tmp_path / "dist" / "discoprobe" / "manifest.json").is_file(), "--out is ./dist/discoprobe by default"


def test_run_as_json(command, tmp_path):
    done = command(
        "run", "--lang", "es", "--corpus", "sample", "--task", "bso,nsp_choice", "--json", "--out", "x", "--no-audit"
    )
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    manifest = json.loads((tmp_path / "x" / "manifest.json").read_text(encoding="utf-8"))
    assert found["configs"]["bso_es"]["counts"] == manifest["configs"]["bso_es"]["counts"]
    assert set(found["configs"]) | set(found["unavailable"]) == {"bso_es", "nsp_choice_es"}
    assert all(found["unavailable"].values())


def test_languages_and_tasks_can_be_repeated(command):
    options = ("-l", "es,en", "--lang", "de,ru", "--task", "bso", "-t", "dc,bso")
    done = command("run", *options, "--corpus", "sample", "--json", "--no-audit")
    assert done.returncode == 0
    assert set(json.loads(done.stdout)["configs"]) == {
        f"{task}_{lang}" for task in ("bso", "dc") for lang in SAMPLE_LANGUAGES
    }


def test_run_in_several_processes(process):
    done = process("run", "--corpus", "sample", "--task", "bso", "--jobs", "2", "--json", "--no-audit")
    assert (done.returncode, done.stderr) == (0, "")
    assert set(json.loads(done.stdout)["configs"]) == {f"bso_{lang}" for lang in SAMPLE_LANGUAGES}


def test_every_verdict_has_its_resolution(command):
    options = ("run", "--lang", "es", "--corpus", "sample", "--task", "bigram_shift,bso,dc,subj_number", "--json")
    audits = {name: entry["audit"] for name, entry in json.loads(command(*options).stdout)["configs"].items()}
    assert len(audits) >= 3
    assert all(0 < audit["resolution"] < 0.5 and not audit["failed"] for audit in audits.values())


def test_the_log_goes_to_stderr(process):
    done = process("-v", "run", "--lang", "es", "--corpus", "sample", "--task", "bso", "--json", "--no-audit")
    assert done.returncode == 0
    json.loads(done.stdout)
    assert "Traceback" not in done.stderr


def test_sizes_limit_rows(command):
    done = command(
        "run", "--lang", "es", "--corpus", "sample", "--task", "bso", "--size", "20/6/4", "--json", "--no-audit"
    )
    counts = json.loads(done.stdout)["configs"]["bso_es"]["counts"]
    assert {split: sum(labels.values()) for split, labels in counts.items()} == {
        "train": 20,
        "validation": 6,
        "test": 4,
    }


def test_tasks(command):
    done = command("tasks", "--json")
    assert done.returncode == 0
    rows = json.loads(done.stdout)
    assert {row["task"] for row in rows} >= set(all_tasks())
    assert all(row["what"].endswith(("?", ")", ".")) for row in rows)
    some = command("tasks", "--task", "dc,suites", "--json")
    assert {row["task"] for row in json.loads(some.stdout)} == {"dc"} | {
        name for name, task in all_tasks().items() if task.family == "suites"
    }

    table = command("tasks").stdout
    assert all(task in table for task in all_tasks())


def test_what_a_language_supports_and_why_not(command):
    done = command("tasks", "--lang", "es", "--corpus", "sample", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    rows = {row["task"]: row for row in json.loads(done.stdout)}
    assert set(rows) >= set(all_tasks())
    assert rows["bso"]["available"]
    for row in rows.values():
        assert bool(row["reason"]) != row["available"]
        assert (row["rows"] is not None) == row["available"]


def test_languages(command):
    done = command("languages", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    rows = {row["code"]: row for row in json.loads(done.stdout)}
    assert {code for code, row in rows.items() if row["sample"]} == set(SAMPLE_LANGUAGES)
    assert rows["es"]["name"] == "Spanish"
    assert (rows["wo"]["lacks"], rows["yrl"]["lacks"]) == ("frequency list", "connectives, pronouns, frequency list")
    assert rows["th"]["lacks"].startswith("sentence marks, spaces, ")
    assert not rows["de"]["lacks"]
    assert (rows["wo"]["treebanks"], rows["eu"]["treebanks"], rows["eu"]["texts"]) == (1, 0, 1)
    assert "Spanish" in command("languages").stdout
    assert [row["code"] for row in json.loads(command("languages", "wo", "Yoruba", "--json").stdout)] == ["wo", "yo"]


def test_corpora_list(command):
    done = command("corpora", "list", "es", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    rows = json.loads(done.stdout)
    assert "UD_Spanish-AnCora" in {row["name"] for row in rows}
    assert {row["lang"] for row in rows} == {"es"}
    assert all(row["licence"] for row in rows)


def test_corpora_check_of_an_empty_cache(command, tmp_path):
    done = command("corpora", "check", "UD_Spanish-AnCora", "--json", DISCOPROBE_CACHE=str(tmp_path / "none"))
    assert (done.returncode, done.stderr) == (0, "")
    assert {row["state"] for row in json.loads(done.stdout)} == {"missing"}


@pytest.mark.parametrize(
    ("arguments", "near"),
    [
        (["corpora", "list", "spanisch"], "Spanish"),
        (["corpora", "fetch", "UD_Spanish-AnCorra"], "UD_Spanish-AnCora"),
        (["corpora", "check", "UD_Spanish-AnCorra"], "UD_Spanish-AnCora"),
        (["tasks", "--lang", "germann"], "German"),
        (["run", "--lang", "es", "--corpus", "sample", "--task", "nsp_choise"], "nsp_choice"),
        (["run", "--lang", "es", "--corpus", "sample", "--task", "DC"], "dc"),
    ],
)
def test_did_you_mean(command, arguments, near, tmp_path):
    done = command(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"did you mean {near.lower()}" in done.stderr.lower()
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("error: ")
    assert list(tmp_path.iterdir()) == []


def test_values_with_a_blank_between_them(command):
    for arguments in (["run", "--lang", "es", "--task", "dc", "nsp"], ["push", "--lang", "de", "es"]):
        done = command(*arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert "separate the values of an option by commas" in " ".join(done.stderr.split()).replace("│ │ ", "")


@pytest.mark.parametrize("url", ["https://me:geheim@example.invalid/x.conllu", "https://example.invalid/x?key=geheim"])
def test_a_secret_in_a_url_is_neither_shown_nor_published(command, url, tmp_path):
    done = command("run", "--lang", "es", "--corpus", url)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "geheim" not in done.stderr
    assert "error: https://example.invalid/x" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_home_folder_in_options(command, tmp_path):
    """Shells leave ``~`` in ``--out=~/x``."""
    corpus = "--corpus=~/es_x-ud-test.conllu"
    (tmp_path / "es_x-ud-test.conllu").write_bytes(sample_file("es").read_bytes())
    done = command("run", corpus, "--task", "bso", "--min-rows", "0", "--out=~/release", HOME=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "release" / "manifest.json").is_file()


def test_an_empty_folder_is_no_corpus(command, tmp_path):
    (tmp_path / "empty").mkdir()
    for arguments in ([], ["--lang", "es"]):
        done = command("run", "--corpus", "empty", *arguments)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
        assert done.stderr.startswith("error: empty: nothing to read in this folder; what can be read: ")


def test_a_malformed_file_in_a_process_of_its_own(process, tmp_path):
    text = sample_file("es").read_text(encoding="utf-8").replace("\t0\troot\t", "\t31000\troot\t", 1)
    line = next(n for n, row in enumerate(text.splitlines(), 1) if "\t31000\troot\t" in row)
    (tmp_path / "es_x-ud-test.conllu").write_text(text, encoding="utf-8")
    for jobs in ("1", "2"):
        done = process("run", "--corpus", "es_x-ud-test.conllu", "--jobs", jobs)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("error: ")
        assert (
            f"es_x-ud-test.conllu:{line} (sent_id es-news-01-1): HEAD 31000 points outside the sentence" in done.stderr
        )
        assert done.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["es_x-ud-test.conllu"]


@pytest.mark.parametrize(
    "arguments", [["nonsense"], ["run", "--nonsense"], ["corpora", "nonsense"], ["run", "--jobs", "0"]]
)
def test_usage_errors(command, arguments):
    done = command(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr


def test_help_and_version(process):
    for arguments in (["--help"], ["run", "--help"], ["corpora", "-h"], ["--version"]):
        done = process(*arguments)
        assert (done.returncode, done.stderr) == (0, ""), arguments
        assert done.stdout.strip()
    assert process("--version").stdout.strip().count(".") == 2


def test_a_reader_that_stops_early():
    """`build tasks | head -1` ends without a traceback."""
    done = subprocess.run(
        f"{sys.executable} -m discoprobe tasks --json | head -c 1",
        check=False,
        shell=True,
        capture_output=True,
        text=True,
    )
    assert "Traceback" not in done.stderr


def test_type_checkers_read_the_types_of_the_package():
    """PEP 561; the classifiers say so, too."""
    assert importlib.resources.files("discoprobe").joinpath("py.typed").is_file()


def test_console_scripts():
    """Both names of the program are installed beside the interpreter and are the same program."""
    folder = Path(sys.executable).parent
    for name in ("build", "discoprobe"):
        program = shutil.which(name, path=str(folder))
        assert program, f"{name} is not installed"
        done = subprocess.run([program, "tasks", "--json"], check=False, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
        assert {row["task"] for row in json.loads(done.stdout)} >= set(all_tasks())


@pytest.mark.parametrize(
    ("command", "heavy"),
    [
        ("run --help", "polars pyarrow datasets scipy sklearn jinja2 huggingface_hub httpx2"),
        ("languages", "polars pyarrow datasets scipy sklearn jinja2 huggingface_hub httpx2"),
        ("run --lang es --corpus sample --task sent_len --min-rows 0 --no-audit", "sklearn stanza torch"),
        ("run --lang xx", "polars pyarrow datasets scipy sklearn jinja2 huggingface_hub httpx2"),
        ("push --lang es --corpus nothing --yes", "polars pyarrow datasets scipy sklearn jinja2 huggingface_hub"),
        ("run --lang es --corpus sample --task nothing", "datasets sklearn jinja2 wordfreq huggingface_hub httpx2"),
        ("audit rows.jsonl", "datasets flask wordfreq huggingface_hub httpx2 pymorphy3 jinja2 conllu requests"),
    ],
)
def test_a_command_imports_no_library_that_it_does_without(command, heavy, tmp_path):
    code = (
        f"import sys; from discoprobe import cli; sys.argv = ['build', *{command.split()!r}]\n"
        f"try: cli.main()\nfinally: print('loaded:', *(set({heavy.split()!r}) & set(sys.modules)))"
    )
    rows = [{"text": f"The {'cat' if n % 2 else 'dog'} sat on mat {n}.", "label": n // 2 % 2} for n in range(200)]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 2 * any(wrong in command for wrong in ("xx", "nothing")), done.stderr
    assert done.stdout.splitlines()[-1] == "loaded:"


@pytest.mark.parametrize(
    ("command", "own", "expected"),
    [
        ("languages", None, "dirty_decay_ms:10000,muzzy_decay_ms:0"),
        ("languages", "dirty_decay_ms:7", "dirty_decay_ms:7"),
        ("audit", None, "dirty_decay_ms:500,muzzy_decay_ms:0"),
    ],
)
def test_polars_keeps_freed_memory_where_blocks_are_built_unless_the_user_decides_otherwise(
    monkeypatch, command, own, expected
):
    _check_setting(monkeypatch, "_RJEM_MALLOC_CONF", command, own, expected)


@pytest.mark.parametrize(
    ("command", "own", "expected"),
    [("languages", None, "134217728"), ("languages", "7", "7"), ("audit", None, "unset")],
)
def test_glibc_keeps_freed_memory_where_blocks_are_built_unless_the_user_decides_otherwise(
    monkeypatch, command, own, expected
):
    _check_setting(monkeypatch, "MALLOC_TRIM_THRESHOLD_", command, own, expected)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="asks glibc")
def test_large_arrays_are_not_requested_again():
    """An array of 48 MB is not mapped by itself, to be returned as soon as it is free."""
    code = (
        "import ctypes, sys, numpy as np\n"
        "from discoprobe import cli\n"
        "sys.argv = ['build', sys.argv[1], '--help']\n"
        "try: cli.main()\nexcept SystemExit: pass\n"
        "held = np.ones(6 * 2**20)\n"
        "class Info(ctypes.Structure): _fields_ = [(f'n{at}', ctypes.c_int) for at in range(10)]\n"
        "asked = ctypes.CDLL(None).mallinfo\n"
        "asked.restype = Info\n"
        "print(asked().n4)"  # bytes in mapped blocks
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    mapped = {
        command: int(
            subprocess.check_output([sys.executable, "-c", code, command], text=True, env=environment).splitlines()[-1]
        )
        for command in ("run", "audit")
    }
    assert mapped["run"] < 48 * 2**20 <= mapped["audit"]


def _check_setting(monkeypatch, name, command, own, expected):
    monkeypatch.setenv(name, own) if own else monkeypatch.delenv(name, raising=False)
    code = (
        f"import os, sys; from discoprobe import cli; sys.argv = ['build', {command!r}, '--help']\n"
        f"try: cli.main()\nfinally: print(os.environ.get({name!r}, 'unset'))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == expected


def test_a_list_of_tasks_waits_for_no_scipy():
    code = "import sys; from discoprobe.builders import task; task.all_tasks(); print('scipy.sparse' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "False"


def test_tasks_names_the_text_that_fills_a_task_and_does_not_read_it(monkeypatch, command):
    from discoprobe import plan, sources

    monkeypatch.setattr(sources, "_text_in_parquet", lambda *_: pytest.fail("the text was read"))
    monkeypatch.setattr(sources, "_paths", lambda *_: [sample_file("es")])
    monkeypatch.setattr(plan, "_forms", lambda *_: {})
    rows = {row["task"]: row for row in json.loads(command("tasks", "--lang", "es", "--json").stdout)}
    assert rows["so"]["filled by"] == "finewiki"
    assert rows["so"]["candidates"] > 0
    assert rows["subj_number"]["filled by"] is None
    alone = json.loads(command("tasks", "--lang", "es", "--corpus", "sample", "--json").stdout)
    assert {row["filled by"] for row in alone} == {None}


def test_a_usage_error_is_one_line_that_names_the_help(command):
    done = command("run", "--language", "es")
    assert (done.returncode, done.stdout) == (2, "")
    # in between, each version of typer names similar options in words of its own
    assert re.fullmatch(r"error: No such option: --language .*--lang\b.*; see `build run --help`\n", done.stderr)
    error = command("ruun").stderr
    assert re.fullmatch(r"error: No such command 'ruun'(\. Did you mean 'run'\?)?; see `build --help`\n", error)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--set", "lines=sentences"], "'lines' says how text is read: give it to `build annotate --set`"),
        (["--set", "x=abc"], "unknown setting 'x'; give block, "),
        (["--set", "ipm_mn=1"], "unknown setting 'ipm_mn'; did you mean ipm_min"),
        (["--set", "ipm_min=abc"], "setting 'ipm_min=abc' cannot be read; give a value such as ipm_min=0.9"),
        (["--set", "min_class=-3"], "min_class is -3; give a number of rows"),
        (["--set", "ipm"], "setting 'ipm' has no value; write it without blanks, such as ipm=share"),
        (["--set", "frequency=nowhere.tsv"], "'frequency=nowhere.tsv': there is no such file"),
        (["--preset", "ruseneval"], "unknown preset 'ruseneval'; did you mean rusenteval"),
        (["--task", "dc nsp"], "separate tasks by commas"),
        (["--corpus", "s3:/bucket/x"], "write two slashes after the colon: s3://bucket/x"),
    ],
)
def test_a_value_with_a_mistake_is_a_usage_error_that_shows_how_to_write_it(command, arguments, says, tmp_path):
    done = command("run", "--lang", "es", "--corpus", "sample", *arguments)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert says in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_url_whose_protocol_needs_other_packages_names_them(command, monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec.implementations.http", None)
    done = command("run", "--lang", "es", "--corpus", "https://example.invalid/es.conllu")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "`pip install aiohttp requests`" in done.stderr


def test_ctrl_c_says_what_is_left(command, monkeypatch, tmp_path):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("discoprobe.pipeline.run", interrupt)
    done = command("run", "--lang", "es", "--corpus", "sample")
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr.strip() == (
        "error: interrupted: the release folder was not changed; the same command continues with what is missing"
    )
    assert list(tmp_path.iterdir()) == []


def test_the_table_of_datasets_is_never_cut(command):
    options = ("run", "--lang", "es", "--corpus", "sample", "--task", "agreement_suite,bso,ssp", "--no-audit")
    for columns in (60, 79, 80, 120):
        shown = command(*options, COLUMNS=str(columns)).stdout.partition("\nload_dataset")[0]
        assert max(map(len, shown.splitlines())) <= min(columns, 79)
        assert re.search("train/val/test +chance" if columns > 60 else "train/", shown)
        assert re.search(r"^agreement_suite .*\n  Do the words agree", shown, re.MULTILINE)
        assert re.search(r"^agreement_suite .*-/-/\d+", shown, re.MULTILINE)
        assert "ssp_es is not built: the corpus has no sections" in " ".join(shown.split())


def test_questions_tricks_and_advice_stand_in_the_table(command, process):
    options = ("run", "--lang", "es", "--corpus", "sample", "--task", "probing")
    shown = command(*options, COLUMNS="120").stdout
    assert re.search(
        r"^sent_len +60/24/72 +17% +length \d\d% +yes \(task\) ±\d+\n  How long is the sentence\?$", shown, re.MULTILINE
    )
    assert re.search(
        r"^pred_tense +96/24/50 +50% +\S.* \d\d% +beat \d\d% ±\d+\n  Tense of the predicate$", shown, re.MULTILINE
    )
    assert "(task): the trick reads what the task asks for" in shown
    assert "±: points of accuracy that luck can add or take" in shown
    assert 'load_dataset("dist/discoprobe", "bigram_shift_es")' in shown  # of two with the best advice the larger one
    assert re.search(r"^\d+ not built: \d+ need more rows", shown, re.MULTILINE)
    assert "pred_aspect_es" not in shown
    verbose = " ".join(process("-v", *options[:-1], "sent_len,pred_aspect").stdout.split())
    assert "pred_aspect_es is not built: Spanish: the treebanks" in verbose
    assert "sent_len_es: " in verbose


def test_a_dry_run_says_what_is_downloaded_and_does_nothing(command, tmp_path):
    options = ("run", "--lang", "wo,yi", "--gold", "--dry-run")
    environment = {"DISCOPROBE_CACHE": str(tmp_path / "cache"), "COLUMNS": "120"}
    done = command(*options, "--json", **environment)
    found = json.loads(done.stdout)
    banks = [bank for code in ("wo", "yi") for bank in treebanks.language(code).treebanks]
    assert {row["corpus"] for row in found["reads"]} >= {bank.name for bank in banks}
    assert {row["how"] for row in found["reads"]} == {"download and read"}
    forms = [table for code in ("wo", "yi") if (table := treebanks.language(code).forms)]
    assert sum(found["download_bytes"].values()) == sum(each.bytes for each in (*banks, *forms))
    one_task = json.loads(command(*options, "--task", "dc", "--json", **environment).stdout)
    assert 0 <= one_task["seconds"] < found["seconds"]
    shown = command(*options, **environment).stdout
    assert re.search(r"^wo +UD_Wolof-WTB +download and read +3 +\d\.\d +CC BY-SA 4.0 +all", shown, re.MULTILINE)
    assert re.search(r"^to download: [\d.]+ MB \((wo|yi) [\d.]+ MB, (wo|yi) [\d.]+ MB\); building", shown, re.MULTILINE)
    assert not (tmp_path / "cache" / "corpora").exists()
    assert not (tmp_path / "dist").exists()
    assert command("run", "--lang", "es", "--corpus", "sample", "--dry-run", "--json").stdout.count("CC0 1.0") == 1


def test_files_of_unknown_size_are_not_taken_for_nothing(command, tmp_path):
    environment = {"DISCOPROBE_CACHE": str(tmp_path / "cache"), "COLUMNS": "120"}
    options = ("run", "--lang", "ca,wo", "--gold", "--dry-run")
    unknown = [file for bank in treebanks.language("ca").treebanks for file in bank.files if file.bytes is None]
    assert unknown, "choose a language with such files"
    found = json.loads(command(*options, "--json", **environment).stdout)
    assert found["files_of_unknown_size"] == {"ca": len(unknown)}
    shown = command(*options, **environment).stdout
    assert re.search(
        rf"^to download: [\d.]+ MB \(.*\) and {len(unknown)} files of unknown size \(ca {len(unknown)}\); "
        r"building from treebanks takes more than \d+ min after that$", shown, re.MULTILINE,
    ), shown  # fmt: skip


def test_a_dry_run_of_many_languages_does_not_ask_the_hub(command, tmp_path):
    environment = {"DISCOPROBE_CACHE": str(tmp_path / "cache"), "HF_ENDPOINT": "http://127.0.0.1:9"}
    done = command("run", "--lang", "all", "--dry-run", "--json", **environment)
    assert done.returncode == 0, done.stderr
    texts = [row for row in json.loads(done.stdout)["reads"] if row["corpus"].startswith("finewiki-")]
    assert len(texts) > 100
    assert {(row["files"], row["bytes"]) for row in texts} == {(0, None)}
