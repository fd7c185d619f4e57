"""Readers of rows: ``marks`` is the file that they write to, ``figures`` sums up their marks per config."""
