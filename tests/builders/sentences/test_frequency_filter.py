"""The filter by frequency: what is counted, which lists are trusted, what is dropped and what is said about it."""

import polars as pl
import pytest

from discoprobe.builders import Settings, build_all, tasks_named
from discoprobe.builders.sentences import Frequencies, Trees, frequency_filter
from discoprobe.loaders import UsageError
from discoprobe.loaders.conllu import read_corpora
from discoprobe.loaders.languages import language_data

LISTED = Frequencies("a list", listed=pl.DataFrame({"word": ["cat", "sleep", "of"], "ipm": [50.0, 20.0, 30000.0]}))
LAYERS = frozenset({"lemma"})


def _corpus(folder, *sentences, lang="en", name="x"):
    """A corpus of sentences of (form, lemma, upos)."""
    blocks = []
    for n, words in enumerate(sentences):
        text = " ".join(form for form, _, _ in words)
        lines = [f"# sent_id = {name}-{n}", f"# text = {text}"]
        lines += [
            f"{i}\t{form}\t{lemma}\t{upos}\t_\t_\t{int(i > 1)}\t{'dep' if i > 1 else 'root'}\t_\t_"
            for i, (form, lemma, upos) in enumerate(words, 1)
        ]
        blocks.append("\n".join(lines) + "\n\n")
    file = folder / f"{lang}_{name}-ud-test.conllu"
    file.write_text("".join(blocks), encoding="utf-8")
    return read_corpora([file])[lang]


def _ipm(corpus, listed):
    (shard,) = corpus.shards()
    shown = shard.sentences.join(shard.documents.select("doc", "corpus"), on="doc").select("sent", "corpus")
    return frequency_filter.with_ipm(shown, Trees(shard), listed)


def test_the_share_is_of_words_with_letters_that_are_no_punctuation(tmp_path):
    words = [("Cats", "cat", "NOUN"), ("snooze", "snooze", "VERB"), ("1986", "1986", "NUM"), (".", ".", "PUNCT")]
    row = _ipm(_corpus(tmp_path, words), LISTED).row(0, named=True)
    assert row["ipm_share"] == 0.5
    assert row["ipm_mean"] == 25.0
    assert row["ipm_words"] == 2


def test_a_word_of_exactly_one_per_million_is_not_common(tmp_path):
    listed = Frequencies("a list", listed=pl.DataFrame({"word": ["cat", "sleep"], "ipm": [1.0, 1.001]}))
    corpus = _corpus(tmp_path, [("Cats", "cat", "NOUN"), ("sleep", "sleep", "VERB")])
    assert _ipm(corpus, listed)["ipm_share"].to_list() == [0.5]


def test_a_sentence_without_words_has_no_share_and_is_not_dropped(tmp_path):
    found = _ipm(_corpus(tmp_path, [("1986", "1986", "NUM"), (".", ".", "PUNCT")]), LISTED)
    assert found["ipm_share"].to_list() == [None]
    frame = found.with_columns(reason=pl.lit(None, pl.String))
    assert frequency_filter.filtered(frame, ["x"], Settings())["reason"].to_list() == [None]


def test_forms_stand_in_for_lemmas_that_are_not_there(tmp_path):
    corpus = _corpus(tmp_path, [("Cat", "_", "NOUN"), ("sleeps", "_", "VERB")])
    assert _ipm(corpus, LISTED)["ipm_share"].to_list() == [0.5]
    covered = [pl.DataFrame({"corpus": ["x"], "words": [2], "common": [1]})]
    _, (note,) = frequency_filter.covered_corpora(covered, LISTED, Settings(), frozenset())
    assert "lower-cased forms, because there are no lemmas" in note


def test_a_frequent_form_makes_a_lemma_frequent_in_a_list_of_forms():
    ru = Frequencies("wordfreq", code="ru")
    lemma, form = ru.ipm(pl.Series(["мочь", "может"]))
    assert lemma < 1 < form


def test_compound_boundaries_are_no_part_of_a_word():
    fi = Frequencies("wordfreq", code="fi")
    assert fi.ipm(pl.Series(["pää#kaupunki"]))[0] == fi.ipm(pl.Series(["pääkaupunki"]))[0] > 1
    assert LISTED.ipm(pl.Series(["CAT", None, "dog", "#"])).to_list() == [50.0, None, 0.0, 0.0]


