"""Replaced words: exchanged between sentences, so that no word tells that it replaces; grammar is kept."""

import multiprocessing
from collections import Counter
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared import SAMPLE_LANGUAGES, UD, needs_shared, sample_file

from discoprobe.builders import Config, Context, Settings, build_all, tasks_named
from discoprobe.builders.build import build
from discoprobe.builders.edits import counts_of, word_replacement
from discoprobe.builders.edits import word_replacement as misfits
from discoprobe.builders.probing.somo import TASK
from discoprobe.builders.sentences import Trees
from discoprobe.builders.sentences.clauses import FRAMES
from discoprobe.loaders import Corpus, UnsupportedError
from discoprobe.loaders.conllu import read_corpora
from discoprobe.loaders.hashing import hash_strings
from discoprobe.loaders.languages import language_data

LANGUAGES = [
    ("sample", "en"),
    ("sample", "es"),
    *[pytest.param("shared", lang, marks=needs_shared) for lang in ("de", "ja", "fr")],
]


@pytest.fixture(scope="module")
def loose(corpus_of):
    """A function: somo with as many rows as can be, built once."""
    made = {}

    def get(where, lang) -> Config:
        if (where, lang) not in made:
            try:
                few = Settings(ipm="none", match=False, min_class=2)  # the sample is no evidence of what fits
                settings = few if where == "sample" else Settings(ipm="none")
                made[where, lang] = build("somo", corpus_of(where, lang), settings)
            except UnsupportedError as error:
                pytest.skip(str(error))
        return made[where, lang]

    return get


def _rows(config):
    rows = [(split, row) for split, table in config.splits.items() for row in table.to_pylist()]
    assert {row["label"] for _, row in rows} == {0, 1}
    return rows


@pytest.mark.parametrize(("where", "lang"), LANGUAGES)
def test_every_word_replaces_as_often_as_it_is_replaced(where, lang, loose):
    rows = _rows(loose(where, lang))
    counts = [
        Counter((split, row["target"]["form"]) for split, row in rows if row["label"] == label) for label in (0, 1)
    ]
    assert counts[0] == counts[1]


@pytest.mark.parametrize(("where", "lang"), LANGUAGES)
def test_a_group_is_a_ring_in_which_every_word_is_once_replaced_and_once_the_replacement(where, lang, loose):
    """Cross-validation keeps groups together: half a ring would tell which of its words are replacements."""
    groups = {}
    for split, row in _rows(loose(where, lang)):
        groups.setdefault(row["group"], []).append((split, row["pair_id"], row["label"], row["target"]["form"]))
    assert len(groups) > 1
    for rows in groups.values():
        splits, pairs, *_ = zip(*rows, strict=True)
        forms = [Counter(form for *_, of, form in rows if of == label) for label in (0, 1)]
        assert len(set(splits)) == 1
        assert set(Counter(pairs).values()) == {2}
        assert len(set(pairs)) > 1
        assert forms[0] == forms[1]


@pytest.mark.parametrize(("where", "lang"), LANGUAGES)
def test_the_target_is_the_word_that_stands_in_the_text(where, lang, loose):
    for _, row in _rows(loose(where, lang)):
        target, edit = row["target"], row["edit"]
        assert row["text"][target["start"] : target["end"]] == target["form"]
        assert (edit["start"], edit["end"]) == (target["start"], target["end"])


@pytest.mark.parametrize(("where", "lang"), LANGUAGES)
def test_the_two_words_of_a_pair_differ_in_lemma_and_agree_in_kind_and_capital(where, lang, loose):
    pairs = {}
    for _, row in _rows(loose(where, lang)):
        pairs.setdefault(row["pair_id"], {})[row["label"]] = row["target"]
    for pair in pairs.values():
        assert pair[0]["lemma"].lower() != pair[1]["lemma"].lower()
        assert pair[0]["upos"] == pair[1]["upos"]
        assert pair[0]["form"][0].isupper() == pair[1]["form"][0].isupper()


