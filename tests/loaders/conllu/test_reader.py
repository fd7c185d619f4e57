"""The reader on made-up sentences: the traps of real corpora, and what is wrong with a file."""

import gzip
import io

import conllu
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shared import UD

from discoprobe.loaders import DOCUMENTS, SENTENCES, TOKENS, UPOS, Corpus, CorpusFormatError, feat
from discoprobe.loaders.catalogue import DocumentRule, Source
from discoprobe.loaders.conllu import read_corpora, reader

SPANISH = """\
# newdoc id = a
# sent_id = a-1
# text = Voy a darle del mar. ¡Ya!
1\tVoy\tir\tVERB\t_\tMood=Ind|Number=Sing\t0\troot\t_\t_
2\ta\ta\tADP\t_\t_\t3\tmark\t_\t_
3-4\tdarle\t_\t_\t_\t_\t_\t_\t_\t_
3\tdar\tdar\tVERB\t_\tVerbForm=Inf\t1\txcomp\t_\t_
4\tle\tél\tPRON\t_\tCase=Dat|Number=Sing\t3\tiobj\t_\t_
4.1\tnada\tnada\tPRON\t_\t_\t_\t_\t3:obj\t_
5-6\tdel\t_\t_\t_\t_\t_\t_\t_\t_
5\tde\tde\tADP\t_\t_\t7\tcase\t_\t_
6\tel\tel\tDET\t_\tGender=Fem,Masc\t7\tdet\t_\t_
7\tmar\tmar\tNOUN\t_\t_\t3\tobl:arg\t_\tSpaceAfter=No
8\t.\t.\tPUNCT\t_\t_\t1\tpunct\t_\t_
9\t¡\t¡\tPUNCT\t_\t_\t10\tpunct\t_\tSpaceAfter=No
10\tYa\tya\tADV\t_\t_\t1\tparataxis\t_\tSpaceAfter=No
11\t!\t!\tPUNCT\t_\t_\t10\tpunct\t_\tSpaceAfter=No

# sent_id = a-2
# text = Sí .
1\tSí\tsí\tINTJ\t_\t_\t0\troot\t_\t_
2\t.\t.\tPUNCT\t_\t_\t1\tpunct\t_\t_

"""


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def _own_cache(cache, monkeypatch):
    monkeypatch.setenv("DISCOPROBE_CACHE", str(cache))


@pytest.fixture
def read(tmp_path):
    """Read a text as a Spanish file."""

    def read_text(text, name="es_x-ud-dev.conllu", **options) -> Corpus:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        (corpus,) = read_corpora([path], **options).values()
        return corpus

    return read_text


def shard(corpus):
    (only,) = corpus.shards()
    return only


def word(number, form="a", head=None, *, misc="_", **cells):
    head = (0 if number == 1 else 1) if head is None else head
    upos, feats = cells.get("upos", "NOUN"), cells.get("feats", "_")
    return f"{number}\t{form}\t{form.lower()}\t{upos}\t_\t{feats}\t{head}\t{'dep' if head else 'root'}\t_\t{misc}\n"


def sentence(*forms, text=None, comments=()):
    lines = [f"# {comment}\n" for comment in comments]
    lines += [] if text is None else [f"# text = {text}\n"]
    return "".join(lines) + "".join(word(i, form) for i, form in enumerate(forms, 1)) + "\n"


def test_tables_have_the_agreed_columns(read):
    only = shard(read(SPANISH))
    assert dict(only.documents.schema) == DOCUMENTS
    assert dict(only.sentences.schema) == SENTENCES
    assert dict(only.tokens.schema) == TOKENS


@pytest.mark.parametrize("end", ["#</text>", "# end", "\n", "", "#"])
def test_the_last_line_may_be_a_comment_without_a_line_end(read, end):
    assert read(sentence("a") * 5000 + end).counts.sentences == 5000


def test_multiword_tokens_give_their_parts_one_span_and_empty_nodes_no_word(read):
    only = shard(read(SPANISH))
    first = only.tokens.filter(sent=0)
    text = only.sentences["text"][0]
    spans = [text[start:end] for start, end in zip(first["start"], first["end"], strict=True)]
    assert spans == ["Voy", "a", "darle", "darle", "del", "del", "mar", ".", "¡", "Ya", "!"]
    assert first["form"].to_list() == ["Voy", "a", "dar", "le", "de", "el", "mar", ".", "¡", "Ya", "!"]
    assert first["mwt"].to_list() == [None, None, 3, 3, 5, 5, None, None, None, None, None]
    assert only.sentences["n_words"].to_list() == [11, 2]
    assert first["deprel"][6] == "obl:arg"


