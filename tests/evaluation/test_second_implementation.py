"""The figures of probes, computed a second time with plain scikit-learn from the published definitions.

Vectors are random numbers that know a part of the label, one per text. Nothing of ``probes`` is used but its constants
and, where a figure depends on chance, the order of rows and the control labels that it chose.
"""

import itertools
import types
import warnings
from collections import Counter

import msgspec
import numpy as np
import polars as pl
import pytest
from scipy.stats import pearsonr, spearmanr
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, f1_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from discoprobe.builders import Shape
from discoprobe.builders.audit import AuditInput, conform
from discoprobe.evaluation import comparison, interval_of, probes
from discoprobe.loaders import silent

SIZES = {"train": 90, "validation": 40, "test": 50}
DIMENSIONS = 6
SPLIT = np.repeat(list(SIZES), list(SIZES.values()))
N = len(SPLIT)


def label_and_texts(shape, n_labels, *, signal, seed=1):
    """Rows whose texts are names, and the vectors of the texts; with ``signal`` they know the label."""
    random = np.random.default_rng(seed)
    vectors, rows = {}, []

    def text(*knows):
        name = f"text {len(vectors)}"
        vectors[name] = random.normal(size=DIMENSIONS)
        vectors[name][: len(knows)] += signal * np.array(knows)
        return name

    for split in SPLIT:
        label = int(random.integers(n_labels))
        if shape is Shape.CHOICE:
            n = int(random.integers(2, 5))
            label %= n
            context = [text(1.0), text(1.0)]
            row = {"texts": context + [text(1.0 if at == label else -1.0) for at in range(n)], "n_context": 2}
        elif shape is Shape.SEQUENCE:
            row = {"texts": [text(label) for _ in range(int(random.integers(2, 6)))]}
        else:
            row = {"texts": [text(label) for _ in range(2 if shape is Shape.PAIR else 1)]}
        rows.append({"split": split, "label": label, **row})
    return rows, vectors


def features_of(row, vectors):
    """As documented: vectors, |differences| and products; of sequences of different length their means."""
    texts = [vectors[text].astype(np.float32) for text in row["texts"]]
    if "n_context" in row:
        context, options = texts[:2], texts[2:]
        return [
            np.concatenate([option, *(f for c in (np.mean(context, axis=0), context[1])
                                      for f in (abs(c - option), c * option))])
            for option in options
        ]  # fmt: skip
    pairs = list(itertools.pairwise(texts))
    if row.get("sequence"):
        means = [np.mean([abs(a - b) for a, b in pairs], axis=0), np.mean([a * b for a, b in pairs], axis=0)]
        return np.concatenate([np.mean(texts, axis=0), texts[0], texts[-1], *means])
    return np.concatenate([*texts, *(abs(a - b) for a, b in pairs), *(a * b for a, b in pairs)])


def probabilities(rows, features, labels, learned, strength, n_labels):
    """The probability of each label in each row, of a probe that learned some rows; as lists, one per row."""
    classifier = make_pipeline(StandardScaler(), LogisticRegression(C=strength, max_iter=probes.STEPS))
    is_choice = "n_context" in rows[0]
    if is_choice:
        examples = [(vector, at == labels[row]) for row in learned for at, vector in enumerate(features[row])]
        classifier.fit(np.array([x for x, _ in examples]), [y for _, y in examples])
        odds = [np.exp(classifier.decision_function(np.array(of_row)).astype(float)) for of_row in features]
        return [each / each.sum() for each in odds]
    seen = sorted({labels[row] for row in learned})
    if len(seen) == 1:
        return [np.eye(n_labels)[seen[0]]] * len(rows)
    classifier.fit(np.array([features[row] for row in learned]), [labels[row] for row in learned])
    shares = np.zeros((len(rows), n_labels))
    shares[:, seen] = classifier.predict_proba(np.array(features))
    return list(shares)


def places_of(split):
    return [row for row in range(N) if SPLIT[row] == split]


def bits(shares, labels, rows, n):
    return -sum(np.log2((n * shares[row][labels[row]] + 1) / (n + len(shares[row]))) for row in rows)


