"""Reads labelled data: published formats, release folders, and tables of any kind.

``data_files`` finds the files of a dataset; ``reading`` reads each as what it is. ``headerless`` reads lines without
header; ``columns`` finds the text and label columns of tables; ``published`` has the lines and columns of published
datasets. If several formats are possible, none is guessed: the message shows them and the option that names one.
"""

from discoprobe.loaders.rooms import offer

__getattr__, __dir__, __all__ = offer(__name__, {
    "data_files": ["Read", "Reading", "Skipped"],
    "reading": ["FORMATS", "read", "read_frames"],
})  # fmt: skip
