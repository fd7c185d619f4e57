"""A config's card says what the config holds, and shows hostile text as text."""

import itertools
import re
from types import ModuleType

import pytest
from card_cases import HOSTILE, config, hostile_config
from markdown_it import MarkdownIt
from msgspec.structs import replace

from discoprobe.builders import Config, Paper, Shape, all_tasks, meanings, papers_of, schema
from discoprobe.builders.audit import audit
from discoprobe.cards.review import card_for_terminal, read_card
from discoprobe.cards.text import ShownText, card, examples, fields, plain
from discoprobe.loaders import DiscoprobeError, UnknownNameError

MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable("table")


def card_of(one, report=None):
    return card.config_card(one, report)


def tokens(markdown):
    for token in MARKDOWN.parse(markdown):
        yield token
        yield from token.children or ()


PLOT = re.compile(r'<img src="\.\./assets/\w+\.svg#\w+" width="\d+" height="\d+" alt="[\w %,]+">')


def html_in(markdown):
    """The HTML of a card, without its plots."""
    found = {token.content.strip() for token in tokens(markdown) if token.type in {"html_inline", "html_block"}}
    return {one for one in found if not PLOT.fullmatch(one)}


def headings(markdown):
    found = MARKDOWN.parse(markdown)
    return [found[place + 1].content for place, token in enumerate(found) if token.type == "heading_open"]


def words(markdown):
    """What a reader sees."""
    return "".join(token.content for token in tokens(markdown) if token.type in {"text", "code_inline"})


SECTIONS = ["Rows", "Examples", "Fields", "How the rows were chosen", "Audit", "Sources"]


@pytest.fixture(scope="module")
def hostile():
    return hostile_config()


@pytest.fixture(scope="module")
def hostile_card(hostile):
    return card_of(hostile, audit(hostile))


def test_the_sections_are_those_of_every_card(hostile_card):
    assert headings(hostile_card) == ["dc_es", *SECTIONS]


def test_no_html_but_the_marks(hostile_card):
    assert html_in(hostile_card) == {"<mark>", "<b>", "</b>", "</mark>"}


def test_no_link_and_no_image_from_a_corpus(hostile_card):
    links = {str(token.attrGet("href")) for token in tokens(hostile_card) if token.type == "link_open"}
    images = {str(token.attrGet("src")) for token in tokens(hostile_card) if token.type == "image"}
    assert all(link.startswith(("https://arxiv.org/", "https://github.com/Univ", "../README.md")) for link in links)
    assert images == set(), "plots are HTML, so that they have a size"
    assert len(PLOT.findall(hostile_card)) == hostile_card.count("<img ") == 1


def test_every_table_is_whole(hostile_card):
    lines = [line for line in hostile_card.splitlines() if line.startswith("|")]
    found = MARKDOWN.parse(hostile_card)
    rows = sum(token.type == "tr_open" for token in found)
    heads = sum(token.type == "thead_open" for token in found)
    assert rows == len(lines) - heads, "one line of dashes per table is no row"


def test_a_hostile_card_is_short(hostile_card):
    assert len(hostile_card) < 30_000
    assert max(map(len, hostile_card.splitlines())) < 3_000


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_shown_as_it_is_and_cut(text):
    one = config(
        Shape.SENTENCE, ("a", "b"), [{"text": text, "original": "-", "edit": {"start": 2, "end": 9}}] * 2, name="x_es"
    )
    made = card_of(one)
    seen = " ".join(plain(text, 300).split())
    assert seen[:200] in " ".join(words(made).replace("\u2068", "").split())
    assert html_in(made) <= {"<mark>", "<b>", "</b>", "</mark>"}
    assert headings(made) == ["x_es", *SECTIONS]


def test_no_direction_leaks(hostile_card):
    assert not set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067") & set(hostile_card)
    assert hostile_card.count("\u2068") == hostile_card.count("\u2069") > 0


def test_a_marked_right_to_left_text_is_set_apart_as_a_whole():
    text = "שלום עולם סוף"
    one = config(
        Shape.SENTENCE, ("a", "b"), [{"text": text, "original": "-", "edit": {"start": 5, "end": 9}}] * 2, name="x_he"
    )
    line = next(line for line in card_of(one).splitlines() if line.startswith("- text:"))
    assert line == "- text: \u2068שלום <mark><b>עולם</b></mark> סוף\u2069"


