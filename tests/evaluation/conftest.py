"""The folders of tiny models."""

import importlib.util

import pytest
from tiny_models import WORDS, models_of_all_kinds, tokenizer_of

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "un", "##der", "##stand", "##able", "we", "walk", "##ed", "."]


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory):
    """A function: the folder of a model with random weights, by its name; made once."""
    if not all(map(importlib.util.find_spec, ("torch", "transformers"))):
        pytest.skip("the extra 'probe' is not installed")
    import torch

    folders = {}

    def get(name):
        if name not in folders:
            make, marks = models_of_all_kinds()[name]
            folders[name] = tmp_path_factory.mktemp(name)
            torch.manual_seed(3)
            make().save_pretrained(folders[name])
            tokenizer_of(WORDS, marks=marks).save_pretrained(folders[name])
        return str(folders[name])

    return get


@pytest.fixture(scope="session")
def wordpiece_bert(tmp_path_factory):
    """The folder of a random BERT, whose tokenizer divides words into pieces; texts have at most 16 tokens."""
    if not all(map(importlib.util.find_spec, ("torch", "transformers"))):
        pytest.skip("the extra 'probe' is not installed")
    import tokenizers
    import torch
    import transformers

    folder = tmp_path_factory.mktemp("wordpieces")
    splitter = tokenizers.Tokenizer(
        tokenizers.models.WordPiece({piece: at for at, piece in enumerate(PIECES)}, unk_token="[UNK]")
    )
    splitter.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    splitter.post_processor = tokenizers.processors.TemplateProcessing(
        "[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    special = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask")}
    transformers.PreTrainedTokenizerFast(tokenizer_object=splitter, model_max_length=16, **special).save_pretrained(
        folder
    )
    torch.manual_seed(3)
    transformers.BertForMaskedLM(transformers.BertConfig(
        vocab_size=len(PIECES), hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=16, initializer_range=0.5,
    )).save_pretrained(folder)  # fmt: skip
    return str(folder)