@pytest.mark.parametrize(("where", "lang"), LANGUAGES)
def test_no_replaced_text_is_anybodys_original(where, lang, loose):
    rows = _rows(loose(where, lang))
    originals, replaced = ([row["text"] for _, row in rows if row["label"] == label] for label in (0, 1))
    assert not set(originals) & set(replaced)
    assert len({*originals, *replaced}) == len(rows)


def _conllu(words):
    """A sentence of (form, upos, head, deprel, perhaps FEATS) in CoNLL-U."""
    rows = [
        (i, form, form.lower(), upos, "_", *(feats or "_"), head, rel, "_", "_")
        for i, (form, upos, head, rel, *feats) in words
    ]
    lines = ["\t".join(map(str, row)) for row in rows]
    return "\n".join(["# sent_id = 1", f"# text = {' '.join(row[1] for row in rows)}", *lines, "", ""])


VERB_WITH_OBJECT = [("She", "PRON", 2, "nsubj"), ("wrote", "VERB", 0, "root"), ("books", "NOUN", 2, "obj")]
VERB_IN_PASSIVE = [("It", "PRON", 3, "nsubj:pass"), ("was", "AUX", 3, "aux:pass"), ("written", "VERB", 0, "root")]
VERB_WITH_PLACE = [("Go", "VERB", 0, "root"), ("to", "ADP", 3, "case"), ("town", "NOUN", 1, "obl")]
BARE_VERB = [("He", "PRON", 2, "nsubj"), ("slept", "VERB", 0, "root")]


VERB_WITH_PARTICLE = [("She", "PRON", 2, "nsubj"), ("gave", "VERB", 0, "root"), ("up", "ADP", 2, "compound:prt")]
PERHAPS_PASSIVE = [
    ("Bilen", "NOUN", 3, "nsubj"),
    ("blev", "AUX", 3, "aux"),
    ("kørt", "VERB", 0, "root", "VerbForm=Part"),
]
PARTICIPLE = [
    ("Il", "PRON", 3, "nsubj"),
    ("a", "AUX", 3, "aux"),
    ("dormi", "VERB", 0, "root", "VerbForm=Part|Voice=Act"),
]
VERB_WITH_REFLEXIVE = [("Se", "PRON", 2, "expl:pv"), ("quejó", "VERB", 0, "root")]
VERB_WITH_ADJUNCT = [
    ("Elle", "PRON", 2, "nsubj"),
    ("participe", "VERB", 0, "root"),
    ("à", "ADP", 4, "mark"),
    ("payer", "VERB", 2, "xcomp"),
]
VERB_WITH_CLAUSE = [
    ("She", "PRON", 2, "nsubj"),
    ("knew", "VERB", 0, "root"),
    ("that", "SCONJ", 4, "mark"),
    ("slept", "VERB", 2, "ccomp"),
]
QUOTED = [("Go", "VERB", 2, "ccomp"), ("said", "VERB", 0, "root"), ("Ann", "PROPN", 2, "nsubj")]
VERB_IN_RELATIVE = [("books", "NOUN", 0, "root"), ("she", "PRON", 3, "nsubj"), ("wrote", "VERB", 1, "acl:relcl")]
JOINED_VERBS = [("Buy", "VERB", 0, "root"), ("and", "CCONJ", 3, "cc"), ("read", "VERB", 1, "conj")]


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (VERB_WITH_OBJECT, ["verb object"]),
        (BARE_VERB, ["verb"]),
        (VERB_IN_RELATIVE, [None]),
        (VERB_IN_PASSIVE, [None]),
        (VERB_WITH_PARTICLE, [None]),
        (VERB_WITH_REFLEXIVE, [None]),
        (PERHAPS_PASSIVE, [None]),
        (PARTICIPLE, ["verb"]),
        (JOINED_VERBS, [None, None]),
        ([*JOINED_VERBS, ("books", "NOUN", 3, "obj")], [None, "verb object"]),
    ],
)
def test_a_verb_whose_object_may_stand_elsewhere_does_not_show_that_it_needs_none(words, shown, tmp_path):
    file = tmp_path / "en_case-ud-test.conllu"
    file.write_text(_conllu(enumerate(words, 1)), encoding="utf-8")
    (shard,) = read_corpora([file])["en"].shards()
    found = word_replacement._in_context(Trees(shard))
    assert found["shown"].to_list() == shown