def test_a_list_that_does_not_know_the_corpus_is_not_used_and_the_note_says_so():
    covered = [
        pl.DataFrame({"corpus": ["ko_a", "ko_b"], "words": [100, 10], "common": [20, 9]}),
        pl.DataFrame({"corpus": ["ko_a"], "words": [100], "common": [30]}),
    ]
    corpora, notes = frequency_filter.covered_corpora(
        covered, Frequencies("wordfreq's list 'ko'", code="ko"), Settings(ipm="share"), LAYERS
    )
    assert corpora == ["ko_b"]
    assert any("Only 25% of the words of ko_a are common in wordfreq's list 'ko'" in note for note in notes)
    rows = pl.DataFrame(
        {"corpus": ["ko_a", "ko_b"], "ipm_share": [0.1, 0.1], "ipm_mean": [1.0, 1.0], "reason": [None, None]},
        schema_overrides={"reason": pl.String},
    )
    kept = frequency_filter.filtered(rows, corpora, Settings(ipm="share"))
    assert kept["reason"].to_list() == [None, "rare-words"]
    assert kept["ipm_share"].to_list() == [None, 0.1]


def test_a_users_list_is_used_whatever_it_covers():
    covered = [pl.DataFrame({"corpus": ["x"], "words": [100], "common": [2]})]
    assert frequency_filter.covered_corpora(covered, LISTED, Settings(), LAYERS)[0] == ["x"]


@pytest.mark.parametrize(
    ("settings", "reasons"),
    [
        (Settings(ipm="share"), [None, "rare-words", "too-short"]),
        (Settings(ipm="share", ipm_min=0.5), [None, None, "too-short"]),
        (Settings(ipm="mean", ipm_min=15.0), ["rare-words", None, "too-short"]),
        (Settings(ipm="none"), [None, None, "too-short"]),
    ],
)
def test_the_filter_goes_by_share_or_mean_and_keeps_earlier_reasons(settings, reasons):
    rows = pl.DataFrame(
        {
            "corpus": "x",
            "ipm_share": [0.9, 0.6, 0.1],
            "ipm_mean": [10.0, 20.0, 1.0],
            "reason": [None, None, "too-short"],
        }
    )
    assert frequency_filter.filtered(rows, ["x"], settings)["reason"].to_list() == reasons


def test_corpora_as_their_own_list_count_lemmas_per_million(tmp_path):
    corpus = _corpus(
        tmp_path, [("Cats", "cat", "NOUN"), ("and", "and", "CCONJ"), ("cats", "cat", "NOUN"), (".", ".", "PUNCT")]
    )
    listed = frequency_filter.frequencies(
        Settings(frequency="corpus"), language_data("cop"), lambda: map(frequency_filter.counted, corpus.parts)
    )
    assert dict(listed.listed.iter_rows()) == pytest.approx({"cat": 2e6 / 3, "and": 1e6 / 3})


def test_where_the_list_comes_from(tmp_path):
    def never():
        raise AssertionError

    path = tmp_path / "list.tsv"
    path.write_text("cat\t50\n")
    assert frequency_filter.frequencies(Settings(), language_data("cop"), never) is None
    for lang, code in (("hr", "sh"), ("sr", "sh"), ("lt", "lt"), ("is", "is")):
        assert frequency_filter.frequencies(Settings(), language_data(lang), never).code == code
    assert frequency_filter.frequencies(Settings(frequency=str(path)), language_data("cop"), never).listed[
        "word"
    ].to_list() == ["cat"]
    with pytest.raises(UsageError):
        frequency_filter.frequencies(Settings(frequency=str(tmp_path / "no.tsv")), language_data("en"), never)


@pytest.mark.parametrize(
    "wrong", [{"ipm": "median"}, {"ipm_min": -0.1}, {"ipm": "share", "ipm_min": 1.5}, {"frequency": ""}]
)
def test_settings_that_make_no_sense_are_refused(wrong):
    with pytest.raises(UsageError):
        Settings(**wrong)


@pytest.fixture
def shifted(corpus_of):
    """A function: bigram_shift of the English sample with some settings."""
    return lambda **settings: next(
        build_all(tasks_named(["bigram_shift"]), corpus_of("sample", "en"), Settings(**settings))
    )


def test_every_probing_row_has_its_share_and_the_drops_are_counted(shifted):
    config = shifted(ipm="share")
    shares = [share for table in config.splits.values() for share in table["ipm_share"].to_pylist()]
    assert shares
    assert all(0.9 - 1e-6 <= share <= 1 for share in shares)
    assert config.drops["rare-words"] > 0
    assert "wordfreq's list 'en'" in config.notes[0]
    loose = shifted(ipm="none")
    assert "rare-words" not in loose.drops
    assert min(share for table in loose.splits.values() for share in table["ipm_share"].to_pylist()) < 0.9


def test_frequencies_of_the_corpora_and_of_a_file_work_in_a_build(shifted, tmp_path):
    assert "the corpora themselves" in shifted(frequency="corpus").notes[0]
    path = tmp_path / "list.tsv"
    path.write_text("the\t50000\n")
    config = shifted(frequency=str(path), ipm_min=0.0)
    assert str(path) in config.notes[0]
    assert max(share for table in config.splits.values() for share in table["ipm_share"].to_pylist()) < 0.9
