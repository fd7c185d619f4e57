"""Documents and unbroken stretches: by comment, by file, by sentence id, and what the numbers in the ids say."""

import json

import polars as pl
import pytest
from shared import SHARED

from discoprobe.loaders.catalogue import DocumentRule, Source
from discoprobe.loaders.conllu import explain_documents, follows, read_corpora, reader


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCOPROBE_CACHE", str(tmp_path / "cache"))


def sentence(*comments):
    return "".join(f"# {comment}\n" for comment in comments) + "1\ta\ta\tX\t_\t_\t0\troot\t_\t_\n\n"


def facts(kind, pattern=""):
    rule = DocumentRule(kind, pattern)
    return lambda *_: Source("UD_Test-X", "es", "CC0", "", "", "", documents=rule)


@pytest.fixture
def read(tmp_path):
    """Sentences with their documents, of files given as lists of the comments of each sentence."""

    def read_files(*files, rule=None):
        for number, sentences in enumerate(files):
            (tmp_path / f"f{number}.conllu").write_text("".join(sentence(*comments) for comments in sentences))
        corpora = read_corpora([tmp_path], lang="es", **({"facts": facts(*rule)} if rule else {}))
        (shard,) = corpora["es"].shards()
        return shard.sentences.join(shard.documents, on="doc", maintain_order="left").sort("sent")

    return read_files


def ids(*names):
    return [[f"sent_id = {name}"] for name in names]


def test_the_three_spellings_of_newdoc(read):
    frame = read([["newdoc id = a"], [], ["newdoc_id = b"], [], ["newdoc"], [], ["newdoc", "newdoc_id = c"], []])
    assert frame["doc_id"].to_list() == ["a", "a", "b", "b", "f0#1", "f0#1", "c", "c"]
    assert frame["index"].to_list() == [0, 1] * 4
    assert frame["run"].to_list() == [0, 0, 1, 1, 2, 2, 3, 3]


def test_sentences_before_the_first_newdoc_are_in_no_document(read):
    frame = read([[], [], ["newdoc id = a"], []])
    assert frame["doc_id"].to_list() == [None, None, "a", "a"]
    assert frame["run"].to_list() == [0, 1, 2, 2]


def test_newdoc_on_every_sentence_marks_nothing(read):
    every = [[f"newdoc id = {i}"] for i in range(4)]
    assert read(every)["doc_id"].null_count() == 4
    assert read(every, rule=("newdoc",))["doc_id"].to_list() == ["0", "1", "2", "3"]


def test_sentences_whose_ids_the_rule_does_not_know_are_in_no_document_and_close_theirs(read):
    names = ("n-1", "n-2", "w-7", "n-3", "n-4", "w-8", "w-9")
    sentences = [[f"sent_id = {name}"] for name in names]
    for at, document in ((0, "a"), (4, "b"), (5, "c")):
        sentences[at].append(f"newdoc id = {document}")
    frame = read(sentences, rule=("newdoc", "^n-"))
    assert frame["doc_id"].to_list() == ["a", "a", None, None, "b", None, None]
    assert read(sentences, rule=("newdoc",))["doc_id"].to_list() == ["a"] * 4 + ["b", "c", "c"]


def test_a_document_ends_with_its_file(read):
    frame = read([["newdoc id = a"], []], [[], []])
    assert frame["doc_id"].to_list() == ["a", "a", None, None]


def test_made_up_document_ids_differ_between_files(read):
    frame = read([["newdoc"], [], ["newdoc"], []], [["newdoc"], []])
    assert frame["doc_id"].to_list() == ["f0#1", "f0#1", "f0#2", "f0#2", "f1#1", "f1#1"]


def test_documents_by_file(read):
    frame = read([[], []], [[], []], rule=("file",))
    assert frame["doc_id"].to_list() == ["f0", "f0", "f1", "f1"]
    assert frame["run"].to_list() == [0, 0, 1, 1]


def test_no_documents_every_sentence_by_itself(read):
    frame = read([["newdoc id = a"], [], []], rule=("none",))
    assert frame["doc_id"].null_count() == 3
    assert frame["run"].to_list() == [0, 1, 2]


