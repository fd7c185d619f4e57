"""Tasks on marked mentions: what they take and leave, and that rows say what the corpus says, by an independent count.

``recount`` reads the brackets of ``Entity=`` itself, with nothing of the package.
"""

import re
from collections import Counter, defaultdict
from types import SimpleNamespace

import polars as pl
import pytest
from shared import UD, needs_shared

from discoprobe.builders import Context, Settings, Shape, tasks_named
from discoprobe.builders.audit import audit
from discoprobe.builders.build import build, build_all
from discoprobe.builders.passages.entities import _parts, passages
from discoprobe.builders.passages.entity_marks import NEAREST, SAME_CUES
from discoprobe.builders.passages.mention_rows import typicality
from discoprobe.builders.task import unsupported
from discoprobe.loaders.languages import language_data
from discoprobe.sources import load_corpus

TASKS = ("same_entity", "given_new", "salience", "bridging_choice")
ROOM = ("lamp", "desk", "chair", "shelf", "carpet", "clock", "mirror", "vase", "sofa", "radio",
        "window", "curtain", "bottle", "table", "piano", "kettle", "candle", "pillow")  # fmt: skip
"""Things in a house."""
WORDS = {
    "she": "PRON Gender=Fem|Number=Sing|Person=3|PronType=Prs",
    "her": "PRON Gender=Fem|Number=Sing|Person=3|PronType=Prs",
    "he": "PRON Gender=Masc|Number=Sing|Person=3|PronType=Prs",
    "I": "PRON Number=Sing|Person=1|PronType=Prs",
    "whose": "DET Poss=Yes|PronType=Prs", "the": "DET Definite=Def|PronType=Art", "a": "DET Definite=Ind|PronType=Art",
    **dict.fromkeys(("Anna", "Berta", "Clara", "Carl", "Dora"), "PROPN Number=Sing"),
    **dict.fromkeys(("house", "door", "roof", "car", "street", "town", "garden", "wall", *ROOM),
                    "NOUN Number=Sing"),
}  # fmt: skip
"""Words of made sentences → part of speech and features; others are verbs."""
PADDING = "it rained and rained " * 24 + "."


def conllu(number, *sentences, padding=PADDING):
    """A document. Mentions are written ``[a Anna]``; ``[a/new …]`` has a status, ``[d/acc:inf<h …]`` a bridge."""
    lines = [f"# newdoc id = d{number}", "# global.Entity = GRP-etype-infstat-salience-link"]
    for place, sentence in enumerate((*sentences, padding), 1):
        words, opened = [], []
        for piece in re.findall(r"\[[^ ]+|[^\s\[\]]+|\]", sentence):
            if piece.startswith("["):
                opened.append((len(words), piece[1:]))
            elif piece == "]":
                start, name = opened.pop()
                entity, _, status = name.partition("/")
                status, _, bridge = status.partition("<")
                fields = f"{entity}-person-{status}-{'s' if entity in 'ab' else 'n'}-"
                if start == len(words) - 1:
                    words[start][1].append(f"({fields})")
                else:
                    words[start][1].append(f"({fields}")
                    words[-1][1].append(f"{entity})")
                words[start][2] = f"|Bridge={bridge}<{entity}" if bridge else ""
            else:
                words.append([piece, [], ""])
        text = " ".join(word for word, *_ in words).replace(" .", ".")
        lines += [f"# sent_id = d{number}-s{place}", f"# text = {text}"]
        nouns = [at for at, (word, *_) in enumerate(words) if WORDS.get(word, "").startswith("NOUN")]
        for at, (word, brackets, bridge) in enumerate(words):
            upos, _, feats = WORDS.get(word, "PUNCT" if word == "." else "VERB").partition(" ")
            head = next((noun + 1 for noun in nouns if noun > at), 0) if upos == "DET" else 0 if at == 1 else 2
            relation = "nsubj" if at == 0 else "aux" if upos == "VERB" else "obj"
            relation = "det" if upos == "DET" else "root" if at == 1 else relation
            misc = f"Entity={''.join(brackets)}{bridge}" if brackets else "_"
            lines.append("\t".join([str(at + 1), word, word, upos, "_", feats or "_", str(head), relation, "_", misc]))
        lines.append("")
    return "\n".join(lines) + "\n"


def corpus_of_texts(folder, *texts):
    path = folder / "en_made-ud-test.conllu"
    path.write_text("".join(texts), encoding="utf-8")
    return load_corpus(str(path))


