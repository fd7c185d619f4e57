"""Stems of sentence ids: when they are documents, and what is said when they are not."""

import pytest

from discoprobe.loaders.conllu import find_stems


def numbered(form, *sizes):
    """Ids of documents with so many sentences each: ``form`` takes the number of the document and the sentence."""
    return [form.format(d, n) for d, size in enumerate(sizes, 1) for n in range(1, size + 1)]


FORMS = {
    "nl_alpino": [f"WR-P-P-H-{d:04}\\WR-P-P-H-{d:04}.p.{p}.s.{s}" for d in (5, 34, 77) for p in (1, 2) for s in (1, 2)],
    "is_modern": [f"ALTHINGI_BO_2013_G-33-{d},{n}.{n + k}" for k, d in enumerate((47, 48, 49)) for n in range(1, 7)],
    "ko_littleprince": numbered("lpp.ko{:02}-{:03}", 7, 8, 9),
    "mt_mudt": numbered("{0:02}_{0:02}J01:{1}", 3, 4, 5),
    "fr_rhapsodie": numbered("Rhap_M{:04}-{}", 5, 2, 9),
    "pcm_nsc": numbered("ABJ_GWA_{:02}_Mary-Lifestory_MG__{}", 3, 3, 3),
    "kk_ktb": [f"text{d}.tagged.txt:{n}:{n * 37}" for d in range(3) for n in range(1, 5)],
    "sk_snk": [f"wikipedia:wiki-0{d}:wiki_0{d}-p{p}s{s}" for d in (4, 5, 8) for p in (1, 2) for s in (1, 2)],
    "pt_porttinari": [f"FOLHA_DOC00{d}_SENT0{n:02}" for d in (1, 2, 3) for n in range(d, 9)],
}
STEMS = {
    "ko_littleprince": "lpp.ko01",
    "is_modern": "ALTHINGI_BO_2013_G-33-47",
    "kk_ktb": "text0.tagged.txt",
    "sk_snk": "wikipedia:wiki-04:wiki_04",
}


@pytest.mark.parametrize("name", FORMS)
def test_stems_in_passages_with_rising_numbers_are_documents(name):
    found = find_stems(FORMS[name])
    assert (found.objection, found.stems, found.passages) == ("", 3, 3)
    assert str(found).startswith("3 by sent_id (")
    assert "each in one passage" in str(found)


REJECTED = {
    "split names": (numbered("test-s{1}", 20), "the sentence ids name splits (test)"),
    "numbered splits": (numbered("es-dev-{:03}-s{}", 5, 5, 5), "the sentence ids name splits (es-dev-001, es-dev-002"),
    "one stem": (numbered("annodis.er_{1:05}", 30), "the sentence ids have 1 stems"),
    "two stems": (numbered("genre{}-{}", 9, 9), "the sentence ids have 2 stems"),
    "a stem per sentence": ([f"talk{n}-1" for n in range(9)], "9 sentences have 9 stems"),
    "shuffled": ([f"g{n % 4}-{n}" for n in range(40)], "no two numbers of a stem of the sentence ids are consecutive"),
    "a sample": ([f"g{d}-{n * 7}" for d in range(3) for n in range(9)], "no two numbers of a stem"),
    "parts of equal size": (numbered("{:03}#{}", 20, 20, 20, 7), "all 4 stems of the sentence ids but one have 20"),
    "few": ([*numbered("doc{}-{}", 4, 4, 4), *"abcdefghijklm"], "12 of 25 sentence ids are a stem and a number"),
    "no numbers": (["one", "two", "three"], "0 of 3 sentence ids are a stem and a number"),
    "numbers only": ([str(n) for n in range(9)], "0 of 9 sentence ids are a stem and a number"),
    "nothing": ([], "0 of 0 sentence ids"),
}


@pytest.mark.parametrize(("sent_ids", "objection"), REJECTED.values(), ids=REJECTED)
def test_other_ids_are_no_documents_and_the_objection_says_why(sent_ids, objection):
    found = find_stems(sent_ids)
    assert objection in found.objection
    assert str(found) == f"none: {found.objection}"


def test_a_sentence_split_later_keeps_its_number():
    found = find_stems([f"doc{d}-{n}" for d in range(3) for n in ("1", "2a", "2b", "3")])
    assert not found.objection


def test_most_ids_may_be_enough():
    """In a file of UD_Slovak-SNK 846 of 1,060 ids have the form; the other sentences are in no document."""
    found = find_stems([*numbered("doc{}-p1s{}", 4, 4, 4), *(f"sme:{n}:.r." for n in range(4))])
    assert (found.objection, found.matched, found.sentences) == ("", 12, 16)


def test_numbers_are_compared_as_numbers():
    """The sentences of UD_Erzya-JR are in the order of letters: 1, 10, 11, 2."""
    found = find_stems(sorted(numbered("doc{}:{}", 11, 12, 13)))
    assert (found.objection, found.ordered, found.consecutive) == ("", False, 1.0)
    assert (
        str(found)
        == "3 by sent_id (36 of 36 sentences): sorted by their numbers, consecutive in 100% of the neighbours"
    )


def test_a_reference_is_named_where_it_shows_the_documents():
    found = find_stems([f"document_id='{d}:7'-span='{n}'" for d in (85, 86, 87) for n in (1, 2, 3)], "reference")
    assert (found.objection, found.stems) == ("", 3)
    assert str(found).startswith("3 by reference (9 of 9 sentences)")
