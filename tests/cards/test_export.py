"""Exports, read back as the harnesses read them (SentEval's ``loadFile``, X-Probe's and DiscoEval's line formats)."""

import json
import re
import shutil
from collections import Counter

import card_cases
import jinja2
import msgspec
import polars as pl
import pyarrow.parquet as pq
import pytest
import yaml
from datasets import load_dataset
from hypothesis import given
from hypothesis import strategies as st
from shared import ROOT

from discoprobe.builders import Config, Settings, Shape, build_all, tasks_named
from discoprobe.cards.metadata import config_entry
from discoprobe.cards.release import Format, open_release, tokens
from discoprobe.cards.release import export as export_module
from discoprobe.cards.release.export import export
from discoprobe.cards.review import read_card
from discoprobe.loaders import DiscoprobeError, UnknownNameError, UnsupportedError, UsageError

SPLITS = ("train", "validation", "test")
TASKS = ("bigram_shift", "somo", "sp", "bso", "dc", "nsp", "cloze")


@pytest.fixture(scope="module")
def release(corpus_of, tmp_path_factory):
    folder, corpus = tmp_path_factory.mktemp("release") / "en", corpus_of("sample", "en")
    with open_release(folder) as made:
        made.add_corpus(corpus)
        for result in build_all(tasks_named(TASKS), corpus, Settings(ipm="none")):
            assert isinstance(result, Config), result
            made.add(result)
        made.finish()
    return folder


def _rows(release, config):
    return {split: pq.read_table(release / config / f"{split}-00000-of-00001.parquet").to_pylist() for split in SPLITS}


def _names(release, config):
    return json.loads((release / "manifest.json").read_text())["configs"][config]["labels"]


def _bare(text):
    return re.sub(r"\s", "", text)


