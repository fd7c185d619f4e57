"""A frozen model is at chance where nothing tells the label, and above it where something does."""

import json
import re
import shutil
from types import SimpleNamespace

import msgspec
import numpy as np
import polars as pl
import pytest
from tiny_models import WORDS, tokenizer_of
from typer.testing import CliRunner

torch = pytest.importorskip("torch", reason="the extra 'probe' is not installed")
transformers = pytest.importorskip("transformers", reason="the extra 'probe' is not installed")

from discoprobe.auditing import read_all
from discoprobe.builders import Shape
from discoprobe.builders.audit import AuditInput, conform
from discoprobe.builders.audit.inputs.data_files import Reading
from discoprobe.builders.audit.run import audit, score_of_solver
from discoprobe.cards.metadata import manifest
from discoprobe.cards.readers import CANNOT_TELL, Mark, append, marks_file, right_answer
from discoprobe.cards.release.rows import read_split
from discoprobe.cards.text import layer_plot
from discoprobe.cli import app
from discoprobe.evaluation import comparison, evaluate, load_model, models, probes, surprisal
from discoprobe.evaluation.scores import read_saved
from discoprobe.loaders import UnsupportedError, UsageError, silent

SPLITS = {"train": 240, "validation": 80, "test": 160}


@pytest.fixture(scope="module")
def encoder(model_folder):
    """The folder of a BERT with random weights."""
    return model_folder("bert")


def trained(folder, texts):
    """The folder of a GPT-2 that was trained to predict the words of texts."""
    torch.manual_seed(3)
    tokenizer = tokenizer_of(WORDS)
    config = transformers.GPT2Config(
        vocab_size=45, n_positions=32, n_embd=32, n_layer=2, n_head=2, bos_token_id=2, eos_token_id=2
    )
    model = transformers.GPT2LMHeadModel(config)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(60):
        ids = torch.tensor([[2, *tokenizer(text)["input_ids"]] for text in texts])
        loss = model(input_ids=ids, labels=ids).loss
        loss.backward()
        optimiser.step()
        optimiser.zero_grad()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


def sentences(n, seed):
    return [[WORDS[at] for at in line] for line in np.random.default_rng(seed).integers(2, len(WORDS), (n, 6))]


def data(rows, shape=Shape.SENTENCE, labels=("no", "yes"), **values):
    """A dataset of rows (label, texts, further columns), divided into splits in order."""
    split = [name for name, n in SPLITS.items() for _ in range(n)][: len(rows)]
    frame = pl.DataFrame([{"split": name, **row} for name, row in zip(split, rows, strict=True)])
    return AuditInput("made_en", shape, labels, conform(frame, shape), **values)


def labelled(*, planted):
    """Sentences with random labels; a cue stands at the beginning of those of label 1 if it is planted."""
    coins = np.random.default_rng(5).integers(0, 2, sum(SPLITS.values())).tolist()
    return data(
        [
            {"label": coin, "texts": [" ".join(["w1" if coin and planted else words[0], *words[1:]])]}
            for coin, words in zip(coins, sentences(len(coins), 1), strict=True)
        ]
    )


def test_a_probe_is_at_chance_on_random_labels_and_finds_a_planted_word(encoder):
    model = load_model(encoder)
    chance = probes.evaluate(labelled(planted=False), model, silent, controls=False).best
    found = probes.evaluate(labelled(planted=True), model, silent, controls=False).best
    assert chance.interval[0] < 0.5 < chance.interval[1]
    assert found.accuracy > 0.95
    assert found.n == SPLITS["test"]
    assert found.macro_f1 == pytest.approx(found.accuracy, abs=0.05)


def test_every_layer_and_pooling_has_a_score_and_validation_chooses(encoder):
    made = labelled(planted=True)
    long = pl.when(pl.int_range(pl.len()) == 0).then([" ".join(WORDS)]).otherwise("texts")
    made = msgspec.structs.replace(made, rows=made.rows.with_columns(texts=long))
    evaluation = probes.evaluate(made, load_model(encoder), silent, train_rows=100, controls=False)
    assert evaluation.truncated == 1
    assert [(score.method, score.layer) for score in evaluation.scores] == [
        (method, layer) for method in ("mean", "first", "last") for layer in (0, 1, 2)
    ]
    assert evaluation.best.validation == max(score.validation for score in evaluation.scores)
    assert evaluation.train_rows == 100
    assert evaluation.majority == pytest.approx(0.5, abs=0.1)
    assert evaluation.commit.isalnum()


