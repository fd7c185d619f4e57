"""The sample corpus that ships in the package is Universal Dependencies, and large and varied enough."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections import Counter
from itertools import pairwise
from pathlib import Path

import conllu
import pytest

from discoprobe.loaders.conllu import read_corpora

SAMPLE = Path(__file__).parents[2] / "loaders" / "sample"
FILES = sorted(SAMPLE.glob("*.conllu"))


def language(path):
    return path.name.partition("_")[0]


LANGUAGES = {"de", "en", "es", "ru"}

RELATIONS = """acl advcl advmod amod appos aux case cc ccomp clf compound conj cop csubj dep det discourse dislocated
    expl fixed flat goeswith iobj list mark nmod nsubj nummod obj obl orphan parataxis punct reparandum root vocative
    xcomp"""
# Subtypes and features are those of the treebanks the annotation follows, Typo aside: German-GSD, English-GUM and -PUD,
# Spanish-AnCora and -GSD, Russian-GSD and -Taiga.
SUBTYPES = {
    "de": """acl:relcl aux:pass compound:prt csubj:pass det:poss expl:pv nmod:poss nsubj:pass obl:agent obl:arg
        obl:tmod""",
    "en": """acl:relcl advcl:relcl aux:pass cc:preconj compound:prt csubj:pass det:predet nmod:desc nmod:poss
        nmod:unmarked nsubj:outer nsubj:pass obl:agent obl:unmarked""",
    "es": "acl:relcl aux:pass expl:impers expl:pass expl:pv nsubj:pass obl:agent obl:arg",
    "ru": """acl:relcl aux:pass csubj:outer csubj:pass flat:foreign flat:name nsubj:outer nsubj:pass nummod:entity
        nummod:gov obl:agent obl:depict obl:float obl:tmod parataxis:discourse""",
}
FEATURES = {
    "de": """Case=Acc,Dat,Gen,Nom Definite=Def,Ind Degree=Cmp,Pos,Sup ExtPos=ADV,DET Foreign=Yes Gender=Fem,Masc,Neut
        Gender[psor]=Fem,Masc,Neut Mood=Imp,Ind,Sub NumType=Card,Ord Number=Plur,Sing Number[psor]=Plur,Sing
        Person=1,2,3 Polarity=Neg Polite=Form Poss=Yes PronType=Art,Dem,Emp,Ind,Int,Neg,Prs,Rel,Tot Reflex=Yes
        Tense=Past,Pres VerbForm=Fin,Inf,Part Voice=Pass""",
    "en": """Abbr=Yes Case=Acc,Gen,Nom Definite=Def,Ind Degree=Cmp,Pos,Sup ExtPos=ADP,ADV,CCONJ,PRON,SCONJ Foreign=Yes
        Gender=Fem,Masc,Neut Mood=Imp,Ind,Sub NumForm=Combi,Digit,Roman,Word NumType=Card,Frac,Mult,Ord
        Number=Plur,Ptan,Sing Person=1,2,3 Polarity=Neg,Pos Poss=Yes
        PronType=Art,Dem,Emp,Ind,Int,Neg,Prs,Rcp,Rel,Tot Reflex=Yes Style=Coll,Expr,Vrnc Tense=Past,Pres
        VerbForm=Fin,Ger,Inf,Part Voice=Pass""",
    "es": """Abbr=Yes AdvType=Tim Case=Acc,Com,Dat,Nom Definite=Def,Ind Degree=Abs,Cmp,Sup Foreign=Yes Gender=Fem,Masc
        Mood=Cnd,Imp,Ind,Sub NumForm=Digit,Roman,Word NumType=Card,Frac,Ord Number=Plur,Sing Number[psor]=Plur,Sing
        Person=1,2,3 Polarity=Neg Polite=Form Poss=Yes PrepCase=Npr,Pre PronType=Art,Dem,Ind,Int,Neg,Prs,Rel,Tot
        PunctSide=Fin,Ini PunctType=Brck,Colo,Comm,Dash,Elip,Excl,Peri,Qest,Quot,Semi Reflex=Yes
        Tense=Fut,Imp,Past,Pres VerbForm=Fin,Ger,Inf,Part""",
    "ru": """Abbr=Yes Animacy=Anim,Inan Aspect=Imp,Perf Case=Acc,Dat,Gen,Ins,Loc,Nom,Par,Voc Degree=Cmp,Pos,Sup
        ExtPos=ADJ,ADP,ADV,CCONJ,DET,NOUN,PART,PRON,SCONJ,VERB Foreign=Yes Gender=Fem,Masc,Neut InflClass=Ind
        Mood=Cnd,Imp,Ind NameType=Com,Geo,Giv,Oth,Pat,Pro,Prs,Sur,Zoo NumForm=Combi,Digit,Roman,Word
        NumType=Card,Frac,Ord,Sets Number=Plur,Sing Person=1,2,3 Polarity=Neg Poss=Yes
        PronType=Dem,Emp,Exc,Ind,Int,Neg,Prs,Rcp,Rel,Tot Reflex=Yes Tense=Fut,Past,Pres Variant=Short
        VerbForm=Conv,Fin,Inf,Part Voice=Act,Mid,Pass""",
}
# Written words that are two syntactic words in the language's treebanks, and those no text of this size does without.
CONTRACTIONS = {
    "de": r"im|zum|zur|vom|beim|ins|ans",
    "en": r".+n['’]t|cannot|.+['’](?:s|re|ve|ll|d|m)",
    "es": r"del|al",
}
EXPECTED_CONTRACTIONS = {
    "de": {"im", "zum", "zur"},
    "en": {"don't", "didn't", "i'm"},
    "es": {"del", "al"},
    "ru": set(),
}


@functools.cache
def sentences(path):
    return conllu.parse(path.read_text(encoding="utf-8"))


@functools.cache
def documents(path):
    starts = [number for number, sentence in enumerate(sentences(path)) if "newdoc id" in sentence.metadata]
    return [sentences(path)[start:end] for start, end in pairwise([*starts, len(sentences(path))])]


def words(sentence):
    return [token for token in sentence if isinstance(token["id"], int)]


@functools.cache
def features(language):
    return {name: set(values.split(",")) for name, values in (known.split("=") for known in FEATURES[language].split())}


def relations(sentence, language):
    known = {*RELATIONS.split(), *SUBTYPES[language].split()}
    yield from (
        f"{token['form']}: deprel {token['deprel']}" for token in words(sentence) if token["deprel"] not in known
    )


def feats(sentence, language):
    known = features(language)
    for token in words(sentence):
        feats = token["feats"] or {}
        if list(feats) != sorted(feats, key=str.lower):
            yield f"{token['form']}: features out of order {feats}"
        for name, values in feats.items():
            if not set(values.split(",")) <= known.get(name, set()):
                yield f"{token['form']}: {name}={values}"


def lemmas(sentence, _):
    plain = re.compile(r"[\w.,'’-]*\w[\w.,'’-]*")
    for token in words(sentence):
        lemma = token["lemma"] or "_"
        if lemma == "_" or (token["upos"] not in {"PUNCT", "SYM", "PART"} and not plain.fullmatch(lemma)):
            yield f"{token['form']}: lemma {lemma}"


def contractions(sentence, language):
    if language in CONTRACTIONS:
        whole = re.compile(CONTRACTIONS[language])
        ranges = [token["id"] for token in sentence if isinstance(token["id"], tuple)]
        parts = {number for first, _, last in ranges for number in range(first, last + 1)}
        for token in words(sentence):
            if token["id"] not in parts and whole.fullmatch(token["form"].lower()):
                yield f"{token['form']} stands as one word"


RULES = (relations, feats, lemmas, contractions)


def test_the_reader_takes_every_sentence_of_four_languages_and_finds_its_words_in_the_text():
    corpora = read_corpora([SAMPLE])
    assert set(corpora) == LANGUAGES
    for path in FILES:
        (shard,) = corpora[language(path)].shards()
        assert shard.sentences.height == len(sentences(path))
        assert shard.sentences["aligned"].all()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
@pytest.mark.parametrize("path", FILES, ids=language)
def test_every_sentence_keeps_the_rule(path, rule):
    broken = [
        f"{sentence.metadata['sent_id']}: {problem}"
        for sentence in sentences(path)
        for problem in rule(sentence, language(path))
    ]
    assert broken == []


@pytest.mark.parametrize("path", FILES, ids=language)
def test_lines_have_ten_columns_of_composed_text(path):
    content = path.read_bytes().decode("utf-8")
    assert unicodedata.is_normalized("NFC", content)
    assert "\r" not in content
    assert content.endswith("\n\n")
    rows = [line for line in content.splitlines() if line and not line.startswith("#")]
    assert [line for line in rows if line.count("\t") != 9 or "" in line.split("\t")] == []
    assert {line.split("\t")[9] for line in rows} <= {"_", "SpaceAfter=No"}


@pytest.mark.parametrize("path", FILES, ids=language)
def test_documents_are_many_short_and_of_many_genres(path):
    lengths = Counter(len(document) for document in documents(path))
    assert sum(map(len, documents(path))) == len(sentences(path)), "a sentence stands before the first document"
    assert lengths.total() >= 24
    assert set(lengths) <= {7, 8, 9}
    genres = Counter(document[0].metadata.get("meta::genre") for document in documents(path))
    assert None not in genres
    assert len(genres) >= 8


@pytest.mark.parametrize("path", FILES, ids=language)
def test_ids_are_unique_and_follow_their_document(path):
    ids = [sentence.metadata["sent_id"] for sentence in sentences(path)]
    assert [name for name, count in Counter(ids).items() if count > 1] == []
    names = [document[0].metadata["newdoc id"] for document in documents(path)]
    assert len(set(names)) == len(names)
    expected = [
        f"{name}-{number}"
        for name, document in zip(names, documents(path), strict=True)
        for number in range(1, len(document) + 1)
    ]
    assert ids == expected


@pytest.mark.parametrize("path", FILES, ids=language)
def test_no_sentence_stands_twice(path):
    said = Counter(" ".join(sentence.metadata["text"].casefold().split()) for sentence in sentences(path))
    assert [sentence for sentence, count in said.items() if count > 1] == []


@pytest.mark.parametrize("path", FILES, ids=language)
def test_languages_that_contract_have_multiword_tokens(path):
    forms = {
        token["form"].lower() for sentence in sentences(path) for token in sentence if isinstance(token["id"], tuple)
    }
    assert forms >= EXPECTED_CONTRACTIONS[language(path)]
    assert bool(forms) == (language(path) in CONTRACTIONS)


GOOD = """\
# sent_id = good-1
# text = She doesn't sing, alas.
1\tShe\tshe\tPRON\t_\tCase=Nom|Gender=Fem|Number=Sing|Person=3|PronType=Prs\t4\tnsubj\t_\t_
2-3\tdoesn't\t_\t_\t_\t_\t_\t_\t_\t_
2\tdoes\tdo\tAUX\t_\tMood=Ind|Number=Sing|Person=3|Tense=Pres|VerbForm=Fin\t4\taux\t_\t_
3\tn't\tnot\tPART\t_\tPolarity=Neg\t4\tadvmod\t_\t_
4\tsing\tsing\tVERB\t_\tVerbForm=Inf\t0\troot\t_\tSpaceAfter=No
5\t,\t,\tPUNCT\t_\t_\t6\tpunct\t_\t_
6\talas\talas\tINTJ\t_\t_\t4\tdiscourse\t_\tSpaceAfter=No
7\t.\t.\tPUNCT\t_\t_\t4\tpunct\t_\t_

"""
FAULTS = (
    (relations, "4\tadvmod", "4\tneg"),
    (relations, "4\tnsubj", "4\tnsubj:caus"),
    (feats, "Polarity=Neg", "Polarity=Nope"),
    (feats, "Polarity=Neg", "Negative=Yes"),
    (feats, "Tense=Pres|VerbForm=Fin", "VerbForm=Fin|Tense=Pres"),
    (lemmas, "\tshe\t", "\t_\t"),
    (lemmas, "\tshe\t", "\t?she\t"),
    (lemmas, "\tshe\t", "\tshe|her\t"),
    (contractions, "4\tsing\tsing", "4\tcan't\tsing"),
)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_a_good_sentence_passes(rule):
    assert list(rule(conllu.parse(GOOD)[0], "en")) == []


@pytest.mark.parametrize(("rule", "old", "new"), FAULTS)
def test_a_planted_fault_is_found(rule, old, new):
    assert GOOD.count(old) == 1
    assert list(rule(conllu.parse(GOOD.replace(old, new))[0], "en")) != []