def _lines(path):
    return [line.split("\t") for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


def test_senteval_reads_split_label_and_sentence(release, tmp_path):
    files, _ = export(release, tmp_path / "out", "senteval")
    assert files["somo_en"] == ("en/odd_man_out.txt",)
    data = {"tr": [], "va": [], "te": []}
    with (tmp_path / "out" / "en" / "bigram_shift.txt").open(encoding="utf-8") as file:
        for line in file:  # as senteval/probing.py:PROBINGEval.loadFile does
            cells = line.rstrip().split("\t")
            data[cells[0]].append((cells[1], cells[-1].split()))
    rows, names = _rows(release, "bigram_shift_en"), _names(release, "bigram_shift_en")
    for split, short in zip(SPLITS, data, strict=True):
        expected = [(names[row["label"]], _bare(row["text"])) for row in rows[split]]
        assert [(label, "".join(sentence)) for label, sentence in data[short]] == expected


def test_the_format_of_the_guide_works(release, tmp_path, monkeypatch):
    """The example of docs/adding_a_corpus.md, in the module that it is written for."""
    guide = (ROOT / "docs" / "adding_a_corpus.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```python\n(def _by_label.*?)^```", guide, flags=re.DOTALL | re.MULTILINE)
    names = vars(export_module).copy()
    exec(example, names)
    by_label = Format(frozenset({Shape.SENTENCE}), names["_by_label"])
    monkeypatch.setattr(export_module, "FORMATS", {"by_label": by_label})
    files, _ = export(release, tmp_path / "out", "by_label", ["bigram_shift_en"])
    of_label = (tmp_path / "out" / "bigram_shift_en" / "test" / "shifted.txt").read_text(encoding="utf-8")
    rows = _rows(release, "bigram_shift_en")["test"]
    assert of_label.splitlines() == [row["text"] for row in rows if row["label"] == 1]
    assert len(files["bigram_shift_en"]) == 2 * len(SPLITS)


def test_senteval_leaves_out_what_is_no_sentence_and_says_why(release, tmp_path):
    files, skipped = export(release, tmp_path / "out", "senteval")
    assert set(files) == {"bigram_shift_en", "somo_en"}
    assert skipped["sp_en"] == "senteval has no place for rows of shape sequence"
    assert sorted(path.name for path in (tmp_path / "out").rglob("*.txt")) == [
        "bigram_shift.txt",
        "odd_man_out.txt",
    ]


def test_formats_of_three_splits_leave_out_a_config_that_has_fewer_and_say_why(release, tmp_path):
    partial = tmp_path / "partial"
    shutil.copytree(release, partial)
    made = json.loads((partial / "manifest.json").read_text())
    del made["configs"]["somo_en"]["counts"]["validation"]
    (partial / "manifest.json").write_text(json.dumps(made))
    (partial / "somo_en" / "validation-00000-of-00001.parquet").unlink()
    why = "senteval needs train, validation, test, and the config has no validation"
    assert export(partial, tmp_path / "out", "senteval")[1]["somo_en"] == why
    with pytest.raises(UnsupportedError, match=why):
        export(partial, tmp_path / "other", "senteval", ["somo_en"])
    assert export(partial, tmp_path / "rows", "jsonl", ["somo_en"])[0]["somo_en"][-1] == "somo_en/test.jsonl"


def test_xprobe_has_sentence_then_label_in_a_file_per_split(release, tmp_path):
    files, _ = export(release, tmp_path / "out", "xprobe", ["bigram_shift_en"])
    assert files == {"bigram_shift_en": tuple(f"en/bigram_shift/{short}.txt" for short in ("tr", "va", "te"))}
    rows = _rows(release, "bigram_shift_en")
    for split, short in zip(SPLITS, ("tr", "va", "te"), strict=True):
        lines = _lines(tmp_path / "out" / "en" / "bigram_shift" / f"{short}.txt")
        assert {len(line) for line in lines} == {2}
        assert [_bare(sentence) for sentence, _ in lines] == [_bare(row["text"]) for row in rows[split]]
        assert Counter(label for _, label in lines) == {"original": len(lines) // 2, "shifted": len(lines) // 2}


def test_discoeval_has_the_number_of_the_label_then_the_sentences(release, tmp_path):
    export(release, tmp_path / "out", "discoeval")
    for task, n in (("SP", 5), ("DC", 6), ("NSP", 5)):
        rows = _rows(release, f"{task.lower()}_en")
        for split, name in zip(SPLITS, ("train", "valid", "test"), strict=True):
            lines = _lines(tmp_path / "out" / task / "en" / f"{name}.txt")
            shown = [[*row["sentences"], *([row["candidate"]] if "candidate" in row else [])] for row in rows[split]]
            assert [[int(line[0]), *map(_bare, line[1:])] for line in lines] == [
                [row["label"], *map(_bare, texts)] for row, texts in zip(rows[split], shown, strict=True)
            ]
            assert {len(line) for line in lines} == {n + 1}
    labels = _lines(tmp_path / "out" / "DC" / "en" / "labelset.txt")
    assert labels == [["0", "coherent"], ["1", "incoherent"]]


def test_discoeval_stores_the_true_order_of_a_pair_alone(release, tmp_path):
    export(release, tmp_path / "out", "discoeval", ["bso_en"])
    rows = _rows(release, "bso_en")["train"]
    lines = _lines(tmp_path / "out" / "BSO" / "en" / "train.txt")
    assert 2 * len(lines) == len(rows)
    true = {(_bare(row["sentence1"]), _bare(row["sentence2"])) for row in rows if row["label"] == 0}
    assert {tuple(map(_bare, line)) for line in lines} == true


def test_discoeval_has_no_place_for_choices(release, tmp_path):
    with pytest.raises(UnsupportedError, match="cloze_en: discoeval has no place for rows of shape choice"):
        export(release, tmp_path / "out", "discoeval", ["cloze_en"])
    assert not (tmp_path / "out").exists()


def test_jsonl_holds_the_rows_as_they_are(release, tmp_path):
    files, _ = export(release, tmp_path / "out", "jsonl")
    assert set(files) == {f"{task}_en" for task in TASKS}
    for task in TASKS:
        names = _names(release, f"{task}_en")
        for split, rows in _rows(release, f"{task}_en").items():
            lines = (tmp_path / "out" / f"{task}_en" / f"{split}.jsonl").read_text(encoding="utf-8").split("\n")[:-1]
            read = [json.loads(line) for line in lines]
            for row, expected in zip(read, rows, strict=True):
                if task != "cloze":
                    assert row.pop("label_name") == names[expected["label"]]
                assert row == expected


def test_the_same_release_gives_the_same_bytes(release, tmp_path):
    for name in ("one", "two"):
        export(release, tmp_path / name, "senteval")
    first, second = (
        {path.relative_to(tmp_path / name): path.read_bytes() for path in (tmp_path / name).rglob("*.txt")}
        for name in ("one", "two")
    )
    assert first == second


def test_mistakes_are_said_and_nothing_is_written(release, tmp_path):
    with pytest.raises(UnknownNameError, match="did you mean senteval"):
        export(release, tmp_path / "out", "senteva")
    with pytest.raises(UnknownNameError, match="did you mean bso_en"):
        export(release, tmp_path / "out", "discoeval", ["bso_n"])
    with pytest.raises(DiscoprobeError, match=r"holds no manifest\.json"):
        export(tmp_path, tmp_path / "out", "jsonl")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    with pytest.raises(UsageError, match="is not empty"):
        export(release, tmp_path / "full", "jsonl")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["full"]


def test_a_release_that_cannot_be_read_leaves_no_half_export(release, tmp_path):
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "manifest.json").write_bytes((release / "manifest.json").read_bytes())
    with pytest.raises(DiscoprobeError, match=r"train-.*\.parquet is missing"):
        export(tmp_path / "broken", tmp_path / "out", "senteval")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["broken"]


def _tokens(text):
    return pl.DataFrame({"text": [text]}).select(tokens(pl.col("text"))).item()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He said: “No!”", "He said : “ No ! ”"),
        ("L'amour, c'est 3.5 km.", "L'amour , c'est 3.5 km ."),
        ("A well-known (U.S.) case...", "A well-known ( U.S . ) case ..."),
        ("हिन्दी में।", "हिन्दी में ।"),
        ("می‌رود.", "می‌رود ."),
        ("我喜欢Python3。", "我 喜 欢 Python3 。"),
        ("ไป 100%", "ไ ป 100 %"),
        ("  two\u00a0 spaces ", "two spaces"),
    ],
)
def test_tokens(text, expected):
    assert _tokens(text) == expected


