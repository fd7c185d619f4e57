"""Parsers beside Stanza: a Python file, and text that was parsed before; a second one that has to agree."""

from collections import Counter
from pathlib import Path

import msgspec
import polars as pl
import pytest
from made_sentences import document

from discoprobe.loaders.corpus import Word
from discoprobe.loaders.errors import DiscoprobeError, UnknownNameError
from discoprobe.loaders.plugins import use_plugins
from discoprobe.loaders.raw.document import Paragraph, TextWithOffsets
from discoprobe.loaders.raw.parsers import ParsedFiles, find_parser, problem_of_words
from discoprobe.loaders.raw.row_groups import parsed_by
from discoprobe.own_files import mistakes_in

MODULE = """
from discoprobe.loaders.corpus import Word

def describe(lang):
    return {{"software": {{"toy": "1.0"}}, "models": {{lang: "small"}}}}

def parse(lang, sentences):
    for text in sentences:
        words, at = [], 0
        for number, form in enumerate(text.replace(".", " .").split(), 1):
            at = text.index(form, at)
            mark = form == "."
            words.append(Word(form, form.lower(), "PUNCT" if mark else "X", "", "", {head}, "punct" if mark else "dep",
                              at, at + len(form)))
            at += len(form)
        yield {result}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCOPROBE_CACHE", str(tmp_path / "cache"))
    yield tmp_path
    use_plugins()


def module(folder, head="number - 1", result="words"):
    file = folder / "toy.py"
    file.write_text(MODULE.format(head=head, result=result), encoding="utf-8")
    return str(file)


def annotated(parser, text="Ana vino. Luis se fue."):
    return parser.annotate([Paragraph(TextWithOffsets(text))], Counter())[0]


def test_a_file_parses_the_sentences_that_rules_find(folder):
    parser = find_parser(module(folder), "es")
    first, second = annotated(parser)
    assert (first.text, second.text) == ("Ana vino.", "Luis se fue.")
    assert [(word.form, word.start, word.end, word.head) for word in second.words] == [
        ("Luis", 10, 14, 0), ("se", 15, 17, 1), ("fue", 18, 21, 2), (".", 21, 22, 3),
    ]  # fmt: skip
    assert parser.tags
    assert parser.identity["engine"] == "toy"
    assert parser.identity["software"]["toy"] == "1.0"
    assert "sentencex" in parser.identity["software"]


def test_the_identity_has_the_content_of_the_file(folder):
    first = find_parser(module(folder), "es").identity
    assert first == find_parser(module(folder), "es").identity
    assert first != find_parser(module(folder, result="list(words)"), "es").identity


def test_a_parser_of_a_plugin_has_a_name(folder):
    (folder / "plugin" / "parsers").mkdir(parents=True)
    module(folder / "plugin" / "parsers")
    use_plugins(folder / "plugin")
    assert len(annotated(find_parser("toy", "es"))) == 2
    with pytest.raises(UnknownNameError, match="did you mean toy"):
        find_parser("tool", "es")


def test_sentences_without_a_tree_or_of_other_lengths_are_dropped(folder):
    first, second = annotated(find_parser(module(folder, result='None if "Ana" in text else words'), "es"))
    assert (first.dropped, second.dropped) == ("unannotated-paragraph", "")
    first, second = annotated(find_parser(module(folder), "es", (3, 5)))
    assert (first.dropped, second.dropped) == ("other-length", "")


@pytest.mark.parametrize(
    ("head", "result", "problem"),
    [
        ("number % 3 + 1", "words", "word 1 .* no root|words have no head"),
        ("0", "words", "3 words have no head; a sentence has one root"),
        ("9", "words", r"word 1 \(Ana\) has the head 9"),
        ("number - 1", "words[:0]", "no words"),
        ("number - 1", "1 / 0", "ZeroDivisionError"),
    ],
)
def test_what_is_no_tree_is_one_line_with_the_sentence(folder, head, result, problem):
    with pytest.raises(DiscoprobeError, match=problem) as raised:
        annotated(find_parser(module(folder, head, result), "es"))
    assert "\n" not in str(raised.value)
    assert "toy.py: parse: " in str(raised.value)
    assert "ZeroDivision" in problem or str(raised.value).endswith(": Ana vino.")


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"start": 1}, "is not what the text has at 1:3"),
        ({"end": 99}, "is at 0:99"),
        ({"upos": "Verb"}, "part of speech Verb"),
        ({"feats": "Number"}, "features Number"),
        ({"deprel": ""}, "no relation"),
        ({"confidence": (0.5, 0.0)}, "no logarithms of probabilities"),
        ({"head": None}, "has the head None"),
        ({"head": 1}, "has the head 1"),
    ],
)
def test_words_have_places_tags_and_heads_as_in_universal_dependencies(changes, problem):
    words = [
        Word("Ana", "Ana", "PROPN", "", "", 2, "nsubj", 0, 3),
        Word("vino", "venir", "VERB", "", "", 0, "root", 4, 8),
    ]
    assert not problem_of_words(words, "Ana vino")
    assert problem in problem_of_words([msgspec.structs.replace(words[0], **changes), words[1]], "Ana vino")


def test_parts_of_a_multiword_token_have_its_place():
    words = [
        Word("de", "de", "ADP", "", "", 3, "case", 0, 3), Word("el", "el", "DET", "", "", 3, "det", 0, 3),
        Word("sol", "sol", "NOUN", "", "", 0, "root", 4, 7),
    ]  # fmt: skip
    assert not problem_of_words(words, "del sol")


@pytest.mark.parametrize(
    ("source", "message"), [("x =", "cannot be imported"), ("def parse(a, b): ...", "describe is none")]
)
def test_a_file_that_is_no_parser_says_so(folder, source, message):
    (folder / "bad.py").write_text(source, encoding="utf-8")
    with pytest.raises(DiscoprobeError, match=message):
        find_parser(str(folder / "bad.py"), "es")


def test_a_file_is_checked_before_it_is_used(folder):
    (folder / "parsers").mkdir()
    assert mistakes_in(Path(module(folder / "parsers"))) == []
    (folder / "parsers" / "toy.py").write_text("def parse(lang, sentences): ...", encoding="utf-8")
    (mistake,) = mistakes_in(folder / "parsers" / "toy.py")
    assert "describe is none" in mistake


def test_text_that_was_parsed_before(folder):
    (folder / "es_made-ud-test.conllu").write_text(
        document("made", ["{a} vino.", "{a} llora."], a="Ana"), encoding="utf-8"
    )
    parser = find_parser(str(folder / "es_made-ud-test.conllu"), "es")
    assert isinstance(parser, ParsedFiles)
    shard = parsed_by(parser, pl.DataFrame({"sent_id": ["1", "2"], "text": ["Ana vino.", "Otra cosa."]}))
    assert shard.sentences["text"].to_list() == ["Ana vino."]
    corpus = parser.corpus()
    assert all(part.fills for part in corpus.parts)
    assert corpus.sources[0].annotation["made_by"]["engine"] == "parsed"
    assert sum(part.load().sentences.height for part in corpus.parts) == 2


def test_a_witness_is_part_of_the_shard(folder):
    (folder / "es_made-ud-test.conllu").write_text(
        document("made", ["{a} vino.", "{a} llora."], a="Ana"), encoding="utf-8"
    )
    parser = find_parser(str(folder / "es_made-ud-test.conllu"), "es")
    (part,) = parser.corpus(find_parser(module(folder, result='None if "llora" in text else words'), "es")).parts
    assert part.load().sentences.height == 2
    assert part.load().witness.sentences["text"].to_list() == ["Ana vino."]