def test_documents_by_sentence_id(read):
    names = ("n01001011", "n01001013", "w01002001", "w01002002", "other", "n01001014")
    frame = read(ids(*names), rule=("sent_id", r"^([nw]\d{5})"))
    assert frame["doc_id"].to_list() == ["n01001", "n01001", "w01002", "w01002", None, "n01001"]
    assert frame["run"].to_list() == [0, 1, 2, 2, 3, 4]
    assert frame["index"].to_list() == [0, 1, 0, 1, 0, 2]
    assert frame["n_sentences"].to_list() == [3, 3, 2, 2, 1, 3]


STEMS = [f"mt-{d}:{n}" for d in range(3) for n in range(1, 5)]


def test_without_comments_documents_are_found_by_the_stems_of_sentence_ids(read):
    frame = read(ids(*STEMS), ids("test-1", "test-2", "test-3"))
    assert frame["doc_id"].to_list() == [stem for d in range(3) for stem in [f"mt-{d}"] * 4] + [None] * 3
    assert frame["index"].to_list()[:12] == [0, 1, 2, 3] * 3
    assert frame["run"].to_list() == [0] * 4 + [1] * 4 + [2] * 4 + [3, 4, 5]


@pytest.mark.parametrize("kind", ["none", "newdoc"])
def test_a_rule_of_the_treebank_comes_before_the_stems(read, kind):
    assert read(ids(*STEMS), rule=(kind,))["doc_id"].null_count() == 12


def test_comments_come_before_the_stems(read):
    sentences = ids(*STEMS)
    sentences[0].append("newdoc id = a")
    sentences[6].append("newdoc id = b")
    assert read(sentences)["doc_id"].to_list() == ["a"] * 6 + ["b"] * 6


def test_one_comment_at_the_beginning_of_a_file_says_less_than_the_stems(read):
    """As in UD_Italian-Valico, where it is the name of the file, and ids end with the language and year of learners."""
    sentences = ids(*(f"{d}-{n:02}_fr-{d}" for d in (1, 2, 3) for n in range(1, 5)))
    sentences[0].append("newdoc id = all.txt")
    frame = read(sentences)
    assert frame["doc_id"].to_list() == [str(d) for d in (1, 2, 3) for _ in range(4)]
    assert frame["run"].to_list() == [d for d in range(3) for _ in range(4)]
    one = ids("x-1", "x-2", "x-3")
    one[0].append("newdoc id = a")
    assert read(one, one)["doc_id"].to_list()[:3] == ["a"] * 3


def test_a_document_may_be_named_at_each_of_its_sentences(read):
    """As in UD_Old_French-PROFITEROLE, whose sentences are in the order of letters."""
    numbers = sorted(range(1, 34), key=str)
    frame = read([[f"newdoc id = {'abc'[n // 12]}", f"sent_id = {n}"] for n in numbers]).sort("doc", "index")
    assert frame["sent_id"].to_list() == [str(n) for n in range(1, 34)]
    assert frame["doc_id"].to_list() == ["a"] * 11 + ["b"] * 12 + ["c"] * 10
    assert frame["run"].to_list() == [0] * 11 + [1] * 12 + [2] * 10


def test_shuffled_sentences_are_ordered_by_their_ids_whatever_comments_say(read):
    """As in UD_Bororo-BDT: comments stayed with the sentences that they stood before."""
    names = [f"book{book}-{n}" for n in range(23) for book in range(4) if n < 20 + book]
    sentences = ids(*sorted(names, key=lambda name: int(name[-2:].strip("-")) * 7 % 19))
    for at in (0, 30, 55):
        sentences[at].append(f"newdoc id = d{at}")
    frame = read(sentences).sort("doc_id", "index")
    assert frame["sent_id"].to_list() == [f"book{book}-{n}" for book in range(4) for n in range(20 + book)]
    assert frame["doc_id"].to_list() == [f"book{book}" for book in range(4) for _ in range(20 + book)]


def test_ids_of_another_form_do_not_show_that_sentences_are_shuffled(read):
    """As in UD_Western_Armenian-ArmTDP: most ids end with a code, and what is before a number is the same by chance."""
    sentences = ids(*(f"news-{n * 31 % 200}" if n % 5 == 0 else f"news-{n:03}-{n:03}KX" for n in range(200)))
    for at in (0, 30):
        sentences[at].append(f"newdoc id = d{at}")
    assert read(sentences)["doc_id"].to_list() == ["d0"] * 30 + ["d30"] * 170


