"""The tutorial, from a folder of notes to a dataset that is loaded from the loopback Hub: every command of it."""

import os
import re
import shlex
import subprocess
import sys

import pytest
from shared import ROOT, sample_file

pytestmark = pytest.mark.slow
BLOCK = re.compile(r"^```(console|python)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def write_notes(folder):
    """The documents of the Spanish sample as text files."""
    folder.mkdir()
    for document in sample_file("es").read_text(encoding="utf-8").split("# newdoc id = ")[1:]:
        texts = re.findall(r"^# text = (.*)$", document, re.MULTILINE)
        (folder / f"{document.split()[0]}.txt").write_text(" ".join(texts) + "\n", encoding="utf-8")
    assert len(list(folder.iterdir())) >= 20


def test_every_command_of_the_tutorial_works(hub, process, tmp_path):
    case = hub.case("tutorial")
    write_notes(tmp_path / "my_notes")
    environment = {
        "HF_ENDPOINT": hub.url, "HF_TOKEN": case.token, "HF_HOME": str(tmp_path / "hf"), "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_OFFLINE": "0", "HF_DATASETS_OFFLINE": "0", "DISCOPROBE_CACHE": str(tmp_path / "cache"),
    }  # fmt: skip
    page = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8").replace("org/notes", case.repo)
    words = min((tmp_path / "my_notes").iterdir()).read_text(encoding="utf-8").split()
    page = page.replace("words of the sentence", " ".join(words[:5]))
    printed, done_before = {}, []
    for language, block in BLOCK.findall(page):
        if language == "python":
            (tmp_path / "step.py").write_text(block, encoding="utf-8")
            done = subprocess.run(
                [sys.executable, "step.py"], check=False, capture_output=True, text=True, cwd=tmp_path,
                env=os.environ | environment, timeout=120,
            )  # fmt: skip
            assert done.returncode == 0, f"{block}\n{done.stderr}"
            printed[block] = done.stdout
            continue
        for line in block.splitlines():
            name, *words = shlex.split(line.removeprefix("$ "))
            if name != "build" or words[0] == "review":  # the environment is installed; review serves until Ctrl-C
                continue
            done = process(*words, **environment)
            assert done.returncode == 0, f"{line}\n{done.stderr}"
            assert "Traceback" not in done.stderr
            printed[line] = done.stdout
            done_before.append(words[0])
    assert done_before == ["annotate", "tasks", "run", "card", "why", "push", "push", "verify"]
    of = {key.split()[2] if key.startswith("$ build") else "load": text for key, text in printed.items()}
    assert all(re.search(rf"^{task} .* \d+/\d+/\d+ ", of["run"], re.MULTILINE) for task in ("bso", "nsp", "dc"))
    assert re.search(r"^es +bso +(yes|no .*rows)", of["tasks"], re.MULTILINE)
    assert "outcome:" in of["why"]
    assert f"published: {case.repo} 1.0.0" in of["push"]
    assert " 0 differ" in of["verify"]
    assert re.search(r"ClassLabel\(names=\['in_order', 'swapped'\]\).* [1-9]\d*$", of["load"], re.DOTALL)
