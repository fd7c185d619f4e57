"""From raw text to CoNLL-U; the place of every sentence in the source is kept.

``text_rows`` and ``tei`` find the files of a source and read them as rows. ``plain_text`` divides a row into the clean
paragraphs of a `document`. ``raw_corpus`` runs these steps, and drops what is not running text of the language or
repeats earlier text. ``segmentation`` finds sentences with rules or with ``stanza_engine``. ``prepare`` writes an
annotated corpus; ``row_groups`` gives parquet files as a corpus of sentences that is read in parts.
"""

from discoprobe.loaders.rooms import offer

__getattr__, __dir__, __all__ = offer(__name__, {
    "document": ["AnnotationOptions", "DropCounts", "Kind", "NAMES", "Paragraph", "REASONS", "RUNNING", "RawDocument",
        "ReadOptions", "TextWithOffsets", "read_options"],
    "plain_text": ["clean", "row_document"],
    "prepare": ["annotate", "choose_engine", "parquet_corpus"],
    "raw_corpus": ["RawCorpus", "is_known", "probabilities", "filter_paragraphs", "read_documents", "with_boilerplate"],
    "segmentation": ["Boundaries", "CORRECTIONS", "LONG_SENTENCE", "MAX_WORDS", "OTHER_LENGTH", "RuleEngine", "TRACES",
        "UNANNOTATED", "WITHOUT_SENTENCE", "annotated_documents", "correct_boundaries", "lost_text"],
    "stanza_engine": ["download_models", "find_models", "read_processors", "regroup"],
    "tei": ["read_tei"],
})  # fmt: skip
