import json
import re
from collections import Counter

import conllu
import msgspec
import numpy as np
import pytest
import udapi
from raw_cases import GERMAN, SPANISH, annotated, conllu_of, document
from shared import needs_stanza, tree_of

from discoprobe.loaders import DiscoprobeError
from discoprobe.loaders.conllu import read_corpora
from discoprobe.loaders.raw import Paragraph, RawDocument, RuleEngine, TextWithOffsets

pytestmark = needs_stanza


@pytest.fixture(scope="module")
def corpus(stanza_engine, tmp_path_factory):
    out = tmp_path_factory.mktemp("annotated") / "notes"
    documents = [
        document("a", GERMAN),
        document("b", GERMAN[::-1], kinds=["text", "stage", "text"]),
        document("c", GERMAN),
    ]
    return annotated(documents, out, stanza_engine("de")), documents


def test_sentences_are_slices_of_the_source(corpus):
    found, documents = corpus
    sources = {one.source: one.source_text for one in documents}
    parsed = conllu.parse(conllu_of(found.folder))
    assert len(parsed) == found.manifest.sentences
    for sentence in parsed:
        name, start, end = re.fullmatch(r"(.*):(\d+):(\d+)", sentence.metadata["source"]).groups()
        assert sources[name][int(start) : int(end)] == sentence.metadata["text"]
    ranges = [token["misc"] for sentence in parsed for token in sentence if isinstance(token["id"], tuple)]
    assert ranges, "im and am are multiword tokens"


def test_every_reader_reads_what_was_annotated(corpus):
    found, _ = corpus
    ours = read_corpora([found.folder])["de"]
    theirs = udapi.Document()
    theirs.from_conllu_string(conllu_of(found.folder))
    assert ours.n_documents == 3
    assert ours.n_sentences == len(list(theirs.bundles)) == found.manifest.sentences
    assert ours.n_words == found.manifest.words == sum(len(b.get_tree().descendants) for b in theirs.bundles)
    assert ours.layers == {"deps", "documents", "feats", "lemma", "text", "upos"}
    assert [bundle.get_tree().compute_text() for bundle in theirs.bundles] == [
        bundle.get_tree().text for bundle in theirs.bundles
    ]
    source = ours.sources[0]
    assert (source.name, source.licence) == ("notes", "unknown")
    assert source.annotation["made_by"]["engine"] == "stanza"


def test_a_stage_direction_is_no_sentence_and_ends_the_run(corpus):
    sentences = next(read_corpora([corpus[0].folder])["de"].shards()).sentences
    own = sentences.filter(sentences["sent_id"].str.starts_with("b-"))
    assert "Was ist das" not in " ".join(own["text"])
    assert own["sent_id"].to_list() == ["b-1", "b-2", "b-4", "b-5"]
    assert len(set(own["run"])) == 2
    assert corpus[0].manifest.drops["annotation"] == {"stage": 1}


def test_a_gap_of_the_source_ends_the_run_and_a_speaker_does_not(german, tmp_path):
    documents = [document("a", GERMAN, gaps={1}), document("b", GERMAN, kinds=["text", "speaker", "text"])]
    annotated(documents, tmp_path / "out", german)
    sentences = next(read_corpora([tmp_path / "out"])["de"].shards()).sentences
    runs = sentences.group_by("doc", maintain_order=True).agg("run")["run"].to_list()
    assert [len(set(run)) for run in runs] == [2, 1]


def test_batching_does_not_change_annotation(german):
    paragraphs = [Paragraph(TextWithOffsets(text)) for text in [*GERMAN, *GERMAN[::-1], "Ja.", "Gut so"]]
    corrections, alone = Counter(), Counter()
    together = german.annotate(paragraphs, corrections)
    apart = [german.annotate([one], alone)[0] for one in paragraphs]
    annotations, confidences = zip(*(map(words_of, (together, apart))), strict=True)
    assert annotations[0] == annotations[1]
    assert all(max(pair) <= 0 for pair in confidences[0])
    assert np.allclose(*confidences, atol=1e-3)  # sums of another order
    assert corrections == alone


