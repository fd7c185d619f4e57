"""Suites: one row per pair, one split, and texts that differ as the definition says."""

import itertools
import json
from collections import Counter

import msgspec
import polars as pl
import pyarrow as pa
import pytest
from audit_parts import with_other_ending
from datasets import load_dataset
from made_sentences import words
from shared import SAMPLE_LANGUAGES, UD, needs_shared, run_in_process

import discoprobe
from discoprobe.builders import MIN_ROWS, SPLITS, Config, DiscourseTask, Settings, Shape, all_tasks, suite_rows
from discoprobe.builders.audit import fidelity, from_config
from discoprobe.builders.drops import for_release
from discoprobe.builders.edits.agreement import _alike_in_number
from discoprobe.cards.text.card import config_card
from discoprobe.sources import load_corpus

SUITES = [name for name, task in all_tasks().items() if task.conditions]
SING, PLUR = "Number=Sing", "Number=Plur"
NOUNS = ["perro", "gato", "toro", "pato", "lobo", "oso", "zorro", "burro"]
VERBS = ["corr", "salt", "cant", "mir", "llor", "trabaj", "cen", "viaj"]
PLACES = [
    a + b
    for a, b in itertools.product(
        ["mon", "val", "rio", "san", "al", "cas", "por", "ter"], ["te", "do", "lar", "gos", "nia", "tu", "zar", "ba"]
    )
]


def clause(noun, stem, place, *, plural, ending=None, subject=None, before=()):
    """*Ayer el perro corre en Monte .*: one subject and one verb; ``before`` are words between them."""
    number, verb = (PLUR, stem + (ending or "an")) if plural else (SING, stem + (ending or "a"))
    feats = f"Mood=Ind|{number}|Person=3|Tense=Pres|VerbForm=Fin"
    at = 4 + len(before)
    return words(
        f"Ayer ayer ADV _ {at} advmod",
        f"{'los' if plural else 'el'} el DET Definite=Def|{number} 3 det",
        f"{subject or noun + 's' * plural} {noun} NOUN {number} {at} nsubj",
        *before,
        f"{verb} {stem}ar VERB {feats} 0 root",
        f"en en ADP _ {at + 2} case",
        f"{place.title()} {place} PROPN _ {at} obl",
        f". . PUNCT _ {at} punct",
    )


COORDINATED = clause(
    "perro", "corr", "aquila", plural=True, before=["y y CCONJ _ 5 cc", "gatos gato NOUN Number=Plur 3 conj"]
)
COUNTED = clause("gato", "salt", "betica", plural=True, before=["tres tres NUM NumType=Card 3 nummod"])
QUANTITY = clause(
    "toro", "cant", "celsa", plural=False, before=["de de ADP _ 5 case", "patos pato NOUN Number=Plur 3 nmod"]
)
_TEXT, _TABLE = clause("gente", "llor", "efeso", plural=True, subject="gente")
BOTH_WAYS = [
    clause("gente", "mir", "delos", plural=False),
    (_TEXT, _TABLE.replace("Number=Plur", "Number=Sing", 2)),
]
"""Subjects that decide on no number, or agree in two ways."""
AMBIGUOUS = clause("lobo", "dud", "fano", plural=False, ending="an")
"""A verb whose plural is a singular too."""
SINGULAR = [clause("oso", "dud", place, plural=False) for place in ("gades", "iria")]
LEFT = [COORDINATED, COUNTED, QUANTITY, *BOTH_WAYS, AMBIGUOUS, *SINGULAR]


