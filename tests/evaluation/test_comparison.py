"""Models are compared on the same rows, and their scores are written as the Hub reads them."""

import re

import msgspec
import numpy as np
import polars as pl
import pytest
import yaml
from huggingface_hub import eval_result_entries_to_yaml, parse_eval_result_entries

from discoprobe.builders.audit import intervals
from discoprobe.cards.metadata.yaml_header import closed_lists
from discoprobe.evaluation import Evaluation, ModelScore, RowScores, difference_of, holm, write_comparison


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
    difference = difference_of(first.rows, second.rows)
    assert difference.n == 3
    assert difference.value == pytest.approx(2 / 3)


def test_the_interval_is_that_of_a_paired_t_test():
    """Over the rows and one more that only the first gets right, and one that only the second does; as wide as that
    of single rows where all rows of a group agree."""
    from scipy import stats

    random = np.random.default_rng(1)
    right = random.random((2, 200)) < [[0.8], [0.7]]
    rows = [evaluation(name, row.astype(int).tolist()).rows for name, row in zip("ab", right, strict=True)]
    of_rows = np.append(right[0].astype(float) - right[1], [1, -1])
    measured = difference_of(*rows)
    mean, error = of_rows.mean(), stats.sem(of_rows)
    assert measured.interval == pytest.approx(stats.t.interval(0.95, 199, mean, error))
    assert measured.p == pytest.approx(2 * stats.t.sf(abs(mean / error), 199))
    assert measured.value == pytest.approx(right[0].mean() - right[1].mean())
    groups = [f"g{number // 10}" for number in range(200)]
    single, repeated = ([
        evaluation(name, np.repeat(row[:20], n).astype(int).tolist(), groups=groups[: 20 * n] if n > 1 else None).rows
        for name, row in zip("ab", right, strict=True)
    ] for n in (1, 10))  # fmt: skip
    assert difference_of(*repeated).interval == pytest.approx(difference_of(*single).interval)


@pytest.mark.parametrize(("accuracy", "n"), [(0.7, 60), (0.98, 60), (0.7, 12)])
def test_equal_models_differ_in_at_most_a_twentieth_of_comparisons(accuracy, n):
    """A thousand pairs of models with the same accuracy."""
    random = np.random.default_rng(2)
    pairs = (random.random((1000, 2, n)) < accuracy).astype(int).tolist()
    differences = [difference_of(evaluation("a", one).rows, evaluation("b", other).rows) for one, other in pairs]
    assert np.mean([each.interval[0] > 0 or each.interval[1] < 0 for each in differences]) < 0.065


@pytest.mark.parametrize(("first", "second"), [([1] * 20, [1] * 20), ([1] * 20, [0] * 20)])
def test_models_that_agree_in_every_row_have_an_interval(first, second):
    """Twenty rows do not show that two models are equal, nor that one is always better."""
    measured = difference_of(evaluation("a", first).rows, evaluation("b", second).rows)
    low, high = measured.interval
    assert high - low > 0.15
    assert (low > 0) == (measured.p < 0.05) == (first != second)


