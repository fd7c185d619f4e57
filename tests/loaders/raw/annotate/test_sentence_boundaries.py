from collections import Counter
from itertools import chain, pairwise

import pytest
from shared import SAMPLE_LANGUAGES, needs_stanza, sample_file

from discoprobe.loaders.corpus import Word
from discoprobe.loaders.languages import languages
from discoprobe.loaders.raw import CORRECTIONS, Paragraph, TextWithOffsets, correct_boundaries, regroup
from discoprobe.loaders.raw.segmentation import sentence_spans

CASES = {
    "an ellipsis that was cut": (
        "es", "Pasó una máscara.|.. pero la niña lloró.| Fin.",
        "Pasó una máscara... pero la niña lloró. |Fin.", ["after-call"],
    ),
    "dots before a word": ("ru", "Он ушёл.| .|.и сказал.", "Он ушёл. |..и сказал.", ["inside-word"]),
    "a closing quote left over": ("de", "»Fräulein!|« |Sie rief.", "»Fräulein!« |Sie rief.", ["closing-signs"]),
    "a call inside a sentence": (
        "de", "„Was ist das?|“, fragte sie.| Er schwieg.",
        "„Was ist das?“, fragte sie. |Er schwieg.", ["after-call"],
    ),
    "an opening quote left over": (
        "de", "Sie rief. »|Sie haben recht.«", "Sie rief. |»Sie haben recht.«", ["opening-signs"],
    ),
    "a straight quote on either side": (
        "en", '"Stop!|" He ran. "|Why?"', '"Stop!" |He ran. |"Why?"',
        ["closing-signs", "opening-signs"],
    ),
    "a stage direction": (
        "de", "Ja.| (Er setzt sich.|) Nun gut.", "Ja. |(Er setzt sich.) |Nun gut.", ["closing-signs"],
    ),
    "who says it, after a dash": (
        "es", "-¡Maldito seas!| -gritó el otro.", "-¡Maldito seas! -gritó el otro.", ["after-call"],
    ),
    "who says it, after a full stop": (
        "es", "-Me voy.| -dijo el otro.| -Adiós.", "-Me voy. -dijo el otro. |-Adiós.", ["before-dash"],
    ),
    "a comma": ("de", "Er kam,| Sie ging.", "Er kam, Sie ging.", ["after-comma"]),
    "verse after a call": (
        "de", "Ach, mein Herr!| für eine gute Zahl.", "Ach, mein Herr! für eine gute Zahl.", ["after-call"],
    ),
    "a dash alone": ("de", "Er schwieg. |–| Der Tropf!", "Er schwieg. |– Der Tropf!", ["signs-alone"]),
    "signs alone": ("de", "Er schwieg.| ***| Sie ging.", "Er schwieg. *** |Sie ging.", ["signs-alone"]),
    "an abbreviation": (
        "de", "Das Haus steht z. B.| im Park am See.", "Das Haus steht z. B. im Park am See.", ["after-initial"],
    ),
    "the end of an abbreviation": (
        "de", "Bern liegt 542 m ü.| M. im Mittelland.| M. Weber war da.",
        "Bern liegt 542 m ü. M. im Mittelland. |M. Weber war da.", ["before-initial"],
    ),
    "an ordinal": (
        "de", "Bis zum Ende des 19.| Jahrhunderts blieb es so.| Das war 12.| Die Stadt wuchs.",
        "Bis zum Ende des 19. Jahrhunderts blieb es so. |Das war 12. |Die Stadt wuchs.", ["after-ordinal"],
    ),
    "an ordinal and an abbreviation": (
        "de", "Sie hing im 15.| Jh.| über dem Tor.| Das war im 19. Jh.| Dann kam der Krieg.",
        "Sie hing im 15. Jh. über dem Tor. |Das war im 19. Jh. |Dann kam der Krieg.", ["after-ordinal"] * 2,
    ),
    "an abbreviation before what it belongs to": (
        "de", "Man hat das Haus inkl.| Drehtheater umgebaut.| Es war ca. 3 km entfernt.| Dann kam er.",
        "Man hat das Haus inkl. Drehtheater umgebaut. |Es war ca. 3 km entfernt. |Dann kam er.", ["after-title"],
    ),
    "a unit that is also an abbreviation": (
        "de", "Der Tank fasst 50 hl.| Er ist neu.| Am Altar steht die hl.| Anna.",
        "Der Tank fasst 50 hl. |Er ist neu. |Am Altar steht die hl. Anna.", ["after-title"],
    ),
    "an ordinal in a language that is written like German": (
        "lb", "Et war am 19.| Joerhonnert.| Dat war 12.| Die Stad wuess.",
        "Et war am 19. Joerhonnert. |Dat war 12. |Die Stad wuess.", ["after-ordinal"],
    ),
    "an ordinal elsewhere": ("es", "Eran 19.| Llegaron todos.", "Eran 19. |Llegaron todos.", []),
    "a sentence that begins with a year": (
        "de", "Die Kirche ist von 1488. 1945 brannte sie aus.| Der Nr. 1945 folgte er.",
        "Die Kirche ist von 1488. |1945 brannte sie aus. |Der Nr. 1945 folgte er.", ["missed-end"],
    ),
    "a title of one letter": (
        "es", "Con licencia de D.| Fabrique salió.| Adiós.", "Con licencia de D. Fabrique salió. |Adiós.",
        ["after-title"],
    ),
    "a title of two letters": (
        "fr", "Les mots de M.| Dupont sont vrais.| MM.| Petit et Roy partent.",
        "Les mots de M. Dupont sont vrais. |MM. Petit et Roy partent.", ["after-title"] * 2,
    ),
    "the number of an item": (
        "fi", "Matka on alle 50 kilometriä.| 3.| Tämä asetus ei estä.| 4. |Käyttäydy hyvin.",
        "Matka on alle 50 kilometriä. |3. Tämä asetus ei estä. |4. Käyttäydy hyvin.", ["after-number"] * 2,
    ),
    "a number that goes on": (
        "hr", "To je bilo 2007.| godine u Zagrebu.| Trajat će do 31.| listopada.",
        "To je bilo 2007. godine u Zagrebu. |Trajat će do 31. listopada.", ["after-number"] * 2,
    ),
    "a unit inside and at the end": (
        "ru", "В 1994 г.| он ушёл.| Вес до 180 кг. Потом он умер в 2009 г. В Москве жили двое.",
        "В 1994 г. он ушёл. |Вес до 180 кг. |Потом он умер в 2009 г. |В Москве жили двое.",
        ["after-number", *["missed-end"] * 2],
    ),
    "a unit in a language whose nouns have capitals": (
        "de", "Er wog 80 kg. Hans lief 5 km. |Dann kam er.", "Er wog 80 kg. Hans lief 5 km. |Dann kam er.", [],
    ),
    "an abbreviation of consonants": (
        "sl", "To je npr.| dobro.| Zakon št.| 5 velja.", "To je npr. dobro. |Zakon št. 5 velja.", ["after-title"] * 2,
    ),
    "an abbreviation of several words": (
        "sv", "Vi har t.ex.| mellan två val.| Det är bra.", "Vi har t.ex. mellan två val. |Det är bra.",
        ["after-title"],
    ),
    "initials with a hyphen, and without a space": (
        "fr", "Le jardin de J.|-P.| Bruneau est beau.| Il va chez J.|R.Duran.",
        "Le jardin de J.-P. Bruneau est beau. |Il va chez J.R.Duran.", ["inside-word", "after-initial", "inside-word"],
    ),
    "who says it, after a quotation": (
        "tr", 'Bu soruya "Tabi olur."| diyerek güldü.| Gitti.',
        'Bu soruya "Tabi olur." diyerek güldü. |Gitti.', ["after-call"],
    ),
    "a face": (
        "en", "It works!| :-) Then we left.| I like it :) But not here.| Bye 😀",
        "It works! :-) |Then we left. |I like it :) |But not here. |Bye 😀", ["closing-signs", "missed-end"],
    ),
    "an item in the line of another one": (
        "cs", "Plán se řeší. * vše běžně. • nic dalšího.", "Plán se řeší. |* vše běžně. |• nic dalšího.",
        ["missed-end"] * 2,
    ),
    "a quotation mark of two backticks": (
        "de", "Sie kam an.| ``|Ich gehe'', sagte er.", "Sie kam an. |``Ich gehe'', sagte er.", ["opening-signs"],
    ),
    "a bracket that is never closed": (
        "ru", "Он жил тут (с 1495 года. Она жила там. Это всё.",
        "Он жил тут (с 1495 года. |Она жила там. |Это всё.", ["missed-end"] * 2,
    ),
    "initials": ("ru", "Это А.| С.| Пушкин.", "Это А. С. Пушкин.", ["after-initial"] * 2),
    "a title": ("es", "Era el Sr.| Benito, de Soria.| Adiós.", "Era el Sr. Benito, de Soria. |Adiós.", ["after-title"]),
    "a missed end": (
        "ru", "Кто здесь? Уведите меня. Прощай!", "Кто здесь? |Уведите меня. |Прощай!", ["missed-end"] * 2,
    ),
    "a missed end before a dash": (
        "es", "-¿Cómo no se caen? -Porque tienen alas.",
        "-¿Cómo no se caen? |-Porque tienen alas.", ["missed-end"],
    ),
    # what is right, or cannot be told, stays
    "a letter after a stop": ("de", "Das ist es. |das da auch.", "Das ist es. |das da auch.", []),
    "a colon": ("de", "Sie spricht: |Ein Mädchen kam.", "Sie spricht: |Ein Mädchen kam.", []),
    "a lost space": ("es", "Ese es el parque.|Los niños corren.", "Ese es el parque.|Los niños corren.", []),
    "a name with a call": ("en", "I use Yahoo! now.", "I use Yahoo! now.", []),
    "a number": ("de", "Es kostet 3.| 14 Euro.", "Es kostet 3. |14 Euro.", []),
    "Georgian has no capitals": ("ka", "ვინ არის? |ეს მე ვარ.", "ვინ არის? |ეს მე ვარ.", []),
    "Chinese has no spaces": ("zh", "你好。|他来了。「好！」|他说。", "你好。|他来了。「好！」|他说。", []),
}  # fmt: skip