def related(*, planted):
    """Pairs of sentences: those of label 1 have the same words, if that is planted."""
    coins = np.random.default_rng(6).integers(0, 2, sum(SPLITS.values())).tolist()
    first, second = sentences(len(coins), 2), sentences(len(coins), 3)
    rows = [
        {"label": coin, "texts": [" ".join(one), " ".join(one if coin and planted else other)]}
        for coin, one, other in zip(coins, first, second, strict=True)
    ]
    return data(rows, Shape.PAIR)


def test_a_relation_of_two_texts_is_found(encoder):
    model = load_model(encoder)
    assert probes.evaluate(related(planted=True), model, silent, controls=False).best.accuracy > 0.9
    assert probes.evaluate(related(planted=False), model, silent, controls=False).best.interval[0] < 0.5


def choices():
    """The right one of four options has the first word of the context."""
    n = sum(SPLITS.values())
    places = np.random.default_rng(7).integers(0, 4, n).tolist()
    rows = []
    for row, place in enumerate(places):
        context = sentences(1, 100 + row)[0]
        options = [" ".join(words) for words in sentences(4, 9000 + row)]
        options[place] = " ".join(context)
        rows.append({"label": place, "texts": [" ".join(context), *options], "n_context": 1})
    return data(rows, Shape.CHOICE, ("0", "1", "2", "3"))


def test_the_right_choice_is_found(encoder):
    evaluation = probes.evaluate(choices(), load_model(encoder), silent, controls=False)
    assert evaluation.best.accuracy > 0.9
    assert evaluation.best.macro_f1 is None
    assert evaluation.majority < 0.5


def ordered_pairs(n=120):
    """Words in rising order, and the same with two neighbours swapped: rows of a test split that share a pair_id."""
    rows = []
    for number in range(n):
        start = number % 30
        words = WORDS[start : start + 8]
        at = 1 + number % 6
        swapped = [*words[:at], words[at + 1], words[at], *words[at + 2 :]]
        for label, shown in enumerate((words, swapped)):
            begin = len(" ".join(shown[:at])) + 1
            end = begin + len(" ".join(shown[at : at + 2]))
            rows.append(
                {
                    "split": "test", "label": label, "texts": [" ".join(shown)], "pair_id": f"p{number}",
                    "edit_start": begin, "edit_end": end, "group": f"g{start}",
                }
            )  # fmt: skip
    frame = pl.DataFrame(rows)
    return AuditInput("made_en", Shape.SENTENCE, ("original", "edited"), conform(frame, Shape.SENTENCE), pairs=True)


@pytest.fixture(scope="module")
def random_gpt(model_folder):
    return model_folder("gpt2")


@pytest.fixture(scope="module")
def trained_gpt(tmp_path_factory):
    return trained(tmp_path_factory.mktemp("trained"), [" ".join(WORDS[start : start + 8]) for start in range(31)])


def test_surprisal_tells_originals_for_a_model_that_learned_the_order(random_gpt, trained_gpt):
    learned = surprisal.evaluate(ordered_pairs(), load_model(trained_gpt), silent)
    untrained = surprisal.evaluate(ordered_pairs(), load_model(random_gpt), silent)
    assert [score.method for score in learned.scores] == ["total", "per_token", "region", "region_per_token"]
    assert all(score.accuracy > 0.95 for score in learned.scores)
    assert untrained.best.interval[0] < 0.5 < untrained.best.interval[1]
    assert learned.best.n == 120
    assert learned.majority == 0.5


def test_a_masked_model_scores_pairs(encoder):
    """A random one is at chance, by the same measures."""
    evaluation = surprisal.evaluate(ordered_pairs(), load_model(encoder), silent)
    assert [score.method for score in evaluation.scores] == ["total", "per_token", "region", "region_per_token"]
    assert evaluation.best.interval[0] < 0.5 < evaluation.best.interval[1]
    assert evaluation.best.n == 120