def test_features_are_expressions(read):
    tokens = shard(read(SPANISH)).tokens
    assert tokens.select(feat("Number")).to_series().drop_nulls().to_list() == ["Sing", "Sing"]
    assert tokens.select(feat("Gender")).to_series().drop_nulls().to_list() == ["Fem,Masc"]


def test_feature_names_match_whole():
    frame = pl.DataFrame({"feats": ["Number[psor]=Plur", "XNumber=1|Number=Sing", None, "A=Number"]})
    assert frame.select(feat("Number")).to_series().to_list() == [None, "Sing", None, None]
    assert frame.select(feat("Number[psor]")).to_series().to_list() == ["Plur", None, None, None]


def test_layers_and_counts(read):
    corpus = read(SPANISH)
    assert corpus.layers == {"lemma", "upos", "feats", "deps", "documents", "text"}
    assert (corpus.n_documents, corpus.n_sentences, corpus.n_words) == (1, 2, 13)


def test_missing_layers(read):
    corpus = read("# text = a b\n1\ta\t_\tX\t_\t_\t_\t_\t_\t_\n2\tb\t_\tX\t_\t_\t_\t_\t_\t_\n")
    assert corpus.layers == {"upos", "text"}
    tokens = shard(corpus).tokens
    for column in ("lemma", "feats", "head", "deprel"):
        assert tokens[column].null_count() == 2


def test_underscore_is_itself_where_the_text_has_one(read):
    corpus = read("# text = _ b\n1\t_\t_\tSYM\t_\t_\t0\troot\t_\t_\n2\tb\t_\tX\t_\t_\t1\tdep\t_\t_\n\n")
    tokens = shard(corpus).tokens
    assert tokens["form"].to_list() == ["_", "b"]
    assert tokens["lemma"].to_list() == ["_", None]


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\ufeff" + text,
        lambda text: text.rstrip("\n"),
        lambda text: text.replace("\n\n", "\n \t\n\n\n"),
        lambda text: "\n\n" + text,
        lambda text: text.replace("# text", "# a comment without a sign\n#text"),
        lambda text: text.replace("# sent_id = ", "# sent_id="),
        lambda text: "# only a comment\n\n" + text,
    ],
    ids=["crlf", "bom", "no final line", "blank lines", "leading lines", "odd comments", "no spaces", "lone comment"],
)
def test_variants_of_the_format_mean_the_same(read, change):
    plain, changed = shard(read(SPANISH)), shard(read(change(SPANISH)))
    assert changed.tokens.equals(plain.tokens)
    assert changed.sentences.equals(plain.sentences)
    assert changed.documents.equals(plain.documents)


def test_gzip_means_the_same(read):
    plain = shard(read(SPANISH))
    packed = shard(read(gzip.compress(SPANISH.encode()), name="es_x-ud-dev.conllu.gz"))
    assert packed.tokens.equals(plain.tokens)
    assert packed.sentences.equals(plain.sentences)


def test_damaged_gzip_is_an_error(read):
    with pytest.raises(CorpusFormatError, match="gzip"):
        read(gzip.compress(SPANISH.encode() * 50)[:-20], name="es_x-ud-dev.conllu.gz")


@pytest.mark.parametrize(
    ("forms", "text", "spans"),
    [
        (["Hà Nội", "đẹp"], "Hà Nội đẹp", [(0, 6), (7, 10)]),
        (["你", "好", "。"], "你好。", [(0, 1), (1, 2), (2, 3)]),
        (["a", "a", "aa"], "a  a\u00a0aa", [(0, 1), (3, 4), (5, 7)]),
        (["😀", "b"], "😀 b", [(0, 1), (2, 3)]),
    ],
    ids=["space in form", "no spaces", "odd spaces", "astral"],
)
def test_offsets_follow_the_text(read, forms, text, spans):
    tokens = shard(read(sentence(*forms, text=text))).tokens
    assert tokens.select("start", "end").rows() == spans


