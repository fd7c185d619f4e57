"""From files to a ``Corpus``: three tables of documents, sentences and tokens.

``catalogue`` names pinned corpora, ``fetch`` downloads and verifies them, ``raw`` annotates plain text as CoNLL-U,
``conllu`` reads CoNLL-U into columns, with what ``discourse_layers`` reads, and ``cache`` keeps the result.
``languages`` holds facts about languages, ``words`` counts and divides text, and ``running_text`` says what of a corpus
is text as people write it, and which is clean (``clean_text``). ``hashing`` makes keys and choices,
``files`` compares files and replaces folders, and ``plugins`` finds the files of users.
"""

from discoprobe.loaders.rooms import offer

__getattr__, __dir__, __all__ = offer(__name__, {
    "annotation_manifest": ["NAME", "WORK"],
    "clean_text": ["FAULTS", "fault", "half_quoted"],
    "corpus": ["Corpus", "Counts", "DOCUMENTS", "RST_NODES", "SENTENCES", "Shard", "Source", "TOKENS",
        "UPOS", "feat", "joined"],
    "errors": ["CorpusFormatError", "DiscoprobeError", "IntegrityError", "OutcomeError", "RemoteError",
        "RetryPolicy", "UnknownNameError", "UnsupportedError", "UsageError"],
    "files": ["File", "PREFIX", "Place", "allowed_values", "cache_folder", "convert_table", "hashes_of",
        "line_of", "mistakes", "recovered", "work_folder"],
    "hashing": ["keys_of", "text_keys"],
    "near_duplicates": ["EarlierTexts", "near_clusters", "shingles"],
    "plugins": ["VARIABLE", "plugin_folders", "use_plugins"],
    "process_pool": ["WORDS", "cluster", "n_workers", "silent"],
    "running_text": ["not_running", "with_blanks"],
    "tables": ["read_lines", "read_text"],
    "words": ["alphanumeric_words_of", "is_unspaced", "join_texts", "n_alphanumeric_words", "n_running_words",
        "n_words", "running_words", "tokens", "word_count", "word_spans"],
})  # fmt: skip