def test_groups_of_two_pairs_without_a_control_are_no_items(random_gpt):
    pairs = ordered_pairs()
    two = (pl.col("pair_id").str.slice(1).cast(pl.Int64) // 2).cast(pl.String)
    grouped = msgspec.structs.replace(pairs, rows=pairs.rows.with_columns(group=two))
    assert grouped.split("test").group_by("group").len()["len"].unique().to_list() == [4]
    scores = surprisal.evaluate(grouped, load_model(random_gpt), silent).scores
    assert [score.method for score in scores] == ["total", "per_token", "region", "region_per_token"]


def test_pairs_of_one_group_count_as_dependent(trained_gpt, random_gpt):
    """Thirty groups of four pairs: the interval is wider than that of 120 independent pairs."""
    evaluation = surprisal.evaluate(ordered_pairs(), load_model(random_gpt), silent)
    low, high = evaluation.best.interval
    p = evaluation.best.accuracy
    assert high - low >= 2 * 1.96 * np.sqrt(p * (1 - p) / 120) * 0.95


def test_a_choice_is_scored_after_its_context(trained_gpt):
    rows = [
        {
            "split": "test", "label": place, "n_context": 1,
            "texts": [" ".join(WORDS[at : at + 4]), *[
                " ".join(WORDS[at + 4 : at + 8] if option == place else WORDS[at + 20 - option : at + 24 - option])
                for option in range(4)
            ]],
        }
        for at in range(12) for place in [at % 4]
    ]  # fmt: skip
    found = AuditInput("made_en", Shape.CHOICE, ("0", "1", "2", "3"), conform(pl.DataFrame(rows), Shape.CHOICE))
    evaluation = surprisal.evaluate(found, load_model(trained_gpt), silent)
    assert evaluation.best.accuracy > 0.9
    assert evaluation.majority == 0.25


def test_the_surprisal_of_a_text_does_not_depend_on_the_texts_beside_it(trained_gpt):
    model = load_model(trained_gpt)
    texts = ["w3 w4 w5", "w9", "w7 w8 w9 w10 w11 w12"]
    together = surprisal.surprisals(model, texts, silent)
    for text, read in zip(texts, together, strict=True):
        (alone,) = surprisal.surprisals(model, [text], silent)
        assert np.allclose(alone.bits, read.bits, atol=1e-3)
        assert [text[a:b] for a, b in zip(read.starts, read.ends, strict=True)] == text.split()
    assert together[2].over(3, 8).tolist() == together[2].bits[1:3].tolist()


def test_what_cannot_be_scored_is_said_in_one_line(encoder, model_folder, trained_gpt):
    with pytest.raises(UnsupportedError, match="which only causal and masked models give"):
        surprisal.evaluate(ordered_pairs(), load_model(model_folder("t5")), silent)
    with pytest.raises(UnsupportedError, match="no train and no validation split"):
        probes.evaluate(ordered_pairs(), load_model(encoder), silent)
    with pytest.raises(UnsupportedError, match="neither pairs nor choices"):
        surprisal.evaluate(labelled(planted=False), load_model(trained_gpt), silent)


def probe(release, save, *models, configs=("somo_en", "bso_es"), options=("--no-controls",)):
    """What `build probe` prints of two small configs."""
    chosen = [part for model in models for part in ("--model", model)]
    command = ["probe", *configs, "--out", str(release), *chosen, "--save", str(save), *options]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_command_prints_and_saves_scores(encoder, sample_release, tmp_path):
    printed = probe(sample_release, tmp_path, encoder)
    (saved,) = (tmp_path / "somo_en").glob("*.json")
    scores = json.loads(saved.read_text(encoding="utf-8"))
    line = next(line for line in printed.splitlines() if line.startswith("somo_en"))
    assert f"{scores['best']['accuracy']:.3f}" in line
    assert scores["shortcut"]
    assert scores["shortcut_accuracy"] > 0
    assert len(scores["rows"]["correct"]) == scores["best"]["n"]
    assert np.mean(scores["rows"]["correct"]) == pytest.approx(scores["best"]["accuracy"])
    assert "<svg" in saved.with_suffix(".svg").read_text(encoding="utf-8")
    as_json = json.loads(probe(sample_release, tmp_path, encoder, options=("--no-controls", "--json")))
    assert as_json["scores"][0]["best"] == scores["best"]


@pytest.mark.parametrize("options", [("--no-controls",), ("--surprisal",)])
def test_the_shortcut_and_people_are_known_row_by_row(options, random_gpt, sample_release, tmp_path):
    """Also of pairs, and also of what was scored before people read it; *cannot tell* is not right."""
    name, release = "somo_en", tmp_path / "release"
    (release / name).mkdir(parents=True)
    for path in (*sample_release.glob(f"{name}/*"), *sample_release.glob("*.json"), *sample_release.glob("*.md")):
        shutil.copy(path, release / path.relative_to(sample_release))
    probe(release, tmp_path / "scores", random_gpt, configs=(name,), options=options)
    entry, rows = manifest.read(release).configs[name], read_split(release, name, "test")
    answers = [right_answer(row, entry.labels) for row in rows.iter_rows(named=True)]
    marks = [
        Mark("answer", "ana", "person", f"2026-01-01T00:00:{number:02d}.000Z", name, row,
             answer=answer if number % 4 else CANNOT_TELL)
        for number, (row, answer) in enumerate(zip(rows["id"].head(20), answers, strict=False))
    ]  # fmt: skip
    append(marks_file(release), marks)
    printed = probe(release, tmp_path / "scores", random_gpt, configs=(name,), options=options)
    page = (tmp_path / "scores" / "README.md").read_text("utf-8")
    assert re.search(r"\| config \| majority \| shortcut \|( trigrams \|)? people \|", page)
    (path,) = (tmp_path / "scores" / name).glob("*.json")
    saved = read_saved(path)
    expected: dict[str, list[float]] = {}
    key = "pair_id" if options == ("--surprisal",) else "id"
    for number, row in enumerate(rows.head(20)[key]):
        expected.setdefault(row, []).append(float(number % 4 > 0))
    assert dict(zip(saved.readers.ids, saved.readers.correct, strict=True)) == {
        row: np.mean(correct) for row, correct in expected.items()
    }
    assert saved.shortcut == entry.audit.strongest
    assert saved.shortcut_rows.ids == saved.rows.ids
    assert f"{saved.shortcut_accuracy:.3f} ({saved.shortcut})" in printed
    (data,) = read_all([name], release, Reading())[0]
    assert score_of_solver(data, saved.shortcut).accuracy == audit(data).strongest.measured == saved.shortcut_accuracy


@pytest.mark.parametrize("check", ["differences", "pairwise"])
def test_a_shortcut_of_pairs_is_known_of_both_rows(check):
    """The edited text is longer in three quarters of the pairs; the solver names one row of each pair."""
    rows = [
        {"label": label, "pair_id": str(number), "texts": [" ".join(words[:n])]}
        for number, words in enumerate(sentences(sum(SPLITS.values()) // 2, 6))
        for label, n in enumerate((5, 6 if number % 4 else 4))
    ]
    made = data(rows, pairs=True, perturbation=True)
    score = score_of_solver(made, check)
    entry = SimpleNamespace(audit=SimpleNamespace(strongest=check, accuracy=score.accuracy))
    name, accuracy, correct = evaluate._shortcut(made, entry)
    assert (name, accuracy) == (check, score.accuracy)
    assert len(score.ids) == made.rows.height // 2
    answers = made.rows.with_columns(correct=pl.col("id").replace_strict(correct))
    assert answers["correct"].mean() == pytest.approx(score.accuracy)
    assert answers.group_by("pair_id").agg(pl.col("correct").n_unique())["correct"].unique().to_list() == [1]


def test_layers_are_analysed_and_compared_within_and_between_models(encoder, random_gpt, sample_release, tmp_path):
    """A model that is added later is compared with those before; a layer is most similar to itself."""
    options = ("--no-controls", "--train-rows", "60", "--analyse-layers")
    probe(sample_release, tmp_path, encoder, options=options, configs=("sent_len_en", "bso_es"))
    probe(sample_release, tmp_path, random_gpt, options=options, configs=("sent_len_en", "bso_es"))
    (first, second) = sorted((tmp_path / "sent_len_en").glob("*.npz"))
    names = {path.name for path in (tmp_path / "sent_len_en").glob("*.svg")}
    pairs = (first.stem, second.stem, f"{first.stem}-{second.stem}")
    assert names >= {f"{pair}.{measure}.svg" for pair in pairs for measure in ("cka", "maxcorr")}
    for measure in comparison.similarities(first, first):
        assert len(measure) == 9
        assert all(value == pytest.approx(1) for (one, other), value in measure.items() if one == other)
    assert all(0 <= value < 1 for value in comparison.similarities(first, second)[0].values())
    (saved, _) = sorted((tmp_path / "sent_len_en").glob("*.json"))
    scores = json.loads(saved.read_text(encoding="utf-8"))
    best, neurons = scores["best"], scores["neurons"]
    with_mlp = {(each["method"], each["layer"]) for each in scores["scores"] if each["mlp"] is not None}
    assert with_mlp == {(best["method"], layer) for layer in range(3)}
    assert best["mlp"] > 0
    assert sum(neurons["by_layer"]) == pytest.approx(1)
    assert neurons["n"] == 3 * 32
    (of_pairs, _) = sorted((tmp_path / "bso_es").glob("*.json"))
    assert json.loads(of_pairs.read_text(encoding="utf-8"))["neurons"] is None
    page = (tmp_path / "README.md").read_text(encoding="utf-8")
    for path in (*tmp_path.glob("*.svg"), *tmp_path.glob("*/*.svg")):
        assert page.count(f"]({path.relative_to(tmp_path).as_posix()})") == 1


def test_a_run_goes_on_where_it_was_killed(encoder, random_gpt, sample_release, tmp_path, monkeypatch):
    """Two models, two configs; after the third of four scores the process is gone."""
    whole = probe(sample_release, tmp_path / "whole", encoder, random_gpt)
    scored, evaluate = [], probes.evaluate

    def killed(data, model, *arguments, **options):
        if len(scored) == 3:
            raise KeyboardInterrupt
        scored.append((data.name, model.name))
        return evaluate(data, model, *arguments, **options)

    monkeypatch.setattr(probes, "evaluate", killed)
    command = ["probe", "somo_en", "bso_es", "--out", str(sample_release), "--model", encoder, "--model", random_gpt]
    interrupted = CliRunner().invoke(app, [*command, "--save", str(tmp_path / "parts"), "--no-controls"])
    assert interrupted.exit_code != 0
    assert [line.split()[0] for line in interrupted.stdout.splitlines()[1:4]] == ["somo_en", "bso_es", "somo_en"]
    scored.clear()
    resumed = probe(sample_release, tmp_path / "parts", encoder, random_gpt)
    assert scored == [("bso_es", random_gpt)]
    assert resumed.replace("parts", "whole") == whole
    scored.clear()
    probe(sample_release, tmp_path / "parts", encoder, options=("--no-controls", "--train-rows", "30"))
    assert scored == [("somo_en", encoder), ("bso_es", encoder)], "other options, other scores"


def test_another_probe_of_the_same_rows_lets_the_model_read_nothing(encoder, sample_release, tmp_path, monkeypatch):
    """Fewer training rows, then with controls: these need texts in another order, and random weights."""
    monkeypatch.setenv("DISCOPROBE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(probes, "SEEDS", 2)
    few, fewer = ("--no-controls", "--train-rows", "40"), ("--no-controls", "--train-rows", "20")
    whole = probe(sample_release, tmp_path / "scores", encoder, options=few)
    read, pooled = [], models._pooled
    monkeypatch.setattr(
        models, "_pooled", lambda model, *of: read.append(model.random_seed is None) or pooled(model, *of)
    )
    assert probe(sample_release, tmp_path / "other", encoder, options=few).replace("/other/", "/scores/") == whole
    probe(sample_release, tmp_path / "scores", encoder, options=fewer)
    assert not read
    probe(sample_release, tmp_path / "scores", encoder, options=fewer[1:], configs=("bso_es",))
    n_read = len(read)
    assert n_read > 0
    assert not all(read)
    probe(sample_release, tmp_path / "other", encoder, options=fewer[1:], configs=("bso_es",))
    assert len(read) == n_read
    probe(sample_release, tmp_path / "third", encoder, options=(*fewer, "--vector-cache", "0"))
    assert len(read) > n_read


def test_a_quick_run_has_the_first_rows_and_no_controls(encoder, sample_release, tmp_path, monkeypatch):
    monkeypatch.setattr(evaluate, "QUICK", {"train": 20, "validation": 8, "test": 12})
    for folder, options in (("quick", ("--quick",)), ("whole", ("--no-controls", "--train-rows", "20"))):
        probe(sample_release, tmp_path / folder, encoder, configs=("somo_en",), options=options)
    quick, whole = (read_saved(next((tmp_path / folder / "somo_en").glob("*.json"))) for folder in ("quick", "whole"))
    assert (quick.train_rows, quick.best.n, quick.controls) == (20, 12, None)
    assert quick.rows.ids == whole.rows.ids[:12]
    assert quick.shortcut_rows.ids == quick.rows.ids


def test_probes_are_measured_on_other_languages_of_a_release(encoder, sample_release, tmp_path):
    options = ("--no-controls", "--transfer", "de,en", "--layers", "0,2")
    printed = probe(sample_release, tmp_path, encoder, configs=("bso_es", "bso_de"), options=options)
    scores = {path.parent.name: read_saved(path) for path in tmp_path.glob("*/*.json")}
    assert [each.condition for each in scores["bso_es"].transfer] == ["bso_de", "bso_en"]
    assert [each.condition for each in scores["bso_de"].transfer] == ["bso_en"]
    assert {each.layer for each in scores["bso_es"].scores} == {0, 2}
    (score, _) = scores["bso_es"].transfer
    assert score.n == scores["bso_de"].best.n
    assert f"bso_de {score.accuracy:.3f}" in " ".join(printed.split())
    page = (tmp_path / "README.md").read_text(encoding="utf-8")
    own = scores["bso_de"].best.accuracy
    assert re.search(rf"bso\\_es \| bso\\_de \| {score.accuracy:.3f} \([^|]*\| {own:.3f} \|", page)
    wrong = CliRunner().invoke(
        app, ["probe", "bso_es", "--out", str(sample_release), "--model", encoder, "--layers", "x"]
    )
    assert "--layers x: give numbers of layers" in " ".join(wrong.output.split()) + str(wrong.exception)


def test_what_does_not_fit_is_listed_and_the_rest_is_scored(model_folder, random_gpt, sample_release, tmp_path):
    printed = probe(
        sample_release, tmp_path, model_folder("t5"), random_gpt, configs=("somo_en", "sent_len_en"),
        options=("--surprisal",),
    )  # fmt: skip
    scores, _, misfits = printed.partition("not scored")
    assert [line.split()[:2] for line in scores.splitlines()[1:2]] == [["somo_en", random_gpt.rpartition("/")[2]]]
    assert "sent_len_en: neither pairs nor choices" in " ".join(misfits.split())
    assert "somo_en: its texts are compared by their probability" in " ".join(misfits.split())


def test_languages_and_tasks_of_a_release_are_chosen(sample_release):
    entries = manifest.read(sample_release).configs
    chosen = evaluate._datasets((), sample_release, entries, ("es", "de"), ("sp", "bso"))[0]
    assert [name for name, *_ in chosen] == ["bso_de", "bso_es", "sp_de", "sp_es"]
    with pytest.raises(UsageError, match="no config of these languages"):
        evaluate._datasets((), sample_release, entries, ("fi",), ())


def test_names_of_baselines_stand_apart_in_the_plot():
    curves = {name: [(0, low, None), (1, low + 0.2, None)] for name, low in (("mean", 0.5), ("token", 0.4))}
    svg = layer_plot("made_en", curves, {"majority": 0.5, "shortcut": 0.51})
    heights = [float(found) for found in re.findall(r'<text x="40.0" y="([0-9.]+)">', svg)]
    assert len(heights) == 2
    assert heights[1] - heights[0] >= 12
    assert svg.count("<circle") == 4