@pytest.mark.parametrize("text", ["a c b", "a", "ab c", "a b c", "b a", "A b"])
def test_tokens_that_are_not_in_the_text_are_not_aligned(read, text):
    only = shard(read(sentence("a", "b", text=text)))
    assert only.sentences["aligned"].to_list() == [False]
    assert only.sentences["text"].to_list() == [text]
    assert only.tokens["start"].null_count() == only.tokens["end"].null_count() == 2


def test_missing_text_is_made_of_the_tokens(read):
    corpus = read(
        word(1, "¡", misc="SpaceAfter=No") + word(2, "Ya", misc="CorrectSpaceAfter=No") + word(3, "no") + "\n"
    )
    only = shard(corpus)
    assert only.sentences["text"].to_list() == ["¡Ya no"]
    assert only.sentences["aligned"].to_list() == [True]
    assert "text" not in corpus.layers


def test_missing_sentence_ids_are_made_of_the_file_name(read):
    only = shard(read(sentence("a") + sentence("b", comments=["sent_id = x"]) + sentence("c")))
    assert only.sentences["sent_id"].to_list() == ["es_x-ud-dev-1", "x", "es_x-ud-dev-3"]


def test_keys_tell_sentences_apart_and_texts_alike(read):
    texts = ["Ya  no", "ya no", "ya nó"]
    only = shard(read("".join(sentence(*text.split(), text=text) for text in texts)))
    assert only.sentences["key"].n_unique() == 3
    keys = only.sentences["text_key"].to_list()
    assert keys[0] == keys[1] != keys[2]


def test_a_foreign_tag_set_is_no_error_but_no_layer(read):
    rows = "".join(word(i, upos=tag) for i, tag in enumerate(["NN", "VV", "PU", "NOUN"], 1))
    corpus = read("# text = a a a a\n" + rows + "\n")
    assert shard(corpus).tokens["upos"].null_count() == 4
    assert corpus.layers == {"lemma", "text"}
    assert corpus.notes == (
        "es_x: the UPOS column of es_x-ud-dev holds other tags than the universal ones (NN PU VV …): not read",
    )


BAD = {
    "columns": ("1\ta\tb\n", 1, "3 columns where a word line has 10"),
    "more columns": (word(1).rstrip() + "\tx\n", 1, "11 columns"),
    "id": (word("1a"), 1, "Failed parsing field 'id': '1a' is not a valid ID."),
    "leading zero": (word("01"), 1, "'01' is not a valid ID"),
    "id sequence": (word(1) + word(3), 2, "ID 3 where 2 was expected"),
    "id again": (word(1) + word(1), 2, "ID 1 where 2 was expected"),
    "head": (word(1, head="x"), 1, "Failed parsing field 'head': 'x' is not a valid value"),
    "negative head": (word(1, head="-1"), 1, "HEAD '-1' is not a word number"),
    "head range": (word(1) + word(2, head=31), 2, "HEAD 31 points outside the sentence (2 words)"),
    "large head": (word(1) + word(2, head=10**12), 2, "HEAD"),
    "some heads": (word(1) + word(2, head="_"), 2, "HEAD is missing here"),
    "no root": (word(1, head=2) + word(2, head=1), 1, "no root"),
    "two roots": (word(1) + word(2, head=0), 2, "a second word with HEAD 0"),
    "cycle": (word(1) + word(2, head=3) + word(3, head=2), 2, "run in a circle"),
    "own head": (word(1) + word(2, head=2), 2, "run in a circle"),
    "upos": (word(1) + word(2) + word(3, upos="NOMEN"), 3, "unknown UPOS 'NOMEN'"),
    "feats": (word(1, feats="Number"), 1, "FEATS 'Number' is not of the form"),
    "feats twice": (word(1, feats="A=x|A=y"), 1, "FEATS 'A=x|A=y'"),
    "empty cell": (word(1, form=""), 1, "a column is empty"),
    "range": ("2-3\tab\t_\t_\t_\t_\t_\t_\t_\t_\n" + word(1) + word(2), 1, "multiword token 2-3"),
    "long range": ("1-3\tab\t_\t_\t_\t_\t_\t_\t_\t_\n" + word(1) + word(2), 1, "multiword token 1-3"),
    "empty range": (word(1) + "2-1\tab\t_\t_\t_\t_\t_\t_\t_\t_\n" + word(2), 2, "multiword token 2-1"),
    "overlap": (
        "1-2\tab\t_\t_\t_\t_\t_\t_\t_\t_\n" + word(1) + "2-3\tab\t_\t_\t_\t_\t_\t_\t_\t_\n" + word(2) + word(3),
        3,
        "multiword token 2-3",
    ),
    "no words": ("1.1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n", 1, "no words"),
    "carriage return": (word(1) + word(2, "a\rb"), 2, "a carriage return inside the line"),
    "carriage return in a comment": ("# text = a\rb\n" + word(1), 1, "a carriage return inside the line"),
    "encoding": (b"# text = caf\xe9\n" + word(1).encode(), 1, "invalid UTF-8: byte 0xe9 at position 13"),
}