def test_both_labels_and_whole_pairs():
    rows = [{"sentences": [f"s{n}"], "label": n % 2, "pair_id": f"p{n // 2}"} for n in range(20)]
    shown = examples.examples(Shape.SEQUENCE, ("a", "b"), config(Shape.SEQUENCE, ("a", "b"), rows).splits["test"])
    assert [one.label for one in shown] == ["a", "b"] * 3
    assert [one.pair for one in shown] == ["p0", "p0", "p1", "p1", "p2", "p2"]


@pytest.mark.parametrize("n_labels", [2, 3, 5, 9])
def test_labels_take_turns(n_labels):
    rows = [{"sentence1": "a", "sentence2": "b", "label": n % n_labels} for n in range(60)]
    names = tuple(map(str, range(n_labels)))
    shown = examples.examples(Shape.PAIR, names, config(Shape.PAIR, names, rows).splits["test"])
    counts = [sum(one.label == name for one in shown) for name in names]
    assert len(shown) == 6
    assert max(counts) - min(counts) <= 1


@pytest.mark.parametrize(("start", "end"), [(0, 5), (500, 510), (990, 1000), (0, 1000), (0, 0)])
def test_a_long_text_is_cut_around_its_mark(start, end):
    text = "".join(chr(97 + n % 26) for n in range(1000))
    shown = ShownText("text", text, start, end).pieces()
    assert sum(len(piece) for piece, _ in shown) <= 330
    marked = "".join(piece for piece, mark in shown if mark)
    assert marked == text[start : min(end, start + 320)]
    assert "".join(piece for piece, _ in shown).strip("…") in text


def test_a_short_text_is_whole():
    assert ShownText("text", "one two three", 4, 7).pieces() == [
        ("one ", False),
        ("two", True),
        (" three", False),
    ]


@pytest.mark.parametrize("span", [(-1, 3), (5, 2), (3, 99)])
def test_a_span_outside_the_text_marks_nothing(span):
    assert ShownText("text", "short", *span).pieces() == [("short", False)]


def test_the_right_choice_and_the_candidate_are_marked():
    one = config(
        Shape.CHOICE, ("0", "1"), [{"context": ["c"], "choices": ["no", "yes"], "label": 1}] * 2, name="cloze_es"
    )
    assert "- choice 1: <mark><b>yes</b></mark>" in card_of(one)
    one = config(Shape.CANDIDATE, ("n", "m"), [{"sentences": ["c"], "candidate": "next?"}] * 2, name="nsp_es")
    assert "- candidate: <mark><b>next?</b></mark>" in card_of(one)


def test_order_is_told_where_it_is_not_the_source_s():
    rows = [{"sentences": ["b", "a"], "order": order} for order in ([1, 0], [0, 1])]
    shown = card_of(config(Shape.SEQUENCE, ("swapped", "original"), rows, name="so_es"))
    assert shown.count("places in the source: 1, 0") == 1
    assert "places in the source: 0, 1" not in shown


def test_every_shape_has_all_its_fields_described():
    for shape in Shape:
        described_fields = fields(shape, ("a", "b"), {"a", "b"})
        assert described_fields.keys() == set(schema(shape).names)
        assert all(kind and meaning for kind, meaning in described_fields.values())
        assert described_fields["label"][0] == "ClassLabel(a, b)"


def test_many_labels_are_counted_not_listed():
    labels = tuple(f"lemma{n}" for n in range(300))
    rows = [{"text": "t", "label": n % 300} for n in range(600)]
    text = card_of(config(Shape.SENTENCE, labels, rows, name="word_content_es"))
    assert "300 labels: lemma0, lemma1" in text
    assert max(map(len, text.splitlines())) < 1500


def test_drops_are_sorted_by_number_and_name():
    given = replace(
        config(Shape.SENTENCE, ("a", "b"), [{"text": "t", "label": 0}]),
        drops={"tag": 3, "odd": 40, "mask": 3},
        meanings={"tag": "t", "odd": "o", "mask": "m"},
    )
    table = card_of(given).partition("| reason | candidates not used | meaning |")[2].splitlines()[2:5]
    assert table == ["| odd | 40 | o |", "| mask | 3 | m |", "| tag | 3 | t |"]


def test_every_reason_for_a_drop_has_a_meaning(built):
    configs = [result for result in built("sample", "es").values() if isinstance(result, Config)]
    assert any(result.drops for result in configs)
    for result in configs:
        assert result.meanings.keys() == result.drops.keys()
        assert all(result.meanings.values())


