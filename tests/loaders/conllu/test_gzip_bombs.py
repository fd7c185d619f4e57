"""A gzip file that unpacks to far more than it is stops the reading before memory or disk are full."""

import gzip
import time

import pytest

from discoprobe.loaders import CorpusFormatError
from discoprobe.loaders.catalogue import DocumentRule
from discoprobe.loaders.conllu import documents as blocks

SENTENCE = (
    b"# sent_id = 1\n# text = Hola.\n1\tHola\thola\tINTJ\t_\t_\t0\troot\t_\t_\n2\t.\t.\tPUNCT\t_\t_\t1\tpunct\t_\t_\n\n"
)


def read(path):
    return sum(map(len, blocks.blocks(path, 2**20, DocumentRule())))


def test_a_bomb_is_refused(tmp_path):
    path = tmp_path / "bomb.conllu.gz"
    with gzip.open(path, "wb", compresslevel=9) as file:
        for _ in range(80):
            file.write(bytes(2**20))
    start = time.process_time()
    with pytest.raises(CorpusFormatError, match=r"bomb\.conllu\.gz.*more than 200 times its size.*unpack it first"):
        read(path)
    assert time.process_time() - start < 20


def test_a_repetitive_corpus_of_common_size_is_read(tmp_path):
    path = tmp_path / "same.conllu.gz"
    path.write_bytes(gzip.compress(SENTENCE * 20_000))
    assert read(path) == len(SENTENCE) * 20_000


def test_a_large_corpus_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "MOST_SURE", 1_000)
    path = tmp_path / "real.conllu.gz"
    text = b"".join(SENTENCE.replace(b"Hola", f"H{number * 7919 % 99991}".encode()) for number in range(5_000))
    path.write_bytes(gzip.compress(text))
    assert read(path) == len(text)