def as_bytes(text):
    return text if isinstance(text, bytes) else text.encode()


@pytest.mark.parametrize(("text", "line", "problem"), BAD.values(), ids=BAD)
def test_an_error_names_file_line_and_sentence(read, tmp_path, text, line, problem):
    before = sentence("a", comments=["sent_id = ok-1"]) + "# sent_id = bad-1\n"
    with pytest.raises(CorpusFormatError) as caught:
        read(before.encode() + as_bytes(text) + b"\n")
    assert problem in str(caught.value)
    assert caught.value.line == before.count("\n") + line
    assert str(caught.value).startswith(f"{tmp_path / 'es_x-ud-dev.conllu'}:{caught.value.line} (sent_id ")
    assert "\n" not in str(caught.value)


def test_a_file_with_other_columns_is_not_read_at_all(read):
    text = "# global.columns = ID FORM UPOS\n" + sentence("a") + sentence("b")
    with pytest.raises(CorpusFormatError, match=r":1: the file's columns \(global.columns\) are not ID FORM LEMMA"):
        read(text)
    assert read(text, on_error="skip").drops == {"columns": 2}
    assert read(text.replace("ID FORM UPOS", "ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC")).n_sentences == 2


@pytest.mark.parametrize("text", [text for text, _, _ in BAD.values()])
def test_a_bad_sentence_can_be_skipped_and_breaks_the_run(read, text):
    good = [sentence("a", comments=[f"sent_id = d-{i}", *(["newdoc id = d"] if i == 1 else [])]) for i in (1, 2, 4, 5)]
    whole = "".join(good[:2]).encode() + b"# sent_id = d-3\n" + as_bytes(text) + b"\n" + "".join(good[2:]).encode()
    corpus = read(whole, on_error="skip")
    sentences = shard(corpus).sentences
    assert sentences["sent_id"].to_list() == ["d-1", "d-2", "d-4", "d-5"]
    assert sentences["run"].to_list() == [0, 0, 1, 1]
    assert sentences["index"].to_list() == [0, 1, 2, 3]
    assert sum(corpus.drops.values()) == 1
    assert len(corpus.drop_places) == 1
    assert corpus.drop_places[0].startswith("es_x/es_x-ud-dev.conllu:")


def test_sentence_ids_do_not_repeat_in_a_file(read):
    text = sentence("a", comments=["sent_id = x"]) + sentence("b", comments=["sent_id = x"])
    with pytest.raises(CorpusFormatError, match=r":4 \(sent_id x\): sent_id x occurs earlier"):
        read(text)
    assert shard(read(text, on_error="skip")).tokens["form"].to_list() == ["a"]


def test_the_first_of_several_errors_is_reported(read):
    with pytest.raises(CorpusFormatError, match=":1: "):
        read(word(1, feats="x") + "\n" + "1\ta\n\n")


def test_places_of_dropped_sentences_are_capped(read):
    corpus = read("1\ta\n\n" * 300 + sentence("a"), on_error="skip")
    assert corpus.drops == {"columns": 300}
    assert len(corpus.drop_places) == reader.PLACES


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n"])
def test_a_file_without_sentences_gives_empty_tables(read, text):
    corpus = read(text)
    assert (corpus.n_sentences, corpus.n_words, corpus.layers) == (0, 0, frozenset())
    assert all(part.tokens.is_empty() for part in corpus.shards())


def facts(_path, _digest):
    return Source("UD_X", "es", "CC0", "r", "c", "z", documents=DocumentRule("sent_id", r"^(\w+)-"))