def spans_of(marked):
    """A text whose sentences end at bars, and their spans without white space at the ends."""
    text, limits = "", [0]
    for part in marked.split("|"):
        text += part
        limits.append(len(text))
    pairs = pairwise(limits)
    stripped = [(a + len(text[a:b]) - len(text[a:b].lstrip()), a + len(text[a:b].rstrip())) for a, b in pairs]
    return text, [(a, b) for a, b in stripped if a < b]


@pytest.mark.parametrize(("lang", "given", "expected", "kinds"), CASES.values(), ids=CASES)
def test_sentences_end_where_the_writing_says(lang, given, expected, kinds):
    text, spans = spans_of(given)
    same, right = spans_of(expected)
    assert same == text
    corrections = Counter()
    assert [text[a:b] for a, b in correct_boundaries(text, lang, corrections, spans)] == [text[a:b] for a, b in right]
    assert corrections == Counter(kinds)


def test_every_kind_of_mend_has_a_case():
    assert {kind for *_, kinds in CASES.values() for kind in kinds} == CORRECTIONS


@pytest.mark.parametrize("lang", SAMPLE_LANGUAGES)
@pytest.mark.parametrize("step", [1, 7, 40])
def test_no_character_is_lost_whatever_a_segmenter_does(lang, step):
    """Limits at every so many characters: spans stay in order, and nothing but white space is between them."""
    lines = sample_file(lang).read_text(encoding="utf-8").splitlines()
    text = " ".join(line.removeprefix("# text = ") for line in lines if line.startswith("# text = "))[:4000].rstrip()
    cut = "|".join(text[i : i + step] for i in range(0, len(text), step))
    corrections = Counter()
    found = correct_boundaries(text, lang, corrections, spans_of(cut)[1])
    assert all(a < b for a, b in found)
    assert all(b <= c and not text[b:c].strip() for (_, b), (c, _) in pairwise(found))
    assert (found[0][0], found[-1][1]) == (0, len(text))
    assert corrections.keys() <= CORRECTIONS
    again = Counter()
    assert correct_boundaries(text, lang, again, found) == found
    assert not again, "corrected boundaries need no correction"


