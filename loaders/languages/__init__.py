"""What discoprobe knows about languages: one TOML file per language, and word frequencies.

``language`` reads the general facts of a file and, for a module that asks, one section of it; ``word_frequency`` reads
frequency lists. ``scripts`` knows the letters of a language, and ``identification`` tells in which language a text is.
"""