@pytest.mark.parametrize("known", [facts, lambda *_: None], ids=["by id", "newdoc"])
@pytest.mark.parametrize("size", [300, 1000, 4000])
def test_a_large_file_is_read_in_stretches(read, monkeypatch, known, size):
    text = "".join(
        sentence("a", "b", text="a b", comments=[*(["newdoc"] if i % 5 == 0 else []), f"sent_id = d{i // 5}-{i % 5}"])
        for i in range(100)
    )
    whole = shard(read(text, facts=known))
    monkeypatch.setattr(reader, "LARGE", size)
    monkeypatch.setattr(reader, "SMALL", 0)
    parts = list(read(text, facts=known).shards())
    assert len(parts) > 2
    together = pl.concat([part.sentences.join(part.documents, on="doc") for part in parts])
    wanted = whole.sentences.join(whole.documents, on="doc")
    columns = ["sent_id", "text", "text_key", "doc_id", "index", "aligned", "n_words"]
    assert together.select(columns).equals(wanted.select(columns))
    # a document that is cut has one key, too: that of its first part
    assert together.group_by("doc_id").agg(pl.col("key_right").n_unique())["key_right"].max() == 1
    if size >= 1000:
        assert together.select("key", "key_right").equals(wanted.select("key", "key_right"))
    assert pl.concat([part.tokens for part in parts]).drop("sent").equals(whole.tokens.drop("sent"))
    assert all(part.sentences["index"][0] == 0 for part in parts) is (size >= 1000)


def test_an_error_in_a_later_stretch_has_its_line(read, monkeypatch):
    monkeypatch.setattr(reader, "LARGE", 500)
    monkeypatch.setattr(reader, "SMALL", 0)
    text = "".join(sentence("a", "b", text="a b") for _ in range(50))
    with pytest.raises(CorpusFormatError, match=f":{text.count(chr(10)) + 1}: "):
        read(text + "1\ta\n\n")


# Properties

letters = st.text(st.characters(codec="utf-8", categories=["L", "N", "S", "M"]), min_size=1, max_size=6)
names = st.text("ABCabc", min_size=1, max_size=3)
features = st.dictionaries(names, names, max_size=3).map(
    lambda pairs: "|".join(f"{name}={value}" for name, value in pairs.items()) or "_",
)


@st.composite
def sentences(draw):
    """A well-formed sentence, as lines, with what its words should be."""
    n = draw(st.integers(1, 8))
    root = draw(st.integers(1, n))
    order = draw(st.permutations([i for i in range(1, n + 1) if i != root]))
    heads = {root: 0}
    for i in order:
        heads[i] = draw(st.sampled_from(sorted(heads)))
    starts = draw(st.lists(st.integers(1, n), max_size=2, unique=True))
    ranges, last = {}, 0
    for first in sorted(starts):
        end = draw(st.integers(first, n))
        if first > last and end > first:
            ranges[first], last = end, end
    lines, words, surfaces, inside = [], [], [], 0
    for i in range(1, n + 1):
        space = draw(st.booleans())
        misc = "_" if space else "SpaceAfter=No"
        if i in ranges:
            form = draw(letters)
            lines.append(f"{i}-{ranges[i]}\t{form}\t_\t_\t_\t_\t_\t_\t_\t{misc}")
            surfaces.append((form, space))
            inside = ranges[i]
        form, lemma, upos = draw(letters), draw(letters), draw(st.sampled_from(UPOS.categories.to_list()))
        feats = draw(features)
        lines.append(f"{i}\t{form}\t{lemma}\t{upos}\t_\t{feats}\t{heads[i]}\tdep\t_\t{misc}")
        if i > inside:
            surfaces.append((form, space))
        words.append((i, form, lemma, upos, None if feats == "_" else feats, heads[i], len(surfaces) - 1))
        if draw(st.integers(0, 9)) == 0:
            lines.append(f"{i}.1\t{draw(letters)}\t_\t_\t_\t_\t_\t_\t_\t_")
    text = "".join(form + " " * space for form, space in surfaces).strip()
    given_text = draw(st.booleans())
    return ([f"# text = {text}"] if given_text else []) + lines, words, text, [form for form, _ in surfaces]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(sentences(), min_size=1, max_size=5))
def test_what_is_written_is_read(read, drawn):
    only = shard(read("".join("\n".join(lines) + "\n\n" for lines, *_ in drawn)))
    tokens = only.tokens.with_columns(pl.col("upos").cast(pl.String)).partition_by("sent", maintain_order=True)
    for (_, words, text, surfaces), found, record in zip(
        drawn,
        tokens,
        only.sentences.iter_rows(named=True),
        strict=True,
    ):
        assert found.select("index", "form", "lemma", "upos", "feats", "head").rows() == [word[:6] for word in words]
        assert record["text"] == text
        assert record["aligned"]
        spans = zip(found["start"], found["end"], strict=True)
        assert [text[start:end] for start, end in spans] == [surfaces[word[6]] for word in words]


