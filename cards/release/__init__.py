"""Release folders: write, compare, check, export.

``release_folder`` writes configs and cards into a folder and finds what must be built again; ``rows`` writes and reads
their rows, and ``language_files`` what the folder has besides rows, in files per language. ``diff`` compares two
releases and numbers the new one, ``checks`` refuses what must not be published, and ``export`` writes configs for other
harnesses.
"""

from discoprobe.loaders.rooms import offer

__getattr__, __dir__, __all__ = offer(__name__, {
    "checks": ["MOST_BYTES"],
    "diff": ["Changes", "ConfigChange", "FIRST", "Level", "SplitChange", "Version", "check_number", "compare",
        "in_folder", "latest", "level", "parse", "propose", "section", "sections", "with_section"],
    "export": ["Format", "syntaxgym", "tokens"],
    "language_files": ["LanguageFiles", "paths"],
    "release_folder": ["documents", "open_release", "renew_figures", "up_to_date"],
    "rows": ["ROW_GROUP", "ReleaseRow", "RowFilter", "RowStore", "content_hash"],
})  # fmt: skip
