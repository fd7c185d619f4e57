"""A treebank of short documents: the reason says how long they are, and how long they would have to be."""

import pytest

from discoprobe.builders.build import build_all
from discoprobe.builders.config import Unavailable
from discoprobe.builders.settings import Settings
from discoprobe.builders.task import tasks_named
from discoprobe.loaders.conllu.reader import read_corpora


@pytest.fixture
def short_documents(tmp_path):
    """Thirty documents of five sentences with six words each."""
    lines = []
    for document in range(30):
        lines.append(f"# newdoc id = d{document}\n")
        for sentence in range(5):
            words = [f"w{document}x{sentence}x{n}" for n in range(6)]
            lines.append(f"# text = {' '.join(words)}\n")
            lines += [f"{n}\t{word}\t{word}\tX\t_\t_\t{n - 1}\tdep\t_\t_\n" for n, word in enumerate(words, 1)]
            lines.append("\n")
    path = tmp_path / "es_short-ud-test.conllu"
    path.write_text("".join(lines))
    return read_corpora([path])["es"]


@pytest.mark.parametrize("task", ["dc", "sp"])
def test_the_reason_names_the_longest_document_and_what_is_needed(short_documents, task):
    (config,) = build_all(tasks_named([task]), short_documents, Settings())
    assert isinstance(config, Unavailable)
    assert config.reason == "documents have at most 5 sentences; 6 are needed"


def test_a_task_for_which_documents_are_long_enough_does_not_say_so(short_documents):
    (config,) = build_all(tasks_named(["so"]), short_documents, Settings())
    assert "documents have" not in getattr(config, "reason", "")
