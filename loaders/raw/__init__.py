"""From raw text to CoNLL-U; the offset of every character in the source is kept.

``files``, ``tables`` and ``tei`` read documents as rows; ``plain_text`` and ``markup`` divide a row into clean
paragraphs; ``paragraph_filters`` drops text that is not running text of the language or that repeats earlier text.
``raw_corpus`` runs these steps in order. ``annotate`` finds sentences and words and annotates them; ``prepare`` does
everything in one call.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, submod_attrs={
    "document": ["DropCounts", "Kind", "NAMES", "Paragraph", "REASONS", "RUNNING", "RawDocument", "ReadOptions",
        "Row", "TextWithOffsets", "read_lines", "read_options", "read_text"],
    "plain_text": ["clean", "row_document"],
    "prepare": ["AnnotationJob", "AnnotationOptions", "annotate", "choose_engine", "segment_parquet"],
    "raw_corpus": ["RawCorpus", "is_known", "probabilities", "read_documents", "filtered", "with_boilerplate"],
    "segmentation": ["Boundaries", "CORRECTIONS", "LONG_SENTENCE", "MAX_WORDS", "RuleEngine", "TRACES", "Token",
        "UNANNOTATED", "WITHOUT_SENTENCE", "annotated_documents", "corrected", "lost_text"],
    "stanza_engine": ["download_models", "find_models", "read_processors", "regrouped"],
    "tei": ["read_tei"],
})  # fmt: skip
