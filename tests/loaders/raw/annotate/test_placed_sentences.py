from collections import Counter

import conllu
import pytest
import udapi
from raw_cases import GERMAN, annotated, conllu_of, document
from shared import needs_stanza

from discoprobe.builders import all_tasks, unsupported
from discoprobe.loaders import UnsupportedError
from discoprobe.loaders.conllu import read_corpora
from discoprobe.loaders.languages import language_data
from discoprobe.loaders.raw import LONG_SENTENCE, MAX_WORDS, Paragraph, RuleEngine, TextWithOffsets


def sentences_of(text, lang, spans=None):
    found = RuleEngine(lang).annotate([Paragraph(TextWithOffsets(text), sentences=spans)], Counter())[0]
    return [text[one.start : one.end] for one in found]


def test_abbreviations_and_numbers_end_no_sentence():
    text = "Der Dr. Müller kam um 3.30 Uhr. Am 3. Mai 1900 ging er z. B. nach Köln. Schön!"
    assert sentences_of(text, "de") == [
        "Der Dr. Müller kam um 3.30 Uhr.",
        "Am 3. Mai 1900 ging er z. B. nach Köln.",
        "Schön!",
    ]


OWN_RULES = (
    *("am", "ar", "bg", "bn", "ca", "da", "de", "el", "en", "es", "fi", "fr", "gu", "hi", "hy", "it", "kk", "kn"),
    *("ml", "mr", "nl", "pa", "pl", "pt", "ru", "sk", "ta", "te", "uk"),
)
"""Languages for which sentencex 1.0 has rules; it also has Japanese and Burmese, which are written without spaces."""


@pytest.mark.parametrize("lang", [*OWN_RULES, "cs", "sv", "eu", "sw", "he", "fa"])
def test_every_language_with_spaces_is_segmented(lang):
    stop = {"hi": "।", "mr": ".", "am": "።", "hy": "։", "bn": "।", "pa": "।"}.get(lang, ".")
    text = f"Abcd efgh{stop} Ijkl mnop{stop}"
    assert sentences_of(text, lang) == [f"Abcd efgh{stop}", f"Ijkl mnop{stop}"]


@pytest.mark.parametrize("lang", ["zh", "ja", "th", "km"])
def test_a_language_without_spaces_is_refused_in_words(lang):
    with pytest.raises(UnsupportedError, match=f"'{lang}' is written without spaces.*Stanza"):
        RuleEngine(lang)


def test_sentences_that_are_given_stay_as_they_are():
    text = "Dr. Müller kam. Er ging weg! Ja"
    assert sentences_of(text, "de", ((0, 3), (4, 28), (29, 31))) == ["Dr.", "Müller kam. Er ging weg!", "Ja"]


def test_a_text_without_stops_is_left_out():
    found = RuleEngine("de").annotate([Paragraph(TextWithOffsets("wort " * (MAX_WORDS + 1)))], Counter())[0]
    assert [one.dropped for one in found] == [LONG_SENTENCE]


@pytest.fixture(scope="module")
def segmented(tmp_path_factory):
    out = tmp_path_factory.mktemp("segmented") / "notes"
    kinds = ["text", "heading", "text"]
    documents = [document(f"d{n}", GERMAN, kinds=kinds if n == 1 else None, genre="news") for n in range(4)]
    annotated(documents, out, RuleEngine("de"))
    return out


def test_every_reader_reads_what_was_segmented(segmented):
    text = conllu_of(segmented)
    parsed = conllu.parse(text)
    document = udapi.Document()
    document.from_conllu_string(text)
    corpus = read_corpora([segmented])["de"]
    assert len(parsed) == len(list(document.bundles)) == corpus.n_sentences == 22
    assert corpus.n_documents == 4
    assert [tree.compute_text() for bundle in document.bundles for tree in bundle.trees] == [
        one.metadata["text"] for one in parsed
    ]
    shard = next(corpus.shards())
    assert shard.documents["genre"].to_list() == ["news"] * 4
    assert shard.sentences["aligned"].all()


def test_layers_are_reported_absent_and_tasks_say_why(segmented):
    corpus = read_corpora([segmented])["de"]
    assert corpus.layers == {"documents", "text"}
    reasons = {name: unsupported(task, corpus.layers, language_data("de")) for name, task in all_tasks().items()}
    assert {name for name, why in reasons.items() if not why} >= {"dc", "sp", "bso", "sent_len"}
    assert reasons["subj_number"] == "the corpus has no deps, feats, upos, or hardly any"


def test_a_heading_ends_the_unbroken_run(segmented):
    sentences = next(read_corpora([segmented])["de"].shards()).sentences
    runs = sentences.group_by("doc", maintain_order=True).agg("run")["run"].to_list()
    assert [len(set(run)) for run in runs] == [1, 2, 1, 1]
    assert runs[1] == [runs[1][0]] * 2 + [runs[1][0] + 1] * 2
    assert "Was ist das" not in " ".join(sentences.filter(sentences["doc"] == 1)["text"])


@needs_stanza
def test_stanza_segments_where_its_model_is(stanza_engine, tmp_path):
    annotated([document("d", GERMAN)], tmp_path / "out", stanza_engine("de", segment=True))
    corpus = read_corpora([tmp_path / "out"])["de"]
    assert corpus.layers == {"documents", "text"}
    forms = next(corpus.shards()).tokens["form"].to_list()
    assert {"in", "dem"} <= set(forms), "multiword tokens are expanded, as in annotation"