def candidates(folder, task, *sentences):
    """The sets of rows that a task can make of a document."""
    return candidates_in(folder, task, conllu(1, *sentences))


def candidates_in(folder, task, *texts):
    """The sets of rows that a task can make of some documents."""
    (chosen,) = tasks_named([task])
    (part,) = corpus_of_texts(folder, *texts).parts
    return chosen.select(part.load(), Context(task, language_data("en"), Settings(), chosen.labels))


def marks_of(folder, task, *sentences):
    """The marked texts of each set."""
    frame = candidates(folder, task, *sentences)
    return [
        [re.sub(r"(?s) it rained.*", "", text) for text in texts]
        for texts in frame.filter(frame["reason"].is_null())["texts"].to_list()
    ]


TAKE = [
    (
        "same_entity",
        ["[a Anna] met [b Berta] .", "[b she] smiled .", "[a she] left ."],
        ["Anna met [1 Berta] . [2 she] smiled . she left .", "[1 Anna] met Berta . [2 she] smiled . she left ."],
    ),
    (
        "given_new",
        ["[s/new the street] saw [w/new a wall] .", "[h/new the house] saw [s/giv:act the town] ."],
        [
            "the street saw a wall . [1 the house] saw the town .",
            "the street saw a wall . the house saw [1 the town] .",
        ],
    ),
    # The passage before this one mentions nothing.
    (
        "given_new",
        [PADDING, "[s/new the street] saw [w/new a wall] .", "[h/new the house] saw [s/giv:act the town] ."],
        [
            "the street saw a wall . [1 the house] saw the town .",
            "the street saw a wall . the house saw [1 the town] .",
        ],
    ),
    # What is mentioned again later is new at first.
    (
        "given_new",
        [
            "[s/new the street] saw [w/new a wall] .",
            "[h/new the house] saw [s/giv:act the town] .",
            "[h the roof] saw .",
        ],
        [
            "the street saw a wall . [1 the house] saw the town . the roof saw .",
            "the street saw a wall . the house saw [1 the town] . the roof saw .",
        ],
    ),
    (
        "given_new",
        ["Anna met [b/new Berta] .", "[c/new Dora] saw [b/giv:act Clara] ."],
        ["Anna met Berta . [1 Dora] saw Clara .", "Anna met Berta . Dora saw [1 Clara] ."],
    ),
    (
        "salience",
        ["[a Anna] met [c Carl] ."],
        ["[1 Anna] met Carl .", "Anna met [1 Carl] ."],
    ),
    # The first mentions are marked.
    (
        "salience",
        ["[a Anna] met [c Carl] .", "[c Dora] saw [a Clara] ."],
        ["[1 Anna] met Carl . Dora saw Clara .", "Anna met [1 Carl] . Dora saw Clara ."],
    ),
    (
        "bridging_choice",
        [
            "[h/new a house] saw [w/new a wall] and [t/new a town] and [g/new a garden] .",
            "[d/acc:inf<h the door] saw .",
        ],
        [
            "[1 a house] saw a wall and a town and a garden . [2 the door] saw .",
            "a house saw [1 a wall] and a town and a garden . [2 the door] saw .",
            "a house saw a wall and [1 a town] and a garden . [2 the door] saw .",
            "a house saw a wall and a town and [1 a garden] . [2 the door] saw .",
        ],
    ),
]
LEAVE = [
    # Both mentions must be able to be what the second refers to.
    ("same_entity", ["[a Anna] met [c Carl] .", "[c he] smiled .", "[a she] left ."]),
    ("same_entity", ["[a Anna] met [b Berta] ."]),
    # A first person refers to whoever speaks.
    ("same_entity", ["[a I] met [b I] .", "[a I] left ."]),
    # Whom another mention has inside is no rival anywhere in the document.
    (
        "same_entity",
        ["[a Anna] met [b Berta] .", "[b she] smiled .", "[a she] left .", "[b Clara saw [a Dora]] left ."],
    ),
    # The article would tell.
    ("given_new", ["[s/new the street] saw [w/new a wall] .", "[h/new a house] saw [s/giv:act the town] ."]),
    # The earlier name tells that the entity is not new.
    ("given_new", ["[a/new Anna] met [b/new Berta] .", "[c/new Anna] saw [a/giv:act Anna] ."]),
    # The name was used before, for somebody whom annotators did not mark.
    ("given_new", ["Dora met [b/new Berta] .", "[c/new Dora] saw [b/giv:act Clara] ."]),
    # What the document mentioned before, in another passage, is neither new nor given.
    (
        "given_new",
        [
            "[h/new the roof] saw .",
            PADDING,
            "[s/new the street] saw [w/new a wall] .",
            "[h/new the house] saw [s/giv:act the town] .",
        ],
    ),
    ("given_new", ["[s/new the street] saw .", PADDING, "[h/new the house] saw [s/giv:act the town] ."]),
    # Both are in the summaries, or none is.
    ("salience", ["[a Anna] met [b Berta] ."]),
    ("salience", ["[c Anna] met [d Berta] ."]),
    ("bridging_choice", ["[h/new a house] saw [w/new a wall] .", "[d/acc:inf<h the door] saw ."]),
    # The words of the right choice tell.
    (
        "bridging_choice",
        ["[h/new a door] saw [w/new a wall] and [t/new a town] and [g/new a garden] .", "[d/acc:inf<h the door] saw ."],
    ),
    # Another mention of the house has the wall inside.
    (
        "bridging_choice",
        [
            "[h/new a house] saw [w/new a wall] and [t/new a town] and [g/new a garden] .",
            "[h the street saw [w the roof]] saw .",
            "[d/acc:inf<h the door] saw .",
        ],
    ),
    # A roof of the house is no wrong choice, and a pronoun is none that can be read.
    (
        "bridging_choice",
        [
            "[h/new a house] saw [w/new a wall] and [t/new a town] .",
            "[r/acc:inf<h the roof] saw .",
            "[d/acc:inf<h the door] saw .",
        ],
    ),
    (
        "bridging_choice",
        ["[h/new a house] saw [w/new a wall] and [t/new a town] .", "[a she] smiled .", "[d/acc:inf<h the door] saw ."],
    ),
]


