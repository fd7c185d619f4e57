"""Sections and speakers in comments of CoNLL-U."""

import pytest

from discoprobe.loaders import CorpusFormatError
from discoprobe.loaders.conllu import read_corpora


@pytest.fixture
def read(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCOPROBE_CACHE", str(tmp_path / "cache"))

    def sections(*documents, name="en_x-ud-test.conllu"):
        text = ""
        for number, sentences in enumerate(documents):
            for at, comments in enumerate(sentences):
                lines = [f"newdoc id = d{number}"] * (at == 0) + [f"sent_id = d{number}-{at}", *comments]
                text += "".join(f"# {line}\n" for line in lines) + "1\ta\ta\tNOUN\t_\t_\t0\troot\t_\t_\n\n"
        (tmp_path / name).write_text(text)
        (corpus,) = read_corpora([tmp_path / name]).values()
        (shard,) = corpus.shards()
        columns = ("section", "speaker", "element")
        return corpus, *(shard.sentences[column].to_list() for column in columns)

    return sections


def head(text="Heading", n=1):
    return [f'newpar_block = head ({n} s) | hi rend:::"bold" ({n} s)', f"text = {text}"]


def test_headings_of_gum_begin_sections(read):
    title = ["meta::title = The Chatham Islands"]
    corpus, found, *_ = read(
        [title + head("Chatham Islands"), [], [], head("Get in", 2), [], [], head(), []],
        [[], ["newpar_block = p (3 s)"]],
    )
    assert found == [None, 0, 0, None, None, 1, None, 2, None, None]
    assert corpus.counts.layers["sections"] == 4


def test_an_excerpt_that_begins_with_a_heading_has_no_lead(read):
    _, found, *_ = read([["meta::title = Lord Byron", *head("Education and early loves")], [], head("Travels"), []])
    assert found == [None, 1, None, 2]


def test_a_title_without_other_headings_makes_no_sections(read):
    corpus, found, *_ = read([head(), [], []])
    assert found == [None, None, None]
    assert "sections" not in corpus.layers


def test_a_document_without_a_title_begins_with_its_lead(read):
    assert read([[], [], head(), []])[1] == [0, 0, None, 1]


def test_numbers_and_speakers(read):
    corpus, found, speakers, _ = read([["section_number = 0", "speaker = Anna"], ["section_number = 3"]])
    assert (found, speakers) == ([0, 3], ["Anna", None])
    assert {"sections", "speakers"} <= corpus.layers


@pytest.mark.parametrize("value", ["eins", "-1", ""])
def test_a_number_that_is_none(read, value):
    with pytest.raises(CorpusFormatError, match=r"en_x-ud-test\.conllu:6 \(sent_id d0-1\): section_number is"):
        read([[], [f"section_number = {value}"]])


@pytest.mark.parametrize("key", ["newpar_block", "newpar"])
@pytest.mark.parametrize(
    ("element", "expected"),
    [
        ("head (1 s)", ["heading"]),
        ('figure rend:::"a map (of Cuba) | an arrow" (2 s) | caption (2 s)', ["caption", "caption"]),
        ('figure rend:::"a picture" (0 s) | head (1 s)', ["heading"]),
        ('list type:::"ordered" (14 s) | item n:::"1" (2 s) | hi (1 s)', ["list-item", "list-item"]),
        ("item (3 s) | p (3 s)", []),
        ("p (2 s) | list (2 s) | item (1 s)", ["list-item"]),
        ('sp who:::"#Anna" (2 s) | p (2 s)', []),
        ("quote (2 s)", []),
        ("p (1 s) | note (1 s)", ["note"]),
        ("table (9 s) | row (3 s) | cell (1 s)", ["table"]),
        ("p3", []),
    ],
)
def test_the_innermost_element_says_what_is_no_running_text(read, key, element, expected):
    found = read([[], [f"{key} = {element}"], [], []], [[]])[3]
    assert found == [None, *expected, *[None] * (4 - len(expected))]


def test_an_element_ends_where_the_next_begins_and_with_its_document(read):
    first = [["newpar_block = item (3 s)"], ["newpar_block = p (1 s)"], ["newpar_block = caption (2 s)"]]
    assert read(first, [[], []])[3] == ["list-item", None, "caption", None, None]
