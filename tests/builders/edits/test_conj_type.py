"""Conjunctions that join clauses of one kind only, in a text that is not tokenised."""

import pytest
from msgspec.structs import replace

import discoprobe
from discoprobe.builders import Settings
from discoprobe.cards.metadata import manifest, yaml_header
from discoprobe.cards.release import open_release
from discoprobe.loaders import hashing
from discoprobe.loaders.conllu import read_corpora
from discoprobe.loaders.errors import UnsupportedError

SETTINGS = replace(Settings(), min_class=1, match=False)


def sentence(n, conjunction, *, coordinated, blank=""):
    """Two clauses of words that no other sentence has, joined by a conjunction, 6 to 17 words.

    ``blank`` stands before the full stop.
    """
    upos, rel, of_clause = ("CCONJ", "cc", "conj") if coordinated else ("SCONJ", "mark", "advcl")
    rows = [
        (f"Gente{n}", "NOUN", 2, "nsubj"), (f"canta{n}", "VERB", 0, "root"), (f"hoy{n}", "ADV", 2, "advmod"),
        (conjunction, upos, 6, rel), (f"vecino{n}", "NOUN", 6, "nsubj"), (f"duerme{n}", "VERB", 2, of_clause),
        *((f"siempre{n}x{i}", "ADV", 6, "advmod") for i in range(hashing.digest(n) % 12)), (".", "PUNCT", 2, "punct"),
    ]  # fmt: skip
    lines = [f"# sent_id = {n}", f"# text = {' '.join(form for form, *_ in rows[:-1])}{blank}."]
    lines += [
        f"{i}\t{form}\t{form}\t{tag}\t_\t_\t{head}\t{role}\t_\t_" for i, (form, tag, head, role) in enumerate(rows, 1)
    ]
    return "\n".join(lines) + "\n\n"


def built(tmp_path, monkeypatch, sentences):
    monkeypatch.setenv("DISCOPROBE_CACHE", str(tmp_path / "cache"))
    (tmp_path / "es_x-ud-test.conllu").write_text("".join(sentences), encoding="utf-8")
    return discoprobe.build("conj_type", read_corpora([tmp_path / "es_x-ud-test.conllu"])["es"], settings=SETTINGS)


@pytest.mark.parametrize(
    ("of_second_kind", "left"), [(0, {"y", "que", "mientras"}), (1, {"y", "que", "mientras"}), (8, {"y", "que"})]
)
def test_a_conjunction_of_both_kinds_is_left_out(tmp_path, monkeypatch, of_second_kind, left):
    """*mientras* joins 40 subordinate clauses, and as many coordinated ones: none, one (a slip), or eight."""
    kinds = [("y", True)] * 80 + [("que", False)] * 80
    kinds += [("mientras", False)] * 40 + [("mientras", True)] * of_second_kind
    sentences = [sentence(n, word, coordinated=kind) for n, (word, kind) in enumerate(kinds)]
    config = built(tmp_path, monkeypatch, sentences)
    rows = [row for table in config.splits.values() for row in table.to_pylist()]
    words = {(row["original"][row["edit"]["start"] :].split()[0], row["label"]) for row in rows}
    assert {word for word, _ in words} == left
    assert ("mientras", 0) not in words
    assert config.drops.get("both-labels", 0) == (0 if not of_second_kind else 1 if of_second_kind == 1 else 48)


def test_a_tokenised_text_is_not_edited(tmp_path, monkeypatch):
    """As in UD_Finnish-FTB and UD_Turkish-Kenet, where blanks stand before all commas and full stops."""
    kinds = [("y", True)] * 300 + [("que", False)] * 300
    sentences = [sentence(n, word, coordinated=kind, blank=" ") for n, (word, kind) in enumerate(kinds)]
    with pytest.raises(UnsupportedError, match="lost: tokenised 600"):
        built(tmp_path, monkeypatch, sentences)
    (corpus,) = read_corpora([tmp_path / "es_x-ud-test.conllu"]).values()
    config = discoprobe.build("sent_len", corpus, settings=SETTINGS)
    assert any(note.endswith("its text was tokenised") for note in config.notes)
    assert not any(" ." in row["text"] for table in config.splits.values() for row in table.to_pylist())
    with open_release(tmp_path / "out") as release:
        release.add(config)
        release.add_corpus(corpus)
        release.finish()
    assert yaml_header.data(manifest.read(tmp_path / "out"))["tokenised_configs"] == ["sent_len_es"]
