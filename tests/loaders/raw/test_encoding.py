"""Characters of files: the encodings that bytes prove, and refusals that name the byte."""

import pytest

from discoprobe.loaders import CorpusFormatError, DiscoprobeError, UsageError, read_lines, read_text
from discoprobe.loaders.raw.document import ReadOptions
from discoprobe.loaders.raw.raw_corpus import read_documents

TEXT = "Größe ändert sich.\r\nЁлка. 漢字 😀\n"


@pytest.fixture
def file(tmp_path):
    def write(data: bytes):
        path = tmp_path / "a.txt"
        path.write_bytes(data)
        return path

    return write


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_proven_encodings(file, codec):
    assert read_text(file(TEXT.encode(codec)), "a.txt") == TEXT


def test_big_endian_with_mark(file):
    assert read_text(file(b"\xfe\xff" + TEXT.encode("utf-16-be")), "a.txt") == TEXT


@pytest.mark.parametrize(("codec", "text"), [("cp1252", "Größe – ja"), ("koi8-r", "Ёлка"), ("utf-16-le", TEXT)])
def test_declared_encodings(file, codec, text):
    assert read_text(file(text.encode(codec)), "a.txt", codec) == text


@pytest.mark.parametrize("codec", ["utf-8", "utf-16", "utf-32"])
def test_a_declared_encoding_with_its_mark(file, codec):
    data = TEXT.encode("utf-8-sig" if codec == "utf-8" else codec)
    assert read_text(file(data), "a.txt", codec) == TEXT


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("read", [read_text, lambda *file: list(read_lines(*file))])
def test_refusal_names_the_byte(file, read, mark):
    data = mark + "Größe\nist".encode() + b"\xfcber"
    place = f"position {11 + len(mark)}"
    message = rf"^a\.txt: byte 0xfc at {place} is not UTF-8 .*; give its encoding with --encoding, such as cp1252$"
    with pytest.raises(CorpusFormatError, match=message):
        read(file(data), "a.txt")


def test_a_cut_character_at_the_end(file):
    with pytest.raises(CorpusFormatError, match=r"byte 0xc3 at position 3 is not UTF-8"):
        read_text(file(b"abc\xc3"), "a.txt")


def test_a_wrong_declaration(file):
    with pytest.raises(CorpusFormatError, match=r"byte 0xc3 at position 2 is not ascii.*the encoding given is ascii"):
        read_text(file("Größe".encode()), "a.txt", "ascii")


@pytest.mark.parametrize(
    ("data", "where"),
    [
        (b"PK\x03\x04\0\0", "position 4"),
        (TEXT.encode("utf-16-be"), "NUL byte at position 0.*name the encoding with --encoding utf-16-le"),
        (b"\x89PNG", "position 0"),
    ],
)
def test_binary_files_are_refused(file, data, where):
    with pytest.raises(CorpusFormatError, match=where):
        read_text(file(data), "a.txt")


def test_unknown_encoding(file):
    with pytest.raises(UsageError, match="'utf-9' is not an encoding"):
        read_text(file(b"x"), "a.txt", "utf-9")


def test_no_file(tmp_path):
    with pytest.raises(DiscoprobeError, match=r"^b\.txt: cannot be read: No such file"):
        read_text(tmp_path / "b.txt", "b.txt")


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16", "utf-32"])
def test_lines_are_those_of_the_text(file, codec):
    path = file(f"{TEXT}\n\nEnde".encode(codec))
    assert list(read_lines(path, "a.txt")) == ["Größe ändert sich.\r\n", "Ёлка. 漢字 😀\n", "\n", "\n", "Ende"]


ROWS = ["id;text", 'a;"Die Größe ist schön; sie gefällt mir."', "b;Über die Straße läuft Émile – „so“."]


@pytest.mark.parametrize(
    ("codec", "lang", "note"),
    [("cp1252", "de", "read as cp1252"), ("utf-16-le", "de", "read as utf-16-le"), ("utf-8", "de", "")],
)
def test_a_table_of_a_spreadsheet_is_read_and_said(tmp_path, codec, lang, note):
    """Semicolons, quoting and a code page, as Excel writes them in half of Europe; only what is unusual is said."""
    (tmp_path / "notes.csv").write_bytes("\r\n".join([*ROWS, ""]).encode(codec))
    corpus = read_documents(tmp_path / "notes.csv", ReadOptions(lang=lang, language_share=0))
    assert [document.source_text for document in corpus] == [
        "Die Größe ist schön; sie gefällt mir.", "Über die Straße läuft Émile – „so“.",
    ]  # fmt: skip
    said = " | ".join(corpus.counts.notes)
    assert "separated by ;" in said
    assert (note in said) if note else ("read as" not in said)


@pytest.mark.parametrize(
    ("codec", "lang", "text"),
    [("cp1251", "ru", "Привет, мир."), ("cp1250", "pl", "Zażółć gęślą jaźń."), ("cp1253", "el", "Καλημέρα κόσμε.")],
)
def test_the_code_page_is_that_of_the_language(tmp_path, codec, lang, text):
    (tmp_path / "a.txt").write_bytes(text.encode(codec))
    corpus = read_documents(tmp_path / "a.txt", ReadOptions(lang=lang, language_share=0))
    assert [document.source_text for document in corpus] == [text]
    assert corpus.counts.notes == [f"a.txt: read as {codec}; if that is wrong, name its encoding with --encoding"]


def test_what_no_code_page_explains_is_refused(tmp_path):
    (tmp_path / "a.txt").write_bytes("日本語の文です。".encode("shift_jis"))
    with pytest.raises(CorpusFormatError, match=r"give its encoding with --encoding"):
        list(read_documents(tmp_path / "a.txt", ReadOptions(lang="ja")))