def test_sentences_without_a_replaceable_word_are_evidence_too(tmp_path):
    """*Slept* may not be replaced, since it governs nothing; but it shows that *sleep* needs no object."""
    file = tmp_path / "en_case-ud-test.conllu"
    sentences = (BARE_VERB, VERB_WITH_OBJECT, BARE_VERB)
    texts = [_conllu(enumerate(words, 1)).replace("= 1", f"= {n}") for n, words in enumerate(sentences, 1)]
    file.write_text("".join(texts), encoding="utf-8")
    (shard,) = read_corpora([file])["en"].shards()
    frame = word_replacement.replaceable_words(
        Trees(shard), Context("somo", language_data("en"), Settings(ipm="none"), TASK.labels)
    )
    assert frame["sent"].n_unique() == 1
    words = hash_strings(pl.Series(["slept", "wrote", "books"]))
    assert counts_of(frame["seen"])(words).tolist() == [2, 1, 0]


@pytest.mark.parametrize(
    ("words", "role", "weak"),
    [
        (VERB_WITH_OBJECT, "verb object", False),
        (VERB_IN_PASSIVE, "verb passive", True),
        (VERB_WITH_PLACE, "verb", False),
        (BARE_VERB, "verb", True),
        (VERB_WITH_CLAUSE, "verb clause", False),
        (QUOTED, "verb clause", True),
        (VERB_WITH_ADJUNCT, "verb clause", True),
        (VERB_WITH_PARTICLE, "verb", True),
        (PERHAPS_PASSIVE, "verb", True),
    ],
)
def test_the_role_of_a_verb_is_its_frame_and_some_frames_tell_nothing(words, role, weak, tmp_path):
    file = tmp_path / "en_case-ud-test.conllu"
    file.write_text(_conllu(enumerate(words, 1)), encoding="utf-8")
    (shard,) = read_corpora([file])["en"].shards()
    found = word_replacement._in_context(Trees(shard)).filter(pl.col("head_row").is_null())
    assert found.select("role", "weak").rows() == [(role, weak)]


def _fits(frames, place="object", *, tied=False, beginning=0):
    """Whether a verb that the corpora show in these frames may replace one in another frame."""
    known, other = 1 << 50, 1 << 54
    hashes = dict(zip(FRAMES, hash_strings(pl.Series([*FRAMES.values()]), word_replacement.ROLE).tolist(), strict=True))
    plain = {name: [1 << (n + 9 * row) for row in range(4)] for n, name in enumerate(word_replacement.HASHED[:6])}
    special = {"known": [other, known, other, other], "role": [hashes[place], 1 << 56, 1 << 57, 1 << 58]}
    special |= {"beginning": [0, beginning, 0, 0]}
    usable = pl.DataFrame(plain | special, dict.fromkeys(word_replacement.HASHED, pl.UInt64)).with_columns(
        target_upos=pl.lit("VERB"), tied=pl.lit(tied)
    )
    bigrams = [plain[side][0] ^ plain[word][0] for side, word in (("before", "word_after"), ("after", "word_before"))]
    shown = [known for frame in frames if frame != "transitive"]
    seen = [*shown, *(known ^ hashes[frame] for frame in frames), *bigrams]
    counts = counts_of(pl.Series([seen], dtype=pl.List(pl.UInt64)))
    fits = word_replacement._fits(
        usable,
        counts,
        misfits.misfits_of(usable, counts),
        Context("somo", language_data("en"), Settings(), TASK.labels),
    )
    return bool(fits(np.array([0]), np.array([1]))[0])


