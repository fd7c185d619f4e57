"""A treebank of short documents: the reason says how long they are, and how long they would have to be."""

import pytest

from discoprobe.builders import Settings, Unavailable, build_all, tasks_named
from discoprobe.loaders.conllu import read_corpora


def _documents_of(length, folder):
    """Thirty documents of ``length`` sentences with six words each."""
    lines = []
    for document in range(30):
        lines.append(f"# newdoc id = d{document}\n")
        for sentence in range(length):
            words = [f"w{document}x{sentence}x{n}" for n in range(6)]
            lines.append(f"# text = {' '.join(words)}\n")
            lines += [f"{n}\t{word}\t{word}\tX\t_\t_\t{n - 1}\tdep\t_\t_\n" for n, word in enumerate(words, 1)]
            lines.append("\n")
    path = folder / "es_short-ud-test.conllu"
    path.write_text("".join(lines))
    return read_corpora([path])["es"]


@pytest.mark.parametrize(
    ("task", "needed"),
    {
        "dc": 6, "sp": 6, "sp_swap": 5, "order_all": 5, "order_context": 5, "nsp": 5,
        "cloze": 5, "cloze_suite": 5, "nsp_choice": 3, "so": 3,
    }.items(),
)  # fmt: skip
def test_the_reason_names_the_longest_document_and_what_is_needed(tmp_path, task, needed):
    (short,) = build_all(tasks_named([task]), _documents_of(needed - 1, tmp_path), Settings())
    assert isinstance(short, Unavailable)
    assert short.reason == f"documents have at most {needed - 1} sentences; {needed} are needed"
    (enough,) = build_all(tasks_named([task]), _documents_of(needed, tmp_path), Settings())
    assert "documents have" not in getattr(enough, "reason", "")
