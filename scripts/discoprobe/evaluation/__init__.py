"""Scores language models on configs, and compares the scores with the majority baseline and the strongest shortcut.

``evaluate`` scores models on the configs of a release: it finds the models (``models``), reads a config, and lets
``probes`` train classifiers on frozen hidden states, or ``surprisal`` compare the texts of a pair, or the choices of a
row, by the probability that a causal model gives them. Needs the extra ``probe`` (transformers and torch).
"""

from discoprobe.loaders.rooms import offer

__getattr__, __dir__, __all__ = offer(__name__, {
    "evaluate": ["Misfit", "ProbeOptions", "difference_of", "evaluations", "write_comparison"],
    "models": ["Controls", "Evaluation", "FoundModel", "LanguageModel", "ModelError", "ModelScore", "Unit", "RowScores",
        "TopNeurons", "best_of", "bootstrap", "find_model", "load_model", "majority", "score_of"],
    "probes": ["VectorPlace", "vectors_of"],
    "surprisal": ["TokenSurprisal", "surprisals"],
})  # fmt: skip
