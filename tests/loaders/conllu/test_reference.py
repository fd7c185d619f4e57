"""The reader against the reference: the conllu library, on every corpus at hand."""

import conllu
import polars as pl
import pytest
from shared import SHARED

from discoprobe.loaders import UPOS
from discoprobe.loaders.conllu import read_corpora

CORPORA = SHARED / "corpora"
FILES = sorted(CORPORA.rglob("*.conllu"))

UNIVERSAL = set(UPOS.categories.to_list())

CLOSED_UP = {"cop", "cs", "fra.sdrt.annodis", "rus.rst.rrt", "te", "vi"}
"""Languages of treebanks, and corpora of DISRPT, with blanks before marks or clitics, which the reader closes up."""


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCOPROBE_CACHE", str(tmp_path / "cache"))


def nullable(value, form=None):
    return None if value == "_" and form != "_" else value


def reference_words(sentence):
    for token in sentence:
        if not isinstance(token["id"], int):
            continue
        feats = token["feats"] and "|".join(f"{name}={value}" for name, value in token["feats"].items())
        yield (
            token["id"],
            token["form"],
            nullable(token["lemma"], token["form"]),
            nullable(token["upos"]),
            feats,
            token["head"],
            nullable(token["deprel"]),
        )


def surface(sentence):
    """The orthographic token of every word."""
    ranges = {}
    for token in sentence:
        if isinstance(token["id"], tuple) and token["id"][1] == "-":
            ranges |= dict.fromkeys(range(token["id"][0], token["id"][2] + 1), token["form"])
    return [ranges.get(t["id"], t["form"]) for t in sentence if isinstance(t["id"], int)]


def ours(path):
    (corpus,) = read_corpora([path], lang="xx", on_error="skip").values()  # a table of relations beside it has a fault
    for shard in corpus.shards():
        words = shard.tokens.with_columns(pl.col("upos").cast(pl.String)).partition_by("sent", maintain_order=True)
        yield from zip(shard.sentences.iter_rows(named=True), words, strict=True)


def compare(path):
    with path.open(encoding="utf-8") as file:
        expected = list(conllu.parse_incr(file))
    tags = {t["upos"] for s in expected for t in s if isinstance(t["id"], int)}
    foreign = len(tags & UNIVERSAL) * 2 < len(tags - {"_"})
    found = list(ours(path))
    assert len(found) == len(expected)
    for (record, tokens), sentence in zip(found, expected, strict=True):
        wanted = list(reference_words(sentence))
        if foreign:
            wanted = [(*word[:3], None, *word[4:]) for word in wanted]
        columns = ("index", "form", "lemma", "upos", "feats", "head", "deprel")
        assert tokens.select(columns).rows() == wanted, record["sent_id"]
        assert record["n_words"] == len(wanted)
        assert record["sent_id"] == sentence.metadata["sent_id"]
        text = sentence.metadata.get("text", record["text"])
        if path.name.partition("_")[0] in CLOSED_UP:
            assert "".join(record["text"].split()) == "".join(text.split())
        else:
            assert record["text"] == text
        if record["aligned"]:
            spans = zip(tokens["start"], tokens["end"], strict=True)
            shown = [record["text"][start:end] for start, end in spans]
            if path.name.partition("_")[0] in CLOSED_UP:  # in a number, too
                assert ["".join(form.split()) for form in shown] == [
                    "".join(form.split()) for form in surface(sentence)
                ]
            else:
                assert shown == surface(sentence)
        else:
            assert tokens["start"].null_count() == tokens["end"].null_count() == tokens.height


@pytest.mark.slow
@pytest.mark.skipif(not FILES, reason="no ../shared with corpora beside the repository")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_same_words_as_the_reference(path):
    compare(path)
