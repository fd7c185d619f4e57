"""Models are compared on the same rows, and their scores are written as the Hub reads them."""

import numpy as np
import pytest
import yaml
from huggingface_hub import eval_result_entries_to_yaml, parse_eval_result_entries

from discoprobe.builders.audit import intervals
from discoprobe.cards.metadata.yaml_header import closed_lists
from discoprobe.evaluation import Evaluation, ModelScore, RowScores, difference_of, write_comparison


def evaluation(model, correct, *, config="made_en", groups=None, layer=1, shortcut=None, readers=None):
    """The scores of a model that is right on some rows, and of a shortcut and of readers of the same rows."""
    ids = tuple(f"r{number}" for number in range(len(correct)))
    accuracy = float(np.mean(correct))
    interval = intervals.exact(sum(correct), len(correct))
    best = ModelScore("mean", accuracy, interval, len(correct), layer=layer, part="model", macro_f1=accuracy)
    rows = RowScores(ids, tuple(groups or ids), tuple(map(float, correct)))
    others = [None if each is None else RowScores(ids, rows.groups, tuple(map(float, each)))
              for each in (shortcut, readers)]  # fmt: skip
    return Evaluation(
        config, model, "c", (best,), best, 0.5, rows, shortcut="words", shortcut_accuracy=0.6,
        shortcut_rows=others[0], readers=others[1],
    )  # fmt: skip


def test_a_difference_is_that_of_rows_which_both_models_have():
    first, second = evaluation("a", [1, 1, 1, 0]), evaluation("b", [1, 0, 0])
    difference, _, _, n = difference_of(first.rows, second.rows)
    assert n == 3
    assert difference == pytest.approx(2 / 3)


def test_the_interval_is_that_of_a_paired_t_test():
    """As scipy has it, if rows are independent; and wider where rows of a group agree."""
    from scipy import stats

    random = np.random.default_rng(1)
    right = random.random((2, 200)) < [[0.8], [0.7]]
    rows = [evaluation(name, row.astype(int).tolist()).rows for name, row in zip("ab", right, strict=True)]
    expected = stats.ttest_rel(*right.astype(float)).confidence_interval(0.95)
    _, low, high, _ = difference_of(*rows)
    assert (low, high) == pytest.approx((expected.low, expected.high))
    assert difference_of(*rows, tries=10)[1] < low
    groups = [f"g{number // 10}" for number in range(200)]
    repeated = [evaluation(name, np.repeat(row[:20], 10).astype(int).tolist(), groups=groups).rows
                for name, row in zip("ab", right, strict=True)]  # fmt: skip
    alone = stats.ttest_rel(*right[:, :20].astype(float)).confidence_interval(0.95)
    assert difference_of(*repeated)[1:3] == pytest.approx((alone.low, alone.high))


def test_equal_models_differ_in_at_most_a_twentieth_of_comparisons():
    """A thousand pairs of models with the same accuracy."""
    random = np.random.default_rng(2)
    pairs = (random.random((1000, 2, 60)) < 0.7).astype(int).tolist()
    differences = [difference_of(evaluation("a", one).rows, evaluation("b", other).rows) for one, other in pairs]
    assert np.mean([low > 0 or high < 0 for _, low, high, _ in differences]) < 0.065


def test_the_page_and_the_metadata_have_all_models(tmp_path):
    """A model that knows all, one that knows nothing, and later a third one."""
    for config in ("dc_en", "dc_es", "sp_en"):
        for name, correct in (("org/good", [1] * 50), ("org/poor", [1, 0] * 25)):
            evaluation(name, correct, config=config, shortcut=[1, 1, 0, 1, 0] * 10).save(tmp_path)
    page = write_comparison(tmp_path, "org/data").read_text(encoding="utf-8")
    assert "| dc\\_en | 0.500 | 0.600 | 1.000 + | 0.500 - |" in page
    assert page.count("| org/good | org/poor | +0.500 |") == 3
    evaluation("org/third", [1] * 50, config="sp_en", shortcut=[1, 1, 0, 1, 0] * 10).save(tmp_path)
    page = write_comparison(tmp_path, "org/data").read_text(encoding="utf-8")
    assert "| sp\\_en | 0.500 | 0.600 | 1.000 + | 0.500 - | 1.000 + |" in page
    assert "hold together for all 5 comparisons" in page
    assert "| org/good | 3 | 3 | 3 of 3 |" in page
    assert "| org/poor | 3 | 0 | 0 of 3 |" in page
    assert (tmp_path / "org_good.svg").read_text(encoding="utf-8").count("<rect") == 3
    path = tmp_path / "org_good" / ".eval_results" / "org_data.yaml"
    entries = yaml.safe_load(path.read_text(encoding="utf-8"))
    results = {each.task_id: each for each in parse_eval_result_entries(entries)}
    assert results.keys() == {"dc_en", "dc_es", "sp_en"}
    assert {(each.dataset_id, each.value) for each in results.values()} == {("org/data", 1.0)}
    assert "majority baseline 0.500" in results["dc_es"].notes
    known = {key for entry in eval_result_entries_to_yaml([*results.values()]) for key in entry}
    assert {key for entry in entries for key in entry} - known == {"evaluation_framework"}  # of the specification only
    assert {entry["evaluation_framework"] for entry in entries} <= set(closed_lists()["evaluation_framework"])


def test_a_model_is_above_a_shortcut_if_it_is_over_the_same_rows_and_all_configs(tmp_path):
    """Seven rows that only the model gets right show that it is better, but not if this is one of twenty configs."""
    shortcut = [1] * 40 + [0] * 60
    evaluation("org/model", [1] * 47 + [0] * 53, shortcut=shortcut).save(tmp_path)
    assert "| org/model | shortcut words | +0.070 |" in write_comparison(tmp_path, "o/d").read_text(encoding="utf-8")
    for number in range(19):
        evaluation("org/model", shortcut, config=f"c{number}_en", shortcut=shortcut).save(tmp_path)
    page = write_comparison(tmp_path, "o/d").read_text(encoding="utf-8")
    assert "0 of 20" in page
    assert "intervals that hold together for all 20 comparisons" in page
    assert "| org/model | shortcut words |" not in page


def test_models_are_compared_with_people_on_the_rows_that_people_read(tmp_path):
    evaluation("org/model", [1, 0] * 50, readers=[1] * 100).save(tmp_path)
    page = write_comparison(tmp_path, "o/d").read_text(encoding="utf-8")
    assert "| config | majority | shortcut | people | org/model |" in page
    assert "| made\\_en | 0.500 | 0.600 | 1.000 | 0.500 - |" in page
    assert "| made\\_en | org/model | people | -0.500 |" in page


def test_a_folder_without_scores_gets_no_page(tmp_path):
    assert write_comparison(tmp_path, "org/data") is None
    assert not list(tmp_path.iterdir())