def test_p_values_are_corrected_as_holm_does():
    """The least of four times four, the next times three, never less than the one before, and at most one."""
    assert holm([0.04, 0.01, 0.03, 0.5]) == pytest.approx([0.09, 0.04, 0.09, 0.5])
    assert holm([0.6, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


def test_one_of_many_equal_models_is_rarely_said_to_be_better():
    """A model against twenty shortcuts of the same accuracy, 200 times: in at most 5 % of them is one clear."""
    random = np.random.default_rng(4)
    alarms = []
    for right in random.random((200, 21, 40)) < 0.7:
        first, *others = [evaluation("a", row.astype(int).tolist()).rows for row in right]
        alarms.append(min(holm([difference_of(first, other).p for other in others])) < 0.05)
    assert np.mean(alarms) <= 0.05


def test_the_page_and_the_metadata_have_all_models(tmp_path):
    """A model that knows all, one that knows nothing, and later a third one."""
    for config in ("dc_en", "dc_es", "sp_en"):
        for name, correct in (("org/good", [1] * 50), ("org/poor", [1, 0] * 25)):
            evaluation(name, correct, config=config, shortcut=[1, 1, 0, 1, 0] * 10).save(tmp_path)
    page = write_comparison(tmp_path, "org/data").read_text(encoding="utf-8")
    assert "| dc\\_en | 0.500 | 0.600 | 1.000 + | 0.500 - |" in page
    assert page.count("| org/good | org/poor | +0.500 * |") == 3
    evaluation("org/third", [1] * 50, config="sp_en", shortcut=[1, 1, 0, 1, 0] * 10).save(tmp_path)
    page = write_comparison(tmp_path, "org/data").read_text(encoding="utf-8")
    assert "| sp\\_en | 0.500 | 0.600 | 1.000 + | 0.500 - | 1.000 + |" in page
    assert "among all 5 comparisons of this table (*p* with Holm's correction below .05): 4." in page
    assert page.count("| org/good | org/third | +0.000 | ") == 1, "a difference whose interval holds zero"
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
    assert "| org/model | shortcut words | +0.070 * |" in write_comparison(tmp_path, "o/d").read_text(encoding="utf-8")
    for number in range(19):
        evaluation("org/model", shortcut, config=f"c{number}_en", shortcut=shortcut).save(tmp_path)
    page = write_comparison(tmp_path, "o/d").read_text(encoding="utf-8")
    assert "0 of 20" in page
    assert "among all 20 comparisons of this table (*p* with Holm's correction below .05): 0." in page
    assert "| org/model | shortcut words | +0.070 | +0." in page, "its own interval is above zero"
    assert page.count("| org/model | shortcut words |") == 20


def test_models_are_compared_with_people_on_the_rows_that_people_read(tmp_path):
    evaluation("org/model", [1, 0] * 50, readers=[1] * 100).save(tmp_path)
    page = write_comparison(tmp_path, "o/d").read_text(encoding="utf-8")
    assert "| config | majority | shortcut | people | org/model |" in page
    assert "| made\\_en | 0.500 | 0.600 | 1.000 | 0.500 - |" in page
    assert "| made\\_en | org/model | people | -0.500 * |" in page


def test_models_in_folders_with_the_same_last_names_keep_their_scores(tmp_path):
    """They are in different files, and the page names them by what is different."""
    models = ["/runs/one/checkpoint/model", "/runs/two/checkpoint/model", "/runs/two/other", "org/model"]
    for model, right in zip(models, (10, 20, 30, 40), strict=True):
        evaluation(model, [1] * right + [0] * (50 - right)).save(tmp_path)
    page = write_comparison(tmp_path, "o/d").read_text(encoding="utf-8")
    assert "| shortcut | one/checkpoint/model | two/checkpoint/model | other | org/model |" in page
    assert "| made\\_en | 0.500 | 0.600 | 0.200 - | 0.400 - | 0.600 - | 0.800 |" in page
    assert len(list(tmp_path.glob("*/.eval_results/*.yaml"))) == 4


def test_tables_for_a_paper_have_all_models_and_configs(tmp_path):
    """CSV as polars reads it; LaTeX with marks, the best in bold, and the mean over configs that both models have."""
    shortcut = [1, 1, 0, 1, 0] * 10
    for config in ("dc_en", "so_en"):
        for model, right in (("org/one_1", 50), ("org/two", 25)):
            evaluation(model, [1] * right + [0] * (50 - right), config=config, shortcut=shortcut).save(tmp_path)
    evaluation("org/two", [1] * 50, config="sp_en").save(tmp_path)
    page = write_comparison(tmp_path, "o/d").read_text(encoding="utf-8")
    scores = pl.read_csv(tmp_path / "scores.csv")
    assert scores.sort("config", "model").select("config", "model", "accuracy").rows() == [
        ("dc_en", "org/one_1", 1.0), ("dc_en", "org/two", 0.5), ("so_en", "org/one_1", 1.0), ("so_en", "org/two", 0.5),
        ("sp_en", "org/two", 1.0),
    ]  # fmt: skip
    (low, high), *_ = scores.filter(model="org/one_1").select("low", "high").rows()
    assert (low, high) == intervals.exact(50, 50)
    differences = pl.read_csv(tmp_path / "differences.csv")
    assert differences["table"].value_counts().sort("table")["count"].to_list() == [2, 4]
    assert (differences["p_holm"] >= differences["p"]).all()
    tex = (tmp_path / "scores.tex").read_text(encoding="utf-8")
    assert r"config & majority & shortcut & org/one\_1 & org/two \\" in tex
    ends = r"{\scriptsize [.929, 1.000]}"
    half = r".500$^{-}$ {\scriptsize [.355, .645]}"
    assert rf"dc\_en & .500 & .600 & \textbf{{1.000}}$^{{+}}$ {ends} & {half} \\" in tex
    assert rf"sp\_en & .500 & .600 &  & \textbf{{1.000}} {ends} \\" in tex
    off = intervals.exact(25, 50)[1] - 0.5
    mean = f"[{0.5 - off / 2**0.5:.3f}, {0.5 + off / 2**0.5:.3f}]".replace("0.", ".")
    assert rf"& .500 {{\scriptsize {mean}}} \\" in tex
    assert "| configs of all models | 2 | 1.000 (" in page


def test_curves_of_several_models_are_in_one_plot(tmp_path):
    """Of the best part and pooling of each, with intervals; a model that is scored by surprisal has none."""
    for model, n_layers in (("org/small", 3), ("org/large", 5)):
        one = evaluation(model, [1] * 30 + [0] * 20)
        scores = [msgspec.structs.replace(one.best, layer=layer) for layer in range(n_layers)]
        others = [msgspec.structs.replace(score, method="first") for score in scores]
        msgspec.structs.replace(one, scores=(*scores, *others)).save(tmp_path)
    evaluation("org/by_surprisal", [1] * 50, layer=None).save(tmp_path)
    page = write_comparison(tmp_path, "o/d").read_text(encoding="utf-8")
    svg = (tmp_path / "made_en" / "layers.svg").read_text(encoding="utf-8")
    assert svg.count("<circle") == 3 + 5
    assert "org/small" in svg
    assert "org/large" in svg
    assert "](made_en/layers.svg)" in page


def test_a_layer_stands_at_its_number_in_plots(tmp_path):
    """Layers 0 and 6 of a model of which only these were probed, and 12 layers of a larger one."""
    one = evaluation("org/some", [1] * 30 + [0] * 20)
    for model, layers in (("org/some", (0, 6)), ("org/all", range(13))):
        scores = tuple(msgspec.structs.replace(one.best, layer=layer) for layer in layers)
        msgspec.structs.replace(one, model=model, best=scores[0], scores=scores).save(tmp_path)
    write_comparison(tmp_path, "o/d")
    svg = (tmp_path / "made_en" / "layers.svg").read_text(encoding="utf-8")
    places = [float(x) for x in re.findall(r'<circle cx="([0-9.]+)"', svg)]
    of_six = next(float(x) for x in re.findall(r'<text x="([0-9.]+)" [^>]*>6<', svg))
    assert sorted(x for x in set(places) if places.count(x) == 2) == [min(places), of_six]


def test_figures_of_the_screen_are_on_the_page(tmp_path):
    """Also the trigram floor, in the LaTeX table as well; layers with linear probe and MLP are lines of a table."""
    one = evaluation("org/model", [1] * 30 + [0] * 20)
    best = msgspec.structs.replace(one.best, ties=3, macro_f1=0.61, layer=2, mlp=0.7)
    other = msgspec.structs.replace(best, layer=3, mlp=0.8)
    msgspec.structs.replace(
        one, best=best, scores=(best, other), floor=0.777, truncated=9, train_rows=1234, shortcut="words"
    ).save(tmp_path)
    page = write_comparison(tmp_path, "o/d").read_text(encoding="utf-8")
    low, high = best.interval
    assert f"| org/model | 0.600 ({low:.3f} to {high:.3f}) | layer 2, {best.method} | 0.610 | words |" in page
    assert "| 1234 | 50 | 3 | 9 |" in page
    assert "| config | majority | shortcut | trigrams | org/model |" in page
    assert "| made\\_en | 0.500 | 0.600 | 0.777 | 0.600" in page
    assert r"config & majority & shortcut & trigrams & org/model \\" in (tmp_path / "scores.tex").read_text("utf-8")
    layers = pl.read_csv(tmp_path / "layers.csv")
    assert layers.select("layer", "accuracy", "mlp").rows() == [(2, 0.6, 0.7), (3, 0.6, 0.8)]
    assert "](org_model.layers.svg)" in page
    assert "0.80" in (tmp_path / "org_model.mlp.svg").read_text(encoding="utf-8")


def test_means_of_languages_and_tasks_stand_beside_that_of_all(tmp_path):
    for config, right in (("dc_en", 30), ("dc_es", 40), ("sp_en", 50), ("sp_es", 20)):
        evaluation("org/model", [1] * right + [0] * (50 - right), config=config).save(tmp_path)
    evaluation("org/model", [1] * 50, config="so_en").save(tmp_path)
    page = write_comparison(tmp_path, "o/d").read_text(encoding="utf-8")
    for line in ("| configs of all models | 5 | 0.760 (", "| language en | 3 | 0.867 (", "| language es | 2 | 0.600 (",
                 "| task dc | 2 | 0.700 (", "| task sp | 2 | 0.700 ("):  # fmt: skip
        assert line in page
    assert "task so" not in page, "one config has no mean"
    assert "](languages.svg)" in page


def test_a_folder_without_scores_gets_no_page(tmp_path):
    assert write_comparison(tmp_path, "org/data") is None
    assert not list(tmp_path.iterdir())
