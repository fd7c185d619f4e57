"""Sections of Markdown and of JSON lines, and speakers of plays, from the source to the tables of a corpus."""

import json
import random
from itertools import pairwise

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discoprobe.builders import Settings
from discoprobe.builders.build import build
from discoprobe.loaders import CorpusFormatError, Source
from discoprobe.loaders.conllu import read_corpora
from discoprobe.loaders.raw import AnnotationOptions, DropCounts, RawDocument, ReadOptions, parquet_corpus, row_document
from discoprobe.loaders.raw.prepare import prepare

ARTICLE = """# Der See

Der See liegt im Norden des Landes. Er ist sehr tief.

## Geschichte

Die Römer kannten ihn schon damals. Später wurde er vergessen.

### Neuzeit

Heute baden dort viele Leute gern.
"""
SECTIONS = [0, 0, 1, 1, 2]
OPTIONS = ReadOptions(script_share=0, language_share=0, boilerplate=0, duplicates=False)


def numbers(text):
    found = row_document(RawDocument("a", (), "a.md", text), OPTIONS, DropCounts())
    return [paragraph.section for paragraph in found.paragraphs if paragraph.kind == "text"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (ARTICLE, [0, 1, 2]),
        ("# Titel\n\nEin Satz steht hier.", [None]),
        ("Ein Satz steht hier.\n\nNoch einer.", [None, None]),
        ("# Titel\n\n## Leben\n\nEr lebte lange in Wien.\n\n## Werk\n\nEr schrieb.", [1, 2]),
        ("# Erstens\n\nEin Satz steht hier.\n\n# Zweitens\n\nNoch einer.", [1, 2]),
        ("Ein Satz steht hier.\n\n== Leben ==\n\nEr lebte lange in Wien.", [0, 1]),
        ("<!-- toc -->\n# Titel\n\nEin Satz steht hier.\n\n## Leben\n\nEr lebte lange in Wien.", [0, 1]),
        ("Ein Satz steht hier.\n\n## <br>\n\nNoch einer.", [None, None]),
    ],
    ids=["article", "title alone", "no heading", "no lead", "no title", "wiki markup", "comment", "empty heading"],
)
def test_sections_of_a_text(text, expected):
    assert numbers(text) == expected


def test_a_long_paragraph_stays_in_its_section(tmp_path):
    long = " ".join(f"Das ist der lange Satz Nummer {n} von vielen." for n in range(20))
    (tmp_path / "a.txt").write_text(f"# Titel\n\nKurz ist das.\n\n## Teil\n\n{long}\n", encoding="utf-8")
    corpus = annotated(tmp_path, read=ReadOptions(max_characters=200))
    assert set(column(corpus, "section")[1:]) == {1}


def annotated(folder, lang="de", read=OPTIONS):
    """The corpus that text becomes by way of CoNLL-U."""
    made = prepare(
        str(folder), Source("toy", lang, "CC0"), AnnotationOptions(segment=True, rules=True, read=read),
        out=folder.parent / f"{folder.name}-conllu",
    )  # fmt: skip
    return read_corpora([made.folder], lang=lang)[lang]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("DISCOPROBE_CACHE", str(tmp_path_factory.mktemp("cache")))


def column(corpus, name):
    return [value for shard in corpus.shards() for value in shard.sentences[name].to_list()]


def test_text_and_parquet_have_the_same_sections(tmp_path):
    for kind in ("text", "table"):
        (tmp_path / kind).mkdir()
    (tmp_path / "text" / "see.txt").write_text(ARTICLE, encoding="utf-8")
    pq.write_table(pa.table({"id": ["see"], "text": [ARTICLE]}), tmp_path / "table" / "a.parquet")
    written = annotated(tmp_path / "text")
    table = parquet_corpus(
        str(tmp_path / "table"), Source("toy", "de", "CC0"), AnnotationOptions(segment=True, read=OPTIONS)
    )
    (segmented,) = table.shards()
    assert column(written, "section") == segmented.sentences["section"].to_list() == SECTIONS
    assert column(written, "text") == segmented.sentences["text"].to_list()
    assert "sections" in written.layers
    assert "speakers" not in written.layers