@pytest.mark.parametrize(("task", "sentences", "expected"), TAKE, ids=[task for task, *_ in TAKE])
def test_what_a_task_takes(task, sentences, expected, tmp_path):
    found = marks_of(tmp_path, task, *sentences)
    assert [text.replace(" .", ".") for text in expected] in found
    assert all(len(texts) == len(expected) for texts in found)


@pytest.mark.parametrize(("task", "sentences"), LEAVE)
def test_what_a_task_leaves(task, sentences, tmp_path):
    assert marks_of(tmp_path, task, *sentences) == []


def test_a_layer_counts_if_one_of_the_corpora_has_it(tmp_path):
    """A corpus without parts of speech beside it takes nothing away from one that has them (LitBank and GUM)."""
    trees, plain = (tmp_path / name / f"en_{name}-ud-test.conllu" for name in ("UD_English-A", "UD_English-B"))
    for path, upos in ((trees, None), (plain, "_")):
        path.parent.mkdir()
        text = conllu(1, *(TAKE[1][1] * (1 if upos is None else 9)))
        path.write_text(re.sub(r"(?m)^(\d+\t\S+\t\S+\t)[A-Z]+", rf"\1{upos}", text) if upos else text, encoding="utf-8")
    alone, both = (load_corpus("en", paths) for paths in ([str(plain)], [str(trees), str(plain)]))
    assert "upos" not in alone.layers
    assert "upos" in both.layers
    assert "text" in both.layers
    (task,) = tasks_named(["given_new"])
    assert not unsupported(task, both.layers, language_data("en"))


@pytest.mark.parametrize(("lang", "begins", "answers"), [("nl", "Verwijst “she” in “", ["Ja", "Nee"]),
                                                       ("es", "Does “she” in “", ["Yes", "No"])])  # fmt: skip
def test_a_question_is_in_the_language_or_in_english(tmp_path, lang, begins, answers):
    path = tmp_path / "en_made-ud-test.conllu"
    path.write_text(conllu(1, *TAKE[0][1]), encoding="utf-8")
    (chosen,), (part,) = tasks_named(["same_entity"]), load_corpus(str(path)).parts
    frame = chosen.select(part.load(), Context("same_entity", language_data(lang), Settings(), chosen.labels))
    assert frame["questions"][0][0].startswith(begins)
    assert frame["answers"][0].to_list() == answers


def test_two_noun_phrases_of_different_persons_are_not_the_same(tmp_path):
    """Annotators took the garden of Anna for that of Berta, or mean something else; so such a pair is left."""
    texts = [
        "[a Anna] met [b Berta] .",
        "[g [a whose] garden tended] saw [h [c whose] garden walled] .",
        "[g [{} whose] garden] left .",
    ]
    same, different = (
        marks_of(tmp_path, "same_entity", *texts[:2], texts[2].format(whose)) for whose in "ab"
    )  # fmt: skip
    second = "[2 whose garden]"
    assert any(second in text for of_set in same for text in of_set)
    assert not any(second in text for of_set in different for text in of_set)