def bits_of_frequencies(shares, labels, learned, rows):
    """Laplace's rule of succession, over the labels that a row can have."""
    counts = Counter(labels[row] for row in learned)
    return -sum(
        np.log2((counts[labels[row]] + 1) / sum(counts[label] + 1 for label in range(len(shares[row])))) for row in rows
    )


def second(rows, vectors, n_labels, random_labels):
    """Accuracy, F1, validation, code lengths in the order of train, learning curve, accuracy on random labels."""
    features, labels = [features_of(row, vectors) for row in rows], [row["label"] for row in rows]
    train, validation, test = map(places_of, SIZES)

    def accuracy(shares, chosen):
        return accuracy_score([labels[row] for row in chosen], [shares[row].argmax() for row in chosen])

    fits = [probabilities(rows, features, labels, train, strength, n_labels) for strength in probes.STRENGTHS]
    best = max(range(len(fits)), key=lambda at: accuracy(fits[at], validation))
    predicted = [fits[best][row].argmax() for row in test]
    sizes = sorted({round(share * len(train)) for share in probes.FRACTIONS} - {0})
    length = of_frequencies = sum(np.log2(len(fits[0][row])) for row in train[: sizes[0]])
    curve = []
    for size, after in zip(sizes, [*sizes[1:], len(train)], strict=True):
        of_size = [probabilities(rows, features, labels, train[:size], strength, n_labels)
                   for strength in probes.STRENGTHS]  # fmt: skip
        shares = min(of_size, key=lambda each: bits(each, labels, validation, size))
        length += bits(shares, labels, train[size:after], size)
        of_frequencies += bits_of_frequencies(shares, labels, train[:size], train[size:after])
        most = max(of_size, key=lambda each: accuracy(each, validation))
        curve.append((size, accuracy(most, test)))
    of_random = []
    for chance in random_labels:
        learned = [probabilities(rows, features, list(chance), train, strength, n_labels)
                   for strength in probes.STRENGTHS]  # fmt: skip
        most = max(learned, key=lambda each: np.mean([each[row].argmax() == chance[row] for row in validation]))
        of_random.append(np.mean([most[row].argmax() == chance[row] for row in test]))
    return {
        "random": np.mean(of_random), "frequencies": of_frequencies,
        "accuracy": accuracy(fits[best], test), "validation": accuracy(fits[best], validation),
        "macro_f1": f1_score([labels[row] for row in test], predicted, average="macro"),
        "strength": probes.STRENGTHS[best], "code_length": length, "curve": curve,
        "uniform": sum(np.log2(len(fits[0][row])) for row in train),
    }  # fmt: skip


@pytest.fixture
def probed(monkeypatch):
    """A function: the evaluation of rows with given vectors, by `probes`."""

    def evaluate(rows, vectors, shape, n_labels, **options):
        model = types.SimpleNamespace(
            name="m", commit="c", with_random_weights=lambda _seed: model,
            tokenizer=lambda texts, **_: {"input_ids": [[]] * len(texts)}, longest=1,
        )  # fmt: skip

        def vectors_of(_model, units, progress, only=None, cache=None, layers=()):
            nothing = np.zeros(len(next(iter(vectors.values()))))
            known = [vectors.get(text, nothing) for text, *_ in units]
            return {only or ("model", 0, "mean"): np.array(known, np.float32)}

        monkeypatch.setattr(probes, "vectors_of", vectors_of)
        frame = pl.DataFrame([{key: row[key] for key in row if key != "sequence"} for row in rows])
        labels = tuple(map(str, range(n_labels)))
        return probes.evaluate(AuditInput("made_en", shape, labels, conform(frame, shape)), model, silent, **options)

    return evaluate


CASES = [(Shape.SENTENCE, 2), (Shape.SENTENCE, 4), (Shape.PAIR, 2), (Shape.SEQUENCE, 2), (Shape.CHOICE, 4)]
KNOWN = [(*case, signal) for case, signal in zip(CASES, [0.0, 0.7, 0.7, 0.7, 0.7], strict=True)]