def test_a_reason_without_a_meaning_is_an_error_of_the_task():
    assert meanings({"rare-value Dual": 1, "new": 2}, {"new": "new ones"})["new"] == "new ones"
    with pytest.raises(TypeError, match="drop reasons new"):
        meanings({"new": 2}, {})


def test_papers():
    text = "Swaps (SentEval,\nX-Probe BigramShift; discourse suite\nover UD)."
    assert [paper.names[0] for paper in papers_of(text)] == ["SentEval", "X-Probe", "discourse suite over UD"]
    assert [paper.names[0] for paper in papers_of("(RuSentEval NShift)")] == ["RuSentEval"]
    assert papers_of("nothing") == ()


def test_every_task_names_its_paper():
    tasks = all_tasks()
    assert len(tasks) > 30
    assert [name for name, task in tasks.items() if not task.papers] == []


def test_a_task_may_cite_papers_of_its_own(monkeypatch):
    module = ModuleType("toy", doc="A task of SentEval's kind.")
    own = Paper(("Toy",), "Author 2026. A Paper.", "https://example.org")
    module.TASK = replace(all_tasks()["sent_len"], papers=(own,), definition="{docstring} More.")
    monkeypatch.setattr("discoprobe.builders.task._modules", lambda: iter([("probing", "toy", module)]))
    found = all_tasks.__wrapped__()["toy"]
    assert found.definition == "A task of SentEval's kind. More."
    assert [paper.names[0] for paper in found.papers] == ["SentEval", "Toy"]


def test_every_config_of_the_sample_has_a_card(built):
    configs = [result for result in built("sample", "es").values() if isinstance(result, Config)]
    assert len(configs) > 10
    for result in configs:
        text = card_of(result)
        assert headings(text) == [result.name, *SECTIONS]
        assert html_in(text) <= {"<mark>", "<b>", "</b>", "</mark>"}
        assert len(re.findall(r"^\*\*\d\. label ", text, re.MULTILINE)) == min(6, result.splits["test"].num_rows)


def table_of(text, heading):
    """The cells of the first table below a heading, without its two head lines."""
    below = text.partition(f"\n## {heading}\n")[2].strip().splitlines()
    table = itertools.dropwhile(lambda line: not line.startswith("|"), below)
    rows = itertools.takewhile(lambda line: line.startswith("|"), table)
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows][2:]


def test_a_card_counts_the_rows_of_every_label_in_every_split(built):
    configs = [result for result in built("sample", "es").values() if isinstance(result, Config)]
    listed = 0
    for result in configs:
        counts = result.counts()
        if len(counts) > 1:  # a suite has one split
            assert len({tuple(of.values()) for of in counts.values()}) > 1, "splits of one size would hide a mistake"
        for split, *cells in table_of(card_of(result), "Rows"):
            numbers = [int(cell.replace(",", "")) for cell in cells]
            of_labels = [n for n in counts[split].values() if n]
            assert numbers[0] == sum(of_labels)
            assert [n for n in numbers[1:] if n] in (of_labels, [min(of_labels), max(of_labels)])
            listed += 1
    assert listed == sum(len(result.splits) for result in configs) > 30


def test_the_audit_stands_in_the_card(sample_release):
    text = read_card(sample_release, "dc_es")
    assert "| length | 0." in text
    assert "| majority | 0.500 |" in text
    assert "checks found nothing (dup-within" in text
    assert '../assets/es.svg#dc_es"' in text


def test_without_an_audit_the_card_says_so(hostile):
    text = card_of(hostile)
    assert "This config was not audited." in text
    assert "-audit" not in text


def test_a_card_in_the_terminal(sample_release):
    text = card_for_terminal(read_card(sample_release, "dc_es"))
    assert "⟦" in text
    assert "<mark>" not in text
    assert "<img" not in text
    assert "![" not in card_for_terminal(read_card(sample_release, "")), "the overview is a picture"
    assert card_for_terminal(read_card(sample_release, "")).startswith("# discoprobe")


def test_an_unknown_config_names_the_near_ones(sample_release):
    with pytest.raises(UnknownNameError, match=r"did you mean.*dc_es"):
        read_card(sample_release, "dc_e")


def test_a_folder_without_a_release_has_no_card(tmp_path):
    with pytest.raises(DiscoprobeError, match="nothing is not a release folder; `build run` writes one"):
        read_card(tmp_path / "nothing", "")


def test_hostile_texts_are_many():
    assert len(HOSTILE) >= 10
    assert max(map(len, HOSTILE)) == 100_000
