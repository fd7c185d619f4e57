"""Reading and writing CoNLL-U.

Other packages call ``reader``. It cuts large files into blocks (``documents``), makes tables of a block (``parse``:
words, sentences, what is malformed), and finds documents, sections and runs (``documents``). ``write`` gives the lines
of a sentence.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, submod_attrs={
    "documents": ["explain_documents", "find_stems", "follows"],
    "reader": ["read_corpora"],
    "write": ["Word", "sentence_text"],
})  # fmt: skip
