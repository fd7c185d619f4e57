"""Discourse tasks: one module each, found by listing this folder."""