@pytest.mark.parametrize(("before", "last", "used"), [(2, "[a whose]", True), (2, "whose", False), (1, "whose", True)])
def test_where_possessors_are_mentions_one_that_is_none_may_be_what_the_whole_refers_to(tmp_path, before, last, used):
    """*Whose* begins five mentions and is a mention itself in all, in four, or, of three, in two."""
    texts = [
        "[a Anna] met [b Berta] .",
        *["[g [a whose] garden tended] saw [h [b whose] garden walled] ."] * before,
        f"[g {last} garden] left .",
    ]
    # a hash decides which sets of a document are candidates
    frame = candidates_in(tmp_path, "same_entity", *(conllu(number, *texts) for number in range(5)))
    found = frame.filter(pl.col("reason").is_null())["texts"].explode()
    assert found.str.contains("[2 whose garden]", literal=True).any() is used


def test_two_persons_of_one_family_name_need_another_name_each(tmp_path):
    """After *Dora and Berta Dora*, who *Dora* is can be told from the words alone."""
    texts = "[a {}] met [b Berta Dora] .", "[a she] saw .", "[b she] saw .", "[a Dora] left ."
    both, one = (marks_of(tmp_path, "same_entity", first.format(name), *rest)
                 for first, *rest in [texts] for name in ("Anna Dora", "Dora"))  # fmt: skip
    pair = "[1 {}] met Berta Dora. she saw. she saw. [2 Dora] left."
    assert any(pair.format("Anna Dora") in texts_of_set for texts_of_set in both)
    assert not any(pair.format("Dora") in texts_of_set for texts_of_set in one)


def test_mentions_are_counted_from_the_last_one_of_an_entity(tmp_path):
    """Anna was mentioned directly before the last *she*, and Berta before that."""
    texts = "[a Anna] met [b Berta] .", "[b she] smiled .", "[a she] saw .", "[a she] left ."
    rows = candidates(tmp_path, "same_entity", *texts).select("texts", "cues").iter_rows()
    (cues,) = (cues for (same, _), cues in rows if "[1 Anna]" in same and "[2 she] left" in same)
    assert [values[SAME_CUES.index("last_mention")] for values in cues] == [1, 2]


def padded(number, *sentences):
    """A document that no other one resembles."""
    return conllu(number, *sentences, padding=" ".join(f"rain{number}x{place}" for place in range(90)) + " .")


def test_the_label_of_a_choice_is_the_place_of_the_right_mention(tmp_path):
    texts = TAKE[-1][1]
    corpus = corpus_of_texts(tmp_path, *(padded(number, *texts) for number in range(100)))
    config = build("bridging_choice", corpus, Settings(match=False, min_class=1))
    assert {row["choices"][row["label"]] for row in rows_of(config)} == {"a house"}
    counts = [Counter(table["label"].to_pylist()) for table in config.splits.values()]
    assert all({*labels} == {0, 1, 2, 3} and len({*labels.values()}) == 1 for labels in counts)
    assert sum(map(Counter.total, counts)) > 100 - 3 * len("0123")


def test_a_passage_asks_about_each_of_its_entities_once(tmp_path):
    """Each of two entities has several mentions that the last two could be compared with, and gives two rows."""
    texts = "[a Anna] met [b Berta] .", "[b she] saw .", "[a she] left .", "[a she] smiled ."
    corpus = corpus_of_texts(tmp_path, *(padded(number, *texts) for number in range(20)))
    rows = rows_of(build("same_entity", corpus, Settings(match=False, min_class=1)))
    seconds = {row["pair_id"]: row["passage"][row["mention2"]["end"] :][:5] for row in rows}
    assert Counter(text == " saw." for text in seconds.values()) == {True: 20, False: 20}


def test_of_many_earlier_mentions_the_nearest_ones_are_the_wrong_choices(tmp_path):
    """Of eighteen things that are mentioned after the house, the first two are too far away."""
    things = " ".join(f"[{thing}/new a {thing}]" for thing in ROOM)
    found = marks_of(tmp_path, "bridging_choice", f"[h/new a house] saw {things} .", "[d/acc:inf<h the door] saw .")
    marked = {re.search(r"\[1 a (\w+)\]", text)[1] for of_set in found for text in of_set}
    assert marked == {"house", *ROOM[-NEAREST:]}