@pytest.fixture
def few_seeds(monkeypatch):
    """Two seeds, which take less time than five."""
    monkeypatch.setattr(probes, "SEEDS", 2)


@pytest.mark.parametrize(("shape", "n_labels", "signal"), KNOWN)
def test_figures_equal_a_second_implementation(shape, n_labels, signal, probed, monkeypatch, few_seeds):
    """The code is that of the order of train; orders of other seeds are as that one."""
    rows, vectors = label_and_texts(shape, n_labels, signal=signal)
    if shape is Shape.SEQUENCE:
        rows = [row | {"sequence": True} for row in rows]
    lengths = []
    online_code = probes._online_code
    monkeypatch.setattr(
        probes, "_online_code", lambda *arguments: lengths.append(online_code(*arguments)) or lengths[-1]
    )
    chosen = []
    read = probes._read
    monkeypatch.setattr(probes, "_read", lambda *arguments: chosen.append(read(*arguments)) or chosen[-1])
    evaluation = probed(rows, vectors, shape, n_labels)
    random_labels = [chosen[0][0].by_chance("random label", "id", seed).labels for seed in range(probes.SEEDS)]
    expected = second(rows, vectors, n_labels, random_labels)
    best = evaluation.best
    assert best.accuracy == pytest.approx(expected["accuracy"], abs=1e-6)
    assert best.validation == pytest.approx(expected["validation"], abs=1e-6)
    assert best.strength == expected["strength"]
    if shape is not Shape.CHOICE:
        assert best.macro_f1 == pytest.approx(expected["macro_f1"], abs=1e-6)
    assert lengths[0][0].sum() == pytest.approx(expected["code_length"], rel=1e-6)
    assert lengths[0][1].sum() == pytest.approx(expected["frequencies"], rel=1e-6)
    assert evaluation.controls.random_labels.value == pytest.approx(expected["random"], abs=1e-6)
    code = evaluation.controls.code_length
    assert code.uniform == pytest.approx(expected["uniform"], abs=1e-6)
    assert code.probe.value == pytest.approx(np.mean([by_probe.sum() for by_probe, *_ in lengths]))
    assert code.saved == pytest.approx((code.frequencies - code.probe.value) / SIZES["train"])
    assert code.compression == pytest.approx(code.frequencies / code.probe.value)
    curve = evaluation.controls.curve
    assert [(n, share) for n, share, _ in curve] == [
        (n, pytest.approx(share, abs=1e-6)) for n, share in expected["curve"]
    ]
    assert curve[-1] == (SIZES["train"], best.accuracy, best.interval)


def test_correlations_equal_a_second_implementation(probed):
    """Scores from 0 to 5 of pairs, as in SICK; the strength of ridge regression is chosen by Pearson's correlation."""
    rows, vectors = label_and_texts(Shape.PAIR, 6, signal=0.5)
    noise = np.random.default_rng(4).normal(0, 0.3, N)
    rows = [row | {"score": row["label"] + float(off)} for row, off in zip(rows, noise, strict=True)]
    score = probed(rows, vectors, Shape.PAIR, 6, controls=False).best
    values, truth = np.array([features_of(row, vectors) for row in rows]), np.array([row["score"] for row in rows])
    train, validation, test = map(places_of, SIZES)
    models = [
        make_pipeline(StandardScaler(), Ridge(1 / strength)).fit(values[train], truth[train])
        for strength in probes.STRENGTHS
    ]
    best = max(models, key=lambda model: pearsonr(model.predict(values[validation]), truth[validation])[0])
    predicted = best.predict(values[test])
    assert score.pearson == pytest.approx(pearsonr(predicted, truth[test])[0], abs=1e-5)
    assert score.spearman == pytest.approx(spearmanr(predicted, truth[test])[0], abs=1e-3)