def lines(folder, *records):
    folder.mkdir()
    (folder / "a.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return folder


def test_sections_in_json_lines(tmp_path):
    body = [
        {"name": "Abstract", "text": "Der See liegt im Norden des Landes. Er ist sehr tief."},
        {"name": "Die\nGeschichte", "text": "Die Römer kannten ihn schon damals. Später wurde er vergessen."},
        {"name": "Neuzeit", "text": "Heute baden dort viele Leute gern."},
    ]
    without = [{"name": "", "text": body[0]["text"]}, *body[1:]]
    corpus = annotated(lines(tmp_path / "j", {"id": "a", "sections": body}, {"id": "b", "sections": without}))
    assert column(corpus, "section") == SECTIONS * 2


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        (
            [{"name": "A", "text": "Gut."}, "Ein Text"],
            "column 'sections', item 2: expected an object, found text; correct it",
        ),
        ({"name": "A"}, "column 'sections': expected text, found an object; correct it"),
        (
            [{"name": "A", "text": "Gut."}, {"name": "B"}],
            "column 'sections', item 2: no 'text'; correct it",
        ),
        ([{"name": 3, "text": "Gut."}], "column 'sections', item 1, name: expected text, found a number; correct it"),
        ([{"name": "A", "text": "Gut."}, {"name": " ", "text": "Gut."}], "section 2 has no name"),
        (
            [{"name": "A", "text": "\ud800"}],
            "column 'sections' holds half of a character (surrogate U+D800); remove it",
        ),
    ],
)
def test_malformed_sections_are_named_with_their_line(tmp_path, sections, message):
    good = {"id": "a", "sections": [{"name": "", "text": "Der erste Satz steht hier."}]}
    with pytest.raises(CorpusFormatError) as error:
        annotated(lines(tmp_path / "j", good, {"id": "b", "sections": sections}))
    assert str(error.value).startswith("a.jsonl:2: ")
    assert message in str(error.value)


def play(
    body, people="<particDesc><listPerson><person xml:id='anna'/><person xml:id='bruno'/></listPerson></particDesc>"
):
    return (
        f'<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><profileDesc>{people}</profileDesc></teiHeader>\n'
        f"<text><body>\n{body}\n</body></text></TEI>"
    )


SCENE = """<div><sp who="#anna"><speaker>Anna.</speaker><p>Wer ist denn da? Ich höre doch etwas.</p></sp>
<sp who="#bruno"><speaker>Bruno.</speaker><p>Ich bin es nur.</p></sp>
<sp who="#anna #bruno"><speaker>Beide.</speaker><p>Da kommt noch jemand.</p></sp>
<sp><speaker>Eine  Stimme.</speaker><p>Macht die Tür auf!</p></sp></div>"""


def test_speakers_of_a_play(tmp_path):
    (folder := tmp_path / "p").mkdir()
    (folder / "stueck.xml").write_text(play(SCENE), encoding="utf-8")
    corpus = annotated(folder)
    assert column(corpus, "speaker") == ["anna", "anna", "bruno", "anna bruno", "Eine Stimme."]
    assert "speakers" in corpus.layers


def test_a_speaker_who_is_not_in_the_list(tmp_path):
    (folder := tmp_path / "p").mkdir()
    (folder / "stueck.xml").write_text(play(SCENE.replace("#bruno", "#bruna", 1)), encoding="utf-8")
    with pytest.raises(CorpusFormatError, match=r"stueck.xml:4: <sp who='#bruna'> names nobody in <particDesc>"):
        annotated(folder)
    (folder / "stueck.xml").write_text(play(SCENE.replace("#bruno", "#bruna", 1), people=""), encoding="utf-8")
    assert "bruna" in column(annotated(folder), "speaker")


WORDS = [
    "see",
    "berg",
    "stadt",
    "haus",
    "wald",
    "fluss",
    "turm",
    "markt",
    "kirche",
    "brücke",
    "garten",
    "hafen",
    "insel",
    "dorf",
    "straße",
    "schloss",
]


def compound(make, n):
    return "".join(make.choices(WORDS, k=n))


def sentences(make):
    """A function that makes sentences; each has one word in common with the one before, and hardly another."""

    def new_word():
        return "".join(make.choices("abcdefghiklmnoprstuvw", k=9))

    before = new_word()

    def sentence(n, end="."):
        nonlocal before
        shared, before = before, new_word()
        words = " ".join(compound(make, 2) for _ in range(n))
        return f"{compound(make, 2).capitalize()} {shared} {words} {before} {make.randint(2, 9999)}{end}"

    return sentence


