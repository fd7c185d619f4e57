import conllu

from discoprobe.loaders.conllu.write import Word, sentence_lines

TOKENS = [
    (
        "Im",
        [Word("in", "in", "ADP", head="3", deprel="case"), Word("dem", "der", "DET", head="3", deprel="det")],
        "A=1",
    ),
    ("Haus", [Word("Haus", "Haus", "NOUN", "NN", "Case=Dat", "0", "root")], "SpaceAfter=No"),
]


def test_lines_are_read_as_they_were_meant():
    lines = list(sentence_lines({"newpar": "", "sent_id": "a-1", "genre": None, "section_number": 0}, TOKENS))
    assert lines[:3] == ["# newpar", "# sent_id = a-1", "# section_number = 0"]
    assert lines[-1] == ""
    (sentence,) = conllu.parse("\n".join(lines))
    assert [token["id"] for token in sentence] == [(1, "-", 2), 1, 2, 3]
    assert [token["form"] for token in sentence] == ["Im", "in", "dem", "Haus"]
    assert [token["misc"] for token in sentence] == [{"A": "1"}, None, None, {"SpaceAfter": "No"}]
    assert sentence[3] == {
        "id": 3, "form": "Haus", "lemma": "Haus", "upos": "NOUN", "xpos": "NN", "feats": {"Case": "Dat"}, "head": 0,
        "deprel": "root", "deps": None, "misc": {"SpaceAfter": "No"},
    }  # fmt: skip