def test_a_model_that_knows_the_label_has_a_short_code(probed, few_seeds):
    rows, vectors = label_and_texts(Shape.SENTENCE, 2, signal=12.0)
    controls = probed(rows, vectors, Shape.SENTENCE, 2).controls
    code = controls.code_length
    assert code.compression > 3
    assert code.is_known, "with 90 rows, because its interval is above zero"
    assert code.interval[0] > 0.5
    assert code.probe.sd < 0.2 * code.probe.value
    assert controls.mlp.value > 0.95
    assert abs(controls.random_labels.value - controls.random_labels_chance) < 0.2
    assert controls.shuffled_words < 0.9, "half of the texts change, and then their vectors know nothing"
    assert controls.random_weights.seeds == probes.RANDOM_WEIGHTS


def test_vectors_that_know_nothing_have_no_shorter_code_than_the_frequencies_of_labels(probed, few_seeds):
    """Of two labels in equal parts, and of one in nine tenths of the rows, where the uniform code is much longer."""
    for share in (0.5, 0.9):
        for seed in range(3):
            rows, vectors = label_and_texts(Shape.SENTENCE, 2, signal=0.0, seed=10 + seed)
            coins = np.random.default_rng(seed).random(N) > share
            rows = [row | {"label": int(coin)} for row, coin in zip(rows, coins, strict=True)]
            code = probed(rows, vectors, Shape.SENTENCE, 2).controls.code_length
            assert code.interval[0] <= 0
            assert 0.85 < code.compression < 1.05
            assert not code.is_known or code.interval[1] < 0
        assert (code.uniform / code.probe.value > 1.4) == (share == 0.9), "what the uniform code would call compression"


@pytest.mark.parametrize("signal", [0.0, 1.0])
def test_the_code_of_pairs_is_not_longer_because_their_texts_resemble_each_other(signal):
    """Both texts of a pair have nearly one vector, and different labels; the label has a place of its own in it.

    There are as many dimensions as training rows, so that a probe that knows one text of a pair is wrong on the other.
    """
    random = np.random.default_rng(11)
    rows, vectors = [], []
    for pair in range(210):
        vector = random.normal(size=300)
        for label in (0, 1):
            split = "train" if pair < 150 else "validation" if pair < 200 else "test"
            rows.append({"split": split, "label": label, "texts": [f"t{len(rows)}"], "pair_id": f"p{pair}"})
            vectors.append(vector + 0.1 * random.normal(size=300))
            vectors[-1][0] += signal * (2 * label - 1)
    data = AuditInput("made_en", Shape.SENTENCE, ("a", "b"), conform(pl.DataFrame(rows), Shape.SENTENCE), pairs=True)
    read = probes._read(data, 10_000)[0]
    codes = [probes._online_code(read, np.array(vectors, np.float32), seed)[:2] for seed in (1, 2)]
    code = probes._summed(read, codes)
    if signal:
        assert code.interval[0] > 0.1
    else:
        assert 0.97 < code.compression < 1.01


def rows_of_words(n_words, *, of_word=None, noise=0.0, seed=2):
    """Sentences that ask about one of some words, with its vector; a label by chance, or what ``of_word`` gives."""
    random = np.random.default_rng(seed)
    words, vectors, rows = random.normal(size=(n_words, 40)), {}, []
    for at, split in enumerate(SPLIT):
        word = int(random.integers(n_words))
        label = int(random.integers(2)) if of_word is None else of_word(at, word)
        rows.append({
            "split": split, "label": label, "texts": [f"w{word} {at}"], "target": f"w{word}", "target_start": 0,
            "target_end": len(f"w{word}"),
        })  # fmt: skip
        vectors[f"w{word} {at}"] = words[word] + noise * random.normal(size=40)
    return rows, vectors


def test_a_probe_that_can_learn_words_by_heart_is_not_selective(probed, few_seeds):
    """Twenty words with a label each, in every split: both these and other labels of words are learned by heart."""
    rows, vectors = rows_of_words(20, of_word=lambda _, word: word % 2)
    selectivity = probed(rows, vectors, Shape.SENTENCE, 2).controls.selectivity
    assert selectivity.control.value > 0.97
    assert selectivity.value == pytest.approx(0, abs=0.03)


