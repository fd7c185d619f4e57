"""A passage with the sentence that follows and one that does not, where nothing is matched."""

import random
from collections import Counter

import pytest

from discoprobe.builders import Settings
from discoprobe.builders.build import build
from discoprobe.builders.passages.continuations import AWAY
from discoprobe.sources import load_corpus


@pytest.mark.parametrize("task", ["cloze", "nsp"])
def test_without_matching_every_passage_has_one_wrong_sentence(corpus_of, task):
    """With `--no-match` too, where a passage had one of each of two lists."""
    config = build(task, corpus_of("sample", "es"), Settings(match=False, min_class=2))
    rows = [row for table in config.splits.values() for row in table.to_pylist()]
    passages = [tuple(row["sent_ids"][:4]) for row in rows]
    assert len(rows) > 20
    assert len(passages) == len(set(passages)) * (len(config.labels) if config.pairs else 1)


@pytest.fixture(scope="module")
def long_documents(tmp_path_factory):
    """Eight documents of eighty sentences, whose topic drifts, and the document and place of every sentence."""
    folder, random_words, places = tmp_path_factory.mktemp("long"), random.Random(7), {}
    lines = []
    for document in range(8):
        lines.append(f"# newdoc id = d{document}")
        topics = ["".join(random_words.choices("aeilmnorst", k=6)) for _ in range(64)]
        for place in range(80):
            words = ["Ella", "dice", *random_words.sample(topics[place // 2 : place // 2 + 24], 5)]
            places[" ".join(words) + "."] = document, place
            lines += [f"# sent_id = d{document}-{place}", f"# text = {' '.join(words)}."]
            tags = [("PRON", 2, "nsubj"), ("VERB", 0, "root"), *[("NOUN", 2, "obj")] * 5]
            for number, (word, (upos, head, relation)) in enumerate(zip(words, tags, strict=True), 1):
                space = "SpaceAfter=No" if number == len(words) else "_"
                lines.append(f"{number}\t{word}\t{word}\t{upos}\t_\t_\t{head}\t{relation}\t_\t{space}")
            lines += ["8\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_", ""]
    (folder / "es_long-ud-test.conllu").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return load_corpus(str(folder)), places


@pytest.mark.parametrize("match", [True, False])
def test_wrong_ends_of_a_suite_are_of_another_document_or_far_on_in_the_same(long_documents, match):
    corpus, places = long_documents
    config = build("cloze_suite", corpus, Settings(match=match, min_class=2))
    assert config.labels == ("other_document", "same_document")
    ends = Counter()
    for row in config.splits["test"].to_pylist():
        (good, at), (bad, later) = places[row["regions_good"][-1]], places[row["regions_bad"][-1]]
        assert [places[text] for text in row["regions_bad"][:-1]] == [(good, at - n) for n in (4, 3, 2, 1)]
        assert (good == bad) == (config.labels[row["label"]] == "same_document")
        assert good != bad or later >= at + AWAY
        ends.update([row["regions_good"][-1], row["regions_bad"][-1]])
    assert max(ends.values()) == 1, "a sentence that recurs would tell which end is right"
    assert min(Counter(config.splits["test"]["label"].to_pylist()).values()) >= 5


def test_a_size_is_shared_by_the_kinds_of_wrong_ends(long_documents):
    config = build("cloze_suite", long_documents[0], Settings(match=False, min_class=2, sizes=(100, 100, 12)))
    assert Counter(config.splits["test"]["label"].to_pylist()) == {0: 6, 1: 6}
