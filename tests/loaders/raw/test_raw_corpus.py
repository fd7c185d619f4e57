"""Documents of folders, tables and datasets: the same whatever holds them, and clear words for what is not readable."""

import csv
import errno
import io
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from shared import SHARED

from discoprobe.loaders import CorpusFormatError, DiscoprobeError, UsageError
from discoprobe.loaders.raw import ReadOptions, read_documents
from discoprobe.loaders.raw import raw_corpus as paragraph_filters

sys.path.insert(0, str(Path(__file__).parents[2] / "cards"))

from hub_server import serving

TEXT = SHARED / "corpora" / "text"
needs_text = pytest.mark.skipif(not TEXT.is_dir(), reason="no ../shared with raw text beside the repository")

NOTES = {
    "b": "Der Hund von nebenan bellt den ganzen Tag.\nEr ist allein zu Haus.\n\nAm Abend kommt sein Herr zurück.",
    "a": "== Titel ==\n\nAm Meer war es im Sommer immer sehr\nvoll. Im Winter kam niemand.",
    "Ä": 'Sie sagte: "Komm, wir gehen!"\r\nUnd dann, ohne ein Wort, gingen sie.',
}


def documents(path, **options):
    corpus = read_documents(path, ReadOptions(**options))
    return list(corpus), corpus.counts


def as_txt(folder):
    folder.mkdir()
    for name, text in NOTES.items():
        (folder / f"{name}.txt").write_bytes(text.encode())
    return folder


def as_jsonl(folder):
    path = folder.with_suffix(".jsonl")
    path.write_text("".join(json.dumps({"id": name, "text": text}) + "\n" for name, text in NOTES.items()))
    return path


def as_json_array(folder):
    path = folder.with_suffix(".jsonl")
    path.write_text(json.dumps([{"id": name, "text": text} for name, text in NOTES.items()], indent=1))
    return path


def as_table():
    return pa.table({"id": list(NOTES), "text": list(NOTES.values()), "other": [1, 2, 3]})


def as_parquet(folder):
    pq.write_table(as_table(), folder.with_suffix(".parquet"))
    return folder.with_suffix(".parquet")


def as_csv(folder):
    with (path := folder.with_suffix(".csv")).open("w", newline="", encoding="utf-8-sig") as file:
        csv.writer(file).writerows([("Id", "Text"), *NOTES.items()])
    return path


def as_dataset(folder):
    datasets.Dataset(as_table()).save_to_disk(str(folder))
    return folder


def as_dataset_dict(folder):
    table = datasets.Dataset(as_table())
    splits = {"train": table.select([0, 2]), "test": table.select([1])}
    datasets.DatasetDict(splits).save_to_disk(str(folder))
    return folder


@pytest.mark.parametrize("write", [as_jsonl, as_json_array, as_parquet, as_csv, as_dataset, as_dataset_dict])
def test_the_container_does_not_matter(write, tmp_path):
    wanted, _ = documents(as_txt(tmp_path / "txt"), lang="de")
    found, _ = documents(write(tmp_path / "other"), lang="de")
    assert [d.doc_id for d in wanted] == ["a", "b", "Ä"]
    assert [d.digest for d in found] == [d.digest for d in wanted]
    assert [d.source_text for d in found] == [d.source_text for d in wanted]


@pytest.mark.slow
def test_the_hub(tmp_path):
    with serving() as hub:
        repo = hub.create("me/notes")
        pq.write_table(as_table(), file := io.BytesIO())
        files = {"README.md": b"---\nlicense: cc0-1.0\n---\n", "data/train-00000-of-00001.parquet": file.getvalue()}
        repo.commit("main", "notes", "me", {path: repo.store(path, content) for path, content in files.items()})
        environment = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
        environment |= {"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path), "HF_HUB_DISABLE_XET": "1"}
        program = """if True:
            from discoprobe.loaders.errors import RemoteError
            from discoprobe.loaders.raw.raw_corpus import read_documents
            print([(d.doc_id, d.source, len(d.paragraphs)) for d in read_documents("me/notes")])
            try:
                list(read_documents("me/nothing"))
            except RemoteError as error:
                print(error)
        """
        ran = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=100, check=True
        )
    notes, error = ran.stdout.splitlines()
    place = "me/notes/train"
    assert notes == str([("a", f"{place}:2", 2), ("b", f"{place}:1", 2), ("Ä", f"{place}:3", 1)])
    assert error.startswith("me/nothing: no such folder, and no such dataset on the Hub: ")