def test_what_is_typical_of_right_choices_is_seen_in_other_documents():
    sets = pl.DataFrame({
        "unit": [1, 2], "group": ["a", "b"], "first": [[{"start": 0}, {"start": 9}]] * 2,
        "traits": [[["house"], ["wall"]], [["wall"], ["house"]]],
    })  # fmt: skip
    of_a, of_b = typicality(sets)
    assert of_a[0] < 0 < of_a[1]  # in b, the house is wrong and the wall is right
    assert of_b[1] > 0 > of_b[0]
    assert (typicality(sets.with_columns(group=pl.lit("a"))) == 0).all()


# What the corpus says, read again


class Recount:
    """The texts, mentions and bridging links of CoNLL-U files, by document and sentence."""

    def __init__(self, files):
        self.texts, self.places, self.links, self.chains = {}, defaultdict(list), set(), Counter()
        for file in files:
            for block in file.read_text(encoding="utf-8").split("\n\n"):
                self._sentence(block.split("\n"))

    def _sentence(self, lines):
        about = dict(line[2:].split(" = ", 1) for line in lines if line.startswith("# ") and " = " in line)
        if "newdoc id" in about:
            self.doc, self.open = about["newdoc id"], defaultdict(list)
        name, text = about.get("sent_id"), about.get("text", "")
        if not name:
            return
        self.texts[name], at, within = text, 0, (0, 0, 0)
        for line in lines:
            number, _, rest = line.partition("\t")
            if not re.fullmatch(r"\d+(-\d+)?", number):
                continue
            form, *_, misc = rest.split("\t")
            if int(number.partition("-")[0]) > within[0]:
                start = text.index(form, at)
                at = start + len(form)
                within = (int(number.partition("-")[2] or 0), start, at)
            _, start, end = within
            if "-" in number:
                continue
            fields = dict(field.split("=", 1) for field in misc.split("|") if "=" in field)
            self.links |= {(self.doc, *link.split("<")) for link in fields.get("Bridge", "").split(",") if link}
            for opening, closing in re.findall(r"\(([^()-]+)(?:-[^()]*)?|([^()]*)\)", fields.get("Entity", "")):
                if opening:
                    self.open[opening].append((start, number))
                    last = opening
                else:
                    first, _ = self.open[closing or last].pop()
                    self.places[self.doc, name, first, end].append(closing or last)
                    self.chains[self.doc, closing or last] += 1

    def entities(self, row, mention):
        """The entities whose mention stands at a place of the passage of a row."""
        for name in row["sent_ids"]:
            start, text = mention["start"], self.texts[name]
            if mention["end"] - start and start < len(text):
                return set(self.places[row["doc_id"], name, start, mention["end"]])
            mention = mention | {"start": start - len(text) - 1, "end": mention["end"] - len(text) - 1}
        return set()

    def before(self, row, mention):
        """The entities that the passage of a row mentions before a place."""
        found, offset = set(), 0
        for name in row["sent_ids"]:
            for (doc, sent, _, end), entities in self.places.items():
                if (doc, sent) == (row["doc_id"], name) and offset + end <= mention["start"]:
                    found |= set(entities)
            offset += len(self.texts[name]) + 1
        return found


@pytest.fixture(scope="module")
def gum():
    folder = UD / "en" / "GUM-open"
    corpus = load_corpus("en", [str(folder)])
    configs = {config.task: config for config in build_all(tasks_named(TASKS), corpus, Settings())}
    return Recount(sorted(folder.rglob("*.conllu"))), corpus, configs


def rows_of(config):
    return [
        row | {"name": config.labels[row["label"]]} for table in config.splits.values() for row in table.to_pylist()
    ]


@needs_shared
@pytest.mark.slow
def test_chains_and_bridging_links_are_those_of_the_files(gum):
    recount, corpus, _ = gum
    chains, links = Counter(), set()
    for shard in corpus.shards():
        documents = dict(shard.documents.select("doc", "doc_id").iter_rows())
        docs = {sent: documents[doc] for sent, doc in shard.sentences.select("sent", "doc").iter_rows()}
        for sent, entity, bridge in shard.mentions.select("sent", "entity", "bridge").iter_rows():
            chains[docs[sent], entity] += 1
            links |= {(docs[sent], bridge, entity)} if bridge else set()
    assert len(chains) > 1000
    assert chains == recount.chains
    assert links <= recount.links
    assert len({link[0::2] for link in recount.links} - {link[0::2] for link in links}) == 0