def words_of(paragraphs):
    """The annotation of paragraphs without its probabilities, and these."""
    confidences, annotations = [], []
    for sentences in paragraphs:
        for sentence in sentences:
            confidences += [word.confidence for word in sentence.words]
            words = [msgspec.structs.replace(word, confidence=None) for word in sentence.words]
            annotations.append(msgspec.structs.replace(sentence, words=words))
    return annotations, confidences


def test_sentences_that_are_given_stay_as_they_are(german):
    text, corrections = "Der Dr. Müller kam. Er ging weg! Ja", Counter()
    found = german.annotate([Paragraph(TextWithOffsets(text), sentences=((0, 7), (8, 32), (33, 35)))], corrections)[0]
    assert not corrections
    assert [text[one.words[0].start : one.words[-1].end] for one in found] == [
        "Der Dr.",
        "Müller kam. Er ging weg!",
        "Ja",
    ]
    assert all(word.upos and word.head is not None for one in found for word in one.words)


def test_a_token_longer_than_stanza_reads_keeps_its_text(german):
    text = f"Das ist {'x' * 3000} ."
    (found,) = german.annotate([Paragraph(TextWithOffsets(text))], Counter())
    assert "x" * 3000 in {word.form for one in found for word in one.words}


def test_a_text_without_stops_is_left_out_and_counted(german, tmp_path):
    documents = [document("a", [GERMAN[0], "wort " * 600, GERMAN[1]])]
    found = annotated(documents, tmp_path / "out", german)
    assert found.manifest.drops["annotation"] == {"long-sentence": 1}
    assert len(set(next(read_corpora([tmp_path / "out"])["de"].shards()).sentences["run"])) == 2


@pytest.mark.parametrize(
    "text", ["", "   ", "🎉🎉 \U0001f9d1\u200d\U0001f680 ok", "\u200b", "_ _ _", "<UNK> # text = x", "1\u00a02"]
)
def test_odd_text_does_no_harm(german, tmp_path, text):
    found = annotated([document("a", [GERMAN[0], text])], tmp_path / "out", german)
    assert read_corpora([tmp_path / "out"])["de"].n_sentences == found.manifest.sentences >= 2


def test_fewer_processors_leave_columns_empty(stanza_engine, tmp_path):
    engine = stanza_engine("es", processors=("tokenize", "pos"))
    annotated([document("a", SPANISH)], tmp_path / "out", engine, lang="es")
    assert read_corpora([tmp_path / "out"])["es"].layers == {"documents", "feats", "text", "upos"}
    made = json.loads((tmp_path / "out" / "annotate.json").read_bytes())["made_by"]
    assert made["packages"] == {"tokenize": "gsdtiny", "mwt": "gsdtiny", "pos": "gsdtiny"}
    assert sorted(made["models"]) == ["es/mwt/gsdtiny.pt", "es/pos/gsdtiny.pt", "es/tokenize/gsdtiny.pt"]


def test_an_extracted_text_is_kept_beside_the_corpus(german, tmp_path):
    one = document("plays/faust", GERMAN, extracted=True)
    other = RawDocument("../up", one.paragraphs, "x.xml", one.source_text, extracted=True)
    found = annotated([one, other], tmp_path / "out", german)
    texts = [name for name in found.manifest.files if name.startswith("text/")]
    assert len(texts) == 2
    for sentence in conllu.parse(conllu_of(found.folder)):
        name, start, end = re.fullmatch(r"(.*):(\d+):(\d+)", sentence.metadata["source"]).groups()
        assert (found.folder / name).read_text()[int(start) : int(end)] == sentence.metadata["text"]
    assert not (tmp_path / "up.txt").exists()


def test_a_folder_with_something_else_is_refused(german, tmp_path):
    (tmp_path / "mine.txt").write_text("x")
    before = tree_of(tmp_path)
    with pytest.raises(DiscoprobeError, match="holds no annotated corpus"):
        annotated([document("a", GERMAN)], tmp_path, german)
    assert tree_of(tmp_path) == before


def test_another_corpus_is_not_overwritten(tmp_path):
    annotated([document("a", GERMAN)], tmp_path / "out", RuleEngine("de"))
    before = tree_of(tmp_path)
    with pytest.raises(DiscoprobeError, match=r"holds the corpus notes \(de\), and this is other \(de\)"):
        annotated([document("a", GERMAN)], tmp_path / "out", RuleEngine("de"), name="other")
    assert tree_of(tmp_path) == before