def test_a_probe_that_reads_a_label_from_the_sentence_is_selective(probed, few_seeds):
    """Eighty words that recur about twice; the label stands in a place of its own of the vector."""
    rows, vectors = rows_of_words(80, of_word=lambda at, _: at % 2, noise=0.8)
    for row in rows:
        vectors[row["texts"][0]][0] = 8 * row["label"]
    selectivity = probed(rows, vectors, Shape.SENTENCE, 2).controls.selectivity
    assert selectivity.accuracy > 0.95
    assert selectivity.value > 0.2
    assert selectivity.n < SIZES["test"], "rows whose word is not in train are not measured"


def test_there_is_no_selectivity_where_words_do_not_recur(probed, few_seeds):
    rows, vectors = rows_of_words(20)
    alone = [row | {"target": f"w{at}"} for at, row in enumerate(rows)]
    assert probed(alone, vectors, Shape.SENTENCE, 2).controls.selectivity == (
        "too few target words recur (0 of 180 rows have the word of another row)"
    )
    sentences = [{key: row[key] for key in ("split", "label", "texts")} for row in rows]
    assert probed(sentences, vectors, Shape.SENTENCE, 2).controls.selectivity == "rows ask about no single word"


def test_the_control_set_has_the_words_of_test_in_train():
    rows, _ = rows_of_words(60)
    data = AuditInput("made_en", Shape.SENTENCE, ("a", "b"), conform(pl.DataFrame(rows), Shape.SENTENCE))
    read = probes._read(data, 10_000)[0]
    divided = probes.control_set(read)
    words = {split: set(divided.table.filter(pl.Series(divided.of(split)))["target"]) for split in SIZES}
    assert words["validation"] | words["test"] <= words["train"]
    assert divided.of("train").sum() == SIZES["train"]
    assert (divided.split != read.split).mean() > 0.3
    of_words = divided.by_chance("control label", "target", 0)
    assert of_words.table.with_columns(label=pl.Series(of_words.labels)).group_by("target").agg(
        pl.col("label").n_unique()
    )["label"].unique().to_list() == [1]


def test_random_labels_give_nothing():
    """Vectors that know the label know no random ones: of 200 sets at most 5 % are above the majority in train."""
    alarms, over = [], []
    for number in range(20):
        rows, vectors = label_and_texts(Shape.SENTENCE, 2, signal=3.0, seed=40 + number)
        data = AuditInput("made_en", Shape.SENTENCE, ("a", "b"), conform(pl.DataFrame(rows), Shape.SENTENCE))
        read, units = probes._read(data, 10_000)
        features = probes._features(read, np.array([vectors[text] for text, *_ in units], np.float32))
        chance = float(np.bincount(read.labels[read.of("train")]).max() / SIZES["train"])
        for seed in range(10 * number, 10 * number + 10):
            by_chance = read.by_chance("random label", "id", seed)
            correct = probes._correct(by_chance, probes._chosen(by_chance, features)[2])
            alarms.append(interval_of(correct, read.test)[0] > chance)
            over.append(correct.mean() - chance)
    assert np.mean(alarms) <= 0.05
    assert np.mean(over) < 0.01


def test_chance_is_inside_the_interval_of_random_vectors(probed):
    """Vectors that know nothing, 60 times in configs of each shape: at most 5 % of the intervals are above chance."""
    alarms = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for shape, n_labels in CASES:
            for seed in range(12):
                rows, vectors = label_and_texts(shape, n_labels, signal=0.0, seed=100 + seed)
                evaluation = probed(rows, vectors, shape, n_labels, controls=False)
                chance = 1 / n_labels if shape is not Shape.CHOICE else np.mean(
                    [1 / (len(row["texts"]) - 2) for row in rows]
                )  # fmt: skip
                alarms.append(evaluation.best.interval[0] > chance)
    assert np.mean(alarms) <= 0.05


