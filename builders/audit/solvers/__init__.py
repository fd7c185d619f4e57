"""Solvers that know no language, and how they are scored.

``problem`` divides rows into folds and scores answers, ``features`` is what solvers see, ``classifiers`` is what
learns, ``solver_table`` lists the solvers, ``rules`` are single rules and lists of them, ``conditions`` what they are
made of, ``trigrams`` is a model of other text.
"""

from discoprobe.loaders.rooms import offer

__getattr__, __dir__, __all__ = offer(__name__, {
    "features": ["Features"],
    "problem": ["Fold", "Problem", "Score", "best_of", "macro_f1", "problem_of"],
    "solver_table": ["SOLVERS"],
    "trigrams": ["log_probabilities"],
})  # fmt: skip