@pytest.mark.parametrize(
    ("frames", "place", "strange"),
    [
        ([], "object", False),
        (["bare"], "object", True),
        (["bare", "clause"], "object", True),
        (["bare", "bare", "object"], "object", False),
        (["bare", "transitive"], "object", False),
        (["bare"], "clause", True),
        (["object", "clause"], "clause", False),
        (["object"], "bare", True),
        (["clause"], "bare", False),
        (["object", "bare"], "bare", False),
        (["bare"], "passive", False),
    ],
)
def test_a_verb_is_strange_in_a_frame_in_which_it_was_never_seen(frames, place, strange):
    assert _fits(frames, place) == strange


@pytest.mark.parametrize(("tied", "beginning", "fits"), [(True, 0, True), (True, 1, False), (False, 1, True)])
def test_words_begin_alike_after_a_word_that_depends_on_it(tied, beginning, fits):
    assert _fits(["bare"], tied=tied, beginning=beginning) == fits


@pytest.mark.parametrize(("before", "tied"), [("PRON", True), ("ADV", False)])
def test_function_words_tie_what_follows_them(before, tied, tmp_path):
    words = [
        ("There", before, 2, "dep"),
        ("goes", "VERB", 0, "root"),
        ("an", "DET", 4, "det"),
        ("owl", "NOUN", 2, "obj"),
    ]
    file = tmp_path / "en_case-ud-test.conllu"
    file.write_text(_conllu(enumerate(words, 1)), encoding="utf-8")
    (shard,) = read_corpora([file])["en"].shards()
    assert word_replacement._in_context(Trees(shard))["tied"].to_list() == [tied]


def test_words_that_can_replace_no_word_of_their_cell_are_in_none():
    """Lemma 1 is strange in role 0, and lemma 0 in role 1: so they change places, where both are in one cell."""
    table = np.array([[False, True, False], [True, False, False], [False, False, False]])
    found = table, np.array([0, 1, 2, 0, 0]), np.array([0, 1, 0, 0, 2])
    assert misfits.cells_with_misfits(np.array([7, 7, 7, 8, 7]), found).tolist() == [7, 7, -1, -1, -1]


@needs_shared
def test_words_agree_in_features_as_the_treebank_has_them(corpus_of, loose):
    config = loose("shared", "de")
    feats = {}
    for shard in corpus_of("shared", "de").shards():
        for form, upos, value in shard.tokens.select("form", "upos", "feats").iter_rows():
            feats.setdefault((form, upos), set()).add(value)
    pairs = {}
    for _, row in _rows(config):
        pairs.setdefault(row["pair_id"], []).append(feats[row["target"]["form"], row["target"]["upos"]])
    assert all(one & other for one, other in pairs.values())


def test_rings_stay_whole_when_rows_are_capped(corpus_of):
    sizes = (60, 12, 24)
    config = build("somo", corpus_of("sample", "en"), Settings(ipm="none", sizes=sizes, match=False, min_class=2))
    rows = [table.num_rows for table in config.splits.values()]
    assert all(size / 2 <= n <= size for size, n in zip(sizes, rows, strict=True))
    rows = _rows(config)
    counts = [
        Counter((split, row["target"]["form"]) for split, row in rows if row["label"] == label) for label in (0, 1)
    ]
    assert counts[0] == counts[1]


def test_shards_and_their_order_change_nothing(corpus_of):
    corpus = corpus_of("shared", "en") if UD.exists() else corpus_of("sample", "en")
    shards = list(corpus.shards())
    if len(shards) < 2:
        pytest.skip("the corpus has one shard")
    one, other = (
        build("somo", Corpus.of_shards("en", parts, corpus.sources), Settings(ipm="none"))
        for parts in (shards, shards[::-1])
    )
    assert {row["id"] for _, row in _rows(one)} == {row["id"] for _, row in _rows(other)}


