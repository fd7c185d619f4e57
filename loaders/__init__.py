"""Annotated corpora in: catalogue, download, CoNLL-U reader, Corpus tables."""