def test_what_is_not_believed_is_noted(tmp_path):
    every = [[f"newdoc id = talk{i}", f"sent_id = talk{i}.{i}"] for i in range(4)]
    (tmp_path / "f0.conllu").write_text("".join(sentence(*comments) for comments in every))
    (note,) = read_corpora([tmp_path], lang="es")["es"].notes
    assert "f0: no documents in 4 sentences: every sentence has a newdoc comment" in note


def test_another_source_ends_a_passage(read):
    sources = ["a", "a", "b", "b", "b"]
    frame = read([["newdoc id = d"] * (not n) + [f"source = {source}"] for n, source in enumerate(sources)])
    assert frame["run"].to_list() == [0, 0, 1, 1, 1]
    frame = read([["newdoc id = d"] * (not n) + [f"source = page {n}"] for n in range(5)])
    assert frame["run"].to_list() == [0] * 5


def test_genres_of_sentences_outside_documents(read):
    frame = read([["genre = news"], ["genre = wiki"], [], ["genre = news"]])
    assert frame["doc_id"].null_count() == 4
    assert frame["genre"].to_list() == ["news", "wiki", None, "news"]


def test_a_readme_beside_the_files_names_the_genres(tmp_path):
    (tmp_path / "f0.conllu").write_text(sentence("sent_id = 1"))
    assert read_corpora([tmp_path], lang="es")["es"].sources[0].genre == ()
    (tmp_path / "README.md").write_text("# X\n\nLicense: CC0\nGenre: spoken grammar-examples\nLemmas: no\n")
    assert read_corpora([tmp_path], lang="es")["es"].sources[0].genre == ("spoken", "grammar-examples")


@pytest.mark.parametrize(("documents", "expected"), [("none", {None}), ("file", {"f0"}), ("newdoc", {None})])
def test_a_user_can_say_how_documents_are_told_apart(tmp_path, documents, expected):
    (tmp_path / "f0.conllu").write_text("".join(sentence(*comments) for comments in ids(*STEMS)))
    (shard,) = read_corpora([tmp_path], lang="es", documents=documents)["es"].shards()
    assert set(shard.documents["doc_id"]) == expected


def test_sentences_are_read_in_the_order_of_their_numbers(read):
    names = [f"doc{d}:{n}" for d in range(3) for n in range(1, 11 + d)]
    frame = read(ids(*sorted(names)))
    ordered = frame.sort("doc", "index")
    assert ordered["sent_id"].to_list() == names
    assert ordered["run"].to_list() == [d for d in range(3) for _ in range(10 + d)]
    assert frame["sent"].to_list() == [*range(33)]


@pytest.mark.parametrize("comment", ["gap", "annotation_gap", "gap = 3 sentences"])
def test_a_comment_on_a_gap_ends_a_passage(read, comment):
    frame = read([["newdoc id = a"], [], [comment], []])
    assert frame["run"].to_list() == [0, 0, 1, 1]
    assert frame["doc_id"].to_list() == ["a"] * 4


@pytest.mark.parametrize("comment", ["reference = x{}-s{}", "orig_file_sentence x{}#{}"])
def test_documents_by_other_comments(read, comment):
    """As in UD_Latin-LLCT and UD_Slovak-SNK; ``orig_file_sentence`` has no equals sign there."""
    places = [(d, n) for d in range(3) for n in (1, 2, 4)]
    frame = read([[f"sent_id = test-s{at}", comment.format(*place)] for at, place in enumerate(places)])
    assert frame["doc_id"].to_list() == [f"x{d}" for d, _ in places]
    assert frame["run"].to_list() == [0, 0, 1, 2, 2, 3, 4, 4, 5]


def test_a_gap_in_the_numbers_ends_a_passage_and_not_the_documents(read):
    frame = read(ids(*(f"d{d}-{n}" for d in range(3) for n in (1, 5, 6, 9, 12, 15))))
    assert frame["doc_id"].null_count() == 0
    assert frame["run"].to_list()[:6] == [0, 1, 1, 2, 3, 4]


def test_in_a_sample_a_paragraph_ends_a_passage(read):
    """Where sentences of paragraphs are missing, the last one of a paragraph may be, too."""
    complete, sample = (
        read(ids(*(f"d{d}-p{p}s{s}" for d in range(3) for p in (1, 2) for s in numbers)))["run"].to_list()[:8]
        for numbers in ((1, 2, 3, 4), (1, 2, 5, 9))
    )
    assert complete == [0] * 8
    assert sample == [0, 0, 1, 2, 3, 3, 4, 5]