def test_ssp_takes_each_sentence_of_a_lead_with_one_of_the_body_of_its_document(tmp_path):
    make = random.Random(5)
    sentence = sentences(make)

    def section(n, least):
        return " ".join(sentence(make.randint(least, 12)) for _ in range(n))

    texts = [
        f"# Titel {n}\n\n{section(6, 3)}\n\n## Eins\n\n{section(12, 6)}\n\n## Zwei\n\n{section(12, 6)}"
        for n in range(40)
    ]
    (folder := tmp_path / "t").mkdir()
    table = pa.table({"id": [f"d{n}" for n in range(40)], "text": texts})
    pq.write_table(table, folder / "a.parquet", row_group_size=8)
    corpus = parquet_corpus(str(folder), Source("toy", "de", "CC0"), AnnotationOptions(segment=True, read=OPTIONS))
    config = build("ssp", corpus, Settings())
    facts = pl.concat(
        shard.sentences.join(shard.documents.select("doc", "doc_id"), on="doc") for shard in corpus.shards()
    )
    known = {(doc, sent): (index, number) for doc, sent, index, number in
             facts.select("doc_id", "sent_id", "index", "section").iter_rows()}  # fmt: skip
    rows = [row for table in config.splits.values() for row in table.to_pylist()]
    assert len(rows) > 100
    for row in rows:
        index, number = known[row["doc_id"], row["sent_ids"][0]]
        assert index > 0
        assert (number > 0) == (config.labels[row["label"]] == "body")
    by_document = {}
    for row in rows:
        by_document.setdefault(row["doc_id"], [[], []])[row["label"]].append(len(row["text"]))
    for lead, body in by_document.values():
        assert len(lead) == len(body)
        assert all(abs(a - b) <= 0.12 * max(a, b) for a, b in zip(sorted(lead), sorted(body), strict=True))
    longer = sum(sum(lead) - sum(body) for lead, body in by_document.values())
    assert abs(longer) < 2 * len(rows)  # characters: without balance the body is much longer
    blocks = build("ssp", corpus, Settings(sizes=(20, 10, 10), block=1))
    for table in blocks.splits.values():
        assert table.num_rows in {20, 10}
        labels = {}
        for row in table.to_pylist():
            labels.setdefault(row["doc_id"], []).append(row["label"])
        assert all(2 * sum(of) == len(of) for of in labels.values())


def test_speaker_balances_final_marks_and_tells_turns_apart(tmp_path):
    make = random.Random(7)
    sentence = sentences(make)
    people = ["anna", "bruno", "clara"]

    def scene():
        turns, speaker = [], "anna"
        for _ in range(40):
            speaker = make.choice([one for one in people if one != speaker])
            n = make.randint(1, 4)
            said = [sentence(make.randint(2, 6)) for _ in range(n - 1)]
            said.append(sentence(make.randint(2, 6), "?" if make.random() < 0.6 else "."))
            turns.append(f'<sp who="#{speaker}"><p>{" ".join(said)}</p></sp>')
            if make.random() < 0.2:  # a sentence that nobody says
                turns.append(f"<p>{sentence(make.randint(2, 6))}</p>")
        return f"<div>{''.join(turns)}</div>"

    (folder := tmp_path / "p").mkdir()
    for n in range(3):
        (folder / f"stueck{n}.xml").write_text(play("".join(scene() for _ in range(8)), people=""), encoding="utf-8")
    corpus = annotated(folder)
    config = build("speaker", corpus, Settings())
    (shard,) = corpus.shards()
    said = dict(shard.sentences.select("sent_id", "speaker").iter_rows())
    follows = dict(pairwise(shard.sentences["sent_id"]))
    seen = set()
    for table in config.splits.values():
        ends = [[], []]
        for row in table.to_pylist():
            first, second = row["sent_ids"]
            assert (said[first] == said[second]) == (config.labels[row["label"]] == "same")
            assert said[first]
            assert said[second]
            assert follows[first] == second
            assert not {first, second} & seen
            seen |= {first, second}
            ends[row["label"]].append(row["sentence1"][-1] + row["sentence2"][-1])
        assert sorted(ends[0]) == sorted(ends[1])
        assert len(ends[0]) > 10
