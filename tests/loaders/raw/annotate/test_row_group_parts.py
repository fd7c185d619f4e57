"""Text in parquet files as parts of a corpus: the same sentences as by way of CoNLL-U, read a row group at a time."""

import pickle
import sys

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import regex
from fsspec.registry import _registry
from shared import SHARED, sample_file

from discoprobe.loaders import (
    CorpusFormatError,
    Counts,
    DiscoprobeError,
    Source,
    UnsupportedError,
    UsageError,
    hashes_of,
)
from discoprobe.loaders.raw import AnnotationOptions, ReadOptions, parquet_corpus
from discoprobe.loaders.raw.prepare import prepare
from discoprobe.plan import is_parquet_text
from discoprobe.sources import load_corpus

FACTS = Source("cuentos", "es", "CC0 1.0")
RULES = AnnotationOptions(segment=True, rules=True)
HUB = SHARED / "corpora" / "hub"
ENGLISH = (
    "This paragraph is written in another language, and nobody who reads Spanish texts expects it to be here at all."
)


def sample_texts(lang="es"):
    """The documents of the sample, each with a heading, sentences in paragraphs, and what is filtered out."""
    texts = []
    for document in sample_file(lang).read_text(encoding="utf-8").split("# newdoc")[1:]:
        sentences = regex.findall(r"^# text = (.*)$", document, regex.MULTILINE)
        half = len(sentences) // 2
        texts.append("\n\n".join([f"# Texto {len(texts)}", " ".join(sentences[:half]), " ".join(sentences[half:])]))
    texts[1] += f"\n\n{ENGLISH}\n\n## Notas\n\nDespués de la nota sigue una frase más, que nadie había leído."
    texts[2] += "\n\n1 2 3\n\n" + texts[3].rpartition("\n\n")[2]
    return texts


def write(path, texts, rows=4, **more):
    path.parent.mkdir(parents=True, exist_ok=True)
    ids = [f"es/{number:03}" for number in range(len(texts))]
    urls = [f"https://example.org/{number}" for number in range(len(texts))]
    columns = {"text": texts, "id": ids, "title": [f"Cuento {id_}" for id_ in ids], "url": urls} | more
    pq.write_table(pa.table(columns), path, row_group_size=rows)
    return path


@pytest.fixture
def folder(tmp_path):
    texts = sample_texts()
    write(tmp_path / "in" / "data" / "a.parquet", texts[:6])
    write(tmp_path / "in" / "data" / "b.parquet", texts[6:], id=[f"es/{n:03}" for n in range(6, len(texts))])
    return tmp_path / "in"


def tables(corpus):
    shards = list(corpus.shards())
    sentences = pl.concat(
        shard.sentences.join(shard.documents.select("doc", "doc_id", "corpus"), on="doc")
        .join(shard.sentence_facts().rename({"n_words": "length"}), on="sent", maintain_order="left")
        .with_columns(part=number)
        for number, shard in enumerate(shards)
    )
    begins = pl.struct("part", "run").ne_missing(pl.struct("part", "run").shift()).alias("begins")
    return sentences.select("corpus", "doc_id", "index", "sent_id", "text", "key", "text_key", "length", begins)


def test_sentences_are_those_of_the_way_through_conllu(tmp_path):
    path = write(tmp_path / "cuentos.parquet", sample_texts(), rows=100)
    annotated = prepare(str(path), FACTS, RULES, out=tmp_path / "out")
    old = tables(load_corpus("es", [str(tmp_path / "out")]))
    corpus = parquet_corpus(str(path), FACTS, RULES)
    new = tables(corpus)
    assert new.drop("begins").equals(old.drop("begins"))
    assert new["begins"].sum() > new["doc_id"].n_unique()  # the headings inside documents
    assert new["begins"].to_list() == old["begins"].to_list()
    record = corpus.parts[0].record()
    assert record["drops"] == annotated.manifest.drops
    assert record["drops"]["reading"].keys() >= {"paragraph-language", "no-letters", "duplicate-paragraph"}
    assert (record["documents"], record["sentences"]) == (annotated.manifest.documents, old.height)
    assert record["about"][0] == ["es/000", "Cuento es/000", "https://example.org/0"]


def test_a_part_is_a_row_group_and_says_what_it_is_before_it_is_read(folder, monkeypatch):
    corpus = parquet_corpus(str(folder), FACTS, RULES)
    a, b = (hashes_of(folder / "data" / name).sha256 for name in ("a.parquet", "b.parquet"))
    assert [part.identity for part in corpus.parts][:3] == [f"{a}#0", f"{a}#1", f"{b}#0"]
    rows = len(sample_texts())
    assert corpus.counts == Counts(rows, rows, 0, {"sections": rows, "text": rows})
    assert corpus.layers == {"text", "documents", "sections"}
    part = corpus.parts[1]
    assert part.record() is None
    group = pq.ParquetFile(folder / "data" / "a.parquet").metadata.row_group(1)
    assert (part.n_documents, part.size) == (2, group.column(0).total_uncompressed_size)
    again = pickle.loads(pickle.dumps(part))
    assert again == part
    shard = again.load()
    assert shard.documents["doc_id"].to_list() == ["es/004", "es/005"]
    assert part.record()["documents"] == 2
    assert corpus.parts[0].record() is None
    monkeypatch.setattr(type(part), "_make", None)
    assert part.load().sentences.equals(shard.sentences)  # from the cache


def test_a_changed_file_is_read_again(folder):
    first = parquet_corpus(str(folder), FACTS, RULES).parts[0]
    texts = first.load().sentences["text"].to_list()
    write(folder / "data" / "a.parquet", [text.replace(" el ", " aquel ") for text in sample_texts()[:6]])
    second = parquet_corpus(str(folder), FACTS, RULES).parts[0]
    assert second.identity != first.identity
    assert second.load().sentences["text"].to_list() != texts