@needs_stanza
@pytest.mark.parametrize(
    "text", ["Er ging im Park am See spazieren.. . Dort war es „schön!“, sagte sie. Was? Ja.", "Ja. Nein! Im Haus."]
)
def test_tokens_stay_in_their_places_in_other_sentences(german, text):
    """Whatever the sentences: the same tokens and words in the same order."""
    (document,) = german._tokenise([text])
    sentences = [
        [Word(word.text, start=token.start_char, end=token.end_char) for token in one.tokens for word in token.words]
        for one in document.sentences
    ]
    starts = sorted({word.start for sentence in sentences for word in sentence})
    for chosen in ([0], starts[::3], starts):
        found = regroup(sentences, chosen)
        assert [sentence[0].start for sentence in found] == chosen
        assert list(chain.from_iterable(found)) == list(chain.from_iterable(sentences))


@needs_stanza
def test_stanza_annotates_the_corrected_sentences(german):
    text = "»Fräulein! Ich gehe im Park . . . spazieren«, rief er. »Ach! « Sie schwieg... und ging."
    corrections = Counter()
    found = german.annotate([Paragraph(TextWithOffsets(text))], corrections)[0]
    spans = [(one.words[0].start, one.words[-1].end) for one in found]
    assert spans == correct_boundaries(text, "de", Counter(), spans)
    assert corrections
    assert all(sum(word.head == 0 for word in one.words) == 1 for one in found)


