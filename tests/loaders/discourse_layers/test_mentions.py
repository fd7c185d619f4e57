"""Coreference of CorefUD: what is written is read again, and what is malformed is named with its place."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared import SHARED

from discoprobe.builders import SomeDocuments
from discoprobe.loaders import CorpusFormatError, joined
from discoprobe.loaders.conllu import read_corpora
from discoprobe.loaders.discourse_layers import read_mentions

HEAD = "# newdoc id = d\n# global.Entity = eid-etype-head-other\n"


def sentence(brackets, number=1, heads=None):
    """A sentence with these brackets on its words."""
    rows = [
        f"{n}\tw{n}\tw{n}\tNOUN\t_\t_\t{(heads or [0, *[1] * len(brackets)])[n - 1]}\tdep\t_\t"
        + (f"Entity={bracket}" if bracket else "_")
        for n, bracket in enumerate(brackets, 1)
    ]
    return f"# sent_id = s{number}\n" + "\n".join(rows) + "\n\n"


def mentions_of(*sentences, head=HEAD):
    text = head + "".join(sentence(brackets, n) for n, brackets in enumerate(sentences, 1))
    return read_mentions(text.encode())


def test_mentions_nest_have_parts_and_heads():
    found, problems, _ = mentions_of(
        ["(e1-person-2-(e2-place-1-)", "", "e1)", "(e3)"], ["(e1[1/2]-person-3-", "e1[1/2])", "", "(e1[2/2])"]
    )
    assert not problems
    assert {(each.sent, each.entity, each.words, each.head, each.type) for each in found} == {
        (1, "e1", (1, 2, 3), 2, "person"),
        (1, "e2", (1,), 1, "place"),
        (1, "e3", (4,), 4, None),
        (2, "e1", (1, 2, 4), 4, "person"),
    }


def test_a_line_that_is_cut_short_is_a_word_without_brackets():
    """The reader reports it: a word line has ten columns."""
    text = HEAD + sentence(["(e1-person-1-)", ""]).rstrip("\n").rsplit("\t", 5)[0] + "\n\n"
    found, problems, _ = read_mentions(text.encode())
    assert [(each.entity, each.words) for each in found] == [("e1", (1,))]
    assert not problems


def test_empty_nodes_are_no_rows_and_no_second_mentions():
    """An entity can have several in a sentence, and one beside its words (Prague Dependency Treebank)."""
    empty = "1.{}\tw\tw\tPRON\t_\t_\t_\t_\t1:dep\tEntity={}\n"
    nodes = [empty.format(1, "(e1-person-1-)"), empty.format(2, "(e1-person-1-)(e2-person-1-")]
    words = sentence(["(e3-person-1-)", "(e2-person-1-)e2)"]).splitlines(keepends=True)
    text = HEAD + "".join([*words[:2], *nodes, *words[2:]])
    found, problems, _ = read_mentions(text.encode())
    assert (sorted((each.entity, each.words) for each in found), problems) == ([("e2", (2,)), ("e3", (1,))], [])


def test_without_a_head_it_is_the_word_that_hangs_from_outside():
    head = HEAD.replace("head-", "")
    text = head + sentence(["", "(e1-person-", "", "e1)"], heads=[0, 4, 4, 1])
    assert [each.head for each in read_mentions(text.encode())[0]] == [4]


def test_mentions_stay_where_shards_are_joined_or_a_part_of_the_documents_is_read(tmp_path):
    for name in "ab":
        ids = [f"{name}{n}" for n in range(3)]
        blocks = [HEAD.replace("id = d", f"id = {one}") + sentence(["(e1-person-1-)", ""], one) for one in ids]
        (tmp_path / f"en_{name}-ud-test.conllu").write_text("".join(blocks))
    (corpus,) = read_corpora([tmp_path]).values()
    shard = joined([*corpus.shards(), *corpus.shards()])
    assert shard.mentions["sent"].to_list() == shard.sentences["sent"].to_list()
    two = SomeDocuments(shard, 2, seed=13).load()
    assert two.mentions["sent"].to_list() == two.sentences["sent"].to_list()
    assert two.documents.height == 2


def test_entities_without_a_number_are_no_coreference():
    assert mentions_of(["(person", "person)"], head="# global.Entity = etype-identity\n")[0] == []
    assert mentions_of(["(ORG)"], head="# newdoc id = d\n")[0] == []


def test_a_mention_that_goes_on_in_the_next_sentence_is_no_row():
    found, problems, _ = mentions_of(["(e1-x-1-", "(e2)"], ["", "e1)"])
    assert ([each.entity for each in found], problems) == (["e2"], [])


MALFORMED = {
    ("(e1-x-1-", ""): (1, "(e1 opens a mention that no bracket closes"),
    ("", "e1)"): (2, "e1) closes a mention that no bracket opens"),
    ("(e1-x-1-)(", ""): (1, "is malformed; expected brackets"),
    ("(e1-x-3-", "e1)"): (1, "the head of a mention of e1 is word 3 of 2"),
    ("(e1[2/2])", ""): (1, "part 2 of 2 of a mention of e1 does not follow"),
    ("(e1[1/2])", ""): (2, "the last part of a mention of e1 is missing"),
    ("(e1)(e1)", ""): (1, "e1 has 2 mentions of the same words"),
}


@pytest.mark.parametrize("brackets", MALFORMED, ids=[message for _, message in MALFORMED.values()])
def test_malformed_brackets_are_named_with_file_line_and_sentence(brackets, tmp_path):
    line, message = MALFORMED[brackets]
    path = tmp_path / "en_bad-ud-test.conllu"
    path.write_text(HEAD + sentence(["(e9)"], 1) + sentence(brackets, 2), encoding="utf-8")
    with pytest.raises(CorpusFormatError) as caught:
        read_corpora([path])
    assert str(caught.value).startswith(f"{path}:{6 + line} (sent_id s2): ")
    assert message in str(caught.value)
    (corpus,) = read_corpora([path], on_error="skip").values()
    assert corpus.drops == {"malformed-mention": 1}
    assert [name for shard in corpus.shards() for name in shard.mentions["entity"]] == ["e9"], "its sentence stays"
    assert corpus.n_sentences == 2


SPANS = st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)).map(sorted), max_size=6)
PARTED = st.sets(st.integers(1, 9), min_size=2, max_size=5)


@given(SPANS, PARTED)
def test_what_is_written_is_read_again(spans, parted):
    """Mentions that nest or cross, and one with gaps, as brackets and back."""
    expected = {(f"e{n}", tuple(range(first, last + 1))) for n, (first, last) in enumerate(spans)}
    opening, closing = dict.fromkeys(range(1, 10), ""), dict.fromkeys(range(1, 10), "")
    for n, (first, last) in sorted(enumerate(spans), key=lambda item: -item[1][1]):
        opening[first] += f"(e{n}-x--" + (")" if first == last else "")
        closing[last] = ("" if first == last else f"e{n})") + closing[last]
    groups = [
        [at for _, at in group] for _, group in itertools.groupby(enumerate(sorted(parted)), key=lambda x: x[1] - x[0])
    ]
    for number, group in enumerate(groups, 1):
        name = f"e99[{number}/{len(groups)}]" if len(groups) > 1 else "e99"
        opening[group[0]] += f"({name}-x--" + (")" if len(group) == 1 else "")
        closing[group[-1]] += "" if len(group) == 1 else f"{name})"
    found, problems, _ = mentions_of([closing[n] + opening[n] for n in range(1, 10)])
    assert not problems
    assert sorted((each.entity, each.words) for each in found) == sorted({*expected, ("e99", tuple(sorted(parted)))})


def opening_brackets(folder):
    """How many mentions the files of a corpus open, counted in their text."""
    cells = [
        part
        for path in folder.glob("*.conllu")
        for line in path.read_text(encoding="utf-8").split("\n")
        if "Entity=" in line
        for part in line.rpartition("\t")[2].split("|")
        if part.startswith("Entity=")
    ]
    return sum(cell.count("(") for cell in cells)


@pytest.mark.parametrize(("place", "across"), [("ud/en/GUM-open", 0), ("nc/disrpt/deu.rst.pcc", 4)])
def test_every_mention_of_a_corpus_is_read(place, across):
    """Those that go on in another sentence are left out."""
    folder = SHARED / "corpora" / place
    if not folder.is_dir():
        pytest.skip("the corpora are not beside the repository")
    (corpus,) = read_corpora(sorted(folder.glob("*.conllu"))).values()
    assert sum(shard.mentions.height for shard in corpus.shards()) == opening_brackets(folder) - across > 900