@given(text=st.text(st.characters(exclude_categories=("Cs", "Cc"))))
def test_tokens_lose_nothing_but_white_space_and_stay_as_they_are(text):
    joined = _tokens(text)
    assert "".join(joined.split()) == "".join(text.split())
    assert _tokens(joined) == joined


def test_what_was_filtered_by_frequency_stands_in_card_and_manifest(release):
    note = "Word frequencies are from wordfreq's list 'en', by lemmas; sentences are not filtered by it"
    assert json.loads((release / "manifest.json").read_text())["configs"]["somo_en"]["notes"] == [note]
    assert "are from wordfreq" in read_card(release, "somo_en")


def _pairs(release, config):
    """The original and the edited row of every pair of test."""
    rows = _rows(release, config)["test"]
    edited = {row["pair_id"]: row for row in rows if row["label"] == 1}
    return [(row, edited[row["pair_id"]]) for row in rows if row["label"] == 0]


def _text(row):
    return row.get("text") or " ".join([*row["sentences"], *([row["candidate"]] if "candidate" in row else [])])


PAIRED = ("bigram_shift_en", "somo_en", "dc_en", "nsp_en")


@pytest.mark.parametrize("config", PAIRED)
def test_blimp_has_the_original_as_the_good_sentence(release, tmp_path, config):
    export(release, tmp_path / "out", "blimp", [config])
    loaded = load_dataset("json", data_files=str(tmp_path / "out" / f"{config}.jsonl"), cache_dir=str(tmp_path))
    shown = [(row["sentence_good"], row["sentence_bad"]) for row in loaded["train"]]
    assert shown == [(_text(original), _text(edited)) for original, edited in _pairs(release, config)]
    assert all(good != bad for good, bad in shown)
    assert set(loaded["train"]["UID"]) == {config}
    assert list(loaded["train"]["pair_id"]) == [original["pair_id"] for original, _ in _pairs(release, config)]
    assert set(loaded["train"]["field"]) == {"sentence" if "text" in _pairs(release, config)[0][0] else "discourse"}
    swapped = config == "bigram_shift_en"
    assert [row["lexically_identical"] for row in loaded["train"]].count(True) == (len(shown) if swapped else 0)


def test_formats_of_pairs_leave_out_what_is_no_pair(release, tmp_path):
    files, skipped = export(release, tmp_path / "out", "blimp")
    assert set(files) == {*PAIRED, "bso_en"}
    assert skipped == {
        "sp_en": "blimp shows pairs of an original and an edited text, and these rows are no pairs",
        "cloze_en": "blimp has no place for rows of shape choice",
    }
    with pytest.raises(UnsupportedError, match="sp_en: lm-eval shows pairs"):
        export(release, tmp_path / "other", "lm-eval", ["sp_en"])