def test_a_large_file_is_cut_between_documents_found_by_stems(tmp_path, monkeypatch):
    names = [f"mt-{d}:{n}" for d in range(40) for n in range(1, 6)]
    (tmp_path / "f0.conllu").write_text("".join(sentence(*comments) for comments in ids(*names)))
    monkeypatch.setattr(reader, "LARGE", 1500)
    monkeypatch.setattr(reader, "SMALL", 0)
    parts = list(read_corpora([tmp_path], lang="es")["es"].shards())
    assert len(parts) > 3
    assert [name for part in parts for name in part.documents["doc_id"]] == [f"mt-{d}" for d in range(40)]
    assert all(set(part.documents["n_sentences"]) == {5} for part in parts)


def test_the_evidence_is_shown_per_file(tmp_path):
    def shown(sentences, rule=None):
        (tmp_path / "x.conllu").write_text("".join(sentence(*comments) for comments in sentences))
        return explain_documents(tmp_path / "x.conllu", rule or DocumentRule())

    assert shown(ids(*STEMS)).startswith("3 by sent_id (12 of 12 sentences): each in one passage")
    assert shown(ids("test-1", "test-2")) == "none: the sentence ids name splits (test)"
    assert shown([["newdoc", "sent_id = a"], ["sent_id = b"]]) == "1 by newdoc"
    assert shown([["newdoc", "sent_id = a"], ["newdoc", "sent_id = b"]]) == (
        "none: every sentence has a newdoc comment, and 0 of 2 sentence ids are a stem and a number"
    )
    assert shown(ids(*STEMS), DocumentRule("none")) == "none (catalogue)"


@pytest.mark.parametrize(
    ("names", "runs"),
    [
        (["a-1", "a-2", "a-3", "a-5", "a-6", "a-7"], [0, 0, 0, 1, 1, 1]),
        (["p1.s1", "p1.s2", "p2.s1", "p3.s1", "p3.s2", "p5.s1"], [0, 0, 0, 0, 0, 1]),
        (["s14", "s15A", "s15B", "s16", "s16_1", "s17"], [0] * 6),
        (["x:1:0", "x:2:49", "x:3:100", "x:5:150", "x:6:170", "x:7:200"], [0, 0, 0, 1, 1, 1]),
        (["s1", "s14", "s25", "s31", "s32", "s77"], [0, 1, 2, 3, 3, 4]),
        (["c81", "a03", "f55", "b17", "a99", "d02"], [0] * 6),
        (["ssj1.10", "ssj1.11", "ssj2.12", "ssj2.13", "elex1.7", "elex1.8"], [0, 0, 0, 0, 1, 1]),
        (["one", "two", "three", "four", "five", "six"], [0] * 6),
    ],
    ids=["gap", "restarting", "split sentences", "number and offset", "sample", "no numbering", "other text", "names"],
)
def test_a_gap_in_the_numbers_begins_a_run(read, names, runs):
    sentences = ids(*names)
    sentences[0].append("newdoc id = d")
    assert read(sentences, rule=("newdoc",))["run"].to_list() == runs


@pytest.mark.parametrize(("before", "after"), [("a-9", "a-10"), ("a-009", "a-010"), ("p9.s4", "p10.s1"), ("7", "8")])
def test_ids_that_follow(before, after):
    assert follows(before, after)
    assert not follows(after, before)


@pytest.mark.parametrize(
    ("before", "after"), [("a-1", "b-2"), ("a-1", "a-3"), ("a", "b"), ("p1.s1", "p3.s1"), ("1", "1")]
)
def test_ids_that_do_not_follow(before, after):
    assert not follows(before, after)


def test_a_document_that_begins_with_a_bad_sentence_begins_all_the_same(tmp_path):
    bad = "# newdoc id = b\n# sent_id = {}\n1\ta\n\n"
    text = sentence("newdoc id = a") + sentence() + bad.format("x") + bad.format("y")[16:] + sentence() + sentence()
    (tmp_path / "es_x-ud-dev.conllu").write_text(text)
    corpus = read_corpora([tmp_path], on_error="skip")["es"]
    (shard,) = corpus.shards()
    frame = shard.sentences.join(shard.documents, on="doc", maintain_order="left")
    assert corpus.drops == {"columns": 2}
    assert frame["doc_id"].to_list() == ["a", "a", "b", "b"]
    assert frame["run"].to_list() == [0, 0, 1, 1]


