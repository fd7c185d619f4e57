"""Coreference in CoNLL-2012 and brat: what is read, the second files, what is malformed, and recounts of corpora."""

import hashlib
import re
from collections import Counter

import pytest
from coreference_counts import of_brat, of_conll
from file_server import serving
from shared import SHARED

from discoprobe.loaders import CorpusFormatError, DiscoprobeError
from discoprobe.loaders.catalogue import treebanks
from discoprobe.loaders.catalogue.treebanks import DocumentRule, Treebank
from discoprobe.loaders.conllu import find_files, read_corpora
from discoprobe.loaders.fetch import fetch
from discoprobe.loaders.files import File
from discoprobe.loaders.raw.segmentation import sentence_spans

CONLL = """\
#begin document (story); part 0
story\t0\t0\tAnna\tNNP\t(0)
story\t0\t1\tsaw\tVBD\t-
story\t0\t2\ther\tPRP$\t(2|(0)
story\t0\t3\told\tJJ\t_
story\t0\t4\tdog\tNN\t2)
story\t0\t5\t.\t.\t(3

story\t0\t0\t"\t``\t-
story\t0\t1\tIt\tPRP\t(2)
story\t0\t2\tis\tVBZ\t3)
story\t0\t3\tn't\tRB\t-
story\t0\t4\told\tJJ\t-
story\t0\t5\t,\t,\t-
story\t0\t6\t"\t''\t-
story\t0\t7\tshe\tPRP\t(0)
story\t0\t8\tsaid\tVBD\t-
story\t0\t9\t.\t.\t-

#end document
#begin document (story); part 1
story   1   0   Everybody   NN   (0
story   1   1   laughed     VBD  0)

#end document
"""
LITBANK = (
    "MENTION\tT1\t0\t0\t0\t0\tAnna\tPER\tPROP\nMENTION\tT2\t0\t2\t0\t4\ther old dog\tANIMAL\tNOM\nCOREF\tT1\tAnna-0\n"
)
OPENBOEK = (
    "filename\tsentno\tbegin\tend\tgender\tnumber\tcategory\tmentions\n"
    "story\t0\t0\t1\tf\tsg\tPER\tAnna, her, she\nstory\t0\t2\t5\tn\tsg\tANIMAL\ther old dog, It\n"
)
TEXT = "Anne\n \nL'ami d'Anne, le Dr. Blanc, rit. Elle dit à son\nami : « Non. »\n"
BRAT = "".join(
    f"T{n}\t{kind} {span}\t…\n"
    for n, kind, span in [
        (1, "PER", "0 4"), (2, "PER", "7 19"), (3, "PER", "15 19"), (4, "PER", "21 33"), (5, "PER", "40 44"),
        (6, "PER", "51 58"), (7, "PER", "7 12;28 33"),
    ]
) + """\
R1\tCoreference Arg1:T3 Arg2:T1
R2\tCoreference Arg1:T5 Arg2:T3
*\tEquiv T2 T4
#1\tAnnotatorNotes T1\tn
"""  # fmt: skip


COLUMNS = ["sent", "entity", "words", "head", "type", "kind", "gender", "number"]
"""Those that are compared; the others are of GUM."""