@pytest.fixture(scope="module")
def treebank(tmp_path_factory):
    """A treebank with every verb in both numbers, and sentences that must be left."""
    pairs = itertools.product(NOUNS, VERBS)
    plain = [
        clause(noun, stem, place, plural=(at + at // 8) % 2)
        for at, ((noun, stem), place) in enumerate(zip(pairs, PLACES, strict=True))
    ]
    plural = clause("perro", "dud", "jaca", plural=True)
    path = tmp_path_factory.mktemp("treebank") / "es_made-ud-test.conllu"
    sentences = [*plain, plural, *LEFT]
    blocks = [f"# sent_id = s{at}\n# text = {text}\n{table}\n\n" for at, (text, table) in enumerate(sentences)]
    path.write_text("".join(blocks), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def agreement(treebank):
    return discoprobe.build("agreement_suite", load_corpus(str(treebank)), Settings(min_class=10))


def rows_of(config):
    return [row | {"condition": config.labels[row["label"]]} for row in config.splits["test"].to_pylist()]


def test_the_verb_alone_is_changed_to_the_form_of_its_own_paradigm(agreement):
    rows = rows_of(agreement)
    assert len(rows) > 30
    for row in rows:
        (before, good, after), (before_too, bad, after_too) = row["regions_good"], row["regions_bad"]
        assert (before, after) == (before_too, after_too)
        assert good == row["target"]["form"] == row["sentence_good"][row["target"]["start"] : row["target"]["end"]]
        assert {good, bad} == {good.removesuffix("n"), good.removesuffix("n") + "n"}
        assert row["condition"] == ("Plural/Singular" if good.endswith("n") else "Singular/Plural")


def test_both_directions_are_equally_frequent(agreement):
    counts = Counter(row["condition"] for row in rows_of(agreement))
    assert counts["Plural/Singular"] == counts["Singular/Plural"] > 15
    forms = Counter((row["regions_good"][1], row["regions_bad"][1]) for row in rows_of(agreement))
    assert all(n == forms[bad, good] for (good, bad), n in forms.items()), "each pair of forms both ways"


def test_subjects_and_forms_that_are_not_clear_are_left(agreement):
    shown = {row["sentence_good"] for row in rows_of(agreement)}
    assert not shown & {text for text, _ in LEFT}
    assert agreement.drops["mixed-subject"] == 2, "the quantity and the first of those that agree both ways"
    assert agreement.drops["no-agreement"] == 1, "the second of those"
    assert agreement.drops["ambiguous-verb"] == len(SINGULAR), "from a singular to what is a singular too"
    assert set(agreement.drops) <= set(agreement.meanings)


def test_nouns_that_end_like_those_whose_plural_is_the_singular_do_not_show_their_number():
    """Czech *bude/budou řízení*: of 28 pairs three had a noun in *-ní*, of which the treebank has the singular only."""
    nouns = [
        ("opatření", "opatření", "Sing"), ("opatření", "opatření", "Plur"), ("zařízení", "zařízení", "Sing"),
        ("zařízení", "zařízení", "Plur"), ("řízení", "řízení", "Sing"), ("paní", "paní", "Sing"),
        ("paní", "panie", "Plur"), ("žena", "žena", "Sing"), ("žena", "ženy", "Plur"), ("voda", "voda", "Sing"),
    ]  # fmt: skip
    words = pl.DataFrame(nouns, ["lemma", "form", "Number"], orient="row")
    words = words.with_columns(upos=pl.lit("NOUN"), feats=pl.format("Case=Nom|Number={}", "Number"))
    assert sorted(_alike_in_number(words)) == ["opatření\tNom", "zařízení\tNom", "řízení\tNom"]


@needs_shared
def test_a_czech_verb_does_not_stand_beside_a_noun_of_either_number():
    config = discoprobe.build("agreement_suite", load_corpus("cs", [str(UD / "cs")]), Settings(min_class=5))
    assert config.n_rows >= 15
    assert not [row for row in rows_of(config) if row["subject"]["form"].endswith(("ání", "ení"))]


def test_a_verb_that_does_not_agree_in_the_language_is_no_target(tmp_path):
    sentences = [
        clause(noun, stem, place, plural=(at + at // 8) % 2, ending="a")
        for at, ((noun, stem), place) in enumerate(zip(itertools.product(NOUNS, VERBS), PLACES, strict=True))
    ]
    path = tmp_path / "es_flat-ud-test.conllu"
    flat = [(text, table.replace("Mood=Ind|Number=Plur", "Mood=Ind|Number=Sing")) for text, table in sentences]
    path.write_text(
        "".join(f"# sent_id = {n}\n# text = {a}\n{b}\n\n" for n, (a, b) in enumerate(flat)), encoding="utf-8"
    )
    with pytest.raises(discoprobe.loaders.errors.UnsupportedError, match="no-agreement"):
        discoprobe.build("agreement_suite", load_corpus(str(path)), Settings(min_class=10))


@pytest.mark.parametrize(("share", "kept"), [(0, True), (8, True), (2, False)])
def test_where_words_are_spelled_in_several_ways_no_form_is_wrong(tmp_path, share, kept):
    """Every ``share``-th sentence is in another spelling (*corrend*, *corre*), as in a treebank of several dialects."""
    pairs = [*zip(itertools.product(NOUNS, VERBS), PLACES, strict=True)]
    sentences = [
        clause(noun, stem, f"{place}{again}", plural=plural, ending=("en", "end")[plural] if other else None)
        for again in "abcd"
        for at, ((noun, stem), place) in enumerate(pairs)
        for plural in [(at + at // 8 + (again in "bd")) % 2]
        for other in [share and (at // 16 + "abcd".index(again)) % share == 0]
    ]
    path = tmp_path / "es_spelled-ud-test.conllu"
    path.write_text(
        "".join(f"# sent_id = {n}\n# text = {a}\n{b}\n\n" for n, (a, b) in enumerate(sentences)), encoding="utf-8"
    )
    if kept:
        assert len(rows_of(discoprobe.build("agreement_suite", load_corpus(str(path)), Settings(min_class=10)))) > 30
    else:
        with pytest.raises(discoprobe.loaders.errors.UnsupportedError, match="several-spellings"):
            discoprobe.build("agreement_suite", load_corpus(str(path)), Settings(min_class=10))


def test_forms_that_are_written_together_with_a_word_replace_none(tmp_path):
    sentences = [
        clause(noun, stem, place, plural=(at + at // 8) % 2)
        for at, ((noun, stem), place) in enumerate(zip(itertools.product(NOUNS, VERBS), PLACES, strict=True))
    ]
    bound = [clause("perro", "corr", f"{place}ia", plural=False, ending="'m") for place in PLACES[:20]]
    bound = [(text.replace("corr'm", "'m"), table.replace("corr'm", "'m")) for text, table in bound]
    path = tmp_path / "es_bound-ud-test.conllu"
    every = [f"# sent_id = {n}\n# text = {a}\n{b}\n\n" for n, (a, b) in enumerate([*sentences, *bound])]
    path.write_text("".join(every), encoding="utf-8")
    config = discoprobe.build("agreement_suite", load_corpus(str(path)), Settings(min_class=10))
    assert all("'" not in row["sentence_bad"] for row in rows_of(config))


FORMS = {"IND;PRS;3;SG": "a", "IND;PRS;3;PL": "an", "SBJV;PRS;3;SG": "e", "SBJV;PRS;3;PL": "en"}


def unimorph(path, stems, **changed):
    """A table of UniMorph with the forms of some verbs; ``changed`` are other endings, by stem."""
    lines = [
        f"{stem}ar\t{stem}{ending}\tV;{tags}"
        for stem in stems
        for tags, ending in (FORMS | changed.get(stem, {})).items()
    ]
    path.write_text("\n\n".join([*lines, "casa\tcasas\tN;PL"]) + "\n", encoding="utf-8")
    return path


def test_a_table_of_unimorph_gives_the_forms_that_the_treebank_lacks(tmp_path):
    """Each verb is there in one number alone; of two verbs the table has no clear other form."""
    ends = ("er", "ol", "ic", "un", "at", "os", "il", "eg")
    stems = [f"{start}{end}" for start in ("bail", "nad", "grit", "pase") for end in ends]
    sentences = [clause(NOUNS[at % 8], stem, PLACES[at], plural=at % 2) for at, stem in enumerate(stems)]
    path = tmp_path / "es_made-ud-test.conllu"
    path.write_text(
        "".join(f"# sent_id = {n}\n# text = {a}\n{b}\n\n" for n, (a, b) in enumerate(sentences)), encoding="utf-8"
    )
    corpus = load_corpus(str(path))
    with pytest.raises(discoprobe.loaders.errors.UnsupportedError, match="no-other-form 32"):
        discoprobe.build("agreement_suite", corpus, Settings(min_class=10))
    same, two = stems[0], stems[3]  # a plural that is the singular too; two singulars
    table = unimorph(tmp_path / "spa.tsv", stems, **{same: {"IND;PRS;3;PL": "a"}})
    with table.open("a", encoding="utf-8") as file:
        file.write(f"{two}ar\t{two}ía\tV;IND;PRS;3;SG\n")
    config = discoprobe.build("agreement_suite", corpus, Settings(min_class=10, paradigms=str(table)))
    rows = rows_of(config)
    assert config.drops["no-other-form"] == 2
    assert len(rows) == 30
    for row in rows:
        good, bad = row["regions_good"][1], row["regions_bad"][1]
        assert bad == (good.removesuffix("n") if good.endswith("n") else good + "n")
        assert not bad.startswith((same, two))


def test_a_form_that_unimorph_has_in_both_numbers_is_no_other_form(treebank, tmp_path, agreement):
    """Czech *vytváří* is the singular and a plural of *vytvářet*; the treebank may have it as a singular alone."""
    both = rows_of(agreement)[0]
    lemma, form = both["target"]["lemma"], both["regions_bad"][1]
    table = unimorph(tmp_path / "spa.tsv", ["otr"])
    number = {"Singular": "SG", "Plural": "PL"}[both["condition"].partition("/")[0]]
    with table.open("a", encoding="utf-8") as file:
        file.write(f"{lemma}\t{form}\tV;IND;PRS;3;{number}\n")
    config = discoprobe.build(
        "agreement_suite", load_corpus(str(treebank)), Settings(min_class=10, paradigms=str(table))
    )
    changed = {(row["target"]["lemma"], row["regions_bad"][1]) for row in rows_of(config)}
    assert (lemma, form) not in changed
    assert config.drops["ambiguous-verb"] > agreement.drops["ambiguous-verb"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("correr\tcorre\n", r"spa\.tsv:1: expected lemma<TAB>form<TAB>V;IND;PRS;3;SG, found 'correr\\tcorre'"),
        ("casa\tcasas\tN;PL\n", r"spa\.tsv: has no verbs; give a table of UniMorph"),
        (None, r"spa\.tsv: cannot be read \(No such file or directory\); give a table of UniMorph"),
    ],
)
def test_a_malformed_table_of_paradigms_is_one_line(treebank, tmp_path, text, message):
    if text is not None:
        (tmp_path / "spa.tsv").write_text(text, encoding="utf-8")
    settings = Settings(min_class=10, paradigms=str(tmp_path / "spa.tsv"))
    with pytest.raises(discoprobe.loaders.errors.DiscoprobeError, match=message):
        discoprobe.build("agreement_suite", load_corpus(str(treebank)), settings)


def sources(corpus):
    return {text for shard in corpus.shards() for text in shard.sentences["text"]}


@pytest.mark.parametrize("lang", SAMPLE_LANGUAGES)
@pytest.mark.parametrize("suite", [name for name in SUITES if isinstance(all_tasks()[name], DiscourseTask)])
def test_suites_of_passages_differ_as_they_say(suite, lang, built, corpus_of):
    config = built("sample", lang)[suite]
    assert isinstance(config, Config)
    known = sources(corpus_of("sample", lang))
    assert config.splits["test"].num_rows >= 5
    for row in rows_of(config):
        good, bad = row["regions_good"], row["regions_bad"]
        assert set(good) | set(bad) <= known
        assert len(good) == len(bad) == 5
        match suite:
            case "order_all":
                assert sorted(good) == sorted(bad)
                assert (row["region"], good != bad) == (0, True)
            case "order_context":
                assert sorted(good) == sorted(bad)
                assert (row["region"], good[4], good[:4] != bad[:4]) == (5, bad[4], True)
            case "cloze_suite":
                assert (row["region"], good[:4], good[4] != bad[4]) == (5, bad[:4], True)


def test_the_good_text_of_a_choice_ends_with_the_right_one():
    rows = pl.DataFrame({
        "id": ["first", "second"], "label": [0, 1], "context": [["One.", "Two."], ["Three.", "Four."]],
        "choices": [["Right.", "Wrong."], ["Wrong.", "Right."]],
    })  # fmt: skip
    pairs = suite_rows(rows, all_tasks()["cloze_suite"])
    assert pairs["sentence_good"].to_list() == ["One. Two. Right.", "Three. Four. Right."]
    assert pairs["sentence_bad"].to_list() == ["One. Two. Wrong.", "Three. Four. Wrong."]
    assert pairs["regions_good"].to_list() == [["One.", "Two.", "Right."], ["Three.", "Four.", "Right."]]


@pytest.mark.parametrize("lang", SAMPLE_LANGUAGES)
def test_a_suite_has_one_split_and_texts_that_are_its_regions(lang, built, agreement):
    configs = [agreement, *(result for name in SUITES if isinstance(result := built("sample", lang)[name], Config))]
    assert len(configs) >= 4
    for config in configs:
        assert (config.shape, list(config.splits)) == (Shape.SUITE, ["test"])
        rows = rows_of(config)
        assert len({row["id"] for row in rows}) == len({row["pair_id"] for row in rows}) == len(rows)
        for row, side in itertools.product(rows, ("good", "bad")):
            assert row[f"sentence_{side}"] == " ".join(filter(None, row[f"regions_{side}"]))


def test_the_audit_sees_both_texts_and_the_compared_region(agreement):
    data = from_config(agreement)
    assert (data.labels, data.pairs) == (("good", "bad"), True)
    assert data.rows.height == 2 * agreement.n_rows
    for text, start, end, label, target in data.rows.select(
        pl.col("texts").list.first(), "edit_start", "edit_end", "label", "target"
    ).rows():
        assert (text[start:end] == target) == (label == 0)


def test_fidelity_finds_a_bad_text_that_differs_outside_the_edit(agreement):
    planted = with_other_ending(agreement, "en ", "de ")
    assert fidelity(from_config(agreement)).measured == 0
    assert fidelity(from_config(planted)).measured == 1


def test_a_size_counts_pairs_and_keeps_both_directions_equal(treebank):
    settings = Settings(min_class=5, sizes=(100, 100, 12))
    rows = rows_of(discoprobe.build("agreement_suite", load_corpus(str(treebank)), settings))
    assert Counter(row["condition"] for row in rows) == {"Singular/Plural": 6, "Plural/Singular": 6}


@pytest.mark.parametrize(
    ("n", "kept", "marks"), [(49, False, (True, False)), (50, True, (False, True)), (99, True, (False, True)),
                             (100, True, (False, False))],
)  # fmt: skip
def test_a_suite_of_fifty_pairs_is_offered_as_small(agreement, n, kept, marks):
    table = agreement.splits["test"]
    made = msgspec.structs.replace(agreement, splits={"test": table.take([row % table.num_rows for row in range(n)])})
    released = for_release(made, {}, MIN_ROWS)
    assert (released is made) == kept
    assert (made.tiny, made.small) == marks
    assert kept or released.reason.startswith("49 rows, 50 are needed: ")
    card = config_card(made)
    assert ("**Small:**" in card, "**Tiny:**" in card) == marks[::-1]
    assert n != 50 or "±15 points" in card


@pytest.mark.parametrize(("n", "groups", "kept"), [(60, 5, False), (60, 6, True), (100, 5, True)])
def test_a_small_suite_is_of_six_documents_or_more(agreement, n, groups, kept):
    table = agreement.splits["test"]
    table = table.take([row % table.num_rows for row in range(n)])
    at = table.column_names.index("group")
    table = table.set_column(at, table.schema.field("group"), pa.array([str(row % groups) for row in range(n)]))
    made = msgspec.structs.replace(agreement, splits={"test": table})
    released = for_release(made, {}, MIN_ROWS)
    assert (released is made) == kept
    assert kept or released.reason.startswith("60 rows of 5 groups, 6 are needed for so few rows: ")
    assert kept or released.lacks == "need more rows"
    assert for_release(made, {}, (0, 0, 0)) is made


def test_a_config_that_trains_needs_as_many_test_rows_as_ever(built):
    made = built("sample", "es")["bso"]
    sizes = dict(zip(SPLITS, (200, 50, 99), strict=True))
    splits = {split: made.splits[split].take([row % made.splits[split].num_rows for row in range(n)])
              for split, n in sizes.items()}  # fmt: skip
    made = msgspec.structs.replace(made, splits=splits)
    assert (made.tiny, made.small) == (True, False)
    assert for_release(made, {}, MIN_ROWS).reason.startswith("200/50/99 rows, 200/50/100 are needed")


@pytest.fixture(scope="module")
def repeating(tmp_path_factory):
    """Eight files: in each every noun has another verb, and *perro corre* and *perros corren* are in all."""
    folder = tmp_path_factory.mktemp("repeating")
    for file in range(8):
        often = [clause("perro", "corr", f"{PLACES[file]}{n}", plural=n % 2) for n in range(4)]
        others = [
            clause(noun, VERBS[(file + at) % 8], f"{PLACES[8 * at + file]}x", plural=at % 2)
            for at, noun in enumerate(NOUNS)
        ]
        blocks = [f"# sent_id = {file}-{n}\n# text = {a}\n{b}\n\n" for n, (a, b) in enumerate([*often, *others])]
        (folder / f"es_made{file}-ud-test.conllu").write_text("".join(blocks), encoding="utf-8")
    return folder


@pytest.mark.parametrize("block", [2**20, 1200], ids=["one block", "several blocks"])
def test_a_subject_and_its_verb_are_in_two_pairs_at_most_and_directions_are_equal(repeating, block):
    config = discoprobe.build("agreement_suite", load_corpus(str(repeating)), Settings(min_class=5, block=block))
    rows = rows_of(config)
    assert Counter(row["condition"] for row in rows)["Singular/Plural"] == len(rows) / 2 >= 10
    subjects = Counter((row["regions_good"][0].split()[-1], row["regions_good"][1]) for row in rows)
    assert max(subjects.values()) <= 2
    assert config.drops["repeated"] >= 8, "of 16 sentences with a subject and its verb two stay"
    blocks = [note for note in config.notes if "blocks" in note]
    assert not blocks, "all of it is read"


def test_a_release_with_a_suite_loads_is_audited_and_exported(treebank, tmp_path):
    out = tmp_path / "release"
    build = ("run", "--corpus", treebank, "--task", "suites", "--out", out, "--no-audit", "--min-rows")
    done = run_in_process(*build, "200/50/10")
    assert done.returncode == 0, done.stdout + done.stderr
    rows = load_dataset(str(out), "agreement_suite_es", split="test", cache_dir=str(tmp_path / "cache"))
    assert len(rows) > 30
    audit = json.loads(run_in_process("audit", out / "agreement_suite_es", "--json").stdout)
    assert "agreement_suite_es" in json.dumps(audit)
    for form in ("jsonl", "blimp", "lm-eval", "syntaxgym"):
        exported = run_in_process("export", out, tmp_path / form, "--format", form)
        assert exported.returncode == 0, exported.stderr
    lines = load_dataset(
        "json",
        data_files=str(tmp_path / "blimp" / "agreement_suite_es.jsonl"),
        split="train",
        cache_dir=str(tmp_path / "cache"),
    )
    assert [(line["sentence_good"], line["sentence_bad"]) for line in lines] == [
        (row["sentence_good"], row["sentence_bad"]) for row in rows
    ]
    refused = run_in_process(*build, "0/0/500", "--json")
    assert "250 are needed" in refused.stdout