@needs_shared
@pytest.mark.slow
@pytest.mark.parametrize("task", ["same_entity", "given_new", "salience"])
def test_rows_say_what_the_files_say(gum, task):
    recount, _, configs = gum
    config = configs[task]
    assert config.shape is Shape.MENTIONS
    for row in rows_of(config):
        assert row["passage"] == " ".join(recount.texts[name] for name in row["sent_ids"])
        for number, mention in enumerate(filter(None, (row["mention1"], row["mention2"])), 1):
            assert row["passage"][mention["start"] : mention["end"]] == mention["form"]
            assert f"[{number} {mention['form']}" in row["text"]
        one = recount.entities(row, row["mention1"])
        assert one
        if task == "same_entity":
            assert bool(one & recount.entities(row, row["mention2"])) == (row["name"] == "same")
        if task == "given_new":
            earlier = recount.before(row, row["mention1"])
            assert (row["name"] == "given") <= bool(one & earlier)
            assert (row["name"] == "new") <= bool(one - earlier)
    counts = Counter((row["name"], row["pair_id"]) for row in rows_of(config))
    assert set(counts.values()) == {1}


@needs_shared
@pytest.mark.slow
def test_the_right_choice_is_linked_in_the_files(gum):
    recount, _, configs = gum
    config = configs["bridging_choice"]
    assert config.n_rows >= 40
    for row in rows_of(config):
        marked = re.search(r"\[1 ([^\]]*)\]", row["context"][0])
        passage = " ".join(recount.texts[name] for name in row["sent_ids"])
        assert row["context"][0].replace(marked[0], marked[1]).startswith(passage)
        start = marked.start()
        (second,) = [recount.entities(row, {"start": start, "end": start + len(marked[1])})]
        places = [at for at in range(start) if passage.startswith(right := row["choices"][row["label"]], at)]
        first = {e for at in places for e in recount.entities(row, {"start": at, "end": at + len(right)})}
        assert any((row["doc_id"], one, two) in recount.links for one in first for two in second)
        assert len(set(row["choices"])) == 4


@needs_shared
@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_no_cue_tells_the_label(gum, task):
    report = audit(gum[2][task])
    for finding in report.findings:
        if finding.check in {"cues", "chars", "words", "length", "position"}:
            assert str(finding.status) != "above", finding


@needs_shared
@pytest.mark.slow
@pytest.mark.parametrize("task", ["same_entity", "given_new", "salience"])
def test_splits_and_passages(gum, task):
    """A document is in one split, and no sentence is in two passages."""
    splits, passages = defaultdict(set), defaultdict(set)
    for split, table in gum[2][task].splits.items():
        for row in table.to_pylist():
            splits[row["doc_id"]].add(split)
            for name in row["sent_ids"]:
                passages[name].add(row["passage"])
    assert {len(names) for names in (*splits.values(), *passages.values())} == {1}


def parts(*lengths):
    """The lengths of the passages of a run of sentences of these lengths; a negative one is that of a heading."""
    sentences = [SimpleNamespace(run=0, words=[None] * abs(n), sent=sent) for sent, n in enumerate(lengths)]
    headings = {sent for sent, n in enumerate(lengths) if n < 0}
    return [sum(len(sentence.words) for sentence in part) for part in _parts(sentences, headings)]


def test_a_heading_a_caption_and_a_date_are_in_no_passage(tmp_path):
    """They were glued to the sentence after them (*Fort Lee Fort Lee is a city*)."""
    texts = ["[a Anna] met [b Berta] .", PADDING, "[a Anna] Berta", PADDING, "Figure 3 : [a Anna] left [b Berta] .",
             "[b she] smiled at [a Anna] .", PADDING]  # fmt: skip
    (part,) = corpus_of_texts(tmp_path, *(conllu(number, *texts) for number in range(2))).parts
    shown = [passage.text for passage in passages(part.load(), language_data("en"))]
    assert len(shown) == 8
    assert not any(unwanted in text for text in shown for unwanted in ("Anna Berta", "Figure"))


def test_passages_of_documents():
    assert parts(39) == []
    assert parts(40) == [40]  # a short document is a passage
    assert parts(50, 30, 50, 30) == [80, 80]
    assert parts(50, 30, 50) == [130]  # the rest is added to the last passage
    assert parts(50, 130, 50) == [180]  # which would be too long
    assert parts(201) == []
    assert parts(50, 40, -2, 60, 30, 30, -3) == [90, 120], "no passage goes on over a heading"
