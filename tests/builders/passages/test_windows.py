"""Unbroken passages and disjoint windows."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from discoprobe.builders import Settings, genres
from discoprobe.builders.passages import (
    LONG,
    cut,
    ends,
    ends_note,
    passage_keys,
    random_sizes,
    sentences,
    with_passages,
    without_introductions,
)
from discoprobe.builders.sentences import Trees, candidates
from discoprobe.loaders import Source, hashing, near_clusters
from discoprobe.sources import load_corpus

LENGTHS = st.lists(st.integers(0, 30), min_size=1, max_size=20)


def frame_of(lengths, seed=0):
    """Sentences of passages of these lengths, with an unusable sentence between them."""
    passage = [n for n, length in enumerate(lengths) for _ in range(length)]
    place = [f"{n}-{i}" for n, length in enumerate(lengths) for i in range(length)]
    keys = np.array([hashing.digest(seed, name) for name in place], dtype=np.uint64)
    return pl.DataFrame({"passage": pl.Series(passage, dtype=pl.UInt32), "key": keys}).with_row_index("row")


@settings(deadline=None)
@given(LENGTHS, st.integers(1, 8), st.integers(0, 4))
def test_windows_are_disjoint_and_close_over_no_gap(lengths, size, reserve):
    frame = frame_of(lengths)
    windows = cut(frame, size, 13, "task", reserve=reserve)
    used = [row for first in windows["first"] for row in range(first, first + size)]
    assert len(used) == len(set(used))
    passage = frame["passage"].to_list()
    for first in windows["first"]:
        assert len(set(passage[first : first + size])) == 1
    assert windows["window"].n_unique() == windows.height


@settings(deadline=None)
@given(LENGTHS, st.integers(1, 8))
def test_every_stretch_gives_as_many_windows_as_fit(lengths, size):
    windows = cut(frame_of(lengths), size, 13, "task")
    assert windows.height == sum(length // size for length in lengths)


@settings(deadline=None)
@given(LENGTHS, st.integers(1, 6), st.integers(1, 4))
def test_a_reserve_is_kept_where_there_is_room(lengths, size, reserve):
    windows = cut(frame_of(lengths), size, 13, "task", reserve=reserve)
    pitch = [size + min(reserve, max(length - size, 0)) for length in lengths]
    assert windows.height == sum(length // step for length, step in zip(lengths, pitch, strict=True))


@settings(deadline=None)
@given(st.lists(st.integers(1, 30), min_size=2, max_size=10), st.integers(2, 6), st.data())
def test_windows_of_a_stretch_do_not_depend_on_the_others(lengths, size, data):
    left_out = data.draw(st.integers(0, len(lengths) - 1))
    frame = frame_of(lengths)
    others = frame.filter(pl.col("passage") != left_out).drop("row").with_row_index("row")
    windows, fewer = (set(cut(part, size, 13, "task")["window"]) for part in (frame, others))
    assert fewer <= windows
    assert len(windows - fewer) == lengths[left_out] // size


def test_sizes_by_hash_leave_a_reserve_where_there_is_room():
    frame = frame_of([3, 4, *[7] * 40, *[20] * 40])
    sizes = random_sizes(frame, 3, 6, 13, "task", reserve=2)
    assert sizes[:2].tolist() == [3, 3]
    assert set(sizes[2:42]) == {3, 4, 5}
    assert set(sizes[42:]) == {3, 4, 5, 6}
    assert set(random_sizes(frame, 3, 6, 13, "task")[2:42]) == {3, 4, 5, 6}


def test_sizes_may_differ_from_stretch_to_stretch():
    windows = cut(frame_of([10, 10, 3]), np.array([2, 5, 4]), 13, "task")
    assert windows["size"].to_list() == [2] * 5 + [5] * 2


def test_windows_begin_anywhere():
    """What is left over stands before, between and after windows, each about as often."""
    windows = cut(frame_of([7] * 3000), 5, 13, "task")
    starts = np.bincount(windows["first"].to_numpy() % 7, minlength=3) / 3000
    assert np.abs(starts - [0.25, 0.5, 0.25]).max() < 0.04


def test_another_task_cuts_otherwise():
    frame = frame_of([11] * 50)
    assert cut(frame, 4, 13, "dc")["first"].to_list() != cut(frame, 4, 13, "nsp")["first"].to_list()


def shard_of(tmp_path, texts, breaks=()):
    """A shard of documents of sentences, in words such as ``Ana`` or ``Ana/PROPN``; at ``breaks`` the number jumps."""
    lines = []
    for d, document in enumerate(texts):
        lines.append(f"# newdoc id = d{d}")
        number = 0
        for i, text in enumerate(document):
            number += 5 if (d, i) in breaks else 1
            words = [word.partition("/")[::2] for word in text.split()]
            lines += [f"# sent_id = d{d}-s{number}", f"# text = {' '.join(form for form, _ in words)}"]
            lines += [f"{n}\t{form}\t_\t{upos or '_'}" + "\t_" * 6 for n, (form, upos) in enumerate(words, 1)]
            lines.append("")
    path = tmp_path / "es_x-ud-test.conllu"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return next(load_corpus(str(path)).shards())


def stretches_of(shard):
    found = sentences(shard, Settings()).with_columns(shard=pl.lit(0, pl.UInt32))
    clusters = shard.sentences.select("sent", cluster=near_clusters(shard.sentences["text"]))
    return with_passages(found.join(clusters, on="sent", how="left", maintain_order="left"), Settings())


def runs(frame):
    """Lengths of the passages of each document."""
    found = frame.filter(pl.col("passage").is_not_null()).group_by("doc_id", "passage", maintain_order=True).len()
    return {name: part["len"].to_list() for (name,), part in found.group_by("doc_id", maintain_order=True)}


def distinct_texts(d, n):
    return [f"uno{d}x{i} dos{d}x{i} tres{d}x{i} cuatro{d}x{i}" for i in range(n)]


def test_an_unusable_sentence_breaks_a_stretch(tmp_path):
    texts = [distinct_texts(0, 6), distinct_texts(1, 5)]
    texts[0][2] = "Corto ."
    texts[1][4] = "con <br> etiqueta aquí"
    frame = stretches_of(shard_of(tmp_path, texts))
    assert runs(frame) == {"d0": [2, 3], "d1": [4]}
    assert set(frame["reason"].drop_nulls()) == {"too-short", "tag"}


def test_headings_and_captions_break_a_stretch(tmp_path):
    texts = [[f"{text} ." for text in distinct_texts(d, 9)] for d in range(2)]
    texts[0][2] = "TRES COSAS QUE VER"
    texts[0][5] = "Image: una casa de alguien ."
    texts[1][3] = "Las obras del puente"
    frame = stretches_of(shard_of(tmp_path, texts))
    assert runs(frame) == {"d0": [2, 2, 3], "d1": [3, 5]}
    assert sorted(frame["reason"].drop_nulls()) == ["caption", "heading", "heading"]
    assert ends(frame) == {"heading": 2, "caption": 1}
    assert ends_note(ends(frame)) == (
        "Sentences that are in no passage, and at which a passage ends, by reason: heading 2, caption 1",
    )
    assert ends_note(ends(frame.filter(pl.col("reason").is_null()))) == ()


def test_what_the_corpus_marks_as_no_running_text_is_in_no_passage(tmp_path):
    texts = [[f"{text} ." for text in distinct_texts(d, 9)] for d in range(2)]
    shard = shard_of(tmp_path, texts)
    place = pl.concat_str("doc", pl.lit("-"), "index")
    marked = {"0-2": "caption", "0-6": "list-item", "1-4": "note", "1-5": "table"}
    elements = shard.sentences.with_columns(element=place.replace_strict(marked, default=None))
    frame = stretches_of(replace(shard, sentences=elements))
    assert runs(frame) == {"d0": [2, 3, 2], "d1": [4, 3]}
    assert ends(frame) == {"caption": 1, "list-item": 1, "note": 1, "table": 1}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Roberto/PROPN Moreno/PROPN 52/NUM 4/NUM ./PUNCT", "names-and-numbers"),
        ("Oriol/PROPN Serviá/PROPN (/PUNCT Toyota/PROPN )/PUNCT a/ADP 10.465/NUM 4/NUM ./PUNCT", "names-and-numbers"),
        ("lunes/PROPN ,/PUNCT 18/NUM de/ADP mayo/PROPN de/ADP 2015/NUM y/CCONJ nada/PRON más/ADV ./PUNCT", None),
        ("Ana/PROPN corrió/VERB 52/NUM 4/NUM 10/NUM ./PUNCT", None),
        ("Doctor/PROPN Ana/PROPN María/PROPN Moreno/PROPN López/PROPN ./PUNCT", None),
        ("Roberto Moreno 52 4 8 .", None),
    ],
)
def test_names_and_numbers_without_a_verb_are_no_running_text(tmp_path, text, reason):
    shard = shard_of(tmp_path, [[f"{text} ." for text in distinct_texts(0, 9)] + [text]])
    assert stretches_of(shard)["reason"].to_list() == [None] * 9 + [reason]
    if text.count("/") > 6:  # in probing tasks the others are too short
        assert candidates.sentences(Trees(shard), Settings())["reason"].to_list()[-1] == reason


def test_names_and_numbers_may_be_what_is_said_of_a_subject(tmp_path):
    text = "Midori/PROPN Akiyama/PROPN 60/NUM 61/NUM yaşlarında/NOUN ./PUNCT"
    shard = shard_of(tmp_path, [[f"{text} ." for text in distinct_texts(0, 9)] + [text]])
    subject = pl.when(pl.col("form") == "Midori").then(pl.lit("nsubj"))
    clause = replace(shard, tokens=shard.tokens.with_columns(deprel=subject))
    assert [each["reason"].to_list()[-1] for each in map(stretches_of, (shard, clause))] == ["names-and-numbers", None]


def test_a_sentence_that_introduces_what_is_missing_is_in_no_passage(tmp_path):
    texts = [[f"{text} ." for text in distinct_texts(d, 8)] for d in range(3)]
    texts[0][2] = "Las tres ciudades son las siguientes:"
    texts[0][3] = "Cuenca ."
    texts[1][3] = "Entonces la vecina le dijo:"
    texts[2][7] = "Estas fueron sus últimas palabras :"
    frame = stretches_of(shard_of(tmp_path, texts))
    assert runs(frame) == {"d0": [2, 4], "d1": [8], "d2": [7]}
    assert ends(frame) == {"introduction": 2, "too-short": 1}
    told = frame.filter(pl.col("doc_id") == "d1", pl.col("introduces") | pl.col("introduced"))
    assert told["index"].to_list() == [3, 4]
    assert runs(without_introductions(frame)) == {"d0": [2, 4], "d1": [3, 4], "d2": [7]}


def test_lines_without_a_mark_are_no_headings_where_few_have_one_or_they_are_long(tmp_path):
    poem = distinct_texts(0, 6)
    prose = [f"{text} ." for text in distinct_texts(1, 6)]
    prose[2] = "una línea de muchas palabras, más que un titular, que no tiene punto al final"
    prose[4] = "¿ Y qué dijo ella ?"
    assert runs(stretches_of(shard_of(tmp_path, [poem, prose]))) == {"d0": [6], "d1": [6]}


def test_in_a_document_of_many_headings_the_treebank_tells_what_they_are(tmp_path):
    texts = [[f"{text} ." for text in distinct_texts(d, 6)] for d in range(4)]
    texts[0][0] = "Camión vuelca y causa atasco y dos muertos en la carretera"
    texts[0][3] = "El agua y los hoteles"
    found = stretches_of(shard_of(tmp_path, texts))
    assert runs(found)["d0"] == [2, 2]
    assert found["reason"].drop_nulls().to_list() == ["heading", "heading"]


def test_a_hole_in_the_source_breaks_a_stretch(tmp_path):
    frame = stretches_of(shard_of(tmp_path, [distinct_texts(0, 8)], breaks={(0, 3)}))
    assert runs(frame) == {"d0": [3, 5]}


def test_sentences_that_are_alike_in_two_splits_are_used_in_none(tmp_path):
    texts = [[*distinct_texts(d, 3), "la misma frase de siempre en todas partes" + "." * (d % 2)] for d in range(12)]
    frame = stretches_of(shard_of(tmp_path, texts))
    same = frame.filter(pl.col("index") == 3)
    assert same["split"].n_unique() == 3, "the documents are in several splits"
    assert same["reason"].to_list() == ["in-two-splits"] * 12
    assert same["passage"].null_count() == 12


def test_short_sentences_may_recur(tmp_path):
    assert LONG == 6
    texts = [[*distinct_texts(d, 3), "Muchas gracias a todos ."] for d in range(12)]
    assert stretches_of(shard_of(tmp_path, texts))["reason"].null_count() == 48


def test_stretch_keys(tmp_path):
    frame = stretches_of(shard_of(tmp_path, [distinct_texts(0, 4), distinct_texts(1, 2)]))
    keys = passage_keys(frame)
    assert sorted(keys["length"].to_list()) == [2, 4]
    assert [frame["key"][first] for first in keys["first"]] == keys["key"].to_list()


@pytest.mark.parametrize("most", [1, 8])
def test_nothing_is_cut_from_nothing(most):
    assert cut(frame_of([]), most, 13, "x").height == 0


def test_documents_of_genres_that_are_not_taken_are_in_no_passage(tmp_path):
    shard = shard_of(tmp_path, [distinct_texts(0, 6)])
    found = sentences(shard, Settings()).with_columns(shard=pl.lit(0, pl.UInt32), cluster=pl.int_range(pl.len()))
    (name,) = found["corpus"].unique()
    speech = [Source(name, "es", genre=("spoken",))]
    for taken, expected in (("prose", {"genre"}), ("all", {None})):
        unsuited = genres.unsuited(speech, Settings(genres=taken), "passages")
        frame = with_passages(found, Settings(genres=taken), unsuited=unsuited)
        assert set(frame["reason"]) == expected
    assert frame["passage"].null_count() == 0


def reasons_of(tmp_path, texts, **more):
    found = sentences(shard_of(tmp_path, texts), Settings())
    found = found.with_columns(shard=pl.lit(0, pl.UInt32), cluster=pl.int_range(pl.len()))
    return with_passages(found, Settings(), **more)


def linked_texts(n_documents, n):
    """Texts in which every sentence has a word of the one before it."""
    return [[f"t{d}n{i} v{i} o{d}x{i} t{d}n{i + 1}" for i in range(n)] for d in range(n_documents)]


def test_a_list_of_examples_is_no_document(tmp_path):
    """As in UD_Breton-KEB: one sentence in several word orders, then the next one."""
    sets = [[f"w{n}{i}" for i in range(6)] for n in range(8)]
    examples = [" ".join([*words[k:], *words[:k]]) for words in sets for k in range(4)]
    frame = reasons_of(tmp_path, [examples, *linked_texts(20, 30)])
    assert set(frame.filter(pl.col("doc_id") == "d0")["reason"]) == {"near-copies"}
    assert frame["reason"].null_count() == 600
    beside = reasons_of(tmp_path, [examples, *linked_texts(1, 30)])
    assert set(beside.filter(pl.col("doc_id") == "d0")["reason"]) == {"near-copies"}
    assert beside["reason"].null_count() == 30, "a text beside it is judged by itself"


def test_a_text_without_spaces_between_words_is_no_list_of_examples(tmp_path):
    """As in UD_Thai-PUD: any two sentences have most of the 44 consonants in common, but few pairs of them."""
    letters = [chr(code) for code in range(ord("ก"), ord("ฮ") + 1)]

    def phrase(*key):
        return "".join(letters[hashing.digest(*key, n) % len(letters)] for n in range(12))

    texts = [[f"{phrase(1, d, i)} {' '.join(phrase(2, d, i, n) for n in range(4))} {phrase(1, d, i + 1)}"
              for i in range(30)] for d in range(4)]  # fmt: skip
    assert reasons_of(tmp_path, texts)["reason"].null_count() == 120
    copied = [f"{text[: n * 7]} {text[n * 7 :]}" for text in texts[0][:8] for n in (1, 2, 3, 4)]
    frame = reasons_of(tmp_path, [copied, *texts[1:]])
    assert set(frame.filter(pl.col("doc_id") == "d0")["reason"]) == {"near-copies"}


def test_shuffled_sentences_are_no_document(tmp_path):
    """Sentences of a text share words with their neighbours; the same sentences in another order do not."""
    texts = linked_texts(20, 30)
    assert reasons_of(tmp_path, texts)["reason"].null_count() == 600
    rows = [sentence for text in texts for sentence in text]
    order = np.argsort([hashing.digest(1, sentence) for sentence in rows])
    shuffled = [[rows[i] for i in order[d * 30 : d * 30 + 30]] for d in range(20)]
    assert set(reasons_of(tmp_path, shuffled)["reason"]) == {"unrelated"}
    assert reasons_of(tmp_path, shuffled[:10])["reason"].null_count() == 300


def test_a_document_is_judged_by_itself(tmp_path):
    """As in UD_Yiddish-YiTB: sentences that were collected are the larger part of a treebank that has texts, too."""
    texts = linked_texts(4, 30)
    collected = [f"alpha{n} betta{n} gamma{n} delta{n}" for n in range(400)]
    frame = reasons_of(tmp_path, [collected, *texts])
    assert frame.filter(pl.col("doc_id") == "d0")["reason"].to_list() == ["unrelated"] * 400
    assert frame.filter(pl.col("doc_id") != "d0")["reason"].null_count() == 120


def test_where_some_texts_are_examples_a_document_shows_that_it_is_a_text(tmp_path):
    """As in UD_Javanese-CSUI: the examples of a grammar are too few to be surely none."""
    texts = linked_texts(2, 30)
    examples = [f"alpha{n} betta{n} gamma{n} delta{n}" for n in range(40)]
    for may_be, expected in ((True, {"unrelated"}), (False, {None})):
        frame = reasons_of(tmp_path, [examples, *texts], examples=pl.lit(may_be))
        assert set(frame.filter(pl.col("doc_id") == "d0")["reason"]) == expected
        assert frame.filter(pl.col("doc_id") != "d0")["reason"].null_count() == 60


def test_a_semicolon_is_the_question_mark_of_greek(tmp_path):
    texts = [["Πού πήγες χθες ;", "Dónde estuviste ayer ;", *distinct_texts(0, 3)], distinct_texts(1, 3)]
    frame = reasons_of(tmp_path, texts)
    assert frame.drop_nulls("reason").select("index", "reason").rows() == [(1, "list-item")]


CLAUSE = [("Gente{}", "NOUN", 2, "nsubj"), ("canta{}", "VERB", 0, "root"), ("siempre{}", "ADV", 2, "advmod")]
NOUN = [("Defensa{}", "NOUN", 0, "root"), ("de", "ADP", 3, "case"), ("aguas{}", "NOUN", 1, "nmod")]


def reasons_of_trees(tmp_path, kinds, ends, small=()):
    """Why sentences of a document are in no passage, by index; each is of some words with their trees, and a mark."""
    lines = ["# newdoc id = d"]
    for n, (words, end) in enumerate(zip(kinds, ends, strict=True)):
        forms = [form.format(n) for form, *_ in words]
        forms = [form.lower() for form in forms] if n in small else forms
        lines += [f"# sent_id = s{n}", f"# text = {' '.join(forms)}{end}"]
        lines += [
            f"{i}\t{form}\t_\t{w[1]}\t_\t{'|'.join(w[4:]) or '_'}\t{w[2]}\t{w[3]}\t_\t_"
            for i, (form, w) in enumerate(zip(forms, words, strict=True), 1)
        ]
        lines += [f"{len(words) + 1}\t{end}\t_\tPUNCT\t_\t_\t1\tpunct\t_\t_", ""]
    (tmp_path / "es_x-ud-test.conllu").write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = sentences(next(load_corpus(str(tmp_path / "es_x-ud-test.conllu")).shards()), Settings())
    frame = with_passages(found.with_columns(shard=pl.lit(0, pl.UInt32), cluster=pl.int_range(pl.len())), Settings())
    return dict(frame.drop_nulls("reason").select("index", "reason").iter_rows())


def test_pieces_of_sentences_and_lists_are_in_no_passage(tmp_path):
    """Without the tree of a clause, two sentences in a row are items, a short one is a note; an answer is prose."""
    kinds = [NOUN, CLAUSE, NOUN, CLAUSE, NOUN, NOUN, CLAUSE, NOUN, NOUN, CLAUSE, CLAUSE, CLAUSE, CLAUSE]
    ends = [".", ".", ".", ".", ".", ".", ".", "?", "!", ";", ".", ".", "."]
    reasons = reasons_of_trees(tmp_path, kinds, ends, small={11})
    assert reasons == {0: "heading", 2: "heading", 4: "list-item", 5: "list-item", 9: "list-item", 11: "fragment"}


LONG_CLAUSE = [*CLAUSE, *[(f"cosa{i}x{{}}", "NOUN", 2, "obl") for i in range(11)]]
LONG_NOUN = [*NOUN, *[(f"cosa{i}x{{}}", "NOUN", 1, "nmod") for i in range(11)]]


@pytest.mark.parametrize(
    ("kinds", "headlines"),
    [
        ([CLAUSE, LONG_CLAUSE, CLAUSE, CLAUSE, NOUN], [0, 4]),
        ([CLAUSE, CLAUSE, CLAUSE, LONG_CLAUSE, CLAUSE, NOUN], [0, 1, 2, 5]),
        ([CLAUSE, CLAUSE, CLAUSE, CLAUSE, LONG_CLAUSE, NOUN], [5]),
        ([LONG_CLAUSE, CLAUSE, LONG_CLAUSE, CLAUSE, NOUN], [4]),
        ([CLAUSE, CLAUSE, CLAUSE, NOUN], [3]),
        ([LONG_CLAUSE, LONG_NOUN, CLAUSE, CLAUSE], []),
        ([CLAUSE, LONG_CLAUSE, CLAUSE, CLAUSE], []),
    ],
    ids=["a headline", "three", "four are prose", "none", "no lead", "a long one is prose", "no verb shows verbs"],
)
def test_headlines_with_a_verb_are_in_no_passage(tmp_path, kinds, headlines):
    assert reasons_of_trees(tmp_path, kinds, ["."] * len(kinds)) == dict.fromkeys(headlines, "heading")


TOLD = [("Gente{}", "NOUN", 2, "nsubj"), ("cantó{}", "VERB", 0, "root", "Mood=Ind", "Tense=Past"), CLAUSE[2]]
LONG_TOLD = [*TOLD, *[(f"cosa{i}x{{}}", "NOUN", 2, "obl") for i in range(5)]]
SUBHEAD = [("Bakero{}", "PROPN", 2, "nsubj"), ("deja{}", "VERB", 0, "root", "Mood=Ind", "Tense=Pres"), CLAUSE[2]]
IT_LEAVES = [("Él{}", "PRON", 2, "nsubj"), *SUBHEAD[1:]]


@pytest.mark.parametrize(
    ("second", "third", "expected"),
    [
        (SUBHEAD, LONG_TOLD, {1: "heading"}),
        (TOLD, LONG_TOLD, {}),
        (IT_LEAVES, LONG_TOLD, {}),
        (SUBHEAD, TOLD, {}),
        (SUBHEAD, [*SUBHEAD, *LONG_TOLD[2:]], {}),
    ],
    ids=["a subhead", "in the past", "a pronoun", "before a short sentence", "before one in the present"],
)
def test_a_subhead_is_in_no_passage(tmp_path, second, third, expected):
    """News tell in the past, and what stands over a column says it in the present."""
    kinds = [LONG_TOLD, second, third, LONG_TOLD, LONG_TOLD]
    assert reasons_of_trees(tmp_path, kinds, ["."] * len(kinds)) == expected