@pytest.mark.parametrize(
    ("words", "same"),
    [
        (("apple", "orange"), True),
        (("apple", "garden"), False),
        (("hour", "house"), True),
        (("hour", "apple"), False),
        (("university", "umbrella"), True),
        (("university", "apple"), False),
        (("studente", "zio"), True),
        (("studente", "sole"), False),
        (("école", "ami"), True),
        (("встреча", "стол"), False),
    ],
)
def test_beginnings_that_articles_depend_on(words, same):
    found = pl.DataFrame({"small": words}).select(word_replacement._beginning()).to_series()
    assert (found[0] == found[1]) is same


@pytest.mark.parametrize(
    ("words", "same"),
    [
        ([("학교에서", "학교+에서"), ("도시에서", "도시+에서")], True),
        ([("학교에서", "학교+에서"), ("도시를", "도시+를")], False),
        ([("知っ", "知る"), ("走っ", "走る")], True),
        ([("知っ", "知る"), ("書い", "書く")], False),
        ([("词", "词"), ("时间", "时间")], True),
    ],
)
def test_words_without_features_are_inflected_alike_if_their_endings_are(words, same):
    frame = pl.DataFrame(
        [(form, lemma, None) for form, lemma in words],
        schema={"small": pl.String, "lemma": pl.String, "feats": pl.String},
        orient="row",
    )
    found = word_replacement._with_inflection(frame)["inflection"]
    assert (found[0] == found[1]) is same


@given(form=st.text("abc", min_size=1, max_size=30), lemma=st.text("abc", min_size=1, max_size=30))
def test_endings_begin_where_form_and_lemma_part(form, lemma):
    frame = pl.DataFrame({"small": [form], "lemma": [lemma], "feats": [None]}, schema_overrides={"feats": pl.String})
    ending, _, lemma_ending = word_replacement._with_inflection(frame)["inflection"].item().partition("/")
    stem = form[: len(form) - len(ending)]
    assert stem + lemma_ending == lemma
    assert len(stem) == word_replacement.STEM or ending[:1] != lemma_ending[:1] or not ending


@pytest.mark.parametrize("form", ["garden", "Garden", "知", "كتاب", "किताब", "می\u200cرود"])
def test_words_that_may_be_replaced(form):
    assert pl.Series([form]).str.contains(word_replacement.WORD).item()


@pytest.mark.parametrize("form", ["UN", "iPhone", "x", "90-е", "well-known", "aujourd’hui", "a.m", "two words", "3"])
def test_words_that_may_not(form):
    assert not pl.Series([form]).str.contains(word_replacement.WORD).item()


@needs_shared
def test_processes_give_the_rows_that_one_process_gives(corpus_of):
    corpus, settings = corpus_of("shared", "en"), Settings(frequency="corpus")
    task = tasks_named(["somo"])
    (alone,) = build_all(task, corpus, settings)
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as executor:
        (together,) = build_all(task, corpus, settings, executor)
    assert _rows(alone) == _rows(together)
    assert alone.drops == together.drops


@pytest.mark.parametrize("lang", SAMPLE_LANGUAGES)
def test_neighbours_of_a_word_are_those_of_its_sentence(lang):
    (corpus,) = read_corpora([sample_file(lang)]).values()
    for shard in corpus.shards():
        trees = Trees(shard)
        found = word_replacement._in_context(trees)
        last = trees.words.group_by("sent").agg(last=pl.col("index").max())
        ends = found.join(last, on="sent")
        assert ends.select(((pl.col("left") == "^") == (pl.col("index") == 1)).all()).item()
        assert ends.select(((pl.col("right") == "$") == (pl.col("index") == pl.col("last"))).all()).item()
