"""Reading and writing CoNLL-U.

Other packages call ``reader``. ``blocks`` cuts large files into blocks. ``parse`` makes tables of a block: it calls
``word_lines`` and ``comments``, which read it into columns, ``check``, which finds malformed sentences, and ``align``,
which finds the tokens in the text. ``documents`` finds the documents, by ``sent_id_stems`` too, and ``sections`` their
sections. ``write`` gives the lines of a sentence.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, submod_attrs={
    "documents": ["explain_documents", "find_stems", "follows"],
    "reader": ["read_corpora"],
    "write": ["Word", "sentence_text"],
})  # fmt: skip
