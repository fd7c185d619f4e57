"""Scores language models on configs, and compares the scores with the majority baseline and the strongest shortcut.

``linear_probe`` trains logistic regression on frozen hidden states; ``surprisal`` compares the texts of a minimal pair,
or the choices of a row, by the probability that a causal model gives them. ``scores`` defines the results. Needs the
extra ``probe`` (transformers and torch).
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, submod_attrs={
    "models": ["ModelError", "load_model"],
})  # fmt: skip