def test_what_is_chosen_does_not_depend_on_test(probed, few_seeds):
    """With the labels of test exchanged, accuracy is its complement and everything that is chosen stays the same."""
    rows, vectors = label_and_texts(Shape.SENTENCE, 2, signal=0.5)
    flipped = [row | {"label": 1 - row["label"]} if row["split"] == "test" else row for row in rows]
    right, wrong = (probed(each, vectors, Shape.SENTENCE, 2) for each in (rows, flipped))
    assert wrong.best.accuracy == pytest.approx(1 - right.best.accuracy)
    assert wrong.controls.mlp.value == pytest.approx(1 - right.controls.mlp.value)
    for name in ("layer", "method", "strength", "validation"):
        assert getattr(wrong.best, name) == getattr(right.best, name)
    assert wrong.controls.code_length == right.controls.code_length
    assert wrong.controls.random_labels == right.controls.random_labels
    assert [1 - share for _, share, _ in right.controls.curve] == pytest.approx(
        [share for _, share, _ in wrong.controls.curve]
    )


def planted_neurons(seed=3):
    """Rows, and vectors of four layers: neuron 5 of layer 1 and 7 of layer 3 together know the label, no other does."""
    random = np.random.default_rng(seed)
    label = random.integers(0, 2, N)
    layers = random.normal(size=(4, N, 12)).astype(np.float32)
    part = random.normal(0, 1, N)
    layers[1, :, 5], layers[3, :, 7] = label + part, label - part
    rows = [
        {"split": split, "label": int(of), "texts": [f"t{at}"]}
        for at, (split, of) in enumerate(zip(SPLIT, label, strict=True))
    ]
    return rows, {("model", layer, "mean"): values for layer, values in enumerate(layers)}


def test_planted_neurons_are_the_top_neurons():
    rows, vectors = planted_neurons()
    data = AuditInput("made_en", Shape.SENTENCE, ("a", "b"), conform(pl.DataFrame(rows), Shape.SENTENCE))
    read, units = probes._read(data, 10_000)
    assert [text for text, *_ in units] == [row["texts"][0] for row in rows]
    neurons = probes._top_neurons(read, vectors, ("model", 2, "mean"))
    assert set(neurons.top) == {(1, 5), (3, 7)}
    assert neurons.by_layer == (0, 0.5, 0, 0.5)
    some = {place: values for place, values in vectors.items() if place[1] in {1, 3}}
    of_some = probes._top_neurons(read, some, ("model", 3, "mean"))
    assert set(of_some.top) == {(1, 5), (3, 7)}, "layers have their numbers if not all are probed"
    assert of_some.by_layer == (0, 0.5, 0, 0.5)
    assert (neurons.n, neurons.top_accuracy) == (48, pytest.approx(1, abs=0.03))
    assert neurons.accuracy > 0.9
    shuffled = np.random.default_rng(1).permutation([row["label"] for row in rows])
    read = msgspec.structs.replace(read, labels=shuffled)
    assert probes._top_neurons(read, vectors, ("model", 2, "mean")).top_accuracy < 0.7
    flipped = msgspec.structs.replace(read, labels=np.where(SPLIT == "test", 1 - shuffled, shuffled))
    chosen = [probes._top_neurons(each, vectors, ("model", 2, "mean")).top for each in (read, flipped)]
    assert chosen[0] == chosen[1], "test chooses nothing"


def test_neurons_are_ranked_as_the_weight_mass_grows():
    """As in the paper: the share grows in small steps, and each step adds the top neurons of every label."""
    weights = np.random.default_rng(5).normal(size=(3, 9)) * [[1], [10], [0.1]]
    weights[:, 4] = 0
    found = []
    for share in np.linspace(0, 1, 20_001):
        for of_label in np.abs(weights):
            mass, total = 0.0, of_label.sum()
            for neuron in sorted(range(9), key=lambda at: -of_label[at]):
                if mass >= share * total or of_label[neuron] == 0:
                    break
                mass += of_label[neuron]
                if neuron not in found:
                    found.append(neuron)
    ranking = probes.by_weight_mass(weights).tolist()
    n_first = len(set(np.abs(weights).argmax(axis=1)))  # found at the first step, in no order
    assert set(ranking[:n_first]) == set(found[:n_first])
    assert ranking[n_first:] == found[n_first:]
    assert sorted(ranking) == [0, 1, 2, 3, 5, 6, 7, 8]


