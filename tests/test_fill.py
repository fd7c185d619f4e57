"""Text that fills the sizes of discourse tasks where a treebank has too few documents."""

import json

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from raw_cases import articles

from discoprobe.builders import Settings, blocks_of
from discoprobe.plan import plan
from discoprobe.sources import Request, corpora_of


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cuentos")
    texts = articles(60)
    table = pa.table({"text": texts, "id": [f"c/{number}" for number in range(len(texts))]})
    pq.write_table(table, folder / "a.parquet", row_group_size=20)
    return folder


def rows(folder, name):
    return pl.concat(pl.read_parquet(path) for path in sorted((folder / name).glob("*.parquet")))


def test_documents_of_the_treebank_come_first_and_text_fills_the_sizes(command, tmp_path, text):
    built = {}
    for name, more in {"gold": (), "filled": ("--fill", str(text))}.items():
        done = command(
            "run", "--lang", "es", "--corpus", "sample", "--task", "so,dc,subj_number", "--no-audit",
            "--out", tmp_path / name, *more,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        built[name] = rows(tmp_path / name, "so_es")
    filled = built["filled"]
    counts = dict(filled.group_by("corpus").len().iter_rows())
    assert counts["sample-es"] == built["gold"].height
    assert sum(counts.values()) > 2 * counts["sample-es"]
    incoherent = rows(tmp_path / "filled", "dc_es").explode("sent_ids")
    foreign = incoherent.filter((pl.col("corpus") == "sample-es") & pl.col("sent_ids").str.starts_with("c/"))
    assert foreign.is_empty()
    assert set(rows(tmp_path / "filled", "subj_number_es")["corpus"]) == {"sample-es"}
    sources = json.loads((tmp_path / "filled" / "manifest.json").read_text())["sources"]
    (name,) = set(sources) - {"sample-es"}
    assert sources[name]["annotation"]["fills"] is True


def test_blocks_of_text_come_after_all_others(text):
    from discoprobe.builders import tasks_named

    request = Request(("es",), ("sample",), fill=(str(text),))
    wanted = tasks_named(("so", "subj_number", "connective_suite"))
    ((_, gold_tasks), (corpus, filled_tasks)) = list(corpora_of(plan(request, wanted)))
    assert [task.name for task in gold_tasks] == ["subj_number"]
    assert [task.name for task in filled_tasks] == ["so", "connective_suite"]
    blocks = blocks_of(corpus.parts, Settings())
    kinds = [{getattr(part, "fills", False) for part in block} for block in blocks]
    assert kinds == sorted(kinds, key=max)
    assert [len(kind) for kind in kinds] == [1] * len(kinds)
    assert kinds[-1] == {True}


def test_what_cannot_fill_is_named(command, tmp_path):
    done = command("run", "--lang", "es", "--corpus", "sample", "--fill", "UD_Spanish-PUD", "--out", tmp_path / "out",
                   "--task", "so")  # fmt: skip
    assert done.returncode == 2
    assert "--fill UD_Spanish-PUD: not text in parquet files" in done.stderr
