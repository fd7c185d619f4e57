"""A release of many configs: written, published on the loopback Hub, loaded, and changed in four of them.

It has 600, which is more than a card could list; ``DISCOPROBE_TASKS=30`` makes it 1,500 (minutes of uploads).
"""

import json
import os
import subprocess
import sys

import pytest
import releases
from datasets import get_dataset_config_names, load_dataset

from discoprobe.cards.metadata import manifest, yaml_header
from discoprobe.cards.release import checks as card_checks
from discoprobe.cards.release import open_release
from discoprobe.cards.text import card
from discoprobe.loaders import Corpus, Counts

pytestmark = pytest.mark.slow
LANGS = (
    "af", "am", "ar", "be", "bg", "bn", "br", "ca", "cop", "cs", "cy", "da", "de", "el", "en", "es", "et", "eu", "fa",
    "fi", "fo", "fr", "ga", "gd", "gl", "gsw", "he", "hi", "hr", "hsb", "hu", "id", "is", "it", "ja", "kk", "ko", "la",
    "lt", "lv", "mt", "nl", "no", "pl", "pt", "ro", "ru", "sk", "sl", "sv",
)  # fmt: skip
TASKS = tuple(f"task{number}" for number in range(int(os.environ.get("DISCOPROBE_TASKS", "12"))))
LAST = f"{TASKS[-1]}_sv"


def add(folder, langs, tasks, change=None):
    with open_release(folder) as release:
        for lang in langs:
            release.add_corpus(Corpus(lang, (releases.source(lang),), (), Counts()))
            for task in tasks:
                one = releases.config(task, lang, change=change)
                release.add(one, releases.report(one))
        return release.finish()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("large") / "release"
    add(out, LANGS, TASKS)
    return out


@pytest.fixture(scope="module")
def program(hub, tmp_path_factory):
    """A function that runs a program as a user of the loopback Hub does."""
    home, case = tmp_path_factory.mktemp("home"), hub.case("large")

    def run(*words):
        environment = {
            **os.environ, "HF_ENDPOINT": hub.url, "HF_TOKEN": case.token, "HF_HOME": str(home / "hf"),
            "HF_HUB_DISABLE_XET": "1", "HF_HUB_OFFLINE": "0", "HF_DATASETS_OFFLINE": "0",
            "HF_DATASETS_CACHE": str(home / "datasets"),
        }  # fmt: skip
        done = subprocess.run(
            [sys.executable, *map(str, words)], cwd=home, env=environment, capture_output=True, text=True, check=False,
            timeout=580,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    run.repo = case.repo
    return run


def test_the_folder(folder):
    whole = manifest.read(folder)
    assert len(whole.configs) == 50 * len(TASKS)
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert len(files) <= 3 * len(whole.configs) + 5 * len(LANGS) + 8
    assert releases.problems(folder) == []
    readme = (folder / "README.md").read_text(encoding="utf-8")
    assert len(readme.encode()) <= card.MOST_BYTES
    assert len(readme.split("---\n")[1].encode()) < card_checks.MOST_BYTES / 20
    # no larger with more configs: the languages, and some 7 kB on responsible use
    assert len((folder / "croissant.json").read_bytes()) < 20_000
    tables = folder / "CONFIGS.md"
    shown = tables.read_text(encoding="utf-8") if tables.exists() else readme
    assert all(f"](cards/{entry.lang}.md#{name})" in shown for name, entry in whole.configs.items())
    assert len(get_dataset_config_names(str(folder))) == 50 * len(TASKS)
    assert load_dataset(str(folder), LAST, split="test").num_rows == 8
    assert (folder / yaml_header.STANDALONE).stat().st_size < 80 * len(whole.configs)
    assert [*load_dataset(str(folder))] == ["train", "validation", "test"]
    assert len(list(load_dataset(str(folder), "task0_af", split="validation", streaming=True))) == 4


LOAD = """
import sys, time
from datasets import load_dataset
print([load_dataset(sys.argv[1], name, revision=sys.argv[2])["test"].num_rows for name in sys.argv[3:]])
"""


def test_published_loaded_and_changed(folder, program):
    push = ("-m", "discoprobe", "push", "--no-build", "--out", folder, "--repo", program.repo, "--yes", "--json")
    first = json.loads(program(*push))
    assert first["state"] == "published"
    assert program("-c", LOAD, program.repo, "v1.0.0", "task0_af", LAST) == "[8, 8]\n"

    def other_row(rows):
        rows[0]["sentence1"] += " Changed."
        return rows

    add(folder, ("de",), TASKS[:4], other_row)
    second = json.loads(program(*push))
    assert second["release"] != first["release"]
    sent = {path.partition("/")[0] for path in second["uploads"] if "/" in path}
    assert sent <= {f"task{n}_de" for n in range(4)} | {"assets", "cards", "manifest"}
    assert [path for path in second["uploads"] if path.startswith("manifest/")] == ["manifest/de.parquet"]
    whole = {path for path in second["uploads"] if "/" not in path}
    assert whole <= {
        "README.md",
        "CHANGELOG.md",
        "CONFIGS.md",
        "croissant.json",
        "eval.yaml",
        "manifest.json",
        "overview.svg",
        yaml_header.STANDALONE,
    }
    print(f"{len(second['uploads'])} files, {sum(second['uploads'].values()):,} bytes:")
    print({path: size for path, size in second["uploads"].items() if size > 20_000})
    assert sum(second["uploads"].values()) < 600_000
    assert program("-c", LOAD, program.repo, f"v{second['release']}", "task0_de", LAST) == "[8, 8]\n"
