"""Plays and novels in TEI: speeches, verse and prose without what stands beside them."""

import pytest

from discoprobe.loaders.raw import DropCounts, ReadOptions, read_tei, row_document

PLAY = """<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><title>Nein</title></teiHeader><text>
<front><titlePage><titlePart>Das Stück</titlePart></titlePage><castList><castItem>Anna</castItem></castList></front>
<body><div type="act"><head>Erster Akt</head><div type="scene"><head>Erste Szene</head><stage>Ein Zimmer.</stage>
<sp><speaker>Anna.</speaker><stage>tritt auf</stage><p>Wer ist <emph>da</emph> <stage>(sie horcht)</stage>,
   wer<pb n="3"/> kommt?<note>Fußnote</note></p></sp>
<sp><speaker>Bruno.</speaker><l>Ich bin's, der alte</l><l part="I">Freund.</l></sp>
<sp><speaker>Anna.</speaker><lg><l>Willkommen</l></lg><lg><l>hier.</l></lg></sp></div>
<div type="scene"><head>Zweite Szene</head><p>Der <choice><sic>Reegen</sic><corr>Regen</corr></choice> f&#228;llt.</p>
<milestone unit="break"/><p>Später schien die Sonne.</p></div></div></body>
<back><p>Ende</p></back></text></TEI>"""


@pytest.fixture
def read(tmp_path):
    def documents(xml, min_words=1):
        (path := tmp_path / "stueck.xml").write_text(xml)
        counts = DropCounts()
        rows = read_tei(path, "stueck.xml", "stueck", counts, min_words)
        return [row_document(row, ReadOptions(), counts) for row in rows], dict(counts.reasons)

    return documents


def test_a_play(read):
    (first, second), reasons = read(PLAY)
    assert [(p.kind, p.text) for p in first.paragraphs] == [
        ("heading", "Erster Akt"), ("heading", "Erste Szene"), ("stage", "Ein Zimmer."),
        ("speaker", "Anna."), ("stage", "tritt auf"), ("text", "Wer ist da, wer kommt?"), ("stage", "(sie horcht)"),
        ("speaker", "Bruno."), ("verse", "Ich bin's, der alte Freund."),
        ("speaker", "Anna."), ("verse", "Willkommen"), ("verse", "hier."),
    ]  # fmt: skip
    assert [p.text for p in second.paragraphs] == ["Zweite Szene", "Der Regen fällt.", "Später schien die Sonne."]
    assert second.gaps == {2}
    assert reasons == {"front-matter": 1, "back-matter": 1, "note": 1}
    assert [d.doc_id for d in (first, second)] == ["stueck-01", "stueck-02"]
    assert (first.genre, first.extracted) == ("drama", True)
    for document in (first, second):
        for paragraph in document.paragraphs:
            span = paragraph.source_span(0, len(paragraph.text))
            assert document.source_text[slice(*span)].replace("\n", " ") == paragraph.text


def test_small_divisions_are_put_together(read):
    (only,), _ = read(PLAY, min_words=100)
    assert only.doc_id == "stueck"
    assert len(only.paragraphs) == 15
    assert 12 in only.gaps


def test_a_page_break_divides_no_verse(read):
    lines = "<lg><l>Ich ging im Walde</l><pb/><l>so für mich hin.</l></lg>"
    (only,), _ = read(f"<TEI><text><body>{lines}</body></text></TEI>")
    assert [p.text for p in only.paragraphs] == ["Ich ging im Walde so für mich hin."]