def test_similarities_of_layers_equal_their_definitions():
    """Kornblith et al.: from Gram matrices, with the centring matrix written out; Bau et al.: from `corrcoef`."""
    random = np.random.default_rng(6)
    first, second = random.normal(size=(40, 5)), random.normal(size=(40, 7))
    second[:, :2] += first[:, :2]
    centring = np.eye(40) - 1 / 40

    def hsic(one, other):
        return np.trace(one @ one.T @ centring @ other @ other.T @ centring)

    expected = hsic(first, second) / np.sqrt(hsic(first, first) * hsic(second, second))
    assert comparison.linear_cka(first, second) == pytest.approx(expected, abs=1e-9)
    rotation = np.linalg.qr(random.normal(size=(5, 5)))[0]
    assert comparison.linear_cka(first, 3 * first @ rotation + 2) == pytest.approx(1)
    correlations = np.abs(np.corrcoef(first.T, second.T)[:5, 5:])
    assert comparison.maxcorr(first, second) == pytest.approx(correlations.max(axis=1).mean(), abs=1e-9)
    assert comparison.maxcorr(first, -2 * first[:, ::-1] + 1) == pytest.approx(1)
    constant = np.column_stack([first, np.ones(40)])
    assert comparison.maxcorr(constant, first) == pytest.approx(5 / 6)
    assert comparison.linear_cka(first, np.ones((40, 3))) == 0


def test_the_interval_of_an_accuracy_covers_the_truth_and_widens_with_groups():
    """120 rows alone; then ten groups of twelve, all right or all wrong; then all right, where it is exact."""
    alone = pl.DataFrame({"id": [f"r{at}" for at in range(120)]}).with_columns(
        group=pl.lit(None, pl.String), pair_id=pl.lit(None, pl.String)
    )
    grouped = alone.with_columns(group=pl.Series([f"g{at // 12}" for at in range(120)]))
    random, truth = np.random.default_rng(7), 0.7
    for rows, size in ((alone, 1), (grouped, 12)):
        samples = np.repeat(random.random((400, 120 // size)) < truth, size, axis=1).astype(float)
        intervals = [interval_of(correct, rows) for correct in samples]
        assert np.mean([low <= truth <= high for low, high in intervals]) >= 0.95
    right = np.repeat(np.arange(10) % 2, 12).astype(float)
    (low, high), narrow = interval_of(right, grouped), interval_of(right, alone)
    assert narrow[1] - narrow[0] < 0.6 * (high - low)
    assert interval_of(np.ones(120), alone) == (pytest.approx(0.025 ** (1 / 120), abs=1e-6), 1.0)
    assert interval_of(np.zeros(120), grouped) == (0.0, pytest.approx(1 - 0.025 ** (1 / 10), abs=1e-6))


def test_labels_by_chance_are_as_frequent_as_labels():
    """Two rows with the same value have the same one; another seed gives others."""
    rows = [{"split": split, "label": int(at % 4 == 0), "texts": [f"text {at}"], "group": f"g{at // 2}"}
            for at, split in enumerate(SPLIT)]  # fmt: skip
    data = AuditInput("made_en", Shape.SENTENCE, ("a", "b"), conform(pl.DataFrame(rows), Shape.SENTENCE))
    read = probes._read(data, 10_000)[0]
    labels, others = (read.by_chance("random label", "group", seed).labels for seed in (0, 1))
    assert (labels[::2] == labels[1::2]).all()
    assert (labels != others).any()
    assert 0.1 < labels.mean() < 0.4


def test_shuffled_texts_have_the_same_words_and_their_target():
    units = [("one two three four five six", 8, 13), ("我们去学校了", 2, 3)]
    shuffled = probes._shuffled(units)
    for (before, start, end), (after, begin, stop) in zip(units, shuffled, strict=True):
        assert sorted(after) == sorted(before)
        assert after != before
        assert after[begin:stop] == before[start:end]
    assert probes._shuffled(units) == shuffled
