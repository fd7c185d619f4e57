"""Which connectives at the beginning of a sentence ``dconn`` takes away, in sentences written by hand."""

import pytest

from discoprobe.builders.sentences import Connectives, sentence_connectives
from discoprobe.loaders.conllu import read_corpora
from discoprobe.loaders.languages import language_data


@pytest.fixture
def marked(tmp_path):
    """A function: the connective and the rest of a sentence of words, form/UPOS/head/relation; None for none."""

    def find(lang, words):
        rows = [word.split("/") for word in words.split()]
        lines = [f"# text = {' '.join(form for form, *_ in rows)}"]
        for number, (form, upos, *head) in enumerate(rows, 1):
            tree = (head[0], head[1] if len(head) > 1 else "root" if head[0] == "0" else "dep") if head else ("_", "_")
            lines.append("\t".join([str(number), form, form.lower(), upos, "_", "_", *tree, "_", "_"]))
        path = tmp_path / f"{lang}_case-ud-test.conllu"
        path.write_text("\n".join(lines) + "\n\n", encoding="utf-8")
        (shard,) = read_corpora([path])[lang].shards()
        found = sentence_connectives(shard, language_data(lang)).to_dicts()
        text = shard.sentences["text"].item()
        return (found[0]["connective"], text[found[0]["trim"] :]) if found else None

    return find


def test_a_connective_that_joins_the_sentence_is_taken_away(marked):
    assert marked("en", "But/CCONJ/3 they/PRON/3 went/VERB/0 home/ADV/3 ./PUNCT/3") == ("but", "they went home.")
    assert marked("ru", "И/CCONJ/3 мы/PRON/3 ушли/VERB/0 домой/ADV/3 ./PUNCT/3") == ("и", "мы ушли домой.")


@pytest.mark.parametrize(
    ("lang", "words", "connective"),
    [
        ("es", "A/ADP el/DET contrario/NOUN ,/PUNCT ellos/PRON cantan/VERB bien/ADV", "por el contrario"),
        ("de", "Zu/ADP dem/DET Beispiel/NOUN geht/VERB sie/PRON heute/ADV", "zum Beispiel"),
        ("ru", "Тем/PRON не/PART менее/ADV ,/PUNCT они/PRON ушли/VERB домой/ADV", "тем не менее"),
        ("en", "On/ADP the/DET other/ADJ hand/NOUN ,/PUNCT they/PRON went/VERB home/ADV", "on the other hand"),
        ("tr", "BUNUNLA/PRON BİRLİKTE/ADP ,/PUNCT onlar/PRON eve/NOUN gitti/VERB", "bununla birlikte"),
        ("zh", "但是/ADV 我/PRON 不/ADV 去/VERB", "但是"),
        ("wo", "Gannaaw/ADP loolu/PRON buur/NOUN ba/DET dem/VERB", "gannaaw loolu"),
        ("kmr", "Ji/ADP ber/NOUN vê/DET yekê/NUM em/PRON çûn/VERB malê/NOUN", "loma"),
        ("ug", "شۇنىڭ/CCONJ ئۈچۈن/ADP مەن/PRON بۈگۈن/ADV كەلدىم/VERB", "شۇڭا"),
        ("mt", "BARRA/ADV MINN/ADV HEKK/ADV huma/PRON marru/VERB dar/NOUN", "barra minn hekk"),
        ("mt", "Allura/ADV huma/PRON marru/VERB dar/NOUN", "għalhekk"),
        ("kmr", "Lê/CCONJ belê/ADV em/PRON çûn/VERB malê/NOUN", "lêbelê"),
        ("yo", "Nítorí/SCONJ náà/ADV wọ́n/PRON lọ/VERB ilé/NOUN", "nítorí náà"),
    ],
)
def test_a_connective_is_found_in_the_words_of_the_treebank_and_in_capitals(marked, lang, words, connective):
    assert marked(lang, words)[0] == connective


def test_without_a_tree_its_place_decides(marked):
    assert marked("en", "But/CCONJ they/PRON went/VERB home/ADV ./PUNCT") == ("but", "they went home.")


