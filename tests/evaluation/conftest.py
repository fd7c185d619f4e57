"""The folders of tiny models."""

import importlib.util

import pytest
from tiny_models import WORDS, models_of_all_kinds, tokenizer_of


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