def test_genre_is_the_one_the_document_has(read):
    frame = read(
        [
            ["newdoc id = a", "meta::genre = news"],
            [],
            ["newdoc id = b", "genre = wiki"],
            ["genre = wiki"],
            ["newdoc id = c", "genre = x"],
            ["genre = y"],
        ],
    )
    assert frame["genre"].to_list() == ["news", "news", "wiki", "wiki", None, None]


def test_keys_of_documents_are_those_of_their_ids_and_texts(read):
    """In whatever treebank and beside whatever other documents."""
    first = read([["newdoc id = a"], []])["key_right"].to_list()
    again = read([["newdoc id = a"], [], ["newdoc id = b"], []])["key_right"].to_list()
    assert first == again[:2]
    assert again[2] not in first
    assert read([["newdoc id = a"], []], rule=("newdoc",))["key_right"].to_list() == first
    assert read([["newdoc id = a"], [], []])["key_right"][0] not in first


def test_an_id_that_is_made_of_the_name_of_a_file_is_not_in_keys(read):
    frame = read([["newdoc"], [], ["newdoc"], [], []])
    assert frame["doc_id"].to_list()[0] == "f0#1"
    by_file = read([[], []], rule=("file", ""))
    assert by_file["key_right"].to_list() == frame["key_right"].to_list()[:2]
    assert by_file["key"].to_list() == frame["key"].to_list()[:2]


# The corpora at hand, against what their manifest counts

CORPORA = SHARED / "corpora"

COUNTED = {
    # Where the manifest and the reader differ, and why; (documents, with six sentences, with six in a row).
    "bg_btb-ud-test": (40, 38, 0),  # the manifest counts marks; documents resume, and their sentences are a sample
    "nl_lassysmall-ud-dev": (18, 18, 18),  # the manifest counts stretches of the file, which is sorted as strings
    "bar_maibaam-ud-test": (29, 25, 25),  # the catalogue's rule leaves out tatoeba, xSID and others that are no texts
    "fr_parisstories-ud-dev": (
        16,
        16,
        16,
    ),  # the catalogue's rule knows "18bis", which the manifest takes for a document
    "fr_parisstories-ud-test": (16, 16, 16),
    # The catalogue's rule leaves out pages of newspapers, samples of single sentences and what many hands posted.
    "am_att-ud-test": (0, 0, 0),
    "cs_cac-ud-dev": (2, 2, 2),
    "fi_tdt-ud-test": (68, 56, 56),
    "kk_ktb-ud-test": (11, 8, 8),
    "ml_ufal-ud-test": (0, 0, 0),
    "ro_rrt-ud-test": (0, 0, 0),
    "ru_taiga-ud-dev": (7, 7, 7),
    "ru_taiga-ud-test": (6, 6, 6),
    "sl_ssj-ud-dev": (309, 49, 49),  # paragraphs
}


def manifest():
    path = CORPORA / "manifest.json"
    if not path.exists():
        return []
    files = json.loads(path.read_text())["files"]
    return [f for f in files if f["path"].endswith(".conllu") and "sentences" in f]


@pytest.mark.skipif(not CORPORA.exists(), reason="no ../shared with corpora beside the repository")
def test_documents_of_the_corpora_at_hand(subtests):
    assert manifest()
    for counted in manifest():
        path = CORPORA / counted["path"]
        with subtests.test(path.name):
            (corpus,) = read_corpora([path], lang=counted["lang"], on_error="skip").values()
            assert (corpus.n_sentences, corpus.n_words) == (counted["sentences"], counted["tokens"])
            expected = COUNTED.get(path.name.removesuffix(".conllu")) or tuple(
                counted.get(name) for name in ("documents", "docs_ge6", "docs_ge6_unbroken")
            )
            found = documents(corpus)
            assert all(wanted in {None, got} for wanted, got in zip(expected, found, strict=True)), (expected, found)


def documents(corpus):
    """Number of documents, of those with at least six sentences, and of those with six in a row."""
    frame = pl.concat(
        part.sentences.join(part.documents, on="doc").filter(pl.col("doc_id").is_not_null()).select("doc", "run")
        for part in corpus.shards()
    )
    long = frame.group_by("doc").len().filter(pl.col("len") >= 6).height
    unbroken = frame.group_by("doc", "run").len().filter(pl.col("len") >= 6)["doc"].n_unique()
    return frame["doc"].n_unique(), long, unbroken
