"""Scores language models on configs, and compares the scores with the majority baseline and the strongest shortcut.

``evaluate`` reads the configs and loads a model (``models``). Then ``linear_probe`` trains logistic regression on
frozen hidden states, or ``surprisal`` compares the texts of a minimal pair, or the choices of a row, by the probability
that a causal model gives them. Needs the extra ``probe`` (transformers and torch).
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, submod_attrs={
    "models": ["Evaluation", "LanguageModel", "ModelError", "ModelScore", "best_of", "load_model", "majority",
        "score_of"],
    "surprisal": ["TokenSurprisal"],
})  # fmt: skip