SAMPLE = (SPANISH + SPANISH.replace("a-", "b-").replace("id = a", "id = b")).encode()
OPERATIONS = ("delete", "insert", "flip", "cut", "drop line", "repeat line", "drop cell", "swap lines", "renumber")


def corrupt(data, operation, at, byte):  # noqa: PLR0911 - one return per operation
    """A damaged copy of a file: ``at`` and ``byte`` (0 to 1) say where and with what."""
    lines = data.split(b"\n")
    where, line = int(at * (len(data) - 1)), int(at * (len(lines) - 1))
    other = int(byte * (len(lines) - 1))
    match operation:
        case "delete":
            return data[:where] + data[where + 1 + int(byte * 20) :]
        case "insert":
            return data[:where] + bytes([int(byte * 255)]) + data[where:]
        case "flip":
            return data[:where] + bytes([int(byte * 255)]) + data[where + 1 :]
        case "cut":
            return data[:where]
        case "drop line":
            return b"\n".join(lines[:line] + lines[line + 1 :])
        case "repeat line":
            return b"\n".join(lines[: line + 1] + lines[line:])
        case "swap lines":
            lines[line], lines[other] = lines[other], lines[line]
            return b"\n".join(lines)
        case "renumber":
            cells = lines[line].split(b"\t")
            cells[0 if byte < 0.5 or len(cells) < 7 else 6] = str(int(byte * 30) - 2).encode()
            lines[line] = b"\t".join(cells)
            return b"\n".join(lines)
        case _:
            cells = lines[line].split(b"\t")
            lines[line] = b"\t".join(cells[: int(byte * len(cells))] + cells[int(byte * len(cells)) + 1 :])
            return b"\n".join(lines)


def reference(data):
    """Words of the sentences that have some, by the conllu library."""
    text = data.decode().removeprefix("\ufeff").replace("\r\n", "\n")
    found = conllu.parse_incr(io.StringIO(text))
    words = [
        [
            (t["id"], t["form"], t["head"], t["deprel"] if t["deprel"] != "_" else None)
            for t in s
            if isinstance(t["id"], int)
        ]
        for s in found
    ]
    return [part for part in words if part]


def check_corruption(read, data):
    corpus, error = None, None
    try:
        corpus = read(data)
    except CorpusFormatError as raised:
        error = raised
    if corpus is None:
        assert error.path.endswith("es_x-ud-dev.conllu")
        assert 1 <= error.line <= data.count(b"\n") + 1
        assert str(error).startswith(f"{error.path}:{error.line}")
        return
    parts = [part for one in corpus.shards() for part in one.tokens.partition_by("sent", maintain_order=True)]
    assert [part.select("index", "form", "head", "deprel").rows() for part in parts] == reference(data)


@settings(max_examples=250, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.sampled_from(OPERATIONS), st.floats(0, 1), st.floats(0, 1))
def test_a_damaged_file_loads_as_the_reference_or_is_a_format_error(read, operation, at, byte):
    check_corruption(read, corrupt(SAMPLE, operation, at, byte))


REAL = [UD / "en/GUM-open/GUM_bio_chao.conllu", UD / "te/UD_Telugu-MTG/te_mtg-ud-dev.conllu"]


@pytest.mark.skipif(not REAL[0].exists(), reason="no ../shared with corpora beside the repository")
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.sampled_from(REAL), st.sampled_from(OPERATIONS), st.floats(0, 1), st.floats(0, 1))
def test_a_damaged_real_file_loads_as_the_reference_or_is_a_format_error(read, path, operation, at, byte):
    check_corruption(read, corrupt(path.read_bytes(), operation, at, byte))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.sampled_from(OPERATIONS), st.floats(0, 1), st.floats(0, 1))
def test_skipping_leaves_only_sentences_that_stopping_accepts(read, operation, at, byte):
    corpus = read(corrupt(SAMPLE, operation, at, byte), on_error="skip")
    dropped = sum(corpus.drops.values())
    assert len(corpus.drop_places) == dropped
    assert corpus.n_sentences + dropped >= 1 or not corpus.n_words