def test_an_ellipsis_that_was_cut_is_one_word():
    cut = [[("Ja", 0), (".", 2)], [("..", 3), ("nein", 6), (".", 10)]]
    words = [[Word(form, start=at, end=at + len(form)) for form, at in one] for one in cut]
    (found,) = regroup(words, [0])
    assert [word.form for word in found] == ["Ja", "...", "nein", "."]
    assert (found[1].start, found[1].end) == (2, 5)


def test_no_sentence_begins_or_ends_with_white_space():
    text = "Das Haus ist alt. [1234] Katzen schlafen gern. [1] Sie sind müde."  # ``sentencex`` begins one with a space
    found = [text[start:end] for start, end in correct_boundaries(text, "de", Counter())]
    assert found == [sentence.strip() for sentence in found]
    assert "Katzen schlafen gern. [1]" in found


@pytest.mark.parametrize("lang", languages())
def test_the_patterns_of_every_language_can_be_used(lang):
    assert correct_boundaries("Ja. Nein.", lang, Counter(), [(0, 3), (4, 9)]) == [(0, 3), (4, 9)]


@pytest.mark.parametrize(
    ("lang", "sentences"),
    [
        ("it", ["Non ci vado mai.", "Lei disse di no.", "Io non lo so.", "Poi siamo andati via."]),
        ("it", ["Vedi la legge n. 184 del 1983.", "Poi ne parliamo."]),
        ("pt", ["Ele disse «Gosto de música.", "Tenho certeza de que sim.", "Agora vou embora», e saiu."]),
        ("pt", ["A festa de S. João é bonita.", "Eu não o vi.", "Depois fomos para casa."]),
        ("es", ["No, hombre, no.", "Estamos bien.", "Luego nos fuimos."]),
        ("nl", ["Ik weet het niet, zei me dat.", "Daarna gingen wij."]),
        ("de", ["Er fragte mich.", "Dann ging er."]),
        ("en", ["She asked me.", "He said no.", "Mr. Smith left at No. 5 on the list."]),
    ],
)
def test_short_words_and_open_quotes_end_sentences(lang, sentences):
    text = " ".join(sentences)
    assert [text[start:end] for start, end in sentence_spans(text, lang)] == sentences