def test_rows_without_an_id_of_their_own_are_numbered(tmp_path):
    write(tmp_path / "a.parquet", sample_texts()[:4], id=["x", "x", None, "y"], rows=2)
    corpus = parquet_corpus(str(tmp_path / "a.parquet"), FACTS, RULES)
    ids = [doc_id for shard in corpus.shards() for doc_id in shard.documents["doc_id"].to_list()]
    assert ids == ["a-000002", "x", "a-000003", "y"]


def test_a_row_is_never_numbered_with_the_id_of_another(tmp_path):
    write(tmp_path / "a.parquet", sample_texts()[:4], id=["a-000003", "x", None, "x"])
    (part,) = parquet_corpus(str(tmp_path / "a.parquet"), FACTS, RULES).parts
    assert part.load().documents["doc_id"].to_list() == ["a-000003", "a-000003~2", "a-000004", "x"]


def test_rows_that_are_left_out_are_counted(tmp_path):
    write(tmp_path / "a.parquet", sample_texts()[:3], id=["x", None, "x"])
    options = AnnotationOptions(segment=True, rules=True, read=ReadOptions(id="id", on_error="skip"))
    (part,) = parquet_corpus(str(tmp_path / "a.parquet"), FACTS, options).parts
    assert part.load().documents["doc_id"].to_list() == ["x"]
    assert part.record()["drops"]["reading"]["unreadable"] == 2


@pytest.mark.parametrize("url", ["file://{}", "{}/data/*.parquet", "local://{}/data/a.parquet"])
def test_urls_and_patterns_give_the_same_parts(folder, url):
    by_path = parquet_corpus(str(folder), FACTS, RULES)
    assert is_parquet_text(str(folder))
    found = parquet_corpus(url.format(folder), FACTS, RULES)
    assert {part.file.sha256 for part in found.parts} <= {part.file.sha256 for part in by_path.parts}
    assert found.parts[0].load().sentences["text"].equals(by_path.parts[0].load().sentences["text"])


def _raised(error, *parts, source, options=RULES):
    with pytest.raises(error) as raised:
        list(parquet_corpus(str(source), FACTS, options).shards())
    message = str(raised.value)
    assert "\n" not in message
    assert [part for part in parts if part not in message] == []


def test_what_cannot_be_read_is_one_line(tmp_path, folder, monkeypatch):
    named = AnnotationOptions(segment=True, rules=True, read=ReadOptions(text="body"))
    _raised(UsageError, "a.parquet", "no column 'body' for --text", "title", source=folder, options=named)
    write(tmp_path / "empty" / "e.parquet", [])
    _raised(UnsupportedError, "empty", "no row", source=tmp_path / "empty")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 this is none")
    _raised(CorpusFormatError, "bad.parquet", "not a readable parquet file", source=tmp_path / "bad.parquet")
    _raised(DiscoprobeError, "file:///nowhere", "no such file or folder", source="file:///nowhere")
    monkeypatch.setitem(sys.modules, "s3fs", None)  # as if it was not installed
    monkeypatch.delitem(_registry, "s3", raising=False)
    _raised(UsageError, "s3://bucket/x", "s3fs", source="s3://bucket/x.parquet")
    _raised(UsageError, "nosuch://x", "rotocol", source="nosuch://x/y.parquet")
    write(tmp_path / "wrong.parquet", [1, 2])
    _raised(
        CorpusFormatError,
        "wrong.parquet:1",
        "column 'text': expected text, found a number; correct it, or name another column with --text",
        source=tmp_path / "wrong.parquet",
    )


@pytest.mark.skipif(not HUB.is_dir(), reason="no ../shared with texts of the Hub beside the repository")
@pytest.mark.parametrize(("folder", "lang"), [("wiki_de", "de"), ("novels_es", "es")])
def test_sentences_of_real_articles_and_novels_are_whole(folder, lang):
    """In a row group of each: hardly a sentence is broken at an ordinal or title, or shows a trace of extraction."""
    corpus = parquet_corpus(str(HUB / folder), Source(folder, lang), RULES)
    part = min(corpus.parts, key=lambda part: part.size)
    shard = part.load()
    text = shard.sentences["text"]
    broken = {
        "ordinal": text.str.contains(r"\b(?:des|im|vom|am|zum) \d{1,2}\.$"),
        "title": text.str.contains(r" D\.$"),
        "brackets": text.str.contains(r"\(\s*\)|\[\d+\]"),
        "coordinates": text.str.contains(r"″ [NO]\d"),
        "heading": text.str.contains(r"^#"),
    }
    shares = {what: found.mean() for what, found in broken.items()}
    assert max(shares.values()) < 0.001, shares
    assert len(text) > 500
    dropped = part.record()["drops"]["annotation"]
    assert sum(n for reason, n in dropped.items() if reason != "heading") < 0.02 * len(text)


def test_documents_are_in_the_order_of_their_ids_wherever_they_stand_in_a_row_group(tmp_path):
    texts = sample_texts()
    ids = [f"es/{number:03}" for number in range(len(texts))]
    write(tmp_path / "sorted" / "cuentos.parquet", texts, rows=100)
    write(tmp_path / "reversed" / "cuentos.parquet", texts[::-1], rows=100, id=ids[::-1])
    of_both = [tables(parquet_corpus(str(tmp_path / name), FACTS, RULES)) for name in ("sorted", "reversed")]
    assert of_both[0].equals(of_both[1])
    assert of_both[0]["doc_id"].unique(maintain_order=True).to_list() == sorted(set(of_both[0]["doc_id"]))
