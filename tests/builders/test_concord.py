"""Determiners and adjectives that do not agree with their noun: which are changed, and which are left."""

import re
from collections import Counter

import pytest
from made_sentences import words

import discoprobe
from discoprobe.builders import Settings
from discoprobe.sources import load_corpus

STEMS = ["pla", "zapa", "gara", "re", "mali", "senti", "moli", "tra", "gas", "dis"]
PLACES = ["monte", "valdo", "riolar", "sango", "alnia", "castu", "porzar", "terba"]
SING, PLUR = "Number=Sing", "Number=Plur"
NUMBERS = {False: SING, True: PLUR}


def phrase(noun, place, *, determiner="el", adjective="", feats="", plural=False, after=()):
    """*Ayer vino el plato viejo de Monte .*: a verb without features, and a noun whose modifiers agree with it.

    The determiner and the adjective are ``form lemma feats`` or a lemma; ``after`` are words behind the noun.
    """
    number = NUMBERS[plural]
    own = "|".join(filter(None, [feats, number]))
    det = determiner if " " in determiner else f"{'los' if plural else 'el'} el PronType=Art|{number}"
    form, lemma, of_det = det.split(" ")
    behind = [*([adjective] if adjective else []), *after]
    return words(
        "Ayer ayer ADV _ 2 advmod",
        "vino venir VERB VerbForm=Fin 0 root",
        f"{form} {lemma} DET {of_det} 4 det",
        f"{noun} {noun.removesuffix('s') if plural else noun} NOUN {own} 2 nsubj",
        *behind,
        f"de de ADP _ {len(behind) + 6} case",
        f"{place.title()} {place} PROPN _ 4 nmod",
        ". . PUNCT _ 2 punct",
    )


def plain():
    """Ten nouns in both numbers, each with the article that agrees with it."""
    for at, stem in enumerate(STEMS):
        for plural in (False, True):
            noun = f"{stem}to" + "s" * plural
            yield phrase(noun, PLACES[(at + 3 * plural) % 8] + stem, plural=plural)


def built(tmp_path, sentences, name="es_made-ud-test.conllu"):
    path = tmp_path / name
    blocks = [f"# sent_id = s{at}\n# text = {text}\n{table}\n\n" for at, (text, table) in enumerate(sentences)]
    path.write_text("".join(blocks), encoding="utf-8")
    return discoprobe.build("agreement_suite", load_corpus(str(path)), Settings(min_class=5))


def rows_of(config):
    return [row | {"condition": config.labels[row["label"]]} for row in config.splits["test"].to_pylist()]


def test_only_the_determiner_changes_in_both_directions(tmp_path):
    rows = rows_of(built(tmp_path, plain()))
    assert len(rows) == 20
    assert {row["condition"] for row in rows} == {"determiner number"}
    for row in rows:
        (before, good, after), (before_too, bad, after_too) = row["regions_good"], row["regions_bad"]
        assert (before, after) == (before_too, after_too)
        assert {good, bad} == {"el", "los"}
        assert row["subject"]["form"].endswith("s") == (good == "los")
    assert Counter(row["regions_good"][1] for row in rows) == {"el": 10, "los": 10}


def noun_of_both_numbers():
    """Spanish *la crisis*, *las crisis*: the form does not show its number."""
    return [phrase("tatos", PLACES[0] + "x"), phrase("tatos", PLACES[1] + "x", plural=True)]


def noun_with_a_rare_ending():
    """No other noun ends in *-uz*: nothing tells whether its plural looks like it."""
    return [phrase("luz", PLACES[2] + "x"), phrase("cruz", PLACES[3] + "x")]


def determiner_of_both_numbers():
    """The plural of the determiner is a singular too."""
    return [
        phrase("plato", PLACES[4] + "x", determiner=f"sus su PronType=Art|{SING}"),
        phrase("trato", PLACES[5] + "x", determiner=f"su su PronType=Art|{SING}"),
        phrase("tratos", PLACES[5] + "y", determiner=f"sus su PronType=Art|{PLUR}", plural=True),
    ]


def possessor():
    """Latvian *to*, their: the plural stands alone as the possessor of any noun."""
    genitive, own = (f"Case=Gen|PronType=Art|{number}" for number in (PLUR, SING))
    alone = f"suyos suyo DET {genitive} 4 nmod"
    return [
        phrase("plato", PLACES[at] + "z", determiner=f"suyo suyo {own}", after=[alone] if at % 2 else ())
        for at in range(4)
    ]


def genitives_before_the_noun():
    """Latvian *tās*, these, and *to*, that one, which is *their* as well: *to kamenes*, their bumblebees.

    The corpus has no *suyas* alone, but its genitives precede the noun.
    """
    own = [f"Case=Gen|PronType=Art|{number}" for number in (SING, PLUR)]
    before = f"gatos gato NOUN Case=Gen|{PLUR} 6 nmod"
    return [
        phrase("plato", PLACES[0] + "z", determiner=f"suya suya {own[0]}"),
        phrase("platos", PLACES[1] + "z", determiner=f"suyas suya {own[1]}", plural=True),
        phrase("plato", PLACES[2] + "z", after=[before, f"rato rato NOUN {SING} 4 nmod"]),
    ]


