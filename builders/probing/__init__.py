"""Probing tasks over single sentences, one module each; they are found by listing this folder.

A task takes words and clauses from ``builders.sentences``, labels them, and leaves the choice of rows to
``builders.sentences.candidates``.
"""
