"""What discoprobe knows about languages: one TOML file per language, and lists of words.

``language`` knows the scripts of languages, and reads the general facts of a file and, for a module that asks, one
section of it. ``spacing`` sets the blanks of tokenised text, ``word_lists`` reads frequency lists and tables of verb
forms.
"""

from discoprobe.loaders.rooms import offer

__getattr__, __dir__, __all__ = offer(__name__, {
    "language": ["Availability", "Condition", "LanguageData", "LanguageSection", "UPOS", "Upos", "WITHOUT_SPACES",
        "check_small_letters", "has_spaces", "lacking", "language_data", "languages", "parse_language", "script_share",
        "wordfreq_code"],
    "spacing": ["close_up", "is_spaced_out"],
    "word_lists": ["read_frequencies", "wordfreq_form", "wordfreq_ipm"],
})  # fmt: skip
