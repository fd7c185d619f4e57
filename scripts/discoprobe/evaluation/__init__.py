"""Scores language models on configs, and compares the scores with the majority baseline and the best cheap trick.

``evaluate`` is the road: it finds the models (``models``), reads a config, and lets ``probes`` train classifiers on
frozen hidden states, or ``surprisal`` compare the texts of a pair, or the choices of a row, by the probability that a
model gives them; or ``harness_results`` reads what lm-evaluation-harness found. ``scores`` says what is saved, and
``comparison`` makes a page of it. Needs the extra ``probe`` (transformers and torch).
"""

from discoprobe.loaders.rooms import offer

__getattr__, __dir__, __all__ = offer(__name__, {
    "comparison": ["AccuracyDifference", "difference_of", "holm", "write_comparison"],
    "evaluate": ["evaluations", "evaluations_of_harness"],
    "models": ["LanguageModel", "find_model", "load_model", "vectors_of"],
    "probes": ["majority"],
    "scores": [
        "CodeLength", "Controls", "Evaluation", "Mean", "ModelScore", "RowScores", "Selectivity", "TopNeurons",
        "interval_of", "score_of",
    ],
    "surprisal": ["TokenSurprisal", "surprisals"],
})  # fmt: skip