def two_nouns_share_it():
    """*la casa del perro negro*: in the plural the adjective goes with the other noun."""
    other = ["con con ADP _ 6 case", f"garatos garato NOUN {PLUR} 4 nmod", f"negro negro ADJ {SING} 4 amod"]
    singular, plural = f"negro negro ADJ {SING} 4 amod", f"negros negro ADJ {PLUR} 4 amod"
    return [
        *(phrase(f"{stem}to", f"{stem}monte", adjective=singular) for stem in STEMS),
        *(phrase(f"{stem}tos", f"{stem}valdo", adjective=plural, plural=True) for stem in STEMS),
        phrase("reto", PLACES[6] + "w", after=other),
    ]


def fused_with_the_word_before():
    """*a los platos*: the other form and *a* are written as one, *al*, as the other sentence shows."""
    text, table = words(
        "Ayer ayer ADV _ 2 advmod",
        "vino venir VERB VerbForm=Fin 0 root",
        "a a ADP _ 5 case",
        f"el el DET PronType=Art|{SING} 5 det",
        f"plato plato NOUN {SING} 2 obl",
        "de de ADP _ 7 case",
        "Castuq castuq PROPN _ 5 nmod",
        ". . PUNCT _ 2 punct",
    )
    table = table.replace("\n3\ta\t", "\n3-4\tal\t_\t_\t_\t_\t_\t_\t_\t_\n3\ta\t")
    yield text.replace("a el", "al"), table
    yield words(
        "Ayer ayer ADV _ 2 advmod",
        "vino venir VERB VerbForm=Fin 0 root",
        "a a ADP _ 5 case",
        f"los el DET PronType=Art|{PLUR} 5 det",
        f"platos plato NOUN {PLUR} 2 obl",
        "de de ADP _ 7 case",
        "Sangoq sangoq PROPN _ 5 nmod",
        ". . PUNCT _ 2 punct",
    )


def written_as_one_with_the_noun():
    text, table = phrase("plato", PLACES[4] + "x")
    lines = table.split("\n")
    at = next(number for number, line in enumerate(lines) if line.startswith("3\t"))
    yield text.replace("el plato", "elplato"), "\n".join([*lines[:at], "3-4\telplato" + "\t_" * 8, *lines[at:]])


def names_of_things():
    """*la Charmeuse*, *la « charmeuse »*: a ship, and *les Charmeuse* is the family of that name."""
    yield phrase("Plato", PLACES[4] + "x")
    yield phrase("Zapatos", PLACES[5] + "x", plural=True)
    yield words(
        "Ayer ayer ADV _ 2 advmod",
        "vino venir VERB VerbForm=Fin 0 root",
        f"el el DET PronType=Art|{SING} 5 det",
        "« « PUNCT _ 5 punct",
        f"reto reto NOUN {SING} 2 nsubj",
        "» » PUNCT _ 5 punct",
        "de de ADP _ 8 case",
        "Porzarx porzarx PROPN _ 5 nmod",
        ". . PUNCT _ 2 punct",
    )


def test_where_most_nouns_have_capitals_they_are_no_names(tmp_path):
    """As in German."""
    sentences = [[re.sub(r"\b\w+tos?\b", lambda noun: noun[0].title(), part) for part in pair] for pair in plain()]
    assert len(rows_of(built(tmp_path, sentences))) == 20


@pytest.mark.parametrize(
    ("sentences", "reason", "n"),
    [
        (names_of_things, "ambiguous-noun", 3),
        (noun_of_both_numbers, "ambiguous-form", 2),
        (noun_with_a_rare_ending, "ambiguous-noun", 2),
        (determiner_of_both_numbers, "ambiguous-form", 1),
        (possessor, "ambiguous-form", 4),
        (genitives_before_the_noun, "ambiguous-form", 2),
        (two_nouns_share_it, "other-noun", 1),
        (fused_with_the_word_before, "bound-form", 1),
        (written_as_one_with_the_noun, "bound-form", 1),
    ],
)
def test_pairs_that_are_not_clear_are_left(tmp_path, sentences, reason, n):
    """Their sentences are among the losses of one reason, and add no other."""
    added = list(sentences())
    without, config = built(tmp_path, plain()), built(tmp_path, [*plain(), *added])
    assert config.drops.get(reason, 0) - without.drops.get(reason, 0) == n
    assert set(config.drops) <= set(config.meanings)


GENDERED = [(f"{stem}lato", "Masc", "un") for stem in STEMS] + [(f"{stem}lata", "Fem", "una") for stem in STEMS]


def gendered(nouns):
    for at, (noun, gender, form) in enumerate(nouns):
        for again in range(2):
            yield phrase(
                noun, f"{PLACES[(at + again) % 8]}{at}{again}".replace("0", "o").replace("1", "i"),
                determiner=f"{form} uno Definite=Ind|Gender={gender}|{SING}|PronType=Art", feats=f"Gender={gender}",
            )  # fmt: skip


def test_gender_is_changed_where_the_ending_of_the_noun_tells_it(tmp_path):
    """Nouns in *-nte* have either gender, and may be persons: *un cliente*, *una cliente*."""
    genders = [("Masc", "un"), ("Fem", "una")] * 5
    persons = [(f"{stem}nte", *gender) for stem, gender in zip(STEMS, genders, strict=True)]
    config = built(tmp_path, [*gendered(GENDERED), *gendered(persons)])
    rows = rows_of(config)
    assert {row["condition"] for row in rows} == {"determiner gender"}
    assert len(rows) >= 30
    assert not [row for row in rows if row["subject"]["form"].endswith("nte")]
    assert config.drops["ambiguous-noun"] == 2 * len(persons)
