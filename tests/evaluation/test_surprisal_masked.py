"""A masked model gives texts the pseudo-log-likelihood of Kauf and Ivanova (2023), as plain loops compute it."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the extra 'probe' is not installed")
transformers = pytest.importorskip("transformers", reason="the extra 'probe' is not installed")

from discoprobe.evaluation import load_model, surprisals
from discoprobe.loaders import UnsupportedError, silent

TEXTS = ["we walked .", "understandable we.", "walk", "unable un understand we walk walked we we walked walk we ."]


def plain_bits(folder, text):
    """A token at a time: it and the later pieces of its word are masked."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForMaskedLM.from_pretrained(folder).eval()
    ids = tokenizer(text)["input_ids"]
    pieces = tokenizer.convert_ids_to_tokens(ids)
    bits = []
    for at in range(1, len(ids) - 1):
        hidden = list(ids)
        hidden[at] = tokenizer.mask_token_id
        for later in range(at + 1, len(ids) - 1):
            if not pieces[later].startswith("##"):
                break
            hidden[later] = tokenizer.mask_token_id
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([hidden])).logits[0, at].double()
        bits.append(-float(torch.log_softmax(logits, -1)[ids[at]]) / math.log(2))
    return bits


def test_tokens_have_the_probability_that_plain_loops_give_them(wordpiece_bert):
    read = surprisals(load_model(wordpiece_bert, batch_size=3), TEXTS, silent)
    for text, each in zip(TEXTS[:3], read, strict=False):
        assert each.bits == pytest.approx(plain_bits(wordpiece_bert, text), rel=1e-4)
        assert not each.cut
    pieces = ["un", "der", "stand", "able", "we", "."]
    assert [TEXTS[1][start:end] for start, end in zip(read[1].starts, read[1].ends, strict=True)] == pieces
    assert read[1].over(0, 14).sum() == pytest.approx(sum(plain_bits(wordpiece_bert, TEXTS[1])[:4]), rel=1e-4)


def test_a_token_of_a_long_text_is_read_among_those_that_fit(wordpiece_bert):
    """Seventeen tokens, of which fourteen are read at once: the first ones see those from the beginning."""
    (read,) = surprisals(load_model(wordpiece_bert), TEXTS[3:], silent)
    assert read.cut
    assert np.isfinite(read.bits).all()
    beginning = "unable un understand we walk walked we we walked"
    assert read.bits[:3] == pytest.approx(plain_bits(wordpiece_bert, beginning)[:3], rel=1e-4)


def test_a_tokenizer_without_mask_is_said_in_one_line():
    tokenizer = SimpleNamespace(mask_token_id=None, is_fast=True)
    with pytest.raises(UnsupportedError, match="its tokenizer has no mask token"):
        surprisals(SimpleNamespace(kind="encoder", name="org/model", tokenizer=tokenizer), TEXTS, silent)
