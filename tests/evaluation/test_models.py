"""Any model of transformers gives the vectors that plain torch computes; what cannot be used is said at once."""

import json
import os
import pickle
import tracemalloc

import numpy as np
import pytest
from tiny_models import WORDS, tokenizer_of

torch = pytest.importorskip("torch", reason="the extra 'probe' is not installed")
transformers = pytest.importorskip("transformers", reason="the extra 'probe' is not installed")

from discoprobe.evaluation import find_model, load_model, models, vectors_of
from discoprobe.loaders import DiscoprobeError, silent

HALF = {"rtol": 1e-3, "atol": 1e-5}
"""Differences by which vectors are kept, in half precision."""

UNITS = [("w3 w4 w5", 3, 5), ("w9 w8", 0, 2), ("w1 w2 w3 w4 w5 w6 w7", 9, 14)]


def plain_vectors(folder, unit):
    """The vectors of one text at every place, with transformers alone: no batch, no padding."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder, dtype=torch.float32).eval()
    text, begin, end = unit
    read = tokenizer(text, return_tensors="pt", return_offsets_mapping=True, return_special_tokens_mask=True)
    ids, special = read["input_ids"], read["special_tokens_mask"][0].bool()
    starts, ends = read["offset_mapping"][0].T
    target = (starts < end) & (ends > begin) & ~special
    with torch.no_grad():
        if model.config.is_encoder_decoder:
            start = torch.tensor([[model.config.decoder_start_token_id]])
            output = model(ids, decoder_input_ids=torch.cat([start, ids], 1), output_hidden_states=True)
            parts = {
                "encoder": output.encoder_hidden_states,
                "decoder": [states[:, 1:] for states in output.decoder_hidden_states],
            }
        else:
            parts = {"model": model(ids, output_hidden_states=True).hidden_states}
    vectors = {}
    for part, layers in parts.items():
        for layer, (states,) in enumerate(layers):
            vectors[part, layer, "mean"] = states[~special].mean(0)
            vectors[part, layer, "first"] = states[0]
            vectors[part, layer, "last"] = states[-1]
            vectors[part, layer, "target"] = states[target].mean(0)
    return vectors


@pytest.mark.parametrize("kind", ["bert", "xlm-roberta", "gpt2", "llama", "t5", "mt5", "mbart"])
def test_vectors_are_those_of_plain_torch(kind, model_folder):
    folder = model_folder(kind)
    vectors = vectors_of(load_model(folder, batch_size=2), UNITS, silent)
    for number, unit in enumerate(UNITS):
        plain = plain_vectors(folder, unit)
        assert vectors.keys() == plain.keys()
        assert all(np.allclose(vectors[place][number], plain[place].numpy(), **HALF) for place in plain)
    place = [*vectors][-1]
    alone = vectors_of(load_model(folder), UNITS, silent, only=place)
    assert list(alone) == [place]
    assert np.allclose(alone[place], vectors[place], **HALF), "the same in one batch"


@pytest.mark.parametrize("kind", ["bert", "xlm-roberta", "gpt2", "mbart"])
def test_a_long_text_loses_its_left_context_but_not_its_target(kind, model_folder):
    """A target at the end, then one at the beginning: then the text is cut behind it."""
    words = [f"w{number % 40}" for number in range(60)]
    text = " ".join(words)
    model = load_model(model_folder(kind))
    (end, special, _), (start, _, in_target) = model.tokens([(text, 0, 0), (text, 0, 2)])
    marks = [int(each) for each in special]
    assert len(end) == len(start) == model.longest
    assert model.tokenizer.convert_ids_to_tokens(end)[-1 - marks[-1]] == words[-1]
    assert model.tokenizer.convert_ids_to_tokens(start)[marks[0]] == words[0]
    assert np.flatnonzero(in_target).tolist() == [marks[0]]
    part = "decoder" if model.kind == "encoder-decoder" else "model"
    assert np.isfinite(vectors_of(model, [(text, 0, 0)], silent)[part, 1, "mean"]).all()


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    """The folder of the vectors in a cache that is empty at first."""
    monkeypatch.setenv("DISCOPROBE_CACHE", str(tmp_path))
    return tmp_path / "vectors"


@pytest.fixture
def read_by_model(monkeypatch):
    """The number of texts in each batch that a model reads."""
    batches, pooled = [], models._pooled
    monkeypatch.setattr(
        models, "_pooled", lambda model, batch, weights: batches.append(len(batch)) or pooled(model, batch, weights)
    )
    return batches


@pytest.mark.parametrize("kind", ["bert", "gpt2", "mbart"])
def test_a_model_reads_no_text_twice(kind, model_folder, empty_cache, read_by_model):
    """Some texts, then more, then parts of them; one place alone and random weights are other vectors."""
    cache, model = 10**8, load_model(model_folder(kind))
    plain = vectors_of(model, UNITS, silent)
    read_by_model.clear()
    vectors_of(model, UNITS[:2], silent, cache=cache)
    vectors = vectors_of(model, UNITS[::-1], silent, cache=cache)
    assert sum(read_by_model) == len(UNITS)
    assert vectors.keys() == plain.keys()
    assert all(np.allclose(vectors[place][::-1], plain[place], **HALF) for place in plain)
    place = [*plain][-1]
    again = vectors_of(model, UNITS[1:], silent, cache=cache)
    assert sum(read_by_model) == len(UNITS)
    assert np.allclose(again[place], plain[place][1:], **HALF)
    for _ in range(2):
        untrained = vectors_of(model.with_random_weights(0), UNITS, silent, only=place, cache=cache)
        assert list(untrained) == [place]
        assert sum(read_by_model) == 2 * len(UNITS)
    assert np.abs(untrained[place] - plain[place]).max() > 1e-3
    other = vectors_of(model.with_random_weights(1), UNITS, silent, only=place)
    assert np.abs(untrained[place] - other[place]).max() > 1e-3, "another seed has other weights"
    assert (*place[:2], "target") in plain
    without = vectors_of(model, [(text, 0, 0) for text, *_ in UNITS], silent, cache=cache)
    assert (*place[:2], "target") not in without
    assert sum(read_by_model) == 4 * len(UNITS), "a text with another target is another text"


def test_the_cache_of_vectors_is_bounded_and_survives_damage(model_folder, empty_cache, read_by_model):
    model = load_model(model_folder("bert"))
    texts = [[(f"w{number} w{other}", 0, 0) for other in range(10)] for number in range(3)]
    vectors_of(model, texts[0], silent, cache=10**8)
    size = sum(path.stat().st_size for path in empty_cache.glob("*/*/*"))
    cache = int(2.5 * size)
    killed = empty_cache / "model" / ".killed"
    killed.mkdir(parents=True)
    (killed / "keys.npy").write_bytes(b"0" * size)
    os.utime(killed, (0, 0))
    vectors_of(model, texts[1], silent, cache=cache)
    vectors_of(model, texts[0], silent, cache=cache)
    vectors_of(model, texts[2], silent, cache=cache)  # the second ones were used longest ago
    assert size < sum(path.stat().st_size for path in empty_cache.glob("*/*/*")) <= cache
    assert not killed.exists()
    read_by_model.clear()
    vectors_of(model, texts[0], silent, cache=cache)
    assert not read_by_model
    vectors = dict(vectors_of(model, texts[1], silent, cache=cache))
    assert sum(read_by_model) == 10
    for path in empty_cache.glob("*/*/model*.npy"):
        path.write_bytes(path.read_bytes()[:100])
    again = vectors_of(model, texts[1], silent, cache=cache)
    assert sum(read_by_model) == 20
    assert all(np.allclose(again[place], vectors[place], **HALF) for place in vectors)
    read_by_model.clear()
    vectors_of(model, texts[1], silent, cache=100)
    vectors_of(model, texts[2], silent, cache=100)
    assert sum(read_by_model) == 10, "what is larger than the cache is not kept, and deletes nothing"


def test_the_positions_of_roberta_begin_behind_its_padding(model_folder):
    assert load_model(model_folder("xlm-roberta")).longest == 31


@pytest.mark.parametrize(("kind", "expected"), [("bert", "encoder"), ("gpt2", "causal"), ("mt5", "encoder-decoder")])
def test_kinds_of_models(kind, expected, model_folder):
    found = find_model(model_folder(kind))
    assert found.kind == expected
    assert found.has_head == (kind in {"bert", "gpt2"})


def test_memory_does_not_grow_with_layers(tmp_path):
    """The bytes of arrays (not of files) at their peak, for two and for ten layers; one layer at a time is read."""
    peaks, sizes = [], []
    texts = [(f"w{one} w{other}", 0, 0) for one in range(40) for other in range(40)]
    for n in (2, 10):
        sizes_of_model = {"hidden_size": 64, "num_hidden_layers": n, "num_attention_heads": 2, "intermediate_size": 32}
        config = transformers.BertConfig(vocab_size=45, max_position_embeddings=32, **sizes_of_model)
        transformers.BertModel(config).save_pretrained(tmp_path / str(n))
        tokenizer_of(WORDS, marks=True).save_pretrained(tmp_path / str(n))
        model = load_model(str(tmp_path / str(n)))
        tracemalloc.start()
        vectors = vectors_of(model, texts, silent)
        norms = [float(np.abs(vectors[place]).max()) for place in vectors]
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert len(norms) == 3 * (n + 1)
        assert min(norms) > 0
        sizes.append(len(norms) * len(texts) * 64 * 2)
    assert peaks[1] - peaks[0] < (sizes[1] - sizes[0]) / 10
    assert peaks[1] < sizes[1] / 2


def test_vectors_that_are_too_large_for_half_precision_keep_single(model_folder, monkeypatch):
    """From the second batch on, values are above 65,504."""
    model, pooled, n = load_model(model_folder("bert"), batch_size=1), models._pooled, iter(range(10))

    def large(*arguments):
        factor = 1e6 if next(n) else 1
        return ((place, factor * values) for place, values in pooled(*arguments))

    plain = vectors_of(model, UNITS, silent)
    monkeypatch.setattr(models, "_pooled", large)
    vectors = vectors_of(model, UNITS, silent)
    for place, values in plain.items():
        factors = vectors[place] / np.where(values == 0, 1, values)
        assert np.isfinite(factors).all()
        of_texts = sorted(float(np.median(of_text)) for of_text in factors)
        assert of_texts == pytest.approx([1, 10**6, 10**6], rel=1e-3)


def test_only_the_layers_that_are_named_are_kept(model_folder, empty_cache, read_by_model):
    model = load_model(model_folder("bert"))
    vectors = vectors_of(model, UNITS, silent, layers=[0, 2], cache=10**8)
    assert {layer for _, layer, _ in vectors} == {0, 2}
    assert len(list(empty_cache.glob("*/*/model*.npy"))) == 2 * 4
    assert {layer for _, layer, _ in vectors_of(model, UNITS[1:], silent, layers=[2, 0], cache=10**8)} == {0, 2}
    assert sum(read_by_model) == len(UNITS)
    assert {layer for _, layer, _ in vectors_of(model, UNITS, silent, cache=10**8)} == {0, 1, 2}
    assert sum(read_by_model) == 2 * len(UNITS)
    with pytest.raises(DiscoprobeError, match="has no layer 3, 7"):
        vectors_of(model, UNITS, silent, layers=[1, 7, 3])


def test_files_of_vectors_are_deleted_with_them(model_folder, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    vectors = vectors_of(load_model(model_folder("bert")), UNITS, silent)
    copied = pickle.loads(pickle.dumps(vectors))
    place = next(iter(vectors))
    assert (copied[place] == vectors[place]).all(), "as another process gets them"
    assert list(tmp_path.iterdir())
    del vectors
    assert not list(tmp_path.iterdir())


def test_a_full_disk_is_said_in_one_line(model_folder, empty_cache, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    model = load_model(model_folder("bert"))
    monkeypatch.setattr("os.posix_fallocate", full)
    with pytest.raises(DiscoprobeError, match="No space left on device; DISCOPROBE_CACHE names another folder"):
        vectors_of(model, UNITS, silent, cache=10**8)
    assert not list(empty_cache.glob("*/*")), "nothing is left behind"


@pytest.mark.parametrize("kind", ["bert", "gpt2"])
def test_weights_of_half_precision_give_almost_the_same_vectors(kind, model_folder):
    single, half = (load_model(find_model(model_folder(kind), dtype=dtype)) for dtype in ("float32", "bfloat16"))
    assert next(half.model.parameters()).dtype == torch.bfloat16
    assert next(half.with_random_weights(0).model.parameters()).dtype == torch.bfloat16
    assert half.identity != single.identity
    one, other = (vectors_of(model, UNITS, silent) for model in (single, half))
    for place in one:
        assert np.corrcoef(one[place].ravel(), other[place].ravel())[0, 1] > 0.999
    assert "--dtype float8: give one of float32, bfloat16, float16" in one_line(model_folder(kind), dtype="float8")


def test_weights_in_half_precision_are_computed_in_single(model_folder, tmp_path):
    transformers.AutoModel.from_pretrained(model_folder("bert")).half().save_pretrained(tmp_path)
    transformers.AutoTokenizer.from_pretrained(model_folder("bert")).save_pretrained(tmp_path)
    assert next(load_model(str(tmp_path)).model.parameters()).dtype == torch.float32


def one_line(name, **options):
    with pytest.raises(DiscoprobeError) as failed:
        load_model(find_model(name, **options))
    assert "\n" not in str(failed.value)
    return str(failed.value)


def test_a_mistyped_model_is_said_after_one_request(monkeypatch, model_folder, tmp_path):
    requests = []

    def model_info(_self, name, **_options):
        requests.append(name)
        raise ConnectionError("no network")

    monkeypatch.setattr("huggingface_hub.HfApi.model_info", model_info)
    assert "the Hub does not answer (ConnectionError: no network)" in one_line("my_bret")
    assert requests == ["my_bret"]
    folder = model_folder("bert")
    assert f"did you mean {folder}" in one_line(f"{folder[:-1]}x")
    assert "has no config.json" in one_line(str(tmp_path))
    assert requests == ["my_bret"], "a path is no name of the Hub"


def test_what_cannot_run_is_said_before_anything_is_loaded(monkeypatch, model_folder, tmp_path):
    assert "--device tpu: torch finds no such device; it finds" in one_line(model_folder("bert"), device="tpu")
    monkeypatch.setattr(models, "_memory", lambda _found: (8_000_000_000, 2_000_000_000))
    assert "the weights need 8.0 GB, and 2.0 GB are free on cpu" in one_line(model_folder("bert"), device="cpu")
    monkeypatch.undo()
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "bert"}), encoding="utf-8")
    (tmp_path / "model.safetensors").write_bytes(b"no weights")
    assert "cannot be loaded as a model of transformers" in one_line(str(tmp_path))


def test_code_of_a_model_runs_only_if_it_is_trusted(model_folder, tmp_path):
    own = {"model_type": "own", "auto_map": {"AutoConfig": "own.Own", "AutoModel": "own.Model"}}
    (tmp_path / "config.json").write_text(json.dumps(own), encoding="utf-8")
    (tmp_path / "own.py").write_text("raise SystemExit('this code was run')", encoding="utf-8")
    assert "give --trust-remote-code" in one_line(str(tmp_path))
    with pytest.raises(SystemExit, match="this code was run"):
        find_model(str(tmp_path), trust_remote_code=True)


def test_memory_is_that_of_the_weights_in_single_precision(model_folder):
    found = find_model(model_folder("bert"))
    n = sum(each.numel() for each in load_model(found).model.parameters())
    needed, free = models._memory(found)
    assert needed == 4 * n
    assert free is None or free > needed