@pytest.mark.parametrize(
    ("lang", "words"),
    [
        ("ru", "И/CCONJ/4 сад/NOUN/4 мы/PRON/4 видели/VERB/0 и/CCONJ/6 реку/NOUN/2 ./PUNCT/4"),
        ("ru", "Или/CCONJ/3 ты/PRON/3 поёшь/VERB/0 или/CCONJ/5 спишь/VERB/3 ./PUNCT/3"),
        ("fr", "et/CCONJ/6 euh/INTJ/6 ,/PUNCT/6 et/CCONJ/6 on/PRON/6 part/VERB/0 demain/ADV/6 ./PUNCT/6"),
        ("es", "Y/CCONJ/4 Ana/PROPN/4 y/CCONJ/4 Juan/PROPN/5 cantan/VERB/0 ./PUNCT/5"),
    ],
)
def test_half_of_a_pair_and_a_false_start_stay(marked, lang, words):
    assert marked(lang, words) is None


def test_what_recurs_later_is_another(marked):
    words = "And/CCONJ/3 they/PRON/3 saw/VERB/0 the/DET/6 old/ADJ/6 garden/NOUN/3 and/CCONJ/8 rivers/NOUN/6 ./PUNCT/3"
    assert marked("en", words) == ("and", "they saw the old garden and rivers.")


def test_a_connective_of_a_part_of_the_sentence_stays(marked):
    assert marked("en", "But/CCONJ/2 one/NUM/5 of/ADP/4 them/PRON/2 came/VERB/0 today/NOUN/5 ./PUNCT/5") is None


def test_a_connective_of_what_is_said_is_taken_away(marked):
    words = "But/CCONJ/3 they/PRON/3 went/VERB/5/{} ,/PUNCT/3 says/VERB/0 Ann/PROPN/5 ./PUNCT/5"
    assert marked("en", words.format("ccomp")) == ("but", "they went, says Ann.")
    assert marked("en", words.format("nsubj")) is None


def test_a_connective_with_a_complement_of_its_own_stays(marked):
    complement = "Paral·lelament/ADV/4/advmod a/ADP/3 això/PRON/1/obl canten/VERB/0 bé/ADV/4 ./PUNCT/4"
    assert marked("ca", complement) is None
    assert marked("ca", complement.replace("això/PRON/1/obl", "això/PRON/4/obl"))[0] == "paral·lelament"


def test_a_comma_is_no_complement_of_a_connective(marked):
    words = "However/ADV/4/advmod ,/PUNCT/1/punct they/PRON/4 went/VERB/0 home/ADV/4 ./PUNCT/4"
    assert marked("en", words) == ("however", "they went home.")


def test_of_an_expression_one_word_depends_on_the_root(marked):
    words = "In/ADP/2 fact/NOUN/4 they/PRON/4 went/VERB/0 home/ADV/4 ./PUNCT/4"
    assert marked("en", words) == ("in fact", "they went home.")
    assert marked("en", words.replace("fact/NOUN/4", "fact/NOUN/5")) is None


def test_a_question_particle_is_no_reason(marked):
    assert marked("wo", "Ndaxte/CCONJ mu/PRON sonn/VERB lool/ADV")[0] == "ndax"
    assert marked("wo", "Ndax/ADV mu/PRON sonn/VERB lool/ADV") is None


def test_a_longer_expression_that_begins_alike_stays(marked):
    assert marked("en", "So/ADV far/ADV they/PRON were/AUX happy/ADJ ./PUNCT") is None
    assert marked("es", "Además/ADV de/ADP eso/PRON cantan/VERB bien/ADV ./PUNCT") is None


@pytest.mark.parametrize(
    ("lang", "form", "sense"),
    [
        ("es", "por otra parte", "addition"),
        ("fr", "aussi", "result"),
        ("fr", "d' autre part", "addition"),
        ("it", "in effetti", "elaboration"),
        ("nl", "zo", "example"),
        ("pl", "przecież", "reason"),
        ("pt", "ora", "contrast"),
        ("ru", "тем временем", "time"),
        ("ru", "в то же время", "contrast"),
    ],
)
def test_a_connective_has_the_sense_that_it_has_at_the_head_of_a_sentence(lang, form, sense):
    entries = language_data(lang).section(Connectives).entries
    assert [entry.sense for entry in entries if form in entry.forms] == [sense]