def test_sentences_in_lists_are_taken_as_they_are(tmp_path):
    rows = [
        {"id": "x", "sentences": ["Dr. Abel kam. Er ging.", "", "Dann  Ruhe."], "genre": "news"},
        {"id": "y", "sentences": [["Eins ist da.", "Zwei auch."], ["Drei fehlt."]], "genre": None},
    ]
    (path := tmp_path / "s.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (x, y), counts = documents(path)
    assert [[p.text[a:b] for a, b in p.sentences] for p in x.paragraphs] == [["Dr. Abel kam. Er ging."], ["Dann Ruhe."]]
    assert (x.gaps, x.genre, x.extracted, counts.reasons["empty-segment"]) == ({1}, "news", True, 1)
    assert [[p.text[a:b] for a, b in p.sentences] for p in y.paragraphs] == [
        ["Eins ist da.", "Zwei auch."],
        ["Drei fehlt."],
    ]
    assert not y.gaps
    for document in (x, y):
        for paragraph in document.paragraphs:
            for a, b in paragraph.sentences:
                slice_ = document.source_text[slice(*paragraph.source_span(a, b))]
                assert " ".join(slice_.split()) == paragraph.text[a:b]


@pytest.mark.parametrize(
    ("name", "content", "options", "error", "message"),
    [
        ("t.jsonl", '{"text": "a"}\n{"text": ', {}, CorpusFormatError, r"t\.jsonl:2: not a JSON"),
        ("t.jsonl", "3\n[1]\n", {}, CorpusFormatError, r"t\.jsonl:1: not a JSON object: .*, found a number"),
        ("t.jsonl", "\n[1]\n", {}, CorpusFormatError, r"t\.jsonl:2: not a JSON object: .*, found a list"),
        ("t.jsonl", '[{"text": "a"},\n 1]', {}, CorpusFormatError, r"t\.jsonl:2: not a JSON object: expected an obj"),
        ("t.jsonl", '[{"text": "a"},', {}, CorpusFormatError, r"t\.jsonl:1: not a JSON object: Expecting value"),
        ("t.jsonl", '{"text": 3}\n', {}, CorpusFormatError, r"t\.jsonl:1: column .text.: expected text, found a num"),
        ("t.jsonl", '{"x": "a", "y": "b"}\n', {}, UsageError, r"Name it with `build annotate --text`: x, y"),
        ("t.jsonl", '{"x": "a"}\n', {"text": "z"}, UsageError, r"no column 'z' for --text; there are: x"),
        ("t.jsonl", '{"n": 1, "text": "a"}\n{"n": 1, "text": "b"}\n', {"id": "n"}, CorpusFormatError,
         r"t\.jsonl:2: id '1' names this row and t\.jsonl:1"),
        ("t.csv", 'text,id\n"a,b",1\nc\n', {}, CorpusFormatError, r"t\.csv:3: row 2 has 1 cells, the header has 2"),
        ("t.csv", 'text\n"a', {}, CorpusFormatError, r"t\.csv:2: malformed"),
        ("t.csv", "text,id,text\na,1,b\n", {}, CorpusFormatError, r"t\.csv: 2 columns are called 'text'"),
        ("t.csv", "text\ra\rb\r", {}, CorpusFormatError, r"t\.csv:1: malformed: .*end with a carriage return"),
        ("t.jsonl", '{"text": %s}' % ("9" * 5000), {}, CorpusFormatError, r"t\.jsonl:1: not a JSON object: "),
        ("t.jsonl", '{"text": "a"}\n{"text": "b \\ud800"}', {}, CorpusFormatError,
         r"t\.jsonl:2: column 'text' holds half of a character \(surrogate U\+D800"),
        ("t.jsonl", '{"sentences": [["a"], ["b", "\\udfff"]]}', {}, CorpusFormatError,
         r"t\.jsonl:1: column 'sentences' holds half of a character \(surrogate U\+DFFF"),
        ("t.jsonl", '{"text": "a", "sentences": "a"}', {}, CorpusFormatError,
         r"t\.jsonl:1: column 'sentences': expected a list, found text; .* with --sentences"),
        ("t.jsonl", '{"text": "a", "n": null}', {"id": "n"}, CorpusFormatError,
         r"t\.jsonl:1: no id in column 'n'; name another one with --id"),
        ("t.txt", "Ein Text.", {"id": "n"}, UsageError, r"t\.txt: --id names a column, 'n', but there is no table"),
        ("t.parquet", "nothing", {}, CorpusFormatError, r"t\.parquet: not a readable parquet file"),
        ("t.xml", "<TEI><text>", {}, CorpusFormatError, r"t\.xml:1: not well-formed XML"),
        ("t.xml", "<a/>", {}, CorpusFormatError, r"t\.xml: XML, but no TEI text"),
        ("t.xml", '<!DOCTYPE a [<!ENTITY b "c">]><a/>', {}, CorpusFormatError, r"declares entities"),
        ("t.txt", "M\udcfcde", {}, CorpusFormatError, r"t\.txt: byte 0xfc at position 1 is not UTF-8"),
        ("t.doc", "x", {}, DiscoprobeError, r"t\.doc: neither .conllu nor a text that can be read"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_one_line(tmp_path, name, content, options, error, message):
    (path := tmp_path / name).write_bytes(content.encode(errors="surrogateescape"))
    with pytest.raises(error, match=message) as raised:
        documents(path, **options)
    assert "\n" not in str(raised.value)


def test_unreadable_files_can_be_left_out(tmp_path):
    folder = as_txt(tmp_path / "x")
    (folder / "c.txt").write_bytes(b"M\xfcde")
    found, counts = documents(folder, on_error="skip")
    assert len(found) == 3
    reason = "byte 0xfc at position 1 is not UTF-8 (invalid start byte); give its encoding with --encoding"
    assert counts.places["unreadable"] == [f"c.txt: {reason}, such as cp1252"]


@pytest.mark.parametrize(
    ("name", "content", "left", "reasons"),
    [
        ("t.jsonl", '{"id": "a", "text": "Nun."}\n{"id":\n[]\n{"id": "b", "text": 3}\n{"id": "c", "text": "Ja."}\n',
         ["a", "c"], ["t.jsonl:2: not a JSON", "t.jsonl:3: not a JSON object", "t.jsonl:4: column 'text'"]),
        ("t.csv", "id,text\na,Ein Satz.\nb\nc,Ja.\n", ["a", "c"], ["t.csv:3: row 2 has 1 cells"]),
        ("t.csv", 'id,text\na,Ein Satz.\nb,"x" y\nc,Ja.\n', ["a", "c"], ["t.csv:3: malformed"]),
        ("t.parquet", "nothing", [], ["t.parquet: not a readable parquet file"]),
        ("t.csv", "id,text\na,M\udcfcde\n", [], ["t.csv: byte 0xfc at position 11"]),
        ("t.csv", "id,text\na,Ein Satz.\nb,M\udcfcde\n", ["a"], ["t.csv: byte 0xfc at position 23"]),
        ("t.csv", "id,text\na,Ein Satz.\nb,\0\n", ["a"], ["t.csv: NUL byte at position 22"]),
    ],
)  # fmt: skip
def test_unreadable_rows_can_be_left_out(tmp_path, name, content, left, reasons):
    (tmp_path / name).write_bytes(content.encode(errors="surrogateescape"))
    (tmp_path / "z.txt").write_text("Und noch ein Text.")
    found, counts = documents(tmp_path, on_error="skip")
    assert [d.doc_id for d in found] == [*left, "z"]
    assert counts.reasons == {"unreadable": len(reasons)}
    places = counts.places["unreadable"]
    assert all(place.startswith(reason) for place, reason in zip(places, reasons, strict=True))


@pytest.mark.parametrize(
    ("encoding", "mark"), [("utf-16", b""), ("utf-16-le", b""), ("utf-16-le", b"\xff\xfe"), ("utf-8", b"\xef\xbb\xbf")]
)
def test_tables_in_other_encodings(tmp_path, encoding, mark):
    text = "id,text\r\nä,Ein Satz.\r\nb,Ja.\r\n"
    (tmp_path / "t.csv").write_bytes(mark + text.encode("utf-16-le" if "16" in encoding else encoding))
    assert [d.doc_id for d in documents(tmp_path, encoding=encoding)[0]] == ["b", "ä"]


@pytest.mark.parametrize("name", ["t.csv", "t.txt"])
@pytest.mark.parametrize("encoding", ["latin-0", "rot13"])
def test_what_is_no_encoding_is_named(tmp_path, name, encoding):
    (tmp_path / name).write_text("text\nEin Satz.\n")
    with pytest.raises(UsageError, match=f"'{encoding}' is not an encoding of Python"):
        documents(tmp_path, encoding=encoding, on_error="skip")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_a_full_disk_is_no_unreadable_file(tmp_path, monkeypatch):
    opened = []

    def on_full_disk():
        opened.append(Path("/dev/full").open("w+b"))  # noqa: SIM115 (the reader closes it)
        return opened[-1]

    monkeypatch.setattr(paragraph_filters, "TemporaryFile", on_full_disk)
    (tmp_path / "a.txt").write_text("Ein Satz steht hier. " * 100_000)
    with pytest.raises(OSError, match="No space left on device") as raised:
        documents(tmp_path, on_error="skip")
    assert raised.value.errno == errno.ENOSPC
    assert [file.closed for file in opened] == [True]


def test_many_files_with_the_same_ids(tmp_path):
    for n in range(300):
        (tmp_path / f"{n:03}.jsonl").write_text("".join(f'{{"id": {i}, "text": "Satz {n}."}}\n' for i in range(20)))
    begun = time.process_time()
    found, _ = documents(tmp_path, duplicates=False, boilerplate=0)
    assert {d.doc_id for d in found} >= {"7", "7~2", "7~300"}
    assert len({d.doc_id for d in found}) == 6000
    assert time.process_time() - begun < 4, "each id is tried from the first number on"


def test_an_empty_sentence_at_the_end_of_a_list_is_a_gap_before_the_next(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"sentences": [["Eins ist da.", ""], ["Zwei auch."], ["Drei fehlt."]]}')
    assert documents(tmp_path)[0][0].gaps == {1}


def test_a_column_that_is_not_there_is_never_left_out(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"x": "a"}\n')
    with pytest.raises(UsageError, match="Name it with `build annotate --text`: x"):
        documents(tmp_path, on_error="skip")


def test_rows_without_an_id_are_numbered(tmp_path):
    pq.write_table(pa.table({"id": ["x", None], "text": ["Ein Satz.", "Noch einer."]}), tmp_path / "t.parquet")
    assert [d.doc_id for d in documents(tmp_path)[0]] == ["t-000002", "x"]


def test_two_columns_of_a_name(tmp_path):
    table = pa.table([pa.array(["a"]), pa.array(["Ein Satz."]), pa.array(["b"])], names=["id", "text", "text"])
    pq.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(CorpusFormatError, match=r"t\.parquet: 2 columns are called 'text'"):
        documents(tmp_path)
    (tmp_path / "u.csv").write_text("text,,\nEin Satz.,,\n")
    assert len(documents(tmp_path / "u.csv")[0]) == 1


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", ""), ("t.csv", "id,text\n"), ("t.jsonl", "\n\n"), ("t.txt", ""),
        ("t.xml", '<TEI xmlns="http://www.tei-c.org/ns/1.0"><text><body></body></text></TEI>'),
        ("t.xml", "<TEI><text><body><div><head>Titel</head></div></body></text></TEI>"),
    ],
)  # fmt: skip
def test_a_file_without_text_is_counted(tmp_path, name, content):
    (tmp_path / name).write_text(content)
    found, counts = documents(tmp_path)
    assert not found
    assert counts.reasons == {"empty-document": 1}
    assert counts.places["empty-document"] == [name]


def test_a_genre_is_one_line(tmp_path):
    (tmp_path / "t.jsonl").write_text(json.dumps({"text": "Ein Satz.", "genre": " a\n# newdoc id = x\ud800"}))
    assert documents(tmp_path)[0][0].genre == "a # newdoc id = x%ED%A0%80"


def test_strange_folders(tmp_path):
    folder = as_txt(tmp_path / "x")
    (folder / "below").mkdir()
    (folder / "below" / "loop").symlink_to(folder)
    (folder / "link").symlink_to(folder / "below")
    (folder / "below" / "ein\nName 100%.txt").write_text("Ein Text mit genügend Wörtern steht hier.")
    (folder / "leer.txt").touch()
    (folder / "README.txt").write_text("Wir erklären alles.")
    (folder / "bild.png").write_bytes(b"\x89PNG")
    (folder / ".versteckt.txt").write_text("Nichts davon.")
    (folder / "utf16.txt").write_bytes("Auch dieser Text ist hier zu lesen.".encode("utf-16"))
    found, counts = documents(folder)
    assert [d.doc_id for d in found] == ["a", "b", "below/ein%0AName%20100%25", "utf16", "Ä"]
    assert [d.source for d in found][2] == "below/ein%0AName 100%25.txt"
    assert dict(counts.reasons) == {
        "folder-loop": 2, "about-the-corpus": 1, "unknown-file": 1, "empty-document": 1,
    }  # fmt: skip


def test_one_name_composed_in_two_ways(tmp_path):
    for name in ("\u00e4.txt", "a\u0308.txt"):
        (tmp_path / name).write_text(f"Der Text der Datei {len(name)}.")
    assert [d.doc_id for d in documents(tmp_path)[0]] == ["\u00e4", "\u00e4~2"]


def test_nothing_to_read(tmp_path):
    with pytest.raises(DiscoprobeError, match="nothing to read in this folder"):
        documents(tmp_path)
    with pytest.raises(DiscoprobeError, match="no such file or folder, and not the id"):
        documents(tmp_path / "x")


@pytest.mark.slow
def test_ten_thousand_files(tmp_path):
    for n in range(10_000):
        (tmp_path / f"{n:05}.txt").write_text(
            f"Datei {n} erzählt von {n % 97} Katzen und {'sehr ' * (n % 89)}viel mehr."
        )
    found, _ = documents(tmp_path, duplicates=False, boilerplate=0)
    assert [d.doc_id for d in found] == [f"{n:05}" for n in range(10_000)]


@pytest.mark.slow
def test_one_long_line(tmp_path):
    line = " ".join(f"Im Jahr {n} kamen die Schiffe in den Hafen zurück." for n in range(100_000))
    (tmp_path / "a.txt").write_text(line)
    (document,), counts = documents(tmp_path)
    assert len(line) > 5_000_000
    assert " ".join(paragraph.text for paragraph in document.paragraphs) == line
    assert max(len(paragraph.text) for paragraph in document.paragraphs) <= 20_000
    assert not counts.reasons
    assert not document.gaps


def test_a_long_line_without_sentences_is_named(tmp_path):
    (tmp_path / "a.txt").write_text("x" * 50_000 + "\n\nUnd ein Satz.")
    (document,), counts = documents(tmp_path)
    assert [p.text for p in document.paragraphs] == ["Und ein Satz."]
    assert counts.places["long-paragraph"] == ["a.txt:0"]


def test_segments_by_line(tmp_path):
    (tmp_path / "DOCUMENT_IDS.tsv").write_text("b.1\nb.1\nb.1\na.2\na.2\n")
    (tmp_path / "news-ref.deu.txt").write_text("Schlagzeile\nErster Satz.\nZweiter Satz.\nNoch eine\nDritter Satz.\n")
    (tmp_path / "news-src.eng.txt").write_text("Headline\n")
    with pytest.raises(DiscoprobeError, match=r"has 2 texts beside DOCUMENT_IDS\.tsv, .*; name the file to read"):
        documents(tmp_path)
    found, _ = documents(tmp_path / "news-ref.deu.txt")
    assert [(d.doc_id, [(p.kind, p.sentences and len(p.sentences)) for p in d.paragraphs]) for d in found] == [
        ("a.2", [("heading", None), ("text", 1)]), ("b.1", [("heading", None), ("text", 2)]),
    ]  # fmt: skip
    with pytest.raises(CorpusFormatError, match=r"news-src\.eng\.txt: has 1 lines, DOCUMENT_IDS\.tsv beside it has 5"):
        documents(tmp_path / "news-src.eng.txt")
    (tmp_path / "news-src.eng.txt").unlink()
    assert len(documents(tmp_path)[0]) == len(found)


def test_an_aligned_text_may_lie_beside_other_files_and_in_a_subfolder(tmp_path):
    folder = tmp_path / "news"
    folder.mkdir()
    (folder / "DOCUMENT_IDS.tsv").write_text("a\na\n")
    with pytest.raises(DiscoprobeError, match="nothing to read in this folder"):
        documents(folder)
    (folder / "news.deu.TXT").write_text("Schlagzeile\nErster Satz.\n")
    (folder / "README.txt").write_text("About the news.\n")
    (folder / ".hidden.txt").write_text("a\n")
    (folder / "link.txt").symlink_to("x" * 300)
    for top in (folder, tmp_path):
        found, counts = documents(top)
        assert [(one.doc_id, len(one.paragraphs)) for one in found] == [("a", 2)]
        assert counts.reasons == {"about-the-corpus": 1, "unknown-file": 1}


@needs_text
@pytest.mark.parametrize(
    ("source", "lang", "n"),
    [("de/gerdracor", "de", 22), ("ru/rusdracor", "ru", 18), ("es/eltec", "es", 20),
     ("ntrex128/newstest2019-ref.ukr.txt", "uk", 86)],
)  # fmt: skip
def test_real_text_is_where_it_says(source, lang, n):
    found, _ = documents(TEXT / source, lang=lang, min_document_words=200)
    assert abs(len(found) - n) <= 6
    assert sum(len(paragraph.text) for document in found for paragraph in document.running) > 50_000
    for document in found:
        for paragraph in document.paragraphs:
            slice_ = document.source_text[slice(*paragraph.source_span(0, len(paragraph.text)))]
            assert " ".join(slice_.split()).replace("\u200b", "") == paragraph.text


@pytest.mark.parametrize("name", ["link", "link.txt"])
def test_a_link_that_cannot_be_followed_is_not_read(tmp_path, name):
    (tmp_path / "a.txt").write_text("Es war einmal ein Mann, der hatte eine Frau.")
    (tmp_path / name).symlink_to("x" * 300)  # longer than a name can be
    corpus = read_documents(tmp_path)
    assert [one.doc_id for one in corpus] == ["a"]
    assert corpus.counts.reasons == {"unknown-file": 1}
