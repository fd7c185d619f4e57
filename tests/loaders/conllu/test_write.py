import conllu

from discoprobe.loaders.conllu import sentence_text
from discoprobe.loaders.corpus import Word

TOKENS = [
    (
        "Im",
        [Word("in", "in", "ADP", head=3, deprel="case"), Word("dem", "der", "DET", head=3, deprel="det")],
        "A=1",
    ),
    ("Haus", [Word("Haus", "Haus", "NOUN", "NN", "Case=Dat", 0, "root")], "SpaceAfter=No"),
]


def test_a_sentence_is_read_as_it_was_meant():
    text = sentence_text({"newpar": "", "sent_id": "a-1", "genre": None, "section_number": 0}, TOKENS)
    assert text.startswith("# newpar\n# sent_id = a-1\n# section_number = 0\n1-2\tIm\t")
    assert text.endswith("\n\n")
    (sentence,) = conllu.parse(text)
    assert [token["id"] for token in sentence] == [(1, "-", 2), 1, 2, 3]
    assert [token["form"] for token in sentence] == ["Im", "in", "dem", "Haus"]
    assert [token["misc"] for token in sentence] == [{"A": "1"}, None, None, {"SpaceAfter": "No"}]
    assert sentence[3] == {
        "id": 3, "form": "Haus", "lemma": "Haus", "upos": "NOUN", "xpos": "NN", "feats": {"Case": "Dat"}, "head": 0,
        "deprel": "root", "deps": None, "misc": {"SpaceAfter": "No"},
    }  # fmt: skip
