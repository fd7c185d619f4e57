"""Scores language models on configs, and compares the scores with the majority baseline and the strongest shortcut.

``linear_probe`` trains logistic regression on frozen hidden states; ``surprisal`` compares the texts of a minimal pair,
or the choices of a row, by the probability that a causal model gives them. ``scores`` defines the results. Needs the
extra ``probe`` (transformers and torch).
"""