def _harness_scores(folder, config, score):
    """The accuracy as lm-evaluation-harness takes it from a task's YAML: the option with the highest score."""
    task = yaml.safe_load((folder / f"{config}.yaml").read_text(encoding="utf-8"))
    assert task["task"] == f"discoprobe_{config}"
    for name in ("", f"_{config.removesuffix('_en')}", "_lang_en"):
        group = yaml.safe_load((folder / f"_discoprobe{name}.yaml").read_text(encoding="utf-8"))
        assert (group["group"], task["task"] in group["task"]) == (f"discoprobe{name}", True)
    assert (task["dataset_path"], task["output_type"]) == ("json", "multiple_choice")
    lines = (folder / task["dataset_kwargs"]["data_files"][task["test_split"]]).read_text(encoding="utf-8").split("\n")
    right = []
    for row in map(json.loads, lines[:-1]):
        context = jinja2.Template(str(task["doc_to_text"])).render(row)
        target = int(jinja2.Template(str(task["doc_to_target"])).render(row))
        wanted = task["doc_to_choice"]
        options = row[wanted] if wanted in row else [row["sentence_good"], row["sentence_bad"]]
        values = [score(f"{context}{task['target_delimiter']}{option}") for option in options]
        right.append(values.index(max(values)) == target)
    return right


def test_lm_eval_scores_the_originals_and_the_right_choices(release, tmp_path):
    export(release, tmp_path / "out", "lm-eval", ["bigram_shift_en", "cloze_en"])
    originals = {_text(original) for original, _ in _pairs(release, "bigram_shift_en")}
    right = _harness_scores(tmp_path / "out", "bigram_shift_en", lambda text: text in originals)
    assert len(right) == len(originals)
    assert all(right)
    known = {" ".join([*row["context"], row["choices"][row["label"]]]) for row in _rows(release, "cloze_en")["test"]}
    right = _harness_scores(tmp_path / "out", "cloze_en", lambda text: text in known)
    assert len(right) == len(known)
    assert all(right)


def test_texts_without_blanks_between_words_are_joined_without_blanks():
    """As `build probe` joins them, so that harnesses score the same text."""
    texts = [("我们去学校了。", "他们在家。"), ("他们在家。", "我们去学校了。")]
    rows = pl.DataFrame([
        {"pair_id": "p", "label": label, "sentence1": first, "sentence2": second}
        for label, (first, second) in enumerate(texts)
    ])  # fmt: skip
    made = card_cases.config(Shape.PAIR, ("original", "swapped"), [], name="bso_zh")
    entry = msgspec.structs.replace(config_entry(made, {}, {}), task="bso", lang="zh")
    for files in (export_module.blimp, export_module.lm_eval, export_module.lighteval):
        path, lines = next(files(lambda _: rows, "bso_zh", entry))
        line = json.loads(next(lines))
        shown = line.get("choices") or [line["sentence_good"], line["sentence_bad"]]
        assert shown == ["".join(of_row) for of_row in texts], path


FORMULA = re.compile(r"\((\d+|\*);%([\w-]+)%\) (>) \((\d+|\*);%([\w-]+)%\)")
"""SyntaxGym's grammar of predictions, as far as two regions are compared."""


def _surprisal(regions, at, original):
    """What a formula reads off a model that is surprised by every region that is not the original's."""
    bits = [float(region not in original) for region in regions]
    return sum(bits) if at == "*" else bits[int(at) - 1]


@pytest.mark.parametrize(("config", "n_predictions"), [("bigram_shift_en", 2), ("somo_en", 2), ("dc_en", 1)])
def test_syntaxgym_has_regions_that_join_to_the_text_and_differ_in_the_edit(release, tmp_path, config, n_predictions):
    export(release, tmp_path / "out", "syntaxgym", [config])
    suite = json.loads((tmp_path / "out" / f"{config}.json").read_text(encoding="utf-8"))
    assert suite["meta"]["metric"] == "sum"
    pairs = _pairs(release, config)
    assert len(suite["items"]) == len(pairs)
    for item, (original, edited) in zip(suite["items"], pairs, strict=True):
        conditions = {each["condition_name"]: each["regions"] for each in item["conditions"]}
        for name, row in (("original", original), ("edited", edited)):
            contents = [region["content"] for region in conditions[name]]
            assert " ".join(content for content in contents if content) == _text(row)
            assert [str(region["region_number"]) for region in conditions[name]] == list(suite["region_meta"])
        if "text" in original:
            (before, edit, after), (before_too, changed, after_too) = conditions.values()
            assert (before, after) == (before_too, after_too)
            assert edit != changed
    assert len(suite["predictions"]) == n_predictions
    for prediction in suite["predictions"]:
        at, condition, _, other_at, other = FORMULA.fullmatch(prediction["formula"]).groups()
        assert (condition, other) == ("edited", "original")
        for item in suite["items"]:
            original, edited = (each["regions"] for each in item["conditions"])
            assert _surprisal(edited, at, original) > _surprisal(original, other_at, original)
