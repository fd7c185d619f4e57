"""Reading and writing CoNLL-U.

Other packages call ``reader``. It finds the files, cuts large ones into blocks (``documents``), makes tables of a block
(``parse``: words, sentences, what is malformed), and finds documents, sections and runs (``documents``). ``parse`` also
writes the lines of a sentence.
"""

from discoprobe.loaders.rooms import offer

__getattr__, __dir__, __all__ = offer(__name__, {
    "documents": ["explain_documents", "find_stems", "follows"],
    "parse": ["sentence_text"],
    "reader": ["describe", "find_files", "read_corpora"],
})  # fmt: skip