def write(folder, **files):
    """Files in a folder; ``conll__story_conll`` is ``conll/story.conll``."""
    for name, text in files.items():
        path = folder / re.sub(r"_(\w+)$", r".\1", name.replace("__", "/"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    return folder


def shards(path, lang="en", **options):
    (corpus,) = read_corpora([path], lang=lang, find_sentences=sentence_spans, **options).values()
    return corpus, list(corpus.shards())


def rows(shard):
    """Each mention: sentence, entity, its text, type, kind, gender and number."""
    words = {(sent, n): form for sent, n, form in shard.tokens.select("sent", "index", "form").iter_rows()}
    ids = dict(shard.sentences.select("sent", "sent_id").iter_rows())
    return [
        (ids[sent], entity, " ".join(words[sent, n] for n in numbers), *facts)
        for sent, entity, numbers, head, *facts in shard.mentions.select(COLUMNS).iter_rows()
    ]


def test_columns_of_conll_2012_are_sentences_and_mentions(tmp_path):
    corpus, (shard,) = shards(write(tmp_path, conll__story_conll=CONLL))
    assert shard.documents["doc_id"].to_list() == ["story", "story.1"]
    assert shard.sentences["text"].to_list() == [
        "Anna saw her old dog.",
        '"It isn\'t old," she said.',
        "Everybody laughed",
    ]
    nothing = (None, None)
    assert rows(shard) == [
        ("story-1", "0", "Anna", None, "PROP", *nothing), ("story-1", "0", "her", None, "PRON", *nothing),
        ("story-1", "2", "her old dog", None, "NOM", *nothing), ("story-2", "2", "It", None, "PRON", *nothing),
        ("story-2", "0", "she", None, "PRON", *nothing), ("story.1-1", "0", "Everybody laughed", None, "NOM", *nothing),
    ]  # fmt: skip
    assert corpus.layers == {"documents", "coreference"}, "no tags, no trees, no text of its own"


@pytest.mark.parametrize(("place", "text", "facts"), [
    ("tsv__story_ann", LITBANK, [
        ("PER", "PROP", None, None), (None, "PRON", None, None), ("ANIMAL", "NOM", None, None),
    ]),
    ("features__story_tsv", OPENBOEK, [
        ("PER", "PROP", "Fem", "Sing"), ("PER", "PRON", "Fem", "Sing"), ("ANIMAL", "NOM", "Neut", "Sing"),
    ]),
])  # fmt: skip
def test_a_second_file_has_facts_about_mentions(place, text, facts, tmp_path):
    folder = write(tmp_path, conll__story_conll=CONLL, **{place: text})
    corpus, (shard,) = shards(folder)
    assert [row[3:] for row in rows(shard)[:3]] == facts
    assert len(corpus.sources[0].files) == 2
    write(folder, **{place: text.replace("ANIMAL", "PET")})
    assert "PET" in shards(folder)[1][0].mentions["type"].to_list(), "it belongs to what the cache compares"
    bad = write(folder, **{place: text + "MENTION\tstory\tx\t1\n"})
    second = next(path for path in bad.rglob("story.*") if path.suffix != ".conll")
    with pytest.raises(CorpusFormatError, match=re.escape(f"{second}:4: expected the cells of a mention of LitBank")):
        shards(bad)


def test_brat_is_cut_at_sentences_words_and_edges_of_mentions(tmp_path):
    corpus, (shard,) = shards(write(tmp_path, fr__story_ann=BRAT, fr__story_txt=TEXT), "fr")
    assert shard.sentences["text"].to_list() == [
        "Anne", "L'ami d'Anne, le Dr. Blanc, rit.", "Elle dit à son", "ami : « Non. »",
    ]  # fmt: skip
    assert [(row[1], row[2], row[3]) for row in rows(shard)] == [
        ("T1", "Anne", "PER"), ("T7", "L' ami Blanc", "PER"), ("T2", "L' ami d' Anne", "PER"), ("T1", "Anne", "PER"),
        ("T2", "le Dr . Blanc", "PER"), ("T1", "Elle", "PER"),
    ], "T6 goes on in the next line"  # fmt: skip
    assert corpus.layers == {"documents", "coreference", "text"}


SACR = """\
#COLOR:Anne=hsl(0, 100%, 80%)
{Anne:EN="p PER" Anne}

{M1:EN="p PER",note="x" L'ami d'{Anne:EN="p PER" Anne}, le Dr. Blanc}, rit. {Anne:EN="p" Elle} {P:EN="l" }dit : « Non. »
"""


def test_sacr_has_mentions_in_its_text(tmp_path):
    corpus, (shard,) = shards(write(tmp_path, fr__story_sacr=SACR), "fr")
    assert shard.sentences["text"].to_list() == [
        "Anne", "L'ami d'Anne, le Dr. Blanc, rit.", "Elle dit : « Non. »"
    ]  # fmt: skip
    assert [(row[1], row[2], row[3]) for row in rows(shard)] == [
        ("Anne", "Anne", "PER"), ("M1", "L' ami d' Anne , le Dr . Blanc", "PER"), ("Anne", "Anne", "PER"),
        ("Anne", "Elle", "p"),
    ]  # fmt: skip
    assert corpus.layers == {"documents", "coreference", "text"}


TOKENISED = """\
Ola |
" Hei , " sa Ola den 11. mai . Han lo .
og gikk .
"""
MARKABLES = "".join(
    f"T{n}\tMarkable {span}\t…\n" for n, span in enumerate(["0 3", "19 22", "27 34", "37 40", "32 34", "8 20"], 1)
)


def test_tokenised_brat_is_closed_up_and_ends_sentences_at_marks(tmp_path):
    text, relations = TOKENISED, "R1\tCoref Arg1:T2 Arg2:T1\nR2\tCoref Arg1:T4 Arg2:T2\n"
    corpus, (shard,) = shards(write(tmp_path, no__story_ann=MARKABLES + relations, no__story_txt=text), "no")
    assert shard.sentences["text"].to_list() == ["Ola |", '"Hei," sa Ola den 11. mai.', "Han lo.", "og gikk."]
    assert [(row[1], row[2], row[3]) for row in rows(shard)] == [
        ("T1", "Ola", None), ("T1", "Ola", None), ("T3", "11. mai", None), ("T1", "Han", None),
    ], "T5 and T6 begin or end inside a word; every span is a markable, which is no type"  # fmt: skip
    assert corpus.layers == {"documents", "coreference"}, "its blanks are not those of the text"


WEBANNO = """\
#FORMAT=WebAnno TSV 3.2
#T_SP=x.MorphologicalFeatures|gender|value
#T_SP=x.POS|PosValue|coarseValue
#T_CH=x.CoreferenceLink|referenceRelation|referenceType
#T_RL=x.Dependency|DependencyType|flavor|BT_x.POS


#Text=Vecā Anna nāk.
1-1\t0-4\tVecā\t_\t_\tafs\t*\t*->1-1\t*[1]\tamod\tbasic\t1-2\t
1-2\t5-9\tAnna\t_\tGender=Fem\\|Number=Sing\tnpf\t*\t*->1-1|*->2-1\t*[1]|*[2]\tnsubj\tbasic\t1-3\t
1-3\t10-13\tnāk\t_\t_\tvm\t*\t_\t_\troot\tbasic\t1-3\t
1-4\t13-14\t.\t_\t_\tzs\t*\t_\t_\tpunct\tbasic\t1-3\t

#Text=Viņa!
2-1\t15-19\tViņa\t_\tGender=Fem\\|Number=Sing\tpp3\t*\t*->1-2\t*[1]\troot\tbasic\t2-1\t
2-2\t19-20\t!\t_\t_\tzs\t*\t_\t_\tpunct\tbasic\t2-1\t
"""
KNP = """\
# S-ID:d-01 KNP:5
* 1D
+ 1D
足利 x x 名詞 6 人名 5 * 0
　 x x 特殊 1 空白 6 * 0
+ 2D <NE:PERSON:足利尊氏>
尊氏 x x 名詞 6 人名 5 * 0
は x x 助詞 9 副助詞 2 * 0
* -1D
+ -1D <rel type="ガ" target="尊氏" sid="d-01" id="1"/>
武将 x x 名詞 6 普通名詞 1 * 0
。 x x 特殊 1 句点 1 * 0
EOS
# S-ID:d-02 括弧始:（ KNP:5
* -1D
+ -1D <rel type="=" target="尊氏" sid="d-01" id="1"/>
源氏 x x 名詞 6 人名 5 * 0
EOS
# S-ID:d-03 KNP:5
* -1D
+ -1D <rel type="=" target="源氏" sid="d-02" id="0"/>
彼 x x 指示詞 7 名詞形態指示詞 1 * 0
だ x x 判定詞 4 * 0 判定詞 25
EOS
"""


@pytest.mark.parametrize(("suffix", "lang", "text", "sentences", "mentions"), [
    ("tsv", "lv", WEBANNO, ["Vecā Anna nāk.", "Viņa!"], [
        ("f-1", "1", "Vecā Anna", None, "PROP", None, None), ("f-1", "2", "Anna", None, "PROP", "Fem", "Sing"),
        ("f-2", "1", "Viņa", None, "PRON", "Fem", "Sing"),
    ]),
    ("knp", "ja", KNP, ["足利尊氏は武将。", "彼だ"], [
        ("f-1", "d-01 1", "足利 尊氏", "PERSON", "PROP", None, None), ("f-2", "d-01 1", "彼", None, "PRON", None, None),
    ]),
])  # fmt: skip
def test_other_formats_give_the_same_tables(suffix, lang, text, sentences, mentions, tmp_path):
    _, (shard,) = shards(write(tmp_path, **{f"{lang}__f_{suffix}": text}), lang)
    assert shard.sentences["text"].to_list() == sentences
    assert rows(shard) == mentions


MALFORMED = {
    ("conll", CONLL.replace("2)", "-", 1)): (4, "(2 opens a mention that no bracket closes"),
    ("conll", CONLL.replace("(2|(0)", "(0)")): (6, "2) closes a mention that no bracket opens"),
    ("conll", CONLL.replace("(2|(0)", "(2(0)")): (4, "'(2(0)' is malformed"),
    ("conll", CONLL.replace("\t2\ther", "\t7\ther")): (4, "expected the cells document, part, 2, word, tag"),
    ("conll", "#begin document (d)\nd\t0\t0\n"): (2, "expected the cells document, part, 0, word, tag"),
    ("ann", BRAT.replace("40 44", "40 440")): (5, "expected a mention of the text, which has 70 characters"),
    ("ann", BRAT.replace("T5", "T4", 1)): (5, "T4 is in line 4 too; rename one"),
    ("ann", BRAT.replace("Arg2:T1", "Arg2:T9")): (8, "T9 is no mention of the file"),
    ("ann", BRAT.replace(" Arg2:T1", "")): (8, "expected a relation of two mentions"),
    ("ann", f"{BRAT}x\n"): (12, "expected a line of brat"),
    ("sacr", SACR.replace("Anne}, le", "Anne, le")): (4, "{M1: opens a mention that no } closes"),
    ("sacr", f"{SACR}\n}}"): (6, "} belongs to no mention"),
    ("sacr", SACR.replace(":EN", "EN", 1)): (2, "{ belongs to no mention"),
    ("tsv", WEBANNO.replace("*->1-2", "*->x")): (15, "'*->x' is malformed; expected *->7-2"),
    ("tsv", f"{WEBANNO}x\n"): (17, "expected a word such as 1-1"),
    ("knp", KNP.replace('sid="d-02"', 'sid="story-09"')): (21, "there is no base phrase story-09 0"),
    ("knp", KNP.replace("は x x 助詞", "は")): (8, "expected a word with its cells"),
}


@pytest.mark.parametrize("case", MALFORMED, ids=[message for _, message in MALFORMED.values()])
def test_what_is_malformed_is_named_with_file_and_line(case, tmp_path):
    (suffix, text), (line, message) = case, MALFORMED[case]
    folder = write(tmp_path, **{f"fr__story_{suffix}": text, "fr__story_txt": TEXT})
    with pytest.raises(CorpusFormatError) as caught:
        shards(folder / "fr" / f"story.{suffix}", "fr")
    assert str(caught.value).startswith(f"{folder / 'fr' / f'story.{suffix}'}:{line}: {message}")
    assert shards(folder / "fr" / f"story.{suffix}", "fr", on_error="skip")[0].drops.keys() == {"malformed-mention"}


def test_only_files_of_coreference_are_found(tmp_path):
    """Other formats have the same suffixes, and second files are no files of their own."""
    folder = write(
        tmp_path, conll__story_conll=CONLL, tsv__story_ann=LITBANK, conll__other_conll="1\tw\t_\n", brat__text_txt=TEXT,
        brat__text_ann=BRAT, brat__lone_ann=BRAT,
    )  # fmt: skip
    found = [path.relative_to(folder).as_posix() for path in find_files([folder])]
    assert found == ["brat/text.ann", "conll/story.conll"]
    assert [*find_files([folder / "tsv" / "story.ann", folder / "brat" / "text.txt"])] == [
        folder / "brat" / "text.ann", folder / "conll" / "story.conll",
    ]  # fmt: skip
    with pytest.raises(DiscoprobeError, match=r"lone\.txt is missing beside it"):
        shards(folder / "brat" / "lone.ann", "fr")


def test_corpora_of_the_catalogue_arrive_with_their_second_files(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCOPROBE_CACHE", str(tmp_path / "cache"))
    texts = {
        "coref/conll/0.conll": CONLL,
        "coref/tsv/0.ann": LITBANK,
        "more/conll/0.conll": CONLL.replace("story", "tale"),
    }
    contents = {path: text.encode() for path, text in texts.items()}
    files = tuple(
        File(
            path, hashlib.sha256(data).hexdigest(), len(data), hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
        )
        for path, data in contents.items()
    )  # fmt: skip
    bank = Treebank(
        name="Tiny", prefix="en_tiny", lang="en", repo="o/tiny", commit="a" * 40, licence="CC BY 4.0", citation="",
        documents=DocumentRule("newdoc"), genre=(), files=files, layers=("coreference",), default=False,
    )  # fmt: skip
    with serving({f"o/tiny/{'a' * 40}/{path}": data for path, data in contents.items()}) as server:
        monkeypatch.setattr(treebanks, "HOST", server.url)
        paths = fetch([bank])
    (corpus,) = read_corpora(paths, facts=lambda *_: bank.facts).values()
    assert corpus.sources[0].licence == "CC BY 4.0"
    assert [file.path for file in corpus.sources[0].files] == [
        "coref/conll/0.conll",
        "coref/tsv/0.ann",
        "more/conll/0.conll",
    ]
    (shard,) = corpus.shards()
    assert shard.documents["doc_id"].to_list() == ["story", "story.1", "tale", "tale.1"]
    assert Counter(shard.mentions["type"].drop_nulls()) == {"PER": 1, "ANIMAL": 1}


COREF = SHARED / "corpora" / "coref"


@pytest.mark.slow
@pytest.mark.skipif(not COREF.is_dir(), reason="no ../shared with corpora of coreference")
def test_recounts_of_corpora_agree():
    of_dutch, of_french, chains = recount(COREF / "nl"), *recount_brat(COREF / "fr")
    assert of_dutch.total() > 5000
    assert of_french.total() > 10_000
    assert chains > 1000


def recount(folder, lang="nl"):
    """Compare the mentions of CoNLL-2012 that are read with those that are counted."""
    expected = sum((of_conll(path.read_bytes().decode()) for path in folder.rglob("*.conll")), Counter())
    found = Counter()
    for shard in shards(folder, lang)[1]:
        docs = dict(shard.sentences.join(shard.documents, on="doc").select("sent_id", "doc_id").iter_rows())
        found.update((docs[sent_id], entity, text) for sent_id, entity, text, *_ in rows(shard))
    assert not (differences := {key: (found[key], n) for key, n in expected.items() if found[key] != n}), differences
    assert found.total() == expected.total()
    return found


def recount_brat(folder, lang="fr", *, tokenised=False):
    """Compare the mentions of brat that are read, and the sizes of their chains, with those that are counted."""
    expected, sizes, found, chains = Counter(), [], Counter(), Counter()
    for path in folder.rglob("*.ann"):
        text = path.with_suffix(".txt").read_bytes().decode().replace("\r", "\n")
        counted, of_file = of_brat(text, path.read_text(encoding="utf-8"), path.stem, tokenised=tokenised)
        expected, sizes = expected + counted, sizes + of_file
    for shard in shards(folder, lang)[1]:
        docs = dict(shard.sentences.join(shard.documents, on="doc").select("sent_id", "doc_id").iter_rows())
        for sent_id, entity, text, *_ in rows(shard):
            found[docs[sent_id], re.sub(r"\s", "", text)] += 1
            chains[docs[sent_id], entity] += 1
    assert not (differences := {key: (found[key], n) for key, n in expected.items() if found[key] != n}), differences
    assert found.total() == expected.total()
    assert sorted(chains.values()) == sorted(sizes)
    return found, len(chains)
